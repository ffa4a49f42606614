local ns = require "nslua"
local internal = require "nslua.internal"

-- One system x' = A x + b with one interaction y = C x + D lambda + e, r = B lambda.
local function linear(law, x0, A, b, C, B, D, e, name)
  local ds = ns.FirstOrderLinearTIDS(x0, A, b)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  local relation = ns.FirstOrderLinearTIR(C, B)
  if D then relation:setDPtr(D) end
  if e then relation:setePtr(e) end
  local interaction = ns.Interaction(law, relation)
  interaction:setName(name or "relay")
  nsds:link(interaction, ds)
  return nsds
end

-- x' = b - sign * lambda, y = x, lambda in [-1, 1].
local function switch(sign, x0, b)
  return linear(ns.RelayNSL(1, -1, 1), {x0}, {{0}}, {b or 0}, {{1}}, {{sign}})
end

local function start(nsds, options)
  options = options or {}
  options.job = "start"
  return internal.flow(nsds, options)
end

describe("the choice of the next mode", function()
  it("takes the side of y where y is not 0", function()
    assert.are.same({"lower"}, start(switch(1, 0.5)).mode)
    assert.are.same({"upper"}, start(switch(1, -0.5)).mode)
  end)

  it("slides on an attractive surface, with lambda from dy/dt = 0", function()
    local r = start(switch(1, 0, 0.25))
    assert.are.same({"active"}, r.mode)
    assert.are.equal(1, r.count)
    assert.are.equal(-0.25, r.lambda[1])
    assert.are.equal(0, r.sdot[1])
  end)

  it("crosses where the rate has the same sign on both sides", function()
    local r = start(switch(1, 0, 3))
    assert.are.same({"lower"}, r.mode)
    assert.are.equal(1, r.count)
    assert.are.same({"upper"}, start(switch(1, 0, -3)).mode)
    assert.are.same({"lower"}, start(switch(-1, 0, 3)).mode)
  end)

  it("lists the modes where sliding is repulsive", function()
    local good, message = pcall(start, switch(-1, 0))
    assert.is_false(good)
    assert.matches("the next mode is not unique at t=0: 'relay' y > 0; 'relay' y < 0; 'relay' slides (y = 0)", message, 1, true)
  end)

  it("takes the mode that is asked for where it is not unique", function()
    assert.are.same({"active"}, start(switch(-1, 0), {rule = "stay"}).mode)
    assert.are.same({"lower"}, start(switch(-1, 0), {rule = "up"}).mode)
    assert.are.same({"upper"}, start(switch(-1, 0), {rule = "down"}).mode)
  end)

  it("solves the complementarity problem of a diode with resistance", function()
    -- 0 <= lambda _|_ y = x + 2 lambda - 1 >= 0
    local function diode(x)
      return linear(ns.ComplementarityConditionNSL(1), {x}, {{-1}}, nil, {{1}}, {{1}}, {{2}}, {-1}, "diode")
    end
    local r = start(diode(0.2))
    assert.are.same({"active"}, r.mode)
    assert.is_near(0.4, r.lambda[1], 1e-15)
    r = start(diode(1.5))
    assert.are.same({"lower"}, r.mode)
    assert.are.equal(0.5, r.y[1])
    -- at y = lambda = 0 the rate decides: x' = -1 at x = 1
    assert.are.same({"active"}, start(diode(1)).mode)
  end)

  it("decides by the next derivative where sliding ends at a bound of lambda", function()
    -- y = x1, x1' = x2 + lambda, x2' = 1: at x2 = 1 lambda = -1 and wants below
    local function system(rate)
      return linear(ns.RelayNSL(1, -1, 1), {0, 1}, {{0, 1}, {0, 0}}, {0, rate}, {{1, 0}}, {{1}, {0}})
    end
    local r = start(system(1))
    assert.are.same({"lower"}, r.mode)
    assert.are.equal(1, r.count)
    r = start(system(-1))
    assert.are.same({"active"}, r.mode)
    assert.are.equal(1, r.count)
  end)
end)
