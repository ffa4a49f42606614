-- Polynomials in Bernstein's form: values, halves, the first root, none lost.
require "nslua"
local bernstein = require "nslua.internal".bernstein
local random = math.random

-- Coefficients of the product of (x - r) over the roots, times s, by multiplying Bernstein forms: of degree 1, -r and 1 - r.
local function binomial(n, k)
  local c = 1
  for i = 1, k do c = c * (n - k + i) / i end
  return c
end

local function product(a, b)
  local m, n, out = #a - 1, #b - 1, {}
  for k = 0, m + n do
    local sum = 0
    for i = math.max(0, k - n), math.min(m, k) do
      sum = sum + binomial(m, i) * binomial(n, k - i) * a[i + 1] * b[k - i + 1]
    end
    out[k + 1] = sum / binomial(m + n, k)
  end
  return out
end

local function with_roots(roots, s)
  local p = { s or 1 }
  for _, r in ipairs(roots) do p = product(p, { -r, 1 - r }) end
  return p
end

local function value(roots, s, x)
  for _, r in ipairs(roots) do s = s * (x - r) end
  return s
end

describe("a polynomial in Bernstein's form", function()
  setup(function() math.randomseed(91) end)

  it("has the values and slopes of the polynomial, and its halves have them too", function()
    for _ = 1, 200 do
      local roots = {}
      for i = 1, random(0, 8) do roots[i] = 3 * random() - 1 end
      local p, x = with_roots(roots, 2), random()
      local left, right = bernstein.split(p)
      local y, slope = bernstein.at(p, x)
      assert.near(value(roots, 2, x), y, 1e-13)
      assert.near((value(roots, 2, x + 1e-5) - value(roots, 2, x - 1e-5)) / 2e-5, slope, 1e-5)
      assert.near(value(roots, 2, x / 2), bernstein.at(left, x), 1e-13)
      assert.near(value(roots, 2, 0.5 + x / 2), bernstein.at(right, x), 1e-13)
      assert.near(value(roots, 2, 0), p[1], 1e-13)
      assert.near(value(roots, 2, 1), p[#p], 1e-13)
    end
  end)

  it("is that of dense output", function()
    for rows = 1, 8 do
      local F, y0, x = {}, random(), random()
      for i = 1, rows do F[i] = random() - 0.5 end
      local sum = 0
      for f = rows - 1, 0, -1 do sum = (sum + F[f + 1]) * (f % 2 == 0 and x or 1 - x) end
      local b = bernstein.of_dense(y0, F)
      assert.equal(rows + 1, #b)
      assert.near(y0 + sum, bernstein.at(b, x), 1e-15)
    end
  end)

  it("goes through values at the nodes, exact up to degree 8, with an error that is told beyond", function()
    local nodes = bernstein.nodes()
    assert.equal(9, #nodes)
    assert.equal(0, nodes[1])
    assert.equal(0.5, nodes[5])
    assert.equal(1, nodes[9])
    for degree = 0, 8 do
      local roots, v = {}, {}
      for i = 1, degree do roots[i] = 2 * random() - 0.5 end
      for k, x in ipairs(nodes) do v[k] = value(roots, 1, x) end
      local b = bernstein.interpolate(v)
      for _ = 1, 20 do
        local x = random()
        assert.near(value(roots, 1, x), bernstein.at(b, x), 1e-13)
      end
    end
    for w = 1, 12 do
      local v, phase, worst = {}, random(), 0
      for k, x in ipairs(nodes) do v[k] = math.sin(w * x + phase) end
      local b, off = bernstein.interpolate(v)
      for i = 0, 100 do worst = math.max(worst, math.abs(bernstein.at(b, i / 100) - math.sin(w * i / 100 + phase))) end
      assert.is_true(worst <= 1e-14 + off * (w < 8 and 1 or 3), ("w = %d: %g told, %g"):format(w, off, worst))
    end
  end)

  it("has its first root found, and none when there is none", function()
    for _ = 1, 2000 do
      local roots, least = {}, nil
      for i = 1, random(0, 7) do
        roots[i] = 0.01 + 1.5 * random()
        if roots[i] <= 1 and (not least or roots[i] < least) then least = roots[i] end
      end
      local x = bernstein.first(with_roots(roots, #roots % 2 == 0 and 1 or -1))
      if not least then assert.is_nil(x)
      else assert.near(least, x, 1e-9) end
    end
  end)

  it("has no dip lost, however short, and no miss taken for one", function()
    for _ = 1, 2000 do
      local at, half = 0.01 + 0.98 * random(), 10 ^ (-5.5 * random())
      local other = { 1.1 + 3 * random(), 1.1 + 3 * random(), -3 * random() - 0.1 }
      local parabola = { at * at - half * half, at * at - at - half * half, (1 - at) ^ 2 - half * half }
      local dip, miss = product(parabola, with_roots(other)), { at * at + half * half, at * at - at + half * half,
        (1 - at) ^ 2 + half * half }
      if at - half > 0 then
        assert.near(at - half, bernstein.first(dip), 1e-12 + 1e-15 / half)
        assert.is_nil(bernstein.first(product(miss, with_roots(other))))
      end
    end
    -- a touch
    assert.near(0.25, bernstein.first { 0.0625, -0.1875, 0.5625 }, 1e-15)
  end)

  it("starts at 0 or below: the root is there; a root at 0 can be divided out", function()
    assert.equal(0, bernstein.first { 0, 1, 1 })
    assert.equal(0, bernstein.first { -1, 1, 1 })
    assert.equal(1, bernstein.first { 1, 1, 0 })
    assert.is_nil(bernstein.first { 1, 1, 1e-300 })
    local b = with_roots { 0, 0.375, 2 }
    local c = bernstein.divide(b)
    for i, r in ipairs(with_roots { 0.375, 2 }) do assert.near(r, c[i], 1e-15) end
    assert.near(0.375, bernstein.first(c), 1e-15)
  end)

  it("counts changes of sign", function()
    assert.equal(0, bernstein.changes { 1, 0, 2, 0 })
    assert.equal(1, bernstein.changes { 1, 0, -2, -1 })
    assert.equal(3, bernstein.changes { -1, 0, 2, -1, 0, 0, 4 })
  end)

  it("has no root behind a start above 0 where it is not finite", function()
    for _, off in ipairs { 0 / 0, 1 / 0, -1 / 0 } do -- at once: it was searched for in all of 2^52 parts
      assert.is_nil((bernstein.first { 1, off, 2, 3 }))
      assert.equal(0, (bernstein.first { 0, off, 2, 3 }))
    end
  end)

  it("keeps its roots, bit for bit, when its values are scaled by a power of two", function()
    for _ = 1, 100 do
      local p, q = with_roots({ random(), 1 + random(), -random(), 0.5 + random() }, 1), {}
      if p[1] < 0 then for k = 1, #p do p[k] = -p[k] end end
      local scale = 2.0 ^ random(-300, 300)
      for k = 1, #p do q[k] = p[k] * scale end
      assert.equal(bernstein.first(p), bernstein.first(q))
    end
  end)
end)
