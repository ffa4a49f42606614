-- JointFrictionNSL: dry friction with a bound that grows with other multipliers.
local ns = require "nslua"
local campaign = require "campaign"
local internal = require "nslua.internal"
local message = require "bind.models".message

describe("JointFrictionNSL", function()
  it("has equations, and a row with bounds that grows with the first multipliers", function()
    local of = internal.law_table(ns.JointFrictionNSL(3, 2, 0.1, 5))
    assert.same({ equation = true, box = true, sorts = true, reaction = true, bits = 1 + 8 + 16 + 1024 }, of.needs)
    assert.equal(2, of.constrained)
    assert.same({ box = true, bits = 8 }, internal.law_table(ns.JointFrictionNSL(1, 0, 0, 5)).needs)
    assert.match("reactions: expected at most 2, the number of equations, got 3", message(ns.JointFrictionNSL, 3, 3, 0.1, 0))
    assert.equal("JointFrictionNSL of size 1, reactions = 0, mu = 0.0, force = 5.0", tostring(ns.JointFrictionNSL(1, 0, 0, 5)))
  end)

  -- A mass of 2 on a line under a force of 4 and a friction of 3 moves with 0.5.
  it("has a force, whatever the step: in steps of any length, in parts of steps, in events", function()
    local runs = {
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25), ns.MoreauJeanOSI(0.5)) end,
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanBilbaoOSI()) end,
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanGOSI(0.5)) end,
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation { 0, 0.1, 0.4, 1 }, ns.MoreauJeanOSI(0.5)) end,
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5), { rtol = 1e-3 }) end,
      function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI()) end }
    for k, make in ipairs(runs) do
      local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 2 } })
      ds:setFExtPtr { 4 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.JointFrictionNSL(1, 0, 0, 3), ns.LagrangianLinearTIR { { 1 } }), ds)
      local simu = make(nsds)
      if k == 1 then simu:addEvent { g = function(t) return t - 0.3 end, action = function() end } end
      simu:run()
      assert.near(0.5, ds:velocity()[1], k == 2 and 0.006 or 1e-12) -- 2: velocities between the times
    end
  end)

  -- u1 = 0 and T = -mu R: R (W11 - mu W12) = h a. The friction makes 0.8 of the reaction that makes it.
  it("finds a reaction that the friction itself makes fivefold", function()
    local M = ns.solve(ns.matrix { { 1, 1.6 }, { 1.6, 4 } }, ns.eye(2))
    local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 10 }, M)
    ds:setFExtPtr(M * ns.vector { -1, 0 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.1)
    nsds:insertDynamicalSystem(ds)
    local inter = ns.Interaction(ns.JointFrictionNSL(2, 1, 0.5, 0), ns.LagrangianLinearTIR(ns.eye(2)))
    nsds:link(inter, ds)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):run()
    assert.near(0.5, inter:lambda(1)[1], 1e-10)
    assert.near(-0.25, inter:lambda(1)[2], 1e-10)
  end)

  it("obeys its law in each step, for random couplings #once", function()
    local count, tell = campaign(20, 0.02)
    for seed = 1, count do
      math.randomseed(seed)
      local r, n, reactions = math.random, 3 + seed % 3, 1 + seed % 2
      local M, H, v, F = ns.eye(n), ns.zeros(reactions + 1, n), ns.zeros(n), ns.zeros(n)
      for i = 1, n do
        F[i] = 10 * (r() - 0.5)
        for j = 1, i do M[i][j] = M[i][j] + 0.3 * (r() - 0.5) M[j][i] = M[i][j] end
        for k = 1, reactions + 1 do H[k][i] = (k == i and 1 or 0) + 0.4 * (r() - 0.5) end
      end
      local mu, force = 0.5 * r(), r()
      local ds = ns.LagrangianLinearTIDS(ns.zeros(n), v, M)
      ds:setFExtPtr(F)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      local inter = ns.Interaction(ns.JointFrictionNSL(reactions + 1, reactions, mu, force), ns.LagrangianLinearTIR(H))
      nsds:link(inter, ds)
      local h = 0.05
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
      for _ in simu:steps() do
        local P, u, length = inter:lambda(1), inter:y(1), 0
        for k = 1, reactions do
          length = math.sqrt(length ^ 2 + P[k] ^ 2)
          assert.near(0, u[k], 1e-12)
        end
        local most, slip, tau = force * h + mu * length, u[reactions + 1], P[reactions + 1]
        assert.is_true(math.abs(tau) <= most * (1 + 1e-12))
        if math.abs(slip) > 1e-10 then assert.near(slip > 0 and -most or most, tau, 1e-12 * most) end
      end
    end
    tell("joints with friction", count)
  end)
end)
