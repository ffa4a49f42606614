-- nslua.contact: geometry against its definition, and contacts that come and go.
local ns = require "nslua"
local simulate = require "models".moving

local function body(q0, v0, m, I, force)
  local ds = ns.LagrangianLinearTIDS(q0, v0, ns.diag { m, m, I })
  ds:setFExtPtr(force or { 0, 0, 0 })
  return ds
end

local law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2)

describe("contact geometry", function()
  it("takes a normal of any length", function()
    for _, length in ipairs { 5e-324, 1e-310, 1e-200, 1e-100, 1, 3, 1e100, 1e200, 4e307 } do
      local floor = ns.contact.line({ 0, -1 }, { 0, length })
      assert.equal(3, floor:distance(7, 2))
      local plane = ns.contact.plane({ 0, 0, -1 }, { 0, 0, length })
      assert.equal(3, plane:distance(7, 5, 2))
      if length >= 1e-200 then
        local slope = ns.contact.line({ 0, 0 }, { 3 * length, 4 * length })
        assert.near(4, slope:distance(0, 5), 1e-14)
        assert.near(5, ns.contact.plane({ 0, 0, 0 }, { length, 2 * length, 2 * length }):distance(5, 5, 0), 1e-14)
      end
    end
  end)

  -- The normal row of each relation is the derivative of its gap: the audit compares with dual numbers.
  it("has the derivative of the gap in its first row", function()
    local slope = ns.contact.line({ 0.3, -0.2 }, { 1, 2 })
    local cases = {
      { ns.contact.disk_line(0.5, slope), { 1, 2, 0.3 } },
      { ns.contact.corner_line({ 0.4, -0.7 }, slope), { 1, 2, 0.3 } },
    }
    for _, case in ipairs(cases) do
      local relation, q0 = table.unpack(case)
      local ds = body(q0, { 0, 0, 0 }, 1, 1)
      local inter = ns.Interaction(law, relation)
      local simu = simulate(1, 0.1, { ds }, { { inter, ds } })
      simu:initialize()
      local start, d = inter:y(0)[1], 1e-6
      for k = 1, 3 do
        local q = ns.vector(q0)
        q[k] = q[k] + d
        ds:setQ(q)
        local v = ns.zeros(3)
        v[k] = 1
        ds:setVelocity(v)
        simu:computeOneStep()
        simu:nextStep()
        assert.is_number(inter:y(1)[1])
        local good, report = simu:check()
        if not good then assert.is_nil(report:match "Jachq%[1%]", report) end -- the second row has no h of its own
        simu:reset()
      end
      assert.is_true(start > 0)
    end
  end)

  it("lets a disk roll down a slope with two thirds of the free acceleration", function()
    local g, alpha, R = 9.81, math.rad(20), 0.5
    local line = ns.contact.line({ 0, 0 }, { math.sin(alpha), math.cos(alpha) }) -- down to the right
    local ds = body({ R * math.sin(alpha), R * math.cos(alpha), 0 }, { 0, 0, 0 }, 1, 0.5 * R * R, { 0, -g, 0 })
    simulate(1, 1e-3, { ds }, { { ns.Interaction(law, ns.contact.disk_line(R, line)), ds } }):run()
    local v = ds:velocity()
    local speed = 2 / 3 * g * math.sin(alpha)
    assert.near(speed * math.cos(alpha), v[1], 1e-9)
    assert.near(-speed * math.sin(alpha), v[2], 1e-9)
    assert.near(-speed / R, v[3], 1e-9) -- clockwise
  end)

  it("keeps momentum and turns both disks the same way in an oblique impact", function()
    local a = body({ 0, 0, 0 }, { 1, 0, 0 }, 1, 0.005)
    local b = body({ 0.25, 0.08, 0 }, { 0, 0, 0 }, 1, 0.005)
    local simu = simulate(0.5, 1e-3, { a, b }, { { ns.Interaction(law, ns.contact.disk_disk(0.1, 0.1)), a, b } })
    simu:run()
    local va, vb = a:velocity(), b:velocity()
    assert.near(1, va[1] + vb[1], 1e-12)
    assert.near(0, va[2] + vb[2], 1e-12)
    assert.is_true(va[3] * vb[3] > 0)
    assert.near(va[3], vb[3], 1e-9)
  end)

  it("lets a box stand on two corners", function()
    local floor = ns.contact.line({ 0, 0 }, { 0, 1 })
    local box = body({ 0, 0.5, 0 }, { 0, 0, 0 }, 1, 1 / 6, { 0, -9.81, 0 })
    local left = ns.Interaction(law, ns.contact.corner_line({ -0.5, -0.5 }, floor))
    local right = ns.Interaction(law, ns.contact.corner_line({ 0.5, -0.5 }, floor))
    simulate(1, 1e-2, { box }, { { left, box }, { right, box } }):run()
    assert.near(0.5, box:q()[2], 1e-12)
    assert.near(0.5 * 9.81e-2, left:lambda()[1], 1e-10)
    assert.near(0.5 * 9.81e-2, right:lambda()[1], 1e-10)
  end)
end)

describe("contact.manager", function()
  local R, reach = 0.1, 0.03

  local function heap(n, T)
    local systems = {}
    for i = 0, n - 1 do
      systems[#systems + 1] = body({ 0.3 + 0.27 * (i % 6) + 0.01 * (i % 5), 0.15 + 0.25 * (i // 6), 0 }, { 0, 0, 0 }, 1,
        0.5 * R * R, { 0, -9.81, 0 })
    end
    local simu, nsds = simulate(T, 5e-3, systems)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.4, 2), reach = reach }
    for _, ds in ipairs(systems) do contacts:add_disk(ds, R) end
    contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    contacts:add_line(ns.contact.line({ 0, 0 }, { 1, 0 }))
    contacts:add_line(ns.contact.line({ 2, 0 }, { -1, 0 }))
    return simu, nsds, contacts, systems
  end

  it("has every pair that is near, and none that is far", function()
    local simu, nsds, contacts, systems = heap(18, 0.6)
    contacts:update()
    for _ in simu:steps() do
      contacts:update()
      local near, far = 0, 0
      for i, a in ipairs(systems) do
        local p = a:q()
        local function tally(gap)
          if gap <= reach then near = near + 1 elseif gap <= 2 * reach then far = far + 1 end
        end
        tally(p[2] - R)
        tally(p[1] - R)
        tally(2 - p[1] - R)
        for j = i + 1, #systems do
          local r = systems[j]:q()
          tally(math.sqrt((p[1] - r[1]) ^ 2 + (p[2] - r[2]) ^ 2) - 2 * R)
        end
      end
      assert.is_true(contacts:count() >= near and contacts:count() <= near + far)
      assert.equal(contacts:count(), nsds:numberOfInteractions())
    end
  end)

  it("links again what is near when a script has unlinked it, and takes what a script has linked", function()
    local one, two = body({ 0, R, 0 }, { 0, 0, 0 }, 1, 1), body({ 1, R, 0 }, { 0, 0, 0 }, 1, 1)
    local simu, nsds = simulate(0.1, 0.01, { one, two })
    local contacts = ns.contact.manager { nsds = nsds, law = law, reach = reach }
    contacts:add_disk(one, R)
    contacts:add_disk(two, R)
    contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    local function check(count)
      assert.equal(count, contacts:update())
      assert.equal(count, contacts:count())
      assert.equal(count, nsds:numberOfInteractions())
    end
    check(2)
    local first, second = table.unpack(contacts:interactions())
    nsds:unlink(first)
    check(2)
    assert.equal(first, contacts:interactions()[2])
    nsds:unlink(second)
    two:q()[2] = 5 -- far now
    check(1)
    nsds:link(second, two)
    two:q()[2] = R
    check(2)
    for _, inter in ipairs(contacts:interactions()) do nsds:unlink(inter) end
    check(2)
    one:q()[2] = 5
    simu:computeOneStep() -- which finds the gap
    simu:nextStep()
    check(1)
  end)

  it("lets a heap come to rest without sinking in", function()
    local simu, _, contacts, systems = heap(12, 2.6)
    contacts:update()
    for _ in simu:steps() do
      contacts:update()
      for _, inter in ipairs(contacts:interactions()) do assert.is_true(inter:y(0)[1] > -0.2 * R) end
    end
    for _, ds in ipairs(systems) do assert.is_true(math.abs(ds:velocity()[2]) < 1e-6 and ds:q()[2] > 0.9 * R) end
  end)

  -- Newton's residual of a step is tested as strictly as ever: the impulses settle, being kept from iterate to iterate.
  it("lets a heap of many contacts come to rest with the tolerance that a script chooses #once", function()
    local systems, weight = {}, 0
    for i = 0, 79 do
      systems[#systems + 1] = body({ 0.12 + 0.22 * (i % 8) + 0.02 * (i // 8 % 2), 0.11 + 0.22 * (i // 8), 0 }, { 0, 0, 0 }, 1,
        0.5 * R * R, { 0, -9.81, 0 })
      weight = weight + 9.81
    end
    local nsds = ns.NonSmoothDynamicalSystem(0, 1.2)
    for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.4, 2), reach = reach }
    for _, ds in ipairs(systems) do contacts:add_disk(ds, R) end
    contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    contacts:add_line(ns.contact.line({ 0, 0 }, { 1, 0 }))
    contacts:add_line(ns.contact.line({ 1.8, 0 }, { -1, 0 }))
    local osnspb = ns.FrictionContact(2, { tolerance = 1e-4 })
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 6e-3), ns.MoreauJeanOSI(0.5), osnspb)
    contacts:update()
    local most = 0
    for _ in simu:steps() do
      contacts:update()
      local info = osnspb:info()
      if info then assert.is_true(info.backward <= 1e-4) end
      most = math.max(most, osnspb:size())
    end
    assert.is_true(most > 150) -- rows: those of the sparse methods
    local force, fastest = 0, 0
    for _, inter in ipairs(contacts:interactions()) do
      local line, lambda = inter:name():match "line (%d)", inter:lambda(1)
      if line == "1" then force = force + lambda[1] / 6e-3 end
      if line == "2" then force = force - lambda[2] / 6e-3 end
      if line == "3" then force = force + lambda[2] / 6e-3 end
    end
    for _, ds in ipairs(systems) do fastest = math.max(fastest, math.abs(ds:velocity()[2])) end
    assert.is_true(fastest < 0.02, fastest)
    assert.near(1, force / weight, 1e-2)
  end)

  it("lets a box fall on its corners and a disk on a line, once each", function()
    local box = body({ 0, 1, 0.3 }, { 0, 0, 0 }, 1, 1 / 6, { 0, -9.81, 0 })
    local simu, nsds = simulate(3, 5e-3, { box })
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0.1, 0, 0.6, 2), reach = 0.1 }
    contacts:add_box(box, 1, 1)
    contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    assert.equal(0, contacts:update())
    for _ in simu:steps() do contacts:update() end
    assert.equal(2, contacts:count())
    assert.near(0.5, box:q()[2], 0.02)
    assert.near(0, math.sin(2 * box:q()[3]), 0.02)
  end)

  it("says what is wrong", function()
    local line = ns.contact.line({ 0, 0 }, { 0, 1 })
    local _, nsds = simulate(1, 0.1, { body({ 0, 0, 0 }, { 0, 0, 0 }, 1, 1) })
    local manager = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    local wrong = {
      { "line: point: expected two finite numbers, got nil", ns.contact.line },
      { "line: normal: expected a direction, got zeros", ns.contact.line, { 0, 0 }, { 0, 0 } },
      { "disk_line: R: expected a positive number, got %-1", ns.contact.disk_line, -1, line },
      { "disk_line: line: expected a line, got 5", ns.contact.disk_line, 1, 5 },
      { "disk_disk: R2: expected a positive number, got nil", ns.contact.disk_disk, 1 },
      { "corner_line: corner: expected two finite numbers, got 3", ns.contact.corner_line, 3, line },
      { "manager: options: expected a table, got nil", ns.contact.manager },
      { "manager: unknown option 'law2' %(known: nsds, law, reach%)", ns.contact.manager, { law2 = 1 } },
      { "manager: nsds: expected a NonSmoothDynamicalSystem, got nil", ns.contact.manager, { law = law } },
      { "manager: reach: expected a positive number, got 0", ns.contact.manager, { nsds = nsds, law = law, reach = 0 } },
      { "add_disk: ds: expected a mechanical system with the coordinates", manager.add_disk, manager, 7, 1 },
      { "add_disk: ds: expected", manager.add_disk, manager, ns.FirstOrderLinearTIDS { 1 }, 1 },
      { "add_disk: R: expected a positive number", manager.add_disk, manager, body({ 0, 0, 0 }, { 0, 0, 0 }, 1, 1), 0 },
      { "add_box: height: expected a positive number", manager.add_box, manager, body({ 0, 0, 0 }, { 0, 0, 0 }, 1, 1), 1 },
      { "add_line: line: expected a line, got an empty table", manager.add_line, manager, {} },
      { "corner_line: corner: expected two finite numbers, got { 1, nan }", ns.contact.corner_line, { 1, 0 / 0 }, line },
      { "distance: x: expected a finite number, got nil", line.distance, line },
      { "distance: y: expected a finite number, got 'a'", line.distance, line, 1, "a" },
      { "distance: line: expected a line, got 1", line.distance, 1, 2 },
      { "manager: nsds: expected a NonSmoothDynamicalSystem, got 3", ns.contact.manager, { nsds = 3, law = law, reach = 1 } },
      { "manager: law: expected a nonsmooth law of size 2, got 3", ns.contact.manager, { nsds = nsds, law = 3, reach = 1 } },
      { "manager: law: expected a nonsmooth law of size 2, got size 1", ns.contact.manager,
        { nsds = nsds, law = ns.NewtonImpactNSL(0), reach = 1 } },
      { "manager: law: expected a law of contacts, as NewtonImpactFrictionNSL, got RelayNSL of size 2", ns.contact.manager,
        { nsds = nsds, law = ns.RelayNSL(2), reach = 1 } },
      { "space: law: expected a law of contacts, as NewtonImpactFrictionNSL, got EqualityConditionNSL of size 1", ns.contact.space,
        { nsds = nsds, law = ns.EqualityConditionNSL(1), reach = 1 } },
      { "pair: first: expected a mechanical system, got nil", manager.pair, manager },
      { "update: self: expected a contact manager and a colon, got nil", manager.update },
    }
    for _, case in ipairs(wrong) do assert.error_matches(function() case[2](table.unpack(case, 3, 6)) end, case[1]) end
  end)

  it("refuses a body that has a disk, and one that is nowhere, and goes on when that is mended", function()
    local ds = body({ 0, 1, 0 }, { 0, 0, 0 }, 1, 1)
    local _, nsds = simulate(1, 0.1, { ds })
    local manager = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    manager:add_disk(ds, 1)
    manager:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    assert.error_matches(function() manager:add_disk(ds, 2) end, "add_disk: ds: .* has a disk already")
    ds:q()[2] = 0 / 0
    assert.error_matches(function() manager:update() end,
      "^update: .*: expected a finite place near the others, got %(0, nan%)$")
    ds:q()[2] = 1
    assert.equal(1, manager:update())
  end)

  it("takes another reach for an update", function()
    local ds = body({ 0, 1.3, 0 }, { 0, 0, 0 }, 1, 1)
    local simu, nsds = simulate(1, 0.1, { ds })
    local manager = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    manager:add_disk(ds, 1)
    manager:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    assert.equal(0, manager:update())
    assert.equal(1, manager:update(0.31))
    simu:computeOneStep() -- finds the gap
    assert.equal(1, manager:update(0.16)) -- its gap is not more than twice that
    assert.equal(0, manager:update())
    assert.error_matches(function() manager:update(-1) end, "^update: reach: expected a positive number, got %-1$")
    local where = debug.getinfo(1, "l").currentline + 1
    local _, message = pcall(function() manager:update("wide") end)
    assert.matches(("contact_spec.lua:%d: update: reach: expected a positive number, got 'wide'"):format(where), message, 1, true)
  end)

  it("forgets the contacts of disks that have been apart for long, and makes them anew", function()
    local disks = {}
    for i = 1, 12 do disks[i] = body({ 3 * i, 2.05, 0 }, { 0, 0, 0 }, 1, 1) end
    local mover = body({ 0, 0, 0 }, { 0, 0, 0 }, 1, 1)
    disks[13] = mover
    local simu, nsds = simulate(100, 0.1, disks)
    local manager = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    for _, ds in ipairs(disks) do manager:add_disk(ds, 1) end
    local seen, met, first = setmetatable({}, { __mode = "k" }), 0, {}
    for k = 1, 900 do
      mover:q()[1] = 0.08 * ((k - 1) % 450) -- past all of them, twice
      simu:computeOneStep()
      simu:nextStep()
      manager:update()
      for _, interaction in ipairs(manager:interactions()) do
        if not seen[interaction] then seen[interaction], met = true, met + 1 end
        local gap, name = interaction:y(0)[1], ("%d %s"):format((k - 1) % 450, interaction:name())
        if k > 450 then assert.equal(first[name], gap) else first[name] = gap end
      end
    end
    collectgarbage()
    collectgarbage()
    local kept = 0
    for _ in pairs(seen) do kept = kept + 1 end
    assert.is_true(met > 12 and kept < 12, ("%d of %d"):format(kept, met))
    assert.equal(0, nsds:numberOfInteractions() - manager:count())
  end)

  it("says that the centres of two disks coincide", function()
    local relation = ns.contact.disk_disk(1, 1)
    local one, two = body({ 0, 0, 0 }, { 0, 0, 0 }, 1, 1), body({ 0, 0, 0 }, { 0, 0, 0 }, 1, 1)
    local simu, nsds = simulate(1, 0.1, { one, two })
    nsds:link(ns.Interaction(law, relation), one, two)
    assert.error_matches(function() simu:computeOneStep() end,
      "relation 'two disks': the centres coincide, or are nan, at t=0")
  end)
end)
