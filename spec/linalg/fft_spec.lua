-- Fourier transforms: definition, inverse, Parseval, accuracy; lengths with small, large and many prime factors.
local ns = require "nslua"

local function norm(a, b) return math.sqrt(a:dot(a) + b:dot(b)) end

-- The transform by its definition, with exact reduction of the angles.
local function slow(re, im)
  local n = #re
  local a, b = ns.zeros(n), ns.zeros(n)
  for k = 0, n - 1 do
    for j = 0, n - 1 do
      local angle = -2 * math.pi * (j * k % n) / n
      local c, s = math.cos(angle), math.sin(angle)
      a[k + 1] = a[k + 1] + re[j + 1] * c - im[j + 1] * s
      b[k + 1] = b[k + 1] + re[j + 1] * s + im[j + 1] * c
    end
  end
  return a, b
end

describe("ns.fft #once", function()
  it("is the transform of its definition for every length up to 80", function()
    local rng = ns.rng(5)
    for n = 1, 80 do
      local re, im = rng:normal(n), rng:normal(n)
      local a, b = ns.fft(re, im)
      local c, d = slow(re, im)
      assert.is_true(norm(a - c, b - d) <= 4e-15 * norm(c, d), tostring(n))
      local x, y = ns.ifft(a, b)
      assert.is_true(norm(x - re, y - im) <= 1e-15 * norm(re, im), tostring(n))
    end
  end)

  it("loses no digits in long transforms", function()
    local rng = ns.rng(7)
    for _, n in ipairs { 4096, 6561, 10007, 2 * 5003, 30030, 2 ^ 17 // 1 } do
      local re, im = rng:normal(n), rng:normal(n)
      local a, b = ns.fft(re, im)
      assert.near(1, norm(a, b) / norm(re, im) / math.sqrt(n), 1e-15 * math.log(n)) -- Parseval
      local x, y = ns.ifft(a, b)
      assert.is_true(norm(x - re, y - im) <= 1e-16 * math.log(n) * norm(re, im), tostring(n))
      -- a wave of one frequency has one number
      local k = n // 3
      for j = 0, n - 1 do
        local angle = 2 * math.pi * (j * k % n) / n
        re[j + 1], im[j + 1] = math.cos(angle), math.sin(angle)
      end
      a, b = ns.fft(re, im)
      assert.near(n, a[k + 1], 1e-12 * n)
      a[k + 1] = 0
      assert.is_true(norm(a, b) < 1e-12 * n)
    end
  end)

  it("transforms real vectors", function()
    local rng = ns.rng(9)
    for _, n in ipairs { 1, 2, 3, 8, 9, 37, 100 } do
      local x = rng:normal(n)
      local re, im = ns.rfft(x)
      local a, b = ns.fft(x)
      assert.equal(n // 2 + 1, #re)
      assert.equal(0, (re - a(1, #re)):norm())
      assert.equal(0, (im - b(1, #re)):norm())
      assert.is_true((ns.irfft(re, im, n) - x):norm() <= 1e-15 * x:norm())
      if n % 2 == 0 then assert.equal(n, #ns.irfft(re, im)) end
    end
  end)

  it("scales exactly by powers of two", function()
    local x = ns.rng(1):normal(60)
    local a, b = ns.fft(x)
    local c, d = ns.fft(x * 2.0 ^ 200)
    assert.equal(0, (a * 2.0 ^ 200 - c):norm() + (b * 2.0 ^ 200 - d):norm())
  end)
end)
