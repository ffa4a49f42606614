-- nslua.sweep.spread: independent calculations of one call of nslua, done by the workers of a sweep.
--
--   local lists, messages = spread.each({ workers = 2 }, 10, function(k) return { k, k ^ 2 } end, "fit")
-- lists[k] is what the function returned for k, a list of numbers; or false, and messages[k] tells why.
local arguments = require "nslua.base.arguments"
local record = require "nslua.sweep.record"
local sweeps = require "nslua.sweep"
local where = require "nslua.base.where"

local fail = arguments.fail

local spread = {}

-- Whether the options ask for workers.
function spread.is_wanted(options) return options.workers ~= nil or options.on ~= nil end

-- The text of an error without its traceback.
function spread.reason(problem) return where.without_trace(tostring(problem)) end

-- Calls run in this process from k = 1 on, up to the first call that is good (most "one"), or to the last one
-- ("all"). Returns the last k.
local function call_here(lists, messages, count, run, most)
  for k = 1, count do
    local good, result = where.try(run, k)
    lists[k] = good and result
    if not good then messages[k] = spread.reason(result) end
    if good and most == "one" then return k end
  end
  return count
end

-- Calls run(k) for k from 1 to count. options: workers, on and progress as ns.sweep has them; without the first two
-- all is done in this process. The first good call is always done in this process, before the others: it may set what
-- all of them share, such as tolerances. Apart from that run must not depend on calls before.
function spread.each(options, count, run, who)
  if options.workers ~= nil and options.workers ~= "auto" then
    arguments.integer(options.workers, 1, who, "workers")
  end
  local numbers, lists, messages = {}, {}, {}
  local is_wanted = spread.is_wanted(options)
  local last = call_here(lists, messages, count, run, is_wanted and "one" or "all")
  for k = last + 1, count do numbers[k - last] = { k = k } end
  if last == count then return lists, messages end
  local good, sweep = where.try(sweeps.sweep, { parameters = numbers, workers = options.workers,
    on = options.on, progress = options.progress, run = function(p) return { list = run(p.k) } end })
  if not good then fail("%s: %s", who, (tostring(sweep):gsub("^.-sweep: ", "", 1))) end
  for _, bytes in ipairs(sweep.records) do
    local one = record.read(bytes)
    local k = last + one.task
    lists[k], messages[k] = not one.error and one.columns[1][2], one.error
  end
  return lists, messages
end

return spread
