-- nslua.mechanics: multibody systems from positions as functions of the time and the coordinates.
--
--   local sys = ns.mechanics.system { coordinates = 1, gravity = { 0, -9.81 } }
--   sys:particle { mass = 1, position = function(t, q) return { math.sin(q[1]), -math.cos(q[1]) } end }
--   sys:body { mass =, inertia =, position =, angle = }        -- in space: orientation, a rotation matrix
--   local link = sys:free_body { mass =, inertia = }           -- coordinates of its own: x, y, angle
--   sys:pin(link, { -l / 2, 0 })                               -- to the ground; see nslua.mechanics.joints
--   ns.mechanics.system { compile = true, ... }                -- positions and constraints as compiled functions
--   sys:force { on = link, at = { a, b }, value = f(t, q, v) } -- torque, spring, potential, generalised_force
--
-- With x(t, q) the positions and (J, c) = (dx/dq, the second derivative of x along (1, v)), the equations of
-- motion are
--
--   M(q) v' = h(t, q, v) + Phi_q' lambda,   M = sum J' m J,   h = sum J' (F - m c),   Phi(t, q) = 0,
--
-- and Phi_q v' = -gamma, gamma the second derivative of Phi along (1, v): d'Alembert's principle. All derivatives
-- in them are exact: dual numbers for J, jets of second order for c and gamma. A spatial body adds J_w' I J_w and
-- J_w' (T - I c_w - w x I w) with its angular velocity w in its own axes, from R' dR. A free body in space has
-- seven coordinates, x, y, z and a quaternion p, with the constraint (p . p - 1) / 2 = 0, and the inertia m_p (p .
-- p')^2 / 2, which is 0 on it, so that the mass matrix is regular. The forms of the equations for integrators are
-- in nslua.mechanics.forms, frames and Kane's equations in nslua.mechanics.frames.
--
-- Shabana, Dynamics of Multibody Systems, 4th ed., 2013, chapters 3 and 5; Haug, Computer-Aided Kinematics and
-- Dynamics of Mechanical Systems, 1989, chapters 3 and 6.

local format = require "nslua.core".number_support.format
local where = require "nslua.where"
where.ours()

return function(ns, motion)
  local mechanics, core = {}, {} -- core: what the other files share
  local sin, cos = math.sin, math.cos

  local function fail(text, ...) where.fail(format("mechanics: " .. text, ...)) end

  -- What an error of this or another quantity says, to be raised again with a name before it.
  local function said(message) return (where.bare(message, "mechanics"):gsub("^mechanics: ", "")) end

  -- Whether a 3 x 3 matrix is a rotation.
  function core.is_rotation(R) return (R:transpose() * R - ns.eye(3)):norm() <= 1e-9 and ns.det(R) > 0 end

  -- Whether A x = b can be solved, and x.
  local function solvable(A, b) return where.try(ns.solve, A, b) end

  -- The columns of A whose numbers are in a list.
  local function columns(A, numbers)
    local out = ns.zeros(#A, #numbers)
    for k, j in ipairs(numbers) do
      for i = 1, #A do out[i][k] = A[i][j] end
    end
    return out
  end

  local function describe(value)
    local meta = getmetatable(value)
    if type(value) == "number" then return value ~= value and "nan" or tostring(value) end
    if type(value) == "string" then return "'" .. value .. "'" end
    if meta == "matrix" then return ("a %d x %d matrix"):format(value:shape()) end
    if type(value) == "userdata" or type(meta) == "table" and meta.__tostring then return tostring(value) end
    return type(value)
  end

  local function take_options(o, who, names)
    if type(o) ~= "table" or rawget(o, "system") ~= nil then -- a body is no table of options
      fail("%s: expected an option table, got %s", who, type(o) == "table" and describe(o) or type(o))
    end
    local known = {}
    for name in names:gmatch "%S+" do known[#known + 1], known[name] = name, true end
    for key in pairs(o) do
      if not known[key] then
        table.sort(known)
        fail("%s: unknown option '%s' (known: %s)", who, tostring(key), table.concat(known, ", "))
      end
    end
    return o
  end

  -- Vectors and matrices, which can be called for their slices, are no functions.
  local function is_callable(f)
    local name, meta = getmetatable(f), debug.getmetatable(f)
    if type(name) == "string" and (name:find "vector" or name:find "matrix") then return false end
    return type(f) == "function" or (meta ~= nil and meta.__call ~= nil)
  end

  local function number(value, who, what, least)
    if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge or (least and value < least) then
      fail("%s: %s: expected a number%s, got %s", who, what, least and format(", at least %g", least) or "",
        describe(value))
    end
    return value
  end

  function core.positive(value, who, what)
    if type(value) ~= "number" or value ~= value or value <= 0 then
      fail("%s: %s: expected a positive number, got %s", who, what, describe(value))
    end
  end

  -- A vector of n finite numbers, copied.
  local function list(value, n, who, what)
    local good, v = where.try(ns.vector, value)
    if type(value) == "number" and n == 1 then good, v = true, ns.vector { value } end
    if not good or type(value) == "number" and n ~= 1 then
      fail("%s: %s: expected %s, got %s", who, what, n == 1 and "a number" or n and ("a list of %d numbers"):format(n)
        or "a list of numbers", describe(value))
    end
    if n and #v ~= n then
      fail("%s: %s: expected %d number%s, got %d", who, what, n, n == 1 and "" or "s", #v)
    end
    for i = 1, v:isfinite() and 0 or #v do
      if v[i] - v[i] ~= 0 then fail("%s: %s[%d] is %s", who, what, i, describe(v[i])) end
    end
    return v
  end

  -- ---- quantities: functions of (t, q) that name themselves in errors ----

  -- Calls one of motion's functions; an error that is a text gets the name of the quantity.
  local function guarded(x, work, ...)
    if x.busy then fail "it asks the system for what depends on its own value" end
    x.busy = true
    local good, a, b, c = pcall(work, x.f, ...)
    x.busy = nil
    if good then return a, b, c end
    if type(a) ~= "string" then error(a, 0) end
    fail("%s: %s", x.name, said(a))
  end

  -- Quantities of a group are evaluated together: one pass with dual numbers for all of them.
  local function quantity(group, name, f, rows)
    local x = { group = group, name = name, f = motion.plain(f), rows = rows }
    group[#group + 1], group.f = x, nil
    return x
  end

  local function length(x) return #x end

  -- One function (t, q, out) of several. While it runs, frames keep what they compute at that (t, q) in core.shared.
  local function together(functions, rows)
    return function(t, q, out)
      core.shared, core.shared_t, core.shared_q = {}, t, q
      local row = 0
      for k, f in ipairs(functions) do
        local part = out:slice(row + 1, row + rows[k])
        local y = f(t, q, part)
        if type(y) == "number" or type(y) == "userdata" and not where.try(length, y) then
          part[1] = y
        elseif y ~= nil and type(y) ~= "table" and type(y) ~= "userdata" then
          fail("a function of (t, q): expected numbers, or its last argument filled, got %s", describe(y))
        elseif y ~= nil and not rawequal(y, part) then
          for i = 1, rows[k] do part[i] = y[i] end
        end
        row = row + rows[k]
      end
      core.shared, core.shared_q = nil, nil
    end
  end

  -- Finds the numbers of values that are not known, with errors in the name of each quantity, and makes group.f.
  local function prepare(group, t, q)
    local functions, rows, size = {}, {}, 0
    for _, x in ipairs(group) do
      if not x.constant then
        local y = guarded(x, motion.values, t, q, x.rows or -1)
        x.rows, x.at = #y, size
        size = size + #y
        functions[#functions + 1], rows[#rows + 1] = x.f, #y
      end
    end
    group.f, group.size, group.slopes, group.line, group.lump = together(functions, rows), size, nil, nil, nil
    if group.compile and size > 0 then group.f = ns.compile(group.f) end
  end

  -- Calls one of motion's functions on a group; an error that is a text is looked for in the quantities one by one.
  local function guarded_group(group, work, t, q, ...)
    local good, a, b, c = pcall(work, group.f, t, q, group.size, ...)
    if good then return a, b, c end
    core.shared, core.shared_q = nil, nil
    if type(a) ~= "string" then error(a, 0) end
    for _, x in ipairs(group) do
      if not x.constant then guarded(x, work, t, q, x.rows, ...) end
    end
    fail("%s", said(a))
  end

  local function values(x, t, q)
    if x.constant then return x.constant * q end
    return guarded(x, motion.values, t, q, x.rows)
  end

  -- Within one evaluation of the equations what is asked for again at the same point is not computed again.
  local epoch = 0

  local function fresh() epoch = epoch + 1 end

  local function at_point(last, t, q) return last and last.epoch == epoch and last.t == t and last.q == q end

  -- Values of all of a group, and their Jacobian by q: not to be written to.
  local function slopes(group, t, q)
    if not group.f then prepare(group, t, q) end
    if not at_point(group.slopes, t, q) then
      local y, J = guarded_group(group, motion.jacobian, t, q)
      group.slopes = { epoch = epoch, t = t, q = q:copy(), y = y, J = J }
    end
    return group.slopes
  end

  -- The same of one quantity.
  local function jacobian(x, t, q)
    if x.constant then return x.constant * q, x.constant end
    local last = slopes(x.group, t, q)
    local i, j = x.at + 1, x.at + x.rows
    if not last[x] then last[x] = { last.y:slice(i, j), last.J:slice(i, j, 1, #q) } end
    return last[x][1], last[x][2]
  end

  -- Values of all of a group, their first and second derivative along (tdot, v): not to be written to.
  local function line(group, t, q, tdot, v)
    if not group.f then prepare(group, t, q) end
    local last = group.line
    if not at_point(last, t, q) or last.tdot ~= tdot or last.v ~= v then
      last = { epoch = epoch, t = t, q = q:copy(), tdot = tdot, v = v:copy() }
      last.y, last.first, last.second = guarded_group(group, motion.along, t, q, tdot, v)
      group.line = last
    end
    return last
  end

  -- The same of one quantity.
  local function along(x, t, q, tdot, v)
    if x.constant then return x.constant * q, x.constant * v, ns.zeros(x.rows) end
    local last = line(x.group, t, q, tdot, v)
    local i, j = x.at + 1, x.at + x.rows
    return last.y:slice(i, j), last.first:slice(i, j), last.second:slice(i, j)
  end

  -- ---- the system ----

  local System, Body, kinds = {}, {}, {}
  System.__index, System.__name = System, "mechanics.system"
  Body.__index, Body.__name = Body, "mechanics.body"

  local function several(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

  function System:__tostring()
    return ("mechanics.system in %s: %s, %s, %s"):format(self.dimension == 2 and "the plane" or "space",
      several(self.n, "coordinate"), #self.bodies == 1 and "1 body" or #self.bodies .. " bodies",
      several(#self.joints, "constraint"))
  end

  function Body:__tostring() return ("mechanics.body '%s'"):format(self.name) end

  function mechanics.system(o)
    o = take_options(o or {}, "system", "coordinates dimension gravity frame origin compile")
    local dimension, gravity = o.dimension, nil
    for _ = 1, 2 do -- as given, then as gravity has it
      if dimension ~= nil and dimension ~= 2 and dimension ~= 3 then
        fail("system: dimension: expected 2 or 3, got %s", describe(dimension))
      end
      gravity = gravity or o.gravity and list(o.gravity, dimension, "system", "gravity")
      dimension = dimension or (gravity and #gravity) or 2
    end
    local n = o.coordinates or 0
    if math.type(n) ~= "integer" or n < 0 then
      fail("system: coordinates: expected a number of coordinates, got %s", describe(n))
    end
    local sys = setmetatable({ n = n, given = n, dimension = dimension, bodies = {}, actions = {}, joints = {},
      moving = {}, held = {}, frame = o.frame, origin = o.origin }, System)
    if o.compile ~= nil and type(o.compile) ~= "boolean" then
      fail("system: compile: expected true or false, got %s", describe(o.compile))
    end
    for _, what in ipairs { "frame", "origin" } do
      if o[what] ~= nil and getmetatable(o[what]) ~= kinds[what] then
        fail("system: %s: expected a %s, got %s", what, what == "frame" and "frame" or "point", describe(o[what]))
      end
    end
    sys.moving.compile, sys.held.compile = o.compile, o.compile
    sys.gravity = gravity or ns.zeros(dimension)
    local fixed = dimension == 2 and function() return { 0, 0 } end or function() return { 0, 0, 0 } end
    sys.ground = setmetatable({ name = "ground", system = sys, place = fixed, turn = function()
      return dimension == 2 and 0 or { 1, 0, 0, 0, 1, 0, 0, 0, 1 }
    end }, Body)
    return sys
  end

  local function name_of(o, sys, kind)
    local name = o.name or ("%s %d"):format(kind, #sys.bodies + 1)
    if type(name) ~= "string" then fail("%s: name: expected a string, got %s", kind, type(name)) end
    return name
  end

  -- A function of (t, q) out of a function or an object with one (a point of a frame).
  local function placed(sys, value, who, what)
    local meta = getmetatable(value)
    if meta ~= nil and (meta == kinds.origin or meta == kinds.frame) then return value:in_system(sys) end
    if not is_callable(value) then
      fail("%s: %s: expected a function of (t, q), got %s", who, what, describe(value))
    end
    return motion.plain(value)
  end

  -- Flattens a matrix given as rows; nine numbers stay.
  local function flat(f)
    return function(t, q)
      local R = f(t, q)
      if type(R) ~= "table" or type(R[1]) == "number" or #R ~= 3 then return R end
      return { R[1][1], R[1][2], R[1][3], R[2][1], R[2][2], R[2][3], R[3][1], R[3][2], R[3][3] }
    end
  end

  -- Equations that were made of a system hold its coordinates and constraints as they were then.
  function core.check_open(sys, who)
    if sys.made then fail("%s: it comes too late: %s has made equations of the system", who, sys.made) end
  end

  local function add_body(sys, o, kind)
    local name = name_of(o, sys, kind)
    local who = ("%s '%s'"):format(kind, name)
    core.check_open(sys, who)
    for _, other in ipairs(sys.bodies) do
      if other.name == name then fail("%s: there is a body of that name", who) end
    end
    local body = setmetatable({ name = name, system = sys, mass = number(o.mass, who, "mass", 0) }, Body)
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
    take_options(o, "particle", "name mass position")
    local place = placed(self, o.position, "particle", "position")
    local body, who = add_body(self, o, "particle")
    body.place = place
    body.position = quantity(self.moving, who .. " position", place, self.dimension)
    return body
  end

  function System:body(o)
    local plane = self.dimension == 2
    take_options(o, "body", plane and "name mass inertia position angle" or "name mass inertia position orientation")
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

  -- The orientation of the quaternion q[k + 1] .. q[k + 4], scalar first; nine numbers, by rows.
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

  -- A body with coordinates of its own, after those that are there: x, y, angle, or x, y, z and a unit quaternion.
  function System:free_body(o)
    take_options(o, "free_body", "name mass inertia")
    local inertia = take_inertia(self, o, "free_body")
    local body, who = add_body(self, o, "body")
    local k, plane = self.n, self.dimension == 2
    self.n = k + (plane and 3 or 7)
    body.inertia = inertia
    if plane then free_in_plane(body, who, k) else free_in_space(body, who, k) end
    body.position = quantity(self.moving, who .. " position", body.place, self.dimension)
    return body
  end

  -- The function (t, q) of the place of a point that is fixed in the body at p (the body's axes).
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

  -- A force or torque as a function of (t, q, v): a constant is one too.
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
    take_options(o, "force", "on at value")
    local body = take_body(self, o.on, "force: on")
    if body == self.ground then fail("force: on: expected a body that moves, got the ground") end
    add_action(self, { kind = "force", who = ("force on '%s'"):format(body.name), count = self.dimension,
      value = value_of(o.value, self.dimension, "force"), constant = not is_callable(o.value),
      along = quantity(self.moving, ("force on '%s': its point"):format(body.name), body:point(o.at),
        self.dimension) })
  end

  -- value: a number in the plane; in space three components in the body's axes.
  function System:torque(o)
    take_options(o, "torque", "on value")
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
    take_options(o, "spring", "from p1 to p2 stiffness damping length")
    local one, other = take_body(self, o.from, "spring: from"), take_body(self, o.to, "spring: to")
    if one == other then fail("spring: expected two bodies, got '%s' at both ends", one.name) end
    local square = gap(one:point(o.p1), other:point(o.p2))
    local who = ("spring from '%s' to '%s'"):format(one.name, other.name)
    if o.stiffness == nil and o.damping == nil then fail("%s: stiffness and damping are missing", who) end
    add_action(self, { kind = "spring", stiffness = number(o.stiffness or 0, who, "stiffness", 0),
      damping = number(o.damping or 0, who, "damping", 0), rest = number(o.length or 0, who, "length", 0),
      along = quantity(self.moving, who, function(t, q) return square(t, q) ^ 0.5 end, 1) })
  end

  -- ---- evaluation ----

  -- The constant Jacobians of free bodies, once the number of coordinates is known.
  local function settle(sys)
    if sys.settled == sys.n then return end
    for _, body in ipairs(sys.bodies) do
      local k, d = body.coordinates, sys.dimension
      if k then
        local x = ns.zeros(d, sys.n)
        for i = 1, d do x[i][k[i]] = 1 end
        body.position.constant = x
        if d == 2 then
          body.rotation.constant = ns.zeros(1, sys.n)
          body.rotation.constant[1][k[3]] = 1
        end
      end
    end
    sys.settled = sys.n
  end

  -- t, q and v (nil: none) as they were given, checked; who and level are for the names in errors: "0" of a start.
  local function state(sys, t, q, v, who, level)
    who, level = who or "system", level or ""
    if sys.n == 0 then fail "system: it has no coordinates" end
    number(t, who, "t" .. level)
    fresh()
    settle(sys)
    return list(q, sys.n, who, "q" .. level), v and list(v, sys.n, who, "v" .. level)
  end

  -- The number of equations of all constraints.
  local function count_rows(sys, t, q)
    if #sys.joints == 0 then return 0 end
    if not sys.held.f then prepare(sys.held, t, q) end
    return sys.held.size
  end

  -- The antisymmetric part of R' D as a vector; R and D hold the rows of matrices.
  local function spin(R, D)
    local function e(i, j) return R[i] * D[j] + R[3 + i] * D[3 + j] + R[6 + i] * D[6 + j] end
    return { (e(3, 2) - e(2, 3)) / 2, (e(1, 3) - e(3, 1)) / 2, (e(2, 1) - e(1, 2)) / 2 }
  end

  -- The rotation of a spatial body: R and the Jacobian of its angular velocity, in its own axes.
  local function spinning(x, t, q)
    local R, J9 = jacobian(x, t, q)
    local J = ns.zeros(3, #q)
    for j = 1, #q do
      local w = spin(R, J9:column(j))
      J[1][j], J[2][j], J[3][j] = w[1], w[2], w[3]
    end
    return R, J
  end

  local function add_mass(M, k, m) M[k][k] = M[k][k] + m end

  -- Adds J' I J of the rotation of a body in space to M; of a quaternion the inertia of its length too.
  local function add_rotation(body, M, t, q)
    local _, J = spinning(body.rotation, t, q)
    M = M + J:transpose() * (body.inertia * J)
    local p = body.quaternion
    if not p then return M end
    for i = p + 1, p + 4 do
      for j = p + 1, p + 4 do M[i][j] = M[i][j] + body.stretch * q[i] * q[j] end
    end
    return M
  end

  -- The bodies together. Of free ones the mass matrix `mass` and the weight are constant. Of the others J' W J is the
  -- mass and J' `pull` the weight, J the Jacobian of sys.moving, W diagonal with masses and, in the plane, inertias.
  -- What turns in space is left over, `turning`.
  local function lumps(sys, t, q)
    local group, plane, d = sys.moving, sys.dimension == 2, sys.dimension
    if not group.f then prepare(group, t, q) end
    if group.lump then return group.lump end
    local lump = { mass = ns.zeros(sys.n, sys.n), weight = ns.zeros(sys.n), turning = {} }
    local at, diagonal = {}, {}
    local function add(row, m) at[#at + 1], diagonal[#diagonal + 1] = row, m end
    lump.pull = ns.zeros(group.size)
    for _, body in ipairs(sys.bodies) do
      local k, x, turn = body.coordinates, body.position, body.rotation
      for i = 1, d do
        if k then
          add_mass(lump.mass, k[i], body.mass)
          lump.weight[k[i]] = body.mass * sys.gravity[i]
        else
          add(x.at + i, body.mass)
          lump.pull[x.at + i] = body.mass * sys.gravity[i]
        end
      end
      if k and plane then add_mass(lump.mass, k[3], body.inertia)
      elseif turn and plane then add(turn.at + 1, body.inertia)
      elseif turn then lump.turning[#lump.turning + 1] = body end
    end
    lump.W = #at > 0 and ns.sparse { rows = group.size, cols = group.size, i = at, j = at, v = diagonal }
    group.lump = lump
    return lump
  end

  local function mass(sys, t, q)
    local lump = lumps(sys, t, q)
    local M = lump.mass:copy()
    if lump.W then
      local J = slopes(sys.moving, t, q).J
      M = M + J:transpose() * (lump.W * J)
    end
    for _, body in ipairs(lump.turning) do M = add_rotation(body, M, t, q) end
    return M
  end

  -- The inertial terms of a body's rotation in space that are left without accelerations.
  local function rotation_bias(body, t, q, v)
    local R, first, second = along(body.rotation, t, q, 1, v)
    local _, J = spinning(body.rotation, t, q)
    local w, c = ns.vector(spin(R, first)), ns.vector(spin(R, second))
    local bias, p = J:transpose() * (body.inertia * c + w:cross(body.inertia * w)), body.quaternion
    if not p then return bias end
    local square = 0
    for i = p + 1, p + 4 do square = square + v[i] ^ 2 end
    for i = p + 1, p + 4 do bias[i] = bias[i] + body.stretch * square * q[i] end
    return bias
  end

  local function act(sys, action, t, q, v)
    if action.kind == "generalised" then
      return evaluate_value(action, sys, t, q, v)
    end
    if action.kind == "torque" then
      local _, J = spinning(action.along, t, q)
      return J:transpose() * evaluate_value(action, sys, t, q, v)
    end
    local x, J = jacobian(action.along, t, q)
    local F
    if action.kind == "force" then
      F = evaluate_value(action, sys, t, q, v)
    elseif action.kind == "potential" then
      F = ns.vector { -1 }
    else
      local rate = action.damping > 0 and select(2, along(action.along, t, q, 1, v))[1] or 0
      F = ns.vector { -action.stiffness * (x[1] - action.rest) - action.damping * rate }
    end
    return J:transpose() * F
  end

  -- inertia: with the terms of the velocities.
  local function forces(sys, t, q, v, inertia)
    local lump = lumps(sys, t, q)
    local h, pull = lump.weight:copy(), lump.pull
    if lump.W then
      if inertia then pull = pull - lump.W * line(sys.moving, t, q, 1, v).second end
      h = h + slopes(sys.moving, t, q).J:transpose() * pull
    end
    for _, body in ipairs(inertia and lump.turning or {}) do h = h - rotation_bias(body, t, q, v) end
    for _, action in ipairs(sys.actions) do h = h + act(sys, action, t, q, v) end
    return h
  end

  -- Phi, Phi_q of all constraints: not to be written to.
  local function constraint_jacobian(sys, t, q)
    if #sys.joints == 0 then return ns.zeros(0), ns.zeros(0, sys.n) end
    local last = slopes(sys.held, t, q)
    return last.y, last.J
  end

  local function constraint_values(sys, t, q)
    if #sys.joints == 0 then return ns.zeros(0) end
    if not sys.held.f then prepare(sys.held, t, q) end
    return (guarded_group(sys.held, motion.values, t, q))
  end

  -- Phi, its first and second derivative along (tdot, v): not to be written to.
  local function constraint_along(sys, t, q, tdot, v)
    if #sys.joints == 0 then return ns.zeros(0), ns.zeros(0), ns.zeros(0) end
    local last = line(sys.held, t, q, tdot, v)
    return last.y, last.first, last.second
  end

  -- The first row of Cq that depends on those before it: its constraint and number there; nil when none does.
  local function dependent_row(sys, Cq)
    local basis, row = {}, 0
    for _, joint in ipairs(sys.joints) do
      for i = 1, joint.x.rows do
        local r = Cq[row + i]:copy()
        local size = r:norm()
        for _ = 1, 2 do
          for _, b in ipairs(basis) do r = r - r:dot(b) * b end
        end
        if r:norm() <= 1e-10 * size or size == 0 then return joint.name, i end
        basis[#basis + 1] = r / r:norm()
      end
      row = row + joint.x.rows
    end
  end

  local function check_rank(sys, t, Cq)
    local name, i = dependent_row(sys, Cq)
    if name then
      fail("t=%g: equation %d of constraint '%s' depends on those before it: leave one of them out", t, i, name)
    end
  end

  -- v' and lambda from M v' = h + Phi_q' lambda, Phi_q v' = -gamma.
  local function accelerations(sys, t, q, v)
    local M, h = mass(sys, t, q), forces(sys, t, q, v, true)
    local _, Cq = constraint_jacobian(sys, t, q)
    local _, _, gamma = constraint_along(sys, t, q, 1, v)
    local m = #gamma
    local K = m == 0 and M or ns.block { { M, -1 * Cq:transpose() }, { Cq, 0 } }
    local good, x = solvable(K, m == 0 and h or ns.concatenate { h, -1 * gamma })
    if not good then
      check_rank(sys, t, Cq)
      fail("t=%g: no accelerations: a coordinate has no inertia (%s)", t, (tostring(x):gsub("^.-:%d+: ", "")))
    end
    return x(1, sys.n):copy(), m == 0 and ns.zeros(0) or x(sys.n + 1, sys.n + m):copy()
  end

  local function energy(sys, t, q, v)
    local kinetic, potential = 0, 0
    for _, body in ipairs(sys.bodies) do
      local x, first = along(body.position, t, q, 1, v)
      kinetic = kinetic + body.mass * first:dot(first) / 2
      potential = potential - body.mass * sys.gravity:dot(x)
      if body.rotation then
        local R, rate = along(body.rotation, t, q, 1, v)
        local w = sys.dimension == 2 and rate or ns.vector(spin(R, rate))
        kinetic = kinetic + w:dot(body.inertia * w) / 2
        local p, stretch = body.quaternion, 0
        for i = 1, p and 4 or 0 do stretch = stretch + q[p + i] * v[p + i] end
        kinetic = kinetic + (p and body.stretch * stretch ^ 2 / 2 or 0)
      end
    end
    for _, action in ipairs(sys.actions) do
      local x = (action.kind == "potential" or action.kind == "spring") and values(action.along, t, q)[1]
      if action.kind == "potential" then potential = potential + x end
      if action.kind == "spring" then potential = potential + action.stiffness * (x - action.rest) ^ 2 / 2 end
    end
    return { kinetic = kinetic, potential = potential, total = kinetic + potential }
  end

  function System:mass(t, q) return mass(self, t, (state(self, t, q))) end

  -- Q: what forces, weights, springs and potentials give, without the inertial terms of forces().
  function System:generalised_forces(t, q, v)
    q, v = state(self, t, q, v or ns.zeros(self.n))
    return forces(self, t, q, v, false)
  end

  function System:forces(t, q, v)
    q, v = state(self, t, q, v or ns.zeros(self.n))
    return forces(self, t, q, v, true)
  end

  function System:constraint_jacobian(t, q)
    local phi, Cq = constraint_jacobian(self, t, (state(self, t, q)))
    return phi:copy(), Cq:copy()
  end

  -- Phi, Phi' and gamma, at the velocities v.
  function System:constraint_rates(t, q, v)
    q, v = state(self, t, q, v or ns.zeros(self.n))
    local phi, rate, bend = constraint_along(self, t, q, 1, v)
    return phi:copy(), rate:copy(), bend:copy()
  end

  function System:accelerations(t, q, v)
    q, v = state(self, t, q, v or ns.zeros(self.n))
    return accelerations(self, t, q, v)
  end

  function System:energy(t, q, v)
    q, v = state(self, t, q, v or ns.zeros(self.n))
    return energy(self, t, q, v)
  end

  -- q and v on the constraints: q the nearest in steps of least norm, v the nearest in the kinetic energy.
  function System:consistent(t, q, v)
    q, v = state(self, t, q, v or ns.zeros(self.n), "consistent")
    for _ = 1, 50 do
      local phi, Cq = constraint_jacobian(self, t, q)
      if #phi == 0 then return q, v end
      local step = ns.lstsq(Cq, phi)
      q = q - step
      if step:norm(math.huge) <= 1e-14 * (1 + q:norm(math.huge)) then break end
    end
    local phi, Cq = constraint_jacobian(self, t, q)
    if phi:norm(math.huge) > 1e-10 * (1 + q:norm(math.huge)) then
      fail("t=%g: no coordinates near the start fulfil the constraints: the largest residual left is %.3g", t,
        phi:norm(math.huge))
    end
    check_rank(self, t, Cq)
    local _, rate = constraint_along(self, t, q, 1, v)
    local K = ns.block { { mass(self, t, q), Cq:transpose() }, { Cq, 0 } }
    local x = ns.solve(K, ns.concatenate { ns.zeros(self.n), -1 * rate })
    return q, v + x(1, self.n)
  end

  for name, f in pairs { fail = fail, describe = describe, take_options = take_options, is_callable = is_callable,
    list = list, number = number, quantity = quantity, take_body = take_body, gap = gap, state = state, fresh = fresh,
    mass = mass, forces = forces, along = along, constraint_jacobian = constraint_jacobian,
    constraint_values = constraint_values, constraint_along = constraint_along,
    count_rows = count_rows, check_rank = check_rank, motion = motion,
    together = together, solvable = solvable, columns = columns,
    kinds = kinds, guarded = guarded, guarded_group = guarded_group, evaluate_value = evaluate_value, lumps = lumps,
    slopes = slopes, line = line, spin = spin } do
    core[name] = f
  end
  require "nslua.mechanics.joints"(ns, System, core)
  require "nslua.mechanics.jacobians"(ns, core)
  require "nslua.mechanics.forms"(ns, System, core)
  require "nslua.mechanics.frames"(ns, mechanics, System, core)
  return mechanics
end
