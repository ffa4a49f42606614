-- The four-bar linkage as a differential-algebraic equation in (q1, q2, q3, u1), in the form q1' = u1, M u1' + g = 0, f_h = 0;
-- the equations are derived in scripts/four_bar.lua.
local sin, cos = math.sin, math.cos
local la, lb, lc, ln, m, g = 0.8, 2.0, 1.0, 2.0, 1.0, 9.81
local four_bar = {}

-- Kane's equation -M u1' - rest = 0 at the angles a, b, c of the links: returns M, rest, b' / a' and c' / a'.
function four_bar.kane(a, b, c, u)
  local beta, gamma = -la * sin(c - a) / (lb * sin(c - b)), -la * sin(b - a) / (lc * sin(b - c))
  local wb, wc = beta * u, gamma * u
  local rate = beta * ((wc - u) * cos(c - a) / sin(c - a) - (wc - wb) * cos(c - b) / sin(c - b))
  local vx, vy = -la * sin(a) - lb * beta * sin(b), la * cos(a) + lb * beta * cos(b)
  local dx = -la * u * cos(a) - lb * (beta * wb * cos(b) + rate * sin(b))
  local dy = -la * u * sin(a) - lb * (beta * wb * sin(b) - rate * cos(b))
  return m * (la ^ 2 + vx ^ 2 + vy ^ 2), m * (vx * dx + vy * dy) * u + m * g * (la * cos(a) + vy), beta, gamma
end

function four_bar.residual(_, x, xd, res)
  local u, a = x[4], x[1]
  local b = a + x[2]
  local c = b + x[3]
  local mass, rest = four_bar.kane(a, b, c, u)
  res[1] = xd[1] - u
  res[2] = mass * xd[4] + rest
  res[3] = la * cos(a) + lb * cos(b) + lc * cos(c) - ln
  res[4] = la * sin(a) + lb * sin(b) + lc * sin(c)
end

-- At rest; consistent = "solve" finds u1'.
function four_bar.start(reference)
  return { reference.q1[1], reference.q2[1], reference.q3[1], 0 }
end

return four_bar
