-- Sampled loops at rest, and their linear models of the period map.
local ns = require "nslua"
local expect = require "expect"

local dynamics, near, fails = ns.dynamics, expect.near_number, expect.fails

-- An oscillator with a sampled integrator on the error r - x1, r = z, and damping; f: what else the clock does.
local function loop(r, period, f)
  local plant = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } })
  plant:setzPtr(ns.vector { r })
  local nsds = ns.NonSmoothDynamicalSystem(0, 5)
  nsds:insertDynamicalSystem(plant)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-12))
  local s = simu:every { name = "ctl", period = period, state = { u = { 0, 0 }, i = 0 }, act = function(t, s)
    s.i = s.i + 0.1 * (plant:z()[1] - plant:x()[1])
    s.u[2] = 0.3 * s.i - 0.5 * plant:x()[2]
    if f then f(t, s, plant) end
  end }
  plant:setbPtr(s.u)
  return simu, plant
end

-- The same by hand: w = (x, i) just before an instant, and B of the input r.
local function by_hand(h)
  local sys = ns.control.c2d({ A = { { 0, 1 }, { -1, 0 } }, B = { { 0 }, { 1 } } }, h)
  local A, B = ns.zeros(3, 3), ns.zeros(3, 1)
  local u = { -0.03, -0.5, 0.3 } -- u = 0.3 (i + 0.1 (r - x1)) - 0.5 x2
  for i = 1, 2 do
    for j = 1, 3 do A[i][j] = (sys.A[i][j < 3 and j or 1] * (j < 3 and 1 or 0)) + sys.B[i][1] * u[j] end
    B[i][1] = sys.B[i][1] * 0.03
  end
  A[3][1], A[3][3], B[3][1] = -0.1, 1, 0.1
  return A, B
end

describe("a sampled loop", function()
  it("has its equilibrium, with what actions hold #once", function()
    local e = dynamics.equilibrium { simulation = loop(0.5, 0.1), guess = { 0.4, 0.1 } }
    expect.near({ 0.5, 0 }, e.x, 1e-9)
    assert.same({ "ctl.i", "ctl.u[1]", "ctl.u[2]" }, e.names)
    near(0.5, e.d[3], 1e-9)
    near(0.5 / 0.3, e.d[1], 1e-8)
    assert.equal("ok", e.status)
    assert.is_truthy(tostring(e):find "^equilibrium at %[0.5")
    local slow = dynamics.equilibrium { simulation = loop(0.5, 0.1), guess = { 0.4, 0.1 }, period = 0.2, scale = { 1, 1 } }
    expect.near(e.x, slow.x, 1e-8)
    local same = dynamics.equilibrium { simulation = function(r) return (loop(r, 0.1)) end, value = 0.5 }
    expect.near(e.x, same.x, 1e-9)
  end)

  it("has the linear model of its period map, for design #once", function()
    local simu, plant = loop(0.5, 0.1)
    local e = dynamics.equilibrium { simulation = simu, guess = { 0.4, 0.1 } }
    local l = dynamics.linearise { simulation = simu, at = e, inputs = { { plant, "z", 1 } }, outputs = { 1 } }
    local A, B = by_hand(0.1)
    assert.same({ 1, 2, 3, 5 }, l.states)
    near(0, (l.A:slice(1, 3, 1, 3) - A):norm(), 1e-11)
    near(0, (l.B:slice(1, 3, 1, 1) - B):norm(), 1e-11)
    near(0.1, l.dt)
    near(1, ns.control.dcgain(l)[1][1], 1e-9)
    local K = ns.control.dlqr(l, ns.eye(4), 1)
    assert.is_true(ns.control.poles(ns.control.ss(l.A - l.B * K, l.B, nil, nil, l.dt))[1].abs < 1)
    assert.equal("linear model with 4 states, period 0.1, " .. l.stability, tostring(l))
    local orbit = dynamics.periodic { simulation = simu, period = 0.1, guess = { 0.4, 0.1 }, drift = { 4 } }
    local g = dynamics.linearise { simulation = simu, at = orbit, outputs = function(_, x, d) return { x[1] * x[2], d[3] ^ 2 } end }
    near(0, (g.A - l.A):norm(), 1e-9)
    near(2 * e.d[3], g.C[2][4], 1e-8)
    assert.equal(0, g.B:cols())
  end)

  it("is the sampled plant where its output is an input", function()
    local simu = loop(0.5, 0.1)
    local l = dynamics.linearise { simulation = simu, at = { x = { 0.3, 0 } }, inputs = { "ctl.u[2]" }, outputs = { 1, 5 } }
    local sys = ns.control.c2d({ A = { { 0, 1 }, { -1, 0 } }, B = { { 0 }, { 1 } } }, 0.1)
    near(0, (l.A:slice(1, 2, 1, 2) - sys.A):norm(), 1e-11)
    near(0, (l.B:slice(1, 2, 1, 1) - sys.B):norm(), 1e-11)
    expect.near({ 0, 1 }, l.D:column(1))
  end)

  it("is refused by name where there is none #once", function()
    local function refused(text, name, options)
      options.simulation = options.simulation or loop(0.5, 0.1)
      fails("dynamics." .. name .. ": " .. text, dynamics[name], options)
    end
    local function push(t, s) s.u[2] = s.u[2] + math.cos(2 * math.pi * t) end
    refused("no equilibrium found: the loop has a periodic orbit of period 0.5 there, on which state 3 moves from", "equilibrium",
      { simulation = (function()
        local simu = loop(0.5, 0.5)
        local forced = ns.FirstOrderLinearDS({ 1 }, { { -1 } })
        forced:setComputebFunction(function(t, _, b) b[1] = math.cos(4 * math.pi * t) end)
        simu:nsds():insertDynamicalSystem(forced)
        return simu
      end)(), guess = { 0.4, 0, 1 } })
    refused("period: expected a number, got 'a'", "equilibrium", { period = "a" })
    refused("period: expected a multiple of the period of the clock 'ctl', 0.1, got 0.15", "equilibrium", { period = 0.15 })
    fails("dynamics.equilibrium: period: it is for simulations with clocks", dynamics.equilibrium,
      { rhs = function(_, x) return x end, guess = { 1 }, period = 1 })
    refused("all: it is for models without clocks", "equilibrium", { all = true, guess = { { 0, 0 } } })
    refused("mode: it is for models without clocks", "linearise", { at = { x = { 0, 0 } }, mode = {} })
    refused("at: expected an orbit, an equilibrium or { x = }, got nil", "linearise", {})
    refused("inputs: expected a list, got 1", "linearise", { at = { x = { 0, 0 } }, inputs = 1 })
    refused("inputs[1]: there is no discrete state 'u'; there are ctl.i, ctl.u[1], ctl.u[2]", "linearise",
      { at = { x = { 0, 0 } }, inputs = { "u" } })
    refused("inputs[1]: expected {object, \"field\" [, i [, j]]} or the name of a discrete state, got 1", "linearise",
      { at = { x = { 0, 0 } }, inputs = { 1 } })
    refused("outputs[1]: expected the number of a state, 1 .. 5, got 6", "linearise", { at = { x = { 0, 0 } }, outputs = { 6 } })
    refused("outputs: expected a function f(t, x, lambda) or a list of numbers of states, got 6", "linearise",
      { at = { x = { 0, 0 } }, outputs = 6 })
    local simu = loop(0.5, 0.1, push)
    simu:every { name = "odd", period = 0.1 * math.sqrt(2), act = type }
    refused("simulation: the periods of the clocks 'ctl' and 'odd' have no common multiple up to 141.421", "linearise",
      { simulation = simu, at = { x = { 0, 0 } } })
  end)
end)
