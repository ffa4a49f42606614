-- Radau IIA of order 5: orders, stiff problems, systems of many equations, work.
local ns = require "nslua"
local p = require "ode.problems"

local function run(h)
  return ns.solve_ivp(p.oscillator, { 0, 4 }, { 1, 0 },
    { method = "Radau", first_step = h, max_step = h, rtol = 1e-12, atol = 1e10, dense_output = true })
end

describe("Radau", function()
  it("has order 5 at the ends of steps and 3 between", function()
    -- linear equations: the Newton iteration is exact after two iterations, however loose
    local ends = p.order(p.oscillator_error(run(0.4)), p.oscillator_error(run(0.2)))
    assert.is_true(math.abs(ends - 5) < 0.4, ends)
    local dense = p.order(p.dense_error(run(0.2), 4), p.dense_error(run(0.1), 4))
    assert.is_true(dense > 3.5 and dense < 4.6, dense)
  end)

  it("solves Van der Pol's equation with mu = 1000 in few steps", function()
    local sol = ns.solve_ivp(p.van_der_pol(1e3), { 0, 3000 }, { 2, 0 }, { method = "Radau", rtol = 1e-8, atol = 1e-8 })
    local loose = ns.solve_ivp(p.van_der_pol(1e3), { 0, 3000 }, { 2, 0 }, { method = "Radau" })
    assert.is_true(sol.success)
    assert.is_true(loose.nsteps < 400, loose.nsteps)
    assert.is_true(math.abs(sol.y[1][#sol.t] - loose.y[1][#loose.t]) < 1e-2)
    assert.is_true(loose.njev < loose.nsteps and loose.nlu < 2 * (loose.nsteps + loose.nrejected) + 2 * loose.njev)
  end)

  it("solves Robertson's reaction to 1e11, conserving the sum", function()
    local sol = ns.solve_ivp(p.robertson, { 0, 1e11 }, { 1, 0, 0 },
      { method = "Radau", rtol = 1e-8, atol = { 1e-14, 1e-18, 1e-10 } })
    local k = #sol.t
    -- Hairer and Wanner II, section IV.10
    assert.is_true(math.abs(sol.y[1][k] / 0.2083340149701255e-07 - 1) < 1e-6)
    assert.is_true(math.abs(sol.y[2][k] / 0.8333360770334713e-13 - 1) < 1e-6)
    assert.is_true(math.abs(sol.y[1][k] + sol.y[2][k] + sol.y[3][k] - 1) < 1e-9)
  end)

  it("damps what is infinitely stiff, also in large systems", function()
    for _, n in ipairs { 1, 8, 9, 17, 40 } do
      local y0 = {}
      for i = 1, n do y0[i] = 2 end
      local sol = ns.solve_ivp(function(t, y, d)
        for i = 1, n do d[i] = -10 ^ (i % 9) * (y[i] - math.cos(t)) end
      end, { 0, 1 }, y0, { method = "Radau", rtol = 1e-7, atol = 1e-9 })
      assert.is_true(sol.nsteps < 500, sol.nsteps)
      for i = 1, n do
        if i % 9 > 3 then
          local exact = math.cos(1) + 10 ^ -(i % 9) * math.sin(1)
          assert.is_true(math.abs(sol.y[i][#sol.t] - exact) < 1e-6, i)
        end
      end
    end
  end)
end)
