local ns = require "nslua"

local overflowing = require "bind.duals".overflowing
local traces = require "bind.traces"

local huge, nan = math.huge, 0 / 0

local function same(a, b) return a == b or (a ~= a and b ~= b) end

-- Derivative of a function of one number through ns.gradient; the library itself compares the values bit by bit.
local of_first = setmetatable({}, { __mode = "k" })
local function derivative(f, x)
  local g = of_first[f] or function(v) return f(v[1]) end
  of_first[f] = g
  return ns.gradient(g, { x })[1]
end

-- Central differences, Richardson's table over h, h/2, h/4, h/8.
local function differences(f, x, h)
  local row = {}
  for i = 0, 4 do
    local step = h / 2 ^ i
    local new = { (f(x + step) - f(x - step)) / (2 * step) }
    for k = 1, i do new[k + 1] = new[k] + (new[k] - row[k]) / (4 ^ k - 1) end
    row = new
  end
  return row[#row]
end

local function close(expected, got, tolerance, what)
  local bound = tolerance * math.max(1, math.abs(expected))
  assert.is_true(math.abs(expected - got) <= bound,
    ("%s: expected %.17g, got %.17g"):format(what, expected, got))
end

describe("dual numbers: functions against differences", function()
  local everywhere = { -7.3, -2, -0.6, -1e-3, 0.001, 0.3, 1, 1.7, 2, 5.25 }
  local inside = { -0.95, -0.5, -1e-3, 0, 0.2, 0.7, 0.96 }
  local positive = { 0.05, 0.3, 1, 2, 7.7, 123.25 }
  local cases = {
    { "sin", math.sin, everywhere }, { "cos", math.cos, everywhere },
    { "tan", math.tan, { -1, -0.2, 0, 0.4, 1.2 } },
    { "asin", math.asin, inside }, { "acos", math.acos, inside },
    { "atan", math.atan, everywhere }, { "exp", math.exp, everywhere },
    { "log", math.log, positive }, { "sqrt", math.sqrt, positive },
    { "abs", math.abs, everywhere }, { "deg", math.deg, everywhere }, { "rad", math.rad, everywhere },
    { "log 2", function(x) return math.log(x, 2) end, positive },
    { "log 10", function(x) return math.log(x, 10) end, positive },
    { "log 3.5", function(x) return math.log(x, 3.5) end, positive },
    { "log base x", function(x) return math.log(5, x) end, { 0.3, 2, 7.7, 10 } },
    { "atan(x, 2)", function(x) return math.atan(x, 2) end, everywhere },
    { "atan(x, -2)", function(x) return math.atan(x, -2) end, everywhere },
    { "atan(2, x)", function(x) return math.atan(2, x) end, everywhere },
    { "atan(-3, x)", function(x) return math.atan(-3, x) end, everywhere },
    { "fmod", function(x) return math.fmod(x, 0.75) end, { -7.2, -0.3, 0.3, 1.8, 5.6 } },
    { "fmod by x", function(x) return math.fmod(7.3, x) end, { -2, 1.3, 1.7, 5.25 } },
    { "%", function(x) return x % 0.75 end, { -7.2, -0.3, 0.3, 1.8, 5.6 } },
    { "% negative", function(x) return x % -0.75 end, { -7.2, -0.3, 0.3, 1.8, 5.6 } },
    { "% by x", function(x) return 7.3 % x end, { -2, 1.3, 1.7, 5.25 } },
    { "modf", function(x) local _, fraction = math.modf(x); return fraction end, { -7.3, -0.6, 0.3, 1.7 } },
    { "max", function(x) return math.max(0.5, x, -1) end, everywhere },
    { "min", function(x) return math.min(0.5, x, 7) end, everywhere },
    { "x^2", function(x) return x ^ 2 end, everywhere }, { "x^3", function(x) return x ^ 3 end, everywhere },
    { "x^-2", function(x) return x ^ -2 end, { -7.3, -2, -0.6, 0.5, 1.7 } },
    { "x^0", function(x) return x ^ 0 end, everywhere },
    { "x^0.3", function(x) return x ^ 0.3 end, positive },
    { "2.5^x", function(x) return 2.5 ^ x end, everywhere },
    { "x^x", function(x) return x ^ x end, { 0.05, 0.3, 1, 2, 7.7 } },
    { "x + ...", function(x) return 3 + x + x + 1 end, everywhere },
    { "x - ...", function(x) return 3 - x - (x - 1) - x end, everywhere },
    { "x * ...", function(x) return 3 * x * x * 0.5 end, everywhere },
    { "x / ...", function(x) return 3 / x + x / 7 + (x + 1) / x end, { -7.3, -2, -0.6, 0.5, 5 } },
    { "-x", function(x) return -x end, everywhere },
    { "sinh cosh", function(x) return (math.exp(x) - math.exp(-x)) / (math.exp(x) + math.exp(-x)) end, everywhere },
  }
  for _, name in ipairs { "cosh", "sinh", "tanh", "log10" } do
    if math[name] then cases[#cases + 1] = { name, math[name], name == "log10" and positive or everywhere } end
  end
  local function powers(x) return math.pow(x, 2) + math.pow(3, x) end
  if math.pow then cases[#cases + 1] = { "pow", powers, { 0.3, 1, 2, 7.7 } } end
  if math.ldexp then cases[#cases + 1] = { "ldexp", function(x) return math.ldexp(x, 3) end, everywhere } end
  if math.frexp then cases[#cases + 1] = { "frexp", function(x) return (math.frexp(x)) end, { -7.3, 0.3, 1.7 } } end
  for _, case in ipairs(cases) do
    local name, f, points = case[1], case[2], case[3]
    it(name, function()
      for _, x in ipairs(points) do
        local h = name:find "log" and 0.05 * x or x > 0 and 0.04 * x or 0.01
        if math.abs(x) == 1e-3 then h = 5e-4 end
        if name == "asin" or name == "acos" then h = 0.02 end
        close(differences(f, x, h), derivative(f, x), 2e-9, name .. " at " .. x)
      end
    end)
  end
end)

describe("dual numbers: edges", function()
  local d = derivative
  it("x^n at 0", function()
    assert.equal(0, d(function(x) return x ^ 2 end, 0))
    assert.equal(0, d(function(x) return x ^ 3 end, 0))
    assert.equal(1, d(function(x) return x ^ 1 end, 0))
    assert.equal(0, d(function(x) return x ^ 0 end, 0))
    assert.equal(0, d(function(x) return x ^ 1.5 end, 0))
    assert.equal(0, d(function(x) return 0 ^ (x + 1) end, 0))
  end)
  it("powers of negative numbers", function()
    assert.equal(12, d(function(x) return x ^ 3 end, -2))
    assert.equal(-4, d(function(x) return x ^ 2 end, -2))
  end)
  it("kinks take one side, or zero", function()
    assert.equal(0, d(math.abs, 0))
    assert.equal(0, d(math.abs, -0.0))
    assert.equal(0, d(function(x) return math.max(0, x) end, 0))
    assert.equal(1, d(function(x) return math.max(x, 0) end, 0))
    assert.equal(1, d(function(x) return math.min(x, 0) end, 0))
  end)
  it("steps have no slope and stay integers", function()
    assert.equal(0, d(function(x) return math.floor(x) + math.ceil(x) + x // 1 + x // x end, 2.5))
    assert.equal(1, d(function(x)
      assert(math.type(math.floor(x)) == "integer" and math.type(x) == "float")
      assert(math.tointeger(x) == nil and math.ult(1, 2))
      local whole = math.modf(x)
      return x + whole + (math.tointeger(x + 0.5) or 100)
    end, 2.5))
  end)
  it("a derivative that is not finite is named", function()
    assert.has_error(function() d(math.sqrt, 0) end)
    local ok, err = pcall(ns.jacobian, function(x) return { x[1], x[1] + math.sqrt(x[2]) } end, { 1, 0 })
    assert.is_false(ok)
    assert.matches("f%[2%]: the derivative by x%[2%] is inf$", err)
    ok, err = pcall(ns.jacobian, function(x) return { x[1] ^ x[2] } end, { -2, 2 })
    assert.is_false(ok)
    assert.matches("f%[1%]: the derivative by x%[2%] is nan$", err)
  end)
  it("an infinite slope spoils no variable but its own", function()
    local ok, err = pcall(ns.gradient, function(x) return math.sqrt(x[1]) * x[2] end, { 0, 3 })
    assert.is_false(ok)
    assert.matches("by x%[1%]", err)
    assert.same({ 0, 1 }, ns.gradient(function(x) return math.max(x[1], -1) * 0 + x[2] end, { 0, 3 }):totable())
    assert.equal(1, ns.gradient(function(x) return math.sqrt(0 * x[1] + 4) / 2 + x[2] end, { 0, 3 })[2])
  end)
  it("asin near 1 keeps its digits", function()
    local x = 1 - 1e-12
    close(1 / math.sqrt((1 - x) * (1 + x)), d(math.asin, x), 1e-15, "asin")
  end)
  it("atan of large and small operands does not overflow", function()
    close(1 / 2e200, d(function(x) return math.atan(x, 1e200) end, 1e200) , 1e-215, "atan")
    assert.is_true(d(function(x) return math.atan(x, 1e-200) end, 0) == 1e200)
  end)
  it("an operation that overflows leaves a finite value its slope #once", function()
    for _, case in ipairs(overflowing) do
      local what, f, x, slope = table.unpack(case)
      assert.is_true(math.abs(f(x)) < huge, what)
      assert.equal(slope, d(f, x), what)
      assert.equal(slope, ns.gradient(ns.compile(function(v) return f(v[1]) end, { native = false }), { x })[1], what)
      assert.equal(slope, ns.gradient(traces.native(function(v) return f(v[1]) end), { x })[1], what)
    end
  end)
  it("and so it is with vectors", function()
    local function each(v)
      local e = v:map(math.exp)
      local small = e ^ -1
      return { small[1], v:div(e)[1], small:dot(v), (v + small):sum(), v:div(1 + e):norm(1), v:cross(v:div(e))[2],
        (1 / e[1] * v)[1], small:max() }
    end
    local x = { 800, 801, 802 }
    local J = ns.jacobian(each, x)
    assert.same({ 0, 0, 0, 3, 0, 0, 0, 0 }, (J * ns.vector { 1, 1, 1 }):totable())
    assert.same({ 1, 1, 1 }, J[4]:totable())
  end)
  it("a slope of 0 at 0 hides no infinite one", function()
    for _, f in ipairs {
      function(v) return math.sqrt(v[1]) ^ 2 end,
      function(v) return math.sqrt(v[1]) * math.sqrt(v[1]) end,
      function(v) local w = v:map(math.sqrt) return w:dot(w) end,
      function(v) local w = v:map(math.sqrt) w[2] = 1 return w:norm() end,
      function(v) return v[1] * (5 + math.atan(v[1], v[1])) end,
    } do
      local good, err = pcall(ns.gradient, f, { 0, 0 })
      assert.is_false(good)
      assert.matches("the derivative by x%[1%] is nan", err)
    end
    assert.equal(2, d(function(x) return x * (2 + math.sqrt(x)) end, 0))
  end)
  it("huge and nan as constants", function()
    assert.equal(1, d(function(x) return math.min(x, huge) end, 4))
    assert.equal(1, d(function(x) return x % huge end, 4))
    assert.equal(0, d(function(x) return huge > x and 7 or x end, 4))
    assert.equal(1, d(function(x) return nan > x and 7 or x end, 4))
  end)
  it("nan equals nan", function()
    local ok, err = pcall(ns.gradient, function(x) return math.sqrt(x[1]) end, { -1 })
    assert.is_false(ok)
    assert.matches("derivative by x%[1%] is nan", err)
    assert.is_true(same(nan, nan))
  end)
end)
