--
-- bench_clutch.lua
-- The switching clutch, engaging and disengaging: nslua, Siconos from Python, a loop written in C.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local models = dofile(directory .. "models.lua")
local clutch, stepping = models.clutch, models.stepping
local given, duals, compiled = models.relation.given, models.relation.duals, models.relation.compiled

local STEPS = 400

-- Callbacks with given Jacobians; counts each call.
local function counted(s, counts)
  local function count(name, f)
    return function(...)
      counts[name] = (counts[name] or 0) + 1
      return f(...)
    end
  end
  return ns.FirstOrderNonLinearR {
    h = count("h", function(_, x, _, _, y) y[1] = s * x[1] end),
    g = count("g", function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end),
    Jachx = count("Jachx", function(_, _, _, _, C) C[1][1] = s end),
    Jachlambda = count("Jachlambda", function() end),
    Jacgx = count("Jacgx", function(_, _, lambda, _, K)
      K[4][2], K[4][3], K[4][4] = -lambda[1], lambda[1], lambda[1]
    end),
    Jacglambda = count("Jacglambda", function(_, x, _, _, B) B[4][1] = x[4] - x[2] + x[3] end),
  }
end

-- The loop of the notebook: t, the four states and lambda into a row, step by step.
local function by_hand(simu, dyn, inter)
  local x, lambda = dyn:x(), inter:lambda_(0)
  local data = ns.zeros(STEPS + 1, 6)
  return function()
    local k = 2
    while simu:hasNextEvent() do
      simu:computeOneStep()
      data[k][1] = simu:nextTime()
      data[k][2] = x[1]
      data[k][3] = x[2]
      data[k][4] = x[3]
      data[k][5] = x[4]
      data[k][6] = lambda[1]
      k = k + 1
      simu:nextStep()
    end
  end
end

-- ---- measuring ----

local python, no_python = common.siconos "clutch.py"
local program, no_program = common.compile("clutch.c", "cc", "-O2 -std=c11 -D_XOPEN_SOURCE=700", "-lm")

-- The least time of two rounds, one before the peers and one after them.
local function ours(relation, result)
  local simu, dyn, inter = clutch(relation)
  local loop = by_hand(simu, dyn, inter)
  local run, steps = function() simu:run { progress = false } end, stepping(simu)
  result.loop = math.min(result.loop or math.huge, common.per_step(simu, STEPS, loop, 60))
  result.bare = math.min(result.bare or math.huge, common.per_step(simu, STEPS, steps, 60))
  result.run = math.min(result.run or math.huge, common.per_step(simu, STEPS, run, 60))
  simu:reset()
  result.garbage = common.garbage(loop) / STEPS
  simu:reset()
  result.allocations = common.allocations(loop)
  return result
end

local function measure(mode, s, goal)
  local with, without, native = ours(given(s), {}), ours(duals(s), {}), ours(compiled(s), {})
  local siconos = common.peer(python, mode)
  local peer = siconos.loop
  local floor = common.peer(program, mode).loop
  ours(given(s), with)
  ours(duals(s), without)
  ours(compiled(s), native)
  local function row(name, seconds)
    return { name, common.us(seconds), common.ratio(peer, seconds), common.ratio(seconds, floor) }
  end
  local head = { mode, "us a step", "times faster than Siconos", "times the C loop" }
  local rows = {
    row("nslua, four Jacobians, loop by hand", with.loop),
    row("nslua, four Jacobians, run()", with.run),
    row("nslua, h and g alone, loop by hand", without.loop),
    row("nslua, h and g alone, run()", without.run),
    row("nslua, h and g compiled, loop by hand, stored", native.loop),
    row("nslua, h and g compiled, loop by hand, bare", native.bare),
    row("nslua, h and g compiled, run()", native.run),
  }
  if peer then rows[#rows + 1] = row("Siconos from Python, loop by hand", peer) end
  if floor then rows[#rows + 1] = row("C by hand, Newton and a 4 x 4 LU", floor) end
  local title = "Clutch %s, %d steps (goal: the first line at least %d times faster than Siconos, "
    .. "the compiled ones within 5 C loops)"
  common.table(title:format(mode, STEPS, goal), head, rows)
  return with, without, siconos.newton
end

local function memory(name, result)
  local allocations = result.allocations and ("%.3f"):format(result.allocations / STEPS) or "-"
  return { name, allocations, ("%.1f"):format(result.garbage) }
end

local function callbacks(mode, s, siconos)
  local counts, total = {}, 0
  local simu = clutch(counted(s, counts))
  simu:run { progress = false }
  local cells = { mode }
  for _, name in ipairs { "h", "g", "Jachx", "Jachlambda", "Jacgx", "Jacglambda" } do
    cells[#cells + 1] = ("%.2f"):format((counts[name] or 0) / STEPS)
    total = total + (counts[name] or 0)
  end
  cells[#cells + 1] = ("%.2f"):format(total / STEPS)
  cells[#cells + 1] = ("%.3f"):format(simu:stats().newton_iterations / STEPS)
  cells[#cells + 1] = siconos and ("%.2f"):format(siconos) or "-"
  return cells
end

local engage, engage_duals, engage_newton = measure("engaging", -1, 60)
local disengage, disengage_duals, disengage_newton = measure("disengaging", 1, 150)
local titles = { "", "C allocations", "bytes of Lua garbage" }
common.table("Memory of a step, loop by hand (goal with Jacobians given: 0 and 0)", titles, {
  memory("engaging, four Jacobians", engage),
  memory("engaging, h and g alone", engage_duals),
  memory("disengaging, four Jacobians", disengage),
  memory("disengaging, h and g alone", disengage_duals),
})
common.table("Callbacks of a step, four Jacobians",
  { "", "h", "g", "Jachx", "Jachlambda", "Jacgx", "Jacglambda", "all", "Newton iterations", "of Siconos" },
  { callbacks("engaging", -1, engage_newton), callbacks("disengaging", 1, disengage_newton) })
common.skipped(no_python, no_program)
