-- The units of equations and unknowns do not matter: random root, complementarity and DAE start problems are solved as they
-- are, and with every equation and every unknown scaled by a power of two from 2^-100 to 2^100. 200 of each; more in
-- a long run (see campaign.lua).
local ns = require "nslua"
local random, inf = math.random, math.huge
local COUNT, told = require "campaign"(100, 0.2)

local numbers = require "random_numbers"
local list, power = numbers.vector, numbers.power
local function ones(n) return list(n, function() return 1.0 end) end

-- Entries on and off the diagonal; every third matrix is full.
local function matrix(n, density)
  return list(n, function(i)
    return list(n, function(j) return i == j and 1 + random() or random() < density and random() - 0.5 or 0 end)
  end)
end

-- f in units: a of equations, b of unknowns; z = x / b.
local function in_units(f, n, a, b)
  return function(z)
    local x = list(n, function(j) return z[j] * b[j] end)
    return list(n, function(i) return f(x, i) * a[i] end)
  end
end

describe("units of equations and unknowns do not matter", function()
  it("to roots: the same bits", function()
    math.randomseed(71)
    local same, solved = 0, 0
    for _ = 1, COUNT do
      local n = random(1, 6)
      local A, root = matrix(n, 0.5), list(n, function() return random() * 4 - 2 end)
      local x0 = list(n, function() return random() < 0.3 and 0 or random() * 4 - 2 end)
      local degree = list(n, function() return random(1, 3) end)
      local function f(x, i)
        local sum = 0
        for j = 1, n do
          local powers = 1
          for _ = 2, degree[j] do powers = powers * x[j] end
          local at_root = root[j] ^ (degree[j] - 1)
          if A[i][j] ~= 0 then sum = sum + A[i][j] * ((x[j] - root[j]) + 0.3 * (powers * x[j] - at_root * root[j])) end
        end
        return sum
      end
      local function solve(a, b)
        return ns.root(in_units(f, n, a, b), list(n, function(j) return x0[j] / b[j] end))
      end
      local b = list(n, power)
      local plain, scaled = solve(ones(n), ones(n)), solve(list(n, power), b)
      assert.equal(plain.status, scaled.status)
      local equal = plain.nfev == scaled.nfev
      for j = 1, n do
        equal = equal and plain.x[j] == scaled.x[j] * b[j]
        if plain.success then assert.near(plain.x[j], scaled.x[j] * b[j], 1e-9 * math.abs(plain.x[j]) + 1e-25) end
      end
      same, solved = same + (equal and 1 or 0), solved + (plain.success and 1 or 0)
    end
    assert.is_true(solved >= 0.9 * COUNT, solved .. " of " .. COUNT)
    assert.equal(COUNT, same)
    told("roots in other units", COUNT)
  end)

  it("to complementarity problems, dense and sparse: the same bits", function()
    math.randomseed(72)
    local solved = 0
    for trial = 1, COUNT do
      local n = random(1, 8)
      local A, q = matrix(n, 0.5), list(n, function() return 4 * (random() - 0.5) end)
      local l = list(n, function() return random() < 0.3 and -inf or random() < 0.5 and 0 or -random() end)
      local u = list(n, function() return random() < 0.5 and inf or random() end)
      local z0 = list(n, function() return random() < 0.5 and 0 or random() - 0.5 end)
      local small = random() < 0.3 and 2.0 ^ random(-60, 0) or 1 -- the solution far from the size of the start
      local function f(x, i)
        local sum = q[i] * small + x[i] * x[i] * x[i]
        for j = 1, n do
          if A[i][j] ~= 0 then sum = sum + A[i][j] * x[j] + A[j][i] * x[j] * x[j] end
        end
        return sum
      end
      local function solve(a, b)
        local function by_unit(v) return list(n, function(j) return v[j] / b[j] end) end
        local function J(z)
          local x = list(n, function(j) return z[j] * b[j] end)
          return ns.sparse(list(n, function(i)
            return list(n, function(j)
              local d = A[i][j] ~= 0 and A[i][j] + 2 * A[j][i] * x[j] or 0
              return (i == j and d + 3 * x[i] * x[i] or d) * a[i] * b[j]
            end)
          end))
        end
        return ns.numerics.mcp { F = in_units(f, n, a, b), J = trial % 2 == 0 and J or nil, lower = by_unit(l),
          upper = by_unit(u), z0 = by_unit(z0), solver = trial % 3 == 0 and "semismooth" or trial % 3 == 1 and "josephy-newton"
          or "default" }
      end
      local a, b = list(n, power), list(n, power)
      local plain, scaled = solve(ones(n), ones(n)), solve(a, b)
      assert.equal(plain.status, scaled.status)
      assert.equal(plain.evaluations, scaled.evaluations)
      for j = 1, n do
        assert.equal(plain.z[j], scaled.z[j] * b[j])
        assert.equal(plain.w[j], scaled.w[j] / a[j])
      end
      if plain.success then
        solved = solved + 1
        local z, w = plain.z, in_units(f, n, ones(n), ones(n))(plain.z)
        for j = 1, n do
          local size = math.abs(q[j] * small)
          for k = 1, n do size = size + 4 * math.abs(A[j][k] * z[k]) end
          assert.is_true(math.abs(z[j] - math.max(l[j], math.min(u[j], z[j] - w[j]))) <= 1e-8 * size + 1e-300)
        end
      end
    end
    assert.is_true(solved >= 0.9 * COUNT, solved .. " of " .. COUNT)
    told("complementarity problems (mcp) in other units", COUNT)
  end)

  it("to models: a problem moves however small its numbers are", function()
    for _, s in ipairs { 1e-25, 1e-12, 1, 1e18 } do
      local model = ns.numerics.model()
      local x, y = model:variable { lower = 0, name = "x" }, model:variable { lower = 0, name = "y" }
      model:complements(s * (x ^ 3 - 8), x)
      model:complements(1e6 * (y - 3) + x, y)
      local r = model:solve { warm = false }
      assert.is_true(r.success)
      assert.near(2, model:value(x), 1e-12)
      assert.near(3 - 2e-6, model:value(y), 1e-12)
      local function cubic(z) return { z[1] ^ 3 - 8 * s ^ 3, z[2] - z[1] * z[2] / s } end
      local small = ns.numerics.mcp { F = cubic, z0 = { 3 * s, 1 } }
      assert.is_true(small.success)
      assert.near(2, small.z[1] / s, 1e-12)
    end
  end)

  it("to the start of a DAE: consistent values, and the test of a start", function()
    math.randomseed(73)
    for trial = 1, COUNT do
      local n = random(2, 5)
      local A, algebraic = matrix(n, 0.4), list(n, function(i) return i > 1 and random() < 0.5 end)
      local c, y0 = list(n, function() return random() + 0.5 end), list(n, function() return random() + 0.5 end)
      local function F(y, yd, i)
        local sum = algebraic[i] and y[i] * y[i] * y[i] - c[i] or c[i] * yd[i]
        for j = 1, n do sum = sum + 0.3 * A[i][j] * y[j] end
        return sum
      end
      local function residual(a, b)
        return function(_, z, zd)
          local y, yd = list(n, function(j) return z[j] * b[j] end), list(n, function(j) return zd[j] * b[j] end)
          return list(n, function(i) return F(y, yd, i) * a[i] end)
        end
      end
      local function solve(a, b)
        return pcall(ns.consistent, { residual = residual(a, b), y = list(n, function(j) return y0[j] / b[j] end) })
      end
      local a, b = list(n, power), list(n, power)
      local good, y, yd = solve(ones(n), ones(n))
      local same, z, zd = solve(a, b)
      assert.equal(good, same, tostring(z))
      if good then
        for j = 1, n do
          assert.near(y[j], z[j] * b[j], 1e-12 * math.abs(y[j]))
          assert.near(yd[j], zd[j] * b[j], 1e-10 * (1 + math.abs(yd[j])))
          local off, size = F(y, yd, j), c[j]
          for k = 1, n do size = size + math.abs(A[j][k] * y[k]) end
          assert.is_true(math.abs(off) < 1e-13 * (size + math.abs(c[j] * yd[j])))
        end
-- a derivative wrong by 0.1 % or more is reported in any units
        zd[1] = zd[1] + 1e-3 * (math.abs(zd[1]) + c[1] / b[1])
        local dae = ns.dae("radau", residual(a, b), { atol = list(n, function(j) return 1e-12 / b[j] end) })
        local ok, message = pcall(dae.solve, dae, { 0, 1e-3 }, z, zd)
        assert.is_false(ok)
        assert.truthy(message:find("the start is not consistent: equation 1 has the residual", 1, true), message)
      end
    end
    told("starts of DAEs in other units", COUNT)
  end)
end)

-- A block of mass m on a plane with Coulomb friction is moved by a distance d in the time T, with the least force in the
-- mean square. The friction law, 0 <= slip + v _|_ f+ >= 0 and its like, is relaxed to products of at most eps; the
-- conditions of the minimum are a complementarity problem of 14 N + 2 variables.
describe("optimal control with friction", function()
  local m, mu, g, d, T, eps = 1, 0.3, 10, 1, 1, 1e-2

  local function build(N)
    local h, model = T / N, ns.numerics.model()
    local function each(f) return list(N, function(k) return f(k / N) end) end
    local function free(name, start) return model:variables(N, { name = name, start = start }) end
    local function positive(name, start) return model:variables(N, { lower = 0, name = name, start = start }) end
    local speed = each(function(t) return 6 * d * t * (1 - t) end)
    local x, v = free("x", each(function(t) return d * t * t * (3 - 2 * t) end)), free("v", speed)
    local u = free("u", each(function(t) return mu * m * g + 6 - 12 * t end))
    local fp, fm, slip = positive "fp", positive("fm", each(function() return mu * m * g end)), positive("slip", speed)
    local px, pv = free("px", each(function() return 12 end)), free("pv", each(function(t) return 9 - 12 * t end))
    local ap, am, as, bp, bm, bs = positive "ap", positive "am", positive "as", positive "bp", positive "bm", positive "bs"
    local ex, ev = model:variable { name = "ex" }, model:variable { name = "ev" }
    for k = 1, N do
      local last = k == N
      local gp, gm, gs = slip[k] + v[k], slip[k] - v[k], mu * m * g - fp[k] - fm[k]
      model:equation(x[k] - (k > 1 and x[k - 1] or 0) - h * v[k], px[k])
      model:equation(m * (v[k] - (k > 1 and v[k - 1] or 0)) - h * (u[k] + fp[k] - fm[k]), pv[k])
      model:complements(gp, ap[k])
      model:complements(gm, am[k])
      model:complements(gs, as[k])
      model:complements(eps - fp[k] * gp, bp[k])
      model:complements(eps - fm[k] * gm, bm[k])
      model:complements(eps - slip[k] * gs, bs[k])
      model:equation(h * u[k] - h * pv[k], u[k])
      model:equation(px[k] - (last and 0 or px[k + 1]) + (last and ex or 0), x[k])
      model:equation(-h * px[k] + m * pv[k] - (last and 0 or m * pv[k + 1]) - ap[k] + am[k] + bp[k] * fp[k]
        - bm[k] * fm[k] + (last and ev or 0), v[k])
      model:complements(-h * pv[k] + as[k] + bp[k] * gp - bs[k] * slip[k], fp[k])
      model:complements(h * pv[k] + as[k] + bm[k] * gm - bs[k] * slip[k], fm[k])
      model:complements(-ap[k] - am[k] + bp[k] * fp[k] + bm[k] * fm[k] + bs[k] * gs, slip[k])
    end
    model:equation(x[N] - d, ex)
    model:equation(v[N], ev)
    return model, { x = x, v = v, u = u, fp = fp, fm = fm, slip = slip }
  end

  local function check(N, solver)
    local model, vars = build(N)
    local r = model:solve { solver = solver }
    assert.is_true(r.success, r.message)
    assert.equal("josephy-newton", r.solver)
    assert.equal(14 * N + 2, #r.z)
    local h, u, v, fp, fm = T / N, model:value(vars.u), model:value(vars.v), model:value(vars.fp), model:value(vars.fm)
    local slip, position, speed, work = model:value(vars.slip), 0, 0, 0
    for k = 1, N do
      speed = speed + h / m * (u[k] + fp[k] - fm[k])
      position, work = position + h * speed, work + h * u[k] * u[k] / 2
      assert.near(v[k], speed, 1e-9)
      assert.is_true(fp[k] >= 0 and fm[k] >= 0 and fp[k] + fm[k] <= mu * m * g + 1e-9)
      assert.is_true(fm[k] * (slip[k] - v[k]) <= eps + 1e-9 and fp[k] * (slip[k] + v[k]) <= eps + 1e-9)
    end
    assert.near(d, position, 1e-9)
    assert.near(0, speed, 1e-9)
    return work
  end

  it("is solved at 142 variables (in a long run at 198, too) by dense matrices, and at 282, 506 and more by sparse ones", function()
    local sizes = os.getenv "NSLUA_SOAK" and { 10, 14, 20, 36, 214 } or { 10, 20, 36, 72 }
    local works, most = list(#sizes, function(k) return check(sizes[k]) end), #sizes
    for k = 2, most do assert.is_true(works[k] > 0.5 * works[1] and works[k] < 2 * works[1], works[k]) end
    assert.near(works[most], check(sizes[most], "josephy-newton"), 1e-9)
  end)
end)
