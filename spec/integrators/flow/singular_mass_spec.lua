-- Event-driven runs of first-order models with singular M: algebraic states, whose equations switch.
local ns = require "nslua"

local sin = math.sin

-- A run of o.ds with o.law and o.relation; the states, and the events.
local function run(o)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  if o.M then o.ds:setM(o.M) end
  nsds:insertDynamicalSystem(o.ds)
  nsds:link(ns.Interaction(o.law, o.relation, "switches"), o.ds)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h or o.T), o.osi)
  simu:run()
  return o.ds:x(), simu:events()
end

local function check_events(expected, events, tolerance)
  assert.equal(#expected, #events)
  for i, e in ipairs(events) do
    assert.equal(expected[i].kind, e.kind)
    assert.equal(expected[i].component, e.component)
    assert.near(expected[i].t, e.t, tolerance)
  end
end

-- A system whose rates are a function rate(t, x) that returns a list.
local function driven(x0, rate)
  return ns.FirstOrderNonLinearDS(x0, function(t, x, _, f)
    for i, v in ipairs(rate(t, x)) do f[i] = v end
  end)
end

for name, osi in pairs { RungeKuttaOSI = ns.RungeKuttaOSI, RadauOSI = ns.RadauOSI } do
  describe(name .. " in EventDriven, singular M,", function()
    -- x1' = -x2 + x3 / 2, x3' = -4 x1 - 0.3 x3, 0 <= x2 _|_ 0.7 x2 - x1 >= 0; at h = 4, 0.5, 0.1.
    it("opens a diode in an algebraic equation, wherever rounding puts the event", function()
      for k = 0, 6 do
        local d = k * 1.37e-5
        local times, last = {}, nil
        for i, h in ipairs { 4, 0.5, 0.1 } do
          local x, events = run { ds = ns.FirstOrderLinearTIDS({ 1 + (k % 3) * d, 0, 0.3 + d },
            { { 0, -1, 0.5 }, { 1, -0.7, 0 }, { -4, 0, -0.3 } }), M = { { 1, 0, 0 }, { 0, 0, 0 }, { 0, 0, 1 } },
            law = ns.ComplementarityConditionNSL(1), T = 4, h = h, osi = osi(1e-10),
            relation = ns.FirstOrderLinearTIR { C = { { 0, 1, 0 } }, B = { { 0 }, { 1 }, { 0 } } } }
          check_events({ { kind = "close", component = 1, t = times[1] or 0.9729 },
            { kind = "open", component = 1, t = times[2] or 3.2069 } }, events, i == 1 and 1e-3 or 1e-9)
          times = { events[1].t, events[2].t }
          if last then assert.near(0, (x - last):norm(), 1e-9) end
          last = x
        end
      end
    end)

    -- x1' = 2 sin 3 t - lambda - x2 / 2, 0 = x1 - x2 - 0.4 lambda, y = x2: x2 = 0 and lambda = 2.5 x1 in sliding.
    it("slides with a relay on an algebraic state", function()
      local function relay(o)
        o.law, o.T, o.h, o.osi = ns.RelayNSL(1), 5, 0.5, osi(1e-12)
        return run(o)
      end
      local x, events = relay {
        ds = driven({ 1, 0 }, function(t, z) return { 2 * sin(3 * t) - z[2] / 2, z[1] - z[2] } end),
        M = { { 1, 0 }, { 0, 0 } },
        relation = ns.FirstOrderLinearTIR { C = { { 0, 1 } }, B = { { -1 }, { -0.4 } } } }
      local reference, expected = run {
        ds = driven({ 1 }, function(t, z) return { 2 * sin(3 * t) - z[1] / 2 } end),
        law = ns.RelayNSL(1), T = 5, osi = ns.RungeKuttaOSI(1e-12),
        relation = ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { -0.8 } }, D = { { -0.4 } } } }
      assert.near(reference[1], x[1], 1e-9)
      check_events(expected, events, 1e-9)
    end)

    -- A source with a resistor, an inductor and a diode that charges a capacitor; the voltages of two nodes are algebraic.
    it("has the motion of a rectifier from which the voltages of the nodes are eliminated", function()
      local x, events = run { T = 12, osi = osi(1e-12), h = 2, law = ns.ComplementarityConditionNSL(1),
        ds = driven({ 0, 0, 0, 0 }, function(t, z) -- i, v of the capacitor, v1, v2
          return { z[3] - z[4], -z[2] / 2, 10 * sin(t) - z[3] - z[1], z[1] - z[4] / 5 }
        end), M = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
        relation = ns.FirstOrderLinearTIR { C = { { 0, 1, 0, -1 } }, B = { { 0 }, { 1 }, { 0 }, { -1 } } } }
      local reference, expected = run { T = 12, osi = ns.RungeKuttaOSI(1e-12), law = ns.ComplementarityConditionNSL(1),
        ds = driven({ 0, 0 }, function(t, z) return { 10 * sin(t) - 6 * z[1], -z[2] / 2 } end),
        relation = ns.FirstOrderLinearTIR { C = { { -5, 1 } }, B = { { 5 }, { 1 } }, D = { { 5 } } } }
      assert.is_true(#events >= 3)
      check_events(expected, events, 1e-9)
      for i = 1, 2 do assert.near(reference[i], x[i], 1e-9) end
      assert.near(10 * sin(12) - x[1], x[3], 1e-9)
    end)

    -- A bridge of four diodes with a capacitor and a resistor; leaks of 0.01 from both nodes of the source to the ground.
    it("has the motion of a bridge from which the voltages of the nodes are eliminated", function()
      local G = 0.01
      local x, events = run { T = 7, osi = osi(1e-12), h = 0.7, law = ns.ComplementarityConditionNSL(4),
        ds = driven({ 0.5, 0, 0 }, function(t, z) -- v of the capacitor, voltages of the nodes
          local current = (10 * sin(t) - z[2] + z[3]) / 2
          return { -z[1] / 3, current - G * z[2], -current - G * z[3] }
        end), M = { { 1, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } },
        relation = ns.FirstOrderLinearTIR { C = { { 1, -1, 0 }, { 1, 0, -1 }, { 0, 1, 0 }, { 0, 0, 1 } },
          B = { { 1, 1, 0, 0 }, { -1, 0, 1, 0 }, { 0, -1, 0, 1 } } } }
      -- The voltages are W (10 sin t / 2 (1, -1) + (lambda3 - lambda1, lambda4 - lambda2)) with W of the two resistors.
      local a, b = 0.5 + G, 0.5
      local det = a * a - b * b
      local p, q = a / det, b / det
      local node1, node2 = { -p, -q, p, q }, { -q, -p, q, p }
      local function less(v)
        local w = {}
        for i, value in ipairs(v) do w[i] = -value end
        return w
      end
      local s = 5 * (p - q)
      local reference, expected = run { T = 7, osi = ns.RungeKuttaOSI(1e-12), law = ns.ComplementarityConditionNSL(4),
        ds = driven({ 0.5, 0 }, function(_, z) return { -z[1] / 3, 1 } end),
        relation = ns.FirstOrderNonLinearR {
          h = function(_, z, lambda, _, y)
            local v = { s * sin(z[2]), -s * sin(z[2]) }
            for i = 1, 4 do v[1], v[2] = v[1] + node1[i] * lambda[i], v[2] + node2[i] * lambda[i] end
            y[1], y[2], y[3], y[4] = z[1] - v[1], z[1] - v[2], v[1], v[2]
          end,
          Jachlambda = function(_, _, _, _, D)
            local rows = { less(node1), less(node2), node1, node2 }
            for i = 1, 4 do
              for j = 1, 4 do D[i][j] = rows[i][j] end
            end
          end,
          g = function(_, _, lambda, _, r) r[1], r[2] = lambda[1] + lambda[2], 0 end } }
      assert.is_true(#events >= 3)
      check_events(expected, events, 1e-9)
      assert.near(reference[1], x[1], 1e-9)
    end)
  end)
end
