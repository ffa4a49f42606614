-- Sparse nonlinear programs: exact first and second derivatives show in the number of iterations and in the multipliers.
local expect = require "expect"
local near = expect.near
local support = require "nslua.core".optimise_support

local here = package.searchpath("nslua.ipopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.ipopt is not built: make optimisers)") end
local huge = math.huge
local nonlinear = require "nonlinear_program"
local compiled, program = nonlinear.compiled, nonlinear.program

describe("ns_nlp", function()
  test("solves problem 71 of Hock and Schittkowski", function()
    local t = program { x = { 1, 5, 5, 1 }, lower = { 1, 1, 1, 1 }, upper = { 5, 5, 5, 5 }, row_lower = { 25, 40 },
      row_upper = { huge, 40 }, row = { 0 }, column = { 3 }, value = { 1 }, terms = {
        { compiled(function(z) return z[1] * z[4] * (z[1] + z[2] + z[3]) end), { 1, 2, 3, 4 }, { 0 }, { 1 } },
        { compiled(function(z) return { z[1] * z[2] * z[3] * z[4], z[1] ^ 2 + z[2] ^ 2 + z[3] ^ 2 + z[4] ^ 2 } end),
          { 1, 2, 3, 4 }, { 1, 2 }, { 1, 1 } } } }
    local ended, value, iterations = support.ipopt(t)
    assert.equal("solved", ended)
    assert.near(17.0140173, value, 1e-6)
    assert.is_true(iterations <= 12) -- quadratic convergence
    near({ 1, 4.74299963, 3.82114998, 1.37940829 }, t.x, 1e-6)
    near({ -0.55229366, 0.16146857 }, t.multiplier, 1e-6)
    assert.near(1.08787121, t.at_lower[1], 1e-6)
  end)

  test("shares a tape among terms, each with its weight and rows", function()
    -- minimise sum of (x_i - i)^2 / 2 with exp(x_i) <= e for all i: x_i = min(i, 1)
    local square = compiled(function(z) return z[1] ^ 2 / 2 end)
    local grow = compiled(function(z) return math.exp(z[1]) end)
    local n, terms, row, column, value = 50, {}, {}, {}, {}
    local t = { x = {}, lower = {}, upper = {}, row_lower = {}, row_upper = {} }
    for i = 1, n do
      t.x[i], t.lower[i], t.upper[i], t.row_lower[i], t.row_upper[i] = 0, -huge, huge, -huge, 3 * math.exp(1)
      row[i], column[i], value[i] = 0, i, -0.1 * i
      terms[#terms + 1] = { square, { i }, { 0 }, { 1 } }
      terms[#terms + 1] = { grow, { i }, { i }, { 3 } }
    end
    t.terms, t.row, t.column, t.value = terms, row, column, value
    t = program(t)
    assert.equal("solved", (support.ipopt(t)))
    for i = 1, n do
      if i == 10 then goto continue end -- the constraint holds and its multiplier is 0: half the digits
      assert.near(math.min(0.1 * i, 1), t.x[i], 1e-8)
      -- x - 0.1 i + multiplier 3 e = 0
      assert.near(math.max(0, 0.1 * i - 1) / (3 * math.exp(1)), t.multiplier[i], 1e-8)
      ::continue::
    end
  end)

  test("tells how it ended", function()
    local square = compiled(function(z) return z[1] ^ 2 end)
    local t = program { x = { 1 }, lower = { -huge }, upper = { huge }, row_lower = { -1 }, row_upper = { -1 },
      terms = { { square, { 1 }, { 1 }, { 1 } } } }
    assert.equal("infeasible", (support.ipopt(t)))
    t = program { x = { 1 }, lower = { -huge }, upper = { huge }, row_lower = {}, row_upper = {}, row = { 0 }, column = { 1 },
      value = { 1 }, terms = {} }
    assert.equal("unbounded", (support.ipopt(t)))
    t = program { x = { 1 }, lower = { -huge }, upper = { huge }, row_lower = { 1, 2 }, row_upper = { 1, 2 },
      row = { 1, 2 }, column = { 1, 1 }, value = { 1, 1 }, terms = {} }
    assert.equal("freedom", (support.ipopt(t)))
  end)
end)
