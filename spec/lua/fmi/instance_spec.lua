-- Instances of units: what no importer of a good model sees.
local instance = require "nslua.fmi.instance"

describe("an instance of a unit", function()
  it("gives up where events follow one another without end", function()
    local left
    local function update()
      left = left - 1
      return left > 0, left == 3
    end
    local kind = { update = update, next = function() return nil, false end }
    local one = instance.new({ variables = {}, kind = kind }, "modelexchange")
    for _ = 1, 2 do -- each call counts anew
      left = 1000
      assert.is_true((one:update())) -- one of the events has changed states
      left = 2
      assert.is_false((one:update()))
    end
    left = 1001
    assert.has_error(function() one:update() end, "events follow one another without end at one time")
  end)
end)
