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

-- Event mode to continuous-time mode: the states after all events of this time.
local function update(c, n)
  local again
  repeat again = good(c:update()) until not again
  good(c:call "EnterContinuousTimeMode")
  return good(c:numbers("GetContinuousStates", n))
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
-- the times of events), on(t, x) called after each step. Returns the state and the times of events.
function solver.integrate(c, T, o)
  local rtol, atol, apart = o.rtol or 1e-8, o.atol or 1e-10, o.apart or 1e-12
  local t, h, events, x = 0, 1e-3 * T, {}, update(c, o.n)
  local z = indicators(c, o.nz, t, x)
  while t < T do
    local last = t + h >= T * (1 - 1e-14)
    if last then h = T - t end
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
      t, x = last and not hit and T or t + now, y
      place(c, t, x)
      local asked = good(c:completed())
      if hit or asked then
        good(c:call "EnterEventMode")
        x = update(c, o.n)
        events[#events + 1] = t
        assert(#events < 5000, "too many events")
      end
      z = indicators(c, o.nz, t, x)
      for i, value in ipairs(z) do assert(value > 0, ("indicator %d is %g after t = %g"):format(i, value, t)) end
      if o.on then o.on(t, x) end
    end
    h = h * math.min(5, math.max(0.2, 0.9 * most ^ (-1 / 5)))
  end
  place(c, T, x)
  return x, events
end

return solver
