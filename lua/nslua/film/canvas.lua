-- nslua.film.canvas: the canvas on which draw(frame, canvas) draws. It records what is drawn, for the player of a
-- page.
--
-- A frame has a shape and numbers. The shape is the list of operations with their styles; the numbers are
-- coordinates. Frames of the same shape share the shape, and the numbers that do not change. Coordinates are
-- of the world, y upwards. Widths of lines and sizes of letters and points are in pixels.

local colours = require "nslua.plot.style"
local number = require "nslua.core".number_support
local option_tables = require "nslua.base.option_tables"

local canvas = { palette = colours.palette }

local function fail(text, ...) error(number.format(text, ...), 0) end

local function show(value)
  if type(value) == "string" then return ("'%s'"):format(value) end
  if type(value) == "number" then return value == value and tostring(value) or "nan" end
  return type(value)
end
canvas.show = show

-- Refuses what is no finite number; the name is a format of the rest, which is used then alone.
local function finite(value, who, name, ...)
  if math.type(value) == "integer" then return value end
  if type(value) ~= "number" or value ~= value or value == math.huge or value == -math.huge then
    fail("%s: %s: expected a finite number, got %s", who, name:format(...), show(value))
  end
  return value
end
canvas.finite = finite

-- A colour by its name on a page or as "#RRGGBB".
local function colour(value, who, name)
  local found = value ~= nil and colours.page_color(value)
  if found then return found end
  fail("%s: %s: expected %s, got %s", who, name, colours.page_colors(), show(value))
end
canvas.colour = colour

local function flag(value, who, name)
  if type(value) ~= "boolean" then fail("%s: %s: expected true or false, got %s", who, name, show(value)) end
  return value
end

local function positive(value, who, name)
  if finite(value, who, name) <= 0 then fail("%s: %s: expected a positive number, got %s", who, name, value) end
  return value
end

local function choice(...)
  local list = { ... }
  return function(value, who, name)
    for _, known in ipairs(list) do
      if value == known then return value end
    end
    fail("%s: %s: expected one of %s, got %s", who, name, table.concat(list, ", "), show(value))
  end
end

local function share(value, who, name)
  if finite(value, who, name) < 0 or value > 1 then
    fail("%s: %s: expected a number from 0 to 1, got %s", who, name, value)
  end
  return value
end

-- The options of a style, and which of them each primitive takes.
local checks = {
  color = colour, fill = colour, linewidth = positive, alpha = share, size = positive, coils = positive,
  seconds = positive, linestyle = choice("dashed", "dotted"), fontsize = positive,
  align = choice("left", "center", "right"),
  valign = choice("top", "middle", "bottom"), angle = finite, bold = flag, dx = finite, dy = finite,
}

local line = "linewidth linestyle"
local takes = {
  line = line, polyline = line, arrow = line .. " size", arc = line, polygon = line .. " fill",
  circle = line .. " fill angle", rectangle = line .. " fill angle", point = "size fill linewidth",
  text = "fontsize align valign bold dx dy", spring = "linewidth coils size", trace = "linewidth seconds",
  ground = "linewidth size",
}

-- What options are called in the record of an operation, where that is another name.
local in_record = { linewidth = "width", linestyle = "dash", fontsize = "size" }

-- ---- recording ----

local Canvas = {}
Canvas.__index = Canvas
Canvas.__name = "canvas"

-- An empty canvas.
function canvas.new()
  return setmetatable({
    ops = {}, op_index = {}, texts = {}, text_index = {}, shapes = {}, shape_index = {}, frames = {},
    low_x = math.huge, high_x = -math.huge, low_y = math.huge, high_y = -math.huge,
  }, Canvas)
end

-- Begins the recording of a frame.
function Canvas:begin()
  self.key, self.numbers = {}, {}
end

local orders, known = {}, {} -- by kind: the options in one order; the set of them
for kind, words in pairs(takes) do
  orders[kind], known[kind] = {}, {}
  for name in ("color alpha " .. words):gmatch "%S+" do
    table.insert(orders[kind], name)
    known[kind][name] = true
  end
  table.sort(orders[kind])
end

-- The style with all options as they are written here.
local function check_keys(kind, style)
  for key in pairs(style) do
    if not known[kind][key] then
      return option_tables.need(style, table.concat(orders[kind], " "), kind, fail)
    end
  end
  return style
end

local function new_operation(self, id, kind, values, turned, name)
  local op = { kind = kind, turned = turned, name = name }
  for i, key in ipairs(orders[kind]) do
    if key ~= "angle" then op[in_record[key] or key] = values[i] end -- an angle is one of the numbers
  end
  local index = #self.ops + 1
  self.ops[index], self.op_index[id] = op, index
  return index
end

local no_style, values = {}, {}

local function word(value)
  return math.type(value) == "float" and ("%a"):format(value) or tostring(value)
end

-- The number of an operation with its style. Equal operations have the same number.
local function operation(self, kind, style, turned, name)
  style = check_keys(kind, style or no_style)
  local id = turned and kind .. " turned" or kind
  for i, key in ipairs(orders[kind]) do
    local value = style[key]
    if value ~= nil then
      value = checks[key](value, kind, key)
      if key ~= "angle" then id = id .. " " .. key .. "=" .. word(value) end
    end
    values[i] = value
  end
  if name then id = id .. " name=" .. name end
  return self.op_index[id] or new_operation(self, id, kind, values, turned, name)
end

-- Extends the bounds of the world to the rectangle about (x, y) of half width rx and half height ry.
local function include(self, x, y, rx, ry)
  rx, ry = rx or 0, ry or rx or 0
  self.low_x, self.high_x = math.min(self.low_x, x - rx), math.max(self.high_x, x + rx)
  self.low_y, self.high_y = math.min(self.low_y, y - ry), math.max(self.high_y, y + ry)
end

local function check_style(who, style)
  if style ~= nil and type(style) ~= "table" then fail("%s: style: expected a table, got %s", who, show(style)) end
  return style
end

local function put(self, kind, style, numbers, turned, name)
  if not self.key then fail("%s: a canvas can be drawn on only inside draw", kind) end
  local op = operation(self, kind, check_style(kind, style), turned, name)
  self.key[#self.key + 1] = op .. ":" .. #numbers
  table.move(numbers, 1, #numbers, #self.numbers + 1, self.numbers)
end

-- The numbers of `list`, named by `names` in messages.
local function finite_list(who, names, ...)
  local list, i = { ... }, 0
  for name in names:gmatch "%S+" do
    i = i + 1
    finite(list[i], who, name)
  end
  return list
end

local function segment(kind, extent)
  return function(self, x1, y1, x2, y2, style)
    local list = finite_list(kind, "x1 y1 x2 y2", x1, y1, x2, y2)
    local around = extent and extent * math.sqrt((x2 - x1) ^ 2 + (y2 - y1) ^ 2) or 0
    include(self, x1, y1, around)
    include(self, x2, y2, around)
    put(self, kind, style, list)
  end
end

Canvas.line = segment "line"
Canvas.arrow = segment "arrow"
Canvas.spring = segment("spring", 0.05)
Canvas.ground = segment("ground", 0.02)

local function is_list(value) return type(value) == "table" or type(value) == "userdata" end

-- A flat list of coordinates, from { {x, y}, ... } or from lists xs, ys.
local function coordinates(who, a, b, least)
  local list, n = {}, is_list(a) and #a or -1
  if is_list(b) and not (type(b) == "table" and #b == 0) then
    if n ~= #b then fail("%s: expected as many x as y, got %d and %d", who, n, #b) end
    for i = 1, n do list[2 * i - 1], list[2 * i] = a[i], b[i] end
  elseif n >= 0 then
    for i = 1, n do
      if not is_list(a[i]) then fail("%s: point %d: expected {x, y}, got %s", who, i, show(a[i])) end
      list[2 * i - 1], list[2 * i] = a[i][1], a[i][2]
    end
  end
  if n < least then
    fail("%s: expected at least %d points, {{x, y}, ...} or xs, ys, got %s", who, least, n >= 0 and n or show(a))
  end
  for i = 1, n do
    finite(list[2 * i - 1], who, "x of point %d", i)
    finite(list[2 * i], who, "y of point %d", i)
  end
  return list
end

local function points(kind, least)
  return function(self, a, b, style)
    local two = style ~= nil or is_list(b) and #b > 0
    local list = coordinates(kind, a, two and b or nil, least)
    for i = 1, #list, 2 do include(self, list[i], list[i + 1]) end
    put(self, kind, two and style or not two and b or nil, list)
  end
end

-- polyline(points [, style]) or polyline(xs, ys [, style]).
Canvas.polyline = points("polyline", 1)
Canvas.polygon = points("polygon", 2)

-- circle(x, y, r [, style]): with the option angle, a radius is drawn that shows how the circle has turned.
function Canvas:circle(x, y, r, style)
  local list = finite_list("circle", "x y r", x, y, r)
  if r < 0 then fail("circle: r: expected a number not below 0, got %s", r) end
  local angle = check_style("circle", style) and style.angle
  include(self, x, y, r)
  list[4] = angle and finite(angle, "circle", "angle")
  put(self, "circle", style, list, angle and true)
end

-- rectangle(x, y, width, height [, style]): (x, y) is the centre; the option angle turns the rectangle about it.
function Canvas:rectangle(x, y, width, height, style)
  local list = finite_list("rectangle", "x y width height", x, y, width, height)
  local angle = check_style("rectangle", style) and style.angle and finite(style.angle, "rectangle", "angle") or 0
  local c, s = math.abs(math.cos(angle)) / 2, math.abs(math.sin(angle)) / 2
  local w, h = math.abs(width), math.abs(height)
  include(self, x, y, w * c + h * s, w * s + h * c)
  list[5] = angle
  put(self, "rectangle", style, list)
end

-- arc(x, y, r, from, to [, style]): angles in radians, from the x axis.
function Canvas:arc(x, y, r, from, to, style)
  local list = finite_list("arc", "x y r from to", x, y, r, from, to)
  include(self, x, y, math.abs(r))
  put(self, "arc", style, list)
end

-- point(x, y [, style]): a disk whose size is its diameter in pixels.
function Canvas:point(x, y, style)
  local list = finite_list("point", "x y", x, y)
  include(self, x, y)
  put(self, "point", style, list)
end

-- text(x, y, text [, style]); dx, dy move it, in pixels.
function Canvas:text(x, y, text, style)
  local list = finite_list("text", "x y", x, y)
  if type(text) ~= "string" and type(text) ~= "number" then
    fail("text: text: expected a string, got %s", show(text))
  end
  text = number.tostring(text)
  local index = self.text_index[text]
  if not index then
    index = #self.texts + 1
    self.texts[index], self.text_index[text] = text, index
  end
  include(self, x, y)
  put(self, "text", style, { list[1], list[2], index - 1 })
end

-- trace(name, x, y [, style]): the path of the point `name` up to this frame; with the option seconds, only its last
-- part.
function Canvas:trace(name, x, y, style)
  if type(name) ~= "string" then fail("trace: name: expected a string, got %s", show(name)) end
  local list = finite_list("trace", "x y", x, y)
  include(self, x, y)
  put(self, "trace", style, list, nil, name)
end

-- Ends the frame: keeps its shape and its numbers.
function Canvas:finish()
  local key = table.concat(self.key, " ")
  local index = self.shape_index[key]
  if not index then
    index = #self.shapes + 1
    local ops = {}
    for op, count in key:gmatch "(%d+):(%d+)" do
      ops[#ops + 1] = math.tointeger(op) - 1
      ops[#ops + 1] = math.tointeger(count)
    end
    self.shapes[index] = { ops = ops, size = #self.numbers, first = self.numbers, varies = {} }
    self.shape_index[key] = index
  end
  local first, varies = self.shapes[index].first, self.shapes[index].varies
  for i, x in ipairs(self.numbers) do
    if x ~= first[i] then varies[i] = true end -- 1 and 1.0 are the same here
  end
  self.frames[#self.frames + 1] = { shape = index, numbers = self.numbers }
  self.key, self.numbers = nil, nil
end

-- ---- the record ----

-- Runs of true in varies[1 .. size]: start (from 0), length, start, length, ...
local function runs(varies, size)
  local list = {}
  for i = 1, size do
    if varies[i] then
      if not varies[i - 1] then
        list[#list + 1] = i - 1
        list[#list + 1] = 0
      end
      list[#list] = list[#list] + 1
    end
  end
  return list
end

-- The record for the page: operations; texts; shapes with all numbers of one frame; frames as pairs (shape, offset
-- of the numbers that vary); the numbers, in single precision where nobody can see the difference.
function Canvas:record()
  local data, shapes, frames = {}, {}, {}
  for i, shape in ipairs(self.shapes) do
    shapes[i] = { ops = shape.ops, size = shape.size, at = #data, varies = runs(shape.varies, shape.size) }
    table.move(shape.first, 1, shape.size, #data + 1, data)
  end
  for i, frame in ipairs(self.frames) do
    local varies = self.shapes[frame.shape].varies
    frames[2 * i - 1], frames[2 * i] = frame.shape - 1, #data
    for k, x in ipairs(frame.numbers) do
      if varies[k] then data[#data + 1] = x end
    end
  end
  local span = math.max(self.high_x - self.low_x, self.high_y - self.low_y)
  local large = math.max(math.abs(self.low_x), math.abs(self.high_x), math.abs(self.low_y), math.abs(self.high_y))
  local coarse = span > 1e-3 * large and large < 1e30
  return { ops = self.ops, texts = self.texts, shapes = shapes, frames = frames, data = data,
    precision = coarse and "f4" or "f8" }
end

-- The rectangle { x0, x1, y0, y1 } around everything that was drawn, with a margin. Its sides are never 0.
function Canvas:bounds()
  if self.low_x > self.high_x then return { -1, 1, -1, 1 } end
  local dx, dy = self.high_x - self.low_x, self.high_y - self.low_y
  local least = 1e-6 * math.max(math.abs(self.high_x), math.abs(self.high_y), math.abs(self.low_x),
    math.abs(self.low_y), dx, dy)
  local margin = 0.04 * math.max(dx, dy)
  local mx, my = math.max(margin, least), math.max(margin, least)
  if mx == 0 then mx, my = 1, 1 end
  return { self.low_x - mx, self.high_x + mx, self.low_y - my, self.high_y + my }
end

require "nslua.base.where".methods(Canvas, "a canvas", "canvas")

return canvas
