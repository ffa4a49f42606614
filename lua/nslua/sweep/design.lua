-- nslua.sweep.design: sets of points for sweeps: ns.design.grid, list, random, latin_hypercube, sobol.
--
--   ns.design.sobol(256, { A = { 0.1, 1 }, k = { 1, 1e6, "log" } })
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local names = require "nslua.base.names"
local sobol = require "nslua.sweep.sobol"
local tasks = require "nslua.sweep.tasks"

local fail, describe, expect = arguments.fail, arguments.describe, arguments.expect

local design = {}

function design.grid(values) return tasks.grid(values, "design.grid") end

function design.list(rows)
  expect(rows, "table", "design.list: expected a list of rows")
  return tasks.list(rows, "design.list")
end

-- A function from [0, 1) to the values of a range: { a, b }, { a, b, "log" } or a function of u.
local function scale_of(range, who, name)
  if type(range) == "function" then return function(u) return arguments.number(range(u), who, name) end end
  if type(range) ~= "table" then
    fail("%s: %s: expected {a, b}, {a, b, \"log\"} or a function, got %s", who, name, describe(range))
  end
  local a, b = arguments.number(range[1], who, name), arguments.number(range[2], who, name)
  if a - a ~= 0 or b - b ~= 0 then fail("%s: %s: expected finite bounds, got %g, %g", who, name, a, b) end
  if #range > 3 then fail("%s: %s: expected a range {a, b}, got a list of %d", who, name, #range) end
  if range[3] == nil then return function(u) return (1 - u) * a + u * b end end
  if range[3] ~= "log" then fail("%s: %s: expected \"log\", got %s", who, name, describe(range[3])) end
  if not (a > 0 and b > 0) then fail("%s: %s: a logarithmic range needs bounds above 0", who, name) end
  local ratio = b / a
  if ratio == 0 or ratio == math.huge then return function(u) return a ^ (1 - u) * b ^ u end end
  return function(u) return a * ratio ^ u end
end

-- A design of n points, whose numbers in [0, 1) fill(dimension, name) lists for each parameter, in their order.
local function of_ranges(who, n, ranges, options, most, fill)
  n = arguments.integer(n, 1, who, "n")
  expect(ranges, "table", "%s: expected a table of ranges by name", who)
  options = arguments.options(options, who)
  local list, columns = {}, {}
  for name in pairs(ranges) do
    expect(name, "string", "%s: expected names of parameters as keys", who)
    list[#list + 1] = name
  end
  if #list == 0 then fail("%s: there are no parameters", who) end
  if #list > most then fail("%s: it has at most %d parameters, got %d", who, most, #list) end
  table.sort(list)
  local seed = options.seed and arguments.integer(options.seed, math.mininteger, who, "seed")
  for j, name in ipairs(list) do
    local scale, column = scale_of(ranges[name], who, name), fill(j, n, seed)
    for k = 1, n do column[k] = scale(column[k]) end
    columns[name] = column
  end
  return tasks.columns(columns, list, n)
end

-- The stream of dimension j: tasks have the streams from 1 on.
local function rng_of(seed, j) return core.rng(seed or 1, -1000 - j) end

function design.random(n, ranges, options)
  return of_ranges("design.random", n, ranges, options, math.huge, function(j, count, seed)
    return rng_of(seed, j):uniform(count):totable()
  end)
end

-- One point in each of n equal parts of every range: McKay, Beckman, Conover, Technometrics 21, 1979.
function design.latin_hypercube(n, ranges, options)
  return of_ranges("design.latin_hypercube", n, ranges, options, math.huge, function(j, count, seed)
    local rng = rng_of(seed, j)
    local column = rng:permutation(count):totable()
    for k = 1, count do column[k] = (column[k] - 1 + rng:uniform()) / count end
    return column
  end)
end

function design.sobol(n, ranges, options)
  return of_ranges("design.sobol", n, ranges, options, sobol.most, function(j, count, seed)
    return sobol.points(j, count, seed and rng_of(seed, j):integers(0, 0xFFFFFFFF) or 0)
  end)
end

return setmetatable(design, { __index = names.strict "ns.design" })
