-- Contacts that come and go, in checkpoints: a run goes on in a fresh process with the bits of one that was not stopped.
local ns = require "nslua"
local host = require "host"

-- Models of (changes), in text: the child processes make them as well. Each gives the simulation, its managers and bodies.
local models = {}

-- Spheres, one of them a bullet, boxes, cylinders and a capsule between walls, on a mesh.
models.space = [[
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.6)
  local law = ns.NewtonImpactFrictionNSL(0.2, 0, 0.4, 3)
  local contacts = ns.contact.space { nsds = nsds, law = law, reach = change.reach or 0.02 }
  local lift = change.lift or 0.1
  contacts:add(nil, ns.contact.mesh({ { -2, -2, 0 }, { 3, -2, 0 }, { 3, 3, lift }, { -2, 3, 0 } }, { { 1, 2, 3 }, { 1, 3, 4 } }))
  for _, at in ipairs { { 0, 0, 1, 0 }, { 0, 0, 0, 1 }, { 0.5, 0, -1, 0 }, { 0, change.wall or 0.5, 0, -1 } } do
    contacts:add_plane(ns.contact.plane({ at[1], at[2], 0 }, { at[3], at[4], 0 }))
  end
  local bodies = {}
  for i = 0, 17 do
    local place = { 0.1 + 0.15 * (i % 3) + 0.01 * (i % 2), 0.1 + 0.15 * (i // 3 % 3) + 0.008 * (i % 5), 0.25 + 0.15 * (i // 9) }
    table.move({ 1, 0, 0, 0 }, 1, 4, 4, place)
    local ds = ns.NewtonEulerDS(place, { 0, 0, -1, 0.5 * (i % 3 - 1), 0.3 * (i % 5 - 2), 2 }, 1, 1 / 600 * ns.eye(3))
    ds:setFExtPtr { 0, 0, -9.81 }
    nsds:insertDynamicalSystem(ds)
    bodies[#bodies + 1] = ds
    if i % 4 == 0 then contacts:add_sphere(ds, 0.05, i == 0 and { bullet = 5e-3 } or nil)
    elseif i % 4 == 1 then contacts:add(ds, ns.contact.cylinder(0.05, 0.1))
    elseif i == 2 then contacts:add(ds, ns.contact.capsule(0.04, 0.05))
    else contacts:add(ds, ns.contact.box(0.1, 0.1, change.height or 0.1)) end
  end
  local osi = ns.MoreauJeanOSI(0.5)
  osi:setLinearlyImplicit(true)
  local problem = ns.FrictionContact(3, { tolerance = change.tolerance or 1e-6 })
  local managers = { contacts }
  if change.more then
    managers[2] = ns.contact.space { nsds = nsds, law = law, reach = 0.02 }
    managers[2]:add_sphere(bodies[1], 0.1)
  end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), osi, problem), managers, bodies
]]

-- Two managers in the plane, one with a pair of the script, and a spring that the script links after the first contacts.
models.plane = [[
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  local law, managers, bodies = ns.NewtonImpactFrictionNSL(0.3, 0, 0.3, 2), {}, {}
  for m = 1, change.managers or 2 do
    managers[m] = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    managers[m]:add_line(ns.contact.line({ 0, 0 }, { 0.05 * m, 1 }))
    managers[m]:add_polyline(nil, { { -3, 0.3 }, { 0, 0.1 }, { 3, 0.6 } })
  end
  for i = 1, 8 do
    local m = managers[i % #managers + 1]
    local ds = ns.LagrangianLinearTIDS({ 0.6 * (i // 2) - 1.2, 0.8 + 0.7 * (i % 3), 0.1 * i }, { 0.3 * (4 - i), -2, 3 },
      { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0.05 } })
    ds:setFExtPtr { 0, -9.81, 0 }
    nsds:insertDynamicalSystem(ds)
    bodies[i] = ds
    if i <= 3 then m:add_disk(ds, 0.2) elseif i <= 5 then m:add_capsule(ds, 0.1, 0.3) else m:add_box(ds, 0.4, 0.3) end
  end
  local plate = ns.contact.disk_line(0.1, ns.contact.line({ -2, 0 }, { 1, 0 }))
  managers[1]:pair(bodies[2], nil, function(ds)
    return ds:q()[1] > (change.from or -10) and ds:q()[1] < 1.2 and { plate = plate } or {}
  end)
  for _, m in ipairs(managers) do m:update() end
  local R = ns.LagrangianLinearTIR { { 1, 0, 0, -1, 0, 0 } }
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), R, "stop"), bodies[4], bodies[5])
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5),
    ns.GenericMechanical()), managers, bodies
]]

-- In both processes: goes on to the end, or to a step.
local common = [[
  local function bits(simu, bodies)
    local list = { simu:step() }
    for _, ds in ipairs(bodies) do
      for i = 1, #ds:q() do list[#list + 1] = ("%a"):format(ds:q()[i]) end
      for i = 1, #ds:velocity() do list[#list + 1] = ("%a"):format(ds:velocity()[i]) end
    end
    return table.concat(list, " ")
  end
  local function go(simu, managers, last, seen)
    for k in simu:steps() do
      for _, m in ipairs(managers) do m:update() end
      for _, m in ipairs(seen and managers or {}) do for _, c in ipairs(m:interactions()) do seen[c] = c:name() end end
      if k == last then return end
    end
  end
]]

local function load_text(name, rest)
  return "local ns = require 'nslua'\n" .. common .. "local function make(change)\n" .. models[name] .. "end\n" .. rest
end

local function made(name, change)
  return load(load_text(name, "return make, bits, go"))()(change or {})
end
local _, bits, go = load(load_text("space", "return make, bits, go"))()

local function names(simu)
  local list = {}
  for i = 1, simu:nsds():numberOfInteractions() do list[i] = simu:nsds():interaction(i):name() end
  return table.concat(list, "\n")
end

-- The bodies and managers of a clone.
local function bodies_of(twin, bodies)
  local its = {}
  for i in ipairs(bodies) do its[i] = twin:nsds():dynamicalSystem(i) end
  return its
end

local function in_clone(managers, twin)
  local its = {}
  for i, m in ipairs(managers) do its[i] = m:in_clone(twin) end
  return its
end

describe("contacts that come and go, in clones", function()
  -- Goes on to the end; the contacts that were linked at any time, by their names.
  local function finish(simu, managers, bodies)
    local seen, list = {}, {}
    go(simu, managers, nil, seen)
    for _, name in pairs(seen) do list[#list + 1] = name end
    table.sort(list)
    return bits(simu, bodies), table.concat(list, "\n")
  end

  for name, last in pairs { space = 40, plane = 60 } do
    it("have managers of their own, and give the same bits, in the model " .. name, function()
      local simu, managers, bodies = made(name)
      go(simu, managers, last)
      simu:nextStep()
      local twin = simu:clone()
      local second = twin:clone()
      local before, linked = bits(simu, bodies), names(simu)
      local first, met = finish(twin, in_clone(managers, twin), bodies_of(twin, bodies))
      assert.equal(before, bits(simu, bodies))
      assert.equal(linked, names(simu))
      local again, met_again = finish(second, in_clone(managers, second), bodies_of(second, bodies))
      assert.equal(first, again)
      assert.equal(met, met_again)
      local own, met_by_it = finish(simu, managers, bodies)
      assert.equal(own, first)
      assert.equal(met_by_it, met)
    end)

    it("are updated by the action of a clone, in the model " .. name, function()
      local simu, managers, bodies = made(name)
      simu:every { period = 5e-3, act = function()
        for _, m in ipairs(managers) do m:update() end
      end }
      local twin = simu:clone():clone()
      local before = bits(simu, bodies)
      twin:run()
      assert.equal(before, bits(simu, bodies))
      simu:run()
      assert.equal(bits(simu, bodies), bits(twin, bodies_of(twin, bodies)))
    end)
  end

  it("find the bodies of the clone where a filter has captured those of the original", function()
    local simu, managers, bodies = made "space"
    local ghost = bodies[1]
    managers[1]:filter(function(first, second) return first ~= ghost and second ~= ghost end)
    local twin = simu:clone()
    local its = bodies_of(twin, bodies)
    go(twin, in_clone(managers, twin))
    assert.is_true(its[1]:q()[3] < -1, "it falls through the floor")
    assert.is_true(its[2]:q()[3] > 0)
    go(simu, managers)
    assert.equal(bits(simu, bodies), bits(twin, its))
  end)

  it("forget the contacts of the run before after a reset, and take new bodies", function()
    local simu, managers, bodies = made "plane"
    go(simu, managers, 60)
    local twin = simu:clone()
    local its = in_clone(managers, twin)
    twin:reset()
    local first, met = finish(twin, its, bodies_of(twin, bodies))
    simu:reset()
    local own, met_by_it = finish(simu, managers, bodies)
    assert.equal(own, first)
    assert.equal(met_by_it, met)
    assert.error_matches(function() its[1]:add_disk(bodies_of(twin, bodies)[2], 1) end, "has a disk already", 1, true)
    its[1]:add_disk(bodies_of(twin, bodies)[5], 1)
    assert.no_error(function() managers[1]:add_disk(bodies[5], 1) end)
  end)

  it("are told from those of another simulation", function()
    local simu, managers = made "space"
    local other = made "space"
    assert.equal(managers[1], managers[1]:in_clone(simu))
    assert.equal(managers[1], managers[1]:in_clone(simu:clone()):in_clone(simu))
    for _, wrong in ipairs { other, 3 } do
      assert.error_matches(function() managers[1]:in_clone(wrong) end,
        "in_clone: simulation: expected a clone of that of this manager, got " .. (wrong == 3 and "3" or "TimeStepping"), 1, true)
    end
  end)
end)

describe("a manager whose bodies have no contacts, as it was not updated,", function()
  -- What a process says in which a body goes down, or two: `shapes` adds to the manager c, `run` runs simu.
  local function says(shapes, run, plane)
    local code = ([[local ns = require "nslua"
      local nsds, plane = ns.NonSmoothDynamicalSystem(0, 0.5), %s
      local function body(z, v)
        local ds = plane and ns.LagrangianLinearTIDS({ 0, z, 0 }, { 0, v or -2, 0 }, ns.eye(3)) or
          ns.NewtonEulerDS({ 0, 0, z, 1, 0, 0, 0 }, { 0, 0, v or -2, 0, 0, 0 }, 1, ns.eye(3))
        nsds:insertDynamicalSystem(ds)
        return ds
      end
      local law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, plane and 2 or 3)
      local c = ns.contact[plane and "manager" or "space"] { nsds = nsds, law = law, reach = 0.1 }
      local floor = plane and ns.contact.line({ 0, 0 }, { 0, 1 }) or ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
      local osi, b = ns.MoreauJeanOSI(0.5), body(0.75)
      %s
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), osi)
      %s]]):format(plane or "false", shapes, run)
    local out, err, status = host.nslua_run("-e " .. host.quote(code))
    assert.same({ "", 0 }, { out, status }, err)
    return err
  end
  -- The word of `met`, which meet at the time t: it comes at most two looks, of half of the reach each, later.
  local function assert_word(where, met, t, said, called)
    local text, told = said:match "^nslua: contact manager 1 (.-) without a contact", tonumber(said:match " at t = (%S+) without")
    assert.equal(("%s: %s overlap at t = %.10g"):format(where, met, told or 0), text, said)
    assert.is_true(told >= t and told <= t + 0.06, said)
    assert.equal((" without a contact, as update() was %s: call it before the first step and between steps\n"):format(
      called or "never called"), said:sub(said:find " without", -1))
  end
  local loops = { "simu:run()", "for _ in simu:steps() do end",
    "while simu:hasNextEvent() do simu:computeOneStep() simu:nextStep() end", "simu:clone():run()",
    "simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.01), ns.RungeKuttaOSI()) simu:run()" }

  it("is told after the last step, once, of whatever kind of steps #once", function()
    for _, run in ipairs(loops) do
      assert_word("in space", "sphere 1 and plane 1", 0.125,
        says("c:add_sphere(b, 0.5) c:add_plane(floor)", run .. " simu:reset() " .. run))
    end
    assert_word("in the plane", "disk 1 and line 1", 0.125, says("c:add_disk(b, 0.5) c:add_line(floor)", loops[1], "true"))
    assert_word("in the plane", "disk 1 and disk 2", 0.15,
      says("c:add_disk(b, 0.5) c:add_disk(body(2.05, -4), 0.5)", loops[2], "true"))
    assert_word("in space", "sphere 1 and box 1", 0.225,
      says("c:add_sphere(b, 0.5) c:add_box(body(2.2, -4), 1, 1, 1)", loops[3]))
    assert.equal("nslua: contact manager 1 in space: update() was never called, and so its bodies have had no contacts: call it "
      .. "before the first step and between steps\n", says("c:pair(b, nil, function() return {} end)", loops[1]))
  end)

  it("is told when it was updated once, also of bodies that pass through others and go on #once", function()
    local once = "last called at t = 0"
    for k = 1, 4 do
      assert_word("in space", "sphere 1 and plane 1", 0.125,
        says("c:add_sphere(b, 0.5) c:add_plane(floor) c:update()", loops[k]), once)
    end
    local wall = "c:add_sphere(b, 0.1) c:add(nil, ns.contact.box(1, 1, 0.1):placed { 0, 0, 0.4 }) c:update()"
    assert_word("in space", "sphere 1 and box 1", 0.1, says(wall, loops[1]), once)
    local plane = "c:add_disk(b, 0.1) c:add_box(nil, 1, 0.1) c:add_box(body(2, 0), 0.5, 0.5) c:update()"
    assert_word("in the plane", "disk 1 and box 1", 0.3, says(plane, loops[1], "true"), once)
    assert_word("in the plane", "disk 1 and box 1", 0.3, says(plane, loops[5], "true"), once)
  end)

  it("is told when a loop is left before the last step, but not by an error #once", function()
    local fall = "c:add_sphere(b, 0.5) c:add_plane(floor) "
    assert_word("in space", "sphere 1 and plane 1", 0.125, says(fall, "for k in simu:steps() do if k == 40 then break end end"))
    assert_word("in space", "sphere 1 and plane 1", 0.125, says(fall .. "c:update()",
      "local function go() for k in simu:steps() do if k == 40 then return k end end end go() go()"), "last called at t = 0")
    assert.equal("", says(fall, "pcall(function() for k in simu:steps() do if k == 40 then error 'x' end end end)"))
    assert.equal("", says(fall, "for k in simu:steps() do if k == 8 then break end end for _ in simu:steps() do c:update() end"))
    assert.equal("", says("c:pair(b, nil, function() return {} end)", "for k in simu:steps() do if k == 40 then break end end"))
  end)

  it("is not told where it is updated late, can have no contacts, has a recorder, or bodies with joints #once", function()
    local ball = "c:add_sphere(b, 0.5) "
    for _, one in ipairs {
      { ball .. "c:add_plane(floor)", "for k in simu:steps() do if k == 5 then c:update() elseif k > 10 then c:update() end end" },
      { ball .. "c:add_plane(floor)", "simu:every { period = 0.02, act = function() c:update() end } simu:run()" },
      { ball .. "c:add_plane(floor)", "for _ in simu:steps() do break end" },
      { ball .. "c:add_plane(floor)", "for k in simu:steps() do c:update() end" },
      { ball .. "c:add_plane(floor)", "while simu:hasNextEvent() do c:update() simu:computeOneStep() simu:nextStep() end" },
      { ball .. "c:add_plane(floor) c:update(0.3)", "simu:run()" },
      { ball .. "c:add_plane(floor) c:update()", loops[5] },
      { ball .. "c:add_plane(floor)", "local film = c:recorder() for _, t in simu:steps() do film:add(t) end" },
      { ball .. "c:add_plane(floor) ns.mechanics.join(nsds, { ns.KneeJointR({ 0, 0, 0 }, false, b) })", "simu:run()" },
      { ball .. "c:add_sphere(body(0.6), 0.5) c:filter(function() return false end)", "simu:run()" },
      { ball .. "c:add_sphere(body(2), 0.5) c:add_sphere(body(4), 0.5)", "simu:run()" }, -- for pictures
      { ball, "simu:run()" },
      { "c:add_plane(floor) c:add(nil, ns.contact.box(1, 1, 1))", "simu:run()" },
    } do
      assert.equal("", says(one[1], one[2]), one[2] .. one[1])
    end
  end)
end)

describe("contacts that come and go, in checkpoints", function()
  local directory = host.new_directory()
  local file = directory .. "/state"

  -- Runs the rest of a script in a process of its own.
  local function child(name, rest)
    host.write(directory .. "/script.lua", load_text(name, rest))
    local out, err, status = host.nslua_run(host.quote(directory .. "/script.lua"))
    assert.equal("", err)
    assert.equal(0, status)
    return (out:gsub("\n$", ""))
  end

  -- Stops a run at a step at which contacts have been unlinked; gives the bits at its end.
  local function stopped(name, last)
    local seen, simu, managers, bodies = {}, made(name)
    go(simu, managers, last, seen)
    simu:save_state(file)
    local now, ever, count = names(simu), 0, 0
    for _ in pairs(seen) do ever = ever + 1 end
    for _, m in ipairs(managers) do count = count + m:count() end
    assert.is_true(count > 5 and ever > count)
    go(simu, managers)
    return bits(simu, bodies), now
  end

  for name, last in pairs { space = 60, plane = 150 } do
    it("go on in a fresh process with the same bits, in the model " .. name, function()
      local expected, now = stopped(name, last)
      for _, before in ipairs { "", "go(simu, managers, 3)", "for _, m in ipairs(managers) do m:update() end", "simu:reset()" } do
        local out = child(name, ([[
          local simu, managers, bodies = make {}
          %s
          simu:load_state %q
          for i = 1, simu:nsds():numberOfInteractions() do print(simu:nsds():interaction(i):name()) end
          go(simu, managers)
          print(bits(simu, bodies))]]):format(before, file))
        assert.equal(now .. "\n" .. expected, out)
      end
    end)
  end

  it("go on by run{resume = true}; a stream has the columns of the links at its start", function()
    local function run(state, change, first)
      return child("plane", ([[
        local simu, managers, bodies = make { from = -0.7 }
        local contacts, others = managers[1], managers[2]
        %s
        simu:every { period = 5e-3, act = function()
          contacts:update()
          others:update()
        end }
        local stop, stream = %s
        local good, err = pcall(simu.run, simu, { checkpoint = %q, every = 7, resume = true, stream = stream, observe = function()
          if simu:step() == stop then os.exit(0) end
          return { z = bodies[1]:q()[3] }
        end })
        print(good and bits(simu, bodies) or err)]]):format(first or "", change, directory .. state))
    end
    -- The rows of a stream: the last one of each time, as a run that is taken up again has but one where it was stopped.
    local function rows(name)
      local text, last = {}, nil
      for line in io.lines(directory .. name) do
        local t = line:match "^[^,]*"
        text[last == t and #text or #text + 1], last = line, t
      end
      return table.concat(text, "\n")
    end
    local function stream(name) return ("%q"):format(directory .. name) end
    local expected = run("/whole", "nil, " .. stream "/whole.csv")
    assert.equal("", run("/parts", "150, " .. stream "/rows.csv"))
    assert.equal("", run("/parts", "250, " .. stream "/rows.csv"))
    local other = run("/parts", "nil, " .. stream "/rows.csv", "simu:nsds():unlink(simu:nsds():interaction(1))")
    assert.matches(("cannot go on with '%s/rows.csv': it has other columns"):format(directory), other, 1, true)
    assert.equal(expected, run("/parts", "nil, " .. stream "/rows.csv"))
    assert.equal(rows "/whole.csv", rows "/rows.csv")
    assert.matches("plate.lambda", rows "/rows.csv", 1, true)
    assert.matches("nan", rows "/rows.csv", 1, true)
  end)

  -- A box that falls onto its corners, which come near within the steps.
  local function drop(rtol)
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
    local box = ns.NewtonEulerDS({ 0, 0, 0.35, math.cos(0.3), 0.8 * math.sin(0.3), 0.6 * math.sin(0.3), 0 },
      { 0.5, 0, -1, 1, 2, 0 }, 1, 0.01 * ns.eye(3))
    box:setFExtPtr { 0, 0, -9.81 }
    nsds:insertDynamicalSystem(box)
    local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0.3, 0, 0.4, 3), reach = 0.02 }
    contacts:add_box(box, 0.2, 0.3, 0.2)
    contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI(rtol or 1e-8)), contacts, { box }
  end

  it("are linked within the first step of an EventDriven that goes on, up to the last reach", function()
    local simu, contacts, bodies = drop()
    contacts:update(0.01)
    for k in simu:steps() do
      contacts:update(0.01)
      if k == 1 then break end
    end
    simu:nextStep()
    assert.equal(0, contacts:count())
    simu:save_state(file)
    simu:computeOneStep()
    local after, linked = bits(simu, bodies), names(simu)
    assert.is_true(contacts:count() > 0)
    for _, before in ipairs { false, true } do
      local other, its, theirs = drop()
      if before then its:update() end
      other:load_state(file)
      other:computeOneStep()
      assert.equal(after, bits(other, theirs))
      assert.equal(linked, names(other))
    end
    -- a file that is refused leaves a manager that was never updated as it was
    local other, its, theirs = drop(1e-7)
    local fresh, _, bodies_of_fresh = drop(1e-7)
    assert.error_matches(function() other:load_state(file) end, "is of another model", 1, true)
    for _, one in ipairs { other, fresh } do
      for _ = 1, 4 do
        one:computeOneStep()
        one:nextStep()
      end
    end
    assert.equal(0, its:count())
    assert.equal(bits(fresh, bodies_of_fresh), bits(other, theirs))
  end)

  it("are taken up again in the same run and in clones", function()
    local simu, managers, bodies = made "space"
    go(simu, managers, 40)
    simu:save_state(file)
    local twin = simu:clone()
    local its = bodies_of(twin, bodies)
    twin:load_state(file)
    go(simu, managers, 70)
    local later = names(simu)
    local first = bits(simu, bodies)
    simu:save_state(directory .. "/later")
    twin:load_state(directory .. "/later")
    assert.equal(later, names(twin))
    assert.equal(first, bits(twin, its))
    simu:load_state(file)
    assert.not_equal(later, names(simu))
    go(simu, managers, 70)
    assert.equal(first, bits(simu, bodies))
    assert.equal(later, names(simu))
    twin:load_state(file)
    go(twin, in_clone(managers, twin), 70)
    assert.equal(first, bits(twin, its))
  end)

  -- A file that the changed model refuses: links and states stay, and the run goes on as one that has not been asked.
  local function is_refused(name, change, text, path)
    local other, others, theirs = made(name, change)
    local simu, managers, bodies = made(name, change)
    go(other, others, 20)
    go(simu, managers, 20)
    local linked, now = names(simu), bits(simu, bodies)
    assert.error_matches(function() simu:load_state(path or file) end, text, 1, true)
    assert.equal(linked, names(simu))
    assert.equal(now, bits(simu, bodies))
    go(other, others, 50)
    go(simu, managers, 50)
    assert.equal(names(other), names(simu))
    assert.equal(bits(other, theirs), bits(simu, bodies))
  end

  it("are refused where managers differ, and nothing changes", function()
    local simu, managers = made "space"
    go(simu, managers, 60)
    simu:save_state(file)
    local own = "' is of another model: its contact manager 1 has \""
    is_refused("space", { reach = 0.03 }, own .. "in space, reach 0.02, NewtonImpactFrictionNSL, 19 shapes, 4 planes, 0 pairs\", "
      .. "here is \"in space, reach 0.03, NewtonImpactFrictionNSL, 19 shapes, 4 planes, 0 pairs\"")
    is_refused("space", { height = 0.11 }, own .. "box 1 of NewtonEulerDS 'ds 4' ")
    is_refused("space", { lift = 0.11 }, own .. "mesh 1 of the world ")
    is_refused("space", { wall = 0.51 }, own .. "plane 4 at (0, 0.5, 0) along (0, -1, 0)\", here is \"plane 4 at (0, 0.51, 0)")
    is_refused("space", { more = true }, "' has no contact manager 2, here is one (in space, reach 0.02, ")
    is_refused("space", { tolerance = 1e-5 }, "' is of another model: it has \"constants of the one-step problem: tolerance")
  end)

  it("are refused where a manager or the relation of a pair is missing, and nothing changes", function()
    local simu, managers = made "plane"
    go(simu, managers, 150)
    simu:save_state(file)
    is_refused("plane", { managers = 1 }, "' is of another model: its contact manager 1 has \"in the plane, ")
    is_refused("plane", { from = 10 }, "load_state: '" .. file .. "' has the contact 'plate' of pair 1 of contact manager 1, which "
      .. "its function does not name at the present state")
  end)

  it("are refused where the file tells of contacts that can not be, and nothing changes", function()
    local simu, managers = made "space"
    go(simu, managers, 60)
    simu:save_state(file)
    local good, head = host.read(file), #"nslua checkpoint 1\n" + 1
    local mark, identity, note, state, links = ("=I8s8s8s8s8"):unpack(good, head)
    local function write(changed)
      local bytes = good:sub(1, head - 1) .. ("=I8s8s8s8s8"):pack(mark, identity, note, state, changed)
      host.write(directory .. "/changed", bytes .. ("=i8"):pack(host.crc64(bytes)))
      return directory .. "/changed"
    end
    local told, at = ("=s8"):unpack(links)
    local _, second = ("=s8"):unpack(links, at)
    local origin = ("=s8"):unpack(links, at)
    local foreign = origin:sub(1, 16) .. ("=i8"):pack(1000) .. origin:sub(25)
    is_refused("space", {}, "' has a contact of contact manager 1 that can not be between its shapes",
      write(("=s8s8"):pack(told, foreign) .. links:sub(second)))
    is_refused("space", {}, "' was written by another version of nslua: what links its contacts can not be read",
      write(links:sub(1, -2)))
    is_refused("space", {}, "' is of another model: it has \"18 dynamical systems, ", write(links:sub(1, second - 1)))
  end)

  it("leave no directory", function()
    host.remove(directory)
    assert.equal("", host.list(directory))
  end)
end)
