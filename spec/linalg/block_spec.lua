-- Matrices of small blocks against dense ones.
local ns = require "nslua"
local internal = require "nslua.internal"
local matrices = require "linalg.matrices"
local random_vector = matrices.random_vector

-- Random blocks, some of them zero; the dense matrix.
local function random(dim, nb)
  local A, n = ns.matrix(dim * nb, dim * nb), dim * nb
  for i = 1, n do
    for j = 1, n do
      if (math.floor((i - 1) / dim) * 7 + math.floor((j - 1) / dim) * 5) % 3 > 0 then A[i][j] = 2 * math.random() - 1 end
    end
  end
  return A
end

-- What is not in the diagonal blocks.
local function outside(A, dim)
  local B = A:copy()
  for i = 1, A:rows() do
    for j = 1, A:rows() do
      if (i - 1) // dim == (j - 1) // dim then B[i][j] = 0 end
    end
  end
  return B
end

describe("a block matrix", function()
  setup(function() math.randomseed(29) end)

  it("is the dense, sparse or listed one it was made from, and multiplies so", function()
    for dim = 1, 6 do
      for nb = 1, 6 do
        local A, n = random(dim, nb), dim * nb
        local x, q = random_vector(n), random_vector(n)
        local i, j, v = {}, {}, {}
        for r = 1, n do
          for c = 1, n do
            if A[r][c] ~= 0 then -- in two parts, which are added
              for _, part in ipairs{0.25, 0.75} do i[#i + 1], j[#j + 1], v[#v + 1] = r, c, part * A[r][c] end
            end
          end
        end
        for _, from in ipairs{{M = A}, {M = A, sparse = true}, {n = n, i = i, j = j, v = v}} do
          from.dim, from.x, from.q = dim, x, q
          local r = internal.block(from)
          assert.are.equal("NS_OK", r.status)
          matrices.small(r.dense - A, 1e-15 * n)
          matrices.small(r.y - (A * x + q), 1e-14 * n)
          matrices.small(r.outside - outside(A, dim) * x, 1e-14 * n)
        end
      end
    end
  end)

  it("stores blocks that are not zero, and those of the diagonal", function()
    assert.are.equal(3, internal.block({dim = 2, M = ns.matrix(6, 6)}).count)
    local A = ns.matrix(6, 6)
    A[1][6] = 1
    assert.are.equal(4, internal.block({dim = 2, M = A}).count)
    assert.are.equal(4, internal.block({dim = 2, M = A, sparse = true}).count)
    assert.are.equal(4, internal.block({dim = 2, n = 6, i = {1, 2}, j = {6, 5}, v = {1, 1}}).count)
  end)

  it("refuses what it can not be, and is not made then", function()
    local function status(expected, from)
      local r = internal.block(from)
      assert.are.same({expected, false}, {r.status, r.made or false})
    end
    status("NS_EARG", {dim = 0, M = ns.eye(2)})
    status("NS_EARG", {dim = 7, M = ns.eye(7)})
    status("NS_ESIZE", {dim = 3, M = ns.eye(4)})
    status("NS_ESIZE", {dim = 3, M = ns.eye(4), sparse = true})
    status("NS_ENAN", {dim = 1, M = {{0 / 0}}})
    status("NS_EARG", {dim = 1, n = 2, i = {3}, j = {1}, v = {1}})
    status("NS_EARG", {dim = 1, n = 2, i = {1}, j = {0}, v = {1}})
    status("NS_ENAN", {dim = 1, n = 2, i = {1}, j = {1}, v = {math.huge}})
  end)
end)
