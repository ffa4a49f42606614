-- A planar system that spirals into the origin in finite time, crossing its axes infinitely often on the way:
--
--   x1' = -sign(x1) + 2 sign(x2)       x(0) = (-1, 1)
--   x2' = -2 sign(x1) - sign(x2)       or  x' = A sign(x),  A = [-1 2; -2 -1]
--
-- |x1| + |x2| falls at the rate 2, so the origin is reached at t = 1.
--
-- Forward Euler:    x_{k+1} = x_k + h A sign(x_k)     never comes to rest: it ends in a cycle around the origin.
-- Backward Euler:   x_{k+1} = x_k + h A u,  u in Sign(x_{k+1}), where Sign(0) is the whole of [-1, 1]. That is
--                   -1 <= u <= 1  _|_  -x_{k+1}: u_i is 1 where x_i > 0, -1 where x_i < 0, between where x_i = 0.
--   It reaches the origin exactly, from any state of the square h A [-1, 1]^2, and stays there.
--
-- Each u_i is at its lower bound, at its upper bound or between: this gives nine regions of x_k (--method regions).
--
-- --form direct solves each step as a complementarity model. --form nsds states the same system with a relay law,
--   x' = A lambda,  y = -x,  -y in N_[-1,1](lambda),  lambda = u,
-- for which TimeStepping with EulerMoreauOSI(1) is the same scheme.
--
-- --method adaptive solves x' = A sign(x) by a solver for smooth ODEs that chooses its steps. Near the origin, where
--   the field jumps at every crossing, its steps shrink until the state is at rest within the tolerances.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A spiral that reaches the origin in finite time. --csv writes what --method computes, --plot draws it.",
  { "method", default = "backward", choices = { "backward", "forward", "adaptive", "regions", "portrait" },
    help = "what to compute" },
  { "form", default = "direct", choices = { "direct", "nsds" }, help = "of backward Euler" },
  { "h", above = 0, max = 1, help = "length of a step (default: 0.2, forward Euler 0.005)" },
  { "T", above = 0, max = 1000, help = "end of the run (default: 2, forward Euler 5)" },
  { "csv", value = "FILE", help = "write the result there" },
  pictures.option,
})
local forward = opt.method == "forward"
local h, T = opt.h or (forward and 0.005 or 0.2), opt.T or (forward and 5 or 2)
local N = math.floor(T / h + 0.5)

local A = ns.matrix { { -1, 2 }, { -2, -1 } }
local x0 = ns.vector { -1, 1 }
local nan = -(0 / 0)

local function sign(s) return s > 0 and 1 or s < 0 and -1 or 0 end

-- Each method returns the names of its columns and its rows.
local methods = {}

function methods.portrait()
  local rows = {}
  for x2 = -2, 2, 0.25 do
    for x1 = -2, 2, 0.25 do
      local f = A * ns.vector { sign(x1), sign(x2) }
      rows[#rows + 1] = { x1, x2, f[1], f[2] }
    end
  end
  print(("The field x' = A sign(x) at %d points of [-2, 2]^2:"):format(#rows))
  for _, s in ipairs { { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } } do
    local f = A * ns.vector(s)
    print(("  x1 %s 0, x2 %s 0:  x' = (%g, %g)"):format(s[1] > 0 and ">" or "<", s[2] > 0 and ">" or "<", f[1], f[2]))
  end
  return { "x1", "x2", "f1", "f2" }, rows
end

function methods.forward()
  local x, rows = x0, { { 0, 0, x0[1], x0[2] } }
  local largest = 0
  for k = 1, N do
    x = x + h * (A * ns.vector { sign(x[1]), sign(x[2]) })
    rows[k + 1] = { k, k * h, x[1], x[2] }
    if k > N - 8 then largest = math.max(largest, x:norm(math.huge)) end
  end
  print(("Forward Euler, h = %g, %d steps"):format(h, N))
  print(("In the last 8 steps |x| is up to %.3g: it does not come to rest."):format(largest))
  return { "k", "t", "x1_double", "x2_double" }, rows
end

local function adaptive_way()
  return ns.solve_ivp(function(_, x, f)
    local s1, s2 = sign(x[1]), sign(x[2])
    f[1], f[2] = 2 * s2 - s1, -2 * s1 - s2
  end, { 0, T }, x0, { method = "RK45", rtol = 1e-3, atol = 1e-6 })
end

function methods.adaptive()
  local sol = adaptive_way()
  local rows, before = {}, 0
  for k = 1, #sol.t do
    rows[k] = { k - 1, sol.t[k], sol.y[1][k], sol.y[2][k] }
    if sol.t[k] <= 1 then before = k - 1 end
  end
  print(("RK45, rtol = 1e-3, atol = 1e-6: %d steps, %d of them to t = 1, %d more rejected, %d evaluations"):format(
    sol.nsteps, before, sol.nrejected, sol.nfev))
  print(("%s; x(%g) = (%.3g, %.3g)"):format(sol.message, sol.t[#sol.t], rows[#rows][3], rows[#rows][4]))
  return { "k", "t", "x1", "x2" }, rows
end

-- u and x_{k+1} of a step from x, by a complementarity model: it is built once.
local function direct_step()
  local model = ns.numerics.model()
  local x = model:parameter(x0, "x")
  local u = model:variables(2, { lower = -1, upper = 1, name = "u" })
  model:complements(-(x + h * A * u), u)
  return function()
    model:solve()
    local x_next = 0 - model:slack(u) -- slack: the value of -(x + h A u), exactly 0 where u is between its bounds
    x:set(x_next)
    return x_next, model:value(u)
  end
end

local function nsds_step()
  local dyn = ns.FirstOrderLinearTIDS(x0, ns.zeros(2, 2))
  local relay = ns.Interaction(ns.RelayNSL(2, -1, 1), ns.FirstOrderLinearTIR(-ns.eye(2), A)) -- C, B
  local nsds = ns.NonSmoothDynamicalSystem(0, N * h)
  nsds:insertDynamicalSystem(dyn)
  nsds:link(relay, dyn)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(1), ns.Relay())
  return function()
    simu:computeOneStep()
    local x, u = dyn:x():copy(), relay:lambda(0):copy()
    simu:nextStep()
    return x, u
  end
end

function methods.backward()
  local step = opt.form == "direct" and direct_step() or nsds_step()
  local rows, origin = { { 0, 0, x0[1], x0[2], nan, nan } }, nil
  for k = 1, N do
    local x, u = step()
    rows[k + 1] = { k, k * h, x[1], x[2], u[1], u[2] }
    if x[1] == 0 and x[2] == 0 then origin = origin or k else origin = nil end
  end
  print(("Backward Euler (%s), h = %g, %d steps"):format(opt.form, h, N))
  print "     k          t             x1             x2         u1         u2"
  for i, row in ipairs(rows) do
    if i <= 6 or origin and math.abs(row[1] - origin) <= 1 or i == #rows then
      print(("%6d %10.6g %14.8g %14.8g %10.5g %10.5g"):format(table.unpack(row)))
    end
  end
  print(origin and ("x is exactly (0, 0) from step %d on."):format(origin) or "x has not come to rest.")
  return { "k", "t", "x1", "x2", "u1", "u2" }, rows
end

-- The states x from which the step has the given u: a component is 1 (then x_next >= 0), -1 (x_next <= 0), or "free"
-- (x_next = 0 and u is in [-1, 1]). With x_next = x + h A u, all conditions are linear in x: rows { a1, a2, b }.
local function region(u1, u2)
  local rows = {}
  local function below(a, b) rows[#rows + 1] = { a[1], a[2], b } end
  if u1 == "free" and u2 == "free" then
    local inverse = ns.inv(h * A) -- u = -(h A)^-1 x
    for i = 1, 2 do
      below(-inverse[i], 1)
      below(inverse[i], 1)
    end
  elseif u1 ~= "free" and u2 ~= "free" then
    local b, e = h * A * ns.vector { u1, u2 }, ns.eye(2)
    below(-u1 * e[1], u1 * b[1])
    below(-u2 * e[2], u2 * b[2])
  else
    -- i is free and j is not. x_next_i = 0 gives u_i = -(x_i + h A_ij u_j) / (h A_ii); it is put into x_next_j.
    local i, j = u1 == "free" and 1 or 2, u1 == "free" and 2 or 1
    local uj = u1 == "free" and u2 or u1
    local e = ns.eye(2)
    local ui, c = -1 / (h * A[i][i]) * e[i], -A[i][j] * uj / A[i][i]             -- u_i = ui x + c
    below(ui, 1 - c)
    below(-ui, 1 + c)
    local a, b = e[j] + h * A[j][i] * ui, h * (A[j][i] * c + A[j][j] * uj)       -- x_next_j = a x + b
    below(-uj * a, uj * b)
  end
  return ns.polygon.intersection(rows)
end

local function pairs_of(list)
  local parts = {}
  for _, p in ipairs(list) do
    local text = ("(%.17g %.17g)"):format(p[1], p[2])
    if text ~= parts[#parts] then parts[#parts + 1] = text end
  end
  return #parts > 0 and table.concat(parts, ";") or "none"
end

function methods.regions()
  local rows = {}
  print(("The nine regions of backward Euler with h = %g"):format(h))
  for _, u in ipairs {
    { "free", "free" }, { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 },
    { 1, "free" }, { -1, "free" }, { "free", 1 }, { "free", -1 },
  } do
    local p, text, next_x = region(u[1], u[2]), {}, {}
    local free = (u[1] == "free" and 1 or 0) + (u[2] == "free" and 1 or 0)
    local name = ({ [0] = "quadrant", "strip", "centre" })[free]
    for i = 1, 2 do
      text[i] = u[i] == "free" and "(-1..1)" or ("%d"):format(u[i])
      next_x[i] = u[i] == "free" and ("x%d+=0"):format(i) or ("x%d+ sign %d"):format(i, u[i])
    end
    if u[2] == "free" then next_x[1], next_x[2] = next_x[2], next_x[1] end
    local after = free == 2 and "x+=0" or table.concat(next_x, " ")
    print(("  %-8s u1 = %-7s u2 = %-7s %s"):format(name, text[1], text[2], p))
    rows[#rows + 1] = { name, text[1], text[2], after, pairs_of(p.vertices), pairs_of(p.rays) }
  end
  return { "region", "u1", "u2", "next", "vertices", "rays" }, rows
end

local names, rows = methods[opt.method]()
options.save_csv(opt.csv, names, rows)

-- ---- pictures ----

local function field(x1, x2)
  local f = A * ns.vector { sign(x1), sign(x2) }
  return f[1], f[2]
end

local function plane(plot, title, reach, width)
  local ax = plot.figure { figsize = { width, 6 } }:subplot(1, 1, 1)
  return ax:title(title):xlabel "$x_1$":ylabel "$x_2$":axis "equal":xlim(-reach, reach):ylim(-reach, reach)
end

-- Time and states of a run with the method's step.
local function states()
  local t, x1, x2 = {}, {}, {}
  for i, row in ipairs(rows) do t[i], x1[i], x2[i] = row[2], row[3], row[4] end
  return t, x1, x2
end

-- The state over time, and its path over the streamlines.
local function trajectory(plot)
  local t, x1, x2 = states()
  local format = #t <= 50 and "-o" or "-"
  local fig = plot.figure { figsize = { 11, 4.6 } }
  fig:subplot(1, 2, 1):plot(t, x1, format, { label = "$x_1$", markersize = 2.5 })
    :plot(t, x2, format, { label = "$x_2$", markersize = 2.5 }):xlabel "$t$":legend()
  fig:subplot(1, 2, 2):streamplot({ -1.5, 1.5 }, { -1.5, 1.5 }, field, { color = "#B8C4CE" })
    :plot(x1, x2, "r" .. format, { label = opt.method .. (opt.method == "adaptive" and "" or " Euler"),
      markersize = 2.5 })
    :axis "equal":xlim(-1.5, 1.5):ylim(-1.5, 1.5):xlabel "$x_1$":ylabel "$x_2$":legend()
  return fig
end

local function portrait(plot)
  local ax = plane(plot, "$x' = A$ sign$(x)$", 2, 6)
  ax:streamplot({ -2, 2 }, { -2, 2 }, field, { color = "C0" }):axhline(0):axvline(0)
  return ax.figure
end

-- The nine regions, the steps of backward Euler over them, and the path of the adaptive method.
local function nine_regions(plot)
  local ax = plane(plot, ("Regions of backward Euler, $h = %g$"):format(h), 1.5, 8)
  local colors = { "C4", "C0", "C1", "C2", "C3" } -- the four strips stay white
  for i, u in ipairs { { "free", "free" }, { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } } do
    local p = region(u[1], u[2]):clip(-1.5, 1.5, -1.5, 1.5)
    local label = i == 1 and "centre: $x_{k+1} = 0$" or ("$u = (%d, %d)$"):format(u[1], u[2])
    if #p.vertices >= 3 then ax:fill(p.vertices, { color = colors[i], alpha = 0.4, label = label:gsub("%-",
      "−") }) end
  end
  local step, x1, x2 = direct_step(), { x0[1] }, { x0[2] }
  for k = 1, N do
    local x = step()
    x1[k + 1], x2[k + 1] = x[1], x[2]
  end
  local way = adaptive_way()
  ax:plot(way.y[1], way.y[2], { label = "RK45", color = "#606060", linestyle = "--", linewidth = 1.2 })
  ax:plot(x1, x2, "k-o", { label = "time stepping", markersize = 2.5 }):legend { loc = "outside" }
  return ax.figure
end

local draw = ({ portrait = portrait, regions = nine_regions })[opt.method] or trajectory
pictures.draw(opt.plot, { [opt.method] = draw })
