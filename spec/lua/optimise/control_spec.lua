-- Optimal control with relays: a cart with dry friction against closed forms, a car with a turbo, a tank with a valve.
local expect = require "expect"
local ns = require "nslua"
local message, with = expect.message, expect.with

local here = package.searchpath("nslua.ipopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.ipopt is not built: make optimisers)") end
local cases, done = require "campaign"(4, 0.01)
local elements = os.getenv "NSLUA_SOAK" and 200 or 16

-- A cart of mass 1 with dry friction, from rest at 0 to rest at 1.
local function cart(options)
  options.states, options.controls, options.relays = { "x", "v" }, { "u" }, { { "s", function(x) return x.v end } }
  options.rhs = function(x, u, s, p) return { x.v, u.u - p.friction * s.s } end
  options.parameters, options.start, options.goal = { friction = 2 }, { x = 0, v = 0 }, { x = 1, v = 0 }
  options.elements = elements
  return ns.optimal_control(options)
end

local function effort(_, u) return u.u ^ 2 end
local function time(_, T) return T end

describe("ns.optimal_control #once", function()
  test("finds the least effort of a cart with dry friction: it waits, then moves", function()
    -- 12 / tau^3 + 4 tau is least at tau = sqrt(3)
    local best = cart { T = 2, cost = effort }
    assert.is_true(best.success)
    assert.near(16 / math.sqrt(3), best.cost, 1e-8)
    assert.equal(0, best.complementarity)
    local moving, greatest = 0, 0
    for _, arc in ipairs(best.phases) do
      if arc.modes.s == "high" then moving = moving + arc.to - arc.from end
    end
    local u, v, t = best:column "u", best:column "v", best.t
    local first, last
    for i = 1, #t do
      greatest = math.max(greatest, v[i])
      if best.s[i][1] == 1 then
        first = first or i
        last = i
      end
    end
    assert.near(math.sqrt(3), moving, 1e-5)
    assert.near(4, u[first], 1e-4)
    assert.near(0, u[last], 1e-4)
    assert.near(math.sqrt(3) / 2, greatest, 1e-2)
    assert.matches("optimal control %(an optimum was found%): cost = 9%.237604307, T = 2", tostring(best))
  end)

  test("finds its least effort in a short time", function()
    local best = cart { T = 1.5, cost = effort }
    assert.near(86 / 9, best.cost, 1e-8)
    assert.near(14 / 3, best.u[1][1], 1e-4)
    assert.near(-2 / 3, best.u[#best.t][1], 1e-4)
    assert.equal(0, #best.switches)
    assert.near(0, best.x[#best.t][2], 1e-9)
  end)

  test("finds the least time, the switch, and the derivatives of the time", function()
    for _, friction in ipairs { 2, 2.13 } do
      local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
        relays = { { "s", function(x) return x.v end } },
        rhs = function(x, u, s, p) return { x.v, u.u - p.friction * s.s } end, parameters = { friction = friction },
        start = { x = 0, v = 0 }, goal = { x = 1, v = 0 }, bounds = { u = { -5, 5 } }, T = { 0.1, 10 }, terminal = time,
        elements = elements }
      local T = math.sqrt(20 / (25 - friction ^ 2))
      assert.near(T, best.T, 1e-8)
      assert.near(T, best.cost, 1e-8)
      assert.equal(1, #best.switches)
      assert.near(T * (5 + friction) / 10, best.switches[1], 1e-7)
      assert.near(T * friction / (25 - friction ^ 2), best.slopes.parameters.friction, 1e-6)
      assert.near(T / 2, best.slopes.goal.x, 1e-6)
    end
  end)

  test("has the derivatives by the parameters, also where the switch is a part of the time that ends elements #long", function()
    for _, phases in ipairs { 2, 4, 5 } do -- the switch is at 0.7 T; 28 of 40 elements are before it
      local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
        relays = { { "s", function(x) return x.v end } },
        rhs = function(x, u, s, p) return { x.v, u.u - p.friction * s.s } end, parameters = { friction = 2 },
        start = { x = 0, v = 0 }, goal = { x = 1, v = 0 }, bounds = { u = { -5, 5 } }, T = { 0.3, 3 }, terminal = time,
        elements = 40, phases = phases }
      local T = math.sqrt(20 / 21)
      assert.near(T, best.T, 1e-8)
      assert.near(0.7 * T, best.switches[1], 1e-7)
      assert.near(T * 2 / 21, best.slopes.parameters.friction, 1e-6)
      assert.near(T / 2, best.slopes.goal.x, 1e-6)
    end
  end)

  test("moves a mass in the least time, without any relay", function()
    local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
      rhs = function(x, u) return { x = x.v, v = u.u } end, bounds = { u = { -1, 1 } }, start = { x = 0, v = 0 },
      goal = { x = 1, v = 0 }, T = { 0.1, 10 }, terminal = time, elements = 12 }
    assert.near(2, best.T, 1e-7)
    assert.near(1, best.switches[1], 1e-6)
    assert.equal("x v u", table.concat(best:names(), " "))
  end)

  test("tells the error of its discretisation", function()
    local errors = {}
    for k, count in ipairs { 20, 120 } do
      local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
        rhs = function(x, u) return { x.v, -x.x + u.u } end, terminal = time, T = { 1, 20 },
        start = { x = 4, v = 0 }, goal = { x = 0, v = 0 }, bounds = { u = { -1, 1 } }, elements = count, accuracy = 1 }
      assert.is_true(best.success)
      -- the exact motion with these controls, in parts of 4, the size of x
      local t, x, u = best.t, best.x, best:column "u"
      local p, v = 4, 0
      for i = 2, #t do
        local h = t[i] - t[i - 1]
        local c, s = math.cos(h), math.sin(h)
        p, v = u[i] + (p - u[i]) * c + v * s, v * c - (p - u[i]) * s
      end
      local off = math.abs(p - x[#t][1]) / 4
      assert.is_true(best.error > 0.3 * off - 1e-9 and best.error < 30 * off + 1e-9, best.error .. " " .. off)
      errors[k] = best.error
    end
    assert.is_true(errors[1] > 1e-6 and errors[2] < 1e-7, errors[1] .. " " .. errors[2])
    local none = ns.optimal_control { states = { "x" }, controls = { "u" }, rhs = function(_, u) return { u.u } end,
      terminal = time, T = { 0.1, 0.5 }, start = { x = 0 }, goal = { x = 1 }, bounds = { u = { -1, 1 } }, elements = 8 }
    assert.is_false(none.success)
    assert.is_nil(none.error)
  end)

  -- The least time of an oscillator from (x0, 0) to rest: a part of a half circle, half circles, a part of one.
  local function least_time(x0)
    local halves = x0 // 2
    local c, R = 2 * halves + 1, x0 + 1
    local x = (R * R - 2 + c * c) / (2 * (1 + c)) -- of the first switch, on the circle around c
    return math.acos(math.min(1, (x + 1) / R)) + (halves + 1) * math.pi - math.acos(math.max(-1, x - c))
  end

  local function oscillator(x0, more)
    local o = { states = { "x", "v" }, controls = { "u" }, rhs = function(x, u) return { x.v, u.u - x.x } end,
      start = { x = x0, v = 0 }, goal = { x = 0, v = 0 }, bounds = { u = { -1, 1 } }, T = { 1, 30 }, terminal = time }
    for key, value in pairs(more) do o[key] = value end
    return ns.optimal_control(o)
  end

  -- From an even x0 on an arc less is needed: the time follows the root of an error there.
  local function is_least(x0, phases, few)
    local best = oscillator(x0, { phases = phases, elements = few })
    local what = ("x0 = %.17g, %d phases, %d elements: %s"):format(x0, phases, few, tostring(best))
    assert.is_true(best.success, what)
    assert.is_true(best.error <= 1e-6, what)
    assert.is_true(math.abs(best.T - least_time(x0)) <= best.cost_error + 1e-9 * best.T, what)
    return best
  end

  test("adds elements until the error is small, and tells the error of the cost #long", function()
    assert.near(2 * math.pi, least_time(4), 1e-14)
    for phases = 2, 3 do
      local best = is_least(4, phases, 8)
      assert.is_true(best.cost_error < 2e-3)
    end
    is_least(4, 2, 60) -- a control between its bounds at the end of the motion
    local smooth = ns.optimal_control { states = { "x" }, controls = { "u" }, rhs = function(x, u) return { u.u - x.x } end,
      start = { x = 1 }, goal = { x = 2 }, T = 3, cost = function(x, u) return u.u ^ 2 end, elements = 6, accuracy = 1e-8 }
    assert.is_true(smooth.error <= 1e-8)
    assert.is_true(smooth.cost_error < 1e-6)
  end)

  test("finds least times within the error that it tells", function()
    math.randomseed(30)
    for _ = 1, cases do
      local x0 = math.random() < 0.3 and 2.0 * math.random(1, 3) or 1 + 5 * math.random()
      is_least(x0, math.random(1, 5), math.random(8, 30))
    end
    done("least times of an oscillator", cases)
  end)

  test("tells where the error stays larger than the accuracy", function()
    local best = oscillator(4, { phases = 2, elements = 8, max_elements = 8 })
    assert.is_false(best.success)
    assert.equal("inaccurate", best.status)
    assert.is_true(best.error > 1e-6)
    assert.matches("^the error of the collocation is larger than the accuracy asked for: [%d.e-]+ with 8 elements, not 1e%-06$",
      best.message)
    assert.is_true(math.abs(best.T - 2 * math.pi) <= best.cost_error)
  end)

  test("drives a car with a turbo: 0 to 200 m in 11.8 s", function()
    -- 2 s to 10 m/s at 5, 1 s to 25 m/s at 15, 5.8 s at 25 m/s, and back
    local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
      relays = { { "turbo", function(x) return x.v - 10 end, low = 0, high = 1 } },
      rhs = function(x, u, s) return { x.v, u.u * (1 + 2 * s.turbo) } end, bounds = { u = { -5, 5 }, v = { 0, 25 } },
      start = { x = 0, v = 0 }, goal = { x = 200, v = 0 }, T = { 1, 60 }, terminal = time, phases = 6, elements = 24,
      guess = { T = 15, v = 15 } }
    assert.near(11.8, best.T, 1e-7)
    assert.equal(4, #best.switches) -- the turbo at 10 m/s, the control at 25 m/s: 5, 0, -5
    for k, t in ipairs { 2, 3, 8.8, 9.8 } do assert.near(t, best.switches[k], 1e-6) end
    assert.equal("high", best.phases[2].modes.turbo)
  end)

  test("empties a tank with a valve", function()
    local best = ns.optimal_control { states = { "h" }, controls = { "q" },
      relays = { { name = "valve", of = function(x) return x.h - 1 end, low = 0, high = 1 } },
      rhs = function(x, u, s) return { u.q - 0.5 * x.h - 2 * s.valve } end, cost = function(_, u) return u.q ^ 2 end,
      bounds = { q = { 0, 5 } }, start = { h = 2 }, goal = { h = 0.5 }, T = 2,
      path = function(x) return { x.h - 0.4 } end }
    assert.is_true(best.success)
    assert.near(2 * math.log(1.2), best.switches[1], 1e-3)
    assert.near(0.5, best.x[#best.t][1], 1e-9)
    assert.equal("figure with 3 panels", tostring(best:plot { title = "A tank" }))
    ns.plot.close(ns.plot.gcf())
  end)

  test("has the same answer, to the last bit, in other units #long", function()
    local function moved(L, S)
      return ns.optimal_control { states = { "x", "v" }, controls = { "u" }, relays = { { "s", function(x) return x.v end } },
        rhs = function(x, u, s, p) return { x.v, u.u - p.mu * s.s } end, parameters = { mu = 2 * L / S ^ 2 },
        start = { x = 0, v = 0 }, goal = { x = L, v = 0 }, T = { 0.1 * S, 10 * S }, terminal = time, elements = elements,
        bounds = { u = { -5 * L / S ^ 2, 5 * L / S ^ 2 } }, path = function(x) return 3 * L - x.x end }
    end
    local best = moved(1, 1)
    assert.near(math.sqrt(20 / 21), best.T, 1e-9)
    for _, unit in ipairs { { 2.0 ^ 30, 2.0 ^ -20 }, { 2.0 ^ -30, 2.0 ^ 12 } } do
      local L, S = unit[1], unit[2]
      local other = moved(L, S)
      assert.equal(best.T * S, other.T)
      assert.equal(best.switches[1] * S, other.switches[1])
      assert.equal(best.slopes.parameters.mu * S ^ 3 / L, other.slopes.parameters.mu)
      assert.equal(best.slopes.goal.x * S / L, other.slopes.goal.x)
      for k = 1, #best.t do
        assert.equal(best.t[k] * S, other.t[k])
        assert.equal(best.x[k][2] * L / S, other.x[k][2])
        assert.equal(best.u[k][1] * L / S ^ 2, other.u[k][1])
      end
    end
  end)

  test("finds the start that a jump of the slope hides", function()
    -- x' = 2 - sign x: for a start a < 0 the cost is -a^3 / 9 + (2 + a / 3)^3 / 3 + (1 / 3 + a / 3)^2
    local best = ns.optimal_control { states = { "x" }, relays = { { "s", function(x) return x.x end } }, T = 2,
      rhs = function(_, _, s) return { 2 - s.s } end, cost = function(x) return x.x ^ 2 end, bounds = { x = { -4, 4 } },
      terminal = function(x) return (x.x - 5 / 3) ^ 2 end, guess = { x = 1 } }
    assert.near(-1.4275722319799833, best.x[1][1], 1e-6)
    assert.near(1.523772775374957, best.cost, 1e-9)
  end)

  test("places the jumps of a control where there is no relay", function()
    -- an oscillator from (5, 0) to rest: the control jumps every pi
    local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
      rhs = function(x, u) return { x.v, u.u - x.x } end, start = { x = 5, v = 0 }, goal = { x = 0, v = 0 },
      bounds = { u = { -1, 1 } }, T = { 0.1, 20 }, terminal = time }
    assert.near(7.93741172, best.T, 1e-6)
    assert.equal(3, #best.switches)
    for k = 1, 3 do assert.near(0.16686017 + (k - 1) * math.pi, best.switches[k], 1e-5) end
  end)

  test("rolls a cart out by its friction where fuel counts", function()
    -- at first 3 for the time t, then nothing: 7.5 t^2 = 1, cost 3 t; the cart waits for the rest of the time
    local best = ns.optimal_control { states = { "x", "v" }, controls = { "push", "pull" },
      relays = { { "s", function(x) return x.v end } },
      rhs = function(x, u, s) return { x.v, u.push - u.pull - 0.5 * s.s } end, start = { x = 0, v = 0 },
      goal = { x = 1, v = 0 }, bounds = { push = { 0, 3 }, pull = { 0, 3 } }, T = 3,
      cost = function(_, u) return u.push + u.pull end }
    assert.near(3 / math.sqrt(7.5), best.cost, 1e-8)
  end)

  test("tells when there is no solution", function()
    local best = ns.optimal_control { states = { "x" }, controls = { "u" }, rhs = function(_, u) return { u.u } end,
      bounds = { u = { -1, 1 } }, start = { x = 0 }, goal = { x = 5 }, T = 2, cost = effort, elements = 8 }
    assert.is_false(best.success)
    assert.equal("infeasible", best.status)
    assert.equal("the constraints can't be satisfied near the last point", best.message)
  end)

  it("says what is wrong", function()
    local function good()
      return { states = { "x" }, controls = { "u" }, rhs = function(_, u) return { u.u } end, start = { x = 0 }, T = 1,
        cost = effort }
    end
    local function says(text, key, value)
      local o = good()
      o[key] = value
      assert.matches("optimal_control: " .. text, message(ns.optimal_control, o), 1, true)
    end
    assert.matches("optimal_control: expected a table of options, got 1", message(ns.optimal_control, 1), 1, true)
    says("states: expected a list of names, got 1", "states", 1)
    says("states[1]: expected a name, got 1", "states", { 1 })
    says("states: 'x' is there twice", "states", { "x", "x" })
    says("rhs: expected a function, got 1", "rhs", 1)
    says("expected a cost or a terminal cost", "cost", nil)
    says("T: expected a number or { low, high }, got 'a'", "T", "a")
    says("T: expected a time above 0, got -1", "T", -1)
    says("T: expected a number or { low, high }, got nan", "T", 0 / 0)
    says("T: expected a number or { low, high }, got inf", "T", 1 / 0)
    says("cost: expected a number, got 'x'", "cost", function() return "x" end)
    says("terminal: expected a number, got table", "terminal", function() return {} end)
    says("tol: expected a number above 0, got nan", "tol", 0 / 0)
    says("accuracy: expected a number above 0, got 0", "accuracy", 0)
    says("max_elements: expected an integer of 1 or more, got 0", "max_elements", 0)
    says("max_iterations: expected an integer of 1 or more, got 0", "max_iterations", 0)
    says("start: there is no 'y' (known: x)", "start", { y = 1 })
    says("start: expected a table by names, got 1", "start", 1)
    says("bounds.u: expected a number or { low, high }, got 'a'", "bounds", { u = "a" })
    says("relays: expected a list of { name =, of = }, got 1", "relays", 1)
    says("relays[1]: expected { name =, of = }, got 1", "relays", { 1 })
    says("relays[1]: name: expected a name, got nil", "relays", { {} })
    says("relays[1].of: expected a function, got nil", "relays", { { "s" } })
    says("relays[1]: low: expected a number below high", "relays", { { "s", print, low = 2 } })
    says("stages: expected 1, 2 or 3, got 4", "stages", 4)
    says("2 elements are too few for 4 phases", "elements", 2)
    says("control_degree: expected 0 or 1, got 2", "control_degree", 2)
    says("unknown option 'method' (known: states,", "method", 2)
    says("rhs: expected the rates of x, got none of 'x'", "rhs", function() return {} end)
  end)

  it("tells how to install IPOPT", function()
    local old = package.cpath
    package.cpath = "/nowhere/?.so"
    local good, err = pcall(with, package.loaded, "nslua.ipopt", nil, function()
      ns.optimal_control { states = { "x" }, controls = { "u" }, rhs = function(_, u) return { u.u } end,
        start = { x = 0 }, goal = { x = 1 }, T = 1, cost = effort, elements = 4 }
    end)
    package.cpath = old
    assert.is_false(good)
    assert.matches("optimal_control: the solver is in the module nslua.ipopt, which is not installed: it is built when the "
      .. "headers of IPOPT are there (Debian: apt-get install coinor-libipopt-dev, then make and make install; or, where "
      .. "nslua came as a package, apt-get install nslua-ipopt); ns.minimize "
      .. "with NLopt solves small smooth problems", err, 1, true)
  end)

  local function troubled(more)
    local o = { states = { "x", "v" }, controls = { "u" }, rhs = function(x, u) return { x.v, u.u } end, cost = effort, T = 1,
      start = { x = 0, v = 0 }, goal = { x = 1, v = 0 }, elements = 4, phases = 1 }
    for key, value in pairs(more) do o[key] = value end
    return ns.optimal_control(o)
  end

  test("names the function that raises an error, and where it does", function()
    local function raises(text, more) assert.matches("optimal_control: " .. text, message(troubled, more)) end
    raises("rhs: [^\n]*control_spec.lua:%d+: no road", { rhs = function() error "no road" end })
    raises("rhs: [^\n]*control_spec.lua:%d+: compile: a branch on a traced value", { rhs = function(x, u)
      if 0.5 < x.x then return { x.v, 0 } end
      return { x.v, u.u }
    end })
    raises("rhs: the rate of 'v': expected a number, got 'a'", { rhs = function(x) return { x.v, "a" } end })
    raises("cost: [^\n]*control_spec.lua:%d+: attempt to index a nil value", { cost = function(x) return x.y.z end })
    raises("terminal: [^\n]*control_spec.lua:%d+: attempt to index a nil value", { terminal = function(x) return x.y.z end })
    raises("path: [^\n]*control_spec.lua:%d+: attempt to index a nil value", { path = function(x) return x.y.z end })
    raises("relays%[1%].of: [^\n]*control_spec.lua:%d+: attempt to index a nil value",
      { relays = { { "s", function(x) return x.y.z end } } })
    raises("guess.x: [^\n]*control_spec.lua:%d+: late", { guess = { x = function() error "late" end } })
    raises("guess.u: expected a finite number, got nan at the part 0 of the time", { guess = { u = function() return 0 / 0 end } })
    local thrown = {}
    assert.equal(thrown, select(2, pcall(troubled, { rhs = function() error(thrown) end }))) -- an object is raised as it is
  end)

  test("tells the time and the state at which a function has no value", function()
    local function fails(text, more)
      local best = troubled(more)
      assert.is_false(best.success)
      assert.equal("IPOPT found no way on: " .. text .. ", where the search starts", best.message)
    end
    fails("rhs: the rate of 'v' is nan at t=0.25 (x=0.25, v=0, u=0)",
      { stages = 1, rhs = function(x, u) return { x.v, u.u + ns.sqrt(x.x - 2) } end })
    fails("rhs: the rate of 'v' has no derivative by 'x' at t=10 (x=0, v=0, u=0)", { T = 10, elements = 1, stages = 1,
      goal = { x = 0, v = 0 }, rhs = function(x, u) return { x.v, u.u - ns.sqrt(x.x) } end })
    fails("rhs: the rate of 'v' is nan at t=3.33333 (x=0.25, v=0, u=0)", { T = 10, elements = 1, stages = 2, guess = {
      x = function(part) return part == 0 and 0 or part < 0.5 and 0.25 or 1 end },
      rhs = function(x, u) return { x.v, u.u + ns.sqrt((x.x - 0.1) * (x.x - 0.6)) } end })
    fails("rhs: the rate of 'v' is nan at t=0.0833333 (x=0.0833333, v=0, u=0.0833333)", { stages = 2,
      guess = { u = function(part) return part end }, rhs = function(x, u) return { x.v, u.u + ns.sqrt(u.u - 2) } end })
    fails("cost: the rate of the cost is nan at t=0.25 (x=0.25, v=0, u=0)",
      { stages = 1, cost = function(x) return ns.sqrt(x.x - 1) end })
    fails("terminal: the cost is nan at t=1 (x=1, v=0, u=0, T=1)", { terminal = function(_, T) return 0 / 0 * T end })
    fails("path: number 1 is nan at t=0.25 (x=0.25, v=0, u=0)", { stages = 1, path = function(x) return ns.sqrt(x.x - 3) end })
    fails("relays: the function of 's' is nan at t=0 (x=0, v=0, u=0, s=0)",
      { relays = { { "s", function(x) return x.v + ns.sqrt(x.x - 3) end } } })
  end)
end)
