-- Animations as GIF and MP4: how many pictures, what is on them, texts that would do harm, programs that are missing.
local host = require "host"
local ns = require "nslua"

local function has(program) return (host.run("command -v " .. program)) ~= "" end
local missing = not has "gnuplot" and "needs gnuplot, which is not installed"
  or not has "ffmpeg" and "needs ffmpeg, which is not installed" or nil

local function test(name, f)
  if missing then pending(("%s (%s)"):format(name, missing)) else it(name, f) end
end

-- Width, height, the number of pictures and their delays in 1/100 s, from the blocks of a GIF.
local function read_gif(bytes)
  assert.equal("GIF89a", bytes:sub(1, 6))
  local width, height, flags = string.unpack("<I2I2B", bytes, 7)
  local function table_size(bits) return bits & 128 ~= 0 and 3 * 2 ^ ((bits & 7) + 1) // 1 | 0 or 0 end
  local at, count, delays = 14 + table_size(flags), 0, {}
  local function skip_blocks()
    while bytes:byte(at) > 0 do at = at + 1 + bytes:byte(at) end
    at = at + 1
  end
  while bytes:byte(at) ~= 0x3b do
    if bytes:byte(at) == 0x21 then
      if bytes:byte(at + 1) == 0xf9 then delays[#delays + 1] = string.unpack("<I2", bytes, at + 4) end
      at = at + 2
    else
      assert.equal(0x2c, bytes:byte(at))
      count = count + 1
      at = at + 11 + table_size(bytes:byte(at + 9))
    end
    skip_blocks()
  end
  return width, height, count, delays
end

describe("a film", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  -- A square that goes from left to right in two seconds, in a world of 8 by 4.
  local function square(more)
    local spec = { frames = 41, fps = 20, xlim = { -4, 4 }, ylim = { -2, 2 }, title = "Square", draw = function(k, c)
      c:rectangle((k - 21) / 10, 0, 1, 1, { fill = "blue" })
    end }
    for key, value in pairs(more or {}) do spec[key] = value end
    return ns.animation(spec)
  end

  -- The pictures of a film as rows of red, green and blue bytes: a function of picture, x, y (from 0, y down).
  local function pixels(path, width, height)
    local out = host.run(("ffmpeg -v error -i %s -f rawvideo -pix_fmt rgb24 -"):format(path))
    local size = width * height * 3
    return function(k, x, y)
      return { out:byte((k - 1) * size + (y * width + x) * 3 + 1, (k - 1) * size + (y * width + x) * 3 + 3) }
    end, #out // size
  end

  local function near(expected, got, by)
    for i = 1, 3 do assert.near(expected[i], got[i], by) end
  end

  -- Where the square is on each picture: blue at its place, paper beside it.
  local function look(path, count, fps)
    local at, pictures = pixels(path, 320, 200)
    assert.equal(count, pictures)
    for k = 1, count do
      local x = math.floor(160 + 308 / 8 * math.min((k - 1) / fps * 2 - 2, 2) + 0.5)
      near({ 0, 0x72, 0xb2 }, at(k, x, 115), 40)
      near({ 255, 255, 255 }, at(k, x - 60, 115), 40)
      near({ 255, 255, 255 }, at(k, x, 150), 40)
    end
  end

  test("as GIF shows the frames in real time", function()
    local path = directory .. "/a.gif"
    local animation = square()
    assert.equal(animation, animation:save(path, { width = 320, height = 200, fps = 10 }))
    local width, height, count, delays = read_gif(host.read(path))
    assert.same({ 320, 200, 21 }, { width, height, count })
    for k = 1, 20 do assert.equal(10, delays[k]) end
    look(path, 21, 10)
  end)

  test("as GIF needs no ffmpeg", function()
    local bin = directory .. "/bin"
    os.execute(("mkdir %s && ln -s $(command -v gnuplot) %s/gnuplot"):format(bin, bin))
    local path = directory .. "/b.gif"
    local _, err, status = host.run(("PATH=%s %s -e %s"):format(bin, host.quote(host.nslua), host.quote(([[
      local ns = require "nslua"
      ns.animation { frames = 41, fps = 20, xlim = { -4, 4 }, ylim = { -2, 2 }, draw = function(k, c)
        c:rectangle((k - 21) / 10, 0, 1, 1, { fill = "blue" })
      end }:save("%s", { width = 320, height = 200, fps = 10 })]]):format(path))))
    assert.equal("", err)
    assert.equal(0, status)
    local width, height, count, delays = read_gif(host.read(path))
    assert.same({ 320, 200, 21, 10 }, { width, height, count, delays[1] })
    look(path, 21, 10)
  end)

  test("as MP4 shows the frames in real time", function()
    local path = directory .. "/a.mp4"
    square { speed = 0.5 }:save(path, { width = 320, height = 200, fps = 5 })
    look(path, 21, 10)
    local out = host.run("ffprobe -v error -show_entries stream=avg_frame_rate,pix_fmt -of csv=p=0 " .. path)
    assert.equal("yuv420p,5/1\n", out)
    assert.is_nil(host.list(directory):find "part")
  end)

  test("as MP4 replaces what a link leads to, keeps its mode, and touches nothing beside it", function()
    local place = host.new_directory()
    os.execute(("mkdir %s/far; cd %s; echo old > far/film; chmod 640 far/film; ln -s far/film a.mp4; echo mine > victim; "
      .. "for n in a.mp4.part.mp4 far/film.part.mp4; do ln -s ../victim $n; done"):format(place, place))
    square():save(place .. "/a.mp4", { width = 100, height = 100, fps = 2 })
    assert.equal("ftyp", host.read(place .. "/far/film"):sub(5, 8))
    local look_around = "cd %s; find . -type l -name a.mp4 | cut -c3-; stat -c %%A far/film"
    assert.equal("a.mp4\n-rw-r-----\n", (host.run(look_around:format(place))))
    assert.equal("mine\n", host.read(place .. "/victim"))
    assert.equal("a.mp4 a.mp4.part.mp4 far victim", host.list(place))
    host.remove(place)
  end)

  test("as MP4 leaves no file behind in TMPDIR, made or failed", function()
    local place, bin = host.new_directory(), host.new_directory()
    local script = host.quote([[local a = require "nslua".animation { frames = 2, fps = 2, draw = function() end }
      print(pcall(a.save, a, "]] .. place .. [[/a.mp4", { width = 100, height = 100 }))]])
    os.execute(("mkdir %s/tmp"):format(place))
    local out = host.run(("TMPDIR=%s/tmp %s -e %s"):format(place, host.quote(host.nslua), script))
    assert.matches("^true", out)
    assert.equal("", host.list(place .. "/tmp"))
    host.write(bin .. "/ffmpeg", "#!/bin/sh\ntest $# = 1 || { echo wrong >&2; exit 3; }\n")
    os.execute("chmod 755 " .. bin .. "/ffmpeg")
    out = host.run(("PATH=%s:$PATH TMPDIR=%s/tmp %s -e %s"):format(bin, place, host.quote(host.nslua), script))
    assert.equal(("false\tanimation: '%s/a.mp4': ffmpeg: wrong\n"):format(place), out)
    assert.equal("", host.list(place .. "/tmp"))
    host.write(bin .. "/ffmpeg", "#!/bin/sh\ncat >/dev/null\n")
    out = host.run(("PATH=%s:$PATH TMPDIR=%s/tmp %s -e %s"):format(bin, place, host.quote(host.nslua), script))
    assert.matches(("false\tanimation: '%s/a.mp4': ffmpeg has written nothing: "):format(place), out, 1, true)
    host.remove(place)
    host.remove(bin)
  end)

  test("draws every primitive, axes and traces too", function()
    local path = directory .. "/all.gif"
    ns.animation { frames = 3, fps = 10, xlabel = "x", ylabel = "y", title = "All", background = function(c)
      c:ground(-2, -2, 2, -2)
    end, draw = function(k, c)
      c:line(0, 0, 1, 1, { linestyle = "dashed" })
      c:polyline({ { 0, 0 }, { 1, 0.5 } }, { linestyle = "dotted", color = 2 })
      c:polygon({ { 0, 0 }, { 1, 0 }, { 0, 1 } }, { fill = 3, alpha = 0.5 })
      c:circle(1, 1, 0.5, { fill = "sky", angle = k })
      c:arc(0, 0, 1, 0, 1)
      c:point(0.5, 0.5)
      c:text(0, 0, "λ", { valign = "top", bold = true, dx = 3 })
      c:arrow(0, 0, 1, -1)
      c:arrow(0, 0, 0, 0)
      c:spring(-2, 0, 0, 0)
      c:trace("a", k, 0)
      c:trace("b", k, 1, { seconds = 0.2 })
    end, file = path }
    local _, _, count = read_gif(host.read(path))
    assert.is_true(count >= 5)
    ns.animation.interact { values = { 1, 2 }, fps = 5, draw = function(v, c) c:point(v, 0) end, file = path }
    ns.animation { frames = 1, draw = function() end, file = path }
  end)

  test("shows the colours that ns.plot takes", function()
    local path, colours = directory .. "/colours.gif", { "red", "black", "gray", "C0", "white", { 1, 0, 0 } }
    ns.animation { frames = colours, fps = 10, xlim = { -4, 4 }, ylim = { -2, 2 }, draw = function(colour, c)
      c:rectangle(0, 0, 2, 2, { fill = colour })
    end }:save(path, { width = 320, height = 200, fps = 10 })
    local at = pixels(path, 320, 200)
    for k, rgb in ipairs { { 0xd5, 0x5e, 0 }, { 0x1d, 0x24, 0x30 }, { 128, 128, 128 }, { 0, 0x72, 0xb2 }, { 255, 255, 255 },
      { 255, 0, 0 } } do near(rgb, at(k, 160, 100), 8) end
  end)

  test("takes texts for texts", function()
    local mark = directory .. "/mark"
    local texts = { "'; system(\"touch MARK\"); x = '", "`touch MARK`", "\n!touch MARK\n", "'.system('touch MARK').'",
      "$(touch MARK)", "\\", "'", "''", "%d %s", "{/Symbol a}_b^c", "@x", "\"", "\\\"; system('touch MARK') #", "\xff", "λ\0" }
    for i, text in ipairs(texts) do texts[i] = text:gsub("MARK", (mark:gsub("%%", "%%%%"))) end
    local all = table.concat(texts, " ")
    ns.animation { frames = texts, title = all, unit = all, xlabel = all, ylabel = all, draw = function(text, c)
      c:text(0, 0, text)
      c:trace(text, 0, 0)
    end }:save(directory .. "/text.gif", { width = 100, height = 100, fps = 30 })
    assert.is_nil(host.read(mark))
    local _, _, count = read_gif(host.read(directory .. "/text.gif"))
    assert.equal(#texts, count)
    local odd = directory .. "/-y $(touch mark) 'a\".mp4"
    square():save(odd, { width = 100, height = 100, fps = 2 })
    assert.truthy(host.read(odd))
    assert.is_nil(host.read(mark))
  end)

  -- The words of the labels that gnuplot is told to write, without any program.
  local function labels(animation)
    local commands
    local process = { save = function() end, run = function(program, input)
      if program[1] == "ffmpeg" then return nil, "there is none", true end
      commands = input
      return { out = "", err = "", status = 0 }
    end }
    require "nslua.film.film".save(process, "a.gif", animation, { width = 320, height = 200, fps = 10 })
    local lines = { "set print '-'" }
    for literal in commands:gmatch 'set label %d+ (".-") at' do lines[#lines + 1] = "print " .. literal end
    return (host.run("gnuplot -", table.concat(lines, "\n") .. "\n"))
  end

  test("has its clock, title and texts to the letter, digits behind signs too", function()
    local words = "Run #3, 50%7 {1} '2' \\3 \"4\""
    local seen = labels(ns.animation { frames = 4, times = { 0, 1, 3, 4 }, speed = 10, title = words,
      draw = function(_, c) c:text(0, 0, "a.1.2#3") end })
    local expected = {}
    for _, t in ipairs { 0, 1, 1, 3, 4 } do
      expected[#expected + 1] = ("a.1.2#3\n%s\nt = %.2f s\n"):format(words, t)
    end
    assert.equal(table.concat(expected), seen)
  end)

  test("cuts a line that crosses the box with both ends outside", function()
    local path = directory .. "/long.gif"
    ns.animation { frames = 1, xlim = { -1, 1 }, ylim = { -0.5, 0.5 }, draw = function(_, c)
      c:line(-50, 0, 50, 0, { color = "blue", linewidth = 8 })
    end }:save(path, { width = 320, height = 200, fps = 10 })
    near({ 0, 0x72, 0xb2 }, (pixels(path, 320, 200))(1, 160, 115), 40)
  end)

  it("is refused with what is wrong", function()
    local animation = square()
    local function refused(expected, ...) assert.equal(expected, select(2, pcall(animation.save, animation, ...))) end
    refused("animation: file: 'a.png': expected a name that ends in .html, .gif or .mp4", "a.png")
    refused("save: expected a table of options, got 3", "a.gif", 3)
    refused("save: unknown option 'size' (known: width, height, fps)", "a.gif", { size = 3 })
    refused("save: width: expected pixels, from 64 to 4096, got 10", "a.gif", { width = 10 })
    refused("save: height: expected a positive number, got -1", "a.gif", { height = -1 })
    refused("save: fps: expected a number, got 'x'", "a.gif", { fps = "x" })
  end)

  test("tells what can not be written or is too long, and leaves nothing behind", function()
    local animation = square()
    local function refused(expected, a, ...) assert.equal(expected, select(2, pcall(a.save, a, ...))) end
    refused("cannot write '/nonexistent/a.mp4': No such file or directory", animation, "/nonexistent/a.mp4")
    refused("cannot write '/nonexistent/a.gif': No such file or directory", animation, "/nonexistent/a.gif", { fps = 1 })
    local slow = square { speed = 1e-6 }
    local much = "save: %d pictures, at most 20000: take a larger speed for the animation or a lower fps"
    refused(much:format(50000000), slow, directory .. "/c.gif")
    local before = host.list(directory)
    refused(much:format(60000000), slow, directory .. "/c.mp4")
    assert.equal(before, host.list(directory))
  end)

  it("is told to need gnuplot, and ffmpeg, in a line", function()
    local script = [[local a = require "nslua".animation { frames = 1, draw = function() end }
      print(select(2, pcall(a.save, a, "/nonexistent/a.%s")))]]
    local function message(path, ending)
      return (host.run(("PATH=%s %s -e %s"):format(path, host.quote(host.nslua), host.quote(script:format(ending)))))
    end
    assert.equal("animation: '/nonexistent/a.gif': gnuplot is not installed; GIF and MP4 need it: " ..
      "apt install gnuplot-nox (HTML does not)\n", message("/nonexistent", "gif"))
    assert.equal("animation: '/nonexistent/a.mp4': ffmpeg is not installed; MP4 needs it: " ..
      "apt install ffmpeg (GIF and HTML do not)\n", message("/nonexistent", "mp4"))
  end)
end)
