-- Event-driven runs of first-order models: lambda that touches its bound in sliding, y that touches 0, and what is near to these.
local ns = require "nslua"

-- x' = f(t) - sign x.
local function simulation(o)
  local ds = ns.FirstOrderNonLinearDS({ o.x0 or 0 }, function(t, _, _, f) f[1] = o.f(t) end)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1 } } }, "relay"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h or o.T or 1), o.osi()), ds
end

local function check(o, kinds, times, tolerance, x)
  local simu, ds = simulation(o)
  local sol = simu:run()
  local got = simu:events()
  assert.equal(#kinds, #got)
  for i, e in ipairs(got) do
    assert.equal(kinds[i], e.kind)
    assert.near(times[i], e.t, tolerance)
  end
  assert.near(x or 0, ds:x()[1], tolerance)
  return sol
end

for name, osi in pairs { RungeKuttaOSI = ns.RungeKuttaOSI, RadauOSI = ns.RadauOSI } do
  describe(name .. " in EventDriven, first order,", function()
    it("goes on sliding where lambda touches its bound", function()
      for _, excess in ipairs { 0, 1e-13, 1e-15, -1e-14, -1e-9, -1e-6 } do
        check({ f = function(t) return 1 + excess - 4 * (t - 0.5) ^ 2 end, osi = osi }, {}, {}, 1e-15)
      end
      check({ f = function(t) return 1 - (t - 0.5) ^ 4 end, osi = osi }, {}, {}, 1e-15)
      check({ f = function(t) return 1 - 4 * (t - 1 / 3) ^ 2 end, osi = osi }, {}, {}, 1e-15)
    end)

    it("has no event where lambda touches its bound at a time of the grid", function()
      check({ f = function(t) return 1 - 4 * (t - 0.5) ^ 2 end, h = 0.25, osi = osi }, {}, {}, 1e-15)
      local sol = check({ f = function(t) return math.cos(t - 1) end, T = 20, h = 1, osi = osi }, {}, {}, 1e-15)
      assert.equal(21, #sol.t)
    end)

    it("leaves and returns where lambda passes its bound for a short time", function()
      for _, excess in ipairs { 1e-2, 1e-4, 1e-6, 1e-8 } do
        local half = math.sqrt(excess) / 2
        check({ f = function(t) return 1 + excess - 4 * (t - 0.5) ^ 2 end, osi = function() return osi(1e-11) end },
          { "leave", "slide" }, { 0.5 - half, 0.5 + 2 * half }, 1e-9 / math.sqrt(excess) * 1e-3)
      end
    end)

    it("leaves where lambda reaches its bound at the end of a step of the integrator", function()
      for _, longest in ipairs { 0.25, 0.01 } do
        local function make() return osi(1e-10, nil, longest) end
        check({ f = function(t) return t end, T = 2, osi = make }, { "leave" }, { 1 }, 1e-9, 0.5)
      end
    end)

    it("has no event where the current of a diode touches 0", function()
      local ds = ns.FirstOrderNonLinearDS({ 0 }, function(t, _, _, f) f[1] = 2 * math.sin(t) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(ds)
      local relation = ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1 } } }
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 20), osi(1e-11))
      simu:run()
      assert.equal(0, #simu:events())
      assert.near(2 * (1 - math.cos(20)), ds:x()[1], 1e-9)
    end)

    it("sees a force that lasts 1/100 of the run", function()
      local width = 0.002
      local function f(t) return 5 * math.exp(-((t - 0.7) / width) ^ 2) end
      local simu = simulation { f = f, osi = osi }
      simu:run()
      local kinds = {}
      for i, e in ipairs(simu:events()) do kinds[i] = e.kind end
      assert.same({ "leave", "slide" }, kinds)
      assert.near(0.7 - width * math.sqrt(math.log(5)), simu:events()[1].t, 1e-7)
    end)

    it("locates the switches of a relay with hysteresis on any grid", function()
      for _, unit in ipairs { 1, 2 ^ -40 } do -- a heater that is on up to 20, off down to 18: y = x - 19 - lambda jumps at each
        local room = ns.FirstOrderLinearTIDS({ 15 * unit }, { { -0.5 } }, { 10 * unit })
        local trigger = ns.FirstOrderLinearTIR({ { 1 } }, { { 5 * unit } })
        trigger:setDPtr { { -unit } }
        trigger:setePtr { -19 * unit }
        local nsds = ns.NonSmoothDynamicalSystem(0, 3)
        nsds:insertDynamicalSystem(room)
        nsds:link(ns.Interaction(ns.RelayNSL(1), trigger), room)
        local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 3), osi(1e-11))
        simu:run()
        local times, t = {}, 2 * math.log(15 / 10)
        for i, e in ipairs(simu:events()) do
          times[i] = e.t
          assert.near(t, e.t, 1e-9)
          t = t + 2 * math.log(i % 2 == 1 and 10 / 8 or 12 / 10)
        end
        assert.equal(6, #times)
      end
    end)

    it("has no event where y touches 0, and two where it passes 0 by 1e-6", function()
      local function f(t) return 1 + 20 * (t - 1 / 3) end -- x' = 20 (t - 1/3) from above
      check({ f = f, x0 = 10 / 9, osi = osi }, {}, {}, 1e-10, 40 / 9)
      check({ f = f, x0 = 10 / 9 + 1e-6, osi = osi }, {}, {}, 1e-10, 40 / 9 + 1e-6)
      check({ f = f, x0 = 10 / 9 - 1e-6, osi = osi }, { "slide", "leave" }, { 1 / 3 - math.sqrt(1e-7), 1 / 3 }, 1e-9, 40 / 9)
    end)
  end)
end
