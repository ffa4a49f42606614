-- The optional module: how it is found, what it asks of the core; that bad input is told as for Radau IIA.
local ns = require "nslua"
local expect = require "expect"
local fails, with = expect.fails, expect.with
local here = package.searchpath("nslua.sundials", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.sundials is not built: make sundials)") end

local function decay(_, y, yd, r) r[1] = yd[1] + y[1] end

describe("nslua.sundials", function()
  it("is not needed: where it is absent, kind 'ida' says how to get it", function()
    with(package, "cpath", "/nowhere/?.so", function()
      with(package.loaded, "nslua.sundials", nil, function()
        fails("dae: kind 'ida' is in the module nslua.sundials, which is not installed: it is built when the headers of SUNDIALS 6 "
          .. "are there (Debian: apt-get install libsundials-dev, then make and make install; or, where nslua came as a package, "
          .. "apt-get install nslua-sundials); 'radau' solves the same problems",
          ns.dae, "ida", decay)
      end)
    end)
  end)

  it("says why when it is there and does not load", function()
    local name = os.tmpname()
    io.open(name, "w"):write("no module"):close()
    with(package, "cpath", name, function()
      with(package.loaded, "nslua.sundials", nil, function() fails("dae: kind 'ida': ", ns.dae, "ida", decay) end)
    end)
    os.remove(name)
  end)

  test("is loaded when it is asked for, not before", function()
    local host = require "host"
    local code = 'local ns = require "nslua"; print(package.loaded["nslua.sundials"] ~= nil); '
      .. 'ns.dae("ida", print); print(package.loaded["nslua.sundials"] ~= nil)'
    assert.equal("false\ntrue\n", (host.nslua_run(" -e " .. host.quote(code))))
  end)

  test("tells bad input as Radau IIA does", function()
    local function solve(residual, y0, yd0, options) return ns.dae("ida", residual, options):solve({ 0, 0.1 }, y0, yd0) end
    local function square(_, y, yd, r) r[1], r[2] = yd[1] + y[2], y[2] - y[1] ^ 2 end
    fails("dae: residual: expected a function or a system of first order, got number", ns.dae, "ida", 3)
    fails("dae: unknown option 'tol'", ns.dae, "ida", decay, { tol = 1 })
    fails("dae: rtol: expected a positive number, got -1", solve, decay, { 1 }, { -1 }, { rtol = -1 })
    fails("dae: atol: expected 1 numbers, got 2", solve, decay, { 1 }, { -1 }, { atol = { 1, 2 } })
    fails("dae: y0[1] is nan", solve, decay, { 0 / 0 }, { 0 })
    fails("dae: yd0: expected 1 numbers, got 2", solve, decay, { 1 }, { -1, 0 })
    fails("dae: residual: expected", solve, function() return { 1, 2 } end, { 1 }, { -1 })
    fails("y is read-only", solve, function(_, y) y[1] = 0 end, { 1 }, { -1 })
    fails("dae: the start is not consistent: equation 2 has the residual -0.75", solve, square, { 1, 0.25 }, { -0.25, 0 })
    fails("dae: algebraic: unknown 2 is missing: its derivative is in no equation", solve, square, { 1, 1 },
      { -1, 0 }, { algebraic = {} })
    fails("dae: jac: dF/dy[1][1] is nan", solve, decay, { 1 }, { -1 },
      { jac = function() return { { 0 / 0 } }, { { 1 } } end })
    assert.near(1 / 1.1, solve(square, { 1, 1 }, { -1, 0 }).values.y[2][1], 1e-6)
  end)

  test("takes given Jacobians, compiled residuals and systems of first order", function()
    local given = ns.dae("ida", decay, { rtol = 1e-8, jac = function() return { { 1 } }, { { 1 } } end })
    local compiled = ns.dae("ida", ns.compile(decay), { rtol = 1e-8 })
    local plain = ns.dae("ida", decay, { rtol = 1e-8 })
    local y = plain:solve({ 0, 1 }, { 1 }, { -1 }).values.y[2][1]
    assert.near(math.exp(-1), y, 1e-6)
    assert.equal(y, given:solve({ 0, 1 }, { 1 }, { -1 }).values.y[2][1])
    assert.near(y, compiled:solve({ 0, 1 }, { 1 }, { -1 }).values.y[2][1], 1e-14)
    local ds = ns.FirstOrderLinearTIDS({ 1, 99 }, { { -1, 1 }, { -0.5, 1 } }) -- x2 = x1 / 2
    ds:setMPtr(ns.diag { 1, 0 })
    assert.near(math.exp(-1), ns.dae("ida", ds, { rtol = 1e-9 }):solve({ 0, 2 }).values.y[2][1], 1e-7)
  end)

  test("leaves what only Radau IIA does to it", function()
    local support = require "nslua.core".dae_support
    local options = { atol = { 1 }, method = require "nslua.sundials".ida }
    local solver = support.new(1, decay, options)
    fails("a solver of kind 'radau' expected", support.evaluate, solver, 0, { 1 }, { 1 })
    fails("a solver of kind 'radau' expected", support.consistent, solver, 0, { 1 }, { 1 }, {})
  end)
end)
