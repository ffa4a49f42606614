-- nslua.dynamics.slope: how a periodic orbit moves with the parameter, by the implicit function theorem.
--
-- The equations F(u, p) = 0 of shooting have dF/du du/dp = -dF/dp, u: the states and the period.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local kinds = require "nslua.dynamics.orbit_kind"

local fail = arguments.fail
local who = "orbit:slope"

-- The size of the parameter, for differences.
local function size_of(options, p)
  if options.size ~= nil then return arguments.positive(options.size, who, "size") end
  return p ~= 0 and math.abs(p) or 1
end

-- f() with the condition of the phase at the orbit's own start.
local function at_own_phase(q, orbit, f)
  local before = q.phase
  kinds.renew_phase(q, orbit.x0, orbit.parameter)
  local good, result = pcall(f)
  q.phase = before
  if not good then error(result, 0) end
  return result
end

-- d u / d p, scaled by the sizes of the unknowns.
local function solve(orbits, q, orbit, size)
  local p = orbit.parameter
  local u = orbits.pack(q, orbits.nodes_from(q, orbit.x0, orbit.T, p), orbit.T)
  local _, jacobian, state = orbits.evaluate(q, u, p)
  local J = jacobian()
  local column, exact = orbits.by_parameter(q, u, p, size, state)
  return core.solve(J, column * -1), exact and not state.reason
end

-- dT/dp of an orbit whose period is the time of an event: the whole derivative, by a difference.
local function period_of_map(q, orbit, slope, size)
  local p, x0, flow = orbit.parameter, orbit.x0, q.flow
  local function time(value)
    local list = flow:crossings(x0 + (value - p) * slope, flow.t0, q.section, value)
    return core.vector { list[#list].t - flow.t0 }, list.events
  end
  local _, events = time(p)
  return flows.by_number(time, p, size, flows.signature(events))[1]
end

-- dT/dp of a given period.
local function period_of_function(q, p, size)
  local T = q.period(p)
  if q.period(p + size) == T and q.period(p - size) == T then return 0.0 end
  local function at(value) return core.vector { q.period(value) }, {} end
  return flows.by_number(at, p, size, flows.signature {})[1]
end

-- orbit:slope; orbits: the module nslua.dynamics.orbit, which needs this file.
return function(orbits, orbit, options)
  options = arguments.options(options or {}, who)
  local q, p = orbit.problem, rawget(orbit, "parameter")
  if type(p) ~= "number" then
    fail("%s: the orbit has no parameter: args =, value = or parameter = of the model gives it one", who)
  end
  local size = size_of(options, p)
  return at_own_phase(q, orbit, function()
    local du, exact = solve(orbits, q, orbit, size)
    local x = core.zeros(#orbit.x0)
    for k, j in ipairs(q.keep) do x[j] = du[k] * q.sizes[j] end
    local T
    if q.kind.free then T = du[#du] * q.T_size
    elseif q.kind.returns then T = period_of_map(q, orbit, x, size)
    else T = period_of_function(q, p, size) end
    return { x0 = x, T = T, derivative = exact and "exact" or "differences" }
  end)
end
