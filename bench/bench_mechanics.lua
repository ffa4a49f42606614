--
-- bench_mechanics.lua
-- Mechanics: nslua, Siconos from Python and from C++; how the cost of a column of beads grows.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

local function simulation(ds, inter, h, steps, osi)
  local nsds = ns.NonSmoothDynamicalSystem(0, (steps + 0.5) * h)
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi or ns.MoreauJeanOSI(0.5)), ds
end

local function ball()
  local ds = ns.LagrangianLinearTIDS({ 1, 0, 0 }, { 0, 0, 0 }, ns.diag { 1, 1, 0.004 })
  ds:setFExtPtr { -9.81, 0, 0 }
  return simulation(ds, ns.Interaction(ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 1, 0, 0 } }), 5e-3, 2000)
end

-- A column of beads at rest: one system, a sparse relation. They overlap by 1e-6, so that no contact is a tie.
local function beads(n)
  local q0, i, j, v = {}, {}, {}, {}
  local function put(r, c, x) i[#i + 1], j[#j + 1], v[#v + 1] = r, c, x end
  for k = 1, n do
    q0[k] = k * (1 - 1e-6)
    put(k, k, 1)
    if k > 1 then put(k, k - 1, -1) end
  end
  local ds = ns.LagrangianLinearTIDS(q0, ns.zeros(n), ns.speye(n))
  ds:setFExtPtr(-9.81 * ns.ones(n))
  local C = ns.sparse { rows = n, cols = n, i = i, j = j, v = v }
  local contacts = ns.Interaction(ns.NewtonImpactNSL(n, 0.5), ns.LagrangianLinearTIR(C, -1 * ns.ones(n)))
  return simulation(ds, contacts, 5e-3, n <= 100 and 100 or 20)
end

-- An elastic bar of n finite elements that hits a wall.
local function bar(n)
  local size = 1 / n
  local mass, main, side = size * ns.ones(n + 1), 2 / size * ns.ones(n + 1), -1 / size * ns.ones(n)
  mass[1], mass[n + 1], main[1], main[n + 1] = size / 2, size / 2, 1 / size, 1 / size
  local K = ns.spdiags({ side, main, side }, { -1, 0, 1 }, n + 1)
  local q0, v0 = 0.01 * ns.ones(n + 1), -1 * ns.ones(n + 1)
  local ds = ns.LagrangianLinearTIDS(q0, v0, ns.spdiags({ mass }, { 0 }, n + 1), K)
  local row = ns.sparse { rows = 1, cols = n + 1, i = { 1 }, j = { 1 }, v = { 1 } }
  local wall = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR(row))
  return simulation(ds, wall, 1e-3, n <= 200 and 200 or 20)
end

-- Two point masses on rods, a wall; every matrix and force a Lua callback, Jacobians given or by dual numbers.
local function double_pendulum(given)
  local g, sin, cos = 9.81, math.sin, math.cos
  local o = {
    q0 = { 1.5, 1.2 }, v0 = { 0, 0 },
    mass = function(q, _, M)
      local c = cos(q[1] - q[2])
      M[1][1], M[1][2], M[2][1], M[2][2] = 2, c, c, 1
    end,
    fGyr = function(q, v, _, f)
      local s = sin(q[1] - q[2])
      f[1], f[2] = v[2] ^ 2 * s, -v[1] ^ 2 * s
    end,
    fInt = function(_, q, _, _, f) f[1], f[2] = 2 * g * sin(q[1]), g * sin(q[2]) end,
  }
  if given then
    o.jacobianFIntq = function(_, q, _, _, J) J[1][1], J[2][2] = 2 * g * cos(q[1]), g * cos(q[2]) end
    o.jacobianFIntqDot = ns.zeros(2, 2)
    o.jacobianFGyrq = function(q, v, _, J)
      local c = cos(q[1] - q[2])
      J[1][1], J[1][2], J[2][1], J[2][2] = v[2] ^ 2 * c, -v[2] ^ 2 * c, -v[1] ^ 2 * c, v[1] ^ 2 * c
    end
    o.jacobianFGyrqDot = function(q, v, _, J)
      local s = sin(q[1] - q[2])
      J[1][2], J[2][1] = 2 * v[2] * s, -2 * v[1] * s
    end
  end
  local wall = ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = sin(q[1]) + sin(q[2]) + 0.3 end,
    Jachq = given and function(q, _, C) C[1][1], C[1][2] = cos(q[1]), cos(q[2]) end or nil,
  }
  return simulation(ns.LagrangianDS(o), ns.Interaction(ns.NewtonImpactNSL(0.8), wall), 1e-3, 2000)
end

local function measure(simu)
  return common.per_step(simu, simu:numberOfSteps(), function()
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
    end
  end, 5)
end

local flags = {}
for _, prefix in ipairs { "/usr/include", "/usr/local/include" } do
  for _, room in ipairs { "", "/kernel", "/numerics", "/externals" } do
    flags[#flags + 1] = "-I" .. prefix .. "/siconos" .. room
  end
end
local python, no_python = common.siconos "mechanics.py"
local cxx, no_cxx = common.compile("mechanics.cpp", "c++", "-O2 -std=c++17 -w " .. table.concat(flags, " "),
  "-lsiconos_kernel -lsiconos_numerics")

local rows = {}
local function line(title, name, size, simu, ds, compiled)
  local mine = measure(simu)
  local py = common.peer(python, name, size)
  local cc = compiled and common.peer(cxx, name, size) or {}
  mine = math.min(mine, (function() simu:reset() return measure(simu) end)())
  local apart = py.q and ("%.1e"):format(math.abs(py.q - ds:q()[1])) or "-"
  rows[#rows + 1] = { title, common.us(mine), common.us(py.step), common.us(cc.step), common.ratio(py.step, mine),
                      common.ratio(cc.step, mine), apart }
end

do
  local simu, ds = ball()
  line("bouncing ball", "ball", "", simu, ds, true)
  for _, n in ipairs { 10, 100, 1000 } do
    simu, ds = bar(n)
    line("impacting bar, " .. n, "bar", n, simu, ds, true)
  end
  for _, n in ipairs { 10, 100, 1000 } do
    simu, ds = beads(n)
    line("column of beads, " .. n, "beads", n, simu, ds, n <= 100)
  end
end
common.table("Microseconds a step", {
  "", "nslua", "Python", "C++", "Python / nslua", "C++ / nslua", "q apart",
}, rows)

local callbacks = {}
for _, given in ipairs { true, false } do
  local simu, ds = double_pendulum(given)
  local us = common.us(measure(simu))
  callbacks[#callbacks + 1] = { given and "given Jacobians" or "dual numbers", us,
                                ("%.2f"):format(simu:stats().newton_iterations / simu:numberOfSteps()),
                                ("%.8f"):format(ds:q()[1]) }
end
local peers = {
  { "Siconos, methods in Python", common.peer(python, "pendulum") },
  { "Siconos, functions in C++", common.peer(cxx, "pendulum") },
}
for _, peer in ipairs(peers) do
  local q = peer[2].q
  callbacks[#callbacks + 1] = { peer[1], common.us(peer[2].step), "-", q and ("%.8f"):format(q) or "-" }
end
common.table("Double pendulum with a wall, its functions as callbacks",
  { "", "us a step", "Newton iterations", "q1 at the end" }, callbacks)

local growth, before = {}, nil
for _, n in ipairs { 1000, 10000, 100000 } do
  local seconds = measure(beads(n))
  local exponent = before and ("%.2f"):format(math.log(seconds / before) / math.log(10)) or "-"
  growth[#growth + 1] = { n, ("%.2f"):format(seconds * 1e3), exponent }
  before = seconds
end
common.table("Milliseconds a step of a column of beads (goal: exponent at most 1.1)",
  { "beads", "ms", "exponent" }, growth)
common.skipped(no_python, no_cxx)
