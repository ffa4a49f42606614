-- Boxes poured into a box: the account of the energy closes, overlaps are the way of a step, no contact is lost, and a run
-- has the same bits twice, in a clone and from a checkpoint.
local expect = require "expect"
local host = require "host"
local ns = require "nslua"
local numbers = require "random_numbers"

local SIZE, H, G = 0.1, 5e-3, 9.81

-- n boxes in layers of columns^2 (25), with spin, above the floor of an open box, under a simulation of the kind `make`.
local function pour(n, T, make, columns, h)
  columns = columns or 5
  local width = 0.02 + 0.12 * columns
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.4, 3), reach = 0.05 }
  for i, wall in ipairs(ns.contact.walls({ 0, 0, 0 }, { width, width, 30 })) do
    if i ~= 6 then contacts:add_plane(wall) end
  end
  local bodies, shape = {}, ns.contact.box(SIZE, SIZE, SIZE)
  for i = 0, n - 1 do
    local x, y, z = i % columns, i // columns % columns, i // (columns * columns)
    local place = { 0.07 + 0.12 * x + 0.02 * (z % 2), 0.07 + 0.12 * y + 0.01 * (i % 3), 0.08 + 0.13 * z, 1, 0, 0, 0 }
    bodies[i + 1] = ns.NewtonEulerDS(place, { 0, 0, 0, 0.5 * (i % 3 - 1), 0.3 * (i % 5 - 2), 0.2 }, 1, 1 / 600 * ns.eye(3))
    bodies[i + 1]:setFExtPtr { 0, 0, -G }
    nsds:insertDynamicalSystem(bodies[i + 1])
    contacts:add(bodies[i + 1], shape)
  end
  contacts:update()
  local osi = ns.MoreauJeanOSI(0.5)
  osi:setLinearlyImplicit(true)
  local problem = ns.FrictionContact(3, { tolerance = n > 100 and 1e-4 or 1e-6 })
  local simu = (make or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, h or H), osi, problem)
  return simu, contacts, bodies, shape
end

local function bits(bodies)
  local list = {}
  for i, ds in ipairs(bodies) do list[i] = ("%a %a %a %a"):format(ds:q()[1], ds:q()[3], ds:q()[5], ds:velocity()[6]) end
  return table.concat(list, "\n")
end

-- The overlap of contacts that carry a force, as the least gap.
local function deepest(contacts)
  local least = 0
  for _, inter in ipairs(contacts:interactions()) do
    if inter:lambda(1)[1] > 0 then least = math.min(least, inter:y(0)[1]) end
  end
  return -least
end

-- Every two boxes that overlap have a contact that is linked; gives how many do.
local function check_pairs(contacts, bodies, shape)
  local linked, placed, count = {}, {}, 0
  for _, inter in ipairs(contacts:interactions()) do
    local a, b = inter:name():match "^box (%d+) box (%d+) "
    if a then linked[a .. " " .. b], linked[b .. " " .. a] = true, true end
  end
  for i, ds in ipairs(bodies) do placed[i] = shape:placed(ds:q()) end
  for i, a in ipairs(bodies) do
    for j = 1, i - 1 do
      local p, q, far = a:q(), bodies[j]:q(), 0
      for k = 1, 3 do far = far + (p[k] - q[k]) ^ 2 end
      if far < 3 * SIZE ^ 2 and ns.contact.distance(placed[i], placed[j]) < -1e-9 then
        count = count + 1
        assert.is_true(linked[i .. " " .. j], ("boxes %d and %d"):format(j, i))
      end
    end
  end
  return count
end

-- The whole run; gives its bits, and checks it on its way.
local function run(n, T)
  local simu, contacts, bodies, shape = pour(n, T)
  local start, overlap, way, touching, energy = simu:energy().total, 0, 0, 0, nil
  for k in simu:steps() do
    for _, ds in ipairs(bodies) do
      local v = ds:velocity() -- a corner moves with the turn as well
      way = math.max(way, H * (math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
        + SIZE * math.sqrt(0.75) * math.sqrt(v[4] ^ 2 + v[5] ^ 2 + v[6] ^ 2)))
    end
    contacts:update()
    overlap = math.max(overlap, deepest(contacts))
    if k % 20 == 0 then touching = touching + check_pairs(contacts, bodies, shape) end
    energy = simu:energy()
  end
  local sum = energy.forces + energy.damping + energy.impacts + energy.friction + energy.boundary + energy.numerical
  assert.near(energy.total - start, sum, 1e-10 * start)
  assert.is_true(math.abs(energy.forces) < 1e-10 * start and energy.impacts < 0 and energy.friction < 0)
  assert.is_true(math.abs(energy.numerical) < 3e-3 * start) -- of turns in linearised steps, 1.4e-3 for 200; weight has a potential
  assert.is_true(overlap > 0 and overlap < 2 * way) -- both bodies move
  return bits(bodies), touching
end

-- Goes on for some steps with the contacts that are linked.
local function go_on(simu, bodies)
  for _ = 1, 5 do
    simu:computeOneStep()
    simu:nextStep()
  end
  return bits(bodies)
end

describe("boxes that are poured", function()
  local function is_sound(n, T)
    local first, touching = run(n, T)
    assert.is_true(touching > 0)
    assert.equal(first, (run(n, T)))
  end

  it("lose no energy and no contact, and have the same bits twice #once", function() is_sound(30, 0.25) end)

  it("lose no energy and no contact, and have the same bits twice, also 200 of them #long", function() is_sound(200, 0.4) end)

  it("go on from a checkpoint and in a clone with the same bits #once", function()
    local simu, contacts, bodies = pour(30, 0.4)
    for k in simu:steps() do
      contacts:update()
      if k == 40 then break end
    end
    simu:nextStep()
    local file = host.new_directory() .. "/state"
    simu:save_state(file)
    local twin, map = simu:clone()
    local first = go_on(simu, bodies)
    simu:load_state(file)
    assert.equal(first, go_on(simu, bodies))
    local others = {}
    for i, ds in ipairs(bodies) do others[i] = map and map[ds] or twin:nsds():dynamicalSystem(i) end
    assert.equal(first, go_on(twin, others))
    host.remove(file:match "^(.*)/")
  end)

  -- Runs with a projection, and looks for overlaps of all contacts.
  local function project(n, T, make)
    local simu, contacts, bodies = pour(n, T, make)
    simu:setConstraintTolerance(1e-6, 50)
    local overlap = 0
    for _ in simu:steps() do
      contacts:update()
      for _, inter in ipairs(contacts:interactions()) do overlap = math.max(overlap, -inter:y(0)[1]) end
    end
    assert.is_true(overlap < 1e-4 * SIZE)
    return bodies
  end

  it("overlap by less than 1e-4 of their size where both levels are projected, and come to rest #once", function()
    local bodies = project(25, 0.5, ns.TimeSteppingCombinedProjection)
    for _, ds in ipairs(bodies) do assert.is_true(math.abs(ds:velocity()[3]) < 1e-9) end
  end)

  it("overlap by less than 1e-4 of their size, also where edges of 200 cross far away #long", function()
    project(200, 0.15, ns.TimeSteppingCombinedProjection)
    project(200, 0.16, ns.TimeSteppingDirectProjection)
  end)

  it("go on where shifts of a fast fall have no solution #long", function()
    local simu, contacts = pour(15, 0.6, ns.TimeSteppingDirectProjection, 1, 1e-2)
    simu:setConstraintTolerance(1e-8)
    for _ in simu:steps() do contacts:update() end
    assert.equal(60, simu:stats().steps)
  end)
end)

describe("spheres that are poured", function()
  -- Balls that spin fast into a box, in long steps: the number of linear steps; 0, the message: the run ended before.
  local function pour_fast(seed)
    local R, mass, state = 0.05, 0.5, seed
    local function number()
      state = (state * 1103515245 + 12345) % 2147483648
      return state / 2147483648
    end
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.6)
    local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 1, 3), reach = 0.3 * R }
    for i = 0, 49 do
      local place = { 2.6 * R * (i % 5 + 0.6 + 0.2 * number()), 2.6 * R * (i // 5 % 5 + 0.6 + 0.2 * number()),
        2.3 * R * (i // 25 + 0.6), 1, 0, 0, 0 }
      local velocity = { number() - 0.5, number() - 0.5, -3, 60 * number(), 60 * number(), 60 * number() }
      local ball = ns.NewtonEulerDS(place, velocity, mass, 0.4 * mass * R ^ 2 * ns.eye(3))
      ball:setFExtPtr { 0, 0, -mass * G }
      nsds:insertDynamicalSystem(ball)
      contacts:add_sphere(ball, R)
    end
    for i, wall in ipairs(ns.contact.walls({ 0, 0, 0 }, { 14.3 * R, 14.3 * R, 9 })) do
      if i ~= 6 then contacts:add_plane(wall) end
    end
    contacts:update()
    local problem = ns.FrictionContact(3, { tolerance = 1e-6 })
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), ns.MoreauJeanOSI(0.5), problem)
    local start = simu:energy().total
    local ended, err = pcall(function()
      for _ in simu:steps() do contacts:update() end
    end)
    if not ended then return 0, tostring(err) end
    local e = simu:energy()
    assert.near(e.total - start, e.forces + e.damping + e.impacts + e.friction + e.boundary + e.numerical, 1e-10 * start)
    assert.is_true(e.total < start)
    return simu:stats().linear_steps
  end

  it("go on where Newton's method has no limit, in a step that is linearly implicit and counted", function()
    local linear = 0
    for _, seed in ipairs { 1, 7, 23, 25, 41 } do
      local steps, err = pour_fast(seed)
      if err then assert.matches("the step is too long for a linear one", err, 1, true) end
      assert.is_true(steps < 5)
      linear = linear + steps
    end
    assert.is_true(linear > 0)
  end)

  it("go on so in a projection of the coordinates, too: boxes, cylinders and hulls that tumble", function()
    local linear = 0
    for seed = 1, 8 do
      math.randomseed(seed)
      local uniform, nsds = numbers.uniform, ns.NonSmoothDynamicalSystem(0, 1)
      local law = ns.NewtonImpactFrictionNSL(uniform(0, 0.8), 0, uniform(0, 0.8), 3)
      local contacts = ns.contact.space { nsds = nsds, law = law, reach = 0.05 }
      for _, wall in ipairs(ns.contact.walls({ -0.5, -0.5, 0 }, { 0.5, 0.5, 9 })) do contacts:add_plane(wall) end
      contacts:add(nil, ns.contact.box(0.3, 0.3, 0.2):placed { 0, 0, 0.1 })
      local shapes = { ns.contact.box(0.2, 0.15, 0.1), ns.contact.cylinder(0.08, 0.2),
        ns.contact.hull { { 0.1, 0, 0 }, { -0.1, 0.1, 0 }, { -0.1, -0.1, 0 }, { 0, 0, 0.15 }, { 0, 0.1, -0.1 } } }
      local bodies = {}
      for i = 1, 6 do
        local e = ns.vector(numbers.vector_within(4, 1))
        e = e / e:norm()
        local velocity = { uniform(-3, 3), uniform(-3, 3), uniform(-3, 0), uniform(-15, 15), uniform(-15, 15), uniform(-15, 15) }
        bodies[i] = ns.NewtonEulerDS({ uniform(-0.3, 0.3), uniform(-0.3, 0.3), 0.3 + 0.25 * i, e[1], e[2], e[3], e[4] }, velocity,
          1, ns.diag { 0.004, 0.003, 0.002 })
        bodies[i]:setFExtPtr { 0, 0, -G }
        nsds:insertDynamicalSystem(bodies[i])
        contacts:add(bodies[i], shapes[i % 3 + 1])
      end
      contacts:update()
      local simu = ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, 0.005), ns.MoreauJeanOSI(0.5))
      for _ in simu:steps() do contacts:update() end
      for _, body in ipairs(bodies) do
        local q = body:q()
        assert.is_true(q[3] > 0 and math.max(math.abs(q[1]), math.abs(q[2])) < 0.5)
      end
      linear = linear + simu:stats().linear_steps
    end
    assert.is_true(linear > 0 and linear < 10)
  end)

  it("fail where a force has no solution, in touch or not", function()
    for _, height in ipairs { 100, 0.05 } do
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local ball = ns.NewtonEulerDS({ 0, 0, height, 1, 0, 0, 0 }, { 1, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      ball:setComputeFIntFunction(function(_, _, v, _, f) f[1], f[3] = v[1] > 0.3 and 1000 or -1000, G end)
      nsds:insertDynamicalSystem(ball)
      local contact = ns.contact.sphere_plane(0.05, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), contact, "floor"), ball)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
      expect.fails("TimeStepping: Newton did not converge in 50 iterations: relative residual 1 of dynamical system 'ds 1', "
        .. "tolerance 1e-10 (t=0.1 step 1 newton 50) (a smaller h, setMaxSubsteps(n) or, for a switch inside a callback, "
        .. "a law may help)", simu.run, simu)
      assert.equal(0, simu:stats().linear_steps)
    end
  end)
end)
