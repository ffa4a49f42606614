-- Methods out of a table of fields.
require "nslua"
local internal = require "nslua.internal"
local message = require "bind.models".message

local inf, nan = math.huge, 0 / 0

describe("methods of fields", function()
  local probe
  before_each(function()
    probe = internal.probe(2, 0.5, -1, true, { 3, 4 }, { 5, inf }, { { 1, 2 } })
  end)

  it("get and set, each under its name", function()
    for name, value in pairs { Rate = 0, Speed = 1, Count = 2, Flag = false } do
      probe["set" .. name](probe, value)
      assert.equal(value, probe[name:lower()](probe))
    end
    assert.equal(1, probe:velocity())
    probe:setWeights { 1, 2 }
    probe:setTable { { 8, 9 } }
    assert.same({ 1, 2 }, probe:weights():totable())
    assert.same({ { 8, 9 } }, probe:table():totable())
    probe:setWeights(2, 7)
    assert.same({ 1, 7 }, probe:weights():totable())
    for _, name in ipairs { "rows", "setSize", "setVelocity" } do
      assert.is_nil(rawget(debug.getregistry()["internal.Probe"].__index, name))
    end
  end)

  it("give live views or copies", function()
    local bounds, weights = probe:bounds(), probe:weights()
    bounds[1], weights[1] = -2, -2
    assert.equal(-2, probe:bounds()[1])
    assert.equal(3, probe:weights()[1])
    probe:setBounds(1)
    assert.same({ 1, 1 }, bounds:totable())
    assert.is_nil(internal.probe(2, 0.5):weights())
  end)

  it("refuse what is out of range, by the names of the setter and of the field", function()
    local function check(text, ...) assert.equal(text, message(...)) end
    check("setRate: rate: expected 0 or more, got -1.0", probe.setRate, probe, -1)
    check("setRate: rate: expected a finite number, got number inf", probe.setRate, probe, inf)
    check("setRate: rate: expected a finite number, got no value", probe.setRate, probe)
    check("setSpeed: speed: expected 1 or less, got 1.5", probe.setSpeed, probe, 1.5)
    check("setLevel: level: expected 0, got 1.0", probe.setLevel, probe, 1)
    check("setCount: count: expected 1 or 2, got 3", probe.setCount, probe, 3)
    check("setCount: count: expected an integer, got number 1.5", probe.setCount, probe, 1.5)
    check("setFlag: flag: expected a boolean, got number 1.0", probe.setFlag, probe, 1)
    check("internal.Probe: weights: expected a vector of 2, got vector of 3", probe.setWeights, probe, require "nslua".ones(3))
    check("internal.Probe: weights[2] is nan", probe.setWeights, probe, { 1, nan })
    check("setWeights: component: expected 1..2, got 3", probe.setWeights, probe, 3, 1)
    check("setWeights: weight: expected a finite number, got number inf", probe.setWeights, probe, 1, inf)
    check("setBounds: weight: expected a number, got string", probe.setBounds, probe, 1, "a")
    assert.same({ 0.5, -1, true }, { probe:rate(), probe:speed(), probe:flag() })
    assert.same({ 3, 4 }, probe:weights():totable())
  end)

  it("take nil for a number that need not be given, and one of the words of a field", function()
    probe:setLimit(2)
    assert.equal(2, probe:limit())
    probe:setLimit(nil)
    assert.is_nil(probe:limit())
    assert.equal("setLimit: limit: expected a positive number, got 0.0", message(probe.setLimit, probe, 0))
    assert.equal("slow", probe:mode())
    probe:setMode "quick"
    assert.equal("quick", probe:mode())
    assert.equal("probe in quick mode", "probe in " .. probe:words "{mode} mode")
    assert.equal('setMode: mode: expected "slow" or "quick", got \'quicker\'', message(probe.setMode, probe, "quicker"))
    assert.equal('setMode: mode: expected "slow" or "quick", got no value', message(probe.setMode, probe))
  end)

  it("tell the object what has been set", function()
    assert.equal(0, probe:level())
    probe:setRate(1)
    assert.equal(0, probe:level())
    probe:setSpeed(1)
    assert.equal(7, probe:level())
  end)

  it("take views of the array that is set", function()
    local law = require "nslua".RelayNSL(3, { 1, 2, 3 }, 9)
    law:setLb(law:lb():slice(3, 1, -1))
    assert.same({ 3, 2, 1 }, law:lb():totable())
    law:setLb(law:lb())
    assert.same({ 3, 2, 1 }, law:lb():totable())
    local none = internal.probe(2, 0.5)
    assert.equal("setWeights: there is no weights", message(none.setWeights, none, { 1, 2 }))
  end)

  it("leave an array as it was when the object does not take it", function()
    assert.equal("weights[2] is 13", message(probe.setWeights, probe, { 1, 13 }))
    assert.equal("weights[1] is 13", message(probe.setWeights, probe, 1, 13))
    assert.same({ 3, 4 }, probe:weights():totable())
  end)

  it("raise for a closed object and for another one", function()
    assert.equal("bad argument #1 to '?' (internal.Probe expected, got an empty table)", message(probe.rate, {}))
    probe:close()
    assert.equal("internal.Probe is closed", message(probe.rate, probe))
    assert.equal("internal.Probe is closed", message(probe.setRate, probe, 1))
  end)

  it("read the arguments of constructors, of which some may be left out", function()
    assert.same({ 2, 0.5, 0, false }, (function(p) return { p:size(), p:rate(), p:speed(), p:flag() } end)(internal.probe(2, 0.5)))
    assert.equal(-3, internal.probe(1, 1, -3):speed())
    assert.same({ 0, 2 }, (function(p) return { p:speed(), p:weights()[2] } end)(internal.probe(2, 1, 0, false, { 1, 2 })))
    assert.same({ 0, 4, 3, 4 }, (function(p, q) return { p:size(), p:rate(), q:size(), q:rate() } end)(internal.spread(4),
      internal.spread(3, 4)))
    assert.equal("probe: size: expected an integer, got no value", message(internal.probe))
    assert.equal("probe: size: expected 1..8, got 9", message(internal.probe, 9))
    assert.equal("probe: rate: expected a finite number, got no value", message(internal.probe, 2))
    assert.equal("spread: rate: expected a finite number, got no value", message(internal.spread))
    assert.equal("spread: expected at most 2 arguments, got 3", message(internal.spread, 1, 2, 3))
    assert.equal("probe: weights: expected a vector of 2, got a list of 1", message(internal.probe, 2, 1, 0, true, { 1 }))
    assert.equal("probe: table[1]: expected 2 numbers, got 1", message(internal.probe, 2, 1, 0, true, { 1, 2 }, 0, { { 1 } }))
  end)

  it("show themselves", function()
    assert.equal("probe, rate = 0.5, speed = -1.0, count = 0, flag = true", tostring(probe))
    assert.equal(" of 2 at 0.5: 5.0 of 3.0!", probe:words " of {size} at {rate}: {bounds} of {weights}!")
    local lines, before = {}, print
    rawset(_G, "print", function(text) lines[#lines + 1] = text end)
    local good, err = pcall(probe.display, probe)
    rawset(_G, "print", before)
    assert(good, err)
    assert.equal("probe, rate = 0.5, speed = -1.0, count = 0, flag = true\n  bounds = [5, inf]\n  table = [ 1  2 ]", lines[1])
  end)
end)
