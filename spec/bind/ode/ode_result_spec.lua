-- What solve_ivp returns.
local ns = require "nslua"
local p = require "ode.problems"

describe("the result of solve_ivp", function()
  it("has a row of y for each component, a column for each time", function()
    local sol = ns.solve_ivp(p.oscillator, { 0, 1 }, { 1, 0 }, { t_eval = { 0, 0.5, 1 } })
    local rows, cols = sol.y:shape()
    assert.equal(2, rows)
    assert.equal(3, cols)
    assert.equal(1, sol.y[1][1])
    assert.equal(0, sol.status)
    assert.equal("the end of the interval was reached", sol.message)
    assert.is_nil(sol.t_events)
  end)

  it("has dense output for one time and for many, beyond the ends too", function()
    local sol = ns.solve_ivp(p.oscillator, { 0, 1 }, { 1, 0 }, { dense_output = true, rtol = 1e-9, atol = 1e-9 })
    local many = sol.sol { 0, 0.25, 1 }
    for k, t in ipairs { 0, 0.25, 1 } do
      assert.equal(sol.sol(t)[1], many[1][k])
      assert.is_true(math.abs(many[1][k] - math.cos(t)) < 1e-7)
    end
    assert.is_true(math.abs(sol.sol(1.01)[1] - math.cos(1.01)) < 1e-6)
    local ok, message = pcall(sol.sol, "x")
    assert.is_false(ok)
    assert.truthy(message:find("sol: t: expected a", 1, true), message)
    sol.sol:close()
    assert.is_false(pcall(sol.sol, 0.5))
  end)

  it("has a row of y_events for each occurrence, none for an event that never came", function()
    local sol = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { rtol = 1e-8,
      events = { function(_, y) return y[1] end, function(_, y) return y[1] - 2 end } })
    local rows, cols = sol.y_events[1]:shape()
    assert.equal(3, rows)
    assert.equal(2, cols)
    assert.is_true(math.abs(sol.y_events[1][1][2] + 1) < 1e-5)
    assert.equal(0, #sol.t_events[2])
  end)
end)
