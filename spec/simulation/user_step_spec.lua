-- simu:addEvent{}: location, actions, terminal events, order, failures, states.
local events = require "simulation.events"
local host = require "host"
local models = require "models"
local ns = require "nslua"

local function near(expected, got, bound)
  assert.is_true(math.abs(got - expected) <= bound, ("expected %.17g, got %.17g"):format(expected, got))
end

local raises = require "expect".fails

-- A body with v' = -rate v + force, in EventDriven: its velocity is known in closed form.
local function motor(o)
  local body = ns.LagrangianLinearTIDS({ 0 }, { o.v or 0 }, { { 1 } }, nil, { { o.rate } })
  body:setFExtPtr { o.force }
  return events.simulation { systems = { body }, T = o.T or 4, h = o.h or 0.25 }, body
end

-- x' = rate, exact in every scheme.
local function ramp(o)
  o = o or {}
  local ds = ns.FirstOrderLinearTIDS({ o.x or 0 }, { { 0 } }, { o.rate or 1 })
  local simu = models.simulation { systems = { ds }, h = o.h or 0.1, T = o.T or 1, theta = o.theta }
  return simu, ds
end

describe("events of the user", function()
  it("switch a thermostat with hysteresis at its analytic times, in EventDriven", function()
    local rate, low, high = 0.5, 8, 10
    local simu, body = motor { rate = rate, force = 8, T = 12 }
    simu:addEvent { name = "off", g = function(_, x) return x[2] - high end, direction = "up",
      action = function() body:setFExtPtr { 1 } end }
    simu:addEvent { name = "on", g = function(_, x) return x[2] - low end, direction = "down",
      action = function() body:setFExtPtr { 8 } end }
    local sol = simu:run()
    local t, v, force = 0, 0, 8
    assert.is_true(#sol.events > 8)
    for i, e in ipairs(sol.events) do
      local to = i % 2 == 1 and high or low
      t = t + math.log((v - force / rate) / (to - force / rate)) / rate
      near(t, e.t, 1e-12 * 12)
      assert.equal(i % 2 == 1 and "off" or "on", e.name)
      assert.equal("user", e.kind)
      v, force = to, i % 2 == 1 and 1 or 8
    end
  end)

  it("switch at exact times where the scheme is exact, in TimeStepping, and leave the grid as it is", function()
    local simu, ds = ramp { rate = 1, T = 10, h = 0.3 }
    simu:addEvent { name = "high", g = function(_, x) return x[1] - 0.7 end, direction = "up",
      action = function() ds:setbPtr { -2 } end }
    simu:addEvent { name = "low", g = function(_, x) return x[1] + 0.1 end, direction = "down",
      action = function() ds:setbPtr { 1 } end }
    local sol, t = simu:run(), 0.7
    for i, e in ipairs(sol.events) do
      near(t, e.t, 1e-13 * 10)
      t = t + (i % 2 == 1 and 0.4 or 0.8)
    end
    assert.is_true(#sol.events > 14)
    local grid = {}
    for i = 1, #sol do if sol.t[i] ~= sol.t[math.max(i - 1, 1)] or i == 1 then grid[("%a"):format(sol.t[i])] = true end end
    for k = 0, simu:numberOfSteps() do assert.is_true(grid[("%a"):format(k * 0.3)]) end
  end)

  it("keep the order of the scheme in TimeStepping", function()
    local function error_of(h, theta)
      local ds = ns.FirstOrderLinearTIDS({ 15 }, { { -0.5 } }, { 15 })
      local simu = models.simulation { systems = { ds }, h = h, T = 2, theta = theta }
      simu:addEvent { g = function(_, x) return x[1] - 20 end, direction = 1, action = function() ds:setbPtr { 5 } end }
      simu:run()
      local t = math.log((15 - 30) / (20 - 30)) / 0.5
      return math.abs(ds:x()[1] - (10 + 10 * math.exp(-0.5 * (2 - t))))
    end
    assert.is_true(math.log(error_of(0.1, 0.5) / error_of(0.1 / 8, 0.5), 2) > 5.5)
    near(3, math.log(error_of(0.1, 1) / error_of(0.1 / 8, 1), 2), 0.5)
  end)

  it("make a bouncing ball that equals the one with a law", function()
    local law = events.ball { e = 0.8, T = 2 }
    local expected = law:run()
    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ball:setFExtPtr { -events.g }
    local simu = events.simulation { systems = { ball }, T = 2 }
    simu:addEvent { name = "bounce", g = function(_, x) return x[1] end, direction = "down",
      action = function() ball:velocity()[1] = -0.8 * ball:velocity()[1] end }
    local sol = simu:run()
    assert.equal(#expected.events, #sol.events)
    assert.equal(#expected, #sol)
    for i, e in ipairs(expected.events) do near(e.t, sol.events[i].t, 1e-13) end
    for i = 1, #sol do
      near(expected.q1[i], sol.q1[i], 1e-12)
      near(expected.v1[i], sol.v1[i], 1e-12)
    end
  end)

  it("bounce in TimeStepping, and tell an accumulation in both", function()
    local function ball(kind, e, T)
      local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      ds:setFExtPtr { -events.g }
      local nsds = ns.NonSmoothDynamicalSystem(0, T)
      nsds:insertDynamicalSystem(ds)
      local osi = kind == "EventDriven" and ns.RungeKuttaOSI() or ns.MoreauJeanOSI(0.5)
      local simu = ns[kind](nsds, ns.TimeDiscretisation(0, 0.05), osi)
      simu:addEvent { name = "bounce", g = function(_, x) return x[1] end, direction = "down",
        action = function() ds:velocity()[1] = -e * ds:velocity()[1] end }
      return simu
    end
    for _, kind in ipairs { "EventDriven", "TimeStepping" } do
      local sol = ball(kind, 0.8, 3):run()
      local t, v = math.sqrt(2 / events.g), events.g * math.sqrt(2 / events.g)
      for _, e in ipairs(sol.events) do
        near(t, e.t, 1e-11)
        v = 0.8 * v
        t = t + 2 * v / events.g
      end
      assert.is_true(#sol.events >= 5)
      for i = 1, #sol do assert.is_true(sol.q1[i] > -1e-9) end
      local simu = ball(kind, 0.5, 3)
      local ok, message = pcall(simu.run, simu, { partial = false })
      assert.is_false(ok)
      assert.matches("event 'bounce' occurs again and again near t=1.3545%d* %(step 28%): its times accumulate; let the action "
        .. "end that, or let it be terminal", tostring(message))
    end
  end)

  it("end a run: a ball that jumps over a net onto the table, and past its end", function()
    local ball = events.particle({ -1.37, 0.3 }, { 3, 1 })
    local simu = events.simulation { systems = { ball }, T = 5, h = 0.5, links = {
      { ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 0, 1 } }, "table", ball } } }
    simu:addEvent { name = "net", g = function(_, x) return x[1] end, terminal = false }
    simu:addEvent { name = "end of the table", g = function(_, x) return x[1] - 1.37 end, terminal = true }
    local sol = simu:run()
    assert.equal("completed", sol.status)
    assert.equal("event 'end of the table' ended the run at t = 0.9133333333", sol.message)
    near(2.74 / 3, sol.t[#sol], 1e-14)
    near(1.37, sol.x[#sol][1], 1e-14)
    assert.is_false(simu:hasNextEvent())
    assert.equal(sol.t[#sol], simu:startingTime())
    assert.equal(sol.t[#sol], simu:nextTime())
    assert.same({ "net", "impact", "end of the table" }, (function()
      local list = {}
      for _, e in ipairs(sol.events) do
        if e.name ~= "table" or list[#list] ~= "impact" then list[#list + 1] = e.name == "table" and e.kind or e.name end
      end
      return { list[1] == "impact" and list[2] or list[1], "impact", list[#list] }
    end)())
    raises("EventDriven: the end of the time interval is reached", simu.computeOneStep, simu)
    simu:removeEvent "end of the table"
    assert.is_true(simu:hasNextEvent())
    simu:run()
    assert.equal(5, simu:startingTime())
  end)

  it("end a run at the k-th occurrence, also in a loop by hand", function()
    local function make()
      local simu = ramp { T = 10 }
      simu:addEvent { name = "wave", g = function(t) return math.sin(t) end, direction = "down", terminal = 2 }
      return simu
    end
    local simu = make()
    local last
    for k, t in simu:steps() do last = { k, t } end
    near(3 * math.pi, last[2], 1e-13)
    assert.equal(94, simu:step())
    assert.equal(last[2], simu:startingTime())
    assert.equal(2, simu:userEvents()[1].count)
    simu = make()
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
    end
    assert.equal(last[2], simu:startingTime())
    simu:reset()
    assert.equal(0, simu:userEvents()[1].count)
    local sol = simu:run()
    assert.equal(last[2], sol.t[#sol])
  end)

  it("occur in the order of addEvent when they are simultaneous, and cause others", function()
    for _, kind in ipairs { "ramp", "motor" } do
      local order = {}
      local simu = kind == "ramp" and ramp() or (motor { rate = 0, force = 1, T = 1, h = 0.1 })
      local at = kind == "ramp" and 1 or 2
      local function add(name, g, more)
        local event = { name = name, g = g, state = { mode = 0 },
          action = function() order[#order + 1] = name if more then more() end end }
        return simu:addEvent(event)
      end
      local s = add("caused", function(_, _, own) return own.mode - 0.5 end)
      add("b", function(_, x) return x[at] - 0.55 end)
      add("a", function(_, x) return 0.55 - x[at] end, function() s.mode = 1 end)
      local sol = simu:run()
      assert.same({ "b", "a", "caused" }, order)
      for i = 2, 3 do near(sol.events[1].t, sol.events[i].t, 1e-15) end
      near(0.55, sol.events[1].t, 1e-14)
    end
  end)

  it("sample a control on a grid of its own", function()
    local simu, ds = ramp { rate = 0, x = 1, T = 2 }
    local times = {}
    simu:addEvent { name = "sample", g = function(t) return math.sin(math.pi * t / 0.25) end,
      action = function(s)
        times[#times + 1] = s:startingTime()
        ds:setbPtr { -ds:x()[1] }
      end }
    local sol = simu:run { partial = true }
    assert.equal("completed", sol.status)
    for i, t in ipairs(times) do near((i - 1) * 0.25, t, 1e-13) end
    assert.equal(9, #times) -- the last one at the end of the run, where g is 0 to rounding
    near(0.75 ^ 8, ds:x()[1], 1e-12)
  end)

  it("link, unlink and change laws and parameters in an action", function()
    for _, kind in ipairs { "EventDriven", "TimeStepping" } do
      local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      ball:setFExtPtr { -events.g }
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ball)
      local floor = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1 } }, "floor")
      nsds:link(floor, ball)
      local osi = kind == "EventDriven" and ns.RungeKuttaOSI() or ns.MoreauJeanOSI(0.5)
      local simu = ns[kind](nsds, ns.TimeDiscretisation(0, 0.1), osi)
      simu:addEvent { name = "trap door", g = function(t) return t - 1.234 end, action = function() nsds:unlink(floor) end }
      local sol = simu:run()
      local event = sol:at(1.234)
      near(event.x[1] + event.x[2] * (2 - 1.234) - 0.5 * events.g * (2 - 1.234) ^ 2, ball:q()[1], 1e-12)
      assert.equal(1.234, sol.events[#sol.events].t)
      assert.is_true(sol.y1[#sol] ~= sol.y1[#sol]) -- nan
      assert.equal(0, nsds:numberOfInteractions())
    end
    local simu, ds = ramp()
    ds:setzPtr(ns.vector { 0 })
    simu:addEvent { g = function(t) return t - 0.5 end, action = function() ds:z()[1] = 7 end }
    simu:run()
    assert.equal(7, ds:z()[1])
  end)

  it("join systems in an action", function()
    local a, b = ns.LagrangianLinearTIDS({ 0 }, { 1 }, { { 1 } }), ns.LagrangianLinearTIDS({ 3 }, { -1 }, { { 1 } })
    local simu = events.simulation { systems = { a, b }, T = 2, h = 0.5 }
    local nsds = simu:nsds()
    simu:addEvent { name = "meet", g = function(_, x) return x[3] - x[1] - 1 end, direction = "down", action = function()
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR({ { -1, 1 } }, { -1 }), "rod"), a, b)
    end }
    local sol = simu:run()
    near(1, sol.events[1].t, 1e-14)
    near(1, b:q()[1] - a:q()[1], 1e-14)
    near(0, a:velocity()[1], 1e-14)
  end)

  it("are seen at jumps of the state by impacts", function()
    local simu = events.ball { e = 0.5, T = 1 }
    simu:addEvent { name = "turns", g = function(_, x) return x[2] end, direction = "up" }
    simu:addEvent { name = "top", g = function(_, x) return x[2] end, direction = "down" }
    local sol = simu:run()
    local list = {}
    for _, e in ipairs(sol.events) do list[#list + 1] = e.name end
    assert.same({ "top", "floor", "turns", "top", "floor" }, { table.unpack(list, 1, 5) })
    near(sol.events[2].t, sol.events[3].t, 1e-13)
    near(math.sqrt(2 / events.g) + 0.5 * math.sqrt(2 / events.g), sol.events[4].t, 1e-13)
  end)

  it("occur at t0 when g leaves 0 there, as in solve_ivp", function()
    local simu = ramp()
    simu:addEvent { name = "up", g = function(_, x) return x[1] end, direction = "up" }
    simu:addEvent { name = "down", g = function(_, x) return x[1] end, direction = "down" }
    simu:addEvent { name = "also", g = function(_, x) return -x[1] end, direction = "down" }
    local sol = simu:run()
    assert.equal(2, #sol.events)
    assert.equal(0, sol.events[1].t)
    assert.equal("up", sol.events[1].name)
    assert.equal("also", sol.events[2].name)
    assert.equal(11, #sol)
  end)

  it("leave the simulation at its last accepted state when g or an action fails", function()
    local broken = true
    local simu, ds = ramp()
    simu:addEvent { name = "first", g = function(_, x) return x[1] - 0.25 end, action = function() ds:x()[1] = 0.3 end }
    simu:addEvent { name = "second", g = function(_, x)
      if broken and x[1] > 0.67 then error "no value" end
      return x[1] - 0.83
    end, action = function()
      ds:x()[1] = 5
      if broken ~= nil then error "no action" end
      ds:x()[1] = 0.9
    end }
    local sol = simu:run { partial = true }
    assert.equal("failed", sol.status)
    assert.matches("user_step_spec.lua:%d+: event 'second' g: t=0.7 step 7: no value", sol.message)
    assert.equal(6, simu:step())
    near(0.65, ds:x()[1], 1e-14)
    broken = false
    sol = simu:run { partial = true }
    assert.matches("user_step_spec.lua:%d+: event 'second' action: t=0.78 step 8: no action", sol.message)
    near(0.83, ds:x()[1], 1e-14)
    near(0.78, simu:startingTime(), 1e-14)
    near(0.78, sol.t[#sol], 1e-14)
    broken = nil
    sol = simu:run()
    near(0.9 + 0.22, ds:x()[1], 1e-14)
    near(0.78, sol.t[1], 1e-14)
    assert.equal(sol.t[1], sol.t[2])
    near(0.9, sol.x1[2], 1e-15)
    assert.equal(2, #simu:events())
    for _, e in ipairs(simu:userEvents()) do assert.equal(1, e.count) end
  end)

  it("occur at a time that is given, in every simulation, and after a reset and in a clone", function()
    for _, make in ipairs { ramp, motor } do
      local simu, times = (make { rate = 0.5, force = 8, T = 0.9, h = 0.3 }), {}
      for _, t in ipairs { 0, 0.1 + 0.2, 0.55, 0.9 } do
        simu:addEvent { at = t, action = function(s) times[#times + 1] = s:startingTime() end }
      end
      for _, s in ipairs { simu, simu:clone(), simu } do
        times = {}
        s:reset()
        s:run()
        assert.equal(4, #times)
        for i, t in ipairs { 0, 0.3, 0.55, 0.9 } do near(t, times[i], 2e-16) end
      end
    end
  end)

  it("refuse what a step can not bear, in words", function()
    local simu, ds = ramp()
    local said = {}
    local function try(name, ...) said[#said + 1] = select(2, pcall(simu[name], simu, ...)) end
    simu:addEvent { name = "now", g = function(_, x) return x[1] - 0.5 end, action = function()
      for _, name in ipairs { "computeOneStep", "nextStep", "run", "reset", "clone", "initialize", "close" } do try(name) end
      try("save_state", "nowhere")
      try("addEvent", {})
      try("removeEvent", "now")
      said[#said + 1] = select(2, pcall(simu:nsds().insertDynamicalSystem, simu:nsds(), ds))
    end }
    simu:run()
    assert.equal(11, #said)
    for i, name in ipairs { "computeOneStep", "nextStep", "run", "reset", "clone", "initialize", "close", "save_state",
      "addEvent", "removeEvent" } do
      assert.equal(name .. ": a step is being computed (called from inside an action or observe?)", said[i])
    end
    assert.equal("insertDynamicalSystem: an action of an event can not add a system", said[11])
    assert.equal(10, simu:step())
  end)

  it("refuse a g that reads something besides its arguments, and go on without it", function()
    local simu, body = motor { rate = 0.5, force = 8 }
    simu:addEvent { name = "live", g = function() return body:velocity()[1] - 1 end }
    assert.error_matches(function() simu:run() end,
      "^event 'live': g gives both 0.88005 and %-1 %(t=%S+ step 1%): it must depend on its arguments t and x alone$")
    near(0, body:velocity()[1], 1e-14)
    simu:removeEvent "live"
    simu:addEvent { name = "own", g = function(_, x) return x[2] - 1 end }
    simu:run()
    near(-2 * math.log(1 - 1 / 16), simu:events()[1].t, 1e-12)
  end)

  it("refuse a state that is not finite, and keep the one before the action", function()
    local simu, ds = ramp()
    simu:addEvent { name = "half", g = function(_, x) return x[1] - 0.55 end, action = function() ds:x()[1] = 0 / 0 end }
    raises("event 'half' action: dynamical system 'ds 1': x[1] is not finite (t=0.55 step 6)", simu.run, simu)
    near(0.55, ds:x()[1], 1e-14)
    simu:removeEvent "half"
    simu:run()
    near(1, ds:x()[1], 1e-14)
  end)

  it("check their arguments", function()
    local simu = ramp()
    local g = function() return 1 end
    raises("addEvent: event: expected a table, got nil", simu.addEvent, simu, nil)
    raises("addEvent: unknown option 'f' (known: name, g, at, direction, terminal, state, action)", simu.addEvent, simu, { f = g })
    raises("addEvent: g: expected a function, got nil", simu.addEvent, simu, {})
    raises("addEvent: action: expected a function, got number 3", simu.addEvent, simu, { g = g, action = 3 })
    raises("addEvent: direction: expected \"up\", \"down\", \"both\" or 1, -1, 0, got 'upwards'", simu.addEvent, simu,
      { g = g, direction = "upwards" })
    raises("addEvent: terminal: expected a boolean or a number of occurrences, got number -1", simu.addEvent, simu,
      { g = g, terminal = -1 })
    raises("addEvent: at: expected a finite number, got string", simu.addEvent, simu, { at = "x" })
    raises("addEvent: at: expected a time in [0.0, 1.0], got 1.5", simu.addEvent, simu, { at = 1.5 })
    raises("addEvent: expected g or at, got both", simu.addEvent, simu, { at = 0.5, g = g })
    simu:addEvent { g = g }
    simu:addEvent { g = g, name = "x", direction = -3, terminal = true }
    simu:addEvent { g = g }
    raises("addEvent: there is an event 'x' already", simu.addEvent, simu, { g = g, name = "x" })
    assert.same({ { name = "event 1", direction = 0, terminal = 0, count = 0 },
      { name = "x", direction = -1, terminal = 1, count = 0 }, { name = "event 3", direction = 0, terminal = 0, count = 0 } },
      simu:userEvents())
    simu:removeEvent "event 1"
    assert.equal("x", simu:userEvents()[1].name)
    raises("removeEvent: there is no event 'y'", simu.removeEvent, simu, "y")
    simu:addEvent { g = function() return "a" end, name = "word" }
    raises("event 'word' g: t=0 step 1: expected a number, got string", simu.run, simu)
    simu:removeEvent "word"
    simu:addEvent { g = function() return 0 / 0 end, name = "nan" }
    raises("event 'nan': g is nan (t=0 step 1)", simu.run, simu)
    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    for _, osi in ipairs { ns.SchatzmanPaoliOSI(0.5), ns.MoreauJeanBilbaoOSI() } do
      local simulation = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), osi)
      raises(("addEvent: a %s takes steps of one length only, so that none can end at an event; use MoreauJeanOSI"):format(
          tostring(osi):match "^%w+"),
        simulation.addEvent, simulation, { g = g })
    end
  end)

  it("have times whose error is proportional to the tolerance of adaptive steps", function()
    -- x' = (30 - x) / 2 or (10 - x) / 2, from 15: up to 20, down to 18, up to 20, ...
    local want, at, x = {}, 0, 15
    for i = 1, 6 do
      local limit, target = i % 2 == 1 and 30 or 10, i % 2 == 1 and 20 or 18
      at, x = at + 2 * math.log((limit - x) / (limit - target)), target
      want[i] = { i % 2 == 1 and "off" or "on", at }
    end
    for _, rtol in ipairs { 1e-3, 1e-5, 1e-7 } do
      local room = ns.FirstOrderLinearTIDS({ 15 }, { { -0.5 } }, { 15 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 3)
      nsds:insertDynamicalSystem(room)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(0.5), { rtol = rtol })
      local function switch(b) return function() room:setbPtr { b } end end
      simu:addEvent { name = "off", g = function(_, y) return y[1] - 20 end, direction = "up", action = switch(5) }
      simu:addEvent { name = "on", g = function(_, y) return y[1] - 18 end, direction = "down", action = switch(15) }
      local log = simu:run().events
      assert.equal(#want, #log)
      for i, event in ipairs(log) do
        assert.equal(want[i][1], event.name)
        assert.near(want[i][2], event.t, rtol)
      end
    end
  end)

  it("tell a cascade without end", function()
    local simu = ramp()
    local s = simu:addEvent { name = "start", state = { mode = -1 }, g = function(_, x) return x[1] - 0.5 end,
      action = function(_, own) own.mode = 1 end }
    simu:addEvent { name = "flip", g = function() return s.mode end, action = function() s.mode = -s.mode end }
    local ok, message = pcall(simu.run, simu)
    assert.is_false(ok)
    assert.matches("event 'flip' occurs again and again near t=0.5", tostring(message), 1, true)
  end)

  it("are cloned, reset and kept by checkpoints, to the bit", function()
    local directory = host.new_directory()
    local function make()
      local simu, body = motor { rate = 0.5, force = 8, T = 6, h = 0.5 }
      body:setzPtr(ns.vector { 8 })
      body:setComputeFExtFunction(function(_, z, f) f[1] = z[1] end)
      simu:addEvent { name = "off", g = function(_, x) return x[2] - 10 end, direction = "up",
        action = function(s) s:nsds():dynamicalSystem(1):z()[1] = 1 end }
      simu:addEvent { name = "on", g = function(_, x) return x[2] - 8 end, direction = "down", terminal = 3,
        action = function(s) s:nsds():dynamicalSystem(1):z()[1] = 8 end }
      return simu, body
    end
    local whole, body = make()
    local sol = whole:run()
    assert.equal(3, whole:userEvents()[2].count)
    local bits = models.numbers(sol)
    whole:reset()
    body:z()[1] = 8
    assert.same(bits, models.numbers(whole:run()))
    local simu = make()
    for k in simu:steps() do
      if k == 5 then break end
    end
    simu:nextStep()
    simu:save_state(directory .. "/state")
    local copy = simu:clone()
    local rest = models.numbers(simu:run())
    assert.same(rest, models.numbers(copy:run()))
    assert.same(whole:userEvents(), copy:userEvents())
    local fresh = make()
    fresh:load_state(directory .. "/state")
    assert.same(rest, models.numbers(fresh:run()))
    assert.same(whole:events(), fresh:events())
    local bare = motor { rate = 0.5, force = 8, T = 6, h = 0.5 }
    raises("is of another model", bare.load_state, bare, directory .. "/state", { constants = false })
    host.remove(directory)
  end)

  it("do not depend on units", function()
    local function run(k, m)
      local s, w = 2.0 ^ k, 2.0 ^ m -- of length and of time
      local ball = ns.LagrangianLinearTIDS({ s }, { 0 }, { { 1 } })
      ball:setFExtPtr { -events.g * s / w ^ 2 }
      local simu = events.simulation { systems = { ball }, T = 2 * w, h = 0.125 * w }
      simu:addEvent { name = "bounce", g = function(_, x) return x[1] end, direction = "down",
        action = function() ball:velocity()[1] = -0.75 * ball:velocity()[1] end }
      local list = {}
      for i, e in ipairs(simu:run().events) do list[i] = e.t / w end
      return list
    end
    local plain = run(0, 0)
    assert.is_true(#plain >= 3)
    for _, k in ipairs { -60, 60 } do
      assert.same(plain, run(k, 0))
      assert.same(plain, run(0, k))
      assert.same(plain, run(k, -k))
    end
  end)

  it("does not go on to the end of a long step of the grid for an event near its start", function()
    local function calls(h) -- of the force, for a run over 1 that an event ends, where the simulation goes on to 1000
      local count = 0
      local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, fInt = function(_, q, _, _, f) count, f[1] = count + 1, q[1] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1000)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI())
      simu:addEvent { name = "end", g = function(t) return t - 1 end, direction = "up", terminal = true }
      local sol = simu:run()
      assert.equal(1, sol.t[#sol.t])
      assert.near(math.cos(1), ds:q()[1], 1e-11)
      return count
    end
    assert.is_true(calls(1000) < 3 * calls(10))
  end)

  it("finds an event that passes 0 twice between two looks in a long step", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 1 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 100)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 100), ns.RungeKuttaOSI())
    simu:addEvent { name = "low", g = function(_, x) return (x[1] - 40) ^ 2 - 1e-4 end }
    local list = simu:run().events
    assert.equal(2, #list)
    near(39.99, list[1].t, 1e-10)
    near(40.01, list[2].t, 1e-10)
  end)
end)
