-- core.mode: the motion of a model in a given mode, its guards, its impacts, and their derivatives.
local core = require "nslua.core"
local ns = require "nslua"
local near = require("expect").near
local modes = core.mode
local sensitive = require "random_sensitive"

local function event_driven(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI()) end

-- The mode in which a simulation is after a step, and what its words are.
local function after_step(simu)
  simu:computeOneStep()
  local m = modes.new(simu)
  local mode = modes.present(m)
  return m, mode, table.concat(mode, " ")
end

local function one(ds, law, relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "row"), ds)
  return event_driven(nsds)
end

describe("the motion in a given mode", function()
  it("has the force that keeps a bead on a ring, at other states of it, too", function()
    local bead = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 1 }, { { 3, 0 }, { 0, 3 } })
    bead:setFExtPtr { 0, -3 * 9.81 }
    local ring = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = (q[1] ^ 2 + q[2] ^ 2 - 1) / 2 end }
    local m, mode, words = after_step(one(bead, ns.EqualityConditionNSL(1), ring))
    assert.equal("active", words)
    local x = ns.vector { 1, 0, 0, 2 } -- q v' + v v = 0: v' = -4 along q
    modes.take(m, mode.block, 0, x)
    near({ 0, 2, -4, -9.81 }, modes.rate(m, 0, x), 1e-14)
    assert.same({}, modes.guards(m))
  end)

  it("follows a surface that moves while a relay slides, and goes on where the relay would switch", function()
    local surface = ns.FirstOrderNonLinearR { h = function(t, x, _, _, y) y[1] = x[1] - math.sin(t) end,
      g = function(_, _, lambda, _, r) r[1] = 2 * lambda[1] end }
    local m, mode, words = after_step(one(ns.FirstOrderLinearTIDS({ 0 }, { { -1 } }), ns.RelayNSL(1, -1, 1), surface))
    assert.equal("active", words)
    for _, far in ipairs { 0, 3 } do -- lambda = (cos t + x) / 2 would be beyond its bound at x = sin t + 3
      local x = ns.vector { math.sin(0.3) + far }
      modes.take(m, mode.block, 0.3, x)
      near({ math.cos(0.3) }, modes.rate(m, 0.3, x), 1e-13)
      local lambda = (math.cos(0.3) + x[1]) / 2
      near({ 1 + lambda, 1 - lambda }, ns.vector { modes.guard(m, 0.3, x, 0)[1], modes.guard(m, 0.3, x, 1)[1] }, 1e-12)
    end
    assert.same({ { k = 0, event = "leave", row = 1 }, { k = 1, event = "leave", row = 1 } }, modes.guards(m))
  end)

  it("has friction that depends on the slip", function()
    local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 1 }, ns.eye(2))
    block:setFExtPtr { -10, 0 }
    local law = ns.NewtonImpactStribeckNSL(0, 0.5, 0.2, 0.3, 2)
    local m, mode, words = after_step(one(block, law, ns.LagrangianLinearTIR(ns.eye(2))))
    assert.equal("active slip-", words)
    local x, e = ns.vector { 0, 0, 0, 0.5 }, 0.3 * math.exp(-(0.5 / 0.3) ^ 2)
    modes.take(m, mode.block, 0, x)
    near({ 0, 0.5, 0, -10 * (0.2 + e) }, modes.rate(m, 0, x), 1e-14)
    local along = core.concatenate { x, ns.vector { 0, 0, 0, 1 } }
    near({ 0, 1, 0, 10 * e * 2 * 0.5 / 0.3 ^ 2 }, modes.rate(m, 0, along):slice(5, 8), 1e-14)
  end)

  it("reads the numbers of the model when it is taken, and refuses the mode of another model", function()
    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ball:setFExtPtr { -10 }
    local law = ns.NewtonImpactNSL(0.5)
    local m, mode, words = after_step(one(ball, law, ns.LagrangianLinearTIR { { 1 } }))
    assert.equal("open", words)
    local function after()
      modes.take(m, mode.block, 0, { 0, -4 })
      return modes.reset(m, 0, { 0, -4 }, 0, modes.impact(m, 0, { 0, -4 }, 0, { 0, 2 }))
    end
    near({ 0, 2 }, after())
    assert.same({ { k = 0, event = "impact", row = 1 } }, modes.guards(m))
    law:setEn(0.25)
    near({ 0, 1 }, after())
    assert.has_error(function() modes.take(m, "x", 0, { 0, -4 }) end, "the mode is one of another model")
    assert.has_error(function() modes.impact(m, 0, { 0, -4 }, 2, { 0, 2 }) end, "the guard has no impacts")
  end)

  it("is one of an EventDriven whose states are free numbers", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 0 }, { { -1 } }))
    local stepping = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.5), ns.LCP())
    assert.has_error(function() modes.new(stepping) end, "expected an EventDriven")
    local turning = ns.NonSmoothDynamicalSystem(0, 1)
    turning:insertDynamicalSystem(ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 1 }, 1, ns.eye(3)))
    assert.has_error(function() modes.new(event_driven(turning)) end, "a body with a quaternion")
  end)
end)

-- ---- random models ----

local function states_of(simu)
  local list = {}
  for i = 1, simu:nsds():numberOfDynamicalSystems() do list[i] = simu:nsds():dynamicalSystem(i):x():copy() end
  return core.concatenate(list)
end

-- The simulation of a model at a time, with its mode, which has derivatives by the parameters of its numbers; nil where
-- a row has no word.
local function at_time(model, t)
  local simu, numbers = model.build(model.p)
  simu:addEvent { name = "end", g = function(time) return time - t end, direction = "up", terminal = true }
  simu:run()
  local parameters = {}
  for _, list in ipairs(numbers) do
    for _, entry in ipairs(list) do parameters[#parameters + 1] = { table.unpack(entry, 2) } end
  end
  local good, m = pcall(modes.new, simu, parameters)
  if not good then return assert.matches("quaternion", m) and nil end
  local mode, x = modes.present(m), states_of(simu)
  if mode then modes.take(m, mode.block, t, x) end
  return mode and m, x, mode, numbers, #parameters
end

-- The derivative of f by state j at x, by a difference of order 4.
local function difference(f, x, j)
  local h = 1e-3 * math.max(1, math.abs(x[j]))
  local function at(k)
    local y = x:copy()
    y[j] = y[j] + k * h
    return f(y)
  end
  return ((at(1) - at(-1)) * 8 - (at(2) - at(-2))) * (1 / (12 * h))
end

-- Column j of the derivatives of a map of core.mode with `size` numbers, by the states and then the p parameters; nil
-- where they are not exact.
local function column(m, p, name, size, t, x, j, ...)
  local unit = core.zeros(#x + p)
  unit[j] = 1
  local all = modes[name](m, t, core.concatenate { x, unit }, ...)
  return all and all:slice(size + 1, 2 * size)
end

local TOLERANCE = 1e-6
local backs = 0 -- derivatives of weighted sums that were exact

local function check_column(where, exact, slope)
  local size = math.max(1, slope:norm(math.huge))
  assert(exact:slice(1, #exact) and (exact - slope):norm(math.huge) <= TOLERANCE * size, where .. ": " .. tostring(exact)
    .. " against " .. tostring(slope))
end

-- The derivatives of a weighted sum of a map's numbers are the sums of its derivatives along the directions.
local function check_back(where, m, p, name, size, t, x, ...)
  local weight, k, ways = core.zeros(size), ...
  for i = 1, size do weight[i] = math.sin(i) + 0.3 end
  local back = modes[name](m, t, core.concatenate { x, weight, 2 * weight }, k, ways, true)
  for j = 1, back and #x + p or 0 do
    local along = column(m, p, name, size, t, x, j, ...)
    local sum = 0
    for i = 1, size do sum = sum + weight[i] * along[i] end
    local most = math.max(1, along:norm(math.huge))
    assert(math.abs(back[size + j] - sum) <= 1e-12 * most, where .. ": back")
    assert(back[size + #x + p + j] == 2 * back[size + j], where .. ": back, twice")
  end
  backs = backs + (back and 1 or 0)
end

local known = 0 -- derivatives by numbers that were exact

-- The derivatives of a map by the numbers of the model agree with differences.
local function check_numbers(where, model, numbers, p, m, block, name, size, t, x, ...)
  local first = #x
  for j, list in ipairs(numbers) do
    local exact = core.zeros(size)
    for i, entry in ipairs(list) do
      local slope = exact and column(m, p, name, size, t, x, first + i, ...)
      exact = slope and exact + entry[1] * slope
    end
    first = first + #list
    local function value(own, ...)
      local other = modes.new((model.build(own)))
      modes.take(other, block, t, x)
      return modes[name](other, t, x, ...)
    end
    if exact then
      local more = table.pack(...)
      local good, slope = pcall(difference, function(own) return value(own:totable(), table.unpack(more, 1, more.n)) end,
        core.vector(model.p), j) -- not where the number is at the end of its range
      if good then check_column(where .. " by number " .. j, exact, slope) end
      known = known + (good and 1 or 0)
    end
  end
end

-- The rates are those of the run, and all derivatives agree with differences.
local function check_smooth(name, sol, model, t, h)
  local m, x, mode, numbers, p = at_time(model, t)
  if not m then return end
  local rate, x1 = modes.rate(m, t, x), {}
  for k = -2, 2 do x1[k] = sol:at(t + k * h).x end
  local slope = ((x1[1] - x1[-1]) * 8 - (x1[2] - x1[-2])) * (1 / (12 * h))
  check_column(name .. ": rate", rate, slope)
  for j = 1, #x do
    local exact = column(m, p, "rate", #x, t, x, j)
    if not exact then break end
    check_column(name .. ": J", exact, difference(function(y) return modes.rate(m, t, y) end, x, j))
  end
  check_back(name .. ": rate", m, p, "rate", #x, t, x)
  check_numbers(name .. ": rate", model, numbers, p, m, mode.block, "rate", #x, t, x)
  for _, guard in ipairs(modes.guards(m)) do
    check_back(name .. ": " .. guard.event, m, p, "guard", 1, t, x, guard.k)
    check_numbers(name .. ": " .. guard.event, model, numbers, p, m, mode.block, "guard", 1, t, x, guard.k)
    for j = 1, #x do
      local exact = column(m, p, "guard", 1, t, x, j, guard.k)
      if not exact then break end
      check_column(name .. ": " .. guard.event, exact, difference(function(y) return modes.guard(m, t, y, guard.k) end, x, j))
    end
  end
end

-- An impact leads from its states before to those after, and its derivative agrees with differences.
local function check_impact(name, model, sol, event, t_before)
  local k = 1
  while sol.t[k] < event.t do k = k + 1 end
  local last = k
  while last < #sol.t and sol.t[last + 1] == event.t do last = last + 1 end
  local m, _, mode, numbers, p = at_time(model, (t_before + event.t) / 2)
  if not m then return end
  local row, nsds = 0, m and model.build(model.p):nsds()
  for i = 1, nsds:numberOfInteractions() do
    if nsds:interaction(i):name() == event.name then break end
    row = row + nsds:interaction(i):dimension()
  end
  local before, after, hit = sol.x:row(k), sol.x:row(last), nil
  modes.take(m, mode.block, event.t, before)
  for _, guard in ipairs(modes.guards(m)) do
    if guard.row == row + 1 then hit = guard.k end
  end
  local ways = modes.impact(m, event.t, before, hit, after)
  if not ways then return end
  check_column(name .. ": reset", modes.reset(m, event.t, before, hit, ways), after)
  check_back(name .. ": reset", m, p, "reset", #before, event.t, before, hit, ways)
  check_numbers(name .. ": reset", model, numbers, p, m, mode.block, "reset", #before, event.t, before, hit, ways)
  for j = 1, #before do
    local exact = column(m, p, "reset", #before, event.t, before, j, hit, ways)
    if not exact then break end
    check_column(name .. ": A", exact, difference(function(y) return modes.reset(m, event.t, y, hit, ways) end, before, j))
  end
end

describe("modes of random models #once", function()
  it("have the rates of the run, and derivatives that agree with differences", function()
    local models, report = require "campaign"(24, 0.02)
    for k = 1, models do
      local model = sensitive.draw(k)
      local sol = model.build(model.p):run { dense = true }
      local from, checked = sol.t[1], 0
      for i = 1, #sol.events + 1 do
        local event = sol.events[i]
        local to = event and event.t or sol.t[#sol.t]
        local alone = event and (i == #sol.events or sol.events[i + 1].t > to) and (i == 1 or sol.events[i - 1].t < to)
        if to - from > 1e-2 * sol.t[#sol.t] and checked < 3 then
          checked = checked + 1
          local name = ("model %d (%s), t = %g"):format(k, model.family, (from + to) / 2)
          check_smooth(name, sol, model, (from + to) / 2, 1e-3 * (to - from))
          if alone and event.kind == "impact" then check_impact(name, model, sol, event, from) end
        end
        from = math.max(from, to)
      end
    end
    assert.is_true(known > models and backs > models)
    report("modes of random models", models)
  end)
end)

