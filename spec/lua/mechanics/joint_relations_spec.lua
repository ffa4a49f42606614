-- Joints of rigid bodies in space, against closed forms, ordinary differential equations and a body that is welded.
local ns = require "nslua"
local message = require "bind.models".message
local random_numbers = require "random_numbers"

local g = 9.81

local function body(q, v, mass, inertia)
  local ds = ns.NewtonEulerDS { q0 = q, v0 = v or { 0, 0, 0, 0, 0, 0 }, mass = mass or 1, inertia = inertia or ns.eye(3) }
  ds:setFExtPtr { 0, 0, -g * (mass or 1) }
  return ds
end

local function energy(list)
  local sum = 0
  for _, ds in ipairs(list) do sum = sum + ds:computeKineticEnergy() + ds:mass()[1][1] * g * ds:q()[3] end
  return sum
end

local function graph(list, T, joints)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(list) do nsds:insertDynamicalSystem(ds) end
  return nsds, ns.mechanics.join(nsds, joints)
end

local function event_driven(nsds, h)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-11, 1e-12))
end

local function projected(nsds, h)
  return ns.TimeSteppingCombinedProjection(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
end

local function near(expected, got, tolerance)
  assert.is_true(math.abs(expected - got) <= tolerance, ("%.17g is not %.17g"):format(got, expected))
end

describe("joints in space", function()
  it("PivotJointR: a pendulum, against its equation, with energy and without drift", function()
    local ds = body { 0.6, 0.3, -0.8, 1, 0, 0, 0 }
    local hinge = ns.PivotJointR({ 0, 0, 0 }, { 0, 2, 0 }, true, ds)
    local nsds, made = graph({ ds }, 2, { { hinge, name = "hinge" } })
    local before = energy { ds }
    event_driven(nsds, 0.1):run()
    local start = math.atan(-0.6, 0.8)
    local sol = ns.solve_ivp(function(_, y, rate) rate[1], rate[2] = y[2], -g / 2 * math.sin(y[1]) end, { 0, 2 }, { start, 0 },
      { method = "DOP853", rtol = 1e-11, atol = 1e-12 })
    near(sol.y[1][#sol.t] - start, hinge:dof(), 1e-8)
    near(before, energy { ds }, 1e-8)
    assert.is_true(made.hinge:y(0):norm() < 1e-12)
  end)

  it("time stepping goes to the same pendulum, by half with half of the step, and a projection keeps the position", function()
    local function run(h)
      local ds = body { 0.6, 0, -0.8, 1, 0, 0, 0 }
      local hinge = ns.PivotJointR { point = { 0, 0, 0 }, axis = { 0, 1, 0 }, absolute = true, bodies = { ds } }
      local nsds, made = graph({ ds }, 1, { hinge })
      projected(nsds, h):run()
      assert.is_true(made[1]:y(0):norm() < 1e-9)
      return hinge:dof()
    end
    local coarse, middle, fine = run(4e-3), run(2e-3), run(1e-3)
    near(2, (coarse - middle) / (middle - fine), 0.1)
  end)

  it("KneeJointR: a spherical pendulum that is conical turns with sqrt(g / (l cos a))", function()
    local l, a = 1.5, 0.4 -- the angular momentum of a ball that turns about e_z stays: only its centre has a torque
    local rate = math.sqrt(g / (l * math.cos(a)))
    local ds = body({ l * math.sin(a), 0, -l * math.cos(a), 1, 0, 0, 0 }, { 0, l * math.sin(a) * rate, 0, 0, 0, rate }, 1,
      0.1 * ns.eye(3))
    local nsds, made = graph({ ds }, 1, { ns.KneeJointR({ 0, 0, 0 }, true, ds) })
    event_driven(nsds, 0.1):run()
    near(math.cos(rate), ds:q()[1] / (l * math.sin(a)), 1e-8)
    near(math.sin(rate), ds:q()[2] / (l * math.sin(a)), 1e-8)
    assert.is_true(made[1]:y(0):norm() < 1e-12)
  end)

  it("KneeJointR: a heavy top precesses steadily where I1 W^2 cos a - I3 w3 W + m g l = 0", function()
    local l, a, spin, I1, I3 = 0.3, 0.5, 150, 0.02, 0.01
    local about = I1 + l * l -- about the point
    local A, B, C = (about * math.cos(a)), -I3 * spin, g * l
    local W = (-B - math.sqrt(B * B - 4 * A * C)) / (2 * A)
    -- the axis of the top leans by a about y; omega = W e_z + (spin - W cos a) e_3, in axes of the body
    local s, c = math.sin(a), math.cos(a)
    local ds = body({ l * s, 0, l * c, math.cos(a / 2), 0, math.sin(a / 2), 0 }, { 0, l * s * W, 0, -W * s, 0, spin }, 1,
      { { I1, 0, 0 }, { 0, I1, 0 }, { 0, 0, I3 } })
    local nsds = graph({ ds }, 1, { ns.KneeJointR({ 0, 0, -l }, false, ds) })
    event_driven(nsds, 0.1):run()
    near(l * c, ds:q()[3], 1e-8)
    near(l * s * math.cos(W), ds:q()[1], 1e-8)
    near(l * s * math.sin(W), ds:q()[2], 1e-8)
  end)

  it("PrismaticJointR: with friction by its reaction, a body slides down with g (sin a - mu cos a), or stays", function()
    for _, mu in ipairs { 0.3, 1.2 } do
      local base = body({ 0, 0, 0, 1, 0, 0, 0 }, nil, 5)
      local ds = body({ 1, 2, 3, 0.5, 0.5, 0.5, 0.5 }, nil, 2, { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } })
      local slide = ns.PrismaticJointR({ 1, 0, -1 }, true, ds, base)
      local nsds, made = graph({ ds, base }, 0.5, { ns.FixedJointR(base), { slide, name = "slide", friction = mu } })
      projected(nsds, 0.01):run()
      near(0.5 * g * math.sqrt(0.5) * math.max(0, 1 - mu) * 0.25, slide:dof(), 1e-12)
      assert.is_true(made.slide:y(0)[1] < 1e-12)
      assert.equal("linear", slide:typeOfDoF())
    end
  end)

  it("PrismaticJointR: a constant friction force; rows whose terms are rounding alone are solved", function()
    local ds = body({ 1, 2, 3, 0.5, 0.5, 0.5, 0.5 }, nil, 2, { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } })
    local slide = ns.PrismaticJointR({ 1, 0, -1 }, true, ds)
    local nsds = graph({ ds }, 0.5, { { slide, force = 1 } })
    projected(nsds, 0.01):run()
    near(0.5 * (g * math.sqrt(0.5) - 0.5) * 0.25, slide:dof(), 1e-12)
  end)

  it("CylindricalJointR: a body slides and turns on an upright rod, each by its own law; stops bounce it", function()
    local ds = body({ 1, 0, 0, 1, 0, 0, 0 }, { 0, 3, 0, 0, 0, 3 }, 2, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
    local rod = ns.CylindricalJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, ds)
    local nsds, made = graph({ ds }, 0.8, { { rod, name = "rod", stops = { -1, 1 }, restitution = 0.5 } })
    local sol = event_driven(nsds, 0.1):run()
    near(math.sqrt(2 / g), sol.events[1].t, 1e-10)
    near(2.4, rod:dof(2), 1e-8)
    local t = 0.8 - math.sqrt(2 / g)
    near(-1 + 0.5 * math.sqrt(2 * g) * t - g / 2 * t * t, rod:dof(1), 1e-8)
    assert.same({ 4, 2, "linear", "angular" }, { rod:numberOfConstraints(), rod:numberOfDoF(), rod:typeOfDoF(1), rod:typeOfDoF(2) })
    assert.equal("rod lower", made["rod lower"]:name())
  end)

  it("FixedJointR: two bodies that are welded move as one", function()
    local I = { { 0.2, 0, 0 }, { 0, 0.3, 0 }, { 0, 0, 0.4 } }
    local v = { 1, 2, 3, 0.3, 4, 0.2 }
    local one = body({ 0, 0, 0, 1, 0, 0, 0 }, v, 2, I)
    -- half of it each, with centres at +- 0.25 along x
    local half = { { I[1][1] / 2, 0, 0 }, { 0, I[2][2] / 2 - 0.0625, 0 }, { 0, 0, I[3][3] / 2 - 0.0625 } }
    local function part(x) -- v + w x (x, 0, 0)
      return body({ x, 0, 0, 1, 0, 0, 0 }, { v[1], v[2] + v[6] * x, v[3] - v[5] * x, v[4], v[5], v[6] }, 1, half)
    end
    local left, right = part(-0.25), part(0.25)
    local nsds = graph({ one, left, right }, 1, { ns.FixedJointR(left, right) })
    event_driven(nsds, 0.1):run()
    for i = 1, 3 do near(one:q()[i], (left:q()[i] + right:q()[i]) / 2, 1e-8) end
    for i = 4, 7 do near(one:q()[i], left:q()[i], 1e-8) end
  end)

  it("angles and ways are those by which body 1 was moved, wherever bodies are", function()
    math.randomseed(3)
    local number = random_numbers.signed
    local function quaternion()
      local e = ns.vector { number(), number(), number(), number() }
      return (e / e:norm()):totable()
    end
    local times = require "motion".multiply
    for _ = 1, require "campaign"(6, 400) do
      local e1, e2 = quaternion(), quaternion()
      local first = body { number(), number(), number(), table.unpack(e1) }
      local second = body { number(), number(), number(), table.unpack(e2) }
      local point, axis = { number(), number(), number() }, ns.vector { number(), number(), number() }
      local a = axis / axis:norm()
      local rod = ns.CylindricalJointR(point, axis, true, first, second)
      near(0, rod:dof(1), 1e-14)
      near(0, rod:dof(2), 1e-14)
      local angle, way = 6 * number(), number()
      local s = math.sin(angle / 2)
      local turn = { math.cos(angle / 2), s * a[1], s * a[2], s * a[3] }
      local x = first:q()
      local r = times(times(turn, { 0, x[1] - point[1], x[2] - point[2], x[3] - point[3] }),
        { turn[1], -turn[2], -turn[3], -turn[4] })
      local e = times(turn, e1)
      for i = 1, 3 do x[i] = point[i] + r[i + 1] + way * a[i] end
      for i = 1, 4 do x[3 + i] = e[i] end
      near(angle, rod:dof(2), 1e-13)
      near(way, rod:dof(1), 1e-13)
    end
  end)

  it("CouplerJointR: a nut that runs down a screw over many turns, and two wheels of a gear", function()
    local I, m, pitch = 0.003, 2, 0.01 -- way = pitch angle: it falls with g / (1 + I / (m pitch^2))
    for _, simulate in ipairs { event_driven, projected } do
      local nut = body({ 0.3, -0.2, 5, 1, 0, 0, 0 }, nil, m, I * ns.eye(3))
      local sleeve = ns.CylindricalJointR({ 0.3, -0.2, 0 }, { 0, 0, 1 }, true, nut)
      local nsds = graph({ nut }, 1, { sleeve })
      local relation, bodies = ns.CouplerJointR(sleeve, sleeve, pitch, 0, 1, 2)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), table.unpack(bodies))
      simulate(nsds, 0.01):run()
      near(5 - g / (1 + I / (m * pitch ^ 2)) / 2, nut:q()[3], 1e-9)

      local wheels, hinges, turns = {}, {}, { 0, 0 }
      for i = 1, 2 do
        wheels[i] = body({ i, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, i == 1 and 25 or -10 }, 1, i * ns.eye(3))
        hinges[i] = ns.PivotJointR({ i, 0, 0 }, { 0, 0, 1 }, true, wheels[i])
      end
      local gear = graph(wheels, 1, hinges)
      relation, bodies = ns.CouplerJointR(hinges[1], hinges[2], -2.5)
      gear:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), table.unpack(bodies))
      local last = { 0, 0 }
      for _ in simulate(gear, 0.01):steps() do
        for i = 1, 2 do
          local now = hinges[i]:dof()
          local step = now - last[i]
          turns[i] = turns[i] + step - 4 * math.pi * math.floor(step / (4 * math.pi) + 0.5)
          last[i] = now
        end
      end
      near(25, turns[1], 1e-8)
      near(-10, turns[2], 1e-8)
    end
  end)

  it("CouplerJointR: ends the run where turns are not known, of a ratio that is no fraction", function()
    for _, simulate in ipairs { event_driven, projected } do
      local wheels, hinges, ratio = {}, {}, math.sqrt(2)
      for i = 1, 2 do
        wheels[i] = body({ i, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, i == 1 and 7 * ratio or 7 }, 1, i * ns.eye(3))
        hinges[i] = ns.PivotJointR({ i, 0, 0 }, { 0, 0, 1 }, true, wheels[i])
      end
      local gear = graph(wheels, 1, hinges)
      local relation, bodies = ns.CouplerJointR(hinges[1], hinges[2], ratio)
      gear:link(ns.Interaction(ns.EqualityConditionNSL(1), relation, "gear"), table.unpack(bodies))
      local simu = simulate(gear, 0.01)
      local text = message(function() simu:run() end)
      assert.matches("CouplerJointR: an angle passes 5.28 rad: beyond it the ratio must be a fraction with a denominator up "
        .. "to 10000", text, 1, true)
      near(ratio * hinges[2]:dof(), hinges[1]:dof(), 1e-9)
      assert.is_true(hinges[1]:dof() > 5)
    end
  end)

  local made_for = {
    KneeJointR = { 3, function(a, b) return ns.KneeJointR({ 0, 0, 0 }, true, a, b) end },
    PivotJointR = { 5, function(a, b) return ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, a, b) end },
    PrismaticJointR = { 5, function(a, b) return ns.PrismaticJointR({ 0, 0, 1 }, true, a, b) end },
    CylindricalJointR = { 4, function(a, b) return ns.CylindricalJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, a, b) end },
    PlanarJointR = { 3, function(a, b) return ns.PlanarJointR({ 0, 0, 1 }, true, a, b) end },
    FixedJointR = { 6, function(a, b) return ns.FixedJointR(a, b) end },
    ["stop of pin"] = { 1, function(a, b)
      return ns.JointStopR(ns.PivotJointR { point = { 0, 0, 0 }, axis = { 0, 0, 1 }, bodies = { a, b }, name = "pin" }, 1, true)
    end },
    ["friction of PrismaticJointR"] = { 6, function(a, b)
      return ns.JointFrictionR(ns.PrismaticJointR({ 0, 0, 1 }, true, a, b), 1, true)
    end },
    ["coupling of PivotJointR with PrismaticJointR"] = { 1, function(a, b)
      return (ns.CouplerJointR(ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, a), ns.PrismaticJointR({ 0, 0, 1 }, true, b or a), 1))
    end },
  }

  it("are linked with the bodies for which they were made, in their order, with a law of their size", function()
    for name, one in pairs(made_for) do
      local size, make = one[1], one[2]
      local a, b, c = body { 0, 0, 0, 1, 0, 0, 0 }, body { 1, 0, 0, 1, 0, 0, 0 }, body { 2, 0, 0, 1, 0, 0, 0 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      for _, ds in ipairs { a, b, c } do nsds:insertDynamicalSystem(ds) end
      local function refuses(text, relation, law_size, ...)
        local list = table.pack(...)
        assert.equal(("link: relation '%s' %s"):format(name, text), message(function()
          nsds:link(ns.Interaction(ns.EqualityConditionNSL(law_size), relation), table.unpack(list, 1, list.n))
        end))
        assert.equal(0, nsds:numberOfInteractions())
      end
      local two, alone = make(a, b), make(a)
      refuses("is made for 'ds 1', 'ds 2' in this order, got 'ds 2', 'ds 1'", two, size, b, a)
      refuses("is made for 'ds 1', 'ds 2' in this order, got 'ds 1'", two, size, a)
      refuses("is made for 'ds 1', 'ds 2' in this order, got 'ds 1', 'ds 3'", two, size, a, c)
      refuses("is made for 'ds 1', 'ds 2' in this order, got 'ds 1', 'ds 2', 'ds 3'", two, size, a, b, c)
      refuses("is made for 'ds 1', got 'ds 2'", alone, size, b)
      refuses("is made for 'ds 1', got 'ds 1', 'ds 2'", alone, size, a, b)
      refuses(("goes with a law of size %d, got EqualityConditionNSL of size 2"):format(size), two, 2, a, b)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(size), two), a, b)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(size), alone), a, nil)
      assert.equal(2, nsds:numberOfInteractions())
    end
  end)

  it("stay with the bodies of a clone, and of a clone of that", function()
    local a, b = body { 0, 0, 0, 1, 0, 0, 0 }, body { 1, 0, 0, 1, 0, 0, 0 }
    local hinge = ns.PivotJointR({ 0, 0, 0 }, { 0, 1, 0 }, true, a, b)
    local nsds = graph({ a, b }, 1, { { hinge, name = "pin", force = 1 } })
    local simu, file = projected(nsds, 0.1), os.tmpname()
    simu:save_state(file)
    simu:load_state(file)
    os.remove(file)
    local of_clone = simu:clone():nsds()
    assert.equal("link: relation 'FixedJointR' is made for 'ds 1' of another graph, 'ds 2' of another graph in this order, "
      .. "got 'ds 1', 'ds 2'", message(function()
        of_clone:link(ns.Interaction(ns.EqualityConditionNSL(6), ns.FixedJointR(a, b)), of_clone:dynamicalSystem(1),
          of_clone:dynamicalSystem(2))
      end))
    for _ = 1, 2 do
      simu = simu:clone()
      local copy = simu:nsds()
      local c, d = copy:dynamicalSystem(1), copy:dynamicalSystem(2)
      for name, relation in pairs { pin = "PivotJointR", ["pin friction"] = "friction of PivotJointR" } do
        local pin = copy:interaction(name)
        copy:unlink(pin)
        assert.equal(("link: relation '%s' is made for 'ds 1', 'ds 2' in this order, got 'ds 2', 'ds 1'"):format(relation),
          message(function() copy:link(pin, d, c) end))
        copy:link(pin, c, d)
      end
    end
  end)

  it("say what they expect", function()
    local ds = body { 0, 0, 0, 1, 0, 0, 0 }
    local hinge = ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, ds)
    for text, call in pairs {
      ["PivotJointR: point: expected a vector of 3, got one of 2"] = function() ns.PivotJointR({ 0, 0 }, { 0, 0, 1 }, true, ds) end,
      ["PivotJointR: axis: expected a direction, got zeros"] = function() ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 0 }, true, ds) end,
      ["PrismaticJointR: axis: expected a vector, got nil"] = function() ns.PrismaticJointR(nil, true, ds) end,
      ["KneeJointR: body 1: expected a NewtonEulerDS, got nil"] = function() ns.KneeJointR({ 0, 0, 0 }, true) end,
      ["KneeJointR: absolute: expected true or false, got 1"] = function() ns.KneeJointR({ 0, 0, 0 }, 1, ds) end,
      ["FixedJointR: expected two bodies, got the same one twice"] = function() ns.FixedJointR(ds, ds) end,
      ["FixedJointR: body 2: expected a NewtonEulerDS, got 3"] = function() ns.FixedJointR(ds, 3) end,
      ["FixedJointR: bodies: expected a list of one or two bodies, got nil"] = function() ns.FixedJointR { name = "x" } end,
      ["FixedJointR: name: expected a string, got 3"] = function() ns.FixedJointR { bodies = { ds }, name = 3 } end,
      ["FixedJointR: unknown option 'point'"] = function() ns.FixedJointR { bodies = { ds }, point = { 0, 0, 0 } } end,
      ["typeOfDoF: axis: a PivotJointR has the motion 1, got 2"] = function() hinge:typeOfDoF(2) end,
      ["dof: axis: a FixedJointR has no motion with an axis, got 1"] = function() ns.FixedJointR(ds):dof() end,
      ["JointStopR: joint: expected a joint, got NewtonEulerDS with 6 degrees of freedom"] = function()
        ns.JointStopR(ds, 1, true)
      end,
      ["JointStopR: position: expected a number, got nil"] = function() ns.JointStopR(hinge) end,
      ["JointStopR: position: an angle is known up to 11.5 from a stop, got 12"] = function() ns.JointStopR(hinge, 12, true) end,
      ["JointStopR: upper: expected true or false, got nil"] = function() ns.JointStopR(hinge, 1) end,
      ["JointFrictionR: joint: expected a joint, got nil"] = function() ns.JointFrictionR() end,
      ["JointFrictionR: whole: expected true or false, got 1"] = function() ns.JointFrictionR(hinge, 1, 1) end,
      ["KneeJointR: point: expected a vector, got NewtonEulerDS with 6 degrees of freedom"] = function()
        ns.KneeJointR(ds, { 0, 0, 0 })
      end,
      ["PivotJointR: axis: expected a vector, got NewtonEulerDS with 6 degrees of freedom"] = function()
        ns.PivotJointR({ 0, 0, 0 }, ds)
      end,
      ["PivotJointR: bodies: expected a list of one or two bodies, got a list of 3"] = function()
        ns.PivotJointR { point = { 0, 0, 0 }, axis = { 0, 0, 1 }, bodies = { ds, ds, ds } }
      end,
      ["CouplerJointR: other: expected another motion, got the angle of 'PivotJointR' twice"] = function()
        ns.CouplerJointR(hinge, hinge, 2)
      end,
      ["CouplerJointR: other: expected a joint, got nil"] = function() ns.CouplerJointR(hinge) end,
      ["CouplerJointR: other_axis: a PivotJointR has the motion 1, got 2"] = function()
        ns.CouplerJointR(hinge, hinge, 1, 0, 1, 2)
      end,
      ["CouplerJointR: ratio: expected a number, got nil"] = function() ns.CouplerJointR(hinge, hinge) end,
      ["CouplerJointR: offset: expected a number, got 'a'"] = function() ns.CouplerJointR(hinge, hinge, 1, "a") end,
      ["CouplerJointR: axis: a PivotJointR has the motion 1, got 2"] = function() ns.CouplerJointR(hinge, hinge, 1, 0, 2) end,
    } do
      assert.matches(text, message(call), 1, true)
    end
  end)
end)
