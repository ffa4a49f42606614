-- nslua.mechanics.forms: the equations of a system of nslua.mechanics for integrators.
--
--   local ds, joints = sys:lagrangian { q0 =, v0 = }      -- for TimeStepping and EventDriven
--   local problem = sys:dae { q0 =, v0 =, index = 3 }     -- for ns.dae: residual, jacobian, index, y0, yd0
--   local run = sys:solve_dae(ts, { q0 =, v0 =, index = 2, stabilised = true, rtol = 1e-8 })
--   local ode = sys:embedded { q0 =, v0 =, independent = { 3 } }
--   ns.solve_ivp(ode.f, { 0, 4 }, ode.y0)                 -- ode:expand(t, y): q, v
--
-- The DAE has the unknowns (q, v, lambda) and the equations q' = v, M v' = h + Phi_q' lambda, and one of these:
-- Phi = 0 (index 3), Phi' = 0 (index 2), Phi'' + 2 a Phi' + b^2 Phi = 0 (index 1, with a and b of Baumgarte). With
-- `stabilised` (index 2) it has q' = v + Phi_q' mu and both Phi = 0 and Phi' = 0 (Gear, Gupta and Leimkuhler).
--
-- The embedded form has only the independent coordinates q_i: Phi(q_d, q_i, t) = 0 gives the dependent ones,
-- v = B v_i + b, v' = B v_i' + g with B = (-Phi_d^-1 Phi_i, 1), b = (-Phi_d^-1 Phi_t, 0), g = (-Phi_d^-1 gamma, 0):
--
--   B' M B v_i' + B' M g - B' h = 0.
--
-- Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd ed., section VII.1; Shabana, Dynamics of
-- Multibody Systems, 4th ed., chapter 5; Baumgarte, Comput. Methods Appl. Mech. Eng. 1 (1972) 1-16.

local format = require "nslua.core".number_support.format


return function(ns, System, core)
  local fail, take_options, state, columns = core.fail, core.take_options, core.state, core.columns
  local mass, forces = core.mass, core.forces
  local constraint_jacobian, constraint_along = core.constraint_jacobian, core.constraint_along

  -- Raises when the function of an orientation does not return a rotation matrix at the start.
  local function check_turns(sys, t, q, who)
    for _, body in ipairs(sys.dimension == 3 and sys.bodies or {}) do
      if body.turn and not body.coordinates then
        local R, numbers = ns.zeros(3, 3), core.guarded(body.rotation, core.motion.values, t, q, 9)
        for k = 0, 8 do R[k // 3 + 1][k % 3 + 1] = numbers[k + 1] end
        if not core.is_rotation(R) then
          fail("%s: the orientation of '%s' is not a rotation matrix at t0, q0", who, body.name)
        end
      end
    end
  end

  -- The start (t, q, v) of a form. It must fulfil the constraints up to rounding; else an error names the worst
  -- equation.
  local function take_start(sys, o, who)
    local t = core.number(o.t0 or 0, who, "t0")
    if o.q0 == nil then fail("%s: q0 is missing", who) end
    local q, v = state(sys, t, o.q0, o.v0 or ns.zeros(sys.n), who, "0")
    check_turns(sys, t, q, who)
    local m = core.count_rows(sys, t, q)
    local phi, rate = constraint_along(sys, t, q, 1, v)
    local row = 0
    for _, joint in ipairs(sys.joints) do
      for i = 1, joint.x.rows do
        local y, u = phi[row + i], rate[row + i]
        if math.abs(y) > 1e-8 * (1 + q:norm(math.huge)) then
          fail("%s: q0: equation %d of constraint '%s' has the residual %.6g (system:consistent finds coordinates "
            .. "without)", who, i, joint.name, y)
        end
        if math.abs(u) > 1e-8 * (1 + v:norm(math.huge)) then
          fail("%s: v0: equation %d of constraint '%s' has the rate %.6g (system:consistent finds velocities "
            .. "without)", who, i, joint.name, u)
        end
      end
      row = row + joint.x.rows
      local against = joint.check and joint.check(t, q)
      if against then fail("%s: q0: constraint '%s': %s", who, joint.name, against) end
    end
    if m > 0 then core.check_rank(sys, t, select(2, constraint_jacobian(sys, t, q))) end
    sys.made = who
    return t, q, v, m
  end

  -- ---- LagrangianDS ----

  -- Raises for positions that depend on the time explicitly: the mass matrix of a LagrangianDS is M(q).
  local function refuse_moving(sys, t, q)
    for _, body in ipairs(sys.bodies) do
      for _, x in ipairs { body.position, body.rotation or nil } do
        for _, at in ipairs { t, t + 0.7 } do
          if select(2, core.along(x, at, q, 1, ns.zeros(sys.n))):norm() > 0 then
            fail("lagrangian: %s depends on the time: only constraints may (dae and embedded take such "
              .. "positions)", x.name)
          end
        end
      end
    end
  end

  -- Raises for coordinates without inertia: the mass matrix of a LagrangianDS must be regular without the
  -- constraints.
  local function check_inertia(sys, t, q)
    local good, x = core.solvable(mass(sys, t, q), ns.zeros(sys.n))
    if good then return end
    fail("lagrangian: t=%g: no accelerations: a coordinate has no inertia (%s)", t,
      (tostring(x):gsub("^.-:%d+: ", "")))
  end

  -- One function of the time, coordinates and output for all constraints.
  local function all_constraints(sys)
    local functions, rows = {}, {}
    for i, joint in ipairs(sys.joints) do functions[i], rows[i] = joint.x.f, joint.x.rows end
    local f = core.together(functions, rows)
    return function(t, q, _, out) f(t, q, out) end
  end

  -- The LagrangianDS of a system; the start; the number of equations.
  function core.lagrangian_of(self, o, who)
    if o.name ~= nil and type(o.name) ~= "string" then
      core.fail("%s: name: expected a string, got %s", who, core.describe(o.name))
    end
    local t0, q0, v0, m = take_start(self, o, who)
    refuse_moving(self, t0, q0)
    check_inertia(self, t0, q0)
    local n = self.n
    local function rest(t, q, v)
      core.fresh()
      return -1 * forces(self, t, ns.vector(q), ns.vector(v), true)
    end
    local ds = ns.LagrangianDS {
      q0 = q0, v0 = v0, name = o.name,
      mass = function(q)
        core.fresh()
        return mass(self, t0, ns.vector(q))
      end,
      fInt = function(t, q, v) return rest(t, q, v) end,
      jacobianFIntq = function(t, q, v)
        core.fresh()
        return (core.stiffness(self, t, ns.vector(q), ns.vector(v), ns.zeros(n)))
      end,
      jacobianFIntqDot = function(t, q, v)
        core.fresh()
        return select(2, core.stiffness(self, t, ns.vector(q), ns.vector(v), ns.zeros(n)))
      end,
      potential = function(q) return self:energy(t0, ns.vector(q), ns.zeros(n)).potential end,
    }
    return ds, t0, q0, m
  end

  function System:lagrangian(o)
    o = take_options(o, "lagrangian")
    core.refuse_laws(self, "lagrangian")
    local ds, _, _, m = core.lagrangian_of(self, o, "lagrangian")
    if m == 0 then return ds end
    local relation = ns.LagrangianRheonomousR { h = all_constraints(self), states = self.n, name = "joints" }
    return ds, ns.Interaction(ns.EqualityConditionNSL(m), relation, "joints")
  end

  -- ---- differential-algebraic equations ----

  local Parts = {}
  Parts.__index = Parts

  local none = ns.zeros(0)

  -- Splits y into q, v (copies), lambda and mu; yd into their derivatives.
  function Parts:split(y)
    local n, m = self.n, self.m
    return y:slice(1, n):copy(), y:slice(n + 1, 2 * n):copy(), m > 0 and y:slice(2 * n + 1, 2 * n + m) or none,
      self.stabilised and m > 0 and y:slice(2 * n + m + 1, 2 * n + 2 * m) or none
  end

  -- The residual as one vector; y and yd are given in parts.
  function Parts:equations(t, q, v, lambda, mu, qd, vd)
    local sys, m = self.sys, self.m
    local first = qd - v
    local second = mass(sys, t, q) * vd - forces(sys, t, q, v, true)
    if m == 0 then return ns.concatenate { first, second } end
    local phi, Cq = constraint_jacobian(sys, t, q)
    local transposed = Cq:transpose()
    second = second - transposed * lambda
    if self.index == 3 then return ns.concatenate { first, second, phi } end
    local _, rate, gamma = constraint_along(sys, t, q, 1, v)
    if self.stabilised then return ns.concatenate { first - transposed * mu, second, rate, phi } end
    if self.index == 2 then return ns.concatenate { first, second, rate } end
    return ns.concatenate { first, second, Cq * vd + gamma + 2 * self.a * rate + self.b ^ 2 * phi }
  end

  local function place(to, block, i, j)
    for k = 1, #block do
      for l = 1, #block[k] do to[i + k][j + l] = block[k][l] end
    end
  end

  -- The derivatives of the last equations by q and by v: of Phi', or of Phi'' with the terms of Baumgarte.
  function Parts:constraint_stiffness(t, q, v, vd, Cq)
    local _, J1, J2 = core.twist(self.sys.held, t, q, v, vd)
    if self.index == 2 then return J1, Cq end
    return J2 + 2 * self.a * J1 + self.b ^ 2 * Cq, 2 * J1 + 2 * self.a * Cq
  end

  -- Returns dF/dy and dF/dyd.
  function Parts:jacobian(t, y, yd)
    local sys, n, m = self.sys, self.n, self.m
    local size = #y
    local q, v, lambda, mu = self:split(y)
    local _, vd = self:split(yd)
    local Fy, Fyd = ns.zeros(size, size), ns.zeros(size, size)
    place(Fyd, ns.eye(n), 0, 0)
    place(Fyd, mass(sys, t, q), n, n)
    place(Fy, -1 * ns.eye(n), 0, n)
    local by_q, by_v = core.stiffness(sys, t, q, v, vd)
    if m > 0 then by_q = by_q - core.bowl(sys.held, t, q, lambda) end
    place(Fy, by_q, n, 0)
    place(Fy, by_v, n, n)
    if m == 0 then return Fy, Fyd end
    local _, Cq = constraint_jacobian(sys, t, q)
    local back = -1 * Cq:transpose()
    place(Fy, back, n, 2 * n)
    if self.index == 3 then
      place(Fy, Cq, 2 * n, 0)
      return Fy, Fyd
    end
    by_q, by_v = self:constraint_stiffness(t, q, v, vd, Cq)
    place(Fy, by_q, 2 * n, 0)
    place(Fy, by_v, 2 * n, n)
    if self.index == 1 then place(Fyd, Cq, 2 * n, n) end
    if self.stabilised then
      place(Fy, -1 * core.bowl(sys.held, t, q, mu), 0, 0)
      place(Fy, back, 0, 2 * n + m)
      place(Fy, Cq, 2 * n + m, 0)
    end
    return Fy, Fyd
  end

  local function take_index(o)
    local index, b = o.index or 3, o.baumgarte
    if index ~= 1 and index ~= 2 and index ~= 3 then
      fail("dae: index: expected 1, 2 or 3, got %s", tostring(index))
    end
    if o.stabilised and index ~= 2 then fail("dae: stabilised: is of index 2, got index %d", index) end
    if b ~= nil then
      if index ~= 1 then fail("dae: baumgarte: is of index 1, got index %d", index) end
      b = core.list(b, 2, "dae", "baumgarte")
    end
    return index, b and b[1] or 0, b and b[2] or 0
  end

  local function make_dae(sys, o)
    core.refuse_laws(sys, "dae")
    local index, a, b = take_index(o)
    local t, q, v, m = take_start(sys, o, "dae")
    local n = sys.n
    local parts = setmetatable({ sys = sys, n = n, m = m, index = index, a = a, b = b,
      stabilised = o.stabilised and true or false }, Parts)
    local vd, lambda = sys:accelerations(t, q, v)
    local more = parts.stabilised and ns.zeros(m) or ns.zeros(0)
    local y0 = ns.concatenate { q, v, lambda, more }
    local yd0 = ns.concatenate { v, vd, ns.zeros(m), more }
    -- With a singular mass matrix some velocities have no differential equation.
    local massless = m > 0 and ns.rcond(mass(sys, t, q)) < 1e-12
    local indices = {}
    for i = 1, #y0 do
      indices[i] = i <= n and 1 or i <= 2 * n and ((index == 3 or massless) and 2 or 1) or index
    end
    return { t0 = t, y0 = y0, yd0 = yd0, index = indices, parts = parts,
      residual = function(t1, y, yd)
        core.fresh()
        local q1, v1, lambda1, mu1 = parts:split(y)
        local qd1, vd1 = parts:split(yd)
        return parts:equations(t1, q1, v1, lambda1, mu1, qd1, vd1)
      end,
      jacobian = function(t1, y, yd)
        core.fresh()
        return parts:jacobian(t1, y, yd)
      end }
  end

  function System:dae(o)
    local problem = make_dae(self, take_options(o, "dae"))
    problem.parts, problem.t0 = nil, nil
    return problem
  end

  -- The absolute tolerance of each unknown. For lambda it is at least rtol times the forces: where lambda passes
  -- through 0 a relative tolerance cannot be met, and rounding errors of lambda grow as steps get shorter. mu is 0
  -- up to errors; its tolerance of 1 takes it out of the control of errors.
  local function tolerances(rtol, atol, problem)
    local parts, size = problem.parts, #problem.y0
    local sys, n, m = parts.sys, parts.n, parts.m
    if atol ~= nil and type(atol) ~= "number" then return core.list(atol, size, "solve_dae", "atol") end
    if atol then core.positive(atol, "solve_dae", "atol") end
    if rtol then core.positive(rtol, "solve_dae", "rtol") end
    local all = (atol or 1e-12) * ns.ones(size)
    if m == 0 then return all end
    local q, v, lambda = parts:split(problem.y0)
    local _, Cq = constraint_jacobian(sys, problem.t0, q)
    local most = forces(sys, problem.t0, q, v, true):norm(math.huge)
    for i = 1, m do
      local scale = math.max(math.abs(lambda[i]), most / Cq[i]:norm(math.huge))
      all[2 * n + i] = math.max(all[2 * n + i], (rtol or 1e-6) * scale)
      if parts.stabilised then all[2 * n + m + i] = 1 end
    end
    return all
  end

  -- Solves the DAE at the times ts; the first one is t0. Returns the result of ns.dae with the matrices q, v and
  -- lambda, which have a row for each time.
  function System:solve_dae(ts, o)
    o = take_options(o, "solve_dae")
    ts = core.list(ts, nil, "solve_dae", "ts")
    if #ts == 0 then fail "solve_dae: ts: expected at least one time" end
    if o.t0 and o.t0 ~= ts[1] then
      fail("solve_dae: t0: expected %g, the first of ts, got %s", ts[1], core.describe(o.t0))
    end
    local problem = make_dae(self, { q0 = o.q0, v0 = o.v0, t0 = ts[1], index = o.index, stabilised = o.stabilised,
      baumgarte = o.baumgarte })
    local solver = ns.dae("radau", problem.residual, { jac = problem.jacobian, index = problem.index,
      rtol = o.rtol, atol = tolerances(o.rtol, o.atol, problem),
      first_step = o.first_step, max_step = o.max_step, max_steps = o.max_steps })
    local result = solver:solve(ts, problem.y0, problem.yd0)
    local n, m, y = self.n, problem.parts.m, result.values.y
    result.t, result.q, result.v = result.values.t, y:slice(1, #y, 1, n), y:slice(1, #y, n + 1, 2 * n)
    result.lambda = m > 0 and y:slice(1, #y, 2 * n + 1, 2 * n + m) or nil
    return result
  end

  -- ---- the embedded form ----

  -- The dependent coordinates: for each row of Cq the column of the largest pivot.
  local function pivots(Cq)
    local A, m, n = Cq:copy(), #Cq, Cq:cols()
    local used_row, dependent = {}, {}
    for _ = 1, m do
      local best, p, c = 0, nil, nil
      for i = 1, m do
        for j = 1, n do
          local size = math.abs(A[i][j])
          if not used_row[i] and not dependent[j] and size > best then best, p, c = size, i, j end
        end
      end
      if not p then break end
      used_row[p], dependent[c] = true, true
      for i = 1, m do
        if not used_row[i] then A[i] = A[i] - A[i][c] / A[p][c] * A[p] end
      end
    end
    return dependent
  end

  local function take_independent(list, n, m, Cq)
    local dependent = {}
    if list == nil then
      dependent = m > 0 and pivots(Cq) or {}
    else
      if type(list) ~= "table" or #list ~= n - m then
        fail("embedded: independent: expected a list of %d coordinates (%d less %d equations), got %s", n - m, n, m,
          type(list) == "table" and "one of " .. #list or type(list))
      end
      for j = 1, n do dependent[j] = true end
      for _, j in ipairs(list) do
        if math.type(j) ~= "integer" or j < 1 or j > n or not dependent[j] then
          fail("embedded: independent: expected different coordinates, 1..%d, got %s", n, tostring(j))
        end
        dependent[j] = nil
      end
    end
    local free, bound = {}, {}
    for j = 1, n do
      local to = dependent[j] and bound or free
      to[#to + 1] = j
    end
    return list and { table.unpack(list) } or free, bound
  end

  local Embedded = {}
  Embedded.__index, Embedded.__name = Embedded, "mechanics.embedded"
  require "nslua.base.where".strict(Embedded)

  function Embedded:__tostring()
    return ("mechanics.embedded: coordinates %s of %d independent"):format(table.concat(self.independent, ", "),
      self.sys.n)
  end

  local function pick(v, list)
    local out = ns.zeros(#list)
    for k, j in ipairs(list) do out[k] = v[j] end
    return out
  end

  local function put(v, list, part)
    for k, j in ipairs(list) do v[j] = part[k] end
    return v
  end

  local function solve_dependent(self, t, q, A, b)
    local good, x = core.solvable(A, b)
    if good then return x end
    core.check_rank(self.sys, t, select(2, constraint_jacobian(self.sys, t, q)))
    fail("t=%g: the constraints do not determine the dependent coordinates (%s): choose other independent ones", t,
      table.concat(self.dependent, ", "))
  end

  -- Returns B with a row for each coordinate, the part b of v that does not depend on v_i, and Phi_d.
  local function velocities(self, t, q)
    local n, free, bound = self.sys.n, self.independent, self.dependent
    local B, b = ns.zeros(n, #free), ns.zeros(n)
    for k, j in ipairs(free) do B[j][k] = 1 end
    if #bound == 0 then return B, b end
    local _, Cq = constraint_jacobian(self.sys, t, q)
    local _, Ct = constraint_along(self.sys, t, q, 1, ns.zeros(n))
    local Cd = columns(Cq, bound)
    local X = #free > 0 and solve_dependent(self, t, q, Cd, -1 * columns(Cq, free))
    for k, j in ipairs(bound) do
      for i = 1, #free do B[j][i] = X[k][i] end
    end
    put(b, bound, solve_dependent(self, t, q, Cd, -1 * Ct))
    return B, b, Cd
  end

  -- A point on the constraints, the tangent there, and the sign of det Phi_d. The sign tells on which branch the
  -- point lies: branches meet where Phi_d is singular.
  local function point_at(self, t, q)
    local B, b, Cd = velocities(self, t, q)
    return { t = t, q = q, B = B, b = b, Cd = Cd, side = Cd and ns.det(Cd) > 0 }
  end

  -- Solves Phi = 0 for the dependent coordinates, starting with those in q. Writes them into q and returns the
  -- residual that is left.
  local function solve_point(self, t, q)
    local sys = self.sys
    local x, more = ns.fsolve(function(x)
      return core.constraint_values(sys, t, put(q, self.dependent, x))
    end, pick(q, self.dependent), { xtol = 1e-14, full_output = true, fprime = function(x)
      local _, Cq = constraint_jacobian(sys, t, put(q, self.dependent, x))
      return columns(Cq, self.dependent)
    end })
    put(q, self.dependent, x)
    return more.fun:norm(math.huge)
  end

  local FAR = 0.3 -- largest change of the coordinates, as a fraction of them, that is followed in one part

  -- Follows the constraints from a point to the one at (t, qi), in `parts` steps along tangents. Returns nil and the
  -- residual that is left when it does not get there.
  local function march(self, from, t, qi, parts)
    local here, start = from, pick(from.q, self.independent)
    for k = 1, parts do
      local next_t = k < parts and from.t + k / parts * (t - from.t) or t
      local next_qi = k < parts and start + k / parts * (qi - start) or qi
      local way = here.B * (next_qi - pick(here.q, self.independent)) + (next_t - here.t) * here.b
      local far = FAR * (1 + here.q:norm(math.huge))
      if way:norm(math.huge) > far then return nil, math.huge end
      local guess = put(here.q + way, self.independent, next_qi)
      local q = guess:copy()
      local left = solve_point(self, next_t, q)
      if left > 1e-11 * (1 + q:norm(math.huge)) then return nil, left end
      if (q - guess):norm(math.huge) > far then return nil, math.huge end
      local there = point_at(self, next_t, q)
      if there.side ~= here.side then return nil, math.huge end
      here = there
    end
    return here
  end

  -- The point at (t, qi). It is found from the last point or from the start, whichever is nearer.
  local function find_point(self, t, qi)
    if #self.dependent == 0 then
      return point_at(self, t, put(ns.zeros(self.sys.n), self.independent, qi))
    end
    local function way(point) return (pick(point.q, self.independent) - qi):norm() end
    local from, least = way(self.last) <= way(self.first) and self.last or self.first, math.huge
    for doublings = 0, 7 do
      local there, left = march(self, from, t, qi, 2 ^ doublings)
      if there then return there end
      least = math.min(least, left)
    end
    fail("t=%g: the independent coordinates (%s) go too far: no dependent ones near the last ones fulfil the "
      .. "constraints%s", t, table.concat(self.independent, ", "),
      least < math.huge and format(" (the least residual found is %.3g)", least) or "")
  end

  -- Returns q and v of all coordinates at y = (q_i, v_i), and the point with B and Phi_d.
  function Embedded:expand(t, y)
    local k = #self.independent
    y = core.list(y, 2 * k, "embedded", "y")
    core.fresh()
    local point = find_point(self, t, y(1, k):copy())
    self.last = point
    return point.q:copy(), point.B * y(k + 1, 2 * k) + point.b, point
  end

  -- The derivative y' at (t, y).
  function Embedded:rate(t, y)
    local sys, k = self.sys, #self.independent
    local q, v, point = self:expand(t, y)
    local g, B, Cd = ns.zeros(sys.n), point.B, point.Cd
    if Cd then
      local _, _, gamma = constraint_along(sys, t, q, 1, v)
      put(g, self.dependent, solve_dependent(self, t, q, Cd, -1 * gamma))
    end
    local M, transposed = mass(sys, t, q), B:transpose()
    local rest = forces(sys, t, q, v, true) - M * g
    local good, x = core.solvable(transposed * (M * B), transposed * rest)
    if not good then
      fail("embedded: t=%.10g: no accelerations: an independent coordinate has no inertia (%s)", t,
        (tostring(x):gsub("^.-:%d+: ", "")))
    end
    return ns.concatenate { y(k + 1, 2 * k), x }
  end

  function System:embedded(o)
    o = take_options(o, "embedded")
    core.refuse_laws(self, "embedded")
    local t, q, v, m = take_start(self, o, "embedded")
    if m >= self.n then fail("embedded: %d equations leave none of %d coordinates free", m, self.n) end
    local _, Cq = constraint_jacobian(self, t, q)
    local free, bound = take_independent(o.independent, self.n, m, Cq)
    local ode = setmetatable({ sys = self, independent = free, dependent = bound }, Embedded)
    ode.first = point_at(ode, t, q)
    ode.last = ode.first
    ode.y0 = ns.concatenate { pick(q, free), pick(v, free) }
    ode.f = core.differentiable(function(t1, y)
      return ode:rate(core.number(t1, "embedded", "t"), core.list(y, 2 * #free, "embedded", "y"))
    end)
    ode:rate(t, ode.y0)
    return ode
  end
end
