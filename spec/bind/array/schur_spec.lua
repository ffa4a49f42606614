-- Arguments of the Schur forms and of the equations that they solve.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, T, small, fails = matrices.random, matrices.T, matrices.small, matrices.fails

describe("a Schur form", function()
  it("takes views of parts", function()
    local A = random(6, 6)
    local S, Z = ns.schur(A:slice(2, 5, 2, 5))
    small(Z * S * T(Z) - A:slice(2, 5, 2, 5), 1e-13 * A:norm())
  end)

  it("refuses", function()
    fails("schur: A: expected a square matrix, got 1 x 2 matrix", ns.schur, { { 1, 2 } })
    fails("schur: A[1][1] is nan", ns.schur, { { 0 / 0 } })
    fails("schur: first: expected \"left\" or \"disc\", got string", ns.schur, { { 1 } }, "right")
    fails("qz: A is 1 x 1, B is 2 x 2", ns.qz, { { 1 } }, { { 1, 0 }, { 0, 1 } })
    fails("ordschur: chosen: expected a list of booleans", ns.ordschur, { { 1 } }, { { 1 } })
    fails("sylvester: A and -B share an eigenvalue", ns.sylvester, { { 2 } }, { { -2 } }, { { 1 } })
    fails("stein: the product of an eigenvalue of A and one of B is 1", ns.stein, { { 2 } }, { { 0.5 } }, { { 1 } })
    fails("stein: C[1]: expected 1 numbers, got 2", ns.stein, { { 2 } }, { { 3 } }, { { 1, 2 } })
  end)
end)
