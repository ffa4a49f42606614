local ns = require "nslua"
local aside, campaign, expect = require "read_aside", require "campaign", require "expect"

-- The final state of a run, and its events in one text.
local function outcome(sol)
  local x, kinds = {}, {}
  for i = 1, #sol.x[#sol] do x[i] = sol.x[#sol][i] end
  for i, event in ipairs(sol.events or {}) do kinds[i] = event.kind end
  return x, table.concat(kinds, " ")
end

-- The derivatives of the final state of a model by number j of p, by differences of order 4; nil: the events change.
local function slopes(model, kind, j, events)
  local h, x, p = 2e-4, {}, {}
  for _, steps in ipairs { -2, -1, 1, 2 } do
    table.move(model.p, 1, #model.p, 1, p)
    p[j] = p[j] + steps * h
    local order
    x[steps], order = outcome(model.build(p, kind):run())
    if order ~= events then return nil end
  end
  local d = {}
  for i = 1, #x[1] do d[i] = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h) end
  return d
end

local function run_with_S(model, kind, plain)
  local simu, _, system = model.build(model.p, kind, plain)
  return simu:run { sensitivities = { { system, "z" } } }
end

-- The gradient of the sum of w[i] x[i](T).
local function gradient(model, kind, w)
  local simu, _, system = model.build(model.p, kind)
  local _, slope = simu:gradient { parameters = { { system, "z" } }, terminal = function(x)
    local sum = 0
    for i = 1, #w do sum = sum + w[i] * x[i] end
    return sum
  end }
  return slope
end

describe("numbers of z that callbacks read by themselves", function()
  local count, told = campaign(1, 0.01)
  for _, family in ipairs(aside.names) do
    for _, kind in ipairs { "ED", "TS" } do
      it(("have derivatives as arguments have: %s, %s"):format(family, kind), function()
        math.randomseed(#family + #kind)
        for _ = 1, count do
          local model, w = aside.draw(family), {}
          local sol = run_with_S(model, kind)
          local S, plain = sol.S[#sol], aside.only[family] and sol or run_with_S(model, kind, true)
          local x, events = outcome(sol)
          for i = 1, #x do w[i] = math.random() end
          local back = gradient(model, kind, w)
          local differed = math.random(#model.p)
          for j = 1, #model.p do
            local d, size, sum = j == differed and slopes(model, kind, j, events), 1e-2, 0
            for i = 1, #x do size = math.max(size, math.abs(S[i][j])) end
            for i = 1, #x do
              local which = ("x%d by z%d: %s"):format(i, j, model.ways())
              if d then assert.is_true(math.abs(d[i] - S[i][j]) < 1e-7 * size, which) end
              assert.is_true(math.abs(plain.S[#plain][i][j] - S[i][j]) < 1e-8 * size, which)
              sum = sum + w[i] * S[i][j]
            end
            assert.is_true(math.abs(back[j] - sum) < 1e-8 * size, ("adjoint, z%d: %s"):format(j, model.ways()))
          end
        end
        told(("numbers read aside, %s %s"):format(family, kind), count)
      end)
    end
  end
end)

describe("numbers that functions besides callbacks read", function()
  local function decay(p)
    local z = ns.vector { p }
    local system = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = z, f = function(t, x, own, f) f[1] = t - own[1] * x[1] end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(system)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    return simu, z
  end

  local function with_event(p)
    local simu, z = decay(p)
    simu:addEvent { name = "hit", g = function(_, x) return x[1] - 1.8 * z[1] end, terminal = true }
    return simu
  end

  it("move the times of events", function()
    local sol, h = with_event(0.5):run { sensitivities = { "z" } }, 1e-5
    local function time(p) return with_event(p):run().events[1].t end
    local d = (time(0.5 + h) - time(0.5 - h)) / (2 * h)
    assert.is_true(math.abs(sol.events[1].dt[1] - d) < 1e-5 * math.abs(d))
  end)

  it("move the end that an event gives, in a gradient", function()
    local h = 1e-5
    local function cost(p, parameters)
      return with_event(p):gradient { terminal = function(x, _, t) return x[1] ^ 2 + t end, cost = function(_, x) return x[1] end,
        parameters = parameters }
    end
    local _, slope = cost(0.5, { "z" })
    local d = (cost(0.5 + h, { "x0" }) - cost(0.5 - h, { "x0" })) / (2 * h)
    assert.is_true(math.abs(slope[1] - d) < 1e-5 * math.abs(d))
  end)

  it("are refused in a cost", function()
    for _, method in ipairs { "adjoint", "forward" } do
      local simu, z = decay(0.5)
      expect.fails("gradient: cost: it reads a parameter by itself; let it take it from its argument p", simu.gradient, simu,
        { cost = function(_, x) return x[1] * z[1] end, parameters = { "z" }, method = method })
      simu:reset()
      expect.fails("gradient: terminal: it reads a parameter by itself; let it take it from its argument p", simu.gradient, simu,
        { terminal = function(x) return x[1] * z[1] end, parameters = { "z" }, method = method })
    end
  end)

  it("are refused where they are initial values that callbacks read, and those in a cost", function()
    local function build(by_itself)
      local ds
      ds = ns.FirstOrderNonLinearDS({ 0.7, 0.6 }, function(_, x, _, f) f[1] = -(by_itself and ds:x0()[2] or 0.6) * x[1] end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), ds
    end
    local text = "sensitivities: a callback reads an initial value of 'ds 1', a parameter, by itself; let it read a number " ..
      "of z, whose derivatives add to those by the initial value"
    local simu, ds = build(true)
    expect.fails(text, simu.run, simu, { sensitivities = { "x0" } })
    simu:reset()
    assert.near(math.exp(-0.6), simu:run { sensitivities = { { ds, "x0", 1 } } }.S[3][1][1], 1e-5)
    simu, ds = build(false)
    expect.fails("gradient: terminal: it reads a parameter by itself", simu.gradient, simu,
      { terminal = function(x) return x[1] * ds:x0()[2] end, parameters = { "x0" } })
  end)

  it("are found where a clock sets one of them, last at the end of the run", function()
    for _, kind in ipairs { "EventDriven", "TimeStepping" } do
      local z = ns.vector { 0.6, 0 }
      local ds = ns.FirstOrderNonLinearDS { x0 = { 0.7, 0.2 }, z = z,
        f = function(_, x, own, f) f[1], f[2] = -x[1] * z[1] + own[2], z[1] * z[2] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.9)
      nsds:insertDynamicalSystem(ds)
      local simu = ns[kind](nsds, ns.TimeDiscretisation(0, 0.1),
        kind == "EventDriven" and ns.RungeKuttaOSI(1e-10, 1e-12) or ns.EulerMoreauOSI(0.5))
      simu:every { name = "c", period = 0.3, act = function(_, _, simulation)
        local of = simulation:nsds():dynamicalSystem(1)
        of:z()[2] = of:x()[1] * of:z()[1]
      end, state = {} } -- x[1] stays 0.7, x[2] = 0.2 + 0.7 z[1]^2 t
      local _, slope = simu:gradient { terminal = function(x) return x[2] end, parameters = { { ds, "z", 1 } } }
      assert.near(2 * 0.7 * 0.6 * 0.9, slope[1], 1e-7)
      simu:reset()
      local sol = simu:run { sensitivities = { { ds, "z", 1 } } }
      assert.near(2 * 0.7 * 0.6 * 0.9, sol.S[#sol][2][1], 1e-7)
    end
  end)

  it("are found in methods of laws", function()
    local function final(ub, parameters)
      local law = ns.RelayNSL(1, -1, ub)
      local plant = ns.FirstOrderLinearTIDS({ 0.7 }, { { -0.5 } })
      local other = ns.FirstOrderNonLinearDS { x0 = { 0.4 }, f = function(_, x, _, f) f[1] = -law:ub()[1] ^ 2 * x[1] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(plant)
      nsds:insertDynamicalSystem(other)
      nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { -1 } }, { { 1 } })), plant)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
      local sol = simu:run { sensitivities = parameters and { { law, "ub" } } }
      return parameters and sol.S[#sol] or sol.x[#sol]
    end
    local S, h = final(0.3, true), 1e-5
    local d = (final(0.3 + h) - final(0.3 - h)) * (1 / (2 * h))
    for i = 1, 2 do assert.is_true(math.abs(S[i][1] - d[i]) < 1e-8) end
  end)

  -- A matrix is A of two systems of different islands; a vector is b of one, e of a relation, and read by f of another system.
  it("have all derivatives where several coefficients share them", function()
    local function build(kind, a, c)
      local A, b = ns.matrix { { a, 1 }, { -1, -0.5 } }, ns.vector { c, 0.2 }
      local first, second = ns.FirstOrderLinearTIDS({ 0.7, 0 }, A), ns.FirstOrderLinearTIDS({ 0.1, 0.3 }, A)
      first:setbPtr(b)
      local third = ns.FirstOrderNonLinearDS { x0 = { 0.4 }, f = function(_, x, _, f) f[1] = first:A()[1][1] * x[1] + b[1] ^ 2 end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      for _, system in ipairs { first, second, third } do nsds:insertDynamicalSystem(system) end
      local relation = ns.FirstOrderLinearTIR { C = { { 1, 0 } }, D = { { 1 } }, B = { { -1 }, { 0 } } }
      relation:setePtr(b:slice(1, 1))
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), second)
      local ed = kind == "ED"
      local simu = (ed and ns.EventDriven or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, ed and 0.5 or 0.05),
        ed and ns.RungeKuttaOSI() or ns.EulerMoreauOSI(0.5))
      return simu, { { second, "A", 1, 1 }, { relation, "e", 1 } }
    end
    for _, kind in ipairs { "ED", "TS" } do
      local function final(a, c)
        local sol = build(kind, a, c):run()
        return sol.x[#sol]:copy()
      end
      local simu, parameters = build(kind, -0.4, 0.3)
      local sol, h = simu:run { sensitivities = parameters }, 1e-5
      local S = sol.S[#sol]
      local d = { (final(-0.4 + h, 0.3) - final(-0.4 - h, 0.3)) * (1 / (2 * h)),
        (final(-0.4, 0.3 + h) - final(-0.4, 0.3 - h)) * (1 / (2 * h)) }
      simu:reset()
      local _, back = simu:gradient { terminal = function(x) return x:sum() end, parameters = parameters }
      for j = 1, 2 do
        for i = 1, 5 do assert.is_true(math.abs(S[i][j] - d[j][i]) < 1e-8, ("%s: x%d by %d"):format(kind, i, j)) end
        assert.is_true(math.abs(back[j] - d[j]:sum()) < 1e-7)
      end
    end
  end)

  it("stay read until the next run alone", function()
    local simu, z = decay(0.5)
    simu:run { sensitivities = { "z" } }
    assert.are.equal("[0.5]", tostring(z))
    z[1] = 0.25
    assert.are.equal(0.25, z:slice(1, 1)[1])
    simu:close()
    assert.are.equal(0.25, z[1])
  end)
end)
