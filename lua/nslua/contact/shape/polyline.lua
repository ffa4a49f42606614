-- nslua.contact.shape.polyline: chains of segments of the world, which all shapes touch from both sides. A body that
-- slides over a joint feels it only as far as the chain bends there: see contact/mesh.h.

return function(_, _, parts)
  local fail = parts.fail
  return {
    kind = "polyline", fixed = true, world = true,
    read = function(who, points, closed)
      local list, last = {}, nil
      if closed ~= nil and type(closed) ~= "boolean" then fail(who, "closed", "a boolean", closed, 3) end
      local least = closed and 3 or 2
      if type(points) ~= "table" or #points < least then
        fail(who, "points", ("a list of at least %d points"):format(least), points, 3)
      end
      for i, p in ipairs(points) do
        list[i] = parts.point(who, ("points[%d]"):format(i), p)
        local twin = last and last[1] == list[i][1] and last[2] == list[i][2]
        if twin then fail(who, ("points[%d]"):format(i), "a point other than the one before it", p, 3) end
        last = list[i]
      end
      if closed and last[1] == list[1][1] and last[2] == list[1][2] then
        fail(who, ("points[%d]"):format(#list), "a point other than the first one", points[#list], 3)
      end
      return { mesh = parts.support.polyline(list, closed or false) }
    end,
    meets = {},
  }
end
