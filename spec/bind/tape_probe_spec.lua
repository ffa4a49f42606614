-- What tracing cannot see, and comparing with the plain callback finds.
local ns = require "nslua"
local traces = require "bind.traces"
local tape, fails = traces.tape, traces.fails

local why = ": it branches on ==, chooses an element of a table by a value, or keeps state"

describe("values of a trace, compared with those of the callback", function()
  it("find == on a number, where it is a round one", function()
    for _, n in ipairs { 0, 1, -1, 2, 0.5 } do
      fails(function(x) return x == n and 7 or x + 1 end, 0,
        ("compile: value 1 is %g by the trace and 7 by the callback where all inputs are %g"):format(n + 1, n) .. why, 3)
    end
    fails(function(x, y)
      y[1] = x[1]
      if x[2] ~= 0 then y[2] = 4 end
    end, 0, "compile: value 2 is 4 by the trace and 0 by the callback where all inputs are 0" .. why, { 1, 3 }, { 0, 0 })
  end)

  it("find == on any number that is an argument of the first call", function()
    fails(function(x) return x == 0.3 and 7 or x end, 0,
      "compile: value 1 is 0.3 by the trace and 7 by the callback at these arguments" .. why, 0.3)
    local c = tape(function(x) return x[2] == 11 and 7 or x[1] end)
    assert.is_false((pcall(c.jacobian, c, 1, ns.vector { 5, 11 })))
  end)

  it("find it at the start of a run", function()
    local function f(_, y, d) d[1] = y[1] == 7 and 3 or y[1] end
    local text = "compile: value 1 is 7 by the trace and 3 by the callback at these arguments" .. why
    local good, err = pcall(ns.solve_ivp, tape(f), { 0, 1 }, { 7 })
    assert.is_false(good)
    assert.truthy(err:find(text, 1, true), err)
    good, err = pcall(ns.solve_ivp, f, { 0, 1 }, { 1 }, { events = tape(function(t, y) return t == 11 and y[1] or 2 end) })
    assert.is_true(good, err)
    good, err = pcall(ns.fsolve, tape(function(x) return x[1] == 7 and 3 or x[1] end), { 7 })
    assert.is_false(good)
    assert.truthy(err:find(text, 1, true), err)
    local ds = ns.FirstOrderNonLinearDS { x0 = { 7 }, f = tape(function(_, x, _, d) d[1] = x[1] == 7 and 3 or x[1] end) }
    local simu = require("models").simulation { systems = { ds } }
    good, err = pcall(simu.computeOneStep, simu)
    assert.is_false(good)
    assert.truthy(err:find(text, 1, true), err)
  end)

  it("find an element chosen by a value, and a type asked for", function()
    local list = { 10, 20 }
    fails(function(x) return list[x] or 3 end, 0,
      "compile: value 1 is 3 by the trace and 10 by the callback where all inputs are 1" .. why, 5)
    fails(function(x) return list[x] end, 0,
      "compile: value 1 is nan by the trace and 10 by the callback where all inputs are 1" .. why, 5)
    fails(function(x) return type(x) == "number" and 1 or 2 end, 0,
      "compile: value 1 is 2 by the trace and 1 by the callback where all inputs are 0" .. why, 5)
  end)

  it("find state that is kept from call to call", function()
    local n = 0
    fails(function(x)
      n = n + 1
      return n * x
    end, 0, "compile: value 1 is 1 by the trace and 3 by the callback where all inputs are 1" .. why, 5)
  end)

  it("find fewer values than were traced", function()
    local calls = 0
    local good, err = pcall(tape(function(x)
      calls = calls + 1
      return calls == 1 and { x, 2 } or { x }
    end), 5)
    assert.is_false(good)
    assert.matches("compile: value 2 is 2 by the trace and nan by the callback where all inputs are 0", err)
  end)

  it("take nan for nan, and rounding for rounding", function()
    assert.equal("nan", tostring(tape(function(x) return (x - x) / (x - x) end)(1)):gsub("-", ""))
    local v = ns.vector { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7 }
    assert.is_true(math.abs(tape(function(x) return x:dot(v) end)(v) - v:dot(v)) < 1e-15)
  end)

  it("pass over points where the callback raises", function()
    local c = tape(function(x)
      if math.type(1) == "integer" and x then return (function() return 1 // 1 end)() * math.sqrt(x) end
    end)
    assert.equal(3, c(9))
    local plain = 0
    local d = tape(function(x)
      plain = plain + 1
      if plain == 3 then error "just once" end
      return x * 2
    end)
    assert.equal(8, d(4))
  end)

  it("raise what the callback raises when that is everywhere, or here", function()
    local traced = false
    fails(function(x)
      if traced then error "not any more" end
      traced = true
      return x
    end, 1, "not any more", 1)
    local c = tape(function(x) return math.floor(x) // math.floor(x) end) -- a quotient of integers, which Lua refuses
    local good, err = pcall(c, 0.3)
    assert.is_false(good)
    assert.matches("attempt to .*zero", (err:gsub("'n//0'", "zero")))
  end)

  it("get copies: arguments are not touched, and the point of trial is no argument", function()
    local out = ns.vector { 9, 9 }
    local seen = {}
    local c = tape(function(_, y)
      seen[#seen + 1] = y
      y[1] = 5
    end)
    c:jacobian(1, 2, out)
    assert.same({ 9, 9 }, out:totable())
    for _, y in ipairs(seen) do assert.is_false(rawequal(out, y)) end
  end)
end)
