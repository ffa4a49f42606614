-- Second derivatives along a line by jets, and third ones, against differences of first derivatives and against identities.
local ns = require "nslua"
local internal = require "nslua.internal"
local duals = require "bind.duals"
local fails, overflowing = duals.fails, duals.overflowing
local motion = require "nslua.core".motion_support

-- The first and second derivative along w of f(x), a table of values.
local function along(f, x, w)
  local plain = ns.vector(f(ns.vector(x)))
  local first, second = internal.along(function(v, y) y:assign(f(v)) end, plain, false, 0, ns.vector(x), ns.vector(w))
  return first, second
end

-- The same of a function of one number.
local function of_number(f, x)
  local first, second = along(function(v) return { f(v[1]) } end, { x }, { 1 })
  return first[1], second[1]
end

-- Central differences of the exact first (order 1) or second derivative, Richardson's table over h, h/2, h/4, h/8.
local function differences(f, x, h, order)
  local row = {}
  local function exact(at) return (select(order or 1, of_number(f, at))) end
  for i = 0, 3 do
    local s = h / 2 ^ i
    local new = { (exact(x + s) - exact(x - s)) / (2 * s) }
    for k = 1, i do new[k + 1] = new[k] + (new[k] - row[k]) / (4 ^ k - 1) end
    row = new
  end
  return row[#row]
end

local everywhere = { -7.3, -2, -0.6, 0.3, 1, 1.7, 2, 5.25 }
local inside = { -0.9, -0.5, 0.2, 0.7 }
local positive = { 0.3, 1, 2, 7.7 }

local cases = {
  { "sin", math.sin, everywhere }, { "cos", math.cos, everywhere }, { "tan", math.tan, { -1, -0.2, 0.4, 1.2 } },
  { "asin", math.asin, inside }, { "acos", math.acos, inside }, { "atan", math.atan, everywhere },
  { "exp", math.exp, everywhere }, { "log", math.log, positive }, { "sqrt", math.sqrt, positive },
  { "log 2", function(x) return math.log(x, 2) end, positive },
  { "log 3.5", function(x) return math.log(x, 3.5) end, positive },
  { "log base x", function(x) return math.log(5, x) end, { 0.3, 2, 7.7 } },
  { "log x base x + 1", function(x) return math.log(x, x + 1) end, positive },
  { "atan(x, 2)", function(x) return math.atan(x, 2) end, everywhere },
  { "atan(2, x)", function(x) return math.atan(2, x) end, everywhere },
  { "atan(x, x^2)", function(x) return math.atan(x, x * x) end, everywhere },
  { "abs", function(x) return math.abs(x) * x end, everywhere },
  { "fmod", function(x) return math.fmod(x, 3) ^ 2 end, everywhere },
  { "x^2", function(x) return x ^ 2 end, everywhere }, { "x^3", function(x) return x ^ 3 end, everywhere },
  { "x^1", function(x) return x ^ 1 end, everywhere }, { "x^0", function(x) return x ^ 0 end, everywhere },
  { "x^-1.5", function(x) return x ^ -1.5 end, positive }, { "2^x", function(x) return 2 ^ x end, everywhere },
  { "x^x", function(x) return x ^ x end, positive }, { "x*x", function(x) return x * x end, everywhere },
  { "1/x", function(x) return 1 / x end, positive }, { "x/(1+x^2)", function(x) return x / (1 + x * x) end, everywhere },
  { "-x - x", function(x) return -x * (x - 3) end, everywhere },
  { "max", function(x) return math.max(x * x, x) end, { -2, 0.3, 1.7 } },
}
for _, name in ipairs { "cosh", "sinh", "tanh", "log10" } do
  if math[name] then cases[#cases + 1] = { name, math[name], positive } end
end

describe("jets", function()
  it("have the second derivative of every function #once", function()
    for _, case in ipairs(cases) do
      for _, x in ipairs(case[3]) do
        local _, second = of_number(case[2], x)
        local expected = differences(case[2], x, 0.02 * math.min(1, math.abs(x)))
        assert.is_true(math.abs(second - expected) <= 1e-8 * math.max(1, math.abs(expected)),
          ("%s at %g: expected %.12g, got %.12g"):format(case[1], x, expected, second))
      end
    end
  end)

  it("are finite where an operation overflows and the value does not", function()
    for _, case in ipairs(overflowing) do
      local what, f, x, slope = table.unpack(case)
      local first, second = of_number(f, x)
      assert.equal(slope, first, what)
      assert.equal(0, second, what)
      local relation = ns.LagrangianScleronomousR { h = ns.compile(function(q, _, y) y[1] = f(q[1]) end, { native = false }) }
      local ds, nsds = ns.LagrangianDS({ x }, { 0 }), ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), ds)
      local bias = internal.relation_bias(relation, 0, ns.vector { x }, ns.vector { 1 })
      assert.equal(0, bias[1], what)
    end
    -- x y at y = 0: the slope by x is 0, and still the product bends.
    local _, second = along(function(v) return { v[1] * v[2] } end, { 5, 0 }, { 2, 3 })
    assert.equal(12, second[1])
  end)

  it("have the third derivative of every function, plain and on tapes #once", function()
    for _, case in ipairs(cases) do
      local f = function(_, q) return { case[2](q[1]) } end
      local good, tape = pcall(ns.compile, f, { native = false })
      for _, x in ipairs(case[3]) do
        local expected = differences(case[2], x, 0.02 * math.min(1, math.abs(x)), 2)
        for _, g in ipairs { f, good and case[1] ~= "max" and tape or nil } do
          local _, _, J2 = motion.twist(g, 0, { x }, 1, 0, { 1 }, { 0 })
          assert.is_true(math.abs(J2[1][1] - expected) <= 1e-7 * math.max(1, math.abs(expected)),
            ("%s at %g: expected %.12g, got %.12g"):format(case[1], x, expected, J2[1][1]))
        end
      end
    end
  end)

  it("have the first derivative that duals have", function()
    local f = function(x) return { math.sin(x[1]) * x[2] / (1 + x[1] ^ 2), math.exp(x[1] - x[2]) } end
    local x, w = { 0.7, -1.3 }, { 2, 3 }
    local first = along(f, x, w)
    local difference = (first - ns.jacobian(f, x) * ns.vector(w)):abs():max()
    assert.is_true(difference < 1e-14, tostring(difference))
  end)

  it("go through the operations of vectors", function()
    local x, w = { 0.7, -1.3, 0.4 }, { 2, 3, -1 }
    local function second(f) local _, s = along(f, x, w) return s end
    local function same(f, g)
      local difference = (second(f) - second(g)):abs():max()
      assert.is_true(difference < 1e-13, tostring(difference))
    end
    local function each(f) return function(v) return { f(v[1], 1), f(v[2], 2), f(v[3], 3) } end end
    local A = ns.matrix { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 10 } }
    same(function(v) return { v:dot(v) } end, function(v) return { v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2 } end)
    same(function(v) return { v:dot { 1, 2, 3 } } end, function() return { 0 } end)
    same(function(v) return { v:norm() } end, function(v) return { math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2) } end)
    same(function(v) return { v:norm(1) } end, function(v) return { v:norm(math.huge) } end)
    same(function(v) return v:mul(v) end, each(function(a) return a * a end))
    same(function(v) return (v + 2):div(v) end, each(function(a) return (a + 2) / a end))
    same(function(v) return (v:mul(v)) ^ 1.5 end, each(function(a) return math.abs(a) ^ 3 end))
    same(function(v) return v * v[1] - v / v[2] end, function(v)
      return { v[1] * v[1] - v[1] / v[2], v[2] * v[1] - 1, v[3] * v[1] - v[3] / v[2] } end)
    same(function(v) return A * v:mul(v) end, function(v)
      local a, b, c = v[1] ^ 2, v[2] ^ 2, v[3] ^ 2
      return { a + 2 * b + 3 * c, 4 * a + 5 * b + 6 * c, 7 * a + 8 * b + 10 * c } end)
    same(function(v) return v:cross(v:mul(v)) end, function(v)
      local a, b, c = v[1], v[2], v[3]
      return { b * c ^ 2 - c * b ^ 2, c * a ^ 2 - a * c ^ 2, a * b ^ 2 - b * a ^ 2 } end)
    same(function(v) return { v:map(math.sin):sum() } end, function(v)
      return { math.sin(v[1]) + math.sin(v[2]) + math.sin(v[3]) } end)
  end)

  it("move with the time, alone or together with x", function()
    local function f(t, x, y) y[1] = math.cos(t) * x[1] ^ 2 end
    local x, w, plain = ns.vector { 3 }, ns.vector { 5 }, ns.vector { math.cos(0.4) * 9 }
    local c, s = math.cos(0.4), math.sin(0.4)
    local function check(first, second, tdot, direction)
      local a, b = internal.along(f, plain, 0.4, tdot, x, direction)
      assert.near(first, a[1], 1e-13)
      assert.near(second, b[1], 1e-13)
    end
    check(-9 * s, -9 * c, 1, false)
    check(30 * c, 50 * c, 0, w)
    check(30 * c - 9 * s, 50 * c - 60 * s - 9 * c, 1, w)
    local first, second = internal.along(f, plain, 0.4, 1, x, false, true)
    assert.near(-9 * s, first[1], 1e-13)
    assert.equal(0, second[1])
  end)

  it("say when there is no second derivative, or no first", function()
    local function root(v, y) y[1] = v[1] ^ 1.5 end
    local zero, one = ns.vector { 0 }, ns.vector { 1 }
    fails("y%[1%]: the second derivative along the motion is inf", internal.along, root, zero, false, 0, zero, one)
    local function square_root(v, y) y[1] = math.sqrt(v[1]) end
    fails("y%[1%]: the first derivative along the motion is inf", internal.along, square_root, zero, false, 0, zero, one)
    fails("y%[1%]: the value with dual numbers %(1%) differs from the plain one %(2%)", internal.along,
      function(v, y) y[1] = v[1] end, ns.vector { 2 }, false, 0, one, one)
    local _, second = internal.along(root, zero, false, 0, zero, zero) -- it does not move
    assert.equal(0, second[1])
  end)
end)
