-- Machines with legs that fall on their feet: a blow along the legs leaves the joints with velocities of rounding alone,
-- which neither the one-step solver nor the test of a step may compare with each other.
local ns = require "nslua"

-- A trunk with `legs` legs, each a chain of `count` hinges about x and y in turn, whose feet are 1 cm above the ground.
-- mass: its unit.
local function machine(legs, count, mass)
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.06)
  local function body(x, y, z, m, I)
    local b = ns.NewtonEulerDS({ x, y, z, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, mass * m, mass * I * ns.eye(3))
    b:setFExtPtr { 0, 0, -9.81 * mass * m }
    nsds:insertDynamicalSystem(b)
    return b
  end
  local trunk, joints, feet = body(0, 0, 0.4, 5, 0.05), {}, {}
  for k = 1, legs do
    local x, y, last = 0.2 * ((k - 1) % 2 * 2 - 1), 0.1 * ((k - 1) // 2 * 2 - 1), trunk
    for c = 1, count do
      local b = body(x, y, 0.4 - 0.1 * c, 0.7, 1e-3)
      joints[#joints + 1] = ns.PivotJointR({ x, y, 0.45 - 0.1 * c }, c % 2 == 1 and { 1, 0, 0 } or { 0, 1, 0 }, true, b, last)
      last = b
    end
    feet[k] = last
  end
  ns.mechanics.join(nsds, joints)
  local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.8, 3), reach = 0.02 }
  space:add_plane(ns.contact.plane({ 0, 0, 0.4 - 0.1 * count - 0.06 }, { 0, 0, 1 }))
  for k = 1, legs do space:add_sphere(feet[k], 0.05) end
  space:update()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5), ns.GenericMechanical())
  for _ in simu:steps() do space:update() end
  return trunk, space, (5 + 0.7 * legs * count) * mass
end

describe("machines that fall on straight legs", function()
  it("land, and stand with their weight on their feet, in any unit of mass", function()
    for _, legs in ipairs { 2, 3, 4 } do
      for count = 1, 3 do
        local trunk, space, mass = machine(legs, count, 1)
        local heavy = machine(legs, count, 2 ^ 20)
        assert.equal(heavy:q()[3], trunk:q()[3])
        if legs == 4 then
          local force = 0
          for _, contact in ipairs(space:interactions()) do force = force + contact:lambda(1)[1] / 1e-3 end
          assert.near(9.81 * mass, force, 1e-9 * mass)
          assert.near(0, trunk:velocity()[3], 1e-12)
        end
      end
    end
  end)
end)

-- An arm of two links in the plane of x and z, with friction and stops, whose forearm falls on a box that stands on the ground.
local function arm(simulation)
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
  local function body(x, z, m)
    local b = ns.NewtonEulerDS({ x, 0, z, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, m, 0.02 * ns.eye(3))
    b:setFExtPtr { 0, 0, -9.81 * m }
    nsds:insertDynamicalSystem(b)
    return b
  end
  local upper, fore, box, s = body(0.25, 0.5, 1), body(0.75, 0.5, 1), body(0.9, 0.1, 2), math.sqrt(0.5)
  local shoulder = ns.PivotJointR({ 0, 0, 0.5 }, { 0, 1, 0 }, true, upper)
  local elbow = ns.PivotJointR({ 0.5, 0, 0.5 }, { 0, 1, 0 }, true, fore, upper)
  ns.mechanics.join(nsds, { { shoulder, force = 0.5, stops = { -1, 1 } },
    { elbow, force = 0.5, damping = 0.1, stops = { -1, 1 } } })
  local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = 0.02 }
  space:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
  space:add_box(box, 0.2, 0.2, 0.2)
  space:add(fore, ns.contact.capsule(0.03, 0.4):placed { 0, 0, 0, s, 0, s, 0 })
  space:update()
  local simu = simulation(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5), ns.GenericMechanical())
  for _ in simu:steps() do space:update() end
  return elbow:dof(), fore:q()[2], nsds
end

describe("arms in a plane", function()
  it("strike a box and their stops, with nothing but rounding across the plane", function()
    for _, simulation in ipairs { ns.TimeStepping, ns.TimeSteppingDirectProjection, ns.TimeSteppingCombinedProjection } do
      local angle, across, nsds = arm(simulation)
      assert.near(-1, angle, simulation == ns.TimeStepping and 0.01 or 1e-6)
      assert.near(0, across, 1e-12)
      for i = 1, nsds:numberOfInteractions() do
        local name = nsds:interaction(i):name()
        local gap = name:match "lower$" or name:match "upper$" or name:match "^box" or name:match "^capsule"
        if gap and simulation ~= ns.TimeStepping then assert.is_true(nsds:interaction(i):y(0)[1] > -1e-6) end
      end
    end
  end)
end)
