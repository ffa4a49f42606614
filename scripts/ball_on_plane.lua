-- A ball thrown along a plane without spin, with friction: it slides, is turned by friction, and then rolls.
--
--   m v' = -m g e_z + r,     (2/5) m R^2 w' = (-R e_z) x r,
--   r = (r_n, r_x, r_y) in Coulomb's cone,     0 <= z - R _|_ r_n >= 0
--
-- While it slides its velocity falls by mu g t and R w rises by (5/2) mu g t. They meet, whatever the way, at
--
--   t = 2 v0 / (7 mu g),  v = 5/7 v0,     after a way of 12 v0^2 / (49 mu g)
--
-- and from then on it rolls: no friction is needed any more.
--
-- A NewtonEulerDS: coordinates (position, quaternion), velocities (of the center; angular, in the body's frame).
-- Its relation gives the gap h = z - R, and rows Jachq that are to give the velocity of the contact point for a
-- motion of the coordinates q' = T(q) v. With the quaternion p, the angular velocity in space is w = 2 p' conj(p), so
-- that the rows for v_x - R w_y and v_y + R w_x have the coefficients of -R w_y and R w_x by p'.

local ns = require "nslua"
local options = require "nslua.options"

local opt = options.parse(arg, {
  about = "A ball that slides and then rolls. Without --csv nothing is written.",
  { "v", default = 2, help = "velocity at the start, in x" },
  { "spin", default = 0, help = "R times the angular velocity about y at the start" },
  { "side", default = 0, help = "R times the angular velocity about x at the start" },
  { "mu", default = 0.2, min = 0, help = "coefficient of friction" },
  { "R", default = 0.1, above = 0, help = "radius" },
  { "h", default = 1e-3, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 1, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
})
local m, g, R, v0 = 1, 9.81, opt.R, opt.v
local I = 2 / 5 * m * R ^ 2

local ball = ns.NewtonEulerDS({ 0, 0, R, 1, 0, 0, 0 }, { v0, 0, 0, opt.side / R, opt.spin / R, 0 }, m, I * ns.eye(3))
ball:setFExtPtr { 0, 0, -m * g }
local law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3)
local contact = ns.Interaction(law, ns.NewtonEulerR {
  h = function(_, q, _, y) y[1], y[2], y[3] = q[3] - R, 0, 0 end,
  Jachq = function(_, q, _, J)
    local p0, p1, p2, p3 = q[4], q[5], q[6], q[7]
    J[1][3] = 1
    J[2][1], J[3][2] = 1, 1
    -- w_y = 2 (-p2 p0' + p3 p1' + p0 p2' - p1 p3'),  w_x = 2 (-p1 p0' + p0 p1' - p3 p2' + p2 p3')
    J[2][4], J[2][5], J[2][6], J[2][7] = 2 * R * p2, -2 * R * p3, -2 * R * p0, 2 * R * p1
    J[3][4], J[3][5], J[3][6], J[3][7] = -2 * R * p1, 2 * R * p0, -2 * R * p3, 2 * R * p2
  end,
})
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

if opt.csv then
  options.write_csv(opt.csv, names, rows)
  print(("written: %d rows to %s"):format(#rows, opt.csv))
end
