-- Instances of units: what no importer of a good model sees.
local instance = require "nslua.fmi.instance"

describe("an instance of a unit", function()
  it("gives up where events follow one another without end", function()
    local goes_on = true
    local one = instance.new({ variables = {}, kind = { update = function() return goes_on, false end } }, "modelexchange")
    for _ = 1, 2 do -- a call without an event begins the count anew
      goes_on = true
      for _ = 1, 1000 do assert.is_true((one:update())) end
      goes_on = false
      assert.is_false((one:update()))
    end
    goes_on = true
    for _ = 1, 1000 do one:update() end
    assert.has_error(function() one:update() end, "events follow one another without end at one time")
  end)
end)
