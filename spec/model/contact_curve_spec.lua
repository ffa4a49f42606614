-- How the Jacobians C of relations of mechanics change with the coordinates: closed forms and jets against differences of C.
local ns = require "nslua"
local graph = require("models").graph
local internal = require "nslua.internal"
local numbers = require "random_numbers"

-- The shapes, with lengths in other units: `unit` metres.
local shapes = {
  { "sphere_plane", 1, function(unit) return { R = 0.3 / unit, point = { 0, 0, 0 }, normal = { 0.3, -0.5, 0.8 } } end },
  { "corner_plane", 1, function(unit)
    return { corner = { 0.4 / unit, -0.3 / unit, 0.2 / unit }, point = { 0, 0, 0 }, normal = { 0.3, -0.5, 0.8 } }
  end, true },
  { "cap_plane", 1, function(unit)
    return { R = 0.7 / unit, corner = { 0.4 / unit, -0.3 / unit, 0.2 / unit }, point = { 0, 0, 0 }, normal = { 0.3, -0.5, 0.8 } }
  end, true },
  { "sphere_sphere", 2, function(unit) return { R1 = 0.1 / unit, R2 = 0.2 / unit } end },
}

-- Of bodies in the plane.
local flat = {
  { "sphere_plane", 1, function() return { R = 0.3, point = { 0.1, -0.2, 0 }, normal = { 0.3, -0.5, 0 } } end },
  { "sphere_sphere", 2, function() return { R1 = 0.1, R2 = 0.2 } end },
}

local function body(n)
  if n == 3 then return ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3)) end
  return ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
end

local function linked(relation, law, ...)
  graph(1, ...):link(ns.Interaction(law, relation), ...)
  return relation
end

local function contact(shape, rows, coordinates, unit)
  local options = shape[3](unit or 1)
  options.shape = shape[1]
  local relation = ns[rows == 2 and "Lagrangian2d2DR" or ("NewtonEuler%dDR"):format(rows)](options)
  local law = rows == 1 and ns.NewtonImpactNSL(0) or rows <= 3 and ns.NewtonImpactFrictionNSL(0, 0, 0.5, rows) or
    rows == 5 and ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, 0.1, 5) or
    ns.NewtonImpactSpinningFrictionNSL(0, 0, 0.5, 0.1, 0.1, 6)
  return linked(relation, law, body(coordinates), shape[2] == 2 and body(coordinates) or nil)
end

-- The slope of a list f(s) at s = 0, by differences of order 6.
local function slope(f)
  local h, sum = 2e-3, nil
  for part, weight in pairs { [1] = 45, [2] = -9, [3] = 1 } do
    local up, down = f(part * h), f(-part * h)
    sum = sum or ns.zeros(#up)
    sum = sum + weight / (60 * h) * (up - down)
  end
  return sum
end

local function near(expected, got, what)
  local size, off = 1e-3, 0
  for i = 1, #expected do size, off = math.max(size, math.abs(expected[i])), math.max(off, math.abs(expected[i] - got[i])) end
  assert.is_true(off <= 3e-9 * size, what .. (": %.2g of %.2g"):format(off, size))
end

-- second w w: m numbers.
local function along(second, m, w)
  local out = ns.zeros(m)
  for k = 1, #w do
    for j = 1, #w do
      for i = 1, m do out[i] = out[i] + second[i + m * (j - 1 + #w * (k - 1))] * w[j] * w[k] end
    end
  end
  return out
end

-- Compares the curvature of a relation with m rows at (t, q), for w, with differences of C and of second w w; drift, of a relation
-- of time, with differences by the time.
local function look(relation, m, t, q, w, timed)
  local n = #q
  local C, second, drift, third = internal.relation_curvature(relation, t, q, w)
  assert.is_truthy(second)
  for k = 1, n do
    local function there(s)
      local x = ns.vector(q)
      x[k] = x[k] + s
      return x
    end
    local from = m * n * (k - 1)
    near(slope(function(s) return (internal.relation_curvature(relation, t, there(s), w)) end),
      second:slice(from + 1, from + m * n), "second")
    if not timed then
      near(slope(function(s) return along(select(2, internal.relation_curvature(relation, t, there(s), w)), m, w) end),
        third:slice(m * (k - 1) + 1, m * k), "third")
    end
  end
  if timed then
    near(slope(function(s) return (internal.relation_curvature(relation, t + s, q, w)) end), drift, "drift")
  else
    for i = 1, m * n do assert.near(0, drift[i], 1e-13) end
  end
  return C
end

local function random_state(n, bodies)
  local q = {}
  for b = 0, bodies - 1 do
    for i = 1, n do q[b * n + i] = numbers.uniform(-1, 1) end
    if n == 7 then
      local length = math.sqrt(q[b * n + 4] ^ 2 + q[b * n + 5] ^ 2 + q[b * n + 6] ^ 2 + q[b * n + 7] ^ 2)
      for i = 4, 7 do q[b * n + i] = q[b * n + i] / length end
    end
  end
  return q
end

describe("contacts in the plane", function()
  it("have the rows of the gap and of the tangent, and their exact rates", function()
    math.randomseed(12)
    local along_normal = 1 / math.sqrt(0.34)
    for _ = 1, 20 do
      local q, w = random_state(3, 2), random_state(3, 2)
      q[4] = q[4] + 3 -- apart, for the differences
      local C = look(contact(flat[2], 2, 3), 2, 0, q, w)
      local x, y = q[1] - q[4], q[2] - q[5]
      local d = math.sqrt(x * x + y * y)
      x, y = x / d, y / d
      near({ x, y, y, -x, 0, 0.1, -x, -y, -y, x, 0, 0.2 }, { C[1], C[3], C[2], C[4], C[5], C[6], C[7], C[9], C[8], C[10],
        C[11], C[12] }, "rows")
      q, w = random_state(3, 1), random_state(3, 1)
      C = look(contact(flat[1], 2, 3), 2, 0, q, w)
      x, y = 0.3 * along_normal, -0.5 * along_normal
      near({ x, y, y, -x, 0, 0.3 }, { C[1], C[3], C[2], C[4], C[5], C[6] }, "rows")
    end
  end)

  it("move bodies the same way when computeh of a script sets them", function()
    local function beside(q, R, n) return { q[1] + R * n[1], q[2] + R * n[2], 0 } end
    local Disk, Disks = ns.class(ns.Lagrangian2d2DR, "disk"), ns.class(ns.Lagrangian2d2DR, "disks")
    function Disk:computeh(_, q, y)
      y[1] = 0.6 * q[1] + 0.8 * q[2] - 0.3
      self:setpc1(beside(q, -0.3, { 0.6, 0.8 }))
      self:setpc2(beside(q, -0.3 - y[1], { 0.6, 0.8 }))
      self:setnc { 0.6, 0.8, 0 }
    end
    function Disks:computeh(_, q, y)
      local distance = ((q[1] - q[4]) ^ 2 + (q[2] - q[5]) ^ 2) ^ 0.5
      local n = { (q[1] - q[4]) / distance, (q[2] - q[5]) / distance }
      y[1] = distance - 0.5
      self:setpc1(beside(q, -0.3, n))
      self:setpc2 { q[4] + 0.2 * n[1], q[5] + 0.2 * n[2], 0 }
      self:setnc { n[1], n[2], 0 }
    end
    local function thrown(make, own)
      local first = ns.LagrangianLinearTIDS({ 0, 0.5, 0 }, { 0.5, 0, 3 }, ns.diag { 1, 1, 0.05 })
      local second = ns.LagrangianLinearTIDS({ 0.1, 1.2, 0 }, { 0, 0, -2 }, ns.diag { 2, 2, 0.04 })
      first:setFExtPtr { 0, -10, 0 }
      second:setFExtPtr { 0, -20, 0 }
      local nsds = graph(1, first, second)
      local law = ns.NewtonImpactFrictionNSL(0.3, 0, 0.4, 2)
      local line = { shape = "sphere_plane", R = 0.3, point = { 0, 0, 0 }, normal = { 0.6, 0.8, 0 } }
      nsds:link(ns.Interaction(law, own and Disk() or ns.Lagrangian2d2DR(line)), first)
      local pair = { shape = "sphere_sphere", R1 = 0.3, R2 = 0.2 }
      local touch = ns.Interaction(law, own and Disks() or ns.Lagrangian2d2DR(pair))
      nsds:link(touch, first, second)
      local hit = 0
      for _ in make(nsds):steps() do hit = math.max(hit, touch:lambda(1)[1]) end
      assert.is_true(hit > 0)
      return { first:q(), first:velocity(), second:q(), second:velocity() }
    end
    for _, make in ipairs {
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5)) end,
      function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)) end } do
      local theirs, mine = thrown(make, false), thrown(make, true)
      for k = 1, 4 do
        for i = 1, 3 do assert.near(theirs[k][i], mine[k][i], 1e-8) end
      end
    end
    assert.error_matches(function()
      linked(Disk(), ns.NewtonImpactFrictionNSL(0, 0, 0, 2), ns.LagrangianDS({ 0, 0, 0, 0 }, { 0, 0, 0, 0 }))
    end, "relation 'disk': computeh: expected 3 coordinates of a body in the plane, or 6 of two, got 4 of dynamical system 'ds 1'")
  end)

  it("refuse shapes and places outside of the plane", function()
    local law, two = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2), ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3)
    local function refuses(text, f, ...)
      local good, message = pcall(f, ...)
      assert.is_false(good)
      assert.matches(text, message, 1, true)
    end
    refuses("Lagrangian2d2DR: normal: expected a third number of 0 in the plane, got 1.0", ns.Lagrangian2d2DR,
      { shape = "sphere_plane", R = 1, point = { 0, 0, 0 }, normal = { 0, 1, 1 } })
    refuses("setpc1: pc1: expected a third number of 0 in the plane, got 2.0", function()
      ns.Lagrangian2d2DR():setpc1 { 0, 0, 2 }
    end)
    for _, shape in ipairs { "corner_plane", "line_line", "triangle" } do
      refuses(("Lagrangian2d2DR: shape: expected 'sphere_plane' or 'sphere_sphere', got '%s'"):format(shape),
        ns.Lagrangian2d2DR, { shape = shape })
    end
    local disk = ns.Lagrangian2d2DR { shape = "sphere_plane", R = 1, point = { 0, 0, 0 }, normal = { 0, 1, 0 } }
    refuses("a Lagrangian2d2DR goes with a law of size 2, got 3", linked, disk, two, body(3))
    refuses("sphere_plane: expected 3 coordinates of a body in the plane, got 6 of", linked, disk, law, body(3), body(3))
    refuses("link: a Lagrangian2d2DR goes with bodies of the coordinates (x, y, angle), and dynamical system 'ds 2' is none",
      linked, disk, law, body(3), body(7))
    local disks = ns.Lagrangian2d2DR { shape = "sphere_sphere", R1 = 1, R2 = 1 }
    refuses("sphere_sphere: expected 6 coordinates of two bodies in the plane, got 3 of", linked, disks, law, body(3))
  end)
end)

describe("the curvature of relations", function()
  it("of ready-made contacts is the derivative of C, and of its rate #once", function()
    local function compare(shape, rows)
      for _, n in ipairs { 7, 3 } do
        for _ = 1, n == 3 and (shape[4] or rows > 3) and 0 or 4 do
          local q = random_state(n, shape[2])
          local relation, w = contact(shape, rows, n), numbers.vector_within(#q, 2)
          if shape[2] == 2 then q[1] = q[1] + 2 end -- apart: the differences need it
          look(relation, rows, 0, q, w)
        end
      end
    end
    for _, list in ipairs { { 1, 3, 5 }, { 6 } } do
      math.randomseed(11)
      for _, shape in ipairs(shapes) do
        for _, rows in ipairs(list) do compare(shape, rows) end
      end
    end
  end)

  it("of two spheres is that of the tangents also where the normal points down #once", function()
    math.randomseed(14)
    for _, way in ipairs { { 0, 0, -1 }, { 0.3, -0.2, -2 }, { 1, 0.5, -1 }, { -1.2, 0, -1.5 }, { 0.9, 0.4, -2 } } do
      local q, w = random_state(7, 2), numbers.vector_within(14, 2)
      for i = 1, 3 do q[i] = q[7 + i] + way[i] end
      for _, rows in ipairs { 5, 6 } do look(contact(shapes[#shapes], rows, 7), rows, 0, q, w) end
    end
  end)

  it("of contacts keeps all bits when lengths have other units #once", function()
    math.randomseed(12)
    for _, shape in ipairs(shapes) do
      local q = random_state(7, shape[2])
      local w, there, rate, unit = numbers.vector_within(#q, 2), {}, {}, 2.0 ^ -30
      for i = 1, #q do
        local length = (i - 1) % 7 < 3
        there[i], rate[i] = length and q[i] / unit or q[i], length and w[i] / unit or w[i]
      end
      local _, second, _, third = internal.relation_curvature(contact(shape, 3, 7), 0, q, w)
      local _, second2, _, third2 = internal.relation_curvature(contact(shape, 3, 7, unit), 0, there, rate)
      local function length(j) return (j - 1) % 7 < 3 and unit or 1 end -- of coordinate j, in the old unit
      for k = 1, #q do
        for j = 1, #q do
          for i = 1, 3 do
            local at = i + 3 * (j - 1 + #q * (k - 1))
            assert.equal(second[at], second2[at] * unit / length(j) / length(k))
          end
        end
        for i = 1, 3 do assert.equal(third[i + 3 * (k - 1)], third2[i + 3 * (k - 1)] * unit / length(k)) end
      end
    end
  end)

  it("of callbacks comes from jets: of h, of Jachq, of functions of time, compiled or not #once", function()
    math.randomseed(13)
    local function h(q, _, y) y[1], y[2] = math.sin(q[1] * q[2]) + q[3] ^ 3, math.exp(q[2]) * q[3] / (2 + q[1]) end
    local function slip(q, _, C)
      C[1][1], C[1][2], C[1][3] = q[2] * q[3], math.cos(q[1]), 1
      C[2][1], C[2][2], C[2][3] = q[1] ^ 2, 0, math.sin(q[2] * q[3])
    end
    local function moving(t, q, _, y) y[1], y[2] = math.sin(t * q[1]) * q[2], q[3] * q[1] ^ 2 + math.cos(t) end
    for _, compile in ipairs { function(f) return f end, ns.compile } do
      local law = ns.EqualityConditionNSL(2)
      look(linked(ns.LagrangianScleronomousR { h = compile(h) }, law, body(3)), 2, 0, { 0.3, -0.4, 0.7 }, { 1, 2, -1 })
      look(linked(ns.LagrangianScleronomousR { h = compile(h), Jachq = compile(slip) }, law, body(3)), 2, 0, { 0.3, -0.4, 0.7 },
        { 1, 2, -1 })
      look(linked(ns.LagrangianRheonomousR { h = compile(moving) }, law, body(3)), 2, 0.7, { 0.3, -0.4, 0.7 }, { 1, 2, -1 }, true)
      local function pivot(_, q, _, y) y[1], y[2] = q[1] + q[4] * q[6] - q[5] * q[7], q[4] ^ 2 * q[7] + q[2] * q[3] end
      look(linked(ns.NewtonEulerR { h = compile(pivot) }, law, body(7)), 2, 0, random_state(7, 1), numbers.vector_within(7, 1))
    end
  end)

  it("of many coordinates takes several passes #once", function()
    local n, q, w = 20, {}, {}
    for i = 1, n do q[i], w[i] = math.sin(i), math.cos(i) end
    local ds = ns.LagrangianLinearTIDS(q, w, ns.eye(n))
    local h = function(x, _, y)
      y[1] = 0
      for i = 1, n do y[1] = y[1] + x[i] ^ 2 * x[(i + 10) % n + 1] end
    end
    look(linked(ns.LagrangianScleronomousR { h = h }, ns.EqualityConditionNSL(1), ds), 1, 0, q, w)
  end)

  it("is unknown for computeh of a contact, and for a computeDotJachq that is no rate of C", function()
    local Ball = ns.class(ns.NewtonEuler1DR, "ball")
    function Ball:computeh(_, q, y)
      self:setpc1 { q[1], q[2], q[3] - 1 }
      self:setpc2 { q[1], q[2], 0 }
      self:setnc { 0, 0, 1 }
      y[1] = q[3] - 1
    end
    local q, w = { 0, 0, 1, 1, 0, 0, 0 }, { 1, 1, 1, 1, 1, 1, 1 }
    local function unknown(relation, x, rate)
      local C, second = internal.relation_curvature(relation, 0, x, rate)
      assert.is_truthy(C)
      assert.is_nil(second)
    end
    unknown(linked(Ball(), ns.NewtonImpactNSL(0), body(7)), q, w)
    local function square(factor)
      return linked(ns.LagrangianScleronomousR { h = function(x, _, y) y[1] = x[1] ^ 2 end,
        dotJachq = function(_, _, v, D) D[1][1], D[1][2], D[1][3] = factor * v[1], 0, 0 end }, ns.EqualityConditionNSL(1), body(3))
    end
    look(square(2), 1, 0, { 1, 2, 3 }, { 1, 1, 1 })
    unknown(square(2.1), { 1, 2, 3 }, { 1, 1, 1 })
  end)
end)
