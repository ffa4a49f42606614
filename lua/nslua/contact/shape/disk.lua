-- nslua.contact.shape.disk: disks in the plane, against lines and each other.

local format = require "nslua.core".number_support.format

local sqrt = math.sqrt

return function(ns, contact, parts)
  local positive, check_line = parts.positive, parts.check_line

  -- A disk of radius R and a line.
  function contact.disk_line(R, line)
    positive("disk_line", "R", R)
    local px, py, nx, ny = check_line("disk_line", line)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = (q[1] - px) * nx + (q[2] - py) * ny - R end,
      Jachq = function(_, _, C)
        C[1][1], C[1][2] = nx, ny
        C[2][1], C[2][2], C[2][3] = ny, -nx, R -- the tangent (ny, -nx); the contact point is at -R n
      end,
      name = "disk and line",
    }
  end

  -- Two disks of radius R1 and R2.
  function contact.disk_disk(R1, R2)
    local R = positive("disk_disk", "R1", R1) + positive("disk_disk", "R2", R2)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y)
        local dx, dy = q[4] - q[1], q[5] - q[2]
        y[1] = sqrt(dx * dx + dy * dy) - R
      end,
      Jachq = function(q, _, C)
        local dx, dy = q[4] - q[1], q[5] - q[2]
        local d = sqrt(dx * dx + dy * dy)
        if d == 0 then error("the centres of the disks coincide: there is no normal", 0) end
        local nx, ny = dx / d, dy / d
        C[1][1], C[1][2], C[1][4], C[1][5] = -nx, -ny, nx, ny
        C[2][1], C[2][2], C[2][3] = -ny, nx, R1 -- the tangent (ny, -nx)
        C[2][4], C[2][5], C[2][6] = ny, -nx, R2
      end,
      dotJachq = function(q, _, v, D)
        local dx, dy, ux, uy = q[4] - q[1], q[5] - q[2], v[4] - v[1], v[5] - v[2]
        local turn = (dx * uy - dy * ux) / (dx * dx + dy * dy) -- of the normal
        local d = sqrt(dx * dx + dy * dy)
        local mx, my = -dy / d * turn, dx / d * turn -- the rate of the normal
        D[1][1], D[1][2], D[1][4], D[1][5] = -mx, -my, mx, my
        D[2][1], D[2][2], D[2][4], D[2][5] = -my, mx, my, -mx
      end,
      name = "two disks",
    }
  end

  return {
    kind = "disk", plural = "disks", once = true,
    read = function(who, R)
      positive(who, "R", R, 4)
      return { R = R, around = R, points = { { 0, 0, R } } }
    end,
    line = function(point, line) return contact.disk_line(point[3], line) end,
    meets = {
      disk = function(a, b)
        return { { first = a, second = b, key = format("%.17g %.17g", a.R, b.R),
          make = function() return contact.disk_disk(a.R, b.R) end } }
      end,
    },
  }
end
