-- Disks poured into a box, with Coulomb's friction and without rebound. Disk i has radius R_i, mass
-- m_i = rho pi R_i^2 and coordinates q_i = (x, y, angle):
--
--   m_i x_i'' = F_x,   m_i y_i'' = -m_i g + F_y,   (m_i R_i^2 / 2) angle_i'' = R_i times the tangential forces,
--   0 <= gap _|_ r_n >= 0,   u_n+ = 0 at an impact (restitution 0),
--   r_t = -mu r_n sign(u_t) where a contact slips, |r_t| <= mu r_n where it does not,
--
-- for each pair of disks, gap = |c_j - c_i| - R_i - R_j, and for each disk with the floor and the two walls. The
-- disks start at rest in loose rows above the floor, every other row moved sideways, radii between 0.8 R and R in a
-- fixed order, and fall. Contacts come and go with ns.contact.manager. The scheme of Moreau and Jean keeps
-- contacts closed by their velocities. A contact is noticed at the end of a step, when the disks may overlap by the
-- distance of one step: gaps stay above -2 h sqrt(2 g H), where H is the height from which the disks fall.
--
-- A heap with a few hundred contacts is jammed: many sets of forces can hold it, and small errors decide which disks
-- slip. With more than 100 disks the problem of a step is therefore solved to 1e-4 of its largest force instead of
-- 1e-10 (--tolerance). This is an error of the velocities of about 1e-4 g h times the number of layers. A step is
-- then also linearised, with the directions of the contacts at q + h v, instead of iterated by Newton's method
-- (--newton).
--
-- At the end the vertical forces of the floor and the walls on the disks are compared with the weight.
-- The contacts within reach are counted in two ways: among the contacts that the manager has linked, and over
-- all pairs.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Disks poured into a box. Without --csv, --animate and --plot nothing is written.",
  { "n", default = 40, min = 1, max = 10000, help = "number of disks" },
  { "columns", default = 0, min = 0, max = 1000, help = "disks in a row; 0: about the root of n" },
  { "R", default = 0.05, above = 0, help = "radius of the largest disk" },
  { "mu", default = 0.4, min = 0, help = "coefficient of friction" },
  { "tolerance", default = 0, min = 0, max = 1e-2,
    help = "of the contacts' problems, relative to the largest force; 0: 1e-10, above 100 disks 1e-4" },
  { "newton", default = "auto", choices = { "auto", "yes", "no" },
    help = "iterate in a step; auto: up to 100 disks" },
  { "h", default = 2e-3, min = 1e-6, max = 1, help = "length of a step" },
  { "T", default = 2, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  { "animate", value = "FILE", help = "write the disks in motion there (.html, .gif, .mp4)",
    endings = { "html", "gif", "mp4" } },
  { "times", default = 0, min = 0, max = 1, help = "1: print how long the steps took" },
  pictures.option,
})
opt.n, opt.columns = math.floor(opt.n), math.floor(opt.columns)
local g, density = 9.81, 1000
local columns = opt.columns > 0 and opt.columns or math.max(2, math.ceil(math.sqrt(opt.n)))
local spacing = 2.2 * opt.R
local width = (columns + 0.5) * spacing
local top = spacing * math.ceil(opt.n / columns)

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
local bound = 2 * opt.h * math.sqrt(2 * g * top) -- the most by which two disks can approach in a step
local reach = math.max(0.1 * opt.R, bound)
-- What is within reach of a step when no disk is faster than this: twice the way by which two of them approach.
local function reach_at(fastest) return math.max(0.1 * opt.R, math.min(bound, 4 * opt.h * (fastest + g * opt.h))) end
local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 2), reach = reach }
local disks = {}
for i = 1, opt.n do
  local row, column = (i - 1) // columns, (i - 1) % columns
  local R = opt.R * (0.8 + 0.2 * ((i * 7) % 11) / 10)
  local m = density * math.pi * R * R
  local ds = ns.LagrangianLinearTIDS(
    { spacing * (column + 0.5 + 0.5 * (row % 2)), spacing * (row + 0.5), 0 }, { 0, 0, 0 },
    ns.matrix { { m, 0, 0 }, { 0, m, 0 }, { 0, 0, m * R * R / 2 } })
  ds:setFExtPtr { 0, -m * g, 0 }
  nsds:insertDynamicalSystem(ds)
  contacts:add_disk(ds, R)
  disks[i] = { ds = ds, q = ds:q(), v = ds:velocity(), R = R, m = m }
end
-- the floor, the left wall, the right wall
for _, line in ipairs { { { 0, 0 }, { 0, 1 } }, { { 0, 0 }, { 1, 0 } }, { { width, 0 }, { -1, 0 } } } do
  contacts:add_line(ns.contact.line(line[1], line[2]))
end

local many = opt.n > 100
local tolerance = opt.tolerance > 0 and opt.tolerance or many and 1e-4 or nil
local osi = ns.MoreauJeanOSI(0.5)
osi:setLinearlyImplicit(opt.newton == "no" or opt.newton == "auto" and many)
local problem = ns.FrictionContact(2, { tolerance = tolerance })
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), osi, problem)
reach = reach_at(0)
contacts:update(reach)

-- Kinetic and potential energy, and the largest speed.
local function look()
  local kinetic, potential, fastest = 0, 0, 0
  for _, d in ipairs(disks) do
    local square = d.v[1] ^ 2 + d.v[2] ^ 2
    kinetic = kinetic + d.m / 2 * (square + d.R ^ 2 / 2 * d.v[3] ^ 2)
    potential = potential + d.m * g * d.q[2]
    fastest = math.max(fastest, math.sqrt(square))
  end
  return kinetic, potential, fastest
end

-- The contacts that carry an impulse, and the least gap. Views of y and lambda are taken once for each.
local views = {}
local function count()
  local closed, least = 0, math.huge
  for _, inter in ipairs(contacts:interactions()) do
    local view = views[inter]
    if not view then
      view = { y = inter:y(0), lambda = inter:lambda(1) }
      views[inter] = view
    end
    local gap = view.y[1]
    if gap < least then least = gap end
    if view.lambda[1] > 0 then closed = closed + 1 end
  end
  return closed, least
end

-- For the animation: the positions of the disks, at about 60 times in a second.
local frames, times = {}, {}
local every = math.max(1, math.floor(1 / (60 * opt.h)))
local function film(k, t)
  if not opt.animate or k % every ~= 0 then return end
  local frame = {}
  for i, d in ipairs(disks) do frame[i] = { d.q[1], d.q[2], d.q[3] } end
  frames[#frames + 1], times[#times + 1] = frame, t
end

-- The vertical force of floor and walls in the last step, over the weight. Line 1 is the floor.
local normals = { { 0, 1 }, { 1, 0 }, { -1, 0 } }
local function support()
  local force, weight = 0, 0
  for _, inter in ipairs(contacts:interactions()) do
    local n, lambda = normals[tonumber(inter:name():match "line (%d)")], inter:lambda(1)
    if n then force = force + (n[2] * lambda[1] - n[1] * lambda[2]) / opt.h end
  end
  for _, d in ipairs(disks) do weight = weight + d.m * g end
  return force / weight
end

local kinetic, potential, fastest = look()
film(0, 0)
local rows = { { 0, 0, kinetic, potential, fastest, contacts:count(), 0, 0 } }
local first, worst, slowest, clock, started = kinetic + potential, 0, 0, os.clock(), os.clock()
for k, t in simu:steps() do
  kinetic, potential, fastest = look()
  reach = reach_at(fastest)
  contacts:update(reach)
  local closed, least = count()
  worst = math.min(worst, least)
  film(k, t)
  rows[#rows + 1] = { k, t, kinetic, potential, fastest, contacts:count(), closed, math.min(least, 0) }
  slowest, clock = math.max(slowest, os.clock() - clock), os.clock()
end
local last = rows[#rows]

-- The numbers of pairs within reach: among the linked pairs, and among all pairs.
local function within_reach()
  local linked, all = 0, 0
  for _, inter in ipairs(contacts:interactions()) do
    if inter:y(0)[1] <= reach then linked = linked + 1 end
  end
  local function tally(gap) if gap <= reach then all = all + 1 end end
  for i, a in ipairs(disks) do
    tally(a.q[2] - a.R)
    tally(a.q[1] - a.R)
    tally(width - a.q[1] - a.R)
    for j = i + 1, #disks do
      local b = disks[j]
      tally(math.sqrt((a.q[1] - b.q[1]) ^ 2 + (a.q[2] - b.q[2]) ^ 2) - a.R - b.R)
    end
  end
  return linked, all
end

print(("%d disks in a box of width %.6g, mu = %g, h = %g, %d steps"):format(opt.n, width, opt.mu, opt.h, #rows - 1))
print(("contacts linked %d, closed %d; least gap %.4g, bound %.4g"):format(last[6], last[7], worst, -bound))
print(("contacts within reach: %d of those linked, %d of all pairs"):format(within_reach()))
print(("energy: %.10g at the start, %.10g at the end; largest speed at the end %.4g"):format(
  first, last[3] + last[4], last[5]))
print(("floor and walls carry %.8f of the weight"):format(support()))
if opt.times == 1 then
  print(("%.4g ms a step, the slowest %.4g ms"):format((os.clock() - started) / (#rows - 1) * 1e3, slowest * 1e3))
end

options.save_csv(opt.csv, { "k", "t", "kinetic", "potential", "fastest", "linked", "closed", "least_gap" }, rows)

if opt.animate then
  local T, energy = {}, {}
  for i, row in ipairs(rows) do T[i], energy[i] = row[2], row[3] end
  ns.animation {
    file = opt.animate, title = ("%d disks in a box"):format(opt.n), frames = frames, times = times, speed = 0.5,
    background = function(canvas)
      canvas:ground(0, top, 0, 0)
      canvas:ground(0, 0, width, 0)
      canvas:ground(width, 0, width, top)
    end,
    draw = function(frame, canvas)
      for i, q in ipairs(frame) do
        canvas:circle(q[1], q[2], disks[i].R, { fill = i % 5 + 1, color = "paper", linewidth = 1.5, angle = q[3] })
      end
    end,
    plot = { t = T, panels = { { ylabel = "energy", { label = "kinetic", y = energy } } } },
  }
  print(("written: an animation of %d frames to %s"):format(#frames, opt.animate))
end

-- ---- pictures ----

-- For each force a line from the disk to the body that presses on it, { x0, y0, x1, y1, force }.
local function chains()
  local list = {}
  for _, inter in ipairs(contacts:interactions()) do
    local force = inter:lambda(1)[1] / opt.h
    local i, j = inter:name():match "disks (%d+) (%d+)"
    local d = disks[tonumber(i or inter:name():match "disk (%d+)")]
    if force > 0 and j then
      local other = disks[tonumber(j)]
      list[#list + 1] = { d.q[1], d.q[2], other.q[1], other.q[2], force }
    elseif force > 0 then
      local n = normals[tonumber(inter:name():match "line (%d)")]
      list[#list + 1] = { d.q[1], d.q[2], d.q[1] - d.R * n[1], d.q[2] - d.R * n[2], force }
    end
  end
  return list
end

local NAN = 0 / 0

-- The outlines of all disks with a radius each, as one curve.
local function outlines()
  local x, y = {}, {}
  local function put(a, b) x[#x + 1], y[#y + 1] = a, b end
  for _, d in ipairs(disks) do
    put(d.q[1], d.q[2])
    for k = 0, 36 do
      local angle = d.q[3] + k * math.pi / 18
      put(d.q[1] + d.R * math.cos(angle), d.q[2] + d.R * math.sin(angle))
    end
    put(NAN, NAN)
  end
  return x, y
end

-- Draws the force chains in six widths; a larger force has a wider line.
local function draw_chains(ax)
  local list, largest = chains(), 0
  for _, chain in ipairs(list) do largest = math.max(largest, chain[5]) end
  for class = 1, 6 do
    local x, y = {}, {}
    for _, chain in ipairs(list) do
      if math.ceil(6 * chain[5] / largest) == class then
        table.move({ chain[1], chain[3], NAN }, 1, 3, #x + 1, x)
        table.move({ chain[2], chain[4], NAN }, 1, 3, #y + 1, y)
      end
    end
    if #x > 0 then ax:plot(x, y, { color = "C1", linewidth = class }) end
  end
end

-- The heap at the end with the forces in it; energy and contacts over time.
pictures.draw(opt.plot, { run = function(plot)
  local title = ("%d disks in a box, $\\mu = %g$"):format(opt.n, opt.mu)
  local fig, t = plot.figure { figsize = { 11, 5.5 }, title = title },
    pictures.column(rows, 2)
  local heap, highest = fig:subplot(2, 2, { 1, 3 }), 0
  for _, d in ipairs(disks) do highest = math.max(highest, d.q[2] + d.R) end
  local x, y = outlines()
  heap:plot(x, y, { color = "#9AA5AF", linewidth = 0.8 })
  draw_chains(heap)
  heap:plot({ 0, 0, width, width }, { highest, 0, 0, highest }, "k", { linewidth = 2 }):axis "equal"
    :title(("at $t = %g$: forces between the disks"):format(opt.T))
  local above = fig:subplot(2, 2, 2):plot(t, pictures.column(rows, 3), { label = "kinetic" })
  above:plot(t, pictures.column(rows, 4), { label = "potential" }):ylabel "energy":legend()
  fig:subplot(2, 2, 4, { sharex = above }):plot(t, pictures.column(rows, 7)):ylabel "closed contacts":xlabel "$t$"
  return fig
end })
