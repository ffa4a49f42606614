-- A long run of one kind of model: nslua spec/robust/soak.lua NAME STEPS.
--
-- Step by step, in tenths. Prints by how many kB the process has grown since the first tenth was over, by how
-- many per cent the quickest of 20 pieces of the last tenth is slower than that of the second, and "same" when the state at
-- the end has the bits of a fresh run in one call.
local kinds = require "robust.kinds"

local name, steps = arg[1], tonumber(arg[2])
local tenth = steps // 10

local function state(simu)
  local parts = { simu:step() }
  local ds, inter = simu:nsds():dynamicalSystem(1), simu:nsds():interaction(1)
  for _, v in ipairs { ds:x(), inter:lambda(), inter:y(0) } do
    for i = 1, #v do parts[#parts + 1] = ("%a"):format(v[i]) end
  end
  return table.concat(parts, " ")
end

local function resident()
  collectgarbage()
  collectgarbage()
  local file = assert(io.open "/proc/self/status")
  local text = file:read "a"
  file:close()
  return tonumber(text:match "VmRSS:%s*(%d+) kB")
end

local function advance(simu, n)
  for _ = 1, n do
    simu:computeOneStep()
    simu:nextStep()
  end
end

-- The least time of 20 pieces of a tenth.
local function quickest(simu)
  local least = math.huge
  for _ = 1, 20 do
    local start = os.clock()
    advance(simu, tenth // 20)
    least = math.min(least, os.clock() - start)
  end
  return least
end

local simu = kinds.make[name](steps)
quickest(simu)
local first_size, first_time = resident(), quickest(simu)
for _ = 1, 7 do advance(simu, tenth) end
local last_time = quickest(simu)
local growth = resident() - first_size

local fresh = kinds.make[name](steps)
fresh:run { record = steps }
print(("%d kB, %.1f %%, %s"):format(growth, 100 * (last_time / first_time - 1),
  state(fresh) == state(simu) and "same" or "not the same"))
