-- FESDOSI on cases with stick, slip and accumulation: times of events and final values, with the order of the method.
local ns = require "nslua"
local reference = require "relay_reference"

local function simulation(ds, law, relation, T, steps, osi)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "switch"), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, T / steps), osi)
end

local function largest(a, b)
  local d = 0
  for i = 1, #a do d = math.max(d, math.abs(a[i] - b[i])) end
  return d
end

-- The slope of log(error) by log(h), by least squares.
local function order(steps, errors)
  local n, sx, sy, sxx, sxy = #steps, 0, 0, 0, 0
  for i = 1, n do
    local x, y = -math.log(steps[i]), math.log(errors[i])
    sx, sy, sxx, sxy = sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

describe("FESDOSI", function()
  -- x' = v, v' = sin 3t - s / 2, s in Sgn(v), and the work of friction.
  local function brake(scheme, stages, steps)
    local ds = ns.FirstOrderNonLinearDS({ 0, 1, 0 }, function(t, x, _, f) f[1], f[2] = x[2], math.sin(3 * t) end)
    local simu = simulation(ds, ns.RelayNSL(1, -1, 1), ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[2] end,
      g = function(_, x, lambda, _, r) r[2], r[3] = lambda[1] / 2, -lambda[1] * x[2] / 2 end,
    }, 4, steps, ns.FESDOSI(scheme, stages))
    simu:run()
    local kinds, times = {}, {}
    for i, event in ipairs(simu:events()) do kinds[i], times[i] = event.kind, event.t end
    return ds:x():totable(), times, kinds
  end

  it("has the times and the values of a brake with the order of the method", function()
    local state = { 1.764126324707502, -0.2248079122771892, 0.9564054189416279 }
    -- It stops, starts where sin 3t is 1/2, and crosses.
    local events = { 2.017609848283205, 2.268928027592629, 3.366662407757486 }
    assert.near(0.5, math.sin(3 * events[2]), 1e-14)
    for scheme, stages in pairs { radau_iia = 2, gauss = 2, lobatto = 3 } do
      local steps, values, times = { 20, 40, 80 }, {}, {}
      for i, n in ipairs(steps) do
        local x, t, kinds = brake(scheme, stages, n)
        assert.same({ "slide", "leave", "cross" }, kinds)
        values[i], times[i] = largest(state, x), largest(events, t)
      end
      local nominal = scheme == "radau_iia" and 3 or 4
      assert.near(nominal, order(steps, values), 0.2)
      assert.near(nominal, order(steps, times), 0.2)
    end
    -- Gauss is less exact in the time of the leave, where lambda at the end of an element has order s; its states are as good.
    local x, t = brake("radau_iia", 4, 60)
    assert.near(0, largest(state, x), 1e-13)
    assert.near(0, largest(events, t), 1e-13)
    assert.near(0, largest(state, (brake("gauss", 4, 60))), 1e-13)
  end)

  it("ends the slip of the friction clutch at 5 + 17/30", function()
    for _, scheme in ipairs { "radau_iia", "gauss", "lobatto" } do
      local law, ds = ns.RelayNSL(1, 0, 0), ns.FirstOrderLinearTIDS({ 10, 5 }, ns.zeros(2, 2), { 10, -40 })
      local simu = simulation(ds, law, ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 }, { -4 } }), 20, 20, ns.FESDOSI(scheme, 2))
      for k in simu:steps() do
        if k == 5 then law:lb()[1], law:ub()[1] = -100, 100 end
      end
      local log = simu:events()
      assert.same({ 1, "slide" }, { #log, log[1].kind })
      assert.near(5 + 17 / 30, log[1].t, 1e-13)
      assert.near(9, ds:x()[1], 1e-12)
      assert.near(9, ds:x()[2], 1e-12)
    end
  end)

  it("ends the switches of Filippov's spiral at t = 1.5", function()
    for _, steps in ipairs { 20, 200 } do
      local ds = ns.FirstOrderLinearTIDS({ 3, 3 }, ns.zeros(2, 2))
      local simu = simulation(ds, ns.RelayNSL(2, -1, 1), ns.FirstOrderLinearTIR(ns.eye(2), { { 2, -52 }, { 52, 2 } }), 1.999, steps,
        ns.FESDOSI("radau_iia", 2))
      simu:run()
      local log = simu:events()
      assert.equal("accumulation", log[#log].kind)
      assert.near(1.5, log[#log].t, 5e-12)
      assert.near(0, ds:x()[1], 1e-15)
      assert.near(0, ds:x()[2], 1e-15)
    end
  end)

  -- Three switches. With many in few steps, most elements are shorter than a step, and the slope is less: 6.5 for T = 20 and
  -- 10 to 80 steps.
  it("has order 7 with four stages of Radau in the relay oscillator", function()
    local o = { x0 = { 0, 3 * math.sqrt(2) / (2 * math.pi), 0 }, A = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, -3, -2 } }, b = { 0, 0, 0 },
      B = { { 0 }, { 0 }, { 1 } }, C = { { 1, 0, 0 } }, d = { 0 }, lb = { -1 }, ub = { 1 }, T = 7 }
    local exact, steps, errors = reference.run(o).x, {}, {}
    for n = 12, 48, 4 do
      local ds = ns.FirstOrderLinearTIDS(o.x0, o.A)
      local simu = simulation(ds, ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR(o.C, o.B), o.T, n, ns.FESDOSI("radau_iia", 4))
      simu:run { record = 1000 }
      steps[#steps + 1], errors[#errors + 1] = n, largest(exact, ds:x():totable())
    end
    assert.near(7, order(steps, errors), 0.2)
  end)

  it("says that an element has too many switches", function()
    local w = 5000
    local ds = ns.FirstOrderLinearTIDS({ 0.3, 0, 1 }, { { 0, 1, 0 }, { 0, 0, w }, { 0, -w, 0 } })
    local simu = simulation(ds, ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 0, 1, 0 } }, { { 1 }, { 0 }, { 0 } }), 1, 2,
      ns.FESDOSI("radau_iia", 3))
    local ok, message = pcall(simu.run, simu)
    assert.is_false(ok)
    assert.truthy(tostring(message):find(" could not be found: an element of length 0.25 has too many switches; take a smaller h",
      1, true))
  end)
end)
