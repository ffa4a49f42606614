-- Implicit surfaces, contour lines and streamlines: what is true of them whatever the picture.
local ns = require "nslua"
local contour = require "nslua.plot.contour"
local models = require "bind.models"
local stream = require "nslua.plot.stream"
local surface = require "nslua.plot.surface"
local message = models.message

local function sphere(x, y, z) return x * x + y * y + z * z - 1 end

local function corner(face, k)
  local n = #face // 3
  k = (k - 1) % n
  return face[3 * k + 1], face[3 * k + 2], face[3 * k + 3]
end

-- The area of a face, by its triangles around the first corner.
local function area(face)
  local sum = 0
  local x, y, z = corner(face, 1)
  for k = 2, #face // 3 - 1 do
    local a, b, c = corner(face, k)
    local d, e, f = corner(face, k + 1)
    a, b, c, d, e, f = a - x, b - y, c - z, d - x, e - y, f - z
    sum = sum + math.sqrt((b * f - c * e) ^ 2 + (c * d - a * f) ^ 2 + (a * e - b * d) ^ 2) / 2
  end
  return sum
end

describe("implicit surfaces", function()
  local box = { -1.5, 1.5, -1.5, 1.5, -1.5, 1.5 }

  it("have their corners on the surface", function()
    local worst = 0
    for _, face in ipairs(surface.implicit(sphere, box, 11)) do
      for k = 1, #face // 3 do worst = math.max(worst, math.abs(sphere(corner(face, k)))) end
    end
    assert.is_true(worst < 1e-5)
  end)

  it("approach the area of a sphere, with the order of flat faces #once", function()
    local errors = {}
    for i, n in ipairs { 8, 16, 32 } do
      local total = 0
      for _, face in ipairs(surface.implicit(sphere, box, n)) do total = total + area(face) end
      errors[i] = math.abs(total - 4 * math.pi)
    end
    assert.is_true(errors[3] < 0.02)
    assert.is_true(errors[1] / errors[3] > 9 and errors[2] / errors[3] > 3.5)
  end)

  it("are closed: each edge is that of two faces", function()
    -- grids on which no corner is on the surface, or many are
    for _, case in ipairs { { 9, box }, { 4, { -2, 2, -2, 2, -2, 2 } } } do
      local edges = {}
      local function key(x, y, z) return ("%.6f %.6f %.6f"):format(x + 0.0, y + 0.0, z + 0.0):gsub("%-0%.000000", "0.000000") end
      for _, face in ipairs(surface.implicit(sphere, case[2], case[1])) do
        for k = 1, #face // 3 do
          local a, b = key(corner(face, k)), key(corner(face, k + 1))
          if a ~= b then
            local name = a < b and a .. "|" .. b or b .. "|" .. a
            edges[name] = (edges[name] or 0) + 1
          end
        end
      end
      local odd = 0
      for _, count in pairs(edges) do
        if count % 2 ~= 0 then odd = odd + 1 end
      end
      assert.equal(0, odd)
    end
  end)

  it("pass over what is not a number, and are empty where there is no root", function()
    assert.equal(0, #surface.implicit(function() return 1 end, box, 4))
    assert.equal(0, #surface.implicit(function() return 0 / 0 end, box, 4))
    local half = surface.implicit(function(x, y, z) return x < 0 and 0 / 0 or sphere(x, y, z) end, box, 8)
    assert.is_true(#half > 20)
    for _, face in ipairs(half) do
      for i = 1, #face do assert.is_true(face[i] == face[i]) end
    end
  end)

  it("are checked", function()
    local ax = ns.plot.figure():subplot(1, 1, 1)
    assert.equal("implicit: f: expected a function, got number 3", message(ax.implicit, ax, 3))
    assert.equal("implicit: n: expected a whole number from 2 to 200, got number 1", message(ax.implicit, ax, sphere, { n = 1 }))
    assert.equal("implicit: bounds: expected {x0, x1, y0, y1, z0, z1}, got a list of 2",
      message(ax.implicit, ax, sphere, { bounds = { 0, 1 } }))
    assert.equal("implicit: bounds[3], bounds[4]: expected two numbers, the first below the second, got 2 and 1",
      message(ax.implicit, ax, sphere, { bounds = { 0, 1, 2, 1, 0, 1 } }))
    assert.equal("surface: expected a grid of at least 2 x 2, got 1 x 2", message(ax.surface, ax, { 1 }, { 1, 2 }, { { 1 },
      { 2 } }))
    assert.equal("surface: z: expected a matrix of 2 x 3, got matrix of 2 x 2",
      message(ax.surface, ax, { 1, 2, 3 }, { 1, 2 }, { { 1, 2 }, { 3, 4 } }))
    assert.equal("surface: z[2]: expected 2 numbers as in row 1, got 1", message(ax.surface, ax, { 1, 2 }, { 1, 2 }, { { 1, 2 },
      { 3 } }))
    ax:plot3D({ 1, 2 }, { 1, 2 }, { 1, 2 })
    assert.equal("scatter: these axes are in space; use subplot for others", message(ax.scatter, ax, { 1 }, { 1 }))
    local flat = ns.plot.figure():subplot(1, 1, 1):plot { 1, 2 }
    assert.equal("plot3D: these axes hold curves in the plane already", message(flat.plot3D, flat, { 1 }, { 1 }, { 1 }))
    assert.equal("view: azimuth: expected a number, got nil", message(ax.view, ax, 30))
  end)

  it("of grids leave out what is not finite", function()
    local Z = ns.matrix { { 1, 2, 3 }, { 4, 0 / 0, 6 }, { 7, 8, 9 } }
    local X, Y = ns.meshgrid({ 1, 2, 3 }, { 1, 2, 3 })
    assert.equal(0, #surface.quads(X, Y, Z))
    Z[2][2] = 5
    assert.equal(4, #surface.quads(X, Y, Z))
  end)
end)

describe("contour lines", function()
  local x = ns.linspace(-2, 2, 41)
  local Z = ns.matrix(41, 41)
  for i = 1, 41 do
    for j = 1, 41 do Z[i][j] = x[i] ^ 2 + x[j] ^ 2 end
  end

  -- The lines as lists of points.
  local function lines(...)
    local px, py = contour.lines(...)
    local list, line = {}, {}
    for i = 1, #px do
      if px[i] ~= px[i] then
        list[#list + 1], line = line, {}
      else
        line[#line + 1] = { px[i], py[i] }
      end
    end
    return list
  end

  it("of a bowl are circles, each one closed line", function()
    for _, r in ipairs { 0.5, 1.03, 1.9 } do
      local list = lines(x, x, Z, r * r)
      assert.equal(1, #list)
      local line, length = list[1], 0
      assert.same(line[1], line[#line])
      for i, p in ipairs(line) do
        assert.near(r, math.sqrt(p[1] ^ 2 + p[2] ^ 2), 0.005)
        if i > 1 then length = length + math.sqrt((p[1] - line[i - 1][1]) ^ 2 + (p[2] - line[i - 1][2]) ^ 2) end
      end
      assert.near(2 * math.pi * r, length, 0.05)
    end
  end)

  it("end at the border, and at holes", function()
    local list = lines(x, x, Z, 4.5)
    assert.equal(4, #list)
    for _, line in ipairs(list) do
      for _, p in ipairs { line[1], line[#line] } do assert.near(2, math.max(math.abs(p[1]), math.abs(p[2])), 1e-12) end
    end
    local holed = Z:copy()
    holed[21][31] = 0 / 0
    assert.equal(1, #lines(x, x, holed, 1))
    assert.not_same(lines(x, x, holed, 1)[1][1], lines(x, x, holed, 1)[1][#lines(x, x, holed, 1)[1]])
  end)

  it("of a saddle do not cross", function()
    for _, sign in ipairs { -1, 1 } do
      local list = lines({ 0, 1 }, { 0, 1 }, ns.matrix { { 1, -1 }, { -1, 1 } } * sign, 0.2)
      assert.equal(2, #list)
      for _, line in ipairs(list) do assert.equal(2, #line) end
      -- the centre is below: each corner that is above is cut off by a line of its own
      for _, line in ipairs(list) do
        local cx, cy = (line[1][1] + line[2][1]) / 2, (line[1][2] + line[2][2]) / 2
        local near = sign > 0 and math.min(cx + cy, 2 - cx - cy) or math.min(1 - cx + cy, 1 + cx - cy)
        assert.near(0.4, near, 1e-12)
      end
    end
  end)

  it("have round levels between the least and the largest value", function()
    local levels = contour.levels(Z, 8)
    for i, level in ipairs(levels) do
      assert.is_true(level > 0 and level < 8)
      if i > 1 then assert.near(levels[2] - levels[1], level - levels[i - 1], 1e-12) end
    end
    assert.same({ 1, 2, 3 }, contour.levels(Z, { 3, 1, 2 }))
    assert.is_nil(contour.levels(ns.matrix { { 0 / 0 } }))
    assert.same({ 1 }, contour.levels(ns.ones(3, 3)))
    local ax = ns.plot.figure():subplot(1, 1, 1)
    assert.equal("contour: z has no finite number", message(ax.contour, ax, { 1, 2 }, { 1, 2 }, { { 0 / 0, 0 / 0 }, { 0 / 0,
      0 / 0 } }))
    assert.equal("contour: z: expected the function to return a number, got nil at (1, 1)",
      message(ax.contour, ax, { 1, 2 }, { 1, 2 }, function() end))
    assert.equal("contour: z: expected a matrix of 2 x 2, got number 3", message(ax.contour, ax, { 1, 2 }, { 1, 2 }, 3))
    assert.equal("contour: expected a grid of at least 2 x 2, got 1 x 2", message(ax.contour, ax, { 1 }, { 1, 2 }, { { 1 },
      { 2 } }))
  end)
end)

describe("streamlines", function()
  local function rotation(x, y) return -y, x end

  it("go along the field", function()
    local px, py, arrows = stream.lines(rotation, -1, 1, -1, 1, 1)
    local start, drift, count = nil, 0, 0
    for i = 1, #px do
      if px[i] ~= px[i] then
        start = nil
      else
        local r = math.sqrt(px[i] ^ 2 + py[i] ^ 2)
        start = start or r
        drift, count = math.max(drift, math.abs(r - start)), count + 1
        assert.is_true(math.abs(px[i]) <= 1 and math.abs(py[i]) <= 1)
      end
    end
    assert.is_true(drift < 2e-3 and count > 500)
    assert.is_true(#arrows[1] >= 5)
    for k = 1, #arrows[1] do
      local u, v = rotation(arrows[1][k], arrows[2][k])
      assert.is_true(u * arrows[3][k] + v * arrows[4][k] > 0)
    end
  end)

  it("have a density that ends in reasonable time", function()
    local text = select(2, pcall(ns.plot.streamplot, { 0, 1 }, { 0, 1 }, function() return 1, 0 end, { density = 30 }))
    assert.truthy(text:find("streamplot: density: expected a number, at most 20, got number 30", 1, true), text)
  end)

  it("are more with a higher density, and reach every quarter", function()
    local few, many = #(stream.lines(rotation, -1, 1, -1, 1, 0.5)), #(stream.lines(rotation, -1, 1, -1, 1, 2))
    assert.is_true(many > 2 * few)
    local px, py = stream.lines(function() return 1, 0 end, 0, 10, 0, 1, 1)
    local quarters = {}
    for i = 1, #px do
      if px[i] == px[i] then quarters[px[i] // 5 * 2 + py[i] // 0.5] = true end
    end
    for q = 0, 3 do assert.is_true(quarters[q]) end
  end)

  it("stop where the field vanishes or is not a number", function()
    assert.equal(0, #(stream.lines(function() return 0, 0 end, 0, 1, 0, 1, 1)))
    assert.equal(0, #(stream.lines(function() return 0 / 0, 1 end, 0, 1, 0, 1, 1)))
  end)

  it("take a field on a grid", function()
    local f = stream.interpolate({ 0, 1, 3 }, { 0, 2 }, ns.matrix { { 0, 1, 3 }, { 2, 3, 5 } }, ns.matrix { { 0, 0, 0 }, { 4, 4,
      4 } })
    local u, v = f(2, 1)
    assert.near(3, u, 1e-15) -- x + y, linear
    assert.near(2, v, 1e-15)
    local ax = ns.plot.figure():subplot(1, 1, 1)
    assert.equal("streamplot: expected x and y that rise, at least 2 each", message(ax.streamplot, ax, { 1, 0 }, { 0, 1 },
      rotation))
    assert.equal("streamplot: u: expected a matrix of 2 x 2, got matrix of 1 x 2",
      message(ax.streamplot, ax, { 0, 1 }, { 0, 1 }, { { 1, 2 } }, { { 1, 2 } }))
  end)
end)
