-- A rectangular block, Lb wide and Hb high, falls on the floor and rocks on its lower corners:
--
--   m x'' = 0,   m y'' = -m g + l1 + l2,   I a'' = h1_a l1 + h2_a l2      0 <= h_i(q) _|_ l_i >= 0,  restitution e
--   h_1 = y - (Lb / 2) sin(a) - (Hb / 2) cos(a),   h_2 = y + (Lb / 2) sin(a) - (Hb / 2) cos(a)
--
-- q = (x, y, a): the center and the angle. The floor has no friction, so that x' is constant. Two nonlinear contacts
-- of one body; on both corners it rests on its base: y = Hb / 2, a = 0. h_i are given by their formulas alone. Only
-- the lower corners are in the model: it is for a block that does not tip over.
--
-- --newton one makes one Newton iteration a step, from v_k with the Jacobians at q_k + h v_k; --newton full iterates
-- until the equations of the step hold. The default data are those of the reference run (I isn't that of the block).

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A block that falls and rocks. Without --csv, --animate and --plot nothing is written.",
  { "e", default = 0.5, min = 0, max = 1, help = "restitution" },
  { "a", default = 0.2, min = -1, max = 1, help = "angle at the start" },
  { "y", default = 1, min = 0.3, help = "height of the center at the start" },
  { "vx", default = 0, help = "horizontal velocity" },
  { "newton", default = "one", choices = { "one", "full" }, help = "Newton iterations of a step" },
  { "theta", default = 0.50001, min = 0.5, max = 1, help = "weight of the end of a step" },
  { "h", default = 1e-2, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 1.99, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local sin, cos = math.sin, math.cos
local Lb, Hb, m, g = 0.2, 0.1, 1, 9.81
local I = (1.5 ^ 2 + 1) / 12 * m

local block = ns.LagrangianDS({ 0, opt.y, opt.a }, { opt.vx, 0, 0 }, ns.diag { m, m, I })
block:setFExtPtr { 0, -m * g, 0 }
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(block)
local corners = {}
for i, side in ipairs { -1, 1 } do
  local above_floor = ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = q[2] + side * Lb / 2 * sin(q[3]) - Hb / 2 * cos(q[3]) end,
  }
  corners[i] = ns.Interaction(ns.NewtonImpactNSL(opt.e), above_floor)
  nsds:link(corners[i], block)
end
local osi = ns.MoreauJeanOSI(opt.theta)
osi:setLinearlyImplicit(opt.newton == "one")
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), osi, ns.LCP())

local rows, changes, last, deepest = {}, {}, "none", 0
local function record(k, t)
  local q, v = block:q(), block:velocity()
  local kinetic = 0.5 * (m * v[1] ^ 2 + m * v[2] ^ 2 + I * v[3] ^ 2)
  rows[#rows + 1] = { k, t, q[1], q[2], q[3], v[1], v[2], v[3], kinetic, m * g * (q[2] - 0.75) }
end
record(0, 0)
for k, t in simu:steps() do
  record(k, t)
  local left, right = corners[1]:lambda(1)[1] > 0, corners[2]:lambda(1)[1] > 0
  local contact = left and (right and "both" or "left") or right and "right" or "none"
  if contact ~= last then changes[#changes + 1] = { t, block:q()[2], block:q()[3], contact } end
  last = contact
  deepest = math.max(deepest, -corners[1]:y(0)[1], -corners[2]:y(0)[1])
end

print(("e = %g, h = %g, %d steps (%s)\n"):format(opt.e, opt.h, #rows - 1, opt.newton))
print "         t              y          angle   impulses"
for i = 1, math.min(12, #changes) do print(("%10.6g %14.8g %14.8g   %s"):format(table.unpack(changes[i]))) end
if #changes > 12 then print(("   ... %d more changes"):format(#changes - 12)) end
print(("\ndeepest penetration: %.1e"):format(deepest))

options.save_csv(opt.csv, { "row", "t", "x", "y", "angle", "vx", "vy", "w", "kinetic", "potential" },
  rows)

-- ---- pictures ----

-- The points of the block's outline.
local function outline(row)
  local x, y, c, s = row[3], row[4], cos(row[5]), sin(row[5])
  local points = {}
  for i, at in ipairs { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 }, { -1, -1 } } do
    local a, b = at[1] * Lb / 2, at[2] * Hb / 2
    points[i] = { x + c * a - s * b, y + s * a + c * b }
  end
  return points
end

-- The block at some times; its height and its angle.
pictures.draw(opt.plot, { run = function(plot)
  local title = ("A block that falls and rocks, $e = %g$"):format(opt.e)
  local fig, t = plot.figure { figsize = { 7, 7.5 }, title = title },
    pictures.column(rows, 2)
  local space = fig:subplot(4, 1, { 1, 2 }):axis "equal":axhline(0, { color = "k", linewidth = 2 })
  local drift = opt.vx ~= 0 and 0 or 0.35 -- side by side, when it does not move sideways itself
  for i, row in ipairs(pictures.frames(rows, 8 / opt.T)) do
    local x, y = {}, {}
    for k, p in ipairs(outline(row)) do x[k], y[k] = p[1] + drift * (i - 1), p[2] end
    space:fill(x, y, { color = "C0", alpha = 0.25, edgecolor = "C0" })
  end
  space:xlabel(drift > 0 and "$x$, moved on with time" or "$x$"):ylabel "$y$"
  local top = fig:subplot(4, 1, 3):plot(t, pictures.column(rows, 4)):ylabel "height $y$"
  fig:subplot(4, 1, 4, { sharex = top }):plot(t, pictures.column(rows, 5)):ylabel "angle $a$":xlabel "$t$"
  return fig
end })

pictures.animate(opt.animate, function()
  local last_x = rows[#rows][3]
  return {
    frames = pictures.frames(rows, 60), title = ("A block that falls and rocks, e = %g"):format(opt.e), speed = 0.5,
    background = function(canvas)
      canvas:ground(math.min(0, last_x) - 0.6, 0, math.max(0, last_x) + 0.6, 0)
    end,
    draw = function(row, canvas)
      canvas:rectangle(row[3], row[4], Lb, Hb, { angle = row[5], fill = "orange", color = "ink" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "height", { label = "y", y = pictures.column(rows, 4) } },
      { ylabel = "angle", { label = "a", y = pictures.column(rows, 5) } } } },
  }
end)
