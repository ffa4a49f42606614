-- The clutch with dry friction of clutch_friction.lua over two parameters: how long its disks slip, and how much
-- energy becomes heat, over the largest torque alpha and the time in which the pressure grows.
--
--   w1' = (T1 + tau) / J1,  w2' = (T2 - tau) / J2,  y = w1 - w2,  -y in N_[-alpha p, alpha p](tau)

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A clutch over two parameters by a sweep. Without --file and --plot nothing is written.",
  { "side", default = 60, min = 2, max = 1000, help = "values of each parameter" },
  { "h", default = 0.01, above = 0, help = "time step" },
  { "file", value = "FILE", help = "the table: .csv, .npz or .h5" },
  pictures.option,
})
local J1, J2, T1, T2 = 1, 1 / 4, 10, -10

-- The model is made once in each worker; the sweep resets it before each task.
local function setup()
  local dyn = ns.FirstOrderLinearTIDS({ 10, 5 }, ns.zeros(2, 2), { T1 / J1, T2 / J2 })
  local friction = ns.RelayNSL(1, 0, 0)
  local contact = ns.Interaction(friction, ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 / J1 }, { -1 / J2 } }))
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(dyn)
  nsds:link(contact, dyn)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.EulerMoreauOSI(1), ns.Relay())
  return { simu = simu, x = dyn:x(), tau = contact:lambda(0), friction = friction,
    reset = function() simu:reset() end }
end

local function run(p, task)
  local m = task.model
  local simu, x, tau, lb, ub = m.simu, m.x, m.tau, m.friction:lb(), m.friction:ub()
  local slipping, heat = 0, 0
  while simu:hasNextEvent() do
    ub[1] = p.alpha * math.min(1, simu:nextTime() / p.growth)
    lb[1] = -ub[1]
    simu:computeOneStep()
    local slip = x[1] - x[2]
    if math.abs(slip) > 1e-9 then slipping, heat = slipping + opt.h, heat - opt.h * tau[1] * slip end
    simu:nextStep()
  end
  return { slipping = slipping, heat = heat }
end

local side = math.tointeger(opt.side)
local sweep = ns.sweep { parameters = { alpha = ns.linspace(10, 60, side), growth = ns.linspace(0.1, 5, side) },
  setup = setup, run = run, file = opt.file }
print(sweep)

pictures.draw(opt.plot, {
  slipping = function() return sweep:plot { x = "alpha", y = "growth", z = "slipping" } end,
  heat = function() return sweep:plot { x = "alpha", y = "growth", z = "heat" } end,
})
