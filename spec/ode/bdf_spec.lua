-- The differentiation formulas: accuracy with the tolerance, dense output, stiff problems.
local ns = require "nslua"
local p = require "ode.problems"

describe("BDF", function()
  it("is as exact as it is asked to be, to a factor that does not grow", function()
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8, 1e-10 } do
      local sol = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 },
        { method = "BDF", rtol = rtol, atol = rtol, dense_output = true })
      assert.is_true(p.oscillator_error(sol) < 500 * rtol, rtol)
      assert.is_true(p.dense_error(sol, 10) < 500 * rtol, rtol)
    end
  end)

  it("uses high orders: ten times the accuracy takes less than twice the steps", function()
    local function steps(rtol)
      return ns.solve_ivp(p.oscillator, { 0, 50 }, { 1, 0 }, { method = "BDF", rtol = rtol, atol = rtol }).nsteps
    end
    assert.is_true(steps(1e-9) < 8 * steps(1e-5) and steps(1e-9) > steps(1e-5))
  end)

  it("joins its polynomials without jumps", function()
    local sol = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { method = "BDF", rtol = 1e-6, dense_output = true })
    for k = 2, #sol.t - 1 do
      for i = 1, 2 do
        assert.is_true(math.abs(sol.sol(sol.t[k] * (1 + 1e-14))[i] - sol.y[i][k]) < 1e-12)
        assert.is_true(math.abs(sol.sol(sol.t[k])[i] - sol.y[i][k]) < 1e-12)
      end
    end
  end)

  it("solves stiff problems", function()
    local sol = ns.solve_ivp(p.robertson, { 0, 1e11 }, { 1, 0, 0 },
      { method = "BDF", rtol = 1e-8, atol = { 1e-14, 1e-18, 1e-10 } })
    assert.is_true(math.abs(sol.y[1][#sol.t] / 0.2083340149701255e-07 - 1) < 1e-3)
    local one = ns.solve_ivp(p.van_der_pol(1e3), { 0, 3000 }, { 2, 0 }, { method = "BDF", rtol = 1e-6, atol = 1e-8 })
    local two = ns.solve_ivp(p.van_der_pol(1e3), { 0, 3000 }, { 2, 0 }, { method = "Radau", rtol = 1e-8, atol = 1e-8 })
    assert.is_true(math.abs(one.y[1][#one.t] - two.y[1][#two.t]) < 1e-3)
  end)
end)
