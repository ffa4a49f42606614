-- Clocks and discrete states: they belong to the simulation, whatever is done with it.
local ns = require "nslua"
local campaign = require "campaign"
local expect = require "expect"
local host = require "host"
local numbers = require "random_numbers"
local solver = require "fmu.solver"
local trail = require "trail"

local near, fails = expect.near_number, expect.fails

-- x' = -x + b, x(0) = 1, or another b; the simulation and the system.
local function lag(options)
  options = options or {}
  local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }, options.b or { 0 })
  local nsds = ns.NonSmoothDynamicalSystem(0, options.T or 1)
  nsds:insertDynamicalSystem(ds)
  local grid = options.points and ns.TimeDiscretisation(options.points) or ns.TimeDiscretisation(0, options.h or 0.125)
  if options.events then return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()), ds end
  return ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(options.theta or 0.5)), ds
end

local function times_of(options)
  local simu = lag(options)
  local times = {}
  simu:every { period = options.period, offset = options.offset, act = function(t) times[#times + 1] = t end }
  simu:run()
  return times
end

-- A buck converter whose ramp begins anew by a clock.
local function buck()
  local R, C, L, T = 22, 47e-6, 20e-3, 4e-4
  local plant = ns.FirstOrderLinearTIDS({ 12, 0.55 }, { { -1 / (R * C), 1 / C }, { -1 / L, 0 } }, { 0, 10 / L })
  local ramp = ns.FirstOrderLinearR { C = { { 8.4, 0 } }, B = { { 0 }, { 10 / L } } }
  ramp:setzPtr(ns.vector { 0 })
  ramp:setComputeEFunction(function(t, z, e) e[1] = -8.4 * 11.3 - 3.8 - 4.4 * (t - z[1]) / T end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 20 * T)
  nsds:insertDynamicalSystem(plant)
  nsds:link(ns.Interaction(ns.RelayNSL(1), ramp, "switch"), plant)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, T), ns.RungeKuttaOSI())
  simu:every { name = "ramp", period = T, act = function(t) ramp:z()[1] = t end }
  return simu
end

describe("a clock", function()
  it("acts at exact instants, on the grid and between its times", function()
    assert.same({ 0, 0.25, 0.5, 0.75, 1 }, times_of { period = 0.25 })
    local want = {}
    for k = 0, 9 do want[k + 1] = 0.05 + k * 0.1 end
    for _, more in ipairs { { h = 0.125 }, { h = 1 }, { events = true, h = 0.32, T = 0.96 } } do
      more.period, more.offset = 0.1, 0.05
      local times = times_of(more)
      assert.equal(#want, #times)
      for k = 1, 10 do near(want[k], times[k], 2e-16) end -- a time of the grid that is the same to rounding counts
    end
    assert.same({ 0.3, 0.8 }, times_of { period = 0.5, offset = 0.3 })
    assert.same({ -0.3 + 0.5, -0.3 + 2 * 0.5 }, times_of { period = 0.5, offset = -0.3 })
    assert.same({ 0, 0.1, 0.2, 0.1 * 3, 0.4 }, times_of { period = 0.1, h = 0.1, T = 0.4 }) -- the times of the grid
  end)

  it("gives the run that a finer grid gives to a loop by hand", function()
    for theta = 0.5, 1, 0.5 do
      local simu, ds = lag { T = 1, h = 0.25, theta = theta }
      simu:every { period = 0.375, act = function() ds:setbPtr { -ds:x()[1] } end }
      simu:run()
      local hand, own = lag { points = { 0, 0.25, 0.375, 0.5, 0.75, 1 }, theta = theta }
      own:setbPtr { -1 }
      for k in hand:steps() do
        if k == 2 or k == 4 then own:setbPtr { -own:x()[1] } end
      end
      assert.equal(own:x()[1], ds:x()[1])
    end
  end)

  it("holds exactly what it sets: the closed form of a sampled loop", function()
    for _, bind in ipairs { "b", "z", "state" } do
      local ds
      if bind == "z" then
        ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = ns.vector { 0 }, f = function(_, x, z, f) f[1] = -x[1] + z[1] end }
      else
        ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }, { 0 })
      end
      local nsds = ns.NonSmoothDynamicalSystem(0, 3)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.6), ns.RungeKuttaOSI(1e-13))
      local s = simu:every { name = "hold", period = 0.5, state = { u = { 0 } }, act = function(_, s)
        s.u[1] = -2 * ds:x()[1]
        if bind == "b" then ds:setbPtr(s.u:copy()) elseif bind == "z" then ds:z()[1] = s.u[1] end
      end }
      if bind == "state" then ds:setbPtr(s.u) end
      local e = math.exp(-0.5)
      local sol = simu:run()
      near((e - 2 * (1 - e)) ^ 6, ds:x()[1], 1e-12)
      near(-2 * (e - 2 * (1 - e)) ^ 6, sol["hold.u[1]"][#sol], 2e-12)
      simu:reset()
      assert.equal(0, s.u[1])
      assert.equal(sol.x[#sol][1], simu:run().x[#sol][1])
    end
  end)

  it("occurs with others at the same instant in the order in which they were declared", function()
    local simu = lag { T = 1, h = 0.2 }
    local order = {}
    local function note(name) return function() order[#order + 1] = name end end
    simu:every { name = "sensor", period = 0.5, act = note "sensor" }
    simu:addEvent { name = "event", g = function(t) return t - 0.5 end, action = note "event" }
    simu:every { name = "fast", period = 0.25, act = note "fast" }
    simu:every { name = "actuator", period = 0.5, act = note "actuator" }
    simu:run()
    assert.same("sensor fast actuator fast sensor event fast actuator fast sensor fast actuator", table.concat(order, " "))
  end)

  it("has its states as columns, on both sides of an instant", function()
    local simu = lag { T = 0.5, h = 0.25 }
    simu:every { name = "c", period = 0.25, state = { n = 0, v = { 0, 5 } },
      act = function(_, s) s.n, s.v[1] = s.n + 1, -s.n end }
    local sol = simu:run { observe = function() return { twice = 2 * simu:discrete "c".n } end }
    assert.same({ 0, 0, 0.25, 0.25, 0.5, 0.5 }, sol.t:totable())
    assert.same({ 0, 1, 1, 2, 2, 3 }, sol["c.n"]:totable())
    assert.same({ 0, 2, 2, 4, 4, 6 }, sol.twice:totable())
    assert.same({ 0, 0, 0, -1, -1, -2 }, sol["c.v[1]"]:totable())
    assert.same({ 5, 5, 5, 5, 5, 5 }, sol["c.v[2]"]:totable())
    simu:reset()
    sol = simu:run { rows = "grid" }
    assert.same({ 1, 2, 3 }, sol["c.n"]:totable())
    assert.equal(0, #sol.events)
    assert.same({ name = "c", direction = 0, terminal = 0, count = 3, acts = true, period = 0.25, offset = 0 },
      simu:userEvents()[1])
  end)

  it("acts again after a failure, and leaves nothing of the attempt", function()
    local simu, ds = lag()
    local fail = { true }
    local s = simu:every { name = "c", period = 0.5, state = { n = 0 }, act = function(t, s)
      s.n = s.n + 1
      ds:setbPtr { 3 }
      if t == 0.5 and fail[1] then error "no" end
    end }
    local b = 0
    fails("clock 'c' act: t=0.5 step 4: no", simu.run, simu)
    assert.equal(1, s.n)
    assert.equal(3, ds:b()[1])
    fail[1] = false
    simu:run()
    assert.equal(3, s.n)
    simu:reset()
    assert.equal(b, ds:b()[1])
  end)
end)

describe("discrete states", function()
  it("of a buck converter give the same run after reset, from a checkpoint, in clones", function()
    local want = trail.of(buck())
    local simu = buck()
    local sol = simu:run()
    near(12.6, sol.x[#sol][1], 1)
    simu:reset()
    assert.same(want, trail.of(simu))
    local file = host.new_directory() .. "/buck.state"
    simu:reset()
    for k = 1, #want do
      local copy = simu:clone()
      if k % 6 == 0 then
        simu:save_state(file)
        local fresh = buck()
        fresh:load_state(file)
        assert.equal(want[#want], trail.of(fresh)[#want - k + 1])
        fresh:reset()
        assert.same(want, trail.of(fresh))
        assert.equal(want[#want], trail.of(copy)[#want - k + 1])
        copy:reset()
        assert.same(want, trail.of(copy))
      end
      simu:computeOneStep()
      simu:nextStep()
      assert.equal(want[k], trail.state(simu))
    end
  end)

  it("of an event count and switch: a thermostat", function()
    local room = ns.FirstOrderLinearTIDS({ 15 }, { { -0.5 } }, { 0 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 6)
    nsds:insertDynamicalSystem(room)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local s = simu:addEvent { name = "switch", state = { heat = { 15 }, count = 0 },
      g = function(_, x, s) return s.heat[1] > 5 and x[1] - 20 or 18 - x[1] end, direction = "up",
      action = function(_, s) s.heat[1], s.count = s.heat[1] > 5 and 5 or 15, s.count + 1 end }
    room:setbPtr(s.heat)
    local sol = simu:run()
    near(2 * math.log(3 / 2), sol.events[1].t, 1e-9)
    assert.equal(#sol.events, s.count)
    local copy = simu:clone()
    simu:reset()
    copy:reset()
    for _, again in ipairs { simu, copy } do
      local row = again:run()
      assert.equal(sol.x[#sol][1], row.x[#row][1])
    end
  end)

  it("draw the same numbers in every run", function()
    local simu = lag()
    local draws = {}
    simu:every { name = "noise", period = 0.25, state = { rng = ns.rng(7), v = 0 }, act = function(_, s)
      s.v = s.rng:normal()
      draws[#draws + 1] = s.v
    end }
    local rng = ns.rng(7)
    local sol = simu:run()
    for k = 1, 5 do assert.equal(rng:normal(), draws[k]) end
    simu:reset()
    for k = 1, 2 do simu:computeOneStep() simu:nextStep() assert.truthy(k) end
    local copy = simu:clone()
    copy:run()
    assert.equal(sol["noise.v"][#sol], copy:discrete "noise".v)
    sol = simu:run()
    assert.equal(draws[5], sol["noise.v"][#sol])
  end)

  it("tell what they are, and what they do not take", function()
    local simu = lag()
    local s = simu:every { name = "c", period = 1, state = { u = 1, i = { 1, 2 }, rng = ns.rng(3) }, act = type }
    assert.equal("discrete states of 'c', i: 2 numbers, rng: a generator, u = 1.0", tostring(s))
    local seen = {}
    for name, value in pairs(s) do seen[name] = value end
    assert.equal(1, seen.u)
    assert.equal(2, seen.i[2])
    fails("'c' has no discrete state 'v' (known: i, rng, u)", function() return s.v end)
    fails("c: u: expected a finite number, got number nan", function() s.u = 0 / 0 end)
    fails("c: i: expected a vector of 2, got a list of 1", function() s.i = { 1 } end)
    fails("c: rng is a generator of random numbers; it draws, and is not set", function() s.rng = 1 end)
    fails("discrete: there is no event or clock 'd'", simu.discrete, simu, "d")
    local function refused(text, options) fails("every: " .. text, simu.every, simu, options) end
    refused("period: expected a finite number, got nil", { act = type })
    refused("period: expected a number above 0, got -1.0", { period = -1, act = type })
    refused("period: instants at a distance of 1e-300 can not be told apart in [0.0, 1.0]", { period = 1e-300, act = type })
    refused("offset: instants at a distance of 1.0 can not be told apart at 1e+300", { period = 1, offset = 1e300, act = type })
    refused("act: expected a function, got nil", { period = 1 })
    refused("there is an event 'c' already", { name = "c", period = 1, act = type })
    refused("state: expected a table of values by name, got number 3", { period = 1, act = type, state = 3 })
    refused("state: expected values by name, got the key 1", { period = 1, act = type, state = { 1 } })
    refused("state.u: expected a number, a vector or an rng, got boolean", { period = 1, act = type, state = { u = true } })
    refused("state.u: it has no numbers", { period = 1, act = type, state = { u = {} } })
    refused("unknown option 'action' (known: name, period, offset, state, act)", { period = 1, action = print })
    simu:computeOneStep()
    refused("the run has begun; add clocks before the first step, or after reset()", { period = 1, act = type })
  end)

  it("are finite after an action, also where it writes elements of a vector", function()
    local simu = lag()
    local bad = true
    local s = simu:every { name = "c", period = 1, state = { u = { 1, 2 } }, act = function(_, own)
      own.u[2] = bad and 0 / 0 or 3
    end }
    fails("clock 'c' action: u[2] is not finite (t=0 step 1)", simu.run, simu)
    assert.equal(2, s.u[2])
    bad = false
    simu:run()
    assert.equal(3, s.u[2])
  end)

  it("are asked for where an action changes a variable", function()
    local count, last, log, helped = 0, nil, {}, 0
    local function help() helped = helped + 1 end
    local function refused(text, act)
      local simu = lag()
      simu:every { name = "c", period = 0.5, act = act }
      fails(text, simu.run, simu)
    end
    refused("clock 'c' act: t=0 step 1: it changes the variable 'count' outside of it, from 0 to 1, which reset, clone and "
      .. "checkpoints do not know: keep it in a discrete state, every { state = { count = 0 }, "
      .. "act = function(t, s, simu) s.count = ... end }", function() count = count + 1 end)
    refused("the variable 'last' outside of it, from nil to 0.0", function(t) last = t end)
    refused("the variable 'helped' outside of it, from 0 to 1", function() help() end)
    assert.same({ 0, 0 }, { count, helped }) -- set back
    assert.is_nil(last)
    local vector = ns.vector { 0 }
    refused("the variable 'vector' outside of it, from vector of 1 to vector of 1", function() vector = vector + 1 end)
    local simu = lag()
    simu:addEvent { name = "e", at = 0.5, action = function() count = count + 1 end }
    fails("addEvent { state = { count = 0 }, action = function(simu, s) s.count = ... end }", simu.run, simu)
    simu = lag()
    simu:every { period = 0.5, act = function(t)
      log[#log + 1] = t
      vector[1] = t
      last = last or {}
    end }
    simu:run()
    assert.same({ 0, 0.5, 1 }, log)
  end)
end)

describe("a clone", function()
  -- Each of these writes b of the lag by another way.
  local ways = {
    captured = function(simu, ds) simu:every { period = 0.3, act = function() ds:setbPtr { -2 * ds:x()[1] } end } end,
    by_table = function(simu, ds)
      local model = { plant = ds }
      simu:every { period = 0.3, act = function() model.plant:setbPtr { -2 * model.plant:x()[1] } end }
    end,
    by_view = function(simu, ds)
      local x, u = ds:x(), ns.vector { 0 }
      ds:setbPtr(u)
      simu:every { period = 0.3, act = function() u[1] = -2 * x[1] end }
    end,
    by_state = function(simu, ds)
      local s = simu:every { name = "c", period = 0.3, state = { u = { 0 } }, act = function(_, s) s.u[1] = -2 * ds:x()[1] end }
      ds:setbPtr(s.u)
    end,
    by_matrix = function(simu, ds)
      local A = ns.matrix { { -1 } }
      ds:setAPtr(A)
      simu:every { period = 0.3, act = function() A[1][1] = -1 - ds:x()[1] end }
    end,
    by_argument = function(simu)
      simu:every { period = 0.3, act = function(_, _, s)
        local plant = s:nsds():dynamicalSystem(1)
        plant:setbPtr { -2 * plant:x()[1] }
      end }
    end }

  it("has actions that find its own objects", function()
    for name, way in pairs(ways) do
      local simu, ds = lag()
      way(simu, ds)
      local copy = simu:clone():clone()
      local want = lag()
      way(want, want:nsds():dynamicalSystem(1))
      want = want:run()
      copy:run()
      assert.equal(want.x[#want][1], copy:nsds():dynamicalSystem(1):x()[1], name)
      assert.equal(1, ds:x()[1])
      assert.equal(0, ds:b()[1])
      simu:run()
      assert.equal(want.x[#want][1], ds:x()[1], name)
    end
  end)
end)

describe("what is missing is told:", function()
  it("a discrete state of a clock without any; a number in the place of a vector that a model follows", function()
    local simu, ds = lag { T = 1 }
    simu:every { name = "c", period = 0.25, act = function(_, s) s.u = 1 end }
    fails("clock 'c' act: t=0 step 1: 'c' has no discrete state 'u': give it state = { u = ... }", simu.run, simu)
    local other, plant = lag { T = 1 }
    local s = other:every { name = "c", period = 0.25, state = { u = 0 }, act = function() end }
    fails("FirstOrderLinearTIDS: b: expected a vector, whose numbers it follows, got number 0.0; a discrete state that is "
      .. "followed is { 0.0 }", plant.setbPtr, plant, s.u)
    local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    fails("LagrangianLinearTIDS: fExt: expected a vector, whose numbers it follows, got number 3.0", mass.setFExtPtr, mass, 3)
    mass:setFExt(3)
    assert.same({ 3.0, 1.0 }, { mass:fExt()[1], ds:x()[1] })
  end)
end)

describe("a unit for co-simulation", function()
  it("has the clocks of its simulation, on its grid and off it, also after a restored state", function()
    local kind = require "nslua.fmi.simulation_model"
    local function make()
      local simu, ds = lag { T = 2 }
      local s = simu:every { name = "c", period = 0.25, state = { u = { 0 }, n = 0 }, act = function(_, s)
        s.n = s.n + 1
        s.u[1] = s.n - ds:x()[1]
      end }
      ds:setbPtr(s.u)
      return simu
    end
    local want = make():run()
    for _, h in ipairs { 0.25, 0.5, 0.1 } do
      local unit, last, saved = kind.open({ data = { setup = make } }, {}, { start = 0, stop = 2 }), math.floor(2 / h + 0.5), nil
      for k = 1, last do
        kind.advance(unit, k * h)
        if k == 3 then saved = kind.save(unit) end
      end
      local x, s = unit.simulation:nsds():dynamicalSystem(1):x(), unit.simulation:discrete "c"
      near(want.x1[#want], x[1], h == 0.1 and 1e-3 or 0) -- a step of the grid that is divided is another one
      assert.equal(9, s.n)
      local end_of_run = x[1]
      kind.restore(unit, saved)
      for k = 4, last do kind.advance(unit, k * h) end
      assert.equal(end_of_run, x[1])
      assert.equal(9, s.n)
    end
  end)
end)

-- ---- a random family ----

-- A plant of first order with relays, or a bouncing mass, with one to three clocks that set z, b, a bound or a discrete state.
-- events: its simulation is an EventDriven, in each case.
local function random_loop(seed, events)
  local function make()
    math.randomseed(seed)
    local n, T = math.random(1, 3), 2
    local mechanics, driven = math.random() < 0.3, math.random() < 0.5 or events
    local nsds = ns.NonSmoothDynamicalSystem(0, T)
    local ds, law
    if mechanics then
      n = 1
      ds = ns.LagrangianLinearTIDS({ numbers.uniform(0.1, 1) }, { 0 }, { { 1 } })
      ds:setFExtPtr { -5 }
      law = ns.NewtonImpactNSL(0.5)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } }), ds)
    else
      local A = numbers.matrix_within(n, n, 1)
      for i = 1, n do A[i][i] = A[i][i] - 1.5 end
      ds = ns.FirstOrderLinearTIDS(numbers.vector_within(n, 1), A, numbers.vector_within(n, 0.1))
      nsds:insertDynamicalSystem(ds)
      if math.random() < 0.6 then
        law = ns.RelayNSL(1, -0.3, 0.3)
        local C, B = numbers.matrix_within(1, n, 1), numbers.matrix_within(n, 1, 1)
        for i = 1, n do B[i][1] = C[1][i] end
        nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR(C, B)), ds)
      end
    end
    local grid = ns.TimeDiscretisation(0, ({ 0.1, 0.0625, 0.08 })[math.random(3)])
    local simu
    if driven then simu = ns.EventDriven(nsds, grid, ns.RungeKuttaOSI())
    elseif mechanics then simu = ns.TimeStepping(nsds, grid, ns.MoreauJeanOSI(0.5))
    else simu = ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(math.random() < 0.5 and 0.5 or 1)) end
    for c = 1, math.random(3) do
      local period, gain, what = ({ 0.1, 0.25, 0.03, 1 / 3 })[math.random(4)], numbers.signed(), math.random(3)
      simu:every { name = "c" .. c, period = period, offset = math.random() < 0.5 and 0 or 0.2,
        state = { i = 0, u = { 0, 0 }, r = ns.rng(c) }, act = function(t, s, own)
          local system = own:nsds():dynamicalSystem(1)
          local x = system:x()
          s.i = 0.5 * s.i + x[1] + 0.01 * s.r:normal()
          s.u = { t, s.i }
          if what == 1 and not mechanics then system:setbPtr(ns.ones(n) * (gain * s.i))
          elseif what == 1 then system:setFExtPtr { -5 + gain * s.i }
          elseif what == 2 and law and not mechanics then
            own:nsds():interaction(1):nonSmoothLaw():setUb(0.3 + math.abs(gain) * 0.1)
          else x[#x] = x[#x] + 0.01 * gain end
        end }
    end
    return simu
  end
  return make
end

-- The states, the discrete ones, too.
local function bits(simu)
  local parts = { trail.state(simu) }
  for _, event in ipairs(simu:userEvents()) do
    for name, value in pairs(simu:discrete(event.name)) do parts[#parts + 1] = name .. tostring(value) end
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

describe("random sampled loops", function()
  it("have the same bits by run, by hand, after reset, from a checkpoint, in a clone #once", function()
    local count, tell = campaign(12, 0.01)
    local file = host.new_directory() .. "/loop.state"
    for seed = 1, count do
      local make = random_loop(seed)
      local want = trail.of(make(), bits)
      local simu = make()
      simu:run()
      assert.equal(want[#want], bits(simu), seed)
      simu:reset()
      local at = math.random(#want - 1)
      for _ = 1, at do simu:computeOneStep() simu:nextStep() end
      assert.equal(want[at], bits(simu), seed)
      simu:save_state(file)
      local fresh, copy = make(), simu:clone()
      fresh:load_state(file)
      for _, other in ipairs { fresh, copy, simu } do
        assert.equal(want[#want], trail.of(other, bits)[#want - at], seed)
        other:reset()
        assert.same(want, trail.of(other, bits), seed)
      end
    end
    tell("sampled loops", count)
  end)

  it("are followed by the solver of another tool, in model exchange, also from a stored state #once", function()
    local count, tell = campaign(4, 0.01)
    for seed = 1, count do
      local make = random_loop(seed, true)
      local want = make()
      want:run()
      local c, object, sizes = solver.inside(make, 2)
      local saved, from
      sizes.on = function(t)
        if t > 0.7 and not saved then saved, from = c.kind.save(object), t end
      end
      for round = 1, 2 do
        local x = solver.integrate(c, 2, sizes)
        local message = ("seed %d, round %d"):format(seed, round)
        c.kind.subject(object)
        local function same(a, b) assert.near(0, (a - b):norm(math.huge), 1e-6, message) end
        -- the first state alone: a velocity that a clock writes at the end of the run has its impact in the unit, not in the run
        assert.near(want:nsds():dynamicalSystem(1):x()[1], object.simulation:nsds():dynamicalSystem(1):x()[1], 1e-6, message)
        for _, clock in ipairs(want:userEvents()) do
          same(want:discrete(clock.name).u, object.simulation:discrete(clock.name).u)
        end
        assert.truthy(#x > 0)
        c.kind.restore(object, saved)
        sizes.from = from
      end
    end
    tell("sampled loops in model exchange", count)
  end)
end)
