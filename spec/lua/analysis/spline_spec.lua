-- Cubic splines: interpolation, smoothness, end conditions, order 4, integrals.
local ns = require "nslua"
local message = require("expect").message

local kinds = { "not-a-knot", "natural", "clamped", "periodic" }
local x = { 0, 0.4, 1, 1.1, 2, 2.7, 3 }
local y = { 1, 2, -1, 0, 0.5, 3, 1 }

describe("ns.spline", function()
  it("goes through the points with two continuous derivatives", function()
    for _, kind in ipairs(kinds) do
      local s = ns.spline(x, y, { ends = kind })
      for i = 1, #x - (kind == "periodic" and 1 or 0) do assert.near(y[i], s(x[i]), 1e-14) end
      for i = 2, #x - 1 do
        for order = 0, 2 do
          local h = 1e-9
          local before, after = s:derivative(x[i] - h, order), s:derivative(x[i] + h, order)
          assert.near(before, after, 1e-5 * math.max(1, math.abs(before)), kind)
        end
      end
    end
  end)

  it("has the asked ends", function()
    local s = ns.spline(x, y, { ends = "natural" })
    assert.near(0, s:derivative(0, 2), 1e-12)
    assert.near(0, s:derivative(3, 2), 1e-12)
    s = ns.spline(x, y, { slopes = { 2, -5 } })
    assert.near(2, s:derivative(0), 1e-13)
    assert.near(-5, s:derivative(3), 1e-12)
    s = ns.spline(x, y)
    assert.near(s:derivative(0.2, 3), s:derivative(0.7, 3), 1e-10)
    assert.near(s:derivative(2.4, 3), s:derivative(2.9, 3), 1e-10)
    for _, n in ipairs { 2, 3, 4, 7 } do
      local px, py = ns.vector(x)(1, n):copy(), ns.vector(y)(1, n):copy()
      py[n] = py[1]
      s = ns.spline(px, py, { ends = "periodic" })
      for order = 0, 2 do
        assert.near(s:derivative(px[1] + 1e-12, order), s:derivative(px[n] - 1e-12, order), 1e-8)
      end
      assert.near(s(0.3), s(0.3 + px[n]), 1e-13)
      assert.near(s(0.3), s(0.3 - 5 * px[n]), 1e-12)
    end
  end)

  it("gives back a cubic, a parabola, a line", function()
    local function cubic(u) return 2 - u + 3 * u ^ 2 - u ^ 3 end
    local s = ns.spline(x, ns.vector(x):map(cubic))
    for _, u in ipairs { -1, 0.2, 1.5, 2.9, 4 } do assert.near(cubic(u), s(u), 1e-12) end
    assert.near(4.5, ns.spline({ 0, 1, 3 }, { 0, 0.5, 4.5 })(3), 1e-14)
    assert.near(2, ns.spline({ 0, 1, 3 }, { 0, 0.5, 4.5 })(2), 1e-14)
    assert.near(2.5, ns.spline({ 0, 2 }, { 0.5, 4.5 })(1), 1e-14)
    assert.near(2.5, ns.spline({ 0, 2 }, { 0.5, 4.5 }, { ends = "natural" })(1), 1e-14)
  end)

  it("has order 4, and derivatives and integrals of lower and higher order", function()
    local function errors(n)
      local px = ns.linspace(0, 2, n)
      local s = ns.spline(px, ns.sin(px))
      local worst = 0
      for u = 0, 2, 0.01 do worst = math.max(worst, math.abs(s(u) - math.sin(u))) end
      return worst, math.abs(s:integral(0, 2) - (1 - math.cos(2)))
    end
    local e1, i1 = errors(41)
    local e2, i2 = errors(81)
    assert.near(4, math.log(e1 / e2, 2), 0.3)
    assert.is_true(i2 < i1 / 10)
    local s = ns.spline(x, y)
    assert.near(s:integral(-1, 2.2), ns.quad(function(u) return s(u) end, -1, 2.2, { rtol = 1e-12 }), 1e-9)
    assert.near(-s:integral(2.2, -1), s:integral(-1, 2.2), 1e-14)
    local p = ns.spline({ 0, 1, 2 }, { 0, 1, 0 }, { ends = "periodic" })
    assert.near(ns.quad(function(u) return p(u) end, -3, 4.5), p:integral(-3, 4.5), 1e-8)
  end)

  it("takes vectors, and numbers that carry derivatives", function()
    local s = ns.spline(x, y)
    assert.equal(ns.vector { s(0.5), s(5) }, s { 0.5, 5 })
    assert.equal(ns.vector { s:derivative(0.5, 2) }, s:derivative({ 0.5 }, 2))
    assert.near(s:derivative(0.5), ns.jacobian(function(v) return { s(v[1]) } end, { 0.5 })[1][1], 1e-12)
    assert.equal("spline through 7 points", tostring(s))
  end)

  it("says what is wrong", function()
    local function says(text, ...) assert.matches(text, message(ns.spline, ...), 1, true) end
    says("spline: x must increase: x[1] = 0, x[2] = 0", { 0, 0 }, { 1, 2 })
    says("spline: x: expected at least 2 numbers, got 1", { 0 }, { 1 })
    says("spline: y: expected a vector of 2, got one of 1", { 0, 1 }, { 1 })
    says("spline: y[2] is nan", { 0, 1 }, { 1, 0 / 0 })
    says("spline: x: expected a vector, got nil")
    says("spline: ends: expected 'not-a-knot', 'natural', 'clamped' or 'periodic', got 'free'", x, y, { ends = "free" })
    says("spline: slopes: they go with ends = 'clamped', got 'natural'", x, y, { ends = "natural", slopes = { 0, 0 } })
    says("spline: a periodic spline begins and ends at one value; y[1] = 0, y[2] = 1", { 0, 1 }, { 0, 1 }, { ends = "periodic" })
    says("spline: unknown option 'bc' (known: ends, slopes)", x, y, { bc = 1 })
    local s = ns.spline(x, y)
    assert.matches("derivative: order: expected 0 to 3, got 4", message(s.derivative, s, 1, 4), 1, true)
    assert.matches("integral: b: expected a number, got nil", message(s.integral, s, 1), 1, true)
    assert.matches("derivative: expected a spline before a colon, as in s:derivative(...)", message(s.derivative, 1), 1, true)
  end)
end)
