-- Traces of a callback: one for each set of sizes and objects, with room of their own.
local ns = require "nslua"
local traces = require "bind.traces"
local tape = traces.tape

local function arguments(c)
  local list = {}
  for i, t in ipairs(c:traces()) do list[i] = t.arguments end
  return list
end

describe("traces of a compiled function", function()
  it("are made once for each set of sizes", function()
    local c = tape(function() return 7 end)
    c(1)
    for i = 1, 10 do assert.equal(0, (traces.instructions(c, i))) end
    c(ns.vector { 1, 2 }) c(ns.vector { 3, 4 }) c { 5, 6 } c(ns.vector { 1, 2, 3 }) c(ns.eye(2)) c(ns.zeros(1, 4))
    c(1, ns.vector { 2 }) c(1, 2)
    assert.same({ "number", "vector of 2", "vector of 3", "2 x 2 matrix", "1 x 4 matrix", "number, vector of 1",
      "number, number" }, arguments(c))
  end)

  it("take objects as they are: each its own trace", function()
    local c = tape(function(p, x) return p.k * x + (p.name == "b" and 1 or 0) end)
    local a, b = { k = 2, name = "a" }, { k = 3, name = "b" }
    assert.equal(10, c(a, 5))
    assert.equal(16, c(b, 5))
    assert.equal(12, c(a, 6))
    assert.same({ "object, number", "object, number" }, arguments(c))
    assert.equal(7, tape(function(flag, s, x) return flag and s == "s" and x or 0 end)(true, "s", 7))
  end)

  it("follow the numbers, booleans and strings in variables, and freeze what else the callback reads", function()
    local k, mode, on, p = 2, "a", true, { k = 1 }
    local function gain() return mode == "a" and k or 10 * k end
    local c = tape(function(x) return on and gain() * x * p.k or 0 end)
    assert.equal(10, c(5))
    k = 3
    assert.equal(15, c(5))
    mode = "b"
    assert.equal(150, c(5))
    on = false
    assert.equal(0, c(5))
    k, mode, on = 2, "a", true
    assert.equal(10, c(5))
    assert.equal(4, #c:traces()) -- the first one again
    p.k = 7
    assert.equal(10, c(5)) -- as it was traced
    k = 0 / 0
    assert.is_true(c(5) ~= c(5))
    assert.equal(5, #c:traces())
  end)

  it("read views, slices and lists", function()
    local c = tape(function(x) return x[1] - 2 * x[2] end)
    local v = ns.vector { 1, 2, 3, 4 }
    assert.equal(-3, c(v(1, 2)))
    assert.equal(-2, c(v(4, 3, -1)))
    assert.equal(1 - 2 * 7, c { 1, 7 })
    local M = ns.matrix { { 1, 2 }, { 3, 4 } }
    assert.equal(3 - 8, c(M[2]))
    assert.equal(1, #c:traces())
    local d = tape(function(N) return N[1][2] - 2 * N[2][1] end)
    assert.equal(2 - 6, d(M))
  end)

  it("evaluate within one another: rooms are not mixed up", function()
    local c
    c = tape(function(x) return x * x end)
    local d = tape(function(x) return c(x) + c(x + 1) end)
    for i = 1, 5 do
      assert.equal(i * i + (i + 1) ^ 2, d(i))
      assert.equal(c(i) + c(i + 1), d(i))
    end
  end)

  it("are not without end", function()
    local c = tape(function(_, x) return x end)
    for _ = 1, 1000 do c({}, 1) end
    local good, err = pcall(c, {}, 1)
    assert.is_false(good)
    assert.matches("compile: more than 1000 sets of sizes, objects and values of variables: what changes from call to call must be "
      .. "numbers or vectors among the arguments$", err)
    local many = {}
    for i = 1, 41 do many[i] = i end
    good, err = pcall(tape(function(...) return (...) end), table.unpack(many))
    assert.is_false(good)
    assert.matches("compile: expected at most 40 arguments, got 41$", err)
    assert.equal(1, tape(function(...) return (...) end)(table.unpack(many, 1, 40)))
  end)

  it("go when the compiled function goes", function()
    local weak = setmetatable({}, { __mode = "k" })
    do
      local object = { k = 2 }
      weak[object] = true
      assert.equal(6, ns.compile(function(o, x) return o.k * x end)(object, 3))
    end
    collectgarbage() collectgarbage()
    assert.is_nil(next(weak))
  end)
end)
