-- Complementary pivots on a sparse basis: what they call a solution is one; monotone problems are always solved.
local ns = require "nslua"
local internal = require "nslua.internal"
local random, inf = math.random, math.huge

-- M with its whole diagonal, monotone or not; bounds of every kind; a point in the box.
local function problem(n, monotone)
  local M, p = ns.zeros(n, n), { q = ns.zeros(n), lower = ns.zeros(n), upper = ns.zeros(n), z = ns.zeros(n) }
  for i = 1, n do
    for j = 1, i - 1 do
      if random() < 0.2 then
        M[i][j] = random() - 0.5
        M[j][i] = monotone and -M[i][j] or random() - 0.5
      end
    end
    M[i][i] = 0.01 + random()
    p.q[i] = 4 * random() - 2
    p.lower[i] = random() < 0.3 and -inf or random() < 0.5 and 0 or -random()
    p.upper[i] = random() < 0.5 and inf or random()
    p.z[i] = math.max(p.lower[i], math.min(p.upper[i], 4 * random() - 2))
  end
  p.M, p.w = M, M * p.z + p.q
  return p
end

local function residual(p, z)
  local w, worst = p.M * z + p.q, 0
  for i = 1, #z do
    assert.is_true(z[i] >= p.lower[i] and z[i] <= p.upper[i])
    worst = math.max(worst, math.abs(z[i] - math.max(p.lower[i], math.min(p.upper[i], z[i] - w[i]))))
  end
  return worst
end

describe("a path of pivots on a sparse basis", function()
  local starts = { { inside = 1e-3 }, { inside = 1 }, { at_bounds = true }, { at_bounds = true, upper_first = true } }

  it("solves every monotone problem, from a guess and from the bounds", function()
    math.randomseed(51)
    for trial = 1, 160 do
      local p = problem(random(1, 40), true)
      for key, value in pairs(starts[trial % #starts + 1]) do p[key] = value end
      local r = internal.sparse_path(p)
      assert.equal("NS_OK", r.status)
      assert.is_true(residual(p, r.z) < 1e-11)
    end
  end)

  it("solves others, or says why not", function()
    math.randomseed(52)
    local solved = 0
    for trial = 1, 200 do
      local p = problem(random(1, 40), false)
      for key, value in pairs(starts[trial % #starts + 1]) do p[key] = value end
      local r = internal.sparse_path(p)
      if r.status == "NS_OK" then
        solved = solved + 1
        assert.is_true(residual(p, r.z) < 1e-10)
      else
        assert.is_true(r.status == "NS_ERAY" or r.status == "NS_EMAXITER" or r.status == "NS_ESINGULAR", r.status)
      end
    end
    assert.is_true(solved > 100, solved)
  end)

  it("ends between finite bounds whatever the matrix is", function()
    math.randomseed(53)
    for _ = 1, 60 do
      local p = problem(random(1, 30), false)
      for i = 1, #p.q do p.lower[i], p.upper[i] = -1, 1 + random() end
      p.at_bounds = true
      local r = internal.sparse_path(p)
      assert.equal("NS_OK", r.status)
      assert.is_true(residual(p, r.z) < 1e-11)
    end
  end)

  it("takes no pivot more than one where the guess has the right active set", function()
    local p = { M = { { 2, 1 }, { 1, 2 } }, q = { -4, 3 }, lower = { 0, 0 }, z = { 2, 0 }, w = { 0, 5 }, inside = 1e-3 }
    local r = internal.sparse_path(p)
    assert.equal("NS_OK", r.status)
    assert.same({ 2, 0 }, { r.z[1], r.z[2] })
    assert.is_true(r.pivots <= 1)
  end)

  it("tells a ray, a singular start and its limit", function()
    local r = internal.sparse_path { M = { { -1 } }, q = { -1 }, lower = { 0 }, at_bounds = true }
    assert.equal("NS_ERAY", r.status)
    r = internal.sparse_path { M = { { 1e-300, 0 }, { 0, 1 } }, q = { 1, 1 }, lower = { -inf, 0 }, z = { 0, 0 }, w = { 1, 1 } }
    assert.is_true(r.status ~= "NS_OK" or math.abs(r.z[1] + 1e300) < 1e288)
    math.randomseed(54)
    local p = problem(40, true)
    p.at_bounds, p.max_pivots = true, 1
    assert.equal("NS_EMAXITER", internal.sparse_path(p).status)
  end)
end)
