-- Starts that must jump through several rows at once: capacitors in loops with diodes. Charges are kept, voltages follow.
local ns = require "nslua"

local methods = { "RungeKuttaOSI", "RadauOSI", "FESDOSI" }

local function run(nsds, h, osi)
  local elements = osi == "FESDOSI"
  local class, integrator = elements and "TimeStepping" or "EventDriven", elements and ns.FESDOSI("radau_iia", 4, 8) or ns[osi]()
  ns[class](nsds, ns.TimeDiscretisation(0, h), integrator):run()
end

-- Capacitors C with voltages v0; diode k leads from capacitor diodes[k][1] to diodes[k][2]. The unit of charge is `unit`.
local function capacitors(o, osi, unit)
  local n, m, C, B = #o.v0, #o.diodes, {}, {}
  for i = 1, n do
    B[i] = {}
    for k = 1, m do B[i][k] = 0 end
  end
  for k, ends in ipairs(o.diodes) do
    C[k] = {}
    for i = 1, n do C[k][i] = 0 end
    C[k][ends[1]], C[k][ends[2]] = -1, 1
    B[ends[1]][k], B[ends[2]][k] = -1 / (unit * o.C[ends[1]]), 1 / (unit * o.C[ends[2]])
  end
  local A = {}
  for i = 1, n do A[i] = { 0, 0, 0 } end
  local ds = ns.FirstOrderLinearTIDS(o.v0, A)
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
  nsds:insertDynamicalSystem(ds)
  local D
  if o.R then
    D = {}
    for k = 1, m do
      D[k] = {}
      for j = 1, m do D[k][j] = j == k and o.R[k] / unit or 0 end
    end
  end
  local law = ns.ComplementarityConditionNSL(m)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR { C = C, B = B, D = D }, "diodes"), ds)
  run(nsds, 0.1, osi)
  return ds:x()
end

-- The bridge with the capacitances C of the oscillator and Cf of the filter, from v and vf; the state after a short time.
local function bridge(v, vf, osi)
  local L, C, R, Cf = 1e-2, 1e-6, 1000, 300e-9
  local oscillator = ns.FirstOrderLinearTIDS({ v, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local filter = ns.FirstOrderLinearTIDS({ vf }, { { -1 / (R * Cf) } })
  local relation = ns.FirstOrderLinearTIR {
    C = { { 0, 0, 1 }, { 0, 0, 0 }, { -1, 0, 1 }, { 1, 0, 0 } },
    D = { { 0, -1, 0, 0 }, { 1, 0, 1, -1 }, { 0, -1, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 }, { 1 / Cf, 0, 1 / Cf, 0 } },
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1e-9)
  nsds:insertDynamicalSystem(oscillator)
  nsds:insertDynamicalSystem(filter)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(4), relation), oscillator, filter)
  run(nsds, 1e-9, osi)
  return oscillator:x()[1], filter:x()[1]
end

for _, osi in ipairs(methods) do
  describe("A start that must jump, " .. osi .. ",", function()
    it("shares the charges of capacitors in chains and loops of diodes", function()
      for _, diodes in ipairs { { { 1, 2 }, { 2, 3 } }, { { 1, 2 }, { 2, 3 }, { 3, 1 } }, { { 1, 2 }, { 1, 2 }, { 2, 3 } } } do
        local v = capacitors({ v0 = { 5, 1, 0 }, C = { 1, 2, 3 }, diodes = diodes }, osi, 1)
        for i = 1, 3 do assert.near(7 / 6, v[i], 1e-14) end
      end
    end)

    it("has no impulse through a resistor", function()
      local model = { v0 = { 5, 1, 0 }, C = { 1, 2, 3 }, R = { 0, 0.1 }, diodes = { { 1, 2 }, { 2, 3 } } }
      local v, rest = capacitors(model, osi, 1), 7 / 6 * math.exp(-0.3 / 0.15)
      assert.near(7 / 6 + rest, v[1], 1e-9)
      assert.near(7 / 6 + rest, v[2], 1e-9)
      assert.near(7 / 6 - rest, v[3], 1e-9)
      local same = capacitors(model, osi, 2 ^ -20)
      for i = 1, 3 do assert.equal(v[i], same[i]) end
    end)

    it("charges the filter of a bridge at once, through two of its four diodes", function()
      for _, way in ipairs { 1, -1 } do
        local v, vf = bridge(10 * way, 0, osi)
        assert.near(way * 10 / 1.3, v, 1e-4)
        assert.near(10 / 1.3, vf, 1e-4)
        v, vf = bridge(3 * way, 5, osi)
        assert.near(3 * way, v, 1e-4)
        assert.near(5, vf, 1e-4)
        v, vf = bridge(way, -4, osi) -- both capacitors are empty when all diodes lead
        assert.equal(0, v)
        assert.near(0, vf, 1e-15)
      end
    end)
  end)
end
