-- A clutch with a switched constraint, solved as a nonsmooth differential-algebraic system.
--
-- Two disks turn at the speeds w1 (motor) and w2. The clutch between them is engaged when lambda = 0, and free when
-- lambda = 1; tau is the torque that it passes on, c a clock:
--
--   c'  = -1                                  c(0)   = 5
--   w1' = (T1 + tau) / J1                     w1(0)  = 10      J1 = 1     T1 = 10
--   w2' = (T2 - tau) / J2                     w2(0)  = 5       J2 = 1/4   T2 = -10
--   0   = lambda tau + (1 - lambda) (w1 - w2)     tau(0) = 0.5
--
-- The clock moves the pedal: y = -c (the clutch engages at t = 5) or y = c (it disengages there), and
-- -y in N_[0,1](lambda): lambda = 0 where y > 0, lambda = 1 where y < 0, anything in [0, 1] where y = 0.
--
-- With x = (c, w1, w2, tau) this is  E x' = A x + b + r,  r = g(x, lambda) = (0, 0, 0, lambda (tau - w1 + w2)),
-- E = diag(1, 1, 1, 0). A step of length h of the (theta, gamma) method, r_0 = 0:
--
--   E (x - x_k) = h theta (A x + b) + h (1 - theta) (A x_k + b) + h gamma r + h (1 - gamma) r_k
--
-- is solved by Newton's method on x together with the law. The law in terms of lambda alone is  y = W lambda + q  at
-- each iterate. This clutch has W = 0, because its switching does not depend on the states that lambda acts on. After
-- the run the script computes W(k) and q(k) at each step from their formulas.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A clutch with a switched constraint. Without --csv, --animate and --plot nothing is written.",
  { "mode", default = "engage", choices = { "engage", "disengage" }, help = "what the clutch does at t = 5" },
  { "theta", default = 1, above = 0, max = 1, help = "weight of the new right-hand side" },
  { "gamma", default = 1, above = 0, max = 1, help = "weight of the new input r" },
  { "restart", default = "none", choices = { "none", "implicit" },
    help = "implicit: the first steps and those at a switch with theta = gamma = 1" },
  { "h", default = 0.05, min = 1e-5, max = 5, help = "length of a step" },
  { "csv", value = "FILE", help = "write every step there" },
  { "animate", value = "FILE", help = "write the graph of y(lambda) over the law there (.html, .gif, .mp4)",
    endings = { "html", "gif", "mp4" } },
  pictures.option,
})
local sign = opt.mode == "engage" and -1 or 1 -- of y = +-c

-- Initial conditions and parameters
local t0, t1, T = 0, 5, 20
local w10, w20, tau0 = 10, 5, 0.5
local J1, J2 = 1, 1 / 4
local T1, T2 = 10, -10

local C = { 1, -1 }           -- the constraint w1 - w2
local B = { 1 / J1, -1 / J2 } -- where the torque acts
local D = 1                   -- the constraint tau

local A = ns.zeros(4, 4)
A[2][4], A[3][4] = B[1], B[2]
A[4][2], A[4][3] = C[1], C[2]
local b = { -1, T1 / J1, T2 / J2, 0 }
local E = ns.eye(4)
E[4][4] = 0

-- The differential-algebraic system
local dyn = ns.FirstOrderLinearTIDS({ t1, w10, w20, tau0 }, A)
dyn:setbPtr(b)
dyn:setMPtr(E)

local clutch_DAE = ns.NonSmoothDynamicalSystem(t0, T)
clutch_DAE:insertDynamicalSystem(dyn)

-- The relation y = h(x), r = g(x, lambda) and its four Jacobians. Outputs arrive as zeros.
-- luacheck: no unused args
local SwitchingClutch = ns.class(ns.FirstOrderNonLinearR, "clutch")

function SwitchingClutch:computeh(time, x, lambda, z, y)
  y[1] = sign * x[1]
end

function SwitchingClutch:computeJachx(time, x, lambda, z, jacobian)
  jacobian[1][1] = sign
end

function SwitchingClutch:computeJachlambda(time, x, lambda, z, jacobian)
end

function SwitchingClutch:computeg(time, x, lambda, z, r)
  r[4] = lambda[1] * (D * x[4] - C[1] * x[2] - C[2] * x[3])
end

function SwitchingClutch:computeJacgx(time, x, lambda, z, jacobian)
  jacobian[4][2] = -lambda[1] * C[1]
  jacobian[4][3] = -lambda[1] * C[2]
  jacobian[4][4] = lambda[1] * D
end

function SwitchingClutch:computeJacglambda(time, x, lambda, z, jacobian)
  jacobian[4][1] = D * x[4] - C[1] * x[2] - C[2] * x[3]
end

local interaction = ns.Interaction(ns.RelayNSL(1, 0, 1), SwitchingClutch())
clutch_DAE:link(interaction, dyn)

-- Discretisation
local theta, gamma, time_step = opt.theta, opt.gamma, opt.h
local osi = ns.EulerMoreauOSI(theta, gamma)
osi:setRestart(opt.restart)
local osnspb = ns.Relay()
local td = ns.TimeDiscretisation(t0, time_step)
local simu = ns.TimeStepping(clutch_DAE, td, osi, osnspb)
simu:setNewtonMaxIteration(100)
simu:setNewtonTolerance(1e-10)

-- The run, step by step
local x, lambda = dyn:x(), interaction:lambda_(0) -- live: they follow the simulation
local N = simu:numberOfSteps() + 1
local data_plot = ns.zeros(N, 7) -- t, c, w1, w2, tau, lambda, Newton iterations

local function record(k, t, iterations)
  data_plot[k + 1] = { t, x[1], x[2], x[3], x[4], lambda[1], iterations }
end

record(0, t0, 0)
local k = 1
while simu:hasNextEvent() do
  simu:computeOneStep()
  record(k, simu:nextTime(), simu:newtonIterations())
  simu:nextStep()
  k = k + 1
end

-- The graph  y = W lambda + q  at step k: M = E - h theta A - h gamma dg/dx, whose row 4 is
-- h [0, gamma lambda - theta, theta - gamma lambda, -gamma lambda], and W = h gamma C M^-1 dg/dlambda.
local h, Cy = time_step, ns.matrix { { sign, 0, 0, 0 } }

local function graph(row)
  local l, y = row[6], sign * row[2]
  local K = ns.zeros(4, 4)
  K[4][2], K[4][3], K[4][4] = -l * C[1], -l * C[2], l * D
  local M = E - h * theta * A - h * gamma * K
  local g_lambda = ns.matrix { { 0 }, { 0 }, { 0 }, { D * row[5] - C[1] * row[3] - C[2] * row[4] } }
  local W = (Cy * (ns.pinv(M) * (h * gamma * g_lambda)))[1][1]
  return W, y - W * l
end

-- What happened
local function momentum(row) return J1 * row[3] + J2 * row[4] end

local switch, most, total, drift = nil, 0, 0, 0
local first = momentum(data_plot[1])
for i = 1, N do
  local row = data_plot[i]
  if i > 2 and not switch and row[6] ~= data_plot[i - 1][6] then switch = i - 1 end
  most, total = math.max(most, row[7]), total + row[7]
  drift = math.max(drift, math.abs(momentum(row) - first))
end

print(("%s: theta = %g, gamma = %g, h = %g, %d steps\n"):format(opt.mode, theta, gamma, h, N - 1))
print("     k          t            w1            w2              tau   lambda  J1 w1 + J2 w2")
local shown = switch and { 0, 1, switch - 1, switch, switch + 1, N - 1 } or { 0, 1, N - 1 }
for i, step in ipairs(shown) do
  if step < N and step > (shown[i - 1] or -1) then
    local row = data_plot[step + 1]
    local line = "%6d %10.5g %13.8g %13.8g %16.9g %8g %14.10g"
    print(line:format(step, row[1], row[3], row[4], row[5], row[6], momentum(row)))
  end
end
print()
if switch then print(("lambda switches at step %d, t = %.10g"):format(switch, data_plot[switch + 1][1])) end
print(("Newton iterations: %d in all, at most %d a step"):format(total, most))
print(("J1 w1 + J2 w2 = %.10g throughout (T1 + T2 = 0): largest deviation %.1e"):format(first, drift))

-- When is the solution unique? For every q if W is a P-matrix, but W = 0 is not; for a given q if the graph y = q
-- meets the law in one point. At q = 0 every lambda in [0, 1] is a solution.
local always, here = osnspb:uniqueness().unique, osnspb:solutions()
print(("unique for every q: %s; the last step has %d solution%s%s"):format(always, #here.isolated,
  #here.isolated == 1 and "" or "s", #here.segments > 0 and " and a segment of them" or ""))

if opt.csv then
  local rows = {}
  for i = 1, N do
    rows[i] = data_plot[i]:totable()
    rows[i][8], rows[i][9] = graph(data_plot[i])
  end
  options.write_csv(opt.csv, { "t", "c", "w1", "w2", "tau", "lambda", "newton_iterations", "W", "q" }, rows)
  print(("written: %d rows to %s"):format(N, opt.csv))
end

-- The graph y = W lambda + q of each step over the law, -y in N_[0,1](lambda): they intersect at lambda.
if opt.animate then
  local steps, most_y = {}, 0
  for i = 2, N do
    steps[i - 1] = i - 1
    most_y = math.max(most_y, math.abs(data_plot[i][2]))
  end
  local low, high = -0.35, 1.35
  ns.animation.interact {
    file = opt.animate, title = ("Clutch: the problem of a step, θ = %g, γ = %g"):format(theta, gamma),
    parameter = "step", values = steps, fps = 20, aspect = "free", xlabel = "λ", ylabel = "y",
    xlim = { low, high }, ylim = { -1.1 * most_y, 1.1 * most_y },
    background = function(canvas)
      canvas:polyline({ { 0, 3 * most_y }, { 0, 0 }, { 1, 0 }, { 1, -3 * most_y } },
        { color = "blue", linewidth = 4 })
      canvas:text(0, most_y, "-y ∈ N[0,1](λ)", { color = "blue", dx = 10 })
    end,
    draw = function(step, canvas)
      local row = data_plot[step + 1]
      local W, q = graph(row)
      canvas:line(low, W * low + q, high, W * high + q, { color = "vermillion", linewidth = 2.5 })
      canvas:point(row[6], sign * row[2], { fill = "orange", color = "ink", size = 13 })
      canvas:text(low, -most_y, ("t = %.3f,  W = %.4g,  q = %.4g"):format(row[1], W, q), { dx = 12 })
    end,
  }
  print(("written: an animation of %d frames to %s"):format(#steps, opt.animate))
end

-- The set lambda tau + (1 - lambda) (w1 - w2) = 0 with the two parts between which the clutch switches; the run; the
-- residual of the constraint.
local column = {}
for i, name in ipairs { "t", "c", "w1", "w2", "tau", "lambda" } do column[name] = data_plot:column(i) end

local function draw_sets(plot)
  local fig = plot.figure { figsize = { 11, 4.6 } }
  local function panel(i, title)
    local ax = fig:subplot(1, 2, i, { projection = "3d" })
    ax:title(title):xlabel "$\\tau$":ylabel "$\\Delta\\omega$":zlabel "$\\lambda$"
    return ax:xlim(-1, 1):ylim(-1, 1):zlim(0, 1):view(24, -60)
  end
  local function lines(ax)
    ax:plot3D({ -1, 1 }, { 0, 0 }, { 0, 0 }, "b", { linewidth = 3, label = "engaged: $\\Delta\\omega = 0$" })
    ax:plot3D({ 0, 0 }, { -1, 1 }, { 1, 1 }, "r", { linewidth = 3, label = "free: $\\tau = 0$" })
    ax:legend { loc = "upper left" }
  end
  lines(panel(1, "The two constraints"))
  local ax = panel(2, "The set between them, $\\lambda\\tau + (1 - \\lambda)\\Delta\\omega = 0$")
  ax:implicit(function(tau, omega, l) return l * tau + (1 - l) * omega end,
    { bounds = { -1, 1, -1, 1, 0, 1 }, n = 30, color = "C5", alpha = 0.75 })
  lines(ax)
  return fig
end

local function draw_run(plot)
  local fig = plot.figure { figsize = { 7, 8.5 }, title = ("The clutch: %s, $h = %g$"):format(opt.mode, h) }
  local top
  local function panel(i, title)
    local ax = fig:subplot(4, 1, i, { sharex = top })
    top = top or ax
    return ax:title(title)
  end
  panel(1, "clock $c$"):plot(column.t, column.c)
  panel(2, "speeds"):plot(column.t, column.w1, { label = "$\\omega_1$" }):plot(column.t, column.w2,
    { label = "$\\omega_2$" })
    :legend()
  local held = column.lambda:copy() -- each over the step up to its row; none ends at the first
  held[1] = held[2]
  panel(3, "switching variable $\\lambda$"):step(column.t, held):ylim(-0.1, 1.1)
  panel(4, "torque $\\tau$"):plot(column.t, column.tau):xlabel "$t$"
  return fig
end

-- From the first step on, since the initial state need not satisfy the constraint.
local function draw_constraint(plot)
  local times, values = {}, {}
  for i = 2, N do
    local row = data_plot[i]
    times[i - 1] = row[1]
    values[i - 1] = row[6] * row[5] + (1 - row[6]) * (C[1] * row[3] + C[2] * row[4])
  end
  local fig = plot.figure { figsize = { 7, 3.2 } }
  fig:subplot(1, 1, 1):plot(times, values):xlim(0, T)
    :title "Constraint $\\lambda\\tau + (1 - \\lambda)(\\omega_1 - \\omega_2)$":xlabel "$t$"
  return fig
end

pictures.draw(opt.plot, { sets = draw_sets, run = draw_run, constraint = draw_constraint })
