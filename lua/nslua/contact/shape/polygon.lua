-- nslua.contact.shape.polygon: convex polygons in the plane, which may be rounded. They touch all shapes by corners
-- and sides.

return function(_, _, parts)
  return {
    kind = "polygon", plural = "polygons", part = "corner",
    read = function(who, points, rounding)
      rounding = rounding or 0
      parts.not_negative(who, "rounding", rounding, 4)
      if type(points) ~= "table" or #points < 3 then
        parts.fail(who, "points", "a list of at least three points", points, 3)
      end
      local balls, around = {}, 0
      for i = 1, #points do
        local p = parts.point(who, ("points[%d]"):format(i), points[i])
        balls[i] = { p[1], p[2], rounding }
        around = math.max(around, math.sqrt(p[1] ^ 2 + p[2] ^ 2) + rounding)
      end
      return { R = rounding, around = around, points = balls }
    end,
    world = true, line = parts.corner_on_line,
    meets = {},
  }
end
