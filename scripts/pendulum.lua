-- A pendulum, a unit mass on a rod of unit length (g = 10), that hits a wall through the point below its hinge:
--
--   q'' + 10 sin q = cos(q) lambda,     0 <= x = sin q _|_ lambda >= 0,     x' after = -e x' before an impact
--
-- from q(0) = q0 at rest. It first hits the wall after a quarter of its period, K(sin(q0 / 2)) / sqrt(10). An impact
-- leaves e^2 of the energy above the lowest point.
--
-- Moreau and Jean's scheme with the force and the gap given by their formulas alone: their Jacobians, for Newton's
-- method in each step, come from evaluating the callbacks with dual numbers. --newton full iterates until the
-- equations hold to rounding; --newton one makes one iteration a step, with the Jacobians at q_k + h v_k.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A pendulum and a wall. Without --csv, --animate and --plot nothing is written.",
  { "q0", default = 1, above = 0, max = 3, help = "angle at the start" },
  { "e", default = 0.9, min = 0, max = 1, help = "restitution" },
  { "newton", default = "full", choices = { "full", "one" }, help = "Newton iterations of a step" },
  { "theta", default = 0.5, min = 0.5, max = 1, help = "weight of the end of a step" },
  { "h", default = 5e-4, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 5, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local sin, cos = math.sin, math.cos

local pendulum = ns.LagrangianDS {
  q0 = { opt.q0 },
  v0 = { 0 },
  fInt = function(_, q, _, _, f) f[1] = 10 * sin(q[1]) end,
}
pendulum:setComputePotentialFunction(function(q, _, energy) energy[1] = 10 * (1 - cos(q[1])) end)
local wall = ns.Interaction(ns.NewtonImpactNSL(opt.e), ns.LagrangianScleronomousR {
  h = function(q, _, y) y[1] = sin(q[1]) end,
})
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(pendulum)
nsds:link(wall, pendulum)
local osi = ns.MoreauJeanOSI(opt.theta)
osi:setLinearlyImplicit(opt.newton == "one")
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), osi, ns.LCP())

local rows, impacts = {}, {}
local function record(k, t)
  local q, w = pendulum:q()[1], pendulum:velocity()[1]
  rows[#rows + 1] = { k, t, q, w, sin(q), -cos(q), cos(q) * w }
end
record(0, 0)
local before = simu:energy()
for k, t in simu:steps() do
  record(k, t)
  local after = simu:energy()
  if wall:lambda(1)[1] > 0 then impacts[#impacts + 1] = { t, pendulum:velocity()[1], before.total, after.total } end
  before = after
end

print(("e = %g, h = %g, %d steps (%s): %d impacts\n"):format(opt.e, opt.h, #rows - 1, opt.newton, #impacts))
print "         t       w after     energy before      energy after       ratio"
for i = 1, math.min(8, #impacts) do
  local t, w, one, other = table.unpack(impacts[i])
  print(("%10.6g %13.8g %17.10g %17.10g %11.6g"):format(t, w, one, other, other / one))
end

if opt.csv then
  options.write_csv(opt.csv, { "row", "t", "q", "w", "x", "y", "vx" }, rows)
  print(("\nwritten: %d rows to %s"):format(#rows, opt.csv))
end

-- ---- pictures ----

-- The angle and the energy over time, and the plane of angle and velocity.
pictures.draw(opt.plot, { run = function(plot)
  local title = ("A pendulum and a wall, $e = %g$"):format(opt.e)
  local fig, t, energy = plot.figure { figsize = { 11, 5 }, title = title },
    pictures.column(rows, 2), {}
  for i, row in ipairs(rows) do energy[i] = row[4] ^ 2 / 2 + 10 * (1 - cos(row[3])) end
  local above = fig:subplot(2, 2, 1):plot(t, pictures.column(rows, 3)):ylabel "angle $q$"
  fig:subplot(2, 2, 3, { sharex = above }):plot(t, energy):ylabel "energy":xlabel "$t$"
  fig:subplot(2, 2, { 2, 4 }):plot(pictures.column(rows, 3), pictures.column(rows, 4)):axvline(0, { color = "k" })
    :xlabel "$q$":ylabel "$q'$"
  return fig
end })

pictures.animate(opt.animate, function()
  return {
    frames = pictures.frames(rows, 60), title = ("A pendulum and a wall, e = %g"):format(opt.e),
    background = function(canvas) canvas:ground(0, 0, 0, -1.2) end,
    draw = function(row, canvas)
      canvas:line(0, 0, row[5], row[6], { linewidth = 4, color = "blue" })
      canvas:point(row[5], row[6], { size = 24, fill = "orange", color = "ink" })
      canvas:point(0, 0, { size = 12, fill = "paper", color = "ink" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "angle", { label = "q", y = pictures.column(rows, 3) } },
      { ylabel = "velocity", { label = "w", y = pictures.column(rows, 4) } } } },
  }
end)
