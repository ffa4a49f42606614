-- Complementarity solvers on the problems of spec/reference: success, residual and time for each method of
-- ns.numerics, beside Siconos' solvers, timed in C, when its headers are there; then sparse sizes from 1e2 to 1e5.
local ns = require "nslua"
local problems = dofile "spec/reference/numerics_problems.lua"
local methods = { "default", "lemke", "principal", "newton_min", "newton_fb", "interior", "psor" }
local inf = math.huge

local function best(o, seconds)
  local least, start = inf, os.clock()
  local fine, r
  repeat
    fine, r = pcall(ns.numerics.box, o)
    if not fine then return nil end
    least = math.min(least, r.time)
  until os.clock() - start > seconds
  return least, r
end

-- The fastest successful solver of Siconos for each problem, from a C program; nil without its headers.
local function peers()
  local headers = io.open "/usr/include/siconos/numerics/NonSmoothDrivers.h"
  if not headers then return print "no headers of Siconos: its figures are those stored with the problems" end
  headers:close()
  local name = os.tmpname()
  local program, input, output = name .. ".bin", name .. ".in", name .. ".out"
  if not os.execute("cc -O2 -I/usr/include/siconos -I/usr/include/siconos/numerics bench/peers/numerics.c -o " ..
    program .. " -lsiconos_numerics -lm 2>/dev/null") then
    return print "the program with Siconos does not compile: its figures are those stored with the problems"
  end
  local f = assert(io.open(input, "w"))
  for _, p in ipairs(problems) do
    if p.kind ~= "mlcp" and p.solvable then
      f:write(p.name, " ", p.kind == "relay" and 1 or 0, " ", #p.q, "\n")
      for j = 1, #p.q do
        for i = 1, #p.q do f:write(("%.17g "):format(p.M[i][j])) end
      end
      for _, v in ipairs { p.q, p.lower, p.upper } do
        for i = 1, #v do f:write(v[i] == inf and "inf" or v[i] == -inf and "-inf" or ("%.17g"):format(v[i]), " ") end
      end
      f:write "\n"
    end
  end
  f:close()
  os.execute(("OPENBLAS_NUM_THREADS=1 timeout 120 %s < %s > /dev/null 2> %s"):format(program, input, output))
  local scale, found = {}, {}
  for _, p in ipairs(problems) do scale[p.name] = p.scale end
  for line in io.lines(output) do
    local problem, solver, info, seconds, residual = line:match "^(%S+) (%S+) (%-?%d+) (%S+) (%S+)$"
    seconds, residual = tonumber(seconds), tonumber(residual)
    if problem and info == "0" and residual and residual <= 1e-6 * scale[problem] and
      seconds < (found[problem] and found[problem][1] or inf) then
      found[problem] = { seconds, solver }
    end
  end
  for _, file in ipairs { name, program, input, output } do os.remove(file) end
  return found
end

local measured = peers() or {}
print(("%-32s %4s %-11s %-8s %9s %10s   %s"):format("problem", "n", "method", "success", "residual", "us",
  "fastest of Siconos (us)"))
for _, p in ipairs(problems) do
  local o = { M = ns.matrix(p.M), q = ns.vector(p.q), lower = ns.vector(p.lower), upper = ns.vector(p.upper) }
  for _, method in ipairs(methods) do
    o.solver = method
    local seconds, r = best(o, method == "default" and 0.1 or 0.02)
    local peer = ""
    if method == "default" and (measured[p.name] or p.peer) then
      local there = measured[p.name] or { p.peer * 1e-6, p.peer_solver .. ", stored" }
      peer = ("%.2f %s, ratio %.2f"):format(there[1] * 1e6, there[2], seconds / there[1])
    end
    if seconds then
      print(("%-32s %4d %-11s %-8s %9.1e %10.2f   %s"):format(p.name, #p.q, method, r.success and "yes" or r.status,
        r.relative, seconds * 1e6, peer))
    end
  end
end

print "\nan obstacle problem on a string, sparse: seconds, and for psor nanoseconds a sweep and entry"
for _, n in ipairs { 100, 1000, 10000, 100000 } do
  local I, J, V, q = {}, {}, {}, {}
  local function put(i, j, v) I[#I + 1], J[#J + 1], V[#V + 1] = i, j, v end
  for i = 1, n do
    put(i, i, 2.01)
    if i > 1 then put(i, i - 1, -1) end
    if i < n then put(i, i + 1, -1) end
    q[i] = math.sin(370 * i / n) - 0.1
  end
  local M = ns.sparse { rows = n, cols = n, i = I, j = J, v = V }
  for _, method in ipairs { "default", "newton_min", "newton_fb", "interior" } do
    local r = ns.numerics.lcp { M = M, q = q, solver = method }
    print(("n = %6d %-11s %-8s %9.1e %10.4f s, %d iterations"):format(n, method, r.success and "yes" or r.status,
      r.relative, r.time, r.iterations))
  end
  local r = ns.numerics.lcp { M = M, q = q, solver = "psor", max_iterations = 50 }
  print(("n = %6d %-11s %8.2f ns"):format(n, "psor", r.time / 50 / (3 * n - 2) * 1e9))
end
