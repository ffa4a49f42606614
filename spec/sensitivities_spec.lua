local sensitive, comparison = require "random_sensitive", require "sensitive_comparison"

-- NSLUA_SENSITIVITIES = 500 compares so many models by all of their parameters; without it there is one of each family, by one.
describe("derivatives of random models", function()
  local count = tonumber(os.getenv "NSLUA_SENSITIVITIES")
  local all, compared, columns = count or #sensitive.names, 0, 0

  for k = 1, all do
    local family = sensitive.names[(k - 1) % #sensitive.names + 1]
    it(("agree with central differences: %s %d"):format(family, k), function()
      local some, worst, late, sequence = comparison.compare(sensitive.draw(k), count and math.huge or 1)
      assert.is_true(worst < 1e-7, ("states: %g; %s"):format(worst, sequence))
      assert.is_true(late < 1e-6, ("times of events: %g; %s"):format(late, sequence))
      compared, columns = compared + (some > 0 and 1 or 0), columns + some
    end)
  end

  -- A slip in space that turns until it stops; friction that takes over from a contact that lets go.
  for _, k in ipairs { 278, 324 } do
    it(("agree with central differences where they are hard: %d"):format(k), function()
      local some, worst, late, sequence = comparison.compare(sensitive.draw(k), 2)
      assert.is_true(some > 0 and worst < 1e-7, ("states: %g; %s"):format(worst, sequence))
      assert.is_true(late < 1e-6, ("times of events: %g; %s"):format(late, sequence))
    end)
  end

  it("were compared", function()
    assert.is_true(compared >= 0.9 * all, ("%d of %d models, %d columns"):format(compared, all, columns))
  end)
end)
