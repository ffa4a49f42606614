-- Two point masses on rigid rods, one hung on the other, and a wall x = d that the lower one may not pass:
--
--   M(q) q'' + N(q, q') + G(q) = H(q)' lambda,     0 <= x_2(q) - d _|_ lambda >= 0,     restitution e
--
-- with the angles q = (q1, q2) from the vertical and D = q1 - q2,
--
--   M = [ (m1 + m2) l1^2      m2 l1 l2 cos D ]   N = [  m2 l1 l2 sin D q2'^2 ]   G = [ (m1 + m2) g l1 sin q1 ]
--       [ m2 l1 l2 cos D      m2 l2^2        ]       [ -m2 l1 l2 sin D q1'^2 ]       [ m2 g l2 sin q2        ]
--
-- A LagrangianDS with callbacks for M (mass), N (fGyr) and G (fInt), a relation with a callback for the gap: all
-- Jacobians come from dual numbers. The model is chaotic, but its energy is known: it is constant in flight, and an
-- impact takes (1 - e^2) u^2 / (2 H M^-1 H') of it, where u is the closing velocity of the gap. The scheme takes M at
-- the end of a step, M(q_{k+1}) (v_{k+1} - v_k) = ..., so its order is 1: the energy shows whether h is small enough.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A double pendulum and a wall. Without --csv, --animate and --plot nothing is written.",
  { "q1", default = 1.2, help = "upper angle at the start" },
  { "q2", default = 1.8, help = "lower angle at the start" },
  { "d", default = -0.4, help = "where the wall is; the pendulum is on its right", max = 1 },
  { "e", default = 0.8, min = 0, max = 1, help = "restitution" },
  { "h", default = 1e-3, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 5, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local m1, m2, l1, l2, g = 1, 1, 1, 0.8, 9.81
local sin, cos = math.sin, math.cos

local pendulum = ns.LagrangianDS {
  q0 = { opt.q1, opt.q2 },
  v0 = { 0, 0 },
  mass = function(q, _, M)
    local coupling = m2 * l1 * l2 * cos(q[1] - q[2])
    M[1][1], M[1][2] = (m1 + m2) * l1 ^ 2, coupling
    M[2][1], M[2][2] = coupling, m2 * l2 ^ 2
  end,
  fGyr = function(q, v, _, f)
    local s = m2 * l1 * l2 * sin(q[1] - q[2])
    f[1], f[2] = s * v[2] ^ 2, -s * v[1] ^ 2
  end,
  fInt = function(_, q, _, _, f)
    f[1], f[2] = (m1 + m2) * g * l1 * sin(q[1]), m2 * g * l2 * sin(q[2])
  end,
}
pendulum:setComputePotentialFunction(function(q, _, energy)
  energy[1] = -(m1 + m2) * g * l1 * cos(q[1]) - m2 * g * l2 * cos(q[2])
end)
local wall = ns.Interaction(ns.NewtonImpactNSL(opt.e), ns.LagrangianScleronomousR {
  h = function(q, _, y) y[1] = l1 * sin(q[1]) + l2 * sin(q[2]) - opt.d end,
})
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(pendulum)
nsds:link(wall, pendulum)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.LCP())

local rows, impacts, deepest = {}, 0, 0
local function record(k, t, p)
  local q, v = pendulum:q(), pendulum:velocity()
  local x1, y1 = l1 * sin(q[1]), -l1 * cos(q[1])
  local x2, y2 = x1 + l2 * sin(q[2]), y1 - l2 * cos(q[2])
  deepest = math.max(deepest, opt.d - x2)
  rows[#rows + 1] = { k, t, q[1], q[2], v[1], v[2], x1, y1, x2, y2, p, simu:energy().total }
end
record(0, 0, 0)
for k, t in simu:steps() do
  local p = wall:lambda(1)[1]
  if p > 0 then impacts = impacts + 1 end
  record(k, t, p)
end
local energy = simu:energy()

print(("e = %g, h = %g, %d steps: %d steps with impacts, deepest penetration %.1e"):format(
  opt.e, opt.h, #rows - 1, impacts, deepest))
print(("energy: %.10g at the start, %.10g at the end; impacts took %.10g, the scheme %.2g"):format(
  rows[1][12], energy.total, math.max(0, -energy.impacts), -energy.numerical - energy.forces))

options.save_csv(opt.csv, { "k", "t", "q1", "q2", "w1", "w2", "x1", "y1", "x2", "y2", "p", "energy" },
  rows)

-- ---- pictures ----

local function column(j)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[j] end
  return values
end

-- The paths of both masses and some of the poses; angles; energy, which falls only at the impacts.
pictures.draw(opt.plot, { run = function(plot)
  local fig, t = plot.figure { figsize = { 11, 5.5 }, title = "A double pendulum and a wall" }, column(2)
  local space = fig:subplot(2, 2, { 1, 3 })
  local every = math.max(1, math.floor(#rows / 40))
  for i = 1, #rows, every do
    local row = rows[i]
    space:plot({ 0, row[7], row[9] }, { 0, row[8], row[10] }, { color = "#C8CDD2", linewidth = 0.8 })
  end
  space:plot(column(7), column(8), { label = "upper mass" }):plot(column(9), column(10), { label = "lower mass" })
  space:axvline(opt.d, { color = "k", linewidth = 2 }):axis "equal":xlabel "$x$":ylabel "$y$"
  space:ylim(-1.1 * (l1 + l2), 0.6):legend { loc = "upper right" }
  local above = fig:subplot(2, 2, 2):plot(t, column(3), { label = "$q_1$" }):plot(t, column(4), { label = "$q_2$" })
  above:ylabel "angles":legend()
  fig:subplot(2, 2, 4, { sharex = above }):plot(t, column(12)):ylabel "energy":xlabel "$t$"
  return fig
end })

pictures.animate(opt.animate, function()
  return {
    frames = pictures.frames(rows, 60), title = "A double pendulum and a wall",
    background = function(canvas) canvas:ground(opt.d, -1.1 * (l1 + l2), opt.d, 0.3) end,
    draw = function(row, canvas)
      canvas:trace("lower", row[9], row[10], { color = "orange", linewidth = 2, seconds = 1.5 })
      canvas:line(0, 0, row[7], row[8], { color = "blue", linewidth = 5 })
      canvas:line(row[7], row[8], row[9], row[10], { color = "sky", linewidth = 5 })
      canvas:point(0, 0, { fill = "paper", color = "ink", size = 11 })
      canvas:point(row[7], row[8], { fill = "blue", color = "ink", size = 20 })
      canvas:point(row[9], row[10], { fill = "orange", color = "ink", size = 20 })
    end,
    plot = { t = column(2), panels = {
      { ylabel = "angles", { label = "q1", y = column(3) }, { label = "q2", y = column(4) } },
      { ylabel = "energy", { label = "energy", y = column(12) } } } },
  }
end)
