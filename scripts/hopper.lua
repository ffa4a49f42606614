-- A hopper: a body on a springy leg whose foot meets the ground, with a controller at 100 Hz; its periodic hop.
--
--   M y'' = -k (y - f - l) - c (y' - f') - M g + u,   m f'' = k (y - f - l) + c (y' - f') - m g - u,   f >= 0
--
-- The foot lands without rebound. At its instants the controller measures y, estimates y' by the difference from the
-- sample before, and sets the force of the leg, u = A sin(2 pi t / T) - D (y - y_before) / h, which is held. So the
-- hop is an orbit of period T of the plant and of the controller's numbers together: u, and y_before. M = 4, m = 0.5,
-- k = 800, c = 6, l = 0.5, g = 9.81, T = 0.5, h = 0.01.
--
-- The script finds the orbit and its multipliers, and compares these with the eigenvalues of a derivative by
-- differences of direct runs over a period.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A hopper with a controller at 100 Hz, its periodic hop and the multipliers.",
  { "A", default = 60, min = 1, max = 200, help = "thrust" },
  { "D", default = 20, min = 0, max = 100, help = "damping by the controller" },
  { "periods", default = 30, min = 10, max = 300, help = "length of the direct runs" },
  pictures.motion, pictures.option,
})
local M, m, k, c, l, g, T, h = 4, 0.5, 800, 6, 0.5, 9.81, 0.5, 0.01

local function hopper(length)
  local plant = ns.LagrangianLinearTIDS({ 0.55, 0 }, { 0, 0 }, { { M, 0 }, { 0, m } }, { { k, -k }, { -k, k } },
    { { c, -c }, { -c, c } })
  local nsds = ns.NonSmoothDynamicalSystem(0, length)
  nsds:insertDynamicalSystem(plant)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 0, 1 } }, "foot"), plant)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-12, 1e-12))
  local s = simu:every { name = "leg", period = h, state = { F = { k * l - M * g, -k * l - m * g }, before = 0.55 },
    act = function(t, s)
      local y = plant:q()[1]
      local u = opt.A * math.sin(2 * math.pi * t / T) - opt.D * (y - s.before) / h
      s.F[1], s.F[2], s.before = k * l - M * g + u, -k * l - m * g - u, y
    end }
  plant:setFExtPtr(s.F)
  return simu, plant
end

-- The direct run comes near the orbit; from there it is found.
local simu = hopper(opt.periods * T)
local sol = simu:run()
local last = sol.x[#sol]
local orbit = ns.dynamics.periodic { simulation = hopper(T), period = T,
  guess = { last[1], last[2], last[3], last[4], sol["leg.F[1]"][#sol], sol["leg.F[2]"][#sol],
    sol["leg.before"][#sol] } }
print(("the hop: %s, y = %.9f, f = %.9f, y' = %.9f, f' = %.9f at t = 0"):format(orbit.stability, orbit.x0[1],
  orbit.x0[2], orbit.x0[3], orbit.x0[4]))
for _, event in ipairs(orbit.events) do print(("  %-8s at t = %.9f"):format(event.kind, event.t)) end
print(("largest multipliers                %s, %s"):format(orbit.multipliers[1], orbit.multipliers[2]))

-- A period by a direct run, from y, y' and y_before with the foot on the ground; at its instant 0 u is set anew.
local function period(x)
  local one, plant = hopper(T)
  plant:setQ0 { x[1], 0 }
  plant:setVelocity0 { x[2], 0 }
  one:reset()
  one:discrete("leg").before = x[3]
  local run = one:run()
  local row = #run
  while run.t[row - 1] == run.t[#run] do row = row - 1 end -- before the instant at the end
  return ns.vector { run.q1[row], run.v1[row], run["leg.before"][row] }
end
local x, step, J = { orbit.x0[1], orbit.x0[3], orbit.x0[7] }, 2e-4, ns.zeros(3, 3)
for j = 1, 3 do
  local sum = ns.zeros(3)
  for place, weight in pairs { [-2] = 1, [-1] = -8, [1] = 8, [2] = -1 } do
    local moved = { table.unpack(x) }
    moved[j] = moved[j] + place * step
    sum = sum + period(moved) * (weight / (12 * step))
  end
  for i = 1, 3 do J[i][j] = sum[i] end
end
local direct = ns.control.poles { A = J }
print(("largest multipliers by direct runs %s, %s"):format(direct[1], direct[2]))

pictures.draw(opt.plot, {
  hop = function(plot)
    local fig, axes = plot.subplots(3, 1, { figsize = { 7, 7 } })
    axes[1]:plot(sol.t, sol.q1, { label = "body" }):plot(sol.t, sol.q2, { label = "foot" })
    axes[1]:title("A hopper with a controller at 100 Hz"):legend()
    axes[2]:plot(sol.t, sol.v1):ylabel "$y'$"
    axes[3]:step(sol.t, sol["leg.F[1]"] - k * l + M * g):ylabel("$u$"):xlabel "$t$"
    for i = 1, 3 do axes[i]:xlim(0, 3) end
    return fig
  end,
})

pictures.animate(opt.animate, function()
  local rows = {}
  for i = 1, #sol do rows[i] = { i, sol.t[i], sol.q1[i], sol.q2[i] } end
  return {
    frames = pictures.frames(rows, 60), title = "A hopper with a controller at 100 Hz",
    background = function(canvas) canvas:ground(0.6, 0, -0.6, 0) end,
    draw = function(row, canvas)
      local body, foot = row[3], row[4]
      canvas:spring(0, foot + 0.04, 0, body, { color = "muted" })
      canvas:rectangle(0, body + 0.1, 0.4, 0.2, { fill = "blue", color = "ink" })
      canvas:rectangle(0, foot + 0.02, 0.2, 0.04, { fill = "orange", color = "ink" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "heights", { label = "body", y = pictures.column(rows, 3) },
        { label = "foot", y = pictures.column(rows, 4) } } } },
  }
end)
