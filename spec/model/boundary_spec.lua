-- Prescribed velocities: exact, with reactions by Newton's law, beside contacts and constraints, dense and sparse.
local ns = require "nslua"

local function simulate(systems, links, h, T, osi)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi or ns.MoreauJeanOSI(0.5))
end

local function imbalance(simu, before)
  local e = simu:energy()
  return math.abs(e.total - before - e.forces - e.damping - e.impacts - e.friction - e.numerical - e.boundary)
end

-- Three coupled masses; the first one is shaken and hits the third one, whose sum with the second one is held.
local M = ns.matrix { { 2, 0.3, 0 }, { 0.3, 1, 0 }, { 0, 0, 1.5 } }
local K = ns.matrix { { 4, -2, 0 }, { -2, 4, -2 }, { 0, -2, 3 } }
local C = 0.1 * ns.eye(3)
local fext = ns.vector { 0.5, 1, -1 }

local function chain(o)
  local sparse = o.sparse and ns.sparse or function(m) return m end
  local ds
  if o.nonlinear then
    ds = ns.LagrangianDS { q0 = { 0, 0, 0 }, v0 = { 0, 0.2, 0 }, mass = M,
      fInt = function(_, q, v, _, f)
        for i = 1, 3 do
          f[i] = C[i][i] * v[i] + q[i] ^ 3
          for j = 1, 3 do f[i] = f[i] + K[i][j] * q[j] end
        end
      end }
  else
    ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0.2, 0 }, sparse(M), sparse(K), sparse(C))
  end
  ds:setFExtPtr(fext)
  ds:setBoundaryConditions(o.bc)
  local stop = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { -1, 0, 1 } }, { 0.15 }))
  local links = { { stop, ds } }
  if o.rod then
    links[2] = { ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR({ { 0.5, 1, 1 } })), ds }
    ds:setVelocity0 { 0, 0.2, -0.2 }
    ds:resetToInitialState()
  end
  return simulate({ ds }, links, o.h or 1e-2, o.T or 3, ns.MoreauJeanOSI(o.theta or 0.6)), ds, stop
end

-- The impulse of Newton's law that neither forces nor multipliers account for.
local function missing(ds, theta, h, nonlinear)
  local q, qk, v, vk = ds:q(), ds:qMemory(), ds:velocity(), ds:velocityMemory()
  local function force(x, w)
    local F = fext - K * x - C * w
    for i = 1, nonlinear and 3 or 0 do F[i] = F[i] - x[i] ^ 3 end
    return F
  end
  return M * (v - vk) - h * (theta * force(q, v) + (1 - theta) * force(qk, vk)) - ds:p()
end

describe("prescribed velocities", function()
  for _, how in ipairs { {}, { sparse = true }, { nonlinear = true }, { rod = true }, { rod = true, sparse = true },
                         { rod = true, nonlinear = true }, { theta = 1 }, { theta = 0.5, sparse = true } } do
    local words = ("%s%s, theta %g"):format(how.sparse and "sparse" or how.nonlinear and "nonlinear" or "dense",
      how.rod and ", with an equation" or "", how.theta or 0.6)
    it("are those at the end of each step, by the impulses that Newton's law lacks: " .. words, function()
      how.bc = ns.HarmonicBC({ 1 }, 0.1, 0.5, 3, 0.4)
      local theta, h = how.theta or 0.6, 1e-2
      local simu, ds, stop = chain(how)
      simu:setNewtonTolerance(1e-13)
      local before, hits = simu:energy().total, 0
      for _, t in simu:steps() do
        assert.equal(0.1 + 0.5 * math.cos(3 * t + 0.4), ds:velocity()[1])
        local R = missing(ds, theta, h, how.nonlinear)
        assert.near(R[1], ds:reactionToBoundaryConditions()[1], 1e-11)
        assert.is_true(math.abs(R[2]) + math.abs(R[3]) < 1e-11)
        if stop:lambda()[1] > 0 then
          hits = hits + 1
          assert.near(0, stop:y(1)[1] + 0.5 * (ds:velocityMemory()[3] - ds:velocityMemory()[1]), 1e-12)
        end
        if how.rod then assert.near(0, 0.5 * ds:velocity()[1] + ds:velocity()[2] + ds:velocity()[3], 1e-12) end
      end
      assert.is_true(hits > 0 and hits < 100)
      assert.equal(how.sparse or false, simu:osnspb():M() == nil)
      assert.is_true(imbalance(simu, before) < 1e-12)
      assert.is_true(math.abs(simu:energy().boundary) > 0.05)
    end)
  end

  it("all of them: nothing is left to move, and the reactions carry everything", function()
    for _, sparse in ipairs { false, true } do
      local simu, ds = chain { sparse = sparse, bc = ns.FixedBC { 3, 1, 2 } }
      for _ in simu:steps() do
        for i = 1, 3 do assert.equal(0, ds:velocity()[i]) end
        local R, at = missing(ds, 0.6, 1e-2), { 3, 1, 2 }
        for i = 1, 3 do assert.near(R[at[i]], ds:reactionToBoundaryConditions()[i], 1e-14) end
      end
    end
  end)

  it("give the motion of the reduced system", function()
    local simu, ds = chain { bc = ns.FixedBC(1), T = 1 }
    local two = ns.LagrangianLinearTIDS({ 0, 0 }, { 0.2, 0 }, { { 1, 0 }, { 0, 1.5 } }, { { 4, -2 }, { -2, 3 } },
      { { 0.1, 0 }, { 0, 0.1 } })
    two:setFExtPtr { 1, -1 }
    local stop = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 0, 1 } }, { 0.15 }))
    local reduced = simulate({ two }, { { stop, two } }, 1e-2, 1, ns.MoreauJeanOSI(0.6))
    reduced:run()
    simu:run()
    assert.near(two:q()[1], ds:q()[2], 1e-13)
    assert.near(two:q()[2], ds:q()[3], 1e-13)
  end)

  it("converge with order 2 to the motion that a driven oscillator has", function()
    -- m x'' = k (s - x), s' prescribed: x for s = sin(2 t), k / m = 9, from rest
    local function exact(t) return 9 / 5 * math.sin(2 * t) - 6 / 5 * math.sin(3 * t) end
    local function error_at(h)
      local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 2, 0 }, ns.eye(2), { { 9, -9 }, { -9, 9 } })
      ds:setBoundaryConditions(ns.HarmonicBC({ 1 }, 0, 2, 2, 0))
      simulate({ ds }, {}, h, 2):run()
      return math.abs(ds:q()[2] - exact(2))
    end
    assert.near(4, error_at(0.02) / error_at(0.01), 0.05)
  end)

  it("turn a rigid body about an axis, against its inertia", function()
    local ds = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 1.5 }, 2, { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } })
    ds:setBoundaryConditions(ns.BoundaryCondition({ 6, 4, 5 }, { 1.5, 0, 0 }))
    simulate({ ds }, {}, 1e-2, 2):run()
    assert.near(math.cos(1.5), ds:q()[4], 1e-12)
    assert.near(math.sin(1.5), ds:q()[7], 1e-12)
  end)

  it("of a table carry a block by friction, which slides when it is shaken too hard", function()
    local function slip(amplitude)
      local table_, block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2)),
        ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
      block:setFExtPtr { 0, -10 }
      table_:setBoundaryConditions(ns.HarmonicBC({ 1, 2 }, 0, { amplitude, 0 }, 5, -math.pi / 2))
      local contact = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2),
        ns.LagrangianLinearTIR({ { 0, -1, 0, 1 }, { -1, 0, 1, 0 } }))
      local simu = simulate({ table_, block }, { { contact, table_, block } }, 1e-3, 1)
      local before, most = simu:energy().total, 0
      for _ in simu:steps() do
        most = math.max(most, math.abs(contact:y(1)[2]))
        assert.near(0.01, contact:lambda()[1], 1e-10)
        assert.near(-contact:lambda()[1], -table_:reactionToBoundaryConditions()[2], 1e-10)
      end
      assert.is_true(imbalance(simu, before) < 1e-12)
      return most
    end
    assert.is_true(slip(0.59) < 1e-12) -- accelerations up to 2.95 < 3
    assert.is_true(slip(0.7) > 1e-2)
  end)

  it("stay what they are when the coordinates are projected", function()
    local ds = ns.LagrangianDS({ 0, 1, 0 }, { 0, 0, 0 }, ns.eye(3))
    ds:setFExtPtr { 0, 0, -9.81 }
    ds:setBoundaryConditions(ns.HarmonicBC({ 1 }, 0, 1, 3, -math.pi / 2))
    local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = (q[2] - q[1]) ^ 2 + q[3] ^ 2 - 1 end })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(rod, ds)
    local simu = ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.5))
    local before, s = simu:energy().total, 0
    for _, t in simu:steps() do
      local v = ds:velocity()[1]
      assert.equal(math.cos(3 * t - math.pi / 2), v)
      s = s + 1e-2 * (v + ds:velocityMemory()[1]) / 2
      assert.near(s, ds:q()[1], 1e-14)
      assert.is_true(math.abs(rod:y()[1]) < 1e-10)
    end
    assert.is_true(imbalance(simu, before) < 1e-11)
  end)

  it("may change from step to step, and go", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    local bc = ns.BoundaryCondition({ 1 }, { 1 })
    ds:setBoundaryConditions(bc)
    local simu = simulate({ ds }, {}, 0.1, 1)
    local function step() simu:computeOneStep() simu:nextStep() return ds:velocity()[1] end
    assert.equal(1, step())
    bc:prescribedVelocity()[1] = 2
    assert.equal(2, step())
    assert.near(1, ds:reactionToBoundaryConditions()[1], 1e-15)
    ds:setBoundaryConditions(nil)
    ds:setFExtPtr { 5 }
    assert.near(2.5, step(), 1e-15)
    assert.is_nil(ds:reactionToBoundaryConditions())
    simu:reset()
    assert.equal(0, ds:velocity()[1])
  end)

  it("are not taken by the schemes that have no place for them", function()
    local function message(osi, make)
      local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
      ds:setBoundaryConditions(ns.FixedBC { 1 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return select(2, pcall(make or ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 0.1), osi))
    end
    local said = "%s: dynamical system 'ds 1' has boundary conditions; TimeStepping with a MoreauJeanOSI takes them"
    assert.equal(said:format "D1MinusLinearOSI", message(ns.D1MinusLinearOSI()))
    assert.equal(said:format "SchatzmanPaoliOSI", message(ns.SchatzmanPaoliOSI(0.5)))
    assert.equal(said:format "RungeKuttaOSI", message(ns.RungeKuttaOSI(), ns.EventDriven))
  end)

  it("given after the simulation was made are refused by the next step of such a scheme", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    local simu = simulate({ ds }, {}, 0.1, 1, ns.SchatzmanPaoliOSI(0.5))
    simu:computeOneStep()
    simu:nextStep()
    ds:setBoundaryConditions(ns.FixedBC { 1 })
    assert.is_false(pcall(simu.computeOneStep, simu))
    ds:setBoundaryConditions(nil)
    assert.is_true(pcall(simu.computeOneStep, simu))
  end)
end)
