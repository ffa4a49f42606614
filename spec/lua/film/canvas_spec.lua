-- What draw() draws on: what is recorded, how compactly, and what is refused.
local canvas = require "nslua.film.canvas"
local html = require "nslua.web.html"
local page = require "page"

-- The record of a canvas as a page has it.
local function packed(paper)
  local record = paper:record()
  record.frames, record.data = html.numbers(record.frames, "u4"), html.numbers(record.data, record.precision)
  return page.json(html.json(record))
end

-- A canvas with one frame for each of the functions.
local function recorded(...)
  local paper = canvas.new()
  for _, draw in ipairs { ... } do
    paper:begin()
    draw(paper)
    paper:finish()
  end
  return paper
end

local function message(draw)
  local good, text = pcall(recorded, draw)
  assert.is_false(good)
  return text
end

describe("a canvas", function()
  it("keeps each primitive with its numbers and its style", function()
    local record = packed(recorded(function(c)
      c:line(1, 2, 3, 4, { color = "blue", linewidth = 3, linestyle = "dashed" })
      c:polyline({ { 1, 2 }, { 3, 4 }, { 5, 6 } })
      c:polyline({ 1, 3 }, { 2, 4 }, { color = 2 })
      c:polygon({ { 0, 0 }, { 1, 0 }, { 0, 1 } }, { fill = "#12aBcD" })
      c:circle(1, 2, 0.5)
      c:circle(1, 2, 0.5, { angle = 0.25 })
      c:rectangle(1, 2, 3, 4, { angle = 0.5, fill = 8 })
      c:arc(0, 0, 1, 0, 1.5)
      c:point(1, 2, { size = 5 })
      c:text(1, 2, "hello", { align = "right" })
      c:arrow(0, 0, 1, 1)
      c:spring(0, 0, 2, 0, { coils = 5 })
      c:trace("tip", 1, 2, { seconds = 0.5 })
      c:ground(0, 0, 4, 0)
    end))
    assert.same({
      { op = { kind = "line", color = "blue", width = 3, dash = "dashed" }, 1, 2, 3, 4 },
      { op = { kind = "polyline" }, 1, 2, 3, 4, 5, 6 },
      { op = { kind = "polyline", color = "vermillion" }, 1, 2, 3, 4 },
      { op = { kind = "polygon", fill = "#12ABCD" }, 0, 0, 1, 0, 0, 1 },
      { op = { kind = "circle" }, 1, 2, 0.5 },
      { op = { kind = "circle", turned = true }, 1, 2, 0.5, 0.25 },
      { op = { kind = "rectangle", fill = "blue" }, 1, 2, 3, 4, 0.5 },
      { op = { kind = "arc" }, 0, 0, 1, 0, 1.5 },
      { op = { kind = "point", size = 5 }, 1, 2 },
      { op = { kind = "text", align = "right" }, 1, 2, 0 },
      { op = { kind = "arrow" }, 0, 0, 1, 1 },
      { op = { kind = "spring", coils = 5 }, 0, 0, 2, 0 },
      { op = { kind = "trace", name = "tip", seconds = 0.5 }, 1, 2 },
      { op = { kind = "ground" }, 0, 0, 4, 0 },
    }, page.frame(record, 0))
    assert.same({ "hello" }, record.texts)
  end)

  it("takes the colours that ns.plot takes, by the names that go with the scheme where they have one", function()
    local style = require "nslua.plot.style"
    local function colour_of(value)
      return packed(recorded(function(c) c:line(0, 0, 1, 1, { color = value }) end)).ops[1].color
    end
    for given, expected in pairs { red = "vermillion", r = "vermillion", C1 = "vermillion", k = "ink", black = "ink",
      white = "paper", C0 = "blue", c = "sky", cyan = "sky", C3 = "purple", muted = "muted", yellow = "yellow",
      gray = "#808080", C7 = "#B8A600", ["#abc"] = "#AABBCC", ["#d55e00"] = "#D55E00", ["#000000"] = "#000000" } do
      assert.equal(expected, colour_of(given), given)
    end
    assert.equal("#FF0000", colour_of { 1, 0, 0 })
    assert.equal("#D55E00", colour_of { 0xd5 / 255, 0x5e / 255, 0 })
    local all = "black blue cyan darkgray grey lightgray magenta orange pink purple sky white yellow b c g k m r w y C9"
    for name in all:gmatch "%S+" do
      local found = colour_of(name)
      local value = style.page[found] or found
      if found ~= "ink" and found ~= "yellow" then assert.equal(style.color("line", name), value, name) end
    end
  end)

  it("has colours by name as the pages have them on paper", function()
    local style = require "nslua.plot.style"
    local directory = assert(package.searchpath("nslua.web.html", package.path)):match "^(.*)html%.lua$"
    local file = assert(io.open(directory .. "style.css"))
    local light = file:read "a":match ":root {(.-)}"
    file:close()
    for name, value in pairs(style.page) do
      assert.equal(value:lower(), light:match("%-%-" .. name .. ": (#%x+);"), name)
    end
  end)

  it("gives back every frame, whatever its shape", function()
    math.randomseed(5)
    local drawings, expected = {}, {}
    for k = 1, 60 do
      local list = {}
      for i = 1, math.random(0, 4) do
        local x, y = math.random(-8, 8) / 4, math.random(-8, 8) / 4
        if math.random(2) == 1 then
          list[i] = { op = { kind = "circle" }, x, 0.5, 2 }
        else
          list[i] = { op = { kind = "polyline" } }
          for j = 1, 2 * math.random(1, 3) do list[i][j] = j % 2 == 1 and x + j or y end
        end
      end
      expected[k] = list
      drawings[k] = function(c)
        for _, item in ipairs(list) do
          if item.op.kind == "circle" then
            c:circle(item[1], item[2], item[3])
          else
            local points = {}
            for j = 1, #item, 2 do points[#points + 1] = { item[j], item[j + 1] } end
            c:polyline(points)
          end
        end
      end
    end
    local record = packed(recorded(table.unpack(drawings)))
    for k, list in ipairs(expected) do assert.same(list, page.frame(record, k - 1)) end
  end)

  it("keeps what does not change once", function()
    local drawings = {}
    for k = 1, 100 do
      drawings[k] = function(c)
        for i = 1, 10 do c:circle(k, i, 0.25, { fill = "blue" }) end
      end
    end
    local record = packed(recorded(table.unpack(drawings)))
    assert.equal(1, #record.ops)
    assert.equal(1, #record.shapes)
    assert.equal(30 + 100 * 10, #page.numbers(record.data))
  end)

  it("is in single precision where the world is coarse enough", function()
    assert.equal("f4", recorded(function(c) c:line(0, 0, 1, 1) end):record().precision)
    local far = recorded(function(c) c:line(1e9, 0, 1e9 + 1, 1) end)
    assert.equal("f8", far:record().precision)
    assert.equal(1e9 + 1, page.frame(packed(far), 0)[1][3])
    assert.equal("f8", recorded(function(c) c:line(0, 0, 1e200, 1) end):record().precision)
  end)

  it("has bounds around all that was drawn", function()
    local function inside(b, x, y) return b[1] < x and x < b[2] and b[3] < y and y < b[4] end
    local b = recorded(function(c) c:circle(0, 0, 2) end, function(c) c:rectangle(5, 1, 2, 2, { angle = math.pi / 4 }) end):bounds()
    for _, p in ipairs { { -2, 0 }, { 0, -2 }, { 0, 2 }, { 5 + 2 ^ 0.5, 1 }, { 5, 1 + 2 ^ 0.5 } } do
      assert.is_true(inside(b, p[1], p[2]))
    end
    assert.is_false(inside(b, -3, 0))
    assert.same({ -1, 1, -1, 1 }, recorded(function() end):bounds())
    b = recorded(function(c) c:point(3, 7) end):bounds()
    assert.is_true(inside(b, 3, 7))
    b = recorded(function(c) c:point(0, 0) end):bounds()
    assert.is_true(inside(b, 0, 0))
  end)

  it("takes nothing outside of its frames", function()
    local paper = recorded(function() end)
    assert.equal("line: a canvas can be drawn on only inside draw", select(2, pcall(paper.line, paper, 0, 0, 1, 1)))
  end)

  it("refuses what can not be drawn, by name", function()
    local function refused(expected, draw) assert.equal(expected, message(draw)) end
    refused("line: y2: expected a finite number, got nil", function(c) c:line(0, 0, 1) end)
    refused("circle: x: expected a finite number, got nan", function(c) c:circle(0 / 0, 0, 1) end)
    refused("circle: r: expected a number not below 0, got -1", function(c) c:circle(0, 0, -1) end)
    refused("polyline: y of point 2: expected a finite number, got inf", function(c) c:polyline { { 0, 0 }, { 0, math.huge } } end)
    refused("polyline: point 1: expected {x, y}, got 1", function(c) c:polyline { 1, 2 } end)
    refused("polyline: expected as many x as y, got 2 and 1", function(c) c:polyline({ 1, 2 }, { 3 }) end)
    refused("polygon: expected at least 2 points, {{x, y}, ...} or xs, ys, got 1", function(c) c:polygon { { 0, 0 } } end)
    refused("polyline: expected at least 1 points, {{x, y}, ...} or xs, ys, got 'x'", function(c) c:polyline "x" end)
    refused("text: text: expected a string, got table", function(c) c:text(0, 0, {}) end)
    refused("trace: name: expected a string, got 1", function(c) c:trace(1, 0, 0) end)
    refused("line: style: expected a table, got 'red'", function(c) c:line(0, 0, 1, 1, "red") end)
    refused("line: unknown option 'fill' (known: alpha, color, linestyle, linewidth)",
      function(c) c:line(0, 0, 1, 1, { fill = 1 }) end)
    local colours = "expected a name (ink muted faint paper black blue cyan darkgray darkgrey gray green grey " ..
      "lightgray lightgrey magenta orange pink purple red sky vermillion white yellow, or one of CSS), " ..
        "a letter (b c g k m r w y), " ..
      "\"C0\" to \"C9\", a number of the palette, \"#RRGGBB\" or {r, g, b}, got "
    for shown, value in pairs { ["'red;}'"] = "red;}", ["'grid'"] = "grid", ["'#12345'"] = "#12345", ["0"] = 0,
      ["table"] = { 1, 2, 0 }, boolean = false } do
      refused("line: color: " .. colours .. shown, function(c) c:line(0, 0, 1, 1, { color = value }) end)
      refused("circle: fill: " .. colours .. shown, function(c) c:circle(0, 0, 1, { fill = value }) end)
    end
    refused("line: linewidth: expected a positive number, got 0", function(c) c:line(0, 0, 1, 1, { linewidth = 0 }) end)
    refused("line: linestyle: expected one of dashed, dotted, got 'x'", function(c) c:line(0, 0, 1, 1, { linestyle = "x" }) end)
    refused("line: alpha: expected a number from 0 to 1, got 2", function(c) c:line(0, 0, 1, 1, { alpha = 2 }) end)
    refused("text: bold: expected true or false, got 1", function(c) c:text(0, 0, "a", { bold = 1 }) end)
    refused("circle: angle: expected a finite number, got 'x'", function(c) c:circle(0, 0, 1, { angle = "x" }) end)
  end)
end)
