-- nslua.sweep.progress: how far a sweep is, on the error output: a bar on a terminal, a line a minute elsewhere.
local core = require "nslua.core"

local support = core.worker_support
local format = core.number_support.format

local progress = {}

local BAR = 24 -- characters
local REFRESH = { bar = 0.2, log = 60 } -- seconds between two of them

local function time_text(seconds)
  if seconds ~= seconds or seconds == math.huge then return "?" end
  if seconds < 60 then return format("%.0f s", seconds) end
  if seconds < 3600 then return format("%.0f min", seconds / 60) end
  return format("%.1f h", seconds / 3600)
end

-- The line about a status: "420 of 1000 tasks, 35/s, 17 s to go, 3 failed".
function progress.line(s)
  local rate = s.rate >= 10 and format("%.0f/s", s.rate) or s.rate >= 0.1 and format("%.1f/s", s.rate)
    or format("%.0f/h", 3600 * s.rate)
  return ("%d of %d tasks, %s, %s to go, %d failed"):format(s.done, s.total, rate, time_text(s.eta), s.failed)
end

local function bar(s)
  local full = s.total > 0 and BAR * s.done // s.total or BAR
  return "\r[" .. ("#"):rep(full) .. ("-"):rep(BAR - full) .. "] " .. progress.line(s) .. "\27[K"
end

-- Returns show(status, is_last). how: true, false, nil (on a terminal only) or a function that gets each status.
function progress.of(how)
  if type(how) == "function" then
    local shown = -math.huge
    return function(status, is_last)
      local now = support.clock()
      if is_last or now - shown >= REFRESH.bar then
        shown = now
        how(status)
      end
    end
  end
  local terminal = support.terminal()
  if how == false or how == nil and not terminal then return function() end end
  local shown, any = support.clock(), false
  return function(status, is_last)
    local now = support.clock()
    local due = now - shown >= (terminal and REFRESH.bar or REFRESH.log)
    if not due and not (is_last and (any or not terminal)) then return end
    shown, any = now, true
    io.stderr:write(terminal and bar(status) or "sweep: " .. progress.line(status) .. "\n",
      terminal and is_last and "\n" or "")
    io.stderr:flush()
  end
end

return progress
