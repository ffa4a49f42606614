-- Least squares: known minima, bounds, robust losses against SciPy's minima, errors of parameters, units, errors told.
local expect = require "expect"
local ns = require "nslua"
local numbers = require "random_numbers"
local COUNT, report = require "campaign"(60, 0.1)
local message, near, uniform = expect.message, expect.near, numbers.uniform

-- What a parameter does: two of them have no slope at 0.
local effects = {
  function(x) return x end, function(x) return x * x end, function(x) return x * x * x / 3 + x end,
  function(x) return math.exp(x / 2) end, function(x) return math.cos(x) end,
}

-- Whether the cost is lower beside x, within the bounds, by more than rounding and the tolerance of the gradient tell.
local function is_lower_beside(f, x, low, high, cost, units)
  for _, move in ipairs { 2.0 ^ -4, 2.0 ^ -8, 2.0 ^ -12 } do
    for j = 1, #x do
      for side = -1, 1, 2 do
        local y, sum = x:copy(), 0
        y[j] = math.max(low[j], math.min(high[j], x[j] + side * move * units[j]))
        for _, r in ipairs(f(y)) do sum = sum + r * r / 2 end
        if sum < cost * (1 - 1e-6) then return true end
      end
    end
  end
  return false
end

-- A random problem within bounds, in units of its own: f, x0, the bounds, the units.
local function bounded_problem()
  local n, effect = math.random(4), effects[math.random(#effects)]
  local A, y = numbers.matrix_within(n + 2, n, 1), numbers.vector_within(n + 2, 1)
  local units, x0, low, high = {}, {}, {}, {}
  for j = 1, n do
    units[j] = numbers.power(30)
    x0[j] = uniform(0.1, 0.9) * units[j]
    low[j], high[j] = -uniform(0.1, 2) * units[j], math.random(2) == 1 and x0[j] or math.huge
  end
  local function f(x)
    local out = {}
    for i = 1, n + 2 do
      out[i] = -y[i]
      for j = 1, n do out[i] = out[i] + A[i][j] * effect(x[j] / units[j]) end
    end
    return out
  end
  return f, x0, low, high, units
end

local function rosenbrock(x) return { 10 * (x[2] - x[1] ^ 2), 1 - x[1] } end

-- The residuals of a decay with an outlier.
local function decay(p)
  local out = {}
  for i = 1, 10 do
    local t = i / 10
    out[i] = p[1] * math.exp(-p[2] * t) - 2 * math.exp(-t) - (i == 3 and 1 or 0) - 0.01 * math.sin(7 * i)
  end
  return out
end

describe("ns.least_squares", function()
  it("finds a root as a minimum, and the minimum where there is no root", function()
    local fit = ns.least_squares(rosenbrock, { -1.2, 1 })
    near({ 1, 1 }, fit.x)
    assert.is_true(fit.success and fit.cost < 1e-25)
    fit = ns.least_squares(function(x) return { x[1] - 1, x[1] - 2, x[1] - 6 } end, 0)
    near({ 3 }, fit.x)
    assert.near(7, fit.cost, 1e-13)
    near({ 2, 1, -3 }, fit.fun)
    assert.is_true(fit.grad:norm() < 1e-12)
    assert.near(math.sqrt(7 / 3), fit.errors[1], 1e-13) -- sqrt(sum of squares / (m - 1) / m)
    assert.near(7 / 3, fit.covariance[1][1], 1e-13)
  end)

  it("tries again with a shorter first step where a parameter has lost its effect", function()
    local x, y = { 1, 2, 3, 5, 7, 10 }, { 109, 149, 149, 191, 213, 224 } -- BoxBOD of the NIST
    local fit = ns.least_squares(function(p)
      local f = {}
      for i = 1, 6 do f[i] = p[1] * (1 - math.exp(-p[2] * x[i])) - y[i] end
      return f
    end, { 1, 1 })
    assert.near(213.80940889, fit.x[1], 1e-6)
    assert.near(0.54723748542, fit.x[2], 1e-9)
    assert.near(12.354515176, fit.errors[1], 1e-6)
  end)

  it("stays within bounds, and says which ones hold", function()
    local fit = ns.least_squares(rosenbrock, { -1.2, 1 }, { bounds = { { -2, -1 }, { 0.5, 2 } } })
    near({ 0.5, 0.25 }, fit.x)
    assert.equal("[1, 0]", tostring(fit.active_mask))
    assert.near(0.125, fit.cost, 1e-14)
    assert.is_true(fit.errors[1] ~= fit.errors[1]) -- the bound decides, not the data
    assert.is_true(fit.covariance[1][2] ~= fit.covariance[1][2] and fit.errors[2] > 0)
    local known = ns.least_squares(rosenbrock, { 0.5, 1 }, { bounds = { { 0.5, -1 }, { 0.5, 2 } } })
    assert.equal(0, known.errors[1])
    local seen = true
    local function watched(x)
      seen = seen and x[1] >= 2 and x[1] <= 4 and x[2] >= -1
      return rosenbrock(x)
    end
    fit = ns.least_squares(watched, { 2, 0 }, { bounds = { lower = { 2, -1 }, upper = { 4, math.huge } } })
    assert.is_true(seen)
    near({ 2, 4 }, fit.x)
    -- a start at a bound from which the way leads inward
    fit = ns.least_squares(rosenbrock, { -2, 2 }, { bounds = { { -2, -2 }, { 2, 2 } } })
    near({ 1, 1 }, fit.x)
    fit = ns.least_squares(rosenbrock, { 2, 2 }, { bounds = { { 2, 2 }, { 3, 2 } } })
    assert.equal("every parameter is at a bound, where the gradient points outward", fit.message)
    near({ 2, 2 }, fit.x)
  end)

  it("has success at minima within bounds only, where columns of the Jacobian vanish, too", function()
    math.randomseed(3)
    local successes = 0
    for _ = 1, COUNT do
      local f, x0, low, high, units = bounded_problem()
      local r = ns.least_squares(f, x0, { bounds = { low, high } })
      if r.success then successes = successes + 1 end
      assert.is_false(r.success and is_lower_beside(f, r.x, low, high, r.cost, units))
    end
    assert.is_true(successes > 0.95 * COUNT, successes)
    report("least squares within bounds", COUNT)
    -- x[2]^2 has no slope at 0, where the search is when x[1] leaves its bound
    local r = ns.least_squares(function(x)
      return { x[1] ^ 2 - 0.001 + x[2] ^ 2, 0.5 * x[1] ^ 2 + x[2] ^ 2 + 1, x[1] * 0.1 }
    end, { 0.08, 0.5 }, { bounds = { { -1, -math.huge }, { 0.08, math.huge } } })
    assert.is_true(r.success)
    near({ 0, 0 }, r.x, 1e-6)
    assert.equal("[0, 0]", tostring(r.active_mask))
  end)

  it("leaves saddles at which a column of the Jacobian nearly vanishes", function()
    math.randomseed(3)
    for _ = 1, 968 do bounded_problem() end
    local f, x0, low, high, units = bounded_problem() -- lmder comes to x[1] = -2.4e-7 units; the cost is lower at both sides
    local r = ns.least_squares(f, x0, { bounds = { low, high } })
    assert.is_true(r.success)
    assert.is_false(is_lower_beside(f, r.x, low, high, r.cost, units))
    assert.is_true(math.abs(r.x[1]) > 0.01 * units[1])
  end)

  it("tells an end where the gradient is not small", function()
    -- a Jacobian of the wrong sign: lmder finds nothing lower, and calls it rounding
    local r = ns.least_squares(function(x) return { x[1] - 3, 2 * x[1] + 1 } end, { 1 },
      { jac = function() return { { -1 }, { -2 } } end })
    assert.is_false(r.success)
    assert.equal("stuck", r.status)
    assert.equal("the search ended where the gradient is not small: x[1] can move and lower the cost", r.message)
  end)

  it("finds a minimum at a kink of the cost, in any units", function()
    for _, unit in ipairs { 1, 2.0 ^ -60, 2.0 ^ 70 } do
      local function f(x) return { 3 + math.abs(x[1] / unit - 1), x[2] - 2, x[2] + 1 } end
      local r = ns.least_squares(f, { 0.25 * unit, 0 })
      assert.is_true(r.success)
      assert.equal("kink", r.status)
      assert.equal("the cost is not lower beside x, where its derivatives jump", r.message)
      near({ 1, 0.5 }, ns.vector { r.x[1] / unit, r.x[2] }, 1e-9)
    end
  end)

  it("takes SciPy's robust losses", function()
    -- scipy.optimize.least_squares 1.10.1, method trf, f_scale 0.1, tolerances 1e-15: x and cost
    local known = {
      linear = { 2.3024254, 1.1250948, 0.425955479729 },
      soft_l1 = { 2.0452483, 1.0256383, 0.090285905324 },
      huber = { 2.0443457, 1.0250519, 0.094793417452 },
      cauchy = { 2.0128571, 1.0112606, 0.023286336555 },
      arctan = { 2.0094049, 1.0097044, 0.007968435203 },
    }
    for loss, k in pairs(known) do
      local fit = ns.least_squares(decay, { 1, 0.5 }, { loss = loss, f_scale = 0.1 })
      near({ k[1], k[2] }, fit.x, 3e-7)
      assert.near(k[3], fit.cost, 1e-12)
      near(decay(fit.x), fit.fun)
      assert.is_true(fit.grad:norm() < 1e-7, loss)
    end
  end)

  it("takes a given Jacobian, differences when asked, and extra arguments", function()
    local exact = ns.least_squares(rosenbrock, { -1.2, 1 })
    local given = ns.least_squares(rosenbrock, { -1.2, 1 },
      { jac = function(x) return { { -20 * x[1], 10 }, { -1, 0 } } end })
    assert.equal(tostring(exact.x), tostring(given.x))
    assert.equal(exact.nfev, given.nfev)
    for _, scheme in ipairs { "2-point", "3-point" } do
      near({ 1, 1 }, ns.least_squares(rosenbrock, { -1.2, 1 }, { jac = scheme }).x, 1e-8)
    end
    near({ 5 }, ns.least_squares(function(x, a, b) return { x[1] - a - b } end, 1, { args = { 2, 3 } }).x)
    near({ 1, 1 }, ns.least_squares(rosenbrock, { -1.2, 1 }, { x_scale = { 0.5, 2 } }).x)
    near({ 1, 1 }, ns.least_squares(rosenbrock, { -1.2, 1 }, { x_scale = 3, max_nfev = 200 }).x)
  end)

  it("does not depend on units: the same bits of the parameters", function()
    for _, power in ipairs { { 40, 0, 0 }, { 0, -60, 30 }, { -100, 90, 77 } } do
      local of_f, a, b = 2.0 ^ power[1], 2.0 ^ power[2], 2.0 ^ power[3]
      local function scaled(x)
        local r = decay { x[1] / a, x[2] / b }
        for i = 1, 10 do r[i] = r[i] * of_f end
        return r
      end
      for _, start in ipairs { { 1, 0.5 }, { 3, 0 } } do
        local plain = ns.least_squares(decay, start)
        local fit = ns.least_squares(scaled, { a * start[1], b * start[2] })
        assert.equal(plain.x[1], fit.x[1] / a)
        assert.equal(plain.x[2], fit.x[2] / b)
        assert.equal(plain.status, fit.status)
      end
    end
  end)

  it("does not depend on units at a start of 0", function()
    local function line(x) return { x[1] + x[2] - 1, x[1] - x[2] * x[2] - 3, x[1] + 2 * x[2] } end
    local plain = ns.least_squares(line, { 0, 0 })
    for _, of_f in ipairs { 2.0 ^ -90, 2.0 ^ 100 } do
      local fit = ns.least_squares(function(x)
        local r = line { x[1] * 2.0 ^ 20, x[2] * 2.0 ^ -30 }
        return { r[1] * of_f, r[2] * of_f, r[3] * of_f }
      end, { 0, 0 })
      assert.equal(plain.x[1], fit.x[1] * 2.0 ^ 20)
      assert.equal(plain.x[2], fit.x[2] * 2.0 ^ -30)
    end
  end)

  it("steps back from points where the residuals are not finite", function()
    local fit = ns.least_squares(function(x) return { math.log(x[1]) - 1, 0 } end, 0.1)
    near({ math.exp(1) }, fit.x)
    fit = ns.least_squares(function(x) return { math.sqrt(x[1]) - 0.01, 0 } end, 4)
    near({ 1e-4 }, fit.x)
  end)

  it("tells when it was not done", function()
    local fit = ns.least_squares(rosenbrock, { -1.2, 1 }, { max_nfev = 4 })
    assert.is_false(fit.success)
    assert.equal("calls", fit.status)
    assert.equal("the number of evaluations (max_nfev) is reached", fit.message)
    local none = ns.least_squares(function(x) return { x[1] + x[2] - 1, 2 * x[1] + 2 * x[2] } end, { 1, 0 })
    assert.is_nil(rawget(none, "errors")) -- the parameters can't be told apart
  end)

  it("says what is wrong", function()
    local function says(text, ...) assert.matches(text, message(ns.least_squares, ...), 1, true) end
    says("least_squares: f: expected a function, got 1", 1, { 1 })
    says("least_squares: x0: expected a vector, got 'a'", rosenbrock, "a")
    says("least_squares: x0: expected at least one number, got none", rosenbrock, {})
    says("least_squares: 1 residuals are too few for 2 parameters", function(x) return x[1] + x[2] end, { 1, 1 })
    says("least_squares: f(x): expected numbers, got nil", function() end, 1)
    says("least_squares: f[1] is nan at the start", function(x) return { x[1] * (0 / 0) } end, 1)
    says("least_squares: x0[1] = 3 is outside of its bounds", rosenbrock, { 3, 0 }, { bounds = { -1, 1 } })
    says("least_squares: bounds: lower[1] = 2 is above upper[1] = 1", rosenbrock, { 3, 0 }, { bounds = { 2, 1 } })
    says("least_squares: bounds: upper: expected 2 numbers, got 1", rosenbrock, { 3, 0 }, { bounds = { 0, { 1 } } })
    says("least_squares: bounds: lower: expected numbers, got 'a'", rosenbrock, { 3, 0 }, { bounds = { "a", 1 } })
    says("least_squares: bounds: lower[1] is nan", rosenbrock, { 3, 0 }, { bounds = { 0 / 0, 1 } })
    says("least_squares: bounds: expected a table, got 1", rosenbrock, { 3, 0 }, { bounds = 1 })
    says("least_squares: loss: expected linear, soft_l1, huber, cauchy or arctan, got 'l2'", rosenbrock, { 0, 0 },
      { loss = "l2" })
    says("least_squares: f_scale: expected a number above 0, got 0", rosenbrock, { 0, 0 }, { f_scale = 0 })
    says("least_squares: x_scale[2]: expected a number above 0, got -1", rosenbrock, { 0, 0 }, { x_scale = { 1, -1 } })
    says("least_squares: xtol: expected 0 or more, below 1, got -1", rosenbrock, { 0, 0 }, { xtol = -1 })
    says("least_squares: max_nfev: expected an integer of 1 or more, got 0", rosenbrock, { 0, 0 }, { max_nfev = 0 })
    says("least_squares: args: expected a list, got 1", rosenbrock, { 0, 0 }, { args = 1 })
    says("least_squares: jac: expected a function, '2-point' or '3-point', got 'cs'", rosenbrock, { 0, 0 }, { jac = "cs" })
    says("least_squares: jac: expected a function, got 1", rosenbrock, { 0, 0 }, { jac = 1 })
    says("least_squares: jac: expected 2 x 2 numbers, got 1 x 2", rosenbrock, { 0, 0 },
      { jac = function() return { { 1, 2 } } end })
    says("least_squares: jac: expected 2 x 2 numbers, got nil", rosenbrock, { 0, 0 }, { jac = function() end })
    says("least_squares: jac: x[1] is 0: the size of a step for its difference is not known; give x_scale", rosenbrock,
      { 0, 0 }, { jac = "2-point" })
    says("least_squares: unknown option 'method' (known: bounds, jac,", rosenbrock, { 0, 0 }, { method = "lm" })
    local count = 0
    says("no more", function(x)
      count = count + 1
      if count > 5 then error "no more" end
      return rosenbrock(x)
    end, { -1.2, 1 })
  end)

  it("passes errors on with the place in the callback", function()
    local count = 0
    local function failing(x)
      count = count + 1
      if count > 5 then error({ "an object" }) end
      return rosenbrock(x)
    end
    local good, err = pcall(ns.least_squares, failing, { -1.2, 1 })
    assert.is_false(good)
    assert.equal("an object", err[1])
  end)
end)
