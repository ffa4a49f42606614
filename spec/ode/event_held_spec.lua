-- Events that an action, or the motion itself, holds at zero have no roots by errors of integration; bounces, however low, have.
local ns = require "nslua"
local campaign = require "campaign"
local count, report = campaign(2, 0.005)

-- A motion whose distance from a curve falls at a constant rate until an action holds it at 0, in its own units; the exact answer.
local function random_surface(rng)
  local s = { unit = 2.0 ^ math.floor(rng:uniform(-20, 20)), time = 2.0 ^ math.floor(rng:uniform(-10, 10)),
    a = rng:uniform(0.3, 2), b = rng:uniform(-1, 1),
    rate = rng:uniform(0.2, 1), omega = rng:uniform(1, 6), far = rng:uniform(0.2, 1.5) }
  local kind = rng:uniform(0, 3) // 1
  function s.curve(x) return kind == 0 and x ^ 2 / 2 or kind == 1 and math.sin(x) or x * (1 + x) end
  function s.slope(x) return kind == 0 and x or kind == 1 and math.cos(x) or 1 + 2 * x end
  local function place(t) return s.a * math.sin(s.omega * t) / s.omega + s.b * t end
  s.held = s.far / s.rate
  s.T = s.held + rng:uniform(1, 6)
  local function crossings(level)
    local times, last = 0, place(0) - level
    for k = 1, 5000 do
      local g = place(s.T * k / 5000) - level
      if g * last < 0 then times = times + 1 end
      last = g
    end
    return times
  end
  local wide = 0.2
  repeat -- errors of the run must not decide whether the level is crossed
    s.level, wide = place(s.held) + rng:uniform(-wide, wide), wide * 1.1
    s.crossings = crossings(s.level)
  until crossings(s.level - 0.04) == s.crossings and crossings(s.level + 0.04) == s.crossings
  function s.f(t, y)
    local v = s.a * math.cos(s.omega * t / s.time) + s.b
    return { (v * s.slope(y[2] / s.unit) - (1 - y[3]) * s.rate) * s.unit / s.time, v * s.unit / s.time, 0 }
  end
  s.start = { (s.far + s.curve(0)) * s.unit, 0, 0 }
  return s
end

local function judge(s, sol, rtol, what)
  local times = sol.t_events[1]
  assert.equal(1, #times, what)
  assert.near(s.held, times[1] / s.time, 1e-3 + 400 * rtol, what)
  assert.equal(s.crossings, #sol.t_events[2], what)
end

-- The two events; the second one, a real crossing, acts, too, or does not.
local function events(s, g, hold, acts, direction)
  return { { g = g, direction = direction, apply = hold },
    { g = function(_, y) return y[2] - s.level * s.unit end, apply = acts and function() end or nil } }
end

describe("an event that is held at zero", function()
  it("by its own action occurs once, with every method and tolerance, in all units", function()
    local rng = ns.rng(511)
    for _ = 1, count do
      local s = random_surface(rng)
      local function g(_, y) return y[1] - s.curve(y[2] / s.unit) * s.unit end
      local function hold(_, y) return { y[1], y[2], 1 } end
      for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
        for _, rtol in ipairs(method == "BDF" and { 1e-3, 1e-6 } or { 1e-3, 1e-6, 1e-9 }) do
          local acts, direction = rng:uniform(0, 1) < 0.5, rng:uniform(0, 1) < 0.5 and -1 or 0
          local sol = ns.solve_ivp(s.f, { 0, s.T * s.time }, s.start, { method = method, rtol = rtol,
            atol = { rtol / 100 * s.unit, rtol / 100 * s.unit, rtol }, events = events(s, g, hold, acts, direction) })
          local what = ("%s %g %s: %s"):format(method, rtol, acts, sol.message)
          assert.equal(0, sol.status, what)
          judge(s, sol, rtol, what)
        end
      end
    end
    report("events held at zero", count)
  end)

  it("does so in ns.dae, where it reads an algebraic unknown", function()
    local rng = ns.rng(512)
    for _ = 1, count do
      local s = random_surface(rng)
      local function residual(t, y, yd, r)
        local f = s.f(t, y)
        for i = 1, 3 do r[i] = yd[i] - f[i] end
        r[4] = y[4] - s.curve(y[2] / s.unit) * s.unit
      end
      local function g(_, y) return y[1] - y[4] end
      local function hold(_, y) return { y[1], y[2], 1, y[4] } end
      for _, rtol in ipairs { 1e-4, 1e-6, 1e-9 } do
        local acts, direction = rng:uniform(0, 1) < 0.5, rng:uniform(0, 1) < 0.5 and -1 or 0
        local tiny = rtol / 100 * s.unit
        local solver = ns.dae("radau", residual, { rtol = rtol, atol = { tiny, tiny, rtol, tiny }, consistent = "solve",
          events = events(s, g, hold, acts, direction) })
        local sol = solver:solve({ 0, s.T * s.time }, { s.start[1], 0, 0, 0 })
        local what = ("%g %s: %s"):format(rtol, acts, sol.message)
        assert.equal(0, sol.flag, what)
        judge(s, sol, rtol, what)
      end
    end
  end)

  it("is let go by a motion that leaves zero, at a jump of its rate, and its return counts", function()
    local rng = ns.rng(513)
    for _ = 1, 2 * count do
      local rate, leave, turn = 10 ^ rng:uniform(-2, 3), rng:uniform(2, 3), rng:uniform(0.2, 1)
      if rng:uniform(0, 1) < 0.5 then rate = -rate end
      for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
        local function f(t, y)
          local v = math.cos(t)
          local away = t < leave and 0 or t < leave + turn and rate or -rate
          return { v * math.cos(y[2]) + (y[3] > 0.5 and y[3] < 1.5 and away or 0) - (y[3] < 0.5 and 0.7 or 0), v, 0 }
        end
        local sol = ns.solve_ivp(f, { 0, leave + 2 * turn + 1 }, { 1.3, 0, 0 }, { method = method, rtol = 1e-6, atol = 1e-8,
          events = { g = function(_, y) return y[1] - math.sin(y[2]) end,
            apply = function(_, y) return { y[1], y[2], y[3] + 1 } end } })
        local times, what = sol.t_events[1], ("%s %g %g %g"):format(method, rate, leave, turn)
        assert.equal(0, sol.status, what)
        assert.equal(2, #times, what)
        assert.near(1.3 / 0.7, times[1], 1e-3, what)
        assert.near(leave + 2 * turn, times[2], 2e-3 + 5e-4 / math.abs(rate), what)
      end
    end
  end)

  it("does not keep a terminal event from ending the run", function()
    for _, rtol in ipairs { 1e-3, 1e-8, 1e-13 } do
      local sol = ns.solve_ivp(function(_, x) return { x[2], x[3], 0 } end, { 0, 10 }, { 1, 0.5, -1 }, { method = "DOP853",
        rtol = rtol, atol = rtol / 10, events = {
          { g = function(_, x) return x[1] - x[2] ^ 2 / 2 end, direction = -1,
            apply = function(_, x) return { x[1], x[2], 1 } end },
          { g = function(_, x) return x[2] end, direction = 1, terminal = true } } })
      assert.equal("event 2 ended the integration", sol.message)
      assert.near(0.5 + 1.5 * math.sqrt(2), sol.t[#sol.t], 1e-9)
      assert.equal(1, #sol.t_events[1])
    end
  end)

  it("from the start on counts once there, in any direction", function()
    for _, method in ipairs { "RK45", "DOP853", "Radau" } do
      for direction = -1, 1 do
        local sol = ns.solve_ivp(function(_, y) return { -y[2], y[1] } end, { 0, 10 }, { 1, 0 }, { method = method, rtol = 1e-6,
          atol = 1e-9, events = { g = function(_, y) return y[1] ^ 2 + y[2] ^ 2 - 1 end, direction = direction } })
        assert.equal(1, #sol.t_events[1], method)
        assert.equal(0, sol.t_events[1][1])
      end
    end
  end)

  it("is free again when another event moves it, and its next crossing counts", function()
    for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
      local sol = ns.solve_ivp(function(t, y) -- y1 - y2 falls, is held at 0 from t = 1 to 2, rises, and falls to 0 at t = 4
        return { math.cos(t) + y[3], math.cos(t), 0 }
      end, { 0, 4.5 }, { 1, 0, -1 }, { method = method, rtol = 1e-6, atol = 1e-8, events = {
        { g = function(_, y) return y[1] - y[2] end, direction = -1,
          apply = function(t, y) return { y[1], y[2], t < 3 and 0 or -1 } end },
        { g = function(t) return t - 2 end, apply = function(_, y) return { y[1], y[2], 1 } end },
        { g = function(t) return t - 3 end, apply = function(_, y) return { y[1], y[2], -1 } end } } })
      assert.equal(0, sol.status, sol.message)
      assert.equal(2, #sol.t_events[1], method)
      assert.near(1, sol.t_events[1][1], 1e-4)
      assert.near(4, sol.t_events[1][2], 1e-4)
    end
  end)
end)

describe("bounces", function()
  it("accumulate where they do, on floors that move, with every restitution", function()
    for _, method in ipairs { "RK45", "DOP853", "Radau" } do
      for _, e in ipairs { 0.5, 0.03, 1e-4 } do
        local sol = ns.solve_ivp(function(_, y) return { y[2], -9.81, 3 } end, { 0, 10 }, { 1, 3, 0 }, { method = method,
          rtol = 1e-8, atol = 1e-8, events = { g = function(_, y) return y[1] - y[3] end, direction = -1, name = "floor",
            apply = function(_, y) return { y[3], 3 - e * (y[2] - 3), y[3] } end } })
        assert.matches("event 1 (floor) occurs more and more often: its occurrences accumulate (t=", sol.message, 1, true)
        assert.near(math.sqrt(2 / 9.81) * (1 + 2 * e / (1 - e)), sol.t[#sol.t], 1e-5)
      end
    end
  end)
end)
