-- The answers of one-step problems do not depend on units: each random problem is solved as it is, with its rows and
-- unknowns scaled by powers of two, and beside a problem that is not coupled to it.
local ns = require "nslua"
local boxes = dofile "spec/random_problems.lua"
local frictions = dofile "spec/random_friction.lua"
local mixed = require "random_mixed"
local inf = math.huge

local count, told = require "campaign"(80, 1)
local power = require "random_numbers".power
local sorted_names = require "sorted_names"

-- Row i times R[i], unknown j in units of C[j].
local function scaled_matrix(M, R, C)
  local S = {}
  for i, row in ipairs(M) do
    S[i] = {}
    for j, x in ipairs(row) do S[i][j] = R[i] * x * C[j] end
  end
  return S
end

-- M and N on the diagonal, N first when `before`: the matrix, and where M's rows are.
local function beside(M, N, before)
  local m, n, S = #M, #N, {}
  local at = before and n or 0
  local other = before and 0 or m
  for i = 1, m + n do
    S[i] = {}
    for j = 1, m + n do S[i][j] = 0 end
  end
  for i = 1, m do
    for j = 1, m do S[at + i][at + j] = M[i][j] end
  end
  for i = 1, n do
    for j = 1, n do S[other + i][other + j] = N[i][j] end
  end
  return S, at
end

local function joined(a, b, before)
  local list = {}
  for _, part in ipairs(before and { b, a } or { a, b }) do
    for _, x in ipairs(part) do list[#list + 1] = x end
  end
  return list
end

-- Asserts equal bits; absent numbers (nil) are equal too.
local function equal(x, y) return x == y or (x ~= x and y ~= y) end

-- ---- boxes: lcp, relays, mixed problems, degenerate ones ----

local function with_mlcp(n)
  local p = boxes.kinds.positive_definite(n)
  for i = 1, n do
    if math.random() < 0.4 then p.lower[i] = -inf end
  end
  return p
end

local box_kinds = { mlcp = with_mlcp }
for name, make in pairs(boxes.kinds) do box_kinds[name] = make end
local box_names = sorted_names(box_kinds)

local function solve_box(p, sparse)
  local M = sparse and ns.sparse(ns.matrix(p.M)) or p.M
  return ns.numerics.box { M = M, q = p.q, lower = p.lower, upper = p.upper, z0 = p.z0 }
end

local function scaled_box(p)
  local R, C, s = {}, {}, { q = {}, lower = {}, upper = {}, z0 = p.z0 and {} }
  for i = 1, #p.q do R[i], C[i] = power(), power() end
  s.M = scaled_matrix(p.M, R, C)
  for i = 1, #p.q do
    s.q[i], s.lower[i], s.upper[i] = R[i] * p.q[i], p.lower[i] / C[i], p.upper[i] / C[i]
    if p.z0 then s.z0[i] = p.z0[i] / C[i] end
  end
  return s, R, C
end

-- The violation of each row, relative to its own terms.
local function violation(p, z)
  local worst = 0
  for i = 1, #p.q do
    local w, size = p.q[i], math.abs(p.q[i])
    for j = 1, #p.q do
      local term = p.M[i][j] * z[j]
      w, size = w + term, size + math.abs(term)
    end
    if not (z[i] >= p.lower[i] and z[i] <= p.upper[i]) or w ~= w then return inf end
    local good = (w >= 0 and z[i] == p.lower[i]) or (w <= 0 and z[i] == p.upper[i])
    if not good and w ~= 0 then worst = math.max(worst, math.abs(w) / size) end
  end
  return worst
end

local function random_box(k)
  local name = box_names[(k - 1) % #box_names + 1]
  local p = box_kinds[name](math.random(1, k % 12 == 0 and 20 or 7))
  if k % 3 == 0 then
    p.z0 = {}
    for i = 1, #p.q do p.z0[i] = math.random() end
  end
  return p, name
end

describe("units of " .. count .. " random box problems", function()
  for _, form in ipairs { "dense", "sparse" } do
    local sparse = form == "sparse"

    it("do not change a bit of the answer, " .. form, function()
      math.randomseed(101)
      for k = 1, count do
        local p, name = random_box(k)
        local s, R, C = scaled_box(p)
        local a, b = solve_box(p, sparse), solve_box(s, sparse)
        local label = ("%s, %d variables, number %d"):format(name, #p.q, k)
        assert.equal(a.status, b.status, label)
        if a.success then assert.is_true(violation(p, a.z) <= 1e-10, label) end
        for i = 1, a.success and #p.q or 0 do
          assert.is_true(equal(a.z[i], b.z[i] * C[i]), label)
          assert.is_true(equal(a.w[i], b.w[i] / R[i]), label)
        end
      end
      told("box problems in other units, " .. form, count)
    end)

    it("have nothing to do with strangers, " .. form, function()
      math.randomseed(102)
      for k = 1, count do
        local p, name = random_box(k)
        local other = scaled_box(box_kinds[box_names[math.random(#box_names)]](math.random(1, 6)))
        if p.z0 then
          other.z0 = {}
          for i = 1, #other.q do other.z0[i] = math.random() end
        end
        local before = k % 2 == 0
        local both, at = beside(p.M, other.M, before)
        local all = { M = both, q = joined(p.q, other.q, before), lower = joined(p.lower, other.lower, before),
                      upper = joined(p.upper, other.upper, before), z0 = p.z0 and joined(p.z0, other.z0, before) }
        local a, b, alone = solve_box(p, sparse), solve_box(all, sparse), solve_box(other, sparse)
        local label = ("%s, %d variables, number %d"):format(name, #p.q, k)
        assert.equal(a.success and alone.success, b.success, label)
        for i = 1, #p.q do
          if a.success then assert.is_true(equal(a.z[i], b.z[at + i]), label) end
          if b.success then assert.is_true(equal(a.w[i], b.w[at + i]), label) end
        end
      end
      told("box problems beside strangers, " .. form, count)
    end)
  end

  it("leave a small force beside a large one", function()
    local M = ns.sparse { rows = 2, cols = 2, i = { 1, 2 }, j = { 1, 2 }, v = { 1, 1 } }
    local r = ns.numerics.lcp { M = M, q = { -1, -1e-15 }, z0 = { 1, 0 } }
    assert.is_true(r.success)
    assert.equal(1e-15, r.z[2])
  end)
end)

-- ---- contacts ----

local friction_names = sorted_names(frictions.kinds)

-- Uses only every tenth of the unsolvable problems, since these take long and end with meaningless forces.
local function random_friction(dim, k)
  local name = friction_names[(k - 1) % #friction_names + 1]
  if name == "unsolvable" and k // #friction_names % 10 ~= 0 then name = "full_rank" end
  return frictions.kinds[name](dim, math.random(1, 5)), name
end

local function solve_friction(dim, p)
  return ns.numerics[dim == 2 and "fc2d" or "fc3d"] { W = p.W, q = p.q, mu = p.mu }
end

describe("units of " .. count .. " random friction problems", function()
  for _, dim in ipairs { 2, 3 } do
    it(("do not change a bit of the answer, %dD"):format(dim), function()
      math.randomseed(103 + dim)
      for k = 1, count do
        local p, name = random_friction(dim, k)
        if name ~= "unsolvable" then
          local force, R, C, q = power(), {}, {}, {}
          local velocity = power()
          for i = 1, #p.q, dim do -- each contact its own length, all forces and velocities theirs
            local own = power()
            for d = i, i + dim - 1 do R[d], C[d], q[d] = velocity * own, own / force, velocity * own * p.q[d] end
          end
          local a, b = solve_friction(dim, p), solve_friction(dim, { W = scaled_matrix(p.W, R, C), q = q, mu = p.mu })
          local label = ("%s, number %d"):format(name, k)
          assert.equal(a.status, b.status, label)
          for i = 1, #p.q do assert.is_true(equal(a.r[i], b.r[i] * C[i]), label) end
        end
      end
      told("friction problems in other units, " .. dim .. "D", count)
    end)

    it(("have nothing to do with strangers, %dD"):format(dim), function()
      math.randomseed(105 + dim)
      for k = 1, count do
        local p, name = random_friction(dim, k)
        local other = random_friction(dim, math.random(#friction_names))
        local before = k % 2 == 0
        local both, at = beside(p.W, other.W, before)
        local a = solve_friction(dim, p)
        if a.success then
          local b = solve_friction(dim, { W = both, q = joined(p.q, other.q, before), mu = joined(p.mu, other.mu, before) })
          for i = 1, #p.q do assert.is_true(equal(a.r[i], b.r[at + i]), ("%s, number %d"):format(name, k)) end
        end
      end
      told("friction problems beside strangers, " .. dim .. "D", count)
    end)
  end

  -- Squares of such numbers overflow or vanish.
  it("are right or refused at the ends of the range of numbers", function()
    math.randomseed(107)
    local solved = 0
    for k = 1, count do
      local dim = 2 + k % 2
      local p, name = random_friction(dim, k)
      local W, q, u, v = {}, {}, 10.0 ^ math.random(-250, 250), 10.0 ^ math.random(-250, 250)
      for i = 1, #p.q do
        W[i], q[i] = {}, v * p.q[i]
        for j = 1, #p.q do W[i][j] = u * p.W[i][j] end
      end
      local b = solve_friction(dim, { W = W, q = q, mu = p.mu })
      if b.success then
        solved = solved + 1
        local r = {}
        for i = 1, #p.q do r[i] = b.r[i] / v * u end
        assert.are_not.equal("unsolvable", name)
        assert.is_true(frictions.residual({ dim = dim, nc = #p.mu, W = p.W, q = p.q, mu = p.mu }, r) <= 1e-7,
          ("%s, %dD, number %d, W times %g, q times %g"):format(name, dim, k, u, v))
      end
    end
    assert.is_true(solved >= 0.6 * count, solved .. " of " .. count)
  end)
end)

-- ---- rows and contacts ----

local function solve_mixed(p)
  return ns.numerics.generic_mechanical { W = p.W, q = p.q, groups = p.groups, z0 = p.z0 }
end

local function random_mixture(k)
  local matrices = { "regular", "redundant", "saddle", "skewed" }
  return mixed.problem(mixed.names[(k - 1) % #mixed.names + 1], matrices[k // #mixed.names % 4 + 1], math.random(1, 5))
end

describe("units of " .. count .. " random problems of rows and contacts", function()
  it("do not change a bit of the answer", function()
    math.randomseed(108)
    for k = 1, count do
      local p = random_mixture(k)
      local force, velocity, R, C, q, groups = power(), power(), {}, {}, {}, {}
      local row = 0
      for g, group in ipairs(p.groups) do
        local own = power()
        for d = row + 1, row + group.dim do R[d], C[d], q[d] = velocity * own, own / force, velocity * own * p.q[d] end
        groups[g] = { dim = group.dim, mu = group.mu, lower = group.lower and group.lower / C[row + 1],
                      upper = group.upper and group.upper / C[row + 1] }
        row = row + group.dim
      end
      local a = solve_mixed(p)
      local b = solve_mixed { W = scaled_matrix(p.W, R, C), q = q, groups = groups }
      local label = ("%s %s, number %d"):format(p.kind, p.matrix, k)
      assert.equal(a.status, b.status, label)
      for i = 1, #p.q do
        if a.success then assert.is_true(equal(a.z[i], b.z[i] * C[i]), label) end
      end
    end
    told("problems of rows and contacts in other units", count)
  end)

  it("have nothing to do with strangers", function()
    math.randomseed(109)
    for k = 1, count do
      local p, other = random_mixture(k), random_mixture(math.random(40))
      local before = k % 2 == 0
      local both, at = beside(p.W, other.W, before)
      local a = solve_mixed(p)
      if a.success then
        local b = solve_mixed { W = both, q = joined(p.q, other.q, before),
                                groups = joined(p.groups, other.groups, before) }
        for i = 1, #p.q do
          assert.is_true(equal(a.z[i], b.z[at + i]), ("%s %s, number %d"):format(p.kind, p.matrix, k))
        end
      end
    end
    told("problems of rows and contacts beside strangers", count)
  end)
end)

-- ---- models whose steps are sparse problems ----

-- Positions and velocities of bouncing grains in the global form; a lorry of mass `lorry` is shaken beside them.
local function bouncing(masses, lorry)
  local nsds, grains, out = ns.NonSmoothDynamicalSystem(0, 0.3), {}, {}
  for i, m in ipairs(masses) do
    grains[i] = ns.LagrangianLinearTIDS({ 0.01 * i }, { 0 }, { { m } })
    grains[i]:setFExtPtr { -9.81 * m }
    nsds:insertDynamicalSystem(grains[i])
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR { { 1 } }), grains[i])
  end
  if lorry then
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { lorry } })
    ds:setComputeFExtFunction(function(t, _, f) f[1] = 1e7 * lorry * math.sin(50 * t) end)
    nsds:insertDynamicalSystem(ds)
  end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanGOSI(0.5))
  for _ in simu:steps() do
    for _, ds in ipairs(grains) do out[#out + 1], out[#out + 2] = ds:q()[1], ds:velocity()[1] end
  end
  return out
end

-- The first states of first-order systems with relays and sparse coefficients, each in a unit of its own.
local function switching(units)
  local nsds, first, out = ns.NonSmoothDynamicalSystem(0, 1), nil, {}
  local function one(x) return ns.sparse { rows = 1, cols = 1, i = { 1 }, j = { 1 }, v = { x } } end
  for _, unit in ipairs(units) do
    local ds = ns.FirstOrderLinearTIDS({ 0.7 * unit }, one(-1))
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR(one(1 / unit), one(unit))), ds)
    first = first or ds
  end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5), ns.Relay())
  for _ in simu:steps() do out[#out + 1] = first:x()[1] / units[1] end
  return out
end

describe("grains of dust of 1e-13 kg in the global form", function()
  it("bounce as they do alone when a lorry beside them is shaken", function()
    local alone = bouncing { 1e-13, 3e-13 }
    assert.same(alone, bouncing({ 1e-13, 3e-13 }, 1000))
    local fastest = 0
    for i = 2, #alone, 2 do fastest = math.max(fastest, alone[i]) end
    assert.is_true(fastest > 0.3, tostring(fastest)) -- upwards, after the first impact
  end)

  it("bounce as stones do", function()
    assert.same(bouncing { 1, 4 }, bouncing { 2.0 ^ -43, 2.0 ^ -41 })
  end)
end)

describe("relays with sparse coefficients", function()
  it("switch alike in all units, and whatever else is in the model", function()
    local plain = switching { 1 }
    for _, units in ipairs { { 2.0 ^ -80 }, { 2.0 ^ 90 }, { 2.0 ^ -80, 2.0 ^ 60 }, { 1, 2.0 ^ 100, 2.0 ^ -100 } } do
      assert.same(plain, switching(units))
    end
  end)
end)
