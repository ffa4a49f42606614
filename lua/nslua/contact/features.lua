-- nslua.contact.features: contacts of corners and sides of two bodies in the plane, or of a body and the world. The
-- data are as in contact/touch.h: `corner` of one body, `point` and `normal` of the other one, in their axes; of two
-- corners `along` and `normal` tell their sides.

local sqrt, cos, sin, min, huge = math.sqrt, math.cos, math.sin, math.min, math.huge

-- A point of a body in the plane, and a direction; k: the place of its coordinates in q (nil: the world).
local function place(q, k, p)
  if not k then return p[1], p[2] end
  local c, s = cos(q[k + 2]), sin(q[k + 2])
  return q[k] + c * p[1] - s * p[2], q[k + 1] + s * p[1] + c * p[2]
end

local function turn(q, k, n)
  if not k then return n[1], n[2] end
  local c, s = cos(q[k + 2]), sin(q[k + 2])
  return c * n[1] - s * n[2], s * n[1] + c * n[2]
end

-- The two sides of a corner as directions from it on and outward normals, in the axes of its body, from the mean of
-- the directions; none of a point.
local function sides_of(mean)
  local x, y = mean and mean[1] or 0, mean and mean[2] or 0
  local square = x * x + y * y
  if square == 0 then return {} end
  local c = sqrt(square)
  local sine = 1 - square > 1e-14 and sqrt(1 - square) or 0 -- rounding of 1: both sides are one, of a segment
  local ux, uy = x / c, y / c
  return {
    { { x - sine * uy, y + sine * ux }, { -c * uy - sine * ux, c * ux - sine * uy } },
    { { x + sine * uy, y - sine * ux }, { c * uy - sine * ux, -c * ux - sine * uy } },
  }
end

local function turn_sides(q, k, sides)
  local list = {}
  for i, side in ipairs(sides) do
    local ex, ey = turn(q, k, side[1])
    local nx, ny = turn(q, k, side[2])
    list[i] = { ex, ey, nx, ny }
  end
  return list
end

-- The least component of the sides along (nx, ny): below 0 the corner is not the last point of its body against it.
-- Sines of angles below 1e-9 are those of parallel sides.
local function behind(sides, nx, ny)
  local least = 0
  for _, side in ipairs(sides) do least = min(least, side[1] * nx + side[2] * ny) end
  return least > -1e-9 and 0 or least
end

-- Whether the corner of a body is the nearest point of its sides to one on the way (dx, dy) from it.
local function is_nearest(q, k, sides, dx, dy)
  if not sides[1] then return true end
  if k then
    local c, s = cos(q[k + 2]), sin(q[k + 2])
    dx, dy = c * dx + s * dy, c * dy - s * dx
  end
  local one, other = sides[1][1], sides[2][1]
  return one[1] * dx + one[2] * dy <= 0 and other[1] * dx + other[2] * dy <= 0
end

-- Each returns the distance of the corner from the other feature, the normal that points to the corner, and where the
-- first body touches, when it is not at the corner.
local distances = {
  point_face = function(q, _, other, f, x, y)
    local px, py = place(q, other, f.point)
    local nx, ny = turn(q, other, f.normal)
    return (x - px) * nx + (y - py) * ny, nx, ny
  end,
  -- The distance of what the sides of both corners go on to: so it is also true when one comes over a side of the
  -- other before contacts are looked for again. By separating axes: Ericson, Real-Time Collision Detection, 2005,
  -- ch. 5.
  point_point = function(q, at, other, f, x, y)
    local px, py = place(q, other, f.point)
    local dx, dy = x - px, y - py
    local d = sqrt(dx * dx + dy * dy)
    if d > 0 and is_nearest(q, at, f.own, -dx, -dy) and is_nearest(q, other, f.foreign, dx, dy) then
      return d, dx / d, dy / d
    end
    local own, foreign = turn_sides(q, at, f.own), turn_sides(q, other, f.foreign)
    local level, best, mx, my, first = -huge, -huge, nil, nil, nil
    local function try(sides, others, sign)
      for _, side in ipairs(sides) do
        local nx, ny = side[3], side[4]
        local distance, holds = sign * (dx * nx + dy * ny), behind(others, nx, ny)
        if holds > level or (holds == level and distance > best) then
          level, best, mx, my, first = holds, distance, sign * nx, sign * ny, sign > 0
        end
      end
    end
    try(foreign, own, 1)
    try(own, foreign, -1)
    if not mx then error("the corners coincide: there is no normal", 0) end
    if first then return best, mx, my end
    return best, mx, my, px + best * mx, py + best * my
  end,
}
distances.face_point = distances.point_face

return function(ns)
  -- features: the options of the relation, as the scene gives them; two: there is a second body.
  return function(features, two)
    local distance, R1, R2 = distances[features.shape], features.R or features.R1, features.R2 or 0
    local at, other = 1, two and 4 or nil
    if features.shape == "face_point" then at, other = other, at end
    local data = { corner = features.corner, point = features.point, normal = features.normal,
      own = sides_of(features.along), foreign = sides_of(features.normal) }
    local function gap(q)
      local x, y = place(q, at, data.corner)
      local d, nx, ny, cx, cy = distance(q, at, other, data, x, y)
      return d, nx, ny, cx or x, cy or y
    end
    -- The rows of one body for its point (x, y), along (nx, ny) and the tangent (ny, -nx).
    local function put(C, q, k, x, y, nx, ny)
      if not k then return end
      local a, b = x - q[k], y - q[k + 1]
      C[1][k], C[1][k + 1], C[1][k + 2] = nx, ny, a * ny - b * nx
      C[2][k], C[2][k + 1], C[2][k + 2] = ny, -nx, -a * nx - b * ny
    end
    return ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = gap(q) - R1 - R2 end,
      Jachq = function(q, _, C)
        local d, nx, ny, x, y = gap(q)
        put(C, q, at, x - R1 * nx, y - R1 * ny, nx, ny) -- the same rows in both orders of the bodies
        put(C, q, other, x - (d - R2) * nx, y - (d - R2) * ny, -nx, -ny)
      end,
      name = features.shape,
    }
  end
end
