-- The generator's header is tested through ns.rng: spec/bind/array/random_spec.lua. Here: numbers far out in the tails.
local ns = require "nslua"

describe("base.philox", function()
  it("has normal numbers on both sides alike, and as far out as their number allows", function()
    local x = ns.rng(3):normal(200000)
    local above, most = 0, 0
    for i = 1, #x do
      if x[i] > 0 then above = above + 1 end
      most = math.max(most, math.abs(x[i]))
    end
    assert.near(0.5, above / #x, 5 * 0.5 / math.sqrt(#x))
    assert.is_true(most > 3.8 and most < 6.5) -- 99.9 % of samples: the largest of 200,000 is between these
  end)
end)
