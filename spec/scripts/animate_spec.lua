-- --animate of the scripts: what is drawn obeys the laws of the system.
local chromium = require "chromium"
local host = require "host"
local motion = require "motion"
local page = require "page"
local three = require "nslua.web.three"

describe("--animate", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function()
    chromium.close()
    host.remove(directory)
  end)

  -- Runs the script; gives the record of its page and the path.
  local function animate(name, arguments)
    local path = ("%s/%s.html"):format(directory, name)
    local out, err, status = host.nslua_run(("scripts/%s.lua %s --animate %s"):format(name, arguments, path))
    assert.equal("", err)
    assert.equal(0, status)
    assert.truthy(out:find("\nwritten: an animation of %d+ frames to " .. path:gsub("%p", "%%%0") .. "\n$"))
    return page.read(host.read(path)), path
  end

  -- All frames of a record, with their times.
  local function frames(record)
    local times, list = page.numbers(record.times), {}
    for k = 1, #times do list[k] = page.frame(record, k) end
    return list, times
  end

  local function of_kind(frame, kind)
    local list = {}
    for _, item in ipairs(frame) do
      if item.op.kind == kind then list[#list + 1] = item end
    end
    return list
  end

  -- The page opens without an error, plays, and asks for nothing.
  local function opens(path)
    if chromium.missing then return end
    local values, summary = chromium.drive(path, {
      { size = { 390, 844, 2 }, touch = true }, { eval = "document.documentElement.scrollWidth <= innerWidth" },
      { size = { 1600, 900, 1 } }, { key = " " }, { wait = 0.3 }, { eval = "nslua.page.time > nslua.page.start" },
    })
    assert.same({ true, true }, values)
    assert.same({ files = 1, outside = {}, errors = {} }, summary)
  end

  it("of a link on a pin: of constant length about the pin, its centre in the middle, a ceiling above it", function()
    local record, path = animate("pinned_link", "--points 51")
    local list = frames(record)
    assert.equal(51, #list)
    local lowest = 0
    for _, frame in ipairs(list) do
      local x1, y1, x2, y2 = table.unpack(of_kind(frame, "line")[1])
      assert.same({ 0, 0 }, { x1, y1 })
      assert.near(1, math.sqrt(x2 ^ 2 + y2 ^ 2), 1e-6)
      local x, y = table.unpack(of_kind(frame, "point")[1])
      assert.near(x2 / 2, x, 1e-6)
      assert.near(y2 / 2, y, 1e-6)
      lowest = math.min(lowest, y2)
    end
    assert.is_true(lowest < -0.98)
    opens(path)
  end)

  it("of the four-bar linkage: bars of constant length that hang together", function()
    local record, path = animate("four_bar", "--T 4 --points 101")
    local list, times = frames(record)
    assert.equal(101, #list)
    assert.near(4, times[101], 1e-12)
    for _, frame in ipairs(list) do
      local bars = of_kind(frame, "line")
      for i, length in ipairs { 0.8, 2, 1 } do
        local x1, y1, x2, y2 = table.unpack(bars[i])
        assert.near(length, math.sqrt((x2 - x1) ^ 2 + (y2 - y1) ^ 2), 1e-6)
        local before = bars[i - 1] or { 0, 0, 0, 0 }
        assert.near(before[3], x1, 1e-12)
        assert.near(before[4], y1, 1e-12)
      end
      assert.same({ 2, 0 }, { bars[3][3], bars[3][4] })
      assert.equal("coupler", of_kind(frame, "trace")[1].op.name)
    end
    opens(path)
  end)

  it("of the bouncing ball: above the floor, as high as the run says", function()
    local record, path = animate("bouncing_ball", "--e 0.5 --T 3 --h 1e-3")
    local list, times = frames(record)
    local q = page.numbers(record.plot.panels[1].series[1].y)
    for k, frame in ipairs(list) do
      local ball = of_kind(frame, "circle")[1]
      assert.near(q[k], ball[2] - ball[3], 1e-6)
      assert.is_true(q[k] > -5e-3)
      if times[k] < 0.45 then assert.near(1 - 9.81 / 2 * times[k] ^ 2, q[k], 2e-3) end
    end
    assert.near(3, times[#times], 1 / 60)
    opens(path)
  end)

  it("of the disks: in the box, and not into each other", function()
    local record, path = animate("disks_in_a_box", "--n 12 --T 0.6")
    local list = frames(record)
    local bound = 2 * 2e-3 * math.sqrt(2 * 9.81 * 0.33)
    for _, frame in ipairs(list) do
      local disks = of_kind(frame, "circle")
      assert.equal(12, #disks)
      for i, a in ipairs(disks) do
        assert.is_true(a[2] - a[3] > -bound and a[1] - a[3] > -bound and a[1] + a[3] < 4.5 * 0.11 + bound)
        for j = 1, i - 1 do
          local b = disks[j]
          assert.is_true(math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2) > a[3] + b[3] - bound)
        end
      end
    end
    opens(path)
  end)

  it("of the pendulum: on its rod, not behind the wall", function()
    local record, path = animate("pendulum", "--T 2")
    local list, times = frames(record)
    assert.near(121, #list, 1)
    local closest = 1
    for k, frame in ipairs(list) do
      local _, _, x, y = table.unpack(of_kind(frame, "line")[1])
      assert.near(1, math.sqrt(x ^ 2 + y ^ 2), 1e-6)
      assert.is_true(x > -1e-2)
      closest = math.min(closest, x)
      assert.near((k - 1) / 60, times[k], 5e-4)
    end
    assert.is_true(closest < 0.05)
    opens(path)
  end)

  it("of the double pendulum: two rods that hang together, right of the wall", function()
    local record, path = animate("double_pendulum", "--T 1")
    for _, frame in ipairs((frames(record))) do
      local rods = of_kind(frame, "line")
      for i, length in ipairs { 1, 0.8 } do
        local x1, y1, x2, y2 = table.unpack(rods[i])
        assert.near(length, math.sqrt((x2 - x1) ^ 2 + (y2 - y1) ^ 2), 1e-6)
      end
      assert.same({ rods[1][3], rods[1][4] }, { rods[2][1], rods[2][2] })
      assert.is_true(rods[2][3] > -0.4 - 1e-2)
    end
    opens(path)
  end)

  it("of the beads: in their order, and not into each other", function()
    local record, path = animate("newtons_cradle", "")
    local list = frames(record)
    for _, frame in ipairs(list) do
      local beads = of_kind(frame, "circle")
      for i = 2, 5 do assert.is_true(beads[i][1] - beads[i - 1][1] > 0.1 - 2e-3) end
    end
    assert.is_true(of_kind(list[#list], "circle")[5][1] > 0.5)
    opens(path)
  end)

  -- The corners of a rectangle (x, y, width, height, angle).
  local function corners(box)
    local list, c, s = {}, math.cos(box[5]), math.sin(box[5])
    for i, at in ipairs { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } } do
      local a, b = at[1] * box[3] / 2, at[2] * box[4] / 2
      list[i] = { box[1] + c * a - s * b, box[2] + s * a + c * b }
    end
    return list
  end

  it("of the block: above the floor with all its corners, which it touches", function()
    local record, path = animate("rocking_block", "--h 1e-3 --T 1.2")
    local lowest = 1
    for _, frame in ipairs((frames(record))) do
      for _, corner in ipairs(corners(of_kind(frame, "rectangle")[1])) do
        assert.is_true(corner[2] > -0.01)
        lowest = math.min(lowest, corner[2])
      end
    end
    assert.near(0, lowest, 0.01)
    opens(path)
  end)

  it("of the box: on the slope, while it slides and while it tips", function()
    for _, arguments in ipairs { "--alpha 25 --push 1", "--alpha 25 --mu 2 --c 3 --T 0.8" } do
      local record, path = animate("box_on_slope", arguments)
      local sin, cos = math.sin(math.rad(25)), math.cos(math.rad(25))
      for _, frame in ipairs((frames(record))) do
        local least = 1
        for _, p in ipairs(corners(of_kind(frame, "rectangle")[1])) do least = math.min(least, p[1] * sin + p[2] * cos) end
        assert.near(0, least, 5e-3)
      end
      opens(path)
    end
  end)

  it("of the slider-crank: bars of constant length, the slider within its clearance", function()
    local record, path = animate("slider_crank", "--T 0.02 --q3 0.01")
    local pressed = 0
    for _, frame in ipairs((frames(record))) do
      local bars, points = of_kind(frame, "line"), of_kind(frame, "point")
      for i, length in ipairs { 0.153, 0.306 } do
        local x1, y1, x2, y2 = table.unpack(bars[i])
        assert.near(length, math.sqrt((x2 - x1) ^ 2 + (y2 - y1) ^ 2), 1e-6)
      end
      for _, p in ipairs(corners(of_kind(frame, "rectangle")[1])) do assert.is_true(math.abs(p[2]) < 0.026 + 2e-5) end
      for i = 4, #points do -- the marks of corners that are pressed stand at a wall
        pressed = pressed + 1
        assert.near(0.026, math.abs(points[i][2]), 2e-5)
      end
    end
    assert.is_true(pressed > 5)
    opens(path)
  end)

  it("of the block on the belt: the spring ends at the block", function()
    local record, path = animate("stick_slip", "--h 5e-3")
    local list, times = frames(record)
    for k, frame in ipairs(list) do
      local spring, block = of_kind(frame, "spring")[1], of_kind(frame, "rectangle")[1]
      assert.near(block[1] - block[3] / 2, spring[3], 1e-6)
      if times[k] < 0.48 then assert.near(0.1 * times[k], block[1], 1e-6) end -- it sticks
    end
    opens(path)
  end)

  it("of the carts: not into each other, nor into the wall", function()
    local record, path = animate("hard_stop", "--T 4")
    for _, frame in ipairs((frames(record))) do
      local one, two = table.unpack(of_kind(frame, "rectangle"))
      assert.is_true(one[1] - one[3] / 2 > -1e-6)
      assert.is_true(two[1] - two[3] / 2 >= one[1] + one[3] / 2 - 1e-6)
    end
    opens(path)
  end)

  it("of the woodpecker: bird and sleeve on a spring, marks that go up as it goes down", function()
    local record, path = animate("woodpecker", "--T 0.3")
    local list = frames(record)
    for k, frame in ipairs(list) do
      local spring, marks = of_kind(frame, "spring")[1], of_kind(frame, "line")
      local a = math.atan(spring[2], spring[1])
      assert.near(10, math.sqrt(spring[1] ^ 2 + spring[2] ^ 2), 1e-4)
      assert.near(15, math.sqrt((spring[3] - spring[1]) ^ 2 + (spring[4] - spring[2]) ^ 2), 1e-4)
      assert.is_true(math.abs(a) <= 0.11)
      local down = page.numbers(record.plot.panels[1].series[1].y)
      assert.is_true(marks[1][2] >= -40 and marks[1][2] < -30 and down[k] < 1)
    end
    opens(path)
  end)

  for _, mode in ipairs { "engage", "disengage" } do
    it("of the clutch: lambda where the graph meets the law, mode " .. mode, function()
      local record, path = animate("clutch", "--h 0.5 --theta 0.5 --mode " .. mode)
      assert.equal("step", record.parameter)
      assert.equal(40, #record.values)
      for k = 1, 40 do
        local frame = page.frame(record, k)
        local line, point = of_kind(frame, "line")[1], of_kind(frame, "point")[1]
        local lambda, y = point[1], point[2]
        local share = (lambda - line[1]) / (line[3] - line[1])
        assert.near(line[2] + share * (line[4] - line[2]), y, 1e-5)
        assert.is_true(lambda >= 0 and lambda <= 1)
        if y > 1e-5 then assert.equal(0, lambda) elseif y < -1e-5 then assert.equal(1, lambda) end
      end
      opens(path)
    end)
  end

  it("that can not be written is told, with status 1", function()
    local _, err, status = host.nslua_run "scripts/clutch.lua --h 1 --animate /nonexistent/a.html"
    assert.matches("cannot write '/nonexistent/a.html': No such file or directory", err, 1, true)
    assert.equal(1, status)
    _, err, status = host.nslua_run "scripts/clutch.lua --h 1 --animate a.txt"
    assert.matches("--animate: expected a name that ends in .html, .gif or .mp4, got 'a.txt'", err, 1, true)
    assert.equal(1, status)
    _, err, status = host.nslua_run "scripts/four_bar.lua --method all --animate a.html"
    assert.matches("--animate goes with one method", err, 1, true)
    assert.equal(1, status)
  end)

  it("of the cart and its pole: between the stops, of constant length #once", function()
    local record, path = animate("cart_pole", "--T 3")
    for _, frame in ipairs((frames(record))) do
      local x1, y1, x2, y2 = table.unpack(of_kind(frame, "line")[1])
      assert.near(0.5, math.sqrt((x2 - x1) ^ 2 + (y2 - y1) ^ 2), 1e-6)
      assert.is_true(math.abs(x1) < 0.6 + 1e-6)
    end
    opens(path)
  end)

  it("of the hopper: the foot above the ground, the body above the foot #once", function()
    local record, path = animate("hopper", "--periods 10")
    local highest = 0
    for _, frame in ipairs((frames(record))) do
      local body, foot = table.unpack(of_kind(frame, "rectangle"))
      assert.is_true(foot[2] >= 0.02 - 1e-9 and body[2] > foot[2] + 0.2)
      highest = math.max(highest, foot[2])
    end
    assert.is_true(highest > 0.1)
    opens(path)
  end)

  it("of the tower, in space: boxes and the ball above the ground #once", function()
    if not three.script() then return pending(three.missing) end
    local record, path = animate("tower", "--n 2 --T 0.4")
    local bodies = motion.bodies(record, page)
    assert.equal(3, #bodies)
    local way = 2e-3 * 6 -- of the ball in a step: as deep may it land
    for k, body in ipairs(bodies) do
      local lowest = k < 3 and 0.2 or 0.24 - way
      for _, place in ipairs(body.positions) do assert.is_true(place[3] > lowest - 2 * record.quantum) end
    end
    opens(path)
  end)

  it("of sampled controllers: at the states of their runs #once", function()
    for name, count in pairs { sliding_mode = 2, twisting = 3, quarter_car = 3, thermostat = 1, boost_pi = 1 } do
      local short = name == "boost_pi" and "--periods 100" or name == "thermostat" and "--days 0.3" or "--T 4"
      local list, times = frames((animate(name, short)))
      assert.is_true(#list > 20 and times[#times] > times[1])
      local kind = (name == "quarter_car" or name == "thermostat") and "circle" or "point"
      for _, frame in ipairs(list) do assert.equal(count, #of_kind(frame, kind)) end
    end
  end)
end)
