--
-- bench_linear.lua
-- Linear models without callbacks: nslua, Siconos from Python and from C++.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

-- Siconos' own C++ programs of the same models, microseconds a step as documented.
local documented = { filippov = 5.15, relay_oscillator = 4.69, circuit_rlcd = 4.47, diode_bridge = 5.40 }

local root2 = math.sqrt(2)
local models = {
  {
    name = "filippov", h = 1e-3, steps = 1999, theta = 0.5, x0 = { 3, 3 },
    A = { { 0, 0 }, { 0, 0 } }, B = { { 2, -52 }, { 52, 2 } }, C = { { 1, 0 }, { 0, 1 } }, D = { { 0, 0 }, { 0, 0 } },
    relays = 2,
  },
  {
    name = "relay_oscillator", h = 1e-2, steps = 9999, theta = 0.5, x0 = { 0, 3 * root2 / (2 * math.pi), 0 },
    A = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, -3, -2 } }, B = { { 0 }, { 0 }, { 1 } }, C = { { 1, 0, 0 } }, D = { { 0 } },
    relays = 1,
  },
  {
    name = "circuit_rlcd", h = 1e-5, steps = 499, theta = 0.5000000000001, x0 = { 10, 0 },
    A = { { 0, -1e6 }, { 100, 0 } }, B = { { -1e6 }, { 0 } }, C = { { -1, 0 } }, D = { { 1000 } },
    pairs = 1,
  },
  {
    name = "diode_bridge", h = 1e-6, steps = 4999, theta = 0.5, x0 = { 10, 0 },
    A = { { 0, -1e6 }, { 100, 0 } },
    B = { { 0, 0, -1e6, 1e6 }, { 0, 0, 0, 0 } },
    C = { { 0, 0 }, { 0, 0 }, { -1, 0 }, { 1, 0 } },
    D = { { 1e-3, 1e-3, -1, 0 }, { 1e-3, 1e-3, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    pairs = 4,
  },
}

local function build(model)
  local T = (model.steps + 0.5) * model.h
  local dyn = ns.FirstOrderLinearTIDS(model.x0, model.A)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(dyn)
  local relation = ns.FirstOrderLinearTIR { C = model.C, D = model.D, B = model.B }
  local law = model.relays and ns.RelayNSL(model.relays, -1, 1) or ns.ComplementarityConditionNSL(model.pairs)
  local inter = ns.Interaction(law, relation)
  nsds:link(inter, dyn)
  local problem = model.relays and ns.Relay() or ns.LCP()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, model.h), ns.EulerMoreauOSI(model.theta), problem)
  return simu, dyn, inter
end

-- The loop by hand, every number of the step stored.
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

local function stepping(simu)
  return function()
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
    end
  end
end

-- The least of two rounds, one before the peers and one after.
local function ours(model, result)
  local simu, dyn, inter = build(model)
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

-- The headers of Siconos, where its packages put them.
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
for _, model in ipairs(models) do
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
