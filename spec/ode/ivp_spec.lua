-- The loop over the steps: what is recorded, how it ends, going backward.
require "nslua"
local internal = require "nslua.internal"
local ns = require "nslua"
local p = require "ode.problems"

local function first(_, y) return y[1] end

describe("an initial value problem", function()
  it("is recorded at the times wanted, whatever they are", function()
    for _, method in ipairs(p.methods) do
      local wanted = { 0, 1e-9, 0.5, 2, 2.000001, 9.5, 10 }
      local o = { method = method, rtol = 1e-7, atol = 1e-9, t_eval = wanted }
      local sol = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, o)
      assert.equal(#wanted, #sol.t)
      for k, t in ipairs(wanted) do
        assert.equal(t, sol.t[k])
        assert.is_true(math.abs(sol.y[1][k] - math.cos(t)) < 1e-5, method)
      end
    end
    local none = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { t_eval = {} })
    assert.equal(0, #none.t)
    assert.is_true(none.success)
  end)

  it("takes the same steps with and without dense output", function()
    for _, method in ipairs(p.methods) do
      local plain = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { method = method })
      local dense = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { method = method, dense_output = true })
      assert.equal(#plain.t, #dense.t)
      assert.is_nil(plain.sol)
      for k = 1, #plain.t do
        assert.equal(plain.t[k], dense.t[k])
        assert.is_true(math.abs(dense.sol(plain.t[k])[2] - plain.y[2][k]) < 1e-13)
      end
    end
  end)

  it("goes backward", function()
    for _, method in ipairs(p.methods) do
      local sol = ns.solve_ivp(p.oscillator, { 10, 0 }, { math.cos(10), -math.sin(10) },
        { method = method, rtol = 1e-8, atol = 1e-10, dense_output = true, t_eval = { 9, 3, 0 } })
      assert.is_true(math.abs(sol.y[1][3] - 1) < 1e-5, method)
      assert.is_true(p.dense_error(sol, 10) < 1e-5, method)
    end
  end)

  it("ends unfinished after max_steps, with what it has", function()
    local sol = ns.solve_ivp(p.oscillator, { 0, 100 }, { 1, 0 }, { rtol = 1e-8, max_steps = 7 })
    assert.equal(-1, sol.status)
    assert.equal(8, #sol.t)
    assert.equal(("7 steps were not enough (t=%.10g)"):format(sol.t[8]), sol.message)
    assert.is_true(p.oscillator_error(sol) < 1e-6)
  end)

  it("takes an interval of no length, and no equations", function()
    for _, method in ipairs(p.methods) do
      local sol = ns.solve_ivp(p.oscillator, { 1, 1 }, { 1, 0 }, { method = method, dense_output = true })
      assert.is_true(sol.success)
      assert.equal(1, #sol.t)
      assert.equal(1, sol.sol(1)[1])
      assert.is_true(ns.solve_ivp(function() return {} end, { 0, 1 }, {}, { method = method }).success)
    end
  end)

  it("says so when there is not enough memory", function()
    for n = 1, 60 do
      for _, method in ipairs(p.methods) do
        local came, good, result = internal.failing(n, false, function()
          return ns.solve_ivp(p.oscillator, { 0, 3 }, { 1, 0 }, { method = method, dense_output = true, events = first })
        end)
        if came then assert.is_false(good) end
        if not good then assert.truthy(tostring(result):find("not enough memory", 1, true), result) end
      end
    end
  end)
end)
