-- Capsules in the plane: their distances against a search over both, their rows, and capsules that come to rest.
local ns = require "nslua"
local campaign = require "campaign"
local simulate = require "models".moving

local function body(q0, v0, force)
  local ds = ns.LagrangianLinearTIDS(q0, v0 or { 0, 0, 0 }, ns.diag { 1, 1, 0.2 })
  ds:setFExtPtr(force or { 0, 0, 0 })
  return ds
end

local law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2)
local random, cos, sin, sqrt = math.random, math.cos, math.sin, math.sqrt

-- The least value of a convex function on [-1, 1].
local function least(f)
  local a, b = -1, 1
  for _ = 1, 90 do
    local p, q = (2 * a + b) / 3, (a + 2 * b) / 3
    if f(p) < f(q) then b = q else a = p end
  end
  return f((a + b) / 2)
end

local function on_segment(q, half, s) return q[1] + s * half * cos(q[3]), q[2] + s * half * sin(q[3]) end

-- The distance of two segments: a search along both.
local function apart(q1, half1, q2, half2)
  return least(function(s)
    local x, y = on_segment(q1, half1, s)
    return least(function(r)
      local u, v = on_segment(q2, half2, r)
      return sqrt((x - u) ^ 2 + (y - v) ^ 2)
    end)
  end)
end

-- y and the velocities of y for velocities of both bodies.
local function outputs(relation, q1, v1, q2, v2)
  local one, two = body(q1, v1), q2 and body(q2, v2)
  local inter = ns.Interaction(law, relation)
  local simu = simulate(1, 0.1, two and { one, two } or { one }, { two and { inter, one, two } or { inter, one } })
  simu:initialize()
  return inter:y(0)[1], inter:y(1)
end

local function place() return { 2 * random() - 1, 2 * random() - 1, 7 * random() } end

describe("capsules in the plane", function()
  it("have the distances that a search finds, for random capsules, disks and lines", function()
    local count, tell = campaign(25, 0.01)
    local tried = 0
    math.randomseed(5)
    while tried < count do
      local q1, q2, l1, l2, R1, R2 = place(), place(), random(), random(), 0.05 + 0.1 * random(), 0.05 + 0.1 * random()
      local distance = apart(q1, l1 / 2, q2, l2 / 2)
      if distance > 1e-3 then -- the segments do not cross
        tried = tried + 1
        local found = math.huge
        for _, side in ipairs { 1, -1 } do
          found = math.min(found, (outputs(ns.contact.cap_capsule(R1, { side * l1 / 2, 0 }, R2, l2), q1, nil, q2)))
          found = math.min(found, (outputs(ns.contact.cap_capsule(R2, { side * l2 / 2, 0 }, R1, l1), q2, nil, q1)))
        end
        assert.near(distance - R1 - R2, found, 1e-9)
        found = outputs(ns.contact.cap_capsule(R1, { 0, 0 }, R2, l2), q1, nil, q2)
        assert.near(apart(q1, 0, q2, l2 / 2) - R1 - R2, found, 1e-9)
        local line = ns.contact.line({ 0.1, -3 }, { random() - 0.5, 1 })
        found = math.huge
        for _, side in ipairs { 1, -1 } do
          found = math.min(found, (outputs(ns.contact.cap_line(R1, { side * l1 / 2, 0 }, line), q1)))
        end
        assert.near(least(function(s) return line:distance(on_segment(q1, l1 / 2, s)) end) - R1, found, 1e-9)
      end
    end
    tell("pairs of capsules", tried)
  end)

  -- Two bodies that move as one have contact points that turn around each other with the gap as radius. A cap that turns
  -- about its centre slips with R times the rate.
  it("have the velocities of both bodies' contact points in their rows", function()
    math.randomseed(6)
    for _ = 1, 12 do
      local q1, q2, length, a, b, R = place(), place(), random(), random() - 0.5, random() - 0.5, 0.1 + random()
      local function relation() return ns.contact.cap_capsule(R, { a, b }, 0.2, length) end
      local w, vx, vy = random(), random(), random()
      local function rigid(q) return { vx - w * q[2], vy + w * q[1], w } end
      local gap, u = outputs(relation(), q1, rigid(q1), q2, rigid(q2))
      assert.near(0, u[1], 1e-12)
      assert.near(-w * gap, u[2], 1e-12)
      local rx, ry = cos(q1[3]) * a - sin(q1[3]) * b, sin(q1[3]) * a + cos(q1[3]) * b
      _, u = outputs(relation(), q1, { w * ry, -w * rx, w }, q2)
      assert.near(0, u[1], 1e-12)
      assert.near(w * R, u[2], 1e-12)
      local d = 1e-6 -- the first row is the rate of the gap
      local v1, v2, before, after = place(), place(), {}, {}
      for k = 1, 3 do before[k], after[k] = q1[k] + d * v1[k], q2[k] + d * v2[k] end
      _, u = outputs(relation(), q1, v1, q2, v2)
      assert.near((outputs(relation(), before, nil, after) - gap) / d, u[1], 2e-4)
    end
  end)

  it("roll and slide in EventDriven as in small steps", function()
    local ends = {}
    for k = 1, 2 do
      local disk, bar = body({ 0.2, 0.35, 0 }, { 0.3, 0, 0 }, { 0, -1, 0 }), body({ 0, 0, 0.1 }, nil, { 0, 1, 0 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.6)
      nsds:insertDynamicalSystem(disk)
      nsds:insertDynamicalSystem(bar)
      nsds:link(ns.Interaction(law, ns.contact.cap_capsule(0.1, { 0, 0 }, 0.1, 1)), disk, bar)
      local simu = k == 1 and ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-9, 1e-11)) or
        ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-4), ns.MoreauJeanOSI(0.5))
      simu:run()
      ends[k] = { disk:q()[1], disk:q()[2], bar:q()[3] }
    end
    for i = 1, 3 do assert.near(ends[1][i], ends[2][i], 1e-3) end
  end)

  it("come to rest in a heap with disks, near pairs alone being linked #once", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 4)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.6, 2), reach = 0.05 }
    local bodies = {}
    for i = 1, 6 do
      bodies[i] = body({ 0.4 * (i % 2) - 0.2, 0.3 * i, 0.4 * i }, nil, { 0, -10, 0 })
      nsds:insertDynamicalSystem(bodies[i])
      if i == 4 then contacts:add_disk(bodies[i], 0.1) else contacts:add_capsule(bodies[i], 0.1, 0.3) end
    end
    contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    contacts:add_line(ns.contact.line({ -0.7, 0 }, { 1, 0 }))
    contacts:add_line(ns.contact.line({ 0.7, 0 }, { -1, 0 }))
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5))
    contacts:update()
    for _ in simu:steps() do contacts:update() end
    for i = 1, 6 do
      assert.is_true(bodies[i]:velocity():norm() < 1e-9)
      for j = i + 1, 6 do
        assert.is_true(apart(bodies[i]:q(), i == 4 and 0 or 0.15, bodies[j]:q(), j == 4 and 0 or 0.15) > 0.18)
      end
    end
    local names = {}
    for _, inter in ipairs(contacts:interactions()) do names[#names + 1] = inter:name() end
    assert.match("capsule %d end %d line %d", table.concat(names, ";"))
  end)

  it("tell what is wrong", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local manager = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    local line, ds, other = ns.contact.line({ 0, 0 }, { 0, 1 }), body { 0, 0, 0 }, body { 5, 0, 0 }
    assert.error_matches(function() ns.contact.cap_line(0, { 0, 0 }, line) end, "cap_line: R: expected a positive number, got 0")
    assert.error_matches(function() ns.contact.cap_capsule(1, 2, 1, 1) end,
      "cap_capsule: place: expected two finite numbers, got 2")
    assert.error_matches(function() ns.contact.cap_capsule(1, { 0, 0 }, 1, -1) end,
      "cap_capsule: length: expected a number, 0 or more, got %-1")
    assert.error_matches(function() manager:add_capsule(ds, 1) end,
      "add_capsule: length: expected a positive number, got nil")
    manager:add_capsule(ds, 0.1, 1)
    assert.error_matches(function() manager:add_capsule(ds, 0.1, 1) end, "add_capsule: ds: .* has a capsule already")
    local simu, graph = simulate(1, 0.1, { ds, other })
    other:setQ { 0.2, 0, 0 }
    graph:link(ns.Interaction(law, ns.contact.cap_capsule(0.1, { 0, 0 }, 0.1, 1)), other, ds)
    assert.error_matches(function() simu:computeOneStep() end,
      "the centre of the cap is on the segment of the capsule: there is no normal")
  end)
end)
