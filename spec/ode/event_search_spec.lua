-- Events: roots of functions along the dense output, none lost, none told twice.
local ns = require "nslua"
local p = require "ode.problems"

local function cosine(events, o)
  o = o or {}
  o.events, o.rtol, o.atol = events, o.rtol or 1e-10, 1e-12
  return ns.solve_ivp(p.oscillator, { 0, o.T or 10 }, { 1, 0 }, (function() o.T = nil return o end)())
end

local function first(_, y) return y[1] end

describe("events", function()
  it("are found where they are, with every method", function()
    for _, method in ipairs(p.methods) do
      local sol = cosine(first, { method = method })
      assert.equal(3, #sol.t_events[1])
      for k = 1, 3 do assert.is_true(math.abs(sol.t_events[1][k] - (k - 0.5) * math.pi) < 1e-7, method) end
      for k = 1, 3 do assert.is_true(math.abs(sol.y_events[1][k][1]) < 1e-12, method) end
    end
  end)

  it("count in their direction", function()
    local sol = cosine { { first, direction = 1 }, { first, direction = -1 }, first }
    assert.equal(1, #sol.t_events[1])
    assert.equal(2, #sol.t_events[2])
    assert.equal(3, #sol.t_events[3])
    local back = ns.solve_ivp(p.oscillator, { 10, 0 }, { math.cos(10), -math.sin(10) },
      { events = { { first, direction = 1 } }, rtol = 1e-8 })
    assert.equal(2, #back.t_events[1]) -- rising along the way that is gone
  end)

  it("end the integration at once or at their k-th occurrence", function()
    local sol = cosine { first, terminal = true }
    assert.equal(1, sol.status)
    assert.is_true(sol.success)
    assert.equal("event 1 ended the integration", sol.message)
    assert.equal(sol.t_events[1][1], sol.t[#sol.t])
    assert.is_true(math.abs(sol.t[#sol.t] - math.pi / 2) < 1e-9)
    assert.equal(2, #cosine({ first, terminal = 2 }).t_events[1])
    assert.equal(0, cosine({ first, terminal = 4 }).status)
  end)

  it("leave out what comes after the end, and the times wanted there", function()
    local sol = cosine({ { first, terminal = true }, function(t) return t - 1.58 end, function(t) return t - 1.5 end },
      { t_eval = ns.linspace(0, 10, 101), dense_output = true, rtol = 1e-4 })
    assert.equal(0, #sol.t_events[2])
    assert.equal(1, #sol.t_events[3])
    assert.equal(16, #sol.t)
    assert.is_true(math.abs(sol.sol(1.2)[1] - math.cos(1.2)) < 1e-2)
  end)

  it("at t0 count when they leave zero as asked for, once", function()
    local function second(_, y) return y[2] end -- -sin t: zero at 0, then negative
    for direction, count in pairs { [-1] = 2, [0] = 4, [1] = 2 } do
      local sol = cosine { second, direction = direction }
      assert.equal(count, #sol.t_events[1])
      assert.equal(direction ~= 1, sol.t_events[1][1] == 0)
    end
    local sol = cosine { second, terminal = true, direction = 1 }
    assert.is_true(math.abs(sol.t[#sol.t] - math.pi) < 1e-9)
    assert.equal(0, cosine({ second, terminal = true }).t_events[1][1])
  end)

  it("at the same time are all told", function()
    local sol = cosine { { first, terminal = true }, function(_, y) return 3 * y[1] end, function(t) return t - math.pi / 2 end }
    assert.equal(1, #sol.t_events[2])
    assert.is_true(math.abs(sol.t_events[2][1] - sol.t[#sol.t]) < 1e-14)
    local zero = cosine { function(t) return t - 2 end, function(t) return 2 - t end }
    assert.equal(2, zero.t_events[1][1])
    assert.equal(2, zero.t_events[2][1])
  end)

  it("several in one step are found, dips that touch zero between too", function()
    local function inside(t) return (t - 0.41) * (t - 0.47) end
    for _, T in ipairs { 1, 1.7 } do
      local sol = ns.solve_ivp(function() return { 1 } end, { 0, T }, { 0 }, { first_step = T, events = inside })
      assert.equal(1, sol.nsteps)
      assert.equal(2, #sol.t_events[1])
      assert.is_true(math.abs(sol.t_events[1][1] - 0.41) < 1e-14 and math.abs(sol.t_events[1][2] - 0.47) < 1e-14)
    end
    local many = ns.solve_ivp(function() return { 1 } end, { 0, 1 }, { 0 },
      { first_step = 1, events = function(t) return (t - 0.2) * (t - 0.4) * (t - 0.6) * (t - 0.9) end })
    assert.equal(4, #many.t_events[1])
  end)

  it("at the end of a step are told once", function()
    local sol = ns.solve_ivp(function() return { 1 } end, { 0, 1 }, { 0 },
      { first_step = 0.25, max_step = 0.25, events = function(t) return t - 0.5 end })
    assert.equal(1, #sol.t_events[1])
    assert.equal(0.5, sol.t_events[1][1])
  end)

  it("carry a bouncing ball from impact to impact", function()
    local e, t, y, impacts = 0.5, 0, { 1, 0 }, {}
    for _ = 1, 12 do
      local sol = ns.solve_ivp(function(_, x) return { x[2], -10 } end, { t, 10 }, y,
        { method = "DOP853", rtol = 1e-12, atol = 1e-14, events = { first, terminal = true, direction = -1 } })
      assert.equal(1, sol.status)
      t = sol.t[#sol.t]
      impacts[#impacts + 1] = t
      y = { 0, -e * sol.y[2][#sol.t] }
    end
    local fall = math.sqrt(0.2)
    for k, at in ipairs(impacts) do
      local exact = fall * (1 + 2 * e * (1 - e ^ (k - 1)) / (1 - e))
      assert.is_true(math.abs(at - exact) < 1e-12, k)
    end
  end)

  it("of one step are in the order of the integration, backward too", function()
    -- many roots in the few long steps of a straight line
    local function at(a) return function(t) return t - a end end
    local list = { at(0.7), at(0.2), at(0.9), at(0.4), { at(0.3), terminal = true } }
    for _, way in ipairs { { 0, 1 }, { 1, 0 } } do
      local sol = ns.solve_ivp(function() return { 1 } end, way, { 0 }, { events = list, first_step = 1 })
      assert.equal(1, sol.status)
      assert.near(0.3, sol.t[#sol.t], 1e-14)
      local seen = {}
      for i, times in ipairs(sol.t_events) do seen[i] = #times end
      assert.same(way[1] == 0 and { 0, 1, 0, 0, 1 } or { 1, 0, 1, 1, 1 }, seen)
    end
  end)

  it("that are nan or no numbers are told with their number and time", function()
    local sol = cosine { first, function(t) return t > 1 and 0 / 0 or 1 end }
    assert.equal(-1, sol.status)
    assert.truthy(sol.message:find("^event 2 is nan %(t="), sol.message)
    local ok, message = pcall(cosine, { first, function() return "x" end })
    assert.is_false(ok)
    assert.truthy(message:find("solve_ivp: event 2: expected a number, got string", 1, true), message)
  end)

  -- One step over [0, 1] (or back), whatever the event does in it.
  local function in_one_step(event, back)
    local sol = ns.solve_ivp(function() return { 1 } end, back and { 1, 0 } or { 0, 1 }, { 0 }, { first_step = 1, events = event })
    assert.equal(1, sol.nsteps)
    return sol.t_events[1]
  end

  it("are found in every place of a step: dips, however short, and no misses", function()
    math.randomseed(5)
    for k = 1, 500 do
      local at, half, lift, back = 0.01 + 0.98 * math.random(), 10 ^ (-1 - 4 * math.random()), 1 + 9 * math.random(), k % 2 == 0
      if at > half and at + half < 1 then
        local dip = in_one_step(function(t) return ((t - at) ^ 2 - half ^ 2) * math.exp(lift * t) end, back)
        assert.equal(2, #dip, ("at %.17g, half %g"):format(at, half))
        assert.near(back and at + half or at - half, dip[1], 1e-14 + 1e-15 / half)
        assert.near(back and at - half or at + half, dip[2], 1e-14 + 1e-15 / half)
      end
      assert.equal(0, #in_one_step(function(t) return ((t - at) ^ 2 + half ^ 2) * math.exp(lift * t) end, back))
    end
  end)

  it("are found as often as they swing, in one step #once", function()
    math.randomseed(6)
    for _ = 1, 200 do
      local w, phase, drift = 300 * math.random(), 6.28 * math.random(), math.random()
      local times = in_one_step(function(t) return math.sin(w * t + phase) * (1 + drift * t) end)
      local from, to = math.ceil(phase / math.pi), math.floor((w + phase) / math.pi)
      assert.equal(to - from + 1, #times, ("w %.17g, phase %.17g"):format(w, phase))
      for i, t in ipairs(times) do assert.near(((from + i - 1) * math.pi - phase) / w, t, 1e-13) end
    end
  end)

  it("that are no polynomials are found too: kinks, jumps, roots at the ends", function()
    for _, at in ipairs { 0.1, 0.3000001, 0.5, 0.77777, 0.999 } do
      local kink = in_one_step(function(t) return math.abs(t - at) - 1e-3 end)
      assert.near(at - 1e-3, kink[1], 1e-15)
      assert.equal(at + 1e-3 <= 1 and 2 or 1, #kink)
      local jump = in_one_step(function(t) return t < at and -1 or 2 end)
      assert.equal(1, #jump)
      assert.near(at, jump[1], 1e-15)
      local touch = in_one_step(function(t) return t < at and 0.5 or (t - at) ^ 2 + 0.1 end)
      assert.equal(0, #touch)
    end
    assert.same({ 0, 0.25, 1 }, { table.unpack(in_one_step(function(t) return t * (t - 0.25) * (t - 1) end)) })
    assert.equal(0, #in_one_step(function() return 1e-300 end))
  end)

  it("that are noise end", function()
    local calls = 0
    math.randomseed(7)
    in_one_step(function()
      calls = calls + 1
      return math.random() - 0.5
    end)
    assert.is_true(calls < 1e6)
  end)
end)
