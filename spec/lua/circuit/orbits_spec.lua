-- Periodic motions of circuits whose gates have clocks and whose currents end: orbits and monodromies against runs.
local ns = require "nslua"

local cases = {
  buck = { T = 1e-4, x = { 0, 5 }, make = function(x) -- the coil runs empty in each period
    return ns.circuit():voltage("V1", "in", "0", 10):switch("S1", "in", "x", { period = 1e-4, duty = 0.3 })
      :diode("D1", "0", "x", { forward = 0.5 }):inductor("L1", "x", "out", 1e-4, { initial = x[1] })
      :capacitor("C1", "out", "0", 1e-5, { initial = x[2] }):resistor("R1", "out", "0", 40)
  end },
  rectifier = { T = 0.02, x = { 0, 1 }, make = function(x)
    return ns.circuit():voltage("V1", "a", "0", { amplitude = 100, frequency = 50 })
      :thyristor("T1", "a", "b", { period = 0.02, delay = 0.003, duty = 0.05 }):resistor("R1", "b", "x", 10)
      :inductor("L1", "x", "y", 0.02, { initial = x[1] }):voltage("E1", "y", "0", 30)
      :capacitor("C1", "x", "y", 1e-5, { initial = x[2] }):resistor("R2", "x", "y", 100)
  end },
  late = { T = 0.02, x = { 0, 1 }, make = function(x) -- conducts where a period begins, without its gate
    return ns.circuit():voltage("V1", "a", "0", { amplitude = 100, frequency = 50, phase = math.pi })
      :thyristor("T1", "a", "b", { period = 0.02, delay = 0.013, duty = 0.05 }):resistor("R1", "b", "x", 2)
      :inductor("L1", "x", "y", 0.02, { initial = x[1] })
      :capacitor("C1", "y", "0", 1e-2, { initial = x[2] }):resistor("R2", "y", "0", 10)
  end },
}

-- The states after a number of periods.
local function after(case, x, periods)
  local _, sol = case.make(x):run { stop = periods * case.T, step = case.T / 20 }
  return sol.x[#sol]
end

describe("periodic motions of circuits", function()
  it("have the monodromy of the map of a period #once", function()
    for name, case in pairs { buck = cases.buck, rectifier = cases.rectifier } do
      local orbit = ns.dynamics.periodic { simulation = case.make(case.x):simulation { stop = case.T, step = case.T / 20 },
        period = case.T, guess = case.x }
      for i, value in ipairs(after(case, orbit.x0, 1):totable()) do assert.near(orbit.x0[i], value, 1e-7, name) end
      for j = 1, 2 do
        local high, low, h = orbit.x0:copy(), orbit.x0:copy(), 1e-3
        high[j], low[j] = high[j] + h, math.max(low[j] - h, j == 1 and name == "buck" and 0 or -math.huge)
        local column = (after(case, high, 1) - after(case, low, 1)) * (1 / (high[j] - low[j]))
        for i = 1, 2 do assert.near(column[i], orbit.monodromy[i][j], 1e-4 * column:norm() + 1e-10, name) end
      end
    end
  end)

  it("begin with a thyristor that conducts where it does #once", function()
    local case = cases.late
    local orbit = ns.dynamics.periodic { simulation = case.make(case.x):simulation { stop = case.T, step = case.T / 20 },
      period = case.T, guess = case.x }
    local settled = after(case, case.x, 40)
    assert.is_true(settled[1] > 1)
    for i = 1, 2 do assert.near(settled[i], orbit.x0[i], 1e-5 * settled:norm()) end
  end)
end)
