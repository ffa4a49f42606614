-- PoissonImpactNSL: compression of all contacts, then each gives back e of its impulse.
local ns = require "nslua"

local function cradle(e1, e2)
  local ds, nsds = ns.LagrangianLinearTIDS({ -0.01, 1, 2 }, { 1, 0, 0 }, ns.eye(3)), ns.NonSmoothDynamicalSystem(0, 0.1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.PoissonImpactNSL(e1), ns.LagrangianLinearTIR({ { -1, 1, 0 } }, { -1 })), ds)
  nsds:link(ns.Interaction(ns.PoissonImpactNSL(e2), ns.LagrangianLinearTIR({ { 0, -1, 1 } }, { -1 })), ds)
  ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)):run()
  return ds:velocity():totable()
end

describe("PoissonImpactNSL", function()
  -- compression: all three with 1/3, P_c = (2/3, 1/3); P = (1 + e) P_c where the balls part
  it("gives the balls of a cradle back what they had, each contact with its own e", function()
    for _, e in ipairs { { 1, 1 }, { 0.5, 0.5 }, { 0.2, 0.9 }, { 0, 0 } } do
      local P1, P2 = (1 + e[1]) * 2 / 3, (1 + e[2]) / 3
      local expected = { 1 - P1, P1 - P2, P2 }
      if expected[2] < expected[1] then -- contact 1 gives more, so that the first two go on together
        expected[1] = (1 - P2) / 2
        expected[2] = expected[1]
      end
      for i, x in ipairs(cradle(e[1], e[2])) do assert.is_true(math.abs(x - expected[i]) < 1e-12) end
    end
  end)

  it("is Newton's law for a ball on a floor, with its work", function()
    local ds, nsds = ns.LagrangianLinearTIDS({ 0.1 }, { -2 }, { { 3 } }), ns.NonSmoothDynamicalSystem(0, 0.1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.PoissonImpactNSL(1, 0.5), ns.LagrangianLinearTIR { { 1 } }), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10))
    simu:energy() -- the account begins
    simu:run()
    assert.is_true(math.abs(ds:velocity()[1] - 1) < 1e-12)
    assert.is_true(math.abs(simu:energy().impacts + 4.5) < 1e-12) -- (1 - e^2) m v^2 / 2
    assert.equal("PoissonImpactNSL of size 1, e = 0.5", tostring(ns.PoissonImpactNSL(0.5)))
  end)
end)
