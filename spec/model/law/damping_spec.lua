-- DampingNSL: viscous friction between two bodies, against the decay of their relative velocity.
local internal = require "nslua.internal"
local message = require "bind.models".message
local ns = require "nslua"

-- Masses of 2 and 1 on a line, damped by 0.5: their relative velocity decays with d (1/2 + 1/1). Returns both velocities, the
-- interaction and the simulation.
local function run(make, law)
  local a, b = ns.LagrangianLinearTIDS({ 0 }, { 3 }, { { 2 } }), ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(a)
  nsds:insertDynamicalSystem(b)
  local inter = ns.Interaction(law or ns.DampingNSL(1, 0.5), ns.LagrangianLinearTIR { { 1, -1 } }, "damper")
  nsds:link(inter, a, b)
  local simu = make(nsds)
  simu:energy()
  simu:run()
  return a:velocity()[1], b:velocity()[1], inter, simu
end

local function stepping(h, osi) return function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi) end end

describe("DampingNSL", function()
  local left = 3 * math.exp(-0.75) -- of the relative velocity
  local function error_of(make)
    local v, w = run(make)
    assert.near(6, 2 * v + w, 1e-12) -- momentum
    return math.abs(v - w - left)
  end

  it("needs equations with a compliance, constrains no position, and names its number", function()
    local of = internal.law_table(ns.DampingNSL(2, 0.5))
    assert.same({ 0, true, true }, { of.constrained, of.needs.equation, of.needs.viscous })
    assert.equal("DampingNSL of size 1, damping = 0.5", tostring(ns.DampingNSL(0.5)))
    assert.match("DampingNSL: damping: expected .* or more, got 0.0", message(ns.DampingNSL, 1, 0))
  end)

  it("is of order 2 with theta = 1/2, exact in events, and its work is damping", function()
    local one, two = error_of(stepping(0.1, ns.MoreauJeanOSI(0.5))), error_of(stepping(0.05, ns.MoreauJeanOSI(0.5)))
    assert.near(4, one / two, 0.02)
    assert.near(2, error_of(stepping(0.1, ns.MoreauJeanOSI(1))) / error_of(stepping(0.05, ns.MoreauJeanOSI(1))), 0.05)
    local d1 = { error_of(stepping(0.1, ns.D1MinusLinearOSI())), error_of(stepping(0.05, ns.D1MinusLinearOSI())) }
    assert.near(4, d1[1] / d1[2], 0.3)
    for k, make in ipairs { stepping(0.1, ns.MoreauJeanOSI(0.5)),
      function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-11, 1e-13)) end } do
      local v, w, inter, simu = run(make)
      local account = simu:energy()
      assert.near(v * v + w * w / 2 - 9, account.damping, 1e-9)
      for _, name in ipairs { "forces", "impacts", "friction" } do assert.near(0, account[name], 1e-12) end
      if k == 2 then
        assert.near(left, v - w, 1e-9)
        assert.near(-0.5 * left, inter:lambda(1)[1], 1e-9)
      end
    end
  end)

  it("is a force, whatever the steps are, however stiff, and may change", function()
    local times = ns.TimeDiscretisation { 0, 0.25, 0.5, 0.51, 0.6, 1 }
    local v, w = run(function(nsds) return ns.TimeStepping(nsds, times, ns.MoreauJeanOSI(0.5)) end)
    local product = 1
    for _, h in ipairs { 0.25, 0.25, 0.01, 0.09, 0.4 } do product = product * (1 - 0.375 * h) / (1 + 0.375 * h) end
    assert.near(3 * product, v - w, 1e-12)
    v, w = run(stepping(0.1, ns.MoreauJeanOSI(1)), ns.DampingNSL(1, 1e9))
    assert.near(0, v - w, 1e-8)
    local law = ns.DampingNSL(1, 1e-9)
    v, w = run(function(nsds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5))
      simu:computeOneStep()
      simu:nextStep()
      law:setDamping(0.5)
      return simu
    end, law)
    assert.near(3 * (1 - 0.1875) / (1 + 0.1875), v - w, 1e-8)
  end)

  it("is differentiated, in steps and in events", function()
    for k, make in ipairs { stepping(0.1, ns.MoreauJeanOSI(0.5)),
      function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-11, 1e-13)) end } do
      local a, b = ns.LagrangianLinearTIDS({ 0 }, { 3 }, { { 2 } }), ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      local nsds, law = ns.NonSmoothDynamicalSystem(0, 1), ns.DampingNSL(1, 0.5)
      nsds:insertDynamicalSystem(a)
      nsds:insertDynamicalSystem(b)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1, -1 } }), a, b)
      local sol = make(nsds):run { sensitivities = { { a, "velocity0", 1 }, { law, "damping" } } }
      local S = sol.S[#sol.t]
      -- v_a = 2 + 3 f(d) / 3, with f = ((1 - x) / (1 + x))^10, x = 0.075 d, or f = exp(-1.5 d)
      local f = k == 1 and ((1 - 0.0375) / (1 + 0.0375)) ^ 10 or math.exp(-0.75)
      local slope = k == 1 and -10 * f * 0.15 / (1 - 0.0375 ^ 2) or -1.5 * f
      assert.near((2 + f) / 3, S[2][1], 1e-8)
      assert.near(slope, S[2][2], 1e-7)
      assert.near(-2 * slope, S[4][2], 1e-7)
    end
  end)

  it("and constant friction of a joint have their works in the account where positions are projected", function()
    local arm = ns.NewtonEulerDS({ 0, 0, -0.5, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 2, ns.eye(3))
    arm:setFExtPtr { 8, 0, -19.62 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(arm)
    local hinge = ns.PivotJointR { point = { 0, 0, 0 }, axis = { 0, 1, 0 }, absolute = true, bodies = { arm } }
    ns.mechanics.join(nsds, { { hinge, damping = 0.7, force = 0.3 } })
    local simu = ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.5))
    local before, sum = simu:energy().total, 0
    simu:run()
    local account = simu:energy()
    for _, name in ipairs { "forces", "damping", "impacts", "friction", "numerical" } do sum = sum + account[name] end
    assert.near(account.total - before, sum, 1e-12)
    assert.is_true(account.damping < -0.1 and account.friction < -0.1 and math.abs(account.numerical) < 1e-3)
  end)

  it("is refused where a scheme has no rows with a compliance", function()
    for osi, text in pairs {
      [ns.MoreauJeanBilbaoOSI()] = "MoreauJeanBilbaoOSI: interaction 'damper' has a DampingNSL; use MoreauJeanOSI",
      [ns.SchatzmanPaoliOSI(0.5)] = "SchatzmanPaoliOSI: interaction 'damper' has a DampingNSL; it takes NewtonImpactNSL",
      [ns.MoreauJeanGOSI(0.5)] = "MoreauJeanGOSI: interaction 'damper' has a DampingNSL; use MoreauJeanOSI" } do
      assert.match(text, message(run, stepping(0.1, osi)))
    end
  end)
end)
