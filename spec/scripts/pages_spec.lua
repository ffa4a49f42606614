-- The pages in a browser: clicks, keys, fingers, both schemes, and that nothing is loaded from elsewhere.
local chromium = require "chromium"
local host = require "host"
local ns = require "nslua"

local phone, wide = { 390, 844, 2 }, { 1600, 900, 1 }
local player = "nslua.page."

-- Declares a test that needs the browser.
local function test(name, f)
  if chromium.missing then
    pending(("%s (%s)"):format(name, chromium.missing))
  else
    it(name, f)
  end
end

describe("a page in the browser", function()
  local directory, path
  setup(function()
    directory = host.new_directory()
    path = directory .. "/page.html"
  end)
  teardown(function()
    chromium.close()
    host.remove(directory)
  end)

  local function drive(steps) return chromium.calm(path, steps) end

  local function spin(more)
    local spec = { file = path, frames = 101, fps = 25, title = "Spin", draw = function(k, c)
      c:line(0, 0, math.cos(k / 10), math.sin(k / 10), { color = "blue", linewidth = 6 })
      c:circle(k / 50, 0, 0.5, { fill = "orange", angle = k / 10 })
      c:trace("end", math.cos(k / 10), math.sin(k / 10))
    end }
    for key, value in pairs(more or {}) do spec[key] = value end
    return ns.animation(spec)
  end

  -- The middle of an element, for a click.
  local middle = [[(() => { const r = document.querySelector("%s").getBoundingClientRect();
    return [r.x + r.width / 2, r.y + r.height / 2]; })()]]

  test("plays in real time at a click, and pauses", function()
    spin()
    local at = drive({ { size = wide }, middle:format "button.main" })[1]
    local v = drive {
      { size = wide }, player .. "playing", { click = at },
      player .. "playing", "document.querySelector('button.main').getAttribute('aria-label')",
      [[(async () => { const wait = () => new Promise(requestAnimationFrame), p = nslua.page;
        await wait(); const t = p.time, now = performance.now();
        while (performance.now() - now < 1000) await wait();
        return [p.time - t, (performance.now() - now) / 1000]; })()]],
      { click = at }, player .. "playing", player .. "time", { wait = 0.2 }, player .. "time",
    }
    assert.is_false(v[1])
    assert.is_true(v[2])
    assert.equal("Pause", v[3])
    assert.near(v[4][2], v[4][1], 0.15)
    assert.is_false(v[5])
    assert.equal(v[6], v[7])
  end)

  test("does what the keys say", function()
    spin { loop = false }
    local label = "document.querySelector('output.time').textContent"
    local v = drive { { size = wide },
      { key = "ArrowRight" }, player .. "time", { key = "ArrowRight", shift = true }, player .. "time", label,
      { key = "ArrowLeft" }, player .. "time", { key = "End" }, player .. "time", { key = "ArrowRight" }, player .. "time",
      { key = "Home" }, player .. "time", { key = "ArrowLeft" }, player .. "time",
      { key = "ArrowUp" }, player .. "speed", { key = "ArrowDown" }, { key = "ArrowDown" }, player .. "speed",
      { key = " " }, player .. "playing", { key = " " }, player .. "playing", { key = "l" }, player .. "loop",
    }
    assert.near(0.04, v[1], 1e-12)
    assert.near(0.44, v[2], 1e-12)
    assert.equal("t = 0.44 s", v[3])
    assert.near(0.4, v[4], 1e-12)
    assert.same({ 4, 4, 0, 0, 2, 0.5, true, false, true }, { table.unpack(v, 5) })
  end)

  test("goes round at the end, or stops there", function()
    local watch = [[(async () => { const p = nslua.page; p.seek(3.8); p.play(); const now = performance.now();
      while (performance.now() - now < 700) await new Promise(requestAnimationFrame);
      return [p.time, p.playing]; })()]]
    spin()
    local v = drive { { size = wide }, watch, "document.querySelector('[aria-label=Loop]').click()", watch }
    assert.is_true(v[1][1] < 1 and v[1][2])
    assert.same({ 4, false }, v[3])
  end)

  test("is scrubbed by a drag of the slider", function()
    spin()
    local x, y = table.unpack(drive({ { size = wide }, middle:format ".scrub" })[1])
    local v = drive { { size = wide }, { click = { x, y } }, player .. "time", { drag = { x, y, x + 2000, y } }, player .. "time",
      "document.querySelector('.scrub').getAttribute('aria-valuetext')" }
    assert.near(2, v[1], 0.1)
    assert.equal(4, v[2])
    assert.equal("t = 4.00 s", v[3])
  end)

  test("draws between two frames what lies between them, an angle the short way", function()
    ns.animation { file = path, frames = 3, times = { 0, 1, 2 }, draw = function(k, c)
      c:circle(10 * k, 0, 1, { angle = k == 2 and -3 or 3 })
      if k == 3 then c:point(0, 0) end
    end }
    local at = "Array.from(nslua.page.scene.at(%d, %g).numbers.subarray(0, 4))"
    local v = drive { { size = wide }, at:format(0, 0.25), at:format(1, 0.5), "nslua.page.scene.locate(0.25)" }
    assert.near(12.5, v[1][1], 1e-6)
    assert.near(3 + 0.25 * (2 * math.pi - 6), v[1][4], 1e-6)
    assert.near(20, v[2][1], 1e-6) -- the next frame has another shape
    assert.same({ k = 0, share = 0.25 }, v[3])
    ns.animation { file = path, frames = 2, interpolate = false, draw = function(k, c) c:circle(10 * k, 0, 1) end }
    assert.near(10, drive({ { size = wide }, at:format(0, 0.5) })[1][1], 1e-12)
  end)

  local world_at = "nslua.page.painter.world_of(%g - document.querySelector('.stage canvas').getBoundingClientRect().left,"
    .. " %g - document.querySelector('.stage canvas').getBoundingClientRect().top)"
  local scale, place = "nslua.page.painter.view?.scale ?? 1", "document.querySelector('.place').textContent"

  test("tells the coordinates under the pointer, and zooms about it, and back", function()
    spin()
    local at = world_at:format(700, 300)
    local v = drive { { size = wide }, { move = { 700, 300 } }, place, at, { wheel = { 700, 300, -300 } }, at, scale, place,
      { drag = { 700, 300, 600, 340 } }, world_at:format(600, 340), scale, player .. "playing", { key = "0" }, scale, at,
      { wheel = { 700, 300, -300 } }, { wheel = { 700, 300, 5000 } }, { wheel = { 700, 300, 5000 } }, scale, at }
    local x, y = v[1]:gsub("−", "-"):match "^(%S+), (%S+)$"
    assert.near(v[2][1], tonumber(x), 0.02)
    assert.near(v[2][2], tonumber(y), 0.02)
    assert.is_true(v[4] > 1.5 and v[4] < 2.2)
    for i = 1, 2 do
      for _, k in ipairs { 3, 6 } do assert.near(v[2][i], v[k][i], 1e-9) end -- zoomed, and dragged along
      for _, k in ipairs { 10, 12 } do assert.near(v[2][i], v[k][i], 1e-9) end -- all is shown again
    end
    assert.equal(v[4], v[7])
    assert.is_false(v[8]) -- a drag is no click
    assert.same({ 1, 1 }, { v[9], v[11] })
    assert.is_true(#v[5] >= #v[1])
  end)

  test("zooms by two fingers on a phone, and moves by one", function()
    spin()
    local v = drive { { size = phone, touch = true }, { pinch = { 200, 250, 60, 180 } }, scale, world_at:format(200, 250),
      player .. "playing", { tap = { 200, 250 } }, player .. "playing", { key = "Escape" }, scale, world_at:format(200, 250) }
    assert.near(3, v[1], 0.4)
    for i = 1, 2 do assert.near(v[6][i], v[2][i], 0.1) end
    assert.is_false(v[3])
    assert.is_true(v[4])
    assert.equal(1, v[5])
  end)

  -- The colour of the pixel in the middle of the stage, by red, green and blue.
  local pixel = [[(() => { const c = document.querySelector(".stage canvas");
    return Array.from(c.getContext("2d").getImageData(c.width / 2, c.height / 2, 1, 1).data); })()]]

  test("shows what was drawn where it was drawn, in both schemes, sharp and with equal scales", function()
    ns.animation { file = path, frames = 2, xlim = { -4, 4 }, ylim = { -1, 1 }, draw = function(k, c)
      c:rectangle(0, 0, 1, 1, { fill = k == 1 and "blue" or "#102030" })
    end }
    local scales = "[nslua.page.painter.sx, nslua.page.painter.sy, nslua.page.canvas.width / nslua.page.canvas.clientWidth]"
    local v = drive { { size = wide }, pixel, { key = "End" }, pixel, { size = phone, dark = true, touch = true }, pixel, scales,
      "document.documentElement.scrollWidth <= innerWidth" }
    assert.same({ 0, 0x72, 0xb2, 255 }, v[1])
    assert.same({ 0x10, 0x20, 0x30, 255 }, v[2])
    assert.same({ 0x3f, 0x9b, 0xe0, 255 }, v[3])
    assert.equal(v[4][1], v[4][2])
    assert.near(2, v[4][3], 0.02)
    assert.is_true(v[5])
  end)

  test("shows the colours that ns.plot takes", function()
    local colours, steps = { "red", "black", "gray", "k", "C0", "white", { 1, 0, 0 } }, { { size = wide } }
    ns.animation { file = path, frames = colours, xlim = { -2, 2 }, ylim = { -1, 1 }, draw = function(colour, c)
      c:rectangle(0, 0, 1, 1, { fill = colour })
    end }
    for i = 1, #colours do
      steps[#steps + 1] = { eval = ("nslua.page.seek(nslua.page.scene.times[%d])"):format(i - 1) }
      steps[#steps + 1] = { eval = pixel }
    end
    local v, seen = drive(steps), {}
    for i = 1, #colours do seen[i] = ("%02x%02x%02x"):format(v[2 * i][1] // 1 | 0, v[2 * i][2] // 1 | 0, v[2 * i][3] // 1 | 0) end
    assert.same({ "d55e00", "1d2430", "808080", "1d2430", "0072b2", "ffffff", "ff0000" }, seen)
  end)

  test("draws every primitive", function()
    local draws = {
      line = function(c) c:line(-1, 0, 1, 0, { linewidth = 20 }) end,
      polyline = function(c) c:polyline({ -1, 0, 1 }, { 0, 0, 0 }, { linewidth = 20, color = 1 }) end,
      polygon = function(c) c:polygon({ { -1, -1 }, { 1, -1 }, { 0, 2 } }, { fill = 1 }) end,
      circle = function(c) c:circle(0, 0, 1, { fill = 1 }) end,
      rectangle = function(c) c:rectangle(0, 0, 1, 1, { fill = 1, angle = 1 }) end,
      arc = function(c) c:arc(-1, 0, 1, -0.5, 0.5, { linewidth = 20 }) end,
      point = function(c) c:point(0, 0, { size = 30 }) end,
      text = function(c) c:text(0, 0, "█", { fontsize = 60, align = "center" }) end,
      arrow = function(c) c:arrow(-1, 0, 1, 0, { linewidth = 20 }) end,
      spring = function(c) c:spring(-1, 0, 1, 0, { linewidth = 30, size = 4 }) end,
      ground = function(c) c:ground(-1, 0, 1, 0, { linewidth = 20 }) end,
      trace = function(c, k) c:trace("a", k - 2, 0, { linewidth = 20 }) end,
    }
    local names, steps = {}, {}
    for name in pairs(draws) do names[#names + 1] = name end
    table.sort(names)
    ns.animation.interact { file = path, values = names, xlim = { -2, 2 }, ylim = { -2, 2 }, draw = function(name, c, k)
      if name == "trace" then draws.trace(c, 1) else draws[name](c, k) end
    end }
    steps[1] = { size = wide }
    for i = 1, #names do
      steps[#steps + 1] = { eval = ("nslua.page.seek(nslua.page.scene.times[%d])"):format(i - 1) }
      steps[#steps + 1] = { eval = pixel }
    end
    local v = drive(steps)
    for i, name in ipairs(names) do
      if name ~= "trace" then assert.equal(255, v[2 * i][4], name) end
    end
    ns.animation { file = path, frames = 3, xlim = { -2, 2 }, ylim = { -2, 2 }, draw = function(k, c) draws.trace(c, k) end }
    v = drive { { size = wide }, pixel, { key = "End" }, pixel }
    assert.equal(0, v[1][4])
    assert.equal(255, v[2][4])
  end)

  test("of interact shows the values of a slider", function()
    ns.animation.interact { file = path, parameter = "step </output>", values = { 1, 5, "last" }, draw = function(value, c)
      c:text(0, 0, tostring(value))
    end }
    local label = "document.querySelector('output.time').textContent"
    local x, y = table.unpack(drive({ { size = wide }, middle:format ".scrub" })[1])
    local v = drive { { size = wide }, label, { key = "ArrowRight" }, label, { drag = { x, y, x + 2000, y } }, label }
    assert.same({ "step </output> = 1", "step </output> = 5", "step </output> = last" }, v)
  end)

  test("never runs what a text says", function()
    math.randomseed(3)
    local pieces = { "</script>", "<script>boom()</script>", "<img src=x onerror=boom()>", "'", '"', "\\", "\u{2028}", "\u{2029}",
      "<!--", "-->", "${boom()}", "`", "</title>", "\xff", "\0", "&lt;", "javascript:boom()", "a", "\n", "]]>", "</style>" }
    for _ = 1, 4 do
      local parts = {}
      for i = 1, 30 do parts[i] = pieces[math.random(#pieces)] end
      local text = table.concat(parts)
      ns.animation { file = path, title = text, frames = 2, unit = text, xlabel = text, ylabel = text, draw = function(k, c)
        c:text(0, 0, text)
        c:trace(text, k, 0)
      end, plot = { title = text, xlabel = text, panels = { { title = text, ylabel = text, { label = text, y = { 1, 2 } } } } } }
      local v = drive { { size = wide },
        "[document.scripts.length, document.images.length, document.styleSheets.length, document.body.childElementCount]",
        "document.querySelector('h1').textContent", "nslua.page.scene.texts[0]",
        "document.querySelector('.legend span').textContent" }
      assert.same({ 2, 0, 1, 3 }, v[1])
      local clean = require "nslua.web.html".utf8(text)
      for i = 2, 4 do assert.equal(clean, v[i]) end
    end
  end)

  describe("with plots", function()
    local t, y, z = {}, {}, {}
    for k = 1, 1001 do t[k], y[k], z[k] = (k - 1) / 100, math.sin(k / 50), k // 100 end
    local function plot()
      ns.animation.timeplot { file = path, t = t, panels = { { { label = "y", y = y }, { label = "z", y = z, step = true } },
        { { label = "2 y", y = y } } } }
    end
    local view, shown = "nslua.page.plot.view", "Array.from(document.querySelectorAll('.legend output'), o => o.textContent)"

    test("zooms with the wheel about the pointer, and back", function()
      plot()
      local time = "nslua.page.plot.timeAt(nslua.page.plot.panels[0], { clientX: 600 })"
      local v = drive { { size = wide }, time, { wheel = { 600, 200, -240 } }, view, time, { key = "Home" }, view,
        { drag = { 400, 200, 800, 200 } }, view, "document.querySelector('button.text').hidden",
        { drag = { 400, 200, 600, 200 }, shift = true }, view, { wheel = { 600, 200, 5000 } }, { wheel = { 600, 200, 5000 } },
        { wheel = { 600, 200, 5000 } }, { wheel = { 600, 200, 5000 } }, { wheel = { 600, 200, 5000 } }, view }
      assert.near(v[1], v[3], 1e-9)
      assert.is_true(v[2][2] - v[2][1] < 7 and v[2][1] < v[1] and v[1] < v[2][2])
      assert.same({ 0, 10 }, v[4])
      local length = v[5][2] - v[5][1]
      assert.is_true(length > 2 and length < 3.5)
      assert.is_false(v[6])
      assert.near(length, v[7][2] - v[7][1], 1e-9)
      assert.is_true(v[7][1] < v[5][1])
      assert.same({ 0, 10 }, v[8])
    end)

    test("tells values under the pointer, of the nearest sample", function()
      plot()
      local v = drive { { size = wide }, shown, { move = { 800, 200 } }, shown, "nslua.page.plot.cursor",
        { move = { 800, 5 } }, shown }
      assert.same({ "", "", "" }, v[1])
      local k = math.floor(v[3] * 100 + 0.5) + 1
      local expected = ("%.5f"):format(y[k]):gsub("-", "−")
      assert.equal(expected:sub(1, 6), v[2][1]:sub(1, #expected:sub(1, 6)))
      assert.equal(z[math.floor(v[3] * 100) + 1], tonumber(v[2][2]))
      assert.same({ "", "", "" }, v[4])
    end)

    test("tells the multiplier that holds up to the row behind the pointer", function()
      local simu = require "bind.models".relay(0.1)
      local sol = simu:run()
      sol:html { file = path, panels = { { "lambda1" } } }
      local first, last = 0.75 * sol.t[3] + 0.25 * sol.t[4], 0.25 * sol.t[3] + 0.75 * sol.t[4]
      local v = drive { { size = wide }, ("nslua.page.plot.nearest(nslua.page.plot.panels[0].series[0], %g)"):format(first),
        ("nslua.page.plot.nearest(nslua.page.plot.panels[0].series[0], %g)"):format(last),
        ("nslua.page.plot.nearest(nslua.page.plot.panels[0].series[0], %.17g)"):format(sol.t[3]),
        "nslua.page.plot.nearest(nslua.page.plot.panels[0].series[0], 1e9)" }
      assert.same({ 3, 3, 2, #sol - 1 }, v)
    end)

    test("hides and shows a curve by its legend", function()
      plot()
      local at = drive({ { size = wide }, middle:format ".legend:nth-of-type(2)" })[1]
      local range = "nslua.page.plot.range(nslua.page.plot.panels[0])[1]"
      local v = drive { { size = wide }, range, { click = at }, range,
        "document.querySelectorAll('.legend')[1].getAttribute('aria-pressed')", { click = at }, range }
      assert.is_true(v[1] > 10)
      assert.is_true(v[2] < 1.2)
      assert.equal("false", v[3])
      assert.equal(v[1], v[4])
    end)

    test("zooms by two fingers, moves by one, on a phone that has room for it", function()
      plot()
      local v = drive { { size = phone, touch = true, dark = true }, { tap = { 200, 200 } }, shown,
        { pinch = { 200, 200, 60, 240 } }, view, "document.documentElement.scrollWidth <= innerWidth" }
      assert.is_true(v[1][1] ~= "")
      assert.is_true(v[2][2] - v[2][1] < 4 and v[2][2] - v[2][1] > 1.5)
      assert.is_true(v[3])
    end)

    test("moves the time of an animation that they stand beside", function()
      spin { plot = { t = t, panels = { { { label = "y", y = y } } } } }
      local x, y_ = table.unpack(drive({ { size = wide }, middle:format ".panel canvas" })[1])
      local v = drive { { size = wide }, { click = { x, y_ } }, player .. "time", player .. "plot.cursor", { key = "Home" },
        player .. "plot.cursor" }
      assert.is_true(v[1] > 3)
      assert.equal(v[1], v[2])
      assert.equal(0, v[3])
    end)

    -- Where panels are on the page, and what a panel has: the numbers on its axis.
    local heights = "Array.from(document.querySelectorAll('.panel'), p => Math.round(p.getBoundingClientRect().height))"
    local labels = [[nslua.page.plot.panels.map((p) => { const plot = nslua.page.plot, [a, b] = plot.range(p);
      return nslua.scale(a, b, p.box.bottom - p.box.top, 36, () => 8).labels; })]]

    test("have at least two ticks, tell offsets, and keep labels inside the canvas", function()
      local n = 200
      local s = ns.linspace(0, 1, n)
      local function wave(offset, size) return s:map(function(x) return offset + size * math.sin(20 * x) end) end
      local panels = { { { y = wave(1e6, 1e-3) } }, { { y = wave(0, 3e-9) } }, { { y = wave(0, 2.1e11) } }, { { y = wave(1, 0) } },
        { { y = wave(0.985, 0.012) } } }
      ns.animation.timeplot { file = path, t = s * 1e-3 + 12345, panels = panels }
      -- every text that a canvas gets, with its box
      local watch = [[(() => { const old = CanvasRenderingContext2D.prototype.fillText; window.boxes = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          const w = this.measureText(text).width, at = this.textAlign;
          const left = at === "right" ? x - w : at === "center" ? x - w / 2 : x;
          if (text) boxes.push([left, left + w, this.canvas.clientWidth, y, text]);
          return old.apply(this, arguments); };
        nslua.page.plot.repaint(); return new Promise(r => setTimeout(() => r(0), 100)); })()]]
      local outside = "boxes.filter(([left, right, width]) => left < 0 || right > width).map((b) => b[4])"
      local offset = "document.querySelector('.offset').textContent"
      local v = drive { { size = phone, touch = true }, labels, watch, outside, "boxes.length", offset,
        { size = wide }, labels, watch, outside }
      for _, list in ipairs { v[1], v[6] } do
        for i = 1, 5 do assert.is_true(#list[i] >= 2, i) end
      end
      assert.same({ "−0.001", "0", "0.001" }, v[1][1])
      assert.same({}, v[3])
      assert.is_true(v[4] > 15)
      assert.equal("+12345", v[5])
      assert.same({}, v[8])
    end)

    test("do not move when values come into the legend", function()
      local names = {}
      for i = 1, 5 do names[i] = { label = "the speed of wheel " .. i, y = y } end
      ns.animation.timeplot { file = path, t = t, panels = { names, names } }
      local v = drive { { size = phone, touch = true }, heights, { tap = { 200, 300 } }, shown, heights,
        "document.querySelector('.panel canvas').clientHeight" }
      assert.is_true(v[2][1] ~= "")
      assert.same(v[1], v[3])
      assert.is_true(v[4] >= 70) -- a legend of many lines leaves room for the curves
    end)

    test("draw steep curves with their slope and their peaks", function()
      local n = 50000
      local s = ns.linspace(0, 1, n)
      local steep = s:map(function(x) return 2 / (1 + math.exp((0.5 - x) * 600)) - 1 end)
      ns.animation.timeplot { file = path, t = s, points = math.huge, panels = { { { label = "y", y = steep } } } }
      -- kept samples are samples, in their order, with the largest and the least of each column of pixels
      local v = drive { { size = phone, touch = true }, [=[(() => {
        const plot = nslua.page.plot, s = plot.panels[0].series[0], list = plot.kept(s, 500), columns = new Map();
        const column = (k) => Math.floor(s.t[k] * 500);
        for (let k = 0; k < s.y.length; k++) { const c = columns.get(column(k)) ?? [Infinity, -Infinity];
          columns.set(column(k), [Math.min(c[0], s.y[k]), Math.max(c[1], s.y[k])]); }
        const kept = new Map();
        for (const k of list) { const c = kept.get(column(k)) ?? [Infinity, -Infinity];
          kept.set(column(k), [Math.min(c[0], s.y[k]), Math.max(c[1], s.y[k])]); }
        let same = columns.size === kept.size;
        for (const [c, [a, b]] of columns) same &&= kept.get(c)[0] === a && kept.get(c)[1] === b;
        const rises = list.every((k, i) => i === 0 || k > list[i - 1]);
        return [same, rises, list.length, list[0], list[list.length - 1]]; })()]=] }
      assert.is_true(v[1][1])
      assert.is_true(v[1][2])
      assert.is_true(v[1][3] <= 4 * 501)
      assert.same({ 0, n - 1 }, { v[1][4], v[1][5] })
    end)

    test("show many samples with their peaks", function()
      local long, peaks = {}, {}
      for k = 1, 100000 do long[k], peaks[k] = k, k == 70000 and 1000 or 0 end
      ns.animation.timeplot { file = path, t = long, panels = { { { label = "peak", y = peaks, color = "#ff0000" } } } }
      local v = drive { { size = wide }, [[(() => {
        const c = document.querySelector(".panel canvas"), p = nslua.page.plot.panels[0];
        const x = p.box.left + 0.7 * (p.box.right - p.box.left), y = (p.box.top + p.box.bottom) / 2;
        const d = c.getContext("2d").getImageData(x - 3, y, 6, 1).data;
        for (let i = 0; i < d.length; i += 4) if (d[i] > 200 && d[i + 1] < 60) return "red";
        return "none"; })()]] }
      assert.equal("red", v[1])
    end)
  end)

  -- Whether this build has KaTeX.
  local formulas = require "nslua.web.formulas"
  local function test_formulas(name, f)
    if formulas.version() then test(name, f) else pending(name .. " (needs libjs-katex, which is not installed)") end
  end

  -- Formulas of a page: how many there are, and whether a formula's font is one of the page.
  local drawn = "document.querySelectorAll('.katex').length"
  local font = "document.fonts.ready.then(() => document.fonts.check('16px KaTeX_Math'))"

  test_formulas("shows formulas of titles, legends, axes and texts, from fonts inside the page", function()
    ns.animation { file = path, frames = 3, title = "$\\dot q_1$ & <b>", xlabel = "$x$", axes = true, xlim = { -2, 2 },
      ylim = { -2, 2 }, draw = function(k, c) c:text(0, 0, "$m_" .. k .. "$ here", { align = "center" }) end,
      plot = { xlabel = "$t$", panels = { { ylabel = "$y$", { label = "$y_1$", y = { 1, 2, 3 } } } } } }
    local v, summary = chromium.drive(path, { { size = phone, touch = true }, { eval = drawn }, { eval = font },
      { eval = "document.querySelector('h1').textContent.endsWith(' & <b>')" },
      { eval = "document.querySelector('.formulas').textContent" }, { key = "End" }, { eval = drawn },
      { eval = "document.documentElement.scrollWidth <= innerWidth" } })
    assert.same({ 6, true, true }, { v[1], v[2], v[3] })
    assert.matches("here", v[4])
    assert.same({ 6, true }, { v[5], v[6] })
    assert.same({}, summary.errors)
    for _, address in ipairs(summary.outside) do assert.matches("^data:font/woff2", address) end
  end)

  test_formulas("puts formulas with the point of their alignment at their place", function()
    ns.animation { file = path, frames = 2, draw = function(_, c) c:text(0, 0, "$x$") end }
    local places = [[(() => { const stage = document.body.appendChild(document.createElement("div"));
      stage.style = "position: absolute; left: 0; top: 0"; stage.className = "stage";
      const f = new nslua.Formulas(stage), list = [];
      const put = (align, valign, turned) => { f.begin();
        f.put("$x + y$", 300, 200, { size: 20, colour: "red", align, valign, turned, alpha: 1 }); f.end();
        const r = f.spans[0].getBoundingClientRect(), o = f.layer.getBoundingClientRect();
        list.push(Math.round(4 * (r.left - o.left - 300) / r.width) + 0, Math.round(4 * (r.top - o.top - 200) / r.height) + 0); };
      put("left", "top", false); put("center", "middle", false); put("right", "bottom", false);
      put("left", "top", true); put("right", "bottom", true);
      return list; })()]]
    assert.same({ 0, 0, -2, -2, -4, -4, 0, -4, -4, 0 }, chromium.drive(path, { { size = wide }, { eval = places } })[1])
  end)

  test("chooses ticks and writes numbers with these digits", function()
    ns.animation.timeplot { file = path, t = { 0, 1 }, panels = { { { y = { 0, 1 } } } } }
    local v = drive { { size = wide }, "[nslua.ticks(0, 10, 5).values, nslua.ticks(-0.3, 0.31, 4).values]",
      "[[0.001, 1e-4], [0.00099, 1e-5], [999999, 1], [1e6, 1], [-2.5, 0.5], [1e-7, 0.1], [0.009, 5e-5], [0.011, 5e-5]]"
        .. ".map((a) => nslua.label(...a))",
      "[[100, 101], [1e4, 1e4 + 0.9], [1e4, 1e4 + 1.1], [1e9, 1e9 + 5], [-1e6, -1e6 + 1]]"
        .. ".map((a) => nslua.offsetText(nslua.offset(...a)))",
      "[91, 89].map((w) => nslua.scale(0, 10, 500, 80, () => w).values)", -- a tick's room is 100 pixels: 10 stay free
      "nslua.scale(0, 1.1, 60, 80, () => 10).values",
      "[NaN, 0, 123456, 999999, 1234567, 1e-4, 9.9e-5, 3.14159265, -0.00123456].map((x) => nslua.value(x))" }
    assert.same({ { { 0, 2, 4, 6, 8, 10 }, { -0.2, 0, 0.2 } },
      { "0.0010", "9.9e−4", "999999", "1e6", "−2.5", "0.0", "9e−3", "0.01100" },
      { "", "+10000", "", "+1000000000", "−1000000" }, { { 0, 5, 10 }, { 0, 2, 4, 6, 8, 10 } }, { 0, 1 },
      { "–", "0.0000", "123456", "999999", "1.2346e+6", "0.00010000", "9.9000e−5", "3.1416", "−0.0012346" } }, v)
  end)

  test("shows the source of a formula that it cannot read", function()
    ns.animation.timeplot { file = path, t = { 0, 1 }, title = "$\\frac{1$", panels = { { { y = { 0, 1 } } } } }
    local v = chromium.drive(path, { { size = wide }, { eval = "document.querySelector('h1').textContent" }, { eval = drawn } })
    assert.same({ "$\\frac{1$", 0 }, v)
  end)
end)
