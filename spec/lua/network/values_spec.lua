local values = require "nslua.network.values"

local function message(f, ...)
  local good, text = pcall(f, ...)
  assert.is_false(good)
  return (text:gsub("^[^\n]-:%d+: ", "", 1))
end

describe("nslua.network.values", function()
  it("reads sines with their derivatives", function()
    local f = values.read({ amplitude = 3, frequency = 0.5, phase = 0.4, offset = 1, delay = 0.2 }, "V1").f
    for _, t in ipairs { 0, 0.3, 1.7 } do
      assert.near(1 + 3 * math.sin(math.pi * (t - 0.2) + 0.4), f(t), 1e-15)
    end
  end)

  it("knows derivatives and integrals of each kind between its corners", function()
    local kinds = { 3, { amplitude = 3, frequency = 0.5, offset = 1, delay = 0.2 },
      { high = 5, rise = 0.1, fall = 0.2, width = 0.3, period = 2, delay = 0.5 }, { ramp = 4, duration = 2, time = 0.5 },
      { times = { 0, 1, 3 }, values = { 2, 4, 0 } }, function(t) return t ^ 3 end }
    for _, value in ipairs(kinds) do
      local source = values.read(value, "V1", nil, require "nslua")
      local function at(f, t) return type(f) == "number" and f or f(t) end
      for _, t in ipairs { -0.3, 0.05, 0.55, 0.85, 1.7, 3.2 } do
        for key, of in pairs { slope = source.f, second = source.slope } do
          local d = (at(of, t + 1e-4) - at(of, t - 1e-4)) / 2e-4
          if source[key] then assert.near(d, source[key](t), 1e-5, source.is) end
        end
        local back = source.integral and (source.integral(t + 1e-4) - source.integral(t - 1e-4)) / 2e-4
        assert.near(at(source.f, t), back or at(source.f, t), 1e-6)
      end
    end
  end)

  it("reads steps, with their jump, and ramps", function()
    local step = values.read({ step = 3, time = 2, offset = 1 }, "V1")
    assert.same({ time = 2, before = 1, after = 4 }, step.jump)
    assert.same({ 1, 4, 4 }, { step.f(1.9), step.f(2), step.f(5) })
    assert.near(2, step.corners(0, 5)[1], 0)
    assert.is_nil(step.slope)
    local ramp = values.read({ ramp = 3, duration = 2, time = 1, offset = 1 }, "V1")
    assert.same({ 1, 2.5, 4 }, { ramp.f(0), ramp.f(2), ramp.f(9) })
  end)

  it("reads pulses and lines with their corners", function()
    local pulse = values.read({ low = 1, high = 5, rise = 0.1, fall = 0.2, width = 0.3, period = 2, delay = 0.5 }, "V1")
    local f, corners = pulse.f, pulse.corners
    for t, wanted in pairs { [0] = 1, [0.5] = 1, [0.55] = 3, [0.7] = 5, [1] = 3, [1.2] = 1, [2.55] = 3 } do
      assert.near(wanted, f(t), 1e-12)
    end
    for i, t in ipairs { 0.5, 0.6, 0.9, 1.1, 2.5 } do assert.near(t, corners(0, 3)[i], 1e-15) end
    local g = values.read({ times = { 0, 1, 3 }, values = { 2, 4, 0 } }, "V1").f
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
    assert.equal("V1: value: expected a number, a function of time or a table with frequency, period, times, step or ramp, got 'x'",
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
