-- A boost converter: a coil that a switch connects to ground or, through a diode, to a capacitor and a resistor. Its
-- periodic motion over the duty cycle, or over the current at which a controller opens the switch.
--
--   L i' = V - (1 - s) u + lambda,   C u' = (1 - s) i - u / R,   0 <= i _|_ lambda >= 0 (the diode)
--
-- --control duty: the switch is closed, s = 1, in the part d of each period around the times k T: where
-- cos(2 pi t / T) > cos(pi d). V = 5, L = 2e-5, C = 2e-5, R = 20, T = 2e-5. The run goes from event to event. Between
-- two duty cycles the current rests at 0 in each period (discontinuous conduction); the border is near
-- 2 L / (R T) = d (1 - d)^2.
--
-- --control current: the switch closes at the times k T and opens when i reaches the reference I. V = 10, L = 1e-3,
-- C = 1.2e-5, R = 20, T = 1e-4. s is then a state that jumps, and i stays above 0. At a period doubling the motion of
-- period T becomes unstable. Model: Deane, Chaos in a current-mode controlled boost DC-DC converter, IEEE Trans.
-- Circuits and Systems I 39, 1992.
--
-- Orbits are found by Newton's method from long runs, and followed by pseudo-arclength continuation.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Periodic motions of a boost converter. Without --plot nothing is drawn.",
  { "control", default = "duty", choices = { "duty", "current" }, help = "what opens the switch" },
  { "from", value = "NUMBER", help = "first duty cycle (0.1) or reference current (0.8)" },
  { "to", value = "NUMBER", help = "last one (0.7, or 2)" },
  pictures.option,
})

-- ---- a given duty cycle ----

local function duty_model()
  local V, L, C, R, T = 5, 2e-5, 2e-5, 20, 2e-5
  local function converter(d)
    local circuit = ns.FirstOrderLinearTIDS({ 0.3, 6 }, { { 0, -1 / L }, { 1 / C, -1 / (R * C) } }, { V / L, 0 })
    local switch = ns.FirstOrderNonLinearR {
      h = function(t, _, _, _, y) y[1] = math.cos(math.pi * d) - math.cos(2 * math.pi * t / T) end,
      g = function(_, x, lambda, _, r) r[1], r[2] = lambda[1] * x[2] / L, -lambda[1] * x[1] / C end,
    }
    local diode = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 / L }, { 0 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 200 * T)
    nsds:insertDynamicalSystem(circuit)
    nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), switch, "switch"), circuit)
    nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), diode, "diode"), circuit)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 8), ns.RungeKuttaOSI())
  end
  return { simulation = converter, guess = { 0.3, 6 }, period = T, transient = 100 * T }, { 0.1, 0.7 },
    { "$d$", "duty cycle" }
end

-- ---- a given peak of the current ----

local function current_model()
  local V, L, C, R, T = 10, 1e-3, 1.2e-5, 20, 1e-4
  local function circuit(_, x, _)
    local open = 1 - x[3]
    return { (V - open * x[2]) / L, (open * x[1] - x[2] / R) / C, 0 }
  end
  local clock = { name = "close", direction = 1, g = function(t) return math.sin(2 * math.pi * t / T) end,
    apply = function(_, x) return { x[1], x[2], 1 } end }
  local peak = { name = "open", direction = 1, g = function(_, x, I) return x[1] - I end,
    apply = function(_, x) return { x[1], x[2], 0 } end }
  return { rhs = circuit, events = { clock, peak }, args = { 0.8 }, guess = { 0.5, 12, 0 }, period = T, t0 = T / 2,
    transient = 100 * T }, { 0.8, 3 }, { "$I$ [A]", "reference of the current" }
end

local model, range, names = (opt.control == "duty" and duty_model or current_model)()
model.range = { tonumber(opt.from) or range[1], tonumber(opt.to) or range[2] }
local branch = ns.dynamics.continuation(model)
print(branch)
for _, found in ipairs(branch.bifurcations) do
  print(("\n%s at %.10f: i = %.9g, u = %.9g, multipliers %s and %s"):format(found.kind, found.p, found.x0[1],
    found.x0[2], found.multipliers[1], found.multipliers[2]))
  if found.before then print(("%s\n-> %s"):format(found.before, found.after or "?")) end
end

local doubled
for i, found in ipairs(branch.bifurcations) do
  if found.kind == "period doubling" and not doubled then
    doubled = branch:switch(i)
    print("\nof doubled period: " .. tostring(doubled))
  end
end

pictures.draw(opt.plot, {
  [opt.control] = function()
    local fig = branch:plot { state = 2, title = "Boost converter over the " .. names[2] }
    local axes = fig:gca()
    if doubled then axes:plot(doubled.p, doubled.x:column(2), { color = "C2", label = "doubled period" }):legend() end
    axes:xlabel(names[1]):ylabel "$u$ [V]"
    return fig
  end,
})
