-- Garbage collection, memory over long runs, and the end of the state with everything alive.
local ns = require "nslua"
local host = require "host"
local models = require "bind.models"

local function collected(make)
  local weak = setmetatable({}, { __mode = "k" })
  make(weak)
  for _ = 1, 4 do collectgarbage() end
  return next(weak) == nil
end

local function resident()
  local text = host.read "/proc/self/status"
  return text and tonumber(text:match "VmRSS:%s*(%d+) kB")
end

describe("garbage collection", function()
  -- Only the simulation is kept.
  local makers = {
    function() return (models.clutch(5)) end,
    function() return (models.relay(1)) end,
    function()
      return (models.simulate(ns.FirstOrderLinearDS(models.linear_ds), ns.FirstOrderLinearR(models.LinearR)))
    end,
    function()
      return (models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds),
        ns.FirstOrderNonLinearR(models.NonLinearR)))
    end,
  }

  it("at every step changes no bit, in either mode #once", function()
    for _, make in ipairs(makers) do
      local reference = models.advance(make())
      for _, mode in ipairs { "generational", "incremental" } do
        local before = collectgarbage(mode)
        local simu, states = make(), {}
        while simu:hasNextEvent() do
          collectgarbage()
          simu:computeOneStep()
          collectgarbage "step"
          simu:nextStep()
          states[simu:step()] = models.state(simu)
        end
        collectgarbage(before)
        assert.same(reference, states)
      end
    end
  end)

  it("leaves views, parts and solutions that outlive the rest", function()
    local simu, inter, ds = models.clutch(1)
    local x, y, sol = ds:x(), inter:y(0), simu:run()
    local t, last = sol.t, x[2]
    simu, inter, ds, sol = nil, nil, nil, nil -- luacheck: ignore
    for _ = 1, 3 do collectgarbage() end
    assert.equal(last, x[2])
    assert.is_number(y[1])
    assert.equal(1, t[21])
  end)

  it("takes cycles through callbacks", function()
    assert.is_true(collected(function(weak)
      local simu, inter, ds
      local relation = ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = simu and -x[1] or 0 end,
        g = function(_, _, lambda, _, r) r[4] = inter and ds and lambda[1] end,
      }
      simu, inter, ds = models.clutch(0.5, relation)
      relation.myself, ds.simulation = relation, simu
      models.advance(simu)
      weak[simu], weak[inter], weak[ds], weak[relation] = true, true, true, true
      weak[simu:nsds()], weak[simu:osnspb()], weak[inter:nonSmoothLaw()] = true, true, true
    end))
    assert.is_true(collected(function(weak)
      local class = ns.class(ns.FirstOrderNonLinearR)
      local relation = class()
      function class.computeh(_, _, x, _, _, y) y[1] = relation and -x[1] end
      function class.computeg(self, _, _, lambda, _, r) r[4] = self == relation and lambda[1] end
      models.clutch(0.5, relation):run()
      weak[relation], weak[class] = true, true
    end))
  end)

  it("lets a system, a relation and an interaction that are linked go in any order", function()
    for order = 1, 6 do
      local parts = { models.clutch(0.2) }
      models.advance(parts[1], 1)
      local relation = parts[2]:relation()
      parts[4] = parts[1]:nsds()
      local x = parts[3]:x()
      for k = 1, 4 do
        parts[(order * k) % 5] = nil
        collectgarbage()
      end
      assert.is_number(x[1])
      assert.equal("clutch", relation:name())
    end
  end)
end)

describe("memory stays flat", function()
  -- NSLUA_SOAK=1 takes ten times as many.
  local soak = os.getenv "NSLUA_SOAK" and 10 or 1
  local steps = host.sanitized and 2000 or 10000 * soak

  local function tell(what, lua, all)
    if soak > 1 then print(("\n%s: %g kB more in Lua, %d kB in all"):format(what, lua, all or 0)) end
  end

  -- What leaks grows in each of three equal parts; what the allocator keeps grows in one or two. `advance(part)` does
  -- a part (0: what goes before); the least growth must stay below `most` kB in all, and below 22 kB in Lua.
  local function check_parts(what, most, advance)
    local lua, all, count, rss = math.huge, math.huge, nil, nil
    for part = 0, 3 do
      advance(part)
      collectgarbage()
      collectgarbage()
      local now, now_all = collectgarbage "count", resident()
      if part > 0 then lua, all = math.min(lua, now - count), math.min(all, now_all and now_all - rss or 0) end
      count, rss = now, now_all
    end
    tell(what, lua, all)
    assert.is_true(lua < 22, ("%g kB more in Lua"):format(lua))
    if not host.sanitized then assert.is_true(all < most, ("%d kB more in all"):format(all)) end
  end

  local function check_run(make)
    local simu = make()
    check_parts(steps .. " steps", 320, function(part)
      for _ = 1, part == 0 and steps // 10 or steps * 3 // 10 do
        simu:computeOneStep()
        simu:nextStep()
      end
    end)
  end

  it("over a long run of the clutch", function() check_run(function() return (models.clutch(steps * 0.05)) end) end)
  it("over a long run of a relay", function() check_run(function() return (models.relay(steps * 0.01)) end) end)

  it("over many models #once", function()
    local n = host.sanitized and 100 or 400 * soak
    check_parts(3 * n .. " models", 1280, function()
      for k = 1, n do
        local simu = models.relay(0.1)
        simu:computeOneStep()
        simu:nextStep()
        if k % 100 == 0 then collectgarbage() end
      end
    end)
  end)

  it("over many solutions of one simulation", function()
    local simu = models.relay(100)
    local rows = 0
    for _ = 1, host.sanitized and 10 or 40 do
      simu:reset()
      rows = rows + #simu:run { record = 1 }
    end
    assert.is_true(rows > 0)
    local rss = resident()
    if rss and not host.sanitized then assert.is_true(rss < 512 * 1024, ("%d kB"):format(rss)) end
  end)
end)

describe("the end of the state", function()
  -- Runs a script in both hosts; its output.
  local function both(script, expected, options)
    local settings = (options or "") .. (" LUA_PATH=%s LUA_CPATH=%s "):format(
      host.quote(host.root .. "/lua/?.lua;" .. host.root .. "/lua/?/init.lua;" .. host.root .. "/spec/?.lua"),
      host.quote(host.build .. "/lib/?.so"))
    local commands = { "env " .. settings .. host.quote(host.nslua) .. " -" }
    if not host.sanitized then commands[2] = "env " .. settings .. (os.getenv "LUA" or "lua5.4") .. " -" end
    for _, command in ipairs(commands) do
      local out, err, code = host.run(command, script)
      assert.equal("", err)
      assert.equal(expected, out)
      assert.equal(0, code)
    end
  end

  it("comes with everything alive", function()
    both([[
      local models = require "bind.models"
      simu, inter, ds = models.clutch(1)
      simu:computeOneStep()
      x, y, law, rel, nsds, sol = ds:x(), inter:y(0), inter:nonSmoothLaw(), inter:relation(), simu:nsds(),
        simu:clone():run()
      t, prob, M = sol.t, simu:osnspb(), simu:osnspb():M()
      print "alive"]], "alive\n")
  end)

  it("and finalizers of scripts, between any two objects, find them whole or closed #once", function()
    local script = [[
      local ns = require "nslua"
      local show, log = print, 0
      print = function() end
      local function build()
      local parts = {}
      local function touch()
        for _, p in pairs(parts) do
          for _, name in ipairs { "x", "setX", "computeRhs", "y", "lambda", "name", "display",
            "computeOneStep", "run",
            "check", "clone", "reset", "stats", "M", "info", "relation", "t0", "setCPtr", "setName", "link",
              "interaction",
            "dynamicalSystem", "steps" } do
            pcall(function() return p[name](p, 1) end)
            pcall(function() return p[name](p, "ds 1") end)
          end
          pcall(tostring, p)
        end
        pcall(function()
          ns.TimeStepping(parts.nsds, parts.td, parts.osi):run()
        end)
        pcall(function()
          parts.nsds:link(ns.Interaction(parts.law, parts.rel), parts.ds)
        end)
        log = log + 1
      end
      local function finalizer() parts[#parts + 1] = setmetatable({}, { __gc = touch }) end
      local orders = { { "nsds", "ds", "law", "rel", "inter" }, { "law", "rel", "inter", "ds", "nsds" },
        { "ds", "nsds", "law", "rel", "inter" }, { "rel", "law", "inter", "nsds", "ds" } }
      local make = {
        nsds = function() return ns.NonSmoothDynamicalSystem(0, 1) end,
        ds = function() return ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }) end,
        law = function() return ns.RelayNSL(1) end,
        rel = function() return ns.FirstOrderLinearTIR({ { 1 } }, { { -1 } }) end,
        inter = function() return ns.Interaction(parts.law, parts.rel) end,
      }
      local order = orders[ORDER]
      finalizer()
      for _, name in ipairs(order) do parts[name] = make[name]() finalizer() end
      parts.nsds:insertDynamicalSystem(parts.ds)
      parts.nsds:link(parts.inter, parts.ds)
      parts.td = ns.TimeDiscretisation(0, 0.1) finalizer()
      parts.osi = ns.EulerMoreauOSI(1) finalizer()
      parts.prob = ns.Relay() finalizer()
      parts.simu = ns.TimeStepping(parts.nsds, parts.td, parts.osi, parts.prob) finalizer()
      parts.simu:computeOneStep() parts.simu:nextStep()
      parts.x, parts.y = parts.ds:x(), parts.inter:y(0) finalizer()
      return parts
      end
      local parts = build()
      if COLLECT then parts = nil end
      for _ = 1, 3 do collectgarbage() end
      show(parts ~= nil or log > 10)]]
    -- Lua never finalizes what is made in a finalizer while the state closes.
    for order = 1, 4 do
      local collect = order % 2 == 0 and "true" or "false"
      both((script:gsub("ORDER", order):gsub("COLLECT", collect)), "true\n", "ASAN_OPTIONS=detect_leaks=0")
    end
  end)
end)
