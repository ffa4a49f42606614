local bundle = require "nslua.notebook.bundle"
local cell = require "nslua.notebook.cell"
local ns = require "nslua"
local screen = require "nslua.notebook.screen"

local PNG = "\137PNG"

-- A Base64 text as bytes, so far as the first three are needed.
local function begins_with_png(text) return text:sub(1, 4) == require "nslua.web.html".base64(PNG):sub(1, 4) end

describe("nslua.notebook.bundle", function()
  it("shows plain values as text alone", function()
    for value, text in pairs { [3] = "3", a = "a", [true] = "true" } do
      assert.same({ ["text/plain"] = text }, (bundle.of(value)))
    end
    assert.same({ ["text/plain"] = "nil" }, (bundle.of(nil)))
    assert.same({ ["text/plain"] = "1\tx" }, (bundle.of_all { n = 2, 1, "x" }))
  end)

  it("shows matrices and vectors with LaTeX", function()
    local data = bundle.of(ns.matrix { { 1, 2.5e-7 }, { -3, 1 / 0 } })
    assert.equal("$$\\begin{bmatrix} 1 & 2.5\\cdot 10^{-7} \\\\ -3 & \\infty \\end{bmatrix}$$", data["text/latex"])
    assert.matches(">2.5e%-07</td>", data["text/html"])
    local left, right = data["text/html"]:match
      'border%-width:([^"]*)"></div><table.*</table><div style="[^"]*border%-width:([^"]*)"'
    assert.same({ "1.5px 0 1.5px 1.5px", "1.5px 1.5px 1.5px 0" }, { left, right }) -- brackets: bars would be a determinant
    assert.equal("$$\\begin{bmatrix} 1 & 2 \\end{bmatrix}$$", bundle.of(ns.vector { 1, 2 })["text/latex"])
  end)

  it("shortens large ones", function()
    local data = bundle.of(ns.zeros(100, 30))
    assert.is_nil(data["text/latex"])
    local _, cells = data["text/html"]:gsub("<td", "")
    assert.equal(21 * 13, cells)
    assert.matches("100 rows, 30 columns", data["text/html"])
  end)

  it("shows records and rows as tables, and escapes texts", function()
    local html = bundle.of { { t = 1, name = "<a>" }, { t = 2 } }["text/html"]
    assert.matches("<th [^>]*>name</th><th [^>]*>t</th>", html)
    assert.matches("&lt;a&gt;", html, 1, true)
    assert.matches("<td [^>]*>2</td>", bundle.of { { 1, 2 }, { 3, 4 } }["text/html"])
    for _, other in ipairs { {}, { 1, 2 }, { { 1 }, { 2, 3 } }, { a = 1 }, { { a = {} } } } do
      assert.is_nil(bundle.of(other)["text/html"])
    end
  end)

  it("shows a solution by its columns", function()
    local sol = ns.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0, 10 }, { 1, 0 })
    local html = bundle.of(sol)["text/html"]
    assert.matches("<th [^>]*>y1</th>", html)
    assert.matches("<polyline ", html)
    assert.matches("t = 0 %.%. 10", html)
  end)

  it("shows figures in their size, as PNG or SVG", function()
    local fig = ns.plot.figure { figsize = { 3, 2 } }
    fig:subplot(1, 1, 1):plot({ 1, 2 }, { 3, 4 })
    local data, metadata = bundle.of(fig)
    assert.is_true(begins_with_png(data["image/png"]))
    assert.same({ width = 288, height = 192 }, metadata["image/png"])
    assert.matches('<img style="max%-width:100%%" width="288" src="data:image/png;base64,', bundle.html(data, metadata))
    ns.notebook.options { pictures = "svg" }
    data, metadata = bundle.of(fig)
    ns.notebook.options { pictures = "png" }
    assert.matches("<svg ", data["image/svg+xml"])
    assert.is_nil(metadata)
    fig:close()
  end)

  it("shows animations and time plots as pages in a frame without access to the notebook", function()
    local film = ns.animation { frames = 2, draw = function(k, canvas) canvas:circle(k, 0, 1) end }
    local page = bundle.of(film)["text/html"]
    assert.matches('^<iframe srcdoc="&lt;!DOCTYPE html&gt;.*" sandbox="allow%-scripts allow%-downloads"', page)
    local sol = ns.solve_ivp(function(_, y) return { -y[1] } end, { 0, 1 }, { 1 })
    assert.matches("^<iframe ", bundle.of(sol:html())["text/html"])
  end)

  it("asks a class for its own form, and tells when it fails", function()
    local good = setmetatable({}, { __display = function() return { ["text/html"] = "<b>x</b>" } end })
    assert.equal("<b>x</b>", bundle.of(good)["text/html"])
    local bad = setmetatable({}, { __display = function() error("no", 0) end, __name = "bad" })
    assert.equal("bad {}\n(not shown as a picture: no)", bundle.of(bad)["text/plain"])
  end)
end)

describe("ns.interact", function()
  it("refuses what are no controls", function()
    for message, spec in pairs {
      ["interact: expected a function of the parameters in the table, got nil"] = { a = { 0, 1 } },
      ["interact: expected at least one parameter, as in interact{a = {0, 1}, f}"] = { print },
      ["interact: a: expected low below high, got 2, 1"] = { print, a = { 2, 1 } },
      ["interact: a[3]: expected a positive step, got 0"] = { print, a = { 0, 1, 0 } },
      ["interact: a: expected {low, high [, step]}, a list of texts, a boolean or a number, got table"] = { print, a = { 1 } },
      ["interact: it needs a notebook (nslua kernel install); ns.animation.interact makes a page with all pictures"] =
        { print, a = 1 },
    } do
      local _, got = pcall(ns.interact, spec)
      assert.equal(message, (got:gsub("^[^ ]-:%d+: ", "")))
    end
  end)

  it("calls the function with the values of the controls, and shows what it returns", function()
    local shown, seen = {}, {}
    screen.show, screen.figures = function(data) shown[#shown + 1] = data end, {}
    ns.interact { a = { 0, 1 }, n = { 1, 9, value = 3 }, on = true, word = { "x", "y" }, x = 2.5, function(p)
      seen = p
      return "told"
    end }
    assert.same({ a = 0.5, n = 3, on = true, word = "x", x = 2.5 }, seen)
    assert.equal(1, #shown)
    local html = shown[1]["text/html"]
    local id = html:match '^<div id="([^"]*)">'
    assert.matches("<pre>told</pre>", html, 1, true)
    local menu = '<select data-name="word" data-kind="text"><option selected>x</option><option>y</option></select>'
    assert.matches(menu, html, 1, true)
    cell.changed(id, { n = 4.0, on = false })
    screen.show, screen.figures = nil, nil
    assert.same({ a = 0.5, n = 4, on = false, word = "x", x = 2.5 }, seen)
    assert.equal("told", shown[2]["text/plain"])
    assert.same({ false, "the controls belong to an earlier session: run the cell again" }, { pcall(cell.changed, "nothing") })
  end)
end)

describe("ns.progress", function()
  it("goes through steps and lists, and shows the way at the prompt", function()
    local sum, texts = 0, {}
    for k in ns.progress(3) do sum = sum + k end
    screen.clock, screen.bar = os.clock, function(text) texts[#texts + 1] = text end
    for k, x in ns.progress({ 5, 6 }, "runs") do sum = sum + 10 * k + x end
    screen.clock, screen.bar = nil, nil
    assert.equal(6 + 30 + 11, sum)
    assert.equal("runs: 2 of 2, 0 s", texts[#texts])
    for _ in ns.progress(0) do error "a step" end
    assert.error_matches(function() ns.progress "x" end, "progress: expected a number of steps, or a list, got 'x'")
    assert.error_matches(function() ns.progress(3, 4) end, "progress: label: expected a string, got 4")
  end)
end)
