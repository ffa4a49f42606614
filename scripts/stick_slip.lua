-- A block on a belt, held by a spring: it sticks to the belt until the spring is stronger than friction, slips back,
-- and is caught by the belt again.
--
--   m x'' = -k x + f,   f in -mu N Sign(x' - V)        m y'' = -m g + N,   0 <= y _|_ N >= 0
--
-- with m = 1, k = 100, V = 0.1, and mu = mu_s = 0.5 while it sticks, mu_d = 0.3 while it slips. Let w = sqrt(k / m).
-- It sticks until x = mu_s m g / k. While it slips, (x, x' / w) moves on an arc of a circle about x = mu_d m g / k.
-- The slip begins at the distance a = (mu_s - mu_d) m g / k above this centre, and ends at a below it, where the
-- velocity is again that of the belt:
--
--   stick: 2 a / V,     slip: (pi + 2 atan(V / (a w))) / w
--
-- The contact is one interaction with two rows, the height of the block over the belt, and its path along the belt:
-- with a moving belt, h(q, t) = (y, x - V t), a rheonomous relation. mu is set before each step, from the last one.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A block on a belt that sticks and slips. Without --csv, --animate and --plot nothing is written.",
  { "mu_s", default = 0.5, min = 0, help = "coefficient of friction while it sticks" },
  { "mu_d", default = 0.3, min = 0, help = "coefficient of friction while it slips" },
  { "V", default = 0.1, min = 0, help = "velocity of the belt" },
  { "h", default = 1e-3, min = 1e-6, max = 0.1, help = "length of a step" },
  { "T", default = 3, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.motion,
  pictures.option,
})
local m, k, g, V = 1, 100, 9.81, opt.V
local REST = 1e-10 -- velocity of slip below which the block counts as sticking

local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, V }, m * ns.eye(2), ns.diag { 0, k }) -- q = (y, x)
block:setFExtPtr { -m * g, 0 }
local law = ns.NewtonImpactFrictionNSL(0, 0, opt.mu_s, 2)
local belt = ns.Interaction(law, ns.LagrangianRheonomousR {
  h = function(t, q, _, out) out[1], out[2] = q[1], q[2] - V * t end,
  hDot = function(_, _, _, out) out[1], out[2] = 0, -V end,
})
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(block)
nsds:link(belt, block)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(0.5), ns.FrictionContact(2))

local rows = { { 0, 0, 0, V, 0, 0, "stick" } }
local changes = {}
for step, t in simu:steps() do
  local x, v, p = block:q()[2], block:velocity()[2], belt:lambda(1)
  local state = math.abs(v - V) <= REST and "stick" or "slip"
  law:setMu(state == "stick" and opt.mu_s or opt.mu_d)
  if state ~= rows[#rows][7] then changes[#changes + 1] = { t, x, state } end
  rows[#rows + 1] = { step, t, x, v, p[2] / opt.h, p[1] / opt.h, state }
end

print(("mu = %g, %g, V = %g, h = %g, %d steps\n"):format(opt.mu_s, opt.mu_d, V, opt.h, #rows - 1))
print "         t              x   then"
for i = 1, math.min(10, #changes) do print(("%10.6g %14.8g   %s"):format(table.unpack(changes[i]))) end

if opt.csv then
  options.write_csv(opt.csv, { "k", "t", "x", "v", "f", "N", "state" }, rows)
  print(("\nwritten: %d rows to %s"):format(#rows, opt.csv))
end

-- ---- pictures ----

local column = function(j) return pictures.column(rows, j) end

-- The times at which the block begins to stick and to slip, in pairs.
local function sticking()
  local spans, since = {}, 0
  for _, change in ipairs(changes) do
    if change[3] == "slip" then spans[#spans + 1] = { since, change[1] } else since = change[1] end
  end
  if rows[#rows][7] == "stick" then spans[#spans + 1] = { since, rows[#rows][2] } end
  return spans
end

-- Position and friction over time, shaded while it sticks; the cycle in the plane of x and v.
pictures.draw(opt.plot, { run = function(plot)
  local fig, t = plot.figure { figsize = { 11, 5 }, title = "A block on a belt" }, column(2)
  local function panel(i, y, name, above)
    local low, high = math.huge, -math.huge
    for _, value in ipairs(y) do low, high = math.min(low, value), math.max(high, value) end
    local margin = math.max(0.1 * (high - low), 1e-12)
    low, high = low - margin, high + margin
    local ax = fig:subplot(2, 2, i, { sharex = above }):ylabel(name):xlim(0, opt.T)
    for j, span in ipairs(sticking()) do
      ax:fill_between(span, { low, low }, high, { color = "C4", alpha = 0.25, label = j == 1 and "it sticks" or nil })
    end
    return ax:plot(t, y, { color = "C0" }):ylim(low, high)
  end
  local above = panel(1, column(3), "$x$"):legend()
  panel(3, column(5), "friction", above):xlabel "$t$"
  fig:subplot(2, 2, { 2, 4 }):plot(column(3), column(4)):axhline(V, { linestyle = "--" }):axhline(0)
    :xlabel "$x$":ylabel "$v$":title "the cycle; dashed: the belt's velocity"
  return fig
end })

-- The block on the belt. Marks move with the belt. The picture is ten times as wide as the motion.
pictures.animate(opt.animate, function()
  local mean = 0
  for _, row in ipairs(rows) do mean = mean + row[3] / #rows end
  local size = math.max(V, 0.1)
  return {
    frames = pictures.frames(rows, 60), title = "A block on a belt",
    xlim = { mean - size, mean + size },
    background = function(canvas)
      canvas:ground(mean - size, -0.1 * size, mean - size, 0.5 * size)
    end,
    draw = function(row, canvas)
      local wide = 0.3 * size
      canvas:line(mean - size, 0, mean + size, 0, { linewidth = 5, color = "muted" })
      for i = -4, 4 do -- marks that go round
        local at = (V * row[2] + i * size / 4.5 + size) % (2 * size) + mean - size
        canvas:line(at, -0.02 * size, at, -0.09 * size, { linewidth = 3, color = "muted" })
      end
      canvas:spring(mean - size, wide / 2, row[3] - wide / 2, wide / 2, { color = "green" })
      local fill = row[7] == "stick" and "orange" or "sky"
      canvas:rectangle(row[3], wide / 2, wide, wide, { fill = fill, color = "ink" })
    end,
    plot = { t = column(2), panels = {
      { ylabel = "x", { label = "x", y = column(3) } }, { ylabel = "v", { label = "v", y = column(4) } } } },
  }
end)
