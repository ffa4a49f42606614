-- A ball that rolls on a plane, with Coulomb's friction and rolling resistance. It has the radius R and the mass m:
--
--   m x_i'' = -m g e_z + r,   I w' = moment of r about the centre + M,   I = 2 m R^2 / 5,
--   0 <= gap _|_ r_n >= 0,   |r_t| <= mu r_n,   |M| <= mu_r r_n against the rolling (mu_r is a length),
--
-- by the law NewtonImpactRollingFrictionNSL and the scheme of Moreau and Jean, which is exact here, as velocities
-- change evenly. A ball that slides first, with the velocity v and without spin, has
--
--   v' = -mu g,   w' R = 5 (mu - mu_r / R) g / 2   until w R = v, at T1 = v / (mu g + 5 (mu - mu_r / R) g / 2),
--   v' = -5 mu_r g / (7 R)                         until it rests, at T2 = T1 + v(T1) 7 R / (5 mu_r g).
--
-- The script prints the largest differences from this over all steps, for the velocity and for the place.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A ball with rolling resistance. Without --animate and --plot nothing is written.",
  { "R", default = 0.1, above = 0, help = "radius" },
  { "v", default = 1, min = 0, help = "velocity at the start" },
  { "spin", default = 1, min = 0, max = 1, help = "1: it rolls at the start, 0: it slides without spin" },
  { "mu", default = 0.3, above = 0, help = "coefficient of friction" },
  { "mu_r", default = 2e-3, min = 0, help = "coefficient of rolling friction, a length" },
  { "h", default = 1e-2, min = 1e-5, max = 0.1, help = "length of a step" },
  { "T", default = 9, above = 0, max = 1000, help = "end of the run" },
  pictures.space, pictures.option,
})
local g, m, R = 9.81, 1, opt.R
local grip = opt.mu * g
local gain = 2.5 * (opt.mu - opt.mu_r / R) * g -- of the velocity of the surface, while it slides
if opt.mu_r >= opt.mu * R then error("mu_r: expected a length below mu R: the ball would slide without end", 0) end

local ball = ns.NewtonEulerDS({ 0, 0, R, 1, 0, 0, 0 }, { opt.v, 0, 0, 0, opt.spin * opt.v / R, 0 }, m,
  0.4 * m * R * R * ns.eye(3))
ball:setFExtPtr { 0, 0, -m * g }
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(ball)
local contacts = ns.contact.space {
  nsds = nsds, law = ns.NewtonImpactRollingFrictionNSL(0, 0, opt.mu, opt.mu_r, 5), reach = R / 2,
}
contacts:add_sphere(ball, R)
contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
contacts:update()
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5))

-- The velocity and the place in closed form.
local slide = (1 - opt.spin) * opt.v / (grip + gain)
local after, decline = opt.v - grip * slide, 5 * opt.mu_r * g / (7 * R)
local rest = opt.mu_r > 0 and slide + after / decline or math.huge
local function exact(t)
  if t < slide then return opt.v - grip * t, opt.v * t - grip * t * t / 2 end
  local s = math.min(t, rest) - slide
  return after - decline * s, opt.v * slide - grip * slide ^ 2 / 2 + after * s - decline * s * s / 2
end

local recorder = contacts:recorder { fps = 30 }
recorder:add(0)
local q, v = ball:q(), ball:velocity()
local rows, error_v, error_x = { { 0, 0, opt.v, opt.spin * opt.v, 0 } }, 0, 0
for k, t in simu:steps() do
  contacts:update()
  recorder:add(t)
  local speed, place = exact(t)
  error_v, error_x = math.max(error_v, math.abs(v[1] - speed)), math.max(error_x, math.abs(q[1] - place))
  rows[#rows + 1] = { k, t, v[1], R * v[5], q[1] }
end
print(("it slides until t = %.6g and rolls until t = %.6g, with the deceleration %.12g"):format(slide, rest, decline))
print(("largest errors: velocity %.2e, place %.2e"):format(error_v, error_x))

pictures.draw(opt.plot, { run = function(plot)
  local t = pictures.column(rows, 2)
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 5 }, sharex = true })
  axes[1]:plot(t, pictures.column(rows, 3), { label = "centre" })
  axes[1]:plot(t, pictures.column(rows, 4), { label = "surface", linestyle = "dashed" }):ylabel "velocity":legend()
  axes[1]:title "A ball with rolling resistance"
  axes[2]:plot(t, pictures.column(rows, 5)):ylabel "$x$":xlabel "$t$"
  return fig
end }, { ball = { recorder } })

pictures.animate_space(opt.animate, recorder, { title = "A ball with rolling resistance" })
