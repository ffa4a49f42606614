-- Complex LU, by the hidden function zlu: residuals, units, singular matrices; no allocation while it works.
require "nslua.core"
local internal = require "nslua.internal"

local EPS = 2.220446049250313e-16

-- n^2 or n complex numbers as pairs.
local function random(count)
  local out = {}
  for i = 1, 2 * count do out[i] = 2 * math.random() - 1 end
  return out
end

-- A x as pairs, and the largest sum of |A_ij| |x_j|.
local function times(n, A, x)
  local out, most = {}, 0
  for i = 1, n do
    local re, im, sum = 0, 0, 0
    for j = 1, n do
      local k = 2 * (i - 1 + (j - 1) * n)
      local a, b, c, d = A[k + 1], A[k + 2], x[2 * j - 1], x[2 * j]
      re, im = re + a * c - b * d, im + a * d + b * c
      sum = sum + math.sqrt((a * a + b * b) * (c * c + d * d))
    end
    out[2 * i - 1], out[2 * i], most = re, im, math.max(most, sum)
  end
  return out, most
end

local function residual(n, A, x, b)
  local y, scale = times(n, A, x)
  local most = 0
  for i = 1, 2 * n do most = math.max(most, math.abs(y[i] - b[i])) end
  return most / scale
end

describe("the complex LU", function()
  setup(function() math.randomseed(12) end)

  it("solves with residuals of rounding size, below and above the size of its own code, and allocates nothing", function()
    for _, n in ipairs { 1, 2, 3, 5, 8, 17, 31, 32, 33, 34, 60 } do
      local A, b = random(n * n), random(n)
      local x, made = internal.zlu(n, A, b)
      assert.is_true(residual(n, A, x, b) <= 100 * n * EPS)
      assert.equal(0, made)
    end
    assert.same({}, (internal.zlu(0, {}, {})))
  end)

  it("exchanges rows: a zero on the diagonal", function()
    -- [0, i; 2, 0] x = (3, 4 i)
    local x = internal.zlu(2, { 0, 0, 2, 0, 0, 1, 0, 0 }, { 3, 0, 0, 4 })
    assert.same({ 0, 2, 0, -3 }, x)
  end)

  it("divides numbers near the ends of the range", function()
    assert.same({ 0.5, -0.5 }, (internal.zlu(1, { 1e300, 1e300 }, { 1e300, 0 })))
    assert.same({ 0.5, -0.5 }, (internal.zlu(1, { 1e-300, 1e-300 }, { 1e-300, 0 })))
  end)

  it("takes no unit, of an equation or of an unknown, for a singular matrix", function()
    for _, n in ipairs { 3, 40 } do
      local A, b = random(n * n), random(n)
      for j = 1, n do
        for i = 1, n do
          local k = 2 * (i - 1 + (j - 1) * n)
          local unit = 10 ^ (20 * (i % 3) - 15 * (j % 2))
          A[k + 1], A[k + 2] = unit * A[k + 1], unit * A[k + 2]
        end
      end
      local x = internal.zlu(n, A, b)
      assert.is_table(x)
    end
  end)

  it("names the row of a singular matrix, and refuses nan and infinities", function()
    for _, n in ipairs { 4, 40 } do
      local A = random(n * n)
      for j = 1, n do -- the last row is i times the first
        local k = 2 * (j - 1) * n
        A[k + 2 * n - 1], A[k + 2 * n] = -A[k + 2], A[k + 1]
      end
      local x, name, row = internal.zlu(n, A, random(n))
      assert.is_nil(x)
      assert.equal("NS_ESINGULAR", name)
      assert.is_true(row >= 1 and row <= n)
      for _, bad in ipairs { 0 / 0, math.huge } do
        A = random(n * n)
        A[n + 1] = bad
        x, name = internal.zlu(n, A, random(n))
        assert.is_nil(x)
        assert.equal("NS_ENAN", name)
      end
    end
    assert.equal("NS_EARG", (select(2, internal.zlu(-1, {}, {}))))
    local _, name, row = internal.zlu(2, { 0, 0, 1, 0, 0, 0, 1, 0 }, { 0, 0, 0, 0 }) -- a row of zeros
    assert.same({ "NS_ESINGULAR", 1 }, { name, row })
  end)
end)
