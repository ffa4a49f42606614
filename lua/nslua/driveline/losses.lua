-- nslua.driveline.losses: gears whose losses are a part of the torque that they carry.
--
-- Of the torque tau that enters a gear the part L is lost: L = (1 - eta1) tau or (1 - 1 / eta2) tau, the larger one
-- while it turns forward, the smaller one while it turns backward, and between them while it is stuck. So L is
-- mean tau + (half |tau| + bearing) s with s in [-1, 1] as in dry friction, and |tau| = 2 p - tau with p >= 0,
-- p - tau >= 0, p (p - tau) = 0. The multipliers of a gear are -s and p. tau is what the other forces make of it, and
-- the L of all gears: linear equations, solved here. Where eta2 is 0, a worm gear that locks itself, 1 / eta2 is
-- nothing to compute with: there the same is said by the torque that leaves the gear, n = tau - L + bearing s, as
-- tau = n / eta1 or eta2 n. Below u is tau or n. Gears and friction that turn together share s: when they are
-- stuck it is the part of its largest torque that each of them bears, since nothing tells more.

local core = require "nslua.core"
local coordinates = require "nslua.driveline.coordinates"
local ordered = require "nslua.network.ordered"

local losses = {}

-- The matrix Q with tau = - Q F - (a part of the motions): what rigid parts carry for forces F at the nodes; and the
-- matrices of which it is made.
local function carried(ns, self)
  local nodes, n = self.nodes, #self.nodes
  local A, J, N = core.matrix(#self.rigids, n), core.matrix(n, n), core.matrix(n, #self.free)
  for i, node in ipairs(nodes) do
    for k, one in ipairs(self.rigids) do A[k][i] = one.along[node] or 0 end
    for _, term in ipairs(self.N[node]) do N[i][term[1]] = term[2] end
  end
  local place = {}
  for i, node in ipairs(nodes) do place[node] = i end
  for _, one in ipairs(self.inertias) do
    local i = place[one.node]
    J[i][i] = J[i][i] + self.z[one.place]
  end
  local mass = N:transpose() * J * N
  for _, j in ipairs(self.light) do mass[j][j] = 1 end -- they have no acceleration
  local NM = #self.free > 0 and N * ns.inv(mass) or nil
  for _, j in ipairs(NM and self.light or {}) do NM:column(j):fill(0) end
  local inverse = NM and NM * N:transpose() or core.matrix(n, n) -- accelerations of the nodes by forces at them
  local G = #self.rigids > 0 and ns.inv(A * A:transpose()) * A or nil
  local Q = G and G * (J * inverse - ns.eye(n))
  return { place = place, inverse = inverse, G = G, Q = Q, J = J }
end
losses.carried = carried

-- The force of the k-th rigid part for a force of 1 against an extension.
local function factor(tables, k, along)
  local sum = 0
  for node, c in ordered(along) do
    if node ~= "0" then sum = sum + tables.Q[k][tables.place[node]] * c end
  end
  return sum
end

-- The force of the k-th rigid part by the accelerations u' of motions, one for each motion.
local function by_motions(self, tables, k)
  local n, out = #self.nodes, {}
  for m = 1, #self.motions do
    local P = core.matrix(n, 1)
    for i, node in ipairs(self.nodes) do
      for _, term in ipairs(self.P[node]) do
        if term[1] == m then P[i][1] = term[2] end
      end
    end
    local direct = tables.J * P
    out[m] = -(tables.G * (direct - tables.J * (tables.inverse * direct)))[k][1]
  end
  return out
end

-- The factor of an extension over another one, or nil.
local function ratio_of(one, other)
  if one.n ~= other.n or one.m ~= other.m then return nil end
  local ratio = one.n > 0 and one.c[1] / other.c[1] or one.m > 0 and one.p[1] / other.p[1] or 1
  local function fits(a, b, i, k) return k[1] == k[2] and math.abs(a[i] - ratio * b[i]) <= 1e-12 * math.abs(a[i]) end
  for i = 1, one.n do
    if not fits(one.c, other.c, i, { one.j[i], other.j[i] }) then return nil end
  end
  for i = 1, one.m do
    if not fits(one.p, other.p, i, { one.k[i], other.k[i] }) then return nil end
  end
  return ratio
end

-- Gives each gear the places of its multipliers behind the rows: s_at with the sign of its s, and p_at; and friction
-- that turns with a gear its leader. Returns the rows that stay, and how many multipliers there are.
function losses.share(self)
  local rows, count, leaders = {}, 0, {}
  for _, gear in ipairs(self.losses) do
    for _, leader in ipairs(leaders) do
      local ratio = ratio_of(gear.gear_at, leader.gear_at)
      if ratio then gear.s_at, gear.s_sign = leader.s_at, ratio > 0 and 1 or -1 end
    end
    if not gear.s_at then
      leaders[#leaders + 1] = gear
      count = count + 1
      gear.s_at, gear.s_sign = count, 1
    end
  end
  for _, gear in ipairs(self.losses) do
    if gear.half > 0 then -- else the loss does not depend on the sign of the torque
      count = count + 1
      gear.p_at = count
    end
  end
  for _, row in ipairs(self.rows) do
    local friction = row.capacity and row.static == 1 and not row.one_way
    for _, leader in ipairs(friction and leaders or {}) do
      local ratio = ratio_of(row.at, leader.gear_at)
      if ratio then row.leader, row.sign = leader, ratio > 0 and 1 or -1 end
    end
    if not row.leader then rows[#rows + 1] = row end
  end
  return rows, count, #leaders
end

-- The multiplier of a row. first: the number of multipliers before the gears' own.
function losses.lambda_of(row, first, lambda, t, z)
  if not row.leader then return lambda[row.place_of_lambda] end
  local s = row.sign * lambda[first + row.leader.s_at]
  if row.normed then return row.held and z[row.held] * s or s end
  return row.capacity(t) * s
end

-- What the equations of the gears need, in the order of the losses.
function losses.prepare(ns, self)
  local tables = carried(ns, self) -- by inertias, which are no parameters then
  coordinates.hide_inertias(self)
  for _, gear in ipairs(self.losses) do
    local k = gear.rigid
    gear.by_force, gear.by_row, gear.by_loss = {}, {}, {}
    for i, one in ipairs(self.forces) do gear.by_force[i] = factor(tables, k, one.along) end
    for i, one in ipairs(self.rows) do gear.by_row[i] = factor(tables, k, one.along) end
    for i, one in ipairs(self.losses) do gear.by_loss[i] = factor(tables, k, one.along) end
    gear.by_motion = by_motions(self, tables, k)
    local eta1, eta2 = table.unpack(gear.loss.efficiency)
    local forward, backward = 1 - eta1, 1 - 1 / eta2
    gear.locks = eta2 == 0
    if gear.locks then forward, backward = 1 / eta1 - 1, -1 end
    gear.mean, gear.half = (forward + backward) / 2, (forward - backward) / 2
  end
end

-- Solves A x = b in place; the matrices are near the identity, and may hold duals.
local function solve(A, b)
  local n = #b
  for i = 1, n do
    for k = i + 1, n do
      local c = A[k][i] / A[i][i]
      for j = i, n do A[k][j] = A[k][j] - c * A[i][j] end
      b[k] = b[k] - c * b[i]
    end
  end
  for i = n, 1, -1 do
    for j = i + 1, n do b[i] = b[i] - A[i][j] * b[j] end
    b[i] = b[i] / A[i][i]
  end
  return b
end

-- The torque that the k-th gear carries for the forces that no loss is part of.
local function without_losses(self, gear, first, t, x, lambda, z)
  local sum = 0
  for i, one in ipairs(self.forces) do
    if gear.by_force[i] ~= 0 then sum = sum + gear.by_force[i] * coordinates.force_of(self, one, t, x, x, z) end
  end
  for i, row in ipairs(self.rows) do
    if gear.by_row[i] ~= 0 then
      local of = losses.lambda_of(row, first, lambda, t, z)
      sum = sum + gear.by_row[i] * coordinates.force_of_row(self, row, of, t, x, x, z)
    end
  end
  for m, c in ipairs(gear.by_motion) do
    if c ~= 0 then sum = sum + c * self.motions[m].acceleration(t) end
  end
  return sum
end

-- The torques u of the gears, and the signs with which 2 p - u is |u|: it is positive in a solution, but where the
-- search for one begins it may not be, and friction would push there.
local function torques(self, gears, first, t, x, lambda, z)
  local s, p, free, sign = {}, {}, {}, {}
  for k, gear in ipairs(gears) do
    s[k], p[k] = -gear.s_sign * lambda[first + gear.s_at], gear.p_at and lambda[first + gear.p_at] or 0
    free[k], sign[k] = without_losses(self, gear, first, t, x, lambda, z), 1
  end
  local function solved()
    local A, b = {}, {}
    for k, gear in ipairs(gears) do
      local sum = gear.locks and free[k] + gear.loss.friction * s[k] or free[k]
      A[k] = {}
      for l, other in ipairs(gears) do
        local own, half = k == l and 1 or 0, sign[l] * other.half
        local c = gear.locks and gear.by_loss[l] - own or gear.by_loss[l]
        A[k][l] = own - c * (other.mean - half * s[l])
        sum = sum + c * (2 * half * s[l] * p[l] + other.loss.friction * s[l])
      end
      b[k] = sum
    end
    return solve(A, b)
  end
  local u, turned = solved(), false
  for k, gear in ipairs(gears) do
    if gear.p_at and 2 * p[k] < u[k] then sign[k], turned = -1, true end
  end
  return turned and solved() or u, sign, s, p
end

-- The losses L of the gears, as forces against their extensions.
function losses.forces(self, gears, first, t, x, lambda, z)
  local u, sign, s, p = torques(self, gears, first, t, x, lambda, z)
  local out = {}
  for k, gear in ipairs(gears) do
    out[k] = gear.mean * u[k] + (gear.half * sign[k] * (2 * p[k] - u[k]) + gear.loss.friction) * s[k]
  end
  return out
end

-- The outputs y of the rows of the gears: the speed, and p - u.
function losses.outputs(self, gears, first, t, x, lambda, z, y)
  for k, u in ipairs((torques(self, gears, first, t, x, lambda, z))) do
    local gear = gears[k]
    if gear.s_sign == 1 then y[first + gear.s_at] = (coordinates.rate(self, gear.gear_at, t, x)) end
    if gear.p_at then y[first + gear.p_at] = lambda[first + gear.p_at] - u end
  end
end

return losses
