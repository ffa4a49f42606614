-- Fits: a bouncing, then sliding body against SciPy's fit of its exact motion; functions; names, noise, errors told.
local expect = require "expect"
local ns = require "nslua"
local message, near = expect.message, expect.near

-- A ball thrown along the floor, which bounces with friction, then slides and stops.
local function thrown()
  local ball = ns.LagrangianLinearTIDS({ 0, 1 }, { 8, 0 }, { { 1, 0 }, { 0, 1 } })
  ball:setFExtPtr { 0, -9.81 }
  local law = ns.NewtonImpactFrictionNSL(0.6, 0, 0.3, 2)
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(ball)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "floor"), ball)
  local t = ns.linspace(0, 3, 61)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(t), ns.RungeKuttaOSI(1e-10, 1e-12)), law, t, ball
end

-- The motion with e = 0.6, mu = 0.3, and a "noise" that is the same everywhere.
local function measure(simu, t)
  local s, x, y = simu:run { dense = true }:at(t).x, ns.zeros(#t), ns.zeros(#t)
  for i = 1, #t do
    x[i] = s[i][1] + 0.005 * math.sin(12.9898 * i * i)
    y[i] = s[i][2] + 0.005 * math.sin(78.233 * i * i)
  end
  return x, y
end

describe("ns.fit", function()
  it("finds restitution and friction of a body that bounces, then slides", function()
    local simu, law, t = thrown()
    local x, y = measure(simu, t)
    law:setEn(0.5)
    law:setMu(0.2)
    local fit = ns.fit { simulation = simu, data = { t = t, q1 = x, q2 = y }, noise = 0.005,
      parameters = { { law, "en" }, { law, "mu" } } }
    -- scipy.optimize.least_squares 1.10.1 on the motion in closed form, tolerances 1e-15
    near({ 0.5998749419659298, 0.30001726160770115 }, fit.x, 1e-8)
    assert.near(31.460441905062055, fit.cost, 1e-6)
    near({ 6.748923442164319e-04, 3.481272169666868e-05 }, fit.errors, 1e-8)
    assert.equal("en mu", table.concat(fit.names, " "))
    assert.equal(fit.x[2], fit.parameters.mu)
    assert.near(fit.cost * 2 / 120, fit.chi2, 1e-12)
    assert.near(1, fit.correlation[1][1], 1e-12)
    assert.near(fit.correlation[1][2], fit.correlation[2][1], 1e-12)
    assert.is_true(math.abs(fit.correlation[1][2]) < 0.1)
    assert.equal(fit.x[1], law:en()) -- the simulation has the fitted parameters
    assert.is_true(fit.success)
    assert.equal("exact", fit.derivatives) -- carried along by the run
    near(x, fit.fitted.q1 + fit.residuals.q1)
    assert.matches("fit of 2 parameters to 122 values .*\n  en = 0%.59987494 %+%- 0%.00067\n  mu = 0%.3000173 %+%- 3%.5e%-05",
      (tostring(fit):gsub("0.30001726", "0.3000173")))
    local figure = fit:plot { title = "A fit" }
    assert.equal("figure with 4 panels", tostring(figure))
    ns.plot.close(figure)
  end)

  it("fits elements of vectors, and what a function sets", function()
    local simu, law, t, ball = thrown()
    local x, y = measure(simu, t)
    local fit = ns.fit { simulation = simu, data = { t = t, q1 = x, q2 = y }, noise = { q1 = 0.005, q2 = 0.005 },
      start = { 7, 0.25, 0.58 }, sensitivities = false,
      parameters = { { ball, "v0", 1 }, { name = "friction", set = function(mu) law:setMu(mu) end }, { law, "e" } } }
    assert.near(8, fit.x[1], 5e-3)
    near({ 0.3, 0.6 }, fit.x(2, 3), 2e-3)
    assert.equal("v0[1] friction e", table.concat(fit.names, " "))
    assert.equal("differences", fit.derivatives)
  end)

  it("fits a function, with exact derivatives and errors from the residuals", function()
    local t, y = { 0, 1, 2, 3 }, { 2.0, 1.2, 0.8, 0.4 }
    local function model(p)
      local out = {}
      for i = 1, #t do out[i] = p[1] * math.exp(-p[2] * t[i]) end
      return out
    end
    local fit = ns.fit { model = model, data = { t = t, y = y }, start = { 1, 1 }, parameters = { "a", "k" } }
    -- scipy.optimize.curve_fit 1.10.1
    near({ 2.00051792, 0.49709869 }, fit.x, 1e-7)
    near({ 0.05396235, 0.02872378 }, fit.errors, 1e-7)
    assert.near(fit.x[2], fit.parameters.k, 0)
    local known = ns.fit { model = model, data = { t = t, y = y }, start = { 1, 1 }, noise = { y = { 0.1, 0.1, 0.1, 0.1 } } }
    near(fit.x, known.x, 1e-7)
    near(fit.errors * (0.1 / math.sqrt(fit.chi2)), known.errors, 1e-7)
    assert.equal("p1 p2", table.concat(known.names, " "))
    local bounded = ns.fit { model = model, data = { t = t, y = y }, start = { 1, 0.2 }, bounds = { { 0, 9 }, { 0, 0.4 } } }
    assert.equal(0.4, bounded.x[2])
    local two = ns.fit { model = function(p)
      return { a = model(p), b = { p[1], p[1], p[2], p[2] } }
    end, data = { t = t, a = y, b = { 2, 2, 0.5, 0.5 } }, noise = 1, start = { 1, 1 } }
    near({ 2, 0.5 }, two.x, 0.01)
  end)

  it("starts from several points", function()
    local t, y = ns.linspace(0, 4, 30), ns.zeros(30)
    for i = 1, 30 do y[i] = math.sin(5 * t[i]) end
    local function model(p)
      local out = {}
      for i = 1, 30 do out[i] = math.sin(p[1] * t[i]) end
      return out
    end
    local data, bounds = { t = t, y = y }, { { 0.1, 10 } }
    assert.is_true(math.abs(ns.fit { model = model, data = data, start = 1, bounds = bounds }.x[1] - 5) > 0.5)
    near({ 5 }, ns.fit { model = model, data = data, start = 1, bounds = bounds, starts = 20, seed = 3 }.x, 1e-9)
    near({ 5 }, ns.fit { model = model, data = data, start = 1, starts = { 4.5 } }.x, 1e-9)
  end)

  it("says what is wrong", function()
    local simu, law, t = thrown()
    local x = measure(simu, t)
    local function says(text, options) assert.matches(text, message(ns.fit, options), 1, true) end
    local data, of = { t = t, q1 = x }, { { law, "mu" } }
    says("fit: expected a table of options, got 1", 1)
    says("fit: expected a simulation or a model, one of both", { data = data })
    says("fit: data: expected a table { t =, NAME = }, got nil", { simulation = simu })
    says("fit: data.t: expected a vector, got nil", { simulation = simu, data = { q1 = x } })
    says("fit: data: there is no column beside t", { simulation = simu, data = { t = t } })
    says("fit: data.q1: expected a vector of 61, got one of 2", { simulation = simu, data = { t = t, q1 = { 1, 2 } } })
    says("fit: data: expected names of columns, got 1", { simulation = simu, data = { x, t = t } })
    says("fit: noise: the standard deviation of 'q1' is missing: several columns need one each",
      { simulation = simu, data = { t = t, q1 = x, q2 = x } })
    says("fit: noise of 'q1'[1]: expected a number above 0, got 0", { simulation = simu, data = data, noise = 0 })
    says("fit: parameters: expected a list of { object, field }, got nil", { simulation = simu, data = data })
    says("fit: parameters[1]: expected { object, field }, got 'mu'", { simulation = simu, data = data, parameters = { "mu" } })
    says("fit: parameters[1]: expected { object, field }, got { 1, nil }", { simulation = simu, data = data,
      parameters = { { 1 } } })
    says("fit: parameters[1]: the object has no number 'nu' that can be set", { simulation = simu, data = data,
      parameters = { { law, "nu" } } })
    says("fit: parameters[1]: there is no start", { simulation = simu, data = data, parameters = { { set = print } } })
    says("fit: data: the solution has no state 'z' (known: q1, q2, v1, v2)", { simulation = simu, data = { t = t, z = x },
      parameters = of })
    says("fit: start: expected a vector of 1, got one of 2", { simulation = simu, data = data, parameters = of,
      start = { 1, 2 } })
    law:setMu(0)
    says("fit: 'mu' starts at 0: the size of a step for its difference is not known; give bounds", { simulation = simu,
      data = data, parameters = of, sensitivities = false })
    local function line(p) return { p[1] } end
    says("fit: model: expected 2 values of 'y', got 1", { model = line, data = { t = { 1, 2 }, y = { 1, 2 } }, start = 1 })
    says("fit: start: expected a vector, got nil", { model = line, data = { t = { 1 }, y = { 1 } } })
    says("fit: starts: random starts need finite bounds of every parameter", { model = line, starts = 3,
      data = { t = { 1 }, y = { 1 } }, start = 1 })
    says("fit: parameters[1]: expected a name, got 1", { model = line, parameters = { 1 }, data = { t = { 1 }, y = { 1 } },
      start = 1 })
  end)
end)
