-- Fourier transforms from Lua: frequencies, and what is refused.
local ns = require "nslua"
local message = require("expect").message

describe("ns.fft", function()
  it("gives frequencies", function()
    assert.equal("[0, 1, 2, -2, -1]", tostring(ns.fftfreq(5, 0.2)))
    assert.equal("[0, 0.25, -0.5, -0.25]", tostring(ns.fftfreq(4)))
    assert.equal("[0, 1, 2]", tostring(ns.rfftfreq(5, 0.2)))
  end)

  it("says what is wrong", function()
    local function says(text, f, ...) assert.matches(text, message(f, ...), 1, true) end
    says("fft: re: expected a vector, got string", ns.fft, "a")
    says("fft: re: expected at least one number, got none", ns.fft, {})
    says("fft: im: expected a vector of 2, got", ns.fft, { 1, 2 }, { 1 })
    says("rfft: x: expected a vector, got nil", ns.rfft)
    says("irfft: n: expected 2 or 3 for 2 numbers, got 5", ns.irfft, { 1, 2 }, { 0, 0 }, 5)
    says("fftfreq: n: expected 1 or more, got 0", ns.fftfreq, 0)
    says("rfftfreq: d: expected a number above 0, got 0", ns.rfftfreq, 3, 0)
  end)
end)
