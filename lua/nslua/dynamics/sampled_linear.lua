-- nslua.dynamics.sampled_linear: sampled loops at rest, and the linear model of their period map,
--   w(k + 1) = A w(k) + B u(k),   y(k) = C w(k) + D u(k),
-- in deviations from a point; w: the states of the systems, then what actions write (nslua.dynamics.sampled_flow);
-- u is held over the period.
local arguments = require "nslua.base.arguments"
local blocks = require "nslua.base.blocks"
local core = require "nslua.core"
local equilibria = require "nslua.dynamics.equilibrium"
local flows = require "nslua.dynamics.flow"
local linear = require "nslua.dynamics.linear"
local spectrum = require "nslua.dynamics.spectrum"

local fail, describe, expect = arguments.fail, arguments.describe, arguments.expect
local pick = blocks.pick

local sampled = {}

-- The common period of the clocks is sought among so many multiples of the longest one; multiples agree to SAME.
local MULTIPLES, SAME = 1000, 2 ^ -40
-- At rest a state moves by less than this part of its size or scale.
local REST = 1e-9
-- The derivative of a number that is held, by a difference, is 1 up to this.
local ROUNDING = 2 ^ -30
-- A modulus within this distance of 1 counts as 1.
local ON_CIRCLE = 1e-9

-- The simulation of an option table, and its clocks that act.
local function clocks_of(options)
  local simu, list = options.simulation, {}
  if type(simu) == "function" then simu = simu(options.value) end
  if not arguments.is_simulation(simu) then return nil, list end
  for _, event in ipairs(simu:userEvents()) do
    if event.period and event.acts then list[#list + 1] = event end
  end
  return simu, list
end

-- Whether the model of an option table is a simulation with clocks.
function sampled.is(options)
  if type(options) ~= "table" then return false end
  local _, clocks = clocks_of(options)
  return #clocks > 0
end

local function common_period(clocks, who)
  local longest = 0
  for _, clock in ipairs(clocks) do longest = math.max(longest, clock.period) end
  for k = 1, MULTIPLES do
    local good = true
    for _, clock in ipairs(clocks) do
      local count = k * longest / clock.period
      good = good and math.abs(count - math.floor(count + 0.5)) <= SAME * count
    end
    if good then return k * longest end
  end
  fail("%s: simulation: the periods of the clocks '%s' and '%s' have no common multiple up to %g", who,
    clocks[1].name, clocks[2].name, MULTIPLES * longest)
end

-- ---- derivatives ----

-- The flow of an option table and its point, as w, whose systems have the states x.
local function flow_at(options, x, what, who)
  local flow = flows.new({ simulation = options.simulation, value = options.value, guess = x }, who)
  return flow, flows.start(flow, x, what)
end

-- The derivative of the period map by w, and by the parameters of a run.
local function period_map(flow, w, T, value, parameters)
  if flow.check_period then flow.check_period(T, "period") end
  local sizes, _, rows = core.zeros(flow.n), flow:course(w, flow.t0, flow.t0 + T, value)
  for i = 1, flow.n do
    for _, row in ipairs(rows) do sizes[i] = math.max(sizes[i], math.abs(row[i])) end
    if sizes[i] == 0 then sizes[i] = 1 end
  end
  local _, S, by_p = flow.kind.with_sensitivities(flow, w, flow.t0, flow.t0 + T, value, parameters, sizes)
  return S, by_p
end

-- Whether place i of w is a number that no action changes.
local function is_constant(flow, S, i)
  if i <= flow.nx or math.abs(S[i][i] - 1) > ROUNDING then return false end
  for j = 1, flow.n do
    if j ~= i and S[i][j] ~= 0 then return false end
  end
  return true
end

-- ---- equilibria ----

-- The states at which a loop stays, with what its actions write.
function sampled.equilibrium(options)
  local who = "dynamics.equilibrium"
  options = arguments.options(options, who)
  equilibria.kinds(options, who)
  for _, name in ipairs { "all", "t" } do
    if options[name] ~= nil then fail("%s: %s: it is for models without clocks", who, name) end
  end
  local simu, clocks = clocks_of(options)
  local nsds, guess = simu:nsds(), options.guess
  local T = options.period ~= nil and arguments.number(options.period, who, "period") or common_period(clocks, who)
  if guess == nil then
    local start = {}
    for i = 1, nsds:numberOfDynamicalSystems() do start[i] = nsds:dynamicalSystem(i):x0() end
    guess = core.concatenate(start)
  end
  local whole, w = flow_at(options, guess, "guess", who)
  local S, drift, scale = period_map(whole, w, T, options.value, {}), {}, {}
  for i = 1, whole.n do
    if is_constant(whole, S, i) then drift[#drift + 1] = i end
    if i <= whole.nx then scale[i] = w[i] ~= 0 and math.abs(w[i]) or 1 end
  end
  scale = options.scale or scale
  local orbit = require "nslua.dynamics.periodic" { simulation = options.simulation, value = options.value,
    period = T, guess = guess, scale = scale, drift = #drift > 0 and drift or nil }
  local flow = orbit.problem.flow
  local _, rows = flow:course(orbit.x0, orbit.t0, orbit.t0 + orbit.T, orbit.problem.p)
  for _, row in ipairs(rows) do
    for i = 1, whole.nx do
      if math.abs(row[i] - orbit.x0[i]) > REST * math.max(math.abs(orbit.x0[i]), scale[i]) then
        fail("%s: no equilibrium found: the loop has a periodic orbit of period %g there, on which state %d moves "
          .. "from %g to %g; use dynamics.periodic", who, orbit.T, i, orbit.x0[i], row[i])
      end
    end
  end
  return setmetatable({ x = orbit.x0:slice(1, flow.nx), d = orbit.x0:slice(flow.nx + 1, flow.n), names = flow.names,
    states = orbit.x0, t = orbit.t0, orbit = orbit, lambda = core.zeros(0), y = core.zeros(0), mode = {}, modes = {},
    rows = {}, words = {}, residual = orbit.residual, status = "ok", stability = orbit.stability },
      equilibria.class)
end

-- ---- linear models ----

-- The inputs: parameters of a run, and the places of w that are held from outside.
local function inputs_of(inputs, flow, who)
  local parameters, held = {}, {}
  expect(inputs, "table", "%s: inputs: expected a list", who)
  for k, input in ipairs(inputs) do
    local place
    for i, name in ipairs(flow.names or {}) do
      if name == input then place = flow.nx + i end
    end
    if type(input) == "string" and not place then
      fail("%s: inputs[%d]: there is no discrete state '%s'; there are %s", who, k, input,
        table.concat(flow.names or {}, ", "))
    elseif not place and type(input) ~= "table" then
      fail("%s: inputs[%d]: expected {object, \"field\" [, i [, j]]} or the name of a discrete state, got %s", who, k,
        describe(input))
    end
    if not place then parameters[#parameters + 1] = input end
    held[k] = place or -#parameters
  end
  return parameters, held
end

function sampled.linearise(options)
  local who = "dynamics.linearise"
  options = arguments.options(options, who)
  equilibria.kinds(options, who)
  local at = options.at
  expect(at, "table", "%s: at: expected an orbit, an equilibrium or { x = }", who)
  if options.mode ~= nil then fail("%s: mode: it is for models without clocks", who) end
  local orbit = at.orbit or rawget(at, "monodromy") and at or nil
  local flow, w = flow_at(options, orbit and orbit.x0 or at.x, "at.x", who)
  local T = orbit and orbit.T or common_period(select(2, clocks_of(options)), who)
  local parameters, held = inputs_of(options.inputs or {}, flow, who)
  local taken, states, m = {}, {}, #held
  flow.fixed = {}
  for _, place in ipairs(held) do
    taken[place] = true
    if place > 0 then flow.fixed[place - flow.nx] = true end
  end
  local S, by_p = period_map(flow, w, T, options.value, parameters)
  for i = 1, flow.n do
    if not taken[i] and not is_constant(flow, S, i) then states[#states + 1] = i end
  end
  local l = { A = pick(S, states, states), B = core.zeros(#states, m), dt = T, x = w, t = flow.t0,
    lambda = core.zeros(0), mode = {}, constrained = 0, names = flow.names, states = states }
  for k, place in ipairs(held) do
    for r, i in ipairs(states) do l.B[r][k] = place > 0 and S[i][place] or by_p[i][-place] end
  end
  if options.outputs ~= nil then
    local outputs = options.outputs
    local C = linear.outputs(type(outputs) == "function" and function(t, all)
      local x, d = {}, {}
      for i = 1, #all do
        if i <= flow.nx then x[i] = all[i] else d[i - flow.nx] = all[i] end
      end
      return outputs(t, x, d)
    end or outputs, flow.t0, w, core.zeros(0), core.zeros(0, flow.n), core.zeros(0, m), who)
    l.C, l.D = pick(C, nil, states), core.zeros(C:rows(), m)
    for k, place in ipairs(held) do
      for r = 1, C:rows() do l.D[r][k] = place > 0 and C[r][place] or 0 end
    end
  end
  l.eigenvalues = spectrum.values(l.A)
  local most = 0
  for _, value in ipairs(l.eigenvalues) do most = math.max(most, value.abs) end
  l.stability = most < 1 - ON_CIRCLE and "stable" or most > 1 + ON_CIRCLE and "unstable" or "neutral"
  l.stable = l.stability == "stable"
  return setmetatable(l, linear.class)
end

return sampled
