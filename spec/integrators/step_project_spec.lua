local expect = require "expect"
local ns = require "nslua"

local direct = ns.TimeSteppingDirectProjection

-- A simulation with constraints h on a system, of 50 steps.
local function simulate(ds, constraints, T, make)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 1)
  nsds:insertDynamicalSystem(ds)
  for k, h in ipairs(constraints) do
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR { h = h }, "rod" .. k), ds)
  end
  return (make or direct)(nsds, ns.TimeDiscretisation(0, 0.02), ns.MoreauJeanOSI(0.5)), nsds
end

local function circle(q, _, y) y[1] = (q[1] * q[1] + q[2] * q[2] - 1) / 2 end

-- A mass on a rod: its speed along the circle, its weight.
local function pendulum(p)
  local ds = ns.LagrangianLinearTIDS({ 0.6, 0.8 }, { 0.8 * p[1], -0.6 * p[1] }, { { 2, 0 }, { 0, 2 } })
  ds:setFExtPtr(ns.vector { 0.1, p[2] })
  local simu, nsds = simulate(ds, { circle })
  return simu, { { ds, "velocity0" }, { ds, "fExt", 2 } }, nsds, ds
end

-- The same with masses that depend on the place, damping, and z.
local function heavy(p)
  local ds = ns.LagrangianDS({ 0.6, 0.8 }, { 0.8 * p[1], -0.6 * p[1] })
  ds:setComputeMassFunction(function(q, z, M) M[1][1], M[2][2] = 1 + q[2] ^ 2, 2 + z[1] * q[1] ^ 2 end)
  ds:setzPtr(ns.vector { p[2] })
  ds:setComputeFIntFunction(function(_, q, v, z, f) f[1], f[2] = 0.3 * v[1] + z[1] * q[1], 9.81 + 0.1 * v[2] end)
  return (simulate(ds, { circle })), { { ds, "velocity0" }, "z" }
end

describe("derivatives of steps with a projection", function()
  for name, case in pairs { ["a linear system"] = { pendulum, { 0.5, -9.81 } }, ["masses"] = { heavy, { 0.5, 1.3 } } } do
    it("are those of the run: " .. name, function()
      local build, p = table.unpack(case)
      local plain = build(p):run()
      local simu, parameters = build(p)
      local sol = simu:run { sensitivities = parameters }
      local S, last = sol.S[#sol], #sol
      for i = 1, 4 do assert.equal(plain.x[last][i], sol.x[last][i]) end
      local along = { { 0.8, -0.6, 0 }, { 0, 0, 1 } } -- d parameters / dp
      for j = 1, 2 do
        local x, h = {}, 1e-3
        for _, k in ipairs { -2, -1, 1, 2 } do
          local q = { p[1], p[2] }
          q[j] = q[j] + k * h
          x[k] = build(q):run().x[last]
        end
        for i = 1, 4 do
          local difference = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h)
          local own = 0
          for k = 1, 3 do own = own + S[i][k] * along[j][k] end
          assert.near(difference, own, 2e-8 * math.max(1, math.abs(own)))
        end
      end
    end)
  end

  it("stay on the constraint", function()
    local simu, parameters = pendulum { 0.5, -9.81 }
    local sol = simu:run { sensitivities = parameters }
    for k = 2, #sol do
      local q, S = sol.x[k], sol.S[k]
      for j = 1, 3 do assert.near(0, q[1] * S[1][j] + q[2] * S[2][j], 1e-9) end
    end
  end)

  it("change with the units by powers of two", function()
    local function S_of(unit)
      local ds = ns.LagrangianLinearTIDS({ 0.6 * unit, 0.8 * unit }, { 0.4 * unit, -0.3 * unit }, ns.eye(2))
      ds:setFExtPtr(ns.vector { 0, -9.81 * unit })
      local sol = simulate(ds, { function(q, _, y) y[1] = q[1] * q[1] + q[2] * q[2] - unit * unit end })
        :run { sensitivities = { "x0" } }
      return sol.S[#sol]
    end
    local one, other = S_of(1), S_of(2 ^ 20)
    for i = 1, 4 do
      for j = 1, 4 do assert.equal(one[i][j], other[i][j]) end
    end
  end)

  it("tell constraints that are not independent", function()
    local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
    ds:setFExtPtr(ns.vector { 0, -1 })
    expect.fails("are not unique in the step to t=0.02: the step has no derivative",
      function() simulate(ds, { circle, circle }):run { sensitivities = { "x0" } } end)
  end)

  it("tell a contact that takes part", function()
    local simu, _, nsds, ds = pendulum { 0.5, -9.81 }
    local floor = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[2] + 0.9 end }
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), floor, "floor"), ds)
    expect.fails("sensitivities: 'floor' ", simu.run, simu, { sensitivities = { { ds, "velocity0" } } })
    -- a bead that begins below the floor, which the projection lifts
    local bead = ns.LagrangianLinearTIDS({ -0.1 }, { 1 }, { { 1 } })
    local graph = ns.NonSmoothDynamicalSystem(0, 1)
    graph:insertDynamicalSystem(bead)
    graph:link(ns.Interaction(ns.NewtonImpactNSL(0),
      ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] end }, "floor"), bead)
    simu = direct(graph, ns.TimeDiscretisation(0, 0.02), ns.MoreauJeanOSI(0.5))
    expect.fails("sensitivities: 'floor' takes part in the projection of the step to t=0.02: a contact is shifted to one side "
      .. "only, which has no derivative; use EventDriven with a RungeKuttaOSI", simu.run, simu, { sensitivities = { "x0" } })
  end)

  it("are refused with the combined projection", function()
    local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
    local simu = simulate(ds, { circle }, 1, ns.TimeSteppingCombinedProjection)
    expect.fails("run: sensitivities: TimeSteppingCombinedProjection: the combined projection has no derivative; use "
      .. "EventDriven with a RungeKuttaOSI", simu.run, simu, { sensitivities = { "x0" } })
  end)
end)
