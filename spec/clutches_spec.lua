-- The clutches of scripts by EventDriven, against closed forms.
local ns = require "nslua"

describe("the clutches", function()
  -- u = w1 - w2 grows by 50 until t = 5, is 255 there, and falls by 450 while the disks slip: they stick from 5 + 17/30 on.
  it("end to slip at 5 + 17/30, with dry friction", function()
    local disks, law = ns.FirstOrderLinearTIDS({ 10, 5 }, ns.zeros(2, 2), { 10, -40 }), ns.RelayNSL(1, 0, 0)
    local nsds = ns.NonSmoothDynamicalSystem(0, 20)
    nsds:insertDynamicalSystem(disks)
    local clutch = ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 }, { -4 } }), "clutch")
    nsds:link(clutch, disks)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    for k in simu:steps() do
      if k == 5 then law:lb()[1], law:ub()[1] = -100, 100 end
    end
    local log = simu:events()
    assert.equal("slide", log[#log].kind)
    assert.near(5 + 17 / 30, log[#log].t, 1e-12)
    assert.near(9, disks:x()[1], 1e-11)
    assert.near(9, disks:x()[2], 1e-11)
    assert.near(-10, clutch:lambda_(0)[1], 1e-11)
  end)

  -- The disks jump to the common velocity of their momentum, J1 w1 + J2 w2. The switch is at a time of the grid.
  for _, integrator in ipairs { "RungeKuttaOSI", "RadauOSI" } do
    it("jump when a constraint is switched on: " .. integrator, function()
      local A = ns.zeros(4, 4)
      A[2][4], A[3][4], A[4][2], A[4][3] = 1, -4, 1, -1
      local dyn = ns.FirstOrderLinearTIDS({ 5, 10, 5, 0 }, A, { -1, 10, -40, 0 })
      dyn:setM(ns.diag { 1, 1, 1, 0 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(dyn)
      nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = -x[1] end,
        g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
      }, "clutch"), dyn)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns[integrator]())
      simu:run()
      assert.equal(1, #simu:events())
      assert.near(5, simu:events()[1].t, 1e-12)
      for i, v in ipairs { -15, 9, 9, -10 } do assert.near(v, dyn:x()[i], 1e-11) end
    end)
  end
end)
