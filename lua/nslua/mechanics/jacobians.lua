-- nslua.mechanics.jacobians: exact derivatives of the equations of nslua.mechanics by coordinates and velocities.
--
-- Everything that acts on a system has the form J' w. J = dx/dq is the Jacobian of the positions x(t, q), and
-- w(t, q, v, a) holds a force for each row of x: m (x'' - g) for a mass, minus the value for a force, R x tau / 2 on
-- the rows of a rotation matrix. So
--
--   d(M a - h)/dq = sum_r w_r d2x_r/dq2 + J' dw/dq,   d(M a - h)/dv = J' dw/dv,
--
-- With q(s) = q + s v + s^2 / 2 a, and with J' and J'' the derivatives of J by s: dx'/dq = J', dx''/dq = J'',
-- dx''/dv = 2 J'. These are third derivatives of x; one pass with jets gives them (ad/jet.h). Forces of (t, q, v)
-- are differentiated with dual numbers or, where these do not work, by central differences.
--
-- Haug, Computer-Aided Kinematics and Dynamics of Mechanical Systems, 1989, chapter 11.

local where = require "nslua.base.where"

return function(ns, core)
  local motion, spin = core.motion, core.spin

  -- The second derivatives of w . f. After an error the quantities are evaluated one by one, and w has another
  -- length: then the weights are 0.
  local function bowl(f, t, q, rows, w)
    return motion.bowl(f, t, q, rows, #w == rows and w or ns.zeros(rows))
  end

  function core.bowl(group, t, q, w) return core.guarded_group(group, bowl, t, q, w) end

  -- Second derivative, J' and J'' of a group along (1, v, a).
  function core.twist(group, t, q, v, a) return core.guarded_group(group, motion.twist, t, q, 1, v, a) end

  local STEP = 6e-6 -- relative step of central differences: the cube root of the rounding unit

  local function differences(f, x, m)
    local n = #x
    local J = ns.zeros(m, n)
    x = x:copy()
    for j = 1, n do
      local saved = x[j]
      local h = STEP * math.max(1, math.abs(saved))
      x[j] = saved + h
      local right, up = x[j], f(x)
      x[j] = saved - h
      local left, down = x[j], f(x)
      x[j] = saved
      for i = 1, m do J[i][j] = (up[i] - down[i]) / (right - left) end
    end
    return J
  end

  -- A function that does as f(t, y), and also takes dual numbers y: their derivatives come from central differences
  -- of f. So methods that need Jacobians can be used with f.
  function core.differentiable(f)
    return function(t, y)
      local values = motion.dual_values(y)
      if not values then return f(t, y) end
      local rate = f(t, values)
      return rate + differences(function(x) return f(t, x) end, values, #rate) * (y - values)
    end
  end

  -- The value of a force, m numbers, and its derivatives by q and v; nil where it is constant.
  local function value_of(action, sys, t, q, v)
    local m = action.count or sys.n
    local value = core.evaluate_value(action, sys, t, q, v)
    if action.constant then return value end
    local good, _, by_q, by_v = where.try(motion.partials, action.value, t, q, v, m)
    if good then return value, by_q, by_v end
    by_q = differences(function(x) return core.evaluate_value(action, sys, t, x, v) end, q, m)
    by_v = differences(function(x) return core.evaluate_value(action, sys, t, q, x) end, v, m)
    return value, by_q, by_v
  end

  -- Adds `factor` times a vector or matrix to the rows after `at` of another.
  local function add(to, at, factor, part)
    for i = 1, #part do to[at + i] = to[at + i] + factor * part[i] end
  end

  local function subtract_rows(to, at, part)
    for i = 1, #part do
      local row, other = to[at + i], part[i]
      for j = 1, #other do row[j] = row[j] - other[j] end
    end
  end

  -- The forces w on the rows of sys.moving, and their derivatives. Forces that do not act on these rows are added to
  -- Kq and Kv.
  local function new_sum(sys, t, q, v, a)
    local group, n = sys.moving, sys.n
    local sum = { sys = sys, t = t, q = q, v = v, a = a, n = n, lump = core.lumps(sys, t, q), size = group.size,
      Kq = ns.zeros(n, n), Kv = ns.zeros(n, n) }
    if group.size == 0 then return sum end
    local W = sum.lump.W
    local slopes, line = core.slopes(group, t, q), core.line(group, t, q, 1, v)
    sum.x, sum.J, sum.rate = slopes.y, slopes.J, line.first
    sum.bend, sum.J1, sum.J2 = core.twist(group, t, q, v, a)
    sum.w = W and W * sum.bend - sum.lump.pull or ns.zeros(group.size)
    sum.wq = W and W * sum.J2 or ns.zeros(group.size, n)
    sum.wv = W and 2 * (W * sum.J1) or ns.zeros(group.size, n)
    return sum
  end

  -- Half the cross product of each row of a 3 x 3 matrix (nine numbers) with a vector.
  local function turned(R, tau)
    local out = {}
    for k = 0, 6, 3 do
      local a, b, c = R[k + 1], R[k + 2], R[k + 3]
      out[k + 1], out[k + 2], out[k + 3] = (b * tau[3] - c * tau[2]) / 2, (c * tau[1] - a * tau[3]) / 2,
        (a * tau[2] - b * tau[1]) / 2
    end
    return out
  end

  -- The moment `factor` tau, in the axes of a body whose rotation is x, with its derivatives (nil: 0).
  local function add_moment(sum, x, factor, tau, by_q, by_v)
    local at, n = x.at, sum.n
    local R = sum.x:slice(at + 1, at + 9)
    add(sum.w, at, factor, turned(R, tau))
    for j = 1, n do
      local slope = turned(sum.J:column(j)(at + 1, at + 9), tau)
      local more = by_q and turned(R, by_q:column(j))
      local along = by_v and turned(R, by_v:column(j))
      for i = 1, 9 do
        sum.wq[at + i][j] = sum.wq[at + i][j] + factor * (slope[i] + (more and more[i] or 0))
        if along then sum.wv[at + i][j] = sum.wv[at + i][j] + factor * along[i] end
      end
    end
  end

  -- The columns spin(A, column j) or, of a matrix A, spin(column j of A, b).
  local function spins(A, B, n)
    local out = ns.zeros(3, n)
    local moves = getmetatable(A) == "matrix"
    for j = 1, n do
      local w = moves and spin(A:column(j), B) or spin(A, B:column(j))
      out[1][j], out[2][j], out[3][j] = w[1], w[2], w[3]
    end
    return out
  end

  -- The matrix of the cross product with w.
  local function cross(w) return ns.matrix { { 0, -w[3], w[2] }, { w[3], 0, -w[1] }, { -w[2], w[1], 0 } } end

  -- Euler's equations of a body in space, tau = I alpha + omega x I omega.
  local function add_turning(sum, body)
    local x, n, I = body.rotation, sum.n, body.inertia
    local function part(of) return of:slice(x.at + 1, x.at + 9) end
    local function rows(of) return of:slice(x.at + 1, x.at + 9, 1, n):copy() end
    local R, rate, bend = part(sum.x), part(sum.rate), part(sum.bend)
    local J, J1, J2 = rows(sum.J), rows(sum.J1), rows(sum.J2)
    local omega, alpha = ns.vector(spin(R, rate)), ns.vector(spin(R, bend))
    local K = cross(omega) * I - cross(I * omega) -- d(omega x I omega)/domega
    add_moment(sum, x, 1, I * alpha + omega:cross(I * omega),
      I * (spins(J, bend, n) + spins(R, J2, n)) + K * (spins(J, rate, n) + spins(R, J1, n)),
      2 * (I * spins(R, J1, n)) + K * spins(R, J, n))
    local p, q, v, a = body.quaternion, sum.q, sum.v, sum.a
    if not p then return end
    local lengthening = 0
    for i = p + 1, p + 4 do lengthening = lengthening + q[i] * a[i] + v[i] ^ 2 end
    for i = p + 1, p + 4 do
      sum.Kq[i][i] = sum.Kq[i][i] + body.stretch * lengthening
      for k = p + 1, p + 4 do
        sum.Kq[i][k] = sum.Kq[i][k] + body.stretch * q[i] * a[k]
        sum.Kv[i][k] = sum.Kv[i][k] + 2 * body.stretch * q[i] * v[k]
      end
    end
  end

  -- Minus a force F on the rows of a quantity.
  local function subtract(sum, x, F, by_q, by_v)
    if x.constant then
      local J = x.constant:transpose()
      if by_q then sum.Kq, sum.Kv = sum.Kq - J * by_q, sum.Kv - J * by_v end
      return
    end
    add(sum.w, x.at, -1, F)
    if by_q then
      subtract_rows(sum.wq, x.at, by_q)
      subtract_rows(sum.wv, x.at, by_v)
    end
  end

  local kinds = {}

  function kinds.generalised(sum, _, _, by_q, by_v)
    if by_q then sum.Kq, sum.Kv = sum.Kq - by_q, sum.Kv - by_v end
  end

  function kinds.force(sum, action, F, by_q, by_v) subtract(sum, action.along, F, by_q, by_v) end

  function kinds.torque(sum, action, tau, by_q, by_v) add_moment(sum, action.along, -1, tau, by_q, by_v) end

  function kinds.potential(sum, action) subtract(sum, action.along, { -1 }) end

  function kinds.spring(sum, action)
    local x, k, c, n = action.along, action.stiffness, action.damping, sum.n
    local i = x.at + 1
    local function row(of) return of:slice(i, i, 1, n):copy() end
    local J = row(sum.J)
    subtract(sum, x, { -k * (sum.x[i] - action.rest) - c * sum.rate[i] }, -k * J - c * row(sum.J1), -c * J)
  end

  -- The derivatives of M(t, q) a - h(t, q, v) by q and by v.
  function core.stiffness(sys, t, q, v, a)
    local sum = new_sum(sys, t, q, v, a)
    for _, body in ipairs(sum.lump.turning) do add_turning(sum, body) end
    for _, action in ipairs(sys.actions) do
      if action.value then kinds[action.kind](sum, action, value_of(action, sys, t, q, v))
      else kinds[action.kind](sum, action) end
    end
    if sum.size == 0 then return sum.Kq, sum.Kv end
    local transposed = sum.J:transpose()
    return sum.Kq + core.bowl(sys.moving, t, q, sum.w) + transposed * sum.wq, sum.Kv + transposed * sum.wv
  end
end
