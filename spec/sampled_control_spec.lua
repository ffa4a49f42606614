-- Sampled controllers and observers on linear plants, against the reference files of Siconos' control toolbox. The plant goes
-- on by EventDriven, whose rtol is the only error beside rounding. An instant: sensor, observer, controller; a row has the
-- state at t_k and the control that is computed there.
local ns = require "nslua"

-- x' = A x + b, whose b a clock sets. The simulation and the system.
local function plant(A, x0, T, h)
  local ds = ns.FirstOrderLinearTIDS(x0, A, ns.zeros(#x0))
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-13)), ds
end

-- The columns agree with those of the reference within `tolerance` of their largest value.
local function compare(name, sol, columns, tolerance)
  local most, size, count = {}, {}, 0
  for line in io.lines("spec/reference/control_" .. name .. ".csv") do
    local row = {}
    for number in line:gmatch "[^,]+" do row[#row + 1] = tonumber(number) end
    count = count + (#row > 0 and 1 or 0)
    for i, column in ipairs(#row > 0 and columns or {}) do
      size[i] = math.max(size[i] or 0, math.abs(row[2 + i]))
      most[i] = math.max(most[i] or 0, math.abs(column[row[1] + 1] - row[2 + i]))
    end
  end
  assert.is_true(count >= 50)
  for i = 1, #columns do
    assert.is_true(most[i] <= tolerance * size[i], ("%s: column %d is off by %.3g"):format(name, i, most[i] / size[i]))
  end
end

-- exp(A h), and the integral of exp(A s) from 0 to h.
local function hold(A, h)
  local n = A:rows()
  local big = ns.zeros(2 * n, 2 * n)
  for i = 1, n do
    for j = 1, n do big[i][j] = h * A[i][j] end
    big[i][n + i] = h
  end
  local E = ns.expm(big)
  return E:slice(1, n, 1, n), E:slice(1, n, n + 1, 2 * n)
end

local function sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end

-- A PID controller in velocity form on the first state, with the time d of its differences.
local function add_pid(simu, ds, d)
  simu:every { name = "pid", period = d, state = { u = 0, e1 = 0, e2 = 0 }, act = function(_, s)
    local e = -ds:x()[1]
    s.u = s.u + (0.25 + 2 / d + 0.125 * d) * e + (-0.25 - 4 / d) * s.e1 + 2 / d * s.e2
    s.e1, s.e2 = e, s.e1
    ds:setbPtr { 0, s.u }
  end }
end

describe("a sampled controller", function()
  it("is a PID of a double integrator", function()
    local simu, ds = plant({ { 0, 1 }, { 0, 0 } }, { 10, 0 }, 100, 0.05)
    add_pid(simu, ds, 0.05)
    local sol = simu:run { rows = "grid" }
    compare("pid_double_integrator", sol, { sol.x1, sol.x2, sol["pid.u"] }, 1e-10)
  end)

  it("has a Luenberger observer beside it", function()
    local A, h = ns.matrix { { 0, 1 }, { -1, 0 } }, 0.05
    local Ad, Ai = hold(A, h)
    local L = Ai * ns.vector { -7.5125146, -50.04168751 }
    local simu, ds = plant(A, { 10, 0 }, 100, h)
    simu:every { name = "observer", period = h, state = { x = { 10, -5 }, e = 0, y = 10, begun = 0 }, act = function(_, s)
      if s.begun > 0 then
        s.e = s.x[1] - s.y
        s.x = Ad * s.x + Ai * ns.vector { 0, simu:discrete "pid".u } + L * s.e
      end
      s.y, s.begun = ds:x()[1], 1
    end }
    add_pid(simu, ds, h)
    local sol = simu:run { rows = "grid" }
    compare("observer_luenberger", sol, { sol.x1, sol.x2, sol["pid.u"], sol["observer.x[1]"], sol["observer.x[2]"],
      sol["observer.e"] }, 1e-10)
  end)

  -- x1' = sin 50 t, x2' = -sin 50 t + B u: the disturbance is held over a step of the grid, with its value at the end of that.
  local function disturbed(B, clock)
    local simu, ds = plant({ { 0, 0 }, { 0, 0 } }, { 1, -1 }, 1, 1e-4)
    clock.name, clock.period = "smc", 1e-2
    local act = clock.act
    clock.act = function(t, s) act(t, s, ds:x()) end
    local s = simu:every(clock)
    simu:every { name = "disturbance", period = 1e-4, act = function(t)
      local b = math.sin(50 * (t + 1e-4))
      ds:setbPtr { b, B * s.u - b }
    end }
    return simu:run { rows = "grid" }
  end

  it("is an explicit sliding mode, ten times slower than the rows #once", function()
    local sol = disturbed(2, { state = { u = 0 }, act = function(_, s, x) s.u = -sign(x[2]) end })
    compare("smc_explicit_sampled", sol, { sol.x1, sol.x2, sol["smc.u"] }, 1e-9)
  end)

  it("corrects a sliding mode by the error of its last prediction #once", function()
    local sol = disturbed(1, { state = { u = 0, xp = -1 }, act = function(_, s, x)
      s.u = math.max(-2, math.min(2, -(2 * x[2] - s.xp) / 1e-2))
      s.xp = x[2] + 1e-2 * s.u
    end })
    compare("smc_ot2_b1", sol, { sol.x1, sol.x2, sol["smc.u"] }, 1e-9)
  end)

  it("has an equivalent control", function()
    local A, h = ns.matrix { { 0, 1 }, { 19, -2 } }, 0.05
    local Ad, Ai = hold(A, h)
    local B, S = ns.vector { 0, 1 }, ns.vector { 1, 1 }
    local P = A:transpose() * S
    local N = (Ai * B):outer(P)
    local M = (ns.eye(2) + 0.5 * N):inv()
    local simu, ds = plant(A, { -15, 20 }, 100, h)
    simu:every { name = "smc", period = h, state = { u = 0 }, act = function(_, s)
      local y = ds:x()
      s.u = -0.5 * P:dot(y) - 0.5 * P:dot(M * (Ad * y - 0.5 * (N * y))) - sign(S:dot(y))
      ds:setbPtr { 0, s.u }
    end }
    local sol = simu:run { rows = "grid" }
    compare("smc_explicit_ueq", sol, { sol.x1, sol.x2, sol["smc.u"] }, 1e-9)
  end)

  it("is an explicit twisting algorithm", function()
    local simu, ds = plant({ { 0, 1 }, { 19, -2 } }, { -15, 20 }, 2.5, 0.05)
    simu:every { name = "twisting", period = 0.05, state = { u = { 0, 0 } }, act = function(_, s)
      for i = 1, 2 do s.u[i] = ds:x()[i] > 0 and -1 or 1 end
      ds:setbPtr { 0, 300 * s.u[1] + 60 * s.u[2] }
    end }
    local sol = simu:run { rows = "grid" }
    compare("twisting_explicit_zoh", sol, { sol.x1, sol.x2, sol["twisting.u[1]"], sol["twisting.u[2]"] }, 1e-6)
  end)
end)
