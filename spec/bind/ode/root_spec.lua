-- ns.root and ns.fsolve: options, results, errors.
local ns = require "nslua"

local function line(x, a, f) f[1] = x[1] - a end

describe("root and fsolve", function()
  it("agree, with a Jacobian and without", function()
    local function f(x) return { x[1] ^ 2 + x[2] ^ 2 - 2, x[1] - x[2] } end
    local function J(x) return { { 2 * x[1], 2 * x[2] }, { 1, -1 } } end
    local x = ns.fsolve(f, { 2, 0.5 })
    assert.is_true(math.abs(x[1] - 1) < 1e-9 and math.abs(x[2] - 1) < 1e-9)
    assert.equal(x[1], ns.fsolve(f, { 2, 0.5 }, { fprime = J })[1])
    assert.equal(x[1], ns.root(f, { 2, 0.5 }, { jac = J }).x[1])
  end)

  it("pass arguments and leave x0 as it was", function()
    local x0 = ns.vector { 0 }
    assert.equal(3, ns.fsolve(line, x0, { args = { 3 } })[1])
    assert.equal(0, x0[1])
  end)

  it("full_output tells all instead of raising", function()
    local function f(x) return x[1] ^ 2 + 1 end
    local x, info, good, message = ns.fsolve(f, 1, { full_output = true })
    assert.equal(1, #x)
    assert.is_false(good)
    assert.truthy(message:find("no progress towards a root", 1, true))
    assert.is_true(info.nfev > 1 and info.njev >= 1 and info.fun[1] >= 1)
    local ok, text = pcall(ns.fsolve, f, 1)
    assert.is_false(ok)
    assert.truthy(text:find("fsolve: no progress towards a root: |f| = ", 1, true), text)
  end)

  it("say what is wrong", function()
    local says = require "expect".fails
    says("fsolve: f: expected a function, got nil", ns.fsolve, nil, 1)
    says("root: x0[1] is nan", ns.root, line, 0 / 0)
    says("root: x0: expected at least one unknown, got none", ns.root, line, {})
    says("root: unknown option 'xtol' (known: jac, args, tol, maxfev)", ns.root, line, 0, { xtol = 1 })
    says("fsolve: unknown option 'jac' (known: fprime, args, xtol, maxfev, full_output)", ns.fsolve, line, 0, { jac = 1 })
    says("fsolve: xtol: expected 0 or more, got -1.0", ns.fsolve, line, 0, { xtol = -1 })
    says("fsolve: maxfev: expected 1 or more, got 0", ns.fsolve, line, 0, { maxfev = 0 })
    says("fsolve: full_output: expected a boolean", ns.fsolve, line, 0, { full_output = 1 })
    says("fsolve: fprime: expected a function", ns.fsolve, line, 0, { fprime = 1 })
    says("fsolve: f(x): expected a vector of 1, got a list of 2", ns.fsolve, function() return { 1, 2 } end, 0)
    says("fsolve: f(x) returned nothing: return the values, or fill the last argument", ns.fsolve, function() end, 0)
    says("root_spec.lua:", ns.fsolve, function(x) return x.a.b end, 0)
    local thing = {}
    local _, got = pcall(ns.root, function() error(thing) end, 0)
    assert.equal(thing, got)
  end)
end)
