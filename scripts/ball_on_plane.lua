-- A ball thrown along a plane without spin, with friction: it slides, is turned by friction, and then rolls.
--
--   m v' = -m g e_z + r,     (2/5) m R^2 w' = (-R e_z) x r,
--   r = (r_n, r_x, r_y) in Coulomb's cone,     0 <= z - R _|_ r_n >= 0
--
-- While it slides its velocity falls by mu g t and R w rises by (5/2) mu g t. Both become equal at
--
--   t = 2 v0 / (7 mu g),  v = 5/7 v0,     after the distance 12 v0^2 / (49 mu g)
--
-- and from then on it rolls without friction.
--
-- A NewtonEulerDS: coordinates (position, quaternion), velocities (of the center; angular, in the body's frame). Its
-- relation, a NewtonEuler3DR of a sphere and a plane, gives the gap z - R and the velocities of the contact point
-- along z, x and y: v_z, v_x - R w_y, v_y + R w_x.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A ball that slides and then rolls. Without --csv and --plot nothing is written.",
  { "v", default = 2, help = "velocity at the start, in x" },
  { "spin", default = 0, help = "R times the angular velocity about y at the start" },
  { "side", default = 0, help = "R times the angular velocity about x at the start" },
  { "mu", default = 0.2, min = 0, help = "coefficient of friction" },
  { "R", default = 0.1, above = 0, help = "radius" },
  { "h", default = 1e-3, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 1, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.option,
})
local m, g, R, v0 = 1, 9.81, opt.R, opt.v
local I = 2 / 5 * m * R ^ 2

local ball = ns.NewtonEulerDS({ 0, 0, R, 1, 0, 0, 0 }, { v0, 0, 0, opt.side / R, opt.spin / R, 0 }, m, I * ns.eye(3))
ball:setFExtPtr { 0, 0, -m * g }
local law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3)
local contact = ns.Interaction(law, ns.contact.sphere_plane(R, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })))
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(ball)
nsds:link(contact, ball)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.FrictionContact(3))

local start = simu:energy()
local names = { "k", "t", "x", "y", "z", "vx", "vy", "vz", "slip_x", "slip_y", "rn", "rx", "ry", "energy" }
local rows, rolls = {}, nil
for k, t in simu:steps() do
  local q, v, u, r = ball:q(), ball:velocity(), contact:y(1), contact:lambda(1) / opt.h
  rows[#rows + 1] = { k, t, q[1], q[2], q[3], v[1], v[2], v[3], u[2], u[3], r[1], r[2], r[3], simu:energy().total }
  rolls = math.sqrt(u[2] ^ 2 + u[3] ^ 2) < 1e-9 and (rolls or t) or nil
end
local energy, last = simu:energy(), rows[#rows]

print(("mu = %g, h = %g, %d steps"):format(opt.mu, opt.h, #rows))
print(rolls and ("rolls from %.6g on"):format(rolls) or "still slides")
print(("at the end: x = %.10g, v = (%.10g, %.10g)"):format(last[3], last[6], last[7]))
print(("energy: %.10g at the start, %.10g at the end, friction took %.10g"):format(
  start.total, energy.total, math.max(0, -energy.friction)))

options.save_csv(opt.csv, names, rows)

-- ---- pictures ----

-- Velocity and R w_y, which become equal when the ball begins to roll; friction within its bounds; energy.
pictures.draw(opt.plot, { run = function(plot)
  local t, vx, spin, bound = pictures.column(rows, 2), pictures.column(rows, 6), {}, {}
  for i, row in ipairs(rows) do spin[i], bound[i] = row[6] - row[9], opt.mu * row[11] end
  local fig = plot.figure { figsize = { 7, 6.5 }, title = ("A ball on a plane, $\\mu = %g$"):format(opt.mu) }
  local top = fig:subplot(3, 1, 1):plot(t, vx, { label = "$v_x$" }):plot(t, spin, { label = "$R\\omega_y$" })
  top:ylabel "velocity [m/s]":xlim(0, opt.T):legend()
  if rolls then top:axvline(rolls, { linestyle = ":" }) end
  fig:subplot(3, 1, 2, { sharex = top }):fill_between(t, bound, pictures.column(rows, 11, -opt.mu),
    { color = "C4", alpha = 0.2, label = "within $\\mu r_n$" }):plot(t, pictures.column(rows, 12), { color = "C0" })
    :ylabel "friction [N]":legend { loc = "lower right" }
  fig:subplot(3, 1, 3, { sharex = top }):plot(t, pictures.column(rows, 14)):ylabel "energy [J]":xlabel "$t$ [s]"
  return fig
end })
