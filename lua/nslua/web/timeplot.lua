-- nslua.web.timeplot: panels of curves over a common axis of time, on a page of their own or beside an animation.
--
--   { title =, xlabel =, t = ts, panels = {
--     { ylabel = "speed", { label = "w1", y = w1 }, { label = "w2", y = w2, step = true } },
--     { "tau", ylabel = "torque" },                      -- columns of a solution, by name
--   } }
--
-- A series has label, y, t (default: the plot's), color and step. With step = true a value holds until the
-- next one; with "pre" it holds from the previous time on, as a multiplier's does. Values that are not finite
-- are gaps. Without panels, columns of a solution with the same stem share a panel: w1 and w2. A series with more
-- points than `points` is reduced to about that number, in a way that the curve looks the same.

local canvas = require "nslua.film.canvas"
local core = require "nslua.core"
local format = core.number_support.format
local html = require "nslua.web.html"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local series = require "nslua.base.series"

local show, thin = canvas.show, core.thin_support
local timeplot = {}

local MOST = 14 -- most series in a default panel
local POINTS = 40000 -- default of `points`

local function fail(text, ...) error(format(text, ...), 0) end

local function check_keys(t, who, known)
  if type(t) ~= "table" then fail("%s: expected a table, got %s", who, show(t)) end
  return option_tables.need(t, known, who, fail, true)
end

local function text(value, who, name, default)
  if value == nil then return default end
  if type(value) ~= "string" then fail("%s: %s: expected a string, got %s", who, name, show(value)) end
  return value
end

local function is_list(value) return type(value) == "table" or type(value) == "userdata" end

-- A list of numbers as a vector.
local function numbers(list, who, name)
  if core.isvector(list) then return list end
  if not is_list(list) then fail("%s: %s: expected a list of numbers, got %s", who, name, show(list)) end
  local copy = {}
  for i = 1, #list do
    if type(list[i]) ~= "number" then
      fail("%s: %s[%d]: expected a number, got %s", who, name, i, show(list[i]))
    end
    copy[i] = list[i]
  end
  return core.vector(copy)
end

-- A list of times as a vector: finite numbers that do not decrease.
local function axis(list, who, name)
  local t = numbers(list, who, name)
  if #t == 0 then fail("%s: %s: expected numbers, got none", who, name) end
  if thin.rises(t) then return t end
  for i = 1, #t do
    canvas.finite(list[i], who, ("%s[%d]"):format(name, i))
    if i > 1 and list[i] < list[i - 1] then
      fail("%s: %s: expected numbers that do not decrease, got %s after %s", who, name, list[i], list[i - 1])
    end
  end
end

-- Reduces a series to at most about `most` points; the curve looks the same. The time is divided into as many
-- columns as this allows.
local function thinned(t, y, most)
  if #t <= most then return t, y end
  local count, u, v = most // 5, nil, nil
  repeat
    local p, q = thin.columns(t, y, t[1], t[#t], count, false)
    if u and #p > most then break end
    u, v, count = p, q, 2 * count
  until count > 2 ^ 40
  return u, v
end

-- The panels of a solution when the option panels is not given.
local function default_panels(solution)
  local panels, by_stem = {}, {}
  local names, columns, all = series.over_time(solution)
  for _, name in ipairs(names) do
    if name ~= "newton_iterations" then
      local stem = name:gsub("%[?%d+%]?$", "")
      local output = not all and series.is_output(name, columns)
      local key = output and "outputs" or not all and series.is_multiplier(name) and "multipliers" or "of " .. stem
      local panel = by_stem[key]
      if not panel then
        panel = { ylabel = output and "y" or key == "multipliers" and "lambda" or stem }
        by_stem[key], panels[#panels + 1] = panel, panel
      end
      if #panel < MOST then panel[#panel + 1] = name end
    end
  end
  for _, panel in ipairs(panels) do
    if #panel == 1 then panel.ylabel = nil end -- the legend has the name
  end
  return panels
end

-- The number of an axis in the record. Each axis is written once.
local function axis_number(record, t)
  local known = record.axis_lists[t]
  if known then return known end
  record.axes[#record.axes + 1] = html.numbers(t:totable(), "f8")
  record.axis_lists[t] = #record.axes - 1
  return #record.axes - 1
end

-- The axis for a list of times, as a vector. A list is checked once.
local function times_of(record, list, who)
  local known = record.checked[list]
  if not known then
    known = axis(list, who, "t")
    record.checked[list] = known
  end
  return known
end

local function make_series(record, item, who, solution, t, number)
  if type(item) == "string" then
    if not solution then fail("%s: expected {label=, y=}, got '%s'", who, item) end
    local good, column = pcall(solution.column, solution, item)
    if not good then fail("%s: %s", who, column) end
    local held = series.is_multiplier(item) and series.holds(solution)
    item = { label = item, y = held and series.held(column) or column, step = held and "pre" or nil }
  end
  item = check_keys(item, who, "label y t step color")
  local times = item.t or t
  if times == nil then fail("%s: t: expected a list of numbers, got nil", who) end
  local y = numbers(item.y, who, "y")
  if #y ~= #times then fail("%s: y: expected %d numbers, as many as in t, got %d", who, #times, #y) end
  if item.step ~= nil and item.step ~= "pre" and type(item.step) ~= "boolean" then
    fail("%s: step: expected true, false or \"pre\", got %s", who, show(item.step))
  end
  local kept_t, kept_y = thinned(times_of(record, times, who), y, record.points)
  return {
    name = text(item.label, who, "label", ("y%d"):format(number)), y = html.numbers(kept_y:totable(), "f8"),
    step = item.step or false, axis = axis_number(record, kept_t),
    color = canvas.colour(item.color or number, who, "color"),
    dash = number > #canvas.palette and item.color == nil,
  }
end

local function make_panel(record, spec, who, solution, t)
  spec = check_keys(spec, who, "title ylabel")
  local panel = { series = {} }
  panel.title, panel.ylabel = text(spec.title, who, "title", ""), text(spec.ylabel, who, "ylabel", "")
  if #spec == 0 then fail("%s: expected at least one series", who) end
  for i = 1, #spec do
    panel.series[i] = make_series(record, spec[i], ("%s: series %d"):format(who, i), solution, t, i)
  end
  return panel
end

local function points_of(spec, who)
  local points = spec.points or POINTS
  if type(points) ~= "number" or points ~= points or points < 100 then
    fail("%s: points: expected a number, at least 100 (math.huge for all), got %s", who, show(points))
  end
  return points
end

-- The record of a plot for its page. `t`: the times of the animation beside it.
function timeplot.record(spec, who, solution, t)
  if spec == true and solution then spec = {} end
  spec = check_keys(spec, who, option_names["animation.timeplot"])
  if #spec > 0 then fail("%s: expected panels = {...}, got an unnamed value", who) end
  local record = { axes = {}, axis_lists = {}, checked = {}, panels = {}, points = points_of(spec, who) }
  record.title, record.xlabel = text(spec.title, who, "title", "Time plot"), text(spec.xlabel, who, "xlabel", "t")
  local panels = spec.panels or solution and default_panels(solution)
  if type(panels) ~= "table" or #panels == 0 then
    fail("%s: panels: expected a list that is not empty, got %s", who, show(panels))
  end
  local times = spec.t or solution and select(2, series.over_time(solution)).t or t
  for i, panel in ipairs(panels) do
    record.panels[i] = make_panel(record, panel, ("%s: panel %d"):format(who, i), solution, times)
  end
  record.axis_lists, record.checked, record.points = nil, nil, nil
  return record
end

return timeplot
