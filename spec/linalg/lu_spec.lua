-- LU through ns.solve, ns.lu, ns.det, ns.rcond, ns.inv.
local ns = require "nslua"
local fails = require "expect".fails
local matrices = require "linalg.matrices"
local random, random_vector, eye = matrices.random, matrices.random_vector, matrices.eye

local EPS = 2.220446049250313e-16

-- Gauss with complete row pivoting, in Lua: an independent determinant.
local function lua_det(A)
  local a, n, det = A:totable(), A:rows(), 1
  for k = 1, n do
    local p = k
    for i = k + 1, n do
      if math.abs(a[i][k]) > math.abs(a[p][k]) then p = i end
    end
    if p ~= k then a[p], a[k], det = a[k], a[p], -det end
    det = det * a[k][k]
    for i = k + 1, n do
      local f = a[i][k] / a[k][k]
      for j = k, n do a[i][j] = a[i][j] - f * a[k][j] end
    end
  end
  return det
end

describe("LU", function()
  setup(function() math.randomseed(11) end)

  it("solves with residuals of rounding size, for one and many right-hand sides", function()
    for n = 1, 40 do
      local A, b, B = random(n, n), random_vector(n), random(n, 3)
      local x, X = ns.solve(A, b), ns.solve(A, B)
      local bound = 100 * n * EPS
      assert.is_true(ns.norm(A * x - b) <= bound * (ns.norm(A) * ns.norm(x) + ns.norm(b)))
      assert.is_true(ns.norm(A * X - B) <= bound * (ns.norm(A) * ns.norm(X) + ns.norm(B)))
    end
  end)

  it("takes tables, and answers a vector for a vector and a matrix for a matrix", function()
    local x = ns.solve({{2, 0}, {0, 4}}, {2, 8})
    assert.are.same({1, 2}, x:totable())
    assert.are.same({{1}, {2}}, ns.solve({{2, 0}, {0, 4}}, {{2}, {8}}):totable())
    assert.are.equal(1, select("#", ns.solve({{1}}, {1})))
  end)

  it("leaves A and b as they were", function()
    local A, b = ns.matrix{{1, 2}, {3, 4}}, ns.vector{5, 6}
    ns.solve(A, b)
    assert.are.same({{1, 2}, {3, 4}}, A:totable())
    assert.are.same({5, 6}, b:totable())
  end)

  it("works on views", function()
    local A = random(9, 9)
    local part, b = A:slice(2, 6, 3, 7), A:column(1):slice(1, 5)
    local x = ns.solve(part, b)
    assert.is_true(ns.norm(part * x - b) < 1e-11 * (1 + ns.norm(x)))
    assert.are.equal(ns.det(part:copy()), ns.det(part))
  end)

  it("gives rcond on request", function()
    local _, rcond = ns.solve(eye(5), random_vector(5), {rcond = true})
    assert.are.equal(1, rcond)
    for n = 2, 30, 4 do
      local A = random(n, n)
      local exact = 1 / (ns.norm(A, 1) * ns.norm(ns.inv(A), 1))
      assert.is_true(ns.rcond(A) >= exact * (1 - 1e-8) and ns.rcond(A) <= 10 * exact)
    end
    assert.are.equal(0, ns.rcond{{1, 2}, {2, 4}})
  end)

  it("factors P A = L U", function()
    for _, n in ipairs{1, 2, 5, 16, 17, 40} do
      local A = random(n, n)
      local P, L, U = ns.lu(A):factors()
      assert.is_true(ns.norm(P * A - L * U) <= 100 * n * EPS * ns.norm(A))
      for i = 1, n do
        assert.are.equal(1, L[i][i])
        for j = i + 1, n do
          assert.are.equal(0, L[i][j])
          assert.are.equal(0, U[j][i])
        end
      end
      assert.is_true(ns.norm(P * P:transpose() - eye(n)) == 0)
    end
  end)

  it("solves again and again from one object", function()
    for _, n in ipairs{3, 20} do
      local A = random(n, n)
      local lu = ns.lu(A)
      local kept = A:copy()
      A:fill(0)
      for _ = 1, 3 do
        local b = random_vector(n)
        assert.is_true(ns.norm(kept * lu:solve(b) - b) < 1e-10)
        assert.is_true(ns.norm(kept:transpose() * lu:tsolve(b) - b) < 1e-10)
      end
      assert.are.equal(n, lu:order())
      assert.is_true(math.abs(lu:det() - ns.det(kept)) <= 1e-14 * math.abs(lu:det()))
      assert.is_truthy(tostring(lu):find("LU of order " .. n, 1, true))
    end
  end)

  it("computes determinants", function()
    assert.are.equal(1, ns.det(ns.matrix(0, 0)))
    assert.are.equal(2, ns.det{{2}})
    assert.are.equal(-1, ns.det{{0, 1}, {1, 0}})
    assert.are.equal(0, ns.det{{1, 2}, {2, 4}})
    for n = 1, 25 do
      local A = random(n, n)
      local d = lua_det(A)
      assert.is_true(math.abs(ns.det(A) - d) <= 1e-10 * math.abs(d))
    end
    -- factors that would overflow or underflow on the way
    local D = eye(4)
    D[1][1], D[2][2], D[3][3], D[4][4] = 1e200, 1e200, 1e-200, 1e-200
    assert.is_true(math.abs(ns.det(D) - 1) < 1e-14)
  end)

  it("inverts", function()
    for n = 1, 40, 3 do
      local A = random(n, n)
      local X = ns.inv(A)
      assert.is_true(ns.norm(A * X - eye(n)) <= 1e-13 * n * ns.norm(A) * ns.norm(X))
    end
    fails("inv: A is singular (row ", ns.inv, {{1, 1}, {1, 1}})
  end)

  it("does not mistake units for singularity", function()
    -- columns, rows and whole matrices in other units
    local b = ns.vector{1, 2}
    local x = ns.lu{{1, 1e-14}, {1, 3e-14}}:solve(b)
    assert.is_true(math.abs(x[1] - 0.5) < 1e-12 and math.abs(x[2] * 1e-14 - 0.5) < 1e-12)
    x = ns.solve({{0, 1e-200}, {1e-200, 0}}, {1e-200, 2e-200})
    assert.are.same({2, 1}, x:totable())
    x = ns.solve({{1e200, 2e200}, {3e200, 1e200}}, {5e200, 5e200})
    assert.is_true(math.abs(x[1] - 1) < 1e-14 and math.abs(x[2] - 2) < 1e-14)
    -- subnormal pivots have no finite inverse
    local tiny = 1e-310
    local _, L, U = ns.lu{{tiny, 0}, {tiny, tiny}}:factors()
    assert.are.same({{1, 0}, {1, 1}}, L:totable())
    assert.are.same({{tiny, 0}, {0, tiny}}, U:totable())
  end)

  it("names the row of a singular matrix, small or large", function()
    fails("solve: A is singular (row 3)", ns.solve, {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}, {1, 1, 1})
    fails("solve: A is singular (row 1)", ns.solve, {{0}}, {1})
    fails("lu: A is singular (row ", ns.lu, {{1, 2}, {2, 4}})
    for _, n in ipairs{5, 16, 17, 30} do
      local A = random(n, n)
      A[n]:assign(A[1] + 0.3 * A[2])
      fails("solve: A is singular (row ", ns.solve, A, random_vector(n))
      for j = 1, n do A[n][j] = 0 end
      fails("solve: A is singular (row " .. n .. ")", ns.solve, A, random_vector(n))
    end
  end)

  it("refuses a nearly singular matrix with its rcond", function()
    local n = 13
    local H = ns.matrix(n, n)
    for i = 1, n do
      for j = 1, n do H[i][j] = 1 / (i + j - 1) end
    end
    local ok, message = pcall(ns.solve, H, random_vector(n))
    assert.is_false(ok)
    assert.is_truthy(message:find("solve: A is singular", 1, true))
    local A = {{1, 0}, {0, 1e-18}}
    fails("solve: A is singular to working precision (rcond 1e-18)", ns.solve, A, {1, 1})
    fails("solve: A is singular to working precision (rcond 1e-18)", function() ns.lu(A):solve{1, 1} end)
    assert.are.equal(1e-18, ns.lu(A):rcond())
  end)

  it("refuses bad arguments by name", function()
    fails("solve: A: expected a square matrix, got 2 x 3 matrix", ns.solve, ns.matrix(2, 3), {1, 2})
    fails("solve: b: expected a vector of 2, got vector of 3", ns.solve, eye(2), ns.vector{1, 2, 3})
    fails("solve: b: expected a matrix of 2 rows, got 3 x 1 matrix", ns.solve, eye(2), ns.matrix(3, 1))
    fails("solve: A[1][2] is nan", ns.solve, {{1, 0 / 0 * -1}, {0, 1}}, {1, 1})
    fails("solve: A[2][1] is inf", ns.solve, {{1, 0}, {math.huge, 1}}, {1, 1})
    fails("solve: b[2] is inf", ns.solve, eye(2), {1, math.huge})
    fails("solve: b[1][1] is -inf", ns.solve, eye(1), {{-math.huge}})
    fails("solve: unknown option 'rcnd' (known: rcond)", ns.solve, eye(1), {1}, {rcnd = true})
    fails("solve: options: expected a table", ns.solve, eye(1), {1}, true)
    fails("solve: A: expected a matrix, got nil", ns.solve)
    fails("det: A: expected a square matrix", ns.det, ns.matrix(1, 2))
  end)

  it("takes 0 x 0", function()
    local Z = ns.matrix(0, 0)
    assert.are.equal(0, #ns.solve(Z, ns.vector{}))
    assert.are.equal(0, ns.inv(Z):rows())
    assert.are.equal(1, ns.rcond(Z))
    local P, L, U = ns.lu(Z):factors()
    assert.are.equal(0, P:rows() + L:rows() + U:rows())
  end)
end)

describe("LU with pivots that do not depend on units", function()
  require "nslua.core"
  local internal = require "nslua.internal"

  -- A sparse or full matrix by columns; some entries are powers of two, so that there are ties.
  local function matrix(n)
    local A = {}
    for i = 1, n * n do
      local x = math.random() < 0.3 and 0 or math.random() < 0.3 and 1 or 2 * math.random() - 1
      A[i] = (i - 1) % (n + 1) == 0 and x + 2 or x
    end
    return A
  end

  local function powers(n)
    local out = {}
    for i = 1, n do out[i] = 2.0 ^ math.random(-100, 100) end
    return out
  end

  it("gives the same bits when rows and columns are multiplied by powers of two #once", function()
    math.randomseed(5)
    for _ = 1, 400 do
      local n = math.random(1, 24)
      local A, b, r, c, S, rb, cb = matrix(n), {}, powers(n), powers(n), {}, {}, {}
      for i = 1, n do b[i] = 2 * math.random() - 1 end
      for i = 1, n do
        rb[i], cb[i] = r[i] * b[i], c[i] * b[i]
        for j = 1, n do S[i + (j - 1) * n] = r[i] * A[i + (j - 1) * n] * c[j] end
      end
      local x, _ = internal.fair_lu(n, A, b)
      local y, _ = internal.fair_lu(n, S, rb)
      local _, xt = internal.fair_lu(n, A, b)
      local _, yt = internal.fair_lu(n, S, cb)
      assert.equal(not x, not y)
      for i = 1, x and n or 0 do
        assert.equal(x[i], y[i] * c[i])
        assert.equal(xt[i], yt[i] * r[i])
        local sum, size, sumt, sizet = -b[i], math.abs(b[i]), -b[i], math.abs(b[i])
        for j = 1, n do
          local a, at = A[i + (j - 1) * n], A[j + (i - 1) * n]
          sum, size = sum + a * x[j], size + math.abs(a * x[j])
          sumt, sizet = sumt + at * xt[j], sizet + math.abs(at * xt[j])
        end
        assert.is_true(math.abs(sum) <= 1e-13 * size and math.abs(sumt) <= 1e-13 * sizet)
      end
    end
  end)

  it("finds the same matrices singular", function()
    for _, n in ipairs { 2, 3, 20 } do
      math.randomseed(n)
      local A, r, c, S, b = matrix(n), powers(n), powers(n), {}, {}
      for i = 1, n do A[i], b[i] = 3 * A[i + n], 1 end
      for i = 1, n do for j = 1, n do S[i + (j - 1) * n] = r[i] * A[i + (j - 1) * n] * c[j] end end
      local _, status, row = internal.fair_lu(n, A, b)
      local _, scaled, at = internal.fair_lu(n, S, b)
      assert.same({ "NS_ESINGULAR", "NS_ESINGULAR", row }, { status, scaled, at })
    end
    assert.equal("NS_ENAN", (select(2, internal.fair_lu(2, { 1, 0, 0 / 0, 1 }, { 1, 1 }))))
  end)

  -- [I, -h B; C, 0] with the differences C of chains of states: `stages` of them, coupled; entry(i, j) is added between states.
  local function held_chain(states, stages, h, entry)
    local n = stages * (2 * states - 1)
    local A = {}
    for k = 1, n * n do A[k] = 0 end
    local function add(i, j, a) A[i + (j - 1) * n] = A[i + (j - 1) * n] + a end
    for s = 1, stages do
      local x, row = (s - 1) * states, stages * states + (s - 1) * (states - 1)
      for i = 1, states do
        for k = 1, stages do add(x + i, (k - 1) * states + i, k == s and 1 or 1 / (3 + k + s)) end
        for j = 1, states do add(x + i, x + j, h * entry(i, j)) end
      end
      for i = 1, states - 1 do
        add(row + i, x + i, -1)
        add(row + i, x + i + 1, 1)
        add(x + i, row + i, h)
        add(x + i + 1, row + i, -h)
      end
    end
    return A, n
  end

  local count, told = require "campaign"(40, 0.2)
  it("takes entries that are too small to have an influence, down to the smallest numbers", function()
    local most = 0
    for k = 1, count do
      local states, stages, h = math.random(2, 5), math.random(3), 10 ^ (-4 * math.random())
      local tiny, none = {}, function() return 0 end
      for e = 1, states * states do tiny[e] = math.random() < 0.4 and 10 ^ -(20 + 304 * math.random()) or 0 end
      local plain, n = held_chain(states, stages, h, none)
      local A = held_chain(states, stages, h, function(i, j) return tiny[i + (j - 1) * states] end)
      local b = {}
      for i = 1, n do b[i] = math.random() - 0.5 end
      local x, want = internal.fair_lu(n, A, b), internal.fair_lu(n, plain, b)
      assert(x, k)
      local largest = 0
      for i = 1, n do largest = math.max(largest, math.abs(want[i])) end
      for i = 1, n do most = math.max(most, math.abs(x[i] - want[i]) / largest) end
      local r, c, S, rb = powers(n), powers(n), {}, {}
      for i = 1, n do
        rb[i] = b[i] * r[i]
        for j = 1, n do S[i + (j - 1) * n] = r[i] * A[i + (j - 1) * n] * c[j] end
      end
      local y = internal.fair_lu(n, S, rb)
      for i = 1, n do most = math.max(most, math.abs(y[i] * c[i] - want[i]) / largest) end
    end
    assert(most < 1e-9, most)
    told("tiny entries of matrices", count)
  end)
end)
