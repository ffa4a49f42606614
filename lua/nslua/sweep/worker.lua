-- nslua.sweep.worker: what a worker does: the model once, then one task after the other, each to a record.
--
-- A plan is what a task needs: run, setup, tasks, seed, memory, checkpoints (a folder), taken (names of columns).
-- Messages from the driver: the first task, how many in a row, which attempt, and the tasks' places in the order.
-- Messages to the driver: "Q" and a number (the script runs anew and asks for the records of that sweep, one before
-- its own, which has no file; the answer is all of them, or nothing), "B" (setup begins), "R" (ready), "S" and a text
-- (setup failed), records.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local record = require "nslua.sweep.record"
local settings = require "nslua.sweep.settings"
local where = require "nslua.base.where"

local support = core.worker_support

local worker = {}

-- The frames of the user's code: the worker's own are cut off, so that the text is the same everywhere.
local function trimmed(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    if line:find("sweep/worker.lua:", 1, true) then break end
    lines[#lines + 1] = line
  end
  if lines[#lines] and lines[#lines]:find "%[C%]: in function 'xpcall'" then lines[#lines] = nil end
  return table.concat(lines, "\n")
end

local function explain(problem)
  local message = problem
  if type(problem) == "table" and not (getmetatable(problem) or {}).__tostring then
    message = "the error is a table without a text"
  elseif problem == nil then
    message = "the error is nil"
  end
  return { where.without_trace(tostring(message)), trimmed(debug.traceback("", 2):gsub("^%s+", "")) }
end

-- Calls f; its result, or nil and { message, traceback }.
local function attempt(f, ...)
  local good, result = xpcall(f, explain, ...)
  if good then return result end
  return nil, type(result) == "table" and result or { tostring(result), "" } -- Lua had no memory for the handler
end

local Task = {}

function Task:__index(key)
  if key == "rng" then
    self.rng = core.rng(self.seed, self.index)
    return self.rng
  end
  if key == "checkpoint" and self.folder then
    self.checkpoint = ("%s/task-%d"):format(self.folder, self.index)
    return self.checkpoint
  end
end

-- Brings the model back to its start, when it knows how to.
local function reset(model)
  if arguments.is_simulation(model) then return model:reset() end
  if type(model) == "table" and type(model.reset) == "function" then return model:reset() end
end

-- Calls f as xpcall would, with the numbers of math.random from a stream of the plan; the script's numbers go on
-- after it.
local function seeded(plan, stream, f, ...)
  local after = math.random(0)
  math.randomseed(plan.seed, stream)
  local result, problem = settings.in_task(attempt, f, ...)
  math.randomseed(after)
  return result, problem
end

local function call_run(plan, model, task)
  reset(model)
  local result = plan.run(plan.tasks:row(task.index), task) -- no tail call: this frame ends the user's code
  return result
end

-- Makes the model. Returns it, or nil and a message.
function worker.prepare(plan)
  if not plan.setup then return nil end
  local model, problem = seeded(plan, 0, plan.setup)
  return model, problem and problem[1]
end

-- Does one task and returns its record.
function worker.perform(plan, model, index, number)
  local task = setmetatable({ index = index, count = plan.tasks.count, attempt = number, seed = plan.seed,
    model = model, folder = plan.checkpoints }, Task)
  local result, problem = seeded(plan, index, call_run, plan, model, task)
  if not problem then
    local good, bytes, message = pcall(record.done, index, result, plan.taken)
    if good and bytes then return bytes, rawget(task, "checkpoint") end
    problem = { tostring(message or bytes), "" }
  end
  if problem[1]:find("not enough memory", 1, true) then collectgarbage() end
  return record.failed(index, problem[1], problem[2]), nil
end

local function serve(driver, plan)
  support.busy(true)
  local good, message = true, nil
  if plan.memory then good, message = support.limit(plan.memory) end
  local model, problem
  if plan.setup then driver:send "B" end
  if good then model, problem = worker.prepare(plan) end
  support.busy(false)
  if support.stopping() then support.leave(0) end
  if message or problem then
    driver:send("S" .. (message or "setup: " .. problem))
    support.leave(1)
  end
  driver:send "R"
  while true do
    io.stdout:flush()
    local order = driver:receive()
    if not order or support.stopping() then support.leave(0) end
    local number, at = string.unpack("<I4", order)
    while at <= #order do
      local first, last
      first, last, at = string.unpack("<I8I8", order, at)
      for index = first, last do
        support.busy(true)
        local bytes, checkpoint = worker.perform(plan, model, index, number)
        support.busy(false)
        if support.stopping() then support.leave(0) end
        if checkpoint then
          os.remove(checkpoint)
          os.remove(checkpoint .. ".previous")
        end
        if not driver:send(bytes) then support.leave(0) end
      end
    end
  end
end

-- Serves a driver to the end of the process; it does not return.
function worker.serve(driver, plan) support.serve(serve, driver, plan) end

return worker
