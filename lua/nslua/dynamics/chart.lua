-- nslua.dynamics.chart: coordinates of a rigid body near a base: 3 of its position, 3 of its rotation.
--
-- The rotation is q = base o (1, w / 2) / |(1, w / 2)|: w are Rodrigues' parameters times 2, in the frame of the
-- body, so that w' is the angular velocity at w = 0. They are regular up to half a turn from the base.
local core = require "nslua.core"

local charts = {}

local function product(a, b)
  return { a[1] * b[1] - a[2] * b[2] - a[3] * b[3] - a[4] * b[4],
    a[1] * b[2] + a[2] * b[1] + a[3] * b[4] - a[4] * b[3],
    a[1] * b[3] - a[2] * b[4] + a[3] * b[1] + a[4] * b[2], a[1] * b[4] + a[2] * b[3] - a[3] * b[2] + a[4] * b[1] }
end

-- The base of a body at the 7 coordinates q[from + 1] ...: its quaternion with the length 1.
function charts.base(q, from)
  local base, square = {}, 0
  for i = 1, 4 do
    base[i] = q[from + 3 + i]
    square = square + base[i] ^ 2
  end
  for i = 1, 4 do base[i] = base[i] / math.sqrt(square) end
  return base
end

local function length(x) return math.sqrt(1 + (x[4] ^ 2 + x[5] ^ 2 + x[6] ^ 2) / 4) end

-- The 7 coordinates at x (6 numbers).
function charts.coordinates(base, x)
  local n = length(x)
  local turn = product(base, { 1 / n, x[4] / (2 * n), x[5] / (2 * n), x[6] / (2 * n) })
  return { x[1], x[2], x[3], turn[1], turn[2], turn[3], turn[4] }
end

-- The derivatives of the 7 coordinates by x, 7 x 6.
function charts.slopes(base, x)
  local E, n = core.zeros(7, 6), length(x)
  for j = 1, 3 do
    E[j][j] = 1
    local part = { 1, x[4] / 2, x[5] / 2, x[6] / 2 }
    for i = 1, 4 do part[i] = -part[i] * x[3 + j] / (4 * n ^ 3) end
    part[1 + j] = part[1 + j] + 1 / (2 * n)
    local turn = product(base, part)
    for i = 1, 4 do E[3 + i][3 + j] = turn[i] end
  end
  return E
end

-- T (7 x 6) in q' = T v at the 7 coordinates.
function charts.rates(q)
  local T = core.zeros(7, 6)
  for j = 1, 3 do
    T[j][j] = 1
    local unit = { 0, 0, 0, 0 }
    unit[1 + j] = 1 / 2
    local turn = product({ q[4], q[5], q[6], q[7] }, unit)
    for i = 1, 4 do T[3 + i][3 + j] = turn[i] end
  end
  return T
end

return charts
