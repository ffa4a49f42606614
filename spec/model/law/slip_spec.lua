-- NewtonImpactSlipFrictionNSL: friction as a function of the slip.
local ns = require "nslua"
local message = require "bind.models".message

-- A block of mass 1 that slides with v0.
local function block(law, v0, event_driven)
  local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, v0 }, ns.eye(2), ns.diag { 0, 1 })
  ds:setFExtPtr { -10, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(2)), "floor"), ds)
  if event_driven then return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-12)), ds end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5)), ds
end

describe("NewtonImpactSlipFrictionNSL", function()
  it("with the curve of Stribeck is NewtonImpactStribeckNSL, with the same derivatives", function()
    local function mu(u) return 0.2 + 0.3 * math.exp(-(u / 0.3) ^ 2) end
    for _, event_driven in ipairs { false, true } do
      local plain, ds = block(ns.NewtonImpactStribeckNSL(0, 0.5, 0.2, 0.3, 2), 1, event_driven)
      local sol = plain:run(event_driven and { sensitivities = { { ds, "velocity0", 2 } } } or {})
      local simu, other = block(ns.NewtonImpactSlipFrictionNSL(0, mu, 2), 1, event_driven)
      local same = simu:run(event_driven and { sensitivities = { { other, "velocity0", 2 } } } or {})
      assert.near(ds:q()[2], other:q()[2], 1e-12)
      if event_driven then assert.near(sol.S[#sol][2][1], same.S[#same][2][1], 1e-9) end
      local clone = simu:clone()
      clone:reset()
      clone:run()
      assert.near(other:q()[2], clone:nsds():dynamicalSystem(1):q()[2], 1e-13)
    end
  end)

  it("with a number is NewtonImpactFrictionNSL", function()
    for _, event_driven in ipairs { false, true } do
      local simu, ds = block(ns.NewtonImpactSlipFrictionNSL(0, 0.3, 2), 1, event_driven)
      simu:run()
      local plain, other = block(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), 1, event_driven)
      plain:run()
      assert.near(other:q()[2], ds:q()[2], 1e-14)
    end
  end)

  it("tells where the function fails, or is no coefficient", function()
    local law = ns.NewtonImpactSlipFrictionNSL(0, function(u) return 1 - u end, 2)
    assert.equal("NewtonImpactSlipFrictionNSL of size 2, en = 0.0, mu is a function of the slip", tostring(law))
    assert.equal("NewtonImpactSlipFrictionNSL: mu is a function of the slip, and stays one", message(law.setMu, law, 1))
    for _, event_driven in ipairs { false, true } do
      local simu = block(law, 2, event_driven)
      local text = message(simu.run, simu)
      assert.match("NewtonImpactSlipFrictionNSL mu: u=[%d.]+: expected a finite number, 0.0 or more, got %-", text)
      simu = block(ns.NewtonImpactSlipFrictionNSL(0, function() error "no table" end, 2), 2, event_driven)
      assert.match("NewtonImpactSlipFrictionNSL mu: u=%d+: no table", message(simu.run, simu))
    end
    local simu = block(law, 0.5, true)
    assert.match("mu of '.*' is a function of the slip; a parameter is a number",
      message(simu.run, simu, { sensitivities = { { law, "mu" } } }))
  end)
end)
