-- ns.mechanics: the equations as a LagrangianDS with constraints, as DAEs, and in independent coordinates.
local ns = require "nslua"
local expect = require "expect"
local fails, near = expect.fails, expect.near
local sin, cos = math.sin, math.cos
local g = 9.81

-- A link of length 1 on a pin, from the level: theta'' = -3/2 g cos theta.
local function link()
  local sys = ns.mechanics.system { gravity = { 0, -g } }
  local body = sys:free_body { mass = 0.1, inertia = 0.1 / 12 }
  sys:pin(body, { -0.5, 0 }, sys.ground, nil, "pin")
  return sys, body
end

local start = { 0.5, 0, 0 }

local function exact(t)
  local sol = ns.solve_ivp(function(_, y) return { y[2], -1.5 * g * cos(y[1]) } end, { 0, t }, { 0, 0 },
    { method = "DOP853", rtol = 1e-13, atol = 1e-14 })
  return sol.y[1][#sol.t], sol.y[2][#sol.t]
end

-- Two particles on rods, by angles: no constraints.
local function double_pendulum()
  local sys = ns.mechanics.system { coordinates = 2, gravity = { 0, -g } }
  local function first(_, q) return { sin(q[1]), -cos(q[1]) } end
  sys:particle { mass = 1, position = first }
  sys:particle { mass = 1, position = function(t, q)
    local x = first(t, q)
    return { x[1] + sin(q[2]), x[2] - cos(q[2]) }
  end }
  return sys
end

local function run(ds, joints, make, T)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  if joints then nsds:link(joints, ds) end
  return make(nsds):run()
end

describe("ns.mechanics: lagrangian", function()
  it("has joints that link with no other system", function()
    local ds, joints = link():lagrangian { q0 = start }
    local other = ns.LagrangianDS { q0 = ns.zeros(4), v0 = ns.zeros(4), name = "other" }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:insertDynamicalSystem(other)
    local good, text = pcall(nsds.link, nsds, joints, other)
    assert.is_false(good)
    assert.equal("relation 'joints': expected 3 states, which its callbacks are written for, got 4 of dynamical system "
      .. "'other'", text)
    nsds:link(joints, ds)
  end)

  it("is the LagrangianDS that one would write #once", function()
    local function written() return ns.LagrangianDS { q0 = { 0.5, -0.3 }, v0 = { 1, 2 },
      mass = function(q)
        local c = cos(q[1] - q[2])
        return { { 2, c }, { c, 1 } }
      end,
      fInt = function(_, q, v)
        local s = sin(q[1] - q[2])
        return { s * v[2] ^ 2 + 2 * g * sin(q[1]), -s * v[1] ^ 2 + g * sin(q[2]) }
      end }
    end
    local sys = double_pendulum()
    local ds, joints = sys:lagrangian { q0 = { 0.5, -0.3 }, v0 = { 1, 2 }, name = "double" }
    assert.equal("double", ds:name())
    assert.is_nil(joints)
    local function stepping(nsds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.5))
    end
    local one, other = run(written(), nil, stepping, 1), run(ds, nil, stepping, 1)
    assert.is_true((one.x - other.x):norm() < 1e-8)
    local function by_events(nsds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-12))
    end
    one, other = run(written(), nil, by_events, 1), run(sys:lagrangian { q0 = { 0.5, -0.3 }, v0 = { 1, 2 } }, nil, by_events, 1)
    assert.is_true((one.x - other.x):norm() < 1e-8)
  end)

  it("has its joints as one interaction; the theta scheme converges, the projection holds them", function()
    local theta = exact(1)
    local errors = {}
    for i, h in ipairs { 4e-3, 2e-3 } do
      local sys = link()
      local ds, joints = sys:lagrangian { q0 = start }
      local sol = run(ds, joints, function(nsds)
        return ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
      end, 1)
      local q = sol.x[#sol]
      errors[i] = math.abs(q[3] - theta)
      near({ 0.5 * cos(q[3]), 0.5 * sin(q[3]) }, q(1, 2), 1e-9)
    end
    assert.is_true(errors[1] < 6e-2 and errors[1] / errors[2] > 1.8) -- of first order
  end)

  it("takes impacts beside the joints", function()
    local sys = link()
    local ds, joints = sys:lagrangian { q0 = start }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
    nsds:insertDynamicalSystem(ds)
    nsds:link(joints, ds)
    local wall = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1, 0, 0 } }, { 0 })) -- x >= 0
    nsds:link(wall, ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI(1e-10, 1e-12))
    local sol = simu:run()
    for k = 1, #sol do assert.is_true(sol.x[k][1] > -1e-9) end
    -- The first impact: at theta = -pi / 2, omega^2 = 3 g, and half of that goes on.
    local impact = simu:events()[1]
    local _, omega = exact(impact.t)
    assert.near(-math.sqrt(3 * g), omega, 1e-7)
  end)

  it("refuses positions that move with the time, not constraints #once", function()
    local sys = ns.mechanics.system { coordinates = 1 }
    sys:particle { name = "cart", mass = 1, position = function(t, q) return { q[1] + sin(t), 0 } end }
    fails("mechanics: lagrangian: particle 'cart' position depends on the time: only constraints may (dae "
      .. "and embedded take such positions)", sys.lagrangian, sys, { q0 = { 0 } })
    local driven, body = link()
    driven:constraint { f = function(t, q) return q[3] - 2 * t end }
    assert.truthy(body)
    local ds, joints = driven:lagrangian { q0 = start, v0 = { 0, 1, 2 } }
    local sol = run(ds, joints, function(nsds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI(1e-10, 1e-12))
    end, 1)
    near({ 0.5 * cos(2), 0.5 * sin(2), 2 }, sol.x[#sol](1, 3), 1e-9)
  end)

  it("gives Jacobians that simu:check() finds right", function()
    local sys, body = link()
    sys:spring { from = body, p1 = { 0.5, 0 }, p2 = { 1, 1 }, stiffness = 5, damping = 1 }
    local ds, joints = sys:lagrangian { q0 = start, v0 = { 0, 1, 2 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(joints, ds)
    local good, report = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5)):check()
    assert.is_true(good, report)
  end)
end)

describe("ns.mechanics: dae", function()
  local theta, omega = exact(1)

  local forms = {
    ["index 3"] = { index = 3 }, ["index 2"] = { index = 2 }, ["index 1"] = { index = 1 },
    ["index 2, stabilised"] = { index = 2, stabilised = true },
    ["index 1, Baumgarte's terms"] = { index = 1, baumgarte = { 5, 5 } },
  }
  for name, form in pairs(forms) do
    it("follows the motion: " .. name, function()
      local sys = link()
      local o = { q0 = start, rtol = 1e-8, atol = 1e-10 }
      for key, value in pairs(form) do o[key] = value end
      local sol = sys:solve_dae({ 0, 0.5, 1 }, o)
      assert.is_true(sol.success)
      assert.same({ 3, 3, 3, 2 }, { #sol.t, #sol.q, #sol.v, sol.lambda:cols() })
      near({ 0.5 * cos(theta), 0.5 * sin(theta), theta }, sol.q[3], 1e-6)
      assert.near(omega, sol.v[3][3], 1e-6)
      local _, lambda = sys:accelerations(1, sol.q[3], sol.v[3])
      near(lambda, sol.lambda[3], 1e-3)
    end)
  end

  it("has the index that was asked for", function()
    local sys = link()
    for index, unknowns in pairs {
      { 1, 1, 1, 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1, 1, 2, 2 }, { 1, 1, 1, 2, 2, 2, 3, 3 } } do
      local problem = sys:dae { q0 = start, index = index }
      assert.same(unknowns, problem.index)
      assert.equal(8, #problem.y0)
      assert.is_true(problem.residual(0, problem.y0, problem.yd0):norm() < 1e-12)
    end
    assert.equal(10, #sys:dae { q0 = start, index = 2, stabilised = true }.y0)
  end)

  -- Central differences of f by element j of x, Richardson's table over h, h/2, h/4.
  local function slope(f, x, j)
    local saved, row = x[j], {}
    for i = 0, 2 do
      local h = 2e-2 / 2 ^ i
      x[j] = saved + h
      local up = f()
      x[j] = saved - h
      local new = { (up - f()) / (2 * h) }
      x[j] = saved
      for k = 1, i do new[k + 1] = new[k] + (new[k] - row[k]) / (4 ^ k - 1) end
      row = new
    end
    return row[#row]
  end

  -- The largest difference of both Jacobians from those of the residual near the start, against the largest entry.
  local function off(problem, t)
    local n, worst, most = #problem.y0, 0, 1
    local y, yd = problem.y0 + ns.linspace(0.1, 0.35, n), problem.yd0 + ns.linspace(-0.2, 0.3, n)
    local Fy, Fyd = problem.jacobian(t, y, yd)
    for j = 1, n do
      for which, J in pairs { y = Fy, yd = Fyd } do
        local d = slope(function() return problem.residual(t, y, yd) end, which == "y" and y or yd, j)
        worst, most = math.max(worst, (d - J:column(j)):norm(math.huge)), math.max(most, d:norm(math.huge))
      end
    end
    return worst / most
  end

  local systems = {
    link = function(compile)
      local sys = ns.mechanics.system { gravity = { 0, -g }, compile = compile }
      local body = sys:free_body { mass = 0.1, inertia = 0.1 / 12 }
      sys:pin(body, { -0.5, 0 }, sys.ground, nil, "pin")
      sys:force { on = body, value = function(t, q, v) return { t * q[1] * v[2], -v[1] ^ 2 } end }
      sys:force { on = body, at = { 0.5, 0.1 }, value = function(t, q, v) return { sin(q[3]) * v[3], cos(t) + q[2] } end }
      sys:force { on = body, at = { 0.5, 0.1 }, value = { 1, 2 } }
      sys:torque { on = body, value = function(_, q, v) return -v[3] ^ 3 * q[3] end }
      sys:spring { from = body, p1 = { 0.5, 0 }, p2 = { 1, 1 }, stiffness = 5, damping = 1, length = 0.2 }
      return sys, start
    end,
    ["angles and a driven support"] = function(compile)
      local sys = ns.mechanics.system { coordinates = 3, gravity = { 0, -g }, compile = compile }
      local function P2(t, q) return { 0.8 * cos(q[1]) + 0.1 * sin(2 * t) * q[2], 0.8 * sin(q[1]) } end
      local function P3(t, q)
        local x, b = P2(t, q), q[1] + q[2]
        return { x[1] + 2 * cos(b), x[2] + 2 * sin(b) }
      end
      sys:particle { mass = 1, position = P2 }
      sys:particle { mass = 2, position = P3 }
      sys:body { mass = 0.3, inertia = 0.2, position = P3, angle = function(t, q) return q[3] ^ 2 / 2 + q[3] * t end }
      sys:potential(function(_, q) return cos(q[1]) * q[2] ^ 2 end)
      sys:generalised_force(function(t, q, v) return { v[1] * v[2], t * q[3], -v[3] * q[1] } end)
      sys:constraint { f = function(t, q) return q[1] * q[2] ^ 2 + sin(q[3]) - math.exp(0.2 * t) * q[1] end }
      return sys, sys:consistent(0, { 0.3, 0.8, 0.4 })
    end,
    ["a body in space"] = function(compile)
      local sys = ns.mechanics.system { gravity = { 0, 0, -g }, compile = compile }
      local body = sys:free_body { mass = 1, inertia = { { 0.3, 0.01, 0 }, { 0.01, 0.2, 0.02 }, { 0, 0.02, 0.15 } } }
      sys:ball(body, { 0, 0, 1 }, sys.ground)
      sys:torque { on = body, value = function(t, q, v) return { q[4] * v[5], -0.1 * v[6], t } end }
      sys:torque { on = body, value = { 0.1, 0.2, 0.3 } }
      sys:force { on = body, at = { 0.1, 0, 0.2 }, value = function(_, q, v) return { q[1], v[2], q[3] * v[1] } end }
      return sys, sys:consistent(0, { 0, 0, -1, 1, 0, 0, 0 }, { 1, 0.5, 0, 0, 0.3, 0.5, 1 })
    end,
  }

  it("gives Jacobians that are those of the residual to rounding, in every form, plain and compiled #once", function()
    for what, make in pairs(systems) do
      for name, form in pairs(forms) do
        for _, compile in ipairs { false, form.index == 1 and form.baumgarte ~= nil or form.stabilised } do
          local sys, q0, v0 = make(compile)
          if not v0 then q0, v0 = sys:consistent(0, q0, ns.zeros(#q0)) end
          local o = { q0 = q0, v0 = v0 }
          for key, value in pairs(form) do o[key] = value end
          local worst = off(sys:dae(o), 0.3)
          assert.is_true(worst < 1e-9, ("%s, %s, %s: %g"):format(what, name, compile, worst))
        end
      end
    end
  end)

  it("lets Newton's method converge quadratically", function()
    local sys, q0 = systems["angles and a driven support"]()
    local problem = sys:dae { q0 = q0, v0 = select(2, sys:consistent(0, q0, ns.zeros(3))), index = 1 }
    local h, y0 = 0.05, problem.y0 -- a step of the implicit Euler method
    local y, sizes = y0:copy(), {}
    for k = 1, 8 do
      local Fy, Fyd = problem.jacobian(h, y, (y - y0) / h)
      local step = ns.solve(Fy + Fyd / h, problem.residual(h, y, (y - y0) / h))
      y, sizes[k] = y - step, step:norm(math.huge)
    end
    local quick = 0
    for k = 2, 8 do
      if sizes[k - 1] < 0.5 and sizes[k - 1] > 1e-6 then
        assert.is_true(sizes[k] <= 30 * sizes[k - 1] ^ 2 + 1e-12, ("%g after %g"):format(sizes[k], sizes[k - 1]))
        quick = quick + 1
      end
    end
    assert.is_true(quick >= 2 and sizes[8] < 1e-12)
  end)

  it("takes forces that dual numbers do not pass through, by differences", function()
    local sys, body = link()
    local plain = ns.zeros(2)
    sys:force { on = body, value = function(_, q, v)
      plain[1], plain[2] = q[3] ^ 2, -v[1] * v[2] -- a vector of numbers alone
      return plain
    end }
    assert.is_true(off(sys:dae { q0 = start, index = 3 }, 0) < 1e-7)
    local bad = false
    local sys2, body2 = link()
    sys2:force { on = body2, value = function() return bad and { 0 / 0, 0 } or { 0, 0 } end }
    local problem = sys2:dae { q0 = start }
    bad = true
    fails("mechanics: force on 'body 1': t=2: value[1] is nan", problem.jacobian, 2, problem.y0, problem.yd0)
  end)

  it("has the same Jacobians where coordinates go in several passes #once", function()
    local sys = ns.mechanics.system { gravity = { 0, -g } }
    local last = sys.ground
    local q0 = {}
    for k = 1, 7 do -- 21 coordinates
      local body = sys:free_body { mass = k, inertia = 0.1 }
      sys:pin(last, k > 1 and { 0.5, 0 } or nil, body, { -0.5, 0 })
      last = body
      for _, x in ipairs { k - 0.5, 0, 0 } do q0[#q0 + 1] = x end
    end
    for _, index in ipairs { 1, 2 } do assert.is_true(off(sys:dae { q0 = q0, index = index }, 0.3) < 1e-9) end
  end)

  it("drifts as its index lets it: what is solved with Phi = 0 does not #once", function()
    local function drift(form) -- the largest residual over the first and the last third of a run
      local sys = link()
      local o = { q0 = start, rtol = 1e-4, atol = 1e-6 }
      for key, value in pairs(form) do o[key] = value end
      local sol = sys:solve_dae(ns.linspace(0, 6, 31), o)
      local worst = { 0, 0, 0 }
      for k = 1, 31 do
        local third = math.min(3, 1 + (k - 1) // 10)
        worst[third] = math.max(worst[third], (sys:constraint_jacobian(0, sol.q[k])):norm(math.huge))
      end
      return worst[1], worst[3]
    end
    local early, late = drift { index = 1 }
    assert.is_true(late > 4 * early and late > 1e-5)
    for _, form in ipairs { { index = 3 }, { index = 2, stabilised = true }, { index = 1, baumgarte = { 10, 10 } } } do
      assert.is_true(select(2, drift(form)) < late / 10)
    end
    assert.is_true(select(2, drift { index = 2 }) < late / 10)
  end)

  it("goes on where a multiplier passes through 0, and where a coordinate has no inertia of its own #once", function()
    -- A four-bar linkage by three angles, of which the third moves no mass; its rod goes from pull to push.
    local sys = ns.mechanics.system { coordinates = 3, gravity = { 0, -g } }
    local function P2(_, q) return { 0.8 * cos(q[1]), 0.8 * sin(q[1]) } end
    local function P3(t, q)
      local x, b = P2(t, q), q[1] + q[2]
      return { x[1] + 2 * cos(b), x[2] + 2 * sin(b) }
    end
    sys:particle { mass = 1, position = P2 }
    sys:particle { mass = 1, position = P3 }
    sys:constraint { f = function(t, q)
      local x, c = P3(t, q), q[1] + q[2] + q[3]
      return { x[1] + cos(c) - 2, x[2] + sin(c) }
    end }
    local q0 = sys:consistent(0, { 0.1745, 0.1148, -2.6421 })
    local ts, last = ns.linspace(0, 1.2, 25), nil
    for _, form in ipairs { { index = 2, stabilised = true }, { index = 1 }, { index = 3 } } do
      local sol = sys:solve_dae(ts, { q0 = q0, rtol = 1e-7, atol = 1e-9, index = form.index, stabilised = form.stabilised })
      assert.is_true(sol.success, sol.message)
      local pulls, pushes = false, false
      for k = 1, 25 do
        local c = sol.q[k][1] + sol.q[k][2] + sol.q[k][3]
        local along = sol.lambda[k][1] * cos(c) + sol.lambda[k][2] * sin(c) -- the rod can but push or pull along itself
        assert.near(0, -sol.lambda[k][1] * sin(c) + sol.lambda[k][2] * cos(c), 1e-3)
        pulls, pushes = pulls or along < 0, pushes or along > 0
      end
      assert.is_true(pulls and pushes)
      assert.near(sys:energy(0, q0, { 0, 0, 0 }).total, sys:energy(1.2, sol.q[25], sol.v[25]).total, 1e-4)
      if last then near(last, sol.q[25], 1e-5) end
      last = sol.q[25]
    end
  end)

  it("takes constraints of the time: the multiplier is the torque of a drive", function()
    local sys = link()
    sys:constraint { name = "drive", f = function(t, q) return q[3] - t ^ 2 end }
    local sol = sys:solve_dae({ 0, 0.4, 0.8 }, { q0 = start, index = 2, rtol = 1e-9, atol = 1e-11 })
    for k = 1, 3 do
      local t = sol.t[k]
      assert.near(t ^ 2, sol.q[k][3], 1e-8)
      assert.near(0.1 / 3 * 2 + 0.1 * g * 0.5 * cos(t ^ 2), sol.lambda[k][3], 1e-6)
    end
  end)

  it("works in space, with quaternions #once", function()
    -- A body on a ball joint that turns about the vertical like a conical pendulum: a steady precession of a point mass.
    local sys = ns.mechanics.system { gravity = { 0, 0, -g } }
    local body = sys:free_body { mass = 1, inertia = ns.zeros(3, 3) + 1e-3 * ns.eye(3) }
    sys:ball(body, { 0, 0, 1 }, sys.ground)
    -- At angle a: (I + 1) of the transverse, w^2 (1 + I - I3) cos a = g without spin about its own axis but w itself.
    local a = 0.6
    local w = math.sqrt(g / cos(a))
    local q = ns.vector { sin(a), 0, -cos(a), cos(a / 2), 0, -sin(a / 2), 0 }
    local v = ns.vector { 0, w * sin(a), 0, 0, sin(a / 2) * w / 2, 0, cos(a / 2) * w / 2 }
    local x, u = sys:consistent(0, q, v)
    near(q, x, 1e-12)
    near(v, u, 1e-12) -- a sphere's inertia: momentum along the vertical is constant
    local sol = sys:solve_dae({ 0, 1 }, { q0 = q, v0 = v, index = 2, stabilised = true, rtol = 1e-9, atol = 1e-11 })
    near({ sin(a) * cos(w), sin(a) * sin(w), -cos(a) }, sol.q[2](1, 3), 1e-6)
    assert.near(1, sol.q[2](4, 7):norm(), 1e-9)
    assert.near(sys:energy(0, q, v).total, sys:energy(1, sol.q[2], sol.v[2]).total, 1e-6)
  end)

  it("refuses what is none", function()
    local sys = link()
    fails("mechanics: dae: index: expected 1, 2 or 3, got 4", sys.dae, sys, { q0 = start, index = 4 })
    fails("mechanics: dae: stabilised: is of index 2, got index 3", sys.dae, sys, { q0 = start, stabilised = true })
    fails("mechanics: dae: baumgarte: is of index 1, got index 2", sys.dae, sys, { q0 = start, index = 2, baumgarte = { 1, 1 } })
    fails("mechanics: dae: baumgarte: expected 2 numbers, got 1", sys.dae, sys, { q0 = start, index = 1, baumgarte = { 1 } })
    fails("mechanics: dae: unknown option 'rtol' (known: q0, v0, t0, index, stabilised, baumgarte)", sys.dae, sys, { rtol = 1 })
    fails("mechanics: dae: q0 is missing", sys.dae, sys, {})
    fails("mechanics: solve_dae: t0: expected 0, the first of ts, got 1", sys.solve_dae, sys, { 0, 1 }, { q0 = start, t0 = 1 })
    fails("mechanics: solve_dae: ts: expected at least one time", sys.solve_dae, sys, {}, { q0 = start })
    fails("mechanics: solve_dae: rtol: expected a positive number, got -1", sys.solve_dae, sys, { 0, 1 }, { q0 = start, rtol = -1 })
    fails("mechanics: solve_dae: atol: expected a positive number, got 0", sys.solve_dae, sys, { 0, 1 }, { q0 = start, atol = 0 })
    fails("mechanics: solve_dae: atol: expected 8 numbers, got 2", sys.solve_dae, sys, { 0, 1 }, { q0 = start, atol = { 1, 1 } })
    fails("mechanics: solve_dae: rtol: expected a positive number, got 'x'", sys.solve_dae, sys, { 0, 1 },
      { q0 = start, rtol = "x" })
  end)
end)

describe("ns.mechanics: embedded", function()
  -- A cart on a rail with a pendulum, whose coordinates on the rail are 0 but for rounding.
  local function trolley()
    local sys = ns.mechanics.system { gravity = { 0, -g } }
    local base, rod = sys:free_body { mass = 2, inertia = 1 }, sys:free_body { mass = 1, inertia = 0.64 / 12 }
    sys:slider(nil, { 0, 0 }, { 1, 0 }, base, { 0, 0 })
    sys:pin(base, { 0, 0 }, rod, { 0, 0.4 })
    return sys, { 0.1, 0, 0, 0.1 + 0.4 * sin(1), -0.4 * cos(1), 1 }
  end

  it("is solved where coordinates are 0, explicitly and implicitly, as Kane's form is #once", function()
    local sys, q0 = trolley()
    local ode = sys:embedded { q0 = q0, independent = { 1, 6 } }
    local sol = ns.solve_ivp(ode.f, { 0, 3 }, ode.y0, { method = "DOP853", rtol = 1e-10, atol = 1e-12 })
    assert.is_true(sol.success)
    local finals = sol.y:column(-1)
    for _, method in ipairs { "Radau", "BDF", "RK45" } do
      near(finals, ns.solve_ivp(ode.f, { 0, 3 }, ode.y0, { method = method, rtol = 1e-7, atol = 1e-9 }).y:column(-1), 1e-4)
    end
    local kane = trolley():kane { dependent = { 2, 3, 4, 5 } }
    local x0 = ns.concatenate { ns.vector(q0), ns.zeros(2) }
    for _, method in ipairs { "DOP853", "BDF" } do
      local x = ns.solve_ivp(kane.f, { 0, 3 }, x0, { method = method, rtol = 1e-7, atol = 1e-9 }).y:column(-1)
      near(finals, ns.vector { x[1], x[6], x[7], x[8] }, 1e-4)
    end
  end)

  it("has derivatives of first order alone", function()
    local sys, q0 = trolley()
    local ode = sys:embedded { q0 = q0, independent = { 1, 6 } }
    local J = ns.jacobian(function(y) return ode.f(0, y) end, ode.y0)
    for j = 1, 4 do
      local up, down = ode.y0:copy(), ode.y0:copy()
      up[j], down[j] = up[j] + 1e-5, down[j] - 1e-5
      near((ode.f(0, up) - ode.f(0, down)) / 2e-5, J:column(j), 1e-6)
    end
    fails("dual vector: this does not propagate second derivatives", ns.hessian, function(y) return ode.f(0, y)[3] end, ode.y0)
  end)

  it("follows the motion to the tolerance of the integrator", function()
    local theta, omega = exact(1)
    local ode = link():embedded { q0 = start, independent = { 3 } }
    local sol = ns.solve_ivp(ode.f, { 0, 1 }, ode.y0, { method = "DOP853", rtol = 1e-12, atol = 1e-13 })
    local y = { sol.y[1][#sol.t], sol.y[2][#sol.t] }
    near({ theta, omega }, ns.vector(y), 1e-10)
    local q, v = ode:expand(1, y)
    near({ 0.5 * cos(theta), 0.5 * sin(theta), theta }, q, 1e-10)
    near({ -0.5 * sin(theta) * omega, 0.5 * cos(theta) * omega, omega }, v, 1e-9)
  end)

  it("is B' M B of the equations with all coordinates", function()
    local sys, body = link()
    sys:spring { from = body, p1 = { 0.5, 0 }, p2 = { 1, 1 }, stiffness = 5, damping = 1 }
    sys:constraint { f = function(_, q) return q[3] end }
    fails("mechanics: embedded: 3 equations leave none of 3 coordinates free", sys.embedded, sys, { q0 = start })
    sys, body = link()
    sys:spring { from = body, p1 = { 0.5, 0 }, p2 = { 1, 1 }, stiffness = 5, damping = 1 }
    local q, v = sys:consistent(0, { 0.4, 0.2, 0.5 }, { 0, 1, 2 })
    for _, j in ipairs { 1, 2, 3 } do
      local ode = sys:embedded { q0 = q, v0 = v, independent = { j } }
      local a = sys:accelerations(0, q, v)
      near({ v[j], a[j] }, ode.f(0, { q[j], v[j] }), 1e-10)
    end
  end)

  it("chooses the coordinates, two of four for a double pendulum of particles", function()
    local sys = ns.mechanics.system { coordinates = 4, gravity = { 0, -g } }
    local one = sys:particle { mass = 1, position = function(_, q) return { q[1], q[2] } end }
    local other = sys:particle { mass = 1, position = function(_, q) return { q[3], q[4] } end }
    sys:distance(one, nil, nil, nil, 1)
    sys:distance(other, nil, one, nil, 1)
    local q0 = { sin(0.5), -cos(0.5), sin(0.5) + sin(-0.3), -cos(0.5) - cos(-0.3) }
    local ode = sys:embedded { q0 = q0 }
    assert.equal(2, #ode.independent)
    local angles = double_pendulum():embedded { q0 = { 0.5, -0.3 } }
    assert.same({ 1, 2 }, angles.independent)
    local o = { method = "DOP853", rtol = 1e-11, atol = 1e-12 }
    local sol, ref = ns.solve_ivp(ode.f, { 0, 0.5 }, ode.y0, o), ns.solve_ivp(angles.f, { 0, 0.5 }, angles.y0, o)
    local q = ode:expand(0.5, { sol.y[1][#sol.t], sol.y[2][#sol.t], sol.y[3][#sol.t], sol.y[4][#sol.t] })
    local a, b = ref.y[1][#ref.t], ref.y[2][#ref.t]
    near({ sin(a), -cos(a), sin(a) + sin(b), -cos(a) - cos(b) }, q, 1e-8)
  end)

  it("keeps to its branch, also when asked for other times than the last", function()
    -- A crank of length 1 and a rod of length 2 to a slide on the line y = 0; the other branch has the rod point back.
    local sys = ns.mechanics.system { coordinates = 3 }
    sys:particle { mass = 1, position = function(_, q) return { cos(q[1]), sin(q[1]) } end }
    local slide = sys:particle { mass = 1, position = function(_, q) return { cos(q[1]) + 2 * cos(q[2]), 0 } end }
    sys:constraint { f = function(_, q) return { sin(q[1]) + 2 * sin(q[2]), cos(q[1]) + 2 * cos(q[2]) - q[3] } end }
    assert.truthy(slide)
    local ode = sys:embedded { q0 = { 0, 0, 3 }, v0 = { 4, -2, 0 }, independent = { 1 } }
    for _, angle in ipairs { 0, 3, 40, 0.5, -9, 100 } do
      local q = ode:expand(0, { angle, 4 })
      local rod = -math.asin(sin(angle) / 2)
      near({ angle, rod, cos(angle) + 2 * cos(rod) }, q, 1e-12)
    end
  end)

  it("takes constraints of the time", function()
    local sys = ns.mechanics.system { coordinates = 2, gravity = { 0, -g } } -- the support of a pendulum is driven
    local cart = sys:particle { mass = 3, position = function(_, q) return { q[1], 0 } end }
    sys:particle { mass = 1, position = function(_, q) return { q[1] + sin(q[2]), -cos(q[2]) } end }
    sys:constraint { f = function(t, q) return q[1] - 0.2 * cos(3 * t) end }
    assert.truthy(cart)
    local ode = sys:embedded { q0 = { 0.2, 0.6 }, independent = { 2 } }
    for _, t in ipairs { 0, 0.4, 1.7 } do
      near({ 2, -g * sin(0.6) + 0.2 * 9 * cos(3 * t) * cos(0.6) }, ode.f(t, { 0.6, 2 }), 1e-11)
    end
  end)

  it("names singular constraints, coordinates that do not determine the rest, and places that can not be", function()
    local sys, body = link()
    sys:pin(body, { -0.5, 0 }, sys.ground, nil, "the same pin")
    fails("mechanics: t=0: equation 1 of constraint 'the same pin' depends on those before it", sys.embedded, sys, { q0 = start })
    sys = ns.mechanics.system { coordinates = 3 }
    sys:particle { mass = 1, position = function(_, q) return { q[1] + q[3], q[2] } end }
    sys:constraint { name = "plane", f = function(_, q) return q[1] - q[2] end }
    sys:constraint { name = "plane again", f = function(_, q) return 2 * q[1] - 2 * q[2] end }
    local text = "mechanics: t=0: equation 1 of constraint 'plane again' depends on those before it: leave one of them out"
    for _, form in ipairs { "embedded", "dae", "lagrangian" } do fails(text, sys[form], sys, { q0 = { 0, 0, 0 } }) end
    fails(text, sys.consistent, sys, 0, { 0, 0, 0 })
    fails(text, sys.accelerations, sys, 0, { 0, 0, 0 }, { 0, 0, 0 })
    sys = link()
    fails("mechanics: t=0: the constraints do not determine the dependent coordinates (2, 3): choose other independent ones",
      sys.embedded, sys, { q0 = start, independent = { 1 } }) -- x is largest there
    local ode = sys:embedded { q0 = { 0, 0.5, math.pi / 2 }, independent = { 1 } }
    assert.equal("mechanics.embedded: coordinates 1 of 3 independent", tostring(ode))
    fails("mechanics: t=0: the independent coordinates (1) go too far: no dependent ones near the last ones fulfil the " ..
      "constraints", ode.f, 0, { 0.7, 0 })
    near({ 0, 1.5 * g * 0 }, ode.f(0, { 0, 0 }), 1e-12) -- and goes on
    fails("mechanics: embedded: independent: expected a list of 1 coordinates (3 less 2 equations), got one of 2", sys.embedded,
      sys, { q0 = start, independent = { 1, 3 } })
    fails("mechanics: embedded: independent: expected different coordinates, 1..3, got 4", sys.embedded, sys,
      { q0 = start, independent = { 4 } })
    fails("mechanics: embedded: y: expected 2 numbers, got 1", ode.f, 0, { 0.1 })
    fails("mechanics: embedded: t: expected a number, got nil", ode.f, nil, { 0, 0 })
  end)

  it("and every form close the system for bodies and constraints, whose equations they hold", function()
    for _, form in ipairs { "embedded", "dae", "lagrangian" } do
      local sys = link()
      sys[form](sys, { q0 = start })
      fails("mechanics: body 'late': too late: " .. form .. " has already made equations of the system", sys.free_body, sys,
        { name = "late", mass = 1, inertia = 1 })
      fails("mechanics: constraint 'late': too late: " .. form .. " has already made equations of the system", sys.constraint,
        sys, { name = "late", f = function(_, q) return q[3] end })
      sys[form](sys, { q0 = start }) -- and goes on
    end
  end)

  it("and every form name the argument of a start that is wrong", function()
    local sys = link()
    for _, form in ipairs { "embedded", "dae", "lagrangian" } do
      fails("mechanics: " .. form .. ": q0: expected 3 numbers, got 2", sys[form], sys, { q0 = { 0.5, 0 } })
      fails("mechanics: " .. form .. ": v0[3] is inf", sys[form], sys, { q0 = start, v0 = { 0, 0, math.huge } })
    end
    sys = ns.mechanics.system { coordinates = 2 }
    sys:particle { mass = 1, position = function(_, q) return { q[1], 0 } end }
    fails("mechanics: embedded: t=0: no accelerations: an independent coordinate has no inertia (solve: A is singular (row 2))",
      sys.embedded, sys, { q0 = { 0, 0 } })
    fails("mechanics: t=0: no accelerations: a coordinate has no inertia (solve: A is singular (row 2))",
      sys.dae, sys, { q0 = { 0, 0 } })
    fails("mechanics: lagrangian: t=0: no accelerations: a coordinate has no inertia (solve: A is singular (row 2))",
      sys.lagrangian, sys, { q0 = { 0, 0 } })
    sys = ns.mechanics.system { coordinates = 2 }
    sys:particle { mass = 1, position = function(_, q) return { q[1], 0 } end }
    sys:constraint { f = function(_, q) return { q[2] - q[1] } end } -- a DAE may have such a coordinate
    sys:dae { q0 = { 0, 0 } }
    fails("mechanics: lagrangian: t=0: no accelerations: a coordinate has no inertia (solve: A is singular (row 2))",
      sys.lagrangian, sys, { q0 = { 0, 0 } })
  end)

  it("and every form refuse a start that is off the constraints, by name", function()
    local sys = link()
    for _, form in ipairs { "embedded", "dae", "lagrangian" } do
      fails("mechanics: " .. form .. ": q0: equation 2 of constraint 'pin' has the residual 0.1 (system:consistent finds "
        .. "coordinates without)", sys[form], sys, { q0 = { 0.5, 0.1, 0 } })
      fails("mechanics: " .. form .. ": v0: equation 1 of constraint 'pin' has the rate 2 (system:consistent finds velocities "
        .. "without)", sys[form], sys, { q0 = start, v0 = { 2, 0, 0 } })
    end
  end)
end)

describe("ns.mechanics: solve_dae", function()
  -- A pendulum of the given length in x and y, its position counted by `called`, through wrap.
  local function pendulum(compile, wrap)
    local sys, count = ns.mechanics.system { coordinates = 2, gravity = { 0, -g }, compile = compile }, { calls = 0 }
    local ear = setmetatable({}, { __index = function() count.calls = count.calls + 1 end }) -- traces do not see it
    sys:particle { name = "bob", mass = 1, position = function(t, q)
      local _ = ear.hears
      return wrap and wrap(t, q) or { q[1], q[2] }
    end }
    sys:constraint { name = "rod", f = function(_, q) return q[1] ^ 2 + q[2] ^ 2 - 1 end }
    return sys, count
  end

  local function solve(sys, T)
    local sol = sys:solve_dae({ 0, T }, { q0 = { 1, 0 }, index = 2, stabilised = true, rtol = 1e-9, atol = 1e-11 })
    assert.equal("completed", sol.message)
    return sol.q[2], sol.stats
  end

  it("calls the functions, as long as compile = true does not ask for tapes #once", function()
    for _, compile in ipairs { "none", false } do
      local sys, count = pendulum(compile ~= "none" and compile or nil)
      local plain, stats = solve(sys, 1)
      assert.is_true(count.calls > stats.residuals)
      near(plain, solve(pendulum(true), 1), 1e-9)
    end
  end)

  it("calls compiled ones as often for a long run as for a short one #once", function()
    local calls = {}
    for i, T in ipairs { 0.1, 3 } do
      local sys, count = pendulum(true)
      solve(sys, T)
      calls[i] = count.calls
    end
    assert.equal(calls[1], calls[2])
  end)

  it("takes functions with a branch on a coordinate, compiled ones too #once", function()
    local function branch(_, q) return q[1] > 5 and { 0, 0 } or { q[1], q[2] } end
    near(solve(pendulum(), 1), solve(pendulum(nil, branch), 1), 1e-12)
    near(solve(pendulum(), 1), solve(pendulum(true, branch), 1), 1e-9)
  end)

  it("sees in each run what the functions have captured then #once", function()
    local stretch = 1
    local sys = pendulum(nil, function(_, q) return { stretch * q[1], stretch * q[2] } end)
    local one = solve(sys, 1)
    stretch = 2 -- an inertia four times as large, a weight twice: gravity is halved
    near(solve(pendulum(nil, function(_, q) return { 2 * q[1], 2 * q[2] } end), 1), solve(sys, 1), 1e-12)
    stretch = 1
    near(one, solve(sys, 1), 0 + 1e-15)
  end)

  it("names what fails, and leaves the system as it was #once", function()
    local bad = true
    local sys, count = pendulum(nil, function(_, q)
      if bad then error("no position", 0) end
      return { q[1], q[2] }
    end)
    fails("mechanics: particle 'bob' position: no position", sys.solve_dae, sys, { 0, 1 }, { q0 = { 1, 0 } })
    bad, count.calls = false, 0
    sys:mass(0, { 1, 0 })
    assert.is_true(count.calls > 0)
    near(solve(pendulum(), 1), solve(sys, 1), 1e-15)
  end)
end)
