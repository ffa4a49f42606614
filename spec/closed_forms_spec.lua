-- Motions that have a closed form, with random numbers: event-driven runs have it; time stepping comes to it as its step shrinks.
local ns = require "nslua"
local graph = require("models").graph
local campaign = require "campaign"

local G = 9.81
local sin, cos, sqrt, abs, pi = math.sin, math.cos, math.sqrt, math.abs, math.pi

local function within(a, b) return a + (b - a) * math.random() end
local function sign() return math.random() < 0.5 and -1 or 1 end

-- ---- vectors, and quaternions with the scalar first ----

local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end

local function turn(e, c)
  local f = { e[2], e[3], e[4] }
  local a = cross(f, c)
  for i = 1, 3 do a[i] = a[i] + e[1] * c[i] end
  local b = cross(f, a)
  return { c[1] + 2 * b[1], c[2] + 2 * b[2], c[3] + 2 * b[3] }
end

-- The third axis of a body, in space.
local function axis(ds)
  local q = ds:q()
  return turn({ q[4], q[5], q[6], q[7] }, { 0, 0, 1 })
end

-- ---- models ----

-- A body at p with the quaternion e, the velocity v and the angular velocity w in space.
local function body(p, e, v, w, m, inertia)
  local own = turn({ e[1], -e[2], -e[3], -e[4] }, w)
  local ds = ns.NewtonEulerDS({ p[1], p[2], p[3], e[1], e[2], e[3], e[4] }, { v[1], v[2], v[3], own[1], own[2], own[3] }, m,
    ns.diag(inertia))
  ds:setFExtPtr { 0, 0, -m * G }
  return ds
end

local function flat(q, v, masses, force)
  local ds = ns.LagrangianLinearTIDS(q, v, ns.diag(masses))
  ds:setFExtPtr(force)
  return ds
end

local function link(nsds, law, relation, ...) nsds:link(ns.Interaction(law, relation), ...) end

-- The contacts of a shape with the ground z = 0, a plane or the face of a box.
local function grounded(nsds, ds, shape, mu, e)
  local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(e or 0, 0, mu, 3), reach = 0.2 }
  space:add(ds, shape)
  if math.random() < 0.5 then space:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
  else space:add(nil, ns.contact.box(40, 38, 1):placed { 0.1, 0.05, -0.5 }) end
  space:update()
  return space
end

-- Each family returns a graph, its manager of contacts or nil, and a function that returns a list of { what is there at the end,
-- what the closed form has, the size of that }.
local exact, smooth = {}, {}

-- ---- friction and ropes in the plane ----

function exact.conveyor() -- a box is put on an inclined belt that goes up with V
  local slope, mu, V, m = within(0, 0.3), within(0.4, 1), within(0.5, 3), within(0.2, 5)
  local a = G * (mu * cos(slope) - sin(slope))
  local ts, T = V / a, V / a * within(0.5, 2)
  local ds = flat({ 0, 0 }, { 0, 0 }, { m, m }, { -m * G * sin(slope), -m * G * cos(slope) })
  local nsds = graph(T, ds)
  link(nsds, ns.NewtonImpactFrictionNSL(0, 0, mu, 2),
    ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1], y[2] = q[2], q[1] - V * t end }, ds)
  return nsds, nil, function()
    local s = math.min(T, ts)
    return { { ds:velocity()[1], a * s, V }, { ds:q()[1], a * s * s / 2 + V * (T - s), V * T } }
  end
end

function exact.wedge() -- a block slides down a wedge that slides over the floor
  local angle, M, m = within(0.3, 1.1), within(0.5, 4), within(0.5, 4)
  local s, c, mu = sin(angle), cos(angle), math.tan(angle) * within(0, 0.6)
  local k = s - mu * c
  local N = m * G / (c + mu * s + m * s * k * (1 / m + 1 / M) / c)
  local A, a = -k * N / M, N * k * (1 / m + 1 / M) / c -- of the wedge; of the block along it
  local wedge, block = flat({ 0 }, { 0 }, { M }, { 0 }), flat({ 0, 0 }, { 0, 0 }, { m, m }, { 0, -m * G })
  local nsds = graph(1, wedge, block)
  link(nsds, ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR { { -s, s, c }, { -c, c, -s } }, wedge, block)
  return nsds, nil, function()
    return { { wedge:velocity()[1], A, G }, { block:velocity()[1], A + a * c, G }, { block:q()[2], -a * s / 2, G } }
  end
end

function exact.pulley() -- the heavy one of two weights on a rope lands; the other goes on with the pulley, or lifts it again
  local m1, m2, J, H = within(2, 4), within(0.5, 1.5), within(0.2, 2), within(0.2, 1) -- J: of the pulley over R^2
  local bare = math.random() < 0.5 -- a pulley without inertia: one rope over all
  if bare then J = 0 end
  local a = (m1 - m2) * G / (m1 + m2 + J)
  local t1 = sqrt(2 * H / a)
  local v, up = a * t1, m2 * G / (m2 + J)
  local t2 = t1 + 2 * v / up
  local T = t1 + (t2 - t1) * (bare and within(1.05, 1.3) or within(0.2, 0.9))
  local one, two = flat({ 0 }, { 0 }, { m1 }, { m1 * G }), flat({ 0 }, { 0 }, { m2 }, { m2 * G })
  local wheel = flat({ 0 }, { 0 }, { bare and 1 or J }, { 0 })
  local nsds, rope = graph(T, one, two, wheel), ns.NewtonImpactNSL(0)
  if bare then link(nsds, rope, ns.LagrangianLinearTIR { { -1, -1 } }, one, two)
  else
    link(nsds, rope, ns.LagrangianLinearTIR { { -1, 1 } }, one, wheel)
    link(nsds, rope, ns.LagrangianLinearTIR { { -1, -1 } }, two, wheel)
  end
  link(nsds, rope, ns.LagrangianLinearTIR({ { -1 } }, { H }), one)
  return nsds, nil, function()
    if not bare then
      local s = T - t1
      return { { one:q()[1], H, H }, { two:q()[1], -H - v * s + up * s * s / 2, H }, { wheel:velocity()[1], v - up * s, v } }
    end
    local s, jerk = T - t2, m2 * v / (m1 + m2)
    return { { one:q()[1], H - jerk * s + a * s * s / 2, H }, { two:velocity()[1], jerk - a * s, v } }
  end
end

-- ---- rigid bodies that roll, spin and fall ----

function smooth.billiard() -- a ball slides on a parabola until it rolls
  local R, m, mu, v, w, e = within(0.1, 0.5), within(0.3, 3), within(0.1, 0.6), {}, {}, {}
  for k = 1, 3 do v[k], w[k] = within(-3, 3), within(-10, 10) end
  for k = 1, 4 do e[k] = within(-1, 1) end
  local length = ns.vector(e):norm()
  for k = 1, 4 do e[k] = e[k] / length end
  local u = { v[1] - w[2] * R, v[2] + w[1] * R }
  local slip = sqrt(u[1] ^ 2 + u[2] ^ 2)
  local ts = 2 * slip / (7 * mu * G)
  local T, I = ts * within(0.5, 1.5), 0.4 * m * R * R
  local ds = body({ 0, 0, R }, e, { v[1], v[2], 0 }, w, m, { I, I, I })
  local nsds = graph(T, ds)
  return nsds, grounded(nsds, ds, ns.contact.sphere(R), mu), function()
    local out, s = {}, math.min(T, ts)
    for k = 1, 2 do
      local a = -u[k] / slip * mu * G
      out[2 * k - 1] = { ds:velocity()[k], v[k] + a * s, slip }
      out[2 * k] = { ds:q()[k], v[k] * s + a * s * s / 2 + (v[k] + a * s) * (T - s), slip * T }
    end
    return out
  end
end

function exact.roller() -- a lying capsule or cylinder rolls down a slope
  local R, L, m, slope = within(0.1, 0.5), within(0.3, 1), within(0.3, 3), within(0.1, 0.6)
  local shape = ns.contact[math.random() < 0.5 and "capsule" or "cylinder"](R, L)
  local I, half = m * R * R * within(0.3, 0.6), sqrt(0.5)
  local ds = body({ 0, 0, R }, { half, -half, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, m, { 2 * I, 2.2 * I, I })
  ds:setFExtPtr { m * G * sin(slope), 0, -m * G * cos(slope) }
  local nsds = graph(0.8, ds)
  return nsds, grounded(nsds, ds, shape, 2), function()
    return { { ds:q()[1], 0.32 * G * sin(slope) / (1 + I / (m * R * R)), 1 }, { ds:q()[2], 0, 1 }, { ds:q()[3], R, 1 } }
  end
end

function exact.standing_cylinder() -- it spins down on its rim
  local R, H, m, mu, w = within(0.1, 0.5), within(0.05, 0.2), within(0.5, 2), within(0.1, 0.5), within(3, 10) * sign()
  local I = m * R * R / 2
  local a = mu * m * G * R / I
  local T = abs(w) / a * within(0.4, 1.4)
  local ds = body({ 0, 0, H / 2 }, { 1, 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, w }, m, { I, I, I })
  local nsds = graph(T, ds)
  return nsds, grounded(nsds, ds, ns.contact.cylinder(R, H), mu), function()
    return { { ds:velocity()[6], w - (w > 0 and 1 or -1) * math.min(a * T, abs(w)), w }, { ds:q()[3], H / 2, 1 } }
  end
end

function exact.tilted_rod() -- a capsule lands on one cap, with friction and restitution
  local R, L, m, e, angle = within(0.02, 0.1), within(0.5, 1), within(0.5, 2), within(0, 1), within(0.2, 1.2)
  local I, fall, mu = m * L * L * within(0.08, 0.3), within(0.05, 0.15), math.random(0, 1) * within(0.05, 0.5)
  local x, z = -L / 2 * sin(angle), -L / 2 * cos(angle) - R -- the place of the contact
  local ds = body({ 0, 0, fall - z }, { cos(angle / 2), 0, sin(angle / 2), 0 }, { 0, 0, 0 }, { 0, 0, 0 }, m, { I, I, I / 4 })
  local t1 = sqrt(2 * fall / G)
  local v = G * t1
  local nn, nt, tt = 1 / m + x * x / I, -x * z / I, 1 / m + z * z / I
  local P = (1 + e) * v / (nn - nt ^ 2 / tt)
  local Q = -nt * P / tt
  if abs(Q) > mu * P then
    local side = Q > 0 and mu or -mu
    P = (1 + e) * v / (nn + side * nt)
    Q = side * P
  end
  local nsds = graph(t1 + 1e-9, ds)
  return nsds, grounded(nsds, ds, ns.contact.capsule(R, L), mu, e), function()
    return { { ds:velocity()[1], Q / m, v }, { ds:velocity()[3], P / m - v, v }, { ds:velocity()[5], (z * Q - x * P) / I, v / L } }
  end
end

function exact.wheel_without_rim() -- a prism tumbles down a slope, over its edges
  local n, R, m, slope = math.random(6, 8), within(0.3, 1), within(0.5, 3), within(0.05, 0.15)
  local half, J = pi / n, m * R * R * within(0.2, 0.6)
  local about = J + m * R * R
  local w, weight = sqrt(2 * m * G * R * (1 - cos(half + 0.2)) / about) * within(1.1, 1.4), 2 * m * G * R / about
  local kept = (J + m * R * R * cos(2 * half)) / about
  -- after the angle p beyond the start of the step after k impacts
  local function rate(k, p)
    local square = w * w
    for _ = 1, k do square = (square + weight * (cos(slope - half) - cos(slope + half))) * kept ^ 2 end
    return sqrt(square + weight * (cos(slope - half) - cos(slope - half + p)))
  end
  local flies = rate(3, 2 * half) ^ 2 > 0.6 * G * cos(half + slope) / R or w * w > 0.6 * G * cos(half + slope) / R
  if flies or rate(3, 0) ^ 2 < 1.1 * weight * (1 - cos(slope - half)) then return exact.wheel_without_rim() end
  local points = {}
  for k = 0, n - 1 do
    for side = -1, 1, 2 do points[#points + 1] = { R * cos(2 * half * k), 0.2 * side, R * sin(2 * half * k) } end
  end
  local T = 0
  for k = 0, 2 do -- Gauss's rule with 2 points; it needs to be in the middle of a step alone
    for j = 0, 19 do
      for _, x in ipairs { 0.5 - sqrt(3) / 6, 0.5 + sqrt(3) / 6 } do T = T + half / 20 / rate(k, half * (j + x) / 10) end
    end
  end
  T = T + half / rate(3, half)
  local start = half - pi / 2
  local ds = body({ 0, 0, R * cos(half) }, { cos(start / 2), 0, -sin(start / 2), 0 },
    { w * R * cos(half), 0, w * R * sin(half) }, { 0, w, 0 }, m, { 0.7 * J, J, 0.8 * J })
  ds:setFExtPtr { m * G * sin(slope), 0, -m * G * cos(slope) }
  local nsds = graph(T, ds)
  return nsds, grounded(nsds, ds, ns.contact.hull(points), 10), function()
    local turned = 2 * math.atan(ds:q()[6], ds:q()[4]) + start
    return { { ds:velocity()[5], rate(3, turned % (2 * pi) - 6 * half), w } }
  end
end

function smooth.bowl() -- a ball swings in a sphere, without friction or without slip
  local R, r, m, angle, az = within(1, 3), within(0.1, 0.4), within(0.5, 2), within(0.3, 1.2), within(0, 6)
  local rolls, L, I = math.random() < 0.5, R - r, 0.4 * m * r * r
  local a, b = 1, cos(angle / 2)
  for _ = 1, 10 do a, b = (a + b) / 2, sqrt(a * b) end
  local T = 2 * pi * sqrt((rolls and 1.4 or 1) * L / G) / a
  local place = { L * sin(angle) * cos(az), L * sin(angle) * sin(az), -L * cos(angle) }
  local ds = body(place, { 1, 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, m, { I, I, I })
  local Bowl = ns.class(ns.NewtonEuler3DR, "bowl")
  function Bowl:computeh(_, q, y)
    local d = (q[1] ^ 2 + q[2] ^ 2 + q[3] ^ 2) ^ 0.5
    self:setpc1 { q[1] * (1 + r / d), q[2] * (1 + r / d), q[3] * (1 + r / d) }
    self:setpc2 { q[1] * R / d, q[2] * R / d, q[3] * R / d }
    self:setnc { -q[1], -q[2], -q[3] }
    y[1] = R - r - d
  end
  local nsds = graph(T, ds)
  link(nsds, ns.NewtonImpactFrictionNSL(0, 0, rolls and 100 or 0, 3), Bowl(), ds)
  return nsds, nil, function()
    return { { ds:q()[1], place[1], L }, { ds:q()[2], place[2], L }, { ds:q()[3], place[3], L } }
  end
end

function smooth.top() -- the tip of a heavy top is held, or stands on the ground: it precedes steadily
  local l, m, angle, rate, T = within(0.1, 0.5), within(0.5, 2), within(0.3, 1.2), within(1, 3), within(0.2, 0.4)
  local I1, I3 = m * l * l * within(0.2, 0.5), m * l * l * within(0.1, 0.4)
  local s, c = sin(angle), cos(angle)
  local spin = (m * G * l + (I1 + m * l * l) * rate ^ 2 * c) / (I3 * rate) - rate * c
  local w = { spin * s, 0, spin * c + rate }
  local place = { l * s, 0, l * c }
  local ds = body(place, { cos(angle / 2), 0, sin(angle / 2), 0 }, cross(w, place), w, m, { I1, I1, I3 })
  local nsds, how, space = graph(T, ds), math.random(3), nil
  if how == 1 then link(nsds, ns.EqualityConditionNSL(3), ns.KneeJointR({ 0, 0, 0 }, true, ds), ds)
  elseif how == 2 then
    link(nsds, ns.NewtonImpactFrictionNSL(0, 0, 50, 3),
      ns.contact.corner_plane({ 0, 0, -l }, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })), ds)
  else
    local points = { { 0, 0, -l } }
    for k = 1, 5 do points[1 + k] = { 0.3 * l * cos(k * 0.4 * pi), 0.3 * l * sin(k * 0.4 * pi), 0.2 * l } end
    space = grounded(nsds, ds, ns.contact.hull(points), 50)
  end
  return nsds, space, function()
    local z = axis(ds)
    return { { z[1], s * cos(rate * T), 1 }, { z[2], s * sin(rate * T), 1 }, { z[3], c, 1 } }
  end
end

function smooth.gyroscope() -- free, with an axis of symmetry: its angular velocity turns in its own axes
  local I1, I3, w, T = within(0.5, 2), within(0.5, 2), { within(-3, 3), within(-3, 3), within(-3, 3) }, within(1, 2)
  local ds = body({ 0, 0, 0 }, { 1, 0, 0, 0 }, { 0, 0, 0 }, w, 1, { I1, I1, I3 })
  ds:setFExtPtr { 0, 0, 0 }
  local nsds, rate = graph(T, ds), (I3 - I1) / I1 * w[3]
  return nsds, nil, function()
    local q, v, c, s = ds:q(), ds:velocity(), cos(rate * T), sin(rate * T)
    local out = { { v[4], w[1] * c - w[2] * s, 3 }, { v[5], w[1] * s + w[2] * c, 3 }, { v[6], w[3], 3 } }
    local momentum = turn({ q[4], q[5], q[6], q[7] }, { I1 * v[4], I1 * v[5], I3 * v[6] })
    for k = 1, 3 do out[3 + k] = { momentum[k], (k < 3 and I1 or I3) * w[k], 3 } end
    return out
  end
end

function smooth.coin() -- a tilted cylinder rolls in a circle, on its rim
  local R, m, angle, rate, T = within(0.2, 0.6), within(0.5, 2), within(0.5, 1.2), within(2, 4), 0.3
  local I1, I3, half = m * R * R / 4, m * R * R / 2, within(0.05, 0.2) * R
  local s, c = sin(angle), cos(angle)
  local r = { R * c - half * s, 0, -half * c - R * s } -- the place of the contact
  -- what is left of the moments when the cylinder turns about its axis, too: it is linear in that
  local function left(spin)
    local w = { spin * s, 0, spin * c + rate }
    local v = cross(r, w)
    local a = cross({ 0, 0, rate }, v)
    local moment = cross(r, { m * a[1], m * a[2], m * (a[3] + G) })
    local along = w[1] * s + w[3] * c
    local L = { I1 * (w[1] - along * s) + I3 * along * s, 0, I1 * (w[3] - along * c) + I3 * along * c }
    return moment[2] - cross({ 0, 0, rate }, L)[2], v, w
  end
  local _, v, w = left(-left(0) / (left(1) - left(0)))
  local ds = body({ -r[1], -r[2], -r[3] }, { cos(angle / 2), 0, sin(angle / 2), 0 }, v, w, m, { I1, I1, I3 })
  local nsds = graph(T, ds)
  return nsds, grounded(nsds, ds, ns.contact.cylinder(R, 2 * half), 50), function()
    local z, u = axis(ds), ds:velocity()
    return { { z[1], s * cos(rate * T), 1 }, { z[2], s * sin(rate * T), 1 }, { z[3], c, 1 },
      { sqrt(u[1] ^ 2 + u[2] ^ 2), abs(v[2]), 1 } }
  end
end

function smooth.turntable() -- the velocity of a ball that rolls on a turntable turns with 2/7 of its rate
  local R, m, rate, v, place = within(0.1, 0.5), within(0.3, 3), within(1, 4) * sign(), { within(-1, 1), within(-1, 1), 0 },
    { within(-1, 1), within(-1, 1) }
  local I, heavy, T = 0.4 * m * R * R, 1e9, 0.7
  local w = { (rate * place[1] - v[2]) / R, (v[1] + rate * place[2]) / R, 0 }
  local ds = body({ place[1], place[2], R }, { 1, 0, 0, 0 }, v, w, m, { I, I, I })
  local disc = body({ 0, 0, -0.5 }, { 1, 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, rate }, 1, { heavy, heavy, heavy })
  local nsds = graph(T, ds, disc)
  link(nsds, ns.EqualityConditionNSL(5), ns.PivotJointR({ 0, 0, -0.5 }, { 0, 0, 1 }, true, disc), disc)
  local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 5, 3), reach = 0.05 }
  space:add(ds, ns.contact.sphere(R))
  space:add(disc, ns.contact.box(10, 11, 1))
  space:update()
  return nsds, space, function()
    local k, u, q = 2 / 7 * rate, ds:velocity(), ds:q()
    local c, s = cos(k * T), sin(k * T)
    return { { u[1], c * v[1] - s * v[2], 1 }, { u[2], s * v[1] + c * v[2], 1 },
      { q[1], place[1] + (s * v[1] - (1 - c) * v[2]) / k, 1 }, { q[2], place[2] + ((1 - c) * v[1] + s * v[2]) / k, 1 } }
  end
end

-- ---- the runs ----

-- The largest error of a run of the family with a seed, in `steps` steps.
local function off(family, seed, steps, make)
  math.randomseed(seed)
  local nsds, space, compare = family()
  local simu, most = make(nsds, ns.TimeDiscretisation(0, nsds:T() / steps)), 0
  for _ in simu:steps() do
    if space then space:update() end
  end
  for _, entry in ipairs(compare()) do
    local error = abs((entry[1] - entry[2]) / entry[3])
    most = error > most and error or error == error and most or math.huge -- nan: infinite
  end
  return most
end

local function event_driven(nsds, grid) return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI(1e-10, 1e-10)) end
local function time_stepping(nsds, grid) return ns.TimeStepping(nsds, grid, ns.MoreauJeanOSI(0.5)) end

describe("a motion with a closed form", function()
  for _, families in ipairs { exact, smooth } do
    for name, family in pairs(families) do
      it("is that of an event-driven run: " .. name .. " #once", function()
        for seed = 1, campaign(2, 5) do
          local error = off(family, seed, 16, event_driven)
          assert.is_true(error < 1e-8, ("seed %d: %.3g"):format(seed, error))
        end
      end)
    end
  end

  for name, family in pairs(smooth) do
    it("is the limit of time stepping: " .. name .. " #once", function()
      for seed = 1, campaign(1, 5) do
        local coarse, fine = off(family, seed, 100, time_stepping), off(family, seed, 400, time_stepping)
        assert.is_true(fine < 0.1 and (fine < coarse / 2.5 or fine < 1e-5), ("seed %d: %.3g, %.3g"):format(seed, coarse, fine))
      end
    end)
  end
end)
