-- nslua.contact.mesh_files: meshes of triangles from .obj and .stl files, as lists of points and of triangles.

local arguments = require "nslua.base.arguments"
local where = require "nslua.base.where"

local fail = arguments.fail

local files = {}

-- The point of three numbers; equal ones have one number.
local function point_of(mesh, x, y, z)
  local key = string.pack("ddd", x + 0.0, y + 0.0, z + 0.0) -- 0 and -0 are one
  if not mesh.known[key] then
    mesh.points[#mesh.points + 1] = { x, y, z }
    mesh.known[key] = #mesh.points
  end
  return mesh.known[key]
end

local function finite(x) return x and x - x == 0 end

-- Triangles without an area (two corners in one) are left out.
local function add_triangle(mesh, a, b, c)
  if a ~= b and b ~= c and c ~= a then mesh.triangles[#mesh.triangles + 1] = { a, b, c } end
end

-- ---- faces of more than three corners ----

-- (b - a) x (c - a)
local function across(a, b, c)
  local x1, y1, z1, x2, y2, z2 = b[1] - a[1], b[2] - a[2], b[3] - a[3], c[1] - a[1], c[2] - a[2], c[3] - a[3]
  return y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
end

-- The turn at b on the way from a to c about the normal n, above 0 to the left; 0 within its rounding.
local function turn(a, b, c, n)
  local x, y, z = across(a, b, c)
  local sum, size = x * n[1] + y * n[2] + z * n[3], 0
  for k = 1, 3 do
    for _, p in ipairs { a, b, c } do size = math.max(size, math.abs(p[k])) end
  end
  local noise = 64 * 2.0 ^ -52 * size * (math.abs(b[1] - a[1]) + math.abs(b[2] - a[2]) + math.abs(b[3] - a[3])
    + math.abs(c[1] - a[1]) + math.abs(c[2] - a[2]) + math.abs(c[3] - a[3]))
  return math.abs(sum) > noise and sum or 0
end

-- The direction across a polygon (Newell): the sum of the triangles of its fan.
local function normal_of(points, corners)
  local n = { 0, 0, 0 }
  for k = 3, #corners do
    local x, y, z = across(points[corners[1]], points[corners[k - 1]], points[corners[k]])
    n[1], n[2], n[3] = n[1] + x, n[2] + y, n[3] + z
  end
  local length = math.sqrt(n[1] * n[1] + n[2] * n[2] + n[3] * n[3])
  for k = 1, 3 do n[k] = length > 0 and n[k] / length or 0 end
  return n
end

-- Whether the corner k can be cut off: it turns to the left, and no other corner is in its triangle.
local function is_ear(points, corners, k, n)
  local count = #corners
  local i, j, l = corners[(k - 2) % count + 1], corners[k], corners[k % count + 1]
  local a, b, c = points[i], points[j], points[l]
  if turn(a, b, c, n) <= 0 then return false end
  for _, other in ipairs(corners) do
    local p = points[other]
    if other ~= i and other ~= j and other ~= l and turn(a, b, p, n) >= 0 and turn(b, c, p, n) >= 0
      and turn(c, a, p, n) >= 0 then return false end
  end
  return true
end

-- The triangles of a face: a fan while no corner turns inwards, else ear after ear (Meisters, Polygons have ears,
-- American Mathematical Monthly 82, 1975).
local function add_face(mesh, corners)
  if #corners == 3 then return add_triangle(mesh, table.unpack(corners)) end
  local points, n = mesh.points, normal_of(mesh.points, corners)
  local convex = true
  for k = 1, #corners do
    local a, c = corners[(k - 2) % #corners + 1], corners[k % #corners + 1]
    convex = convex and turn(points[a], points[corners[k]], points[c], n) >= 0
  end
  local k, tried = 1, 0
  while not convex and #corners > 3 and tried < #corners do
    if is_ear(points, corners, k, n) then
      add_triangle(mesh, corners[(k - 2) % #corners + 1], corners[k], corners[k % #corners + 1])
      table.remove(corners, k)
      tried = 0
    else
      k, tried = k + 1, tried + 1
    end
    if k > #corners then k = 1 end
  end
  for i = 3, #corners do add_triangle(mesh, corners[1], corners[i - 1], corners[i]) end
end

-- ---- formats ----

-- The lines of a text with their numbers; a line goes on after a \ at its end.
local function lines_of(text)
  local next_line, count = text:gsub("\r\n?", "\n"):gmatch "[^\n]*", 0
  return function()
    local line, whole = next_line(), ""
    count = count + 1
    while line and line:match "\\%s*$" do
      whole = whole .. line:gsub("\\%s*$", " ")
      line, count = next_line(), count + 1
    end
    if line or whole ~= "" then return whole .. (line or ""), count end
  end
end

-- The points of a face of which each is a number, or number/texture/normal, from 1 or back from -1; nil and the word
-- that is none.
local function corners_of(rest, vertices)
  local corners = {}
  for word in rest:gmatch "%S+" do
    local k = tonumber(word:match "^(%-?%d+)$" or word:match "^(%-?%d+)/[-%d/]*$")
    local corner = k and vertices[k < 0 and #vertices + 1 + k or k]
    if not corner then return nil, k and word end
    corners[#corners + 1] = corner
  end
  return #corners >= 3 and corners or nil
end

-- Lines "v x y z" and "f a b c ...". What follows a # is a comment. Other lines are of no use here.
function files.obj(text, mesh)
  local vertices = {}
  for line, count in lines_of(text) do
    local word, rest = line:match "^%s*(%a+)%s*([^#]*)"
    if word == "v" then
      local x, y, z = rest:match "^(%S+)%s+(%S+)%s+(%S+)"
      x, y, z = tonumber(x), tonumber(y), tonumber(z)
      if not (finite(x) and finite(y) and finite(z)) then return ("line %d: expected v x y z"):format(count) end
      vertices[#vertices + 1] = point_of(mesh, x, y, z)
    elseif word == "f" then
      local corners, unknown = corners_of(rest, vertices)
      if unknown then
        return ("line %d: there is no vertex %s among the %d before it"):format(count, unknown, #vertices)
      end
      if not corners then return ("line %d: expected f with numbers of at least three vertices"):format(count) end
      add_face(mesh, corners)
    end
  end
end

-- Text, which begins with "solid": "vertex x y z" three by three. Binary: 80 bytes, the number of triangles, 50 bytes
-- for each, and whatever follows.
function files.stl(text, mesh)
  local corners = {}
  local function add(x, y, z)
    if not (finite(x) and finite(y) and finite(z)) then
      return ("corner %d: expected vertex x y z"):format(#corners + 1)
    end
    corners[#corners + 1] = point_of(mesh, x, y, z)
  end
  local count = #text >= 84 and string.unpack("<I4", text, 81)
  local words = text:match "^%s*[Ss][Oo][Ll][Ii][Dd]"
  if count and (#text == 84 + 50 * count or not words) then
    if #text < 84 + 50 * count then
      return ("its header tells of %d triangles, and %d are whole"):format(count, (#text - 84) // 50)
    end
    for k = 1, count do
      local t = { string.unpack("<ffffffffffff", text, 85 + 50 * (k - 1)) }
      for i = 4, 12, 3 do
        local wrong = add(t[i], t[i + 1], t[i + 2])
        if wrong then return wrong end
      end
    end
  else
    for x, y, z in ("\n" .. text:lower()):gmatch "\n%s*vertex%s+(%S+)%s+(%S+)%s+(%S+)" do
      local wrong = add(tonumber(x), tonumber(y), tonumber(z))
      if wrong then return wrong end
    end
  end
  if #corners % 3 ~= 0 then return "a triangle is not complete" end
  for k = 1, #corners, 3 do add_triangle(mesh, corners[k], corners[k + 1], corners[k + 2]) end
end

-- The points and triangles of a file; its ending tells the format.
function files.read(file)
  if type(file) ~= "string" then fail("load_mesh: file: expected a string, got %s", type(file)) end
  local read = files[(file:match "%.(%a+)$" or ""):lower():gsub("^read$", "")]
  if not read then fail("load_mesh: %s: expected a name that ends in .obj or .stl", file) end
  local text, reason = arguments.content(file)
  if not text then fail("load_mesh: cannot open %s: %s", file, reason) end
  local mesh = { points = {}, triangles = {}, known = {} }
  text = text:gsub("^\xEF\xBB\xBF", "") -- the mark of UTF-8
  local good, what = where.try(read, text, mesh)
  what = good and what or not good and "it is damaged" or #mesh.triangles == 0 and "it has no triangles"
  if what then fail("load_mesh: %s: %s", file, what) end
  return mesh.points, mesh.triangles
end

return files
