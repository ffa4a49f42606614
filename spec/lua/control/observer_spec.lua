-- Observers.
local ns = require "nslua"
local expect = require "expect"

local fails = expect.fails

-- An oscillator with a known constant force and a controller, and an observer of it.
local function run(class, gains, T)
  local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } }, { 0, 0.5 })
  local sim, sensor = ns.ControlZOHSimulation(0, T or 10, 0.05), ns.LinearSensor(ds, { 1, 0 })
  sim:addDynamicalSystem(ds)
  sim:addSensor(sensor, 0.1)
  local observer = ns[class](sensor, { 3, -2 }, nil, gains)
  sim:addObserver(observer, 0.1)
  sim:addActuator(ns.Actuator(observer, { 0, 1 }, { law = function(_, x) return { -x[2] } end }), 0.1)
  return sim:run(), sim
end

describe("an observer", function()
  it("finds the state, and its error has the eigenvalues of Ad + Lo C", function()
    for _, class in ipairs { "LuenbergerObserver", "SlidingReducedOrderObserver" } do
      local sol = run(class, { -3, -4 })
      local e = { sol[class .. ".x[1]"] - sol.x1, sol[class .. ".x[2]"] - sol.x2 }
      expect.near({ 0, 0 }, ns.vector { e[1][#sol], e[2][#sol] }, 1e-5)
      if class == "SlidingReducedOrderObserver" then
        expect.near_number(1, sol[class .. ".x[1]"][1])
        expect.near_number(2, sol[class .. ".e[1]"][1])
      else
        local d = ns.control.c2d({ { { 0, 1 }, { -1, 0 } }, { -3, -4 }, { 1, 0 } }, 0.1)
        local M, now = d.A + d.B * d.C, ns.vector { e[1][3], e[2][3] }
        for k = 5, 101, 2 do
          now = M * now
          expect.near(now, ns.vector { e[1][k], e[2][k] }, 1e-12)
        end
      end
    end
  end)

  it("is a source of a controller, and comes before it", function()
    local _, sim = run("LuenbergerObserver", { -3, -4 }, 1)
    local ds = sim:nsds():dynamicalSystem(1)
    local sensor = ns.LinearSensor(ds, { 1, 0 })
    sim = ns.ControlZOHSimulation(0, 1, 0.1)
    fails("addObserver: its sensor comes first: add that before", function()
      sim:addObserver(ns.LuenbergerObserver(sensor, { 0, 0 }, { 1, 0 }, { 1, 1 }), 0.1)
    end)
    ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } })
    sim:addDynamicalSystem(ds, "spring")
    sensor = ns.LinearSensor(ds, { 1, 0 })
    sim:addSensor(sensor, 0.1)
    sim:addActuator(ns.Actuator(sensor, { 0, 1 }, { law = function() return { 0 } end }), 0.1)
    fails("addObserver: an observer of 'spring' comes before its controllers: it works with the input since its last sample",
      function() sim:addObserver(ns.LuenbergerObserver(sensor, { 0, 0 }, { 1, 0 }, { 1, 1 }), 0.1) end)
    fails("LuenbergerObserver: expected a sensor, got nil", ns.LuenbergerObserver)
    fails("LuenbergerObserver: L: expected a matrix of 2 rows and 1 columns, got 1 x 1", ns.LuenbergerObserver, sensor, { 0, 0 },
      { 1, 0 }, { { 1 } })
    local cart = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, fInt = function(_, q, _, _, f) f[1] = q[1] ^ 3 end }
    fails("LuenbergerObserver: the plant is not linear: give model = A", ns.LuenbergerObserver, ns.LinearSensor(cart), { 0, 0 })
  end)
end)
