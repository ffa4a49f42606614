-- nslua.results: what has columns over a time: recorded runs, the results of ns.solve_ivp and of ns.dae, and what
-- ns.load has read.
--
--   sol:plot(), sol:plot({ "y1" }, options), sol:html "sol.html", sol:save "sol.csv", sol:names(), sol:column "y1"
--
-- The columns of a result are t, y1 ..., and ydot1 ... of a DAE. A field comes before a method of its name.
local core = require "nslua.core"
local where = require "nslua.where"
local format = core.number_support.format

local meta = core.result_meta
local results = { methods = {} }

-- The names and arrays of the columns of a table that has the fields of a result.
function results.split(sol)
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

-- The same of a result; of something else nothing.
function results.columns(sol)
  if is_result(sol) then return results.split(sol) end
end

-- The names of the columns over the time, without the time's own; the columns by name, t being the time; whether it
-- is the result of solve_ivp or dae, whose derivatives have columns but are not among the names. Nothing when sol is
-- nothing of these.
function results.over_time(sol)
  local names, columns = {}, {}
  local meta_of = getmetatable(sol)
  if is_result(sol) or type(sol) == "table" and sol.t and core.ismatrix(sol.y) then
    local all, arrays = results.split(sol)
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
  -- a column that has another name too, lambda1 of "tyre.lambda"
  setmetatable(columns, { __index = function(_, name)
    if type(name) ~= "string" then return nil end
    local found, column = where.try(function() return sol:column(name) end)
    return found and core.isvector(column) and column or nil
  end })
  return names, columns, false
end

-- Whether a column of that name is one of a multiplier: "lambda2", or "tyre.lambda", "tyre.lambda[2]" of a named
-- interaction.
function results.is_multiplier(name)
  return name:find "^lambda%d*$" ~= nil or name:find "%.lambda$" ~= nil or name:find "%.lambda%[%d+%]$" ~= nil
end

-- Whether a column of that name is an output: "y2", or "tyre.y" where there is a "tyre.lambda" (a state may have such
-- a name too). columns: all by name.
function results.is_output(name, columns)
  local stem, rest = name:match "^(.*)%.y(.-)$"
  return name:find "^y%d+$" ~= nil or stem ~= nil and columns[stem .. ".lambda" .. rest] ~= nil
end

-- A multiplier's column to draw as steps: a value holds over the step that ends at its row. No step ends at the first
-- row, whose value (that of the start) would be drawn as a jump: it takes that of the second.
function results.held(column)
  if #column < 2 then return column end
  local copy = column:copy()
  copy[1] = copy[2]
  return copy
end

-- What is said of a column that is not among the names.
function results.unknown(name, names)
  return ("column: there is none called '%s' (known: %s)"):format(tostring(name), table.concat(names, ", ", 1,
    math.min(#names, 24)))
end

local function check(sol, method)
  local names, arrays = results.columns(sol)
  if not names then
    error(("%s: expected a result before a colon, as in sol:%s(...), got %s"):format(method, method, type(sol)), 3)
  end
  return names, arrays
end

function results.methods.names(self) return (check(self, "names")) end

function results.methods.column(self, name)
  local names, arrays = check(self, "column")
  for i, known in ipairs(names) do
    if name == known or name == i then return arrays[i] end
  end
  error(results.unknown(name, names), 2)
end

-- Gives the methods of all that has columns over a time; check_self(self, name) raises when self is not that.
function results.give(methods, check_self)
  function methods.plot(self, ...)
    check_self(self, "plot")
    return require "nslua.plot".solution(self, ...)
  end

  function methods.html(self, ...)
    check_self(self, "html")
    return core.solution_methods.html(self, ...)
  end
end

results.give(results.methods, check)

function results.methods.save(self, file)
  check(self, "save")
  require "nslua".save(file, self)
end

function results.__tostring(self)
  local names, arrays = results.columns(self)
  local t, n = arrays[1], 0
  for _, name in ipairs(names) do n = n + (name:match "^y%d+$" and 1 or 0) end
  return format("solution (%s): %d time%s%s, %d unknown%s", self.message, #t, #t == 1 and "" or "s",
    #t > 0 and format(", t = %s .. %s", t[1], t[#t]) or "", n, n == 1 and "" or "s")
end

return results
