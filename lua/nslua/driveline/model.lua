-- nslua.driveline.model: the model of a driveline: a system, the interactions of its laws, and their events.
--
-- Without rigid stops it is of first order, with the states q, the angles of motions that have none in closed form,
-- and v, and M = diag(1, N^T J N). With rigid stops it is a mechanical system.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local coordinates = require "nslua.driveline.coordinates"
local drawings = require "nslua.network.drawing"
local losses = require "nslua.driveline.losses"
local ordered = require "nslua.network.ordered"
local signals = require "nslua.control.signals"
local still = require "nslua.base.still"

local fail, huge = arguments.fail, math.huge
local attach_gate, rows_of_events = drawings.attach_gate, drawings.rows_of_events
local who_of = coordinates.who_of

local model = {}

-- ---- forces ----

-- Adds - factor * force to the forces on v.
local function push(at, force, out, off)
  for i = 1, at.n do out[off + at.j[i]] = out[off + at.j[i]] - at.c[i] * force end
end

-- Adds the forces on v that no law tells.
local function add_forces(self, t, q, v, z, out, off)
  for _, one in ipairs(self.forces) do push(one.at, coordinates.force_of(self, one, t, q, v, z), out, off) end
  for _, one in ipairs(self.inertias) do -- - N^T J P u'
    for _, p in ipairs(self.P[one.node]) do
      local force = z[one.place] * p[2] * self.motions[p[1]].acceleration(t)
      for _, n in ipairs(self.N[one.node]) do out[off + n[1]] = out[off + n[1]] - n[2] * force end
    end
  end
end

-- Adds N^T J N.
local function add_mass(self, z, M, off)
  for _, one in ipairs(self.inertias) do
    for _, a in ipairs(self.N[one.node]) do
      for _, b in ipairs(self.N[one.node]) do
        M[off + a[1]][off + b[1]] = M[off + a[1]][off + b[1]] + z[one.place] * a[2] * b[2]
      end
    end
  end
end

-- ---- laws ----

-- A bound for impulses of steps of this length.
local function in_steps(bound, step)
  if step == 1 then return bound end
  if type(bound) ~= "function" then return bound * step end
  return function(t) return step * bound(t) end
end

-- The bounds of lambda of a row. on: of its gate; rest: whether it is at rest; held: the part of its capacity.
local function bounds_of(self, row, on, rest, held)
  if row.gate then return on and row.lb or 0, on and row.ub or 0 end
  if not row.normed then return in_steps(row.lb, self.step), in_steps(row.ub, self.step) end
  local ub = (rest and row.static or 1) * held * (self.impacts and self.z[row.place] * self.step or 1)
  return -ub, row.one_way and huge or ub
end

-- The bounds with which a run starts.
local function first_bounds(self, row, t0)
  local de, size = coordinates.rate(self, row.at, t0, self.start_v)
  local held = row.held and self.z[row.held] or row.acts and row.acts.on(t0) and 1 or 0
  return bounds_of(self, row, row.gate and row.gate.on(t0), math.abs(de) <= 1e-12 * size, held) -- of the terms
end

-- The relation of rows of first order, with the gears that lose behind them.
local function flow_relation(ns, self, rows, gears)
  local first = #rows
  local all = #gears > 0 and self.rows or rows -- those that share a multiplier, too
  return ns.FirstOrderNonLinearR { z = self.z, h = still.mark(function(t, x, lambda, z, y)
    for i, row in ipairs(rows) do
      local de = coordinates.rate(self, row.at, t, x)
      y[i] = row.y and row.y(coordinates.strain(self, row.at, t, x), de, lambda[i], z) or de
    end
    if #gears > 0 then losses.outputs(self, gears, first, t, x, lambda, z, y) end
  end), g = still.mark(function(t, x, lambda, z, r)
    for i, row in ipairs(all) do
      local of = #gears > 0 and losses.lambda_of(row, first, lambda, t, z) or lambda[i]
      push(row.at, coordinates.force_of_row(self, row, of, t, x, x, z), r, self.off)
    end
    if #gears > 0 then
      local lost = losses.forces(self, gears, first, t, x, lambda, z)
      for k, force in ipairs(lost) do push(gears[k].at, force, r, self.off) end
    end
  end) }
end

-- The same for one row whose lambda is its force.
local function linear_relation(ns, self, at)
  local nx, off = #self.x0, self.off
  local C, B = core.matrix(1, nx), core.matrix(nx, 1)
  for i = 1, at.n do C[1][off + at.j[i]], B[off + at.j[i]][1] = at.c[i], at.c[i] end
  return ns.FirstOrderLinearTIR { C = C, B = B }
end

-- The interaction of rows, whose multipliers are the next columns of a solution.
local function book(ns, self, interactions, law, relation, rows, name)
  for i, row in ipairs(rows) do row.place_of_lambda, row.component, row.interaction = self.lambdas + i, i, name end
  self.lambdas = self.lambdas + law:size()
  interactions[#interactions + 1] = ns.Interaction(law, relation, name)
end

-- Makes the interaction of a list of rows of first order.
local function flow_interaction(ns, self, interactions, rows, gears, t0)
  local lb, ub, names, count, leaders = {}, {}, {}, 0, 0
  if #gears > 0 then rows, count, leaders = losses.share(self) end
  for i, row in ipairs(rows) do lb[i], ub[i] = first_bounds(self, row, t0) end
  for k = 1, count do lb[#rows + k], ub[#rows + k] = k <= leaders and -1 or 0, k <= leaders and 1 or huge end
  for _, list in ipairs { #gears > 0 and self.rows or rows, gears } do
    for _, one in ipairs(list) do
      if names[#names] ~= one.part.name then names[#names + 1] = one.part.name end
    end
  end
  self.first = self.lambdas + #rows
  local row = rows[1]
  local plain = #rows == 1 and #gears == 0 and not row.tau and not row.y and row.at.m == 0
  local relation = plain and linear_relation(ns, self, row.at) or flow_relation(ns, self, rows, gears)
  book(ns, self, interactions, ns.RelayNSL(#lb, lb, ub), relation, rows, table.concat(names, "+"))
end

-- Rows of one part, as the two sides of a stop, are one interaction; where gears lose, all of them are.
local function groups_of(self)
  if #self.losses > 0 then return { self.rows } end
  local groups = {}
  for _, row in ipairs(self.rows) do
    local last = groups[#groups]
    if last and last[1].part == row.part then last[#last + 1] = row else groups[#groups + 1] = { row } end
  end
  return groups
end

-- M where it is singular: it is constant then, and inertias are no parameters.
local function singular_mass(self, fill)
  local M = core.matrix(#self.x0, #self.x0)
  fill(0, self.z, M)
  coordinates.hide_inertias(self)
  return M
end

local function flow(ns, drawing, self, t0)
  local n, x0, names = #self.free, {}, {}
  local states = 0
  for j, node in ipairs(self.free) do x0[j], names[j] = self.q0[j], self.letters[node].angle .. "." .. node end
  for k, motion in ipairs(self.motions) do
    if not motion.position then
      states = states + 1
      motion.state = n + states
      x0[n + states], names[n + states] = 0, "angle." .. k
    end
  end
  self.off = n + states
  for j, node in ipairs(self.free) do
    x0[self.off + j], names[self.off + j] = self.v0[j], self.letters[node].speed .. "." .. node
  end
  self.x0, self.start_v = x0, x0
  local off, z = self.off, self.z
  if n + states == 0 then fail "driveline: expected a node whose speed is free" end
  local mass = still.mark(function(_, zs, M)
    for i = 1, off do M[i][i] = 1 end
    add_mass(self, zs, M, off)
  end)
  if #self.light > 0 then mass = singular_mass(self, mass) end
  local ds = ns.FirstOrderNonLinearDS { x0 = x0, z = z, name = drawing.name, f = still.mark(function(t, x, zs, f)
    for j = 1, n do f[j] = x[off + j] end
    for _, motion in ipairs(self.motions) do
      if motion.state then f[motion.state] = motion.speed(t) end
    end
    add_forces(self, t, x, x, zs, f, off)
  end), M = mass }
  ds:setNames(names)
  local interactions = {}
  for _, rows in ipairs(groups_of(self)) do
    flow_interaction(ns, self, interactions, rows, self.losses, t0)
  end
  return ds, interactions
end

-- ---- with rigid stops ----

local function refuse_beside_impacts(self)
  local function refuse(part, what)
    fail("%s: %s it can not stand in a drawing with the rigid stop '%s'; give that a stiffness", who_of(part), what,
      self.impacts.name)
  end
  if #self.losses > 0 then refuse(self.losses[1].part, "with losses") end
  if #self.light > 0 then
    fail("driveline: node '%s' has no inertia, beside the rigid stop '%s'; give the stop a stiffness",
      self.free[self.light[1]], self.impacts.name)
  end
  for _, motion in ipairs(self.motions) do
    if not motion.position then refuse(motion.part, "with a function") end
  end
  for _, force in ipairs(self.forces) do
    if force.edge and force.part.damping > 0 then refuse(force.part, "with damping") end
  end
  for _, row in ipairs(self.rows) do
    if row.moves and row.static ~= 1 then
      refuse(row.part, "with a capacity that is a function and static friction")
    end
    if row.at.m > 0 and not row.impact then refuse(row.part, "at a node of a source of motion") end
  end
end

local function mechanics(ns, drawing, self, t0)
  refuse_beside_impacts(self)
  local n, names = #self.free, {}
  self.off, self.start_v = 0, self.v0
  for j, node in ipairs(self.free) do
    names[j], names[n + j] = self.letters[node].angle .. "." .. node, self.letters[node].speed .. "." .. node
  end
  local ds = ns.LagrangianDS { q0 = self.q0, v0 = self.v0, z = self.z, name = drawing.name,
    mass = still.mark(function(_, z, M) add_mass(self, z, M, 0) end),
    fInt = still.mark(function(t, q, v, z, f)
      add_forces(self, t, q, v, z, f, 0)
      for j = 1, n do f[j] = -f[j] end
    end) }
  ds:setNames(names)
  local interactions = {}
  for _, row in ipairs(self.rows) do
    local C, at = core.matrix(1, n), row.at
    local law, relation
    for k = 1, at.n do C[1][at.j[k]] = row.impact and -row.side * at.c[k] or at.c[k] end
    local name = row.part.name .. (row.impact and (row.side > 0 and "_upper" or "_lower") or "")
    if row.impact then
      law = ns.NewtonImpactNSL(row.impact)
      if at.m == 0 then
        relation = ns.LagrangianLinearTIR(C, { row.side * (row.limit - at.constant) })
      else
        relation = ns.LagrangianRheonomousR { h = still.mark(function(t, q, _, y)
          y[1] = row.gap(coordinates.strain(self, at, t, q))
        end) }
      end
    else
      law = ns.RelayNSL(1, first_bounds(self, row, t0))
      relation = ns.LagrangianLinearTIR(C)
    end
    book(ns, self, interactions, law, relation, { row }, name)
  end
  return ds, interactions
end

-- ---- the objects ----

local letters = { rotation = { angle = "phi", speed = "w", force = "tau" },
  translation = { angle = "s", speed = "v", force = "f" } }

-- The objects of nslua: ds, interactions, states (their number), and the coordinates of the drawing.
function model.objects(ns, drawing, t0, T)
  local self = coordinates.of(drawing, t0, T)
  self.domains = coordinates.domains(drawing)
  self.letters, self.lambdas = {}, 0
  self.step = self.impacts and drawing.steps or 1 -- lambda is an impulse of a step of this length
  for _, node in ipairs(drawing.nodes) do self.letters[node] = letters[self.domains[node]] end
  self.z = core.vector(#self.z > 0 and self.z or { 0 })
  if #self.losses > 0 then losses.prepare(ns, self) end
  local ds, interactions = (self.impacts and mechanics or flow)(ns, drawing, self, t0)
  return { ds = ds, interactions = interactions, states = self.impacts and 2 * #self.free or #self.x0, sheet = self,
    parts = drawing.parts }
end

-- The sources that are signals, or whose acceleration is one; jumps are events.
function model.signals(objects)
  local list = {}
  for _, part in ipairs(objects.sheet.step == 1 and objects.parts or {}) do
    local source = part.source or {}
    local f = part.motion and source.slope or not source.jump and source.f
    if signals.is(f) then list[#list + 1] = f end
  end
  return list
end

-- ---- events ----

-- The z of the system of a simulation, which in a clone is the z of the clone.
local function numbers_in(simulation) return simulation:nsds():dynamicalSystem(1):z() end

-- Whether the parts of a row do not slip at the present state of a simulation: lambda is between its bounds, or the
-- speeds are equal to what an integrator leaves of 0.
local function at_rest(self, row, simulation)
  local interaction, ds = simulation:nsds():interaction(row.interaction), simulation:nsds():dynamicalSystem(1)
  local ub = interaction:nonSmoothLaw():ub()[row.component]
  if math.abs(interaction:lambda(self.impacts and 1 or 0)[row.component]) < ub * (1 - 1e-12) then return true end
  local de, size = coordinates.rate(self, row.at, simulation:startingTime(), self.impacts and ds:velocity() or ds:x())
  return math.abs(de) <= 1e-9 * size
end

local function set_bounds(self, row, simulation, ...)
  local law, lb, ub = simulation:nsds():interaction(row.interaction):nonSmoothLaw(), bounds_of(self, row, ...)
  local i = row.component
  if lb > law:ub()[i] then
    law:setUb(i, ub)
    law:setLb(i, lb)
  else
    law:setLb(i, lb)
    law:setUb(i, ub)
  end
end

-- Friction that is more at rest than while it slides: the bounds change where it begins to hold, and to slip.
local function attach_static(self, name, rows, simu)
  local kinds = self.impacts and { stick = true, cross = true, slip = false }
    or { slide = true, cross = true, leave = false }
  for kind, holds in ordered(kinds) do
    simu:on(name, kind, function(t, simulation)
      local of = #rows > 1 and rows_of_events(simulation, name)
      for _, row in ipairs(rows) do
        if not of or of[row.component] then
          local held = row.held and numbers_in(simulation)[row.held] or row.acts.is_on_after(t) and 1 or 0
          set_bounds(self, row, simulation, nil, holds, held)
        end
      end
    end)
  end
end

-- Sets a number in z; row: the number is the held part of its capacity.
local function set_number(self, simulation, place, value, row)
  local rest = row and not row.leader and at_rest(self, row, simulation)
  numbers_in(simulation)[place] = value
  if row and not row.leader then set_bounds(self, row, simulation, nil, rest, value) end
end

-- Adds the events of a simulation: of gates, of static friction, and of capacities that begin and end.
function model.attach(objects, simu)
  local self, static, names = objects.sheet, {}, {}
  for _, row in ipairs(self.rows) do
    if row.gate then
      attach_gate(simu, row.part.name, row.gate, function(simulation, _, on)
        set_bounds(self, row, simulation, on)
      end)
    end
    if row.normed and row.static ~= 1 then
      local name = row.interaction
      if not static[name] then static[name], names[#names + 1] = {}, name end
      table.insert(static[name], row)
      if row.moves then
        simu:addEvent { name = row.part.name .. ":capacity", g = row.acts.g, action = function(simulation)
          local on = row.acts.is_on_after(simulation:startingTime())
          set_bounds(self, row, simulation, nil, at_rest(self, row, simulation), on and 1 or 0)
        end }
      end
    end
  end
  for _, name in ipairs(names) do attach_static(self, name, static[name], simu) end
  for _, jump in ipairs(self.jumps) do
    if jump.time > self.t0 and jump.time < simu:nsds():T() then
      simu:addEvent { name = jump.part.name .. ":step", at = jump.time, action = function(simulation)
        set_number(self, simulation, jump.place, jump.after, jump.row)
      end }
    end
  end
  for i, force in ipairs(self.forces) do
    if force.edge then
      simu:addEvent { name = force.part.name .. ":edge" .. i, g = still.mark(function(t, x)
        return force.edge(coordinates.strain(self, force.at, t, x))
      end) }
    end
  end
end

-- Sets the capacity of a part in a simulation; returns false where it has none that is a number.
function model.set(objects, simulation, part, value)
  local self = objects.sheet
  for _, row in ipairs(self.rows) do
    if row.part == part and row.held then
      set_number(self, simulation, row.held, value / self.z[row.place], row)
      return true
    end
  end
  return false
end

return model
