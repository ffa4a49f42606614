-- nslua.driveline.parts: the kinds of parts of drivelines. One entry is one kind.
--
-- An entry has `terminals`, the number of its nodes; `takes`, `options` and `check`, as nslua.network.drawing tells
-- (absent: a method of its own makes it); `domains`, what moves at them ("rotation", "translation"; absent: all nodes
-- move alike); `letter`, of its column where that is not the letter of its first node; `impacts`, impacts(part),
-- whether it is a rigid stop; and write(part, s), which tells what the part does by the methods of s:
--
--   s:parameter(part, field, value)     a number of the part; the place of it in z
--   s:inertia(part, node, place)        an inertia or a mass at a node
--   s:rigid(part, along [, motion])     the extension along the nodes is 0, or a motion of time
--   s:jump(part, place [, row])         the number at a place of z jumps; row: it is the held part of a capacity
--   s:force(part, along, f, damping)    a force f(t, e, de, z) against the extension e, whose rate is de; damping:
--                                       how it depends on de, the place of its factor in z or true
--   s:law(part, along, row)             a force that a law tells:
--       lb, ub        bounds of lambda: numbers or functions of time
--       y(e, de, lambda, z)             the output; absent: de
--       tau(lambda, z, t, e, de)        the force against the extension; absent: -lambda
--       mode(lambda)                    the column of the mode; absent: the sign of de
--       capacity, static, moves         dry friction: its torque, that at rest over it, whether it is a function
--       normed, place, held             lambda is a part of the capacity z[place]; its bound is z[held]
--       acts, curve                     the gate that tells when the capacity is not 0; the torque over the speed
--       gate                            of a dog clutch
--       impact, gap(e), side, limit     a rigid stop: its restitution, the distance to it
--   s:loss(part, along, after, gear)    a force that is a part of the force of the rigid row before it: see losses
--
-- `along` has the factors of the nodes: the extension is the sum of factor * angle (or position). A force acts on a
-- node by - factor * force, and takes the power force * rate of the extension.

local readers = require "nslua.driveline.readers"
local values = require "nslua.network.values"

local huge = math.huge

local parts = {}

-- ---- what parts take ----

local by_strain, by_rate = { "stiffness", readers.characteristic }, { "damping", readers.characteristic }
local free_length, at_most = { { "free", values.finite, 0 } }, { { "capacity", readers.capacity } }
local at_rest, over_speed = { "static", values.at_least(1), 1 }, { "curve", readers.over_rest }
local pull_options = { { "stiffness", readers.not_negative }, { "damping", readers.not_negative },
  { "grip", readers.capacity } }

-- ---- inertias, springs, sources, rigid parts ----

-- From a to b; the housing does not move.
local function between(part)
  local a, b = part.nodes[1], part.nodes[2]
  return { [a] = -1, [b] = 1 }
end

local function inertia(domain)
  return { terminals = 1, domains = { domain }, write = function(part, s)
    s:inertia(part, part.nodes[1], s:parameter(part, domain == "rotation" and "inertia" or "mass", part.value))
  end }
end
parts.inertia, parts.mass = inertia "rotation", inertia "translation"

-- A spring, a damper, or both: each a number or a function.
local function elastic(part, s, along)
  local c, d, free = part.stiffness, part.damping, part.free or 0
  local ic = type(c) == "number" and s:parameter(part, "stiffness", c)
  local id = type(d) == "number" and s:parameter(part, "damping", d)
  s:force(part, along, function(_, e, de, z)
    local sum = 0
    if ic then sum = z[ic] * (e - free) elseif c then sum = c(e - free) end
    if id then sum = sum + z[id] * de elseif d then sum = sum + d(de) end
    return sum
  end, id or d and true)
end
local function elastic_kind(takes, options)
  return { terminals = 2, takes = takes, options = options, write = function(part, s)
    elastic(part, s, between(part))
  end }
end
parts.spring, parts.damper = elastic_kind({ by_strain }, free_length), elastic_kind { by_rate }
parts.springdamper = elastic_kind({ by_strain, by_rate }, free_length)

local function effort(domain)
  local takes = { { "value", readers.effort } }
  return { terminals = 1, takes = takes, domains = { domain }, source = true, write = function(part, s)
    local f = part.value
    local place = type(f) == "number" and s:parameter(part, not part.source.jump and "value", f)
    if part.source.jump then s:jump(part, place) end
    s:force(part, { [part.nodes[1]] = 1 }, function(t, e, de, z)
      if place then return -z[place] end
      return -f(t, e, de)
    end)
  end }
end
parts.torque, parts.force = effort "rotation", effort "translation"

local function moved(takes)
  return { terminals = 1, takes = takes, source = true, write = function(part, s)
    s:rigid(part, { [part.nodes[1]] = 1 }, part.motion)
  end }
end
parts.speed, parts.position = moved { { "motion", readers.by_speed } }, moved { { "motion", readers.by_position } }
parts.fixed = moved {}

-- w_a - w_c = ratio (w_b - w_c), where c is the housing or a third node.
parts.gear = { terminals = 3, write = function(part, s)
  local a, b, c = table.unpack(part.nodes)
  local ratio = part.ratio
  s:rigid(part, { [a] = 1, [b] = -ratio, [c] = ratio - 1 })
  if part.loss then s:loss(part, { [b] = ratio, [c] = -ratio }, { [a] = 1, [c] = -1 }, part.loss) end
end }

-- (1 + ratio) w_carrier = w_sun + ratio w_ring
parts.planetary = { terminals = 3, takes = { { "ratio", values.positive } }, write = function(part, s)
  local sun, carrier, ring = table.unpack(part.nodes)
  s:rigid(part, { [sun] = 1, [ring] = part.ratio, [carrier] = -1 - part.ratio })
end }

-- ---- friction ----

-- What depends on the size of a speed, and is 0 at rest.
local function beyond(de, f)
  if de > 0 then return f(de) end
  if de < 0 then return -f(-de) end
  return 0 * de
end

-- Dry friction. capacity: the kinetic torque at rest, a number or a function of time; static: the torque at which it
-- breaks away over the kinetic one; curve: the torque at a speed over that at rest, less 1, or nil. lambda is the
-- torque, or, where row.normed, a part of the capacity, whose bound is row.held, at rest row.static times that.
-- one_way: the rate of the extension is never negative, whatever torque that takes.
local function dry(part, s, along, field, capacity, one_way)
  local static, moves, curve = part.static or 1, type(capacity) == "function", part.curve
  local row = { static = static, moves = moves, capacity = capacity, curve = curve, one_way = one_way }
  local function now(t) return capacity(t == s.t0 and capacity(t) == 0 and s.soon or t) end
  local function at(t) -- the bounds are 0 while the capacity is
    local value = now(t)
    return value > 0 and value or 1
  end
  if not moves then
    row.place, row.held = s:parameter(part, not s.impacts and field, capacity > 0 and capacity or 1),
      s:parameter(part, nil, capacity > 0 and 1 or 0)
    if part.source.jump then s:jump(part, row.held, row) end
    function at(_, z) return z[row.place] end
  end
  row.normed = not moves or static ~= 1
  row.acts = moves and row.normed and values.gate(function(t) return now(t) > 0 end, part.name)
  if not row.normed then row.lb, row.ub = function(t) return -capacity(t) end, one_way and huge or capacity end
  if s.impacts then -- lambda is a force, and no factor of it depends on the speed
    if curve then
      s:force(part, along, function(t, _, de, z)
        return (moves and capacity(t) or z[row.place] * z[row.held]) * beyond(de, curve)
      end, true)
    end
  else
    row.tau = (curve or row.normed and capacity ~= 0) and function(lambda, z, t, _, de)
      local torque = row.normed and -at(t, z) * lambda or -lambda
      return curve and torque * (1 + curve(de > 0 and de or -de)) or torque
    end
  end
  s:law(part, along, row)
end

parts.clutch = { terminals = 2, takes = at_most, options = { at_rest, over_speed }, write = function(part, s)
  dry(part, s, between(part), "capacity", part.capacity)
end }
parts.brake = parts.clutch

parts.friction = { terminals = 2, write = function(part, s)
  local along = between(part)
  local field = (part.curve or part.static) and "capacity" or "coulomb" -- the number scales the whole curve
  if type(part.coulomb) == "function" or part.coulomb > 0 then dry(part, s, along, field, part.coulomb) end
  if part.viscous > 0 then
    local place = s:parameter(part, "viscous", part.viscous)
    s:force(part, along, function(_, _, de, z) return z[place] * de end, place)
  end
end }

-- b may run ahead of a, against the torque of a capacity; a does not run ahead of b.
local freewheel_options = { { "capacity", readers.capacity, 0 }, at_rest, over_speed }
parts.freewheel = { terminals = 2, takes = {}, options = freewheel_options, write = function(part, s)
  dry(part, s, between(part), "capacity", part.capacity, true)
end }

parts.dog = { terminals = 2, takes = { { "gate", values.gate } }, write = function(part, s)
  s:law(part, between(part), { lb = -huge, ub = huge, gate = part.gate })
end }

-- ---- stops ----

-- A stop at which the extension ends: rigid with a restitution, or a spring and a damper that only push. side: 1 is
-- an upper stop, -1 a lower one; `at` is its place.
local function one_stop(part, s, along, side, at)
  local function depth(e) return side * (e - at) end
  local function push(lambda) return side * lambda end
  local function mode(lambda) return lambda > 0 and side or 0 end
  local c, d = part.stiffness, part.damping or 0
  if not c then
    s:law(part, along, { lb = 0, ub = huge, impact = part.restitution or 0, gap = function(e) return -depth(e) end,
      side = side, limit = at, tau = push, mode = mode })
    return
  end
  local ic = part.place or s:parameter(part, "stiffness", c)
  part.place = ic
  local exponent = part.exponent
  local function spring(e, z)
    if exponent == 1 then return z[ic] * depth(e) end
    return depth(e) > 0 and z[ic] * depth(e) ^ exponent or 0 * e
  end
  if s.impacts then
    return s:force(part, along, function(_, e, _, z)
      return depth(e) > 0 and push(spring(e, z)) or 0 * e
    end, nil, depth)
  end
  if d == 0 and exponent == 1 then -- the force and the gap are complementary
    return s:law(part, along, { lb = 0, ub = huge, tau = push, mode = mode,
      y = function(e, _, lambda, z) return lambda / z[ic] - depth(e) end })
  end
  s:law(part, along, { lb = 0, ub = 1, mode = mode, y = function(e) return -depth(e) end,
    tau = function(lambda, z, _, e, de)
      local elastic_part, damping = spring(e, z), d * side * de
      if part.soft and damping > elastic_part then damping = elastic_part end
      local force = elastic_part + damping
      return force > 0 and push(lambda * force) or 0 * lambda
    end })
end

local function is_rigid(part) return not part.stiffness end
parts.stop = { terminals = 2, impacts = is_rigid, write = function(part, s)
  part.place = nil
  local along = between(part)
  if part.lower then one_stop(part, s, along, -1, part.lower) end
  if part.upper then one_stop(part, s, along, 1, part.upper) end
end }
parts.backlash = parts.stop

-- ---- belts and racks ----

-- Rigid, elastic, or with a force at which it slips.
local function pull(part, s, along)
  if part.stiffness or part.damping then return elastic(part, s, along) end
  if part.grip then return dry(part, s, along, "grip", part.grip) end
  s:rigid(part, along)
end

local radius = { "radii", readers.radius }
parts.belt = { terminals = 2, takes = { radius, radius }, options = pull_options, check = readers.check_pull,
  letter = "f", write = function(part, s)
    pull(part, s, { [part.nodes[1]] = -part.radii[1], [part.nodes[2]] = part.radii[2] })
  end }

-- The rod moves by radius * angle of the shaft.
parts.rack = { terminals = 2, takes = { radius }, options = pull_options, check = readers.check_pull, letter = "f",
  domains = { "rotation", "translation" }, write = function(part, s)
    pull(part, s, { [part.nodes[1]] = -part.radii[1], [part.nodes[2]] = 1 })
  end }

return parts
