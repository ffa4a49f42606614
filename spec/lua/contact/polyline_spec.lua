-- nslua.contact.shape.polyline: a flat one is a line, joints are not felt, a curve is reached with order 1.
local ns = require "nslua"
local random_numbers = require "random_numbers"

-- Runs a body with a shape, which add(manager, ds) adds, up to T; returns the body, the manager, and the most contacts.
local function run(add, q, v, T, h, ground, mu)
  local ds = ns.LagrangianLinearTIDS(q, v, ns.matrix { { 2, 0, 0 }, { 0, 2, 0 }, { 0, 0, 0.01 } })
  ds:setFExtPtr { 0, -2 * 9.81, 0 }
  local nsds, most = ns.NonSmoothDynamicalSystem(0, T), 0
  nsds:insertDynamicalSystem(ds)
  local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu or 0.3, 2), reach = 0.05 }
  add(contacts, ds)
  ground(contacts)
  contacts:update()
  for _ in ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5)):steps() do
    most = math.max(most, contacts:update())
  end
  return ds, contacts, most
end

local shapes = {
  disk = function(c, ds) c:add_disk(ds, 0.1) end,
  box = function(c, ds) c:add_box(ds, 0.4, 0.2) end,
  capsule = function(c, ds) c:add_capsule(ds, 0.1, 0.3) end,
  polygon = function(c, ds) c:add_polygon(ds, { { -0.2, -0.09 }, { 0.2, -0.09 }, { 0, 0.2 } }, 0.01) end,
}

-- A parabola y = sign x^2 / 2 of n segments.
local function parabola(n, sign)
  local points = {}
  for i = 0, n do
    local x = -1.5 + 3 * i / n
    points[i + 1] = { x, sign * x * x / 2 }
  end
  return points
end

describe("a polyline", function()
  it("that is flat is a line: what slides, rolls or tips over its joints has the same motion, and as many contacts", function()
    for name, add in pairs(shapes) do
      for turn = 0, 1 do -- also on a slope
        local points, c, s = {}, math.cos(0.1 * turn), math.sin(0.1 * turn)
        for i = 0, 30 do points[i + 1] = { c * (-2 + i * 0.237), s * (-2 + i * 0.237) } end
        local q, v = { -0.1 * s, 0.1 * c, 0.1 * turn }, { 3, 3 * s, 0.1 }
        local a, _, some = run(add, q, v, 1, 0.005, function(m) m:add_line(ns.contact.line({ 0, 0 }, { -s, c })) end)
        local b, _, others = run(add, q, v, 1, 0.005, function(m) m:add_polyline(nil, points) end)
        assert.is_true(a:q()[1] > 0.5, name)
        for k = 1, 3 do assert.near(a:q()[k], b:q()[k], 1e-10) end
        assert.equal(some, others, name)
      end
    end
  end)

  it("of a parabola lets a disk roll, in the bowl and over the hill, with an energy that converges with order 1 or more", function()
    for sign = -1, 1, 2 do
      local last
      for _, n in ipairs { 80, 640 } do -- between two halvings a corner that is hit or missed counts
        local x, v = sign > 0 and -1 or -0.02, sign > 0 and 0 or 1
        local slope, length = sign * x, math.sqrt(1 + x * x)
        local start = { x - 0.1 * slope / length, sign * x * x / 2 + 0.1 / length, 0 }
        local ds = run(shapes.disk, start, { v / length, v * slope / length, -v / 0.1 }, 0.3, 0.3 / (6 * n), function(m)
          m:add_polyline(nil, parabola(n, sign))
        end, 2)
        local u = ds:velocity()
        local lost = 2 * 9.81 * (start[2] - ds:q()[2]) + 1.5 * v * v - (u[1] ^ 2 + u[2] ^ 2) - 0.005 * u[3] ^ 2
        assert.is_true(math.abs(u[1] ^ 2 + u[2] ^ 2) > 0.5)
        assert.is_true(lost > 0) -- no segment gives energy
        if last then assert.is_true(lost < 0.65 ^ 3 * last, ("%g after %g"):format(lost, last)) end
        last = lost
      end
      assert.is_true(last > 1e-4 and last < 4e-4) -- of both signs the same: 0.17 / n
    end
  end)

  it("holds a body that is longer than it, and one in a corner; closed ones keep what is in and what is out", function()
    local plank = function(c, ds) c:add_box(ds, 2, 0.1) end
    local ds, contacts = run(plank, { 0.1, 0.05, 0 }, { 0, 0, 0 }, 0.5, 0.01, function(m)
      m:add_polyline(nil, { { -0.5, 0 }, { 0.2, 0 }, { 0.5, 0 } })
    end)
    assert.equal(2, contacts:count())
    assert.near(0.05, ds:q()[2], 1e-12)
    local corners = { { 0, 0 }, { 2, -0.3 }, { 2.2, 1 }, { 0.4, 1.5 } }
    for name, add in pairs(shapes) do
      local inside = run(add, { 1, 0.5, 0.3 }, { 2, 0, 1 }, 1.5, 0.005, function(m) m:add_polyline(nil, corners, true) end)
      assert.is_true(inside:q()[2] > -0.3 and inside:q()[2] < 0.6, name)
      assert.is_true(inside:q()[1] > 0.1 and inside:q()[1] < 2.1, name)
      local outside = run(add, { 1.4, 1.6, 0.3 }, { 0, 0, 0 }, 0.5, 0.005, function(m) m:add_polyline(nil, corners, true) end)
      assert.is_true(outside:q()[2] > 0.95, name)
    end
  end)

  -- A box slides on a tread to a riser.
  local function slide(points, kind, x0, T)
    local ds = ns.LagrangianLinearTIDS({ x0, 0.1, 0 }, { 2, 0, 0 }, ns.diag { 1, 1, 1 / 60 })
    ds:setFExtPtr { 0, -9.81, 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, T)
    nsds:insertDynamicalSystem(ds)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), reach = 0.05 }
    shapes.box(contacts, ds)
    contacts:add_polyline(nil, points)
    contacts:update()
    local integrator = kind == ns.EventDriven and ns.RungeKuttaOSI() or ns.MoreauJeanOSI(0.5)
    for _ in kind(nsds, ns.TimeDiscretisation(0, 0.004), integrator):steps() do contacts:update() end
    return ds:q()
  end
  local kinds = { ns.TimeStepping, ns.TimeSteppingDirectProjection, ns.EventDriven }

  it("with a step up stops a box at the riser, and the tread behind it does not touch the box from below", function()
    for _, kind in ipairs(kinds) do
      for _, height in ipairs { 0.12, 0.15, 0.25 } do -- above its centre: it does not tip
        local q = slide({ { -1, 0 }, { 0.5, 0 }, { 0.5, height }, { 3, height } }, kind, 0, 0.24)
        local near = kind == ns.TimeStepping and 0.016 or 1e-9 -- the way of two steps: without projection a box goes too far
        assert.near(0.3, q[1], near)
        assert.near(0.1, q[2], near)
        assert.near(0, q[3], near)
      end
    end
  end)

  it("with a step down lets a box slide over the edge, also one that is at it: the riser below does not hold it", function()
    for _, kind in ipairs(kinds) do
      for _, x0 in ipairs { 0.3, 0.31, 0.2 } do
        local q = slide({ { -1, 0 }, { 0.5, 0 }, { 0.5, -0.3 }, { 3, -0.3 } }, kind, x0, 0.1)
        assert.near(x0 + 2 * 0.1 - 0.15 * 9.81 * 0.1 ^ 2, q[1], 1e-4)
        assert.near(0.1, q[2], 1e-4)
      end
    end
  end)

  it("is a bowl in EventDriven, too: all shapes meet the next segment before they overlap, at any step of the grid", function()
    local bowl = parabola(30, 0.5)
    for name, add in pairs(shapes) do
      local ends = {}
      for i, h in ipairs { 0.02, 0.01 } do
        local ds = ns.LagrangianLinearTIDS({ -0.9, 0.4, -0.4 }, { 0, 0, 0 }, ns.diag { 2, 2, 0.02 })
        ds:setFExtPtr { 0, -2 * 9.81, 0 }
        local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
        nsds:insertDynamicalSystem(ds)
        local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), reach = 0.1 }
        add(contacts, ds)
        contacts:add_polyline(nil, bowl)
        contacts:update()
        for _ in ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()):steps() do contacts:update() end
        ends[i] = ds:q()
      end
      assert.is_true(ends[1][1] > -0.88 and ends[1][2] > 0.05, name)
      for k = 1, 3 do assert.near(ends[1][k], ends[2][k], 1e-7, name) end
    end
  end)

  -- A thin polygon that is thrown at the ground: where it is after a second.
  local function sliver(seed, add, change)
    math.randomseed(seed)
    local points = {}
    for i = 1, math.random(3, 10) do points[i] = random_numbers.vector_within(2, 0.2) end
    local v, angle, turn = random_numbers.vector_within(2, 1), random_numbers.uniform(-3, 3), random_numbers.uniform(-4, 4)
    local e = seed % 2 == 0 and 0 or random_numbers.uniform(0, 0.7)
    local law, slope = ns.NewtonImpactFrictionNSL(e, 0, random_numbers.uniform(0, 1), 2), random_numbers.uniform(-0.3, 0.3)
    local ds = ns.LagrangianLinearTIDS({ 0, 0.5, angle }, { v[1], v[2], turn }, ns.diag { 1, 1, 0.012 })
    ds:setFExtPtr { 0, -9.81, 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local contacts = ns.contact.manager { nsds = nsds, law = law, reach = 0.05 }
    add(contacts, math.cos(slope), math.sin(slope))
    contacts:add_polygon(ds, points)
    contacts:update()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5))
    for k = 1, 500 do
      simu:computeOneStep()
      simu:nextStep()
      contacts:update()
      if change then simu, contacts = change(k, simu, contacts) end
    end
    return simu:nsds():dynamicalSystem(1):q()
  end

  it("keeps thin bodies that sink through it on their side, over joints too, in clones, after checkpoints #once", function()
    local file = os.tmpname()
    local function cloned(k, simu, contacts)
      if k % 7 > 0 then return simu, contacts end
      local copy = simu:clone()
      return copy, contacts:in_clone(copy)
    end
    local function saved(k, simu, contacts)
      if k % 7 > 0 then return simu, contacts end
      simu:save_state(file)
      local copy = simu:clone()
      local other = contacts:in_clone(copy)
      copy:computeOneStep()
      copy:nextStep()
      other:update()
      copy:load_state(file)
      return copy, other
    end
    for _, seed in ipairs { 18, 21, 30, 60, 198 } do -- throws in which the centre sinks through the ground
      local q = sliver(seed, function(contacts, c, s) contacts:add_line(ns.contact.line({ 0, 0 }, { -s, c })) end)
      for _, way in ipairs { { -9, 2.34, 9 }, { 9, 2.34, -9 }, { -9, 2.34, 9, cloned }, { -9, 2.34, 9, saved } } do
        local other = sliver(seed, function(contacts, c, s)
          local points = {}
          for i = 1, 3 do points[i] = { way[i] * c, way[i] * s } end
          contacts:add_polyline(nil, points)
        end, way[4])
        for i = 1, 3 do assert.near(q[i], other[i], 1e-9, seed) end
      end
    end
    os.remove(file)
  end)

  it("is told wrong by its numbers", function()
    local contacts = ns.contact.manager { nsds = ns.NonSmoothDynamicalSystem(0, 1), reach = 0.1,
      law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2) }
    local function message(...) return select(2, pcall(contacts.add_polyline, contacts, ...)) end
    assert.matches("add_polyline: points: expected a list of at least 2 points, got a list of 1", message(nil, { { 0, 0 } }))
    assert.matches("add_polyline: points%[2%]: expected two finite numbers, got { 1 }", message(nil, { { 0, 0 }, { 1 } }))
    assert.matches("points%[2%]: expected a point other than the one before it", message(nil, { { 0, 0 }, { 0, 0 } }))
    assert.matches("points%[2%]: expected a point other than the one before it", message(nil, { { 0, 0 }, { 1e-200, 0 } }))
    assert.matches("points%[2%]: expected a point near the one before it", message(nil, { { 0, 0 }, { 1e200, 0 } }))
    assert.matches("points%[2%]: expected two finite numbers, got nil", message(nil, { { 0, 0 }, nil, { 1, 0 } }))
    assert.matches("points%[3%]: expected a point other than the first one", message(nil, { { 0, 0 }, { 1, 0 }, { 0, 0 } }, true))
    assert.matches("closed: expected a boolean, got 1", message(nil, { { 0, 0 }, { 1, 0 } }, 1))
    local ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
    assert.matches("ds: expected nil, as a polyline belongs to the world", message(ds, { { 0, 0 }, { 1, 0 } }))
  end)
end)
