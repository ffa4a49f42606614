-- The cones of contacts, and how each solves one contact; met through problems of one contact.
local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"

local function one3(W, q, mu)
  return ns.numerics.fc3d{ W = W, q = q, mu = mu, solver = "nsgs", max_iterations = 3 }
end

describe("one contact in space", function()
  local W = { { 2, 0.3, -0.1 }, { 0.3, 1, 0.2 }, { -0.1, 0.2, 1.5 } }

  it("opens, sticks and slides", function()
    local open = one3(W, { 0.1, 1, 1 }, 0.5)
    assert.same({ 0, 0, 0 }, open.r:totable())
    local stick = one3(W, { -1, 0.01, 0 }, 0.5)
    for k = 1, 3 do assert.near(0, stick.u[k], 1e-15) end
    local slide = one3(W, { -1, 1, -2 }, 0.5)
    assert.near(0, slide.u[1], 1e-15)
    local r, u = slide.r, slide.u
    local force, slip = math.sqrt(r[2] ^ 2 + r[3] ^ 2), math.sqrt(u[2] ^ 2 + u[3] ^ 2)
    assert.near(0.5 * r[1], force, 1e-15)
    assert.near(-1, (r[2] * u[2] + r[3] * u[3]) / (force * slip), 1e-14)
  end)

  it("is exact in one visit, for random full blocks", function()
    math.randomseed(9)
    for _ = 1, 400 do
      local p = random_friction.problem("full_rank", 3, 1)
      local a = one3(p.W, p.q, p.mu)
      assert.is_true(a.success)
      assert.is_true(random_friction.residual(p, a.r) <= 1e-13)
      assert.is_true(a.iterations <= 2)
    end
  end)

  it("slides without friction", function()
    local a = one3(W, { -1, 1, 1 }, 0)
    assert.near(0.5, a.r[1], 1e-16)
    assert.equal(0, a.r[2])
    assert.equal(0, a.r[3])
  end)

  it("finds a sliding force for a block that is not symmetric", function()
    math.randomseed(10)
    local solved = 0
    for _ = 1, 200 do
      local p = random_friction.problem("skewed", 3, 1)
      local a = one3(p.W, p.q, p.mu)
      if a.success then
        solved = solved + 1
        assert.is_true(random_friction.residual(p, a.r) <= 1e-12)
      end
    end
    assert.is_true(solved >= 198, solved)
  end)
end)

describe("one contact in the plane", function()
  it("meets the sliding rod of Painleve", function()
    local W = { { 1, 0.9 }, { 0.9, 1 } } -- W_nn - mu W_nt < 0 for mu = 2
    for _, q in ipairs{ { -1, 1 }, { -1, -1 }, { 1, 1 }, { 1, -1 }, { -1, 0 } } do
      local p = { dim = 2, nc = 1, W = W, q = q, mu = 2 }
      local a = ns.numerics.fc2d{ W = W, q = q, mu = 2 }
      assert.is_true(a.success)
      assert.is_true(random_friction.residual(p, a.r) <= 1e-14)
    end
  end)

  it("stays on the edge of the cone at the limit of sticking", function()
    local a = ns.numerics.fc2d{ W = { { 1, 0 }, { 0, 1 } }, q = { -1, 0.5 }, mu = 0.5 }
    assert.near(1, a.r[1], 1e-15)
    assert.near(-0.5, a.r[2], 1e-15)
    assert.near(0, a.u[2], 1e-15)
  end)
end)

local function vector(n, of)
  local list = {}
  for i = 1, n do list[i] = of(i) end
  return ns.vector(list)
end

local function matrix(n, m, of)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, m do rows[i][j] = of(i, j) end
  end
  return ns.matrix(rows)
end

-- The cones with moments: the sizes of their discs, the names of the coefficients beside mu.
local rolling = { { name = "rolling_fc2d", widths = { 1, 1 }, names = { "mu_r" } },
  { name = "rolling_fc3d", widths = { 2, 2 }, names = { "mu_r" } },
  { name = "spinning_fc3d", widths = { 2, 1 }, names = { "mu_spin" } },
  { name = "rolling_spinning_fc3d", widths = { 2, 2, 1 }, names = { "mu_r", "mu_spin" } } }
for _, cone in ipairs(rolling) do
  cone.dim = 1
  for _, width in ipairs(cone.widths) do cone.dim = cone.dim + width end
end

-- A random problem of nc contacts of this cone: W = A A' + skew S, of full rank or not, with q in its range.
local function random_rolling(cone, nc, deficient, skew)
  local n = cone.dim * nc
  local rank = deficient and math.max(1, n - 2) or n
  local function number() return 2 * math.random() - 1 end
  local A = matrix(n, rank, function() return number() end)
  local W, x = A * A:transpose(), vector(rank, function() return 3 * number() end)
  for i = 1, n do
    for j = 1, i - 1 do
      local s = skew * number()
      W[i][j], W[j][i] = W[i][j] + s, W[j][i] - s
    end
  end
  local p = { W = W, q = A * x, mu = {} }
  for _, name in ipairs(cone.names) do p[name] = {} end
  for i = 1, nc do
    p.mu[i] = math.random()
    for _, name in ipairs(cone.names) do p[name][i] = 0.6 * math.random() end
  end
  return p
end

-- How far r is from the law, said without projections: each inequality and each product for itself.
local function broken(cone, p, r)
  local u, worst, dim = p.W * r + p.q, 0, cone.dim
  for c = 1, #p.mu do
    local at = (c - 1) * dim
    local normal, speed = r[at + 1], u[at + 1]
    worst = math.max(worst, -normal, -speed, math.min(math.abs(normal), math.abs(speed)))
    local first = at + 2
    for k, width in ipairs(cone.widths) do
      local force, slip, power, mu = 0, 0, 0, p[k == 1 and "mu" or cone.names[k - 1]][c]
      for i = first, first + width - 1 do force, slip, power = force + r[i] ^ 2, slip + u[i] ^ 2, power + r[i] * u[i] end
      first = first + width
      worst = math.max(worst, math.sqrt(force) - mu * normal, math.abs(power + mu * normal * math.sqrt(slip)))
    end
  end
  return worst
end

for _, cone in ipairs(rolling) do
  describe("contacts with moments, " .. cone.name, function()
    local campaign = require "campaign"(60, 1)
    local solve = ns.numerics[cone.name]

    it("are solved, judged by the law itself", function()
      math.randomseed(31 + cone.widths[1])
      for case = 1, campaign do
        local p = random_rolling(cone, 1 + case % 6, case % 3 == 0, case % 4 == 0 and 0.2 or 0)
        local a = solve(p)
        assert.is_true(a.success, ("case %d: %s"):format(case, a.status))
        assert.is_true(broken(cone, p, a.r) <= 1e-8, ("case %d: off by %g"):format(case, broken(cone, p, a.r)))
      end
    end)

    it("are solved one by one without sweeps: open, with all pairs of sticking and sliding", function()
      math.randomseed(41)
      local seen = {}
      for _ = 1, 1000 do
        local p = random_rolling(cone, 1, false, 0)
        p.solver, p.max_iterations = "nsgs", 2
        local a = solve(p)
        assert.is_true(a.success and broken(cone, p, a.r) <= 1e-10)
        local mode, first = "", 2
        for _, width in ipairs(cone.widths) do
          mode, first = mode .. (math.abs(a.u[first]) > 1e-9 and " slides" or " sticks"), first + width
        end
        seen[a.r[1] == 0 and "open" or mode] = true
      end
      local modes = { "" }
      for _ = 1, #cone.widths do
        local longer = {}
        for _, mode in ipairs(modes) do longer[#longer + 1], longer[#longer + 2] = mode .. " slides", mode .. " sticks" end
        modes = longer
      end
      for _, mode in ipairs(modes) do assert.is_true(seen[mode], mode) end
      assert.is_true(seen.open)
    end)

    -- Lengths in units 2^k smaller: moments and their coefficients are 2^k larger, angular velocities stay.
    it("do not depend on the unit of length of the moments, to the bit", function()
      math.randomseed(51)
      for case = 1, 20 do
        local nc, unit, dim = 1 + case % 4, 2.0 ^ (case % 2 == 0 and 40 or -40), cone.dim
        local p = random_rolling(cone, nc, false, 0)
        local first = solve(p)
        local scale = vector(dim * nc, function(i) return (i - 1) % dim > cone.widths[1] and 1 / unit or 1 end)
        local W = matrix(dim * nc, dim * nc, function(i, j) return p.W[i][j] * scale[i] * scale[j] end)
        local scaled = { W = W, q = {}, mu = p.mu }
        for i = 1, dim * nc do scaled.q[i] = p.q[i] * scale[i] end
        for _, name in ipairs(cone.names) do
          scaled[name] = {}
          for c = 1, nc do scaled[name][c] = p[name][c] * unit end
        end
        local second = solve(scaled)
        assert.equal(first.solver, second.solver)
        for i = 1, dim * nc do assert.equal(first.r[i], second.r[i] * scale[i]) end
      end
    end)

    it("stand beside rows and contacts without moments", function()
      math.randomseed(61)
      local plain, full = 1 + cone.widths[1], cone.dim
      for case = 1, 20 do
        local p = random_rolling(cone, 3, false, 0)
        local n = full + plain + 2
        local W = matrix(n, n, function(i, j) return p.W[i][j] end)
        local q = vector(n, function(i) return p.q[i] end)
        local first = { W = ns.eye(full), mu = { p.mu[1] } }
        local contact = { dim = full, mu = p.mu[1] }
        for _, name in ipairs(cone.names) do first[name], contact[name] = { p[name][1] }, p[name][1] end
        local a = ns.numerics.generic_mechanical { W = W, q = q, groups = { contact, { dim = plain, mu = p.mu[2] },
          { lower = 0 }, { lower = -1, upper = 1 } } }
        assert.is_true(a.success, case)
        first.q = vector(full, function(i) return a.w[i] - a.z[i] end)
        assert.is_true(broken(cone, first, vector(full, function(i) return a.z[i] end)) <= 1e-8)
      end
    end)

    it("need all coefficients", function()
      local W = ns.eye(cone.dim)
      local function message(t) return select(2, pcall(solve, t)) end
      local q, last = ns.zeros(W:rows()), cone.names[#cone.names]
      local function given(value, more)
        local t = more or { W = W, q = q }
        t.mu = 1
        for _, name in ipairs(cone.names) do t[name] = 1 end
        t[last] = value
        return t
      end
      assert.equal(("%s: %s: expected a number or a vector, got nil"):format(cone.name, last), message(given(nil)))
      assert.equal(("%s: %s = -1 is negative"):format(cone.name, last), message(given(-1)))
      assert.equal(("%s: %s[1] = -1 is negative"):format(cone.name, last), message(given { -1 }))
      assert.equal(("generic_mechanical: groups[1].%s = -1 is negative"):format(last), select(2, pcall(
        ns.numerics.generic_mechanical, { W = W, q = q, groups = { given(-1, { dim = W:rows() }) } })))
      assert.equal("generic_mechanical: groups[1].mu_r: a contact (dim = 2) has none", select(2, pcall(
        ns.numerics.generic_mechanical, { W = ns.eye(2), q = { 0, 0 }, groups = { { dim = 2, mu = 1, mu_r = 1 } } })))
      assert.equal("generic_mechanical: groups[1].mu_r: a row (dim = 1) has none", select(2, pcall(
        ns.numerics.generic_mechanical, { W = ns.eye(1), q = { 0 }, groups = { { mu_r = 1 } } })))
    end)
  end)
end

describe("rolling_fc3d", function()
  local problems = dofile "spec/reference/rolling_problems.lua"

  -- The projection on {|x_T| <= mu x_n, |x_R| <= mu_r x_n}, found by trying which bounds are active.
  local function projection(x, mu, mu_r)
    local t, s = math.sqrt(x[2] ^ 2 + x[3] ^ 2), math.sqrt(x[4] ^ 2 + x[5] ^ 2)
    if t <= mu * x[1] and s <= mu_r * x[1] then return x end
    local out, least = { 0, 0, 0, 0, 0 }, x[1] ^ 2 + t ^ 2 + s ^ 2
    for _, active in ipairs { { 1, 1 }, { 1, 0 }, { 0, 1 } } do
      local a, b = mu * active[1], mu_r * active[2]
      local n = (x[1] + a * t + b * s) / (1 + a * a + b * b)
      local f, g = active[1] == 1 and t > 0 and mu * n / t or 1, active[2] == 1 and s > 0 and mu_r * n / s or 1
      local off = (n - x[1]) ^ 2 + ((f - 1) * t) ^ 2 + ((g - 1) * s) ^ 2
      if n >= 0 and f * t <= mu * n * (1 + 1e-14) and g * s <= mu_r * n * (1 + 1e-14) and off < least then
        out, least = { n, f * x[2], f * x[3], g * x[4], g * x[5] }, off
      end
    end
    return out
  end

  local function residual(p, W, r)
    local u, sum = W * r + ns.vector(p.q), 0
    for c = 1, p.nc do
      local at, x = 5 * (c - 1), {}
      local mu, mu_r = type(p.mu) == "table" and p.mu[c] or p.mu, type(p.mu_r) == "table" and p.mu_r[c] or p.mu_r
      for i = 1, 5 do x[i] = r[at + i] - u[at + i] end
      x[1] = x[1] - mu * math.sqrt(u[at + 2] ^ 2 + u[at + 3] ^ 2) - mu_r * math.sqrt(u[at + 4] ^ 2 + u[at + 5] ^ 2)
      for i, value in ipairs(projection(x, mu, mu_r)) do sum = sum + (r[at + i] - value) ^ 2 end
    end
    return math.sqrt(sum)
  end

  for name, p in pairs(problems) do
    it("solves " .. name, function()
      local n = 5 * p.nc
      local W = ns.sparse { rows = n, cols = n, i = p.i, j = p.j, v = p.v }
      for _, solver in ipairs { "default", "newton" } do
        local a = ns.numerics.rolling_fc3d { W = W, q = p.q, mu = p.mu, mu_r = p.mu_r, solver = solver }
        assert.is_true(a.success)
        assert.is_true(residual(p, W, a.r) <= 1e-9 * p.scale)
        assert.near(residual(p, W, a.r), a.residual, 1e-12 * p.scale)
      end
    end)
  end

  it("offers its methods", function()
    assert.matches("unknown solver 'lcp' %(known: default, nsgs, newton, first_order%)",
      select(2, pcall(ns.numerics.rolling_fc3d, { W = ns.eye(5), q = ns.zeros(5), mu = 1, mu_r = 1, solver = "lcp" })))
  end)
end)
