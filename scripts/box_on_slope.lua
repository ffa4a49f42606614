-- A box on an inclined plane, in space: it sticks, slides or tips over its lower edge.
--
--   m v' = m g + sum of r_i,     I w' + w x I w = sum of x_i x r_i,     r_i = (r_n, r_t1, r_t2) at the corner i
--   0 <= gap_i _|_ r_n >= 0,     r_t in the disk of radius mu r_n, opposite to the slip where there is one
--
-- The box has the base b x b and the height c, one edge along the slope; the plane falls by the angle alpha to x.
-- With the box at rest on its base:
--
--   mu > tan(alpha), c tan(alpha) < b           it sticks: v = 0
--   mu < tan(alpha), c mu < b                   it slides with a = g (sin(alpha) - mu cos(alpha))
--   c tan(alpha) > b, c mu > b                  it tips, about its lower edge
--
-- A NewtonEulerDS; each of the eight corners has the relation corner_plane (a NewtonEuler3DR, evaluated in C) and the
-- law NewtonImpactFrictionNSL(0, 0, mu, 3). --push is a velocity down the slope at the start; with mu > tan(alpha)
-- the box then stops after the time push / (g (mu cos(alpha) - sin(alpha))).

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A box on an inclined plane. Without --csv, --animate and --plot nothing is written.",
  { "alpha", default = 20, min = 0, max = 80, help = "angle of the plane, in degrees" },
  { "mu", default = 0.5, min = 0, help = "coefficient of friction" },
  { "b", default = 1, above = 0, help = "edges of the base" },
  { "c", default = 1, above = 0, help = "height" },
  { "push", default = 0, min = 0, help = "velocity at the start, down the slope" },
  { "h", default = 1e-3, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 0.5, above = 0, max = 100, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local m, g, b, c = 1, 9.81, opt.b, opt.c
local alpha = math.rad(opt.alpha)
local sin, cos = math.sin(alpha), math.cos(alpha)

-- the body's z along the normal (sin, 0, cos): turned by alpha about y
local down, normal = { cos, 0, -sin }, { sin, 0, cos }
local q0 = { c / 2 * sin, 0, c / 2 * cos, math.cos(alpha / 2), 0, math.sin(alpha / 2), 0 }
local v0 = { opt.push * down[1], 0, opt.push * down[3], 0, 0, 0 }
local side, spin = m * (b * b + c * c) / 12, m * b * b / 6
local box = ns.NewtonEulerDS(q0, v0, m, ns.diag { side, side, spin })
box:setFExtPtr { 0, 0, -m * g }

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(box)
local law, plane = ns.NewtonImpactFrictionNSL(0, 0, opt.mu, 3), ns.contact.plane({ 0, 0, 0 }, normal)
local corners = {}
for i, corner in ipairs(ns.contact.box_corners(b, b, c)) do
  corners[i] = ns.Interaction(law, ns.contact.corner_plane(corner, plane), "corner " .. i)
  nsds:link(corners[i], box)
end
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.FrictionContact(3))

local function along(v, d) return v[1] * d[1] + v[2] * d[2] + v[3] * d[3] end

-- The angle between the box's z and the plane's normal, positive when the box tips forwards.
local function tilt(q)
  return 2 * math.atan(q[6], q[4]) - alpha
end

local names = { "k", "t", "s", "height", "side", "v", "v_normal", "tilt", "omega", "rn", "rt", "lowest", "energy" }
local rows, start = {}, simu:energy().total
for k, t in simu:steps() do
  local q, v, rn, rt, lowest = box:q(), box:velocity(), 0, 0, math.huge
  for _, corner in ipairs(corners) do
    local r = corner:lambda(1)
    rn, lowest = rn + r[1] / opt.h, math.min(lowest, corner:y(0)[1])
    rt = rt + r[2] / opt.h -- the first tangent goes down the slope
  end
  rows[#rows + 1] = { k, t, along(q, down), along(q, normal), q[2], along(v, down), along(v, normal), tilt(q), v[5],
    rn, rt, lowest, simu:energy().total }
end

local last = rows[#rows]
local a = g * (sin - opt.mu * cos)
print(("alpha = %g degrees, mu = %g, h = %g, %d steps"):format(opt.alpha, opt.mu, opt.h, #rows))
print(last[8] > 1e-3 and "it tips" or math.abs(last[6]) > 1e-9 and "it slides" or "it sticks")
print(("at the end: s = %.10g, v = %.10g, tilt = %.6g"):format(last[3], last[6], last[8]))
print(("a box that slides has g (sin - mu cos) = %.10g; energy: %.10g at the start, %.10g at the end"):format(
  a, start, last[13]))

options.save_csv(opt.csv, names, rows)

-- ---- pictures ----

-- The center (x, z) of a row, and the angle of the box in that plane.
local function place(row)
  return row[3] * cos + row[4] * sin, row[4] * cos - row[3] * sin, -(alpha + row[8])
end

local function outline(row)
  local x, z, angle = place(row)
  local co, si, px, pz = math.cos(angle), math.sin(angle), {}, {}
  for i, at in ipairs { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 }, { -1, -1 } } do
    local u, w = at[1] * b / 2, at[2] * c / 2
    px[i], pz[i] = x + co * u - si * w, z + si * u + co * w
  end
  return px, pz
end

-- The ends of the plane's line: before the box at the start, and behind it at the end.
local function slope()
  local first, final = -b, last[3] + math.max(b, c)
  return first * cos, -first * sin, final * cos, -final * sin
end

-- The box at six times; velocity, tilt and the forces of the plane.
pictures.draw(opt.plot, { run = function(plot)
  local fig, t = plot.figure { figsize = { 11, 5.5 },
    title = ("A box on a slope: $\\alpha = %g$°, $\\mu = %g$"):format(opt.alpha, opt.mu) }, pictures.column(rows, 2)
  local x0, z0, x1, z1 = slope()
  local space = fig:subplot(3, 2, { 1, 5 }):axis "equal":xlabel "$x$":ylabel "$z$"
  space:plot({ x0, x1 }, { z0, z1 }, "k", { linewidth = 2 })
  for _, row in ipairs(pictures.frames(rows, 5 / opt.T)) do
    local x, z = outline(row)
    space:fill(x, z, { color = "C0", alpha = 0.15, edgecolor = "C0" })
  end
  local top = fig:subplot(3, 2, 2):plot(t, pictures.column(rows, 6)):ylabel "velocity":xlim(0, opt.T)
  fig:subplot(3, 2, 4, { sharex = top }):plot(t, pictures.column(rows, 8, 180 / math.pi)):ylabel "tilt [deg]"
  fig:subplot(3, 2, 6, { sharex = top }):plot(t, pictures.column(rows, 10, opt.mu), "--", { label = "$\\mu$ normal" })
    :plot(t, pictures.column(rows, 11, -1), { label = "friction, up" }):ylabel "force":xlabel "$t$"
    :legend()
  return fig
end })

pictures.animate(opt.animate, function()
  return {
    frames = pictures.frames(rows, 60), title = "A box on a slope",
    background = function(canvas) canvas:ground(slope()) end,
    draw = function(row, canvas)
      local x, z, angle = place(row)
      canvas:rectangle(x, z, b, c, { angle = angle, fill = "orange", color = "ink" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "velocity", { label = "v", y = pictures.column(rows, 6) } },
      { ylabel = "tilt", { label = "tilt in degrees", y = pictures.column(rows, 8, 180 / math.pi) } } } },
  }
end)
