-- nslua.dynamics.orbit_kind: the kinds of periodic orbits. The period of a forced one is given. The period of an
-- autonomous one is the last unknown (`free`), and a condition fixes its phase. A map goes from an event, its
-- section, to the next one (`returns`), whose time is the period.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"

local kinds = { forced = { given = true }, autonomous = { free = true }, map = { returns = true } }

-- At most so many periods of a transient.
local PERIODS = 1e6

-- ---- the kind of a problem ----

-- The kind that options of ns.dynamics.periodic ask for.
function kinds.of(options, who)
  if options.section ~= nil then
    return flows.section(options.section, who, true).name and kinds.map or kinds.autonomous
  end
  if options.autonomous then return kinds.autonomous end
  if options.period == nil then
    arguments.fail("%s: expected period =, section =, or autonomous = true with a guess of the period", who)
  end
  return kinds.forced
end

-- The state after the transient: whole periods where the period is given.
function kinds.autonomous.settle(q, x, p) return q.flow:run(x, q.flow.t0, q.flow.t0 + q.transient, p).x end

kinds.map.settle = kinds.autonomous.settle

function kinds.forced.settle(q, x, p)
  if q.transient / q.T > PERIODS then
    arguments.fail("%s: transient: expected at most %g periods of %g, got %g", q.who, PERIODS, q.T, q.transient)
  end
  for _ = 1, math.ceil(q.transient / q.T) do x = q.flow:run(x, q.flow.t0, q.flow.t0 + q.T, p).x end
  return x
end

-- ---- the guess ----

-- A motion whose first return takes less than this part of the second one began on the section: a start right after
-- the event, or a transient that ended there, up to rounding.
local BEGAN_THERE = 2 ^ -20

-- The duration of the return when x, whose first crossing is at the time t, is on the section of a map; else nil.
local function return_from(q, x, t, p)
  local good, two = pcall(q.flow.crossings, q.flow, x, q.flow.t0, flows.counted(q.section, 2), p)
  return good and t - q.flow.t0 < BEGAN_THERE * (two[2].t - t) and two[2].t - t or nil
end

-- Fills in the guess of the period, and moves the guess of the start to the section where there is one.
function kinds.forced.begin() end

-- The first return to the section gives both.
function kinds.autonomous.begin(q, x, p)
  if not q.section then return end
  q.section.span = q.T
  local first = q.flow:crossings(x, q.flow.t0, flows.counted(q.section, 1), p)
  local start = first[1].x
  local two = q.flow:crossings(start, q.flow.t0, flows.counted(q.section, 2), p)
  local T = two[1].t - q.flow.t0
  if T < BEGAN_THERE * (two[2].t - q.flow.t0) then T = two[2].t - q.flow.t0 end
  q.guess, q.T = start, T
end

function kinds.map.begin(q, x, p)
  local flow = q.flow
  local list = flow:crossings(x, flow.t0, q.section, p)
  local there = return_from(q, x, list[1].t, p)
  if there or q.section.count > 1 or q.symmetry then -- a start that is not on the section is far from the orbit
    x = list[#list].x
    q.section.span = there or list[#list].t - flow.t0
    q.guess, list = x, flow:crossings(x, flow.t0, q.section, p)
  end
  local first = list[#list].t - flow.t0
  q.T = first / kinds.part_of(q)
  q.section.span = first * 1.5
end

-- ---- the phase ----

-- Fixes the phase at the orbit's start x: a section, or the plane through x that is orthogonal to the motion.
function kinds.set_phase(q, x, p)
  if not q.kind.free then return end
  local section = q.section
  if section then
    local t0 = q.flow.t0
    q.phase = function(y)
      local slope
      local good = pcall(function() slope = core.gradient(function(z) return section.g(t0, z) end, y) end)
      if not good then
        slope = flows.by_states(function(z) return core.vector { section.g(t0, z) }, {} end, y, q.sizes, ""):row(1)
      end
      return section.g(t0, y), slope
    end
    return
  end
  local rate = q.flow:field(q.flow.t0, x, p)
  local normal = rate:div(q.sizes):div(q.sizes)
  q.phase = function(y) return normal:dot(y - x), normal end
end

-- The same at another start: the plane moves along, a section stays.
function kinds.renew_phase(q, x, p)
  if not q.section then kinds.set_phase(q, x, p) end
end

-- Adds the condition of the phase to the equations F, if there is one; its derivative by the start is a row of J.
function kinds.add_phase(q, x, F)
  if not q.kind.free then return end
  local value, slope = q.phase(x)
  F[#F + 1] = value / slope:mul(q.sizes):norm()
end

function kinds.put_phase(q, x, row)
  if not q.kind.free then return end
  local _, slope = q.phase(x)
  local size = slope:mul(q.sizes):norm()
  for b, k in ipairs(q.keep) do row[b] = slope[k] * q.sizes[k] / size end
end

-- ---- the period ----

-- Adds the unknown of the period T, if it is one, to a list; what unknown k is, or nil.
function kinds.add_period(q, u, T)
  if q.kind.free then u[#u + 1] = T / q.T_size end
end

function kinds.period_at(q, u, k) return q.kind.free and u[k] * q.T_size or nil end

-- The part of the period that is run: all of it, or half where a symmetry gives the rest.
function kinds.part_of(q) return q.symmetry and 1 / 2 or 1 end

-- Start and end of segment i of the time `span`; an autonomous motion may always start at t0.
function kinds.times(q, i, span)
  local t0, m = q.flow.t0, q.segments
  if q.kind.free then return t0, t0 + span / m end
  return t0 + (i - 1) / m * span, t0 + i / m * span
end

-- By how much the times of segment i are too early then.
function kinds.shift(q, i, T) return q.kind.free and (i - 1) / q.segments * kinds.part_of(q) * T or 0 end

-- The return map of a section that is an event.
function kinds.step_map(q, x, p)
  local list = q.flow:crossings(x, q.flow.t0, q.section, p)
  local last = list[#list]
  return { x = last.x, t = last.t, events = list.events }
end

-- The second half of a symmetric orbit, from x, as a run, and by how much its times are too early.
function kinds.forced.second_half(q, x, T, p) return q.flow:run(x, q.flow.t0 + T / 2, q.flow.t0 + T, p), 0 end

function kinds.autonomous.second_half(q, x, T, p) return q.flow:run(x, q.flow.t0, q.flow.t0 + T / 2, p), T / 2 end

function kinds.map.second_half(q, x, T, p) return kinds.step_map(q, x, p), T / 2 end

return kinds
