-- The callbacks of solve_ivp: their forms, Jacobians, errors.
local ns = require "nslua"
local p = require "ode.problems"

local sin = math.sin

describe("callbacks of solve_ivp", function()
  it("return a table, a vector or a number, or fill the last argument: all the same", function()
    local forms = {
      function(_, y) return { y[2], -y[1] } end,
      function(_, y) return ns.vector { y[2], -y[1] } end,
      function(_, y, d) d[1], d[2] = y[2], -y[1] end,
      function(_, y, d) d[1], d[2] = y[2], -y[1] return d end,
      function(_, y, ...) local d = ... d[1], d[2] = y[2], -y[1] end,
    }
    for _, method in ipairs(p.methods) do
      local want
      for k, f in ipairs(forms) do
        local o = { method = method }
        if k == 2 then o.jac = { { 0, 1 }, { -1, 0 } } end -- constructors of vectors take no duals
        local sol = ns.solve_ivp(f, { 0, 3 }, { 1, 0 }, o)
        want = want or sol
        assert.equal(want.nfev, sol.nfev)
        assert.equal(want.y[1][#want.t], sol.y[1][#sol.t])
      end
    end
    local one = ns.solve_ivp(function(_, y) return -y[1] end, { 0, 1 }, 1)
    assert.is_true(math.abs(one.y[1][#one.t] - math.exp(-1)) < 1e-3)
  end)

  it("get the arguments after y, and the output after those", function()
    local function f(_, y, a, b, d) d[1] = a * b.x * y[1] end
    for _, method in ipairs(p.methods) do
      local sol = ns.solve_ivp(f, { 0, 1 }, { 1 }, { method = method, args = { -2, { x = 3 } }, rtol = 1e-8,
        events = function(_, y, a, b) return y[1] + a * b.x + 5.5 end })
      assert.is_true(math.abs(sol.y[1][#sol.t] - math.exp(-6)) < 1e-6, method)
      assert.is_true(math.abs(sol.t_events[1][1] - math.log(2) / 6) < 1e-6, method)
    end
  end)

  it("have exact Jacobians, given or not", function()
    local function f(t, y) return { sin(y[1]) * y[2] - t, y[1] * y[2] } end
    local function jac(_, y) return { { math.cos(y[1]) * y[2], sin(y[1]) }, { y[2], y[1] } } end
    local function fill(_, y, J)
      J[1][1], J[1][2], J[2][1], J[2][2] = math.cos(y[1]) * y[2], sin(y[1]), y[2], y[1]
    end
    for _, method in ipairs { "Radau", "BDF" } do
      local dual = ns.solve_ivp(f, { 0, 1 }, { 1, 0.5 }, { method = method, rtol = 1e-8 })
      for _, given in ipairs { jac, fill } do
        local sol = ns.solve_ivp(f, { 0, 1 }, { 1, 0.5 }, { method = method, rtol = 1e-8, jac = given })
        assert.equal(dual.nfev, sol.nfev)
        assert.equal(dual.njev, sol.njev)
        assert.is_true(math.abs(dual.y[1][#dual.t] - sol.y[1][#sol.t]) < 1e-12)
      end
    end
  end)

  it("may capture math functions: f, events, what they apply, cost and terminal", function()
    local function f(_, y, a) return { -a * sin(y[1]) } end
    local function both(g, apply, cost, terminal)
      local sol = ns.solve_ivp(f, { 0, 1 }, { 1 }, { args = { 0.7 }, sensitivities = { "y0", "args" },
        events = { g = g, apply = apply } })
      local value, gradient = ns.ivp_gradient(f, { 0, 1 }, { 1 }, { args = { 0.7 }, parameters = { "y0", "args" }, cost = cost,
        terminal = terminal, events = { g = g, apply = apply } })
      return { tostring(sol.S[#sol.t]), #sol.t_events[1], value, tostring(gradient) }
    end
    local function far(x) return sin(x) end
    local plain = both(function(_, y) return math.sin(y[1]) - 0.7 end, function(_, y) return { math.sin(y[1]) + 1 } end,
      function(_, y) return math.sin(y[1]) end, function(y, a) return math.sin(a * y[1]) end)
    assert.equal(1, plain[2])
    assert.same(plain, both(function(_, y) return sin(y[1]) - 0.7 end, function(_, y) return { sin(y[1]) + 1 } end,
      function(_, y) return sin(y[1]) end, function(y, a) return sin(a * y[1]) end))
    assert.same(plain, both(function(_, y) return far(y[1]) - 0.7 end, function(_, y) return { far(y[1]) + 1 } end,
      function(_, y) return far(y[1]) end, function(y, a) return far(a * y[1]) end))
    assert.equal(sin, math.sin)
  end)

  it("raise through, whatever they raise", function()
    for _, method in ipairs(p.methods) do
      local thing = { code = 7 }
      local ok, got = pcall(ns.solve_ivp, function(t) if t > 0.5 then error(thing) end return { 1 } end, { 0, 1 }, { 0 },
        { method = method, jac = { { 0 } } })
      assert.is_false(ok)
      assert.equal(thing, got)
      local _, text = pcall(ns.solve_ivp, function(_, y) return { y._a.b } end, { 0, 1 }, { 0 }, { method = method })
      assert.truthy(text:find("ode_call_spec.lua:%d+: attempt to index"), text)
      assert.truthy(text:find("stack traceback:", 1, true), text)
    end
    local _, text = pcall(ns.solve_ivp, p.oscillator, { 0, 1 }, { 1, 0 }, { events = function() error "no event" end })
    assert.truthy(text:find("no event", 1, true), text)
  end)

  it("that give the wrong thing are told so", function()
    local function says(text, f, o)
      local ok, message = pcall(ns.solve_ivp, f, { 0, 1 }, { 1, 0 }, o)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    says("solve_ivp: f(t, y): expected a vector of 2, got a list of 3", function() return { 1, 2, 3 } end)
    says("solve_ivp: f(t, y)[2]: expected a number, got string", function() return { 1, "x" } end)
    says("solve_ivp: f(t, y): expected a vector of 2, got number", function() return 1 end)
    says("solve_ivp: f(t, y) returned nothing: return the derivatives, or fill the last argument", function(_, _) end)
    says("y is read-only", function(_, y) y[1] = 0 return y end)
    says("solve_ivp: jac(t, y): expected a 2 x 2 matrix, got", p.oscillator,
      { method = "Radau", jac = function() return { 1 } end })
    says("solve_ivp: jac(t, y) returned nothing and filled nothing", p.oscillator,
      { method = "BDF", jac = function() end })
    says("solve_ivp: jac(t, y)[1][2] is nan", p.oscillator,
      { method = "BDF", jac = function() return { { 0, 0 / 0 }, { 1, 1 } } end })
  end)
end)
