--
-- bench_mechanics.lua
-- Mechanics: nslua, Siconos from Python and from C++; how the cost of a column of beads grows.
--
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local models = dofile(directory .. "models.lua")
local ball, beads, bar, double_pendulum = models.ball, models.beads, models.bar, models.double_pendulum

local function measure(simu)
  return common.per_step(simu, simu:numberOfSteps(), models.stepping(simu), 5)
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
