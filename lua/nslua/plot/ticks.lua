-- nslua.plot.ticks: places and labels of the ticks of an axis.

local ticks = {}

local format = require "nslua.core".number_support.format
local scales = require "nslua.plot.scales"

local floor, ceil, abs, max, huge = math.floor, math.ceil, math.abs, math.max, math.huge

-- 1, 2 or 5 times a power of ten, at least x.
local function nice(x)
  local power = 10.0 ^ floor(math.log(x, 10))
  for _, m in ipairs { 1, 2, 5, 10 } do
    if m * power >= x * (1 - 1e-9) then return m * power end
  end
  return 10 * power
end

-- The range of an axis for data between lo and hi, with `margin` times its length on either side. When lo and hi are
-- equal up to rounding, the range is widened.
function ticks.widen(lo, hi, margin, scale)
  if scale and scale ~= true then
    local a, b = ticks.widen(scales.forward(scale, lo), scales.forward(scale, hi), margin)
    return scales.inverse(scale, a), scales.inverse(scale, b)
  elseif scale then
    local a, b = math.log(lo, 10), math.log(hi, 10)
    if b - a < 1e-6 then a, b = a - 0.5, b + 0.5 end
    return 10 ^ (a - margin * (b - a)), 10 ^ (b + margin * (b - a))
  end
  local size = max(abs(lo), abs(hi))
  if hi - lo <= 1e-9 * size or hi == lo then
    local half = size > 0 and 0.1 * size or 1
    return (lo + hi) / 2 - half, (lo + hi) / 2 + half
  end
  return lo - margin * (hi - lo), hi + margin * (hi - lo)
end

local function minus(s) return (s:gsub("^%-", "−")) end

-- How many digits after the point distinguish multiples of `step`.
local function decimals_of(step)
  for d = 0, 12 do
    local scaled = step * 10.0 ^ d
    if abs(scaled - floor(scaled + 0.5)) < 1e-6 * scaled then return d end
  end
  return 12
end

-- A number as part of a formula: 1.5×10^{7}; as it is where it is short.
function ticks.written(x)
  if x == 0 then return "0" end
  local e = floor(math.log(abs(x), 10) + 1e-9)
  if e >= -3 and e <= 6 then return minus(format("%.15g", x)) end
  local digits = minus(format("%.12g", x / 10.0 ^ e))
  return (digits == "1" and "" or digits == "−1" and "−" or digits .. "×") .. "10^{" .. minus(tostring(e)) .. "}"
end

-- What labels leave out: the power of ten that they are to be multiplied by, and the number to be added.
local function note_of(exponent, offset)
  if exponent == 0 and offset == 0 then return nil end
  local times = exponent ~= 0 and "×10^{" .. minus(tostring(exponent)) .. "}" or ""
  local sum = offset > 0 and "+" .. ticks.written(offset) or offset < 0 and ticks.written(offset) or ""
  return "$" .. times .. (times ~= "" and sum ~= "" and " " or "") .. sum .. "$"
end

local FAR = 1e4 -- labels of ticks that are so many steps away from 0 are differences: they would have so many digits

-- The number of steps to a round number near ticks that are far from 0; 0 for others. It is the roundest one that is
-- at most the range away from the ends.
local function steps_to_base(lo, hi, step, first, last)
  if max(abs(first), abs(last)) < FAR then return 0 end
  local range, middle = hi - lo, lo + (hi - lo) / 2
  local power = floor(math.log(abs(middle), 10) + 1e-9)
  while abs(floor(middle / 10.0 ^ power + 0.5) * 10.0 ^ power - middle) > 1.5 * range do power = power - 1 end
  return floor(floor(middle / 10.0 ^ power + 0.5) * 10.0 ^ power / step + 0.5)
end

local function linear(lo, hi, count)
  local step = nice((hi - lo) / count)
  local first, last = ceil(lo / step - 1e-6), floor(hi / step + 1e-6)
  -- a range of the size of rounding errors has no ticks
  if not (last - first < 1e4 and max(abs(first), abs(last)) < 2 ^ 52) then return {} end
  local base = steps_to_base(lo, hi, step, first, last)
  local size, exponent = max(abs(first - base), abs(last - base)) * step, 0
  if size >= 1e5 or (size < 1e-3 and size > 0) then exponent = floor(math.log(size, 10) + 1e-9) end
  local unit = 10.0 ^ exponent
  local decimals = decimals_of(step / unit)
  local result = { note = note_of(exponent, base * step) }
  for k = first, last do
    local label = format("%." .. decimals .. "f", (k - base) * step / unit)
    if k == base then label = "0" end
    result[#result + 1] = { k * step, minus(label) }
  end
  return result
end

-- The ticks at 2 to 9 times the powers of ten, without labels.
local function between(lo, hi, first, last)
  local list = {}
  for k = first - 1, last do
    for m = 2, 9 do
      local x = m * 10.0 ^ k
      if x >= lo and x <= hi then list[#list + 1] = x end
    end
  end
  return list
end

-- The places that are not places of ticks.
local function without(places, list)
  local taken, rest = {}, {}
  for _, tick in ipairs(list) do taken[format("%.9g", tick[1])] = true end
  for _, x in ipairs(places) do
    if not taken[format("%.9g", x)] then rest[#rest + 1] = x end
  end
  return rest
end

local MANY_DECADES = 60 -- a longer axis has no tick at each power of ten: they would touch

-- The powers of ten without a label, when only every second, third ... has one.
local function decades_between(first, last, every)
  if last - first > MANY_DECADES then return nil end
  local list = {}
  for k = first, last do
    if k % every ~= 0 then list[#list + 1] = 10.0 ^ k end
  end
  return list
end

-- The powers of ten. When there are many, every second, third ... has a label. In a short range also 2 and 5 times
-- each.
local function logarithmic(lo, hi, count)
  local first, last = ceil(math.log(lo, 10) - 1e-9), floor(math.log(hi, 10) + 1e-9)
  local result = {}
  if last - first >= 1 then
    local every = max(1, ceil((last - first) / count))
    for k = ceil(first / every) * every, last, every do
      local small = k >= -2 and k <= 3
      result[#result + 1] = { 10.0 ^ k, last - first <= 4 and small and format("%g", 10.0 ^ k) or
        ("$10^{%s}$"):format(minus(tostring(k))) }
    end
    result.minor = every == 1 and between(lo, hi, first, last) or decades_between(first, last, every)
    return result
  end
  for k = first - 1, last + 1 do
    for _, m in ipairs { 1, 2, 5 } do
      local x = m * 10.0 ^ k
      if x >= lo * (1 - 1e-9) and x <= hi * (1 + 1e-9) then result[#result + 1] = { x, format("%g", x) } end
    end
  end
  if #result < 2 then return linear(lo, hi, count) end
  result.minor = without(between(lo, hi, first, last + 1), result)
  return result
end

-- A power of a base as a text.
local function power(base, k, sign)
  local small = base == 10 and k >= 0 and k <= 3
  return sign .. (small and format("%g", base ^ k) or ("$%s^{%s}$"):format(format("%g", base), minus(tostring(k))))
end

-- 0 and the powers of the base beyond the threshold, on both sides; every second, third ... when there are many.
local function symmetric(lo, hi, count, scale)
  local base, list = scale.base, {}
  local first = ceil(math.log(scale.threshold) / math.log(base) - 1e-9)
  local last = floor(math.log(max(abs(lo), abs(hi), scale.threshold)) / math.log(base) + 1e-9)
  local sides = (hi > scale.threshold and 1 or 0) + (lo < -scale.threshold and 1 or 0)
  if sides == 0 then return linear(lo, hi, count) end
  local every = max(1, ceil((last - first + 1) * sides / count))
  for k = last, first, -1 do
    if (last - k) % every == 0 and -base ^ k >= lo then list[#list + 1] = { -base ^ k, power(base, k, "−") } end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  if lo <= 0 and hi >= 0 then list[#list + 1] = { 0, "0" } end
  for k = first, last do
    if (last - k) % every == 0 and base ^ k <= hi then list[#list + 1] = { base ^ k, power(base, k, "") } end
  end
  return list
end

-- About `count` ticks between lo and hi: a list of {place, label}; `note`: by what the labels are to be multiplied,
-- and what is to be added then, as a text; `minor`: places between them. scale: see nslua.plot.scales.
function ticks.make(lo, hi, count, scale)
  if not (lo > -huge and hi < huge and hi - lo < huge) then return {} end
  if scale and scale ~= true then return symmetric(lo, hi, count, scale) end
  return (scale and logarithmic or linear)(lo, hi, count)
end

-- The places that divide the steps between evenly spaced ticks, for ticks that have none between them.
function ticks.between(list, lo, hi)
  if list.minor or #list < 2 then return list.minor end
  local step, places = list[2][1] - list[1][1], {}
  for k = 3, #list do
    if abs(list[k][1] - list[k - 1][1] - step) > 1e-6 * abs(step) then return nil end
  end
  local digit = floor(abs(step) / 10.0 ^ floor(math.log(abs(step), 10) + 1e-9) + 0.5)
  local parts = (digit == 2 or digit == 4) and 4 or 5
  local first = list[1][1]
  local slack = 1e-9 * (hi - lo)
  for k = ceil((lo - first) / step * parts - 1e-6), floor((hi - first) / step * parts + 1e-6) do
    local x = first + k * step / parts
    if k % parts ~= 0 and x >= lo - slack and x <= hi + slack then places[#places + 1] = x end
  end
  return places
end

return ticks
