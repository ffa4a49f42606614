-- A chain whose one end is let go. It has n rods of the length l and the mass m, joined by ball joints, and hangs
-- from one point by both of its ends, folded in the middle; then one end falls:
--
--   m x_i'' = -m g e_z + sum of the forces of its joints,   I w_i' + w_i x I w_i = sum of their moments,
--   x_i + l d_i / 2 = x_(i+1) - l d_(i+1) / 2,   d_i: the direction of rod i.
--
-- The free end falls faster than a free body, as the fold passes energy on to what still moves. A chain without
-- thickness, of the length L and folded tightly, conserves its energy (M. G. Calkin, R. H. March, The dynamics of a
-- falling chain, American Journal of Physics 57, 1989, 154), so that when the end has fallen by x
--
--   (L - x) x'^2 / 4 = g x (2 L - x) / 4,   time of the fall T = sqrt(L / g) times the integral over u from 0 to 1 of
--                                           sqrt((1 - u) / (u (2 - u))) = 0.847 sqrt(2 L / g).
--
-- The script prints the time in which the end falls by 9 L / 10 beside this, the largest error of the energy over
-- what has become kinetic, and how far the joints come apart. It integrates with a method of Runge and Kutta.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A falling chain. Without --animate and --plot nothing is written.",
  { "n", default = 21, min = 3, max = 501, help = "number of rods, an odd one" },
  { "L", default = 1, above = 0, help = "length of the chain" },
  { "h", default = 2e-3, min = 1e-6, max = 1e-2, help = "distance of the rows" },
  { "T", default = 0.38, above = 0, max = 1000, help = "end of the run" },
  pictures.space, pictures.option,
})
local n = math.floor(opt.n) // 2 * 2 + 1
local g, l, L, m = 9.81, opt.L / n, opt.L, 1 / n
local R = 0.15 * l

-- Rod i has its axis along its third axis: down, the fold, up.
local half = math.sqrt(0.5)
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
-- for the pictures alone: rods do not touch each other here
local shapes = ns.contact.space { nsds = nsds, law = ns.NewtonImpactNSL(0), reach = l }
local rods, joints = {}, {}
local inertia = m / 12 * ns.matrix { { l * l, 0, 0 }, { 0, l * l, 0 }, { 0, 0, 6 * R * R } }
for i = 1, n do
  local place = { l / 2, 0, -(n // 2) * l, half, 0, half, 0 }
  if i <= n // 2 then place = { 0, 0, -(i - 0.5) * l, 0, 1, 0, 0 } end
  if i > n // 2 + 1 then place = { l, 0, -(n - i + 0.5) * l, 1, 0, 0, 0 } end
  rods[i] = ns.NewtonEulerDS(place, { 0, 0, 0, 0, 0, 0 }, m, inertia)
  rods[i]:setFExtPtr { 0, 0, -m * g }
  nsds:insertDynamicalSystem(rods[i])
  shapes:add(rods[i], ns.contact.capsule(R, l))
  joints[i] = { ns.KneeJointR({ 0, 0, -l / 2 }, false, rods[i], rods[i - 1]), name = "joint " .. i }
end
local made = ns.mechanics.join(nsds, joints)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, opt.h), ns.RungeKuttaOSI(1e-6, 1e-8))

local function look()
  local kinetic, potential = 0, 0
  for _, rod in ipairs(rods) do
    kinetic, potential = kinetic + rod:computeKineticEnergy(), potential + m * g * rod:q()[3]
  end
  -- the free end: half a rod from the centre of the last one, along its third axis
  local q = rods[n]:q()
  return kinetic, potential, q[3] + l / 2 * (q[4] ^ 2 - q[5] ^ 2 - q[6] ^ 2 + q[7] ^ 2)
end

local way = 0.9 * L -- that is timed
local recorder = shapes:recorder { fps = 60, speed = 0.1 }
recorder:add(0)
local _, start = look()
local rows, loss, apart, fall = { { 0, 0, 0, 0, 0 } }, 0, 0, nil
for k, t in simu:steps() do
  recorder:add(t)
  local kinetic, potential, z = look()
  local last = rows[#rows]
  rows[#rows + 1] = { k, t, -z, kinetic, kinetic + potential - start }
  if not fall and -z >= way then fall = t - opt.h * (-z - way) / (-z - last[3]) end
  loss = math.max(loss, math.abs(kinetic + potential - start) / (start - potential))
  for _, joint in ipairs(made) do
    for i = 1, 3 do apart = math.max(apart, math.abs(joint:y(0)[i])) end
  end
end

-- The time in which the end of the chain without thickness falls by x; u = s^2.
local function theory(x)
  local function f(s) return 2 * math.sqrt((1 - s * s) / (2 - s * s)) end
  return math.sqrt(L / g) * ns.quad(f, 0, math.sqrt(x / L))
end
local free = math.sqrt(2 * way / g)
print(("%d rods; the free end falls by 0.9 L in %.6g, %.4g of the time of a free body; theory %.4g"):format(n,
  fall or math.huge, (fall or math.huge) / free, theory(way) / free))
print(("largest error of the energy %.2e of what has fallen; the joints come apart by %.2e of a rod"):format(loss,
  apart / l))

pictures.draw(opt.plot, { run = function(plot)
  local t, freely = pictures.column(rows, 2), {}
  for i, row in ipairs(rows) do freely[i] = g * row[2] ^ 2 / 2 end
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 5 }, sharex = true })
  axes[1]:plot(t, pictures.column(rows, 3), { label = "free end" })
  axes[1]:plot(t, freely, { label = "free body", linestyle = "dashed" }):ylabel "way":legend():title "A falling chain"
  axes[2]:plot(t, pictures.column(rows, 4)):ylabel "kinetic energy":xlabel "$t$"
  return fig
end }, { chain = { recorder, time = 0.8 * opt.T } })

pictures.animate_space(opt.animate, recorder, { title = "A falling chain" })
