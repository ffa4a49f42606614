local ns = require "nslua"
local simulation = require "models".simulation

-- y and r of a relation at x and lambda: one explicit step of length h from x with lambda held by a relay.
local function at(relation, x, lambda, z, t0)
  local n, m = #x, #lambda
  local ds = ns.FirstOrderLinearTIDS(x, ns.zeros(n, n))
  if z then ds:setzPtr(z) end
  local simu, inter = simulation { systems = { ds }, t0 = t0, T = (t0 or 0) + 1, h = 1e-6,
    links = { { ns.RelayNSL(m, lambda, lambda), relation, ds } } }
  simu:computeOneStep()
  return inter[1]:y(0), ds:r(), ds:x()
end

describe("relations", function()
  it("linear: y = C x + D lambda + F z + e, r = B lambda", function()
    local y, r, x = at(ns.FirstOrderLinearTIR {
      C = { { 1, 2 } }, D = { { 3 } }, F = { { 4, 5 } }, e = { 6 }, B = { { 7 }, { 8 } }, z = { 9, 10 } }, { 1, 1 },
        { 2 })
    assert.same({ 14, 16 }, r:totable())
    assert.near(x[1] + 2 * x[2] + 6 + 36 + 50 + 6, y[1], 1e-12)
  end)

  it("linear with functions of time", function()
    local y, r = at(ns.FirstOrderLinearR {
      C = function(t, _, C) C[1][1] = t end,
      D = function(t, _, D) D[1][1] = 2 * t end,
      B = function(t, _, B) B[1][1] = 3 * t end,
      e = function(t, _, e) e[1] = 4 * t end,
    }, { 5 }, { 1 }, nil, 10)
    assert.near(30, r[1], 1e-4)
    assert.near(50 + 20 + 40, y[1], 1e-2)
  end)

  it("of type 1, of type 2 and nonlinear get their arguments in the order of the field", function()
    local seen = {}
    local function h1(t, x, z, y) seen.h1 = { t > 0, #x, z[1] } y[1] = x[1] end
    local function g1(t, lambda, z, r) seen.g1 = { t > 0, lambda[1], z[1] } r[1] = lambda[1] end
    at(ns.FirstOrderType1R { h = h1, g = g1 }, { 1, 2 }, { 3 }, { 4 })
    local function h2(t, x, lambda, y) seen.h2 = { t > 0, #x, lambda[1] } y[1] = x[1] end
    local function g2(t, lambda, r) seen.g2 = { t > 0, lambda[1], #r } r[1] = lambda[1] end
    at(ns.FirstOrderType2R { h = h2, g = g2 }, { 1, 2 }, { 3 }, { 4 })
    local function h(t, x, lambda, z, y) seen.h = { t > 0, #x, lambda[1], z[1], #y } end
    local function g(t, x, lambda, z, r) seen.g = { t > 0, #x, lambda[1], z[1], #r } end
    at(ns.FirstOrderNonLinearR { h = h, g = g }, { 1, 2 }, { 3 }, { 4 })
    assert.same({ h1 = { true, 2, 4 }, g1 = { true, 3, 4 }, h2 = { true, 2, 3 }, g2 = { true, 3, 2 },
      h = { true, 2, 3, 4, 1 }, g = { true, 2, 3, 4, 2 } }, seen)
  end)

  it("as a class have self and its methods", function()
    local Spring = ns.class(ns.FirstOrderNonLinearR, "spring")
    function Spring:init(k) self.k = k end
    function Spring:computeh(_, x, _, _, y) y[1] = self.k * x[1] end
    function Spring:computeg(_, _, lambda, _, r) r[1] = self.k * lambda[1] end
    local y, r = at(Spring(3), { 2 }, { 5 })
    assert.near(6, y[1], 1e-3)
    assert.equal(15, r[1])
  end)

  it("have a parameter vector of their own, or that of the system", function()
    local function make(z)
      return ns.FirstOrderNonLinearR { z = z, h = function(_, _, _, p, y) y[1] = p[1] end, g = function() end }
    end
    assert.equal(1, at(make { 1 }, { 0 }, { 0 }, { 2 })[1])
    assert.equal(2, at(make(nil), { 0 }, { 0 }, { 2 })[1])
  end)

  it("take a linear form for a callback that is missing", function()
    local y, r = at(ns.FirstOrderNonLinearR { C = { { 2 } }, D = { { 1 } }, g = function(_, _, l, _,
      r) r[1] = l[1] ^ 2 end },
      { 5 }, { 3 })
    assert.near(13, y[1], 1e-4)
    assert.equal(9, r[1])
    assert.error_matches(function() at(ns.FirstOrderNonLinearR { g = function() end }, { 5 }, { 3 }) end,
      "computeh is missing (or set C)", 1, true)
    assert.error_matches(function() at(ns.FirstOrderNonLinearR { h = function() end }, { 5 }, { 3 }) end,
      "computeg is missing (or set B)", 1, true)
  end)

  it("get outputs that are zero, whatever the last call left there", function()
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, _, _, _, y) y[1] = y[1] + 1 end,
      g = function(_, _, _, _, r) r[1] = r[1] + 1 end,
    }
    local y, r = at(relation, { 0 }, { 0 })
    assert.equal(1, y[1])
    assert.equal(1, r[1])
  end)

  it("refuse sizes that do not fit, with both", function()
    assert.error_matches(function() at(ns.FirstOrderLinearTIR({ { 1, 2, 3 } }, { { 1 }, { 2 } }), { 1, 2 },
      { 0 }) end,
      "C: expected 1 x 2 for 1 multiplier and 2 states of dynamical system 'ds 1', got 1 x 3", 1, true)
  end)
end)
