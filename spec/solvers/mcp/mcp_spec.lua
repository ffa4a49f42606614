local ns = require "nslua"
local mcp = ns.numerics.mcp
local economies = require "economies"
local inf = math.huge

-- max |z - proj(z - F)| by Lua alone.
local function residual(f, z, lower, upper)
  local w, worst = f(z), 0
  for i = 1, #z do
    local l = type(lower) == "table" and lower[i] or lower
    local u = type(upper) == "table" and upper[i] or upper
    worst = math.max(worst, math.abs(z[i] - math.min(math.max(z[i] - w[i], l), u)))
    assert.is_true(z[i] >= l and z[i] <= u)
  end
  return worst
end

local function solved(f, result, lower, upper, tolerance)
  assert.is_true(result.success, result.message)
  assert.equal("ok", result.status)
  local r = residual(f, result.z, lower or 0, upper or inf)
  assert.is_true(r <= (tolerance or 1e-9), "residual " .. r)
  assert.is_true(math.abs(r - result.residual) <= 1e-12 * (1 + r))
end

local function kojima_shindo(z)
  local a, b, c, d = z[1], z[2], z[3], z[4]
  return { 3*a^2 + 2*a*b + 2*b^2 + c + 3*d - 6, 2*a^2 + b^2 + a + 10*c + 2*d - 2,
           3*a^2 + a*b + 2*b^2 + 2*c + 9*d - 9, a^2 + 3*b^2 + 2*c + 3*d - 3 }
end

local function josephy(z)
  local a, b, c, d = z[1], z[2], z[3], z[4]
  return { 3*a^2 + 2*a*b + 2*b^2 + c + 3*d - 6, 2*a^2 + b^2 + a + 3*c + 2*d - 2,
           3*a^2 + a*b + 2*b^2 + 2*c + 3*d - 1, a^2 + 3*b^2 + 2*c + 3*d - 3 }
end

describe("mcp", function()
  it("finds both solutions of Kojima and Shindo's problem", function()
    local starts = { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 100, 100, 100, 100 }, { 1, 2, 3, 4 }, { 1, 0, 3, 0 }, { 0.9,
      0.1, 2.5, 0 } }
    local seen = {}
    for _, z0 in ipairs(starts) do
      for _, solver in ipairs { "default", "semismooth" } do
        local r = mcp { F = kojima_shindo, z0 = z0, solver = solver }
        solved(kojima_shindo, r)
        local first = math.abs(r.z[1] - 1) < 1e-6
        seen[first] = true
        local want = first and { 1, 0, 3, 0 } or { math.sqrt(6) / 2, 0, 0, 0.5 }
        for i = 1, 4 do assert.near(want[i], r.z[i], 1e-7) end
      end
    end
    assert.is_true(seen[true] and seen[false])
  end)

  it("solves Josephy's problem from several starts", function()
    for _, z0 in ipairs { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 1.25, 0, 0, 0.5 }, { 10, 0, 10, 0 } } do
      local r = mcp { F = josephy, z0 = z0 }
      solved(josephy, r)
      assert.near(math.sqrt(6) / 2, r.z[1], 1e-9)
    end
  end)

  it("takes no pivot when the active set of the start is right, and converges quadratically", function()
    local r = mcp { F = josephy, z0 = { 1.25, 0, 0, 0.49 } }
    solved(josephy, r)
    assert.equal(0, r.pivots)
    assert.equal("josephy-newton", r.solver)
    assert.is_true(r.iterations <= 4)
  end)

  it("needs one iteration for a linear problem", function()
    local function f(z) return { 2*z[1] + z[2] - 5, z[1] + 2*z[2] - 6 } end
    local r = mcp { F = f, z0 = { 0, 0 }, lower = 0, upper = { inf, 1 } }
    solved(f, r, { 0, 0 }, { inf, 1 }, 1e-14)
    assert.equal(1, r.iterations)
    assert.same({ 2, 1 }, { r.z[1], r.z[2] })
  end)

  it("solves Freudenstein and Roth's equations, whose merit has a local minimum", function()
    local function f(z)
      local x, y = z[1], z[2]
      return { -13 + x + ((5 - y)*y - 2)*y, -29 + x + ((y + 1)*y - 14)*y }
    end
    local r = mcp { F = f, z0 = { 0.5, -2 }, lower = -inf }
    solved(f, r, -inf, inf)
    assert.is_true(r.restarts > 0)
    assert.near(5, r.z[1], 1e-8)
    assert.near(4, r.z[2], 1e-8)
  end)

  it("starts where the Jacobian is singular, or zero", function()
    local function f(z) return { z[1]^2 - 4, z[1]*z[2] - 2 } end
    local r = mcp { F = f, z0 = { 0, 0 }, lower = -inf }
    solved(f, r, -inf, inf)
    local function g(z) return { z[1]^3 - 8 } end
    solved(g, mcp { F = g, z0 = { 0 } })
  end)

  it("finds zeros of second order to what the numbers allow", function()
    local r = mcp { F = function(z) return { z[1]^2 } end, z0 = { 1 }, lower = -inf }
    assert.is_true(r.success)
    assert.near(0, r.z[1], 2e-10)
  end)

  it("does not let a far start loosen the answer", function()
    local function f(z) return { z[1]^3 - 1 } end
    local r = mcp { F = f, z0 = { 1e8 } }
    solved(f, r)
    assert.near(1, r.z[1], 1e-12)
  end)

  it("steps back from where F or its derivative does not exist", function()
    local r = mcp { F = function(z, f) f[1] = math.log(z[1]) end, z0 = { 1e3 } }
    assert.near(1, r.z[1], 1e-12)
    r = mcp { F = function(z, f) f[1] = math.sqrt(z[1]) - 1 end, z0 = { 4 } }
    assert.is_true(r.success)
    assert.near(1, r.z[1], 1e-12)
    r = mcp { F = function(z, f) f[1] = math.atan(z[1]) end, z0 = { 40 }, lower = -inf }
    assert.near(0, r.z[1], 1e-12)
    -- Newton's first step, accepted by F, ends at 5.2, where there is no derivative
    for _, solver in ipairs { "josephy-newton", "semismooth" } do
      local met = 0
      r = mcp { F = function(z, f) f[1] = z[1] ^ 2 - 4 end, z0 = { 10 }, solver = solver, J = function(z, J)
        local none = z[1] > 5 and z[1] < 5.5
        if none then met = met + 1 end
        J[1][1] = none and 0 / 0 or 2 * z[1]
      end }
      assert.is_true(r.success, r.message)
      assert.near(2, r.z[1], 1e-12)
      assert.is_true(met > 0)
    end
  end)

  it("does not mind the units of equations and unknowns", function()
    local s, t = { 1e-9, 1e9, 1, 1e4 }, { 1e6, 1, 1e-6, 1 }
    local function f(z)
      local x = {}
      for i = 1, 4 do x[i] = z[i] * t[i] end
      local w = josephy(x)
      for i = 1, 4 do w[i] = w[i] * s[i] end
      return w
    end
    local r = mcp { F = f, z0 = { 1e-6, 1, 1e6, 1 } }
    assert.is_true(r.success)
    local x = {}
    for i = 1, 4 do x[i] = r.z[i] * t[i] end
    assert.is_true(residual(josephy, x, 0, inf) < 1e-9)
  end)

  it("reports honestly what has no solution", function()
    local r = mcp { F = function(z) return { z[1]^2 + 1 } end, z0 = { 1 }, lower = -inf }
    assert.is_false(r.success)
    assert.equal("no solution", r.status)
    assert.equal("no solution was found: every attempt stopped at a point that is not a solution", r.message)
    assert.near(1, r.residual, 1e-6)
    r = mcp { F = function(z) return { z[2] - 1, -z[1] - z[2] - 1 } end, z0 = { 0, 0 } }
    assert.is_false(r.success)
    r = mcp { F = function() return { 1 } end, z0 = { 3 }, lower = -inf }
    assert.is_false(r.success)
    assert.equal("singular", r.status)
    r = mcp { F = function(z) return { math.exp(-z[1]) } end, z0 = { 0 }, lower = -inf, max_iterations = 5 }
    assert.is_false(r.success)
    assert.equal("iteration limit", r.status)
    assert.equal(5, r.iterations)
  end)

  it("solves random monotone problems", function()
    math.randomseed(11)
    for trial = 1, 40 do
      local n = 1 + trial % 9
      local A, q, l, u = {}, {}, {}, {}
      for i = 1, n do
        A[i] = {}
        for j = 1, n do A[i][j] = math.random() - 0.5 end
        q[i] = 4 * (math.random() - 0.5)
        l[i] = math.random() < 0.3 and -inf or -math.random()
        u[i] = math.random() < 0.5 and inf or math.random()
      end
      local function f(z)
        local y, w = {}, {}
        for i = 1, n do
          y[i] = 0
          for j = 1, n do y[i] = y[i] + A[i][j] * z[j] end
        end
        for i = 1, n do
          w[i] = q[i] + z[i] + math.exp(z[i] / 2) + math.atan(z[i])
          for j = 1, n do w[i] = w[i] + A[j][i] * y[j] end
        end
        return w
      end
      local z0 = {}
      for i = 1, n do z0[i] = 3 * (math.random() - 0.5) end
      solved(f, mcp { F = f, lower = l, upper = u, z0 = z0 }, l, u)
    end
  end)

  -- Economies as in Scarf, The computation of economic equilibria, 1973: consumers with a constant elasticity of substitution who
  -- own some of every good and wish for each; activities that lose value at some prices: nothing comes of nothing. So prices exist.
  it("finds the prices and activities of random economies with production", function()
    local function random_row(n, number)
      local row = {}
      for i = 1, n do row[i] = number() end
      return row
    end
    local function worth(row, prices)
      local sum = 0
      for i = 1, #row do sum = sum + row[i] * prices[i] end
      return sum
    end
    math.randomseed(197)
    for k = 1, require "campaign"(30, 0.1) do
      local goods, owned, wished, elasticity, activity = 3 + k % 8, {}, {}, {}, {}
      for c = 1, 2 + k % 4 do
        owned[c] = random_row(goods, function() return math.random() < 0.5 and 10 * math.random() or 0.1 end)
        wished[c] = random_row(goods, function() return math.random() < 0.8 and math.random() or 0.01 end)
        elasticity[c] = 0.5 + 2 * math.random()
      end
      local prices = random_row(goods, function() return 0.2 + math.random() end)
      for j = 1, 2 + k % 6 do
        local made = math.random(goods)
        local row = random_row(goods, function() return math.random() < 0.5 and -2 * math.random() or 0 end)
        row[made] = 1 + 2 * math.random()
        local input = made % goods + 1
        row[input] = row[input] - math.max(0, worth(row, prices) + 0.05 + 0.3 * math.random()) / prices[input]
        activity[j] = row
      end
      local p = economies.general { owned = owned, wished = wished, elasticity = elasticity, activity = activity }
      for j = 1, #activity do p.z0[goods + j] = 0 end
      solved(p.F, mcp(p), p.lower, p.upper)
    end
  end)

  -- From the start of the model, and from points up to ten times as large or small.
  local function from_many_starts(p, count, check, exponent)
    for k = 0, count do
      local z0, unit = {}, 10.0 ^ (k > 0 and exponent and math.random(-exponent, exponent) or 0)
      for i = 1, #p.z0 do
        local start = k == 0 and p.z0[i] or (p.z0[i] + 0.1) * 10 ^ (2 * math.random() - 1)
        z0[i] = math.max(p.lower[i], math.min(p.upper[i], start))
      end
      local r = mcp { F = function(z)
        local w = p.F(z)
        for i = 1, #w do w[i] = w[i] * unit end
        return w
      end, lower = p.lower, upper = p.upper, z0 = z0 }
      assert.is_true(r.success, r.message)
      assert.is_true(residual(p.F, r.z, p.lower, p.upper) <= 1e-7)
      check(r.z, k)
    end
  end

  local function near(expected, tolerance)
    return function(z)
      for i = 1, #expected do assert.near(expected[i], z[i], tolerance, i) end
    end
  end

  it("finds the published equilibria of Shoven and Whalley, and of Murphy, Sherali and Soyster", function()
    math.randomseed(198)
    from_many_starts(economies.shoven_whalley(), 10, near({ 1.399, 1.093, 1.373, 1, 24.942, 54.378 }, 6e-4), 9)
    from_many_starts(economies.oligopoly({ 10, 8, 6, 4, 2 }, 1 / 5, { 1.2, 1.1, 1, 0.9, 0.8 }, 1.1), 10,
      near({ 36.93, 41.82, 43.71, 42.66, 39.18 }, 6e-3), 9)
    from_many_starts(economies.oligopoly({ 5, 3, 8, 5, 1, 3, 7, 4, 6, 3 }, 10,
      { 1.2, 1, 0.9, 0.6, 1.5, 1, 0.7, 1.1, 0.95, 0.75 }, 1.2), 10,
      near({ 7.4415, 4.0978, 2.5906, 0.9354, 17.949, 4.0978, 1.3047, 5.5901, 3.2222, 1.6771 }, 6e-4), 9)
  end)

  it("finds the equilibria of Scarf's and Hansen's economies from all starts", function()
    math.randomseed(199)
    for _, name in ipairs { "scarf", "hansen" } do
      local first
      from_many_starts(economies[name](), 8, function(z, k)
        if k == 0 then first = z else near(first:totable(), 1e-7)(z) end
      end, 9)
      assert.is_true(first:min() == 0 and first:max() > 1)
    end
  end)

  it("finds solutions of models that have several", function()
    math.randomseed(200)
    from_many_starts(economies.mathiesen(), 10, function(z)
      assert.is_true(z[1] <= 3 + 1e-9 and z[2] + z[3] + z[4] <= 1e-9)
    end)
    local seen, kinds = {}, 0
    from_many_starts(economies.kehoe(), 30, function(z)
      local key = ("%.3f"):format(z[5])
      if not seen[key] then seen[key], kinds = true, kinds + 1 end
    end)
    assert.equal(3, kinds)
    assert.is_true(seen["52.000"] ~= nil)
  end)

  it("leaves attempts along which a price runs away", function()
    math.randomseed(201)
    from_many_starts(economies.unstable(), 60, near({ 1, 1, 1 }, 1e-9), 9)
  end)

  it("finds the prices of an exchange economy", function()
    -- Cobb-Douglas consumers: excess supply is complementary to the price, one price is the unit.
    local share = { { 0.5, 0.3, 0.2, 0 }, { 0.1, 0.1, 0.8, 0 }, { 0.4, 0.3, 0.3, 0 } }
    local owns = { { 1, 0, 2, 1 }, { 0, 3, 0, 1 }, { 2, 1, 1, 1 } }
    local function supply(p)
      local w = { 0, 0, 0, 0 }
      for c = 1, 3 do
        local income = 0
        for g = 1, 4 do income = income + p[g] * owns[c][g] end
        for g = 1, 4 do
          w[g] = w[g] + owns[c][g]
          if share[c][g] > 0 then w[g] = w[g] - share[c][g] * income / p[g] end
        end
      end
      return w
    end
    local lower, upper = { 1, 1e-9, 1e-9, 0 }, { 1, inf, inf, inf }
    local r = mcp { F = supply, z0 = { 1, 1, 1, 1 }, lower = lower, upper = upper }
    solved(supply, r, lower, upper)
    assert.equal(0, r.z[4])                  -- nobody wants it
    assert.is_true(math.abs(r.w[1]) < 1e-9)  -- the market of the unit clears by Walras' law
    assert.is_true(r.z[2] > 0.1 and r.z[3] > 0.1)
  end)
end)

describe("mcp with sparse Jacobians", function()
  local function obstacle(k)
    local n, h = k * k, 1 / (k + 1)
    local I, J, V, low = {}, {}, {}, ns.zeros(n)
    local function add(p, q, v) I[#I + 1], J[#J + 1], V[#V + 1] = p, q, v end
    for j = 1, k do
      for i = 1, k do
        local p = (j - 1) * k + i
        add(p, p, 4)
        if i > 1 then add(p, p - 1, -1) end
        if i < k then add(p, p + 1, -1) end
        if j > 1 then add(p, p - k, -1) end
        if j < k then add(p, p + k, -1) end
        low[p] = 0.4 - 4 * ((i * h - 0.5)^2 + (j * h - 0.5)^2)
      end
    end
    local A = ns.sparse { rows = n, cols = n, i = I, j = J, v = V }
    local function F(z, f)
      local a = A * z
      for i = 1, n do f[i] = a[i] + h * h * (z[i]^3 + 2) end
    end
    local function Jacobian(z)
      local d = {}
      for i = 1, n do d[i] = 3 * h * h * z[i]^2 end
      return A + ns.spdiags({ d }, { 0 }, n)
    end
    return F, Jacobian, low, n
  end

  local function check(k)
    local F, J, low, n = obstacle(k)
    local r = mcp { F = F, J = J, lower = low, z0 = ns.zeros(n) }
    assert.is_true(r.success, r.message)
    assert.equal("semismooth", r.solver)
    local w, touching = ns.zeros(n), 0
    F(r.z, w)
    for i = 1, n do
      assert.is_true(r.z[i] >= low[i])
      assert.is_true(math.abs(math.min(r.z[i] - low[i], w[i])) < 1e-13)
      if r.z[i] == low[i] then touching = touching + 1 end
    end
    assert.is_true(touching > n / 50 and touching < n / 2)
  end

  it("solves a nonlinear obstacle problem of 2,500 variables", function() check(50) end)
  it("solves one of 10,000 variables #once", function() check(100) end)

  it("agrees with the dense method", function()
    local F, J, low, n = obstacle(7)
    local a = mcp { F = F, J = J, lower = low, z0 = ns.zeros(n) }
    local b = mcp { F = F, J = function(z) return J(z):tomatrix() end, lower = low, z0 = ns.zeros(n) }
    assert.equal("josephy-newton", b.solver)
    for i = 1, n do assert.near(a.z[i], b.z[i], 1e-12) end
  end)

  it("follows a pattern that changes", function()
    local function f(z) return { z[1]^2 + z[2] - 3, z[2] - 1 + (z[1] > 1 and 0.5 * (z[1] - 1) or 0) } end
    local function j(z)
      local rows = { { 2 * z[1], 1 }, { z[1] > 1 and 0.5 or 0, 1 } }
      return ns.sparse(rows)
    end
    local r = mcp { F = f, J = j, z0 = { 0.5, 0 }, lower = -inf }
    solved(f, r, -inf, inf)
    assert.equal("semismooth", r.solver)
  end)
end)

-- The three programs of the seed on time stepping.
describe("the seed's programs", function()
  it("spiral: reaches zero exactly at step 4 with h = 0.2", function()
    local h, x = 0.2, { -1, 1 }
    for k = 1, 6 do
      local function f(u)
        return { -(x[1] + h * (-u[1] + 2 * u[2])), -(x[2] + h * (-2 * u[1] - u[2])) }
      end
      local r = mcp { F = f, lower = -1, upper = 1, z0 = { 0, 0 } }
      solved(f, r, -1, 1)
      local u = r.z
      x = { x[1] + h * (-u[1] + 2 * u[2]), x[2] + h * (-2 * u[1] - u[2]) }
      if k >= 4 then assert.is_true(math.abs(x[1]) + math.abs(x[2]) < 1e-15) end
      if k < 4 then assert.is_true(math.abs(x[1]) + math.abs(x[2]) > 0.1) end
    end
  end)

  it("hard stop: gaps and contact forces are complementary at every step", function()
    local h, x, v = 0.1, { 1, 3.5 }, { 0, 0 }
    local hits = 0
    for _ = 1, 100 do
      local a = { -2 * x[1] + x[2], x[1] - x[2] }
      local free = { x[1] + h * v[1] + h * h * a[1], x[2] + h * v[2] + h * h * a[2] }
      local function f(u)
        local x1, x2 = free[1] + h * h * (u[1] - u[2]), free[2] + h * h * u[2]
        return { x1, x2 - x1 }
      end
      local r = mcp { F = f, z0 = { 0, 0 } }
      solved(f, r, 0, inf, 1e-12)
      local u = r.z
      if u[1] > 0 or u[2] > 0 then hits = hits + 1 end
      x = { free[1] + h * h * (u[1] - u[2]), free[2] + h * h * u[2] }
      v = { v[1] + h * (a[1] + u[1] - u[2]), v[2] + h * (a[2] + u[2]) }
      assert.is_true(x[1] >= -1e-14 and x[2] - x[1] >= -1e-14)
    end
    assert.is_true(hits > 3)
  end)

  it("Coulomb friction: the body stops and stays", function()
    local m, g, mu, h, x, v = 100, 9.81, 10, 0.2, 0, 100
    for k = 1, 25 do
      local function f(z)
        local vn = v + h / m * (z[1] - z[2])
        return { vn + z[3], -vn + z[3], mu * m * g - z[1] - z[2] }
      end
      local r = mcp { F = f, z0 = { 0, 0, 0 } }
      assert.is_true(r.success, k .. ": " .. r.message)
      local before = v
      v = v + h / m * (r.z[1] - r.z[2])
      x = x + h * v
      local expected = math.max(before - h * g * mu, 0)
      assert.near(expected, v, 1e-11)
    end
    assert.is_true(x > 0)
  end)
end)
