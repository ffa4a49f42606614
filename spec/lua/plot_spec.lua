-- ns.plot: what gnuplot is told, what it draws, and what is refused.
local host = require "host"
local models = require "bind.models"
local ns = require "nslua"
local plot = ns.plot
local message = models.message
local png = require "png"

local directory
setup(function() directory = host.new_directory() end)
teardown(function()
  host.remove(directory)
  plot.close()
end)

-- Width and height out of a PNG file.
local function png_size(path)
  local text = assert(host.read(path))
  assert.equal("\137PNG\r\n\26\n", text:sub(1, 8))
  assert.equal("IEND", text:sub(-8, -5))
  return string.unpack(">I4I4", text, 17)
end

-- Red, green and blue of a pixel, counted from the upper left corner, as gnuplot reads the file.
local function pixel(path, x, y)
  local command = ('set table; plot "%s" binary filetype=png every 1:1:%d:%d:%d:%d using 1:2:3 with table'):format(path, x,
    y, x, y)
  local out = host.run("gnuplot -", command .. "\n")
  local r, g, b = out:match "(%d+)%s+(%d+)%s+(%d+)%s*$"
  return { tonumber(r), tonumber(g), tonumber(b) }
end

-- Of how many pixels two pictures of one size differ, by more than a tenth of all that is possible.
local function differences(a, b)
  local count = 0
  assert(#a == #b and #a > 10000)
  for i = 0, #a do
    local difference = 0
    for shift = 0, 16, 8 do difference = difference + (a[i] >> shift & 255) - (b[i] >> shift & 255) end
    count = count + (math.abs(difference) > 76 and 1 or 0)
  end
  return count
end

local lines = require "figure_lines"

local function has(fig, words) return fig:commands():find(words, 1, true) ~= nil end

local function figure(options)
  local fig = plot.figure(options)
  return fig, fig:subplot(1, 1, 1)
end

describe("savefig", function()
  local t = ns.linspace(0, 6, 50)

  it("writes png, svg and pdf of the size that is asked for", function()
    local fig, ax = figure { figsize = { 4, 3 }, dpi = 100 }
    ax:plot(t, t:map(math.sin))
    fig:savefig(directory .. "/a.png")
    assert.same({ 400, 300 }, { (png_size(directory .. "/a.png")), (select(2, png_size(directory .. "/a.png"))) })
    fig:savefig(directory .. "/b.PNG", { dpi = 200 })
    assert.equal(800, (png_size(directory .. "/b.PNG")))
    fig:savefig(directory .. "/a.svg"):savefig(directory .. "/a.pdf")
    assert.matches("^<%?xml.*<svg.*</svg>%s*$", host.read(directory .. "/a.svg"))
    local pdf = host.read(directory .. "/a.pdf")
    assert.matches("^%%PDF%-1.*%%%%EOF%s*$", pdf)
    assert.matches("/MediaBox %[ 0 0 288 216", pdf)
  end)

  it("takes any file name: none reaches gnuplot or a shell", function()
    local fig, ax = figure()
    ax:plot { 1, 2 }
    for _, name in ipairs { "a b.svg", "'.svg", '".svg', "|touch x.svg", "`touch y`.svg", "$(touch z).svg", "é.svg",
      "a\nb.svg" } do
      fig:savefig(directory .. "/" .. name)
      assert.matches("</svg>", host.read(directory .. "/" .. name))
    end
    for _, name in ipairs { "x", "y", "z", "x.svg" } do assert.is_nil(host.read(directory .. "/" .. name)) end
    assert.is_nil(host.read "x.svg")
  end)

  it("says what is wrong with a name, and keeps an old file then", function()
    local fig, ax = figure()
    ax:plot { 1, 2 }
    assert.equal("savefig: 'x.bmp': expected a name that ends in .png, .svg or .pdf", message(fig.savefig, fig, "x.bmp"))
    assert.equal("savefig: file: expected a string, got nil", message(fig.savefig, fig))
    assert.equal("savefig: cannot write '/nonexistent/x.png': No such file or directory",
      message(fig.savefig, fig, "/nonexistent/x.png"))
    assert.equal("savefig: unknown option 'dip' (known: dpi, transparent, facecolor, bbox_inches)",
      message(fig.savefig, fig, "x.png", { dip = 3 }))
  end)

  it("shows texts as they stand, whatever they hold", function()
    local nasty = [[a_b^c{d}@e&f~g\h `touch x` "q" 'p' <b> %d $ ; system "touch y" | rm]]
    local fig, ax = figure { title = nasty, figsize = { 14, 9 } }
    ax:plot({ 1, 2, 3 }, { 1, 2, 3 }, { label = nasty }):legend():title(nasty):xlabel(nasty):ylabel(nasty)
    ax:text(2, 2, nasty):xticks({ 1, 2, 3 }, { "a_b^{}@`%d", "50%", "" })
    fig:savefig(directory .. "/n.svg")
    local svg = host.read(directory .. "/n.svg")
    local seen = {}
    for body in svg:gmatch "<text>(.-)</text>" do
      body = body:gsub("<.->", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&amp;", "&")
      seen[body] = (seen[body] or 0) + 1
    end
    assert.equal(6, seen[nasty])
    assert.equal(1, seen["a_b^{}@`%d"])
    assert.equal(1, seen["50%"])
  end)

  it("keeps commands out of texts with line ends", function()
    local fig, ax = figure()
    ax:plot({ 1, 2 }, { 1, 2 }):title("a\nset output '" .. directory .. "/evil'\nsystem 'touch " .. directory .. "/evil'")
    fig:savefig(directory .. "/t.svg")
    assert.is_nil(host.read(directory .. "/evil"))
    assert.equal(0, #lines(fig, "evil'$"))
  end)

  it("draws what it is told: pixels", function()
    local fig, ax = figure { figsize = { 3, 3 }, dpi = 100 }
    ax:fill({ 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { color = "#FF0000", alpha = 1 }):axis "off":axis "tight"
    fig:savefig(directory .. "/p.png")
    assert.same({ 255, 0, 0 }, pixel(directory .. "/p.png", 150, 150))
    assert.same({ 255, 255, 255 }, pixel(directory .. "/p.png", 1, 1))
    fig, ax = figure { figsize = { 3, 3 }, dpi = 100 } -- of alpha 1/2, over white
    ax:fill({ 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { color = "#FF0000", alpha = 0.5 }):axis "off"
    fig:savefig(directory .. "/p.png")
    local rgb = pixel(directory .. "/p.png", 150, 150)
    assert.is_true(rgb[1] == 255 and math.abs(rgb[2] - 128) <= 4 and math.abs(rgb[3] - 128) <= 4)
  end)

  it("draws faces in space in front of each other by their depth", function()
    local fig, ax = figure { figsize = { 3, 3 }, dpi = 100 }
    local square = { { 0, 1 }, { 0, 1 } }
    local rows = { { 0, 0 }, { 1, 1 } }
    ax:surface(square, rows, { { 1, 1 }, { 1, 1 } }, { color = "#0000FF", edgecolor = "none", shade = false })
    ax:surface(square, rows, { { 0, 0 }, { 0, 0 } }, { color = "#FF0000", edgecolor = "none", shade = false })
    ax:view(90, -90)
    fig:savefig(directory .. "/f.png")
    assert.same({ 0, 0, 255 }, pixel(directory .. "/f.png", 150, 150))
    ax:view(-90, -90)
    fig:savefig(directory .. "/f.png")
    assert.same({ 255, 0, 0 }, pixel(directory .. "/f.png", 150, 150))
  end)

  it("draws an empty figure, and one with nothing but gaps", function()
    plot.figure():savefig(directory .. "/e.svg")
    local fig, ax = figure()
    ax:plot({}, {}):plot({ 0 / 0 }, { 1 }):semilogy({ 1, 2 }, { -1, 0 })
    fig:savefig(directory .. "/g.svg")
    assert.matches("</svg>", host.read(directory .. "/g.svg"))
  end)

  it("gives gnuplot's own words when it fails", function()
    local gnuplot = require "nslua.plot.gnuplot"
    assert.matches("^savefig: gnuplot: .*invalid command$", message(gnuplot.run, "savefig", "nonsense 3\n"))
  end)

  it("says how to install gnuplot where it is missing", function()
    local code = [[local p = require "nslua".plot
      p.plot { 1, 2 }
      print(select(2, pcall(p.savefig, "x.png")))]]
    local out = host.run(("PATH=/nonexistent %s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    assert.matches("savefig: gnuplot is not installed; pictures need it: apt install gnuplot-nox", out, 1, true)
    assert.matches('Data can be saved without it: sol:save("run.csv")', out, 1, true)
  end)
end)

describe("show", function()
  it("draws with characters in a terminal", function()
    local code = [[local p = require "nslua".plot
      p.plot({ 0, 1, 2 }, { 0, 1, 0 }, { label = "$\\lambda_1$" })
      p.legend() p.title "A title" p.xlabel "$t$"
      p.show { terminal = "text", width = 60, height = 20 }]]
    local out = host.nslua_run("-e " .. host.quote(code))
    assert.matches("A title", out)
    assert.matches("λ_1", out)
    local count = 0
    for line in out:gmatch "([^\n]*)\n" do
      count = count + 1
      assert.is_true(utf8.len(line) <= 60)
    end
    assert.is_true(count >= 20 and count <= 22)
  end)

  it("takes sixels, and the environment's word", function()
    local code = 'local p = require "nslua".plot p.plot { 1, 2 } p.show()'
    local out = host.run(("NSLUA_PLOT=sixel %s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    assert.matches("\27P.*\27\\", out)
    out = host.run(("env -u DISPLAY -u WAYLAND_DISPLAY %s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    assert.matches("%*%*%*", out)
  end)

  it("draws text where nothing serves the display", function()
    local code = 'local p = require "nslua".plot p.plot { 1, 2 } p.show()'
    local out, err, status = host.run(("DISPLAY=:987 %s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    assert.same({ "", 0 }, { err, status })
    assert.matches("%*%*%*", out)
  end)

  local has_server = host.run("command -v Xvfb && command -v xwininfo"):find "xwininfo"
  local missing = not has_server and "needs Xvfb and xwininfo" or
    not require "nslua.plot.gnuplot".window() and "needs a gnuplot with windows"
  if missing then
    it("opens a window that stays", function() pending(missing) end)
  else
    it("opens a window that stays", function()
      -- a gnuplot that tells its process group, to end it by
      local tools = directory .. "/window"
      local real = host.run("command -v gnuplot"):match "[^\n]+"
      os.execute("mkdir " .. tools)
      host.write(tools .. "/gnuplot", ("#!/bin/sh\necho $$ >%s/group\nexec %s \"$@\"\n"):format(tools, real))
      os.execute("chmod +x " .. tools .. "/gnuplot")
      host.write(tools .. "/show", ([[
        exec 3>number; Xvfb -displayfd 3 -screen 0 800x600x24 >log 2>&1 & server=$!
        for i in $(seq 100); do [ -s number ] && break; sleep 0.05; done
        export DISPLAY=:$(cat number) PATH="$PWD:$PATH"
        (cd %s && exec %s -e 'local p = require "nslua".plot p.plot { 1, 2 } p.show()')
        echo "left with $?"
        for i in $(seq 100); do xwininfo -root -tree | grep -q '"nslua"' && echo there && break; sleep 0.05; done
        sleep 0.3; xwininfo -root -tree | grep -q '"nslua"' && echo still there
        kill -- -$(cat group); kill $server]]):format(host.quote(host.root), host.quote(host.nslua)))
      local out = host.run(("cd %s && env -u WAYLAND_DISPLAY sh show"):format(tools))
      assert.equal("left with 0\nthere\nstill there\n", out)
    end)
  end

  it("refuses a terminal that is none, and windows where gnuplot has none", function()
    local fig = plot.figure()
    assert.equal("show: terminal: expected one of window, sixel, text, got 'x'", message(fig.show, fig, { terminal = "x" }))
    if not require "nslua.plot.gnuplot".window() then
      assert.equal('show: this gnuplot opens no windows: apt install gnuplot-qt, or show{terminal = "text"}',
        message(fig.show, fig, { terminal = "window" }))
    end
  end)
end)

describe("plot", function()
  it("takes y, x and y, formats, several curves, columns of a matrix", function()
    local _, ax = figure()
    ax:plot { 4, 5, 6 }
    assert.equal(ns.vector { 1, 2, 3 }, ax.artists[1].columns[1])
    ax:plot({ 1, 2 }, { 3, 4 }, "r--o", { 1, 2 }, { 5, 6 }, "k:")
    assert.equal(3, #ax.artists)
    assert.same({ "#D55E00", "#000000" }, { ax.artists[2].color, ax.artists[3].color })
    ax:plot({ 0, 1 }, ns.matrix { { 1, 2, 3 }, { 4, 5, 6 } }, { label = { "a", "b", "c" } })
    assert.equal(6, #ax.artists)
    assert.equal(ns.vector { 3, 6 }, ax.artists[6].columns[2])
    assert.equal("c", ax.artists[6].label)
    ax:plot({ 0, 1 }, { { 1, 2 }, { 3, 4 } })
    assert.equal(ns.vector { 2, 4 }, ax.artists[8].columns[2])
  end)

  it("thins long curves without a difference to the picture #once", function()
    local n = 200000
    local x = ns.linspace(0, 1, n)
    local y = x:map(function(v) return math.sin(1000 * v) end)
    y[77777], y[120000] = 50, 0 / 0
    local fig, ax = figure { figsize = { 4, 3 } }
    ax:plot(x, y)
    local points, gaps, top = 0, 0, 0
    for _, line in ipairs(lines(fig, "^[%d.e-]+ [%d.NaNe-]+$")) do
      points = points + 1
      if line:find "NaN" then gaps = gaps + 1 end
      top = math.max(top, tonumber(line:match " (%S+)$") or 0)
    end
    assert.is_true(points < 15000)
    assert.same({ 1, 50 }, { gaps, top })
    fig, ax = figure { figsize = { 4, 3 } } -- a spiral that comes to rest
    ax:plot(x:map(function(v) return math.exp(-100 * v) * math.cos(300 * v) end),
      x:map(function(v) return math.exp(-100 * v) * math.sin(300 * v) end))
    points = #lines(fig, "^[%d.e-]+ [%d.e-]+$")
    assert.is_true(points > 500 and points < 20000)
    fig, ax = figure { figsize = { 4, 3 } }
    ax:plot({ 1, 2, 3 }, { 1, 1, 1 }) -- short ones are left alone
    assert.equal(3, #lines(fig, "^%d 1$"))
  end)

  it("copies its data", function()
    local fig, ax = figure()
    local x = ns.vector { 1, 2, 3 }
    ax:plot(x, x)
    x[1] = 100
    assert.equal(0, #lines(fig, "^100 100$"))
    assert.equal(1, #lines(fig, "^1 1$"))
  end)

  it("has dashes that differ from dots on thin lines, too", function()
    for _, width in ipairs { 0.25, 0.5, 1, 1.5 } do
      local fig, ax = figure()
      ax:plot({ 1, 2 }, "--", { lw = width }):plot({ 1, 2 }, ":", { lw = width })
      local list = lines(fig, "using 1:2 with lines")
      assert.near(19.5, list[1]:match "dt %(([%d.]+)" * width, 0.05) -- dash and dot are as long as those of 1.5 points
      assert.near(4.5, list[2]:match "dt %(([%d.]+)" * width, 0.05)
    end
  end)

  it("takes ten colours in turn, then other dashes", function()
    local _, ax = figure()
    for _ = 1, 21 do ax:plot { 1, 2 } end
    assert.same({ "#0072B2", "#D55E00", "#009E73" }, { ax.artists[1].color, ax.artists[2].color, ax.artists[3].color })
    local seen = {}
    for i = 1, 10 do
      assert.is_nil(seen[ax.artists[i].color])
      seen[ax.artists[i].color] = true
    end
    assert.equal(ax.artists[1].color, ax.artists[11].color)
    assert.same({ "solid", "(13,6)", "(17,6,3,6)" }, { ax.artists[1].dash, ax.artists[11].dash, ax.artists[21].dash })
    ax:plot({ 1, 2 }, { linestyle = "-" })
    assert.equal("solid", ax.artists[22].dash)
    for name, color in pairs { ["tab:blue"] = "#1F77B4", ["0.5"] = "#808080", ["0"] = "#000000", ["1"] = "#FFFFFF",
      r = "#D55E00", C1 = "#D55E00", ["#abc"] = "#AABBCC", ["#a1B2c3"] = "#A1B2C3", grey = "#808080" } do
      ax:plot({ 1 }, { 1 }, { color = name })
      assert.equal(color, ax.artists[#ax.artists].color)
    end
    assert.equal("plot: color: expected a name (black blue cyan darkgray darkgrey gray green grey lightgray lightgrey magenta " ..
      "orange pink purple red sky vermillion white yellow, or one of CSS), a letter (b c g k m r w y), \"C0\" to \"C9\", " ..
      "\"tab:blue\", a grey \"0\" to \"1\", \"#RRGGBB\" " ..
      "or {r, g, b}, got a list of 2", message(ax.plot, ax, { 1 }, { 1 }, { color = { 1, 2 } }))
    ax:plot({ 1 }, { 1 }, { color = { 1, 0.5, 0 } })
    assert.equal("#FF7F00", ax.artists[#ax.artists].color)
  end)

  it("writes lines, dashes, markers, labels", function()
    local fig, ax = figure()
    ax:plot({ 1, 2 }, { 3, 4 }, "g--s", { label = "one", linewidth = 3 })
    ax:plot({ 1, 2 }, { 3, 4 }, "o"):plot({ 1, 2 }, { 3, 4 }, ".-", { markevery = 5 })
    ax:legend()
    assert.truthy(has(fig, '$d1 using 1:2 with linespoints lt 1 lw 3 lc rgb "#009E73" dt (13,6) pt 5 ps 0.9 pi 1 notitle'))
    assert.truthy(has(fig, '$d2 using 1:2 with points lt 2'))
    assert.truthy(has(fig, "pt 7 ps 0.45 pi 5 notitle"))
    assert.equal(1, #lines(fig, '^set label "one" at screen'))
    ax:plot({ 1, 2 }, { 3, 4 }, { alpha = 0.5, color = "k" })
    assert.truthy(has(fig, 'lc rgb "#80000000"'))
  end)

  it("makes gaps of what is not finite, and of what is not above 0 on a logarithmic axis", function()
    local fig, ax = figure()
    ax:plot({ 1, 2, 3, 4 }, { 1, 0 / 0, 1 / 0, 2 })
    assert.equal(2, #lines(fig, "^%d NaN$"))
    assert.truthy(has(fig, "set yrange [0.95:2.05]"))
    fig, ax = figure()
    ax:semilogy({ 1, 2, 3 }, { 0.01, -1, 1000 })
    assert.equal(1, #lines(fig, "^2 NaN$"))
    assert.equal(1, #lines(fig, "^set logscale y 10$"))
    assert.equal(0, #lines(fig, "^set logscale x"))
    fig, ax = figure()
    ax:loglog({ 1, 10 }, { 1, 10 })
    assert.equal(2, #lines(fig, "^set logscale"))
    fig, ax = figure()
    ax:semilogx({ 1, 10 }, { 1, 10 })
    assert.equal(1, #lines(fig, "^set logscale x"))
  end)

  it("refuses bad data by name", function()
    local _, ax = figure()
    local function refused(text, ...) assert.equal(text, message(ax.plot, ax, ...)) end
    refused("plot: x has 2 elements, y has 3", { 1, 2 }, { 1, 2, 3 })
    refused("plot: y[2]: expected a number, got 'a'", { 1, 2 }, { 1, "a" })
    refused("plot: x: expected a vector or a table of numbers, got function", print, { 1 })
    refused("plot: x has 3 elements, y has 2", { 1, 2, 3 }, ns.matrix { { 1, 2 }, { 3, 4 } })
    refused("plot: expected x and y")
    refused("plot: unknown option 'colr' (known: label, color, linestyle, linewidth, marker, markersize, "
      .. "markerfacecolor, markeredgecolor, markevery, alpha, hollow, zorder, drawstyle)", { 1 }, { 1 }, { colr = "r" })
    refused("plot: format 'rz': expected a color (b c g k m r w y, C0 to C9), a line (- -- -. :) and a marker "
      .. "(* + . D ^ o p s v x)", { 1 }, { 1 }, "rz")
    refused("plot: format 'rb': expected a color (b c g k m r w y, C0 to C9), a line (- -- -. :) and a marker "
      .. "(* + . D ^ o p s v x)", { 1 }, { 1 }, "rb")
    refused("plot: marker: expected one of * + . D ^ o p s v x none, got 'q'", { 1 }, { 1 }, { marker = "q" })
    refused("plot: linestyle: expected one of - -- -. : none, got 'wavy'", { 1 }, { 1 }, { linestyle = "wavy" })
    refused("plot: linewidth: expected a number, at least 0, got number -1", { 1 }, { 1 }, { linewidth = -1 })
    refused("plot: markevery: expected a whole number, at least 1, got number 0", { 1 }, { 1 }, { markevery = 0 })
    assert.matches("^plot: color: expected a name %(black .*\"#RRGGBB\" or {r, g, b}, got 'nocolour'$",
      message(ax.plot, ax, { 1 }, { 1 }, { color = "nocolour" }))
    assert.equal(0, #ax.artists)
  end)

  it("blames the line of the caller", function()
    local chunk = load("local p = ...\n\np.plot({ 1, 2 }, { 1 })", "=user.lua")
    assert.equal("user.lua:3: plot: x has 2 elements, y has 1", select(2, pcall(chunk, plot)))
  end)
end)

describe("other artists", function()
  it("step: pre, post, mid", function()
    local fig, ax = figure()
    ax:step({ 1, 2, 3 }, { 1, 2, 3 }):step({ 1, 2, 3 }, { 1, 2, 3 }, { where = "post" }):step({ 1, 2 }, { 1, 2 },
      { where = "mid" })
    assert.same({ "1 1", "1 2", "2 2", "2 3", "3 3", "1 1", "2 1", "2 2", "3 2", "3 3", "1 1", "1.5 1", "1.5 2", "2 2" },
      lines(fig, "^[%d.]+ %d$"))
    assert.equal("step: where: expected one of pre, post, mid, got 'x'", message(ax.step, ax, { 1 }, { 1 }, { where = "x" }))
    fig, ax = figure()
    ax:step({ 1, 2, 3, 4, 5 }, { 1, 1, 1, 1, 2 }) -- a run of one height is one step
    assert.same({ "1 1", "4 1", "4 2", "5 2" }, lines(fig, "^%d %d$"))
    fig, ax = figure()
    ax:step({ 1, 2, 3 }, { 1, 0 / 0, 2 }, "o-"):step({ 1, 2, 3 }, { -1, 1, 2 }):semilogy({}, {})
    assert.equal(3, #lines(fig, "with lines lt"))
    assert.equal(1, #lines(fig, "with points lt"))
    assert.same({ "1 1", "2 NaN", "3 2", "1 1", "1 NaN", "2 NaN", "2 2", "3 2", "1 NaN", "1 1", "2 1", "2 2", "3 2" },
      lines(fig, "^%d [%dN]"))
  end)

  it("step: narrow steps look as the curve that they follow #once", function()
    local figures = {}
    for _, n in ipairs { 1001, 8001 } do
      local t = ns.linspace(0, 1, n)
      local y = t:map(function(x) return math.max(0, math.sin(30 * x)) end)
      for _, kind in ipairs { "step", "plot" } do
        local fig, ax = figure { figsize = { 3, 2 }, dpi = 150 }
        ax[kind](ax, t + (kind == "step" and 0.5 / n or 0), y)
        ax:xlim(0, 1)
        figures[#figures + 1] = fig
      end
    end
    local pictures = png.of_all(figures)
    for k = 1, 2 do
      local count = differences(pictures[2 * k - 1], pictures[2 * k])
      assert.is_true(count < 1500, ("%d: %d"):format(k, count)) -- with teeth 4000
    end
  end)

  it("scatter: in space", function()
    local fig, ax = figure()
    ax:scatter({ 1, 2 }, { 3, 4 }, { 5, 6 }):scatter({ 1, 2 }, { 3, 4 }, { 5, 6 }, { c = { 0, 1 }, s = { 9, 36 } })
    assert.truthy(has(fig, "splot "))
    assert.equal(1, #lines(fig, "^1 3 5$"))
    assert.equal(1, #lines(fig, "^1 3 5 [%d.]+ " .. tonumber("440154", 16) .. "$"))
    assert.truthy(has(fig, "using 1:2:3 with points lt 1 lc rgb"))
    assert.truthy(has(fig, "using 1:2:3:4:5 with points lc rgb variable"))
    assert.equal("scatter: x has 2 elements, z has 1", message(ax.scatter, ax, { 1, 2 }, { 1, 2 }, { 1 }))
    local _, flat = figure()
    flat:plot({ 1, 2 }):scatter({ 1 }, { 2 }, {}) -- options, though none
    assert.equal("scatter: these axes hold curves in the plane already", message(flat.scatter, flat, { 1 }, { 1 }, { 1 }))
  end)

  it("scatter: one colour, or one for each point", function()
    local fig, ax = figure()
    ax:scatter({ 1, 2, 3 }, { 1, 2, 3 }, { c = { 0, 5, 10 }, marker = "s" })
    assert.truthy(has(fig, "using 1:2:3 with points lc rgb variable pt 5"))
    assert.equal(1, #lines(fig, "^1 1 " .. tonumber("440154", 16) .. "$"))
    assert.equal(1, #lines(fig, "^3 3 " .. tonumber("FDE725", 16) .. "$"))
    assert.equal("scatter: x has 2 elements, c has 4", message(ax.scatter, ax, { 1, 2 }, { 1, 2 }, { c = { 1, 2, 3, 4 } }))
    assert.equal("scatter: cmap: expected one of Blues Greens Greys Oranges RdBu RdYlBu RdYlGn Reds Spectral bwr cividis " ..
      "coolwarm gray hot inferno jet magma plasma seismic tab10 turbo viridis, or one of them with _r after it, got 'rainbow'",
      message(ax.scatter, ax, { 1, 2 }, { 1, 2 }, { c = { 1, 2 }, cmap = "rainbow" }))
  end)

  it("fill: polygons; fill_between", function()
    local fig, ax = figure()
    ax:fill({ { 0, 0 }, { 1, 0 }, { 0, 1 } }, { color = "C2", edgecolor = "k", label = "T" }):fill_between({ 0, 1 }, { 0, 1 }, -1)
    assert.truthy(has(fig, 'with filledcurves closed lt 1 fc rgb "#A6009E73"'))
    assert.equal(3 - 1, #lines(fig, "^0 0$")) -- closed: the first point comes again
    assert.truthy(has(fig, "using 1:2:3 with filledcurves"))
    assert.equal("fill: expected at least 3 points, got 2", message(ax.fill, ax, { 1, 2 }, { 1, 2 }))
    assert.equal("fill: y: expected finite numbers", message(ax.fill, ax, { 1, 2, 3 }, { 1, 2, 0 / 0 }))
    assert.equal("fill_between: x has 2 elements, y2 has 3", message(ax.fill_between, ax, { 1, 2 }, { 1, 2 }, { 1, 2, 3 }))
  end)

  it("text, annotate, axhline, axvline", function()
    local fig, ax = figure()
    ax:plot({ 0, 1 }, { 0, 1 }):text(0.5, 0.25, "here", { align = "right", color = "r" }):axhline(2):axvline(0.5,
      { linestyle = "--" })
    ax:annotate("there", { xy = { 1, 1 }, xytext = { 0.5, 0.5 } })
    assert.equal(1, #lines(fig, '^set label "here" at screen %S+ %S+ right .* front$'))
    assert.truthy(has(fig, "with vectors head filled"))
    assert.equal(1, #lines(fig, "^0 2$"))
    assert.equal("annotate: xy: expected a point {x, y}, got nil", message(ax.annotate, ax, "x"))
    assert.equal("text: align: expected one of left, center, right, got 'x'", message(ax.text, ax, 0, 0, "s", { align = "x" }))
    assert.equal("text: s: expected a text, got nil", message(ax.text, ax, 0, 0))
    assert.equal("axhline: place: expected a number, got nil", message(ax.axhline, ax))
  end)

  it("quiver: the longest arrow as long as a mesh", function()
    local _, ax = figure()
    ax:quiver({ 0, 1, 2 }, { 0, 1, 2 }, function(x) return 10 * x, 0 end, { scale = 1 })
    local arrows = ax.artists[1]
    assert.equal(9, #arrows.columns[1])
    assert.near(1, arrows.vectors[1]:max(), 1e-12)
    assert.equal("quiver: x has 2 elements, u has 3", message(ax.quiver, ax, { 1, 2 }, { 1, 2 }, { 1, 2, 3 }, { 1, 2, 3 }))
  end)
end)

describe("axes", function()
  it("have limits: those of the data, with margins, or those given", function()
    local fig, ax = figure()
    ax:plot({ 0, 10 }, { 0, 1 })
    assert.truthy(has(fig, "set xrange [0:10]") and has(fig, "set yrange [-0.05:1.05]"))
    ax:xlim(2, 5):ylim { 3, -1 }
    assert.truthy(has(fig, "set xrange [2:5]") and has(fig, "set yrange [3:-1]"))
    assert.equal("xlim: limits: expected two numbers, the first not the second, got 1 and 1", message(ax.xlim, ax, 1, 1))
    assert.equal("ylim: limits: expected two numbers, the first not the second, got a list of 1", message(ax.ylim, ax, { 1 }))
    ax:xscale "log":xlim(-1, 5)
    assert.equal("xlim: expected numbers above 0 on a logarithmic axis, got -1 and 5", message(fig.commands, fig))
    fig, ax = figure() -- a closed curve has margins on all sides
    ax:plot({ 0, 10, 0 }, { 0, 1, 0 })
    assert.truthy(has(fig, "set xrange [-0.5:10.5]"))
  end)

  it("widen a constant", function()
    local fig, ax = figure()
    ax:plot({ 0, 1 }, { 11.25, 11.25 + 2e-15 })
    assert.truthy(has(fig, "set yrange [10.125:12.375]"))
    fig, ax = figure()
    ax:plot({ 0, 1 }, { 0, 0 })
    assert.truthy(has(fig, "set yrange [-1:1]"))
  end)

  it("have one unit of one length when they are equal", function()
    for _, kind in ipairs { "equal", "scaled" } do
      local fig, ax = figure { figsize = { 8, 4 } }
      ax:plot({ 0, 1, 0 }, { 0, 5, 0 }):axis(kind)
      local text = fig:commands()
      local function number(pattern) return tonumber(text:match(pattern)) end
      local x0, x1 = text:match "set xrange %[(.-):(.-)%]"
      local y0, y1 = text:match "set yrange %[(.-):(.-)%]"
      local width = (number "rmargin at screen (%S+)" - number "lmargin at screen (%S+)") * 8
      local height = (number "tmargin at screen (%S+)" - number "bmargin at screen (%S+)") * 4
      assert.near(1, (x1 - x0) / width / ((y1 - y0) / height), 1e-3)
    end
  end)

  it("have the panels of a column in one line, and spans", function()
    local fig = plot.figure { title = "all" }
    fig:subplot(3, 1, 1):plot({ 0, 1 }, { 0, 1 }):ylabel "a"
    fig:subplot(3, 1, 2):plot({ 0, 1 }, { 0, -123456 }):title "second"
    fig:subplot(3, 1, 3):plot({ 0, 1 }, { 0, 0.001 }):xlabel "t"
    local left = lines(fig, "^set lmargin")
    assert.equal(3, #left)
    assert.is_true(left[1] == left[2] and left[2] == left[3])
    local fig2 = plot.figure()
    fig2:subplot(2, 2, { 3, 4 }):plot { 1, 2 }
    fig2:subplot(2, 2, 1):plot { 1, 2 }
    local l, r = lines(fig2, "^set lmargin"), lines(fig2, "^set rmargin")
    assert.equal(l[1], l[2])
    assert.not_equal(r[1], r[2])
    assert.equal("subplot: i: expected a whole number from 1 to 4, got number 5", message(fig2.subplot, fig2, 2, 2, 5))
    assert.equal("subplot: rows: expected a whole number from 1 to 50, got number 0", message(fig2.subplot, fig2, 0, 2, 1))
    assert.is_true(fig2:subplot(2, 2, 1) == fig2.panels[2])
    assert.equal("figure with 2 panels", tostring(fig2))
  end)

  it("have ticks that are round, with a power of ten taken out of large and small numbers", function()
    local ticks = require "nslua.plot.ticks"
    local function labels(...)
      local words, list = {}, ticks.make(...)
      for i, tick in ipairs(list) do words[i] = tick[2] end
      return table.concat(words, " "), list.note
    end
    assert.equal("0 2 4 6 8 10", (labels(0, 10, 6)))
    assert.equal("−1.0 −0.5 0 0.5 1.0", (labels(-1, 1, 5)))
    assert.same({ "−3 −2 −1 0 1 2", "$×10^{−13}$" }, { labels(-3e-13, 2e-13, 7) })
    assert.same({ "0 1 2 3", "$×10^{6}$" }, { labels(0, 3e6, 4) })
    assert.equal("0.1 1 10 100", (labels(0.1, 100, 6, true)))
    assert.same({ "−0.0010 −0.0005 0 0.0005 0.0010", "$+100000$" }, { labels(1e5 - 1e-3, 1e5 + 1e-3, 5) })
    assert.same({ "0 2 4 6 8 10", "$−10^{7}$" }, { labels(-1e7, -1e7 + 10, 5) })
    assert.same({ "0 2 4 6 8", "$+1.2345×10^{8}$" }, { labels(123450000, 123450009, 5) })
    assert.same({ "0 2 4 6 8 10", "$+1000000$" }, { labels(1e6, 1e6 + 10, 5) })
    assert.same({ "2000 2005 2010 2015 2020" }, { labels(2000, 2024, 5) })
    assert.equal("$10^{−8}$ $10^{−6}$ $10^{−4}$ $10^{−2}$ $10^{0}$", (labels(1e-8, 1, 5, true)))
    assert.equal("1 2 5", (labels(0.9, 8, 5, true)))
    assert.same({ 0.9, 3, 4, 6, 7, 8 }, ticks.make(0.85, 8, 5, true).minor)
    assert.same({ 1e-7, 1e-5, 1e-3, 1e-1 }, ticks.make(1e-8, 1, 5, true).minor) -- all powers of ten have a tick
    for _, range in ipairs { { 0, 1 }, { -7.3, 12.9 }, { 1e-9, 3e-9 }, { 1e15, 1e15 + 8 }, { -1e300, 1e300 } } do
      local list = ticks.make(range[1], range[2], 6)
      assert.is_true(#list >= 2 and #list <= 8)
      for _, tick in ipairs(list) do assert.is_true(tick[1] >= range[1] - 1e-6 * math.abs(range[1]) and
        tick[1] <= range[2] + 1e-6 * math.abs(range[2])) end
    end
    assert.same({}, ticks.make(0, 1 / 0, 5))
    assert.same({}, ticks.make(1, 1, 5)) -- and comes back
    assert.same({}, ticks.make(1, 1 + 2 ^ -52, 5))
  end)

  it("in space have names that stay in small pictures, letters upright, and numbers that do not touch #once", function()
    local boxes = require "picture_boxes"
    for _, size in ipairs { { 3.5, 2.6 }, { 4, 2.8 }, { 5, 5 }, { 6.4, 4.6 } } do
      for _, more in ipairs { "", " axis" } do
        local fig = plot.figure { figsize = size }
        local t = ns.linspace(0, 6, 20)
        fig:subplot(1, 1, 1, { projection = "3d" }):plot3D(t:map(math.sin), t:map(math.cos), t)
          :xlabel("x" .. more):ylabel("y" .. more):zlabel("z" .. more):title "A heading"
        assert.equal(more == "" and 3 or 0, #lines(fig, "^set [xyz]label .* norotate$"))
        assert.equal("", table.concat(boxes.faults((fig:picture "svg")), "\n"), size[1] .. more)
        fig:close()
      end
    end
  end)

  it("tell in space, too, what the numbers at ticks leave out", function()
    local fig = plot.figure()
    local ax = fig:subplot(1, 1, 1, { projection = "3d" }):plot3D({ 0, 3e6 }, { 1e5, 1e5 + 1 }, { 0, 1 })
    ax:xlabel "x"
    local function decoded(line) return line:gsub("\\(%d%d%d)", function(octal) return string.char(tonumber(octal, 8)) end) end
    assert.truthy(decoded(lines(fig, "^set xlabel")[1]):find("x (×10^{6})", 1, true))
    assert.truthy(decoded(lines(fig, "^set ylabel")[1]):find("+100000", 1, true))
    assert.equal(0, #lines(fig, "^set zlabel"))
  end)

  it("have ticks as they are asked for", function()
    local fig, ax = figure()
    ax:plot({ 0, 1 }, { 0, 1 }):xticks({ 0, 0.5 }, { "$t_0$", "half" }):yticks {}
    assert.truthy(has(fig, '0, "half" 0.5)'))
    assert.equal(1, #lines(fig, "^unset ytics"))
    assert.equal("xticks: 2 places and 1 labels", message(ax.xticks, ax, { 1, 2 }, { "a" }))
  end)

  it("take grid, axis, legend, set, and say what they do not know", function()
    local fig, ax = figure()
    ax:plot({ 0, 1, 2 }, { 0, 1, 2 }, { label = "a" })
    assert.equal(1, #lines(fig, "^set grid"))
    assert.equal(0, #lines(fig, '^set label "a"'))
    ax:set { grid = false, legend = { loc = "lower left", ncol = 2 }, title = "T", xlim = { 0, 1 }, xlabel = "X" }
    assert.equal(0, #lines(fig, "^set grid"))
    local function at(words)
      local x, y = fig:commands():match('\nset label "' .. words .. '" at screen (%S+),screen (%S+)')
      return x and tonumber(x), y and tonumber(y)
    end
    local x, y = at "a"
    assert.is_true(x < 0.3 and y < 0.3)
    ax:xlim(0, 2):legend { "first" }
    x, y = at "first"
    assert.is_true(x < 0.3 and y > 0.7) -- the corner where no point is
    ax:legend { loc = "outside" }:axis "off"
    assert.is_true(at "first" > tonumber(fig:commands():match "rmargin at screen (%S+)"))
    local space = plot.figure()
    space:subplot(1, 1, 1, { projection = "3d" }):plot3D({ 0, 1 }, { 0, 1 }, { 0, 1 }, { label = "a" }):legend {}
    local top = tonumber(space:commands():match "set size %S+,(%S+)") + tonumber(space:commands():match "set origin %S+,(%S+)")
    local high = tonumber(space:commands():match 'set label "a" at screen %S+,screen (%S+)')
    assert.is_true(high > top) -- above the space
    assert.equal(1, #lines(fig, "^unset border"))
    assert.matches("^legend: loc: expected one of best, .*got 'middle'$", message(ax.legend, ax, { loc = "middle" }))
    assert.matches("^axis: expected one of equal, .* got 'x'$", message(ax.axis, ax, "x"))
    assert.matches("^set: unknown option 'xlable' %(known: xlabel, ", message(ax.set, ax, { xlable = "x" }))
    assert.equal('xscale: expected "log", "linear" or "symlog", got \'x\'', message(ax.xscale, ax, "x"))
    assert.equal("title: text: expected a text, got nil", message(ax.title, ax))
  end)
end)

describe("a point in place of the colon", function()
  it("is said, at the line of the caller", function()
    local fig, ax = plot.subplots()
    local function said(f) return (select(2, pcall(f))) end
    assert.matches("^%S+plot_spec.lua:%d+: plot: expected axes before a colon, as in ax:plot%(%.%.%.%)$",
      said(function() ax.plot({ 1, 2 }, { 1, 2 }) end))
    assert.matches("^%S+plot_spec.lua:%d+: set_title: expected axes before a colon, as in ax:set_title%(%.%.%.%)$",
      said(function() ax.set_title "T" end))
    assert.matches("^%S+plot_spec.lua:%d+: show: expected a figure before a colon, as in fig:show%(%.%.%.%)$",
      said(function() fig.show() end))
    assert.matches("subplot: expected a figure before a colon", said(function() fig.subplot(2, 1, 1) end))
  end)

  it("and a format or a number that is none", function()
    local v, ax = { 1, 2 }, plot.figure():subplot(1, 1, 1)
    assert.equal("plot3D: format: expected a string, got number 3", message(ax.plot3D, ax, v, v, v, 3))
    ax = plot.figure():subplot(1, 1, 1)
    assert.equal("axhline: options: expected a table, got nan", message(ax.axhline, ax, 1, 0 / 0))
  end)
end)

describe("matplotlib's names", function()
  it("subplots: a figure and its axes, one, a list, or a list of rows", function()
    local fig, ax = plot.subplots()
    assert.equal("axes 1 of 1 x 1 with 0 artists", tostring(ax))
    assert.equal(fig, plot.gcf())
    local column, row, all
    fig, column = plot.subplots(3, 1, { sharex = true, figsize = { 4, 3 }, title = "T" })
    assert.same({ 3, 4, "T" }, { #column, fig.size[1], fig.heading })
    assert.equal(column[1], column[3].shares.x)
    assert.is_nil(column[1].shares.x)
    fig, row = plot.subplots(1, 2)
    assert.equal(fig:subplot(1, 2, 2), row[2])
    fig, all = plot.subplots(2, 2, { sharex = true })
    assert.same({ 2, 2 }, { #all, #all[1] })
    assert.equal(fig:subplot(2, 2, 3), all[2][1])
    assert.equal(all[1][1], all[2][2].shares.x)
    all = select(2, plot.subplots(2, 2, { sharex = "col", sharey = "row" }))
    assert.equal(all[1][2], all[2][2].shares.x)
    assert.equal(all[2][1], all[2][2].shares.y)
    assert.is_nil(all[2][1].shares.y)
    assert.equal("subplots: cols: expected a whole number from 1 to 50, got number 0", message(plot.subplots, 2, 0))
    assert.equal("subplots: sharex: expected a boolean or one of all, row, col, none, got number 1",
      message(plot.subplots, { sharex = 1 }))
    assert.matches("^subplots: unknown option 'squeeze' %(known: sharex, ", message(plot.subplots, 2, 2, { squeeze = true }))
  end)

  it("set_xlabel and the like, and the short names of options", function()
    local fig, ax = plot.subplots()
    ax:plot({ 1, 2 }, { 3, 4 }, { lw = 3, c = "#123456", ls = "--", ms = 9 })
    local short = fig:commands()
    ax.artists, ax.used_colors = {}, 0
    ax:plot({ 1, 2 }, { 3, 4 }, { linewidth = 3, color = "#123456", linestyle = "--", markersize = 9 })
    assert.equal(short, fig:commands())
    ax:set_xlabel "X":set_ylabel "Y":set_title "T":set_xlim(0, 1):set_ylim { 2, 3 }:set_yscale "log":set_aspect "equal"
    assert.same({ "X", "Y", "T", "equal", true }, { ax.names.x, ax.names.y, ax.heading, ax.aspect, ax.logs.y })
    assert.same({ x = { 0, 1 }, y = { 2, 3 } }, ax.limits)
    assert.is_nil(rawget(plot, "set_xlabel"))
    local options = { lw = 1, linewidth = 2 }
    assert.equal("plot: 'lw' and 'linewidth' are one option; both are given", message(ax.plot, ax, { 1, 2 }, options))
    assert.same({ lw = 1, linewidth = 2 }, options)
    assert.matches("^legend: unknown option 'lw' ", message(ax.legend, ax, { lw = 1 }))
  end)

  it("a panel that is there takes the options of subplot too, or refuses them", function()
    local fig, axes = plot.subplots(3, 1)
    assert.equal("subplot: projection: expected \"3d\" or \"polar\", got 'round'", message(fig.subplot, fig, 3, 1, 1,
      { projection = "round" }))
    assert.equal("subplot: sharex: expected axes, got number 3", message(fig.subplot, fig, 3, 1, 1, { sharex = 3 }))
    assert.equal(axes[1], fig:subplot(3, 1, 2, { sharex = axes[1] }).shares.x)
    assert.is_true(fig:subplot(3, 1, 3, { projection = "3d" }).three_d)
    axes[1]:plot { 1, 2 }
    assert.equal("subplot: these axes hold curves in the plane already", message(fig.subplot, fig, 3, 1, 1,
      { projection = "3d" }))
    assert.is_falsy(axes[1].three_d)
  end)
end)

describe("the current figure", function()
  it("is made when it is needed, and takes every method of axes", function()
    plot.close()
    plot.plot({ 1, 2 }, { 1, 2 })
    plot.xlabel "t"
    plot.grid(false)
    local fig = plot.gcf()
    assert.equal(1, #fig.panels)
    assert.equal("t", plot.gca().names.x)
    plot.subplot(2, 1, 2)
    assert.equal(2, #fig.panels)
    assert.is_true(plot.gca() == fig.panels[2])
    plot.suptitle "S"
    assert.equal("S", fig.heading)
    plot.figure()
    for _, draw in ipairs { "quiver", "streamplot" } do
      local function field(f) return message(plot[draw], { 0, 1 }, { 0, 1 }, f) end
      local expected = draw .. ": expected the function to return two numbers, got "
      assert.truthy(field(function() end):find(expected .. "nil and nil at (", 1, true))
      assert.truthy(field(function() return 1 end):find("return two numbers, got number 1 and nil at (", 1, true))
      assert.truthy(field(function() return { 1, "a" } end):find("return two numbers, got number 1 and 'a' at (", 1, true))
    end
    for _, name in ipairs { "step", "scatter", "contour", "heatmap", "quiver", "streamplot", "fill", "fill_between", "surface",
      "plot3D", "implicit", "semilogx", "semilogy", "loglog", "text", "annotate", "axhline", "axvline", "xlim", "ylim",
      "zlim", "xlabel", "ylabel", "zlabel", "title", "legend", "axis", "view", "xticks", "yticks", "set" } do
      assert.equal("function", type(plot[name]), name)
    end
    plot.close()
    assert.is_false(plot.gcf() == fig)
    assert.equal("close: expected a figure, got number 3", message(plot.close, 3))
    assert.matches("^figure: figsize: expected {width, height} in inches, 1 to 100, got a list of 1$",
      message(plot.figure, { figsize = { 1 } }))
  end)

  it("is loaded at its first use alone", function()
    local out = host.nslua_run("-e " .. host.quote [[
      local ns = require "nslua"
      print(package.loaded["nslua.plot"] == nil, type(ns.plot), type(ns.plot.plot), package.loaded["nslua.plot"] ~= nil)]])
    assert.equal("true\ttable\tfunction\ttrue\n", out)
    out = host.nslua_run("-e " .. host.quote [[
      local names = {}
      for name in pairs(require "nslua".plot) do names[name] = true end
      print(names.plot, names.savefig)]])
    assert.equal("true\ttrue\n", out)
  end)
end)

describe("sol:plot", function()
  local simu = models.relay(0.1)
  local sol = simu:run()

  it("draws states and multipliers in panels", function()
    local fig = sol:plot { title = "A run" }
    local names = {}
    for _, axes in ipairs(fig.panels) do
      for _, artist in ipairs(axes.artists) do names[#names + 1] = axes.names.y or artist.label end
    end
    assert.equal("$x_{1}$ $x_{2}$ $\\lambda_{1}$", table.concat(names, " "))
    assert.equal("A run", fig.heading)
    assert.equal("pre", fig.panels[#fig.panels].artists[1].steps)
    assert.equal(sol.x1:copy(), fig.panels[1].artists[1].columns[2])
    local lambda = fig.panels[#fig.panels].artists[1].columns[2]
    assert.is_true(sol.lambda1[1] == 0 and sol.lambda1[2] ~= 0)
    assert.equal(sol.lambda1[2], lambda[1]) -- no jump from the value of the start, which holds over no step
    for k = 2, #sol do assert.equal(sol.lambda1[k], lambda[k]) end
    fig:savefig(directory .. "/sol.svg")
  end)

  it("draws the columns that are asked for", function()
    assert.equal(1, #sol:plot({ "x1", "x2" }).panels)
    assert.equal(2, #sol:plot({ { "x1" }, { "x2", "lambda1" } }).panels)
    assert.equal(1, #sol:plot("y1").panels)
    assert.equal("plot: there is no column 'foo' (known: t, x1, x2, lambda1, y1, newton_iterations)", message(sol.plot, sol,
      "foo"))
    assert.equal("plot: columns: expected a list of names, got number 3", message(sol.plot, sol, 3))
    assert.equal("plot: columns: expected a list of names, got an empty table", message(sol.plot, sol, {}))
    assert.equal("plot: columns[2]: expected a list of names, got 'x2'", message(sol.plot, sol, { { "x1" }, "x2" }))
    assert.equal("plot: columns[1]: expected a list of names, got an empty table", message(sol.plot, sol, { {} }))
  end)

  it("takes options beside the names, before or after them", function()
    for _, fig in ipairs { sol:plot { "x1", title = "x", figsize = { 2, 2 } },
      sol:plot({ "x1" }, { title = "x", figsize = { 2, 2 } }),
      sol:plot { { "x1" }, title = "x", figsize = { 2, 2 } } } do
      assert.equal("x", fig.heading)
      assert.same({ 2, 2 }, fig.size)
      assert.equal(1, #fig.panels)
    end
    local unknown = "plot: unknown option 'titel' (known: figsize, dpi, title)"
    assert.equal(unknown, message(sol.plot, sol, { titel = "x" }))
    assert.equal(unknown, message(sol.plot, sol, { "x1", titel = "x" }))
    assert.equal(unknown, message(sol.plot, sol, { "x1" }, { titel = "x" }))
    assert.equal("plot: columns[1]: title: expected names alone; options stand beside the panels",
      message(sol.plot, sol, { { "x1", title = "x" } }))
    assert.equal("plot: options: expected in one table, got some with the columns and some after them",
      message(sol.plot, sol, { "x1", title = "x" }, { dpi = 100 }))
    assert.equal("plot: options: expected a table, got number 3", message(sol.plot, sol, { "x1" }, 3))
  end)

  it("draws all columns of a loaded run that has no others than y", function()
    local file = directory .. "/run.csv"
    ns.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0, 1 }, { 1, 0 }):save(file)
    local fig = ns.load(file):plot()
    assert.same({ "$y_{1}$", "$y_{2}$" }, { fig.panels[1].artists[1].label, fig.panels[1].artists[2].label })
  end)

  it("puts what is of one size together, coordinates and velocities apart", function()
    local ball = ns.LagrangianLinearTIDS({ 1, 2 }, { 0, 0 }, ns.eye(2))
    ball:setFExtPtr { -1, -2 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    local run = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):run()
    local fig = run:plot()
    assert.equal(2, #fig.panels)
    assert.same({ "$q_{1}$", "$q_{2}$" }, { fig.panels[1].artists[1].label, fig.panels[1].artists[2].label })
    assert.same({ "$v_{1}$", "$v_{2}$" }, { fig.panels[2].artists[1].label, fig.panels[2].artists[2].label })
  end)

  it("takes the results of solve_ivp too", function()
    local result = ns.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0, 1 }, { 1, 0 })
    local fig = plot.solution(result)
    assert.equal("$y_{2}$", fig.panels[1].artists[2].label)
    assert.equal("solution: expected a solution with t and y, got number 3", message(plot.solution, 3))
  end)
end)
