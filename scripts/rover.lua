-- A rover on a heightfield: a box with four wheels, which are balls on hinges, and a motor in each. Each body has
--
--   m x'' = -m g e_z + F,   I w' + w x I w = M,
--
-- with the forces and moments of its hinges (PivotJointR, 5 rows each), of the motors (a torque on each wheel about
-- its axis, and its opposite on the box), and of the contacts of the wheels with the ground:
--
--   0 <= gap _|_ r_n >= 0,   |r_t| <= mu r_n,   u_n+ = 0 at an impact (restitution 0).
--
-- The ground has waves along both axes; it is a mesh of triangles. The script prints how far the rover has come, how
-- much work its motors have done and where it went, and how far wheels have sunk into the ground. On flat ground
-- (--hill 0), without slip, the rover has the acceleration
--
--   a = (torques / R) / (masses + 4 I_wheel / R^2).

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A rover on a heightfield. Without --animate and --plot nothing is written.",
  { "torque", default = 1.5, min = 0, help = "torque of a motor" },
  { "hill", default = 0.25, min = 0, max = 1, help = "height of the waves" },
  { "mu", default = 0.8, min = 0, help = "coefficient of friction" },
  { "h", default = 2e-3, min = 1e-5, max = 0.1, help = "length of a step" },
  { "T", default = 2, above = 0, max = 1000, help = "end of the run" },
  pictures.space, pictures.option,
})
local g, R, m, M = 9.81, 0.15, 1, 6 -- radius and mass of a wheel, mass of the box
local size, reach_x, reach_y, cell = { 0.8, 0.4, 0.2 }, 10, 3, 0.25
local I = 0.4 * m * R * R

-- The ground is flat below the rover at the start.
local heights = {}
for i = 0, math.floor(reach_x / cell) do
  heights[i + 1] = {}
  for j = 0, math.floor(reach_y / cell) do
    local x, y = i * cell, j * cell
    local rise = math.min(math.max(x - 1.5, 0), 1)
    heights[i + 1][j + 1] = opt.hill * rise * (math.sin(2 * (x - 1.5)) + 0.4 * math.cos(3 * y)) / 1.4
  end
end
local ground = ns.contact.heightfield(heights, cell, cell):placed { 0, -reach_y / 2, 0 }

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3), reach = 0.2 * R }
contacts:add(nil, ground)
local bodies = {}
local function add(x, y, z, mass, inertia, shape)
  local ds = ns.NewtonEulerDS({ x, y, z, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, mass, inertia)
  nsds:insertDynamicalSystem(ds)
  contacts:add(ds, shape)
  bodies[#bodies + 1] = ds
  return ds
end
local lx, ly, lz = table.unpack(size)
local box = add(0.7, 0, R + 0.1, M, M / 12 * ns.matrix { { ly ^ 2 + lz ^ 2, 0, 0 }, { 0, lx ^ 2 + lz ^ 2, 0 },
  { 0, 0, lx ^ 2 + ly ^ 2 } }, ns.contact.box(lx, ly, lz))
local hinges, wheels = {}, {}
for k, at in ipairs { { 1, 1 }, { 1, -1 }, { -1, 1 }, { -1, -1 } } do
  local x, y = 0.7 + at[1] * 0.4, at[2] * (ly / 2 + R)
  wheels[k] = add(x, y, R, m, I * ns.eye(3), ns.contact.sphere(R))
  hinges[k] = { ns.PivotJointR({ x, y, R }, { 0, 1, 0 }, true, wheels[k], box), name = "hinge " .. k }
end
-- Wheels do not touch the box; the bodies of the rover touch the ground alone.
contacts:filter(function(_, other) return other == nil end)
-- Moments are along the axes of the body, of which the hinge's is the second one in the wheels and in the box.
for _, wheel in ipairs(wheels) do wheel:setFExtPtr { 0, 0, -m * g, 0, opt.torque, 0 } end
box:setFExtPtr { 0, 0, -M * g, 0, -4 * opt.torque, 0 }
ns.mechanics.join(nsds, hinges)
contacts:update()
local simu = ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5))

local function energy()
  local sum = 0
  for _, ds in ipairs(bodies) do sum = sum + ds:computeKineticEnergy() + ds:mass()[1][1] * g * ds:q()[3] end
  return sum
end

local recorder = contacts:recorder { fps = 60, color = function(_, k) return k == 1 and "orange" or "ink" end }
recorder:add(0)
local start, work, sunk = energy(), 0, 0
local function power() -- of the motors
  local sum = 0
  for _, wheel in ipairs(wheels) do sum = sum + opt.torque * (wheel:velocity()[5] - box:velocity()[5]) end
  return sum
end
local rows = { { 0, 0, 0.7, box:q()[3], 0, start, 0 } }
local before = power()
for k, t in simu:steps() do
  contacts:update()
  recorder:add(t)
  work, before = work + opt.h * (before + power()) / 2, power()
  for _, inter in ipairs(contacts:interactions()) do sunk = math.min(sunk, inter:y(0)[1]) end
  rows[#rows + 1] = { k, t, box:q()[1], box:q()[3], box:velocity()[1], energy(), work }
end
local last = rows[#rows]
print(("%d steps: the rover has come %.6g m far, and has the velocity %.6g, without slip on flat ground %.6g"):format(
  #rows - 1, last[3] - 0.7, last[5], opt.T * 4 * opt.torque / R / (M + 4 * m + 4 * I / R ^ 2)))
print(("work of the motors %.6g, gain of energy %.6g; wheels sink in by %.1e at most"):format(work, last[6] - start,
  -sunk))

pictures.draw(opt.plot, { run = function(plot)
  local t = pictures.column(rows, 2)
  local fig, axes = plot.subplots(3, 1, { figsize = { 7, 7 }, sharex = true })
  axes[1]:plot(t, pictures.column(rows, 4)):ylabel "height":title "A rover on a heightfield"
  axes[2]:plot(t, pictures.column(rows, 5)):ylabel "velocity"
  axes[3]:plot(t, pictures.column(rows, 7), { label = "work of the motors" })
  local gain = pictures.column(rows, 6)
  for i = 1, #gain do gain[i] = gain[i] - start end
  axes[3]:plot(t, gain, { label = "gain of energy" }):ylabel "energy":xlabel "$t$":legend()
  return fig
end }, { rover = { recorder, time = 0.7 * opt.T } })

pictures.animate_space(opt.animate, recorder, { title = "A rover on a heightfield" })
