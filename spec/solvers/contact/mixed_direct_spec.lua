-- The direct attempt at few contacts: its answers, in all units, beside strangers, and when there is none.
local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"
local campaign = require "campaign"

local function solve(p, more)
  local options = { W = p.W, q = p.q, mu = p.mu }
  for key, value in pairs(more or {}) do options[key] = value end
  return ns.numerics[p.dim == 2 and "fc2d" or "fc3d"](options)
end

local function problem(kind, dim, nc)
  local p = random_friction.problem(kind, dim, nc)
  p.dim, p.nc = dim, nc
  return p
end

-- The problems of the list as one, which W does not connect.
local function together(list)
  local t, n = { dim = list[1].dim, W = {}, q = {}, mu = {} }, 0
  for _, p in ipairs(list) do n = n + #p.q end
  local at = 0
  for _, p in ipairs(list) do
    for i = 1, #p.q do
      t.W[at + i], t.q[at + i] = {}, p.q[i]
      for j = 1, n do t.W[at + i][j] = p.W[i][j - at] or 0 end
    end
    for c = 1, #p.q // p.dim do t.mu[at // p.dim + c] = p.mu[c] end
    at = at + #p.q
  end
  return t
end

describe("the direct attempt at few contacts", function()
  it("solves most random problems to rounding, as the sweeps do", function()
    local count, done = campaign(40, 0.05)
    local direct = 0
    math.randomseed(71)
    for k = 1, count do
      local p = problem("full_rank", 2 + k % 2, 1 + k % 6)
      local a = solve(p)
      assert.is_true(a.success, a.message)
      if a.solver == "direct" then
        direct = direct + 1
        assert.is_true(random_friction.residual(p, a.r) <= 1e-13)
        assert.is_true(a.scaled <= 1e-14)
      end
      local mild = {}
      for i = 1, p.nc do mild[i] = 0.1 * p.mu[i] end
      p.mu = mild -- little friction: one solution
      a = solve(p)
      local b = solve(p, { solver = "nsgs", tolerance = 1e-13 })
      for i = 1, #p.q do
        if b.success then assert.is_true(math.abs(a.r[i] - b.r[i]) <= 1e-9 * a.scale) end
      end
    end
    assert.is_true(direct >= 0.6 * count, direct .. " of " .. count)
    done("direct attempts at contacts", count)
  end)

  it("sweeps on where Newton's method fails, so that towers and tables with more legs than they need are solved, too", function()
    local count, done = campaign(60, 0.05)
    local direct = 0
    math.randomseed(77)
    for k = 1, count do
      local p = problem(({ "tower", "table_legs", "rank_deficient" })[k % 3 + 1], 2, 4 + k % 7)
      local a = solve(p)
      assert.is_true(a.success, a.message)
      assert.is_true(random_friction.residual(p, a.r) <= 1e-10)
      if a.solver == "direct" then direct = direct + 1 end
    end
    assert.is_true(direct >= 0.95 * count, direct .. " of " .. count)
    done("direct attempts at towers and tables", count)
  end)

  it("has the same bits in units of each contact, ordinary and extreme ones", function()
    math.randomseed(72)
    local seen = {}
    for _, kind in ipairs { "full_rank", "rank_deficient" } do
      for dim = 2, 3 do
        local p = problem(kind, dim, 4)
        local a = solve(p)
        seen[a.solver] = true
        for _, most in ipairs { 9, 150 } do
          local s, h, g = { dim = dim, mu = p.mu, W = {}, q = {} }, {}, {}
          for i = 1, #p.q do
            local first = (i - 1) % dim == 0
            h[i] = first and 2.0 ^ math.random(-most, most) or h[i - 1]
            g[i] = h[i] * 2.0 ^ 5
          end
          for i = 1, #p.q do
            s.q[i], s.W[i] = h[i] * p.q[i], {}
            for j = 1, #p.q do s.W[i][j] = h[i] * p.W[i][j] * g[j] end
          end
          local b = solve(s)
          assert.equal(a.solver, b.solver)
          for i = 1, #p.q do
            assert.equal(a.r[i], b.r[i] * g[i])
            assert.equal(a.u[i], b.u[i] / h[i])
          end
        end
      end
    end
    assert.is_true(seen.direct)
  end)

  it("has the same bits beside strangers, also beyond 64 rows", function()
    math.randomseed(73)
    for _, count in ipairs { 3, 14 } do
      local list = {}
      for k = 1, count do list[k] = problem("full_rank", 2, 1 + k % 5) end
      local all, at = solve(together(list)), 0
      for _, p in ipairs(list) do
        local a = solve(p)
        for i = 1, #p.q do assert.equal(a.r[i], all.r[at + i]) end
        at = at + #p.q
      end
    end
  end)

  it("takes 64 rows at most", function()
    math.randomseed(76)
    for nc = 31, 34 do
      local p = problem("full_rank", 2, nc)
      for i = 1, nc do p.mu[i] = 5 end -- most contacts stick, the last ones too
      local a = solve(p)
      assert.is_true(a.success, a.message)
      assert.is_true(nc <= 32 or a.solver ~= "direct")
    end
  end)

  it("takes sparse matrices, with the same bits", function()
    math.randomseed(74)
    local p = problem("full_rank", 3, 5)
    local a, b = solve(p), solve({ dim = 3, W = ns.sparse(p.W), q = p.q, mu = p.mu })
    assert.equal("direct", a.solver)
    for i = 1, #p.q do assert.equal(a.r[i], b.r[i]) end
  end)

  it("leaves contacts open that are open without forces, whatever W and mu are", function()
    local a = solve { dim = 2, W = { { 0, 5, 1, 0 }, { 1, 0, 0, 3 }, { -1, 0, 0, 0 }, { 0, 0, 2, 0 } },
                      q = { 0, -1, 2, 7 }, mu = { 3, 0 } }
    assert.equal("guess", a.solver)
    for i, u in ipairs { 0, -1, 2, 7 } do
      assert.equal(0, a.r[i])
      assert.equal(u, a.u[i])
    end
  end)

  it("is not made from a guess, with a limit of sweeps, by another method and for two discs", function()
    math.randomseed(75)
    local p = problem("full_rank", 2, 3)
    assert.equal("direct", solve(p).solver)
    for _, more in ipairs { { r0 = { 1, 0, 1, 0, 1, 0 } }, { max_iterations = 500 }, { solver = "newton" } } do
      assert.not_equal("direct", solve(p, more).solver)
    end
    local roll = ns.numerics.rolling_fc2d { W = ns.eye(3), q = { -1, 0.2, 0.5 }, mu = 0.3, mu_r = 0.1 }
    assert.not_equal("direct", roll.solver)
  end)

  it("does not hide that there is no solution", function()
    local a = solve { dim = 2, W = { { 0, 0 }, { 0, 1 } }, q = { -1, 0 }, mu = { 0.5 } }
    assert.is_false(a.success)
    assert.not_equal("direct", a.solver)
  end)
end)
