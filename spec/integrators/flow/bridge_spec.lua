-- EventDriven: rows that reach their limits at the same time, with a rate of 0 there: the second derivative decides. A
-- bridge of four diodes, each beside a conductance g, between a source V sin w t and a capacitor C beside a resistor R:
-- x is the voltage of the capacitor. Both diodes of a pair stop at once, and then x' is the slope of the source.
local campaign = require "campaign"
local ns = require "nslua"
local random_numbers = require "random_numbers"

local pi, sin, exp = math.pi, math.sin, math.exp

-- lambda: the currents of three diodes, the reverse voltage of the fourth.
local function bridge(o, integrator, step)
  local g, C = o.g, o.C
  local function source(t) return o.V * sin(o.w * t) end
  local ds = ns.FirstOrderLinearDS({ 0 }, { { -(1 / o.R + 2 * g) / C } }, function(t, _, b) b[1] = g * source(t) / C end)
  local diodes = ns.FirstOrderLinearR {
    C = { { 1 }, { 1 }, { 0 }, { -2 * g } }, B = { { 1 / C, 1 / C, 0, 2 * g / C } },
    D = { { 0, 0, 0, -1 }, { 0, 0, 0, -1 }, { 0, 0, 0, 1 }, { 1, 1, -1, 4 * g } },
    e = function(t, _, e) e[1], e[3], e[4] = -source(t), source(t), 2 * g * source(t) end }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(4), diodes, "bridge"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, step), integrator), ds
end

-- The times at which a pair stops and the other one begins, and x at the end. A pair conducts with x = |V sin w t| until
-- its current C x' + (1 / R + g) x is 0; then x falls with the rate k = (1 / R + g) / C until the source reaches it.
local function exact(o)
  local k, times = (1 / o.R + o.g) / o.C, {}
  local stop = (pi - math.atan(o.w / k)) / o.w -- in each half period
  local half = pi / o.w
  for n = 0, math.huge do
    local t0 = n * half + stop
    if t0 > o.T then return times, o.V * math.abs(sin(o.w * o.T)) end
    times[#times + 1] = t0
    local x0 = o.V * sin(o.w * stop)
    local function above(t) return x0 * exp(-k * (t - t0)) - o.V * math.abs(sin(o.w * t)) end
    local lo, hi = (n + 1) * half, (n + 1) * half + stop
    for _ = 1, 60 do
      local middle = (lo + hi) / 2
      if above(middle) > 0 then lo = middle else hi = middle end
    end
    if hi > o.T then return times, x0 * exp(-k * (o.T - t0)) end
    times[#times + 1] = hi
  end
end

-- The second guard of a pair moves as the square of the time, so that the error of the states (1e-8 with RadauOSI) moves
-- its time by the root of that.
local function compare(o, integrator, step, tolerance)
  local simu, ds = bridge(o, integrator, step)
  local wanted, x = exact(o)
  simu:run()
  local events = simu:events()
  assert.equal(2 * #wanted, #events)
  for i, t in ipairs(wanted) do
    assert.near(t, events[2 * i - 1].t, tolerance / o.w)
    assert.near(t, events[2 * i].t, 0.02 / o.w)
  end
  assert.near(x, ds:x()[1], tolerance * o.V)
end

describe("EventDriven with rows that reach their limits at once #once", function()
  local o = { g = 1e-5, C = 1e-3, R = 100, V = 10, w = 100 * pi, T = 0.1 }

  for name, integrator in pairs { RungeKuttaOSI = ns.RungeKuttaOSI(), RadauOSI = ns.RadauOSI() } do
    it("goes on by the second derivatives, on every grid: " .. name, function()
      for _, step in ipairs { 1e-2, 1e-3 } do compare(o, integrator, step, 1e-6) end
    end)
  end

  it("finds the exact times of random bridges", function()
    local n, report = campaign(6, 0.01)
    math.randomseed(20261128)
    for _ = 1, n do
      local one = { g = 10 ^ random_numbers.uniform(-7, -4), C = 10 ^ random_numbers.uniform(-5, -2),
        R = 10 ^ random_numbers.uniform(1, 3), V = random_numbers.uniform(1, 300), w = random_numbers.uniform(10, 1000) }
      one.T = 2.3 * pi / one.w
      compare(one, ns.RungeKuttaOSI(), one.T / math.random(5, 50), 1e-6)
    end
    report("bridges", n)
  end)
end)

-- L i' = -R i - v with the reverse voltage v of a diode, beside which an ideal switch feeds the coil from a source V:
-- lambda = (voltage over the switch, current of the diode), y = (current of the switch, v). It opens at `off`.
describe("EventDriven with a switch that opens in a coil", function()
  it("goes on through the diode without a jump, though an impulse could end the current", function()
    local V, L, R, off = 10, 0.5, 2, 0.7
    local ds = ns.FirstOrderLinearTIDS({ 0 }, { { -R / L } }, { V / L })
    local relation = ns.FirstOrderLinearTIR { C = { { 1 }, { 0 } }, D = { { 0, -1 }, { -1, 0 } }, e = { 0, V },
      B = { { -1 / L, 0 } } }
    local law = ns.RelayNSL(2, { 0, 0 }, { 0, math.huge })
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "switch"), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    simu:addEvent { name = "off", at = off, action = function(simulation)
      local bounds = simulation:nsds():interaction "switch":nonSmoothLaw()
      bounds:setLb(1, -math.huge)
      bounds:setUb(1, math.huge)
    end }
    simu:run()
    local i0 = V / R * (1 - math.exp(-R / L * off))
    assert.near(i0 * math.exp(-R / L * (2 - off)), ds:x()[1], 1e-11)
  end)
end)
