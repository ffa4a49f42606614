--
-- compare.lua OLD NEW [ROUNDS] [GROUP...]
-- The times of two builds of nslua, side by side: which is faster, and by how much.
--
-- OLD and NEW are directories of the source with a build/ in them, or interpreters. GROUP is one of clutch, linear,
-- mechanics, numerics, whole; without it all are measured. In each of ROUNDS (9) both builds run every group, one
-- after the other; OLD and NEW go first in turn. The time of a case is the least of many simulations in one process;
-- its ratio, NEW over OLD, is the median over the rounds. "spread" is half the interquartile range of these ratios:
-- a smaller difference from 1 means nothing. Both builds run the scripts and the problems of this source tree.
-- When NEW refuses a run of `whole` that OLD accepts, the script says so, and fails.
--
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

local groups, order = {}, { "clutch", "linear", "mechanics", "numerics", "whole" }

-- ---- one process: `compare.lua --measure GROUP` prints "case seconds", or "case refused" ----

local function told(case, seconds) print(("%s\t%.9g"):format(case, seconds)) end

-- The least time of a step in simulations that take half of `seconds` in all.
local function least(simu, loop, seconds)
  local steps = simu:numberOfSteps()
  local start = os.clock()
  loop()
  simu:reset()
  local once = math.max(os.clock() - start, 1e-6)
  return common.per_step(simu, steps, loop, math.min(200, math.max(3, (seconds or 0.08) // once)))
end

local function run(simu) return function() simu:run { progress = false } end end

function groups.clutch()
  local models = dofile(directory .. "models.lua")
  for _, mode in ipairs { { "engaging", -1 }, { "disengaging", 1 } } do
    for _, kind in ipairs { "given", "duals", "compiled" } do
      local simu = models.clutch(models.relation[kind](mode[2]))
      told(("%s, %s, run()"):format(mode[1], kind), least(simu, run(simu)))
      told(("%s, %s, loop"):format(mode[1], kind), least(simu, models.stepping(simu)))
    end
  end
end

function groups.linear()
  local models = dofile(directory .. "models.lua")
  for _, model in ipairs(models.linear) do
    local simu = models.linear_simulation(model)
    told(model.name .. ", run()", least(simu, run(simu)))
    told(model.name .. ", loop", least(simu, models.stepping(simu)))
  end
end

function groups.mechanics()
  local models = dofile(directory .. "models.lua")
  local function measure(name, simu) told(name, least(simu, models.stepping(simu))) end
  measure("ball", models.ball())
  for _, n in ipairs { 10, 100, 1000 } do measure("bar, " .. n, models.bar(n)) end
  for _, n in ipairs { 10, 100, 1000 } do measure("beads, " .. n, models.beads(n)) end
  measure("double pendulum, Jacobians given", models.double_pendulum(true))
  measure("double pendulum, dual numbers", models.double_pendulum(false))
end

-- Each problem of spec/reference, by the default chain and by named methods: the wall-clock time in the engine, least
-- of many calls.
function groups.numerics()
  local ns = require "nslua"
  local function measure(name, call, o)
    local good, r = pcall(call, o)
    if not good then return end
    local time, start = r.time, os.clock()
    while os.clock() - start < 0.004 do time = math.min(time, call(o).time) end
    told(name, time)
  end
  for _, p in ipairs(dofile(directory .. "../spec/reference/numerics_problems.lua")) do
    for _, method in ipairs { "default", "lemke", "principal", "newton_min", "newton_fb", "interior", "psor" } do
      measure(("%s, %s\t%s"):format(p.kind, method, p.name), ns.numerics.box, { M = ns.matrix(p.M),
        q = ns.vector(p.q), lower = ns.vector(p.lower), upper = ns.vector(p.upper), solver = method })
    end
  end
  for name, p in pairs(dofile(directory .. "../spec/reference/friction_problems.lua")) do
    local W = p.W
    if not W then
      W = ns.zeros(#p.q, #p.q)
      for k = 1, #p.v do W[p.i[k]][p.j[k]] = p.v[k] end
    end
    for _, method in ipairs { "default", "nsgs", "newton", "first_order" } do
      measure(("%s, %s\t%s"):format(p.kind, method, name), ns.numerics[p.kind], { W = ns.matrix(W),
        q = ns.vector(p.q), mu = p.mu, solver = method })
    end
  end
end

-- Whole runs of models of many kinds: the known trajectories and events of the specs, and an ideal switch.
function groups.whole()
  local specs = directory .. "../spec/"
  package.path = specs .. "?.lua;" .. package.path
  local function measure(name, call)
    local start = os.clock()
    local ok = pcall(call)
    if ok then told(name, os.clock() - start) else print(name .. "\trefused") end
  end
  for name in ("ball2d_friction bead_column cam_follower circuit_rlcd_gamma coupled_relays diode_bridge_cap filippov"
    .. " friction_oscillator relay_two_axes rocking_block three_stops"):gmatch "%S+" do
    measure(name, function() dofile(specs .. "cases/" .. name .. ".lua")() end)
  end
  for name in ("brake sign_spiral block_plane fesd_unit_disc squeezer two_balls_spring"):gmatch "%S+" do
    measure("events, " .. name, function() dofile(specs .. "cases/events/" .. name .. ".lua") end)
  end
  for _, theta in ipairs { 0.5, 1 } do
    measure("ideal switch, theta " .. theta, function() require "ideal_switch" { theta = theta }:run() end)
  end
end

if arg[1] == "--measure" then return groups[arg[2]]() end

-- ---- both builds ----

if #arg < 2 then
  print "usage: nslua bench/compare.lua OLD NEW [ROUNDS] [clutch] [linear] [mechanics] [numerics] [whole]"
  os.exit(1)
end

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function interpreter(place)
  local file = io.open(place .. "/build/bin/nslua")
  if not file then return place end
  file:close()
  return place .. "/build/bin/nslua"
end

local builds, rounds, wanted = { interpreter(arg[1]), interpreter(arg[2]) }, 9, {}
for i = 3, #arg do
  if tonumber(arg[i]) then rounds = math.max(3, math.tointeger(tonumber(arg[i])))
  elseif groups[arg[i]] then wanted[#wanted + 1] = arg[i]
  else error(("compare: unknown group '%s' (known: %s)"):format(arg[i], table.concat(order, ", ")), 0) end
end
if #wanted > 0 then order = wanted end

-- Measures one build: a list of {case, seconds}; nil where the run is refused.
local function measured(build, group)
  local clean = "env -u LUA_PATH -u LUA_CPATH -u LUA_INIT OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"
  local pipe = assert(io.popen(("%s %s %s --measure %s"):format(clean, quote(build), quote(arg[0]), group)))
  local list = {}
  for line in pipe:lines() do
    local case, seconds = line:match "^(.*)\t(%S+)$"
    if case then list[#list + 1] = { case, tonumber(seconds) } end
  end
  assert(pipe:close(), build .. " failed at " .. group)
  return list
end

local function quantile(list, part)
  local at = 1 + part * (#list - 1)
  local low = math.floor(at)
  return list[low] + (at - low) * ((list[low + 1] or list[low]) - list[low])
end

-- The ratio of each case, in the order of the first build, with the least times of both builds.
local function compare(group)
  local cases, by_name, lost = {}, {}, {}
  for round = 1, rounds do
    local lists = {}
    for k = 1, 2 do
      local which = (k + round) % 2 + 1
      lists[which] = measured(builds[which], group)
    end
    local new = {}
    for _, row in ipairs(lists[2]) do new[row[1]] = row[2] end
    for _, row in ipairs(lists[1]) do
      local name, old = row[1], row[2]
      if old and not new[name] then lost[name] = true end
      if old and new[name] then
        local case = by_name[name]
        if not case then
          case = { name = name, old = old, new = new[name], ratios = {} }
          by_name[name], cases[#cases + 1] = case, case
        end
        case.old, case.new = math.min(case.old, old), math.min(case.new, new[name])
        case.ratios[#case.ratios + 1] = new[name] / old
      end
    end
  end
  return cases, lost
end

local function median(list)
  table.sort(list)
  return quantile(list, 0.5)
end

local function shown(ratio, spread)
  local word = ratio - spread > 1.03 and "slower" or ratio + spread < 0.97 and "faster" or ""
  return ("%.3f"):format(ratio), ("%.3f"):format(spread), word
end

local function spread_of(sorted) return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 end

-- Joins the cases "set\tproblem" of a set into one line: sum of times, median and worst of the problems' ratios.
local function by_set(cases)
  local sets, list = {}, {}
  for _, case in ipairs(cases) do
    local name, problem = case.name:match "^(.*)\t(.*)$"
    local set = sets[name]
    if not set then
      set = { name = name, old = 0, new = 0, ratios = {}, worst = 0 }
      sets[name], list[#list + 1] = set, set
    end
    local ratio = median(case.ratios)
    set.old, set.new = set.old + case.old, set.new + case.new
    set.ratios[#set.ratios + 1] = ratio
    if ratio > set.worst then set.worst, set.where = ratio, problem end
  end
  return list
end

local all, refused = {}, {}
for _, group in ipairs(order) do
  local rows, cases, lost = {}, compare(group)
  for name in pairs(lost) do refused[#refused + 1] = name end
  local head = { group, "old [us]", "new [us]", "new / old", "spread", "" }
  if group == "numerics" then
    cases = by_set(cases)
    head[#head + 1] = "worst problem"
  end
  for _, case in ipairs(cases) do
    local ratio = median(case.ratios)
    local text, spread, word = shown(ratio, spread_of(case.ratios))
    local row = { case.name, common.us(case.old), common.us(case.new), text, spread, word }
    if case.where then row[#row + 1] = ("%.2f %s"):format(case.worst, case.where) end
    rows[#rows + 1], all[#all + 1] = row, ratio
  end
  common.table(("%s: least times of %d rounds, median ratios"):format(group, rounds), head, rows)
end
print(("\nall: median ratio %.3f, largest %.3f"):format(median(all), all[#all]))
if #refused > 0 then
  table.sort(refused)
  print("accepted by the old build, refused by the new one: " .. table.concat(refused, ", "))
  os.exit(1)
end
