-- Solving with the factors of small matrices, which has code of its own for each order.
local ns = require "nslua"
local uniform = require "random_numbers".uniform

describe("small orders", function()
  it("solve to rounding, with exchanges of rows", function()
    math.randomseed(5)
    for n = 1, 6 do
      local A, b, at = ns.zeros(n, n), ns.zeros(n), {}
      for i = 1, n do at[i] = i % n + 1 end
      for i = 1, n do
        b[i] = uniform(-1, 1)
        for j = 1, n do A[i][j] = j == at[i] and uniform(2, 3) or uniform(-0.3, 0.3) end
      end
      local x = A:solve(b)
      for i = 1, n do
        local sum, size = -b[i], math.abs(b[i])
        for j = 1, n do sum, size = sum + A[i][j] * x[j], size + math.abs(A[i][j] * x[j]) end
        assert.is_true(math.abs(sum) <= 4e-16 * n * size, ("order %d, row %d: %g of %g"):format(n, i, sum, size))
      end
    end
  end)

  it("solve permutations and powers of two without rounding", function()
    for n = 1, 6 do
      local A, b = ns.zeros(n, n), ns.zeros(n)
      for i = 1, n do A[i][i % n + 1], b[i] = 2.0 ^ i, i / 3 end
      local x = A:solve(b)
      for i = 1, n do assert.are.equal(b[i] / 2.0 ^ i, x[i % n + 1]) end
    end
  end)
end)
