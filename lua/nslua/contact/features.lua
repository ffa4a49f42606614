-- nslua.contact.features: contacts of corners and sides of two bodies in the plane, or of a body and the world. The
-- data are as in contact/touch.h: `corner` of one body, `point` and `normal` of the other one, in their axes.

local sqrt, cos, sin = math.sqrt, math.cos, math.sin

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

-- Each returns the distance of the corner from the other feature, and the normal that points to the corner.
local distances = {
  point_face = function(q, at, other, f, x, y)
    local px, py = place(q, other, f.point)
    local nx, ny = turn(q, other, f.normal)
    return (x - px) * nx + (y - py) * ny, nx, ny
  end,
  point_point = function(q, _, other, f, x, y)
    local px, py = place(q, other, f.point)
    local dx, dy = x - px, y - py
    local d = sqrt(dx * dx + dy * dy)
    if d == 0 then error("the corners coincide: there is no normal", 0) end
    return d, dx / d, dy / d
  end,
}
distances.face_point = distances.point_face

return function(ns)
  -- features: the options of the relation, as the scene gives them; two: there is a second body.
  return function(features, two)
    local distance, R1, R2 = distances[features.shape], features.R or features.R1, features.R2 or 0
    local at, other = 1, two and 4 or nil
    if features.shape == "face_point" then at, other = other, at end
    local function gap(q)
      local x, y = place(q, at, features.corner)
      local d, nx, ny = distance(q, at, other, features, x, y)
      return d, nx, ny, x, y
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
