-- Painleve's rod by EventDriven, in the states of spec/cases/events/painleve_rod.lua: forces, an impulse where there are none, and
-- a refusal where there are two.
local ns = require "nslua"
local expect = require "expect"

local reference = dofile "spec/reference/events/painleve_rod.lua"

-- The rod after a step of 1e-9 s: its velocities, the forces of the tip, and the log. The tip slides with u, w is the rotation.
local function rod(theta, u, w, rule)
  local s, c = math.sin(theta), math.cos(theta)
  local ds = ns.LagrangianDS({ 0, s, theta }, { u - s * w, c * w, w }, ns.diag { 1, 1, 1 / 3 })
  ds:setFExtPtr { 0, -9.81, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.01)
  nsds:insertDynamicalSystem(ds)
  local tip = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 2, 2), ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1], y[2] = q[2] - math.sin(q[3]), q[1] - math.cos(q[3]) end,
  }, "tip")
  nsds:link(tip, ds)
  local integrator = ns.RungeKuttaOSI()
  if rule then integrator:setAmbiguity(rule) end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation { 0, 1e-9, 0.01 }, integrator)
  simu:computeOneStep()
  return ds:velocity(), tip:lambda(1), simu:events()
end

local states = { { math.pi / 4, 1, 0 }, { math.pi / 4, -1, 0 }, { math.pi / 4, -1, 6 }, { 1.2, -1, 2 }, { 1.45, -1, 0 },
  { 0.5, -1, 5 } }

describe("Painleve's rod", function()
  it("has the forces of the states with one solution", function()
    for _, i in ipairs { 1, 5, 6 } do
      local _, force, log = rod(table.unpack(states[i]))
      assert.near(reference.N[1][i][1], force[1], 1e-5)
      for _, event in ipairs(log) do assert.not_equal("impact", event.kind) end
    end
  end)

  it("takes an impulse without collision where no force is a solution", function()
    local v, _, log = rod(table.unpack(states[2]))
    assert.equal("impact", log[1].kind)
    assert.near(reference.impulse_2[1][1], log[1].impulse, 1e-12)
    for i, after in ipairs(reference.after_2[1]) do assert.near(after, v[i], 1e-7) end
    assert.equal("impact", select(3, rod(table.unpack(states[4])))[1].kind)
  end)

  it("is refused, or follows a rule, where two forces are solutions", function()
    expect.fails("the next mode is not unique: 'tip' slips; 'tip' opens", rod, table.unpack(states[3]))
    local theta, u, w = table.unpack(states[3])
    assert.near(reference.N[1][3][2], select(2, rod(theta, u, w, "stay"))[1], 1e-5)
    assert.equal(0, select(2, rod(theta, u, w, "up"))[1])
  end)

  it("goes on as it does at the start of a step, where other forces would do, too", function()
    -- the tip sticks; a force up grows until the tip could open as well
    local function state(h)
      local c, s = math.cos(1), math.sin(1)
      local ds = ns.LagrangianDS({ c, s, 1 }, { 0, 0, 0 }, ns.diag { 1, 1, 1 / 3 })
      ds:setComputeFExtFunction(function(t, _, f) f[1], f[2], f[3] = -30, 240 * t - 9.81, 0 end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.05)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 2, 2), ns.LagrangianScleronomousR {
        h = function(q, _, y) y[1], y[2] = q[2] - math.sin(q[3]), q[1] - math.cos(q[3]) end,
      }, "tip"), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI())
      simu:run()
      return ds:q(), simu
    end
    local q, simu = state(0.05)
    local parts, again = state(1e-3)
    assert.equal(#simu:events(), #again:events())
    for i = 1, 3 do assert.near(q[i], parts[i], 1e-9) end
    assert.is_true(math.abs(q[2] - math.sin(q[3])) < 1e-12)
  end)
end)
