-- nslua.contact.shape.polyline: chains of segments of the world, which all shapes touch from both sides. A body that
-- slides over a joint feels it only as far as the chain bends there: see contact/mesh.h.

return function(_, _, parts)
  local fail = parts.fail

  -- Refuses points[i], which is at p, where its segment from `from` has a length whose square is 0 or infinite.
  local function check_length(who, p, from, i, given, name)
    local square = (p[1] - from[1]) ^ 2 + (p[2] - from[2]) ^ 2
    if square > 0 and square < math.huge then return end
    local wanted = ("a point %s %s"):format(square > 0 and "near" or "other than", name)
    fail(who, ("points[%d]"):format(i), wanted, given, 4)
  end

  return {
    kind = "polyline", fixed = true, world = true,
    read = function(who, points, closed)
      local list, last = {}, nil
      if closed ~= nil and type(closed) ~= "boolean" then fail(who, "closed", "a boolean", closed, 3) end
      local least = closed and 3 or 2
      if type(points) ~= "table" or #points < least then
        fail(who, "points", ("a list of at least %d points"):format(least), points, 3)
      end
      for i = 1, #points do
        list[i] = parts.point(who, ("points[%d]"):format(i), points[i])
        if last then check_length(who, list[i], last, i, points[i], "the one before it") end
        last = list[i]
      end
      if closed then check_length(who, last, list[1], #list, points[#list], "the first one") end
      return { points = list, R = 0, closed = closed or false, mesh = parts.support.polyline(list, closed or false) }
    end,
    meets = {},
  }
end
