-- Balls that flow out of a hopper. Ball i has the radius R and the mass m:
--
--   m x_i'' = -m g e_z + sum of the forces of its contacts,   I w_i' = sum of their moments,   I = 2 m R^2 / 5,
--   0 <= gap _|_ r_n >= 0,   |r_t| <= mu r_n,   u_n+ = 0 at an impact (restitution 0),
--
-- with each other, with four plates that make the funnel, and with the floor. The plates lean by an angle from the
-- upright and leave a square hole of the side D; they are hulls of the world. The balls start in layers above them.
--
-- A heap in the funnel flows at a rate that does not depend on its height, but on the hole: W. A. Beverloo, H. A.
-- Leniger, J. van de Velde (The flow of granular solids through orifices, Chemical Engineering Science 15, 1961, 260)
-- measured, in balls per second,
--
--   W = C n sqrt(g) (D - k 2 R)^(5/2),   C = 0.58, k = 1.4, n: balls in a unit of volume, about 0.6 / (4 pi R^3 / 3),
--
-- for round holes that are much wider than a ball; with a side D in place of the diameter it gives the order. The
-- script prints the balls that have left, the rate in the middle of the flow beside this, and how far contacts with a
-- force overlap: by the way of a step, as a contact is noticed at its end.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Balls that flow out of a hopper. Without --csv, --animate and --plot nothing is written.",
  { "n", default = 200, min = 1, max = 20000, help = "number of balls" },
  { "R", default = 0.02, above = 0, help = "radius of a ball" },
  { "D", default = 0.2, min = 0, help = "side of the hole; 0: it is shut" },
  { "lean", default = 40, min = 5, max = 80, help = "angle of the plates from the upright, in degrees" },
  { "mu", default = 0.3, min = 0, help = "coefficient of friction" },
  { "h", default = 2e-3, min = 1e-5, max = 0.1, help = "length of a step" },
  { "T", default = 1.2, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.space, pictures.option,
})
opt.n = math.floor(opt.n)
local g, R, m, lean = 9.81, opt.R, 1, math.rad(opt.lean)
local D = opt.D
local columns = math.max(2, math.ceil(opt.n ^ (1 / 3))) -- balls in a row of a layer
local pitch = 2.1 * R
local top = math.max(columns * pitch + 2 * R, 1.2 * D)    -- side of the funnel's mouth
local height = (top - D) / 2 / math.tan(lean)             -- of the funnel
local under = 6 * R                                       -- of the hole above the floor

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
local contacts = ns.contact.space {
  nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3),
  reach = math.max(0.2 * R, 2 * opt.h * math.sqrt(2 * g * (height + under))),
}
contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
-- A plate's inner face goes from the hole's edge, D / 2 from the axis, up to the mouth and beyond.
local brim = 8 * R
local mouth = D / 2 + (height + brim) * math.tan(lean)
for quarter = 0, 3 do
  local points, cos, sin = {}, math.cos(quarter * math.pi / 2), math.sin(quarter * math.pi / 2)
  for _, out in ipairs { 0, 2 * R } do
    for _, edge in ipairs { { D / 2, under }, { mouth, under + height + brim } } do
      local r = edge[1] + out
      for side = -1, 1, 2 do points[#points + 1] = { r * cos - side * r * sin, r * sin + side * r * cos, edge[2] } end
    end
  end
  contacts:add(nil, ns.contact.hull(points))
end
if D == 0 then contacts:add(nil, ns.contact.box(4 * R, 4 * R, R):placed { 0, 0, under }) end

local balls, shape = {}, ns.contact.sphere(R)
for i = 0, opt.n - 1 do
  local layer, row, column = i // columns ^ 2 // 1, i // columns % columns, i % columns
  local jitter = 0.04 * R * ((i * 7) % 11 / 5 - 1) -- the same in each run
  local x, y = (column - (columns - 1) / 2) * pitch + jitter, (row - (columns - 1) / 2) * pitch - jitter
  local ds = ns.NewtonEulerDS({ x, y, under + height + R + layer * pitch, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, m,
    0.4 * m * R * R * ns.eye(3))
  ds:setFExtPtr { 0, 0, -m * g }
  nsds:insertDynamicalSystem(ds)
  contacts:add(ds, shape)
  balls[i + 1] = { ds = ds, q = ds:q(), v = ds:velocity() }
end
contacts:update()

local osi = ns.MoreauJeanOSI(0.5)
osi:setLinearlyImplicit(true)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), osi, ns.FrictionContact(3, { tolerance = 1e-4 }))
local recorder = contacts:recorder {
  fps = 60, speed = 0.5, label = "speed",
  values = function(ds)
    local v = ds:velocity()
    return math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
  end,
}
recorder:add(0)
local rows, deepest = { { 0, 0, 0, contacts:count(), 0 } }, 0
for k, t in simu:steps() do
  contacts:update()
  recorder:add(t)
  local out, kinetic = 0, 0
  for _, ball in ipairs(balls) do
    if ball.q[3] < under then out = out + 1 end
    for i = 1, 3 do kinetic = kinetic + m / 2 * ball.v[i] ^ 2 end
  end
  for _, inter in ipairs(contacts:interactions()) do
    if inter:lambda(1)[1] > 0 then deepest = math.min(deepest, inter:y(0)[1]) end
  end
  rows[#rows + 1] = { k, t, out, contacts:count(), kinetic }
end
local last = rows[#rows]
print(("%d balls, %d steps: %d have left the hopper"):format(opt.n, #rows - 1, last[3]))
local first, second
for _, row in ipairs(rows) do
  if not first and row[3] >= last[3] / 4 then first = row end
  if not second and row[3] >= 3 * last[3] / 4 then second = row end
end
local rate = second[2] > first[2] and (second[3] - first[3]) / (second[2] - first[2]) or 0
local wide = math.max(D - 2.8 * R, 0)
print(("rate in the middle of the flow %.4g per second, after Beverloo %.4g"):format(rate,
  0.58 * 0.6 / (4 * math.pi * R ^ 3 / 3) * math.sqrt(g) * wide ^ 2.5))
print(("largest overlap %.2e, %.2g of the way of a step"):format(-deepest,
  -deepest / (opt.h * math.sqrt(2 * g * (under + height)))))
options.save_csv(opt.csv, { "k", "t", "out", "contacts", "kinetic" }, rows)

pictures.draw(opt.plot, { run = function(plot)
  local t = pictures.column(rows, 2)
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 5 }, sharex = true })
  axes[1]:plot(t, pictures.column(rows, 3)):ylabel "balls that have left":title "A hopper"
  axes[2]:plot(t, pictures.column(rows, 4)):ylabel "contacts":xlabel "$t$"
  return fig
end }, { pile = { recorder, time = 0.4 * opt.T } })

pictures.animate_space(opt.animate, recorder, { title = "A hopper" })
