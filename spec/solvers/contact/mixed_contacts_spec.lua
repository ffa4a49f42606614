local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"
local reference = dofile "spec/reference/friction_problems.lua"

local function solve(p, solver, more)
  local options = { W = p.W, q = p.q, mu = p.mu, solver = solver }
  for key, value in pairs(more or {}) do options[key] = value end
  return ns.numerics[p.dim == 2 and "fc2d" or "fc3d"](options)
end

local function rows_of(p)
  if p.W then return p end
  local n, W = p.dim * p.nc, {}
  for i = 1, n do
    W[i] = {}
    for j = 1, n do W[i][j] = 0 end
  end
  for k = 1, #p.v do W[p.i[k]][p.j[k]] = p.v[k] end
  p.W = W
  return p
end

local names = require "sorted_names"(reference)

describe("the chain of friction solvers on published problems", function()
  for _, name in ipairs(names) do
    it("solves " .. name, function()
      local p = rows_of(reference[name])
      local a = solve(p)
      assert.is_true(a.success, a.message)
      assert.is_true(random_friction.residual(p, a.r) <= 1e-8)
      assert.is_true(a.residual / p.scale <= 1e-8)
      assert.is_true(math.abs(a.relative * a.scale - a.residual) <= 1e-12 * a.scale)
    end)
  end
end)

describe("the chain of friction solvers", function()
  local function check(p, seed)
    local a = solve(p)
    assert.is_true(a.success, seed .. ": " .. a.message)
    assert.is_true(random_friction.residual(p, a.r) <= 1.01e-8)
  end

  it("solves stacks of boxes whose masses are far apart #once", function()
    for seed = 1, 6 do
      math.randomseed(seed)
      check(random_friction.stack(5, 6, 0.8), seed)
    end
  end)

  it("solves heaps of rough bodies that wedge", function()
    for seed = 1, 8 do
      math.randomseed(seed)
      check(random_friction.wedged(20, 7, seed % 2 == 0 and 6 or 0, seed % 4 < 2 and 5 or 1), seed)
    end
  end)
end)

-- NSLUA_RANDOM problems in all, a few of each kind when it is not set.
local campaign = tonumber(os.getenv "NSLUA_RANDOM" or "") or 0

describe("the chain of friction solvers on random problems", function()
  for dim = 2, 3 do
    for _, kind in ipairs(random_friction.names) do
      it(("calls nothing wrong a success: %dD %s #once"):format(dim, kind), function()
        math.randomseed(17)
        local slow = kind == "unsolvable" or kind == "wild"
        local count, solved = slow and 3 + campaign // 2000 or math.max(25, campaign // 26), 0
        for _ = 1, count do
          local p = random_friction.problem(kind, dim, math.random(1, slow and 3 or 7))
          local a = solve(p)
          if a.success then
            solved = solved + 1
            assert.equal("ok", a.status)
            assert.is_true(random_friction.residual(p, a.r) <= 1.01e-8)
          else
            assert.are_not.equal("ok", a.status)
          end
        end
        if campaign > 0 then print(("\nfriction %dD %s: %d of %d solved"):format(dim, kind, solved, count)) end
        if kind == "unsolvable" then assert.equal(0, solved) end
        if kind == "huge_mu" then assert.is_true(solved >= 0.9 * count)
        elseif kind ~= "wild" and kind ~= "unsolvable" then assert.is_true(solved >= 0.999 * count) end
      end)
    end
  end

  it("gives the same bits for the same input", function()
    math.randomseed(4)
    local p = random_friction.problem("rank_deficient", 3, 9)
    local a, b = solve(p), solve(p)
    for k = 1, #a.r do assert.equal(a.r[k], b.r[k]) end
    assert.equal(a.iterations, b.iterations)
  end)

  it("says that there is no solution where the plane allows the proof, and gives up honestly in space", function()
    local a = ns.numerics.fc2d{ W = { { 0, 0 }, { 0, 1 } }, q = { -1, 0 }, mu = 0.3 }
    assert.is_false(a.success)
    assert.is_true(a.status == "no solution" or a.status == "ray")
    local b = ns.numerics.fc3d{ W = ns.zeros(3, 3), q = { -1, 0, 0 }, mu = 0.3 }
    assert.is_false(b.success)
    assert.equal("iteration limit", b.status)
  end)

  it("does not take forces that run away for an answer", function()
    local a = ns.numerics.fc2d{
      W = { { 5, 0.1, 0, 0 }, { 0.1, 4, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }, q = { 10, -3, -1, -1.5 }, mu = 0.5,
    }
    assert.is_false(a.success)
  end)

  it("starts from a guess", function()
    local p = rows_of(reference.Rover1040)
    local a = solve(p)
    local b = solve(p, "default", { r0 = a.r })
    assert.is_true(b.success)
    assert.is_true(b.iterations <= 6)
    for k = 1, #a.r do assert.near(a.r[k], b.r[k], 1e-7 * a.scale) end
  end)

  it("respects a tolerance", function()
    local p = rows_of(reference["OneObject-i1028-138"])
    local a = solve(p, "default", { tolerance = 1e-12 })
    assert.is_true(a.success and a.relative <= 1e-12 and a.scaled <= 1e-12)
  end)
end)

describe("hundreds of contacts, and a thousand", function()
  it("are solved from a sparse matrix #once", function()
    for dim = 2, 3 do
      math.randomseed(8)
      local p = random_friction.pile(dim, dim == 2 and 300 or 1000)
      local W = ns.sparse{ rows = p.n, cols = p.n, i = p.i, j = p.j, v = p.v }
      local a = ns.numerics[dim == 2 and "fc2d" or "fc3d"]{ W = W, q = p.q, mu = p.mu }
      assert.is_true(a.success, a.status)
      local u = W * a.r
      for k = 1, p.n do assert.near(u[k] + p.q[k], a.u[k], 1e-12) end
      for i = 1, p.nc do
        local n = dim * (i - 1) + 1
        local t, s = 0, 0
        for k = n + 1, n + dim - 1 do t, s = t + a.r[k] ^ 2, s + a.u[k] ^ 2 end
        t, s = math.sqrt(t), math.sqrt(s)
        local size = a.scale
        assert.is_true(a.r[n] >= -1e-9 * size and t <= 0.4 * a.r[n] + 1e-9 * size and a.u[n] >= -1e-7)
        assert.is_true(a.r[n] * a.u[n] <= 1e-6 and s * (0.4 * a.r[n] - t) <= 1e-6)
      end
    end
  end)
end)

-- Each contact's rows and columns times a power of two of its own.
local function in_other_lengths(p, exponent)
  local s = { dim = p.dim, nc = p.nc, mu = p.mu, W = {}, q = {}, h = {} }
  for i = 1, #p.q do
    if (i - 1) % p.dim == 0 then s.own = 2.0 ^ exponent((i - 1) // p.dim + 1) end
    s.h[i] = s.own
  end
  for i = 1, #p.q do
    s.q[i], s.W[i] = s.h[i] * p.q[i], {}
    for j = 1, #p.q do s.W[i][j] = s.h[i] * p.W[i][j] * s.h[j] end
  end
  return s
end

describe("contacts in units of their own", function()
  it("have the same answer to the bit, odd exponents as well as even ones", function()
    math.randomseed(59)
    for _ = 1, 20 do
      for _, dim in ipairs { 2, 3 } do
        local p = random_friction.problem("tower", dim, 4)
        local a = solve(p)
        for _, most in ipairs { 1, 9, 200 } do
          local s = in_other_lengths(p, function() return math.random(-most, most) end)
          local b = solve(s)
          assert.equal(a.status, b.status)
          for i = 1, #p.q do assert.equal(a.r[i], b.r[i] * s.h[i]) end
          for i = 1, #p.q do assert.equal(a.u[i], b.u[i] / s.h[i]) end
        end
      end
    end
  end)

  it("have them also where a block of their own is zero", function()
    -- the second contact's velocity is that of the first's force
    local p = { dim = 2, nc = 2, mu = { 0.5, 0.5 }, q = { -1, 0, -1, 0 },
                W = { { 2, 0, 1, 0 }, { 0, 2, 0, 1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } } }
    local a = solve(p)
    for _, e in ipairs { 7, -60 } do
      local s = in_other_lengths(p, function(i) return i * e end)
      local b = solve(s)
      assert.equal(a.status, b.status)
      if a.success then
        for i = 1, 4 do assert.equal(a.r[i], b.r[i] * s.h[i]) end
      end
    end
  end)

  it("are refused where a force is no number", function()
    local a = solve { dim = 2, W = { { 1e-200, 0 }, { 0, 1e-200 } }, q = { -1e200, 0 }, mu = { 0.5 } }
    assert.is_false(a.success)
    a = solve { dim = 2, W = { { 1e200, 0 }, { 0, 1e200 } }, q = { -1e-200, 0 }, mu = { 0.5 } }
    assert.is_false(a.success)
  end)
end)
