-- A link of length l and mass m, pinned to the ground at its end. Coordinates: q = (x, y, theta), its centre and
-- angle; theta is independent. Constraints:
--
--   C(q, t) = (x, y) + A(theta) (-l / 2, 0) - (xA, 0) = 0.
--
-- By the embedding technique, q = (q_d, q_i): with B = (-C_qd^-1 C_qi, 1), gamma = (-C_qd^-1 (C_q q')_q q', 0),
--
--   B' M B theta'' + B' M gamma - B' Q = 0,    M = diag(m, m, m l^2 / 12),    Q = (0, -m g, 0).
--
-- For one link B' M gamma = 0, though gamma is not 0, and the equation is theta'' = -(3 g / 2 l) cos theta.
--
-- --method embedding  these equations line by line, with q from C = 0 by fsolve in every evaluation
--          positions  the same from the positions alone, by ns.mechanics
--          dae3, dae2, dae1  the differential-algebraic equations of index 3, 2 (stabilised) and 1
--          events     a mechanical system with bilateral constraints, by the explicit method of order 8
--
-- The link starts level, at rest.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A link on a pin by the embedding technique. Without --csv, --animate and --plot nothing is written.",
  { "method", default = "embedding", choices = { "embedding", "positions", "dae3", "dae2", "dae1", "events" },
    help = "see the header" },
  { "rtol", default = 1e-10, min = 1e-13, max = 0.1, help = "relative tolerance" },
  { "atol", default = 1e-12, above = 0, help = "absolute tolerance" },
  { "T", default = 4, above = 0, max = 1000, help = "end of the run" },
  { "points", default = 50, min = 2, max = 1e6, help = "number of times, equally spaced from 0 to T" },
  { "csv", value = "FILE", help = "write t, theta, omega, the centre, the energy and the error of the pin there" },
  { "animate", value = "FILE", help = "write the link in motion there (.html, .gif, .mp4)",
    endings = { "html", "gif", "mp4" } },
  pictures.option,
})

local xA, m, l, g = 0, 0.1, 1, 9.81
local ts = ns.linspace(0, opt.T, math.floor(opt.points))
local integrator = { t_eval = ts, rtol = opt.rtol, atol = opt.atol, method = "DOP853" }

-- ---- the embedding technique, line by line ----

-- The matrix from the axes of a body at the angle theta to those of the ground, and its derivative by theta.
local function rotA(theta)
  return ns.matrix { { math.cos(theta), -math.sin(theta) }, { math.sin(theta), math.cos(theta) } }
end

local function A_theta(theta)
  return ns.matrix { { -math.sin(theta), -math.cos(theta) }, { math.cos(theta), -math.sin(theta) } }
end

local function C_link(q)
  return q(1, 2) + rotA(q[3]) * ns.vector { -l / 2, 0 } - ns.vector { xA, 0 }
end

-- The Jacobian, 2 x 6, of a pin at ui of body i and uj of body j.
local function Cq_pin(qi, qj, ui, uj)
  return ns.hstack(ns.eye(2), (A_theta(qi[3]) * ui):column(), -1 * ns.eye(2), (-1 * (A_theta(qj[3]) * uj)):column())
end

local function Cq_link(q)
  return Cq_pin(q, ns.zeros(3), ns.vector { -l / 2, 0 }, ns.zeros(2)):slice(1, 2, 1, 3)
end

local function Bi_link(q)
  local Cq = Cq_link(q)
  return ns.vstack(-1 * ns.solve(Cq:slice(1, 2, 1, 2), Cq:slice(1, 2, 3, 3)), ns.eye(1))
end

local M, Q = ns.diag { m, m, m * l ^ 2 / 12 }, ns.vector { 0, -m * g, 0 }
local guess = ns.vector { xA + l / 2, 0, 0 }

-- The rates of y = (theta, theta'), and q.
local function eom_bar(_, y)
  guess[3] = y[1]
  local q = ns.fsolve(function(q) return ns.concatenate { C_link(q), { q[3] - y[1] } } end, guess,
    { xtol = 1e-14, fprime = function(q) return ns.vstack(Cq_link(q), { 0, 0, 1 }) end })
  local Bi = Bi_link(q)
  local omega = y[2]
  local bend = omega ^ 2 * (rotA(q[3]) * ns.vector { l / 2, 0 }) -- -(C_q q')_q q'
  local gamma = ns.vector { -bend[1], -bend[2], 0 }
  local Bt = Bi:transpose()
  return ns.vector { omega, ns.solve(Bt * M * Bi, Bt * (Q - M * gamma))[1] }, q
end

local function embedding()
  local sol = ns.solve_ivp(function(t, y) return (eom_bar(t, y)) end, { 0, opt.T }, { 0, 0 }, integrator)
  if not sol.success then error(sol.message, 0) end
  return function(k)
    local _, q = eom_bar(ts[k], { sol.y[1][k], sol.y[2][k] })
    return q[3], sol.y[2][k], q[1], q[2]
  end, sol.nfev .. " evaluations"
end

-- ---- from the positions alone ----

local sys = ns.mechanics.system { gravity = { 0, -g } }
local link = sys:free_body { mass = m, inertia = m * l ^ 2 / 12 }
sys:pin(link, { -l / 2, 0 }, sys.ground, { xA, 0 })
local start = { xA + l / 2, 0, 0 }

local function positions()
  local ode = sys:embedded { q0 = start, independent = { 3 } }
  local sol = ns.solve_ivp(ode.f, { 0, opt.T }, ode.y0, integrator)
  if not sol.success then error(sol.message, 0) end
  return function(k)
    local q, v = ode:expand(ts[k], { sol.y[1][k], sol.y[2][k] })
    return q[3], v[3], q[1], q[2]
  end, sol.nfev .. " evaluations"
end

local function dae(index)
  return function()
    local sol = sys:solve_dae(ts,
      { q0 = start, index = index, stabilised = index == 2, rtol = opt.rtol, atol = opt.atol })
    if not sol.success then error(sol.message, 0) end
    return function(k) return sol.q[k][3], sol.v[k][3], sol.q[k][1], sol.q[k][2] end, sol.stats.steps .. " steps"
  end
end

local function events()
  local ds, pin = sys:lagrangian { q0 = start }
  local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(pin, ds)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(ts), ns.RungeKuttaOSI(opt.rtol, opt.atol))
  local sol = simu:run()
  return function(k) return sol.x[k][3], sol.x[k][6], sol.x[k][1], sol.x[k][2] end, "the method of order 8"
end

-- ---- the run ----

local methods = { embedding = embedding, positions = positions, dae3 = dae(3), dae2 = dae(2), dae1 = dae(1),
  events = events }
local at, work = methods[opt.method]()
local rows, worst, drift = {}, 0, 0
for k = 1, #ts do
  local theta, omega, x, y = at(k)
  local cx, cy = x - l / 2 * math.cos(theta) - xA, y - l / 2 * math.sin(theta)
  local energy = m * l ^ 2 / 6 * omega ^ 2 + m * g * l / 2 * math.sin(theta)
  rows[k] = { ts[k], theta, omega, x, y, energy, cx, cy }
  worst = math.max(worst, math.abs(cx), math.abs(cy))
  drift = math.max(drift, math.abs(energy))
end
print(("%s, rtol %g, %s: the pin is held to %.1e, the energy to %.1e J"):format(
  opt.method, opt.rtol, work, worst, drift))
print(("at t = %g: theta = %.12f, omega = %.12f"):format(table.unpack(rows[#rows], 1, 3)))
options.save_csv(opt.csv, { "t", "theta", "omega", "Rx", "Ry", "energy", "con_x", "con_y" }, rows)

-- ---- the link in motion, and pictures ----

local function column(j, factor)
  local values = {}
  for k, row in ipairs(rows) do values[k] = row[j] * (factor or 1) end
  return values
end

if opt.animate then
  ns.animation {
    file = opt.animate, title = "A link on a pin", frames = rows, times = column(1),
    background = function(canvas)
      canvas:polyline(column(4), column(5), { color = "faint", linewidth = 2 }) -- the path of the centre
      canvas:ground(xA + 0.25 * l, 0.1 * l, xA - 0.25 * l, 0.1 * l, { color = "muted" })
      canvas:polygon({ { xA, 0 }, { xA - 0.08 * l, 0.1 * l }, { xA + 0.08 * l, 0.1 * l } },
        { fill = "faint", color = "muted" })
    end,
    draw = function(row, canvas)
      local theta = row[2]
      canvas:line(xA, 0, xA + l * math.cos(theta), l * math.sin(theta), { color = "blue", linewidth = 10 })
      canvas:point(row[4], row[5], { color = "orange", size = 12 })
      canvas:point(xA, 0, { fill = "paper", color = "ink", size = 13 })
    end,
    plot = { panels = { { ylabel = "theta", { label = "angle in degrees", y = column(2, 180 / math.pi) } } } },
  }
  print(("written: an animation of %d frames to %s"):format(#rows, opt.animate))
end

pictures.draw(opt.plot, {
  theta = function(plot)
    local ax = plot.figure { figsize = { 7, 4 } }:subplot(1, 1, 1)
    ax:plot(column(1), column(2, 180 / math.pi)):title "The independent coordinate $\\theta$"
    return ax:xlabel "$t$ [s]":ylabel "angle [deg]".figure
  end,
  path = function(plot)
    local ax = plot.figure { figsize = { 6, 4 } }:subplot(1, 1, 1)
    ax:plot(column(4), column(5), "o", { markersize = 2.5 }):axis "equal":title "The path of the centre"
    return ax:xlabel "$x$ [m]":ylabel "$y$ [m]".figure
  end,
})
