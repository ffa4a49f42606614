local ns = require "nslua"
local boxes = dofile "spec/solvers/boxes.lua"
local random = math.random

-- The LCP of the players' costs: w = M z - 1 with M = [0 A; B' 0], entries from `cost`.
local function game(m, k, cost)
  local M, q = {}, {}
  for i = 1, m + k do
    M[i], q[i] = {}, -1
    for j = 1, m + k do M[i][j] = (i <= m) ~= (j <= m) and cost() or 0 end
  end
  return { M = M, q = q }
end

local function solved(p, name)
  local r = ns.numerics.lcp { M = p.M, q = p.q }
  assert.is_true(r.success, name)
  assert.is_true(boxes.violation(p, r.z:totable()) <= 1e-12, name)
  return r
end

local costs = {
  reals = function() return 0.1 + random() end,
  integers = function() return random(1, 9) end,
  ["ones and twos"] = function() return random(1, 2) end,
  ["nearly equal ones"] = function() return 1 + 1e-6 * random() end,
  ["six decades"] = function() return 10 ^ (6 * random() - 3) end,
}

describe("games of two players", function()
  for _, name in ipairs(boxes.sorted_keys(costs)) do
    it("of random costs: " .. name, function()
      math.randomseed(41)
      for _, size in ipairs { { 3, 3 }, { 5, 8 }, { 12, 15 }, { 20, 5 }, { 30, 30 }, { 20, 80 }, { 50, 50 } } do
        for _ = 1, 6 do
          local r = solved(game(size[1], size[2], costs[name]), name)
          assert.equal("lemke-howson", r.solver)
        end
      end
    end)
  end

  it("of costs that are zero or negative here and there: the equilibria are those with a constant added", function()
    math.randomseed(42)
    for _ = 1, 10 do
      solved(game(12, 15, function() return random(0, 9) end))
      solved(game(30, 30, function() return 2 * random() - 0.3 end))
    end
  end)

  it("two at once, in any order of the unknowns, from other lower bounds, in other units", function()
    math.randomseed(43)
    for _ = 1, 10 do
      local a, b, order, n = game(9, 7, costs.reals), game(6, 8, costs.integers), {}, 30
      for i = 1, n do table.insert(order, random(1, i), i) end
      local p = { M = {}, q = {}, lower = {}, upper = {} }
      local row, column = {}, {}
      for i = 1, n do row[i], column[i], p.lower[i], p.upper[i] = 2.0 ^ random(-9, 9), 2.0 ^ random(-9, 9), 0, math.huge end
      for i = 1, n do
        p.M[i] = {}
        for j = 1, n do
          local g, h = order[i], order[j]
          local entry = g <= 16 and h <= 16 and a.M[g][h] or g > 16 and h > 16 and b.M[g - 16][h - 16] or 0
          p.M[i][j] = row[i] * entry * column[j]
        end
        p.q[i], p.lower[i] = -row[i], -1e-3 * random() / column[i]
      end
      local r = ns.numerics.box(p)
      assert.is_true(r.success)
      assert.equal("lemke-howson", r.solver)
      assert.is_true(boxes.violation(p, r.z:totable()) <= 1e-12)
    end
  end)

  it("where some unknowns want nothing: their z is 0", function()
    math.randomseed(44)
    for _ = 1, 10 do
      local p = game(10, 12, costs.reals)
      p.q[2], p.q[15], p.q[20] = 0.5, 0, 2
      local r = solved(p)
      assert.same({ 0, 0, 0 }, { r.z[2], r.z[15], r.z[20] })
    end
  end)

  it("of 100 strategies each", function()
    math.randomseed(45)
    for _, name in ipairs { "reals", "integers" } do solved(game(100, 100, costs[name]), name) end
  end)

  it("without a solution are told so, whatever leads in", function()
    local r = ns.numerics.lcp { M = { { 0, 0, 1 }, { 0, 0, 2 }, { 1, 1, 0 } }, q = { 1, 2, -1 } }
    assert.is_false(r.success)
    r = ns.numerics.lcp { M = { { 0, 0, -1 }, { 0, 0, -2 }, { 1, 1, 0 } }, q = { -1, -1, -1 } }
    assert.is_false(r.success)
  end)

  it("take at most max_iterations pivots of a path", function()
    local n, M, q = 12, {}, {}
    for i = 1, 2 * n do
      M[i], q[i] = {}, -1
      for j = 1, 2 * n do
        local match = (i - j) % n == 0
        M[i][j] = (i <= n) == (j <= n) and 0 or i <= n and (match and 2 or 1) or match and 1 or 2
      end
    end
    local p = { M = M, q = q }
    local r = solved(p, "hide and seek")
    assert.equal("lemke-howson", r.solver)
    for i = 1, 2 * n do assert.near(i <= n and 1 / (2 * n - 1) or 1 / (n + 1), r.z[i], 1e-14) end
    r = ns.numerics.lcp { M = M, q = q, max_iterations = n }
    assert.are_not.equal("lemke-howson", r.solver)
  end)
end)
