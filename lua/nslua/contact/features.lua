-- nslua.contact.features: contacts of corners and sides of two bodies in the plane, or of a body and the world. A
-- contact begins at the features that the scene has found, and goes on to those beside them: so it is also true
-- where a corner passes the end of a side before contacts are looked for again.

local sqrt, cos, sin, min, max, huge = math.sqrt, math.cos, math.sin, math.min, math.max, math.huge

-- An outline is the scene's list of corners (NsOutline in contact/solid.h), and n, their number: side k goes from the
-- corner k to the next one, the free side to the right. at: the corner or the side that touches. It is also where
-- distance_of notes things, as an evaluation makes no table.

-- The direction of a side, in the axes of the body, and its length.
local function side_of(o, k)
  local dx, dy = o[2 * k + 1] - o[2 * k - 1], o[2 * k + 2] - o[2 * k]
  local length = sqrt(dx * dx + dy * dy)
  return dx / length, dy / length, length
end

-- An outline at its place. k: the place of its body's coordinates in q (nil: the world).
local function put_at(o, q, k)
  if not k then o.cos, o.sin, o.x, o.y = 1, 0, 0, 0 return end
  local angle = q[k + 2]
  o.cos, o.sin, o.x, o.y = cos(angle), sin(angle), q[k], q[k + 1]
end

local function corner_at(o, k)
  local x, y = o[2 * k - 1], o[2 * k]
  return o.x + o.cos * x - o.sin * y, o.y + o.sin * x + o.cos * y
end

local function side_at(o, k)
  local ex, ey = side_of(o, k)
  return o.cos * ex - o.sin * ey, o.sin * ex + o.cos * ey
end

-- The sides of the corner k, each as the direction from the corner on, the outward normal and its number, up to the
-- next call for this outline.
local function sides_at(o, k)
  if not o.sides then o.sides, o.one, o.other = {}, {}, {} end
  local list, n = o.sides, 0
  list[2] = nil
  for side = max(1, k - 1), min(k, o.n - 1) do
    local ex, ey = side_at(o, side)
    local sign, place = side < k and -1 or 1, n == 0 and o.one or o.other
    place[1], place[2], place[3], place[4], place[5] = sign * ex, sign * ey, ey, -ex, side
    n = n + 1
    list[n] = place
  end
  return list
end

-- The length of a side at the corner k; 0: there is none. Corners whose distance is a smaller part of it are at one
-- place, where the way between them has no direction.
local coincide = 1e-9
local function size_at(o, k)
  if o.n == 1 then return 0 end
  local _, _, length = side_of(o, min(k, o.n - 1))
  return length
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
local found = {} -- the side so far, and the one by which the other corner goes on
local function try(sides, others, sign, dx, dy)
  local f = found
  for _, side in ipairs(sides) do
    local distance = sign * (dx * side[3] + dy * side[4])
    local holds, farther = behind(others, side[3], side[4])
    local is_over = sign * (dx * side[1] + dy * side[2]) >= 0
    local better = holds > f.level + same
    if not better and holds >= f.level - same then
      if is_over == f.over then better = distance > f.best else better = is_over end
    end
    if better then f.level, f.over, f.best, f.is_foreign, f.number = holds, is_over, distance, sign > 0, side[5] end
    if farther and distance > f.most then f.most, f.most_foreign, f.on = distance, sign > 0, farther end
  end
end

local function find_side(own, foreign, dx, dy, own_first, whole)
  local f = found
  f.level, f.over, f.best, f.is_foreign, f.number = -huge, false, -huge, nil, nil
  f.most, f.most_foreign, f.on = 0, nil, nil
  if own_first then try(own, foreign, -1, dx, dy) end
  try(foreign, own, 1, dx, dy)
  if not own_first then try(own, foreign, -1, dx, dy) end
  if whole and f.best < 0 and (not f.over or f.level < 0) and f.on then return f.most_foreign, nil, f.on end
  return f.is_foreign, f.number
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
      local apart = d > coincide * max(size_at(a, i), size_at(b, j))
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

-- What distance_of returns, from the features of the scene on.
local function distance_at(q, own, foreign, at, other, side)
  put_at(own, q, at)
  put_at(foreign, q, other)
  return distance_of(own, foreign, own.at, foreign.at, side)
end

-- Each returns a function of q that gives the same, at less cost while the features of the scene touch. distance_of
-- decides within the part `ends` of a side of its ends, and where a corner's sides have a sine below it.
local ends = 1e-6
local gaps = {}

function gaps.point_face(own, foreign, at, other)
  local i, j = own.at, foreign.at
  local cx, cy, fx, fy = own[2 * i - 1], own[2 * i], foreign[2 * j - 1], foreign[2 * j]
  local ex, ey, length = side_of(foreign, j)
  local first = j > 1 and ends * length or -huge
  local last = j + 1 < foreign.n and (1 - ends) * length or huge
  return function(q)
    local x, y, px, py, tx, ty = cx, cy, fx, fy, ex, ey
    if at then
      local angle = q[at + 2]
      local c, s = cos(angle), sin(angle)
      x, y = q[at] + c * cx - s * cy, q[at + 1] + s * cx + c * cy
    end
    if other then
      local angle = q[other + 2]
      local c, s = cos(angle), sin(angle)
      px, py = q[other] + c * fx - s * fy, q[other + 1] + s * fx + c * fy
      tx, ty = c * ex - s * ey, s * ex + c * ey
    end
    local dx, dy = x - px, y - py
    local way = dx * tx + dy * ty
    if way > first and way < last then return dx * ty - dy * tx, ty, -tx, x, y, 1, x, y, px, py end
    return distance_at(q, own, foreign, at, other, true)
  end
end
gaps.face_point = gaps.point_face

-- The directions from a corner along its sides, in the axes of its body; of none (0, 0), which counts as behind.
local function ways_from(o, k)
  local ax, ay, bx, by = 0, 0, 0, 0
  if k > 1 then ax, ay = side_of(o, k - 1) end
  if k < o.n then bx, by = side_of(o, k) end
  return -ax, -ay, bx, by
end

-- Whether all ways, of which a missing one is (0, 0), go back from (dx, dy), by more than the sine `ends`.
local function all_behind(ax, ay, bx, by, dx, dy, d)
  local least = -ends * d
  return (ax * dx + ay * dy < least or (ax == 0 and ay == 0)) and (bx * dx + by * dy < least or (bx == 0 and by == 0))
end

function gaps.point_point(own, foreign, at, other)
  local i, j = own.at, foreign.at
  local cx, cy, fx, fy = own[2 * i - 1], own[2 * i], foreign[2 * j - 1], foreign[2 * j]
  local ax, ay, bx, by = ways_from(own, i)
  local ux, uy, wx, wy = ways_from(foreign, j)
  local least = coincide * max(size_at(own, i), size_at(foreign, j))
  return function(q)
    local x, y, px, py, c, s, k, l = cx, cy, fx, fy, 1, 0, 1, 0
    if at then
      local angle = q[at + 2]
      c, s = cos(angle), sin(angle)
      x, y = q[at] + c * cx - s * cy, q[at + 1] + s * cx + c * cy
    end
    if other then
      local angle = q[other + 2]
      k, l = cos(angle), sin(angle)
      px, py = q[other] + k * fx - l * fy, q[other + 1] + l * fx + k * fy
    end
    local dx, dy = x - px, y - py
    local d = sqrt(dx * dx + dy * dy)
    if d > least and all_behind(ax, ay, bx, by, -c * dx - s * dy, s * dx - c * dy, d)
      and all_behind(ux, uy, wx, wy, k * dx + l * dy, k * dy - l * dx, d) then
      return d, dx / d, dy / d, x, y, 0, x, y, px, py
    end
    return distance_at(q, own, foreign, at, other, false)
  end
end

return function(ns)
  -- features: those of the scene; two: there is a second body.
  return function(features, two)
    local own, foreign = features.own, features.foreign
    local R1, R2 = own.R, foreign.R
    local at, other = 1, two and 4 or nil
    if features.shape == "face_point" then at, other = other, at end
    own.first = at == 1
    foreign.first = not own.first
    local gap = gaps[features.shape](own, foreign, at, other)
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
