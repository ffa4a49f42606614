local ns = require "nslua"
local inf = math.huge

local function sparse(M)
  return ns.sparse(ns.matrix(M))
end

describe("one connected sparse problem", function()
  -- z_2 is 0 exactly, a difference of large numbers: only another rounding error could balance its own.
  it("gives the exact 0 where elimination leaves rounding alone", function()
    local M = { { 3, 1, 1 / 3 }, { 0, 7, 0 }, { 1 / 7, 1, 5 } }
    for _, unit in ipairs { 1, 2.0 ^ -90, 2.0 ^ 90 } do
      local S, q = {}, { -(3 * 0.1 + 0.3 / 3), 0, -(0.1 / 7 + 1.5) }
      for i = 1, 3 do S[i] = { M[i][1], M[i][2] * unit, M[i][3] } end
      local r = ns.numerics.box { M = sparse(S), q = q, lower = -inf, upper = inf }
      assert.is_true(r.success)
      assert.equal(0, r.z[2])
      assert.near(0.1, r.z[1], 1e-15)
      assert.near(0.3, r.z[3], 1e-15)
    end
  end)

  it("is judged row by row: a wrong small unknown is no answer", function()
    -- tied by entries that matter to neither
    local M = { { 1, 1e-20 }, { 1e-20, 1 } }
    for _, solver in ipairs { "default", "newton_min", "newton_fb", "interior", "psor" } do
      local r = ns.numerics.lcp { M = sparse(M), q = { -1, -1e-15 }, z0 = { 1, 0 }, solver = solver }
      assert.is_true(r.success, solver)
      assert.near(1e-15, r.z[2], 1.1e-20, solver)
    end
  end)

  it("is solved whatever the size of its data", function()
    math.randomseed(56)
    for _ = 1, 20 do
      local n, q, unit = 6, {}, 10.0 ^ math.random(-250, 250)
      for i = 1, n do q[i] = (math.random() - 0.5) * unit end
      local M = ns.spdiags({ -1, 2, -1 }, { -1, 0, 1 }, n)
      for _, solver in ipairs { "default", "newton_min", "newton_fb", "interior" } do
        local r = ns.numerics.lcp { M = M, q = q, solver = solver }
        assert.is_true(r.success, solver)
        local w = M * r.z + ns.vector(q)
        for i = 1, n do
          assert.is_true(r.z[i] >= 0 and (r.z[i] > 0 or w[i] >= 0))
          if r.z[i] > 0 then assert.is_true(math.abs(w[i]) <= 1e-13 * (4 * r.z:max() + unit)) end
        end
      end
    end
  end)

  it("ends at the limit of its method and says so", function()
    local M = ns.spdiags({ -1, 2, -1 }, { -1, 0, 1 }, 50)
    local r = ns.numerics.lcp { M = M, q = ns.vector(50) - 1, solver = "psor", max_iterations = 2 }
    assert.is_true(r.success or r.status == "iteration limit")
    assert.is_true(r.iterations <= 2)
  end)
end)

describe("a long chain whose far end fades below the range of numbers", function()
  it("is solved, sparse and dense, with and without a guess", function()
    for _, c in ipairs { { 150, -1e-3, 1 }, { 300, -1e-2, 1 }, { 150, -1e-3, 2.0 ^ -60 } } do
      local n, off, size = c[1], c[2], c[3]
      local S, q = ns.spdiags({ off, 1, off }, { -1, 0, 1 }, n), ns.vector(c[1])
      q[1] = -size
      local D = ns.zeros(n, n)
      for i = 1, n do
        D[i][i] = 1
        if i > 1 then D[i][i - 1], D[i - 1][i] = off, off end
      end
      for _, M in ipairs { S, D } do
        for _, z0 in ipairs { false, q } do
          for _, lower in ipairs { 0, -inf } do
            local r = ns.numerics.box { M = M, q = q, lower = lower, upper = inf, z0 = z0 or nil }
            assert.is_true(r.success)
            assert.near(size / (1 - off ^ 2), r.z[1], 2 * size * off ^ 4)
            assert.near(-off * r.z[1], r.z[2], 2 * size * math.abs(off) ^ 3)
          end
        end
      end
    end
  end)
end)
