-- simu:on(): actions on the events of laws.
local events = require "simulation.events"
local host = require "host"
local numbers = require "random_numbers"
local trail = require "trail"
local campaign = require "campaign"
local ns = require "nslua"

local pi, sin, cos, kinds = math.pi, math.sin, math.cos, events.kinds

local raises = require "expect".fails

-- Sets the bounds of the law of an interaction in the simulation that calls.
local function set_bounds(number, bound)
  return function(_, simu)
    local law = simu:nsds():interaction(number):nonSmoothLaw()
    law:setLb(-bound)
    law:setUb(bound)
  end
end

-- A block on a belt of velocity V, held by a spring, in the frame of the belt; static friction Fs, kinetic friction Fd.
local function belt(o)
  local block = ns.LagrangianDS { q0 = { 0 }, v0 = { 0 }, mass = { { o.m } },
    fInt = function(t, q, _, _, f) f[1] = o.k * (q[1] + o.V * t) end }
  local simu = events.simulation { systems = { block }, T = o.T, h = o.h,
    links = { { ns.RelayNSL(1, -o.Fs, o.Fs), ns.LagrangianLinearTIR { { 1 } }, "belt", block } } }
  simu:on("belt", "stick", set_bounds(1, o.Fs))
  simu:on("belt", "slip", set_bounds(1, o.Fd))
  return simu, block
end

-- A block with the velocity v under the force F(t) and dry friction, as mechanics or as a system of first order.
local function block(o)
  local law = ns.RelayNSL(1, -1, 1)
  local ds, relation
  if o.first_order then
    ds = ns.FirstOrderNonLinearDS({ 1 }, function(t, _, _, f) f[1] = o.F(t) end)
    relation = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
  else
    ds = ns.LagrangianDS { q0 = { 0 }, v0 = { 1 }, mass = { { 1 } }, fExt = function(t, _, f) f[1] = o.F(t) end }
    relation = ns.LagrangianLinearTIR { { 1 } }
  end
  local simu = events.simulation { systems = { ds }, T = 4, h = o.h, links = { { law, relation, "belt", ds } } }
  return simu, law, ds
end

describe("actions on the events of laws", function()
  it("give static above kinetic friction: stick and slip at the times of the closed form", function()
    math.randomseed(92)
    for _ = 1, (campaign(4, 0.02)) do
      local o = { m = numbers.uniform(0.5, 3), k = numbers.uniform(1, 9), V = numbers.uniform(0.2, 2) }
      o.Fd = numbers.uniform(0.5, 2)
      o.Fs = o.Fd * numbers.uniform(1.05, 2)
      local w, rise = math.sqrt(o.k / o.m), (o.Fs - o.Fd) / o.k
      local stick, slip = 2 * rise / o.V, 2 / w * (pi - math.atan(rise * w / o.V))
      o.T = o.Fs / (o.k * o.V) + 3.5 * (stick + slip)
      for _, parts in ipairs { 1, 37 } do
        o.h = o.T / parts
        local list, t = belt(o):run().events, o.Fs / (o.k * o.V)
        assert.is_true(#list >= 7)
        for i, e in ipairs(list) do
          assert.equal(i % 2 == 1 and "slip" or "stick", e.kind)
          assert.near(t, e.t, 1e-11 * o.T)
          t = t + (i % 2 == 1 and slip or stick)
        end
      end
    end
  end)

  it("act where the velocity only passes 0: a block stays where static friction holds it, until it does not", function()
    local hold = { [false] = "cross slip", [true] = "cross leave" }
    for _, first_order in ipairs { false, true } do
      for _, h in ipairs { 0.1, 4 } do
        local simu, law = block { first_order = first_order, h = h,
          F = function(t) return -1.05 - 0.1 * math.max(0, t - 2) end }
        local static = function() law:setLb(-1.1) law:setUb(1.1) end
        simu:on("belt", "cross", static)
        simu:on("belt", first_order and "slide" or "stick", static)
        simu:on("belt", first_order and "leave" or "slip", function() law:setLb(-1) law:setUb(1) end)
        local list = simu:run().events
        assert.equal(hold[first_order], kinds(list))
        assert.near(1 / 2.05, list[1].t, 1e-12)
        assert.near(2.5, list[2].t, 1e-11)
      end
    end
  end)

  it("act at once, with the time and the simulation, when an action before has made them happen", function()
    local simu, law = block { F = function() return -1.3 end }
    local seen = {}
    simu:on("belt", "cross", function(t, s)
      seen[#seen + 1] = { "cross", t, s }
      law:setLb(-1.1) law:setUb(1.1)
    end)
    simu:on("belt", "slip", function(t, s)
      seen[#seen + 1] = { "slip", t, s }
      law:setLb(-1) law:setUb(1)
    end)
    local list = simu:run().events
    assert.equal("cross slip", kinds(list))
    assert.equal(list[1].t, list[2].t)
    for i, name in ipairs { "cross", "slip" } do
      assert.equal(name, seen[i][1])
      assert.equal(list[i].t, seen[i][2])
      assert.equal(simu, seen[i][3])
    end
    assert.near(-0.3 * (4 - 1 / 2.3), simu:nsds():dynamicalSystem(1):velocity()[1], 1e-11)
  end)

  it("make a thyristor: it latches until its current is 0, at the times of the closed form", function()
    local V, R, C, w, gate = 10, 2, 0.1, 2 * pi, 0.1
    for _, h in ipairs { 0.05, 1.5 } do
      local cap, law = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }), ns.RelayNSL(1, 0, 0)
      local relation = ns.FirstOrderNonLinearR {
        h = function(t, x, lambda, _, y) y[1] = x[1] + R * lambda[1] - V * sin(w * t) end,
        g = function(_, _, lambda, _, r) r[1] = lambda[1] / C end }
      local simu = events.simulation { systems = { cap }, T = 1.5, h = h, links = { { law, relation, "thyristor", cap } } }
      simu:addEvent { at = gate, action = function() law:setUb(math.huge) end }
      simu:on("thyristor", "open", function() law:setUb(0) end)
      local list = simu:run().events
      -- R C v' + v = V sin(w t), v(gate) = 0
      local tau, size = R * C, V / (1 + (w * R * C) ^ 2)
      local function particular(t) return size * (sin(w * t) - w * tau * cos(w * t)) end
      local function v(t) return particular(t) - particular(gate) * math.exp(-(t - gate) / tau) end
      local off, high = 0.3, 0.5 -- bisection for i = 0
      for _ = 1, 60 do
        local middle = (off + high) / 2
        if V * sin(w * middle) > v(middle) then off = middle else high = middle end
      end
      local open
      for _, e in ipairs(list) do
        if e.kind == "open" then assert.is_nil(open) open = e.t end
      end
      assert.near(off, open, 1e-11)
      assert.near(v(off), cap:x()[1], 1e-10)
    end
  end)

  it("see all systems at the time of the event, also those that have nothing to do with it", function()
    local function run(h, dense)
      local blocks, links, seen = {}, {}, {}
      for i, v in ipairs { 2, 1.5, 1.5, 0.7 } do
        blocks[i] = ns.LagrangianLinearTIDS({ 0 }, { v }, { { 1 } })
        links[i] = { ns.RelayNSL(1, -1, 1), ns.LagrangianLinearTIR { { 1 } }, "b" .. i, blocks[i] }
      end
      local decay = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      blocks[5] = decay
      links[5] = { ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "relay", decay }
      local simu = events.simulation { systems = blocks, T = 1, h = h, links = links }
      local function see(t) seen[#seen + 1] = { t, blocks[1]:velocity()[1], decay:x()[1] } end
      simu:on("relay", "slide", function(t) see(t) decay:x()[1] = 0.3 end)
      simu:on("b4", "stick", function(t) see(t) blocks[4]:velocity()[1] = 0.25 end)
      simu:run { dense = dense }
      return seen
    end
    local ln2 = math.log(2)
    local again = ln2 + math.log(1.3)
    local want = { { ln2, 2 - ln2, 0 }, { 0.7, 1.3, 1.3 * math.exp(ln2 - 0.7) - 1 }, { 0.95, 1.05 }, { again, 2 - again, 0 } }
    for _, h in ipairs { 1, 0.25, 0.1 } do
      for _, dense in ipairs { false, true } do
        local seen = run(h, dense)
        assert.equal(4, #seen)
        for i, row in ipairs(want) do
          for j, value in ipairs(row) do assert.near(value, seen[i][j], 1e-11) end
        end
      end
    end
  end)

  it("are repeated by reset, kept by clones and checkpoints, and listed and removed by name", function()
    local o = { m = 1, k = 4, V = 0.5, Fs = 3, Fd = 2, T = 9, h = 0.225 }
    local simu = belt(o)
    local whole = trail.of(simu)
    assert.equal(40, #whole)
    simu:reset()
    assert.same(whole, trail.of(simu))
    simu:reset()
    for _ = 1, 20 do simu:computeOneStep() simu:nextStep() end
    local copy = simu:clone()
    assert.same({ table.unpack(whole, 21) }, trail.of(copy))
    local directory = host.new_directory()
    simu:save_state(directory .. "/state")
    local other = belt(o)
    other:load_state(directory .. "/state")
    assert.same({ table.unpack(whole, 21) }, trail.of(other))
    host.remove(directory)
    local list = simu:userEvents()
    assert.same({ name = "belt:stick", direction = 0, terminal = 0, count = 1, acts = true }, list[1])
    assert.equal("belt:slip", list[2].name)
    simu:removeEvent "belt:slip"
    simu:reset()
    assert.equal("slip", kinds(simu:run().events))
  end)

  -- A forced mass that hits a wall; the action makes its velocity after an impact smaller, as a law with that restitution would.
  local function struck(restitution, factor)
    local mass = ns.LagrangianDS { q0 = { 0 }, v0 = { 0 }, mass = { { 1 } },
      fInt = function(_, q, v, _, f) f[1] = q[1] + 0.3 * v[1] end, fExt = function(t, _, f) f[1] = 0.9 * cos(2.8 * t) end }
    local simu = events.simulation { systems = { mass }, T = 400, h = 1, rtol = 1e-11,
      links = { { ns.NewtonImpactNSL(restitution), ns.LagrangianLinearTIR { { 1 } }, "wall", mass } } }
    if factor then simu:on("wall", "impact", function() mass:velocity()[1] = factor * mass:velocity()[1] end) end
    return simu
  end

  it("are part of orbits: those, and multipliers, are of the law that an action imitates #once", function()
    for _, place in ipairs { { period = 2 * pi / 2.8 }, { section = "wall:impact" } } do
      local function orbit(e, factor)
        local o = { simulation = function() return struck(e, factor) end, value = 1, guess = { 0.3, 0.2 } }
        o.transient = 120 * pi / 2.8
        for key, value in pairs(place) do o[key] = value end
        return ns.dynamics.periodic(o)
      end
      local law, action = orbit(0.72), orbit(0.8, 0.9)
      assert.equal("exact", law.derivative)
      assert.equal("differences", action.derivative)
      assert.matches("the event 'wall:impact' has an action, whose derivative is not known", action.derivative_message)
      assert.near(law.T, action.T, 1e-9)
      for i = 1, 2 do
        assert.near(law.x0[i], action.x0[i], 1e-8)
        assert.near(law.multipliers[i].re, action.multipliers[i].re, 1e-6)
        assert.near(law.multipliers[i].im, action.multipliers[i].im, 1e-6)
      end
    end
  end)

  it("act in all runs that start anew from one simulation #once", function()
    local options = { value = 1, guess = { 0.3, 0.2 }, period = 2 * pi / 2.8, transient = 40 * pi / 2.8 }
    options.simulation = function() return struck(0.8, 0.9) end
    local want = ns.dynamics.periodic(options)
    options.simulation, options.value = struck(0.8, 0.9), nil
    assert.near(want.x0[1], ns.dynamics.periodic(options).x0[1], 1e-9)
    local list = ns.sweep { parameters = { a = { 1, 2 } }, workers = 1, progress = false,
      setup = function() return struck(0.8, 0.9) end, run = function(_, task) return { x = task.model:run().q1[5] } end }:table()
    assert.equal(list.x[1], list.x[2])
    local simu = struck(0.8, 0.9)
    raises("the event 'wall:impact' has an action, whose derivative is not known", simu.gradient, simu,
      { terminal = function(x) return x[1] end, parameters = { "x0" } })
  end)

  it("end with an error where they make the event happen again and again", function()
    local simu, _, ds = block { F = function() return 0 end }
    simu:on("belt", "stick", function() ds:velocity()[1] = 1e-11 end)
    local message = select(2, pcall(simu.run, simu))
    assert.matches("event 'belt:stick' occurs again and again near t=1 %(step 11%): its times accumulate; "
      .. "let the action end that$", message)
  end)

  it("tell what is wrong", function()
    local simu, law, ds = block { F = function() return 0 end }
    local function f() end
    raises("on: name: there is no interaction 'bell'; expected 'belt'", simu.on, simu, "bell", "stick", f)
    raises("on: name: expected the name of an interaction, got nil", simu.on, simu)
    raises("on: event: the interaction 'belt' has no events 'open'; expected 'impact', 'rest', 'release', 'cross', 'stick', 'slip'",
      simu.on, simu, "belt", "open", f)
    raises("on: event: expected the kind of an event, got number 1", simu.on, simu, "belt", 1, f)
    raises("on: action: expected a function, got nil", simu.on, simu, "belt", "stick")
    local other = block { first_order = true, F = function() return 0 end }
    raises("has no events 'stick'; expected 'cross', 'slide', 'leave', 'close', 'open', 'accumulation'",
      other.on, other, "belt", "stick", f)
    local empty = events.simulation { systems = { ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }) }, T = 1 }
    raises("on: name: there is no interaction 'belt'; expected one of a simulation that has interactions",
      empty.on, empty, "belt", "cross", f)
    simu:on("belt", "stick", function() error "oh" end)
    raises("on: there is an event 'belt:stick' already", simu.on, simu, "belt", "stick", f)
    raises("event 'belt:stick' action: t=1 step 10: oh", simu.run, simu)
    assert.near(0.5, ds:q()[1], 1e-12)
    simu:reset()
    raises("run: sensitivities: the event 'belt:stick' has an action, whose derivative is not known", simu.run, simu,
      { sensitivities = { { law, "ub" } } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }))
    local stepping = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    raises("on: a TimeStepping does not locate the events of laws; use EventDriven", stepping.on, stepping, "belt", "stick", f)
  end)
end)
