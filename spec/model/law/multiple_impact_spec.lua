-- MultipleImpactNSL: impacts of many contacts at once, against springs, limits of stiffness, and published outcomes.
local ns = require "nslua"
local message = require "bind.models".message

-- The velocities of balls in a row of which the first ones come with the velocity 1; law(i) is of balls i and i + 1.
local function cradle(n, law, o)
  o = o or {}
  local q0, v0, M = {}, {}, ns.eye(n)
  for i = 1, n do
    q0[i], v0[i] = i - (i <= (o.first or 1) and 0.01 or 0), i <= (o.first or 1) and 1 or 0
    M[i][i] = o.masses and o.masses[i] or 1
  end
  local ds, nsds = ns.LagrangianLinearTIDS(q0, v0, M), ns.NonSmoothDynamicalSystem(0, 0.1)
  nsds:insertDynamicalSystem(ds)
  local function link(one, i)
    local C = ns.zeros(1, n)
    C[1][i], C[1][i + 1] = -1, 1
    nsds:link(ns.Interaction(one, ns.LagrangianLinearTIR(C, { -1 }), "balls " .. i), ds)
  end
  for i = 1, n - 1 do link(law(i), i) end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10))
  simu:run()
  return ds:velocity():totable(), simu
end

local function alike(e, stiffness, exponent)
  return function() return ns.MultipleImpactNSL(e, stiffness, exponent) end
end

local function near(expected, got, tolerance)
  for i, x in ipairs(expected) do
    assert.is_true(math.abs(x - got[i]) <= tolerance, ("%d: %.12g is not %.12g"):format(i, got[i], x))
  end
end

-- The velocities after an impact with springs k s^p between the balls, which end where they are not compressed.
local function springs(n, k, p, masses)
  local start = {}
  for i = 1, 2 * n do start[i] = i == n + 1 and 1 or 0 end
  local function rate(_, y, out)
    for i = 1, n do out[i], out[n + i] = y[n + i], 0 end
    for i = 1, n - 1 do
      local s = math.max(0, y[i] - y[i + 1])
      out[n + i], out[n + i + 1] = out[n + i] - k[i] * s ^ p, out[n + i + 1] + k[i] * s ^ p
    end
    for i = 1, n do out[n + i] = out[n + i] / (masses and masses[i] or 1) end
  end
  local sol, v = ns.solve_ivp(rate, { 0, 40 }, start, { method = "DOP853", rtol = 1e-12, atol = 1e-14 }), {}
  for i = 1, n do v[i] = sol.y[n + i][#sol.t] end
  return v
end

describe("MultipleImpactNSL", function()
  it("is Newton's law for two balls", function()
    near({ 0.15, 0.85 }, cradle(2, alike(0.7, 3, 1.5)), 1e-15)
  end)

  it("without loss is an impact of springs, of equal and of other stiffnesses and masses", function()
    near(springs(3, { 1, 1 }, 1), cradle(3, alike(1, 1, 1)), 1e-10)
    near(springs(4, { 1, 1, 1 }, 1.5), cradle(4, alike(1, 5, 1.5)), 1e-10)
    local masses, k = { 1, 0.5, 2, 1 }, { 1, 4, 0.5 }
    local function law(i) return ns.MultipleImpactNSL(1, k[i], 1.5) end
    near(springs(4, k, 1.5, masses), cradle(4, law, { masses = masses }), 1e-10)
  end)

  it("keeps the momentum, and the energy for e = 1", function()
    for _, o in ipairs { { 1, 1 }, { 1, 1.5 }, { 1, 2 }, { 0.8, 1.5 }, { 0.3, 1 }, { 0, 1.5 } } do
      local v, p, E = cradle(6, alike(o[1], 1, o[2]), { first = 2 }), 0, 0
      for _, x in ipairs(v) do p, E = p + x, E + x * x end
      assert.is_true(math.abs(p - 2) < 1e-12)
      if o[1] == 1 then assert.is_true(math.abs(E - 2) < 1e-10) else assert.is_true(E < 2) end
      for i = 2, 6 do assert.is_true(v[i] >= v[i - 1] - 1e-10) end
    end
  end)

  it("keeps the momentum and gains no energy, for random rows of balls", function()
    math.randomseed(5)
    for _ = 1, require "campaign"(8, 0.02) do
      local n, masses, laws = math.random(2, 8), {}, {}
      for i = 1, n do masses[i] = 0.3 + 2 * math.random() end
      local which, exponent = math.random(), 1 + 9 * math.random() ^ 4
      local e = which < 0.3 and 1 or which < 0.4 and 0 or 1e-3 + 0.999 * math.random() ^ 3
      for i = 1, n - 1 do laws[i] = { e, 0.2 + 3 * math.random(), exponent } end
      local v = cradle(n, function(i) return ns.MultipleImpactNSL(table.unpack(laws[i])) end, { masses = masses })
      local p, E = -masses[1], -masses[1]
      for i, x in ipairs(v) do p, E = p + masses[i] * x, E + masses[i] * x * x end
      assert.near(0, p, 1e-12)
      assert.is_true(e == 1 and math.abs(E) < 1e-9 or e < 1 and E < 0)
      for i = 2, n do assert.is_true(v[i] >= v[i - 1] - 1e-10) end
    end
  end)

  it("has the velocities of the literature for balls of Hertz", function() -- Hinch and Saint-Jean, Proc. R. Soc. A 455, 1999
    local v = cradle(10, alike(1, 1, 1.5))
    assert.is_true(math.abs(v[10] - 0.986) < 1e-3 and math.abs(v[9] - 0.147) < 1e-3 and math.abs(v[1] + 0.071) < 1e-3)
  end)

  it("goes to impacts one after the other, and to Newton's of a rigid pair, with the ratio of the stiffnesses", function()
    near({ 0, 0, 1 }, cradle(3, function(i) return ns.MultipleImpactNSL(1, i == 1 and 1e10 or 1, 1) end), 1e-8)
    near({ -1 / 3, 2 / 3, 2 / 3 }, cradle(3, function(i) return ns.MultipleImpactNSL(1, i == 2 and 1e8 or 1, 1) end), 1e-3)
  end)

  it("without restitution leaves all with one velocity", function()
    near({ 0.25, 0.25, 0.25, 0.25 }, cradle(4, alike(0, 1, 1.5)), 1e-10)
  end)

  it("goes with equations: two balls that are tied are one of their mass", function()
    local ds = ns.LagrangianLinearTIDS({ -0.01, 1, 2, 3 }, { 1, 0, 0, 0 }, ns.eye(4))
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.1)
    nsds:insertDynamicalSystem(ds)
    for k, law in ipairs { ns.MultipleImpactNSL(1, 1, 1.5), ns.EqualityConditionNSL(1), ns.MultipleImpactNSL(1, 1, 1.5) } do
      local C = ns.zeros(1, 4)
      C[1][k], C[1][k + 1] = -1, 1
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(C, { -1 })), ds)
    end
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)):run()
    local v = cradle(3, alike(1, 1, 1.5), { masses = { 1, 2, 1 } })
    near({ v[1], v[2], v[2], v[3] }, ds:velocity(), 1e-10)
  end)

  it("goes with its own kind alone, in EventDriven alone, and has no derivatives", function()
    assert.matches("EventDriven: interaction 'balls 2' has a NewtonImpactNSL; in an impact with contacts of a "
      .. "MultipleImpactNSL only these and equations may take part", message(cradle, 3, function(i)
        return i == 1 and ns.MultipleImpactNSL(1, 1, 1) or ns.NewtonImpactNSL(1)
      end), 1, true)
    local function ball()
      local ds, nsds = ns.LagrangianLinearTIDS({ 0.1 }, { -1 }, { { 1 } }), ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.MultipleImpactNSL(1, 1, 1), ns.LagrangianLinearTIR { { 1 } }, "floor"), ds)
      return nsds, ns.TimeDiscretisation(0, 0.5), ds
    end
    for name, osi in pairs { MoreauJeanOSI = ns.MoreauJeanOSI(0.5), SchatzmanPaoliOSI = ns.SchatzmanPaoliOSI(0.5) } do
      assert.matches(name .. ": interaction 'floor' has a MultipleImpactNSL, whose impacts must be located; use RungeKuttaOSI with "
        .. "EventDriven", message(function()
          local nsds, grid = ball()
          ns.TimeStepping(nsds, grid, osi):run()
        end), 1, true)
    end
    assert.matches("impacts of a MultipleImpactNSL have no derivatives", message(function()
      local nsds, grid, ds = ball()
      ns.EventDriven(nsds, grid, ns.RungeKuttaOSI(1e-8, 1e-8)):run { sensitivities = { { ds, "q0" } } }
    end), 1, true)
  end)

  it("says what it expects", function()
    assert.equal("MultipleImpactNSL of size 2, e = 0.5, stiffness = 1.0, exponent = 1.5",
      tostring(ns.MultipleImpactNSL(2, 0.5, 1, 1.5)))
    assert.matches("stiffness: expected a positive number, got 0", message(ns.MultipleImpactNSL, 1, 0, 1), 1, true)
    assert.matches("e: expected a number in [0, 1], got 1.5", message(ns.MultipleImpactNSL, 1.5, 1, 1), 1, true)
    assert.matches("exponent: expected a number in [1, 10], got 0.5", message(ns.MultipleImpactNSL, 1, 1, 0.5), 1, true)
  end)

  it("goes to no restitution as e goes to 0, in proportion to e", function()
    math.randomseed(11)
    for _ = 1, require "campaign"(3, 0.02) do
      local n, masses, stiffness, exponent = math.random(3, 6), {}, {}, 1 + 2 * math.random()
      for i = 1, n do masses[i], stiffness[i] = 10 ^ math.random(-1, 1), 10 ^ math.random(-1, 1) end
      local function law(e) return function(i) return ns.MultipleImpactNSL(e, stiffness[i], exponent) end end
      local v0 = cradle(n, law(0), { masses = masses })
      for _, e in ipairs { 1e-300, 1e-12, 1e-8, 1e-5, 1e-3 } do
        near(v0, cradle(n, law(e), { masses = masses }), 3 * e + 1e-11)
      end
    end
  end)

  it("without restitution keeps no more than the limit: balls at the ends of a row leave a plastic pair", function()
    -- one ball meets two that touch: contact 2 opens and closes, and all three end with the velocity of their mass
    near({ 1 / 3, 1 / 3, 1 / 3 }, cradle(3, alike(0, 1, 1)), 1e-11)
    -- a stiff contact ends first: ball 1 and 2 go on as one, then with ball 3 all do
    near({ 1 / 3, 1 / 3, 1 / 3 }, cradle(3, function(i) return ns.MultipleImpactNSL(0, i == 1 and 1e6 or 1, 1) end), 1e-9)
  end)

  it("tells why it takes too many steps: a light ball between heavy ones #long", function()
    local text = "the multiple impact takes too many steps: stiffnesses or masses of its contacts differ too much; "
      .. "a stiffness nearer to the others may help"
    assert.matches(text, message(cradle, 3, alike(0.5, 1, 1.5), { masses = { 1, 1e-14, 1 } }), 1, true)
  end)
end)
