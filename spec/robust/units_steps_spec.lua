-- Steps do not depend on units: random models run as they are, and with every unknown, row, output, mass, length and the time
-- multiplied by powers of two. Status, iterations and bits must be the same, except for these powers.
local ns = require "nslua"

local random = math.random
local COUNT, told = require "campaign"(60, 0.1)

local numbers = require "random_numbers"
local real, power, vector = numbers.signed, numbers.power, numbers.vector
local function matrix(m, n, f) return numbers.matrix(m, f, n) end

-- A function of n numbers: a quadratic form and a cubic term, made of additions and multiplications only.
local function polynomial(n, size)
  local a, b = vector(n, real), vector(n, real)
  local c, d = size * real(), size * real()
  return function(x)
    local s, t = 0, 0
    for i = 1, n do s, t = s + a[i] * x[i], t + b[i] * x[i] end
    return s + c * t * t + d * t * t * t
  end
end

-- Units of n unknowns: all 1, or random powers of two.
local function units(n, most)
  return vector(n, function() return most > 0 and power(most) or 1 end)
end

local function run(simu, look)
  local rows = {}
  local good, err = pcall(function()
    for _ in simu:steps() do
      local row = vector(0, real)
      look(row)
      row[#row + 1] = simu:newtonIterations()
      rows[#rows + 1] = row
    end
  end)
  return rows, good or tostring(err):match ": ([^:]-) in %d+ iterations" or tostring(err):match "solution: ([^(]+)" or tostring(err)
end

-- M x' = f(x) with n states: matrices A and b, or functions F in place of A x (b may be nil then). In units s of the states, r of
-- the equations, tau of the time.
local function first_order_system(o, s, r, tau)
  local n, A, b, F = #s, o.A, o.b, o.F
  local X0 = vector(n, function(i) return s[i] * o.x0[i] end)
  local ds
  if F then
    ds = ns.FirstOrderNonLinearDS(X0, function(_, X, _, f)
      local x = {}
      for i = 1, n do x[i] = X[i] / s[i] end
      for i = 1, n do f[i] = r[i] * (b and F[i](x) + b[i] or F[i](x)) end
    end)
  else
    ds = ns.FirstOrderLinearTIDS(X0, matrix(n, n, function(i, j) return r[i] * A[i][j] / s[j] end))
    ds:setbPtr(vector(n, function(i) return r[i] * b[i] end))
  end
  ds:setMPtr(matrix(n, n, function(i, j) return r[i] * o.M[i][j] * tau / s[j] end))
  return ds
end

local families = {}

-- M x' = f(x) + r, y = h(x, lambda): linear with matrices, or nonlinear; laws of every kind.
local function first_order(linear)
  local n, m = random(1, 4), random(0, 3)
  local A, b = matrix(n, n, real), vector(n, real)
  local B, C = matrix(n, m, real), matrix(m, n, real)
  local D = matrix(m, m, function(i, j) return i == j and random() or 0.2 * real() end)
  local M = matrix(n, n, function(i, j) return i == j and 1 + random() or random() < 0.5 and 0 or 0.3 * real() end)
  local F, G, H = {}, {}, {}
  for i = 1, n do F[i], G[i] = polynomial(n, 0.3), polynomial(n + m, 0.1) end
  for j = 1, m do H[j] = polynomial(n + m, 0.1) end
  local x0, laws = vector(n, real), vector(m, function() return random(3) end)
  local lower, upper = vector(m, function() return -random() end), vector(m, function() return random() end)
  local h, theta = 0.01 + 0.1 * random(), random() < 0.5 and 1 or 0.5
  local gamma = random() < 0.7 and 1 or 0.75
  return function(most)
    local s, r, o, l, tau = units(n, most), units(n, most), units(m, most), units(m, most), most > 0 and power(most) or 1
    local ds = first_order_system({ x0 = x0, M = M, A = A, b = linear and b or nil, F = not linear and F or nil }, s, r, tau)
    local nsds = ns.NonSmoothDynamicalSystem(0, 12 * h * tau * (1 + 1e-12))
    nsds:insertDynamicalSystem(ds)
    local links = {}
    local function all(X, lambda) -- the unscaled x and lambda
      local x = {}
      for i = 1, n do x[i] = X[i] / s[i] end
      for j = 1, m do x[n + j] = lambda[j] / l[j] end
      return x
    end
    if m > 0 then
      local relation
      if linear then
        relation = ns.FirstOrderLinearTIR(matrix(m, n, function(i, j) return o[i] * C[i][j] / s[j] end),
          matrix(n, m, function(i, j) return r[i] * B[i][j] / l[j] end))
        relation:setDPtr(matrix(m, m, function(i, j) return o[i] * D[i][j] / l[j] end))
      else
        relation = ns.FirstOrderNonLinearR {
          h = function(_, X, lambda, _, y)
            local x = all(X, lambda)
            for j = 1, m do y[j] = o[j] * (H[j](x) + 2 * x[n + j]) end
          end,
          g = function(_, X, lambda, _, R)
            local x = all(X, lambda)
            for i = 1, n do
              local sum = G[i](x)
              for j = 1, m do sum = sum + B[i][j] * x[n + j] end
              R[i] = r[i] * sum
            end
          end,
        }
      end
      -- one law for all rows: a relay with bounds of its own for each row is a mixed one
      local law
      if laws[1] == 1 then law = ns.ComplementarityConditionNSL(m)
      elseif laws[1] == 2 then law = ns.EqualityConditionNSL(m)
      else
        for j = 1, m do l[j] = l[1] end
        law = ns.RelayNSL(m, lower[1] * l[1], upper[1] * l[1])
      end
      if laws[1] == 3 and linear then
        relation:setBPtr(matrix(n, m, function(i, j) return r[i] * B[i][j] / l[j] end))
        relation:setDPtr(matrix(m, m, function(i, j) return o[i] * D[i][j] / l[j] end))
      end
      links[1] = ns.Interaction(law, relation)
      nsds:link(links[1], ds)
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h * tau), ns.EulerMoreauOSI(theta, gamma))
    return run(simu, function(row)
      for i = 1, n do row[#row + 1] = ds:x()[i] / s[i] end
      for j = 1, m do row[#row + 1] = links[1]:lambda(0)[j] / l[j] end
    end)
  end
end

families["linear models of first order"] = function() return first_order(true) end
families["nonlinear models of first order"] = function() return first_order(false) end

local function d1_minus_linear() return ns.D1MinusLinearOSI() end
local function event_driven() return ns.RungeKuttaOSI() end
local function moreau_jean() return ns.MoreauJeanOSI(0.5) end
local function schatzman_paoli() return ns.SchatzmanPaoliOSI(0.5) end

-- Mechanics: coordinates and outputs in units of their own; the units of energy and time give those of mass and impulse.
local function mechanics(make, nonlinear, friction, forces)
  local n = random(1, 3)
  local m = random(0, math.min(n, 2))
  if friction then n, m = n + 1, 1 end
  local L = matrix(n, n, function(i, j) return i == j and 1 + random() or 0.3 * real() end)
  local M = matrix(n, n, function(i, j)
    local sum = 0
    for k = 1, n do sum = sum + L[i][k] * L[j][k] end
    return sum
  end)
  local K = matrix(n, n, function(i, j) return i == j and 5 * random() or 0 end)
  local force, gaps = vector(n, function() return -5 * random() end), {}
  local P = vector(n, function() return polynomial(n, 0.2) end)
  local rows = friction and 2 or m
  local H = matrix(rows, n, function(i, j) return i == j and 1 or 0.3 * real() end)
  for i = 1, rows do gaps[i] = polynomial(n, nonlinear and 0.1 or 0) end
  local q0, v0 = vector(n, function() return 0.2 + random() end), vector(n, real)
  local lift = vector(rows, function(i)
    local y = gaps[i](q0)
    for j = 1, n do y = y + H[i][j] * q0[j] end
    return forces and math.max(0, 0.1 - y) or 0
  end)
  local e, mu, h = random() < 0.5 and 0 or random(), random(), 0.01 + 0.05 * random()
  local equality = random() < 0.3
  return function(most)
    local s, o = units(n, most), units(rows, most)
    local E, tau = most > 0 and power(most) or 1, most > 0 and power(most) or 1
    if friction then o[2] = o[1] end
    local Q0, V0 = vector(n, function(i) return s[i] * q0[i] end), vector(n, function(i) return s[i] / tau * v0[i] end)
    local mass = matrix(n, n, function(i, j) return E * tau * tau / s[i] / s[j] * M[i][j] end)
    local ds
    local function plain(q)
      local x = {}
      for i = 1, n do x[i] = q[i] / s[i] end
      return x
    end
    if nonlinear then
      ds = ns.LagrangianDS {
        q0 = Q0, v0 = V0,
        mass = function(q, _, out)
          local x = plain(q)
          for i = 1, n do
            for j = 1, n do out[i][j] = E * tau * tau / s[i] / s[j] * (i == j and M[i][j] + x[1] * x[1] or M[i][j]) end
          end
        end,
        fInt = function(_, q, _, _, f)
          local x = plain(q)
          for i = 1, n do f[i] = E / s[i] * (P[i](x) - force[i]) end
        end,
      }
    else
      ds = ns.LagrangianLinearTIDS(Q0, V0, mass)
      ds:setKPtr(matrix(n, n, function(i, j) return E / s[i] / s[j] * K[i][j] end))
      ds:setFExtPtr(vector(n, function(i) return E / s[i] * force[i] end))
    end
    local nsds = ns.NonSmoothDynamicalSystem(0, 12 * h * tau * (1 + 1e-12))
    nsds:insertDynamicalSystem(ds)
    local links = {}
    if rows > 0 then
      local relation
      if nonlinear then
        relation = ns.LagrangianScleronomousR { h = function(q, _, y)
          local x = plain(q)
          for i = 1, rows do
            local sum = lift[i] + gaps[i](x)
            for j = 1, n do sum = sum + H[i][j] * x[j] end
            y[i] = o[i] * sum
          end
        end }
      else
        relation = ns.LagrangianLinearTIR(matrix(rows, n, function(i, j) return o[i] * H[i][j] / s[j] end),
          vector(rows, function(i) return o[i] * lift[i] end))
      end
      local law = friction and ns.NewtonImpactFrictionNSL(e, 0, mu, 2)
        or equality and not forces and ns.EqualityConditionNSL(rows) or ns.NewtonImpactNSL(rows, e)
      links[1] = ns.Interaction(law, relation)
      nsds:link(links[1], ds)
    end
    local simulation = make == event_driven and ns.EventDriven or ns.TimeStepping
    local simu = simulation(nsds, ns.TimeDiscretisation(0, h * tau), make())
    return run(simu, function(row)
      for i = 1, n do
        row[#row + 1] = ds:q()[i] / s[i]
        row[#row + 1] = ds:velocity()[i] * tau / s[i]
      end
      -- impulses, or forces
      for i = 1, rows do row[#row + 1] = links[1]:lambda(1)[i] * o[i] / E / (forces and 1 or tau) end
    end)
  end
end

families["linear mechanics, Moreau and Jean"] = function() return mechanics(moreau_jean, false) end
families["nonlinear mechanics, Moreau and Jean"] = function() return mechanics(moreau_jean, true) end
families["friction, Moreau and Jean"] = function() return mechanics(moreau_jean, false, true) end
families["nonlinear friction, Moreau and Jean"] = function() return mechanics(moreau_jean, true, true) end
families["linear mechanics, Schatzman and Paoli"] = function() return mechanics(schatzman_paoli, false) end
families["linear mechanics, D1MinusLinear"] = function() return mechanics(d1_minus_linear, false, false, true) end
families["nonlinear mechanics, D1MinusLinear"] = function() return mechanics(d1_minus_linear, true, false, true) end
families["linear mechanics, EventDriven"] = function() return mechanics(event_driven, false, false, true) end
families["nonlinear mechanics, EventDriven"] = function() return mechanics(event_driven, true, false, true) end
families["nonlinear mechanics, Schatzman and Paoli"] = function() return mechanics(schatzman_paoli, true) end

-- Models of first order from event to event: relays with bounds of their own units, or complementarities with and without D.
-- The rows hold the times of the events too.
local function switching(linear, integrator)
  local n = random(1, 4)
  local m = random(1, math.min(n, 3))
  local A, b, C = matrix(n, n, real), vector(n, real), matrix(m, n, real)
  local B = matrix(n, m, function(i, j) return C[j][i] + 0.2 * real() end)
  local relay, resistance = random() < 0.5, random() < 0.5
  local D = matrix(m, m, function(i, j) return i == j and not relay and resistance and random() or 0 end)
  local M = matrix(n, n, function(i, j) return i == j and 1 + random() or 0.2 * real() end)
  local F, x0, h = {}, vector(n, real), 0.5
  for i = 1, n do F[i] = polynomial(n, 0.1) end
  return function(most)
    local s, r, o, l, tau = units(n, most), units(n, most), units(m, most), units(m, most), most > 0 and power(most) or 1
    if relay then for j = 2, m do l[j] = l[1] end end
    local ds = first_order_system({ x0 = x0, M = M, A = A, b = b, F = not linear and F or nil }, s, r, tau)
    local nsds = ns.NonSmoothDynamicalSystem(0, 4 * h * tau * (1 + 1e-12))
    nsds:insertDynamicalSystem(ds)
    local relation = ns.FirstOrderLinearTIR(matrix(m, n, function(i, j) return o[i] * C[i][j] / s[j] end),
      matrix(n, m, function(i, j) return r[i] * B[i][j] / l[j] end))
    relation:setDPtr(matrix(m, m, function(i, j) return o[i] * D[i][j] / l[j] end))
    local inter = ns.Interaction(relay and ns.RelayNSL(m, -l[1], l[1]) or ns.ComplementarityConditionNSL(m), relation)
    nsds:link(inter, ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h * tau), integrator())
    local rows, status = run(simu, function(row)
      for i = 1, n do row[#row + 1] = ds:x()[i] / s[i] end
      for j = 1, m do row[#row + 1] = inter:lambda(0)[j] / l[j] end
      for _, e in ipairs(simu:events()) do row[#row + 1] = e.t / tau end
    end)
    return rows, type(status) == "string" and status:gsub("[%d.e+-]+", "#") or status
  end
end

families["linear models of first order, RungeKutta"] = function() return switching(true, ns.RungeKuttaOSI) end
families["nonlinear models of first order, RungeKutta"] = function()
  return switching(false, function() return ns.RungeKuttaOSI(1e-9) end)
end
families["linear models of first order, Radau"] = function() return switching(true, ns.RadauOSI) end
families["nonlinear models of first order, Radau"] = function()
  return switching(false, function() return ns.RadauOSI(1e-6) end)
end

-- Balls that turn, on a floor and on each other: one unit of length, one of mass, one of time.
families["rigid bodies, Moreau and Jean"] = function()
  local count, mu, e = random(1, 3), random(), random() < 0.5 and 0 or random()
  local R = vector(count, function() return 0.2 + 0.2 * random() end)
  local start = vector(count, function(i)
    return { 0.3 * real(), 0.3 * real(), 0.45 + 0.9 * (i - 1), real(), real(), real(), real(), real(), real() }
  end)
  local h = 0.005 + 0.01 * random()
  return function(most)
    local a, m, tau = 1, 1, 1
    if most > 0 then a, m, tau = power(most), power(most), power(most) end
    local nsds = ns.NonSmoothDynamicalSystem(0, 20 * h * tau * (1 + 1e-12))
    local balls, links = {}, {}
    local plane = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
    for i = 1, count do
      local p, J = start[i], 0.4 * R[i] * R[i]
      local ball = ns.NewtonEulerDS({ a * p[1], a * p[2], a * p[3], 1, 0, 0, 0 },
        { a / tau * p[4], a / tau * p[5], a / tau * p[6], p[7] / tau, p[8] / tau, p[9] / tau }, m, m * a * a * J * ns.eye(3))
      ball:setFExtPtr { 0, 0, -10 * m * a / tau / tau }
      nsds:insertDynamicalSystem(ball)
      balls[i] = ball
      local law = ns.NewtonImpactFrictionNSL(e, 0, mu, 3)
      links[#links + 1] = ns.Interaction(law, ns.contact.sphere_plane(a * R[i], plane))
      nsds:link(links[#links], ball)
      if i > 1 then
        links[#links + 1] = ns.Interaction(law, ns.contact.sphere_sphere(a * R[i], a * R[i - 1]))
        nsds:link(links[#links], ball, balls[i - 1])
      end
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h * tau), ns.MoreauJeanOSI(0.5))
    return run(simu, function(row)
      for i = 1, count do
        local q, v = balls[i]:q(), balls[i]:velocity()
        for j = 1, 7 do row[#row + 1] = j < 4 and q[j] / a or q[j] end
        for j = 1, 6 do row[#row + 1] = j < 4 and v[j] / a * tau or v[j] * tau end
      end
      for _, link in ipairs(links) do
        for j = 1, 3 do row[#row + 1] = link:lambda(1)[j] / m / a * tau end
      end
    end)
  end
end

-- Chains of states with a few rows, each row with a law of its own, as one sparse problem.
families["sparse models of first order"] = function()
  local n, m = random(2, 12), random(0, 4)
  local A = matrix(n, n, function(i, j) return math.abs(i - j) < 2 and real() or random() < 0.1 and 0.3 * real() or 0 end)
  local M = matrix(n, n, function(i, j) return i == j and 1 + random() or random() < 0.1 and 0.3 * real() or 0 end)
  local b, x0, rows = vector(n, real), vector(n, real), {}
  for j = 1, m do
    local at, C, B = random(n), vector(n, function() return 0 end), vector(n, function() return 0 end)
    for _ = 1, random(3) do C[random(n)], B[random(n)] = real(), real() end
    C[at], B[at] = 1 + random(), 1 + random()
    local lower = -random()
    rows[j] = { C = C, B = B, D = random() < 0.5 and random() or 0, law = random(3), lower = lower, upper = random() }
  end
  local h, theta = 0.01 + 0.1 * random(), random() < 0.5 and 1 or 0.5
  local gamma = random() < 0.7 and 1 or 0.75
  return function(most)
    local s, r, o, l, tau = units(n, most), units(n, most), units(m, most), units(m, most), most > 0 and power(most) or 1
    local ds = ns.FirstOrderLinearTIDS(vector(n, function(i) return s[i] * x0[i] end),
      ns.sparse(matrix(n, n, function(i, j) return r[i] * A[i][j] / s[j] end)))
    ds:setbPtr(vector(n, function(i) return r[i] * b[i] end))
    ds:setMPtr(ns.sparse(matrix(n, n, function(i, j) return r[i] * M[i][j] * tau / s[j] end)))
    local nsds = ns.NonSmoothDynamicalSystem(0, 12 * h * tau * (1 + 1e-12))
    nsds:insertDynamicalSystem(ds)
    local links = {}
    for k, row in ipairs(rows) do
      local relation = ns.FirstOrderLinearTIR({ vector(n, function(j) return o[k] * row.C[j] / s[j] end) },
        matrix(n, 1, function(i) return r[i] * row.B[i] / l[k] end))
      relation:setDPtr { { o[k] * row.D / l[k] } }
      local law = row.law == 1 and ns.ComplementarityConditionNSL(1) or row.law == 2 and ns.EqualityConditionNSL(1)
        or ns.RelayNSL(1, row.lower * l[k], row.upper * l[k])
      links[k] = ns.Interaction(law, relation)
      nsds:link(links[k], ds)
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h * tau), ns.EulerMoreauOSI(theta, gamma))
    return run(simu, function(out)
      for i = 1, n do out[#out + 1] = ds:x()[i] / s[i] end
      for k = 1, m do out[#out + 1] = links[k]:lambda(0)[1] / l[k] end
    end)
  end
end

-- Masses in a row with springs, on stops, as one sparse problem; coordinates and outputs in units of their own.
families["sparse mechanics, Moreau and Jean"] = function()
  local n, m = random(2, 8), random(1, 4)
  local M = vector(n, function() return 1 + random() end)
  local k = vector(n + 1, function() return random() < 0.3 and 0 or 20 * random() end)
  local q0, v0 = vector(n, function() return 0.6 + 0.5 * random() end), vector(n, real)
  local force = vector(n, function() return -5 * random() end)
  local e, h, stops = random() < 0.5 and 0 or random(), 0.01 + 0.05 * random(), {}
  for i = 1, m do stops[i] = { random(n), random(n), random() < 0.15 } end
  return function(most)
    local s, o = units(n, most), units(m, most)
    local E, tau = most > 0 and power(most) or 1, most > 0 and power(most) or 1
    local ds = ns.LagrangianLinearTIDS(vector(n, function(i) return s[i] * q0[i] end),
      vector(n, function(i) return s[i] / tau * v0[i] end),
      ns.sparse(matrix(n, n, function(i, j) return i == j and E * tau * tau / s[i] / s[i] * M[i] or 0 end)))
    ds:setKPtr(ns.sparse(matrix(n, n, function(i, j)
      local value = i == j and k[i] + k[i + 1] or i == j + 1 and -k[i] or j == i + 1 and -k[j] or 0
      return E / s[i] / s[j] * value
    end)))
    ds:setFExtPtr(vector(n, function(i) return E / s[i] * force[i] end))
    local nsds = ns.NonSmoothDynamicalSystem(0, 20 * h * tau * (1 + 1e-12))
    nsds:insertDynamicalSystem(ds)
    local links = {}
    for i, stop in ipairs(stops) do
      local C = vector(n, function() return 0 end)
      C[stop[1]] = 1
      if stop[2] ~= stop[1] then C[stop[2]] = -0.5 end
      local relation = ns.LagrangianLinearTIR({ vector(n, function(j) return o[i] * C[j] / s[j] end) })
      links[i] = ns.Interaction(stop[3] and ns.EqualityConditionNSL(1) or ns.NewtonImpactNSL(e), relation)
      nsds:link(links[i], ds)
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h * tau), ns.MoreauJeanGOSI(0.5))
    return run(simu, function(row)
      for i = 1, n do
        row[#row + 1] = ds:q()[i] / s[i]
        row[#row + 1] = ds:velocity()[i] * tau / s[i]
      end
      for i = 1, m do row[#row + 1] = links[i]:lambda(1)[1] * o[i] / E / tau end
    end)
  end
end

-- The first number that differs: "step 3 number 2: a, b"; nil when none does. Numbers are of the order of 1. A number below
-- 1e-200 (a velocity halved again and again at rest) counts as 0, since it underflows in some units.
local function difference(a, b)
  if #a ~= #b then return ("%d and %d steps"):format(#a, #b) end
  for k = 1, #a do
    for i = 1, #a[k] do
      local one, other = a[k][i], b[k][i]
      if one ~= other and not (math.abs(one) < 1e-200 and math.abs(other) < 1e-200) then
        return ("step %d number %d of %d: %.17g, %.17g"):format(k, i, #a[k], one, other)
      end
    end
  end
end

describe("units do not matter to a step:", function()
  local names = require "sorted_names"(families)
  for place, name in ipairs(names) do
    it(name, function()
      local wrong, first, failed = 0, nil, 0
      local count = name:find "EventDriven" and COUNT // 4 or COUNT -- many small steps each
      for k = 1, count do
        math.randomseed(1000 * place + k)
        local model = families[name]()
        local rows, status = model(0)
        if status ~= true then failed = failed + 1 end
        for _, most in ipairs { 12, 100 } do
          local scaled, other = model(most)
          local why = difference(rows, scaled) or status ~= other and ("%s, %s"):format(status, other)
          if why then wrong, first = wrong + 1, first or ("model %d, 2^%d: %s"):format(k, most, why) end
        end
      end
      assert.equal("0 wrong", ("%d wrong%s"):format(wrong, first and ", " .. first or ""))
      assert.is_true(failed <= count / 10, failed .. " failed")
      told("steps in other units, " .. name, 2 * count)
    end)
  end
end)
