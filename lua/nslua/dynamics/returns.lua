-- nslua.dynamics.returns: the points at which a motion comes back: at a section, or once in each period at a phase.
--
-- A period of a forced model begins at tp = t0 + phase * T. Each point is the state at tp of the motion that began at
-- tp with the point before: the forces have the period T, so that a simulation need not be longer than t0 + 2 T.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"

local fail = arguments.fail

local returns = {}

-- What the options say: { section = } or { period = f(p), phase = }.
function returns.new(options, who, flow)
  if (options.period == nil) == (options.section == nil) then
    fail("%s: expected period = or section =, got %s", who, options.period == nil and "neither" or "both")
  end
  if options.section ~= nil then
    if options.phase ~= nil then fail("%s: phase: it goes with period =, not with section =", who) end
    return { section = flows.section(options.section, who) }
  end
  local phase = options.phase == nil and 0 or arguments.number(options.phase, who, "phase")
  if not (phase >= 0 and phase < 1) then
    fail("%s: phase: expected a part of the period, at least 0 and below 1, got %g", who, phase)
  end
  return { period = flows.period(options.period, who, flow), phase = phase }
end

-- The time at which periods begin.
local function begin_of(flow, back, T) return back.phase == 0 and flow.t0 or flow.t0 + back.phase * T end

local function at_periods(flow, back, x, p, skip, count)
  local T = back.period(p)
  local tp, list = begin_of(flow, back, T), {}
  local late = tp > flow.t0
  for j = 1, skip + count do
    if late and j == 1 then x = flow:run(x, flow.t0, tp, p).x else x = flow:run(x, tp, tp + T, p).x end
    if j > skip then list[#list + 1] = { x = x, t = tp + (late and j - 1 or j) * T } end
  end
  return list
end

-- The points after the first `skip` ones of the motion that begins at x, as a list of { x, t }.
function returns.points(flow, back, x, p, skip, count)
  if back.period then return at_periods(flow, back, x, p, skip, count) end
  local list, kept = flow:crossings(x, flow.t0, flows.counted(back.section, skip + count), p), {}
  for k = 1, count do kept[k] = list[skip + k] end
  return kept
end

-- The next point from x at the time t (default: where periods begin, or t0): the point, and the time that it takes.
function returns.next(flow, back, x, p, t, span)
  if back.period then
    local T = back.period(p)
    t = t or begin_of(flow, back, T)
    return flow:run(x, t, t + T, p).x, T
  end
  t = t or flow.t0
  local section = flows.counted(back.section, 1)
  section.span = span
  local first = flow:crossings(x, t, section, p)[1]
  return first.x, first.t - t
end

-- The derivative of the next point by x, the derivative of its time, and why they are not exact.
function returns.derivative(flow, back, x, p, t, span, sizes)
  if back.period then
    local T = back.period(p)
    t = t or begin_of(flow, back, T)
    local S, _, _, reason = flow:derivative(x, t, t + T, p, sizes)
    return S, core.zeros(#x), reason
  end
  local section = flows.counted(back.section, 1)
  section.span = span
  local S, _, reason, dt = flow:section_derivative(x, section, p, sizes, t)
  return S, dt, reason
end

return returns
