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

-- Lines "v x y z" and "f a b c ...", where a is a number, or a/texture/normal, from 1 or back from -1. A polygon
-- becomes a fan. What follows a # is a comment. Other lines are of no use here.
function files.obj(text, mesh)
  local vertices, count = {}, 0
  for line in text:gsub("\r\n?", "\n"):gmatch "[^\n]*" do
    count = count + 1
    local word, rest = line:match "^%s*(%a+)%s*([^#]*)"
    if word == "v" then
      local x, y, z = rest:match "^(%S+)%s+(%S+)%s+(%S+)"
      x, y, z = tonumber(x), tonumber(y), tonumber(z)
      if not (finite(x) and finite(y) and finite(z)) then return ("line %d: expected v x y z"):format(count) end
      vertices[#vertices + 1] = point_of(mesh, x, y, z)
    elseif word == "f" then
      local corners = {}
      for number in rest:gmatch "%S+" do
        local k = tonumber(number:match "^(%-?%d+)$" or number:match "^(%-?%d+)/[-%d/]*$") or 0
        corners[#corners + 1] = vertices[k < 0 and #vertices + 1 + k or k] or false
      end
      for _, corner in ipairs { #corners >= 3, table.unpack(corners) } do
        if not corner then return ("line %d: expected f with numbers of at least three vertices"):format(count) end
      end
      for k = 3, #corners do add_triangle(mesh, corners[1], corners[k - 1], corners[k]) end
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
  local good, what = where.try(read, text, mesh)
  what = good and what or not good and "it is damaged" or #mesh.triangles == 0 and "it has no triangles"
  if what then fail("load_mesh: %s: %s", file, what) end
  return mesh.points, mesh.triangles
end

return files
