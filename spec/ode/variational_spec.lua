-- Linear equations along a trajectory, forwards and backwards: closed forms, tolerances by units, no allocation.
local ns = require "nslua"
local variational = require("nslua.internal").variational

local function copy(of, with)
  local all = {}
  for k, v in pairs(of) do all[k] = v end
  for k, v in pairs(with) do all[k] = v end
  return all
end

local methods = { { implicit = false }, { implicit = true }, { adaptive = true } }

-- x' = p1 x on x = 2 exp(t / 2): S = dx/d(x0, p1) = (exp(p1 t), x0 t exp(p1 t)).
local growth = { n = 1, p = 2, forced = true, y = { 1, 0 }, stops = { 3 }, size = { 2 },
  terms = function(t) return { 0.5 }, { 0, 2 * math.exp(t / 2) } end }

-- The motion of a pendulum, linearised along a given motion of large amplitude: any smooth q(t) will do.
local function pendulum(t) return { 0, -math.cos(2 * math.sin(t)), 1, -0.1 } end -- columns of J

local function matrix_of(list, n, p)
  local m = ns.zeros(n, p)
  for j = 1, p do
    for i = 1, n do m[i][j] = list[(j - 1) * n + i] end
  end
  return m
end

describe("variational equations", function()
  it("give the derivatives by initial values and parameters", function()
    for _, method in ipairs(methods) do
      local r = variational(copy(growth, method))
      assert.near(math.exp(1.5), r.y[1], 1e-8)
      assert.near(6 * math.exp(1.5), r.y[2], 1e-7)
      assert.equal(0, r.allocations)
    end
  end)

  it("give the matrix exponential, forwards and backwards in time", function()
    local A = ns.matrix { { -1, 2, 0 }, { 0.5, -0.3, 1 }, { -2, 0, 0.4 } }
    local columns = {}
    for j = 1, 3 do
      for i = 1, 3 do columns[#columns + 1] = A[i][j] end
    end
    for _, method in ipairs(methods) do
      for _, t in ipairs { 2, -1.5 } do
        local r = variational(copy({ n = 3, p = 3, terms = function() return columns end,
          y = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, stops = { t } }, method))
        local E = ns.expm(A * t)
        assert.is_true(ns.norm(matrix_of(r.y, 3, 3) - E) < 3e-9 * ns.norm(E), t)
      end
    end
  end)

  it("have dense output of the accuracy of the steps", function()
    local times = {}
    for k = 1, 40 do times[k] = 3 * k / 40 end
    for m, method in ipairs(methods) do
      local r = variational(copy(copy(growth, method), { at = times }))
      assert.equal(40, #r.rows)
      for k, t in ipairs(times) do
        assert.near(1, r.rows[k][1] / math.exp(t / 2), m ~= 2 and 1e-9 or 1e-8)
        assert.near(1, r.rows[k][2] / (2 * t * math.exp(t / 2)), m ~= 2 and 1e-9 or 1e-7)
      end
    end
  end)

  it("go on through stops with the same step length", function()
    local stops = {}
    for k = 1, 7 do stops[k] = k end
    local once = variational { n = 2, p = 2, terms = pendulum, y = { 1, 0, 0, 1 }, stops = { 7 } }
    local often = variational { n = 2, p = 2, terms = pendulum, y = { 1, 0, 0, 1 }, stops = stops }
    for i = 1, 4 do assert.near(once.y[i], often.y[i], 1e-8) end
    assert.is_true(often.steps <= once.steps + 8, often.steps)
  end)

  it("take few steps where J is stiff, if implicit", function()
    -- x' = -1e6 (x - cos t) - ...: dx/dp of x' = -1e6 (x - p cos t) is close to cos t
    local r = variational { n = 1, p = 1, forced = true, implicit = true, y = { 1 }, stops = { 10 }, rtol = 1e-8,
      terms = function(t) return { -1e6 }, { 1e6 * math.cos(t) } end }
    assert.near(math.cos(10), r.y[1], 1e-6)
    assert.is_true(r.steps < 250, r.steps)
  end)

  it("go to and fro between the methods, where J gets stiff and ceases to be", function()
    -- x' = -k(t) (x - p cos t): k = 1, then 1e5 from t = 4 to 8, by smooth steps; against Radau IIA alone
    local function terms(t)
      local k = 1 + 1e5 / (1 + math.exp(-20 * (t - 4))) / (1 + math.exp(20 * (t - 8)))
      return { -k }, { k * math.cos(t) }
    end
    local calls = 0
    local problem = { n = 1, p = 1, forced = true, y = { 1 }, stops = { 12 }, rtol = 1e-9, h = 0.1, terms = function(t)
      calls = calls + 1
      return terms(t)
    end }
    local exact = variational(copy(problem, { implicit = true, rtol = 1e-11 }))
    calls = 0
    local stiff = variational(copy(problem, { implicit = true }))
    local alone = calls
    calls = 0
    local both = variational(copy(problem, { adaptive = true }))
    assert.near(exact.y[1], stiff.y[1], 1e-8)
    assert.near(exact.y[1], both.y[1], 1e-8)
    assert.is_true(calls < 1.5 * alone, calls .. " of " .. alone)
    assert.equal(0, both.allocations)
    -- DOP853 alone needs a step for each 6e-5 of the way
    assert.is_true(both.steps < 1000, both.steps)
  end)

  it("solve linear differential-algebraic equations", function()
    -- S1' = -S1 + S2 + 1, 0 = S2 - t S1: S1' = (t - 1) S1 + 1
    local r = variational { n = 2, p = 1, forced = true, mass = true, implicit = true, y = { 1, 0 }, stops = { 1 }, rtol = 1e-9,
      terms = function(t) return { -1, -t, 1, 1 }, { 1, 0 }, { 1, 0, 0, 0 } end }
    local integral = ns.quad(function(s) return math.exp(-(s * s / 2 - s)) end, 0, 1)
    local exact = math.exp(-0.5) * (1 + integral)
    assert.near(exact, r.y[1], 1e-8)
    assert.near(exact, r.y[2], 1e-8)
  end)

  it("are adjoint to each other", function()
    -- cost = x1(T) + integral of (t x2 + p): d/dx0 and d/dp by S, and by mu
    local function terms(t) return pendulum(t), { math.sin(t), 1 } end
    local augmented = function(t) -- with z' = t x2 + p as a third state
      local J, P = terms(t)
      return { J[1], J[2], 0, J[3], J[4], t, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0, P[1], P[2], 1 }
    end
    local S = variational({ n = 3, p = 3, forced = true, terms = augmented, y = { 1, 0, 0, 0, 1, 0, 0, 0, 0 },
      stops = { 5 }, size = { 1, 1, 1 }, rtol = 1e-12 }).y
    local function vjp(t, mu)
      local J, P = terms(t)
      return { J[1] * mu[1] + J[2] * mu[2], J[3] * mu[1] + J[4] * mu[2] }, { P[1] * mu[1] + P[2] * mu[2] }
    end
    local adjoint = { n = 2, p = 1, adjoint = true, forced = true, terms = terms, t = 5, y = { 1, 0, 0 }, stops = { 0 },
      cost = function(t) return { 0, t }, { 1 } end, rtol = 1e-12 }
    for _, with in ipairs { {}, { vjp = vjp }, { implicit = true, rtol = 1e-11 }, { adaptive = true, vjp = vjp } } do
      local r = variational(copy(adjoint, with))
      assert.near(S[1] + S[3], r.y[1], 1e-9)
      assert.near(S[4] + S[6], r.y[2], 1e-9)
      assert.near(S[7] + S[9], r.y[3], 1e-9)
      assert.equal(0, r.allocations)
    end
  end)

  it("control the integral of g where mu itself is constant", function()
    local r = variational { n = 1, p = 1, adjoint = true, forced = true, t = 10, y = { 1, 0 }, stops = { 0 }, rtol = 1e-10,
      terms = function(t) return { 0 }, { math.cos(20 * t) } end }
    assert.near(math.sin(200) / 20, r.y[2], 1e-9)
  end)

  it("give the same bits in other units", function()
    local a, b, c = 2 ^ 40, 2 ^ -30, 2 ^ 17 -- units of x1, x2 and the parameter
    local function terms(t) return pendulum(t), { math.sin(t), 1 } end
    local function scaled(t)
      local J, P = terms(t)
      return { J[1], J[2] * b / a, J[3] * a / b, J[4] }, { P[1] * a / c, P[2] * b / c }
    end
    for _, method in ipairs(methods) do
      local r = variational(copy({ n = 2, p = 1, forced = true, terms = terms, y = { 0, 0 }, stops = { 6 } }, method))
      local s = variational(copy({ n = 2, p = 1, forced = true, terms = scaled, y = { 0, 0 }, stops = { 6 },
        size = { a, b } }, method))
      assert.equal(r.y[1] * a / c, s.y[1])
      assert.equal(r.y[2] * b / c, s.y[2])
      assert.equal(r.steps, s.steps)
      local adjoint = { n = 2, p = 1, adjoint = true, forced = true, t = 6, stops = { 0 } }
      r = variational(copy(copy(adjoint, { terms = terms, y = { 1, 0, 0 } }), method))
      s = variational(copy(copy(adjoint, { terms = scaled, y = { 1 / a, 0, 0 }, size = { a, b } }), method))
      assert.equal(r.y[1] / a, s.y[1])
      assert.equal(r.y[2] / b, s.y[2])
      assert.equal(r.y[3] / c, s.y[3])
    end
  end)

  it("judge each column by itself", function()
    local function terms(t) return pendulum(t), { 0, 1, 0, 2 ^ -100 } end
    local one = variational { n = 2, p = 1, forced = true, terms = terms, y = { 0, 0 }, stops = { 6 } }
    local both = variational { n = 2, p = 2, forced = true, terms = terms, y = { 0, 0, 0, 0 }, stops = { 6 } }
    assert.equal(one.steps, both.steps)
    assert.near(one.y[1], both.y[1], 1e-14 * math.abs(one.y[1]))
    assert.equal(both.y[1], both.y[3] * 2 ^ 100)
  end)

  it("pass a long chain of states", function()
    local n, J = 16, {}
    for k = 1, n * n do J[k] = 0 end
    for i = 2, n do J[(i - 2) * n + i] = 1 end -- x_i' = x_(i-1)
    local y = { 1 }
    for i = 2, n do y[i] = 0 end
    for _, method in ipairs(methods) do
      local r = variational(copy({ n = n, p = 1, terms = function() return J end, y = y, stops = { 1 }, rtol = 1e-8 }, method))
      local exact = 1
      for i = 2, n do
        exact = exact / (i - 1)
        assert.near(exact, r.y[i], 1e-8)
      end
      assert.is_true(r.steps < 300, r.steps)
    end
  end)

  it("take a shorter step when the terms ask for it", function()
    for _, method in ipairs(methods) do
      local asked = false
      local r = variational(copy(copy(growth, method), { h = 3, terms = function(t)
        if t > 2.9 and not asked then
          asked = true
          return false
        end
        return growth.terms(t)
      end }))
      assert.near(math.exp(1.5), r.y[1], 1e-8)
      assert.is_true(r.rejected >= 1)
    end
  end)

  it("tell what is wrong", function()
    for _, method in ipairs(methods) do
      local _, status, text = variational(copy(copy(growth, method), { terms = function() return { 0 / 0 } end }))
      assert.equal("NS_ENAN", status)
      assert.equal("J[1][1] of the variational equations is not finite (t=0)", text)
      _, status, text = variational(copy(copy(growth, method), { terms = function() error("no terms", 0) end }))
      assert.equal("NS_ECALLBACK", status)
      assert.equal("no terms", text)
      _, status = variational(copy(copy(growth, method), { terms = function(t) return t <= 1 and { 1 } or false end }))
      assert.equal("NS_ECALLBACK", status)
    end
    local noise = 1
    local _, status, text = variational(copy(growth, { t = 1, terms = function()
      noise = -noise
      return { noise * 1e17 }
    end }))
    assert.equal("NS_ENOCONV", status)
    assert.truthy(text:find("the step length falls under .*, too small to go on %(t=1%)"), text)
    _, status, text = variational(copy(growth, { terms = function()
      noise = -noise
      return { noise * 1e12 }
    end }))
    assert.equal("NS_EMAXITER", status)
    assert.truthy(text:find("^100000 steps were not enough for the variational equations %(t="), text)
    _, status, text = variational { n = 1, p = 1, mass = true, implicit = true, y = { 1 }, stops = { 1 },
      terms = function() return { 0 }, nil, { 0 } end }
    assert.equal("NS_ESINGULAR", status)
    assert.equal("the variational equations are singular (t=0)", text)
  end)

  it("without parameters there is nothing to do", function()
    local r = variational { n = 2, p = 0, terms = function() error("not called") end, y = {}, stops = { 3 } }
    assert.equal(3, r.t)
  end)
end)
