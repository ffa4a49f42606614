-- Block after block: problems that are block triangular up to a permutation.
require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"
local campaign = require "campaign"
local numbers = require "random_numbers"
local random, inf = math.random, math.huge

local function shuffled(n)
  local order = numbers.vector(n, function(i) return i end)
  for i = n, 2, -1 do
    local j = random(i)
    order[i], order[j] = order[j], order[i]
  end
  return order
end

-- n variables in blocks of 1 .. most, each positive definite and connected, that act on later ones by entries up to `size`.
local function cascade(n, most, size)
  local of, count, at = {}, 0, 0
  while at < n do
    count = count + 1
    for _ = 1, math.min(random(most), n - at) do at = at + 1 of[at] = count end
  end
  local order = shuffled(n)
  local p = { lower = {}, upper = {}, q = numbers.vector(n, numbers.signed) }
  p.M = numbers.matrix(n, function(i, j)
    local a, b = of[order[i]], of[order[j]]
    if i == j then return most + random() end
    return a == b and (0.1 + 0.9 * random()) or a > b and random() < 0.7 and size * numbers.signed() or 0
  end)
  for i = 1, n do
    local kind = random(4)
    p.lower[i], p.upper[i] = kind == 1 and -inf or 0, kind <= 2 and inf or kind == 3 and 2 or inf
  end
  return p
end

describe("the cascade of blocks", function()
  it("solves what is triangular up to a permutation, also where numbers grow from block to block", function()
    local count, done = campaign(40, 0.1)
    math.randomseed(31)
    for k = 1, count do
      local n = 3 + 5 * k % 89
      local p = cascade(n, k % 3 == 0 and 1 or 4, k % 2 == 0 and 1 or 4)
      local answer = box(p)
      assert.equal("NS_OK", answer.status)
      assert.is_true(boxes.violation(p, answer.z) <= 1e-11)
    end
    done("cascades", count)
  end)

  it("takes a block alone as a problem of its own", function()
    -- Two variables that act on each other, and others that only listen.
    local p = { lower = {}, upper = {}, q = { -4, -5 } }
    for i = 1, 16 do p.lower[i], p.upper[i], p.q[i] = 0, inf, p.q[i] or i % 2 == 0 and 3 or -3 end
    p.M = numbers.matrix(16, function(i, j)
      return i > 2 and ({ -5, 3 })[j] or i == j and (i > 2 and 1 or 2) or i + j == 3 and 1 or 0
    end)
    local answer = box(p)
    assert.equal("cascade", answer.solver)
    for i, z in ipairs(answer.z) do
      assert.is_true(math.abs(z - (i <= 2 and i or i % 2 == 0 and 0 or 2)) <= 1e-14)
    end
  end)

  it("leaves it to others where one block has no solution, or several", function()
    local lost = { M = { { 1, 0 }, { 1, 0 } }, q = { 1, -1 }, lower = { 0, 0 }, upper = { inf, inf } }
    assert.not_equal("NS_OK", box(lost).status)
    -- The first variable is 0 or 1; only 1 lets the second one have a solution.
    local two = { M = { { -1, 0, 0 }, { 2, 0, 0 }, { 1, 0, 1 } }, q = { 1, -1, 1 }, lower = { 0, 0, 0 }, upper = { inf, inf, inf } }
    local answer = box(two)
    assert.equal("NS_OK", answer.status)
    assert.same({ 1, 0, 0 }, answer.z)
    assert.not_equal("cascade", answer.solver)
  end)

  it("proves that there is none where each block before has one solution, and the tolerance does not matter", function()
    math.randomseed(33)
    local proved = 0
    for k = 1, 30 do
      local n = 4 + k
      local order = shuffled(n)
      local p = { q = numbers.vector(n, numbers.signed), lower = {}, upper = {} }
      p.M = numbers.matrix(n, function(i, j)
        return i == j and (random() < 0.5 and 0 or random()) or order[i] < order[j] and numbers.signed() or 0
      end)
      for i = 1, n do p.lower[i], p.upper[i] = 0, inf end
      local z, acc, none = {}, {}, false -- block after block, from the last one of the order on
      for i = 1, n do acc[i] = p.q[i] end
      for place = n, 1, -1 do
        for i = 1, n do
          if order[i] == place and not none then
            none = p.M[i][i] == 0 and acc[i] < 0
            z[i] = p.M[i][i] > 0 and math.max(0, -acc[i] / p.M[i][i]) or 0
            for j = 1, n do acc[j] = acc[j] + p.M[j][i] * z[i] end
          end
        end
      end
      local status = box(p).status
      assert.equal(none and "NS_ENOSOL" or "NS_OK", status)
      proved = proved + (none and 1 or 0)
    end
    assert.is_true(proved > 20)
    -- The second row has a solution where the first one's data change by rounding.
    local near = { M = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 1, 1 } }, q = { -1 / 3, 1 / 3 * (1 - 1e-13) - 2 / 3 + 1 / 3, 1 },
      lower = { 0, 0, 0 }, upper = { inf, inf, inf } }
    assert.not_equal("NS_ENOSOL", box(near).status)
  end)

  it("has the same bits in all units", function()
    math.randomseed(32)
    for k = 1, 10 do
      local p = cascade(6 + k, 3, 4)
      local s, r, c = { M = {}, q = {}, lower = {}, upper = {} }, {}, {}
      for i = 1, #p.q do r[i], c[i] = 2.0 ^ random(-40, 40), 2.0 ^ random(-40, 40) end
      for i = 1, #p.q do
        s.M[i] = {}
        for j = 1, #p.q do s.M[i][j] = r[i] * p.M[i][j] * c[j] end
        s.q[i], s.lower[i], s.upper[i] = r[i] * p.q[i], p.lower[i] / c[i], p.upper[i] / c[i]
      end
      local a, b = box(p), box(s)
      assert.equal(a.solver, b.solver)
      for i = 1, #p.q do assert.equal(a.z[i], b.z[i] * c[i]) end
    end
  end)
end)
