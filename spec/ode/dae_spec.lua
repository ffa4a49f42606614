-- Radau IIA for F(t, y, y') = 0: order, tolerances, index 1 to 3, stiffness, failures.
local ns = require "nslua"
local campaign = require "campaign"
local numbers = require "random_numbers"
local pendulum = require "pendulum"
local g = 9.81

local function solve(residual, ts, y0, yd0, options)
  local solution = ns.dae("radau", residual, options):solve(ts, y0, yd0)
  assert.equal("completed", solution.message)
  return solution.values.y, solution
end

local start, slope = { 1, 0, 0, 0, 0 }, { 0, 0, 0, -g, 0 }

describe("Radau IIA on F(t, y, y') = 0", function()
  it("is as exact as it is asked to be, at index 1", function()
    local function residual(t, y, yd, r)
      r[1] = yd[1] + y[1] - y[2]
      r[2] = y[2] - math.sin(t)
    end
    local exact = 1.5 * math.exp(-5) + 0.5 * (math.sin(5) - math.cos(5))
    local steps
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8, 1e-10, 1e-12 } do
      local y, solution = solve(residual, { 0, 5 }, { 1, 0 }, { -1, 0 }, { rtol = rtol, atol = rtol / 100 })
      assert.near(exact, y[2][1], rtol)
      assert.near(math.sin(5), y[2][2], 1e-15)
      if steps then assert.is_true(solution.stats.steps < 5 * steps) end -- 100^(1/4)
      steps = solution.stats.steps
    end
  end)

  it("goes backward", function()
    local y = solve(function(t, y, yd, r) r[1] = yd[1] + y[1] end, { 2, 1, 0 }, { math.exp(-2) }, { -math.exp(-2) },
      { rtol = 1e-9 })
    assert.near(1, y[3][1], 1e-8)
  end)

  it("solves the pendulum at index 3, 2 and 1 alike, and holds what the equations say", function()
    local reference
    for index = 3, 1, -1 do
      local y = solve(pendulum(index), ns.linspace(0, 2, 21), start, slope, { rtol = 1e-9, atol = 1e-11 })
      for k = 1, 21 do
        local x = y[k]
        local held = index == 3 and x[1] ^ 2 + x[2] ^ 2 - 1 or index == 2 and x[1] * x[3] + x[2] * x[4] or 0
        assert.near(0, held, 1e-10)
        assert.near(0, (x[3] ^ 2 + x[4] ^ 2) / 2 + g * x[2], 2e-7)
      end
      reference = reference or y[21][1]
      assert.near(reference, y[21][1], 2e-7)
    end
  end)

  it("passes a stiff layer and follows what comes after: Robertson's reaction", function()
    local function residual(t, y, yd, r)
      r[1] = yd[1] + 0.04 * y[1] - 1e4 * y[2] * y[3]
      r[2] = yd[2] - 0.04 * y[1] + 1e4 * y[2] * y[3] + 3e7 * y[2] ^ 2
      r[3] = y[1] + y[2] + y[3] - 1
    end
    local y, solution = solve(residual, { 0, 0.4, 40, 4e5, 4e10 }, { 1, 0, 0 }, { -0.04, 0.04, 0 },
      { rtol = 1e-8, atol = { 1e-10, 1e-14, 1e-10 } })
    -- the values that the literature gives for 0.4 and 40
    assert.near(9.8517e-1, y[2][1], 1e-5)
    assert.near(3.3864e-5, y[2][2], 1e-9)
    assert.near(7.1583e-1, y[3][1], 1e-5)
    assert.near(9.1851e-6, y[3][2], 1e-9)
    for k = 1, 5 do assert.near(1, y[k][1] + y[k][2] + y[k][3], 1e-12) end
    assert.is_true(solution.stats.steps < 1000)
  end)

  it("gives the part up to where it can not go on, and says why", function()
    local function explode(t, y, yd, r) r[1] = yd[1] - y[1] ^ 2 end -- 1 / (1 - t)
    local solution = ns.dae("radau", explode, { rtol = 1e-8 }):solve({ 0, 0.5, 0.9, 2 }, { 1 }, { 1 })
    assert.equal(-1, solution.flag)
    assert.is_false(solution.success)
    assert.equal(3, #solution.values.t)
    assert.near(10, solution.values.y[3][1], 1e-6)
    assert.near(1, solution.errors.t, 1e-4)
    assert.truthy(solution.message:find("(t=", 1, true), solution.message)
    solution = ns.dae("radau", explode, { max_steps = 3 }):solve({ 0, 0.9 }, { 1 }, { 1 })
    assert.truthy(solution.message:find("more than 3 steps (t=", 1, true), solution.message)
  end)

  it("says where numbers become nan, and which equation is no equation", function()
    local solution = ns.dae("radau", function(t, y, yd, r) r[1] = yd[1] - (t > 0.5 and 0 / 0 or 1) end)
      :solve({ 0, 0.25, 1 }, { 0 }, { 1 })
    assert.equal(-1, solution.flag)
    assert.truthy(solution.message:find("residual[1] is not finite (t=0.5", 1, true), solution.message)
    solution = ns.dae("radau", function(t, y, yd, r) r[1], r[2] = yd[1] - 1, yd[1] - 1 end, { consistent = false })
      :solve({ 0, 1 }, { 0, 0 }, { 1, 0 })
    assert.truthy(solution.message:find("is singular: equation", 1, true), solution.message)
  end)

  it("says where steps become too short", function()
    local solution = ns.dae("radau", function(_, y, yd, r) -- y[2] ends in a fold at t = 1/5
      r[1], r[2] = yd[1] - 1, y[2] ^ 3 - 3 * y[2] + 10 * y[1]
    end):solve({ 0, 0.1, 2 }, { 0, 3 ^ 0.5 }, { 1, -10 / 6 })
    assert.equal(-1, solution.flag)
    assert.matches("^steps become too short, %S+ %(t=0.2%): Newton does not converge", solution.message)
    assert.equal(2, #solution.values.t)
  end)

  it("keeps Jacobians while Newton's method converges fast: one pair for linear equations", function()
    local function residual(t, y, yd, r)
      r[1] = yd[1] - y[2] + math.sin(3 * t)
      r[2] = yd[2] + y[1] + 0.1 * y[2]
      r[3] = y[3] - y[1] - y[2]
    end
    local _, solution = solve(residual, { 0, 5 }, { 1, 0, 1 }, { 0, -1, -1 }, { rtol = 1e-8, index = { 1, 1, 1 } })
    assert.equal(1, solution.stats.jacobians)
    assert.is_true(solution.stats.steps > 50)
    _, solution = solve(pendulum(3), { 0, 2 }, start, slope, { rtol = 1e-9, atol = 1e-11 })
    assert.is_true(solution.stats.jacobians < 0.9 * solution.stats.steps)
    assert.is_true(solution.stats.jacobians > 10)
  end)

  it("takes fresh ones when equations change at once, and holds the tolerance", function()
    -- y' = -k y with k from 1 to 1e4 at t = 1: y(1.001) = e^-1 e^-10
    local function residual(t, y, yd, r) r[1] = yd[1] + (t < 1 and 1 or 1e4) * y[1] end
    local y, solution = solve(residual, { 0, 1, 1.001 }, { 1 }, { -1 }, { rtol = 1e-8, atol = 1e-14 })
    assert.near(math.exp(-1), y[2][1], 1e-8)
    assert.near(math.exp(-11), y[3][1], 1e-7 * math.exp(-1))
    assert.is_true(solution.stats.jacobians >= 2)
  end)

  describe("at kinks of algebraic equations", function()
    -- 0 = y - K max(0, t - tau - y), 0 = z - L max(0, y - sigma - z): y = K / (1 + K) (t - tau), once t > tau; z alike. x' = y.
    local function kinked(K, tau, L, sigma, unit)
      return function(t, y, yd, r)
        local u, w = t - tau * unit - y[2], y[2] - sigma * unit - y[3]
        r[1] = yd[1] - y[2]
        r[2], r[3] = y[2] - K * (u > 0 and u or 0), y[3] - L * (w > 0 and w or 0)
      end
    end

    it("goes on, however steep the kink is: Newton's method takes the Jacobians past it", function()
      for _, K in ipairs { 0.5, 0.9, 2, 100, 1e4 } do
        local y, solution = solve(kinked(K, 1, 0, 0, 1), { 0, 2 }, { 0, 0, 0 }, { 0, 0, 0 }, { rtol = 1e-8 })
        assert.near(K / (1 + K), y[2][2], 1e-10)
        assert.near(K / (1 + K) / 2, y[2][1], 1e-7)
        assert.is_true(solution.stats.steps < 120)
      end
    end)

    it("of random slopes, at random times, one after the other, in any unit of time", function()
      local count, tell = campaign(15, 0.02)
      math.randomseed(30)
      for _ = 1, count do
        local K, L = numbers.uniform(0.5, 3) ^ 6, numbers.uniform(0.5, 3) ^ 6
        local tau, sigma, unit = numbers.uniform(0.1, 0.8), numbers.uniform(0, 0.1), numbers.power(20)
        local y = solve(kinked(K, tau, L, sigma, unit), { 0, unit }, { 0, 0, 0 }, { 0, 0, 0 },
          { rtol = 1e-7, atol = { 1e-9 * unit ^ 2, 1e-9 * unit, 1e-9 * unit } })[2]
        local y2 = K / (1 + K) * (1 - tau)
        assert.near(y2, y[2] / unit, 1e-7)
        assert.near(L / (1 + L) * math.max(0, y2 - sigma), y[3] / unit, 1e-7)
        assert.near(y2 * (1 - tau) / 2, y[1] / unit ^ 2, 1e-6)
      end
      tell("kinks of algebraic equations", count)
    end)
  end)

  describe("where rounding stops Newton's method", function()
    local squeezer, q0 = require "squeezer"()

    it("goes on when what stays is a small part of the tolerances: Andrews' squeezer at rtol = 1e-10", function()
      local y = {}
      for k, rtol in ipairs { 1e-8, 1e-10 } do
        y[k] = solve(squeezer, { 0, 1e-3 }, q0, nil, { rtol = rtol, atol = rtol / 100, consistent = "solve" })[2]
      end
      for i = 1, 7 do assert.near(y[1][i], y[2][i], 1e-8) end
    end)

    it("says so when it is not", function()
      local solution = ns.dae("radau", squeezer, { rtol = 1e-13, atol = 1e-15, consistent = "solve" }):solve({ 0, 1e-3 }, q0)
      assert.matches("^steps become too short, %S+ %(t=0%): Newton's corrections stay at %S+ of the accepted errors %(rounding of "
        .. "the residual: take a larger rtol and atol; or inconsistent values, or a wrong index%?%)$", solution.message)
    end)
  end)

  -- E y' + G y = 0 of n nodes that capacitors E and resistors G join: the sum of the equations has no derivative. In
  -- y = N z, N the null space of this sum, the others are an ordinary equation of z.
  it("starts and solves networks whose capacitors are in loops, with derivatives", function()
    for seed = 1, campaign(6) do
      math.randomseed(seed)
      local random = math.random
      local n = 2 + seed % 4
      local E, G = ns.zeros(n, n), ns.eye(n)
      for i = 1, n do
        for j = 1, i - 1 do
          local c, k = 10 ^ (random() - 6.5), 10 ^ (2 * random() - 4)
          for _, part in ipairs { { E, c }, { G, k } } do
            local M, x = table.unpack(part)
            M[i][i], M[j][j], M[i][j], M[j][i] = M[i][i] + x, M[j][j] + x, M[i][j] - x, M[j][i] - x
          end
        end
      end
      local scale = 10 ^ (3 * random() - 3)
      G = G * scale
      local sum = ns.ones(n):row() * G
      local N, others = ns.null(sum), ns.null(ns.ones(1, n)):transpose()
      local A = ns.solve(others * E * N, -1 * (others * G * N))
      local time = 1 / A:norm(2)
      local z = ns.vector(n - 1)
      for k = 1, n - 1 do z[k] = random() - 0.5 end
      local exact = N * (ns.expm(time * A) * z)
      local function residual(_, y, yd, r)
        local value = E * yd + G * y
        for i = 1, n do r[i] = value[i] end
      end
      local y, solution = solve(residual, { 0, time }, N * z, nil,
        { rtol = 1e-9, atol = 1e-12, consistent = "solve", sensitivities = "y0" })
      assert.near(0, (y[2] - exact):norm(math.huge), 1e-8 * exact:norm(math.huge))
      assert.near(0, (solution.S[2] * (N * z) - exact):norm(math.huge), 1e-7 * exact:norm(math.huge))
      local good, message = pcall(ns.consistent, { residual = residual, y = N * z + ns.ones(n) })
      assert.is_false(good)
      assert.matches("is not fulfilled: unknowns that have a derivative would have to change", message, 1, true)
    end
  end)
end)
