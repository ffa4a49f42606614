local boxes = require "solvers.boxes"
require "nslua"
local internal = require "nslua.internal"

local function exponent_range(M)
  local n, rows, columns = #M, {}, {}
  for i = 1, n do
    for j = 1, n do
      rows[i] = math.max(rows[i] or 0, math.abs(M[i][j]))
      columns[j] = math.max(columns[j] or 0, math.abs(M[i][j]))
    end
  end
  return rows, columns
end

describe("scaling", function()
  it("is by powers of two, exact", function()
    math.randomseed(7)
    for _, kind in ipairs(boxes.sorted_keys(boxes.kinds)) do
      for n = 1, 6 do
        local p = boxes.problem(kind, "with_free", n)
        local s = internal.scale(p)
        for i = 1, n do
          for j = 1, n do assert.equal(p.M[i][j] * 2.0 ^ (s.row[i] + s.col[j]), s.M[i][j]) end
          assert.equal(p.q[i] * 2.0 ^ s.row[i], s.q[i])
          assert.equal(p.lower[i] * 2.0 ^ -s.col[i], s.lower[i])
          assert.equal(p.upper[i] * 2.0 ^ -s.col[i], s.upper[i])
        end
      end
    end
  end)

  it("brings the largest entry of each row and column near 1", function()
    math.randomseed(8)
    for _ = 1, 40 do
      local p = boxes.problem("badly_scaled", "lcp", math.random(1, 8))
      local s = internal.scale(p)
      local rows, columns = exponent_range(s.M)
      for i = 1, #p.q do
        assert.is_true(rows[i] >= 1 / 8 and rows[i] <= 8, rows[i])
        assert.is_true(columns[i] >= 1 / 8 and columns[i] <= 8, columns[i])
      end
      assert.is_true(s.now_well_scaled)
    end
  end)

  it("keeps active sets: a point and its w have the same signs against the bounds", function()
    math.randomseed(9)
    for _ = 1, 40 do
      local n = math.random(1, 6)
      local p = boxes.problem("badly_scaled", "with_fixed", n)
      local s = internal.scale(p)
      local set, scaled = {}, {}
      for i = 1, n do
        local finite = p.upper[i] < math.huge and 3 or 2
        set[i] = p.lower[i] > -math.huge and math.random(1, finite) - 2 or 0
        scaled[i] = set[i]
      end
      local a = internal.active { M = p.M, q = p.q, lower = p.lower, upper = p.upper, set = set }
      local b = internal.active { M = s.M:totable(), q = s.q, lower = s.lower, upper = s.upper, set = scaled }
      if a.status == "NS_OK" and b.status == "NS_OK" then
        for i = 1, n do
          assert.near(a.z[i] * 2.0 ^ -s.col[i], b.z[i], 1e-9 * (1 + math.abs(b.z[i])))
          if math.abs(b.w[i]) > 1e-8 then assert.equal(a.w[i] > 0, b.w[i] > 0) end
        end
      end
    end
  end)

  it("comes back exactly, bounds as the bounds they were", function()
    local M = { { 1e8, 3 }, { 2, 1e-8 } }
    local p = { M = M, q = { 1, 1 }, lower = { -0.1, 0 }, upper = { 0.3, math.huge } }
    local s = internal.scale(p)
    p.point = { s.lower[1], s.lower[2] }
    assert.same({ -0.1, 0 }, internal.scale(p).z:totable())
    p.point = { s.upper[1], s.upper[2] }
    assert.same({ 0.3, math.huge }, internal.scale(p).z:totable())
    p.point = { 0.01, 0.7 }
    assert.same({ 0.01 * 2.0 ^ s.col[1], 0.7 * 2.0 ^ s.col[2] }, internal.scale(p).z:totable())
  end)

  it("finds what is scaled well, and leaves zeros alone", function()
    assert.is_true(internal.scale({ M = { { 1, 0 }, { 0, 64 } } }).well_scaled)
    assert.is_false(internal.scale({ M = { { 1, 0 }, { 0, 65 } } }).well_scaled)
    assert.is_true(internal.scale({ M = { { 1 / 64 } } }).well_scaled)
    assert.is_false(internal.scale({ M = { { 1 / 65 } } }).well_scaled)
    local s = internal.scale { M = { { 0, 0 }, { 0, 0 } } }
    assert.is_true(s.well_scaled)
    assert.same({ { 0, 0 }, { 0, 0 } }, { s.row, s.col })
  end)

  it("survives the ends of the range of numbers", function()
    local s = internal.scale { M = { { 5e-324, 1e308 }, { 1e-300, 1e300 } }, q = { 1, 1 } }
    for i = 1, 2 do
      for j = 1, 2 do assert.is_true(math.abs(s.M[i][j]) < math.huge) end
      assert.is_true(math.abs(s.row[i]) <= 900 and math.abs(s.col[i]) <= 900)
    end
  end)
end)
