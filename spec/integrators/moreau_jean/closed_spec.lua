-- Which contacts take part in a step, and the one-step problem that they make.
local ns = require "nslua"
local moving = require "moving"
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
