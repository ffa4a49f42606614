-- nslua.sweep.pivot: a column of a sweep over two of its parameters, as a matrix.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"

local pivots = {}

-- The different values of a column, sorted, and the place of each among them.
local function values_of(column)
  local places, list = {}, {}
  for i = 1, #column do
    local x = column[i]
    if x == x and not places[x] then places[x], list[#list + 1] = true, x end
  end
  table.sort(list)
  for i, x in ipairs(list) do places[x] = i end
  return core.vector(list), places
end

-- A column of one number in each row. what: what such columns are for.
function pivots.column(columns, name, who, what)
  if type(name) ~= "string" then
    arguments.fail("%s: expected the name of a column, got %s", who, arguments.describe(name))
  end
  local column = where.call("column", columns.column, columns, name)
  if not core.isvector(column) then
    arguments.fail("%s: '%s' has %d numbers in each row: a %s takes columns of one", who, name, column:cols(), what)
  end
  return column
end

-- The matrix of the column `name`, with a row for each value of y and a column for each value of x; the values of x
-- and the values of y. Where several rows meet, the mean of those that are not nan; where there is none, nan.
function pivots.pivot(columns, x, y, name, who)
  local function column(key) return pivots.column(columns, key, who, "pivot") end
  local xs, ys, zs = column(x), column(y), column(name)
  local x_values, x_places = values_of(xs)
  local y_values, y_places = values_of(ys)
  local sums, counts = core.zeros(#y_values, #x_values), core.zeros(#y_values, #x_values)
  for k = 1, #zs do
    local i, j, z = y_places[ys[k]], x_places[xs[k]], zs[k]
    if i and j and z == z then sums[i][j], counts[i][j] = sums[i][j] + z, counts[i][j] + 1 end
  end
  return sums:div(counts), x_values, y_values
end

return pivots
