-- A system feels no stranger: alone or beside systems that nothing joins to it, it takes the same steps to the last bit.
local ns = require "nslua"

local function relay_node(x0, slope)
  local ds = ns.FirstOrderNonLinearDS({ x0 }, function(t, x, _, f) f[1] = -slope * x[1] ^ 3 + math.sin(3 * t) end)
  local relation = ns.FirstOrderNonLinearR {
    h = function(_, x, lambda, _, y) y[1] = x[1] + 0.1 * x[1] ^ 3 + 0.01 * lambda[1] end,
    g = function(_, x, lambda, _, r) r[1] = lambda[1] * (2 + x[1] ^ 2) end,
  }
  return { ds }, { { ns.Interaction(ns.RelayNSL(1), relation), ds } }
end

local function linear_pair(a, b)
  local one, two = ns.FirstOrderLinearTIDS({ a, 0 }, { { 0, 1 }, { -4, -0.1 } }), ns.FirstOrderLinearTIDS({ b }, { { -2 } })
  local relation = ns.FirstOrderLinearTIR({ { 1, 0, -1 } }, { { 0 }, { -3 }, { 1 } })
  relation:setDPtr { { 0.2 } }
  return { one, two }, { { ns.Interaction(ns.RelayNSL(1), relation), one, two } }
end

local function chain(n)
  local of = { rows = n, cols = n, i = {}, j = {}, v = {} }
  for i = 1, n do
    for j = math.max(1, i - 1), math.min(n, i + 1) do
      of.i[#of.i + 1], of.j[#of.j + 1], of.v[#of.v + 1] = i, j, i == j and -2 or 1
    end
  end
  local x0 = ns.zeros(n)
  x0[1] = 1
  local ds = ns.FirstOrderLinearTIDS(x0, ns.sparse(of))
  local C, B = ns.zeros(1, n), ns.zeros(n, 1)
  C[1][2], B[2][1] = 1, 1
  return { ds }, { { ns.Interaction(ns.ComplementarityConditionNSL(1), ns.FirstOrderLinearTIR(C, B)), ds } }
end

local function ball(q, v, m, e)
  local ds = ns.LagrangianLinearTIDS({ q }, { v }, { { m } })
  ds:setFExtPtr { -9.81 * m }
  return { ds }, { { ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { { 1 } }), ds } }
end

local function sledge(v, mu)
  local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { v, 0 }, ns.eye(2))
  ds:setFExtPtr { 0, -9.81 }
  local H = ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }
  return { ds }, { { ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, mu, 2), H), ds } }
end

local function pendulum(angle, length)
  local ds = ns.LagrangianDS({ length * math.sin(angle), -length * math.cos(angle) }, { 0, 0 }, ns.eye(2))
  ds:setFExtPtr { 0, -9.81 }
  local rod = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - length ^ 2 end }
  return { ds }, { { ns.Interaction(ns.EqualityConditionNSL(1), rod), ds } }
end

-- An input that couples two systems by its derivative.
local function coupled(a, b)
  local one = ns.FirstOrderNonLinearDS({ a }, function(_, x, _, f) f[1] = -x[1] + 2 end)
  local two = ns.FirstOrderNonLinearDS({ b }, function(_, x, _, f) f[1] = -x[1] ^ 3 end)
  local relation = ns.FirstOrderNonLinearR {
    h = function(_, x, lambda, _, y) y[1] = x[1] * x[2] - 1 + 0.1 * lambda[1] end,
    g = function(_, x, lambda, _, r)
      r[1], r[2] = lambda[1] * (1 + x[2] * x[2]), lambda[1] * math.sin(x[1]) - 0.5 * x[1] * x[2]
    end,
  }
  return { one, two }, { { ns.Interaction(ns.RelayNSL(1, -2, 2), relation), one, two } }
end

-- Systems and links of several makers in one simulation: the systems in the order given, or by turns.
local function together(kind, osi, parts, o)
  o = o or {}
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 1)
  for i = 1, o.turns and 3 or 0 do
    for _, part in ipairs(parts) do
      if part[1][i] then nsds:insertDynamicalSystem(part[1][i]) end
    end
  end
  for _, part in ipairs(o.turns and {} or parts) do
    for _, ds in ipairs(part[1]) do nsds:insertDynamicalSystem(ds) end
  end
  for _, part in ipairs(parts) do
    for _, link in ipairs(part[2]) do nsds:link(table.unpack(link)) end
  end
  return ns[kind](nsds, ns.TimeDiscretisation(0, o.h or 0.05), osi, o.problem and o.problem())
end

-- The states and multipliers of one part, at every step; each(k) is called after step k.
local function trace(simu, part, each)
  local list = {}
  for k in simu:steps() do
    for _, ds in ipairs(part[1]) do
      for _, x in ipairs((ds.q and ds:q() or ds:x()):totable()) do list[#list + 1] = x end
      if ds.velocity then for _, v in ipairs(ds:velocity():totable()) do list[#list + 1] = v end end
    end
    for _, link in ipairs(part[2]) do
      local level = part[1][1].velocity and 1 or 0
      for _, l in ipairs(link[1]:lambda(level):totable()) do list[#list + 1] = l end
    end
    if each then each(k) end
  end
  return list
end

local function part(maker, ...) return { maker(...) } end

local function swing(angle, length)
  local ds = ns.LagrangianDS({ angle }, { 0 }, { { length ^ 2 } })
  ds:setComputeFIntFunction(function(_, q, _, _, f) f[1] = 9.81 * length * math.sin(q[1]) end)
  local stop = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] + 0.3 end }
  return { ds }, { { ns.Interaction(ns.NewtonImpactNSL(0.6), stop), ds } }
end

local first_order = { "TimeStepping", function() return ns.EulerMoreauOSI(0.6, 0.9) end }
local mechanics = { "TimeStepping", function() return ns.MoreauJeanOSI(0.5) end }
local cases = {
  { "nonlinear relays", first_order, function() return part(relay_node, 0.7, 1) end,
    function() return part(relay_node, -1.5, 0.3) end },
  { "two linear systems that a relation joins", first_order, function() return part(linear_pair, 1, 0.3) end,
    function() return part(relay_node, -3, 2) end },
  { "two systems that an input couples", first_order, function() return part(coupled, 0.5, 1.5) end,
    function() return part(linear_pair, 7, 3) end },
  { "a linear system beside a large sparse one", first_order, function() return part(linear_pair, 1, 0.3) end,
    function() return part(chain, 120) end },
  { "a large sparse system", first_order, function() return part(chain, 120) end,
    function() return part(linear_pair, 1e6, 1) end },
  { "a bouncing ball", mechanics, function() return part(ball, 0.3, 0, 1, 0.7) end,
    function() return part(pendulum, 1, 1e5) end },
  { "a pendulum", mechanics, function() return part(pendulum, 1, 1) end,
    function() return part(ball, 1e6, 0, 1e9, 0.9) end },
  { "a sledge with friction", mechanics, function() return part(sledge, 2, 0.3) end,
    function() return part(pendulum, 0.5, 3) end },
  { "a projected pendulum", { "TimeSteppingDirectProjection", mechanics[2] }, function() return part(pendulum, 1, 1) end,
    function() return part(pendulum, 2, 50) end },
  { "a pendulum projected with its velocities", { "TimeSteppingCombinedProjection", mechanics[2] },
    function() return part(pendulum, 1, 1) end, function() return part(pendulum, 2, 50) end },
  { "a ball from event to event", { "EventDriven", function() return ns.RungeKuttaOSI() end },
    function() return part(ball, 0.3, 0, 1, 0.7) end, function() return part(swing, 1, 4) end },
  { "a pendulum that hits a stop, from event to event", { "EventDriven", function() return ns.RungeKuttaOSI() end },
    function() return part(swing, 1, 0.5) end, function() return part(ball, 1e5, 3, 1e-3, 0.5) end },
  { "a ball by steps of half a derivative", { "TimeStepping", function() return ns.D1MinusLinearOSI() end },
    function() return part(ball, 0.3, 0, 1, 0.7) end, function() return part(swing, 1, 4) end },
  { "a ball by the two-step scheme", { "TimeStepping", function() return ns.SchatzmanPaoliOSI(0.5) end },
    function() return part(ball, 0.3, 0, 1, 0.7) end, function() return part(ball, 1e4, 3, 2, 0.5) end },
}

describe("a stranger", function()
  for _, case in ipairs(cases) do
    it("changes no bit of " .. case[1], function()
      local kind, osi, mine, other = case[2][1], case[2][2], case[3], case[4]
      local alone = mine()
      local expected = trace(together(kind, osi(), { alone }), alone)
      for place = 1, 4 do
        local here = mine()
        local parts = { { here, other() }, { other(), here }, { other(), here, other() }, { other(), here } }
        local simu = together(kind, osi(), parts[place], { turns = place == 4 })
        assert.same(expected, trace(simu, here), "place " .. place)
      end
    end)

    it("whose links come and go changes no bit of " .. case[1], function()
      local kind, osi, mine, other = case[2][1], case[2][2], case[3], case[4]
      local alone, here, guest = mine(), mine(), other()
      local simu = together(kind, osi(), { guest, here, other() })
      local nsds = simu:nsds()
      local seen = trace(simu, here, function(k)
        for _, link in ipairs(guest[2]) do
          if k % 3 == 0 then nsds:unlink(link[1]) elseif k % 3 == 1 and k > 1 then nsds:link(table.unpack(link)) end
        end
      end)
      assert.same(trace(together(kind, osi(), { alone }), alone), seen)
    end)
  end

  it("that needs more iterations, damping or shorter steps leaves the others as they are", function()
    local function stiff()
      local ds = ns.FirstOrderNonLinearDS({ 2 }, function(t, x, _, f) f[1] = -20 * math.atan(50 * (x[1] - math.sin(8 * t))) end)
      return { { ds }, {} }
    end
    local function run(strangers)
      local mine = part(relay_node, 0.7, 1)
      local parts = strangers and { stiff(), mine } or { mine }
      local simu = together("TimeStepping", ns.EulerMoreauOSI(1), parts)
      simu:setNewtonMaxIteration(6)
      simu:setMaxSubsteps(64)
      return trace(simu, mine), simu:stats()
    end
    local alone = run(false)
    local beside, stats = run(true)
    assert.same(alone, beside)
    assert.is_true(stats.damped_steps + stats.substeps > 0)
  end)

  it("counts with the iterations of the step when it has the most", function()
    local mine, other = part(relay_node, 0.7, 1), part(linear_pair, 1, 0.3)
    local simu = together("TimeStepping", ns.EulerMoreauOSI(1), { mine, other })
    simu:computeOneStep()
    local alone = together("TimeStepping", ns.EulerMoreauOSI(1), { part(relay_node, 0.7, 1) })
    alone:computeOneStep()
    assert.equal(alone:newtonIterations(), simu:newtonIterations())
    assert.equal(alone:stats().newton_iterations, simu:stats().newton_iterations)
  end)
end)

describe("islands", function()
  it("have their events recorded in the order of time", function()
    local parts = { part(ball, 1, 0, 1, 0.8), part(swing, 1, 1), part(ball, 0.3, 0, 1, 0.5), part(ball, 1, 0, 1, 0.8) }
    local simu = together("EventDriven", ns.RungeKuttaOSI(), parts, { T = 2, h = 0.5 })
    simu:run()
    local events, seen = simu:events(), {}
    for i = 2, #events do assert.is_true(events[i].t >= events[i - 1].t) end
    for _, event in ipairs(events) do seen[event.interaction] = (seen[event.interaction] or 0) + 1 end
    assert.equal(seen["interaction 1"], seen["interaction 4"])
    for i = 1, 4 do assert.is_true(seen["interaction " .. i] >= 2, "interaction " .. i) end
    assert.near(math.sqrt(2 * 0.3 / 9.81), events[1].t, 1e-12)
    assert.equal("interaction 3", events[1].interaction)
  end)

  it("follow the graph when it changes", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local a, b = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.FirstOrderLinearTIDS({ 2 }, { { -1 } })
    nsds:insertDynamicalSystem(a)
    nsds:insertDynamicalSystem(b)
    local tie = ns.Interaction(ns.EqualityConditionNSL(1), ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 }, { -1 } }))
    local problem = ns.MLCP()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), problem)
    simu:computeOneStep()
    simu:nextStep()
    assert.near(1 / 1.1, a:x()[1], 1e-15)
    assert.equal(0, problem:size())
    nsds:link(tie, a, b)
    simu:computeOneStep()
    simu:nextStep()
    assert.near(a:x()[1], b:x()[1], 1e-15)
    assert.near(3 / 1.1 ^ 2 / 2, a:x()[1], 1e-15)
    assert.equal(1, problem:size())
    nsds:unlink(tie)
    simu:computeOneStep()
    assert.near(3 / 1.1 ^ 3 / 2, b:x()[1], 1e-15)
    assert.equal(0, problem:size())
  end)

  it("keep their factors when another one changes, a new system comes, or they come apart", function()
    local parts = { part(linear_pair, 1, 0.3), part(linear_pair, 2, 0.1), part(linear_pair, 3, 0.7) }
    local simu = together("TimeStepping", ns.EulerMoreauOSI(0.6), parts)
    local nsds, known = simu:nsds(), 0
    local function factored()
      simu:computeOneStep()
      simu:nextStep()
      local now = simu:stats().factorizations
      known, now = now, now - known
      return now
    end
    local each = factored() // 3
    assert.is_true(each > 0)
    assert.equal(0, factored())
    local link = parts[2][2][1]
    nsds:unlink(link[1])
    assert.equal(2, factored())
    nsds:link(table.unpack(link))
    assert.equal(each, factored())
    nsds:unlink(link[1])
    nsds:link(table.unpack(link)) -- the same lists, but linked anew
    assert.equal(each, factored())
    nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))
    assert.equal(1, factored())
    local a, b = parts[1][1][1], parts[3][1][1]
    local bridge = ns.Interaction(ns.EqualityConditionNSL(1), ns.FirstOrderLinearTIR({ { 1, 0, -1, 0 } },
      { { 1 }, { 0 }, { -1 }, { 0 } }))
    nsds:link(bridge, a, b)
    assert.equal(2 * each, factored())
    nsds:unlink(bridge)
    assert.equal(2 * each, factored())
  end)

  it("see each other at the start of the step, in whatever order they are", function()
    local function run(swapped)
      local a, b
      a = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] + b:x()[1] end)
      b = ns.FirstOrderNonLinearDS({ 2 }, function(_, x, _, f) f[1] = -x[1] + a:x()[1] end)
      local simu = together("TimeStepping", ns.EulerMoreauOSI(1), swapped and { { { b }, {} }, { { a }, {} } }
        or { { { a }, {} }, { { b }, {} } }, { h = 0.1 })
      simu:computeOneStep()
      return a:x()[1], b:x()[1]
    end
    assert.same({ run(false) }, { run(true) })
    local x = run(false)
    assert.near((1 + 0.1 * 2) / 1.1, x, 1e-15)
  end)

  it("go on alike from a checkpoint and in a clone", function()
    local function build() return together("TimeStepping", ns.EulerMoreauOSI(0.6, 0.9),
      { part(chain, 120), part(relay_node, 0.7, 1), part(linear_pair, 1, 0.3) }) end
    local function numbers(simu)
      local list = {}
      for _, x in ipairs(simu:run().x:totable()) do
        for _, v in ipairs(x) do list[#list + 1] = v end
      end
      return list
    end
    local whole = build():run()
    local last = whole.x[#whole]:totable()
    local simu, path = build(), os.tmpname()
    for _ = 1, 7 do simu:computeOneStep() simu:nextStep() end
    simu:save_state(path)
    local clone, other = simu:clone(), build()
    other:load_state(path)
    os.remove(path)
    for _, s in ipairs { simu, clone, other } do
      local list = numbers(s)
      assert.same(last, table.move(list, #list - #last + 1, #list, 1, {}))
    end
  end)
end)
