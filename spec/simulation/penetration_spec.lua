-- Bodies that overlap at the start under a scheme whose laws act on velocities: told by check(), and by a warning once.
local host = require "host"
local ns = require "nslua"

-- A ball of radius R at the height q over a floor at `floor`, under gravity.
local function ball(options)
  local ds = ns.LagrangianLinearTIDS({ options.q }, { 0 }, { { options.mass or 1 } })
  ds:setFExtPtr { -9.81 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  local C = options.sparse and ns.sparse { rows = 1, cols = 1, i = { 1 }, j = { 1 }, v = { options.scale or 1 } } or
    { { options.scale or 1 } }
  local relation = options.nonlinear and ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = math.sqrt(q[1] * q[1]) - options.R end,
  } or ns.LagrangianLinearTIR(C, { -(options.scale or 1) * options.R })
  nsds:link(ns.Interaction(options.law or ns.NewtonImpactNSL(0), relation, "floor"), ds)
  local td = ns.TimeDiscretisation(0, 0.1)
  local osi = (options.osi or ns.MoreauJeanOSI)(table.unpack(options.theta or { 0.5 }))
  return (options.simulation or ns.TimeStepping)(nsds, td, osi), ds
end

local function told(options)
  local simu = ball(options)
  local good, report = simu:check()
  return good, report, simu
end

describe("a start below the floor", function()
  it("is told by check()", function()
    local good, report, simu = told { q = 0.9, R = 1 }
    assert.is_false(good)
    assert.equal("interaction 'floor': it starts with y[1] = -0.1, below 0: the laws of MoreauJeanOSI act on velocities and leave " ..
      "the gap there; start at 0 or above, or take a TimeSteppingDirectProjection", report)
    local sol = simu:run()
    assert.near(-0.1, sol.y1[#sol], 1e-9) -- as it is said
    assert.is_true((simu:check())) -- a start alone is told
    for _, options in ipairs { { nonlinear = true }, { sparse = true }, { osi = ns.MoreauJeanGOSI }, { scale = 1e-9 }, { scale = 1e9 },
      { osi = ns.D1MinusLinearOSI, theta = {} } } do
      options.q, options.R = 0.9, 1
      assert.is_false((told(options)))
    end
  end)

  it("is none at rounding, with a projection, on positions, with another law", function()
    for _, options in ipairs { { q = 1, R = 1 }, { q = 0.1 + 0.2, R = 0.3 }, { q = 1 / 3 + 2 / 3 - 2 ^ -52, R = 1 }, { q = 1.1, R = 1 },
      { q = 1e7 * (1 - 2 ^ -52), R = 1e7 }, { q = 1e-7 * (1 - 2 ^ -52), R = 1e-7 }, { q = 0.9, R = 1, law = ns.EqualityConditionNSL(1) },
      { q = 0.9, R = 1, simulation = ns.TimeSteppingDirectProjection },
      { q = 0.9, R = 1, simulation = ns.TimeSteppingCombinedProjection } } do
      local good, report = told(options)
      assert.is_true(good, report)
    end
  end)

  it("does not depend on units", function()
    math.randomseed(8)
    for _ = 1, 60 do
      local R, depth = 2.0 ^ math.random(-60, 60), 0.3 * 10.0 ^ -math.random(1, 12)
      local options = { q = R * (1 - depth), R = R, scale = 2.0 ^ math.random(-60, 60), mass = 2.0 ^ math.random(-60, 60) }
      assert.equal(depth < 1e-9, (told(options)), depth)
    end
  end)

  it("is told by a warning, once, before the first step of whatever kind", function()
    for _, way in ipairs { "simu:computeOneStep()", "simu:run()", "for _ in simu:steps() do end", "simu:initialize()" } do
      local code = [[local ns = require "nslua"
        for k = 1, 2 do
          local ds = ns.LagrangianLinearTIDS({ 0.9 }, { 0 }, { { 1 } })
          local nsds = ns.NonSmoothDynamicalSystem(0, 1)
          nsds:insertDynamicalSystem(ds)
          nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }, { -1 }), "floor"), ds)
          local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
          ]] .. way .. "\nend"
      local out, err, status = host.nslua_run("-e " .. host.quote(code))
      assert.same({ "", 0 }, { out, status })
      assert.equal("nslua: interaction 'floor': it starts with y[1] = -0.1, below 0: the laws of MoreauJeanOSI act on velocities " ..
        "and leave the gap there; start at 0 or above, or take a TimeSteppingDirectProjection\n", err)
    end
  end)

  it("of a contact with friction is told by its gap alone", function()
    local function disk(height)
      local ds = ns.LagrangianLinearTIDS({ -3, height, 0 }, { 0, 0, 0 }, ns.eye(3))
      ds:setFExtPtr { 0, -9.81, 0 }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2), reach = 0.5 }
      contacts:add_disk(ds, 1)
      contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
      contacts:update()
      local _, report = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):check()
      return (report or ""):match "interaction [^\n]*"
    end
    assert.is_nil(disk(1))
    assert.is_nil(disk(1.2))
    assert.matches("^interaction 'disk 1 line 1': it starts with y%[1%] = %-0.25, below 0", disk(0.75))
  end)
end)
