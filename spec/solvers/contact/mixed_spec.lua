-- Rows with bounds and contacts with friction in one problem.
local ns = require "nslua"
local internal = require "nslua.internal"
local random_mixed = require "random_mixed"
local random_friction = dofile "spec/random_friction.lua"
local inf, nan = math.huge, 0 / 0

local function solve(p, more)
  local problem = { W = p.W, q = p.q, groups = p.groups }
  for key, value in pairs(more or {}) do problem[key] = value end
  return internal.mixed{ problem }[1]
end

local function check(p, a)
  assert.equal("NS_OK", a.status, ("%s %s"):format(p.kind, p.matrix))
  local e = random_mixed.residual(p, a.z)
  assert.is_true(e <= 1e-9, ("%s %s by %s: %g"):format(p.kind, p.matrix, a.solver, e))
  assert.is_true(a.backward <= 1e-10)
  local w, size = random_mixed.output(p, a.z)
  for i = 1, p.n do assert.near(w[i], a.w[i], 1e-9 * size[i] + 1e-300) end
end

local function same(a, b)
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

local function identity(n, x)
  local W = {}
  for i = 1, n do
    W[i] = {}
    for j = 1, n do W[i][j] = i == j and (x or 1) or 0 end
  end
  return W
end

describe("a problem of rows and contacts", function()
  for _, matrix in ipairs{ "regular", "skewed", "redundant", "saddle" } do
    for _, kind in ipairs(random_mixed.names) do
      it(("is solved: %s, %s matrix"):format(kind, matrix), function()
        math.randomseed(31)
        for _ = 1, 12 do
          local p = random_mixed.problem(kind, matrix, math.random(#random_mixed.kinds[kind], 14))
          check(p, solve(p))
        end
      end)
    end
  end

  it("may be empty", function()
    local a = internal.mixed{ { W = ns.zeros(0, 0), q = {}, groups = {} } }[1]
    assert.equal("NS_OK", a.status)
  end)

  it("takes a contact or a row that nothing sees", function()
    math.randomseed(5)
    for _ = 1, 20 do
      local p = random_mixed.problem("all", "regular", 10)
      local lost = math.random(p.n)
      for j = 1, p.n do p.W[lost][j], p.W[j][lost] = 0, 0 end
      p.q[lost] = 0
      check(p, solve(p))
    end
  end)

  it("is the box problem where there are rows alone", function()
    math.randomseed(6)
    for _ = 1, 30 do
      local p = random_mixed.problem("rows", "regular", math.random(1, 12))
      local lower, upper, W = {}, {}, {}
      for i, group in ipairs(p.groups) do lower[i], upper[i] = group.lower or -inf, group.upper or inf end
      for i = 1, p.n do W[i] = p.W[i] end
      local a, b = solve(p), internal.box{ M = W, q = p.q, lower = lower, upper = upper }
      assert.equal(b.status, a.status)
      assert.equal(b.solver, a.solver)
      assert.is_true(same(a.z, b.z) and same(a.w, b.w))
    end
  end)

  it("is the friction problem where there are contacts of one dimension alone", function()
    math.randomseed(7)
    for dim = 2, 3 do
      for nc = 2, 10 do
        local p = random_friction.problem("full_rank", dim, nc)
        local groups = {}
        for i = 1, nc do groups[i] = { dim = dim, mu = p.mu[i] } end
        local a = internal.mixed{ { W = p.W, q = p.q, groups = groups } }[1]
        local b = ns.numerics[dim == 2 and "fc2d" or "fc3d"]{ W = p.W, q = p.q, mu = p.mu, tolerance = 1e-10 }
        assert.equal("NS_OK", a.status)
        assert.is_true(random_friction.residual(p, a.z) <= 1e-10)
        for k = 1, dim * nc do assert.near(b.r[k], a.z[k], 1e-8 * (1 + b.r:norm(inf))) end
      end
    end
  end)

  it("knows one contact in closed form", function()
    local a = solve{ W = identity(3, 2), q = { -1, 0.5, 0 }, groups = { { dim = 3, mu = 0.3 } } }
    assert.equal("exact", a.solver)
    assert.near(0.5, a.z[1], 1e-15)
    assert.near(-0.15, a.z[2], 1e-15)
    a = solve{ W = identity(2, 2), q = { -1, 0.1 }, groups = { { dim = 2, mu = 0.3 } } }
    assert.equal("exact", a.solver)
    assert.near(-0.05, a.z[2], 1e-15)
    a = solve{ W = identity(2), q = { 1, 0.1 }, groups = { { dim = 2, mu = 0 } } }
    assert.is_true(same(a.z, { 0, 0 }))
  end)

  it("has the same answer from a sparse matrix", function()
    math.randomseed(8)
    for _, kind in ipairs(random_mixed.names) do
      local p = random_mixed.problem(kind, "regular", 9)
      local a, b = solve(p), solve(p, { sparse = true })
      assert.equal(a.status, b.status)
      assert.is_true(same(a.z, b.z), kind)
    end
  end)

  it("is solved when it is large and sparse #once", function()
    local n, groups, q = 0, {}, {}
    for c = 1, 230 do -- bodies side by side, each on the floor, every third one tied to the wall
      local group = c % 3 == 0 and { dim = 1 } or c % 7 == 0 and { dim = 1, lower = -0.1, upper = 0.2 }
        or { dim = 3, mu = 0.4 }
      groups[c], n = group, n + group.dim
    end
    local W = identity(n, 2)
    for i = 1, n do
      q[i] = math.sin(i) - 0.3
      if i < n then W[i][i + 1], W[i + 1][i] = 0.4, 0.4 end
    end
    for _, fewer in ipairs{ true, false } do -- below and above the size that is made dense
      local p = { W = W, q = q, groups = groups, n = n, kind = "large", matrix = "band" }
      if not fewer then
        local W2, q2 = identity(2 * n, 2), {}
        local g2 = {}
        for k = 1, 2 * #groups do g2[k] = groups[(k - 1) % #groups + 1] end
        for i = 1, 2 * n do
          q2[i] = math.sin(i) - 0.3
          if i < 2 * n then W2[i][i + 1], W2[i + 1][i] = 0.4, 0.4 end
        end
        p = { W = W2, q = q2, groups = g2, n = 2 * n, kind = "large", matrix = "band" }
      end
      check(p, solve(p, { sparse = true }))
    end
  end)

  it("has large rows alone solved by the sparse box solver", function()
    local n = 320
    local W, q, groups = identity(n, 2), {}, {}
    for i = 1, n do
      q[i], groups[i] = math.cos(i), { lower = -0.1, upper = i % 2 == 0 and 0.3 or nil }
      if i < n then W[i][i + 1], W[i + 1][i] = -1, -1 end
    end
    local a = solve({ W = W, q = q, groups = groups }, { sparse = true })
    local b = solve({ W = W, q = q, groups = groups })
    assert.equal("NS_OK", a.status)
    for i = 1, n do assert.near(b.z[i], a.z[i], 1e-10) end
  end)
end)

describe("the solver of rows and contacts", function()
  it("gives the same bits again, from the start", function()
    math.randomseed(9)
    local list = {}
    for k, kind in ipairs(random_mixed.names) do
      local p = random_mixed.problem(kind, "redundant", 9)
      list[k] = { W = p.W, q = p.q, groups = p.groups }
    end
    local a, b = internal.mixed(list), internal.mixed(list)
    for k = 1, #list do assert.is_true(same(a[k].z, b[k].z), random_mixed.names[k]) end
  end)

  it("takes its own answer as it is, and an answer nearby in few steps", function()
    math.randomseed(10)
    for _, kind in ipairs{ "joints_plane", "joints_space", "motors_space", "all" } do
      local p = random_mixed.problem(kind, "regular", 10)
      local a = solve(p)
      local b = solve(p, { guess = a.z })
      assert.is_true(b.iterations <= 1)
      for i = 1, p.n do assert.near(a.z[i], b.z[i], 1e-12 * (1 + math.abs(a.z[i]))) end
      for i = 1, p.n do p.q[i] = p.q[i] * (1 + 1e-6 * math.sin(i)) end
      b = solve(p, { guess = a.z })
      check(p, b)
      assert.is_true(b.iterations <= 4, kind .. " " .. b.iterations)
    end
  end)

  it("stays at the guess where forces are not unique", function()
    -- two equations that say the same: any split of the force is a solution
    local W, q = { { 1, 1, 0, 0 }, { 1, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } }, { -2, -2, -1, 0.1 }
    local groups = { {}, {}, { dim = 2, mu = 0.5 } }
    local a = solve({ W = W, q = q, groups = groups }, { guess = { 1.5, 0.5, 1, -0.1 } })
    assert.equal("NS_OK", a.status)
    assert.near(1.5, a.z[1], 1e-12)
    assert.near(0.5, a.z[2], 1e-12)
    local b = solve({ W = W, q = q, groups = groups })
    assert.near(2, b.z[1] + b.z[2], 1e-12)
  end)

  it("counts a guess that is not finite as zero", function()
    local groups, guess = { { lower = 0 }, { dim = 2, mu = 0.5 } }, { nan, inf, -inf }
    local a = solve({ W = identity(3), q = { -1, -1, 0 }, groups = groups }, { guess = guess })
    assert.equal("NS_OK", a.status)
    assert.near(1, a.z[1], 1e-12)
  end)

  it("makes room once", function()
    math.randomseed(11)
    local list = {}
    for _, kind in ipairs{ "rows", "plane", "space", "joints_plane", "motors_space", "both", "all" } do
      for _, count in ipairs{ 9, 7, 8 } do
        local p = random_mixed.problem(kind, "regular", count)
        list[#list + 1] = { W = p.W, q = p.q, groups = p.groups }
      end
    end
    local count = #list
    for k = 1, count do list[count + k] = list[k] end
    local answers = internal.mixed(list)
    for k = 1, count do
      assert.equal("NS_OK", answers[count + k].status)
      local p = list[k]
      local uniform = true
      for _, group in ipairs(p.groups) do uniform = uniform and group.dim == p.groups[1].dim end
      if not uniform or #p.groups <= 8 then assert.equal(0, answers[count + k].allocations, k) end
    end
  end)

  it("refuses bad data", function()
    local good = { W = identity(3), q = { -1, -1, 0 }, groups = { { lower = 0 }, { dim = 2, mu = 0.5 } } }
    local function status(change)
      local p = { W = identity(3), q = { -1, -1, 0 }, groups = { { lower = 0 }, { dim = 2, mu = 0.5 } } }
      change(p)
      local a = solve(p)
      if a.status ~= "NS_OK" then
        for i = 1, 3 do assert.is_true(a.z[i] ~= a.z[i] and a.w[i] ~= a.w[i]) end
      end
      return a.status
    end
    assert.equal("NS_OK", solve(good).status)
    assert.equal("NS_ENAN", status(function(p) p.W[2][3] = nan end))
    assert.equal("NS_ENAN", status(function(p) p.W[1][3] = inf end))
    assert.equal("NS_ENAN", status(function(p) p.q[2] = nan end))
    assert.equal("NS_ENAN", status(function(p) p.groups[1].lower = nan end))
    assert.equal("NS_ENAN", status(function(p) p.groups[2].mu = nan end))
    assert.equal("NS_ENAN", status(function(p) p.groups[2].mu = inf end))
    assert.equal("NS_EARG", status(function(p) p.groups[2].mu = -0.1 end))
    assert.equal("NS_EARG", status(function(p) p.groups[1] = { lower = 1, upper = 0 } end))
    assert.equal("NS_EARG", status(function(p) p.groups[1] = { lower = inf } end))
    assert.equal("NS_EARG", status(function(p) p.groups[1] = { upper = -inf } end))
    assert.equal("NS_EARG", status(function(p) p.groups[2].dim = 3 end))
    assert.equal("NS_EARG", status(function(p) p.groups[1].dim = 4 end))
    assert.equal("NS_EARG", status(function(p) p.groups[3] = {} end))
    assert.equal("NS_ENAN", status(function(p)
      p.groups = { {}, {}, { lower = 0 } }
      p.W[1][1] = nan
    end))
  end)

  it("fails openly where there is no solution", function()
    -- a contact that no force holds, beside a row
    local W = { { 0, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
    for _, groups in ipairs{ { { dim = 2, mu = 0.3 }, { lower = 0 } }, { { dim = 2, mu = 0.3 }, {} } } do
      local a = solve{ W = W, q = { -1, 0, 1 }, groups = groups }
      assert.is_true(a.status == "NS_ENOSOL" or a.status == "NS_ERAY", a.status)
      assert.is_true(a.backward > 1e-10)
    end
    -- two equations that contradict each other
    W = identity(5)
    W[1][2], W[2][1] = 1, 1
    local a = solve{ W = W, q = { -1, -2, -1, 0, 0 }, groups = { {}, {}, { dim = 3, mu = 0.2 } } }
    assert.equal("NS_ESINGULAR", a.status)
    assert.is_true(a.backward > 1e-8 and a.residual > 0.1)
  end)

  it("never calls a wrong answer right, whatever the matrix #once", function()
    math.randomseed(12)
    local solved = 0
    for _ = 1, 40 do
      local groups, n = random_mixed.list("all", math.random(2, 6))
      local p = { groups = groups, n = n, W = identity(n), q = {}, kind = "all", matrix = "any" }
      for i = 1, n do
        p.q[i] = math.random() - 0.5
        for j = 1, n do p.W[i][j] = math.random() - 0.5 end
      end
      local a = solve(p, { max_iterations = 200 })
      if a.status == "NS_OK" then
        solved = solved + 1
        check(p, a)
      else
        assert.is_true(a.backward > 1e-10)
      end
    end
    assert.is_true(solved > 10)
  end)

  it("does not depend on the units of the rows", function()
    math.randomseed(13)
    for _ = 1, 10 do
      local p, row = random_mixed.problem("motors_space", "regular", 8), 0
      local contacts = 10.0 ^ math.random(-6, 6)
      for _, group in ipairs(p.groups) do
        local s = group.dim == 1 and 10.0 ^ math.random(-6, 6) or contacts
        for _ = 1, group.dim do
          row = row + 1
          for j = 1, p.n do p.W[row][j] = p.W[row][j] * s end
          for j = 1, p.n do p.W[j][row] = p.W[j][row] * s end
          p.q[row] = p.q[row] * s
        end
        group.lower, group.upper = group.lower and group.lower / s, group.upper and group.upper / s
      end
      check(p, solve(p))
    end
  end)

  it("has the same bits for one contact in ordinary units, and in units that are balanced first", function()
    math.randomseed(31)
    for trial = 1, 200 do
      local dim = 2 + trial % 2
      local G, W, q = {}, ns.zeros(dim, dim), ns.vector(dim)
      for i = 1, dim do
        G[i], q[i] = {}, math.random() - 0.7
        for k = 1, dim do G[i][k] = math.random() - 0.5 end
        for j = 1, i do
          local sum = i == j and trial % 3 * 0.1 or 0
          for k = 1, dim do sum = sum + G[i][k] * G[j][k] end
          W[i][j], W[j][i] = sum, sum
        end
      end
      local groups, answer = { { dim = dim, mu = 1.2 * math.random() } }, nil
      for _, power in ipairs { 0, 7, -31, 230, -260 } do
        local a = ns.numerics.generic_mechanical { W = W * 2.0 ^ power, q = q, groups = groups }
        local force = a.z * 2.0 ^ power
        answer = answer or a
        assert.is_true(a.success, trial)
        assert.equal(answer.solver, a.solver)
        assert.equal(answer.backward, a.backward, trial)
        for i = 1, dim do
          assert.equal(answer.z[i], force[i], trial)
          assert.equal(answer.w[i], a.w[i], trial)
        end
      end
    end
  end)

  it("is found where data come from far: only the last of a chain of groups has a q", function()
    local seeds = require "campaign"(40, 0.05)
    for seed = 1, seeds do
      math.randomseed(seed)
      local groups, first, n = {}, {}, 0
      for g = 1, 8 do
        groups[g], first[g] = g % 2 == 1 and { dim = 3, mu = 2 * math.random() } or { lower = 0 }, n
        n = n + (g % 2 == 1 and 3 or 1)
      end
      local A, q = ns.zeros(n, n + 4), ns.zeros(n)
      for g = 1, 8 do
        for i = first[g] + 1, first[g + 1] or n do
          for j = first[g] + 1, first[g + 2] or n + 4 do A[i][j] = 2 * math.random() - 1 end
        end
      end
      for i = first[8] + 1, n do q[i] = -math.random() end
      local W = A * A:transpose()
      local answer = ns.numerics.generic_mechanical { W = W, q = q, groups = groups }
      assert.is_true(answer.success, seed)
      local units = {}
      for g = 1, 8 do
        local unit = 2 ^ math.random(-20, 20)
        for i = first[g] + 1, first[g + 1] or n do units[i] = unit end
      end
      for i = 1, n do
        q[i] = units[i] * q[i]
        for j = 1, n do W[i][j] = units[i] * W[i][j] * units[j] end
      end
      local scaled = ns.numerics.generic_mechanical { W = W, q = q, groups = groups }
      assert.is_true(scaled.success, seed)
      assert.equal(answer.solver, scaled.solver, seed)
      assert.equal(answer.backward, scaled.backward, seed)
      for i = 1, n do assert.equal(answer.z[i], scaled.z[i] * units[i], seed) end
    end
  end)
end)
