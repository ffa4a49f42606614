-- A nonlinear program from Lua: indices are checked, and so is the size of its terms.
local expect = require "expect"
local message = expect.message
local support = require "nslua.core".optimise_support

local here = package.searchpath("nslua.ipopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.ipopt is not built: make optimisers)") end
local huge = math.huge
local nonlinear = require "nonlinear_program"
local compiled, program = nonlinear.compiled, nonlinear.program

describe("optimise_support.ipopt", function()
  test("refuses what is out of range", function()
    local square = compiled(function(z) return z[1] ^ 2 end)
    local function run(index, row)
      return support.ipopt(program { x = { 1 }, lower = { -huge }, upper = { huge }, row_lower = { 0 }, row_upper = { 0 },
        terms = { { square, { index }, { row }, { 1 } } } })
    end
    assert.matches("ipopt: index 2 is out of range", message(run, 2, 1), 1, true)
    assert.matches("ipopt: index 3 is out of range", message(run, 1, 3), 1, true)
    local many, f = {}, compiled(function(z) return z:dot(z) end)
    for i = 1, 201 do many[i] = 0 end
    local indices = {}
    for i = 1, 201 do indices[i] = i end
    assert.matches("minimize: a nonlinear term has 201 variables, at most 200 are possible: introduce a variable for a part "
      .. "of it", message(support.ipopt, program { x = many, lower = many, upper = many,
        terms = { { f, indices, { 0 }, { 1 } } } }), 1, true)
  end)
end)
