local ns = require "nslua"
local internal = require "nslua.internal"
local numbers = require "random_numbers"

-- A graph of one system and interactions {law, relation}.
local function graph(ds, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  for i, pair in ipairs {...} do
    local interaction = ns.Interaction(pair[1], pair[2])
    interaction:setName("row " .. i)
    nsds:link(interaction, ds)
  end
  return nsds
end

describe("the motion of a first-order model in a mode", function()
  it("has lambda at its bound where y is not 0", function()
    local ds = ns.FirstOrderLinearTIDS({1, 2}, {{0, 1}, {-1, 0}})
    local nsds = graph(ds, {ns.RelayNSL(1, -3, 5), ns.FirstOrderLinearTIR({{1, 0}}, {{0}, {1}})})
    local r = internal.flow(nsds, {mode = {"lower"}})
    assert.are.equal(-3, r.lambda[1])
    assert.are.equal(2, r.sdot[1])
    assert.are.equal(-4, r.sdot[2])
    r = internal.flow(nsds, {mode = {"upper"}})
    assert.are.equal(4, r.sdot[2])
    assert.are.equal(1, r.y[1])
  end)

  it("slides on a nonlinear surface that moves, with the exact lambda and Jacobian", function()
    -- y = x1^2 + x2 - sin t, x1' = x2, x2' = lambda^3: lambda^3 = cos t - 2 x1 x2
    local ds = ns.FirstOrderNonLinearDS({0.3, -0.09}, function(t, x, z, f) f[1], f[2] = x[2], 0 end)
    local relation = ns.FirstOrderNonLinearR{
      h = function(t, x, lambda, z, y) y[1] = x[1] ^ 2 + x[2] - math.sin(t) end,
      g = function(t, x, lambda, z, r) r[2] = lambda[1] ^ 3 end}
    local nsds = graph(ds, {ns.RelayNSL(1, -2, 2), relation})
    nsds:interaction("row 1"):lambda(0)[1] = 1
    local r = internal.flow(nsds, {mode = {"active"}})
    local expected = 1 + 2 * 0.3 * 0.09
    assert.is_near(expected ^ (1 / 3), r.lambda[1], 1e-14)
    assert.is_near(expected, r.sdot[2], 1e-14)
  end)
end)

describe("index reduction", function()
  -- x1' = x3, x2' = x4, x3' = -lambda x1, x4' = -g - lambda x2, x1^2 + x2^2 = 1: index 3
  it("differentiates the constraint of a pendulum twice", function()
    local angle, w, g = 0.3, 2, 9.81
    local ds = ns.FirstOrderNonLinearDS({math.sin(angle), -math.cos(angle), w * math.cos(angle), w * math.sin(angle)},
      function(t, x, z, f) f[1], f[2], f[3], f[4] = x[3], x[4], 0, -g end)
    local relation = ns.FirstOrderNonLinearR{
      h = function(t, x, lambda, z, y) y[1] = x[1] ^ 2 + x[2] ^ 2 - 1 end,
      g = function(t, x, lambda, z, r) r[3], r[4] = -lambda[1] * x[1], -lambda[1] * x[2] end}
    local r = internal.flow(graph(ds, {ns.EqualityConditionNSL(1), relation}), {mode = {"active"}})
    assert.is_near(w ^ 2 + g * math.cos(angle), r.lambda[1], 1e-10)
  end)

  it("finds the current of a capacitor loop, which is algebraic and of index 2", function()
    -- 2 v1' = -v1 + i, 3 v2' = -i, v1 = v2
    local ds = ns.FirstOrderLinearTIDS({1, 1, 0}, {{-1, 0, 1}, {0, 0, -1}, {1, -1, 0}})
    ds:setMPtr{{2, 0, 0}, {0, 3, 0}, {0, 0, 0}}
    local r = internal.flow(graph(ds), {mode = {}})
    assert.is_near(0.6, r.x[3], 1e-15)
    assert.are.equal(2, #r.s)
    assert.is_near(-0.2, r.sdot[1], 1e-15)
  end)

  it("takes differential states of a singular M that mixes states", function()
    -- x1' + x2' = -x1, x1 = 2 x2
    local ds = ns.FirstOrderLinearTIDS({2, 1}, {{-1, 0}, {1, -2}})
    ds:setMPtr{{1, 1}, {0, 0}}
    local r = internal.flow(graph(ds), {mode = {}})
    assert.are.equal(1, #r.s)
    assert.is_near(3, r.s[1], 1e-15)
    assert.is_near(-2, r.sdot[1], 1e-15)
    assert.is_near(-2 / 3, r.J[1][1], 1e-15)
  end)
end)

describe("a rectifier in nodal form", function()
  -- Ideal source sin t, ideal diode, capacitor and resistor: x = (v_source, v_capacitor, i_source). While the diode conducts,
  -- the capacitor hangs on the source (index 2): lambda = C cos t + sin t / R. It opens at tan t = -R C, and closes again when
  -- sin t meets the exponential.
  local R, C, start = 2, 1.5, 0.3

  local function run(osi)
    local ds = ns.FirstOrderLinearDS({math.sin(start), math.sin(start), 0}, {{1, 0, 0}, {0, 0, 1}, {0, -1 / R, 0}})
    ds:setMPtr{{0, 0, 0}, {0, 0, 0}, {0, C, 0}}
    ds.computeb = function(self, t, z, b) b[1] = -math.sin(t) end
    local nsds = ns.NonSmoothDynamicalSystem(start, 10)
    nsds:insertDynamicalSystem(ds)
    local diode = ns.Interaction(ns.ComplementarityConditionNSL(1), ns.FirstOrderLinearTIR({{-1, 1, 0}}, {{0}, {-1}, {1}}))
    nsds:link(diode, ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(start, 0.1), osi)
    simu:run()
    return simu:events(), ds, diode
  end

  local opens = math.pi - math.atan(R * C)
  local function gap(t) return math.sin(opens) * math.exp((opens - t) / (R * C)) - math.sin(t) end
  local closes, after = 5, 2.5 * math.pi
  for _ = 1, 60 do
    local middle = (closes + after) / 2
    if gap(middle) > 0 then closes = middle else after = middle end
  end

  for _, osi in ipairs{ns.RungeKuttaOSI(1e-11, 1e-12), ns.RadauOSI(1e-10, 1e-12)} do
    it("opens and closes at its times with " .. tostring(osi):match("%a+"), function()
      local events, ds, diode = run(osi)
      assert.are.equal("open", events[1].kind)
      assert.is_near(opens, events[1].t, 1e-12)
      assert.are.equal("close", events[2].kind)
      assert.is_near(closes, events[2].t, 1e-9)
      assert.is_near(opens + 2 * math.pi, events[3].t, 1e-9)
      assert.are.equal(3, #events)
      assert.is_near(math.sin(10), ds:x()[1], 1e-14)
      assert.is_near(math.sin(opens) * math.exp((opens + 2 * math.pi - 10) / (R * C)), ds:x()[2], 1e-9)
      assert.are.equal(0, diode:lambda(0)[1])
    end)
  end
end)

describe("messages of the motion in a mode", function()
  local relay = ns.RelayNSL(1, -1, 1)

  local function message(nsds, options)
    local good, text = pcall(internal.flow, nsds, options)
    assert.is_false(good)
    return text
  end

  it("name a row whose derivatives do not depend on lambda", function()
    local ds = ns.FirstOrderLinearTIDS({1, 0}, {{-1, 0}, {0, 0}})
    local text = message(graph(ds, {relay, ns.FirstOrderLinearTIR({{0, 1}}, {{1}, {0}})}), {mode = {"active"}})
    assert.matches("y = 0 of interaction 'row 1' does not determine the motion at t=0: its derivatives up to order 1 do not " ..
                   "depend on lambda", text, 1, true)
  end)

  it("name a row that can not stay at 0", function()
    local ds = ns.FirstOrderLinearTIDS({1, 0}, {{-1, 0}, {0, 0}}, {0, 1})
    local text = message(graph(ds, {relay, ns.FirstOrderLinearTIR({{0, 1}}, {{1}, {0}})}), {mode = {"active"}})
    assert.matches("y = 0 of interaction 'row 1' contradicts the other equations at t=0, and no lambda can change it", text, 1,
                   true)
  end)

  it("tell an index that is too high for a nonlinear model", function()
    local ds = ns.FirstOrderNonLinearDS({0, 0, 0}, function(t, x, z, f) f[1], f[2], f[3] = x[2], x[3] + x[1] ^ 2, 0 end)
    local text = message(graph(ds, {relay, ns.FirstOrderLinearTIR({{1, 0, 0}}, {{0}, {0}, {1}})}), {mode = {"active"}})
    assert.matches("y = 0 of interaction 'row 1' at t=0 must be differentiated 3 times to determine lambda; for a model that is " ..
                   "not linear with constant coefficients at most 2 are possible; TimeStepping with EulerMoreauOSI takes it",
                   text, 1, true)
  end)

  it("tell an algebraic equation without solution", function()
    local ds = ns.FirstOrderNonLinearDS({0, 1}, function(t, x, z, f) f[1], f[2] = x[2], x[2] ^ 2 + 1 end)
    ds:setName "net"
    ds:setMPtr{{1, 0}, {0, 0}}
    local text = message(graph(ds), {mode = {}})
    assert.matches("dynamical system 'net'", text, 1, true)
  end)

  it("tell a state that breaks an equation without derivative", function()
    -- x1' = x2, x2' = x3, 0 = x1 - 1, at x1 = 0: an impulse of x3 changes x2 alone
    local ds = ns.FirstOrderLinearTIDS({0, 0, 0}, {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {0, 0, -1})
    ds:setName "crane"
    ds:setMPtr{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}
    local text = message(graph(ds), {job = "start"})
    assert.matches("the state at t=0 does not fulfil an equation without derivative of dynamical system 'crane', and no impulse " ..
                   "changes that", text, 1, true)
  end)
end)

describe("a state that has been at rest at 0", function()
  -- x' = K max(0, t - 1 - a) / (1 + K), through the algebraic state a of 0 = K max(0, t - 1 - a) - a, or without it.
  local function through(K)
    return ns.FirstOrderNonLinearDS { x0 = { 0, 0 }, M = ns.diag(ns.vector { 1, 0 }), f = function(t, x, _, f)
      local u = t - 1 - x[2]
      f[1], f[2] = x[2], K * (u > 0 and u or 0) - x[2]
    end }
  end
  local function direct(K)
    return ns.FirstOrderNonLinearDS { x0 = { 0 }, f = function(t, _, _, f) f[1] = K / (1 + K) * (t > 1 and t - 1 or 0) end }
  end

  it("begins to move where its rate has a kink", function()
    for _, osi in ipairs { ns.RungeKuttaOSI, ns.RadauOSI } do
      for _, system in ipairs { through, direct } do
        for _, K in ipairs { 0.5, 10 } do
          local ds, nsds = system(K), ns.NonSmoothDynamicalSystem(0, 1.98)
          nsds:insertDynamicalSystem(ds)
          ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.03), osi()):run()
          assert.near(K / (1 + K) * 0.98 ^ 2 / 2, ds:x()[1], 1e-6)
        end
      end
    end
  end)

  -- v1' = sin t, and a damper to a shaft that a brake holds.
  it("begins to move under a force that is 0 at the start", function()
    local shafts = ns.FirstOrderNonLinearDS { x0 = { 0, 0, 0, 0 }, f = function(t, x, _, f)
      f[1], f[2], f[3] = x[3], x[4], math.sin(t) - (x[3] - x[4])
      f[4] = x[3] - x[4]
    end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(shafts)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 0, 0, 0, 1 } }, { { 0 }, { 0 }, { 0 }, { 1 } })), shafts)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10)):run()
    assert.near((math.exp(-1) + math.sin(1) - math.cos(1)) / 2, shafts:x()[3], 1e-10)
  end)

  -- A shaft at rest that a brake holds against cos(6 t) - sin(6 t) / 10, which is at most sqrt(1.01) of the 5 that it has: its
  -- speed is rounding, and its angle the integral of that.
  it("stays there beside a state that a law holds at 0, in any units", function()
    for _, osi in ipairs { ns.RungeKuttaOSI(1e-10), ns.RungeKuttaOSI(), ns.RadauOSI() } do
      for _, unit in ipairs { 1, 2.0 ^ 40, 2.0 ^ -40 } do
        local shaft = ns.FirstOrderNonLinearDS { x0 = { 0, 0 }, M = { { 1, 0 }, { 0, 0.744 } }, f = function(t, x, _, f)
          f[1], f[2] = x[2], unit * (math.cos(6 * t) - math.sin(6 * t) / 10)
        end }
        local nsds = ns.NonSmoothDynamicalSystem(0, 2)
        nsds:insertDynamicalSystem(shaft)
        nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 5 * unit } }), "brake"), shaft)
        local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), osi)
        simu:run()
        assert.equal(0, #simu:events())
        assert.near(0, shaft:x()[1] / unit, 1e-15)
      end
    end
  end)

  -- Shafts with springs between them; a brake holds the first one, up to the rounding of F sin(t) - F lambda, which moves others.
  it("stays there behind springs to a shaft that a brake holds", function()
    for links = 1, 3 do
      for _, F in ipairs { 0.1, 0.3, 0.7 } do
        local n, looks = 2 * links + 2, 0
        local speed, into = ns.zeros(1, n), ns.zeros(n, 1)
        speed[1][2], into[2][1] = 1, F
        local shafts = ns.FirstOrderNonLinearDS { x0 = ns.zeros(n), f = function(t, x, _, f)
          looks = looks + 1
          if looks > 20000 then error("too many steps") end
          for k = 0, links do f[2 * k + 1], f[2 * k + 2] = x[2 * k + 2], k == 0 and F * math.sin(t) or 0 end
          for k = 2, 2 * links, 2 do
            local force = 200 * (x[k - 1] - x[k + 1])
            f[k], f[k + 2] = f[k] - force, f[k + 2] + force
          end
        end }
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(shafts)
        nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR(speed, into)), shafts)
        ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10)):run()
        for i = 1, n do assert.near(0, shafts:x()[i], 1e-15) end
      end
    end
  end)
end)

describe("diodes that are all at their corner at the start", function()
  -- y = C x + D lambda + a sin(t), D of a common resistance and one in each diode; x' = -x + C' lambda dissipates.
  local function network(C, D, a, T)
    local m, n = #C, #C[1]
    local ds = ns.FirstOrderLinearTIDS(ns.zeros(n), -1 * ns.eye(n))
    local relation = ns.FirstOrderLinearR { C = C, D = D, B = ns.matrix(C):transpose(),
      e = function(t, _, e) for i = 1, m do e[i] = a[i] * math.sin(t) end end }
    local nsds = ns.NonSmoothDynamicalSystem(0, T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(m), relation, "diodes"), ds)
    return nsds, ds
  end
  local function resistances(G, own)
    local D = G * G:transpose()
    for i = 1, #D do D[i][i] = D[i][i] + own end
    return D
  end
  local function ends(osi, ...)
    local nsds, ds = network(...)
    local grid = ns.TimeDiscretisation(0, 0.1)
    local simu = osi == ns.FESDOSI and ns.TimeStepping(nsds, grid, osi()) or ns.EventDriven(nsds, grid, osi())
    simu:run()
    return ds:x()
  end

  it("take the mode that the problem of their rates has: four behind one source, however small their own resistance is", function()
    local a = { 1, -1, 1, -1 }
    for _, own in ipairs { 1, 1e-2, 1e-3, 1e-6 } do
      local C, D = { { 0 }, { 1 }, { 0 }, { 1 } }, resistances(ns.matrix { { 1 }, { -1 }, { 1 }, { -1 } }, own)
      local x = ends(ns.RungeKuttaOSI, C, D, a, 2)
      assert.near(x[1], ends(ns.RadauOSI, C, D, a, 2)[1], 1e-7)
      assert.near(x[1], ends(ns.FESDOSI, C, D, a, 2)[1], 1e-7)
    end
  end)

  it("of random networks move as FESDOSI moves them", function()
    local count, tell = require "campaign"(8, 0.02)
    math.randomseed(44)
    for _ = 1, count do
      local m, n = math.random(2, 4), math.random(3)
      local C, G = ns.matrix(numbers.matrix(m, numbers.signed, n)), ns.matrix(numbers.matrix(m, numbers.signed, math.random(2)))
      local D, a = resistances(G, 10 ^ -numbers.uniform(0, 3)), numbers.vector(m, numbers.signed)
      local x, y = ends(ns.RungeKuttaOSI, C, D, a, 2), ends(ns.FESDOSI, C, D, a, 2)
      for i = 1, n do assert.near(y[i], x[i], 1e-7) end
    end
    tell("networks of diodes at their corners", count)
  end)
end)
