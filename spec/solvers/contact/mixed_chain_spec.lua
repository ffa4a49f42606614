require "nslua"
local internal = require "nslua.internal"
local random_mixed = require "random_mixed"

describe("the chain for connected rows and contacts", function()
  it("makes rows right to rounding, not only to the tolerance", function()
    math.randomseed(60)
    local count, polished = 0, 0
    for _, kind in ipairs { "joints_plane", "joints_space", "stops_plane", "stops_space" } do
      for k = 1, 25 do
        local p = random_mixed.problem(kind, k % 2 == 0 and "redundant" or "regular", math.random(2, 6))
        local a = internal.mixed { p }[1]
        if a.status == "NS_OK" then
          count = count + 1
          local w, size = random_mixed.output(p, a.z)
          local row, good = 0, true
          for _, group in ipairs(p.groups) do
            local equation = group.dim == 1 and not group.lower and not group.upper
            if equation and math.abs(w[row + 1]) > 1e-13 * size[row + 1] then good = false end
            row = row + group.dim
          end
          if good then polished = polished + 1 end
        end
      end
    end
    assert.is_true(count >= 95, count)
    assert.is_true(polished >= 0.98 * count, polished .. " of " .. count)
  end)

  it("keeps a better answer when steps from it help nothing", function()
    math.randomseed(61)
    for _ = 1, 30 do
      local p = random_mixed.problem("all", "redundant", 6)
      local a = internal.mixed { p }[1]
      if a.status == "NS_OK" then assert.is_true(a.backward <= 1e-10) end
    end
  end)
end)
