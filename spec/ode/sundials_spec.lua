-- IDA on F(t, y, y') = 0: accuracy, index 1 and 2, stiffness, where it ends and what it says. Pending where it is not built.
local ns = require "nslua"
local pendulum = require "pendulum"
local columns, four_bar = require "columns", require "four_bar"
local g = 9.81
local here = package.searchpath("nslua.sundials", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.sundials is not built: make sundials)") end

local function solve(residual, ts, y0, yd0, options)
  return ns.dae("ida", residual, options):solve(ts, y0, yd0)
end

local function whole(...)
  local solution = solve(...)
  assert.equal("completed", solution.message)
  assert.equal(0, solution.flag)
  return solution.values.y, solution
end

local function decay(_, y, yd, r) r[1] = yd[1] + y[1] end

describe("IDA on F(t, y, y') = 0", function()
  test("is as exact as it is asked to be, in y and in y'", function()
    local steps = 0
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8, 1e-10 } do
      local y, solution = whole(function(t, y, yd, r)
        r[1] = yd[1] + y[1] - y[2]
        r[2] = y[2] - math.sin(t)
      end, { 0, 2.5, 5 }, { 1, 0 }, { -1, 1 }, { rtol = rtol, atol = rtol / 100, algebraic = { 2 } })
      local exact = 1.5 * math.exp(-5) + 0.5 * (math.sin(5) - math.cos(5))
      local off = math.abs(y[3][1] - exact)
      assert.is_true(off < 30 * rtol, off)
      assert.near(math.sin(5), y[3][2], 30 * rtol)
      assert.near(math.sin(5) - exact, solution.values.ydot[3][1], 300 * rtol)
      assert.is_true(solution.stats.steps > steps)
      steps = solution.stats.steps
    end
  end)

  test("goes backward, and stays inside of the times that it is asked for", function()
    local function inside(t, y, yd, r)
      if t < 0 or t > 2 then error "outside" end
      decay(t, y, yd, r)
    end
    local start = math.exp(-2)
    assert.near(1, whole(inside, { 2, 1, 0 }, { start }, { -start }, { rtol = 1e-9 })[3][1], 1e-7)
    assert.near(1, whole(inside, { 2, 0 }, { start }, { -start }, { rtol = 1e-9, first_step = 1e-3 })[2][1], 1e-7)
    assert.near(start, whole(inside, { 0, 0.2, 0.21, 2 }, { 1 }, { -1 }, { rtol = 1e-9 })[4][1], 1e-8)
    assert.same({ { 1 } }, whole(inside, { 2 }, { 1 }, { -1 }):totable())
  end)

  test("takes no step above max_step", function()
    local _, solution = whole(decay, { 0, 1 }, { 1 }, { -1 }, { rtol = 1e-2, atol = 1e-2, max_step = 1e-2 })
    assert.is_true(solution.stats.steps >= 100)
  end)

  test("solves the pendulum of index 1, 2, and stabilised", function()
    local reference = ns.dae("radau", pendulum(2), { rtol = 1e-10, atol = 1e-12 })
      :solve(ns.linspace(0, 2, 11), { 1, 0, 0, 0, 0 }, { 0, 0, 0, -g, 0 }).values.y
    for index, drift in pairs { [1] = 1e-6, [2] = 1e-6, stabilised = 1e-9 } do
      local n = index == "stabilised" and 6 or 5
      local y0, yd0 = ns.zeros(n), ns.zeros(n)
      y0[1], yd0[4] = 1, -g
      local y = whole(pendulum(index), ns.linspace(0, 2, 11), y0, yd0, { rtol = 1e-9, atol = 1e-11 })
      for k = 1, 11 do
        assert.near(1, y[k][1] ^ 2 + y[k][2] ^ 2, drift)
        assert.near(0, (y[k][3] ^ 2 + y[k][4] ^ 2) / 2 + g * y[k][2], 1e-5)
        for i = 1, 4 do assert.near(reference[k][i], y[k][i], 2e-6) end
      end
    end
  end)

  test("solves the pendulum of index 3 when that is asked for, better for smaller tolerances", function()
    local ts, start, rates = ns.linspace(0, 2, 11), { 1, 0, 0, 0, 0 }, { 0, 0, 0, -g, 0 }
    local reference = ns.dae("radau", pendulum(2), { rtol = 1e-10, atol = 1e-12 }):solve(ts, start, rates).values.y
    local last = math.huge
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8 } do
      local y, most = whole(pendulum(3), ts, start, rates, { rtol = rtol, atol = rtol, index = { 1, 1, 2, 2, 3 } }), 0
      for k = 1, 11 do
        assert.near(1, y[k][1] ^ 2 + y[k][2] ^ 2, 10 * rtol)
        for i = 1, 4 do most = math.max(most, math.abs(reference[k][i] - y[k][i])) end
      end
      assert.is_true(most < last / 3 and most < 0.5, most)
      last = most
    end
  end)

  test("passes a stiff layer and follows what comes after: Robertson's reaction", function()
    local y, solution = whole(function(_, y, yd, r)
      r[1] = yd[1] + 0.04 * y[1] - 1e4 * y[2] * y[3]
      r[2] = yd[2] - 0.04 * y[1] + 1e4 * y[2] * y[3] + 3e7 * y[2] ^ 2
      r[3] = y[1] + y[2] + y[3] - 1
    end, { 0, 0.4, 40, 4e5, 4e10 }, { 1, 0, 0 }, { -0.04, 0.04, 0 },
      { rtol = 1e-8, atol = { 1e-10, 1e-14, 1e-10 }, algebraic = { 3 } })
    assert.near(9.8517e-1, y[2][1], 1e-5)
    assert.near(3.3864e-5, y[2][2], 1e-9)
    assert.near(7.1583e-1, y[3][1], 1e-5)
    assert.near(9.1851e-6, y[3][2], 1e-9)
    for k = 1, 5 do assert.near(1, y[k][1] + y[k][2] + y[k][3], 1e-10) end
    assert.is_true(solution.stats.steps < 3000 and solution.stats.jacobians < solution.stats.steps / 4)
  end)

  test("follows the four-bar linkage over 30 s", function()
    local reference = columns.read "spec/reference/four_bar.csv"
    local function off(options)
      options.consistent, options.algebraic = "solve", { 2, 3 }
      local y = whole(four_bar.residual, reference.t, four_bar.start(reference), nil, options)
      local most = 0
      for k = 1, reference.n do
        for i, name in ipairs { "q1", "q2", "q3", "u1" } do most = math.max(most, math.abs(y[k][i] - reference[name][k])) end
      end
      return most
    end
    assert.is_true(off { rtol = 1e-10, atol = 1e-12 } < 1e-5)
    assert.is_true(off { rtol = 1e-8, atol = 1e-10 } < 1e-3)
  end)
end)

describe("IDA that can not go on", function()
  local function ends(text, count, ...)
    local solution = solve(...)
    assert.equal(-1, solution.flag)
    assert.is_false(solution.success)
    assert.truthy(solution.message:find(text, 1, true), solution.message)
    assert.equal(count, #solution.values.t)
    return solution
  end

  test("gives the part before, and where it stands", function()
    local function explode(_, y, yd, r) r[1] = yd[1] - y[1] ^ 2 end -- 1 / (1 - t)
    local solution = ends("IDA: steps become too short", 3, explode, { 0, 0.5, 0.9, 2 }, { 1 }, { 1 }, { rtol = 1e-8 })
    assert.near(10, solution.values.y[3][1], 1e-4)
    assert.near(1, solution.errors.t, 1e-5)
    assert.is_true(solution.errors.y[1] > 1e5)
    ends("more than 3 steps (t=", 1, explode, { 0, 0.9 }, { 1 }, { 1 }, { max_steps = 3 })
  end)

  test("says at which step the error or Newton's method does not get small enough", function()
    ends("IDA: Newton does not converge at a step of", 2, function(_, y, yd, r) -- y[2] ends in a fold
      r[1], r[2] = yd[1] - 1, y[2] ^ 3 - 3 * y[2] + 10 * y[1]
    end, { 0, 0.1, 2 }, { 0, 3 ^ 0.5 }, { 1, -10 / 6 })
    ends("IDA: the error stays above the tolerances at a step of", 2, function(t, y, _, r) r[1] = y[1] - (t < 0.5 and 1 or 2) end,
      { 0, 0.25, 2 }, { 1 }, { 0 }, { rtol = 1e-8 })
  end)

  test("says so when times are too close to each other", function()
    ends("IDA stops with its flag -22 (t=1)", 1, function(_, _, yd, r) r[1] = yd[1] - 1 end, { 1, 1 + 2 ^ -52 }, { 0 }, { 1 })
  end)

  test("says which residual is nan, where", function()
    local solution = ends("residual[2] is not finite (t=0.5", 2, function(t, y, yd, r)
      r[1], r[2] = yd[1] - 1, y[2] - (t > 0.5 and 0 / 0 or 1)
    end, { 0, 0.25, 1 }, { 0, 1 }, { 1, 0 })
    assert.near(0.5, solution.errors.t, 1e-3)
    assert.near(solution.errors.t, solution.errors.y[1], 1e-9) -- that of the last step that was good
  end)

  test("says which unknown makes the matrix singular", function()
    ends("IDA: dF/dy + c dF/dy' is singular: unknown 2 is in no equation, or in none that others do not determine (t=0)", 1,
      function(_, _, yd, r) r[1], r[2] = yd[1] - 1, yd[1] - 1 end, { 0, 1 }, { 0, 0 }, { 1, 0 }, { consistent = false })
  end)

  test("raises what the residual raises, and can be used again", function()
    local angry = true
    local dae = ns.dae("ida", function(t, y, yd, r)
      if angry and t > 0.3 then error "too much" end
      decay(t, y, yd, r)
    end)
    local ok, message = pcall(dae.solve, dae, { 0, 1 }, { 1 }, { -1 })
    assert.is_false(ok)
    assert.truthy(message:find("too much", 1, true), message)
    angry = false
    assert.equal(0, dae:solve({ 0, 1 }, { 1 }, { -1 }).flag)
  end)

  test("refuses index 3 that nobody asked for", function()
    local ok, message = pcall(solve, pendulum(3), { 0, 1 }, { 1, 0, 0, 0, 0 }, { 0, 0, 0, -g, 0 })
    assert.is_false(ok)
    local text = "dae: index: the equations are of index 3, which kind 'ida' solves only when the option index asks for it "
      .. "({ 1, 1, 2, 2, 3 }), with errors far above the tolerances; 'radau' solves index 3"
    assert.truthy(message:find(text, 1, true), message)
  end)
end)
