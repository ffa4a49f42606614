-- Seed files for the targets of fuzz_files.c, written by the toolkit itself: nslua fuzz_seeds.lua DIRECTORY makes
-- DIRECTORY/csv, npy, npz, checkpoint, stream, number.
local ns = require "nslua"
local directory = arg[1]

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text) and file:close())
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

for _, target in ipairs { "csv", "npy", "npz", "checkpoint", "stream", "number" } do
  assert(os.execute("mkdir -p '" .. directory .. "/" .. target .. "'"))
end

local function to(name) return directory .. "/" .. name end

-- ---- numbers, arrays, columns ----

local numbers = { 0, -0.0, 1, -17, 0.1, 1 / 3, 1e22, 1e23, 2 ^ 53 + 2, 5e-324, 1.7976931348623157e308, 1 / 0, 0 / 0,
  123456.789e-200 }
for i, x in ipairs(numbers) do write(to("number/" .. i), ("%.17g"):format(x)) end
local v, A = ns.vector(numbers), ns.matrix { { 1, 2.5, 3 }, { -4, 1e-9, 6e200 } }

ns.save(to "npy/vector.npy", v)
ns.save(to "npy/matrix.npy", A)
ns.save(to "npy/empty.npy", ns.vector {})
for _, kind in ipairs { "<f4", ">f8", "|i1", "<u2", ">i4", "<i8", "|b1" } do
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (2, 2), }\n"):format(kind)
  write(to("npy/kind" .. kind:sub(2)), "\x93NUMPY\2\0" .. ("<I4"):pack(#header) .. header .. ("\1\2\200\127"):rep(8))
end

ns.save(to "csv/vector.csv", v)
ns.save(to "csv/matrix.csv", A)
ns.save(to "csv/names.csv", { t = { 0, 1 }, ['a,"b"'] = { 0.5, -0.25 }, ["two\nlines"] = { 1, 2 }, ["#x"] = { 0, 0 },
  [""] = { 7, 8 } })
write(to "csv/windows.csv", "\xef\xbb\xbf# a note\r\nt,x\r\n\r\n0, 1e3\r\n0.5,\r\n1,nan\r\n")
write(to "csv/texts.csv", 'name,x\n"one",1\ntwo,2\n"th""ree",-inf\n')

ns.save(to "npz/two.npz", { v = v, A = A })
ns.save(to "npz/one.npz", { [""] = {} })

-- ---- deflated data: blocks that are stored, one with the fixed code, by hand, in archives ----

local function archive(stream, crc, size)
  local common = ("<I2I2I2I2I2I4I4I4I2I2"):pack(20, 0, 8, 0, 0x21, crc, #stream, size, 1, 0)
  local head, list = "PK\3\4" .. common .. "a" .. stream, "PK\1\2\20\0" .. common .. ("\0"):rep(14) .. "a"
  return head .. list .. "PK\5\6" .. ("<I2I2I2I2I4I4I2"):pack(0, 0, 1, 1, #list, #head, 0)
end

local function stored(text) return "\1" .. ("<I2I2"):pack(#text, ~#text & 0xffff) .. text end
write(to "npz/stored", archive(stored "123456789", 0xcbf43926, 9))
write(to "npz/empty", archive(stored "", 0, 0))
write(to "npz/fixed", archive("\x4b\x4c\x4a\x06\x00", 0x352441c2, 3)) -- "abc"
write(to "npz/far", archive("\x4b\x4c\x04\x02\x00\x00", 0, 12)) -- symbols with a copy

-- ---- a simulation: its checkpoints and its stream ----

local function simulation(events)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ball:setFExtPtr { -9.81 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ball)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
  local td = ns.TimeDiscretisation(0, 0.1)
  if events then return ns.EventDriven(nsds, td, ns.RungeKuttaOSI()) end
  return ns.TimeStepping(nsds, td, ns.MoreauJeanOSI(0.5), ns.LCP())
end

for _, events in ipairs { false, true } do
  local simu, name = simulation(events), to("checkpoint/" .. (events and "events" or "steps"))
  simu:save_state(name)
  simu:run { stream = to "run.csv" }
  simu:save_state(name, "a note")
end
write(to "checkpoint/none", "nslua checkpoint 1\n")

-- A byte that picks a time, then the file.
local text = read(to "run.csv")
os.remove(to "run.csv")
write(to "stream/run", "\2" .. text:gsub("[^\n]*\n", "t,x\n", 1))
write(to "stream/two", "\2t,x\n0,1\n0.1,0.5\n0.5,nan\n1,-inf\n")
write(to "stream/cut", "\1t,x\n0,1\n0.1,0.5\n0.9")
write(to "stream/other", "\0t,y\n0,1\n")
write(to "stream/empty", "\0")
