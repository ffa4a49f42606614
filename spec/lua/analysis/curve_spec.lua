-- Data as functions: splines, curves and surfaces. Interpolation, smoothness, ends, order 4, integrals, exact derivatives
-- in callbacks of all sorts with the same bits.
local ns = require "nslua"
local expect = require "expect"
local random = require "random_numbers"
local message = expect.message

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
    assert.matches("integral: b: expected a finite number, got no value", message(s.integral, s, 1), 1, true)
    assert.matches("curve expected, got number", message(function() return s.derivative(1) end), 1, true)
    assert.matches("spline: x: expected a number or a vector, got nil", message(s), 1, true)
  end)
end)

-- Strictly increasing numbers and values over them, of any units.
local function random_data(n, size)
  local px, at = {}, random.signed() * size
  for i = 1, n do
    px[i] = at
    at = at + size * random.uniform(0.05, 1)
  end
  return px, random.vector_within(n, 3)
end

-- The number of f at x: plain, by dual numbers, by a tape, in native code; all have the same bits, and so have the derivatives.
local function everywhere(f, compiled, point)
  local value, J = f(table.unpack(point)), ns.jacobian(function(v) return { f(table.unpack(v:totable())) } end, point)
  for _, c in ipairs(compiled) do
    assert.equal(value, c(table.unpack(point)))
    for j = 1, #point do assert.equal(J[1][j], c:jacobian(j, table.unpack(point))[1][1]) end
  end
  return value, J[1]
end

describe("ns.interp1", function()
  local outsides = { "error", "hold", "extend", "repeat" }

  it("goes through random data, smooth as its kind, with the same bits and exact derivatives everywhere", function()
    math.randomseed(20241)
    local count, tell = require "campaign"(12, 0.01)
    for i = 1, count do
      local n, kind, outside = math.random(2, 9), ({ "linear", "cubic", "pchip" })[i % 3 + 1], outsides[math.random(4)]
      local size = random.power(20)
      local px, py = random_data(n, size)
      if outside == "repeat" then py[n] = py[1] end
      local c = ns.interp1 { x = px, y = py, kind = kind, outside = outside }
      local function f(u) return c(u) end
      local compiled = { ns.compile(f, { native = false }), i <= 12 and ns.compile(f) or nil }
      local inner = random.vector(n, function() return random.uniform(px[1], px[n]) end)
      local beyond = outside == "error" and {} or { px[1] - size * 0.3, px[n] + size * 0.7, px[n] + size * 9 }
      for _, list in ipairs { px, inner, beyond } do
        for _, u in ipairs(list) do
          local _, J = everywhere(f, compiled, { u })
          assert.equal(c:derivative(u), J[1])
        end
      end
      for k = 1, n - 1 do
        assert.equal(py[k], c(px[k]))
        local h = px[k + 1] - px[k]
        local before = px[k + 1] - h * 2 ^ -40
        for order = 0, kind == "linear" and 0 or kind == "pchip" and 1 or 2 do
          if order < 1 or k < n - 1 then
            assert.near(c:derivative(px[k + 1], order) * size ^ order, c:derivative(before, order) * size ^ order, 1e-5)
          end
        end
        local low, high = math.min(py[k], py[k + 1]), math.max(py[k], py[k + 1])
        for _ = 1, kind == "cubic" and 0 or 5 do
          local value = c(random.uniform(px[k], px[k + 1]))
          assert.is_true(value >= low - 1e-15 and value <= high + 1e-15)
        end
      end
      assert.equal(py[n], c(px[n]))
    end
    tell("curves", count)
  end)

  it("has no unit: powers of two in x and y change no other bit", function()
    for _, kind in ipairs { "linear", "cubic", "pchip" } do
      local c = ns.interp1 { x = x, y = y, kind = kind }
      local d = ns.interp1 { x = ns.vector(x) * 2 ^ 70, y = ns.vector(y) * 2 ^ -90, kind = kind }
      for u = 0, 3, 0.21 do
        assert.equal(c(u) * 2 ^ -90, d(u * 2 ^ 70))
        assert.equal(c:derivative(u) * 2 ^ -160, d:derivative(u * 2 ^ 70))
      end
    end
  end)

  -- The slopes by hand: Fritsch and Butland's mean 9 / (4 / -0.5 + 5 / -1), the parabola's at the ends.
  it("has the slopes of the published formulae", function()
    local data = { x = { 0, 1, 3, 4 }, y = { 1, 3, 2, 1 }, kind = "pchip" }
    local c = ns.interp1(data)
    assert.near(8.5 / 3, c:derivative(0), 1e-15)
    assert.equal(0, c:derivative(1))
    assert.near(-9 / 13, c:derivative(3), 1e-15)
    data.outside = "repeat"
    assert.equal(0, ns.interp1(data):derivative(0))
    assert.near(3 * -1, ns.interp1 { x = { 0, 1, 2 }, y = { 0, -1, 9 }, kind = "pchip" }:derivative(0), 1e-15)
    assert.equal(0, ns.interp1 { x = { 0, 1, 2 }, y = { 0, 1, 9 }, kind = "pchip" }:derivative(0))
    for _, ends in ipairs { "not-a-knot", "natural", "clamped" } do
      local s, k = ns.spline(x, y, { ends = ends }), ns.interp1 { x = x, y = y, kind = "cubic", ends = ends }
      for u = 0, 3, 0.3 do assert.equal(s(u), k(u)) end
    end
  end)

  it("has at a knot the derivative to the right, and outside what was asked for", function()
    local function of(outside) return ns.interp1 { x = { 0, 1, 3 }, y = { 1, 3, 1 }, outside = outside } end
    assert.same({ 2, -1, -1 }, { of():derivative(0), of():derivative(1), of():derivative(3) })
    assert.same({ 1, 1, 0, 0 }, { of "hold"(-1), of "hold"(3.5), of "hold":derivative(3), of "hold":derivative(-1) })
    assert.same({ 1, 1 }, { of "hold"(-math.huge), of "hold"(math.huge) })
    assert.same({ -1, 0, 2 }, { of "extend"(-1), of "extend"(4), of "extend":derivative(-1) })
    assert.same({ 2, 3, 2 }, { of "repeat"(-1), of "repeat"(-2), of "repeat":derivative(3) })
    assert.equal(0, ns.interp1 { x = { -3, 0.1, 1 }, y = { 1, 0, 1 }, outside = "repeat" }(0.1))
    assert.same({ 10, 21 - 1 }, { of "repeat":integral(0, 6) - 2, of "repeat":integral(-3, 9) - 4 })
    assert.equal(2 + 4 + 1, of "hold":integral(-1, 3) + 0)
    local nan = of "hold"(0 / 0)
    assert.is_true(nan ~= nan)
  end)

  it("takes vectors, and is a function of vectors with derivatives and of traced ones", function()
    local c = ns.interp1 { x = { 0, 1, 3 }, y = { 1, 3, 1 } }
    assert.equal(ns.vector { 2, 2.5 }, c { 0.5, 1.5 })
    local function f(v) return c(v * 0.5) end
    expect.near_matrix({ { 1, 0 }, { 0, -0.5 } }, ns.jacobian(f, { 0.5, 3 }))
    assert.equal(c { 0.25, 1.5 }, ns.compile(f, { native = false })(ns.vector { 0.5, 3 }))
  end)

  it("lives as long as what was traced with it", function()
    local f = ns.compile(function(u) return ns.interp1 { x = { 0, 1 }, y = { 5, 7 }, outside = "extend" }(u) end)
    for u = 1, 20 do
      collectgarbage()
      assert.equal(5 + 2 * u, f(u))
    end
  end)

  -- A bead on a guide: EventDriven needs the curvature of the guide, exact.
  it("gives mechanics its second derivatives", function()
    local function fall(shape)
      local bead = ns.LagrangianDS({ 0.3, shape(0.3) }, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
      bead:setFExtPtr { 0, -9.81 }
      local guide = ns.LagrangianScleronomousR { h = function(q, _, out) out[1] = q[2] - shape(q[1]) end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(bead)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), guide), bead)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-12), ns.MLCP())
      simu:run()
      return bead:q()
    end
    local px = ns.linspace(-1, 1, 5)
    local function cubic(u) return u ^ 2 - 0.3 * u ^ 3 end
    local s = ns.interp1 { x = px, y = px:map(cubic), kind = "cubic" }
    expect.near(fall(cubic), fall(function(u) return s(u) end), 1e-7)
  end)

  it("says what is wrong", function()
    local function says(text, options) assert.matches(text, message(ns.interp1, options), 1, true) end
    local function data(more)
      local o = { x = { 0, 1 }, y = { 1, 2 } }
      for key, value in pairs(more) do o[key] = value end
      return o
    end
    says("interp1: x must increase: x[1] = 1, x[2] = 0", data { x = { 1, 0 } })
    says("interp1: x: expected at least 2 numbers, got 1", data { x = { 1 } })
    says("interp1: y: expected a vector of 2, got one of 3", data { y = { 1, 2, 3 } })
    says("interp1: y[2] is infinite", data { y = { 1, math.huge } })
    says("interp1: x: expected a vector, got nil", { y = { 1, 2 } })
    says("interp1: kind: expected 'linear', 'cubic' or 'pchip', got 'spline'", data { kind = "spline" })
    says("interp1: outside: expected 'error', 'hold', 'extend' or 'repeat', got 'nan'", data { outside = "nan" })
    says("interp1: ends: expected 'not-a-knot', 'natural' or 'clamped', got 'periodic'", data { kind = "cubic", ends = "periodic" })
    says("interp1: ends: it goes with kind = 'cubic' that does not repeat", data { ends = "natural" })
    says("interp1: slopes: it goes with kind = 'cubic' that does not repeat", data { kind = "pchip", slopes = { 0, 0 } })
    says("interp1: a curve that repeats begins and ends at one value; y[1] = 1, y[2] = 2", data { outside = "repeat" })
    says("interp1: unknown option 'z' (known: x, y, kind, outside, ends, slopes)", data { z = 1 })
    local c = ns.interp1(data {})
    assert.matches("interp1: x = 2.0 is outside of 0.0 to 1.0", message(c, 2), 1, true)
    assert.matches("interp1: x = -1.0 is outside of 0.0 to 1.0", message(c, { 0, -1 }), 1, true)
    assert.matches("derivative: x = 2.0 is outside of 0.0 to 1.0", message(c.derivative, c, 2), 1, true)
    assert.matches("integral: b = 2.0 is outside of 0.0 to 1.0", message(c.integral, c, 0, 2), 1, true)
    assert.matches("x = 2.0 is outside", message(ns.jacobian, function(v) return { c(v[1]) } end, { 2 }), 1, true)
    assert.equal("linear curve through 2 points", tostring(c))
  end)
end)

describe("ns.interp2", function()
  -- Along each line of the grid: the curve of the data there. Products of data: products of curves. Smooth across the lines.
  it("of pchip curves is these curves on the lines of the grid, takes x and y alike, and has continuous slopes", function()
    math.randomseed(20243)
    for k = 1, (require "campaign"(4, 0.01)) do
      local n, m, outside = math.random(2, 5), math.random(2, 5), ({ "error", "hold", "extend", "repeat" })[k % 4 + 1]
      local px, py = random_data(n, random.power(10)), random_data(m, 1)
      local z, fx, fy = random.matrix_within(n, m, 2), random.vector_within(n, 2), random.vector_within(m, 2)
      if outside == "repeat" then
        for i = 1, n do z[i][m] = z[i][1] end
        z[n], fx[n], fy[m] = z[1], fx[1], fy[1]
      end
      local function curve(a, b) return ns.interp1 { x = a, y = b, kind = "pchip", outside = outside } end
      local function surface(a, b, data) return ns.interp2 { x = a, y = b, z = data, kind = "pchip", outside = outside } end
      local columns, product = {}, {}
      for j = 1, m do
        columns[j] = {}
        for i = 1, n do columns[j][i] = z[i][j] end
      end
      for i = 1, n do product[i] = ns.vector(fy) * fx[i] end
      local s, turned, of_product = surface(px, py, z), surface(py, px, columns), surface(px, py, product)
      for _ = 1, 5 do
        local u, v = random.uniform(px[1], px[n]), random.uniform(py[1], py[m])
        for i = 1, n do assert.equal(curve(py, z[i])(v), s(px[i], v)) end
        for j = 1, m do assert.equal(curve(px, columns[j])(u), s(u, py[j])) end
        assert.near(s(u, v), turned(v, u), 1e-13)
        assert.near(curve(px, fx)(u) * curve(py, fy)(v), of_product(u, v), 1e-13)
        local h = px[n] - px[1]
        local function same_slopes(a, b, c, d)
          local J = ns.jacobian(function(w) return { s(w[1], w[2]), s(w[1] - c, w[2] - d) } end, { a, b })
          assert.near(J[1][1] * h, J[2][1] * h, 1e-6)
          assert.near(J[1][2], J[2][2], 1e-6)
        end
        for i = 2, n - 1 do same_slopes(px[i], v, h * 2 ^ -40, 0) end
        for j = 2, m - 1 do same_slopes(u, py[j], 0, 2 ^ -40) end
      end
    end
  end)

  it("goes through random data, with the same bits and exact derivatives everywhere", function()
    math.randomseed(20242)
    local count = require "campaign"(6, 0.003)
    for i = 1, count do
      local kind = ({ "linear", "cubic", "pchip" })[i % 3 + 1]
      local outside = ({ "error", "hold", "extend" })[math.random(3)]
      local px, py = random_data(math.random(2, 5), random.power(10)), random_data(math.random(2, 5), 1)
      local z = random.matrix_within(#px, #py, 2)
      local s = ns.interp2 { x = px, y = py, z = z, kind = kind, outside = outside }
      local function f(u, v) return s(u, v) end
      local compiled = { ns.compile(f, { native = false }), i <= 4 and ns.compile(f) or nil }
      for a = 1, #px do
        for b = 1, #py do assert.near(z[a][b], s(px[a], py[b]), 1e-12) end
      end
      for _ = 1, 5 do
        local u, v = random.uniform(px[1], px[#px]), random.uniform(py[1], py[#py])
        everywhere(f, compiled, { u, v })
        assert.equal(s(u, v), s({ u, u }, { v, v })[2])
        assert.equal(s(u, v), s(u, { v })[1])
        if outside ~= "error" then everywhere(f, compiled, { px[#px] + (u - px[1]), py[1] - (v - py[1]) }) end
      end
    end
  end)

  it("says what is wrong", function()
    local good = { x = { 0, 1 }, y = { 0, 1, 2 }, z = { { 1, 2, 3 }, { 4, 5, 6 } } }
    local function says(text, key, value)
      local o = { x = good.x, y = good.y, z = good.z }
      if key then o[key] = value end
      assert.matches(text, message(ns.interp2, o), 1, true)
    end
    says("interp2: z: expected 2 rows, one for each x, got 1", "z", { { 1, 2, 3 } })
    says("interp2: z[2]: expected a vector of 3, got one of 2", "z", { { 1, 2, 3 }, { 1, 2 } })
    says("interp2: z: expected a matrix, got 'no'", "z", "no")
    says("interp2: y must increase: y[1] = 0, y[2] = 0", "y", { 0, 0, 1 })
    says("interp2: kind: expected 'linear', 'cubic' or 'pchip', got 'spline'", "kind", "spline")
    says("interp2: a surface that repeats begins and ends at one value; z[1][1] = 1, z[1][3] = 3", "outside", "repeat")
    says("interp2: unknown option 'ends' (known: x, y, z, kind, outside)", "ends", "natural")
    local s = ns.interp2(good)
    assert.matches("interp2: y = 3.0 is outside of 0.0 to 2.0", message(s, 1, 3), 1, true)
    assert.matches("interp2: x has 2 elements, y has 3", message(s, { 0, 1 }, { 0, 1, 2 }), 1, true)
    assert.matches("interp2: y: expected a number or a vector, got nil", message(s, 1), 1, true)
  end)
end)
