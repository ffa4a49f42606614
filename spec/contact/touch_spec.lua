-- contact/touch.h and contact/mesh.h: which contacts there are; spec/contact/distance_spec.lua has the distances.
local ns = require "nslua"
local numbers = require "random_numbers"
local campaign = require "campaign"

local c = ns.contact

local function random_place(size)
  local q = { 0, 0, 0 }
  for k = 1, 3 do q[k] = numbers.uniform(-size, size) end
  for k = 4, 7 do q[k] = numbers.normal() end
  return q
end

local function random_shape(kind)
  local u = numbers.uniform
  if kind == 1 then return c.sphere(u(0.1, 1)) end
  if kind == 2 then return c.capsule(u(0.1, 0.5), u(0.1, 2)) end
  if kind == 3 then return c.box(u(0.2, 2), u(0.2, 2), u(0.2, 2), math.random(0, 1) * u(0.01, 0.3)) end
  if kind == 5 then return c.cylinder(u(0.1, 1), u(0.1, 2)) end
  local points = {}
  for i = 1, math.random(4, 20) do points[i] = { numbers.normal(), numbers.normal(), numbers.normal() } end
  return c.hull(points, math.random(0, 1) * u(0.01, 0.3))
end

-- A manager with a box over a shape of the world; returns the names of the features that touch and their gaps.
local function touching(box, q, below, reach)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local ds = ns.NewtonEulerDS(q, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
  nsds:insertDynamicalSystem(ds)
  local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = reach or 0.01 }
  contacts:add(nil, below)
  contacts:add(ds, box)
  contacts:update()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
  simu:initialize()
  local kinds, gaps = {}, {}
  for i, inter in ipairs(contacts:interactions()) do
    kinds[i], gaps[i] = inter:name():match "%d (%l+_%l+)", inter:y(0)[1]
  end
  table.sort(kinds)
  return table.concat(kinds, " "), gaps, contacts, ds
end

describe("touches", function()
  local floor, box, s = c.box(4, 4, 1):placed { 0, 0, -0.5 }, c.box(1, 1, 1), math.sqrt(0.5)

  it("of a box are its four corners on a face, two of an edge, one of a corner, crossing edges", function()
    assert.equal("point_face point_face point_face point_face", (touching(box, { 0, 0, 0.505, 1, 0, 0, 0 }, floor)))
    local eighth = { math.cos(math.pi / 8), math.sin(math.pi / 8) }
    assert.equal("point_face point_face", (touching(box, { 0, 0, s + 0.005, eighth[1], eighth[2], 0, 0 }, floor)))
    local beam = c.box(4, 0.2, 0.2):placed { 0, 0, 0, eighth[1], eighth[2], 0, 0 } -- an edge is on top
    local kinds, gaps = touching(box, { 0, 0, s + 0.1 * math.sqrt(2) + 0.005, eighth[1], 0, eighth[2], 0 }, beam)
    assert.equal("line_line", kinds)
    assert.near(0.005, gaps[1], 1e-14)
    -- a box that hangs over: two corners, two places where its edges cross the border
    kinds, gaps = touching(box, { 2, 0.3, 0.502, 1, 0, 0, 0 }, floor)
    assert.equal("line_face line_face point_face point_face", kinds)
    for _, gap in ipairs(gaps) do assert.near(0.002, gap, 1e-14) end
    -- the floor's own corners under a larger box
    kinds = touching(c.box(6, 6, 1), { 0, 0, 0.505, 1, 0, 0, 0 }, floor)
    assert.equal("face_point face_point face_point face_point", kinds)
    assert.equal("", (touching(box, { 2.6, 2.6, 0.505, 1, 0, 0, 0 }, floor)))
  end)

  -- The face that looks most at the floor need not have the corner, or the edge, that a pointed hull stands on.
  it("of a hull on a face have its two lowest corners", function()
    math.randomseed(21)
    local missed = 0
    for _ = 1, campaign(200, 1) do
      local points, heights = {}, {}
      for i = 1, math.random(4, 14) do points[i] = { numbers.normal(), numbers.normal(), numbers.normal() } end
      local hull, q = c.hull(points), random_place(1)
      local w, x, y, z = q[4], q[5], q[6], q[7]
      local square = w * w + x * x + y * y + z * z
      for i, p in ipairs(hull:corners()) do
        heights[i] = (2 * ((x * z - w * y) * p[1] + (y * z + w * x) * p[2]) + (w * w - x * x - y * y + z * z) * p[3]) / square
      end
      table.sort(heights)
      q[3] = numbers.uniform(0.1, 1) * 0.003 - heights[1]
      local _, gaps = touching(hull, q, c.box(40, 40, 9):placed { 0, 0, -4.5 }, 0.1)
      table.sort(gaps)
      for i = 1, heights[2] + q[3] < 0.1 and 2 or 1 do
        if not gaps[i] or math.abs(gaps[i] - heights[i] - q[3]) > 1e-12 then missed = missed + 1 end
      end
    end
    assert.equal(0, missed)
  end)

  it("of a turned box on an equal one are at most five, and the same ones after rounding", function()
    local low = box:placed { 0, 0, -0.5 }
    local angle = math.pi / 8
    local q = { 0, 0, 0.5 + 1e-3, math.cos(angle), 0, 0, math.sin(angle) }
    local kinds, _, contacts, ds = touching(box, q, low)
    local names = {}
    for i, inter in ipairs(contacts:interactions()) do names[i] = inter:name() end
    assert.is_true(#names >= 4 and #names <= 5, kinds)
    for k = 1, 20 do
      for i = 1, 3 do ds:q()[i] = q[i] + 1e-14 * math.sin(k * i) end
      contacts:update()
      local again = {}
      for i, inter in ipairs(contacts:interactions()) do again[i] = inter:name() end
      assert.same(names, again)
    end
  end)

  it("of capsules are two where they lie side by side, else one", function()
    local down = { 0, 0, 0, s, 0, s, 0 }
    local lying = c.capsule(0.1, 1):placed(down)
    assert.equal("point_line point_line", (touching(c.capsule(0.1, 0.6), { 0, 0, 0.205, s, 0, s, 0 }, lying)))
    assert.equal("line_line", (touching(c.capsule(0.1, 0.6), { 0, 0, 0.205, s, s, 0, 0 }, lying)))
    assert.equal("point_point", (touching(c.capsule(0.1, 0.6), { 1, 0, 0.005, s, 0, s, 0 }, lying)))
    assert.equal("point_face point_face", (touching(c.capsule(0.1, 0.6), { 0, 0, 0.105, s, 0, s, 0 }, floor)))
    assert.equal("point_line", (touching(c.sphere(0.1), { 0, 0, 0.205, 1, 0, 0, 0 }, lying)))
  end)

  it("of a box on a flat mesh are those on a plane, wherever the triangles are", function()
    math.randomseed(5)
    local heights = ns.zeros(7, 7)
    local mesh = c.heightfield(heights, 0.3, 0.4):placed { -0.9, -1.2, 0 }
    for _ = 1, 20 do
      local angle = numbers.uniform(0, 3)
      local x, y = numbers.uniform(-0.2, 0.2), numbers.uniform(-0.2, 0.2)
      local q = { x, y, 0.502, math.cos(angle), 0, 0, math.sin(angle) }
      local kinds, gaps = touching(box, q, mesh)
      assert.equal("point_face point_face point_face point_face", kinds)
      for _, gap in ipairs(gaps) do assert.near(0.002, gap, 1e-14) end
    end
  end)

  it("of a box on a smaller flat mesh are the mesh's corners", function()
    local kinds, gaps = touching(box, { 0, 0, 0.502, 1, 0, 0, 0 }, c.heightfield(ns.zeros(3, 2), 0.2, 0.4):placed { -0.2, -0.2, 0 })
    assert.equal(6, #gaps, kinds)
    for _, gap in ipairs(gaps) do assert.near(0.002, gap, 1e-14) end
  end)

  it("of a ball that rolls over a mesh are one, but in a valley two, at a ridge its edge", function()
    local flat = c.heightfield({ { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, 1, 1)
    for _, at in ipairs { { 0.5, 0.2 }, { 1, 1 }, { 0.7, 0.7 }, { 1, 0.3 } } do
      assert.equal("point_face", (touching(c.sphere(0.2), { at[1], at[2], 0.2, 1, 0, 0, 0 }, flat)))
    end
    local valley = c.heightfield({ { 1, 1 }, { 0, 0 }, { 1, 1 } }, 1, 1)
    assert.equal("point_face point_face", (touching(c.sphere(0.2), { 1, 0.3, 0.2 / s, 1, 0, 0, 0 }, valley)))
    local ridge = c.heightfield({ { 0, 0 }, { 1, 1 }, { 0, 0 } }, 1, 1)
    assert.equal("point_line", (touching(c.sphere(0.2), { 1, 0.3, 1.2, 1, 0, 0, 0 }, ridge)))
    assert.equal("point_face", (touching(c.sphere(0.2), { 0.7, 0.3, 0.7 + 0.2 / s, 1, 0, 0, 0 }, ridge)))
  end)

  it("have the gap that the distance tells, of cylinders with all others, also over bent meshes", function()
    math.randomseed(5)
    local tried = 0
    for case = 1, campaign(60, 0.5) do
      local heights = {}
      for i = 1, 4 do
        heights[i] = {}
        for j = 1, 4 do heights[i][j] = numbers.uniform(-0.4, 0.4) end
      end
      local one, other = random_shape(5), random_shape(case % 5 + 1)
      if case % 6 == 0 then other = c.heightfield(heights, 0.7, 0.7):placed { -1, -1, 0 } end
      if case % 6 > 0 and case % 4 == 0 then one, other = other, one end
      local q, wanted = random_place(0.8), numbers.uniform(1e-4, 5e-3)
      local d, n
      q[3] = q[3] + 3
      local length = math.sqrt(q[4] ^ 2 + q[5] ^ 2 + q[6] ^ 2 + q[7] ^ 2)
      for k = 4, 7 do q[k] = q[k] / length end
      for _ = 1, 40 do -- towards the other one, up to the gap
        local answer = table.pack(c.distance(one:placed(q), other))
        d, n = answer[1], answer[4]
        if math.abs(d - wanted) < 1e-12 then break end
        for k = 1, 3 do q[k] = q[k] + (wanted - d) * n[k] end
      end
      if math.abs(d - wanted) < 1e-9 then
        local kinds, gaps = touching(one, q, other, 0.02)
        assert.is_true(#gaps > 0 and #gaps < 12, ("case %d: %s"):format(case, kinds))
        assert.near(d, math.min(table.unpack(gaps)), 1e-7)
        tried = tried + 1
      end
    end
    assert.is_true(tried > 40)
  end)
end)
