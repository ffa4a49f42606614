--
-- bench_sampled.lua
-- A controller at 10 kHz beside 1,000,000 steps of its plant: what it costs in a step.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

local STEPS = 1000000

local function simulation(controlled)
  local plant = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, -0.1 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(plant)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1 / STEPS), ns.EulerMoreauOSI(0.5))
  local clock = controlled and simu:every { period = 1e-4, state = { u = { 0, 0 } },
    act = function(_, s) s.u[2] = -plant:x()[1] - plant:x()[2] end }
  plant:setbPtr(clock and clock.u or ns.vector { 0, 0 })
  return simu
end

local seconds = {}
for i, controlled in ipairs { false, true } do
  local simu = simulation(controlled)
  seconds[i] = common.per_step(simu, STEPS, function() simu:run { record = STEPS, progress = false } end, 2)
end
local rows = { { common.us(seconds[1]), common.us(seconds[2]), common.us(seconds[2] - seconds[1]) } }
common.table("A sampled controller at 10 kHz, 1e6 steps: microseconds a step",
  { "plant", "with controller", "controller" }, rows)
