-- The woodpecker toy: a sleeve that can tilt on a pole, and a bird on a spring at the sleeve. It goes down the pole
-- in jerks: the tilted sleeve jams by friction, the bird swings, its beak knocks on the pole, the sleeve comes
-- loose.
--
--   M q'' + K q = f + H_N' lambda_N + H_T' lambda_T      q = (y, a, b): height, angles of the sleeve and of the bird
--
-- with small angles (a linear model; m, J: masses and inertias of sleeve M and bird S, l and h lengths),
--
--       [ m_M + m_S   m_S l_M          m_S l_G         ]       [ 0  0  0 ]         [ -(m_M + m_S) g ]
--   M = [ m_S l_M     J_M + m_S l_M^2  m_S l_M l_G     ]   K = [ 0  c -c ]     f = [ -m_S l_M g     ]
--       [ m_S l_G     m_S l_M l_G      J_S + m_S l_G^2 ]       [ 0 -c  c ]         [ -m_S l_G g     ]
--
-- and three contacts with friction, mu = 0.3: the beak (restitution 0.5), the sleeve's lower and upper edge (0),
--
--   g_1 = l_M + l_G - l_S - r_O - h_S b,     g_2 = r_M - r_O + h_M a,     g_3 = r_M - r_O - h_M a
--   sliding velocities  y' + l_M a' + (l_G - l_S) b',   y' + r_M a',   y' + r_M a'
--
-- Model and data: Glocker, Dynamik von Starrkoerpersystemen mit Reibung und Stoessen, VDI, 1995; Pfeiffer and
-- Glocker, Multibody Dynamics with Unilateral Contacts, Wiley, 1996. The start is on the limit cycle, which has one
-- knock and takes 0.146 s and 19.5 mm.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "The woodpecker toy. Without --csv, --animate and --plot nothing is written.",
  { "mu", default = 0.3, min = 0, help = "coefficient of friction" },
  { "e", default = 0.5, min = 0, max = 1, help = "restitution of the beak" },
  { "h", default = 1e-4, min = 1e-6, max = 1e-2, help = "length of a step" },
  { "T", default = 2, above = 0, max = 100, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local m_M, m_S, J_M, J_S, c, g = 3e-4, 4.5e-3, 5e-9, 7e-7, 5.6e-3, 9.81
local r_O, r_M, h_M, l_M, l_G, h_S, l_S = 2.5e-3, 3.1e-3, 5.8e-3, 1e-2, 1.5e-2, 2e-2, 2.01e-2

local toy = ns.LagrangianLinearTIDS({ 0, -0.1036, -0.2788 }, { -0.3411, 0, -7.4583 }, {
  { m_M + m_S, m_S * l_M, m_S * l_G },
  { m_S * l_M, J_M + m_S * l_M ^ 2, m_S * l_M * l_G },
  { m_S * l_G, m_S * l_M * l_G, J_S + m_S * l_G ^ 2 },
}, { { 0, 0, 0 }, { 0, c, -c }, { 0, -c, c } })
toy:setFExtPtr { -(m_M + m_S) * g, -m_S * l_M * g, -m_S * l_G * g }

local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(toy)
local function contact(restitution, normal, gap, tangent)
  local law = ns.NewtonImpactFrictionNSL(restitution, 0, opt.mu, 2)
  local inter = ns.Interaction(law, ns.LagrangianLinearTIR({ normal, tangent }, { gap, 0 }))
  nsds:link(inter, toy)
  return inter
end
local contacts = {
  contact(opt.e, { 0, 0, -h_S }, l_M + l_G - l_S - r_O, { 1, l_M, l_G - l_S }),
  contact(0, { 0, h_M, 0 }, r_M - r_O, { 1, r_M, 0 }),
  contact(0, { 0, -h_M, 0 }, r_M - r_O, { 1, r_M, 0 }),
}
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.FrictionContact(2))

local start = simu:energy()
local names = { "k", "t", "y", "a", "b", "vy", "wa", "wb", "n1", "t1", "n2", "t2", "n3", "t3", "energy", "impacts",
  "friction" }
local rows, knocks = {}, {}
for k, t in simu:steps() do
  local q, v, energy = toy:q(), toy:velocity(), simu:energy()
  local row = { k, t, q[1], q[2], q[3], v[1], v[2], v[3] }
  for _, inter in ipairs(contacts) do
    local p = inter:lambda(1)
    row[#row + 1], row[#row + 2] = p[1], p[2]
  end
  row[15], row[16], row[17] = energy.total, energy.impacts, energy.friction
  if row[9] > 0 and v[3] < -1 then knocks[#knocks + 1] = { t, q[1] } end
  rows[k] = row
end
local energy = simu:energy()

print(("mu = %g, e = %g, h = %g, %d steps, the beak knocks %s"):format(opt.mu, opt.e, opt.h, #rows,
  #knocks == 1 and "once" or #knocks .. " times"))
if #knocks > 1 then print "\n         t     height (mm)   since the last one (s)   down (mm)" end
for i = math.max(2, #knocks - 7), #knocks do
  local now, last = knocks[i], knocks[i - 1]
  print(("%10.6g %15.7g %24.5g %11.5g"):format(now[1], 1e3 * now[2], now[1] - last[1], 1e3 * (last[2] - now[2])))
end
print(("\nenergy: %.8g mJ at the start, %.8g at the end; impacts took %.6g, friction %.6g"):format(
  1e3 * start.total, 1e3 * energy.total, -1e3 * energy.impacts, -1e3 * energy.friction))

options.save_csv(opt.csv, names, rows)

-- ---- pictures ----

local function column(j, factor)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[j] * (factor or 1) end
  return values
end

-- Height and angles over time; the bird's angle and velocity in the last half second.
pictures.draw(opt.plot, { run = function(plot)
  local fig, t = plot.figure { figsize = { 11, 5.5 }, title = "The woodpecker toy" }, column(2)
  local top = fig:subplot(3, 2, 1):plot(t, column(3, 1e3)):ylabel "height [mm]":xlim(0, opt.T)
  fig:subplot(3, 2, 3, { sharex = top }):plot(t, column(4)):ylabel "sleeve $a$"
  fig:subplot(3, 2, 5, { sharex = top }):plot(t, column(5)):ylabel "bird $b$":xlabel "$t$ [s]"
  local b, rate = {}, {}
  for _, row in ipairs(rows) do
    if row[2] > opt.T - 0.5 then b[#b + 1], rate[#rate + 1] = row[5], row[8] end
  end
  fig:subplot(3, 2, { 2, 6 }):plot(b, rate, { linewidth = 0.7 }):xlabel "$b$":ylabel "$b'$ [1/s]"
    :title "the limit cycle"
  return fig
end })

-- The plane of pole and bird, seen from the height of the sleeve: marks on the pole, 10 mm apart, pass by. Angles are
-- drawn as they are; the bird's shape is free.
pictures.animate(opt.animate, function()
  local speed = 0.2
  local function turned(x, y, angle, u, w) -- (u, w) of a body at (x, y)
    return { x + u * math.cos(angle) - w * math.sin(angle), y + u * math.sin(angle) + w * math.cos(angle) }
  end
  local function body(x, y, angle, points)
    local list = {}
    for i, p in ipairs(points) do list[i] = turned(x, y, angle, p[1], p[2]) end
    return list
  end
  local R, r, H = 1e3 * r_O, 1e3 * r_M, 1e3 * h_M
  return {
    frames = pictures.frames(rows, 60 / speed), title = "The woodpecker toy", speed = speed,
    xlim = { -25, 55 }, ylim = { -30, 30 },
    background = function(canvas) canvas:rectangle(0, 0, 2 * R, 80, { fill = "faint", color = "muted" }) end,
    draw = function(row, canvas)
      local a, b, first = row[4], row[5], -1e3 * row[3] % 10 - 40
      for mark = first, first + 70, 10 do canvas:line(-R, mark, R, mark, { color = "muted" }) end
      for _, side in ipairs { -1, 1 } do -- the sleeve, cut
        canvas:polygon(body(0, 0, a,
          { { side * r, -H }, { side * r, H }, { side * (r + 2), H }, { side * (r + 2), -H } }),
          { fill = "blue", color = "ink" })
      end
      local joint = turned(0, 0, a, 1e3 * l_M, 0)
      local bird = turned(joint[1], joint[2], b, 1e3 * l_G, 0)
      local edge = turned(0, 0, a, r + 2, 0)
      canvas:line(edge[1], edge[2], joint[1], joint[2], { color = "blue", linewidth = 4 })
      canvas:spring(joint[1], joint[2], bird[1], bird[2], { color = "green" })
      local outline = { { -3, -16 }, { 6, -14 }, { 8, 4 }, { 4, 16 }, { 1e3 * (-l_S), 1e3 * h_S }, { -4, 12 } }
      canvas:polygon(body(bird[1], bird[2], b, outline), { fill = "orange", color = "ink" })
    end,
    plot = { t = column(2), panels = {
      { ylabel = "height", { label = "height in mm", y = column(3, 1e3) } },
      { ylabel = "angles", { label = "sleeve a", y = column(4) }, { label = "bird b", y = column(5) } } } },
  }
end)
