-- scripts/bounce_fit.lua: the fit finds what the measurement was made with, within its standard errors.
describe("scripts/bounce_fit.lua", function()
  local script = require "script_run"("bounce_fit", setup, teardown)

  it("finds restitution and friction within three standard errors", function()
    for _, arguments in ipairs { "", "--seed 4 --noise 0.02" } do
      local out, err, status = script(arguments)
      assert.equal("", err)
      assert.equal(0, status)
      for name, known in pairs { en = 0.6, mu = 0.3 } do
        local value, deviation = out:match(name .. " = (%S+) %+%- (%S+)\n")
        assert.is_true(math.abs(tonumber(value) - known) < 3 * tonumber(deviation), out)
      end
      assert.matches("correlation = %-?0%.%d+, chi2 = [01]%.%d+\n", out)
    end
  end)
end)
