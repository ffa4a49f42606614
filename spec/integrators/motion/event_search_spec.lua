-- The search for events within a step: none is lost, whatever the grid and the length of steps.
local ns = require "nslua"
local events = require "simulation.events"

-- A mass on a spring with a force of time, and a wall below.
local function oscillator(o)
  local ds = ns.LagrangianLinearTIDS({ o.q or 1 }, { 0 }, { { 1 } }, { { (o.w or 1) ^ 2 } })
  local wall = ns.LagrangianLinearTIR({ { 1 } }, { o.gap })
  return events.simulation { systems = { ds }, T = o.T, h = o.T, rtol = o.rtol, atol = o.rtol,
    links = { { ns.NewtonImpactNSL(o.e or 1), wall, "wall", ds } } }, ds
end

describe("the search for events", function()
  it("finds a short dip between the ends of a long step", function()
    -- q = cos(t) goes to -1 and is above -1 + depth again after a short while
    for _, depth in ipairs { 1e-2, 1e-4, 1e-6, 1e-8 } do
      local simu = oscillator { T = 6, gap = 1 - depth, rtol = 1e-10 }
      simu:run()
      local log = simu:events()
      assert.equal(1, #log, ("depth %g"):format(depth))
      assert.near(math.acos(-1 + depth), log[1].t, 1e-5)
    end
  end)

  it("leaves a miss alone", function()
    for _, gap in ipairs { 1e-2, 1e-4, 1e-6 } do
      local simu = oscillator { T = 20, gap = 1 + gap, rtol = 1e-10 }
      simu:run()
      assert.equal(0, #simu:events())
    end
  end)

  it("finds the first of several contacts, and two at the same time", function()
    local a, b = ns.LagrangianLinearTIDS({ 1 }, { -1 }, { { 1 } }), ns.LagrangianLinearTIDS({ 2 }, { -2 }, { { 1 } })
    local simu = events.simulation { systems = { a, b }, T = 3, h = 3, links = {
      { ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1 } }, "a", a },
      { ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1 } }, "b", b } } }
    simu:run()
    local log = simu:events()
    assert.equal(2, #log)
    assert.near(1, log[1].t, 1e-15)
    assert.near(1, log[2].t, 1e-15)
    assert.near(2, a:q()[1], 1e-14)
    assert.near(4, b:q()[1], 1e-14)
  end)

  it("counts the impacts of an oscillator at a wall", function()
    -- half periods: with the wall at q = 0 and e = 1, an impact every pi / w
    local simu = oscillator { T = 10, gap = 0, w = 10, rtol = 1e-12 }
    simu:run()
    local log = simu:events()
    assert.equal(math.floor((10 * 10 + math.pi / 2) / math.pi), #log)
    for i, event in ipairs(log) do assert.near((i - 0.5) * math.pi / 10, event.t, 1e-10) end
  end)
end)

describe("the events of a run", function()
  local g = events.g

  -- Models that have every kind of contact: their systems and links.
  local models = {
    ["a cradle of pendulums that touch"] = function()
      local systems, links = {}, {}
      for i = 1, 5 do
        systems[i] = ns.LagrangianDS({ i == 1 and -0.8 or 0 }, { 0 }, { { 1 } })
        systems[i]:setComputeFIntFunction(function(_, q, _, _, f) f[1] = g * math.sin(q[1]) end)
        if i > 1 then
          local law, rel = ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { -1, 1 } }
          links[i - 1] = { law, rel, "touch " .. i, systems[i - 1], systems[i] }
        end
      end
      return { systems = systems, links = links, T = 5 }
    end,
    ["a rod that clatters"] = function()
      local rod, links = ns.LagrangianDS({ 0, 1, 0.3 }, { 0, 0, 0 }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 / 12 } }), {}
      rod:setFExtPtr { 0, -g, 0 }
      for k, side in ipairs { -0.5, 0.5 } do
        links[k] = { ns.NewtonImpactNSL(0.5),
          ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[2] + side * math.sin(q[3]) end }, "end " .. k, rod }
      end
      return { systems = { rod }, links = links, T = 3 }
    end,
    ["a particle in a bowl"] = function()
      local ds = events.particle({ 0.1, 1 }, { 0, 0 }, 2)
      return { systems = { ds }, T = 6, links = { { ns.NewtonImpactNSL(0.6),
        ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[2] - q[1] ^ 2 end }, "bowl", ds } } }
    end,
    ["a ball on a table that throws it"] = function()
      local ball = ns.LagrangianLinearTIDS({ 0.5 }, { 0 }, { { 1 } })
      ball:setFExtPtr { -g }
      return { systems = { ball }, T = 2, links = { { ns.NewtonImpactNSL(0),
        ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - 0.02 * math.sin(30 * t) end }, "table", ball } } }
    end,
    ["a rigid body with a corner"] = function()
      local inertia = { { 0.1, 0, 0 }, { 0, 0.2, 0 }, { 0, 0, 0.3 } }
      local body = ns.NewtonEulerDS({ 0, 0, 1, 1, 0, 0, 0 }, { 0.3, 0, 0, 1, 2, 3 }, 2, inertia)
      body:setFExtPtr { 0, 0, -2 * g, 0, 0, 0 }
      return { systems = { body }, T = 3, links = { { ns.NewtonImpactNSL(0.5), ns.NewtonEulerR { h = function(_, q, _, y)
        y[1] = q[3] - 0.3 - 0.2 * (q[5] * q[7] - q[4] * q[6])
      end }, "corner", body } } }
    end,
  }

  for name, model in pairs(models) do
    it("do not depend on the grid: #once " .. name, function()
      local want
      for _, h in ipairs { 0.02, 0.13, 0.5, false } do
        local o = model()
        o.h = h or o.T
        local simu = events.simulation(o)
        simu:run()
        local log = simu:events()
        want = want or log
        assert.is_true(#log > 15)
        assert.equal(#want, #log)
        for i, event in ipairs(log) do
          assert.equal(want[i].kind .. want[i].interaction, event.kind .. event.interaction)
          assert.near(want[i].t, event.t, 1e-9)
        end
      end
    end)
  end

  it("have no rest nor release of bodies that touch and are pressed by nothing", function()
    local simu = events.simulation(models["a cradle of pendulums that touch"]())
    simu:run()
    for _, event in ipairs(simu:events()) do assert.equal("impact", event.kind) end
    assert.equal(20, #simu:events())
  end)

  it("are found where an output is noise: the search ends", function()
    local ball, k = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }), 0
    ball:setFExtPtr { -g }
    local simu = events.simulation { systems = { ball }, T = 1, h = 0.5, links = { { ns.NewtonImpactNSL(0.5),
      ns.LagrangianScleronomousR { h = function(q, _, y)
        k = k + 1
        y[1] = q[1] + 1e-6 * math.sin(1e5 * k)
      end, Jachq = function(_, _, C) C[1][1] = 1 end }, "floor", ball } } }
    pcall(simu.run, simu)
    assert.near(math.sqrt(2 / g), simu:events()[1].t, 1e-5)
    assert.is_true(k < 3e6, k)
  end)
end)
