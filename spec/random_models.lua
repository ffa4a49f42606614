-- Random models of every kind, for specs that run each in two ways: kinds[name]() draws a model, and returns a function that
-- builds its description, with new objects in each call; simulate(description [, strangers]) makes a simulation of it.
local ns = require "nslua"

local models = { kinds = {} }
local kinds = models.kinds

local uniform = require "random_numbers".uniform
local function vector(n, a, b)
  local v = {}
  for i = 1, n do v[i] = uniform(a or -1, b or 1) end
  return v
end

-- A random n x n matrix, stable, with a band of `width` on either side.
local function stable(n, width)
  local A = {}
  for i = 1, n do
    A[i] = vector(n)
    for j = 1, n do if math.abs(i - j) > width then A[i][j] = 0 end end
    A[i][i] = -2 * width - uniform(0.5, 2)
  end
  return A
end

-- A matrix whose rows pick k of n states, each times a factor; and its transpose.
local function picks(n, k)
  local C, B = {}, {}
  for i = 1, n do B[i] = {} for j = 1, k do B[i][j] = 0 end end
  for j = 1, k do
    C[j] = {}
    for i = 1, n do C[j][i] = 0 end
    local at = 1 + (j - 1) * (n // k)
    C[j][at] = uniform(0.5, 2)
    B[at][j] = C[j][at]
  end
  return C, B
end

-- A description has systems, links { interaction, ds [, ds2] }, T, h, osi, class, problem, rtol of adaptive steps. `strangers`:
-- descriptions in the same graph, the first before the model, the others after it. Returns the simulation, the model's own
-- links, the graph.
function models.simulate(o, strangers)
  local nsds, all = ns.NonSmoothDynamicalSystem(0, o.T), { o }
  for i, other in ipairs(strangers or {}) do table.insert(all, i == 1 and 1 or #all + 1, other) end
  for _, part in ipairs(all) do
    for _, ds in ipairs(part.systems) do nsds:insertDynamicalSystem(ds) end
  end
  for _, part in ipairs(all) do
    for _, link in ipairs(part.links) do nsds:link(table.unpack(link)) end
  end
  local class = ns[o.class or "TimeStepping"]
  return class(nsds, ns.TimeDiscretisation(0, o.h), o.osi, o.problem, o.rtol and { rtol = o.rtol }), o.links, nsds
end

local function linear(sparse, law_of, osi, class)
  return function()
    local n = math.random(4, sparse and 50 or 12)
    local m = math.random(1, math.min(4, n // 2))
    local A, x0, b, theta = stable(n, 2), vector(n, -2, 2), vector(n), math.random(0, 2) / 2
    local C, B = picks(n, m)
    return function()
      local ds = ns.FirstOrderLinearTIDS(x0, sparse and ns.sparse(A) or A, b)
      local relation = ns.FirstOrderLinearTIR(sparse and ns.sparse(C) or C, sparse and ns.sparse(B) or B)
      return { systems = { ds }, T = 1, h = class and 0.1 or 0.02, class = class,
        osi = osi and osi() or ns.EulerMoreauOSI(math.max(theta, 0.5)),
        links = { { ns.Interaction(law_of(m), relation), ds } } }
    end
  end
end

local function relay(m) return ns.RelayNSL(m, -1, 1) end
kinds["dense with relays"] = linear(false, relay)
kinds["dense with complementarities"] = linear(false, ns.ComplementarityConditionNSL)
kinds["sparse with relays"] = linear(true, relay)
kinds["sparse with complementarities"] = linear(true, ns.ComplementarityConditionNSL)

kinds["finite elements with relays"] = linear(false, relay, function() return ns.FESDOSI("gauss", 2) end)

kinds["events of relays"] = linear(false, relay, ns.RungeKuttaOSI, "EventDriven")
kinds["events of complementarities"] = linear(false, ns.ComplementarityConditionNSL, ns.RungeKuttaOSI, "EventDriven")
kinds["events of relays, implicit"] = linear(false, relay, ns.RadauOSI, "EventDriven")

kinds["nonlinear"] = function()
  local a, b, x0 = uniform(0.5, 2), uniform(0.5, 2), vector(2, -2, 2)
  return function()
    local ds = ns.FirstOrderNonLinearDS { x0 = x0, f = function(t, x, _, d)
      d[1], d[2] = x[2] + math.sin(t), -a * math.sin(x[1]) - 0.1 * x[2] ^ 3 end }
    local relation = ns.FirstOrderNonLinearR { h = function(_, x, lambda, _, y) y[1] = x[2] + b * x[1] ^ 3 + 0.1 * lambda[1] end,
      g = function(_, _, lambda, _, r) r[2] = -lambda[1] end }
    return { systems = { ds }, T = 1, h = 0.02, osi = ns.EulerMoreauOSI(0.5),
      links = { { ns.Interaction(relay(1), relation), ds } } }
  end
end

kinds["a polyhedron"] = function()
  local x0, w = vector(2, -2, 2), uniform(0.5, 3)
  return function()
    local ds = ns.FirstOrderLinearTIDS(x0, { { 0, w }, { -w, 0 } })
    local law = ns.NormalConeNSL(2, { { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } }, { -1, -1, -1, -1 })
    return { systems = { ds }, T = 1, h = 0.02, osi = ns.EulerMoreauOSI(1), problem = ns.AVI(),
      links = { { ns.Interaction(law, ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2))), ds } } }
  end
end

-- Particles in the plane that fall on a floor, some tied to the next by a rod.
local function particles(o)
  return function()
    local n = math.random(1, 4)
    local starts, mu, e, rods = {}, uniform(0.1, 0.6), uniform(0, 0.8), {}
    for i = 1, n do
      starts[i] = { { i, uniform(0.02, 0.3) }, vector(2) }
      rods[i] = o.rods and i < n and math.random() < 0.7
    end
    return function()
      local systems, links = {}, {}
      for i = 1, n do
        local ds = ns[o.nonlinear and "LagrangianDS" or "LagrangianLinearTIDS"](starts[i][1], starts[i][2], { { 1, 0 }, { 0, 1 } })
        if o.nonlinear then
          ds:setComputeFIntFunction(function(_, q, v, _, f) f[1], f[2] = 0.1 * v[1] ^ 3, 0.2 * math.sin(q[1]) end)
        end
        ds:setFExtPtr { 0, -9.81 }
        systems[i] = ds
        local law = o.friction and ns.NewtonImpactFrictionNSL(e, 0, mu, 2) or ns.NewtonImpactNSL(e)
        local rows = o.friction and { { 0, 1 }, { 1, 0 } } or { { 0, 1 } }
        links[#links + 1] = { ns.Interaction(law, ns.LagrangianLinearTIR(rows)), ds }
      end
      for i = 1, n - 1 do
        if rods[i] then
          local dx, dy = starts[i + 1][1][1] - starts[i][1][1], starts[i + 1][1][2] - starts[i][1][2]
          local rod = ns.LagrangianScleronomousR { h = function(q, _, y)
            y[1] = (q[3] - q[1]) ^ 2 + (q[4] - q[2]) ^ 2 - dx ^ 2 - dy ^ 2 end }
          links[#links + 1] = { ns.Interaction(ns.EqualityConditionNSL(1), rod), systems[i], systems[i + 1] }
        end
      end
      return { systems = systems, links = links, T = 0.6, h = o.h or 0.01, class = o.class, osi = o.osi() }
    end
  end
end

local function moreau_jean() return ns.MoreauJeanOSI(0.5) end
kinds["mechanics"] = particles { osi = moreau_jean, rods = true }
kinds["mechanics, nonlinear"] = particles { osi = moreau_jean, rods = true, nonlinear = true }
kinds["friction"] = particles { osi = moreau_jean, friction = true }
kinds["friction, rods, nonlinear"] = particles { osi = moreau_jean, friction = true, rods = true, nonlinear = true }
kinds["direct projection"] = particles { osi = moreau_jean, rods = true, class = "TimeSteppingDirectProjection" }
kinds["combined projection"] = particles { osi = moreau_jean, rods = true, class = "TimeSteppingCombinedProjection" }
kinds["SchatzmanPaoli"] = particles { osi = function() return ns.SchatzmanPaoliOSI(0.5) end, rods = true }
kinds["D1MinusLinear"] = particles { osi = ns.D1MinusLinearOSI, rods = true }
kinds["events"] = particles { osi = function() return ns.RungeKuttaOSI(1e-8, 1e-10) end, rods = true, class = "EventDriven",
  h = 0.05 }

kinds["finite elements with impacts"] = particles { osi = function() return ns.FESDOSI("radau_iia", 3) end, rods = true }

kinds["global form"] = function()
  local n, e = math.random(3, 80), uniform(0, 0.8)
  local q0, v0 = {}, vector(n)
  for i = 1, n do q0[i] = 0.02 * i + uniform(0, 0.01) end
  return function()
    local ds = ns.LagrangianLinearTIDS(q0, v0, ns.speye(n))
    ds:setFExtPtr(-9.81 * ns.ones(n))
    local C = ns.spdiags({ ns.ones(n), -ns.ones(n - 1) }, { 0, -1 }, n)
    return { systems = { ds }, T = 0.2, h = 4e-3, osi = ns.MoreauJeanGOSI(0.5),
      links = { { ns.Interaction(ns.NewtonImpactNSL(n, e), ns.LagrangianLinearTIR(C)), ds } } }
  end
end

kinds["a heap of spheres"] = function()
  local n = math.random(3, 12)
  local starts, e, mu = {}, uniform(0, 0.5), uniform(0.1, 0.6)
  for i = 1, n do starts[i] = { uniform(-0.1, 0.1), uniform(-0.1, 0.1), 0.1 + 0.205 * (i - 1) + uniform(0, 0.002) } end
  return function()
    local systems, links = {}, {}
    for i = 1, n do
      local p = starts[i]
      systems[i] = ns.NewtonEulerDS({ p[1], p[2], p[3], 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, 0.01 * ns.eye(3))
      systems[i]:setFExtPtr { 0, 0, -9.81 }
      local floor = ns.NewtonEuler3DR { shape = "sphere_plane", R = 0.1, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
      links[#links + 1] = { ns.Interaction(ns.NewtonImpactFrictionNSL(e, 0, mu, 3), floor), systems[i] }
      for j = 1, i - 1 do
        local touch = ns.NewtonEuler3DR { shape = "sphere_sphere", R1 = 0.1, R2 = 0.1 }
        links[#links + 1] = { ns.Interaction(ns.NewtonImpactFrictionNSL(e, 0, mu, 3), touch), systems[i], systems[j] }
      end
    end
    return { systems = systems, links = links, T = 0.3, h = 5e-3, osi = moreau_jean() }
  end
end

-- The same models with adaptive steps, on a coarser grid.
for _, name in ipairs { "dense with relays", "dense with complementarities", "sparse with relays", "nonlinear", "mechanics",
  "mechanics, nonlinear", "friction, rods, nonlinear", "direct projection", "combined projection", "global form" } do
  kinds["adaptive: " .. name] = function()
    local build, rtol = kinds[name](), 10 ^ uniform(-3, -1)
    return function()
      local o = build()
      o.rtol, o.h = rtol, 5 * o.h
      return o
    end
  end
end

return models
