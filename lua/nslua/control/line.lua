-- nslua.control.line: delays of sampled numbers, by a queue that is a discrete state.
--
-- A delay is d = k period + rest: the numbers wait for k samples, and what is left is an offset between two clocks.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"

local reject = arguments.reject

local line = {}

-- A rest below this part of the period is none: the period and the delay are decimal numbers.
local ROUNDING = 2 ^ -40

-- The number of whole periods in a delay, and the rest.
function line.split(delay, period, who)
  delay = delay or 0
  reject(not (arguments.number(delay, who, "delay") >= 0 and delay < math.huge), delay,
    "%s: delay: expected a number of 0 or more", who)
  local k = math.floor(delay / period + ROUNDING)
  local rest = delay - k * period
  return k, rest > ROUNDING * period and rest or 0
end

-- The queue for k periods, filled with a vector.
function line.new(k, v)
  local queue, n = core.zeros((k + 1) * #v), #v
  for i = 1, #queue do queue[i] = v[(i - 1) % n + 1] end
  return queue
end

-- Takes a vector in; the oldest one leaves.
function line.push(queue, v)
  local n = #v
  for i = 1, #queue - n do queue[i] = queue[i + n] end
  for i = 1, n do queue[#queue - n + i] = v[i] end
end

-- The oldest vector of n numbers.
function line.last(queue, n) return queue:slice(1, n):copy() end

return line
