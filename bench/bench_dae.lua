--
-- bench_dae.lua
-- Differential-algebraic equations: Radau IIA beside IDA, from Lua with compiled residuals and by hand in C, at the
-- same tolerances and at the same error.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local four_bar = dofile(directory .. "../spec/four_bar.lua").residual
local g = 9.81

local function times(count, f)
  local ts = { 0 }
  for k = 1, count do ts[k + 1] = f(k) end
  return ts
end

local problems = {
  { name = "robertson", ts = times(7, function(k) return 0.4 * 10.0 ^ (k - 1) end), y0 = { 1, 0, 0 },
    yd0 = { -0.04, 0.04, 0 }, atol = 1e-6, residual = function(_, y, yd, r)
      r[1] = yd[1] + 0.04 * y[1] - 1e4 * y[2] * y[3]
      r[2] = yd[2] - 0.04 * y[1] + 1e4 * y[2] * y[3] + 3e7 * y[2] ^ 2
      r[3] = y[1] + y[2] + y[3] - 1
    end },
  { name = "pendulum", ts = times(10, function(k) return 0.5 * k end), y0 = { 1, 0, 0, 0, 0 },
    yd0 = { 0, 0, 0, -g, 0 }, atol = 1e-2, residual = function(_, y, yd, r) -- index 1
      r[1], r[2] = yd[1] - y[3], yd[2] - y[4]
      r[3], r[4] = yd[3] + y[5] * y[1], yd[4] + y[5] * y[2] + g
      r[5] = y[3] ^ 2 + y[4] ^ 2 - y[5] * (y[1] ^ 2 + y[2] ^ 2) - g * y[2]
    end },
  { name = "four_bar", ts = times(10, function(k) return 0.5 * k end), atol = 1e-2,
    y0 = { 0.1745329251994329576, 0.1147600367903035488, -2.642142839876820962, 0 }, yd0 = { 0, 0, 0, 0 },
    residual = four_bar },
}

local function solve(kind, residual, p, rtol)
  return ns.dae(kind, residual, { rtol = rtol, atol = math.max(p.atol * rtol, 1e-14), consistent = "solve" })
    :solve(p.ts, p.y0, p.yd0)
end

local has_ida = pcall(ns.dae, "ida", four_bar)
local flags = (os.getenv "CPPFLAGS" or "") .. " -O2"
local program, no_program = common.compile("dae.c", "cc", flags, (os.getenv "LDFLAGS" or "") ..
  " -lsundials_ida -lsundials_sunlinsoldense -lsundials_sunmatrixdense -lsundials_nvecserial -lm")

-- {seconds, error, steps} of a run; nil when it fails.
local function measure(kind, residual, p, rtol, exact)
  local sol
  local seconds = common.best(7, function() sol = solve(kind, residual, p, rtol) end)
  local y = sol.values.y
  local off = common.off(exact, #p.y0, function(k, i) return y[k][i] end)
  return sol.success and { seconds, off, sol.stats.steps } or nil
end

local function measure_peer(p, rtol, exact)
  local c = program and p.name ~= "four_bar" and common.peer(program, p.name, rtol) or {}
  if not c.time then return nil end
  return { c.time, common.off(exact, #p.y0, function(k, i) return c[("y%d_%d"):format(k - 1, i)] end), c.steps }
end

local same, equal = {}, {}
for _, p in ipairs(problems) do
  local residual = ns.compile(p.residual)
  local exact = solve("radau", residual, p, 1e-12).values.y
  local radau, ida, peer = {}, {}, {}
  for k = 2, 10 do
    local rtol = 10.0 ^ -k
    radau[#radau + 1] = measure("radau", residual, p, rtol, exact)
    if has_ida then ida[#ida + 1] = measure("ida", residual, p, rtol, exact) end
    peer[#peer + 1] = measure_peer(p, rtol, exact)
  end
  local function show(way) return way and ("%s %.0e"):format(common.us(way[1]), way[2]) or "-" end
  for k = 3, 9, 2 do
    local a, b, c = radau[k], ida[k], peer[k]
    same[#same + 1] = { ("%s, %g"):format(p.name, 10.0 ^ -(k + 1)), show(a), show(b), show(c),
      ("%s / %s / %s"):format(a and a[3] or "-", b and b[3] or "-", c and c[3] or "-") }
  end
  for k = 4, 8, 2 do
    local e = 10.0 ^ -k
    local a, b, c = common.at_error(radau, e), common.at_error(ida, e), common.at_error(peer, e)
    equal[#equal + 1] = { ("%s, %g"):format(p.name, e), common.us(a), common.us(b), common.us(c), common.ratio(b, a),
      common.ratio(c, a) }
  end
end
common.table("dae, by the tolerance: microseconds in all and largest relative error", {
  "", "radau", "ida", "IDA in C", "steps",
}, same)
common.table("dae, by the error: microseconds at an error, and ratios", {
  "", "radau", "ida", "IDA in C", "ida / radau", "C / radau",
}, equal)
common.skipped(not has_ida and "nslua.sundials is not built (make sundials)" or nil, no_program)
