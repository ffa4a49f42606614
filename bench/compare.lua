--
-- compare.lua OLD NEW [--reference REFERENCE] [ROUNDS] [GROUP...]
-- The times of builds of nslua, side by side: which is faster, and by how much.
--
-- OLD, NEW and REFERENCE are directories of the source with a build/ in them, or interpreters. GROUP is one of
-- clutch, linear, mechanics, numerics, whole; without it all are measured. In each of ROUNDS (9) all builds run
-- every group, one after the other; each goes first in turn. The time of a case is the least of many simulations
-- in one process; its ratio, NEW over OLD, is the median over the rounds. "spread" is half the interquartile range
-- of these ratios: a smaller difference from 1 means nothing. All builds run the scripts and the problems of this
-- source tree. REFERENCE is a build that stays the same from one comparison to the next, so that small losses,
-- each within the spread, are seen when they add up. When NEW refuses a run of `whole` that OLD or REFERENCE
-- accepts, the script says so, and fails.
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

-- ---- the builds ----

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function interpreter(place)
  local file = io.open(place .. "/build/bin/nslua")
  if not file then return place end
  file:close()
  return place .. "/build/bin/nslua"
end

-- The builds; the new one is the last. `earlier`: the names of the others.
local builds, earlier, rounds, wanted, places = {}, { "old" }, 9, {}, {}
local i = 1
while arg[i] do
  if arg[i] == "--reference" then
    i = i + 1
    earlier[2] = "reference"
    builds[2] = interpreter(arg[i] or error("compare: --reference: its directory is missing", 0))
  elseif #places < 2 then places[#places + 1] = arg[i]
  elseif tonumber(arg[i]) then rounds = math.max(3, math.tointeger(tonumber(arg[i])))
  elseif groups[arg[i]] then wanted[#wanted + 1] = arg[i]
  else error(("compare: unknown group '%s' (known: %s)"):format(arg[i], table.concat(order, ", ")), 0) end
  i = i + 1
end
if #places < 2 then
  print("usage: nslua bench/compare.lua OLD NEW [--reference REFERENCE] [ROUNDS] ["
    .. table.concat(order, "] [") .. "]")
  os.exit(1)
end
builds[1], builds[#earlier + 1] = interpreter(places[1]), interpreter(places[2])
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

-- The seconds of each case by the builds in one round, { name = { old, ..., new } }, and the names in order.
local function by_case(lists)
  local times, names = {}, {}
  for b, list in ipairs(lists) do
    for _, row in ipairs(list) do
      local name = row[1]
      if not times[name] then times[name], names[#names + 1] = {}, name end
      times[name][b] = row[2]
    end
  end
  return times, names
end

-- The cases that the old and the new build have, in order: the least time of each build (`least`), and the ratios of
-- the new build to each earlier one. lost: what an earlier build accepts and the new one does not.
local function compare(group)
  local cases, by_name, lost, n = {}, {}, {}, #builds
  for round = 1, rounds do
    local lists = {}
    for k = 1, n do
      local which = (k + round) % n + 1
      lists[which] = measured(builds[which], group)
    end
    local times, names = by_case(lists)
    for _, name in ipairs(names) do
      local time = times[name]
      for b = 1, n - 1 do
        if time[b] and not time[n] then lost[name] = earlier[b] end
      end
      if time[1] and time[n] then
        local case = by_name[name]
        if not case then
          case = { name = name, least = {}, ratios = {} }
          for b = 1, n do case.least[b], case.ratios[b] = math.huge, {} end
          by_name[name], cases[#cases + 1] = case, case
        end
        for b, seconds in pairs(time) do
          case.least[b] = math.min(case.least[b], seconds)
          table.insert(case.ratios[b], time[n] / seconds)
        end
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

-- Joins the cases "set\tproblem" of a set into one line: sums of times, the problems' ratios, the worst problem.
local function by_set(cases)
  local sets, list = {}, {}
  for _, case in ipairs(cases) do
    local name, problem = case.name:match "^(.*)\t(.*)$"
    local set = sets[name]
    if not set then
      set = { name = name, least = {}, ratios = {}, worst = 0 }
      for b = 1, #builds do set.least[b], set.ratios[b] = 0, {} end
      sets[name], list[#list + 1] = set, set
    end
    for b = 1, #builds do
      set.least[b] = set.least[b] + case.least[b]
      if #case.ratios[b] > 0 then table.insert(set.ratios[b], median(case.ratios[b])) end
    end
    local ratio = median(case.ratios[1])
    if ratio > set.worst then set.worst, set.where = ratio, problem end
  end
  return list
end

-- The line of a case: its times by the old and the new build, then the ratio to each earlier build, spread, word.
local function line_of(case, all)
  local row = { case.name, common.us(case.least[1]), common.us(case.least[#builds]) }
  for b in ipairs(earlier) do
    local ratios, text, spread, word = case.ratios[b], "-", "", ""
    if #ratios > 0 then
      local ratio = median(ratios)
      text, spread, word = shown(ratio, spread_of(ratios))
      table.insert(all[b], ratio)
    end
    table.move({ text, spread, word }, 1, 3, #row + 1, row)
  end
  if case.where then row[#row + 1] = ("%.2f %s"):format(case.worst, case.where) end
  return row
end

local all, refused = { {}, {} }, {}
for _, group in ipairs(order) do
  local rows, cases, lost = {}, compare(group)
  for name, build in pairs(lost) do refused[#refused + 1] = ("%s (%s)"):format(name, build) end
  local head = { group, "old [us]", "new [us]" }
  for _, name in ipairs(earlier) do table.move({ "new / " .. name, "spread", "" }, 1, 3, #head + 1, head) end
  if group == "numerics" then
    cases = by_set(cases)
    head[#head + 1] = "worst problem"
  end
  for _, case in ipairs(cases) do rows[#rows + 1] = line_of(case, all) end
  common.table(("%s: least times of %d rounds, median ratios"):format(group, rounds), head, rows)
end
print()
for b, name in ipairs(earlier) do
  local ratios = all[b]
  if #ratios > 0 then
    print(("all, new / %s: median ratio %.3f, largest %.3f"):format(name, median(ratios), ratios[#ratios]))
  end
end
if #refused > 0 then
  table.sort(refused)
  print("refused by the new build, accepted by another one: " .. table.concat(refused, ", "))
  os.exit(1)
end
