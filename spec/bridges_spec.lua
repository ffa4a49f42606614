-- Bridges of diodes, of one and of three phases, before random loads: EventDriven beside backward Euler with small steps. While
-- ideal diodes block, their voltages are not unique; currents are not while more conduct than are needed. The motion is unique.
local campaign = require "campaign"
local ns = require "nslua"
local random_numbers = require "random_numbers"

local uniform = random_numbers.uniform

local loads = {
  plain = function(c, R) c:resistor("R1", "p", "0", R) end,
  R = function(c, R, L) c:resistor("R1", "p", "x", R):inductor("L0", "x", "0", 1e-3 * L) end,
  RC = function(c, R, _, C) c:resistor("R1", "p", "0", R):capacitor("C1", "p", "0", C) end,
  RL = function(c, R, L) c:resistor("R1", "p", "x", R):inductor("L1", "x", "0", L) end,
  LRC = function(c, R, L, C) c:inductor("L1", "p", "x", L):resistor("R1", "x", "0", R):capacitor("C1", "x", "0", C) end,
  RLRC = function(c, R, L, C)
    c:resistor("R2", "p", "y", R / 100):inductor("L1", "y", "x", L):resistor("R1", "x", "0", R):capacitor("C1", "x", "0", C)
  end,
}

local diodes = {
  ideal = {}, forward = { forward = 0.7 }, resistance = { resistance = 0.01 }, both = { forward = 0.7, resistance = 0.01 },
  leak = { forward = 0.7, resistance = 1e-3, conductance = 1e-6 }, leak_alone = { conductance = 1e-4 },
  lines = { resistance = 1e-5, conductance = 1e-5 },
}

-- A bridge between phases a, b (c), behind coils or not, and the load p-0.
local function bridge(phases, options, load, o)
  local c = ns.circuit()
  local source = o.coil and "e" or ""
  if phases == 1 then c:voltage("V1", source .. "a", "b", { amplitude = o.V, frequency = 50, phase = o.phase })
  else
    for k = 1, 3 do
      c:voltage("V" .. k, source .. ("abc"):sub(k, k), "n",
        { amplitude = o.V, frequency = 50, phase = o.phase - 2 * math.pi * (k - 1) / 3 })
    end
  end
  for k = 1, phases == 1 and 2 or 3 do
    local node = ("abc"):sub(k, k)
    if o.coil and (phases == 3 or k == 1) then c:inductor("N" .. k, "e" .. node, node, o.coil) end
    c:diode("U" .. k, node, "p", options):diode("D" .. k, "0", node, options)
  end
  load(c, o.R, o.L, o.C)
  return c
end

-- Compares the states of a circuit at the end of a run with those of backward Euler.
local function compare(c, what)
  local good, _, sol = pcall(c.run, c, { stop = 0.025, step = 1e-3 })
  assert.True(good, what .. ": " .. tostring(_))
  local function euler(h)
    local _, run = c:run { stop = 0.025, step = h, method = ns.TimeStepping, integrator = ns.EulerMoreauOSI(1) }
    return run.x[#run]
  end
  local coarse, fine, x = euler(4e-5), euler(2e-5), sol.x[#sol]
  for k = 1, #x do
    local size = 0
    for row = 1, #sol do size = math.max(size, math.abs(sol.x[row][k])) end
    -- backward Euler has order 1: its error is about the change by the last halving, and more before a short pulse
    assert.near(fine[k], x[k], 3 * math.abs(fine[k] - coarse[k]) + 0.02 * size, what)
  end
end

describe("bridges of diodes #once", function()
  it("go on where voltages or currents of diodes are not unique", function()
    local cases = {}
    for _, load in ipairs(require "sorted_names"(loads)) do
      for _, kind in ipairs(require "sorted_names"(diodes)) do
        cases[#cases + 1] = { 1, load, kind }
        cases[#cases + 1] = { 3, load, kind }
      end
    end
    local n, report = campaign(16, 0.05)
    math.randomseed(20261128)
    for i = 1, n do
      local one = cases[(i * 13 - 1) % #cases + 1]
      local o = { V = 10 ^ uniform(0.5, 2.5), phase = uniform(-3, 3), R = 10 ^ uniform(0.5, 2), L = 10 ^ uniform(-3, -1),
        C = 10 ^ uniform(-4.5, -3), coil = math.random() < 0.5 and 10 ^ uniform(-4, -2) or nil }
      local what = ("%d %s %s V=%g phase=%g R=%g L=%g C=%g coil=%s"):format(one[1], one[2], one[3], o.V, o.phase, o.R, o.L, o.C,
        o.coil)
      local c = bridge(one[1], diodes[one[3]], loads[one[2]], o)
      compare(c, what)
    end
    report("bridges", n)
  end)

  it("start at an empty capacitor, and go on with leaks, small resistances and coils in the lines", function()
    local o = { V = 100, phase = 0.3, R = 20, L = 0.05, C = 1e-3 }
    for _, one in ipairs { { "RC", { conductance = 1e-3 } }, { "RC", { conductance = 1e-6, forward = 0.7 } },
      { "RC", { conductance = 1e-5, resistance = 1e-5 } }, { "plain", { resistance = 1e-3 }, 1e-3 },
      { "RL", { resistance = 1e-3, forward = 0.7 }, 1e-3 }, { "RL", { conductance = 1e-4, resistance = 1e-3 }, 1e-3 } } do
      o.coil = one[3]
      local c = bridge(3, one[2], loads[one[1]], o)
      if one[2].conductance then c:resistor("R9", "n", "0", 1e6) end
      compare(c, one[1])
    end
  end)
end)
