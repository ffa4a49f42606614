-- The race of sweeps and Newton's method for heaps.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"
local random_heap = require "random_heap"

describe("sweeps and Newton for heaps", function()
  for _, kind in ipairs { "joints_plane", "joints_space", "motors_plane", "stops_space", "all" } do
    it(("solve %s"):format(kind), function() parts.check_share("heap", kind, "regular", 0.75) end)
  end

  -- Information goes one contact further in a sweep: plain ones need many in a heap that is high.
  it("need fewer sweeps than plain ones in heaps, and end in the cones", function()
    math.randomseed(55)
    local plain, fewer = 0, 0
    for k = 1, 3 do
      local p = random_heap.problem(6, 24, 0.2 + 0.1 * k)
      p.sparse, p.tolerance, p.max_iterations = true, 1e-5, 20000
      local a, b = internal.mixed_part(p, "sweeps"), internal.mixed_part(p, "heap")
      assert.equal("NS_OK", a.status)
      assert.equal("NS_OK", b.status)
      assert.is_true(b.measure <= 1e-5)
      assert.is_true(random_heap.breach(p, b.z) <= 1e-2) -- 1e-5 of forces up to 24
      plain, fewer = plain + a.iterations, fewer + b.iterations
      for c, group in ipairs(p.groups) do
        local n, t = b.z[2 * c - 1], b.z[2 * c]
        assert.is_true(n >= 0 and math.abs(t) <= group.mu * n * (1 + 1e-14))
      end
    end
    assert.is_true(fewer < 0.5 * plain, fewer .. " of " .. plain)
  end)

  it("want a tenth of a tolerance that the caller chose in the first sweeps", function()
    math.randomseed(56)
    local p = random_heap.problem(8, 8, 0.4)
    p.sparse, p.tolerance = true, 0.3
    local soon = internal.mixed_part(p, "heap")
    p.early = 1
    local late = internal.mixed_part(p, "heap")
    assert.equal("NS_OK", soon.status)
    assert.equal("NS_OK", late.status)
    assert.is_true(soon.measure <= p.tolerance)
    assert.is_true(late.measure <= 0.1 * p.tolerance)
    assert.is_true(soon.iterations < late.iterations)
  end)

  it("say that they did not get there", function()
    math.randomseed(57)
    local p = random_heap.problem(8, 8, 0.4)
    p.sparse, p.max_iterations = true, 10
    local a = internal.mixed_part(p, "heap")
    assert.equal("NS_EMAXITER", a.status)
    assert.is_true(a.measure > 1e-10)
  end)
end)
