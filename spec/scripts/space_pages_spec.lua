-- Pages in space in a browser: they play, obey pointer and keys, and show what the recording holds.
local chromium = require "chromium"
local core = require "nslua.core"
local host = require "host"
local html = require "nslua.web.html"
local motion = require "motion"
local ns = require "nslua"
local numbers = require "random_numbers"
local page = require "page"
local png = require "png"
local three = require "nslua.web.three"

local C = ns.contact

local function test(name, f)
  local missing = chromium.missing or not three.script() and three.missing
  if missing then pending(("%s (%s)"):format(name, missing)) else it(name, f) end
end

describe("a page in space in the browser", function()
  local directory, path
  setup(function()
    directory = host.new_directory()
    path = directory .. "/page.html"
  end)
  teardown(function()
    chromium.close()
    host.remove(directory)
  end)

  -- Solids of each kind in a ring, which turn and rise; each presses on the first one.
  local shapes = { C.sphere(0.3), C.box(0.5, 0.4, 0.3), C.capsule(0.15, 0.4), C.box(0.4, 0.4, 0.2, 0.05),
    C.hull { { 0, 0, 0.3 }, { 0.3, 0, -0.2 }, { -0.2, 0.3, -0.2 }, { -0.2, -0.3, -0.2 } },
    C.compound { C.sphere(0.2):placed { 0, 0, 0.2 }, C.capsule(0.1, 0.4) } }
  local function ring(more)
    local spec = {
      file = path, frames = 61, fps = 30, bodies = shapes, title = "Shapes",
      world = { C.plane({ 0, 0, 0 }, { 0, 0, 1 }), C.heightfield({ { 0, 0.2 }, { 0.1, 0 } }, 1, 1) },
      places = function(k)
        local list = {}
        for i = 1, #shapes do
          local angle, turn = i, k / 40 * i
          list[i] = { 2 * math.cos(angle), 2 * math.sin(angle), 0.5 + 0.01 * k * i, math.cos(turn), 0, math.sin(turn), 0 }
        end
        return list
      end,
      forces = function()
        local list = {}
        for i = 1, #shapes do
          list[i] = { first = i, second = i > 1 and 1 or nil, point = { 2 * math.cos(i), 2 * math.sin(i), 0 }, force = { 0, 0, i } }
        end
        return list
      end,
    }
    for key, value in pairs(more or {}) do spec[key] = value end
    return ns.animation.space(spec)
  end

  local function drive(steps) return chromium.calm(path, steps) end

  test("has the places that its bytes hold, also between frames; plays and steps #once", function()
    ring { values = function(k) return { k, k, 0, 0, 0, -k } end, label = "n" }
    local record = page.read(host.read(path))
    local bodies, times = motion.bodies(record, page)
    local v = drive { { size = { 420, 420, 1 } },
      ("(() => { const m = nslua.page.scene; m.set(%.17g); return [...m.places, ...m.values]; })()"):format(times[40]),
      { key = "ArrowRight" }, "nslua.page.time", { key = " " }, { wait = 0.3 }, "nslua.page.time > nslua.page.start + 0.05",
      "(() => { const m = nslua.page.scene, z = (t) => { m.set(t); return m.places[9]; }; return [z(0.5), z(0.51), z(0.52)]; })()" }
    for i, body in ipairs(bodies) do
      for j = 1, 3 do assert.near(body.positions[40][j], v[1][7 * (i - 1) + j], 1e-12) end
      for j = 1, 4 do assert.near(body.turns[40][j], v[1][7 * (i - 1) + 3 + j], 1e-12) end
      assert.near(body.values[40][1], v[1][7 * #bodies + i], 1e-12)
    end
    assert.near(times[2], v[2], 1e-12)
    assert.is_true(v[3])
    assert.near(v[4][2], (v[4][1] + v[4][3]) / 2, 1e-4)
    assert.near(0.02 * 30 * 0.02, v[4][3] - v[4][1], 5e-3)
  end)

  -- Bodies that fly, tumble, rest and jump, of many sizes of numbers, with forces that come and go.
  local function heap(scale)
    math.randomseed(31)
    local n, frames, bodies = 40, 50, {}
    local function u() return scale * numbers.signed() end
    local x, v, q = {}, {}, {}
    for i = 1, n do
      bodies[i] = i % 3 == 0 and C.sphere(scale * (0.1 + 0.1 * math.random())) or C.box(0.3 * scale, 0.2 * scale, 0.1 * scale)
      x[i], v[i], q[i] = { 9 * u(), 9 * u(), 9 * u() }, { u(), u(), u() }, { 1, 0, 0, 0 }
    end
    local function places(k)
      local list = {}
      for i = 1, n do
        if (k + i) % 7 == 0 then v[i] = i % 5 == 0 and { 0, 0, 0 } or { 20 * u(), 20 * u(), 20 * u() } end
        if (k * i) % 41 == 1 then x[i][1] = x[i][1] + 100 * u() end
        if i % 4 > 0 then q[i] = motion.multiply(q[i], { 1, v[i][1] / scale / 90, v[i][2] / scale / 90, 0.01 * (i % 3) }) end
        for j = 1, 3 do x[i][j] = x[i][j] + v[i][j] / 30 end
        list[i] = { x[i][1], x[i][2], x[i][3], q[i][1], q[i][2], q[i][3], q[i][4] }
      end
      return list
    end
    local function forces(k)
      local list = {}
      for i = 2, n do
        if (i + k // 6) % 3 == 0 then
          local p = x[i]
          list[#list + 1] = { first = i, second = i % 2 == 0 and i - 1 or nil, force = { u(), u(), 3 * u() },
            point = { p[1] + 0.1 * u(), p[2] + 0.1 * u(), p[3] + 0.1 * u() } }
        end
      end
      return list
    end
    return ns.animation.space { file = path, frames = frames, fps = 30, bodies = bodies, places = places, forces = forces }
  end

  test("has all that its bytes hold, at every frame, in small and large scenes #once", function()
    for _, scale in ipairs { 1e-6, 1, 1e6 } do
      heap(scale)
      local record = page.read(host.read(path))
      local bodies, times = motion.bodies(record, page)
      local forces, parts = motion.forces(record, page, #times), motion.parts(record, page)
      local v = drive { { size = { 420, 420, 1 } }, [[(() => { const m = nslua.page.scene, list = [];
        for (const t of m.times) { m.set(t); list.push(...m.places); }
        return list; })()]], "[...nslua.page.space.forces]", "nslua.page.space.starts", "[...nslua.page.space.drawing.radii]" }
      local function near(a, b, size) if math.abs(a - b) > size then assert.near(a, b, size) end end
      local at = 0
      for k = 1, #times do
        for _, body in ipairs(bodies) do
          for j = 1, 3 do near(body.positions[k][j], v[1][at + j], 1e-9 * scale) end
          for j = 1, 4 do near(body.turns[k][j], v[1][at + 3 + j], 1e-9) end
          at = at + 7
        end
      end
      at = 0
      for k, list in ipairs(forces) do
        assert.equal(at, v[3][k])
        for _, one in ipairs(list) do
          assert.same({ one.first - 1, one.second - 1 }, { v[2][at + 1], v[2][at + 2] })
          for j = 1, 3 do
            near(one.point[j], v[2][at + 2 + j], 1e-5 * scale)
            near(one.force[j], v[2][at + 5 + j], 1e-6)
          end
          at = at + 8
        end
      end
      assert.equal(#bodies, #v[4])
      for _, part in ipairs(parts) do near(part[9], v[4][part[1]], 1e-6 * scale) end
    end
  end)

  test("inflates streams of every kind, and refuses a broken one #once", function()
    ring()
    math.randomseed(32)
    local texts = {}
    for i, size in ipairs { 90, 4000, 60000 } do
      local parts = {}
      for k = 1, size do
        parts[k] = k % 5 == 0 and ("again and "):rep(math.random(40)) or string.char(math.random(97, 99 + 8 * i))
      end
      texts[i] = table.concat(parts)
    end
    texts[4] = ("a"):rep(40) -- a block of fixed codes
    for _, text in ipairs(texts) do
      local v = drive { { size = { 420, 420, 1 } }, ("new TextDecoder().decode(nslua.inflate(nslua.bytes85(%s)))"):format(
        html.json(html.base85(core.file_support.deflate(text)))) }
      assert.is_true(text == v[1])
    end
    local function inflated(bytes)
      local try = "(() => { try { return new TextDecoder().decode(nslua.inflate(%s)); } catch (e) { return e.message; } })()"
      return try:format(bytes)
    end
    local v = drive { { size = { 420, 420, 1 } }, inflated "Uint8Array.from([1, 3, 0, 252, 255, 97, 98, 99])",
      inflated "new Uint8Array(99).fill(255)", inflated "Uint8Array.from([5, 224, 255, 255, 255, 255])" }
    assert.same({ "abc", "the scripts of the page are broken", "the scripts of the page are broken" }, v)
  end)

  test("shows forces and chains, follows a body, turns, zooms, and goes back; on a phone and in the dark #long", function()
    ring()
    local view, shown = "nslua.page.space.", "[nslua.page.space.arrows.count, nslua.page.space.rods.count]"
    local place = "nslua.page.space.camera.position.toArray()"
    local v = drive { { size = { 420, 420, 1 } }, shown, { key = "h" }, shown, { key = "c" }, shown, { key = "g" },
      view .. "showing.grid",
      place, { key = "a" }, place, { key = "0" }, place, { key = "+" }, place, { key = "0" },
      { drag = { 200, 200, 250, 230 } }, place, { key = "0" }, { key = "f" }, view .. "followed ?? -1",
      "nslua.page.seek(1), " .. view .. "controls.target.toArray()", "nslua.page.scene.places.slice(0, 3)",
      "nslua.page.follow(), " .. view .. "followed ?? -1",
      { size = { 390, 844, 2 }, touch = true, dark = true }, "document.documentElement.scrollWidth <= innerWidth",
      { pinch = { 200, 300, 60, 140 } }, place }
    assert.same({ { 6, 0 }, { 6, 6 }, { 0, 6 }, false }, { v[1], v[2], v[3], v[4] })
    assert.near(v[5][3], v[6][3], 1e-9)
    assert.is_true(math.abs(v[5][1] - v[6][1]) > 0.1)
    for j = 1, 3 do assert.near(v[5][j], v[7][j], 1e-9) end
    local function length(p) return math.sqrt(p[1] ^ 2 + p[2] ^ 2 + p[3] ^ 2) end
    assert.is_true(length(v[8]) < 0.95 * length(v[7]))
    assert.is_true(math.abs(v[9][3] - v[7][3]) > 0.05)
    assert.equal(0, v[10])
    for j = 1, 3 do assert.near(v[12][tostring(j - 1)] or v[12][j], v[11][j], 1e-9) end
    assert.equal(-1, v[13])
    assert.is_true(v[14])
    assert.is_true(#v[15] == 3)
  end)

  test("follows the body that is clicked #long", function()
    ring()
    local at = drive { { size = { 420, 420, 1 } }, [[(() => { const s = nslua.page.space, p = s.placeOf(1).project(s.camera),
      r = s.canvas.getBoundingClientRect(); return [r.x + (p.x + 1) / 2 * r.width, r.y + (1 - p.y) / 2 * r.height]; })()]] }[1]
    local v = drive { { size = { 420, 420, 1 } }, { click = at }, "nslua.page.space.followed ?? -1", { click = { 30, 90 } },
      "nslua.page.space.followed ?? -1" }
    assert.same({ 1, -1 }, v)
  end)

  test("is a picture, without a page around it, with the colours of its bodies #long", function()
    local one = ring { bodies = { { shape = C.box(1, 1, 1), color = "red" } }, forces = function() return {} end,
      world = { C.plane({ 0, 0, 0 }, { 0, 0, 1 }) },
      places = function() return { { 0, 0, 0.5 } } end, file = directory .. "/red.png" }
    local picture = png.read(directory .. "/red.png")
    assert.same({ 800, 500 }, { picture.width, picture.height })
    local red, other = 0, 0
    for k = 0, 800 * 500 - 1, 7 do
      local r, g, b = picture[k] >> 16, picture[k] >> 8 & 255, picture[k] & 255
      if r > 1.5 * g and r > 1.5 * b then red = red + 1 else other = other + 1 end
    end
    assert.is_true(red > 1000 and other > 2 * red)
    -- a force that presses from below the floor is seen, and a cylinder is smooth: its shades change in steps of a few parts
    ring { bodies = { { shape = C.cylinder(1, 4), color = "blue" } }, world = { C.plane({ 0, 0, 0 }, { 0, 0, 1 }) },
      places = function() return { { 0, 0, 1, math.sqrt(0.5), math.sqrt(0.5), 0, 0 } } end,
      forces = function() return { { first = 1, point = { 0, -2, 0 }, force = { 0, 0, 1 } } } end, file = directory .. "/blue.png" }
    picture = png.read(directory .. "/blue.png")
    local orange, shades = 0, {}
    for k = 0, 800 * 500 - 1 do
      local r, g, b = picture[k] >> 16, picture[k] >> 8 & 255, picture[k] & 255
      if r > 1.5 * g and g > 1.2 * b then orange = orange + 1 end
      if b > 1.5 * r and b > 1.2 * g then shades[b] = true end
    end
    local count = 0
    for _ in pairs(shades) do count = count + 1 end
    assert.is_true(orange > 200, tostring(orange))
    assert.is_true(count > 40, tostring(count))
    assert.equal(one, one:save(directory .. "/small.png", { width = 200, height = 100, time = 0.5 }))
    assert.equal(200, png.read(directory .. "/small.png").width)
  end)

  test("is a film #long", function()
    if host.run("command -v ffmpeg") == "" then return pending "needs ffmpeg, which is not installed" end
    local one = ring()
    for _, ending in ipairs { "mp4", "gif" } do
      local film = directory .. "/film." .. ending
      one:save(film, { width = 160, height = 100, fps = 5 })
      local told = host.run(("ffmpeg -v error -i %s -f rawvideo -pix_fmt rgb24 - | wc -c"):format(host.quote(film)))
      assert.equal(11 * 160 * 100 * 3, tonumber(told)) -- two seconds, with both ends
    end
  end)

  test("is drawn by --plot of a script, which says so where it can not be #long", function()
    local place = directory .. "/tower"
    local command = "%sNSLUA_DPI=30 %s scripts/tower.lua --n 2 --T 0.1 --plot " .. place
    local out, err, status = host.run(command:format("", host.quote(host.nslua)))
    assert.same({ "", 0 }, { err, status })
    assert.truthy(out:find("drawn: " .. place .. "/tower.png\n", 1, true))
    local width, height = string.unpack(">I4I4", host.read(place .. "/tower.png"), 17)
    assert.same({ 330, 196 }, { width, height })
    local tools = directory .. "/tools"
    os.execute(("mkdir %s && for p in mkdir id rm gnuplot; do ln -s $(command -v $p) %s/$p; done"):format(tools, tools))
    out, err, status = host.run(command:format(("PATH=%s "):format(tools), host.quote(host.nslua)))
    assert.same({ "", 0 }, { err, status })
    local told = ("not drawn: %s/tower.png: '%s/tower.png': chromium is not installed"):format(place, place)
    assert.truthy(out:find(told, 1, true), out)
  end)
end)
