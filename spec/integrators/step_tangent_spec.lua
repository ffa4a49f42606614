local campaign = require "campaign"
local comparison = require "sensitive_comparison"
local expect = require "expect"
local ns = require "nslua"
local sensitive = require "random_sensitive"

local function stepping(nsds, h, osi) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi) end

-- S at the end, by the numbers p, by differences of order 4 of the same runs; build(p) gives a simulation and its parameters.
local function differences(build, p, h)
  local columns = {}
  for j = 1, #p do
    local x = {}
    for _, k in ipairs { -2, -1, 1, 2 } do
      local q = table.move(p, 1, #p, 1, {})
      q[j] = q[j] + k * h
      local sol = build(q):run()
      x[k] = sol.x[#sol]
    end
    columns[j] = {}
    for i = 1, #x[1] do columns[j][i] = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h) end
  end
  return columns
end

-- The largest difference of S at the end from differences, relative to its column.
local function error_of(build, p, h)
  local simu, parameters = build(p)
  local sol = simu:run { sensitivities = parameters }
  local S, worst = sol.S[#sol], 0
  for j, column in ipairs(differences(build, p, h or 1e-3)) do
    local off, size = 0, 0
    for i = 1, #column do off, size = math.max(off, math.abs(S[i][j] - column[i])), math.max(size, math.abs(column[i])) end
    worst = math.max(worst, size > 0 and off / size or off)
  end
  return worst, sol
end

-- x' = 2 - sign x.
local function switched(h, x0, T)
  local ds, law = ns.FirstOrderLinearTIDS({ x0 or -1 }, { { 0 } }, { 2 }), ns.RelayNSL(1, -1, 1)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 2)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "switch"), ds)
  return stepping(nsds, h, ns.EulerMoreauOSI(1)), law, nsds
end

-- A pendulum in plane coordinates, or two of them: p = x0 of the first.
local function pendulum(osi, count)
  return function(p)
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
    local n = 2 * count
    local q, v, M, weight = {}, {}, {}, {}
    for i = 1, n do
      q[i], v[i], M[i], weight[i] = p[i], p[n + i], {}, i % 2 == 0 and -9.81 or 0
      for j = 1, n do M[i][j] = i == j and 1 or 0 end
    end
    local ds = ns.LagrangianLinearTIDS(q, v, M)
    ds:setFExtPtr(ns.vector(weight))
    nsds:insertDynamicalSystem(ds)
    for k = 1, count do
      local a = 2 * k
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR { h = function(x, _, y)
        local x0, y0 = k > 1 and x[a - 3] or 0, k > 1 and x[a - 2] or 0
        y[1] = ((x[a - 1] - x0) ^ 2 + (x[a] - y0) ^ 2 - 1) / 2
      end }, "rod" .. k), ds)
    end
    return stepping(nsds, 0.02, osi), { "x0" }
  end
end

-- A block that slides on a floor (dim 2, 3) and that a spring and a force pull; p: place, speed, mu, mass.
local function block(osi, dim)
  return function(p)
    local law = ns.NewtonImpactFrictionNSL(0.3, 0, p[3], dim)
    local mass, spring, q, v = {}, {}, { p[1] }, { p[2] }
    for i = 1, dim do
      mass[i], spring[i] = {}, {}
      for j = 1, dim do mass[i][j], spring[i][j] = i == j and p[4] or 0, i == j and i < dim and 2 or 0 end
    end
    if dim == 3 then q[2], v[2] = 0.2, 0.7 end
    q[dim], v[dim] = 0, 0
    local ds = ns.LagrangianLinearTIDS(q, v, mass, spring)
    ds:setFExtPtr(ns.vector(dim == 2 and { 1, -10 } or { 1, 0.5, -10 }))
    local H = dim == 2 and { { 0, 1 }, { 1, 0 } } or { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(H), "floor"), ds)
    local parameters = { { ds, "q0", 1 }, { ds, "velocity0", 1 }, { law, "mu" } }
    for i = 1, dim do parameters[#parameters + 1] = { ds, "mass", i, i } end
    return stepping(nsds, 0.01, osi), parameters
  end
end

-- The largest error of S by the first three parameters of a block, and by its mass.
local function block_error(build, p)
  local simu, parameters = build(p)
  local sol = simu:run { sensitivities = parameters }
  local S, worst = sol.S[#sol], 0
  for j, column in ipairs(differences(build, p, 1e-3)) do
    for i = 1, #column do
      local s = S[i][j]
      for k = j + 1, j == 4 and #parameters or 0 do s = s + S[i][k] end
      worst = math.max(worst, math.abs(s - column[i]))
    end
  end
  return worst
end

describe("derivatives of time-stepping runs #once", function()
  it("come back by the adjoint where contacts slip in space, on a slope of springs", function()
    local function slide()
      local ds = ns.LagrangianLinearTIDS({ 0, 0.1, -0.2 }, { 0, 1.2, 1.6 }, 1.5 * ns.eye(3), ns.diag { 0, 2, 5 })
      ds:setFExtPtr { -15, 0.3, -0.2 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
      nsds:insertDynamicalSystem(ds)
      local law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(3))), ds)
      return stepping(nsds, 0.02, ns.MoreauJeanOSI(0.5)), { { law, "mu" }, { ds, "velocity0" }, { ds, "fExt" } }
    end
    local simu, parameters = slide()
    local sol = simu:run { sensitivities = parameters }
    simu, parameters = slide()
    local _, gradient = simu:gradient { terminal = function(x) return x[2] + 2 * x[6] end, parameters = parameters }
    local S = sol.S[#sol]
    for j = 1, #gradient do assert.near(S[2][j] + 2 * S[6][j], gradient[j], 1e-9) end
  end)

  -- A contact that a weight presses has a velocity that is rounding of h g: it is not hit in each step.
  it("are there for a block at rest on a floor, whatever its mass", function()
    for _, mass in ipairs { 0.3, 0.7, 1.1, 1.5, 2.3, 3e5, 1e-7 } do
      local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 2 }, ns.diag { mass, mass })
      ds:setFExtPtr { -mass * 9.81, 0 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.2)
      nsds:insertDynamicalSystem(ds)
      local law = ns.NewtonImpactFrictionNSL(0.3, 0, 0.2, 2)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(2))), ds)
      local sol = stepping(nsds, 0.01, ns.MoreauJeanOSI(0.5)):run { sensitivities = { { law, "mu" } } }
      assert.near(-9.81 * 0.2, sol.S[#sol][4][1], 1e-9)
    end
  end)

  local draw_simulation, part = sensitive.simulate, sensitive.part
  after_each(function() sensitive.simulate, sensitive.part = draw_simulation, part end)

  it("agree with central differences of the same runs, for random models", function()
    local count, tell = campaign(40, 0.01)
    local first_order = { relays = true, saturations = true, diodes = true, driven = true, joined = true }
    local weights = { { 1, 1 }, { 0.5, 0.5 }, { 0.5, 1 }, { 0.75, 0.6 } }
    local columns, smooth = 0, 0
    sensitive.part = 0.1
    for k = 1, count do
      math.randomseed(k)
      local one, theta = nil, weights[k % 4 + 1]
      sensitive.simulate = function(nsds, T)
        local osi = first_order[one.family] and ns.EulerMoreauOSI(theta[1], theta[2]) or ns.MoreauJeanOSI(theta[1])
        return stepping(nsds, 0.1 * T / 20, osi)
      end
      one = sensitive.draw(k)
      local good, found, worst = pcall(comparison.compare, one, 2)
      if good then
        columns, smooth = columns + found, smooth + 1
        assert(worst < 1e-8, ("model %d: %g"):format(k, worst))
      else
        assert(found:find "sensitivities: .* in the step to" or found:find "is above ub", found)
      end
    end
    assert(smooth >= count / 2 and columns >= count / 2)
    tell("derivatives of time-stepping runs", smooth)
  end)

  it("hold for joints, and for rods between bodies", function()
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanOSI(1), ns.SchatzmanPaoliOSI(0), ns.SchatzmanPaoliOSI(0.5) } do
      assert(error_of(pendulum(osi, 1), { 1, 0, 0, 0.5 }) < 1e-8)
      assert(error_of(pendulum(osi, 2), { 0.8, 0.6, 1.8, 0.6, 0, 0, 0.2, 1 }) < 1e-8)
    end
  end)

  it("hold for joints between two bodies, whose steps have one matrix each", function()
    local function build(p)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
      local first, second = ns.LagrangianLinearTIDS({ p[1], p[2] }, { p[3], p[4] }, ns.eye(2)),
        ns.LagrangianLinearTIDS({ p[5], p[6] }, { p[7], p[8] }, 2 * ns.eye(2))
      nsds:insertDynamicalSystem(first)
      nsds:insertDynamicalSystem(second)
      local rod = ns.LagrangianScleronomousR { h = function(q, _, y)
        y[1] = ((q[3] - q[1]) ^ 2 + (q[4] - q[2]) ^ 2 - 1) / 2
      end }
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), rod, "rod"), first, second)
      return stepping(nsds, 0.02, ns.MoreauJeanOSI(0.5)), { "x0" }
    end
    assert(error_of(build, { 0, 0, 0, 1, 0.8, 0.6, 0, -2 }) < 1e-8)
  end)

  it("hold for contacts that slide or stick all the time, in the plane and in space", function()
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanOSI(1) } do
      for dim = 2, 3 do assert(block_error(block(osi, dim), { 0.3, 1.5, 0.2, 1.3 }) < 1e-9) end
      assert(block_error(block(osi, 2), { 0.3, 0, 0.9, 1.3 }) < 1e-9)
    end
  end)

  it("hold for rigid bodies", function()
    local function build(p)
      local ds = ns.NewtonEulerDS({ 0, 0, p[1], 1, 0, 0, 0 }, { p[2], 0, 0, p[3], p[4], p[5] }, 2,
        { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } })
      ds:setFExtPtr(ns.vector { 0, 0, -9.81 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
      nsds:insertDynamicalSystem(ds)
      return stepping(nsds, 0.01, ns.MoreauJeanOSI(0.5)),
        { { ds, "q0", 3 }, { ds, "velocity0", 1 }, { ds, "velocity0", 4 }, { ds, "velocity0", 5 }, { ds, "velocity0", 6 } }
    end
    assert(error_of(build, { 1, 0.5, 2, -1, 3 }) < 1e-8)
  end)

  it("hold for the exact scheme of modes, for the sparse forms, and for the gamma-point", function()
    local function modes(p)
      local ds = ns.LagrangianLinearDiagonalDS({ p[1], 0.2 }, { p[2], 0 }, { p[3], 50 }, { p[4], 0.1 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      return stepping(nsds, 0.01, ns.MoreauJeanBilbaoOSI()),
        { { ds, "q0", 1 }, { ds, "velocity0", 1 }, { ds, "K", 1, 1 }, { ds, "C", 1, 1 } }
    end
    assert(error_of(modes, { 1, 0.5, 30, 0.4 }) < 1e-8)
    local function global(p)
      local ds = ns.LagrangianLinearTIDS({ p[1], 0.2 }, { p[2], 0 }, ns.eye(2), { { p[3], -1 }, { -1, 3 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { { 1, -5 } }, "bar"), ds)
      return stepping(nsds, 0.01, ns.MoreauJeanGOSI(0.5)), { { ds, "q0", 1 }, { ds, "velocity0", 1 }, { ds, "K", 1, 1 } }
    end
    assert(error_of(global, { 1, 0.5, 30 }) < 1e-8)
    local function sparse(p)
      local A = ns.sparse({ { -1, 0, 0 }, { 0.5, -2, 0 }, { 0, 1, -1 } })
      local ds = ns.FirstOrderLinearTIDS({ p[1], p[2], 0 }, A, { 1, 0, 0 })
      local law = ns.RelayNSL(1, -1, p[3])
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1, 0, 0 } }, { { 0 }, { 1 }, { 0 } }), "relay"), ds)
      return stepping(nsds, 0.01, ns.EulerMoreauOSI(0.5, 0.5)), { { ds, "x0", 1 }, { ds, "x0", 2 }, { law, "ub" } }
    end
    assert(error_of(sparse, { -1, 0.5, 1.5 }) < 1e-8)
    local function gamma_point(p)
      local osi = ns.EulerMoreauOSI(0.5, 0.6)
      osi:setUseGammaForRelation(true)
      local ds = ns.FirstOrderLinearTIDS({ p[1], p[2] }, { { -1, 1 }, { -1, -1 } })
      local relation = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0.5 }, { 1 } })
      relation:setDPtr(ns.matrix { { 2 } })
      relation:setePtr(ns.vector { -5 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation, "diode"), ds)
      return stepping(nsds, 0.01, osi), { "x0" }
    end
    assert(error_of(gamma_point, { 1, 0.5 }) < 1e-8)
  end)

  it("hold for linear models whose steps change their length", function()
    local function build(p)
      local ds = ns.FirstOrderLinearTIDS({ p[1], p[2] }, { { -1, 2 }, { -3, -1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local grid = ns.TimeDiscretisation { 0, 0.1, 0.2, 0.3, 0.5, 0.7, 1 }
      return ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(0.5)), { "x0" }
    end
    assert(error_of(build, { 1, 0.5 }) < 1e-10)
  end)

  it("hold for prescribed velocities, for modes with a joint, and for compliant relations", function()
    local function simulation(ds, osi, relation)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      if relation then nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation, "bar"), ds) end
      return stepping(nsds, 0.01, osi)
    end
    local function moved(p)
      local ds = ns.LagrangianLinearTIDS({ 0, p[1] }, { 0, p[2] }, { { 1, 0.5 }, { 0.5, 2 } }, { { 2, -1 }, { -1, p[3] } })
      ds:setBoundaryConditions(ns.HarmonicBC({ 1 }, 0, 1, 3, -math.pi / 2))
      return simulation(ds, ns.MoreauJeanOSI(0.5)), { { ds, "q0", 2 }, { ds, "velocity0", 2 }, { ds, "K", 2, 2 } }
    end
    assert(error_of(moved, { 1, 0.5, 3 }) < 1e-9)
    local function modes(p)
      local ds = ns.LagrangianLinearDiagonalDS({ p[1], 0.2 }, { p[2], 0 }, { 10, 50 }, { 0.4, 0.1 })
      ds:setFExtPtr(ns.vector { 0, -20 })
      local bar = ns.LagrangianLinearTIR { { p[3], 1 } }
      return simulation(ds, ns.MoreauJeanBilbaoOSI(), bar), { { ds, "q0", 1 }, { ds, "velocity0", 1 }, { bar, "C", 1, 1 } }
    end
    assert(error_of(modes, { 1, 0.5, 0.3 }) < 1e-9)
    local function compliant(p)
      local ds = ns.LagrangianLinearTIDS({ p[1], 0.2 }, { p[2], 0 }, ns.eye(2), { { 3, -1 }, { -1, 3 } })
      local bar = ns.LagrangianCompliantLinearTIR({ { 1, -0.5 } }, { { p[3] } })
      return simulation(ds, ns.MoreauJeanOSI(0.5), bar), { { ds, "q0", 1 }, { ds, "velocity0", 1 }, { bar, "D", 1, 1 } }
    end
    assert(error_of(compliant, { 1, 0.5, 0.4 }) < 1e-9)
  end)

  it("converge to those of event-driven runs with the order of the scheme", function()
    local function build(simulation)
      local ds = ns.FirstOrderNonLinearDS({ 1, 0.5 }, function(_, x, z, f)
        f[1], f[2] = x[2], z[1] * (1 - x[1] ^ 2) * x[2] - x[1]
      end)
      ds:setzPtr(ns.vector { 1.2 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ds)
      local sol = simulation(nsds):run { sensitivities = { "x0", "z" } }
      return sol.S[#sol]
    end
    local exact = build(function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()) end)
    for _, case in ipairs { { 1, 2 }, { 0.5, 4 } } do
      local errors = {}
      for k, h in ipairs { 0.02, 0.01 } do
        local S = build(function(nsds) return stepping(nsds, h, ns.EulerMoreauOSI(case[1])) end)
        errors[k] = ns.norm(S - exact)
      end
      assert(math.abs(errors[1] / errors[2] - case[2]) < 0.15 * case[2])
    end
  end)

  it("are refused where a relay switches, whatever the step: the example of Stewart and Anitescu", function()
    for _, case in ipairs { { 0.08, "0.4", 0.32 }, { 0.008, "0.336", 0.328 }, { 0.0008, "0.3336", 0.3328 } } do
      local simu = switched(case[1])
      expect.fails(("sensitivities: 'switch' switches in the step to t=%s: derivatives of time-stepping runs are wrong there; "
        .. "use EventDriven with a RungeKuttaOSI"):format(case[2]), simu.run, simu, { sensitivities = { "x0" } })
      assert(math.abs(simu:startingTime() - case[3]) < 1e-12)
      local sol = simu:run() -- the session goes on
      assert.equal(2, sol.t[#sol])
    end
  end)

  it("are right before the switch", function()
    local simu, law = switched(0.05, -1, 0.3)
    local sol = simu:run { sensitivities = { "x0", { law, "ub" }, { law, "lb" } } }
    expect.near_matrix({ { 1, 0.3, 0 } }, sol.S[#sol], 1e-14)
    assert.same({ "x0[1]", "switch.ub[1]", "switch.lb[1]" }, sol.sensitivities)
    assert.equal(0, sol:sensitivity("x0[1]")[1][1] - 1)
  end)

  it("are refused in the first step, where it switches or begins at a switch", function()
    local simu = switched(0.5, -0.1)
    expect.fails("sensitivities: 'switch' switches in the step to t=0.5", simu.run, simu, { sensitivities = { "x0" } })
    simu = switched(0.1, 0)
    expect.fails("sensitivities: the run starts at t=0 where 'switch' switches, and a parameter decides on which side; "
      .. "on_grazing = \"one-sided\" takes the side that the run goes", simu.run, simu, { sensitivities = { "x0" } })
    local sided, law = switched(0.1, 0)
    local sol = sided:run { sensitivities = { { law, "lb" } } } -- lb moves nothing at the start
    expect.near_matrix({ { 2 } }, sol.S[#sol], 1e-14)
    sol = switched(0.1, 0):run { sensitivities = { "x0", on_grazing = "one-sided" } }
    expect.near_matrix({ { 1 } }, sol.S[#sol], 1e-14)
  end)

  -- A ball of unit mass above a floor.
  local function ball(height, speed, e, osi, law)
    local ds = ns.LagrangianLinearTIDS({ height }, { speed }, { { 1 } })
    ds:setFExtPtr(ns.vector { -8 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law or ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { { 1 } }, "floor"), ds)
    return stepping(nsds, 0.01, osi or ns.MoreauJeanOSI(0.5)), ds
  end

  it("are refused at impacts", function()
    local simu = ball(1, 0, 0.5)
    local text = expect.message(simu.run, simu, { sensitivities = { "x0" } })
    assert(text:find("^sensitivities: 'floor' switches in the step to t=0%.5"), text)
    simu = ball(0, -1, 0.5)
    expect.fails("sensitivities: 'floor' is hit in the step to t=0.01", simu.run, simu, { sensitivities = { "x0" } })
    simu = ball(1, 0, 0.5, ns.SchatzmanPaoliOSI(0))
    expect.fails("sensitivities: 'floor' switches in the step to t=0.5", simu.run, simu, { sensitivities = { "x0" } })
  end)

  it("hold for bodies at rest on a floor", function()
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.SchatzmanPaoliOSI(0) } do
      local simu, ds = ball(0, 0, 0, osi)
      local sol = simu:run { sensitivities = { { ds, "mass", 1, 1 } } }
      expect.near_matrix({ { 0 }, { 0 } }, sol.S[#sol], 1e-14)
    end
  end)

  it("are refused where a contact touches without a force", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local H = ns.LagrangianLinearTIR { { 1, 1 } }
    local other = ns.LagrangianLinearTIDS({ 1 }, { 1 }, { { 1 } })
    nsds:insertDynamicalSystem(other)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { 1 } }), "floor"), ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), H, "tie"), ds, other)
    local simu = stepping(nsds, 0.1, ns.MoreauJeanOSI(0.5))
    local good, text = pcall(simu.run, simu, { sensitivities = { { ds, "mass", 1, 1 } } })
    assert.is_false(good)
    assert(tostring(text):find "sensitivities: 'floor'", text)
    local free = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    local graph = ns.NonSmoothDynamicalSystem(0, 1)
    graph:insertDynamicalSystem(free)
    graph:link(ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1 } }, "floor"), free)
    local touching = stepping(graph, 0.1, ns.MoreauJeanOSI(0.5))
    expect.fails("sensitivities: 'floor' is weakly active in the step to t=0.1: y is 0, and lambda is at a bound without need; "
      .. "there is no derivative, to no side", touching.run, touching, { sensitivities = { { free, "mass", 1, 1 } } })
  end)

  it("are refused where multipliers are not unique", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 1 }, { 0, 0 }, ns.eye(2))
    ds:setFExtPtr(ns.vector { 1, 1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    for k = 1, 2 do
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { { 1, 0 } }, "bar" .. k), ds)
    end
    local simu = stepping(nsds, 0.1, ns.MoreauJeanOSI(0.5))
    expect.fails("are not unique in the step to t=0.1: the step has no derivative", simu.run, simu,
      { sensitivities = { "x0" } })
  end)

  it("are refused where events of the script divide steps, and with linearlyImplicit", function()
    local function refuses(text, simu)
      expect.fails("run: sensitivities: " .. text .. "; use EventDriven with a RungeKuttaOSI", simu.run, simu,
        { sensitivities = { "x0" } })
    end
    local simu = switched(0.1)
    simu:addEvent { name = "half", g = function(t) return t - 0.5 end }
    refuses("TimeStepping: events of the script divide steps, at times that depend on the parameters", simu)
    local osi = ns.MoreauJeanOSI(0.5)
    osi:setLinearlyImplicit(true)
    refuses("a MoreauJeanOSI with linearlyImplicit has no derivative of its steps", (ball(1, 0, 0, osi)))
  end)

  it("are refused where an object shows the state of another one, and for polyhedra", function()
    local first, second = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    second:setbPtr(first:x())
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(first)
    nsds:insertDynamicalSystem(second)
    local simu = stepping(nsds, 0.1, ns.EulerMoreauOSI(1))
    expect.fails("run: sensitivities: b of 'ds 2' shows the state of another object: write a relation instead", simu.run, simu,
      { sensitivities = { "x0" } })
    local ds = ns.FirstOrderLinearTIDS({ 1, 1 }, { { -1, 0 }, { 0, -1 } })
    nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local law = ns.NormalConeNSL(2, { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }, { -1, -1, -1, -1 })
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2)), "cone"), ds)
    local cone = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.AVI())
    expect.fails("run: sensitivities: the law of 'cone' is a NormalConeNSL, whose steps have no derivative; use EventDriven with a "
      .. "RungeKuttaOSI", cone.run, cone, { sensitivities = { "x0" } })
  end)

  it("are refused after a consistent start whose multipliers the first step weights", function()
    local nsds = select(3, switched(0.1))
    local simu = stepping(nsds, 0.1, ns.EulerMoreauOSI(0.5, 0.5))
    simu:initialize { consistent = true }
    expect.fails("sensitivities: the run begins with multipliers of a consistent start, which gamma < 1 weights: start without it, "
      .. "or use EventDriven with a RungeKuttaOSI", simu.run, simu, { sensitivities = { "x0" } })
  end)

  it("do not depend on units, up to powers of two", function()
    local function run(u, T)
      local ds = ns.FirstOrderNonLinearDS({ u, 0.5 * u / T }, function(_, x, z, f)
        local q = x[1] / u
        f[1], f[2] = x[2], (z[1] * (1 - q * q) * x[2] * T - x[1]) / (T * T)
      end)
      ds:setzPtr(ns.vector { 1.2 })
      local law = ns.RelayNSL(1, -u, u)
      local nsds = ns.NonSmoothDynamicalSystem(0, T)
      nsds:insertDynamicalSystem(ds)
      local relation = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[1] + 9 * u end,
        g = function(_, x, lambda, _, r) r[2] = lambda[1] * (x[1] / u) / (T * T) end }
      nsds:link(ns.Interaction(law, relation, "relay"), ds)
      local sol = stepping(nsds, T / 16, ns.EulerMoreauOSI(0.5, 0.5)):run { sensitivities = { "x0", "z", { law, "lb" } } }
      return sol.S[#sol]
    end
    local S = run(1, 1)
    for _, unit in ipairs { { 2 ^ 40, 1 }, { 2 ^ -60, 2 ^ 20 }, { 1, 2 ^ -30 } } do
      local u, T = unit[1], unit[2]
      local of, by = { u, u / T }, { u, u / T, 1, u }
      local scaled = run(u, T)
      for i = 1, 2 do
        for j = 1, 4 do assert.equal(S[i][j], scaled[i][j] * by[j] / of[i]) end
      end
    end
  end)

  it("do not depend on units in mechanics, also from coordinates or velocities that are 0", function()
    local function run(osi, x0, u, T)
      local ds = ns.LagrangianDS({ x0[1] * u }, { x0[2] * u / T }, { { 1 } })
      ds:setzPtr(ns.vector { 4 / (u * u * T * T) })
      ds:setComputeFIntFunction(function(_, q, _, z, f) f[1] = z[1] * q[1] * q[1] * q[1] end)
      local nsds = ns.NonSmoothDynamicalSystem(0, T)
      nsds:insertDynamicalSystem(ds)
      local sol = stepping(nsds, T / 16, osi):run { sensitivities = { "x0", "z" } }
      return sol.S[#sol]
    end
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.SchatzmanPaoliOSI(0), ns.SchatzmanPaoliOSI(0.5) } do
      for _, x0 in ipairs { { 1, 0.5 }, { 1, 0 }, { 0, 1 } } do
        local S = run(osi, x0, 1, 1)
        for _, unit in ipairs { { 2 ^ 40, 1 }, { 2 ^ -30, 2 ^ 20 }, { 1, 2 ^ -30 } } do
          local u, T = unit[1], unit[2]
          local of, by = { u, u / T }, { u, u / T, 1 / (u * u * T * T) }
          local scaled = run(osi, x0, u, T)
          for i = 1, 2 do
            for j = 1, 3 do assert.equal(S[i][j], scaled[i][j] * by[j] / of[i]) end
          end
        end
      end
    end
  end)

  it("give the gradient of a cost, by the trapezoidal rule on the rows", function()
    local function build(p)
      local ds = ns.FirstOrderNonLinearDS({ p[1] }, function(_, x, z, f) f[1] = -z[1] * x[1] ^ 3 end)
      ds:setzPtr(ns.vector { p[2] })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return stepping(nsds, 0.05, ns.EulerMoreauOSI(0.5))
    end
    local options = { cost = function(t, x, p) return x[1] ^ 2 * (1 + t) + p[2] end,
      terminal = function(x, p) return p[1] * x[1] end, parameters = { "x0", "z" } }
    local function value(p) return (build(p):gradient(options)) end
    local cost, gradient, sol = build { 1, 0.7 }:gradient(options)
    local sum = sol.x[21][1]
    for k = 1, 20 do
      for row = k, k + 1 do sum = sum + 0.025 * (sol.x[row][1] ^ 2 * (1 + sol.t[row]) + 0.7) end
    end
    expect.near_number(sum, cost)
    local h = 1e-3
    for j = 1, 2 do
      local function at(k)
        local q = { 1, 0.7 }
        q[j] = q[j] + k * h
        return value(q)
      end
      local difference = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
      assert(math.abs(gradient[j] - difference) < 1e-9)
    end
    assert.equal(21, #sol)
    local simu = build { 1, 0.7 }
    expect.fails("gradient: the simulation was run again, or changed, by a function of the cost", simu.gradient, simu,
      { terminal = function(x) return simu:reset() or x[1] end, parameters = { "x0" } })
    expect.fails("gradient: T: the end of a time-stepping run is no parameter; use EventDriven", simu.gradient, simu,
      { terminal = function(x) return x[1] end, parameters = { "T" } })
  end)
end)
