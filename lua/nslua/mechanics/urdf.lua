-- nslua.mechanics.urdf: robots from URDF files, as rigid bodies with joints.
--
--   local arm = ns.mechanics.load("arm.urdf", { nsds = nsds, q = { elbow = 0.3 } })
--   arm.bodies.forearm   arm.joints.elbow   arm.laws["elbow upper"]   arm:add_to(contacts)
--
-- Links that fixed joints hold together are one body, with the axes of the link nearest to the root; q is the
-- place of its centre of mass. The root is the world, unless base = "free". A <loop> stands beside <joint> with the
-- same contents: it closes a chain, and both of its links have their places by other joints.
--
-- Format: https://wiki.ros.org/urdf/XML.

local arguments = require "nslua.base.arguments"
local names = require "nslua.base.names"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"
local xml = require "nslua.base.xml"

local ns, relations, join -- nslua and its joints, given when it is loaded
local fail, describe = arguments.fail, arguments.describe
local cos, sin = math.cos, math.sin

-- Types of joints: what makes the relation of a joint, and whether it has the motion of an axis.
local types = {
  revolute = { class = "PivotJointR", axis = true, limits = true },
  continuous = { class = "PivotJointR", axis = true },
  prismatic = { class = "PrismaticJointR", axis = true, limits = true },
  planar = { class = "PlanarJointR", axis = true },
  fixed = { class = "FixedJointR" },
  floating = {},
}

-- ---- reading ----

-- Raises a mistake in the file at an element, or a line.
local function mistake(robot, at, text, ...)
  fail("load: %s:%d: %s", robot.file, type(at) == "table" and at.line or at, (#{ ... } > 0 and text:format(...)
    or text))
end

-- The child of that name; one at most.
local function child_of(robot, element, name)
  local found
  for _, child in ipairs(element) do
    if child.name == name then
      if found then
        local of = element.attributes.name and (" of '%s'"):format(element.attributes.name) or ""
        mistake(robot, child, "there are two <%s> in the <%s>%s: see line %d", name, element.name, of, found.line)
      end
      found = child
    end
  end
  return found
end

local function attribute(robot, element, name)
  local value = element.attributes[name]
  if not value then mistake(robot, element, "<%s> has no '%s'", element.name, name) end
  return value
end

-- The numbers of an attribute, n of them; `default`: they may be left out.
local function numbers(robot, element, name, n, default)
  local text = element and element.attributes[name]
  if not text and default then return default end
  local list = {}
  for word in attribute(robot, element, name):gmatch "%S+" do
    local x = tonumber(word)
    if not x or x - x ~= 0 then
      mistake(robot, element, "%s of <%s>: expected %s, got '%s'", name, element.name, n == 1
        and "a number" or "numbers", word)
    end
    list[#list + 1] = x + 0.0
  end
  if #list ~= n then
    mistake(robot, element, "%s of <%s>: expected %s, got %d", name, element.name, n == 1 and "one number"
      or n .. " numbers", #list)
  end
  return list
end

local function number(robot, element, name, default)
  return numbers(robot, element, name, 1, default and { default })[1]
end

-- A positive number.
local function size(robot, element, name)
  local x = number(robot, element, name)
  if x <= 0 then mistake(robot, element, "%s of <%s>: expected a positive number, got %g", name, element.name, x) end
  return x
end

-- What a moment of inertia in a file may be wrong by, over the trace: it has four digits or so.
local FILE_DIGITS <const> = 1e-3

-- ---- words ----

-- What elements hold that are read: their attributes, and after ":" the elements in them.
local words = {
  robot = "name version: link joint loop",
  link = "name type: inertial visual collision",
  joint = "name type: origin parent child axis limit dynamics mimic safety_controller calibration",
  inertial = ": origin mass inertia", collision = "name: origin geometry",
  geometry = ": box sphere capsule cylinder mesh",
  origin = "xyz rpy:", mass = "value:", inertia = "ixx ixy ixz iyy iyz izz:", parent = "link:", child = "link:",
  axis = "xyz:", limit = "lower upper effort velocity:", dynamics = "damping friction:",
  mimic = "joint multiplier offset:", box = "size:", sphere = "radius:", capsule = "radius length:",
  cylinder = "radius length:", mesh = "filename scale:",
}
words.loop = words.joint

local function list_of(text)
  local list = {}
  for word in text:gmatch "%S+" do
    list[#list + 1], list[word] = word, true
  end
  return list
end

local function tell(robot, element, text, ...)
  warn(("nslua: load: %s:%d: %s"):format(robot.file, element.line, text:format(...)))
end

-- Tells of attributes that are not known, and of elements whose name is nearly a known one: they are left out, and a
-- number that is written wrong would be the default one. Macros of xacro are a mistake: what they stand for would
-- lack.
local function tell_unknown(robot, element)
  local attributes, inner = words[element.name]:match "^(.*):(.*)$"
  attributes, inner = list_of(attributes), list_of(inner)
  local given = {}
  for name in pairs(element.attributes) do given[#given + 1] = name end
  table.sort(given)
  for _, name in ipairs(given) do
    if not attributes[name] and not name:find ":" and name ~= "xmlns" then
      tell(robot, element, "<%s> has no attribute '%s', which is left out (known: %s)", element.name, name,
        #attributes > 0 and table.concat(attributes, ", ") or "none")
    end
  end
  for _, child in ipairs(element) do
    if child.name:find "^xacro:" then
      mistake(robot, child, "<%s> is a macro, which is not expanded: load what the program xacro makes of the file",
        child.name)
    end
    local near = not inner[child.name] and names.nearest(child.name, inner)
    if near then tell(robot, child, "<%s> is left out; the nearest that is known is <%s>", child.name, near) end
    if inner[child.name] and words[child.name] then tell_unknown(robot, child) end
  end
end

-- ---- places: p, and a quaternion e ----

local function quaternion_of(r, p, y)
  local cr, sr, cp, sp, cy, sy = cos(r / 2), sin(r / 2), cos(p / 2), sin(p / 2), cos(y / 2), sin(y / 2)
  return { cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
    cr * cp * sy - sr * sp * cy }
end

local function origin_of(robot, element)
  local origin = child_of(robot, element, "origin")
  local rpy = numbers(robot, origin, "rpy", 3, { 0, 0, 0 })
  return { p = numbers(robot, origin, "xyz", 3, { 0, 0, 0 }), e = quaternion_of(table.unpack(rpy)) }
end

local function turned(e, v) return { relations.turned(e[1], e[2], e[3], e[4], v[1], v[2], v[3]) } end

local function turned_back(e, v) return { relations.turned(e[1], -e[2], -e[3], -e[4], v[1], v[2], v[3]) } end

-- The place `inner`, given in the axes of the place `outer`.
local function within(outer, inner)
  local x, e = turned(outer.e, inner.p), outer.e
  return { p = { outer.p[1] + x[1], outer.p[2] + x[2], outer.p[3] + x[3] },
    e = { relations.product(e[1], e[2], e[3], e[4], table.unpack(inner.e)) } }
end

local function rotation_of(e)
  local R = ns.zeros(3, 3)
  for j = 1, 3 do
    local column = turned(e, { j == 1 and 1 or 0, j == 2 and 1 or 0, j == 3 and 1 or 0 })
    for i = 1, 3 do R[i][j] = column[i] end
  end
  return R
end

-- ---- links ----

local function read_inertia(robot, link, element)
  local inertial = child_of(robot, element, "inertial")
  if not inertial then return end
  local mass, inertia = child_of(robot, inertial, "mass"), child_of(robot, inertial, "inertia")
  if not mass then mistake(robot, inertial, "<inertial> has no <mass>") end
  if not inertia then mistake(robot, inertial, "<inertial> has no <inertia>") end
  link.mass, link.centre = size(robot, mass, "value"), origin_of(robot, inertial)
  local I = {}
  for _, name in ipairs { "ixx", "ixy", "ixz", "iyy", "iyz", "izz" } do
    I[name] = number(robot, inertia, name, name:sub(2, 2) ~= name:sub(3, 3) and 0 or nil)
  end
  link.inertia = ns.matrix { { I.ixx, I.ixy, I.ixz }, { I.ixy, I.iyy, I.iyz }, { I.ixz, I.iyz, I.izz } }
  if not where.try(ns.cholesky, link.inertia) then
    mistake(robot, inertia, "the inertia of link '%s' is not positive definite", link.name)
  end
  -- trace / 2 less the inertia is the sum of m r r': no moment of it is below 0, but for digits of the file.
  local trace = I.ixx + I.iyy + I.izz
  if not where.try(ns.cholesky, ns.eye(3) * (trace * (0.5 + FILE_DIGITS)) - link.inertia) then
    tell(robot, inertia, "no body has the inertia of link '%s': its largest moment is above the sum of the others",
      link.name)
  end
end

-- The path of a mesh: "package://NAME/..." is in packages[NAME], or in the folder of the file.
local function path_of(robot, element)
  local name = attribute(robot, element, "filename")
  local package, rest = name:match "^package://([^/]+)/(.*)$"
  local folder = package and robot.packages[package] or robot.file:match "^(.*)/[^/]*$" or "."
  if type(folder) ~= "string" then
    fail("load: packages: '%s': expected the name of a folder, got %s", package, describe(folder))
  end
  rest = rest or name:gsub("^file://", "")
  return rest:sub(1, 1) == "/" and rest or folder .. "/" .. rest
end

-- The shape of a mesh is its convex hull: a body that moves is convex.
local function hull_of(robot, element)
  local scale, path = numbers(robot, element, "scale", 3, { 1, 1, 1 }), path_of(robot, element)
  local good, points = where.try(require "nslua.contact.mesh_files".read, path)
  if not good then mistake(robot, element, "%s", (where.bare(points, "load_mesh"):gsub("^load_mesh: ", ""))) end
  local scaled = {}
  for i, p in ipairs(points) do scaled[i] = { p[1] * scale[1], p[2] * scale[2], p[3] * scale[3] } end
  local made, shape = where.try(ns.contact.hull, scaled)
  if not made then mistake(robot, element, "%s: %s", path, (where.bare(shape, "hull"))) end
  return shape
end

local geometries = {
  box = function(robot, element)
    local s = numbers(robot, element, "size", 3)
    for _, x in ipairs(s) do
      if x <= 0 then mistake(robot, element, "size of <box>: expected positive numbers, got %g", x) end
    end
    return ns.contact.box(s[1], s[2], s[3])
  end,
  sphere = function(robot, element) return ns.contact.sphere(size(robot, element, "radius")) end,
  capsule = function(robot, element)
    return ns.contact.capsule(size(robot, element, "radius"), size(robot, element, "length"))
  end,
  cylinder = function(robot, element)
    return ns.contact.cylinder(size(robot, element, "radius"), size(robot, element, "length"))
  end,
  mesh = hull_of,
}

local function read_shapes(robot, link, element)
  for _, collision in ipairs(element) do
    if collision.name == "collision" then
      local geometry = child_of(robot, collision, "geometry")
      local shape = geometry and geometry[1]
      if not shape then mistake(robot, collision, "<collision> has no <geometry> with a shape") end
      local make = geometries[shape.name]
      if not make then
        mistake(robot, shape, "the shape <%s> is not known (known: box, capsule, cylinder, mesh, sphere)", shape.name)
      end
      link.shapes[#link.shapes + 1] = { place = origin_of(robot, collision), shape = make(robot, shape) }
    end
  end
end

local function read_link(robot, element)
  local link = { name = attribute(robot, element, "name"), line = element.line, shapes = {} }
  if robot.links[link.name] then
    mistake(robot, element, "there are two links '%s': see line %d", link.name, robot.links[link.name].line)
  end
  read_inertia(robot, link, element)
  read_shapes(robot, link, element)
  robot.links[link.name] = link
  robot.order[#robot.order + 1] = link
end

-- ---- joints ----

local function read_end(robot, element, name)
  local tag = child_of(robot, element, name)
  if not tag then mistake(robot, element, "<%s> has no <%s>", element.name, name) end
  return attribute(robot, tag, "link"), tag
end

local function read_limits(robot, joint, element)
  local limit = child_of(robot, element, "limit")
  if types[joint.type].limits then
    if not limit then mistake(robot, element, "the %s joint '%s' has no <limit>", joint.type, joint.name) end
    joint.lower, joint.upper = number(robot, limit, "lower", 0), number(robot, limit, "upper", 0)
    if joint.lower > joint.upper then
      mistake(robot, limit, "lower = %g is above upper = %g", joint.lower, joint.upper)
    end
  end
  joint.effort = limit and number(robot, limit, "effort", math.huge)
  joint.velocity = limit and number(robot, limit, "velocity", math.huge)
end

local function read_joint(robot, element)
  local joint = { name = attribute(robot, element, "name"), line = element.line, loop = element.name == "loop",
    type = attribute(robot, element, "type") }
  if robot.joints[joint.name] then
    mistake(robot, element, "there are two joints '%s': see line %d", joint.name, robot.joints[joint.name].line)
  end
  if not types[joint.type] then
    mistake(robot, element,
      "the type '%s' is not known (known: continuous, fixed, floating, planar, prismatic, revolute)",
      joint.type)
  end
  local mimic = child_of(robot, element, "mimic")
  joint.mimic = mimic and { of = attribute(robot, mimic, "joint"), line = mimic.line,
    ratio = number(robot, mimic, "multiplier", 1), offset = number(robot, mimic, "offset", 0) }
  joint.parent, joint.parent_tag = read_end(robot, element, "parent")
  joint.child, joint.child_tag = read_end(robot, element, "child")
  joint.origin = origin_of(robot, element)
  local axis = child_of(robot, element, "axis")
  joint.axis = numbers(robot, axis, "xyz", 3, { 1, 0, 0 })
  if types[joint.type].axis and ns.vector(joint.axis):norm() == 0 then mistake(robot, axis,
    "the axis of joint '%s' is zero", joint.name) end
  read_limits(robot, joint, element)
  local dynamics = child_of(robot, element, "dynamics")
  joint.dynamics = dynamics
  joint.damping, joint.friction = 0, 0
  for _, name in ipairs { "damping", "friction" } do
    if dynamics then joint[name] = number(robot, dynamics, name, 0) end
    if joint[name] < 0 then mistake(robot, dynamics, "%s of joint '%s' is below 0", name, joint.name) end
  end
  robot.joints[joint.name], robot.joints[#robot.joints + 1] = joint, joint
end

local function check_tree(robot)
  for _, joint in ipairs(robot.joints) do
    for _, name in ipairs { "parent", "child" } do
      if not robot.links[joint[name]] then
        mistake(robot, joint[name .. "_tag"], "joint '%s': there is no link '%s'", joint.name, joint[name])
      end
    end
    local child = robot.links[joint.child]
    if joint.parent == joint.child then mistake(robot, joint, "joint '%s' joins link '%s' to itself", joint.name,
      joint.child) end
    if not joint.loop then
      if child.above then
        mistake(robot, joint,
          "link '%s' is the child of '%s' and of '%s'; a <loop> in place of the second <joint> closes a chain",
          child.name, child.above.name, joint.name)
      end
      child.above = joint
    end
  end
  for _, link in ipairs(robot.order) do
    if not link.above then
      if robot.root then
        mistake(robot, link, "links '%s' and '%s' are both the child of no joint", robot.root.name, link.name)
      end
      robot.root = link
    end
  end
  if not robot.root then mistake(robot, robot.line, "every link is the child of a joint: there is no root") end
end

-- ---- bodies ----

-- The place of a link, and the link nearest to the root that fixed joints hold it to.
local function place_link(robot, link, seen)
  if link.place then return link.place end
  if seen[link] then mistake(robot, link, "link '%s' is above itself: a circle of joints", link.name) end
  seen[link] = true
  local joint = link.above
  local outer = within(place_link(robot, robot.links[joint.parent], seen), joint.origin)
  local value, a = robot.q[joint.name] or 0, ns.vector(joint.axis)
  a = (a / a:norm()):totable()
  local motion = { p = { 0, 0, 0 }, e = { 1, 0, 0, 0 } }
  if joint.type == "prismatic" then motion.p = { value * a[1], value * a[2], value * a[3] }
  elseif types[joint.type].class == "PivotJointR" then
    local s = sin(value / 2)
    motion.e = { cos(value / 2), s * a[1], s * a[2], s * a[3] }
  end
  joint.place = outer
  link.place = within(outer, motion)
  link.top = joint.type == "fixed" and robot.links[joint.parent].top or link
  return link.place
end

-- The mass, the centre and the inertia of links that are one body; nil: they have no mass.
local function weigh(links, top)
  local mass, centre = 0, { 0, 0, 0 }
  for _, link in ipairs(links) do
    mass = mass + (link.mass or 0)
    link.at = link.mass and within(link.place, link.centre)
    for k = 1, link.mass and 3 or 0 do centre[k] = centre[k] + link.mass * link.at.p[k] end
  end
  if mass == 0 then return nil end
  for k = 1, 3 do centre[k] = centre[k] / mass end
  local inertia = ns.zeros(3, 3)
  for _, link in ipairs(links) do
    if link.mass then
      local R, d, square = rotation_of(link.at.e), {}, 0
      for k = 1, 3 do d[k] = link.at.p[k] - centre[k] square = square + d[k] * d[k] end
      inertia = inertia + R * link.inertia * R:transpose()
      for i = 1, 3 do
        for j = 1, 3 do inertia[i][j] = inertia[i][j] + link.mass * ((i == j and square or 0) - d[i] * d[j]) end
      end
    end
  end
  local R = rotation_of(top.place.e)
  inertia = R:transpose() * inertia * R
  return mass, centre, (inertia + inertia:transpose()) * 0.5
end

-- The shapes of links, in the axes of a body, or of the world.
local function shape_of(links, place)
  local list = {}
  for _, link in ipairs(links) do
    for _, one in ipairs(link.shapes) do
      local at = within(link.place, one.place)
      local x = turned_back(place.e, { at.p[1] - place.p[1], at.p[2] - place.p[2], at.p[3] - place.p[3] })
      local e = { relations.product(place.e[1], -place.e[2], -place.e[3], -place.e[4], table.unpack(at.e)) }
      list[#list + 1] = one.shape:placed { x[1], x[2], x[3], table.unpack(e) }
    end
  end
  return #list > 1 and ns.contact.compound(list) or list[1]
end

local function make_bodies(robot, arm)
  local groups = {}
  for _, link in ipairs(robot.order) do
    place_link(robot, link, {})
    groups[link.top] = groups[link.top] or {}
    table.insert(groups[link.top], link)
  end
  for _, top in ipairs(robot.order) do
    local links = groups[top]
    if links and top == robot.root and robot.base == "fixed" then
      arm.shapes.world = shape_of(links, { p = { 0, 0, 0 }, e = { 1, 0, 0, 0 } })
    elseif links then
      local mass, centre, inertia = weigh(links, top)
      if not mass then
        mistake(robot, top,
          "link '%s' moves and has no mass: it has no <inertial>, nor have links that are fixed to it", top.name)
      end
      local e, g = top.place.e, robot.gravity
      local ds = ns.NewtonEulerDS { q0 = { centre[1], centre[2], centre[3], table.unpack(e) }, v0 = { 0, 0, 0, 0, 0,
        0 }, mass = mass,
        inertia = inertia, fExt = { mass * g[1], mass * g[2], mass * g[3], 0, 0, 0 }, name = top.name }
      robot.systems[#robot.systems + 1] = ds
      for _, link in ipairs(links) do arm.bodies[link.name] = ds end
      arm.shapes[top.name] = shape_of(links, { p = centre, e = e })
    end
  end
end

-- The relation of a joint, with its stops and friction, for ns.mechanics.join; nil: it holds nothing.
local function make_joint(robot, arm, joint)
  local kind, child, parent = types[joint.type], arm.bodies[joint.child], arm.bodies[joint.parent]
  if not kind.class or child == parent then return nil end
  local at = joint.place or within(robot.links[joint.parent].place, joint.origin)
  local a = ns.vector(joint.axis)
  local axis = turned(at.e, (a / a:norm()):totable())
  local damping = robot.damping ~= false and joint.damping or 0
  if damping > 0 and not (kind.class == "PivotJointR" or kind.class == "PrismaticJointR") then
    mistake(robot, joint.dynamics, "joint '%s': damping of a %s joint is not supported", joint.name, joint.type)
  end
  local one, other, sign = child or parent, child and parent, child and 1 or -1
  local o = { absolute = true, bodies = { one, other }, name = joint.name }
  if kind.axis then o.axis = { sign * axis[1], sign * axis[2], sign * axis[3] } end
  if kind.class == "PivotJointR" then o.point = at.p end
  if kind.class == "FixedJointR" then o.absolute = nil end
  local relation = ns[kind.class](o)
  arm.joints[joint.name], arm.starts[joint.name] = relation, robot.q[joint.name] or 0
  arm.joined[#arm.joined + 1] = { one, other }
  local now, stops = arm.starts[joint.name], nil
  if joint.lower then
    if not joint.loop and (now < joint.lower or now > joint.upper) then
      mistake(robot, joint, "joint '%s' starts at %g, beyond its limits %g and %g", joint.name, now, joint.lower,
        joint.upper)
    end
    stops = { joint.lower - now, joint.upper - now }
    if kind.class == "PivotJointR" and joint.upper - joint.lower >= relations.span then
      warn(("nslua: load: %s:%d: the limits of joint '%s' are %g apart: an angle has stops that are less than %g "
        .. "apart, and it has none"):format(robot.file, joint.line, joint.name, joint.upper - joint.lower,
        relations.span))
      stops = nil
    end
    if joint.lower == joint.upper then mistake(robot, joint,
      "joint '%s' has lower = upper: a fixed joint does not move", joint.name) end
  end
  return { relation, stops = stops, force = joint.friction, damping = damping }
end

local Arm = { __name = "robot" }
Arm.__index = Arm

-- Adds the shapes of all bodies, and of the world, to a manager of contacts, in the order of their names. Bodies that
-- a joint holds together do not touch each other: at a joint shapes overlap.
function Arm:add_to(space)
  local order, fixed = {}, {}
  for name in pairs(self.shapes) do order[#order + 1] = name end
  table.sort(order)
  for _, name in ipairs(order) do
    where.pass(space.add, space, self.bodies[name], self.shapes[name])
    if not self.bodies[name] then fixed = { #space.added - #self.shapes[name].parts + 1, #space.added } end
  end
  for _, pair in ipairs(self.joined) do
    local one, other = pair[1], pair[2]
    if other then
      space:_keep_apart(one, other)
      space:_keep_apart(other, one)
    else
      for k = fixed[1] or 1, fixed[2] or 0 do space:_keep_apart(one, k) end
    end
  end
end

-- The angle or the way of a joint now, counted as in the file.
function Arm:value(name)
  arguments.expect(name, "string", "value: name: expected the name of a joint")
  local joint = self.joints[name]
  if not joint or joint:numberOfDoF() == 0 then fail("value: there is no joint '%s' that moves", name) end
  return self.starts[name] + joint:dof()
end

local function read(file, o)
  local text, reason = arguments.content(file)
  if not text then fail("load: cannot open %s: %s", file, reason) end
  local robot = { file = file, links = {}, order = {}, joints = {}, q = {}, systems = {},
    damping = o.damping,
    base = o.base or "fixed", packages = o.packages or {}, gravity = arguments.numbers(o.gravity or { 0, 0, -9.81 },
      3, "load", "gravity") }
  local root = xml.parse(text, function(line, message) mistake(robot, line, "%s", message) end)
  robot.line = root.line
  if root.name ~= "robot" then mistake(robot, root, "expected <robot>, got <%s>", root.name) end
  tell_unknown(robot, root)
  for _, element in ipairs(root) do
    if element.name == "link" then read_link(robot, element) end
  end
  for _, element in ipairs(root) do
    if element.name == "joint" or element.name == "loop" then read_joint(robot, element) end
  end
  if #robot.order == 0 then mistake(robot, root, "<robot> has no <link>") end
  return robot
end

-- Whether a joint has a value: it turns, or moves along its axis.
local function has_value(joint)
  local class = types[joint.type].class
  return not joint.loop and (class == "PivotJointR" or class == "PrismaticJointR")
end

-- Gives joints that follow others the value that follows; `below`: the joints that wait for this one.
local function follow(robot, joint, below)
  local m = joint.mimic
  if not m then return robot.q[joint.name] or 0 end
  local other = robot.joints[m.of]
  if not other then mistake(robot, m, "joint '%s' mimics '%s', which is no joint", joint.name, m.of) end
  if not (has_value(joint) and has_value(other)) then
    mistake(robot, m, "joint '%s' mimics '%s': both must be revolute, continuous or prismatic", joint.name, m.of)
  end
  if below[joint] then mistake(robot, m, "joint '%s' mimics itself", joint.name) end
  below[joint] = true
  local value, given = m.ratio * follow(robot, other, below) + m.offset, robot.q[joint.name]
  if given and math.abs(given - value) > 1e-12 * math.max(1, math.abs(value)) then
    fail("load: q: '%s' mimics '%s': expected %.15g, got %.15g", joint.name, m.of, value, given)
  end
  below[joint], robot.q[joint.name] = nil, value
  return value
end

-- Links the equation of a joint that follows another one.
local function link_mimic(robot, arm, nsds, joint)
  local m, one, other = joint.mimic, arm.joints[joint.name], arm.joints[joint.mimic.of]
  local good, relation, bodies = where.try(ns.CouplerJointR, one, other, m.ratio)
  if not good then mistake(robot, m, "joint '%s': %s", joint.name, (relation:gsub("^.*CouplerJointR: ", ""))) end
  local name = joint.name .. " mimic"
  local interaction = ns.Interaction(ns.EqualityConditionNSL(1), relation, name)
  where.pass(nsds.link, nsds, interaction, table.unpack(bodies))
  arm.laws[name], arm.laws[#arm.laws + 1] = interaction, interaction
end

-- Checks the values of joints that the caller gives.
local function check_values(robot, q)
  for name, value in pairs(q or {}) do
    local joint = type(name) == "string" and robot.joints[name]
    if not joint then fail("load: q: there is no joint '%s'", tostring(name)) end
    if type(value) ~= "number" or value - value ~= 0 then fail("load: q: '%s': expected a number, got %s", name,
      describe(value)) end
    if not has_value(joint) then
      fail("load: q: '%s' is a %s: it has no value", name, joint.loop and "loop" or joint.type .. " joint")
    end
    robot.q[name] = value
  end
  for _, joint in ipairs(robot.joints) do follow(robot, joint, {}) end
end

local function load(file, o)
  if type(file) ~= "string" then fail("load: file: expected a string, got %s", describe(file)) end
  o = option_tables.need(o or {}, option_names["mechanics.load"], "load", fail)
  if getmetatable(o.nsds) ~= "NonSmoothDynamicalSystem" then
    fail("load: nsds: expected a NonSmoothDynamicalSystem, got %s", describe(o.nsds))
  end
  if o.base ~= nil and o.base ~= "fixed" and o.base ~= "free" then
    fail("load: base: expected 'fixed' or 'free', got %s", describe(o.base))
  end
  for name, kind in pairs { q = "table", packages = "table", damping = "boolean" } do
    if o[name] ~= nil and type(o[name]) ~= kind then
      fail("load: %s: expected a %s, got %s", name, kind, describe(o[name]))
    end
  end
  local robot = read(file, o)
  check_tree(robot)
  check_values(robot, o.q)
  robot.root.place, robot.root.top = { p = { 0, 0, 0 }, e = { 1, 0, 0, 0 } }, robot.root
  local arm, list = setmetatable({ bodies = {}, joints = {}, shapes = {}, limits = {}, starts = {},
    joined = {} }, Arm), {}
  make_bodies(robot, arm)
  for _, joint in ipairs(robot.joints) do
    list[#list + 1] = make_joint(robot, arm, joint)
    if joint.effort then
      arm.limits[joint.name] = { lower = joint.lower, upper = joint.upper, effort = joint.effort,
        velocity = joint.velocity }
    end
  end
  for _, ds in ipairs(robot.systems) do where.pass(o.nsds.insertDynamicalSystem, o.nsds, ds) end
  arm.laws = #list > 0 and join(o.nsds, list) or {}
  for _, joint in ipairs(robot.joints) do
    if joint.mimic then link_mimic(robot, arm, o.nsds, joint) end
  end
  return arm
end

return function(nslua, join_joints)
  ns, join, relations = nslua, join_joints, require "nslua.mechanics.joint_relations"(nslua)
  return load
end
