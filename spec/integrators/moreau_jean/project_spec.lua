-- Constraints on coordinates at the end of a step: the direct projection, and the combined one, whose velocities fit.
local ns = require "nslua"
local message = require("bind.models").message
local moving = require "moving"
local numbers = require "random_numbers"

local imbalance, simulate = moving.imbalance, moving.with_projection
local plain, direct, combined = ns.TimeStepping, ns.TimeSteppingDirectProjection, ns.TimeSteppingCombinedProjection

local function equation(h) return ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR { h = h }) end

-- A pendulum of two rods with a spring; with a mass matrix that is not the identity.
local function double_pendulum(make, h, T)
  local ds = ns.LagrangianDS({ 1, 0, 1, -0.8 }, { 0, 0, 0, 0 },
    { { 2, 0, 0.1, 0 }, { 0, 2, 0, 0.1 }, { 0.1, 0, 1, 0 }, { 0, 0.1, 0, 1 } })
  ds:setFExtPtr { 0, -19.62, 0, -9.81 }
  ds:setComputeFIntFunction(function(_, q, _, _, f) f[1], f[3] = 3 * q[1] ^ 3, 0.2 * q[3] end)
  local upper = equation(function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end)
  local lower = equation(function(q, _, y) y[1] = (q[3] - q[1]) ^ 2 + (q[4] - q[2]) ^ 2 - 0.64 end)
  local simu = simulate(make, { systems = { ds }, links = { { upper, ds }, { lower, ds } }, h = h, T = T, tolerance = 1e-13 })
  simu:setNewtonTolerance(1e-13)
  return simu, ds, { upper, lower }
end

-- The largest |y| and |ydot| of equations over a run.
local function drift(simu, inters)
  local y, u = 0, 0
  for _ in simu:steps() do
    for _, inter in ipairs(inters) do
      y, u = math.max(y, math.abs(inter:y(0)[1])), math.max(u, math.abs(inter:y(1)[1]))
    end
  end
  return y, u
end

describe("the direct projection #once", function()
  local mass = { 1, 1.5, 2, 1.2 }
  local function constraints(x, _, y)
    y[1] = x[1] + 2 * x[2] + 5 * x[3] * x[4] + 3 * x[1] * x[2] + 0.06
    y[2] = x[1] ^ 2 - x[3] ^ 2 + x[4] - 0.12
  end

  -- Four masses on two curved constraints, as one system or several, with strangers in the constraints, by other derivatives.
  local function four(o)
    local q, v, systems = { 0.1, -0.2, 0.3, 0.2 }, { 1, -0.5, 0.3, 0.4 }, {}
    for i = 1, o.apart and 4 or 0 do
      systems[i] = ns.LagrangianDS({ q[i] }, { v[i] }, { { mass[i] } })
      systems[i]:setComputeFIntFunction(function(_, x, u, _, f) f[1] = 20 * x[1] ^ 3 + u[1] * x[1] end)
    end
    if not o.apart then
      local n = 4 + (o.strangers or 0)
      for i = 5, n do q[i], v[i] = 0, 0 end
      local M = ns.eye(n)
      for i = 1, 4 do M[i][i] = mass[i] end
      systems[1] = ns.LagrangianDS(q, v, not o.moving and M or nil)
      if o.moving then
        systems[1]:setComputeMassFunction(function(x, _, out)
          for i = 1, n do out[i][i] = mass[i] or 1 end
          out[1][1] = 1 + x[1] ^ 2
        end)
      end
      systems[1]:setComputeFIntFunction(function(_, x, u, _, f)
        for i = 1, 4 do f[i] = 20 * x[i] ^ 3 + u[i] * x[i] end
      end)
    end
    local by = o.given and function(x, _, C)
      C[1][1], C[1][2], C[1][3], C[1][4] = 1 + 3 * x[2], 2 + 3 * x[1], 5 * x[4], 5 * x[3]
      C[2][1], C[2][3], C[2][4] = 2 * x[1], -2 * x[3], 1
    end or nil
    local inter = ns.Interaction(ns.EqualityConditionNSL(2), ns.LagrangianScleronomousR { h = constraints, Jachq = by })
    local simu = simulate(direct, { systems = systems, links = { { inter, table.unpack(systems) } }, h = 0.04,
      T = 0.4, tolerance = 1e-14 })
    simu:setNewtonTolerance(1e-13)
    simu:run()
    local ends = {}
    for i = 1, 4 do ends[i] = o.apart and systems[i]:q()[1] or systems[1]:q()[i] end
    return ns.vector(ends)
  end

  it("does not depend on the way on which the step was solved: with curvature of relations, with parts of it, without", function()
    local whole = four {}
    for name, o in pairs { apart = { apart = true }, strangers = { strangers = 9 }, given = { given = true } } do
      local away = (four(o) - whole):norm()
      assert.is_true(away < 1e-10, name .. ": " .. away)
    end
    assert.is_true((four { moving = true, strangers = 9 } - four { moving = true }):norm() < 1e-10)
  end)

  it("moves the coordinates along W^-1 H', with W at the end of the step", function()
    local ds = ns.LagrangianDS({ 1, 0 }, { 0, 2 })
    ds:setComputeMassFunction(function(q, _, M) M[1][1], M[2][2] = 2 + q[1] ^ 2, 1 + q[2] ^ 2 end)
    ds:setComputeFIntFunction(function(_, q, v, _, f) f[1], f[2] = 30 * q[1] ^ 3, 2 * v[2] * q[2] ^ 2 end)
    local ring = equation(function(q, _, y) y[1] = q[1] ^ 2 + 2 * q[2] ^ 2 - 1 end)
    local h = 1e-2
    -- one shift brings |y| from 1e-4 to 1e-8 or so
    local simu = simulate(direct, { systems = { ds }, links = { { ring, ds } }, h = h, T = 0.5, tolerance = 1e-6 })
    simu:setNewtonTolerance(1e-13)
    for _ in simu:steps() do
      local q, v, qk, vk = ds:q(), ds:velocity(), ds:qMemory(), ds:velocityMemory()
      local free = qk + h / 2 * (v + vk)
      local W = { 2 + free[1] ^ 2 + h ^ 2 / 4 * 90 * free[1] ^ 2,
        1 + free[2] ^ 2 + h / 2 * 2 * free[2] ^ 2 + h ^ 2 / 4 * 4 * v[2] * free[2] }
      local shift = { W[1] * (q[1] - free[1]), W[2] * (q[2] - free[2]) }
      local H = { 2 * free[1], 4 * free[2] }
      local size = math.sqrt((shift[1] ^ 2 + shift[2] ^ 2) * (H[1] ^ 2 + H[2] ^ 2))
      assert.is_true(math.abs(shift[1] * H[2] - shift[2] * H[1]) <= 1e-9 * size + 1e-15)
    end
  end)
end)

describe("the combined projection #once", function()
  it("keeps equations on both levels: the plain scheme drifts, the direct one leaves velocities behind", function()
    local function run(make)
      local simu, _, rods = double_pendulum(make, 5e-3, 3)
      local before = simu:energy().total
      local y, u = drift(simu, rods)
      assert.is_true(imbalance(simu, before) < 1e-11)
      return y, u
    end
    local y, u = run(plain)
    assert.is_true(y > 1e-4 and u < 1e-11)
    y, u = run(direct)
    assert.is_true(y <= 1e-13 and u > 1e-7)
    y, u = run(combined)
    assert.is_true(y <= 1e-13 and u < 1e-11)
  end)

  it("is an equation of the step, which a shift along H' fulfils", function()
    local simu, ds, rods = double_pendulum(combined, 1e-2, 1)
    local M, h = ds:mass(), 1e-2
    local function force(q) return ns.vector { -3 * q[1] ^ 3, -19.62, -0.2 * q[3], -9.81 } end
    for _ in simu:steps() do
      local q, v, qk, vk = ds:q(), ds:velocity(), ds:qMemory(), ds:velocityMemory()
      local away = M * (v - vk) - h / 2 * (force(q) + force(qk)) - ds:p()
      assert.is_true(away:norm() < 1e-12)
      local H = ns.matrix { { 2 * q[1], 2 * q[2], 0, 0 },
        { -2 * (q[3] - q[1]), -2 * (q[4] - q[2]), 2 * (q[3] - q[1]), 2 * (q[4] - q[2]) } }
      local impulse = H:transpose() * ns.vector { rods[1]:lambda()[1], rods[2]:lambda()[1] }
      assert.is_true((impulse - ds:p()):norm() < 1e-12)
      -- W (q - q_k - h (v + v_k) / 2) has no part outside the image of H'
      local W = M:copy()
      W[1][1], W[3][3] = W[1][1] + h ^ 2 / 4 * 9 * q[1] ^ 2, W[3][3] + h ^ 2 / 4 * 0.2
      local shift = W * (q - qk - h / 2 * (v + vk))
      local nu = ns.solve(H * H:transpose(), H * shift)
      assert.is_true((shift - H:transpose() * nu):norm() < 1e-9 * math.max(shift:norm(), 1e-4))
    end
  end)

  it("converges with order 1, as the impulses of the scheme do #once", function()
    local function at(h)
      local simu, ds = double_pendulum(combined, h, 1)
      simu:run()
      return ds:q():copy()
    end
    local a, b, c = at(4e-3), at(2e-3), at(1e-3)
    local ratio = (a - b):norm() / (b - c):norm()
    assert.near(2, ratio, 0.1)
  end)

  it("leaves a step alone whose coordinates fit", function()
    local function run(make)
      local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 1 }, ns.eye(2))
      ds:setFExtPtr { -9.81, 0 }
      local floor = ns.Interaction(ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1, 0 } })
      local simu = simulate(make, { systems = { ds }, links = { { floor, ds } }, h = 1e-2, T = 0.4 })
      simu:run()
      return ds:x():totable()
    end
    assert.same(run(plain), run(combined))
  end)
end)

describe("contacts under the combined projection #once", function()
  -- A ball above the floor, off the grid of the steps: the forecast misses a contact that the step overruns.
  local function ball(make, o)
    local ds = ns.LagrangianLinearTIDS({ o.q or 1 }, { o.v or 0 }, { { 2 } })
    ds:setFExtPtr { -2 * 9.81 }
    local floor = ns.Interaction(ns.NewtonImpactNSL(o.e), ns.LagrangianLinearTIR { { 1 } })
    local simu = simulate(make, { systems = { ds }, links = { { floor, ds } }, h = o.h or 1e-2, T = o.T or 3,
      theta = o.theta, tolerance = o.tolerance })
    return simu, ds, floor
  end

  for _, e in ipairs { 0, 0.5, 0.9 } do
    for _, theta in ipairs { 0.5, 1 } do
      it(("never end a step below the floor: e %g, theta %g"):format(e, theta), function()
        local function run(make)
          local simu, _, floor = ball(make, { e = e, theta = theta, tolerance = 1e-14 })
          local before, least = simu:energy().total, 0
          for _ in simu:steps() do
            least = math.min(least, floor:y()[1])
            assert.is_true(floor:lambda()[1] >= 0)
          end
          assert.is_true(imbalance(simu, before) < 1e-12)
          return least
        end
        assert.is_true(run(combined) >= -1e-14)
        if theta < 1 then assert.is_true(run(plain) < -1e-3) end
      end)
    end
  end

  it("take part when the step overruns them, forecast or not", function()
    local o = { q = 0.06, v = -10, e = 0.5, T = 1e-2 } -- forecast y + h v / 2 > 0, and y < 0 at the end
    for _, make in ipairs { plain, direct, combined } do
      local simu, ds, floor = ball(make, o)
      simu:computeOneStep()
      if make == combined then
        assert.near(5, ds:velocity()[1], 1e-12)
        assert.near(2 * 15 + 2 * 9.81e-2, floor:lambda()[1], 1e-11)
        assert.near(0.06 + 1e-2 / 2 * (5 - 10), ds:q()[1], 1e-14) -- no shift: the impact has opened it
      else
        assert.near(-10 - 9.81e-2, ds:velocity()[1], 1e-12)
        assert.equal(0, floor:lambda()[1])
      end
    end
  end)

  it("take part when the projection of other constraints pushes into them", function()
    local function run(make)
      local ds = ns.LagrangianLinearTIDS({ -0.1, -0.1 }, { -1, 1 }, ns.eye(2))
      local track = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { { 1, 1 } })
      local wall = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 0, -1 } }, { -0.05 }))
      local simu = simulate(make, { systems = { ds }, links = { { track, ds }, { wall, ds } }, h = 1e-3, T = 1e-3,
        tolerance = 1e-14 })
      simu:computeOneStep()
      assert.near(0, track:y()[1], 1e-14)
      assert.is_true(wall:y()[1] >= -1e-14)
      return ds:velocity(), wall
    end
    local v, wall = run(direct)
    assert.is_true(v == ns.vector { -1, 1 } and wall:y()[1] < 1e-14)
    v, wall = run(combined)
    assert.near(0.5, v[1], 1e-14)
    assert.near(-0.5, v[2], 1e-14)
    assert.near(3, wall:lambda()[1], 1e-13) -- 1.5 of its own, and 1.5 of the track
  end)

  it("are let go again when others move the body away", function()
    -- Both walls are overrun in one step; the impact at the second one opens the first.
    local ds = ns.LagrangianLinearTIDS({ 0.03, 0.06 }, { -10, -10 }, ns.eye(2), { { 1e3, 0 }, { 0, 1e3 } })
    local function wall(row, e) return ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { row }) end
    local a, b = wall({ 1, 0 }, 0), wall({ 1, 1 }, 1)
    local simu = simulate(combined, { systems = { ds }, links = { { a, ds }, { b, ds } }, h = 1e-2, T = 1e-2,
      tolerance = 1e-14 })
    simu:computeOneStep()
    for _, inter in ipairs { a, b } do
      assert.is_true(inter:y()[1] >= -1e-14)
      local u = inter:y(1)[1]
      assert.is_true(inter:lambda()[1] >= 0 and u + (inter == b and -20 or 0) >= -1e-11)
    end
  end)

  -- Disks in a box: linear systems, nonlinear outputs, friction.
  local function box(make, law, theta, seed)
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
    local contacts = ns.contact.manager { nsds = nsds, law = law, reach = 0.2 }
    local function random() seed = (seed * 16807) % 2147483647 return seed / 2147483647 end
    for i = 1, 9 do
      local R = 0.07 + 0.02 * random()
      local m = 10 * R ^ 2
      local ds = ns.LagrangianLinearTIDS({ 0.2 * ((i - 1) % 3) + 0.15 + 0.02 * random(), 0.2 * ((i - 1) // 3) + 0.1, 0 },
        { random() - 0.5, -random(), random() }, { { m, 0, 0 }, { 0, m, 0 }, { 0, 0, m * R ^ 2 / 2 } })
      ds:setFExtPtr { 0, -9.81 * m, 0 }
      nsds:insertDynamicalSystem(ds)
      contacts:add_disk(ds, R)
    end
    for _, line in ipairs { { { 0, 0 }, { 0, 1 } }, { { 0, 0 }, { 1, 0 } }, { { 0.7, 0 }, { -1, 0 } } } do
      contacts:add_line(ns.contact.line(line[1], line[2]))
    end
    contacts:update()
    return ns[make](nsds, ns.TimeDiscretisation(0, 4e-3), ns.MoreauJeanOSI(theta)), contacts
  end

  for seed, o in ipairs { { mu = 0, en = 0, theta = 0.5 }, { mu = 0.4, en = 0, theta = 0.5 }, { mu = 0.3, en = 0.6, theta = 0.5 },
                          { mu = 0.8, en = 0.3, theta = 1 }, { mu = 0.2, en = 0, theta = 0.7 } } do
    local words = ("mu %g, e %g, theta %g"):format(o.mu, o.en, o.theta)
    it("keep all gaps of a heap open, with the law of impacts and friction: " .. words, function()
      local function run(make)
        local law = ns.NewtonImpactFrictionNSL(o.en, 0, o.mu, 2)
        local simu, contacts = box(make, law, o.theta, 1000 + 77 * seed)
        local before, least, carried, k, off, u_k = simu:energy().total, 0, 0, 0, 0, {}
        local function law_of(inter, P, u)
          off = math.max(off, -P[1])
          if P[1] > 1e-9 then
            carried = carried + 1
            off = math.max(off, math.abs(P[2]) - o.mu * P[1], u_k[inter] and math.abs(u[1] + o.en * u_k[inter]) or 0)
            local sign = u[2] > 1e-7 and 1 or u[2] < -1e-7 and -1
            if sign then off = math.max(off, math.abs(P[2] + sign * o.mu * P[1])) end
          end
          u_k[inter] = u[1]
        end
        for _ in simu:steps() do
          k = k + 1
          for _, inter in ipairs(contacts:interactions()) do
            least = math.min(least, inter:y()[1])
            law_of(inter, inter:lambda(), inter:y(1))
          end
          if k % 10 == 0 then contacts:update() end
        end
        assert.is_true(off < 1e-8)
        assert.is_true(imbalance(simu, before) < 1e-12)
        return least, carried
      end
      local least, carried = run "TimeSteppingCombinedProjection"
      assert.is_true(least >= -1e-10 and carried > 100)
      assert.is_true(run "TimeStepping" < -1e-4)
    end)
  end

  it("hold a rigid body on a plane, on which it rolls", function()
    local function run(make)
      local R = 0.3
      local ds = ns.NewtonEulerDS({ 0, 0, R, 1, 0, 0, 0 }, { 1, 0, 0, 0.4, 1 / R, 0.1 }, 2,
        { { 0.1, 0, 0 }, { 0, 0.2, 0 }, { 0, 0, 0.15 } })
      ds:setFExtPtr { 0, 0, -19.62 }
      local ground = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3),
        ns.contact.corner_plane({ 0.1, 0.2, -R }, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })))
      local simu = simulate(make, { systems = { ds }, links = { { ground, ds } }, h = 5e-3, T = 1, tolerance = 1e-13 })
      local before, least = simu:energy().total, 0
      for _ in simu:steps() do
        least = math.min(least, ground:y()[1])
        local e = 0
        for i = 4, 7 do e = e + ds:q()[i] ^ 2 end
        assert.near(1, e, 1e-12)
        if make == combined and ground:lambda()[1] > 0 then assert.is_true(ground:y(1)[1] > -1e-8) end
      end
      assert.is_true(imbalance(simu, before) < 1e-10)
      return least
    end
    assert.is_true(run(combined) >= -1e-13)
    assert.is_true(run(plain) < -1e-4)
  end)
end)

describe("a simulation with the combined projection #once", function()
  it("keeps prescribed velocities, and its account", function()
    local ds = ns.LagrangianDS({ 0, 1, 0 }, { 0, 0, 0 }, ns.eye(3))
    ds:setFExtPtr { 0, 0, -9.81 }
    ds:setComputeFIntFunction(function(_, q, v, _, f) f[1], f[2] = q[2] * q[3], 4 * q[2] + v[2] end)
    ds:setBoundaryConditions(ns.HarmonicBC({ 1 }, 0, 1, 3, -math.pi / 2))
    local rod = equation(function(q, _, y) y[1] = (q[2] - q[1]) ^ 2 + q[3] ^ 2 - 1 end)
    local simu = simulate(combined, { systems = { ds }, links = { { rod, ds } }, h = 1e-2, T = 1, tolerance = 1e-13 })
    simu:setNewtonTolerance(1e-13)
    local before, s = simu:energy().total, 0
    for _, t in simu:steps() do
      local q, v, qk, vk = ds:q(), ds:velocity(), ds:qMemory(), ds:velocityMemory()
      assert.equal(math.cos(3 * t - math.pi / 2), v[1])
      s = s + 1e-2 * (v[1] + vk[1]) / 2
      assert.near(s, q[1], 1e-14)
      assert.is_true(math.abs(rod:y()[1]) <= 1e-13 and math.abs(rod:y(1)[1]) < 1e-11)
      local R = v[1] - vk[1] + 1e-2 / 2 * (q[2] * q[3] + qk[2] * qk[3]) - ds:p()[1]
      assert.near(R, ds:reactionToBoundaryConditions()[1], 1e-12)
    end
    assert.is_true(imbalance(simu, before) < 1e-12)
    assert.is_true(math.abs(simu:energy().boundary) > 0.1)
  end)

  it("keeps those of a linear system, where the shift acts through the stiffness", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 1 }, { 0, -3 }, { { 1, 0.2 }, { 0.2, 1 } }, { { 50, -20 }, { -20, 40 } },
      0.1 * ns.eye(2))
    ds:setBoundaryConditions(ns.HarmonicBC({ 1 }, 0, 0.3, 4, 0))
    local floor = ns.Interaction(ns.NewtonImpactNSL(0.3), ns.LagrangianLinearTIR { { 0.3, 1 } })
    local h = 0.013
    local simu = simulate(combined, { systems = { ds }, links = { { floor, ds } }, h = h, T = 3, tolerance = 1e-14 })
    local before, hits, M, K = simu:energy().total, 0, ds:mass(), ds:K()
    for _ in simu:steps() do
      assert.is_true(floor:y()[1] >= -1e-14)
      local q, v, qk, vk = ds:q(), ds:velocity(), ds:qMemory(), ds:velocityMemory()
      local R = M * (v - vk) + h / 2 * (K * (q + qk) + 0.1 * (v + vk)) - ds:p()
      assert.near(R[1], ds:reactionToBoundaryConditions()[1], 1e-12)
      assert.near(0, R[2], 1e-12)
      if floor:lambda()[1] > 0 then hits = hits + 1 end
    end
    assert.is_true(hits > 3)
    assert.is_true(imbalance(simu, before) < 1e-12)
  end)

  it("is cloned and repeated like any other, and counts its iterations", function()
    local simu, ds = double_pendulum(combined, 1e-2, 0.5)
    local count = 0
    for _ in simu:steps() do count = count + simu:newtonIterations() end
    assert.equal(count, simu:stats().newton_iterations)
    assert.is_true(count > 3 * 50)
    local first = ds:x():totable()
    local copy = simu:clone()
    simu:reset()
    simu:run()
    assert.same(first, ds:x():totable())
    copy:reset()
    copy:run()
    assert.same(first, copy:nsds():dynamicalSystem(1):x():totable())
  end)

  it("takes what TimeStepping takes, and the problem and the level of positions", function()
    for _, name in ipairs { "TimeSteppingDirectProjection", "TimeSteppingCombinedProjection" } do
      local ds, problem = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }), ns.GenericMechanical()
      local nsds, td = ns.NonSmoothDynamicalSystem(0, 1), ns.TimeDiscretisation(0, 0.1)
      nsds:insertDynamicalSystem(ds)
      local osi = name:find "Direct" and ns.MoreauJeanDirectProjectionOSI(0.5) or ns.MoreauJeanCombinedProjectionOSI(0.5, 0.5)
      assert.equal(name .. ": expected an integrator such as MoreauJeanOSI, got a MoreauJeanGOSI",
        message(ns[name], nsds, td, ns.MoreauJeanGOSI(0.5)))
      assert.truthy(message(ns[name], nsds, td, osi, problem, 3):find "one%-step problem expected, got number")
      assert.equal(name .. ": level: expected an integer, got string", message(ns[name], nsds, td, osi, problem, ns.MLCP(), "x"))
      local simu = ns[name](nsds, td, osi, problem, ns.MLCP(), 1)
      assert.equal(problem, simu:osnspb())
      simu:run()
    end
  end)
end)

-- The angle of a piston that only slides is rounding: the terms of its row are the ways of single multipliers, which cancel.
describe("both projections, of a slider crank #once", function()
  local function crank(along, T, simulation)
    local r, l, start = 0.05, 0.15, 0.3
    local c, s = math.cos(along), math.sin(along)
    local cx, cy = r * math.cos(start), r * math.sin(start)
    local across = cy * c - cx * s
    local way = cx * c + cy * s + math.sqrt(l ^ 2 - across ^ 2)
    local px, py = way * c, way * s
    local sys = ns.mechanics.system { gravity = { 0, -9.81 } }
    local shaft, rod = sys:free_body { mass = 1, inertia = 0.02 }, sys:free_body { mass = 0.3, inertia = 1e-3 }
    local piston = sys:free_body { mass = 0.4, inertia = 1e-3 }
    sys:pin(shaft, { 0, 0 }, sys.ground, { 0, 0 })
    sys:pin(shaft, { r, 0 }, rod, { -l / 2, 0 })
    sys:pin(rod, { l / 2, 0 }, piston, { 0, 0 })
    sys:slider(piston, { 0, 0 }, { c, s }, sys.ground, { 0, 0 })
    sys:torque { on = shaft, value = 2 }
    local ds, joints = sys:lagrangian { q0 = { 0, 0, start, (cx + px) / 2, (cy + py) / 2, math.atan(py - cy, px - cx), px, py, 0 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(joints, ds)
    simulation(nsds):run()
    return ds:q()[3], math.max(math.abs(joints:y(0):min()), joints:y(0):max())
  end

  it("hold its joints, whatever the direction of the piston", function()
    math.randomseed(11)
    for k = 1, require "campaign"(2, 0.002) do
      local along = k == 1 and 0 or numbers.uniform(-3, 3)
      local angle = crank(along, 0.05, function(nsds)
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI(1e-8))
      end)
      for _, make in ipairs { direct, combined } do
        local found, violation = crank(along, 0.05, function(nsds)
          return make(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5))
        end)
        assert.near(angle, found, 1e-3)
        assert.is_true(violation < 1e-11)
      end
    end
  end)
end)

describe("the direct projection #once", function()
  it("has its share in the account of energies, of a mass that depends on the place too", function()
    local function lost(h)
      local ds = ns.LagrangianDS { q0 = { 1, 0 }, v0 = { 0, 1 }, mass = function(q, _, M)
        M[1][1], M[2][2] = 1 + 0.5 * q[1] ^ 2, 1
      end, fGyr = function(q, v, _, f) f[1] = 0.5 * q[1] * v[1] ^ 2 end, fExt = { 0, -9.81 } }
      local rod = equation(function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end)
      local simu = simulate(direct, { systems = { ds }, links = { { rod, ds } }, T = 1, h = h, tolerance = 1e-12 })
      local before = simu:energy().total
      for _ in simu:steps() do
        assert.near(0, ds:q()[1] ^ 2 + ds:q()[2] ^ 2 - 1, 1e-11)
        assert.near(0, imbalance(simu, before), 1e-11)
      end
      local e = simu:energy()
      return math.abs(e.total - before), math.abs(e.numerical)
    end
    local total, numerical = lost(0.01)
    local half_total, half_numerical = lost(0.005)
    assert.near(1, math.log(total / half_total, 2), 0.15)
    assert.is_true(half_numerical < 0.6 * numerical and numerical < 1e-3)
  end)

  -- One system of many pendulums has a sparse problem: each goes as it does alone.
  it("takes many constraints at once", function()
    local n, h, T = 152, 0.02, 0.06
    local q0, v0, f = {}, {}, {}
    for k = 1, n do
      q0[2 * k - 1], q0[2 * k] = math.cos(k), math.sin(k)
      v0[2 * k - 1], v0[2 * k] = 0, 0
      f[2 * k - 1], f[2 * k] = 0, -9.81
    end
    local ds = ns.LagrangianDS { q0 = q0, v0 = v0, mass = ns.eye(2 * n), fExt = f }
    local rods = ns.Interaction(ns.EqualityConditionNSL(n), ns.LagrangianScleronomousR {
      h = function(q, _, y) for k = 1, n do y[k] = q[2 * k - 1] ^ 2 + q[2 * k] ^ 2 - 1 end end,
      Jachq = function(q, _, C)
        for k = 1, n do C[k][2 * k - 1], C[k][2 * k] = 2 * q[2 * k - 1], 2 * q[2 * k] end
      end })
    local simu = simulate(direct, { systems = { ds }, links = { { rods, ds } }, T = T, h = h, tolerance = 1e-12 })
    simu:run()
    assert.is_nil(simu:osnspb():M())
    for k = 1, n, 23 do
      local one = ns.LagrangianDS({ math.cos(k), math.sin(k) }, { 0, 0 }, ns.eye(2))
      one:setFExtPtr { 0, -9.81 }
      local rod = equation(function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end)
      simulate(direct, { systems = { one }, links = { { rod, one } }, T = T, h = h, tolerance = 1e-12 }):run()
      for i = 1, 2 do assert.near(one:q()[i], ds:q()[2 * k - 2 + i], 1e-9) end
    end
  end)
end)
