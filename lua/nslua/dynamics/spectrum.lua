-- nslua.dynamics.spectrum: multipliers, and what they say.
local core = require "nslua.core"

local format = core.number_support.format

local spectrum = {}

-- Distance from the unit circle within which a multiplier counts as on it: the accuracy of a monodromy matrix that is
-- taken by differences.
local ON_CIRCLE = 1e-6

local Multiplier = { __name = "multiplier" }

function Multiplier.__tostring(m)
  if m.im == 0 then return format("%g", m.re) end
  return format("%g %s %gi", m.re, m.im < 0 and "-" or "+", math.abs(m.im))
end

-- The eigenvalues of a matrix, largest modulus first; of a pair the one with the positive imaginary part first.
function spectrum.values(A)
  if A:rows() == 0 then return {} end
  local re, im = core.eigvals(A)
  local list = {}
  for i = 1, #re do
    local a, b = re[i], im and im[i] or 0
    list[i] = setmetatable({ re = a, im = b, abs = math.sqrt(a * a + b * b) }, Multiplier)
  end
  table.sort(list, function(a, b)
    if math.abs(a.abs - b.abs) > 1e-14 * a.abs then return a.abs > b.abs end
    return a.im > b.im
  end)
  return list
end

-- The multiplier of the motion along an orbit is 1; one that is off by more than this tells that others are not known
-- to three digits.
local OFF = 1e-3

-- Takes the multiplier nearest to 1 out of the list and returns it, and what it says of the others; nil where it
-- is 1.
function spectrum.take_trivial(list)
  local place, least = nil, math.huge
  for i, m in ipairs(list) do
    local far = (m.re - 1) ^ 2 + m.im ^ 2
    if far < least then place, least = i, far end
  end
  local trivial = place and table.remove(list, place)
  if not trivial or least <= OFF * OFF then return trivial end
  return trivial, format("the multiplier of the motion along the orbit, which is 1, was found as %s: do not trust "
    .. "the others; take more segments, or runs of higher accuracy", tostring(trivial))
end

-- "stable", "unstable" or "neutral".
function spectrum.stability(list)
  local largest = list[1] and list[1].abs or 0
  if largest < 1 - ON_CIRCLE then return "stable" end
  return largest > 1 + ON_CIRCLE and "unstable" or "neutral"
end

-- The product of (1 + m) / (1 + |m|) over all multipliers: 0 at a period doubling. The divisor keeps it bounded where
-- a multiplier grows without limit, at a grazing.
function spectrum.doubling(list)
  local re, im = 1, 0
  for _, m in ipairs(list) do
    local size = 1 + m.abs
    re, im = (re * (1 + m.re) - im * m.im) / size, (re * m.im + im * (1 + m.re)) / size
  end
  return re
end

-- The product of (1 - m): 0 at a fold or a branch point.
function spectrum.unit(list)
  local re, im = 1, 0
  for _, m in ipairs(list) do
    re, im = re * (1 - m.re) + im * m.im, im * (1 - m.re) - re * m.im
  end
  return re
end

-- The product of (m_i m_j - 1) / (1 + |m_i m_j|) over all pairs: 0 at a Neimark-Sacker bifurcation (and where two
-- real multipliers are each other's inverse).
function spectrum.torus(list)
  local re, im = 1, 0
  for i = 1, #list do
    for j = i + 1, #list do
      local a, b = list[i], list[j]
      local x, y = a.re * b.re - a.im * b.im - 1, a.re * b.im + a.im * b.re
      local size = 1 + a.abs * b.abs
      re, im = (re * x - im * y) / size, (re * y + im * x) / size
    end
  end
  return re
end

return spectrum
