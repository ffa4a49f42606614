-- contact/mesh.h: distances from meshes against all triangles; spec/contact/touch_spec.lua has the contacts.
local ns = require "nslua"
local numbers = require "random_numbers"

describe("meshes", function()
  it("are as far as the nearest of their triangles, written as hulls that are thin", function()
    math.randomseed(3)
    local heights, c = {}, ns.contact
    for i = 1, 5 do
      heights[i] = {}
      for j = 1, 6 do heights[i][j] = numbers.uniform(0, 0.5) end
    end
    local mesh = c.heightfield(heights, 0.5, 0.4)
    local points = mesh:corners()
    for _ = 1, 20 do
      local x, y = numbers.uniform(0, 2), numbers.uniform(0, 2)
      local ball = c.sphere(0.1):placed { x, y, 1.5 }
      local least = math.huge
      for _, t in ipairs(mesh.mesh.triangles) do
        local corners = {}
        for k = 1, 3 do
          corners[k], corners[k + 3] = points[t[k]], { points[t[k]][1], points[t[k]][2], -9 }
        end
        least = math.min(least, (c.distance(ball, c.hull(corners))))
      end
      local d, pa, pb, n = c.distance(ball, mesh)
      assert.near(least, d, 1e-12)
      for k = 1, 3 do assert.near(pa[k] - pb[k], d * n[k], 1e-12) end
    end
  end)
end)
