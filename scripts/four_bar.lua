-- The four-bar linkage: links of lengths la, lb, lc turn about P1 = (0, 0), P2, P3 and close the loop at
-- P4 = (ln, 0); P2 and P3 are particles of mass m under gravity. With the relative angles q1, q2, q3 (a = q1,
-- b = q1 + q2, c = q1 + q2 + q3, unit vectors e_a along a link and n_a across it), u1 = q1', the loop is
--
--   f_h = la e_a + lb e_b + lc e_c - (ln, 0) = 0,
--
-- its rate gives the turning speeds of the links b and c as w_b = beta u1, w_c = gamma u1 with
--
--   beta  = -la sin(c - a) / (lb sin(c - b)),    gamma = -la sin(b - a) / (lc sin(b - c)),
--
-- and Kane's equation along u1, with the partial velocities V2 = la n_a, V3 = V2 + lb beta n_b,
--
--   m (V2.V2 + V3.V3) u1' + m V3.V3' u1 + m g (V2_y + V3_y) = 0.
--
-- --method ivp         these as an ordinary differential equation in (q1, q2, q3, u1): the loop opens slowly
--          ivp_fsolve  the same with q2, q3 solved for from f_h at each evaluation
--          dae         (q1' = u1, Kane's equation, f_h = 0) as a differential-algebraic equation of index 1
--          moreau      two particles with the bars as bilateral constraints, from their positions alone: the theta
--                      scheme, of first order in the energy
--          events      the same two particles by the method of order 8, put back on the constraints after each step
--
-- The start is at rest with q1 = 10 degrees.

local ns = require "nslua"
local options = require "nslua.options"

local opt = options.parse(arg, {
  about = "A four-bar linkage by five methods. Without --csv nothing is written.",
  { "method", default = "dae", choices = { "ivp", "ivp_fsolve", "dae", "moreau", "events" },
    help = "see the header" },
  { "rtol", default = 1e-10, min = 1e-13, max = 0.1, help = "relative tolerance" },
  { "atol", default = 1e-12, above = 0, help = "absolute tolerance" },
  { "h", default = 1e-3, min = 1e-5, max = 0.05, help = "length of a step of the theta scheme" },
  { "T", default = 30, above = 0, max = 1000, help = "end of the run" },
  { "points", default = 600, min = 2, max = 1e6, help = "number of times, equally spaced from 0 to T" },
  { "csv", value = "FILE", help = "write t, angles, speed, closing error and energy there" },
})

local la, lb, lc, ln, m, g = 0.8, 2.0, 1.0, 2.0, 1.0, 9.81
local sin, cos = math.sin, math.cos

-- f_h at (q1, q2, q3).
local function loop(q1, q2, q3)
  local a, b, c = q1, q1 + q2, q1 + q2 + q3
  return la * cos(a) + lb * cos(b) + lc * cos(c) - ln, la * sin(a) + lb * sin(b) + lc * sin(c)
end

-- beta, gamma: the speeds of the links b and c over u1.
local function ratios(a, b, c)
  return -la * sin(c - a) / (lb * sin(c - b)), -la * sin(b - a) / (lc * sin(b - c))
end

-- Kane's equation: its mass and the rest, Md u1' + gd = 0.
local function kane(q1, q2, q3, u1)
  local a, b, c = q1, q1 + q2, q1 + q2 + q3
  local beta, gamma = ratios(a, b, c)
  local wb, wc = beta * u1, gamma * u1
  local rate = beta * ((wc - u1) * cos(c - a) / sin(c - a) - (wc - wb) * cos(c - b) / sin(c - b)) -- of beta
  local vx, vy = -la * sin(a) - lb * beta * sin(b), la * cos(a) + lb * beta * cos(b) -- V3
  local dx = -la * u1 * cos(a) - lb * (beta * wb * cos(b) + rate * sin(b))           -- its rate
  local dy = -la * u1 * sin(a) - lb * (beta * wb * sin(b) - rate * cos(b))
  return m * (la ^ 2 + vx ^ 2 + vy ^ 2), m * (vx * dx + vy * dy) * u1 + m * g * (la * cos(a) + vy)
end

local function energy(q1, q2, q3, u1)
  local mass = kane(q1, q2, q3, u1)
  return mass * u1 ^ 2 / 2 + m * g * (2 * la * sin(q1) + lb * sin(q1 + q2))
end

-- ---- the start ----

local q1 = math.rad(10)
local closed = ns.numerics.mcp { -- two equations in (q2, q3)
  F = function(r, out) out[1], out[2] = loop(q1, r[1], r[2]) end,
  lower = { -math.huge, -math.huge }, z0 = { math.rad(20), math.rad(-150) }, tolerance = 1e-15,
}
local start = { q1, closed.z[1], closed.z[2], 0 }
local ts = ns.linspace(0, opt.T, math.floor(opt.points))

-- ---- the methods: each gives a function of the number of a time: q1, q2, q3, u1 ----

local methods = {}

local function rate(_, x)
  local q2, q3, u1 = x[2], x[3], x[4]
  local beta, gamma = ratios(x[1], x[1] + q2, x[1] + q2 + q3)
  local mass, rest = kane(x[1], q2, q3, u1)
  return { u1, (beta - 1) * u1, (gamma - beta) * u1, -rest / mass }
end

local function integrate(f)
  local sol = ns.solve_ivp(f, { 0, opt.T }, start,
    { t_eval = ts, rtol = opt.rtol, atol = opt.atol, method = "DOP853" })
  if not sol.success then error(sol.message, 0) end
  return function(k) return sol.y[1][k], sol.y[2][k], sol.y[3][k], sol.y[4][k] end, sol.nfev .. " evaluations"
end

function methods.ivp()
  return integrate(rate)
end

function methods.ivp_fsolve()
  local guess = { start[2], start[3] }
  local function close(x)
    local r = ns.fsolve(function(r) return { loop(x[1], r[1], r[2]) } end, { x[2], x[3] }, { xtol = 1e-14 })
    return r[1], r[2]
  end
  local at, work = integrate(function(t, x)
    guess[1], guess[2] = close(x)
    return rate(t, { x[1], guess[1], guess[2], x[4] })
  end)
  return function(k)
    local p, q, r, u = at(k)
    q, r = close { p, q, r }
    return p, q, r, u
  end, work
end

function methods.dae()
  local function residual(_, x, xd, res)
    local mass, rest = kane(x[1], x[2], x[3], x[4])
    res[1] = xd[1] - x[4]
    res[2] = mass * xd[4] + rest
    res[3], res[4] = loop(x[1], x[2], x[3])
  end
  local mass, rest = kane(table.unpack(start))
  local sol = ns.dae("radau", residual, { rtol = opt.rtol, atol = opt.atol, algebraic_vars_idx = { 2, 3 } })
    :solve(ts, start, { 0, 0, 0, -rest / mass })
  if not sol.success then error(sol.message, 0) end
  local y = sol.values.y
  return function(k) return y[k][1], y[k][2], y[k][3], y[k][4] end, sol.stats.steps .. " steps"
end

-- The particles P2 = (x1, x2) and P3 = (x3, x4), and three bars.
local function particles(make)
  local a, b = start[1], start[1] + start[2]
  local x2, y2 = la * cos(a), la * sin(a)
  local ds = ns.LagrangianDS({ x2, y2, x2 + lb * cos(b), y2 + lb * sin(b) }, { 0, 0, 0, 0 }, m * ns.eye(4))
  ds:setFExtPtr { 0, -m * g, 0, -m * g }
  local bars = ns.LagrangianScleronomousR { h = function(x, _, y)
    y[1] = x[1] ^ 2 + x[2] ^ 2 - la ^ 2
    y[2] = (x[3] - x[1]) ^ 2 + (x[4] - x[2]) ^ 2 - lb ^ 2
    y[3] = (x[3] - ln) ^ 2 + x[4] ^ 2 - lc ^ 2
  end }
  local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.EqualityConditionNSL(3), bars, "bars"), ds)
  return make(nsds), ds
end

-- Angles and speed from positions, the angles going on from the last ones without jumps.
local function follow(simu, ds, every)
  local rows = { { start[1], start[2], start[3], 0 } }
  local last = { start[1], start[1] + start[2], start[1] + start[2] + start[3] }
  local function near(y, x, i)
    local angle = math.atan(y, x)
    last[i] = angle + 2 * math.pi * math.floor((last[i] - angle) / (2 * math.pi) + 0.5)
    return last[i]
  end
  for k in simu:steps() do
    local x, v = ds:q(), ds:velocity()
    local a, b, c = near(x[2], x[1], 1), near(x[4] - x[2], x[3] - x[1], 2), near(-x[4], ln - x[3], 3)
    if k % every == 0 then rows[#rows + 1] = { a, b - a, c - b, (x[1] * v[2] - x[2] * v[1]) / la ^ 2 } end
  end
  return function(k) return table.unpack(rows[k]) end
end

function methods.moreau()
  local every = math.max(1, math.ceil(ts[2] / opt.h - 1e-9))
  local grid = ns.TimeDiscretisation(0, ts[2] / every)
  local simu, ds = particles(function(nsds)
    return ns.TimeSteppingDirectProjection(nsds, grid, ns.MoreauJeanOSI(0.5))
  end)
  return follow(simu, ds, every), simu:numberOfSteps() .. " steps"
end

function methods.events()
  local simu, ds = particles(function(nsds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(ts), ns.RungeKuttaOSI(opt.rtol, opt.atol))
  end)
  return follow(simu, ds, 1), "the method of order 8"
end

-- ---- the run ----

local at, work = methods[opt.method]()
local rows, worst, drift, first = {}, 0, 0, energy(table.unpack(start))
for k = 1, #ts do
  local p, q, r, u = at(k)
  local cx, cy = loop(p, q, r)
  rows[k] = { ts[k], p, q, r, u, cx, cy, energy(p, q, r, u) }
  worst = math.max(worst, math.abs(cx), math.abs(cy))
  drift = math.max(drift, math.abs(rows[k][8] / first - 1))
end
print(("%s, rtol %g, %s: the loop is closed to %.1e, the energy kept to %.1e of itself"):format(
  opt.method, opt.rtol, work, worst, drift))
print(("at t = %g: q1 = %.9f, q2 = %.9f, q3 = %.9f, u1 = %.9f"):format(table.unpack(rows[#rows], 1, 5)))
if opt.csv then
  options.write_csv(opt.csv, { "t", "q1", "q2", "q3", "u1", "con_x", "con_y", "energy" }, rows)
  print(("written: %d rows to %s"):format(#rows, opt.csv))
end
