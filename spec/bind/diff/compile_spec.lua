-- ns.compile: the object, and compiled functions as callbacks, wherever a plain one may stand.
local ns = require "nslua"
local models = require "models"
local traces = require "bind.traces"
local message = require "bind.models".message

local sin, cos = math.sin, math.cos
local here = "spec/bind/diff/compile_spec.lua"

-- The numbers of two runs: the same to rounding.
local function same_runs(a, b, tolerance)
  local x, y = models.numbers(a), models.numbers(b)
  assert.equal(#x, #y)
  for i = 1, #x do
    assert.is_true(math.abs(x[i] - y[i]) <= (tolerance or 1e-12) * (1 + math.abs(x[i])), ("%.17g and %.17g"):format(x[i], y[i]))
  end
end

-- Three ways of a callback: plain, on a tape, native when there is a compiler.
local ways = {
  plain = function(f) return f end,
  tape = function(f) return ns.compile(f, { native = false }) end,
  native = traces.native,
}

-- Runs what make(way) gives by all three ways; compares the compiled ones with the plain one.
local function by_all_ways(make, tolerance)
  local plain = make(ways.plain)
  for _, way in ipairs { "tape", "native" } do same_runs(plain, make(ways[way]), tolerance) end
end

describe("ns.compile", function()
  it("makes an object that is called as the function, and says what it is", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local c = ns.compile(function(x) return x * 2 end)
    assert.equal(("compiled function: %s:%d"):format(here, line), tostring(c))
    assert.equal("userdata", type(c))
    assert.equal("compiled function", getmetatable(c))
    assert.equal(6, c(3))
    local t = c:traces()
    assert.equal(1, #t)
    assert.equal("number", t[1].arguments)
    assert.equal(1, t[1].operations)
    assert.equal(1, t[1].values)
  end)

  it("refuses what it cannot take", function()
    local function check(text, ...) assert.equal("compile: " .. text, message(ns.compile, ...)) end
    check "callback: expected a Lua function, got nil"
    check("callback: expected a Lua function, got an empty table", {})
    check("callback: expected a Lua function, got function", math.sin)
    check("callback: expected a Lua function, got compiled function", ns.compile(function() end))
    check("options: expected a table, got number 1.0", function() end, 1)
    check("unknown option 'nativ' (known: native, paths)", function() end, { nativ = true })
    check("native: expected a boolean or the name of a compiler, got number 1.0", function() end, { native = 1 })
    check("paths: expected 1 to 64, got 0", function() end, { paths = 0 })
    check("paths: expected 1 to 64, got 65", function() end, { paths = 65 })
    check("expected at most 2 arguments, got 3", function() end, {}, 3)
  end)

  it("gives the Jacobian by the argument asked for", function()
    local c = ns.compile(function(t, x) return { t * x[1], x[1] ^ 2 * x[2] } end)
    local J = c:jacobian(2, 3, ns.vector { 2, 5 })
    assert.same({ { 3, 0 }, { 20, 4 } }, { J[1]:totable(), J[2]:totable() })
    J = c:jacobian(1, 3, ns.vector { 2, 5 })
    assert.same({ { 2 }, { 0 } }, { J[1]:totable(), J[2]:totable() })
    local by = function(...) return message(c.jacobian, c, ...) end
    assert.equal("jacobian: k: expected the number of an argument, 1 to 2, got 3", by(3, 1, ns.vector { 1, 2 }))
    assert.equal("jacobian: k: expected the number of an argument, 1 to 2, got 0", by(0, 1, ns.vector { 1, 2 }))
    assert.equal("jacobian: k: expected an integer, got no value", by())
    assert.equal("jacobian: argument 1: expected a number, a vector or a matrix, got an empty table", by(1, {}, 1))
  end)

  it("gives way to dual numbers, which go through the plain function", function()
    local c = ns.compile(function(x) return { sin(x[1]) * x[2], x[2] } end)
    local J = ns.jacobian(c, { 0.5, 2 })
    assert.same({ cos(0.5) * 2, sin(0.5) }, J[1]:totable())
    local g = ns.gradient(ns.compile(function(x) return x[1] * x[2] end), { 3, 4 })
    assert.same({ 4, 3 }, g:totable())
    local dual
    ns.jacobian(function(x)
      dual = x
      return { x[1] }
    end, { 1, 2 })
    assert.equal("jacobian: a dual or traced number can't be an argument", message(c.jacobian, c, 1, dual))
  end)
end)

describe("compiled callbacks", function()
  local function simulation(way, method)
    local ds = ns.FirstOrderNonLinearDS({ 1, -2 }, way(function(t, x, z, f)
      f[1], f[2] = -x[1] * x[2] + z[1], sin(t) + x[1]
    end))
    ds:setzPtr { 0.5 }
    local R = ns.class(ns.FirstOrderNonLinearR, "drive")
    local h = function(x, k, y) y[1] = x[1] - k * x[2] end
    local g = function(x, lambda, r) r[1], r[2] = -lambda[1], lambda[1] * (1 + 0.1 * x[1] ^ 2) end
    local relation
    if method then
      R.computeh = way(function(self, _, x, _, _, y) h(x, self.k, y) end)
      R.computeg = way(function(_, _, x, lambda, _, r) g(x, lambda, r) end)
      relation = R()
      relation.k = 1.5
    else
      relation = ns.FirstOrderNonLinearR {
        h = way(function(_, x, _, _, y) h(x, 1.5, y) end),
        g = way(function(_, x, lambda, _, r) g(x, lambda, r) end),
      }
    end
    return models.simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), relation, ds } }, h = 0.01, theta = 0.5 }
  end

  it("of relations and first order systems give the run of plain ones", function()
    by_all_ways(function(way) return (simulation(way):run()) end)
    by_all_ways(function(way) return (simulation(way, true):run()) end)
  end)

  it("run no Lua in a step", function()
    for _, method in ipairs { false, true } do
      local simu = simulation(traces.native, method)
      for _ = 1, 3 do -- the traces are made
        simu:computeOneStep()
        simu:nextStep()
      end
      for _ = 1, 10 do
        assert.equal(0, (traces.instructions(simu.computeOneStep, simu)))
        simu:nextStep()
      end
    end
  end)

  it("of coefficients of time, setters and options do too", function()
    by_all_ways(function(way)
      local ds = ns.FirstOrderLinearDS { x0 = { 1, 0 }, A = way(function(t, _, A) A[1][2], A[2][1] = 1 + 0.1 * t, -4 end),
        b = way(function(t, _, b) b[2] = sin(t) end) }
      local relation = ns.FirstOrderLinearR { C = way(function(t, _, C) C[1][1] = 1 + t end), B = { { 0 }, { 1 } } }
      return (models.simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), relation, ds } }, h = 0.05 }:run())
    end)
    by_all_ways(function(way)
      local ds = ns.FirstOrderNonLinearDS { 1, 0 }
      ds:setComputeFFunction(way(function(_, x, _, f) f[1], f[2] = x[2], -sin(x[1]) end))
      return (models.simulation { systems = { ds }, h = 0.05 }:run())
    end)
  end)

  it("with Jacobians of their own, compiled or not", function()
    by_all_ways(function(way)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 0 }, f = way(function(_, x, _, f) f[1], f[2] = x[2], -sin(x[1]) end),
        jacobianfx = way(function(_, x, _, J) J[1][2], J[2][1] = 1, -cos(x[1]) end) }
      return (models.simulation { systems = { ds }, h = 0.05 }:run())
    end)
  end)

  it("of types 1 and 2", function()
    by_all_ways(function(way)
      local ds = ns.FirstOrderLinearTIDS({ 1, -1 }, { { 0, 1 }, { -1, 0 } })
      local one = ns.FirstOrderType1R { h = way(function(_, x, _, y) y[1] = x[1] + x[2] ^ 3 end),
        g = way(function(_, lambda, _, r) r[2] = -lambda[1] end) }
      return (models.simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), one, ds } }, h = 0.02 }:run())
    end)
    by_all_ways(function(way)
      local ds = ns.FirstOrderLinearTIDS({ 1, -1 }, { { 0, 1 }, { -1, 0 } })
      local two = ns.FirstOrderType2R { h = way(function(_, x, lambda, y) y[1] = x[1] + 0.1 * lambda[1] end),
        g = way(function(_, lambda, r) r[2] = -lambda[1] end) }
      return (models.simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), two, ds } }, h = 0.02 }:run())
    end)
  end)

  it("of mechanics: mass, forces, gap, by its second derivatives too #once", function()
    local function pendulum(way, osi)
      local ds = ns.LagrangianDS { q0 = { 0.8, 1.2 }, v0 = { 0, 0 },
        mass = way(function(q, _, M)
          local c = cos(q[1] - q[2])
          M[1][1], M[1][2], M[2][1], M[2][2] = 2, c, c, 1
        end),
        fGyr = way(function(q, v, _, F)
          local s = sin(q[1] - q[2])
          F[1], F[2] = s * v[2] ^ 2, -s * v[1] ^ 2
        end),
        fInt = way(function(_, q, _, _, F) F[1], F[2] = 2 * 9.81 * sin(q[1]), 9.81 * sin(q[2]) end),
        fExt = way(function(t, _, F) F[1] = 0.1 * sin(t) end) }
      local wall = ns.LagrangianScleronomousR { h = way(function(q, _, y) y[1] = sin(q[1]) + sin(q[2]) + 0.5 end) }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.7), wall), ds)
      local td = ns.TimeDiscretisation(0, 2e-3)
      if osi then return ns.EventDriven(nsds, td, ns.RungeKuttaOSI(1e-9, 1e-9)) end
      return ns.TimeStepping(nsds, td, ns.MoreauJeanOSI(0.5), ns.LCP())
    end
    by_all_ways(function(way) return (pendulum(way):run()) end, 1e-8)
    by_all_ways(function(way) return (pendulum(way, true):run()) end, 1e-6)
  end)

  it("of rigid bodies: forces, moments, the gap of a contact #once", function()
    by_all_ways(function(way)
      local ds = ns.NewtonEulerDS { q0 = { 0, 0, 1, 1, 0, 0, 0 }, v0 = { 0.1, 0, 0, 1, 0.2, 0.1 }, mass = 2,
        inertia = ns.diag { 1, 2, 3 },
        fExt = way(function(t, _, F) F[3] = -9.81 * 2 + sin(t) end),
        fInt = way(function(_, q, v, _, F) F[1], F[2] = 3 * q[1] + 0.1 * v[1] ^ 3, 3 * q[2] end),
        mExt = way(function(t, _, M) M[1] = 0.1 * cos(t) end),
        mInt = way(function(_, q, v, _, M) M[1], M[2], M[3] = 0.2 * v[4], q[4] * q[5], 0.1 * v[6] end) }
      local relation = ns.NewtonEulerR { h = way(function(_, q, _, y) y[1] = q[3] - 0.5 + 0.1 * q[6] end) }
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), relation), ds)
      return (ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5), ns.LCP()):run())
    end, 1e-9)
  end)

  it("keep the errors of plain ones: the value and its place", function()
    local function fails(f, x0)
      local ds = ns.FirstOrderNonLinearDS { x0 = x0 or { 1 }, f = traces.native(f), name = "plant" }
      local simu = models.simulation { systems = { ds } }
      local good, err = pcall(simu.computeOneStep, simu)
      assert.is_false(good)
      return err, simu, ds
    end
    local err = fails(function(_, x, _, f) f[1] = math.sqrt(-x[1]) end)
    assert.matches("compile_spec.lua:%d+: dynamical system 'plant' computef: t=0.* f%[1%] is %-?nan", err)
    err = fails(function(_, x, _, f) f[1] = tostring(x[1]) and 1 end)
    assert.matches("compile_spec.lua:%d+: .*dynamical system 'plant' computef: .*compile: the text of a traced value: "
      .. "what a compiled callback does must not depend on the values", err)
    err = fails(function(_, x) return { x[1], 2 } end)
    assert.matches("dynamical system 'plant' computef: .*f: expected 1 values, got 2", err)
    err = fails(function(_, x, _, f) f[1] = math.sqrt(x[1] - 1) end)
    assert.matches("dynamical system 'plant' computef: .*f%[1%]: the derivative by x%[1%] is inf", err)
  end)

  it("are cloned and set back with their simulation", function()
    local simu = simulation(traces.native)
    local first = simu:run()
    simu:reset()
    local twin = simu:clone()
    same_runs(first, (simu:run()), 0)
    same_runs(first, (twin:run()), 0)
  end)

  it("are checked as plain ones are", function()
    local good = simulation(traces.native)
    assert.is_truthy(good:check())
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 2 }, f = traces.native(function(_, x, _, f) f[1], f[2] = x[2], x[1] ^ 2 end),
      jacobianfx = traces.native(function(_, _, _, J) J[1][2] = 7 end), name = "plant" }
    local simu = models.simulation { systems = { ds } }
    local text = message(function() assert(simu:check()) end)
    assert.matches("dynamical system 'plant' Jacobianfx%[1%]%[2%]: given 7, exact 1 %(t=0%)", text)
  end)

  it("may be taken away and changed", function()
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = traces.native(function(_, _, _, f) f[1] = 1 end) }
    local simu = models.simulation { systems = { ds } }
    simu:computeOneStep() simu:nextStep()
    ds:setComputeFFunction(traces.native(function(_, _, _, f) f[1] = 2 end))
    simu:computeOneStep() simu:nextStep()
    ds:setComputeFFunction(function(_, _, _, f) f[1] = 3 end)
    simu:computeOneStep() simu:nextStep()
    assert.near(1.6, ds:x()[1], 1e-14)
  end)
end)

describe("compiled functions of equations", function()
  it("solve_ivp: f, events, arguments", function()
    local function f(_, y, k) return { y[2], -k * sin(y[1]) } end
    local function fills(_, y, k, d) d[1], d[2] = y[2], -k * sin(y[1]) end
    local function event(_, y) return y[1] end
    for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
      local options = { method = method, rtol = 1e-8, atol = 1e-8, args = { 2.5 }, events = event }
      local plain = ns.solve_ivp(f, { 0, 8 }, { 1, 0 }, options)
      assert.is_true(#plain.t_events[1] > 2)
      options.events = traces.native(event)
      for _, form in ipairs { f, fills } do
        for _, way in ipairs { traces.tape, traces.native } do
          local sol = ns.solve_ivp(way(form), { 0, 8 }, { 1, 0 }, options)
          assert.equal(#plain.t, #sol.t)
          assert.equal(plain.nfev, sol.nfev)
          for i = 1, #sol.t do assert.near(plain.y[1][i], sol.y[1][i], 1e-12) end
          for i = 1, #sol.t_events[1] do assert.near(plain.t_events[1][i], sol.t_events[1][i], 1e-12) end
        end
      end
    end
  end)

  it("solve_ivp: no Lua runs", function()
    local f, e = traces.native(function(_, y) return { y[2], -sin(y[1]) } end), traces.native(function(_, y) return y[2] end)
    ns.solve_ivp(f, { 0, 1 }, { 1, 0 }, { events = e }) -- the traces are made
    for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
      local once = traces.instructions(ns.solve_ivp, f, { 0, 0.01 }, { 1, 0 }, { events = e, method = method }) -- options are read
      local n, sol = traces.instructions(ns.solve_ivp, f, { 0, 10 }, { 1, 0 }, { events = e, method = method })
      assert.equal(once, n)
      assert.is_true(sol.nfev > 50)
    end
  end)

  it("solve_ivp: a plain f with a compiled event, and the other way round", function()
    local function f(_, y) return { -y[1] } end
    local function event(_, y) return y[1] - 0.5 end
    for _, pair in ipairs { { f, traces.native(event) }, { traces.native(f), event } } do
      local sol = ns.solve_ivp(pair[1], { 0, 1 }, { 1 }, { events = pair[2], rtol = 1e-10, atol = 1e-12 })
      assert.near(math.log(2), sol.t_events[1][1], 1e-9)
    end
  end)

  it("solve_ivp: errors", function()
    local function fails(text, f, o)
      local good, err = pcall(ns.solve_ivp, f, { 0, 1 }, { 1, 2 }, o)
      assert.is_false(good)
      assert.matches(text, err)
    end
    fails("f%(t, y%): expected 2 values, got 1$", traces.native(function(_, y) return { y[1] } end))
    fails("f%(t, y%) returned nothing: return the derivatives, or fill the last argument$", traces.native(function() end))
    fails("compile: the text of a traced value", traces.native(function(_, y) return { tostring(y[1]) and 1, 0 } end))
    fails("event 1: expected a number, got 2 values$", function(_, y) return { y[1], 0 } end,
      { events = traces.native(function(_, y) return { y[1], y[2] } end) })
    fails("the derivative by y%[1%] is", traces.native(function(_, y) return { math.sqrt(y[1] - 1), 0 } end), { method = "Radau" })
    local sol = ns.solve_ivp(traces.native(function(t) return { math.sqrt(0.5 - t), 0 } end), { 0, 1 }, { 1, 2 })
    local plain = ns.solve_ivp(function(t) return { math.sqrt(0.5 - t), 0 } end, { 0, 1 }, { 1, 2 })
    assert.equal(plain.success, sol.success)
    assert.equal(plain.status, sol.status)
    assert.equal(plain.message, sol.message)
  end)

  it("fsolve and root", function()
    local function f(x, a) return { x[1] ^ 2 - a, x[1] * x[2] - 1 } end
    local function fills(x, a, y) y[1], y[2] = x[1] ^ 2 - a, x[1] * x[2] - 1 end
    local want = ns.fsolve(f, { 1, 1 }, { args = { 2 } })
    for _, form in ipairs { f, fills } do
      local got = ns.fsolve(traces.native(form), { 1, 1 }, { args = { 2 } })
      assert.same(want:totable(), got:totable())
      assert.same(want:totable(), ns.root(traces.native(form), { 1, 1 }, { args = { 2 } }).x:totable())
    end
    local good, err = pcall(ns.fsolve, traces.native(function(x) return { x[1] } end), { 1, 1 })
    assert.is_false(good)
    assert.matches("fsolve: f%(x%): expected 2 values, got 1$", err)
  end)

  it("dae", function()
    local function residual(_, y, yd, r) r[1], r[2] = yd[1] - y[2], y[2] + sin(y[1]) end
    local plain = ns.dae("radau", residual, { rtol = 1e-8 }):solve({ 0, 1 }, { 1, -sin(1) }, { -sin(1), 0 })
    for _, way in ipairs { traces.tape, traces.native } do
      local dae = ns.dae("radau", way(residual), { rtol = 1e-8 })
      local sol = dae:solve({ 0, 1 }, { 1, -sin(1) }, { -sin(1), 0 })
      for k = 1, 2 do assert.near(plain.values.y[2][k], sol.values.y[2][k], 1e-12) end
    end
    local dae = ns.dae("radau", traces.native(function() return { 1 } end))
    local good, err = pcall(dae.solve, dae, { 0, 1 }, { 1, 0 }, { 0, 0 })
    assert.is_false(good)
    assert.matches("dae: residual: expected 2 values, got 1", err)
  end)
end)
