-- nslua.contact.shape.capsule: capsules in the plane, the points that are at most R from a segment along the body's
-- first axis. In the plane the distance of two segments that do not cross is the distance of an end of one from the
-- other. So a capsule touches a line with the caps at its ends; two capsules touch each other with the caps of each
-- and the whole of the other one.

local format = require "nslua.core".number_support.format

local sqrt, cos, sin = math.sqrt, math.cos, math.sin

return function(ns, contact, parts)
  local positive, pair, check_line = parts.positive, parts.pair, parts.check_line

  -- A cap of radius R around the point (a, b) of a body, in the body's own axes, and a line.
  function contact.cap_line(R, place, line)
    positive("cap_line", "R", R)
    local a, b = pair("cap_line", "place", place)
    local px, py, nx, ny = check_line("cap_line", line)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y)
        local c, s = cos(q[3]), sin(q[3])
        y[1] = (q[1] + c * a - s * b - px) * nx + (q[2] + s * a + c * b - py) * ny - R
      end,
      Jachq = function(q, _, C)
        local c, s = cos(q[3]), sin(q[3])
        local dx, dy = -s * a - c * b, c * a - s * b -- the velocity of the cap's centre for one turn a second
        C[1][1], C[1][2], C[1][3] = nx, ny, dx * nx + dy * ny
        C[2][1], C[2][2], C[2][3] = ny, -nx, dx * ny - dy * nx + R -- the contact point is at -R n from the centre
      end,
      dotJachq = function(q, _, v, D)
        local c, s, w = cos(q[3]), sin(q[3]), v[3]
        local ex, ey = (s * b - c * a) * w, (-s * a - c * b) * w -- the rate of (dx, dy)
        D[1][3], D[2][3] = ex * nx + ey * ny, ex * ny - ey * nx
      end,
      name = "cap and line",
    }
  end

  -- A cap around the point (a, b) of a body at (x1, y1, angle1), and the segment of half length L of a body at
  -- (x2, y2, angle2): the way from the nearest point of the segment to the cap's centre; both points, as seen from
  -- their bodies.
  local function nearest(x1, y1, angle1, x2, y2, angle2, a, b, L)
    local c1, s1, c2, s2 = cos(angle1), sin(angle1), cos(angle2), sin(angle2)
    local rx, ry = c1 * a - s1 * b, s1 * a + c1 * b
    local x, y = x1 + rx - x2, y1 + ry - y2
    local along = x * c2 + y * s2
    if along > L then along = L elseif along < -L then along = -L end
    return x - along * c2, y - along * s2, along * c2, along * s2, rx, ry
  end

  -- The cap of radius R1 around `place` of a body, in its own axes, and a capsule of radius R2 around a segment of a
  -- length, 0 or more (0: a disk). The normal points to the cap.
  function contact.cap_capsule(R1, place, R2, length)
    positive("cap_capsule", "R1", R1)
    local a, b = pair("cap_capsule", "place", place)
    positive("cap_capsule", "R2", R2)
    parts.not_negative("cap_capsule", "length", length)
    local L = length / 2
    return ns.LagrangianScleronomousR {
      h = function(q, _, y)
        local dx, dy = nearest(q[1], q[2], q[3], q[4], q[5], q[6], a, b, L)
        y[1] = sqrt(dx * dx + dy * dy) - R1 - R2
      end,
      Jachq = function(q, _, C)
        local dx, dy, fx, fy, rx, ry = nearest(q[1], q[2], q[3], q[4], q[5], q[6], a, b, L)
        local d = sqrt(dx * dx + dy * dy)
        if d == 0 then error("the centre of the cap is on the segment of the capsule: there is no normal", 0) end
        local nx, ny = dx / d, dy / d
        local x1, y1, x2, y2 = rx - R1 * nx, ry - R1 * ny, fx + R2 * nx, fy + R2 * ny -- the contact, from both bodies
        C[1][1], C[1][2], C[1][3] = nx, ny, ny * x1 - nx * y1
        C[1][4], C[1][5], C[1][6] = -nx, -ny, nx * y2 - ny * x2
        C[2][1], C[2][2], C[2][3] = ny, -nx, -nx * x1 - ny * y1 -- the tangent (ny, -nx)
        C[2][4], C[2][5], C[2][6] = -ny, nx, nx * x2 + ny * y2
      end,
      name = "cap and capsule",
    }
  end

  -- The contact of the cap of `one` at (a, 0), an end or a disk, with the whole of `other`, a capsule.
  local function cap_of(one, a, other)
    return {
      first = one, second = other, key = format("%.17g %.17g %.17g %.17g", one.R, a, other.R, other.length),
      make = function() return contact.cap_capsule(one.R, { a, 0 }, other.R, other.length) end,
    }
  end

  return {
    kind = "capsule", plural = "capsules", part = "end", once = true,
    read = function(who, R, length)
      positive(who, "R", R, 4)
      local half = positive(who, "length", length, 4) / 2
      return { R = R, length = length, around = R + half, points = { { half, 0, R }, { -half, 0, R } } }
    end,
    line = function(point, line) return contact.cap_line(point[3], { point[1], point[2] }, line) end,
    meets = {
      disk = function(a, b) return { cap_of(b, 0, a) } end,
      capsule = function(a, b)
        local l, m = a.length / 2, b.length / 2
        return { cap_of(a, l, b), cap_of(a, -l, b), cap_of(b, m, a), cap_of(b, -m, a) }
      end,
    },
  }
end
