-- Rolling friction between events: disks and spheres that slip, roll and stop, against closed forms and time steps.
local events = require "simulation.events"
local expect = require "expect"
local ns = require "nslua"

local g, R = events.g, 0.5

-- A disk on the ground; slope: its angle. v, spin: at the start, where nothing is given it rolls. steps: a time step.
local function disk(o)
  local m, slope, v, unit = 2, o.slope or 0, o.v or 0, o.unit or 1
  local r = R * unit
  local ds = ns.LagrangianLinearTIDS({ (o.height or 0) * unit, 0, 0 }, { 0, v * unit, o.spin or v / R },
    ns.diag { m, m, m * r ^ 2 / 2 })
  ds:setFExtPtr { -m * g * math.cos(slope) * unit, m * g * math.sin(slope) * unit, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 3)
  nsds:insertDynamicalSystem(ds)
  local law = ns.NewtonImpactRollingFrictionNSL(o.e or 0, 0, o.mu or 0.3, (o.mu_r or 0.02) * unit, 3)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1, 0, 0 }, { 0, 1, -r }, { 0, 0, 1 } }, "ground"), ds)
  if o.steps then
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.steps), ns.MoreauJeanOSI(0.5), ns.RollingFrictionContact(3)), ds
  end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h or 0.1), ns.RungeKuttaOSI()), ds, law
end

-- A sphere on the ground, with its velocity and angular velocity.
local function sphere(o)
  local m, slope, v = 2, o.slope or 0, o.v or { 0, 0 }
  local w, I = o.w or { -v[2] / R, v[1] / R, 0 }, 0.4 * 2 * R ^ 2
  local ds = ns.NewtonEulerDS({ 0, 0, R + (o.height or 0), 1, 0, 0, 0 }, { v[1], v[2], 0, w[1], w[2], w[3] }, m,
    ns.diag { I, I, I })
  ds:setFExtPtr { m * g * math.sin(slope), 0, -m * g * math.cos(slope) }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 3)
  nsds:insertDynamicalSystem(ds)
  local law = ns.NewtonImpactRollingFrictionNSL(o.e or 0, 0, o.mu or 0.3, o.mu_r or 0.02, 5)
  local ground = ns.contact.sphere_plane(R, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }), 5)
  nsds:link(ns.Interaction(law, ground, "ground"), ds)
  if o.steps then
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.steps), ns.MoreauJeanOSI(0.5), ns.RollingFrictionContact(5)), ds
  end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h or 0.1), ns.RungeKuttaOSI()), ds, law
end

-- The events of a kind: their times and components.
local function of_kind(simu, kind)
  local list = {}
  for _, event in ipairs(simu:events()) do
    if event.kind == kind then list[#list + 1] = event end
  end
  return list
end

local function no_work_is_lost(simu)
  assert.near(0, simu:energy().numerical, 1e-12)
end

describe("a disk with rolling friction", function()
  it("rolls with the deceleration 2 muR g / (3 R), stops and stays", function()
    for _, v in ipairs { 0.5, -0.25 } do
      local simu, ds = disk { v = v }
      local rate = 2 * 0.02 * g / (3 * R)
      simu:energy()
      simu:run()
      local stops = of_kind(simu, "stick")
      assert.equal(1, #stops)
      assert.equal(3, stops[1].component)
      assert.near(math.abs(v) / rate, stops[1].t, 1e-12)
      assert.near(v * math.abs(v) / (2 * rate), ds:q()[2], 1e-12)
      for i = 1, 3 do assert.equal(0, ds:velocity()[i]) end
      no_work_is_lost(simu)
    end
  end)

  -- While it slips: v' = -mu g, and I w' = mu m g R - muR m g.
  it("slips, rolls and stops, at times that are located", function()
    local mu, mu_r, v = 0.1, 0.02, 0.5
    local simu, ds = disk { v = v, spin = 0, mu = mu }
    simu:energy()
    simu:run()
    local spin_up, rate = 2 * g * (mu * R - mu_r) / R ^ 2, 2 * mu_r * g / (3 * R)
    local grips = v / (mu * g + spin_up * R)
    local rolling = v - mu * g * grips
    local stops = of_kind(simu, "stick")
    assert.same({ 2, 3 }, { stops[1].component, stops[2].component })
    assert.near(grips, stops[1].t, 1e-12)
    assert.near(grips + rolling / rate, stops[2].t, 1e-12)
    assert.near(v * grips - mu * g * grips ^ 2 / 2 + rolling ^ 2 / (2 * rate), ds:q()[2], 1e-12)
    no_work_is_lost(simu)
  end)

  it("rolls down a slope with 2/3 (g sin a - muR g cos a / R), or stays where tan a < muR / R", function()
    for _, slope in ipairs { 0.0399, 0.0401, 0.2 } do
      local simu, ds = disk { slope = slope, T = 1 }
      simu:run()
      local v = 2 / 3 * g * (math.sin(slope) - 0.02 * math.cos(slope) / R)
      assert.near(math.tan(slope) < 0.02 / R and 0 or v, ds:velocity()[2], 1e-12)
      assert.near(ds:velocity()[2] / 2, ds:q()[2], 1e-12)
    end
  end)

  it("stops on a slope and stays, or rolls back down where the slope is steep", function()
    for _, slope in ipairs { 0.03, 0.1 } do
      local simu, ds = disk { v = -0.5, slope = slope, T = 2 }
      local down, resists = 2 / 3 * g * math.sin(slope), 2 / 3 * g * 0.02 * math.cos(slope) / R
      simu:run()
      local turns = 0.5 / (down + resists)
      local back = math.max(0, down - resists)
      assert.near(turns, of_kind(simu, slope == 0.03 and "stick" or "cross")[1].t, 1e-12)
      assert.near(back * (2 - turns), ds:velocity()[2], 1e-12)
      assert.near(-0.5 * turns / 2 + back * (2 - turns) ^ 2 / 2, ds:q()[2], 1e-12)
    end
  end)

  it("rolls without friction of the slip, and slips without friction of the rolling", function()
    local simu, ds = disk { v = 0.5, mu = 0, T = 3 }
    simu:run()
    assert.near(0.5, ds:velocity()[2], 1e-14)
    assert.near(0, ds:velocity()[3], 1e-14)
    assert.near(1 / (2 * 0.02 * g / R ^ 2), of_kind(simu, "stick")[1].t, 1e-12)
    simu, ds = disk { v = 0.6, spin = 0, mu_r = 0, mu = 0.1 }
    simu:run()
    assert.near(0.4, ds:velocity()[2], 1e-12)
  end)

  it("has the events of another grid, and those of another unit of length bit for bit", function()
    local function run(o)
      local simu = disk { v = 2, spin = -3, height = 0.5, e = 0.5, h = o.h, unit = o.unit }
      simu:run()
      local times = {}
      for k, event in ipairs(simu:events()) do times[k] = event.t end
      return times
    end
    local times, fine = run {}, run { h = 0.013 }
    assert.equal(#times, #fine)
    for k = 1, #times do assert.near(times[k], fine[k], 1e-11) end
    assert.same(times, run { unit = 2.0 ^ 40 })
    assert.same(times, run { unit = 2.0 ^ -40 })
  end)

  it("comes to the answer of small time steps with their order 1, also over bounces", function()
    local cases = { { v = 2, spin = -3, height = 0.5, e = 0.5 }, { v = 0.5, spin = 0, mu = 0.1 },
                    { spin = 10, mu = 0.1, height = 0.1 } }
    for _, case in ipairs(cases) do
      local simu, ds = disk(case)
      simu:run()
      local off = {}
      for k, h in ipairs { 1e-2, 1e-3, 1e-4 } do
        local o = { steps = h }
        for key, value in pairs(case) do o[key] = value end
        local small, other = disk(o)
        small:run()
        off[k] = math.max(math.abs(other:q()[2] - ds:q()[2]), math.abs(other:q()[3] - ds:q()[3]))
      end
      assert.is_true(off[3] < 5e-4, ("%g"):format(off[3]))
      assert.is_true(off[3] < 0.1 * off[1], ("%g, %g, %g"):format(off[1], off[2], off[3]))
    end
  end)

  it("goes on from a clone and after a reset with the same bits", function()
    local simu, ds = disk { v = 2, spin = -3, height = 0.5, e = 0.5 }
    simu:run()
    local first = { ds:q()[1], ds:q()[2], ds:q()[3], #simu:events() }
    simu:reset()
    while simu:nextTime() < 1.15 do simu:computeOneStep(); simu:nextStep() end
    local copy = simu:clone()
    local body = copy:nsds():dynamicalSystem(1)
    copy:run()
    simu:run()
    for i = 1, 3 do
      assert.equal(first[i], ds:q()[i])
      assert.equal(first[i], body:q()[i])
    end
  end)
end)

describe("disks with rolling friction", function()
  -- Disks of random masses on the ground, which touch their neighbours, with rolling friction there, too.
  local function row(seed, n, gap, steps)
    math.randomseed(seed)
    local nsds, disks = ns.NonSmoothDynamicalSystem(0, 1), {}
    local function law() return ns.NewtonImpactRollingFrictionNSL(0, 0, 0.3, 0.02, 3) end
    for k = 1, n do
      local m = 1 + math.random()
      local ds = ns.LagrangianLinearTIDS({ 0, gap * k, 0 }, { 0, 2 * math.random() - 1, 6 * math.random() - 3 },
        ns.diag { m, m, m * R ^ 2 / 2 })
      ds:setFExtPtr { -m * g, 0, 0 }
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law(), ns.LagrangianLinearTIR { { 1, 0, 0 }, { 0, 1, -R }, { 0, 0, 1 } }, "ground " .. k), ds)
      if k > 1 then
        local rows = { { 0, -1, 0, 0, 1, 0 }, { -1, 0, -R, 1, 0, -R }, { 0, 0, -1, 0, 0, 1 } }
        nsds:link(ns.Interaction(law(), ns.LagrangianLinearTIR(rows, { -2 * R, 0, 0 }), "pair " .. k), disks[k - 1], ds)
      end
      disks[k] = ds
    end
    if steps then
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, steps), ns.MoreauJeanOSI(0.5), ns.RollingFrictionContact(3)), disks
    end
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI()), disks
  end

  local function compare(seed, n, gap)
    local simu, disks = row(seed, n, gap)
    simu:energy()
    simu:run()
    no_work_is_lost(simu)
    local small, others = row(seed, n, gap, 1e-3)
    small:run()
    for k = 1, n do
      for i = 1, 3 do assert.near(others[k]:q()[i], disks[k]:q()[i], 0.02, ("seed %d"):format(seed)) end
    end
  end

  it("touch each other, slip, roll together and part, as in small time steps", function()
    for seed = 1, 30 do compare(seed, 2, 1) end
    for seed = 1, 5 do compare(seed, 3, 1.05) end
  end)

  it("have more modes than can be tried, where they are apart", function()
    for seed = 1, 2 do compare(seed, 14, 1.9) end
  end)
end)

describe("a sphere with rolling friction", function()
  it("rolls with the deceleration 5 muR g / (7 R) in any direction, stops and stays", function()
    for _, v in ipairs { { 0.5, 0 }, { 0.3, -0.4 }, { -0.13, 0.27 } } do
      local simu, ds = sphere { v = v }
      local rate, speed = 5 * 0.02 * g / (7 * R), math.sqrt(v[1] ^ 2 + v[2] ^ 2)
      simu:energy()
      simu:run()
      local stops = of_kind(simu, "stick")
      assert.equal(1, #stops)
      assert.equal(4, stops[1].component)
      assert.near(speed / rate, stops[1].t, 1e-11)
      for i = 1, 2 do assert.near(v[i] * speed / (2 * rate), ds:q()[i], 1e-11) end
      for i = 1, 6 do assert.near(0, ds:velocity()[i], 1e-14) end
      no_work_is_lost(simu)
    end
  end)

  it("slips, rolls and stops, at times that are located", function()
    local mu, mu_r, v = 0.1, 0.02, 0.5
    local simu, ds = sphere { v = { 0, v }, w = { 0, 0, 0 }, mu = mu }
    simu:run()
    local spin_up, rate = 2.5 * g * (mu * R - mu_r) / R ^ 2, 5 * mu_r * g / (7 * R)
    local grips = v / (mu * g + spin_up * R)
    local rolling = v - mu * g * grips
    local stops = of_kind(simu, "stick")
    assert.near(grips, stops[1].t, 1e-11)
    assert.near(grips + rolling / rate, stops[2].t, 1e-11)
    assert.near(v * grips - mu * g * grips ^ 2 / 2 + rolling ^ 2 / (2 * rate), ds:q()[2], 1e-11)
  end)

  it("rolls down a slope with 5/7 (g sin a - muR g cos a / R), or stays where tan a < muR / R", function()
    for _, slope in ipairs { 0.0399, 0.0401, 0.2 } do
      local simu, ds = sphere { slope = slope, T = 1 }
      simu:run()
      local v = 5 / 7 * g * (math.sin(slope) - 0.02 * math.cos(slope) / R)
      assert.near(math.tan(slope) < 0.02 / R and 0 or v, ds:velocity()[1], 1e-11)
    end
  end)

  it("comes to the answer of small time steps with their order 1: across a slope, slips and bounces", function()
    local cases = { { v = { 0, 0.5 }, slope = 0.2, T = 1 }, { v = { 0.5, 0 }, w = { 3, 1, 2 }, mu = 0.1 },
                    { v = { 1, 0.5 }, w = { 3, 1, 2 }, height = 0.3, e = 0.3, mu = 0.2, T = 2 } }
    for _, case in ipairs(cases) do
      local simu, ds = sphere(case)
      simu:energy()
      simu:run()
      no_work_is_lost(simu)
      local off = {}
      for k, h in ipairs { 1e-2, 1e-3 } do
        local o = { steps = h }
        for key, value in pairs(case) do o[key] = value end
        local small, other = sphere(o)
        small:run()
        off[k] = math.max(math.abs(other:q()[1] - ds:q()[1]), math.abs(other:q()[2] - ds:q()[2]))
      end
      assert.is_true(off[2] < 5e-3 and off[2] < 0.3 * off[1], ("%g, %g"):format(off[1], off[2]))
    end
  end)
end)

describe("rolling friction between events", function()
  it("has no derivatives, and says so", function()
    for _, make in ipairs { disk, sphere } do
      local simu, _, law = make {}
      expect.fails("sensitivities: 'ground' has rolling friction, and its motion has no derivative here", simu.run, simu,
        { sensitivities = { { law, "mu" } } })
    end
  end)

  it("has no impulse without collision where no forces fit to the laws, and says so", function()
    -- a rod that slides on its tip, where the tip has a rolling friction, too
    local rod = ns.LagrangianDS({ 0, math.sin(math.pi / 4), math.pi / 4 }, { -1, 0, 0 }, ns.diag { 1, 1, 1 / 3 })
    rod:setFExtPtr { 0, -g, 0 }
    local tip = ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1], y[2], y[3] = q[2] - math.sin(q[3]), q[1] - math.cos(q[3]), q[3] end }
    local simu = events.simulation { systems = { rod }, T = 0.01, h = 0.01,
      links = { { ns.NewtonImpactRollingFrictionNSL(0, 0, 2, 0.01, 3), tip, "tip", rod } } }
    expect.fails("EventDriven: Painleve: no forces of 'tip' fit to the law of friction, and with rolling friction no impulse "
      .. "without collision is found; TimeStepping goes on, or less friction (t=0 step 1)", simu.run, simu)
  end)

  it("is told as such where it is not unique", function()
    local body = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
    body:setFExtPtr { 1, -1 }
    local rows = ns.LagrangianLinearTIR { { 1, 0 }, { 0, 0 }, { -2, 1 } }
    local simu = events.simulation { systems = { body }, T = 1,
      links = { { ns.NewtonImpactRollingFrictionNSL(0, 0, 0, 3, 3), rows, "wheel", body } } }
    expect.fails("EventDriven: the next mode is not unique: 'wheel' stays closed, the rolling of 'wheel' sticks; 'wheel' opens, "
      .. "the rolling of 'wheel' opens; 'wheel' stays closed, the rolling of 'wheel' slips with u < 0 (t=0 step 1)",
      simu.run, simu)
  end)
end)
