-- nslua.mechanics.equations: the equations of motion of a system at a point: mass matrix, forces, constraints with
-- their derivatives, accelerations, energy, and the nearest state that fulfils the constraints.


return function(ns, System, core)
  local fail, number, list, solvable = core.fail, core.number, core.list, core.solvable
  local motion, evaluate_value, guarded_group = core.motion, core.evaluate_value, core.guarded_group
  local prepare, values, fresh, slopes = core.prepare, core.values, core.fresh, core.slopes
  local jacobian, line, along = core.jacobian, core.line, core.along

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

  -- Checks t, q and v (v may be nil) and returns q and v as vectors. In errors they are called q .. level and v ..
  -- level; level is "0" for a start.
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

  -- The antisymmetric part of R' D as a vector. R and D are lists of nine numbers, by rows.
  local function spin(R, D)
    local function e(i, j) return R[i] * D[j] + R[3 + i] * D[3 + j] + R[6 + i] * D[6 + j] end
    return { (e(3, 2) - e(2, 3)) / 2, (e(1, 3) - e(3, 1)) / 2, (e(2, 1) - e(1, 2)) / 2 }
  end

  -- For the rotation x of a body in space: the matrix R, and the Jacobian of its angular velocity in its own axes.
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

  -- Adds J' I J of the rotation of a body in space to M and, for a free body, the inertia of the quaternion's
  -- length.
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

  -- Masses and weights of all bodies. Free bodies have a constant mass matrix `mass` and a constant `weight`. For
  -- the others, with the Jacobian J of sys.moving, the mass matrix is J' W J and the weight J' pull; W is diagonal
  -- and holds the masses and, in the plane, the inertias. `turning` lists the bodies that turn in space, which need
  -- more.
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

  -- The inertial terms of the rotation of a body in space at zero accelerations.
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

  -- The generalised forces h. With `inertia` they include the inertial terms that depend on velocities.
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

  -- The first row of Cq that depends linearly on earlier rows: the name of its constraint, and its number there. nil
  -- when all rows are independent.
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

  -- Q: forces, weights, springs and potentials, without the inertial terms of forces().
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

  -- Returns Phi, Phi' and gamma at (t, q, v).
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

  -- Returns q and v that fulfil the constraints. q is found by Newton's method in steps of least norm; v is the
  -- nearest one in the norm of the kinetic energy.
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

  for name, f in pairs { state = state, count_rows = count_rows, spin = spin, lumps = lumps, mass = mass,
    forces = forces, constraint_jacobian = constraint_jacobian, constraint_values = constraint_values,
    constraint_along = constraint_along, check_rank = check_rank } do
    core[name] = f
  end
end
