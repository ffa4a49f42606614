-- Lua's math functions with traced numbers.
local ns = require "nslua"
local traces = require "bind.traces"
local same, fails, tape = traces.same, traces.fails, traces.tape

local sin, atan = math.sin, math.atan -- captured as locals, on purpose
local original = {}
for name, f in pairs(math) do original[name] = f end

describe("math functions of traced numbers", function()
  local points = { { -0.75, 0.5 }, { 0.3, -1.25 }, { 0.9, 2.5 } }

  it("have the values of Lua and the derivatives of dual numbers", function()
    local one = { "sin", "cos", "tan", "asin", "acos", "atan", "exp", "abs", "deg", "rad", "sinh", "cosh", "tanh" }
    for _, name in ipairs(one) do
      if math[name] then
        for _, x in ipairs(points) do same(function(v) return math[name](v[1]) * v[2] end, x) end
      end
    end
    for _, name in ipairs { "sqrt", "log", "log10" } do
      if math[name] then same(function(v) return math[name](v[1]) * v[2] end, points[2]) end
    end
    for _, name in ipairs { "atan", "fmod", "max", "min", "atan2" } do
      if math[name] then
        for _, x in ipairs(points) do
          same(function(v) return { math[name](v[1], v[2]), math[name](v[1], 0.25), math[name](0.25, v[2]) } end, x)
        end
      end
    end
    if math.pow then same(function(v) return { math.pow(v[1], v[2]), math.pow(2, v[2]), math.pow(v[1], 2) } end, { 0.5, 3 }) end
    if math.ldexp then same(function(v) return math.ldexp(v[1], 3) + v[2] end, points[1]) end
  end)

  it("take logarithms to any base", function()
    for _, base in ipairs { 2, 10, 2.0, 3, 0.5 } do same(function(v) return math.log(v[1], base) end, { 7.3 }, 0) end
    same(function(v) return math.log(v[1], v[2]) end, { 7.3, 3 })
    same(function(v) return math.log(8, v[1]) end, { 7.3 })
  end)

  it("step: floor, ceil, modf", function()
    for _, x in ipairs { -2.5, -0.25, 0.25, 3.75 } do
      same(function(v) return { math.floor(v[1]) * v[1], math.ceil(v[1]) * v[1] } end, { x })
      same(function(v)
        local whole, part = math.modf(v[1])
        return { whole * v[1], part * v[1] }
      end, { x })
    end
  end)

  it("take more than two: max, min", function()
    same(function(v) return math.max(v[1], 0, v[2], v[1] * v[2]) - math.min(v[2], 3, v[1]) end, { 0.5, 3 })
    same(function(v) return math.max(v[1]) + math.min(v[1]) end, { 0.5 })
  end)

  it("are found where they were captured", function()
    local trig = { s = math.sin, nested = { c = math.cos } }
    same(function(v) return sin(v[1]) * atan(v[2]) + trig.s(v[1]) * trig.nested.c(v[2]) end, { 0.5, 3 })
    local function helper(a) return sin(a) end
    same(function(v) return helper(v[1]) end, { 0.5 })
  end)

  it("are those of Lua for plain numbers, during a trace too, and all are back after it", function()
    same(function(v) return math.max(1, 2) * v[1] + math.floor(2.5) + math.sin(1) + (math.type(1) == "integer" and 1 or 0) end,
      { 0.5 })
    pcall(tape(function(x) return math.sin(x) .. "" end), 1)
    for name, f in pairs(math) do assert.equal(original[name], f) end
    assert.equal(original.sin, sin)
    fails(function(x) return math.sin({}) + x end, 0, "bad argument #1 to 'sin' (number expected, got table)", 1)
    fails(function(x) return math.atan(x, {}) end, 0, "bad argument #2 to 'atan' (number expected, got table)", 1)
    fails(function(x) return math.max(x, "a") end, 0, "bad argument #2 to 'max' (number expected, got string)", 1)
  end)

  it("refuse what hangs on the value", function()
    local must = "compile: math.%s of a traced value: what a compiled callback does must not depend on the values"
    fails(function(x) return math.ult(x, 1) and 1 or 2 end, 0, must:format "ult", 1)
    if math.frexp then fails(function(x) return math.frexp(x) end, 0, must:format "frexp", 1) end
    if math.ldexp then
      fails(function(x) return math.ldexp(1, x) end, 0, "compile: math.ldexp with the exponent of a traced value: "
        .. "what a compiled callback does must not depend on the values", 1)
    end
  end)

  it("find chance out", function()
    local good, err = pcall(tape(function(x) return x * math.random() end), 1)
    assert.is_false(good)
    assert.matches("compile: the callback calls math.random: a compiled callback must have no side effects$", err)
  end)

  it("have their derivatives in closed form", function()
    local c = tape(function(x) return math.sin(x[1]) * math.exp(x[2]) end)
    local J = c:jacobian(1, ns.vector { 0.5, 0.25 })
    assert.equal(math.cos(0.5) * math.exp(0.25), J[1][1])
    assert.equal(math.sin(0.5) * math.exp(0.25), J[1][2])
  end)
end)
