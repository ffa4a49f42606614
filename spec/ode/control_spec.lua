-- What the methods share: errors follow the tolerances, the first and the shortest step, scales of components.
local ns = require "nslua"
local p = require "ode.problems"

describe("step control", function()
  it("makes errors follow the tolerance, with every method", function()
    for _, method in ipairs(p.methods) do
      local last = math.huge
      for _, rtol in ipairs { 1e-4, 1e-6, 1e-8 } do
        local sol = ns.solve_ivp(p.oscillator, { 0, 20 }, { 1, 0 }, { method = method, rtol = rtol, atol = rtol })
        local off = p.oscillator_error(sol)
        local most = (method == "BDF" and 1000 or 100) * rtol
        assert.is_true(off < most and off < last / 10, ("%s, rtol %g: off %g"):format(method, rtol, off))
        last = off
      end
    end
  end)

  it("does not depend on the direction of time", function()
    for _, method in ipairs(p.methods) do
      local o = { method = method, rtol = 1e-6 }
      local there = ns.solve_ivp(p.oscillator, { 0, 7 }, { 1, 0 }, o)
      local back = ns.solve_ivp(function(_, y) return { -y[2], y[1] } end, { 0, -7 }, { 1, 0 }, o)
      assert.equal(there.nfev, back.nfev)
      assert.equal(there.y[1][#there.t], back.y[1][#back.t])
    end
  end)

  it("does not depend on the units of components and of time, also in the first step", function()
    math.randomseed(3)
    local function run(method, case, s1, s2, T)
      return ns.solve_ivp(function(t, y)
        local a, b = case.f(t / T, y[1] / s1, y[2] / s2)
        return { a * s1 / T, b * s2 / T }
      end, { 0, case.T * T }, { case.y0[1] * s1, case.y0[2] * s2 },
        { method = method, rtol = 1e-5, atol = { 1e-8 * s1, 1e-8 * s2 } })
    end
    local cases = {
      { T = 20, y0 = { 1, 0 }, f = function(_, a, b) return b, -a end },
      { T = 3, y0 = { 0, 0 }, f = function(t, a, b) return b + t, 1 - a * b end },
      { T = 50, y0 = { 2, 0 }, f = function(_, a, b) return b, 100 * (1 - a * a) * b - a end },
      { T = 5, y0 = { 1, 3 }, f = function() return 0, 0 end },
    }
    for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
      for _, case in ipairs(cases) do
        local plain = run(method, case, 1, 1, 1)
        local s1, s2, T = 2.0 ^ math.random(-100, 100), 2.0 ^ math.random(-100, 100), 2.0 ^ math.random(-100, 100)
        if method == "Radau" or method == "BDF" then s2 = s1 end -- the pivots of linear systems depend on the units
        local other = run(method, case, s1, s2, T)
        assert.equal(plain.nfev, other.nfev)
        assert.equal(#plain.t, #other.t)
        for k = 1, #plain.t do
          assert.equal(plain.t[k], other.t[k] / T)
          assert.equal(plain.y[1][k], other.y[1][k] / s1)
          assert.equal(plain.y[2][k], other.y[2][k] / s2)
        end
      end
    end
  end)

  it("takes a tolerance for each component", function()
    local f = function(_, y) return { -y[1], -1e6 * y[2] + 1e6 } end
    local loose = ns.solve_ivp(f, { 0, 1e-5 }, { 1, 0 }, { rtol = 1e-10, atol = { 1e-10, 1e3 } })
    local tight = ns.solve_ivp(f, { 0, 1e-5 }, { 1, 0 }, { rtol = 1e-10, atol = { 1e3, 1e-10 } })
    assert.is_true(loose.nsteps < tight.nsteps)
    assert.is_true(math.abs(tight.y[2][#tight.t] - (1 - math.exp(-10))) < 1e-8)
  end)

  it("ends where the solution ends, telling where", function()
    for _, method in ipairs(p.methods) do
      local sol = ns.solve_ivp(function(_, y) return { y[1] ^ 2 } end, { 0, 2 }, { 1 }, { method = method, rtol = 1e-8 })
      assert.equal(-1, sol.status)
      assert.is_false(sol.success)
      assert.truthy(sol.message:find("the step length falls under", 1, true) or
        sol.message:find("the derivative of y[1] is not finite", 1, true), sol.message)
      assert.is_true(math.abs(sol.t[#sol.t] - 1) < 1e-3, sol.t[#sol.t])
    end
  end)

  it("goes round a nan and ends at one that stays", function()
    for _, method in ipairs(p.methods) do
      local calls = 0
      local sol = ns.solve_ivp(function(t, y)
        calls = calls + 1
        if y[1] > 3 then return { 0 / 0 } end -- out of reach but for a step too long
        return { t < 0.5 and 1 or -1 * (y[1] - 1) }
      end, { 0, 4 }, { 1 }, { method = method, first_step = 3 })
      assert.is_true(sol.success, sol.message)
      sol = ns.solve_ivp(function(t) return { 1, t > 0.5 and 0 / 0 or 1 } end, { 0, 1 }, { 1, 2 }, { method = method })
      assert.equal(-1, sol.status)
      assert.truthy(sol.message:find("the derivative of y[2] is not finite (t=0.5", 1, true), sol.message)
      assert.is_true(math.abs(sol.t[#sol.t] - 0.5) < 1e-9)
      assert.is_true(math.abs(sol.y[2][#sol.t] - 2.5) < 1e-6)
    end
  end)
end)
