-- Branch and bound: solutions that paths miss, and proofs that there is none, beside the list of all active sets.
require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"
local campaign = require "campaign"
local inf = math.huge
local random = math.random
local normal = require "random_numbers".normal

local function matrix(n, entry)
  local M = {}
  for i = 1, n do
    M[i] = {}
    for j = 1, n do M[i][j] = entry(i, j) end
  end
  return M
end

local kinds = {
  function(n) return matrix(n, function() return random(-2, 2) end) end,
  function(n) return matrix(n, function() return normal() end) end,
  function(n) return matrix(n, function(i, j) return i == j and random(0, 2) or i < j and random(-2, 2) or 0 end) end, -- P0
  function(n) -- skew, its rows scaled: P0
    local S = matrix(n, function() return random(-2, 2) end)
    return matrix(n, function(i, j) return (1 + i % 3) * (S[i][j] - S[j][i]) end)
  end,
}

-- Sets q so that z is a solution; w, where z is 0, is slack().
local function plant(p, z, slack)
  for i = 1, #z do
    p.q[i] = z[i] > 0 and 0 or slack()
    for j = 1, #z do p.q[i] = p.q[i] - p.M[i][j] * z[j] end
  end
end

-- Whether a problem that may have a solution is solved; it is never proven to have none.
local function is_found(p)
  local a = box(p)
  assert.not_equal("NS_ENOSOL", a.status)
  if a.status ~= "NS_OK" then return false end
  assert.is_true(boxes.violation(p, a.z) <= 1e-11)
  return true
end

local function problem(n, kind)
  local p = { M = kinds[kind](n), q = {}, lower = {}, upper = {} }
  local boxed = random() < 0.5
  for i = 1, n do
    p.q[i] = random(-3, 2)
    p.lower[i] = boxed and random() < 0.3 and -inf or 0
    p.upper[i] = boxed and random() < 0.5 and 1 or inf
  end
  return p
end

local function by(p, solver)
  p.method = solver
  return box(p)
end

describe("branch and bound", function()
  it("finds a solution where there is one, and none where all active sets have none", function()
    local count, done = campaign(120, 0.1)
    math.randomseed(61)
    local proved = 0
    for k = 1, count do
      local p = problem(random(2, 7), 1 + k % #kinds)
      local a, b = by(p, "branch"), by(p, "enumerate")
      if a.status == "NS_OK" then assert.is_true(boxes.violation(p, a.z) <= 1e-11) end
      if b.status == "NS_OK" then assert.not_equal("NS_ENOSOL", a.status) end
      if b.status == "NS_ENOSOL" then assert.not_equal("NS_OK", a.status) end
      if a.status == "NS_ENOSOL" then proved = proved + 1 end
    end
    assert.is_true(proved > count / 10, proved)
    done("branch and bound beside all active sets", count)
  end)

  -- Corners of the sets of solutions are multiples of 1/2 up to 2, as determinants and numerators show.
  it("solves all problems of two unknowns with entries from -1 to 1, or proves that there is no solution", function()
    local function has_solution(M, q)
      for k = 0, 24 do
        local z, good = { k % 5 / 2, k // 5 / 2 }, true
        for i = 1, 2 do
          local w = M[i][1] * z[1] + M[i][2] * z[2] + q[i]
          good = good and w >= 0 and w * z[i] == 0
        end
        if good then return true end
      end
    end
    for code = 0, 3 ^ 6 - 1 do
      local function digit(k) return code // 3 ^ k % 3 - 1 end
      local M, q = { { digit(0), digit(1) }, { digit(2), digit(3) } }, { digit(4), digit(5) }
      assert.equal(has_solution(M, q) and "NS_OK" or "NS_ENOSOL", box({ M = M, q = q }).status, code)
    end
  end)

  it("leaves two equations to the others, which solve singular ones that agree", function()
    local M = { { 0, 0, 0, -1, 1 }, { 0, -1, 1, -1, -1 }, { -1, 0, 1, 0, 0 }, { 0, 1, -1, -1, 1 }, { -1, 1, 1, -1, -1 } }
    local p = { M = M, q = { 0, 1, -1, 0, 0 }, lower = { -inf, 1, 1, -inf, 1 }, upper = { inf, 1, 1, inf, 1 } }
    local a = box(p)
    assert.equal("NS_OK", a.status)
    assert.is_true(boxes.violation(p, a.z) <= 1e-11)
  end)

  it("proves in the chain that a problem has no solution, where Lemke's path ends on a ray", function()
    math.randomseed(62)
    local proved = 0
    for k = 1, 12 do
      local p = { M = kinds[3 + k % 2](25), q = {} }
      for i = 1, 25 do p.q[i] = normal() - 0.5 end
      local a = box(p)
      if a.status == "NS_OK" then assert.is_true(boxes.violation(p, a.z) <= 1e-11)
      else
        assert.equal("NS_ENOSOL", a.status)
        proved = proved + 1
      end
    end
    assert.is_true(proved > 2)
  end)

  it("solves indefinite problems with a planted solution that the paths miss", function()
    local count, done = campaign(12, 0.02)
    math.randomseed(63)
    local found = 0
    for k = 1, count do
      local n, z = k % 2 == 0 and 40 or 20, {}
      local p = { M = kinds[2](n), q = {} }
      for i = 1, n do z[i] = random() < 0.5 and random() or 0 end
      plant(p, z, random)
      if is_found(p) then found = found + 1 end
    end
    assert.is_true(found >= 0.98 * count, found .. " of " .. count)
    done("planted indefinite problems", count)
  end)

  it("solves triangular P0 problems with a planted solution, in any order of the variables, block after block", function()
    local count, done = campaign(30, 0.02)
    math.randomseed(65)
    local found = 0
    for k = 1, count do
      local n, z, order = 50, {}, {}
      for i = 1, n do table.insert(order, random(1, i), i) end
      local whole = k % 3 > 0
      local M = matrix(n, function(i, j)
        return i == j and (whole and random(0, 2) or math.max(0, normal())) or i < j and (whole and random(-2, 2) or normal()) or 0
      end)
      local p = { M = matrix(n, function(i, j) return M[order[i]][order[j]] end), q = {} }
      for i = 1, n do z[i] = random() < 0.5 and random(1, 3) or 0 end
      plant(p, z, function() return random(0, 3) end)
      if is_found(p) then found = found + 1 end
    end
    assert.is_true(found >= 0.95 * count, found .. " of " .. count)
    done("planted triangular P0 problems", count)
  end)

  it("proves that random problems of 64 variables have no solution, or solves them", function()
    local count, done = campaign(8, 0.02)
    math.randomseed(66)
    local known = 0
    for k = 1, count do
      local p = { M = kinds[1 + k % 2](64), q = {} }
      for i = 1, 64 do p.q[i] = normal() end
      local a = box(p)
      if a.status == "NS_OK" then assert.is_true(boxes.violation(p, a.z) <= 1e-11) end
      if a.status == "NS_OK" or a.status == "NS_ENOSOL" then known = known + 1 end
    end
    assert.is_true(known >= 0.95 * count, known .. " of " .. count)
    done("random problems of 64 variables", count)
  end)

  it("does not take rounding for a proof: an equation that stands there twice", function()
    local p = { M = { { 0, 0, 0.1, -0.3 }, { 0, 0, 0.7, -2.1 }, { -0.1, -0.7, 0, 0 }, { 0.3, 2.1, 0, 0 } },
                q = { -0.1 / 3, -0.7 / 3, 0.1 + 0.7 / 3, -0.3 - 2.1 / 3 }, lower = {}, upper = {} }
    for i = 1, 4 do p.lower[i], p.upper[i] = -inf, inf end
    assert.not_equal("NS_ENOSOL", by(p, "branch").status)
  end)
end)

describe("Lemke's method with many covering vectors", function()
  it("solves relays with indefinite integer matrices", function()
    local count, done = campaign(6, 0.002)
    local found = 0
    math.randomseed(64)
    for k = 1, count do
      local n = 20 + 20 * (k % 2)
      local p = { M = matrix(n, function() return random(-5, 5) end), q = {}, lower = {}, upper = {} }
      for i = 1, n do p.q[i], p.lower[i], p.upper[i] = random(-9, 9), -1, 1 end
      if is_found(p) then found = found + 1 end
    end
    assert.is_true(found >= 0.95 * count, found .. " of " .. count)
    done("relays with indefinite matrices", count)
  end)
end)
