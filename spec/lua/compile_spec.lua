-- simu:compile(): the same bits as without, what compiles and why something does not, what is seen to change.
local ns = require "nslua"
local drivelines = require "random_drivelines"
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

  -- A driveline of nearly all kinds of parts: its callbacks read their parts through tables deep in others. load.k: a number
  -- that a function of the script reads.
  local function drawing(load)
    local d = ns.driveline()
    d:torque("T", "a", { amplitude = 6, frequency = 1.5 })
    d:torque("L", "e", function(t, _, w) return math.sin(t) - load.k * w end)
    d:spring("K", "a", "b", function(e) return 40 * e + 5 * e ^ 3 end):damper("D", "a", "b", 0.6)
    d:clutch("C", "b", "c", { times = { 0, 1 }, values = { 3, 4 } })
    d:stop("S", "c", "d", { lower = -0.1, upper = 0.1, stiffness = 300, damping = 2 })
    d:gear("G", "d", "e", 2, { efficiency = { 0.9, 0.8 }, friction = 0.1 }):friction("F", "a", { coulomb = 0.4, viscous = 0.1 })
    for i, node in ipairs { "a", "b", "c", "d" } do d:inertia("J" .. node, node, 0.2 * i, { speed = i }) end
    return d
  end

  it("compiles the callbacks of drivelines, and sees what their functions read", function()
    local load = { k = 0.3 }
    for _, scheme in ipairs { "by events", "by steps" } do
      local simus = {}
      for i = 1, 2 do
        simus[i] = drawing(load):simulation { stop = 0.6, step = 0.02 }
        if scheme == "by steps" then
          local nsds = simus[i]:nsds()
          simus[i] = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), ns.EulerMoreauOSI(1))
        end
      end
      local report = simus[2]:compile { native = false }
      for _, one in ipairs(report) do assert.equal("tape", one.how, tostring(report)) end
      assert.is_true(#report >= 4)
      while simus[1]:hasNextEvent() do
        if simus[1]:step() == 5 then load.k = 0.7 end
        for _, simu in ipairs(simus) do simu:computeOneStep() simu:nextStep() end
        assert.equal(trail.state(simus[1]), trail.state(simus[2]))
      end
      load.k = 0.3
    end
  end)

  it("compiles random drivelines without a change of a bit #once", function()
    local count, tell = require "campaign"(2, 0.1)
    for seed = 1, count do
      local rows = {}
      for i = 1, 2 do
        local simu = drivelines.make(seed):simulation { stop = 1, step = 0.1 }
        for _, one in ipairs(i == 2 and simu:compile { native = false } or {}) do
          assert.equal("tape", one.how, ("driveline %d: %s"):format(seed, one.why))
        end
        rows[i] = trail.of(simu)
      end
      assert.same(rows[1], rows[2], "driveline " .. seed)
    end
    tell("compiled drivelines", count)
  end)

  it("leaves a callback in Lua that reads a signal: its value at a jump depends on the interval", function()
    local rows = {}
    for i = 1, 2 do
      local signal = ns.clock { period = 0.5, low = 0, high = 1 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ns.FirstOrderLinearDS({ 0 }, { { -1 } }, function(t, _, b) b[1] = signal(t) * (1 + t) end))
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25), ns.EulerMoreauOSI(0.5))
      ns.follow(simu, signal)
      if i == 2 then
        assert.matches("it reads a signal, whose value at an instant depends on the interval of the step$",
          simu:compile({ native = false })[1].why)
      end
      rows[i] = trail.of(simu)
    end
    assert.same(rows[1], rows[2])
  end)

  it("compiles the sources of a circuit", function()
    local gain, simus = { in_it = { in_it = { in_it = { k = 5 } } } }, {}
    for i = 1, 2 do
      local c = ns.circuit()
      c:voltage("E", "a", "0", function(t) return gain.in_it.in_it.in_it.k * math.sin(20 * t) end)
      c:resistor("R", "a", "b", 2):diode("D", "b", "c"):capacitor("C", "c", "0", 0.01):resistor("R2", "c", "0", 10)
      simus[i] = c:simulation { stop = 1, step = 0.05 }
    end
    assert.equal("tape", simus[2]:compile({ native = false })[1].how)
    while simus[1]:hasNextEvent() do
      if simus[1]:step() == 5 then gain.in_it.in_it.in_it.k = 4 end
      for _, simu in ipairs(simus) do simu:computeOneStep() simu:nextStep() end
      assert.equal(trail.state(simus[1]), trail.state(simus[2]))
    end
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

  it("sees numbers in tables however deep in others, captured ones and those of a method's object", function()
    local deep = { in_it = { in_it = { in_it = { in_it = { k = 1 } } } } }
    local Plant = ns.class(ns.FirstOrderNonLinearDS, "plant")
    function Plant:computef(_, x, _, f) f[1] = -self.own.in_it.in_it.in_it.in_it.k * x[1] end
    local function make(compiled)
      local captured, capturing = clutch { f = function(_, x, _, f) f[1] = -deep.in_it.in_it.in_it.in_it.k * x[1] end }
      local nsds, method = ns.NonSmoothDynamicalSystem(0, 1), Plant { 1 }
      method.own = deep
      nsds:insertDynamicalSystem(method)
      local simus = { captured, ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)) }
      for _, simu in ipairs(compiled and simus or {}) do
        assert.equal("tape", simu:compile({ native = false })[1].how)
      end
      return simus, { capturing, method }
    end
    local plain, expected = make(false)
    local simus, systems = make(true)
    for _, k in ipairs { 1, 5, 2 } do
      deep.in_it.in_it.in_it.in_it.k = k
      for i = 1, 2 do
        for _, simu in ipairs { plain[i], simus[i] } do simu:computeOneStep() simu:nextStep() end
        assert.equal(expected[i]:x(), systems[i]:x())
      end
    end
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
    local warned = {}
    expect.warnings(warned, function()
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
  end)

  -- Two relays with bounds that are functions of time, or a block on ice and on a floor with a curve of friction; with events.
  local function bounded(compile, latch, mechanics)
    local nsds, k, p, limit = ns.NonSmoothDynamicalSystem(0, 2), 0.7, { a = 1.2 }, 0.25
    local function lower(t) if t > 1 then return -k * t end return -0.3 end
    local function ice(t) if t > 1.5 then latch.v = 1 end return t > 0.2 and 0.2 or 0.3 - 0.1 * t end
    local function link(law, relation, name, ds)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, relation, name), ds)
    end
    local simu
    if mechanics then
      local function block()
        local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 3, 0 }, { { 1, 0 }, { 0, 1 } })
        ds:setFExtPtr { 0, -9.81 }
        return ds
      end
      local H = { { 0, 1 }, { 1, 0 } }
      local function curve(u) return 0.3 + 0.1 * u / (1 + u) end
      link(ns.NewtonImpactSlipFrictionNSL(0, curve, 2), ns.LagrangianLinearTIR(H), "tip", block())
      link(ns.NewtonImpactFrictionNSL(0, 0, ice, 2), ns.LagrangianLinearTIR(H), "ice", block())
      simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.MoreauJeanOSI(0.5))
    else
      link(ns.RelayNSL(1, lower, function(t) return p.a * math.min(1, t) end),
        ns.FirstOrderLinearTIR { C = { { 1, -1 } }, B = { { -1 }, { 1 } } }, "clutch",
        ns.FirstOrderLinearTIDS({ 1, -1 }, { { -0.1, 0 }, { 0, -0.2 } }, { 1, 0.5 }))
      link(ns.RelayNSL(2, { -1, function(t) return -t end }, { function(t) return 1 + t end, 3 }),
        ns.FirstOrderLinearTIR { C = { { 1, 0 }, { 0, 1 } }, B = { { -1, 0 }, { 0, -1 } } }, "pair",
        ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 0 }, { 0, -1 } }))
      simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
    end
    simu:addEvent { name = "half", g = function(_, x) if x[1] > limit then return x[1] - 0.9 end return x[1] - limit end }
    simu:addEvent { name = "half way", at = 0.55 }
    simu:addEvent { name = "state", state = { n = 0 }, g = function(t, _, s) return t - 0.2 - s.n end }
    simu:addEvent { name = "lost", g = function(t, x) if t > 1.33 then latch.v = 2 end return x[2] - 0.33 end }
    local first = compile and simu:compile { native = false }
    local sol, log = simu:run(), {}
    for _, event in ipairs(simu:events()) do log[#log + 1] = ("%.17g %s %s"):format(event.t, event.kind, event.name) end
    p.a = 2 -- seen at the next run
    simu:reset()
    local again = simu:run()
    return { sol.x:totable(), sol.lambda:totable(), log, again.x:totable() }, first, compile and simu:compile()
  end

  it("compiles the functions of laws and of events, and leaves one in Lua where a path can't be made #once", function()
    local warned = {}
    expect.warnings(warned, function()
      for _, mechanics in ipairs { false, true } do
        local want = bounded(false, {}, mechanics)
        local got, first, last = bounded(true, {}, mechanics)
        assert.same(want, got)
        for _, name in ipairs(mechanics and { "'tip' mu", "'ice' mu", "'half' g", "'lost' g" }
          or { "'clutch' lb", "'clutch' ub", "'pair' lb[2]", "'pair' ub[1]", "'half' g", "'lost' g" }) do
          assert.equal("tape", row(first, name).how, name)
        end
        assert.equal("it gets discrete states", row(first, "'state' g").why)
        assert.equal("Lua", row(last, "'lost' g").how)
        assert.matches("the callback assigns to 'latch.v'", row(last, "'lost' g").why, 1, true)
        if mechanics then assert.equal("Lua", row(last, "'ice' mu").how) end
        assert.equal("tape", row(last, mechanics and "'half' g" or "'clutch' lb").how)
      end
    end)
    table.sort(warned)
    for i, title in ipairs { "event 'lost' g", "interaction 'ice' mu" } do
      assert.matches("^nslua: " .. title .. " runs in Lua from here on: ", warned[i])
    end
    assert.equal(2, #warned)
  end)

  it("raises what a function of a law or an event raises in Lua", function()
    for _, compile in ipairs { false, true } do
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 2), ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      nsds:insertDynamicalSystem(ds)
      local law = ns.NewtonImpactFrictionNSL(0, 0, function(t) return t < 0.45 and 0.5 or -1 end, 2)
      local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 3, 0 }, { { 1, 0 }, { 0, 1 } })
      local mechanics = ns.NonSmoothDynamicalSystem(0, 2)
      mechanics:insertDynamicalSystem(block)
      mechanics:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "tip"), block)
      local slides = ns.TimeStepping(mechanics, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      simu:addEvent { name = "dry", g = function(_, x) if x[1] < 0.7 then error "no water" end return x[1] end }
      if compile then
        slides:compile { native = false }
        simu:compile { native = false }
      end
      expect.fails("interaction 'tip' mu: t=0.5: expected a finite number, 0.0 or more, got -1.0", function() slides:run() end)
      expect.warnings({}, function()
        expect.fails("event 'dry' g: t=0.4 step 4: no water", function() simu:run() end)
      end)
    end
  end)

  it("compiles functions of events and laws that are added later, and forgets those that are removed", function()
    local simu, ds = clutch { compile = true }
    simu:computeOneStep()
    simu:nextStep()
    for i = 1, 3 do simu:addEvent { name = "e" .. i, g = function(_, x) return x[1] - 0.2 * i end } end
    simu:removeEvent "e2"
    simu:run()
    local plain, other = clutch {}
    for i = 1, 3, 2 do plain:addEvent { name = "e" .. i, g = function(_, x) return x[1] - 0.2 * i end } end
    plain:run()
    assert.equal(other:x(), ds:x())
    local report = simu:compile()
    assert.is_true(row(report, "'e1' g").how ~= "Lua" and row(report, "'e3' g").how ~= "Lua")
    assert.is_nil(row(report, "'e2' g"))
    assert.same(plain:events(), simu:events())
  end)

  it("says what is wrong with its options", function()
    expect.fails("compile: unknown option 'fast'", function() clutch({}):compile { fast = true } end)
    expect.fails("TimeStepping: compile: expected a boolean, got string", clutch, { compile = "yes" })
  end)

  it("is what nslua --compile does for each simulation of a script, and for the functions of solve_ivp and dae #once", function()
    local file = os.tmpname()
    local f = assert(io.open(file, "w"))
    f:write [[
      local ns = require "nslua"
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] end))
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      simu:run()
      print(("%.6f"):format(nsds:dynamicalSystem(1):x()[1]))
      for _ = 1, 2 do ns.solve_ivp(function(_, y) return { -y[1] } end, { 0, 1 }, { 1 }) end
      ns.dae("radau", function(_, y, yd) return { y[1] + yd[1] } end, {
        events = function(_, y) return y[1] - 0.5 end }):solve({ 0, 1 }, { 1 }, { -1 })]]
    f:close()
    local out = host.run(("%s --compile %s 2>&1"):format(host.nslua, file))
    os.remove(file)
    assert.matches("dynamical system 'ds 1' computef  %a+\n", out)
    assert.matches("0.385543", out, 1, true)
    assert.matches("\nsolve_ivp: f %([^\n]*:7%)  compiled\ndae: residual %([^\n]*:8%)  compiled\n"
      .. "dae: event 1 %([^\n]*:9%)  compiled\n", out)
  end)
end)

describe("compile = true", function()
  local methods = { "RK45", "Radau" }
  local branching = require "branching"

  local function ivp(make, method, compile)
    local f, events = make()
    local sol = ns.solve_ivp(f, { 0, 3 }, { 1, 0.5 }, { method = method, events = events, compile = compile })
    return { sol.t:totable(), sol.y[1]:totable(), sol.y[2]:totable(), sol.status, sol.nfev }
  end

  local function dae(make, kind, compile)
    local f, events = make()
    local function residual(t, y, yd, res)
      local rate = f(t, y)
      for i = 1, 2 do res[i] = yd[i] - rate[i] end
    end
    local sol = ns.dae(kind, residual, { events = events, compile = compile, consistent = false, max_steps = 300 })
      :solve({ 0, 1, 2, 3 }, { 1, 0.5 }, { 0, 0 })
    return { sol.flag, sol.values.t:totable(), tostring(sol.values.y), sol.stats }
  end

  -- In Lua a loop up to a value has no derivatives, which implicit methods ask for.
  local function compare_runs(run, make, kind, name)
    local good, plain = pcall(run, make, kind)
    if not good then return assert.matches("number expected, got dual): this does not propagate derivatives", plain, 1, true) end
    assert.same(plain, run(make, kind, true), name)
  end

  local function compare(make, name)
    for _, method in ipairs(methods) do compare_runs(ivp, make, method, name) end
    compare_runs(dae, make, "radau", name)
  end

  it("of ns.solve_ivp and ns.dae gives the same bits, with random functions that branch #once", function()
    math.randomseed(3203)
    local count, tell = require "campaign"(3, 0.01)
    local warned, sources = {}, 0
    expect.warnings(warned, function()
      for _ = 1, count do
        local g, source = branching.random()
        local function bounded(t, y)
          local v = g { y[1], y[2], t }
          return { math.sin(v[1]), math.cos(v[2]) - y[2] }
        end
        local plain = ns.solve_ivp(bounded, { 0, 3 }, { 1, 0.5 }, { max_steps = 500 })
        if plain.success then
          sources = sources + 1
          compare(function() return bounded, { g = function(_, y) return y[1] - 0.9 * y[2] end } end, source)
        end
      end
    end)
    assert.is_true(sources > 0 and #warned == 0, table.concat(warned, "\n"))
    tell("functions", sources)
  end)

  it("follows what actions of events change, and stays in Lua where it must, with one warning by name #once", function()
    local A = ns.matrix { { 0, 1 }, { -1, -0.1 } }
    local function event(apply) return { g = function(_, y) return y[1] - 0.8 end, apply = apply } end
    local ways = {
      { nil, function()
        local k = 1
        return function(_, y) return { y[2], -k * y[1] } end, event(function() k = 3 - k end)
      end },
      { nil, function()
        local p = { k = 1 }
        return function(_, y) return { y[2], -p.k * y[1] } end, event(function() p.k = 3 - p.k end)
      end },
      { "what it reads has changed too often", function()
        local k = 1
        return function(_, y) return { y[2], -40 * k * y[1] } end, event(function() k = k + 0.001 end)
      end },
      { "assigns to the variable 'c' outside of it", function()
        local c = 1
        return function(t, y) if t > 1 then c = 2 end return { y[2], -c * y[1] } end
      end },
      { "it takes sums (A * v, dot, sum, norm)", function() return function(_, y) return A * y end end },
      { "it writes by 'print'", function() return function(_, y) if y[1] > 99 then print(y) end return { y[2], 1 } end end },
    }
    local told
    for _, way in ipairs(ways) do
      local warned = {}
      expect.warnings(warned, function() compare(way[2], way[1]) end)
      for k, text in ipairs(warned) do -- the residual, which is one place in the source, is told of once
        assert.matches(k == 1 and "solve_ivp: f" or "dae: residual", text, 1, true)
        assert.matches("^nslua: [%w_]+: %w+ %(spec/lua/compile_spec.lua:%d+%) runs in Lua from here on: ", text)
        assert.matches(way[1], text, 1, true)
      end
      assert.is_true(#warned == (way[1] and not told and 2 or way[1] and 1 or 0), way[1])
      told = told or way[1]
    end
  end)

  it("of functions that the script has compiled follows variables that actions change, too", function()
    local function make(wrap)
      local k = 1
      return wrap(function(_, y) return { y[2], -k * y[1] } end),
        { g = function(_, y) return y[1] - 0.8 end, apply = function() k = 3 - k end }
    end
    local function compiled() return make(function(f) return ns.compile(f, { native = false }) end) end
    local function plain() return make(function(f) return f end) end
    for _, method in ipairs(methods) do assert.same(ivp(plain, method), ivp(compiled, method), method) end
  end)

  it("sees what an action changes in a vector or a table among args", function()
    local function run(compile)
      local v, p, list = ns.vector { 1 }, { k = 1 }, { 1, 2 }
      local function f(_, y, a, q, l) return { y[2], -a[1] * q.k * l[2] * y[1] } end
      local events = { g = function(_, y) return y[1] - 0.8 end, apply = function(_, _, a, q, l)
        if v[1] == 1 then v[1] = 3 elseif p.k == 1 then q.k = 2 else l[2] = 5 end
        return a and nil
      end }
      local sol = ns.solve_ivp(f, { 0, 5 }, { 1, 0.5 }, { events = events, args = { v, p, list }, compile = compile })
      return { sol.t:totable(), sol.y[1]:totable() }
    end
    assert.same(run(false), run(true))
  end)

  it("is a boolean", function()
    local function f(_, y) return y end
    expect.fails("solve_ivp: compile: expected a boolean, got string", ns.solve_ivp, f, { 0, 1 }, { 1 }, { compile = "yes" })
    expect.fails("dae: compile: expected a boolean, got string",
      function() return ns.dae("radau", f, { compile = "yes" }):solve({ 0, 1 }, { 1 }, { 1 }) end)
  end)
end)
