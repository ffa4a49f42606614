-- Complementary pivots with a sparse basis for heaps in the plane, alone and in the chain.
require "nslua"
local internal = require "nslua.internal"
local random_heap = require "random_heap"
local random_mixed = require "random_mixed"

describe("sparse pivots for heaps in the plane", function()
  -- Redundant contacts and much friction: sweeps take thousands of turns for such heaps, or do not end.
  it("solve heaps up to rounding from no forces, with fewer pivots than five for each unknown", function()
    math.randomseed(71)
    for k = 1, 8 do
      local p = random_heap.problem(3 + k, 6 + k % 5, 0.1 * k)
      p.sparse = true
      local a = internal.mixed_part(p, "path_from_bounds")
      assert.equal("NS_OK", a.status)
      assert.is_true(a.measure <= 1e-11, ("%g"):format(a.measure))
      assert.is_true(random_heap.breach(p, a.z) <= 1e-8)
      assert.is_true(a.iterations > 0 and a.iterations <= 5 * 3 * #p.groups)
    end
  end)

  it("take a few pivots from a point that is near", function()
    math.randomseed(72)
    for k = 1, 5 do
      local p = random_heap.problem(4 + k, 8, 0.1 * k)
      p.sparse = true
      local far = internal.mixed_part(p, "path_from_bounds")
      p.guess = far.z
      for i = 1, p.n do p.guess[i] = p.guess[i] * (1 + 1e-5 * (i % 5 - 2)) end
      assert.is_true(internal.mixed_part(p, "measure").measure > 1e-8)
      local a = internal.mixed_part(p, "path")
      assert.equal("NS_OK", a.status)
      assert.is_true(a.measure <= 1e-10)
      assert.is_true(random_heap.breach(p, a.z) <= 1e-7)
      assert.is_true(a.iterations <= 0.2 * far.iterations, a.iterations .. " of " .. far.iterations)
    end
  end)

  -- The same problem in other units: velocities in thousandths, masses in millions.
  it("do not depend on units", function()
    math.randomseed(73)
    local p = random_heap.problem(6, 6, 0.4)
    p.sparse = true
    local a = internal.mixed_part(p, "path_from_bounds")
    for i = 1, p.n do
      p.q[i] = p.q[i] * 1e3
      for j = 1, p.n do p.W[i][j] = p.W[i][j] * 1e-6 end
    end
    local b = internal.mixed_part(p, "path_from_bounds")
    assert.equal("NS_OK", b.status)
    assert.equal(a.iterations, b.iterations)
    for i = 1, p.n do assert.near(a.z[i], 1e-9 * b.z[i], 1e-8) end
  end)

  it("obey bounds of rows among the contacts", function()
    for k = 1, 4 do
      math.randomseed(740 + k)
      local p = random_mixed.problem("motors_plane", "regular", 12)
      p.sparse = true
      local a = internal.mixed_part(p, "path_from_bounds")
      assert.equal("NS_OK", a.status)
      assert.is_true(a.measure <= 1e-10)
      local row = 1
      for _, group in ipairs(p.groups) do
        if group.dim == 1 then
          assert.is_true(a.z[row] >= (group.lower or -math.huge) and a.z[row] <= (group.upper or math.huge))
        end
        row = row + group.dim
      end
    end
  end)

  it("leave contacts in space, and dense matrices, alone", function()
    math.randomseed(75)
    local p = random_mixed.problem("joints_space", "regular", 8)
    p.sparse = true
    for _, part in ipairs { "path", "path_from_bounds" } do
      assert.equal("NS_ESIZE", internal.mixed_part(p, part).status)
      assert.equal("NS_ESIZE", internal.mixed_part(random_heap.problem(3, 2, 0.3), part).status)
    end
  end)
end)
