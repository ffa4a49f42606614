-- The events of a run: kept in order of time, over steps that are computed anew, in copies.
local ns = require "nslua"
local events = require "simulation.events"
local host = require "host"

local function list(simu)
  local out = {}
  for i, event in ipairs(simu:events()) do out[i] = ("%s %s %.17g"):format(event.kind, event.interaction, event.t) end
  return out
end

describe("the log of events", function()
  it("holds as many as there are, in the order of time, of systems that nothing joins", function()
    local balls, links = {}, {}
    for i = 1, 3 do
      balls[i] = events.particle({ 0, 1 + 0.3 * i }, { 0, 0 })
      links[i] = { ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 0, 1 } }, "floor " .. i, balls[i] }
    end
    local simu = events.simulation { systems = balls, links = links, T = 9, h = 0.7 }
    simu:run()
    local t, seen = 0, {}
    for _, event in ipairs(simu:events()) do
      assert.is_true(event.t >= t)
      t, seen[event.interaction] = event.t, true
    end
    assert.is_true(#simu:events() > 16)
    assert.same({ ["floor 1"] = true, ["floor 2"] = true, ["floor 3"] = true }, seen)
  end)

  it("has those of a step that is computed anew once, and is copied with a clone", function()
    local simu, ball = events.ball { e = 0.5, h = 0.5 }
    simu:computeOneStep()
    local q, first = ball:q()[1], list(simu)
    simu:computeOneStep()
    assert.equal(q, ball:q()[1])
    assert.same(first, list(simu))
    simu:nextStep()
    local twin = simu:clone()
    simu:computeOneStep()
    assert.is_true(#simu:events() > #first)
    assert.same(first, list(twin))
    twin:computeOneStep()
    assert.same(list(simu), list(twin))
    simu:reset()
    assert.same({}, list(simu))
  end)

  -- y'' = a y - c y' - gain sgn y: through the lag (a = 0) the pace grows as exp(c t / 3); undamped on a spring it is even.
  it("of a relay whose pace grows exponentially: run() warns, with their number", function()
    local function errors(a, c, gain, T)
      local code = ([[local ns = require "nslua"
        local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { %g, %g } })
        local nsds = ns.NonSmoothDynamicalSystem(0, %g)
        nsds:insertDynamicalSystem(ds)
        nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { %g } }), "relay"), ds)
        local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
        simu:run()
        simu:reset()
        simu:run()
        print(#simu:events())]]):format(a, -c, T, gain)
      local out, err, status = host.nslua_run("-e " .. host.quote(code))
      assert.equal(0, status, err)
      return tonumber(out), err
    end
    local count, told = errors(0, 2, 1, 13)
    assert.is_true(count > 1000)
    local half = told:match(("^nslua: interaction 'relay' has switched %d times, the last half of them in a time of (%%S+): "
      .. "the pace grows exponentially, as with a relay that acts through a lag; TimeStepping slides there\n$"):format(count))
    assert.near(3 * math.log(2) / 2, tonumber(half), 0.01)
    local even, silent = errors(-1e4, 0, 1e-6, 40)
    assert.is_true(even > 1000)
    assert.equal("", silent)
  end)
end)
