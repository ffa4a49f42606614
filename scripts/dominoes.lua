-- A row of dominoes that topple. A domino has the height a, the thickness d and the mass m; from front to front there
-- are s + d. Each turns about its front edge on the floor, which does not slide, and leans on the next one without
-- friction:
--
--   I p_i'' = m g (a sin p_i - d cos p_i) / 2 + moments of the contacts,   I = m (a^2 + d^2) / 3,
--   0 <= gap _|_ r_n >= 0,   u_n+ = 0 at an impact (restitution 0).
--
-- The bodies are boxes in space. Contacts with the floor have friction, and those of dominoes have none, so there are
-- two managers of contacts. The scheme is that of Moreau and Jean.
--
-- Theory (J. M. J. van Leeuwen, The domino effect, American Journal of Physics 78, 2010, 721): all dominoes that have
-- been hit lean on each other, so that the angle p_n of the head gives the others,
--
--   a sin(p_i - p_(i+1)) = (s + d) cos p_(i+1) - d.
--
-- With w_i = J_i w_n the energy, the sum of m g (a cos p_i + d sin p_i) / 2 + I w_i^2 / 2, is constant until the head
-- hits the next one, at sin p_n = s / a; there the sum S of J_i^2 makes w_n into S / (S + 1) w_n. The speed of the
-- wave, (s + d) over the time between two hits, goes to a limit. The script computes both and compares.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Dominoes. Without --animate and --plot nothing is written.",
  { "n", default = 15, min = 4, max = 1000, help = "number of dominoes" },
  { "a", default = 0.048, above = 0, help = "height" },
  { "d", default = 0.0075, above = 0, help = "thickness" },
  { "s", default = 0.018, above = 0, help = "gap between two of them" },
  { "mu", default = 2, min = 0, help = "coefficient of friction with the floor" },
  { "w", default = 6, above = 0, help = "angular velocity of the first one at the start" },
  { "h", default = 1e-3, min = 1e-6, max = 1e-2, help = "length of a step" },
  { "T", default = 0, min = 0, max = 1000, help = "end of the run; 0: shortly after the last one is hit" },
  pictures.space, pictures.option,
})
opt.n = math.floor(opt.n)
local g, a, d, m, pitch = 9.81, opt.a, opt.d, 1, opt.s + opt.d
if opt.s >= a then error("s: expected a gap below the height: they would not hit each other", 0) end
local I, width = m * (a * a + d * d) / 3, a / 2
local sin, cos, sqrt, asin = math.sin, math.cos, math.sqrt, math.asin

-- ---- theory ----

-- The sum of J_i^2, and the potential energy, when the head of n has the angle p; those behind a domino that lies as
-- far as it can do not move any more.
local function chain(n, p)
  local J, sum, energy = 1, 1, m * g / 2 * (a * cos(p) + d * sin(p))
  for _ = n - 1, 1, -1 do
    local lean = asin((pitch * cos(p) - d) / a)
    J = J * (1 - pitch * sin(p) / (a * cos(lean)))
    p = p + lean
    sum, energy = sum + J * J, energy + m * g / 2 * (a * cos(p) + d * sin(p))
  end
  return sum, energy
end

-- The times from hit to hit.
local function theory(count)
  local times, w, last = {}, opt.w, asin(opt.s / a)
  for n = 1, count do
    local sum, start = chain(n, 0)
    local all = start + I / 2 * sum * w * w
    -- dt = dp / w(p), Gauss's rule with 2 points on each of 40 pieces; at the start w may be small
    local t, pieces = 0, 40
    for k = 1, pieces do
      for _, x in ipairs { 0.5 - sqrt(3) / 6, 0.5 + sqrt(3) / 6 } do
        local S, energy = chain(n, last * (k - 1 + x) / pieces)
        t = t + last / pieces / 2 / sqrt(2 * (all - energy) / (I * S))
      end
    end
    local S, energy = chain(n, last)
    w = S / (S + 1) * sqrt(2 * (all - energy) / (I * S))
    if t ~= t then error(("w: domino %d does not reach the next one: it needs more velocity"):format(n), 0) end
    times[n] = t
  end
  return times
end

local expected = theory(opt.n - 1)
local arrival, hits = 0, { [0] = 0 }
for n, t in ipairs(expected) do
  arrival = arrival + t
  hits[n] = arrival
end

-- ---- the run ----

local T = opt.T > 0 and opt.T or 1.15 * arrival
local nsds = ns.NonSmoothDynamicalSystem(0, T)
local function manager(mu)
  return ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 3), reach = 0.2 * d }
end
local floor, pushes = manager(opt.mu), manager(0)
floor:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
floor:filter(function(_, other) return other == nil end)
local inertia = m / 12 * ns.matrix { { width ^ 2 + a * a, 0, 0 }, { 0, d * d + a * a, 0 },
  { 0, 0, d * d + width ^ 2 } }
local bodies, shape = {}, ns.contact.box(d, width, a)
for i = 1, opt.n do
  -- the front edge of the first one is at x = 0; it starts to turn about it
  local w = i == 1 and opt.w or 0
  bodies[i] = ns.NewtonEulerDS({ (i - 1) * pitch - d / 2, 0, a / 2, 1, 0, 0, 0 },
    { w * a / 2, 0, w * d / 2, 0, w, 0 }, m, inertia)
  bodies[i]:setFExtPtr { 0, 0, -m * g }
  nsds:insertDynamicalSystem(bodies[i])
  floor:add(bodies[i], shape)
  pushes:add(bodies[i], shape)
end
floor:update()
pushes:update()
local osi = ns.MoreauJeanOSI(0.5)
osi:setLinearlyImplicit(true)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), osi, ns.FrictionContact(3, { tolerance = 1e-6 }))

local function angle(ds)
  local q = ds:q()
  return 2 * math.atan(q[6], q[4])
end

local recorder = floor:recorder { fps = 60, speed = 0.1 }
recorder:add(0)
local rows, hit, slip = {}, { 0 }, 0
for k, t in simu:steps() do
  floor:update()
  pushes:update()
  recorder:add(t)
  for i = #hit + 1, opt.n do -- it has been hit when it turns
    if bodies[i]:velocity()[5] < 1e-3 * opt.w then break end
    hit[i] = t - opt.h / 2
  end
  local row = { k, t }
  for i, ds in ipairs(bodies) do
    local p = angle(ds)
    row[2 + i] = math.deg(p)
    local q = ds:q() -- the front edge's way
    slip = math.max(slip, math.abs(q[1] + d / 2 * cos(p) - a / 2 * sin(p) - (i - 1) * pitch))
  end
  rows[#rows + 1] = row
end

local fallen = #hit
print(("%d of %d dominoes are hit; front edges have moved by %.2e"):format(fallen, opt.n, slip))
local from, to = fallen // 2, fallen
print(("speed of the wave over the last half: %.6g, by the theory %.6g"):format(
  (to - from) * pitch / (hit[to] - hit[from]), (to - from) * pitch / (hits[to - 1] - hits[from - 1])))
print(("by the theory the last hits follow each other with the speed %.6g, %.6g sqrt(g a)"):format(
  pitch / expected[#expected], pitch / expected[#expected] / sqrt(g * a)))

pictures.draw(opt.plot, { run = function(plot)
  local t = pictures.column(rows, 2)
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 6 } })
  for i = 1, opt.n do axes[1]:plot(t, pictures.column(rows, 2 + i)) end
  axes[1]:ylabel "angle in degrees":xlabel "$t$":title "Dominoes"
  local numbers, theirs, ours = {}, {}, {}
  for i = 2, fallen do
    numbers[i - 1], theirs[i - 1] = i, pitch / expected[i - 1]
    ours[i - 1] = pitch / (hit[i] - hit[i - 1])
  end
  axes[2]:plot(numbers, ours, "o", { label = "the run" })
  axes[2]:plot(numbers, theirs, { label = "theory" }):ylabel "speed of the wave":xlabel "domino":legend()
  return fig
end }, { row = { recorder, time = 0.6 * T } })

pictures.animate_space(opt.animate, recorder, { title = "Dominoes" })
