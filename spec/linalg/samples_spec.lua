-- Samples of a function: integrals by the trapezoidal rule, the line through points.
local ns = require "nslua"

local vec = ns.vector
local NAN, INF = 0 / 0, 1 / 0

describe("the trapezoidal rule", function()
  it("integrates over unit steps, steps of dx, or places x", function()
    assert.equal(4, ns.trapz { 1, 2, 3 })
    assert.equal(8, ns.trapz({ 1, 2, 3 }, 2))
    assert.equal(6.5, ns.trapz({ 1, 2, 3 }, { 0, 1, 3 }))
    assert.equal(-6.5, ns.trapz(vec { 3, 2, 1 }, vec { 3, 1, 0 }))
    assert.same({ 0, 0 }, { ns.trapz {}, ns.trapz({ 5 }, { 1 }) })
    local t = ns.linspace(0, math.pi, 2001)
    assert.near(2, ns.trapz(t:map(math.sin), t), 1e-6)
    assert.equal(ns.trapz { 3, 1, 2 }, ns.trapz(vec { 3, 9, 1, 9, 2 }(1, 5, 2)))
  end)
end)

describe("the line through points", function()
  local xp, fp = { 1, 2, 3 }, { 10, 20, 40 }

  it("goes along the line through the points, at its ends on", function()
    assert.equal(30, ns.interp(2.5, xp, fp))
    assert.equal(vec { 10, 10, 15, 20, 40, 40 }, ns.interp({ 0, 1, 1.5, 2, 3, 9 }, xp, fp))
    assert.equal(vec { 10, 15, 20, 40 }, ns.interp(vec { 1, 0, 1.5, 0, 2, 0, INF }(1, 7, 2), vec(xp), vec(fp)))
    assert.same({ 7, 7 }, { ns.interp(-1, { 0 }, { 7 }), ns.interp(1, { 0 }, { 7 }) })
    assert.is_true(ns.interp(NAN, xp, fp) ~= ns.interp(NAN, xp, fp))
    assert.equal(vec(0), ns.interp({}, xp, fp))
  end)

  it("gives the points back, and a straight line in between", function()
    local x = ns.linspace(-3, 5, 57)
    local y = x:map(math.exp)
    assert.equal(y, ns.interp(x, x, y))
    local fine = ns.linspace(-3, 5, 401)
    local line = ns.interp(fine, x, x * 2 + 1)
    for i = 1, #fine do assert.near(2 * fine[i] + 1, line[i], 1e-13) end
  end)

  it("takes the last of equal places, and infinite values", function()
    assert.same({ 5, 0, 2.5 }, { ns.interp(1, { 0, 1, 1, 2 }, { 1, 2, 5, 0 }), ns.interp(2, { 0, 1, 1, 2 }, { 1, 2, 5, 0 }),
      ns.interp(1.5, { 0, 1, 1, 2 }, { 1, 2, 5, 0 }) })
    assert.same({ INF, INF, 3 }, { ns.interp(0.5, { 0, 1 }, { INF, INF }), ns.interp(0.5, { 0, 1 }, { 0, INF }),
      ns.interp(0, { 0, INF }, { 3, 3 }) })
  end)
end)
