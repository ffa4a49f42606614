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

describe("the consistent start", function()
  it("mends y < 0 by an impulse of a one-sided multiplier", function()
    local r = start(linear(ns.ComplementarityConditionNSL(1), {-1, 2}, {{0, 1}, {0, 0}}, nil, {{1, 0}}, {{1}, {1}}))
    assert.is_true(r.jumped)
    assert.are.equal(0, r.x[1])
    assert.are.equal(3, r.x[2])
    assert.are.same({"lower"}, r.mode)
  end)

  it("shares the charge of capacitors that are connected", function()
    local ds = ns.FirstOrderLinearTIDS({1, 2, 0}, {{-1, 0, 1}, {0, 0, -1}, {1, -1, 0}})
    ds:setMPtr{{2, 0, 0}, {0, 3, 0}, {0, 0, 0}}
    local nsds = ns.NonSmoothDynamicalSystem(0, 10)
    nsds:insertDynamicalSystem(ds)
    local r = start(nsds)
    assert.is_true(r.jumped)
    assert.is_near(1.6, r.x[1], 1e-15)
    assert.is_near(1.6, r.x[2], 1e-15)
    assert.is_near(0.96, r.x[3], 1e-15)
  end)

  it("tells what no impulse can mend", function()
    local good, message = pcall(start, linear(ns.ComplementarityConditionNSL(1), {-1, 2}, {{0, 1}, {-1, 0}}, nil, {{1, 0}},
                                              {{0}, {1}}))
    assert.is_false(good)
    assert.matches("interaction 'relay': y = -1 at t=0 is not allowed by the law, and no impulse of its lambda changes that",
                   message, 1, true)
  end)

  it("finds the modes of a diode bridge", function()
    local L, C, R = 1e-2, 1e-6, 1000
    local function bridge(x)
      return linear(ns.ComplementarityConditionNSL(4), x, {{0, -1 / C}, {1 / L, 0}}, nil, {{0, 0}, {0, 0}, {-1, 0}, {1, 0}},
                    {{0, 0, -1 / C, 1 / C}, {0, 0, 0, 0}},
                    {{1 / R, 1 / R, -1, 0}, {1 / R, 1 / R, 0, -1}, {1, 0, 0, 0}, {0, 1, 0, 0}}, nil, "bridge")
    end
    assert.are.same({"active", "lower", "active", "lower"}, start(bridge{10, 0}).mode)
    assert.are.same({"lower", "active", "lower", "active"}, start(bridge{-10, 0}).mode)
    assert.are.same({"lower", "active", "lower", "active"}, start(bridge{0, 0.01}).mode)
    assert.are.same({"active", "lower", "active", "lower"}, start(bridge{0, -0.01}).mode)
    assert.are.equal(0, start(bridge{0, 0}).sdot[1])
  end)
end)

describe("multipliers that are not unique", function()
  it("stay within their bounds, and are no ambiguity", function()
    -- x' = 1.5 + lambda_1 + lambda_2, y_1 = y_2 = x
    local ds = ns.FirstOrderLinearTIDS({0}, {{0}}, {1.5})
    local nsds = ns.NonSmoothDynamicalSystem(0, 10)
    nsds:insertDynamicalSystem(ds)
    for _ = 1, 2 do nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({{1}}, {{1}})), ds) end
    local r = start(nsds)
    assert.are.equal(1, r.count)
    assert.are.same({"active", "active"}, r.mode)
    assert.is_near(-1.5, r.lambda[1] + r.lambda[2], 1e-14)
    assert.is_true(math.max(math.abs(r.lambda[1]), math.abs(r.lambda[2])) <= 1 + 1e-12)
  end)
end)

-- The rows of a random model at y = 0: y' = W lambda + q is a box problem whose solutions are all known.
describe("random models", function()
  it("have the mode that the enumeration of the problem of the rates has", function()
    math.randomseed(7)
    local function number() return 2 * math.random() - 1 end
    local function matrix(rows, columns)
      local M = ns.zeros(rows, columns)
      for i = 1, rows do for j = 1, columns do M[i][j] = number() end end
      return M
    end
    for _ = 1, 300 do
      local n, m, relay = math.random(3, 6), math.random(1, 3), math.random() < 0.5
      local A, B, C, b = matrix(n, n), matrix(n, m), matrix(m, n), ns.zeros(n)
      for i = 1, n do b[i] = 2 * number() end
      if math.random() < 0.5 then B = C:transpose() + B * 0.3 end
      local lower, upper = {}, {}
      for i = 1, m do lower[i], upper[i] = relay and -1 or 0, relay and 1 or math.huge end
      local all = ns.numerics.solutions{M = C * B, q = C * b, lower = lower, upper = upper}.isolated
      local law = relay and ns.RelayNSL(m, -1, 1) or ns.ComplementarityConditionNSL(m)
      local good, r = pcall(start, linear(law, ns.zeros(n), A, b, C, B))
      if #all == 1 then
        assert.is_true(good, r)
        for i = 1, m do assert.is_near(all[1][i], r.lambda[i], 1e-9 * (1 + math.abs(all[1][i]))) end
      else
        assert.is_false(good)
        assert.matches(#all == 0 and "no mode of the interactions" or "the next mode is not unique", r, 1, true)
      end
    end
  end)
end)

describe("many undecided rows", function()
  it("are decided by the problem of the leading terms", function()
    -- x' = b + B lambda with 12 relays at y = x = 0, B near the identity
    math.randomseed(11)
    local n = 12
    local B, b = ns.eye(n), ns.zeros(n)
    for i = 1, n do
      b[i] = 3 * math.random() - 1.5
      for j = 1, n do if i ~= j then B[i][j] = 0.05 * (math.random() - 0.5) end end
    end
    local r = start(linear(ns.RelayNSL(n, -1, 1), ns.zeros(n), ns.zeros(n, n), b, ns.eye(n), B))
    local rate = b + B * r.lambda
    for i = 1, n do
      assert.is_near(rate[i], r.sdot[i], 1e-14)
      local side = r.mode[i] == "lower" and 1 or r.mode[i] == "upper" and -1 or 0
      assert.is_true(side == 0 and math.abs(rate[i]) < 1e-14 or rate[i] * side > 0)
      assert.is_true(math.abs(r.lambda[i]) <= 1)
    end
  end)
end)

describe("messages of the choice", function()
  it("tell which derivative of a constraint does not hold", function()
    -- x1' = x2, x2' = -x1 + lambda, y = x1 = 0 but x2 = 2
    local good, message = pcall(start, linear(ns.EqualityConditionNSL(1), {0, 2}, {{0, 1}, {-1, 0}}, nil, {{1, 0}},
                                              {{0}, {1}}, nil, nil, "rod"))
    assert.is_false(good)
    assert.matches("no mode is possible after t=0: the state does not fulfil derivative 1 of y = 0 of interaction 'rod'",
                   message, 1, true)
  end)

  it("name the rows where no mode is possible", function()
    -- y' = -1 - lambda for lambda >= 0: neither y > 0 nor y = 0
    local good, message = pcall(start, linear(ns.ComplementarityConditionNSL(1), {0}, {{0}}, {-1}, {{1}}, {{-1}}, nil, nil,
                                              "valve"))
    assert.is_false(good)
    assert.matches("no mode of the interactions 'valve' is possible after t=0", message, 1, true)
  end)

  it("refuse laws that are no boxes", function()
    local law = ns.NormalConeNSL(1, {{1}, {-1}}, {-1, -1})
    local good, message = pcall(start, linear(law, {0}, {{0}}, nil, {{1}}, {{1}}))
    assert.is_false(good)
    assert.matches("interaction 'relay': EventDriven takes laws with a lower and an upper bound for each lambda; use TimeStepping",
                   message, 1, true)
  end)
end)

describe("a chain of twelve ideal diodes", function()
  it("opens all diodes in one moment, where all lambda reach 0", function()
    -- After it the outputs of diodes 2 to 12 stay 0, with lambda 0.
    -- v_i' = lambda_i - lambda_(i + 1) - v_i / 5, y_i = v_i - v_(i - 1), v_0 = sin 3t: while the chain conducts, v_i = sin 3t
    local n = 12
    local A, B, C, x = ns.zeros(n + 2, n + 2), ns.zeros(n + 2, n), ns.zeros(n, n + 2), ns.zeros(n + 2)
    for i = 1, n do
      A[i][i], B[i][i], C[i][i] = -0.2, 1, 1
      if i < n then B[i][i + 1] = -1 end
      C[i][i > 1 and i - 1 or n + 1] = -1
    end
    A[n + 1][n + 2], A[n + 2][n + 1], x[n + 2] = 3, -3, 1
    local nsds = linear(ns.ComplementarityConditionNSL(n), x, A, nil, C, B, nil, nil, "chain")
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RadauOSI(1e-8))
    simu:run()
    local opens = {}
    for _, event in ipairs(simu:events()) do
      if event.kind == "open" and event.component == 1 then opens[#opens + 1] = event.t end
    end
    local period = 2 * math.pi / 3
    for i, t in ipairs(opens) do
      assert.is_near((math.pi - math.atan(15)) / 3 + period * (i - 1), t, 1e-9)
    end
    assert.are.equal(5, #opens)
    local last = opens[#opens]
    local v = nsds:dynamicalSystem(1):x()
    for i = 1, n do assert.is_near(math.sin(3 * last) * math.exp(-0.2 * (10 - last)), v[i], 1e-7) end
  end)
end)
