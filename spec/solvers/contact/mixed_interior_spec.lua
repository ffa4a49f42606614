-- The interior-point method for contacts in the plane, alone and in the chain.
local ns = require "nslua"
local internal = require "nslua.internal"
local random_heap = require "random_heap"
local random_mixed = require "random_mixed"

describe("interior points for contacts in the plane", function()
  it("come near a solution of most heaps, redundant contacts or not", function()
    math.randomseed(61)
    local near, count = 0, 12
    for k = 1, count do
      local p = random_heap.problem(2 + k % 4, 2 + k % 3, 0.1 + 0.05 * k)
      p.sparse = true
      local a = internal.mixed_part(p, "interior")
      if a.measure <= 1e-6 then
        near = near + 1
        assert.is_true(random_heap.breach(p, a.z) <= 1e-4)
      end
    end
    assert.is_true(near >= 0.75 * count, near .. " of " .. count)
  end)

  it("solve without friction, where the problem is convex", function()
    math.randomseed(62)
    for _ = 1, 6 do
      local p = random_heap.problem(4, 3, 0)
      p.sparse = true
      local a = internal.mixed_part(p, "interior")
      assert.is_true(a.measure <= 1e-7, ("%g"):format(a.measure))
      assert.is_true(a.iterations <= 60)
    end
  end)

  -- With r and v = u + s e_n, s = mu |u_T| at the point given: r in the cone, v in its dual, r.v = 0.
  it("solve the associated problem", function()
    math.randomseed(63)
    for _ = 1, 6 do
      local mu = 0.4
      local p = random_heap.problem(4, 3, mu)
      p.sparse = true
      local r = internal.mixed_part(p, "associated").z
      local u, worst = p.W * r + p.q, 0
      for c = 1, #p.groups do
        local rn, rt, vn, vt = r[2 * c - 1], r[2 * c], u[2 * c - 1] + mu * math.abs(p.q[2 * c]), u[2 * c]
        worst = math.max(worst, math.abs(rt) - mu * rn, mu * math.abs(vt) - vn, math.abs(rn * vn + rt * vt))
      end
      assert.is_true(worst <= 1e-6, ("%g"):format(worst))
    end
  end)

  -- From 0, with W + 0.1 / rho: again a problem of Coulomb, judged as one.
  it("solve the proximal problem, and its rounds come nearer", function()
    math.randomseed(67)
    for _ = 1, 4 do
      local p = random_heap.problem(4, 3, 0.5)
      p.sparse = true
      local a = internal.mixed_part(p, "proximal")
      local other = { W = 1 * p.W, q = p.q, groups = p.groups, n = p.n }
      for i = 1, p.n do
        local term = 0.1 / a.rho[(i + 1) // 2]
        other.W[i][i] = other.W[i][i] + term
      end
      assert.equal("NS_OK", a.status)
      assert.is_true(random_heap.breach(other, a.z) <= 1e-5)
      local first, guess = a.measure, a.z
      for _ = 1, 10 do
        p.guess = guess
        a = internal.mixed_part(p, "proximal")
        guess = a.z
      end
      assert.is_true(a.measure < first)
    end
  end)

  -- So large that a factorisation takes memory: a failure there is no singular matrix.
  it("tell of memory that fails, in whichever step #once", function()
    math.randomseed(71)
    local p = random_heap.problem(20, 20, 0.3)
    p.sparse = true
    assert.equal("NS_OK", internal.mixed_part(p, "associated").status)
    local n, told, came = 0, 0, true
    while came do
      local good, result
      came, good, result = internal.failing(n, false, internal.mixed_part, p, "associated")
      if not came then assert.equal("NS_OK", result.status) end
      if came and good then
        assert.equal("NS_ENOMEM", result.status, "allocation " .. n)
        told = told + 1
      elseif came then
        assert.truthy(tostring(result):find "memory" or tostring(result):find "NS_ENOMEM", result)
      end
      n = n + 1
    end
    assert.is_true(told > 5, "told " .. told)
  end)

  it("leave contacts in space, and dense matrices, alone", function()
    math.randomseed(64)
    local p = random_mixed.problem("joints_space", "regular", 8)
    p.sparse = true
    assert.equal("NS_ESIZE", internal.mixed_part(p, "interior").status)
    p = random_heap.problem(3, 2, 0.3)
    assert.equal("NS_ESIZE", internal.mixed_part(p, "interior").status)
  end)
end)

describe("heaps in the plane", function()
  it("are solved, given sparse or dense", function()
    math.randomseed(65)
    for k = 1, 4 do
      local p = random_heap.problem(6, 6 + k, 0.2 * k)
      p.sparse = true
      local sparse = internal.mixed { p }[1]
      p.sparse = false
      local dense = internal.mixed { p }[1]
      for _, a in ipairs { sparse, dense } do
        assert.equal("NS_OK", a.status)
        assert.is_true(random_heap.breach(p, a.z) <= 1e-7)
      end
    end
  end)

  -- A tolerance that was chosen is what an answer passes, and all that it is asked for.
  it("are solved to the tolerance that is chosen, each tolerance for its price", function()
    math.randomseed(68)
    local p = random_heap.problem(12, 20, 0.4)
    p.sparse = true
    local before = 0
    for _, tolerance in ipairs { 1e-3, 1e-4, 1e-5, 1e-6 } do
      p.tolerance = tolerance
      local a = internal.mixed { p }[1]
      assert.equal("NS_OK", a.status)
      assert.is_true(a.backward <= tolerance)
      assert.is_true(random_heap.breach(p, a.z) <= 1e3 * tolerance)
      if a.solver == "conjugate_gauss_seidel" then
        assert.is_true(a.backward > 1e-3 * tolerance and a.iterations >= before)
        before = a.iterations
      end
    end
    assert.is_true(before > 0)
  end)

  it("keep a guess within a tolerance that is chosen, bit for bit, when asked to", function()
    math.randomseed(69)
    local p = random_heap.problem(8, 12, 0.4)
    p.sparse, p.tolerance = true, 1e-4
    local a = internal.mixed { p }[1]
    p.guess, p.keep = a.z, 1
    for i = 1, p.n do p.q[i] = p.q[i] * (1 + 1e-9 * (i % 3)) end
    local b = internal.mixed { p }[1]
    assert.equal("guess", b.solver)
    for i = 1, p.n do assert.equal(a.z[i], b.z[i]) end
    p.tolerance = 1e-10 -- the guess is no answer now
    b = internal.mixed { p }[1]
    assert.equal("NS_OK", b.status)
    assert.is_true(b.solver ~= "guess" and b.backward <= 1e-10)
    p.tolerance = nil -- that of those who choose none: it is improved
    p.guess = b.z
    assert.is_true(internal.mixed { p }[1].solver ~= "guess")
  end)

  it("give the same bits twice", function()
    math.randomseed(66)
    local p = random_heap.problem(8, 8, 0.3)
    p.sparse = true
    local a, b = internal.mixed { p }[1], internal.mixed { p }[1]
    assert.equal("NS_OK", a.status)
    for i = 1, p.n do assert.equal(a.z[i], b.z[i]) end
  end)
end)

describe("heaps of many contacts with rows among them", function()
  -- Sums of some contacts' rows are rows of their own, between bounds or equations.
  local function with_rows(p, count)
    local T, extra, groups = ns.zeros(count, p.n), ns.zeros(count), { table.unpack(p.groups) }
    for i = 1, count do
      for _ = 1, 3 do T[i][math.random(p.n)] = math.random(-2, 2) end
      groups[#groups + 1] = i % 3 == 0 and {} or { lower = -0.1, upper = i % 3 == 1 and 0.2 or nil }
      extra[i] = math.random() - 0.5
    end
    local WT = p.W * T:transpose()
    return { W = ns.block { { p.W, WT }, { WT:transpose(), T * WT + 0.5 * ns.eye(count) } },
      q = ns.concatenate { p.q, T * p.q + extra }, groups = groups, contacts = p.groups, n = p.n + count }
  end

  local function solve(p, tolerance, most)
    return ns.numerics.generic_mechanical { W = ns.sparse(p.W), q = p.q, groups = p.groups, tolerance = tolerance,
      max_iterations = most }
  end

  it("are solved, also where sweeps are few", function()
    math.randomseed(71)
    for _, most in ipairs { 3, 1000 } do
      local p = with_rows(random_heap.problem(12, 7, 0.5), 20)
      local r = solve(p, 1e-10, most)
      assert.is_true(r.success, r.message)
      assert.is_true(random_heap.breach({ W = p.W, q = p.q, groups = p.contacts }, r.z) <= 1e-7)
      local w = p.W * r.z + p.q
      for i = p.n - 19, p.n do
        local group = p.groups[#p.groups - p.n + i]
        local lower, upper = group.lower or -math.huge, group.upper or math.huge
        assert.near(r.z[i], math.max(lower, math.min(upper, r.z[i] - w[i])), 1e-7)
      end
    end
  end)

  it("give the best point where no method comes below the tolerance", function()
    math.randomseed(7)
    local p = with_rows(random_heap.problem(12, 7, 0.5), 20)
    local r = solve(p, 1e-18, 5)
    assert.is_false(r.success)
    assert.equal("iteration limit", r.status)
    assert.is_true(r.backward <= 1e-12, ("%g"):format(r.backward))
    assert.is_true(random_heap.breach({ W = p.W, q = p.q, groups = p.contacts }, r.z) <= 1e-7)
  end)
end)
