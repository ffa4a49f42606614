-- Entry into sliding, sliding, exit: (a) x' = t - s, (b) x' = 3/2 sin t - s, s in Sgn(x). The second state of (b) is the
-- integral of |x|.
local ns = require "nslua"

local function simulation(x0, force, T, h)
  local ds = ns.FirstOrderNonLinearDS({ x0, 0 }, function(t, _, _, f) f[1] = force(t) end)
  local relation = ns.FirstOrderNonLinearR {
    h = function(_, x, _, _, y) y[1] = x[1] end,
    g = function(_, x, lambda, _, r) r[1], r[2] = lambda[1], -lambda[1] * x[1] end,
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  local switch = ns.Interaction(ns.RelayNSL(1, -1, 1), relation, "switch")
  nsds:link(switch, ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()), ds, switch
end

local result = { b_times = {}, b_kinds = {} }
local a, ds, switch = simulation(-0.5, function(t) return t end, 3, 0.75)
a:computeOneStep()
result.a_s_0p75 = -switch:lambda_(0)[1]
a:nextStep()
a:run()
result.a_entry, result.a_exit, result.a_x_3 = a:events()[1].t, a:events()[2].t, ds:x()[1]

local b, other = simulation(0.3, function(t) return 1.5 * math.sin(t) end, 10, 1)
b:run()
local names = { slide = "entry", leave = "exit", cross = "cross" }
for i, event in ipairs(b:events()) do result.b_times[i], result.b_kinds[i] = event.t, names[event.kind] end
result.b_x_10, result.b_area = table.unpack(other:x():totable())
return result
