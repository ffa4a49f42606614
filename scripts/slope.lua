-- A particle on a slope of angle alpha in space, with Coulomb's friction:
--
--   m q'' = m (0, 0, -g) + n r_n + s r_s + c r_c,     0 <= n.q _|_ r_n >= 0,
--   (r_s, r_c) = -mu r_n u / |u| if it slips, with the velocity u = (s.q', c.q'), else |(r_s, r_c)| <= mu r_n
--
-- with n the normal of the slope, s down and c across it. From rest it stays at rest when tan(alpha) <= mu; else it
-- has the constant acceleration g (sin(alpha) - mu cos(alpha)). When it is pushed across (--across), its velocity
-- turns: with tan(alpha) = mu, the sum of the speed and of the velocity down the slope is constant, so that in the
-- end it goes straight down with half of its initial speed.
--
-- The contact is one interaction of three rows, NewtonImpactFrictionNSL(en, et, mu, 3); each step solves a problem
-- over Coulomb's cone, not over a pyramid: friction is the same in all directions.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A particle on a slope. Without --csv and --plot nothing is written.",
  { "alpha", default = 30, min = 0, max = 89, help = "angle of the slope, in degrees" },
  { "mu", default = 0.3, min = 0, help = "coefficient of friction" },
  { "down", default = 0, help = "velocity down the slope at the start" },
  { "across", default = 0, help = "velocity across the slope at the start" },
  { "h", default = 1e-2, min = 1e-6, max = 1, help = "length of a step" },
  { "T", default = 2, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.option,
})
local m, g = 2, 9.81
local sin, cos = math.sin(math.rad(opt.alpha)), math.cos(math.rad(opt.alpha))
local axes = ns.matrix { { sin, 0, cos }, { cos, 0, -sin }, { 0, 1, 0 } } -- rows n, s, c

local v0 = axes:transpose() * ns.vector { 0, opt.down, opt.across }
local particle = ns.LagrangianLinearTIDS({ 0, 0, 0 }, v0, m * ns.eye(3))
particle:setFExtPtr { 0, 0, -m * g }
local law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3)
local contact = ns.Interaction(law, ns.LagrangianLinearTIR(axes))
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(particle)
nsds:link(contact, particle)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.FrictionContact(3))

local start = simu:energy()
local rows = { { 0, 0, 0, 0, 0, 0, opt.down, opt.across, 0, 0, 0 } }
for k, t in simu:steps() do
  local y, u, r = axes * particle:q(), axes * particle:velocity(), contact:lambda(1) / opt.h
  rows[#rows + 1] = { k, t, y[1], y[2], y[3], u[1], u[2], u[3], r[1], r[2], r[3] }
end
local energy = simu:energy()
local last = rows[#rows]

print(("alpha = %g, tan(alpha) = %.6g, mu = %g, h = %g, %d steps"):format(
  opt.alpha, sin / cos, opt.mu, opt.h, #rows - 1))
print(("way down %.10g, across %.10g; velocity down %.10g, across %.10g"):format(last[4], last[5], last[7], last[8]))
print(("energy: %.10g at the start, %.10g at the end, friction took %.10g"):format(
  start.total, energy.total, math.max(0, -energy.friction)))

options.save_csv(opt.csv, { "k", "t", "gap", "s", "c", "vn", "vs", "vc", "rn", "rs", "rc" }, rows)

-- ---- pictures ----

-- The path in the plane of the slope, seen from above it; velocities; friction within mu times the normal force.
pictures.draw(opt.plot, { run = function(plot)
  local column = function(j) return pictures.column(rows, j) end
  local fig, t = plot.figure { figsize = { 11, 5 },
    title = ("A particle on a slope: $\\alpha = %g$°, $\\mu = %.4g$"):format(opt.alpha, opt.mu) }, column(2)
  local down = pictures.column(rows, 4, -1)
  fig:subplot(2, 2, { 1, 3 }):plot(column(5), down):scatter({ 0 }, { 0 }, { s = 16, c = "k", label = "start" })
    :axis "equal":xlabel "across":ylabel "up the slope":title "path":legend()
  local speed, friction, bound = {}, {}, {}
  for i, row in ipairs(rows) do
    speed[i] = math.sqrt(row[7] ^ 2 + row[8] ^ 2)
    if i > 1 then
      friction[i - 1], bound[i - 1] = math.sqrt(row[10] ^ 2 + row[11] ^ 2), opt.mu * row[9]
    end
  end
  local above = fig:subplot(2, 2, 2):plot(t, column(7), { label = "down" }):plot(t, column(8), { label = "across" })
  above:plot(t, speed, "k--", { label = "speed" }):ylabel "velocity":legend()
  fig:subplot(2, 2, 4, { sharex = above }):plot({ table.unpack(t, 2) }, friction, { label = "friction" })
    :plot({ table.unpack(t, 2) }, bound, "k--", { label = "$\\mu r_n$" }):ylabel "force":xlabel "$t$"
    :ylim(0, math.max(1, 1.2 * bound[1])):legend { loc = "lower right" }
  return fig
end })
