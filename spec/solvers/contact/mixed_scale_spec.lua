require "nslua"
local internal = require "nslua.internal"
local random_mixed = require "random_mixed"

-- Each group's rows and columns times a power of two of its own, velocities and forces in theirs.
local function in_other_units(p, most)
  local function power() return 2.0 ^ math.random(-most, most) end
  local velocity, force, s = power(), power(), { W = {}, q = {}, groups = {} }
  local R, C, row = {}, {}, 0
  for g, group in ipairs(p.groups) do
    local own = power()
    for k = row + 1, row + group.dim do R[k], C[k] = velocity * own, own / force end
    s.groups[g] = { dim = group.dim, mu = group.mu, lower = group.lower and group.lower / C[row + 1],
                    upper = group.upper and group.upper / C[row + 1] }
    row = row + group.dim
  end
  for i = 1, #p.q do
    s.q[i], s.W[i] = R[i] * p.q[i], {}
    for j = 1, #p.q do s.W[i][j] = R[i] * p.W[i][j] * C[j] end
  end
  return s, R, C
end

describe("rows and contacts in units of their own", function()
  for _, matrix in ipairs { "regular", "skewed", "redundant", "saddle" } do
    it("have the same answer to the bit: " .. matrix, function()
      math.randomseed(62)
      for k = 1, 4 * #random_mixed.names do
        local p = random_mixed.problem(random_mixed.names[k % #random_mixed.names + 1], matrix, math.random(1, 6))
        local s, R, C = in_other_units(p, k % 3 == 0 and 1 or 150)
        local a, b = internal.mixed { p }[1], internal.mixed { s }[1]
        assert.equal(a.status, b.status)
        for i = 1, a.status == "NS_OK" and p.n or 0 do
          assert.equal(a.z[i], b.z[i] * C[i])
          assert.equal(a.w[i], b.w[i] / R[i])
        end
      end
    end)
  end

  it("reach their bounds exactly", function()
    local W = { { 2, 0.1, 0 }, { 0.1, 1, 0 }, { 0, 0, 1 } }
    for _, bound in ipairs { 0.1, 1e-30, 3e200 } do
      local p = { W = W, q = { -100 * bound, -bound, 0 }, groups = { { dim = 1, upper = bound }, { dim = 2, mu = 0.3 } } }
      local a = internal.mixed { p }[1]
      assert.equal("NS_OK", a.status)
      assert.equal(bound, a.z[1])
    end
  end)
end)
