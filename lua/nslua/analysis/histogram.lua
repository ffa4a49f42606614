-- nslua.analysis.histogram: counts of samples in intervals, and the different values of a sample.
--
--   local counts, edges = ns.histogram(v, 20)          -- 20 intervals of one length from the least to the largest
--   local counts, edges = ns.histogram(v, { 0, 1, 5 }) -- [0, 1), [1, 5]
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"

local fail = arguments.fail

local histogram = {}

-- The edges of `count` intervals of one length from low to high; around one number when the two are equal.
function histogram.edges(low, high, count)
  if low == high then low, high = low - 0.5, high + 0.5 end
  return core.linspace(low, high, count + 1)
end

local function edges_of(list, bins)
  if type(bins) ~= "number" then return arguments.increasing(bins, 2, "histogram", "edges") end
  local count = arguments.integer(bins, 1, "histogram", "bins")
  if #list == 0 then fail "histogram: v is empty: give the edges of the intervals" end
  local sorted = core.vector(list):sort()
  return histogram.edges(sorted[1], sorted[#list], count):totable()
end

-- The number of the interval with edges[i] <= x < edges[i + 1] (the last one has its end, too); nil outside, and for
-- nan.
function histogram.place(x, edges)
  local low, high = 1, #edges - 1
  if not (x >= edges[1] and x <= edges[#edges]) then return nil end
  while low < high do
    local middle = (low + high + 1) // 2
    if x < edges[middle] then high = middle - 1 else low = middle end
  end
  return low
end

-- How many of the numbers lie in each interval, as a vector.
function histogram.counts(list, edges)
  local counts = core.zeros(#edges - 1)
  for k = 1, #list do
    local i = histogram.place(list[k], edges)
    if i then counts[i] = counts[i] + 1 end
  end
  return counts
end

function histogram.histogram(v, bins)
  local list = arguments.numbers(v, nil, "histogram", "v")
  local edges = edges_of(list, bins == nil and 10 or bins)
  return histogram.counts(list, edges), core.vector(edges)
end

-- The different numbers, sorted, and how often each occurs.
function histogram.unique(v)
  local sorted = core.vector(arguments.numbers(v, nil, "unique", "v")):sort()
  local values, counts = {}, {}
  for i = 1, #sorted do
    if i == 1 or sorted[i] ~= sorted[i - 1] then
      values[#values + 1], counts[#counts + 1] = sorted[i], 1
    else
      counts[#counts] = counts[#counts] + 1
    end
  end
  return core.vector(values), core.vector(counts)
end

return histogram
