-- Events of ns.dae: where they are, what they change, consistent restarts, what is told.
local ns = require "nslua"
local fails = require "expect".fails

local kinds = { "radau" }
if pcall(ns.dae, "ida", function() end) then kinds[2] = "ida" end

local function each_kind(run)
  for _, kind in ipairs(kinds) do run(kind) end
end

-- A ball over the floor, its acceleration an algebraic unknown.
local function ball(kind, ts, event, o)
  o = o or {}
  o.rtol, o.atol, o.consistent, o.events = 1e-10, 1e-12, "solve", event
  return ns.dae(kind, function(_, y, yd, r)
    r[1], r[2], r[3] = yd[1] - y[2], yd[2] - y[3], y[3] + 9.81
  end, o):solve(ts, { 1, 0, 0 })
end

local function floor(e)
  return { g = function(_, y) return y[1] end, direction = -1, name = "floor",
    apply = function(_, y) return { 0, -e * y[2], 7 } end }
end

local pendulum = require "pendulum"(3)

local function swing(kind, event, T)
  return ns.dae(kind, pendulum, { rtol = 1e-9, atol = 1e-11, consistent = "solve", index = { 1, 1, 2, 2, 3 }, events = event })
    :solve(ns.linspace(0, T or 3, 7), { 1, 0, 0, 0, 0 })
end

describe("events of ns.dae", function()
  local fall = math.sqrt(2 / 9.81)

  it("act, and algebraic unknowns and derivatives are consistent after them", function()
    each_kind(function(kind)
      local sol = ball(kind, { 0, 0.5, 1 }, floor(0.5))
      assert.equal(0, sol.flag)
      assert.equal("completed", sol.message)
      assert.equal(2, #sol.t_events[1])
      for k = 1, 2 do
        local v = 9.81 * fall * 0.5 ^ (k - 1)
        assert.near(k * fall, sol.t_events[1][k], 1e-12)
        assert.near(-v, sol.y_events[1][k][2], 1e-11)
        assert.near(0.5 * v, sol.y_events_after[1][k][2], 1e-11)
        assert.near(-9.81, sol.y_events_after[1][k][3], 1e-12)
        assert.near(0.5 * v, sol.ydot_events_after[1][k][1], 1e-11)
        assert.near(-v, sol.ydot_events[1][k][1], 1e-11)
      end
      local t, y = sol.values.t, sol.values.y
      assert.equal(7, #t) -- three times, and both sides of two events
      assert.equal(t[2], t[3])
      assert.near(0.5 * 9.81 * fall * (0.5 - fall) - 9.81 / 2 * (0.5 - fall) ^ 2, y[4][1], 1e-11)
    end)
  end)

  it("end the run, at the first or the k-th occurrence, and are recorded without acting", function()
    each_kind(function(kind)
      local event = floor(0.5)
      event.terminal = 2
      local sol = ball(kind, { 0, 5 }, { event, function(_, y) return y[1] - 0.5 end, function(_, _, yd) return yd[1] + 1 end })
      assert.equal(1, sol.flag)
      assert.is_true(sol.success)
      assert.equal("event 1 (floor) ended the integration", sol.message)
      assert.near(2 * fall, sol.values.t[#sol.values.t], 1e-12)
      assert.equal(1, #sol.t_events[2])
      assert.near(math.sqrt(1 / 9.81), sol.t_events[2][1], 1e-9)
      assert.near(1 / 9.81, sol.t_events[3][1], 1e-9)
      assert.equal(2, #sol.t_events[3])
    end)
  end)

  it("that accumulate end the run", function()
    each_kind(function(kind)
      local sol = ball(kind, { 0, 5 }, floor(0.5))
      assert.equal(-1, sol.flag)
      assert.truthy(sol.message:find "^event 1 %(floor%) occurs more and more often: its occurrences accumulate %(t=1.35457092")
      assert.near(3 * fall, sol.values.t[#sol.values.t], 1e-11)
      assert.near(3 * fall, sol.errors.t, 1e-11)
    end)
  end)

  it("restart mechanisms of index 3 with the forces of the new velocities", function()
    each_kind(function(kind)
      local sol = swing(kind, { g = function(_, y) return y[1] + 0.5 end, apply = function(_, y)
        return { y[1], y[2], -0.5 * y[3], -0.5 * y[4], 0 }
      end })
      assert.equal("completed", sol.message)
      assert.near(-0.5, sol.y_events[1][1][1], 1e-10)
      for k = 1, #sol.t_events[1] do
        local y = sol.y_events_after[1][k]
        assert.near(y[3] ^ 2 + y[4] ^ 2 - 9.81 * y[2], y[5], 1e-8)
        assert.near(0, y[1] * y[3] + y[2] * y[4], 1e-9)
        assert.near(-y[5] * y[1], sol.ydot_events_after[1][k][3], 1e-9)
      end
      local after, last = sol.y_events_after[1][1], sol.values.y[#sol.values.t]
      if kind == "radau" and #sol.t_events[1] == 1 then
        local function energy(y) return (y[3] ^ 2 + y[4] ^ 2) / 2 + 9.81 * y[2] end
        assert.near(energy(after), energy(last), 1e-6)
      end
    end)
  end)

  it("say what makes a state impossible, and keep what was computed", function()
    each_kind(function(kind)
      local sol = swing(kind, { g = function(_, y) return y[1] + 0.5 end, name = "wall", apply = function(_, y)
        return { y[1], y[2], -y[3], y[4], 0 }
      end })
      assert.equal(-1, sol.flag)
      assert.truthy(sol.message:find("event 1 (wall) (t=0.71300", 1, true))
      assert.truthy(sol.message:find("no consistent values after it: equation 5, differentiated once with respect to time, is not "
        .. "fulfilled: unknowns that have a derivative would have to change", 1, true), sol.message)
      assert.near(0.713008, sol.values.t[#sol.values.t], 1e-5)
    end)
    local sol = ball("radau", { 0, 1 }, { g = function(_, y) return y[1] end, apply = function() return { 0, 0 / 0, 1 } end })
    assert.equal(-1, sol.flag)
    assert.equal("event 1: apply[2] is nan (t=0.451523641)", sol.message)
    assert.equal(2, #sol.values.t)
  end)

  it("raise what apply raises, and where it returns something else than a state", function()
    local function bad(value, text)
      fails(text, ball, "radau", { 0, 1 }, { g = function(_, y) return y[1] end, apply = function()
        return value == "no" and error "no" or value
      end })
    end
    bad("no", ": no")
    bad({ 1 }, "dae: event 1: apply: expected 3 numbers, got 1")
    bad("x", "dae: event 1: apply: expected a list of 3 numbers, got string")
    bad({ 1, "x", 2 }, "dae: event 1: apply: expected a list of 3 numbers, got table")
  end)

  it("refuse bad options by their names", function()
    local function refused(event, text)
      local ok, message = pcall(ns.dae, "radau", pendulum, { events = event })
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    refused(1, "dae: events: expected a function or a list of events, got number")
    refused({ pendulum, 2 }, "dae: event 2: expected a function or a table with the function g, got number")
    refused({ apply = pendulum }, "dae: event 1: expected a function or a table with the function g, got nil")
    refused({ g = pendulum, apply = 1 }, "dae: event 1: apply: expected a function, got number")
    refused({ g = pendulum, name = 1 }, "dae: event 1: name: expected a string, got number")
    refused({ g = pendulum, direction = "up" }, "dae: event 1: direction: expected a number, got string")
    refused({ g = pendulum, terminal = 1.5 }, "dae: event 1: terminal: expected a boolean or a number of occurrences, got number")
    refused({ g = pendulum, when = 1 }, "dae: event 1: unknown option 'when' (known: g, apply, direction, terminal, name)")
    refused({ pendulum, when = 1 }, "dae: events: unknown option 'when' (known: g, apply, direction, terminal, name)")
    refused(ns.vector { 1 }, "dae: events: expected a function or a list of events, got userdata")
    local ok, message = pcall(ball, "radau", { 0, 1 }, { g = function() end, name = "none" })
    assert.is_false(ok)
    assert.truthy(message:find("dae: event 1 (none): expected a number, got nil", 1, true), message)
    local sol = ball("radau", { 0, 1 }, function(t) return t > 0.3 and 0 / 0 or 1 end)
    assert.equal(-1, sol.flag)
    assert.truthy(sol.message:find("event 1 is nan (t=0.3", 1, true), sol.message)
  end)

  it("go backward, and leave runs without events as they are", function()
    local function decay(_, y, yd, r) r[1] = yd[1] - y[1] end
    each_kind(function(kind)
      local sol = ns.dae(kind, decay, { rtol = 1e-9, events = { g = function(t) return t - 1 end,
        apply = function(_, y) return { 10 * y[1] } end } }):solve({ 2, 1.5, 0 }, { 1 }, { 1 })
      assert.near(10 * math.exp(-2), sol.values.y[#sol.values.t][1], 1e-6)
      assert.equal(5, #sol.values.t)
      local plain = ns.dae(kind, decay, { rtol = 1e-9 }):solve({ 0, 0.3, 2 }, { 1 }, { 1 })
      local watched = ns.dae(kind, decay, { rtol = 1e-9, events = function(t) return t + 1 end }):solve({ 0, 0.3, 2 }, { 1 }, { 1 })
      assert.equal(plain.values.y[3][1], watched.values.y[3][1])
      assert.equal(plain.stats.residuals, watched.stats.residuals)
    end)
  end)
end)
