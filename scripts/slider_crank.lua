-- A slider-crank mechanism whose slider has clearance in its guide: it knocks on both walls, and slides along them.
--
--   M(q) q'' + N(q, q') + G(q) = H_N(q)' lambda_N + H_T(q)' lambda_T
--
-- with q = (q1, q2, q3), the angles of crank, rod and slider: the slider is on the rod's end, and only its walls
-- hold it in the guide. With s = l1 l2 (m2 / 2 + m3) and D = q1 - q2,
--
--       [ J1 + (m1 / 4 + m2 + m3) l1^2   s cos D                    0  ]       [  s sin D q2'^2 ]
--   M = [ s cos D                        J2 + (m2 / 4 + m3) l2^2    0  ]   N = [ -s sin D q1'^2 ]
--       [ 0                              0                          J3 ]       [  0             ]
--
-- and G the gradient of V = (m1 / 2 + m2 + m3) g l1 sin q1 + (m2 / 2 + m3) g l2 sin q2. The slider is 2 a long
-- and 2 b high, the guide |y| <= b + c. Its corners (X, Y), at (-a, b), (a, b), (-a, -b), (a, -b) of its center
-- in its own axes, have each
--
--   0 <= b + c - |Y| _|_ lambda_N >= 0,   lambda_T in -mu lambda_N Sign(X'),   restitution e normal, 0 tangential
--
-- Model and data: Flores, Leine and Glocker, Multibody System Dynamics 23, 2010. The crank starts with 150 rad/s,
-- the rod with -75 rad/s; no motor drives it. From q3 = 0 both upper corners touch at once; --q3 tilts the slider.
--
-- Moreau and Jean's scheme: a relation of two rows, gap and X, for each corner; all Jacobians come from dual
-- numbers.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A slider-crank mechanism with clearance. Without --csv, --animate and --plot nothing is written.",
  { "c", default = 1e-3, above = 0, max = 0.1, help = "clearance on each side, in m" },
  { "q3", default = 0, min = -0.5, max = 0.5, help = "angle of the slider at the start" },
  { "e", default = 0.4, min = 0, max = 1, help = "restitution" },
  { "mu", default = 0.01, min = 0, help = "coefficient of friction" },
  { "theta", default = 0.5, min = 0.5, max = 1, help = "weight of the end of a step" },
  { "h", default = 1e-5, min = 1e-8, max = 1e-3, help = "length of a step" },
  { "T", default = 0.05, above = 0, max = 100, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local l1, l2, a, b, c, g = 0.153, 0.306, 0.05, 0.025, opt.c, 9.81
local m1, m2, m3, J1, J2, J3 = 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4, 2.7e-6
local s, G1, G2 = l1 * l2 * (m2 / 2 + m3), (m1 / 2 + m2 + m3) * g * l1, (m2 / 2 + m3) * g * l2
local sin, cos = math.sin, math.cos

local mechanism = ns.LagrangianDS {
  q0 = { 0, 0, opt.q3 },
  v0 = { 150, -75, 0 },
  mass = function(q, _, M)
    local coupling = s * cos(q[1] - q[2])
    M[1][1], M[1][2] = J1 + (m1 / 4 + m2 + m3) * l1 ^ 2, coupling
    M[2][1], M[2][2] = coupling, J2 + (m2 / 4 + m3) * l2 ^ 2
    M[3][3] = J3
  end,
  fGyr = function(q, v, _, f)
    local sine = s * sin(q[1] - q[2])
    f[1], f[2] = sine * v[2] ^ 2, -sine * v[1] ^ 2
  end,
  fInt = function(_, q, _, _, f) f[1], f[2] = G1 * cos(q[1]), G2 * cos(q[2]) end,
}
mechanism:setComputePotentialFunction(function(q, _, V) V[1] = G1 * sin(q[1]) + G2 * sin(q[2]) end)
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(mechanism)
local corners = {}
for i, at in ipairs { { -1, 1 }, { 1, 1 }, { -1, -1 }, { 1, -1 } } do
  local along, side = at[1] * a, at[2]
  local corner = ns.LagrangianScleronomousR {
    h = function(q, _, y)
      local sin3, cos3 = sin(q[3]), cos(q[3])
      y[1] = b + c - side * (l1 * sin(q[1]) + l2 * sin(q[2]) + along * sin3) - b * cos3
      y[2] = l1 * cos(q[1]) + l2 * cos(q[2]) + along * cos3 - side * b * sin3
    end,
  }
  corners[i] = ns.Interaction(ns.NewtonImpactFrictionNSL(opt.e, 0, opt.mu, 2), corner)
  nsds:link(corners[i], mechanism)
end
local osi, grid = ns.MoreauJeanOSI(opt.theta), ns.TimeDiscretisation(0, opt.h)
local simu = ns.TimeStepping(nsds, grid, osi, ns.FrictionContact(2))

local names = { "k", "t", "q1", "q2", "q3", "w1", "w2", "w3", "x", "y", "energy" }
for i = 1, 4 do
  table.move({ "gap" .. i, "n" .. i, "t" .. i }, 1, 3, #names + 1, names)
end
local rows, impacts, touching, deepest = {}, 0, {}, 0
local function record(k, t)
  local q, v = mechanism:q(), mechanism:velocity()
  local x, y = l1 * cos(q[1]) + l2 * cos(q[2]), l1 * sin(q[1]) + l2 * sin(q[2])
  local row = { k, t, q[1], q[2], q[3], v[1], v[2], v[3], x, y, simu:energy().total }
  for i, corner in ipairs(corners) do
    local gap, p = corner:y(0)[1], corner:lambda(1)
    table.move({ gap, p[1], p[2] }, 1, 3, #row + 1, row)
    if p[1] > 0 and not touching[i] then impacts = impacts + 1 end
    touching[i], deepest = p[1] > 0, math.max(deepest, -gap)
  end
  rows[#rows + 1] = row
end
record(0, 0)
for k, t in simu:steps() do record(k, t) end
local energy = simu:energy()

print(("c = %g, e = %g, mu = %g, h = %g, %d steps: the corners touch %d times, deepest penetration %.1e"):format(
  c, opt.e, opt.mu, opt.h, #rows - 1, impacts, deepest))
local last = rows[#rows]
print(("at the end: crank %.8g rad, %.8g rad/s, slider at %.8g m"):format(last[3], last[6], last[9]))
print(("energy: %.8g J at the start, %.8g J at the end; impacts and friction took %.4g, the scheme %.2g"):format(
  rows[1][11], energy.total, -energy.impacts - energy.friction, -energy.numerical - energy.forces))

options.save_csv(opt.csv, names, rows)

-- ---- pictures ----

-- The slider in its guide: its height, its angle, and the impulses at the corners; the energy.
pictures.draw(opt.plot, { run = function(plot)
  local fig, top = plot.figure { figsize = { 9, 8 }, title = ("Slider-crank, clearance %g mm"):format(1e3 * c) }, nil
  local t = pictures.column(rows, 2, 1e3)
  local function panel(i, name)
    local ax = fig:subplot(4, 1, i, { sharex = top }):ylabel(name)
    top = top or ax
    return ax
  end
  panel(1, "height [mm]"):axhline(1e3 * c):axhline(-1e3 * c):plot(t, pictures.column(rows, 10, 1e3))
    :ylim(-1.2e3 * c, 1.2e3 * c)
  panel(2, "angle [deg]"):plot(t, pictures.column(rows, 5, 180 / math.pi))
  local force = panel(3, "force [kN]")
  for i, name in ipairs { "upper left", "upper right", "lower left", "lower right" } do
    force:plot(t, pictures.column(rows, 10 + 3 * i, 1e-3 / opt.h), { label = name, linewidth = 1 })
  end
  force:legend { loc = "outside" }
  panel(4, "energy [J]"):plot(t, pictures.column(rows, 11)):xlabel "$t$ [ms]"
  return fig
end })

pictures.animate(opt.animate, function()
  local speed = 0.01
  return {
    frames = pictures.frames(rows, 60 / speed), title = "A slider-crank mechanism with clearance", speed = speed,
    background = function(canvas)
      local from, to = l2 - l1 - 2 * a, l1 + l2 + 2 * a
      canvas:ground(from, -b - c, to, -b - c)
      canvas:ground(to, b + c, from, b + c)
    end,
    draw = function(row, canvas)
      local x1, y1 = l1 * cos(row[3]), l1 * sin(row[3])
      canvas:circle(0, 0, l1, { color = "faint", linestyle = "dotted" })
      canvas:rectangle(row[9], row[10], 2 * a, 2 * b, { angle = row[5], fill = "sky", color = "ink" })
      canvas:line(0, 0, x1, y1, { color = "blue", linewidth = 7 })
      canvas:line(x1, y1, row[9], row[10], { color = "green", linewidth = 5 })
      for _, p in ipairs { { 0, 0 }, { x1, y1 }, { row[9], row[10] } } do
        canvas:point(p[1], p[2], { fill = "paper", color = "ink", size = 11 })
      end
      for i, at in ipairs { { -1, 1 }, { 1, 1 }, { -1, -1 }, { 1, -1 } } do -- a mark where a corner is pressed
        local u, w = at[1] * a, at[2] * b
        if row[10 + 3 * i] > 0 then
          canvas:point(row[9] + u * cos(row[5]) - w * sin(row[5]), row[10] + u * sin(row[5]) + w * cos(row[5]),
            { color = "vermillion", size = 14 })
        end
      end
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "height", { label = "height in mm", y = pictures.column(rows, 10, 1e3) } },
      { ylabel = "angle", { label = "angle in degrees", y = pictures.column(rows, 5, 180 / math.pi) } } } },
  }
end)
