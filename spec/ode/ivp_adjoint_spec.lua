-- ns.ivp_gradient: gradients by the adjoint pass through a run, against forward sensitivities and closed forms.
local ns = require "nslua"
local with = require "expect".merged

local floor = { g = function(_, y) return y[1] end, direction = -1, name = "floor",
  apply = function(_, y, e) return { 0, -e * y[2] } end }
local function fall(_, y, _, g) return { y[2], -g } end

-- The same by forward sensitivities: the integral of the cost is one more state.
local function forward(f, span, y0, options, cost, terminal)
  local n, args = #y0, options.args
  local y = table.move(y0, 1, n, 1, {})
  y[n + 1] = 0
  local function longer(t, x, ...)
    local d = f(t, x, ...)
    d[n + 1] = cost(t, x, ...)
    return d
  end
  local o = with(options, { rtol = 1e-12, atol = 1e-13, sensitivities = options.parameters, method = "DOP853" })
  o.parameters = nil
  if o.events then
    o.events = with(o.events, { apply = function(t, x, ...)
      local after = options.events.apply(t, x, ...)
      after[n + 1] = x[n + 1]
      return after
    end })
  end
  local sol = ns.solve_ivp(longer, span, y, o)
  local last, at = #sol.t, {}
  for i = 1, n do at[i] = sol.y[i][last] end
  for k = 1, #args do at[n + k] = args[k] end
  local slopes = ns.gradient(function(z)
    local extra = {}
    for k = 1, #args do extra[k] = z[n + k] end
    return terminal(z, table.unpack(extra))
  end, at)
  local S, gradient = sol.S[last], {}
  for j, name in ipairs(sol.sensitivities) do
    if name == ("y0[%d]"):format(n + 1) then break end -- the integral itself; y0 comes last
    local sum = S[n + 1][j]
    for i = 1, n do sum = sum + slopes[i] * S[i][j] end
    local k = tonumber(name:match "^args%[(%d+)%]$")
    gradient[j] = sum + (k and slopes[n + k] or 0)
  end
  return sol.y[n + 1][last] + terminal(at, table.unpack(args)), ns.vector(gradient)
end

local function near(a, b, tolerance, text)
  assert.is_true(ns.norm(a - b) <= tolerance * math.max(1, ns.norm(b)), text or tostring(a) .. " " .. tostring(b))
end

describe("ivp_gradient", function()
  it("agrees with forward sensitivities on random smooth systems, by each method, for f in Lua and compiled", function()
    local rng = ns.rng(5)
    for case = 1, 4 do
      local n, A, w = 2 + case % 3, {}, {}
      for i = 1, n do
        A[i], w[i] = {}, rng:uniform(0.5, 2)
        for j = 1, n do A[i][j] = rng:uniform(-1, 1) end
      end
      local function f(t, y, a, b)
        local d = {}
        for i = 1, n do
          d[i] = a * math.cos(w[i] * t)
          for j = 1, n do d[i] = d[i] + A[i][j] * math.sin(w[j] * y[j] * b) end
        end
        return d
      end
      local function cost(t, y, a) return y[1] ^ 2 + a * y[2] * math.sin(t) end
      local function terminal(y, a, b) return a * y[1] * y[2] + b ^ 2 end
      local y0 = {}
      for i = 1, n do y0[i] = rng:uniform(-1, 1) end
      local options = { args = { rng:uniform(-1, 1), rng:uniform(0.5, 1) }, parameters = { "args", "y0" },
        rtol = 1e-11, atol = 1e-12, method = ({ "DOP853", "RK45", "Radau" })[case % 3 + 1] }
      local value, gradient = forward(f, { 0, 3 }, y0, options, cost, terminal)
      for _, kind in ipairs { f, case < 3 and ns.compile(f) or nil } do
        local v, g, sol = ns.ivp_gradient(kind, { 0, 3 }, y0, with(options, { cost = cost, terminal = terminal }))
        assert.near(value, v, 1e-8)
        near(g, gradient, 1e-8, case)
        assert.equal(3, sol.t[#sol.t])
      end
      local _, g = ns.ivp_gradient(f, { 0, 3 }, y0, with(options, { cost = ns.compile(cost), terminal = terminal }))
      near(g, gradient, 1e-8)
      _, g = ns.ivp_gradient(f, { 0, 3 }, y0,
        with(options, { cost = cost, terminal = terminal, method = "BDF", rtol = 1e-9 }))
      near(g, gradient, 1e-6)
    end
  end)

  it("goes back through the bounces of a ball", function()
    local function cost(t, y, _, g) return y[1] ^ 2 + g * t end
    local function terminal(y, e) return y[1] * y[2] * e end
    local options = { method = "DOP853", args = { 0.8, 10 }, events = floor, parameters = { "args", "y0" }, rtol = 1e-11,
      atol = 1e-12 }
    local value, gradient = forward(fall, { 0, 2 }, { 1, 0 }, options, cost, terminal)
    local v, g = ns.ivp_gradient(fall, { 0, 2 }, { 1, 0 }, with(options, { cost = cost, terminal = terminal }))
    assert.near(value, v, 1e-9)
    near(g, gradient, 1e-8)
  end)

  it("knows that an event that ends the run moves its end", function()
    local options = { method = "DOP853", args = { 0.8, 10 }, rtol = 1e-11, atol = 1e-12, parameters = { "y0[1]", "args" },
      cost = function() return 1 end }
    -- the time until the floor, sqrt(2 x0 / g); the speed after the second bounce, e^2 sqrt(2 g x0), at t1 (1 + 2 e)
    local t1, v1 = math.sqrt(0.2), math.sqrt(20)
    local v, g = ns.ivp_gradient(fall, { 0, 2 }, { 1, 0 },
      with(options, { events = { g = floor.g, direction = -1, terminal = true } }))
    assert.near(t1, v, 1e-10)
    near(g, ns.vector { t1 / 2, 0, -t1 / 20 }, 1e-9)
    v, g = ns.ivp_gradient(fall, { 0, 2 }, { 1, 0 }, with(options, { events = with(floor, { terminal = 2 }),
      terminal = function(y) return y[2] end }))
    assert.near(2.6 * t1 + 0.64 * v1, v, 1e-9)
    near(g, ns.vector { 1.3 * t1 + 0.32 * v1, 2 * t1 + 1.6 * v1, -0.13 * t1 + 0.032 * v1 }, 1e-8)
  end)

  it("adds what cost and terminal depend on args themselves, at an end that moves", function()
    -- until the floor, T = sqrt(2 x0 / g): the integral of g t is x0, terminal is -e g sqrt(2 g x0)
    local options = { method = "DOP853", args = { 0.8, 10 }, rtol = 1e-11, atol = 1e-12, parameters = { "y0[1]", "args" },
      events = { g = floor.g, direction = -1, terminal = true }, cost = function(t, _, _, g) return g * t end,
      terminal = function(y, e, g) return e * g * y[2] end }
    local speed = math.sqrt(20)
    for _, kind in ipairs { fall, ns.compile(fall) } do
      local v, g = ns.ivp_gradient(kind, { 0, 2 }, { 1, 0 }, options)
      assert.near(1 - 8 * speed, v, 1e-9)
      near(g, ns.vector { 1 - 4 * speed, -10 * speed, -1.2 * speed }, 1e-8)
    end
  end)

  it("gives the same for any number of parameters", function()
    local p = {}
    for k = 1, 100 do p[k] = math.cos(k) end
    local function f(t, y, q)
      local load = 0
      for k = 1, #q do load = load + q[k] * math.cos(k * t) end
      return { y[2], load - y[1] }
    end
    local sol = ns.solve_ivp(f, { 0, 1 }, { 1, 0 }, { args = { p }, rtol = 1e-10, atol = 1e-12, method = "DOP853",
      sensitivities = "args" })
    for _, kind in ipairs { f, ns.compile(f) } do
      local _, g = ns.ivp_gradient(kind, { 0, 1 }, { 1, 0 }, { args = { p }, rtol = 1e-10, atol = 1e-12, method = "DOP853",
        parameters = "args", terminal = function(y) return y[1] end })
      near(g, sol.S[#sol.t][1], 1e-9)
    end
  end)

  it("tells what is wrong", function()
    local function message(...)
      local ok, text = pcall(ns.ivp_gradient, ...)
      assert.is_false(ok)
      return (text:gsub("\nstack traceback.*", ""):gsub("^%S+:%d+: ", ""))
    end
    local options = { args = { 0.8, 10 }, parameters = { "args" } }
    local function bad(more) return message(fall, { 0, 1 }, { 1, 0 }, with(options, more)) end
    assert.equal("ivp_gradient: expected the option cost, or terminal, or both", bad {})
    assert.equal("ivp_gradient: cost: expected a number, got nil", bad { cost = function() end })
    assert.equal("ivp_gradient: terminal: expected a number, got nil", bad { terminal = function() end })
    assert.equal("ivp_gradient: cost: expected a function, got an empty table", bad { cost = {} })
    assert.truthy(bad({ cost = function() return 1 end, parameters = { "e" } }):find(
      "ivp_gradient: parameters[1]: expected 'y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]', got 'e'", 1, true))
    assert.truthy(bad({ cost = function() return 1 end, sensitivities = {} }):find(
      "ivp_gradient: unknown option 'sensitivities'", 1, true))
    assert.truthy(bad({ cost = function() return 1 end, max_steps = 1, max_step = 0.1 }):find(
      "ivp_gradient: the run failed: 1 steps were not enough", 1, true))
    local mode = 1
    local text = message(function() return { mode } end, { 0, 2 }, { -1 }, { parameters = "y0",
      terminal = function(y) return y[1] end, events = { g = function(_, y) return y[1] end, name = "shift",
        apply = function() mode = 3 end } })
    assert.truthy(text:find("ivp_gradient: gradient: after the run f has other values than before event 1 (shift) " ..
      "(t=1): f may depend on t, y and args alone, not on a variable that apply changes", 1, true), text)
  end)
end)
