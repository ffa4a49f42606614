-- Schur forms of matrices and pencils, and the equations that they solve.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, T, small, orthonormal = matrices.random, matrices.T, matrices.small, matrices.orthonormal

-- Upper triangular, but for 2 x 2 blocks.
local function quasi_triangular(S)
  for j = 1, S:cols() do
    for i = j + 1, S:rows() do
      if i > j + 1 then assert.are.equal(0, S[i][j]) end
    end
    if j > 1 and j < S:cols() then assert.is_true(S[j][j - 1] == 0 or S[j + 1][j] == 0) end
  end
end

describe("a Schur form", function()
  setup(function() math.randomseed(15) end)

  it("is that of the matrix, with the eigenvalues of a region first", function()
    for n = 1, 31, 5 do
      local A = random(n, n)
      for _, region in ipairs { "left", "disc" } do
        local S, Z, count = ns.schur(A, region)
        quasi_triangular(S)
        orthonormal(Z)
        small(Z * S * T(Z) - A, 1e-13 * n * A:norm())
        local re, im = ns.eigvals(A)
        local inside, here = 0, 0
        for i = 1, n do
          local modulus = math.sqrt(re[i] ^ 2 + (im and im[i] or 0) ^ 2)
          if region == "left" and re[i] < 0 or region == "disc" and modulus < 1 then inside = inside + 1 end
        end
        assert.are.equal(inside, count)
        if count > 0 then
          local first, pairs_ = ns.eigvals(S:slice(1, count, 1, count))
          for i = 1, count do
            local modulus = math.sqrt(first[i] ^ 2 + (pairs_ and pairs_[i] or 0) ^ 2)
            if region == "left" and first[i] < 0 or region == "disc" and modulus < 1 then here = here + 1 end
          end
        end
        assert.are.equal(count, here)
      end
      assert.are.equal(0, (select(3, ns.schur(A))))
    end
  end)

  it("is ordered anew", function()
    local S, Z = ns.schur { { 1, 5, 6 }, { 0, 2, 7 }, { 0, 0, 3 } }
    local R, Y = ns.ordschur(S, Z, { false, false, true })
    small(Y * R * T(Y) - Z * S * T(Z), 1e-13)
    assert.is_true(math.abs(R[1][1] - 3) < 1e-13 and math.abs(R[2][2] - 1) < 1e-13)
  end)

  it("is that of a pencil, without its infinite eigenvalues in the region", function()
    for n = 2, 20, 6 do
      local A, B = random(n, n), random(n, n)
      for j = 1, n do B[n][j] = 0 end -- one eigenvalue is infinite
      for _, region in ipairs { "left", "disc" } do
        local S, R, Q, Z, count = ns.qz(A, B, region)
        quasi_triangular(S)
        orthonormal(Q)
        orthonormal(Z)
        small(Q * S * T(Z) - A, 1e-13 * n * A:norm())
        small(Q * R * T(Z) - B, 1e-13 * n * A:norm())
        assert.is_true(count < n)
      end
    end
    assert.are.equal(1, (select(5, ns.qz({ { -1, 0 }, { 0, 2 } }, { { 1, 0 }, { 0, 1 } }, "left"))))
  end)

  it("solves Sylvester's and Stein's equations", function()
    for _, size in ipairs { { 1, 1 }, { 7, 3 }, { 3, 8 }, { 20, 20 } } do
      local m, n = size[1], size[2]
      local A, B, C = random(m, m), random(n, n), random(m, n)
      local X = ns.sylvester(A, B, C)
      small(A * X + X * B - C, 1e-13 * (A:norm() + B:norm()) * X:norm() + 1e-13 * C:norm())
      X = ns.stein(A, B, C)
      small(A * X * B - X - C, 1e-13 * (A:norm() * B:norm() + 1) * X:norm() + 1e-13 * C:norm())
    end
  end)
end)
