-- Which contacts take part in a step, and the one-step problem that they make.
local ns = require "nslua"
local moving = require "moving"
local random = require "random_numbers".signed
local simulate, impact, ball = moving.simulate, moving.impact, moving.ball

describe("the forecast of contacts", function()
  it("forecasts by gamma: a contact may penetrate by a step before it acts, or not", function()
    for gamma, lowest in pairs { [0] = -0.01, [0.5] = 0.01, [1] = 0.01 } do
      local ds, low = ball(0.05, -1, 0), 1
      local simu = simulate {
        systems = { ds }, links = { { impact(1, { 1 }), ds } }, T = 0.5, h = 0.02, osi = ns.MoreauJeanOSI(0.5, gamma),
      }
      for _ in simu:steps() do low = math.min(low, ds:q()[1]) end
      assert.near(lowest, low, 1e-12)
    end
  end)

  it("does not let rounding open a contact at rest", function()
    for _, gap in ipairs { 0, 3e-22, 1e-17 } do
      local ds = ball(gap)
      local floor = impact(0.5, { 1 })
      local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 0.1, h = 1e-3 }
      for _ in simu:steps() do
        assert.near(9.81e-3, floor:lambda()[1], 1e-15)
        assert.equal(0, ds:velocity()[1])
      end
    end
  end)

  it("does not let rounding that piles up open a contact #once", function() -- a body that slides down along an oblique plane
    local s, c, g = math.sin(math.pi / 6), math.cos(math.pi / 6), 9.81
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanGOSI(0.5) } do
      local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { c, -s }, ns.eye(2))
      ds:setFExtPtr { -g * c * s, -g * c * c } -- normal to the plane
      local plane = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { s, c } })
      local simu = simulate { systems = { ds }, links = { { plane, ds } }, T = 20, h = 1e-3, osi = osi }
      for _ in simu:steps() do assert.is_true(plane:lambda()[1] > 0) end
    end
  end)

  it("lets a contact go that is pulled away", function()
    local ds = ball(0)
    local floor = impact(0, { 1 })
    local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 0.2, h = 1e-2 }
    for k in simu:steps() do
      if k == 10 then ds:setFExtPtr { 1 } end
    end
    assert.near(0.1, ds:velocity()[1], 1e-12)
    assert.is_true(ds:q()[1] > 0)
  end)

  it("lets a gap that matters close first", function()
    local ds = ball(1e-6)
    local floor = impact(0, { 1 })
    local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 0.1, h = 1e-3 }
    simu:computeOneStep()
    assert.equal(0, floor:lambda()[1])
    assert.near(-9.81e-3, ds:velocity()[1], 1e-15)
  end)

  it("lets only those of an interaction's contacts act that are closed", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 1 }, { 0, 0 }, ns.eye(2))
    ds:setFExtPtr { -1, -1 }
    local floors = ns.Interaction(ns.NewtonImpactNSL(2, 0), ns.LagrangianLinearTIR(ns.eye(2)))
    local simu = simulate { systems = { ds }, links = { { floors, ds } }, T = 0.1, h = 1e-2 }
    simu:computeOneStep()
    assert.near(1e-2, floors:lambda()[1], 1e-15)
    assert.equal(0, floors:lambda()[2])
    assert.near(-1e-2, ds:velocity()[2], 1e-15)
  end)
end)

describe("a contact at rest between two bodies", function()
  -- Without the contact both fall alike; the sizes of what each body brings count. A gap below the tolerance stays closed.
  for _, name in ipairs { "MoreauJeanOSI", "MoreauJeanGOSI", "MoreauJeanBilbaoOSI" } do
    it("stays closed under " .. name, function()
      local h, g, osi = 1e-3, 10, name == "MoreauJeanBilbaoOSI" and ns[name]() or ns[name](1)
      local lower = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
      local upper = ns.LagrangianLinearTIDS({ 2e-9 }, { -1e-5 }, { { 2 } })
      lower:setFExtPtr { -g }
      upper:setFExtPtr { -2 * g }
      local floor = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1 } })
      local between = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { -1, 1 } })
      local simu = simulate {
        systems = { lower, upper }, links = { { floor, lower }, { between, lower, upper } }, T = 20 * h, h = h, osi = osi }
      for k in simu:steps() do
        if k > 1 then assert.near(2 * g * h, between:lambda(1)[1], 1e-9) end
      end
    end)
  end
end)

describe("a contact without a force, open by rounding", function()
  -- No impulse is foretold, so that the first iterate goes on as in the last steps; the contact takes part all the same.
  it("leaves free motion beside it as it is", function()
    local function swing(touching)
      local n = touching and 2 or 1
      local ds = ns.LagrangianDS(touching and { 1, 1 + 2 ^ -52 } or { 1 }, ns.zeros(n), ns.eye(n))
      ds:setComputeFIntFunction(function(_, q, _, _, f) f[1] = q[1] ^ 3 end)
      local links = touching and { { impact(0.5, { 0, 1 }, { -1 }), ds } }
      local simu = simulate { systems = { ds }, links = links, T = 5, h = 0.05 }
      simu:run()
      return ds
    end
    local free, touching = swing(false), swing(true)
    assert.near(free:q()[1], touching:q()[1], 1e-9) -- Newton's tolerance
    assert.near(free:velocity()[1], touching:velocity()[1], 1e-9)
    assert.equal(1 + 2 ^ -52, touching:q()[2])
    assert.equal(0, touching:velocity()[2])
  end)
end)

describe("the one-step problem", function()
  -- Copies of two bodies, one on a floor with friction, the other on top of it by a rod that breaks nothing.
  local function pairs_of(copies)
    local systems, links = {}, {}
    for i = 1, copies do
      local lower = ns.LagrangianLinearTIDS({ 0.1, 0.02 }, { 1 + 0.1 * i, -1 }, ns.eye(2))
      local upper = ns.LagrangianLinearTIDS({ 0.1, 1.02 }, { 0, 0.3 }, 3 * ns.eye(2), 40 * ns.eye(2))
      lower:setFExtPtr { 0, -9.81 }
      upper:setFExtPtr { 1, -9.81 }
      local floor = ns.Interaction(ns.NewtonImpactFrictionNSL(0.3, 0, 0.4, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } })
      local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR({ { 0, -1, 0, 1 } }, { -1 }))
      systems[#systems + 1], systems[#systems + 2] = lower, upper
      links[#links + 1], links[#links + 2] = { floor, lower }, { rod, lower, upper }
    end
    return simulate { systems = systems, links = links, T = 0.1, h = 5e-3 }, systems, links
  end

  it("is dense to 150 rows and sparse above, which gives the same motion", function()
    local copies = 60
    local all, many, links = pairs_of(copies)
    all:run()
    local closed = 0
    for i = 1, copies do closed = closed + (links[2 * i - 1][1]:lambda(1)[1] > 0 and 1 or 0) end
    assert.is_true(closed * 3 > 150)
    for _, i in ipairs { 1, 30, 60 } do
      local lower, upper = many[2 * i - 1], many[2 * i]
      local single, own = pairs_of(i) -- the last of them has the same start
      if i == 1 then single:run() else for _ in single:steps() do end end
      for k = 1, 2 do
        assert.near(own[2 * i - 1]:velocity()[k], lower:velocity()[k], 1e-9)
        assert.near(own[2 * i]:q()[k], upper:q()[k], 1e-9)
      end
    end
  end)

  it("has the compliance of a relation in its matrix, and the impulses in the law's units", function()
    local ds, h, stiffness = ball(0, 0), 1e-2, 50
    local spring = ns.Interaction(ns.ComplementarityConditionNSL(1),
      ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 / stiffness } }))
    simulate({ systems = { ds }, links = { { spring, ds } }, T = 20 * h, h = h, osi = ns.MoreauJeanOSI(1) }):run()
    -- backward Euler of q'' = -g - stiffness q, while the spring pushes
    local q, v = 0, 0
    for _ = 1, 20 do
      v = (v - h * (9.81 + stiffness * q)) / (1 + h * h * stiffness)
      q = q + h * v
    end
    assert.near(q, ds:q()[1], 1e-12)
    assert.near(v, ds:velocity()[1], 1e-12)
  end)
end)

describe("contacts of ready-made shapes, which have no H while they take no part,", function()
  local laws = { [1] = function() return ns.NewtonImpactNSL(0.4) end,
                 [3] = function() return ns.NewtonImpactFrictionNSL(0.4, 0, 0.5, 3) end,
                 [5] = function() return ns.NewtonImpactRollingFrictionNSL(0.4, 0, 0.5, 0.1, 5) end,
                 [6] = function() return ns.NewtonImpactSpinningFrictionNSL(0.4, 0, 0.5, 0.1, 0.2, 6) end }
  local R1, R2, corner = 0.1, 0.15, { 0.1, -0.05, 0.08 }

  local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end

  -- Each sets the frame at q and returns the gap.
  local frames = {
    sphere_plane = function(r, q)
      r:setpc1 { q[1], q[2], q[3] - R1 }
      r:setpc2 { q[1], q[2], 0 }
      r:setnc { 0, 0, 1 }
      return q[3] - R1
    end,
    corner_plane = function(r, q)
      local e, once = { q[5], q[6], q[7] }, cross({ q[5], q[6], q[7] }, corner)
      local twice, p = cross(e, once), {}
      for i = 1, 3 do p[i] = q[i] + corner[i] + 2 * (q[4] * once[i] + twice[i]) end
      r:setpc1(p)
      r:setpc2 { p[1], p[2], 0 }
      r:setnc { 0, 0, 1 }
      return p[3]
    end,
    sphere_sphere = function(r, q)
      local n = #q // 2
      local way = { q[1] - q[n + 1], q[2] - q[n + 2], q[3] - q[n + 3] }
      local d = math.sqrt(way[1] ^ 2 + way[2] ^ 2 + way[3] ^ 2)
      local p, o = {}, {}
      for i = 1, 3 do p[i], o[i] = q[i] - R1 * way[i] / d, q[n + i] + R2 * way[i] / d end
      r:setpc1(p)
      r:setpc2(o)
      r:setnc { way[1] / d, way[2] / d, way[3] / d }
      return d - R1 - R2
    end,
  }
  local ready = { sphere_plane = { R = R1, point = { 0, 0, 0 }, normal = { 0, 0, 1 } },
                  corner_plane = { corner = corner, point = { 0, 0, 0 }, normal = { 0, 0, 1 } },
                  sphere_sphere = { R1 = R1, R2 = R2 } }

  -- A run of tumbling bodies; the frame is the shape's or, `by_hand`, of a function. Gaps, velocities and forces of all steps.
  local function run(shape, rows, particles, implicit, by_hand)
    local nsds, bodies = ns.NonSmoothDynamicalSystem(0, 1), {}
    math.randomseed(rows * 7 + #shape)
    for k = 1, shape == "sphere_sphere" and 2 or 1 do
      local q, v = { 0.1 * random(), 0.1 * random(), k == 1 and 0.6 or 0.2 }, { 0.2 * random(), 0.2 * random(), k - 2 }
      if not particles then
        for i = 4, 7 do q[i] = i == 4 and 1 or 0 end
        for i = 4, 6 do v[i] = 3 * random() end
      end
      bodies[k] = particles and ns.LagrangianLinearTIDS(q, v, ns.eye(3)) or
        ns.NewtonEulerDS(q, v, 1, ns.diag { 0.01, 0.02, 0.015 })
      bodies[k]:setFExtPtr(k == 1 and { 0, 0, -9.81 } or { 0, 0, 0 })
      nsds:insertDynamicalSystem(bodies[k])
    end
    local class, options = ns["NewtonEuler" .. rows .. "DR"], { shape = shape }
    local Hand = ns.class(class, "hand")
    function Hand:computeh(_, q, y) y[1] = frames[shape](self, q) end
    for name, value in pairs(ready[shape]) do options[name] = value end
    local contact = ns.Interaction(laws[rows](), by_hand and Hand() or class(options))
    nsds:link(contact, table.unpack(bodies))
    local osi, numbers, closed = ns.MoreauJeanOSI(0.5), {}, 0
    osi:setLinearlyImplicit(implicit)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 4e-3), osi, ns.GenericMechanical())
    for _ = 1, 80 do
      simu:computeOneStep()
      simu:nextStep()
      if contact:lambda(1)[1] > 0 then closed = closed + 1 end
      for _, list in ipairs { contact:y(0), contact:y(1), contact:lambda(1) } do
        for i = 1, rows do numbers[#numbers + 1] = list[i] end
      end
    end
    return numbers, closed
  end

  it("open, close and move as those whose frame a function sets #once", function()
    for shape in pairs(frames) do
      for rows in pairs(laws) do
        for _, particles in ipairs { false, rows < 5 and shape ~= "corner_plane" or nil } do
          for _, implicit in ipairs { false, true } do
            local mine, closed = run(shape, rows, particles, implicit)
            local hand, same = run(shape, rows, particles, implicit, true)
            assert.equal(same, closed)
            assert.is_true(closed > 0 and closed < 80, shape .. " " .. rows .. " " .. closed)
            for k = 1, #hand do assert.near(hand[k], mine[k], 1e-9, shape .. " " .. k) end
          end
        end
      end
    end
  end)
end)
