-- Contacts that come and go within the steps of event-driven runs: their ends do not depend on the grid.
local ns = require "nslua"
local campaign = require "campaign"

local c, random, cos, sin, sqrt = ns.contact, math.random, math.cos, math.sin, math.sqrt
local rough, half = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 3)
local elastic = ns.NewtonImpactFrictionNSL(1, 0, 0, 3)
local inertia = { 0.01, 0.013, 0.016 }

-- A body and a world; o: shape, world, q, v, law, h, T, reach. Returns the simulation, the body, and the manager.
local function set_up(o)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 0.5)
  local ds = ns.NewtonEulerDS(o.q, o.v, 1, ns.diag(inertia))
  ds:setFExtPtr { 0, 0, -9.81 }
  nsds:insertDynamicalSystem(ds)
  local contacts = c.space { nsds = nsds, law = o.law, reach = o.reach or 0.4 }
  contacts:add(ds, o.shape)
  contacts:add(nil, o.world)
  if o.more then
    local other = ns.NewtonEulerDS(o.more.q, { 0, 0, 0, 0, 0, 0 }, 1, ns.diag(inertia))
    other:setFExtPtr { 0, 0, -9.81 }
    nsds:insertDynamicalSystem(other)
    contacts:add(other, o.more.shape)
    contacts:add(nil, o.more.world)
  end
  contacts:update()
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h), ns.RungeKuttaOSI(1e-9, 1e-11)), ds, contacts
end

local function place(ds)
  local q = ds:q()
  return { q[1], q[2], q[3] }
end

local function throw(o)
  local simu, ds, contacts = set_up(o)
  for _ in simu:steps() do contacts:update() end
  return place(ds), ds
end

local function assert_same(expected, got, tolerance, what)
  for k = 1, 3 do assert.near(expected[k], got[k], tolerance, what) end
end

-- A box on a plate that the script moves away after half of the time. Numbers of two make its rest exact.
local function trapdoor(update)
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.2)
  local plate = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, 1 / 64 * ns.eye(3))
  local ds = ns.NewtonEulerDS({ 0, 0, 0.25, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, 1 / 64 * ns.eye(3))
  ds:setFExtPtr { 0, 0, -8 }
  nsds:insertDynamicalSystem(plate)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.EqualityConditionNSL(5), ns.NewtonEulerR { C = ns.matrix { { 0, 1, 0, 0, 0, 0, 0 },
    { 0, 0, 1, 0, 0, 0, 0 }, { 0, 0, 0, 0, 1, 0, 0 }, { 0, 0, 0, 0, 0, 1, 0 }, { 0, 0, 0, 0, 0, 0, 1 } } }), plate)
  local contacts = c.space { nsds = nsds, law = rough, reach = 0.01 }
  contacts:add(plate, c.box(0.5, 0.5, 0.25))
  contacts:add(ds, c.box(0.25, 0.25, 0.25))
  contacts:update()
  for k in ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.01), ns.RungeKuttaOSI(1e-9, 1e-11)):steps() do
    if k == 10 then plate:q()[1] = 3 end
    if update then contacts:update() end
  end
  return ds:q()[3]
end

local function any_turn()
  local e, size = { random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5 }, 0
  for k = 1, 4 do size = size + e[k] ^ 2 end
  for k = 1, 4 do e[k] = e[k] / sqrt(size) end
  return e
end

-- A throw outwards over an end of the world: on its side, or tumbling from above.
local function start(lies)
  local angle, speed = 2 * math.pi * random(), 0.5 + random()
  local way, turn = angle + 0.6 * (random() - 0.5), random() * math.pi / 2
  local e = lies and { cos(turn), 0, 0, sin(turn) } or any_turn()
  local q = { 0.35 * cos(angle), 0.35 * sin(angle), lies or 0.3 + 0.1 * random(), table.unpack(e) }
  local v = { speed * cos(way), speed * sin(way), 0, 0, 0, 0 }
  for k = 4, lies and 0 or 6 do v[k] = 4 * (random() - 0.5) end
  return q, v
end

local function block() return c.box(1, 1, 1):placed { 0, 0, -0.5 } end
local function ridge()
  local points, triangles = {}, { { 1, 3, 2 }, { 2, 3, 4 }, { 3, 5, 4 }, { 4, 5, 6 } }
  for x = -2, 2, 2 do
    for y = -2, 2, 4 do points[#points + 1] = { x, y, -0.4 * math.abs(x) } end
  end
  return c.mesh(points, triangles)
end
local function stump()
  return c.hull { { 0.7, 0.2, 0 }, { -0.5, 0.6, 0 }, { -0.4, -0.6, 0 }, { 0.4, -0.6, 0 }, { 0, 0, -1 } }
end
local stone = { { 0.15, 0.02, -0.05 }, { -0.13, 0.09, -0.06 }, { -0.1, -0.12, -0.05 }, { 0.05, -0.1, 0.07 },
  { 0.02, 0.1, 0.08 }, { -0.09, 0, 0.07 } }

local throws = {
  ["a box slides over an edge"] = { c.box(0.3, 0.2, 0.16), block, rough, 0.08 },
  ["a rounded box slides over an edge"] = { c.box(0.3, 0.2, 0.1, 0.03), block, rough, 0.08 },
  ["a box tumbles"] = { c.box(0.3, 0.2, 0.16), block, half },
  ["a hull tumbles over a hull"] = { c.hull(stone), stump, half },
  ["a cylinder tumbles"] = { c.cylinder(0.1, 0.16), block, half },
  ["a capsule tumbles on a mesh"] = { c.capsule(0.08, 0.3), ridge, half },
}

describe("links within steps", function()
  for name, about in pairs(throws) do
    it(("%s the same way on any grid #once"):format(name), function()
      math.randomseed(5)
      for i = 1, campaign(6, 0.1) do
        local q, v = start(about[4])
        local o = { shape = about[1], world = about[2](), law = about[3], q = q, v = v, h = 0.1 }
        local expected = throw(o)
        o.h = 0.02
        assert_same(expected, throw(o), 1e-6, i)
      end
    end)
  end

  it("keeps the energy of elastic boxes that meet new corners in a long step", function()
    math.randomseed(7)
    for i = 1, 6 do
      local q, v = start()
      local simu, ds = set_up { shape = c.box(0.3, 0.2, 0.16), world = block(), law = elastic, q = q, v = v, h = 0.5 }
      local function energy()
        local u, sum = ds:velocity(), 9.81 * ds:q()[3]
        for k = 1, 3 do sum = sum + (u[k] ^ 2 + inertia[k] * u[3 + k] ^ 2) / 2 end
        return sum
      end
      local before = energy()
      simu:run()
      assert.near(before, energy(), 1e-7, i)
    end
  end)

  it("finds what a body meets beyond the reach of its manager", function()
    for _, shape in ipairs { c.sphere(0.1), c.box(0.2, 0.2, 0.2) } do
      local floor = c.box(4, 4, 0.02):placed { 0, 0, -0.01 }
      local at = throw { shape = shape, world = floor, q = { 0, 0, 1.1, 1, 0, 0, 0 }, v = { 0, 0, 0, 0, 0, 0 }, law = rough,
        h = 1, T = 1, reach = 0.001 }
      assert_same({ 0, 0, 0.1 }, at, 1e-9)
    end
  end)

  it("has the same bits in a loop, a run, and after a reset", function()
    local o = { shape = c.box(0.3, 0.2, 0.16), world = block(), law = rough, q = { 0.4, 0.1, 0.08, cos(0.3), 0, 0, sin(0.3) },
      v = { 1.2, 0.3, 0, 0, 0, 0 }, h = 0.1, T = 0.3 }
    local expected = throw(o)
    local simu, ds, contacts = set_up(o)
    simu:run()
    assert.same(expected, place(ds))
    simu:reset()
    contacts:update()
    for _ in simu:steps() do contacts:update() end
    assert.same(expected, place(ds))
  end)

  it("goes on from a file the same way, which is written after nextStep", function()
    local o = { shape = c.box(0.3, 0.2, 0.16), world = block(), law = rough, q = { 0.4, 0.1, 0.08, cos(0.3), 0, 0, sin(0.3) },
      v = { 1.2, 0.3, 0, 0, 0, 0 }, h = 0.1, T = 0.3 }
    local expected, path = throw(o), os.tmpname()
    local simu, _, contacts = set_up(o)
    simu:computeOneStep()
    local good, message = pcall(simu.save_state, simu, path)
    assert.is_false(good)
    assert.matches("contacts have divided the step at t=0%.%d+: call nextStep first", message)
    simu:nextStep()
    contacts:update()
    simu:save_state(path)
    local other, ds, others = set_up(o)
    other:load_state(path)
    os.remove(path)
    for _ in other:steps() do others:update() end
    assert.same(expected, place(ds))
  end)

  local slides = { shape = c.box(0.3, 0.2, 0.16), law = rough, q = { 0.4, 0.1, 0.08, cos(0.3), 0, 0, sin(0.3) },
    v = { 1.2, 0.3, 0, 0, 0, 0 }, h = 0.1, T = 0.3 }

  it("go the same way in clones, also where the clone is one of a step that has failed", function()
    slides.world = block()
    local expected = throw(slides)
    for steps = 0, 2 do
      local simu, ds, contacts = set_up(slides)
      for k in simu:steps() do
        contacts:update()
        if k == steps then break end
      end
      if steps > 0 then simu:nextStep() end
      local copies = { simu:clone() }
      copies[2] = copies[1]:clone()
      for _, copy in ipairs(copies) do
        copy:run()
        assert.same(expected, place(copy:nsds():dynamicalSystem(1)), steps)
      end
      simu:run()
      assert.same(expected, place(ds))
    end
    local simu, _, contacts = set_up(slides)
    local good = false
    contacts:filter(function() return good or error("not yet", 0) end)
    assert.is_false(pcall(simu.computeOneStep, simu))
    local copy = simu:clone()
    assert.is_false(pcall(copy.computeOneStep, copy))
    good = true
    copy:run()
    assert_same(expected, place(copy:nsds():dynamicalSystem(1)), 1e-7)
  end)

  it("are told where a run with derivatives meets a change of them", function()
    slides.world = block()
    local simu, ds = set_up(slides)
    for _, run in ipairs {
      function() simu:run { sensitivities = { { ds, "velocity0", 1 } } } end,
      function() simu:gradient { terminal = function(x) return x[1] end, parameters = { { ds, "velocity0", 1 } } } end,
    } do
      local ok, message = pcall(run)
      assert.is_false(ok)
      assert.matches("EventDriven: contacts come or go at t=0%.%d+: derivatives hold where links of contacts stay; let the run end "
        .. "before", message)
      simu:reset()
    end
  end)

  local function falls(filter)
    local simu, ds, contacts = set_up { shape = c.box(0.2, 0.2, 0.2), world = block(), law = rough,
      q = { 0, 0, 0.5, 1, 0, 0, 0 }, v = { 0, 0, 0, 0, 0, 0 }, h = 1, T = 1, reach = 0.1 }
    contacts:filter(filter)
    return simu, ds
  end

  it("asks the filter once for what comes near, and lets pass what it refuses", function()
    local asked = 0
    local simu, ds = falls(function()
      asked = asked + 1
      return false
    end)
    simu:run()
    assert.near(0.5 - 9.81 / 2, ds:q()[3], 1e-9)
    assert.is_true(asked > 0 and asked < 40, asked)
  end)

  it("stops fast bodies at a thin plate that they pass between two of many looks", function()
    for _, v in ipairs { 20, 100, 200 } do
      for k = 1, 3 do
        for _, shape in ipairs { c.box(0.02, 0.03, 0.02), c.sphere(0.01) } do
          local thrown = throw { shape = shape, world = c.box(1, 1, 0.004), law = half, h = 0.1, T = 0.3, reach = 0.01,
            q = { 0.013 * k, 0.02, 1 + 0.037 * k, 1, 0, 0, 0 }, v = { 0, 0, -v, 1, 2, 0.5 } }
          assert.is_true(thrown[3] > 0, ("%s at %g m/s"):format(tostring(shape), v))
        end
      end
    end
  end)

  it("stops each of many fast bodies at a thin plate as it does one that is alone", function()
    local plate = c.box(50, 1, 0.004)
    local function thrown(first, last)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.2)
      local contacts, bodies = c.space { nsds = nsds, law = half, reach = 0.01 }, {}
      for k = first, last do
        local ds = ns.NewtonEulerDS({ k, 0.02, 1 + 0.037 * k, 1, 0, 0, 0 }, { 0, 0, -60, 1, 2, 0.5 }, 1, ns.diag(inertia))
        nsds:insertDynamicalSystem(ds)
        contacts:add(ds, c.box(0.02, 0.03, 0.02))
        bodies[#bodies + 1] = ds
      end
      contacts:add(nil, plate)
      contacts:update()
      ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-9, 1e-11)):run()
      return bodies
    end
    local all = thrown(-10, 10)
    for k = -10, 10 do
      local alone = place(thrown(k, k)[1])
      assert.is_true(alone[3] > 0)
      assert_same(alone, place(all[k + 11]), 1e-7, k)
    end
  end)

  it("goes the same way in a loop and a run, where several bodies move apart from each other", function()
    local function slide(runs)
      local simu, ds, contacts = set_up { shape = c.box(0.3, 0.2, 0.16), world = block(), law = rough, T = 0.3, h = 0.1,
        q = { 0.4, 0.1, 0.08, cos(0.3), 0, 0, sin(0.3) }, v = { 1.2, 0.3, 0, 0, 0, 0 },
        more = { shape = c.sphere(0.1), world = c.box(1, 1, 1):placed { 50, 0, 0 }, q = { 50, 0, 0.6, 1, 0, 0, 0 } } }
      if runs then simu:run() else for _ in simu:steps() do contacts:update() end end
      return place(ds)
    end
    local expected = slide(false)
    assert.is_true(expected[1] > 0.6)
    assert_same(expected, slide(true), 1e-7)
  end)

  it("tells where contacts that are found are not linked", function()
    local simu, _, contacts = set_up { shape = c.box(0.2, 0.2, 0.2), world = block(), law = rough,
      q = { 0, 0, 0.5, 1, 0, 0, 0 }, v = { 0, 0, 0, 0, 0, 0 }, h = 1, T = 1, reach = 0.1 }
    function contacts.update() end
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.matches("EventDriven: contacts come and go again and again near t=0%.28%d* %(step 1%)", message)
  end)

  it("tells when what links contacts fails, and the run goes on from there", function()
    local good = false
    local simu, ds = falls(function() return good or error("not yet", 0) end)
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.matches("contacts within a step: t=0%.28%d*: not yet", message)
    good = true
    simu:computeOneStep()
    assert.near(0.1, ds:q()[3], 1e-9)
  end)

  it("let a box fall from a plate that the script moves away", function()
    local fallen = trapdoor(true)
    assert.near(0.25 - 8 * 0.1 ^ 2 / 2, fallen, 1e-9)
    assert.near(fallen, trapdoor(false), 1e-9)
  end)
end)
