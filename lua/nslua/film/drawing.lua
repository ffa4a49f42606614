-- nslua.film.drawing: the shapes of a film as its page draws them: geometries, each once, and parts that have them.
--
-- A part has a body (0: the world), a colour, and a kind: geometry (from 0), offset (3 numbers), scale (3), and the
-- radius of the ball around the origin of the body that holds its shape. Its numbers: body less that of the part
-- before, colour (by the colour before: palettes repeat), kind: 0 for a new one, else 1 for the last new one, 2 for
-- the one before that. A new kind has its geometry, and for each of the 7 numbers 0 (a new one, whose 32 bits as a
-- float follow), 1 (as in the part before) or 2 (as the number before it). nslua.film.coder makes bytes of these;
-- web/space.js reads them.

local coder = require "nslua.film.coder"
local format = require "nslua.core".number_support.format
local html = require "nslua.web.html"

local sqrt, huge = math.sqrt, math.huge

local Drawing = {} -- geometries, each once, and the parts that have them
Drawing.__index = Drawing

local function new_drawing()
  return setmetatable({ geometries = {}, known = {}, parts = {}, colours = {}, colour_of = {}, world = {} }, Drawing)
end

-- The number of a geometry, from 0.
local function geometry_of(self, fields)
  local key = html.json(fields)
  if not self.known[key] then
    self.geometries[#self.geometries + 1] = fields
    self.known[key] = #self.geometries - 1
  end
  return self.known[key]
end

-- Adds a part of a body whose shape is in a ball of that radius around the origin.
local function add_part(self, body, colour, around, geometry, offset, scale)
  if not self.colour_of[colour] then
    self.colours[#self.colours + 1] = colour
    self.colour_of[colour] = #self.colours - 1
  end
  self.parts[#self.parts + 1] = { body = body, paint = self.colour_of[colour], geometry = geometry,
    offset[1], offset[2], offset[3], scale[1], scale[2], scale[3], around }
end

-- A solid or a surface of corners: what differs by an offset and a scale alone is one geometry.
local function add_corners(self, body, colour, around, corners, edges, faces, radius, open, round)
  local low, high, scale, offset, numbers = { huge, huge, huge }, { -huge, -huge, -huge }, {}, {}, {}
  for _, c in ipairs(corners) do
    for i = 1, 3 do low[i], high[i] = math.min(low[i], c[i]), math.max(high[i], c[i]) end
  end
  for i = 1, 3 do
    offset[i], scale[i] = (low[i] + high[i]) / 2, radius > 0 and radius or high[i] - low[i]
    if scale[i] <= 0 then scale[i] = 1 end
  end
  for _, c in ipairs(corners) do
    for i = 1, 3 do numbers[#numbers + 1] = format("%.7g", (c[i] - offset[i]) / scale[i]) + 0.0 end
  end
  if #corners == 1 then
    return add_part(self, body, colour, around, geometry_of(self, { ball = true }), offset, scale)
  end
  local function flat(list, counted) -- in one order, whatever order the solid has
    local rings, result = {}, {}
    for i, one in ipairs(list) do
      local first = 1
      for k, corner in ipairs(one) do first = corner < one[first] and k or first end
      rings[i] = table.move(one, first, #one, 1, {})
      table.move(one, 1, first - 1, #rings[i] + 1, rings[i])
    end
    table.sort(rings, function(p, q)
      local k = 1
      while p[k] and p[k] == q[k] do k = k + 1 end
      return (p[k] or 0) < (q[k] or 0)
    end)
    for _, one in ipairs(rings) do
      if counted then result[#result + 1] = #one end
      for _, k in ipairs(one) do result[#result + 1] = k - 1 end
    end
    return html.numbers(result, "u4")
  end
  add_part(self, body, colour, around, geometry_of(self, { corners = html.numbers(numbers, "f4"), edges = flat(edges),
    faces = flat(faces, true), radius = radius > 0 and 1 or 0, open = open, round = round, world = body == 0 }),
    offset, scale)
end

-- Adds the parts of a shape of a body (0: the world). Returns the radius of the ball around the origin that holds it.
function Drawing:add(support, body, shape, colour)
  local around = 0
  for _, c in ipairs(shape:corners()) do
    around = math.max(around, sqrt(c[1] ^ 2 + c[2] ^ 2 + c[3] ^ 2) + (c[4] or 0))
    if body == 0 then self.world[#self.world + 1] = { c[1], c[2], c[3] } end
  end
  if shape.mesh then
    add_corners(self, body, colour, around, shape.mesh.points, {}, shape.mesh.triangles, 0, true)
  end
  for _, part in ipairs(not shape.mesh and shape.parts or {}) do
    local corners = support.corners(part)
    local edges, faces = support.surface(part)
    local round = support.rims(part) and true
    add_corners(self, body, colour, around, corners, edges, faces, corners[1][4], false, round)
  end
  return around
end

-- Writes a new kind with a coder; `before` is the part before it.
local function write_kind(code, part, before)
  code:natural("geometry", part.geometry)
  for i = 1, 7 do
    local as = part[i] == before[i] and 1 or part[i] == part[i - 1] and 2 or 0
    code:natural("as " .. i, as)
    if as == 0 then code:natural("number " .. i, ("<I4"):unpack(("<f"):pack(part[i]))) end
  end
end

-- The bytes of all parts.
function Drawing:text()
  local code, kinds, count, before = coder(), {}, 0, { 0, 0, 0, 0, 0, 0, 0, body = 0, paint = 0 }
  for _, part in ipairs(self.parts) do
    local key = ("<I4nnnnnnn"):pack(part.geometry, table.unpack(part))
    code:whole("body", part.body - before.body)
    code:natural("paint " .. before.paint, part.paint)
    code:natural("kind", kinds[key] and count - kinds[key] + 1 or 0)
    if not kinds[key] then
      write_kind(code, part, before)
      count = count + 1
      kinds[key] = count
    end
    before = part
  end
  return code:text()
end

return new_drawing
