-- nslua.fmi.units: units such as "N.m", "kg.m2", "rad/s" or "m/(s.K)", in terms of the base units of SI.
--
-- The notation is Modelica's: a point multiplies, one slash divides, a number behind a unit is its power.
local units = {}

units.bases = { "kg", "m", "s", "A", "K", "mol", "cd", "rad" }

-- Each unit: its factor, then the powers of its bases.
local known = {
  kg = { 1, kg = 1 }, g = { 1e-3, kg = 1 }, t = { 1e3, kg = 1 }, m = { 1, m = 1 }, s = { 1, s = 1 }, A = { 1, A = 1 },
  K = { 1, K = 1 }, mol = { 1, mol = 1 }, cd = { 1, cd = 1 }, rad = { 1, rad = 1 }, ["1"] = { 1 }, ["%"] = { 0.01 },
  deg = { math.pi / 180, rad = 1 }, rev = { 2 * math.pi, rad = 1 }, rpm = { math.pi / 30, rad = 1, s = -1 },
  min = { 60, s = 1 }, h = { 3600, s = 1 }, d = { 86400, s = 1 }, l = { 1e-3, m = 3 }, bar = { 1e5, kg = 1, m = -1,
    s = -2 },
  Hz = { 1, s = -1 }, N = { 1, kg = 1, m = 1, s = -2 }, J = { 1, kg = 1, m = 2, s = -2 }, W = { 1, kg = 1, m = 2,
    s = -3 },
  Pa = { 1, kg = 1, m = -1, s = -2 }, C = { 1, A = 1, s = 1 }, V = { 1, kg = 1, m = 2, s = -3, A = -1 },
  Ohm = { 1, kg = 1, m = 2, s = -3, A = -2 }, S = { 1, kg = -1, m = -2, s = 3, A = 2 },
  F = { 1, kg = -1, m = -2, s = 4, A = 2 }, H = { 1, kg = 1, m = 2, s = -2, A = -2 }, Wb = { 1, kg = 1, m = 2, s = -2,
    A = -1 },
  T = { 1, kg = 1, s = -2, A = -1 }, degC = { 1, K = 1, offset = 273.15 },
}
local prefixes = { G = 1e9, M = 1e6, k = 1e3, h = 1e2, d = 1e-1, c = 1e-2, m = 1e-3, u = 1e-6, n = 1e-9, p = 1e-12 }

local function unit_of(symbol)
  if known[symbol] then return 1, known[symbol] end
  local prefix, rest = symbol:sub(1, 1), symbol:sub(2)
  if prefixes[prefix] and known[rest] and rest ~= "1" and rest ~= "%" then return prefixes[prefix], known[rest] end
end

-- Multiplies `result` by the product in the text, or divides by it (sign -1). Returns whether all of it is known.
local function multiply(result, text, sign)
  for part in (text .. "."):gmatch "([^.]*)%." do
    local symbol, power = part:match "^([^%d%-]+)(%-?%d*)$"
    if part == "1" then symbol, power = "1", "" end
    local scale, unit = unit_of(symbol or "")
    if not unit then return false end
    power = sign * (power == "" and 1 or tonumber(power))
    result.factor = result.factor * (scale * unit[1]) ^ power
    result.offset = unit.offset
    for _, base in ipairs(units.bases) do
      if unit[base] then result[base] = (result[base] or 0) + power * unit[base] end
    end
  end
  return true
end

-- A table with the powers of the base units, `factor` and `offset` (nil for none); nil for a unit that is not known.
function units.parse(text)
  local above, below = text:match "^([^/]*)/([^/]*)$"
  local result = { factor = 1 }
  above, below = above or text, below and below:gsub("^%((.*)%)$", "%1")
  if not multiply(result, above:gsub("^%((.*)%)$", "%1"), 1) then return nil end
  if below and not multiply(result, below, -1) then return nil end
  for _, base in ipairs(units.bases) do
    if result[base] == 0 then result[base] = nil end
  end
  if above ~= text or text:find "%." then result.offset = nil end -- a temperature in a product is a difference
  return result
end

return units
