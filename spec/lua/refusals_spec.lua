-- Bad arguments of drivelines, circuits, signals and controllers: each error names the function or the object, the
-- argument, what was expected and what came, at the place in the user's code.
local ns = require "nslua"

-- The message of an error, which begins with a place in this file.
local function refusal(f)
  local good, text = pcall(f)
  assert.is_false(good)
  local message = text:match "^[^\n:]*refusals_spec%.lua:%d+: (.*)$"
  assert.is_truthy(message, text)
  return message
end

local function refused(cases)
  for _, case in ipairs(cases) do
    local text = refusal(case[2])
    assert.is_truthy(text:find(case[1], 1, true), ("expected %s, got %s"):format(case[1], text))
  end
end

local nan = 0 / 0

local function nothing() end
local function word() return "x" end

describe("Refusals of drivelines and circuits", function()
  local function two() return ns.driveline():inertia("J", "a", 1, { speed = 1 }):inertia("K", "b", 2) end
  local function held() return two():clutch("C", "a", "b", 1, { static = 2 }) end
  local span = { stop = 1, step = 0.1 }

  it("name the part and the argument of a function that gives no number", function()
    local says = "expected a function that returns a number, got "
    refused {
      { "torque 'T': value: " .. says .. "nil from it", function() two():torque("T", "a", nothing):run(span) end },
      { "torque 'T': value: " .. says .. "'x' from it", function() two():torque("T", "a", word):run(span) end },
      { "spring 'S': stiffness: " .. says .. "nil", function() two():spring("S", "a", "b", nothing):run(span) end },
      { "damper 'D': damping: " .. says .. "nil", function() two():damper("D", "a", "b", nothing):run(span) end },
      { "speed 'V': value: " .. says .. "nil", function() two():speed("V", "a", nothing):run(span) end },
      { "position 'P': value: " .. says .. "nil", function() two():position("P", "a", nothing):run(span) end },
      { "clutch 'C': capacity: t=0: expected a number of 0 or more, got nil", function()
        two():clutch("C", "a", "b", nothing):run(span)
      end },
      { "voltage 'V': value: " .. says .. "nil", function()
        ns.circuit():voltage("V", "in", "0", nothing):resistor("R", "in", "x", 1):inductor("L", "x", "0", 1):run(span)
      end },
    }
  end)

  it("name the argument of a part", function()
    refused {
      { "clutch 'C': capacity: expected a number, a function of time", function() two():clutch("C", "a", "b") end },
      { "belt 'B': grip: expected a number, a function of time", function()
        two():belt("B", "a", "b", 1, 1, { grip = "x" })
      end },
      { "gear 'G': efficiency: expected a number or 2 numbers, got 3", function()
        two():gear("G", "a", "b", 1, { efficiency = { 0.5, 0.5, 0.5 } })
      end },
      { "clutch 'C': curve: times: expected at least 2 numbers, got 0", function()
        two():clutch("C", "a", "b", 1, { curve = {} })
      end },
    }
  end)

  it("tell what the simulation does not take, and which solution is another's", function()
    local sol = select(2, two():run { stop = 0.1, step = 0.1 })
    local other = two():brake("Q", "a", 1)
    other:system()
    local d = held()
    local simu = d:simulation(span)
    refused {
      { "EventDriven: expected an integrator such as RungeKuttaOSI, got a MoreauJeanOSI", function()
        two():simulation { stop = 1, step = 0.1, integrator = ns.MoreauJeanOSI(0.5) }
      end },
      { "on: a TimeStepping does not locate the events of laws; use EventDriven", function()
        held():simulation { stop = 1, step = 0.1, method = ns.TimeStepping }
      end },
      { "on: there is an event 'C:", function() d:attach(simu) end },
      { "attach: expected a simulation of this driveline, got one without a system 'driveline'", function()
        other:attach(ns.ControlZOHSimulation(0, 1, 0.1).simulation)
      end },
      { "set: expected a simulation of this driveline, got one without a system 'driveline'", function()
        other:set(ns.ControlZOHSimulation(0, 1, 0.1).simulation, "Q", 1)
      end },
      { "columns: sol: expected a solution with 1 multipliers, got one with 0", function() other:columns(sol) end },
      { "columns: sol: expected a solution with 6 states, got one with 4", function()
        local more = two():inertia("L", "c", 1)
        more:system()
        more:columns(sol)
      end },
    }
  end)

  it("tell a source that is not finite where only columns ask it", function()
    local function late(t) return t > 0.5 and nan or 1 end
    refused {
      { "voltage 'V': value: t=0.6: expected a finite number, got ", function()
        ns.circuit():voltage("V", "in", "0", late):resistor("R", "in", "0", 1):run(span)
      end },
      { "current 'I': value: t=0.3: expected a finite number, got -inf", function()
        ns.circuit():current("I", "in", "0", function(t) return t < 0.25 and 1 or -1 / 0 end):resistor("R", "in", "0", 1):run(span)
      end },
    }
  end)

  it("name options of runs and pictures of circuits", function()
    local c = ns.circuit():voltage("V", "in", "0", 1):resistor("R", "in", "x", 1):inductor("L", "x", "0", 1)
    c:run(span)
    refused {
      { "run: sensitivities: rtol: expected a number in [1e-14, 0.1], got -1", function()
        c:run { stop = 1, step = 0.1, sensitivities = { "R" }, rtol = -1 }
      end },
      { "parameter: R: expected a number, got nil", function() c:parameter("R").set() end },
      { "figure: figsize: expected {width, height}", function() c:plot({ "i.L" }, { figsize = 3 }) end },
      { "harmonics: expected the name of a column (t), got 'i.L'", function()
        c:harmonics("i.L", { frequency = 1, columns = { t = { 0, 1 } } })
      end },
    }
  end)
end)

describe("Refusals of mechanics", function()
  it("name what sys:insert does not take, and a friction of the slip that is not a number", function()
    local function body()
      local sys = ns.mechanics.system { gravity = { 0, -9.81 } }
      sys:free_body { mass = 1, inertia = 1 }
      return sys, ns.NonSmoothDynamicalSystem(0, 1), { q0 = { 0, 0, 0 }, v0 = { 0, 0, 0 } }
    end
    refused {
      { "mechanics: insert: name: expected a string, got 3", function()
        local sys, nsds, o = body()
        o.name = 3
        sys:insert(nsds, o)
      end },
      { "NonSmoothDynamicalSystem is closed", function()
        local sys, nsds, o = body()
        nsds:close()
        sys:insert(nsds, o)
      end },
      { "NewtonImpactSlipFrictionNSL mu: u=2: expected a finite number, 0.0 or more, got nan", function()
        local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 2 }, ns.eye(2))
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(block)
        nsds:link(ns.Interaction(ns.NewtonImpactSlipFrictionNSL(0, function() return nan end, 2),
          ns.LagrangianLinearTIR(ns.eye(2))), block)
        ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-6)):run()
      end },
    }
  end)
end)

describe("Refusals of signals and control", function()
  local function loop()
    local plant = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { 0, 0 } })
    local sim, sensor = ns.ControlZOHSimulation(0, 1, 0.1), ns.LinearSensor(plant)
    sim:addDynamicalSystem(plant)
    sim:addSensor(sensor, 0.1)
    return sim, sensor, plant
  end

  local function act(class, ...)
    local sim, sensor = loop()
    sim:addActuator(ns[class](sensor, ...), 0.1)
    sim:run()
  end

  local function switch(o)
    local sim = loop()
    o.on, o.off = 1, 0
    ns.Hysteresis(sim.simulation, o)
    sim:run()
  end

  it("name what a signal does not take", function()
    refused {
      { "clock: options: expected a table, got nil", function() ns.clock() end },
      { "pwm: carrier: expected a table { period = }, got 3", function() ns.pwm { duty = 0.5, carrier = 3 } end },
      { "pwm: carrier: expected a table { period = }, got nil", function() ns.pwm { duty = 0.5 } end },
      { "clock: high: expected a number, got 'x'", function() ns.clock { period = 1, high = "x" } end },
      { "sawtooth: t: expected a number, got nil", function() local _ = ns.sawtooth { period = 1 }() end },
      { "pwm: duty: expected a number, got nan", function() ns.pwm { duty = nan, carrier = { period = 1 } } end },
      { "pwm: duty: expected a number, got nil", function()
        local _ = ns.pwm { duty = nothing, carrier = { period = 1 } }(0.5)
      end },
      { "every: the run has begun; add clocks before the first step, or after reset()", function()
        local sim = loop()
        sim:run()
        ns.follow(sim.simulation, ns.clock { period = 0.3 })
      end },
      { "SlidingSurfaceR: velocity: expected a list of numbers, got an empty one", function()
        ns.SlidingSurfaceR({}, {})
      end },
      { "SlidingSurfaceR: velocity: expected a number other than 0 among them", function()
        ns.SlidingSurfaceR({ 0, 0 }, { 1, 1 })
      end },
      { "follow: expected a signal, as of ns.clock, got nil", function() ns.follow((loop())) end },
      { "voltage 'V': value: expected a signal of numbers, as ns.clock with low and high", function()
        ns.circuit():voltage("V", "a", "0", ns.clock { period = 1 })
      end },
      { "SlidingSurfaceR: position[1] is nan", function() ns.SlidingSurfaceR({ 1 }, { nan }) end },
      { "Hysteresis: input: expected a number, got nil", function() switch { input = nothing } end },
      { "Hysteresis: input: expected a number, got 'x'", function() switch { input = word } end },
      { "addEvent: name: expected a string, got number 3", function()
        switch { input = function() return 1 end, name = 3 }
      end },
      { "Hysteresis: input: expected a number, got nil", function()
        switch { input = function(t) return t < 0.5 and t or nil end }
      end },
    }
  end)

  it("name what a controller, a sensor and a control simulation do not take", function()
    local B, law = { 0, 1 }, function() return { 0 } end
    local K = { 1, 2, 3 }
    refused {
      { "PID: deltaT: expected a number above 0, got 0", function() act("PID", B, { K = K, deltaT = 0 }) end },
      { "PID: ref: expected a number, got nil", function() act("PID", B, { K = K, ref = nothing }) end },
      { "setK: expected a PID before a colon, as in c:setK(...)", function()
        local _, sensor = loop()
        ns.PID(sensor).setK(K)
      end },
      { "PID: law: expected 2 numbers, got a list of 1", function() act("PID", ns.eye(2), { K = K }) end },
      { "Actuator: law: expected 1 numbers, got 3", function() act("Actuator", B, { law = function() return 3 end }) end },
      { "Actuator: state: expected a table, got 3", function() act("Actuator", B, { law = law, state = 3 }) end },
      { "Actuator: state: 'u' is one of the controller's own", function()
        act("Actuator", B, { law = law, state = { u = 1 } })
      end },
      { "every: state.a: expected a number, a vector or an rng, got string", function()
        act("Actuator", B, { law = law, state = { a = "x" } })
      end },
      { "LinearSMCOT2: limit: expected a number above 0, got -1", function()
        act("LinearSMCOT2", B, { Csurface = { 1, 1 }, limit = -1 })
      end },
      { "Twisting: gain: expected a number above 0, got -1", function() act("Twisting", -1, 0.5) end },
      { "Twisting: hControl: expected a number, got 'x'", function() act("Twisting", 1, 0.5, "x") end },
      { "Twisting: hControl: expected a number of 0 or more, got -1", function() act("Twisting", 1, 0.5, -1) end },
      { "dynamical system 'ds 1' is closed", function()
        local plant = select(3, loop())
        plant:close()
        ns.LinearSensor(plant)
      end },
      { "EventDriven is closed", function()
        local sim, _, plant = loop()
        sim.simulation:close()
        sim:addSensor(ns.LinearSensor(plant), 0.1)
      end },
      { "Twisting: B: expected 2 columns, for the two parts of u, got 1", function() act("Twisting", { B = B }) end },
      { "LinearSMC: sensor: expected one of the whole state, 2 numbers, got 1", function()
        local sim, _, plant = loop()
        local sensor = ns.LinearSensor(plant, { 1, 0 })
        sim:addSensor(sensor, 0.1)
        sim:addActuator(ns.LinearSMC(sensor, B, { Csurface = { 1, 1 } }), 0.1)
      end },
      { "addSensor: delay: expected a number of 0 or more, got -1", function()
        local sim, _, plant = loop()
        sim:addSensor(ns.LinearSensor(plant, { 1, 0 }, { delay = -1 }), 0.1)
      end },
      { "addSensor: its system, 'ds 1', is not in the graph of the simulation", function()
        loop():addSensor(ns.LinearSensor(select(3, loop())), 0.1)
      end },
      { "addSensor: its system is not in the graph of the simulation: add that before", function()
        loop():addSensor(ns.LinearSensor(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })), 0.1)
      end },
      { "LinearSensor: seed: expected an integer of 0 or more, got 1.5", function()
        ns.LinearSensor(select(3, loop()), { 1, 0 }, { seed = 1.5 })
      end },
      { "LinearSensor: name: expected a string, got 3", function()
        ns.LinearSensor(select(3, loop()), { 1, 0 }, { name = 3 })
      end },
      { "TimeDiscretisation: h: expected a positive number, got -1", function() ns.ControlZOHSimulation(0, 1, -1) end },
      { "run: unknown option 'foo'", function() loop():run { foo = 1 } end },
      { "run: options: expected a table, got 3", function() loop():run(3) end },
      { "insertDynamicalSystem: dynamical system 'ds 1' is already in", function()
        local sim, _, plant = loop()
        sim:addDynamicalSystem(plant)
      end },
      { "control.place: poles[1]: expected a number or { re, im }, got nan", function()
        ns.control.place({ { 1 } }, 1, { nan })
      end },
      { "figure: figsize: expected {width, height}", function()
        ns.control.bode_plot({ { { -1 } }, { { 1 } } }, { figsize = 3 })
      end },
    }
  end)
end)
