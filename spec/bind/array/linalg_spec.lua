-- The dense functions as methods, positions in messages, arguments of every form.
local ns = require "nslua"
local fails = require "expect".fails

describe("linear algebra in Lua", function()
  local A = ns.matrix{{4, 1}, {1, 3}}

  it("is there as functions and as methods", function()
    local b = {5, 4}
    assert.are.equal(ns.solve(A, b), A:solve(b))
    assert.are.equal(ns.det(A), A:det())
    assert.are.equal(ns.inv(A), A:inv())
    assert.are.equal(ns.pinv(A), A:pinv())
    assert.are.equal(ns.rank(A), A:rank())
    assert.are.equal(ns.rcond(A), A:rcond())
    assert.are.equal(ns.cond(A), A:cond())
    assert.are.equal(ns.cholesky(A), A:cholesky())
    assert.are.equal(ns.expm(A), A:expm())
    for _, kind in ipairs{1, 2, math.huge, "fro"} do assert.are.equal(ns.norm(A, kind), A:norm(kind)) end
    assert.are.equal((ns.eigvals(A)), (A:eigvals()))
    assert.are.equal(ns.lstsq(A, b), (A:lstsq(b)))
    assert.are.equal(3, select("#", A:svd()))
    assert.are.equal(2, select("#", A:qr()))
    assert.are.equal(2, select("#", A:eigh()))
    assert.are.equal(3, select("#", A:eig()))
    assert.are.equal(2, #A:svdvals())
    assert.are.equal(0, A:null():cols())
    assert.are.equal(2, A:orth():cols())
    assert.are.same({1, 1}, A:lu():solve(b):map(function(x) return math.floor(x + 0.5) end):totable())
  end)

  it("says where in the script", function()
    local ok, message = pcall(function() return ns.solve({{0}}, {1}) end)
    assert.is_false(ok)
    assert.is_truthy(message:match("linalg_spec.lua:%d+: solve: A is singular %(row 1%)$"))
  end)

  it("names what it got", function()
    fails("inv: A: expected a square matrix, got 2 x 1 matrix", ns.inv, {{1}, {2}})
    fails("solve: A: expected a matrix, got string", ns.solve, "A", {1})
    fails("solve: b: expected a vector of 2, got nil", ns.solve, A)
    fails("solve: A[2]: expected 2 numbers, got 1", ns.solve, {{1, 2}, {3}}, {1, 2})
    fails("rank: rcond: expected a number of 0 or more, got string", ns.rank, A, "x")
    fails("norm: argument: expected a vector, got string", ns.norm, "x")
    fails("LU expected, got 2 x 2 matrix", ns.lu(A).solve, A, {1, 2})
    for _, name in ipairs{"solve", "lu", "inv", "det", "rcond", "qr", "cholesky", "lstsq", "pinv", "eig", "eigh",
                          "eigvals", "svd", "svdvals", "rank", "null", "orth", "expm", "norm", "cond"} do
      fails(name .. ": A[1][1] is inf", ns[name], {{math.huge}}, name == "solve" and {1} or nil)
      fails(name .. ": ", ns[name])
    end
  end)

  it("keeps an LU usable when its matrix is gone", function()
    local lu = ns.lu{{2, 0}, {0, 2}}
    collectgarbage() collectgarbage()
    assert.are.same({1, 2}, lu:solve{2, 4}:totable())
    do
      local closed <close> = ns.lu{{1}}
      lu = closed
    end
    fails("LU is closed", lu.solve, lu, {1})
    assert.are.equal("LU (closed)", tostring(lu))
  end)
end)
