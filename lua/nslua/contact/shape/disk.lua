-- nslua.contact.shape.disk: disks in the plane, against lines and each other.

local format = require "nslua.core".number_support.format

return function(ns, contact, parts)
  local positive, check_line = parts.positive, parts.check_line

  -- A disk of radius R and a line.
  function contact.disk_line(R, line)
    positive("disk_line", "R", R)
    local px, py, nx, ny = check_line("disk_line", line)
    return ns.Lagrangian2d2DR { shape = "sphere_plane", R = R, point = { px, py, 0 }, normal = { nx, ny, 0 },
      name = "disk and line" }
  end

  -- Two disks of radius R1 and R2.
  function contact.disk_disk(R1, R2)
    positive("disk_disk", "R1", R1)
    positive("disk_disk", "R2", R2)
    return ns.Lagrangian2d2DR { shape = "sphere_sphere", R1 = R1, R2 = R2, name = "two disks" }
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
