-- The reference maker against references that were made by another program.
local columns = require "columns"
local rational = require "rational"

describe("exact arithmetic", function()
  local new = rational.new

  it("takes floats for what they are", function()
    assert.is_true(new(0.75) == new(3, 4))
    assert.is_false(new(0.1) == new(1, 10))
    assert.is_true(new(0.1) == new(3602879701896397, 36028797018963968))
    assert.equal(0.1, new(0.1):tonumber())
    assert.equal(-2.5, new(-2.5):tonumber())
    assert.equal(0, new(0.0):tonumber())
  end)

  it("computes with fractions", function()
    assert.is_true(new(1, 3) + new(1, 6) == new(1, 2))
    assert.is_true(new(1, 3) - 1 == new(-2, 3))
    assert.is_true(new(2, 3) * new(-9, 4) == new(-3, 2))
    assert.is_true(1 / new(-2, 3) == new(3, -2))
    assert.equal(1 / 3, new(-7, -21):tonumber())
    assert.has_error(function() return new(1) / new(0) end, "division by zero")
  end)

  it("keeps large numbers exact", function()
    local a, b = new(1), new(0)
    for i = 1, 60 do
      a = a * 7
      b = b + a
      if i == 60 then assert.is_true((a * 7 - 7) / 6 == b) end
    end
    assert.equal(7 ^ 5, (a / b * 6 * (b / a) * new(7 ^ 5) / 6):tonumber())
  end)

  for _, mode in ipairs { "engage", "disengage" } do
    for _, case in ipairs { "1_1", "1_0.5", "0.5_1", "0.5_0.5", "1_1/100" } do
      it(("makes the clutch's scheme: %s %s"):format(mode, case), function()
        local theta, gamma, at = case:match "^([^_]+)_([^/]+)/?(%d*)$"
        local file = ("spec/reference/clutch_exactscheme_%s_%s_%s_0.05%s.csv"):format(mode, theta, gamma,
          at == "" and "" or "_switchk" .. at)
        local ref = columns.read(file)
        local made = rational.clutch(mode, tonumber(theta), tonumber(gamma), new(1, 20), 400, tonumber(at) or 101)
        for _, name in ipairs { "t", "c", "w1", "w2", "tau", "lambda" } do
          local picked = {}
          for i = 1, ref.n do picked[i] = made[name][ref.row[i] + 1] end
          assert.is_true(columns.error(picked, ref[name]) <= 1e-15, name)
        end
      end)
    end
  end
end)
