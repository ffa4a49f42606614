-- A pendulum in Cartesian coordinates: a mass m on a rod of length l under gravity, which starts level and at rest,
--
--   x' = u,  y' = v,    m u' = lambda x / l,  m v' = lambda y / l - m g,    C = (x^2 + y^2 - l^2) / (2 l) = 0.
--
-- lambda is the force of the rod, below 0 when it pulls. With C = 0 the equations are of index 3, with C' = 0 of
-- index 2, with C'' = 0 of index 1. A constraint that is not solved drifts: C in index 2; C' (like t) and C (like
-- t^2) in index 1. Two forms bound the drift: --form ggl, x' = u + mu x / l, y' = v + mu y / l, C = 0 and C' = 0;
-- --form baumgarte, C'' + 2 a C' + a^2 C = 0 in index 1.
--
-- ns.mechanics derives the equations from the position and the rod; --form written has the equations of index 3
-- written out. --form all runs all forms, and compares them in a table.
--
-- The energy is 0, and lambda = 3 m g y / l^2.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A pendulum as a differential-algebraic equation. Without --csv and --plot nothing is written.",
  { "form", default = "all", choices = { "all", "3", "2", "1", "ggl", "baumgarte", "written" },
    help = "see the header" },
  { "a", default = 10, min = 0, help = "of Baumgarte's terms" },
  { "rtol", default = 1e-6, min = 1e-13, max = 0.1, help = "relative tolerance" },
  { "atol", default = 1e-8, above = 0, help = "absolute tolerance" },
  { "T", default = 10, above = 0, max = 1000, help = "end of the run" },
  { "points", default = 101, min = 2, max = 1e6, help = "number of times, equally spaced from 0 to T" },
  { "csv", value = "FILE", help = "write t, x, y, u, v, lambda, C, C' and the energy there" },
  pictures.option,
})
local l, m, g = 1, 1, 9.81
local ts = ns.linspace(0, opt.T, math.floor(opt.points))
local start = { l, 0 }

-- The unknowns of index 3, written out: (x, y, u, v, lambda).
local function written()
  local function residual(_, y, yd, r)
    r[1], r[2] = yd[1] - y[3], yd[2] - y[4]
    r[3] = m * yd[3] - y[5] * y[1] / l
    r[4] = m * yd[4] - y[5] * y[2] / l + m * g
    r[5] = (y[1] ^ 2 + y[2] ^ 2 - l ^ 2) / (2 * l)
  end
  return ns.dae("radau", residual, { rtol = opt.rtol, atol = opt.atol })
    :solve(ts, { l, 0, 0, 0, 0 }, { 0, 0, 0, -g, 0 })
end

local function from_positions(name)
  local sys = ns.mechanics.system { coordinates = 2, gravity = { 0, -g } }
  local mass = sys:particle { mass = m, position = function(_, q) return { q[1], q[2] } end }
  sys:distance(mass, nil, sys.ground, nil, l)
  local form = { q0 = start, index = tonumber(name) or 1, rtol = opt.rtol, atol = opt.atol }
  if name == "ggl" then form.index, form.stabilised = 2, true end
  if name == "baumgarte" then form.baumgarte = { opt.a, opt.a } end
  return sys:solve_dae(ts, form)
end

-- The rows of a form, the steps, and the largest |C|, |C'| and change of the energy.
local function run(name)
  local sol = name == "written" and written() or from_positions(name)
  if not sol.success then error(sol.message, 0) end
  local rows, most = {}, { 0, 0, 0 }
  for k = 1, #ts do
    local x, y, u, v, lambda = table.unpack(sol.values.y[k]:totable())
    local C, rate = (x ^ 2 + y ^ 2 - l ^ 2) / (2 * l), (x * u + y * v) / l
    local energy = m * (u ^ 2 + v ^ 2) / 2 + m * g * y
    rows[k] = { ts[k], x, y, u, v, lambda, C, rate, energy }
    for i, drift in ipairs { C, rate, energy } do most[i] = math.max(most[i], math.abs(drift)) end
  end
  return rows, sol.stats.steps, most
end

-- |C|, |C'| and the change of the energy of all forms; values below 1e-17 are drawn as 1e-17.
local function draw_drift(plot, forms, runs)
  local fig, top = plot.figure { figsize = { 9, 7.5 }, title = "What the forms of a pendulum keep" }, nil
  for i, name in ipairs { "$|C|$", "$|C'|$", "$|E - E_0|$" } do
    local ax = fig:subplot(3, 1, i, { sharex = top }):ylabel(name)
    top = top or ax
    for k, form in ipairs(forms) do
      local values = {}
      for j, row in ipairs(runs[form]) do values[j] = math.max(math.abs(row[6 + i]), 1e-17) end
      local label = tonumber(form) and "index " .. form or form == "ggl" and "stabilised" or form
      ax:semilogy(pictures.column(runs[form], 1), values,
        { label = label, color = ("C%d"):format(k - 1), linewidth = 1.2,
          linestyle = form == "written" and "--" or "-" })
    end
    if i == 1 then ax:legend { loc = "outside" } end
    if i == 3 then ax:xlabel "$t$" end
  end
  return fig
end

if opt.form == "all" then
  if opt.csv then error("--csv goes with one form", 0) end
  print(("form       steps  C        C'       energy   at t = %g: x, lambda"):format(opt.T))
  local forms, runs = { "3", "2", "1", "ggl", "baumgarte", "written" }, {}
  for _, name in ipairs(forms) do
    local rows, steps, most = run(name)
    local last = rows[#rows]
    runs[name] = rows
    print(("%-9s  %5d  %.1e  %.1e  %.1e  %.9f  %.7f"):format(name, steps, most[1], most[2], most[3], last[2],
      last[6]))
  end
  pictures.draw(opt.plot, { drift = function(plot) return draw_drift(plot, forms, runs) end })
  return
end
local rows, steps, most = run(opt.form)
print(("form %s, rtol %g, %d steps: C is held to %.1e, C' to %.1e, the energy to %.1e"):format(
  opt.form, opt.rtol, steps, most[1], most[2], most[3]))
print(("at t = %g: x = %.9f, y = %.9f, lambda = %.9f"):format(opt.T, rows[#rows][2], rows[#rows][3], rows[#rows][6]))
options.save_csv(opt.csv, { "t", "x", "y", "u", "v", "lambda", "C", "rate", "energy" }, rows)

-- ---- pictures ----

pictures.draw(opt.plot, { [opt.form == "written" and "written" or "form_" .. opt.form] = function(plot)
  local fig = plot.figure { figsize = { 7, 8.5 }, title = "A pendulum as a DAE, form " .. opt.form }
  local top
  local function panel(i, name)
    local ax = fig:subplot(4, 1, i, { sharex = top }):ylabel(name)
    top = top or ax
    return ax
  end
  local t, column = pictures.column(rows, 1), function(j) return pictures.column(rows, j) end
  panel(1, "position"):plot(t, column(2), { label = "$x$" }):plot(t, column(3), { label = "$y$" }):legend()
  panel(2, "force of the rod"):plot(t, column(6))
  panel(3, "$C$ and $C'$"):plot(t, column(7), { label = "$C$" }):plot(t, column(8), { label = "$C'$" }):legend()
  panel(4, "energy"):plot(t, column(9)):xlabel "$t$"
  return fig
end })
