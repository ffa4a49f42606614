local campaign = require "campaign"
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"

local function model(make, T)
  local ds, law = ns.FirstOrderLinearTIDS({ -1 }, { { 0 } }, { 2 }), ns.RelayNSL(1, -1, 1)
  local relation = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
  ds:setName "plant"
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 2)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "relay"), ds)
  local grid = ns.TimeDiscretisation(0, 0.5)
  return make and make(nsds, grid) or ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()), ds, law, relation
end

local function refuses(text, simu, sensitivities)
  assert.has_error(function() simu:run { sensitivities = sensitivities } end, text)
end

describe("run{sensitivities}", function()
  it("names the parameters in their order", function()
    local simu, ds, law, relation = model()
    local sol = simu:run { sensitivities = { "x0", { law, "ub" }, { ds, "A", 1, 1 }, { relation, "C" }, { ds, "x0" } } }
    assert.same({ "x0[1]", "relay.ub[1]", "plant.A[1][1]", "relay.C[1][1]", "plant.x0[1]" }, sol.sensitivities)
    assert.equal(#sol, #sol.S)
    assert.equal(sol.S[#sol][1][1], sol.S[#sol][1][5])
    assert.equal(sol.S[3][1][2], sol:sensitivity(2)[3][1])
    assert.equal(sol.S[3][1][2], sol:sensitivity "relay.ub"[1][3][1])
    assert.has_error(function() sol:sensitivity "mu" end, "sensitivity: the run has no parameter 'mu'")
    assert.has_error(function() sol:sensitivity(6) end, "sensitivity: expected 1..5, got 6")
  end)

  it("leaves the model unchanged", function()
    local simu, ds, law, relation = model()
    simu:run { sensitivities = { { law, "ub" }, { ds, "A" }, { ds, "b" }, { relation, "C" }, { relation, "B" } } }
    assert.same({ 1, 0, 2, 1, 1 }, { law:ub()[1], ds:A()[1][1], ds:b()[1], relation:C()[1][1], relation:B()[1][1] })
  end)

  it("leaves the model unchanged after an error, too", function()
    local z = ns.vector { 0.5 }
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, p, f)
      if tostring(p[1]) ~= "0.5" then error "no other z" end -- a trace can not follow it
      f[1] = -p[1] * x[1]
    end)
    ds:setzPtr(z)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local ok, message = pcall(simu.run, simu, { sensitivities = { "z" } })
    assert.is_false(ok)
    assert.is_truthy(message:find("no other z", 1, true))
    assert.equal(0.5, z[1])
    simu:reset()
    assert.near(math.exp(-0.5), simu:run().x[3][1], 1e-10)
  end)

  it("takes parameters z of callbacks", function()
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, z, f) f[1] = -z[1] * x[1] + z[2] end)
    ds:setzPtr(ns.vector { 0.5, 0.25 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()):run { sensitivities = { "z" } }
    assert.same({ "z[1]", "z[2]" }, sol.sensitivities)
    local decay = math.exp(-0.5) -- x = 1/2 + 1/2 exp(-t/2)
    assert.near(-(1 - decay) - 0.5 * decay, sol.S[#sol][1][1], 1e-10)
    assert.near((1 - decay) / 0.5, sol.S[#sol][1][2], 1e-10)
  end)

  it("are 0 where a law holds the state, whatever forces its multiplier cancels", function()
    local function force(t, z, b) b[1] = z[1] * math.sin(314 * t) - z[2] end
    local ds = ns.FirstOrderLinearDS { x0 = { 0 }, A = { { -500 } }, b = force }
    ds:setzPtr { 5000, 1500 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.005)
    nsds:insertDynamicalSystem(ds)
    local held = ns.RelayNSL(1, { -math.huge }, { math.huge })
    nsds:link(ns.Interaction(held, ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { -50 } } }, "held"), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1e-3), ns.RungeKuttaOSI(1e-12))
    local sol = simu:run { sensitivities = { "z" } }
    for k = 1, #sol do
      for j = 1, 2 do assert.near(0, 1500 * sol.S[k][1][j], 1e-12) end
    end
  end)

  it("stay in sticking after a start at which all states are 0, with friction that depends on the speed", function()
    local rng = ns.rng(5)
    local function make(k, fall, range)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 0, 0 }, z = ns.vector { k }, f = function(t, x, z, f)
        f[1], f[2] = x[2], z[1] * (t - x[1]) + 0.2 * (1 - x[2])
      end }
      local relation = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] end,
        g = function(_, x, lambda, _, r) r[2] = lambda[1] * (2 + fall * math.exp(-(x[2] / range) ^ 2)) end }
      local nsds = ns.NonSmoothDynamicalSystem(0, 3)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation, "bit"), ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-12, 1e-12))
    end
    for _ = 1, campaign(2, 6) do
      local k, fall, range = 9 + 2 * rng:uniform(), 1.2 + 0.5 * rng:uniform(), 0.6 + 0.5 * rng:uniform()
      local sol, at = make(k, fall, range):run { sensitivities = { "z" } }
      assert.same({ "leave", "slide", "leave" }, { sol.events[1].kind, sol.events[2].kind, sol.events[3].kind })
      for i = 1, #sol do
        local sticks = sol.t[i] > sol.events[2].t + 1e-9 and sol.t[i] < sol.events[3].t - 1e-9
        at = sticks and (at or sol.S[i][1][1]) or at
        if sticks then assert.near(at, sol.S[i][1][1], 1e-12) end
        if sticks then assert.near(0, sol.S[i][2][1], 1e-12) end
      end
      local high, low = make(k + 1e-4, fall, range):run(), make(k - 1e-4, fall, range):run()
      for i = 1, 2 do assert.near((high.x[#high][i] - low.x[#low][i]) / 2e-4, sol.S[#sol][i][1], 1e-6) end
    end
  end)

  it("joins the derivatives of systems that are not linked", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    for k = 1, 2 do
      local ds = ns.FirstOrderLinearTIDS({ -k / 2 }, { { 0 } }, { 2 })
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })), ds)
    end
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI()):run { sensitivities = { "x0" } }
    for k = 1, #sol do
      local t, again = sol.t[k], k > 1 and sol.t[k] == sol.t[k - 1]
      for i = 1, 2 do
        local switch = i / 6
        local after = t > switch + 1e-9 or (again and math.abs(t - switch) < 1e-9)
        assert.near(after and 1 / 3 or 1, sol.S[k][i][i], 1e-9)
        assert.equal(0, sol.S[k][i][3 - i])
      end
    end
  end)

  it("gives the derivatives of the times of the script's events", function()
    local simu = model() -- x' = 3 up to x = 0, then x' = 1
    simu:addEvent { name = "quarter", g = function(_, x) return x[1] - 0.25 end, direction = "up", terminal = true }
    local sol = simu:run { sensitivities = { "x0" } }
    assert.near(1 / 3 + 0.25, sol.t[#sol], 1e-12)
    assert.equal("quarter", sol.events[2].name)
    assert.near(-1 / 3, sol.events[1].dt[1], 1e-10)
    assert.near(-1 / 3, sol.events[2].dt[1], 1e-10)
    assert.near(1 / 3, sol.S[#sol][1][1], 1e-10) -- at a fixed time; on the section it is S + x' dt = 0

    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ball:setFExtPtr(ns.vector { -8 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ball)
    local law = ns.NewtonImpactNSL(0.5)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 1 } }), "floor"), ball)
    local bounce = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    bounce:addEvent { name = "apex", g = function(_, x) return x[2] end, direction = "down", terminal = 2 }
    local up = bounce:run { sensitivities = { { law, "e" }, { ball, "q0" } } }
    local apex = up.events[#up.events] -- t = 1/2 + e/2 = sqrt(q0) (1/2 + e/2)
    assert.equal("apex", apex.name)
    assert.near(0.75, apex.t, 1e-10)
    assert.near(0.5, apex.dt[1], 1e-9)
    assert.near(0.375, apex.dt[2], 1e-9)
  end)

  it("takes the same parameters twice", function()
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, z, f) f[1] = -z[1] * x[1] + z[2] end)
    ds:setzPtr(ns.vector { 0.5, 0.25 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local sol = simu:run { sensitivities = { { ds, "z", 2 }, "z", "z" } }
    assert.equal(5, #sol.sensitivities)
    local S = sol.S[#sol][1]
    assert.same({ S[2], S[3] }, { S[4], S[5] })
    assert.equal(S[1], S[3])
  end)

  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  -- Saves a run with S in a file with this ending, and compares what ns.load gives.
  local function comes_back(ending)
    local file = directory .. "/run." .. ending
    local simu, ds, law = model(nil, 1)
    local sol = simu:run { sensitivities = { "x0", { law, "ub" }, { ds, "A" } } }
    sol:save(file)
    for _ = 1, 2 do
      local run = ns.load(file)
      assert.same(sol.sensitivities, run.sensitivities)
      assert.equal(#sol, #run.S)
      for k = 1, #sol do assert.is_true(sol.S[k] == run.S[k]) end
      assert.is_true(sol:sensitivity "plant.A"[1] == run:sensitivity "plant.A"[1])
      assert.is_true(sol:sensitivity(2) == run:sensitivity "relay.ub[1]" and sol:sensitivity(2) == run["S/relay.ub[1]"])
      assert.has_error(function() run:sensitivity "mu" end,
        "sensitivity: expected a parameter (x0[1], relay.ub[1], plant.A[1][1]) or its number, got mu")
      run:save(file)
    end
    local record = ns.load(file)
    sol:save(directory .. "/run.csv")
    record:save(directory .. "/again.csv") -- without the derivatives, which are no columns
    local first, second = ns.load(directory .. "/run.csv"), ns.load(directory .. "/again.csv")
    assert.same(first:names(), second:names())
    assert.is_nil(first.S)
    assert.is_nil(first.sensitivities)
    assert.has_error(function() first:sensitivity "x0" end, "sensitivity: the file has no derivatives")
  end

  it("are saved in .npz", function() comes_back "npz" end)
  hdf5.it("are saved in .h5", function() comes_back "h5" end)

  it("are in the solution of a run with a stream, which has columns only", function()
    local plain, file = model():run(), directory .. "/stream.csv"
    local sol = model():run { sensitivities = { "x0" }, stream = file, progress = false }
    assert.near(1 / 3, sol.S[#sol][1][1], 1e-10)
    local run = ns.load(file)
    assert.same(plain:names(), run:names())
    assert.is_nil(run.S)
  end)

  it("are not in a checkpoint, from which a run goes on without them", function()
    local file = directory .. "/run.nsl"
    model(nil, 1.5):run { sensitivities = { "x0" }, checkpoint = file, every = 1, progress = false }
    local simu, plain = model(), model():run()
    simu:load_state(file)
    refuses("run: sensitivities: the simulation is at t=1.5; derivatives start at t0: reset() it first", simu, { "x0" })
    local sol = simu:run()
    assert.same({ 2, plain.x1[#plain] }, { sol.t[#sol], sol.x1[#sol] })
  end)

  it("refuses what has no derivatives, and what is no parameter", function()
    local simu, ds, law = model()
    refuses("run: sensitivities: unknown parameter 'y0' (expected \"x0\", \"z\" or {object, field})", simu, { "y0" })
    refuses("run: sensitivities: expected a list of parameters, got an empty one", simu, {})
    refuses("run: sensitivities: expected a list of parameters, got string", simu, "x0")
    refuses("run: sensitivities: unknown key 'tol' (known: rtol, on_grazing, and a list of parameters)", simu, { "x0", tol = 1 })
    refuses("run: sensitivities: 'relay' has no number 'mu' that may be a parameter", simu, { { law, "mu" } })
    refuses("run: sensitivities: 'plant' has no M", simu, { { ds, "M" } })
    refuses("run: sensitivities: A: index 2: expected 1..1", simu, { { ds, "A", 1, 2 } })
    refuses("run: sensitivities: rtol: expected a number in [1e-14, 0.1], got 1.0", simu, { "x0", rtol = 1 })
    refuses("run: sensitivities: on_grazing: expected \"error\" or \"one-sided\", got 'stop'", simu, { "x0", on_grazing = "stop" })
    refuses("run: sensitivities: z: no system and no relation has parameters z", simu, { "z" })
    refuses(
      "run: sensitivities: the RelayNSL is not in the model of this simulation", simu, { { ns.RelayNSL(1, -1, 1), "ub" } })
    local open = ns.ComplementarityConditionNSL(1)
    local other = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(other)
    nsds:link(ns.Interaction(open, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "open"), other)
    local diode = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    refuses("run: sensitivities: open.ub[1] is not finite: it has no derivative", diode, { { open, "ub" } })
  end)

  it("ends where a function of the script replaces numbers of the model", function()
    for _, step in ipairs { function(nsds, grid) return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()) end,
      function(nsds, grid) return ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1)) end } do
      for _, name in ipairs { "setzPtr", "setz" } do
        local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, z, f) f[1] = -x[1] ^ 3 * z[1] end)
        ds:setzPtr(ns.vector { 2 })
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(ds)
        local rows = 0
        local function observe()
          rows = rows + 1
          if rows == 3 then ds[name](ds, ns.vector { 3 }) collectgarbage() end
          return { rows = rows }
        end
        local simu = step(nsds, ns.TimeDiscretisation(0, 0.125))
        local good, message = pcall(simu.run, simu, { observe = observe, sensitivities = { "x0", "z" } })
        assert.is_false(good)
        assert.equal("sensitivities: a function of the script has changed the model during the run: derivatives belong to "
          .. "one model (t=0.375 step 2)", message)
      end
    end
  end)

  it("refuses runs that can not have them", function()
    local elements = model(function(nsds, grid) return ns.TimeStepping(nsds, grid, ns.FESDOSI()) end)
    refuses("run: sensitivities: a FESDOSI carries no derivatives; use EventDriven with a RungeKuttaOSI", elements, { "x0" })
    local simu = model()
    simu:computeOneStep()
    simu:nextStep()
    refuses("run: sensitivities: the simulation is at t=0.5; derivatives start at t0: reset() it first", simu, { "x0" })
    local acting = model()
    acting:addEvent { name = "half", g = function(t) return t - 0.6 end, action = function() end }
    refuses("run: sensitivities: the event 'half' has an action, whose derivative is not known; remove it, or model it by a "
      .. "relation and a law", acting, { "x0" })
    assert.has_error(function() model():run { sensitivities = { "x0" }, resume = true, checkpoint = "none.nsl" } end,
      "run: sensitivities: a run from a checkpoint can not have them: they start at t0")
    assert.has_error(function() model():run():sensitivity "x0" end, "sensitivity: the run was asked for no sensitivities")
  end)
end)
