-- ns.animation.timeplot and sol:html: panels, series, messages. The page itself: pages_spec.
local host = require "host"
local ns = require "nslua"
local page = require "page"
local models = require "bind.models"
local message = models.message

describe("ns.animation.timeplot", function()
  local t = { 0, 1, 2 }

  it("has panels of series over their times, to the last bit", function()
    local record, title = page.read(ns.animation.timeplot { title = "A < B", t = t, xlabel = "time", panels = {
      { ylabel = "a", { name = "one", y = { 1 / 3, 0 / 0, -1e300 } }, { y = t, step = true, color = "sky" } },
      { { y = { 4, 5 }, t = { 7, 8 } } },
    } })
    assert.equal("A &lt; B", title)
    assert.equal("A < B", record.title)
    assert.equal("time", record.xlabel)
    local one, two = table.unpack(record.panels[1].series)
    local y = page.numbers(one.y)
    assert.is_true(y[1] == 1 / 3 and y[2] ~= y[2] and y[3] == -1e300)
    assert.same({ "one", "blue", false }, { one.name, one.color, one.step })
    assert.same({ "y2", "sky", true }, { two.name, two.color, two.step })
    assert.equal(2, #record.axes)
    assert.same({ 7, 8 }, page.numbers(record.axes[record.panels[2].series[1].axis + 1]))
  end)

  it("names what is wrong", function()
    local function refused(expected, spec) assert.equal(expected, message(ns.animation.timeplot, spec)) end
    refused("timeplot: expected a table, got nil", nil)
    refused("timeplot: unknown option 'x' (known: file, title, xlabel, t, panels)", { x = 1 })
    refused("timeplot: expected panels = {...}, got an unnamed value", { 1 })
    refused("timeplot: panels: expected a list that is not empty, got nil", { t = t })
    refused("timeplot: panels: expected a list that is not empty, got table", { t = t, panels = {} })
    refused("timeplot: panel 1: expected a table, got 'w'", { t = t, panels = { "w" } })
    refused("timeplot: panel 1: expected at least one series", { t = t, panels = { {} } })
    refused("timeplot: panel 1: unknown option 'label' (known: title, ylabel)", { t = t, panels = { { label = 1 } } })
    refused("timeplot: panel 1: series 1: expected {name=, y=}, got 'w'", { t = t, panels = { { "w" } } })
    refused("timeplot: panel 1: series 1: t: expected a list of numbers, got nil", { panels = { { { y = t } } } })
    refused("timeplot: panel 1: series 1: y: expected 3 numbers, as many as in t, got 1", { t = t, panels = { { { y = { 1 } } } } })
    refused("timeplot: panel 1: series 1: y[2]: expected a number, got 'x'", { t = t, panels = { { { y = { 1, "x", 2 } } } } })
    refused("timeplot: panel 1: series 1: y: expected a list of numbers, got nil", { t = t, panels = { { {} } } })
    refused("timeplot: panel 1: series 1: t: expected numbers that do not decrease, got 0 after 1",
      { t = { 1, 0 }, panels = { { { y = { 1, 2 } } } } })
    refused("timeplot: panel 1: series 1: t[1]: expected a finite number, got -inf",
      { t = { -math.huge, 0 }, panels = { { { y = { 1, 2 } } } } })
    refused("timeplot: panel 1: series 1: t: expected numbers, got none", { t = {}, panels = { { { y = {} } } } })
    refused("timeplot: panel 1: series 1: step: expected true or false, got 1", { t = t, panels = { { { y = t, step = 1 } } } })
    refused("timeplot: title: expected a string, got 1", { title = 1 })
    refused("timeplot: file: expected a string, got 1", { t = t, file = 1, panels = { { { y = t } } } })
    refused("timeplot: file: 'x.png': expected a name that ends in .html", { t = t, file = "x.png", panels = { { { y = t } } } })
  end)
end)

describe("sol:html", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)
  local simu, _, ds = models.relay(0.1)
  ds:setNames { "w1", "w2" }
  local sol = simu:run()

  it("puts columns of one stem in one panel, multipliers as steps", function()
    local path = directory .. "/run.html"
    local text = sol:html(path)
    assert.equal(text, host.read(path))
    local record = page.read(text)
    local seen = {}
    for i, panel in ipairs(record.panels) do
      local names = {}
      for k, series in ipairs(panel.series) do names[k] = series.name .. (series.step and "!" or "") end
      seen[i] = panel.ylabel .. ":" .. table.concat(names, ",")
    end
    assert.same({ "w:w1,w2", ":lambda1!", ":y1" }, seen)
    assert.equal(1, #record.axes)
    local y = page.numbers(record.panels[1].series[2].y)
    for k = 1, #sol do assert.equal(sol.w2[k], y[k]) end
  end)

  it("takes columns by name, and options without a file", function()
    local record = page.read(sol:html { title = "T", panels = { { "w2", "lambda1", title = "both" } } })
    assert.same({ "w2", "lambda1" }, { record.panels[1].series[1].name, record.panels[1].series[2].name })
    assert.equal("T", record.title)
  end)

  it("names what is wrong", function()
    assert.equal("html: file: expected a string, got nil", message(sol.html, sol))
    assert.equal("html: expected a table of options, got 1", message(sol.html, sol, "a.html", 1))
    assert.equal("html: file: 'a.txt': expected a name that ends in .html", message(sol.html, sol, "a.txt"))
    assert.equal("html: panel 1: series 1: column: there is none called 'w3' (known: t, w1, w2, lambda1, y1, newton_iterations)",
      message(sol.html, sol, "a.html", { panels = { { "w3" } } }))
  end)
end)
