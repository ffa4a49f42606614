-- Event-driven runs of first-order models that do not get on end with an error, after a bounded number of steps.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

-- x' = f(t, x) + (0, lambda / 2) from x0, and a relay with the output h(t, x).
local function model(o)
  local ds = ns.FirstOrderNonLinearDS(o.x0, o.f)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  local relation = ns.FirstOrderNonLinearR { h = o.h, g = function(_, _, lambda, _, r) r[1], r[2] = 0, 0.5 * lambda[1] end }
  nsds:link(ns.Interaction(ns.RelayNSL(1), relation, "relay"), ds)
  local osi = ns[o.osi]()
  if o.longest then osi:setMaxStep(o.longest) end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), osi)
end

local function sign(x)
  return x > 0 and 1 or -1
end

local function hidden(_, x, _, f)
  f[1], f[2] = -2 * sign(x[1]), -x[2]
end

local function still(_, _, _, f)
  f[1], f[2] = 1, 0
end

describe("An event-driven run without progress #once", function()
  it("ends where a callback switches by itself, and the motion should slide", function()
    local far = function(_, x, _, _, y) y[1] = x[1] + x[2] end
    local simu = model { x0 = { 0.3, 1 }, f = hidden, h = far, osi = "RungeKuttaOSI" }
    local text = message(simu.run, simu)
    assert.truthy(text:find("EventDriven: the last 10000 steps of the integrator passed a time of ", 1, true), text)
    assert.truthy(text:find(" only (t=0.15", 1, true), text)
    assert.truthy(text:find("a callback that jumps needs a relation and a law for its switch", 1, true), text)
    simu = model { x0 = { 0.3, 1 }, f = hidden, h = far, osi = "RadauOSI" }
    text = message(simu.run, simu)
    assert.truthy(text:find("EventDriven: the step length falls under ", 1, true), text)
    assert.truthy(text:find("too small to go on (t=0.15", 1, true), text)
    assert.truthy(text:find("; a callback that jumps needs a relation and a law for its switch, and a gain with a vertical tangent "
      .. "at its switch, as sqrt|y| of super-twisting, is for TimeStepping with EulerMoreauOSI", 1, true), text)
  end)

  it("tells what runs super-twisting, whose gain has a vertical tangent at its switch", function()
    local advice = "; a callback that jumps needs a relation and a law for its switch, and a gain with a vertical tangent at its "
      .. "switch, as sqrt|y| of super-twisting, is for TimeStepping with EulerMoreauOSI"
    for start, osi in pairs { ["EventDriven: Newton's method fails in the step that ends at t="] = "RadauOSI",
      ["FESDOSI: Newton did not converge in a finite element at t="] = "FESDOSI" } do
      local ds = ns.FirstOrderNonLinearDS({ 1, 0 }, function(_, x, _, f) f[1] = x[2] end)
      local relation = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[1] end,
        g = function(_, x, lambda, _, r) r[1], r[2] = 2 * math.sqrt(math.abs(x[1])) * lambda[1], 1.5 * lambda[1] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 10)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1), relation, "twist"), ds)
      local grid = ns.TimeDiscretisation(0, 0.1)
      local simu = osi == "FESDOSI" and ns.TimeStepping(nsds, grid, ns.FESDOSI()) or ns.EventDriven(nsds, grid, ns[osi]())
      local text = message(simu.run, simu)
      assert.truthy(text:find(start, 1, true) and text:find(advice, 1, true), text)
    end
  end)

  it("ends where the given Jacobian of a relay has the wrong sign", function()
    for _, osi in ipairs { "RungeKuttaOSI", "RadauOSI" } do
      local ds = ns.FirstOrderLinearTIDS({ -1 }, { { 0 } }, { 2 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local relation = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[1] end,
        Jachx = function(_, _, _, _, C) C[1][1] = -1 end, g = function(_, _, lambda, _, r) r[1] = lambda[1] end }
      nsds:link(ns.Interaction(ns.RelayNSL(1), relation, "relay"), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns[osi]())
      local text = message(simu.run, simu)
      local expected = "^EventDriven: interaction 'relay' switches again and again at t=0.3333%d* without progress of time"
      assert.truthy(text:find(expected), text)
    end
  end)

  it("ends early where events come faster and faster, without an end in finite time: x'' = -sign x - x' / 2", function()
    local function chatter(T)
      local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { 0, -0.5 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, T)
      nsds:insertDynamicalSystem(ds)
      local relation = ns.FirstOrderLinearTIR { C = { { 1, 0 } }, B = { { 0 }, { 1 } } }
      nsds:link(ns.Interaction(ns.RelayNSL(1), relation, "relay"), ds)
      local osi = ns.RungeKuttaOSI()
      osi:setMaxEvents(100000)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T), osi)
    end
    local simu = chatter(100)
    local text = message(simu.run, simu)
    assert.truthy(text:find("^EventDriven: interaction 'relay' switches faster and faster: %d+ events"), text)
    assert.truthy(text:find(" events in this step of the grid until t=", 1, true), text)
    assert.truthy(text:find("there will be more than 100000", 1, true), text)
    assert.is_true(#simu:events() < 20000)
    simu = chatter(45)
    simu:run()
    assert.is_true(#simu:events() > 3000)
  end)

  it("ends after a million steps in a step of the grid", function()
    -- a model without functions in Lua takes a million steps in a second
    local ds, nsds = ns.FirstOrderLinearTIDS({ -0.3333333, 0 }, ns.zeros(2, 2), { 1, 0 }), ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 0.5 } }), "relay"), ds)
    local osi = ns.RungeKuttaOSI()
    osi:setMaxStep(1e-6)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), osi)
    local text = message(simu.run, simu)
    assert.truthy(text:find("^EventDriven: more than 1000000 steps of the integrator in a step of the grid %(t="), text)
    local output = function(_, x, _, _, y) y[1] = x[1] end
    simu = model { x0 = { -0.3333333, 0 }, f = still, h = output, longest = 5e-7, osi = "RungeKuttaOSI" }
    assert.truthy(message(simu.run, simu):find(
      "EventDriven: with maxStep 5e-07 a step of the grid of 1 needs more than 1000000 steps of the integrator", 1, true))
  end)
end)
