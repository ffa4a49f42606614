-- The functions of mechanics: values, Jacobians and derivatives along lines of f(t, q).
local ns = require "nslua"
local fails = require "expect".fails
local motion = require "nslua.core".motion_support
local traces = require "bind.traces"
local sin, cos = math.sin, math.cos

local function f(t, q) return { q[1] ^ 2 * sin(q[2]), t ^ 3 * q[1] } end

describe("motion_support", function()
  it("gives values, of as many numbers as f returns or as were asked for", function()
    assert.same({ 4 * sin(3), 16 }, motion.values(f, 2, { 2, 3 }, 2):totable())
    assert.same({ 4 * sin(3), 16 }, motion.values(f, 2, { 2, 3 }, -1):totable())
    assert.same({ 6 }, motion.values(function(_, q) return q[1] * q[2] end, 2, { 2, 3 }, -1):totable())
    assert.same({ 6 }, motion.values(function(_, q) return q[1] * q[2] end, 2, { 2, 3 }, 1):totable())
  end)

  it("takes functions that fill their last argument, objects that can be called, slices for q", function()
    local function fill(_, q, out) out[1], out[3] = q[1], q[2] end
    assert.same({ 2, 0, 3 }, motion.values(fill, 0, { 2, 3 }, 3):totable())
    local object = setmetatable({}, { __call = function(_, t, q) return { t, q[2] } end })
    assert.same({ 5, 9 }, motion.values(object, 5, ns.vector { 1, 3, 9 }:slice(1, 3, 2), 2):totable())
  end)

  it("gives the exact Jacobian by q", function()
    local y, J = motion.jacobian(f, 2, { 2, 3 }, 2)
    assert.same({ 4 * sin(3), 16 }, y:totable())
    assert.same({ { 4 * sin(3), 4 * cos(3) }, { 8, 0 } }, { J[1]:totable(), J[2]:totable() })
    local function fill(_, q, out) out[1], out[3] = q[1] ^ 2, q[2] end
    y, J = motion.jacobian(fill, 0, { 2, 3 }, 3)
    assert.same({ 4, 0, 3 }, y:totable())
    assert.same({ { 4, 0 }, { 0, 0 }, { 0, 1 } }, { J[1]:totable(), J[2]:totable(), J[3]:totable() })
    y, J = motion.jacobian(function() return { 1, 2 } end, 0, { 5 }, 2)
    assert.same({ 1, 2, 0, 0 }, { y[1], y[2], J[1][1], J[2][1] })
  end)

  it("gives the first and second derivative along (tdot, v)", function()
    local y, first, second = motion.along(f, 2, { 2, 3 }, 2, 1, { 5, 7 })
    assert.same({ 4 * sin(3), 16 }, y:totable())
    assert.near(4 * sin(3) * 5 + 4 * cos(3) * 7, first[1], 1e-12)
    assert.near(12 * 2 + 8 * 5, first[2], 1e-12)
    assert.near(2 * 25 * sin(3) + 2 * 4 * cos(3) * 35 - 4 * sin(3) * 49, second[1], 1e-11)
    assert.near(12 * 2 + 2 * 12 * 5, second[2], 1e-11)
    y, first, second = motion.along(f, 2, { 2, 3 }, 2, 0, { 5, 7 })
    assert.same({ 16, 40, 0 }, { y[2], first[2], second[2] })
  end)

  it("takes compiled functions: the same to rounding, from the tape", function()
    local c = ns.compile(function(t, q) return f(t, q) end, { native = false })
    local y, J = motion.jacobian(c, 2, { 2, 3 }, 2)
    assert.same({ 4 * sin(3), 16 }, y:totable())
    assert.same({ { 4 * sin(3), 4 * cos(3) }, { 8, 0 } }, { J[1]:totable(), J[2]:totable() })
    local _, first, second = motion.along(c, 0.5, { 2, -3 }, 2, 1, { 5, 7 })
    local _, first2, second2 = motion.along(f, 0.5, { 2, -3 }, 2, 1, { 5, 7 })
    assert.is_true((first - first2):norm() + (second - second2):norm() < 1e-12)
    assert.same(motion.values(f, 4, { 1, 9 }, 2):totable(), motion.values(c, 4, { 1, 9 }, 2):totable())
    assert.equal(0, (traces.instructions(motion.values, c, 4, { 1, 9 }, 2)))
    assert.same({ 4 * sin(3), 16 }, motion.values(c, 2, { 2, 3 }, -1):totable())
    assert.equal(f, motion.plain(f))
    assert.same(f(1, { 2, 3 }), motion.plain(c)(1, { 2, 3 }))
    fails("f[1]: the derivative by q[1] is", motion.jacobian, ns.compile(function(_, q) return q[1] ^ 0.5 end), 0, { 0 }, 1)
    fails("f: a derivative along the motion is not finite", motion.along, ns.compile(function(_, q) return q[1] ^ 0.5 end), 0,
      { 0 }, 1, 1, { 1 })
    fails("mechanics: f[1] is", motion.values, ns.compile(function(_, q) return 1 / q[1] end), 0, { 0 }, 1)
  end)

  it("gives second derivatives with weights, those of the Jacobian along a curve, and partials by q and v", function()
    local H = motion.bowl(f, 2, { 2, 3 }, 2, { 10, 1 })
    assert.near(20 * sin(3), H[1][1], 1e-12)
    assert.near(40 * cos(3), H[1][2], 1e-12)
    assert.near(-40 * sin(3), H[2][2], 1e-12)
    assert.equal(H[1][2], H[2][1])
    local second, J1, J2 = motion.twist(f, 2, { 2, 3 }, 2, 1, { 5, 7 }, { 0, 0 })
    assert.near(12 * 2 + 2 * 12 * 5, second[2], 1e-11)
    assert.near(2 * 5 * sin(3) + 4 * 7 * cos(3), J1[1][1], 1e-11) -- (2 q1 sin q2)'
    assert.near(3 * 2 ^ 2, J1[2][1], 1e-12)
    assert.near(6 * 2, J2[2][1], 1e-12)
    local F, Fq, Fv = motion.partials(function(t, q, v) return { t * q[1] * v[2], v[1] ^ 2 } end, 3, { 2, 5 }, { 7, 11 }, 2)
    assert.same({ 66, 49 }, F:totable())
    assert.same({ { 33, 0 }, { 0, 0 } }, { Fq[1]:totable(), Fq[2]:totable() })
    assert.same({ { 0, 6 }, { 14, 0 } }, { Fv[1]:totable(), Fv[2]:totable() })
    F = motion.partials(function(_, q, v) return q[1] * v[1] end, 0, { 2 }, { 3 }, 1)
    assert.same({ 6 }, F:totable())
  end)

  it("refuses what is wrong", function()
    fails("mechanics: w: expected a vector of 2, got a list of 1", motion.bowl, f, 0, { 1, 2 }, 2, { 1 })
    fails("mechanics: a: expected a vector of 2, got a list of 1", motion.twist, f, 0, { 1, 2 }, 2, 1, { 1, 2 }, { 1 })
    fails("f[1]: the higher derivative along the motion is", motion.twist, function(_, q) return { q[1] ^ 2.5 } end, 0, { 0 },
      1, 0, { 1 }, { 0 })
    fails("f[1]: a higher derivative is not finite", motion.bowl, ns.compile(function(_, q) return q[1] ^ 1.5 end), 0, { 0 }, 1,
      { 1 })
    fails("mechanics: f: expected a vector of 2, got a list of 1", motion.partials, function(_, q) return { q[1] } end, 0, { 1 },
      { 1 }, 2)
    fails("mechanics: q: expected a vector, got string", motion.values, f, 0, "q", 2)
    fails("f: expected a vector of 3, got a list of 2", motion.values, f, 0, { 1, 2 }, 3)
    fails("mechanics: f[2] is nan", motion.values, function() return { 1, 0 / 0 } end, 0, { 1 }, 2)
    fails("f returned nothing: return the values, or give their number", motion.values, function() end, 0, { 1 }, -1)
    fails("f returned nothing and filled nothing", motion.values, function() end, 0, { 1 }, 2)
    fails("q is read-only", motion.values, function(_, q) q[1] = 2 return 1 end, 0, { 1 }, 1)
    fails("mechanics: v: expected a vector of 2, got a list of 1", motion.along, f, 0, { 1, 2 }, 2, 1, { 1 })
    fails("differs from the plain one", motion.jacobian, function(_, q) return q[1] == 1 and 3 or q[1] end, 0, { 1 }, 1)
    local plain = ns.zeros(1)
    fails("this does not propagate derivatives", motion.jacobian, function(_, q)
      plain[1] = q[1]
      return plain
    end, 0, { 1 }, 1)
  end)
end)
