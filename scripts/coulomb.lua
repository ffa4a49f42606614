-- A block that slides on a plane and is stopped by dry friction:
--
--   x' = v,  m v' = f,  f = -mu m g Sign(v)        x(0) = 0, v(0) = 100
--
-- Sign(0) is the whole of [-1, 1]: at rest the friction f takes the value that keeps the block there. Without the
-- set-valued sign, f = F+ - F- and nu = |v| obey three complementarity conditions:
--
--   0 <= v + nu            _|_ F+ >= 0
--   0 <= -v + nu           _|_ F- >= 0
--   0 <= mu m g - F+ - F-  _|_ nu >= 0
--
-- A step of the semi-explicit Euler method satisfies them at its end:  v_{k+1} = v_k + (h / m) (F+ - F-),
-- x_{k+1} = x_k + h v_{k+1}. When the block rests, F+ and F- are not unique, but their difference is. The file has
-- the pair of least norm, in which one of them is zero.
--
-- --form direct solves these three conditions as a model. --form nsds states friction as a relay,
--   x' = v, v' = lambda / m,  y = v,  -y in N_[-mu m g, mu m g](lambda),  lambda = F+ - F-,
-- for which implicit Euler, EulerMoreauOSI(1), is the same scheme.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A block stopped by dry friction. Without --csv and --plot nothing is written.",
  { "form", default = "direct", choices = { "direct", "nsds" }, help = "how a step is stated" },
  { "mu", default = 10, min = 0, help = "coefficient of friction" },
  { "v0", default = 100, help = "velocity at the start" },
  { "h", default = 0.2, min = 1e-5, max = 5, help = "length of a step" },
  { "T", default = 5, above = 0, max = 1000, help = "end of the run" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.option,
})
local h, N = opt.h, math.floor(opt.T / opt.h + 0.5)
local m, g, mu = 100, 9.81, opt.mu
local x0, v0 = 0, opt.v0
local nan = -(0 / 0)

-- Both return a function that makes a step and returns x, v and the friction at its end.
local forms = {}

function forms.direct()
  local model = ns.numerics.model()
  local v = model:parameter(v0, "v")
  local nu = model:variable { lower = 0, name = "nu" }
  local plus = model:variable { lower = 0, name = "F+" }
  local minus = model:variable { lower = 0, name = "F-" }
  local v_next = v + h / m * (plus - minus)
  model:complements(v_next + nu, plus)
  model:complements(-v_next + nu, minus)
  model:complements(mu * m * g - (plus + minus), nu)
  local x = x0
  return function()
    model:solve()
    local new_v = v_next:value()
    v:set(new_v)
    x = x + h * new_v
    return x, new_v, plus:value() - minus:value()
  end
end

function forms.nsds()
  local dyn = ns.FirstOrderLinearTIDS({ x0, v0 }, { { 0, 1 }, { 0, 0 } })
  local relation = ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 / m } }) -- C, B
  local friction = ns.Interaction(ns.RelayNSL(1, -mu * m * g, mu * m * g), relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, N * h)
  nsds:insertDynamicalSystem(dyn)
  nsds:link(friction, dyn)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(1), ns.Relay())
  return function()
    simu:computeOneStep()
    local x, v, f = dyn:x()[1], dyn:x()[2], friction:lambda(0)[1]
    simu:nextStep()
    return x, v, f
  end
end

local step = forms[opt.form]()
local rows = { { 0, 0, x0, v0, nan, nan, nan, "init" } }
local rest
for k = 1, N do
  local x, v, f = step()
  local sticks = v == 0 or math.abs(f) < mu * m * g * (1 - 1e-9)
  local case = sticks and "stick" or v > 0 and "slide+" or "slide-"
  rows[k + 1] = { k, k * h, x, v, math.max(0, f), math.max(0, -f), math.abs(v), case }
  rest = case == "stick" and (rest or k) or nil
end

print(("mu = %g, h = %g, %d steps (%s)\n"):format(mu, h, N, opt.form))
print "     k          t              x              v             F+             F-   case"
for i, row in ipairs(rows) do
  if i > 1 and (i <= 8 or i == #rows or rest and math.abs(row[1] - rest) <= 1) then
    print(("%6d %10.6g %14.8g %14.8g %14.8g %14.8g   %s"):format(
      row[1], row[2], row[3], row[4], row[5], row[6], row[8]))
  end
end
print(rest and ("\nat rest from step %d on, at x = %.10g"):format(rest, rows[#rows][3]) or "\nnot at rest yet")

options.save_csv(opt.csv, { "k", "t", "x", "v", "Fplus_minnorm", "Fminus_minnorm", "vabs", "case" }, rows)

pictures.draw(opt.plot, {
  run = function(plot)
    local t, x, v, friction = {}, {}, {}, {}
    for i, row in ipairs(rows) do t[i], x[i], v[i], friction[i] = row[2], row[3], row[4], row[5] - row[6] end
    local format, fig = #rows <= 150 and "-o" or "-", plot.figure { figsize = { 7, 7 } }
    local first = fig:subplot(3, 1, 1):plot(t, v, format, { markersize = 2.5 }):ylabel "$v$":title(
      ("A block on a plane, $\\mu = %g$, $h = %g$"):format(mu, h))
    fig:subplot(3, 1, 2, { sharex = first }):plot(t, x, format, { markersize = 2.5 }):ylabel "$x$"
    fig:subplot(3, 1, 3, { sharex = first }):step(t, friction):ylabel "friction":xlabel "$t$"
    return fig
  end,
})
