--
-- bench_linear.lua
-- Linear models without callbacks: nslua, Siconos from Python and from C++.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local models = dofile(directory .. "models.lua")
local stepping = models.stepping

-- Siconos' own C++ programs of the same models: documented times, microseconds a step.
local documented = { filippov = 5.15, relay_oscillator = 4.69, circuit_rlcd = 4.47, diode_bridge = 5.40 }

-- The loop by hand; stores every number of the step.
local function by_hand(simu, dyn, inter)
  local x, y, lambda = dyn:x(), inter:y(0), inter:lambda_(0)
  local n, m = #x, #y
  local data = ns.zeros(simu:numberOfSteps() + 1, 1 + n + 2 * m)
  return function()
    local k = 2
    while simu:hasNextEvent() do
      simu:computeOneStep()
      local row = data[k]
      row[1] = simu:nextTime()
      for i = 1, n do row[1 + i] = x[i] end
      for i = 1, m do
        row[1 + n + i] = y[i]
        row[1 + n + m + i] = lambda[i]
      end
      k = k + 1
      simu:nextStep()
    end
  end
end

-- The least time of two rounds, one before the peers and one after them.
local function ours(model, result)
  local simu, dyn, inter = models.linear_simulation(model)
  local steps = simu:numberOfSteps()
  assert(steps == model.steps)
  local count = math.max(10, 50000 // steps)
  local function measure(name, loop)
    result[name] = math.min(result[name] or math.huge, common.per_step(simu, steps, loop, count))
  end
  measure("run", function() simu:run { progress = false } end)
  measure("loop", by_hand(simu, dyn, inter))
  measure("bare", stepping(simu))
  result.x1 = dyn:x()[1]
end

-- Where the packages of Siconos put its headers.
local function siconos_flags()
  local flags = {}
  for _, prefix in ipairs { "/usr/include", "/usr/local/include" } do
    for _, room in ipairs { "", "/kernel", "/numerics", "/externals" } do
      flags[#flags + 1] = "-I" .. prefix .. "/siconos" .. room
    end
  end
  return "-O2 -std=c++17 -w " .. table.concat(flags, " ")
end

local python, no_python = common.siconos "linear.py"
local cxx, no_cxx = common.compile("linear.cpp", "c++", siconos_flags(), "-lsiconos_kernel -lsiconos_numerics")

local function apart(a, b)
  return b and ("%.1e"):format(math.abs(a - b)) or "-"
end

local times, against, last = {}, {}, {}
for _, model in ipairs(models.linear) do
  local us = {}
  ours(model, us)
  local py, cc = common.peer(python, model.name), common.peer(cxx, model.name)
  ours(model, us)
  local text = documented[model.name]
  times[#times + 1] = {
    model.name, common.us(us.run), common.us(us.loop), common.us(us.bare),
    common.us(py.loop), common.us(py.bare), common.us(cc.loop), common.us(cc.bare), ("%.2f"):format(text),
  }
  against[#against + 1] = {
    model.name, common.ratio(1e-6, us.run),
    common.ratio(py.loop, us.run), common.ratio(py.loop, us.loop), common.ratio(py.bare, us.bare),
    common.ratio(cc.loop, us.run), common.ratio(cc.loop, us.loop), common.ratio(cc.bare, us.bare),
    common.ratio(text * 1e-6, us.run),
  }
  last[#last + 1] = { model.name, ("%.10g"):format(us.x1), apart(us.x1, py.x1), apart(us.x1, cc.x1) }
end

common.table("Microseconds a step (goal: run() at most 1)", {
  "", "run()", "loop, stored", "loop, bare",
  "Python, stored", "Python, bare", "C++, stored", "C++, bare", "C++, documented",
}, times)
common.table("Times faster (1 us/run(): at least 1 is the goal)", {
  "", "1 us/run()", "Py/run()", "Py/loop", "Py/loop bare",
  "C++/run()", "C++/loop", "C++/loop bare", "documented/run()",
}, against)
common.table("The same problem: x1 after the last step", { "", "nslua", "Python differs by", "C++ differs by" }, last)
common.skipped(no_python, no_cxx)
