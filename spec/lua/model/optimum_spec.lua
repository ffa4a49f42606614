-- The least value of an expression of a model: smooth programs, and programs with complementarity conditions.
local expect = require "expect"
local ns = require "nslua"
local message, near = expect.message, expect.near

local here = package.searchpath("nslua.ipopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.ipopt is not built: make optimisers)") end

describe("model:minimize", function()
  test("solves problem 71 of Hock and Schittkowski", function()
    local model = ns.numerics.model()
    local x = model:variables(4, { lower = 1, upper = 5, start = { 1, 5, 5, 1 } })
    model:constraint(x[1] * x[2] * x[3] * x[4], { lower = 25 })
    model:equation(x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 + x[4] ^ 2 - 40)
    local best = model:minimize(x[1] * x[4] * (x[1] + x[2] + x[3]) + x[3] + 1)
    assert.is_true(best.success)
    assert.near(18.0140173, best.fun, 1e-6)
    near({ 1, 4.74299963, 3.82114998, 1.37940829 }, model:value(x), 1e-6)
    assert.near(0.55229366, best.slopes.constraints[1], 1e-6)
    assert.near(-0.16146857, best.slopes.equations[1], 1e-6)
    assert.near(5 * 4.74299963, model:value(5 * x[2]), 1e-5)
  end)

  test("solves a bilevel problem by its conditions (Bard 1988)", function()
    local model = ns.numerics.model()
    local x, y = model:variable { lower = 0 }, model:variable { lower = 0 }
    local l = model:variables(3, { lower = 0, name = "l" })
    model:equation(2 * (y - 1) - 1.5 * x + l[1] - 0.5 * l[2] + l[3])
    model:complements(3 * x - y - 3, l[1])
    model:complements(-x + 0.5 * y + 4, l[2])
    model:complements(-x - y + 7, l[3])
    local best = model:minimize((x - 5) ^ 2 + (2 * y + 1) ^ 2)
    assert.is_true(best.success)
    assert.near(17, best.fun, 1e-7)
    near({ 1, 0 }, best.x(1, 2), 1e-7)
    assert.equal(0, best.complementarity)
    assert.near(3.5, model:value(l[1]), 1e-7)
    assert.near(0, model:slack(l[1]), 1e-9)
  end)

  test("takes conditions between two bounds, parameters, and functions", function()
    -- u = -1 where x > 0, 1 where x < 0, and x = a + u: least (x - 2)^2
    local sin = math.sin
    for _, case in ipairs { { 0.5, 0, 4, -0.5 }, { 4, 3, 1, -1 } } do
      local model = ns.numerics.model()
      local a = model:parameter(case[1])
      local u, x, s = model:variable { lower = -1, upper = 1, name = "u" }, model:variable {}, model:variable {}
      model:complements(x, u)
      model:equation(x - u - a)
      model:equation(s - model:apply(function(v) return sin(v) + v ^ 2 end, x))
      local best = model:minimize((x - 2) ^ 2 + s - s)
      assert.is_true(best.success)
      assert.near(case[2], model:value(x), 1e-7)
      assert.near(case[3], best.fun, 1e-6)
      assert.near(case[4], model:value(u), 1e-7)
      assert.near(math.sin(case[2]) + case[2] ^ 2, model:value(s), 1e-6)
      a:set(0.25)
      assert.is_true(model:minimize((x - 2) ^ 2).success)
      assert.near(0.25, model:value(x - u), 1e-8)
    end
  end)

  test("tells when there is no solution, and keeps no values then", function()
    local model = ns.numerics.model()
    local x = model:variable { lower = 0, name = "x" }
    model:constraint(x ^ 2, { upper = -1 })
    local best = model:minimize(x)
    assert.is_false(best.success)
    assert.equal("infeasible", best.status)
    assert.matches("value: the last solve failed: infeasible", message(model.value, model, x), 1, true)
  end)

  it("says what is wrong", function()
    local model = ns.numerics.model()
    assert.matches("minimize: the model has no variables", message(model.minimize, model, 1), 1, true)
    local x = model:variable {}
    assert.matches("minimize: expected an expression, got nil", message(model.minimize, model), 1, true)
    assert.matches("minimize: unknown option 'method' (known: tolerance, max_iterations)",
      message(model.minimize, model, x, { method = 1 }), 1, true)
    assert.matches("constraint: expected a lower or an upper bound", message(model.constraint, model, x), 1, true)
    assert.matches("constraint: the expression: the lower bound 2 is above the upper bound 1",
      message(model.constraint, model, x, { lower = 2, upper = 1 }), 1, true)
    assert.matches("constraint: expected an expression, got nil", message(model.constraint, model, nil, { lower = 2 }), 1, true)
  end)
end)
