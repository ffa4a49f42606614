-- scripts/slider_crank_3d.lua: the slider is where its formula says, and the energy goes to a constant with the step.
local host = require "host"

local function run(arguments)
  local out, err, status = host.nslua_run("scripts/slider_crank_3d.lua --T 0.5 " .. arguments)
  assert.same({ "", 0 }, { err, status })
  local from, to = out:match "energy: from (%S+) to (%S+) J"
  return tonumber(to) - tonumber(from), tonumber(out:match "open by (%S+) at most"), tonumber(out:match "formula by (%S+) m"),
    tonumber(out:match "turned by (%S+) rad")
end

describe("scripts/slider_crank_3d.lua", function()
  it("keeps its joints closed, and loses energy with the step alone #once", function()
    local coarse, open, off, turned = run "--h 2e-3"
    local fine, _, _, again = run "--h 1e-3"
    assert.is_true(open < 1e-10 and off < 1e-10)
    assert.is_true(coarse < 0 and math.abs(coarse / fine - 2) < 0.3)
    assert.is_true(math.abs(turned - again) < 0.2)
  end)

  it("has a slider whose friction takes energy #once", function()
    local lost = run "--h 2e-3 --mu 0.1"
    assert.is_true(lost < 2 * run "--h 2e-3")
  end)
end)
