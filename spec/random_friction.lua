-- Random friction problems, and a judge of answers that shares no code with the engine.
local M = {}
local random, sqrt, abs, max = math.random, math.sqrt, math.abs, math.max

local normal = require "random_numbers".normal

local function zeros(rows, cols)
  local A = {}
  for i = 1, rows do
    A[i] = {}
    for j = 1, cols do A[i][j] = 0 end
  end
  return A
end

-- H diag(1 / m) H' and H v for a given H (n rows).
local function delassus(H, mass, v)
  local n, W, q = #H, {}, {}
  for i = 1, n do
    W[i], q[i] = {}, 0
    for k = 1, #mass do q[i] = q[i] + H[i][k] * v[k] end
    for j = 1, n do
      local sum = 0
      for k = 1, #mass do sum = sum + H[i][k] * H[j][k] / mass[k] end
      W[i][j] = sum
    end
  end
  return W, q
end

local function dense(dim, nc, dofs)
  local H, mass, v = zeros(dim * nc, dofs), {}, {}
  for k = 1, dofs do mass[k], v[k] = 0.2 + random(), 2 * normal() end
  for i = 1, dim * nc do
    for k = 1, dofs do H[i][k] = normal() end
  end
  return delassus(H, mass, v)
end

local function friction(nc, low, high)
  local mu = {}
  for i = 1, nc do mu[i] = low + (high - low) * random() end
  return mu
end

M.kinds = {}

function M.kinds.full_rank(dim, nc)
  local W, q = dense(dim, nc, dim * nc + random(0, 3))
  return { W = W, q = q, mu = friction(nc, 0.1, 1), solvable = true }
end

function M.kinds.rank_deficient(dim, nc)
  local W, q = dense(dim, nc, max(1, dim * nc // 2))
  return { W = W, q = q, mu = friction(nc, 0.1, 0.8), solvable = true }
end

-- Three rows of a contact with normal F[1], for a body touched at its point `arm`; sign -1: the second body.
local function add_contact(H, row, body, F, arm, sign)
  for k = 1, 3 do
    local f, at = F[k], 6 * (body - 1)
    local moment = { arm[2] * f[3] - arm[3] * f[2], arm[3] * f[1] - arm[1] * f[3], arm[1] * f[2] - arm[2] * f[1] }
    for j = 1, 3 do
      H[row + k][at + j] = H[row + k][at + j] + sign * f[j]
      H[row + k][at + 3 + j] = H[row + k][at + 3 + j] + sign * moment[j]
    end
  end
end

-- Masses and velocities of bodies in space; the heaviest has 10^decades times the mass of the lightest.
local function bodies_in_space(count, decades)
  local mass, v = {}, {}
  for k = 0, count - 1 do
    local m = 10 ^ (decades * (random() - 0.5))
    for j = 1, 6 do mass[6 * k + j], v[6 * k + j] = j > 3 and 0.1 * m or m, normal() end
  end
  return mass, v
end

-- Boxes on top of each other, four corners each: hyperstatic.
function M.stack(count, decades, mu)
  local mass, v = bodies_in_space(count, decades)
  local H, F = zeros(12 * count, 6 * count), { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }
  for b = 1, count do
    for c = 0, 3 do
      local x, y, row = c % 2 - 0.5, c // 2 - 0.5, 12 * (b - 1) + 3 * c
      add_contact(H, row, b, F, { x, y, -0.5 }, 1)
      if b > 1 then add_contact(H, row, b - 1, F, { x, y, 0.5 }, -1) end
    end
    v[6 * b - 3] = v[6 * b - 3] - 1
  end
  local W, q = delassus(H, mass, v)
  return { W = W, q = q, mu = friction(4 * count, mu, mu), dim = 3, nc = 4 * count, solvable = true }
end

local function frame()
  local n, t = { normal(), normal(), normal() }, { normal(), normal(), normal() }
  local length, dot = sqrt(n[1] ^ 2 + n[2] ^ 2 + n[3] ^ 2), 0
  for k = 1, 3 do n[k] = n[k] / length end
  for k = 1, 3 do dot = dot + n[k] * t[k] end
  for k = 1, 3 do t[k] = t[k] - dot * n[k] end
  length = sqrt(t[1] ^ 2 + t[2] ^ 2 + t[3] ^ 2)
  for k = 1, 3 do t[k] = t[k] / length end
  return { n, t, { n[2] * t[3] - n[3] * t[2], n[3] * t[1] - n[1] * t[3], n[1] * t[2] - n[2] * t[1] } }
end

-- Balls that touch each other and walls in any direction, so rough that they wedge.
function M.wedged(nc, count, decades, mu)
  local mass, v = bodies_in_space(count, decades)
  local H = zeros(3 * nc, 6 * count)
  for c = 1, nc do
    local F, a, b = frame(), random(count), random(count)
    local function arm(sign)
      local p = {}
      for k = 1, 3 do p[k] = -0.5 * sign * F[1][k] + 0.1 * normal() end
      return p
    end
    add_contact(H, 3 * c - 3, a, F, arm(1), 1)
    if a ~= b and random() > 0.3 then add_contact(H, 3 * c - 3, b, F, arm(-1), -1) end
  end
  local W, q = delassus(H, mass, v)
  return { W = W, q = q, mu = friction(nc, mu, mu), dim = 3, nc = nc, solvable = true }
end

function M.kinds.frictionless(dim, nc)
  local W, q = dense(dim, nc, dim * nc)
  return { W = W, q = q, mu = friction(nc, 0, 0), solvable = true }
end

function M.kinds.huge_mu(dim, nc)
  local W, q = dense(dim, nc, dim * nc + 2)
  return { W = W, q = q, mu = friction(nc, 10, 1000), solvable = true }
end

function M.kinds.mixed_mu(dim, nc)
  local W, q = dense(dim, nc, dim * nc)
  local mu = friction(nc, 0, 1)
  for i = 1, nc do mu[i] = ({ 0, 1e-9, 0.3, 1, mu[i] })[random(5)] end
  return { W = W, q = q, mu = mu, solvable = true }
end

function M.kinds.nearly_open(dim, nc)
  local W, q = dense(dim, nc, dim * nc)
  for i = 1, nc do
    if random() < 0.6 then q[dim * (i - 1) + 1] = ({ 0, 1e-9, -1e-9, 1e-14, -1e-14 })[random(5)] end
  end
  return { W = W, q = q, mu = friction(nc, 0.1, 0.9), solvable = true }
end

function M.kinds.no_contact(dim, nc)
  local W, q = dense(dim, nc, dim * nc)
  for i = 1, nc do q[dim * (i - 1) + 1] = abs(q[dim * (i - 1) + 1]) end
  return { W = W, q = q, mu = friction(nc, 0.1, 1), solvable = true }
end

-- Bodies on top of each other, each without rotation: contact i between bodies i and i - 1 (the ground is 0).
function M.kinds.tower(dim, nc)
  local H, mass, v = zeros(dim * nc, dim * nc), {}, {}
  for body = 1, nc do
    for d = 1, dim do
      local k = dim * (body - 1) + d
      mass[k] = 0.5 + (body % 3)
      v[k] = d == 1 and -0.05 or 0.05 * normal()
      H[k][k] = 1
      if body > 1 then H[k][k - dim] = -1 end
    end
  end
  local W, q = delassus(H, mass, v)
  return { W = W, q = q, mu = friction(nc, 0.2, 0.6), solvable = true }
end

-- One body on all contacts, with a lever arm each: forces are not unique.
function M.kinds.table_legs(dim, nc)
  local dofs = dim == 2 and 3 or 6
  local H, mass, v = zeros(dim * nc, dofs), {}, {}
  for k = 1, dofs do mass[k], v[k] = k <= dim and 1 or 0.3, k == 1 and -0.1 or 0.02 * normal() end
  for i = 1, nc do
    local base, x, y = dim * (i - 1), 2 * random() - 1, 2 * random() - 1
    for d = 1, dim do H[base + d][d] = 1 end
    if dim == 2 then
      H[base + 1][3], H[base + 2][3] = x, 0.5
    else -- velocity at (x, y) below the centre: omega cross arm, arm = (-0.5, x, y) in (normal, t1, t2)
      H[base + 1][5], H[base + 1][6] = y, -x
      H[base + 2][4], H[base + 2][6] = -y, -0.5
      H[base + 3][4], H[base + 3][5] = x, 0.5
    end
  end
  local W, q = delassus(H, mass, v)
  return { W = W, q = q, mu = friction(nc, 0.3, 0.7), solvable = true }
end

-- Not symmetric, by a small perturbation.
function M.kinds.skewed(dim, nc)
  local W, q = dense(dim, nc, dim * nc + 2)
  for i = 1, dim * nc do
    for j = 1, i - 1 do
      local s = 0.05 * normal()
      W[i][j], W[j][i] = W[i][j] + s, W[j][i] - s
    end
  end
  return { W = W, q = q, mu = friction(nc, 0.1, 0.6) }
end

-- Any matrix: solutions need not exist.
function M.kinds.wild(dim, nc)
  local W, q = zeros(dim * nc, dim * nc), {}
  for i = 1, dim * nc do
    q[i] = normal()
    for j = 1, dim * nc do W[i][j] = normal() end
  end
  return { W = W, q = q, mu = friction(nc, 0, 2) }
end

-- A contact that no force can hold.
function M.kinds.unsolvable(dim, nc)
  local W, q = dense(dim, nc, dim * nc)
  local lost = random(nc)
  for k = dim * (lost - 1) + 1, dim * lost do
    for j = 1, dim * nc do W[k][j], W[j][k] = 0, 0 end
  end
  q[dim * (lost - 1) + 1] = -1
  return { W = W, q = q, mu = friction(nc, 0.1, 1), impossible = true }
end

-- Units far from 1, both of W and of q.
function M.kinds.badly_scaled(dim, nc)
  local W, q = dense(dim, nc, dim * nc + 1)
  local a, b = 10.0 ^ random(-9, 9), 10.0 ^ random(-6, 6)
  for i = 1, dim * nc do
    q[i] = q[i] * b
    for j = 1, dim * nc do W[i][j] = W[i][j] * a end
  end
  return { W = W, q = q, mu = friction(nc, 0.1, 1), solvable = true }
end

M.names = {}
for name in pairs(M.kinds) do M.names[#M.names + 1] = name end
table.sort(M.names)

function M.problem(kind, dim, nc)
  local p = M.kinds[kind](dim, nc)
  p.dim, p.nc = dim, nc
  return p
end

-- The nearest point of {|t| <= mu n} to (n, t[]), t a list of one or two.
local function project(mu, n, t)
  local length = 0
  for _, x in ipairs(t) do length = length + x * x end
  length = sqrt(length)
  if length <= mu * n then return n, t end
  if mu * length <= -n then return 0, (#t == 2 and { 0, 0 } or { 0 }) end
  local a = (n + mu * length) / (1 + mu * mu)
  local out = {}
  for k, x in ipairs(t) do out[k] = mu * a * x / length end
  return a, out
end

-- The largest error of a contact. Error: the natural map r - P(r - (u + mu |u_T| e_n) / w) and min(r_n, u_n / w). In the
-- plane, P projects r_n on [0, inf), then r_t on the interval that r_n allows.
-- w: the largest row sum of the contact's own block (1 when it is zero).
-- The error is relative to Q = max q / w, or to max r when that is between Q and 100 Q.
-- The maxima of q and r run over all contacts; for this, each contact is put in units (a power of 4 relative to the first)
-- in which its own block is near 1.
local function exponent(x)
  local e = math.floor(math.log(x, 2)) + 1
  if 2.0 ^ e <= x then e = e + 1 end
  if 2.0 ^ (e - 1) > x then e = e - 1 end
  return e
end

function M.residual(p, r)
  local d, force, data, own_errors, first = p.dim, 0, 0, {}, nil
  for i = 1, p.nc do
    local base, u, own, terms = d * (i - 1), {}, 0, 0
    for a = 1, d do
      local row, sum, size = p.W[base + a], 0, abs(p.q[base + a])
      u[a] = p.q[base + a]
      for j = 1, d * p.nc do u[a], size = u[a] + row[j] * r[j], size + abs(row[j] * r[j]) end
      for b = 1, d do sum = sum + abs(row[base + b]) end
      own, terms = max(own, sum), max(terms, size)
    end
    if own == 0 then own = 1 end
    first = first or exponent(own)
    local unit = 2.0 ^ ((exponent(own) - first) // 2)
    terms = terms / own
    local slip, t = 0, {}
    for a = 2, d do slip = slip + u[a] * u[a] end
    for a = 2, d do t[a - 1] = r[base + a] - u[a] / own end
    local mu = type(p.mu) == "number" and p.mu or p.mu[i]
    local n, tangent
if d == 2 then -- an interval: no cone is needed, and mu does not multiply the slip
      n = max(0, r[base + 1] - u[1] / own)
      tangent = { max(-mu * n, math.min(mu * n, t[1])) }
    else
      n, tangent = project(mu, r[base + 1] - (u[1] + mu * sqrt(slip)) / own, t)
    end
    local e = (r[base + 1] - n) ^ 2
    for a = 2, d do e = e + (r[base + a] - tangent[a - 1]) ^ 2 end
    if e ~= e then return math.huge end
    for a = 1, d do
      terms = max(terms, abs(r[base + a]))
      force, data = max(force, unit * abs(r[base + a])), max(data, unit * abs(p.q[base + a]) / own)
    end
    own_errors[i] = { error = unit * max(sqrt(e), abs(math.min(r[base + 1], u[1] / own))), terms = unit * terms }
  end
  local worst = 0
  for _, own in ipairs(own_errors) do -- each contact against its own terms
    local size = math.min(own.terms, max(force, data))
    if size > 100 * data then worst = max(worst, (own.error + 2.2e-16 * size) / (100 * data))
    elseif own.error > 0 then worst = max(worst, own.error / size) end
  end
  return worst
end

-- Many bodies on a floor, each in touch with some before it: triplets of a sparse W = H M^-1 H' and q.
-- Contacts have no lever arms; nc is a multiple of 2.
function M.pile(dim, nc)
  local bodies, i, j, v, q = nc // 2, {}, {}, {}, {}
  local pairs_of, at = {}, {}
  for b = 1, bodies do
    pairs_of[#pairs_of + 1] = { b, b > 1 and random(max(1, b - 3), b - 1) or 0 }
    pairs_of[#pairs_of + 1] = { b, b > 4 and random(b - 4, b - 1) or 0 }
  end
  for c, pair in ipairs(pairs_of) do
    for side = 1, 2 do
      local b = pair[side]
      if b > 0 then
        at[b] = at[b] or {}
        at[b][#at[b] + 1] = { c, side == 1 and 1 or -1 }
      end
    end
  end
  local turn = {}
  for c = 1, nc do -- an orthonormal frame for each contact: rows normal, tangents
    local a = 0.6 * normal()
    turn[c] = dim == 2 and { { math.cos(a), math.sin(a) }, { -math.sin(a), math.cos(a) } }
      or { { math.cos(a), math.sin(a), 0 }, { -math.sin(a), math.cos(a), 0 }, { 0, 0, 1 } }
  end
  for k = 1, dim * nc do q[k] = 0 end
  for b = 1, bodies do
    local mass, fall = 0.5 + random(), { -0.1, 0.02 * normal(), 0.02 * normal() }
    for _, x in ipairs(at[b]) do
      for a = 1, dim do
        local row = dim * (x[1] - 1) + a
        for k = 1, dim do q[row] = q[row] + x[2] * turn[x[1]][a][k] * fall[k] end
        for _, y in ipairs(at[b]) do
          for c = 1, dim do
            local sum = 0
            for k = 1, dim do sum = sum + turn[x[1]][a][k] * turn[y[1]][c][k] end
            i[#i + 1], j[#j + 1], v[#v + 1] = row, dim * (y[1] - 1) + c, x[2] * y[2] * sum / mass
          end
        end
      end
    end
  end
  return { dim = dim, nc = nc, n = dim * nc, i = i, j = j, v = v, q = q, mu = 0.4 }
end

return M
