-- nslua.dynamics.sampled_slope: derivatives of runs through the instants of clocks.
--
-- The numbers d that actions write are held between instants t_1, t_2, ...: with X = dx / dp and D = dd / dp
--   between   X' = f_x X + f_d D + f_p,       D' = 0
--   at t_k    D+ = a_x X + a_d D + a_p,       a(x, d, p): the map of an action at that instant.
-- The engine carries dx / dp, and dx / dd since the last instant (integrators/sensitivity.h). a_x, a_d and a_p are
-- by dual numbers (nslua.dynamics.action_dual), or differences of order 4 of the action, which is called at
-- neighbouring points with the same random numbers.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local new_action = require "nslua.dynamics.action_dual"

local fail = arguments.fail
local support = core.discrete_support

local slope = {}

-- A difference whose orders differ by more than this part is one across a kink or a jump.
local KINK = 2 ^ -10
-- A number that moves all values by less than this part of their sizes, when it moves by its own, may have another
-- size.
local FAINT = 2 ^ -30
-- The step of second differences, as a part of a size: they are 2^-20 of the curvature of a smooth action.
local NEAR = 2 ^ -20

local function systems_of(simu)
  local nsds, list = simu:nsds(), {}
  for i = 1, nsds:numberOfDynamicalSystems() do list[i] = nsds:dynamicalSystem(i) end
  return list
end

local function states_of(systems)
  local list = {}
  for i, ds in ipairs(systems) do list[i] = ds:x():copy() end
  return core.concatenate(list)
end

-- The derivative of change(s), which is 0 at s = 0, by a number of this size, whether it is known, and its effect.
-- of: the sizes of its values. Second differences that are proportional to the step tell of a kink.
local function column_of(change, size, of)
  local flows = require "nslua.dynamics.flow" -- it requires this module
  local function moved(v) return change(v[1]), {} end
  local a, unknown = flows.by_states(moved, core.vector { 0 }, { size }, nil, of)
  local bend, most = change(NEAR * size) + change(-NEAR * size), 0
  for j = 1, #of do
    if math.abs(bend[j]) > KINK * NEAR * of[j] then unknown = 1 end
    most = math.max(most, math.abs(a[j][1]) * size / of[j])
  end
  return a, unknown <= KINK, most
end

-- Adds 1 to all outputs and multipliers; returns a function that puts them back.
local function disturb(nsds)
  local undo = {}
  for i = 1, nsds:numberOfInteractions() do
    local interaction = nsds:interaction(i)
    for _, name in ipairs { "y", "lambda" } do
      for level = 0, 2 do
        local good, view = pcall(interaction[name], interaction, level)
        if good then
          undo[#undo + 1] = { view, view:copy() }
          view:assign(view + 1)
        end
      end
    end
  end
  return function()
    for i = #undo, 1, -1 do undo[i][1]:assign(undo[i][2]) end
  end
end

-- The derivatives of a run of the simulation go through the actions of its clocks, until there are none; places nil:
-- no more. sizes: of states and places, 0: their own; held: D at the start; fixed: a set of numbers of places that
-- actions do not change, as far as derivatives go. Returns a table with D so far.
function slope.carry(simu, places, sizes, held, fixed)
  if not places then return support.vary(simu, nil) end
  local systems, at, numbers, action = systems_of(simu), { held = held }, nil, nil
  local nd = #places

  local function put(all, nx)
    local first = 0
    for _, ds in ipairs(systems) do
      ds:setX(all:slice(first + 1, first + #ds:x()))
      first = first + #ds:x()
    end
    support.put(simu, places, all:slice(nx + 1, nx + nd))
    for k, j in ipairs(numbers) do support.parameter(simu, j, all[nx + nd + k]) end
  end

  -- The derivative of the action by (x, d, p), at the point `all`.
  local function derivative(act, t, s, name, all, nx)
    local own, draws = core.zeros(#all), support.draws(simu)
    local function after(point)
      put(point, nx)
      support.draws(simu, draws)
      act(t, s, simu)
      if states_of(systems) ~= point:slice(1, nx) then
        fail("sensitivities: the action of clock '%s' changes states at t=%.10g: derivatives are known through "
          .. "what it writes into discrete states, z, coefficients and laws", name, t)
      end
      return support.get(simu, places)
    end
    local base, put_back = after(all), nil
    support.draws(simu, draws)
    local a = action:slopes(act, t, s, name, all, base, function()
      put(all:map(function(x) return x + 1.37 * math.abs(x) + 0.731 end), nx)
      put_back = disturb(simu:nsds())
    end)
    if put_back then put_back() end
    if a then
      put(all, nx)
      support.draws(simu, draws)
      return a
    end
    a = core.zeros(nd, #all)
    for i = 1, #all do
      own[i] = math.max(math.abs(all[i]), sizes and i <= #sizes and sizes[i] or 0)
      if own[i] == 0 then own[i] = 1 end
    end
    local of = own:slice(nx + 1, nx + nd)
    for i = 1, #all do
      local function change(by)
        local point = all:copy()
        point[i] = point[i] + by
        return after(point) - base
      end
      local one, good, most = column_of(change, own[i], of)
      if (most < FAINT or not good) and own[i] < 1 then -- numbers at rest are as small as rounding has left them
        local other, known = column_of(change, 1, not good and of:map(function(x) return math.max(x, 1) end) or of)
        if known then one, good = other, true end
      end
      if not good then
        fail("sensitivities: the action of clock '%s' has no derivative at t=%.10g: it jumps or has a kink there",
          name, t)
      end
      a:column(i):assign(one:column(1))
    end
    put_back = disturb(simu:nsds())
    local other = after(all)
    put_back()
    if other ~= base then
      fail("sensitivities: the action of clock '%s' reads outputs or multipliers of interactions, whose "
        .. "derivatives it does not get: let it compute them from the states", name)
    end
    put(all, nx)
    support.draws(simu, draws)
    return a
  end

  support.vary(simu, function(act, t, s, _, name)
    if not support.carries(simu) then
      support.vary(simu, nil)
      return act(t, s, simu)
    end
    local X, D = support.slopes(simu)
    local nx, p, list = X:rows(), X:cols(), {}
    if not numbers then
      numbers = {}
      for j = 1, p do
        if support.parameter(simu, j) then numbers[#numbers + 1] = j end
      end
      action = new_action(simu, systems, places, p)
    end
    for k, j in ipairs(numbers) do list[k] = support.parameter(simu, j) end
    local all = core.concatenate { states_of(systems), support.get(simu, places), core.vector(list) }
    local a = derivative(act, t, s, name, all, nx)
    act(t, s, simu)
    if support.instant(simu, t, all:slice(nx + 1, nx + nd):copy(), a) then return end
    local before = D
    D = a:slice(1, nd, 1, nx) * X + a:slice(1, nd, nx + 1, nx + nd) * D
    for k, j in ipairs(numbers) do D:column(j):assign(D:column(j) + a:column(nx + nd + k)) end
    for i in pairs(fixed or {}) do D[i] = before[i] end
    at.held = D
    support.carry(simu, D)
  end)
  return at
end

-- The option `sensitivities` of a run with clocks, with what their actions write: this is found by a run of a clone.
function slope.prepare(simu, option)
  if option.places or simu:startingTime() ~= simu:nsds():t0() then return option end
  local clone, most = simu:clone(), {}
  support.vary(clone, function(act, t, s)
    act(t, s, clone)
    local keys = support.places(clone)
    local values = support.get(clone, keys)
    for i, key in ipairs(keys) do most[key] = math.max(most[key] or 0, math.abs(values[i])) end
  end)
  local good, sol = pcall(clone.run, clone, { rows = "grid", progress = false })
  local places, _, other
  if good then places, _, other = support.places(clone) end
  clone:close()
  if not good then error(sol, 0) end
  if other then fail("run: sensitivities: an action changes %s, which has no derivative", other) end
  local sizes = core.zeros(sol.x:cols() + #places)
  for i = 1, #sizes do
    sizes[i] = i <= sol.x:cols() and sol.x:column(i):norm(math.huge) or most[places[i - sol.x:cols()]] or 0
  end
  slope.carry(simu, places, sizes)
  local copy = { places = places, held = core.zeros(#places, 0) }
  for key, value in pairs(option) do copy[key] = value end
  return copy
end

return slope
