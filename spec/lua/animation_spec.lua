-- ns.animation, interact and sol:animate: frames, times, options, messages, the file. The page itself: pages_spec.
local host = require "host"
local ns = require "nslua"
local page = require "page"
local models = require "bind.models"
local message = models.message

local function circle(k, c) c:circle(k, 0, 1) end

describe("ns.animation", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function record_of(animation) return page.read(animation:html()) end

  it("draws each frame once, in order, behind them the background", function()
    local seen = {}
    local animation = ns.animation { frames = 4, fps = 10, title = "Four",
      background = function(c) c:ground(0, 0, 5, 0) end,
      draw = function(k, c, i)
        seen[#seen + 1] = k
        assert.equal(k, i)
        circle(k, c)
      end }
    assert.same({ 1, 2, 3, 4 }, seen)
    local record, title = record_of(animation)
    assert.equal("Four", title)
    assert.equal("ground", page.frame(record, 0)[1].op.kind)
    for k = 1, 4 do assert.same({ op = { kind = "circle" }, k, 0, 1 }, page.frame(record, k)[1]) end
    assert.same({ 0, 0.1, 0.2, 3 / 10 }, page.numbers(record.times))
    assert.equal("animation 'Four': 4 frames, 0 .. 0.3", tostring(animation))
  end)

  it("takes a list of frames and their times, vectors too", function()
    local record = record_of(ns.animation { frames = ns.vector { 5, 7 }, times = ns.vector { 1, 4 }, draw = circle })
    assert.same({ 1, 4 }, page.numbers(record.times))
    assert.equal(7, page.frame(record, 2)[1][1])
  end)

  it("writes one file, whole or not at all", function()
    local path = directory .. "/a.html"
    local animation = ns.animation { file = path, frames = 2, draw = circle }
    assert.equal(animation:html(), host.read(path))
    assert.is_false((pcall(ns.animation, { file = path, frames = 2, draw = function() error "no" end })))
    assert.equal(animation:html(), host.read(path))
    assert.equal(animation, animation:save(directory .. "/b.htm"))
    assert.equal("a.html b.htm", host.list(directory))
  end)

  it("is the same for the same frames, to the byte", function()
    local function make()
      return ns.animation { frames = 20, draw = function(k, c)
        c:circle(k, math.sin(k), 1, { fill = k % 3 + 1, alpha = 0.5, color = "ink" })
        c:text(k, 0, "t" .. k)
      end }:html()
    end
    assert.equal(make(), make())
  end)

  it("has limits, aspect and axes as they are asked for", function()
    local record = record_of(ns.animation { frames = 1, draw = circle, xlim = { -3, 4 }, xlabel = "x" })
    assert.same({ -3, 4 }, { record.world.bounds[1], record.world.bounds[2] })
    assert.is_true(record.world.axes and record.world.equal)
    record = record_of(ns.animation { frames = 1, draw = circle, aspect = "free" })
    assert.is_true(record.world.axes and not record.world.equal)
    assert.is_false(record_of(ns.animation { frames = 1, draw = circle }).world.axes)
  end)

  it("names what is wrong", function()
    local function refused(expected, spec) assert.equal(expected, message(ns.animation, spec)) end
    refused("animation: expected a table of options, got 3", 3)
    assert.matches("^animation: unknown option 'fame' %(known: file, title, draw, .*frames, times, unit, plot%)$",
      message(ns.animation, { fame = 1 }))
    refused("animation: frames: expected a positive integer or a list that is not empty, got nil", { draw = circle })
    refused("animation: frames: expected a positive integer or a list that is not empty, got 0", { frames = 0, draw = circle })
    refused("animation: draw: expected a function, got nil", { frames = 2 })
    refused("animation: background: expected a function, got 1", { frames = 2, draw = circle, background = 1 })
    refused("animation: times: expected a list of 2 numbers, one for each frame, got 1",
      { frames = 2, draw = circle, times = { 1 } })
    refused("animation: times: expected numbers that do not decrease, got 1 after 2",
      { frames = 2, draw = circle, times = { 2, 1 } })
    refused("animation: times[2]: expected a finite number, got inf", { frames = 2, draw = circle, times = { 2, math.huge } })
    refused("animation: fps: expected a positive number, got 0", { frames = 2, draw = circle, fps = 0 })
    refused("animation: speed: expected a number, got 'x'", { frames = 2, draw = circle, speed = "x" })
    refused("animation: loop: expected a boolean, got 1", { frames = 2, draw = circle, loop = 1 })
    refused("animation: title: expected a string, got 1", { frames = 2, draw = circle, title = 1 })
    refused("animation: xlim: expected two numbers, {low, high}, got table", { frames = 2, draw = circle, xlim = { 1 } })
    refused("animation: ylim: expected low below high, got 2, 2", { frames = 2, draw = circle, ylim = { 2, 2 } })
    refused("animation: aspect: expected one of equal, free, got 'x'", { frames = 2, draw = circle, aspect = "x" })
    refused("animation: file: expected a string, got 1", { frames = 2, draw = circle, file = 1 })
    refused("animation: file: 'a.png': expected a name that ends in .html, .gif or .mp4",
      { frames = 2, draw = error, file = "a.png" })
    assert.matches("^cannot write '/nonexistent/a.html': No such file or directory$",
      message(ns.animation, { frames = 2, draw = circle, file = "/nonexistent/a.html" }))
  end)

  it("says in which frame draw failed, and passes on what is no text", function()
    assert.matches("^animation: draw at frame 3: .*animation_spec.lua:%d+: too far$",
      message(ns.animation, { frames = 5, draw = function(k) if k == 3 then error "too far" end end }))
    assert.equal("animation: draw at frame 1: circle: r: expected a finite number, got nil",
      message(ns.animation, { frames = 5, draw = function(_, c) c:circle(0, 0) end }))
    assert.matches("^animation: background: .*: no ground$",
      message(ns.animation, { frames = 1, draw = circle, background = function() error "no ground" end }))
    local thrown = {}
    local _, caught = pcall(ns.animation, { frames = 1, draw = function() error(thrown) end })
    assert.equal(thrown, caught)
  end)
end)

describe("ns.animation.interact", function()
  it("has a picture for each value, and its name", function()
    local animation = ns.animation.interact { parameter = "e", values = { 0.5, 1, "none" },
      draw = function(value, c) c:text(0, 0, tostring(value)) end }
    local record = page.read(animation:html())
    assert.equal("e", record.parameter)
    assert.same({ "0.5", "1", "none" }, record.values)
    assert.same({ "0.5", "1", "none" }, record.texts)
    assert.is_false(record.interpolate)
  end)

  it("names what is wrong", function()
    assert.equal("interact: values: expected a list that is not empty, got nil", message(ns.animation.interact, { draw = circle }))
    assert.equal("interact: parameter: expected a string, got 1",
      message(ns.animation.interact, { draw = circle, values = { 1 }, parameter = 1 }))
    assert.matches("^interact: unknown option 'frames' %(known: ", message(ns.animation.interact, { frames = 3 }))
  end)
end)

describe("sol:animate", function()
  local simu, _, ds = models.relay(0.1)
  ds:setNames { "position", "speed" }
  local sol = simu:run()

  it("draws rows of a solution with their columns by name", function()
    local animation = sol:animate { fps = 1000, draw = function(s, c)
      assert.equal(sol.t[s.k], s.t)
      assert.equal(sol.lambda1[s.k], s.lambda1)
      assert.equal(sol.x[s.k][2], s.x[2])
      assert.is_nil(s.nothing)
      c:point(s.position, s.speed)
    end }
    local record = page.read(animation:html())
    local times = page.numbers(record.times)
    assert.equal(#sol, #times)
    for k = 1, #sol do
      assert.equal(sol.t[k], times[k])
      assert.near(sol.position[k], page.frame(record, k)[1][1], 1e-6)
    end
  end)

  -- Nearest: no row lies nearer to a time of a picture than the row that stands for it.
  it("takes the rows that are nearest to the times of the pictures, the first and the last", function()
    for _, fps in ipairs { 1, 10, 30, 70, 97, 330 } do
      local rows = {}
      sol:animate { fps = fps, draw = function(s) rows[#rows + 1] = s.k end }
      assert.equal(1, rows[1])
      assert.equal(#sol, rows[#rows])
      local taken = {}
      for i, k in ipairs(rows) do
        taken[k] = true
        assert.is_true(i == 1 or k > rows[i - 1])
      end
      for i = 0, math.floor(sol.t[#sol] * fps - 1e-9) do
        local best, chosen = math.huge, math.huge
        for k = 1, #sol do
          local off = math.abs(sol.t[k] - i / fps)
          best = math.min(best, off)
          if taken[k] then chosen = math.min(chosen, off) end
        end
        assert.near(best, chosen, 1e-12)
      end
      assert.is_true(#rows <= sol.t[#sol] * fps + 2)
    end
  end)

  it("takes the rows that it is told", function()
    local rows = {}
    sol:animate { rows = { 2, 5 }, draw = function(s) rows[#rows + 1] = s.k end }
    assert.same({ 2, 5 }, rows)
    assert.equal("animate: rows[2]: expected an integer from 1 to 11, got 12",
      message(sol.animate, sol, { rows = { 1, 12 }, draw = circle }))
    assert.equal("animate: rows: expected a list that is not empty, got table",
      message(sol.animate, sol, { rows = {}, draw = circle }))
    assert.equal("animate: times: expected numbers that do not decrease, got 0.01 after 0.04",
      message(sol.animate, sol, { rows = { 5, 2 }, draw = circle }))
  end)

  it("stands beside a plot of the solution", function()
    local record = page.read(sol:animate { draw = function(_, c) c:point(0, 0) end,
      plot = { panels = { { "speed" } } } }:html())
    assert.equal("speed", record.plot.panels[1].series[1].name)
    local y = page.numbers(record.plot.panels[1].series[1].y)
    for k = 1, #sol do assert.equal(sol.speed[k], y[k]) end
    assert.equal(4, #page.read(sol:animate { draw = function() end, plot = true }:html()).plot.panels)
  end)

  it("names what is wrong", function()
    assert.matches("^animate: unknown option 'frames' %(known: ", message(sol.animate, sol, { frames = 3 }))
    assert.equal("setNames: names[1]: 'animate' is a method of solutions; choose another, such as 'animate_1'",
      message(ds.setNames, ds, { "animate", "b" }))
    assert.equal("setNames: names[2]: 'html' is a method of solutions; choose another, such as 'html_2'",
      message(ds.setNames, ds, { "a", "html" }))
    local closed = models.relay(0.1):run()
    local animate = closed.animate
    closed:close()
    assert.matches("close", message(animate, closed, { draw = circle }))
    assert.is_false((pcall(animate, 3, { draw = circle })))
  end)
end)
