-- Sampled controllers and observers on linear plants, against the reference files of Siconos' control toolbox. An instant:
-- sensor, observer, controller; a row has the state at t_k and the control that is computed there.
local ns = require "nslua"

-- A simulation of x' = A x + b(t), sampled each h, and a sensor of C x with the period hc.
local function plant(A, x0, T, h, C, hc, b)
  local ds = b and ns.FirstOrderLinearDS(x0, A) or ns.FirstOrderLinearTIDS(x0, A)
  if b then ds:setComputebFunction(b) end
  local sim, sensor = ns.ControlZOHSimulation(0, T, h), ns.LinearSensor(ds, C)
  sim:addDynamicalSystem(ds)
  sim:addSensor(sensor, hc or h)
  return sim, sensor
end

-- The columns agree with those of the reference within `tolerance` of their largest value.
local function compare(name, data, tolerance)
  local most, size, count = {}, {}, 0
  for line in io.lines("spec/reference/control_" .. name .. ".csv") do
    local row = {}
    for number in line:gmatch "[^,]+" do row[#row + 1] = tonumber(number) end
    count = count + (#row > 0 and 1 or 0)
    for i = 3, #row do
      size[i] = math.max(size[i] or 0, math.abs(row[i]))
      most[i] = math.max(most[i] or 0, math.abs(data[row[1] + 1][i - 1] - row[i]))
    end
  end
  assert.is_true(count >= 50)
  for i = 3, #size do
    assert.is_true(most[i] <= tolerance * size[i], ("%s: column %d is off by %.3g"):format(name, i, most[i] / size[i]))
  end
end

local K, unstable = { 0.25, 0.125, 2 }, { { 0, 1 }, { 19, -2 } }

describe("a sampled controller", function()
  it("is a PID of a double integrator", function()
    local sim, sensor = plant({ { 0, 1 }, { 0, 0 } }, { 10, 0 }, 100, 0.05, { 1, 0 })
    sim:addActuator(ns.PID(sensor, { 0, 1 }, { K = K }), 0.05)
    sim:run()
    compare("pid_double_integrator", sim:data(), 1e-12)
  end)

  it("is a PID by hand, with a clock", function()
    local ds = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, 1 }, { 0, 0 } }, { 0, 0 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 100)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI(1e-13))
    simu:every { name = "pid", period = 0.05, state = { u = 0, e1 = 0, e2 = 0 }, act = function(_, s)
      local e = -ds:x()[1]
      s.u = s.u + 40.25625 * e - 80.25 * s.e1 + 40 * s.e2
      s.e1, s.e2 = e, s.e1
      ds:setbPtr { 0, s.u }
    end }
    local sol = simu:run { rows = "grid" }
    compare("pid_double_integrator", ns.hstack(sol.t:column(), ns.matrix(sol.x), sol["pid.u"]:column()), 1e-10)
  end)

  it("has a Luenberger observer beside it", function()
    local sim, sensor = plant({ { 0, 1 }, { -1, 0 } }, { 10, 0 }, 100, 0.05, { 1, 0 })
    sim:addObserver(ns.LuenbergerObserver(sensor, { 10, -5 }, { 1, 0 }, { -7.5125146, -50.04168751 }), 0.05)
    sim:addActuator(ns.PID(sensor):setRef(0):setK(K):setB { 0, 1 }, 0.05)
    sim:run()
    compare("observer_luenberger", sim:data(), 1e-11)
  end)

  -- x1' = sin 50 t, x2' = -sin 50 t + B u
  local function disturbance(t, _, b) b[1], b[2] = math.sin(50 * t), -math.sin(50 * t) end

  local function disturbed(class, B)
    local sim, sensor = plant({ { 0, 0 }, { 0, 0 } }, { 1, -1 }, 1, 1e-4, ns.eye(2), 1e-2, disturbance)
    sim:addActuator(ns[class](sensor, { 0, B }, { Csurface = { 0, 1 } }), 1e-2)
    sim:run()
    return sim:data()
  end

  it("is an explicit sliding mode, ten times slower than the rows #once", function()
    compare("smc_explicit_sampled", disturbed("ExplicitLinearSMC", 2), 1e-11)
  end)

  it("corrects a sliding mode by the error of its last prediction #once", function()
    compare("smc_ot2_b1", disturbed("LinearSMCOT2", 1), 1e-10)
  end)

  it("has an equivalent control", function()
    local sim, sensor = plant(unstable, { -15, 20 }, 100, 0.05)
    sim:addActuator(ns.ExplicitLinearSMC(sensor, { 0, 1 }, { Csurface = { 1, 1 } }), 0.05)
    sim:run()
    compare("smc_explicit_ueq", sim:data(), 1e-11)
  end)

  it("is a twisting algorithm, explicit and implicit", function()
    for name, class in pairs { twisting_explicit_zoh = "ExplicitTwisting", twisting_implicit = "Twisting" } do
      local sim, sensor = plant(unstable, { -15, 20 }, class == "Twisting" and 100 or 2.5, 0.05)
      sim:addActuator(ns[class](sensor, 300, 0.2, 0.05), 0.05)
      sim:run()
      compare(name, sim:data(), class == "Twisting" and 1e-10 or 1e-6)
    end
  end)
end)
