-- A slider-crank mechanism in space: the crank turns about the axis x through A, the slider moves along the axis x,
-- and the rod has a ball joint at each end. Each body (crank, rod, slider) has the equations
--
--   m x'' = -m g e_z + F,   I w' + w x I w = M,
--
-- with F and M by the multipliers of its joints,
--
--   crank and world    PivotJointR       5 rows      point A and axis e_x
--   crank and rod      KneeJointR        3 rows      the pin B, at A + c (0, cos u, sin u)
--   rod and slider     KneeJointR        3 rows      the slider's centre C
--   slider and world   PrismaticJointR   5 rows      way along e_x, with friction mu |reaction| and a stop
--
-- 18 velocities less 16 rows: the crank's angle u and the turn of the rod about itself. With A = (0, a, b) the length
-- of the rod gives the place of the slider, x = sqrt(l^2 - (a + c cos u)^2 - (b + c sin u)^2), with which the script
-- compares. The data are Haug's (Computer-Aided Kinematics and Dynamics of Mechanical Systems, 1989): the crank of
-- 0.08 m at (0, 0.1, 0.12) m starts with 6 rad/s.
--
-- Moreau and Jean's scheme on velocities, and a projection of the places onto the joints in each step.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A slider-crank mechanism in space. Without --csv, --animate and --plot nothing is written.",
  { "mu", default = 0, min = 0, help = "coefficient of friction of the slider" },
  { "w", default = 6, help = "velocity of the crank at the start, in rad/s" },
  { "h", default = 5e-4, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 2, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local g, a, b, c, l = 9.81, 0.1, 0.12, 0.08, 0.3
local sin, cos, sqrt = math.sin, math.cos, math.sqrt

local function place(u) return sqrt(l * l - (a + c * cos(u)) ^ 2 - (b + c * sin(u)) ^ 2) end

-- The crank stands at u = pi / 2. The rod goes from B to C; the velocities are those of the mechanism.
local u0 = math.pi / 2
local B = { 0, a + c * cos(u0), b + c * sin(u0) }
local x0 = place(u0)
local velocity_B = { 0, -c * opt.w * sin(u0), c * opt.w * cos(u0) }
local velocity_x = -(B[2] * velocity_B[2] + B[3] * velocity_B[3]) / x0

-- The rod's axes are those of space; it turns with w = d x (v_C - v_B) / l^2, which has no part along it.
local d = { x0, -B[2], -B[3] }
local e = { velocity_x, -velocity_B[2], -velocity_B[3] }
local w = { (d[2] * e[3] - d[3] * e[2]) / l ^ 2, (d[3] * e[1] - d[1] * e[3]) / l ^ 2,
  (d[1] * e[2] - d[2] * e[1]) / l ^ 2 }
local inertia = ns.zeros(3, 3) -- of a thin rod, and a little about itself
for i = 1, 3 do
  for j = 1, 3 do inertia[i][j] = 0.5 / 12 * ((i == j and 1.01 * l * l or 0) - d[i] * d[j]) end
end

local function body(q, v, mass, I)
  local ds = ns.NewtonEulerDS({ q[1], q[2], q[3], 1, 0, 0, 0 }, v, mass, I)
  ds:setFExtPtr { 0, 0, -mass * g }
  return ds
end
local crank = body({ 0, a, b }, { 0, 0, 0, opt.w, 0, 0 }, 0.12, 1e-4 * ns.eye(3))
local rod = body({ x0 / 2, B[2] / 2, B[3] / 2 },
  { velocity_x / 2, velocity_B[2] / 2, velocity_B[3] / 2, w[1], w[2], w[3] }, 0.5, inertia)
local slider = body({ x0, 0, 0 }, { velocity_x, 0, 0, 0, 0, 0 }, 2, 1e-4 * ns.eye(3))

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
for _, ds in ipairs { crank, rod, slider } do nsds:insertDynamicalSystem(ds) end
local hinge = ns.PivotJointR { point = { 0, a, b }, axis = { 1, 0, 0 }, absolute = true, bodies = { crank } }
local guide = ns.PrismaticJointR { axis = { 1, 0, 0 }, bodies = { slider } }
local made = ns.mechanics.join(nsds, {
  { hinge, name = "hinge" },
  { ns.KneeJointR { point = B, absolute = true, bodies = { rod, crank } }, name = "pin" },
  { ns.KneeJointR { point = { x0, 0, 0 }, absolute = true, bodies = { rod, slider } }, name = "ball" },
  { guide, name = "guide", friction = opt.mu, stops = { -x0, math.huge } },
})
local simu = ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5))

local function energy()
  local sum = 0
  for _, ds in ipairs { crank, rod, slider } do
    sum = sum + ds:computeKineticEnergy() + ds:mass()[1][1] * g * ds:q()[3]
  end
  return sum
end

local names = { "k", "t", "u", "x", "v", "energy", "error" }
local rows, drift, start = {}, 0, energy()
local angle, turns, last = u0, 0, hinge:dof()
local function keep(k, t)
  local now = hinge:dof() -- it is known between -2 pi and 2 pi: count on
  local step = now - last
  turns = turns - 2 * math.pi * math.floor(step / (2 * math.pi) + 0.5)
  angle, last = u0 + now + turns, now
  local x = slider:q()[1]
  rows[#rows + 1] = { k, t, angle, x, slider:velocity()[1], energy(), x - place(angle) }
  for _, inter in ipairs(made) do
    for i = 1, k > 0 and inter:name() ~= "guide lower" and #inter:y(0) or 0 do
      if inter:name() ~= "guide" or i < 6 then drift = math.max(drift, math.abs(inter:y(0)[i])) end
    end
  end
end
keep(0, 0)
for k, t in simu:steps() do keep(k, t) end

local error_of_place = 0
for _, row in ipairs(rows) do error_of_place = math.max(error_of_place, math.abs(row[7])) end
print(("%d steps; the crank has turned by %.4f rad, the slider is at %.6f m"):format(#rows - 1, angle - u0,
  rows[#rows][4]))
print(("energy: from %.6f to %.6f J; joints open by %.1e at most; the slider is off its formula by %.1e m"):format(
  start, rows[#rows][6], drift, error_of_place))

options.save_csv(opt.csv, names, rows)

pictures.draw(opt.plot, { run = function(plot)
  local t = pictures.column(rows, 2)
  local fig, axes = plot.subplots(3, 1, { figsize = { 7, 7 }, sharex = true })
  axes[1]:plot(t, pictures.column(rows, 3)):ylabel("crank $u$ [rad]"):title("A slider-crank mechanism in space")
  axes[2]:plot(t, pictures.column(rows, 4)):ylabel "slider $x$ [m]"
  axes[3]:plot(t, pictures.column(rows, 6)):ylabel("energy [J]"):xlabel "$t$ [s]"
  return fig
end })

pictures.animate(opt.animate, function()
  return {
    frames = pictures.frames(rows, 60), title = "A slider-crank mechanism in space", speed = 0.5,
    draw = function(row, canvas) -- seen along z, (x, y): the crank turns in a plane across it
      local u, x = row[3], row[4]
      canvas:line(0, a, 0, a + c * cos(u), { linewidth = 4 })
      canvas:line(0, a + c * cos(u), x, 0, { color = "blue", linewidth = 3 })
      canvas:circle(x, 0, 0.02, { fill = "orange", color = "ink" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "x", { label = "slider", y = pictures.column(rows, 4) } } } },
  }
end)
