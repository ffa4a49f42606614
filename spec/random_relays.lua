-- Random piecewise linear systems with relays, x' = A x + b + B lambda, y = C x + d, of 2 to 6 states and 1 to 3 relays, and
-- simulations of them. A system is what relay_reference.run takes.
local ns = require "nslua"
local numbers = require "random_numbers"

local relays = {}
local random = math.random

local between = numbers.uniform
local vector, matrix = numbers.vector_within, numbers.matrix_within

-- Families: each changes a generic system o of n states and m relays.
local families = {
  function() return "generic" end,
  -- C B has a dominant positive diagonal: sliding on each surface, and on intersections.
  function(o, n, m)
    for k = 1, m do
      for i = 1, n do o.B[i][k] = o.C[k][i] + 0.3 * o.B[i][k] end
    end
    return "attractive"
  end,
  -- C B is positive definite and far from symmetric: spirals into intersections, accumulations.
  function(o, n, m)
    for i = 1, n do
      for k = 1, m do
        o.B[i][k] = 0
        for j = 1, m do o.B[i][k] = o.B[i][k] + o.C[j][i] * (j == k and 1 or j < k and 2.5 or -2.5) end
      end
    end
    return "spiral"
  end,
  -- The first relay does not act on its own y', a chain of integrators in front of it: crossings only.
  function(o, n)
    for i = 1, n do
      o.C[1][i], o.B[i][1] = i == 1 and 1 or 0, i == n and between(0.5, 2) or 0
      for j = 1, n do
        if i < n then o.A[i][j] = j == i + 1 and 1 or 0 end
      end
    end
    return "chain"
  end,
  -- C B has entries of any sign, and is large: several modes may go on.
  function(o, n, m)
    for i = 1, n do
      for k = 1, m do o.B[i][k] = 3 * o.B[i][k] end
    end
    return "repulsive"
  end,
  -- Oscillators with dry friction: rows of velocities.
  function(o, n, m)
    for i = 1, n do
      for k = 1, m do
        o.C[k][i] = i == 2 * k and 1 or 0
        o.B[i][k] = i == 2 * k and between(0.2, 1) or 0
      end
    end
    return "friction"
  end,
  -- Forces of the time, sin and cos of an oscillator in the last two states, move a few states with relays.
  function(o, n, m)
    if n < 3 then return "generic" end
    local w = between(1, 6)
    for j = 1, n do o.A[n - 1][j], o.A[n][j] = 0, 0 end
    o.A[n - 1][n], o.A[n][n - 1], o.b[n - 1], o.b[n] = w, -w, 0, 0
    o.x0[n - 1], o.x0[n] = 0, 1
    for k = 1, m do
      o.B[n - 1][k], o.B[n][k] = 0, 0
      for i = 1, n - 2 do o.B[i][k] = o.C[k][i] + 0.2 * o.B[i][k] end
    end
    for i = 1, n - 2 do o.A[i][n - 1] = 3 * o.A[i][n - 1] end
    return "driven"
  end,
}

-- The system of number k; the random numbers are seeded by it.
function relays.system(k)
  math.randomseed(k)
  local n, m = random(2, 6), random(1, 3)
  local o = { A = matrix(n, n, 1), b = vector(n, 0.5), B = matrix(n, m, 1), C = matrix(m, n, 1), d = vector(m, 0.2),
    x0 = vector(n, 2) }
  for i = 1, n do o.A[i][i] = o.A[i][i] - 0.5 end
  local i, j, w = random(n), random(n), between(0, 4)
  if i ~= j then o.A[i][j], o.A[j][i] = w, -w end
  o.lb, o.ub, o.T = {}, {}, between(2, 10)
  for r = 1, m do
    o.lb[r], o.ub[r] = random() < 0.3 and between(-1.5, 0) or -1, random() < 0.3 and between(0.1, 2) or 1
  end
  o.family = families[random(#families)](o, n, m)
  return o
end

-- A simulation of o: make(nsds) gives it from its graph. Also its system.
function relays.simulation(o, make)
  local ds = ns.FirstOrderLinearTIDS(o.x0, o.A, o.b)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(#o.C, o.lb, o.ub), ns.FirstOrderLinearTIR { C = o.C, B = o.B, e = o.d }, "relays"), ds)
  return make(nsds), ds
end

-- The final state by backward Euler with n steps.
function relays.euler(o, n)
  local simu, ds = relays.simulation(o, function(nsds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.T / n), ns.EulerMoreauOSI(1))
  end)
  for _ = 1, n do
    simu:computeOneStep()
    simu:nextStep()
  end
  return ds:x():copy()
end

-- The events of a log, by time; those of one time, up to rounding, by their rows.
function relays.sorted(log)
  local list = table.move(log, 1, #log, 1, {})
  for i = 2, #list do -- insertion: an order "by time up to rounding" is none for table.sort
    local k, event = i, list[i]
    while k > 1 and math.abs(event.t - list[k - 1].t) <= 1e-10 and event.component < list[k - 1].component do
      list[k], k = list[k - 1], k - 1
    end
    list[k] = event
  end
  return list
end

-- The largest difference of two states, relative to the larger of 1 and the state's size.
function relays.off(a, b)
  local d, size = 0, 1
  for i = 1, #a do d, size = math.max(d, math.abs(a[i] - b[i])), math.max(size, math.abs(a[i])) end
  return d / size
end

return relays
