-- Steps of bodies at rest are those before over again: they are not solved twice, and have the bits that a solution has.
local ns = require "nslua"

local R, m, h = 1 / 16, 2, 1 / 1024 -- powers of 2: the balls are at rest to the bit

-- Balls at rest, alone with their contact: the second is pushed to the side, and a moment keeps it from rolling.
local function world(linear)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  local law = ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 3)
  local contacts = ns.contact.space { nsds = nsds, law = law, reach = 0.02 }
  contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
  local balls, forces = {}, {}
  for i, push in ipairs { 0, 3, 0 } do
    local ds = ns.NewtonEulerDS({ i, 0, R, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, m, ns.eye(3) / 512)
    forces[i] = ns.vector { push, 0, -10 * m, 0, -push * R, 0 }
    ds:setFExtPtr(forces[i])
    nsds:insertDynamicalSystem(ds)
    contacts:add_sphere(ds, R)
    balls[i] = ds
  end
  local osi = ns.MoreauJeanOSI(0.5)
  osi:setLinearlyImplicit(linear == true)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi, ns.FrictionContact(3))
  contacts:update()
  return { simu = simu, law = law, balls = balls, forces = forces, osi = osi }
end

local function step(simu)
  simu:computeOneStep()
  simu:nextStep()
end

-- All numbers of a simulation's objects.
local function bits(simu)
  local nsds, out = simu:nsds(), {}
  local function add(...)
    for _, v in ipairs { ... } do
      for i = 1, #v do out[#out + 1] = ("%a"):format(v[i]) end
    end
  end
  for i = 1, nsds:numberOfDynamicalSystems() do add(nsds:dynamicalSystem(i):q(), nsds:dynamicalSystem(i):velocity()) end
  for i = 1, nsds:numberOfInteractions() do
    local inter = nsds:interaction(i)
    add(inter:y(0), inter:y(1), inter:lambda(1))
  end
  return table.concat(out, " ")
end

local function at_rest(linear)
  local w = world(linear)
  for _ = 1, 6 do step(w.simu) end
  return w, bits(w.simu)
end

describe("a step that repeats the last one", function()
  it("has its bits, and counts as if it were solved", function()
    for _, linear in ipairs { false, true } do
      local w, before = at_rest(linear)
      local friction = w.simu:nsds():interaction(2):lambda(1)
      assert.near(3 * h, math.abs(friction[2]) + math.abs(friction[3]), 1e-9)
      local counted, copy = w.simu:stats(), w.simu:clone()
      step(w.simu)
      step(copy)
      local now = w.simu:stats()
      assert.equal(before, bits(w.simu))
      assert.equal(before, bits(copy))
      for _, name in ipairs { "newton_iterations", "solver_iterations" } do
        assert.is_true(now[name] > counted[name])
        assert.equal(now[name], copy:stats()[name])
      end
      assert.equal(w.simu:osnspb():info().solver, copy:osnspb():info().solver)
    end
  end)

  it("has the impulses of a solution where a script writes others each time", function()
    for _, linear in ipairs { false, true } do
      local w = at_rest(linear)
      local impulses = w.simu:nsds():interaction(1):lambda(1)
      for _ = 1, 3 do
        for i = 1, 3 do impulses[i] = 0 end
        step(w.simu)
        assert.near(10 * m * h, impulses[1], 1e-12)
      end
    end
  end)

  local changes = {
    friction = { true, function(w) w.law:setMu(0.1) end },
    force = { true, function(w) w.balls[1]:setFExtPtr { 0, 0, 1 } end },
    ["number of a force"] = { true, function(w) w.forces[3][1] = 30 end },
    velocity = { true, function(w) w.balls[1]:velocity()[4] = 1e-3 end },
    place = { true, function(w) w.balls[1]:q()[3] = R + 1e-3 end },
    mass = { false, function(w) w.balls[1]:mass()[3][3] = 3 end },
    theta = { false, function(w) w.osi:setTheta(0.75) end },
    restitution = { false, function(w) w.law:setEn(0) end },
    tolerance = { false, function(w) w.simu:setNewtonTolerance(1e-6) end },
  }
  for what, change in pairs(changes) do
    it("is not taken for one after a change of " .. what, function()
      for _, linear in ipairs { false, true } do
        local w, before = at_rest(linear)
        change[2](w)
        for k = 1, 3 do
          local copy = w.simu:clone()
          step(w.simu)
          step(copy)
          assert.equal(bits(copy), bits(w.simu))
          if k == 1 then assert.equal(change[1], bits(w.simu) ~= before) end
        end
      end
    end)
  end
end)
