-- A diode that holds a state at exactly 0 from the start, and lets go where its current ends: closed forms.
local ns = require "nslua"

-- x' = b(t) - lambda, 0 <= -x, 0 <= lambda: x stays at 0 until b < 0.
local function run(b, x0, h)
  local ds = ns.FirstOrderLinearDS { x0 = { x0 }, A = { { 0 } }, b = function(t, _, out) out[1] = b(t) end }
  local nsds = ns.NonSmoothDynamicalSystem(0, 2.5)
  nsds:insertDynamicalSystem(ds)
  local relation = ns.FirstOrderLinearTIR { C = { { -1 } }, B = { { -1 } } }
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation, "D"), ds)
  ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()):run()
  return ds:x()[1]
end

describe("A row that is held at exactly 0", function()
  it("leaves where its multiplier ends, whatever rounding leaves of the rate there", function()
    for k = 1, 12 do
      local size, w = 2.0 ^ (5 * k - 30), 0.65 + k / 40
      local x = run(function(t) return size * math.cos(w * t) end, 0, 2.5 / (3 + k))
      assert.near(math.sin(2.5 * w) - 1, x * w / size, 1e-9)
      local T = 1 + k / 10
      x = run(function(t) return size * (T - t * t) end, 0, 0.5)
      assert.near(T * (2.5 - math.sqrt(T)) - (2.5 ^ 3 - T ^ 1.5) / 3, x / size, 1e-9)
    end
  end)
end)
