-- nslua.contact.features: contacts of corners and sides of two bodies in the plane, or of a body and the world. A
-- contact begins at the features that the scene has found, and goes on to those beside them: so it is also true
-- where a corner passes the end of a side before contacts are looked for again.

local sqrt, cos, sin, min, huge = math.sqrt, math.cos, math.sin, math.min, math.huge

-- Of the scene's outline (NsOutline in contact/solid.h) corners and sides: the corner k, and the side from there to
-- the next one, with its direction and length; the free side is to the right. at: the corner or the side that
-- touches.
local function outline(list)
  local o = { n = #list // 2, at = list.at, R = list.R, chain = list.chain }
  for k = 1, o.n do o[k] = { x = list[2 * k - 1], y = list[2 * k] } end
  for k = 1, o.n - 1 do
    local dx, dy = o[k + 1].x - o[k].x, o[k + 1].y - o[k].y
    o[k].length = sqrt(dx * dx + dy * dy)
    o[k].ex, o[k].ey = dx / o[k].length, dy / o[k].length
  end
  return o
end

-- An outline at its place. k: the place of its body's coordinates in q (nil: the world).
local function put_at(o, q, k)
  if not k then o.cos, o.sin, o.x, o.y = 1, 0, 0, 0 return end
  o.cos, o.sin, o.x, o.y = cos(q[k + 2]), sin(q[k + 2]), q[k], q[k + 1]
end

local function corner_at(o, k)
  local p = o[k]
  return o.x + o.cos * p.x - o.sin * p.y, o.y + o.sin * p.x + o.cos * p.y
end

local function side_at(o, k)
  local p = o[k]
  return o.cos * p.ex - o.sin * p.ey, o.sin * p.ex + o.cos * p.ey
end

-- The sides of the corner k, each as the direction from the corner on and the outward normal.
local function sides_at(o, k)
  local list = {}
  for side = math.max(1, k - 1), min(k, o.n - 1) do
    local ex, ey = side_at(o, side)
    local sign = side < k and -1 or 1
    list[#list + 1] = { sign * ex, sign * ey, ey, -ex, side }
  end
  return list
end

-- The length of a side at the corner k; 0: there is none. Corners whose distance is a smaller part of it are at one
-- place, where the way between them has no direction.
local coincide = 1e-9
local function size_at(o, k)
  local side = o[min(k, o.n - 1)]
  return side and side.length or 0
end

-- The least component of the sides along (nx, ny), or 0, and the number of its side: below 0 the corner is not the
-- last point of its body against it.
local same = 1e-9 -- sines of angles below are those of parallel sides
local function behind(sides, nx, ny)
  local least, number = -same, nil
  for _, side in ipairs(sides) do
    local part = side[1] * nx + side[2] * ny
    if part < least then least, number = part, side[5] end
  end
  return number and least or 0, number
end

-- Whether the corner of a body is the nearest point of its sides to one on the way (dx, dy) from it.
local function is_nearest(sides, dx, dy)
  for _, side in ipairs(sides) do
    if side[1] * dx + side[2] * dy >= 0 then return false end
  end
  return true
end

-- Of two corners, (dx, dy) apart: the side of either one that the other corner is over, by separating axes
-- (Ericson, Real-Time Collision Detection, 2005, ch. 5). First those count behind which the other body is, then
-- those that have the other corner over them, then the distance. Returns whether it is one of `foreign`, and its
-- number. It is the same one for both orders of the corners: several contacts of two bodies may have gone on to the
-- same corners. No number: the bodies are apart at other corners; then the last result is the side by which the
-- other corner goes there. Corners of a polyline have contacts of their own (whole is false).
local function find_side(own, foreign, dx, dy, own_first, whole)
  local level, over, best, is_foreign, number = -huge, false, -huge, nil, nil
  local most, most_foreign, on = 0, nil, nil
  local function try(sides, others, sign)
    for _, side in ipairs(sides) do
      local distance = sign * (dx * side[3] + dy * side[4])
      local holds, farther = behind(others, side[3], side[4])
      local is_over = sign * (dx * side[1] + dy * side[2]) >= 0
      local better = holds > level + same
      if not better and holds >= level - same then
        if is_over == over then better = distance > best else better = is_over end
      end
      if better then level, over, best, is_foreign, number = holds, is_over, distance, sign > 0, side[5] end
      if farther and distance > most then most, most_foreign, on = distance, sign > 0, farther end
    end
  end
  if own_first then try(own, foreign, -1) end
  try(foreign, own, 1)
  if not own_first then try(own, foreign, -1) end
  if whole and best < 0 and (not over or level < 0) and on then return most_foreign, nil, on end
  return is_foreign, number
end

-- The distance of the outlines `a` and `b`, without their rounding, from the corner i of a and the corner or (side)
-- the side j of b on; the normal, which points to a; and the point of a that touches. Then how they touch: two
-- corners (0), a corner of a and a side of b (1), or the other way round (-1); the touching corner of a, or of the
-- one that has it, and the corner of the other one, or the start of its side.
local function distance_of(a, b, i, j, side)
  local sign, from = 1, nil -- -1: a and b are exchanged; from: the corner of b that it came from
  local most = a.n + b.n
  for step = 1, most do
    local x, y = corner_at(a, i)
    local px, py = corner_at(b, j)
    if not side then
      local dx, dy = x - px, y - py
      local own, foreign, d = sides_at(a, i), sides_at(b, j), sqrt(dx * dx + dy * dy)
      local apart = d > coincide * math.max(size_at(a, i), size_at(b, j))
      if apart and is_nearest(own, -dx, -dy) and is_nearest(foreign, dx, dy) then
        if sign > 0 then return d, dx / d, dy / d, x, y, 0, x, y, px, py end
        return d, -dx / d, -dy / d, px, py, 0, px, py, x, y
      end
      local is_foreign, number, on = find_side(own, foreign, dx, dy, a.first, not (a.chain or b.chain))
      if not number and not on then error("the corners coincide: there is no normal", 0) end
      if not is_foreign then a, b, i, j, sign = b, a, j, i, -sign end
      if on and not number and step < most then i = on < i and i - 1 or i + 1 goto next end
      from, j = j, number or j
      x, y = corner_at(a, i)
      px, py = corner_at(b, j)
    end
    local ex, ey = side_at(b, j)
    local d, after = (x - px) * ey - (y - py) * ex, nil
    local before = j > 1 and j ~= from and (x - px) * ex + (y - py) * ey < 0
    if j + 1 < b.n and j + 1 ~= from then
      local rx, ry = corner_at(b, j + 1)
      after = (x - rx) * ex + (y - ry) * ey > 0 -- as is_nearest finds it: with the same rounding
    end
    if (not before and not after) or step == most then
      if sign > 0 then return d, ey, -ex, x, y, 1, x, y, px, py end
      return d, -ey, ex, x - d * ey, y + d * ex, -1, x, y, px, py
    end
    j, side = after and j + 1 or j, false
    ::next::
  end
end

-- The velocity of the body's point (x, y), and its angular velocity; k: as in put_at.
local function velocity_of(q, v, k, x, y)
  if not k then return 0, 0, 0 end
  local w = v[k + 2]
  return v[k] - w * (y - q[k + 1]), v[k + 1] + w * (x - q[k]), w
end

-- The rates of what distance_of returns: of the distance, of the normal (nx, ny), and of the touching point of the
-- first body, which is at `at` in q, as the second one is at `other`.
local function rates_of(q, v, at, other, d, nx, ny, kind, x, y, px, py)
  if kind < 0 then at, other = other, at end -- the corner belongs to the second body
  local vx, vy = velocity_of(q, v, at, x, y)
  local ux, uy, w = velocity_of(q, v, other, px, py)
  local rx, ry = vx - ux, vy - uy
  if kind == 0 then
    local rate = rx * nx + ry * ny
    return rate, (rx - rate * nx) / d, (ry - rate * ny) / d, vx, vy
  end
  local mx, my = -w * ny, w * nx
  local rate = kind * (rx * nx + ry * ny + (x - px) * mx + (y - py) * my)
  if kind > 0 then return rate, mx, my, vx, vy end
  return rate, mx, my, vx + rate * nx + d * mx, vy + rate * ny + d * my
end

return function(ns)
  -- features: those of the scene; two: there is a second body.
  return function(features, two)
    local own, foreign = outline(features.own), outline(features.foreign)
    local side, R1, R2 = features.shape ~= "point_point", own.R, foreign.R
    local at, other = 1, two and 4 or nil
    if features.shape == "face_point" then at, other = other, at end
    own.first = at == 1
    foreign.first = not own.first
    local function gap(q)
      put_at(own, q, at)
      put_at(foreign, q, other)
      return distance_of(own, foreign, own.at, foreign.at, side)
    end
    -- The rows of one body for its point (x, y), along (nx, ny) and the tangent (ny, -nx).
    local function put(C, q, k, x, y, nx, ny)
      if not k then return end
      local a, b = x - q[k], y - q[k + 1]
      C[1][k], C[1][k + 1], C[1][k + 2] = nx, ny, a * ny - b * nx
      C[2][k], C[2][k + 1], C[2][k + 2] = ny, -nx, -a * nx - b * ny
    end
    -- Their rates, with those of the point, (u, w), and of the normal.
    local function put_rate(D, q, v, k, x, y, nx, ny, u, w, mx, my)
      if not k then return end
      local a, b, c, d = x - q[k], y - q[k + 1], u - v[k], w - v[k + 1]
      D[1][k], D[1][k + 1], D[1][k + 2] = mx, my, c * ny + a * my - d * nx - b * mx
      D[2][k], D[2][k + 1], D[2][k + 2] = my, -mx, -c * nx - a * mx - d * ny - b * my
    end
    return ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = gap(q) - R1 - R2 end,
      Jachq = function(q, _, C)
        local d, nx, ny, x, y = gap(q)
        put(C, q, at, x - R1 * nx, y - R1 * ny, nx, ny) -- the same rows in both orders of the bodies
        put(C, q, other, x - (d - R2) * nx, y - (d - R2) * ny, -nx, -ny)
      end,
      dotJachq = function(q, _, v, D)
        local d, nx, ny, x, y, kind, cx, cy, px, py = gap(q)
        local rate, mx, my, u, w = rates_of(q, v, at, other, d, nx, ny, kind, cx, cy, px, py)
        put_rate(D, q, v, at, x - R1 * nx, y - R1 * ny, nx, ny, u - R1 * mx, w - R1 * my, mx, my)
        local l = d - R2
        put_rate(D, q, v, other, x - l * nx, y - l * ny, -nx, -ny,
          u - rate * nx - l * mx, w - rate * ny - l * my, -mx, -my)
      end,
      name = features.shape,
    }
  end
end
