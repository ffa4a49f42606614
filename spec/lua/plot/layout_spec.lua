-- Where panels and their words are: axes that several panels share, labels that reach past the panel.
local boxes = require "picture_boxes"
local host = require "host"
local models = require "bind.models"
local ns = require "nslua"
local plot = ns.plot
local message = models.message

teardown(function() plot.close() end)

local lines = require "figure_lines"

-- The widths of panels, as parts of the figure.
local function widths(fig)
  local list, commands = {}, fig:commands()
  for l, r in commands:gmatch "set lmargin at screen (%S+)\nset rmargin at screen (%S+)" do
    list[#list + 1] = tonumber(r) - tonumber(l)
  end
  return list
end

describe("an axis x that panels share", function()
  it("spans what all of them hold, whichever is first", function()
    math.randomseed(3)
    for _ = 1, 20 do
      local n = math.random(2, 4)
      local fig, axes = plot.subplots(n, 1, { sharex = true })
      local lo, hi = math.huge, -math.huge
      for k = 1, n do
        local a = math.random(-50, 50)
        local b = a + math.random(1, 50)
        axes[k]:plot({ a, b }, { 0, 1 })
        lo, hi = math.min(lo, a), math.max(hi, b)
      end
      local ranges = lines(fig, "^set xrange")
      assert.equal(n, #ranges)
      for _, line in ipairs(ranges) do assert.equal(("set xrange [%d:%d]"):format(lo, hi), line) end
    end
  end)

  it("has margins when one of them has points", function()
    local fig, axes = plot.subplots(2, 1, { sharex = true })
    axes[1]:plot({ 0, 1 }, { 0, 1 })
    axes[2]:scatter({ 0, 10 }, { 1, 2 })
    assert.same({ "set xrange [-0.5:10.5]", "set xrange [-0.5:10.5]" }, lines(fig, "^set xrange"))
  end)

  it("takes limits, scale and ticks of any of them", function()
    for k = 1, 2 do
      local fig, axes = plot.subplots(2, 1, { sharex = true })
      axes[1]:plot({ 1, 10 }, { 0, 1 })
      axes[2]:plot({ 1, 100 }, { 0, 1 })
      axes[k]:xlim(2, 5)
      assert.same({ "set xrange [2:5]", "set xrange [2:5]" }, lines(fig, "^set xrange"))
      axes[k]:xscale "log"
      assert.equal(2, #lines(fig, "^set logscale x 10"))
    end
    local fig, axes = plot.subplots(2, 1, { sharex = true })
    axes[1]:xticks { 0.25, 0.5 }
    assert.equal(2, #lines(fig, "^set xtics .*0.25, .* 0.5%)"))
  end)

  it("joins panels that have been drawn in", function()
    local fig = plot.figure()
    local a, b, c = fig:subplot(3, 1, 1), fig:subplot(3, 1, 2), fig:subplot(3, 1, 3)
    a:plot({ 0, 1 }, { 0, 1 })
    b:plot({ 5, 6 }, { 0, 1 })
    c:plot({ -3, 2 }, { 0, 1 })
    fig:subplot(3, 1, 3, { sharex = b })
    fig:subplot(3, 1, 2, { sharex = a }) -- and c with it
    assert.equal("set xrange [-3:6]", table.concat(lines(fig, "^set xrange"), "", 3, 3))
    for _, line in ipairs(lines(fig, "^set xrange")) do assert.equal("set xrange [-3:6]", line) end
  end)
end)

-- The number of labels on an axis x of a panel that is `width` inches wide.
local function labels_on(width, limits, log)
  local fig = plot.figure { figsize = { width, 2 } }
  local ax = fig:subplot(1, 1, 1):xlim(limits)
  if log then ax:xscale "log" end
  local _, count = lines(fig, "^set xtics")[1]:gsub('"[^"]+" %-?[%d.e+-]+', "")
  return count
end

describe("a narrow panel", function()
  it("has three ticks where their labels fit, else two", function()
    for _, limits in ipairs { { -1.5, 1.5 }, { 0, 3 }, { -1.9, 1.9 }, { 0.3, 9 }, { 1e-7, 2.6e-7 }, { -19, 3 } } do
      for width, least in pairs { [1.5] = 2, [2.5] = 3, [6] = 3 } do assert.is_true(labels_on(width, limits) >= least) end
    end
    assert.is_true(labels_on(1.4, { 100000.1, 100000.3 }) >= 1)
    assert.is_true(labels_on(2, { 1e-9, 1e12 }, true) >= 2)
  end)
end)

describe("limits of one end", function()
  it("leave the other to the data", function()
    local fig = plot.figure()
    local ax = fig:subplot(1, 1, 1):plot({ 0, 4 }, { -2, 6 }):xlim { left = -1 }:ylim { top = 10 }
    assert.same({ "set xrange [-1:4]", "set yrange [-2.4:10]" }, lines(fig, "^set [xy]range"))
    ax:xlim { right = 8 }:ylim { bottom = 0 }
    assert.same({ "set xrange [-1:8]", "set yrange [0:10]" }, lines(fig, "^set [xy]range"))
    ax:set { xlim = { left = 2 } }
    assert.same({ "set xrange [2:8]" }, lines(fig, "^set xrange"))
    assert.equal("xlim: unknown option 'top' (known: left, right)", message(ax.xlim, ax, { top = 1 }))
    assert.equal("xlim: limits: expected two numbers, the first not the second, got 8 and 8",
      message(ax.xlim, ax, { left = 8 }))
    assert.equal("ylim: top: expected a finite number, got -inf", message(ax.ylim, ax, { top = -math.huge }))
  end)
end)

describe("ns.plot.rcParams", function()
  it("holds the values when nothing else is asked for", function()
    local old = plot.rcParams["lines.linewidth"]
    plot.rcParams["lines.linewidth"], plot.rcParams["axes.grid"] = 3, false
    local ax = plot.figure():subplot(1, 1, 1):plot { 1, 2 }
    plot.rcParams["lines.linewidth"], plot.rcParams["axes.grid"] = nil, nil
    assert.equal(3, ax.artists[1].linewidth)
    assert.is_false(ax.show_grid)
    assert.equal(old, plot.rcParams["lines.linewidth"])
    assert.equal("rcParams: unknown name 'lines.foo' (known: axes.grid, axes.labelsize, axes.spines.right, axes.spines.top, "
      .. "axes.titlesize, figure.figsize, font.size, image.cmap, legend.fontsize, lines.linewidth, lines.markersize, savefig.dpi, "
      .. "xtick.minor.visible, ytick.minor.visible)", message(function() plot.rcParams["lines.foo"] = 1 end))
    assert.equal("rcParams: axes.grid: expected a boolean, got 'on'",
      message(function() plot.rcParams["axes.grid"] = "on" end))
  end)
end)

describe("room", function()
  it("is left for labels at the ends of an axis #once", function()
    local words = { "the last label", "1.23457e+07", "Wednesday", "$10^{−8}$" }
    for _, word in ipairs(words) do
      local fig = plot.figure { figsize = { 4, 3 } }
      fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }):xticks({ 0, 1 }, { word, word })
      local path = os.tmpname() .. ".png"
      fig:savefig(path, { dpi = 100 })
      local png = require "png"
      local picture = png.read(path)
      os.remove(path)
      local white = png.count(picture, 0xFFFFFF, 398, 400) + png.count(picture, 0xFFFFFF, 0, 2)
      assert.equal(4 * 300, white, word) -- nothing at the edges of the page
    end
  end)

  it("has its ticks where they belong, over many decades too", function()
    local fig = plot.figure { figsize = { 4, 6 } }
    fig:subplot(1, 1, 1):semilogy({ 0, 1 }, { 1e-20, 1 }):yticks({ 1e-20, 1e-15, 1e-10, 1 / 3 }, { "a", "b", "c", "d" })
    assert.equal(1, #lines(fig, '^set ytics .*%("a" 1e%-20, "b" 1e%-15, "c" 1e%-10, "d" 0.333333333333%)'))
    fig = plot.figure()
    fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 / 3 }):ylim(0.1, 1 / 3):yticks { 0.1, 0.333333333333333 }
    assert.equal(1, #lines(fig, '^set ytics .* 0.1, .* 0.33333333333333331%)'))
  end)

  it("is left for words that are large or turned", function()
    local fig = plot.figure { figsize = { 4, 3 } }
    local ax = fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }):xlabel "x":ylabel "y":title "t"
    local function inner()
      local c = fig:commands()
      local function at(side) return tonumber(c:match(side .. "margin at screen (%S+)")) end
      return at "l", at "b", at "t"
    end
    local l, b, t = inner()
    ax:ylabel("y", { fontsize = 20 })
    assert.is_true((inner()) > l)
    ax:ylabel("a longer name", { rotation = 0 })
    assert.is_true((inner()) > l + 0.15)
    assert.equal(1, #lines(fig, '^set label "a longer name" .* center textcolor'))
    ax:xlabel("x", { fontsize = 20, color = "r" })
    assert.is_true(select(2, inner()) > b)
    assert.equal(1, #lines(fig, '^set label "x" .* center textcolor rgb "#D55E00" font ",20"'))
    ax:title("t", { fontsize = 20 })
    assert.is_true(select(3, inner()) < t)
    local b2 = select(2, inner())
    ax:xticks({ 0, 1 }, { "January", "December" }, { rotation = 45, fontsize = 8, color = "b" })
    assert.is_true(select(2, inner()) > b2)
    assert.equal(1, #lines(fig, '^set xtics .* rotate by 45 right offset 0,0 textcolor rgb "#0072B2" font ",8" %("January" 0'))
    fig:suptitle("S", { fontsize = 30, color = "g" })
    assert.equal(1, #lines(fig, '^set label "S" .*textcolor rgb "#009E73" font ",30"'))
  end)

  it("stays as it was for words without a look", function()
    local fig = plot.figure { figsize = { 4, 3 } }
    fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }):xlabel "x":ylabel "y":title "t"
    assert.equal(1, #widths(fig))
    assert.equal(1, #lines(fig, '^set label "y" .*center rotate by 90 textcolor rgb "#262626" $'))
    assert.equal(1, #lines(fig, '^set label "t" at screen [%d.]+,screen [%d.]+ center textcolor rgb "#262626" font ",11"'))
  end)
end)

describe("options of words, ticks and grids", function()
  local fig, ax
  before_each(function()
    fig = plot.figure()
    ax = fig:subplot(1, 1, 1)
    ax:plot({ 1, 100 }, { 1, 100 }, { label = "a" })
  end)

  it("are taken", function()
    ax:grid(true, { which = "both", linestyle = ":", color = "k", alpha = 0.5, linewidth = 1 }):yscale "log"
    assert.equal(1, #lines(fig, '^set grid xtics mxtics ytics mytics lt 1 lw 1 dt %(4.5,9%) lc rgb "#80000000", lt 1'))
    ax:grid { axis = "y" }
    assert.equal(1, #lines(fig, "^set grid ytics lt 1 lw 0.6"))
    ax:grid(false)
    assert.equal(0, #lines(fig, "^set grid"))
    ax:legend { fontsize = 7 }
    assert.equal(1, #lines(fig, '^set label "a" .* font ",7" front$'))
    local function at(words)
      local x, y = fig:commands():match('\nset label "' .. words .. '" at screen (%S+),screen (%S+)')
      return tonumber(x) < 0.5 and "left" or "right", tonumber(y) < 0.5 and "lower" or "upper"
    end
    ax:legend({ "first" }, { loc = "lower left" })
    assert.same({ "left", "lower" }, { at "first" })
    ax:legend { "second", loc = 2 }
    assert.same({ "left", "upper" }, { at "second" })
    ax:legend { bbox_to_anchor = { 1, 0 }, loc = "lower right" }
    assert.same({ "right", "lower" }, { at "second" })
    assert.equal("second", ax.artists[1].label)
    local four = plot.figure():subplot(1, 1, 1)
    for _, label in ipairs { "one", "two", "three", "four" } do four:plot({ 0, 1 }, { 0, 1 }, { label = label }) end
    four:legend { ncol = 2 } -- column by column
    local x, y = {}, {}
    for _, label in ipairs { "one", "two", "three", "four" } do
      x[label], y[label] = four.figure:commands():match('\nset label "' .. label .. '" at screen (%S+),screen (%S+)')
    end
    assert.same({ x.one, x.three, y.one, y.two }, { x.two, x.four, y.three, y.four })
    assert.is_true(tonumber(x.one) < tonumber(x.three) and tonumber(y.one) > tonumber(y.two))
    ax:text(1, 1, "here", { fontsize = 20, ha = "right" })
    assert.equal(1, #lines(fig, '^set label "here" at screen [%d.]+,screen [%d.]+ right .*font ",20" front$'))
    ax:xticks { rotation = 30 }
    assert.equal(1, #lines(fig, "^set xtics .* rotate by 30 right .*,"))
    ax:xticks { rotation = -30 } -- they fall to the right, so they begin at their ticks
    assert.equal(1, #lines(fig, "^set xtics .* rotate by %-30 left .*,"))
  end)

  it("put a part of each label of x at its tick #once", function()
    local labels = { "the first one", "the second", "the third one" }
    for _, angle in ipairs { 0, 30, 45, 90, -60 } do
      for align, part in pairs { left = 0, center = 0.5, right = 1 } do
        local own = plot.figure { figsize = { 6, 4 } }
        own:subplot(1, 1, 1):plot({ 1, 3 }, { 0, 1 }):xlim(0, 4):xticks({ 1, 2, 3 }, labels)
          :xticks(nil, nil, { rotation = angle, ha = align })
        local svg = own:picture "svg"
        assert.equal("", table.concat(boxes.faults(svg), "\n"))
        local l, r, b = own:commands "svg":match "lmargin at screen (%S+)\nset rmargin at screen (%S+)\nset bmargin at screen (%S+)"
        local found = 0
        for _, words in ipairs(boxes.texts(svg)) do
          for k, label in ipairs(labels) do
            if words.words == label then
              local x0, x1, y0 = math.huge, -math.huge, math.huge
              for _, p in ipairs(words.corners) do x0, x1, y0 = math.min(x0, p[1]), math.max(x1, p[1]), math.min(y0, p[2]) end
              local tick = (l + (r - l) * k / 4) * 6 * 96
              assert.near(tick, x0 + part * (x1 - x0), 8, align .. " " .. angle) -- about half a letter
              assert.is_true(y0 > (1 - b) * 4 * 96, align .. " " .. angle)
              found = found + 1
            end
          end
        end
        assert.equal(3, found)
        own:close()
      end
    end
    assert.equal("xticks: align: expected one of left, center, right, got 'middle'",
      message(ax.xticks, ax, { 1 }, { ha = "middle" }))
    assert.equal("yticks: unknown option 'ha' (known: fontsize, color, rotation)", message(ax.yticks, ax, { 1 }, { ha = "left" }))
  end)

  it("that are not known raise everywhere", function()
    local bad = { fontsiz = 3 }
    local function refused(expected, name, ...)
      assert.equal(name .. ": " .. expected, message(ax[name], ax, ...))
    end
    local words = "unknown option 'fontsiz' (known: fontsize, color, rotation)"
    for _, name in ipairs { "xlabel", "ylabel", "zlabel" } do refused(words, name, "s", bad) end
    for _, name in ipairs { "xticks", "yticks", "zticks" } do
      local known = name == "xticks" and words:gsub("%)", ", align)") or words
      refused(known, name, { 1 }, { "a" }, bad)
      refused(known, name, { 1 }, bad)
      refused(known, name, bad)
    end
    refused("unknown option 'fontsiz' (known: fontsize, color, loc)", "title", "s", bad)
    refused("unknown option 'fontsiz' (known: which, axis, color, linestyle, linewidth, alpha)", "grid", true, bad)
    refused("unknown option 'fontsiz' (known: loc, ncol, labels, fontsize, title, frameon, framealpha, facecolor, " ..
      "edgecolor, labelcolor, bbox_to_anchor)", "legend", bad)
    refused("unknown option 'fontsiz' (known: loc, ncol, fontsize, title, frameon, framealpha, facecolor, edgecolor, " ..
      "labelcolor, bbox_to_anchor)", "legend", { "a" }, bad)
    refused("unknown option 'fontsiz' (known: loc, ncol, labels, fontsize, title, frameon, framealpha, facecolor, " ..
      "edgecolor, labelcolor, bbox_to_anchor)", "legend", { "a", fontsiz = 3 })
    for _, name in ipairs { "xlim", "ylim", "zlim" } do
      refused("unknown option 'fontsiz' (it takes none)", name, 0, 1, bad)
      refused("unknown option 'fontsiz' (it takes none)", name, { 0, 1 }, bad)
      refused("expected no further argument, got number 3", name, 0, 1, 3)
    end
    for _, name in ipairs { "xscale", "yscale", "zscale" } do
      refused("unknown option 'fontsiz' (it takes none)", name, "log", bad)
    end
    refused("unknown option 'fontsiz' (it takes none)", "axis", "equal", bad)
    refused("unknown option 'fontsiz' (it takes none)", "view", 1, 2, bad)
    assert.equal("suptitle: unknown option 'fontsiz' (known: fontsize, color)", message(fig.suptitle, fig, "s", bad))
    assert.equal("tight_layout: unknown option 'fontsiz' (it takes none)", message(fig.tight_layout, fig, bad))
    refused("which: expected one of major, minor, both, got 'all'", "grid", true, { which = "all" })
    refused("axis: expected one of x, y, both, got 'z'", "grid", { axis = "z" })
    assert.equal("grid: expected a boolean, got number 1", message(ax.grid, ax, 1))
    refused("fontsize: expected points, or one of xx-small, x-small, small, medium, large, x-large, xx-large, got 'x'", "title",
      "s", { fontsize = "x" })
    refused("fontsize: expected a number, at least 1, got number 0", "legend", { fontsize = 0 })
  end)
end)

describe("matplotlib's ways to panels", function()
  it("subplot(411), add_subplot, set_size_inches, tight_layout, axes", function()
    local fig = plot.figure { figsize = { 10, 20 } }
    for k, number in ipairs { 411, 412, 413, 414 } do
      local ax = plot.subplot(number)
      assert.same({ 4, 1, k }, { ax.rows, ax.cols, ax.first })
    end
    assert.equal(4, #fig.panels)
    fig = plot.figure()
    local ax = fig:add_subplot(111, { projection = "3d" })
    assert.is_true(ax.three_d)
    assert.equal(ax, fig:subplot(1, 1, 1))
    ax:set_xlim3d(-1, 1)
    assert.same({ -1, 1 }, ax.limits.x)
    assert.equal(fig, fig:set_size_inches { 10, 6 }:tight_layout())
    assert.same({ 10, 6 }, fig.size)
    fig:set_size_inches(4, 3)
    assert.same({ 4, 3 }, fig.size)
    plot.figure()
    ax = plot.axes { xlim = { -0.1, 1.1 }, ylim = { -10, 10 } }
    assert.same({ x = { -0.1, 1.1 }, y = { -10, 10 } }, ax.limits)
    assert.equal(ax, plot.gca())
    plot.tight_layout()
    assert.equal("set_size_inches: size: expected {width, height} in inches, 1 to 100, got number 3",
      message(fig.set_size_inches, fig, 3))
    assert.equal("subplot: expected rows, columns and a panel's number, or these as three digits, as in 211, got number 410",
      message(fig.subplot, fig, 410))
    assert.equal("subplot: i: expected a whole number from 1 to 4, got number 5", message(fig.subplot, fig, 415))
    assert.matches("^axes: unknown option 'xlin' ", message(plot.axes, { xlin = 3 }))
  end)

  it("the cells of the clutch and of the four-bar linkage", function()
    local t, w = ns.linspace(0, 1, 20), ns.linspace(1, 2, 20)
    local directory = host.new_directory()
    local plt = ns.plot
    plt.figure { figsize = { 10, 20 } }
    plt.subplot(411)
    plt.title "distance"
    plt.plot(t, w)
    plt.grid()
    plt.subplot(412)
    plt.title "rotation speed ω1 & ω2"
    plt.plot(t, w, { label = "ω1" })
    plt.plot(t, 2 * w, { label = "ω2" })
    plt.legend()
    plt.grid()
    plt.subplot(413)
    plt.title "switching variable λ"
    plt.plot(t, w)
    plt.subplot(414)
    plt.title "Torque τ "
    plt.plot(t, w)
    plt.savefig(directory .. "/a.svg")
    local fig, axes = plt.subplots(3, 1, { sharex = true })
    fig:set_size_inches { 10.0, 6.0 }
    axes[1]:plot(t, ns.matrix(20, 3))
    axes[2]:plot(t, w)
    axes[1]:legend { "$q_1$", "$q_2$", "$q_3$" }
    axes[2]:legend { "$u_1$" }
    axes[1]:set_ylabel "Angle [deg]"
    axes[3]:set_xlabel "Time [s]"
    fig:tight_layout()
    local ax
    fig, ax = plt.subplots()
    fig:set_size_inches { 10.0, 10.0 }
    ax:set_aspect "equal"
    ax:grid()
    ax:plot(t, w, { color = "black", marker = "o", markerfacecolor = "blue", markersize = 10 })
    ax:set_title "Time = 0.00 s"
    ax:set_xlim { -1.0, 3.0 }
    fig:savefig(directory .. "/b.svg")
    for _, name in ipairs { "a", "b" } do assert.matches("</svg>", host.read(directory .. "/" .. name .. ".svg")) end
    host.remove(directory)
  end)
end)
