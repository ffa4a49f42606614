local ns = require "nslua"
local simulation = require "models".simulation

local exp, abs = math.exp, math.abs

-- log2 of the ratio of the errors at T with 20 and 40 steps of the system that `make` makes; exact(T): its states.
local function order(make, theta, T, exact)
  local errors = {}
  for i, steps in ipairs { 20, 40 } do
    local ds = make()
    simulation { systems = { ds }, T = T, h = T / steps, theta = theta }:run()
    errors[i] = 0
    for j, v in ipairs(exact) do errors[i] = math.max(errors[i], abs(ds:x()[j] - v)) end
  end
  return math.log(errors[1] / errors[2], 2)
end

describe("the theta scheme", function()
  local smooth = {
    ["a linear system"] = {
      function() return ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } }) end,
        { math.cos(1), -math.sin(1) } },
    ["a nonlinear system"] = {
      function() return ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] ^ 2 end) end, { 0.5 } },
    ["a system with a right-hand side of time"] = {
      function() return ns.FirstOrderLinearDS({ 1 }, function(t, _, A) A[1][1] = -2 * t end) end, { exp(-1) } },
    ["a differential-algebraic system"] = {
      function()
        return ns.FirstOrderNonLinearDS { x0 = { 0.5, 0.25 }, M = ns.diag { 1, 0 }, f = function(_, x, _, f)
          f[1], f[2] = -x[1] + x[2], x[2] - x[1] * x[1]
        end }
      end, { 1 / (1 + exp(1)), 1 / (1 + exp(1)) ^ 2 } },
  }
  for name, case in pairs(smooth) do
    it("is of order 1 for theta 1 and 2 for theta 1/2: " .. name, function()
      assert.near(1, order(case[1], 1, 1, case[2]), 0.1)
      assert.near(2, order(case[1], 0.5, 1, case[2]), 0.1)
    end)
  end

  it("is its formula on a linear system, to rounding", function()
    local A, b, h, theta = ns.matrix { { -1, 2 }, { 0.5, -3 } }, ns.vector { 1, -2 }, 0.25, 0.7
    local E = ns.matrix { { 2, 1 }, { 0, 3 } }
    local ds = ns.FirstOrderLinearTIDS { x0 = { 1, 2 }, A = A, b = b, M = E }
    local simu = simulation { systems = { ds }, h = h, T = 2, theta = theta }
    local x = ns.vector { 1, 2 }
    for _ in simu:steps() do
      local W = E - h * theta * A
      x = ns.solve(W, E * x + h * (1 - theta) * (A * x) + h * b)
      for i = 1, 2 do assert.near(x[i], ds:x()[i], 1e-14) end
    end
    assert.equal(1, simu:stats().factorizations)
    assert.equal(8, simu:stats().newton_iterations)
  end)

  it("keeps the factors while W is the same, and forms W anew when an entry of it changes", function()
    -- W = 1 - h A + h lambda, where lambda is 1 until x comes to 0 and -1 after.
    local A = ns.matrix { { -3 } }
    local ds = ns.FirstOrderLinearTIDS { x0 = { -1 }, A = A, b = { 14 } }
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] end,
      g = function(_, x, lambda, _, r) r[1] = -lambda[1] * (x[1] + 10) end,
    }
    local simu, interactions = simulation { systems = { ds }, h = 0.01, T = 2, links = { { ns.RelayNSL(1, -1, 1), relation, ds } } }
    local seen, formed, lambda = 0, {}, 0
    for k in simu:steps() do
      local now, count = interactions[1]:lambda_(0)[1], simu:stats().factorizations
      if count > seen then formed[#formed + 1] = k end
      assert.is_true(count > seen or now == lambda)
      lambda, seen = now, count
      if k == 150 then A[1][1] = -5 end
    end
    assert.equal(-1, lambda)
    assert.equal(1, formed[1])
    assert.equal(151, formed[#formed])
    assert.is_true(#formed <= 4, #formed)
    assert.is_true(seen < 10, seen)
  end)

  it("forms W for the new length of a step, also when a callback fails on the way", function()
    local function run(step)
      local fails = false
      local ds = ns.FirstOrderLinearTIDS { x0 = { -1 }, A = { { -3 } }, b = { 14 } }
      local relation = ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = x[1] end,
        g = function(_, x, lambda, _, r) r[1] = -lambda[1] * (x[1] + 10) end,
        Jacgx = function(_, _, lambda, _, K)
          if fails then error "no Jacobian" end
          K[1][1] = -lambda[1]
        end,
      }
      local simu = simulation { systems = { ds }, T = 1, grid = { 0, 0.1, 0.2, 0.25, 0.3, 1 },
        links = { { ns.RelayNSL(1, -1, 1), relation, ds } } }
      local xs = {}
      while simu:hasNextEvent() do
        fails = simu:step() == step
        local good, err = pcall(simu.computeOneStep, simu)
        assert.equal(not fails, good)
        if fails then assert.matches("no Jacobian", err) end
        fails = false
        if not good then simu:computeOneStep() end
        simu:nextStep()
        xs[#xs + 1] = ds:x()[1]
      end
      return xs, simu:stats().newton_iterations
    end
    local plain, iterations = run()
    for step = 0, 4 do
      local xs, count = run(step)
      assert.same(plain, xs)
      assert.is_true(count <= iterations + 1, step)
    end
  end)

  it("is exact where the trapezoid is: x' = t", function()
    local ds = ns.FirstOrderLinearDS({ 0 }, { { 0 } }, function(t, _, b) b[1] = t end)
    simulation { systems = { ds }, h = 0.125, T = 4, theta = 0.5 }:run()
    assert.equal(8, ds:x()[1])
  end)

  it("takes A, b and M at the end of the step, and f at both ends", function()
    local function A(t) return -1 - t end
    local function b(t) return math.sin(t) end
    local function M(t) return 2 + t * t end
    local ds = ns.FirstOrderLinearDS {
      x0 = { 1 },
      A = function(t, _, out) out[1][1] = A(t) end,
      b = function(t, _, out) out[1] = b(t) end,
      M = function(t, _, out) out[1][1] = M(t) end,
    }
    local h, theta, x, t = 0.25, 0.3, 1, 0
    for _, t1 in simulation { systems = { ds }, h = h, T = 3, theta = theta }:steps() do
      x = (M(t1) * x + h * theta * b(t1) + h * (1 - theta) * (A(t) * x + b(t))) / (M(t1) - h * theta * A(t1))
      t = t1
      assert.near(x, ds:x()[1], 1e-14)
    end
  end)

  it("is explicit with theta 0", function()
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] ^ 2 end)
    local x = 1
    for _ in simulation { systems = { ds }, theta = 0 }:steps() do
      x = x - 0.1 * x * x
      assert.near(x, ds:x()[1], 1e-14)
    end
  end)
end)

describe("gamma", function()
  local a, B, C, D, e, h, theta, gamma = -0.5, 2, 3, 0.25, -1, 0.1, 0.6, 0.7

  local function make(law, relation_gamma)
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { a } })
    local relation = ns.FirstOrderLinearTIR { C = { { C } }, D = { { D } }, B = { { B } }, e = { e } }
    local simu, inter = simulation { systems = { ds }, links = { { law, relation, ds } }, h = h, theta = theta,
      gamma = gamma, relation_gamma = relation_gamma }
    return simu, ds, inter[1]
  end

  it("weights r in the state equation, r_0 = 0: equality", function()
    local simu, ds, inter = make(ns.EqualityConditionNSL(1))
    local x, r = 1, 0
    for _ in simu:steps() do
      -- (1 - h theta a) x1 = known + h gamma B lambda,  C x1 + D lambda + e = 0
      local known, w = x + h * (1 - theta) * a * x + h * (1 - gamma) * r, 1 - h * theta * a
      local lambda = -(C * known / w + e) / (C * h * gamma * B / w + D)
      x, r = (known + h * gamma * B * lambda) / w, B * lambda
      assert.near(x, ds:x()[1], 1e-13)
      assert.near(lambda, inter:lambda(0)[1], 1e-13)
      assert.near(r, ds:r()[1], 1e-13)
      assert.near(0, inter:y(0)[1], 1e-13)
    end
  end)

  it("weights the output in the law when it is for the relation: complementarity", function()
    local simu, ds, inter = make(ns.ComplementarityConditionNSL(1), true)
    local x, met = 1, { false, false }
    for _ in simu:steps() do
      local free = (x + h * (1 - theta) * a * x) / (1 - h * theta * a)
      local slope = h * B / (1 - h * theta * a)
      local q, W = C * (gamma * free + (1 - gamma) * x) + e, D + gamma * C * slope
      local lambda = math.max(0, -q / W)
      met[lambda > 0 and 1 or 2] = true
      x = free + slope * lambda
      assert.near(x, ds:x()[1], 1e-13)
      assert.near(lambda, inter:lambda(0)[1], 1e-13)
      assert.near(C * x + D * lambda + e, inter:y(0)[1], 1e-13)
    end
    assert.is_true(met[2])
  end)

  it("weights a nonlinear input too: r = lambda x, x held at 1", function()
    local ds = ns.FirstOrderNonLinearDS({ 2 }, function(_, x, _, f) f[1] = -x[1] ^ 3 end)
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] - 1 end,
      g = function(_, x, lambda, _, r) r[1] = lambda[1] * x[1] end,
    }
    local simu, inter = simulation { systems = { ds }, links = { { ns.EqualityConditionNSL(1), relation, ds } },
      h = h, theta = theta, gamma = gamma }
    local x, r = 2, 0
    for _ in simu:steps() do
      r = (1 - x + h * theta + h * (1 - theta) * x ^ 3 - h * (1 - gamma) * r) / (h * gamma)
      x = 1
      assert.near(1, ds:x()[1], 1e-12)
      assert.near(r, inter[1]:lambda(0)[1], 1e-10)
    end
  end)

  it("weights the state at which a nonlinear output is taken: h(gamma x + (1 - gamma) x_k) = 0", function()
    local ds = ns.FirstOrderLinearTIDS({ 1.2 }, { { a } })
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] * x[1] - 1 end,
      g = function(_, x, lambda, _, r) r[1] = lambda[1] * x[1] end,
    }
    local simu, inter = simulation { systems = { ds }, links = { { ns.EqualityConditionNSL(1), relation, ds } },
      h = h, theta = theta, gamma = gamma, relation_gamma = true }
    local x = 1.2
    for _ in simu:steps() do
      local new = (1 - (1 - gamma) * x) / gamma
      local lambda = (new - x - h * a * (theta * new + (1 - theta) * x)) / (h * new)
      x = new
      assert.near(x, ds:x()[1], 1e-10)
      assert.near(lambda, inter[1]:lambda(0)[1], 1e-8)
      assert.near(x * x - 1, inter[1]:y(0)[1], 1e-10)
    end
  end)

  it("is 1 when it is not given, and changes from a step to the next", function()
    local osi = ns.EulerMoreauOSI(0.5)
    assert.equal(1, osi:gamma())
    local simu, ds, inter = make(ns.EqualityConditionNSL(1))
    simu:osi():setGamma(1)
    simu:osi():setTheta(1)
    simu:computeOneStep()
    local w = 1 - h * a
    local lambda = -(C / w + e) / (C * h * B / w + D)
    assert.near(lambda, inter:lambda(0)[1], 1e-13)
    assert.near((1 + h * B * lambda) / w, ds:x()[1], 1e-13)
  end)
end)

describe("coupling", function()
  -- Two scalar systems with an input that depends on both states (K couples them), against one system of two states.
  it("of two systems by a relation with K is that of one system of both", function()
    local function relation()
      return ns.FirstOrderNonLinearR {
        h = function(_, x, lambda, _, y) y[1] = x[1] * x[2] - 1 + 0.1 * lambda[1] end,
        g = function(_, x, lambda, _, r)
          r[1] = lambda[1] * (1 + x[2] * x[2])
          r[2] = lambda[1] * math.sin(x[1]) - 0.5 * x[1] * x[2]
        end,
      }
    end
    local function f1(_, x, _, f) f[1] = -x[1] + 2 end
    local function f2(_, x, _, f) f[1] = -x[1] ^ 3 end
    local one, two = ns.FirstOrderNonLinearDS({ 0.5 }, f1), ns.FirstOrderNonLinearDS({ 1.5 }, f2)
    local between = ns.FirstOrderLinearTIDS({ 7 }, { { -1 } }) -- not coupled, inserted between the two
    local both = ns.FirstOrderNonLinearDS({ 0.5, 1.5 }, function(_, x, _, f)
      f[1], f[2] = -x[1] + 2, -x[2] ^ 3
    end)
    local a, ia = simulation { systems = { one, between, two }, h = 0.05, theta = 0.6, gamma = 0.8,
      links = { { ns.RelayNSL(1, -2, 2), relation(), one, two } } }
    local b, ib = simulation { systems = { both }, h = 0.05, theta = 0.6, gamma = 0.8,
      links = { { ns.RelayNSL(1, -2, 2), relation(), both } } }
    a:setNewtonTolerance(1e-13)
    b:setNewtonTolerance(1e-13)
    while a:hasNextEvent() do
      a:computeOneStep()
      b:computeOneStep()
      assert.near(both:x()[1], one:x()[1], 1e-12)
      assert.near(both:x()[2], two:x()[1], 1e-12)
      assert.near(ib[1]:lambda(0)[1], ia[1]:lambda(0)[1], 1e-11)
      assert.near(ib[1]:y(0)[1], ia[1]:y(0)[1], 1e-11)
      assert.is_true(a:newtonIterations() <= 6)
      a:nextStep()
      b:nextStep()
    end
    assert.near(7 * ((1 - 0.05 * 0.4) / (1 + 0.05 * 0.6)) ^ 20, between:x()[1], 1e-13)
  end)

  it("by K makes W regular: an algebraic system whose only equation is the input, 0 = r = x2 - x1^2", function()
    local one = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local two = ns.FirstOrderLinearTIDS { x0 = { 0 }, A = { { 0 } }, M = { { 0 } } }
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[2] end,
      g = function(_, x, _, _, r) r[2] = x[2] - x[1] * x[1] end,
    }
    local simu = simulation { systems = { one, two }, links = { { ns.RelayNSL(1), relation, one, two } } }
    for _ in simu:steps() do
      assert.near(one:x()[1] ^ 2, two:x()[1], 1e-12)
      assert.is_true(simu:newtonIterations() <= 3)
    end
    assert.near(1.1 ^ -10, one:x()[1], 1e-13)
  end)

  it("through several interactions of several laws is that of one stacked interaction", function()
    local A = { { -1, 0.3, 0 }, { 0.1, -0.2, 0.4 }, { 0, -0.5, -0.1 } }
    local C = { { 1, 0.2, 0 }, { 0, 1, -0.3 }, { 0.1, 0, 1 } }
    local B = { { 1, 0, 0.2 }, { 0.3, 1, 0 }, { 0, -0.1, 1 } }
    local D = { 0.1, 0.2, 0 }
    local function column(j) return { { B[1][j] }, { B[2][j] }, { B[3][j] } } end
    local function linear()
      return ns.FirstOrderLinearDS({ 1, -1, 2 }, A, function(t, _, b) b[1], b[2] = 3 * math.cos(t), -2 end)
    end
    local apart, stacked = linear(), linear()
    local laws = { ns.RelayNSL(1, -1, 0.5), ns.ComplementarityConditionNSL(1), ns.EqualityConditionNSL(1) }
    local links = {}
    for i, law in ipairs(laws) do
      links[i] = { law, ns.FirstOrderLinearTIR { C = { C[i] }, D = { { D[i] } }, B = column(i) }, apart }
    end
    local a, ia = simulation { systems = { apart }, links = links, h = 0.05, T = 6, theta = 0.5, problem = ns.MLCP() }
    local law = ns.RelayNSL(3, -1, 0.5)
    law:lb():assign { -1, 0, -math.huge }
    law:ub():assign { 0.5, math.huge, math.huge }
    local b, ib = simulation { systems = { stacked }, h = 0.05, T = 6, theta = 0.5, problem = ns.MLCP(),
      links = { { law, ns.FirstOrderLinearTIR { C = C, D = ns.diag(D), B = B }, stacked } } }
    local seen = {}
    while a:hasNextEvent() do
      a:computeOneStep()
      b:computeOneStep()
      for i = 1, 3 do
        local lambda, y = ia[i]:lambda(0)[1], ia[i]:y(0)[1]
        assert.near(stacked:x()[i], apart:x()[i], 1e-12)
        assert.near(ib[1]:lambda(0)[i], lambda, 1e-11)
        assert.near(ib[1]:y(0)[i], y, 1e-11)
        if i == 1 then
          seen[lambda > -1 + 1e-9 and lambda < 0.5 - 1e-9 and "slide" or lambda < 0 and "lower" or "upper"] = true
          assert.is_true(abs(y) < 1e-10 or lambda == (y > 0 and -1 or 0.5))
        elseif i == 2 then
          seen[lambda > 0 and "closed" or "open"] = true
          assert.is_true(lambda >= 0 and y >= -1e-12 and abs(lambda * y) < 1e-12)
        else
          assert.near(0, y, 1e-12)
        end
      end
      a:nextStep()
      b:nextStep()
    end
    for _, what in ipairs { "lower", "closed" } do assert.is_true(seen[what], what) end
  end)

  it("of two interactions at one system sums their inputs", function()
    local ds = ns.FirstOrderLinearTIDS({ 0, 0 }, { { -1, 0 }, { 0, -2 } })
    local function constant(value, B) -- a relay that pushes with one value, whatever y is
      return { ns.RelayNSL(1, value, value), ns.FirstOrderLinearTIR({ { 1, 1 } }, B), ds }
    end
    local simu = simulation { systems = { ds }, h = 0.01, T = 20,
      links = { constant(2, { { 1 }, { 0 } }), constant(3, { { 1 }, { 4 } }) } }
    simu:run()
    assert.near(5, ds:x()[1], 1e-7)
    assert.near(6, ds:x()[2], 1e-7)
    assert.same({ 5, 12 }, ds:r():totable())
  end)
end)

-- The super-twisting algorithm: where x1 comes near 0 the derivative of its root is nearly infinite, and W^-1 rho small
-- whatever rho is.
describe("a derivative that is nearly infinite", function()
  local function twist(theta, h)
    local ds = ns.FirstOrderLinearDS({ 1, -0.5 }, { { 0, 1 }, { 0, 0 } }, function(t, _, b) b[2] = 0.5 * math.cos(2 * t) end)
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] end,
      g = function(_, x, lambda, _, r) r[1], r[2] = 1.5 * math.sqrt(abs(x[1])) * lambda[1], 1.1 * lambda[1] end,
    }
    local simu, links = simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), relation, ds } }, T = 4, h = h,
      theta = theta }
    return simu, ds, links[1]
  end

  it("does not let a step pass that violates its equations or its law", function()
    for _, theta in ipairs { 0.3, 0.5, 0.75, 1 } do
      local h = 0.01
      local simu, ds, link = twist(theta, h)
      local x1, x2 = 1, -0.5
      for k, t in simu:steps() do
        local x, lambda = ds:x(), link:lambda()[1]
        local b = theta * 0.5 * math.cos(2 * t) + (1 - theta) * 0.5 * math.cos(2 * (t - h))
        local r1 = 1.5 * math.sqrt(abs(x[1])) * lambda
        local place = ("theta %g step %d"):format(theta, k)
        assert.is_true(abs(x[1] - x1 - h * (theta * x[2] + (1 - theta) * x2) - h * r1) < 1e-9, place)
        assert.is_true(abs(x[2] - x2 - h * b - h * 1.1 * lambda) < 1e-9, place)
        assert.is_true(abs(x[1]) < 1e-9 or lambda == (x[1] > 0 and -1 or 1), place)
        x1, x2 = x[1], x[2]
      end
    end
  end)

  it("is told where the iterations run out", function()
    local function make()
      local ds = ns.FirstOrderNonLinearDS({ 1e-24, 1 }, function(_, x, _, f)
        f[1], f[2] = 1 - (x[1] > 0 and 1 or -1) * math.sqrt(abs(x[1])), 0
      end)
      return simulation { systems = { ds }, T = 0.01, h = 0.01 }, ds
    end
    local simu = make()
    simu:setNewtonMaxIteration(1)
    assert.error_matches(function() simu:run() end,
      "Newton did not converge in 1 iterations: relative residual 1 of dynamical system 'ds 1', tolerance 1e-05 (t=0.01", 1, true)
    local whole, ds = make()
    whole:run()
    local root = (math.sqrt(0.01 ^ 2 + 0.04) - 0.01) / 2 -- x + h sqrt(x) = h
    assert.near(root ^ 2, ds:x()[1], 1e-14)
  end)
end)

describe("the order of a system with a relation", function()
  -- A spring of stiffness 40 as a relation, y = 40 x1 + lambda = 0: x1 = cos(sqrt(40) t).
  local function error_of(h, theta, gamma, in_relation)
    local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { 0, 0 } })
    local spring = ns.FirstOrderLinearTIR({ { 40, 0 } }, { { 1 } }, nil, nil, { { 0 }, { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), spring), ds)
    local osi = ns.EulerMoreauOSI(theta, gamma)
    osi:setUseGammaForRelation(in_relation)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi):run()
    return math.abs(ds:x()[1] - math.cos(2 * math.sqrt(40)))
  end

  local function order_of(...)
    return math.log(error_of(2e-3, ...) / error_of(1e-3, ...), 2)
  end

  it("is 1 with gamma = 1, for theta = 1/2 too, and 2 with both 1/2 and gamma in the relation", function()
    assert.near(1, order_of(1, 1, false), 0.1)
    assert.near(1, order_of(0.5, 1, false), 0.1)
    assert.near(1, order_of(0.5, 0.5, false), 0.2)
    assert.near(2, order_of(0.5, 0.5, true), 0.1)
    assert.is_true(error_of(1e-3, 0.5, 0.5, false) < error_of(1e-3, 0.5, 1, false) / 30)
  end)
end)

describe("numbers of the theta scheme that overflow", function()
  it("are told, and the state stays", function()
    local cases = {
      { 1, { { -1.7e308 } }, nil, 10, "dynamical system 'ds 1': W = M - h theta df/dx - h gamma dg/dx is not finite (t=10 step 1" },
      { 1.7e308, { { 0 } }, { 1.7e308 }, 1, "dynamical system 'ds 1': x[1] became inf (t=1 step 1 newton 1)" },
    }
    for _, case in ipairs(cases) do
      local x0, A, b, h, text = table.unpack(case, 1, 5)
      local ds = ns.FirstOrderLinearTIDS({ x0 }, A, b)
      local simu = simulation { systems = { ds }, T = 10 * h, h = h }
      local good, err = pcall(simu.computeOneStep, simu)
      assert.is_false(good)
      assert.truthy(err:find(text, 1, true), err)
      assert.equal(x0, ds:x()[1])
    end
  end)
end)

-- The clutch of scripts/clutch.lua, whose constraint switches: w1 - w2 = 0 or tau = 0.
describe("an implicit restart", function()
  local function clutch(mode, theta, gamma, how, T)
    local sign, A = mode == "engage" and -1 or 1, ns.zeros(4, 4)
    A[2][4], A[3][4], A[4][2], A[4][3] = 1, -4, 1, -1
    local ds = ns.FirstOrderLinearTIDS({ 5, 10, 5, 0.5 }, A, { -1, 10, -40, 0 })
    ds:setMPtr(ns.diag { 1, 1, 1, 0 })
    local nsds = ns.NonSmoothDynamicalSystem(0, T or 20)
    nsds:insertDynamicalSystem(ds)
    local link = ns.Interaction(ns.RelayNSL(1, 0, 1), ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = sign * x[1] end,
      g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
    })
    nsds:link(link, ds)
    local osi = ns.EulerMoreauOSI(theta, gamma)
    osi:setRestart(how)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), osi), ds, link
  end

  it("makes theta = gamma = 1/2 exact where f and r are, at the start and after a switch", function()
    for mode, exact in pairs { engage = { 9, 9, -10 }, disengage = { 159, -591, 0 } } do
      local simu, ds = clutch(mode, 0.5, 0.5, "implicit")
      simu:run()
      for i = 1, 3 do assert.near(exact[i], ds:x()[i + 1], 1e-10) end
      simu, ds = clutch(mode, 0.5, 0.5, "none")
      simu:run()
      assert.is_true(abs(ds:x()[4] - exact[3]) > 1)
    end
  end)

  it("leaves theta = gamma = 1 as it is, bit for bit", function()
    local ends = {}
    for i, how in ipairs { "none", "implicit" } do
      local simu, ds = clutch("engage", 1, 1, how)
      simu:run()
      ends[i] = ds:x():totable()
    end
    assert.same(ends[1], ends[2])
  end)

  it("is part of the state: the same after a reset, in a clone, computed again, from a checkpoint", function()
    local file = os.tmpname()
    for stop = 100, 104 do
      local whole, ds = clutch("engage", 0.5, 0.5, "implicit", 6)
      whole:run()
      local last = ds:x():totable()
      whole:reset()
      for _ = 1, stop do
        whole:computeOneStep()
        whole:computeOneStep()
        whole:nextStep()
      end
      whole:save_state(file)
      local copy = whole:clone()
      whole:run()
      assert.same(last, ds:x():totable())
      copy:run()
      assert.same(last, copy:nsds():dynamicalSystem(1):x():totable())
      local other, its = clutch("engage", 0.5, 0.5, "implicit", 6)
      other:load_state(file)
      other:run()
      assert.same(last, its:x():totable())
    end
    os.remove(file)
  end)

  it("is not for sparse models", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, ns.sparse { { -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local osi = ns.EulerMoreauOSI(0.5)
    osi:setRestart "implicit"
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), osi)
    assert.error_matches(function() simu:run() end, 'EulerMoreauOSI: setRestart "implicit" is not for models with sparse matrices')
  end)

  it("is spared by a consistent start: lambda, r and the algebraic states at t0", function()
    local simu, ds, link = clutch("engage", 0.5, 0.5, "none", 4) -- free until 5
    simu:initialize { consistent = true }
    assert.near(1, link:lambda()[1], 1e-7)
    assert.near(-5, ds:r()[4], 1e-5)
    assert.same({ 5, 10, 5 }, { ds:x()[1], ds:x()[2], ds:x()[3] })
    assert.near(0, ds:x()[4], 1e-5)
    simu:run()
    assert.near(50, ds:x()[2], 1e-4)
    assert.near(-155, ds:x()[3], 1e-4)
    assert.equal(80, simu:stats().steps)
  end)

  it("is what a start that jumps needs", function()
    local simu, ds = clutch("disengage", 0.5, 0.5, "none")
    assert.error_matches(function() simu:initialize { consistent = true } end,
      "initialize: consistent: dynamical system 'ds 1' jumps at t0: its state does not fulfil what the laws ask for; "
      .. 'osi:setRestart "implicit" takes the jump as a step', 1, true)
    assert.same({ 5, 10, 5, 0.5 }, ds:x():totable())
    simu:computeOneStep()
    assert.error_matches(function() simu:initialize { consistent = true } end,
      "initialize: consistent: the run has begun; call it before the first step, or after reset%(%)")
    assert.error_matches(function() simu:initialize { consistant = true } end, "initialize: unknown option 'consistant'")
    assert.error_matches(function() simu:initialize { consistent = 1 } end, "initialize: consistent: expected a boolean")
    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    local other = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(1))
    assert.error_matches(function() other:initialize { consistent = true } end,
      "initialize: consistent: it is for an EulerMoreauOSI and dense matrices")
  end)
end)
