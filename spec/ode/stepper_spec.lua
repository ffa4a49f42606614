-- The methods behind one face: names, counts, agreement.
local ns = require "nslua"
local p = require "ode.problems"

describe("methods", function()
  it("go by their names, RK45 when none is given", function()
    local plain = ns.solve_ivp(p.oscillator, { 0, 5 }, { 1, 0 })
    local named = ns.solve_ivp(p.oscillator, { 0, 5 }, { 1, 0 }, { method = "RK45" })
    assert.equal(plain.nfev, named.nfev)
    assert.has_error(function() ns.solve_ivp(p.oscillator, { 0, 5 }, { 1, 0 }, { method = "Euler" }) end,
      "solve_ivp: method: expected one of RK45, DOP853, Radau, BDF, CVODE_BDF, CVODE_Adams, got 'Euler'")
    assert.has_error(function() ns.solve_ivp(p.oscillator, { 0, 5 }, { 1, 0 }, { method = 5 }) end,
      "solve_ivp: method: expected one of RK45, DOP853, Radau, BDF, CVODE_BDF, CVODE_Adams, got number 5.0")
  end)

  it("agree, and the one of order 8 needs the fewest evaluations when much is asked for", function()
    local ends, work = {}, {}
    for _, method in ipairs(p.methods) do
      local sol = ns.solve_ivp(p.van_der_pol(1), { 0, 10 }, { 2, 0 }, { method = method, rtol = 1e-9, atol = 1e-10 })
      ends[method], work[method] = sol.y[1][#sol.t], sol.nfev
      assert.is_true(math.abs(ends[method] - ends.RK45) < 2e-6, method)
      assert.equal(method == "Radau" or method == "BDF", sol.njev > 0 and sol.nlu > 0)
    end
    assert.is_true(work.DOP853 < work.RK45 and work.RK45 < work.Radau)
  end)

  it("keep to the longest step and the first one", function()
    for _, method in ipairs(p.methods) do
      local sol = ns.solve_ivp(p.oscillator, { 0, 1 }, { 1, 0 }, { method = method, max_step = 0.03, first_step = 0.001,
        rtol = 1e-3 })
      assert.is_true(math.abs(sol.t[2] - 0.001) < 1e-15)
      for k = 2, #sol.t do assert.is_true(sol.t[k] - sol.t[k - 1] <= 0.03 * (1 + 1e-12), method) end
      assert.equal(1, sol.t[#sol.t])
    end
  end)
end)
