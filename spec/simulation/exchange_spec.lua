-- core.exchange_support: a model as modes for a solver outside of the engine. spec/fmu/modes_spec.lua has whole runs.
local core = require "nslua.core"
local ns = require "nslua"

-- A exchange model whose functions are called as methods.
local function host(simulation)
  local made = core.exchange_support.new(simulation, simulation)
  return setmetatable({}, { __index = function(_, name)
    return function(_, ...) return core.exchange_support[name](made, ...) end
  end })
end

-- unit: the unit of length, a power of two.
local function ball(unit)
  unit = unit or 1
  local mass = ns.LagrangianLinearTIDS({ unit }, { 0 }, { { 1 } })
  mass:setFExtPtr { -10 * unit }
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(mass)
  local law = ns.NewtonImpactNSL(0.5)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } }, "floor"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI()), mass, law
end

local function relay()
  local system = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(system)
  local law = ns.RelayNSL(1, -1, 1)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1 } } }, "relay"), system)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI()), system, law
end

describe("a model for exchange", function()
  it("has the states, rates and guards of its mode", function()
    local exchange = host(ball())
    local z, guards = exchange:begin(0, 0.1)
    assert.same({ { 1.0, 0.0 }, 2 }, { z, guards })
    assert.same({ { system = 1, letter = "q", number = 1 }, { system = 1, letter = "v", number = 1 } }, exchange:names())
    assert.same({ 0.0, -10.0 }, exchange:rate(0, z))
    assert.same({ 1.0, 1.0 }, exchange:guards(0, z))
    local first = host(relay())
    z, guards = first:begin(0, 0.1)
    assert.same({ { 1.0 }, 2 }, { z, guards })
    assert.same({ { system = 1, letter = "x", number = 1 } }, first:names())
    assert.same({ -1.0 }, first:rate(0, z))
  end)

  it("changes states and mode at an event", function()
    local exchange = host(ball())
    exchange:begin(0, 0.1)
    assert.is_true(exchange:accept(0.5, { -1e-9, -3 })) -- beyond the impact: there is an event
    assert.same({ true, { -1e-9, 1.5 } }, { exchange:event(0.5, { -1e-9, -3 }, false) })
    assert.truthy(exchange:guards(0.5, { -1e-9, 1.5 })[1] > 0)
    assert.same({ false, { -1e-9, 1.5 } }, { exchange:event(0.5, { -1e-9, 1.5 }, false) })
    assert.same({ true, { 0.0, 0.0 } }, { exchange:event(0.6, { -2e-9, -1e-6 }, false) }) -- rest
    assert.same({ 0.0, 0.0 }, exchange:rate(0.6, { 0, 0 }))
    assert.same({ 10.0, 1.0 }, exchange:guards(0.6, { 0, 0 })) -- the force
  end)

  it("slides after a switch, and takes errors of the solver back", function()
    local exchange = host(relay())
    exchange:begin(0, 0.1)
    assert.same({ true, { 0.0 } }, { exchange:event(1, { -1e-9 }, false) })
    assert.same({ 0.0 }, exchange:rate(1, { 0 }))
    assert.same({ 1.0, 1.0 }, exchange:guards(1, { 0 }))
  end)

  it("reads the laws anew when it is asked to", function()
    local simulation, mass, law = ball()
    local exchange = host(simulation)
    exchange:begin(0, 0.1)
    exchange:event(0.6, { -1e-9, -1e-6 }, false)
    mass:setFExtPtr { 10 }
    assert.same({ -10.0, 1.0 }, exchange:guards(0.6, { 0, 0 }))
    exchange:event(0.6, { 0, 0 }, true)
    assert.same({ 0.0, 10.0 }, exchange:rate(0.6, { 0, 0 }))
    law:setE(0.25)
    exchange:event(0.7, { 1, 1 }, true)
    assert.same({ true, { 0.0, 1.0 } }, { exchange:event(0.8, { 0, -4 }, false) })
    local second, _, bounds = relay()
    local first = host(second)
    first:begin(0, 0.1)
    bounds:setLb { -2 }
    first:event(0.5, { 0.5 }, true)
    assert.same({ -2.0 }, first:rate(0.5, { 0.5 }))
  end)

  it("does not depend on the unit of length", function()
    local function course(unit)
      local exchange, out = host((ball(unit))), {}
      local function keep(list)
        for _, value in ipairs(list) do out[#out + 1] = value / unit end
      end
      keep(exchange:begin(0, 0.1))
      for k, at in ipairs { { 0.5, -1e-9, -3 }, { 0.6, -2e-9, -1e-3 }, { 0.7, -3e-9, -1e-6 } } do
        local z = { at[2] * unit, at[3] * unit }
        out[#out + 1] = exchange:accept(at[1], z) and k or 0
        local _, after = exchange:event(at[1], z, false)
        keep(after)
        keep(exchange:rate(at[1], after))
        keep { exchange:guards(at[1], after)[1] }
      end
      return out
    end
    for _, exponent in ipairs { -100, -7, 60 } do assert.same(course(1), course(2.0 ^ exponent)) end
  end)

  it("writes a point to the objects", function()
    local simulation, mass = ball()
    local exchange = host(simulation)
    exchange:begin(0, 0.1)
    exchange:place(0.2, { 0.75, -2 })
    assert.same({ 0.75, -2.0 }, mass:x():totable())
  end)

  it("restores its mode", function()
    local exchange = host(ball())
    exchange:begin(0, 0.1)
    local flying = exchange:save()
    exchange:event(0.6, { -1e-9, -1e-6 }, false)
    local resting = exchange:save()
    exchange:load(flying)
    assert.same({ 0.0, -10.0 }, exchange:rate(0.6, { 0, 0 }))
    exchange:load(resting)
    assert.same({ 0.0, 0.0 }, exchange:rate(0.6, { 0, 0 }))
    local function wrong() exchange:load "abc" end
    assert.error(wrong, "the stored mode is one of another model")
  end)

  it("tells what is wrong", function()
    local simulation = ball()
    local exchange = host(simulation)
    assert.error_matches(function() exchange:rate(0, {}) end, "a script has changed what is linked: the model has to begin anew")
    exchange:begin(0, 0.1)
    assert.error_matches(function() exchange:rate(0, { 1 }) end, "there are 2 states, not 1")
    local nsds = simulation:nsds()
    nsds:insertDynamicalSystem(ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }))
    assert.error_matches(function() exchange:rate(0, { 1, 0 }) end, "a script has changed what is linked")
    local stepping = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    assert.error_matches(function() host(stepping) end, "exchange: expected an EventDriven")
    local one, two = relay()
    local singular = host(one)
    two:setMPtr { { 1 } }
    singular:begin(0, 0.1)
    two:setMPtr { { 0 } }
    assert.error_matches(function() singular:event(0.5, { 0.5 }, true) end, "the rank of M has changed at t=0.5")
  end)
end)
