-- nslua.mechanics.joint_relations: joints of rigid bodies in space (NewtonEulerDS) as relations, with Siconos' names.
--
--   local hinge = ns.PivotJointR(point, axis, absolute, body [, other]) -- or { point =, ... }
--   nsds:link(ns.Interaction(ns.EqualityConditionNSL(5), hinge), body [, other])
--   ns.JointStopR(hinge, position, upper)          -- a gap, for NewtonImpactNSL
--   ns.JointFrictionR(hinge)                       -- a motion, for JointFrictionNSL(1, 0, 0, torque)
--   ns.CouplerJointR(hinge, other, ratio)          -- an equation, for EqualityConditionNSL(1)
--   ns.mechanics.join(nsds, { { hinge, stops = { low, high }, friction = mu, radius = r }, ... })     -- all of these
--
-- A point P and an axis a are fixed in body 1, P_2 and the quaternion r in body 2 (or the world), as the bodies are
-- when the joint is made. With R_i the rotations, d = R_1' (P_1 - P_2) and the rotation of body 1 relative to body 2
-- in axes of body 1, (s, w) = (p_2 r)^-1 p_1 with r = p_2^-1 p_1 at the start, the rows are
--
--   point   P_1 - P_2 = 0          across   d . b = d . c = 0, with a, b, c orthonormal
--   turn    2 w = 0                tilt     2 w . b = 2 w . c = 0
--
-- and the motions that are left: way = d . a, angle = 2 atan2(w . a, s), known between -2 pi and 2 pi. A stop counts
-- its angle from another r, so that it is known SPAN far from the stop. The callbacks
-- are compiled once for each kind: values and exact derivatives come from a tape, and what a joint is made of are its
-- parameters z.

local arguments = require "nslua.base.arguments"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"

local abs, atan, sqrt = math.abs, math.atan, math.sqrt
local fail, describe = arguments.fail, arguments.tell

-- ---- quaternions, scalar first ----

local function product(a0, a1, a2, a3, b0, b1, b2, b3)
  return a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3, a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
    a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1, a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0
end

-- R u, for the rotation R of a unit quaternion.
local function turned(e0, e1, e2, e3, x, y, z)
  local a, b, c = e2 * z - e3 * y + e0 * x, e3 * x - e1 * z + e0 * y, e1 * y - e2 * x + e0 * z
  return x + 2 * (e2 * c - e3 * b), y + 2 * (e3 * a - e1 * c), z + 2 * (e1 * b - e2 * a)
end

-- ---- rows ----

-- Where the numbers of a joint are in z: P in body 1 and in body 2, the axes a, b, c, the quaternion r.
local P1, P2, A, B, C, R, SIZE = 0, 3, 6, 9, 12, 15, 19

-- How far from a stop its angle is known, in rad: of the 4 pi that quaternions tell apart about 1 is left for
-- positions beyond the stop.
local SPAN = 11.5

-- How far a row of a joint that follows from others may be from 0: an angle in rad, or a length over those of the
-- arms, the distances of the joint from the centres of its bodies. 0.1: errors of steps are smaller, those of a chain
-- that has come apart grow to 1.
local APART = 0.1

-- What rows need of the coordinates: P_1 - P_2, the same in axes of body 1, and (s, w).
local function motion(q, z)
  local e0, e1, e2, e3 = q[4], q[5], q[6], q[7]
  local x, y, u = turned(e0, e1, e2, e3, z[P1 + 1], z[P1 + 2], z[P1 + 3])
  x, y, u = q[1] + x, q[2] + y, q[3] + u
  local r0, r1, r2, r3 = z[R + 1], z[R + 2], z[R + 3], z[R + 4]
  local ox, oy, oz = z[P2 + 1], z[P2 + 2], z[P2 + 3]
  if #q > 7 then
    ox, oy, oz = turned(q[11], q[12], q[13], q[14], ox, oy, oz)
    ox, oy, oz = q[8] + ox, q[9] + oy, q[10] + oz
    r0, r1, r2, r3 = product(q[11], q[12], q[13], q[14], r0, r1, r2, r3)
  end
  local d = { x - ox, y - oy, u - oz }
  local s, wx, wy, wz = product(r0, -r1, -r2, -r3, e0, e1, e2, e3)
  return d, { turned(e0, -e1, -e2, -e3, d[1], d[2], d[3]) }, s, { wx, wy, wz }
end

local function along(v, z, axis) return v[1] * z[axis + 1] + v[2] * z[axis + 2] + v[3] * z[axis + 3] end

-- How many rows each has, and the function that writes them; turns: they are angles, else lengths.
local rows = {
  point = { 3, function(z, d, _, _, _, y, k) y[k], y[k + 1], y[k + 2] = d[1], d[2], d[3] end },
  across = { 2, function(z, _, d, _, _, y, k) y[k], y[k + 1] = along(d, z, B), along(d, z, C) end },
  turn = { 3, function(_, _, _, _, w, y, k) y[k], y[k + 1], y[k + 2] = 2 * w[1], 2 * w[2], 2 * w[3] end,
    turns = true },
  tilt = { 2, function(z, _, _, _, w, y, k) y[k], y[k + 1] = 2 * along(w, z, B), 2 * along(w, z, C) end,
    turns = true },
  way = { 1, function(z, _, d, _, _, y, k) y[k] = along(d, z, A) end },
  angle = { 1, function(z, _, _, s, w, y, k) y[k] = 2 * atan(along(w, z, A), s) end,
    turns = true },
}

-- The kinds of joints: what they keep, the motions that they leave, and how many of their first rows are the
-- reaction to which dry friction is proportional.
local kinds = {
  KneeJointR = { keeps = { "point" }, leaves = {}, reactions = 3, takes = "point" },
  PivotJointR = { keeps = { "point", "tilt" }, leaves = { "angle" }, reactions = 3, takes = "point axis" },
  PrismaticJointR = { keeps = { "across", "turn" }, leaves = { "way" }, reactions = 2, takes = "axis" },
  CylindricalJointR = { keeps = { "across", "tilt" }, leaves = { "way", "angle" }, reactions = 2,
    takes = "point axis" },
  PlanarJointR = { keeps = { "way", "tilt" }, leaves = { "angle" }, reactions = 1, takes = "axis" },
  FixedJointR = { keeps = { "point", "turn" }, leaves = {}, reactions = 3, takes = "" },
}

local ns -- nslua, given when it is loaded
local made_for = require "nslua.core".graph_support.made_for
local classes, callbacks = {}, {}
local data = setmetatable({}, { __mode = "k" }) -- joint -> what it is made of

local function count(names)
  local sum = 0
  for _, name in ipairs(names) do sum = sum + rows[name][1] end
  return sum
end

-- y_i = sum_k P_ik all_k, for `kept` rows y; z goes on with P after the unit of lengths. Each row of a joint is 0,
-- also one that follows from other joints: y is not a number where one is far from it, and the chain has come apart.
local function combine(names, kept, all, z, y)
  local off, k, size = 0, 0, #all
  for _, name in ipairs(names) do
    local unit = rows[name].turns and 1 or z[SIZE + 1]
    for _ = 1, rows[name][1] do
      k = k + 1
      off = off + (unit * all[k]) ^ 2
    end
  end
  local together = 0 * sqrt(APART * APART - off)
  for i = 1, kept do
    local sum = together
    for j = 1, size do sum = sum + z[SIZE + 1 + (i - 1) * size + j] * all[j] end
    y[i] = sum
  end
end

-- The compiled callback of a list of rows, made once. `kept`: how many combinations of them count, all rows when it
-- is nil. `stop`: z goes on with sign and offset, y = sign y + offset.
local function callback(names, kept, stop)
  local key = ("%s %s %s"):format(table.concat(names, " "), kept or "", stop and "stop" or "")
  callbacks[key] = callbacks[key] or ns.compile(function(_, q, z, y)
    local d, own, s, w = motion(q, z)
    local all, k = kept and {} or y, 1
    for _, name in ipairs(names) do
      rows[name][2](z, d, own, s, w, all, k)
      k = k + rows[name][1]
    end
    if kept then combine(names, kept, all, z, y) end
    if stop then y[1] = z[SIZE + 1] * y[1] + z[SIZE + 2] end
  end, { native = false })
  return callbacks[key]
end

-- ---- arguments ----

local function triple(who, what, value) return table.unpack(arguments.numbers(value, 3, who, what)) end

-- A unit vector along the axis, and two that make a right-handed frame with it.
local function frame(who, x, y, z)
  local most = math.max(math.abs(x), math.abs(y), math.abs(z))
  if most == 0 then fail("%s: axis: expected a direction, got zeros", who) end
  x, y, z = x / most, y / most, z / most
  local length = sqrt(x * x + y * y + z * z)
  x, y, z = x / length, y / length, z / length
  local bx, by, bz -- across the axis and the coordinate axis that it is least along
  if math.abs(x) <= math.abs(y) and math.abs(x) <= math.abs(z) then bx, by, bz = 0, z, -y
  elseif math.abs(y) <= math.abs(z) then bx, by, bz = -z, 0, x
  else bx, by, bz = y, -x, 0 end
  length = sqrt(bx * bx + by * by + bz * bz)
  bx, by, bz = bx / length, by / length, bz / length
  return x, y, z, bx, by, bz, y * bz - z * by, z * bx - x * bz, x * by - y * bx
end

local function body_place(who, what, body)
  if getmetatable(body) ~= "NewtonEulerDS" then
    fail("%s: %s: expected a NewtonEulerDS, got %s", who, what, describe(body))
  end
  return body:q()
end

-- The options of a joint: a table of them, or Siconos' arguments in their order.
local function take(who, kind, ...)
  local first = ...
  if select("#", ...) == 1 and type(first) == "table" and not getmetatable(first) and first[1] == nil then
    local o = option_tables.need(first, option_names[who], who, fail)
    local bodies = o.bodies
    if type(bodies) ~= "table" or #bodies < 1 or #bodies > 2 then
      fail("%s: bodies: expected a list of one or two bodies, got %s", who, describe(bodies))
    end
    return o, bodies[1], bodies[2]
  end
  local o, values, k = {}, table.pack(...), 0
  for name in kind.takes:gmatch "%a+" do
    k = k + 1
    o[name] = values[k]
  end
  if k > 0 then
    k = k + 1
    o.absolute = values[k]
  end
  return o, values[k + 1], values[k + 2]
end

-- The numbers z of a joint.
local function numbers(who, kind, o, q1, q2)
  local e0, e1, e2, e3 = q1[4], q1[5], q1[6], q1[7]
  local px, py, pz, ax, ay, az = 0, 0, 0, 1, 0, 0
  if kind.takes:find "point" then px, py, pz = triple(who, "point", o.point) end
  if kind.takes:find "axis" then ax, ay, az = triple(who, "axis", o.axis) end
  if o.absolute then
    ax, ay, az = turned(e0, -e1, -e2, -e3, ax, ay, az)
    if kind.takes:find "point" then
      px, py, pz = turned(e0, -e1, -e2, -e3, px - q1[1], py - q1[2], pz - q1[3])
    end
  end
  local x, y, z = turned(e0, e1, e2, e3, px, py, pz)
  x, y, z = q1[1] + x, q1[2] + y, q1[3] + z
  local r0, r1, r2, r3 = e0, e1, e2, e3
  if q2 then
    x, y, z = turned(q2[4], -q2[5], -q2[6], -q2[7], x - q2[1], y - q2[2], z - q2[3])
    r0, r1, r2, r3 = product(q2[4], -q2[5], -q2[6], -q2[7], e0, e1, e2, e3)
  end
  local list = { px, py, pz, x, y, z, frame(who, ax, ay, az) }
  table.move({ r0, r1, r2, r3 }, 1, 4, R + 1, list)
  return ns.vector(list)
end

-- ---- joints ----

local methods = {}

function methods:numberOfConstraints() return count(kinds[data[self].kind].keeps) end

function methods:numberOfDoF() return #data[self].leaves end

local function motion_name(who, joint, axis, argument)
  local leaves = data[joint].leaves
  if axis == nil then axis = 1 end
  if math.type(axis) ~= "integer" or axis < 1 or axis > #leaves then
    fail("%s: %s: a %s has %s, got %s", who, argument or "axis", data[joint].kind, #leaves == 0
      and "no motion with an axis" or #leaves == 1 and "the motion 1" or ("the motions 1 to %d"):format(#leaves),
      describe(axis))
  end
  return leaves[axis]
end

-- "linear" or "angular".
function methods:typeOfDoF(axis)
  return motion_name("typeOfDoF", self, axis) == "way" and "linear" or "angular"
end

-- The way or the angle, as the bodies are now.
function methods:dof(axis)
  local name, about = motion_name("dof", self, axis), data[self]
  local q, y = about.bodies[1]:q():totable(), {}
  if about.bodies[2] then table.move(about.bodies[2]:q():totable(), 1, 7, 8, q) end
  local d, own, s, w = motion(q, about.z)
  rows[name][2](about.z, d, own, s, w, y, 1)
  return y[1]
end

-- What rounding makes of a motion at most, by the size of what it is made of.
local function rounding(joint, axis)
  local about, most = data[joint], 1
  if about.leaves[axis or 1] == "way" then
    most = ns.vector({ table.unpack(about.z:totable(), 1, A) }):norm()
    for _, body in ipairs(about.bodies) do
      most = most + ns.vector({ table.unpack(body:q():totable(), 1, 3) }):norm()
    end
  end
  return 64 * 2.0 ^ -52 * most
end

-- A relation that is made of joints, with that many rows between their bodies.
local function derive(name, bodies, size, h, z)
  local relation = ns.NewtonEulerR { h = h, z = z, name = name }
  made_for(relation, size, table.unpack(bodies))
  return relation
end

local function make_classes()
  for who, kind in pairs(kinds) do
    local class = ns.class(ns.NewtonEulerR, who)
    for name, method in pairs(methods) do class[name] = method end
    function class:init(...)
      local o, body, other = take(who, kind, ...)
      for name in kind.takes:gmatch "%a+" do triple(who, name, o[name]) end
      if o.absolute ~= nil and type(o.absolute) ~= "boolean" then
        fail("%s: absolute: expected true or false, got %s", who, describe(o.absolute))
      end
      local q1, q2 = body_place(who, "body 1", body), other ~= nil and body_place(who, "body 2", other) or nil
      if body == other then fail("%s: expected two bodies, got the same one twice", who) end
      local about = { kind = who, leaves = kind.leaves, z = numbers(who, kind, o, q1, q2), bodies = { body, other } }
      data[self] = about
      self:setComputehFunction(callback(kind.keeps))
      self:setzPtr(about.z)
      made_for(self, count(kind.keeps), body, other)
      if o.name ~= nil then
        if type(o.name) ~= "string" then fail("%s: name: expected a string, got %s", who, describe(o.name)) end
        self:setName(o.name)
      end
    end
    classes[who] = class
  end
end

local function check_joint(who, joint, argument)
  if not data[joint] then fail("%s: %s: expected a joint, got %s", who, argument or "joint", describe(joint)) end
  return data[joint]
end

-- A gap: how far a motion is from the position of a stop, below it when `upper` is true, else above it.
function classes.JointStopR(joint, position, upper, axis)
  local about = check_joint("JointStopR", joint)
  if type(position) ~= "number" or position - position ~= 0 then
    fail("JointStopR: position: expected a number, got %s", describe(position))
  end
  if type(upper) ~= "boolean" then fail("JointStopR: upper: expected true or false, got %s", describe(upper)) end
  local name, z = motion_name("JointStopR", joint, axis), about.z:totable()
  local zero = 0
  if name == "angle" then
    if math.abs(position) >= SPAN then
      fail("JointStopR: position: an angle is known up to %g from a stop, got %s", SPAN, describe(position))
    end
    zero = position + (upper and 2 * math.pi - SPAN or SPAN - 2 * math.pi)
    local s = math.sin(zero / 2)
    table.move({ product(z[R + 1], z[R + 2], z[R + 3], z[R + 4], math.cos(zero / 2), s * z[A + 1], s * z[A + 2],
      s * z[A + 3]) }, 1, 4, R + 1, z)
  end
  z[SIZE + 1], z[SIZE + 2] = upper and -1 or 1, upper and position - zero or zero - position
  return derive("stop of " .. joint:name(), about.bodies, 1, callback({ name }, nil, true), z)
end

-- Angles begin anew after 4 pi. The least difference that this makes of motion - ratio * motion of another one: of
-- two angles with a ratio n / d 4 pi / d. 0: none is known, as of a ratio that is no fraction with d up to MOST.
local MOST = 10000
local function period(names, ratio)
  local whole = 4 * math.pi
  if names[2] == "way" or ratio == 0 then return names[1] == "way" and 0 or whole end
  if names[1] == "way" then return whole * math.abs(ratio) end
  for d = 1, MOST do
    local n = ratio * d
    if math.abs(n - math.floor(n + 0.5)) <= 4 * 2.0 ^ -52 * math.abs(n) then return whole / d end
  end
  return 0
end

-- Angles of a coupling without a period end here, in rad: they begin anew at 2 pi, which a step must not jump over.
local KNOWN = 2 * math.pi - 1

-- The callback of motion - ratio * motion of the other joint - offset, less the nearest multiple of the period where
-- angles begin `anew`. places: the numbers of the bodies of a joint among the bodies of both joints, as text. An
-- angle that is not known, where there is no period, is an error: so that callback stays in Lua.
local function coupling(names, places, anew)
  local key = ("coupling %s %s %s %s %s"):format(names[1], names[2], places[1], places[2], anew)
  if callbacks[key] then return callbacks[key] end
  local bounded = not anew and names[1] == "angle"
  local function h(_, q, z, y)
    local value = {}
    for i = 1, 2 do
      local own, numbers_of = {}, {}
      for place in places[i]:gmatch "%d" do
        for k = 1, 7 do own[#own + 1] = q[7 * tonumber(place) - 7 + k] end
      end
      for k = 1, SIZE do numbers_of[k] = z[(i - 1) * SIZE + k] end
      local d, turned_back, s, w = motion(own, numbers_of)
      local out = {}
      rows[names[i]][2](numbers_of, d, turned_back, s, w, out, 1)
      value[i] = out[1]
      if bounded and abs(out[1]) > KNOWN then
        error(("CouplerJointR: an angle passes %.3g rad: beyond it the ratio must be a fraction with a denominator "
          .. "up to %d"):format(KNOWN, MOST), 0)
      end
    end
    local off, whole = value[1] - z[2 * SIZE + 1] * value[2] - z[2 * SIZE + 2], z[2 * SIZE + 3]
    y[1] = anew and off - whole * math.floor(off / whole + 0.5) or off
  end
  callbacks[key] = bounded and h or ns.compile(h, { native = false })
  return callbacks[key]
end

-- The relation, and the list of bodies with which it is linked.
function classes.CouplerJointR(joint, other, ratio, offset, axis, other_axis)
  local who, bodies, places = "CouplerJointR", {}, { "", "" }
  local about = { check_joint(who, joint), check_joint(who, other, "other") }
  local function check(name, x)
    if type(x) ~= "number" or x - x ~= 0 then fail("%s: %s: expected a number, got %s", who, name, describe(x)) end
    return x
  end
  ratio, offset = check("ratio", ratio), check("offset", offset == nil and 0 or offset)
  local names = { motion_name(who, joint, axis), motion_name(who, other, other_axis, "other_axis") }
  if joint == other and names[1] == names[2] then
    fail("%s: other: expected another motion, got the %s of '%s' twice", who, names[1], joint:name())
  end
  for i, one in ipairs(about) do
    for _, body in ipairs(one.bodies) do
      local at = 1
      while bodies[at] and bodies[at] ~= body do at = at + 1 end
      bodies[at], places[i] = body, places[i] .. at
    end
  end
  local z = table.move(about[2].z:totable(), 1, SIZE, SIZE + 1, about[1].z:totable())
  local whole = period(names, ratio)
  z[#z + 1], z[#z + 2], z[#z + 3] = ratio, offset, whole
  local name = ("coupling of %s with %s"):format(joint:name(), other:name())
  return derive(name, bodies, 1, coupling(names, places, whole > 0), z), bodies
end

-- The numbers z of `kept` combinations of the rows of a joint, at first the rows of these numbers; where P begins.
local function combined(about, kept)
  local z, size, arms = about.z:totable(), count(kinds[about.kind].keeps), 0
  for _, from in ipairs { P1, P2 } do arms = arms + ns.vector({ table.unpack(z, from + 1, from + 3) }):norm() end
  z[SIZE + 1] = arms > 0 and 1 / arms or 0
  for i, row in ipairs(kept) do
    for j = 1, size do z[SIZE + 1 + (i - 1) * size + j] = j == row and 1 or 0 end
  end
  return z, SIZE + 1
end

-- A motion, whose velocity is the last row; after the rows of the joint when `whole` is true.
function classes.JointFrictionR(joint, axis, whole)
  local about = check_joint("JointFrictionR", joint)
  if whole ~= nil and type(whole) ~= "boolean" then
    fail("JointFrictionR: whole: expected true or false, got %s", describe(whole))
  end
  local names = whole and { table.unpack(kinds[about.kind].keeps) } or {}
  names[#names + 1] = motion_name("JointFrictionR", joint, axis)
  return derive("friction of " .. joint:name(), about.bodies, count(names), callback(names), about.z)
end

return function(nslua)
  if not ns then
    ns = nslua
    make_classes()
  end
  return { classes = classes, data = data, kinds = kinds, callback = callback, derive = derive, combined = combined,
    product = product, turned = turned, motion_name = motion_name, rounding = rounding, span = SPAN }
end
