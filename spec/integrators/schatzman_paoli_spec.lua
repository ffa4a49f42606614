-- The two-step scheme on positions, seen through TimeStepping: order, impacts, rest, constraints, its memory, errors.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local g = 9.81

local function simulate(o)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  for _, ds in ipairs(o.systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(o.links or {}) do nsds:link(table.unpack(link)) end
  local grid = o.grid or ns.TimeDiscretisation(0, o.h)
  return ns.TimeStepping(nsds, grid, o.osi or ns.SchatzmanPaoliOSI(o.theta or 0.5), o.problem)
end

-- The order that errors at h, h/2, h/4 ... have, from the first to the last.
local function order(errors) return math.log(errors[1] / errors[#errors], 2) / (#errors - 1) end

local function ball(q0, v0)
  local ds = ns.LagrangianLinearTIDS({ q0 }, { v0 or 0 }, { { 1 } })
  ds:setFExtPtr { -g }
  return ds
end

local function impact(e) return ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { { 1 } }, "floor") end

local function bouncing(o)
  local ds, floor = ball(o.q0 or 1, o.v0), impact(o.e)
  local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = o.T, h = o.h, theta = o.theta, problem = o.problem }
  return simu, ds, floor
end

-- The height of a ball dropped from 1.
local function height(e, t)
  local start = math.sqrt(2 / g)
  if t < start then return 1 - g * t * t / 2 end
  local v = g * start * e
  while v > 1e-12 do
    local s = t - start
    if s < 2 * v / g then return v * s - g * s * s / 2 end
    start, v = start + 2 * v / g, v * e
  end
  return 0
end

-- A rigid rod of length 1 with a mass at its end, in the plane; from the horizontal.
local function rod(h, theta, T, relation)
  local ds = ns.LagrangianDS { q0 = { 1, 0 }, v0 = { 0, -0.7 }, mass = ns.eye(2), name = "bob" }
  ds:setFExtPtr { 0, -g }
  local hold = ns.Interaction(ns.EqualityConditionNSL(1),
    relation or ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }, "rod")
  return simulate { systems = { ds }, links = { { hold, ds } }, T = T, h = h, theta = theta }, ds, hold
end

-- The same as an angle: m l^2 a'' = -m g l cos a, by the scheme of order 8.
local function angle(T)
  local ds = ns.LagrangianDS { q0 = { 0 }, v0 = { -0.7 }, mass = ns.eye(1),
    fInt = function(_, q, _, _, f) f[1] = g * math.cos(q[1]) end }
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  ns.EventDriven(nsds, ns.TimeDiscretisation(0, T), ns.RungeKuttaOSI()):run()
  return ds:q()[1]
end

describe("SchatzmanPaoliOSI", function()
  it("is of order 2 on a damped oscillator, for every theta", function()
    local a, w = 0.1, math.sqrt(4 - 0.01)
    local function exact(t) return math.exp(-a * t) * (math.cos(w * t) + (0.5 + a) / w * math.sin(w * t)) end
    for _, theta in ipairs { 0, 0.25, 0.5, 1 } do
      local errors = {}
      for i = 1, 4 do
        local ds = ns.LagrangianLinearTIDS({ 1 }, { 0.5 }, { { 2 } }, { { 8 } }, { { 0.4 } })
        local simu = simulate { systems = { ds }, T = 2, h = 0.04 / 2 ^ i, theta = theta }
        local worst = 0
        for _, t in simu:steps() do worst = math.max(worst, math.abs(ds:q()[1] - exact(t))) end
        errors[i] = worst
      end
      assert.near(2, order(errors), 0.03)
    end
  end)

  it("has the velocity of the time before, to second order", function()
    local errors = {}
    for i = 1, 3 do
      local h = 0.02 / 2 ^ i
      local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 1 } })
      local simu, q, before = simulate { systems = { ds }, T = 1, h = h }, { [0] = 1 }, nil
      for k in simu:steps() do
        q[k] = ds:q()[1]
        if k >= 2 then assert.near((q[k] - q[k - 2]) / (2 * h), ds:velocity()[1], 1e-11) end
        if k == 1 then assert.equal(0, ds:velocity()[1]) end
        before = ds:velocity()[1]
      end
      errors[i] = math.abs(before + math.sin(1 - h))
    end
    assert.near(2, order(errors), 0.05)
  end)

  it("solves the linear scheme: every step is its equation", function()
    local M, K, C, h, theta = 3, 50, 0.7, 0.03, 0.3
    local ds = ns.LagrangianLinearTIDS({ 0.4 }, { -1 }, { { M } }, { { K } }, { { C } })
    ds:setComputeFExtFunction(function(t, _, f) f[1] = math.cos(5 * t) end)
    local simu, q = simulate { systems = { ds }, T = 2, h = h, theta = theta }, { [0] = 0.4 }
    for k, t in simu:steps() do
      q[k] = ds:q()[1]
      if k > 1 then
        local p, o, m = q[k], q[k - 1], q[k - 2]
        local force = math.cos(5 * (t - h)) - K * (theta / 2 * (p + m) + (1 - theta) * o) - C * (p - m) / (2 * h)
        assert.near(h * h * force, M * (p - 2 * o + m), 1e-14)
      end
    end
    assert.equal(2, simu:stats().factorizations) -- one of the first step, one of the others
  end)

  it("is stable for every step from theta = 1/2 on, and not below with h w > 2", function()
    local function largest(theta)
      local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 1e4 } })
      local simu, most = simulate { systems = { ds }, T = 20, h = 0.1, theta = theta }, 0
      for _ in simu:steps() do most = math.max(most, math.abs(ds:q()[1])) end
      return most
    end
    assert.is_true(largest(0.5) <= 1 + 1e-9)
    assert.is_true(largest(1) <= 1 + 1e-9)
    assert.is_true(largest(0.25) > 1e6)
  end)

  it("is of order 2 with a nonlinear force, with a mass that varies, and with a rotating force", function()
    local function pendulum() -- in s = sinh(a): M(s) = 1 / (1 + s^2), so that a'' = -g cos a
      return ns.LagrangianDS { q0 = { 0 }, v0 = { -0.7 },
        mass = function(q, _, M) M[1][1] = 1 / (1 + q[1] * q[1]) end,
        fGyr = function(q, v, _, f) f[1] = -q[1] * v[1] ^ 2 / (1 + q[1] ^ 2) ^ 2 end,
        fInt = function(_, q, _, _, f)
          local s = q[1]
          f[1] = g * math.cos(math.log(s + math.sqrt(1 + s * s))) / math.sqrt(1 + s * s)
        end }
    end
    local function plain()
      return ns.LagrangianDS { q0 = { 0 }, v0 = { -0.7 }, mass = ns.eye(1),
        fInt = function(_, q, _, _, f) f[1] = g * math.cos(q[1]) end }
    end
    local a = angle(0.5)
    for make, exact in pairs { [pendulum] = (math.exp(a) - math.exp(-a)) / 2, [plain] = a } do
      for _, theta in ipairs { 0, 0.5 } do
        local errors = {}
        for i = 1, 4 do
          local ds = make()
          simulate({ systems = { ds }, T = 0.5, h = 0.02 / 2 ^ i, theta = theta }):run()
          errors[i] = math.abs(ds:q()[1] - exact)
        end
        assert.near(2, order(errors), 0.1)
      end
    end
  end)

  it("holds bilateral constraints in the coordinates, of order 2, also from a start with curvature", function()
    local a, errors = angle(1), {}
    for i = 1, 4 do
      local simu, ds, hold = rod(0.02 / 2 ^ i, 0.5, 1)
      for _ in simu:steps() do assert.is_true(math.abs(hold:y(0)[1]) <= 1e-10) end
      errors[i] = math.abs(ds:q()[1] - math.cos(a)) + math.abs(ds:q()[2] - math.sin(a))
    end
    assert.near(2, order(errors), 0.05)
    local simu, ds, hold = rod(0.01, 0, 1, ns.LagrangianRheonomousR {
      h = function(t, q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - (1 + t) ^ 2 end })
    for _, t in simu:steps() do
      assert.near((1 + t) ^ 2, ds:q()[1] ^ 2 + ds:q()[2] ^ 2, 1e-10)
      assert.is_true(math.abs(hold:y(0)[1]) <= 1e-10)
    end
  end)

  it("keeps 0 <= y + e y(k-1) _|_ P >= 0 at every step, and y above -2 e / (1 + e) h |u|", function()
    for _, e in ipairs { 0, 0.3, 0.8, 1 } do
      for _, problem in ipairs { ns.LCP(), ns.GenericMechanical() } do
        local h, q, impulses, fastest = 0.007, { [0] = 1 }, 0, 0
        local simu, ds, floor = bouncing { e = e, h = h, T = 3, problem = problem }
        for k in simu:steps() do
          q[k] = ds:q()[1]
          local P, w = floor:lambda(1)[1], q[k] + e * (q[k - 2] or 1)
          fastest = math.max(fastest, math.abs(q[k] - q[k - 1]) / h)
          assert.is_true(P >= 0 and w >= -1e-13)
          if P > 0 then assert.near(0, w, 1e-14) end
          assert.is_true(q[k] >= -2 * e / (1 + e) * h * (fastest + g * h / 2) - 1e-15)
          assert.equal(P, ds:p(1)[1])
          if P > 0 then impulses = impulses + 1 end
        end
        assert.is_true(impulses > 4)
      end
    end
  end)

  it("reverses the difference of the positions by e in an impact of two steps", function()
    local e, h = 0.6, 0.01
    local ds, floor = ns.LagrangianLinearTIDS({ 1.003 }, { -2 }, { { 3 } }), impact(e)
    local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 1, h = h }
    local q, P = { [0] = 1.003 }, 0
    for k in simu:steps() do
      q[k] = ds:q()[1]
      P = P + floor:lambda(1)[1]
    end
    assert.near(-2 * h, q[10] - q[9], 1e-15)
    assert.near(e * 2 * h, q[#q] - q[#q - 1], 1e-15)
    assert.near(3 * (1 + e) * 2, P, 1e-12) -- the impulse is the change of momentum
  end)

  it("is of order 1 in the L1 norm with impacts, and passes infinitely many of them #once", function()
    local e, errors = 0.5, {}
    for i = 1, 7 do
      local h, sum = 0.02 / 2 ^ i, 0
      local simu, ds, floor = bouncing { e = e, h = h, T = 3 }
      for _, t in simu:steps() do
        sum = sum + h * math.abs(ds:q()[1] - height(e, t))
        if t > 1.5 then assert.is_true(math.abs(ds:q()[1]) < h) end
      end
      errors[i] = sum
      assert.near(0, ds:q()[1], 1e-12)
      assert.near(g * h, floor:lambda(1)[1], 1e-12) -- the floor carries the weight
    end
    assert.is_true(order(errors) > 0.85, order(errors))
  end)

  it("leaves at rest what rests, to the last bit", function()
    for _, e in ipairs { 0, 0.9 } do
      local simu, ds, floor = bouncing { e = e, h = 0.01, T = 1, q0 = 0 }
      for _ in simu:steps() do
        assert.equal(0, ds:q()[1])
        assert.near(g * 0.01, floor:lambda(1)[1], 1e-15)
      end
    end
  end)

  it("solves contacts and constraints together, few and many", function()
    for _, n in ipairs { 3, 151 } do -- a row of 151 is a sparse problem
      local systems, links, floors = {}, {}, {}
      for i = 1, n do
        systems[i] = ball(i - 0.9)
        floors[i] = impact(0)
        links[i] = { i == 1 and floors[i] or ns.Interaction(ns.NewtonImpactNSL(0),
          ns.LagrangianLinearTIR({ { -1, 1 } }, { -1 })), i == 1 and systems[i] or systems[i - 1], i > 1 and systems[i] or nil }
      end
      local simu = simulate { systems = systems, links = links, T = 0.2, h = 0.02, theta = 0 }
      for _ in simu:steps() do
        for i = 2, n do assert.is_true(systems[i]:q()[1] - systems[i - 1]:q()[1] >= 1 - 1e-10) end
      end
      assert.near(0, systems[1]:q()[1], 1e-12) -- stacked, one on top of the other
      assert.near(n - 1, systems[n]:q()[1], 1e-9)
      assert.near(n * g * 0.02, floors[1]:lambda(1)[1], 1e-7)
    end
  end)

  it("gives the same bits after reset, in a clone within an impact, and in a step computed again", function()
    local function make()
      return (bouncing { e = 0.8, h = 0.01, T = 1.2 })
    end
    local states, hit = models.advance(make()), nil
    local simu, ds, floor = bouncing { e = 0.8, h = 0.01, T = 1.2 }
    for k in simu:steps() do
      if floor:lambda(1)[1] > 0 and not hit then
        hit = k
        assert.is_true(ds:q()[1] < 0)
        local copy = simu:clone()
        models.advance(copy)
        assert.equal(states[#states], models.state(copy))
      end
    end
    assert.truthy(hit)
    simu:reset()
    assert.same(states, models.advance(simu))
    simu:reset()
    for k = 1, #states do
      for _ = 1, 3 do simu:computeOneStep() end
      simu:nextStep()
      assert.equal(states[k], models.state(simu))
    end
  end)

  it("starts anew from a state that was written", function()
    local simu, ds = bouncing { e = 0, h = 0.01, T = 1, q0 = 10 }
    for _ = 1, 5 do simu:computeOneStep() simu:nextStep() end
    ds:q()[1], ds:velocity()[1] = 20, 3
    for _ = 1, 10 do simu:computeOneStep() simu:nextStep() end
    assert.near(20 + 3 * 0.1 - g * 0.005, ds:q()[1], 1e-12)
  end)

  it("goes on after a step that failed", function()
    local broken = false
    local function make()
      return ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = ns.eye(1), name = "arm",
        fInt = function(_, q, _, _, f) f[1] = broken and 0 / 0 or 9 * math.sin(q[1]) end }
    end
    local a = make()
    simulate({ systems = { a }, T = 1, h = 0.01 }):run()
    local b = make()
    local simu = simulate { systems = { b }, T = 1, h = 0.01 }
    simu:setMaxSubsteps(4)
    for k = 1, 100 do
      if k == 40 then
        local before = models.state(simu)
        broken = true
        assert.matches("dynamical system 'arm'.*fInt%[1%] is nan", message(simu.computeOneStep, simu))
        broken = false
        assert.equal(before, models.state(simu))
      end
      simu:computeOneStep()
      simu:nextStep()
    end
    assert.equal(a:q()[1], b:q()[1])
  end)

  -- The works and the change of the energy, of a run; `each` is called with every step's energies.
  local function account(simu, each)
    local first = simu:energy()
    local open = 0
    for k, t in simu:steps() do
      local e = simu:energy()
      open = math.max(open, math.abs(e.total - first.total - e.forces - e.damping - e.impacts - e.numerical))
      assert.is_true(e.friction == 0 and e.boundary == 0 and e.total == e.kinetic + e.potential)
      if each then each(e, k, t) end
    end
    return open, simu:energy(), first
  end

  it("accounts for the energy of the middle of the steps: linear systems", function()
    for _, theta in ipairs { 0, 0.5, 1 } do
      local M, K, h = ns.matrix { { 2, 0.2 }, { 0.2, 1 } }, ns.matrix { { 40, -10 }, { -10, 30 } }, 0.01
      local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0.5, -1 }, M, K)
      ds:setFExtPtr { 0, -g }
      local simu, before = simulate { systems = { ds }, T = 2, h = h, theta = theta }, ds:q():copy()
      assert.near(0.5 * (2 * 0.25 - 0.2 + 1) + 20, simu:energy().total, 1e-14) -- of the state, before the first step
      local kept, least, most
      local open, e = account(simu, function(e)
        local w, mean = (ds:q() - before) / h, (ds:q() + before) / 2
        assert.near(0.5 * w:dot(M * w), e.kinetic, 1e-11)
        assert.near((ds:q():dot(K * ds:q()) + before:dot(K * before)) / 4 + g * mean[2], e.potential, 1e-11)
        before = ds:q():copy()
        local invariant = e.total - (1 - theta) * h * h / 4 * w:dot(K * w)
        kept = kept or invariant
        assert.near(kept, invariant, 1e-12) -- the energy that the scheme conserves
        least, most = math.min(least or e.total, e.total), math.max(most or e.total, e.total)
      end)
      assert.is_true(open < 1e-13)
      assert.near(0, e.forces, 1e-11)
      assert.equal(0, e.damping)
      assert.equal(0, e.impacts)
      assert.is_true(math.abs(e.numerical) < 0.05)
      if theta == 1 then assert.is_true(most - least < 1e-12) else assert.is_true(most - least > 1e-5) end
    end
  end)

  it("accounts for damping, forces of the time, impacts and constraints, a mass that varies", function()
    local function bar(options)
      local all = { q0 = { 0.3, 0.1 }, v0 = { -1, 0.4 }, name = "bar",
        mass = function(q, _, M) M[1][1], M[2][2] = 2 + q[2] ^ 2, 1 end,
        fInt = function(_, q, v, _, f) f[1], f[2] = 5 * q[1] ^ 3 + 0.3 * v[1], 8 * q[2] end,
        fGyr = function(q, v, _, f) f[1], f[2] = 2 * q[2] * v[1] * v[2], -q[2] * v[1] ^ 2 end,
        potential = function(q, _, e) e[1] = 5 / 4 * q[1] ^ 4 + 4 * q[2] ^ 2 end,
        fExt = function(t, _, f) f[1] = math.sin(3 * t) end }
      for key, value in pairs(options or {}) do all[key] = value end
      return ns.LagrangianDS(all)
    end
    local function works(theta, h)
      local ds = bar()
      local stop = ns.Interaction(ns.NewtonImpactNSL(0.4), ns.LagrangianScleronomousR {
        h = function(q, _, y) y[1] = q[1] + 0.2 * q[2] ^ 2 end })
      local tie = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianRheonomousR {
        h = function(t, q, _, y) y[1] = q[2] - 0.1 * q[1] - 0.07 * math.cos(t) end })
      local simu = simulate { systems = { ds }, links = { { stop, ds }, { tie, ds } }, T = 3, h = h, theta = theta }
      local open, e = account(simu)
      assert.is_true(open < 1e-12, open)
      assert.is_true(math.abs(e.forces) > 0.05 and math.abs(e.impacts) > 0.05)
      return e
    end
    for _, theta in ipairs { 0, 0.5, 1 } do works(theta, 0.01) end
    -- damping of a linear system: its work is -h sum of C v^2, and what is left is of second order
    local function damped(h)
      local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 2 } }, { { 8 } }, { { 0.4 } })
      local simu, sum = simulate { systems = { ds }, T = 2, h = h, theta = 0.5 }, 0
      local open, e, first = account(simu, function(_, k) if k > 1 then sum = sum - h * 0.4 * ds:velocity()[1] ^ 2 end end)
      assert.is_true(open < 1e-13)
      assert.near(sum, e.damping, 1e-12)
      assert.near(0, e.forces, 1e-11)
      local a, w, t = 0.1, math.sqrt(4 - 0.01), 2 - h / 2
      local q = math.exp(-a * t) * (math.cos(w * t) + a / w * math.sin(w * t))
      local v = -4 / w * math.exp(-a * t) * math.sin(w * t)
      return math.abs(first.total + e.damping + e.forces + e.impacts + e.numerical - v * v - 4 * q * q)
    end
    assert.near(2, order { damped(4e-3), damped(2e-3), damped(1e-3) }, 0.1)
  end)

  it("loses 1 - e^2 of the energy in an impact, and none at a rigid rod but for h^2", function()
    for _, e in ipairs { 0, 0.6, 1 } do
      local ds, floor = ns.LagrangianLinearTIDS({ 1.003 }, { -2 }, { { 3 } }), impact(e)
      local open, now, first = account(simulate { systems = { ds }, links = { { floor, ds } }, T = 1, h = 0.01 })
      assert.is_true(open < 1e-14)
      assert.near(6, first.total, 1e-15)
      assert.near(6 * e * e, now.total, 1e-12)
      assert.near(6 * (e * e - 1), now.impacts, 1e-12)
      assert.near(0, now.numerical, 1e-14)
    end
    local function rods_work(h)
      local simu = rod(h, 0.5, 3)
      simu:setNewtonTolerance(1e-13)
      local most = 0
      local open = account(simu, function(e) most = math.max(most, math.abs(e.impacts)) end)
      assert.is_true(open < 1e-12)
      return most
    end
    assert.near(2, order { rods_work(0.01), rods_work(0.005) }, 0.05) -- bounded: the scheme is symplectic
  end)

  it("has the energies of a state that was written, and the same account after reset and in a clone", function()
    local simu, ds = bouncing { e = 0.5, h = 0.01, T = 1 }
    simu:energy()
    for _ = 1, 60 do simu:computeOneStep() simu:nextStep() end
    local seen = simu:energy()
    assert.is_true(seen.impacts < -1)
    local copy = simu:clone()
    assert.same(seen, copy:energy())
    copy:computeOneStep()
    copy:computeOneStep()
    copy:nextStep()
    simu:computeOneStep()
    simu:nextStep()
    assert.same(simu:energy(), copy:energy())
    ds:q()[1], ds:velocity()[1] = 20, 3
    assert.near(20 * g + 4.5, simu:energy().total, 1e-12)
    simu:reset()
    assert.near(g, simu:energy().total, 1e-15)
    for _ = 1, 60 do simu:computeOneStep() simu:nextStep() end
    assert.same(seen, simu:energy())
  end)

  it("refuses other laws, systems and steps, naming them", function()
    local function refused(law, relation, ds)
      ds = ds or ball(1)
      local inter = ns.Interaction(law, relation or ns.LagrangianLinearTIR { { 1 } }, "floor")
      return message(simulate, { systems = { ds }, links = { { inter, ds } }, T = 1, h = 0.1 })
    end
    local takes = "; it takes NewtonImpactNSL and EqualityConditionNSL (TimeStepping with a MoreauJeanOSI takes it)"
    assert.equal("SchatzmanPaoliOSI: interaction 'floor' has a NewtonImpactFrictionNSL" .. takes,
      refused(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), ns.LagrangianLinearTIR { { 1, 0 }, { 0, 1 } },
        ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))))
    assert.equal("SchatzmanPaoliOSI: interaction 'floor' has a RelayNSL" .. takes, refused(ns.RelayNSL(1, -1, 1)))
    assert.equal("SchatzmanPaoliOSI: interaction 'floor' has a ComplementarityConditionNSL" .. takes,
      refused(ns.ComplementarityConditionNSL(1), ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 } })))
    assert.equal("SchatzmanPaoliOSI: interaction 'floor' has a LagrangianCompliantLinearTIR, which computes a force from a " ..
      "position and is not a contact",
      refused(ns.EqualityConditionNSL(1), ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 } })))
    local body = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, ns.zeros(6), 1, ns.eye(3))
    body:setName "body"
    assert.equal("SchatzmanPaoliOSI: dynamical system 'body' is a NewtonEulerDS; it takes Lagrangian systems "
      .. "(TimeStepping with a MoreauJeanOSI takes both)", message(simulate, { systems = { body }, T = 1, h = 0.1 }))
    local tank = ns.FirstOrderLinearTIDS { x0 = { 1 }, A = { { -1 } }, name = "tank" }
    assert.equal("SchatzmanPaoliOSI: dynamical system 'tank' is a first-order one; use EulerMoreauOSI",
      message(simulate, { systems = { tank }, T = 1, h = 0.1 }))
    local ds = ball(1)
    ds:setName "ball"
    local simu = simulate { systems = { ds }, T = 1, grid = ns.TimeDiscretisation { 0, 0.1, 0.2, 0.4 } }
    simu:computeOneStep()
    simu:nextStep()
    simu:computeOneStep()
    simu:nextStep()
    assert.equal("SchatzmanPaoliOSI: a two-step scheme needs steps of one length: dynamical system 'ball' had one of "
      .. "h=0.1 before this one of h=0.2 (t=0.4 step 3)", message(simu.computeOneStep, simu))
    assert.matches("dynamical system 'light': W = M %- h%^2 theta/2 dF/dq %- h/2 dF/dv is singular %(row 1, h=0.1%)",
      message(function()
        simulate({ systems = { ns.LagrangianLinearTIDS { q0 = { 1 }, v0 = { 0 }, mass = { { 0 } }, name = "light" } },
          T = 1, h = 0.1 }):run()
      end))
  end)

  it("has a weight theta, and no other option", function()
    local osi = ns.SchatzmanPaoliOSI(0.5)
    assert.equal("SchatzmanPaoliOSI: theta 0.5", tostring(osi))
    osi:setTheta(0.75)
    assert.equal(0.75, osi:theta())
    assert.equal("SchatzmanPaoliOSI: theta: expected a number in [0, 1], got 1.5", message(ns.SchatzmanPaoliOSI, 1.5))
    for _, name in ipairs { "gamma", "setGamma", "setLinearlyImplicit" } do
      assert.equal("SchatzmanPaoliOSI: it has no method '" .. name .. "'", message(function() return osi[name] end))
    end
    local simu = bouncing { e = 0, h = 0.1, T = 1 }
    assert.equal("events: a TimeStepping with a SchatzmanPaoliOSI has none; EventDriven locates them",
      message(simu.events, simu))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    assert.equal("EventDriven: expected an integrator such as RungeKuttaOSI, got a SchatzmanPaoliOSI",
      message(ns.EventDriven, nsds, ns.TimeDiscretisation(0, 0.1), osi))
    assert.equal("TimeSteppingDirectProjection: expected an integrator such as MoreauJeanOSI, got a SchatzmanPaoliOSI",
      message(ns.TimeSteppingDirectProjection, nsds, ns.TimeDiscretisation(0, 0.1), osi))
  end)
end)

describe("coordinates that overflow", function()
  it("are told, and the state stays", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 1.7e308 }, { { 1 } })
    ds:setFExtPtr { 1.7e308 }
    local simu = simulate { systems = { ds }, T = 1, h = 1 }
    assert.matches("dynamical system 'ds 1': q[1] became inf (t=1 step 1", message(simu.computeOneStep, simu), 1, true)
    assert.equal(0, ds:q()[1])
  end)
end)
