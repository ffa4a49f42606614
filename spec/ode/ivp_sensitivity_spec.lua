-- Sensitivities of solve_ivp: closed forms, differences, events, units, messages.
local ns = require "nslua"
local with = require "expect".merged

local methods = { "RK45", "DOP853", "Radau", "BDF" }
if pcall(require, "nslua.sundials") then methods[5], methods[6] = "CVODE_BDF", "CVODE_Adams" end

local function last(sol) return sol.S[#sol.t] end

local function near(a, b, tolerance, text)
  assert.is_true(ns.norm(a - b) <= tolerance * math.max(1, ns.norm(b)), text or tostring(a) .. "\n" .. tostring(b))
end

-- Central differences of y(T) of order 4; change(p) gives y0 and args with the parameters p.
local function differences(f, span, p, change, options)
  local function final(q)
    local y0, args = change(q)
    local o = { method = "DOP853", rtol = 1e-13, atol = 1e-14, args = args }
    for k, v in pairs(options or {}) do o[k] = v end
    local sol = ns.solve_ivp(f, span, y0, o)
    local y = ns.zeros(sol.y:rows())
    for i = 1, #y do y[i] = sol.y[i][#sol.t] end
    return y
  end
  local columns = {}
  for j = 1, #p do
    local h = 1e-3 * math.max(math.abs(p[j]), 0.1)
    local function at(s)
      local q = table.move(p, 1, #p, 1, {})
      q[j] = q[j] + s * h
      return final(q)
    end
    columns[j] = ((at(1) - at(-1)) * 8 - (at(2) - at(-2))) / (12 * h)
  end
  local m = ns.zeros(#columns[1], #p)
  for j = 1, #p do
    for i = 1, #columns[1] do m[i][j] = columns[j][i] end
  end
  return m
end

local function pendulum(t, y, a, b) return { y[2], -a * math.sin(y[1]) - b[1] * y[2] + b[2] * math.cos(t) } end
local pendulum_options = { args = { 1.5, { 0.1, 0.3 } }, rtol = 1e-9, atol = 1e-11, sensitivities = { "y0", "args" } }

-- A ball that is dropped from x0 and bounces: y1 and y2 at t after the bounces before t, in closed form.
local function ball_at(t, x0, e, g)
  local t1 = (2 * x0 / g) ^ 0.5
  local from, v = t1, e * g * t1
  local function value(d) return type(d) == "number" and d or tonumber(tostring(d):match "[-%d.e]+") end
  if t < value(t1) then return { x0 - g * t * t / 2, -g * t } end
  while value(from) + 2 * value(v) / value(g) < t do from, v = from + 2 * v / g, e * v end
  return { v * (t - from) - g * (t - from) ^ 2 / 2, v - g * (t - from) }
end
local floor = { g = function(_, y) return y[1] end, direction = -1, name = "floor",
  apply = function(_, y, e) return { 0, -e * y[2] } end }
local function ball(span, options)
  return ns.solve_ivp(function(_, y, _, g) return { y[2], -g } end, span, { 1, 0 },
    with({ method = "DOP853", rtol = 1e-11, atol = 1e-12, args = { 0.8, 10 }, events = floor }, options))
end

describe("sensitivities of solve_ivp", function()
  it("are the matrix exponential of a linear system, by each method", function()
    local A = ns.matrix { { -1, 2, 0 }, { 0.5, -0.3, 1 }, { -2, 0, 0.4 } }
    for _, method in ipairs(methods) do
      for _, tf in ipairs { 2, -1 } do
        local sol = ns.solve_ivp(function(_, y) return A * y end, { 0, tf }, { 1, 2, 3 },
          { method = method, rtol = 1e-9, atol = 1e-10, sensitivities = { "y0" } })
        near(last(sol), ns.expm(A * tf), 1e-7, method)
        assert.equal(#sol.t, #sol.S)
        assert.same({ "y0[1]", "y0[2]", "y0[3]" }, sol.sensitivities)
      end
    end
  end)

  it("agree with differences, by each method, for f in Lua, compiled, and with jac", function()
    local exact = differences(pendulum, { 0, 5 }, { 1, 0, 1.5, 0.1, 0.3 }, function(p)
      return { p[1], p[2] }, { p[3], { p[4], p[5] } }
    end)
    for _, method in ipairs(methods) do
      local sol = ns.solve_ivp(pendulum, { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = method }))
      near(last(sol), exact, method:find "BDF" and 2e-6 or 2e-7, method)
    end
    assert.same({ "y0[1]", "y0[2]", "args[1]", "args[2][1]", "args[2][2]" },
      ns.solve_ivp(pendulum, { 0, 1 }, { 1, 0 }, pendulum_options).sensitivities)
    local lua = ns.solve_ivp(pendulum, { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853" }))
    local compiled = ns.solve_ivp(ns.compile(pendulum), { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853" }))
    local given = ns.solve_ivp(pendulum, { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853",
      jac = function(_, y, a, b) return { { 0, 1 }, { -a * math.cos(y[1]), -b[1] } } end }))
    near(last(compiled), last(lua), 1e-12)
    near(last(given), last(lua), 1e-12)
    local filled = ns.solve_ivp(function(t, y, a, b, d)
      local r = pendulum(t, y, a, b)
      d[1], d[2] = r[1], r[2]
    end, { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853" }))
    near(last(filled), last(lua), 1e-12)
    local vector = ns.solve_ivp(pendulum, { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853",
      args = { 1.5, ns.vector { 0.1, 0.3 } } }))
    near(last(vector), last(lua), 1e-12)
  end)

  it("agree with differences on random smooth systems", function()
    local rng = ns.rng(11)
    for case = 1, 12 do
      local n = 2 + case % 4
      local A, w = {}, {}
      for i = 1, n do
        A[i], w[i] = {}, rng:uniform(0.5, 2)
        for j = 1, n do A[i][j] = rng:uniform(-1, 1) end
      end
      local function f(t, y, c)
        local d = {}
        for i = 1, n do
          local sum = c * math.cos(w[i] * t)
          for j = 1, n do sum = sum + A[i][j] * math.sin(w[j] * y[j]) end
          d[i] = sum
        end
        return d
      end
      local p = { rng:uniform(-1, 1) }
      for i = 1, n do p[i + 1] = rng:uniform(-1, 1) end
      local exact = differences(f, { 0, 3 }, p, function(q) return table.move(q, 2, n + 1, 1, {}), { q[1] } end)
      local sol = ns.solve_ivp(f, { 0, 3 }, table.move(p, 2, n + 1, 1, {}), { method = case % 2 == 0 and "DOP853" or "RK45",
        rtol = 1e-10, atol = 1e-12, args = { p[1] }, sensitivities = { "args", "y0" } })
      near(last(sol), exact, 1e-7, case)
    end
  end)

  it("and gradients have 1e-7 beside implicit methods: Radau at rtol 1e-8, BDF, whose own errors are larger, at 1e-11", function()
    local cases = {
      { function(_, y, a, b) return { y[2], -a * math.sin(y[1]) - b * y[2] } end, 10, { 1, 0 }, { 1.5, 0.1 } },
      { function(_, y, a) return { y[2], a * (1 - y[1] ^ 2) * y[2] - y[1] } end, 10, { 2, 0 }, { 2 } },
      { function(_, y, a, b, c, d) return { a * y[1] - b * y[1] * y[2], d * y[1] * y[2] - c * y[2] } end, 15, { 10, 5 },
        { 1.5, 1, 3, 1 } } }
    for number, case in ipairs(cases) do
      local f, tf, y0, args = table.unpack(case)
      local wanted = { "y0", "args" }
      local exact = last(ns.solve_ivp(f, { 0, tf }, y0,
        { method = "DOP853", rtol = 1e-13, atol = 1e-15, args = args, sensitivities = wanted }))
      for method, rtol in pairs { Radau = 1e-8, BDF = 1e-11 } do
        local options = { method = method, rtol = rtol, atol = rtol / 100, args = args }
        local S = last(ns.solve_ivp(f, { 0, tf }, y0, with(options, { sensitivities = wanted })))
        local _, g = ns.ivp_gradient(f, { 0, tf }, y0,
          with(options, { parameters = wanted, terminal = function(y) return y[1] end }))
        local limit = method == "Radau" and 1e-8 or 1e-7
        assert.is_true(ns.norm(S - exact) < limit * ns.norm(exact), method .. number)
        assert.is_true(ns.norm(g - exact:row(1)) < limit * ns.norm(exact), method .. number)
      end
    end
  end)

  it("beside BDF have the relative error of its states, whatever their own rtol is", function()
    local function f(_, y, m) return { y[2], m * (1 - y[1] ^ 2) * y[2] - y[1] } end
    local function run(method, rtol, own)
      return ns.solve_ivp(f, { 0, 15 }, { 2, 0 }, { method = method, rtol = rtol, atol = rtol, args = { 5 },
        sensitivities = { "args", rtol = own } })
    end
    local exact = run("Radau", 1e-13)
    local function off(sol) -- of the states and of S
      local k, m = #sol.t, #exact.t
      local of_y, of_S = 0, 0
      for i = 1, 2 do
        of_y = math.max(of_y, math.abs(sol.y[i][k] / exact.y[i][m] - 1))
        of_S = math.max(of_S, math.abs(sol.S[k][i][1] / exact.S[m][i][1] - 1))
      end
      return of_y, of_S
    end
    for _, rtol in ipairs { 1e-6, 1e-8, 1e-10 } do
      for _, own in ipairs { rtol, 1e-12 } do
        local of_y, of_S = off(run("BDF", rtol, own))
        assert.is_true(of_S < 4 * of_y and of_y < 500 * rtol, rtol .. ": " .. of_y .. ", " .. of_S)
      end
    end
  end)

  it("are the same whether f can be traced or not", function()
    local function traced(_, y, a) return { y[2], -math.sin(a * y[1]) } end
    local function branched(_, y, a) -- a comparison can not be traced
      if y[1] < -100 then return { 0, 0 } end
      return traced(_, y, a)
    end
    local function object(_, y, a, more) return { y[2], -math.sin(a * y[1]) * more.one } end
    for _, method in ipairs { "DOP853", "BDF" } do
      local options = { method = method, rtol = 1e-9, args = { 1.3, { one = 1 } }, sensitivities = { "y0", "args[1]" } }
      local S = last(ns.solve_ivp(traced, { 0, 4 }, { 1, 0 }, options))
      near(last(ns.solve_ivp(branched, { 0, 4 }, { 1, 0 }, options)), S, 1e-10, method)
      near(last(ns.solve_ivp(object, { 0, 4 }, { 1, 0 }, options)), S, 1e-10, method)
      options = { method = method, rtol = 1e-9, args = { 1.3, { one = 1 } }, parameters = { "y0", "args[1]" },
        terminal = function(y) return y[1] end }
      local _, g = ns.ivp_gradient(traced, { 0, 4 }, { 1, 0 }, options)
      near((select(2, ns.ivp_gradient(branched, { 0, 4 }, { 1, 0 }, options))), g, 1e-7)
      near(g, S[1], 1e-6)
    end
  end)

  it("see that an event changes a variable that f uses", function()
    -- x' = -k x with k = 1 above x = 1/2 and 3 below: a spring that gets stiffer, continuous or not at the event
    for _, jump in ipairs { 0, 1 } do
      local k, at
      local function f(_, x, a) return { -k * (x[1] - at) * a - jump } end
      local function run(x0)
        k, at = 1, 0.5
        return ns.solve_ivp(f, { 0, 1 }, { x0 }, { method = "DOP853", rtol = 1e-12, atol = 1e-14, args = { 2 },
          events = { g = function(_, x) return x[1] - 0.75 end, apply = function() k, at = 3, 0.75 - 0.25 / 3 end },
          sensitivities = { "y0", "args" } })
      end
      local sol, up, down = run(1), run(1 + 1e-5), run(1 - 1e-5)
      local slope = (up.y[1][#up.t] - down.y[1][#down.t]) / 2e-5
      near(last(sol)[1][1], slope, 1e-7)
    end
  end)

  it("pass through the bounces of a ball: closed forms", function()
    local sol = ball({ 0, 2 }, { sensitivities = { "y0[1]", "args" } })
    near(last(sol), ns.jacobian(function(p) return ball_at(2, p[1], p[2], p[3]) end, { 1, 0.8, 10 }), 1e-9)
    local t1 = math.sqrt(0.2)
    local dt = sol.dt_events[1]
    near(dt[1], ns.vector { t1 / 2, 0, -t1 / 20 }, 1e-10)
    near(dt[2], ns.vector { 2.6 * t1 / 2, 2 * t1, -2.6 * t1 / 20 }, 1e-9)
    -- two rows at the bounce, on both sides of it
    for k = 2, #sol.t do
      if sol.t[k] == sol.t[k - 1] then
        near(sol.S[k][1], sol.S[k - 1][1] * -0.8 + ns.vector { 0, 0, 0 }, 1e-9)
        return
      end
    end
    error("no row")
  end)

  it("have rows at the wanted times", function()
    local t1 = math.sqrt(0.2)
    local sol = ball({ 0, 2 }, { t_eval = { 0, 0.2, t1 * (1 + 1e-15), 1.3, 1.9 }, sensitivities = { "y0[1]", "args[1]" } })
    assert.equal(5, #sol.S)
    for k, t in ipairs { 0, 0.2, false, 1.3, 1.9 } do
      if t then
        near(sol.S[k], ns.jacobian(function(p) return ball_at(t, p[1], p[2], 10) end, { 1, 0.8 }), 1e-9, k)
      end
    end
    local dense = ns.solve_ivp(pendulum, { 0, 5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853", t_eval = { 2.5, 5 } }))
    local half = ns.solve_ivp(pendulum, { 0, 2.5 }, { 1, 0 }, with(pendulum_options, { method = "DOP853" }))
    near(dense.S[1], last(half), 1e-7)
  end)

  it("do not change the run", function()
    for _, method in ipairs(methods) do
      local plain = ball({ 0, 2 }, { method = method })
      local along = ball({ 0, 2 }, { method = method, sensitivities = { "args" } })
      assert.equal(#plain.t, #along.t)
      for k = 1, #plain.t do
        assert.equal(plain.t[k], along.t[k])
        for i = 1, 2 do assert.equal(plain.y[i][k], along.y[i][k]) end
      end
      assert.is_nil(rawget(along, "sol"))
    end
  end)

  -- Closed forms; the values of (c) by a root to 34 digits and its derivative (checked with an integrator of 80 bits).
  it("are right through switches", function()
    local mode
    local function switch(f, g, options)
      mode = -1
      return ns.solve_ivp(f, { 0, 2 }, { -1 }, with({ method = "DOP853", rtol = 1e-12, atol = 1e-13,
        events = { g = g, direction = 1, apply = function() mode = 1 end } }, options))
    end
    local a = switch(function() return { 2 - mode } end, function(_, y) return y[1] end, { sensitivities = "y0" })
    assert.near(5 / 3, a.y[1][#a.t], 1e-12)
    assert.near(1 / 3, last(a)[1][1], 1e-12)
    local b = switch(function(_, _, c, d) return { c - d * mode } end, function(_, y) return y[1] end,
      { args = { 2, 1 }, sensitivities = { "args" } })
    assert.near(1.7777777777777777, last(b)[1][1], 1e-11)
    assert.near(-1.5555555555555556, last(b)[1][2], 1e-11)
    local c = switch(function(t) return { math.cos(t) + 2 - mode } end, function(t, y) return y[1] - math.sin(2 * t) / 2 end,
      { sensitivities = { "y0" } })
    assert.near(0.3276276878016179, c.t_events[1][1], 1e-11)
    assert.near(2.5645528024289175, c.y[1][#c.t], 1e-11)
    assert.near(0.36586771714650107, last(c)[1][1], 1e-10)
  end)

  -- The simplest walking model (Garcia et al. 1998) at slope 0.009: the gait by multiple precision, its multipliers to 7 digits.
  it("give the multipliers of a walker's gait", function()
    local function walk(_, y)
      local dd = math.sin(y[1] - 0.009)
      return { y[2], dd, y[4], dd + (y[2] ^ 2 - math.cos(y[1] - 0.009)) * math.sin(y[3]) }
    end
    local function start(p) return { p[1], p[2], 2 * p[1], (1 - math.cos(2 * p[1])) * p[2] } end
    local p = { 0.20031090054424708, -0.19983247300495235 }
    local sol = ns.solve_ivp(walk, { 0, 5 }, start(p), { method = "DOP853", rtol = 1e-12, atol = 1e-13,
      sensitivities = { "y0" }, events = { g = function(_, y) return y[3] - 2 * y[1] end, direction = 1, terminal = 2 } })
    assert.near(3.882463752851374, sol.t_events[1][2], 1e-8)
    local y = {}
    for i = 1, 4 do y[i] = sol.y[i][#sol.t] end
    local f, D = walk(0, y), last(sol):copy()
    for i = 1, 4 do
      for j = 1, 4 do D[i][j] = D[i][j] + f[i] * sol.dt_events[1][2][j] end
    end
    local strike = ns.jacobian(function(x) return { -x[1], math.cos(2 * x[1]) * x[2] } end, y)
    local map = strike * D * ns.jacobian(start, p)
    assert.near(2 * -0.19009985042930094, map[1][1] + map[2][2], 1e-6)
    assert.near(0.19009985042930094 ^ 2 + 0.5575987389195217 ^ 2, ns.det(map), 1e-6)
  end)

  it("have the same bits in other units", function()
    local a, b, c = 2 ^ 30, 2 ^ -20, 2 ^ 9
    local function bits(u, v, w, method)
      local sol = ns.solve_ivp(function(t, y, k)
        return { y[2] / v * u, (-math.sin(y[1] / u) * (k / w) - 0.1 * y[2] / v) * v }
      end, { 0, 4 }, { u, 0 }, { method = method, rtol = 1e-8, atol = { 1e-10 * u, 1e-10 * v }, args = { 1.5 * w },
        sensitivities = { "y0", "args" }, events = { g = function(_, y) return y[1] / u end, direction = -1,
          apply = function(_, y) return { y[1], -0.5 * y[2] } end } })
      return last(sol)
    end
    for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
      local one, two = bits(1, 1, 1, method), bits(a, b, c, method)
      local rows, columns = { a, b }, { a, b, c }
      for i = 1, 2 do
        for j = 1, 3 do assert.equal(one[i][j] * rows[i] / columns[j], two[i][j], method) end
      end
    end
  end)

  it("are read by name", function()
    local sol = ns.solve_ivp(pendulum, { 0, 1 }, { 1, 0 }, pendulum_options)
    local by_a = sol:sensitivity "args[1]"
    assert.equal(#sol.t, by_a:rows())
    assert.equal(last(sol)[2][3], by_a[#sol.t][2])
    assert.equal(last(sol)[1][3], sol:sensitivity(3)[#sol.t][1])
    assert.equal(2, #sol:sensitivity "args[2]")
    assert.equal(3, #sol:sensitivity "args")
    assert.equal("sensitivity: expected a parameter (y0[1], y0[2], args[1], args[2][1], args[2][2]) or its number, got mu",
      select(2, pcall(sol.sensitivity, sol, "mu")):gsub("^.-: sens", "sens"))
    local plain = ns.solve_ivp(pendulum, { 0, 1 }, { 1, 0 }, { args = pendulum_options.args })
    assert.truthy(select(2, pcall(function() return plain:sensitivity(1) end)):find(
      "sensitivity: the result has none; give solve_ivp the option sensitivities", 1, true))
  end)

  it("events of the time alone may happen at the start, and together", function()
    local function clock(t) return math.sin(2 * math.pi * t) end -- the control y[2] = -2 k y[1] at 0, 1/2, 1 ...
    local options = { method = "DOP853", rtol = 1e-11, atol = 1e-13, args = { 0.5 }, events = {
      { g = clock, apply = function(_, y, k) return { y[1], -k * y[1] } end },
      { g = clock, apply = function(_, y) return { y[1], 2 * y[2] } end } } }
    local function f(_, y) return { y[2], 0 } end
    local sol = ns.solve_ivp(f, { 0, 1.25 }, { 1, 0 }, with(options, { sensitivities = { "y0", "args" } }))
    near(sol.y[1][#sol.t], (1 - 0.5) ^ 2 * (1 - 0.25), 1e-10) -- y[1] (1 - 2 k h) in each half, h = 1/2, then h = 1/4
    near(sol.S[#sol.t][1][1], 0.1875, 1e-9)
    near(sol.S[#sol.t][1][2], 0, 1e-12)
    near(sol.S[#sol.t][1][3], -2 * 0.5 * 0.75 - 0.25 * 0.5, 1e-9)
    local _, gradient = ns.ivp_gradient(f, { 0, 1.25 }, { 1, 0 }, with(options, { parameters = { "y0", "args" },
      terminal = function(y) return y[1] end }))
    near(gradient[3], -0.875, 1e-9)
  end)

  it("tell where there is no derivative", function()
    local function message(f, ...)
      local ok, text = pcall(f, ...)
      assert.is_false(ok)
      return (text:gsub("^[^:]+:%d+: ", ""))
    end
    -- the ball just reaches a ceiling at its highest point
    local function throw(options)
      return ns.solve_ivp(function(_, y) return { y[2], -10 } end, { 0, 0.7 }, { 0, 5 }, with({ method = "DOP853",
        rtol = 1e-10, atol = 1e-12, events = { g = function(_, y) return 1.25 - 1e-15 - y[1] end, name = "ceiling",
          apply = function(_, y) return { y[1], -0.5 * y[2] } end } }, options))
    end
    local text = message(throw, { sensitivities = { "y0" } })
    assert.truthy(text:find("solve_ivp: sensitivities: the solution only touches event 1 (ceiling) (t=0.", 1, true), text)
    assert.truthy(text:find("there is no derivative (on_grazing = 'one-sided' takes the side without it)", 1, true), text)
    near(last(throw { sensitivities = { "y0", on_grazing = "one-sided" } }), ns.matrix { { 1, 0.7 }, { 0, 1 } }, 1e-3)

    local both = { { g = function(_, y) return y[1] end, apply = function(_, y) return { 0, -y[2] } end, direction = -1 },
      { g = function(_, y) return 2 * y[1] end, apply = function(_, y) return { 0, 2 * y[2] } end, direction = -1 } }
    text = message(ball, { 0, 1 }, { events = both, sensitivities = { "y0" } })
    assert.truthy(text:find("event 1 and event 2 happen at the same time (t=0.447213", 1, true), text)
    text = message(ball, { 0, 1 }, { sensitivities = { "y0" },
      events = { g = function(t, y) return t + y[2] end, apply = function() end, name = "begin" } })
    assert.truthy(text:find("event 1 (begin) happens at the start (t=0): there is no derivative", 1, true), text)
    local mode = 1
    text = message(ns.solve_ivp, function() return { mode } end, { 0, 2 }, { -1 }, { sensitivities = { "y0" },
      events = { g = floor.g, apply = function() mode = -mode end } })
    assert.truthy(text:find("sensitivities: event 1: each call of apply changes f (t=1): it is called twice, so it may set a "
      .. "variable, but not toggle or count", 1, true), text)
    local function option(value, args)
      local told = message(ns.solve_ivp, pendulum, { 0, 1 }, { 1, 0 }, { args = args or { 1, { 2, 3 } }, sensitivities = value })
      return (told:gsub("(got %a+) .*$", "%1"))
    end
    text = message(ns.solve_ivp, pendulum, { 0, 1 }, { 1, 0 }, with(pendulum_options, {
      jac = function(_, y, a, b) return { { 0, 1 }, { -a * math.cos(y[1]), b[1] } } end }))
    assert.equal("solve_ivp: sensitivities: jac[2][2] is 0.1, the derivative of f is -0.1 (t=0.0): jac must be exact", text)
    local names = "'y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]'"
    assert.equal("solve_ivp: sensitivities: expected a list of names, got number", option(3))
    assert.equal("solve_ivp: sensitivities[1]: expected a name (" .. names .. "), got number", option { 3 })
    for _, name in ipairs { "x0", "y0[0]", "y0[1", "y0[]", "y0[1][2]", "args[-1]", "args[1][2]k", "args[1][2][1]" } do
      assert.equal("solve_ivp: sensitivities[1]: expected " .. names .. ", got '" .. name .. "'", option { name })
    end
    assert.equal("solve_ivp: sensitivities[2]: 'y0[3]': y0 has 2 elements", option { "y0", "y0[3]" })
    assert.equal("solve_ivp: sensitivities[1]: 'args[3]': there are 2 args", option { "args[3]" })
    assert.equal("solve_ivp: sensitivities[1]: args[2] has no element 3", option { "args[2][3]" })
    assert.equal("solve_ivp: sensitivities[1]: args[1]: expected a number, a vector or a list of numbers",
      option({ "args[1]" }, { "one", { 2, 3 } }))
    assert.equal("solve_ivp: sensitivities: expected at least one parameter (" .. names .. ")", option {})
    assert.equal("solve_ivp: sensitivities: unknown option 'atol' (known: rtol, on_grazing)", option { "y0", atol = 1 })
    assert.equal("solve_ivp: sensitivities: rtol: expected a number between 0 and 1, got number", option { "y0", rtol = 2 })
    assert.equal("solve_ivp: sensitivities: on_grazing: expected 'error' or 'one-sided', got string",
      option { "y0", on_grazing = "both" })
  end)
end)
