-- nslua.contact.shape.box: boxes in the plane, whose corners touch lines, and corners and sides other shapes.

local cos, sin = math.cos, math.sin

return function(ns, contact, parts)
  local positive, pair, check_line = parts.positive, parts.pair, parts.check_line

  -- A corner of a body, at (a, b) in the body's own axes, and a line.
  function contact.corner_line(corner, line)
    local a, b = pair("corner_line", "corner", corner)
    local px, py, nx, ny = check_line("corner_line", line)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y)
        local c, s = cos(q[3]), sin(q[3])
        y[1] = (q[1] + c * a - s * b - px) * nx + (q[2] + s * a + c * b - py) * ny
      end,
      Jachq = function(q, _, C)
        local c, s = cos(q[3]), sin(q[3])
        local dx, dy = -s * a - c * b, c * a - s * b -- the corner's velocity for one turn a second
        C[1][1], C[1][2], C[1][3] = nx, ny, dx * nx + dy * ny
        C[2][1], C[2][2], C[2][3] = ny, -nx, dx * ny - dy * nx
      end,
      dotJachq = function(q, _, v, D)
        local c, s, w = cos(q[3]), sin(q[3]), v[3]
        local ex, ey = (s * b - c * a) * w, (-s * a - c * b) * w -- the rate of (dx, dy)
        D[1][3], D[2][3] = ex * nx + ey * ny, ex * ny - ey * nx
      end,
      name = "corner and line",
    }
  end

  return {
    kind = "box", plural = "boxes", part = "corner",
    read = function(who, width, height)
      local w, h = positive(who, "width", width, 4) / 2, positive(who, "height", height, 4) / 2
      local points = { { w, h, 0 }, { -w, h, 0 }, { -w, -h, 0 }, { w, -h, 0 } }
      return { R = 0, around = math.sqrt(w * w + h * h), points = points }
    end,
    world = true, line = parts.corner_on_line,
    meets = {},
  }
end
