-- nslua.mechanics.frames: reference frames, points and Kane's equations, evaluated with exact derivatives.
--
--   local N, A = ns.mechanics.ReferenceFrame "N", ns.mechanics.ReferenceFrame "A"
--   A:orient_axis(N, ns.mechanics.coordinate(1), N.z)        -- or any function of (t, q)
--   local O, P = ns.mechanics.Point "O", ns.mechanics.Point "P"
--   P:set_pos(O, l * A.x)
--   P:pos_from(O):dot(N.x)                                   -- a scalar: s(t, q)
--   P:vel(O, N)(t, q, v), P:acc(O, N)(t, q, v, vd), P:partial_velocities(O, N)(t, q), A:ang_vel_in(N)(t, q, v)
--   local sys = ns.mechanics.system { coordinates = 3, frame = N, origin = O, gravity = { 0, -9.81, 0 } }
--   sys:particle { mass = m, position = P }
--   local kane = sys:kane { dependent = { 2, 3 } }
--   kane:eval_k(t, q, u), kane:eval_h(t, q, u), kane:eval_d(t, q, u); ns.solve_ivp(kane.f, { 0, 30 }, x0)
--
-- Kinematical equations f_k(t, q, q', u) = Mk q' + gk = 0 give q' = Y u + y0 with the generalised speeds u;
-- holonomic and nonholonomic constraints give the dependent speeds, Mhd u_r + ghd = 0, so that u = B u_i + b. With
-- the equations of motion M v' = h along the partial velocities, columns of Y B,
--
--   Md u_i' + gd = 0,   Md = -(Y B)' M Y B,   gd = (Y B)' (h - M (v' at u_i' = 0)).
--
-- Kane and Levinson, Dynamics: Theory and Applications, 1985, chapters 2 and 6.

local format = require "nslua.core".number_support.format
local where = require "nslua.base.where"

return function(ns, mechanics, System, core)
  local fail, describe, is_callable, motion = core.fail, core.describe, core.is_callable, core.motion
  local columns = core.columns
  local sin, cos = math.sin, math.cos

  -- ---- scalars: functions of (t, q) with arithmetic ----

  local Scalar = {}
  Scalar.__index, Scalar.__name = Scalar, "mechanics.scalar"
  where.strict(Scalar)

  local function scalar(f) return setmetatable({ f = f }, Scalar) end

  local function length(q) return #q end

  function Scalar:__call(t, q)
    if type(q) == "number" or not where.try(length, q) then
      fail("scalar: q: expected a vector, got %s", describe(q))
    end
    return self.f(t, q)
  end

  local function function_of(x, who)
    if type(x) == "number" then return function() return x end end
    if getmetatable(x) == Scalar then return x.f end
    if not is_callable(x) then fail("%s: expected a number or a function of (t, q), got %s", who, describe(x)) end
    return function(t, q)
      local y = x(t, q)
      if y == nil or type(y) == "string" or type(y) == "boolean" then
        fail("%s: expected the function of (t, q) to return a number, got %s", who, describe(y))
      end
      return y
    end
  end

  local function combine(operate)
    return function(x, y)
      local f, g = function_of(x, "scalar"), function_of(y, "scalar")
      return scalar(function(t, q) return operate(f(t, q), g(t, q)) end)
    end
  end

  local Vector, Frame, Point = {}, {}, {}
  local times = combine(function(x, y) return x * y end)
  Scalar.__add = combine(function(x, y) return x + y end)
  function Scalar.__mul(x, y)
    if getmetatable(y) == Vector then return Vector.__mul(x, y) end
    return times(x, y)
  end
  Scalar.__sub = combine(function(x, y) return x - y end)
  Scalar.__div = combine(function(x, y) return x / y end)
  Scalar.__pow = combine(function(x, y) return x ^ y end)
  function Scalar.__unm(x) return times(-1, x) end

  -- Coordinate k as a scalar.
  function mechanics.coordinate(k)
    if math.type(k) ~= "integer" or k < 1 then
      fail("coordinate: expected a number from 1 on, got %s", describe(k))
    end
    return scalar(function(_, q)
      if k > #q then fail("coordinate %d: q has %d element%s", k, #q, #q == 1 and "" or "s") end
      return q[k]
    end)
  end

  -- ---- vectors: sums of components in frames ----

  Vector.__index, Vector.__name = Vector, "mechanics.vector"
  Frame.__index, Frame.__name = Frame, "mechanics.frame"
  Point.__index, Point.__name = Point, "mechanics.point"
  for _, class in ipairs { Vector, Frame, Point } do where.strict(class) end

  function Frame:__tostring() return ("mechanics.frame '%s'"):format(self.name) end
  function Point:__tostring() return ("mechanics.point '%s'"):format(self.name) end
  function Scalar.__tostring() return "mechanics.scalar of (t, q)" end

  function Vector:__tostring()
    local texts = {}
    for i, part in ipairs(self.parts) do
      local factor = part.factor or 1
      texts[i] = ("%s %s.%s"):format(type(factor) == "number" and format("%.6g", factor) or "f(t, q)",
        part.frame.name, ("xyz"):sub(part.axis, part.axis))
    end
    return "mechanics.vector " .. (#texts > 0 and table.concat(texts, " + ") or "0")
  end

  local function new_vector(parts) return setmetatable({ parts = parts }, Vector) end

  local function check(value, kind, who)
    if getmetatable(value) ~= kind then
      fail("%s: expected a %s, got %s", who, kind.__name:match "%.(%w+)$", describe(value))
    end
    return value
  end

  function Vector.__add(a, b)
    check(a, Vector, "vector +")
    check(b, Vector, "vector +")
    local parts = { table.unpack(a.parts) }
    for _, part in ipairs(b.parts) do parts[#parts + 1] = part end
    return new_vector(parts)
  end

  function Vector.__mul(a, b)
    local factor, v = a, b
    if getmetatable(a) == Vector then factor, v = b, a end
    if getmetatable(factor) == Vector then
      fail("vector *: expected a number or a function of (t, q), got %s (two vectors: dot or cross)",
        describe(factor))
    end
    function_of(factor, "vector *")
    local parts = {}
    for i, part in ipairs(v.parts) do
      local both = part.factor or 1
      if type(both) == "number" and type(factor) == "number" then both = both * factor
      else both = both == 1 and factor or times(both, factor) end
      parts[i] = { frame = part.frame, axis = part.axis, factor = both }
    end
    return new_vector(parts)
  end

  function Vector.__unm(a) return -1 * a end
  function Vector.__sub(a, b) return a + -1 * check(b, Vector, "vector -") end
  function Vector.__div(a, b)
    if b == 0 then fail("vector /: expected a divisor other than 0, got %s", describe(b)) end
    return 1 / (type(b) == "number" and b or scalar(function_of(b, "vector /"))) * a
  end

  -- Sums and products without the terms that are plain numbers 0 or 1; rotations about one axis have many of these.
  local is_number = motion.is_number

  local function sum(a, b)
    if is_number(a, 0) then return b end
    return is_number(b, 0) and a or a + b
  end

  local function product(a, b)
    if is_number(a, 0) or is_number(b, 0) then return 0 end
    if is_number(a, 1) then return b end
    return is_number(b, 1) and a or a * b
  end

  local function three(a, x, b, y, c, z) return sum(sum(product(a, x), product(b, y)), product(c, z)) end

  -- The matrix R whose columns are the axes of the frame in axes of the root; nine numbers, by rows. known: the
  -- matrices that have already been computed at (t, q).
  local function to_root(frame, t, q, known)
    if known[frame] then return known[frame] end
    local out = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }
    if frame.parent then
      local P, R = to_root(frame.parent, t, q, known), frame.turn(t, q)
      for i = 0, 2 do
        for j = 1, 3 do out[3 * i + j] = three(P[3 * i + 1], R[j], P[3 * i + 2], R[3 + j], P[3 * i + 3], R[6 + j]) end
      end
    end
    known[frame] = out
    return out
  end

  local function root_of(frame)
    while frame.parent do frame = frame.parent end
    return frame
  end

  local function related(a, b, who)
    if root_of(a) == root_of(b) then return end
    fail("%s: frame '%s': expected one that frame '%s' is oriented to, got one of another tree (orient_axis joins "
      .. "them)", who, b.name, a.name)
  end

  -- The table of matrices known at (t, q): the one shared by the functions that are evaluated together, or a new
  -- one.
  local function known_at(t, q)
    return rawequal(core.shared_q, q) and rawequal(core.shared_t, t) and core.shared or {}
  end

  -- The function of (t, q) of the three components in a frame.
  function Vector:express(frame)
    check(frame, Frame, "express")
    local terms = {}
    for i, part in ipairs(self.parts) do
      related(part.frame, frame, "express")
      terms[i] = { frame = part.frame, axis = part.axis, factor = function_of(part.factor or 1, "express") }
    end
    return function(t, q)
      local x, y, z, known = 0, 0, 0, known_at(t, q)
      for _, term in ipairs(terms) do
        local R, c, k = to_root(term.frame, t, q, known), term.factor(t, q), term.axis
        x, y, z = sum(x, product(c, R[k])), sum(y, product(c, R[3 + k])), sum(z, product(c, R[6 + k]))
      end
      local R = to_root(frame, t, q, known)
      return { three(R[1], x, R[4], y, R[7], z), three(R[2], x, R[5], y, R[8], z), three(R[3], x, R[6], y, R[9], z) }
    end
  end

  function Vector:dot(other)
    check(other, Vector, "dot")
    if #self.parts == 0 or #other.parts == 0 then return scalar(function() return 0 end) end
    local frame = root_of(self.parts[1].frame)
    local f, g = self:express(frame), other:express(frame)
    return scalar(function(t, q)
      local a, b = f(t, q), g(t, q)
      return three(a[1], b[1], a[2], b[2], a[3], b[3])
    end)
  end

  function Vector:cross(other)
    check(other, Vector, "cross")
    if #self.parts == 0 or #other.parts == 0 then return new_vector {} end
    local frame = root_of(self.parts[1].frame)
    local f, g = self:express(frame), other:express(frame)
    local function component(i, j)
      return function(t, q)
        local a, b = f(t, q), g(t, q)
        return a[i] * b[j] - a[j] * b[i]
      end
    end
    return new_vector { { frame = frame, axis = 1, factor = component(2, 3) },
      { frame = frame, axis = 2, factor = component(3, 1) }, { frame = frame, axis = 3, factor = component(1, 2) } }
  end

  -- ---- frames ----

  local function name_of(name, who)
    if type(name) ~= "string" then fail("%s: expected a name, got %s", who, describe(name)) end
    return name
  end

  function mechanics.ReferenceFrame(name)
    local frame = setmetatable({ name = name_of(name, "ReferenceFrame") }, Frame)
    for k, axis in ipairs { "x", "y", "z" } do frame[axis] = new_vector { { frame = frame, axis = k } } end
    return frame
  end

  -- The constant components of an axis that is fixed in the parent, of length 1.
  local function fixed_axis(axis, parent, who)
    check(axis, Vector, who)
    local total = ns.zeros(3)
    for _, part in ipairs(axis.parts) do
      if part.frame ~= parent or (part.factor and type(part.factor) ~= "number") then
        fail("%s: expected an axis with constant components in '%s'", who, parent.name)
      end
      total[part.axis] = total[part.axis] + (part.factor or 1)
    end
    if total:norm() == 0 then fail("%s: expected an axis that is not 0", who) end
    return total / total:norm()
  end

  -- Turns the frame against the parent by the angle about an axis of the parent.
  function Frame:orient_axis(parent, angle, axis)
    check(parent, Frame, "orient_axis")
    if self.parent then fail("orient_axis: frame '%s' is oriented already", self.name) end
    if root_of(parent) == self then fail("orient_axis: frame '%s' would be turned against itself", self.name) end
    local a = fixed_axis(axis, parent, "orient_axis: axis")
    local f, x, y, z = function_of(angle, "orient_axis: angle"), a[1], a[2], a[3]
    self.parent = parent
    self.turn = function(t, q)
      local phi = f(t, q)
      local c, s = cos(phi), sin(phi)
      if z == 1 then return { c, -s, 0, s, c, 0, 0, 0, 1 } end
      if y == 1 then return { c, 0, s, 0, 1, 0, -s, 0, c } end
      if x == 1 then return { 1, 0, 0, 0, c, -s, 0, s, c } end
      local d = 1 - c
      return { c + x * x * d, x * y * d - z * s, x * z * d + y * s,
        x * y * d + z * s, c + y * y * d, y * z * d - x * s,
        x * z * d - y * s, y * z * d + x * s, c + z * z * d }
    end
  end

  -- The matrix of the frame's axes in the axes of another, by rows, as a function of (t, q).
  function Frame:orientation_in(frame)
    related(self, check(frame, Frame, "orientation_in"), "orientation_in")
    local x, y, z = self.x:express(frame), self.y:express(frame), self.z:express(frame)
    return function(t, q)
      local a, b, c = x(t, q), y(t, q), z(t, q)
      return { a[1], b[1], c[1], a[2], b[2], c[2], a[3], b[3], c[3] }
    end
  end

  -- Checks the arguments (t, q), (t, q, v) or (t, q, v, v') of a function; x has its name, for errors.
  local function at(x, t, q, ...)
    core.number(t, x.name, "t")
    q = core.list(q, nil, x.name, "q")
    local rates = { ... }
    for k = 1, select("#", ...) do rates[k] = core.list(rates[k], #q, x.name, k == 1 and "v" or "v'") end
    return t, q, table.unpack(rates)
  end

  -- The angular velocity, in the axes of the other frame, as a function of (t, q, v).
  function Frame:ang_vel_in(frame)
    related(self, check(frame, Frame, "ang_vel_in"), "ang_vel_in")
    local x = { name = ("ang_vel_in of frame '%s'"):format(self.name), f = self:orientation_in(frame) }
    return function(t, q, v)
      t, q, v = at(x, t, q, v)
      local R, D = core.guarded(x, motion.along, t, q, 9, 1, v)
      local function e(i, j) -- of D R'
        return D[3 * i - 2] * R[3 * j - 2] + D[3 * i - 1] * R[3 * j - 1] + D[3 * i] * R[3 * j]
      end
      return ns.vector { (e(3, 2) - e(2, 3)) / 2, (e(1, 3) - e(3, 1)) / 2, (e(2, 1) - e(1, 2)) / 2 }
    end
  end

  -- ---- points ----

  function mechanics.Point(name) return setmetatable({ name = name_of(name, "Point") }, Point) end

  function Point:set_pos(other, vector)
    check(other, Point, "set_pos")
    check(vector, Vector, "set_pos")
    if self.from then fail("set_pos: point '%s' has a position already", self.name) end
    local point = other
    while point do
      if point == self then fail("set_pos: point '%s' would be placed from itself", self.name) end
      point = point.from
    end
    self.from, self.vector = other, vector
  end

  local function chain(point)
    local total, top = new_vector {}, point
    while top.from do total, top = total + top.vector, top.from end
    return total, top
  end

  function Point:pos_from(other)
    check(other, Point, "pos_from")
    local mine, top = chain(self)
    local theirs, other_top = chain(other)
    if top ~= other_top then
      fail("pos_from: point '%s': expected one whose position from point '%s' is known, got none (set_pos joins "
        .. "them)", other.name, self.name)
    end
    return mine - theirs
  end

  -- The position of the point relative to `origin`, in axes of the frame: a named function of (t, q).
  local function place(self, origin, frame, who)
    check(origin, Point, who .. ": origin")
    check(frame, Frame, who .. ": frame")
    return { name = ("%s of point '%s'"):format(who, self.name), f = self:pos_from(origin):express(frame) }
  end

  -- Point:vel returns a function of (t, q, v): the velocity of the point relative to another point that is fixed in
  -- the frame, in axes of the frame.
  function Point:vel(origin, frame)
    local x = place(self, origin, frame, "vel")
    return function(t, q, v)
      t, q, v = at(x, t, q, v)
      return (select(2, core.guarded(x, motion.along, t, q, 3, 1, v)))
    end
  end

  -- Point:acc returns a function of (t, q, v, vd): its acceleration, where vd is v'.
  function Point:acc(origin, frame)
    local x = place(self, origin, frame, "acc")
    return function(t, q, v, vd)
      t, q, v, vd = at(x, t, q, v, vd)
      local _, J = core.guarded(x, motion.jacobian, t, q, 3)
      return J * vd + select(3, core.guarded(x, motion.along, t, q, 3, 1, v))
    end
  end

  -- Point:partial_velocities returns a function of (t, q): the matrix of its partial velocities by q'.
  function Point:partial_velocities(origin, frame)
    local x = place(self, origin, frame, "partial_velocities")
    return function(t, q)
      t, q = at(x, t, q)
      return (select(2, core.guarded(x, motion.jacobian, t, q, 3)))
    end
  end

  -- A position or an orientation as a system takes it: relative to the frame and origin of the system.
  local function inertial(sys, value)
    if getmetatable(sys) ~= System then fail("in_system: expected a system, got %s", describe(sys)) end
    if not sys.frame then
      fail("system: frame: expected a frame, which '%s' as a position or orientation needs, got nil", value.name)
    end
    if getmetatable(value) == Frame then return value:orientation_in(sys.frame) end
    if not sys.origin then
      fail("system: origin: expected a point, which '%s' as a position needs, got nil", value.name)
    end
    local f = value:pos_from(sys.origin):express(sys.frame)
    if sys.dimension == 3 then return f end
    return function(t, q)
      local x = f(t, q)
      return { x[1], x[2] }
    end
  end

  function Point:in_system(sys) return inertial(sys, self) end
  function Frame:in_system(sys) return inertial(sys, self) end
  core.kinds.origin, core.kinds.frame = Point, Frame

  -- ---- Kane's equations ----

  local Kane = {}
  Kane.__index, Kane.__name = Kane, "mechanics.kane"
  where.strict(Kane)

  function Kane:__tostring()
    return ("mechanics.kane: %d speeds, %d independent"):format(self.speeds, #self.independent)
  end

  -- A function f(t, q, qd, u) as one of (t, z), z = (q, qd, u).
  local function packed(f, n)
    return function(t, z, out) return f(t, z:slice(1, n), z:slice(n + 1, 2 * n), z:slice(2 * n + 1, #z), out) end
  end

  local function solve(A, b, t, what)
    local good, x = core.solvable(A, b)
    if not good then fail("kane: t=%g: %s", t, what) end
    return x
  end

  -- Raises when the kinematical equations are not linear: then their solution does not fulfil them. One test, at
  -- speeds that are not 0, is enough.
  local function check_linear(self, t, q, u, v, g)
    if self.linear or v:norm() == 0 then return end
    local left = core.guarded(self.fk, motion.values, t, ns.concatenate { q, v, u }, #q):norm()
    if left > 1e-8 * (g:norm() + v:norm()) then
      fail("kane: kinematics: expected equations that are linear in qd: the residual of their solution is %.3g", left)
    end
    self.linear = true
  end

  -- Mk, gk, and v = q', Y = dv/du at (q, u).
  local function kinematics(self, t, q, u)
    local n, nu = #q, #u
    if self.plain then return ns.eye(n), -1 * u, u, ns.eye(n) end
    local g, J = core.guarded(self.fk, motion.jacobian, t, ns.concatenate { q, ns.zeros(n), u }, n)
    local Mk = J:slice(1, n, n + 1, 2 * n):copy()
    local what = "the kinematical equations do not give q' (Mk is singular)"
    local v = solve(Mk, -1 * g, t, what)
    check_linear(self, t, q, u, v, g)
    return Mk, g, v, solve(Mk, -1 * J:slice(1, n, 2 * n + 1, 2 * n + nu), t, what)
  end

  -- q'' at u' = 0.
  local function bias(self, t, q, v, u, Mk)
    local n = #q
    if self.plain then return ns.zeros(n) end
    local z, direction = ns.concatenate { q, v, u }, ns.concatenate { v, ns.zeros(n + #u) }
    local _, rate = core.guarded(self.fk, motion.along, t, z, n, 1, direction)
    return solve(Mk, -1 * rate, t, "Mk is singular")
  end

  -- All constraints on the speeds as A u + a = 0, at v = q'(u).
  local function speed_rows(self, t, q, u, v, Y)
    local sys = self.sys
    local _, Cq = core.constraint_jacobian(sys, t, q)
    local _, rate = core.constraint_along(sys, t, q, 1, v)
    local A = #rate > 0 and Cq * Y or nil
    if self.fn then
      local z = ns.concatenate { q, ns.zeros(#q), u }
      local values, J = core.guarded(self.fn, motion.jacobian, t, z, -1)
      local more = J:slice(1, #values, 2 * #q + 1, 2 * #q + #u):copy()
      A, rate = A and ns.vstack(A, more) or more, ns.concatenate { rate, values }
    end
    return A, rate, Cq
  end

  local function with_zeros(self, u)
    u = core.list(u, nil, "kane", "u")
    if #u == #self.independent and #self.dependent > 0 then
      local all = ns.zeros(self.speeds)
      for k, j in ipairs(self.independent) do all[j] = u[k] end
      return all
    end
    return core.list(u, self.speeds, "kane", "u")
  end

  local function without_dependent(self, u)
    local w = u:copy()
    for _, j in ipairs(self.dependent) do w[j] = 0 end
    return w
  end

  -- Returns Mk and gk at (t, q, u); u holds all speeds or the independent ones.
  function Kane:eval_k(t, q, u)
    q = core.state(self.sys, t, q)
    local Mk, gk = kinematics(self, t, q, with_zeros(self, u))
    return Mk, gk
  end

  -- Returns Mhd and ghd; the dependent speeds u_r fulfil Mhd u_r + ghd = 0.
  local function dependent_rows(self, t, q, u)
    local w = without_dependent(self, u)
    local _, _, v, Y = kinematics(self, t, q, w)
    local A, a = speed_rows(self, t, q, w, v, Y)
    if not A and #self.dependent > 0 or A and #A ~= #self.dependent then
      fail("kane: dependent: expected %d speeds, one for each equation, got %d", A and #A or 0, #self.dependent)
    end
    return A and columns(A, self.dependent), a, A
  end

  function Kane:eval_h(t, q, u)
    q = core.state(self.sys, t, q)
    local Mhd, ghd = dependent_rows(self, t, q, with_zeros(self, u))
    return Mhd, ghd
  end

  -- Without dependent speeds the constraints must not restrict the speeds; this is checked at the first evaluation.
  -- (The constraint on the length of a quaternion does not, when the kinematical equations keep the length.)
  local function check_free(self, t, q, u)
    if self.free then return end
    local _, _, v, Y = kinematics(self, t, q, u)
    local A, _, Cq = speed_rows(self, t, q, u, v, Y)
    local count = 0
    for i = 1, A and #A or 0 do
      if A[i]:norm() > 1e-10 * (1 + Cq:norm() * Y:norm()) then count = count + 1 end
    end
    if count > 0 then fail("kane: dependent: expected %d speeds, one for each equation, got 0", count) end
    self.free = true
  end

  local UNDETERMINED = "the constraints do not determine the dependent speeds: choose other ones"

  -- All speeds from the independent ones.
  local function complete(self, t, q, u)
    if #self.dependent == 0 then
      check_free(self, t, q, u)
      return u
    end
    local Mhd, ghd = dependent_rows(self, t, q, u)
    local r = solve(Mhd, -1 * ghd, t, UNDETERMINED)
    u = u:copy()
    for k, j in ipairs(self.dependent) do u[j] = r[k] end
    return u
  end

  -- du/du_i, and u' at u_i' = 0.
  local function speed_map(self, t, q, u, v, Y, ybias)
    local B, c = ns.zeros(self.speeds, #self.independent), ns.zeros(self.speeds)
    for k, j in ipairs(self.independent) do B[j][k] = 1 end
    if #self.dependent == 0 then return B, c end
    local A, _, Cq = speed_rows(self, t, q, u, v, Y)
    local _, _, gamma = core.constraint_along(self.sys, t, q, 1, v)
    local rest = #gamma > 0 and Cq * ybias + gamma or ns.zeros(0)
    if self.fn then
      local z, direction = ns.concatenate { q, v, u }, ns.concatenate { v, ns.zeros(#q + #u) }
      rest = ns.concatenate { rest, (select(2, core.guarded(self.fn, motion.along, t, z, -1, 1, direction))) }
    end
    local Ar = columns(A, self.dependent)
    local X = solve(Ar, -1 * columns(A, self.independent), t, UNDETERMINED)
    local x = solve(Ar, -1 * rest, t, UNDETERMINED)
    for k, j in ipairs(self.dependent) do
      c[j] = x[k]
      for i = 1, #self.independent do B[j][i] = X[k][i] end
    end
    return B, c
  end

  local function dynamics(self, t, q, u)
    u = complete(self, t, q, u)
    local Mk, _, v, Y = kinematics(self, t, q, u)
    local ybias = bias(self, t, q, v, u, Mk)
    local B, c = speed_map(self, t, q, u, v, Y, ybias)
    local M, h = core.mass(self.sys, t, q), core.forces(self.sys, t, q, v, true)
    local partial = Y * B
    local transposed = partial:transpose()
    return -1 * (transposed * (M * partial)), transposed * (h - M * (Y * c + ybias)), v
  end

  -- Returns Md and gd.
  function Kane:eval_d(t, q, u)
    q = core.state(self.sys, t, q)
    local Md, gd = dynamics(self, t, q, with_zeros(self, u))
    return Md, gd
  end

  -- All speeds at (t, q) from the independent ones.
  function Kane:all_speeds(t, q, u)
    q = core.state(self.sys, t, q)
    return complete(self, t, q, with_zeros(self, u))
  end

  local function split_speeds(o, nu)
    if o.dependent ~= nil and type(o.dependent) ~= "table" then
      fail("kane: dependent: expected a list of speeds, got %s", describe(o.dependent))
    end
    local seen, dependent, independent = {}, {}, {}
    for i, j in ipairs(o.dependent or {}) do
      if math.type(j) ~= "integer" or j < 1 or j > nu or seen[j] then
        fail("kane: dependent: expected different speeds, 1..%d, got %s", nu, describe(j))
      end
      seen[j], dependent[i] = true, j
    end
    for j = 1, nu do
      if not seen[j] then independent[#independent + 1] = j end
    end
    if #independent == 0 then
      fail("kane: dependent: expected at most %d speeds, so that one is independent, got %d", nu - 1, #dependent)
    end
    return dependent, independent
  end

  -- kinematics(t, q, qd, u) returns as many values as there are coordinates, linear in qd and u; the default is qd -
  -- u. nonholonomic(t, q, qd, u) returns values that are linear in u; it must not use qd, which is 0.
  function System:kane(o)
    o = core.take_options(o or {}, "kane")
    local n, nu = self.n, o.speeds or self.n
    if math.type(nu) ~= "integer" or nu < 1 or nu > n or (nu ~= n and not o.kinematics) then
      fail("kane: speeds: expected at most as many as there are coordinates, %d, got %s", n, describe(nu))
    end
    for _, name in ipairs { "kinematics", "nonholonomic" } do
      if o[name] ~= nil and not is_callable(o[name]) then
        fail("kane: %s: expected a function of (t, q, qd, u), got %s", name, describe(o[name]))
      end
    end
    local dependent, independent = split_speeds(o, nu)
    local kane = setmetatable({ sys = self, speeds = nu, dependent = dependent, independent = independent,
      plain = o.kinematics == nil, fk = o.kinematics and { name = "kane: kinematics", f = packed(o.kinematics, n) },
      fn = o.nonholonomic and { name = "kane: nonholonomic", f = packed(o.nonholonomic, n) } }, Kane)
    kane.f = core.differentiable(function(t, x)
      x = core.list(x, n + #independent, "kane", "x")
      local q = core.state(self, t, x(1, n))
      local Md, gd, v = dynamics(kane, t, q, with_zeros(kane, x(n + 1, #x)))
      return ns.concatenate { v, solve(Md, -1 * gd, t, "Md is singular: a speed moves no mass") }
    end)
    return kane
  end
end
