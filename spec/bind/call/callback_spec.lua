-- Callbacks that go wrong: the text of the error, the state afterwards, and the steps after the cause is gone.
local ns = require "nslua"
local models = require "bind.models"

local function spring() return ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { -1 } }) end

-- Every family of callbacks: how to make the simulation out of an option table of them.
local families = {
  { options = models.nonlinear_ds, make = function(o) return models.simulate(ns.FirstOrderNonLinearDS(o),
    spring()) end },
  { options = models.linear_ds, make = function(o) return models.simulate(ns.FirstOrderLinearDS(o), spring()) end },
}
for _, kind in ipairs { "NonLinearR", "Type1R", "Type2R", "LinearR" } do
  families[#families + 1] = {
    options = models[kind],
    make = function(o)
      return models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds), ns["FirstOrder" .. kind](o))
    end,
  }
end

-- A class of relations, with the callbacks as methods.
families[#families + 1] = {
  options = models.NonLinearR,
  make = function(o)
    local class = ns.class(ns.FirstOrderNonLinearR, "friction")
    for key, value in pairs(o) do
      if type(value) == "function" then class["compute" .. key] = function(_, ...) return value(...) end end
    end
    return models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds), class())
  end,
  methods = true,
}

-- The label, rows and columns (none: a vector) of each output, and in which Newton iteration it is met first.
local outputs = {
  f = { "f", 2 }, jacobianfx = { "J", 2, 2, newton = 1 }, M = { "M", 2, 2 }, A = { "A", 2, 2 }, b = { "b", 2 },
  h = { "y", 1, newton = 1 }, g = { "r", 2, newton = 1 }, Jachx = { "C", 1, 2, newton = 1 },
  Jachlambda = { "D", 1, 1, newton = 1 }, Jacgx = { "K", 2, 2, newton = 1 }, Jacglambda = { "B", 2, 1, newton = 1 },
  C = { "C", 1, 2 }, D = { "D", 1, 1 }, B = { "B", 2, 1 }, F = { "F", 1, 1 }, e = { "e", 1 },
}

local function method_of(key) return key == "jacobianfx" and "computeJacobianfx" or "compute" .. key end

-- What each fault says after the place; a line of fault.lua, or none for the line where the callback is defined.
local function expected(fault, key)
  local label, rows, cols = table.unpack(outputs[key], 1, 3)
  local first = cols and label .. "[1][1]" or label .. "[1]"
  local wanted = cols and ("a %d x %d matrix"):format(rows, cols) or "a vector of " .. rows
  local index = cols and "row index" or "index"
  local texts = {
    text = { 6, "boom" }, bare = { nil, "boom" }, call = { 18, "attempt to call a nil value (local 'nothing')" },
    nan = { nil, first .. " is nan" }, inf = { nil, first .. " is inf" }, minus = { nil, first .. " is -inf" },
    string = { 3, first .. ": number expected, got string" },
    extra = { 13, ("%s[%d]: %s out of range 1..%d"):format(label, rows + 1, index, rows) },
    few = { nil, ("return value: %s: expected %s, got %s"):format(label, wanted,
      cols and "0 x " .. cols .. " table" or "an empty table") },
    many = { nil, ("return value: %s: expected %s, got a list of 5"):format(label, wanted) },
    word = { nil, ("return value: %s: expected %s, got string"):format(label, wanted) },
    yield = { nil, "attempt to yield from outside a coroutine" },
  }
  return table.unpack(texts[fault], 1, 2)
end

local function keys_of(options)
  local keys = {}
  for key, value in pairs(options) do
    if type(value) == "function" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

describe("a callback that fails", function()
  for _, family in ipairs(families) do
    local reference
    local who = (family.options.x0 and "dynamical system '" or "relation '") .. family.options.name .. "'"

    for _, key in ipairs(keys_of(family.options)) do
      local title = who .. " " .. method_of(key) .. (family.methods and ", a method" or "")

      it("says where and what: " .. title, function()
        reference = reference or models.advance((family.make(family.options)))
        for name, act in pairs(models.faults) do
          local wrapped, fault = models.faulty(family.options)
          local simu = family.make(wrapped)
          models.advance(simu, 2)
          local before = models.state(simu)
          fault[key].now = act
          for _ = 1, 2 do
            local err = models.failure(simu.computeOneStep, simu)
            if name == "object" then
              assert.equal(models.object, err)
            elseif not (family.methods and err:match "^spec/") then
              local line, text = expected(name, key)
              local newton = outputs[key].newton and " newton " .. outputs[key].newton or ""
              local at = line and "fault.lua:" .. line or "model.lua:2"
              assert.equal(("%s: %s %s: t=0.3 step 3%s: %s"):format(at, who, method_of(key), newton, text), err)
            end
            assert.equal(before, models.state(simu))
          end
          fault[key].now = nil
          local rest = models.advance(simu)
          for k = 3, 10 do assert.equal(reference[k], rest[k], name .. " step " .. k) end
        end
      end)

      it("leaves the state at whichever call it fails: " .. title, function()
        reference = reference or models.advance((family.make(family.options)))
        local failures, places = 0, {}
        for after = 0, 40 do
          local wrapped, fault = models.faulty(family.options)
          local simu, left = family.make(wrapped), after
          models.advance(simu, 4)
          local before = models.state(simu)
          fault[key].now = function(good, ...)
            if left == 0 then error "late" end
            left = left - 1
            return good(...)
          end
          local good, err = pcall(simu.computeOneStep, simu)
          fault[key].now = nil
          if good then break end
          failures = failures + 1
          places[#places + 1] = err:match "step 5 newton (%d+): late$" or err:match "t=0.5 step 5: late$" and "0"
          assert.equal(failures, #places, err)
          assert.equal(before, models.state(simu))
          local rest = models.advance(simu)
          for k = 5, 10 do assert.equal(reference[k], rest[k]) end
        end
        assert.is_true(failures >= 1 and failures < 40)
      end)
    end
  end

  it("cannot write its inputs", function()
    for _, write in ipairs {
      { "x is read-only", function(_, _, x) x[1] = 1 end },
      { "lambda is read-only", function(_, _, _, lambda) lambda[1] = 1 end },
      { "x is read-only", function(_, _, x) x(1, 1)[1] = 1 end },
      { "x is read-only", function(_, _, x) x:assign { 1, 2 } end },
      { "x is read-only", function(_, _, x) x:fill(1) end },
    } do
      local wrapped, fault = models.faulty(models.NonLinearR)
      local simu = families[3].make(wrapped)
      local before = models.state(simu)
      fault.h.now = write[2]
      local err = models.failure(simu.computeOneStep, simu)
      assert.equal("relation 'friction' computeh: t=0 step 0: " .. write[1], err:match ":%d+: (.*)$")
      assert.equal(before, models.state(simu))
    end
  end)

  it("may return a number, a table, a vector or a matrix in place of filling its output", function()
    local reference = models.advance((families[3].make(models.NonLinearR)))
    local R = {}
    for key, value in pairs(models.NonLinearR) do R[key] = value end
    R.h = function(_, x, lambda) return x[2] + 0.1 * x[1] ^ 2 + 0.01 * lambda[1] end
    R.g = function(_, x, lambda) return { 0, -lambda[1] * (1 + 0.1 * x[1] ^ 2) } end
    R.Jachx = function(_, x) return { { 0.2 * x[1], 1 } } end
    R.Jacglambda = function(_, x) return ns.matrix { { 0 }, { -(1 + 0.1 * x[1] ^ 2) } } end
    assert.same(reference, models.advance((families[3].make(R))))
    R.Jacgx, R.Jachlambda = nil, nil
    assert.same(reference, models.advance((families[3].make(R))))
    R.g = function(_, x, lambda) return ns.vector { 0, -lambda[1] * (1 + 0.1 * x[1] ^ 2) } end
    R.Jacgx = models.NonLinearR.Jacgx
    assert.same(reference, models.advance((families[3].make(R))))
  end)

  it("may not return a second value where a law, an event or a solver asks for one", function()
    local function simulation(law, event)
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "relay"), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1))
      if event then simu:addEvent(event) end
      return simu:run()
    end
    local function block(mu)
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 0 }, ns.eye(2))
      ds:setFExtPtr(ns.vector { 0, -10 })
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "floor"), ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):run()
    end
    local function two() return 0.5, 2 end
    local function ivp(f, events) return ns.solve_ivp(f, { 0, 1 }, { 1 }, { events = events }) end
    local function decay(_, y) return -y end
    local function dae(residual, events)
      return ns.dae("radau", residual, { events = events }):solve({ 0, 1 }, { 1 }, { -1 })
    end
    local function residual(_, y, yd) return { y[1] + yd[1] } end
    local several = "several values returned: expected one"
    local filled = " (a list of them), or the last argument filled"
    for text, call in pairs {
      ["interaction 'relay' ub: t=0: " .. several] = function() simulation(ns.RelayNSL(1, -1, two)) end,
      ["interaction 'relay' lb: t=0: " .. several] = function() simulation(ns.RelayNSL(1, { two }, 1)) end,
      ["event 'off' g: t=0 step 1: " .. several] = function() simulation(ns.RelayNSL(1), { name = "off", g = two }) end,
      ["interaction 'floor' mu: t=0: " .. several] = function() block(two) end,
      ["solve_ivp: f(t, y): " .. several .. filled] = function() ivp(function(_, y) return -y, y end) end,
      ["solve_ivp: event 1: " .. several] = function() ivp(decay, { two }) end,
      ["solve_ivp: event 1 (half): " .. several] = function()
        ivp(decay, { { name = "half", g = function(_, y) return y[1] - 0.5 end, apply = two } })
      end,
      ["dae: residual: " .. several .. " (a list of them), or res filled"] = function()
        dae(function(t, y, yd) return residual(t, y, yd), 0 end)
      end,
      ["dae: event 1: " .. several] = function() dae(residual, { two }) end,
      ["solve_ivp: f(t, y): it fills its last argument and returns number 5.0 too: expected one or the other"] = function()
        ivp(function(_, y, f)
          f[1] = -y[1]
          return 5
        end)
      end,
      ["dae: residual: it fills res and returns vector of 1 too: expected one or the other"] = function()
        dae(function(_, y, yd, res)
          res[1] = y[1] + yd[1]
          return y
        end)
      end,
      ["mcp: F: it fills its last argument and returns a list of 1 too: expected one or the other"] = function()
        ns.numerics.mcp { F = function(z, F)
          F[1] = z[1] - 1
          return { 1 }
        end, z0 = { 0 }, lower = { 0 } }
      end,
      ["mcp: F: " .. several .. filled] = function()
        ns.numerics.mcp { F = function(z) return z, z end, z0 = { 0 }, lower = { 0 } }
      end,
      ["root: f(x): it fills its last argument and returns number 5.0 too: expected one or the other"] = function()
        ns.root(function(x, f)
          f[1] = x[1]
          return 5
        end, { 1 })
      end,
      ["root: f(x): " .. several .. filled] = function() ns.root(function(x) return x, 1 end, { 1 }) end,
    } do
      local good, message = pcall(call)
      assert.is_false(good, text)
      local first = tostring(message):match "^[^\n]*"
      assert.is_true(first:sub(-#text) == text, ("%s instead of %s"):format(first, text))
    end
  end)

  it("may not return what would be lost", function()
    local C, f = models.NonLinearR.Jachx, {}
    local cases = {
      { "h", function(_, x) return x[1], x[2] end, "several values returned: expected one (a list of them), or y filled" },
      { "h", function(_, x) return nil, x[2] end, "several values returned: expected one (a list of them), or y filled" },
      { "h", function(_, x, _, _, y) y[1] = x[2] return x[1] end,
        "it fills y and returns number 1.0 too: expected one or the other" },
      { "g", function(_, x, _, _, r) r[2] = 1 return x end,
        "it fills r and returns vector of 2 too: expected one or the other" },
      { "Jachx", function(t, x, l, z, J) C(t, x, l, z, J) return true end,
        "it fills C and returns boolean too: expected one or the other" },
    }
    for _, case in ipairs(cases) do
      for key, value in pairs(models.NonLinearR) do f[key] = value end
      f[case[1]] = case[2]
      local err = models.failure(models.advance, (families[3].make(f)), 1)
      assert.matches("relation 'friction' compute" .. case[1] .. ": t=", err, 1, true)
      assert.equal(case[3], err:sub(-#case[3]))
    end
  end)

  it("may return its output, filled", function()
    local reference = models.advance((families[3].make(models.NonLinearR)))
    local R = {}
    for key, value in pairs(models.NonLinearR) do
      R[key] = type(value) ~= "function" and value or function(...)
        value(...)
        return (select(-1, ...))
      end
    end
    assert.same(reference, models.advance((families[3].make(R))))
  end)

  it("gets its output zeroed at every call", function()
    local seen = {}
    local R = models.faulty(models.NonLinearR)
    local h = R.h
    R.h = function(t, x, lambda, z, y)
      seen[#seen + 1] = y[1]
      h(t, x, lambda, z, y)
    end
    models.advance((families[3].make(R)), 3)
    assert.is_true(#seen > 5)
    for _, value in ipairs(seen) do assert.equal(0, value) end
  end)

  it("yields nowhere, in a coroutine either, and the step can be made again there", function()
    local wrapped, fault = models.faulty(models.NonLinearR)
    local simu = families[3].make(wrapped)
    local reference = models.advance((families[3].make(models.NonLinearR)))
    models.advance(simu, 2)
    fault.g.now = models.faults.yield
    local co = coroutine.create(function()
      local good, err = pcall(simu.computeOneStep, simu)
      fault.g.now = nil
      coroutine.yield(good, err)
      models.advance(simu, 5)
    end)
    local _, good, err = coroutine.resume(co)
    assert.is_false(good)
    assert.equal("model.lua:2: relation 'friction' computeg: t=0.3 step 3 newton 1: "
      .. "attempt to yield across a C-call boundary", err)
    assert.is_true(coroutine.resume(co))
    assert.equal(reference[5], models.state(simu))
  end)

  it("keeps the object of an error in run() and in partial solutions", function()
    local wrapped, fault = models.faulty(models.NonLinearR)
    local simu = families[3].make(wrapped)
    models.advance(simu, 2)
    fault.g.now = models.faults.object
    assert.equal(models.object, models.failure(simu.run, simu))
    local sol = simu:run { partial = true }
    assert.equal("failed", sol.status)
    assert.equal(models.object, sol.message)
    assert.equal(1, #sol)
    fault.g.now = models.faults.nan
    sol = simu:run { partial = true }
    assert.equal("model.lua:2: relation 'friction' computeg: t=0.3 step 3 newton 1: r[1] is nan", sol.message)
    fault.g.now = nil
    sol = simu:run()
    assert.equal("completed", sol.status)
    assert.is_nil(sol.message)
    assert.equal(models.advance((families[3].make(models.NonLinearR)))[10], models.state(simu))
  end)

  it("names the relation of the inner simulation and of the outer one", function()
    local inner = models.clutch(1)
    local wrapped, fault = models.faulty(models.NonLinearR)
    local simu = families[3].make(wrapped)
    inner:nsds():interaction(1):relation():setComputehFunction(load("error 'deep'", "@deep.lua"))
    fault.h.now = function() inner:computeOneStep() end
    local err = models.failure(simu.computeOneStep, simu)
    assert.equal("deep.lua:1: relation 'friction' computeh: t=0 step 0: "
      .. "relation 'clutch' computeh: t=0 step 0: deep", err)
  end)
end)

describe("from inside a callback", function()
  -- What a callback calls, and the answer.
  local function attempts(simu, inter, ds)
    local nsds = simu:nsds()
    local spare = ns.FirstOrderLinearTIDS { 1 }
    local busy = ": a step is being computed (called from inside a callback?)"
    local used = " is being used by the step that is computed (called from inside a callback?)"
    local relation = inter:relation()
    return {
      { "computeOneStep" .. busy, simu.computeOneStep, simu }, { "nextStep" .. busy, simu.nextStep, simu },
      { "run" .. busy, simu.run, simu }, { "reset" .. busy, simu.reset, simu }, { "close" .. busy, simu.close, simu },
      { "steps" .. busy, simu.steps, simu }, { "initialize" .. busy, simu.initialize, simu },
      { "check" .. busy, simu.check, simu }, { "clone" .. busy, simu.clone, simu },
      { "link" .. busy, nsds.link, nsds, inter, ds },
      { "insertDynamicalSystem" .. busy, nsds.insertDynamicalSystem, nsds, spare },
      { "close" .. busy, nsds.close, nsds },
      { "setMPtr: dynamical system 'plant'" .. used, ds.setMPtr, ds, ns.eye(2) },
      { "setX: dynamical system 'plant'" .. used, ds.setX, ds, { 0, 0 } },
      { "computeRhs: dynamical system 'plant'" .. used, ds.computeRhs, ds, 0 },
      { "setComputeFFunction: dynamical system 'plant'" .. used, ds.setComputeFFunction, ds, print },
      { "resetToInitialState: dynamical system 'plant'" .. used, ds.resetToInitialState, ds },
      { "close: dynamical system 'plant'" .. used, ds.close, ds },
      { "setCPtr: relation 'friction'" .. used, relation.setCPtr, relation, ns.eye(2) },
      { "setComputehFunction: relation 'friction'" .. used, relation.setComputehFunction, relation, print },
      { "setzPtr: relation 'friction'" .. used, relation.setzPtr, relation, { 1 } },
      { "computeh: relation 'friction'" .. used, function() relation.computeh = print end },
      { "close: relation 'friction'" .. used, relation.close, relation },
      { "close: interaction 'contact'" .. used, inter.close, inter },
    }
  end

  for _, slot in ipairs { "h", "Jacgx" } do
    it("nothing of the step can be changed: " .. slot, function()
      local reference = models.advance((families[3].make(models.NonLinearR)))
      local wrapped, fault = models.faulty(models.NonLinearR)
      local simu, inter, ds = families[3].make(wrapped)
      models.advance(simu, 1)
      local wanted, got = attempts(simu, inter, ds), {}
      fault[slot].now = function(good, ...)
        for i, attempt in ipairs(wanted) do got[i] = models.message(table.unpack(attempt, 2)) end
        return good(...)
      end
      simu:computeOneStep()
      for i, attempt in ipairs(wanted) do assert.equal(attempt[1], got[i]) end
      fault[slot].now = nil
      simu:nextStep()
      assert.equal(reference[2], models.state(simu))
      assert.equal(reference[10], models.advance(simu)[10])
    end)
  end

  it("nor during check()", function()
    local wrapped, fault = models.faulty(models.NonLinearR)
    local simu = families[3].make(wrapped)
    fault.h.now = function() simu:computeOneStep() end
    assert.matches("relation 'friction' computeh: computeOneStep: a step is being computed",
      models.failure(simu.check, simu), 1, true)
    fault.h.now = nil
    assert.is_true(simu:check())
  end)

  it("another simulation may run, and garbage may be collected in any mode #once", function()
    local reference = models.advance((families[3].make(models.NonLinearR)))
    for _, mode in ipairs { "incremental", "generational" } do
      local before = collectgarbage(mode)
      local wrapped, fault = models.faulty(models.NonLinearR)
      local simu = families[3].make(wrapped)
      for _, slot in ipairs { "h", "Jacgx" } do
        fault[slot].now = function(good, ...)
          collectgarbage()
          models.clutch(0.2):run()
          return good(...)
        end
      end
      local states = models.advance(simu)
      collectgarbage(before)
      assert.same(reference, states)
    end
  end)
end)

describe("a callback with mistaken parameters", function()
  local function failure(source, method)
    local h = load("return " .. source, "@h.lua")()
    local rel
    if method then
      rel = ns.class(ns.FirstOrderNonLinearR, "r")()
      rel.computeh = h
      rel:setComputegFunction(models.NonLinearR.g)
    else
      rel = ns.FirstOrderNonLinearR { name = "r", h = h, g = models.NonLinearR.g }
    end
    local simu = models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds), rel)
    return (models.failure(simu.initialize, simu):gsub("^h.lua:1: relation 'r' computeh: t=0 step 0: ", ""))
  end

  it("is told how it is called", function()
    local called = " (computeh is called as (time, x, lambda, z, y))"
    local as_method = " (computeh is called as (self, time, x, lambda, z, y))"
    assert.equal("z[1]: the vector is empty" .. called, failure "function(t, x, lambda, y) y[1] = x[1] end")
    assert.equal("attempt to index a number value (local 'x')" .. called, failure "function(x, y) y[1] = x[1] end")
    assert.equal("attempt to index a nil value (local 'y')" .. called,
      failure "function(t, x, lambda, z, w, y) y[1] = x[1] end")
    assert.equal("attempt to index a number value (local 'x')" .. as_method,
      failure("function(t, x, lambda, z, y) y[1] = x[1] end", true))
    assert.equal("attempt to perform arithmetic on a nil value (local 'u')" .. called,
      failure "function(t, x, lambda, z, y, u) y[1] = 2 * u end")
    assert.matches("^attempt to compare .*" .. called:gsub("%p", "%%%0") .. "$",
      failure "function(x, t, lambda, z, y) if t > 1 then y[1] = 1 end end")
  end)

  it("and others are left as they are", function()
    assert.equal("attempt to call a nil value (global 'nothing')", failure "function() nothing() end")
    assert.equal("x[9]: index out of range 1..2", failure "function(t, x) return x[9] end")
    assert.equal("attempt to index a function value (local 'f')", failure "function() local f = print; return f.x end")
  end)
end)

describe("an argument that is read often", function()
  -- What can be asked of a vector, as words.
  local questions = load([[
local ns = require "nslua"
return {
  function(x) return x[1], x[2], x[1.0], math.type(x[1]), #x, 1 / x[3] end,
  function(x) return x[0] end,
  function(x) return x[4] end,
  function(x) return x[-1] end,
  function(x) return x[1.5] end,
  function(x) return x["1"] end,
  function(x) return x[nil] end,
  function(x) return x[0 / 0] end,
  function(x) return x[{}] end,
  function(x) return x.nrom end,
  function(x) return x:foo() end,
  function(x) x[1] = 2 end,
  function(x) x[9] = 2 end,
  function(x) x.y = 2 end,
  function(x) x:assign { 1, 2, 3 } end,
  function(x) x:fill(1) end,
  function(x) return x:norm(), x:sum(), x:dot(x), x:slice(2, 3)[1], x(-2), x:cross(x), x:totable()[2] end,
  function(x) return x + 1, 2 * x, -x, x .. "", x == x, x == x:copy(), tostring(x), type(x), getmetatable(x) end,
  function(x) local s = 0 for i, v in ipairs(x) do s = s + i * v end return s end,
  function(x) local s = 0 for i, v in pairs(x) do s = s + i * v end return s end,
  function(x) return rawlen(x), select("#", table.unpack(x, 1, #x)), table.unpack(x, 1, #x) end,
  function(x) return rawget(x, 1) end,
  function(x) return next(x) end,
  function(x) return x() end,
  function(x) return ns.eye(3):dot(x) end,
  function(x) return ns.isvector(x), ns.maximum(x, 0), ns.matrix(x):rows(), ns.vector(x) end,
  function(x) return setmetatable(x, nil) end,
  function(x) return x < x end,
}]], "@questions.lua")()

  local function answers(x)
    local told = {}
    for k, question in ipairs(questions) do
      local all = table.pack(pcall(question, x))
      for i = 1, all.n do all[i] = tostring(all[i]) end
      told[k] = table.concat(all, " ")
    end
    return told
  end

  -- A system of three unknowns whose callback hands its argument to `look` from call to call.
  local function system(look)
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1.5, -2, -0.0 }, name = "plant", jacobianfx = function() end,
      f = function(t, x, _, f) return look(t, x, f) end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(1)), ds
  end

  it("answers as before, and has the numbers of each call", function()
    local calls, kept, first, metatable = 0, nil, nil, nil
    local simu = system(function(_, x)
      calls = calls + 1
      if calls == 1 then
        first, kept, metatable = answers(x), x, debug.getmetatable(x)
        for _ = 1, 40 do assert(x[1] == 1.5 and x[2] == -2 and 1 / x[3] == -math.huge) end
        assert(metatable ~= debug.getmetatable(x), "it is read from a table")
        assert.same(first, answers(x))
      end
      assert(rawequal(x, kept))
      local sum = x[1] + x[2] + x[3]
      assert(sum == x:sum() and x[1] == x:totable()[1] and x[3] == x:slice(3, 3)[1])
      return { x[2], -x[1], x[3] + 1 }
    end)
    for _ = 1, 50 do
      simu:computeOneStep()
      local now = kept:copy()
      for i = 1, 3 do assert.equal(now[i], kept[i]) end
      simu:nextStep()
    end
    assert.is_true(calls > 50)
    assert.is_nil(rawget(debug.getmetatable(kept).__index, 4))
  end)

  it("has the numbers of each call, short or long", function()
    for _, n in ipairs { 1, 63, 64, 65, 130 } do
      local right, calls = true, 0
      local ds = ns.FirstOrderNonLinearDS { x0 = ns.linspace(-1, 1, n), jacobianfx = function() end,
        f = function(t, x, _, f)
          calls = calls + 1
          local all = x:totable()
          for i = 1, n do
            right = right and x[i] == all[i]
            f[i] = t - x[n + 1 - i]
          end
        end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5)):run()
      assert.is_true(right and calls > 100)
    end
  end)

  it("answers in a fault at the line of the script", function()
    local look = load("return function(t, x)\nlocal n = 2 * x[1]\nif t > 0.5 then x[1] = n end\nend", "@look.lua")()
    local simu = system(look)
    local good, err = pcall(simu.run, simu)
    assert.is_false(good)
    assert.matches("^look.lua:3: dynamical system 'plant' computef: t=0.51 step 51 newton %d: x is read%-only$", err)
  end)

  it("is collected with its system", function()
    local weak = setmetatable({}, { __mode = "k" })
    do
      local simu = system(function(_, x, f)
        weak[x] = true
        for i = 1, 3 do f[i] = x[i] end
      end)
      simu:run()
    end
    assert.truthy(next(weak))
    collectgarbage() collectgarbage()
    assert.is_nil(next(weak))
  end)

  it("makes no garbage #once", function()
    for _, jacobian in ipairs { function() end, false } do
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1.5, -2, 0.25 }, jacobianfx = jacobian or nil,
        f = function(_, x, _, f) f[1], f[2], f[3] = x[2] * 0.1, -x[1], x[3] end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 10)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(1))
      for _ = 1, 200 do simu:computeOneStep() simu:nextStep() end
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for _ = 1, 200 do simu:computeOneStep() simu:nextStep() end
      local after = collectgarbage "count"
      collectgarbage "restart"
      assert.is_true(after - before < 0.1, after - before)
    end
  end)
end)
