-- nslua.sweep.on_here: the back end "here": the tasks one after the other in this process, for debugging and for
-- tasks that take less than a message. No timeout, no limit of memory, and a crash is one of the script.
local core = require "nslua.core"
local record = require "nslua.sweep.record"
local worker = require "nslua.sweep.worker"

local support = core.worker_support

local Session = {}
Session.__index = Session

local function perform(self, k)
  local attempt, bytes, kind = 0
  repeat
    attempt = attempt + 1
    bytes = worker.perform(self.sweep.plan, self.model, k, attempt)
    kind = select(2, record.task(bytes))
  until kind == "D" or attempt > self.sweep.options.retries
  self.sweep.done:add(k)
  self.sweep.store:append(bytes)
  if kind == "F" then self.failed = self.failed + 1 end
end

function Session:advance(seconds)
  local sweep, start = self.sweep, support.clock()
  while self.at <= sweep.last and support.clock() - start < seconds and not support.signalled() do
    if not sweep.done:has(self.at) then perform(self, self.at) end
    self.at = self.at + 1
  end
  local good, message = sweep.store:sync()
  if not good then return nil, message, "problem" end
  local signal = support.signalled()
  if signal then return nil, signal, signal end
  return self.at > sweep.last
end

function Session:close() self.model = nil end

function Session:status()
  return { done = self.sweep.done.count, failed = self.failed, running = 0, workers = 0 }
end

local on_here = { name = "here" }

function on_here.start(sweep)
  local model, problem = worker.prepare(sweep.plan)
  if problem then error("setup: " .. problem, 0) end
  return setmetatable({ sweep = sweep, model = model, at = sweep.first, failed = sweep.failed }, Session)
end

return on_here
