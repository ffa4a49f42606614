-- Models in event-driven mechanics against closed forms and against solve_ivp.
local ns = require "nslua"
local campaign = require "campaign"
local events = require "simulation.events"
local g = events.g

-- n equal balls of diameter 1 in a row with the given gaps; the first has the velocity V, the restitution is 1.
local function cradle(n, gap, V)
  local systems, links = {}, {}
  for i = 1, n do
    systems[i] = ns.LagrangianLinearTIDS({ (i - 1) * (1 + gap) }, { i == 1 and V or 0 }, { { 2 } })
    if i > 1 then
      links[i - 1] = { ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR({ { -1, 1 } }, { -1 }), "pair " .. i, systems[i - 1],
        systems[i] }
    end
  end
  local simu = events.simulation { systems = systems, links = links, T = 1, h = 0.1 }
  simu:energy()
  simu:run()
  return systems, simu
end

describe("a row of balls", function()
  it("passes the velocity to the last one where there are gaps", function()
    local balls, simu = cradle(5, 0.01, 3)
    local log = simu:events()
    assert.equal(4, #log)
    for i = 1, 4 do
      assert.near(i * 0.01 / 3, log[i].t, 1e-15)
      assert.near(0, balls[i]:velocity()[1], 1e-15)
    end
    assert.near(3, balls[5]:velocity()[1], 1e-15)
    assert.near(0, simu:energy().numerical, 1e-14)
  end)

  it("moves as one behind the first ball where all touch, with its momentum and energy", function()
    -- Newton's law for all contacts at once: w - v = V, v + 4 w = V.
    local balls = cradle(5, 0, 3)
    assert.near(-9 / 5, balls[1]:velocity()[1], 1e-14)
    for i = 2, 5 do assert.near(6 / 5, balls[i]:velocity()[1], 1e-14) end
  end)
end)

describe("two balls and a spring", function()
  it("bounce off a wall as the modes of the spring say", function()
    local m, k, L, V = 1.5, 40, 1, 2
    local ds = ns.LagrangianLinearTIDS({ 0.5, 0.5 + L }, { -V, -V }, ns.diag { m, m }, { { k, -k }, { -k, k } })
    ds:setFExtPtr { -k * L, k * L }
    local simu = events.simulation { systems = { ds }, T = 0.9, h = 0.05,
      links = { { ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1, 0 } }, "wall", ds } } }
    simu:energy()
    simu:run()
    -- After the impact the centre rests, and both swing against each other with w = sqrt(2 k / m): q1 = V / w sin(w t).
    local log = simu:events()
    local hit, half = 0.5 / V, math.pi / math.sqrt(2 * k / m)
    assert.near(hit, log[1].t, 1e-15)
    assert.near(hit + half, log[2].t, 1e-12)
    assert.near(-V, log[2].before, 1e-11)
    -- the second impact gives the first ball V; both then leave with V
    local t = 0.9 - hit - half
    assert.equal(2, #log)
    assert.near(V * t, ds:q()[1], 1e-11)
    assert.near(V * t + L, ds:q()[2], 1e-11)
    assert.near(0, simu:energy().numerical, 1e-11)
  end)
end)

-- The swings of q'' = f(q) - b sign(q') from q0 at rest, by solve_ivp from one rest to the next: their times and angles.
local function swings(f, b, q0, T)
  local t, q, times, angles = 0, q0, {}, { q0 }
  while t < T and math.abs(f(q)) > b do
    local side = f(q) > 0 and 1 or -1
    local sol = ns.solve_ivp(function(_, x) return { x[2], f(x[1]) - b * side } end, { t, T }, { q, 0 }, { rtol = 1e-13,
      atol = 1e-15, method = "DOP853", events = { { function(_, x) return x[2] end, terminal = true, direction = -side } } })
    t, q = sol.t[#sol.t], sol.y[1][#sol.t]
    if t < T then times[#times + 1] = t end
    angles[#angles + 1] = q
  end
  return times, angles
end

describe("a bead on a hoop that turns", function()
  it("swings against dry friction as solve_ivp says, and sticks where its forces are below the bound", function()
    for _, o in ipairs { { w = 5, b = 1, q = 2.5 }, { w = 2, b = 0.8, q = 1.2 }, { w = 7, b = 1.5, q = 0.3 } } do
      local function f(q) return o.w ^ 2 * math.sin(q) * math.cos(q) - g * math.sin(q) end
      local ds = ns.LagrangianDS({ o.q }, { 0 }, { { 1 } })
      ds:setComputeFIntFunction(function(_, q, _, _, out)
        out[1] = -o.w ^ 2 * math.sin(q[1]) * math.cos(q[1]) + g * math.sin(q[1])
      end)
      local simu = events.simulation { systems = { ds }, T = 20, h = 0.25,
        links = { { ns.RelayNSL(1, -o.b, o.b), ns.LagrangianLinearTIR { { 1 } }, "rub", ds } } }
      simu:energy()
      simu:run()
      local times, angles = swings(f, o.b, o.q, 20)
      local log = simu:events()
      assert.equal(#times, #log)
      assert.is_true(#times >= 2)
      for i, t in ipairs(times) do assert.near(t, log[i].t, 1e-10) end
      assert.equal("stick", log[#log].kind)
      assert.near(angles[#angles], ds:q()[1], 1e-11)
      assert.near(0, simu:energy().numerical, 1e-11)
    end
  end)
end)

describe("a freewheel", function()
  it("begins to turn where its force begins at 0", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    ds:setComputeFExtFunction(function(t, _, f) f[1] = math.sin(3 * t) end)
    local simu = events.simulation { systems = { ds }, T = 1.5, h = 0.1,
      links = { { ns.RelayNSL(1, 0, math.huge), ns.LagrangianLinearTIR { { 1 } }, "wheel", ds } } }
    simu:run()
    assert.is_true(#simu:events() <= 1)
    assert.near(1.5 / 3 - math.sin(4.5) / 9, ds:q()[1], 1e-13)
  end)

  -- A rod that rests on balls in a row: the friction along the row is the same equation for each of them, and its terms are
  -- rounding alone. On a slope it rolls across the row with g sin(slope) / (1 + I / (m R^2)).
  it("of rods on balls in a row: at rest, and rolling down a slope", function()
    local count, told = campaign(16, 0.02)
    local random = math.random
    math.randomseed(1128)
    for case = 1, count do
      local R, m, L = 0.05 + random(), 10 ^ (4 * random() - 2), 1 + random()
      local turn, slope, n = 2 * math.pi * random(), case % 3 == 0 and 0 or 0.2 * random(), 2 + case % 4
      local own, other = m * R * R * (0.2 + 0.4 * random()), m * L * L * (0.2 + random())
      local x, y, s, c = random(), 10 * random(), math.sin(turn), math.cos(turn)
      local rod = ns.NewtonEulerDS({ x, y, R, math.cos(turn / 2), 0, 0, math.sin(turn / 2) }, { 0, 0, 0, 0, 0, 0 }, m,
        { { own, 0, 0 }, { 0, other, 0 }, { 0, 0, other } })
      rod:setFExtPtr { m * g * math.sin(slope), 0, -m * g * math.cos(slope) }
      local links, floor = {}, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
      for k = 1, n do
        local ball = ns.contact.cap_plane(R, { (2 * (k - 1) / (n - 1) - 1) * L, 0, 0 }, floor)
        links[k] = { ns.NewtonImpactFrictionNSL(0, 0, 0.9, 3), ball, "ball " .. k, rod }
      end
      local simu = events.simulation { systems = { rod }, links = links, T = 0.3, h = 0.1 }
      local good, message = pcall(simu.run, simu)
      assert.is_true(good, ("case %d: %s"):format(case, message))
      local way = -g * math.sin(slope) * s / (1 + own / (m * R * R)) * 0.3 ^ 2 / 2
      assert.near(x - s * way, rod:q()[1], 1e-9)
      assert.near(y + c * way, rod:q()[2], 1e-9)
    end
    told("rods on balls in a row", count)
  end)
end)
