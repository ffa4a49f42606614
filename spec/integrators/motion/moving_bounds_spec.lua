-- EventDriven in mechanics with bounds of relays and coefficients of friction that are functions of time.
local ns = require "nslua"
local campaign = require "campaign"
local kinds = require "simulation.events".kinds

local GRIDS = { 1, 3, 64 }

-- A mass under a force, with a relay on its velocity. o.ub alone: the bounds are -o.ub and o.ub.
local function rub(o, steps)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local mass = ns.LagrangianDS({ o.q or 0 }, { o.v or 0 }, { { 1 } })
  mass:setComputeFExtFunction(function(t, _, f) f[1] = o.force(t) end)
  nsds:insertDynamicalSystem(mass)
  local law = ns.RelayNSL(1, o.lb or function(t) return -o.ub(t) end, o.ub)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } }, "rub"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.T / steps), ns.RungeKuttaOSI()), mass, law
end

-- A block of mass 1 on an incline with the angle o.angle, g = 10. o.dim: of the contact.
local function block(o, steps, scheme)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local q, v, f = ns.zeros(o.dim), ns.zeros(o.dim), ns.zeros(o.dim)
  v[2], f[1], f[2] = o.v or 0, -10 * math.cos(o.angle), 10 * math.sin(o.angle)
  local body = ns.LagrangianLinearTIDS(q, v, ns.eye(o.dim))
  body:setFExtPtr(f)
  nsds:insertDynamicalSystem(body)
  local law = ns[o.law or "NewtonImpactFrictionNSL"](0, 0, o.mu, o.dim)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(o.dim)), "ground"), body)
  local grid = ns.TimeDiscretisation(0, o.T / steps)
  if scheme then return ns.TimeStepping(nsds, grid, scheme), body, law end
  return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()), body, law
end

-- Checks kinds and times of events and the state at the end, on several grids.
local function runs_as(make, o, kinds_wanted, times, q, v, near)
  for _, steps in ipairs(GRIDS) do
    local simu, body = make(o, steps)
    simu:run()
    local i = #body:q() > 1 and 2 or 1
    assert.equal(kinds_wanted, kinds(simu:events()), "steps: " .. steps)
    for k, time in ipairs(times) do assert.near(time, simu:events()[k].t, near or 1e-10) end
    assert.near(q, body:q()[i], near or 1e-10)
    assert.near(v, body:velocity()[i], near or 1e-10)
  end
end

local function constant(value) return function() return value end end

describe("relays with moving bounds in mechanics", function()
  it("stick until the bound falls below the force, and slide at the bound, on any grid #once", function()
    -- v' = 0.3 - capacity from 0.7 on, where the capacity is 0.3; it is 1 - t, 0, t - 2: v = 0.245 at t = 2
    local o = { T = 6, force = constant(0.3), ub = function(t) return math.max(0, math.abs(t - 1.5) - 0.5) end }
    local stop = 2.3 + math.sqrt(0.09 + 0.69)
    local w = stop - 2
    local q = 0.3 ^ 3 / 6 + 0.045 + 0.3 / 2 + 0.345 * w + 0.3 * w ^ 2 / 2 - w ^ 3 / 6
    runs_as(rub, o, "slip stick", { 0.7, stop }, q, 0)
  end)

  it("see a dip of 1/60 of the run in one step of the grid #once", function()
    local o = { T = 50, force = constant(1), ub = function(t) return 1.1 - 0.9 * math.exp(-((t - 25) / 0.3) ^ 2) end }
    for _, steps in ipairs(GRIDS) do
      local simu, mass = rub(o, steps)
      simu:run()
      assert.equal("slip stick", kinds(simu:events()))
      assert.near(25 - 0.3 * math.sqrt(math.log(9)), simu:events()[1].t, 1e-12)
      assert.near(0.89071854249, mass:q()[1], 1e-10) -- of the run with 5000 steps
    end
  end)

  it("are at rest without a capacity and without a force, and begin to slide when a force begins #once", function()
    local function falls(t) return math.max(0, 1 - t) end
    runs_as(rub, { T = 3, force = constant(0), ub = falls }, "", {}, 0, 0)
    local simu, mass = rub({ T = 3, force = function(t) return math.max(0, t - 2) end, ub = falls }, 10)
    simu:run()
    assert.equal("slip", kinds(simu:events()))
    assert.near(2, simu:events()[1].t, 1e-15)
    assert.near(0.5, mass:velocity()[1], 1e-12)
    runs_as(rub, { T = 3, force = constant(0), ub = function(t) return math.cos(2 * t) ^ 2 end }, "", {}, 0, 0)
  end)

  it("may jump: the event is at the jump", function()
    local o = { T = 5, force = constant(1), ub = function(t) return t < 1.01 and 2 or t < 2.03 and 0.1 or 2 end }
    local v = 0.9 * 1.02
    runs_as(rub, o, "slip stick", { 1.01, 2.03 + v }, v * 1.02 / 2 + v ^ 2 / 2, 0, 1e-9)
    local simu = rub(o, 7)
    simu:run()
    assert.equal(1.01, simu:events()[1].t)
  end)

  it("start as the bounds at the start say #once", function()
    -- beyond the bound; at the bound, which falls; between bounds that exclude 0; with a velocity
    runs_as(rub, { T = 1, force = constant(1), ub = function(t) return 0.5 * t end }, "", {}, 0.5 - 0.5 / 6, 0.75)
    runs_as(rub, { T = 1, force = constant(1), ub = function(t) return 1 - t end }, "slip", { 0 }, 1 / 6, 0.5, 1e-7)
    runs_as(rub, { T = 1, force = constant(0), lb = function(t) return 1 + t end, ub = 5 }, "", {}, 0.5 + 1 / 6, 1.5)
    runs_as(rub, { T = 1, force = constant(-2.5), lb = function(t) return 2 + t end, ub = 5 }, "slip", { 0.5 }, 0.125 / 6, 0.125)
    runs_as(rub, { T = 2, v = 0.5, force = constant(0), ub = function(t) return t end }, "stick", { 1 }, 1 / 3, 0)
  end)

  it("refuse a bound that is infinite at times", function()
    local simu = rub({ T = 3, force = constant(1), ub = function(t) return t < 1 and math.huge or 0.5 end }, 10)
    assert.error_matches(function() simu:run() end,
      "EventDriven: interaction 'rub': a bound becomes infinite, or finite %(t=1")
  end)

  it("keep the account of the energy", function()
    local simu, mass = rub({ T = 3, v = 1, force = constant(0.3), ub = function(t) return 0.2 + 0.1 * math.sin(3 * t) end }, 10)
    simu:energy() -- begins the account
    simu:run()
    local e = simu:energy()
    assert.near(0.5 * mass:velocity()[1] ^ 2, e.kinetic, 1e-12)
    assert.near(e.kinetic - 0.5, e.friction + e.forces, 1e-11)
    assert.is_true(e.friction < -0.1)
    assert.near(0, e.numerical, 1e-11)
  end)
end)

describe("friction with a mu that is a function of time", function()
  it("lets a block on an incline begin to slide where mu is the tangent of its angle #once", function()
    for dim = 2, 3 do
      local begins = (0.5 - math.tan(0.3)) / 0.1
      local rate, way = math.cos(0.3), 4 - begins -- v' = 10 sin - mu 10 cos = rate (t - begins)
      runs_as(block, { dim = dim, T = 4, angle = 0.3, mu = function(t) return 0.5 - 0.1 * t end }, "rest slip",
        { 0, begins }, rate * way ^ 3 / 6, rate * way ^ 2 / 2)
    end
  end)

  it("brakes with mu at each moment, and may be 0, and jump #once", function()
    for dim = 2, 3 do
      runs_as(block, { dim = dim, T = 1, v = 3, angle = 0, mu = function(t) return 0.1 + 0.2 * t end }, "rest", {},
        3 - 0.5 - 1 / 3, 1)
      local stop = 1 + math.sqrt(0.2)
      runs_as(block, { dim = dim, T = 3, v = 1, angle = 0, mu = function(t) return math.max(0, t - 1) end }, "rest stick",
        { 0, stop }, stop - 0.2 ^ 1.5 * 10 / 6, 0)
      runs_as(block, { dim = dim, T = 3, angle = 0, mu = function(t) return math.max(0, 1 - t) end }, "rest", {}, 0, 0)
      local N, F = 10 * math.cos(0.3), 10 * math.sin(0.3)
      local v, slow = (F - 0.1 * N) * 0.87, 2 * N - F
      runs_as(block, { dim = dim, T = 3, angle = 0.3, mu = function(t) return t < 1.23 and 1 or t < 2.1 and 0.1 or 2 end },
        "rest slip stick", { 0, 1.23, 2.1 + v / slow }, v * 0.87 / 2 + v ^ 2 / slow / 2, 0, 1e-8)
    end
  end)

  it("is that of the end of each step in time stepping, with each scheme and law", function()
    local function mu(t) return 0.1 + 0.2 * t end
    for _, law in ipairs { "NewtonImpactFrictionNSL", "FremondImpactFrictionNSL" } do
      for _, make in ipairs { function() return ns.MoreauJeanOSI(1) end, ns.MoreauJeanBilbaoOSI } do
        for dim = 2, 3 do
          local o = { dim = dim, T = 1, v = 3, angle = 0, mu = mu, law = law }
          local simu, body, moving = block(o, 64, make())
          simu:run()
          o.mu = 0
          local other, same, number = block(o, 64, make())
          for k = 1, 64 do
            number:setMu(mu(k / 64))
            other:computeOneStep()
            other:nextStep()
          end
          assert.equal(same:velocity(), body:velocity())
          assert.near(1, body:velocity()[2], 0.05)
          assert.equal(mu(1), moving:mu())
        end
      end
    end
  end)

  it("acts on impulses with its value at the impact", function()
    -- a ball falls for a time of 1 on the ground: its tangential impulse is mu(1) times the normal one, or stops it
    for _, mu in ipairs { 0.2, 5 } do
      local nsds, ball = ns.NonSmoothDynamicalSystem(0, 1.5), ns.LagrangianLinearTIDS({ 5, 0 }, { 0, 4 }, ns.eye(2))
      ball:setFExtPtr { -10, 0 }
      nsds:insertDynamicalSystem(ball)
      local law = ns.NewtonImpactFrictionNSL(0.5, 0, function(t) return mu * t end, 2)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(2)), "ground"), ball)
      ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1.5), ns.RungeKuttaOSI()):run()
      assert.near(math.max(0, 4 - mu * 15), ball:velocity()[2], 1e-11)
    end
  end)
end)

-- A mass on a spring with a moving relay, and a block with a moving mu under a normal force that moves.
local function relay_of(o, steps)
  local function force(t) return 1.3 * math.sin(2 * t) end
  local simu, mass, law = rub({ T = 4, q = o.q, v = o.v, force = force, ub = o.bound }, steps)
  mass:setComputeFIntFunction(function(_, q, _, _, f) f[1] = q[1] end)
  return simu, mass, law
end

local function contact_of(o, steps)
  local nsds, v = ns.NonSmoothDynamicalSystem(0, 4), ns.zeros(o.dim)
  local q = ns.zeros(o.dim)
  q[1], q[2], v[2], v[3 > o.dim and 2 or 3] = o.height or 0, o.q, o.v, o.dim == 3 and 0.3 or o.v
  local mass = ns.LagrangianDS(q, v, ns.eye(o.dim))
  mass:setComputeFExtFunction(function(t, _, f) f[1], f[2] = -3 + 0.5 * math.sin(3 * t), 1.3 * math.sin(2 * t) end)
  mass:setComputeFIntFunction(function(_, s, _, _, f)
    for i = 2, o.dim do f[i] = (i - 1) * s[i] end
  end)
  nsds:insertDynamicalSystem(mass)
  local law = ns.NewtonImpactFrictionNSL(0.6, 0, o.bound, o.dim)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(o.dim)), "ground"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 4 / steps), ns.RungeKuttaOSI()), mass, law
end

describe("moving bounds and friction in mechanics", function()
  local function smooth(t) return 0.3 + 0.2 * math.sin(5 * t) end
  local function jumps(t) return t < 1.7 and 0.6 or t < 2.6 and 0.1 or 0.25 end
  local models = {
    { relay_of, { bound = function(t) return 0.9 + 0.6 * math.sin(2 * t) end, q = 0.3, v = 0.4 } },
    { relay_of, { bound = function(t) return 0.6 + math.abs(t - 2.2) * 0.5 end, q = 0.3, v = 0.4 } },
    { relay_of, { bound = function(t) return t < 1.7 and 2 or t < 2.6 and 0.2 or 0.7 end, q = 0.3, v = 0.4 } },
    { contact_of, { bound = smooth, dim = 2, q = 0.3, v = 1 } },
    { contact_of, { bound = jumps, dim = 2, q = 0.3, v = 1 } },
    { contact_of, { bound = smooth, dim = 3, q = 0.3, v = 1 } },
    { contact_of, { bound = jumps, dim = 3, q = 0.3, v = 1 } },
    { contact_of, { bound = smooth, dim = 2, q = 0.3, v = 1, height = 0.5 } },
  }

  local function derivatives_of(numbers)
    for _, k in ipairs(numbers) do
      local make, o = models[k][1], models[k][2]
      local i = o.dim and 2 or 1
      local function last(dq, dv)
        local with = {}
        for key, value in pairs(o) do with[key] = value end
        with.q, with.v = o.q + dq, o.v + dv
        local simu, mass = make(with, 20)
        simu:run()
        return mass:q()[i]
      end
      local e = 1e-5
      local wanted = { (last(e, 0) - last(-e, 0)) / (2 * e), (last(0, e) - last(0, -e)) / (2 * e) }
      local simu, mass, law = make(o, 20)
      local parameters = { { mass, "q0", i }, { mass, "velocity0", i } }
      local sol = simu:run { sensitivities = parameters }
      simu:reset()
      local _, gradient = simu:gradient { parameters = parameters, terminal = function(x) return x[i] end }
      for j = 1, 2 do
        assert.near(wanted[j], sol.S[#sol][i][j], 1e-8, "model " .. k)
        assert.near(wanted[j], gradient[j], 1e-8, "model " .. k)
      end
      simu:reset()
      assert.error_matches(function() simu:run { sensitivities = { { law, o.dim and "mu" or "ub" } } } end,
        (o.dim and "mu of 'ground'" or "ub of 'rub'") .. " is a function of time; a parameter is a number")
    end
  end
  it("have derivatives by other parameters, forward and back #once", function() derivatives_of { 3, 5 } end)
  it("have derivatives in smooth motion, at kinks and in space #long", function() derivatives_of { 1, 2, 4, 6, 7, 8 } end)

  it("go on in a clone and from a file, and run again after reset #once", function()
    for _, k in ipairs { 2, 5 } do
      local make, o = models[k][1], models[k][2]
      local simu, mass = make(o, 20)
      simu:run()
      local q, events = mass:q():copy(), kinds(simu:events())
      simu:reset()
      simu:run()
      assert.equal(q, mass:q(), "model " .. k)
      assert.equal(events, kinds(simu:events()))
      simu:reset()
      for _ = 1, 9 do
        simu:computeOneStep()
        simu:nextStep()
      end
      local copy = simu:clone()
      local other, there = make(o, 20)
      local file = os.tmpname()
      simu:save_state(file)
      other:load_state(file)
      os.remove(file)
      copy:run()
      other:run()
      assert.equal(q, copy:nsds():dynamicalSystem(1):q(), "model " .. k)
      assert.equal(q, there:q(), "model " .. k)
    end
  end)
end)

-- Random masses on springs with dampers, with moving relays: the rows of a model.
local function family(seed)
  math.randomseed(seed)
  local function between(a, b) return a + (b - a) * math.random() end
  local rows, chosen = {}, math.random(4)
  for i = 1, math.random(1, 3) do
    local a, b, w, p = between(0.5, 1), between(0, 0.6), between(1, 6), between(0, 6)
    local A, w3, p3 = between(0.5, 1.5), between(1, 4), between(0, 6)
    local at, depth = between(1, 3), between(0.3, 1)
    local half = ({
      function(t) return math.max(0, a + b * math.sin(w * t + p)) end,        -- smooth
      function(t) return a * math.abs(math.cos(w / 2 * t + p)) end,           -- with kinks at 0
      function(t) return t < at and a or a * (1 - depth) end,                 -- jumps down
      function(t) return math.max(0, math.abs(t - at) - 0.4 * depth) end,     -- no capacity for a while
    })[(chosen + i) % 4 + 1]
    rows[i] = { half = half, force = function(t) return A * math.sin(w3 * t + p3) end, couple = between(-0.5, 0.5),
      k = between(0, 4), c = between(0, 0.3), m = between(0.5, 2), q = between(-0.5, 0.5),
      v = math.random() < 0.5 and 0 or between(-1, 1) }
  end
  return rows
end

-- The force of row i without its relay.
local function force_of(rows, i, t, q, v)
  local row = rows[i]
  return row.force(t) - row.k * q[i] - row.c * v[i] + row.couple * q[i % #rows + 1]
end

local function of_mechanics(rows, steps, scheme)
  local n, nsds, q, v, M = #rows, ns.NonSmoothDynamicalSystem(0, 4), {}, {}, ns.zeros(#rows, #rows)
  for i, row in ipairs(rows) do q[i], v[i], M[i][i] = row.q, row.v, row.m end
  local sys = ns.LagrangianDS(q, v, M)
  sys:setComputeFExtFunction(function(t, _, f)
    for i, row in ipairs(rows) do f[i] = row.force(t) end
  end)
  sys:setComputeFIntFunction(function(t, s, u, _, f)
    for i = 1, n do f[i] = rows[i].force(t) - force_of(rows, i, t, s, u) end
  end)
  nsds:insertDynamicalSystem(sys)
  local h = 4 / steps
  for i, row in ipairs(rows) do
    local H, unit = ns.zeros(1, n), scheme and h or 1
    H[1][i] = 1
    local law = ns.RelayNSL(1, function(t) return -unit * row.half(t) end, function(t) return unit * row.half(t) end)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(H), "row " .. i), sys)
  end
  local grid = ns.TimeDiscretisation(0, h)
  local simu = scheme and ns.TimeStepping(nsds, grid, scheme) or ns.EventDriven(nsds, grid, ns.RungeKuttaOSI())
  simu:run()
  return sys:q(), sys:velocity(), simu
end

local function of_first_order(rows, steps)
  local n, nsds, x0 = #rows, ns.NonSmoothDynamicalSystem(0, 4), {}
  for i, row in ipairs(rows) do x0[i], x0[n + i] = row.q, row.v end
  local sys = ns.FirstOrderNonLinearDS(x0, function(t, x, _, f)
    local q, v = {}, {}
    for i = 1, n do q[i], v[i] = x[i], x[n + i] end
    for i = 1, n do f[i], f[n + i] = v[i], force_of(rows, i, t, q, v) / rows[i].m end
  end)
  nsds:insertDynamicalSystem(sys)
  for i, row in ipairs(rows) do
    local C, B = ns.zeros(1, 2 * n), ns.zeros(2 * n, 1)
    C[1][n + i], B[n + i][1] = 1, 1 / row.m
    local law = ns.RelayNSL(1, function(t) return -row.half(t) end, row.half)
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR(C, B), "row " .. i), sys)
  end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 4 / steps), ns.RungeKuttaOSI())
  simu:run()
  return sys:x(), simu
end

local function times(simu)
  local list = {}
  for i, event in ipairs(simu:events()) do list[i] = event.t end
  return list
end

-- Checks coordinates, velocities and events against those of another simulation.
local function same_run(where, wanted, simu, q, v, near)
  for i = 1, #q do
    assert.near(wanted.q[i], q[i], near, where)
    assert.near(wanted.v[i], v[i], near, where)
  end
  local found = times(simu)
  assert.equal(#wanted.times, #found, where)
  for i, time in ipairs(found) do assert.near(wanted.times[i], time, 10 * near, where) end
end

-- A block on the ground under forces that move. dim: of a contact with a mu; nil: a relay on mu times the normal force.
local function of_block(row, steps, dim)
  local function normal(t) return 3 + row.couple * math.sin(2 * t) end
  local q, v = ns.zeros(dim or 1), ns.zeros(dim or 1)
  local at = dim and 2 or 1
  q[at], v[at] = row.q, row.v
  local nsds, body = ns.NonSmoothDynamicalSystem(0, 4), ns.LagrangianDS(q, v, row.m * ns.eye(#q))
  body:setComputeFExtFunction(function(t, _, f)
    f[1] = -normal(t)
    f[at] = row.force(t)
  end)
  body:setComputeFIntFunction(function(_, s, u, _, f) f[at] = row.k * s[at] + row.c * u[at] end)
  nsds:insertDynamicalSystem(body)
  local function most(t) return row.half(t) * normal(t) / 3 end
  local law = dim and ns.NewtonImpactFrictionNSL(0, 0, function(t) return row.half(t) / 3 end, dim)
    or ns.RelayNSL(1, function(t) return -most(t) end, most)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(#q)), "ground"), body)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 4 / steps), ns.RungeKuttaOSI())
  simu:run()
  return simu, { body:q()[at] }, { body:velocity()[at] }
end

describe("random machines with moving bounds", function()
  local count, told = campaign(2, 0.01)

  it("have the motion and the events of the same machine of first order, on any grid #once", function()
    for seed = 1, count do
      local rows = family(seed)
      local n = #rows
      local x, same = of_first_order(rows, 64)
      local wanted = { q = x, v = {}, times = times(same) }
      for i = 1, n do wanted.v[i] = x[n + i] end
      for _, steps in ipairs { 1, 7, 64 } do
        local q, v, simu = of_mechanics(rows, steps)
        same_run(("seed %d, %d steps"):format(seed, steps), wanted, simu, q, v, 1e-7)
      end
      if seed <= 2 then
        local q = of_mechanics(rows, 4000, ns.MoreauJeanOSI(0.5))
        for i = 1, n do assert.near(x[i], q[i], 3e-3, ("seed %d, time stepping"):format(seed)) end
      end
    end
    told("moving bounds in mechanics, against first order", count)
  end)

  it("have the friction mu N of a relay on that bound, in the plane and in space #once", function()
    for seed = 1, count do
      local row = family(seed)[1]
      local simu, q, v = of_block(row, 64)
      local wanted = { q = q, v = v, times = times(simu) }
      for _, dim in ipairs { 2, 3 } do
        for _, steps in ipairs { 1, 64 } do
          local run, q2, v2 = of_block(row, steps, dim)
          local events = {}
          for _, event in ipairs(run:events()) do
            if event.kind ~= "rest" then events[#events + 1] = event end
          end
          same_run(("seed %d, dim %d, %d steps"):format(seed, dim, steps), wanted, { events = function() return events end },
            q2, v2, 1e-7)
        end
      end
    end
    told("moving friction, against relays", count)
  end)
end)

describe("a force that is equal to the capacity of friction, until that falls", function()
  -- A block of mass 1 at rest under the pressure 10, pushed with 1; friction of capacity b(t). Returns the way along the
  -- force and what is across it, in the plane (dim = 2) or in space.
  local function run(b, dim, h)
    local angle = 0.7
    local push = dim == 2 and { -10, 1 } or { -10, math.cos(angle), math.sin(angle) }
    local ds = ns.LagrangianLinearTIDS(ns.zeros(dim), ns.zeros(dim), ns.eye(dim))
    ds:setFExtPtr(ns.vector(push))
    local nsds = ns.NonSmoothDynamicalSystem(0, h * (1.25 // h))
    nsds:insertDynamicalSystem(ds)
    local law = ns.NewtonImpactFrictionNSL(0, 0, function(t) return 0.1 * b(t) end, dim)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(dim)), "block"), ds)
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()):run()
    local x, happened = sol.x[#sol.t], {}
    for i, e in ipairs(sol.events) do happened[i] = e.kind end
    assert.same({ "rest", "slip" }, happened)
    if dim == 2 then return x[2], 0 end
    return math.cos(angle) * x[2] + math.sin(angle) * x[3], math.cos(angle) * x[3] - math.sin(angle) * x[2]
  end
  local cases = {
    ["as a cube"] = function(t) return 1 - 0.5 * math.max(t - 0.95, 0) ^ 3 end,
    ["as a square"] = function(t) return 1 - 0.5 * math.max(t - 0.95, 0) ^ 2 end,
    ["exponentially"] = function(t) return 1 - 0.5 / (1 + math.exp(40 * (1 - t))) end,
  }
  for name, b in pairs(cases) do
    it("slips in space as in the plane where it falls " .. name, function()
      for _, h in ipairs { 0.037, 0.1, 0.2 } do
        local plane, space, across = run(b, 2, h), run(b, 3, h)
        assert.near(plane, space, 1e-7 * plane)
        assert.near(0, across, 1e-9 * plane)
      end
      assert.near(0.25 ^ 5 / 40, name == "as a cube" and run(b, 3, 0.1) or 0.25 ^ 5 / 40, 1e-10)
    end)
  end
end)
