-- ns.numerics.global_friction: published problems, random ones with an independent judge, and the messages.
local ns = require "nslua"
local random = require "random_numbers"
local campaign = require "campaign"

local global = ns.numerics.global_friction

local function sparse(rows, cols, S) return ns.sparse { rows = rows, cols = cols, i = S.i, j = S.j, v = S.v } end

describe("global_friction", function()
  for name, p in pairs(dofile "spec/reference/global_friction_problems.lua") do
    it("solves " .. name, function()
      local a = global { M = sparse(p.n, p.n, p.M), H = sparse(p.n, #p.b, p.H), q = p.q, b = p.b, mu = p.mu, dim = p.dim }
      assert.is_true(a.success)
      assert.is_true(a.residual <= 1e-12 * p.complementarity)
      assert.is_true(a.dynamics <= 1e-14)
    end)
  end

  -- Coulomb's law from its definition, contact by contact, with the velocities of the answer.
  local function check(p, a)
    local u, size = p.H:transpose() * a.v + p.b, 0
    for k = 1, #a.r do size = math.max(size, math.abs(a.r[k]), math.abs(u[k])) end
    assert.is_true((p.M * a.v - p.H * a.r - p.q):norm(math.huge) <= 1e-12 * size * p.M:norm(math.huge))
    for k = 0, #a.r - p.dim, p.dim do
      local n, un, rt, ut, along = a.r[k + 1], u[k + 1], 0, 0, 0
      for t = k + 2, k + p.dim do rt, ut, along = rt + a.r[t]^2, ut + u[t]^2, along + a.r[t] * u[t] end
      rt, ut = math.sqrt(rt), math.sqrt(ut)
      assert.is_true(n >= 0 and un >= -1e-8 * size and math.min(n, un) <= 1e-8 * size)
      assert.is_true(rt <= p.mu * n + 1e-8 * size)
      if ut > 1e-6 * size then assert.near(-p.mu * n * ut, along, 1e-7 * size * size) end
    end
  end

  -- A chain of heavy bodies between light ones, with mu from 0 to 1e9: what sticks has a velocity of rounding.
  it("does not take the rounding of sticking velocities times a huge mu for a singular M", function()
    math.randomseed(82)
    local solved = 0
    for _ = 1, 60 do
      local M, H, v, mu = ns.zeros(12, 12), ns.zeros(12, 9), {}, {}
      for b = 0, 3 do
        local A = ns.matrix(random.matrix_within(3, 3, 1))
        A = (A * A:transpose() + 0.1 * ns.eye(3)) * (b % 2 == 0 and 1e6 or 1)
        for i = 1, 3 do
          for j = 1, 3 do M[3 * b + i][3 * b + j] = (A[i][j] + A[j][i]) / 2 end
        end
      end
      for i = 1, 12 do
        v[i] = random.signed()
        for j = 1, 9 do H[i][j] = (i - 1) // 3 - (j - 1) // 3 >= 0 and (i - 1) // 3 - (j - 1) // 3 <= 1 and random.signed() or 0 end
      end
      for k = 1, 3 do mu[k] = ({ 0, 0.3, 1e6, 1e9 })[math.random(4)] end
      local a = global { M = M, H = H, q = M * ns.vector(v), mu = mu }
      assert.is_true(a.status == "ok" or a.status == "iteration limit", a.status)
      solved = solved + (a.success and 1 or 0)
      for k = 0, a.success and 6 or -1, 3 do
        local n, un = a.r[k + 1], a.u[k + 1]
        assert.is_true(n >= 0 and math.min(n, math.abs(un)) < 1e-8 * a.scale and un > -1e-6)
        local sticks = math.max(math.abs(a.u[k + 2]), math.abs(a.u[k + 3])) < 1e-6
        local bound, force = mu[k // 3 + 1] * n, math.sqrt(a.r[k + 2]^2 + a.r[k + 3]^2)
        assert.is_true(force <= bound + 1e-8 * a.scale and (n < 1e-8 * a.scale or sticks or force >= (1 - 1e-6) * bound))
      end
    end
    assert.is_true(solved > 50)
  end)

  it("solves random problems of bodies with masses of all kinds", function()
    math.randomseed(81)
    local solved, count = 0, campaign(20, 0.5)
    for k = 1, count do
      local dim, bodies, contacts = 2 + k % 2, math.random(2, 5), math.random(1, 4)
      local n, m = 3 * bodies, dim * contacts
      local M, H = ns.zeros(n, n), ns.zeros(n, m)
      for body = 0, bodies - 1 do
        local A = ns.matrix(random.matrix_within(3, 3, 1))
        local S = (A * A:transpose() + ns.eye(3)) * 10 ^ (4 * math.random() - 2)
        for i = 1, 3 do for j = 1, 3 do M[3 * body + i][3 * body + j] = S[i][j] end end
      end
      for c = 0, contacts - 1 do
        for _ = 1, 2 do
          local body = math.random(0, bodies - 1)
          for i = 1, 3 do for j = 1, dim do H[3 * body + i][dim * c + j] = 2 * math.random() - 1 end end
        end
      end
      local p = { M = M, H = H, q = ns.vector(random.vector_within(n, 1)), b = ns.vector(random.vector_within(m, 1)),
                  mu = 0.1 + 0.4 * math.random(), dim = dim }
      local a, again = global(p), global { M = ns.sparse(M), H = ns.sparse(H), q = p.q, b = p.b, mu = p.mu, dim = dim }
      solved = solved + (a.success and 1 or 0)
      if a.success then check(p, a) end
      assert.equal(a.success, again.success)
      for i = 1, n do assert.equal(a.v[i], again.v[i]) end
    end
    assert.is_true(solved >= 0.95 * count, solved .. " of " .. count)
  end)

  it("tells what is wrong", function()
    local function refused(text, change)
      local p = { M = ns.eye(3), H = ns.eye(3), q = { -1, 0, 0 }, mu = 0.3 }
      for key, value in pairs(change) do p[key] = value end
      local good, message = pcall(global, p)
      assert.is_false(good)
      assert.equal(text, (message:gsub("^.-:%d+: ", "")))
    end
    refused("global_friction: M: expected a matrix", { M = "mass" })
    refused("global_friction: M: matrix[2][1] is nan", { M = { { 1, 0, 0 }, { 0 / 0, 1, 0 }, { 0, 0, 1 } } })
    refused("global_friction: H: v[2] is inf",
      { H = { rows = 3, cols = 3, i = { 1, 2, 3 }, j = { 1, 2, 3 }, v = { 1, math.huge, 1 } } })
    refused("global_friction: M: expected a square matrix, got 3 x 2", { M = ns.zeros(3, 2) })
    refused("global_friction: M is singular (in row 1)", { M = ns.zeros(3, 3) })
    refused("global_friction: H: expected 3 rows, got 2", { H = ns.eye(2) })
    refused("global_friction: H: expected a number of columns that is a multiple of 3, got 4", { H = ns.zeros(3, 4) })
    refused("global_friction: dim: expected 2 or 3, got 4", { dim = 4 })
    refused("global_friction: q: expected a vector of 3, got one of 2", { q = { 1, 2 } })
    refused("global_friction: b: expected a vector of 3, got one of 1", { b = { 1 } })
    refused("global_friction: mu = -1 is negative", { mu = -1 })
    local good, message = pcall(global, { mass = 1 })
    assert.is_false(good)
    assert.is_truthy(message:find("global_friction: unknown option 'mass'", 1, true))
  end)
end)
