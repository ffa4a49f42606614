local ns = require "nslua"

local intersection = ns.polygon.intersection

local function near_points(expected, got, tolerance)
  assert.equal(#expected, #got)
  for i, p in ipairs(expected) do
    for k = 1, 2 do assert.near(p[k], got[i][k], tolerance or 1e-13) end
  end
end

local unit_square = { { 1, 0, 1 }, { -1, 0, 0 }, { 0, 1, 1 }, { 0, -1, 0 } }

describe("ns.polygon.intersection", function()
  it("orders the vertices counterclockwise from the lowest, left one", function()
    local p = intersection(unit_square)
    assert.same({ { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } }, p.vertices)
    assert.same({}, p.rays)
    assert.equal(2, p.dimension)
    assert.is_true(p.bounded)
    assert.is_false(p.empty)
    assert.equal(1, p:area())
    assert.equal(4, #p.edges)
    assert.equal("polygon (0, 0) (1, 0) (1, 1) (0, 1)", tostring(p))
  end)

  it("takes a matrix and a vector", function()
    local H = ns.matrix { { 0.2, 0.4 }, { -0.4, 0.2 }, { -0.2, -0.4 }, { 0.4, -0.2 } }
    local p = intersection(H, ns.full(4, 0.2))
    near_points({ { 0.2, -0.6 }, { 0.6, 0.2 }, { -0.2, 0.6 }, { -0.6, -0.2 } }, p.vertices, 1e-15)
    assert.near(0.8, p:area(), 1e-15)
  end)

  it("does not depend on the order or the scale of the rows", function()
    local rows = {}
    for i = 1, 7 do
      local a = 2 * math.pi * i / 7
      rows[i] = { math.cos(a), math.sin(a), 1 }
    end
    local expected = intersection(rows)
    assert.near(7 * math.tan(math.pi / 7), expected:area(), 1e-14)
    local other = {}
    for i = 1, 7 do
      local row, factor = rows[i * 3 % 7 + 1], 10 ^ (i - 4)
      other[i] = { row[1] * factor, row[2] * factor, row[3] * factor }
    end
    near_points(expected.vertices, intersection(other).vertices)
  end)

  it("leaves out half-planes that do not touch, doubles, and those that touch a corner only", function()
    local rows = { { 1, 1, 5 }, { 1, 0, 1 }, { 1, 1, 2 }, { 2, 0, 2 }, { 0, 0, 3 }, { 1, 0, math.huge } }
    for _, row in ipairs(unit_square) do rows[#rows + 1] = row end
    local p = intersection(rows)
    near_points({ { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } }, p.vertices)
    assert.equal(4, #p.edges)
  end)

  it("is right for corners where three lines meet only up to rounding", function()
    local p = intersection { { 1, 0, 0.1 + 0.2 }, { 0, 1, 0.3 }, { 1, 1, 0.6 }, { -1, 0, 0 }, { 0, -1, 0 } }
    near_points({ { 0, 0 }, { 0.3, 0 }, { 0.3, 0.3 }, { 0, 0.3 } }, p.vertices)
  end)

  describe("unbounded", function()
    it("quadrant: one vertex and two rays", function()
      local p = intersection { { -1, 0, 0.2 }, { 0, -1, -0.6 } }
      assert.same({ { -0.2, 0.6 } }, p.vertices)
      assert.same({ { 0, 1 }, { 1, 0 } }, p.rays)
      assert.is_false(p.bounded)
      assert.equal(math.huge, p:area())
      assert.equal("unbounded (-0.2, 0.6), rays (0, 1) (1, 0)", tostring(p))
    end)

    it("half strip: two vertices, equal rays", function()
      local p = intersection { { 0, 1, 1 }, { 0, -1, 0 }, { -1, 0, -2 } }
      near_points({ { 2, 1 }, { 2, 0 } }, p.vertices)
      near_points({ { 1, 0 }, { 1, 0 } }, p.rays)
    end)

    it("half plane and strip: no vertex, the edges tell where", function()
      local p = intersection { { 0, 2, 3 } }
      assert.same({}, p.vertices)
      near_points({ { 1, 0 }, { -1, 0 } }, p.rays)
      near_points({ { 0, 1.5 } }, { p.edges[1].point })
      assert.equal(1, p.edges[1].row)
      p = intersection { { 0, 2, 3 }, { 0, -1, 1 } }
      assert.equal(2, #p.edges)
      assert.equal(2, p.dimension)
      assert.is_false(p.bounded)
    end)

    it("whole plane", function()
      local p = intersection {}
      assert.equal(2, p.dimension)
      assert.is_true(p:contains(1e300, -1e300))
      assert.equal("whole plane", tostring(p))
      assert.equal("whole plane", tostring(intersection { { 0, 0, 0 } }))
    end)

    it("is cut to a rectangle by clip", function()
      local p = intersection({ { -1, 0, 0.2 }, { 0, -1, -0.6 } }):clip(-1.5, 1.5, -1.5, 1.5)
      near_points({ { -0.2, 0.6 }, { 1.5, 0.6 }, { 1.5, 1.5 }, { -0.2, 1.5 } }, p.vertices)
      assert.near(1.7 * 0.9, p:area(), 1e-14)
      assert.near(9, intersection({}):clip(0, 3, 0, 3):area(), 1e-14)
    end)
  end)

  describe("degenerate", function()
    it("point", function()
      local p = intersection { { 1, 0, 2 }, { -1, 0, -2 }, { 0, 1, 3 }, { 0, -1, -3 } }
      assert.same({ { 2, 3 } }, p.vertices)
      assert.equal(0, p.dimension)
      assert.equal(0, p:area())
      assert.is_true(p.bounded)
      p = intersection { { 1, 1, 0 }, { -1, 0, 0 }, { 0, -1, 0 } }
      assert.same({ { 0, 0 } }, p.vertices)
      assert.equal("point (0, 0)", tostring(p))
    end)

    it("segment, ray and line", function()
      local p = intersection { { 1, -1, 0 }, { -1, 1, 0 }, { 1, 0, 1 }, { -1, 0, 0 } }
      near_points({ { 0, 0 }, { 1, 1 } }, p.vertices)
      assert.equal(1, p.dimension)
      assert.is_true(p.bounded)
      assert.equal(0, p:area())
      p = intersection { { 1, -1, 0 }, { -1, 1, 0 }, { -1, 0, 0 } }
      near_points({ { 0, 0 } }, p.vertices)
      local s = math.sqrt(0.5)
      near_points({ { s, s }, { s, s } }, p.rays)
      assert.equal(1, p.dimension)
      assert.is_false(p.bounded)
      p = intersection { { 1, -1, 0 }, { -1, 1, 0 } }
      assert.same({}, p.vertices)
      assert.equal(1, p.dimension)
    end)

    it("empty", function()
      for _, rows in ipairs {
        { { 1, 0, 0 }, { -1, 0, -1 } },
        { { 1, 0, 0 }, { -1, 0, -1e-6 } },
        { { 0, 0, -1 } },
        { { -1, 0, 0 }, { 0, -1, 0 }, { 1, 1, -1 } },
        { { -1, 0, 0 }, { 0, -1, 0 }, { 1, 1, -1 }, { 1, -1, 5 } },
      } do
        local p = intersection(rows)
        assert.is_true(p.empty)
        assert.equal(-1, p.dimension)
        assert.same({}, p.vertices)
        assert.equal(0, p:area())
        assert.is_false(p:contains(0.5, 0.5))
        assert.equal("empty", tostring(p))
      end
    end)
  end)

  it("contains: with the boundary, as far out as the margin says", function()
    local p = intersection(unit_square)
    assert.is_true(p:contains(0.5, 0.5))
    assert.is_true(p:contains(1, 1))
    assert.is_true(p:contains { 0, 0.25 })
    assert.is_true(p:contains(ns.vector { 0, 0.25 }))
    assert.is_false(p:contains(1 + 1e-15, 1))
    assert.is_true(p:contains(1.05, 0.5, 0.1))
    assert.is_false(p:contains({ 0.95, 0.5 }, -0.1))
    assert.is_false(p:contains(0 / 0, 0.5))
  end)

  it("agrees with the test of every vertex on random half-planes", function()
    math.randomseed(11, 3)
    for _ = 1, 200 do
      local rows, n = {}, math.random(3, 9)
      for i = 1, n do
        local a = 2 * math.pi * math.random()
        rows[i] = { math.cos(a), math.sin(a), math.random() - 0.2 }
      end
      local p, count = intersection(rows), 0
      for i = 1, n do
        for j = i + 1, n do
          local r, s = rows[i], rows[j]
          local det = r[1] * s[2] - r[2] * s[1]
          local x, y = (r[3] * s[2] - r[2] * s[3]) / det, (r[1] * s[3] - r[3] * s[1]) / det
          if p:contains(x, y, 1e-11) then count = count + 1 end
        end
      end
      assert.equal(count, #p.vertices)
      local twice = 0
      for i, v in ipairs(p.vertices) do
        assert.is_true(p:contains(v, 1e-11))
        local w, u = p.vertices[i % count + 1], p.vertices[(i + 1) % count + 1]
        twice = twice + v[1] * w[2] - v[2] * w[1]
        if p.bounded and count > 2 then
          assert.is_true((w[1] - v[1]) * (u[2] - w[2]) - (w[2] - v[2]) * (u[1] - w[1]) > 0)
        end
      end
      if p.bounded then assert.near(twice / 2, p:area(), 1e-10) end
    end
  end)

  it("refuses what is no half-plane", function()
    for _, case in ipairs {
      { function() intersection(3) end,
        "intersection: expected half-planes {a1, a2, b} or a matrix and a vector, got number" },
      { function() intersection { { 1, 2 } } end, "intersection: row 1: expected {a1, a2, b}" },
      { function() intersection { { 1, 0, 1 }, 5 } end, "intersection: row 2: expected {a1, a2, b}" },
      { function() intersection { { 1, 0 / 0, 1 } } end, "intersection: row 1: expected finite numbers, got " },
      { function() intersection({ { 1, 0 } }, { 1, 2 }) end, "intersection: 1 rows and 2 right-hand sides" },
      { function() intersection({ { 1, 0, 0 } }, { 1 }) end, "intersection: H: expected rows of 2, got one of 3" },
      { function() intersection({}):contains "x" end, "contains: expected a point x, y" },
    } do
      local good, message = pcall(case[1])
      assert.is_false(good)
      assert.is_truthy(message:find(case[2], 1, true), message)
    end
  end)

  it("is the same whatever the size of a row's numbers", function()
    for _, scale in ipairs { 1e155, 1e-170, 1e300, 3e-308 } do
      local p = intersection { { scale, 0, scale }, { -1, 0, 0 }, { 0, 1, 1 }, { 0, -1, 0 } }
      assert.equal("polygon (0, 0) (1, 0) (1, 1) (0, 1)", tostring(p))
      assert.is_true(p.bounded and p:contains(0.5, 1) and not p:contains(1.01, 0.5))
    end
  end)
end)
