-- nslua.mechanics.bodies: particles, bodies and free bodies of a system, and the forces, torques, springs and
-- potentials that act on them.

local format = require "nslua.core".number_support.format
local where = require "nslua.base.where"

return function(ns, System, Body, core)
  local motion, kinds, fail, describe = core.motion, core.kinds, core.fail, core.describe
  local take_options, is_callable, number, list = core.take_options, core.is_callable, core.number, core.list
  local quantity = core.quantity
  local sin, cos = math.sin, math.cos

  local function length(x) return #x end

  function Body:__tostring() return ("mechanics.body '%s'"):format(self.name) end

  local function name_of(o, sys, kind)
    local name = o.name or ("%s %d"):format(kind, #sys.bodies + 1)
    if type(name) ~= "string" then fail("%s: name: expected a string, got %s", kind, type(name)) end
    return name
  end

  -- A function of (t, q), from a function or from a point or frame of nslua.mechanics.frames.
  local function placed(sys, value, who, what)
    local meta = getmetatable(value)
    if meta ~= nil and (meta == kinds.origin or meta == kinds.frame) then return value:in_system(sys) end
    if not is_callable(value) then
      fail("%s: %s: expected a function of (t, q), got %s", who, what, describe(value))
    end
    return motion.plain(value)
  end

  -- A function that returns nine numbers, also where f returns a 3 x 3 matrix as rows.
  local function flat(f)
    return function(t, q)
      local R = f(t, q)
      if type(R) ~= "table" or type(R[1]) == "number" or #R ~= 3 then return R end
      return { R[1][1], R[1][2], R[1][3], R[2][1], R[2][2], R[2][3], R[3][1], R[3][2], R[3][3] }
    end
  end

  -- Raises when equations have been made of the system: they would not know of coordinates or constraints added
  -- later.
  function core.check_open(sys, who)
    if sys.made then fail("%s: too late: %s has already made equations of the system", who, sys.made) end
  end

  local function add_body(sys, o, kind)
    local name = name_of(o, sys, kind)
    local who = ("%s '%s'"):format(kind, name)
    core.check_open(sys, who)
    for _, other in ipairs(sys.bodies) do
      if other.name == name then fail("%s: there is a body of that name", who) end
    end
    -- false stands for "this body has none". With nil, each access would look for a method of that name in the
    -- class.
    local body = setmetatable({ name = name, system = sys, mass = number(o.mass, who, "mass", 0),
      coordinates = false, quaternion = false, turn = false, rotation = false }, Body)
    sys.bodies[#sys.bodies + 1] = body
    return body, who
  end

  local function take_inertia(sys, o, who)
    if sys.dimension == 2 then return number(o.inertia, who, "inertia", 0) end
    local good, I = where.try(ns.matrix, o.inertia)
    if not good or I:rows() ~= 3 or I:cols() ~= 3 then
      fail("%s: inertia: expected a 3 x 3 matrix, got %s", who, describe(o.inertia))
    end
    for i = 1, 3 do list(I:row(i), 3, who, ("inertia[%d]"):format(i)) end
    if (I - I:transpose()):norm() > 1e-12 * I:norm() or ns.eigvals(I):min() < -1e-12 * I:norm() then
      fail("%s: inertia: expected a symmetric matrix without negative eigenvalues", who)
    end
    return I
  end

  function System:particle(o)
    o = take_options(o, "particle")
    local place = placed(self, o.position, "particle", "position")
    local body, who = add_body(self, o, "particle")
    body.place = place
    body.position = quantity(self.moving, who .. " position", place, self.dimension)
    return body
  end

  function System:body(o)
    local plane = self.dimension == 2
    o = take_options(o, "body", "name mass inertia position " .. (plane and "angle" or "orientation"))
    local place = placed(self, o.position, "body", "position")
    local turn = plane and placed(self, o.angle, "body", "angle") or not plane and
      flat(placed(self, o.orientation, "body", "orientation"))
    local inertia = take_inertia(self, o, "body")
    local body, who = add_body(self, o, "body")
    body.place, body.turn, body.inertia = place, turn, inertia
    body.position = quantity(self.moving, who .. " position", place, self.dimension)
    body.rotation = quantity(self.moving, who .. (plane and " angle" or " orientation"), turn, plane and 1 or 9)
    return body
  end

  -- The rotation matrix (nine numbers, by rows) of the quaternion q[k + 1] .. q[k + 4], scalar first.
  local function quaternion_turn(k)
    return function(_, q)
      local w, x, y, z = q[k + 1], q[k + 2], q[k + 3], q[k + 4]
      local ww, xx, yy, zz = w * w, x * x, y * y, z * z
      return { ww + xx - yy - zz, 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), ww - xx + yy - zz,
        2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), ww - xx - yy + zz }
    end
  end

  local function free_in_plane(body, who, k)
    body.coordinates = { k + 1, k + 2, k + 3 }
    body.place = function(_, q) return { q[k + 1], q[k + 2] } end
    body.turn = function(_, q) return q[k + 3] end
    body.rotation = quantity(body.system.moving, who .. " angle", body.turn, 1)
  end

  local function free_in_space(body, who, k)
    body.coordinates, body.quaternion = { k + 1, k + 2, k + 3 }, k + 3
    body.place = function(_, q) return { q[k + 1], q[k + 2], q[k + 3] } end
    body.turn = quaternion_turn(k + 3)
    body.rotation = quantity(body.system.moving, who .. " orientation", body.turn, 9)
    body.stretch = 4 / 3 * (body.inertia[1][1] + body.inertia[2][2] + body.inertia[3][3])
    core.add_constraint(body.system, "constraint", body.name .. ": length of the quaternion", function(_, q)
      return (q[k + 4] ^ 2 + q[k + 5] ^ 2 + q[k + 6] ^ 2 + q[k + 7] ^ 2 - 1) / 2
    end, 1)
  end

  -- Adds a body with coordinates of its own, after the existing ones: x, y, angle in the plane; x, y, z and a unit
  -- quaternion in space.
  function System:free_body(o)
    o = take_options(o, "free_body")
    local inertia = take_inertia(self, o, "free_body")
    local body, who = add_body(self, o, "body")
    local k, plane = self.n, self.dimension == 2
    self.n = k + (plane and 3 or 7)
    body.inertia = inertia
    if plane then free_in_plane(body, who, k) else free_in_space(body, who, k) end
    body.position = quantity(self.moving, who .. " position", body.place, self.dimension)
    return body
  end

  -- Body:point(p) returns the position, as a function of (t, q), of the point that is fixed in the body at p (in the
  -- axes of the body).
  local function numbers_of(x, n, name, what)
    if type(x) ~= "table" and type(x) ~= "userdata" or not where.try(length, x) or #x < n then
      fail("body '%s': %s: expected %d numbers, got %s", name, what, n, describe(x))
    end
    return x
  end

  local function angle_of(x, name)
    if type(x) == "table" then x = x[1] end
    if type(x) ~= "number" and type(x) ~= "userdata" then
      fail("body '%s': angle: expected a number, got %s", name, describe(x))
    end
    return x
  end

  function Body:point(p)
    local dimension = self.system.dimension
    p = p == nil and ns.zeros(dimension) or list(p, dimension, ("body '%s'"):format(self.name), "point")
    local a, b, turn, name = p[1], p[2], self.turn, self.name
    local function place(t, q) return numbers_of(self.place(t, q), dimension, name, "position") end
    if a == 0 and b == 0 and (dimension == 2 or p[3] == 0) then return place end
    if not turn then fail("particle '%s' has no other points", self.name) end
    if dimension == 2 then
      return function(t, q)
        local x, angle = place(t, q), angle_of(turn(t, q), name)
        local co, si = cos(angle), sin(angle)
        return { x[1] + co * a - si * b, x[2] + si * a + co * b }
      end
    end
    local c = p[3]
    return function(t, q)
      local x, R = place(t, q), numbers_of(turn(t, q), 9, name, "orientation")
      return { x[1] + R[1] * a + R[2] * b + R[3] * c, x[2] + R[4] * a + R[5] * b + R[6] * c,
        x[3] + R[7] * a + R[8] * b + R[9] * c }
    end
  end

  local function take_body(sys, body, who)
    if body == nil then return sys.ground end
    if getmetatable(body) ~= Body then fail("%s: expected a body, got %s", who, describe(body)) end
    if body.system ~= sys then fail("%s: body '%s' is of another system", who, body.name) end
    return body
  end

  -- ---- forces ----

  local function add_action(sys, action)
    sys.actions[#sys.actions + 1] = action
  end

  -- A force or torque as a function of (t, q, v), also when it is constant.
  local function value_of(value, n, who)
    if is_callable(value) then return value end
    local constant = list(value, n, who, "value")
    return function() return constant end
  end

  local function evaluate_value(action, sys, t, q, v)
    return list(action.value(t, q, v), action.count or sys.n, action.who, format("t=%.10g: value", t))
  end

  -- value: components in the inertial axes, constant or f(t, q, v).
  function System:force(o)
    o = take_options(o, "force")
    local body = take_body(self, o.on, "force: on")
    if body == self.ground then fail("force: on: expected a body that moves, got the ground") end
    add_action(self, { kind = "force", who = ("force on '%s'"):format(body.name), count = self.dimension,
      value = value_of(o.value, self.dimension, "force"), constant = not is_callable(o.value),
      along = quantity(self.moving, ("force on '%s': its point"):format(body.name), body:point(o.at),
        self.dimension) })
  end

  -- value: a number in the plane; in space three components in the body's axes.
  function System:torque(o)
    o = take_options(o, "torque")
    local body = take_body(self, o.on, "torque: on")
    if not body.rotation then fail("torque: '%s' does not turn", body.name) end
    local n = self.dimension == 2 and 1 or 3
    add_action(self, { kind = self.dimension == 2 and "force" or "torque", who = ("torque on '%s'"):format(body.name),
      count = n, value = value_of(o.value, n, "torque"), constant = not is_callable(o.value), along = body.rotation })
  end

  function System:generalised_force(f)
    if not is_callable(f) then fail("generalised_force: expected a function of (t, q, v), got %s", describe(f)) end
    add_action(self, { kind = "generalised", who = "generalised_force", value = f })
  end

  function System:potential(f)
    if not is_callable(f) then fail("potential: expected a function of (t, q), got %s", describe(f)) end
    add_action(self, { kind = "potential", along = quantity(self.moving, "potential", f, 1) })
  end

  local function gap(one, other)
    return function(t, q)
      local x, y = one(t, q), other(t, q)
      local sum = (x[1] - y[1]) ^ 2 + (x[2] - y[2]) ^ 2
      return #x == 3 and sum + (x[3] - y[3]) ^ 2 or sum
    end
  end

  -- Between the point p1 of one body and p2 of another (or the ground): stiffness (length - rest) + damping length'.
  function System:spring(o)
    o = take_options(o, "spring")
    local one, other = take_body(self, o.from, "spring: from"), take_body(self, o.to, "spring: to")
    if one == other then fail("spring: expected two bodies, got '%s' at both ends", one.name) end
    local square = gap(one:point(o.p1), other:point(o.p2))
    local who = ("spring from '%s' to '%s'"):format(one.name, other.name)
    if o.stiffness == nil and o.damping == nil then fail("%s: stiffness and damping are missing", who) end
    add_action(self, { kind = "spring", stiffness = number(o.stiffness or 0, who, "stiffness", 0),
      damping = number(o.damping or 0, who, "damping", 0), rest = number(o.length or 0, who, "length", 0),
      along = quantity(self.moving, who, function(t, q) return square(t, q) ^ 0.5 end, 1) })
  end

  core.take_body, core.gap, core.evaluate_value = take_body, gap, evaluate_value
end
