--
-- problems.lua
-- Initial value problems of the benches: problems.NAME() returns f(t, y, ydot), T and y0. bench/peers has the same.
--
local ns = require "nslua"
local sin, cos = math.sin, math.cos

local problems = {}

function problems.lorenz()
  return function(_, y, f)
    f[1] = 10 * (y[2] - y[1])
    f[2] = y[1] * (28 - y[3]) - y[2]
    f[3] = y[1] * y[2] - 8 / 3 * y[3]
  end, 10, { 1, 1, 1 }
end

-- The angles and speeds of a double pendulum of unit masses and lengths.
function problems.pendulum()
  return function(_, y, f)
    local d = y[1] - y[2]
    local c, s = cos(d), sin(d)
    local a, b = -s * y[4] ^ 2 - 2 * 9.81 * sin(y[1]), s * y[3] ^ 2 - 9.81 * sin(y[2])
    local det = 2 - c * c
    f[1], f[2] = y[3], y[4]
    f[3], f[4] = (a - c * b) / det, (2 * b - c * a) / det
  end, 5, { 1, 0.5, 0, 0 }
end

function problems.vdp()
  return function(_, y, f)
    f[1] = y[2]
    f[2] = 1000 * (1 - y[1] ^ 2) * y[2] - y[1]
  end, 3000, { 2, 0 }
end

-- Van der Pol's oscillator.
function problems.oscillator()
  return function(_, y, f)
    f[1] = y[2]
    f[2] = 5 * (1 - y[1] ^ 2) * y[2] - y[1]
  end, 50, { 2, 0 }
end

function problems.robertson()
  return function(_, y, f)
    local a, b, c = 0.04 * y[1], 1e4 * y[2] * y[3], 3e7 * y[2] ^ 2
    f[1], f[2], f[3] = -a + b, a - b - c, c
  end, 1e6, { 1, 0, 0 }
end

-- A rod of 50 points, its left end heated.
function problems.heat()
  local n, y0 = 50, {}
  for i = 1, n do y0[i] = 0 end
  return function(_, y, f)
    local k = (n + 1) ^ 2
    f[1] = k * (1 - 2 * y[1] + y[2])
    for i = 2, n - 1 do f[i] = k * (y[i - 1] - 2 * y[i] + y[i + 1]) end
    f[n] = k * (y[n - 1] - 2 * y[n])
  end, 1, y0
end

-- A link pinned at one end: B' M B theta'' = B' Q, where B = d(x, y, theta) / d theta.
function problems.pinned()
  local l, m = 1, 0.1
  return function(_, y, f)
    local bx, by = -l / 2 * sin(y[1]), l / 2 * cos(y[1])
    f[1] = y[2]
    f[2] = -by * m * 9.81 / (m * bx ^ 2 + m * by ^ 2 + m * l ^ 2 / 12)
  end, 4, { 0, 0 }
end

-- A four-bar linkage by Kane's equation, derived in scripts/four_bar.lua.
function problems.four_bar()
  local la, lb, lc, ln = 0.8, 2, 1, 2
  local q1 = math.rad(10)
  local r = ns.fsolve(function(r)
    local b, c = q1 + r[1], q1 + r[1] + r[2]
    return { la * cos(q1) + lb * cos(b) + lc * cos(c) - ln, la * sin(q1) + lb * sin(b) + lc * sin(c) }
  end, { math.rad(20), math.rad(-150) }, { xtol = 1e-14 })
  return function(_, x, f)
    local a, b, c, u1 = x[1], x[1] + x[2], x[1] + x[2] + x[3], x[4]
    local beta, gamma = -la * sin(c - a) / (lb * sin(c - b)), -la * sin(b - a) / (lc * sin(b - c))
    local wb, wc = beta * u1, gamma * u1
    local rate = beta * ((wc - u1) * cos(c - a) / sin(c - a) - (wc - wb) * cos(c - b) / sin(c - b))
    local vx, vy = -la * sin(a) - lb * beta * sin(b), la * cos(a) + lb * beta * cos(b)
    local dx = -la * u1 * cos(a) - lb * (beta * wb * cos(b) + rate * sin(b))
    local dy = -la * u1 * sin(a) - lb * (beta * wb * sin(b) - rate * cos(b))
    f[1], f[2], f[3] = u1, (beta - 1) * u1, (gamma - beta) * u1
    f[4] = -((vx * dx + vy * dy) * u1 + 9.81 * (la * cos(a) + vy)) / (la ^ 2 + vx ^ 2 + vy ^ 2)
  end, 30, { q1, r[1], r[2], 0 }
end

-- A spiral out of the origin, whose sense of rotation is another outside of the unit circle. Returns f, a function
-- that sets the sense (1: inside), T, y0, and y(T).
function problems.disc()
  local w = 2 * math.pi
  return function(_, y, f)
    f[1], f[2] = y[1] + w * y[2], y[2] - w * y[1]
  end, function(sense) w = sense * 2 * math.pi end, 2, { math.exp(-1), 0 }, { math.exp(1), 0 }
end

-- The same by a terminal event and a second call, as one writes it by hand. Returns evaluations, steps, y1 and y2
-- at the end.
function problems.disc_by_hand(method, rtol)
  local f, switch, T, y0 = problems.disc()
  switch(1)
  local inside = ns.solve_ivp(f, { 0, T }, y0, { method = method, rtol = rtol, atol = rtol,
    events = { function(_, y) return y[1] ^ 2 + y[2] ^ 2 - 1 end, terminal = true } })
  local k = #inside.t
  switch(-1)
  local outside = ns.solve_ivp(f, { inside.t[k], T }, { inside.y[1][k], inside.y[2][k] },
    { method = method, rtol = rtol, atol = rtol })
  local last = #outside.t
  return inside.nfev + outside.nfev, inside.nsteps + outside.nsteps, outside.y[1][last], outside.y[2][last]
end

return problems
