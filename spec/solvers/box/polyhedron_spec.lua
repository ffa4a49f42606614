local ns = require "nslua"
local cone = ns.numerics.normal_cone
local inf = math.huge

local function times(A, x)
  local y = {}
  for i = 1, #A do
    y[i] = 0
    for j = 1, #x do y[i] = y[i] + A[i][j] * x[j] end
  end
  return y
end

-- z in P, multipliers, stationarity (bounds: signs), all by Lua.
local function verify(o, r, tolerance)
  assert.is_true(r.success, r.message)
  local n, m, scale = #o.q, #o.K, 1
  local Hz, w = times(o.H, r.z), times(o.M, r.z)
  for i = 1, n do scale = math.max(scale, math.abs(r.z[i]), math.abs(o.q[i])) end
  for k = 1, m do scale = math.max(scale, r.multipliers[k]) end
  local eps = (tolerance or 1e-10) * scale
  for k = 1, m do
    assert.is_true(Hz[k] >= o.K[k] - eps)
    assert.is_true(r.multipliers[k] >= 0)
    assert.is_true(math.abs(math.min(r.multipliers[k], Hz[k] - o.K[k])) <= eps)
  end
  for i = 1, n do
    local rest = w[i] + o.q[i]
    for k = 1, m do rest = rest - o.H[k][i] * r.multipliers[k] end
    local l, u = o.lower and o.lower[i] or -inf, o.upper and o.upper[i] or inf
    if r.z[i] <= l then assert.is_true(rest >= -eps)
    elseif r.z[i] >= u then assert.is_true(rest <= eps)
    else assert.is_true(math.abs(rest) <= eps) end
    assert.is_true(r.z[i] >= l and r.z[i] <= u)
  end
end

local function random_matrix(n, m, f)
  local A = {}
  for i = 1, n do
    A[i] = {}
    for j = 1, m do A[i][j] = f and f(i, j) or 2 * math.random() - 1 end
  end
  return A
end

describe("normal_cone", function()
  it("projects on a polygon", function()
    local o = { M = { { 1, 0 }, { 0, 1 } }, q = { -3, -1 }, H = { { -1, -1 }, { 1, 0 }, { 0, 1 } }, K = { -2, 0, 0 } }
    local r = cone(o)
    verify(o, r)
    assert.near(2, r.z[1], 1e-14)
    assert.near(0, r.z[2], 1e-14)
  end)

  it("solves the twisting controller's step, whose M has rank 1", function()
    local h = 0.1
    local H, K = { { 1, 0 }, { -h / 2, 1 }, { -1, 0 }, { h / 2, -1 } }, { -1, -1, -1, -1 }
    local M = { { 0.05, 0.015 }, { 1, 0.3 } }
    for _, q in ipairs { { 10, 5 }, { -3, 0.2 }, { 0, 0 }, { 0.01, -0.2 }, { -0.02, 0.4 }, { 1, -1.285 } } do
      local o = { M = M, q = q, H = H, K = K }
      verify(o, cone(o))
    end
  end)

  it("solves random monotone problems of any rank, with and without bounds", function()
    math.randomseed(5)
    for trial = 1, 120 do
      local n, m = 1 + trial % 6, 1 + trial % 9
      local rank = math.random(0, n)
      local G, inside = random_matrix(math.max(rank, 1), n), {}
      local M = random_matrix(n, n, function(i, j)
        local sum = 0
        for k = 1, rank do sum = sum + G[k][i] * G[k][j] end
        return sum + (i < j and 0.3 or i > j and -0.3 or 0)
      end)
      local H, K, q = random_matrix(m, n), {}, {}
      for i = 1, n do inside[i], q[i] = math.random() - 0.5, 4 * math.random() - 2 end
      for k, value in ipairs(times(H, inside)) do K[k] = value - math.random() end
      local lower, upper
      if trial % 2 == 0 then
        lower, upper = {}, {}
        for i = 1, n do lower[i], upper[i] = inside[i] - 1, inside[i] + 1 end
      else -- a box of rows makes it compact: a solution exists
        for i = 1, n do
          local row, back = {}, {}
          for j = 1, n do row[j], back[j] = i == j and 1 or 0, i == j and -2 or 0 end
          H[#H + 1], K[#K + 1] = row, inside[i] - 2
          H[#H + 1], K[#K + 1] = back, -2 * inside[i] - 3
        end
      end
      local o = { M = M, q = q, H = H, K = K, lower = lower, upper = upper }
      verify(o, cone(o))
    end
  end)

  it("takes repeated, zero and dependent rows", function()
    local o = { M = { { 2, 0 }, { 0, 1 } }, q = { 1, 1 },
                H = { { 1, 1 }, { 2, 2 }, { 0, 0 }, { 1, 1 }, { -1, -1 } }, K = { 1, 2, -1, 0.5, -4 } }
    verify(o, cone(o))
  end)

  it("pins z by two opposite rows", function()
    local o = { M = { { 0, 0 }, { 0, 0 } }, q = { 1, -2 }, H = { { 1, 1 }, { -1, -1 }, { 1, 0 }, { 0, 1 } },
                K = { 1, -1, 0, 0 } }
    local r = cone(o)
    verify(o, r)
    assert.same({ 0, 1 }, { r.z[1], r.z[2] })
    -- 0.1 + 0.2 <= z <= 0.3, where 0.1 + 0.2 is above 0.3 by its rounding alone
    r = cone { M = { { 1 } }, q = { -1 }, H = { { 1 }, { -1 } }, K = { 0.1 + 0.2, -0.3 } }
    assert.is_true(r.success, r.message)
    assert.near(0.3, r.z[1], 1e-15)
    assert.equal("no solution", cone({ M = { { 1 } }, q = { -1 }, H = { { 1 }, { -1 } }, K = { 0.3 + 1e-14, -0.3 } }).status)
  end)

  it("says when the polyhedron is empty or the problem has no solution", function()
    local r = cone { M = { { 1 } }, q = { 0 }, H = { { 1 }, { -1 } }, K = { 1, 0 } }
    assert.is_false(r.success)
    assert.equal("no solution", r.status)
    assert.equal("there is no solution", r.message)
    r = cone { M = { { 1, 0 }, { 0, 1 } }, q = { 0, 0 }, H = { { 1, 0 }, { 0, 1 }, { -1, -1 } }, K = { 1, 1, -1 } }
    assert.is_false(r.success)
    r = cone { M = { { 0 } }, q = { -1 }, H = { { 1 } }, K = { 0 } }
    assert.is_false(r.success)
    assert.equal("no solution", cone { M = { { 1 } }, q = { 0 }, H = { { 0 } }, K = { 1 } }.status)
  end)

  it("is not far along a direction in which M z cancels, where rounding alone would make it pass", function()
    local r = cone { M = { { 4, -2 }, { -2, 1 } }, q = { -1, -1 }, H = { { 1, 1 }, { 2, -1 } }, K = { -2, -1 } }
    assert.is_false(r.success) -- along (1, 2), which is in the cone of the rows, M z is 0 and q z falls
    for e = 0, 60, 4 do -- the first row, -2 - 2 mu_1 = 0, has no z in it: no solution in any unit
      local s = 2.0 ^ -e
      r = cone { M = { { 0, 0 }, { 0, 1 / s ^ 2 } }, q = { -2, 2 / s }, H = { { 2, 1 / s }, { 0, 2 / s } }, K = { -1, 0 } }
      assert.is_false(r.success)
    end
    math.randomseed(7)
    local solved = 0
    for _ = 1, 2000 do -- M = v v', whole numbers: no answer that is a vertex of a piece is larger than a few hundred
      local a, b, rows = math.random(-2, 2), math.random(-2, 2), {}
      for i = 1, math.random(2) do rows[i] = { math.random(-2, 2), math.random(-2, 2) } end
      local s, K = { 1, 2.0 ^ math.random(-40, 40) }, {}
      for i, row in ipairs(rows) do rows[i], K[i] = { row[1], row[2] / s[2] }, -math.random(0, 2) end
      r = cone { M = { { a * a, a * b / s[2] }, { a * b / s[2], b * b / s[2] ^ 2 } },
        q = { math.random(-2, 2), math.random(-2, 2) / s[2] }, H = rows, K = K }
      if r.success then
        solved = solved + 1
        assert.is_true(math.max(math.abs(r.z[1]), math.abs(r.z[2] / s[2])) < 1e10)
      end
    end
    assert.is_true(solved > 1000)
  end)

  it("solves problems whose solution is nearly 0, far from all sides", function()
    math.randomseed(11)
    local square = { { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } }
    for _, size in ipairs { 1e-8, 1e-15, 1e-16, 1e-17, 1e-18, 1e-30 } do
      for _ = 1, 50 do
        local q = { size * (2 * math.random() - 1), size * (2 * math.random() - 1) }
        local r = cone { M = { { 0.02, 0.001 }, { -0.001, 0.03 } }, q = q, H = square, K = { -1, -1, -1, -1 } }
        local det = 0.02 * 0.03 + 0.001 ^ 2
        assert.is_true(r.success, r.message)
        assert.near((-0.03 * q[1] + 0.001 * q[2]) / det, r.z[1], 2.5e-16) -- the rounding of the sides
        assert.near((-0.001 * q[1] - 0.02 * q[2]) / det, r.z[2], 2.5e-16)
      end
    end
  end)
end)
