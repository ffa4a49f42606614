-- Responses to steps and sines, against closed forms.
local ns = require "nslua"
local expect = require "expect"

local fails = expect.fails
local control = ns.control

describe("a response", function()
  local sys = control.ss({ { 0, 1 }, { -1, -0.4 } }, { 0, 1 }, { 1, 0 })

  it("to a step is exact at the instants", function()
    local t, y = control.step_response(sys, 20)
    local w = math.sqrt(1 - 0.04)
    for k = 1, #t do
      local want = 1 - math.exp(-0.2 * t[k]) * (math.cos(w * t[k]) + 0.2 / w * math.sin(w * t[k]))
      expect.near_number(want, y[k], 1e-13)
    end
    t, y = control.step_response(control.ss({ { 0.5, 0 }, { 0, -0.5 } }, ns.eye(2), ns.eye(2), nil, 2), 6, { input = 2 })
    expect.near({ 0, 2, 4, 6 }, t)
    expect.near_matrix({ { 0, 0 }, { 0, 1 }, { 0, 0.5 }, { 0, 0.75 } }, y)
    assert.are.equal(3, #control.step_response(sys, { 0, 1, 2 }))
    assert.is_true(math.abs(select(2, control.step_response(sys)):slice(201, 201)[1] - 1) < 2e-3)
  end)

  it("to sines has gain and phase, without jumps", function()
    local gain, phase = control.frequency_response(sys, { 0.1, 1, 10 })
    for k, w in ipairs { 0.1, 1, 10 } do
      expect.near_number(1 / math.sqrt((1 - w * w) ^ 2 + 0.16 * w * w), gain[k], 1e-13)
      expect.near_number(-math.atan(0.4 * w, 1 - w * w), phase[k], 1e-13)
    end
    -- a chain of four lags turns by 2 pi
    local A = ns.eye(4) * -1
    for i = 2, 4 do A[i][i - 1] = 1 end
    gain, phase = control.frequency_response(control.ss(A, { 1, 0, 0, 0 }, { 0, 0, 0, 1 }), ns.linspace(0.1, 1000, 2000))
    expect.near_number(-4 * math.atan(1000), phase[#phase], 1e-9)
    expect.near_number(1e-12, gain[#gain], 1e-17)
    assert.are.equal(math.huge, control.frequency_response({ A = { { 0, 1 }, { -1, 0 } }, B = { { 0 }, { 1 } }, C = { { 1, 0 } } },
      { 1 })[1])
  end)

  it("refuses", function()
    fails("control.step_response: input: expected a number from 1 to 1, got 2", control.step_response, sys, 1, { input = 2 })
    fails("control.frequency_response: output: expected a number from 1 to 1, got 0", control.frequency_response, sys, { 1 },
      { output = 0 })
    fails("control.step_response: T: expected an end above 0, got -1", control.step_response, sys, -1)
    fails("control.step_response: T: expected equal steps", control.step_response, sys, { 0, 1, 3 })
    fails("control.step_response: T: expected steps of 0.5, the period of the system, got 1", control.step_response,
      control.c2d(sys, 0.5), { 0, 1, 2 })
    fails("control.frequency_response: omega must increase", control.frequency_response, sys, { 2, 1 })
  end)
end)
