-- Animations in space: what the page holds of shapes, places, forces and values, and what is refused.
local html = require "nslua.web.html"
local host = require "host"
local message = require "expect".message
local motion = require "motion"
local ns = require "nslua"
local numbers = require "random_numbers"
local page = require "page"
local three = require "nslua.web.three"

local C = ns.contact

-- Two balls fall on a plane, one onto the other; a box lies beside them. The manager, its simulation and its film.
local function fall(T, options)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  local contacts = C.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), reach = 0.1 }
  contacts:add_plane(C.plane({ 0, 0, 0 }, { 0, 0, 1 }))
  local bodies = {}
  for k, one in ipairs { { 0, 1, C.sphere(0.25) }, { 0.01, 1.7, C.sphere(0.25) }, { 2, 0.1, C.box(0.4, 0.4, 0.2) } } do
    bodies[k] = ns.NewtonEulerDS({ one[1], 0, one[2], 1, 0, 0, 0 }, { 0, 0, 0, 0, k == 2 and 3 or 0, 0 }, 1, 0.02 * ns.eye(3))
    bodies[k]:setFExtPtr { 0, 0, -10 }
    nsds:insertDynamicalSystem(bodies[k])
    contacts:add(bodies[k], one[3])
  end
  contacts:update()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5), ns.FrictionContact(3))
  return contacts, simu, contacts:recorder(options), bodies
end

-- The library is not there: a page has a word in its place.
local function without_three(f)
  local real = three.script
  three.script = function() return "THREE" end
  local good, text = pcall(f)
  three.script = real
  assert(good, text)
end

describe("an animation in space", function()
  it("holds the places of the bodies, and forces whose sum is the weight at rest #once", function()
    without_three(function()
      local contacts, simu, film, bodies = fall(1.5, { fps = 50, values = function(ds) return ds:q()[3] end, label = "height" })
      local places, times = {}, {}
      film:add(0)
      for k, t in simu:steps() do
        contacts:update()
        film:add(t)
        if k % 4 == 0 then
          times[#times + 1], places[#places + 1] = t, {}
          for i, ds in ipairs(bodies) do places[#places][i] = ds:q():totable() end
        end
      end
      assert.equal("recorder: 3 bodies, 76 frames", tostring(film))
      local animation = film:animate3d { title = "A fall" }
      assert.equal("animation in space 'A fall': 3 bodies, 76 frames, 0 .. 1.5", tostring(animation))
      local record = page.read(animation:html())
      local read, at = motion.bodies(record, page)
      for k, t in ipairs(times) do
        assert.near(t, at[k + 1], 1e-12)
        for i, q in ipairs(places[k]) do
          for j = 1, 3 do assert.near(q[j], read[i].positions[k + 1][j], 1.0001 * 0.0025) end
          assert.is_true(motion.angle({ q[4], q[5], q[6], q[7] }, read[i].turns[k + 1]) < 0.02)
          assert.near(q[3], read[i].values[k + 1][1], 1.7 / 200)
        end
      end
      assert.same({ "height", 1.7 }, { record.values.label, record.values.high })
      local last, sum, pairs_of = motion.forces(record, page, #at)[#at], { 0, 0, 0 }, {}
      local strongest = film.film.strongest
      for _, one in ipairs(last) do
        pairs_of[one.first .. " " .. one.second] = true
        if one.second == 0 then for j = 1, 3 do sum[j] = sum[j] + strongest * one.force[j] end end
      end
      assert.near(30, sum[3], 2) -- to a few percent
      assert.is_true(pairs_of["3 0"])
    end)
  end)

  it("draws solids of one form as one geometry, with offsets and scales; planes, meshes, colours", function()
    without_three(function()
      local animation = ns.animation.space {
        frames = 2, places = function() return { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 }, { 4, 0, 0 } } end,
        bodies = { C.sphere(0.5), C.sphere(2):placed { 0, 0, 1 }, C.box(1, 2, 3), { shape = C.box(2, 2, 2), color = "red" },
          C.compound { C.capsule(0.1, 1), C.sphere(0.3) } },
        world = { C.plane({ 0, 0, -1 }, { 0, 0, 1 }), C.heightfield({ { 0, 1 }, { 0, 0 } }, 1, 1) },
      }
      local record = page.read(animation:html())
      local list = motion.parts(record, page)
      assert.equal(7, #list)
      assert.equal(4, #record.geometries) -- ball, box, capsule, mesh
      assert.same({ 1, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, paint = 0 }, list[1])
      assert.same({ 2, 0, 0, 0, 1, 2, 2, 2, 3, paint = 1 }, list[2])
      assert.same({ 3, 1, 0, 0, 0, 1, 2, 3 }, { table.unpack(list[3], 1, 8) })
      assert.near(math.sqrt(14) / 2, list[3][9], 1e-6)
      assert.same({ 4, 1, 0, 0, 0, 2, 2, 2 }, { table.unpack(list[4], 1, 8) })
      assert.same({ 5, 2, 5, 0, 0 }, { list[5][1], list[5][2], list[6][1], list[6][2], list[7][1] })
      assert.equal("vermillion", record.colours[list[4].paint + 1])
      assert.same({ { 0, 0, -1, 0, 0, 1 } }, record.planes)
      local box = record.geometries[2]
      assert.equal(8 * 3, #page.numbers(box.corners))
      local faces, at, count = page.numbers(box.faces), 1, 0
      while at <= #faces do
        assert.equal(4, faces[at])
        at, count = at + 5, count + 1
      end
      assert.equal(6, count)
      assert.equal(12 * 2, #page.numbers(box.edges))
      local capsule = record.geometries[3]
      assert.same({ 1, 6, 2 }, { capsule.radius, #page.numbers(capsule.corners), #page.numbers(capsule.edges) })
    end)
  end)

  it("is made of a solution, by the manager or by the names of columns", function()
    without_three(function()
      local contacts, simu = fall(0.1)
      local sol = simu:run()
      local by_manager = page.read(sol:animate3d({ space = contacts, fps = 20 }):html())
      local by_names = page.read(sol:animate3d({ fps = 20, world = { C.plane({ 0, 0, 0 }, { 0, 0, 1 }) }, bodies = {
        { shape = C.sphere(0.25), q = { "q1", "q2", "q3", "q4", "q5", "q6", "q7" } },
        { shape = C.sphere(0.25), q = { "q8", "q9", "q10", "q11", "q12", "q13", "q14" } },
        { shape = C.box(0.4, 0.4, 0.2), q = { "q15", "q16", "q17" } } } }):html())
      assert.same(by_manager.motion, by_names.motion)
      assert.same(by_manager.parts, by_names.parts)
      local valued = page.read(sol:animate3d({ space = contacts, values = { "q3", "q10", "q17" } }):html())
      assert.near(1, motion.bodies(valued, page)[1].values[1][1], 1.6 / 200)
      assert.same({ 1.7, 0.1 }, { valued.values.high, valued.values.low })
    end)
  end)

  it("is at most 1 MB for 1e6 places of a pour, that have rest and flight in them, with its forces twice that #once", function()
    without_three(function()
      local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
      local contacts = C.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = 0.05 }
      for _, wall in ipairs(C.walls({ 0, 0, 0 }, { 0.45, 0.45, 9 })) do contacts:add_plane(wall) end
      for i = 0, 17 do
        local ds = ns.NewtonEulerDS({ 0.08 + 0.14 * (i % 3) + 0.01 * (i % 2), 0.08 + 0.14 * (i // 3 % 3), 0.08 + 0.14 * (i // 9),
          1, 0, 0, 0 }, { 0, 0, 0, 1, 0.3 * i % 1, 0 }, 1, 1e-3 * ns.eye(3))
        ds:setFExtPtr { 0, 0, -9.81 }
        nsds:insertDynamicalSystem(ds)
        contacts:add(ds, C.box(0.1, 0.08, 0.06))
      end
      contacts:update()
      local osi = ns.MoreauJeanOSI(0.5)
      osi:setLinearlyImplicit(true)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), osi, ns.FrictionContact(3, { tolerance = 1e-4 }))
      local film = contacts:recorder()
      film:add(0)
      for _, t in simu:steps() do
        contacts:update()
        film:add(t)
      end
      local record = page.read(film:animate3d():html())
      local places = 18 * #page.numbers(record.times)
      assert.is_true(#record.motion.base85 <= places)
      assert.is_true(#record.forces.data.base85 + #record.motion.base85 <= 2 * places)
    end)
  end)

  it("meets places and rotations as exactly as it is asked to, with none, one and many bodies, in one frame and in many", function()
    without_three(function()
      math.randomseed(9)
      for _, case in ipairs { { 0, 3, 1e-2 }, { 1, 1, 1e-2 }, { 1, 40, 1e-6 }, { 5, 40, 1e-2 }, { 5, 40, 3 }, { 5, 40, 1e-9 } } do
        local n, frames, accuracy, bodies, told = case[1], case[2], case[3], {}, {}
        for i = 1, n do bodies[i] = C.sphere(1 + i % 2) end -- the smallest radius is 1
        local animation = ns.animation.space { frames = frames, bodies = bodies, accuracy = accuracy, places = function(k)
          told[k] = {}
          for i = 1, n do
            local angle = 0.2 * i * k + (k > 20 and numbers.signed() or 0)
            told[k][i] = { i + numbers.signed() / 9, i * k / 9, 1, math.cos(angle), math.sin(angle), 0, 0 }
          end
          return told[k]
        end }
        local read = motion.bodies(page.read(animation:html()), page)
        assert.equal(n, #read)
        local angle = math.min(accuracy, 0.1)
        for k, places in ipairs(told) do
          for i, q in ipairs(places) do
            for j = 1, 3 do assert.near(q[j], read[i].positions[k][j], accuracy * (1 + 1e-3)) end
            assert.is_true(motion.angle({ q[4], q[5], q[6], q[7] }, read[i].turns[k]) <= angle * math.sqrt(3) * (1 + 1e-3) + 1e-15)
          end
        end
      end
    end)
  end)

  it("takes quaternions of any length, and large values that differ by rounding alone", function()
    without_three(function()
      for _, size in ipairs { 1e-200, 1, 1e200 } do
        local animation = ns.animation.space { frames = 3, bodies = { C.sphere(1) },
          places = function() return { { 0, 0, 0, size, size, 0, 0 } } end,
          values = function(_, k) return { 1e5 * (1 + k * 2 ^ -52) } end }
        local bodies = motion.bodies(page.read(animation:html()), page)
        local h = math.sqrt(0.5)
        for k = 1, 3 do
          assert.is_true(motion.angle(bodies[1].turns[k], { h, h, 0, 0 }) < 0.02)
          assert.is_true(math.abs(bodies[1].values[k][1] - 1e5) < 1e-3)
        end
      end
    end)
  end)

  it("tells the package that it needs, and what it does not take", function()
    local contacts, simu, film = fall(0.1)
    three.directories = {}
    local good, text = pcall(function() film:add(0):animate3d { file = host.new_directory() .. "/a.html" } end)
    three.directories = nil
    assert.is_false(good)
    assert.truthy(text:find("three.js is not installed; pages in space need it: apt install libjs-three", 1, true))
    local sphere, function_of = C.sphere(1), function() return { { 0, 0, 0 } } end
    local function space(options)
      return message(ns.animation.space, setmetatable(options, nil))
    end
    assert.equal("animation.space: places: expected a function, got nil", space { frames = 1 })
    assert.equal("animation.space: frames: expected a positive integer or a list that is not empty, got nil",
      space { places = function_of })
    assert.equal("animation.space: bodies[1]: expected a convex shape or { shape = }, got 3",
      space { frames = 1, places = function_of, bodies = { 3 } })
    assert.equal("animation.space: bodies: expected a list, got a shape",
      space { frames = 1, places = function_of, bodies = sphere })
    assert.equal("animation.space: world: expected shapes and planes, got 'floor'",
      space { frames = 1, places = function_of, world = { "floor" } })
    assert.equal("animation.space: place of body 1: expected 3 or 7 numbers, got table",
      space { frames = 1, places = function() return { { 1, 2 } } end, bodies = { sphere } })
    assert.equal("animation.space: place of body 1: expected a quaternion, got zeros",
      space { frames = 1, places = function() return { { 1, 2, 3, 0, 0, 0, 0 } } end, bodies = { sphere } })
    local function refused(options, told)
      local all = { frames = 2, places = function_of, bodies = { sphere } }
      for name, value in pairs(options) do all[name] = function() return value end end
      assert.equal("animation.space: " .. told, space(all))
    end
    local point = { 0, 0, 0 }
    refused({ places = false }, "places: expected a list, got boolean")
    refused({ places = { { 0, 1e300, 0 } } }, "place of body 1 [2]: 1e+300 is too large for an accuracy of 0.01")
    refused({ values = 7 }, "values: expected a list, got 7")
    refused({ forces = 7 }, "forces: expected a list, got 7")
    refused({ forces = { 7 } }, "forces[1]: expected a list, got 7")
    refused({ forces = { { first = 1, force = point } } }, "forces[1].point: expected a list, got nil")
    refused({ forces = { { first = 1, point = point } } }, "forces[1].force: expected a list, got nil")
    refused({ forces = { { first = 1, force = point, point = { 0, -1e300, 0 } } } },
      "forces[1].point[2]: -1e+300 is too large for an accuracy of 0.1")
    refused({ forces = { { first = 1, force = { 1e200, 0, 0 }, point = point } } },
      "size of forces[1]: expected a finite number, got inf")
    local k = 0
    assert.equal("animation.space: range of the values: expected a finite number, got inf",
      space { frames = 2, places = function_of, bodies = { sphere }, values = function()
        k = k + 1
        return { k == 1 and 1e308 or -1e308 }
      end })
    assert.equal("animation.space: value of body 1: expected a finite number, got nil",
      space { frames = 1, places = function_of, bodies = { sphere }, values = function() return {} end })
    assert.equal("animation.space: forces[1]: expected numbers of bodies, from 1 to 1, as first and second, got 7, nil",
      space { frames = 1, places = function_of, bodies = { sphere }, forces = function() return { { first = 7 } } end })
    assert.equal("animation.space: camera.at[1]: expected a finite number, got nil",
      space { frames = 1, places = function_of, bodies = { sphere }, camera = { from = { 1, 2, 3 } } })
    assert.matches("^animation.space: unknown option 'body'", space { body = 1 })
    local recorder = contacts:recorder():add(1)
    assert.equal("add: t: expected a time from 1 on, got 0.5", message(recorder.add, recorder, 0.5))
    assert.equal("add: t: expected a finite number, got nil", message(recorder.add, recorder))
    assert.equal("recorder: forces: expected a boolean, got 3", message(contacts.recorder, contacts, { forces = 3 }))
    assert.equal("animate3d: there is no frame: recorder:add(t) adds one after a step",
      message(function() contacts:recorder():animate3d() end))
    local sol = simu:run()
    assert.equal("animate3d: bodies[1].q: expected a list of columns, got nil",
      message(sol.animate3d, sol, { bodies = { sphere } }))
    local named = { shape = sphere, q = { "z" } }
    assert.matches("^animate3d: bodies%[1%].q: no column is called 'z'", message(sol.animate3d, sol, { bodies = { named } }))
    assert.matches("^animate3d: values%[1%]: no column is called 'z'",
      message(sol.animate3d, sol, { space = contacts, values = { "z" } }))
    assert.equal("animate3d: expected a space or bodies, got neither", message(sol.animate3d, sol, {}))
    assert.equal("animate3d: space: expected a contact manager in space, got NonSmoothDynamicalSystem on [0.0, 1.0]: "
      .. "0 dynamical systems, 0 interactions",
      message(sol.animate3d, sol, { space = ns.NonSmoothDynamicalSystem(0, 1) }))
    assert.equal("animate3d: space: expected a contact manager in space, got contact manager",
      message(sol.animate3d, sol, { space = C.manager { nsds = ns.NonSmoothDynamicalSystem(0, 1), reach = 1,
        law = ns.NewtonImpactFrictionNSL(0, 0, 0, 2) } }))
    assert.equal("animate3d: expected a space or bodies, got both",
      message(sol.animate3d, sol, { space = contacts, bodies = { named } }))
    assert.equal("animate3d: camera: from and at are the same point",
      message(sol.animate3d, sol, { space = contacts, camera = { from = { 1, 2, 3 }, at = { 1, 2, 3 } } }))
    local one = ns.animation.space { frames = 1, places = function_of, bodies = { sphere } }
    assert.equal("save: file: 'a.jpg': expected a name that ends in .html, .png, .gif or .mp4", message(one.save, one, "a.jpg"))
    assert.equal("save: file: expected a string, got nil", message(one.save, one))
  end)

  it("asks for a browser where pictures are to be made and there is none #once", function()
    without_three(function()
      local directory = host.new_directory()
      host.write(directory .. "/a.lua", [[
        local ns = require "nslua"
        require "nslua.web.three".script = function() return "THREE" end
        local function places() return { { 0, 0, 0 } } end
        local one = ns.animation.space { frames = 1, places = places, bodies = { ns.contact.sphere(1) } }
        print(select(2, pcall(one.save, one, "a.png")))
      ]])
      local out = host.run(("cd %s && mkdir bin && for p in id rm; do ln -s $(command -v $p) bin/$p; done"):format(directory)
        .. ("; cd %s; PATH=%s/bin %s %s/a.lua"):format(host.quote(host.root), directory, host.nslua, directory))
      assert.truthy(out:find("animation: 'a.png': chromium is not installed; PNG, GIF and MP4 need it: apt install chromium"
        .. " (HTML does not)", 1, true), out)
      host.remove(directory)
    end)
  end)

  it("embeds three.js, where it is installed, in one file that loads nothing", function()
    local script, found, revision = three.script()
    if not script then return pending(three.missing) end
    assert.truthy(found and revision)
    local one = ns.animation.space { frames = 1, places = function() return { { 0, 0, 0 } } end, bodies = { C.sphere(1) } }
    local text, directory = one:html(), host.new_directory()
    local packed = text:match '<script type="text/plain" id="packed">([^<]*)</script>'
    host.write(directory .. "/packed.gz", "\x1f\x8b\8\0\0\0\0\0\0\3" .. page.base85(packed))
    local scripts = host.run(("gzip -dc %s/packed.gz 2>/dev/null"):format(directory))
    host.remove(directory)
    assert.truthy(scripts:find(script, 1, true))
    assert.truthy(scripts:find('nslua.start("space");', 1, true))
    assert.is_true(#text < #script / 2)
    assert.is_nil(text:find('src="', 1, true))
    assert.truthy(html.escape(text))
  end)
end)
