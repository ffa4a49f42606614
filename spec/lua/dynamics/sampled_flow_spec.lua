-- Orbits of sampled loops: what actions of clocks change is part of the state of the period map.
local ns = require "nslua"
local campaign = require "campaign"
local expect = require "expect"
local numbers = require "random_numbers"

local dynamics, near, fails = ns.dynamics, expect.near_number, expect.fails

-- x' = -x + cos(2 pi t) + u, u = -K x(k + 1/2) held; in z, in b, or in a discrete state that is bound to z.
local function loop(K, way, T)
  local force = function(t, x, z, f) f[1] = -x[1] + math.cos(2 * math.pi * t) + z[1] end
  local ds = ns.FirstOrderNonLinearDS { x0 = { 0 }, z = ns.vector { 0 }, f = force }
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 3)
  nsds:insertDynamicalSystem(ds)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI())
  local s = simu:every { name = "sample", period = 1, offset = 0.5, state = { u = { 0 } }, act = function(_, s)
    s.u[1] = -K * ds:x()[1]
    if way == "z" then ds:z()[1] = s.u[1] end
  end }
  if way == "state" then ds:setzPtr(s.u) end
  return simu
end

describe("a sampled loop", function()
  for _, way in ipairs { "z", "state" } do
    local function model(K) return loop(K, way) end

    it("has the multiplier of its period map: " .. way, function()
      for _, K in ipairs { 1, 2.5 } do
        local want = math.exp(-1) - K * (1 - math.exp(-1))
        for _, simulation in ipairs { model, loop(K, way) } do
          local value = simulation == model and K or nil
          local o = dynamics.periodic { simulation = simulation, value = value, period = 1, guess = { 0 } }
          near(want, o.multipliers[1].re, 1e-11)
          assert.equal(want > -1 and "stable" or "unstable", o.stability)
          for k = 2, #o.multipliers do near(0, o.multipliers[k].abs, 1e-9) end
        end
        local double = dynamics.periodic { simulation = loop(K, way), period = 2, guess = { 0 } }
        near(want ^ 2, double.multipliers[1].re, 1e-11)
      end
    end)

    it("has its points and exponents: " .. way .. (way == "z" and " #once" or " #long"), function()
      local d = dynamics.diagram { simulation = model, values = { 1 }, period = 1, guess = { 0.1 }, transient = 40, keep = 1 }
      local o = dynamics.periodic { simulation = model, value = 1, period = 1, guess = { 0 } }
      near(o.x0[1], d.x[1][1], 1e-9)
      local l = dynamics.lyapunov { simulation = model, value = 2.5, window = 1, time = 40, transient = 3, guess = { 0 } }
      near(math.log(1.2124219558999785), l.exponents[1], 0.02)
      local branch = dynamics.continuation { simulation = model, range = { 1, 2.5 }, period = 1, guess = { 0 } }
      assert.equal("period doubling", branch.bifurcations[1].kind)
      near((1 + math.exp(-1)) / (1 - math.exp(-1)), branch.bifurcations[1].p, 1e-8)
    end)
  end

  it("is refused where it has no period, by name", function()
    local function refused(text, options, simulation)
      options.simulation, options.guess = simulation or loop(1, "z"), { 0 }
      fails("dynamics.periodic: " .. text, dynamics.periodic, options)
    end
    refused("period: expected a multiple of the period of the clock 'sample', 1, got 1.5", { period = 1.5 })
    refused("simulation: its clock 'sample' makes the motion depend on time: give period =, a multiple of the periods of all "
      .. "clocks", { autonomous = true, period = 1 })
    local simu = loop(1, "z")
    simu:every { name = "noise", period = 1, state = { rng = ns.rng(1) }, act = type }
    refused("simulation: 'noise' draws random numbers: no run repeats another", { period = 1 }, simu)
    simu = loop(1, "state")
    simu:every { name = "count", period = 1, state = { n = 0 }, act = function(_, s) s.n = s.n + 1 end }
    fails("the Jacobian is singular: 'count.n' counts from period to period, and drift = { 3 } leaves it out", dynamics.periodic,
      { simulation = simu, period = 1, guess = { 0 } })
    local o = dynamics.periodic { simulation = simu, period = 1, guess = { 0 }, drift = { 3 } }
    near(2 * math.exp(-1) - 1, o.multipliers[1].re, 1e-11)
    simu = loop(1, "z")
    simu:every { name = "late", period = 1, offset = 1.5, act = type }
    refused("simulation: the clock 'late' begins at 1.5: give an offset in the first period, [0, 1)", { period = 1 }, simu)
  end)
end)

-- ---- a random family ----

-- x' = A x + a sin(2 pi t) + E z + B lambda, with a relay on C x in half of the models; clock j sets z_j = k_j x + l_j z.
local function random_loop(seed)
  math.randomseed(seed)
  local n, clocks, relay = math.random(1, 3), math.random(1, 3), math.random() < 0.5
  local m = { n = n, clocks = clocks }
  m.A, m.E = ns.matrix(numbers.matrix_within(n, n, 1)), ns.matrix(numbers.matrix_within(n, clocks, 1))
  for i = 1, n do m.A[i][i] = m.A[i][i] - 2 end
  m.a, m.C, m.K, m.L = numbers.vector_within(n, 3), numbers.matrix_within(1, n, 1), {}, {}
  m.B = numbers.matrix(n, function(i) return 0.2 * m.C[1][i] end, 1)
  for j = 1, clocks do
    m.K[j], m.L[j] = numbers.vector_within(n, 0.5), numbers.vector_within(clocks, 0.4)
    m[j] = { period = ({ 1, 0.5, 0.25, 1 / 3 })[math.random(4)] }
    m[j].offset = math.random() < 0.5 and 0 or 0.3 * m[j].period
  end
  m.relay = relay
  function m.make()
    local ds = ns.FirstOrderNonLinearDS { x0 = numbers.vector(n, function() return 0.1 end), z = ns.zeros(clocks),
      f = function(t, x, z, f)
        for i = 1, n do
          f[i] = m.a[i] * math.sin(2 * math.pi * t)
          for j = 1, n do f[i] = f[i] + m.A[i][j] * x[j] end
          for j = 1, clocks do f[i] = f[i] + m.E[i][j] * z[j] end
        end
      end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    if relay then nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR(m.C, m.B), "relay"), ds) end
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.4), ns.RungeKuttaOSI(1e-12))
    for j = 1, clocks do
      simu:every { name = "c" .. j, period = m[j].period, offset = m[j].offset, state = { u = 0 }, act = function(_, s)
        s.u = ns.vector(m.K[j]):dot(ds:x()) + ns.vector(m.L[j]):dot(ds:z())
        ds:z()[j] = s.u
      end }
    end
    return simu
  end
  return m
end

-- The product of exponentials, actions and saltations over one period, for w = (x, z). rows: a run over the period.
local function by_hand(m, x0)
  local n, size = m.n, m.n + m.clocks
  local W, M = ns.zeros(size, size), ns.eye(size)
  for i = 1, n do
    for j = 1, n do W[i][j] = m.A[i][j] end
    for j = 1, m.clocks do W[i][n + j] = m.E[i][j] end
  end
  local simu = m.make()
  local ds = simu:nsds():dynamicalSystem(1)
  local d0 = x0:slice(n + 1, #x0)
  ds:setX0(x0:slice(1, n))
  simu:reset()
  for j = 1, m.clocks do ds:z()[j] = d0[m.clocks + j] end
  local steps = {}
  for j = 1, m.clocks do
    for k = 0, math.floor(1 / m[j].period + 0.5) - 1 do steps[#steps + 1] = { t = m[j].offset + k * m[j].period, clock = j } end
  end
  local sol = simu:run { observe = function() return { z = ds:z() } end }
  for _, event in ipairs(sol.events) do
    if event.t < 1 then steps[#steps + 1] = { t = event.t, event = event } end
  end
  table.sort(steps, function(a, b)
    if math.abs(a.t - b.t) > 1e-12 then return a.t < b.t end
    return (a.clock or 0) < (b.clock or 0)
  end)
  local t = 0
  for _, step in ipairs(steps) do
    M = ns.expm(W * (step.t - t)) * M
    t = step.t
    local J = ns.eye(size)
    if step.clock then
      for i = 1, n do J[n + step.clock][i] = m.K[step.clock][i] end
      for i = 1, m.clocks do J[n + step.clock][n + i] = m.L[step.clock][i] end
    else
      if step.event.kind ~= "cross" then return nil end
      local k = 1
      while sol.t[k] < t do k = k + 1 end
      local C, z = ns.vector(m.C[1]), ns.zeros(m.clocks)
      for j = 1, m.clocks do z[j] = sol[m.clocks == 1 and "z" or ("z[%d]"):format(j)][k] end
      local smooth = m.A * sol.x:row(k) + m.E * z + ns.vector(m.a) * math.sin(2 * math.pi * t)
      local before, after = smooth + C * (0.2 * step.event.before), smooth + C * (0.2 * step.event.after)
      local jump = (after - before):outer(C) * (1 / C:dot(before))
      for i = 1, n do
        for j = 1, n do J[i][j] = J[i][j] + jump[i][j] end
      end
    end
    M = J * M
  end
  return ns.expm(W * (1 - t)) * M
end

describe("random sampled loops", function()
  it("have the multipliers of the product of their matrices #once", function()
    local count, tell = campaign(5, 0.01)
    local tried = 0
    for seed = 1, count do
      local m = random_loop(seed)
      local guess = numbers.vector(m.n, function() return 0.1 end)
      local good, o = pcall(dynamics.periodic, { simulation = m.make(), period = 1, guess = guess, transient = 20 })
      local M = good and o.derivative == "exact" and by_hand(m, o.x0) -- else it slides
      if M then
        local power = M
        tried = tried + 1
        for k = 1, m.n do -- the sums of powers: the multipliers 0 are defective
          local sum, trace = 0, 0
          for _, one in ipairs(o.multipliers) do sum = sum + one.abs ^ k * math.cos(k * math.atan(one.im, one.re)) end
          for i = 1, power:rows() do trace = trace + power[i][i] end
          assert.is_true(math.abs(sum - trace) < 1e-9, ("%d: %.12g, by hand %.12g"):format(seed, sum, trace))
          power = M * power
        end
      else assert.is_true(m.relay, tostring(o)) end
    end
    assert.is_true(tried >= count / 2)
    tell("multipliers of sampled loops", tried)
  end)

  -- q'' = -k q - c v + a sin 2 pi t + sum of z beside a wall at q = -w of restitution e; clock j sets z_j = K_j (q, v) + L_j z.
  it("have those of impacts, too #once", function()
    local count, tell = campaign(3, 0.005)
    local tried = 0
    for seed = 1, count do
      math.randomseed(seed)
      local k, c, a = numbers.uniform(10, 60), numbers.uniform(0.2, 1), numbers.uniform(5, 20)
      local w, e, clocks = numbers.uniform(0, 0.1), numbers.uniform(0.3, 0.8), math.random(3)
      local K, L = numbers.matrix_within(clocks, 2, 0.5), numbers.matrix_within(clocks, clocks, 0.4)
      local rates = numbers.vector(clocks, function(j) return { ({ 1, 0.5, 0.25 })[math.random(3)], 0.07 * j } end)
      local function make()
        local ds = ns.LagrangianDS { q0 = { 0.1 }, v0 = { 0 }, mass = { { 1 } }, z = ns.zeros(clocks),
          fInt = function(t, q, v, z, f) f[1] = k * q[1] + c * v[1] - a * math.sin(2 * math.pi * t) - z:sum() end }
        local nsds = ns.NonSmoothDynamicalSystem(0, 2)
        nsds:insertDynamicalSystem(ds)
        local wall = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] + w end }
        nsds:link(ns.Interaction(ns.NewtonImpactNSL(e), wall, "wall"), ds)
        local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI(1e-12))
        for j, rate in ipairs(rates) do
          simu:every { name = "c" .. j, period = rate[1], offset = rate[2], act = function()
            ds:z()[j] = ns.vector(K[j]):dot(ds:x()) + ns.vector(L[j]):dot(ds:z())
          end }
        end
        return simu, ds
      end
      local good, o = pcall(dynamics.periodic, { simulation = make(), period = 1, guess = { 0.1, 0 }, transient = 30 })
      if good and o.derivative == "exact" then
        local simu, ds = make()
        local size, W = 2 + clocks, ns.zeros(2 + clocks, 2 + clocks)
        ds:setX0(o.x0:slice(1, 2))
        simu:reset()
        ds:z():assign(o.x0:slice(3, size))
        local sol, steps = simu:run { observe = function() return { u = ds:z():sum() } end }, {}
        for j, rate in ipairs(rates) do
          for i = 0, math.floor(1 / rate[1] + 0.5) - 1 do steps[#steps + 1] = { t = rate[2] + i * rate[1], clock = j } end
        end
        local instants, impacts = #steps, true
        for _, event in ipairs(sol.events) do
          if event.t < 1 then steps[#steps + 1], impacts = event, impacts and event.kind == "impact" end
        end
        table.sort(steps, function(x, y) return x.t < y.t end)
        W[1][2], W[2][1], W[2][2] = 1, -k, -c
        for j = 3, size do W[2][j] = 1 end
        local M, t, row = ns.eye(size), 0, 1
        for _, step in ipairs(steps) do
          local J = ns.eye(size)
          M, t = ns.expm(W * (step.t - t)) * M, step.t
          while sol.t[row] < t do row = row + 1 end
          if step.clock then
            for i = 1, 2 do J[2 + step.clock][i] = K[step.clock][i] end
            for i = 1, clocks do J[2 + step.clock][2 + i] = L[step.clock][i] end
          else
            J[1][1], J[2][2] = -e, -e
            J[2][1] = (1 + e) * (k * w + a * math.sin(2 * math.pi * t) + sol.u[row]) / sol.v1[row]
          end
          M = J * M
        end
        M = ns.expm(W * (1 - t)) * M
        tried = tried + (impacts and #steps > instants and 1 or 0)
        local sum, trace = 0, 0
        for _, one in ipairs(o.multipliers) do sum = sum + one.re end
        for i = 1, size do trace = trace + M[i][i] end
        assert.is_true(not impacts or math.abs(sum - trace) < 1e-9 * math.max(1, M:norm()),
          ("%d: %.12g, by hand %.12g"):format(seed, sum, trace))
      end
    end
    assert.is_true(tried >= 1)
    tell("multipliers of sampled loops with impacts", tried)
  end)
end)
