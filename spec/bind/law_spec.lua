-- Nonsmooth laws: sizes and bounds.
local ns = require "nslua"
local message = require "bind.models".message

local nan, inf = 0 / 0, math.huge

describe("nonsmooth laws", function()
  it("refuse wrong sizes", function()
    for _, name in ipairs { "ComplementarityConditionNSL", "EqualityConditionNSL", "RelayNSL",
      "MixedComplementarityConditionNSL" } do
      local function check(text, ...) assert.equal(name .. ": size: " .. text, message(ns[name], ...)) end
      check("expected 1..268435456, got 0", 0)
      check("expected 1..268435456, got -1", -1)
      check("expected 1..268435456, got 1099511627776", 1 << 40)
      check("expected an integer, got number 1.5", 1.5)
      check("expected an integer, got string", "1")
    end
    local mixed = ns.MixedComplementarityConditionNSL
    assert.equal("MixedComplementarityConditionNSL: equalities: expected an integer, got no value", message(mixed, 2))
    assert.equal("MixedComplementarityConditionNSL: equalities: expected at most the size 2, got 3",
      message(mixed, 2, 3))
    assert.equal("MixedComplementarityConditionNSL: equalities: expected 0..268435456, got -1", message(mixed, 2, -1))
  end)

  it("refuse bounds that are no interval, and keep the old ones", function()
    local function check(text, ...) assert.equal("RelayNSL: " .. text, message(ns.RelayNSL, ...)) end
    check("lb[1] = 2 is above ub[1] = 1", 1, 2, 1)
    check("lb[1] is nan", 1, nan, 1)
    check("ub[2] is nan", 2, -1, { 1, nan })
    check("the bounds lb[1] = inf, ub[1] = inf are no interval", 1, inf, inf)
    check("lb: expected a vector of 2, got table of 1", 2, { 1 }, 1)
    check("ub: expected a vector of 1, got string", 1, 0, "a")
    local law = ns.RelayNSL(2, -1, { 1, inf })
    assert.equal("RelayNSL: lb[1] = 5 is above ub[1] = 1", message(law.setLb, law, 5))
    assert.equal("RelayNSL: lb[1] = 5 is above ub[1] = 1", message(law.setLb, law, 1, 5))
    assert.equal("RelayNSL: ub[2] is nan", message(law.setUb, law, { 1, nan }))
    assert.equal("RelayNSL: ub: expected a vector of 2, got vector of 3", message(law.setUb, law, ns.vector(3)))
    assert.equal("setLb: component: expected 1..2, got 3", message(law.setLb, law, 3, 5))
    assert.equal("setLb: component: expected an integer, got string", message(law.setLb, law, "a", 5))
    assert.equal("setLb: bound: expected a number, got string", message(law.setLb, law, 1, "x"))
    assert.equal("RelayNSL: lb: expected a vector of 2, got nil", message(law.setLb, law))
    assert.equal(ns.vector { -1, -1 }, law:lb())
    assert.equal(ns.vector { 1, inf }, law:ub())
    law:setLb(2, 5)
    assert.equal(5, law:lb()[2])
  end)

  it("have fixed bounds, but for relays", function()
    local law = ns.ComplementarityConditionNSL(1)
    assert.equal("setLb: a ComplementarityConditionNSL has fixed bounds", message(law.setLb, law, 0))
    assert.equal("lb is read-only", message(function() law:lb()[1] = 3 end))
  end)

  it("raise after close(), their views too", function()
    local law = ns.RelayNSL(1)
    local lb = law:lb()
    law:close()
    assert.equal("RelayNSL (closed)", tostring(law))
    assert.equal("vector 'lb' belongs to a closed RelayNSL", message(function() lb[1] = 0 end))
    for _, name in ipairs { "lb", "ub", "setLb", "setUb", "size", "equalities", "display", "close" } do
      assert.equal("RelayNSL is closed", message(law[name], law, 1), name)
    end
    assert.equal("RelayNSL is closed", message(ns.Interaction, law, ns.FirstOrderLinearTIR()))
    do
      local other <close> = ns.EqualityConditionNSL(1)
      other:close()
    end
  end)
end)
