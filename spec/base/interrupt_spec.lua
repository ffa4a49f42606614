local ns = require "nslua"
local internal = require "nslua.internal"

describe("the interrupt flag", function()
  after_each(internal.interrupt_clear)

  it("is raised, stays, and is forgotten", function()
    assert.is_false(internal.interrupted())
    internal.interrupt_raise()
    internal.interrupt_raise()
    assert.is_true(internal.interrupted())
    assert.is_true(internal.interrupted())
    internal.interrupt_clear()
    assert.is_false(internal.interrupted())
    internal.interrupt_clear()
    assert.is_false(internal.interrupted())
  end)

  it("stops a loop of the engine", function()
    local box = { M = { { 1, 5 }, { -5, 1 } }, q = { -1, 1 }, lower = { -1, -1 }, upper = { 1, 1 }, method = "pgs" }
    internal.interrupt_raise()
    assert.equal("NS_EINTR", internal.box(box).status)
    internal.interrupt_clear()
  end)

  it("of before a call does not stop it", function()
    internal.interrupt_raise()
    assert.is_true(ns.numerics.lcp { M = { { 2, 1 }, { 1, 2 } }, q = { -5, -6 } }.success)
  end)
end)
