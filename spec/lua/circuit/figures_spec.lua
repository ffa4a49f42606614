-- Harmonics, efficiency and pictures of circuits.
local message = require "expect".message_of
local ns = require "nslua"

local pi = math.pi

-- A source of the wave before a coil with a resistor.
local function series(wave)
  return ns.circuit():voltage("V1", "a", "0", wave):inductor("L1", "a", "x", 1e-3):resistor("R1", "x", "0", 10)
end

describe("nslua.circuit.figures", function()
  it("finds the harmonics of waves, with their jumps, on grids of any steps", function()
    local c = ns.circuit():voltage("V1", "p", "0", 10):switch("S1", "p", "a", { period = 0.02, duty = 0.5 })
      :switch("S2", "a", "0", { period = 0.02, duty = 0.5, delay = 0.01 }):resistor("R1", "a", "0", 10)
      :inductor("L1", "a", "x", 1):resistor("R2", "x", "0", 10)
    c:run { stop = 0.1, step = 0.003 }
    local h = c:harmonics("v.a", { frequency = 50, count = 7, periods = 2 }) -- a square wave between 0 and 10
    assert.near(5, h.mean, 1e-9)
    assert.near(10 / math.sqrt(2), h.rms, 1e-9)
    for k = 1, 7 do assert.near(k % 2 == 1 and 20 / pi / k or 0, h.amplitude[k], 1e-9) end
    assert.near(math.sqrt(pi * pi / 8 - 1), h.thd, 1e-9)
    assert.near(0, h.phase[1], 1e-9)
  end)

  it("finds a sine alone in a sine, with its phase", function()
    local c = series { amplitude = 3, frequency = 50, phase = 0.4, offset = 1 }
    c:run { stop = 0.1, step = 1e-4 }
    local h = c:harmonics("v.a", { frequency = 50 })
    assert.near(3, h.amplitude[1], 1e-3)
    assert.near(0.4, h.phase[1], 1e-6)
    assert.near(1, h.mean, 1e-6)
    assert.is_true(h.thd < 2e-3)
  end)

  it("tells the efficiency and the mean powers", function()
    local c = ns.circuit():voltage("V1", "a", "0", 10):resistor("R1", "a", "b", 1):capacitor("C1", "b", "0", 1e-3, { initial = 9 })
      :resistor("R2", "b", "0", 9)
    c:run { stop = 0.1, step = 1e-3 }
    local efficiency, powers = c:efficiency("V1", { "R2" }, { span = 0.05 })
    assert.near(0.9, efficiency, 1e-9)
    assert.near(9, powers.R2, 1e-9)
    assert.near(-10, powers.V1, 1e-9)
    assert.near(0.9, c:efficiency({ "V1" }, "R2"), 1e-9)
  end)

  it("tells the losses of switching by the energies of a data sheet", function()
    local T, duty = 1e-4, 0.3
    local c = ns.circuit():voltage("V1", "a", "0", 10):igbt("S1", "a", "x", { period = T, duty = duty })
      :diode("D1", "0", "x"):current("I1", "x", "0", 2):capacitor("C1", "x", "y", 1e-9):resistor("R1", "y", "0", 1e9)
    c:run { stop = 20.5 * T, step = T }
    local lost = c:switching_losses("S1", { on = 1e-3, off = 2e-3, voltage = 100, current = 4, span = 10 * T })
    assert.equal(20, lost.count) -- 10 V and 2 A: 1/20 of the energies
    assert.near(10 * 1e-3 / 20, lost.on, 1e-8)
    assert.near(10 * 2e-3 / 20, lost.off, 1e-8)
    assert.near(3e-3 / 20 / T, lost.power, 1e-4)
    assert.near(0, lost.conduction, 1e-6)
  end)

  it("draws columns by their kinds on one axis of time", function()
    local c = series(1)
    local columns = c:run { stop = 1e-3, step = 1e-4 }
    local fig = c:plot({ "v.x", "i.L1", "v.a" }, { title = "run" })
    assert.equal("figure with 2 panels", tostring(fig))
    assert.equal("figure with 1 panel", tostring(series(1):plot({ "p.R1" }, { columns = columns })))
  end)

  it("tells what is wrong", function()
    local c = series(1)
    assert.equal("plot: expected columns: call run first", message(c, "plot", { "v.x" }))
    c:run { stop = 1e-3, step = 1e-4 }
    assert.equal("plot: expected the name of a column (t, i.V1, v.a, v.x, i.L1, i.R1, p.V1, p.L1, p.R1), got 'v.y'",
      message(c, "plot", { "v.y" }))
    assert.equal("plot: expected a list of names of columns, got nil", message(c, "plot"))
    assert.equal("plot: columns: expected what run gave, got 1", message(c, "plot", { "v.x" }, { columns = 1 }))
    assert.equal("harmonics: the run is shorter than 0.02", message(c, "harmonics", "v.x", { frequency = 50 }))
    assert.equal("harmonics: frequency: expected a number, got nil", message(c, "harmonics", "v.x"))
    assert.equal("harmonics: count: expected an integer of 1 or more, got 0",
      message(c, "harmonics", "v.x", { frequency = 1e4, count = 0 }))
    assert.equal("switching_losses: on: expected a number, got nil", message(c, "switching_losses", "R1", {}))
    assert.matches("^switching_losses: expected the name of a column %(.*%), got 'i.S9'$",
      message(c, "switching_losses", "S9", { on = 1, off = 1, voltage = 1, current = 1 }))
    assert.equal("efficiency: loads: expected names of parts, got nil", message(c, "efficiency", "V1"))
    assert.matches("^efficiency: expected the name of a column %(.*%), got 'p.R9'$", message(c, "efficiency", "V1", "R9"))
  end)
end)
