-- Contacts as relations: the frame that computeh sets, and ready-made shapes.
local ns = require "nslua"
local message = require "bind.models".message

describe("the contact of", function()
  for _, name in ipairs { "NewtonEuler1DR", "NewtonEuler3DR" } do
    it(name .. " has points and a unit normal", function()
      local relation = ns[name]()
      relation:setpc1 { 1, 2, 3 }
      relation:setpc2 { 4, 5, 6 }
      relation:setnc { 0, 3, 4 }
      assert.same({ 1, 2, 3 }, relation:pc1():totable())
      assert.same({ 4, 5, 6 }, relation:pc2():totable())
      assert.same({ 0, 0.6, 0.8 }, relation:nc():totable())
      assert.equal("setnc: nc: expected a direction, got zeros", message(relation.setnc, relation, { 0, 0, 0 }))
    end)

    it(name .. " keeps the frame of its shape", function()
      local relation = ns[name] { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 0, 2 } }
      for _, setter in ipairs { "setpc1", "setpc2", "setnc" } do
        assert.equal(setter .. ": the shape sphere_plane has its own", message(relation[setter], relation, { 0, 0, 1 }))
      end
      assert.equal("setComputehFunction: the shape sphere_plane has its own",
        message(relation.setComputehFunction, relation, print))
    end)
  end

  it("other relations is none", function()
    local relation = ns.NewtonEulerR()
    assert.is_nil(relation.pc1)
  end)

  it("a clone is the same", function()
    local body = ns.NewtonEulerDS({ 0, 0, 5, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
    local relation = ns.NewtonEuler3DR { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(body)
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), relation), body)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5), ns.GenericMechanical())
    simu:computeOneStep()
    simu:nextStep()
    local copy = simu:clone()
    local twin = copy:nsds():interaction(1):relation()
    assert.same({ 0, 0, 4.5 }, relation:pc1():totable())
    for _, point in ipairs { "pc1", "pc2", "nc" } do
      assert.same(relation[point](relation):totable(), twin[point](twin):totable())
    end
  end)

  -- Two pairs of spheres, one of them moved; their gaps and reactions.
  local function two_pairs(relations)
    local nsds, interactions = ns.NonSmoothDynamicalSystem(0, 1), {}
    for k = 1, 2 do
      local one = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, -k, 0, 0, 0 }, 1, ns.eye(3))
      local two = ns.NewtonEulerDS({ 0.1 * k, 0, -1 - 0.05 * k, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      interactions[k] = ns.Interaction(ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 3), relations[k])
      nsds:insertDynamicalSystem(one)
      nsds:insertDynamicalSystem(two)
      nsds:link(interactions[k], one, two)
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.MoreauJeanOSI(0.5), ns.FrictionContact(3))
    local numbers = {}
    for _ = 1, 4 do
      simu:computeOneStep()
      simu:nextStep()
      for k = 1, 2 do
        local y, lambda = interactions[k]:y(0)[1], interactions[k]:lambda(1):totable()
        table.move({ y, lambda[1], lambda[2], lambda[3] }, 1, 4, #numbers + 1, numbers)
      end
    end
    return numbers
  end

  it("two pairs of bodies that share a relation has each pair's own gap and frame", function()
    local function relation() return ns.NewtonEuler3DR { shape = "sphere_sphere", R1 = 0.5, R2 = 0.5 } end
    local shared = relation()
    assert.same(two_pairs { relation(), relation() }, two_pairs { shared, shared })
  end)
end)
