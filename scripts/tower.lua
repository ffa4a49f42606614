-- A tower of boxes that stands, and is hit by a ball. Box i is a cube with the edge a and the mass m; the ball has
-- the radius R and the mass M:
--
--   m x_i'' = -m g e_z + sum of the forces of its contacts,   I w_i' = sum of their moments,   I = m a^2 / 6,
--   0 <= gap _|_ r_n >= 0,   |r_t| <= mu r_n,   u_n+ = 0 at an impact (restitution 0),
--
-- for each contact of corners, edges and faces, which ns.contact.space finds: four corners where two boxes lie on
-- each other. The tower stands, by the scheme of Moreau and Jean, until the ball comes. The script prints how far the
-- boxes have moved before that, how many have fallen, and the largest overlap of contacts that carry a force.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A tower of boxes that stands, and is hit by a ball. Without --animate and --plot nothing is written.",
  { "n", default = 6, min = 1, max = 40, help = "number of boxes" },
  { "a", default = 0.4, above = 0, help = "edge of a box" },
  { "mu", default = 0.5, min = 0, help = "coefficient of friction" },
  { "mass", default = 4, above = 0, help = "mass of the ball; of a box: 1" },
  { "v", default = 6, min = 0, help = "velocity of the ball; 0: there is none" },
  { "h", default = 2e-3, min = 1e-5, max = 0.1, help = "length of a step" },
  { "T", default = 1.5, above = 0, max = 1000, help = "end of the run" },
  pictures.space, pictures.option,
})
opt.n = math.floor(opt.n)
local g, a, m, R = 9.81, opt.a, 1, 0.6 * opt.a

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
local contacts = ns.contact.space {
  nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3), reach = math.max(0.05 * a, 2 * opt.h * opt.v),
}
contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
local box = ns.contact.box(a, a, a)
local bodies = {}

local function add(x, z, v, mass, inertia, shape)
  local ds = ns.NewtonEulerDS({ x, 0, z, 1, 0, 0, 0 }, { v, 0, 0, 0, 0, 0 }, mass, inertia * ns.eye(3))
  ds:setFExtPtr { 0, 0, -mass * g }
  nsds:insertDynamicalSystem(ds)
  contacts:add(ds, shape)
  bodies[#bodies + 1] = { q = ds:q() }
end

for i = 1, opt.n do add(0, (i - 0.5) * a, 0, m, m * a * a / 6, box) end
local start = 0.3 * opt.T -- the ball hits at about this time
local height = math.max(R, 0.6 * opt.n * a)
if opt.v > 0 then
  -- it is thrown so that it falls to `height` on its way
  add(-a / 2 - R - opt.v * start, height + g * start * start / 2, opt.v, opt.mass, 0.4 * opt.mass * R * R,
    ns.contact.sphere(R))
end
contacts:update()

local osi = ns.MoreauJeanOSI(0.5)
osi:setLinearlyImplicit(true)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), osi, ns.FrictionContact(3, { tolerance = 1e-8 }))

local recorder = contacts:recorder { fps = 60, speed = 0.5 }
recorder:add(0)

-- A row for each step: its number, the time, the places of all bodies, the number of contacts that carry a force.
local drift, deepest, rows = 0, 0, {}
local function keep(k, t, closed)
  local places = {}
  for b, one in ipairs(bodies) do places[b] = one.q:totable() end
  rows[#rows + 1] = { k, t, places, closed }
end
keep(0, 0, 0)
local standing = true
for k, t in simu:steps() do
  contacts:update()
  recorder:add(t)
  local closed = 0
  for _, inter in ipairs(contacts:interactions()) do
    if inter:lambda(1)[1] > 0 then
      closed, deepest = closed + 1, math.min(deepest, inter:y(0)[1])
      standing = standing and not inter:name():find "sphere"
    end
  end
  for i = 1, standing and opt.n or 0 do
    local q = bodies[i].q
    drift = math.max(drift, math.abs(q[1]), math.abs(q[2]), math.abs(q[3] - (i - 0.5) * a))
  end
  keep(k, t, closed)
end

local fallen = 0
for i = 1, opt.n do
  if math.abs(bodies[i].q[3] - (i - 0.5) * a) > a / 2 then fallen = fallen + 1 end
end
print(("%d boxes, %d steps; the tower moved by %.1e before it was hit"):format(opt.n, #rows - 1, drift))
print(("at the end %d boxes have fallen, %d contacts are linked; the largest overlap was %.2e"):format(fallen,
  contacts:count(), -deepest))

pictures.draw(opt.plot, { run = function(plot)
  local t = pictures.column(rows, 2)
  local fig, axes = plot.subplots(3, 1, { figsize = { 7, 7 }, sharex = true })
  for i = 1, opt.n do
    local x, z = {}, {}
    for k, row in ipairs(rows) do x[k], z[k] = row[3][i][1], row[3][i][3] end
    axes[1]:plot(t, x)
    axes[2]:plot(t, z)
  end
  axes[1]:ylabel("$x$"):title("A tower that is hit by a ball")
  axes[2]:ylabel "$z$"
  axes[3]:plot(t, pictures.column(rows, 4)):ylabel("closed contacts"):xlabel "$t$"
  return fig
end }, { tower = { recorder, time = 0.45 * opt.T } })

pictures.animate_space(opt.animate, recorder, { title = "A tower that is hit by a ball",
  plot = { t = pictures.column(rows, 2), panels = {
    { ylabel = "closed contacts", { label = "contacts", y = pictures.column(rows, 4) } } } } })
