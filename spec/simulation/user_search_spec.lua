-- Events of the script are crossings of 0: each occurs once, and rounding makes none. Random families, judged by closed forms.
local campaign = require "campaign"
local events = require "simulation.events"
local ns = require "nslua"

local function uniform(rng, a, b) return a + (b - a) * rng:uniform() end

-- A mass in front of a wall at 0: q'' = -w^2 (q - a) with a < 0, or w^2 (q - a) with q < a. It bounces, and comes to rest.
local function bouncer(rng)
  local o = { w = uniform(rng, 1, 5), e = uniform(rng, 0.5, 0.9), repels = rng:uniform() < 0.5 }
  o.a = o.repels and uniform(rng, 0.1, 1) or -uniform(rng, 1, 10)
  o.q0 = o.repels and o.a * uniform(rng, 0.1, 0.9) or uniform(rng, 0.1, 2)
  local k = (o.repels and -1 or 1) * o.w ^ 2
  local mass
  if rng:uniform() < 0.5 then
    mass = ns.LagrangianLinearTIDS({ o.q0 }, { 0 }, { { 1 } }, { { k } })
    mass:setFExtPtr { k * o.a }
  else
    mass = ns.LagrangianDS { q0 = { o.q0 }, v0 = { 0 }, fInt = function(_, q, _, _, f) f[1] = k * (q[1] - o.a) end }
  end
  o.simu = events.simulation { systems = { mass }, T = 6, h = 6 / rng:integers(1, 120), links = {
    { ns.NewtonImpactNSL(o.e), ns.LagrangianLinearTIR { { 1 } }, "wall", mass } } }
  -- the time from an impact to the turning point, by the speed after it
  function o.rise(v)
    if o.repels then return math.log((1 + v / (o.w * o.a)) / (1 - v / (o.w * o.a))) / (2 * o.w) end
    return math.atan(v, -o.w * o.a) / o.w
  end
  return o
end

-- A run, with a limit on the calls of g.
local function run(simu, direction, terminal, g)
  local calls = 0
  simu:addEvent { name = "top", direction = direction, terminal = terminal, g = function(t, x)
    calls = calls + 1
    assert(calls < 1e5, "too many calls of g")
    return g(t, x)
  end }
  return simu:run()
end

-- Two shafts with a torque on the first, and a clutch that holds.
local function shafts(rng, grid)
  local J1, J2, w0 = uniform(rng, 0.5, 2), uniform(rng, 0.5, 2), uniform(rng, 0.2, 1)
  local A, f = uniform(rng, 0.2, 1), uniform(rng, 1, 4)
  local pair = ns.LagrangianLinearTIDS { q0 = { 0, 0 }, v0 = { w0, 0 }, mass = ns.diag(ns.vector { J1, J2 }),
    fExt = function(t, _, out) out[1] = A * math.sin(f * t) end }
  return events.simulation { systems = { pair }, T = 3, h = 3 / grid, links = {
    { ns.RelayNSL(1, -2, 2), ns.LagrangianLinearTIR { { -1, 1 } }, "clutch", pair } } }
end

describe("the search for events of the script", function()
  it("lists each turning point between two impacts once, at its exact time; terminal = k ends at the k-th", function()
    local count, tell = campaign(12, 0.05)
    local rng = ns.rng(30)
    for trial = 1, count do
      local o = bouncer(rng)
      local list, impact, tops = run(o.simu, "down", false, function(_, x) return x[2] end).events, nil, {}
      for _, e in ipairs(list) do
        local where = ("trial %d: t = %.17g"):format(trial, e.t)
        if e.name == "top" then
          assert.is_true(impact ~= nil or #tops == 0, where)
          if impact then assert.near(impact.t + o.rise(impact.after), e.t, 1e-11, where) end
          tops[#tops + 1], impact = e, nil
        elseif e.kind == "impact" then
          assert.is_nil(impact, where)
          impact = e
        end
      end
      assert.is_true(#tops > 1)
      local k = rng:integers(1, #tops)
      o.simu:removeEvent "top"
      o.simu:reset()
      local sol = run(o.simu, "down", k, function(_, x) return x[2] end)
      assert.near(tops[k].t, sol.t[#sol], 1e-11)
    end
    tell("turning points of bouncing masses", count)
  end)

  it("lists one event where a clutch begins to hold, on every grid", function()
    local count, tell = campaign(6, 0.02)
    for trial = 1, count do
      for _, grid in ipairs { 1, 7, 50 } do
        local simu = shafts(ns.rng(trial), grid)
        local sol, stick, slips = run(simu, "both", false, function(_, x) return x[4] - x[3] end), nil, {}
        for _, e in ipairs(sol.events) do
          if e.kind == "stick" then stick = e.t elseif e.kind == "user" then slips[#slips + 1] = e.t end
        end
        assert.equal(1, #slips)
        assert.near(stick, slips[1], 1e-12)
      end
    end
    tell("clutches that hold", count)
  end)

  it("lists nothing while g stays 0, from the start or from a rest on", function()
    local still = ns.LagrangianDS { q0 = { 0 }, v0 = { 0 }, fInt = function(_, q, _, _, f) f[1] = 9.81 + 0 * q[1] end }
    local simu = events.simulation { systems = { still }, T = 2, h = 0.1, links = {
      { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }, "floor", still } } }
    run(simu, "down", false, function(_, x) return x[2] end)
    assert.equal(1, simu:userEvents()[1].count) -- at t0, where it is 0
    local sol = ns.solve_ivp(function() return { 0 } end, { 0, 1 }, { 0 },
      { max_step = 0.1, events = function(_, y) return y[1] end })
    assert.equal(1, #sol.t_events[1])
  end)

  it("takes a g that jumps, in a mode that holds, too", function()
    local V = 0.2
    for _, delta in ipairs { 0.5, 3 } do
      local block = ns.FirstOrderLinearTIDS({ 0.094518900557, V }, { { 0, 1 }, { -1, 0 } })
      local friction = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] - V end,
        g = function(_, x, lambda, _, r) r[2] = lambda[1] / (1 + delta * math.abs(x[2] - V)) end }
      local simu = events.simulation { systems = { block }, T = 8, h = 0.5,
        links = { { ns.RelayNSL(1), friction, "belt", block } } }
      local sol, leaves, tops = run(simu, "up", false, function(_, x)
        local u = x[2] - V
        return u < 0 and -x[1] + 1 / (1 - delta * u) or -1
      end), nil, {}
      for _, e in ipairs(sol.events) do
        if e.kind == "leave" then leaves = e.t else tops[#tops + 1] = e end
      end
      assert.is_true(#tops <= 2 and tops[1].t >= leaves)
      assert.near(0, tops[#tops].before, 1e-10)
    end
  end)

  -- g jumps a few spacings of numbers before or behind times of the grid. x' = 1, so that x = t tells lost time.
  it("loses no time where g jumps beside a time of the grid", function()
    local n, report = campaign(60, 0.05)
    local rng = ns.rng(11)
    for _ = 1, n do
      local steps, T = rng:integers(5, 200), 10 ^ uniform(rng, -5, 5)
      local grid, jumps = ns.TimeDiscretisation(0, T / steps), {}
      for k = rng:integers(1, 2), steps, rng:integers(2, 9) do
        jumps[#jumps + 1] = grid:at(k) * (1 + rng:integers(-3, 3) * 2.0 ^ -53)
      end
      local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { 1 })
      local simu = events.simulation { systems = { ds }, T = T, h = T / steps,
        osi = rng:uniform() < 0.5 and ns.RungeKuttaOSI() or ns.RadauOSI() }
      if rng:uniform() < 0.4 then
        simu = ns.TimeStepping(simu:nsds(), ns.TimeDiscretisation(0, T / steps), ns.EulerMoreauOSI(1))
      end
      simu:addEvent { name = "jump", action = function() end, g = function(t)
        local sign = 1
        for _, jump in ipairs(jumps) do sign = t >= jump and -sign or sign end
        return sign
      end }
      local sol = simu:run()
      for i = 1, #sol do assert.near(sol.t[i], sol.x1[i], 1e-13 * T) end
      local seen = jumps[#jumps] > T and #jumps - 1 or #jumps
      local unsure = math.abs(jumps[#jumps] - T) < 1e-14 * T and 1 or 0 -- the last one is at the end of the run
      assert.is_true(math.abs(#sol.events - seen) <= unsure, ("%d events, %d jumps"):format(#sol.events, seen))
    end
    report("runs with a g that jumps beside times of the grid", n)
  end)

  it("lists one event where a mode ends that has held the state at a jump of g, and none while it holds", function()
    for _, direction in ipairs { "up", "down" } do
      for _, h in ipairs { 0.06, 0.5, 6 } do
        local block = ns.FirstOrderLinearTIDS({ 0.1, 0.2 }, { { 0, 1 }, { -1, 0 } })
        local friction = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] - 0.2 end,
          g = function(_, x, lambda, _, r) r[2] = lambda[1] / (1 + 3 * math.abs(x[2] - 0.2)) end }
        local simu = events.simulation { systems = { block }, T = 6, h = h,
          links = { { ns.RelayNSL(1), friction, "belt", block } } }
        local list = run(simu, direction, false, function(_, x) return x[2] < 0.2 and 1 or -1 end).events
        assert.near(4.5, list[1].t, 1e-9) -- the belt leaves where x1 = 1
        assert.equal(direction == "up" and 2 or 1, #list)
        if list[2] then assert.near(4.5, list[2].t, 1e-7) end
      end
    end
  end)

  it("stops at the limit of events in a step of the grid", function()
    local osi = ns.RungeKuttaOSI()
    osi:setMaxEvents(100)
    local simu = events.simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { 0 } }) }, T = 10, h = 5, osi = osi }
    simu:addEvent { g = function(t) return math.sin(100 * t + 1e-9) end }
    assert.error_matches(function() simu:run() end,
      "EventDriven: more than 100 events in a step of the grid (t=3.17300858 step 1)", 1, true)
  end)

  it("calls g some hundred times a root, also where many lie in one step of the grid", function()
    for _, h in ipairs { 10, 0.1 } do
      local simu = events.simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { 0 } }) }, T = 10, h = h }
      local calls = 0
      simu:addEvent { g = function(t)
        calls = calls + 1
        return math.sin(100 * t + 1e-9)
      end }
      assert.equal(318, #simu:run().events)
      assert.is_true(calls < 400 * 318, calls)
    end
  end)
end)
