-- A long run of one kind of model: nslua spec/robust/soak.lua NAME STEPS.
--
-- Runs step by step, in tenths. Prints the growth of the process in kB since the end of the first tenth (without its record
-- of events), the slowdown in per cent from the second to the last tenth (each by the quickest of its 20 pieces), and "same"
-- when the final state has the bits of a fresh run in one call.
local kinds = require "robust.kinds"
local state = require "trail".state

local name, steps = arg[1], tonumber(arg[2])
local tenth = steps // 10

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
-- The record of events is meant to grow, by 120 bytes for each in these nine tenths.
local recorded, events = pcall(simu.events, simu)
if recorded then growth = math.ceil(growth - 0.9 * 120 * #events / 1024) end

local fresh = kinds.make[name](steps)
fresh:run { record = steps }
print(("%d kB, %.1f %%, %s"):format(growth, 100 * (last_time / first_time - 1),
  state(fresh) == state(simu) and "same" or "not the same"))
