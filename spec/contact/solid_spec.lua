-- contact/solid.h: convex hulls against their definition, and the numbers of bodies.
local ns = require "nslua"
local support = require "nslua.core".contact_support
local numbers = require "random_numbers"
local campaign = require "campaign"

local function hull(points) return ns.contact.hull(points) end

describe("hulls", function()
  it("hold all points, have corners that are points, and as many faces as Euler says", function()
    math.randomseed(7)
    for case = 1, campaign(20, 0.05) do
      local unit, points, n = 2.0 ^ math.random(-40, 40), {}, 4 + case * 2 % 60
      for i = 1, n do points[i] = { unit * numbers.normal(), unit * numbers.normal(), 0.3 * unit * numbers.normal() } end
      local shape = hull(points)
      local corners, edges, faces = support.counts(shape.parts[1])
      assert.equal(2, corners - edges + faces)
      local given = {}
      for _, p in ipairs(points) do given[("%a %a %a"):format(p[1], p[2], p[3])] = true end
      for _, c in ipairs(shape:corners()) do assert.is_true(given[("%a %a %a"):format(c[1], c[2], c[3])]) end
      for _, p in ipairs(points) do -- no point is outside: the distance of a point is at most 0
        assert.is_true(ns.contact.distance(ns.contact.sphere(unit):placed(p), shape) <= unit * (1e-10 - 1))
      end
    end
  end)

  it("have flat faces as one, whatever points lie on them", function()
    local points = {}
    for i = 0, 4 do
      for j = 0, 4 do
        for k = 0, 4 do points[#points + 1] = { i / 3, j / 7, 2 * k } end
      end
    end
    assert.same({ 8, 12, 6 }, { support.counts(hull(points).parts[1]) })
    local prism = {}
    for i = 0, 11 do
      for z = 0, 1 do prism[#prism + 1] = { math.cos(i * math.pi / 6), math.sin(i * math.pi / 6), z } end
    end
    assert.same({ 24, 36, 14 }, { support.counts(hull(prism).parts[1]) })
  end)

  it("have volume, centre and inertia, also elsewhere in their body", function()
    local volume, centre, inertia = ns.contact.box(1, 2, 3):placed({ 5, -1, 2, 1, 0, 0, 1 }):mass() -- a quarter turn
    assert.near(6, volume, 1e-14)
    for k, x in ipairs { 5, -1, 2 } do assert.near(x, centre[k], 1e-14) end
    for i, row in ipairs { { 5, 0, 0 }, { 0, 6.5, 0 }, { 0, 0, 2.5 } } do
      for j, x in ipairs(row) do assert.near(x, inertia[i][j], 1e-12) end
    end
    volume, centre = hull({ { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }):mass()
    assert.near(1 / 6, volume, 1e-15)
    for k = 1, 3 do assert.near(0.25, centre[k], 1e-15) end
  end)

  it("of points that are nearly the same, or nearly in a plane, hold all their points, far from the origin, too", function()
    local random = ns.rng(5)
    local function one(far, size, near, grid)
      local points = {}
      for i = 1, 12 do
        local from = i > 5 and points[random:integers(1, i - 1)] or { far, 0, 0 }
        points[i] = {}
        for k = 1, 3 do
          local x = grid and random:integers(0, 2) or i <= 5 and random:uniform() or 0
          points[i][k] = (grid and k == 1 and far or grid and 0 or from[k]) + size * (x + near * random:uniform())
        end
      end
      local solid = hull(points)
      assert.is_true(solid:mass() > 0)
      for _, p in ipairs(points) do
        assert.is_true((ns.contact.distance(ns.contact.sphere(size):placed(p), solid)) < size * (1e-5 - 1) + 1e-10 * far)
      end
    end
    for k = 1, 120 do one(k % 3 == 0 and 1e3 or 0, 10 ^ (k % 7 - 3), 10 ^ -(8 + k % 5), k % 2 == 0) end
    one(1e6, 1e-6, 0, false) -- the coordinates themselves have an error of 1e-4 of the size
  end)
end)

describe("shapes", function()
  it("say what is wrong", function()
    local c = ns.contact
    local ball = c.sphere(1)
    for text, f in pairs {
      ["sphere: R: expected a positive number, got 0"] = function() c.sphere(0) end,
      ["box: lz: expected a positive number, got nil"] = function() c.box(1, 1) end,
      ["box: rounding: expected a number, 0 or more, got %-1"] = function() c.box(1, 1, 1, -1) end,
      ["capsule: length: expected a positive number, got an empty table"] = function() c.capsule(1, {}) end,
      ["hull: points: expected a list of three numbers each, got 3"] = function() c.hull(3) end,
      ["hull: points%[2%]: expected three finite numbers, got { 1, 2 }"] = function()
        c.hull { { 0, 0, 0 }, { 1, 2 } }
      end,
      ["hull: points%[2%]: expected three finite numbers, got nil"] = function()
        c.hull { { 0, 0, 0 }, nil, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
      end,
      ["mesh: triangles%[2%]: expected three finite numbers, got nil"] = function()
        c.mesh({ { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } }, { { 1, 2, 3 }, nil, { 1, 3, 2 } })
      end,
      ["compound: shapes%[2%]: expected a shape, got nil"] = function() c.compound { ball, nil, ball } end,
      ["heightfield: heights%[2%]: expected a row of numbers, got nil"] = function()
        c.heightfield({ { 1, 2 }, nil, { 1, 2 } }, 1, 1)
      end,
      ["hull: expected points that are not all in a plane"] = function()
        c.hull { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 }, { 3, 4, 0 } }
      end,
      ["hull: a face has 140 corners, more than 128"] = function()
        local prism = {}
        for i = 1, 140 do
          for z = 0, 1 do prism[#prism + 1] = { math.cos(i * math.pi / 70), math.sin(i * math.pi / 70), z } end
        end
        c.hull(prism)
      end,
      ["mesh: expected triangles, got none"] = function() c.mesh({ { 0, 0, 0 } }, {}) end,
      ["mesh: triangle 1: expected numbers of points, from 1 to 3, got 4.0"] = function()
        c.mesh({ { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } }, { { 1, 2, 4 } })
      end,
      ["heightfield: heights: expected a matrix of at least 2 x 2, got a smaller one"] = function()
        c.heightfield({ { 1, 2 } }, 1, 1)
      end,
      ["mesh: triangles%[2%]: expected three numbers of points, got 4"] = function()
        c.mesh({ { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 } }, { { 1, 2, 3 }, { 1, 2, 4, 3 } })
      end,
      ["heightfield: heights%[2%]%[1%]: expected a finite number, got nan"] = function()
        c.heightfield({ { 1, 2 }, { 0 / 0, 2 } }, 1, 1)
      end,
      ["heightfield: heights%[2%]%[3%]: expected a finite number, got nil"] = function()
        c.heightfield({ { 1, 2, 3 }, { 1, 2 } }, 1, 1)
      end,
      ["heightfield: dx: expected a positive number, got 0"] = function()
        c.heightfield({ { 1, 2 }, { 1, 2 } }, 0, 1)
      end,
      ["compound: shapes: expected a list of shapes, got an empty table"] = function() c.compound {} end,
      ["compound: shapes%[1%]: expected a shape, got 5"] = function() c.compound { 5 } end,
      ["compound: shapes%[1%]: expected a convex shape, got a mesh"] = function()
        c.compound { c.heightfield({ { 1, 2 }, { 1, 2 } }, 1, 1) }
      end,
      ["placed: place: expected 3 or 7 finite numbers, got { 1, 2 }"] = function() ball:placed { 1, 2 } end,
      ["placed: place: expected a quaternion, got zeros"] = function() ball:placed { 1, 2, 3, 0, 0, 0, 0 } end,
      ["mass: self: expected one box, cylinder or hull, got a sphere"] = function() ball:mass() end,
      ["distance: a: expected a shape, got nil"] = function() c.distance(nil, ball) end,
      ["distance: b: expected a shape, got 3"] = function() c.distance(ball, 3) end,
      ["distance: b: expected a shape, got two planes"] = function()
        c.distance(c.plane({ 0, 0, 0 }, { 0, 0, 1 }), c.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      end,
      ["distance: b: expected a shape that is no mesh, got two meshes"] = function()
        local m = c.heightfield({ { 1, 2 }, { 1, 2 } }, 1, 1)
        c.distance(m, m)
      end,
    } do assert.error_matches(f, text) end
  end)
end)
