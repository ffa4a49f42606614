-- Eigenvalues and eigenvectors.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, diag, T, small, orthonormal, fails =
  matrices.random, matrices.diag, matrices.T, matrices.small, matrices.orthonormal, matrices.fails

describe("eigenvalues", function()
  setup(function() math.randomseed(15) end)

  -- the real block diagonal matrix of the values
  local function blocks(re, im)
    local D = diag(re:totable())
    local j = 1
    while im and j <= #re do
      if im[j] ~= 0 then
        D[j][j + 1], D[j + 1][j] = im[j], -im[j]
        assert.is_true(im[j] > 0)
        assert.are.equal(-im[j], im[j + 1])
        j = j + 1
      end
      j = j + 1
    end
    return D
  end

  it("satisfy A V = V D, pairs as blocks", function()
    for n = 1, 40, 3 do
      local A = random(n, n)
      local re, im, V = ns.eig(A)
      small(A * V - V * blocks(re, im), 1e-12 * n * ns.norm(A))
      for j = 2, n do assert.is_true(re[j] >= re[j - 1]) end
      local trace = 0
      for i = 1, n do trace = trace + A[i][i] end
      assert.is_true(math.abs(re:sum() - trace) < 1e-12 * n)
      local re2, im2 = ns.eigvals(A)
      small(re2 - re, 1e-10)
      assert.are.equal(im == nil, im2 == nil)
      for j = 1, n do
        local length = ns.norm(V:column(j))
        if not im or im[j] == 0 then assert.is_true(math.abs(length - 1) < 1e-12) end
      end
    end
  end)

  it("of a rotation are a complex pair", function()
    local c, s = math.cos(0.3), math.sin(0.3)
    local re, im = ns.eig{{c, -s}, {s, c}}
    assert.is_true(math.abs(re[1] - c) < 1e-15 and math.abs(re[2] - c) < 1e-15)
    assert.is_true(math.abs(im[1] - s) < 1e-15 and math.abs(im[2] + s) < 1e-15)
  end)

  it("keep pairs together when real parts are equal", function()
    local A = ns.matrix(7, 7)
    for k, w in ipairs{3, 1, 2} do
      A[2 * k - 1][2 * k], A[2 * k][2 * k - 1] = w, -w
    end
    local re, im, V = ns.eig(A)
    assert.are.same({0, 1, -1, 2, -2, 3, -3}, im:map(function(x) return math.floor(x + 0.5) end):totable())
    small(A * V - V * blocks(re, im), 1e-13)
  end)

  it("that are all real come without im, sorted", function()
    local re, im, V = ns.eig{{3, 1}, {0, -2}}
    assert.is_nil(im)
    assert.is_true(math.abs(re[1] + 2) < 1e-15 and math.abs(re[2] - 3) < 1e-15)
    assert.are.equal(2, V:cols())
  end)

  it("of a symmetric matrix come with orthonormal vectors", function()
    for n = 1, 40, 4 do
      local X = random(n, n)
      local A = X + T(X)
      local re, im, V = ns.eig(A)
      assert.is_nil(im)
      orthonormal(V)
      small(A * V - V * diag(re:totable()), 1e-13 * n * (1 + ns.norm(A)))
      local w, W = ns.eigh(A)
      small(w - re, 1e-12 * n)
      orthonormal(W)
      for j = 2, n do assert.is_true(w[j] >= w[j - 1]) end
      small((ns.eigvals(A)) - w, 1e-12 * n)
    end
    fails("eigh: A is not symmetric", ns.eigh, {{1, 2}, {3, 4}})
  end)

  it("refuse what has none, and take 0 x 0", function()
    fails("eig: A: expected a square matrix, got 1 x 2 matrix", ns.eig, {{1, 2}})
    fails("eig: A[2][2] is nan", ns.eig, {{1, 2}, {3, 0 / 0}})
    fails("eigvals: A[1][1] is inf", ns.eigvals, {{math.huge}})
    local re, im, V = ns.eig(ns.matrix(0, 0))
    assert.are.equal(0, #re)
    assert.is_nil(im)
    assert.are.equal(0, V:rows())
  end)
end)
