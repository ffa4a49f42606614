local values = require "nslua.network.values"

local function message(f, ...)
  local good, text = pcall(f, ...)
  assert.is_false(good)
  return (text:gsub("^[^\n]-:%d+: ", "", 1))
end

describe("nslua.network.values", function()
  it("reads sines with their derivatives", function()
    local f, slope = values.read({ amplitude = 3, frequency = 0.5, phase = 0.4, offset = 1, delay = 0.2 }, "V1")
    for _, t in ipairs { 0, 0.3, 1.7 } do
      assert.near(1 + 3 * math.sin(math.pi * (t - 0.2) + 0.4), f(t), 1e-15)
      assert.near((f(t + 1e-6) - f(t - 1e-6)) / 2e-6, slope(t), 1e-8)
    end
  end)

  it("reads pulses and lines with their corners", function()
    local f, slope, corners = values.read({ low = 1, high = 5, rise = 0.1, fall = 0.2, width = 0.3, period = 2,
      delay = 0.5 }, "V1")
    assert.is_nil(slope)
    for t, wanted in pairs { [0] = 1, [0.5] = 1, [0.55] = 3, [0.7] = 5, [1] = 3, [1.2] = 1, [2.55] = 3 } do
      assert.near(wanted, f(t), 1e-12)
    end
    for i, t in ipairs { 0.5, 0.6, 0.9, 1.1, 2.5 } do assert.near(t, corners(0, 3)[i], 1e-15) end
    local g = values.read({ times = { 0, 1, 3 }, values = { 2, 4, 0 } }, "V1")
    for t, wanted in pairs { [-1] = 2, [0.5] = 3, [1] = 4, [2] = 2, [9] = 0 } do assert.equal(wanted, g(t)) end
  end)

  it("has clocks", function()
    local gate = values.gate({ period = 0.3, duty = 0.25, delay = 0.1 }, "S1")
    assert.same({ 0.3, 0.1, 0.1 + 0.25 * 0.3 }, { gate.period, gate.offsets.on, gate.offsets.off })
    for k = 0, 40 do
      assert.is_true(gate.on(0.1 + k * 0.3 + 1e-9) and not gate.on(0.1 + k * 0.3 + 0.075 + 1e-9))
    end
    assert.is_false(gate.on(0))
    assert.is_true(values.gate(true, "S1").on(0))
    assert.is_false(values.gate(function() end, "S1").on(0))
    local jump = values.gate(function(t) return t > 1 end, "S1")
    assert.same({ -1, 1, true }, { jump.g(1), jump.g(2), jump.is_on_after(1) })
  end)

  it("tells what is wrong", function()
    assert.equal("V1: value: expected a number, a function of time or a table with frequency, period or times, got 'x'",
      message(values.read, "x", "V1"))
    assert.equal("V1: unknown option 'freq' (known: amplitude, frequency, phase, offset, delay)",
      message(values.read, { frequency = 1, freq = 2 }, "V1"))
    assert.equal("V1: frequency: expected a positive number, got 0", message(values.read,
      { amplitude = 1, frequency = 0 }, "V1"))
    assert.equal("V1: rise: expected a number, got nil", message(values.read, { high = 1, period = 1 }, "V1"))
    assert.equal("V1: expected rise + width + fall of at most the period, 1, got 1.5", message(values.read,
      { high = 1, rise = 0.5, fall = 0.5, width = 0.5, period = 1 }, "V1"))
    assert.equal("V1: value: expected a finite number, got inf", message(values.read, math.huge, "V1"))
    assert.equal("V1: times must increase: times[1] = 0, times[2] = 0", message(values.read,
      { times = { 0, 0 }, values = { 1, 2 } }, "V1"))
    assert.equal("S1: gate: expected true, false, a function of time or a table with period, got nil",
      message(values.gate, nil, "S1"))
    assert.equal("S1: gate: t=2: expected true or false, got 0",
      message(values.gate(function() return 0 end, "S1").on, 2))
    assert.equal("S1: duty: expected a number between 0 and 1, got 1", message(values.gate, { period = 1, duty = 1 },
      "S1"))
  end)
end)
