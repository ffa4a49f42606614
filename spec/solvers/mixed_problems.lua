-- Problems of rows with bounds and contacts with friction, and the laws themselves as a judge of answers: sizes of what
-- they forbid, with no projection and no map.
local M = {}
local random, sqrt, abs, max, min, inf = math.random, math.sqrt, math.abs, math.max, math.min, math.huge

local function normal() return sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random()) end

local make = {
  equation = function() return {} end,
  unilateral = function() return { lower = 0 } end,
  relay = function() return { lower = -random(), upper = random() } end,
  plane = function() return { dim = 2, mu = random(0, 3) * 0.3 } end,
  space = function() return { dim = 3, mu = random(0, 3) * 0.3 } end,
}

-- The groups of a list of names, and their rows.
local function groups_of(names)
  local groups, n = {}, 0
  for k, name in ipairs(names) do
    groups[k] = make[name]()
    n = n + (groups[k].dim or 1)
  end
  return groups, n
end

-- W = H diag(1 / m) H', q = H v, H of n x dofs: positive definite for dofs >= n, else singular; q is in its range.
local function delassus(n, dofs)
  local H, W, q, mass, v = {}, {}, {}, {}, {}
  for k = 1, dofs do mass[k], v[k] = 0.2 + random(), normal() end
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
      W[i][j] = 0
      for k = 1, dofs do W[i][j] = W[i][j] + H[i][k] * H[j][k] / mass[k] end
    end
  end
  return W, q
end

-- kind: "definite", "singular" or "skewed" (definite, not symmetric).
function M.problem(kind, names)
  local groups, n = groups_of(names)
  local W, q = delassus(n, kind == "singular" and max(1, n - 1 - n // 3) or n + 2)
  for i = 1, kind == "skewed" and n or 0 do
    for j = 1, i - 1 do
      local s = 0.1 * normal()
      W[i][j], W[j][i] = W[i][j] + s, W[j][i] - s
    end
  end
  return { W = W, q = q, groups = groups }
end

-- What a row's law forbids: z off its bounds, w of the wrong sign.
local function row_violation(group, z, w, R, U)
  local lower, upper = group.lower or -inf, group.upper or inf
  local e = max(lower - z, z - upper, 0) / R
  if lower == upper then return e end
  -- w > 0 wants z at the lower bound, w < 0 at the upper one: the smaller of the two that should be 0
  return max(e, min(max(w, 0) / U, (z - lower) / R), min(max(-w, 0) / U, (upper - z) / R))
end

-- What Coulomb's law forbids: penetration, pull, a force out of the cone, one at a distance, one that is not against the
-- slip.
local function contact_violation(mu, z, w, R, U)
  local force, slip, misfit = 0, 0, 0
  for k = 2, #z do force, slip = force + z[k] ^ 2, slip + w[k] ^ 2 end
  force, slip = sqrt(force), sqrt(slip)
  for k = 2, #z do misfit = misfit + (mu * z[1] * w[k] + slip * z[k]) ^ 2 end
  return max(-z[1] / R, -w[1] / U, (force - mu * z[1]) / R, min(z[1] / R, w[1] / U), sqrt(misfit) / (R * U))
end

-- The largest violation, in the size of each group's own impulses and of the terms of its w.
function M.violation(p, z)
  local worst, row = 0, 0
  for _, group in ipairs(p.groups) do
    local dim, own, R, U, r, u = group.dim or 1, 0, 0, 0, {}, {}
    for a = 1, dim do
      local line, sum = p.W[row + a], p.q[row + a]
      local size = abs(sum)
      for j = 1, #p.q do sum, size = sum + line[j] * z[j], size + abs(line[j] * z[j]) end
      if sum ~= sum or size == inf then return inf end
      r[a], u[a], own, U = z[row + a], sum, max(own, abs(line[row + a])), max(U, size)
    end
    for a = 1, dim do R = max(R, abs(r[a])) end
    if own > 0 then R = max(R, U / own) end
    R, U = max(R, 1e-300), max(U, own * R, 1e-300)
    local e = dim == 1 and row_violation(group, r[1], u[1], R, U) or contact_violation(group.mu, r, u, R, U)
    if e ~= e then return inf end
    worst, row = max(worst, e), row + dim
  end
  return worst
end

M.lists = {
  rows = { "equation", "unilateral", "relay", "unilateral" },
  contact_plane = { "plane" },
  contact_space = { "space" },
  plane = { "plane", "plane", "plane" },
  space = { "space", "space", "space" },
  joints_plane = { "equation", "plane", "plane", "equation" },
  joints_space = { "equation", "space", "space", "equation" },
  stops_plane = { "unilateral", "plane", "equation", "plane" },
  stops_space = { "unilateral", "space", "equation", "space" },
  motors_plane = { "relay", "plane", "equation", "plane" },
  motors_space = { "relay", "space", "equation", "space" },
  both = { "plane", "space", "plane" },
  all = { "plane", "relay", "space", "unilateral", "equation" },
}
M.names = {}
for name in pairs(M.lists) do M.names[#M.names + 1] = name end
table.sort(M.names)

return M
