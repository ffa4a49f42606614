-- nslua.analysis.statistics: the spread of a sample, its quantiles, and its order.
--
--   ns.std(v), ns.std(v, 1)        -- with n, or n - 1 in the denominator
--   ns.quantile(v, { 0.05, 0.95 })
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"

local fail = arguments.fail

local statistics = {}

local function sample(v, who)
  local list = arguments.numbers(v, nil, who, "v")
  if #list == 0 then fail("%s: v is empty", who) end
  return list
end

local function sorted_sample(v, who) return core.vector(sample(v, who)):sort():totable() end

-- The largest power of two up to the size of the numbers; 1 for zeros. In this unit squares stay in range.
local function unit_of(list)
  local most = 0
  for i = 1, #list do most = math.max(most, math.abs(list[i])) end
  return most > 0 and 2.0 ^ math.floor(math.log(most, 2)) or 1.0
end

-- The variance in units squared, and the unit.
local function variance(v, ddof, who)
  local list = sample(v, who)
  ddof = ddof == nil and 0 or arguments.integer(ddof, 0, who, "ddof")
  if ddof >= #list then fail("%s: ddof: expected less than the %d numbers, got %d", who, #list, ddof) end
  local unit, squares = unit_of(list), 0
  local scaled = core.vector(list) / unit
  local mean = scaled:mean()
  for i = 1, #scaled do squares = squares + (scaled[i] - mean) ^ 2 end
  return squares / (#list - ddof), unit
end

function statistics.var(v, ddof)
  local squares, unit = variance(v, ddof, "var")
  return squares * unit * unit
end

function statistics.std(v, ddof)
  local squares, unit = variance(v, ddof, "std")
  return math.sqrt(squares) * unit
end

-- The number at a place from 1 to n of a sorted list; between two places on the line through both.
function statistics.at_place(sorted, place)
  place = math.max(1, math.min(#sorted, place))
  local low = math.floor(place)
  local below, above, part = sorted[low], sorted[low + 1] or sorted[low], place - low
  if above - below == math.huge then return (1 - part) * below + part * above end -- the distance is out of range
  return below + part * (above - below)
end

-- The number below which the part `share` of a sorted list lies.
function statistics.of_sorted(sorted, share) return statistics.at_place(sorted, 1 + share * (#sorted - 1)) end

local quantile = statistics.of_sorted

local function share_of(share, name)
  if not (share >= 0 and share <= 1) then fail("quantile: %s: expected a number from 0 to 1, got %g", name, share) end
  return share
end

function statistics.quantile(v, shares)
  local sorted = sorted_sample(v, "quantile")
  if type(shares) == "number" then return quantile(sorted, share_of(shares, "q")) end
  local values = {}
  for i, share in ipairs(arguments.numbers(shares, nil, "quantile", "q")) do
    values[i] = quantile(sorted, share_of(share, ("q[%d]"):format(i)))
  end
  return core.vector(values)
end

function statistics.median(v) return quantile(sorted_sample(v, "median"), 1 / 2) end

-- Equal numbers keep their order.
function statistics.argsort(v)
  local list, places = arguments.numbers(v, nil, "argsort", "v"), {}
  for i = 1, #list do places[i] = i end
  table.sort(places, function(a, b)
    if list[a] ~= list[b] then return list[a] < list[b] end
    return a < b
  end)
  return places
end

return statistics
