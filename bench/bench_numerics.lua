--
-- bench_numerics.lua
-- The solvers of ns.numerics on the problems of spec/reference, beside those of Siconos on the same data.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local reference = directory .. "../spec/reference/"
local boxes = dofile(reference .. "numerics_problems.lua")
local frictions = dofile(reference .. "friction_problems.lua")
package.path = directory .. "../spec/?.lua;" .. package.path
local friction = require "random_friction"
local inf = math.huge

-- ---- problems, by set ----

local sets, order = {}, { "lcp", "mlcp", "relay", "fc2d", "fc3d" }
for _, kind in ipairs(order) do sets[kind] = {} end
for _, p in ipairs(boxes) do table.insert(sets[p.kind], p) end
for name, p in pairs(frictions) do
  p.name, p.solvable = name, true
  table.insert(sets[p.kind], p)
  if not p.W then
    p.W = {}
    for i = 1, #p.q do p.W[i] = {} for j = 1, #p.q do p.W[i][j] = 0 end end
    for k = 1, #p.v do p.W[p.i[k]][p.j[k]] = p.v[k] end
  end
end
for _, kind in ipairs { "fc2d", "fc3d" } do table.sort(sets[kind], function(a, b) return a.name < b.name end) end

local function contact(p) return p.kind == "fc2d" or p.kind == "fc3d" end

-- The natural residual over the problem's scale, computed by loops; it judges all answers.
local function judge(p, z)
  if contact(p) then return friction.residual(p, z) end
  local worst = 0
  for i = 1, #p.q do
    local w = p.q[i]
    for j = 1, #p.q do w = w + p.M[i][j] * z[j] end
    local r = math.abs(z[i] - math.max(p.lower[i], math.min(p.upper[i], z[i] - w)))
    worst = r <= worst and worst or r == r and r or inf
  end
  return worst / p.scale
end

local function fine(p, residual) return residual <= (contact(p) and 1e-6 or 1e-8) end

-- ---- ours ----

local methods = {
  fc2d = { "default", "nsgs", "newton", "first_order", "lcp" },
  fc3d = { "default", "nsgs", "newton", "first_order" },
}
for _, kind in ipairs { "lcp", "mlcp", "relay" } do
  methods[kind] = { "default", "lemke", "principal", "newton_min", "newton_fb", "interior", "psor", "banded" }
end

-- {seconds, residual, success, status} of one method (least time of many solves); nil: it cannot take this problem.
local function run(p, method, seconds)
  local call, o
  if contact(p) then
    call = ns.numerics[p.kind]
    o = { W = ns.matrix(p.W), q = ns.vector(p.q), mu = p.mu, solver = method }
  else
    call = ns.numerics.box
    o = { M = ns.matrix(p.M), q = ns.vector(p.q), solver = method }
    o.lower, o.upper = ns.vector(p.lower), ns.vector(p.upper)
  end
  local good, r = pcall(call, o)
  if not good then return nil end
  local least, start = r.time, os.clock()
  while os.clock() - start < seconds do least = math.min(least, call(o).time) end
  local residual = judge(p, r.z:totable())
  return { least, residual, r.success and fine(p, residual), r.success and "yes" or r.status }
end

-- ---- Siconos ----

-- The problem as words for the peer: name, kind, order, numbers; nil when the peer has no solver for it here.
local codes = { lcp = 0, relay = 1, fc2d = 2, fc3d = 3 }

local function write(f, p)
  local M = p.M or p.W
  f:write(p.name, " ", codes[p.kind], " ", #p.q, "\n")
  for j = 1, #p.q do
    for i = 1, #p.q do f:write(("%.17g "):format(M[i][j])) end
  end
  local mu = {}
  for i = 1, contact(p) and p.nc or 0 do mu[i] = type(p.mu) == "number" and p.mu or p.mu[i] end
  for _, v in ipairs(contact(p) and { p.q, mu } or { p.q, p.lower, p.upper }) do
    for i = 1, #v do f:write(v[i] == inf and "inf" or v[i] == -inf and "-inf" or ("%.17g"):format(v[i]), " ") end
  end
  f:write "\n"
end

-- peers[problem name][solver] = {seconds, residual, success}, and the peer's solvers by set, its default first.
local peers, peer_methods = {}, { lcp = {}, mlcp = {}, relay = {}, fc2d = {}, fc3d = {} }

local function ask()
  local headers = io.open "/usr/include/siconos/numerics/NonSmoothDrivers.h"
  if not headers then return "no headers of Siconos here" end
  headers:close()
  local flags = "-O2 -D_XOPEN_SOURCE=700 -I/usr/include/siconos -I/usr/include/siconos/numerics"
  local program, reason = common.compile("numerics.c", "cc", flags, "-lsiconos_numerics -lm")
  if not program then return reason end
  local input, output, by_name = os.tmpname(), os.tmpname(), {}
  local f = assert(io.open(input, "w"))
  for _, kind in ipairs(order) do
    for _, p in ipairs(sets[kind]) do
      by_name[p.name] = p
      if codes[kind] and p.solvable then write(f, p) end
    end
  end
  f:close()
  os.execute(("OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 timeout 90 %s < %s > /dev/null 2> %s"):format(
    program, input, output))
  local seen = {}
  for line in io.lines(output) do
    local name, solver, info, seconds, numbers = line:match "^= (%S+) (%S+) (%-?%d+) (%S+) (.*)$"
    local p, z = by_name[name], {}
    for x in (numbers or ""):gmatch "%S+" do z[#z + 1] = tonumber(x) or 0 / 0 end
    if p and #z == #p.q then
      local residual = judge(p, z)
      peers[name] = peers[name] or {}
      peers[name][solver] = { tonumber(seconds), residual, info == "0" and fine(p, residual) }
      if not seen[p.kind .. solver] then
        seen[p.kind .. solver] = true
        table.insert(peer_methods[p.kind], solver)
      end
    end
  end
  os.remove(input)
  os.remove(output)
end

local missing = ask()

-- When the peer has not run: the time of its fastest solver on another machine, stored with the problem.
local function fastest_peer(p)
  local best, name
  for solver, r in pairs(peers[p.name] or {}) do
    if r[3] and (not best or r[1] < best) then best, name = r[1], solver end
  end
  if not best and p.peer then return p.peer * 1e-6, p.peer_solver .. " (stored)" end
  return best, name
end

-- ---- tables ----

local function median(list)
  table.sort(list)
  local n = #list
  return n > 0 and (list[(n + 1) // 2] + list[n // 2 + 1]) / 2 or nil
end

local function shown(x, pattern) return x and (pattern):format(x) or "-" end

-- Results of every solver on a set: results[name][solver]; nslua's by method, the peer's as "Siconos X".
local function results_of(kind)
  local results = {}
  for _, p in ipairs(sets[kind]) do
    local row = {}
    for _, method in ipairs(methods[kind]) do row[method] = run(p, method, method == "default" and 0.1 or 0.02) end
    for solver, r in pairs(peers[p.name] or {}) do row["Siconos " .. solver] = r end
    results[p.name] = row
  end
  return results
end

local function fastest(row)
  local best = inf
  for _, r in pairs(row) do best = r[3] and math.min(best, r[1]) or best end
  return best
end

local function summary(kind, results)
  local names, rows, standard = {}, {}, peer_methods[kind][1]
  for _, method in ipairs(methods[kind]) do names[#names + 1] = method end
  for _, solver in ipairs(peer_methods[kind]) do names[#names + 1] = "Siconos " .. solver end
  for _, name in ipairs(names) do
    local solved, of, worst, times, to_best, to_default = 0, 0, 0, {}, {}, {}
    for _, p in ipairs(sets[kind]) do
      local row = results[p.name]
      local r = row[name]
      if p.solvable then of = of + 1 end
      if r and r[3] then
        local other = standard and row["Siconos " .. standard]
        solved, worst = solved + 1, math.max(worst, r[2])
        times[#times + 1], to_best[#to_best + 1] = r[1], r[1] / fastest(row)
        if other and other[3] then to_default[#to_default + 1] = r[1] / other[1] end
      end
    end
    local head = name == "Siconos " .. (standard or "") and name .. " (default)" or name
    rows[#rows + 1] = { head, solved .. " of " .. of, shown(worst, "%.0e"), common.us(median(times)),
      shown(median(to_best), "%.2f"), shown(median(to_default), "%.2f") }
  end
  common.table(kind .. ": each solver over the set; time and ratios are medians over what it solves",
    { "", "solved", "worst residual", "us", "to the fastest", "to Siconos' default" }, rows)
end

local function each(kind, results)
  local rows, over = {}, {}
  for _, p in ipairs(sets[kind]) do
    local r = results[p.name].default
    local there, solver = fastest_peer(p)
    if not p.solvable then there, solver = nil, nil end
    if there and #p.q >= 4 then over[#over + 1] = r[1] / there end
    rows[#rows + 1] = { p.name, #p.q, p.solvable and (r[3] and "yes" or "NO: " .. r[4]) or r[4], shown(r[2], "%.0e"),
      common.us(r[1]), common.us(there), solver or "-", common.ratio(r[1], there) }
  end
  common.table(kind .. ": the default chain, problem by problem",
    { "", "n", "solved", "residual", "us", "fastest of Siconos", "", "ratio" }, rows)
  if #over > 0 then
    local text = "  n >= 4: median ratio to the fastest of Siconos, chosen afterwards: %.2f, largest %.2f (goal 1.5)"
    print(text:format(median(over), over[#over]))
  end
end

for _, kind in ipairs(order) do
  local results = results_of(kind)
  each(kind, results)
  summary(kind, results)
end
if missing then common.skipped("Siconos: " .. missing) end
