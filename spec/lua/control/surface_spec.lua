-- Relay feedback on mechanics, together with impacts and friction.
local ns = require "nslua"
local campaign = require "campaign"
local message = require "bind.models".message

local function event_driven(nsds, h) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-10, 1e-12)) end
local function stepping(nsds, h) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5)) end

-- A mass with the relay -U sgn(v + c (q - target)), with dry friction F and a wall at o.wall.
local function mass(o, simulation, h)
  local ds = ns.LagrangianLinearTIDS({ o.q or 1 }, { o.v or 0 }, { { o.m or 1 } })
  if o.force then ds:setComputeFExtFunction(function(t, _, out) out[1] = o.force(t) end) end
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.JointFrictionNSL(1, 0, 0, o.U), ns.SlidingSurfaceR({ 1 }, { o.c }, { o.target or 0 }), "relay"), ds)
  if o.F then nsds:link(ns.Interaction(ns.JointFrictionNSL(1, 0, 0, o.F), ns.LagrangianLinearTIR { { 1 } }, "friction"), ds) end
  if o.wall then nsds:link(ns.Interaction(ns.NewtonImpactNSL(o.e), ns.LagrangianLinearTIR({ { 1 } }, { -o.wall }), "wall"), ds) end
  return simulation(nsds, h), ds
end

describe("relays on mechanics", function()
  -- From (1, 0): q = 1 - (U + F) t^2 / 2 until v + q = 0, then q' = -q; friction takes part of the relay's work.
  it("reach the surface and slide on it, also with friction, in events and in steps", function()
    for _, F in ipairs { 0, 0.5 } do
      local a = 2 - F -- friction acts against the motion, which goes down
      local reach = (-1 + math.sqrt(1 + 2 / a)) -- 1 - a t^2 / 2 = a t
      local q = 1 - a * reach ^ 2 / 2
      local T = reach + 1
      local o = { U = 2, c = 1, F = F > 0 and F or nil, T = T }
      local simu, ds = mass(o, event_driven, T / 10)
      local sol = simu:run()
      assert.near(reach, sol.events[#sol.events].t, 1e-10)
      assert.near(q * math.exp(-1), ds:q()[1], 1e-9)
      assert.near(-q * math.exp(-1), ds:velocity()[1], 1e-9)
      simu, ds = mass(o, stepping, T / 2000)
      simu:run()
      assert.near(q * math.exp(-1), ds:q()[1], 2e-3)
    end
  end)

  it("hit a wall on the way: the time on the surface is a logarithm", function()
    local reach = math.sqrt(2) - 1
    local q = 1 - reach ^ 2
    for _, simulation in ipairs { event_driven, stepping } do
      local hit = reach + math.log(q / 0.2)
      local T = hit + 0.05
      local o = { U = 2, c = 1, wall = 0.2, e = 0.5, T = T }
      local simu, ds = mass(o, simulation, simulation == stepping and T / 2000 or T / 20)
      local sol = simu:run()
      local near = simulation == stepping and 5e-3 or 1e-9
      assert.near(0.5 * 0.2 - 2 * 0.05, ds:velocity()[1], near) -- it bounces with e c q against U = 2
      assert.near(0.2 + 0.5 * 0.2 * 0.05 - 0.05 ^ 2, ds:q()[1], near)
      if simulation == event_driven then
        for _, event in ipairs(sol.events) do
          if event.kind == "impact" then assert.near(hit, event.t, 1e-9) end
        end
      end
    end
  end)

  it("agree in events and in small steps, for random relays with friction, walls and forces #once", function()
    local count, tell = campaign(8, 0.005)
    for seed = 1, count do
      math.randomseed(seed)
      local r = math.random
      local a, w = r(), 1 + 3 * r()
      local o = { m = 0.5 + r(), U = 2 + r(), c = 0.5 + r(), F = 0.5 * r(), q = 0.5 + r(), v = r() - 0.5, target = 0.4 * r(),
        wall = 0.5 * r(), e = 0.8 * r(), T = 2, force = function(t) return a * math.sin(w * t) end }
      local exact, ds = mass(o, event_driven, 0.1)
      exact:run()
      local simu, other = mass(o, stepping, 5e-4)
      simu:run()
      assert.near(ds:q()[1], other:q()[1], 5e-3, ("seed %d"):format(seed))
    end
    tell("relays on mechanics", count)
  end)

  it("say what is wrong", function()
    assert.match("SlidingSurfaceR: velocity: expected a list of numbers, got nil", message(ns.SlidingSurfaceR))
    assert.match("SlidingSurfaceR: position: expected 2 numbers, got 1", message(ns.SlidingSurfaceR, { 1, 2 }, { 1 }))
    assert.match("SlidingSurfaceR: target: expected 1 numbers, got 2", message(ns.SlidingSurfaceR, 1, 1, { 1, 2 }))
  end)
end)
