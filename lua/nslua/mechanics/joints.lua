-- nslua.mechanics.joints: holonomic constraints of a system of nslua.mechanics, Phi(t, q) = 0, and ready-made
-- joints.
--
--   sys:constraint { f = function(t, q) return { ... } end }             -- or a list of functions, one an equation
--   sys:distance(one, p1, other, p2, length)
--   sys:pin(one, p1, other, p2 [, { axis =, axis2 = }])                  -- in space: a hinge about the axis
--   sys:ball(one, p1, other, p2)                                         -- in space
--   sys:slider(one, p1, direction, other, p2 [, { angle = }])            -- in space: { orientation =, turning = }
--   sys:weld(one, p1, other, p2 [, { angle = }])                         -- in space: { orientation = }
--   sys:gear(one, other, ratio [, { offset = }])                         -- in space: { axis =, axis2 = } too
--   friction, stops, play and free wheels of pins, sliders and gears: joint_laws.lua
--
-- Bodies may be sys.ground (or nil); p1 is a point of the first body in its own axes, p2 one of the other. The last
-- argument is a table of options, with a name for messages, or the name alone. Number of equations: distance 1, pin
-- 2 (hinge 5), ball 3, slider 2 (5; turning 4; a point on a line 1, 2), weld 3 (6), gear 1.
--
-- In space the equations hold an axis by scalar products: b . a2 = c . a2 = 0 for a hinge, where b and c are at
-- right angles to its axis. They are also 0 when the axis points the other way; that is refused at the start.
--
-- Haug, Computer-Aided Kinematics and Dynamics of Mechanical Systems, 1989, chapters 3 and 9.

local where = require "nslua.base.where"

return function(ns, System, core)
  local fail, describe, take_options = core.fail, core.describe, core.take_options
  local list, number, is_callable = core.list, core.number, core.is_callable
  local quantity, take_body = core.quantity, core.take_body
  local sin, cos, atan = math.sin, math.cos, math.atan

  -- The last argument of a joint: a name, or options.
  local function take_last(o, who, names)
    if o == nil then return {} end
    if type(o) == "string" then return { name = o } end
    return take_options(o, who, "name " .. names)
  end

  local function add_constraint(sys, kind, name, f, rows)
    if name ~= nil and type(name) ~= "string" then
      fail("%s: name: expected a string, got %s", kind, describe(name))
    end
    name = name or ("%s %d"):format(kind, #sys.joints + 1)
    for _, other in ipairs(sys.joints) do
      if other.name == name then fail("constraint '%s': there is one of that name", name) end
    end
    core.check_open(sys, ("constraint '%s'"):format(name))
    local joint = { name = name, x = quantity(sys.held, ("constraint '%s'"):format(name), f, rows) }
    sys.joints[#sys.joints + 1] = joint
    return joint
  end

  core.add_constraint = add_constraint

  -- A list of functions as one.
  local function each_of(functions)
    local plain = {}
    for i, f in ipairs(functions) do
      if not is_callable(f) then fail("constraint: f[%d]: expected a function of (t, q), got %s", i, describe(f)) end
      plain[i] = core.motion.plain(f)
    end
    return function(t, q)
      local out = {}
      for i, f in ipairs(plain) do out[i] = f(t, q) end
      return out
    end
  end

  function System:constraint(o)
    o = take_options(o, "constraint")
    local f, rows = o.f, o.rows
    if type(f) == "table" and #f > 0 and not is_callable(f) then f, rows = each_of(f), #f end
    if not is_callable(f) then fail("constraint: f: expected a function of (t, q), got %s", describe(f)) end
    if o.rows and (math.type(o.rows) ~= "integer" or o.rows < 1) then
      fail("constraint: rows: expected a number of equations, got %s", describe(o.rows))
    end
    return add_constraint(self, "constraint", o.name, f, rows)
  end

  -- ---- places and directions ----

  local function two_bodies(sys, one, other, who)
    one, other = take_body(sys, one, who .. ": first body"), take_body(sys, other, who .. ": second body")
    if one == other then fail("%s: expected two bodies, got '%s' twice", who, one.name) end
    return one, other
  end

  local function turning(body, who)
    if not body.turn then fail("%s: particle '%s' does not turn", who, body.name) end
    return body.turn
  end

  -- The angle of a body in the plane.
  local function angle_of(body, who)
    local turn = turning(body, who)
    return function(t, q)
      local angle = turn(t, q)
      return type(angle) == "table" and angle[1] or angle
    end
  end

  local function unit(value, n, who, what)
    local d = list(value, n, who, what)
    if d:norm() == 0 then fail("%s: %s: expected one that is not 0", who, what) end
    return d / d:norm()
  end

  -- Two unit vectors b, c at right angles to a, such that (a, b, c) is right-handed.
  local function across(a)
    local k = 1
    for i = 2, 3 do
      if math.abs(a[i]) < math.abs(a[k]) then k = i end
    end
    local e = ns.zeros(3)
    e[k] = 1
    local b = e - a[k] * a
    b = b / b:norm()
    return b, a:cross(b)
  end

  -- R v as three numbers; R by rows.
  local function turned(R, v)
    local x, y, z = v[1], v[2], v[3]
    return { R[1] * x + R[2] * y + R[3] * z, R[4] * x + R[5] * y + R[6] * z, R[7] * x + R[8] * y + R[9] * z }
  end

  local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
  local function minus(a, b) return { a[1] - b[1], a[2] - b[2], a[3] - b[3] } end

  -- The equations that the two directions of each of the `pairs` are at right angles; the first belongs to the first
  -- body, the second to the other.
  local function right_angles(one, other, pairs_of, who)
    local turn1, turn2 = turning(one, who), turning(other, who)
    return function(t, q, out)
      local R1, R2, n = turn1(t, q), turn2(t, q), #out
      for i, p in ipairs(pairs_of) do out[n + i] = dot(turned(R1, p[1]), turned(R2, p[2])) end
      return out
    end
  end

  -- At a start those directions must point to the same side.
  local function same_side(joint, one, other, pairs_of, what)
    local turn1, turn2 = one.turn, other.turn
    joint.check = function(t, q)
      local R1, R2 = turn1(t, q), turn2(t, q)
      for _, p in ipairs(pairs_of) do
        if dot(turned(R1, p[1]), turned(R2, p[2])) <= 0 then return what end
      end
    end
    return joint
  end

  -- The columns of the orientation of the other body in axes of the first (the identity when not given).
  local function columns_of(orientation, who)
    if orientation == nil then orientation = ns.eye(3) end
    local good, R = where.try(ns.matrix, orientation)
    if not good or #R ~= 3 or R:cols() ~= 3 then
      fail("%s: orientation: expected a 3 x 3 matrix, got %s", who, describe(orientation))
    end
    if not core.is_rotation(R) then
      fail("%s: orientation: expected a rotation matrix", who)
    end
    return { R:column(1):copy(), R:column(2):copy(), R:column(3):copy() }
  end

  local axes = { ns.vector { 1, 0, 0 }, ns.vector { 0, 1, 0 }, ns.vector { 0, 0, 1 } }

  -- The pairs of directions at right angles that hold an orientation, and the pairs that must be equal.
  local function oriented(columns)
    return { { columns[1], axes[2] }, { columns[2], axes[3] }, { columns[3], axes[1] } },
      { { columns[1], axes[1] }, { columns[2], axes[2] }, { columns[3], axes[3] } }
  end

  -- ---- joints ----

  local function coincide(one, p1, other, p2)
    local x, y = one:point(p1), other:point(p2)
    return function(t, q)
      local a, b = x(t, q), y(t, q)
      if #a == 3 then return minus(a, b) end
      return { a[1] - b[1], a[2] - b[2] }
    end
  end

  -- The angle of the other body against the first about the axis of a hinge, between -pi and pi.
  local function hinge_angle(one, other, a1, a2)
    local turn1, turn2, b2 = one.turn, other.turn, (across(a2))
    local b1, c1 = across(a1)
    return function(t, q)
      local x = turned(turn2(t, q), b2)
      local R = turn1(t, q)
      return atan(dot(turned(R, c1), x), dot(turned(R, b1), x))
    end
  end

  local function add_hinge(sys, one, other, together, o)
    if o.axis == nil then fail "pin: axis is missing (a ball joint leaves the axis free)" end
    local a1, a2 = unit(o.axis, 3, "pin", "axis"), unit(o.axis2 or o.axis, 3, "pin", "axis2")
    local b, c = across(a1)
    local held = right_angles(one, other, { { b, a2 }, { c, a2 } }, "pin")
    local joint = add_constraint(sys, "pin", o.name, function(t, q) return held(t, q, together(t, q)) end, 5)
    same_side(joint, one, other, { { a1, a2 } }, "the axes point to opposite sides")
    return core.add_motion(sys, joint, "pin", o, "torque", 3, hinge_angle(one, other, a1, a2), true)
  end

  function System:pin(one, p1, other, p2, o)
    one, other = two_bodies(self, one, other, "pin")
    o = take_last(o, "pin", core.motion_options "torque" .. (self.dimension == 3 and " axis axis2" or ""))
    local together = coincide(one, p1, other, p2)
    if self.dimension == 3 then return add_hinge(self, one, other, together, o) end
    local joint = add_constraint(self, "pin", o.name, together, 2)
    local turn1, turn2 = one.turn, other.turn
    return core.add_motion(self, joint, "pin", o, "torque", 2, function(t, q)
      if not turn1 or not turn2 then turning(turn1 and other or one, "pin") end
      local a, b = turn1(t, q), turn2(t, q)
      return (type(b) == "table" and b[1] or b) - (type(a) == "table" and a[1] or a)
    end)
  end

  function System:ball(one, p1, other, p2, o)
    if self.dimension ~= 3 then fail "ball: the system is in the plane: use pin" end
    one, other = two_bodies(self, one, other, "ball")
    return add_constraint(self, "ball", take_last(o, "ball", "").name, coincide(one, p1, other, p2), 3)
  end

  local function add_plane_slider(sys, one, p1, d, other, p2, o)
    local x, y, turn = one:point(p1), other:point(p2), angle_of(one, "slider")
    local turn2 = o.angle ~= false and angle_of(other, "slider")
    local angle = o.angle and number(o.angle, "slider", "angle") or 0
    local dx, dy = d[1], d[2]
    local joint = add_constraint(sys, "slider", o.name, function(t, q)
      local a, b, phi = x(t, q), y(t, q), turn(t, q)
      local co, si = cos(phi), sin(phi)
      local off = (co * dx - si * dy) * (b[2] - a[2]) - (si * dx + co * dy) * (b[1] - a[1])
      if turn2 then return { off, turn2(t, q) - phi - angle } end
      return { off }
    end, turn2 and 2 or 1)
    return core.add_motion(sys, joint, "slider", o, "force", 1, function(t, q)
      local a, b, phi = x(t, q), y(t, q), turn(t, q)
      local co, si = cos(phi), sin(phi)
      return (co * dx - si * dy) * (b[1] - a[1]) + (si * dx + co * dy) * (b[2] - a[2])
    end)
  end

  local function add_space_slider(sys, one, p1, d, other, p2, o)
    local x, y, turn = one:point(p1), other:point(p2), turning(one, "slider")
    local b, c = across(d)
    local held, same = {}, {}
    if o.orientation ~= false then
      local columns = columns_of(o.orientation, "slider")
      held, same = oriented(columns)
      if o.turning then
        local d2 = ns.vector { columns[1]:dot(d), columns[2]:dot(d), columns[3]:dot(d) }
        held, same = { { b, d2 }, { c, d2 } }, { { d, d2 } }
      end
    end
    local more = #held > 0 and right_angles(one, other, held, "slider")
    local joint = add_constraint(sys, "slider", o.name, function(t, q)
      local R, apart = turn(t, q), minus(y(t, q), x(t, q))
      local out = { dot(turned(R, b), apart), dot(turned(R, c), apart) }
      return more and more(t, q, out) or out
    end, 2 + #held)
    if #same > 0 then same_side(joint, one, other, same, "the axes are turned by more than a right angle") end
    return core.add_motion(sys, joint, "slider", o, "force", 2, function(t, q)
      return dot(turned(turn(t, q), d), minus(y(t, q), x(t, q)))
    end)
  end

  -- The point p2 of the other body stays on the line through p1 along `direction` of the first.
  function System:slider(one, p1, direction, other, p2, o)
    one, other = two_bodies(self, one, other, "slider")
    local own = self.dimension == 2 and "angle" or "orientation turning"
    o = take_last(o, "slider", ("%s %s"):format(own, core.motion_options "force"))
    local d = unit(direction, self.dimension, "slider", "direction")
    return (self.dimension == 2 and add_plane_slider or add_space_slider)(self, one, p1, d, other, p2, o)
  end

  -- The points coincide, and the other body has a constant angle, or orientation, in the axes of the first.
  function System:weld(one, p1, other, p2, o)
    one, other = two_bodies(self, one, other, "weld")
    o = take_last(o, "weld", self.dimension == 2 and "angle" or "orientation")
    local together = coincide(one, p1, other, p2)
    if self.dimension == 3 then
      local right, same = oriented(columns_of(o.orientation, "weld"))
      local held = right_angles(one, other, right, "weld")
      local joint = add_constraint(self, "weld", o.name, function(t, q) return held(t, q, together(t, q)) end, 6)
      return same_side(joint, one, other, same, "the axes are turned by more than a right angle")
    end
    local turn1, turn2 = angle_of(one, "weld"), angle_of(other, "weld")
    local angle = number(o.angle or 0, "weld", "angle")
    return add_constraint(self, "weld", o.name, function(t, q)
      local out = together(t, q)
      out[3] = turn2(t, q) - turn1(t, q) - angle
      return out
    end, 3)
  end

  -- The points stay at a distance: (|x - y|^2 - length^2) / (2 length), whose multiplier is the force of the rod.
  function System:distance(one, p1, other, p2, length, o)
    one, other = two_bodies(self, one, other, "distance")
    length = number(length, "distance", "length", 0)
    if length == 0 then fail "distance: length: expected a number above 0, got 0" end
    local square = core.gap(one:point(p1), other:point(p2))
    return add_constraint(self, "distance", take_last(o, "distance", "").name, function(t, q)
      return (square(t, q) - length ^ 2) / (2 * length)
    end, 1)
  end

  -- ---- gears ----

  -- Integers p, q with p / q = ratio and q at most 1000, from the continued fraction.
  local function fraction(ratio)
    local p0, q0, p, q, x = 1, 0, math.floor(ratio), 1, ratio
    while math.abs(p / q - ratio) > 1e-12 * math.max(1, math.abs(ratio)) do
      x = 1 / (x - math.floor(x))
      local a = math.floor(x)
      p0, q0, p, q = p, q, a * p + p0, a * q + q0
      if q > 1000 then
        fail("gear: ratio: expected a ratio of numbers of teeth, at most 1000, got %.15g", ratio)
      end
    end
    return p, q
  end

  -- The angle of a body about its axis, between -pi and pi; 0 when its axes are the ground's.
  local function angle_about(body, axis)
    local b, c = across(axis)
    local turn = turning(body, "gear")
    return function(t, q)
      local R = turn(t, q)
      local x, y = turned(R, b), turned(R, c)
      return atan(dot(c, x) - dot(b, y), dot(b, x) + dot(c, y))
    end
  end

  local function add_space_gear(sys, one, other, ratio, o)
    local a1 = unit(o.axis, 3, "gear", "axis")
    local phi1, phi2 = angle_about(one, a1), angle_about(other, unit(o.axis2 or o.axis, 3, "gear", "axis2"))
    local p, q = fraction(ratio)
    local shift = q * number(o.offset or 0, "gear", "offset")
    local function teeth(t, x) return q * phi2(t, x) - p * phi1(t, x) - shift end
    local joint = add_constraint(sys, "gear", o.name, function(t, x) return sin(teeth(t, x)) / q end, 1)
    joint.check = function(t, x)
      return cos(teeth(t, x)) < 0 and "the offset is off by more than a quarter of a tooth" or nil
    end
    return joint
  end

  -- angle of the other = ratio * angle of the first + offset. Outer gears have a negative ratio. In space the bodies
  -- turn about axes that are fixed in the ground, and angles are known only up to whole turns: the equation holds
  -- for the ratio p / q of integers, the numbers of teeth.
  function System:gear(one, other, ratio, o)
    one, other = two_bodies(self, one, other, "gear")
    ratio = number(ratio, "gear", "ratio")
    o = take_last(o, "gear", self.dimension == 2 and "offset backlash restitution" or "offset axis axis2")
    if self.dimension == 3 then return add_space_gear(self, one, other, ratio, o) end
    local offset = number(o.offset or 0, "gear", "offset")
    local turn1, turn2 = angle_of(one, "gear"), angle_of(other, "gear")
    local function off(t, q) return turn2(t, q) - ratio * turn1(t, q) - offset end
    if not o.backlash then return add_constraint(self, "gear", o.name, off, 1) end
    local half = number(o.backlash, "gear", "backlash", 0) / 2
    if half == 0 then fail "gear: backlash: expected a number above 0, got 0" end
    core.check_open(self, "gear")
    core.add_play(self, o.name or ("gear %d"):format(#self.joints + #self.motions + 1), off, -half, half,
      core.take_restitution(o.restitution, "gear", true))
  end
end
