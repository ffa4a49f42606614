-- Newton's cradle as beads on a line: N equal beads of radius r. The first comes with velocity 1 and meets the
-- others, which are at rest with gaps between them:
--
--   m q_i'' = lambda_{i-1} - lambda_i,     0 <= q_{i+1} - q_i - 2 r _|_ lambda_i >= 0,     u+ = -e u- for each impact
--
-- where u_i = v_{i+1} - v_i. Two laws of the same impact:
--
--   with gaps (--gap above 0) the impacts come one after the other. In each, the first bead keeps (1 - e) / 2 of its
--   velocity and the next one gets (1 + e) / 2: the last bead leaves with ((1 + e) / 2)^(N - 1). With e = 1 this is
--   the toy: the last bead takes the whole velocity. (With e = 0 the beads stay together and end with 1 / N.)
--
--   in contact (--gap 0) Newton's law holds for all contacts at once, 0 <= u+ + e u- _|_ P >= 0. The beads at rest
--   stay together: the first bead hits one body of mass N - 1 and returns, v_1 = (1 - e (N - 1)) / N, and all
--   others leave with (1 + e) / N. Both laws conserve momentum and, with e = 1, energy: so conservation does not
--   determine the motion of the toy. The waves in its beads do; like impacts with gaps, they run
--   from bead to bead.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Beads that hand on an impact. Without --csv, --animate and --plot nothing is written.",
  { "N", default = 5, min = 2, max = 100, help = "number of beads" },
  { "gap", default = 0.01, min = 0, max = 1, help = "between the beads that are at rest" },
  { "e", default = 1, min = 0, max = 1, help = "restitution" },
  { "h", default = 1e-3, min = 1e-6, max = 1, help = "length of a step" },
  { "T", default = 0.2, above = 0, max = 100, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local N, r, m = opt.N // 1, 0.05, 1

local q0, v0 = {}, {}
for i = 1, N do
  q0[i], v0[i] = (i - 1) * (2 * r + opt.gap), 0
end
q0[1], v0[1] = -0.05, 1 -- from a little farther away
local beads = ns.LagrangianLinearTIDS(q0, v0, m * ns.eye(N))

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(beads)
for i = 1, N - 1 do
  local row = ns.zeros(1, N)
  row[1][i], row[1][i + 1] = -1, 1
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(opt.e), ns.LagrangianLinearTIR(row, { -2 * r })), beads)
end
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.LCP())

local names, rows = { "k", "t" }, {}
for i = 1, N do names[2 + i], names[2 + N + i] = "q" .. i, "v" .. i end
local function record(k, t)
  local row, q, v = { k, t }, beads:q(), beads:velocity()
  for i = 1, N do row[2 + i], row[2 + N + i] = q[i], v[i] end
  rows[#rows + 1] = row
end
record(0, 0)
local start = simu:energy()
for k, t in simu:steps() do record(k, t) end
local energy = simu:energy()

local momentum, last = 0, {}
for i = 1, N do
  local v = beads:velocity()[i]
  momentum = momentum + m * v
  last[i] = ("%.6g"):format(math.abs(v) < 1e-12 and 0 or v)
end
print(("N = %d, gap = %g, e = %g, h = %g, %d steps"):format(N, opt.gap, opt.e, opt.h, #rows - 1))
print("velocities at the end: " .. table.concat(last, " "))
print(("momentum %.12g; energy %.12g of %.12g, impacts took %.6g"):format(
  momentum, energy.total, start.total, math.max(0, -energy.impacts)))

options.save_csv(opt.csv, names, rows)

-- ---- pictures ----

-- The paths of the beads and their velocities; up to seven beads are named.
pictures.draw(opt.plot, { run = function(plot)
  local fig, t = plot.figure { figsize = { 7, 6.5 },
    title = ("%d beads, gap %g, $e = %g$"):format(N, opt.gap, opt.e) }, pictures.column(rows, 2)
  local above = fig:subplot(2, 1, 1):ylabel "position":xlim(0, opt.T)
  local below = fig:subplot(2, 1, 2, { sharex = above }):ylabel "velocity":xlabel "$t$"
  for i = 1, N do
    local style = N <= 7 and { label = ("%d"):format(i) } or { linewidth = 0.8 }
    local low, high = pictures.column(rows, 2 + i), pictures.column(rows, 2 + i)
    for k = 1, #low do low[k], high[k] = low[k] - r, high[k] + r end
    above:fill_between(t, low, high, { color = ("C%d"):format(i - 1), alpha = 0.3 })
    above:plot(t, pictures.column(rows, 2 + i), { color = ("C%d"):format(i - 1), linewidth = 1 })
    style.color = ("C%d"):format(i - 1)
    below:plot(t, pictures.column(rows, 2 + N + i), style)
  end
  if N <= 7 then below:legend { loc = "center right" } end
  return fig
end })

pictures.animate(opt.animate, function()
  local speed, series = opt.T / 4, {}
  for i = 1, N do series[i] = { label = "v" .. i, y = pictures.column(rows, 2 + N + i), step = true } end
  series.ylabel = "velocity"
  return {
    frames = pictures.frames(rows, 60 / speed), title = ("%d beads in a row"):format(N), speed = speed,
    background = function(canvas) canvas:ground(-0.2, -r, (N + 1) * (2 * r + opt.gap), -r) end,
    draw = function(row, canvas)
      for i = 1, N do canvas:circle(row[2 + i], 0, r, { fill = (i - 1) % 5 + 1, color = "ink", linewidth = 1.5 }) end
    end,
    plot = { t = pictures.column(rows, 2), panels = { series } },
  }
end)
