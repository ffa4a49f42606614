-- Known event runs: each script of spec/cases/events against spec/reference/events, within the tolerance of each value.
local cases = { "brake", "crossing_sequence", "entry_slide_exit", "fesd_unit_disc", "sign_spiral", "block_plane",
  "coco_impact_orbit", "painleve_rod", "squeezer", "two_balls_spring",
  "impact_multipliers", "garcia_walker" }

-- Compares numbers, texts, and lists of them; a vector counts as a list.
local function compare(name, want, got, tolerance)
  if type(want) == "table" then
    assert.equal(#want, #got, name .. ": number of entries")
    for i = 1, #want do compare(("%s[%d]"):format(name, i), want[i], got[i], tolerance) end
  elseif type(want) == "number" then
    local off = math.abs(got - want)
    local text = ("%s: wanted %.17g, got %.17g, off by %.3g"):format(name, want, got, off)
    assert.is_true(off <= tolerance * math.max(1, math.abs(want)), text)
  else
    assert.equal(want, got, name)
  end
end

describe("known event runs #once", function()
  for _, case in ipairs(cases) do
    it(case, function()
      local got, reference = dofile("spec/cases/events/" .. case .. ".lua"), dofile("spec/reference/events/" .. case .. ".lua")
      for key, want in pairs(reference) do
        assert.is_truthy(got[key], key .. " is missing")
        compare(key, want[1], got[key], want.tolerance)
      end
    end)
  end
end)
