-- RelayNSL: lambda in [lb, ub], at lb where y > 0, at ub where y < 0.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

describe("RelayNSL", function()
  it("between velocities is dry friction with a bounded impulse", function()
    local v, lambda = laws.impact(ns.RelayNSL(3, -1, 1), { 0, 0, 0 }, { 3, -0.5, -2 })
    assert.same({ 2, 0, -1 }, v)
    assert.same({ -1, 0.5, 1 }, lambda)
  end)

  it("is rows with two bounds that keep no position", function()
    local of = internal.law_table(ns.RelayNSL(2, { -1, -2 }, 3))
    assert.same({ box = true, bits = 8 }, of.needs)
    assert.equal(0, of.constrained)
    assert.same({ { dim = 1, lower = -1, upper = 3, mu = 0 }, { dim = 1, lower = -2, upper = 3, mu = 0 } }, of.groups)
  end)

  it("takes bounds that are left out from -1 and 1", function()
    local function bounds(...)
      local law = ns.RelayNSL(...)
      return { law:lb()[1], law:ub()[1] }
    end
    assert.same({ -1, 1 }, bounds(1))
    assert.same({ 0, 1 }, bounds(1, 0))
    assert.same({ 0, 5 }, bounds(1, 0, 5))
    assert.equal("RelayNSL of size 1 on [-1.5, 5.0]", tostring(ns.RelayNSL(1, -1.5, 5)))
    assert.equal("RelayNSL of size 2", tostring(ns.RelayNSL(2)))
  end)

  describe("with bounds that are functions of time", function()
    local function capacity(t) return 1 + 0.5 * math.sin(3 * t) end
    local function below(t) return -capacity(t) end

    -- Two shafts, a clutch, a torque. scale: the factor of the relation's input, a function of time or 1.
    local function shafts(law, input, h, options)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
      local sys = ns.FirstOrderNonLinearDS({ 0.5, 0 }, function(t, _, _, f) f[1], f[2] = 1.2 * math.sin(2 * t), 0.1 end)
      nsds:insertDynamicalSystem(sys)
      nsds:link(ns.Interaction(law, ns.FirstOrderLinearR { C = { { -1, 1 } }, B = input }, "clutch"), sys)
      local grid = ns.TimeDiscretisation(0, h)
      return options and ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1), options)
        or ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1)), sys
    end

    local function with_input(h, options)
      return shafts(ns.RelayNSL(1), function(t, _, B) B[1][1], B[2][1] = -capacity(t), capacity(t) end, h, options)
    end

    it("steps as with the function in the relation, also in adaptive steps, and again after reset", function()
      for _, lower in ipairs { below, { below }, function(t) return { below(t) } end } do
        for _, options in ipairs { false, { rtol = 1e-3 } } do
          local simu, sys = shafts(ns.RelayNSL(1, lower, capacity), { { -1 }, { 1 } }, 0.05, options)
          local other, same = with_input(0.05, options)
          simu:run()
          other:run()
          local first, second = sys:x()[1], sys:x()[2]
          assert.near(same:x()[1], first, 1e-12)
          simu:reset()
          simu:run()
          assert.same({ first, second }, { sys:x()[1], sys:x()[2] })
        end
      end
    end)

    it("shows the last values, which are read-only, and keeps its functions", function()
      local law = ns.RelayNSL(1, below, capacity)
      local simu = shafts(law, { { -1 }, { 1 } }, 0.5)
      simu:run()
      assert.equal(capacity(1.5), law:ub()[1])
      assert.equal("RelayNSL of size 1, bounds are functions of time", tostring(law))
      assert.error_matches(function() law:ub()[1] = 2 end, "ub is read%-only")
      assert.error_matches(function() law:setUb(2) end, "RelayNSL: ub is a function of time, and stays one")
      assert.error_matches(function() ns.RelayNSL(1):setUb(capacity) end,
        "RelayNSL: ub: functions of time are given when the law is made")
    end)

    it("has friction of F h in mechanics, the impulse of each step", function()
      local h, v = 1 / 16, 2
      local nsds, body = ns.NonSmoothDynamicalSystem(0, 1), ns.LagrangianLinearTIDS({ 0 }, { 2 }, { { 1 } })
      local law = ns.RelayNSL(1, function(t) return -h * (1 + t) end, function(t) return h * (1 + t) end)
      nsds:insertDynamicalSystem(body)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 1 } }), "rub"), body)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(1))
      simu:run()
      for k = 1, 16 do v = v - h * (1 + k * h) end
      assert.near(v, body:velocity()[1], 1e-13)
    end)

    it("has derivatives by the start, forward and back", function()
      local function braked(x0)
        local ds = ns.FirstOrderLinearTIDS({ x0 }, { { -0.3 } })
        local law = ns.RelayNSL(1, function(t) return -0.4 - 0.3 * math.sin(5 * t) end,
          function(t) return 0.4 + 0.3 * math.sin(5 * t) end)
        local nsds = ns.NonSmoothDynamicalSystem(0, 2)
        nsds:insertDynamicalSystem(ds)
        nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "brake"), ds)
        return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(1), ns.Relay()), ds
      end
      local function last(x0)
        local sol = braked(x0):run()
        return sol.x[#sol][1]
      end
      local wanted = (last(3.5) - last(2.5)) -- the state is linear in x0 as long as it does not stop
      local simu, ds = braked(3)
      local sol = simu:run { sensitivities = { { ds, "x0", 1 } } }
      assert.near(wanted, sol.S[#sol][1][1], 1e-12)
      simu:reset()
      local value, gradient = simu:gradient { parameters = { { ds, "x0", 1 } }, terminal = function(x) return x[1] end }
      assert.equal(sol.x[#sol][1], value)
      assert.near(wanted, gradient[1], 1e-12)
    end)

    it("goes on in a clone, and has no derivative by the bound", function()
      local law = ns.RelayNSL(1, below, capacity)
      local simu, sys = shafts(law, { { -1 }, { 1 } }, 0.05)
      for _ = 1, 10 do
        simu:computeOneStep()
        simu:nextStep()
      end
      local copy = simu:clone()
      simu:run()
      copy:run()
      assert.equal(sys:x()[1], copy:nsds():dynamicalSystem(1):x()[1])
      simu:reset()
      assert.error_matches(function() simu:run { sensitivities = { { law, "ub" } } } end,
        "ub of 'clutch' is a function of time; a parameter is a number")
    end)

    it("is refused with its place where it can not be taken", function()
      local function raises(text, upper)
        local simu = shafts(ns.RelayNSL(1, -1, upper), { { -1 }, { 1 } }, 0.5)
        assert.error_matches(function() simu:run() end, text)
      end
      raises("interaction 'clutch': RelayNSL: ub%[1%] is nan %(t=0.5", function(t) return t > 0 and 0 / 0 or 1 end)
      raises("RelayNSL: lb%[1%] = %-1 is above ub%[1%] = %-2", function(t) return t > 0 and -2 or 1 end)
      raises("interaction 'clutch' ub: t=0: expected a number or a list of 1, got string", function() return "a" end)
      raises("interaction 'clutch' ub: t=0: broken", function() error "broken" end)
      raises("interaction 'clutch' ub: t=0: row 1: expected a number, got", { function() end })
      assert.error_matches(function() ns.RelayNSL(2, { capacity, "a" }) end,
        "RelayNSL: lb%[2%]: expected a number or a function of time, got string")
      assert.error_matches(function() ns.RelayNSL(2, { capacity }) end,
        "RelayNSL: lb: expected a list of 2 numbers or functions, got one of 1")
    end)
  end)
end)
