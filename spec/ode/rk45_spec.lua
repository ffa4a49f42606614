-- The Runge-Kutta pair of orders 5 and 4: orders, dense output, cost.
local ns = require "nslua"
local p = require "ode.problems"

local function run(h)
  return ns.solve_ivp(p.oscillator, { 0, 4 }, { 1, 0 },
    { first_step = h, max_step = h, rtol = 1, atol = 1, dense_output = true })
end

describe("RK45", function()
  it("has order 5 at the ends of steps", function()
    local order = p.order(p.oscillator_error(run(0.1)), p.oscillator_error(run(0.05)))
    assert.is_true(math.abs(order - 5) < 0.4, order)
  end)

  it("has dense output of order 4, an error of h^5 in a step", function()
    local order = p.order(p.dense_error(run(0.2), 4), p.dense_error(run(0.1), 4))
    assert.is_true(order > 4.5 and order < 5.6, order)
  end)

  it("integrates polynomials of degree 5 exactly and no others", function()
    for degree = 0, 7 do
      local sol = ns.solve_ivp(function(t) return degree * t ^ (degree - 1) end, { 1, 2 }, 1,
        { first_step = 1, rtol = 1, atol = 1 })
      local off = math.abs(sol.y[1][#sol.t] - 2 ^ degree)
      assert.equal(2, #sol.t)
      if degree <= 5 then assert.is_true(off < 1e-13, degree) else assert.is_true(off > 1e-6, degree) end
    end
  end)

  it("takes 6 evaluations a step, and two to begin", function()
    local sol = ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { rtol = 1e-6, atol = 1e-9 })
    assert.equal(2 + 6 * (sol.nsteps + sol.nrejected), sol.nfev)
    assert.equal(sol.nsteps + 1, #sol.t)
    assert.equal(0, sol.njev)
  end)

  it("takes the steps that the examples of SciPy's documentation of solve_ivp print", function()
    -- SciPy's first step, (0.01 / |y'|)^(1/5), depends on the unit of time.
    local start, sum = { 2, 4, 8 }, 0
    for _, y in ipairs(start) do sum = sum + (0.5 * y / (1e-6 + 1e-3 * y)) ^ 2 / 3 end
    local decay = ns.solve_ivp(function(_, y) return { -0.5 * y[1], -0.5 * y[2], -0.5 * y[3] } end, { 0, 10 }, start,
      { first_step = (0.01 / math.sqrt(sum)) ^ (1 / 5) })
    local t = { 0, 0.11487653, 1.26364188, 3.06061781, 4.81611105, 6.57445806, 8.33328988, 10 }
    local y = { 2, 1.88836035, 1.06327177, 0.43319312, 0.18017253, 0.07483045, 0.03107158, 0.01350781 }
    assert.equal(#t, #decay.t)
    for k = 1, #t do
      assert.near(t[k], decay.t[k], 6e-9)
      assert.near(y[k], decay.y[1][k], 6e-9)
    end
    local cannon = ns.solve_ivp(function(_, v) return { v[2], -0.5 } end, { 0, 100 }, { 0, 10 },
      { events = { function(_, v) return v[1] end, terminal = true, direction = -1 } })
    assert.equal(8, #cannon.t)
    assert.near(9.99900010e-05, cannon.t[2], 1e-13)
    assert.near(11.1099890, cannon.t[7], 6e-8)
    assert.near(40, cannon.t_events[1][1], 1e-12)
  end)
end)
