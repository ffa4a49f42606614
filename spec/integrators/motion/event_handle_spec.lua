-- Events: impacts of several contacts, rest, release, the end of infinite sequences of impacts.
local ns = require "nslua"
local events = require "simulation.events"
local g = events.g

describe("an event #once", function()
  it("brings a column of beads to rest, with the forces of their weights", function()
    for _, n in ipairs { 2, 3, 5, 10 } do
      local simu, beads, inters = events.column { n = n, H = 0.5, gap = 0.1, e = 0.5, T = 4 }
      simu:energy()
      for _ in simu:steps() do
        for _, inter in pairs(inters) do assert.is_true(inter:y(0)[1] >= -1e-10) end
      end
      for i = 1, n do
        assert.near(i - 1, beads[i]:q()[1], 1e-12)
        assert.near(0, beads[i]:velocity()[1], 1e-25)
        assert.near((n - i + 1) * g, inters["contact " .. i]:lambda(1)[1], 1e-11 * n)
      end
      local e = simu:energy()
      assert.near(0, e.numerical, 1e-9)
    end
  end)

  it("exchanges velocities of equal beads, and keeps momentum and energy at e = 1", function()
    local a = ns.LagrangianLinearTIDS({ 0 }, { 2 }, { { 3 } })
    local b = ns.LagrangianLinearTIDS({ 5 }, { -1 }, { { 1 } })
    local rel = ns.LagrangianLinearTIR({ { -1, 1 } }, { -1 })
    local simu = events.simulation { systems = { a, b }, T = 3, h = 3,
      links = { { ns.NewtonImpactNSL(1), rel, "beads", a, b } } }
    simu:run()
    assert.near(4 / 3, simu:events()[1].t, 1e-15)
    assert.near(5, 3 * a:velocity()[1] + b:velocity()[1], 1e-14)
    assert.near(13, 3 * a:velocity()[1] ^ 2 + b:velocity()[1] ^ 2, 1e-13)
    assert.near(3, b:velocity()[1] - a:velocity()[1], 1e-14)
  end)

  it("lets a particle go from a cylinder where the force ends", function()
    for _, v0 in ipairs { 0.5, 1.5 } do
      local ds = events.particle({ 0, 1 }, { v0, 0 }, 2)
      local top = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = math.sqrt(q[1] ^ 2 + q[2] ^ 2) - 1 end }
      local simu, inters = events.simulation { systems = { ds }, T = 1, h = 0.01,
        links = { { ns.NewtonImpactNSL(0.3), top, "cylinder", ds } } }
      local release = nil
      for _, t in simu:steps() do
        for _, e in ipairs(simu:events()) do
          if e.kind == "release" and not release then
            release = { t = e.t, q = ds:q():totable(), v = ds:velocity():totable(), now = t }
          end
        end
        assert.is_true(inters.cylinder:y(0)[1] > -1e-11)
      end
      -- back from the end of the interval in free flight: there cos(angle) = 2/3 + v0^2 / (3 g)
      local back = release.now - release.t
      local height = release.q[2] - release.v[2] * back - g * back ^ 2 / 2
      assert.near(2 / 3 + v0 ^ 2 / (3 * g), height, 1e-9)
    end
  end)

  it("throws a ball from a table that falls faster than it", function()
    local A, w = 0.02, 30
    local ball = ns.LagrangianLinearTIDS({ 0.5 }, { 0 }, { { 1 } })
    ball:setFExtPtr { -g }
    local rel = ns.LagrangianRheonomousR { h = function(t, q, z, y) y[1] = q[1] - A * math.sin(w * t) end,
      hDot = function(t, q, z, r) r[1] = -A * w * math.cos(w * t) end }
    local simu, inters = events.simulation { systems = { ball }, T = 2, h = 0.05,
      links = { { ns.NewtonImpactNSL(0), rel, "table", ball } } }
    local energy = simu:energy()
    for _ in simu:steps() do assert.is_true(inters.table:y(0)[1] > -1e-11) end
    local releases = 0
    for _, e in ipairs(simu:events()) do
      if e.kind == "release" then
        releases = releases + 1
        assert.near(g, A * w * w * math.sin(w * e.t), 1e-6)
      end
    end
    assert.is_true(releases >= 5)
    local e = simu:energy()
    assert.near(e.total, energy.total + e.forces + e.impacts + e.numerical, 1e-12)
    assert.near(0, e.numerical, 1e-12)
  end)

  it("books the impulse that ends the bounces on a moving table as work of impacts", function()
    for _, mu in ipairs { 0, 0.3 } do
      local A, w, e = 0.02, 30, 0.3
      local ball = ns.LagrangianLinearTIDS({ 0.5, 0 }, { 0, 1 }, ns.eye(2))
      ball:setFExtPtr { -g, 0 }
      local rel = ns.LagrangianRheonomousR { h = function(t, q, _, y)
        y[1] = q[1] - A * math.sin(w * t)
        if mu > 0 then y[2] = q[2] end
      end, hDot = function(t, _, _, r) r[1] = -A * w * math.cos(w * t) end }
      local law = mu == 0 and ns.NewtonImpactNSL(e) or ns.NewtonImpactFrictionNSL(e, 0, mu, 2)
      local simu = events.simulation { systems = { ball }, T = 2, h = 0.05, links = { { law, rel, "table", ball } } }
      simu:energy()
      simu:run()
      local rests = 0
      for _, event in ipairs(simu:events()) do rests = rests + (event.kind == "rest" and 1 or 0) end
      assert.equal(7, rests)
      assert.near(0, simu:energy().numerical, 1e-12)
    end
  end)

  -- A body of mass 1 that falls from 1 and whose flights last longer or shorter by what else acts: the end of its bounces.
  local function end_of_bounces(inertia, e, b)
    local up, down = (g + b) / inertia, (g - b) / inertia
    local t, u, s = math.sqrt(2 / down), math.sqrt(2 * down), math.sqrt(down / up)
    for _ = 1, 200 do
      u = e * u
      t = t + u / up + u * s / down
      u = u * s
    end
    return t
  end

  it("tells where infinitely many bounces end, with a joint or dry friction that turns between bounces", function()
    for _, h in ipairs { 1e-3, 0.1, 4 } do
      local lever = ns.LagrangianLinearTIDS({ 1, 0.5 }, { 0, 0 }, ns.eye(2))
      lever:setFExtPtr { -g, 0 }
      local simu = events.simulation { systems = { lever }, T = 4, h = h, links = {
        { ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { { 1, -2 } }, "joint", lever },
        { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1, 0 } }, "floor", lever } } }
      simu:run()
      local log = simu:events()
      assert.equal("rest", log[#log].kind)
      assert.near(end_of_bounces(1.25, 0.5, 0), log[#log].accumulation, 1e-13)
      local slider = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      slider:setFExtPtr { -g }
      simu = events.simulation { systems = { slider }, T = 4, h = h, links = {
        { ns.RelayNSL(1, -3, 3), ns.LagrangianLinearTIR { { 1 } }, "rub", slider },
        { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }, "floor", slider } } }
      simu:run()
      for _, event in ipairs(simu:events()) do
        if event.kind == "rest" then assert.near(end_of_bounces(1, 0.5, 3), event.accumulation, 1e-13) end
      end
    end
  end)

  -- Two masses with dry friction on the ground (bound 1) and between them (bound b); a force of 3 presses the second on a stop.
  local function dragged(push, b, e, h)
    local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
    ds:setFExtPtr { push, 3 }
    local simu, inters = events.simulation { systems = { ds }, T = 4, h = h, links = {
      { ns.RelayNSL(1, -1, 1), ns.LagrangianLinearTIR { { 1, 0 } }, "ground", ds },
      { ns.RelayNSL(1, -b, b), ns.LagrangianLinearTIR { { -1, 1 } }, "between", ds },
      { ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ { 0, -1 } }, { 0.2 }), "stop", ds } } }
    return simu, ds, inters
  end

  it("lets a mass that comes to rest on its stop hold its neighbour", function()
    for _, e in ipairs { 0.25, 0.5, 0.7 } do
      for _, push in ipairs { -1.8, -1.2, -0.7 } do
        local ends, counts = {}, {}
        for i, h in ipairs { 0.2, 4 / 7 } do
          local simu, ds, inters = dragged(push, 1.4, e, h)
          for _ in simu:steps() do
            for _, name in ipairs { "ground", "between" } do
              local power = inters[name]:lambda(1)[1] * inters[name]:y(1)[1]
              assert.is_true(power <= 1e-12, ("%s %g %g: friction has the power %g"):format(name, push, e, power))
            end
          end
          assert.equal(0, ds:velocity()[1])
          ends[i], counts[i] = ds:q()[1], #simu:events()
        end
        assert.near(ends[1], ends[2], 1e-9)
        assert.equal(counts[1], counts[2])
      end
    end
  end)

  it("lets masses slide whose velocities are equal at the time of an impact of one of them", function()
    for _, h in ipairs { 0.05, 0.2, 4 / 7 } do -- v = 0.536656 of both at t = 0.7155, where e = 0.6
      local simu, ds = dragged(1.5, 1, 0.6, h)
      simu:run()
      assert.near(0.6, ds:q()[1], 1e-11) -- 0.15 + v^2 / (2 a), v^2 = 0.45 and a = 0.5, after the first impact
      assert.near(math.sqrt(3.2), simu:events()[#simu:events()].t, 1e-11)
    end
  end)

  it("stops a rod that clatters on its two ends", function()
    local rod = ns.LagrangianDS({ 0, 1, 0.3 }, { 0, 0, 0 }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 / 12 } })
    rod:setFExtPtr { 0, -g, 0 }
    local links = {}
    for k, side in ipairs { -0.5, 0.5 } do
      local rel = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = q[2] + side * math.sin(q[3]) end }
      links[k] = { ns.NewtonImpactNSL(0.5), rel, "end " .. k, rod }
    end
    local simu, inters = events.simulation { systems = { rod }, links = links, T = 3, h = 0.1 }
    for _ in simu:steps() do
      for k = 1, 2 do assert.is_true(inters["end " .. k]:y(0)[1] > -1e-10) end
    end
    assert.near(0, rod:q()[3], 1e-12)
    for k = 1, 2 do assert.near(g / 2, inters["end " .. k]:lambda(1)[1], 1e-10) end
    assert.equal("rest", simu:events()[#simu:events()].kind)
  end)

  it("stops a bilateral velocity that does not hold at the start", function()
    local ds = events.particle({ 0, -1 }, { 1, 3 })
    local rod = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }
    local simu = events.simulation { systems = { ds }, T = 1e-6, h = 1e-6,
      links = { { ns.EqualityConditionNSL(1), rod, "rod", ds } } }
    simu:computeOneStep()
    assert.near(0, ds:velocity()[2], 1e-5)
    assert.near(1, ds:velocity()[1], 1e-5)
  end)

  it("solves many contacts at once", function()
    local n = 200 -- more than are solved dense
    local systems, links = {}, {}
    for i = 1, n do
      systems[i] = ns.LagrangianLinearTIDS({ 0 }, { -i }, { { 1 } })
      systems[i]:setFExtPtr { -g }
      links[i] = { ns.NewtonImpactNSL(i % 2), ns.LagrangianLinearTIR { { 1 } }, "floor " .. i, systems[i] }
    end
    local simu, inters = events.simulation { systems = systems, links = links, T = 1e-3, h = 1e-3 }
    simu:computeOneStep()
    for i = 1, n do
      if i % 2 == 0 then assert.near(g, inters["floor " .. i]:lambda(1)[1], 1e-12)
      else assert.near(i - g * 1e-3, systems[i]:velocity()[1], 1e-12) end
    end
  end)

  it("lists no slip of a freewheel that nothing drives, with its force 0 at its bound", function()
    for _, bounds in ipairs { { 0, math.huge }, { -math.huge, 0 } } do
      local shafts = ns.LagrangianLinearTIDS { q0 = { 0, 0 }, v0 = { 1, 1 }, mass = ns.eye(2) }
      local simu = events.simulation { systems = { shafts }, T = 1, h = 0.5, links = {
        { ns.RelayNSL(1, bounds[1], bounds[2]), ns.LagrangianLinearTIR { { -1, 1 } }, "freewheel", shafts } } }
      simu:run()
      assert.same({}, simu:events())
    end
  end)
end)
