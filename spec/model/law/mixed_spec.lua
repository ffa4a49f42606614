-- MixedComplementarityConditionNSL: equations, then complementary components.
local ns = require "nslua"
local host = require "host"
local internal = require "nslua.internal"
local laws = require "model.law.laws"
local message = require "bind.models".message

describe("MixedComplementarityConditionNSL", function()
  it("holds the first velocities and bounds the others from below", function()
    local v, lambda = laws.impact(ns.MixedComplementarityConditionNSL(2, 1), { 0, 0, 0 }, { 4, -2, 3 })
    assert.same({ 0, 0, 3 }, v)
    assert.same({ -4, 2, 0 }, lambda)
  end)

  it("is rows of two sorts, of which the equations keep positions", function()
    local law = ns.MixedComplementarityConditionNSL(2, 1)
    local of = internal.law_table(law)
    assert.same({ equation = true, unilateral = true, sorts = true, bits = 19 }, of.needs)
    assert.equal(1, of.constrained)
    assert.same({ 3, 1 }, { law:size(), law:equalities() })
    assert.equal("MixedComplementarityConditionNSL of size 3, the first 1 equations", tostring(law))
  end)

  it("has its equations in the identity of a model: a checkpoint of another split is refused", function()
    local directory = host.new_directory()
    local file = directory .. "/mixed.ckpt"
    laws.simulation(ns.MixedComplementarityConditionNSL(2, 1)):save_state(file)
    local same, other = laws.simulation(ns.MixedComplementarityConditionNSL(2, 1)),
      laws.simulation(ns.MixedComplementarityConditionNSL(1, 2))
    same:load_state(file)
    assert.truthy(message(other.load_state, other, file):find("equalities of its law: ", 1, true))
    host.remove(directory)
  end)
end)
