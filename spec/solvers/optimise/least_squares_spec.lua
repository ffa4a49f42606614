-- lmder as the engine offers it: how it ends, and what it counts.
local ns = require "nslua"
local support = require "nslua.core".optimise_support

local function problem(x, derivatives)
  if derivatives then return ns.matrix { { -20 * x[1], 10 }, { -1, 0 } } end
  return ns.vector { 10 * (x[2] - x[1] ^ 2), 1 - x[1] }
end

describe("ns_least_squares", function()
  local function run(start, scale, ftol, xtol, gtol, calls)
    local x = ns.vector(start)
    return x, support.lmder(problem, x, 2, scale, ftol, xtol, gtol, calls)
  end

  it("ends by one of its tests, or by the number of calls", function()
    local x, ended, calls, jacobians = run({ -1.2, 1 }, nil, 0, 1e-12, 0, 200)
    assert.near(1, x[1], 1e-14)
    assert.truthy(ended == "step" or ended == "gradient")
    assert.is_true(jacobians >= 1 and jacobians <= calls)
    local _
    _, ended = run({ -1.2, 1 }, nil, 0, 0, 0.5, 200)
    assert.equal("gradient", ended)
    _, ended = run({ -1.2, 1 }, nil, 0.5, 0, 0, 200)
    assert.equal("cost", ended)
    _, ended, calls = run({ -1.2, 1 }, ns.vector { 1, 1 }, 0, 1e-12, 0, 3)
    assert.equal("calls", ended)
    assert.is_true(calls <= 5)
  end)
end)
