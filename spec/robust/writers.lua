-- Writes one file: nslua spec/robust/writers.lua KIND FILE VERSION; KIND read FILE reads a checkpoint and prints its step.
local ns = require "nslua"

local kind, file, version = arg[1], arg[2], tonumber(arg[3])

local function simulation(T, m)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { m or 1 } })
  ball:setFExtPtr { -9.81 * (m or 1) }
  nsds:insertDynamicalSystem(ball)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5), ns.LCP())
end

local writers = {}

local function save_solution()
  simulation(version * 2):run():save(file)
end
writers.csv, writers.npy, writers.npz, writers.hdf5 = save_solution, save_solution, save_solution, save_solution

function writers.table()
  ns.save(file, { a = ns.linspace(0, version, 20000), b = ns.linspace(1, 2, 20000) })
end
writers.arrays, writers.columns = writers.table, writers.table

function writers.rows()
  local rows = {}
  for i = 1, 4000 do rows[i] = { i / 7 * version, "text" } end
  require "nslua.options".write_csv(file, { "a", "b" }, rows)
end

function writers.state()
  local simu = simulation(10)
  for _ = 1, 100 * version do
    simu:computeOneStep()
    simu:nextStep()
  end
  simu:save_state(file, ("x"):rep(100000))
end

function writers.run()
  local simu = simulation(version)
  simu:run { checkpoint = file, every = 400 }
end

function writers.dump()
  local simu = simulation(2, version)
  for _ = 1, 1600 do
    simu:computeOneStep()
    simu:nextStep()
  end
  simu:osnspb():dump(file)
end

function writers.html()
  ns.animation { file = file, title = "version " .. version, frames = 200, draw = function(k, canvas)
    canvas:line(0, 0, math.cos(k / version), math.sin(k), { linewidth = 4 })
  end }
end

function writers.png()
  ns.plot.plot(ns.linspace(0, version, 50), ns.linspace(0, 1, 50) ^ 2)
  ns.plot.savefig(file)
end

function writers.read()
  local simu = simulation(10)
  simu:load_state(file)
  print(simu:step())
end

writers[kind]()
