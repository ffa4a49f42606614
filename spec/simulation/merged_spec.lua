-- The problems of several islands shown as one: its rows, matrix, groups, answer and report.
local ns = require "nslua"

local function graph(T) return ns.NonSmoothDynamicalSystem(0, T or 1) end

-- Two islands whose interactions come in turns: a (2 rows), b (1 row), a again (1 row).
local function alternating(problem)
  local nsds = graph()
  local a = ns.FirstOrderLinearTIDS({ 1, -1 }, { { -1, 2 }, { 0, -3 } })
  local b = ns.FirstOrderLinearTIDS({ 0.5 }, { { -2 } })
  nsds:insertDynamicalSystem(b)
  nsds:insertDynamicalSystem(a)
  local inter = {
    ns.Interaction(ns.RelayNSL(2, -1, 2), ns.FirstOrderLinearTIR({ { 1, 0 }, { 1, 1 } }, { { 1, 0 }, { 0.5, 1 } })),
    ns.Interaction(ns.RelayNSL(1, -3, 3), ns.FirstOrderLinearTIR({ { 2 } }, { { 1 } })),
    ns.Interaction(ns.RelayNSL(1, -0.25, 0.25), ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 1 }, { 1 } })),
  }
  inter[3]:relation():setDPtr { { 0.5 } }
  nsds:link(inter[1], a)
  nsds:link(inter[2], b)
  nsds:link(inter[3], a)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), problem), inter
end

describe("a merged problem", function()
  it("has the rows of all islands in the order of the interactions", function()
    local problem = ns.Relay()
    local simu, inter = alternating(problem)
    assert.is_nil(problem:M())
    assert.is_nil(problem:info())
    for _ in simu:steps() do
      local M, q, lambda, y = problem:M(), problem:q(), problem:lambda(), problem:y()
      assert.equal(4, problem:size())
      local at = 0
      for i, rows in ipairs { 2, 1, 1 } do
        for k = 1, rows do
          at = at + 1
          assert.equal(inter[i]:lambda(0)[k], lambda[at])
          assert.near(inter[i]:y(0)[k], y[at], 1e-14)
        end
      end
      for i = 1, 4 do
        assert.near(y[i], (M * lambda + q)[i], 1e-14)
        if i ~= 3 then
          assert.equal(0, M[i][3])
          assert.equal(0, M[3][i])
        end
      end
      assert.is_true(M[1][4] ~= 0 and M[4][2] ~= 0 and M[3][3] ~= 0)
    end
    local info = problem:info()
    assert.equal("NS_OK", info.status)
    assert.is_true(info.residual <= 1e-12 and info.iterations >= 0)
  end)

  it("answers uniqueness, solutions and dump like any other", function()
    local problem = ns.Relay()
    local simu = alternating(problem)
    simu:computeOneStep()
    assert.is_true(problem:uniqueness().P)
    local isolated = problem:solutions().isolated
    assert.equal(1, #isolated)
    for i = 1, 4 do assert.near(problem:lambda()[i], isolated[1][i], 1e-12) end
    local path = os.tmpname()
    problem:dump(path)
    local again = ns.numerics.replay(path)
    os.remove(path)
    for i = 1, 4 do assert.near(problem:lambda()[i], again.z[i], 1e-12) end
  end)

  it("has the contacts that took part, with their groups", function()
    local nsds, problem = graph(), ns.GenericMechanical()
    local balls, inter = {}, {}
    for i, height in ipairs { 0, 5, 0 } do
      balls[i] = ns.LagrangianLinearTIDS({ 0, height }, { 1, 0 }, ns.eye(2))
      balls[i]:setFExtPtr { 0, -10 }
      nsds:insertDynamicalSystem(balls[i])
      inter[i] = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, i / 10, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } })
      nsds:link(inter[i], balls[i])
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5), problem)
    simu:computeOneStep()
    assert.equal(4, problem:size())
    local lambda = problem:lambda()
    for i, ball in ipairs { 1, 3 } do
      assert.near(1, lambda[2 * i - 1], 1e-13)
      assert.near(-ball / 10, lambda[2 * i], 1e-13)
      assert.equal(inter[ball]:lambda(1)[2], lambda[2 * i])
    end
    local path = os.tmpname()
    problem:dump(path)
    local file = assert(io.open(path))
    local text = file:read "a"
    file:close()
    os.remove(path)
    assert.is_truthy(text:find "dim = 2, mu = 0.1.*dim = 2, mu = 0.3")
    assert.is_nil(text:find "mu = 0.2")
  end)

  it("has no matrix when one island's problem is sparse", function()
    local nsds, problem = graph(), ns.MLCP()
    local n = 120
    local sparse = ns.FirstOrderLinearTIDS(ns.zeros(n), -1 * ns.speye(n))
    local dense = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local C, B = ns.zeros(1, n), ns.zeros(n, 1)
    C[1][2], B[2][1] = 1, 1
    nsds:insertDynamicalSystem(sparse)
    nsds:insertDynamicalSystem(dense)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR(C, B)), sparse)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })), dense)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), problem)
    simu:computeOneStep()
    assert.is_nil(problem:M())
    assert.equal(2, #problem:lambda())
    assert.near(-1, problem:lambda()[2], 0.1)
    local ok, message = pcall(problem.uniqueness, problem)
    assert.is_false(ok)
    assert.is_truthy(message:find("MLCP: uniqueness: the one-step problem is a sparse one, which is too large for this", 1, true))
  end)

  it("tells the failure of the island that failed, and lets the next step succeed", function()
    local nsds, problem = graph(), ns.MLCP()
    local good = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local bad = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    nsds:insertDynamicalSystem(good)
    nsds:insertDynamicalSystem(bad)
    local fine = ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }))
    local relation = ns.FirstOrderLinearTIR({ { 0 } }, { { 1 } })
    local e = ns.vector { -1 }
    relation:setePtr(e)
    nsds:link(fine, good)
    nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation, "broken"), bad)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), problem)
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.is_truthy(tostring(message):find("MLCP: the one-step problem has no accepted solution", 1, true))
    assert.is_truthy(tostring(message):find("'broken'", 1, true))
    assert.equal(1, good:x()[1])
    assert.not_equal("NS_OK", problem:info().status)
    e[1] = 1
    simu:computeOneStep()
    assert.equal("NS_OK", problem:info().status)
    assert.is_true(good:x()[1] < 1)
  end)
end)
