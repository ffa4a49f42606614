local ns = require "nslua"

describe("sweeps by the columns of a sparse matrix", function()
  local n = 30
  local M, q = ns.spdiags({ -1, 3, -1 }, { -1, 0, 1 }, n), ns.vector(n)
  for i = 1, n do q[i] = math.cos(i) end

  it("come to the solution of the other methods, by either name", function()
    local want = ns.numerics.lcp { M = M, q = q }
    for _, name in ipairs { "psor", "pgs" } do
      local r = ns.numerics.lcp { M = M, q = q, solver = name, omega = 1.1 }
      assert.is_true(r.success)
      assert.equal("psor", r.solver)
      for i = 1, n do assert.near(want.z[i], r.z[i], 1e-9) end
    end
  end)

  it("need a positive diagonal", function()
    local S = ns.sparse { rows = 2, cols = 2, i = { 1, 2 }, j = { 2, 1 }, v = { 1, 1 } }
    assert.error_matches(function() ns.numerics.lcp { M = S, q = { -1, -1 }, solver = "psor" } end,
      "solver 'psor' needs a positive diagonal of M", 1, true)
  end)
end)

describe("sweeps with conjugate gradients", function()
  -- A membrane of m^3 points above an obstacle: factors of M fill in. `unit`: of rows and unknowns; `wind` makes M unsymmetric
  -- in all units.
  local function membrane(m, unit, wind)
    local n, i, j, v = m ^ 3 // 1 | 0, {}, {}, {}
    local q, lower = ns.zeros(n), ns.zeros(n)
    local function add(a, b, x) i[#i + 1], j[#j + 1], v[#v + 1] = a, b, x * unit(a) * unit(b) end
    for k = 0, n - 1 do
      local sum, own = 0, wind * (k * 7 % 3 - 1)
      add(k + 1, k + 1, 6)
      for _, stride in ipairs { 1, m, m * m } do
        local at = k // stride % m
        if at > 0 then add(k + 1, k + 1 - stride, -1 - own) end
        if at < m - 1 then add(k + 1, k + 1 + stride, -1 + own) end
        sum = sum + ((at + 1) / (m + 1) - 0.45) ^ 2
      end
      q[k + 1], lower[k + 1] = unit(k + 1) * 5 / (m + 1) ^ 2, (0.3 - 2 * sum) / unit(k + 1)
    end
    return ns.numerics.box { M = ns.sparse { rows = n, cols = n, i = i, j = j, v = v }, q = q, lower = lower, upper = math.huge }
  end
  local function one() return 1 end
  local function other(k) return 2.0 ^ (k * 7 % 23 - 11) end

  it("solve problems whose factors fill in, to rounding", function()
    local r = membrane(12, one, 0)
    assert.is_true(r.success)
    assert.equal("conjugate", r.solver)
    assert.is_true(r.relative <= 1e-13)
    local free = 0
    for k = 1, #r.z do
      assert.is_true(r.w[k] >= 0)
      if r.w[k] == 0 then free = free + 1 end
    end
    assert.is_true(free > 500 and free < 1700)
  end)

  it("have the same bits in units of each unknown", function()
    local a, b = membrane(9, one, 0), membrane(9, other, 0)
    assert.equal("conjugate", a.solver)
    assert.equal("conjugate", b.solver)
    for k = 1, #a.z do assert.equal(a.z[k], b.z[k] * other(k)) end
  end)

  it("take no matrix that is not symmetric in any units", function()
    local r = membrane(9, one, 0.3)
    assert.is_true(r.success)
    assert.not_equal("conjugate", r.solver)
  end)
end)
