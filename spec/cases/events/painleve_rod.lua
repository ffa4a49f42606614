-- Painleve's rod: a rod that slips on rough ground with its lower end. In some states no forces are right, in others several
-- are; then only an impulse goes on.
local ns = require "nslua"

local g, mu, inverse = 9.81, 2, ns.diag { 1, 1, 3 } -- inverse: of the mass matrix of (x, y, theta)

-- The velocities of the tip by those of (x, y, theta): a row for the normal, a row for the tangent.
local function tip(theta) return ns.matrix { { 0, 1, -math.cos(theta) }, { 1, 0, math.sin(theta) } } end

-- While the tip slips to the left its normal acceleration is b + p N: p, and its slope by theta.
local function p_left(theta, friction)
  local s, c = math.sin(theta), math.cos(theta)
  return 1 + 3 * c * c - 3 * friction * s * c, -6 * s * c - 3 * friction * (c * c - s * s)
end

local result = { p = {}, b = {}, N = {}, count = {}, angles = {} }
result.mu_critical = ns.fsolve(function(x) return { p_left(x[1], x[2]) } end, { 1, 1 }, { xtol = 1e-14 })[2]
for i, near in ipairs { 0.6, 1.4 } do
  result.angles[i] = ns.fsolve(function(x) return (p_left(x[1], mu)) end, { near }, { xtol = 1e-14 })[1]
end

local up, down, steep = math.pi / 4, 1.2, 1.45
for i, state in ipairs { { up, 1, 0 }, { up, -1, 0 }, { up, -1, 6 }, { down, -1, 2 }, { steep, -1, 0 }, { 0.5, -1, 5 } } do
  local theta, u, w = table.unpack(state)
  local H = tip(theta)
  result.p[i] = H[1]:dot(inverse * (H[1] - u * mu * H[2]))
  result.b[i] = -g + w ^ 2 * math.sin(theta)
  local found = ns.numerics.solutions { M = { { result.p[i] } }, q = { result.b[i] } }.isolated
  table.sort(found, function(a, b) return a[1] < b[1] end)
  result.count[i], result.N[i] = #found, {}
  for k, z in ipairs(found) do result.N[i][k] = z[1] end
end

-- The impulse that stops the tip lies in the cone of friction: P_t = 5/3 P_n.
local H, v = tip(up), ns.vector { -1, 0, 0 }
local P = ns.solve(H * inverse * H:transpose(), -(H * v))
result.impulse_2, result.after_2 = P, v + inverse * (H:transpose() * P)
return result
