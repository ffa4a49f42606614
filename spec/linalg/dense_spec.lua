-- Products and norms, small and large, on views with strides of any sign, against plain loops.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, random_vector, small = matrices.random, matrices.random_vector, matrices.small

local function product(A, x)
  local y = {}
  for i = 1, A:rows() do
    y[i] = 0
    for j = 1, A:cols() do y[i] = y[i] + A[i][j] * x[j] end
  end
  return ns.vector(y)
end

describe("dense products", function()
  setup(function() math.randomseed(31) end)

  local sizes = {{1, 1}, {3, 2}, {8, 8}, {17, 33}, {64, 5}, {5, 64}, {70, 70}}

  it("with a vector, from both sides", function()
    for _, size in ipairs(sizes) do
      local m, n = size[1], size[2]
      local A, x, y = random(m, n), random_vector(n), random_vector(m)
      small(A * x - product(A, x), 1e-13 * n)
      small(y * A - product(A:transpose(), y), 1e-13 * m)
    end
  end)

  it("with every second element, forwards and backwards, and with rows", function()
    for _, n in ipairs{1, 4, 40} do
      local A, long = random(n, n), random_vector(2 * n)
      for _, x in ipairs{long:slice(1, 2 * n - 1, 2), long:slice(2 * n - 1, 1, -2), random(n, n)[1]} do
        small(A * x - product(A, x), 1e-13 * n)
        small(x * A - product(A:transpose(), x), 1e-13 * n)
        local sum = 0
        for i = 1, n do sum = sum + x[i] * x[i] end
        assert.is_true(math.abs(x:dot(x) - sum) <= 1e-14 * (1 + sum))
      end
    end
  end)

  it("of matrices, column by column", function()
    for _, size in ipairs(sizes) do
      local A, B = random(size[1], size[2]), random(size[2], 7)
      local C = A * B
      for j = 1, 7 do small(C:column(j) - product(A, B:column(j)), 1e-13 * size[2]) end
    end
  end)

  it("that are empty are zero", function()
    assert.are.same({0, 0}, (ns.matrix(2, 0) * ns.vector(0)):totable())
    assert.are.same({{0, 0}}, (ns.matrix(1, 0) * ns.matrix(0, 2)):totable())
    assert.are.equal(0, ns.vector(0):dot(ns.vector(0)))
  end)
end)

describe("dense norms", function()
  it("of views are those of copies", function()
    math.randomseed(32)
    local A = random(9, 8)
    for _, kind in ipairs{1, "inf", "fro"} do
      assert.are.equal(ns.norm(A:transpose():transpose(), kind), ns.norm(A, kind))
      local row = A[3]
      assert.is_true(math.abs(ns.norm(row:copy(), kind) - ns.norm(row, kind)) <= 1e-15 * ns.norm(row, kind))
    end
    assert.is_true(math.abs(ns.norm(A, 1) - ns.norm(A:transpose(), "inf")) <= 1e-14)
  end)

  it("are nan where an entry is, and infinite where one is", function()
    for _, p in ipairs{1, 2, math.huge} do
      local n = ns.vector{1, 0 / 0, 3}:norm(p)
      assert.is_true(n ~= n)
      assert.are.equal(math.huge, ns.vector{1, -math.huge, 3}:norm(p))
    end
  end)
end)
