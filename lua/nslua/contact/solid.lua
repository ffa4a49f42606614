-- nslua.contact.solid: shapes of bodies in space.
--
--   ns.contact.sphere(R)   ns.contact.box(lx, ly, lz)   ns.contact.capsule(R, length)
--   ns.contact.cylinder(R, length)   ns.contact.hull(points)
--   ns.contact.mesh(points, triangles)   ns.contact.heightfield(heights, dx, dy)
--   ns.contact.compound { shape, ... }
--   shape:placed { x, y, z, e0, e1, e2, e3 }                 -- the same shape elsewhere in its body
--   ns.contact.distance(a, b)                                -- the distance, the two points, the normal from b to a
--
-- Solids are convex; the table of their kinds is in C (contact/solid.h), where they are made and measured. Meshes
-- belong to the world.

local where = require "nslua.base.where"

local huge, sqrt = math.huge, math.sqrt

-- Shape: kind, parts (objects of the core), and for a mesh `mesh`.
local Shape = {}
Shape.__index = Shape
Shape.__name = "shape"
where.strict(Shape)

return function(contact, support, parts)
  local fail, positive = parts.fail, parts.positive

  local function shape(kind, list, corner, mesh)
    return setmetatable({ kind = kind, parts = list, corner = corner, mesh = mesh or false }, Shape)
  end

  local function check_shape(who, what, value, level)
    if getmetatable(value) ~= Shape then fail(who, what, "a shape", value, (level or 2) + 1) end
    return value
  end

  -- A list of lists of three finite numbers.
  local function triples(who, what, list)
    if type(list) ~= "table" then fail(who, what, "a list of three numbers each", list, 3) end
    local plain = {}
    for i = 1, #list do
      local p = list[i]
      local good = type(p) == "table" or type(p) == "userdata"
      for k = 1, 3 do good = good and type(p[k]) == "number" and p[k] == p[k] and math.abs(p[k]) < huge end
      if not good then fail(who, ("%s[%d]"):format(what, i), "three finite numbers", p, 3) end
      plain[i] = { p[1], p[2], p[3] }
    end
    return plain
  end

  for number, class in ipairs(support.solids) do
    contact[class.name] = function(...)
      local values, first = table.pack(...), class.points and 1 or 0
      local points, numbers = class.points and triples(class.name, "points", values[1]) or nil, {}
      for k, name in ipairs(class.numbers) do
        local value = values[first + k]
        if class.rounding and k == #class.numbers then
          value = parts.not_negative(class.name, name, value or 0)
        else
          positive(class.name, name, value)
        end
        numbers[k] = value
      end
      local solid = where.call(class.name, support.solid, number, numbers, points)
      return shape(class.name, { solid }, class.corner)
    end
  end

  -- Whether three points span a triangle that has a normal: its height is above 1e-12 of its longest side.
  local function has_area(a, b, c)
    local ux, uy, uz, vx, vy, vz = b[1] - a[1], b[2] - a[2], b[3] - a[3], c[1] - a[1], c[2] - a[2], c[3] - a[3]
    local size = math.max(math.abs(ux), math.abs(uy), math.abs(uz), math.abs(vx), math.abs(vy), math.abs(vz))
    if size == 0 then return false end
    ux, uy, uz, vx, vy, vz = ux / size, uy / size, uz / size, vx / size, vy / size, vz / size
    return math.max(math.abs(uy * vz - uz * vy), math.abs(uz * vx - ux * vz), math.abs(ux * vy - uy * vx)) > 1e-12
  end

  -- Of each point the number of the first one at the same place: triangles join by the numbers of their points.
  local function first_at_place(points)
    local numbers, known = {}, {}
    for i, p in ipairs(points) do
      local key = ("ddd"):pack(p[1] + 0.0, p[2] + 0.0, p[3] + 0.0) -- 0 has one sign
      known[key] = known[key] or i
      numbers[i] = known[key]
    end
    return numbers
  end

  local function make_mesh(points, triangles)
    local mesh = where.call("mesh", support.mesh, points, triangles)
    return shape("mesh", { mesh }, nil, { points = points, triangles = triangles })
  end

  -- A surface of triangles that does not move; triangles: lists of three numbers of points, from 1.
  function contact.mesh(points, triangles)
    local lists = triangles
    points, triangles = triples("mesh", "points", points), triples("mesh", "triangles", lists)
    local whole, first = {}, first_at_place(points)
    for i, t in ipairs(triangles) do
      if #lists[i] > 3 then
        fail("mesh", ("triangles[%d]"):format(i), "three numbers of points", parts.said(#lists[i]), 2)
      end
      local a, b, c = points[t[1]], points[t[2]], points[t[3]]
      if not (a and b and c) then whole = triangles break end -- the core tells of wrong numbers
      if has_area(a, b, c) then whole[#whole + 1] = { first[t[1]], first[t[2]], first[t[3]] } end
    end
    return make_mesh(points, whole)
  end

  -- A mesh from an .obj or .stl file.
  function contact.load_mesh(file) return contact.mesh(require "nslua.contact.mesh_files".read(file)) end

  -- The surface z = heights[i][j] over x = (i - 1) dx, y = (j - 1) dy.
  function contact.heightfield(heights, dx, dy)
    positive("heightfield", "dx", dx)
    positive("heightfield", "dy", dy)
    local good, rows, columns = where.try(function() return #heights, #heights[1] end)
    if not good or rows < 2 or columns < 2 then
      fail("heightfield", "heights", "a matrix of at least 2 x 2", good and parts.said "a smaller one" or heights, 2)
    end
    local points, triangles = {}, {}
    for i = 1, rows do
      local row = heights[i]
      if type(row) ~= "table" and type(row) ~= "userdata" then
        fail("heightfield", ("heights[%d]"):format(i), "a row of numbers", row, 2)
      end
      for j = 1, columns do
        local z = row[j]
        if type(z) ~= "number" or z ~= z or math.abs(z) == huge then
          fail("heightfield", ("heights[%d][%d]"):format(i, j), "a finite number", z, 2)
        end
        points[#points + 1] = { (i - 1) * dx, (j - 1) * dy, z }
      end
    end
    for i = 1, rows - 1 do
      for j = 1, columns - 1 do
        local a = (i - 1) * columns + j
        triangles[#triangles + 1] = { a, a + columns, a + columns + 1 }
        triangles[#triangles + 1] = { a, a + columns + 1, a + 1 }
      end
    end
    return contact.mesh(points, triangles)
  end

  -- One body of several solids, which may overlap.
  function contact.compound(list)
    local all = {}
    if type(list) ~= "table" or #list == 0 then fail("compound", "shapes", "a list of shapes", list, 2) end
    for i = 1, #list do
      local one = check_shape("compound", ("shapes[%d]"):format(i), list[i])
      if one.mesh then fail("compound", ("shapes[%d]"):format(i), "a convex shape", parts.said "a mesh", 2) end
      table.move(one.parts, 1, #one.parts, #all + 1, all)
    end
    return shape("compound", all, "corner")
  end

  -- The seven numbers of a place: position and unit quaternion, which may be left out.
  local function place_of(q)
    local good, values = where.try(function()
      if #q == 3 then return { q[1], q[2], q[3], 1, 0, 0, 0 } end
      return { q[1], q[2], q[3], q[4], q[5], q[6], q[7] }
    end)
    for k = 1, 7 do
      local x = good and values[k]
      if type(x) ~= "number" or x ~= x or math.abs(x) == huge then
        fail("placed", "place", "3 or 7 finite numbers", q, 3)
      end
    end
    local length = sqrt(values[4] ^ 2 + values[5] ^ 2 + values[6] ^ 2 + values[7] ^ 2)
    if length == 0 then fail("placed", "place", "a quaternion", parts.said "zeros", 3) end
    for k = 4, 7 do values[k] = values[k] / length end
    return values
  end

  local function move_point(q, p)
    local e0, e1, e2, e3 = q[4], q[5], q[6], q[7]
    local x, y = e2 * p[3] - e3 * p[2] + e0 * p[1], e3 * p[1] - e1 * p[3] + e0 * p[2]
    local z = e1 * p[2] - e2 * p[1] + e0 * p[3]
    return { q[1] + p[1] + 2 * (e2 * z - e3 * y), q[2] + p[2] + 2 * (e3 * x - e1 * z),
      q[3] + p[3] + 2 * (e1 * y - e2 * x) }
  end

  function Shape:placed(q)
    check_shape("placed", "self", self)
    q = place_of(q)
    if self.mesh then
      local points = {}
      for i, p in ipairs(self.mesh.points) do points[i] = move_point(q, p) end
      return contact.mesh(points, self.mesh.triangles)
    end
    local moved = {}
    for i, solid in ipairs(self.parts) do moved[i] = support.move(solid, q) end
    return shape(self.kind, moved, self.corner)
  end

  function Shape:__tostring() return self.kind end

  -- The corners of a solid's parts, { x, y, z, rounding } each.
  function Shape:corners()
    check_shape("corners", "self", self)
    if self.mesh then return self.mesh.points end
    local list = {}
    for _, solid in ipairs(self.parts) do
      for _, corner in ipairs(support.corners(solid)) do list[#list + 1] = corner end
    end
    return list
  end

  -- Volume, centre of mass and inertia about it, for density 1, of a box, a cylinder or a hull, alone or in a
  -- compound, without its rounding.
  function Shape:mass()
    check_shape("mass", "self", self)
    local volume, centre, moments = 0, { 0, 0, 0 }, nil
    if not self.mesh and #self.parts == 1 then volume, centre, moments = support.mass(self.parts[1]) end
    if volume <= 0 then fail("mass", "self", "one box, cylinder or hull", parts.said("a " .. self.kind), 2) end
    local xx, yy, zz, xy, xz, yz = table.unpack(moments)
    return volume, centre, { { xx, xy, xz }, { xy, yy, yz }, { xz, yz, zz } }
  end

  -- The lowest points of a solid over a plane: its corners, or of each rim the point that is lowest.
  local function lowest(solid, n)
    local rims, list = support.rims(solid), {}
    if not rims then return support.corners(solid) end
    for i, rim in ipairs(rims) do
      local c, a, R = rim[1], rim[2], rim[3]
      local up = a[1] * n[1] + a[2] * n[2] + a[3] * n[3]
      local x, y, z = n[1] - up * a[1], n[2] - up * a[2], n[3] - up * a[3]
      local length = sqrt(x * x + y * y + z * z)
      local part = length > 0 and R / length or 0
      list[i] = { c[1] - part * x, c[2] - part * y, c[3] - part * z, 0 }
    end
    return list
  end

  -- The distance of a shape and a plane: its lowest corner.
  local function plane_distance(a, plane)
    local n, best, at = plane.normal, huge, nil
    for _, part in ipairs(a.parts) do
      for _, c in ipairs(a.mesh and a.mesh.points or lowest(part, n)) do
        local d = plane:distance(c[1], c[2], c[3]) - (c[4] or 0)
        if d < best then best, at = d, c end
      end
    end
    local R = at[4] or 0
    local on_a = { at[1] - R * n[1], at[2] - R * n[2], at[3] - R * n[3] }
    local on_plane = { on_a[1] - best * n[1], on_a[2] - best * n[2], on_a[3] - best * n[3] }
    return best, on_a, on_plane, { n[1], n[2], n[3] }
  end

  local function turn_back(d, pa, pb, n) return d, pb, pa, { -n[1], -n[2], -n[3] } end

  -- The distance of two shapes, below 0 where they overlap; the points that are nearest, of a and of b; the unit
  -- vector from b to a, which is how the distance changes when a moves.
  function contact.distance(a, b)
    local plane_a, plane_b = parts.is_plane(a), parts.is_plane(b)
    if plane_a and plane_b then fail("distance", "b", "a shape", parts.said "two planes", 2) end
    if not plane_a then check_shape("distance", "a", a) end
    if not plane_b then check_shape("distance", "b", b) end
    if plane_b then return plane_distance(a, b) end
    if plane_a then return turn_back(plane_distance(b, a)) end
    if a.mesh and b.mesh then fail("distance", "b", "a shape that is no mesh", parts.said "two meshes", 2) end
    local best
    for _, one in ipairs(a.parts) do
      for _, other in ipairs(b.parts) do
        local answer = table.pack(support.distance(one, other))
        if not best or answer[1] < best[1] then best = answer end
      end
    end
    return table.unpack(best)
  end

  return { check = check_shape }
end
