-- simu:compile(): the same bits as without, what compiles and why something does not, what is seen to change.
local ns = require "nslua"
local expect = require "expect"
local host = require "host"
local models = require "random_models"
local trail = require "trail"

-- A clutch of first order; o.f, o.h, o.g: its callbacks.
local function clutch(o, name)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local ds = ns.FirstOrderNonLinearDS({ 1, 0.5 }, o.f or function(_, x, _, f) f[1], f[2] = -x[1], x[2] * 0.1 end)
  ds:setName(name or "plant")
  local relation = ns.FirstOrderNonLinearR { h = o.h or function(_, x, _, _, y) y[1] = x[1] - x[2] end,
    g = o.g or function(_, _, lambda, _, r) r[1], r[2] = -lambda[1], lambda[1] end }
  relation:setName(name or "clutch")
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1), relation), ds)
  local grid, integrator = ns.TimeDiscretisation(0, o.step or 0.1), ns.EulerMoreauOSI(1)
  return ns.TimeStepping { nsds = nsds, grid = grid, integrator = integrator, compile = o.compile }, ds
end

local function row(report, name)
  for _, one in ipairs(report) do
    if one.callback:find(name, 1, true) then return one end
  end
end

local function why(o, name) return row(clutch(o):compile { native = false }, name).why end

describe("simu:compile", function()
  it("compiles the callbacks of random models of all kinds without a change of a bit", function()
    math.randomseed(3201)
    local count, tell = require "campaign"(1, 0.002)
    local tried, compiled = 0, 0
    local names = {}
    for name in pairs(models.kinds) do names[#names + 1] = name end
    table.sort(names)
    for _ = 1, count do
      for _, name in ipairs(names) do
        local build = models.kinds[name]()
        local plain, other = models.simulate(build()), models.simulate(build())
        for _, one in ipairs(other:compile { native = false }) do compiled = compiled + (one.how == "tape" and 1 or 0) end
        local rows, err = trail.of(plain)
        local again, err2 = trail.of(other)
        assert.same(rows, again, name)
        assert.equal(err, err2)
        tried = tried + 1
      end
    end
    assert.is_true(compiled > 3 * count)
    tell("compiled models", tried)
  end)

  it("tells of each callback how it runs, and why", function()
    local simu = clutch { h = function(_, x, _, _, y) y[1] = math.random() * x[1] end }
    local report = simu:compile { native = false }
    assert.equal("tape", row(report, "plant' computef").how)
    assert.equal("Lua", row(report, "clutch' computeh").how)
    assert.matches("compile_spec.lua:%d+: ", row(report, "clutch' computeh").why)
    assert.matches("dynamical system 'plant' computef%s+tape\n", tostring(report))
    local again = simu:compile()
    assert.equal("tape", row(again, "plant' computef").how)
    assert.equal(tostring(report), tostring(again))
  end)

  it("leaves in Lua what a trace would freeze, by name", function()
    local view = ns.FirstOrderLinearTIDS({ 1 }, { 1 }):x()
    assert.equal("it may read 'view', which may change by itself",
      why({ f = function(_, x, _, f) f[1] = view[1] * x[1] end }, "computef"))
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { 1 })
    local inner = { deep = { ds = ds } }
    assert.equal("it may read 'inner.deep.ds', which may change by itself",
      why({ f = function(_, x, _, f) f[1] = #inner * x[1] end }, "computef"))
    local calls = 0
    assert.matches("^spec/lua/compile_spec.lua:%d+: the callback assigns to the variable 'calls' outside of it",
      why({ f = function(_, x, _, f) calls = calls + 1 f[1] = x[1] end }, "computef"))
    assert.equal("it writes by 'print'", why({ f = function(_, x, _, f) if not x then print(x) end f[1] = x[1] end }, "computef"))
    local A = ns.matrix { { 1, 2 }, { 3, 4 } }
    assert.equal("it takes sums (A * v, dot, sum, norm) that may be rounded otherwise; ns.compile takes it",
      why({ f = function(_, x, _, f) f:assign(A * x) end }, "computef"))
    local many = {}
    for i = 1, 60 do many[i] = i end
    assert.equal("it may read more than 50 values besides its arguments",
      why({ f = function(_, x, _, f) f[1] = many[3] * x[1] end }, "computef"))
    assert.equal("compiled by the script", why({ f = ns.compile(function(_, x, _, f) f[1] = x[1] end) }, "computef"))
  end)

  it("sees numbers, tables, vectors and globals that change, between runs and between steps", function()
    local k, p, v = 1, { k = 2 }, ns.vector { 3 }
    local globals = setmetatable({ shift = 4 }, { __index = _G })
    local function f(_, x, _, out)
      local _ENV = globals -- luacheck: ignore
      out[1] = -k * x[1] * p.k
      out[2] = v[1] * x[2] + shift -- luacheck: ignore
    end
    local plain, one = clutch { f = f }
    local compiled, other = clutch { f = f }
    compiled:compile { native = false }
    local function compare()
      plain:computeOneStep() compiled:computeOneStep()
      plain:nextStep() compiled:nextStep()
      assert.equal(one:x(), other:x())
    end
    compare()
    k = 5
    compare()
    p.k = 7
    compare()
    v[1] = 0.5
    compare()
    assert.equal(nil, row(compiled:compile(), "plant' computef").why)
    globals.shift = -1
    compare()
    p.k = 1
    compare()
    assert.equal("what it reads has changed too often", row(compiled:compile(), "plant' computef").why)
  end)

  it("sees globals of the environment that a function has", function()
    local env = setmetatable({ rate = 2 }, { __index = _G })
    local f = load("return function(_, x, _, f) f[1] = -rate * x[1] end", "=text", "t", env)()
    local simu, ds = clutch { f = f, compile = true }
    simu:computeOneStep()
    assert.is_true(row(simu:compile(), "plant' computef").how ~= "Lua")
    env.rate = 0
    simu:nextStep()
    simu:computeOneStep()
    local plain, one = clutch { f = load("return function(_, x, _, f) f[1] = -rate * x[1] end", "=text", "t", env)() }
    env.rate = 2
    plain:computeOneStep()
    plain:nextStep()
    env.rate = 0
    plain:computeOneStep()
    assert.equal(one:x(), ds:x())
  end)

  it("compiles methods of classes, sees their fields, and refuses what may call the object", function()
    local Damper = ns.class(ns.FirstOrderNonLinearR, "damper")
    function Damper:init(c) self.c = c end
    function Damper:computeh(_, x, _, _, y) y[1] = self.c * x[1] end
    function Damper:computeg(_, _, lambda, _, r) r[1] = lambda[1] + 0 * #self:name() end
    local relation, ds = Damper(2), ns.FirstOrderLinearTIDS({ 1 }, { -1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local inter = ns.Interaction(ns.RelayNSL(1), relation)
    nsds:link(inter, ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), nil, { compile = false })
    simu:compile { native = false }
    simu:computeOneStep()
    assert.equal(2 * ds:x()[1], inter:y(0)[1])
    simu:nextStep()
    relation.c = 3
    simu:computeOneStep()
    assert.equal(3 * ds:x()[1], inter:y(0)[1])
    local report = simu:compile()
    assert.is_true(row(report, "computeh").how ~= "Lua")
    assert.equal("it may call 'self:name', whose result may change by itself", row(report, "computeg").why)
    function Damper:computeh(_, x, _, _, y) y[1] = self.c * x[1] + 1 end
    simu:nextStep()
    simu:computeOneStep()
    assert.equal(3 * ds:x()[1] + 1, inter:y(0)[1])
    assert.is_true(row(simu:compile(), "computeh").how ~= "Lua")
  end)

  it("takes the plain callback again, with a warning, where a path fails in a run #once", function()
    local function makers()
      local latch, p = 1, { latch = 1 }
      return {
        { "assigns to the variable 'latch'", function(x) if x < 0.2 then latch = 0.5 end return -latch * x end },
        { "assigns to 'p.latch'", function(x) if x < 0.2 then p.latch = 0.5 end return -p.latch * x end },
        { "a bitwise operation", function(x) return x < 0.2 and -(math.floor(x * 64) & 31) / 64 or -x end },
        { "more than 64 paths", function(x) return p[math.floor(x * 2000)] or -x end },
      }
    end
    local warned, at, lose = {}, 1, require "nslua.compile".lose
    while debug.getupvalue(lose, at) ~= "_ENV" do at = at + 1 end
    local _, globals = debug.getupvalue(lose, at)
    local before = rawget(globals, "warn")
    rawset(globals, "warn", function(...) warned[#warned + 1] = table.concat { ... } end)
    local good, err = pcall(function()
      for k, way in ipairs(makers()) do
        for _, slot in ipairs { "f", "h" } do
          local trails, last = {}, nil
          for _, compile in ipairs { false, true } do
            local rate, o = makers()[k][2], { step = 0.01 }
            if slot == "f" then
              function o.f(_, x, _, f) f[1], f[2] = rate(x[2]), x[2] * 0.1 end
            else
              function o.h(_, x, _, _, y) y[1] = rate(x[2]) + 2 * x[1] - x[2] end
            end
            last = clutch(o, ("plant %d%s"):format(k, slot))
            if compile then last:compile { native = false } end
            trails[#trails + 1] = table.pack(trail.of(last))
          end
          assert.same(trails[1], trails[2], way[1])
          local one = row(last:compile(), slot == "f" and "computef" or "computeh")
          assert.equal("Lua", one.how, way[1])
          assert.matches(way[1], one.why, 1, true)
          assert.equal(("nslua: %s runs in Lua from here on: %s"):format(one.callback, one.why), table.remove(warned))
          assert.equal(0, #warned)
        end
      end
    end)
    rawset(globals, "warn", before)
    assert(good, err)
  end)

  it("says what is wrong with its options", function()
    expect.fails("compile: unknown option 'fast'", function() clutch({}):compile { fast = true } end)
    expect.fails("TimeStepping: compile: expected a boolean, got string", clutch, { compile = "yes" })
  end)

  it("is what nslua --compile does for each simulation of a script #once", function()
    local file = os.tmpname()
    local f = assert(io.open(file, "w"))
    f:write [[
      local ns = require "nslua"
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] end))
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      simu:run()
      print(("%.6f"):format(nsds:dynamicalSystem(1):x()[1]))]]
    f:close()
    local out = host.run(("%s --compile %s 2>&1"):format(host.nslua, file))
    os.remove(file)
    assert.matches("dynamical system 'ds 1' computef  %a+\n", out)
    assert.matches("0.385543", out, 1, true)
  end)
end)
