-- nslua.mechanics.join: links joints of rigid bodies in space with their laws, without rows that follow from others.
--
--   local made = ns.mechanics.join(nsds, { weld, { hinge, stops = { low, high }, restitution = e }, ... })
--   made["hinge upper"]   made.redundant   made:update()   made:reactions()
--
-- A closed chain may have rows that follow from the others, in all positions (Bricard's linkage: 30 rows for 30
-- velocities, and yet it moves). These are left out, so that every integrator takes the model; a warning names them.
-- The rank belongs to rows in units of equal energy, H M^-1/2 with the length 1, near the start as well: in a
-- position that is singular (a four-bar linkage that is folded) rows are dependent there alone, and stay. Reactions
-- of redundant joints are not unique. made:reactions() has the reactions of least norm in these units, over all rows.
--
-- Wojtyra, Joint reactions in rigid body mechanisms with dependent constraints, Mechanism and Machine Theory 44,
-- 2009.

local arguments = require "nslua.base.arguments"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local fail, describe = arguments.fail, arguments.tell
local ns, relations, classes, kinds -- nslua and its joints, given when it is loaded

-- A row whose part across the others is below this part of it follows from them. 1e-8: half of the digits.
local DEPENDENT = 1e-8
-- How far the bodies turn, in rad, to the position beside the start in which rows are compared again. 1e-3: second
-- derivatives show by 1e-3, far above DEPENDENT.
local ASIDE = 1e-3
local GOLDEN = (math.sqrt(5) - 1) / 2

-- ---- options ----

local function check_number(name, what, value, most)
  if type(value) ~= "number" or not (value >= 0 and value < math.huge) or most and value > most then
    fail("join: '%s': %s: expected a number, %s, got %s", name, what,
      most and "0 to " .. describe(most) or "at least 0", describe(value))
  end
  return value
end

local function check_stops(name, stops, joint, axis)
  local now, play, span = joint:dof(axis), relations.rounding(joint, axis), relations.span
  local good = type(stops) == "table" and #stops == 2 and type(stops[1]) == "number" and type(stops[2]) == "number"
    and stops[1] < stops[2]
  if not good then fail("join: '%s': stops: expected { lowest, highest }, got %s", name, describe(stops)) end
  if not (stops[1] - play <= now and now <= stops[2] + play) then
    fail("join: '%s': stops: it is at %g, beyond { %g, %g }", name, now, stops[1], stops[2])
  end
  local low, high = stops[1] > -math.huge and stops[1] or now, stops[2] < math.huge and stops[2] or now
  if joint:typeOfDoF(axis) == "angular" and high - low >= span then
    fail("join: '%s': stops: an angle is known up to %g from a stop, got { %g, %g }", name, span, stops[1], stops[2])
  end
end

-- A joint of the list with its options: joint, about (what it is made of), name, axis, stops, mu, force, e.
local function take(entry, number)
  local o = type(entry) == "table" and entry or { entry }
  local joint, rest = o[1], {}
  local about = relations.data[joint]
  if not about then fail("join: joints[%d]: expected a joint, got %s", number, describe(joint)) end
  for key, value in pairs(o) do
    if key ~= 1 then rest[key] = value end
  end
  o = option_tables.need(rest, option_names["mechanics.join"], "join", fail)
  if o.name ~= nil and type(o.name) ~= "string" then
    fail("join: joints[%d]: name: expected a string, got %s", number, describe(o.name))
  end
  local name = o.name or joint:name()
  if name == about.kind then name = ("%s %d"):format(name, number) end
  local mu, force = check_number(name, "friction", o.friction or 0), check_number(name, "force", o.force or 0)
  local damping = check_number(name, "damping", o.damping or 0)
  local moves = mu > 0 or force > 0 or damping > 0 or o.stops ~= nil
  if moves and joint:numberOfDoF() == 0 then
    fail("join: '%s': a %s has no motion that stops and friction act on", name, about.kind)
  end
  if o.axis ~= nil then relations.motion_name(("join: '%s'"):format(name), joint, o.axis) end
  local turns = joint:numberOfDoF() > 0 and joint:typeOfDoF(o.axis) == "angular"
  if o.radius ~= nil and not turns then
    fail("join: '%s': radius: it belongs to the friction about an axis, and this motion of the %s has none", name,
      about.kind)
  end
  if turns and (o.radius ~= nil) ~= (mu > 0) then
    fail("join: '%s': radius: the torque of friction about an axis is friction * radius * reaction at most: "
      .. "give both", name)
  end
  if o.radius then mu = mu * check_number(name, "radius", o.radius) end
  if o.stops then check_stops(name, o.stops, joint, o.axis) end
  return { joint = joint, about = about, name = name, axis = o.axis, stops = o.stops, mu = mu, force = force,
    damping = damping, e = check_number(name, "restitution", o.restitution or 0, 1), bodies = about.bodies,
      size = joint:numberOfConstraints() }
end

-- ---- rows that follow from others ----

-- The numbers of bodies, from 1, and their coordinates.
local function places_of(taken)
  local numbers, q, list = {}, {}, {}
  for _, one in ipairs(taken) do
    for _, body in ipairs(one.bodies) do
      if not numbers[body] then
        list[#list + 1] = body
        numbers[body], q[#list] = #list, body:q():totable()
      end
    end
  end
  return numbers, q, list
end

-- d(e)/dt for the angular velocity of axis k: the columns of T(q) of a quaternion.
local function turning(e, k)
  if k == 1 then return { -e[2] / 2, e[1] / 2, e[4] / 2, -e[3] / 2 } end
  if k == 2 then return { -e[3] / 2, -e[4] / 2, e[1] / 2, e[2] / 2 } end
  return { -e[4] / 2, e[3] / 2, -e[2] / 2, e[1] / 2 }
end

-- The rows y and H (by velocities) of all joints, at coordinates q.
local function rows_at(taken, numbers, q)
  local total = 0
  for _, one in ipairs(taken) do total = total + one.size end
  local H, y, row = ns.zeros(total, 6 * #q), ns.zeros(total), 0
  for _, one in ipairs(taken) do
    local x, f = {}, relations.callback(kinds[one.about.kind].keeps)
    for k, body in ipairs(one.bodies) do table.move(q[numbers[body]], 1, 7, 7 * k - 6, x) end
    local value = ns.zeros(one.size)
    x = ns.vector(x)
    f(0, x, one.about.z, value)
    local C = f:jacobian(2, 0, x, one.about.z, value)
    for i = 1, one.size do
      y[row + i] = value[i]
      for k, body in ipairs(one.bodies) do
        local at, e = 6 * numbers[body] - 6, { table.unpack(q[numbers[body]], 4, 7) }
        for j = 1, 3 do
          local t, sum = turning(e, j), 0
          for n = 1, 4 do sum = sum + C[i][7 * k - 4 + n] * t[n] end
          H[row + i][at + j], H[row + i][at + 3 + j] = C[i][7 * k - 7 + j], sum
        end
      end
    end
    row = row + one.size
  end
  return H, y
end

-- M^-1/2 of the bodies in blocks: the columns of H in units of equal energy. Returns H M^-1/2 with rows of length 1,
-- and their lengths.
local function balanced(H, roots)
  local A, lengths = H * roots, {}
  for i = 1, #A do
    lengths[i] = A[i]:norm()
    if lengths[i] > 0 then A[i] = A[i] / lengths[i] end
  end
  return A, lengths
end

-- M^-1/2 by the Cholesky factor: M = L L', M^-1/2 = L'^-1.
local function roots_of(bodies)
  local roots = ns.zeros(6 * #bodies, 6 * #bodies)
  for b, body in ipairs(bodies) do
    local block = ns.inv(ns.cholesky(body:mass()):transpose())
    for i = 1, 6 do
      for j = 1, 6 do roots[6 * b - 6 + i][6 * b - 6 + j] = block[i][j] end
    end
  end
  return roots
end

-- A row without its parts along a basis, twice: Gram and Schmidt.
local function across_all(row, basis)
  local v = ns.vector(row)
  for _ = 1, 2 do
    for _, b in ipairs(basis) do v = v - b * v:dot(b) end
  end
  return v
end

-- The rows that are independent, in their order, each against those before it. `order`: the numbers of rows in the
-- order in which they are taken.
local function independent(A, order)
  local basis, kept = {}, {}
  for _, i in ipairs(order) do
    local v = across_all(A[i], basis)
    local length = v:norm()
    if length > DEPENDENT then
      basis[#basis + 1] = v / length
      kept[i] = true
    end
  end
  return kept, basis
end

-- Bodies moved by velocities v for the time 1.
local function moved(q, v)
  local out = {}
  for b, x in ipairs(q) do
    local p, at = {}, 6 * b - 6
    for j = 1, 3 do p[j] = x[j] + v[at + j] end
    for n = 1, 4 do
      p[3 + n] = x[3 + n]
      for j = 1, 3 do p[3 + n] = p[3 + n] + turning({ table.unpack(x, 4, 7) }, j)[n] * v[at + 3 + j] end
    end
    local length = ns.vector({ table.unpack(p, 4, 7) }):norm()
    for n = 4, 7 do p[n] = p[n] / length end
    out[b] = p
  end
  return out
end

-- A position beside q that the joints allow: along a motion of all that is free, and back onto the rows.
local function beside(taken, numbers, q, roots, basis)
  local v = ns.zeros(6 * #q)
  for i = 1, #v do v[i] = i * GOLDEN % 1 - 0.5 end -- any motion will do
  for _, b in ipairs(basis) do v = v - b * v:dot(b) end
  local motion = roots * v
  local most = 0
  for i = 1, #motion do
    if (i - 1) % 6 >= 3 then most = math.max(most, math.abs(motion[i])) end
  end
  if most == 0 then return q end
  q = moved(q, motion * (ASIDE / most))
  for _ = 1, 8 do
    local H, y = rows_at(taken, numbers, q)
    local A, lengths = balanced(H, roots)
    for i = 1, #y do y[i] = lengths[i] > 0 and y[i] / lengths[i] or 0 end
    q = moved(q, roots * ns.lstsq(A, y, DEPENDENT) * -1)
  end
  return q
end

-- The rows that are kept, by their numbers; nil: all.
local function choose(taken, numbers, q, bodies)
  local roots, order, row = roots_of(bodies), {}, 0
  for pass = 1, 2 do -- the reaction of a joint with friction by it must be its own: its rows come first
    row = 0
    for _, one in ipairs(taken) do
      for i = 1, one.size do
        if (one.mu > 0) == (pass == 1) then order[#order + 1] = row + i end
      end
      row = row + one.size
    end
  end
  local kept, basis = independent(balanced(rows_at(taken, numbers, q), roots), order)
  if #basis == row then return nil end
  local aside = beside(taken, numbers, q, roots, basis)
  local other, other_basis = independent(balanced(rows_at(taken, numbers, aside), roots), order)
  if #other_basis == row then return nil end
  return #other_basis > #basis and other or kept
end

-- ---- the graph ----

local Joined = { __name = "joints" }
Joined.__index = Joined

local function link_one(self, nsds, one)
  local bodies, joint, axis, kept = one.bodies, one.joint, one.axis, one.kept
  local function link(suffix, law, relation)
    local name = one.name .. suffix
    local interaction = ns.Interaction(law, relation, name)
    where.pass(nsds.link, nsds, interaction, table.unpack(bodies))
    self[name], self[#self + 1] = interaction, interaction
    return interaction
  end
  if one.mu > 0 then
    local law = ns.JointFrictionNSL(one.size + 1, kinds[one.about.kind].reactions, one.mu, one.force)
    one.link = link("", law, classes.JointFrictionR(joint, axis, true))
  else
    if kept then
      local z
      z, one.at = relations.combined(one.about, kept)
      local keeps = kinds[one.about.kind].keeps
      joint = relations.derive(("rest of %s (nan: the chain has come apart)"):format(one.name), bodies, #kept,
        relations.callback(keeps, #kept), z)
    end
    if #(kept or { 1 }) > 0 then one.link = link("", ns.EqualityConditionNSL(kept and #kept or one.size), joint) end
    if one.force > 0 then
      link(" friction", ns.JointFrictionNSL(1, 0, 0, one.force), classes.JointFrictionR(one.joint, axis))
    end
  end
  if one.damping > 0 then
    link(" damping", ns.DampingNSL(1, one.damping), classes.JointFrictionR(one.joint, axis))
  end
  for k, side in ipairs(one.stops and { "lower", "upper" } or {}) do
    if math.abs(one.stops[k]) < math.huge then
      link(" " .. side, ns.NewtonImpactNSL(one.e), classes.JointStopR(one.joint, one.stops[k], k == 2, axis))
    end
  end
end

-- Notes in each joint which of its rows are kept, and the names of those that are not.
local function note_kept(taken, kept, redundant)
  local row = 0
  for _, one in ipairs(taken) do
    local list = {}
    for i = 1, one.size do
      if kept[row + i] then list[#list + 1] = i else redundant[#redundant + 1] = ("%s[%d]"):format(one.name, i) end
    end
    row = row + one.size
    if #list < one.size then
      if one.mu > 0 then
        fail("join: '%s' has friction by its reaction, which is not unique: rows of it follow from other joints",
          one.name)
      end
      one.kept = list
    end
  end
end

-- The combinations P of the rows of a joint that are kept, and where each is in the parameters z of its relation.
local function combinations(one)
  local z, P = one.link:relation():z(), {}
  for k = 1, #one.kept do
    P[k] = {}
    for i = 1, one.size do P[k][i] = z[one.at + (k - 1) * one.size + i] end
  end
  return P
end

-- Chooses for joints of which rows are left out the combinations that are farthest from following from the other
-- joints, as the bodies are now: the singular vectors of their rows across those of the joints before them. In a
-- closed chain that moves far the first choice comes to positions where it follows from the others.
function Joined:update()
  if #self.redundant == 0 then return self end
  local taken = self.taken
  local numbers, q, bodies = places_of(taken)
  local A, lengths = balanced(rows_at(taken, numbers, q), roots_of(bodies))
  local whole, row = {}, 0
  for _, one in ipairs(taken) do
    for i = 1, one.kept and 0 or one.size do whole[#whole + 1] = row + i end
    row = row + one.size
  end
  local _, basis = independent(A, whole)
  row = 0
  for _, one in ipairs(taken) do
    if one.kept and #one.kept > 0 then
      local rest = ns.zeros(one.size, #A[1])
      for i = 1, one.size do rest[i] = across_all(A[row + i], basis) end
      local U, s, V = ns.svd(rest)
      if s[#one.kept] > DEPENDENT then -- else the position is singular: the last choice stays
        local z = one.link:relation():z()
        for k = 1, #one.kept do
          for i = 1, one.size do z[one.at + (k - 1) * one.size + i] = U[i][k] / lengths[row + i] end
          local v = ns.zeros(#A[1])
          for j = 1, #v do v[j] = V[j][k] end
          basis[#basis + 1] = v
        end
      end
    end
    row = row + one.size
  end
  return self
end

-- The reactions of all rows of the joints, by name: of least norm in units of equal energy. In time stepping they are
-- the impulses of the last step, as lambda is.
function Joined:reactions()
  local taken = self.taken
  local numbers, q, bodies = places_of(taken)
  local H, row = rows_at(taken, numbers, q), 0
  local roots = roots_of(bodies)
  local A, lengths = balanced(H, roots)
  local load = ns.zeros(6 * #bodies)
  for _, one in ipairs(taken) do
    local lambda = one.link and one.link:lambda()
    for k, P in ipairs(one.kept and one.link and combinations(one) or {}) do
      for i = 1, one.size do load = load + A[row + i] * (lambda[k] * P[i] * lengths[row + i]) end
    end
    for k = 1, one.kept and 0 or one.size do load = load + A[row + k] * (lambda[k] * lengths[row + k]) end
    row = row + one.size
  end
  local nu, list = ns.lstsq(A:transpose(), load, DEPENDENT), {}
  row = 0
  for _, one in ipairs(taken) do
    local reaction = ns.zeros(one.size)
    for i = 1, one.size do reaction[i] = lengths[row + i] > 0 and nu[row + i] / lengths[row + i] or 0 end
    list[one.name], row = reaction, row + one.size
  end
  return list
end

local function check_list(list)
  if type(list) ~= "table" then fail("join: expected a list of joints, got %s", describe(list)) end
  local rest = {}
  for key, value in pairs(list) do
    if type(key) == "string" then rest[key] = value end
  end
  local option = next(option_tables.need(rest, option_names["mechanics.join"], "join", fail))
  if option then
    fail("join: '%s' stands beside its joint, in a table of both: { { joint, %s = ... }, ... }", option, option)
  end
  if #list == 0 then fail("join: expected a list of joints, got an empty one") end
end

-- Links joints, a list of joints or of tables of a joint and options.
local function join(nsds, list)
  if getmetatable(nsds) ~= "NonSmoothDynamicalSystem" then
    fail("join: expected a NonSmoothDynamicalSystem, got %s", describe(nsds))
  end
  check_list(list)
  local taken, seen = {}, {}
  for i = 1, #list do
    taken[i] = take(list[i], i)
    if seen[taken[i].name] then fail("join: there are two joints '%s'", taken[i].name) end
    seen[taken[i].name] = true
  end
  local numbers, q, bodies = places_of(taken)
  local kept, redundant = choose(taken, numbers, q, bodies), {}
  if kept then note_kept(taken, kept, redundant) end
  local made = setmetatable({ redundant = redundant, taken = taken }, Joined)
  for _, one in ipairs(taken) do link_one(made, nsds, one) end
  if #redundant > 0 then
    warn(("nslua: join: %s left out: %s; a chain that moves far needs update() of the joints between steps"):format(
      #redundant == 1 and "a row of joints follows from the others and is"
      or #redundant .. " rows of joints follow from the others and are", table.concat(redundant, ", ")))
  end
  return made
end

return function(nslua)
  ns, relations = nslua, require "nslua.mechanics.joint_relations"(nslua)
  classes, kinds = relations.classes, relations.kinds
  return join
end
