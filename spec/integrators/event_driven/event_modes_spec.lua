-- Friction and relays in event-driven mechanics: what sticks, what slips, and when that changes.
local ns = require "nslua"
local events = require "simulation.events"
local g = events.g

local function force(ds, f)
  ds:setComputeFExtFunction(function(t, _, out) out[1] = f(t) end)
  return ds
end

-- A body on a line with dry friction of the given bound, as a relay on its velocity.
local function rubbed(o)
  local ds = ns.LagrangianLinearTIDS({ o.x or 0 }, { o.v or 0 }, { { o.m or 1 } })
  if o.force then force(ds, o.force) end
  local relation = ns.LagrangianLinearTIR { { 1 } }
  local simu, inters = events.simulation { systems = { ds }, T = o.T, h = o.h,
    links = { { ns.RelayNSL(1, -o.bound, o.bound), relation, "rub", ds } } }
  simu:energy()
  return simu, ds, inters.rub
end

local function kinds(log)
  local out = {}
  for i, event in ipairs(log) do out[i] = event.kind end
  return table.concat(out, " ")
end

describe("a relay between velocities", function()
  it("is a brake that stops a body, lets it go, and turns its motion round", function()
    local simu, ds = rubbed { v = 1, bound = 0.5, T = 4, h = 0.5, force = function(t) return math.sin(3 * t) end }
    simu:run()
    local log = simu:events()
    assert.equal("stick slip cross", kinds(log))
    assert.near(2.017609848283204, log[1].t, 1e-12)
    assert.near(2.2689280275926285, log[2].t, 1e-12)
    assert.near(3.366662407757486, log[3].t, 1e-12)
    assert.near(1.764126324707501, ds:q()[1], 1e-12)
    assert.near(-0.22480791227718935, ds:velocity()[1], 1e-12)
    local energy = simu:energy()
    assert.near(-0.9564054189416282, energy.friction, 1e-12)
    assert.near(0, energy.numerical, 1e-12)
  end)

  it("holds a block on a plate that is shaken, and lets it slip down the slope", function()
    local slope = math.rad(5)
    local simu, ds = rubbed { bound = 0.3 * g * math.cos(slope), T = 1, h = 0.05,
      force = function(t) return 5 * math.sin(40 * t) - g * math.sin(slope) end }
    for _ in simu:steps() do
      local log = simu:events()
      if #log == 0 or log[#log].kind == "stick" then assert.equal(0, ds:velocity()[1]) end
    end
    local log = simu:events()
    local times = { 0.02148150822560337, 0.07585596092239394, 0.08924829672829687, 0.18021089625049697, 0.23288225370360305,
      0.24632792940778653, 0.3372905289299866, 0.3899618863830927, 0.4034075620872762, 0.4943701616094763,
      0.5470415190625824, 0.5604871947667659 }
    assert.equal("slip stick slip cross stick slip cross stick slip cross stick slip", kinds { table.unpack(log, 1, 12) })
    for i, t in ipairs(times) do assert.near(t, log[i].t, 1e-12) end
  end)
end)

describe("friction in the plane", function()
  it("stops a block on the floor where v^2 = 2 mu g x, with the work of friction", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 2, 0 }, { { 3, 0 }, { 0, 3 } })
    ds:setFExtPtr { 0, -3 * g }
    local simu, inters = events.simulation { systems = { ds }, T = 2, h = 0.1, links = {
      { ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "floor", ds } } }
    simu:energy()
    simu:run()
    local log = simu:events()
    assert.equal("rest stick", kinds(log))
    assert.near(2 / (0.3 * g), log[2].t, 1e-15)
    assert.equal(2, log[2].component)
    assert.near(4 / (2 * 0.3 * g), ds:q()[1], 1e-14)
    assert.same({ 0, 0 }, ds:velocity():totable())
    assert.near(3 * g, inters.floor:lambda(1)[1], 1e-13)
    assert.near(-6, simu:energy().friction, 1e-13)
    assert.near(0, simu:energy().numerical, 1e-13)
  end)
end)
