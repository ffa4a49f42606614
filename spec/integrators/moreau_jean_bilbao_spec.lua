-- MoreauJeanBilbaoOSI: modes that move exactly at the times of the grid, with impacts whose energy is balanced to rounding.
local ns = require "nslua"
local message = require("bind.models").message

local function simulate(systems, links, T, h, osi)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi or ns.MoreauJeanBilbaoOSI())
end

-- q(t) of m q'' + c q' + k q = f.
local function exact(m, c, k, f, q0, v0, t)
  local s, w2 = c / m / 2, k / m
  if k == 0 then
    if c == 0 then return q0 + v0 * t + f / m * t ^ 2 / 2 end
    local fall = (1 - math.exp(-2 * s * t)) / (2 * s)
    return q0 + v0 * fall + f / c * (t - fall)
  end
  local x, y = w2 - s ^ 2, q0 - f / k
  local r = math.sqrt(math.abs(x))
  if x > 0 then return f / k + math.exp(-s * t) * (y * math.cos(r * t) + (v0 + s * y) * math.sin(r * t) / r) end
  if x == 0 then return f / k + math.exp(-s * t) * (y + (v0 + s * y) * t) end
  local slow, fast = -w2 / (s + r), -(s + r)
  return f / k + ((v0 - fast * y) * math.exp(slow * t) - (v0 - slow * y) * math.exp(fast * t)) / (2 * r)
end

-- The change of the energy since e0, and what the account says of it.
local function balance(e0, e)
  return e.total - e0.total, e.forces + e.damping + e.impacts + e.friction + e.boundary + e.numerical
end

describe("MoreauJeanBilbaoOSI", function()
  it("moves a free mode exactly, for any step: undamped, damped, critical, overdamped, without a spring, with a force", function()
    for _, mode in ipairs {
      { 1, 0, 4 }, { 2, 0.3, 50 }, { 1, 2, 1 }, { 1, 5, 1 }, { 3, 0.5, 0 }, { 1, 0, 0 }, { 0.25, 1e-3, 1e4 }, { 1, 2e-6, 1e-8 },
      { 1, 30, 1e-3 }, { 2, 0.3, 50, 7 }, { 3, 0.5, 0, 2 }, { 1, 5, 1, -3 },
    } do
      local m, c, k, f = table.unpack(mode)
      for _, h in ipairs { 1e-3, 0.0625, 0.7, 5, 40 } do
        local ds = ns.LagrangianLinearDiagonalDS({ 1 }, { -2 }, { k }, { c }, { m })
        if f then ds:setFExtPtr { f } end
        local simu = simulate({ ds }, {}, 20 * h, h)
        local w2 = k / m - (c / m / 2) ^ 2
        local clear = w2 > 0 and math.sqrt(w2) * h > 1 and math.abs(math.sin(math.sqrt(w2) * h)) or 1 -- from a half period
        for step in simu:steps() do
          local want = exact(m, c, k, f or 0, 1, -2, step * h)
          assert.near(want, ds:q()[1], 3e-12 * (1 + math.abs(want)) * (1 + math.sqrt(k / m) * h) / math.min(1, 100 * h) / clear,
            ("%g %g %g h %g"):format(m, c, k, h))
        end
      end
    end
  end)

  it("is of second order for a force of time", function()
    local function off(h)
      local ds = ns.LagrangianLinearDiagonalDS({ 0 }, { 1 }, { 4 }, { 0.1 }, { 1 })
      ds:setComputeFExtFunction(function(t, _, f) f[1] = math.sin(3 * t) end)
      simulate({ ds }, {}, 2, h):run()
      return ds:q()[1]
    end
    local fine = off(1 / 2048)
    local ratio = (off(1 / 16) - fine) / (off(1 / 32) - fine)
    assert.near(4, ratio, 0.1)
  end)

  it("balances the energy to rounding, for every step", function()
    for _, h in ipairs { 1e-3, 0.05, 1 } do
      for _, c in ipairs { 0, 0.4 } do
        local ds = ns.LagrangianLinearDiagonalDS({ 1, -1, 0.5 }, { 0, 2, 1 }, { 4, 90, 0 }, { c, 3 * c, c }, { 1, 2, 0.5 })
        ds:setFExtPtr { 0.3, -1, 0 }
        local simu = simulate({ ds }, {}, 200 * h, h)
        simu:computeOneStep()
        simu:nextStep()
        local e0 = simu:energy()
        for _ in simu:steps() do
          local change, known = balance(e0, simu:energy())
          assert.near(change, known, 1e-12 * (1 + e0.kinetic + math.abs(e0.potential)) / math.min(1, 100 * h))
        end
        local e = simu:energy()
        assert.equal(0, e.numerical)
        if c == 0 then assert.near(e0.total, e.total, 1e-11) else assert.is_true(e.damping < 0) end
      end
    end
  end)

  -- A string of n modes that is plucked away from a rigid stop beside its middle: y = gap - q there.
  local function plucked(n, h, e, T, osi)
    local q, v, k, c, shape = {}, {}, {}, {}, {}
    for i = 1, n do
      q[i], v[i] = -6e-3 / i ^ 2 * math.sin(i * math.pi / 3), 0
      k[i], c[i] = (2 * math.pi * 50 * i) ^ 2, 0.5 * i
      shape[i] = -math.sin(i * math.pi / 2)
    end
    local ds = ns.LagrangianLinearDiagonalDS(q, v, k, c)
    local stop = ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ shape }, { 2e-3 }))
    return simulate({ ds }, { { stop, ds } }, T, h, osi), ds, stop
  end

  -- A contact that leaves and is pushed back has u = -e u_k, as in the other schemes: between 0 and 1 that may gain for a moment.
  it("balances the energy of a string that hits a stop, which loses some by e, none at e = 1", function()
    for _, e in ipairs { 0, 0.6, 1 } do
      local simu, _, stop = plucked(30, 5e-5, e, 0.05)
      simu:computeOneStep()
      simu:nextStep()
      local e0, hits, most = simu:energy(), 0, 0
      local last = e0.total
      for _ in simu:steps() do
        local now = simu:energy()
        local change, known = balance(e0, now)
        most = math.max(most, math.abs(change - known))
        if e ~= 0.6 then assert.is_true(now.total <= last + 1e-12 * e0.total) end
        last = now.total
        if stop:lambda(1)[1] > 0 then hits = hits + 1 end
      end
      assert.is_true(hits > 3)
      assert.is_true(most < 1e-11 * e0.total)
      if e == 1 then assert.near(0, simu:energy().impacts, 1e-12 * e0.total) else assert.is_true(simu:energy().impacts < 0) end
    end
  end)

  it("comes to the motion that MoreauJeanOSI has with fine steps, impacts and all", function()
    local function middle(h, osi)
      local simu, ds = plucked(6, h, 0, 0.02, osi)
      simu:run()
      return ds:q():copy()
    end
    local reference = middle(2e-6, ns.MoreauJeanOSI(0.5))
    for _, h in ipairs { 4e-5, 1e-5 } do assert.is_true((middle(h) - reference):norm() < 0.01 * reference:norm(), h) end
  end)

  it("takes friction, equations and two systems, as MoreauJeanOSI does", function()
    local function pair(osi)
      local a = ns.LagrangianLinearDiagonalDS({ 0, 0.1 }, { 1, 0 }, { 0, 0 }, { 0, 0 }, { 1, 1 })
      local b = ns.LagrangianLinearDiagonalDS({ 3 }, { -2 }, { 0 }, { 0 }, { 2 })
      a:setFExtPtr { 0, -9.81 }
      local floor = ns.Interaction(ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } })
      local meet = ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR({ { -1, 0, 1 } }, { 0 }))
      local simu = simulate({ a, b }, { { floor, a }, { meet, a, b } }, 2, 1e-3, osi)
      simu:run()
      return a, b
    end
    local a, b = pair()
    local c, d = pair(ns.MoreauJeanOSI(0.5))
    assert.near(c:velocity()[1], a:velocity()[1], 1e-2)
    assert.near(0, a:velocity()[2], 1e-12)
    assert.near(d:velocity()[1], b:velocity()[1], 1e-2)
    local held = ns.LagrangianLinearDiagonalDS({ 1, 1 }, { 1, -1 }, { 4, 9 }, nil, { 1, 2 })
    local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR({ { 1, 1 } }, { -2 }))
    local simu = simulate({ held }, { { rod, held } }, 1, 1e-2)
    for _ in simu:steps() do assert.near(0, rod:y(0)[1], 1e-13) end
  end)

  it("keeps to steps of one length, goes on from a clone, and starts anew where a state was written", function()
    local simu, ds = plucked(5, 1e-4, 0.5, 0.02)
    for step in simu:steps() do if step == 60 then break end end
    simu:nextStep()
    local twin = simu:clone()
    simu:run()
    twin:run()
    assert.same(ds:q():totable(), twin:nsds():dynamicalSystem(1):q():totable())
    local free = ns.LagrangianLinearDiagonalDS({ 1 }, { 0 }, { 4 })
    simu = simulate({ free }, {}, 10, 0.5)
    simu:computeOneStep()
    simu:nextStep()
    free:q()[1], free:velocity()[1] = 2, 3
    simu:run()
    assert.near(exact(1, 0, 4, 0, 2, 3, 9.5), free:q()[1], 1e-12)
    local nsds = ns.NonSmoothDynamicalSystem(0, 3)
    nsds:insertDynamicalSystem(ns.LagrangianLinearDiagonalDS { q0 = { 1 }, v0 = { 0 }, stiffness = { 4 }, name = "mode" })
    simu = ns.TimeStepping(nsds, ns.TimeDiscretisation { 0, 1, 3 }, ns.MoreauJeanBilbaoOSI())
    simu:computeOneStep()
    simu:nextStep()
    assert.matches("needs steps of one length: dynamical system 'mode' had one of h=1 before this one of h=2",
      message(simu.computeOneStep, simu))
  end)

  it("refuses what it has no exact motion for, and says what would do", function()
    local function refused(ds, links) return message(simulate, { ds }, links or {}, 1, 0.1) end
    local coupled = ns.LagrangianLinearTIDS { q0 = { 0, 0 }, v0 = { 0, 0 }, mass = ns.eye(2), K = { { 2, -1 }, { -1, 2 } },
      name = "pair" }
    local said = "MoreauJeanBilbaoOSI: dynamical system 'pair' has coupled modes; it takes linear systems whose mass, stiffness "
      .. "and damping are diagonal (MoreauJeanOSI takes every one)"
    assert.equal(said, refused(coupled))
    local ds = ns.LagrangianLinearDiagonalDS({ 1 }, { 0 }, { 4 })
    local arc = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] ^ 2 end }
    local curved = ns.Interaction(ns.NewtonImpactNSL(0), arc, "arc")
    assert.equal("MoreauJeanBilbaoOSI: interaction 'arc' has a LagrangianScleronomousR; use MoreauJeanOSI",
      refused(ds, { { curved, ds } }))
    assert.equal("MoreauJeanBilbaoOSI", tostring(ns.MoreauJeanBilbaoOSI()))
    assert.equal("MoreauJeanBilbaoOSI: expected at most 0 arguments, got 1", message(ns.MoreauJeanBilbaoOSI, 0.5))
  end)
end)
