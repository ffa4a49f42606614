-- A ball of mass m falls on the floor:
--
--   m q'' = -m g + lambda,     0 <= q _|_ lambda >= 0,     q' after = -e q' before an impact
--
-- from q(0) = H at rest, with m = 1, g = 9.81. It hits the floor at sqrt(2 H / g). Each flight after that lasts e
-- times the one before, so that infinitely many impacts end at the time (1 + e) / (1 - e) sqrt(2 H / g): then the
-- ball rests.
--
-- Moreau and Jean's scheme does not look for impacts. A step has an impulse P and Newton's law for its velocities,
--
--   m (v_{k+1} - v_k) = -h m g + P,   q_{k+1} = q_k + h (theta v_{k+1} + (1 - theta) v_k),
--   0 <= v_{k+1} + e v_k _|_ P >= 0   if q_k + h v_k / 2 <= 0, else P = 0,
--
-- So it passes the time at which the impacts end with steps of constant length, and the ball rests afterwards. Two
-- other schemes do this too. Paoli and Schatzman's scheme has a law for positions only; an impact takes two steps:
--
--   m (q_{k+1} - 2 q_k + q_{k-1}) = -h^2 m g + h P,   0 <= (q_{k+1} + e q_{k-1}) / (1 + e) _|_ P >= 0,
--
-- with the velocity (q_{k+1} - q_{k-1}) / 2h at t_k. D1MinusLinear is of second order up to an impact, which it puts
-- at the end of the first step with q <= 0; while the ball rests, it computes a force:
--
--   q_{k+1} = q_k + h v_k + h^2/2 a_k,   v- = v_k + h/2 (a_k + a_{k+1}),   m a = -m g + lambda,
--   0 <= v_{k+1} + e v- _|_ m (v_{k+1} - v-) >= 0   if q_{k+1} <= 0;   at rest 0 <= a _|_ lambda >= 0.
--
-- The exact motion is known: the table compares the three schemes with it.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local names = { "MoreauJean", "SchatzmanPaoli", "D1MinusLinear" }
local opt = options.parse(arg, {
  about = "A ball that bounces until it rests, by three integrators. Writes only with --csv, --animate, --plot.",
  { "e", default = 0.9, min = 0, max = 1, help = "restitution" },
  { "H", default = 1, min = 0, help = "height at the start" },
  { "h", default = 5e-3, min = 1e-6, max = 1, help = "length of a step" },
  { "T", default = 10, above = 0, max = 1000, help = "end of the run" },
  { "theta", default = 0.5, min = 0.5, max = 1, help = "weight of the end of a step" },
  { "osi", default = names[1], choices = names, help = "the integrator whose run is told and written" },
  { "csv", value = "FILE", help = "write every step there" },
  { "animate", value = "FILE", help = "write the ball in motion there (.html, .gif, .mp4)",
    endings = { "html", "gif", "mp4" } },
  pictures.option,
})
local m, g = 1, 9.81

local integrators = {
  MoreauJean = function() return ns.MoreauJeanOSI(opt.theta) end,
  SchatzmanPaoli = function() return ns.SchatzmanPaoliOSI(opt.theta) end,
  D1MinusLinear = function() return ns.D1MinusLinearOSI() end,
}

-- Whether a flight that is longer than a step begins between two rows: with an impulse, or after the last impulse of
-- an impact.
local rebounds = {
  MoreauJean = function(_, row) return row[6] > 0 and row[4] > g * opt.h end,
  SchatzmanPaoli = function(before, row)
    return before[6] > 0 and row[6] == 0 and row[3] - before[3] > g * opt.h ^ 2
  end,
  D1MinusLinear = function(_, row) return row[5] > 0 and row[4] > g * opt.h end,
}

-- The exact height at nondecreasing times, computed flight by flight; 0 when the flights have become too short.
local function exact_height()
  local start, length = -math.sqrt(2 * opt.H / g), 2 * math.sqrt(2 * opt.H / g) -- the first one from its middle
  return function(t)
    while t > start + length and start + length > start do
      start, length = start + length, opt.e * length
    end
    if t > start + length or start + length == start then return 0 end
    return g / 2 * (t - start) * (start + length - t)
  end
end

-- Runs one integrator. Returns its rows for the file and a summary.
local function run(name)
  local ball = ns.LagrangianLinearTIDS({ opt.H }, { 0 }, { { m } })
  ball:setFExtPtr { -m * g }
  local floor = ns.Interaction(ns.NewtonImpactNSL(opt.e), ns.LagrangianLinearTIR { { 1 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
  nsds:insertDynamicalSystem(ball)
  nsds:link(floor, ball)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), integrators[name](), ns.LCP())

  local has_energy, height = name ~= "SchatzmanPaoli", exact_height()
  local result = { rows = { { 0, 0, opt.H, 0, 0, 0 } }, impacts = 0, deepest = 0, off = 0 }
  result.start = has_energy and simu:energy()
  for k, t in simu:steps() do
    local q, v, p, lambda = ball:q()[1], ball:velocity()[1], ball:p(1)[1], floor:lambda(1)[1]
    result.rows[k + 1] = { k, t, q, v, p, lambda }
    result.deepest = math.max(result.deepest, -q)
    result.off = result.off + opt.h * math.abs(q - height(t))
    if rebounds[name](result.rows[k], result.rows[k + 1]) then
      result.impacts = result.impacts + 1
    end
    result.rest = lambda > 0 and math.abs(v) < 1e-12 and (result.rest or t) or nil
  end
  result.energy = has_energy and simu:energy()
  return result
end

local runs = {}
for _, name in ipairs(names) do runs[name] = run(name) end
local told = runs[opt.osi]

print(("e = %g, h = %g, %d steps: %d impacts with a rebound"):format(opt.e, opt.h, #told.rows - 1, told.impacts))
if opt.e < 1 then
  print(("the impacts end at %.6g"):format((1 + opt.e) / (1 - opt.e) * math.sqrt(2 * opt.H / g)))
end
print(told.rest and ("at rest from %.6g on"):format(told.rest) or "not at rest yet")
print(("deepest penetration: %.1e"):format(told.deepest))
if told.energy then
  local start, energy = told.start, told.energy
  local line = "energy: %.12g at the start, %.12g at the end; impacts took %.12g, the scheme %.3g, rounding %.1e"
  print(line:format(start.total, energy.total, -energy.impacts, -energy.numerical,
    energy.total - start.total - energy.impacts - energy.numerical - energy.forces))
end

print(("\n%-16s%18s%14s%12s"):format("", "integral |error|", "penetration", "at rest"))
for _, name in ipairs(names) do
  local r = runs[name]
  print(("%-16s%18.3e%14.1e%12s"):format(name, r.off, r.deepest, r.rest and ("%.5g"):format(r.rest) or "-"))
end

options.save_csv(opt.csv, { "row", "t", "q", "v", "p", "lambda" }, told.rows)

-- The ball in motion: q is the height of its lowest point; 60 frames a second, at most one for each step.
if opt.animate then
  local every, frames, times, q, v = math.max(1, math.floor(1 / (60 * opt.h))), {}, {}, {}, {}
  for k = 1, #told.rows, every do
    local row = told.rows[k]
    frames[#frames + 1], times[#times + 1], q[#q + 1], v[#v + 1] = row, row[2], row[3], row[4]
  end
  local size = math.max(opt.H, 0.1)
  local R = 0.08 * size
  ns.animation {
    file = opt.animate, title = ("Bouncing ball, e = %g"):format(opt.e), frames = frames, times = times,
    xlim = { -0.6 * size, 0.6 * size },
    background = function(canvas)
      canvas:ground(-0.5 * size, 0, 0.5 * size, 0)
      canvas:line(-0.3 * size, opt.H, 0.3 * size, opt.H, { color = "muted", linestyle = "dotted", linewidth = 1.5 })
      canvas:text(0.3 * size, opt.H, "H", { color = "muted", dx = 8 })
    end,
    draw = function(row, canvas)
      canvas:circle(0, row[3] + R, R, { fill = "orange", color = "ink" })
      if math.abs(row[4]) > 1e-9 then
        canvas:arrow(0.14 * size, row[3] + R, 0.14 * size, row[3] + R + 0.06 * size * row[4], { color = "blue" })
      end
    end,
    plot = { panels = {
      { ylabel = "height", { label = "q", y = q, color = "orange" } },
      { ylabel = "velocity", { label = "v", y = v, color = "blue" } },
    } },
  }
  print(("written: an animation of %d frames to %s"):format(#frames, opt.animate))
end

-- Column j of a run.
local function column(r, j)
  local values = {}
  for i, row in ipairs(r.rows) do values[i] = row[j] end
  return values
end

local function draw_run(plot)
  local fig = plot.figure { figsize = { 7, 7 }, title = ("%s, $e = %g$, $h = %g$"):format(opt.osi, opt.e, opt.h) }
  local t, first = column(told, 2), nil
  for i, name in ipairs { "height $q$", "velocity $v$", "impulse $p$" } do
    local ax = fig:subplot(3, 1, i, { sharex = first }):ylabel(name)
    first = first or ax
    ax[i == 3 and "step" or "plot"](ax, t, column(told, 2 + i))
    if i == 3 then ax:xlabel "$t$" end
  end
  return fig
end

-- The errors of the heights.
local function draw_errors(plot)
  local ax = plot.figure { figsize = { 9, 3.8 } }:subplot(1, 1, 1)
  for _, name in ipairs(names) do
    local height, errors, t = exact_height(), {}, column(runs[name], 2)
    for i, q in ipairs(column(runs[name], 3)) do errors[i] = math.abs(q - height(t[i])) end
    ax:semilogy(t, errors, { label = name, linewidth = 0.9 })
  end
  ax:xlabel "$t$":title "Error of the height":legend { loc = "outside" }
  return ax.figure
end

pictures.draw(opt.plot, { run = draw_run, errors = draw_errors })
