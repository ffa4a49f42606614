-- The derivatives of the smooth pieces of a simulation by its states and by a number of its model.
local near = require("expect").near
local ns = require "nslua"
local pieces = require "nslua.dynamics.simulation_pieces"
local simulation = require "nslua.dynamics.simulation_flow"

-- A mass 1 on a spring k above a floor at -1/2, with what is made of it: the law, the relation.
local function oscillator(k)
  local mass, law = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }), ns.NewtonImpactNSL(0.8)
  mass:setKPtr(ns.matrix { { k } })
  local floor = ns.LagrangianLinearTIR({ { 1 } }, { 0.5 })
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(mass)
  nsds:link(ns.Interaction(law, floor, "floor"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI()), { k = { mass, "K", 1, 1 }, e = { law, "en" },
    y = { floor, "e", 1 }, x = { mass, "x0", 1 }, other = { mass, "v0", 1 } }
end

-- The flow with the parameter `name` (nil: the model is a function of k), its value, and its mode at the start.
local function flow_of(name)
  local flow = { who = "spec", piece_sizes = ns.vector { 1, 1 }, parameter_size = 1, span = 1 }
  local simu, objects = oscillator(4)
  local made = name and { simulation = simu, parameter = objects[name] } or { simulation = function(k) return (oscillator(k)) end,
    value = 4 }
  simulation.make(flow, made)
  flow.t0 = 0
  local p = name and flow.value or 4
  return flow, p, simulation.mode(flow, ns.vector { 1, 0 }, 0, 0.1, p)
end

describe("the derivatives of a smooth piece", function()
  local x, T = ns.vector { 1, 0 }, 0.75

  it("by a stiffness are exact, and differences where the model is a function of it", function()
    local c, s = math.cos(2 * T), math.sin(2 * T) -- q = cos(w t), w^2 = k
    for name, tolerance in pairs { k = 1e-11, none = 1e-7 } do
      local flow, p, mode = flow_of(name ~= "none" and name or nil)
      local S, slope = pieces.smooth_derivatives(flow, x, 0, T, p, mode)
      near({ c, -2 * s, s / 2, c }, ns.vector { S[1][1], S[2][1], S[1][2], S[2][2] }, 1e-11)
      near({ -T * s / 4, -(s + 2 * T * c) / 4 }, slope, tolerance)
    end
  end)

  it("are 0 by what does not act in it, and by the initial state of a system", function()
    for _, name in ipairs { "e", "x", "other" } do
      local flow, p, mode = flow_of(name)
      local _, slope = pieces.smooth_derivatives(flow, x, 0, T, p, mode)
      near({ 0, 0 }, slope, 1e-12)
    end
  end)

  it("go through guards and impacts", function()
    local flow, p, mode = flow_of "y"
    local event = { kind = "impact", label = "floor:impact", place = 1, mode_before = mode, mode = mode }
    local slopes = pieces.guard_derivatives(flow, event, 0, x, p)
    near({ 1, 0 }, slopes.x)
    assert.equal(1, slopes.p)
    assert.equal(0, slopes.t)
    flow, p, event.mode_before = flow_of "e"
    assert.is_true(pieces.prepare(flow, event, { t = 0.5, before = ns.vector { -0.5, -2 }, after = ns.vector { -0.5, 1.6 } }, p))
    local map = pieces.reset_derivatives(flow, event, 0.5, ns.vector { -0.5, -3 }, p)
    near({ 1, 0, 0, -0.8 }, ns.vector { map.x[1][1], map.x[1][2], map.x[2][1], map.x[2][2] }, 1e-15)
    near({ 0, 3 }, map.p, 1e-15)
    near({ 0, 0 }, map.t, 1e-12)
  end)
end)
