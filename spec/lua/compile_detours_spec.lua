-- compile = true: functions that keep a state, or read by detours, have the bits of Lua.
local ns = require "nslua"
local expect = require "expect"

-- Runs f, whose event calls `apply` where the first state becomes 0; what has changed is in the bits.
local function run(make, compile, method)
  local f, apply = make()
  local o = { events = apply and { g = function(_, y) return y[1] end, apply = apply }, compile = compile, method = method }
  local good, sol = pcall(ns.solve_ivp, f, { 0, 6 }, { 1, 0 }, o)
  return good and { sol.t:totable(), sol.y[1]:totable(), sol.y[2]:totable() } or tostring(sol):match "^[^\n]*"
end

-- Compares; told: a part of the warning why the function stays in Lua, nil: it is compiled.
local function compare(name, make, told)
  for _, method in ipairs { "RK45", "Radau" } do
    local warned, other = {}
    local plain = run(make, false, method)
    expect.warnings(warned, function() other = run(make, true, method) end)
    if plain ~= other then assert.same(plain, other, name) end
    if method == "RK45" and not told then assert.same({}, warned, name) end
    if method == "RK45" and told then assert.matches(told, warned[1] or "no warning for " .. name, 1, true) end
  end
end

-- A function in the plain environment, y'' = -factor y.
local function made(factor)
  return load(("return function(_, y) return { y[2], -%s * y[1] } end"):format(factor), "=" .. factor)()
end

describe("compile = true has the bits of Lua", function()
  it("where a branch writes to what is outside, also out of sight of an assignment", function()
    local element = "assigns to an element of a "
    local ways = {
      { element .. "list of 2", function(c) c[1] = 2 end },
      { element .. "list of 2", function(c) local k = #c c[k] = 2 end },
      { element .. "list of 2", function(c) c.x = 1 end },
      { element .. "vector", function(_, v) v[1] = 2 end },
      { "writes to a table outside of it", function(c) table.insert(c, 1, 2) end },
      { "writes to a table outside of it", function(c) rawset(c, 1, 2) end },
      { "writes to a table outside of it", function(c) table.remove(c) end },
      { "writes to a table outside of it", function(c) table.move({ 3 }, 1, 1, 1, c) end },
      { "writes to a table outside of it", function(c) table.sort(c, function(a, b) return a > b end) end },
      { "writes to a table outside of it", function(c) setmetatable(c, { __index = { m = 2 } }) end },
      { element .. "list of 2", function(c) pcall(function() c[1] = 2 end) end },
      { element .. "list of 2", function(c) xpcall(function() c[1] = 2 end, type) end },
      { element .. "list of 2", function(c) return pcall(pcall, function() c[1] = 2 end) end },
      { element .. "list of 2", function(c) coroutine.wrap(function() c[1] = 2 end)() end },
      { element .. "list of 2", function(c) coroutine.resume(coroutine.create(function() c[1] = 2 end)) end },
      { "calls math.random", function(_, v) return math.random() > 2 and v end },
    }
    for k, way in ipairs(ways) do
      compare("way " .. k, function()
        return load([[local c, v, write = ...
          return function(_, y)
            if y[1] < 0 then write(c, v) end
            return { y[2], -(c[1] or 0.5) * v[1] * y[1] - (c.m or 0) }
          end]], "=way " .. k)({ 1, 1.5 }, ns.vector { 1 }, way[2]) -- a warning is told once for a place
      end, way[1])
    end
  end)

  it("where it remembers values, or goes on with a coroutine", function()
    compare("a table of values", function()
      local known = {}
      return function(_, y)
        local k = math.floor(y[1] * 4)
        if not known[k] then known[k] = y[1] + 0.0 end
        return { y[2], -known[k] * 0 - y[1] }
      end
    end, "assigns to an element of an empty table")
    for _, resume in ipairs { coroutine.wrap, function(f)
      local thread = coroutine.create(f)
      return function() return select(2, coroutine.resume(thread)) end
    end } do
      compare("a coroutine", function()
        local n = resume(function() for k = 1, math.huge do coroutine.yield(k) end end)
        return function(_, y) return { y[2], -y[1] + n() * 0 } end
      end, "")
    end
    compare("scratch of its own", function()
      return function(_, y)
        local list, packed, object = {}, table.pack(y[1], y[2]), setmetatable({}, { __index = { k = 2 } })
        list[1], packed[2] = y[2], -packed[1]
        table.insert(list, packed[2] * object.k)
        local good, value = pcall(function() list.n = 2 return list[2] end)
        return { list[1], good and value }
      end
    end)
  end)

  it("where what an action changes is read by detours", function()
    local P = {}
    local ways = {
      { nil, function()
        local p = { a = { b = { c = { k = 1 } } } }
        return function(_, y) return { y[2], -p.a.b.c.k * y[1] } end, function() p.a.b.c.k = 2 end
      end },
      { "objects as keys", function()
        local key = { k = 1 }
        local list = { [key] = true }
        return function(_, y) return { y[2], -next(list).k * y[1] } end, function() key.k = 2 end
      end },
      { nil, function()
        local n = 1
        local p = setmetatable({}, { __len = function() return n end })
        return function(_, y) return { y[2], -#p * y[1] } end, function() n = n + 1 end
      end },
      { nil, function()
        P.__mul = function(_, x) return x end
        local p = setmetatable({}, P)
        return function(_, y) return { y[2], -(p * y[1]) } end, function() P.__mul = function(_, x) return 2 * x end end
      end },
      { nil, function()
        local p = setmetatable({}, { __mul = function(_, x) return x end })
        return function(_, y) return { y[2], -(p * y[1]) } end,
          function() setmetatable(p, { __mul = function(_, x) return 2 * x end }) end
      end },
      { nil, function()
        _G.detour = nil
        return made "(detour or 1)", function() _G.detour = 2 end
      end },
      { nil, function()
        math.slope = 1 -- luacheck: ignore
        return function(_, y) return { y[2], -math.slope * y[1] } end, function() math.slope = 2 end -- luacheck: ignore
      end },
      { "a name that it makes", function()
        _G.detour = 1
        return made "_G['det' .. 'our']", function() _G.detour = 2 end
      end },
      { "a name that it makes", function()
        _G.detour = 1
        return made "rawget(_G, 'det' .. 'our')", function() _G.detour = 2 end
      end },
      { "a name that it makes, or that is long", function()
        _G.a_global_with_a_name_of_more_than_forty_letters = 1
        return made "a_global_with_a_name_of_more_than_forty_letters",
          function() _G.a_global_with_a_name_of_more_than_forty_letters = 2 end
      end },
      { "it may read anything by 'load'", function()
        _G.detour = 1
        return made "load 'return detour' ()", function() _G.detour = 2 end
      end },
      { "it may read anything by 'require'", function()
        package.loaded["of this spec"] = { k = 1 }
        return made "require 'of this spec'.k",
          function() package.loaded["of this spec"].k = 2 end
      end },
      { nil, function()
        local k, module = 1, {}
        function module.rate(x) return k * x end
        package.loaded["of this spec"] = module
        return function(_, y) return { y[2], -module.rate(y[1]) } end, function() k = 2 end
      end },
    }
    for k, way in ipairs(ways) do compare("way " .. k, way[2], way[1]) end
    _G.detour, _G.a_global_with_a_name_of_more_than_forty_letters, math.slope = nil, nil, nil -- luacheck: ignore
    package.loaded["of this spec"] = nil
  end)

  it("where an event reads what a function that stays in Lua writes", function()
    local function sol(compile)
      local seen = 0
      local function f(_, y) seen = y[1] return { y[2], -y[1] } end
      local s
      expect.warnings({}, function()
        s = ns.solve_ivp(f, { 0, 6 }, { 1, 0 },
          { events = { g = function(_, y) return seen + 0.5 * y[1] - 0.2 end, apply = function() end }, compile = compile })
      end)
      return { s.t:totable(), s.y[1]:totable(), s.t_events[1]:totable() }
    end
    assert.same(sol(false), sol(true))
  end)

  it("where a callback of a model writes within a step what another one reads", function()
    local function run_model(compile)
      local c = { 0 }
      local ds = ns.FirstOrderNonLinearDS({ 1, 0.5 }, function(_, x, _, f) f[1], f[2] = -x[1] + c[1], 0.1 * x[2] end)
      local relation = ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y)
          if type(x[1]) == "number" then c[1] = 0.1 * x[1] end
          y[1] = x[1] - x[2]
        end,
        g = function(_, _, lambda, _, r) r[1], r[2] = -lambda[1], lambda[1] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1), relation), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      local report = compile and simu:compile { native = false }
      simu:run()
      return ds:x():totable(), tostring(report)
    end
    local plain = run_model(false)
    local compiled, report = run_model(true)
    assert.same(plain, compiled)
    assert.matches("computef +Lua +a callback with side effects may change what it reads\n", report)
    assert.matches("computeg  tape", report, 1, true)
  end)

  it("and does not take an interruption for a reason to stay in Lua", function()
    local warned, good, message = {}
    local function f() error("interrupted!", 0) end
    expect.warnings(warned, function() good, message = pcall(ns.solve_ivp, f, { 0, 1 }, { 1 }, { compile = true }) end)
    assert.is_false(good)
    assert.matches("^[^\n]*interrupted!", message)
    assert.same({}, warned)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS({ 1 }, f))
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    assert.is_false(pcall(simu.compile, simu, { native = false }))
  end)
end)
