-- Equilibria and linear models of graphs with systems of first order and mechanics.
local expect = require "expect"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, raises = expect.near_number, expect.fails

-- A graph of the systems with the given numbers: 1: two masses, one of which rests on a floor; 2: a tank; 3: a relay that
-- slides on its surface; 4: a body on a spring.
local function graph(...)
  local block = ns.LagrangianLinearTIDS({ 0.3, 0.1 }, { 0, 0 }, ns.eye(2), { { 2, 0 }, { 0, 3 } }, { { 0.4, 0 }, { 0, 0.5 } })
  block:setFExt { -2, 1.5 }
  local tank = ns.FirstOrderLinearTIDS({ 0.5 }, { { -2 } }, { 3 })
  local pair = ns.FirstOrderLinearTIDS({ 0.2, 0.1 }, { { -1, 2 }, { 0, -3 } }, { 0, 0.5 })
  local body = ns.NewtonEulerDS({ 0, 0, 0.1, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 2, ns.eye(3))
  body:setComputeFIntFunction(function(_, q, v, _, f)
    for i = 1, 3 do f[i] = 8 * q[i] + 0.4 * v[i] end
  end)
  body:setComputeMIntFunction(function(_, q, v, _, m)
    for i = 1, 3 do m[i] = 6 * q[i + 4] + 0.3 * v[i + 3] end
  end)
  local all, nsds = { block, tank, pair, body }, ns.NonSmoothDynamicalSystem(0, 1)
  for _, k in ipairs { ... } do
    nsds:insertDynamicalSystem(all[k])
    if k == 1 then
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1, 0 } }, "floor"), block)
    elseif k == 3 then
      local relation = ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 } })
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation, "relay"), pair)
    end
  end
  return nsds, all
end

describe("a graph with systems of first order and mechanics", function()
  it("has the equilibria of both families", function()
    local e = dynamics.equilibrium { nsds = graph(1, 2, 3) }
    expect.near({ 0, 0.5, 0, 0, 1.5, 0, 0 }, e.x, 1e-14)
    expect.near({ 0, 0.5 }, e.q, 1e-14)
    expect.near({ 2, -0.5 }, e.lambda, 1e-14)
    assert.same({ "active", "active" }, e.mode)
    assert.same({ "floor", "relay" }, { e.modes[1].interaction, e.modes[2].interaction })
    assert.is_true(e.isolated and e.residual < 1e-15)
    assert.equal("equilibrium at [0, 0.5, 0, 0, 1.5, 0, 0], active active", tostring(e))
    -- The rows come in the order of the graph, whichever family is first.
    local other = dynamics.equilibrium { nsds = graph(3, 2, 1) }
    expect.near({ -0.5, 2 }, other.lambda, 1e-14)
    expect.near({ 0, 0, 1.5, 0, 0.5, 0, 0 }, other.x, 1e-14)
  end)

  it("takes guesses of all states, or of coordinates in the place of those of mechanics", function()
    local nsds = graph(1, 2, 3)
    local list = dynamics.equilibrium { nsds = nsds, all = true,
      guess = { { 0.3, 0.1, 0.5, 0.2, 0.1 }, { 0.3, 0.1, 0, 0, 0.5, 0.2, 0.1 } } }
    assert.equal(1, #list)
    raises("dynamics.equilibrium: guess: expected a vector of 7 states, or of 5 with the coordinates of mechanics alone, "
      .. "got one of 2", dynamics.equilibrium, { nsds = nsds, guess = { 1, 2 } })
    raises("guess: expected a state at rest, got the velocity 1", dynamics.equilibrium,
      { nsds = nsds, guess = { 0.3, 0.1, 1, 0, 0.5, 0.2, 0.1 } })
  end)

  it("has the linear models of both families, in the order of the graph", function()
    for _, mode in ipairs { { "active", "active" }, { "lower", "active" }, { "active", "upper" } } do
      local nsds, all = graph(1, 2, 3, 4)
      local e = dynamics.equilibrium { nsds = nsds }
      local inputs = { { all[2], "b", 1 }, { all[1], "fExt", 2 } }
      local l = dynamics.linearise { nsds = nsds, at = e, inputs = inputs, mode = mode,
        outputs = function(_, x, lambda) return { x[5] + 2 * x[2], lambda[1], lambda[2], x[11], x[12] } end }
      assert.same({ 19, 19, 19, 2, 5, 19 }, { l.A:rows(), l.A:cols(), l.B:rows(), l.B:cols(), l.C:rows(), l.C:cols() })
      local constrained, values, at = 0, 0, 0
      for _, numbers in ipairs { { 1 }, { 2 }, { 3 }, { 4 } } do
        local one, own = graph(numbers[1])
        local given = numbers[1] == 1 and { mode[1] } or numbers[1] == 3 and { mode[2] } or nil
        local part = dynamics.linearise { nsds = one, at = dynamics.equilibrium { nsds = one }, mode = given,
          inputs = { { own[2], "b", 1 }, { own[1], "fExt", 2 } } }
        local n = part.A:rows()
        for i = 1, 19 do
          for j = at + 1, at + n do
            near(i > at and i <= at + n and part.A[i - at][j - at] or 0, l.A[i][j], 1e-12)
          end
        end
        for i = 1, n do
          for k = 1, 2 do near(part.B[i][k], l.B[at + i][k], 1e-12) end
        end
        constrained, values, at = constrained + part.constrained, values + #part.eigenvalues, at + n
      end
      assert.same({ constrained, values }, { l.constrained, #l.eigenvalues })
      near(2, l.C[1][2], 1e-12)
      near(1, l.C[1][5], 1e-12)
      near(mode[1] == "active" and 2 or 0, l.C[2][1], 1e-10)
      near(mode[2] == "active" and 3 or 0, l.C[3][7], 1e-10)
      near(0, l.C[4][11], 1e-12) -- the real part of the quaternion
      near(0.5, l.C[5][11], 1e-12) -- half of the angle
    end
  end)

  it("is linearised at a point that is no equilibrium of first order", function()
    local nsds = graph(2, 4)
    local l = dynamics.linearise { nsds = nsds, at = { x = { 0.7, 0, 0, 0, 1, 0, 0, 0 } } }
    near(-2, l.A[1][1], 1e-14)
    near(-4, l.A[8][2], 1e-10)
    assert.equal("stable", l.stability)
  end)

  it("tells a singular M", function()
    local nsds = graph(1)
    local circuit = ns.FirstOrderLinearTIDS({ 0, 0 }, { { -1, 1 }, { 1, -2 } }, { 1, 0 })
    circuit:setM { { 1, 0 }, { 0, 0 } }
    nsds:insertDynamicalSystem(circuit)
    local e = dynamics.equilibrium { nsds = nsds }
    near(2, e.x[5], 1e-14)
    raises("dynamics.linearise: M is singular, which is not supported in a model of first order and mechanics",
      dynamics.linearise, { nsds = nsds, at = e })
  end)
end)
