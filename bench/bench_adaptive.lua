--
-- bench_adaptive.lua
-- Adaptive steps beside steps of one length: one-step problems solved for the same error, theta = 1/2.
--
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
package.path = directory .. "../spec/?.lua;" .. package.path
local common = dofile(directory .. "common.lua")
local given = require "simulation.adaptive_models"

local names = { "oscillator", "relay oscillator", "diode bridge", "friction oscillator", "sliding", "ball",
  "pendulum", "rocking block", "stick-slip" }

local function run(name, options, h)
  local simu, ds = given.simulate(name, options, 0.5, h)
  simu:run()
  local x = {}
  for i = 1, #ds:x() do x[i] = ds:x()[i] end
  return x, simu:stats().newton_iterations
end

local function difference(x, reference)
  local most = 0
  for i = 1, #x do
    most = math.max(most, math.abs(x[i] - reference[i]) / math.max(math.abs(reference[i]), 0.05))
  end
  return most
end

-- The problems of the coarsest grid, of S / 2^k, whose error and those of finer ones are at most `error`, or nil.
local function fixed(errors, error)
  local best
  for k = #errors, 1, -1 do
    if errors[k][1] > error then return best end
    best = errors[k][2]
  end
  return best
end

local rows = {}
for _, name in ipairs(names) do
  local reference = run(name, { rtol = 1e-6 })
  local _, S = given.models[name](0.5)
  local errors = {}
  for k = 0, 18 do
    local x, problems = run(name, nil, S / 2 ^ k)
    errors[#errors + 1] = { difference(x, reference), problems }
    if problems > 2e5 then break end
  end
  for _, rtol in ipairs { 1e-2, 1e-3, 1e-4 } do
    local x, problems = run(name, { rtol = rtol })
    local error = difference(x, reference)
    local same = fixed(errors, error)
    local sign, others = same and "" or "> ", same or errors[#errors][2]
    rows[#rows + 1] = { rtol == 1e-2 and name or "", ("%.0e"):format(rtol), ("%.1e"):format(error),
      ("%d"):format(problems), ("%s%d"):format(sign, others), ("%s%.2g"):format(sign, others / problems) }
  end
end
common.table("One-step problems", { "", "rtol", "error", "adaptive", "one length, same error", "ratio" }, rows)
