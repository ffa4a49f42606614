-- Sliding-mode control of a double integrator with a disturbance, sampled: the explicit law chatters, the implicit
-- one does not.
--
--   x1' = x2,  x2' = u + d(t),   d = 0.5 sin(2 t),   s = x1 + x2
--
-- explicit:  u = ueq - alpha sign(s_k)
-- implicit:  u = ueq - alpha sign(s_{k+1}), where s_{k+1} is the one of a model without d
--
-- (Acary, Brogliato and Orlov, IEEE Trans. Autom. Control 57, 2012)
--
-- ueq keeps s from sample to sample. In sliding |s| is at most about h (alpha + |d|) with the explicit law, and h |d|
-- with the implicit one, whose u follows -d with a delay of a sample. Without a disturbance (--d 0) it is rounding.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Explicit and implicit sliding-mode control.",
  { "h", default = 0.05, above = 0, max = 0.5, help = "period of the controller" },
  { "d", default = 0.5, min = 0, max = 0.9, help = "size of the disturbance" },
  { "T", default = 15, min = 1, max = 100, help = "end of the run" },
  pictures.motion, pictures.option,
})

local function run(class, h)
  local plant = ns.FirstOrderLinearDS({ 2, 0 }, { { 0, 1 }, { 0, 0 } })
  plant:setComputebFunction(function(t, _, b) b[2] = opt.d * math.sin(2 * t) end)
  local sim, sensor = ns.ControlLsodarSimulation(0, opt.T, h), ns.LinearSensor(plant)
  sim:addDynamicalSystem(plant)
  sim:addSensor(sensor, h)
  sim:addActuator(ns[class](sensor, { 0, 1 }, { Csurface = { 1, 1 }, ueq = "exact", name = "smc" }), h)
  return sim:run()
end

-- The largest |s| in the second half, and the variation of u there for each unit of time.
local function measures(sol)
  local s, u, largest, variation = sol.x1 + sol.x2, sol["smc.u[1]"], 0, 0
  for k = 2, #sol do
    if sol.t[k - 1] >= opt.T / 2 then
      largest, variation = math.max(largest, math.abs(s[k])), variation + math.abs(u[k] - u[k - 1])
    end
  end
  return largest, variation / (opt.T / 2)
end

local runs = {}
for _, class in ipairs { "ExplicitLinearSMC", "LinearSMC" } do
  for _, h in ipairs { opt.h, opt.h / 2, opt.h / 4 } do
    local sol = run(class, h)
    runs[class] = runs[class] or sol
    print(("%-17s h = %-6g  |s| <= %.6e  variation of u %.4f"):format(class, h, measures(sol)))
  end
end

pictures.draw(opt.plot, {
  run = function(plot)
    local fig, axes = plot.subplots(2, 1, { figsize = { 7, 6 } })
    for class, sol in pairs { explicit = runs.ExplicitLinearSMC, implicit = runs.LinearSMC } do
      local look = { label = class, color = class == "explicit" and "C1" or "C0" }
      axes[1]:plot(sol.t, sol.x1 + sol.x2, look)
      axes[2]:step(sol.t, sol["smc.u[1]"], look)
    end
    axes[1]:ylabel("$s = x_1 + x_2$"):title("Sliding mode of a double integrator"):legend()
    axes[2]:xlabel("$t$"):ylabel "$u$"
    return fig
  end,
})

-- The states in their plane.
pictures.animate(opt.animate, function()
  return pictures.plane("Sliding mode of a double integrator: explicit and implicit", {
    runs.ExplicitLinearSMC, runs.LinearSMC })
end)
