-- TimeStepping by hand: order of the calls, steps that fail, parts that are closed.
local ns = require "nslua"
local models = require "bind.models"
local message, state, advance = models.message, models.state, models.advance

-- A step fails twice with the text; the state stays; `mend` makes the rest equal to that of the undisturbed model.
local function check_failure(simu, text, mend, reference)
  local before = state(simu)
  for _ = 1, 2 do
    assert.equal(text, message(simu.computeOneStep, simu))
    assert.equal(before, state(simu))
    assert.equal(text, message(simu.run, simu))
    assert.equal(before, state(simu))
    assert.matches("nextStep: the step from t=%S+ has not been computed", message(simu.nextStep, simu))
  end
  if mend then
    mend()
    local done, rest = simu:step(), advance(simu)
    for k = done + 1, #reference do assert.equal(reference[k], rest[k]) end
    assert.equal(reference[#reference], state(simu))
  end
end

describe("TimeStepping", function()
  it("needs its parts, open and fitting", function()
    local nsds, td = ns.NonSmoothDynamicalSystem(0, 1), ns.TimeDiscretisation(0, 0.1)
    local osi = ns.EulerMoreauOSI(1)
    assert.equal("bad argument #1 to 'TimeStepping' (NonSmoothDynamicalSystem expected, got nil)",
      message(function() ns.TimeStepping() end))
    assert.equal("bad argument #2 to 'TimeStepping' (TimeDiscretisation expected, got EulerMoreauOSI)",
      message(function() ns.TimeStepping(nsds, osi) end))
    assert.equal("bad argument #4 to 'TimeStepping' (one-step problem expected, got number 3.0)",
      message(function() ns.TimeStepping(nsds, td, osi, 3) end))
    assert.equal("TimeStepping: the TimeDiscretisation starts at 1, the NonSmoothDynamicalSystem at 0",
      message(function() ns.TimeStepping(nsds, ns.TimeDiscretisation(1, 0.1), osi) end))
    local simu = ns.TimeStepping(nsds, td, osi)
    assert.equal("TimeStepping: the NonSmoothDynamicalSystem is empty", message(simu.computeOneStep, simu))
    assert.equal("TimeStepping: the NonSmoothDynamicalSystem is empty", message(simu.run, simu))
    nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS { 1 })
    assert.equal("completed", simu:run().status)
  end)

  it("is called in messages what it was made as", function()
    local oscillator = function() return ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }) end
    local osis = { TimeStepping = ns.MoreauJeanOSI, TimeSteppingDirectProjection = ns.MoreauJeanOSI,
      TimeSteppingCombinedProjection = ns.MoreauJeanOSI, EventDriven = ns.RungeKuttaOSI }
    for name, osi in pairs(osis) do
      local function make(t0, h, nsds, problem)
        return ns[name](nsds, ns.TimeDiscretisation(t0, h), osi(name ~= "EventDriven" and 0.5 or nil), problem)
      end
      local function new(ds)
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        if ds then nsds:insertDynamicalSystem(ds) end
        return nsds
      end
      local function check(text, ...) assert.equal(text:gsub("NAME", name), message(...)) end
      check("NAME: the TimeDiscretisation starts at 1, the NonSmoothDynamicalSystem at 0", make, 1, 0.1, new())
      check("NAME: no step of h = 2 fits into [t0, T] = [0, 1]", make, 0, 2, new())
      local other = name == "EventDriven" and ns.MoreauJeanOSI(0.5) or ns.RungeKuttaOSI()
      check(name == "EventDriven" and "NAME: expected an integrator such as RungeKuttaOSI, got a MoreauJeanOSI"
        or name == "TimeStepping" and "NAME: a RungeKuttaOSI goes with EventDriven"
        or "NAME: expected an integrator such as MoreauJeanOSI, got a RungeKuttaOSI",
        ns[name], new(), ns.TimeDiscretisation(0, 0.1), other)
      local most = name:find "Projection" and 6 or 4
      check(("NAME: expected at most %d arguments, got 7"):format(most), ns[name], 1, 2, 3, 4, 5, 6, 7)
      local simu = make(0, 0.5, new())
      check("NAME: the NonSmoothDynamicalSystem is empty", simu.computeOneStep, simu)
      local ds = oscillator()
      simu = make(0, 0.5, new(ds))
      assert.equal(name .. ": step 0 of 2, t = 0.0", tostring(simu))
      check("NAME: the GenericMechanical belongs to another simulation already", make, 0, 0.5, simu:nsds(), simu:osnspb())
      check("NAME: nextStep: the step from t=0 has not been computed", simu.nextStep, simu)
      for _ = 1, 2 do
        simu:computeOneStep()
        simu:nextStep()
      end
      check("NAME: the end of the time interval is reached (t=1, step 2)", simu.computeOneStep, simu)
      check("NAME: dynamical system 'ds 1' is not at its initial state any more: reset() the simulation that moved it, or "
        .. "work on a clone() of that", make, 0, 0.5, simu:nsds())
      if name ~= "EventDriven" then
        check("events: a NAME with a MoreauJeanOSI has none; EventDriven locates them", simu.events, simu)
      end
      check("bad argument #1 to 'x0' (dynamical system expected, got NAME; call it with a colon, ds:x0(...))",
        function() ds.x0(simu) end)
      assert.equal(name, tostring(simu:clone()):match "^%w+")
      simu:close()
      assert.equal(name .. " (closed)", tostring(simu))
      check("NAME is closed", simu.step, simu)
    end
    assert.equal("bad argument #1 to 'step' (simulation expected, got Relay; call it with a colon, simu:step(...))",
      message(function() models.relay().step(ns.Relay()) end))
  end)

  it("names itself where Newton does not converge", function()
    for _, name in ipairs { "TimeStepping", "TimeSteppingDirectProjection" } do
      local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
      ds:setComputeFIntFunction(function(_, q, v, _, f) f[1] = 50 * math.sin(30 * q[1]) + v[1] ^ 3 end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local simu = ns[name](nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(1))
      simu:setNewtonMaxIteration(1)
      assert.matches("^" .. name .. ": Newton did not converge in 1 iterations: ", message(simu.computeOneStep, simu))
    end
  end)

  it("has a one-step problem of its own, until it is closed", function()
    local simu = models.relay(0.05)
    local copy = { simu:nsds(), simu:timeDiscretisation(), simu:osi(), simu:osnspb() }
    local text = "TimeStepping: the Relay belongs to another simulation already"
    assert.equal(text, message(function() ns.TimeStepping(table.unpack(copy)) end))
    simu:computeOneStep()
    assert.is_number(copy[4]:M()[1][1])
    simu:close()
    assert.is_nil(copy[4]:M())
    assert.is_nil(copy[4]:q())
    assert.is_nil(copy[4]:info())
    assert.equal("Relay: no one-step problem has been solved yet", message(copy[4].dump, copy[4], "/nonexistent/x"))
    assert.equal("TimeStepping: dynamical system 'ds 1' is not at its initial state any more: reset() the simulation "
      .. "that moved it, or work on a clone() of that", message(ns.TimeStepping, table.unpack(copy)))
    copy[1]:dynamicalSystem(1):resetToInitialState()
    local again = ns.TimeStepping(table.unpack(copy))
    again:computeOneStep()
    assert.is_not_nil(copy[4]:M())
    again, simu = nil, nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_nil(copy[4]:M())
    copy[1]:dynamicalSystem(1):resetToInitialState()
    assert.is_userdata(ns.TimeStepping(table.unpack(copy)))
  end)

  it("steps in order, and not past the end", function()
    local simu = models.relay(0.02)
    assert.equal("TimeStepping: nextStep: the step from t=0 has not been computed", message(simu.nextStep, simu))
    simu:computeOneStep()
    simu:computeOneStep()
    simu:nextStep()
    assert.equal("TimeStepping: nextStep: the step from t=0.01 has not been computed", message(simu.nextStep, simu))
    simu:computeOneStep()
    simu:nextStep()
    local before = state(simu)
    assert.is_false(simu:hasNextEvent())
    local text = "TimeStepping: the end of the time interval is reached (t=0.02, step 2)"
    assert.equal(text, message(simu.computeOneStep, simu))
    assert.equal(before, state(simu))
    assert.equal(1, #simu:run())
    simu:reset()
    assert.equal(before, advance(simu)[2])
  end)

  it("computes a step again to the same bits", function()
    local reference = advance((models.clutch(1)))
    local simu = models.clutch(1)
    while simu:hasNextEvent() do
      for _ = 1, 3 do simu:computeOneStep() end
      simu:nextStep()
      assert.equal(reference[simu:step()], state(simu))
    end
    assert.equal(#reference, simu:stats().steps)
  end)

  it("refuses options out of range", function()
    local s = models.relay(0.01)
    assert.equal("setNewtonMaxIteration: iterations: expected 1..1000000, got 0",
      message(s.setNewtonMaxIteration, s, 0))
    assert.equal("setNewtonTolerance: relative tolerance: expected a positive number, got -1.0",
      message(s.setNewtonTolerance, s, -1))
    assert.equal("setNewtonTolerance: absolute tolerance: expected 0 or more, got -1.0",
      message(s.setNewtonTolerance, s, 1, -1))
    assert.equal("setMaxSubsteps: substeps: expected 1..1048576, got 0", message(s.setMaxSubsteps, s, 0))
    assert.equal("setComputeResidu: flag: expected a boolean, got number 1.0", message(s.setComputeResiduY, s, 1))
    assert.equal("setVerbose: verbose: expected a boolean, got number 1.0", message(s.setVerbose, s, 1))
  end)

  it("names the system and the row of a singular W", function()
    local reference = advance((models.relay(0.1)))
    local simu, _, ds = models.relay(0.1)
    local M, A = ns.eye(2), ns.matrix { { 0, 1 }, { -1, -0.1 } }
    ds:setMPtr(M)
    ds:setAPtr(A)
    ds:setName "mass"
    advance(simu, 3)
    M[2][2], A[2][1], A[2][2] = 0, 0, 0
    check_failure(simu, "dynamical system 'mass': W = M - h theta df/dx - h gamma dg/dx is singular (row 2, h=0.01) "
      .. "(t=0.04 step 4 newton 1)", function() M[2][2], A[2][1], A[2][2] = 1, -1, -0.1 end, reference)
  end)

  it("tells a Newton iteration that does not converge", function()
    local bad = false
    local function make()
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] ^ 3 end,
        function(_, x, _, J) J[1][1] = bad and 30 or -3 * x[1] ^ 2 end)
      ds:setName "tank"
      nsds:insertDynamicalSystem(ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    end
    local reference, simu = advance((make())), make()
    advance(simu, 5)
    bad = true
    simu:setNewtonMaxIteration(4)
    local before = state(simu)
    local text = message(simu.computeOneStep, simu)
    assert.matches("^TimeStepping: Newton did not converge in 4 iterations: relative residual [%d.e-]+ of "
      .. "dynamical system 'tank', tolerance 1e%-10 %(t=0.6 step 6 newton 4%) "
      .. "%(a smaller h, setMaxSubsteps%(n%) or, for a switch inside a callback, a law may help%); "
      .. "simu:check%(%) compares the given Jacobians with the exact ones$", text)
    assert.equal(text, message(simu.run, simu))
    check_failure(simu, text, function() bad = false end, reference)
    assert.is_not.equal(before, state(simu))
  end)

  it("advises on Jacobians only where some were given", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f)
      f[1] = x[1] > 0.9 and -5 or 5
    end))
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    assert.matches("%(t=0.1 step 1 newton 50%) %(a smaller h, setMaxSubsteps%(n%) or, for a switch inside a callback, "
      .. "a law may help%)$", message(simu.computeOneStep, simu))
  end)

  it("tells the state that a script wrote as nan or inf", function()
    for value, word in pairs { [0] = "nan", [1 / 0] = "inf", [-1 / 0] = "-inf" } do
      local simu, _, ds = models.relay(0.1)
      local reference = advance((models.relay(0.1)))
      advance(simu, 2)
      local good = ds:x()[2]
      ds:x()[2] = value == 0 and 0 / 0 or value
      local text = ("dynamical system 'ds 1': x[2] is %s (t=0.02 step 2)"):format(word)
      assert.equal(text, message(simu.computeOneStep, simu))
      assert.equal(text, message(simu.run, simu))
      ds:x()[2] = good
      assert.equal(reference[10], advance(simu)[10])
    end
  end)

  it("takes no more arguments than it knows", function()
    local function few(most, name, ...)
      local text = ("%s: expected at most %d argument%s, got %d"):format(name, most, most == 1 and "" or "s", most + 1)
      assert.equal(text, message(ns[name], ...))
    end
    few(2, "TimeDiscretisation", 0, 100, 1000)
    few(2, "EulerMoreauOSI", 1, 1, 1)
    few(2, "NonSmoothDynamicalSystem", 0, 1, 2)
    few(3, "Interaction", ns.RelayNSL(1), models.clutch_relation(), "name", 1)
    few(4, "TimeStepping", 1, 2, 3, 4, 5)
    few(1, "LCP", {}, {})
    few(1, "ComplementarityConditionNSL", 1, 2)
    few(1, "EqualityConditionNSL", 1, 2)
    few(3, "RelayNSL", 1, 0, 1, 2)
    few(2, "MixedComplementarityConditionNSL", 1, 2, 3)
    few(3, "NormalConeNSL", 1, { { 1 } }, { 0 }, 0)
    few(3, "FirstOrderLinearTIDS", { 1 }, { { 1 } }, { 0 }, 0)
  end)

  it("tells the interaction of a law whose bounds contain no number", function()
    local reference = advance((models.relay(0.1)))
    local simu, inter = models.relay(0.1)
    advance(simu, 2)
    local lb, ub = inter:nonSmoothLaw():lb(), inter:nonSmoothLaw():ub()
    lb[1] = 7
    check_failure(simu, "interaction 'interaction 1': RelayNSL: lb[1] = 7 is above ub[1] = 1 (t=0.03 step 3)",
      function() lb[1] = -1 end, reference)
    simu:reset()
    ub[1] = 0 / 0
    check_failure(simu, "interaction 'interaction 1': RelayNSL: ub[1] is nan",
      function() ub[1] = 1 end, reference)
  end)

  it("refuses a shared coefficient that is not finite, as long as it is not", function()
    local reference = advance((models.relay(0.1)))
    local simu, _, ds = models.relay(0.1)
    local M, b = ns.eye(2), ns.vector(2)
    ds:setMPtr(M)
    ds:setbPtr(b)
    advance(simu, 2)
    M[1][2] = 0 / 0
    check_failure(simu,
      "dynamical system 'ds 1': M[1][2] is nan (t=0.03 step 3)", function() M[1][2] = 0 end, reference)
    simu:reset()
    advance(simu, 2)
    b[2] = -math.huge
    check_failure(simu, "dynamical system 'ds 1': b[2] is -inf (t=0.03 step 3)", function() b[2] = 0 end, reference)
  end)

  it("raises when the states overflow", function()
    local simu, _, ds = models.relay(0.1)
    ds:setX { 1e308, 1e308 }
    ds:setbPtr { 1e308, 1e308 }
    ds:setAPtr { { 199, 0 }, { 0, 199 } }
    simu:initialize()
    check_failure(simu, "Relay: the one-step problem has no accepted solution: not a finite number (1 unknown from "
      .. "'interaction 1', residual inf) (t=0.01 step 1 newton 1)")
  end)

  it("takes a table of options alone when it is initialised", function()
    local simu = models.relay()
    for said, options in pairs { ["number 3"] = 3, ["string"] = "consistent", ["TimeStepping"] = simu, ["boolean"] = true } do
      local text = message(simu.initialize, simu, options)
      assert.truthy(text:find("initialize: options: expected a table, got " .. said, 1, true), text)
    end
    assert.equal("initialize: unknown option 'start' (known: consistent)", message(simu.initialize, simu, { start = true }))
    assert.equal("initialize: consistent: expected a boolean, got number 1.0", message(simu.initialize, simu, { consistent = 1 }))
  end)

  it("refuses laws that its one-step problem does not know", function()
    local simu = models.relay()
    local function with(osnspb)
      return message(ns.TimeStepping, simu:nsds(), simu:timeDiscretisation(), simu:osi(), osnspb)
    end
    assert.equal("LCP: interaction 'interaction 1' has a RelayNSL; use Relay or MLCP", with(ns.LCP()))
    assert.equal("Equality: interaction 'interaction 1' has a RelayNSL; use Relay or MLCP", with(ns.Equality()))
    local made = function()
      return models.simulate(ns.FirstOrderLinearTIDS { 1 }, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), 1,
        ns.MixedComplementarityConditionNSL(1, 0))
    end
    assert.matches("Relay: interaction 'contact' has a MixedComplementarityConditionNSL; use MLCP$", message(made))
  end)

  it("refuses closed parts", function()
    local closed = {
      { "dynamical system 'ds 1' is closed", function(_, _, ds) ds:close() end },
      { "interaction 'interaction 1' is closed", function(_, inter) inter:close() end },
      { "relation 'FirstOrderLinearTIR' is closed", function(_, inter) inter:relation():close() end },
      { "interaction 'interaction 1': RelayNSL is closed", function(_, inter) inter:nonSmoothLaw():close() end },
      { "NonSmoothDynamicalSystem is closed", function(simu) simu:nsds():close() end },
      { "TimeDiscretisation is closed", function(simu) simu:timeDiscretisation():close() end },
      { "EulerMoreauOSI is closed", function(simu) simu:osi():close() end },
      { "Relay is closed", function(simu) simu:osnspb():close() end },
      { "TimeStepping is closed", function(simu) simu:close() end },
    }
    for _, case in ipairs(closed) do
      for steps = 0, 1 do
        local simu, inter, ds = models.relay(0.05)
        advance(simu, steps)
        case[2](simu, inter, ds)
        for _, method in ipairs { "computeOneStep", "run" } do
          assert.equal(case[1], (message(simu[method], simu):gsub(" %(t=0.02 step 2%)$", "")))
        end
      end
    end
  end)

  it("raises from every method after close()", function()
    local simu = models.relay(0.05)
    local iterate, arg = simu:steps()
    simu:close()
    assert.equal("TimeStepping (closed)", tostring(simu))
    assert.equal("TimeStepping is closed", message(iterate, arg))
    for _, name in ipairs { "computeOneStep", "advanceToEvent", "nextStep", "initialize", "hasNextEvent", "nextTime",
      "startingTime", "timeStep", "step", "numberOfSteps", "steps", "run", "check", "clone", "reset", "setVerbose",
      "newtonIterations", "newtonResidual", "stats", "nsds", "timeDiscretisation", "osi", "osnspb", "display",
      "setNewtonMaxIteration", "setNewtonTolerance", "setMaxSubsteps", "setComputeResiduY", "close" } do
      assert.equal("TimeStepping is closed", message(simu[name], simu), name)
    end
  end)

  it("has loops whose end takes nothing else", function()
    local simu = models.relay(0.05)
    local close = getmetatable((select(4, simu:steps()))).__close
    for _, x in ipairs { false, simu, {} } do
      assert.matches("nslua.loop expected, got ", message(close, x), 1, true)
    end
    assert.matches("nslua.loop expected, got no value", message(close), 1, true)
  end)

  it("writes verbose lines to standard error only", function()
    local host = require "host"
    local out, err, code = host.nslua_run("-", [[
      local ns = require "nslua"
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 0.2), ns.FirstOrderLinearTIDS { 1 }
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { -1 } })), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.Relay())
      simu:computeOneStep() simu:nextStep()
      simu:setVerbose(true) simu:run() simu:reset()
      simu:setVerbose(false) simu:osnspb():setNumericsVerboseMode(true) simu:computeOneStep()
      print "done"]])
    assert.equal("done\n", out)
    assert.equal("Relay: t=0.2 step 2 newton 1: state residual 0, output residual 0; closed form, 0 iterations, "
      .. "residual 0\n"
      .. "Relay: t=0.1 step 1 newton 1: state residual 0, output residual 0; closed form, 0 iterations, "
      .. "residual 0\n", err)
    assert.equal(0, code)
  end)
end)

describe("TimeSteppingDirectProjection", function()
  it("goes with a MoreauJeanOSI, and takes nothing when it is refused", function()
    local ds, problem = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }), ns.GenericMechanical()
    local nsds, td = ns.NonSmoothDynamicalSystem(0, 1), ns.TimeDiscretisation(0, 0.1)
    nsds:insertDynamicalSystem(ds)
    for _, name in ipairs { "MoreauJeanGOSI", "EulerMoreauOSI" } do
      assert.equal("TimeSteppingDirectProjection: expected an integrator such as MoreauJeanOSI, got a " .. name,
        message(ns.TimeSteppingDirectProjection, nsds, td, ns[name](0.5), problem))
    end
    local simu = ns.TimeSteppingDirectProjection(nsds, td, ns.MoreauJeanOSI(0.5), problem)
    assert.equal(problem, simu:osnspb())
    local set = simu.setConstraintTolerance
    assert.equal("setConstraintTolerance: tolerance: expected a finite number, got no value", message(set, simu))
    assert.equal("setConstraintTolerance: tolerance: expected a positive number, got 0.0", message(set, simu, 0))
    assert.equal("setConstraintTolerance: iterations: expected 1..1000000, got 0", message(set, simu, 1e-9, 0))
    simu:setConstraintTolerance(1e-9, 5)
  end)

  it("displays its parts, whatever else it is given", function()
    local nsds, shown, print_before = ns.NonSmoothDynamicalSystem(0, 1), {}, print
    nsds:insertDynamicalSystem(ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }))
    local simu = ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    rawset(_G, "print", function(text) shown[#shown + 1] = text end)
    simu:display()
    simu:display(1, "x")
    rawset(_G, "print", print_before)
    assert.matches("^TimeSteppingDirectProjection: step 0 of 10, t = 0.0\n  model = NonSmoothDynamicalSystem", shown[1])
    assert.equal(shown[1], shown[2])
  end)
end)
