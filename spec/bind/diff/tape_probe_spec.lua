-- What tracing cannot see, and comparing with the plain callback finds.
local ns = require "nslua"
local traces = require "bind.traces"
local tape, fails, hide = traces.tape, traces.fails, traces.hide

local state = ": it uses random numbers or a clock, or keeps state from call to call"
local why = ": it branches on ==, chooses an element of a table by a value, or keeps state"

describe("values of a trace, compared with those of the callback", function()
  it("find == on a number, where it is a round one", function()
    for _, n in ipairs { 0, 1, -1, 2, 0.5 } do
      fails(hide(function(x) return x == n and 7 or x + 1 end), 0,
        ("compile: value 1 is %g by the trace and 7 by the callback where all inputs are %g"):format(n + 1, n) .. why, 3)
    end
    fails(hide(function(x, y)
      y[1] = x[1]
      if x[2] ~= 0 then y[2] = 4 end
    end), 0, "compile: value 2 is 4 by the trace and 0 by the callback where all inputs are 0" .. why, { 1, 3 }, { 0, 0 })
  end)

  it("find == on any number that is an argument of the first call", function()
    fails(hide(function(x) return x == 0.3 and 7 or x end), 0,
      "compile: value 1 is 0.3 by the trace and 7 by the callback at these arguments" .. why, 0.3)
    local c = tape(hide(function(x) return x[2] == 11 and 7 or x[1] end))
    assert.is_false((pcall(c.jacobian, c, 1, ns.vector { 5, 11 })))
  end)

  it("find it at the start of a run", function()
    local f = hide(function(_, y, d) d[1] = y[1] == 7 and 3 or y[1] end)
    local text = "compile: value 1 is 7 by the trace and 3 by the callback at these arguments" .. why
    local good, err = pcall(ns.solve_ivp, tape(f), { 0, 1 }, { 7 })
    assert.is_false(good)
    assert.truthy(err:find(text, 1, true), err)
    good, err = pcall(ns.solve_ivp, f, { 0, 1 }, { 1 }, { events = tape(hide(function(t, y) return t == 11 and y[1] or 2 end)) })
    assert.is_true(good, err)
    good, err = pcall(ns.fsolve, tape(hide(function(x) return x[1] == 7 and 3 or x[1] end)), { 7 })
    assert.is_false(good)
    assert.truthy(err:find(text, 1, true), err)
    local ds = ns.FirstOrderNonLinearDS { x0 = { 7 }, f = tape(hide(function(_, x, _, d) d[1] = x[1] == 7 and 3 or x[1] end)) }
    local simu = require("models").simulation { systems = { ds } }
    good, err = pcall(simu.computeOneStep, simu)
    assert.is_false(good)
    assert.truthy(err:find(text, 1, true), err)
  end)

  it("find an element chosen by a value, and a type asked for", function()
    local list = { 10, 20 }
    fails(hide(function(x) return list[x] or 3 end), 0,
      "compile: value 1 is 3 by the trace and 10 by the callback where all inputs are 1" .. why, 5)
    fails(hide(function(x) return list[x] end), 0,
      "compile: value 1 is nan by the trace and 10 by the callback where all inputs are 1" .. why, 5)
    fails(hide(function(x) return type(x) == "number" and 1 or 2 end), 0,
      "compile: value 1 is 2 by the trace and 1 by the callback where all inputs are 0" .. why, 5)
  end)

  it("find state that is kept from call to call", function()
    local n = { 0 }
    fails(function(x)
      n[1] = n[1] + 1
      return n[1] * x
    end, 0, "compile: value 1 is 4 by the callback where all inputs are 1, and 5 when it is called again" .. state, 5)
    local wear = { 1 }
    fails(function(x) -- the state changes the value by a rounding alone
      wear[1] = wear[1] * (1 + 2 ^ -52)
      return wear[1] * x
    end, 0, "compile: value 1 is 1.0000000000000009 by the callback where all inputs are 1, and 1.0000000000000011 when it is "
      .. "called again" .. state, 5)
  end)

  it("find random numbers, however small their part", function()
    for _, f in ipairs {
      hide(function(x) return x + 1e-300 * math.random() end),
      hide(function(x) return x * (1 + 1e-15 * math.random(1, 1000000)) end),
      hide(function(x) return 1e10, 1e-12 * math.random() + x end),
    } do
      local good, err = pcall(tape(f), 2)
      assert.is_false(good)
      assert.truthy(err:find "compile: value %d is .* by the callback .*, and .* when it is called again" and
        err:find(state, 1, true), err)
    end
  end)

  it("judge each value by itself, in whatever unit it is", function()
    -- A diode's leakage, a gain out of a table, an output beside another one of 1e10.
    local good, err = pcall(tape(hide(function(_, v, i) i[1] = v[1] == 0 and 1e-9 or v[1] * 1e-3 end)), 0, { 3 }, { 0 })
    assert.is_false(good)
    assert.matches("value 1 is 0 by the trace and 1e%-09 by the callback where all inputs are 0", err)
    local gains = { 1e-12, 5e-12 }
    good, err = pcall(tape(hide(function(n, x) return (gains[n] or 2e-12) * x end)), 7, 1)
    assert.is_false(good)
    assert.matches("value 1 is 2e%-12 by the trace and 1e%-12 by the callback where all inputs are 1", err)
    good, err = pcall(tape(hide(function(x) return 1e10, x == 1 and 3 or 2 end)), 7)
    assert.is_false(good)
    assert.matches("value 2 is 2 by the trace and 3 by the callback where all inputs are 1", err)
  end)

  it("find fewer values than were traced", function()
    local calls = { 0 }
    local good, err = pcall(tape(function(x)
      calls[1] = calls[1] + 1
      return calls[1] == 1 and { x, 2 } or { x }
    end), 5)
    assert.is_false(good)
    assert.matches("compile: value 2 is 2 by the trace and nan by the callback where all inputs are 0", err)
  end)

  it("take nan for nan, and for sums by a library the rounding of their own terms", function()
    local A = ns.matrix { { 1e-3, 3e-9 }, { 7e-12, 0.3 } }
    local c = tape(function(x) return (A * x):dot(x) * 1e-20 + math.sin(x:norm()), 1e-9 * x:sum() end)
    for _, x in ipairs { { 1e9, 1e-9 }, { 1e-9, 1e-9 }, { 0.1, 0.7 } } do assert.equal(2, select("#", c(ns.vector(x)))) end
    local good, err = pcall(tape(hide(function(x) return x:sum() + (x[1] == 1 and 1e-12 or 0) end)), ns.vector { 5, 6, 7 })
    assert.is_false(good)
    assert.matches("value 1 is 3 by the trace and 3.0000000000010001 by the callback where all inputs are 1", err)
    assert.equal("nan", tostring(tape(function(x) return (x - x) / (x - x) end)(1)):gsub("-", ""))
    local v = ns.vector { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7 }
    assert.is_true(math.abs(tape(function(x) return x:dot(v) end)(v) - v:dot(v)) < 1e-15)
  end)

  it("allow at random what a library's sum of terms of all sizes may be off, and no more", function()
    math.randomseed(7)
    local function any() return (math.random() - 0.5) * 2.0 ^ math.random(-60, 60) end
    for n = 2, 40 do
      local a, x = {}, {}
      for i = 1, n do a[i], x[i] = any(), any() end
      for i = 2, n, 2 do a[i], x[i] = -a[i - 1], x[i - 1] * (1 + 2 ^ -50) end -- most of the sum cancels
      local w = ns.vector(a)
      local function f(v) return math.exp(-w:dot(v) ^ 2), w:dot(v), v:norm() / (1 + v:sum() ^ 2), math.floor(w:dot(v)) end
      assert.equal(4, select("#", tape(f)(ns.vector(x))))
      local off = 1e-12 * w:norm(math.huge)
      assert.is_false((pcall(tape(hide(function(v) return w:dot(v) + (v[1] == 1 and off or 0) end)), ns.vector(x))))
    end
  end)

  it("pass over points where the callback raises", function()
    local c = tape(function(x)
      if math.type(1) == "integer" and x then return (function() return 1 // 1 end)() * math.sqrt(x) end
    end)
    assert.equal(3, c(9))
    local plain = { 0 }
    local d = tape(function(x)
      plain[1] = plain[1] + 1
      if plain[1] == 3 then error "just once" end
      return x * 2
    end)
    assert.equal(8, d(4))
  end)

  it("raise what the callback raises when that is everywhere, or here", function()
    local traced = {}
    fails(function(x)
      if traced[1] then error "not any more" end
      traced[1] = true
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
