-- Random machines: trees of bodies with joints, stops and dry friction, flat ones too, that fall on the ground.
local ns = require "nslua"
local campaign = require "campaign"

local g = 9.81

-- Makes the machine number `seed`: its simulation, the manager of its contacts, and its bodies. size: its unit of length.
local function machine(seed, simulation)
  math.randomseed(seed)
  local R = math.random
  local flat, size, count = R() < 0.5, 10.0 ^ R(-2, 2), R(2, 6)
  local nsds, bodies, joints = ns.NonSmoothDynamicalSystem(0, 0.4), {}, {}
  local law = ns.NewtonImpactFrictionNSL(R() < 0.5 and 0 or 0.3, 0, 0.2 + R(), 3)
  local space = ns.contact.space { nsds = nsds, law = law, reach = 0.02 * size }
  space:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
  space:filter(function(_, second) return second == nil end)
  for i = 1, count do
    local at = { 0.3 * i * size, flat and 0 or 0.1 * (R() - 0.5) * size, (0.4 + (R() < 0.5 and 0 or 0.2 * R())) * size }
    local m, shape = 10 ^ (2 * R() - 1), R(1, 3)
    local b = ns.NewtonEulerDS({ at[1], at[2], at[3], 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, m, 0.01 * m * size ^ 2 * ns.eye(3))
    b:setFExtPtr { 0, 0, -g * m * size }
    nsds:insertDynamicalSystem(b)
    bodies[i] = b
    if shape == 1 then space:add_sphere(b, 0.08 * size)
    elseif shape == 2 then space:add_box(b, 0.2 * size, 0.1 * size, 0.1 * size)
    else space:add(b, ns.contact.capsule(0.05 * size, 0.1 * size)) end
    if i > 1 and R() < 0.85 then
      local p, kind = bodies[R(1, i - 1)], R(1, 5)
      local axis, point, way = flat and { 0, 1, 0 } or { R() - 0.5, R() - 0.5, R() - 0.5 }, {}, {}
      for k = 1, 3 do point[k], way[k] = (at[k] + p:q()[k]) / 2, at[k] - p:q()[k] end
      local stops = R() < 0.5
      if kind <= 2 then
        joints[#joints + 1] = { ns.PivotJointR(point, axis, true, b, p), stops = stops and { -0.4, 0.3 } or nil }
        joints[#joints].force = R() < 0.3 and 0.1 * size or nil
      elseif kind == 3 then joints[#joints + 1] = { ns.KneeJointR(point, true, b, p) }
      elseif kind == 4 then
        joints[#joints + 1] = { ns.PrismaticJointR(way, true, b, p), stops = stops and { -0.1 * size, 0.1 * size } or nil }
      else joints[#joints + 1] = { ns.CylindricalJointR(point, axis, true, b, p) } end
    end
  end
  if #joints > 0 then ns.mechanics.join(nsds, joints) end
  space:update()
  local simu = simulation(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5), ns.GenericMechanical())
  return simu, space, bodies, size
end

-- The energy of the bodies over the ground.
local function energy(bodies, size)
  local sum = 0
  for _, b in ipairs(bodies) do sum = sum + b:computeKineticEnergy() + g * b:computeMass()[1][1] * size * b:q()[3] end
  return sum
end

describe("random machines that fall on the ground", function()
  for name, simulation in pairs { TimeStepping = ns.TimeStepping, DirectProjection = ns.TimeSteppingDirectProjection } do
    it("run, and gain no energy, under " .. name .. " #once", function()
      for seed = 1, campaign(10, 0.05) do
        local simu, space, bodies, size = machine(seed, simulation)
        local before = energy(bodies, size)
        for _ in simu:steps() do space:update() end
        local after = energy(bodies, size)
        assert.is_true(after < 1.01 * before, ("machine %d: energy %g, %g before"):format(seed, after, before))
      end
    end)
  end

  -- Both corners of a box and both of another carry one roll. The split of their load is free: it wandered in a step.
  it("have steps that end where the load of corners is not unique #once", function()
    local simu, space = machine(144, ns.TimeSteppingCombinedProjection)
    for _ in simu:steps() do space:update() end
    assert.equal(simu:numberOfSteps(), simu:step())
  end)
end)
