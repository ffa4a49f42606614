local ns = require "nslua"
local host = require "host"
local problems = dofile "spec/random_problems.lua"
local inf = math.huge

local function sparse(M)
  local I, J, V = {}, {}, {}
  for i = 1, #M do
    for j = 1, #M do
      if M[i][j] ~= 0 then I[#I + 1], J[#J + 1], V[#V + 1] = i, j, M[i][j] end
    end
  end
  return ns.sparse { rows = #M, cols = #M, i = I, j = J, v = V }
end

-- The obstacle problem of a string of n points; a right side of changing sign.
local function chain(n)
  local I, J, V, q = {}, {}, {}, {}
  local function put(i, j, v) I[#I + 1], J[#J + 1], V[#V + 1] = i, j, v end
  for i = 1, n do
    put(i, i, 2.01)
    if i > 1 then put(i, i - 1, -1) end
    if i < n then put(i, i + 1, -1) end
    q[i] = math.sin(370 * i / n) - 0.1
  end
  return ns.sparse { rows = n, cols = n, i = I, j = J, v = V }, q
end

-- The natural residual of the chain by loops.
local function residual(q, z, lower, upper)
  local worst = 0
  for i = 1, #q do
    local w = 2.01 * z[i] + q[i] - (i > 1 and z[i - 1] or 0) - (i < #q and z[i + 1] or 0)
    worst = math.max(worst, math.abs(z[i] - math.max(lower, math.min(upper, z[i] - w))))
  end
  return worst
end

describe("sparse boxes", function()
  for _, solver in ipairs { "default", "newton_min", "newton_fb", "interior", "psor" } do
    it("are solved by " .. solver, function()
      local M, q = chain(300)
      local r = ns.numerics.lcp { M = M, q = q, solver = solver }
      assert.is_true(r.success)
      assert.is_true(residual(q, r.z:totable(), 0, inf) <= 1e-8)
      r = ns.numerics.box { M = M, q = q, lower = -0.3, upper = 0.3, solver = solver }
      assert.is_true(r.success)
      assert.is_true(residual(q, r.z:totable(), -0.3, 0.3) <= 1e-8)
    end)
  end

  it("have no dense matrix behind them", function()
    local M, q = chain(20000) -- dense: 3.2 GB
    local r = ns.numerics.lcp { M = M, q = q }
    assert.is_true(r.success)
    assert.is_true(residual(q, r.z:totable(), 0, inf) <= 1e-10)
    local again = ns.numerics.lcp { M = M, q = q, z0 = r.z }
    assert.equal(0, again.iterations)
  end)

  -- A motion at rest: free velocities that are rounding beside forces of size 1, and multipliers between bounds.
  it("have rows whose terms are far smaller than those of others", function()
    math.randomseed(15)
    local function number() return 2 * math.random() - 1 end
    for k = 1, 300 do
      local small = 2.0 ^ -math.random(60, 240)
      local C = { { 1 + math.random(), number() }, { number(), 1 + math.random() } }
      local q = { number(), number(), small * number(), small * number() }
      local M = { { 1, 0, -C[1][1], -C[2][1] }, { 0, 1, -C[1][2], -C[2][2] } }
      M[3], M[4] = { C[1][1], C[1][2], 0, 0 }, { C[2][1], C[2][2], 0, 0 }
      local r = ns.numerics.box { M = sparse(M), q = q, lower = { -inf, -inf, -99, -99 }, upper = { inf, inf, 99, 99 } }
      assert.equal("ok", r.status, k)
      for i = 3, 4 do
        local terms = { q[i], M[i][1] * r.z[1], M[i][2] * r.z[2] }
        local size = math.abs(terms[1]) + math.abs(terms[2]) + math.abs(terms[3])
        assert.is_true(math.abs(terms[1] + terms[2] + terms[3]) <= 1e-9 * size, k)
      end
    end
  end)

  -- Obstacles far from where the string would lie: the set changes over thousands of points.
  it("of order 20000 are solved in few steps, symmetric, skewed and twice as stiff #once", function()
    local function string_of(n, low, high)
      return ns.spdiags({ low, 2, high }, { -1, 0, 1 }, n)
    end
    local function check(M, q, lower, upper, label)
      local start = os.clock()
      local r = ns.numerics.box { M = M, q = q, lower = lower, upper = upper }
      assert.is_true(os.clock() - start < (host.sanitized and 20 or 1), label)
      assert.equal("ok", r.status, label)
      assert.is_true(r.iterations <= 60, label .. ": " .. r.iterations)
      local w, z, worst, size = M * r.z + q, r.z, 0, 1
      local diagonal = M(2, 2)
      for i = 1, #q do
        local there = math.max(lower, math.min(upper, z[i] - w[i] / diagonal))
        worst, size = math.max(worst, math.abs(z[i] - there)), math.max(size, math.abs(z[i]))
      end
      assert.is_true(worst <= 1e-13 * size, label .. ": " .. worst / size)
    end
    for _, n in ipairs { 3000, 20000 } do
      local q, noise, M = ns.vector(n), ns.vector(n), string_of(n, -1, -1)
      math.randomseed(n)
      for i = 1, n do q[i], noise[i] = math.sin(20 * i / n), math.random() - 0.5 end
      check(M, q, 0, inf, "wave")
      check(M, noise, 0, inf, "noise")
      if n == 3000 then
        check(M, q + 0.5, 0, inf, "mostly held")
        check(M, q, -n * n / 4e3, n * n / 4e3, "box")
        check(M, q, -inf, 0, "from above")
        check(M * 1e-6, q * 1e3, 0, inf, "other units")
        check(string_of(n, -1.5, -0.5), q, 0, inf, "skewed")
      end
    end
    check(string_of(3000, -1, -1) * string_of(3000, -1, -1), ns.vector(3000) - 0.1, 0, inf, "beam")
  end)

  -- Each row by its own terms: z >= 0, w >= 0 where z = 0, w = 0 where z > 0, to rounding.
  local function check_rows(bands, q, z)
    for i = 1, #q do
      local a, b, c = i > 1 and bands.low[i] * z[i - 1] or 0, bands.at[i] * z[i], i < #q and bands.high[i] * z[i + 1] or 0
      local w, size = a + b + c + q[i], math.abs(a) + math.abs(b) + math.abs(c) + math.abs(q[i])
      assert.is_true(z[i] >= 0 and w >= -1e-13 * size and (z[i] == 0 or w <= 1e-13 * size), i)
    end
  end

  local function tridiagonal(n, entry)
    local I, J, V, bands = {}, {}, {}, { low = {}, at = {}, high = {} }
    for i = 1, n do
      bands.low[i], bands.at[i], bands.high[i] = entry(i)
      for d, name in pairs { [-1] = "low", [0] = "at", [1] = "high" } do
        if i + d >= 1 and i + d <= n then I[#I + 1], J[#J + 1], V[#V + 1] = i, i + d, bands[name][i] end
      end
    end
    return ns.sparse { rows = n, cols = n, i = I, j = J, v = V }, bands
  end

  -- A string over hills, between ends at 0; where it leaves a hill, z and w are 1e-8 of the data. Lengths of its grid: 1 .. uneven.
  local function heavy_string(n, uneven, unit)
    local x, h, q, bottom = { [0] = 0 }, {}, ns.vector(n), {}
    for i = 1, n + 1 do h[i] = uneven ^ math.random() / n; x[i] = x[i - 1] + h[i] end
    for i = 0, n + 1 do bottom[i] = -0.3 + 0.25 * math.exp(-50 * (x[i] / x[n + 1] - 0.6) ^ 2) end
    local M, bands = tridiagonal(n, function(i)
      local s, l, r = unit(i), 1 / h[i], 1 / h[i + 1]
      q[i] = s * (30 * (h[i] + h[i + 1]) + l * (bottom[i] - bottom[i - 1]) + r * (bottom[i] - bottom[i + 1]))
      if i == 1 then q[i] = q[i] + s * l * bottom[0] elseif i == n then q[i] = q[i] + s * r * bottom[n + 1] end
      return -s * l, s * (l + r), -s * r
    end)
    return M, q, bands
  end

  it("for strings over hills are solved to the rounding of each row #once", function()
    math.randomseed(83)
    for _, case in ipairs { { 10000, 1 }, { 30000, 20 }, { 6000, 1000 } } do
      for _, unit in ipairs { function() return 1 end, function() return 10 ^ math.random(-9, 9) end } do
        local M, q, bands = heavy_string(case[1], case[2], unit)
        local r = ns.numerics.lcp { M = M, q = q }
        assert.equal("ok", r.status)
        assert.is_true(r.iterations < 60, r.iterations)
        check_rows(bands, q, r.z)
      end
    end
  end)

  -- Black and Scholes on a grid of n prices: an American put, marched over a year from its end.
  local function put_value(n, steps)
    local sigma, rate, strike = 0.3, 0.05, 100
    local dt, payoff, edge = 1 / steps, ns.vector(n), ns.vector(n)
    local M, bands = tridiagonal(n, function(i)
      local a, b = 0.5 * sigma ^ 2 * i ^ 2, 0.5 * rate * i
      payoff[i] = math.max(strike - 400 * i / (n + 1), 0)
      return -dt * (a - b), 1 + dt * (2 * a + rate), -dt * (a + b)
    end)
    edge[1] = bands.low[1] * strike
    local value, z = payoff, nil
    for _ = 1, steps do
      local q = M * payoff - value + edge
      local r = ns.numerics.lcp { M = M, q = q, z0 = z }
      assert.equal("ok", r.status)
      check_rows(bands, q, r.z)
      z, value = r.z, r.z + payoff
    end
    return value[(n + 1) // 4]
  end

  it("for American options are solved, along a march and on fine grids #once", function()
    assert.near(9.870, put_value(799, 200), 0.02)
    assert.near(put_value(799, 1), put_value(99999, 1), 1e-3)
  end)

  -- A step of an American put whose volatility varies (Heston, Rev. Financial Studies 6, 1993): drift along both axes of a grid of
  -- size x size, mixed derivatives, entries of both signs.
  local function put_on_grid(size)
    local r, rho, sigma, kappa, mean, dt = 0.03, -0.5, 0.5, 1.5, 0.04, 0.02
    local hx, hy, at = 4 / (size + 1), 0.5 / size, {}
    local function payoff(i) return math.max(0, 100 - 100 * math.exp(i * hx - 2)) end
    local q = ns.vector(size * size)
    for j = 1, size do
      for i = 1, size do
        local k, v = (j - 1) * size + i, j * hy
        local a, b, c, d = 0.5 * v / hx ^ 2, (r - 0.5 * v) / (2 * hx), 0.5 * sigma ^ 2 * v / hy ^ 2, kappa * (mean - v) / (2 * hy)
        local mixed = rho * sigma * v / (4 * hx * hy)
        q[k] = -payoff(i)
        local function add(di, dj, value)
          local column = math.max(1, math.min(size, j + dj))
          q[k] = q[k] + value * payoff(i + di)
          if i + di < 1 or i + di > size then return end
          local place = k * size * size + (column - 1) * size + i + di
          at[place] = (at[place] or 0) + value
        end
        add(0, 0, 1 + dt * (2 * a + 2 * c + r))
        for s = -1, 1, 2 do
          add(s, 0, -dt * (a + s * b))
          add(0, s, -dt * (c + s * d))
          for t = -1, 1, 2 do add(s, t, -dt * mixed * s * t) end
        end
      end
    end
    return at, q
  end

  it("with drift along a grid are solved, in all units #once", function()
    local at, q = put_on_grid(90)
    local n = #q
    local function solve(row, column)
      local I, J, V, given = {}, {}, {}, ns.vector(n)
      for place, value in pairs(at) do
        local i = (place - 1) // n
        local j = place - i * n
        I[#I + 1], J[#J + 1], V[#V + 1] = i, j, value * row(i) * column(j)
      end
      for i = 1, n do given[i] = q[i] * row(i) end
      local M = ns.sparse { rows = n, cols = n, i = I, j = J, v = V }
      return ns.numerics.lcp { M = M, q = given, solver = "newton_fb" }
    end
    local function one() return 1 end
    local plain = solve(one, one)
    local other = solve(function(i) return 2.0 ^ (i * 37 % 101 - 50) end, function(j) return 2.0 ^ (j * 53 % 103 - 51) end)
    assert.same({ "ok", "ok" }, { plain.status, other.status })
    assert.is_true(plain.iterations <= 40 and other.iterations <= 40)
    for j = 1, n do assert.near(plain.z[j], other.z[j] * 2.0 ^ (j * 53 % 103 - 51), 1e-11 * math.max(1, plain.z[j])) end
  end)

  it("agree with dense ones on random problems", function()
    math.randomseed(9)
    local solved, total = 0, 0
    for _ = 1, 20 do
      for _, name in ipairs(problems.names()) do
        local p = problems.kinds[name](math.random(1, 8))
        local r = ns.numerics.box { M = sparse(p.M), q = p.q, lower = p.lower, upper = p.upper }
        if r.success then
          assert.is_true(problems.violation(p, r.z:totable()) <= 1e-10, name)
          assert.are_not.equal(false, p.solvable)
        end
        if name == "positive_definite" or name == "z_matrix" or name == "mixed" then
          total = total + 1
          if r.success then solved = solved + 1 end
        end
      end
    end
    assert.is_true(solved >= 0.98 * total, solved .. " of " .. total)
  end)

  it("have no answer far out, where what a bound or q gives is lost in terms that cancel", function()
    local without = { -- branch and bound proves that none of them has a solution
      { { { 1, -1, 1 }, { -1, 1, 0 }, { -1, 0, 1 } }, { -1, 1, -1 }, { -inf, -inf, 1 }, { 2, inf, 1 } },
      { { { 0, 0, -1, 0 }, { 0, 1, 1, 1 }, { 0, -1, -1, 0 }, { -1, 1, -1, 1 } },
        { -1, 0, 0, -1 }, { 1, -inf, -inf, 1 }, { 1, inf, 1, 1 } },
      { { { 1, 0, -1, 0, 0 }, { -1, -1, -1, 0, 0 }, { 1, -1, 0, 0, -1 }, { 1, 1, -1, -1, -1 }, { 0, 1, 1, 1, 0 } },
        { 0, 0, -1, 0, -1 }, { -inf, 1, -inf, -inf, -inf }, { inf, 1, inf, inf, 1 } },
      -- the last row has no variable that is far out
      { { { -5, -4, 4, 2 }, { -2, 2, 3, -5 }, { -5, 2, 4, 3 }, { 0, -1, 0, 4 } },
        { -5, 5, -2, 3 }, { 0, 0, 0, 0 }, { inf, inf, inf, inf } },
    }
    for _, p in ipairs(without) do
      local dense = ns.numerics.box { M = p[1], q = p[2], lower = p[3], upper = p[4] }
      assert.equal("there is no solution", dense.message)
      local r = ns.numerics.box { M = sparse(p[1]), q = p[2], lower = p[3], upper = p[4] }
      assert.is_false(r.success, tostring(r.z))
    end
  end)

  -- The whole numbers of a planted solution are exact in all units: there is one.
  it("are solved as dense ones are where they have few variables, with no wrong answer and no wrong proof #once", function()
    local planted, boxes = dofile "spec/solvers/planted.lua", dofile "spec/solvers/boxes.lua"
    math.randomseed(203)
    local count, asked, solved, missed = require "campaign"(1, 0.001), 0, 0, 0
    for _, kind in ipairs(boxes.sorted_keys(planted.kinds)) do
      for _, bound in ipairs(boxes.sorted_keys(planted.bounds)) do
        for _, noise in ipairs(boxes.sorted_keys(planted.rounding)) do
          for k = 1, 4 * count do
            local p, plain, back = planted.problem(kind, bound, noise, ({ 0, 20, 240, 480 })[k % 4 + 1], math.random(2, 9))
            local r = ns.numerics.box { M = sparse(p.M), q = p.q, lower = p.lower, upper = p.upper }
            local dense = ns.numerics.box { M = p.M, q = p.q, lower = p.lower, upper = p.upper }
            local label = ("%s, %s, rounding %s, %d: %s"):format(kind, bound, noise, k, r.message)
            if noise ~= "everywhere" then assert.are_not.equal("there is no solution", r.message, label) end
            if r.success then assert.is_true(boxes.violation(plain, back(r.z)) <= 1e-10, label) end
            asked, solved = asked + 1, solved + (r.success and 1 or 0)
            missed = missed + (dense.success and not r.success and 1 or 0)
          end
        end
      end
    end
    assert.is_true(solved >= 0.97 * asked and missed <= 0.01 * asked, ("%d of %d, %d"):format(solved, asked, missed))
  end)

  -- The largest error of w, beside data that are small whole numbers.
  local function error_of(p, z)
    local worst = 0
    for i = 1, #p.q do
      local w = p.q[i]
      for j = 1, #p.q do w = w + p.M[i][j] * z[j] end
      local good = w >= 0 and z[i] == p.lower[i] or w <= 0 and z[i] == p.upper[i]
      worst = math.max(worst, z[i] >= p.lower[i] and z[i] <= p.upper[i] and (good and 0 or math.abs(w)) or inf)
    end
    return worst
  end

  -- Equations with zeros on the diagonal; arrows also with entries that are rounding, where answers lie far out along which M is 0.
  it("are solved as dense ones with a hundred variables, too, in all units, and never where the data are lost #once", function()
    local planted = dofile "spec/solvers/planted.lua"
    math.randomseed(211)
    local count, asked, solved = require "campaign"(1, 0.01), 0, 0
    local function saddle(near)
      return function(n)
        local M = {}
        for i = 1, n do M[i] = {} end
        for i = 1, n do
          for j = 1, i do
            M[i][j] = near(i, j) and math.random(-3, 3) or 0
            M[j][i] = -M[i][j]
          end
          M[i][i] = i <= 2 * n // 3 and math.random(4) or 0
        end
        return M
      end
    end
    planted.kinds.band = saddle(function(i, j) return i - j <= 2 end)
    planted.kinds.arrow = saddle(function(_, j) return j == 1 end)
    planted.rounding.few = function(M)
      for _ = 1, #M // 3 do
        local i, j = math.random(#M), math.random(#M)
        if M[i][j] == 0 then M[i][j] = math.random(-3, 3) * 2.0 ^ -math.random(60, 200) end
      end
    end
    for k = 1, 40 * count do
      local p, plain, back = planted.problem(k % 4 < 2 and "band" or "arrow", ({ "lcp", "mixed", "box" })[k % 3 + 1],
        k % 2 == 0 and "none" or "few", ({ 0, 60, 240, 480 })[k % 5 % 4 + 1], math.random(33, 100))
      local r = ns.numerics.box { M = sparse(p.M), q = p.q, lower = p.lower, upper = p.upper }
      assert.are_not.equal("there is no solution", r.message, k)
      if r.success then assert.is_true(error_of(plain, back(r.z)) <= 1e-5, ("%d: %g"):format(k, error_of(plain, back(r.z)))) end
      asked, solved = asked + 1, solved + (r.success and 1 or 0)
    end
    assert.is_true(solved >= 0.9 * asked, ("%d of %d"):format(solved, asked))
  end)

  -- The seventh variable is in the first row alone, whose w may be anything below 0. In its unit the answer is above all numbers.
  it("never have an answer that is not finite", function()
    local M = { { 0x1p-760, 0, 0x1.8p-473, -0x1p-144, 0, -0x1.8p-98, 0x1p-724, -0x1.8p-75 },
      { 0, 0x1.8p+41, 0, 0, 0, 0, 0, 0 },
      { -0x1.8p-591, 0, 0x1.8p-305, 0, 0, 0, 0, 0 }, { 0x1p-557, 0, 0, 0x1p+59, 0, 0, 0, 0 },
      { 0, 0, 0, 0, 0x1p+318, 0, 0, 0 },
      { 0x1.8p-30, 0, 0, 0, 0, 0, 0, 0 }, { -0x1p-638, 0, 0, 0, 0, 0, 0, 0 },
      { 0x1.8p-617, 0, 0, 0, 0, 0, 0, 0 } }
    local r = ns.numerics.box { M = sparse(M),
      q = { -0x1.dp-354, -0x1.8p+234, 0x1.8p-188, 0x1.4p-153, 0x1.8p+5, -0x1.8p+372, 0x1p-236, -0x1.8p-215 },
      lower = { -inf, -inf, -inf, 0, -0x1.8p-313, -inf, -inf, -inf },
      upper = { 0x1p+402, inf, -0x1p+116, inf, 0x1p-312, inf, inf, 0x1p-281 } }
    assert.is_true(r.success)
    for i = 1, 8 do assert.is_true(math.abs(r.z[i]) < inf, i) end
  end)

  it("tell which methods take them", function()
    local M, q = chain(3)
    for _, name in ipairs { "lemke", "pivot" } do
      local ok, message = pcall(ns.numerics.lcp, { M = M, q = q, solver = name })
      assert.is_false(ok)
      assert.truthy(message:find(("lcp: M: solver '%s' takes no sparse matrix"):format(name), 1, true))
    end
    local ok, message = pcall(ns.numerics.lcp, { M = ns.sparse { rows = 1, cols = 2, i = {}, j = {}, v = {} }, q = { 1 } })
    assert.is_false(ok)
    assert.truthy(message:find("lcp: M: expected a square matrix", 1, true), message)
  end)
end)
