-- Gradients of costs of sampled loops by the adjoint pass, back through the instants of their clocks.
local ns = require "nslua"
local campaign = require "campaign"
local numbers = require "random_numbers"

local uniform = numbers.uniform

-- The kinds of plants: a function of (p, the loop) that makes a system of n states, a law and an interaction, or none.
-- In z are the numbers that clocks write, and a gain.
local function forced(loop)
  return function(t, x, z, f)
    for i = 1, loop.n do
      f[i] = 2 * math.cos(3 * t + i)
      for j = 1, loop.n do f[i] = f[i] + loop.A[i][j] * x[j] end
      for j = 1, loop.clocks do f[i] = f[i] + loop.E[i][j] * z[j] end
    end
  end
end

local function first_row(n, value)
  return { numbers.vector(n, function(i) return i == 1 and value or 0 end) }
end

local kinds = {
  relay = function(x0, z, loop, bound)
    local law, C = ns.RelayNSL(1, -0.5, bound), first_row(loop.n, 1)
    local B = numbers.matrix(loop.n, function(i) return i == 1 and 0.3 or 0 end, 1)
    return ns.FirstOrderNonLinearDS { x0 = x0, z = z, f = forced(loop) }, law, ns.FirstOrderLinearTIR(C, B), { law, "ub" }
  end,
  impact = function(x0, z, loop)
    local law, w = ns.NewtonImpactNSL(loop.e), loop.w
    local ds = ns.LagrangianDS { q0 = { x0[1] + 1 }, v0 = { x0[2] }, mass = { { 1 } }, z = z, fInt = function(t, q, v, u, f)
      f[1] = 30 * q[1] + 0.3 * v[1] - 3 * math.sin(2 * t)
      for j = 1, loop.clocks do f[1] = f[1] - 4 * u[j] end
    end }
    return ds, law, ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] + w end }, { law, "en" }
  end,
  stepped = function(x0, z, loop)
    local relation = ns.FirstOrderLinearR { C = first_row(loop.n, 1), D = { { -1 } },
      B = numbers.matrix(loop.n, function(i) return i == 1 and 0.3 or 0 end, 1) }
    return ns.FirstOrderNonLinearDS { x0 = x0, z = z, f = forced(loop) }, ns.EqualityConditionNSL(1), relation
  end,
  linear = function(x0, z, loop)
    local A, b = ns.matrix(loop.A), ns.vector(numbers.vector(loop.n, function() return 0.5 end))
    local ds = ns.FirstOrderLinearTIDS(x0, A)
    ds:setzPtr(z)
    ds:setAPtr(A)
    ds:setbPtr(b)
    return ds, nil, nil, { ds, "A", A = A, b = b }
  end,
}

-- A random loop with one to three rates; what clocks write: z, discrete states, a bound of a relay, A and b.
local function random_loop(seed)
  math.randomseed(seed)
  local names = { "relay", "impact", "stepped", "linear" }
  local kind, clocks = names[seed % 4 + 1], math.random(3)
  local n = kind == "impact" and 2 or math.random(3)
  local loop = { n = n, clocks = clocks, kind = kind, w = uniform(0.05, 0.3), e = uniform(0.3, 0.8), h = 0.25 }
  loop.A, loop.E = numbers.matrix_within(n, n, 1), numbers.matrix_within(n, clocks, 1)
  for i = 1, n do loop.A[i][i] = loop.A[i][i] - 1 end
  local K, L = numbers.matrix_within(clocks, n, 0.5), numbers.matrix_within(clocks, clocks, 0.4)
  local integrator, drives = ns.RungeKuttaOSI(1e-12), kind ~= "stepped" and (kind ~= "linear" or seed % 8 == 0)
  if not drives then integrator, loop.h = ns.EulerMoreauOSI(uniform(0.5, 1), uniform(0.5, 1)), 0.02 end
  if kind == "relay" and seed % 3 == 0 then integrator = ns.RadauOSI(1e-11) end
  local rates = numbers.vector(clocks, function() return { uniform(0.1, 0.5), math.random(0, 1) * uniform(0, 0.3) } end)
  loop.p = numbers.vector_within(n + clocks + 1, 1)
  loop.p[n + clocks + 2] = uniform(0.4, 0.8)
  function loop.make(p)
    local x0, z = ns.vector(table.move(p, 1, n, 1, {})), ns.vector(table.move(p, n + 1, n + clocks + 1, 1, {}))
    local ds, law, relation, number = kinds[kind](x0, z, loop, p[#p])
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    if law then nsds:link(ns.Interaction(law, relation, "r"), ds) end
    local simu = (drives and ns.EventDriven or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, loop.h), integrator)
    for j = 1, clocks do
      simu:every { name = "c" .. j, period = rates[j][1], offset = rates[j][2], state = { u = 0, k = { 0.1, 0 } },
        act = function(_, s)
        local x, u = ds:x(), 0.1 * s.k[1]
        for i = 1, n do u = u + K[j][i] * x[i] end
        for i = 1, clocks do u = u + L[j][i] * ds:z()[i] end
        s.u = u + 0.1 * math.sin(u) + ds:z()[clocks + 1] * x[1] * 0.1
        s.k[1] = s.k[1] + 0.05 * x[n]
        ds:z()[j] = s.u
        if kind == "relay" and seed % 2 == 0 then law:setUb(0.5 + 0.1 * x[1] ^ 2) end
        if kind == "linear" then
          number.A[1][1], number.b[n] = -1 + 0.3 * s.u, s.u
        end
      end }
    end
    return simu, number
  end
  return loop
end

describe("a gradient through instants of clocks", function()
  local function cost(t, x, p)
    local c = x[1] ^ 2 * (1 + 0.3 * math.sin(t))
    for j = 1, #p do c = c + 0.1 * p[j] * x[1] end
    return c
  end
  local function terminal(x) return x[1] + x[#x] ^ 2 end

  local function gradient(loop, p, method, memory)
    local simu, number = loop.make(p)
    local parameters = { "x0", "z", number and { number[1], number[2] } }
    local value, slopes = simu:gradient { cost = cost, terminal = terminal, parameters = parameters, method = method,
      memory = memory }
    return slopes, value
  end

  it("is the forward one, of random loops with relays and impacts, and the one of differences #once", function()
    local count, tell = campaign(4, 0.01)
    for seed = 1, count do
      local loop = random_loop(seed)
      local forward, value = gradient(loop, loop.p, "forward")
      for _, memory in ipairs { seed % 2 == 0 and 3000 or 2 ^ 28 } do
        local slopes, same = gradient(loop, loop.p, nil, memory)
        assert.is_true((slopes - forward):norm(math.huge) < 1e-9 * math.max(1, forward:norm(math.huge)), ("%d: %s, %s"):format(
          seed, slopes, forward))
        assert.is_true(math.abs(same - value) < 1e-9 * math.max(1, math.abs(value)))
      end
      local j, difference = loop.kind == "linear" and 1 or loop.n + loop.clocks + 1, 0
      for k, weight in pairs(seed % 5 == 1 and { [-2] = 1, [-1] = -8, [1] = 8, [2] = -1 } or {}) do
        local p = table.move(loop.p, 1, #loop.p, 1, {})
        p[j] = p[j] + k * 1e-3
        local _, v = gradient(loop, p, "forward")
        difference = difference + weight / 12e-3 * v
      end
      assert.is_true(seed % 5 ~= 1 or math.abs(difference - forward[j]) < 1e-5 * math.max(1, math.abs(difference)), seed)
    end
    tell("gradients of sampled loops", count)
  end)

  it("leaves the simulation at its end, also where a function of the cost fails", function()
    local loop = random_loop(3)
    local plain = loop.make(loop.p)
    local sol = plain:run()
    local late = sol.t[#sol] / 2
    for _, failing in ipairs { "", "cost", "terminal" } do
      local simu = loop.make(loop.p)
      local good = pcall(simu.gradient, simu, { parameters = { "x0" }, cost = function(t, x)
        assert(failing ~= "cost" or t > late)
        return x[1]
      end, terminal = function(x) return failing ~= "terminal" and x[1] end })
      assert.equal(failing == "", good)
      for j = 1, loop.clocks do
        assert.same({ plain:discrete("c" .. j).u, plain:discrete("c" .. j).k:totable() },
          { simu:discrete("c" .. j).u, simu:discrete("c" .. j).k:totable() })
      end
      local ds = simu:nsds():dynamicalSystem(1)
      assert.same(plain:nsds():dynamicalSystem(1):z():totable(), ds:z():totable())
      simu:reset()
      assert.same(table.move(loop.p, loop.n + 1, loop.n + loop.clocks + 1, 1, {}), ds:z():totable())
    end
  end)
end)
