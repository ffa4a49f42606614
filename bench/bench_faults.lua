--
-- bench_faults.lua
-- What nslua, Siconos and SciPy do with faulty models. `nslua bench_faults.lua FAULT` runs one of nslua's models.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

-- ---- the models ----

-- x' = -x + lambda with a relay on h; the callback h fails after t = 0.5.
local function relay(h)
  return ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.FirstOrderNonLinearR {
    h = h, g = function(_, _, lambda, _, r) r[1] = lambda[1] end }, ns.RelayNSL(1, -1, 1)
end

local models = {}

function models.nan()
  return relay(function(t, x, _, _, y) y[1] = t > 0.5 and 0 / 0 or x[1] end)
end

function models.exception()
  return relay(function(t, x, _, _, y)
    if t > 0.5 then error "raised by the callback" end
    y[1] = x[1]
  end)
end

function models.size()
  return relay(function(t, x)
    if t > 0.5 then return { 0, 0, 0, 0, 0, 0, 0 } end
    return { x[1] }
  end)
end

-- 0 x' = 0 x + lambda
function models.singular()
  local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
  ds:setMPtr { { 0 } }
  return ds, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), ns.RelayNSL(1, -1, 1)
end

-- 0 <= -lambda - 1 complements lambda >= 0
function models.unsolvable()
  local relation = ns.FirstOrderLinearTIR({ { 0 } }, { { 1 } })
  relation:setDPtr { { -1 } }
  relation:setePtr { -1 }
  return ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), relation, ns.ComplementarityConditionNSL(1)
end

-- x^2 + 1 = 0
function models.newton()
  local ds, relation = relay(function(_, x, _, _, y) y[1] = x[1] ^ 2 + 1 end)
  return ds, relation, ns.EqualityConditionNSL(1)
end

-- A ball that lies half a metre under the floor.
function models.initial()
  local ball = ns.LagrangianLinearTIDS({ -0.5 }, { 0 }, { { 1 } })
  ball:setFExtPtr { -9.81 }
  return ball, ns.LagrangianLinearTIR { { 1 } }, ns.NewtonImpactNSL(0.5), ns.MoreauJeanOSI(0.5)
end

-- x2 = x1 beside x1' = -x1, with x2 = 5 and x1 = 1 at the start.
local function dae()
  local solver = ns.dae("radau", function(_, y, yd, r) r[1], r[2] = yd[1] + y[1], y[2] - y[1] end)
  local result = solver:solve({ 0, 1 }, { 1, 5 }, { -1, 0 })
  return ("ends with %.4g, %.4g"):format(result.values.y[2][1], result.values.y[2][2])
end

function models.interrupt()
  return ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }),
    ns.RelayNSL(1, -1, 1)
end

local function simulation(fault)
  local ds, relation, law, osi = models[fault]()
  local nsds = ns.NonSmoothDynamicalSystem(0, fault == "interrupt" and 1e6 or 1)
  local inter = ns.Interaction(law, relation)
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), osi or ns.EulerMoreauOSI(1)), ds, inter
end

if arg[1] == "dae" then return print(dae()) end
if arg[1] then
  local simu, ds, inter = simulation(arg[1])
  if arg[1] == "interrupt" then simu:run() end
  for _ in simu:steps() do end
  local mechanics = arg[1] == "initial"
  print(("ends at t=%.3g with %.4g, lambda %.4g"):format(simu:startingTime(), (mechanics and ds:q() or ds:x())[1],
    inter:lambda(mechanics and 1 or 0)[1]))
  return
end

-- ---- what each does ----

local faults = {
  { "nan", "a callback returns nan" },
  { "exception", "a callback raises" },
  { "size", "a callback returns 7 numbers for 1" },
  { "singular", "a singular model (SciPy: fsolve)" },
  { "unsolvable", "an LCP without a solution" },
  { "newton", "a nonlinear step without a solution (SciPy: fsolve)" },
  { "initial", "a ball that lies under the floor at the start (Moreau and Jean's scheme)" },
  { "dae", "initial values that do not fulfil a DAE" },
  { "interrupt", "SIGINT 3 s after the start of a long run" },
}
local without = { scipy = { unsolvable = true, initial = true, dae = true } } -- faults without a SciPy model
local LIMIT = 20

local function lines_of(path)
  local list = {}
  for line in io.lines(path) do
    if line:find "%S" then list[#list + 1] = line end
  end
  return list
end

-- Runs a command; returns its status, seconds, lines of output and lines of errors. The run to be interrupted gets
-- a SIGINT after 3 s.
local function run(command, fault)
  local base = os.tmpname()
  local limit = fault == "interrupt" and ("timeout --preserve-status -s INT -k %d 3"):format(LIMIT) or
    "timeout --preserve-status -s KILL " .. LIMIT
  local timed = "start=$(date +%%s%%N); %s %s %s >%s.out 2>%s.err; echo $? $((($(date +%%s%%N) - start) / 1000000))"
  local pipe = assert(io.popen("export OMP_NUM_THREADS=1; " .. timed:format(limit, command, fault, base, base)))
  local status, milliseconds = pipe:read("n", "n")
  pipe:close()
  local out, err = lines_of(base .. ".out"), lines_of(base .. ".err")
  for _, ending in ipairs { "", ".out", ".err" } do os.remove(base .. ending) end
  return status, milliseconds / 1000, out, err
end

-- The line of an error's text that says what happened: the last line in Python, the first in Lua.
local function message(err)
  local python = false
  for _, line in ipairs(err) do python = python or line:find "^Traceback" end
  local line = python and err[#err] or err[1] or "nothing"
  return (line:gsub("^.-nslua[^:]*: ", ""):gsub("^[^%s]*bench_faults%.lua:%d+: ", ""))
end

local function shorten(text) return #text > 200 and text:sub(1, 197) .. "..." or text end

local function outcome(command, fault)
  local status, seconds, out, err = run(command, fault)
  local last, warnings = out[#out] or "", #out - 1
  if status == 137 then return "no end within " .. LIMIT .. " s: killed" end
  if status > 128 and status ~= 130 then return ("crash (signal %d)"):format(status - 128) end
  if fault == "interrupt" then return ("%.1f s later: status %d, %s"):format(seconds - 3, status, message(err)) end
  if status ~= 0 then return "error: " .. message(err) end
  return "no error: " .. last .. (warnings > 0 and (" (after %d lines of warnings)"):format(warnings) or
    #err > 0 and " (a warning on stderr)" or "")
end

local peers, skipped = { { "nslua", "'" .. (arg[-1] or "nslua") .. "' '" .. arg[0] .. "'" } }, {}
for _, peer in ipairs { "siconos", "scipy" } do
  local command, reason = common[peer]("faults.py")
  if command then peers[#peers + 1] = { peer, command .. " " .. peer } else skipped[#skipped + 1] = reason end
end

for _, fault in ipairs(faults) do
  print("\n" .. fault[2])
  for _, peer in ipairs(peers) do
    local absent = without[peer[1]] and without[peer[1]][fault[1]]
    print(("  %-8s %s"):format(peer[1], absent and "-" or shorten(outcome(peer[2], fault[1]))))
  end
end
print()
common.skipped(table.unpack(skipped))
