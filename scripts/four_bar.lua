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
--          ivp_fsolve  the same, with q2 and q3 solved from f_h = 0 at each evaluation
--          dae         (q1' = u1, Kane's equation, f_h = 0) as a differential-algebraic equation of index 1
--          moreau      two particles with the bars as bilateral constraints, from their positions alone: the theta
--                      scheme, of first order in the energy
--          events      the same two particles by the method of order 8, put back on the constraints after each step
--          all         one after the other, in a table
--
-- With --form positions these equations are not written out: given the frames of the links, the points P2, P3 and P4
-- and the loop, ns.mechanics derives them. ivp is then Kane's equations, ivp_fsolve the embedded form, dae the
-- stabilised form of index 2 (Gear, Gupta and Leimkuhler), moreau and events the mechanical system in q1 and q2.
--
-- The start is at rest with q1 = 10 degrees.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A four-bar linkage by five methods, in two forms. Without --csv, --animate and --plot nothing is written.",
  { "method", default = "dae", choices = { "ivp", "ivp_fsolve", "dae", "moreau", "events", "all" },
    help = "see the header" },
  { "form", default = "written", choices = { "written", "positions" },
    help = "equations by hand, or by ns.mechanics" },
  { "compile", default = "auto", choices = { "auto", "no", "yes" },
    help = "positions as compiled functions: no, yes, or for dae alone" },
  { "rtol", default = 1e-10, min = 1e-13, max = 0.1, help = "relative tolerance" },
  { "atol", default = 1e-12, above = 0, help = "absolute tolerance" },
  { "h", default = 1e-3, min = 1e-5, max = 0.05, help = "length of a step of the theta scheme" },
  { "T", default = 30, above = 0, max = 1000, help = "end of the run" },
  { "points", default = 600, min = 2, max = 1e6, help = "number of times, equally spaced from 0 to T" },
  { "csv", value = "FILE", help = "write t, angles, speed, closing error and energy there" },
  { "animate", value = "FILE", help = "write the linkage in motion there (.html, .gif, .mp4)",
    endings = { "html", "gif", "mp4" } },
  pictures.option,
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

local methods, positions = {}, {}

local function rate(_, x)
  local q2, q3, u1 = x[2], x[3], x[4]
  local beta, gamma = ratios(x[1], x[1] + q2, x[1] + q2 + q3)
  local mass, rest = kane(x[1], q2, q3, u1)
  return { u1, (beta - 1) * u1, (gamma - beta) * u1, -rest / mass }
end

local function integrate(f, y0)
  local sol = ns.solve_ivp(f, { 0, opt.T }, y0 or start,
    { t_eval = ts, rtol = opt.rtol, atol = opt.atol, method = "DOP853" })
  if not sol.success then error(sol.message, 0) end
  return function(k)
    return sol.y[1][k], sol.y[2][k], not y0 and sol.y[3][k], not y0 and sol.y[4][k]
  end, sol.nfev .. " evaluations"
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
  local sol = ns.dae("radau", residual, { rtol = opt.rtol, atol = opt.atol, algebraic = { 2, 3 } })
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

-- Angles and speed from positions; the angles continue the last ones without jumps.
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

-- ---- from the positions: the same methods by ns.mechanics ----

-- compile: unless the options say otherwise.
local function linkage(compile)
  local me = ns.mechanics
  local N, A, B, C = me.ReferenceFrame "N", me.ReferenceFrame "A", me.ReferenceFrame "B", me.ReferenceFrame "C"
  A:orient_axis(N, me.coordinate(1), N.z)
  B:orient_axis(A, me.coordinate(2), A.z)
  C:orient_axis(B, me.coordinate(3), B.z)
  local P1, P2, P3, P4 = me.Point "P1", me.Point "P2", me.Point "P3", me.Point "P4"
  P2:set_pos(P1, la * A.x)
  P3:set_pos(P2, lb * B.x)
  P4:set_pos(P3, lc * C.x)
  local sys = me.system { coordinates = 3, frame = N, origin = P1, gravity = { 0, -g, 0 },
    compile = opt.compile == "yes" or opt.compile == "auto" and compile or false }
  sys:particle { mass = m, position = P2 }
  sys:particle { mass = m, position = P3 }
  local gap = P4:pos_from(P1) - ln * N.x
  sys:constraint { name = "loop", f = { gap:dot(N.x), gap:dot(N.y) } }
  return sys, { start[1], start[2], start[3] }
end

function positions.ivp()
  return integrate(linkage():kane { dependent = { 2, 3 } }.f)
end

function positions.ivp_fsolve()
  local sys, q0 = linkage()
  local ode = sys:embedded { q0 = q0, independent = { 1 } }
  local at, work = integrate(ode.f, ode.y0)
  return function(k)
    local p, u = at(k)
    local q = ode:expand(ts[k], { p, u })
    return q[1], q[2], q[3], u
  end, work
end

function positions.dae()
  local sys, q0 = linkage(true)
  local sol = sys:solve_dae(ts, { q0 = q0, index = 2, stabilised = true, rtol = opt.rtol, atol = opt.atol })
  if not sol.success then error(sol.message, 0) end
  return function(k) return sol.q[k][1], sol.q[k][2], sol.q[k][3], sol.v[k][1] end, sol.stats.steps .. " steps"
end

-- The mass matrix must be regular. No mass moves with q3, so q3 is left out, and P3 is kept lc away from (ln, 0).
local function without_q3()
  local me = ns.mechanics
  local sys = me.system { coordinates = 2, gravity = { 0, -g } }
  local function P2(_, q) return { la * cos(q[1]), la * sin(q[1]) } end
  local function P3(t, q)
    local x, b = P2(t, q), q[1] + q[2]
    return { x[1] + lb * cos(b), x[2] + lb * sin(b) }
  end
  sys:particle { mass = m, position = P2 }
  sys:distance(sys:particle { mass = m, position = P3 }, nil, sys.ground, { ln, 0 }, lc)
  return sys
end

-- Runs a simulation and keeps one row in so many; q3 continues without jumps.
local function angles(make, every)
  local ds, bar = without_q3():lagrangian { q0 = { start[1], start[2] } }
  local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(bar, ds)
  local sol, last = make(nsds):run(), start[3]
  return function(k)
    local p, q, u = table.unpack(sol.x[(k - 1) * every + 1]:totable(), 1, 3)
    local x, y = la * cos(p) + lb * cos(p + q), la * sin(p) + lb * sin(p + q)
    local r = math.atan(-y, ln - x) - p - q
    last = r + 2 * math.pi * math.floor((last - r) / (2 * math.pi) + 0.5)
    return p, q, last, u
  end
end

function positions.moreau()
  local every = math.max(1, math.ceil(ts[2] / opt.h - 1e-9))
  return angles(function(nsds)
    return ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, ts[2] / every), ns.MoreauJeanOSI(0.5))
  end, every), every * (#ts - 1) .. " steps"
end

function positions.events()
  return angles(function(nsds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(ts), ns.RungeKuttaOSI(opt.rtol, opt.atol))
  end, 1), "the method of order 8"
end

-- ---- the run ----

-- The rows of a method, its cost, the largest closing error of the loop, the largest relative change of the energy.
local function run(method)
  local at, work = (opt.form == "written" and methods or positions)[method]()
  local rows, worst, drift, first = {}, 0, 0, energy(table.unpack(start))
  for k = 1, #ts do
    local p, q, r, u = at(k)
    local cx, cy = loop(p, q, r)
    rows[k] = { ts[k], p, q, r, u, cx, cy, energy(p, q, r, u) }
    worst = math.max(worst, math.abs(cx), math.abs(cy))
    drift = math.max(drift, math.abs(rows[k][8] / first - 1))
  end
  return rows, work, worst, drift
end

-- ---- pictures ----

local function column(rows, j, factor)
  local values = {}
  for k, row in ipairs(rows) do values[k] = row[j] * (factor or 1) end
  return values
end

-- Angles, speed, closing error of the loop and change of the energy over time.
local function panels(method, rows)
  return function(plot)
    local t, degrees, first = column(rows, 1), 180 / math.pi, nil
    local fig = plot.figure { figsize = { 9, 8 }, title = ("Four-bar linkage: %s"):format(method:gsub("_", " + ")) }
    local function panel(i, label)
      local ax = fig:subplot(4, 1, i, { sharex = first })
      first = first or ax
      return ax:ylabel(label)
    end
    local top = panel(1, "angle [deg]")
    for i = 1, 3 do top:plot(t, column(rows, i + 1, degrees), { label = ("$q_%d$"):format(i) }) end
    top:legend { loc = "outside" }
    panel(2, "$u_1$ [deg/s]"):plot(t, column(rows, 5, degrees))
    panel(3, "distance [m]"):plot(t, column(rows, 6), { label = "along $x$" })
      :plot(t, column(rows, 7), { label = "along $y$" }):legend { loc = "outside" }
    local change = {}
    for k, row in ipairs(rows) do change[k] = row[8] - rows[1][8] end
    panel(4, "$E - E_0$ [J]"):plot(t, change):xlabel "$t$ [s]"
    return fig
  end
end

-- u1 of all methods, and the difference from `dae`.
local function comparison(runs, list)
  return function(plot)
    local fig = plot.figure { figsize = { 9, 6.5 }, title = "Four-bar linkage: $u_1$ by five methods" }
    local above = fig:subplot(2, 1, 1):ylabel "$u_1$ [rad/s]"
    local below = fig:subplot(2, 1, 2, { sharex = above }):ylabel "away from dae [rad/s]":xlabel "$t$ [s]"
    below:yscale "log"
    for i, method in ipairs(list) do
      local style = { label = method:gsub("_", " + "), color = ("C%d"):format(i - 1) }
      above:plot(column(runs[method], 1), column(runs[method], 5), style)
      if method ~= "dae" then
        local away = {}
        for k, row in ipairs(runs[method]) do away[k] = math.abs(row[5] - runs.dae[k][5]) end
        below:plot(column(runs.dae, 1), away, style)
      end
    end
    above:legend { loc = "outside" }
    return fig
  end
end

local function compare()
  local runs, list, figures = {}, { "ivp", "ivp_fsolve", "dae", "moreau", "events" }, {}
  print(("%-10s  %-22s  %-7s  %-7s  at t = %g: q1, u1"):format("method", "work", "loop", "energy", opt.T))
  for _, method in ipairs(list) do
    local rows, work, worst, drift = run(method)
    runs[method], figures[method] = rows, panels(method, rows)
    print(("%-10s  %-22s  %.1e  %.1e  %.9f  %.9f"):format(method, work, worst, drift, rows[#rows][2], rows[#rows][5]))
  end
  figures.comparison = comparison(runs, list)
  pictures.draw(opt.plot, figures)
end

if opt.method == "all" then
  if opt.csv then error("--csv goes with one method", 0) end
  if opt.animate then error("--animate goes with one method", 0) end
  return compare()
end
local rows, work, worst, drift = run(opt.method)
print(("%s, rtol %g, %s: the loop is closed to %.1e, the energy kept to %.1e of itself"):format(
  opt.method, opt.rtol, work, worst, drift))
print(("at t = %g: q1 = %.9f, q2 = %.9f, q3 = %.9f, u1 = %.9f"):format(table.unpack(rows[#rows], 1, 5)))
options.save_csv(opt.csv, { "t", "q1", "q2", "q3", "u1", "con_x", "con_y", "energy" }, rows)

-- ---- the linkage in motion ----

local function draw(row, canvas)
  local a, b = row[2], row[2] + row[3]
  local x2, y2 = la * cos(a), la * sin(a)
  local x3, y3 = x2 + lb * cos(b), y2 + lb * sin(b)
  local px, py = x2 + lb / 2 * cos(b) - 0.5 * sin(b), y2 + lb / 2 * sin(b) + 0.5 * cos(b) -- a point of the coupler
  canvas:trace("coupler", px, py, { color = "orange", linewidth = 2.5 })
  canvas:polygon({ { x2, y2 }, { px, py }, { x3, y3 } }, { fill = "sky", alpha = 0.3 })
  canvas:line(0, 0, x2, y2, { color = "blue", linewidth = 8 })
  canvas:line(x2, y2, x3, y3, { color = "sky", linewidth = 8 })
  canvas:line(x3, y3, ln, 0, { color = "green", linewidth = 8 })
  canvas:point(px, py, { color = "orange", size = 12 })
  for _, p in ipairs { { 0, 0 }, { x2, y2 }, { x3, y3 }, { ln, 0 } } do
    canvas:point(p[1], p[2], { fill = "paper", color = "ink", size = 13 })
  end
end

local function pedestal(canvas, x)
  canvas:polygon({ { x, 0 }, { x - 0.13, -0.22 }, { x + 0.13, -0.22 } }, { fill = "faint", color = "muted" })
  canvas:ground(x - 0.28, -0.22, x + 0.28, -0.22, { color = "muted" })
end

if opt.animate then
  local u1 = {}
  for k, row in ipairs(rows) do u1[k] = row[5] end
  ns.animation {
    file = opt.animate, title = "Four-bar linkage", frames = rows, times = ts, draw = draw,
    background = function(canvas)
      pedestal(canvas, 0)
      pedestal(canvas, ln)
    end,
    plot = { panels = { { ylabel = "u1", { label = "speed of the first link", y = u1 } } } },
  }
  print(("written: an animation of %d frames to %s"):format(#rows, opt.animate))
end

pictures.draw(opt.plot, { [opt.method] = panels(opt.method, rows) })
