-- What a user of sparse matrices meets: messages, printing, lifetime.
local ns = require "nslua"
local fails = require "expect".fails

local function triplets(i, j, v)
  return ns.sparse{rows = 5, cols = 4, i = i, j = j, v = v}
end

describe("the sparse userdata", function()
  it("names what is wrong with triplets", function()
    fails("sparse: i[3] = 7 is outside 1..5", triplets, {1, 2, 7}, {1, 1, 1}, {1, 1, 1})
    fails("sparse: i[1] = 0 is outside 1..5", triplets, {0}, {1}, {1})
    fails("sparse: j[2] = 5 is outside 1..4", triplets, {1, 1}, {1, 5}, {1, 1})
    fails("sparse: j[1] = 1.5 is not an integer", triplets, {1}, {1.5}, {1})
    fails("sparse: i[1] = 1e+300 is outside 1..5", triplets, {1e300}, {1}, {1})
    fails("sparse: i[1] is nan", triplets, {0 / 0}, {1}, {1})
    fails("sparse: v[2] is inf", triplets, {1, 2}, {1, 2}, {1, math.huge})
    fails("sparse: j: expected a vector of 2", triplets, {1, 2}, {1}, {1, 1})
    fails("sparse: v: expected a vector of 1", triplets, {1}, {1}, nil)
    fails("sparse: rows: expected an integer, got nil", ns.sparse, {})
    fails("sparse: cols: expected a size of 0 or more, got -1", ns.sparse,
          {rows = 1, cols = -1, i = {}, j = {}, v = {}})
    fails("sparse: unknown option 'row' (known: rows, cols, i, j, v)", ns.sparse, {row = 1})
    fails("sparse: argument: expected a table of triplets or a matrix, got number", ns.sparse, 3)
    fails("sparse: matrix[1][1] is nan", ns.sparse, {{0 / 0}})
    fails("sparse: entries of one place overflow when added", triplets, {1, 1}, {1, 1}, {1.7e308, 1.7e308})
  end)

  it("names what is wrong with operands", function()
    local S = ns.speye(3)
    fails("3 x 3 sparse matrix * vector of 2: sizes do not match", function() return S * ns.vector{1, 2} end)
    fails("3 x 3 * 2 x 2: sizes do not match (sparse matrices)", function() return S * ns.speye(2) end)
    fails("3 x 3 + 2 x 2: sizes do not match (sparse matrices)", function() return S + ns.speye(2) end)
    fails("3 x 3 - 1 x 1: sizes do not match (sparse and dense matrix)", function() return S - ns.matrix(1, 1) end)
    fails("1 x 2 * 3 x 3: sizes do not match", function() return ns.matrix(1, 2) * S end)
    fails("sparse matrix + number 1.0: expected a sparse or a dense matrix", function() return S + 1 end)
    fails("sparse matrix * string: expected a number, a vector or a matrix", function() return S * "a" end)
    fails("the factor must be finite", function() return S / 0 end)
    fails("3 x 3 sparse matrix / 3 x 3 sparse matrix: only a number divides", function() return S / S end)
    fails("get: (4, 1) is outside a 3 x 3 sparse matrix", S.get, S, 4, 1)
    fails("get: row index: expected an integer", S.get, S, 1.5, 1)
    fails("norm: kind: expected 1, math.huge, \"inf\" or \"fro\"", S.norm, S, 2)
  end)

  it("names what is wrong with diagonals", function()
    fails("spdiags: bands[1]: expected a vector of 2", ns.spdiags, {{1, 2, 3}}, {1}, 3)
    fails("spdiags: offsets[1] = 3 is outside -2..2", ns.spdiags, {1}, {3}, 3)
    fails("spdiags: offsets[1] = 0.5 is not an integer", ns.spdiags, {1}, {0.5}, 3)
    fails("spdiags: offsets: expected a vector of 1", ns.spdiags, {1}, {0, 1}, 3)
    fails("spdiags: bands[1]: expected a finite number", ns.spdiags, {0 / 0}, {0}, 3)
    fails("spdiags: bands: expected a table of diagonals", ns.spdiags, 1, {0}, 3)
    fails("speye: n: expected an integer", ns.speye, "3")
  end)

  it("prints as a grid when small and as a list when large", function()
    local text = tostring(ns.sparse{{1, 0}, {0, -2.5}})
    assert.are.equal("2 x 2 sparse matrix, 2 entries\n          1          .\n          .       -2.5", text)
    assert.are.equal("1 x 1 sparse matrix, 1 entry\n          7", tostring(ns.sparse{{7}}))
    text = tostring(ns.speye(100))
    assert.is_truthy(text:find("100 x 100 sparse matrix, 100 entries\n  (1, 1) 1\n  (2, 2) 1\n", 1, true))
    assert.is_truthy(text:find("\n  ... 88 more", 1, true))
    assert.is_true(#text < 300)
  end)

  it("works through ns.norm, ns.rcond, ns.lu as dense matrices do", function()
    local S = ns.sparse{{2, 0}, {0, 4}}
    assert.are.equal(4, ns.norm(S, 1))
    assert.are.equal(0.5, ns.rcond(S))
    assert.are.same({1, 1}, ns.lu(S):solve{2, 4}:totable())
    assert.are.equal(2, #S)
  end)

  it("survives the collector in any order", function()
    local lu
    do
      local S = ns.spdiags({-1, 3, -1}, {-1, 0, 1}, 50)
      S:solve(ns.matrix(50, 1))
      lu = S:lu()
    end
    collectgarbage() collectgarbage()
    assert.are.equal(50, #lu:solve(ns.matrix(50, 1)))
    for _ = 1, 200 do ns.speye(20):solve(ns.matrix(20, 1)) end
    collectgarbage()
  end)

  it("refuses objects of another type", function()
    local S = ns.speye(2)
    fails("sparse matrix expected, got 2 x 2 matrix", S.nnz, ns.matrix(2, 2))
    fails("SparseLU expected, got 2 x 2 sparse matrix", S:lu().solve, S, {1, 1})
  end)
end)
