local closed = require "closed_runs"
local ns = require "nslua"
local sensitive = require "sensitive_models"

local switched, ball, refuses = closed.switched, closed.ball, closed.refuses

-- The value of the options of a gradient, from a plain run.
local function value_of(simu, options)
  local sol = simu:run { dense = true }
  local value = options.terminal(sol:at(sol.t[#sol]).x)
  for k = 1, #sol - 1 do
    local function rate(t) return options.cost(t, sol:at(t).x) end
    value = value + ns.quad(rate, sol.t[k], sol.t[k + 1], { rtol = 1e-8, atol = 1e-11 })
  end
  return value
end

-- The largest error of a gradient against differences of order 4 of the value, relative to the largest element.
local function worst(make, p, gradient)
  local off, size = 0, 0
  for j = 1, #p do
    local at, h, d = p[j], 1e-4 * math.max(1, math.abs(p[j])), {}
    for _, k in ipairs { -2, -1, 1, 2 } do
      p[j] = at + k * h
      d[k] = make(p)
    end
    p[j] = at
    local slope = (8 * (d[1] - d[-1]) - (d[2] - d[-2])) / (12 * h)
    off, size = math.max(off, math.abs(slope - gradient[j])), math.max(size, math.abs(slope))
  end
  return off / size
end

describe("simu:gradient", function()
  it("is exact through a switch", function()
    local simu = switched()
    local value, gradient, sol = simu:gradient {
      cost = function(_, x) return x[1] ^ 2 end, terminal = function(x) return 5 * x[1] end, parameters = { "x0" } }
    local a = 2 - 1 / 3 -- x(2)
    assert.near(1 / 9 + a ^ 3 / 3 + 5 * a, value, 1e-10)
    assert.near(-1 / 3 + a ^ 2 / 3 + 5 / 3, gradient[1], 1e-10)
    assert.same({ "x0[1]" }, sol.sensitivities)
  end)

  it("has the jump of the cost at an impact, whose time moves", function()
    -- The integral of v^2: (8^2 t^3) / 3 up to t = sqrt(h) / 2; then the speed e 8 t - 8 s.
    local function integral(h, e)
      local t = math.sqrt(h) / 2
      local u, s = 8 * e * t, 0.875 - t
      return 64 * t ^ 3 / 3 + (u ^ 3 - (u - 8 * s) ^ 3) / 24
    end
    local simu, balls, law = ball({ 1 }, 0.875)
    local value, gradient = simu:gradient {
      cost = function(_, x) return x[2] ^ 2 end, parameters = { { balls[1], "q0" }, { law, "e" } } }
    local p = { 1.0, 0.5 }
    assert.near(integral(1, 0.5), value, 1e-9)
    assert.is_true(worst(function(q) return integral(q[1], q[2]) end, p, gradient) < 1e-8)
  end)

  -- Friction turns round at an event that neither opens nor closes anything; its force grows with the spring that presses.
  it("has the rate of each mode, also where two modes have equally many active rows", function()
    local function sliding(q, v)
      local ds = ns.LagrangianLinearTIDS({ q, 0 }, { v, 0 }, { { 1, 0 }, { 0, 1 } }, { { 1, 4 }, { 4, 5 } }, ns.zeros(2, 2))
      ds:setFExtPtr { -9, -9 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local floor = ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), floor, "floor"), ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-12, 1e-12))
    end
    local options = { terminal = function(x) return x[1] + 0.5 * x[3] end,
      parameters = { "x0", on_grazing = "one-sided" } }
    local _, gradient, sol = sliding(0.5, 2):gradient(options)
    assert.same({ "rest", "cross" }, { sol.events[1].kind, sol.events[2].kind })
    assert.equal(2, #sol.events)
    local function value(p)
      local plain = sliding(p[1], p[2]):run()
      return options.terminal(plain.x[#plain])
    end
    assert.is_true(worst(value, { 0.5, 2.0 }, { gradient[1], gradient[3] }) < 1e-8)
  end)

  it("is the slope of the value in models with impacts, friction and sliding", function()
    for _, name in ipairs { "bounce", "stick_slip", "pendulum" } do
      math.randomseed(7)
      local model = sensitive[name]
      local p = model.draw()
      local simu, parameters, gather = model.build(p)
      local options = { cost = function(t, x) return (x[1] - 0.3) ^ 2 + math.sin(t) * x[2] end,
        terminal = function(x) return x[1] * x[2] end, parameters = parameters }
      local value, gradient, sol = simu:gradient(options)
      local plain = model.build(p):run()
      for i = 1, #plain.x[#plain] do assert.equal(plain.x[#plain][i], sol.x[#sol][i]) end
      local row = ns.matrix { gradient:totable() }
      if gather then gather(row) end
      local off = worst(function(q) return value_of(model.build(q), options) end, p, row[1])
      assert.is_true(off < 1e-6, name .. " " .. off)
      assert.near(value_of(model.build(p), options), value, 1e-9 * math.abs(value))
    end
  end)

  -- x' = a cos t + lambda from x0, where the law holds x at 0 while it can: p = x0, a and a number of the relation.
  local function driven(p, law)
    local ds = ns.FirstOrderNonLinearDS({ p[1] }, function(t, _, z, f) f[1] = z[1] * math.cos(t) end)
    ds:setzPtr(ns.vector { p[2] })
    local nsds, relation = ns.NonSmoothDynamicalSystem(0, 8), ns.FirstOrderLinearTIR({ { 1 } }, { { p[3] } })
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "law"), ds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 4), ns.RungeKuttaOSI()), { "x0", "z", { relation, "B" } }
  end

  it("is the slope of the value through sliding, its end, and complementarity", function()
    local function relay() return ns.RelayNSL(1, -1, 1) end
    local function complementarity() return ns.ComplementarityConditionNSL(1) end
    for k, make in ipairs { relay, complementarity } do
      local p = { 0.3, 1.6, 1 }
      local simu, parameters = driven(p, make())
      local options = { cost = function(t, x) return (x[1] - 0.1) ^ 2 + math.sin(t) * x[1] end,
        terminal = function(x) return x[1] ^ 2 end, parameters = parameters }
      local value, gradient, sol = simu:gradient(options)
      local other = function(q) return value_of((driven(q, make())), options) end
      assert.near(other(p), value, 1e-9)
      assert.is_true(#sol.events >= 2, k)
      local off = worst(other, p, gradient)
      assert.is_true(off < 1e-7, k .. " " .. off)
    end
  end)

  it("takes costs that can be traced, and others", function()
    local calls = 0
    local function traced(t, x, p) calls = calls + 1 return x[1] ^ 2 * math.cos(t) + p[1] * x[1] end
    local function plain(t, x, p)
      if tostring(x[1]) == "" then return 0 end -- a text of x can not be traced
      return x[1] ^ 2 * math.cos(t) + p[1] * x[1]
    end
    local function gradient(cost)
      local simu, _, law = switched()
      return simu:gradient { cost = cost, parameters = { "x0", { law, "ub" } } }
    end
    local value, by_tape = gradient(traced)
    local traced_calls = calls
    local same, by_duals = gradient(plain)
    assert.near(same, value, 1e-13)
    for j = 1, 2 do assert.near(by_duals[j], by_tape[j], 1e-12) end
    calls = 0
    gradient(function(t, x, p) return tostring(x[1]) == "" and 0 or traced(t, x, p) end)
    assert(traced_calls < calls)
    local late = 0 -- the tape is given up where the function gives another value
    local changing = function(t, x) return x[1] * (t < 1 and 1 or 1 + late) end
    assert.near((gradient(function(t, x) return x[1] end)), (gradient(changing)), 1e-12)
  end)

  it("takes a cost with a kink", function()
    local simu = switched()
    local value, gradient = simu:gradient { cost = function(_, x) return math.abs(x[1] - 0.25) end, parameters = { "x0" } }
    -- x - 1/4 = -5/4 + 3 t up to t = 1/3, then t - 7/12
    assert.near(0.75 / 3 + 0.25 ^ 2 / 2 + (2 - 7 / 12) ^ 2 / 2, value, 1e-9)
    assert.near(-1 / 3 - 0.25 / 3 + (2 - 7 / 12) / 3, gradient[1], 1e-9)
  end)

  it("does not depend on the units", function()
    local function run(k)
      local simu, balls, law = ball({ 1 })
      return simu:gradient { cost = function(_, x) return k * x[1] end, parameters = { { balls[1], "q0" }, { law, "e" } } }
    end
    local value, gradient = run(1)
    local large, more = run(2.0 ^ 40)
    assert.equal(value * 2.0 ^ 40, large)
    for j = 1, 2 do assert.equal(gradient[j] * 2.0 ^ 40, more[j]) end
  end)

  it("takes simultaneous impacts, unless their order decides the cost", function()
    local simu, balls = ball({ 1, 1 })
    local apart = { { balls[1], "q0" }, { balls[2], "q0" } }
    local _, gradient = simu:gradient { cost = function(_, x) return x[1] + x[3] end, parameters = apart }
    assert.near(gradient[1], gradient[2], 1e-9)
    simu, balls = ball({ 1, 1 })
    apart = { { balls[1], "q0" }, { balls[2], "q0" } }
    local product = { cost = function(_, x) return x[2] * x[4] end, parameters = apart }
    refuses("gradient: the events of 'floor1' and 'floor2' at t=0.5 are simultaneous, the cost jumps there, and their order "
      .. "depends on the parameters: there is no derivative", simu, product)
  end)

  -- At rest x is rounding, and with it the slope of the cost: an integral of it over the parameters can not be resolved.
  it("does not resolve the rounding of a motion that has come to rest", function()
    local function calls(options)
      local count = 0
      local plant = ns.FirstOrderNonLinearDS({ 1, -0.7 }, function(_, x, z, f)
        count = count + 1
        if x[1] < -1e9 then return end -- a branch: it can not be traced
        f[1], f[2] = -z[1] * x[1] + 0.3 * x[2], 0.2 * x[1] - z[2] * x[2]
      end)
      plant:setzPtr(ns.vector { 0.5, 0.4 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 10)
      nsds:insertDynamicalSystem(plant)
      local relation = ns.FirstOrderLinearTIR({ { 1, 0.1 }, { -0.2, 1 } }, { { 0.3, 0 }, { 0, 0.3 } })
      nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), relation, "relay"), plant)
      options.parameters = { "z" }
      ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI()):gradient(options)
      return count
    end
    local of_terminal = calls { terminal = function(x) return x[1] end }
    assert.is_true(calls { cost = function(_, x) return x[1] ^ 2 end } < 1.2 * of_terminal)
  end)

  it("refuses what it can not do", function()
    local simu = switched()
    local cost = function(_, x) return x[1] end
    refuses("gradient: expected cost, or terminal, or both", simu, { parameters = { "x0" } })
    refuses("gradient: parameters: expected a list of parameters, got nil", simu, { cost = cost })
    refuses("gradient: cost: expected a function, got 1", simu, { cost = 1, parameters = { "x0" } })
    refuses("gradient: options: expected a table, got function", simu, cost)
    refuses("run: sensitivities: unknown parameter 'y0' (expected \"x0\", \"z\" or {object, field})", simu,
      { cost = cost, parameters = { "y0" } })
    refuses("gradient: cost: expected a number, got nil", simu, { cost = function() end, parameters = { "x0" } })
    simu:reset()
    refuses("gradient: terminal is nan at t=2", simu, { terminal = function() return 0 / 0 end, parameters = { "x0" } })
    simu = switched()
    refuses("gradient: method: expected \"adjoint\" or \"forward\", got 'reverse'", simu,
      { cost = cost, parameters = { "x0" }, method = "reverse" })
    refuses("gradient: T: forward derivatives are for a given end; let the run go to one, or use run{sensitivities = ...} and "
      .. "the dt of the event", simu, { cost = cost, parameters = { "x0", "T" }, method = "forward" })
    simu = switched()
    simu:addEvent { name = "quarter", g = function(_, x) return x[1] - 0.25 end, terminal = true }
    refuses("gradient: event 'quarter' ended the run at t = 0.5833333333: forward derivatives are for a given end; let the run "
      .. "go to one, or use run{sensitivities = ...} and the dt of the event", simu,
      { cost = cost, parameters = { "x0" }, method = "forward" })
    refuses("gradient: memory: expected a positive number of bytes, got nan", switched(),
      { cost = cost, parameters = { "x0" }, memory = 0 / 0 })
    refuses("gradient: parameters: expected a list; there is an element 2, but none 1", switched(),
      { cost = cost, parameters = { [2] = "x0" } })
    refuses("gradient: terminal: its derivative by p[1] is inf at t=2", switched(),
      { terminal = function(_, p) return math.sqrt(p[1] + 1) end, parameters = { "x0" } })
    simu = switched(1)
    simu:addEvent { name = "top", g = function(t) return (t - 0.5) ^ 3 end, terminal = true }
    refuses("gradient: the event 'top' that ends the run at t=0.5 only touches 0: its time has no derivative", simu,
      { cost = cost, parameters = { "x0" } })
    simu = switched()
    refuses("gradient: the simulation was run again, or changed, by a function of the cost", simu,
      { cost = function(_, x) simu:reset() simu:run() return x[1] end, parameters = { "x0" } })
    refuses("gradient: expected a simulation before a colon, as in simu:gradient{...}, got table", {
      gradient = function(self, options) return simu.gradient(self, options) end }, { cost = cost })
  end)
end)

describe("simu:gradient by C of a relation", function()
  -- The first of three bodies meets the third one.
  local function three(p)
    local bodies, nsds = {}, ns.NonSmoothDynamicalSystem(0, 1.2)
    for k = 1, 3 do
      bodies[k] = ns.LagrangianLinearTIDS({ k, 0.1 * k }, { 1 - 0.7 * k, 0.2 }, { { k, 0 }, { 0, 1 } })
      nsds:insertDynamicalSystem(bodies[k])
    end
    local relation = ns.LagrangianLinearTIR({ { -1, p[1], p[2], 0.1 } }, { -1.2 })
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.6), relation, "both"), bodies[1], bodies[3])
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.4), ns.RungeKuttaOSI())
    return simu, { { relation, "C", 1, 2 }, { relation, "C", 1, 3 } }
  end
  local function terminal(x) return x[1] + 2 * x[2] * x[11] + x[9] + x[12] ^ 2 end

  it("is the slope of the value where the bodies are not neighbours in the model", function()
    local p = { 0.2, 1 }
    local simu, parameters = three(p)
    local _, gradient, sol = simu:gradient { terminal = terminal, parameters = parameters }
    assert.equal(1, #sol.events)
    assert.is_true(worst(function(q)
      local run = three(q):run()
      return terminal(run.x[#run])
    end, p, gradient) < 1e-9)
  end)
end)

-- An oscillator that a wall and a relay hold back, driven for a long time.
local function driven(T)
  local mass = ns.LagrangianLinearTIDS({ 0.3, -1 }, { 1, 0.5 }, { { 1, 0 }, { 0, 2 } })
  mass:setKPtr(ns.matrix { { 2, 0.3 }, { 0.3, 1 } })
  mass:setCPtr(ns.matrix { { 0.1, 0 }, { 0, 0.1 } })
  mass:setzPtr(ns.vector { 1.5, 0.9 })
  mass:setComputeFExtFunction(function(t, z, f) f[1], f[2] = z[1] * math.cos(z[2] * t), math.sin(0.3 * t) end)
  local wall, relay = ns.NewtonImpactNSL(0.7), ns.RelayNSL(1, -0.2, 0.2)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(mass)
  nsds:link(ns.Interaction(wall, ns.LagrangianLinearTIR({ { -1, 0 } }, { 0.8 }), "wall"), mass)
  nsds:link(ns.Interaction(relay, ns.LagrangianLinearTIR { { 0, 1 } }, "guide"), mass)
  local parameters = { "x0", "z", { wall, "e" }, { relay, "ub" }, { mass, "K", 1, 2 }, { mass, "mass", 2, 2 } }
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), parameters, mass
end

-- Two plants with relays: two islands of first order.
local function islands()
  local nsds, parameters = ns.NonSmoothDynamicalSystem(0, 40), {}
  for k = 1, 2 do
    local plant = ns.FirstOrderLinearTIDS({ 1 - k, 0.4 }, { { 0, 1 }, { -k, -0.02 } })
    nsds:insertDynamicalSystem(plant)
    local relay = ns.RelayNSL(1, -0.3, 0.3)
    nsds:link(ns.Interaction(relay, ns.FirstOrderLinearTIR({ { 1, 0.1 * k } }, { { 0 }, { 1 } }), "relay" .. k), plant)
    table.move({ { plant, "A", 2, 1 }, { relay, "ub" } }, 1, 2, #parameters + 1, parameters)
  end
  parameters[#parameters + 1] = "x0"
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI()), parameters
end

describe("the record of simu:gradient", function()
  -- The gradient of a cost in so many bytes, and what is told of them.
  local function gradient(make, memory, stops, ...)
    local simu, parameters, mass = make(...)
    if stops then simu:addEvent { name = "late", g = function(t, x) return t + 0.1 * x[1] - 35 end, terminal = true } end
    local options = { memory = memory, parameters = parameters, terminal = function(x) return x[1] + x[3] end }
    options.cost = function(_, x) return x[2] ^ 2 end
    local value, slopes, sol, told = simu:gradient(options)
    local last = sol.x[#sol]
    if mass then assert.same({ last[1], last[2] }, { mass:q()[1], mass:q()[2] }) end
    return value, slopes, told
  end

  it("keeps to its bound of memory, with the same bits", function()
    for _, case in ipairs { { driven, 60 }, { driven, 60, true }, { islands } } do
      local make, T, stops = table.unpack(case)
      local value, slopes, whole = gradient(make, math.huge, stops, T)
      local same, bits, told = gradient(make, 60000, stops, T)
      assert.equal(value, same)
      for j = 1, #slopes do assert.equal(slopes[j], bits[j]) end
      assert.equal(0, whole.again)
      assert.is_true(told.memory <= 60000 and whole.memory > 4 * told.memory, told.memory .. " of " .. whole.memory)
      assert.is_true(told.again > 0)
    end
  end)

  it("takes a positive number of bytes", function()
    local simu = driven(1)
    assert.has_error(function() simu:gradient { cost = math.abs, parameters = { "x0" }, memory = -1 } end,
      "gradient: memory: expected a positive number of bytes, got -1")
    assert.has_error(function() simu:gradient { cost = math.abs, parameters = { "x0" }, memory = "1 GB" } end,
      "gradient: memory: expected a positive number of bytes, got '1 GB'")
  end)
end)

describe("sol:at of a run with sensitivities", function()
  it("has S at any time", function()
    local simu = switched()
    local sol = simu:run { sensitivities = { "x0" }, dense = true }
    assert.near(1, sol:at(0.2).S[1][1], 1e-12)
    assert.near(1 / 3, sol:at(1.7).S[1][1], 1e-10)
    local several = sol:at { 0.2, 1.7 }
    assert.equal(sol:at(0.2).S[1][1], several.S[1][1][1])
    assert.equal(sol:at(1.7).S[1][1], several.S[2][1][1])
    local t = sol.events[1].t
    assert.near(1, sol:at(t, "before").S[1][1], 1e-12)
    assert.near(1 / 3, sol:at(t).S[1][1], 1e-10)
    assert.is_nil(switched():run():at(2).S)
  end)
end)

describe("a gradient by steps", function()
  it("is never that of a part of a run: a record without its start is told, or forward derivatives serve", function()
    local adjoint = require "nslua.core".adjoint
    local function build()
      local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, -0.1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5)), ds
    end
    local asked = { terminal = function(x) return x[1] + x[2] ^ 2 end, parameters = { "x0" }, memory = 1 }
    local _, whole = build():gradient(asked)
    local earlier, calls, simu = adjoint.earlier, 0, (build())
    adjoint.earlier = function()
      calls = calls + 1
      return false
    end
    local good, _, slopes = pcall(simu.gradient, simu, asked)
    local other, ds = build()
    ds:x()[1] = 0.5
    local again, text = pcall(other.gradient, other, asked)
    adjoint.earlier = earlier
    assert.is_true(good and calls == 2)
    for j = 1, 2 do assert.near(whole[j], slopes[j], 1e-12) end
    assert.is_false(again)
    local told = "gradient: the record of the run begins after t=0: the adjoint pass can't go back to its start"
    assert.truthy(text:find(told, 1, true), text)
  end)
end)
