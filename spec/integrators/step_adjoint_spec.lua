local expect = require "expect"
local ns = require "nslua"

local function stepping(nsds, osi, h) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h or 0.02), osi) end

-- x' = A x + b + r with a relay between its bounds; the parameters are all numbers.
local function linear(gamma, in_relation)
  return function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 0.5, -0.3 }, { { -1, 0.2, 0 }, { 0.3, -0.5, 0.1 }, { 0, 0.4, -2 } }, { 0.1, 0, 0.2 })
    ds:setMPtr { { 2, 0.1, 0 }, { 0, 1, 0 }, { 0.2, 0, 1.5 } }
    local relation = ns.FirstOrderLinearTIR({ { 1, 0.2, 0 } }, { { 0.3 }, { 1 }, { 0 } })
    relation:setDPtr { { 0.7 } }
    relation:setePtr { 0.1 }
    local law = ns.RelayNSL(1, -20, 20)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "relay"), ds)
    local osi = ns.EulerMoreauOSI(0.6, gamma)
    if in_relation then osi:setUseGammaForRelation(true) end
    return stepping(nsds, osi), { "x0", { ds, "A" }, { ds, "b" }, { ds, "M" }, { relation, "C" }, { relation, "D" },
      { relation, "e" }, { relation, "B" }, { law, "ub" } }
  end
end

-- The same with a multiplier that stays at its bound.
local function saturated()
  local simu, parameters = linear(0.7)()
  parameters[#parameters][1]:setUb(0.01)
  return simu, parameters
end

-- Two tanks whose equations are functions of t, x, lambda and z.
local function tanks(compile)
  return function()
    local ds = ns.FirstOrderNonLinearDS({ 1, 2 }, compile(function(t, x, z, f)
      f[1], f[2] = -z[1] * x[1] ^ 2 + x[2], math.sin(t) * z[2] - x[2]
    end))
    ds:setzPtr(ns.vector { 0.5, 0.3 })
    local relation = ns.FirstOrderNonLinearR {
      h = compile(function(_, x, l, z, y) y[1] = x[1] * x[1] + x[2] + l[1] + z[1] end),
      g = compile(function(_, x, l, z, r) r[1], r[2] = l[1] * x[2] * z[1], 0.1 * l[1] ^ 2 end),
    }
    relation:setzPtr(ns.vector { 0.4 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -50, 50), relation, "valve"), ds)
    return stepping(nsds, ns.EulerMoreauOSI(0.7, 0.8)), { "x0", "z" }, ds
  end
end

-- A chain of masses, with a bar between the first two.
local function chain(osi)
  return function()
    local K = { { 2, -1, 0 }, { -1, 2, -1 }, { 0, -1, 2 } }
    local ds = ns.LagrangianLinearTIDS({ 1, 1, 0.3 }, { 0.1, 0.1, 0 }, ns.eye(3), K, 0.1 * ns.eye(3))
    ds:setFExtPtr(ns.vector { 0.1, 0, 0.2 })
    local bar = ns.LagrangianLinearTIR { { 1, -1, 0 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), bar, "bar"), ds)
    return stepping(nsds, osi), { "x0", { ds, "mass" }, { ds, "K" }, { ds, "C" }, { ds, "fExt" }, { bar, "C" } }
  end
end

-- Masses on springs of their own.
local function mass_points(osi)
  return function()
    local ds = ns.LagrangianLinearTIDS({ 1, -0.4 }, { 0.3, 0.2 }, { { 2, 0 }, { 0, 1 } }, { { 30, 0 }, { 0, 20 } },
      { { 0.2, 0 }, { 0, 0.4 } })
    ds:setFExtPtr(ns.vector { 0.1, 0.2 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    return stepping(nsds, osi), { "x0", { ds, "mass", 1, 1 }, { ds, "K", 1, 1 }, { ds, "K", 2, 2 }, { ds, "fExt" } }
  end
end

local function cost(t, x) return x[1] ^ 2 + t * math.sin(x[#x]) end

local function terminal(x, p) return x[1] * x[2] + 0.1 * p[1] ^ 2 end

local function gradient(build, more)
  local simu, parameters = build()
  local options = { cost = cost, terminal = terminal, parameters = parameters }
  for key, value in pairs(more or {}) do options[key] = value end
  local value, slopes, sol, record = simu:gradient(options)
  return { value = value, slopes = slopes, sol = sol, record = record, simu = simu }
end

local function agree(a, b, part)
  local size = 0
  for j = 1, #b do size = math.max(size, math.abs(b[j])) end
  assert.equal(#b, #a)
  for j = 1, #b do assert.near(b[j], a[j], part * size) end
end

local models = {
  ["a linear model"] = linear(1), ["weighted inputs"] = linear(0.7), ["weighted outputs"] = linear(0.7, true),
  ["a multiplier at its bound"] = saturated, ["functions"] = tanks(function(f) return f end),
  ["compiled functions"] = tanks(ns.compile),
  ["masses, MoreauJeanOSI"] = chain(ns.MoreauJeanOSI(0.6)), ["masses, MoreauJeanGOSI"] = chain(ns.MoreauJeanGOSI(0.6)),
  ["points, MoreauJeanOSI"] = mass_points(ns.MoreauJeanOSI(0.5)),
}

describe("the adjoint of time steps", function()
  for name, build in pairs(models) do
    it("agrees with forward derivatives: " .. name, function()
      local back, forward = gradient(build), gradient(build, { method = "forward" })
      assert.is_nil(back.sol.S)
      assert.is_truthy(forward.sol.S)
      assert.near(forward.value, back.value, 1e-14 * math.abs(forward.value))
      agree(back.slopes, forward.slopes, 1e-10)
      local plain = build():run()
      for i = 1, #plain.x[1] do assert.equal(plain.x[#plain][i], back.sol.x[#back.sol][i]) end
    end)
  end

  it("agrees with central differences", function()
    local function value(z1)
      local simu, _, ds = tanks(ns.compile)()
      ds:z()[1] = z1
      return (simu:gradient { cost = cost, parameters = { "z" } })
    end
    local function difference(f, at)
      local h = 1e-3
      return (8 * (f(at + h) - f(at - h)) - (f(at + 2 * h) - f(at - 2 * h))) / (12 * h)
    end
    local simu = tanks(ns.compile)()
    local _, slopes, sol = simu:gradient { cost = cost, parameters = { "x0", "z" } }
    assert.equal("x0[1]", sol.sensitivities[1])
    assert.near(difference(value, 0.5), slopes[3], 1e-9)
  end)

  it("makes the record again within a bound of memory, and changes no bit", function()
    for _, build in ipairs { tanks(ns.compile), linear(0.7) } do
      local whole = gradient(build)
      assert.equal(0, whole.record.again)
      for _, memory in ipairs { 2 ^ 12, 1 } do
        local again = gradient(build, { memory = memory })
        assert.is_true(again.record.again > 0)
        assert.is_true(memory == 1 or again.record.memory < memory + 2000)
        for j = 1, #whole.slopes do assert.equal(whole.slopes[j], again.slopes[j]) end
        for i = 1, #whole.sol.x[1] do assert.equal(whole.sol.x[#whole.sol][i], again.sol.x[#again.sol][i]) end
        assert.is_false(again.simu:hasNextEvent())
      end
    end
  end)

  it("repeats steps some times, not as often as there are steps, when there is room for few states", function()
    for steps, most in pairs { [100] = 4, [400] = 5 } do
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, -0.1 } }))
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1 / steps), ns.EulerMoreauOSI(0.5))
      local _, _, _, told = simu:gradient { terminal = function(x) return x[1] end, parameters = { "x0" }, memory = 1 }
      assert.is_true(told.again > steps and told.again < most * steps, told.again .. " steps again")
    end
  end)

  it("calls a cost that can not be traced", function()
    local function branching(t, x) return x[1] > 0 and cost(t, x) or 0 end
    local back = gradient(tanks(ns.compile), { cost = branching })
    agree(back.slopes, gradient(tanks(ns.compile)).slopes, 1e-12)
  end)

  it("takes forward derivatives where steps have no closed form", function()
    local function pendulum()
      local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
      ds:setzPtr(ns.vector { 4 })
      ds:setComputeFIntFunction(function(_, q, _, z, f) f[1] = z[1] * math.sin(q[1]) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return stepping(nsds, ns.MoreauJeanOSI(0.5)), { "x0", "z" }
    end
    local back, forward = gradient(pendulum), gradient(pendulum, { method = "forward" })
    assert.is_truthy(back.sol.S)
    for j = 1, 3 do assert.equal(forward.slopes[j], back.slopes[j]) end
  end)

  it("takes forward derivatives where the first step is of another kind", function()
    for _, osi in ipairs { ns.SchatzmanPaoliOSI(0.5), ns.MoreauJeanBilbaoOSI() } do
      local back, forward = gradient(mass_points(osi)), gradient(mass_points(osi), { method = "forward" })
      assert.is_truthy(back.sol.S)
      for j = 1, #forward.slopes do assert.equal(forward.slopes[j], back.slopes[j]) end
    end
  end)

  it("tells the first step that switches, and stands before it", function()
    local ds = ns.FirstOrderLinearTIDS({ -1 }, { { 0 } }, { 2 }) -- x' = 2 - sign x
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "switch"), ds)
    local simu = stepping(nsds, ns.EulerMoreauOSI(1), 0.08)
    expect.fails("sensitivities: 'switch' switches in the step to t=0.4: derivatives of time-stepping runs are wrong there; "
      .. "use EventDriven with a RungeKuttaOSI", simu.gradient, simu,
      { terminal = function(x) return x[1] end, parameters = { "x0" } })
    assert.near(0.4, simu:nextTime(), 1e-15)
    assert.near(-0.04, ds:x()[1], 1e-15)
  end)

  it("tells what a function of the cost does to the simulation", function()
    local again = "gradient: the simulation was run again, or changed, by a function of the cost"
    local changed = "gradient: the model was changed after the run"
    local acts = {
      { function(simu) simu:close() end, again }, { function(simu) simu:reset() end, again },
      { function(simu) simu:nsds():close() end, again },
      { function(simu) simu:reset() simu:run() end, again },
      { function(_, ds) ds:setzPtr(ns.vector { 3, 4 }) collectgarbage() end, changed },
      { function(simu) simu:nsds():interaction(1):relation():setz { 0.5 } collectgarbage() end, changed },
    }
    for _, act in ipairs(acts) do
      for _, name in ipairs { "cost", "terminal" } do
        local simu, parameters, ds = tanks(ns.compile)()
        local armed = true
        expect.fails(act[2], simu.gradient, simu, { parameters = parameters, [name] = function(_, x)
          if armed then armed = false act[1](simu, ds) end
          return type(x) == "number" and x or x[1]
        end })
      end
    end
    local simu, parameters = tanks(ns.compile)()
    local open = true
    expect.fails(again, simu.gradient, simu, { method = "forward", parameters = parameters, terminal = function(x)
      if open then open = false simu:close() end
      return x[1]
    end })
  end)

  it("changes with the units by powers of two", function()
    local function slopes_of(unit)
      local ds = ns.FirstOrderNonLinearDS({ unit, 2 * unit }, function(_, x, z, f)
        f[1], f[2] = -z[1] * x[1] * x[1] + x[2], z[2] - x[2]
      end)
      ds:setzPtr(ns.vector { 0.5 / unit, 0.25 * unit })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return select(2, stepping(nsds, ns.EulerMoreauOSI(0.5)):gradient {
        terminal = function(x) return x[1] end, parameters = { "x0", "z" } })
    end
    local one, other = slopes_of(1), slopes_of(2 ^ 30)
    local by = { 1, 1, 2 ^ -60, 1 } -- the derivative by z[1] has the unit of x squared
    for j = 1, 4 do assert.equal(one[j], other[j] * by[j]) end
  end)
end)
