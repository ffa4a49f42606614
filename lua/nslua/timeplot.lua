-- nslua.timeplot: panels of curves over one axis of time, for a page of their own or beside an animation.
--
--   { title =, xlabel =, t = ts, panels = {
--     { ylabel = "speed", { name = "w1", y = w1 }, { name = "w2", y = w2, step = true } },
--     { "tau", ylabel = "torque" },                      -- columns of a solution, by name
--   } }
--
-- A series has name, y, t (default: that of the plot), step (true: the value holds until the next one), color. A
-- value that is not finite is a gap. Without panels, a solution has one for each stem of its names: w1 and w2 go
-- together.

local canvas = require "nslua.canvas"
local html = require "nslua.html"

local show = canvas.show
local timeplot = {}

local MOST = 14 -- series in a panel that was not asked for

local function fail(text, ...) error(text:format(...), 0) end

local function check_keys(t, who, known)
  if type(t) ~= "table" then fail("%s: expected a table, got %s", who, show(t)) end
  for key in pairs(t) do
    if math.type(key) ~= "integer" and not (" " .. known .. " "):find(" " .. tostring(key) .. " ", 1, true) then
      fail("%s: unknown option '%s' (known: %s)", who, tostring(key), (known:gsub(" ", ", ")))
    end
  end
end

local function text(value, who, name, default)
  if value == nil then return default end
  if type(value) ~= "string" then fail("%s: %s: expected a string, got %s", who, name, show(value)) end
  return value
end

local function is_list(value) return type(value) == "table" or type(value) == "userdata" end

local function numbers(list, who, name)
  if not is_list(list) then fail("%s: %s: expected a list of numbers, got %s", who, name, show(list)) end
  local copy = {}
  for i = 1, #list do
    if type(list[i]) ~= "number" then
      fail("%s: %s[%d]: expected a number, got %s", who, name, i, show(list[i]))
    end
    copy[i] = list[i]
  end
  return copy
end

-- Numbers of an axis: finite, not decreasing.
local function axis(list, who, name)
  local t = numbers(list, who, name)
  if #t == 0 then fail("%s: %s: expected numbers, got none", who, name) end
  for i = 1, #t do
    canvas.finite(t[i], who, ("%s[%d]"):format(name, i))
    if i > 1 and t[i] < t[i - 1] then
      fail("%s: %s: expected numbers that do not decrease, got %s after %s", who, name, t[i], t[i - 1])
    end
  end
  return t
end

local function is_multiplier(name) return name:find "^lambda%d*$" ~= nil end

-- The panels of a solution whose columns nobody has chosen.
local function default_panels(solution)
  local panels, by_stem = {}, {}
  for _, name in ipairs(solution:names()) do
    if name ~= "t" and name ~= "newton_iterations" then
      local stem = name:gsub("%d+$", "")
      local panel = by_stem[stem]
      if not panel then
        panel = { ylabel = stem }
        by_stem[stem], panels[#panels + 1] = panel, panel
      end
      if #panel < MOST then panel[#panel + 1] = name end
    end
  end
  for _, panel in ipairs(panels) do
    if #panel == 1 then panel.ylabel = nil end -- the name in the legend says it
  end
  return panels
end

-- The axes that are there already, so that each is written once.
local function axis_number(record, list, who, name)
  for i, known in ipairs(record.axis_lists) do
    if rawequal(known, list) then return i - 1 end
  end
  record.axis_lists[#record.axis_lists + 1] = list
  record.axes[#record.axes + 1] = html.numbers(axis(list, who, name), "f8")
  return #record.axes - 1
end

local function make_series(record, item, who, solution, t, number)
  if type(item) == "string" then
    if not solution then fail("%s: expected {name=, y=}, got '%s'", who, item) end
    local good, column = pcall(solution.column, solution, item)
    if not good then fail("%s: %s", who, column) end
    item = { name = item, y = column, step = is_multiplier(item) }
  end
  check_keys(item, who, "name y t step color")
  local times = item.t or t
  if times == nil then fail("%s: t: expected a list of numbers, got nil", who) end
  local y = numbers(item.y, who, "y")
  if #y ~= #times then fail("%s: y: expected %d numbers, as many as in t, got %d", who, #times, #y) end
  if item.step ~= nil and type(item.step) ~= "boolean" then
    fail("%s: step: expected true or false, got %s", who, show(item.step))
  end
  return {
    name = text(item.name, who, "name", ("y%d"):format(number)), y = html.numbers(y, "f8"), step = item.step or false,
    axis = axis_number(record, times, who, "t"), color = canvas.colour(item.color or number, who, "color"),
    dash = number > #canvas.palette and item.color == nil,
  }
end

local function make_panel(record, spec, who, solution, t)
  check_keys(spec, who, "title ylabel")
  local panel = { series = {} }
  panel.title, panel.ylabel = text(spec.title, who, "title", ""), text(spec.ylabel, who, "ylabel", "")
  if #spec == 0 then fail("%s: expected at least one series", who) end
  for i = 1, #spec do
    panel.series[i] = make_series(record, spec[i], ("%s: series %d"):format(who, i), solution, t, i)
  end
  return panel
end

-- The record of a plot for its page. `t`: the times of an animation that it stands beside.
function timeplot.record(spec, who, solution, t)
  if spec == true and solution then spec = {} end
  check_keys(spec, who, "file title xlabel t panels")
  if #spec > 0 then fail("%s: expected panels = {...}, got an unnamed value", who) end
  local record = { axes = {}, axis_lists = {}, panels = {} }
  record.title, record.xlabel = text(spec.title, who, "title", "Time plot"), text(spec.xlabel, who, "xlabel", "t")
  local panels = spec.panels or solution and default_panels(solution)
  if type(panels) ~= "table" or #panels == 0 then
    fail("%s: panels: expected a list that is not empty, got %s", who, show(panels))
  end
  local times = spec.t or solution and solution.t or t
  for i, panel in ipairs(panels) do
    record.panels[i] = make_panel(record, panel, ("%s: panel %d"):format(who, i), solution, times)
  end
  record.axis_lists = nil
  return record
end

return timeplot
