-- Equations eliminated from problems whose equations stand in other places, units and numbers.
require "nslua"
local internal = require "nslua.internal"
local random_mixed = require "random_mixed"

-- The problem with its groups in another order.
local function reordered(p, order)
  local first, row = {}, 0
  for g, group in ipairs(p.groups) do
    first[g] = row
    row = row + group.dim
  end
  local place, groups = {}, {}
  for k, g in ipairs(order) do
    groups[k] = p.groups[g]
    for i = 1, p.groups[g].dim do place[#place + 1] = first[g] + i end
  end
  local W, q = {}, {}
  for i = 1, p.n do
    W[i], q[i] = {}, p.q[place[i]]
    for j = 1, p.n do W[i][j] = p.W[place[i]][place[j]] end
  end
  return { W = W, q = q, groups = groups, n = p.n }, place
end

describe("elimination of equations", function()
  for _, matrix in ipairs{ "regular", "redundant", "saddle" } do
    it("does not depend on their place: " .. matrix, function()
      math.randomseed(61)
      for _ = 1, 10 do
        local p = random_mixed.problem("joints_space", matrix, 9)
        local order = {}
        for g = 1, #p.groups do table.insert(order, math.random(g), g) end
        local r = reordered(p, order)
        local a, b = internal.mixed_part(p, "embed"), internal.mixed_part(r, "embed")
        assert.is_true(a.measure <= 1e-10 and b.measure <= 1e-10)
        assert.is_true(random_mixed.residual(r, b.z) <= 1e-9)
        assert.equal(a.exact, b.exact)
      end
    end)
  end

  it("finds how many of them say something new, in any units", function()
    math.randomseed(62)
    for _, unit in ipairs{ 1, 2 ^ -40, 2 ^ 40 } do
      local groups, n = { {}, {}, {}, { dim = 2, mu = 0.3 } }, 5
      local H = { { 1, 2, 0, 1 }, { 2, 4, 0, 2 }, { 0, 1, 1, 0 }, { 1, 0, 0, 0 }, { 0, 0, 0, 1 } }
      for k = 1, 4 do H[2][k] = H[2][k] * unit end
      local W, q = {}, {}
      for i = 1, n do
        W[i], q[i] = {}, -H[i][1] + 0.5 * H[i][3] + 0.25 * H[i][4]
        for j = 1, n do
          W[i][j] = 0
          for k = 1, 4 do W[i][j] = W[i][j] + H[i][k] * H[j][k] end
        end
      end
      local a = internal.mixed_part({ W = W, q = q, groups = groups }, "embed")
      assert.is_false(a.exact)
      assert.is_true(a.measure <= 1e-10, tostring(a.measure))
      assert.is_true(a.z[1] == 0 or a.z[2] == 0)
    end
  end)
end)
