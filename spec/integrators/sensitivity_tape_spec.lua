local closed = require "closed_runs"
local ns = require "nslua"
local random_relays = require "random_relays"
local sensitive = require "sensitive_models"

local switched, ball, refuses = closed.switched, closed.ball, closed.refuses

local many = tonumber(os.getenv "NSLUA_GRADIENTS") or 0 -- random models of each kind; 0: a few

describe("the record of a run, backwards #once", function()
  -- The largest difference of the gradients of a cost by both methods, relative to the largest element.
  local function apart(make)
    local gradient = {}
    for _, method in ipairs { "adjoint", "forward" } do
      local simu, parameters = make()
      local _, g = simu:gradient { cost = function(t, x) return (x[1] - 0.3) ^ 2 + math.sin(t) * x[#x] end,
        terminal = function(x) return x[1] * x[#x] + x[1] end, parameters = parameters, method = method }
      gradient[#gradient + 1] = g
    end
    local off, size = 0, 0
    for j = 1, #gradient[2] do
      off = math.max(off, math.abs(gradient[1][j] - gradient[2][j]))
      size = math.max(size, math.abs(gradient[2][j]))
    end
    return off / size
  end

  it("is the gradient from S in random models with impacts, friction, sliding and relays", function()
    local names = { "bounce", "rest", "beads", "space" }
    if many > 0 then names[5], names[6] = "stick_slip", "pendulum" end
    for _, name in ipairs(names) do
      for seed = 1, math.max(many, 1) do
        math.randomseed(seed)
        local p = sensitive[name].draw()
        local off = apart(function() return sensitive[name].build(p) end)
        assert.is_true(off < 1e-9, name .. seed .. " " .. off)
      end
    end
    for k = 1, math.max(3 * many, 1) do
      local o = random_relays.system(k)
      local off = apart(function()
        return random_relays.simulation(o, function(nsds)
          return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.T / 3), ns.RungeKuttaOSI())
        end), { "x0" }
      end)
      assert.is_true(off < 1e-9, k .. " " .. off)
    end
  end)

  it("has all numbers of a model with relays", function()
    local off = apart(function()
      local ds, law = ns.FirstOrderLinearTIDS({ 1, -0.5 }, { { -0.3, 1 }, { -1, -0.2 } }, { 0.1, 0.2 }), ns.RelayNSL(2, -1, 1)
      ds:setMPtr(ns.matrix { { 2, 0.1 }, { 0.3, 1 } })
      local relation = ns.FirstOrderLinearTIR({ { 1, 0.2 }, { -0.4, 1 } }, { { 0.7, 0 }, { 0.1, 0.4 } })
      relation:setePtr(ns.vector { 0.1, -0.2 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 4)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, relation, "relays"), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
      return simu, { "x0", { ds, "A" }, { ds, "b" }, { ds, "M" }, { relation, "C" }, { relation, "B" }, { relation, "e" },
        { law, "lb" }, { law, "ub" } }
    end)
    assert.is_true(off < 1e-9, off)
  end)

  -- Two bodies in the plane on springs above a floor with friction; a relay brakes the first one.
  local function sledges()
    local q0, v0 = { 0, 0.4, 0.1, 0.7 }, { 1.2, -0.3, -0.8, 0.4 }
    local ds = ns.LagrangianLinearTIDS(q0, v0, { { 1, 0.1, 0, 0 }, { 0.2, 1.5, 0, 0 }, { 0, 0, 2, 0.1 }, { 0, 0.1, 0, 1 } })
    ds:setKPtr(ns.matrix { { 3, 0, -1, 0.1 }, { 0, 2, 0, -0.4 }, { -1, 0, 2, 0 }, { 0.2, -0.4, 0, 3 } })
    ds:setCPtr(ns.matrix { { 0.1, 0, 0, 0 }, { 0, 0.2, 0, 0 }, { 0, 0, 0.1, 0.05 }, { 0, 0, 0, 0.2 } })
    ds:setFExtPtr(ns.vector { 0.3, -9, 0.1, -8 })
    local law, brake = ns.NewtonImpactFrictionNSL(0.4, 0, 0.3, 2), ns.RelayNSL(1, -0.4, 0.5)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
    nsds:insertDynamicalSystem(ds)
    local relations = { ns.LagrangianLinearTIR({ { 0, 1, 0, 0.1 }, { 1, 0, 0, 0 } }),
      ns.LagrangianLinearTIR({ { 0, 0, 0, 1 }, { 0, 0, 1, 0.1 } }), ns.LagrangianLinearTIR({ { 1, 0, -0.3, 0 } }) }
    relations[1]:setePtr(ns.vector { 0.05, 0 })
    nsds:link(ns.Interaction(law, relations[1], "first"), ds)
    nsds:link(ns.Interaction(law, relations[2], "second"), ds)
    nsds:link(ns.Interaction(brake, relations[3], "brake"), ds)
    local parameters = { { ds, "fExt" }, { law, "en" }, { law, "mu" }, { brake, "lb" }, { brake, "ub" },
      { relations[1], "C", 1, 2 }, { relations[1], "e" }, { relations[2], "C", 2, 4 }, { relations[3], "C" } }
    for i = 1, 4 do
      for j = 1, 4 do
        for _, name in ipairs { "mass", "K", "C" } do
          if many > 0 or j == i % 4 + 1 then parameters[#parameters + 1] = { ds, name, i, j } end
        end
      end
    end
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), parameters
  end

  it("has the numbers of linear mechanics", function()
    local off = apart(sledges)
    assert.is_true(off < 1e-9, off)
  end)

  it("does not depend on the units of states and time", function()
    -- x' = 2 - sign x with x in units of 1 / s, and time in units of 1 / r
    local function scaled(s, r)
      local ds, law = ns.FirstOrderLinearTIDS({ -s }, { { -0.25 / r } }, { 2 * s / r }), ns.RelayNSL(1, -1, 1)
      local nsds = ns.NonSmoothDynamicalSystem(0, 2 * r)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 / s } }, { { s / r } }), "relay"), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5 * r), ns.RungeKuttaOSI())
      local _, g = simu:gradient { cost = function(_, x) return (x[1] / s) ^ 2 / r end, terminal = function(x) return x[1] / s end,
        parameters = { "x0", { ds, "A" }, { ds, "b" }, { law, "ub" } } }
      return g
    end
    local plain = scaled(1, 1)
    for _, case in ipairs { { 2.0 ^ 40, 1 }, { 1, 2.0 ^ -30 }, { 2.0 ^ -50, 2.0 ^ 20 } } do
      local s, r = table.unpack(case)
      local g, units = scaled(s, r), { s, 1 / r, s / r, 1 }
      for j = 1, 4 do assert.equal(plain[j], g[j] * units[j], s .. " " .. r .. " " .. j) end
    end
  end)

  it("takes an end that moves", function()
    -- x = t + x0 / 3 reaches 1/4 at T = 1/4 - x0 / 3
    local simu = switched()
    simu:addEvent { name = "quarter", g = function(_, x) return x[1] - 0.25 end, terminal = true }
    local value, gradient, sol = simu:gradient { cost = function() return 1 end, parameters = { "x0" } }
    assert.near(7 / 12, value, 1e-12)
    assert.near(-1 / 3, gradient[1], 1e-10)
    assert.equal("event 'quarter' ended the run at t = 0.5833333333", sol.message)
    simu:reset()
    local _
    _, gradient = simu:gradient { terminal = function(x, _, t) return 7 * x[1] + t ^ 2 end, parameters = { "x0" } }
    assert.near(2 * 7 / 12 * -1 / 3, gradient[1], 1e-10)
  end)

  it("has the derivative by the end", function()
    local simu = switched()
    local options = { cost = function(_, x) return x[1] ^ 2 end, terminal = function(x) return 5 * x[1] end,
      parameters = { "T", "x0" } }
    local _, gradient = simu:gradient(options)
    local a = 2 - 1 / 3 -- x(2)
    assert.equal(2, #gradient)
    assert.near(-1 / 3 + a ^ 2 / 3 + 5 / 3, gradient[1], 1e-10)
    assert.near(a ^ 2 + 5, gradient[2], 1e-10)
    simu:reset()
    options.parameters = { "T" }
    _, gradient = simu:gradient(options)
    assert.equal(1, #gradient)
    assert.near(a ^ 2 + 5, gradient[1], 1e-10)
  end)

  it("takes costs that depend on the parameters", function()
    local T, x0, b = 2, -1, 2
    for _, method in ipairs { "adjoint", "forward" } do
      local simu, ds = switched(T)
      local value, gradient, sol = simu:gradient { cost = function(t, x, p) return p[2] * t + 0 * x[1] end,
        terminal = function(x, p) return x[1] * p[1] end, parameters = { "x0", { ds, "b" } }, method = method }
      -- x(T) = (b - 1) (T + x0 / (b + 1)): x' = b + 1, then b - 1
      local rest = T + x0 / (b + 1)
      assert.near(b * T ^ 2 / 2 + x0 * (b - 1) * rest, value, 1e-10)
      assert.near((b - 1) * rest + x0 * (b - 1) / (b + 1), gradient[1], 1e-9)
      assert.near(T ^ 2 / 2 + x0 * (rest - (b - 1) * x0 / (b + 1) ^ 2), gradient[2], 1e-9)
      assert.equal(method == "forward", sol.S ~= nil)
    end
  end)

  it("goes the forward way where events are simultaneous", function()
    local simu, balls = ball({ 1, 1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local both = ns.LagrangianLinearTIDS({ 1, 1 }, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
    both:setFExtPtr(ns.vector { -8, -8 })
    nsds:insertDynamicalSystem(both)
    local law = ns.NewtonImpactNSL(0.5)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 1, 0 } }), "left"), both)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 0, 1 } }), "right"), both)
    local joined = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local cost = function(_, x) return x[1] + x[2] end
    local value, gradient, sol = joined:gradient { cost = cost, parameters = { { law, "e" } } }
    assert.is_not_nil(sol.S)
    joined:reset()
    both:q()[1], both:q()[2] = 2, 2
    refuses("gradient: events are simultaneous: the run needs forward derivatives, and can not be repeated, since a script has "
      .. 'set states; use method = "forward"', joined, { cost = cost, parameters = { { law, "e" } } })
    local other, parts = simu:gradient { cost = function(_, x) return x[1] + x[3] end, parameters = { { balls[1], "q0" } } }
    assert.near(other, value, 1e-10)
    assert.equal(1, #parts)
    -- after t = 1/2: x = e 4 s - 4 s^2 of both, up to s = 1/2
    assert.near(2 * 4 / 8, gradient[1], 1e-9)
  end)

  it("tells a start on a switching surface as run does", function()
    local function at_zero()
      local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { 2 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "sign"), ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    end
    local terminal = function(x) return x[1] end
    refuses("sensitivities: the run starts at t=0 where 'sign' switches, and a parameter decides on which side; on_grazing = "
      .. '"one-sided" takes the side that the run goes (t=0 step 1)', at_zero(), { terminal = terminal, parameters = { "x0" } })
    local _, gradient = at_zero():gradient { terminal = terminal, parameters = { "x0", on_grazing = "one-sided" } }
    assert.near(1, gradient[1], 1e-12)
  end)
end)
