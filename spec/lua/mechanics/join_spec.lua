-- Joints that are linked with their laws: closed chains whose rows follow from others, reactions of least norm.
local ns = require "nslua"
local message = require "bind.models".message
local imbalance = require "moving".imbalance

local g = 9.81

-- The unit rods between points, the last one being the world, and joints { name, point, axis, rod, other rod }.
local function chain(points, hinges, T)
  local nsds, bodies, joints = ns.NonSmoothDynamicalSystem(0, T), {}, {}
  for i = 1, #points - 1 do
    local a, b = points[i], points[i + 1]
    local d = { b[1] - a[1], b[2] - a[2], b[3] - a[3] }
    local l2, inertia = d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2, ns.zeros(3, 3)
    for r = 1, 3 do
      for c = 1, 3 do inertia[r][c] = ((r == c and 1.01 * l2 or 0) - d[r] * d[c]) / 12 end
    end
    bodies[i] = ns.NewtonEulerDS({ (a[1] + b[1]) / 2, (a[2] + b[2]) / 2, (a[3] + b[3]) / 2, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 },
      1, inertia)
    bodies[i]:setFExtPtr { 0, -g, 0 }
    nsds:insertDynamicalSystem(bodies[i])
  end
  for k, hinge in ipairs(hinges) do
    local one, other = bodies[hinge[3]] or bodies[hinge[4]], bodies[hinge[3]] and bodies[hinge[4]]
    joints[k] = ns.PivotJointR { point = hinge[1], axis = hinge[2], absolute = true, bodies = { one, other }, name = hinge.name }
  end
  return nsds, bodies, joints
end

-- Six rods along the edges of a cube, hinged across both rods at each corner.
local function bricard(order, T)
  local P = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, -1, 0 }, { 1, -1, 1 }, { 0, -1, 1 }, { 0, 0, 1 } }
  local function edge(i)
    local a, b = P[(i - 1) % 6 + 1], P[i % 6 + 1]
    return { b[1] - a[1], b[2] - a[2], b[3] - a[3] }
  end
  local hinges = {}
  for k, i in ipairs(order) do
    local a, b = edge(i + 5), edge(i)
    hinges[k] = { P[i], { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }, i - 1, i,
      name = "hinge " .. i }
  end
  return chain(P, hinges, T)
end

local function energy(bodies)
  local sum = 0
  for _, ds in ipairs(bodies) do sum = sum + ds:computeKineticEnergy() + g * ds:q()[2] end
  return sum
end

-- Runs f; the warnings that it gave.
local function warned(f)
  local env, list = require "nslua.base.env"(), {}
  local before = env.warn
  env.warn = function(text) list[#list + 1] = text end
  local good, result = pcall(f)
  env.warn = before
  assert(good, result)
  return list, result
end

describe("ns.mechanics.join", function()
  it("leaves out the row of Bricard's linkage that follows from the others, and tells it", function()
    local nsds, bodies, joints = bricard({ 1, 2, 3, 4, 5, 6 }, 2)
    local list, made = warned(function() return ns.mechanics.join(nsds, joints) end)
    assert.equal(1, #made.redundant)
    assert.same({ ("nslua: join: a row of joints follows from the others and is left out: %s; a chain that moves far needs "
      .. "update() of the joints between steps"):format(made.redundant[1]) }, list)
    local before = energy(bodies)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)):run()
    assert.is_true(bodies[3]:q()[1] < 0) -- it moves
    assert.is_true(math.abs(energy(bodies) - before) < 1e-8)
    for _, inter in ipairs(made) do assert.is_true(inter:y(0):norm() < 1e-10) end
  end)

  -- Bennett's linkage: lengths a, b, a, b with twists in the same ratio as their sines. Its angles have
  -- tan(p / 2) tan(q / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2).
  local function bennett(T)
    local alpha, beta = math.rad(40), math.rad(75)
    local a, b, k = 1, math.sin(beta) / math.sin(alpha), math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2)
    local p = 1
    local q = 2 * math.atan(k / math.tan(p / 2))
    local frame, P, hinges = ns.eye(4), {}, {}
    for i, angle in ipairs { p, q, 2 * math.pi - p, 2 * math.pi - q } do
      local length, twist = i % 2 == 1 and a or b, i % 2 == 1 and alpha or beta
      local c, s, cos, sin = math.cos(angle), math.sin(angle), math.cos(twist), math.sin(twist)
      P[i] = { frame[1][4], frame[2][4], frame[3][4] }
      hinges[i] = { P[i], { frame[1][3], frame[2][3], frame[3][3] }, i - 1, i, name = "hinge " .. i }
      frame = frame * ns.matrix { { c, -s * cos, s * sin, length * c }, { s, c * cos, -c * sin, length * s }, { 0, sin, cos, 0 },
        { 0, 0, 0, 1 } }
    end
    local nsds, bodies, joints = chain(P, hinges, T)
    local _, made = warned(function() return ns.mechanics.join(nsds, joints) end)
    local function closure() -- joint 1 turns body 1 in the world, joint 2 body 1 against body 2
      local x, y = p + joints[1]:dof(), q - joints[2]:dof()
      return math.sin(x / 2) * math.sin(y / 2) - k * math.cos(x / 2) * math.cos(y / 2)
    end
    return nsds, made, closure, bodies, joints
  end

  it("moves Bennett's linkage far, with update() between steps, in every simulation", function()
    for name, tolerance in pairs { EventDriven = 1e-12, TimeStepping = 1e-3, TimeSteppingDirectProjection = 1e-9 } do
      local nsds, made, closure, bodies, joints = bennett(1.2)
      local h = name == "EventDriven" and 0.05 or 0.004
      local integrator = name == "EventDriven" and ns.RungeKuttaOSI(1e-10, 1e-10) or ns.MoreauJeanOSI(0.5)
      local simu = ns[name](nsds, ns.TimeDiscretisation(0, h), integrator)
      local before = energy(bodies)
      for _ in simu:steps() do
        assert.equal(made, made:update())
        assert.is_true(math.abs(closure()) < tolerance, name)
      end
      assert.is_true(math.abs(joints[1]:dof()) > 2, name)
      if name == "EventDriven" then assert.is_true(math.abs(energy(bodies) - before) < 1e-8) end
      local reactions, sum = made:reactions(), 0
      for i = 1, 4 do sum = sum + reactions["hinge " .. i]:norm() end
      assert.is_true(sum > 0 and sum < math.huge)
    end
  end)

  it("chooses rows anew in an action of a clock too, and goes on from a checkpoint with the same bits", function()
    local file, ends = os.tmpname(), {}
    for run = 1, 3 do
      local nsds, made, closure, bodies = bennett(1)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5))
      simu:every { period = 0.01, act = function() made:update() end }
      if run == 3 then simu:load_state(file) end
      while simu:hasNextEvent() and not (run == 2 and simu:nextTime() > 0.75) do
        simu:computeOneStep()
        simu:nextStep()
      end
      if run == 2 then simu:save_state(file) end
      assert.is_true(math.abs(closure()) < 1e-2)
      ends[run] = ns.vector(bodies[2]:q())
    end
    os.remove(file)
    assert.is_true(ends[1] == ends[3])
  end)

  it("tells of a chain that has come apart", function()
    local nsds, _, _, bodies = bennett(1)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5))
    simu:computeOneStep()
    simu:nextStep()
    bodies[3]:q()[2] = bodies[3]:q()[2] + 1
    assert.error_matches(function() simu:computeOneStep() end,
      "relation 'rest of hinge 4 %(nan: the chain has come apart%)' computeh: t=.*y%[1%] is nan")
  end)

  it("loses energy in time steps with order 1, with a projection or without; the projection's part has order 2 #once", function()
    local function losses(name, h)
      local nsds, _, joints = bricard({ 1, 2, 3, 4, 5, 6 }, 1)
      warned(function() return ns.mechanics.join(nsds, joints) end)
      local simu = ns[name](nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
      local before = simu:energy().total
      simu:run()
      local account = simu:energy()
      assert.is_true(imbalance(simu, before) < 1e-11)
      return account.impacts, account.numerical
    end
    local plain, _ = losses("TimeStepping", 2e-3)
    local coarse, by_coarse = losses("TimeSteppingDirectProjection", 4e-3)
    local fine, by_fine = losses("TimeSteppingDirectProjection", 2e-3)
    assert.near(1, fine / plain, 1e-3)
    assert.near(2, coarse / fine, 0.05)
    assert.near(4, by_coarse / by_fine, 0.2)
    assert.is_true(math.abs(by_fine) < 1e-2 * math.abs(fine))
  end)

  it("has reactions of least norm, which do not depend on the row that is left out", function()
    local first
    for _, order in ipairs { { 1, 2, 3, 4, 5, 6 }, { 5, 3, 6, 1, 4, 2 } } do
      local nsds, _, joints = bricard(order, 0.3)
      local _, made = warned(function() return ns.mechanics.join(nsds, joints) end)
      ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-11, 1e-11)):run()
      local reactions = made:reactions()
      local load = ns.vector(reactions["hinge 1"])
      first = first or load
      assert.is_true((load - first):norm() < 1e-7 * first:norm())
    end
  end)

  it("has three rows too many in a four-bar linkage in space, also from where it is folded", function()
    for _, fold in ipairs { false, true } do
      local P = fold and { { 0, 0, 0 }, { 1, 0, 0 }, { 3, 0, 0 }, { 2, 0, 0 } } -- a crank of 1, rods of 2 and 1, a frame of 2
        or { { 0, 0, 0 }, { 0, 1, 0 }, { 2, 1, 0 }, { 2, 0, 0 } }
      local hinges = {}
      for i = 1, 4 do hinges[i] = { P[i], { 0, 0, 1 }, i - 1, i, name = "hinge " .. i } end
      local nsds, _, joints = chain(P, hinges, 1)
      local _, made = warned(function() return ns.mechanics.join(nsds, joints) end)
      assert.equal(3, #made.redundant)
    end
  end)

  it("leaves out nothing where all rows are needed", function()
    local nsds, _, joints = chain({ { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      { { { 0, 0, 0 }, { 0, 0, 1 }, 0, 1, name = "one" }, { { 1, 0, 0 }, { 0, 1, 0 }, 1, 2, name = "two" } }, 1)
    local list, made = warned(function() return ns.mechanics.join(nsds, joints) end)
    assert.same({ {}, {}, 2, "one" }, { list, made.redundant, #made, made[1]:name() })
  end)

  it("has stops of angles beyond 2 pi", function()
    for _, case in ipairs { { -8, 3, -2 }, { -3, 8, 2 }, { -0.1, 11.3, 2 }, { -7, 0, -2 } } do
      local lower, upper, w = table.unpack(case)
      local wheel = ns.NewtonEulerDS({ 0.3, 0, 0, 1, 0, 0, 0 }, { 0, 0.3 * w, 0, 0, 0, w }, 1, ns.eye(3))
      local nsds = ns.NonSmoothDynamicalSystem(0, 12)
      nsds:insertDynamicalSystem(wheel)
      local hinge = ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, wheel)
      ns.mechanics.join(nsds, { { hinge, name = "hinge", stops = { lower, upper }, restitution = 1 } })
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI(1e-8, 1e-8))
      simu:run()
      local t = (w > 0 and upper or lower) / w
      for _, event in ipairs(simu:events()) do
        assert.is_true(event.kind == "impact" and math.abs(event.t - t) < 1e-6)
        t = t + (upper - lower) / math.abs(w)
      end
      assert.is_true(t > 12)
    end
  end)

  it("takes a start at a stop whatever rounding makes of it", function()
    for k = 1, 12 do
      local nsds, sine, cosine = ns.NonSmoothDynamicalSystem(0, 0.1), math.sin(k), math.cos(k)
      local e = { cosine * 0.6, sine * 0.6, -sine * 0.8, cosine * 0.8 }
      local one = ns.NewtonEulerDS({ 1 / k, 1000 / 3, 7, table.unpack(e) }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      local two = ns.NewtonEulerDS({ 0.1, 1, k, e[2], e[4], e[3], e[1] }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      nsds:insertDynamicalSystem(one)
      nsds:insertDynamicalSystem(two)
      local axis = { sine, 0.3, cosine }
      local joint = k % 2 == 0 and ns.PrismaticJointR(axis, false, one, two) or ns.PivotJointR({ 0, 0, 1 }, axis, false, one, two)
      local made = ns.mechanics.join(nsds, { { joint, name = "j", stops = k % 3 == 0 and { -1, 0 } or { 0, 1 } } })
      assert.is_true(#made == 3)
      ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-8, 1e-8)):run()
      assert.is_true(math.abs(joint:dof()) < 1e-10)
    end
  end)

  it("lets a body that is turned slide with friction by the reaction, whatever rounding is left of its reactions", function()
    local a, mu = math.pi / 6, 0.2
    local block = ns.NewtonEulerDS({ 0, 0, 0, 0.5, 0.5, 0.5, 0.5 }, { 0, 0, 0, 0, 0, 0 }, 1.7, ns.diag { 0.1, 0.2, 0.25 })
    block:setFExtPtr { 0, 0, -1.7 * g }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
    nsds:insertDynamicalSystem(block)
    local slide = ns.PrismaticJointR({ math.cos(a), 0, -math.sin(a) }, true, block)
    ns.mechanics.join(nsds, { { slide, friction = mu } })
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5)):run()
    assert.near(g * (math.sin(a) - mu * math.cos(a)) * 0.5 ^ 2 / 2, slide:dof(), 1e-9)
  end)

  it("keeps a governor whose bearing is at the origin, where rows have no terms but what is left of forces", function()
    local w, length, J = 6, 0.4, 1e-6
    local c = g * length / (w ^ 2 * (length ^ 2)) -- cosine of its arms, points at the ends
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local shaft = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, w }, 1, 1e3 * ns.eye(3))
    nsds:insertDynamicalSystem(shaft)
    local joints, balls = { ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, shaft) }, {}
    for i = 1, 2 do
      local x = (2 * i - 3) * length * math.sqrt(1 - c ^ 2)
      balls[i] = ns.NewtonEulerDS({ x, 0, -length * c, 1, 0, 0, 0 }, { 0, w * x, 0, 0, 0, w }, 1, J * ns.eye(3))
      balls[i]:setFExtPtr { 0, 0, -g }
      nsds:insertDynamicalSystem(balls[i])
      joints[1 + i] = ns.PivotJointR({ 0, 0, 0 }, { 0, 1, 0 }, true, balls[i], shaft)
    end
    ns.mechanics.join(nsds, joints)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.01), ns.RungeKuttaOSI(1e-10, 1e-11)):run()
    for _, ball in ipairs(balls) do assert.near(-length * c, ball:q()[3], 1e-10) end
  end)

  it("says what it expects", function()
    local nsds, bodies, joints = chain({ { 0, 0, 0 }, { 1, 0, 0 } }, { { { 0, 0, 0 }, { 0, 0, 1 }, 0, 1, name = "hinge" } }, 1)
    local hinge = joints[1]
    local function with(o) return function() o[1] = hinge ns.mechanics.join(nsds, { o }) end end
    for text, call in pairs {
      ["join: expected a NonSmoothDynamicalSystem, got 1"] = function() ns.mechanics.join(1, { hinge }) end,
      ["join: expected a list of joints, got an empty one"] = function() ns.mechanics.join(nsds, {}) end,
      ["join: expected a list of joints, got nil"] = function() ns.mechanics.join(nsds) end,
      ["join: 'force' stands beside its joint, in a table of both: { { joint, force = ... }, ... }"] = function()
        ns.mechanics.join(nsds, { hinge, force = 1 })
      end,
      ["join: joints[1]: expected a joint, got nil"] = function() ns.mechanics.join(nsds, { nil, hinge }) end,
      ["join: joints[1]: expected a joint, got NewtonEulerDS 'ds 1' with 6 degrees of freedom"] = function()
        ns.mechanics.join(nsds, { bodies[1] })
      end,
      ["join: there are two joints 'hinge'"] = function() ns.mechanics.join(nsds, { hinge, hinge }) end,
      ["join: joints[1]: name: expected a string, got 3"] = with { name = 3 },
      ["join: 'hinge': axis: a PivotJointR has the motion 1, got 2"] = with { axis = 2 },
      ["join: unknown option 'stop'"] = with { stop = 1 },
      ["join: 'hinge': friction: expected a number, at least 0, got -1"] = with { friction = -1 },
      ["join: 'hinge': force: expected a number, at least 0, got 'a'"] = with { force = "a" },
      ["join: 'hinge': restitution: expected a number, 0 to 1, got 2"] = with { stops = { -1, 1 }, restitution = 2 },
      ["join: 'hinge': radius: the torque of friction about an axis is friction * radius * reaction at most: give both"] = with {
        friction = 1 },
      ["join: 'hinge': stops: expected { lowest, highest }, got { 1, -1 }"] = with { stops = { 1, -1 } },
      ["join: 'hinge': stops: expected { lowest, highest }, got a table with the key 'low'"] = with { stops = { low = 1 } },
      ["join: 'hinge': damping: expected a number, at least 0, got { 1 }"] = with { damping = { 1 } },
      ["join: 'slide': radius: it belongs to the friction about an axis, and this motion of the PrismaticJointR has none"] =
        function()
          local slide = ns.PrismaticJointR { axis = { 1, 0, 0 }, bodies = { bodies[1] }, name = "slide" }
          ns.mechanics.join(nsds, { { slide, friction = 1, radius = 1 } })
        end,
      ["join: 'hinge': stops: it is at 0, beyond { 1, 2 }"] = with { stops = { 1, 2 } },
      ["join: 'hinge': stops: an angle is known up to 11.5 from a stop, got { -6, 6 }"] = with { stops = { -6, 6 } },
      ["join: 'hinge': stops: an angle is known up to 11.5 from a stop, got { -12, inf }"] = with { stops = { -12, math.huge } },
      ["join: 'weld': a FixedJointR has no motion that stops and friction act on"] = function()
        ns.mechanics.join(nsds, { { ns.FixedJointR(bodies[1]), name = "weld", force = 1 } })
      end,
      ["join: 'c' has friction by its reaction, which is not unique: rows of it follow from other joints"] = function()
        local function rubbing(name)
          return { ns.PivotJointR({ 0, 0, 0 }, { 0, 0, 1 }, true, bodies[1]), name = name, friction = 1, radius = 1 }
        end
        ns.mechanics.join(nsds, { hinge, rubbing "b", rubbing "c" })
      end,
    } do
      assert.matches(text, message(call), 1, true)
    end
  end)
end)
