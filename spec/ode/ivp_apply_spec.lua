-- Events that act: jumps of the state, restarts, both sides of each, accumulations that end.
local ns = require "nslua"
local fails = require "expect".fails
local p = require "ode.problems"

local function each_method(run)
  for _, method in ipairs(p.methods) do run(method) end
end

-- A ball over the floor: falls with g, and bounces with restitution e.
local function ball(e, o)
  o = o or {}
  o.method, o.rtol, o.atol = o.method or "DOP853", o.rtol or 1e-10, o.atol or 1e-12
  o.events = { g = function(_, y) return y[1] end, direction = -1, name = "floor",
    apply = function(_, y) return { 0, -e * y[2] } end, terminal = o.terminal }
  local T = o.T or 10
  o.T, o.terminal = nil, nil
  return ns.solve_ivp(function(_, y) return { y[2], -9.81 } end, { 0, T }, { 1, 0 }, o)
end

local first_fall = math.sqrt(2 / 9.81)

describe("an event that acts", function()
  it("act once on a state that they leave as it is, however near to 0 the event is at the start", function()
    for _, eps in ipairs { 0, 2.0 ^ -53, 2.0 ^ -40, 1e-10, -2.0 ^ -53 } do
      for _, method in ipairs { "RK45", "DOP853", "BDF", "Radau" } do
        local count, slope = 0, 1
        local sol = ns.solve_ivp(function() return { slope } end, { 0, 2 }, { 1 - eps }, { method = method,
          events = { g = function(_, y) return y[1] - 1 end, apply = function() count, slope = count + 1, 0.5 end } })
        assert.equal(1, count, method .. " " .. eps)
        assert.equal("the end of the interval was reached", sol.message)
        assert.near(2, sol.y[1][#sol.t], 1e-6)
        -- sin(t) - eps rises through 0 three times besides, and falls four times
        local crossings = ns.solve_ivp(function(t) return { math.cos(t) } end, { 0, 20 }, { -eps }, { method = method,
          events = { g = function(_, y) return y[1] end, direction = 1, apply = function() end } })
        assert.equal(eps >= 0 and 4 or 3, #crossings.t_events[1])
      end
    end
  end)

  it("changes the state, and the integration goes on, with every method", function()
    each_method(function(method)
      local sol = ball(0.5, { method = method, T = 1.3, rtol = 1e-8, atol = 1e-10, dense_output = true })
      assert.equal(0, sol.status, method)
      assert.equal("the end of the interval was reached", sol.message)
      for k, t in ipairs { first_fall, 2 * first_fall, 2.5 * first_fall } do
        local v = 9.81 * first_fall * 0.5 ^ (k - 1)
        assert.near(t, sol.t_events[1][k], 1e-6)
        assert.near(-v, sol.y_events[1][k][2], 1e-5)
        assert.near(0.5 * v, sol.y_events_after[1][k][2], 1e-5)
        assert.equal(sol.y_events_after[1][k][2], sol.sol(sol.t_events[1][k])[2])
        assert.equal(sol.y_events[1][k][2], sol.sol(sol.t_events[1][k], "before")[2])
        assert.near(0, sol.sol(t - 1e-8)[1], 1e-5)
        assert.near(0.5 * v, sol.sol(t + 1e-5)[2], 1e-3)
      end
      local t = 1.2 * first_fall
      assert.near(0.5 * 9.81 * first_fall - 9.81 * 0.2 * first_fall, sol.sol(t)[2], 1e-5)
    end)
  end)

  it("has both sides in the solution, and the side after it at the times wanted", function()
    local sol = ball(0.5, { T = 0.6 })
    local found = 0
    for k = 2, #sol.t do
      if sol.t[k] == sol.t[k - 1] then
        found = found + 1
        assert.equal(sol.t_events[1][found], sol.t[k])
        assert.near(-0.5 * sol.y[2][k - 1], sol.y[2][k], 1e-14)
      end
    end
    assert.equal(1, found)
    local hit = sol.t_events[1][1]
    local at = ball(0.5, { T = 0.6, t_eval = { 0, 0.1, hit, 0.5, 0.6 } })
    assert.equal(5, #at.t)
    assert.is_true(at.y[2][3] > 0)
    assert.near(at.y_events_after[1][1][2] - 9.81 * (0.6 - hit), at.y[2][5], 1e-12)
  end)

  it("counts toward the end, acts before it, and may change parameters alone", function()
    local sol = ball(0.5, { terminal = 2 })
    assert.equal(1, sol.status)
    assert.equal("event 1 (floor) ended the integration", sol.message)
    assert.equal(2, #sol.t_events[1])
    assert.is_true(sol.y[2][#sol.t] > 0)
    each_method(function(method)
      local a = 1
      local way = ns.solve_ivp(function() return { a } end, { 0, 10 }, { 0 }, { method = method,
        events = { g = function(_, y) return y[1] - 2 end, apply = function() a = -3 end } })
      assert.near(2 - 3 * 8, way.y[1][#way.t], 1e-9)
      assert.equal(1, #way.t_events[1])
    end)
  end)

  it("acts in the order of the list, each on what the one before left", function()
    local seen = {}
    local function event(name, scale)
      return { g = function(t) return t - 1 end, name = name, apply = function(_, y)
        seen[#seen + 1] = name
        return { scale * y[1] + 1 }
      end }
    end
    local sol = ns.solve_ivp(function() return { 0 } end, { 0, 2 }, { 1 }, { events = { event("a", 2), event("b", 3) } })
    assert.same({ "a", "b" }, seen)
    assert.equal(10, sol.y[1][#sol.t])
    assert.equal(3, sol.y_events_after[1][1][1])
    assert.equal(3, sol.y_events[2][1][1])
  end)

  it("works backward", function()
    each_method(function(method)
      local sol = ns.solve_ivp(function(_, y) return { y[1] } end, { 2, 0 }, { 1 }, { method = method, rtol = 1e-9, atol = 1e-11,
        dense_output = true, t_eval = { 1.5, 1, 0.5 },
        events = { g = function(t) return t - 1 end, apply = function(_, y) return { 10 * y[1] } end } })
      assert.near(math.exp(-0.5), sol.y[1][1], 1e-6)
      assert.near(10 * math.exp(-1), sol.y[1][2], 1e-5)
      assert.near(10 * math.exp(-1.5), sol.y[1][3], 1e-5)
      assert.near(math.exp(-1), sol.sol(1, "before")[1], 1e-6)
      assert.near(10 * math.exp(-1), sol.sol(1)[1], 1e-5)
      assert.near(10 * math.exp(-1.9), sol.sol(0.1)[1], 1e-5)
    end)
  end)

  it("at t0 acts once, before the first step", function()
    each_method(function(method)
      local sol = ns.solve_ivp(function() return { 1 } end, { 0, 1 }, { 0 }, { method = method, dense_output = true,
        t_eval = { 0, 1 }, events = { g = function(t) return t end, apply = function() return { 5 } end } })
      assert.equal(1, #sol.t_events[1])
      assert.equal(5, sol.y[1][1])
      assert.near(6, sol.y[1][2], 1e-9)
      assert.equal(0, sol.sol(0, "before")[1])
      assert.equal(5, sol.sol(0)[1])
      assert.near(5.5, sol.sol(0.5)[1], 1e-9)
    end)
  end)

  it("at tf acts too", function()
    local sol = ns.solve_ivp(function() return { 1 } end, { 0, 1 }, { 0 },
      { dense_output = true, events = { g = function(t) return t - 1 end, apply = function() return { 5 } end } })
    assert.equal(0, sol.status)
    assert.equal(5, sol.y[1][#sol.t])
    assert.equal(5, sol.sol(1)[1])
    assert.near(1, sol.sol(1, "before")[1], 1e-12)
  end)

  it("does not act again at once, whatever rounding leaves of g, and is not lost", function()
    for _, offset in ipairs { 0, 1, -3e5, 1e9 } do -- the floor's height
      local hits = 0
      local sol = ns.solve_ivp(function(_, y) return { y[2], -9.81 } end, { 0, 3 }, { 1 + offset, 0 }, { rtol = 1e-12, atol = 1e-12,
        method = "DOP853", events = { g = function(_, y) return y[1] - offset end, apply = function(_, y)
          hits = hits + 1
          return { y[1], -y[2] }
        end } })
      assert.equal(0, sol.status, sol.message)
      assert.equal(3, hits)
    end
  end)

  it("ends an accumulation and tells it, with every method and restitution", function()
    for e, tolerance in pairs { [0.9] = 3e-9, [0.5] = 1e-11, [0.1] = 1e-11, [0.01] = 1e-11, [1e-4] = 1e-11, [1e-9] = 1e-11 } do
      each_method(function(method)
        local sol = ball(e, { method = method, T = 100 })
        assert.equal(-1, sol.status, method)
        assert.is_false(sol.success)
        assert.equal(("event 1 (floor) occurs more and more often: its occurrences accumulate (t=%.10g)"):format(sol.t[#sol.t]),
          sol.message)
        local t = first_fall * (1 + 2 * e / (1 - e))
        assert.near(t, sol.t[#sol.t], method == "BDF" and 1e-2 * t or tolerance, method)
      end)
    end
  end)

  it("acts once where the interval ends right after it: the roots by rounding at its start do not count", function()
    local count, report = require "campaign"(40, 0.05)
    local rng = ns.rng(5)
    local function hits(method, T, x, v, rate)
      local times = {}
      local sol = ns.solve_ivp(function(_, y) return { y[2], rate * y[2] - y[1] } end, { 0, T }, { x, v }, { method = method,
        rtol = 1e-12, atol = 1e-12, events = { g = function(_, y) return 1 - y[1] end, apply = function(t, y)
          times[#times + 1] = t
          return { y[1], -y[2] }
        end } })
      assert.equal(0, sol.status, sol.message)
      return times
    end
    for _ = 1, count do
      local x, v, rate = rng:uniform(0, 0.9), rng:uniform(0.8, 1.8), rng:uniform(-0.1, 0.1)
      local at = hits("DOP853", 2, x, v, rate)[1]
      for digits = 9, 15 do
        for _, method in ipairs { "DOP853", "RK45" } do
          assert.is_true(#hits(method, at and at + 10.0 ^ -digits * rng:uniform(1, 6) or 1, x, v, rate) <= 1)
        end
      end
    end
    report("ends right after an event", count)
  end)

  it("ends bounces that rounding keeps from getting lower, and tells it", function()
    for _, place in ipairs { { 6, 1 }, { 1, 0 } } do -- amplitude, wall
      local sol = ns.solve_ivp(function(t, y) return { y[2], place[1] * math.cos(2.4 * t) - y[1] - 0.1 * y[2] } end, { 0, 200 },
        { 0, 0 }, { rtol = 1e-9, atol = 1e-9, events = { name = "wall", direction = -1,
          g = function(_, y) return place[2] - y[1] end, apply = function(_, y) return { y[1], -0.8 * y[2] } end } })
      assert.equal(-1, sol.status)
      assert.matches("event 1 (wall) occurs more and more often: its occurrences accumulate (t=", sol.message, 1, true)
    end
  end)

  it("ends events that trigger each other", function()
    local function event(i)
      return { g = function(_, y) return y[i] end, apply = function() return i == 1 and { 1, 0 } or { 0, 1 } end }
    end
    local sol = ns.solve_ivp(function() return { -1, -1 } end, { 0, 2 }, { 1, 2 }, { events = { event(1), event(2) } })
    assert.equal(-1, sol.status)
    assert.equal("events trigger each other without end: 100 stops at one time (t=1)", sol.message)
  end)

  local function with_wall(apply)
    return ns.solve_ivp(p.oscillator, { 0, 10 }, { 1, 0 }, { events = { { g = function() return 1 end },
      { g = function(_, y) return y[1] end, name = "wall", apply = apply } } })
  end

  it("ends where the new state is not finite, and keeps what was computed", function()
    local sol = with_wall(function() return { 0 / 0, 1 } end)
    assert.equal(-1, sol.status)
    assert.is_true(#sol.t > 3)
    assert.equal(("event 2 (wall): apply[1] is nan (t=%.10g)"):format(sol.t[#sol.t]), sol.message)
    assert.equal("event 2 (wall): apply[2] is inf", with_wall(function() return { 0, 1 / 0 } end).message:match "^(.*) %(")
  end)

  it("raises what apply raises, and where it returns something else than a state", function()
    fails("ivp_apply_spec.lua:", with_wall, function() error "no" end)
    fails(": no", with_wall, function() error "no" end)
    fails("solve_ivp: event 2 (wall): apply: expected a vector of 2, got a list of 1", with_wall, function() return { 1 } end)
    fails("solve_ivp: event 2 (wall): apply: expected a vector of 2, got string", with_wall, function() return "x" end)
    fails("solve_ivp: event 2 (wall): apply[2]: expected a number, got string", with_wall, function() return { 1, "x" } end)
  end)

  it("has answers that scale with the units of state and time", function()
    local reference = ball(0.5, { T = 1.3, first_step = 0.01 })
    for _, k in ipairs { -80, 80 } do
      local u, v = 2.0 ^ k, 2.0 ^ (-k // 2)
      local sol = ns.solve_ivp(function(_, y) return { y[2], -9.81 * u / v ^ 2 } end, { 0, 1.3 * v }, { u, 0 },
        { method = "DOP853", rtol = 1e-10, atol = { 1e-12 * u, 1e-12 * u / v }, first_step = 0.01 * v,
          events = { g = function(_, y) return 4 * y[1] end, direction = -1,
            apply = function(_, y) return { 0, -0.5 * y[2] } end } })
      assert.equal(#reference.t, #sol.t)
      for i = 1, #sol.t do
        assert.equal(reference.t[i] * v, sol.t[i])
        assert.equal(reference.y[2][i] * u / v, sol.y[2][i])
      end
    end
  end)

  local function known(name) return dofile("spec/reference/events/" .. name .. ".lua") end

  local function check(name, got)
    for key, want in pairs(known(name)) do
      local list = type(want[1]) == "table" and want[1] or { want[1] }
      for i, value in ipairs(got[key] and list or {}) do
        local off = math.abs(value - (type(got[key]) == "table" and got[key][i] or got[key]))
        assert.is_true(off <= want.tolerance * math.max(1, math.abs(value)), ("%s[%d]: off by %.2g"):format(key, i, off))
      end
    end
  end

  local precise = { method = "DOP853", rtol = 1e-13, atol = 1e-14 }
  local function solve(f, span, y0, events)
    return ns.solve_ivp(f, span, y0, { method = precise.method, rtol = precise.rtol, atol = precise.atol, events = events })
  end

  it("follows a long sequence of crossings, and the derivative by a parameter with its jumps", function()
    local a, b = 0.5, -0.3 -- the force where x > 0 and where x < 0; y[3], y[4]: derivative by a
    local function force(x) return x > 0 and a or b end
    local side = 1
    local sol = solve(function(_, y) return { y[2], -y[1] - force(side), y[4], -y[3] - (side > 0 and 1 or 0) } end, { 0, 20 },
      { 0, 1, 0, 0 }, { g = function(_, y) return y[1] end, apply = function(t, y)
        if t == 0 then return end
        side = -side
        return { y[1], y[2], y[3], y[4] - (force(side) - force(-side)) * y[3] / y[2] }
      end })
    local times = sol.t_events[1]:totable()
    if times[1] == 0 then table.remove(times, 1) end
    local last = #sol.t
    check("crossing_sequence", { t_cross = times, x_20 = { sol.y[1][last], sol.y[2][last] }, period = times[2],
      dx20_da = { sol.y[3][last], sol.y[4][last] } })
  end)

  it("switches on a circle, with the matrix of derivatives by the start", function()
    local w = 2 * math.pi
    local function f(_, y)
      local d = {}
      for k = 1, 5, 2 do d[k], d[k + 1] = y[k] + w * y[k + 1], y[k + 1] - w * y[k] end
      return d
    end
    local sol = solve(f, { 0, 1.7 }, { math.exp(-1), 0, 1, 0, 0, 1 },
      { g = function(_, y) return y[1] ^ 2 + y[2] ^ 2 - 1 end, apply = function(t, y)
        local before, new = f(t, y), y:totable()
        w = -w
        local after = f(t, y)
        for k = 3, 5, 2 do
          local s = (y[1] * y[k] + y[2] * y[k + 1]) / (y[1] * before[1] + y[2] * before[2])
          for i = 1, 2 do new[k - 1 + i] = y[k - 1 + i] + (after[i] - before[i]) * s end
        end
        return new
      end })
    local last, y = #sol.t, sol.y
    check("fesd_unit_disc", { t_switch = sol.t_events[1][1], x_1p7 = { y[1][last], y[2][last] } })
    for i = 1, 2 do
      for j = 1, 2 do
        local want = known "fesd_unit_disc".dx_dx0
        if want then assert.near(want[1][i][j], y[2 * j + i][last], 1e-7 * math.max(1, math.abs(want[1][i][j]))) end
      end
    end
  end)

  it("finds the multipliers of an orbit with an impact", function()
    local e, T = 0.8, 2 * math.pi
    local want = known "coco_impact_orbit"
    local function f(t, y)
      return { y[2], math.cos(t) - 0.1 * y[2] - y[1], y[4], -0.1 * y[4] - y[3], y[6], -0.1 * y[6] - y[5] }
    end
    local sol = solve(f, { 0, T }, { want.a_state[1][1], want.a_state[1][2], 1, 0, 0, 1 },
      { g = function(_, y) return y[1] - 1 end, direction = 1, apply = function(t, y)
        local new = y:totable()
        new[2] = -e * y[2]
        local s = (f(t, new)[2] + e * f(t, y)[2]) / y[2]
        for k = 3, 5, 2 do new[k], new[k + 1] = -e * y[k], -e * y[k + 1] + s * y[k] end
        return new
      end })
    local last, y = #sol.t, sol.y
    check("coco_impact_orbit", { a_state = { y[1][last], y[2][last] }, a_t_impact = sol.t_events[1][1],
      a_v = { sol.y_events[1][1][2], sol.y_events_after[1][1][2] } })
    assert.near(2 * -0.5842953143415296, y[3][last] + y[6][last], 1e-9) -- the sum and the product of the multipliers
    assert.near(math.exp(-0.2 * math.pi) * e ^ 2, y[3][last] * y[6][last] - y[4][last] * y[5][last], 1e-9)
  end)
end)
