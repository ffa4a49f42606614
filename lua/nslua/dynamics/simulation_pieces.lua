-- nslua.dynamics.simulation_pieces: the smooth pieces of a simulation of mechanics whose events are impacts.
--
-- Between impacts q' = v, M v' = f(t, q, v), the equations of the systems without any contact; they go on behind a
-- wall. A guard is the gap y(t, q) of an interaction, and the reset is Newton's impact law without friction,
--   v+ = v- - (1 + e) M^-1 C' (C v- + dy/dt) / (C M^-1 C'),   C = dy/dq,
-- whatever the sign of the gap's rate is. So equations for a fixed sequence of impacts are smooth where one of them
-- grazes (nslua.dynamics.sequence).
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local rates = require "nslua.dynamics.simulation_rate"
local simulation = require "nslua.dynamics.simulation_flow"

local pieces = {}

-- Why derivatives of these pieces are not exact.
pieces.reason = "a fixed sequence of impacts of a simulation"

-- Tolerances of runs: rtol, and atol as a part of the size of a state, as those of an ODE.
local RTOL, ATOL = 1e-12, 2 ^ -44

-- ---- the model ----

local function graph(flow, p) return simulation.model(flow, p).simu:nsds() end

local function no_forces(nsds)
  local rows = 0
  for k = 1, nsds:numberOfInteractions() do rows = rows + nsds:interaction(k):dimension() end
  return core.zeros(rows)
end

-- The terms of systems and interactions at (t, x) without forces of contacts.
local function terms_at(flow, t, x, p)
  local nsds = graph(flow, p)
  return core.graph_support.terms(nsds, t, x, no_forces(nsds))
end

local function is_impact(nsds, k, interaction)
  local group = interaction.groups[1]
  local one_row = #interaction.groups == 1 and group.dim == 1
  if not one_row or group.lower ~= 0 or not interaction.unilateral then return false end
  local law = nsds:interaction(k):nonSmoothLaw()
  return pcall(function() return law:en() + 0 end)
end

-- Whether all interactions of the model are impacts without friction, and all events of an orbit are such impacts.
function pieces.fit(flow, orbit, p)
  local systems, interactions = terms_at(flow, flow.t0, orbit.x0, p)
  for _, system in ipairs(systems) do
    if not system.mechanical or system.turns or system.bound then return false end
  end
  local nsds = graph(flow, p)
  for k, interaction in ipairs(interactions) do
    if not is_impact(nsds, k, interaction) then return false end
  end
  for _, event in ipairs(orbit.events) do
    if event.kind ~= "impact" then return false end
  end
  return true
end

-- The impact of an event of an orbit.
function pieces.event(flow, one, p)
  local nsds = graph(flow, p)
  for k = 1, nsds:numberOfInteractions() do
    if nsds:interaction(k):name() == one.name then
      return { name = one.name, label = one.label, kind = "impact", direction = -1, place = k }
    end
  end
end

-- ---- smooth motion ----

function pieces.field(flow, t, x, p)
  local nsds = graph(flow, p)
  local rate, reason = rates.at(nsds, t, x, no_forces(nsds))
  return rate or error(reason, 0)
end

local function options_of(flow)
  return { method = "DOP853", rtol = RTOL, atol = flow.piece_sizes * ATOL }
end

local function run(flow, x, ta, tb, p, options)
  local sol = core.solve_ivp(function(t, y) return pieces.field(flow, t, y, p) end, { ta, tb }, x, options)
  if not sol.success then error(sol.message, 0) end
  return sol
end

function pieces.smooth(flow, x, ta, tb, p)
  local options = options_of(flow)
  options.t_eval = { tb }
  return run(flow, x, ta, tb, p, options).y:column(1)
end

-- The derivatives of f(x) and f(x, p) by differences of order 4.
local function by_states(flow, f, x)
  return flows.by_states(function(y) return f(y), {} end, x, flow.piece_sizes, "")
end

local function by_parameter(flow, f, p)
  return flows.by_number(function(value) return f(value), {} end, p, flow.parameter_size, "")
end

function pieces.smooth_derivatives(flow, x, ta, tb, p)
  return by_states(flow, function(y) return pieces.smooth(flow, y, ta, tb, p) end, x),
    by_parameter(flow, function(value) return pieces.smooth(flow, x, ta, tb, value) end, p)
end

-- The impacts on the way: a list of { t, label }.
function pieces.roots(flow, x, ta, tb, p)
  local nsds, watched, list = graph(flow, p), {}, {}
  for k = 1, nsds:numberOfInteractions() do
    local event = { place = k }
    watched[k] = { g = function(t, y) return pieces.guard(flow, event, t, y, p) end, direction = -1 }
  end
  local options = options_of(flow)
  options.events = watched
  local sol = run(flow, x, ta, tb, p, options)
  for k = 1, #watched do
    local label = nsds:interaction(k):name() .. ":impact"
    for i = 1, #sol.t_events[k] do list[#list + 1] = { t = sol.t_events[k][i], label = label } end
  end
  return list
end

-- ---- impacts ----

function pieces.guard(flow, event, t, x, p)
  local _, interactions = terms_at(flow, t, x, p)
  return interactions[event.place].y[1]
end

-- Where the coordinates of each system begin in the states, and their number.
local function places(systems)
  local first, at = {}, 0
  for k, system in ipairs(systems) do
    first[k] = at
    at = at + 2 * #system.f
  end
  return first
end

function pieces.guard_derivatives(flow, event, t, x, p)
  local systems, interactions = terms_at(flow, t, x, p)
  local contact, first, column = interactions[event.place], places(systems), 0
  local by_x = core.zeros(#x)
  for _, k in ipairs(contact.systems) do
    for i = 1, #systems[k].f do by_x[first[k] + i] = contact.C[1][column + i] end
    column = column + #systems[k].f
  end
  local by_p = by_parameter(flow, function(value)
    return core.vector { pieces.guard(flow, event, t, x, value) }
  end, p)
  return { x = by_x, t = contact.rate[1], p = by_p[1] }
end

function pieces.reset(flow, event, t, x, p)
  local systems, interactions = terms_at(flow, t, x, p)
  local contact, first, column = interactions[event.place], places(systems), 0
  local e = graph(flow, p):interaction(event.place):nonSmoothLaw():en()
  local moves, approach, compliance = {}, contact.rate[1], 0
  for i, k in ipairs(contact.systems) do
    local n = #systems[k].f
    local normal = core.zeros(n)
    for j = 1, n do normal[j] = contact.C[1][column + j] end
    column = column + n
    local from = first[k] + n
    moves[i] = { from = from, by = core.solve(systems[k].M, normal) }
    approach = approach + normal:dot(x:slice(from + 1, from + n))
    compliance = compliance + normal:dot(moves[i].by)
  end
  local impulse, after = -(1 + e) * approach / compliance, x:copy()
  for _, move in ipairs(moves) do
    for j = 1, #move.by do after[move.from + j] = after[move.from + j] + impulse * move.by[j] end
  end
  return after
end

function pieces.reset_derivatives(flow, event, t, x, p)
  return {
    x = by_states(flow, function(y) return pieces.reset(flow, event, t, y, p) end, x),
    t = flows.by_number(function(time) return pieces.reset(flow, event, time, x, p), {} end, t, flow.span, ""),
    p = by_parameter(flow, function(value) return pieces.reset(flow, event, t, x, value) end, p),
  }
end

return pieces
