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
      { ylabel = "a", { label = "one", y = { 1 / 3, 0 / 0, -1e300 } }, { y = t, step = true, color = "sky" } },
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
    refused("timeplot: unknown option 'x' (known: file, title, xlabel, t, panels, points)", { x = 1 })
    refused("timeplot: expected panels = {...}, got an unnamed value", { 1 })
    refused("timeplot: panels: expected a list that is not empty, got nil", { t = t })
    refused("timeplot: panels: expected a list that is not empty, got table", { t = t, panels = {} })
    refused("timeplot: panel 1: expected a table, got 'w'", { t = t, panels = { "w" } })
    refused("timeplot: panel 1: expected at least one series", { t = t, panels = { {} } })
    refused("timeplot: panel 1: unknown option 'label' (known: title, ylabel)", { t = t, panels = { { label = 1 } } })
    refused("timeplot: panel 1: series 1: expected {label=, y=}, got 'w'", { t = t, panels = { { "w" } } })
    refused("timeplot: panel 1: series 1: t: expected a list of numbers, got nil", { panels = { { { y = t } } } })
    refused("timeplot: panel 1: series 1: y: expected 3 numbers, as many as in t, got 1", { t = t, panels = { { { y = { 1 } } } } })
    refused("timeplot: panel 1: series 1: y[2]: expected a number, got 'x'", { t = t, panels = { { { y = { 1, "x", 2 } } } } })
    refused("timeplot: panel 1: series 1: y: expected a list of numbers, got nil", { t = t, panels = { { {} } } })
    refused("timeplot: panel 1: series 1: t: expected numbers that do not decrease, got 0 after 1",
      { t = { 1, 0 }, panels = { { { y = { 1, 2 } } } } })
    refused("timeplot: panel 1: series 1: t[1]: expected a finite number, got -inf",
      { t = { -math.huge, 0 }, panels = { { { y = { 1, 2 } } } } })
    refused("timeplot: panel 1: series 1: t: expected numbers, got none", { t = {}, panels = { { { y = {} } } } })
    refused("timeplot: panel 1: series 1: step: expected true, false or \"pre\", got 1",
      { t = t, panels = { { { y = t, step = 1 } } } })
    refused("timeplot: panel 1: series 1: color: expected a name (ink muted faint paper black blue cyan darkgray darkgrey gray " ..
      "green grey lightgray lightgrey magenta orange pink purple red sky vermillion white yellow, or one of CSS), " ..
        "a letter (b c g k m r w y), " ..
      "\"C0\" to \"C9\", a number of the palette, \"#RRGGBB\" or {r, g, b}, got 'x'",
      { t = t, panels = { { { y = t, color = "x" } } } })
    for _, points in ipairs { 99, "x", 0 / 0 } do
      refused("timeplot: points: expected a number, at least 100 (math.huge for all), got " ..
        (points == "x" and "'x'" or points == 99 and "99" or "nan"), { t = t, points = points, panels = { { { y = t } } } })
    end
    refused("timeplot: title: expected a string, got 1", { title = 1 })
    refused("timeplot: file: expected a string, got 1", { t = t, file = 1, panels = { { { y = t } } } })
    refused("timeplot: file: 'x.png': expected a name that ends in .html", { t = t, file = "x.png", panels = { { { y = t } } } })
  end)
end)

describe("a series of many points", function()
  local n = 100000
  local t = ns.linspace(0, 1, n)
  local y = t:map(function(x) return math.sin(300 * x) end)
  y[77777], y[60000] = 50, 0 / 0

  -- Times and values of the series of a plot.
  local function written(spec)
    local record = page.read(ns.animation.timeplot(spec))
    local series = record.panels[1].series[1]
    return page.numbers(record.axes[series.axis + 1]), page.numbers(series.y), record
  end

  it("has fewer on its page, with its peaks, its gaps and its ends #once", function()
    for _, most in ipairs { 40000, 5000 } do
      local u, v = written { t = t, panels = { { { y = y } } }, points = most ~= 40000 and most or nil }
      assert.is_true(#u <= most and #u > most / 4 and #u == #v)
      assert.same({ 0, 1 }, { u[1], u[#u] })
      local peak, gaps = 0, 0
      for i = 1, #v do
        if v[i] == 50 then peak = u[i] end
        if v[i] ~= v[i] then gaps = gaps + 1 end
      end
      assert.same({ t[77777], 1 }, { peak, gaps })
    end
  end)

  it("has all of them when that is asked for #once", function()
    local u, v = written { t = t, panels = { { { y = y } } }, points = math.huge }
    assert.same({ n, n }, { #u, #v })
  end)

  it("keeps its fine parts where it can", function()
    local dense = ns.vector(n)
    for i = 1, n do dense[i] = i <= n - 5000 and 1e-3 * i / n or i end -- nearly all at the very beginning
    local u = written { t = dense, panels = { { { y = y } } } }
    assert.is_true(#u > 10000 and #u <= 40000, #u)
    assert.equal(dense[n - 2500], u[#u - 2500])
  end)
end)

describe("html of others than a recorded run", function()
  local result = ns.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0, 1 }, { 1, 0 })
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  -- The names of the series by panel, and their numbers, of a page.
  local function drawn(text)
    local record, list = page.read(text), {}
    for i, panel in ipairs(record.panels) do
      list[i] = {}
      for k, series in ipairs(panel.series) do
        list[i][k] = { series.name, page.numbers(series.y), page.numbers(record.axes[series.axis + 1]) }
      end
    end
    return list
  end

  it("is the same page of a result and of its file", function()
    local file = directory .. "/run.csv"
    result:save(file)
    local text = result:html(directory .. "/run.html", { title = "A run" })
    assert.equal(text, host.read(directory .. "/run.html"))
    local run = ns.load(file)
    assert.equal(text, run:html { title = "A run" })
    local all = drawn(text)
    assert.same({ 1, 2 }, { #all, #all[1] })
    assert.same({ "y2", result.y[2]:totable(), result.t:totable() }, all[1][2])
    local one = drawn(run:html { panels = { { "y2" } } })
    assert.same({ { all[1][2] } }, one)
  end)

  it("takes the first column of a file for the time, and leaves texts out", function()
    local file = directory .. "/other.csv"
    host.write(file, "time,a1,note,a2\n0,1,x,2\n1,3,y,4\n")
    local run = ns.load(file)
    assert.same({ { { "a1", { 1, 3 }, { 0, 1 } }, { "a2", { 2, 4 }, { 0, 1 } } } }, drawn(run:html {}))
    assert.equal(1, #run:plot { "a1", "a2", title = "Two" }.panels)
    ns.plot.close()
  end)

  it("names what is wrong", function()
    assert.matches("html: expected a result before a colon, as in sol:html(...), got string",
      message(result.html, "a.html"), 1, true)
    assert.equal("html: file: expected a string, got 1", message(result.html, result, 1))
    assert.equal("html: panel 1: series 1: column: no column is called 'w' (known: t, y1, y2)",
      message(result.html, result, { panels = { { "w" } } }))
    assert.matches("columns expected, got string", message(ns.load(directory .. "/other.csv").html, "x"))
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
    assert.equal("pre", record.panels[2].series[1].step) -- a value holds up to its time, and none up to the first
    y = page.numbers(record.panels[2].series[1].y)
    assert.is_true(sol.lambda1[1] == 0 and sol.lambda1[2] ~= 0)
    assert.equal(sol.lambda1[2], y[1])
    for k = 2, #sol do assert.equal(sol.lambda1[k], y[k]) end
  end)

  it("takes columns by name, and options without a file", function()
    local record = page.read(sol:html { title = "T", panels = { { "w2", "lambda1", title = "both" } } })
    assert.same({ "w2", "lambda1" }, { record.panels[1].series[1].name, record.panels[1].series[2].name })
    assert.equal("T", record.title)
  end)

  it("names what is wrong", function()
    assert.equal("html: file: expected a string, got boolean", message(sol.html, sol, true))
    assert.equal("html: expected a table of options, got 1", message(sol.html, sol, "a.html", 1))
    assert.equal("html: file: 'a.txt': expected a name that ends in .html", message(sol.html, sol, "a.txt"))
    assert.equal("html: panel 1: series 1: column: no column is called 'w3' (known: t, w1, w2, lambda1, y1, newton_iterations)",
      message(sol.html, sol, "a.html", { panels = { { "w3" } } }))
  end)
end)
