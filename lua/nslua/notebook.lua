-- nslua.notebook: what a script shows in a notebook; in a terminal the same calls print text.
--
--   ns.display(value, ...)                         values as they are shown for the last expression of a cell
--   for k in ns.progress(100, "runs") do ... end   a bar that fills
--   ns.interact{ a = {0, 1}, function(p) return draw(p.a) end }
--   ns.notebook.html "<b>text</b>", .latex "x^2", .markdown "**x**", .svg(text)
--
-- The worker of a kernel (nslua.notebook.worker) sets the functions of nslua.notebook.screen.

local arguments = require "nslua.base.arguments"
local bundle = require "nslua.notebook.bundle"
local cell = require "nslua.notebook.cell"
local html = require "nslua.web.html"
local lists = require "nslua.base.lists"
local screen = require "nslua.notebook.screen"
local where = require "nslua.base.where"

local fail, expect, optional, reject = arguments.fail, arguments.expect, arguments.optional, arguments.reject

local notebook = {} -- ns.notebook
local functions = { notebook = notebook } -- the others are functions of ns

-- ---- contents of a given type ----

local Rich = { __name = "contents" }
Rich.__index = Rich

function Rich:__display() return { [self.mime] = self.text } end

function Rich:__tostring() return self.text end

local types = { html = "text/html", latex = "text/latex", markdown = "text/markdown", svg = "image/svg+xml" }
for name, mime in pairs(types) do
  notebook[name] = function(text)
    expect(text, "string", "%s: text: expected a string", name)
    return setmetatable({ mime = mime, text = text }, Rich)
  end
end

-- ---- showing ----

local Place = { __name = "place" }
Place.__index = Place

function Place:update(value)
  cell.put(value, { id = self.id, update = true })
  return self
end

function Place:__tostring() return "a place in the output of a cell" end

where.methods(Place, "what ns.display returns", "place")

-- display(value, ...): shows the values. Returns a place; place:update(value) replaces the first of them.
function functions.display(...)
  local values, id = table.pack(...), cell.new_id()
  for i = 1, values.n do cell.put(values[i], { id = i == 1 and id or nil }) end
  return setmetatable({ id = id }, Place)
end

-- clear([wait]): empties the output of the cell; with wait = true only when the next output comes.
function notebook.clear(wait)
  if screen.clear then screen.clear(wait == true) end
end

-- options{pictures = "png" | "svg" | "text", dpi =}: how pictures are shown.
function notebook.options(options)
  options = arguments.options(options, "notebook.options")
  local kind = options.pictures
  reject(kind ~= nil and kind ~= "png" and kind ~= "svg" and kind ~= "text", kind,
    "options: pictures: expected one of png, svg, text")
  if options.dpi ~= nil and arguments.number(options.dpi, "options", "dpi") < 20 then
    fail("options: dpi: expected 20 or more, got %g", options.dpi)
  end
  screen.options.pictures = kind or screen.options.pictures
  screen.options.dpi = options.dpi or screen.options.dpi
end

-- ---- progress ----

local EVERY = 0.2 -- seconds between two pictures of a bar: as fast as an eye reads a number

local function duration(seconds)
  if seconds < 60 then return ("%d s"):format(math.floor(seconds + 0.5)) end
  return ("%d:%02d min"):format(seconds // 60, seconds % 60)
end

local function progress_text(label, k, n, elapsed)
  local left = k > 0 and k < n and (", " .. duration(elapsed / k * (n - k)) .. " to go") or ", " .. duration(elapsed)
  return ("%s%d of %d%s"):format(label and label .. ": " or "", k, n, left)
end

local function bar(label, k, n, elapsed)
  local text = progress_text(label, k, n, elapsed)
  local element = '<progress max="%d" value="%d" style="width:18em"></progress> %s'
  local data = { ["text/html"] = element:format(math.max(n, 1), k, html.escape(text)), ["text/plain"] = text }
  return setmetatable({}, { __name = "progress", __display = function() return data end })
end

-- progress(n or list [, label]): for a generic for. It gives 1, 2, ... n, or the indices and the elements of a list,
-- and shows how far it is, in a notebook and at the prompt.
function functions.progress(what, label)
  local is_number = math.type(what) == "integer" and what >= 0
  reject(not is_number and type(what) ~= "table" and type(what) ~= "userdata", what,
    "progress: expected a number of steps, or a list")
  optional(label, "string", "progress: label: expected a string")
  local n, clock = is_number and what or #what, screen.clock
  local start, shown, handle = clock and clock(), 0, nil
  local function show(k)
    local elapsed = clock() - start
    if screen.bar then
      screen.bar(progress_text(label, k, n, elapsed), k >= n)
    elseif handle then
      handle:update(bar(label, k, n, elapsed))
    else
      handle = functions.display(bar(label, k, n, elapsed))
    end
    shown = elapsed
  end
  if clock then show(0) end
  return function(_, k)
    if clock and (k >= n or clock() - start >= shown + EVERY) then show(k) end
    if k >= n then return nil end
    k = k + 1
    if is_number then return k end
    return k, what[k]
  end, nil, 0
end

-- ---- sliders ----

local function number_control(name, range)
  local low, high = range[1], range[2]
  for i = 1, 3 do
    if range[i] ~= nil then arguments.number(range[i], "interact", ("%s[%d]"):format(name, i)) end
  end
  if low >= high then fail("interact: %s: expected low below high, got %g, %g", name, low, high) end
  local whole = math.type(low) == "integer" and math.type(high) == "integer" and high - low > 1
  local step = range[3] or whole and 1 or (high - low) / 100
  if step <= 0 then fail("interact: %s[3]: expected a positive step, got %g", name, step) end
  local start = range.value or whole and (low + high) // 2 or (low + high) / 2
  return { kind = "range", name = name, low = low, high = high, step = step, whole = whole,
    value = arguments.number(start, "interact", name .. ".value") }
end

-- The control for a parameter: {low, high [, step], value =}, a list of texts, true or false, or a number.
local function control(name, given)
  if type(given) == "boolean" then return { kind = "check", name = name, value = given } end
  if type(given) == "number" then return { kind = "number", name = name, value = given } end
  if type(given) == "table" and type(given[1]) == "string" then
    return { kind = "menu", name = name, choices = given, value = given.value or given[1] }
  end
  reject(type(given) ~= "table" or #given < 2 or #given > 3, given,
    "interact: %s: expected {low, high [, step]}, a list of texts, a boolean or a number", name)
  return number_control(name, given)
end

local function controls_of(spec)
  local set = { controls = {}, call = spec[1] }
  local names = lists.keys(spec, function(key) return type(key) == "string" end)
  reject(type(set.call) ~= "function", spec[1], "interact: expected a function of the parameters in the table")
  if #names == 0 then fail "interact: expected at least one parameter, as in interact{a = {0, 1}, f}" end
  for i, name in ipairs(names) do set.controls[i] = control(name, spec[name]) end
  return set
end

-- interact{a = {0, 1}, ..., f}: controls below which f(p) is called, with p.a and so on, when one is moved.
function functions.interact(spec)
  expect(spec, "table", "interact: expected a table")
  local set = controls_of(spec)
  if not screen.show then
    fail "interact: it needs a notebook (nslua kernel install); ns.animation.interact makes a page with all pictures"
  end
  local id = cell.new_id()
  cell.keep(id, set)
  local shown, before = {}, screen.show
  screen.show = function(data, metadata) shown[#shown + 1] = bundle.html(data, metadata) end
  local good, message = pcall(cell.changed, id)
  screen.show = before
  if not good then error(message, 0) end
  screen.show({ ["text/html"] = require "nslua.notebook.controls".html(id, set.controls, table.concat(shown)),
    ["text/plain"] = "controls: they need a notebook in a browser" }, nil, {})
end

return functions
