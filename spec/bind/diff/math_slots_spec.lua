-- Where a callback finds its math functions, and what stands there during a call.
local ns = require "nslua"
local duals = require "bind.duals"
local fails, math_is_back = duals.fails, duals.math_is_back

local sin, cos = math.sin, math.cos -- captured as locals, on purpose

describe("math functions during the call", function()
  local function slope(f) return ns.gradient(function(x) return f(x[1]) end, { 0.3 })[1] end
  after_each(math_is_back)

  it("captured as locals, in helpers, in tables, as methods", function()
    local function helper(x) return sin(x) end
    local function outer(x) return helper(x) end
    local module = { f = { g = function(x) return sin(x) end }, sin = math.sin }
    local Class = {}
    Class.__index = Class
    function Class.wave(_, x) return sin(x) end
    local object = setmetatable({}, Class)
    local base = setmetatable({}, { __index = setmetatable({}, { __index = { wave = sin } }) })
    assert.equal(cos(0.3), slope(outer))
    assert.equal(cos(0.3), slope(function(x) return module.f.g(x) end))
    assert.equal(cos(0.3), slope(function(x) return module.sin(x) end))
    assert.equal(cos(0.3), slope(function(x) return object:wave(x) end))
    assert.equal(cos(0.3), slope(function(x) return base.wave(x) end))
    assert.equal(sin, module.sin)
    assert.equal(cos(0.3), slope(function(x) return math.sin(x) end))
    assert.equal(cos(0.3), slope(sin))
  end)
  it("through globals", function()
    local env = setmetatable({}, { __index = _G })
    local chunk = load([[
      local sin = math.sin
      function helper(x) return sin(x) end
      library = { wave = function(x) return helper(x) end }
      return function(x) return library.wave(x) end
    ]], "globals", "t", env)()
    assert.equal(cos(0.3), slope(chunk))
  end)
  it("found only later: in a table filled, or an upvalue set, after the first call", function()
    local late, t, which = nil, {}, "none"
    local function f(x)
      if which == "upvalue" then return late(x) end
      if which == "table" then return t.sub.sin(x) end
      if which == "other" then return math.exp(x) + math.sin(x) end
      return x
    end
    local g = function(x) return f(x[1]) end
    local function now() return ns.gradient(g, { 0.3 })[1] end
    assert.equal(1, now())
    which, late = "upvalue", sin
    assert.equal(cos(0.3), now())
    which, t.sub = "table", { sin = sin }
    assert.equal(cos(0.3), now())
    which = "other"
    assert.equal(math.exp(0.3) + cos(0.3), now())
    which = "upvalue"
    assert.equal(cos(0.3), now())
    assert.equal(sin, t.sub.sin)
  end)
  it("a field that is gone, or other, since the list was made", function()
    local t = { sin = math.sin }
    local g = function(x) return t.sin and t.sin(x[1]) or x[1] end
    assert.equal(cos(0.3), ns.gradient(g, { 0.3 })[1])
    t.sin = nil
    assert.equal(1, ns.gradient(g, { 0.3 })[1])
    t.sin = function(x) return 5 * x end
    assert.equal(5, ns.gradient(g, { 0.3 })[1])
  end)
  it("written by the callback stays as written", function()
    local t = { sin = math.sin }
    ns.gradient(function(x)
      local y = t.sin(x[1])
      if type(y) == "userdata" then t.sin = cos end
      return y
    end, { 0.3 })
    assert.equal(-1, t.sin(math.pi))
  end)
  it("go back after an error, a wrong result, and in coroutines", function()
    local module = { sin = math.sin }
    fails("oops", ns.gradient, function(x)
      if type(x[1]) == "userdata" then error "oops" end
      return module.sin(x[1])
    end, { 1 })
    assert.equal(sin, module.sin)
    math_is_back()
    local object = {}
    local ok, err = pcall(ns.gradient, function(x)
      if type(x[1]) == "userdata" then error(object) end
      return 1
    end, { 1 })
    assert.is_false(ok)
    assert.equal(object, err)
    local co = coroutine.create(function()
      coroutine.yield(slope(sin))
      return ns.gradient(function(x) if type(x[1]) == "userdata" then error "inside" end return sin(x[1]) end, { 1 })
    end)
    local _, d = coroutine.resume(co)
    assert.equal(cos(0.3), d)
    ok, err = coroutine.resume(co)
    assert.is_false(ok)
    assert.matches("inside", err)
    math_is_back()
    fails("yield", coroutine.wrap(function()
      ns.gradient(function(x) if type(x[1]) == "userdata" then coroutine.yield() end return sin(x[1]) end, { 1 })
    end))
    assert.equal(cos(0.3), slope(function(x)
      local wave = coroutine.wrap(function(v) while true do v = coroutine.yield(sin(v)) end end)
      return wave(x)
    end))
  end)
  it("are found in a closure over much else #once", function()
    local function fill(make)
      local t = {}
      for i = 1, 1e5 do make(t, i) end
      return t
    end
    local much = {
      fill(function(t, i) t[i] = { i, weight = i } end), fill(function(t, i) t[i] = i end),
      fill(function(t, i) t["k" .. i] = i end), fill(function(t, i) t["k" .. i] = { i } end),
      fill(function(t, i) t[i] = function() return t[i] end end),
    }
    local helpers = { bend = function(x) return sin(x) end }
    for _, data in ipairs(much) do
      for _ = 1, 5 do -- a new closure each time
        local d = ns.gradient(function(x) return helpers.bend(x[1]) + (data[0] and 1 or 0) end, { 0.3 })
        assert.equal(cos(0.3), d[1])
      end
    end
  end)
  it("are found in a model of many nodes, each with a function", function()
    local model = { params = {}, nodes = {} }
    for i = 1, 2000 do
      model.params[i] = { k = i, w = { 1, 2, 3 } }
      model.nodes[i] = { eval = function(x) return math.sin(x) * cos(0 * x) * model.params[i].k end }
    end
    local x = ns.zeros(2000)
    local d = ns.gradient(function(v)
      local s = 0
      for i = 1, 2000, 40 do s = s + model.nodes[i].eval(v[i]) end
      return s
    end, x)
    for i = 1, 2000, 40 do assert.equal(i, d[i]) end
    assert.equal(0, d[2])
  end)
  it("are looked for farther away when one is missing", function()
    local wide, deep = {}, {}
    for i = 1, 2000 do wide["k" .. i] = {} end
    for i = 1, 1000 do deep[i] = { wave = i == 900 and sin } end
    wide.k1000.deep = deep
    local function f(x) return wide.k1000.deep[900].wave(x) end
    assert.equal(cos(0.3), slope(f))
    local runs, mtype = 0, { [700] = { deep = { type = math.type } } }
    for i = 1, 699 do mtype[i] = {} end
    local g = function(x)
      runs = runs + 1
      return mtype[700].deep.type(x[1]) and x[1] ^ 2 or 0
    end
    assert.equal(0.6, ns.gradient(g, { 0.3 })[1])
    assert.equal(3, runs)
    assert.equal(0.6, ns.gradient(g, { 0.3 })[1])
    assert.equal(5, runs)
    assert.equal(math.type, mtype[700].deep.type)
  end)
  it("do not keep a callback alive", function()
    local alive = setmetatable({}, { __mode = "k" })
    for _ = 1, 5 do
      local t = { sin = math.sin }
      local f = function(x) return t.sin(x[1]) end
      t.f = f
      alive[f] = true
      ns.gradient(f, { 1 })
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
  end)
  it("an error of the callback is let through once, without a second run", function()
    local runs = 0
    local g = function(x)
      if type(x[1]) == "userdata" then runs = runs + 1; if runs == 2 then error "interrupted" end end
      return sin(x[1])
    end
    ns.gradient(g, { 1 })
    fails("interrupted", ns.gradient, g, { 1 })
    assert.equal(2, runs)
  end)
end)
