-- Points of trial: what a tape has missed shows there, whatever the units.
local traces = require "bind.traces"
local tape, hide = traces.tape, traces.hide

describe("points of trial", function()
  it("find, at random, a branch that changes a value by one part in 2^50, in whatever unit", function()
    local seed = 1
    local function random()
      seed = seed * 16807 % 2147483647
      return seed / 2147483647
    end
    for _ = 1, 200 do
      local unit, scale, chosen = 2.0 ^ math.floor(200 * random() - 100), 2.0 ^ math.floor(200 * random() - 100), random()
      local at = ({ 0, 1, -1, 2, 0.5, chosen * unit })[1 + math.floor(6 * random())]
      local other = scale * (1 + 2 ^ -50)
      local f = hide(function(x) return 3e10 * scale, (x == at and other or scale) + 0 * x end)
      local good, err = pcall(tape(f), chosen * unit)
      assert.is_false(good)
      assert.matches("value 2 is .* by the trace and .* by the callback", err)
      assert.equal(scale * chosen, (select(2, tape(function(x) return 3e10 * scale, scale * x end)(chosen))))
    end
  end)

  it("look near the arguments of the first call, by parts of their own size", function()
    local function band(x) return type(x) == "number" and x > 1.0000001e-9 and x < 2e-9 and 3e-9 or x end
    local good, err = pcall(tape(hide(band)), 1e-9)
    assert.is_false(good)
    assert.matches("by the trace and 3e%-09 by the callback near these arguments: it branches", err)
    local c = tape(hide(function(x, y) return type(x) == "number" and (x > 1e9 or x > 0 and x < 1e-12) and y or x end))
    assert.equal(1e-9, c(1e-9, 7)) -- not near: a point of trial never leaves the arguments' orders of magnitude
    assert.equal(2e-9, c(2e-9, 7))
  end)
end)
