local ns = require "nslua"
local models = require "sensitive_models"
local random = require "random_numbers"

-- x'' + 2 zeta x' + x = amplitude cos(w t) with a wall at x = wall, e = 0.8, over one period.
local function oscillator(o, sensitivities)
  local ball, law = ns.LagrangianLinearTIDS({ o.x }, { o.v }, { { 1 } }), ns.NewtonImpactNSL(0.8)
  ball:setKPtr(ns.matrix { { 1 } })
  ball:setCPtr(ns.matrix { { 2 * o.zeta } })
  ball:setzPtr(ns.vector { o.amplitude })
  ball:setComputeFExtFunction(function(t, z, f) f[1] = z[1] * math.cos(o.w * t) end)
  local T = 2 * math.pi / o.w
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ball)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { -1 } }, { o.wall }), "wall"), ball)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, T), ns.RungeKuttaOSI())
  return simu:run { sensitivities = sensitivities and sensitivities(ball, law) or { "x0" } }
end

describe("the derivatives of a run of mechanics #once", function()
  it("are the monodromy of an orbit with impacts", function()
    local sol = oscillator { x = -0.6523759000145717, v = 0.07134713192326629, zeta = 0.05, amplitude = 1, w = 2.6, wall = 0 }
    local exact = { { -0.915581551153503, -3.1822720311281185 }, { 0.12823476346153118, -0.10324412979575978 } }
    for i = 1, 2 do
      for j = 1, 2 do assert.near(exact[i][j], sol.S[#sol][i][j], 1e-9) end
    end
    assert.equal(2, #sol.events[1].dt)
    assert.near(sol.events[1].t, sol.t[2], 0)
    assert.near(0.8 * sol.x[2][2], -sol.x[3][2], 1e-12)
  end)

  it("have the trace and determinant of the orbit with one impact per period", function()
    local sol = oscillator { x = 0.8708351574636171, v = 1.7038211363751643, zeta = 0.05, amplitude = 1, w = 1, wall = 1 }
    local S = sol.S[#sol]
    assert.near(2 * -0.5842953143415296, S[1][1] + S[2][2], 1e-9)
    assert.near(0.64 * math.exp(-0.2 * math.pi), S[1][1] * S[2][2] - S[1][2] * S[2][1], 1e-9)
  end)

  for _, name in ipairs { "bounce", "rest", "stick_slip", "pendulum", "beads", "space" } do
    it("agree with central differences: " .. name, function()
      local count, compared, columns = (tonumber(os.getenv "NSLUA_SENSITIVITIES") or 50) // 50, 0, 0
      for k = 1, count do
        math.randomseed(7 * k)
        local p = models[name].draw()
        local worst, some = models.compare(models[name], p)
        compared, columns = compared + some, columns + #p
        assert.is_true(worst < 1e-7, ("%s %d: %g"):format(name, k, worst))
      end
      assert.is_true(compared >= 0.8 * columns)
    end)
  end

  it("have a row on both sides of an impact", function()
    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ball:setFExtPtr(ns.vector { -8 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.75)
    nsds:insertDynamicalSystem(ball)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.75), ns.RungeKuttaOSI()):run { sensitivities = { "x0" } }
    assert.equal(4, #sol) -- v = -4 at t = 1/2, whose derivative by q0 is 1/4
    assert.near(1, sol.S[2][1][1], 1e-12)
    assert.near(0, sol.S[2][2][1], 1e-12)
    assert.near(-0.5, sol.S[3][1][1], 1e-10)
    assert.near(3, sol.S[3][2][1], 1e-10)
  end)

  it("hold two contacts that stick and depend on each other", function()
    -- A box that slides on two corners, with a torque that does not lift it.
    local box = ns.LagrangianLinearTIDS({ 0, 0.5, 0 }, { 1, 0, 0 }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0.2 } })
    box:setFExtPtr(ns.vector { 0, -8, 0.1 })
    local law = ns.NewtonImpactFrictionNSL(0, 0, 0.25, 2)
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.9)
    nsds:insertDynamicalSystem(box)
    for _, px in ipairs { -0.5, 0.5 } do
      local corner = ns.LagrangianScleronomousR { h = function(q, _, y)
        local c, s = math.cos(q[3]), math.sin(q[3])
        y[1], y[2] = q[2] + s * px - c * 0.5, q[1] + c * px + s * 0.5
      end }
      nsds:link(ns.Interaction(law, corner), box)
    end
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.3), ns.RungeKuttaOSI())
    local sol = simu:run { sensitivities = { { box, "velocity0", 1 }, { law, "mu" } } }
    local S = sol.S[#sol] -- x = v^2 / (16 mu)
    assert.near(0.5, S[1][1], 1e-9)
    assert.near(-1, S[1][2], 1e-9)
    for i = 2, 6 do assert.near(0, S[i][1], 1e-9) end
  end)

  it("of a block that sticks and slips again do not drown in the rounding of its normal velocity", function()
    local count, worst, late = require("sensitive_comparison").compare(require("random_sensitive").draw(437), 2)
    assert.equal(2, count)
    assert.is_true(worst < 1e-7 and late < 1e-6)
  end)

  it("start from rest where the force by the parameter begins with a power of time", function()
    -- q2 = t^2 / 2, v1' = -q2 - z v2 |v1|: v1 is -t^3 / 6 at first, and its derivative by z t^5 / 30
    local function run(z, sensitivities)
      local ds, nsds = ns.LagrangianDS({ 0, 0 }, { 0, 0 }, ns.eye(2)), ns.NonSmoothDynamicalSystem(0, 3)
      ds:setzPtr(ns.vector { z })
      ds:setComputeFIntFunction(function(_, q, v, par, F) F[1], F[2] = q[2] + par[1] * v[2] * math.abs(v[1]), -1 end)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-11, 1e-11))
      local sol = simu:run { sensitivities = sensitivities }
      return ds:velocity()[1], sol
    end
    local _, sol = run(0.5, { "z" })
    local d = 1e-3
    assert.near((run(0.5 + d) - run(0.5 - d)) / (2 * d), sol.S[#sol][3][1], 1e-4)
    assert.near((8 * run(0.5 + d) - 8 * run(0.5 - d) - run(0.5 + 2 * d) + run(0.5 - 2 * d)) / (12 * d), sol.S[#sol][3][1], 1e-7)
  end)

  it("know a driving frequency after a long time", function()
    local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    mass:setzPtr(ns.vector { 2.5 })
    mass:setComputeFExtFunction(function(t, z, f) f[1] = math.cos(z[1] * t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 30)
    nsds:insertDynamicalSystem(mass)
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 10), ns.RungeKuttaOSI()):run { sensitivities = { "z" } }
    local a = 2.5 * 30 -- v = sin(w t) / w
    assert.near((a * math.cos(a) - math.sin(a)) / 2.5 ^ 2, sol.S[#sol][2][1], 1e-8)
  end)

  it("are there for a rod that falls, bounces and lies on both ends, with friction", function()
    local function run(mu, sensitive)
      local rod = ns.LagrangianLinearTIDS({ 0, 1.3, 0.9 }, { 0.5, 0, -0.3 }, ns.diag { 1, 1, 1 / 3 })
      rod:setFExtPtr(ns.vector { 0, -9.81, 0 })
      local nsds, law = ns.NonSmoothDynamicalSystem(0, 0.8), ns.NewtonImpactFrictionNSL(0.2, 0, mu, 2)
      nsds:insertDynamicalSystem(rod)
      for side = -1, 1, 2 do
        local tip = ns.LagrangianScleronomousR(function(q, _, y)
          y[1], y[2] = q[2] + side * math.sin(q[3]), q[1] + side * math.cos(q[3])
        end)
        nsds:link(ns.Interaction(law, tip), rod)
      end
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
      return simu:run { sensitivities = sensitive and { { law, "mu" } } or nil }
    end
    local h, sol = 1e-6, run(0.4, true)
    local up, down = run(0.4 + h), run(0.4 - h)
    assert.near((up.x[#up][1] - down.x[#down][1]) / (2 * h), sol.S[#sol][1][1], 1e-7)
    for i = 2, 6 do assert.near(0, sol.S[#sol][i][1], 1e-12) end
  end)

  it("of rigid bodies are tangent to the sphere of the quaternion", function()
    local inertia = { { 1, 0, 0 }, { 0, 1.5, 0 }, { 0, 0, 2 } }
    local function run(parameters, en)
      local body = ns.NewtonEulerDS({ 0.1, 0, 1, 1, 0, 0, 0 }, { 1, 0, 0, 3, 2, 1 }, 2, inertia)
      body:setFExtPtr(ns.vector { 0, 0, -20 })
      local law = ns.NewtonImpactFrictionNSL(en or 0.6, 0, 0.2, 3)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.9)
      nsds:insertDynamicalSystem(body)
      local contact = ns.contact.sphere_plane(0.3, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      nsds:link(ns.Interaction(law, contact, "floor"), body)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.3), ns.RungeKuttaOSI())
      return simu:run { sensitivities = parameters and parameters(body, law) }
    end
    local sol = run(function(body, law) return { { body, "q0", 4 }, { body, "velocity0", 5 }, { law, "en" } } end)
    local S, x, h = sol.S[#sol], sol.x[#sol], 1e-5
    assert.equal("ds 1.q0[4] ds 1.velocity0[5] floor.en", table.concat(sol.sensitivities, " "))
    for j = 1, 3 do
      local sum = 0
      for i = 4, 7 do sum = sum + x[i] * S[i][j] end
      assert.near(0, sum, 1e-9)
    end
    for i = 1, 13 do assert.near(0, S[i][1], 1e-10) end -- the start is normalised
    local above, below = run(nil, 0.6 + h), run(nil, 0.6 - h)
    for i = 1, 13 do assert.near((above.x[#above][i] - below.x[#below][i]) / (2 * h), S[i][3], 1e-7) end
  end)

  -- A mass that starts at velocity 0 on `law`, in the rows C, under the force; parameters(mass, law).
  local function at_rest(law, C, force, parameters)
    local n = #force
    local zeros = {}
    for i = 1, n do zeros[i] = 0 end
    local mass = ns.LagrangianLinearTIDS(zeros, zeros, ns.eye(n))
    mass:setFExtPtr(ns.vector(force))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(mass)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(C), "floor"), mass)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local sol = simu:run { sensitivities = parameters(mass, law) }
    return sol.S[#sol]
  end

  local slips = "sensitivities: 'floor' begins to slip where the run starts at t=0, and a parameter moves its velocity; "
    .. 'on_grazing = "one-sided" takes the side that the run goes'
  local friction = {
    relay = { function() return ns.RelayNSL(1, -1, 1) end, { { 1 } }, { 2 } },
    plane = { function() return ns.NewtonImpactFrictionNSL(0, 0, 0.1, 2) end, { { 0, 1 }, { 1, 0 } }, { 2, -10 } },
    space = { function() return ns.NewtonImpactFrictionNSL(0, 0, 0.1, 3) end, { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } },
      { 2, 0, -10 } },
  }
  for name, model in pairs(friction) do
    it("tell, or take the side, where the run starts at velocity 0 and slips at once: " .. name, function()
      local law, C, force = model[1], model[2], model[3]
      local n = #force
      local along = at_rest(law(), C, force, function(mass) return { { mass, "velocity0", 1 }, on_grazing = "one-sided" } end)
      assert.near(1, along[1][1], 1e-10)
      assert.near(1, along[n + 1][1], 1e-10)
      local ok, message = pcall(at_rest, law(), C, force, function(mass) return { { mass, "velocity0", 1 } } end)
      assert.is_false(ok)
      assert.matches(slips, tostring(message), 1, true)
      local other = at_rest(law(), C, force, function(mass, rub)
        return { { rub, name == "relay" and "lb" or "mu" }, { mass, "q0", 1 } }
      end)
      assert.near(name == "relay" and 1 or -10, other[n + 1][1], 1e-9) -- a = 2 + lb, 2 - 10 mu
      assert.near(1, other[1][2], 1e-12)
      local stuck = {}
      for i, f in ipairs(force) do stuck[i] = i == 1 and 0.5 or f end
      assert.near(0, at_rest(law(), C, stuck, function(mass) return { { mass, "velocity0", 1 } } end)[n + 1][1], 1e-12)
    end)
  end

  it("have no side across the slip that begins in space", function()
    local law, C, force = table.unpack(friction.space)
    local ok, message = pcall(at_rest, law(), C, force, function(mass)
      return { { mass, "velocity0", 2 }, on_grazing = "one-sided" }
    end)
    assert.is_false(ok)
    assert.matches("a parameter moves its velocity across the slip: there is no derivative, to no side; start the run with "
      .. "a velocity", tostring(message), 1, true)
  end)

  it("take the open side of a contact that opens at the start, and tell of one that is hit there", function()
    local function open(o)
      return at_rest(ns.NewtonImpactNSL(0.5), { { 1 } }, { 2 }, function(mass)
        return { { mass, "q0" }, { mass, "velocity0" }, on_grazing = o }
      end)
    end
    local S = open "one-sided"
    assert.near(1, S[1][1], 1e-12)
    assert.near(1, S[1][2], 1e-12)
    assert.near(1, S[2][2], 1e-12)
    assert.has_error.matches(function() open() end, "the contact 'floor' is closed where the run starts")
    local function hit(field)
      local ball = ns.LagrangianLinearTIDS({ 0 }, { -1 }, { { 1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ball)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }, "floor"), ball)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
      local sol = simu:run { sensitivities = { { ball, field }, on_grazing = "one-sided" } }
      return sol.S[#sol]
    end
    assert.near(-0.5, hit "velocity0"[1][1], 1e-12)
    assert.has_error.matches(function() hit "q0" end,
      "the contact 'floor' is hit where the run starts at t=0, and a parameter moves it: start the run before the impact, "
        .. "or after it")
  end)

  it("change with the units by powers of two, to the last bit", function()
    local function run(length, time, mass)
      local v, a = length / time, length / time ^ 2
      local ball = ns.LagrangianLinearTIDS({ 0, 0.7 * length }, { 2 * v, -0.3 * v }, { { mass, 0 }, { 0, mass } })
      ball:setFExtPtr(ns.vector { 0, -9.81 * mass * a })
      local law = ns.NewtonImpactFrictionNSL(0.4, 0, 0.1, 2)
      local nsds = ns.NonSmoothDynamicalSystem(0, 2.4 * time)
      nsds:insertDynamicalSystem(ball)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 0, 1 }, { 1, 0 } }), "floor"), ball)
      local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.8 * time), ns.RungeKuttaOSI()):run {
        sensitivities = { { ball, "q0", 2 }, { ball, "velocity0", 1 }, { law, "en" }, { law, "mu" } } }
      return sol.S[#sol]
    end
    local length, time = 2 ^ 40, 2 ^ -20
    local one, other = run(1, 1, 1), run(length, time, 2 ^ 33)
    local row, column = { length, length, length / time, length / time }, { length, length / time, 1, 1 }
    for i = 1, 4 do
      for j = 1, 4 do assert.equal(one[i][j], other[i][j] / row[i] * column[j]) end
    end
  end)

  it("join first order and mechanics", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.75)
    local plant = ns.FirstOrderLinearTIDS({ -1 }, { { 0 } }, { 2 })
    local ball, law = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }), ns.NewtonImpactNSL(0.5)
    ball:setFExtPtr(ns.vector { -8 })
    nsds:insertDynamicalSystem(plant)
    nsds:insertDynamicalSystem(ball)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "switch"), plant)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 1 } }), "floor"), ball)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI())
    local sol = simu:run { sensitivities = { "x0", { law, "e" } } }
    local S = sol.S[#sol] -- impact at t = 1/2 with v = -4, then v = 4 e - 8 (t - 1/2), q = 4 e / 4 - 1/4
    assert.near(1 / 3, S[1][1], 1e-10)
    assert.near(1, S[2][4], 1e-10)
    assert.near(4, S[3][4], 1e-10)
    assert.equal(0, S[1][2] + S[1][3] + S[1][4] + S[2][1] + S[3][1])
    local row = 0
    for k = 1, #sol do
      if sol.t[k] == sol.events[1].t then row = k end
    end
    assert.near(-8 * sol.t[row], sol.x[row][3], 1e-9)
    assert.near(sol.t[row], sol.S[row][2][3], 1e-9) -- of the ball, at the switch of the other system
  end)

  it("tell a contact that only touches", function()
    local function touch(on_grazing)
      local ball = ns.LagrangianLinearTIDS({ 0.5 }, { -1 }, { { 1 } })
      ball:setFExtPtr(ns.vector { 1 }) -- q = (t - 1)^2 / 2
      local nsds = ns.NonSmoothDynamicalSystem(0, 2.5)
      nsds:insertDynamicalSystem(ball)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }, { -1e-13 }), "floor"), ball)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2.5), ns.RungeKuttaOSI())
      return simu:run { sensitivities = { "x0", on_grazing = on_grazing } }
    end
    local ok, message = pcall(touch)
    assert.is_false(ok)
    assert.is_truthy(message:find("sensitivities: the event of 'floor' at t=%S+ grazes: its time has no derivative there"), message)
    local sol = touch "one-sided"
    assert.near(1, sol.S[#sol][1][1], 1e-5)
  end)

  it("tell a start on a contact that a parameter opens, and simultaneous impacts", function()
    local ball = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    ball:setFExtPtr(ns.vector { -1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }), "floor"), ball)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    assert.has_error(function() simu:run { sensitivities = { "x0" } } end,
      "sensitivities: the contact 'floor' is closed where the run starts at t=0, and a parameter opens it; on_grazing = "
        .. '"one-sided" takes the side that the run goes: closed, or open where it opens at once (t=0 step 1)')
    local sol = simu:run { sensitivities = { "x0", on_grazing = "one-sided" } }
    assert.near(0, sol.S[#sol][1][1], 1e-12)

    local pair = ns.NonSmoothDynamicalSystem(0, 1)
    local balls = ns.LagrangianLinearTIDS({ 0.5, 0.5 }, { -1, -1 }, { { 1, 0.2 }, { 0.2, 1 } })
    pair:insertDynamicalSystem(balls)
    pair:link(ns.Interaction(ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR({ { 1, 0 } }), "left"), balls)
    pair:link(ns.Interaction(ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR({ { 0, 1 } }), "right"), balls)
    local both = ns.EventDriven(pair, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    local ok, message = pcall(both.run, both, { sensitivities = { "x0" } })
    assert.is_false(ok)
    assert.is_truthy(message:find("sensitivities: the events of '%a+' and '%a+' at t=0.5 are simultaneous, and their order depends "
      .. "on the parameters"), message)
  end)

  describe("where friction starts at the limit of its force", function()
    -- The rates of the velocity by z at the end of a second; the force on a block is z + c t, the limit is 4.
    local function block(dim, c, on_grazing)
      local M, zero = ns.eye(dim), {}
      for i = 1, dim do zero[i] = 0 end
      local body = ns.LagrangianLinearTIDS(zero, zero, M)
      body:setzPtr(ns.vector { 4 })
      body:setComputeFExtFunction(function(t, z, f) f[1], f[dim] = z[1] + c * t, -16 end)
      local rows = dim == 2 and { { 0, 1 }, { 1, 0 } } or { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(body)
      local law = ns.NewtonImpactFrictionNSL(0, 0, 0.25, dim)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(rows), "floor"), body)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
      local sol = simu:run { sensitivities = { "z", on_grazing = on_grazing } }
      return sol.S[#sol][dim + 1][1]
    end

    it("the force's own change decides", function()
      for dim = 2, 3 do
        assert.near(1, block(dim, 1), 1e-9)
        assert.equal(0, block(dim, -1))
      end
    end)

    it("is told where the force stays there", function()
      for dim = 2, 3 do
        assert.equal(0, block(dim, 0, "one-sided"))
        local good, message = pcall(block, dim, 0)
        assert.is_false(good)
        message = tostring(message):gsub("^.-: (sensi)", "%1")
        assert.equal("sensitivities: the force of 'floor' is at its limit where the run starts at t=0, and stays there; "
          .. "a parameter moves it beyond; on_grazing = \"one-sided\" takes the side that the run goes: "
          .. "no slip (t=0 step 1)", message)
      end
    end)
  end)
end)

-- The largest difference of S at the end from central differences of order 4 by the numbers p, relative to its column.
local function error_of(build, p)
  local simu, parameters = build(p)
  local sol = simu:run { sensitivities = parameters }
  local S, worst = sol.S[#sol], 0
  for j = 1, #p do
    local x, off, size = {}, 0, 0
    for _, k in ipairs { -2, -1, 1, 2 } do
      local q = table.move(p, 1, #p, 1, {})
      q[j] = q[j] + k * 1e-3
      local run = build(q):run()
      x[k] = run.x[#run]
    end
    for i = 1, #x[1] do
      local column = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / 12e-3
      off, size = math.max(off, math.abs(S[i][j] - column)), math.max(size, math.abs(column))
    end
    worst = math.max(worst, off / size)
  end
  return worst, sol
end

local function event_driven(T, system, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(system)
  for _, inter in ipairs { ... } do nsds:link(inter, system) end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 4), ns.RungeKuttaOSI())
end

describe("the closed forms of mechanics #once", function()
  -- States that are 0 at the start have no size yet; the derivatives by them count all the same.
  it("hold from rest, and from places at 0: linear systems", function()
    math.randomseed(5)
    for k = 1, require "campaign"(8, 0.01) do
      local n = 1 + k % 3
      local function positive()
        local A = ns.matrix(random.matrix(n, random.signed))
        return A * A:transpose() + 0.1 * ns.eye(n)
      end
      local function start() return random.vector(n, function() return math.random() < 0.6 and 0 or random.signed() end) end
      local M, K, C = positive(), positive(), positive()
      local body = ns.LagrangianLinearTIDS(start(), start(), M, K, C)
      if k % 2 == 0 then body:setFExtPtr(random.vector(n, random.signed)) end
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(body)
      local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-10)):run { sensitivities = { "x0" } }
      local A, of_q, of_v = ns.zeros(2 * n, 2 * n), ns.solve(M, K), ns.solve(M, C)
      for i = 1, n do
        A[i][n + i] = 1
        for j = 1, n do A[n + i][j], A[n + i][n + j] = -of_q[i][j], -of_v[i][j] end
      end
      local exact = ns.expm(A)
      assert.is_true((sol.S[#sol] - exact):norm() < 1e-8 * exact:norm())
    end
  end)

  it("hold from rest for a damped pendulum on a rod: forward and by the adjoint", function()
    local bob = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2), nil, 0.7 * ns.eye(2))
    bob:setFExtPtr { 0, -9.81 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(bob)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }), bob)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-11))
    local sol = simu:run { sensitivities = { "x0" } }
    simu:reset()
    local _, gradient = simu:gradient { terminal = function(x) return x[1] end, parameters = { "x0" } }
    for j = 1, 4 do assert.near(gradient[j], sol.S[#sol][1][j], 1e-9) end
  end)

  it("hold where a body leaves the floor: a number of the model acts on the force", function()
    local function build(p)
      local bodies = ns.LagrangianLinearTIDS({ 0, 1.5 }, { 0, 1 }, { { 1, 0 }, { 0, p[3] } }, { { 20, -20 }, { -20, 20 } })
      bodies:setFExtPtr(ns.vector { p[1], p[2] })
      local floor = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1, 0 } }, "floor")
      return event_driven(0.2, bodies, floor), { { bodies, "fExt", 1 }, { bodies, "fExt", 2 }, { bodies, "mass", 2, 2 } }
    end
    local p = { -31, 25, 1.2 }
    local worst, sol = error_of(build, p)
    local last = sol.x[#sol]
    assert(last[1] > 1e-3 and last[3] > 0) -- it has left
    assert(worst < 1e-8, worst)
    local leaves = sol.events[#sol.events]
    for j = 1, #p do -- the time at which it leaves
      local t = {}
      for _, k in ipairs { -1, 1 } do
        local q = table.move(p, 1, #p, 1, {})
        q[j] = q[j] + k * 1e-4
        local events = build(q):run().events
        t[k] = events[#events].t
      end
      assert.near((t[1] - t[-1]) / 2e-4, leaves.dt[j], 1e-6)
    end
  end)

  it("hold for a pendulum whose pivot moves", function()
    local function build(p)
      local mass = ns.LagrangianLinearTIDS({ 0, -1 }, { 1, 0 }, { { 1, 0 }, { 0, 1 } })
      mass:setFExtPtr(ns.vector { p[1], p[2] })
      local rod = ns.LagrangianRheonomousR { h = function(t, q, _, y)
        y[1] = ((q[1] - math.sin(t)) ^ 2 + (q[2] + 0.3 * t ^ 2) ^ 2 - 1) / 2
      end }
      return event_driven(1, mass, ns.Interaction(ns.EqualityConditionNSL(1), rod, "rod")),
        { { mass, "fExt", 1 }, { mass, "fExt", 2 } }
    end
    assert(error_of(build, { 0.5, -9 }) < 1e-7)
  end)

  it("hold for a ball on a floor that moves", function()
    local function build(p)
      local ball = ns.LagrangianLinearTIDS({ 0.3 }, { 0 }, { { 1 } })
      ball:setFExtPtr(ns.vector { p[1] })
      local floor = ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - 0.1 * math.sin(3 * t) end }
      return event_driven(1, ball, ns.Interaction(ns.NewtonImpactNSL(0.8), floor, "floor")), { { ball, "fExt", 1 } }
    end
    local worst, sol = error_of(build, { -9 })
    assert(#sol.events >= 2 and worst < 1e-7, worst)
  end)

  it("hold for the numbers of a relation whose friction slips in space", function()
    local function build(p)
      local body = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 2, 1, 0 }, ns.eye(3))
      body:setFExtPtr(ns.vector { 0.3, -0.2, -10 })
      local relation = ns.LagrangianLinearTIR { { 0, 0, 1 }, { 1, p[1], 0 }, { p[2], 1, 0 } }
      local law = ns.NewtonImpactFrictionNSL(0, 0, 0.2, 3)
      return event_driven(0.4, body, ns.Interaction(law, relation, "floor")), { { relation, "C", 2, 2 }, { relation, "C", 3, 1 } }
    end
    assert(error_of(build, { 0.2, 0.1 }) < 1e-7)
  end)

  it("hold for the numbers of a relation whose friction slips in the plane at an impact", function()
    local function build(p)
      local ball = ns.LagrangianLinearTIDS({ 0, 1 }, { 3, 0 }, { { 1, 0.1 }, { 0.1, 2 } })
      ball:setFExtPtr(ns.vector { 0, -16 })
      local relation = ns.LagrangianLinearTIR { { p[1], p[2] }, { p[3], p[4] } }
      local law = ns.NewtonImpactFrictionNSL(0.5, 0, 0.2, 2)
      local numbers = {}
      for k = 1, 4 do numbers[k] = { relation, "C", (k + 1) // 2, 2 - k % 2 } end
      return event_driven(0.9, ball, ns.Interaction(law, relation, "floor")), numbers
    end
    local worst, sol = error_of(build, { 0.1, 1, 1, 0.2 })
    assert(#sol.events > 0 and worst < 1e-7, worst)
  end)
end)
