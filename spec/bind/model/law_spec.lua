-- Nonsmooth laws: sizes and bounds.
local ns = require "nslua"
local message = require "bind.models".message

local nan, inf = 0 / 0, math.huge

local function has(object, name)
  return rawget(debug.getregistry()[getmetatable(object)].__index, name) ~= nil
end

describe("nonsmooth laws", function()
  it("refuse wrong sizes", function()
    for _, name in ipairs { "ComplementarityConditionNSL", "EqualityConditionNSL", "RelayNSL" } do
      local function check(text, ...) assert.equal(name .. ": size: " .. text, message(ns[name], ...)) end
      check("expected 1..268435456, got 0", 0)
      check("expected 1..268435456, got -1", -1)
      check("expected 1..268435456, got 1099511627776", 1 << 40)
      check("expected an integer, got number 1.5", 1.5)
      check("expected an integer, got string", "1")
    end
    local mixed = ns.MixedComplementarityConditionNSL
    assert.equal("MixedComplementarityConditionNSL: equalities: expected an integer, got no value", message(mixed, 2))
    assert.equal("MixedComplementarityConditionNSL: expected at least one component", message(mixed, 0, 0))
    assert.equal("MixedComplementarityConditionNSL: size: expected 0..268435456, got -1", message(mixed, -1, 2))
    assert.equal("MixedComplementarityConditionNSL: equalities: expected 0..268435456, got -1", message(mixed, 2, -1))
  end)

  it("refuse bounds that contain no number, and keep the old ones", function()
    local function check(text, ...) assert.equal("RelayNSL: " .. text, message(ns.RelayNSL, ...)) end
    check("lb[1] = 2 is above ub[1] = 1", 1, 2, 1)
    check("lb[1] is nan", 1, nan, 1)
    check("ub[2] is nan", 2, -1, { 1, nan })
    check("the bounds lb[1] = inf, ub[1] = inf contain no number", 1, inf, inf)
    check("lb: expected a vector of 2, got a list of 1", 2, { 1 }, 1)
    check("lb: expected a vector of 1, got nil", 1, nil, 1)
    check("ub: expected a vector of 1, got nil", 1, 0, nil)
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
    assert.is_false(has(law, "setLb"))
    assert.is_false(has(law, "setUb"))
    assert.equal("lb is read-only", message(function() law:lb()[1] = 3 end))
  end)

  it("of impacts take coefficients in their range", function()
    local function impact(text, ...) assert.equal("NewtonImpactNSL: " .. text, message(ns.NewtonImpactNSL, ...)) end
    impact("e: expected a finite number, got no value")
    impact("e: expected a finite number, got string", "a")
    impact("e: expected a finite number, got number nan", nan)
    impact("e: expected a number in [-1, 1], got 1.5", 1.5)
    impact("e: expected a number in [-1, 1], got -1.5", 2, -1.5)
    impact("size: expected 1..268435456, got 0", 0, 0.5)
    impact("size: expected an integer, got number 1.5", 1.5, 0.5)
    impact("expected at most 2 arguments, got 3", 1, 2, 3)
    local function friction(text, ...)
      assert.equal("NewtonImpactFrictionNSL: " .. text, message(ns.NewtonImpactFrictionNSL, ...))
    end
    friction("en: expected a finite number, got no value")
    friction("en: expected a number in [-1, 1], got 2.0", 2, 0, 0, 2)
    friction("et: expected a number in [-1, 1], got 2.0", 0, 2, 0, 2)
    friction("mu: expected 0 or more, got -1.0", 0, 0, -1, 2)
    friction("mu: expected a finite number, got number inf", 0, 0, inf, 2)
    friction("dim: expected an integer, got no value", 0, 0, 0)
    friction("dim: expected an integer, got number 2.5", 0, 0, 0, 2.5)
    friction("dim: expected 2 or 3, got 1", 0, 0, 0, 1)
    friction("dim: expected 2 or 3, got 4", 0, 0, 0, 4)
    friction("expected at most 4 arguments, got 5", 0, 0, 0, 2, 2)
  end)

  it("of impacts have sizes, bounds and coefficients, which may change", function()
    local impact, contact = ns.NewtonImpactNSL(2, 0.5), ns.NewtonImpactFrictionNSL(0.5, -0.1, 0.3, 3)
    assert.equal("NewtonImpactNSL of size 2, e = 0.5", tostring(impact))
    assert.equal("NewtonImpactFrictionNSL of size 3, en = 0.5, et = -0.1, mu = 0.3", tostring(contact))
    assert.equal(1, ns.NewtonImpactNSL(0.5):size())
    assert.same({ 2, 0, 3, 0 }, { impact:size(), impact:equalities(), contact:size(), contact:equalities() })
    assert.equal(ns.vector { 0, 0 }, impact:lb())
    assert.equal(ns.vector { 0, -inf, -inf }, contact:lb())
    assert.equal(ns.vector { inf, inf, inf }, contact:ub())
    assert.is_false(has(impact, "setLb"))
    assert.is_false(has(contact, "setUb"))
    assert.same({ 0.5, 0.5, 0.5, 0.5, -0.1, 0.3 },
      { impact:e(), impact:en(), contact:e(), contact:en(), contact:et(), contact:mu() })
    impact:setE(1)
    contact:setE(0.25)
    assert.same({ 1, 0.25 }, { impact:e(), contact:en() })
    impact:setEn(-1)
    contact:setEn(0)
    contact:setEt(1)
    contact:setMu(0)
    assert.same({ -1, 0, 1, 0 }, { impact:e(), contact:en(), contact:et(), contact:mu() })
    for name, what in pairs { setE = "e", setEn = "en", setEt = "et" } do
      assert.equal(name .. ": " .. what .. ": expected a finite number, got no value", message(contact[name], contact))
      assert.equal(name .. ": " .. what .. ": expected a number in [-1, 1], got -2.0",
        message(contact[name], contact, -2))
    end
    assert.equal("setMu: mu: expected 0 or more, got -2.0", message(contact.setMu, contact, -2))
    assert.equal("setMu: mu: expected a finite number, got number nan", message(contact.setMu, contact, nan))
    assert.same({ 0, 1, 0 }, { contact:en(), contact:et(), contact:mu() })
  end)

  it("have only the coefficients of their kind", function()
    local impact, relay = ns.NewtonImpactNSL(0), ns.RelayNSL(1)
    for _, name in ipairs { "et", "mu", "setEt", "setMu" } do
      assert.is_false(has(impact, name))
      assert.is_false(has(relay, name))
    end
    for _, name in ipairs { "e", "en", "setE", "setEn" } do
      assert.is_false(has(relay, name))
    end
    assert.is_false(has(impact, "H"))
    local contact = ns.NewtonImpactFrictionNSL(0, 0, 0, 2)
    assert.equal("bad argument #1 to '?' (NewtonImpactFrictionNSL expected, got NewtonImpactNSL)", message(contact.mu, impact))
    impact:close()
    for _, name in ipairs { "et", "mu", "setEt", "setMu" } do
      assert.equal("NewtonImpactNSL is closed", message(contact[name], impact, 0), name)
    end
    for _, name in ipairs { "e", "en", "setE", "setEn" } do
      assert.equal("NewtonImpactNSL is closed", message(impact[name], impact, 0), name)
    end
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
