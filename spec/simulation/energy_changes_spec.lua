-- The account of energies where the script changes the model between two steps, or in an action.
local campaign = require "campaign"
local numbers = require "random_numbers"
local ns = require "nslua"
local uniform = numbers.uniform

local schemes = {
  { ns.EventDriven, function() return ns.RungeKuttaOSI() end },
  { ns.TimeStepping, function() return ns.MoreauJeanOSI(uniform(0.5, 1)) end },
  { ns.TimeStepping, function() return ns.MoreauJeanGOSI(uniform(0.5, 1)) end },
  { ns.TimeStepping, function() return ns.SchatzmanPaoliOSI(0.5) end },
  { ns.TimeStepping, function() return ns.MoreauJeanBilbaoOSI() end },
}

local function changes(account, before)
  local works = 0
  for _, name in ipairs { "forces", "damping", "impacts", "friction", "boundary", "numerical" } do works = works + account[name] end
  return account.total - before.total, works
end

-- A mass on a spring with a damper over a wall, under a constant force.
local function oscillator(scheme)
  local mass = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { uniform(0, 3) } }, { { uniform(0, 0.5) } })
  mass:setFExtPtr { -1 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(mass)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }, { 1 }), "wall"), mass)
  return scheme[1](nsds, ns.TimeDiscretisation(0, 0.1), scheme[2]()), mass
end

describe("energy", function()
  it("accounts for forces, matrices and states that a script sets between steps", function()
    math.randomseed(91)
    local count, report = campaign(10, 1 / 200)
    for i = 1, count do
      local scheme = schemes[(i - 1) % #schemes + 1]
      local simu, mass = oscillator(scheme)
      local before, other = simu:energy(), i % 2 == 0
      for k in simu:steps() do
        if k % 3 == 0 then mass:setFExtPtr { uniform(-4, 4) } end
        if scheme[1] == ns.EventDriven and other and k == 7 then mass:setVelocity { uniform(-1, 1) } end
        if k % 5 == 0 then
          local total, works = changes(simu:energy(), before)
          assert.near(total, works, 1e-11, ("run %d, step %d"):format(i, k))
        end
      end
      local total, works = changes(simu:energy(), before)
      assert.near(total, works, 1e-11, ("run %d"):format(i))
      simu:reset() -- the account begins anew
      before = simu:energy()
      assert.equal(0, before.forces)
      simu:run()
      total, works = changes(simu:energy(), before)
      assert.near(total, works, 1e-11, ("run %d, again"):format(i))
    end
    report("accounts with changes of the script", count)
  end)

  it("tells the work of a sampled force as that of a callback", function()
    local kinetic = {}
    for _, sampled in ipairs { true, false } do
      local u, mass = -4, ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      if not sampled then mass:setComputeFExtFunction(function(_, _, f) f[1] = u end) else mass:setFExtPtr { u } end
      local nsds = ns.NonSmoothDynamicalSystem(0, 3)
      nsds:insertDynamicalSystem(mass)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
      local before = simu:energy()
      for _ in simu:steps() do
        u = -4 * mass:q()[1] - 2 * mass:velocity()[1]
        if sampled then mass:setFExtPtr { u } end
      end
      local account = simu:energy()
      local total, works = changes(account, before)
      assert.near(total, works, 1e-12)
      kinetic[#kinetic + 1] = account.kinetic
    end
    assert.near(kinetic[2], kinetic[1], 1e-9)
  end)

  it("accounts for what an action changes", function()
    for _, scheme in ipairs { schemes[1], schemes[2] } do
      math.randomseed(92)
      local simu, mass = oscillator(scheme)
      simu:addEvent { name = "push", g = function(_, x) return x[1] - 0.5 end,
        action = function() mass:setFExtPtr { mass:velocity()[1] > 0 and -3 or 2 } end }
      local before = simu:energy()
      simu:run()
      assert.is_true(#simu:events() > 0)
      local account = simu:energy()
      local total, works = changes(account, before)
      assert.near(total, works, 1e-11)
      assert.is_true(math.abs(account.forces) > 0.1)
    end
  end)
end)
