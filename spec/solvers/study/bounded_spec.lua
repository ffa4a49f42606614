require "nslua"
local internal = require "nslua.internal"

local UNSURE = 2

-- Exact for small integers: expansion by the first column.
local function determinant(M)
  local n = #M
  if n == 0 then return 1 end
  local sum = 0
  for i = 1, n do
    if M[i][1] ~= 0 then
      local minor = {}
      for k = 1, n do
        if k ~= i then minor[#minor + 1] = table.move(M[k], 2, n, 1, {}) end
      end
      sum = sum + (i % 2 == 1 and 1 or -1) * M[i][1] * determinant(minor)
    end
  end
  return sum
end

local function sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end

local function random(n, range)
  local M = {}
  for i = 1, n do
    M[i] = {}
    for j = 1, n do M[i][j] = math.random(-range, range) end
  end
  return M
end

local function all(n)
  local index = {}
  for i = 1, n do index[i] = i end
  return index
end

describe("the sign of a minor", function()
  it("is that of exact arithmetic, zero too", function()
    math.randomseed(3)
    local zeros = 0
    for _ = 1, 150 do
      local n = math.random(1, 6)
      local M = random(n, math.random(1, 3))
      if n > 1 and math.random() < 0.3 then M[n] = M[1] end
      local expected = sign(determinant(M))
      zeros = zeros + (expected == 0 and 1 or 0)
      local exact, bounded = internal.minor_sign { M = M, index = all(n) }
      assert.equal(expected, exact)
      assert.is_true(bounded == expected or bounded == UNSURE)
    end
    assert.is_true(zeros > 20)
  end)

  it("does not change with powers of two", function()
    math.randomseed(4)
    for _ = 1, 60 do
      local n = math.random(1, 5)
      local M, scaled = random(n, 2), {}
      for i = 1, n do
        scaled[i] = {}
        for j = 1, n do scaled[i][j] = M[i][j] * 2.0 ^ -30 end
      end
      assert.equal(sign(determinant(M)), (internal.minor_sign { M = scaled, index = all(n) }))
    end
  end)

  it("takes rows and columns by their numbers", function()
    math.randomseed(5)
    for _ = 1, 60 do
      local M, index, minor = random(6, 2), {}, {}
      for i = 1, 6 do
        if math.random() < 0.5 then index[#index + 1] = i end
      end
      for a, i in ipairs(index) do
        minor[a] = {}
        for b, j in ipairs(index) do minor[a][b] = M[i][j] end
      end
      assert.equal(sign(determinant(minor)), (internal.minor_sign { M = M, index = index }))
    end
  end)

  it("is never wrong where rounding hides it", function()
    -- det = 0 exactly in reals, but not of the rounded entries; and off it by one unit in the last place
    for _, M in ipairs {
      { { 0.1, 0.3 }, { 0.2, 0.6 } }, { { 1 / 3, 1 }, { 1, 3 } }, { { 1 + 2 ^ -52, 1 }, { 1, 1 - 2 ^ -52 } },
    } do
      local exact, bounded = internal.minor_sign { M = M, index = { 1, 2 } }
      local a, b = M[1][1] * M[2][2], M[1][2] * M[2][1]
      if bounded ~= UNSURE and bounded ~= 0 and a ~= b then assert.equal(sign(a - b), bounded) end
      assert.is_true(exact == bounded or bounded == UNSURE)
    end
    -- (1 + e)(1 - e) - 1 = -e^2: below what products show
    assert.not_equal(1, (internal.minor_sign { M = { { 1 + 2 ^ -52, 1 }, { 1, 1 - 2 ^ -52 } }, index = { 1, 2 } }))
  end)

  it("of nothing is positive", function()
    assert.equal(1, (internal.minor_sign { M = { { 5 } }, index = {} }))
  end)
end)

describe("a minor that no floating-point number tells from zero", function()
  it("has the sign of its integer, 1 or -1", function()
    local a = 2 ^ 27
    local minus, plus = { { a + 1, a }, { a, a - 1 } }, { { a, a - 1 }, { a + 1, a } }
    assert.equal(-1, (internal.minor_sign { M = minus, index = { 1, 2 } }))
    assert.equal(1, (internal.minor_sign { M = plus, index = { 1, 2 } }))
    assert.equal(0, (internal.minor_sign { M = { { a, a - 1 }, { a, a - 1 } }, index = { 1, 2 } }))
  end)
end)
