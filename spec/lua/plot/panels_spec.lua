-- The lines around panels, polar panels, panels in panels, and violins.
local boxes = require "picture_boxes"
local lines = require "figure_lines"
local models = require "bind.models"
local ns = require "nslua"
local plot = ns.plot
local message = models.message

local function panel(options) return plot.figure():subplot(1, 1, 1, options) end
local function no_faults(fig) assert.equal("", table.concat(boxes.faults((fig:picture "svg")), "\n")) end
local wave = ns.linspace(-4, 4, 81)

describe("spines", function()
  it("are shown, hidden and coloured, by a table or as in matplotlib", function()
    local ax = panel():plot(wave, wave:map(math.sin))
    assert.same({ 'set border 3 lw 0.8 lc rgb "#595959"' }, lines(ax.figure, "^set border"))
    ax:spines { top = true, right = true, left = false }
    assert.truthy(lines(ax.figure, "^set border")[1]:find "border 13 ")
    ax.spines.left:set_visible(true)
    ax.spines[{ "top", "right" }]:set_visible(false)
    assert.truthy(lines(ax.figure, "^set border")[1]:find "border 3 ")
    ax.spines.bottom:set_color "r":set_linewidth(2)
    assert.truthy(lines(ax.figure, "^set border")[1]:find "border 2 ")
    assert.truthy(lines(ax.figure, "^set arrow")[1]:find 'nohead lw 2 lc rgb "#D55E00"')
  end)

  it("are at the top and the right when rcParams say so", function()
    plot.rcParams["axes.spines.top"], plot.rcParams["axes.spines.right"] = true, true
    local ax = panel():plot(wave, wave)
    plot.rcParams["axes.spines.top"], plot.rcParams["axes.spines.right"] = nil, nil
    assert.truthy(lines(ax.figure, "^set border")[1]:find "border 15 ")
    assert.truthy(lines(ax:spines { top = false }.figure, "^set border")[1]:find "border 11 ")
  end)

  it("move to places of the data, of the panel and outward, with their ticks", function()
    local ax = panel():plot(wave, wave:map(math.sin)):spines { left = "zero", bottom = "center" }
    local at = lines(ax.figure, "^set arrow from screen [%d.]+,screen [%d.]+ to screen [%d.]+,screen [%d.]+ nohead")
    local x0, x1 = ax.figure:commands():match "lmargin at screen (%S+)", ax.figure:commands():match "rmargin at screen (%S+)"
    local middle, found = (x0 + x1) / 2, false
    for _, line in ipairs(at) do
      local u, v = line:match "from screen ([%d.]+),screen [%d.]+ to screen ([%d.]+)"
      found = found or math.abs(u - middle) < 1e-4 and u == v
    end
    assert.is_true(found)
    no_faults(ax.figure)
    local free = tonumber(panel():plot(wave, wave).figure:commands():match "bmargin at screen (%S+)")
    local out = panel():plot(wave, wave):spines { bottom = { position = { "outward", 20 } }, left = { "outward", 10 } }
    assert.is_true(tonumber(out.figure:commands():match "bmargin at screen (%S+)") > free + 0.05)
    no_faults(out:xlabel "below":ylabel "beside".figure)
  end)

  it("tell what is wrong", function()
    local ax = panel()
    assert.equal('spines: position: expected "zero", "center", "edge", {"data", x}, {"axes", part} or {"outward", points}, '
      .. "got 'top'", message(ax.spines, ax, { left = "top" }))
    assert.equal("spines: visible: expected a boolean, got number 1", message(ax.spines, ax, { left = { visible = 1 } }))
    assert.equal("spines: expected one of left, right, top, bottom, got 'up'", message(function() return ax.spines.up end))
    assert.equal("set_visible: expected a value, got nil", message(function() ax.spines.top:set_visible() end))
    assert.equal("spines: unknown option 'up' (known: left, right, top, bottom)", message(ax.spines, ax, { up = true }))
    assert.equal("spines: left: unknown option 'shown' (known: visible, position, color, linewidth)",
      message(ax.spines, ax, { left = { shown = true } }))
  end)
end)

describe("polar axes", function()
  -- The artist of the first curve in the plane.
  local function in_plane(ax, k) return require "nslua.plot.polar".plane(ax).artists[k or 1] end

  it("draw an angle and a radius", function()
    local ax = panel { projection = "polar" }:plot({ 0, math.pi / 2, math.pi }, { 1, 2, 1 }):set_rmax(2)
    local x, y = in_plane(ax).columns[1], in_plane(ax).columns[2]
    for i, want in ipairs { { 0.5, 0 }, { 0, 1 }, { -0.5, 0 } } do
      assert.near(want[1], x[i], 1e-15)
      assert.near(want[2], y[i], 1e-15)
    end
    ax:set_theta_zero_location "N":set_theta_direction "clockwise"
    x, y = in_plane(ax).columns[1], in_plane(ax).columns[2]
    assert.near(0.5, y[1], 1e-15)
    assert.near(1, x[2], 1e-15)
    no_faults(ax.figure)
  end)

  it("cut curves at the outer circle and hold areas in it", function()
    local ax = panel { polar = true }:plot({ 0, 0 }, { 0, 4 }):set_rmax(2)
    assert.near(1, in_plane(ax).columns[1][2], 1e-15)
    ax:plot({ 0, 0, math.pi }, { 4, 1, 1 })
    assert.near(1, in_plane(ax, 2).columns[1][3], 1e-15)
    ax:bar({ 0 }, { 9 }, { width = 1 }):fill_between({ 0, 1, 2 }, 1, 9):axvspan(0, 1):axhspan(0, 9)
    for k = 3, 6 do
      local a = in_plane(ax, k)
      for i = 1, #a.columns[1] do assert.is_true(a.columns[1][i] ^ 2 + a.columns[2][i] ^ 2 < 1 + 1e-12) end
    end
  end)

  it("have words that touch nothing, with all that they can show", function()
    local ax = panel { polar = true }:plot(wave, wave:map(math.abs), { label = "spiral" }):title "A spiral":legend()
    ax:scatter(wave, wave:map(math.abs), { c = wave }):colorbar { label = "angle" }
    ax:axhline(1):axvline(1):errorbar({ 1 }, { 2 }, { yerr = 0.5 }):text(2, 5, "here"):xlabel "below":ylabel "beside"
    ax:pcolormesh({ 0, 1, 2 }, { 0, 1, 2 }, { { 1, 2 }, { 3, 4 } }):contourf({ 3, 4, 5 }, { 0, 1, 2 }, { { 1, 2, 3 }, { 2, 3, 4 },
      { 1, 2, 1 } }):contour({ 3, 4, 5 }, { 0, 1, 2 }, { { 1, 2, 3 }, { 2, 3, 4 }, { 1, 2, 1 } })
    ax:step({ 0, 1, 2 }, { 1, 2, 3 }, { where = "post" }):annotate("a", { xy = { 1, 1 }, xytext = { 3, 3 } })
    ax:thetagrids({ 0, 90, 180, 270 }, { "E", "N", "W", "S" }):rgrids({ 1, 3 }):rlabel_position(60)
    local svg = ax.figure:picture "svg"
    assert.equal("", table.concat(boxes.faults(svg, { here = true, a = true }), "\n"))
    assert.truthy(plot.figure():subplot(1, 1, 1, { polar = true }):semilogy({ 0, 1 }, { 1, 100 }).figure:picture "svg")
    local _, list = plot.subplots(1, 2, { subplot_kw = { projection = "polar" } })
    assert.truthy(list[2].polar)
  end)

  it("tell what is wrong", function()
    local ax = panel():plot { 1, 2 }
    assert.equal("polar: these axes are not polar and are in use already", message(plot.polar, { 1 }, { 2 }))
    assert.equal('rmax: these axes are not polar; make polar ones by subplot(1, 1, 1, { projection = "polar" })',
      message(ax.rmax, ax, 1))
    assert.equal('subplot: projection: expected "3d" or "polar", got \'round\'',
      message(ax.figure.subplot, ax.figure, 1, 1, 1, { projection = "round" }))
    assert.equal("subplot: polar: expected a boolean, got number 1", message(ax.figure.subplot, ax.figure, 1, 1, 1, { polar = 1 }))
    ax = panel { polar = true }
    assert.equal("theta_zero_location: expected one of E, NE, N, NW, W, SW, S, SE, got 'up'",
      message(ax.theta_zero_location, ax, "up"))
    assert.equal('theta_direction: expected 1, -1, "clockwise" or "counterclockwise", got number 2',
      message(ax.theta_direction, ax, 2))
    ax:quiver({ 0, 1 }, { 0, 1 }, { 1, 1 }, { 1, 1 })
    assert.equal("polar axes do not show fields of arrows: quiver, streamplot", message(ax.figure.picture, ax.figure))
    ax = panel { polar = true }:plot({ 0, 1 }, { 1, 1 }):ylim(2, 1)
    assert.equal("ylim: expected radii, the first below the second, got 2 and 1", message(ax.figure.picture, ax.figure))
    ax = panel { polar = true }:semilogy({ 0, 1 }, { 1, 1 }):ylim(-1, 1)
    assert.equal("ylim: expected numbers above 0 on a logarithmic axis, got -1 and 1", message(ax.figure.picture, ax.figure))
  end)
end)

describe("panels in panels", function()
  it("have their place, with their words in the other one", function()
    local ax = panel():plot(wave, wave:map(math.sin), { label = "sine" }):legend()
    local inner = ax:inset_axes { 0, 0, 0.4, 0.4 }:plot(wave, wave:map(math.sin)):xlim(0, 1):ylim(0, 1)
    ax:indicate_inset_zoom(inner, { color = "r" })
    plot.indicate_inset_zoom(inner, { color = "r" }) -- the current axes are the inner ones
    assert.equal(6, #lines(ax.figure, 'nohead front lw 0.8 lc rgb "#D55E00"'))
    no_faults(ax.figure)
    local out = ax.figure:commands()
    local left, inside = out:match "lmargin at screen (%S+).*lmargin at screen (%S+)"
    assert.is_true(tonumber(inside) > tonumber(left))
    assert.equal(ax, ax.figure:subplot(1, 1, 1))
  end)

  it("stand anywhere on a figure", function()
    local fig = plot.figure()
    fig:add_axes { 0.2, 0.3, 0.5, 0.4 }:plot { 1, 2 }
    local out = fig:commands()
    assert.near(0.2, tonumber(out:match "lmargin at screen (%S+)"), 1e-6)
    assert.near(0.7, tonumber(out:match "tmargin at screen (%S+)"), 1e-6)
    plot.figure()
    plot.axes { 0.1, 0.1, 0.8, 0.8 }
    assert.near(0.9, tonumber(plot.gcf():commands():match "rmargin at screen (%S+)"), 1e-6)
  end)

  it("tell what is wrong", function()
    local ax = panel()
    assert.equal("inset_axes: expected {left, bottom, width, height} in parts of the panel, got a list of 3",
      message(ax.inset_axes, ax, { 1, 2, 3 }))
    assert.equal("add_axes: expected {left, bottom, width, height} in parts of the figure, got a list of 4",
      message(ax.figure.add_axes, ax.figure, { 0, 0, 0, 1 }))
    assert.equal("indicate_inset_zoom: expected axes from inset_axes of this panel, got other axes",
      message(ax.indicate_inset_zoom, ax, ax))
    assert.equal("indicate_inset_zoom: expected axes from inset_axes of this panel, got number 1",
      message(ax.indicate_inset_zoom, ax, 1))
  end)
end)

describe("violinplot", function()
  it("draws the density of samples", function()
    local ax = panel():violinplot({ { 1, 2, 3 }, { 5, 5, 0 / 0 } }, { showmeans = true, showmedians = true, label = "two" })
    local outline, bars = ax.artists[1], ax.artists[2]
    assert.equal(200, #outline.columns[1])
    local widest, at = 0, nil -- at the middle of the sample, half of 0.5 beside 1
    for i = 1, 100 do
      local half = 1 - outline.columns[1][i]
      if half > widest then widest, at = half, outline.columns[2][i] end
    end
    assert.near(0.25, widest, 1e-4)
    assert.near(2, at, 0.03)
    assert.same({ 1, 3 }, { bars.columns[2][1], bars.columns[2][2] })
    assert.equal("two", outline.label)
    no_faults(panel():violinplot({ { 1, 2, 4 }, { 2, 3 } }, { vert = false, labels = { "a", "b" } }).figure)
  end)

  it("does not change with the unit of the numbers", function()
    local a = panel():violinplot({ 1, 2, 4, 9 }).artists[1].columns
    local b = panel():violinplot({ 1 * 2 ^ 40, 2 * 2 ^ 40, 4 * 2 ^ 40, 9 * 2 ^ 40 }).artists[1].columns
    for i = 1, #a[1] do assert.same({ a[1][i], a[2][i] * 2 ^ 40 }, { b[1][i], b[2][i] }) end
  end)

  it("tells what is wrong", function()
    local ax = panel()
    assert.equal('violinplot: bw_method: expected "scott", "silverman" or a number above 0, got number 0',
      message(ax.violinplot, ax, { 1, 2 }, { bw_method = 0 }))
    assert.equal("violinplot: points: expected a whole number from 2 to 10000, got number 2.5",
      message(ax.violinplot, ax, { 1, 2 }, { points = 2.5 }))
    assert.equal("violinplot: vert: expected a boolean, got number 1", message(ax.violinplot, ax, { 1, 2 }, { vert = 1 }))
    for _, method in ipairs { "violinplot", "boxplot" } do
      assert.equal(method .. ": positions[2]: expected a number, got nan",
        message(ax[method], ax, { { 1, 2 }, { 3, 4 } }, { positions = { 1, 0 / 0 } }))
      assert.equal(method .. ": widths[1]: expected a number, at least 0, got number -1.0",
        message(ax[method], ax, { 1, 2 }, { widths = -1 }))
    end
  end)
end)
