-- Minima by every method, bounds, constraints, units, errors told; and what is said where NLopt is missing.
local expect = require "expect"
local ns = require "nslua"
local message, near, with = expect.message, expect.near, expect.with

local here = package.searchpath("nslua.nlopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.nlopt is not built: make optimisers)") end

local function rosenbrock(x) return 100 * (x[2] - x[1] ^ 2) ^ 2 + (1 - x[1]) ^ 2 end
local function parabola(x) return (x[1] - 3) ^ 2 + 2 * (x[2] + 1) ^ 2 + x[1] * x[2] / 2 end
local function quartic(x) return x[1] * x[4] * (x[1] + x[2] + x[3]) + x[3] end

describe("ns.minimize", function()
  test("finds a minimum by every local method", function()
    -- the minimum of the parabola: 2 (x - 3) + y / 2 = 0, 4 (y + 1) + x / 2 = 0
    local known = ns.solve({ { 2, 0.5 }, { 0.5, 4 } }, { 6, -4 })
    for _, method in ipairs { "L-BFGS-B", "SLSQP", "MMA", "CCSAQ", "TNC", "COBYLA", "BOBYQA", "Nelder-Mead", "Sbplx",
      "Powell" } do
      local best = ns.minimize(parabola, { 1, 1 }, { method = method })
      assert.is_true(best.success, method)
      assert.equal(method, best.method)
      near(known, best.x, 1e-5)
    end
    for _, method in ipairs { "bfgs", "LD_SLSQP", "TNC", "bobyqa", "NELDER-MEAD" } do
      near({ 1, 1 }, ns.minimize(rosenbrock, { -1.2, 1 }, { method = method }).x, 1e-5)
    end
  end)

  test("finds global minima within bounds, by the same points each time", function()
    local function waves(x) return (x[1] ^ 2 + x[2] ^ 2) / 20 - math.cos(3 * x[1] - 1) - math.cos(3 * x[2]) end
    local bounds = { { -4, 5 }, { -5, 4 } }
    local known = ns.minimize(waves, { 0.3, 0 }, { bounds = bounds }).fun
    for _, method in ipairs { "DIRECT", "CRS2", "ISRES", "ESCH" } do
      local best = ns.minimize(waves, { 3, 3 }, { method = method, bounds = bounds, max_nfev = 6000 })
      assert.near(known, best.fun, 2e-2)
      local again = ns.minimize(waves, { 3, 3 }, { method = method, bounds = bounds, max_nfev = 6000 })
      assert.equal(best.fun, again.fun)
    end
  end)

  test("takes bounds", function()
    local best = ns.minimize(rosenbrock, { -1.2, 1 }, { bounds = { { -2, 0.5 }, { 0, math.huge } } })
    near({ 0.5, 0.25 }, best.x, 1e-8)
    best = ns.minimize(rosenbrock, { 2, 2 }, { bounds = { lower = { 1.5, -9 }, upper = { 9, 9 } } })
    near({ 1.5, 2.25 }, best.x, 1e-7)
  end)

  test("begins near a start where the linearised equations contradict each other", function()
    -- problem 61 of Hock and Schittkowski: at 0 both equations depend on x[1] alone
    local function equations(x) return { 3 * x[1] - 2 * x[2] ^ 2 - 7, 4 * x[1] - x[3] ^ 2 - 11 } end
    for _, u in ipairs { 1, 2.0 ^ 30 } do
      local best = ns.minimize(function(x)
        local y = { x[1] / u, x[2] / u, x[3] / u }
        return 4 * y[1] ^ 2 + 2 * y[2] ^ 2 + 2 * y[3] ^ 2 - 33 * y[1] + 16 * y[2] - 24 * y[3]
      end, { 0, 0, 0 }, { bounds = { lower = -100 * u, upper = 100 * u },
        constraints = { type = "eq", fun = function(x) return equations { x[1] / u, x[2] / u, x[3] / u } end } })
      assert.is_true(best.success and best.violation < 1e-9, best.message)
      near({ 0, 0 }, ns.vector(equations(best.x / u)), 1e-7)
    end
  end)

  test("takes constraints", function()
    local bounds = { { 1, 5 }, { 1, 5 }, { 1, 5 }, { 1, 5 } }
    local constraints = {
      { type = "ineq", fun = function(x) return x[1] * x[2] * x[3] * x[4] - 25 end },
      { type = "eq", fun = function(x) return x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 + x[4] ^ 2 - 40 end } }
    -- problem 71 of Hock and Schittkowski
    local best = ns.minimize(quartic, { 1, 5, 5, 1 }, { bounds = bounds, constraints = constraints })
    assert.equal("SLSQP", best.method)
    near({ 1, 4.74299963, 3.82114998, 1.37940829 }, best.x, 1e-6)
    assert.near(17.0140173, best.fun, 1e-6)
    assert.is_true(best.success and best.violation < 1e-10)
    local function line(x) return { 1 - x[1] - x[2], x[1] } end
    for _, method in ipairs { "SLSQP", "COBYLA" } do
      best = ns.minimize(parabola, { 0, 0.5 }, { method = method, constraints = { type = "ineq", fun = line,
        jac = function() return { { -1, -1 }, { 1, 0 } } end } })
      near({ 2.7, -1.7 }, best.x, 1e-4)
    end
    best = ns.minimize(parabola, { 0, 0.5 }, { constraints = {
      { type = "ineq", fun = function(x) return -1 - x[1] end }, { type = "ineq", fun = function(x) return x[1] - 1 end } } })
    assert.is_false(best.success)
    assert.equal("infeasible", best.status)
    assert.equal("the constraints are not satisfied", best.message)
  end)

  test("takes a given gradient, differences when asked, and extra arguments", function()
    local function gradient(x) return { -400 * x[1] * (x[2] - x[1] ^ 2) - 2 * (1 - x[1]), 200 * (x[2] - x[1] ^ 2) } end
    near({ 1, 1 }, ns.minimize(rosenbrock, { -1.2, 1 }, { grad = gradient }).x, 1e-6)
    near({ 1, 1 }, ns.minimize(rosenbrock, { -1.2, 1 }, { grad = "3-point" }).x, 1e-5)
    near({ 2 }, ns.minimize(function(x, a) return (x[1] - a) ^ 2 end, 1, { args = { 2 } }).x, 1e-8)
  end)

  test("does not depend on units", function()
    for _, method in ipairs { "L-BFGS-B", "SLSQP", "BOBYQA", "Nelder-Mead" } do
      local plain = ns.minimize(parabola, { 1, 2 }, { method = method })
      local scaled = ns.minimize(function(x) return 2.0 ^ 70 * parabola { x[1] * 2.0 ^ 40, x[2] * 2.0 ^ -50 } end,
        { 2.0 ^ -40, 2 * 2.0 ^ 50 }, { method = method })
      assert.equal(plain.x[1], scaled.x[1] * 2.0 ^ 40)
      assert.equal(plain.x[2], scaled.x[2] * 2.0 ^ -50)
    end
  end)

  test("tells when it was not done", function()
    local best = ns.minimize(rosenbrock, { -1.2, 1 }, { max_nfev = 5 })
    assert.is_false(best.success)
    assert.equal("the number of evaluations (max_nfev) is reached", best.message)
  end)

  test("says what is wrong", function()
    local function says(text, ...) assert.matches(text, message(ns.minimize, ...), 1, true) end
    local ineq = { type = "ineq", fun = function(x) return x[1] end }
    says("minimize: f: expected a function, got nil", nil, { 1 })
    says("minimize: f(x): expected 1 values, got 2", function() return { 1, 2 } end, { 1 })
    says("minimize: f(x0) is nan", function(x) return 0 / 0 * x[1] end, { 1 })
    says("minimize: x0[2] = 3 is outside of its bounds", rosenbrock, { 0, 3 }, { bounds = { { 0, 1 }, { 0, 1 } } })
    says("minimize: bounds: expected 2 pairs, got 1", rosenbrock, { 0, 3 }, { bounds = { { 0, 1 } } })
    says("minimize: bounds[2]: expected a pair { low, high }, got 1", rosenbrock, { 0, 3 }, { bounds = { { 0, 1 }, 1 } })
    says("minimize: method: expected one of L-BFGS-B, SLSQP, MMA, CCSAQ, TNC, COBYLA, BOBYQA, Nelder-Mead, Sbplx, Powell, "
      .. "DIRECT, CRS2, ISRES, ESCH, got 'dogleg'", rosenbrock, { 0, 3 }, { method = "dogleg" })
    says("minimize: method 'L-BFGS-B' takes no constraints of type 'ineq'; these do: SLSQP, MMA, CCSAQ, COBYLA, ISRES",
      rosenbrock, { 0, 3 }, { method = "L-BFGS-B", constraints = ineq })
    says("minimize: method 'MMA' takes no constraints of type 'eq'; these do: SLSQP, COBYLA, ISRES", rosenbrock, { 0, 3 },
      { method = "MMA", constraints = { { type = "eq", fun = ineq.fun } } })
    says("minimize: method 'DIRECT' needs finite bounds of x[1]", rosenbrock, { 0, 3 }, { method = "DIRECT" })
    says("minimize: constraints: expected a list, got 1", rosenbrock, { 0, 3 }, { constraints = 1 })
    says("minimize: constraints[1]: expected { type = 'eq' or 'ineq', fun = }, got 'le'", rosenbrock, { 0, 3 },
      { constraints = { { type = "le" } } })
    says("minimize: constraints[1].fun: expected a function, got nil", rosenbrock, { 0, 3 },
      { constraints = { { type = "eq" } } })
    says("minimize: seed: expected an integer of 0 or more, got -1", rosenbrock, { 0, 3 }, { seed = -1 })
    says("minimize: unknown option 'hess' (known: method, bounds, constraints, grad, tol, max_nfev, seed, args)", rosenbrock,
      { 0, 3 }, { hess = 1 })
  end)

  test("passes errors of callbacks on, with a traceback", function()
    for _, method in ipairs { "L-BFGS-B", "SLSQP", "MMA", "COBYLA", "BOBYQA", "Nelder-Mead", "Powell" } do
      local count = 0
      local function failing(x)
        count = count + 1
        if count > 9 then error "no more" end
        return rosenbrock(x)
      end
      local text = message(ns.minimize, failing, { -1.2, 1 }, { method = method })
      assert.matches("no more\nstack traceback:\n", text, 1, true)
      count = 0
      if method == "SLSQP" or method == "COBYLA" then
        text = message(ns.minimize, rosenbrock, { -1.2, 1 }, { method = method,
          constraints = { { type = "ineq", fun = failing } } })
        assert.matches("no more", text, 1, true)
      end
    end
  end)

  it("tells how to install NLopt", function()
    local old = package.cpath
    package.cpath = "/nowhere/?.so"
    local good, err = pcall(with, package.loaded, "nslua.nlopt", nil, function() ns.minimize(rosenbrock, { 0, 1 }) end)
    package.cpath = old
    assert.is_false(good)
    assert.matches("minimize: method 'L-BFGS-B' is in the module nslua.nlopt, which is not installed: it is built when the "
      .. "headers of NLopt are there (Debian: apt-get install libnlopt-dev, then make and make install; or, where nslua came "
        .. "as a package, apt-get install nslua-nlopt); ns.least_squares "
      .. "needs no module", err, 1, true)
  end)
end)
