-- NewtonImpactStribeckNSL: impact, and friction that falls with the slip.
local ns = require "nslua"
local campaign = require "campaign"
local internal = require "nslua.internal"
local laws = require "model.law.laws"
local message = require "bind.models".message

local g = 10

local function stribeck(p)
  return function(u) return p.mu_k + (p.mu_s - p.mu_k) * math.exp(-(math.abs(u) / p.v_s) ^ p.exponent) end
end

-- A block on a belt of velocity V: a spring and a force pull. The rows are height, slip (dim 3: across, too).
local function block(p)
  local dim = p.dim or 2
  local m = p.m or 1
  local K = p.k and (dim == 2 and ns.diag { 0, p.k } or ns.diag { 0, p.k, p.k })
  local q, v = ns.zeros(dim), ns.zeros(dim)
  q[2], v[1], v[2] = p.x or 0, p.fall or 0, p.v or 0
  if dim == 3 then v[3] = p.across or 0 end
  local ds = K and ns.LagrangianLinearTIDS(q, v, m * ns.eye(dim), K) or ns.LagrangianLinearTIDS(q, v, m * ns.eye(dim))
  if p.force then ds:setComputeFExtFunction(function(t, _, out) out[1], out[2] = -m * g, p.force(t) end)
  else ds:setFExtPtr(dim == 2 and { -m * g, 0 } or { -m * g, 0, 0 }) end
  local law = p.law or ns.NewtonImpactStribeckNSL(p.en or 0, p.mu_s, p.mu_k, p.v_s, dim, p.exponent)
  local V = p.V
  local relation = V and ns.LagrangianRheonomousR {
    h = function(t, x, _, y) y[1], y[2] = x[1], x[2] - V * t end,
    hDot = function(_, _, _, y) y[1], y[2] = 0, -V end } or ns.LagrangianLinearTIR(ns.eye(dim))
  local inter = ns.Interaction(law, relation, "ground")
  local nsds = ns.NonSmoothDynamicalSystem(0, p.T or 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  local simu
  if p.osi then simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, p.h or 0.01), p.osi, p.rtol and { rtol = p.rtol } or nil)
  else simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, (p.T or 1) / 10), ns.RungeKuttaOSI(1e-11, 1e-13)) end
  return simu, ds, law, inter
end

local base = { mu_s = 0.5, mu_k = 0.2, v_s = 0.3, exponent = 2 }
local function with(o)
  return setmetatable(o, { __index = base })
end

-- The motion of a block in the plane by an integrator of ODEs, from event to event: x, v, and the times of stick and slip. A slip
-- has begun EARLY after its start, where u is rounding.
local EARLY = 0.01
local function reference(p, T)
  local mu, V, m, k = stribeck(p), p.V or 0, p.m or 1, p.k or 0
  local t, x, u, events = 0, p.x or 0, (p.v or 0) - (p.V or 0), {}
  local function pull(s, y) return (p.force and p.force(s) or 0) - k * y end
  local side = u > 0 and 1 or u < 0 and -1 or 0
  local function go(span, g_of)
    local s0 = side
    local function f(s, y, d)
      d[1], d[2] = V + y[2], s0 == 0 and 0 or (pull(s, y[1]) - s0 * m * g * mu(y[2])) / m
    end
    local sol = ns.solve_ivp(f, span, { x, u }, { rtol = 1e-12, atol = 1e-14,
      events = g_of and { { g = g_of, terminal = true } } or nil })
    t, x, u = sol.t[#sol.t], sol.y[1][#sol.t], sol.y[2][#sol.t]
  end
  while t < T do
    local s0 = side
    if s0 == 0 then
      go({ t, T }, function(s, y) return p.mu_s * m * g - math.abs(pull(s, y[1])) end)
    else
      if #events > 0 then go { t, math.min(T, t + EARLY) } end
      if t < T then go({ t, T }, function(_, y) return s0 * y[2] end) end
    end
    if t >= T then break end
    side = s0 ~= 0 and math.abs(pull(t, x)) <= p.mu_s * m * g and 0 or pull(t, x) > 0 and 1 or -1
    if s0 ~= 0 then u = 0 end
    events[#events + 1] = { t, side == 0 and "stick" or "slip" }
  end
  return x, u + V, events
end

-- The events of friction behind the start.
local function switches(sol)
  local found = {}
  for _, event in ipairs(sol.events) do
    if event.t > 0 and (event.kind == "stick" or event.kind == "slip") then found[#found + 1] = event end
  end
  return found
end

describe("NewtonImpactStribeckNSL", function()
  it("is a contact with the coefficient at rest; exponent is 2 when it is not given", function()
    local law = ns.NewtonImpactStribeckNSL(0.5, 0.6, 0.3, 0.1, 2)
    local of = internal.law_table(law)
    assert.same({ cone_2d = true, bits = 64 }, of.needs)
    assert.same({ { dim = 2, lower = 0, upper = 0, mu = 0.6, slides = true } }, of.groups)
    assert.same({ 0.5, 0 }, of.restitution)
    assert.equal(2, law:exponent())
    assert.equal("NewtonImpactStribeckNSL of size 2, en = 0.5, mu_s = 0.6, mu_k = 0.3, v_s = 0.1, exponent = 2.0", tostring(law))
    assert.match("exponent: expected 1 or more, got 0.5",
      message(ns.NewtonImpactStribeckNSL, 0, 0.6, 0.3, 0.1, 2, 0.5))
    assert.match("v_s: expected a positive number, got 0.0", message(ns.NewtonImpactStribeckNSL, 0, 0.6, 0.3, 0.0, 2))
  end)

  -- Unit masses: the impulses are the changes of the velocities.
  it("has the friction of the slip after an impact, in one step and in an event; static friction stops what it can", function()
    for _, dim in ipairs { 2, 3 } do
      local law = ns.NewtonImpactStribeckNSL(0.5, 0.5, 0.2, 0.3, dim)
      local v, lambda = laws.impact(law, ns.zeros(dim), dim == 2 and { -2, 3 } or { -2, 1.8, 2.4 })
      local slip = dim == 2 and v[2] or math.sqrt(v[2] ^ 2 + v[3] ^ 2)
      assert.near(1, v[1], 1e-14)
      assert.near(3 - 3 * stribeck(base)(slip), slip, 1e-13)
      assert.near(3, lambda[1], 1e-14)
      local simu, ds = block(with { dim = dim, fall = -2, v = dim == 2 and 3 or 1.8, across = 2.4, en = 0.5, T = 0.1 })
      simu:run()
      for k = 2, dim do assert.near(v[k], ds:velocity()[k], 1e-12) end
      v = laws.impact(law, ns.zeros(dim), dim == 2 and { -2, 1.4 } or { -2, 0.84, 1.12 })
      assert.near(0, v[2], 1e-14)
    end
  end)

  it("lets a block slide to rest: time and way are quadratures, in the plane and in space", function()
    for _, p in ipairs { with { v = 2 }, with { v = 0.4, exponent = 1 }, with { v = 1, mu_k = 0.7, exponent = 1.5 } } do
      local mu = stribeck(p)
      local time = ns.quad(function(v) return 1 / (g * mu(v)) end, 0, p.v)
      local way = ns.quad(function(v) return v / (g * mu(v)) end, 0, p.v)
      for dim = 2, 3 do
        local simu, ds = block(with { mu_k = p.mu_k, exponent = p.exponent, dim = dim, v = dim == 2 and p.v or 0.6 * p.v,
          across = 0.8 * p.v, T = 1.5 * time })
        local sol = simu:run()
        assert.near(way, dim == 2 and ds:q()[2] or ds:q()[3] / 0.8, 1e-9 * way)
        assert.equal(0, ds:velocity()[2])
        local stick
        for _, event in ipairs(sol.events) do
          if event.kind == "stick" then stick = event.t end
        end
        assert.near(time, stick, 1e-8 * time)
        local slow, stepped = block(with { mu_k = p.mu_k, exponent = p.exponent, dim = dim, v = dim == 2 and p.v or 0.6 * p.v,
          across = 0.8 * p.v, T = 1.5 * time, osi = ns.MoreauJeanOSI(0.5), h = time / 500 })
        slow:run()
        assert.near(way, dim == 2 and stepped:q()[2] or stepped:q()[3] / 0.8, 3e-3 * way)
        assert.near(0, stepped:velocity()[2], 1e-14)
      end
    end
  end)

  it("sticks on a belt until the spring has exactly the static friction; the cycle is that of the smooth equations", function()
    local p = with { k = 4, V = 0.3, v = 0.3, T = 12 }
    local _, _, events = reference(p, p.T)
    local sol = block(p):run()
    local found = switches(sol)
    assert.equal(#events, #found)
    assert.near(p.mu_s * g / p.k / p.V, found[1].t, 1e-12)
    for i, event in ipairs(events) do
      assert.equal(event[2], found[i].kind)
      assert.near(event[1], found[i].t, 1e-8)
    end
    local n = #found
    assert.near(events[n][1] - events[n - 2][1], found[n].t - found[n - 2].t, 1e-8)
  end)

  it("agrees with an integrator of ODEs between events, for random blocks #once", function()
    local count, tell = campaign(8, 0.05)
    for seed = 1, count do
      math.randomseed(seed)
      local r = math.random
      local mu_k = 0.1 + 0.4 * r()
      local a, w = 2 + 6 * r(), 1 + 3 * r()
      local p = { mu_k = mu_k, mu_s = mu_k + 0.3 * r(), v_s = 0.05 + 0.5 * r(), exponent = ({ 1, 2, 1.5, 3 })[r(4)],
        m = 0.5 + r(), k = 1 + 5 * r(), x = r() - 0.5, v = 2 * r() - 1, V = seed % 2 == 0 and 0.3 * r() or nil, T = 4,
        force = function(t) return a * math.sin(w * t) end }
      local x, v, events = reference(p, p.T)
      local simu, ds = block(p)
      local sol = simu:run()
      local words = ("seed %d"):format(seed)
      assert.near(x, ds:q()[2], 1e-7, words)
      assert.near(v, ds:velocity()[2], 1e-6, words)
      for _, event in ipairs(switches(sol)) do
        local off = math.huge
        for _, of in ipairs(events) do off = math.min(off, math.abs(of[1] - event.t)) end
        assert.near(0, off, 1e-6, words)
      end
    end
    tell("blocks with friction that falls with the slip", count)
  end)

  -- By the numbers of the law, the mass and the velocity: of runs with slip, impacts and rest.
  local function parameters(ds, law)
    local list = { { ds, "velocity0", 2 } }
    for _, name in ipairs { "mu_s", "mu_k", "v_s", "exponent" } do list[#list + 1] = { law, name } end
    return list
  end

  local function slope_errors(p)
    local simu, ds, law = block(p)
    local sol = simu:run { sensitivities = parameters(ds, law) }
    local S, worst = sol.S[#sol], 0
    for j, name in ipairs { "v", "mu_s", "mu_k", "v_s", "exponent" } do
      local function at(by)
        local other, moved = block(setmetatable({ [name] = p[name] + by }, { __index = p }))
        other:run()
        return moved:q()[2]
      end
      local d = 2e-4 * p[name]
      local slope = (8 * (at(d / 2) - at(-d / 2)) - (at(d) - at(-d))) / (6 * d)
      worst = math.max(worst, math.abs(S[2][j] - slope))
    end
    local again, body, same = block(p)
    local value, gradient = again:gradient { terminal = function(x) return x[2] end, parameters = parameters(body, same) }
    assert.near(ds:q()[2], value, 1e-12)
    for j = 1, 5 do assert.near(S[2][j], gradient[j], 1e-9) end
    return worst
  end

  it("has derivatives in EventDriven, through slip, impacts and rest, forward and back #once", function()
    for dim = 2, 3 do
      local across = 0.5
      assert.is_true(slope_errors(with { dim = dim, v = 1, across = across, k = 2, T = 0.2 }) < 1e-8)
      assert.is_true(slope_errors(with { dim = dim, v = 1, across = across, T = 1.2 }) < 1e-8)
      assert.is_true(slope_errors(with { dim = dim, v = 1.5, across = across, fall = -0.3, en = 0.5, k = 1, T = 0.4 }) < 1e-7)
      assert.is_true(slope_errors(with { dim = dim, v = 0.5, across = across, exponent = 1.5, T = 0.6 }) < 1e-8)
    end
  end)

  it("has derivatives of time-stepping runs #once", function()
    for dim = 2, 3 do
      for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanOSI(1) } do
        assert.is_true(slope_errors(with { dim = dim, v = 0.6, across = 0.3, k = 2, T = 0.1, osi = osi }) < 1e-8)
      end
    end
  end)

  it("obeys its law at the end of each step: chains of blocks, long steps, friction that grows with the slip #once", function()
    local count = campaign(10, 0.02)
    for seed = 1, count do
      math.randomseed(seed)
      local r, n, dim = math.random, 1 + seed % 4, 2 + seed % 2
      local nsds, inters, laws_of, before = ns.NonSmoothDynamicalSystem(0, 1), {}, {}, nil
      for k = 1, n do
        local q, v, weight = ns.zeros(dim), ns.zeros(dim), ns.zeros(dim)
        for i = 2, dim do v[i] = 2 * r() - 1 end
        weight[1] = -g * (1 + r())
        local ds = ns.LagrangianLinearTIDS(q, v, (0.5 + r()) * ns.eye(dim))
        ds:setFExtPtr(weight)
        nsds:insertDynamicalSystem(ds)
        local mu_s, mu_k = r(), r()
        laws_of[k] = { mu_s = mu_s, mu_k = mu_k, v_s = 0.1 + r(), exponent = 1 + r() }
        local law = ns.NewtonImpactStribeckNSL(0, mu_s, mu_k, laws_of[k].v_s, dim, laws_of[k].exponent)
        local rows = {} -- a wedge: the normal and the slip are coupled
        for i = 1, dim do
          rows[i] = {}
          for j = 1, dim do rows[i][j] = (i == j and 1 or 0) + 0.3 * (r() - 0.5) end
        end
        inters[k] = ns.Interaction(law, ns.LagrangianLinearTIR(rows))
        nsds:link(inters[k], ds)
        if before then
          local across = {}
          for j = 1, 2 * dim do across[j] = j == 2 and 1 or j == dim + 2 and -1 or 0 end
          nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { across }), before, ds)
        end
        before = ds
      end
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), ns.MoreauJeanOSI(0.5), ns.GenericMechanical())
      for _ = 1, 20 do
        simu:computeOneStep()
        for k = 1, n do
          local P, y, slip, force = inters[k]:lambda(1), inters[k]:y(1), 0, 0
          for i = 2, dim do slip, force = math.sqrt(slip ^ 2 + y[i] ^ 2), math.sqrt(force ^ 2 + P[i] ^ 2) end
          local most = stribeck(laws_of[k])(slip) * P[1]
          if slip > 1e-9 then assert.near(most, force, 1e-9 * most + 1e-14, ("seed %d"):format(seed)) end
          assert.is_true(force <= laws_of[k].mu_s * P[1] * (1 + 1e-9) + 1e-14 or slip > 1e-9)
        end
        simu:nextStep()
      end
    end
  end)

  it("in a step takes the slowest of several slips, or sticks: the friction at rest is tried first", function()
    local function step(v, mu_k)
      local simu, ds = block { mu_s = 1, mu_k = mu_k, v_s = 0.01, exponent = 2, v = v, osi = ns.MoreauJeanOSI(1), h = 0.1, T = 0.1 }
      simu:computeOneStep()
      return ds:velocity()[2]
    end
    assert.near(0, step(0.95, 0.1), 1e-14) -- it also could slip with 0.85
    assert.near(0.95, step(1.05, 0.1), 0.06)
    assert.is_true(step(1.05, 0.1) > 0.05)
  end)

  it("runs with adaptive steps, MoreauJeanBilbaoOSI and a restart; ns.dynamics refuses it by name", function()
    local exact = ns.quad(function(v) return v / (g * stribeck(base)(v)) end, 0, 1)
    local simu, ds = block(with { v = 1, osi = ns.MoreauJeanBilbaoOSI(), h = 1e-3, T = 1 })
    simu:run()
    assert.near(exact, ds:q()[2], 2e-3)
    simu, ds = block(with { v = 1, osi = ns.MoreauJeanOSI(0.5), h = 0.05, T = 1, rtol = 1e-4 })
    simu:run()
    assert.near(exact, ds:q()[2], 2e-3)
    simu, ds = block(with { v = 1, T = 1 })
    simu:run()
    local way = ds:q()[2]
    simu:reset()
    simu:run()
    assert.equal(way, ds:q()[2])
    assert.match("'ground' has friction that depends on the slip, which is not supported",
      message(ns.dynamics.equilibrium, { simulation = simu }))
  end)
end)
