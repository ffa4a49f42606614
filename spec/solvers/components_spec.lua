local ns = require "nslua"
local boxes = require "solvers.boxes"
local internal = require "nslua.internal"

-- By flooding: the component of each node, numbered by first members.
local function flood(n, tied)
  local of, count = {}, 0
  local function visit(i)
    of[i] = count
    for j = 1, n do
      if not of[j] and (tied(i, j) or tied(j, i)) then visit(j) end
    end
  end
  for i = 1, n do
    if not of[i] then
      count = count + 1
      visit(i)
    end
  end
  return of, count
end

local function check(n, parts, tied)
  local of, count = flood(n, tied)
  assert.same(of, parts.of)
  assert.equal(count, #parts.start - 1)
  for c = 1, count do
    for k = parts.start[c] + 1, parts.start[c + 1] do
      assert.equal(c, parts.of[parts.member[k]])
      if k > parts.start[c] + 1 then assert.is_true(parts.member[k] > parts.member[k - 1]) end
    end
  end
end

describe("components", function()
  it("of a dense matrix are what its entries tie, whichever way", function()
    math.randomseed(53)
    for k = 1, 60 do
      local n = math.random(1, 12)
      local M = boxes.matrix(n, function() return math.random() < 0.03 * (k % 10) and 1e-300 or 0 end)
      local index = {}
      for i = 1, n do
        if math.random() < 0.8 then index[#index + 1] = i end
      end
      local function tied(a, b) return M[index[a]][index[b]] ~= 0 end
      check(#index, internal.components { M = M, index = index }, tied)
      local before = boxes.matrix(n, function() return math.random() < 0.5 and 1 or 0 end)
      check(#index, internal.components { M = M, index = index, before = before }, tied)
    end
  end)

  it("of pairs are what they join", function()
    math.randomseed(54)
    for _ = 1, 60 do
      local n, i, j, pairs_of = math.random(1, 15), {}, {}, {}
      for k = 1, math.random(0, 12) do
        i[k], j[k] = math.random(n), math.random(n)
        pairs_of[i[k] .. "," .. j[k]] = true
      end
      check(n, internal.components { n = n, i = i, j = j }, function(a, b) return pairs_of[a .. "," .. b] end)
    end
  end)

  it("are failed together by one that fails, and proved so by one that is", function()
    local function status(M, q) return ns.numerics.lcp { M = M, q = q }.status end
    assert.equal("no solution", status({ { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, 2 } }, { -1, -1, -1 }))
    assert.equal("ok", status({ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 2 } }, { -1, -1, -1 }))
  end)

  it("sum their iterations and tell the worst measure", function()
    local chain = { { 2, -1, 0 }, { -1, 2, -1 }, { 0, -1, 2 } }
    local M = ns.zeros(6, 6)
    for i = 1, 3 do
      for j = 1, 3 do M[i][j], M[3 + i][3 + j] = chain[i][j], chain[i][j] end
    end
    local one = ns.numerics.lcp { M = chain, q = { -1, -1, -1 } }
    local two = ns.numerics.lcp { M = M, q = { -1, -1, -1, -1, -1, -1 } }
    assert.equal(2 * one.iterations, two.iterations)
    assert.equal(one.solver, two.solver)
  end)
end)
