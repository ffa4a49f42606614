-- The race of sweeps and Newton's method for heaps.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"
local random_heap = require "random_heap"

describe("sweeps and Newton for heaps", function()
  for _, kind in ipairs { "joints_plane", "joints_space", "motors_plane", "stops_space", "all" } do
    it(("solve %s"):format(kind), function() parts.check_share("heap", kind, "regular", 0.75) end)
  end

  -- Information goes one contact further in a sweep: plain ones need many in a heap that is high.
  it("need fewer sweeps than plain ones in heaps, and end in the cones", function()
    math.randomseed(55)
    local plain, fewer = 0, 0
    for k = 1, 3 do
      local p = random_heap.problem(6, 24, 0.2 + 0.1 * k)
      p.sparse, p.tolerance, p.max_iterations = true, 1e-5, 20000
      local a, b = internal.mixed_part(p, "sweeps"), internal.mixed_part(p, "heap")
      assert.equal("NS_OK", a.status)
      assert.equal("NS_OK", b.status)
      assert.is_true(b.measure <= 1e-5)
      assert.is_true(random_heap.breach(p, b.z) <= 1e-2) -- 1e-5 of forces up to 24
      plain, fewer = plain + a.iterations, fewer + b.iterations
      for c, group in ipairs(p.groups) do
        local n, t = b.z[2 * c - 1], b.z[2 * c]
        assert.is_true(n >= 0 and math.abs(t) <= group.mu * n * (1 + 1e-14))
      end
    end
    assert.is_true(fewer < 0.5 * plain, fewer .. " of " .. plain)
  end)

  it("want a tenth of a tolerance that the caller chose in the first sweeps", function()
    math.randomseed(56)
    local p = random_heap.problem(8, 8, 0.4)
    p.sparse, p.tolerance = true, 0.3
    local soon = internal.mixed_part(p, "heap")
    p.early = 1
    local late = internal.mixed_part(p, "heap")
    assert.equal("NS_OK", soon.status)
    assert.equal("NS_OK", late.status)
    assert.is_true(soon.measure <= p.tolerance)
    assert.is_true(late.measure <= 0.1 * p.tolerance)
    assert.is_true(soon.iterations < late.iterations)
  end)

  it("say that they did not get there", function()
    math.randomseed(57)
    local p = random_heap.problem(8, 8, 0.4)
    p.sparse, p.max_iterations = true, 10
    local a = internal.mixed_part(p, "heap")
    assert.equal("NS_EMAXITER", a.status)
    assert.is_true(a.measure > 1e-10)
  end)
end)

describe("arches of blocks", function()
  local ns = require "nslua"

  local function solve(seed, blocks, mu, ratio)
    math.randomseed(seed)
    local p = random_heap.arch(blocks, mu, ratio)
    p.tolerance = 1e-8
    local a = ns.numerics.fc3d(p)
    assert.is_true(a.success and a.scaled <= 1e-8)
    return a
  end

  -- Sweeps, and Newton's method from their points, take 5,600 to 8,900.
  it("are solved by gradient steps, or Newton's method from the guess", function()
    for k = 1, 3 do
      local a = solve(60 + k, 12 + 2 * k, 0.4 + 0.1 * k, k == 2 and 100 or 1)
      assert.is_true(a.solver == "first order" or a.solver == "newton", a.solver)
      assert.is_true(a.iterations <= 2500, a.iterations)
    end
  end)

  it("are solved by gradient steps where they are long", function()
    local a = solve(66, 60, 0.6, 1)
    assert.equal("first order", a.solver)
    assert.is_true(a.iterations <= 4000, a.iterations)
  end)

  -- Its steps with delta = 1e-3, from which they did not come back, ended after the sweeps had taken thousands.
  it("are solved by Newton's method from the guess where masses differ by 1e4", function()
    local a = solve(67, 20, 1, 1e4)
    assert.equal("newton", a.solver)
    assert.is_true(a.iterations <= 2500, a.iterations)
  end)
end)

describe("towers of boxes", function()
  local ns = require "nslua"

  -- Where most contacts stick Newton's method takes a few steps from a point at which all are pressed: 900 to 1,800 before.
  it("are solved by Newton's method from a pressed point", function()
    for _, kind in ipairs { { 36, 0.7, 1e4 }, { 50, 0.8, 1 }, { 70, 0.9, 1 } } do
      math.randomseed(71)
      local p = random_heap.tower(table.unpack(kind))
      p.tolerance = 1e-8
      local a = ns.numerics.fc3d(p)
      assert.is_true(a.success and a.scaled <= 1e-8)
      assert.equal("newton", a.solver)
      assert.is_true(a.iterations <= 450, a.iterations)
    end
  end)
end)

describe("heaps of rotating spheres", function()
  local ns = require "nslua"
  local campaign = require "campaign"

  -- Free conjugate sweeps wander about the solutions of such heaps: they need 320, 1,420 and 175 for the first three.
  it("take few sweeps to a coarse tolerance with much friction #once", function()
    math.randomseed(59)
    local kinds = { { 5, 5, 0.6, 0.6 }, { 5, 6, 0.7, 1 }, { 4, 8, 0.5, 0.8 } }
    local sweeps, count = 0, campaign(3, 0.2)
    for k = 1, count do
      local kind = kinds[(k - 1) % #kinds + 1]
      local p = random_heap.spheres(table.unpack(kind))
      p.tolerance = 1e-4
      local a = ns.numerics.fc3d(p)
      assert.is_true(a.success)
      assert.is_true(a.scaled <= 1e-4)
      sweeps = sweeps + a.iterations
    end
    assert.is_true(sweeps <= 600 * count, sweeps .. " in " .. count)
  end)

  it("take few sweeps where they lean much #once", function()
    local sweeps, most = 0, 0
    for seed = 31, 38 do
      math.randomseed(seed)
      local p = random_heap.spheres(4 + seed % 2, 5 + seed % 3, 0.5 + 0.1 * (seed % 5), 0.9)
      p.tolerance = 1e-4
      local a = ns.numerics.fc3d(p)
      assert.is_true(a.success and a.scaled <= 1e-4)
      sweeps, most = sweeps + a.iterations, math.max(most, a.iterations)
    end
    assert.is_true(sweeps <= 7000 and most <= 1200, sweeps .. " in all, at most " .. most)
  end)

  -- Where centres always move beyond the point, they go round in a circle for 7,735, 1,945, 5,985 and 5,135 sweeps.
  it("end where sweeps go round in a circle #once", function()
    local sweeps = 0
    for _, seed in ipairs { 7, 2, 1, 5 } do
      math.randomseed(seed)
      local p = random_heap.spheres(4 + seed % 2, 5 + seed % 3, 0.8 + 0.4 * (seed % 3), 0.9)
      p.tolerance = 1e-4
      local a = ns.numerics.fc3d(p)
      assert.is_true(a.success and a.scaled <= 1e-4)
      sweeps = sweeps + a.iterations
    end
    assert.is_true(sweeps <= 14000, sweeps)
  end)

  -- Sweeps alone wander for 2,585 rounds. Newton's method holds each force as much as the tolerance allows.
  it("leave it to Newton where they wander #once", function()
    local work = 0
    for _, seed in ipairs { 5 } do
      math.randomseed(seed)
      local p = random_heap.spheres(6, 7, 0.6 + 0.2 * (seed % 4), 1)
      p.tolerance = 1e-4
      local a = ns.numerics.fc3d(p)
      assert.is_true(a.success and a.scaled <= 1e-4)
      assert.equal("newton", a.solver)
      local u, most = p.W * a.r + p.q, 0
      for k = 1, #p.q do most = math.max(most, math.abs(a.r[k])) end
      for k = 1, #p.q, 3 do -- the law, from its definition
        local normal, tangent = a.r[k], math.sqrt(a.r[k + 1] ^ 2 + a.r[k + 2] ^ 2)
        assert.is_true(normal >= 0 and tangent <= p.mu * normal * (1 + 1e-9))
        assert.is_true(u[k] >= -1e-2 * most and math.min(normal, u[k]) <= 1e-2 * most)
      end
      work = work + a.iterations
    end
    assert.is_true(work <= 1600, work)
  end)

  it("begin again when they stall from a guess #once", function()
    math.randomseed(61)
    local p = random_heap.spheres(5, 6, 0.7, 1)
    p.tolerance = 1e-4
    local from_zero, r0 = ns.numerics.fc3d(p), ns.zeros(#p.q)
    for i = 1, #r0, 3 do
      r0[i] = 30 * math.random()
      r0[i + 1] = 0.6 * r0[i] * (math.random() - 0.5)
    end
    p.r0 = r0
    local guessed = ns.numerics.fc3d(p)
    assert.is_true(guessed.success and guessed.iterations <= from_zero.iterations + 1200, guessed.iterations) -- 1,500 more
  end)
end)

describe("Newton's method with held forces", function()
  local ns = require "nslua"

  local function tight(seed)
    math.randomseed(seed)
    local given = random_heap.spheres(3, 5, 0.5 + 0.1 * (seed % 3), 0.8)
    local p = { W = ns.zeros(#given.q, #given.q), q = given.q, groups = {}, sparse = true, early = 1 }
    local i, j, v = given.W:triplets()
    for k = 1, #v do p.W[i[k]][j[k]] = v[k] end
    for c = 1, #given.q // 3 do p.groups[c] = { dim = 3, mu = given.mu } end
    return p
  end

  -- The problem with a point of sweeps, from which it starts.
  local function swept(seed)
    local p = tight(seed)
    p.tolerance, p.max_iterations = 1e-3, 2000
    p.guess = internal.mixed_part(p, "heap").z
    return p
  end

  it("ends with the error of each contact within the tolerance, and forces in the cones", function()
    for seed = 71, 75 do
      local p = swept(seed)
      p.tolerance, p.max_iterations = 1e-4, 20
      local a = internal.mixed_part(p, "held")
      assert.equal("NS_OK", a.status)
      local worst = 0
      for c, group in ipairs(p.groups) do
        worst = math.max(worst, a.errors[c])
        local n, t = a.z[3 * c - 2], math.sqrt(a.z[3 * c - 1] ^ 2 + a.z[3 * c] ^ 2)
        assert.is_true(a.errors[c] <= 1e-4 and n >= 0 and t <= group.mu * n * (1 + 1e-9))
      end
      assert.equal(worst, a.measure)
    end
  end)

  it("gives back the point where it began when it may take no step, and never a worse one", function()
    for seed = 71, 75 do
      local p = swept(seed)
      local before = internal.mixed_part(p, "measure").measure
      p.tolerance, p.max_iterations = 1e-15, 0
      local none = internal.mixed_part(p, "held")
      assert.equal("NS_ENOCONV", none.status)
      for k = 1, #p.q do assert.equal(p.guess[k], none.z[k]) end
      p.max_iterations = 3
      local some = internal.mixed_part(p, "held")
      assert.equal("NS_ENOCONV", some.status)
      assert.is_true(some.measure < before)
    end
  end)
end)

describe("the path of the term that holds forces", function()
  local ns = require "nslua"

  -- A heap of leaning spheres with a point of sweeps, and all velocities in other units.
  local function heap(seed, unit)
    math.randomseed(seed)
    local given = random_heap.spheres(3, 5, 0.6 + 0.2 * (seed % 3), 0.9)
    local n = #given.q
    local p = { W = ns.zeros(n, n), q = unit * given.q, groups = {}, sparse = true, n = n }
    local i, j, v = given.W:triplets()
    for k = 1, #v do p.W[i[k]][j[k]] = p.W[i[k]][j[k]] + unit * v[k] end
    for c = 1, #given.q // 3 do p.groups[c] = { dim = 3, mu = given.mu } end
    p.tolerance, p.max_iterations = 1e-3, 2000
    p.guess = internal.mixed_part(p, "heap").z
    p.tolerance = 1e-9
    return p
  end

  it("leads from a guess to an answer, with the same bits in other units", function()
    local solved = 0
    for seed = 81, 86 do
      local a, b = internal.mixed_part(heap(seed, 1), "follow"), internal.mixed_part(heap(seed, 2.0 ^ 40), "follow")
      assert.equal(a.status, b.status)
      assert.equal(a.iterations, b.iterations)
      for i = 1, #a.z do assert.equal(a.z[i], b.z[i]) end
      if a.status == "NS_OK" then
        solved = solved + 1
        for _, error in ipairs(a.errors) do assert.is_true(error <= 1e-9) end
      end
    end
    assert.is_true(solved >= 4, solved .. " of 6")
  end)

  it("gives back the guess when it may take no step, and never a worse point", function()
    local p = heap(81, 1)
    local before = internal.mixed_part(p, "measure").measure
    p.max_iterations = 0
    local none = internal.mixed_part(p, "follow")
    assert.equal("NS_EMAXITER", none.status)
    for i = 1, p.n do assert.equal(p.guess[i], none.z[i]) end
    p.max_iterations = 20
    local some = internal.mixed_part(p, "follow")
    assert.is_true(some.status == "NS_EMAXITER" and some.iterations >= 20 and some.measure <= before)
  end)

  -- Sweeps and Newton's method ended at 7e-7 after 24 s: the path turns back in t on its way to the answer.
  it("solves a heap to a fine tolerance where it turns back #once", function()
    math.randomseed(31)
    local p = random_heap.spheres(5, 6, 0.6, 0.9)
    p.tolerance = 1e-8
    local a = ns.numerics.fc3d(p)
    assert.is_true(a.success and a.scaled <= 1e-8)
    assert.equal("newton", a.solver)
    assert.is_true(a.iterations <= 8000, a.iterations)
    local u, most = p.W * a.r + p.q, 0
    for k = 1, #p.q do most = math.max(most, math.abs(a.r[k])) end
    for k = 1, #p.q, 3 do -- the law, from its definition
      local normal, tangent, slip = a.r[k], math.sqrt(a.r[k + 1] ^ 2 + a.r[k + 2] ^ 2), math.sqrt(u[k + 1] ^ 2 + u[k + 2] ^ 2)
      assert.is_true(normal >= 0 and tangent <= p.mu * normal * (1 + 1e-9))
      assert.is_true(u[k] >= -1e-6 * most and math.min(normal, u[k]) <= 1e-6 * most)
      assert.is_true(math.min(slip, p.mu * normal - tangent) <= 1e-6 * most)
    end
  end)
end)

describe("heaps", function()
  local ns = require "nslua"
  local campaign = require "campaign"

  -- The problem with its contacts in another order.
  local function shuffled(p)
    local order, at, dim = {}, {}, p.groups[1].dim
    for c = 1, #p.groups do order[c] = c end
    for c = #order, 2, -1 do
      local other = math.random(c)
      order[c], order[other] = order[other], order[c]
    end
    for new, old in ipairs(order) do at[old] = new end
    local function row(k) return dim * (at[(k - 1) // dim + 1] - 1) + (k - 1) % dim + 1 end
    local i, j, v = ns.sparse(p.W):triplets()
    local rows, cols, q, groups = {}, {}, {}, {}
    for e = 1, #i do rows[e], cols[e] = row(i[e]), row(j[e]) end
    for k = 1, p.n do q[row(k)] = p.q[k] end
    for c = 1, #order do groups[at[c]] = p.groups[c] end
    return { W = ns.sparse { rows = p.n, cols = p.n, i = rows, j = cols, v = v }, q = q, groups = groups, n = p.n }, row
  end

  it("have one solution of the same quality in every order of their contacts, and the same bits twice #once", function()
    math.randomseed(58)
    for k = 1, campaign(2, 0.2) do
      local p = random_heap.problem(5 + k % 4, 10, 0.1 + 0.2 * (k % 4))
      local mu = p.groups[1].mu
      local other, row = shuffled(p)
      local a = ns.numerics.generic_mechanical { W = ns.sparse(p.W), q = p.q, groups = p.groups, tolerance = 1e-8 }
      local b = ns.numerics.generic_mechanical { W = other.W, q = other.q, groups = other.groups, tolerance = 1e-8 }
      local c = ns.numerics.fc2d { W = other.W, q = other.q, mu = mu, tolerance = 1e-8 }
      local d = ns.numerics.fc2d { W = other.W, q = other.q, mu = mu, tolerance = 1e-8 }
      assert.is_true(a.success and b.success and c.success)
      local unsorted = ns.zeros(p.n)
      for i = 1, p.n do unsorted[i] = b.z[row(i)] end
      assert.is_true(random_heap.breach(p, a.z) <= 1e-5)
      assert.is_true(random_heap.breach(p, unsorted) <= 1e-5)
      for i = 1, p.n do
        assert.equal(b.z[i], c.z[i]) -- one chain
        assert.equal(c.z[i], d.z[i])
      end
    end
  end)
end)
