-- Audits of a model: wrong Jacobians and masses are found and named.
local ns = require "nslua"
local models = require "bind.models"

local function copy(options)
  local new = {}
  for key, value in pairs(options) do new[key] = value end
  return new
end

local function relation_report(kind, options)
  local simu = models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds), ns["FirstOrder" .. kind](options))
  local before = models.state(simu)
  local good, report = simu:check()
  assert.equal(before, models.state(simu))
  return good, report
end

describe("an audit of a model", function()
  it("passes right Jacobians", function()
    for _, kind in ipairs { "NonLinearR", "Type1R", "Type2R", "LinearR" } do
      local good, report = relation_report(kind, models[kind])
      assert.is_true(good)
      assert.is_nil(report)
    end
    assert.is_true(models.clutch():check())
    assert.is_true(models.relay():check())
  end)

  it("names the entry of each Jacobian of a relation with a wrong sign", function()
    local entries = {
      Jachx = { 1, 2 }, Jachlambda = { 1, 1 }, Jacgx = { 2, 1 }, Jacglambda = { 2, 1 },
    }
    for _, kind in ipairs { "NonLinearR", "Type1R", "Type2R" } do
      for name, at in pairs(entries) do
        local right = models[kind][name]
        if right then
          local wrong = copy(models[kind])
          wrong[name] = function(...)
            right(...)
            local out = select(select("#", ...), ...)
            out[at[1]][at[2]] = -out[at[1]][at[2]]
          end
          local good, report = relation_report(kind, wrong)
          assert.is_false(good)
          assert.matches(("^relation 'friction' %s%%[%d%%]%%[%d%%]: given %%S+, exact %%S+ %%(t=0%%)$")
            :format(name, at[1], at[2]), report)
        end
      end
    end
  end)

  it("names the wrong entry of the clutch", function()
    local simu = models.clutch(1, ns.FirstOrderNonLinearR {
      name = "clutch",
      h = function(_, x, _, _, y) y[1] = -x[1] end,
      g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
      Jacgx = function(_, _, lambda, _, K) K[4][2], K[4][3], K[4][4] = -lambda[1], lambda[1], -lambda[1] end,
    })
    local good, report = simu:check()
    assert.is_false(good)
    assert.matches("^relation 'clutch' Jacgx%[4%]%[4%]: given %-%S+, exact %S+ %(t=0%)$", report)
  end)

  it("lists every wrong entry, each once", function()
    local wrong = copy(models.NonLinearR)
    wrong.Jachx = function() end
    wrong.Jachlambda = function() end
    local good, report = relation_report("NonLinearR", wrong)
    assert.is_false(good)
    local lines = {}
    for entry in report:gmatch "relation 'friction' (%S+): given 0," do lines[#lines + 1] = entry end
    table.sort(lines)
    assert.same({ "Jachlambda[1][1]", "Jachx[1][1]", "Jachx[1][2]" }, lines)
  end)

  it("judges each entry by itself, in whatever unit it is", function()
    local function report(wrong)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 1e-6, 2 }, name = "cell",
        f = function(_, x, _, f)
          f[1] = -1e9 * x[1] + 1e3 * x[2]
          f[2] = 1e-12 * math.sin(x[1]) * x[3] - 1e-10 * x[2]
          f[3] = x[1] * x[3]
        end,
        jacobianfx = function(_, x, _, J)
          J[1][1], J[1][2] = -1e9, 1e3
          J[2][1], J[2][2], J[2][3] = (wrong and 2e-12 or 1e-12) * math.cos(x[1]) * x[3], -1e-10, 1e-12 * math.sin(x[1])
          J[3][1], J[3][3] = x[3], x[1]
        end }
      local good, text = require("models").simulation({ systems = { ds } }):check()
      return good or text
    end
    assert.is_true(report(false))
    assert.matches("cell' Jacobianfx[2][1]: given ", report(true), 1, true)
  end)

  it("takes rounding for rounding: of the terms of a row, and of values that cancel", function()
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1e3, 0.3 },
      f = function(_, x, _, f)
        f[1] = x[1] * (x[2] + 0.1) - x[1] * x[2]
        f[2] = (x[1] + x[2]) ^ 3 - x[1] ^ 3
      end,
      jacobianfx = function(_, x, _, J)
        J[1][1], J[1][2] = 0.1, 0
        J[2][1], J[2][2] = 3 * x[2] * (2 * x[1] + x[2]), 3 * (x[1] + x[2]) ^ 2
      end }
    local good, text = require("models").simulation({ systems = { ds } }):check()
    assert.is_true(good, text)
  end)

  it("looks at presets too", function()
    local preset = { name = "friction", h = models.NonLinearR.h, g = models.NonLinearR.g }
    preset.D = { { 0.01 } }
    assert.is_true((relation_report("NonLinearR", preset)))
    preset.D = { { 0.02 } }
    local good, report = relation_report("NonLinearR", preset)
    assert.is_false(good)
    assert.equal("relation 'friction' Jachlambda[1][1]: given 0.02, exact 0.01 (t=0)", report)
    preset.D, preset.B = nil, { { 0 }, { -1 } }
    good, report = relation_report("NonLinearR", preset)
    assert.is_false(good)
    assert.matches("^relation 'friction' Jacglambda%[2%]%[1%]: given %-1, exact %-1.1", report)
  end)

  it("names the entry of jacobianfx, of a preset one too", function()
    local wrong = copy(models.nonlinear_ds)
    wrong.jacobianfx = function(_, x, _, J) J[1][2], J[2][1], J[2][2] = 1, -1, 0.3 * x[2] ^ 2 end
    local ds = ns.FirstOrderNonLinearDS(wrong)
    local simu = models.simulate(ds, ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { -1 } }))
    local good, report = simu:check()
    assert.is_false(good)
    assert.equal("dynamical system 'plant' Jacobianfx[2][2]: given 0.075, exact -0.075 (t=0)", report)
    ds:setComputeJacobianfxFunction(nil)
    assert.is_true(simu:check())
    ds:setJacobianfxPtr { { 0, 1 }, { 1, 0 } }
    good, report = simu:check()
    assert.is_false(good)
    assert.matches("dynamical system 'plant' Jacobianfx[2][1]: given 1, exact -1 (t=0)", report, 1, true)
  end)

  it("looks at the Jacobians of mechanical systems", function()
    local function report_of(make)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local ds = make()
      nsds:insertDynamicalSystem(ds)
      local x = ds:x():copy()
      local good, report = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):check()
      assert.equal(x, ds:x())
      assert.equal(report == nil, good)
      return report
    end
    local function bar(wrong)
      return function()
        local options = {
          q0 = { 0.5, 1 }, v0 = { 0, 2 }, name = "bar",
          fInt = function(_, q, v, _, f) f[1], f[2] = math.sin(q[1]) + v[2], q[1] * v[2] end,
          fGyr = function(q, v, _, f) f[1] = q[2] * v[1] ^ 2 end,
          jacobianFIntq = function(_, q, v, _, J) J[1][1], J[2][1] = math.cos(q[1]), v[2] end,
          jacobianFIntqDot = function(_, q, _, _, J) J[1][2], J[2][2] = 1, q[1] end,
          jacobianFGyrq = function(_, v, _, J) J[1][2] = v[1] ^ 2 end,
          jacobianFGyrqDot = function(q, v, _, J) J[1][1] = 2 * q[2] * v[1] end,
        }
        for key, value in pairs(wrong) do options[key] = value end
        return ns.LagrangianDS(options)
      end
    end
    assert.is_nil(report_of(bar {}))
    assert.equal("dynamical system 'bar' JacobianFIntqDot[1][2]: given 3, exact 1 (t=0)",
      report_of(bar { jacobianFIntqDot = { { 0, 3 }, { 0, 0.5 } } }))
    assert.matches("^dynamical system 'bar' JacobianFIntq%[2%]%[1%]: given 0, exact 2 %(t=0%)$",
      report_of(bar { jacobianFIntq = function(_, q, _, _, J) J[1][1] = math.cos(q[1]) end }))
    assert.matches("^dynamical system 'bar' JacobianFGyrq%[1%]%[2%]: given %-%S+, exact %S+ %(t=0%)$",
      report_of(bar { jacobianFGyrq = function(_, v, _, J) J[1][2] = -v[1] ^ 2 end }))
    assert.matches("^dynamical system 'bar' JacobianFGyrqDot%[1%]%[1%]: given %S+, exact %S+ %(t=0%)$",
      report_of(bar { jacobianFGyrqDot = function(q, v, _, J) J[1][1] = q[2] * v[1] end }))
    assert.matches("computeFGyr: writes nothing into fGyr", report_of(bar { fGyr = function() end, jacobianFGyrq = nil }), 1, true)
    local function body(entry)
      return function()
        return ns.NewtonEulerDS {
          q0 = { 1, 2, 3, 1, 0, 0, 0 }, v0 = { 1, 2, 3, 4, 5, 6 }, mass = 1, inertia = ns.eye(3), name = "top",
          fInt = function(_, q, _, _, f) f[6] = 2 * q[7] end,
          jacobianFIntq = function(_, _, _, _, J) J[6][7] = entry end,
        }
      end
    end
    assert.is_nil(report_of(body(2)))
    assert.equal("dynamical system 'top' JacobianFIntq[6][7]: given 3, exact 2 (t=0)", report_of(body(3)))
  end)

  it("tells the entries of a mass matrix that is not symmetric or not positive on the diagonal", function()
    local function report_of(ds)
      ds:setName "arm"
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local good, report = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):check()
      assert.equal(report == nil, good)
      return report
    end
    local function linear(M) return ns.LagrangianLinearTIDS(ns.zeros(#M), ns.zeros(#M), M) end
    local function varying(mass) return ns.LagrangianDS { q0 = { 0, 2 }, v0 = { 0, 0 }, mass = mass } end
    local skew = "dynamical system 'arm' mass[1][2]: expected 0 as in mass[2][1] (a mass matrix is symmetric), got 5 (t=0)"
    local negative = "dynamical system 'arm' mass[2][2]: expected a positive number, got -1 (t=0)"
    local opposite = "dynamical system 'arm' mass[1][2]: expected 5 as in mass[2][1] (a mass matrix is symmetric), got 0 (t=0)"
    assert.equal(skew, report_of(linear { { 1, 5 }, { 0, 1 } }))
    assert.equal(opposite, report_of(linear { { 1, 0 }, { 5, 1 } }))
    assert.equal(negative, report_of(linear { { 1, 0 }, { 0, -1 } }))
    assert.equal(negative .. "\n" .. skew, report_of(linear { { 1, 5 }, { 0, -1 } }))
    assert.equal(negative:gsub("%-1", "0"), report_of(linear { { 1, 0 }, { 0, 0 } }))
    assert.equal(skew, report_of(linear(ns.sparse { { 1, 5 }, { 0, 1 } })))
    assert.equal(negative .. "\n" .. opposite, report_of(linear(ns.sparse { { 1, 0 }, { 5, -1 } })))
    assert.equal(skew, report_of(varying(function() return { { 1, 5 }, { 0, 1 } } end)))
    -- where it shows at other coordinates alone
    assert.matches("^dynamical system 'arm' mass%[1%]%[2%]: expected 0 as in mass%[2%]%[1%] .*, got 0%.%d+ %(t=0%)$",
      report_of(varying(function(q) return { { 1, q[1] }, { 0, 1 } } end)))
    assert.is_nil(report_of(linear { { 1e3, 1e-13 }, { 0, 1e3 } })) -- rounding
    assert.is_nil(report_of(linear { { 1, 0.5 }, { 0.5, 1 } }))
    assert.is_nil(report_of(linear(ns.sparse { { 2, 0.5 }, { 0.5, 1 } })))
    assert.is_nil(report_of(ns.LagrangianDS({ 1, 1 }, { 0, 0 })))
    assert.is_nil(report_of(varying(function(q)
      return q[1] > 0 and error "not here" or { { 1, 0.5 }, { 0.5, 1 } }
    end)))
    local list = report_of(linear(-1 * ns.eye(30)))
    assert.equal(20, select(2, list:gsub("expected a positive number", "")))
  end)

  it("finds wrong Jacobians of the relations of mechanics", function()
    local function report(class, options)
      local ds, nsds = ns.LagrangianDS({ 1, 0.5 }, { 0.2, 0.1 }), ns.NonSmoothDynamicalSystem(0, 1)
      local law = class == "LagrangianCompliantR" and ns.ComplementarityConditionNSL(1) or ns.NewtonImpactNSL(0)
      options.name = "floor"
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns[class](options)), ds)
      local good, text = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):check()
      return good or text
    end
    local function slope(entry)
      return function(...)
        local q, C = select(select("#", ...) == 4 and type(...) == "number" and 2 or 1, ...), select(-1, ...)
        C[1][1], C[1][2] = entry * q[1], 1
      end
    end
    local outputs = {
      LagrangianScleronomousR = function(q, _, y) y[1] = q[1] ^ 2 + q[2] end,
      LagrangianRheonomousR = function(t, q, _, y) y[1] = q[1] ^ 2 + q[2] - t end,
      NewtonEulerR = function(t, q, _, y) y[1] = q[1] ^ 2 + q[2] - t end,
      LagrangianCompliantR = function(q, lambda, _, y) y[1] = q[1] ^ 2 + q[2] + lambda[1] ^ 2 end,
    }
    for class, h in pairs(outputs) do
      assert.is_true(report(class, { h = h, Jachq = slope(2) }), class)
      assert.equal("relation 'floor' Jachq[1][1]: given 3, exact 2 (t=0)", report(class, { h = h, Jachq = slope(3) }))
    end
    assert.matches("^relation 'floor' Jachlambda%[1%]%[1%]: given 1, exact %S+ %(t=0%)$",
      report("LagrangianCompliantR", { h = outputs.LagrangianCompliantR, Jachlambda = function(_, _, _, D) D[1][1] = 1 end }))
    assert.matches("relation 'floor' computehDot: writes nothing into hDot",
      report("LagrangianRheonomousR", { h = outputs.LagrangianRheonomousR, hDot = function() end }), 1, true)
  end)

  it("compares hDot with the derivative of h by the time, at later times too", function()
    local function report(class, options)
      local ds, nsds = ns.LagrangianDS({ 1, 0.5 }, { 0.2, 0.1 }), ns.NonSmoothDynamicalSystem(0, 2)
      options.name = "wave"
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(2), ns[class](options)), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
      local before = ds:x():totable()
      local good, text = simu:check()
      assert.same(before, ds:x():totable())
      return good or text
    end
    local function h(t, q, _, y) y[1], y[2] = q[1] - t ^ 2, q[2] * math.sin(t) end
    local function right(t, q, _, out) out[1], out[2] = -2 * t, q[2] * math.cos(t) end
    for _, class in ipairs { "LagrangianRheonomousR", "NewtonEulerR" } do
      assert.is_true(report(class, { h = h, hDot = right }), class)
      assert.is_true(report(class, { h = h, hDot = function(t, q) return { -2 * t, q[2] * math.cos(t) } end }), class)
      assert.equal("relation 'wave' hDot[2]: given -0.5, exact 0.5 (t=0)",
        report(class, { h = h, hDot = function(t, q, z, out) right(t, q, z, out) out[2] = -out[2] end }))
      -- right at the start, where the time is 0
      assert.equal("relation 'wave' hDot[1]: given -1, exact -2 (t=1)",
        report(class, { h = h, hDot = function(t, q, z, out) right(t, q, z, out) out[1] = -t end }))
      -- right where q is that of the start
      assert.matches("^relation 'wave' hDot%[2%]: given 0.27%d+, exact %S+ %(t=1%)$",
        report(class, { h = h, hDot = function(t, q, z, out) right(t, q, z, out) out[2] = 0.5 * math.cos(t) end }))
      -- by differences: what h calls takes no dual numbers
      local function deaf(t, q, _, y) y[1], y[2] = q[1] - t ^ 2, q[2] * math.sin(string.format("%.17g", t)) end
      assert.is_true(report(class, { h = deaf, hDot = right, Jachq = function(t, _, _, C) C[1][1], C[2][2] = 1, math.sin(t) end }))
      assert.matches("^relation 'wave' hDot%[1%]: given 1, exact %S+ %(t=0%)$",
        report(class, { h = deaf, hDot = function(t, q, z, out) right(t, q, z, out) out[1] = 1 end,
          Jachq = function(t, _, _, C) C[1][1], C[2][2] = 1, math.sin(t) end }))
    end
    assert.equal("relation 'wave' hDot[2]: given 2, exact 0.5 (t=0)\nrelation 'wave' hDot[1]: given 1, exact 0 (t=0)",
      report("NewtonEulerR", { h = h, hDot = function(_, _, _, out) out[1], out[2] = 1, 2 end }))
  end)

end)
