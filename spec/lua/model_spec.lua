local columns = require "columns"
local ns = require "nslua"

local Model = ns.numerics.model

-- |z - proj(z - w)| of one component.
local function natural(z, w, lower, upper)
  return math.abs(z - math.max(lower, math.min(upper, z - w)))
end

describe("ns.numerics.model", function()
  describe("the programs of the document, line by line", function()
    -- A line of JuMP and PATH is quoted above each of ours.

    it("the spiral", function()
      for _, case in ipairs { { 2e-1, "spiral_be_h0.2.csv" }, { 1e-2, "spiral_be_h0.01.csv" } } do
        -- M = [-1 2; -2 -1]
        local M = ns.matrix { { -1, 2 }, { -2, -1 } }
        -- h = 2e-1, tfinal = 2.0, N = tfinal/h
        local h, tfinal = case[1], 2.0
        local N = math.floor(tfinal / h + 0.5)
        -- x = [x0]
        local x = { ns.vector { -1.0, 1.0 } }
        -- for i = 1:N
        for _ = 1, N do
          -- model = Model(PATHSolver.Optimizer)
          local model = ns.numerics.model()
          -- @variable(model, -1 <= u[1:2] <= 1)
          local u = model:variables(2, { lower = -1, upper = 1 })
          -- @constraint(model, -h*M * u - x[end] _|_ u)
          model:complements(-h * M * u - x[#x], u)
          -- optimize!(model)
          model:solve()
          -- push!(x, x[end]+h*M*value.(u))
          x[#x + 1] = x[#x] + h * M * model:value(u)
        end
        local ref = columns.read("spec/reference/" .. case[2])
        for i = 1, ref.n do
          assert.near(ref.x1[i], x[ref.k[i] + 1][1], 1e-13)
          assert.near(ref.x2[i], x[ref.k[i] + 1][2], 1e-13)
        end
      end
    end)

    it("the hard stop", function()
      -- A = [-(k1+k2)/m1 k2/m1; k2/m2 -k2/m2]; B = [1/m1 -1/m1; 0 1/m2]
      local A, B = ns.matrix { { -2, 1 }, { 1, -1 } }, ns.matrix { { 1, -1 }, { 0, 1 } }
      local h = 1e-1
      -- x = [x0]; v = [v0]
      local x, v = { ns.vector { 1.0, 3.5 } }, { ns.vector { 0, 0 } }
      for _ = 1, 100 do
        local model = ns.numerics.model()
        -- @variable(model, u[1:2] >= 0)
        local u = model:variables(2, { lower = 0 })
        -- @constraint(model, [1 0; -1 1]*(h^2*B*u + x[end] + h*v[end] + h^2*A*x[end]) _|_ u)
        local C = ns.matrix { { 1, 0 }, { -1, 1 } }
        model:complements(C * (h ^ 2 * B * u + x[#x] + h * v[#v] + h ^ 2 * A * x[#x]), u)
        model:solve()
        -- push!(x, h^2*B*value.(u) + (x[end] + h*v[end] + h^2*A*x[end]))
        x[#x + 1] = h ^ 2 * B * model:value(u) + (x[#x] + h * v[#v] + h ^ 2 * A * x[#x])
        -- push!(v, v[end] + h*A*x[end] + h*B*value.(u))
        v[#v + 1] = v[#v] + h * A * x[#x] + h * B * model:value(u)
      end
      local ref = columns.read "spec/reference/hardstop_code_h0.1.csv"
      for i = 1, ref.n do
        local k = ref.k[i] + 1
        assert.near(ref.x1[i], x[k][1], 1e-12)
        assert.near(ref.x2[i], x[k][2], 1e-12)
        assert.near(ref.v1[i], v[k][1], 1e-12)
        assert.near(ref.v2[i], v[k][2], 1e-12)
      end
    end)

    it("Coulomb friction", function()
      local m, g, mu, h = 100.0, 9.81, 10.0, 2e-1
      local x, v = { 0.0 }, { 100.0 }
      for _ = 1, 25 do
        local model = ns.numerics.model()
        -- @variable(model, vabs >= 0); @variable(model, F+ >= 0); @variable(model, F- >= 0)
        local vabs = model:variable { lower = 0 }
        local Fp = model:variable { lower = 0 }
        local Fm = model:variable { lower = 0 }
        -- @constraint(model, (v[end] + h/m*(F+ - F-) + vabs) _|_ F+)
        model:complements(v[#v] + h / m * (Fp - Fm) + vabs, Fp)
        -- @constraint(model, (-(v[end] + h/m*(F+ - F-)) + vabs) _|_ F-)
        model:complements(-(v[#v] + h / m * (Fp - Fm)) + vabs, Fm)
        -- @constraint(model, (mu*m*g - (F+ + F-)) _|_ vabs)
        model:complements(mu * m * g - (Fp + Fm), vabs)
        model:solve()
        -- push!(v, v[end] + h/m*(value(F+)-value(F-)))
        v[#v + 1] = v[#v] + h / m * (Fp:value() - Fm:value())
        -- push!(x, x[end] + h*v[end])
        x[#x + 1] = x[#x] + h * v[#v]
      end
      local ref = columns.read "spec/reference/coulomb_h0.2.csv"
      assert.is_true(columns.error(x, ref.x) <= 1e-12)
      assert.is_true(columns.error(v, ref.v) <= 1e-12)
    end)
  end)

  describe("affine models", function()
    it("complements: the sign of e at each bound", function()
      for _, case in ipairs { { 3, -1, 3 }, { -3, 2, -1 }, { -0.5, 0.25, 0 } } do
        local m = Model()
        local x = m:variable { lower = -1, upper = 2 }
        m:complements(2 * x + case[1] + (case[2] == -1 and 2 or 0) - (case[2] == 2 and 2 or 0), x)
        assert.is_true(m:solve().success)
        assert.equal(case[2], x:value())
        assert.equal(case[3], m:slack(x))
      end
    end)

    it("arithmetic gives the coefficients exactly", function()
      local m, call = Model(), nil
      local box = ns.numerics.box
      local x = m:variables(2, { lower = { 0, -1 }, upper = { math.huge, 1 } })
      local y = m:variable()
      local p = m:parameter(3)
      m:complements(0.1 * x[1] - x[2] / 7 + (x[1] - y) * p - 5, x[1])
      m:complements(-(x[2] - 2 * (x[1] + 1)) * 0.3 + x:sum() + ns.vector({ 0.5, 0 }):dot(ns.vector { 2, 1 }), x[2])
      m:equation(x:dot { 0.25, 1e-20 } + y - 1)
      ns.numerics.box = function(options) call = options return box(options) end
      local good, message = pcall(m.solve, m)
      ns.numerics.box = box
      assert.is_true(good, message)
      assert.same({ { 0.1 + 3, -1 / 7, -3 }, { 0.3 * 2 + 1, -0.3 + 1, 0 }, { 0.25, 1e-20, 1 } }, call.M:totable())
      assert.same({ -5, 0.3 * 2 + 1, -1 }, call.q:totable())
      assert.same({ 0, -1, -math.huge }, call.lower:totable())
      assert.same({ math.huge, 1, math.huge }, call.upper:totable())
    end)

    it("values satisfy the law of random models, and slack is the value of the condition", function()
      math.randomseed(5, 2)
      for _ = 1, 30 do
        local n = math.random(1, 6)
        local B, q = ns.zeros(n, n), ns.zeros(n)
        for i = 1, n do
          q[i] = 4 * math.random() - 2
          for j = 1, n do B[i][j] = 2 * math.random() - 1 end
        end
        local A = B:transpose() * B + 0.1 * ns.eye(n)
        local m = Model()
        local x = m:variables(n, { lower = -0.5, upper = 0.5 })
        local e = A * x + q
        m:complements(e, x)
        assert.is_true(m:solve().success)
        local z, w, s = m:value(x), m:value(e), m:slack(x)
        for i = 1, n do
          assert.near(0, natural(z[i], w[i], -0.5, 0.5), 1e-13)
          assert.near(w[i], s[i], 1e-13)
          if math.abs(z[i]) < 0.5 then assert.equal(0, s[i]) end
        end
      end
    end)

    it("equations find their free variables", function()
      local m = Model()
      local x, y = m:variable { name = "x" }, m:variable { name = "y" }
      m:equation { x + y - 3, x - y - 1 }
      assert.is_true(m:solve().success)
      assert.near(2, x:value(), 1e-14)
      assert.near(1, m:value(y), 1e-14)
      assert.near(5, m:value(2 * x + y), 1e-14)
      assert.near(2, m:value(x * y), 1e-14)
      assert.near(2, (x / y):value(), 1e-14)
      assert.equal(7, m:value(7))
      assert.same({ 2, 1 }, m:value({ x, y }):totable())
    end)

    it("parameters and bounds change between solves, and nothing else is made again", function()
      local m = Model()
      local x0 = m:parameter({ -1, 1 }, "x0")
      local a = m:parameter(1, "a")
      local u = m:variables(2, { lower = -1, upper = 1 })
      m:complements(a * u - x0, u)
      m:solve()
      local plan = m.plan
      assert.same({ -1, 1 }, m:value(u):totable())
      x0:set { 0.5, 4 }
      a:set(2)
      m:solve()
      assert.same({ 0.25, 1 }, m:value(u):totable())
      assert.same({ 0.5, 4 }, x0:value():totable())
      u[2]:bounds(-1, 3)
      m:solve()
      assert.same({ 0.25, 2 }, m:value(u):totable())
      assert.same({ -1, 3 }, { u[2]:bounds() })
      assert.equal(plan, m.plan)
    end)

    it("starts where the last solve ended", function()
      local m = Model()
      local q = m:parameter(ns.full(20, -1))
      local x = m:variables(20, { lower = 0 })
      local e = {}
      for i = 1, 20 do e[i] = 2 * x[i] - (x[i - 1] or 0) - (x[i + 1] or 0) + (-1) ^ i * q[i] end
      m:complements(e, x)
      assert.is_true(m:solve().iterations > 0)
      assert.equal(0, m:solve().iterations)
      assert.is_true(m:solve { warm = false }.success)
    end)

    it("large models are sparse", function()
      for _, n in ipairs { 250, 2000 } do
        local m = Model()
        local x = m:variables(n, { lower = 0 })
        local L = ns.spdiags({ ns.full(n, 4), ns.full(n - 1, -1), ns.full(n - 1, -1) }, { 0, 1, -1 }, n)
        local q = ns.linspace(0, 40, n):map(math.sin)
        local e = L * x + q
        m:complements(e, x)
        local r = m:solve()
        assert.is_true(r.success, r.message)
        local z, w = m:value(x), m:value(e)
        for i = 1, n do assert.near(0, natural(z[i], w[i], 0, math.huge), 1e-12) end
      end
    end)

    it("takes a long sum #once", function()
      local m, sum = Model(), 0
      local x = m:variables(50, { lower = 0 })
      for i = 1, 20000 do sum = sum + x[i % 50 + 1] end
      m:complements(x + sum * 1e-2 - 1, x)
      assert.is_true(m:solve().success)
      assert.near(1 / 201, x[7]:value(), 1e-15)
    end)

    it("says failure, and has no values then", function()
      local m = Model()
      local q = m:parameter(1)
      local x = m:variable { lower = 0 }
      m:complements(0 * x + q, x)
      assert.is_true(m:solve().success)
      assert.equal(0, x:value())
      q:set(-1)
      local r = m:solve()
      assert.is_false(r.success)
      assert.has_error(function() x:value() end)
      local _, message = pcall(m.value, m, x)
      assert.is_truthy(message:find("value: the last solve failed: " .. r.status, 1, true), message)
      q:set(2)
      m:solve()
      assert.equal(0, x:value())
    end)
  end)

  describe("nonlinear models", function()
    it("products, quotients, powers and functions", function()
      local m = Model()
      local p = m:parameter(3)
      local x = m:variables(3, { lower = 0, upper = 10, start = 1, name = "x" })
      m:complements(x[1] ^ 2 + x[2] - p, x[1])
      m:complements(x[1] * x[2] + m:apply(math.exp, x[2]) - 2, x[2])
      local root = m:apply(function(a, b) return math.sqrt(a + b * b) end, x[1], x[2])
      m:complements((x[3] + 1) / (x[1] + 1) - root, x[3])
      for _, value in ipairs { 3, 4, -1 } do
        p:set(value)
        local r = m:solve()
        assert.is_true(r.success, r.message)
        local a, b, c = x[1]:value(), x[2]:value(), x[3]:value()
        assert.near(0, natural(a, a ^ 2 + b - value, 0, 10), 1e-9)
        assert.near(0, natural(b, a * b + math.exp(b) - 2, 0, 10), 1e-9)
        assert.near(0, natural(c, (c + 1) / (a + 1) - math.sqrt(a + b * b), 0, 10), 1e-9)
      end
    end)

    it("derivatives are exact, and affine parts stay with them", function()
      local m, call = Model(), nil
      local p = m:parameter(1.5)
      local x = m:variables(4)
      local shared = x[1] * x[2]
      m:equation {
        shared ^ 2 / (x[3] + 2) + 5 * x[4] - p * shared,
        x[2] ^ x[3] + 2 ^ x[1] - (3 * x[1]) ^ 0,
        m:apply(math.atan, x[1], x[4]) * 7 + x:dot(x) + p,
        -m:apply(math.sin, x[3] * p) - x[2] / x[4] + p * x[1],
      }
      local function plain(z)
        local a, b, c, d = z[1], z[2], z[3], z[4]
        return {
          (a * b) ^ 2 / (c + 2) + 5 * d - 1.5 * (a * b), b ^ c + 2 ^ a - 1,
          math.atan(a, d) * 7 + (a * a + b * b + c * c + d * d) + 1.5, -math.sin(c * 1.5) - b / d + 1.5 * a,
        }
      end
      local mcp = ns.numerics.mcp
      ns.numerics.mcp = function(options)
        call = options
        return { success = true, z = options.z0, w = options.z0 }
      end
      local good, message = pcall(m.solve, m)
      ns.numerics.mcp = mcp
      assert.is_true(good, message)
      local z = ns.vector { 0.7, 1.3, -0.4, 2.1 }
      local F, J, expected = call.F(z), call.J(z), plain(z)
      local exact = ns.jacobian(plain, z)
      for i = 1, 4 do
        assert.near(expected[i], F[i], 1e-14)
        for j = 1, 4 do assert.near(exact[i][j], J[i][j], 1e-13) end
      end
    end)

    it("large ones are sparse", function()
      local n, m = 400, Model()
      local x = m:variables(n, { lower = 0 })
      local e = {}
      for i = 1, n do e[i] = 3 * x[i] - (x[i - 1] or 0) - (x[i + 1] or 0) + x[i] ^ 3 + math.sin(i / 9) end
      m:complements(e, x)
      local r = m:solve()
      assert.is_true(r.success, r.message)
      local z, w = m:value(x), m:value(e)
      for i = 1, n do assert.near(0, natural(z[i], w[i], 0, math.huge), 1e-9) end
    end)
  end)

  it("prints", function()
    local m = Model()
    local x = m:variables(2, { lower = 0, name = "u" })
    local p = m:parameter(1, "p")
    m:complements(x, x)
    assert.equal("variable 'u[1]'", tostring(x[1]))
    assert.equal("parameter 'p'", tostring(p))
    assert.equal("expression", tostring(x[1] + 1))
    assert.equal("[variable 'u[1]', variable 'u[2]']", tostring(x))
    assert.equal("model of 2 variables, 2 conditions", tostring(m))
  end)

  describe("mistakes", function()
    local m, other, x, y, u, p, f

    before_each(function()
      m, other = Model(), Model()
      x, y = m:variable { lower = 0, name = "x" }, other:variable { lower = 0, name = "y" }
      u, p, f = m:variables(2, { lower = 0, name = "u" }), m:parameter(1, "p"), m:variable { name = "f" }
    end)

    local function refuses(text, action)
      local good, message = pcall(action)
      assert.is_false(good)
      assert.is_truthy(message:find(text, 1, true), message)
      assert.is_truthy(message:find("model_spec.lua:", 1, true), message)
    end

    it("in expressions", function()
      refuses("+: variable 'x' and variable 'y' belong to two models", function() return x + y end)
      refuses("*: expected a number or an expression beside variable 'x', got string", function() return x * "a" end)
      refuses("+: expected a number or an expression beside variable 'x', got nil", function() return x + nil end)
      refuses("+: array of 2 and vector of 3: sizes do not match", function() return u + ns.ones(3) end)
      refuses("*: 3 x 3 matrix and array of 2: sizes do not match", function() return ns.eye(3) * u end)
      refuses("*: of two arrays: use a:dot(b)", function() return u * u end)
      refuses("*: a matrix stands only on the left of an array: A * x", function() return u * ns.eye(2) end)
      refuses("apply: f: expected a function, got 3", function() m:apply(3, x) end)
      refuses("apply: variable 'y' belongs to another model", function() m:apply(math.exp, y) end)
      refuses("apply: argument 2: expected an expression, got string", function() m:apply(math.exp, x, "a") end)
    end)

    it("in variables and parameters", function()
      refuses("variable: unknown option 'low' (known: lower, upper, start, name)", function()
        m:variable { low = 0 }
      end)
      refuses("variable: x5: the lower bound 2 is above the upper bound 1", function()
        m:variable { lower = 2, upper = 1 }
      end)
      refuses("variable: v: expected numbers as bounds, got string", function()
        m:variable { lower = "a", name = "v" }
      end)
      refuses("variables: expected a number of 1 or more, got 0", function() m:variables(0) end)
      refuses("variables: lower: expected 2 numbers, got 3", function() m:variables(2, { lower = { 1, 2, 3 } }) end)
      refuses("parameter: p: expected a finite number, got nil", function() m:parameter(nil, "p") end)
      refuses("set: p: expected a finite number, got", function() p:set(0 / 0) end)
      refuses("set: expected a parameter, got variable 'x'", function() x:set(1) end)
      refuses("set: expected 2 values, got vector of 3", function() m:parameter({ 1, 2 }):set(ns.ones(3)) end)
      refuses("bounds: x: the lower bound 3 is above the upper bound 2", function() x:bounds(3, 2) end)
    end)

    it("in conditions", function()
      m:complements(x + 1, x)
      refuses("complements: variable 'x' already has a condition: one for each variable", function()
        m:complements(x + 2, x)
      end)
      refuses("complements: variable 'f' has no bounds: give it some, or use equation", function()
        m:complements(x, f)
      end)
      refuses("equation: variable 'u[1]' has bounds: use complements", function() m:equation(x, u[1]) end)
      refuses("complements: variable 'y' belongs to another model", function() m:complements(x, y) end)
      refuses("complements: variable 'y' belongs to another model", function() m:complements(y, u[1]) end)
      refuses("complements: expected a variable as second argument, got parameter 'p'", function()
        m:complements(x, p)
      end)
      refuses("complements: expected a variable as second argument, got nil", function() m:complements(x) end)
      refuses("complements: expected 2 variables, got variable 'x'", function() m:complements(u, x) end)
      refuses("complements: expected an array of 2 expressions, got variable 'x'", function() m:complements(x, u) end)
      refuses("equation: expected an expression, got string", function() m:equation "x" end)
    end)

    it("in solving", function()
      refuses("solve: the model has no variables", function() Model():solve() end)
      refuses("solve: variables with bounds but no complements: 'x', 'u[1]', 'u[2]'", function() m:solve() end)
      m:complements(x, x)
      m:complements(u, u)
      refuses("solve: expected an equation for each free variable without a condition, got 0 for 1: 'f'", function() m:solve() end)
      m:equation(f - 1)
      m:equation(f - 1)
      refuses("solve: expected an equation for each free variable without a condition, got 2 for 1: 'f'", function() m:solve() end)
      refuses("solve: unknown option 'tol' (known: solver, tolerance, max_iterations, warm)", function()
        m:solve { tol = 1 }
      end)
      refuses("value: the model has not been solved", function() x:value() end)
      refuses("slack: the model has not been solved", function() m:slack(x) end)
      refuses("slack: expected a variable, got expression", function() m:slack(x + 1) end)
      refuses("value: variable 'y' belongs to another model", function() m:value(y) end)
      other:complements(y / 0, y)
      refuses("solve: the condition of 'y': its coefficient of 'y' is inf", function() other:solve() end)
      refuses("model: no arguments expected", function() Model {} end)
    end)

    it("of a parameter that makes a coefficient infinite", function()
      other = Model()
      y, p = other:variable { lower = 0, name = "y" }, other:parameter(0)
      other:complements(y + 1 / p, y)
      refuses("solve: the condition of 'y': its constant is inf", function() other:solve() end)
    end)

    it("of a variable made after the solve", function()
      y:bounds(0, 1)
      other:complements(y - 0.5, y)
      other:solve()
      local z = other:variable { lower = 0, name = "z" }
      assert.equal(0.5, y:value())
      refuses("value: variable 'z' was made after the last solve", function() z:value() end)
    end)
  end)
end)
