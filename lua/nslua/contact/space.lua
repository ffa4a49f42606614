-- nslua.contact in space: shapes of bodies and of the world, planes, and contacts that come and go.
--
--   local floor = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })     -- a point, the normal towards the free side
--   ns.contact.sphere_plane(R, floor)   ns.contact.sphere_sphere(R1, R2)
--   ns.contact.corner_plane({ a, b, c }, floor)                  -- of a corner, at (a, b, c) in its body
--   ns.contact.cap_plane(R, { a, b, c }, floor)                  -- of a cap of a capsule, centred there
--   ns.contact.box_corners(lx, ly, lz)                           -- the eight corners of a box
--   ns.contact.walls({ x0, y0, z0 }, { x1, y1, z1 })             -- the six planes of a container
--   local contacts = ns.contact.space { nsds =, law =, reach = }
--   contacts:add(ds, ns.contact.capsule(R, length))   contacts:add(nil, ns.contact.mesh(points, triangles))
--   contacts:add_sphere(ds, R)   contacts:add_box(ds, lx, ly, lz)   contacts:add_plane(floor)
--   for k, t in simu:steps() do contacts:update() ... end
--
-- The relations are NewtonEuler3DR, whose rows are the gap and two tangents, for NewtonImpactFrictionNSL(en, et, mu,
-- 3). With 1 as the last argument they are NewtonEuler1DR, with only the gap, for NewtonImpactNSL; with 5
-- NewtonEuler5DR, with two rolling rows, for NewtonImpactRollingFrictionNSL, with 6 NewtonEuler6DR, with a spinning
-- row, too, for NewtonImpactSpinningFrictionNSL. They are evaluated in C. The manager makes the relations that its
-- law needs, and works as the one in the plane. Its shapes are in contact/solid.lua; all touch each other, but
-- particles touch particles and planes alone. Spheres touch spheres and planes by the
-- relations above, other shapes by relations of their features (corners, edges, faces).

local format = require "nslua.core".number_support.format
local links = require "nslua.contact.links"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local huge, sqrt, tointeger = math.huge, math.sqrt, math.tointeger

local function size_of(v) return sqrt(v[1] * v[1] + v[2] * v[2] + v[3] * v[3]) end

-- The size of the acceleration by fExt at the time t. A function that fails counts as it was: the run will tell.
local function push_of(ds, t)
  pcall(ds.computeFExt, ds, t)
  local known, force = pcall(ds.fExt, ds)
  local mass, a = known and force and ds:computeMass(), { 0, 0, 0 }
  for k = 1, mass and 3 or 0 do a[k] = mass[k][k] > 0 and force[k] / mass[k][k] or 0 end
  return size_of(a)
end

local function finite(x) return type(x) == "number" and x == x and x < huge and x > -huge end

local Plane = {}
Plane.__index = Plane
Plane.__name = "plane"
where.strict(Plane)

-- The distance of (x, y, z) from the plane, negative behind it.
local function distance_of(plane, x, y, z)
  local p, n = plane.point, plane.normal
  return (x - p[1]) * n[1] + (y - p[2]) * n[2] + (z - p[3]) * n[3]
end

return function(ns, contact, parts)
  local fail, positive, shared = parts.fail, parts.positive, parts.shared

  local function triple(who, what, v)
    if type(v) ~= "table" or not (finite(v[1]) and finite(v[2]) and finite(v[3])) or v[4] ~= nil then
      fail(who, what, "three finite numbers", v, 3)
    end
    return { v[1], v[2], v[3] }
  end

  local function check_plane(who, plane)
    if getmetatable(plane) ~= Plane then fail(who, "plane", "a plane", plane, 3) end
  end

  function Plane:distance(x, y, z)
    check_plane("distance", self)
    for i, name in ipairs { "x", "y", "z" } do
      local value = select(i, x, y, z)
      if not finite(value) then fail("distance", name, "a finite number", value, 2) end
    end
    return distance_of(self, x, y, z)
  end

  local class_of_rows = { [1] = ns.NewtonEuler1DR, [3] = ns.NewtonEuler3DR, [5] = ns.NewtonEuler5DR,
    [6] = ns.NewtonEuler6DR }

  local function class_of(who, rows) return class_of_rows[rows or 3] or fail(who, "rows", "1, 3, 5 or 6", rows, 3) end

  -- ---- geometry ----

  -- A plane through `point`; the normal, of any length, points to the side on which bodies are.
  function contact.plane(point, normal)
    local p, n = triple("plane", "point", point), triple("plane", "normal", normal)
    local nx, ny, nz = parts.unit(n[1], n[2], n[3])
    if not nx then fail("plane", "normal", "a direction", parts.said "zeros", 2) end
    return setmetatable({ point = p, normal = { nx, ny, nz } }, Plane)
  end

  -- A sphere of radius R (or a particle) and a plane.
  function contact.sphere_plane(R, plane, rows)
    positive("sphere_plane", "R", R)
    check_plane("sphere_plane", plane)
    return class_of("sphere_plane", rows) {
      shape = "sphere_plane", R = R, point = plane.point, normal = plane.normal, name = "sphere and plane" }
  end

  -- Two spheres, or two particles, of radius R1 and R2; the normal points to the first.
  function contact.sphere_sphere(R1, R2, rows)
    positive("sphere_sphere", "R1", R1)
    positive("sphere_sphere", "R2", R2)
    return class_of("sphere_sphere", rows) { shape = "sphere_sphere", R1 = R1, R2 = R2, name = "two spheres" }
  end

  -- A corner of a body, at `corner` in the body's own axes, and a plane.
  function contact.corner_plane(corner, plane, rows)
    corner = triple("corner_plane", "corner", corner)
    check_plane("corner_plane", plane)
    return class_of("corner_plane", rows) {
      shape = "corner_plane", corner = corner, point = plane.point, normal = plane.normal, name = "corner and plane" }
  end

  -- A cap of a capsule and a plane: a ball of radius R around `centre` in the body's own axes. A capsule has two.
  function contact.cap_plane(R, centre, plane, rows)
    positive("cap_plane", "R", R)
    centre = triple("cap_plane", "centre", centre)
    check_plane("cap_plane", plane)
    return class_of("cap_plane", rows) {
      shape = "cap_plane", R = R, corner = centre, name = "cap and plane",
      point = plane.point, normal = plane.normal }
  end

  -- The corners of a box about its centre: x runs fastest.
  function contact.box_corners(lx, ly, lz)
    local a, b = positive("box_corners", "lx", lx) / 2, positive("box_corners", "ly", ly) / 2
    local c, list = positive("box_corners", "lz", lz) / 2, {}
    for k = -1, 1, 2 do
      for j = -1, 1, 2 do
        for i = -1, 1, 2 do list[#list + 1] = { i * a, j * b, k * c } end
      end
    end
    return list
  end

  -- The six planes of a container with opposite corners at `low` and `high`; bodies are inside.
  function contact.walls(low, high)
    low, high = triple("walls", "low", low), triple("walls", "high", high)
    local planes = {}
    for axis = 1, 3 do
      if low[axis] >= high[axis] then
        fail("walls", ("high[%d]"):format(axis), format("a number above %g", low[axis]), high[axis], 2)
      end
      local up, down = { 0, 0, 0 }, { 0, 0, 0 }
      up[axis], down[axis] = 1, -1
      planes[#planes + 1] = contact.plane(low, up)
      planes[#planes + 1] = contact.plane(high, down)
    end
    return planes
  end

  parts.is_plane = function(x) return getmetatable(x) == Plane end
  local solids = require "nslua.contact.solid"(contact, parts.support, parts)

  -- ---- contacts that come and go ----

  local Space = { space = 3 }
  for name, method in pairs(parts.methods) do Space[name] = method end
  Space.__index = Space
  Space.__name = "contact manager in space"
  where.strict(Space)

  -- Raises when there is a shape through which this one would pass: particles touch particles alone. seen: the first
  -- particle, and the first other shape.
  local function check_partners(who, seen, kind, ds)
    local own, foreign = kind == "particle" and "particle" or "body", kind == "particle" and "body" or "particle"
    local other = seen[foreign]
    if other then
      error(("%s: there is no contact between a %s and a %s: they would pass through each other (the other one: %s). "
        .. "If they never meet, add them to different managers"):format(who, kind, other[1],
          (tostring(other[2]):gsub(" with.*", ""))), 3)
    end
    seen[own] = seen[own] or { kind, ds or "the world" }
  end

  function contact.space(options)
    options = parts.check_options("space", options)
    local law = options.law
    local size = parts.check_law("space", law, "1, 3, 5 or 6", class_of_rows)
    if parts.graph.is_in_plane(law) then
      fail("space", "law", "a law of contacts in space, with two tangents", law, 2)
    end
    return links.register(parts.graph, parts.support, setmetatable({
      nsds = options.nsds, law = law, rows = tointeger(size), reach = positive("space", "reach", options.reach),
      scene = parts.support.scene(3, options.reach), planes = {}, counts = {},
      added = {}, active = {}, made = {}, slots = {}, gone = {}, own = {}, apart = {}, -- as in contact.lua
      relations = {}, given = {}, seen = {}, bullets = {},
      shown = {}, -- shapes with their systems, for pictures
    }, Space))
  end

  local function body(who, ds, turns)
    local good, n = where.try(function() return #ds:q() end)
    if type(ds) ~= "userdata" or not good or not (n == 7 or (n == 3 and not turns)) then
      fail(who, "ds", turns and "a NewtonEulerDS" or "a NewtonEulerDS or a particle", ds, 3)
    end
    return ds:q()
  end

  -- The length of a step of a body that is fast, from the options; nil: it is not.
  local function bullet_of(who, ds, options)
    if options == nil then return nil end
    if type(options) ~= "table" then fail(who, "options", "a table", options, 4) end
    local result, message = option_tables.check(options, "bullet", who)
    if not result then error(message, 4) end
    options = result
    if options.bullet == nil then return nil end
    if ds == nil then fail(who, "bullet", "a body that moves", parts.said "the world", 4) end
    return positive(who, "bullet", options.bullet, 4)
  end

  -- Adds the parts of a shape, which may be one of the world.
  local function add(self, who, ds, shape, options)
    local step = bullet_of(who, ds, options)
    self.shown[#self.shown + 1] = { ds = ds, shape = shape }
    for _, part in ipairs(shape.parts) do
      self.counts[shape.kind] = (self.counts[shape.kind] or 0) + 1
      local added = { ds = ds, kind = shape.kind, corner = shape.corner, R = shape.R }
      local q, at = ds and ds:q()
      added.number = self.counts[shape.kind]
      if added.R and #q == 3 then
        at = parts.support.shape(self.scene, q, { { 0, 0, 0, added.R } }, added.R, 0)
      else
        added.corners = not shape.mesh and parts.support.corners(part)
        added.rims = not shape.mesh and parts.support.rims(part)
        at = where.call(who, parts.support.shape, self.scene, q, nil, nil, nil, part)
      end
      self.added[at] = added
      if step then self.bullets[#self.bullets + 1] = { at = at, ds = ds, step = step } end
    end
  end

  function Space:add_sphere(ds, R, options)
    parts.check_self("add_sphere", self, Space)
    local q = body("add_sphere", ds)
    positive("add_sphere", "R", R)
    check_partners("add_sphere", self.seen, #q == 3 and "particle" or "sphere", ds)
    parts.check_new("add_sphere", self.given, ds, "sphere")
    local shape = contact.sphere(R)
    shape.R = R
    add(self, "add_sphere", ds, shape, options)
  end

  function Space:add_box(ds, lx, ly, lz)
    parts.check_self("add_box", self, Space)
    body("add_box", ds, true)
    for i, name in ipairs { "lx", "ly", "lz" } do positive("add_box", name, (select(i, lx, ly, lz))) end
    check_partners("add_box", self.seen, "box", ds)
    add(self, "add_box", ds, contact.box(lx, ly, lz))
  end

  -- Adds a shape of a body, or, with ds = nil, of the world.
  function Space:add(ds, shape, options)
    parts.check_self("add", self, Space)
    if ds ~= nil then body("add", ds, true) end
    solids.check("add", "shape", shape)
    if shape.mesh and ds ~= nil then fail("add", "ds", "nil, as a mesh belongs to the world", ds, 2) end
    check_partners("add", self.seen, shape.kind, ds)
    add(self, "add", ds, shape, options)
  end

  function Space:add_plane(plane)
    parts.check_self("add_plane", self, Space)
    check_plane("add_plane", plane)
    self.planes[#self.planes + 1] = plane
    parts.support.half(self.scene, plane.point, plane.normal)
  end

  -- A ball of a shape and a plane; a corner is a ball of radius 0.
  local function with_plane(self, shape, l, k)
    local plane = self.planes[l]
    if shape.R then
      return ("sphere %d plane %d"):format(shape.number, l), function()
        local name = format("%.17g plane %d %d", shape.R, l, #shape.ds:q())
        return shared(self, name, function() return contact.sphere_plane(shape.R, plane, self.rows) end)
      end, shape.ds
    end
    local rim = shape.rims and shape.rims[k]
    if rim then
      return ("%s %d rim %d plane %d"):format(shape.kind, shape.number, k, l), function()
        return class_of_rows[self.rows] { shape = "ring_face", R = rim[3], corner = rim[1], along = rim[2],
          point = plane.point, normal = plane.normal, name = "rim and plane" }
      end, shape.ds
    end
    if shape.rims then k = 6 * (k - 3) + 1 end -- of the corners on the rims every sixth one touches planes
    local c = shape.corners[k]
    return ("%s %d %s %d plane %d"):format(shape.kind, shape.number, shape.corner, k, l), function()
      local at = { c[1], c[2], c[3] }
      if c[4] > 0 then return contact.cap_plane(c[4], at, plane, self.rows) end
      return contact.corner_plane(at, plane, self.rows)
    end, shape.ds
  end

  -- features: the options of the relation, or nil of two balls.
  function Space:_describe(slot, first, second, part, features)
    local a = self.added[first]
    if second < 0 then return with_plane(self, a, -second, part) end
    local b = self.added[second]
    if features then
      local name = ("%s %d %s %d %s"):format(a.kind, a.number, b.kind, b.number, part)
      features.name = features.shape
      return name, function()
        local relation = class_of_rows[self.rows](features)
        parts.support.follow(self.scene, slot, relation)
        return relation
      end, a.ds, b.ds
    end
    local R1, R2 = a.R or a.corners[1][4], b.R or b.corners[1][4]
    return ("spheres %d %d"):format(a.number, b.number), function()
      local name = format("%.17g %.17g %d", R1, R2, #a.ds:q())
      return shared(self, name, function() return contact.sphere_sphere(R1, R2, self.rows) end)
    end, a.ds, b.ds
  end

  -- A recording of the motion: see film/space.lua.
  function Space:recorder(options)
    parts.check_self("recorder", self, Space)
    self.recorded = true
    return parts.recorder(self, options)
  end

  -- Links and unlinks contacts. Call it before the first step and between steps. Returns the number of linked
  -- contacts.
  function Space:update(reach)
    parts.check_self("update", self, Space)
    local t = parts.graph.now(self.nsds)
    for _, one in ipairs(self.bullets) do
      -- two steps ahead, as far as a forecast looks, with the velocity that forces will have given by then
      local speed = size_of(one.ds:velocity()) + push_of(one.ds, t) * one.step
      parts.support.lead(self.scene, one.at, 2 * speed * one.step)
    end
    return parts.update(self, reach)
  end
end
