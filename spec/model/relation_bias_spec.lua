-- Relations of mechanics: dh/dt, and the second derivative of h along a motion, from every source there is.
local ns = require "nslua"
local host = require "host"
local internal = require "nslua.internal"

local cos, sin = math.cos, math.sin

-- Links a relation with m outputs to a system with two coordinates, which fixes its sizes.
local function linked(relation, m, z)
  local ds = ns.LagrangianDS({ 0.6, -0.8 }, { 0, 0 }, ns.eye(2))
  if z then relation:setz(z) end
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.EqualityConditionNSL(m or 1), relation), ds)
  return relation
end

local function message(f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  return tostring(err)
end

local q, w, t = { 0.6, -0.8 }, { 1.7, 0.9 }, 0.7
local function bias(relation, ...) return internal.relation_bias(relation, t, q, w, ...)[1] end
local function rate(relation) return internal.relation_rate(relation, t, q, w)[1] end

-- h = x^2 + y^2 - cos(t), and what else may be given of it.
local rod = {
  h = function(time, x, _, y) y[1] = x[1] ^ 2 + x[2] ^ 2 - cos(time) end,
  Jachq = function(_, x, _, C) C[1][1], C[1][2] = 2 * x[1], 2 * x[2] end,
  hDot = function(time, _, _, r) r[1] = sin(time) end,
  dotJachq = function(_, _, _, v, D) D[1][1], D[1][2] = 2 * v[1], 2 * v[2] end,
}
local rod_bias = 2 * (w[1] ^ 2 + w[2] ^ 2) + cos(t)

-- h = sin(t x) y, where time and coordinates mix: with all second derivatives.
local mixed = {
  h = function(time, x, _, y) y[1] = sin(time * x[1]) * x[2] end,
  Jachq = function(time, x, _, C) C[1][1], C[1][2] = time * cos(time * x[1]) * x[2], sin(time * x[1]) end,
  hDot = function(time, x, _, r) r[1] = x[1] * cos(time * x[1]) * x[2] end,
  dotJachq = function(time, x, _, v, D)
    local phase, turn = time * x[1], x[1] + time * v[1] -- and its rate
    D[1][1] = cos(phase) * x[2] - time * turn * sin(phase) * x[2] + time * cos(phase) * v[2]
    D[1][2] = turn * cos(phase)
  end,
}
local turn = q[1] + t * w[1]
local mixed_bias = (2 * w[1] * cos(t * q[1]) - turn ^ 2 * sin(t * q[1])) * q[2] + 2 * turn * cos(t * q[1]) * w[2]

local function some(all, ...)
  local options = {}
  for _, key in ipairs { ... } do options[key] = all[key] end
  return ns.LagrangianRheonomousR(options)
end

describe("the second derivative of a relation along the motion", function()
  it("has the derivative of an hDot that is another velocity than dh/dt, as of a belt", function()
    local function h(_, x, _, y) y[1] = x[1] * x[2] end
    local function Jachq(_, x, _, C) C[1][1], C[1][2] = x[2], x[1] end
    for _, belt in ipairs {
      { function(time, _, _, r) r[1] = -sin(3 * (time - t)) end, -3 },
      { function(time, x, _, r) r[1] = -time * sin(3 * x[1]) end, -sin(3 * q[1]) - 3 * t * w[1] * cos(3 * q[1]) },
    } do
      local expected = 2 * w[1] * w[2] + belt[2]
      assert.near(expected, bias(linked(ns.LagrangianRheonomousR { h = h, hDot = belt[1] })), 1e-14)
      assert.near(expected, bias(linked(ns.LagrangianRheonomousR { h = h, Jachq = Jachq, hDot = belt[1] })), 1e-14)
    end
  end)

  it("is exact by jets: a pendulum's length, several outputs, parameters", function()
    local length = ns.LagrangianScleronomousR { h = function(x, _, y) y[1] = math.sqrt(x[1] ^ 2 + x[2] ^ 2) - 1 end }
    local along = (q[1] * w[1] + q[2] * w[2])
    assert.near(w[1] ^ 2 + w[2] ^ 2 - along ^ 2, bias(linked(length)), 1e-14) -- |q| = 1
    local two = linked(ns.LagrangianScleronomousR { h = function(x, z, y)
      y[1], y[2] = z[1] * x[1] * x[2], x[1] - x[2] end }, 2, { 3 })
    local both = internal.relation_bias(two, t, q, w)
    assert.near(6 * w[1] * w[2], both[1], 1e-14)
    assert.equal(0, both[2])
  end)

  it("agrees between all sources, with time and coordinates mixed", function()
    for _, case in ipairs { { rod, rod_bias }, { mixed, mixed_bias } } do
      local all, expected = case[1], case[2]
      for _, keys in ipairs { { "h" }, { "h", "hDot" }, { "h", "Jachq" }, { "h", "dotJachq" }, { "h", "Jachq", "hDot" },
        { "h", "hDot", "dotJachq" }, { "h", "Jachq", "hDot", "dotJachq" } } do
        assert.near(expected, bias(linked(some(all, table.unpack(keys)))), 1e-14, table.concat(keys, " "))
      end
    end
  end)

  it("holds in the sense of its definition: differences of h along the line", function()
    local relation = linked(some(mixed, "h"))
    local function h(s)
      local x = { q[1] + s * w[1], q[2] + s * w[2] }
      return sin((t + s) * x[1]) * x[2]
    end
    local errors = {}
    for i, d in ipairs { 0.02, 0.01 } do
      errors[i] = math.abs((h(d) - 2 * h(0) + h(-d)) / d ^ 2 - bias(relation))
    end
    assert.near(4, errors[1] / errors[2], 0.05) -- they are of second order, so the limit is right
  end)

  it("is by differences where h takes no dual numbers, with the Jacobian given", function()
    local A = ns.matrix { { 1, 0.5 }, { 0.5, 2 } }
    local cubic = linked(ns.LagrangianScleronomousR {
      h = function(x, _, y)
        local plain = ns.zeros(2) -- holds no duals
        plain[1], plain[2] = x[1], x[2]
        y[1] = plain:dot(A * plain) * plain[1]
      end,
      Jachq = function(x, _, C)
        local v = ns.vector { x[1], x[2] }
        local g = A * v
        C[1][1], C[1][2] = 2 * g[1] * x[1] + v:dot(g), 2 * g[2] * x[1]
      end })
    local v, x = ns.vector(w), ns.vector(q)
    assert.near(2 * v:dot(A * v) * q[1] + 4 * x:dot(A * v) * w[1], bias(cubic), 1e-10)
  end)

  it("is that of computeDotJachq when it is given, also by a class and by a setter", function()
    local Guide = ns.class(ns.LagrangianScleronomousR, "guide")
    function Guide:init() self.k = 4 end
    function Guide:computeh(x, _, y) y[1] = x[1] end
    function Guide:computeDotJachq(x, z, v, D)
      assert.same({ 2, 0, 2 }, { #x, #z, #v })
      D[1][1] = self.k * x[1] * v[2]
    end
    assert.near(4 * q[1] * w[2] * w[1], bias(linked(Guide())), 1e-14)
    local relation = linked(ns.LagrangianScleronomousR { h = function(x, _, y) y[1] = x[1] ^ 2 end })
    assert.near(2 * w[1] ^ 2, bias(relation), 1e-14)
    relation:setComputeDotJachqFunction(function(_, _, v, D) D[1][1] = 7 * v[1] end)
    assert.near(7 * w[1] ^ 2, bias(relation), 1e-14)
    relation:setComputeDotJachqFunction(nil)
    assert.near(2 * w[1] ^ 2, bias(relation), 1e-14)
  end)

  it("holds lambda, and is zero of what is linear", function()
    local relation = linked(ns.LagrangianCompliantR { h = function(x, lambda, _, y) y[1] = x[1] ^ 2 * lambda[1] end })
    assert.near(2 * 5 * w[1] ^ 2, bias(relation, { 5 }), 1e-13)
    assert.equal(0, bias(linked(ns.LagrangianLinearTIR({ { 1, 2 } }, { 3 }))))
    assert.equal(0, bias(linked(ns.LagrangianCompliantLinearTIR({ { 1, 2 } }, { { 1 } }))))
  end)

  it("says which callback fails", function()
    local relation = linked(ns.LagrangianScleronomousR { name = "arm", h = function(x, _, y) y[1] = x[1] end,
      dotJachq = function() error("no rate", 0) end })
    assert.matches("relation 'arm' computeDotJachq: no rate", message(bias, relation), 1, true)
    relation:setComputeDotJachqFunction(function(_, _, _, D) D[1][2] = 0 / 0 end)
    assert.matches("relation 'arm' computeDotJachq: dotjachq[1][2] is nan", message(bias, relation), 1, true)
    relation = linked(ns.LagrangianScleronomousR { name = "arm", h = function() error("no height", 0) end })
    assert.matches("relation 'arm' computeh: no height", message(bias, relation), 1, true)
    relation = linked(ns.LagrangianRheonomousR { name = "arm", h = rod.h, dotJachq = function(_, _, _, v) return v.x.y end })
    assert.matches("relation 'arm' computeDotJachq: ", message(bias, relation), 1, true)
    local compliant = ns.LagrangianCompliantR()
    assert.matches("LagrangianCompliantR: it has no method 'setComputeDotJachqFunction'",
      message(function() return compliant.setComputeDotJachqFunction end), 1, true)
  end)
end)

describe("the derivative of a relation by the time", function()
  it("is exact when hDot is missing", function()
    assert.near(sin(t), rate(linked(some(rod, "h"))), 1e-16)
    assert.near(q[1] * cos(t * q[1]) * q[2], rate(linked(some(mixed, "h"))), 1e-16)
    assert.near(sin(t), rate(linked(some(rod, "h", "hDot"))), 1e-16)
  end)

  it("is by differences of h where that takes no dual time, as it was", function()
    local days = {}
    local relation = linked(ns.LagrangianRheonomousR { h = function(time, x, _, y)
      local plain = ns.zeros(1)
      plain[1] = time -- holds no duals
      days[#days + 1] = plain[1]
      y[1] = x[1] - cos(plain[1])
    end })
    assert.near(sin(t), rate(relation), 1e-11)
    assert.is_true(#days >= 4)
  end)
end)

describe("native relations", function()
  local library, directory
  setup(function() library, directory = host.compile "relations" end)
  teardown(function() host.remove(directory) end)

  it("have them by differences, or of computeDotJachq", function()
    local relation = ns.LagrangianRheonomousR()
    relation:setComputehFunction(library, "rod")
    relation:setComputeJachqFunction(library, "rod_q")
    linked(relation)
    assert.near(sin(t), rate(relation), 1e-11)
    assert.near(rod_bias, bias(relation), 1e-7) -- differences of differences
    relation:setComputehDotFunction(library, "rod_dot")
    assert.near(rod_bias, bias(relation), 1e-10)
    relation:setComputeDotJachqFunction(library, "rod_dot_q")
    assert.near(rod_bias, bias(relation), 1e-10)
  end)

  it("of no time", function()
    local relation = ns.LagrangianScleronomousR()
    relation:setComputehFunction(library, "cubic")
    relation:setComputeJachqFunction(library, "cubic_q")
    linked(relation)
    local expected = 6 * q[1] * q[2] * w[1] ^ 2 + 6 * q[1] ^ 2 * w[1] * w[2]
    assert.near(expected, bias(relation), 1e-10)
    relation:setComputeDotJachqFunction(library, "cubic_dot_q")
    assert.near(expected, bias(relation), 1e-14)
  end)
end)

describe("the second derivatives of a relation by its coordinates", function()
  local function close(expected, got, tolerance)
    assert.equal(#expected, #got)
    for i = 1, #expected do assert.near(expected[i], got[i], tolerance or 1e-13) end
  end

  it("are exact by jets, of several outputs, in the order outputs, coordinates, coordinates", function()
    local function h(x, _, y) y[1], y[2] = x[1] ^ 2 * x[2], sin(x[1]) * x[2] ^ 3 end
    local second, drift = internal.relation_second(linked(ns.LagrangianScleronomousR { h = h }, 2), t, q)
    local s, c, b = sin(q[1]), cos(q[1]), q[2]
    close({ 2 * b, -s * b ^ 3, 2 * q[1], 3 * c * b ^ 2, 2 * q[1], 3 * c * b ^ 2, 0, 6 * s * b }, second)
    close({ 0, 0, 0, 0 }, drift)
  end)

  it("have those of dh/dt, of h by jets or of a hDot that is given", function()
    local phase = t * q[1]
    local by_x = cos(phase) * q[2] - phase * sin(phase) * q[2]
    for _, keys in ipairs { { "h" }, { "h", "hDot" }, { "h", "Jachq", "hDot", "dotJachq" } } do
      local second, drift = internal.relation_second(linked(some(mixed, table.unpack(keys))), t, q)
      close({ -t ^ 2 * sin(phase) * q[2], t * cos(phase), t * cos(phase), 0 }, second)
      close({ by_x, q[1] * cos(phase) }, drift)
    end
  end)

  it("belong to the function that there is, and along any line are the second derivative along it", function()
    local relation = linked(ns.LagrangianScleronomousR { h = function(x, _, y) y[1] = (x[1] ^ 2 + x[2] ^ 2) ^ 0.5 end })
    local S = internal.relation_second(relation, t, q)
    assert.near(bias(relation), S[1] * w[1] ^ 2 + (S[2] + S[3]) * w[1] * w[2] + S[4] * w[2] ^ 2, 1e-13)
  end)

  it("are left out where h takes no duals, without an error", function()
    local relation = linked(ns.LagrangianScleronomousR {
      h = function(x, _, y) y[1] = tonumber(("%.17g"):format(x[1])) end,
      Jachq = function(_, _, C) C[1][1] = 1 end,
    })
    assert.is_nil((internal.relation_second(relation, t, q)))
  end)
end)
