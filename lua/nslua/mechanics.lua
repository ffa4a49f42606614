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
-- (d'Alembert's principle) and Phi_q v' = -gamma, where gamma is the second derivative of Phi along (1, v). All
-- derivatives are exact: J comes from dual numbers, c and gamma from jets of second order. A body in space adds J_w'
-- I J_w to M and J_w' (T - I c_w - w x I w) to h, with its angular velocity w in its own axes, from R' dR. A free
-- body in space has seven coordinates: x, y, z and a quaternion p, with the constraint (p . p - 1) / 2 = 0. Its
-- kinetic energy has the further term m_p (p . p')^2 / 2, which makes the mass matrix regular and is 0 on the
-- constraint.
--
-- The folder nslua/mechanics has a file for each part: checks, quantities, bodies, equations, joints, joint_laws,
-- jacobians, forms (the equations as integrators need them) and frames (frames, points and Kane's equations);
-- joint_relations and join have joints of bodies with quaternions.
--
-- Shabana, Dynamics of Multibody Systems, 4th ed., 2013, chapters 3 and 5; Haug, Computer-Aided Kinematics and
-- Dynamics of Mechanical Systems, 1989, chapters 3 and 6.

local option_names = require "nslua.base.option_names"
local where = require "nslua.base.where"

return function(ns, motion)
  local System, Body, kinds = {}, {}, {}
  local mechanics, core = {}, { motion = motion, kinds = kinds } -- core: what its files share
  require "nslua.mechanics.checks"(ns, core)
  require "nslua.mechanics.quantities"(ns, core)
  local fail, describe, take_options, list = core.fail, core.describe, core.take_options, core.list
  System.__index, System.__name = System, "mechanics.system"
  Body.__index, Body.__name = Body, "mechanics.body"
  where.strict(System)
  where.strict(Body)

  local function several(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

  function System:__tostring()
    return ("mechanics.system in %s: %s, %s, %s"):format(self.dimension == 2 and "the plane" or "space",
      several(self.n, "coordinate"), #self.bodies == 1 and "1 body" or #self.bodies .. " bodies",
      several(#self.joints, "constraint"))
  end

  function mechanics.system(o)
    o = take_options(o or {}, "system", option_names["mechanics.system"])
    local dimension, gravity = o.dimension, nil
    for _ = 1, 2 do -- the dimension is given, or found at the first pass as the length of gravity
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
      motions = {}, moving = {}, held = {}, frame = o.frame, origin = o.origin }, System)
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

  require "nslua.mechanics.bodies"(ns, System, Body, core)
  require "nslua.mechanics.equations"(ns, System, core)
  require "nslua.mechanics.joint_laws"(ns, System, core)
  require "nslua.mechanics.joints"(ns, System, core)
  require "nslua.mechanics.jacobians"(ns, core)
  require "nslua.mechanics.forms"(ns, System, core)
  require "nslua.mechanics.frames"(ns, mechanics, System, core)
  mechanics.join = require "nslua.mechanics.join"(ns)
  mechanics.load = require "nslua.mechanics.urdf"(ns, mechanics.join)
  return mechanics
end
