-- Units in terms of the base units of SI: each by its definition.
local units = require "nslua.fmi.units"

describe("units", function()
  it("are what others make of them", function()
    local definitions = { N = "kg.m/s2", J = "N.m", W = "J/s", Pa = "N/m2", C = "A.s", V = "W/A", Ohm = "V/A", S = "A/V",
      F = "C/V", H = "V.s/A", Wb = "V.s", T = "Wb/m2", Hz = "1/s", kN = "Mg.m/s2" }
    for name, text in pairs(definitions) do assert.same(units.parse(text), units.parse(name), name) end
  end)

  it("have their factors", function()
    local factors = { min = { 60, s = 1 }, h = { 3600, s = 1 }, d = { 86400, s = 1 }, l = { 1e-3, m = 3 },
      bar = { 1e5, kg = 1, m = -1, s = -2 }, deg = { math.pi / 180, rad = 1 }, rev = { 2 * math.pi, rad = 1 },
      rpm = { 2 * math.pi / 60, rad = 1, s = -1 }, g = { 1e-3, kg = 1 }, t = { 1000, kg = 1 }, ["%"] = { 0.01 } }
    for name, want in pairs(factors) do
      local got = units.parse(name)
      assert.near(want[1], got.factor, 1e-15 * want[1], name)
      for _, base in ipairs(units.bases) do assert.equal(want[base], got[base], name) end
    end
    assert.equal(273.15, units.parse("degC").offset)
    assert.is_nil(units.parse("degC/s").offset) -- a difference of temperatures
    assert.is_nil(units.parse "furlong")
  end)
end)
