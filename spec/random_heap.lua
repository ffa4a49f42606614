-- Contact problems of heaps of disks: W = H M^-1 H' of disks on a grid, with contacts to their neighbours and the floor;
-- q: the effect of gravity in a step. Hyperstatic: W is singular in all but the smallest heaps.
local ns = require "nslua"

local random_heap = {}

-- The rows of H of contact (normal nx, ny) between disks a and b (nil: the ground), columns of 3 each.
local function contact_rows(H, row, a, b, nx, ny)
  for _, side in ipairs { { a, -1 }, { b, 1 } } do
    local k, sign = side[1], side[2]
    if k then
      local at = 3 * (k - 1)
      H[row][at + 1], H[row][at + 2] = sign * nx, sign * ny
      H[row + 1][at + 1], H[row + 1][at + 2], H[row + 1][at + 3] = sign * ny, -sign * nx, 1
    end
  end
end

-- columns x rows disks of radius 1 and random masses on a leaning grid, in contact with their neighbours.
function random_heap.problem(columns, rows, mu)
  local pairs_of, n = {}, columns * rows
  for k = 1, n do
    local i, j = (k - 1) % columns, (k - 1) // columns
    local lean = 0.3 * (math.random() - 0.5)
    if i < columns - 1 then pairs_of[#pairs_of + 1] = { k, k + 1, math.cos(lean), math.sin(lean) } end
    local below = j > 0 and k - columns or nil
    pairs_of[#pairs_of + 1] = { below, k, math.sin(lean), math.cos(lean) }
    if i == 0 then pairs_of[#pairs_of + 1] = { nil, k, 1, 0 } end
    if i == columns - 1 then pairs_of[#pairs_of + 1] = { nil, k, -1, 0 } end
  end
  local m = 2 * #pairs_of
  local H, inverse, free, groups = ns.zeros(m, 3 * n), ns.zeros(3 * n, 3 * n), ns.zeros(3 * n), {}
  for c, p in ipairs(pairs_of) do
    contact_rows(H, 2 * c - 1, p[1], p[2], p[3], p[4])
    groups[c] = { dim = 2, mu = mu }
  end
  for k = 1, n do
    local mass = 0.5 + math.random()
    for d = 1, 3 do inverse[3 * k - 3 + d][3 * k - 3 + d] = (d == 3 and 2 or 1) / mass end
    free[3 * k - 2], free[3 * k - 1] = 0.2 * (math.random() - 0.5), -1 + 0.2 * (math.random() - 0.5)
  end
  return { W = H * inverse * H:transpose(), q = H * free, groups = groups, n = m }
end

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

-- A unit vector near the axis, and two across.
local function frame_near(axis, lean)
  local n = { 0, 0, 0 }
  for k = 1, 3 do n[k] = lean * (math.random() - 0.5) end
  n[axis] = 0
  n[axis] = math.sqrt(1 - n[1] ^ 2 - n[2] ^ 2 - n[3] ^ 2)
  local t = axis == 3 and { 0, -n[3], n[2] } or { -n[2], n[1], 0 }
  local size = math.sqrt(t[1] ^ 2 + t[2] ^ 2 + t[3] ^ 2)
  for k = 1, 3 do t[k] = t[k] / size end
  return { n, t, cross(n, t) }
end

-- The problem of contacts of bodies with a mass and { contact, rows of H } each, under gravity; inertia: 1 / (mass times it).
local function fc3d(bodies, contacts, inertia, mu)
  local i, j, v, q, n = {}, {}, {}, ns.zeros(3 * contacts), 3 * contacts
  for _, body in ipairs(bodies) do
    for _, own in ipairs(body) do
      for r, f in ipairs(own[2]) do
        local row = 3 * own[1] - 3 + r
        q[row] = q[row] - f[3]
        for _, other in ipairs(body) do
          for s, g in ipairs(other[2]) do
            local k = #v + 1
            i[k], j[k] = row, 3 * other[1] - 3 + s
            v[k] = (f[1] * g[1] + f[2] * g[2] + f[3] * g[3] + inertia * (f[4] * g[4] + f[5] * g[5] + f[6] * g[6])) / body.mass
          end
        end
      end
    end
  end
  return { W = ns.sparse { rows = n, cols = n, i = i, j = j, v = v }, q = q, mu = mu }
end

-- columns x columns x layers rotating spheres of radius 1 and random masses on a leaning grid, for fc3d: W is sparse.
function random_heap.spheres(columns, layers, mu, lean)
  local count, contacts, at = columns * columns * layers, 0, {}
  for body = 1, count do at[body] = {} end
  for body = 1, count do
    local place = { (body - 1) % columns, (body - 1) // columns % columns, (body - 1) // columns ^ 2 }
    for axis, step in ipairs { 1, columns, columns * columns } do
      local frame = frame_near(axis, lean)
      contacts = contacts + 1
      for side, other in pairs { [1] = body, [-1] = place[axis] > 0 and body - step or nil } do
        local rows = {}
        for r, f in ipairs(frame) do
          local turn = cross(frame[1], f)
          rows[r] = { side * f[1], side * f[2], side * f[3], -turn[1], -turn[2], -turn[3] }
        end
        table.insert(at[other], { contacts, rows })
      end
    end
  end
  for body = 1, count do at[body].mass = 0.5 + math.random() end
  return fc3d(at, contacts, 2.5, mu)
end

-- An arch of blocks, whose masses differ by the ratio: four contacts in each of its joints, and at both ends.
function random_heap.arch(blocks, mu, ratio)
  local at, contacts = {}, 0
  local function place(turn, radius, across) return { -radius * math.cos(turn), across, radius * math.sin(turn) } end
  for body = 1, blocks do at[body] = { mass = ratio ^ math.random() } end
  for joint = 0, blocks do
    local turn = math.pi * joint / blocks
    local n, radial = { math.sin(turn), 0, math.cos(turn) }, { -math.cos(turn), 0, math.sin(turn) }
    for corner = 0, 3 do
      contacts = contacts + 1
      local point = place(turn, 4.5 + corner % 2, corner // 2 - 0.5)
      for side, other in pairs { [1] = at[joint + 1], [-1] = at[joint] } do
        local centre, arm, rows = place(math.pi * (joint + (side - 1) / 2 + 0.5 * side) / blocks, 5, 0), {}, {}
        for k = 1, 3 do arm[k] = point[k] - centre[k] end
        for r, f in ipairs { n, radial, { 0, 1, 0 } } do
          local turned = cross(arm, f)
          rows[r] = { side * f[1], side * f[2], side * f[3], side * turned[1], side * turned[2], side * turned[3] }
        end
        table.insert(other, { contacts, rows })
      end
    end
  end
  return fc3d(at, contacts, 10, mu)
end

-- A tower of boxes, whose masses differ by the ratio and which are shifted at random: four contacts under each.
function random_heap.tower(boxes, mu, ratio)
  local at, shift = {}, {}
  for body = 1, boxes do
    at[body] = { mass = ratio ^ math.random() }
    shift[body] = { 0.1 * (math.random() - 0.5), 0.1 * (math.random() - 0.5) }
  end
  for contact = 1, 4 * boxes do
    local above, corner = (contact + 3) // 4, contact % 4
    for side, body in pairs { [1] = above, [-1] = above > 1 and above - 1 or nil } do
      local x, y = 0.8 * (corner // 2) - 0.4 - shift[body][1], 0.8 * (corner % 2) - 0.4 - shift[body][2]
      local rows = {}
      for r, f in ipairs { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } } do
        local turned = cross({ x, y, -0.5 * side }, f)
        rows[r] = { side * f[1], side * f[2], side * f[3], side * turned[1], side * turned[2], side * turned[3] }
      end
      table.insert(at[body], { contact, rows })
    end
  end
  return fc3d(at, 4 * boxes, 6, mu)
end

-- The largest violation of Coulomb's law, from its definition; forces and velocities are of the order of 1.
function random_heap.breach(p, z)
  local w, worst = p.W * z + p.q, 0
  for c, group in ipairs(p.groups) do
    local rn, rt, un, ut = z[2 * c - 1], z[2 * c], w[2 * c - 1], w[2 * c]
    worst = math.max(worst, -rn, -un, math.min(rn, un), math.abs(rt) - group.mu * rn)
    worst = math.max(worst, math.min(math.abs(ut), math.abs(rt + group.mu * rn * (ut > 0 and 1 or -1))))
  end
  return worst
end

return random_heap
