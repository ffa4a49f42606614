-- What changes in a run beside the states of systems: places, their names and numbers.
local ns = require "nslua"
local support = require("nslua.core").discrete_support

-- x' = -x + u; a clock counts, keeps a vector, draws, and sets u = z[1] and a bound of the relay.
local function sampled()
  local ds, law = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }, { 0 }), ns.RelayNSL(1)
  local u = ns.vector { 0 }
  ds:setbPtr(u)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "relay"), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.125), ns.EulerMoreauOSI(1))
  simu:every { name = "tick", period = 0.25, state = { count = 0, last = { 3, 4 }, noise = ns.rng(5) }, act = function(_, s)
    s.count, s.last[2] = s.count + 1, s.noise:uniform()
    u[1] = s.count
    law:setLb(1, -2)
  end }
  return simu, law
end

describe("places", function()
  it("are the numbers of discrete states, and what actions have changed in the model", function()
    local simu, law = sampled()
    local before, draws = support.places(simu)
    assert.same({ "tick.count", "tick.last[1]", "tick.last[2]" }, support.names(simu, before))
    assert.equal("tick", draws)
    assert.equal(ns.vector { 0, 3, 4 }, support.get(simu, before))
    simu:run()
    local places = support.places(simu)
    local names, at = support.names(simu, places), {}
    for i, name in ipairs(names) do at[name] = i end
    assert.equal(before[2], places[2])
    local bound
    for name, i in pairs(at) do if name:find("lb[1] of ", 1, true) then bound = i end end
    local values = support.get(simu, places)
    assert.equal(5, values[at["tick.count"]])
    assert.equal(-2, values[bound], table.concat(names, "; "))
    values[bound], values[at["tick.last[1]"]] = -7, 8
    support.put(simu, places, values)
    assert.equal(-7, law:lb()[1])
    assert.equal(values, support.get(simu, places))
  end)

  it("give the generators of events as bytes, and take them", function()
    local simu = sampled()
    simu:run()
    local kept, places = support.draws(simu), support.places(simu)
    local function last() return support.get(simu, places)[3] end
    local first = last()
    simu:reset()
    assert.is_true(support.draws(simu) ~= kept)
    support.draws(simu, kept)
    assert.equal(kept, support.draws(simu))
    simu:run()
    assert.is_true(last() ~= first)
  end)
end)
