-- Machines of the Modelica Standard Library with laws whose bounds change at events: triac() and coupled_clutches() return the
-- simulation and a function that returns the compared columns at its present state.
local ns = require "nslua"

local machines = {}

-- A source of 5 sin(4 pi t) V, 20 ohm, then in parallel a snubber (100 ohm, 0.005 F) and two thyristors, forward and
-- backward. A thyristor that is off leads 1e-5 u; lambda is what it leads beyond that, y how much its voltage is below
-- 0.8 V + 1e-5 ohm * lambda. It is blocked while its upper bound is 0. Both gates are on in [0.1 + 0.25 n, 0.225 + 0.25 n).
function machines.triac()
  local leak, knee, R = 1e-5, 0.8, 1e-5 / (1 - 1e-10)
  local capacitor = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } })
  local function node(t, vc, lambda)
    return (5 * math.sin(4 * math.pi * t) / 20 + vc / 100 - lambda[1] + lambda[2]) / (1 / 20 + 1 / 100 + 2 * leak)
  end
  local circuit = ns.FirstOrderNonLinearR {
    h = function(t, x, lambda, _, y)
      local u = node(t, x[1], lambda)
      y[1], y[2] = knee + R * lambda[1] - u, knee + R * lambda[2] + u
    end,
    g = function(t, x, lambda, _, r) r[1] = (node(t, x[1], lambda) - x[1]) / (100 * 0.005) end }
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(capacitor)
  local law = ns.RelayNSL(2, 0, 0)
  local triac = ns.Interaction(law, circuit, "triac")
  nsds:link(triac, capacitor)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.008), ns.RungeKuttaOSI(1e-10))
  local gate
  local function block()
    for i = 1, 2 do
      if gate.on == 0 and triac:lambda(0)[i] <= 0 then law:ub()[i] = 0 end
    end
  end
  gate = simu:addEvent { name = "gate", state = { on = 0 }, g = function(t) return t - 3 end }
  for n = 0, 7 do
    simu:addEvent { at = 0.1 + 0.25 * n, action = function() gate.on = 1 law:setUb(math.huge) end }
    simu:addEvent { at = 0.225 + 0.25 * n, action = function() gate.on = 0 block() end }
  end
  simu:on("triac", "open", block)
  return simu, function() return { vc = capacitor:x()[1] } end
end

-- Four discs of inertia 1 in a row, a torque of 10 sin(10 pi t) on the first, and dry friction between neighbours, with
-- static friction 1.1 times the kinetic one. Capacities: 10 cos(0.4 pi t) until t = 1.25, then 0; 10 from t = 0.4 on;
-- 10 from t = 0.9 on.
function machines.coupled_clutches()
  local discs = ns.FirstOrderNonLinearDS({ 0, 0, 0, 0, 10, 0, 0, 0 }, function(t, x, _, f)
    for i = 1, 4 do f[i] = x[4 + i] end
    f[5] = 10 * math.sin(10 * math.pi * t)
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
  nsds:insertDynamicalSystem(discs)
  local function constant() return 10 end
  local capacity = { function(t) return 10 * math.cos(0.4 * math.pi * t) end, constant, constant }
  local laws = {}
  for k = 1, 3 do
    laws[k] = ns.RelayNSL(1, k == 1 and -1 or 0, k == 1 and 1 or 0)
    nsds:link(ns.Interaction(laws[k], ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[5 + k] - x[4 + k] end,
      g = function(t, _, lambda, _, r)
        r[5 + k] = capacity[k](t) * lambda[1]
        r[4 + k] = -r[5 + k]
      end }, "clutch" .. k), discs)
  end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.006), ns.RungeKuttaOSI(1e-10))
  local function set(k, bound) return function() laws[k]:setLb(-bound) laws[k]:setUb(bound) end end
  for k = 1, 3 do
    simu:on("clutch" .. k, "slide", set(k, 1.1))
    simu:on("clutch" .. k, "cross", set(k, 1.1))
    simu:on("clutch" .. k, "leave", set(k, 1))
  end
  simu:addEvent { name = "open 1", at = 1.25, action = set(1, 0) }
  simu:addEvent { name = "close 2", at = 0.4, action = set(2, 1.1) }
  simu:addEvent { name = "close 3", at = 0.9, action = set(3, 1.1) }
  return simu, function()
    local x, row = discs:x(), {}
    row.phi1, row.w1 = x[1], x[5]
    for k = 1, 3 do row["phirel" .. k], row["wrel" .. k] = x[k + 1] - x[k], x[5 + k] - x[4 + k] end
    return row
  end
end

return machines
