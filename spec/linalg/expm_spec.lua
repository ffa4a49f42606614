-- The exponential.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, diag, eye, small, fails = matrices.random, matrices.diag, matrices.eye, matrices.small, matrices.fails

describe("the exponential", function()
  setup(function() math.randomseed(17) end)

  it("of nilpotent, diagonal and rotation matrices", function()
    assert.are.same({{1, 1, 0.5}, {0, 1, 1}, {0, 0, 1}}, ns.expm{{0, 1, 0}, {0, 0, 1}, {0, 0, 0}}:totable())
    local values = {-30, -1, 0, 1e-9, 0.2, 3, 20}
    local E = ns.expm(diag(values))
    for i, value in ipairs(values) do
      assert.is_true(math.abs(E[i][i] - math.exp(value)) <= 1e-13 * math.exp(value))
    end
    for _, w in ipairs{1e-3, 0.2, 0.9, 2, 5, 50} do
      local c, s = math.cos(w), math.sin(w)
      small(ns.expm{{0, -w}, {w, 0}} - ns.matrix{{c, -s}, {s, c}}, 1e-14 * (1 + w))
    end
    assert.are.equal(0, ns.expm(ns.matrix(0, 0)):rows())
    assert.are.same(eye(4):totable(), ns.expm(ns.matrix(4, 4)):totable())
  end)

  it("agrees with its series at every degree", function()
    for _, scale in ipairs{0.005, 0.05, 0.2, 0.5, 1, 3, 8} do
      local A = random(6, 6)
      A = A * (scale / ns.norm(A, 1))
      local sum, term = eye(6), eye(6)
      for k = 1, 80 do
        term = term * A * (1 / k)
        sum = sum + term
      end
      small(ns.expm(A) - sum, 1e-13 * math.exp(scale))
    end
  end)

  it("satisfies exp(A) exp(-A) = I and det exp(A) = exp(trace A)", function()
    for n = 1, 30, 4 do
      local A = random(n, n)
      local E = ns.expm(A)
      small(E * ns.expm(-A) - eye(n), 1e-13 * n * ns.norm(E) * ns.norm(ns.expm(-A)))
      local expected = math.exp(A:trace())
      assert.is_true(math.abs(ns.det(E) / expected - 1) < 1e-8)
    end
  end)

  it("refuses what overflows or is not finite", function()
    fails("expm: the exponential of A overflows", ns.expm, {{1000}})
    fails("expm: A[1][1] is nan", ns.expm, {{0 / 0}})
    fails("expm: A: expected a square matrix", ns.expm, ns.matrix(2, 1))
    assert.are.equal(0, ns.expm{{-1e6}}[1][1])
  end)
end)
