local expect = require "expect"
local ns = require "nslua"

-- Three models with steps of the grid of 0.5: p are their initial states and z.
local models = {}

function models.linear(p, options)
  local ds = ns.FirstOrderLinearTIDS({ p[1], p[2] }, { { -1, 0.5 }, { 0.3, -3 } }, { 0.2, p[3] })
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(0.5), nil, options), { "x0", { ds, "b", 2 } }
end

function models.callbacks(p, options)
  local ds = ns.FirstOrderNonLinearDS({ p[1], p[2] }, function(_, x, z, f)
    f[1], f[2] = x[2], z[1] * (1 - x[1] ^ 2) * x[2] - x[1]
  end)
  ds:setzPtr(ns.vector { p[3] })
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(0.5), nil, options), { "x0", "z" }
end

function models.pendulum(p, options)
  local ds = ns.LagrangianDS({ p[1] }, { p[2] }, { { 1 } })
  ds:setzPtr(ns.vector { p[3] })
  ds:setComputeFIntFunction(function(_, q, v, z, f) f[1] = z[1] * math.sin(q[1]) + 0.1 * v[1] end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5), nil, options), { "x0", "z" }
end

local P = { 1, 0.5, 1.2 }

-- S of a run is that of differences of runs with the same inner steps.
local function agrees(build, options)
  local plain, simu, parameters = build(P, options):run(), build(P, options)
  local sol = simu:run { sensitivities = parameters }
  local S, last = sol.S[#sol], #sol
  for i = 1, 2 do assert.equal(plain.x[last][i], sol.x[last][i]) end
  for j = 1, 3 do
    local x, h = {}, 1e-4
    for _, k in ipairs { -2, -1, 1, 2 } do
      local p = { table.unpack(P) }
      p[j] = p[j] + k * h
      local run = build(p, options):run()
      assert.equal(plain.stats.accepted, run.stats.accepted)
      x[k] = run.x[last]
    end
    for i = 1, 2 do
      local difference = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h)
      assert.near(difference, S[i][j], 1e-9 * math.max(1, math.abs(difference)))
    end
  end
  return sol, simu
end

describe("derivatives of steps in parts", function()
  for name, build in pairs(models) do
    it("are those of adaptive steps with their lengths: " .. name, function()
      local sol = agrees(build, { rtol = 1e-4 })
      assert.is_true(sol.stats.accepted > 20)
      assert.is_true(sol.stats.rejected > 0)
    end)

    it("go back through adaptive steps: " .. name, function()
      local function terminal(x) return x[1] + x[2] ^ 2 end
      local simu, parameters = build(P, { rtol = 1e-4 })
      local _, back = simu:gradient { terminal = terminal, parameters = parameters }
      simu, parameters = build(P, { rtol = 1e-4 })
      local _, forward = simu:gradient { terminal = terminal, parameters = parameters, method = "forward" }
      simu, parameters = build(P, { rtol = 1e-4 })
      local _, again = simu:gradient { terminal = terminal, parameters = parameters, memory = 1 }
      for j = 1, 3 do
        assert.near(forward[j], back[j], 1e-10)
        assert.equal(back[j], again[j])
      end
    end)
  end

  it("are those of the parts into which a failure divides a step", function()
    -- Newton's method needs more than three iterations for a step of 0.5
    local _, simulation = agrees(function(p)
      local simu, parameters = models.callbacks(p)
      simu:setNewtonMaxIteration(3)
      simu:setMaxSubsteps(64)
      return simu, parameters
    end)
    assert.is_true(simulation:stats().substeps > 0)
  end)

  it("tell a switch in an inner step", function()
    local ds = ns.FirstOrderLinearTIDS({ -1 }, { { 0 } }, { 2 }) -- x' = 2 - sign x
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "switch"), ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25), ns.EulerMoreauOSI(1), nil, { rtol = 1e-3 })
    expect.fails("sensitivities: 'switch' ", simu.run, simu, { sensitivities = { "x0" } })
    assert.near(-0.25, ds:x()[1], 1e-12)
  end)
end)
