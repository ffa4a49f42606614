-- What a traced callback gives: returned in any form, or filled.
local ns = require "nslua"
local traces = require "bind.traces"
local tape, fails = traces.tape, traces.fails

describe("results of a compiled function", function()
  it("are those of the plain one: numbers", function()
    local function f(x, y) return x * y, x + 1, 7 end
    assert.same({ f(2, 3) }, { tape(f)(2, 3) })
    assert.equal(1, select("#", tape(function(x) return x end)(1)))
  end)

  it("a list, a vector, a list of rows", function()
    local x = ns.vector { 2, 5 }
    assert.same({ 10, 3 }, tape(function(v) return { v[1] * v[2], 3 } end)(x))
    local w = tape(function(v) return v * 2 end)(x)
    assert.same({ 4, 10 }, w:totable())
    assert.equal(2, #w)
    assert.same({ 1, 2 }, tape(function() return ns.vector { 1, 2 } end)(x):totable())
    assert.same({ { 2, 5, 0 }, { 1, 10, 3 } }, tape(function(v) return { { v[1], v[2], 0 }, { 1, v[1] * v[2], 3 } } end)(x))
    assert.same({ { 4, 10 }, { 1, 2 } }, tape(function(v) return { v * 2, ns.vector { 1, 2 } } end)(x))
    assert.same({}, tape(function() return {} end)(x))
  end)

  it("the last argument, filled: returned too when the plain function does", function()
    local out = ns.vector { 9, 9 }
    assert.equal(0, select("#", tape(function(x, y) y[1] = x end)(2, out)))
    assert.same({ 2, 9 }, out:totable()) -- what is not filled keeps its value
    assert.equal(out, (tape(function(x, y) y[2] = x return y end)(3, out)))
    assert.same({ 2, 3 }, out:totable())
    local list = { 0, 0 }
    tape(function(x, y) y[1], y[2] = x, x * x end)(3, list)
    assert.same({ 3, 9 }, list)
  end)

  it("nothing", function()
    assert.equal(0, select("#", tape(function() end)(1)))
    assert.equal(0, select("#", tape(function() return nil end)(1)))
    assert.equal(0, select("#", tape(function() end)()))
    assert.equal(7, tape(function() return 7 end)())
  end)

  it("are refused in any other form", function()
    local expected = ": expected numbers, a list of numbers, or a vector"
    fails(function(x) return { x, "a" } end, 0, "compile: the callback returned a list of 2" .. expected, 1)
    fails(function(x) return x, "a" end, 0, "compile: the callback returned string" .. expected, 1)
    fails(function() return "a" end, 0, "compile: the callback returned string" .. expected, 1)
    fails(function() return true end, 0, "compile: the callback returned boolean" .. expected, 1)
    fails(function(x) return { { x, 1 }, { 2 } } end, 0, "compile: the callback returned a list of 2" .. expected, 1)
    fails(function(x) return { { x, 1 }, 2 } end, 0, "compile: the callback returned a list of 2" .. expected, 1)
    fails(function(x) return x, x end, 0, "compile: the callback returned a vector" .. expected, { 1 })
    fails(function(x, y)
      y[1] = x
      return 5
    end, 0, "compile: the callback fills its last argument and returns number 5.0 too: expected one or the other", 1, { 1 })
  end)
end)

describe("errors of a callback while it is traced", function()
  it("come through, whatever they are", function()
    fails(function(x)
      error("boo " .. type(x))
    end, 1, "boo number", 1)
    local thing = { code = 7 }
    local good, err = pcall(tape(function() error(thing) end), 1)
    assert.is_false(good)
    assert.equal(thing, err)
    good, err = pcall(tape(function() error() end), 1)
    assert.is_false(good)
    assert.is_nil(err)
  end)

  it("get the line of the callback where they have none", function()
    fails(function(x) error("no place " .. #tostring(type(x)), 0) end, 0, "no place 6", 1)
  end)

  it("are raised again at the next call: a failed trace is not kept", function()
    local bad = true
    local c = tape(function(x)
      if bad then error "bad" end
      return x
    end)
    assert.is_false((pcall(c, 1)))
    assert.is_false((pcall(c, 1)))
    assert.equal(0, #c:traces())
    bad = false
    assert.equal(1, c(1))
  end)

  it("come out of deep recursion, with math as it was", function()
    local sin = math.sin
    local c
    c = tape(function(x) return c(x) end) -- without end
    local good, err = pcall(c, 1)
    assert.is_false(good)
    assert.matches("overflow", err)
    assert.equal(sin, math.sin)
    assert.equal(4, tape(function(x) return x * 2 end)(2))
  end)

  it("may come from want of memory, at any place", function()
    local internal = require "nslua.internal"
    local failures = 0
    for n = 0, 40 do
      local c = tape(function(x)
        local sum = 0
        for i = 1, 100 do sum = sum + i * x[1] + x[2] / i end
        return sum
      end)
      local reached, good, err = internal.failing(n, false, c, ns.vector { 1, 2 })
      if not good then
        failures = failures + 1
        assert.is_true(reached)
        assert.matches("not enough memory", err)
      end
      assert.equal(5050 + 2 * 5.18737751763962, tonumber(("%.12f"):format(c(ns.vector { 1, 2 }))), 1e-9)
    end
    assert.is_true(failures > 5)
  end)
end)
