-- The module's table: what is in it, and that a second one shares its types with the first.
local core = require "nslua.core"
local ns = require "nslua"

describe("nslua.core", function()
  it("holds functions and tables, and what the optional modules borrow", function()
    for name, value in pairs(core) do
      local kind = type(value)
      local known = kind == "function" or kind == "table" or kind == "number" or name == "engine" or name == "_VERSION"
      assert.is_true(known, name .. " is a " .. kind)
    end
    assert.equal("userdata", type(core.engine))
    for _, name in ipairs { "vector", "matrix", "sparse", "FirstOrderLinearDS", "LagrangianDS", "TimeStepping", "solve_ivp" } do
      assert.is_function(core[name], name)
    end
  end)

  it("that is opened a second time takes the objects of the first", function()
    package.loaded["nslua.core"] = nil
    local second = require "nslua.core"
    package.loaded["nslua.core"] = core
    assert.not_equal(core, second)
    assert.equal(getmetatable(core.vector { 1 }), getmetatable(second.vector { 1 }))
    assert.equal(ns.vector { 4, 6 }, core.vector { 1, 2 } + second.vector { 3, 4 })
    local ds = second.FirstOrderLinearTIDS(core.vector { 1 }, { { -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.5)):run()
    assert.is_true(ds:x()[1] < 0.4)
  end)
end)
