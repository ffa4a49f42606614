-- Sparse systems of the Newton methods: (A W + B) z = q, A and B diagonal by groups.
local ns = require "nslua"
local internal = require "nslua.internal"
local random_heap = require "random_heap"
local random_mixed = require "random_mixed"

-- M x with blocks of `on` and `off` the diagonal.
local function by_groups(p, x, on, off)
  local y, row = ns.zeros(p.n), 0
  for _, group in ipairs(p.groups) do
    local dim = group.dim or 1
    for i = 1, dim do
      for j = 1, dim do y[row + i] = y[row + i] + (i == j and on or off) * x[row + j] end
    end
    row = row + dim
  end
  return y
end

local function check(p)
  p.sparse = true
  local a = internal.mixed_part(p, "system")
  assert.equal("NS_OK", a.status)
  local left = by_groups(p, ns.matrix(p.W) * a.z, 1, 0.5) + by_groups(p, a.z, 2, 0.25)
  for i = 1, p.n do assert.near(p.q[i], left[i], 1e-9) end
end

describe("sparse systems by groups", function()
  it("hold for contacts", function()
    math.randomseed(71)
    for k = 2, 6 do check(random_heap.problem(k, 3, 0.3)) end
  end)

  it("hold for rows and contacts of either dimension", function()
    math.randomseed(72)
    for _, kind in ipairs { "joints_plane", "joints_space", "both", "all" } do
      check(random_mixed.problem(kind, "regular", 9))
    end
  end)

  it("hold where W has no entries in a group's own block", function()
    local p = { W = ns.matrix { { 0, 0, 1 }, { 0, 0, 0 }, { 0, 1, 0 } }, q = ns.vector { 1, 2, 3 }, n = 3,
      groups = { { dim = 2, mu = 0.5 }, { dim = 1 } } }
    check(p)
  end)
end)
