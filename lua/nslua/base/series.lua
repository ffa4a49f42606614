-- nslua.base.series: columns of numbers over a time. Recorded runs, results of ns.solve_ivp and ns.dae, and files
-- that ns.load has read all have them.
local core = require "nslua.core"
local where = require "nslua.base.where"

local meta = core.result_meta
local series = {}

-- The names and arrays of the columns of a table that has the fields of a result.
function series.split(sol)
  local names, arrays = { "t" }, { (sol.values or sol).t }
  local function add(stem, matrix, by_rows)
    for i = 1, by_rows and matrix:rows() or matrix:cols() do
      names[#names + 1] = stem .. i
      arrays[#names] = by_rows and matrix[i] or matrix:column(i)
    end
  end
  if sol.values then
    add("y", sol.values.y)
    add("ydot", sol.values.ydot)
  else
    add("y", sol.y, true)
  end
  return names, arrays
end

local function is_result(sol) return type(sol) == "table" and getmetatable(sol) == meta end

-- The same for a result of ns.solve_ivp or ns.dae; nil for anything else.
function series.columns(sol)
  if is_result(sol) then return series.split(sol) end
end

-- The names of the columns over the time, without the time's own; the columns by name, the time under "t"; and
-- whether sol is a result of solve_ivp or dae. The derivatives in such a result have columns, but are not among the
-- names. Returns nil when sol has no columns over a time.
function series.over_time(sol)
  local names, columns = {}, {}
  local meta_of = getmetatable(sol)
  if is_result(sol) or type(sol) == "table" and sol.t and core.ismatrix(sol.y) then
    local all, arrays = series.split(sol)
    for i, name in ipairs(all) do
      if i > 1 and not name:find "^ydot" then names[#names + 1] = name end
      columns[name] = arrays[i]
    end
    return names, columns, true
  end
  local loaded = type(sol) == "table" and type(meta_of) == "table" and meta_of.__name == "columns"
  local good, all = loaded or type(sol) == "userdata", nil
  if good then good, all = where.try(function() return sol:names() end) end
  if not good then return nil end
  local time = #all > 0 and not sol.t and all[1] or "t"
  for _, name in ipairs(all) do
    local column = sol:column(name)
    if name ~= time and not columns[name] and core.isvector(column) then
      names[#names + 1], columns[name] = name, column
    end
  end
  columns.t = sol:column(time)
  -- a column may have a second name: lambda1 is also "tyre.lambda"
  setmetatable(columns, { __index = function(_, name)
    if type(name) ~= "string" then return nil end
    local found, column = where.try(function() return sol:column(name) end)
    return found and core.isvector(column) and column or nil
  end })
  return names, columns, false
end

-- Whether a column of that name is one of a multiplier: "lambda2", or "tyre.lambda", "tyre.lambda[2]" of a named
-- interaction.
function series.is_multiplier(name)
  return name:find "^lambda%d*$" ~= nil or name:find "%.lambda$" ~= nil or name:find "%.lambda%[%d+%]$" ~= nil
end

-- Whether a column of that name is an output: "y2", or "tyre.y" when there is also a "tyre.lambda". Without that, it
-- is a state that has such a name. columns: all columns by name.
function series.is_output(name, columns)
  local stem, rest = name:match "^(.*)%.y(.-)$"
  return name:find "^y%d+$" ~= nil or stem ~= nil and columns[stem .. ".lambda" .. rest] ~= nil
end

-- The column of a multiplier, ready to be drawn as steps. A value holds over the step that ends at its row. No step
-- ends at the first row, so that its value would be drawn as a jump: it is replaced by the value of the second row.
function series.held(column)
  if #column < 2 then return column end
  local copy = column:copy()
  copy[1] = copy[2]
  return copy
end

-- Whether the multipliers of a solution are drawn as steps. Those of a time stepping hold over a step. A run from
-- event to event has the values at its rows, and both sides of each event: lines are right there.
function series.holds(sol)
  local events = type(sol) == "userdata" and sol.events
  if type(events) ~= "table" then return true end
  for _, event in ipairs(events) do if event.kind ~= "user" then return false end end
  return true
end

-- The message about a column whose name is not among the names.
function series.unknown(name, names)
  return ("column: no column is called '%s' (known: %s)"):format(tostring(name), table.concat(names, ", ", 1,
    math.min(#names, 24)))
end

return series
