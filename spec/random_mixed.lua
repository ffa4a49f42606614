-- Random problems of rows and contacts, and a judge of answers that shares no code with the engine.
local M = {}
local random, sqrt, abs, max, min, inf = math.random, math.sqrt, math.abs, math.max, math.min, math.huge

local normal = require "random_numbers".normal

M.groups = {}

function M.groups.equation() return { dim = 1 } end
function M.groups.unilateral() return { dim = 1, lower = 0 } end
function M.groups.above() return { dim = 1, lower = normal() } end
function M.groups.below() return { dim = 1, upper = normal() } end
function M.groups.between()
  local lower = normal()
  return { dim = 1, lower = lower, upper = lower + 2 * random() }
end
function M.groups.fixed()
  local x = normal()
  return { dim = 1, lower = x, upper = x }
end
function M.groups.plane() return { dim = 2, mu = ({ 0, 0.3, 1, random() })[random(4)] } end
function M.groups.space() return { dim = 3, mu = ({ 0, 0.3, 1, random() })[random(4)] } end

-- Lists of names of groups.
M.kinds = {
  rows = { "equation", "unilateral", "above", "below", "between", "fixed" },
  plane = { "plane" },
  space = { "space" },
  joints_plane = { "equation", "plane" },
  joints_space = { "equation", "space" },
  stops_plane = { "unilateral", "plane", "equation" },
  stops_space = { "unilateral", "space", "equation" },
  motors_plane = { "between", "plane", "above", "below", "fixed", "equation" },
  motors_space = { "between", "space", "above", "below", "fixed", "equation" },
  both = { "plane", "space" },
  all = { "plane", "space", "between", "above", "below", "fixed", "equation", "unilateral" },
}
M.names = {}
for name in pairs(M.kinds) do M.names[#M.names + 1] = name end
table.sort(M.names)

-- `count` groups; every name is used once before any is repeated.
function M.list(kind, count)
  local names, groups, n = M.kinds[kind], {}, 0
  for k = 1, count do
    groups[k] = M.groups[k <= #names and names[k] or names[random(#names)]]()
    n = n + groups[k].dim
  end
  return groups, n
end

-- W = H diag(1 / m) H' (+ a skew part) with H n x dofs, q = H v.
local function delassus(n, dofs, skew)
  local H, W, q, mass = {}, {}, {}, {}
  for k = 1, dofs do mass[k] = 0.2 + random() end
  local v = {}
  for k = 1, dofs do v[k] = 2 * normal() end
  for i = 1, n do
    H[i], q[i] = {}, 0
    for k = 1, dofs do
      H[i][k] = normal()
      q[i] = q[i] + H[i][k] * v[k]
    end
  end
  for i = 1, n do
    W[i] = {}
    for j = 1, n do
      local sum = 0
      for k = 1, dofs do sum = sum + H[i][k] * H[j][k] / mass[k] end
      W[i][j] = sum
    end
  end
  for i = 1, n do
    for j = 1, i - 1 do
      local s = skew * normal()
      W[i][j], W[j][i] = W[i][j] + s, W[j][i] - s
    end
  end
  return W, q
end

M.matrices = {}
function M.matrices.regular(n) return delassus(n, n + 2, 0) end
function M.matrices.skewed(n) return delassus(n, n + 2, 0.1) end
-- More rows than degrees of freedom: redundant rows and contacts, which some motion satisfies.
function M.matrices.redundant(n) return delassus(n, max(1, (2 * n) // 3), 0) end

-- Equations in pairs without diagonal: a regular skew block, coupled to the contacts by W_ec or -W_ec.
function M.matrices.saddle(n, groups)
  local W, q = delassus(n, n + 2, 0)
  local row, list, sign = 0, {}, random(2) == 1 and 1 or -1
  for _, group in ipairs(groups) do
    row = row + group.dim
    if group.dim == 1 and not group.lower and not group.upper then list[#list + 1] = row end
  end
  if #list % 2 == 1 then list[#list] = nil end
  for _, i in ipairs(list) do
    for j = 1, n do W[j][i] = sign * W[i][j] end
  end
  for k, i in ipairs(list) do
    for l = 1, k do
      local s = l == k and 0 or k % 2 == 0 and l == k - 1 and 2 or 0.1 * normal()
      W[i][list[l]], W[list[l]][i] = s, -s
    end
  end
  return W, q
end

function M.problem(kind, matrix, count)
  local groups, n = M.list(kind, count)
  local W, q = M.matrices[matrix](n, groups)
  return { groups = groups, n = n, W = W, q = q, kind = kind, matrix = matrix }
end

-- w = W z + q and |W| |z| + |q|.
local function output(p, z)
  local w, size = {}, {}
  for i = 1, p.n do
    local sum, all = p.q[i], abs(p.q[i])
    for j = 1, p.n do
      sum = sum + p.W[i][j] * z[j]
      all = all + abs(p.W[i][j] * z[j])
    end
    w[i], size[i] = sum, all
  end
  return w, size
end
M.output = output

-- The violation of a row's law, relative to |W| |z| + |q|.
local function row_error(group, z, w, size)
  local lower, upper = group.lower or -inf, group.upper or inf
  if not (z >= lower and z <= upper) then return inf end
  if lower == upper then return 0 end
  local wrong = z == lower and max(0, -w) or z == upper and max(0, w) or abs(w)
  return wrong == 0 and 0 or wrong / size
end

-- Coulomb's law in three parts: complementarity of the gap, the cone, the force opposite to the slip.
local function contact_error(mu, scale, r, u)
  local force, slip, along = 0, 0, 0
  for k = 2, #r do
    force, slip, along = force + r[k] ^ 2, slip + u[k] ^ 2, along + r[k] * u[k]
  end
  force, slip = sqrt(force), sqrt(slip)
  local size = 0 -- of r and of u, in the units of r
  for k = 1, #r do size = max(size, abs(r[k]), abs(u[k]) * scale) end
  if size == 0 then return 0, 0 end
  local e = max(-r[1], -u[1] * scale, force - mu * r[1], abs(min(r[1], u[1] * scale)))
  -- mu r_n |u_T| + r_T u_T = 0 and that the force is on the cone where there is slip: both as the smaller of two
  e = max(e, min((mu * r[1] * slip + along) * scale / size, slip * scale))
  return e, size
end

-- The largest violation of a law, relative to the numbers of the group (rows) or of all contacts (contacts).
function M.residual(p, z)
  local w, size = output(p, z)
  local rows, worst, largest, row = 0, 0, 0, 0
  for _, group in ipairs(p.groups) do
    local e
    if group.dim == 1 then
      rows = max(rows, row_error(group, z[row + 1], w[row + 1], size[row + 1]))
    else
      local r, u, own = {}, {}, 0
      for a = 1, group.dim do
        r[a], u[a] = z[row + a], w[row + a]
        for b = 1, group.dim do own = max(own, abs(p.W[row + a][row + b])) end
        if size[row + a] ~= size[row + a] then return inf end
      end
      local scale = own > 0 and 1 / own or 1
      e = contact_error(group.mu, scale, r, u)
      worst = max(worst, e)
      for a = 1, group.dim do largest = max(largest, abs(r[a]), scale * size[row + a]) end
    end
    row = row + group.dim
  end
  return max(rows, worst > 0 and worst / largest or 0)
end

return M
