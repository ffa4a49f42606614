-- Bodies that no contacts join meet within the steps of event-driven runs, however long these are.
local ns = require "nslua"
local campaign = require "campaign"
local fails = require "expect".fails

local c, random = ns.contact, math.random
local none = { 1, 0, 0, 0 }

local function body(nsds, at, e, v, J)
  local q = { at[1], at[2], at[3], e[1], e[2], e[3], e[4] }
  local ds = ns.NewtonEulerDS(q, v, 1, ns.diag(J or { 0.01, 0.01, 0.01 }))
  nsds:insertDynamicalSystem(ds)
  return ds
end

-- Two bodies that fly at each other along x, with a gap of 1.3, and meet when t = 0.65 / v. Returns the simulation and the two.
local function pair(one, other, v, h, e, swapped)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local a, b
  local function left() a = body(nsds, { -0.75, 0, 0 }, none, { v, 0, 0, 0, 0, 0 }) end
  if not swapped then left() end
  b = body(nsds, { 0.75, 0, 0 }, none, { -v, 0, 0, 0, 0, 0 })
  if swapped then left() end
  local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(e, 0, 0.3, 3), reach = 0.01 }
  contacts:add(a, one)
  contacts:add(b, other)
  contacts:update()
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()), a, b
end

local function random_shape()
  local function size() return 0.1 + 0.2 * random() end
  local kind = random(5)
  if kind == 1 then return c.sphere(size() / 2) end
  if kind == 2 then return c.box(size(), size(), size()) end
  if kind == 3 then return c.capsule(0.08, size()) end
  if kind == 4 then return c.cylinder(size() / 2, size()) end
  local points = {}
  for i = 1, 8 do points[i] = { 0.3 * (random() - 0.5), 0.3 * (random() - 0.5), 0.3 * (random() - 0.5) } end
  return c.hull(points)
end

-- Four bodies that fly at one place. Returns where they are in the end.
local function crowd(seed, h, reach)
  math.randomseed(seed)
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.6)
  local law = ns.NewtonImpactFrictionNSL(random(), 0, random() / 2, 3)
  local contacts = c.space { nsds = nsds, law = law, reach = reach }
  local bodies = {}
  for i = 1, 4 do
    local x, y, e, size = (i - 1) % 2 - 0.5, (i - 1) // 2 - 0.5, {}, 0
    for k = 1, 4 do e[k] = random() - 0.5 size = size + e[k] ^ 2 end
    for k = 1, 4 do e[k] = e[k] / math.sqrt(size) end
    local v = { -2 * x * (1 + 0.3 * random()), -2 * y * (1 + 0.3 * random()), 0.4 * (random() - 0.5), 0, 0, 0 }
    for k = 4, 6 do v[k] = 6 * (random() - 0.5) end
    bodies[i] = body(nsds, { x, y, 0.2 * (random() - 0.5) }, e, v, { 0.004, 0.005, 0.006 })
    contacts:add(bodies[i], random_shape())
  end
  contacts:update()
  ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-9, 1e-11)):run()
  local places = {}
  for i, ds in ipairs(bodies) do
    for k = 1, 3 do places[3 * i - 3 + k] = ds:q()[k] end
  end
  return places
end

describe("bodies of different islands", function()
  it("meet within a step of any length, in whatever order they are", function()
    local ball, box = c.sphere(0.1), c.box(0.2, 0.2, 0.2)
    for _, shapes in ipairs { { ball, ball }, { box, box }, { ball, box } } do
      for _, v in ipairs { 1, 10, 1000 } do
        for _, h in ipairs { 1, 0.1, 1 / 64 } do
          for _, swapped in ipairs { false, true } do
            local simu, a, b = pair(shapes[1], shapes[2], v, h, 0.5, swapped)
            simu:run()
            local met = 0.65 / v
            assert.near(-v / 2, a:velocity()[1], 1e-9 * v)
            assert.near(v / 2, b:velocity()[1], 1e-9 * v)
            assert.near(-0.1 - (1 - met) * v / 2, a:q()[1], 1e-9 * v)
          end
        end
      end
    end
  end)

  it("meet the same way on any grid #once", function()
    for seed = 1, campaign(4, 0.1) do
      local expected, got = crowd(seed, 0.003, 0.3), crowd(seed, 0.3, 0.05)
      for k = 1, #expected do assert.near(expected[k], got[k], 1e-6, seed) end
    end
  end)

  it("keep energy and momentum as an elastic gas in long steps", function()
    math.randomseed(3)
    local nsds, sums = ns.NonSmoothDynamicalSystem(0, 1), {}
    local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(1, 0, 0, 3), reach = 0.05 }
    local bodies = {}
    local function sum()
      local s = { 0, 0, 0, 0 }
      for _, ds in ipairs(bodies) do
        for k = 1, 3 do s[k] = s[k] + ds:velocity()[k] s[4] = s[4] + ds:velocity()[k] ^ 2 end
      end
      return s
    end
    for i = 0, 11 do
      local at = { 0.3 * (i % 3), 0.3 * (i // 3 % 2), 0.3 * (i // 6) }
      local v = { 0.4 - at[1] + 0.4 * (random() - 0.5), random() - 0.5, random() - 0.5, 0, 0, 0 }
      bodies[i + 1] = body(nsds, at, none, v)
      contacts:add(bodies[i + 1], c.sphere(0.1))
    end
    contacts:update()
    local simu, hits = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), 0
    sums[1] = sum()
    for _ in simu:steps() do hits = hits + #simu:events() end
    sums[2] = sum()
    assert.is_true(hits > 0)
    for k = 1, 4 do assert.near(sums[1][k], sums[2][k], 1e-11) end
  end)

  it("meet between events of the script, which occur at their times", function()
    local simu, a = pair(c.sphere(0.1), c.sphere(0.1), 1, 1, 0.5)
    local times = {}
    simu:addEvent { name = "passes", g = function(_, x) return x[1] + 0.2 end }
    for _, e in ipairs(simu:run().events) do
      if e.kind == "user" then times[#times + 1] = e.t end
    end
    assert.equal(2, #times)
    assert.near(0.55, times[1], 1e-12)
    assert.near(0.85, times[2], 1e-12)
    assert.near(-0.1 - 0.35 / 2, a:q()[1], 1e-9)
  end)

  it("are told where derivatives are asked for", function()
    local simu = pair(c.sphere(0.1), c.sphere(0.1), 1, 1, 0.5)
    local by = { { simu:nsds():dynamicalSystem(1), "velocity0", 1 } }
    fails("EventDriven: contacts come or go at t=0.6", simu.run, simu, { sensitivities = by })
  end)
end)
