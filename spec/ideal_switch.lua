-- A DC-DC cell with a sawtooth source, whose switch and diode are variable resistors between R1 and R2: five equations and four
-- complementarity pairs. Every step has one solution; where the source jumps, linearised problems of Newton's method have none.
local ns = require "nslua"

-- The numbers of the cell, of its steps in a period, and of its periods, where a caller gives no others.
local usual = { R = 1, R1 = 1e-3, R2 = 1000, L = 200e-6, T = 20e-6, Ep = 7.5, Em = -2.5, gain = 100, V = 20, theta = 0.5,
  steps = 200, periods = 10 }

return function(given)
  local o = setmetatable(given or {}, { __index = usual })
  local R, R1, R2, L, gain, V = o.R, o.R1, o.R2, o.L, o.gain, o.V
  local rise, T, Ep = o.Ep - o.Em, o.T, o.Ep
  local function source(t) return Ep - rise / T * t + rise * math.floor(t / T) end
  local inductor = ns.FirstOrderLinearTIDS { 0 }
  local cell = ns.FirstOrderNonLinearR {
    h = function(t, x, l, _, y)
      y[1], y[2] = l[5] - source(t), x[1] - l[4] / R
      y[3], y[4], y[5] = l[3] - V + l[1] * (l[7] + R1), l[3] + l[2] * (l[9] + R1), x[1] - l[1] - l[2]
      y[6], y[7] = R2 - l[7] - R1, gain * (l[5] - l[4]) + l[6]
      y[8], y[9] = R2 - l[9] - R1, l[8] - l[3]
    end,
    g = function(_, _, l, _, r) r[1] = (l[3] - l[4]) / L end,
  }
  local nsds, h = ns.NonSmoothDynamicalSystem(0, o.periods * T), T / o.steps
  nsds:insertDynamicalSystem(inductor)
  nsds:link(ns.Interaction(ns.MixedComplementarityConditionNSL(4, 5), cell), inductor)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(o.theta), ns.MLCP()), source, o
end
