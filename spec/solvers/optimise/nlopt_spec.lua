-- The module of NLopt: its version, and the refusals of NLopt itself.
local message = require("expect").message
local ns = require "nslua"
local support = require "nslua.core".optimise_support

local here = package.searchpath("nslua.nlopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.nlopt is not built: make optimisers)") end

describe("nslua.nlopt", function()
  test("has the version of NLopt", function() assert.matches("^2%.%d+%.%d+$", require "nslua.nlopt".version) end)

  test("passes on what NLopt refuses", function()
    local function run(algorithm, rows)
      local none, some = ns.zeros(0), ns.zeros(rows)
      local function f(x, derivatives) return derivatives and ns.matrix { { 2 * x[1] } } or x[1] ^ 2 end
      return support.nlopt(ns.vector { 1 }, { objective = f, equal = f, above = f, lower = ns.vector { -2 },
        upper = ns.vector { 2 }, equal_tolerance = some, above_tolerance = none, algorithm = algorithm, method = "it",
        ftol = 0, ftol_absolute = 0, xtol = 1e-8, xtol_absolute = 0, calls = 50, seed = 1 })
    end
    assert.matches("minimize: NLopt has no algorithm LD_NONE", message(run, "LD_NONE", 0), 1, true)
    assert.matches("minimize: NLopt's LD_LBFGS refuses the problem: ",
      message(run, "LD_LBFGS", 1), 1, true)
    local ended, value, calls = run("LD_LBFGS", 0)
    assert.truthy(ended == "step" or ended == "cost")
    assert.near(0, value, 1e-15)
    assert.is_true(calls > 0)
  end)
end)
