-- An elastic bar of length L that flies at a rigid wall with the velocity -v0:
--
--   rho S w_tt = E S w_xx,     S = 1, ends free but for the wall:  0 <= w(0, t) + gap _|_ lambda >= 0
--
-- A compression wave runs with c = sqrt(E / rho) from the wall to the free end and returns as a tension wave: the bar
-- stays at the wall for 2 L / c, with the force rho S c v0, and leaves as a whole with +v0, without vibration.
--
-- N linear finite elements, mass lumped at the nodes: M w'' + K w = H' lambda, one LagrangianLinearTIDS with sparse
-- M and K. Restitution e = 0 at the node that touches: the bar rebounds by its elasticity alone. At the impact the
-- node loses its kinetic energy, 1 / (2 N) of the bar's; with theta = 1/2 nothing else is lost.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "An elastic bar and a rigid wall. Without --csv and --plot nothing is written.",
  { "N", default = 100, min = 1, max = 10000, help = "number of elements" },
  { "theta", default = 0.5, min = 0.5, max = 1, help = "weight of the end of a step" },
  { "h", default = 1e-3, min = 1e-7, max = 1, help = "length of a step" },
  { "T", default = 4, above = 0, max = 100, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.option,
})
local N = opt.N // 1
local L, E, rho, v0, gap = 1, 1, 1, 0.1, 0.05
local l = L / N

local inside, off = ns.ones(N + 1), -ns.ones(N) -- the diagonals of M and K without their factors
inside[1], inside[N + 1] = 0.5, 0.5
local M = ns.spdiags({ rho * l * inside }, { 0 }, N + 1)
local K = ns.spdiags({ E / l * off, 2 * E / l * inside, E / l * off }, { -1, 0, 1 }, N + 1)
local bar = ns.LagrangianLinearTIDS(ns.zeros(N + 1), -v0 * ns.ones(N + 1), M, K)
local first = ns.zeros(1, N + 1)
first[1][1] = 1
local wall = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR(first, { gap }))
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(bar)
nsds:link(wall, bar)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(opt.theta), ns.LCP())

local points = {} -- nodes whose ways are drawn
for i = 0, math.min(N, 10) do points[i + 1] = 1 + math.floor(i * N / math.min(N, 10) + 0.5) end
local ways = {}
local rows, first_contact, last_contact, impulse = {}, nil, nil, 0
local function record(k, t, p)
  local q, v = bar:q(), bar:velocity()
  local mean, energy = 0, simu:energy()
  for i = 1, N + 1 do mean = mean + inside[i] * v[i] / N end
  rows[#rows + 1] = { k, t, gap + q[1], q[N + 1], v[1], v[N + 1], mean, p / opt.h, energy.total, energy.impacts }
  if not opt.plot then return end
  local way = {}
  for i, node in ipairs(points) do way[i] = q[node] end
  ways[#ways + 1] = way
end
record(0, 0, 0)
for k, t in simu:steps() do
  local p = wall:lambda(1)[1]
  record(k, t, p)
  if p > 0 then first_contact, last_contact, impulse = first_contact or t, t, impulse + p end
end
local last, energy = rows[#rows], simu:energy()

print(("N = %d, theta = %g, h = %g, %d steps"):format(N, opt.theta, opt.h, #rows - 1))
if first_contact then
  print(("at the wall from %.6g to %.6g: %.6g; 2 L / c = %.6g"):format(
    first_contact, last_contact, last_contact - first_contact, 2 * L / math.sqrt(E / rho)))
end
print(("momentum: %.8g of %.8g, the wall gave %.8g"):format(rho * L * last[7], -rho * L * v0, impulse))
print(("energy: %.8g of %.8g, impacts took %.3g, the scheme %.3g"):format(
  last[9], rows[1][9], math.max(0, -energy.impacts), math.max(0, -energy.numerical)))

options.save_csv(opt.csv, { "k", "t", "gap", "w_end", "v_wall", "v_end", "v_mean", "force", "energy", "impacts" },
  rows)

-- ---- pictures ----

-- The paths of eleven points of the bar, which the wave reaches one after the other; velocities; the wall's force.
pictures.draw(opt.plot, { run = function(plot)
  local fig, t = plot.figure { figsize = { 11, 6 }, title = ("An elastic bar and a wall, %d elements"):format(N) },
    pictures.column(rows, 2)
  local space = fig:subplot(3, 2, { 1, 5 }):xlabel "$t$":ylabel "position, wall at 0"
  for i = 1, #points do
    local way = {}
    for k, w in ipairs(ways) do way[k] = gap + (points[i] - 1) * l + w[i] end
    space:plot(t, way, { color = "C0", linewidth = 1 })
  end
  space:axhline(0, { color = "k", linewidth = 2 })
  local top = fig:subplot(3, 2, 2):plot(t, pictures.column(rows, 5), { label = "at the wall", linewidth = 1 })
  top:plot(t, pictures.column(rows, 6), { label = "free end", linewidth = 1 })
    :plot(t, pictures.column(rows, 7), "k--", { label = "mean" }):ylabel "velocity":legend { loc = "lower right" }
  fig:subplot(3, 2, 4, { sharex = top }):plot(t, pictures.column(rows, 8), { linewidth = 1 }):ylabel "force"
    :axhline(rho * math.sqrt(E / rho) * v0, { linestyle = "--" })
  fig:subplot(3, 2, 6, { sharex = top }):plot(t, pictures.column(rows, 9)):ylabel "energy":xlabel "$t$"
  return fig
end })
