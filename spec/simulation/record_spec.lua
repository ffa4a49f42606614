-- Rows at events, sol.events and sol:at().
local campaign = require "campaign"
local hdf5 = require "hdf5"
local events = require "simulation.events"
local host = require "host"
local models = require "models"
local ns = require "nslua"

local g = events.g

local function near(expected, got, bound)
  assert.is_true(math.abs(got - expected) <= bound, ("expected %.17g, got %.17g"):format(expected, got))
end

-- Height and velocity of a ball of restitution e that falls from 1, before or after the impact when t is at one.
local function fall(t, e, before)
  local start, v = 0, 0
  local next, speed = math.sqrt(2 / g), g * math.sqrt(2 / g)
  while before and t > next + 1e-12 or not before and t >= next - 1e-12 do
    v, start = e * speed, next
    speed = v
    next = next + 2 * v / g
  end
  local s = t - start
  return (start == 0 and 1 or 0) + v * s - g * s * s / 2, v - g * s
end

-- A room with a switched heater: first order, in EventDriven by RungeKuttaOSI, or in TimeStepping.
local function room(kind)
  local ds = ns.FirstOrderLinearTIDS({ 15 }, { { -0.5 } }, { 15 })
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(ds)
  local osi = kind == "EventDriven" and ns.RungeKuttaOSI() or ns.EulerMoreauOSI(0.5)
  local simu = ns[kind](nsds, ns.TimeDiscretisation(0, 0.25), osi)
  simu:addEvent { name = "off", g = function(_, x) return x[1] - 20 end, direction = "up",
    action = function() ds:setbPtr { 5 } end }
  simu:addEvent { name = "on", g = function(_, x) return x[1] - 18 end, direction = "down",
    action = function() ds:setbPtr { 15 } end }
  return simu
end

describe("rows at events", function()
  it("hold both sides, in order with those of the grid", function()
    local sol = events.ball { e = 0.8, T = 2, h = 0.25 }:run()
    local sides = {}
    for _, e in ipairs(sol.events) do sides[("%a"):format(e.t)] = e end
    local grid, i = 0, 1
    while i <= #sol do
      local e = sides[("%a"):format(sol.t[i])]
      if e then
        assert.equal(sol.t[i], sol.t[i + 1])
        near(e.before, sol.v1[i], 1e-14)
        near(e.after, sol.v1[i + 1], 1e-14)
        assert.equal(sol.q1[i], sol.q1[i + 1])
        i = i + 2
      else
        assert.equal(grid * 0.25, sol.t[i])
        grid, i = grid + 1, i + 1
      end
    end
    assert.equal(9, grid)
    assert.equal(9 + 2 * #sol.events, #sol)
    for k = 2, #sol do assert.is_true(sol.t[k] >= sol.t[k - 1]) end
  end)

  it("stay when only some steps are recorded", function()
    local sol = events.ball { e = 0.8, T = 2, h = 0.25 }:run { record = 100 }
    assert.equal(2 + 2 * #sol.events, #sol)
    local thin = room "TimeStepping":run { record = 5 }
    assert.equal(4 + 2 * #thin.events, #thin)
  end)

  it("are told once where an event is at a time of the grid", function()
    local T = math.sqrt(2 / g)
    local sol = events.ball { e = 0.5, T = 2 * T, h = T }:run()
    near(T, sol.t[2], 1e-14)
    local at = {}
    for i = 1, #sol do if math.abs(sol.t[i] - T) < 1e-13 then at[#at + 1] = sol.v1[i] end end
    near(-g * T, at[1], 1e-13)
    near(g * T / 2, at[#at], 1e-13)
    assert.is_true(#at <= 3)
    local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { 1 })
    local simu = models.simulation { systems = { ds }, h = 0.25 }
    simu:addEvent { g = function(t) return t - 0.5 end, action = function() ds:x()[1] = 7 end }
    sol = simu:run()
    assert.same({ 0, 0.25, 0.5, 0.5, 0.75, 1 }, sol.t:totable())
    assert.same({ 0, 0.25, 0.5, 7, 7.25, 7.5 }, sol.x1:totable())
  end)

  it("show all islands, each at the state of that time", function()
    local function balls()
      local systems, links = {}, {}
      for i, H in ipairs { 1, 2 } do
        systems[i] = ns.LagrangianLinearTIDS({ H }, { 0 }, { { 1 } })
        systems[i]:setFExtPtr { -g }
        links[i] = { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }, "floor " .. i, systems[i] }
      end
      return (events.simulation { systems = systems, links = links, T = 0.8, h = 0.4 })
    end
    local sol = balls():run()
    local t1, t2 = math.sqrt(2 / g), math.sqrt(4 / g)
    assert.equal(3 + 4, #sol)
    near(t1, sol.t[3], 1e-14)
    near(t1, sol.t[4], 1e-14)
    near(2 - g * t1 * t1 / 2, sol.q2[3], 1e-13)
    near(2 - g * t1 * t1 / 2, sol.q2[4], 1e-13)
    near(-g * t1, sol.v2[4], 1e-13)
    near(t2, sol.t[5], 1e-14)
    near(sol.q1[5], sol.q1[6], 0)
    local once = balls()
    once:energy()
    once:run()
    local hand = balls()
    hand:energy()
    for _ in hand:steps() do end -- luacheck: ignore
    assert.same(hand:energy(), once:energy())
    assert.same(hand:events(), once:events())
  end)

  -- n systems x' = a + lambda with relays of |lambda| <= 1 on x: from event to event, by an integrator of that name.
  local function relays(starts, a, osi)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    for i, x0 in ipairs(starts) do
      local ds = ns.FirstOrderLinearTIDS({ x0 }, { { 0 } }, { a })
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "relay" .. i), ds)
    end
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns[osi]()), nsds
  end

  it("begin with the multipliers of the start", function()
    local count, tell = campaign(4, 0.002)
    math.randomseed(8)
    for _ = 1, count do
      for _, osi in ipairs { "RungeKuttaOSI", "RadauOSI" } do
        local starts, a, signs = {}, 0.9 * (2 * math.random() - 1), {}
        for i = 1, math.random(3) do
          starts[i] = math.random() - 0.5
          signs[i] = starts[i] > 0 and -1 or 1
        end
        local sol, other = relays(starts, a, osi):run(), relays(starts, a, osi):run { dense = true }
        for i, sign in ipairs(signs) do
          near(sign, sol["relay" .. i .. ".lambda"][1], 1e-12)
          assert.equal(starts[i], sol["x" .. i][1])
        end
        assert.equal(#other, #sol)
        for j = 1, #sol do
          assert.equal(other.t[j], sol.t[j])
          for k = 1, 2 * #starts do assert.equal(other[k > #starts and "lambda" or "x"][j][(k - 1) % #starts + 1],
            sol[k > #starts and "lambda" or "x"][j][(k - 1) % #starts + 1]) end
        end
      end
    end
    tell("first rows of relays", count)
  end)

  it("have the multipliers of the start in streams, beside what is observed at the start", function()
    local directory = host.new_directory()
    local simu, nsds = relays({ 0.3 }, 0.5, "RungeKuttaOSI")
    local body = nsds:dynamicalSystem(1)
    simu:run { stream = directory .. "/run.csv", observe = function()
      return { twice = 2 * body:x()[1] }
    end }
    local got = ns.load(directory .. "/run.csv")
    host.remove(directory)
    assert.same({ 0, 0.3, -1, 0.6 }, { got.t[1], got.x1[1], got["relay1.lambda"][1], got.twice[1] })
  end)

  it("are observed at the start with its multipliers, and with everything else of the start", function()
    for _, dense in ipairs { false, true } do
      local block = ns.LagrangianDS { q0 = { 0 }, v0 = { 1 }, mass = { { 1 } }, z = { 0 },
        fExt = function(t, z, f) f[1] = t + z[1] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(block)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -2, 2), ns.LagrangianLinearTIR { { 1 } }, "belt"), block)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI())
      simu:addEvent { name = "gust", at = 0.1, action = function() block:z()[1] = 1 end }
      simu:energy()
      local sol = simu:run { dense = dense, observe = function(s)
        return { time = s:startingTime(), step = s:step(), z = block:z(), v = block:velocity()[1],
          friction = nsds:interaction(1):lambda(1)[1], work = s:energy().friction }
      end }
      assert.same({ 0, 0, 0, 1, -2, 0 },
        { sol.time[1], sol.step[1], sol.z[1], sol.v[1], sol.friction[1], sol.work[1] })
      assert.same(sol.lambda1:totable(), sol.friction:totable())
      assert.is_true(sol.work[#sol] < -0.5)
      assert.same({ 0.5, 2, 1 }, { sol.time[#sol], simu:step(), block:z()[1] })
    end
  end)

  it("begin with the given multipliers where the run goes on, or has an event at once", function()
    local simu = relays({ 0.3 }, 0.5, "RungeKuttaOSI")
    for _ = 1, 2 do
      simu:computeOneStep()
      simu:nextStep()
    end
    assert.equal(-1, simu:run().lambda1[1])
    local sol = events.ball { H = 0, e = 0.5, T = 0.5, h = 0.25 }:run() -- it rests
    assert.same({ 0, 0, 0 }, { sol.t[1], sol.t[2], sol.lambda1[1] })
    near(g, sol.lambda1[2], 1e-12)
  end)

  it("reach files and streams", function()
    local directory = host.new_directory()
    local function make() return (events.ball { e = 0.8, T = 2, h = 0.25 }) end
    local sol = make():run { stream = directory .. "/a.csv" }
    assert.is_true(#sol > 9)
    local function same(back)
      for _, name in ipairs(sol:names()) do assert.same(sol:column(name):totable(), back[name]:totable()) end
    end
    same(ns.load(directory .. "/a.csv"))
    for _, ending in ipairs { "csv", "npz", hdf5.here and "h5" } do
      sol:save(directory .. "/b." .. ending)
      same(ns.load(directory .. "/b." .. ending))
    end
    local simu = make()
    for k in simu:steps() do if k == 4 then break end end
    simu:nextStep()
    simu:save_state(directory .. "/state")
    make():run { stream = directory .. "/c.csv" }
    local rest = make():run { stream = directory .. "/c.csv", checkpoint = directory .. "/state", resume = true }
    assert.equal(1, rest.t[1])
    same(ns.load(directory .. "/c.csv"))
    host.remove(directory)
  end)

  it("are left out on request: rows of the grid alone, with what they have otherwise", function()
    local directory = host.new_directory()
    local function ball() return (events.ball { e = 0.5, T = 1, h = 0.25 }) end
    local function stepped() return room "TimeStepping" end
    local function driven() return room "EventDriven" end
    for _, make in ipairs { ball, stepped, driven } do
      local all, alone = make():run { rows = "all" }, make():run { rows = "grid", stream = directory .. "/run.csv" }
      assert.is_true(#all > #alone)
      assert.equal(#all.events, #alone.events)
      local h, last = alone.t[2] - alone.t[1], {}
      for i = 1, #all do last[all.t[i]] = i end -- the row after an event at a time of the grid
      for k = 1, #alone do
        assert.near((k - 1) * h, alone.t[k], 1e-12)
        for _, name in ipairs(all:names()) do
          if k > 1 then assert.equal(all:column(name)[last[alone.t[k]]], alone:column(name)[k]) end
        end
      end
      local streamed = ns.load(directory .. "/run.csv")
      for _, name in ipairs(alone:names()) do assert.same(alone:column(name):totable(), streamed[name]:totable()) end
    end
    host.remove(directory)
    local ended = ball()
    ended:addEvent { at = 0.6, terminal = true }
    assert.same({ 0, 0.25, 0.5, 0.6 }, ended:run { rows = "grid" }.t:totable())
    local simu = room "TimeStepping"
    for given, told in pairs { events = '"events"', [3] = "number 3.0", [true] = "boolean" } do
      local message = select(2, pcall(simu.run, simu, { rows = given }))
      assert.matches('run: rows: expected "all" or "grid", got ' .. told, message, 1, true)
    end
    local message = select(2, pcall(simu.run, simu, { rows = "grid", dense = true }))
    assert.matches('run: rows: "grid" goes without dense = true: sol:at finds the sides of events by their rows', message, 1, true)
  end)

  it("are observed on both sides", function()
    local simu, ball = events.ball { e = 0.5, T = 1, h = 0.25 }
    local sol = simu:run { observe = function(s)
      return { speed = math.abs(ball:velocity()[1]), height = ball:q()[1], clock = s:startingTime() }
    end }
    for i = 1, #sol do
      assert.equal(math.abs(sol.v1[i]), sol.speed[i])
      assert.equal(sol.q1[i], sol.height[i])
      assert.equal(sol.t[i], sol.clock[i])
    end
    local plain = events.ball { e = 0.5, T = 1, h = 0.25 }:run()
    for _, name in ipairs(plain:names()) do assert.same(plain:column(name):totable(), sol:column(name):totable()) end
    local heater = room "TimeStepping"
    local ds = heater:nsds():dynamicalSystem(1)
    sol = heater:run { observe = function() return { power = ds:b()[1] } end }
    for i, e in ipairs(sol.events) do
      for k = 1, #sol - 1 do
        if sol.t[k] == e.t then
          assert.same(i % 2 == 1 and { 15, 5 } or { 5, 15 }, { sol.power[k], sol.power[k + 1] })
          break
        end
      end
    end
  end)

  it("lists the events of the run alone", function()
    local simu = events.ball { e = 0.8, T = 2, h = 0.25 }
    for k in simu:steps() do if k == 3 then break end end
    local before = #simu:events()
    local sol = simu:run()
    assert.equal(#simu:events() - before, #sol.events)
    assert.equal("impact", sol.events[1].kind)
    assert.equal("floor", sol.events[1].name)
    assert.equal(1, sol.events[1].component)
    assert.equal(sol.events, sol.events)
    assert.same({}, models.simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }) } }:run().events)
  end)
end)

describe("sol:at", function()
  it("has the accuracy of the integrator between rows, and both sides of an event", function()
    local sol = events.ball { e = 0.8, T = 2, h = 2 }:run { dense = true }
    for k = 0, 200 do
      local t = k / 100
      local q, v = fall(t, 0.8)
      local got = sol:at(t)
      near(q, got.x[1], 1e-13)
      near(v, got.x[2], 1e-12)
      near(q, got.y[1], 1e-13)
      assert.equal(t, got.t)
    end
    for _, e in ipairs(sol.events) do
      near(e.before, sol:at(e.t, "before").x[2], 1e-14)
      near(e.after, sol:at(e.t).x[2], 1e-14)
      near(e.after, sol:at(e.t, "after").x[2], 1e-14)
    end
    local many = sol:at { 0.1, 0.7, 1.9 }
    for i, t in ipairs { 0.1, 0.7, 1.9 } do
      assert.equal(t, many.t[i])
      assert.same(sol:at(t).x:totable(), many.x[i]:totable())
      assert.same(sol:at(t).lambda:totable(), many.lambda[i]:totable())
      for k, name in ipairs(sol:names()) do
        local one = sol:at(t)
        local value = one.x:totable()[k - 1]
        if value then assert.same({ value, value }, { one[name], many[name][i] }) end
      end
    end
  end)

  it("follows several islands and a heater in EventDriven", function()
    local a = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 9 } })
    local b = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 25 } })
    local sol = events.simulation { systems = { a, b }, T = 4, h = 4 }:run { dense = true }
    for k = 1, 39 do
      near(math.cos(3 * k / 10), sol:at(k / 10).x[1], 1e-9)
      near(math.cos(5 * k / 10), sol:at(k / 10).x[3], 1e-9)
    end
    local heater = room "EventDriven":run { dense = true }
    local off, on = 2 * math.log(1.5), 2 * math.log(1.25)
    near(off, heater.events[1].t, 1e-12)
    near(off + on, heater.events[2].t, 1e-12)
    for k = 1, 20 do
      local t = off + on * k / 21
      near(10 + 10 * math.exp(-0.5 * (t - off)), heater:at(t).x[1], 1e-10)
    end
  end)

  it("is the line between rows in TimeStepping", function()
    local sol = models.simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }) } }:run()
    near((sol.x1[2] + 3 * sol.x1[3]) / 4, sol:at(0.175).x[1], 1e-15)
    assert.equal(sol.x1[4], sol:at(sol.t[4]).x[1])
    assert.equal(sol.x1[11], sol:at(1).x[1])
    local heater = room "TimeStepping":run()
    local t = heater.events[1].t
    near(20, heater:at(t).x[1], 1e-12)
    assert.is_true(heater:at(t + 1e-6).x[1] < 20 and heater:at(t - 1e-6).x[1] < 20)
  end)

  it("says what it can not tell", function()
    local sol = events.ball { e = 0.8, T = 2, h = 0.25 }:run()
    local function raises(text, ...)
      local list = { ... }
      assert.error_matches(function() sol:at(table.unpack(list)) end, text, 1, true)
    end
    raises("at: t: there is no row at t=0.1, and the run kept nothing between its rows: run{dense = true} does", 0.1)
    raises("at: t: expected a time in [0, 2], got 3", 3)
    raises("at: t: expected a time in [0, 2], got -1", { 0, -1 })
    raises("at: side: expected \"before\" or \"after\", got 'left'", 1, "left")
    raises("at: t: expected a number or a vector, got string", "x")
    assert.equal(1, sol:at(0).x[1])
    assert.error_matches(function() events.ball { e = 0.8 }:run { dense = 1 } end, "run: dense: expected a boolean", 1, true)
  end)

  it("leaves a column called at to the user", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    ds:setNames { "at" }
    local sol = models.simulation { systems = { ds } }:run()
    assert.equal(11, #sol.at)
  end)
end)

describe("a picture of a run with events", function()
  it("draws multipliers as lines when the rows hold both sides of impacts, else as steps", function()
    local series = require "nslua.base.series"
    local sol = events.ball { e = 0.5, T = 2, h = 0.5 }:run()
    assert.is_false(series.holds(sol))
    assert.is_true(series.holds(room "TimeStepping":run()))
    for _, name in ipairs { "q1", "v1", "lambda1" } do assert.is_string(sol:plot({ name }):commands()) end
    assert.is_string(sol:html {})
  end)
end)
