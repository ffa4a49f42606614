-- Contact frames in space: rows against differences of the gap and of the points of the bodies.
local ns = require "nslua"
local internal = require "nslua.internal"
local times = require "motion".multiply

-- ---- vectors and quaternions, written again ----

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local function minus(a, b) return { a[1] - b[1], a[2] - b[2], a[3] - b[3] } end
local function along(p, s, n) return { p[1] + s * n[1], p[2] + s * n[2], p[3] + s * n[3] } end

local function quaternion(q) return { q[4] or 1, q[5] or 0, q[6] or 0, q[7] or 0 } end

local function turn(e, c)
  local p = times(times(e, { 0, c[1], c[2], c[3] }), { e[1], -e[2], -e[3], -e[4] })
  return { p[2], p[3], p[4] }
end

-- The point at c in the body's axes, in space, and back.
local function place(q, c) return along(turn(quaternion(q), c), 1, q) end
local function into(q, p)
  local e = quaternion(q)
  return turn({ e[1], -e[2], -e[3], -e[4] }, minus(p, q))
end

-- The coordinates after moving with v for the time s: exactly, for a constant angular velocity in the body's axes.
local function moved(q, v, s)
  local out = along(q, s, v)
  if #q == 3 then return out end
  local rate = math.sqrt(v[4] ^ 2 + v[5] ^ 2 + v[6] ^ 2)
  local half = math.sin(s * rate / 2) / rate
  local e = times(quaternion(q), { math.cos(s * rate / 2), half * v[4], half * v[5], half * v[6] })
  return { out[1], out[2], out[3], e[1], e[2], e[3], e[4] }
end

local function unit(v)
  local sum = 0
  for _, x in ipairs(v) do sum = sum + x * x end
  for i, x in ipairs(v) do v[i] = x / math.sqrt(sum) end
  return v
end

-- A body of 7 or 3 coordinates with random coordinates and velocities.
local function body(rng, n)
  local q, v = {}, {}
  for i = 1, 3 do q[i], v[i] = rng(), rng() end
  if n == 3 then return ns.LagrangianLinearTIDS(q, v, ns.eye(3)), q, v end
  local e = unit { rng(), rng(), rng(), rng() }
  for i = 1, 4 do q[3 + i] = e[i] end
  for i = 4, 6 do v[i] = rng() end
  return ns.NewtonEulerDS(q, v, 1, ns.eye(3)), q, v
end

local function random(seed)
  return function()
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed / 1073741824 - 1
  end
end

-- An interaction's y and the velocities of y at the start.
local function start(relation, rows, first, second)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(first)
  if second then nsds:insertDynamicalSystem(second) end
  local law = rows == 1 and ns.NewtonImpactNSL(0) or rows == 3 and ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3) or
    rows == 5 and ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, 0.1, 5) or
    ns.NewtonImpactSpinningFrictionNSL(0, 0, 0.5, 0.1, 0.1, 6)
  local inter = ns.Interaction(law, relation)
  nsds:link(inter, first, second)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
  simu:initialize()
  return inter, simu, nsds
end

local normal, point, corner = unit { 0.3, -0.5, 0.8 }, { 0.1, 0.2, -3 }, { 0.4, -0.3, 0.2 }

-- Shapes with their gap and, by definition, the points that touch.
local shapes = {
  sphere_plane = { bodies = 1, options = { R = 0.3, point = point, normal = normal },
    gap = function(q) return dot(minus(q, point), normal) - 0.3 end },
  corner_plane = { bodies = 1, options = { corner = corner, point = point, normal = normal }, turns = true,
    gap = function(q) return dot(minus(place(q, corner), point), normal) end },
  cap_plane = { bodies = 1, options = { R = 0.3, corner = corner, point = point, normal = normal }, turns = true,
    gap = function(q) return dot(minus(place(q, corner), point), normal) - 0.3 end },
  sphere_sphere = { bodies = 2, options = { R1 = 0.1, R2 = 0.2 },
    gap = function(q, p)
      local d = minus(q, p)
      return math.sqrt(dot(d, d)) - 0.3
    end },
}

-- Features: data of the first and of the second body, or the other way round (`other` is the name then).
local edge, border = unit { 0.2, 0.9, -0.3 }, unit { 0.8, 0.5, 0.0125 } -- border: orthogonal to `normal`
local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end
local function length(a) return math.sqrt(dot(a, a)) end
local function direction(q, n) return turn(quaternion(q), n) end

local function feature(name, other, options, gap, slides)
  shapes[name] = { bodies = 2, turns = true, options = options, gap = gap, slides = slides }
  if other then
    shapes[other] = { bodies = 2, turns = true, options = options, slides = slides, gap = function(q, p) return gap(p, q) end }
  end
end

feature("point_face", "face_point", { R = 0.1, corner = corner, point = point, normal = normal }, function(q, p)
  return dot(minus(place(q, corner), place(p, point)), direction(p, normal)) - 0.1
end)
feature("point_line", "line_point", { R1 = 0.1, R2 = 0.2, corner = corner, point = point, normal = normal }, function(q, p)
  return length(cross(minus(place(q, corner), place(p, point)), direction(p, normal))) - 0.3
end)
feature("point_point", nil, { R1 = 0.1, R2 = 0.2, corner = corner, point = point }, function(q, p)
  return length(minus(place(q, corner), place(p, point))) - 0.3
end)
feature("line_line", nil, { R1 = 0.1, corner = corner, along = edge, point = point, normal = normal }, function(q, p)
  local n = cross(direction(q, edge), direction(p, normal))
  return dot(minus(place(q, corner), place(p, point)), n) / length(n) - 0.1
end)
feature("line_face", "face_line", { R = 0.1, corner = corner, along = edge, point = point, normal = normal, side = border },
  function(q, p)
    local from, d, side = minus(place(q, corner), place(p, point)), direction(q, edge), direction(p, border)
    return dot(along(from, -dot(from, side) / dot(d, side), d), direction(p, normal)) - 0.1
  end, true)

local function relation_of(name, rows)
  local options = { shape = name }
  for k, v in pairs(shapes[name].options) do options[k] = v end
  return ns[("NewtonEuler%dDR"):format(rows)](options)
end

-- Rims, with the axis `edge`, and what they touch. ring_face and ring_point have closed forms; where the places of ring_line and
-- ring_ring are, the relation tells: of these the rates are tested alone.
local function rim(name, other, options, gap)
  feature(name, other, options, gap or function(q, p)
    return (start(relation_of(name, 1), 1, ns.NewtonEulerDS(q, ns.zeros(6), 1, ns.eye(3)),
      ns.NewtonEulerDS(p, ns.zeros(6), 1, ns.eye(3))):y(0)[1])
  end)
end
rim("ring_face", "face_ring", { R = 0.4, corner = corner, along = edge, point = point, normal = normal }, function(q, p)
  local n = direction(p, normal)
  return dot(minus(place(q, corner), place(p, point)), n) - 0.4 * math.sqrt(1 - dot(direction(q, edge), n) ^ 2)
end)
rim("ring_point", "point_ring", { R1 = 0.4, R2 = 0.1, corner = corner, along = edge, point = point }, function(q, p)
  local way = minus(place(p, point), place(q, corner))
  local up = dot(way, direction(q, edge))
  return math.sqrt((math.sqrt(dot(way, way) - up ^ 2) - 0.4) ^ 2 + up ^ 2) - 0.1
end)
rim("ring_line", "line_ring", { R1 = 0.4, R2 = 0.1, corner = corner, along = edge, point = point, normal = normal })
rim("ring_ring", nil, { R1 = 0.4, R2 = 0.3, corner = corner, along = edge, point = point, normal = normal })

-- Looks at one contact of a shape: gap, frame, and rows against differences.
local function look(name, rows, coordinates, rng)
  local shape, d = shapes[name], 1e-5
  local first, q, v = body(rng, coordinates)
  local second, p, w
  if shape.bodies == 2 then second, p, w = body(rng, coordinates) end
  local relation = relation_of(name, rows)
  local inter = start(relation, rows, first, second)
  assert.near(shape.gap(q, p), inter:y(0)[1], shape.slides and 1e-11 or 1e-13)
  local n, pc1, pc2 = relation:nc(), relation:pc1(), relation:pc2()
  assert.near(1, dot(n, n), 1e-14)
  assert.near(inter:y(0)[1], dot(minus(pc1, pc2), n), shape.slides and 1e-11 or 1e-13)
  local function gap(s) return shape.gap(moved(q, v, s), p and moved(p, w, s)) end
  if not shape.slides then assert.near((gap(d) - gap(-d)) / (2 * d), inter:y(1)[1], 1e-7 * (1 + math.abs(inter:y(1)[1]))) end
  -- the points of the bodies that are at pc1 and pc2 now
  local c1, c2 = into(q, pc1), p and into(p, pc2)
  if coordinates == 3 then c1, c2 = { 0, 0, 0 }, p and { 0, 0, 0 } end
  local function apart(s)
    local there = place(moved(q, v, s), c1)
    return c2 and minus(there, place(moved(p, w, s), c2)) or there
  end
  local difference, squares = minus(apart(d), apart(-d)), 0
  for i = 1, 3 do
    difference[i] = difference[i] / (2 * d)
    squares = squares + difference[i] ^ 2
  end
  assert.near(dot(difference, n), inter:y(1)[1], 1e-8)
  if rows == 1 then return end
  -- orthonormal: the three velocities have the length of the whole one
  local u = inter:y(1)
  assert.near(1, (u[1] ^ 2 + u[2] ^ 2 + u[3] ^ 2) / squares, 1e-7)
  if rows == 3 then return end
  -- the rolling rows: the angular velocity of the first body against the second, without the part along the normal
  local spin = turn(quaternion(q), { v[4], v[5], v[6] })
  if p then spin = minus(spin, turn(quaternion(p), { w[4], w[5], w[6] })) end
  assert.near(dot(spin, spin) - dot(spin, n) ^ 2, u[4] ^ 2 + u[5] ^ 2, 1e-12)
end

-- The rate of coordinates that move with v.
local function rate(q, v)
  if #q == 3 then return { v[1], v[2], v[3] } end
  local e = times(quaternion(q), { 0, v[4] / 2, v[5] / 2, v[6] / 2 })
  return { v[1], v[2], v[3], e[1], e[2], e[3], e[4] }
end

local function joined(a, b) return table.move(b or {}, 1, b and #b or 0, #a + 1, table.move(a, 1, #a, 1, {})) end

-- How the velocities of a contact change along a motion: as the rate of its frame tells, and by differences of order 6.
local function look_along(name, rows, coordinates, rng)
  local first, q, v = body(rng, coordinates)
  local second, p, w
  if shapes[name].bodies == 2 then second, p, w = body(rng, coordinates) end
  local relation, slope, d = relation_of(name, rows), ns.zeros(rows), 1e-3
  start(relation, rows, first, second)
  for part, weight in pairs { [1] = 45, [2] = -9, [3] = 1 } do
    for side = -1, 1, 2 do
      local s = side * part * d
      local function there(x, u)
        if #x == 3 then return ns.LagrangianLinearTIDS(moved(x, u, s), u, ns.eye(3)) end
        return ns.NewtonEulerDS(moved(x, u, s), u, 1, ns.eye(3))
      end
      local inter = start(relation_of(name, rows), rows, there(q, v), p and there(p, w))
      slope = slope + side * weight / (60 * d) * inter:y(1)
    end
  end
  local bias = internal.relation_bias(relation, 0, joined(q, p), joined(rate(q, v), p and rate(p, w)))
  local size = 1
  for i = 1, rows do size = math.max(size, math.abs(slope[i])) end
  for i = 1, rows do assert.near(slope[i], bias[i], 1e-7 * size ^ 2, name .. " row " .. i) end
end

describe("contact frames", function()
  it("have the gap of a rim that stands nearly flat on a face to rounding", function()
    local rng = random(7)
    for k = 1, 30 do
      local axis, tilt = unit { rng(), rng(), rng() }, 10 ^ (-1 - k % 8)
      local e = unit { 1, tilt * rng(), tilt * rng(), tilt * rng() }
      local q = { 0, 0, 0, e[1], e[2], e[3], e[4] }
      local relation = ns.NewtonEuler1DR { shape = "ring_face", R = 0.4, corner = { 0, 0, 0 }, along = axis, point = { 0, 0, 0 },
        normal = { -axis[1], -axis[2], -axis[3] } }
      local inter, a = start(relation, 1, ns.NewtonEulerDS(q, ns.zeros(6), 1, ns.eye(3))), turn(e, axis)
      local x = { a[2] * axis[3] - a[3] * axis[2], a[3] * axis[1] - a[1] * axis[3], a[1] * axis[2] - a[2] * axis[1] }
      assert.near(-0.4 * math.sqrt(dot(x, x)), inter:y(0)[1], 1e-15)
    end
  end)

  for name, shape in pairs(shapes) do
    it(("of %s have the rates of the gap and of the points that touch"):format(name), function()
      local rng, other = random(7), random(7)
      for _ = 1, 20 do
        for _, rows in ipairs { 1, 3, 5, 6 } do
          look(name, rows, 7, rows == 6 and other or rng)
          if rows < 5 and not shape.turns then look(name, rows, 3, rng) end
        end
      end
    end)
  end

  for name, shape in pairs(shapes) do
    it(("of %s have velocities whose rates along the motion are known"):format(name), function()
      local rng, other = random(11), random(11)
      for _ = 1, 10 do
        for _, rows in ipairs { 1, 3, 5, 6 } do
          look_along(name, rows, 7, rows == 6 and other or rng)
          if rows < 5 and not shape.turns then look_along(name, rows, 3, rng) end
        end
      end
    end)
  end

  -- A particle with velocity d has the velocities d . n, d . t1, d . t2.
  local function axes(n)
    local t1, t2 = {}, {}
    for k = 1, 3 do
      local v = { 0, 0, 0 }
      v[k] = 1
      local ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, v, ns.eye(3))
      local u = start(ns.NewtonEuler3DR { shape = "sphere_plane", R = 1, point = { 0, 0, -5 }, normal = n }, 3, ds):y(1)
      t1[k], t2[k] = u[2], u[3]
    end
    return t1, t2
  end

  it("turn about the tangents in the rolling rows, in their order, and then about the normal", function()
    local function ds() return ns.NewtonEulerDS({ 0, 0, 1, 1, 0, 0, 0 }, { 1, 2, 0, 3, 4, 5 }, 1, ns.eye(3)) end
    local plane = { shape = "sphere_plane", R = 1, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
    assert.same({ 0, 1 - 4, 2 + 3, 3, 4 }, start(ns.NewtonEuler5DR(plane), 5, ds()):y(1):totable())
    assert.same({ 0, 1 - 4, 2 + 3, 3, 4, 5 }, start(ns.NewtonEuler6DR(plane), 6, ds()):y(1):totable())
  end)

  it("are right-handed, and smooth but at two normals", function()
    local t1, t2 = axes { 0, 0, 1 }
    assert.same({ { 1, 0, 0 }, { 0, 1, 0 } }, { t1, t2 })
    t1, t2 = axes { 0, 0, -2 }
    assert.same({ { 1, 0, 0 }, { 0, -1, 0 } }, { t1, t2 })
    for _, tilt in ipairs { 1e-200, 1e-9, 1e-4, 1, math.pi / 2, 3, math.pi - 1e-4, math.pi - 1e-9 } do
      for turned = 0, 6 do
        local n = { math.sin(tilt) * math.cos(turned), math.sin(tilt) * math.sin(turned), math.cos(tilt) }
        t1, t2 = axes(n)
        assert.near(1, dot(t1, t1), 1e-14)
        assert.near(1, dot(t2, t2), 1e-14)
        assert.near(0, dot(t1, t2), 1e-14)
        assert.near(0, dot(t1, n), 1e-14)
        local right = { n[2] * t1[3] - n[3] * t1[2], n[3] * t1[1] - n[1] * t1[3], n[1] * t1[2] - n[2] * t1[1] }
        assert.near(1, dot(right, t2), 1e-14)
      end
    end
    -- across the equator nothing jumps
    for turned = 0, 6 do
      local c, s = math.cos(turned), math.sin(turned)
      local above, below = axes { c, s, 1e-9 }, axes { c, s, -1e-9 }
      for i = 1, 3 do assert.near(above[i], below[i], 1e-8) end
      local r = math.sqrt(0.75)
      above, below = axes { r * c, r * s, -0.5 + 1e-9 }, axes { r * c, r * s, -0.5 - 1e-9 }
      for i = 1, 3 do assert.near(above[i], below[i], 1e-7) end
    end
    -- of a body that another one lies on they do not turn with rounding
    for turned = 0, 6 do
      for _, tilt in ipairs { 1e-17, 1e-9, 1e-3 } do
        t1, t2 = axes { math.sin(tilt) * math.cos(turned), math.sin(tilt) * math.sin(turned), -math.cos(tilt) }
        for i = 1, 3 do
          assert.near(i == 1 and 1 or 0, t1[i], 5 * tilt)
          assert.near(i == 2 and -1 or 0, t2[i], 5 * tilt)
        end
      end
    end
  end)

  it("set by computeh are those of the ready-made shape", function()
    local Ball = ns.class(ns.NewtonEuler3DR, "ball")
    function Ball:computeh(time, q, y)
      assert(math.abs(time) < 1)
      local gap = dot(minus(q, point), normal) - 0.3
      self:setpc1(along(q, -0.3, normal))
      self:setpc2(along(q, -0.3 - gap, normal))
      self:setnc { 2 * normal[1], 2 * normal[2], 2 * normal[3] }
      y[1] = gap
    end
    local ds = body(random(3), 7)
    local mine = start(Ball(), 3, ds)
    local theirs = start(relation_of("sphere_plane", 3), 3, (body(random(3), 7)))
    for level = 0, 1 do
      for i = 1, 3 do assert.near(theirs:y(level)[i], mine:y(level)[i], 1e-14) end
    end
    for _, what in ipairs { "pc1", "pc2", "nc" } do
      local a, b = mine:relation(), theirs:relation()
      for i = 1, 3 do assert.near(b[what](b)[i], a[what](a)[i], 1e-14) end
    end
  end)

  it("of a world that moves have the rate of the gap", function()
    local relation = ns.NewtonEuler1DR()
    relation:setComputehFunction(function(t, q, y)
      relation:setpc1 { q[1], q[2], q[3] }
      relation:setnc { 0, 0, 1 }
      y[1] = q[3] + 2 - math.sin(3 * t)
    end)
    local ds = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0.5, 0, 0, 0 }, 1, ns.eye(3))
    assert.near(0.5 - 3, start(relation, 1, ds):y(1)[1], 1e-9)
  end)

  it("are copied with the simulation", function()
    local ds = body(random(5), 7)
    local _, simu = start(relation_of("corner_plane", 3), 3, ds)
    local copy = simu:clone()
    for _ = 1, 3 do
      simu:computeOneStep()
      simu:nextStep()
      copy:computeOneStep()
      copy:nextStep()
    end
    local other = copy:nsds():dynamicalSystem(1)
    assert.same(ds:q():totable(), other:q():totable())
    assert.is_true((simu:check()))
  end)
end)

-- Edges along x and y that cross at (s, t, 0), with a gap of -0.01.
describe("lines that end", function()
  local function edges(s, t, shape)
    local function at(z) return ns.NewtonEulerDS({ 0, 0, z, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3)) end
    local first, second = at(-0.01), at(0)
    local options = shape == "line_face" and { corner = { 0, -t, 0 }, along = { 0, 1, 0 }, point = { -s, 0, 0 },
      normal = { 0, 0, 1 }, side = { 0, -1, 0 }, L1 = 2, L2 = 1 } or
      { corner = { -s, 0, 0 }, along = { 1, 0, 0 }, point = { 0, -t, 0 }, normal = { 0, 1, 0 }, L1 = 1, L2 = 2 }
    options.shape = shape
    local relation = ns.NewtonEuler1DR(options)
    return start(relation, 1, first, second):y(0)[1], relation:pc1(), relation:pc2()
  end

  it("touch up to half of their length behind an end; from there on the gap grows by the way to the crossing", function()
    for _, shape in ipairs { "line_line", "line_face" } do
      for _, inside in ipairs { { 0.5, 1 }, { -0.49, 1 }, { 1.49, 1 }, { 0.5, -0.99 }, { 0.5, 2.99 } } do
        assert.near(-0.01, edges(inside[1], inside[2], shape), 1e-14, shape)
      end
      for _, far in ipairs { { -1.5, 1, 1 }, { 2.5, 1, 1 }, { 0.5, -1.25, 0.25 }, { 0.5, 3.25, 0.25 }, { -1.5, 3.5, 1.5 } } do
        assert.near(far[3] - 0.01, edges(far[1], far[2], shape), 1e-14, shape)
      end
    end
    local _, pc1, pc2 = edges(1000, 1000, "line_line")
    assert.near(-998.5, pc1[1], 1e-12)
    assert.near(-997, pc2[2], 1e-12)
  end)
end)

describe("NewtonEuler1DR, NewtonEuler3DR, NewtonEuler5DR and NewtonEuler6DR", function()
  local function message(f, ...)
    local good, text = pcall(f, ...)
    assert.is_false(good)
    return (text:gsub("^[^:]*:%d+: ", ""))
  end

  it("say what is wrong with their options", function()
    local plane = { shape = "sphere_plane", R = 1, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
    local function with(key, value)
      local options = {}
      for k, v in pairs(plane) do options[k] = v end
      options[key] = value
      return message(ns.NewtonEuler3DR, options)
    end
    local shapes_known = "NewtonEuler3DR: shape: expected 'sphere_plane', 'sphere_sphere', 'corner_plane', 'cap_plane', " ..
      "'point_face', 'face_point', 'point_line', 'line_point', 'point_point', 'line_line', 'line_face', 'face_line', " ..
      "'ring_face', 'face_ring', 'ring_line', 'line_ring', 'ring_point', 'point_ring' or 'ring_ring', got "
    assert.equal(shapes_known .. "'cone'", with("shape", "cone"))
    assert.equal(shapes_known .. "number 3.0", with("shape", 3))
    assert.equal("NewtonEuler3DR: R: expected a positive number, got number -1.0", with("R", -1))
    assert.equal("NewtonEuler3DR: R: expected a finite number, got number inf", with("R", math.huge))
    assert.equal("NewtonEuler3DR: point: expected a vector of 3, got a list of 2", with("point", { 1, 2 }))
    assert.equal("NewtonEuler3DR: normal: expected a direction, got zeros", with("normal", { 0, 0, 0 }))
    assert.equal("NewtonEuler3DR: R2: the shape sphere_plane has none", with("R2", 1))
    assert.equal("NewtonEuler3DR: corner: the shape sphere_plane has none", with("corner", { 1, 0, 0 }))
    assert.equal("NewtonEuler3DR: R: the shape corner_plane has none", message(ns.NewtonEuler3DR,
      { shape = "corner_plane", R = 0.1, corner = { 1, 0, 0 }, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }))
    assert.equal("NewtonEuler3DR: expected h or shape, got both", with("h", print))
    assert.equal("NewtonEuler3DR: unknown option 'radius' " ..
      "(known: h, z, name, shape, R, R1, R2, L1, L2, corner, along, point, normal, side)", with("radius", 1))
    assert.equal("NewtonEuler1DR: R1: expected a positive number, got nil",
      message(ns.NewtonEuler1DR, { shape = "sphere_sphere", R2 = 1 }))
    local ready = ns.NewtonEuler3DR(plane)
    assert.equal("setnc: the shape sphere_plane has its own", message(ready.setnc, ready, { 0, 0, 1 }))
    assert.equal("setComputehFunction: the shape sphere_plane has its own",
      message(ready.setComputehFunction, ready, print))
    assert.matches("NewtonEuler3DR: it has no method 'setC'", message(function() return ready.setC end), 1, true)
    local own = ns.NewtonEuler3DR()
    assert.equal("a NewtonEulerR has no contact frame", message(own.setnc, ns.NewtonEulerR(), { 0, 0, 1 }))
    assert.equal("setnc: nc: expected a direction, got zeros", message(own.setnc, own, { 0, 0, 0 }))
    assert.equal("setpc1: pc1: expected a vector of 3, got a list of 1", message(own.setpc1, own, { 0 }))
  end)

  it("fit their law and their bodies", function()
    local one, two, flat = body(random(1), 7), body(random(2), 7), ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
    local particle = body(random(3), 3)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    for _, ds in ipairs { one, two, flat, particle } do nsds:insertDynamicalSystem(ds) end
    flat:setName "flat"
    local friction = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3)
    local function link(law, relation, ...) return message(nsds.link, nsds, ns.Interaction(law, relation), ...) end
    assert.equal("relation 'NewtonEuler3DR': a NewtonEuler3DR goes with a law of size 3, got 1",
      link(ns.NewtonImpactNSL(0), relation_of("sphere_plane", 3), one))
    assert.equal("relation 'NewtonEuler3DR': sphere_plane: expected 7 coordinates of one body, or 3 of a particle, got 14 " ..
      "of dynamical systems 'ds 1' and 'ds 2'",
      link(friction, relation_of("sphere_plane", 3), one, two))
    assert.equal("relation 'NewtonEuler3DR': sphere_sphere: expected 14 coordinates of two bodies, or 6 of particles, got 7 " ..
      "of dynamical system 'ds 1'",
      link(friction, relation_of("sphere_sphere", 3), one))
    assert.equal("relation 'NewtonEuler3DR': corner_plane: expected 7 coordinates of one body, got 3 of dynamical system 'ds 4'",
      link(friction, relation_of("corner_plane", 3), particle))
    assert.equal("relation 'NewtonEuler3DR': computeh: expected 7 coordinates (14 of two bodies), or 3 (6) of particles, got 10 " ..
      "of dynamical systems 'ds 1' and 'ds 4'",
      link(friction, ns.NewtonEuler3DR { h = print }, one, particle))
    local rolling = ns.NewtonImpactRollingFrictionNSL(0, 0, 0.3, 0.1, 5)
    assert.equal("relation 'NewtonEuler5DR': sphere_plane: expected 7 coordinates of one body, got 3 of dynamical system 'ds 4'",
      link(rolling, relation_of("sphere_plane", 5), particle))
    assert.equal("relation 'NewtonEuler5DR': sphere_sphere: expected 14 coordinates of two bodies, got 7 of dynamical " ..
      "system 'ds 1'",
      link(rolling, relation_of("sphere_sphere", 5), one))
    assert.equal("relation 'NewtonEuler5DR': computeh: expected 7 coordinates (14 of two bodies), got 3 of dynamical system 'ds 4'",
      link(rolling, ns.NewtonEuler5DR { h = print }, particle))
    assert.equal("relation 'NewtonEuler6DR': a NewtonEuler6DR goes with a law of size 6, got 5",
      link(rolling, relation_of("sphere_plane", 6), one))
    assert.equal("relation 'NewtonEuler5DR': a NewtonEuler5DR goes with a law of size 5, got 3",
      link(friction, relation_of("sphere_plane", 5), one))
    assert.equal("link: a NewtonEuler3DR goes with NewtonEulerDS or particles of 3 coordinates, and dynamical system " ..
      "'flat' is neither", link(friction, relation_of("sphere_plane", 3), flat))
    assert.equal("link: a NewtonEuler3DR goes with laws of contacts in space, and a NewtonImpactRollingFrictionNSL of size 3 is " ..
      "one of the plane", link(ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, 0.1, 3), relation_of("sphere_plane", 3), one))
    assert.equal("relation 'NewtonEuler3DR': computeh is missing (or set C)", link(friction, ns.NewtonEuler3DR(), one))
    assert.equal(0, nsds:numberOfInteractions())
  end)

  it("need a normal from computeh, and centres apart", function()
    local ds = body(random(1), 7)
    local text = message(start, ns.NewtonEuler3DR { name = "own", h = function(_, _, y) y[1] = 1 end }, 3, ds)
    assert.matches("nc is not set (computeh is to call setpc1, setpc2 and setnc)", text, 1, true)
    local a, b = body(random(1), 7), body(random(1), 7)
    text = message(start, relation_of("sphere_sphere", 3), 3, a, b)
    assert.matches("relation 'NewtonEuler3DR': the centres coincide, or are nan, at t=0", text, 1, true)
  end)
end)
