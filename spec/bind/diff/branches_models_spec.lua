-- Compiled functions that branch: cam, saw-tooth, buck converter, Stribeck friction; in solve_ivp and dae; derivatives of runs.
local ns = require "nslua"
local models = require "models"
local traces = require "bind.traces"
local trail = require "trail"
local message = require "bind.models".message

local floor, exp, abs, sin = math.floor, math.exp, math.abs, math.sin

-- A saw-tooth of period 1; its source is hidden from the warning of callbacks that round the time.
local saw = load("return function(t) return t % 1 end", "=saw")()

-- The first line of an error, without its place.
local function line_of(...) return message(...):match "^[^\n]*" end

local function plain(f) return f end

-- The lift of a cam that dwells, rises and falls, at angle a: harmonic in each sector.
local function lift(a)
  local turn = 2 * math.pi * saw(a / (2 * math.pi))
  if turn < 1 then return 0 end
  if turn < 2.5 then return 0.01 * (1 - math.cos((turn - 1) * math.pi / 1.5)) / 2 end
  if turn < 4 then return 0.01 end
  return 0.01 * (1 + math.cos((turn - 4) * math.pi / (2 * math.pi - 4))) / 2
end

-- A valve with its spring on that cam.
local function cam(way)
  local ds = ns.LagrangianDS { q0 = { 0 }, v0 = { 0 }, mass = { { 0.1 } },
    fInt = way(function(_, q, v, _, F) F[1] = 500 * (q[1] + 0.004) + (v[1] < 0 and 2 or 3) * v[1] end) }
  local relation = ns.LagrangianRheonomousR { h = way(function(t, q, _, y) y[1] = q[1] - lift(40 * t) end) }
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), relation), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5), ns.LCP())
end

-- A buck converter: a piecewise-linear transistor (cut off, linear, saturated) driven by a saw-tooth against a threshold.
local function buck(way)
  local ds = ns.FirstOrderNonLinearDS { x0 = { 0, 0 }, f = way(function(t, x, _, f)
    local gate = 12 - x[2] > 24 * saw(20 * t) and 1 or 0
    local u = 20 - x[1]
    local i = gate == 0 and 0 or u < 0 and 0 or u < 5 and 2 * u or 10 + 0.01 * (u - 5)
    f[1] = (i - x[1] - 0.5 * x[2]) / 0.1
    f[2] = (x[1] - x[2] / 10) / 0.05
  end) }
  local relation = ns.FirstOrderType1R { h = way(function(_, x, _, y) y[1] = x[1] end),
    g = way(function(_, lambda, _, r) r[1] = 10 * lambda[1] end) }
  return (models.simulation { systems = { ds }, links = { { ns.ComplementarityConditionNSL(1), relation, ds } }, T = 0.4,
    h = 2e-3, theta = 0.5 })
end

-- A block on a belt with Stribeck friction as a smooth force where it slips, and a branch at rest.
local function stribeck(way, T)
  local ds = ns.LagrangianDS { q0 = { 0 }, v0 = { 0.5 }, mass = { { 1 } },
    fInt = way(function(_, q, v, z, F)
      local slip = v[1] - 0.3
      local mu
      if abs(slip) < 1e-3 then mu = 0.4 * slip / 1e-3
      elseif slip > 0 then mu = 0.2 + 0.2 * exp(-slip / z[1])
      else mu = -0.2 - 0.2 * exp(slip / z[1]) end
      F[1] = 30 * q[1] + 9.81 * mu
    end) }
  ds:setzPtr { 0.1 }
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 1)
  nsds:insertDynamicalSystem(ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5), ns.LCP())
end

local function paths_of(list)
  local most = 0
  for _, c in ipairs(list) do
    for _, t in ipairs(c:traces()) do most = math.max(most, #t.paths) end
  end
  return most
end

describe("compiled functions that branch", function()
  for name, make in pairs { cam = cam, ["buck converter"] = buck, ["Stribeck friction"] = stribeck } do
    it("run a " .. name .. " to the bit, again, after a reset, in a clone and from a saved state", function()
      local want, compiled = trail.of(make(plain)), {}
      local simu = make(function(f)
        compiled[#compiled + 1] = traces.tape(f)
        return compiled[#compiled]
      end)
      assert.same(want, trail.of(simu))
      assert.is_true(paths_of(compiled) >= 2)
      simu:reset()
      local twin = simu:clone()
      for _ = 1, 20 do simu:computeOneStep() simu:nextStep() end
      local fresh, file = make(traces.tape), os.tmpname()
      simu:save_state(file)
      fresh:load_state(file)
      os.remove(file)
      assert.same(table.move(want, 21, #want, 1, {}), trail.of(fresh))
      assert.same(want, trail.of(twin))
    end)

    it("run a " .. name .. " natively #once", function()
      local a, b = make(plain):run(), make(traces.native):run()
      local x, y = models.numbers(a), models.numbers(b)
      assert.equal(#x, #y)
      for i = 1, #x do assert.is_true(abs(x[i] - y[i]) <= 1e-9 * (1 + abs(x[i]))) end
    end)
  end

  it("of a saw-tooth, and of events, go through solve_ivp", function()
    local function f(t, y, k) return { y[2], (t < 1 and k or -k) * (y[1] > 0.5 and 0.5 or y[1]) - (3 * t - floor(3 * t)) } end
    local function event(_, y) if y[2] > 0 then return y[1] - 0.25 end return y[2] - y[1] end
    for _, method in ipairs { "RK45", "Radau", "BDF" } do
      local o = { method = method, rtol = 1e-6, atol = 1e-8, args = { 2 } }
      o.events = event
      local want = ns.solve_ivp(f, { 0, 2 }, { 1, 0 }, o)
      o.events = traces.tape(event)
      local got = ns.solve_ivp(traces.tape(f), { 0, 2 }, { 1, 0 }, o)
      assert.same(want.t:totable(), got.t:totable())
      assert.same(want.y[1]:totable(), got.y[1]:totable())
      assert.same(want.t_events[1]:totable(), got.t_events[1]:totable())
    end
  end)

  it("raise what a path raises, in the middle of a run, with the time", function()
    local function f(t, y) if t > 0.5 then error "too late" end return { -y[1] } end
    local want, got = line_of(ns.solve_ivp, f, { 0, 1 }, { 1 }), line_of(ns.solve_ivp, traces.tape(f), { 0, 1 }, { 1 })
    assert.matches("too late", got)
    assert.equal(want, got)
    local function make(way)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, name = "plant", f = way(function(t, x, _, d)
        if t > 0.35 then error "too late" end
        d[1] = -x[1]
      end) }
      return (models.simulation { systems = { ds } })
    end
    local _, first = trail.of(make(plain))
    local _, second = trail.of(make(traces.tape))
    assert.matches("dynamical system 'plant' computef: t=0.4 step 4 newton 1: too late", second)
    assert.equal(first, second)
    local residual = function(t, y, yd, r) if t > 0.5 then error "too late" end r[1] = yd[1] + y[1] end
    for _, way in ipairs { plain, traces.tape } do
      assert.matches("too late", line_of(function() ns.dae("radau", way(residual)):solve({ 0, 1 }, { 1 }, { -1 }) end))
    end
  end)

  it("stand in dae, with the rows of the plain residual", function()
    local function residual(t, y, yd, r)
      r[1] = yd[1] - y[2]
      if y[1] > 0.8 then r[2] = y[2] + 1 else r[2] = y[2] + sin(y[1]) + (t > 0.5 and 0.1 or 0.2) end
    end
    local function tank(_, y, yd, r)
      if y[1] <= 0 then error "empty" end -- as it would be where all is 0
      r[1] = yd[1] + math.sqrt(y[1])
    end
    local one = ns.dae("radau", tank):solve({ 0, 1 }, { 1 }, { -1 })
    local two = ns.dae("radau", traces.tape(tank)):solve({ 0, 1 }, { 1 }, { -1 })
    assert.near(one.values.y[2][1], two.values.y[2][1], 1e-12)
    local want = ns.dae("radau", residual, { rtol = 1e-7 }):solve({ 0, 1 }, { 1, -1 }, { -1, 0 })
    local got = ns.dae("radau", traces.tape(residual), { rtol = 1e-7 }):solve({ 0, 1 }, { 1, -1 }, { -1, 0 })
    for k = 1, 2 do
      for i = 1, 2 do assert.near(want.values.y[i][k], got.values.y[i][k], 1e-9) end
    end
  end)

  it("have forward and adjoint derivatives of runs, those of plain ones", function()
    local function f(_, y, k) return { y[2], y[1] > 0.2 and -k * y[1] or k * y[1] ^ 2 - 0.1 * y[2] } end
    local function cost(_, y, k) return y[1] < 0.5 and y[1] ^ 2 or k * y[2] end
    local o = { rtol = 1e-9, atol = 1e-10, args = { 2 }, sensitivities = { "y0", "args" } }
    local want, got = ns.solve_ivp(f, { 0, 2 }, { 1, 0 }, o), ns.solve_ivp(traces.tape(f), { 0, 2 }, { 1, 0 }, o)
    for i = 1, 2 do
      for j = 1, 3 do assert.near(want.S[#want.t][i][j], got.S[#got.t][i][j], 1e-6) end
    end
    local g = { rtol = 1e-9, atol = 1e-10, args = { 2 }, parameters = { "y0", "args" } }
    g.cost = cost
    local value, slopes = ns.ivp_gradient(f, { 0, 2 }, { 1, 0 }, g)
    g.cost = traces.tape(cost)
    local other, same = ns.ivp_gradient(traces.tape(f), { 0, 2 }, { 1, 0 }, g)
    assert.near(value, other, 1e-8)
    assert.is_true((slopes - same):norm() < 1e-6)
    local function slope(way)
      local simu = stribeck(way, 0.3)
      local ds = simu:nsds():dynamicalSystem(1)
      local sol = simu:run { sensitivities = { { ds, "z" }, "x0" } }
      return sol.S[#sol.t]
    end
    local A, B = slope(plain), slope(traces.tape)
    for i = 1, A:rows() do assert.is_true((A[i] - B[i]):norm() <= 1e-9 * (1 + A[i]:norm())) end
  end)

  it("follow variables that change between steps, and between runs", function()
    local k = 1
    local function make(way)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = way(function(_, x, _, d)
        d[1] = x[1] > 0.8 and -k * x[1] or -2 * k
      end) }
      return (models.simulation { systems = { ds } })
    end
    local a, b = make(plain), make(traces.tape)
    for step = 1, 10 do
      k = step > 4 and 3 or 1
      a:computeOneStep() b:computeOneStep()
      a:nextStep() b:nextStep()
      assert.equal(trail.state(a), trail.state(b))
    end
  end)

  it("follow variables that a function in Lua changes within a run, and give as many values", function()
    local function solve(wrap, last)
      local n, k = 1, 1
      local f = wrap(function(t, y)
        if t <= 0.5 then return { -k * y[1] } end
        local d = {}
        for i = 1, n do d[i] = k end
        return d
      end)
      local function change(t)
        if t > 0.3 then n, k = last, 3 end
        return 1
      end
      return ns.solve_ivp(f, { 0, 1 }, { 1 }, { events = change, max_step = 0.1 })
    end
    local a, b = solve(plain, 1), solve(traces.tape, 1)
    assert.equal(a.t, b.t)
    assert.equal(a.y, b.y)
    assert.matches("compile: the callback gives 2 values here and 1 on another path", message(solve, traces.tape, 2))
  end)

  it("go into the workers of a sweep #once", function()
    local function run(p)
      local simu = buck(traces.tape)
      simu:nsds():dynamicalSystem(1):setX0 { p.x, 0 }
      for _ = 1, 100 do simu:computeOneStep() simu:nextStep() end
      return { r = simu:nsds():dynamicalSystem(1):x()[1] }
    end
    local grid = { x = { 0, 3, 6 } }
    local here = ns.sweep { parameters = grid, run = run, on = "here", progress = false }:table()
    local workers = ns.sweep { parameters = grid, run = run, workers = 2, progress = false }:table()
    assert.equal(3, #here.r)
    for i = 1, 3 do assert.equal(here.r[i], workers.r[i]) end
  end)
end)
