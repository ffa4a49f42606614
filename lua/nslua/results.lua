-- nslua.results: methods of the results of ns.solve_ivp and ns.dae. Files that ns.load has read share some of them.
--
--   sol:plot(), sol:plot({ "y1" }, options), sol:html "sol.html", sol:save "sol.csv", sol:names(), sol:column "y1"
--
-- The columns of a result are t, y1, y2 ... and, for a DAE, ydot1, ydot2 .... When a field and a method have the
-- same name, sol.name is the field.
local core = require "nslua.core"
local series = require "nslua.base.series"
local format = core.number_support.format

local results = { methods = {} }

local function check(sol, method)
  local names, arrays = series.columns(sol)
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
  error(series.unknown(name, names), 2)
end

-- One parameter's derivatives: a row for each time, a column for each state.
local function derivatives_by(self, j)
  local n = self.S[1]:rows()
  local m = core.zeros(#self.S, n)
  for k, S in ipairs(self.S) do
    for i = 1, n do m[k][i] = S[i][j] end
  end
  return m
end

-- The derivatives by the parameter `which`, a name or a number: by(j) gives the derivatives by names[j]. A name
-- without its indices means all elements: a list.
function results.of_parameter(names, which, by)
  if math.type(which) == "integer" and names[which] then return by(which) end
  local list = {}
  for j, name in ipairs(names) do
    if name == which then return by(j) end
    local inside = type(which) == "string" and name:sub(1, #which + 1) == which .. "["
    if inside then list[#list + 1] = by(j) end
  end
  if list[1] then return list end
  error(("sensitivity: expected a parameter (%s) or its number, got %s"):format(table.concat(names, ", "),
    tostring(which)), 3)
end

function results.methods.sensitivity(self, which)
  check(self, "sensitivity")
  local names = rawget(self, "sensitivities")
  if not names then error("sensitivity: the result has none; give solve_ivp the option sensitivities", 2) end
  return (results.of_parameter(names, which, function(j) return derivatives_by(self, j) end))
end

-- The names of the parameters of a result, or of a solution, and the arrays of derivatives by them; empty lists where
-- it has none.
function results.derivatives(self)
  local solution = type(self) == "userdata"
  local S = solution and self.S or not solution and rawget(self, "S")
  local names, arrays = S and #S > 0 and self.sensitivities or {}, {}
  for j in ipairs(names) do arrays[j] = solution and self:sensitivity(j) or derivatives_by(self, j) end
  return names, arrays
end

-- Adds the methods that everything with columns over a time has. check_self(self, name) raises when self is no such
-- object.
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

-- results.write is ns.save: nslua.init sets it.
function results.methods.save(self, file)
  check(self, "save")
  return results.write(file, self)
end

function results.__tostring(self)
  local names, arrays = series.columns(self)
  local t, n = arrays[1], 0
  for _, name in ipairs(names) do n = n + (name:match "^y%d+$" and 1 or 0) end
  return format("solution (%s): %d time%s%s, %d unknown%s", self.message, #t, #t == 1 and "" or "s",
    #t > 0 and format(", t = %s .. %s", t[1], t[#t]) or "", n, n == 1 and "" or "s")
end

-- A value in one line: a short list of numbers in full, a longer one and a matrix by its size.
local function short(value)
  if core.ismatrix(value) then return ("matrix of %d x %d"):format(value:shape()) end
  if type(value) ~= "table" then return format("%s", value) end
  local numbers = #value <= 12 and type(value[1]) == "number"
  return numbers and "{ " .. table.concat(value, ", ") .. " }" or ("table of %d"):format(#value)
end

-- The text of a table of fields, as ns.numerics, ns.root and ns.diagnose return it: a line for each field.
function results.fields(self)
  local names, width, lines = {}, 0, { "result" .. (self.message and ": " .. self.message or "") }
  for name in next, self do
    if name ~= "message" then names[#names + 1], width = tostring(name), math.max(width, #tostring(name)) end
  end
  table.sort(names)
  for _, name in ipairs(names) do lines[#lines + 1] = ("  %-" .. width .. "s  %s"):format(name, short(self[name])) end
  return table.concat(lines, "\n")
end

return results
