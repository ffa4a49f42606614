-- Typical calls of array functions and their edge cases: empty, nan, one element, wrong shape. Values are those of NumPy and
-- SciPy; where these return nan with a warning, or a guess, an error is expected here.
local ns = require "nslua"

local nan = 0 / 0
local v = ns.vector

local function text(...)
  local list = {}
  for i = 1, select("#", ...) do list[i] = tostring((select(i, ...))):gsub("-nan", "nan") end
  return table.concat(list, " | ")
end

describe("array functions", function()
  local cases = {
    { "sin of nothing", "[]", function() return ns.sin(ns.zeros(0)) end },
    { "exp of nan", "[2.71828, nan]", function() return ns.exp(v { 1, nan }) end },
    { "abs of a matrix", "[ 1  2\n  3  4 ]", function() return ns.abs(ns.matrix { { -1, 2 }, { 3, -4 } }) end },
    { "maximum with nan", "[nan, nan]", function() return ns.maximum(v { 1, nan }, v { nan, 2 }) end },
    { "log of numbers below 0", "[nan, -inf]", function() return ns.log(v { -1, 0 }) end },
    { "atan of two arguments", "[1.5708, -2.35619]", function() return ns.atan(v { 1, -1 }, v { 0, -1 }) end },
    { "a comparison with nan", "[0, 0, 1]", function() return v { 1, nan, 3 }:gt(2) end },
    { "any and all of nothing", "false | true", function() return ns.zeros(0):gt(0):any(), ns.zeros(0):gt(0):all() end },
    { "where", "[1, 4]", function() return ns.where(v { 1, -1 }:gt(0), v { 1, 2 }, v { 3, 4 }) end },
    { "where with a number", "[5, 4]", function() return ns.where(v { 1, -1 }:gt(0), 5, v { 3, 4 }) end },
    { "cumtrapz", "[0, 1.5, 6.5]", function() return ns.cumtrapz(v { 1, 2, 3 }, v { 0, 1, 3 }) end },
    { "cumtrapz of one point", "[0]", function() return ns.cumtrapz(v { 1 }) end },
    { "quad from the upper to the lower limit", "-0.5", function() return (ns.quad(function(x) return x end, 1, 0)) end },
    { "quad over nothing", "0.0", function() return (ns.quad(function(x) return x end, 1, 1)) end },
    { "a spline of two points", "0.5", function() return ns.spline(v { 0, 1 }, v { 0, 1 })(0.5) end },
    { "a spline of a cubic", "3.375", function() return ns.spline(v { 0, 1, 2, 3 }, v { 0, 1, 8, 27 })(1.5) end },
    { "fft of one number", "[3] | [0]", function() return ns.fft(v { 3 }) end },
    { "rfft", "[15, -2.5, -2.5] | [0, 3.44095, 0.812299]", function() return ns.rfft(v { 1, 2, 3, 4, 5 }) end },
    { "frequencies", "[0, 2, 4, -4, -2] | [0, 0.5, 1]", function() return ns.fftfreq(5, 0.1), ns.rfftfreq(4, 0.5) end },
    { "polyval at a vector", "[3, 6]", function() return ns.polyval({ 1, 2, 3 }, v { 0, 1 }) end },
    { "unique", "[1, 2, 3] | [2, 1, 1]", function() return ns.unique(v { 3, 1, 1, 2 }) end },
    { "unique of nothing", "[] | []", function() return ns.unique(ns.zeros(0)) end },
    { "histogram", "[2, 1, 1] | [1, 2, 3, 4]", function() return ns.histogram(v { 1, 2, 1, 4 }, 3) end },
    { "histogram with edges", "[2, 2] | [0, 2, 4]", function() return ns.histogram(v { 1, 2, 1, 4 }, v { 0, 2, 4 }) end },
    { "histogram of equal numbers", "[0, 3] | [1.5, 2, 2.5]", function() return ns.histogram(v { 2, 2, 2 }, 2) end },
    { "linspace of one number, and of none", "[0] | []", function() return ns.linspace(0, 1, 1), ns.linspace(0, 1, 0) end },
    { "the sum of nothing", "0.0", function() return ns.zeros(0):sum() end },
    { "interp", "3.0", function() return ns.interp(0.5, v { 0, 1 }, v { 2, 4 }) end },
  }
  for _, case in ipairs(cases) do
    it("give what NumPy gives: " .. case[1], function() assert.equal(case[2], text(case[3]())) end)
  end

  local refused = {
    { "maximum: vector of 2 and vector of 3: sizes do not match", function() return ns.maximum(v { 1, 2 }, v { 1, 2, 3 }) end },
    { "quad: f(0.5) is nan", function() return ns.quad(function() return nan end, 0, 1) end },
    { "spline: x must increase: x[1] = 0, x[2] = 0", function() return ns.spline(v { 0, 0 }, v { 0, 1 }) end },
    { "fft: re: expected at least one number, got none", function() return ns.fft(ns.zeros(0)) end },
    { "polyfit: expected at least 3 points for degree 2, got 2", function() return ns.polyfit(v { 0, 1 }, v { 1, 3 }, 2) end },
    { "polyval: p: expected at least one coefficient, got none", function() return ns.polyval({}, 2) end },
    { "unique: v[1] is nan", function() return ns.unique(v { nan, 1, nan }) end },
    { "histogram: v is empty: give the edges of the intervals", function() return ns.histogram(ns.zeros(0), 3) end },
    { "histogram: v[2] is nan", function() return ns.histogram(v { 1, nan }, 2) end },
    { "mean: the vector is empty", function() return ns.zeros(0):mean() end },
    { "max: the vector is empty", function() return ns.zeros(0):max() end },
  }
  for _, case in ipairs(refused) do
    it("refuse: " .. case[1], function()
      local good, message = pcall(case[2])
      assert.is_false(good)
      assert.truthy(tostring(message):find(case[1], 1, true), message)
    end)
  end
end)
