--
-- bench_contact3d.lua
-- Scenes of bodies in space by nslua, by MuJoCo and by Siconos with Bullet: the time of a step, overlaps, and how far
-- what is known is missed. The number of a scene may follow.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local small = os.getenv "BENCH_SMALL" -- a short run, to try the peers

local g = 9.81

-- A body; its inertia is that of a sphere, times `heavier`. size: radius, or half edges.
local function sphere(x, radius, mass) return { "sphere", { radius, 0, 0 }, x, mass, 0.4 * mass * radius ^ 2, 0 } end
local function cube(x, half, mass) return { "box", { half, half, half }, x, mass, mass * half ^ 2 * 2 / 3, 0 } end

local floor = { { { 0, 0, 0 }, { 0, 0, 1 } } }

-- Each has h, steps, mu, e, planes {point, normal}, bodies, and missed(q, v): by how much what is known is missed.
local scenes = {}

do -- 25 balls of 1 kg roll on a box of 10 kg, which is pushed by 150 N: a = (F - mu (M + 25 m) g) / (M + 25 m 2/7)
  local bodies, mu = { { "box", { 10, 10, 0.5 }, { 0, 0, 0.5 }, 10, 500, 150 } }, 0.4
  for k = 0, 24 do bodies[k + 2] = sphere({ 2 * (k % 5) - 4, 2 * (k // 5) - 4, 1.5 }, 0.5, 1) end
  local a = (150 - mu * 35 * g) / (10 + 25 * 2 / 7)
  scenes[1] = {
    "25 balls on a pushed box", h = 0.01, steps = 100, mu = mu, e = 0, planes = floor, bodies = bodies,
    what = "acceleration", missed = function(_, v) return math.abs(v(1, 1) / a - 1) end }
end

do -- 49 balls bounce without loss for 3 s
  local bodies = {}
  local function energy(q, v)
    local sum = 0
    for k = 1, 49 do sum = sum + g * q(k, 3) + (v(k, 1) ^ 2 + v(k, 2) ^ 2 + v(k, 3) ^ 2) / 2 end
    return sum
  end
  for k = 0, 48 do bodies[k + 1] = sphere({ 2 * (k % 7), 2 * (k // 7), 1 + k / 49 }, 0.5, 1) end
  local start = energy(function(k) return bodies[k][3][3] end, function() return 0 end)
  scenes[2] = {
    "49 bouncing balls", h = 2e-3, steps = 1500, mu = 0.8, e = 1, planes = floor, bodies = bodies, rebound = true,
    what = "energy", missed = function(q, v) return math.abs(energy(q, v) / start - 1) end }
end

do -- ten cubes on each other stand for 2 s
  local bodies = {}
  for k = 1, 10 do bodies[k] = cube({ 0, 0, 0.4 * k - 0.2 }, 0.2, 1) end
  scenes[3] = { "tower of 10 boxes", h = 2e-3, steps = 1000, mu = 0.5, e = 0, planes = floor, bodies = bodies,
    what = "drift aside, m", missed = function(q) return math.sqrt(q(10, 1) ^ 2 + q(10, 2) ^ 2) end }
end

do -- spheres fall into a box without a lid
  local bodies, count, wide, radius = {}, small and 60 or 1000, small and 4 or 10, 0.05
  local half = wide * radius * 1.1
  math.randomseed(1)
  for k = 0, count - 1 do
    local function place(i) return (2 * (i + 0.5) / wide - 1) * half * 0.98 + 0.004 * (math.random() - 0.5) end
    local height = radius * (1.2 + 2.4 * (k // wide ^ 2))
    bodies[k + 1] = sphere({ place(k % wide), place(k // wide % wide), height }, radius, 0.5)
  end
  local planes = { floor[1], { { -half, 0, 0 }, { 1, 0, 0 } }, { { half, 0, 0 }, { -1, 0, 0 } },
    { { 0, -half, 0 }, { 0, 1, 0 } }, { { 0, half, 0 }, { 0, -1, 0 } } }
  scenes[4] = {
    count .. " spheres poured", h = 2e-3, steps = small and 100 or 200, mu = 0.4, e = 0, planes = planes,
    bodies = bodies,
    what = "fastest at the end, m/s", missed = function(_, v)
      local most = 0
      for k = 1, count do most = math.max(most, math.sqrt(v(k, 1) ^ 2 + v(k, 2) ^ 2 + v(k, 3) ^ 2)) end
      return most
    end }
end

local function write(scene, file)
  local out = assert(io.open(file, "w"))
  out:write(("step %.17g steps %d mu %g e %g\n"):format(scene.h, scene.steps, scene.mu, scene.e))
  local function words(list) return table.concat(list, " ") end
  for _, p in ipairs(scene.planes) do out:write("plane ", words(p[1]), " ", words(p[2]), "\n") end
  for _, b in ipairs(scene.bodies) do
    out:write(("body %s %s %s %.17g %.17g %g\n"):format(b[1], words(b[2]), words(b[3]), b[4], b[5], b[6]))
  end
  out:close()
end

-- How deep spheres and flat boxes are in planes, in each other, and in what they lie on; boxes are taken as upright.
local function overlap(scene, q)
  local most, cells, size = 0, {}, 0
  for _, b in ipairs(scene.bodies) do size = math.max(size, 2 * b[2][1]) end
  local function cell(k, i) return math.floor(q(k, i) / size) end
  for k, b in ipairs(scene.bodies) do
    local half = b[1] == "sphere" and b[2][1] or b[2][3]
    for _, p in ipairs(scene.planes) do
      local far = 0
      for i = 1, 3 do far = far + p[2][i] * (q(k, i) - p[1][i]) end
      most = math.max(most, half - far)
    end
    for x = cell(k, 1) - 1, cell(k, 1) + 1 do
      for y = cell(k, 2) - 1, cell(k, 2) + 1 do
        for _, other in ipairs(cells[x .. " " .. y] or {}) do
          local o, a = scene.bodies[other], { q(k, 1) - q(other, 1), q(k, 2) - q(other, 2), q(k, 3) - q(other, 3) }
          local balls = b[1] == "sphere" and o[1] == "sphere"
          local apart = balls and math.sqrt(a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2) or math.abs(a[3])
          most = math.max(most, half + (o[1] == "sphere" and o[2][1] or o[2][3]) - apart)
        end
      end
    end
    local own = cell(k, 1) .. " " .. cell(k, 2)
    cells[own] = cells[own] or {}
    table.insert(cells[own], k)
  end
  return most
end

local function ours(scene)
  local nsds = ns.NonSmoothDynamicalSystem(0, scene.h * (scene.steps + 1))
  local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(scene.e, 0, scene.mu, 3),
    reach = scene.rebound and 0.3 or 0.02 }
  local bodies = {}
  for _, p in ipairs(scene.planes) do contacts:add_plane(ns.contact.plane(p[1], p[2])) end
  for k, b in ipairs(scene.bodies) do
    local s, x, still = b[2], b[3], { 0, 0, 0, 0, 0, 0 }
    local ds = ns.NewtonEulerDS({ x[1], x[2], x[3], 1, 0, 0, 0 }, still, b[4], b[5] * ns.eye(3))
    ds:setFExtPtr { b[6], 0, -g * b[4] }
    nsds:insertDynamicalSystem(ds)
    contacts:add(ds, b[1] == "sphere" and ns.contact.sphere(s[1]) or ns.contact.box(2 * s[1], 2 * s[2], 2 * s[3]))
    bodies[k] = { q = ds:q(), v = ds:velocity() }
  end
  contacts:update()
  local osi = ns.MoreauJeanOSI(0.5)
  osi:setLinearlyImplicit(true)
  local problem = ns.FrictionContact(3, { tolerance = 1e-8 })
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, scene.h), osi, problem)
  local total, slowest = 0, 0
  for _ = 1, scene.steps do
    local start = os.clock()
    contacts:update()
    simu:computeOneStep()
    simu:nextStep()
    local spent = os.clock() - start
    total, slowest = total + spent, math.max(slowest, spent)
  end
  local function q(k, i) return bodies[k].q[i] end
  local function v(k, i) return bodies[k].v[i] end
  return { step = total / scene.steps, slowest = slowest, overlap = overlap(scene, q), missed = scene.missed(q, v) }
end

local function peer(scene, ...)
  local r = common.peer(...)
  if not r.step then return nil end
  local function q(k, i) return r[("q%d_%d"):format(k, i)] end
  local function v(k, i) return r[("v%d_%d"):format(k, i)] end
  r.missed, r.overlap = scene.missed(q, v), overlap(scene, q)
  return r
end

local mujoco, no_mujoco = common.compile("contact3d.c", "cc", "-O2 -std=c11 -D_XOPEN_SOURCE=700", "-lmujoco -lm")
local siconos, no_siconos = common.siconos("contact3d.py")

if arg[1] then scenes = { scenes[tonumber(arg[1])] } end
for _, scene in ipairs(scenes) do
  local file = os.tmpname()
  write(scene, file)
  local rows, own = {}, ours(scene)
  local function row(name, r)
    if not r then return end
    rows[#rows + 1] = { name, ("%.3g"):format(1e3 * r.step), common.ratio(r.step, own.step),
                        ("%.1f"):format(r.slowest / r.step),
                        ("%.1e"):format(r.overlap), ("%.1e"):format(r.missed) }
  end
  row("nslua", own)
  for _, solver in ipairs { "Newton", "CG", "PGS" } do
    local room = 2 * #scene.bodies + 200
    row("MuJoCo, " .. solver, peer(scene, mujoco and "prlimit --cpu=60 " .. mujoco, file, solver, room))
  end
  row("Siconos with Bullet", peer(scene, siconos and "prlimit --cpu=60 " .. siconos, file))
  common.table(("%s, %d steps of %g ms"):format(scene[1], scene.steps, 1e3 * scene.h),
    { "", "ms a step", "over nslua", "slowest over mean", "overlap at the end, m",
      scene.what .. (scene[1]:find "ball" and " missed by" or "") }, rows)
  os.remove(file)
  os.remove(file .. ".xml")
end
common.skipped(no_mujoco, no_siconos)
