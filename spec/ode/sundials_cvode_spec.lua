-- CVODE behind ns.solve_ivp: accuracy, dense output, events, stiffness, where it ends. Pending where it is not built.
local ns = require "nslua"
local p = require "ode.problems"
local here = package.searchpath("nslua.sundials", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.sundials is not built: make sundials)") end
local methods = { "CVODE_BDF", "CVODE_Adams" }

local function each(f)
  return function()
    for _, method in ipairs(methods) do f(method) end
  end
end

local function solve(method, f, span, y0, options)
  options = options or {}
  options.method = method
  return ns.solve_ivp(f, span, y0, options)
end

describe("CVODE", function()
  test("is as exact as it is asked to be, with more steps for more", each(function(method)
    local steps = 0
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8, 1e-10 } do
      local sol = solve(method, p.oscillator, { 0, 10 }, { 1, 0 }, { rtol = rtol, atol = rtol / 100 })
      assert.equal("the end of the interval was reached", sol.message)
      assert.equal(10, sol.t[#sol.t])
      assert.near(math.cos(10), sol.y[1][#sol.t], 300 * rtol)
      assert.is_true(sol.nsteps > steps and sol.nsteps == #sol.t - 1 and sol.nfev > sol.nsteps)
      assert.equal(method == "CVODE_BDF", sol.njev > 0 and sol.nlu > 0)
      steps = sol.nsteps
    end
  end))

  test("has dense output as exact as its steps, that goes through them", each(function(method)
    local sol = solve(method, p.oscillator, { 0, 10 }, { 1, 0 }, { rtol = 1e-9, atol = 1e-11, dense_output = true })
    local at_steps, between = 0, 0
    for k = 1, #sol.t do
      at_steps = math.max(at_steps, math.abs(sol.y[1][k] - math.cos(sol.t[k])))
      assert.is_true(math.abs(sol.sol(sol.t[k])[1] - sol.y[1][k]) < 1e-14)
    end
    for k = 0, 1000 do between = math.max(between, math.abs(sol.sol(k / 100)[1] - math.cos(k / 100))) end
    assert.is_true(between < 1.1 * at_steps + 1e-9, between)
    local again = solve(method, p.oscillator, { 0, 10 }, { 1, 0 }, { rtol = 1e-9, atol = 1e-11, t_eval = { 0, 3.3, 7.1 } })
    assert.same({ 0, 3.3, 7.1 }, again.t:totable())
    assert.near(sol.sol(7.1)[1], again.y[1][3], 1e-15)
  end))

  test("reproduces a polynomial of its order exactly", each(function(method)
    local sol = solve(method, function(t) return { 3 * t ^ 2, 2 * t } end, { 0, 4 }, { 0, 1 },
      { rtol = 1e-8, atol = 1e-10, dense_output = true })
    for k = 0, 40 do
      local t = k / 10
      assert.near(t ^ 3, sol.sol(t)[1], 2e-6)
      assert.near(t ^ 2 + 1, sol.sol(t)[2], 2e-6)
    end
  end))

  test("goes backward, starts with first_step, takes no step above max_step and none past the end", each(function(method)
    local function inside(t, y)
      if t < 0 or t > 2 then error "outside" end
      return { -y[1] }
    end
    local start = math.exp(-2)
    assert.near(1, solve(method, inside, { 2, 0 }, { start }, { rtol = 1e-9, atol = 1e-12 }).y:row(1)(-1), 1e-6)
    local sol = solve(method, inside, { 0, 2 }, { 1 }, { first_step = 1e-3, max_step = 0.03 })
    assert.near(1e-3, sol.t[2], 1e-15)
    for k = 2, #sol.t do assert.is_true(sol.t[k] - sol.t[k - 1] <= 0.03 * (1 + 1e-12)) end
    assert.same({ 2 }, solve(method, inside, { 2, 2 }, { 1 }).t:totable())
  end))

  test("finds events on the dense output and ends at a terminal one", each(function(method)
    local sol = solve(method, function(_, y) return { y[2], -9.81 } end, { 0, 5 }, { 10, 0 }, { rtol = 1e-9, atol = 1e-11,
      events = { { function(_, y) return y[1] end, direction = -1, terminal = true }, function(_, y) return y[2] + 5 end } })
    assert.equal(1, sol.status)
    assert.near(math.sqrt(20 / 9.81), sol.t_events[1][1], 1e-8)
    assert.near(5 / 9.81, sol.t_events[2][1], 1e-7)
    assert.equal(sol.t_events[1][1], sol.t[#sol.t])
  end))

  test("passes a stiff layer: Van der Pol's oscillator and Robertson's reaction", function()
    local reference = solve("Radau", p.van_der_pol(1000), { 0, 2000 }, { 2, 0 }, { rtol = 1e-10, atol = 1e-12 })
    local sol = solve("CVODE_BDF", p.van_der_pol(1000), { 0, 2000 }, { 2, 0 }, { rtol = 1e-8, atol = 1e-10 })
    assert.near(reference.y[1][#reference.t], sol.y[1][#sol.t], 1e-5)
    assert.is_true(sol.njev < sol.nsteps / 10)
    local function robertson(_, y)
      local a, b, c = 0.04 * y[1], 1e4 * y[2] * y[3], 3e7 * y[2] ^ 2
      return { -a + b, a - b - c, c }
    end
    sol = solve("CVODE_BDF", robertson, { 0, 4e10 }, { 1, 0, 0 }, { rtol = 1e-8, atol = 1e-14, t_eval = { 0.4, 40 } })
    assert.near(9.8517e-1, sol.y[1][1], 1e-5)
    assert.near(9.1851e-6, sol.y[2][2], 1e-9)
    assert.is_true(sol.nsteps < 3000)
  end)

  test("takes no equations at all", each(function(method)
    local sol = solve(method, function() return {} end, { 0, 1 }, {}, { dense_output = true })
    assert.equal(1, sol.t[#sol.t])
    assert.equal(0, #sol.sol(0.5))
  end))

  test("takes a given Jacobian, compiled functions, arguments, tolerances of each unknown, 0 among them", each(function(method)
    local function f(_, y, k) return { -k * y[1], k * y[1] } end
    local options = { rtol = 1e-8, atol = { 1e-10, 0 }, args = { 2 } }
    local plain = solve(method, f, { 0, 1 }, { 1, 1 }, options)
    assert.near(2 - math.exp(-2), plain.y[2][#plain.t], 1e-6)
    local compiled = solve(method, ns.compile(f), { 0, 1 }, { 1, 1 }, options)
    assert.equal(plain.nfev, compiled.nfev)
    assert.near(plain.y[1][#plain.t], compiled.y[1][#compiled.t], 1e-13)
    options.jac = function(_, _, k) return { { -k, 0 }, { k, 0 } } end
    assert.near(plain.y[1][#plain.t], solve(method, f, { 0, 1 }, { 1, 1 }, options).y:row(1)(-1), 1e-13)
  end))
end)

describe("CVODE that can not go on", function()
  test("gives the part before and says why", each(function(method)
    local sol = solve(method, function(_, y) return { y[1] ^ 2 } end, { 0, 2 }, { 1 }, { rtol = 1e-8 }) -- 1 / (1 - t)
    assert.is_false(sol.success)
    assert.near(1, sol.t[#sol.t], 1e-4)
    assert.truthy(sol.message:find "too small to go on" or sol.message:find "CVODE: the", sol.message)
    sol = solve(method, p.oscillator, { 0, 100 }, { 1, 0 }, { max_steps = 7 })
    assert.equal("7 steps were not enough (t=", sol.message:match "^.-t=")
    assert.equal(8, #sol.t)
  end))

  test("names the derivative that is nan", each(function(method)
    local sol = solve(method, function(t) return { 1, t > 0.5 and 0 / 0 or 1 } end, { 0, 1 }, { 0, 0 })
    assert.is_false(sol.success)
    assert.truthy(sol.message:find("the derivative of y[2] is not finite (t=0.5", 1, true), sol.message)
    assert.near(0.5, sol.t[#sol.t], 1e-3)
  end))

  test("raises what the function or its Jacobian raises", each(function(method)
    local ok, message = pcall(solve, method, function(t)
      if t > 0.3 then error "too much" end
      return { 1 }
    end, { 0, 1 }, { 0 })
    assert.is_false(ok)
    assert.truthy(message:find("too much", 1, true), message)
    if method == "CVODE_BDF" then
      ok, message = pcall(solve, method, function(_, y) return { -y[1] } end, { 0, 1 }, { 1 },
        { jac = function() error "no Jacobian" end })
      assert.is_false(ok)
      assert.truthy(message:find("no Jacobian", 1, true), message)
    end
  end))
end)
