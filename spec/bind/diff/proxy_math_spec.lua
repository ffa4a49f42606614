-- The functions that stand for those of the math library.
local ns = require "nslua"
local duals = require "bind.duals"
local fails = duals.fails

local huge, sin = math.huge, math.sin

describe("math functions of dual numbers", function()
  local function random_points()
    local state, points = 12345, {}
    for i = 1, 60 do
      state = (state * 1103515245 + 12345) % 2147483648
      points[i] = (state / 2147483648 - 0.5) * 10 ^ (i % 7 - 3)
    end
    for _, x in ipairs { 0.0, -0.0, 1, -1, 2, 10, 0.5, 1e-300, 1e300, -1e300, 3 } do points[#points + 1] = x end
    return points
  end

  -- What f gives, plain and with duals, as text: the text of a dual is that of its value, and says so.
  local function values(f)
    local text
    local function g(v)
      local value = f(v[1])
      text = string.format("%a", value):gsub("^%-nan", "nan"):gsub(" %(dual%)$", "")
      return value
    end
    return function(x)
      g { x }
      local plain = text
      pcall(ns.gradient, g, { x })
      return plain, text
    end
  end
  it("equal those of plain numbers to the last bit", function()
    local functions = {
      math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.exp, math.log, math.sqrt, math.abs,
      math.floor, math.ceil, math.deg, math.rad, math.tanh, math.sinh, math.cosh, math.log10,
      function(x) return math.log(x, 2) end, function(x) return math.log(x, 10) end,
      function(x) return math.log(x, 3) end, function(x) return x ^ 2 end, function(x) return x ^ 2.0 end,
      function(x) return x ^ 3 end, function(x) return x ^ 0.5 end, function(x) return 1.1 ^ x end,
      function(x) return x ^ x end, function(x) return x // 0.3 end, function(x) return x % 0.3 end,
      function(x) return x % -0.3 end, function(x) return 0.3 // x end, function(x) return 7.5 % x end,
      function(x) return x % huge end, function(x) return x % -huge end, function(x) return x // huge end,
      function(x) return math.fmod(x, 0.3) end, function(x) return math.fmod(7, x) end,
      function(x) return math.atan(x, 3) end, function(x) return math.atan(3, x) end,
      function(x) return math.max(x, 0.25, -x) end, function(x) return math.min(x, 0.25, -x) end,
      function(x) return (math.modf(x)) end, function(x) return (select(2, math.modf(x))) end,
      function(x) return x * 3 / 7 + x - 2 / x end, function(x) return -x end,
    }
    for k, f in ipairs(functions) do
      local both = values(f)
      for _, x in ipairs(random_points()) do
        local plain, dual = both(x)
        assert.equal(plain, dual, ("function %d at %a"):format(k, x))
      end
    end
  end)

  it("behave as the originals for plain arguments", function()
    local seen
    ns.gradient(function(x)
      seen = {
        math.max(1, 2.5), math.type(math.max(3, 2)), math.floor(2.5), math.abs(-3), math.fmod(7, 3),
        math.type(math.fmod(7, 3)), math.tointeger(3.0), math.atan(1), math.log(8, 2), tostring(math.type "x"),
        select("#", math.modf(2.5)), select(2, pcall(math.sin)), select(2, pcall(math.max)), sin(1),
        select(2, pcall(math.floor, "a")),
      }
      return x[1]
    end, { 1 })
    assert.same({
      math.max(1, 2.5), math.type(math.max(3, 2)), math.floor(2.5), math.abs(-3), math.fmod(7, 3),
      math.type(math.fmod(7, 3)), math.tointeger(3.0), math.atan(1), math.log(8, 2), tostring(math.type "x"),
      select("#", math.modf(2.5)), select(2, pcall(math.sin)), select(2, pcall(math.max)), sin(1),
      select(2, pcall(math.floor, "a")),
    }, seen)
  end)

  it("reject a wrong argument beside a dual by its number", function()
    fails("bad argument #2 to 'atan' %(number expected, got table%)", ns.gradient,
      function(x) return type(x[1]) == "userdata" and math.atan(x[1], {}) or 1 end, { 1 })
    fails("bad argument #2 to 'max' %(number expected, got boolean%)", ns.gradient,
      function(x) return type(x[1]) == "userdata" and math.max(x[1], true) or 1 end, { 1 })
    fails("bad argument #2 to 'fmod' %(number expected, got no value%)", ns.gradient,
      function(x) return type(x[1]) == "userdata" and math.fmod(x[1]) or 1 end, { 1 })
  end)
end)
