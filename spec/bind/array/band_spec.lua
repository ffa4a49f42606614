-- Band matrices as scripts meet them: entries that change, messages, printing.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local fails, random_vector = matrices.fails, matrices.random_vector

describe("a band matrix in Lua", function()
  setup(function() math.randomseed(23) end)

  it("follows its entries after a solve", function()
    local A = ns.band(2, 0, 0)
    A:set(1, 1, 2):set(2, 2, 4)
    assert.are.same({1, 1}, A:solve{2, 4}:totable())
    A:set(2, 2, 8)
    assert.are.same({1, 0.5}, A:solve{2, 4}:totable())
  end)

  it("names the row of a singular matrix", function()
    local A = ns.band(6, 1, 2)
    for i = 1, 6 do
      for j = math.max(1, i - 1), math.min(6, i + 2) do A:set(i, j, 2 * math.random() - 1) end
    end
    for j = 2, 6 do A:set(3, math.min(math.max(j, 2), 5), 0) end
    fails("solve: A is singular (row 3)", A.solve, A, random_vector(6))
    fails("rcond: A is singular (row 3)", A.rcond, A)
    local B = ns.band{{1, 2}, {2, 4}}
    fails("solve: A is singular (row ", ns.solve, B, {1, 1})
    fails("solve: A is singular to working precision (rcond 1e-18)", ns.solve, ns.band{{1, 0}, {0, 1e-18}}, {1, 1})
  end)

  it("refuses bad arguments by name", function()
    local A = ns.band(4, 1, 0)
    fails("set: (1, 2) is outside the band (kl 1, ku 0)", A.set, A, 1, 2, 1)
    fails("set: (5, 1) is outside a 4 x 4 band matrix", A.set, A, 5, 1, 1)
    fails("get: (0, 1) is outside a 4 x 4 band matrix", A.get, A, 0, 1)
    fails("set: value: expected a finite number", A.set, A, 1, 1, 0 / 0)
    fails("band: kl: expected an integer in 0..3, got 4", ns.band, 4, 4, 0)
    fails("band: n: expected an integer in 0..", ns.band, -1, 0, 0)
    fails("band: A: expected a square matrix, got 2 x 3 matrix", ns.band, ns.matrix(2, 3))
    fails("band: A[1][1] is nan", ns.band, {{0 / 0}})
    for i = 1, 4 do A:set(i, i, 1) end
    fails("solve: b: expected a vector of 4", A.solve, A, {1})
    fails("solve: b[3] is inf", A.solve, A, {1, 2, math.huge, 4})
    fails("band matrix * number 2.0: a band matrix multiplies vectors and matrices from the left",
          function() return A * 2 end)
    fails("band matrix *: b: expected a vector of 4, got vector of 2", function() return A * ns.vector{1, 2} end)
  end)

  it("takes 0 x 0 and prints readably", function()
    local A = ns.band(0, 0, 0)
    assert.are.equal(0, #A:solve(ns.vector{}))
    assert.are.equal(1, A:rcond())
    assert.are.equal("0 x 0 band matrix (kl 0, ku 0)", tostring(A))
    assert.are.equal("100 x 100 band matrix (kl 2, ku 1)", tostring(ns.band(100, 2, 1)))
    assert.is_truthy(tostring(ns.band{{1, 2}, {0, 3}}):find("2 x 2 band matrix (kl 0, ku 1)\n[ 1  2", 1, true))
  end)
end)
