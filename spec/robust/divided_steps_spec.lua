-- Mechanics with laws whose numbers are impulses of a step of the grid: however a step is divided, the run is that of short steps.
-- 10 models; more in a long run (see campaign.lua).
local ns = require "nslua"
local numbers = require "random_numbers"

local count, told = require "campaign"(10, 0.05)

-- A chain of masses with springs and dampers, and relays of bounds in newtons between velocities; maybe a relay of forces at
-- position, or a wall.
local function random_model()
  local n, o = math.random(3), { relays = {}, rows = {} }
  local function number(a, b) return function() return numbers.uniform(a, b) end end
  o.q, o.v, o.force = numbers.vector(n, number(-1, 1)), numbers.vector(n, number(-2, 2)), numbers.vector(n, number(-2, 2))
  local mass, k, c = numbers.vector(n, number(0.5, 2)), number(0, 20)(), number(0, 1)()
  o.M = numbers.matrix(n, function(i, j) return i == j and mass[i] or 0 end)
  o.K = numbers.matrix(n, function(i, j) return i == j and 2 * k or math.abs(i - j) == 1 and -k or 0 end)
  o.C = numbers.matrix(n, function(i, j) return i == j and c or 0 end)
  for r = 1, math.random(n) do
    local row = numbers.vector(n, number(-1, 1))
    row[r] = row[r] + 2
    o.rows[r], o.relays[r] = row, { -numbers.uniform(0, 3), numbers.uniform(0, 3) }
  end
  o.extra = ({ "none", "compliant", "wall" })[math.random(3)]
  o.cubic = math.random(3) == 1 and numbers.uniform(0, 5) or nil
  o.theta = math.random(2) == 1 and 0.5 or numbers.uniform(0.5, 1)
  return o
end

-- The run of the model with steps of h; `scheme` makes the integrator, `make` the simulation; bounds are those of h.
local function simulation(o, h, scheme, make, options)
  local n = #o.q
  local ds = o.cubic and ns.LagrangianDS(o.q, o.v, o.M) or ns.LagrangianLinearTIDS(o.q, o.v, o.M, o.K, o.C)
  if o.cubic then
    ds:setComputeFIntFunction(function(_, q, v, _, f)
      for i = 1, n do
        f[i] = o.cubic * q[i] * q[i] * q[i]
        for j = 1, n do f[i] = f[i] + o.K[i][j] * q[j] + o.C[i][j] * v[j] end
      end
    end)
  end
  ds:setFExtPtr(ns.vector(o.force))
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
  nsds:insertDynamicalSystem(ds)
  for r, row in ipairs(o.rows) do
    local law = ns.RelayNSL(1, o.relays[r][1] * h, o.relays[r][2] * h)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { row }, "relay" .. r), ds)
  end
  local unit = numbers.vector(n, function(i) return i == 1 and 1 or 0 end)
  if o.extra == "compliant" then
    local spring = ns.LagrangianCompliantLinearTIR({ unit }, { { 0.1 } })
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 2), spring, "spring"), ds) -- bounds of a force: no step changes them
  elseif o.extra == "wall" then
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ unit }, { 1.5 }), "wall"), ds)
  end
  return (make or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, h), scheme(o.theta), nil, options), ds
end

local function state(ds) return ns.vector(ds:q():totable()), ns.vector(ds:velocity():totable()) end

-- The largest distance of two runs at their ends, in units of the sizes of the motion.
local function apart(a, b)
  local q, v = state(a)
  local p, w = state(b)
  local size, speed = math.max(1, p:norm(math.huge)), math.max(2, w:norm(math.huge))
  return math.max((q - p):norm(math.huge) / size, (v - w):norm(math.huge) / speed)
end

local makers = { ns.TimeStepping, ns.TimeSteppingDirectProjection, ns.TimeSteppingCombinedProjection }

-- A scheme and a simulation that take the model.
local function random_way(o)
  local linear = not o.cubic and o.extra ~= "compliant"
  if linear and math.random(2) == 1 then return ns.MoreauJeanGOSI, nil end
  return ns.MoreauJeanOSI, o.extra ~= "compliant" and makers[math.random(3)] or nil
end

local function models(check)
  for k = 1, count do
    local o = random_model()
    local scheme, make = random_way(o)
    local ok, message = pcall(check, o, scheme, make)
    if not ok then error(("model %d: %s"):format(k, tostring(message)), 0) end
  end
end

describe("impulses of divided steps", function()
  before_each(function() math.randomseed(91) end)

  it("halves by an event of the user: the run is that of half the step", function()
    models(function(o, scheme, make)
      local h = 0.02
      local simu, ds = simulation(o, h, scheme, make)
      simu:addEvent { name = "half", g = function(t) return math.cos(math.pi * t / h) end, action = function() end }
      simu:run()
      local halves, other = simulation(o, h / 2, scheme, make)
      halves:run()
      assert(apart(ds, other) < 1e-7, ("%g apart"):format(apart(ds, other)))
    end)
    told("divided steps, halves by events", count)
  end)

  it("adaptive steps: the run is that of short steps, within the tolerance", function()
    models(function(o, scheme, make)
      local simu, ds = simulation(o, 0.05, scheme, make, { rtol = 1e-4, atol = 1e-4 })
      simu:run()
      local short, other = simulation(o, 0.05 / 128, scheme, make)
      short:run()
      assert(apart(ds, other) < 2e-2, ("%g apart"):format(apart(ds, other)))
    end)
    told("divided steps, adaptive", count)
  end)

  -- A mass with v0 = 2 under 1 N of friction, and a weak cubic spring or none: v(1) = 1 without the spring.
  local function brake(osi, options, cubic, h)
    local ds = cubic and ns.LagrangianDS({ 0 }, { 2 }, { { 1 } }) or ns.LagrangianLinearTIDS({ 0 }, { 2 }, { { 1 } })
    if cubic then ds:setComputeFIntFunction(function(_, q, _, _, f) f[1] = cubic * q[1] ^ 3 end) end
    local law, nsds = ns.RelayNSL(1, -h, h), ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } }, "brake"), ds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi, nil, options), ds, law
  end

  it("the impulse of a row is that of the whole step of the grid, and works are those of the force", function()
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanGOSI(0.5) } do
      local simu, ds = brake(osi, { rtol = 1e-3, h_max = 0.03 }, nil, 0.1)
      simu:energy()
      local sol = simu:run()
      assert(math.abs(ds:q()[1] - 1.5) < 1e-12 and math.abs(ds:velocity()[1] - 1) < 1e-12)
      for i = 2, #sol do assert(math.abs(sol.lambda1[i] + 0.1) < 1e-12) end
      assert(math.abs(simu:energy().friction + 1.5) < 1e-12)
      assert(simu:check())
    end
  end)

  it("substeps after a failure", function()
    local simu, ds = brake(ns.MoreauJeanOSI(0.5), nil, 1000, 0.1)
    simu:setNewtonMaxIteration(2)
    simu:setMaxSubsteps(64)
    simu:run()
    local short, other = brake(ns.MoreauJeanOSI(0.5), nil, 1000, 0.1 / 64)
    short:run()
    assert(simu:stats().substeps > 0 and apart(ds, other) < 2e-2, ("%g apart"):format(apart(ds, other)))
  end)

  it("after substeps the impulses of a row and of its system are those of the whole step of the grid", function()
    for _, cubic in ipairs { 1000, 5 } do
      local simu, ds = brake(ns.MoreauJeanOSI(0.5), nil, cubic, 0.1)
      simu:setNewtonMaxIteration(2)
      simu:setMaxSubsteps(64)
      local slid, parts, before = 0, 0, 2
      for _ in simu:steps() do
        local v, lambda = ds:velocity()[1], simu:nsds():interaction(1):lambda(1)[1]
        if before > 0 and v > 0 and simu:stats().substeps > parts then
          slid = slid + 1
          assert(math.abs(lambda + 0.1) < 1e-12, lambda)
          assert(ds:p(1)[1] == lambda)
        end
        assert(math.abs(lambda) < 0.1 + 1e-12)
        before, parts = v, simu:stats().substeps
      end
      assert(slid > 0)
    end
  end)

  it("derivatives by a bound: of the states of the brake they are T/h and T^2/2h", function()
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanGOSI(0.5) } do
      for _, options in ipairs { {}, { rtol = 1e-3, h_max = 0.03 } } do
        local simu, _, law = brake(osi, options.rtol and options, nil, 0.1)
        local S = simu:run { sensitivities = { { law, "lb" } } }.S
        local last = S[#S]
        assert(math.abs(last[1][1] - 5) < 1e-9 and math.abs(last[2][1] - 10) < 1e-9, tostring(last))
        local again, _, other = brake(osi, options.rtol and options, nil, 0.1)
        local _, g = again:gradient { parameters = { { other, "lb" } }, terminal = function(x) return x[1] + 3 * x[2] end }
        assert(math.abs(g[1] - 35) < 1e-9)
      end
    end
  end)
end)
