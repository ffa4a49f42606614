-- nslua.driveline.coordinates: the coordinates of a driveline, and what its parts say in them.
--
-- The speeds of the nodes are w = N v + P u(t): v the speeds of the free nodes, u the rates of motions. The angles
-- are phi = N q + P U(t) + offsets. With forces F on the nodes N^T J N v' = N^T (F - J P u'), and what rigid parts
-- carry follows from J w' = F - A^T tau, where A has a row for each of them. Nodes without inertia that stay free
-- have 0 = N^T F, which is solved for their speeds.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local drawings = require "nslua.network.drawing"
local kinds = require "nslua.driveline.parts"
local rigid = require "nslua.driveline.rigid"
local ordered = require "nslua.network.ordered"

local fail = arguments.fail

local coordinates = {}

local function who_of(part) return drawings.who_of(part.kind, part.name) end

-- ---- what parts tell ----

local Sheet = {}
Sheet.__index = Sheet

function Sheet:parameter(part, field, value)
  self.z[#self.z + 1] = value
  if field then self.places[part.name .. "." .. field] = #self.z end
  return #self.z
end

function Sheet:inertia(part, node, place)
  self.inertias[#self.inertias + 1] = { part = part, node = node, place = place }
  self.massive[node] = true
end

function Sheet:rigid(part, along, motion)
  self.rigids[#self.rigids + 1] = { part = part, along = along, motion = motion }
  if motion and not self.motion_place[motion] then
    self.motions[#self.motions + 1] = motion
    self.motion_place[motion] = #self.motions
  end
end

function Sheet:jump(part, place, row)
  local jump, scale = part.source.jump, row and self.z[row.place] or 1
  local one = { part = part, place = place, row = row, time = jump.time, before = jump.before / scale,
    after = jump.after / scale }
  self.jumps[#self.jumps + 1] = one
  self.z[place] = self.t0 < jump.time and one.before or one.after
end

function Sheet:force(part, along, f, damping, edge)
  self.forces[#self.forces + 1] = { part = part, along = along, f = f, damping = damping, edge = edge }
end

function Sheet:law(part, along, row)
  row.part, row.along = part, along
  self.rows[#self.rows + 1] = row
end

function Sheet:loss(part, along, gear, loss)
  self.losses[#self.losses + 1] = { part = part, along = along, gear = gear, loss = loss, rigid = #self.rigids }
end

-- A time right after the start, for functions that are 0 at it alone: as a part of the run.
local SOON = 1e-9

local function sheet_of(drawing, t0, T)
  local s = setmetatable({ z = {}, places = {}, inertias = {}, massive = {}, rigids = {}, motions = {},
    motion_place = {}, forces = {}, rows = {}, losses = {}, jumps = {}, t0 = t0,
    soon = T and t0 + SOON * (T - t0) or t0, nodes = drawing.nodes, impacts = false }, Sheet)
  for _, part in ipairs(drawing.parts) do
    local impacts = kinds[part.kind].impacts
    s.impacts = s.impacts or impacts and impacts(part) and part
  end
  for _, part in ipairs(drawing.parts) do kinds[part.kind].write(part, s) end
  return s
end

-- What moves at each node: "rotation" or "translation". Parts hand it from node to node; `default` for the others.
function coordinates.domains(drawing)
  local of, from, changed = {}, {}, true
  local function set(node, domain, part)
    if node == "0" or of[node] == domain then return end
    if of[node] then
      fail("%s: node '%s' is one of %s, by %s, and one of %s", who_of(part), node, of[node], who_of(from[node]),
        domain)
    end
    of[node], from[node], changed = domain, part, true
  end
  for _, part in ipairs(drawing.parts) do
    for i, domain in ipairs(kinds[part.kind].domains or {}) do set(part.nodes[i], domain, part) end
  end
  while changed do
    changed = false
    for _, part in ipairs(drawing.parts) do
      local domain
      for _, node in ipairs(part.nodes) do domain = domain or of[node] end
      if domain and not kinds[part.kind].domains then
        for _, node in ipairs(part.nodes) do set(node, domain, part) end
      end
    end
  end
  for _, node in ipairs(drawing.nodes) do of[node] = of[node] or drawing.domain end
  return of
end

-- ---- coordinates ----

local function names_of(set)
  local list = {}
  for part in pairs(set) do list[#list + 1] = "'" .. part.name .. "'" end
  table.sort(list)
  return table.concat(list, ", ")
end

-- The free nodes, and N and P as lists of { number, factor } by node.
local function find_free(self, drawing)
  local given = drawing.start
  local solved, row, from = rigid.solve(self.rigids, function(node)
    return not self.massive[node] and 2 or (given[node] or {}).speed == nil and 1 or 0
  end)
  if not solved then
    from[row.part] = nil
    fail(next(from) and "%s: it closes a loop of rigid parts with %s: its torque is not determined; let one of "
      .. "them be elastic" or "%s: both ends are the same or do not move", who_of(row.part), names_of(from))
  end
  self.free, self.number, self.light = {}, {}, {}
  for _, node in ipairs(self.nodes) do
    if not solved[node] then
      self.free[#self.free + 1] = node
      self.number[node] = #self.free
      if not self.massive[node] then self.light[#self.light + 1] = #self.free end
    end
  end
  self.N, self.P = {}, {}
  for _, node in ipairs(self.nodes) do
    local N, P, one = {}, {}, solved[node]
    if not one then N[1] = { self.number[node], 1 } end
    for other, factor in pairs(one and one.of or {}) do N[#N + 1] = { self.number[other], factor } end
    for motion, factor in pairs(one and one.by or {}) do P[#P + 1] = { self.motion_place[motion], factor } end
    table.sort(N, function(a, b) return a[1] < b[1] end)
    table.sort(P, function(a, b) return a[1] < b[1] end)
    self.N[node], self.P[node] = N, P
  end
end

-- Initial values of q, v and of the motions that are states, and the offsets of the angles.
local function initial(self, drawing, t0)
  local q, v, U, u = {}, {}, {}, {}
  for k, motion in ipairs(self.motions) do
    U[k], u[k] = motion.position and motion.position(t0) or 0, motion.speed(t0)
  end
  for j, node in ipairs(self.free) do
    local start = drawing.start[node] or {}
    q[j], v[j] = start.position or 0, start.speed or 0
  end
  self.offset = { ["0"] = 0 }
  for _, node in ipairs(self.nodes) do
    local start, angle, speed, size = drawing.start[node] or {}, 0, 0, 0
    for _, term in ipairs(self.N[node]) do
      angle, speed = angle + term[2] * q[term[1]], speed + term[2] * v[term[1]]
      size = size + math.abs(term[2] * v[term[1]])
    end
    for _, term in ipairs(self.P[node]) do
      angle, speed = angle + term[2] * U[term[1]], speed + term[2] * u[term[1]]
      size = size + math.abs(term[2] * u[term[1]])
    end
    if start.speed and math.abs(speed - start.speed) > 1e-9 * (size + math.abs(start.speed)) then -- of their terms
      fail("%s: speed: it follows from the other parts, as %g; got %g", who_of(start.part), speed, start.speed)
    end
    local at = start.position or #self.P[node] > 0 and #self.N[node] == 0 and 0
    self.offset[node] = self.number[node] and 0 or at and at - angle or 0
  end
  return q, v
end

-- An extension in the coordinates: factors of q and v, of motions, and what is constant.
local function reduced(self, along)
  local c, p, constant = {}, {}, 0
  for node, factor in ordered(along) do
    constant = constant + factor * self.offset[node]
    for _, term in ipairs(self.N[node] or {}) do c[term[1]] = (c[term[1]] or 0) + factor * term[2] end
    for _, term in ipairs(self.P[node] or {}) do p[term[1]] = (p[term[1]] or 0) + factor * term[2] end
  end
  local out = { constant = constant, n = 0, m = 0, j = {}, c = {}, k = {}, p = {} }
  for j = 1, #self.free do
    if c[j] and c[j] ~= 0 then
      out.n = out.n + 1
      out.j[out.n], out.c[out.n] = j, c[j]
    end
  end
  for k = 1, #self.motions do
    if p[k] and p[k] ~= 0 then
      out.m = out.m + 1
      out.k[out.m], out.p[out.m] = k, p[k]
    end
  end
  return out
end

-- Raises where nothing determines the speed of a free node without inertia.
local function check_light(self)
  local n, place = #self.light, {}
  for i, j in ipairs(self.light) do place[j] = i end
  local D = core.matrix(n, n)
  for _, force in ipairs(self.forces) do
    local at, damps = force.at, force.damping
    if math.type(damps) == "integer" then damps = self.z[damps] > 0 end
    for a = 1, damps and at.n or 0 do
      for b = 1, at.n do
        local i, k = place[at.j[a]], place[at.j[b]]
        if i and k then D[i][k] = D[i][k] + at.c[a] * at.c[b] end
      end
    end
  end
  local whole = D:copy()
  for i = 1, n do -- elimination of a semidefinite matrix
    if D[i][i] <= 1e-12 * whole[i][i] then -- of its own terms, for rounding
      fail("driveline: node '%s' has no inertia, and no damper determines its speed; give it one of them",
        self.free[self.light[i]])
    end
    for k = i + 1, n do
      local factor = D[k][i] / D[i][i]
      for l = i, n do D[k][l] = D[k][l] - factor * D[i][l] end
    end
  end
end

-- The parts of a drawing in its coordinates, at their initial values.
function coordinates.of(drawing, t0, T)
  local self = sheet_of(drawing, t0, T)
  find_free(self, drawing)
  self.q0, self.v0 = initial(self, drawing, t0)
  for _, list in ipairs { self.forces, self.rows, self.losses } do
    for _, one in ipairs(list) do one.at = reduced(self, one.along) end
  end
  for _, loss in ipairs(self.losses) do loss.gear_at = reduced(self, loss.gear) end
  if #self.light > 0 then check_light(self) end
  return self
end

-- ---- at a state ----

-- Where a state stands: q and v are vectors, the speed j is v[off + j], the angle of a motion is q[state].
function coordinates.strain(self, at, t, q)
  local e = at.constant
  for i = 1, at.n do e = e + at.c[i] * q[at.j[i]] end
  for i = 1, at.m do
    local motion = self.motions[at.k[i]]
    e = e + at.p[i] * (motion.position and motion.position(t) or q[motion.state])
  end
  return e
end

-- The rate of an extension, and the size of its terms.
function coordinates.rate(self, at, t, v)
  local de, size, off = 0, 0, self.off
  for i = 1, at.n do
    local term = at.c[i] * v[off + at.j[i]]
    de, size = de + term, size + (term < 0 and -term or term)
  end
  for i = 1, at.m do
    local term = at.p[i] * self.motions[at.k[i]].speed(t)
    de, size = de + term, size + (term < 0 and -term or term)
  end
  return de, size
end

function coordinates.force_of(self, one, t, q, v, z)
  return one.f(t, coordinates.strain(self, one.at, t, q), (coordinates.rate(self, one.at, t, v)), z)
end

-- The force of a row against its extension.
function coordinates.force_of_row(self, row, lambda, t, q, v, z)
  if not row.tau then return -lambda end
  return row.tau(lambda, z, t, coordinates.strain(self, row.at, t, q), (coordinates.rate(self, row.at, t, v)))
end

-- Inertias are no parameters from now on.
function coordinates.hide_inertias(self)
  for name, place in pairs(self.places) do
    for _, one in ipairs(self.inertias) do
      if one.place == place then self.places[name] = nil end
    end
  end
end

coordinates.who_of, coordinates.reduced = who_of, reduced

return coordinates
