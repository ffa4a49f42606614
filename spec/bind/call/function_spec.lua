-- Values and Jacobians of callbacks as the engine calls them: by dual numbers where none are given.
local ns = require "nslua"
local models = require "bind.models"

describe("exact Jacobians by dual numbers", function()
  it("say where == on a dual number leads astray", function()
    local simu = models.clutch(1, ns.FirstOrderNonLinearR {
      name = "clutch",
      h = function(_, x, _, _, y) y[1] = -x[1] end,
      g = load([[return function(_, x, lambda, _, r)
        if x[1] == 5 then r[4] = 1 else r[4] = lambda[1] end
      end]], "@clutch.lua")(),
    })
    simu:setNewtonMaxIteration(5)
    local before = models.state(simu)
    simu:initialize()
    local err = models.failure(simu.computeOneStep, simu)
    assert.equal("clutch.lua:1: relation 'clutch' computeg: t=0.05 step 1 newton 1: r[4]: the value with dual numbers " -- luacheck: no max line length
      .. "(0) differs from the plain one (1): the callback branches on == or keeps state; give its Jacobian", err)
    assert.equal(before:gsub("y1=%S+", ""), (models.state(simu):gsub("y1=%S+", "")))
  end)

  it("go through captured math functions and helpers", function()
    local sin, exp = math.sin, math.exp
    local helpers = { bend = function(a) return sin(a) * exp(-a ^ 2) + math.abs(a) / 10 end }
    local function with(jacobian)
      return models.clutch(3, ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = -x[1] end, C = { { -1, 0, 0, 0 } },
        g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3] + helpers.bend(x[2])) end,
        Jacgx = jacobian,
      })
    end
    local exact = models.advance((with()))
    local given = models.advance((with(function(_, x, lambda, _, K)
      local a = x[2]
      local d = math.cos(a) * exp(-a ^ 2) - 2 * a * sin(a) * exp(-a ^ 2) + (a > 0 and 0.1 or -0.1)
      K[4][4], K[4][3], K[4][2] = lambda[1], lambda[1], lambda[1] * (d - 1)
    end)))
    assert.equal(#given, #exact)
    for k = 1, #given do
      local a, b = exact[k]:gmatch "=(%S+)", given[k]:gmatch "=(%S+)"
      for value in a do assert.near(tonumber(value), tonumber(b()), 1e-8) end
    end
    assert.equal(sin, math.sin)
  end)

  -- A traced value has no text: so `tostring` keeps the second relation with dual numbers.
  it("come from a trace after some points of a run, with the same bits, fewer calls and no garbage", function()
    local calls = 0
    local function relation(look)
      return ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = -look(x[1]) end,
        g = function(_, x, lambda, _, r)
          calls = calls + 1
          r[4] = lambda[1] * math.exp(0.01 * x[4] - x[2] / look(3 + x[3] ^ 2))
        end,
      }
    end
    local function same(x) return x end
    local function shown(x) return tostring(x) and x end
    local traced = models.advance((models.clutch(20, relation(same))))
    local by_trace = calls
    calls = 0
    assert.same(models.advance((models.clutch(20, relation(shown)))), traced)
    assert.is_true(by_trace < 0.75 * calls)
    local simu = models.clutch(20, relation(same))
    local function steps(n)
      for _ = 1, n do simu:computeOneStep() simu:nextStep() end
    end
    steps(50)
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    steps(100)
    local after = collectgarbage "count"
    collectgarbage "restart"
    assert.is_true(after - before < 1)
  end)

  it("go back to dual numbers where a callback does something else than its trace", function()
    local function with(jump)
      return ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = -x[1] end,
        g = function(t, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) * jump(t) end,
      }
    end
    local late = false -- a variable that the trace has frozen
    local function frozen(t)
      late = type(t) == "number" and t > 5
      return late and 0.5 or 1
    end
    local function shown(t) return tostring(t) and frozen(t) end
    assert.same(models.advance((models.clutch(20, with(shown)))), models.advance((models.clutch(20, with(frozen)))))
    assert.is_true(late)
  end)

  it("tell the function that does not know dual numbers", function()
    local simu = models.clutch(1, ns.FirstOrderNonLinearR {
      name = "clutch",
      h = function(_, x, _, _, y) y[1] = -x[1] end,
      g = load("return function(_, x, lambda, _, r) r[4] = ns.vector{x[1]}[1] end", "@clutch.lua",
        "t", { ns = ns })(),
    })
    local err = models.failure(simu.computeOneStep, simu)
    assert.matches("^clutch.lua:1: relation 'clutch' computeg: t=0.05 step 1 newton 1: .*"
      .. "give the Jacobian", err)
  end)
end)
