-- Explicit Runge-Kutta methods: what a step costs, its dense output, its order.
local ns = require "nslua"

local function oscillator(_, y) return { y[2], -y[1] } end
local methods = { RK45 = { stages = 6, order = 5 }, DOP853 = { stages = 11, order = 8 } }

describe("explicit Runge-Kutta methods", function()
  it("take the last rate of a step for the first one of the next", function()
    for name, method in pairs(methods) do
      local sol = ns.solve_ivp(oscillator, { 0, 1 }, { 1, 0 }, { method = name, first_step = 0.01, max_step = 0.01, rtol = 1e-3 })
      local steps = #sol.t - 1
      assert.is_true(steps >= 100)
      assert.equal(1 + steps * (method.stages + (name == "DOP853" and 1 or 0)), sol.nfev)
    end
  end)

  it("have their order", function()
    for name, method in pairs(methods) do
      local function off(h)
        local growth = function(_, y) return { y[1] } end
        local sol = ns.solve_ivp(growth, { 0, 2 }, { 1 }, { method = name, first_step = h, max_step = h, rtol = 1e-2, atol = 10 })
        return math.abs(sol.y[1][#sol.t] - math.exp(2))
      end
      local h = name == "RK45" and 0.1 or 0.5
      local ratio = off(h) / off(h / 2)
      assert.is_true(ratio > 2 ^ (method.order - 0.7) and ratio < 2 ^ (method.order + 1.7), name .. " " .. ratio)
    end
  end)

  it("give a dense output through the ends of their steps, with the rates there", function()
    for name in pairs(methods) do
      local sol = ns.solve_ivp(oscillator, { 0, 3 }, { 1, 0 }, { method = name, dense_output = true })
      for k = 2, #sol.t do
        local t, d = sol.t[k], 1e-6
        assert.is_true(math.abs(sol.sol(t)[1] - sol.y[1][k]) < 1e-15)
        assert.is_true(math.abs((sol.sol(t)[1] - sol.sol(t - d)[1]) / d - sol.y[2][k]) < 1e-5)
      end
    end
  end)
end)
