-- A Lua function as the function of an optimiser: its values are checked, its errors keep their traceback.
local message = require("expect").message
local ns = require "nslua"
local support = require "nslua.core".optimise_support

local function run(f) return support.lmder(f, ns.vector { 1 }, 2, nil, 1e-10, 1e-10, 1e-10, 50) end

describe("optimise_support", function()
  it("checks what the function returns", function()
    assert.matches("least_squares: f(x): expected a vector of 2, got", message(run, function() return ns.vector(3) end), 1, true)
    assert.matches("least_squares: jac: expected a 2 x 1 matrix, got", message(run, function(_, derivatives)
      return derivatives and ns.matrix { { 1 } } or ns.vector { 1, 1 }
    end), 1, true)
    assert.matches("least_squares: f[1] is not finite at the start", message(run, function() return ns.vector { 0 / 0, 1 } end),
      1, true)
  end)

  it("gives errors a traceback", function()
    local function somewhere() error "no way" end
    local text = message(run, function() somewhere() end)
    assert.matches("no way\nstack traceback:\n", text, 1, true)
    assert.matches("somewhere", text, 1, true)
  end)
end)
