local ns = require "nslua"
local inf = math.huge

local function box(m, q, lower, upper, near)
  return ns.numerics.box { M = { { m } }, q = { q }, lower = lower, upper = upper, z0 = near and { near } }
end

describe("one variable", function()
  it("has its root, or the bound before it", function()
    assert.equal(3, box(2, -6, 0, inf).z[1])
    assert.equal(0, box(2, 6, 0, inf).z[1])
    assert.equal(1, box(2, -6, -1, 1).z[1])
    assert.equal(-1, box(2, 6, -1, 1).z[1])
    assert.equal(-3, box(2, 6, -inf, inf).z[1])
  end)

  it("takes of several solutions the nearest", function()
    assert.equal(0.4, box(0, 0, -1, 1, 0.4).z[1])
    assert.equal(1, box(0, 0, -1, 1, 7).z[1])
    assert.equal(-1, box(-1, 0, -1, 1, -0.8).z[1]) -- -1, 0 and 1 are solutions
    assert.equal(0, box(-1, 0, -1, 1, 0.3).z[1])
    assert.equal(1, box(-1, 0, -1, 1, 0.9).z[1])
  end)

  it("tells that there is none", function()
    assert.equal("no solution", box(0, -1, 0, inf).status)
    assert.equal("no solution", box(-1, -1, 0, inf).status)
    assert.equal("no solution", box(0, 1, -inf, inf).status)
  end)

  it("is solved at the ends of the range of numbers", function()
    assert.equal(1.7e308, box(1, -1.7e308, 0, inf).z[1])
    assert.equal(2.0 ^ -1060, box(2.0 ^ 30, -2.0 ^ -1030, 0, inf).z[1])
    local r = box(1e-300, -1e300, 0, inf)
    assert.is_false(r.success)
  end)

  it("is the same beside others", function()
    math.randomseed(55)
    for _ = 1, 40 do
      local m, q, near = math.random(-2, 2), math.random(-2, 2) / 3, 2 * math.random() - 1
      local a = box(m, q, -1, 1, near)
      local b = ns.numerics.box { M = { { 3, 1, 0 }, { 1, 3, 0 }, { 0, 0, m } }, q = { -1, 1, q }, lower = -1, upper = 1,
                                  z0 = { 0, 0, near } }
      assert.equal(a.success, b.success)
      if a.success then assert.equal(a.z[1], b.z[3]) end
    end
  end)
end)
