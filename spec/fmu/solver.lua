-- The solver of another tool, for units of model exchange in specs: Dormand and Prince's method of order 5 with steps of
-- its own choice, and events by bisection of the step in which an indicator changes its sign.
local solver = {}

local STAGES = { {}, { 1 / 5 }, { 3 / 40, 9 / 40 }, { 44 / 45, -56 / 15, 32 / 9 },
  { 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729 },
  { 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656 },
  { 35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84 } }
local NODES = { 0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1 }
local ERRORS = { 71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40 }

local function good(status, ...)
  if status ~= "OK" then error("status " .. tostring(status), 0) end
  return ...
end

local function place(c, t, x)
  good(c:set_time(t))
  good(c:set_states(x))
end

-- The state after a step of length h, and the estimates of its errors.
local function step(c, t, x, h)
  local n, k, y = #x, {}, nil
  for s = 1, 7 do
    y = {}
    for i = 1, n do
      y[i] = x[i]
      for j = 1, s - 1 do y[i] = y[i] + h * (STAGES[s][j] or 0) * k[j][i] end
    end
    place(c, t + NODES[s] * h, y)
    k[s] = good(c:numbers("GetDerivatives", n))
  end
  local errors = {}
  for i = 1, n do
    errors[i] = 0
    for j = 1, 7 do errors[i] = errors[i] + h * ERRORS[j] * k[j][i] end
  end
  return y, errors
end

local function indicators(c, nz, t, x)
  place(c, t, x)
  return good(c:numbers("GetEventIndicators", nz))
end

-- Whether an indicator differs in sign between a and b.
function solver.crossed(a, b)
  for i = 1, #a do
    if (a[i] > 0) ~= (b[i] > 0) then return true end
  end
  return false
end

local crossed = solver.crossed

-- Event mode to continuous-time mode: the states after all events of this time, the time of the next event that the unit
-- knows (or infinity), and whether the run has ended.
local function update(c, n)
  local again, _, next_time, ended
  repeat again, _, next_time, ended = good(c:update()) until not again
  good(c:call "EnterContinuousTimeMode")
  return good(c:numbers("GetContinuousStates", n)), next_time or math.huge, ended
end

-- The length of the step up to the first change of a sign, to the accuracy `apart` of time.
local function locate(c, z, t, x, h, apart)
  local a, b = 0, h
  while b - a > apart do
    local m = (a + b) / 2
    if crossed(z, indicators(c, #z, t + m, (step(c, t, x, m)))) then b = m else a = m end
  end
  return b
end

-- Integrates an instance that is initialized from 0 to T. o: n (states), nz (indicators), rtol, atol, apart (accuracy of
-- the times of events), from (the time of a restored state, in place of 0), on(t, x) called after each step.
-- Returns the state, the times of events, and the time at which the run has ended.
function solver.integrate(c, T, o)
  local rtol, atol, apart = o.rtol or 1e-8, o.atol or 1e-10, o.apart or 1e-12
  local t, h, events = o.from or 0, 1e-3 * T, {}
  if o.from then good(c:call "EnterEventMode") end
  local x, next_time, ended = update(c, o.n)
  local z = indicators(c, o.nz, t, x)
  if o.on then o.on(t, x) end
  while t < T and not ended do
    local goal = math.min(T, next_time)
    local last = t + h >= goal - T * 1e-14
    if last then h = goal - t end
    local y, errors = step(c, t, x, h)
    local most = 1e-10
    for i = 1, o.n do
      most = math.max(most, math.abs(errors[i]) / (atol + rtol * math.max(math.abs(x[i]), math.abs(y[i]))))
    end
    if most <= 1 then
      local now = h
      local hit = crossed(z, indicators(c, o.nz, t + h, y))
      if hit then
        now = locate(c, z, t, x, h, apart)
        y = step(c, t, x, now)
      end
      t, x = last and not hit and goal or t + now, y
      place(c, t, x)
      local asked = good(c:completed())
      if hit or asked or t == next_time then
        good(c:call "EnterEventMode")
        x, next_time, ended = update(c, o.n)
        events[#events + 1] = t
        assert(#events < 5000, "too many events")
      end
      z = indicators(c, o.nz, t, x)
      for i, value in ipairs(z) do assert(value > 0, ("indicator %d is %g after t = %g"):format(i, value, t)) end
      if o.on then o.on(t, x) end
    end
    h = h * math.min(5, math.max(0.2, 0.9 * most ^ (-1 / 5)))
  end
  place(c, t, x)
  return x, events, t
end

-- A model inside of this process as the instance that integrate() takes: `make` gives its simulation on [0, T]. Returns it, the
-- object of nslua.fmi.simulation_model, and the numbers of its states and indicators.
function solver.inside(make, T)
  local kind = require "nslua.fmi.simulation_model"
  local object = kind.open({ data = { setup = make } }, {}, { start = 0, stop = T })
  object.exchange = true
  local found = kind.exchange(nil, object)
  local getters = { GetDerivatives = kind.derivatives, GetEventIndicators = kind.indicators, GetContinuousStates = kind.states }
  local c = { kind = kind }
  function c.set_time(_, t) return "OK", kind.set_time(object, t) end
  function c.set_states(_, x) return "OK", kind.set_states(object, x) end
  function c.numbers(_, what) return "OK", getters[what](object) end
  function c.call(_, what)
    if what == "EnterContinuousTimeMode" then kind.completed(object) end
    return "OK"
  end
  function c.completed() return "OK", kind.completed(object) end
  function c.update()
    local happened, changed = kind.update(object)
    return "OK", happened, changed, kind.next(object)
  end
  kind.completed(object)
  return c, object, { n = #found.states, nz = found.indicators }
end

return solver
