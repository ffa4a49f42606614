-- Each of the engine's allocations fails in turn, alone and with all later ones, in small models of every kind, in solvers
-- and in writers: an error about memory, or the same bits when there is another way; and the same bits afterwards.
local ns = require "nslua"
local host = require "host"
local internal = require "nslua.internal"

local directory

local function text_of(x)
  if type(x) ~= "table" then return tostring(x) end
  local parts = {}
  for i, v in ipairs(x) do parts[i] = text_of(v) end
  return table.concat(parts, " ")
end

local function numbers_of(v)
  local parts = {}
  for i = 1, #v do parts[i] = ("%a"):format(v[i]) end
  return table.concat(parts, " ")
end

local function graph(T, systems, links)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
  return nsds
end

local function ball(h)
  local ds = ns.LagrangianLinearTIDS({ h or 0.02 }, { 0 }, { { 1 } })
  ds:setFExtPtr { -9.81 }
  return ds
end

local function floor()
  return ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } })
end

-- The results of a run: times, states, multipliers.
local function rows_of(simu)
  local sol = simu:run()
  return text_of { numbers_of(sol.t), numbers_of(sol:column(2)), numbers_of(sol:column(#sol:names() - 1)) }
end

local function bouncing(make, osi, problem)
  local ds = ball()
  local simu = make(graph(0.2, { ds }, { { floor(), ds } }), ns.TimeDiscretisation(0, 0.02), osi, problem)
  return rows_of(simu)
end

local function rod(osi, stepping)
  local body = ns.NewtonEulerDS({ 1, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
  body:setFExtPtr { 0, 0, -9.81 }
  local joint = ns.NewtonEulerR { h = function(_, q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 + q[3] ^ 2 - 1 end }
  local nsds = graph(0.05, { body }, { { ns.Interaction(ns.EqualityConditionNSL(1), joint), body } })
  return rows_of((stepping or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, 0.01), osi))
end

local function ladder(sparse, n)
  local side, middle = ns.ones(n - 1), -2 * ns.ones(n)
  local A = ns.spdiags({ side, middle, side }, { -1, 0, 1 }, n)
  local ds = ns.FirstOrderLinearTIDS(0.01 * ns.ones(n), sparse and A or A:tomatrix(), -ns.ones(n))
  local relation = ns.FirstOrderLinearTIR(ns.eye(n), ns.eye(n))
  local nsds = graph(0.2, { ds }, { { ns.Interaction(ns.ComplementarityConditionNSL(n), relation), ds } })
  return rows_of(ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.LCP()))
end

local function first_order(law, problem, sign)
  local ds = ns.FirstOrderNonLinearDS { x0 = { 1, -0.5 },
    f = function(_, x, _, f) f[1], f[2] = x[2], -x[1] - 0.1 * x[2] ^ 3 end }
  local relation = ns.FirstOrderNonLinearR {
    h = function(_, x, lambda, _, y) y[1] = x[2] + 0.1 * x[1] ^ 2 + 0.01 * lambda[1] end,
    g = function(_, _, lambda, _, r) r[2] = (sign or -1) * lambda[1] end }
  local nsds = graph(0.3, { ds }, { { ns.Interaction(law, relation), ds } })
  return rows_of(ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.6), problem))
end

local function beads(sparse, count)
  local n = count
  local K = ns.spdiags({ -ns.ones(n - 1), 2 * ns.ones(n), -ns.ones(n - 1) }, { -1, 0, 1 }, n)
  local ds = ns.LagrangianLinearTIDS(0.01 * ns.ones(n), -ns.ones(n), sparse and ns.speye(n) or ns.eye(n),
    sparse and K or K:tomatrix())
  local bc = ns.HarmonicBC({ 1 }, 0, 2, 2, 0)
  ds:setBoundaryConditions(bc)
  local contact = ns.Interaction(ns.NewtonImpactNSL(n, 0.5), ns.LagrangianLinearTIR(sparse and ns.speye(n) or ns.eye(n)))
  local nsds = graph(0.03, { ds }, { { contact, ds } })
  return rows_of(ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5)))
end

-- A brick of two contacts with friction, which slides.
local function brick(dim)
  local law, links = ns.NewtonImpactFrictionNSL(0, 0, 0.3, dim), {}
  local ds
  if dim == 2 then
    ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 1, 0, 0 }, ns.eye(3))
    ds:setFExtPtr { 0, -9.81, 0 }
    for _, x in ipairs { -1, 1 } do
      links[#links + 1] = { ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 1, x }, { 1, 0, 0 } }), ds }
    end
  else
    ds = ns.NewtonEulerDS({ 0, 0, 0.5, 1, 0, 0, 0 }, { 2, 0, 0, 0, 4, 0 }, 1, 0.1 * ns.eye(3))
    ds:setFExtPtr { 0, 0, -9.81 }
    links[1] = { ns.Interaction(law, ns.NewtonEuler3DR { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 },
      normal = { 0, 0, 1 } }), ds }
  end
  return rows_of(ns.TimeStepping(graph(0.05, { ds }, links), ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5)))
end

local function random_lcp(n)
  local M, q = ns.zeros(n, n), ns.zeros(n)
  for i = 1, n do
    for j = 1, n do M[i][j] = math.sin(3 * i + 7 * j * j) end
    q[i] = math.cos(5 * i)
  end
  return M * M:transpose() + 0.1 * ns.eye(n), q
end

local function answer(f, options)
  local r = f(options)
  if r.message and r.message:find("memory", 1, true) then error(r.message, 0) end
  assert(r.z, r.message)
  return r.status .. " " .. numbers_of(r.z)
end

local cases = {
  ["complementarity, implicit Euler"] = function()
    return first_order(ns.ComplementarityConditionNSL(1), ns.LCP(), 1)
  end,
  ["relay, implicit Euler"] = function() return first_order(ns.RelayNSL(1), ns.Relay()) end,
  ["a normal cone, implicit Euler"] = function()
    return first_order(ns.NormalConeNSL(1, { { 1 }, { -1 } }, { -1, -1 }), ns.AVI())
  end,
  ["dense ladder"] = function() return ladder(false, 4) end,
  ["sparse ladder"] = function() return ladder(true, 4) end,
  ["beads"] = function() return beads(false, 3) end,
  ["sparse beads"] = function() return beads(true, 3) end,
  ["many beads"] = function() return beads(false, 120) end,
  ["bouncing ball, Moreau-Jean"] = function() return bouncing(ns.TimeStepping, ns.MoreauJeanOSI(0.5), ns.LCP()) end,
  ["bouncing ball, global form"] = function() return bouncing(ns.TimeStepping, ns.MoreauJeanGOSI(0.5)) end,
  ["bouncing ball, Schatzman-Paoli"] = function() return bouncing(ns.TimeStepping, ns.SchatzmanPaoliOSI(0.5)) end,
  ["bouncing ball, D1-minus"] = function() return bouncing(ns.TimeStepping, ns.D1MinusLinearOSI()) end,
  ["bouncing ball, events"] = function() return bouncing(ns.EventDriven, ns.RungeKuttaOSI()) end,
  ["rod"] = function() return rod(ns.MoreauJeanOSI(0.5)) end,
  ["rod, projected"] = function() return rod(ns.MoreauJeanOSI(0.5), ns.TimeSteppingDirectProjection) end,
  ["rod, combined projection"] = function() return rod(ns.MoreauJeanOSI(0.5), ns.TimeSteppingCombinedProjection) end,
  ["a mass that depends on the place, its energy"] = function()
    local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0.5 }, mass = function(q, _, M) M[1][1] = 1 + q[1] ^ 2 end, fExt = { -1 } }
    local simu = ns.TimeStepping(graph(0.03, { ds }, {}), ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5))
    local energy = simu:energy().total + ds:computeKineticEnergy()
    return ("%a "):format(energy) .. rows_of(simu)
  end,
  ["a polygon of many sides"] = function()
    local H, K = {}, {}
    for k = 1, 300 do H[k], K[k] = { math.cos(k), math.sin(k) }, -1 end
    local law = ns.NormalConeNSL(2, H, K)
    return numbers_of(law:H()[300]) .. numbers_of(law:K())
  end,
  ["many constraints, projected"] = function()
    local n = 152
    local C = ns.eye(n)
    local ds = ns.LagrangianDS { q0 = 0.01 * ns.ones(n), v0 = ns.zeros(n), mass = ns.eye(n), fExt = ns.ones(n),
      fInt = function(_, q, _, _, f) f[1] = q[1] ^ 3 end,
      jacobianFIntq = function(_, q, _, _, J) J[1][1] = 3 * q[1] ^ 2 end, jacobianFIntqDot = ns.zeros(n, n) }
    local held = ns.Interaction(ns.EqualityConditionNSL(n), ns.LagrangianLinearTIR(C))
    return rows_of(ns.TimeSteppingDirectProjection(graph(0.01, { ds }, { { held, ds } }), ns.TimeDiscretisation(0, 0.01),
      ns.MoreauJeanOSI(0.5)))
  end,
  ["brick"] = function() return brick(2) end,
  ["ball with friction"] = function() return brick(3) end,
  ["a grid of points, a clone, a reset"] = function()
    local ds = ball()
    local simu = ns.TimeStepping(graph(0.1, { ds }, { { floor(), ds } }), ns.TimeDiscretisation { 0, 0.02, 0.05, 0.1 },
      ns.MoreauJeanOSI(0.5))
    simu:energy()
    local copy = simu:clone()
    local rows = rows_of(simu)
    simu:reset()
    return rows .. rows_of(copy) .. rows_of(simu)
  end,
  ["checkpoints and streams"] = function()
    local ds = ball()
    local simu = ns.TimeStepping(graph(0.1, { ds }, { { floor(), ds } }), ns.TimeDiscretisation(0, 0.02),
      ns.MoreauJeanOSI(0.5))
    local state, rows = directory .. "/run.state", directory .. "/run.csv"
    os.remove(state)
    os.remove(state .. ".previous")
    simu:run { checkpoint = state, every = 2, stream = rows }
    simu:save_state(state, "note")
    return host.read(rows) .. select(1, simu:load_state(state)) .. numbers_of(ds:q())
  end,
  ["saved and loaded arrays"] = function()
    local path, list, data = directory .. "/data", {}, { a = ns.linspace(0, 1, 5), b = ns.linspace(2, 3, 5) }
    for _, ending in ipairs { ".csv", ".npz" } do
      ns.save(path .. ending, data)
      local read = ns.load(path .. ending)
      list[#list + 1] = numbers_of(read.a) .. numbers_of(read.b)
    end
    ns.save(path .. ".npy", data.a)
    return table.concat(list, " ") .. numbers_of(ns.load(path .. ".npy"))
  end,
  ["Radau IIA"] = function()
    local solution = ns.dae("radau", function(_, y, yd, r) r[1], r[2] = yd[1] + y[2], y[1] - y[2] end)
      :solve({ 0, 1 }, { 1, 1 }, { -1, 0 })
    if solution.flag ~= 0 then error(solution.message, 0) end
    return numbers_of(solution.values.y[2])
  end,
  ["complementarity models"] = function()
    local F = function(z) return { z[1] ^ 2 - 2, z[1] + z[2] - 1 } end
    return answer(ns.numerics.mcp, { F = F, z0 = { 1, 1 } }) ..
      answer(ns.numerics.mcp, { F = F, z0 = { 1, 1 }, solver = "semismooth" })
  end,
  ["sparse complementarity models"] = function()
    return answer(ns.numerics.mcp, { F = function(z) return { z[1] ^ 2 - 2, z[1] + z[2] - 1 } end,
      J = function(z) return ns.sparse { rows = 2, cols = 2, i = { 1, 2, 2 }, j = { 1, 1, 2 }, v = { 2 * z[1], 1, 1 } } end,
      z0 = { 1, 1 } })
  end,
  ["mixed complementarity"] = function()
    local r = ns.numerics.mlcp { A = { { 2 } }, B = { { 1 } }, C = { { 1 } }, D = { { -1 } }, a = { 1 }, b = { -1 } }
    if r.message and r.message:find("memory", 1, true) then error(r.message, 0) end
    return r.status .. numbers_of(r.u) .. numbers_of(r.v)
  end,
  ["normal cones"] = function()
    local list = {}
    for _, solver in ipairs { "default", "pivot", "enumerate" } do
      list[#list + 1] = answer(ns.numerics.normal_cone, { M = { { 1, 0 }, { 0, 1 } }, q = { -3, -1 },
        H = { { -1, -1 }, { 1, 0 }, { 0, 1 } }, K = { -2, 0, 0 }, solver = solver })
    end
    return table.concat(list, " ")
  end,
  ["groups"] = function()
    return answer(ns.numerics.generic_mechanical, { W = ns.eye(3), q = { -2, -1, 0.5 },
      groups = { { upper = 1.5 }, { dim = 2, mu = 0.3 } } })
  end,
  ["how many solutions"] = function()
    local u = ns.numerics.uniqueness { { 2, -3 }, { 1, 1 } }
    local s = ns.numerics.solutions { M = { { 0, 1 }, { 1, 0 } }, q = { -1, -1 } }
    return text_of { u.unique, u.reason, #s.isolated, #s.segments, #s.rays, tostring(s.complete) }
  end,
  ["linear algebra"] = function()
    local A = ns.matrix { { 4, 1, 0 }, { 1, 3, 1 }, { 0, 1, 2 } }
    local b, S, B = ns.vector { 1, 2, 3 }, ns.sparse(A), ns.band(A)
    local U, s, V = ns.svd(A)
    local lu = S:lu()
    return text_of { numbers_of(ns.solve(A, b)), numbers_of(S:solve(b)), numbers_of(B:solve(b)), numbers_of(lu:solve(b)),
      numbers_of((ns.lstsq(A, b))), numbers_of(s), numbers_of(U[1]), numbers_of(V[1]), numbers_of((ns.eigvals(A))),
      numbers_of(ns.expm(A)[1]), numbers_of(ns.qr(A)[1]), numbers_of(ns.cholesky(A)[1]), ns.det(A), ns.cond(A), ns.rank(A),
      numbers_of((S * S):tomatrix()[1]), numbers_of(S:transpose():tomatrix()[1]), S:norm(1), S:rcond(), B:rcond() }
  end,
  ["compiled functions"] = function()
    local f = ns.compile(function(t, y, ydot) ydot[1], ydot[2] = y[2], -t * math.sin(y[1]) end, { native = false })
    local sol = ns.solve_ivp(f, { 0, 1 }, { 1, 0 }, { method = "Radau" })
    if sol.status < 0 then error(sol.message, 0) end
    return numbers_of(sol.y[1]) .. numbers_of(f:jacobian(2, 0, { 1, 0 }, { 0, 0 })[2])
  end,
}

for _, solver in ipairs { "default", "lemke", "principal", "psor", "newton_min", "newton_fb", "interior", "enumerate" } do
  cases["LCP by " .. solver] = function()
    local M, q = random_lcp(5)
    return answer(ns.numerics.lcp, { M = M, q = q, solver = solver })
  end
end
for _, solver in ipairs { "default", "psor", "newton_min", "newton_fb", "interior" } do
  cases["sparse LCP by " .. solver] = function()
    local M, q = random_lcp(5)
    return answer(ns.numerics.lcp, { M = ns.sparse(M), q = q, solver = solver })
  end
end
for _, solver in ipairs { "default", "nsgs", "newton", "first_order", "lcp" } do
  for dim = 2, solver == "lcp" and 2 or 3 do
    cases[("%d-dimensional friction by %s"):format(dim, solver)] = function()
      local M, q = random_lcp(2 * dim)
      return answer(ns.numerics["fc" .. dim .. "d"], { W = M, q = q, mu = 0.4, solver = solver })
    end
  end
end
if pcall(ns.dae, "ida", print) then
  cases["IDA"] = function()
    local solution = ns.dae("ida", function(_, y, yd, r) r[1], r[2] = yd[1] + y[2], y[1] - y[2] end)
      :solve({ 0, 1 }, { 1, 1 }, { -1, -1 })
    if solution.flag ~= 0 then error(solution.message, 0) end
    return numbers_of(solution.values.y[2])
  end
end

local names = require "sorted_names"(cases)

describe("memory of the engine that fails", function()
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  for _, name in ipairs(names) do
    it("is told, and does no harm: " .. name, function()
      local expected = cases[name]()
      for _, on in ipairs { false, true } do
        local n, came = 0, true
        while came do
          local good, result
          came, good, result = internal.failing(n, on, cases[name])
          if good then
            assert.equal(expected, result)
          else
            assert.is_true(came, tostring(result))
            assert.truthy(tostring(result):find("memory", 1, true), ("allocation %d: %s"):format(n, result))
          end
          n = n + 1 + n // 60
        end
        assert.is_true(n > 1)
        assert.equal(expected, cases[name]())
      end
    end)
  end
end)
