-- Norms and condition numbers.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, fails = matrices.random, matrices.fails

describe("norms and condition", function()
  setup(function() math.randomseed(16) end)

  it("of known matrices", function()
    local A = ns.matrix{{1, -2}, {-3, 4}}
    assert.are.equal(6, ns.norm(A, 1))
    assert.are.equal(7, ns.norm(A, math.huge))
    assert.are.equal(7, ns.norm(A, "inf"))
    assert.is_true(math.abs(ns.norm(A) - math.sqrt(30)) < 1e-14)
    assert.are.equal(ns.norm(A), ns.norm(A, "fro"))
    assert.is_true(math.abs(ns.norm(A, 2) - math.sqrt(15 + math.sqrt(221))) < 1e-13)
    assert.are.same({7, 5, 4}, {ns.norm({3, -4}, 1), ns.norm{3, -4}, ns.norm({3, -4}, "inf")})
    assert.are.equal(5, ns.norm({3, 4}, 2))
    assert.are.equal(2, ns.norm(-2))
    assert.are.equal(0, ns.norm(ns.matrix(0, 4), 2))
    assert.are.equal(0, ns.norm(ns.vector{}))
  end)

  it("do not overflow", function()
    assert.is_true(math.abs(ns.norm{3e200, 4e200} / 5e200 - 1) < 1e-15)
    assert.is_true(math.abs(ns.norm({{3e-200}, {4e-200}}, 2) / 5e-200 - 1) < 1e-15)
  end)

  it("satisfy what norms satisfy", function()
    for _ = 1, 10 do
      local A, B = random(6, 5), random(5, 7)
      for _, kind in ipairs{1, 2, "inf", "fro"} do
        assert.is_true(ns.norm(A * B, kind) <= ns.norm(A, kind) * ns.norm(B, kind) * (1 + 1e-14))
      end
      assert.is_true(ns.norm(A, 2) <= ns.norm(A) * (1 + 1e-14))
    end
  end)

  it("refuse other kinds and non-finite data", function()
    fails("norm: kind: expected 1, 2, math.huge, \"inf\" or \"fro\"", ns.norm, {1}, 3)
    fails("norm: x[2] is nan", ns.norm, {1, 0 / 0})
    fails("norm: A[1][1] is inf", ns.norm, {{math.huge}})
  end)

  it("give condition numbers", function()
    assert.is_true(math.abs(ns.cond{{1, 0}, {0, 1e-3}} - 1000) < 1e-9)
    assert.are.equal(math.huge, ns.cond{{0}})
    assert.are.equal(math.huge, ns.cond({{1, 1}, {1, 1}}, 1))
    assert.are.equal(1, ns.cond(ns.matrix(0, 0)))
    local A = random(8, 8)
    for _, kind in ipairs{1, 2, "inf", "fro"} do
      local expected = ns.norm(A, kind) * ns.norm(ns.inv(A), kind)
      assert.is_true(math.abs(ns.cond(A, kind) / expected - 1) < 1e-9)
    end
    assert.is_true(ns.cond(random(9, 4)) >= 1)
    fails("cond: A: expected a square matrix", ns.cond, ns.matrix(2, 3), 1)
  end)
end)
