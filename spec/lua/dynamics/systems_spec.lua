-- ns.dynamics on a clutch, converters and the woodpecker toy, against brute force: long runs, differences, bisection.
local cycles = require "cycles"
local near = require "expect".near_number
local ns = require "nslua"
local dynamics = ns.dynamics

-- The place in [low, high] at which `is_low` changes from true to false.
local function bisect(low, high, steps, is_low)
  for _ = 1, steps do
    local middle = (low + high) / 2
    if is_low(middle) then low = middle else high = middle end
  end
  return (low + high) / 2
end

-- The monodromy matrix of a map by central differences.
local function by_differences(map, x, sizes)
  local M = ns.zeros(#x, #x)
  for j = 1, #x do
    local h = 1e-5 * sizes[j]
    local up, down = x:copy(), x:copy()
    up[j], down[j] = x[j] + h, x[j] - h
    local slope = (map(up) - map(down)) * (1 / (2 * h))
    for i = 1, #x do M[i][j] = slope[i] end
  end
  return M
end

-- The multipliers of an orbit against the eigenvalues of a matrix: sums of both and of their squares.
local function same_multipliers(orbit, M, tolerance)
  local trace, squares = 0, 0
  for _, m in ipairs(orbit.multipliers) do trace, squares = trace + m.re, squares + m.re ^ 2 - m.im ^ 2 end
  near(M:trace(), trace, tolerance)
  near((M * M):trace(), squares, tolerance)
end

describe("a clutch under a pulsating torque #once", function()
  local J1, J2, c1, c2, T1, A, w = 1, 1 / 4, 1, 1 / 2, 10, 8, 4
  local period = 2 * math.pi / w

  local function clutch(mu, x0)
    local disks = ns.FirstOrderLinearDS(x0 or { 7, 6 }, { { -c1 / J1, 0 }, { 0, -c2 / J2 } }, function(t, _, b)
      b[1], b[2] = (T1 + A * math.cos(w * t)) / J1, 0
    end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 20 * period)
    nsds:insertDynamicalSystem(disks)
    local slip = ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 / J1 }, { -1 / J2 } })
    nsds:link(ns.Interaction(ns.RelayNSL(1, -mu, mu), slip, "clutch"), disks)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, period / 16), ns.RungeKuttaOSI())
  end

  local function after(periods, mu, x0)
    local sol = clutch(mu, x0):run { dense = true }
    return sol:at(periods * period).x, sol
  end

  local function late_events(mu)
    local sol, count = clutch(mu):run(), 0
    for _, event in ipairs(sol.events) do count = count + (event.t > 12 * period and 1 or 0) end
    return count
  end

  for _, case in ipairs { { 2, "" }, { 4, "clutch:leave clutch:slide" }, { 5.5, "" } } do
    it(("has the orbit and the multipliers of long runs at mu = %g"):format(case[1]), function()
      local mu = case[1]
      local orbit = dynamics.periodic { simulation = clutch, value = mu, guess = { 7, 6 }, period = period,
        transient = 4 * period }
      assert.equal(case[2], orbit.sequence)
      local last = after(20, mu, { 9, 3 })
      near(last[1], orbit.x0[1], 1e-9)
      near(last[2], orbit.x0[2], 1e-9)
      if mu < 5 then -- where the disks stick at the start, a difference leaves that set
        same_multipliers(orbit, by_differences(function(x) return (after(1, mu, x)) end, orbit.x0, { 1, 1 }), 1e-7)
      end
    end)
  end

  it("changes its sequence of events where runs and closed forms do #long", function()
    local branch = dynamics.continuation { simulation = clutch, guess = { 7, 6 }, period = period, transient = 8 * period,
      range = { 2.4, 5.4 }, step = 1 / 16 }
    assert.equal(2, #branch.bifurcations)
    local touch, stick = branch.bifurcations[1], branch.bifurcations[2]
    assert.same({ "grazing", "", "clutch:leave clutch:slide" }, { touch.kind, touch.before, touch.after })
    assert.same({ "sequence", "clutch:leave clutch:slide", "" }, { stick.kind, stick.before, stick.after })
    near((T1 / c1 - A / math.sqrt(c1 ^ 2 + (w * J1) ^ 2)) / (1 / c1 + 1 / c2), touch.p, 1e-9)
    near(T1 * c2 / (c1 + c2) + A * math.sqrt((c2 ^ 2 + (w * J2) ^ 2) / ((c1 + c2) ^ 2 + (w * (J1 + J2)) ^ 2)), stick.p, 1e-8)
    near(bisect(2.68, 2.69, 9, function(mu) return late_events(mu) == 0 end), touch.p, 3e-5)
    near(bisect(5.04, 5.05, 9, function(mu) return late_events(mu) > 0 end), stick.p, 3e-5)
    assert.is_true(#branch.points < 60)
  end)
end)

-- The motion of i' = (V - u) / L, u' = i / C - u / (R C) after the time t.
local function open_switch(k, i, u, t)
  local a = 1 / (2 * k.R * k.C)
  local w = math.sqrt(1 / (k.L * k.C) - a * a)
  local p, q, decay = i - k.V / k.R, u - k.V, math.exp(-a * t)
  local c, s = math.cos(w * t), math.sin(w * t) / w
  return k.V / k.R + decay * (p * c + s * (a * p - q / k.L)), k.V + decay * (q * c + s * (p / k.C - a * q))
end

local function closed_switch(k, i, u, t) return i + k.V * t / k.L, u * math.exp(-t / (k.R * k.C)) end

describe("a boost converter with a given duty cycle #once", function()
  local k = { V = 5, L = 2e-5, C = 2e-5, R = 20, T = 2e-5 }

  local function converter(d)
    local circuit = ns.FirstOrderLinearTIDS({ 0.3, 6 }, { { 0, -1 / k.L }, { 1 / k.C, -1 / (k.R * k.C) } }, { k.V / k.L, 0 })
    local switch = ns.FirstOrderNonLinearR {
      h = function(t, _, _, _, y) y[1] = math.cos(math.pi * d) - math.cos(2 * math.pi * t / k.T) end,
      g = function(_, x, lambda, _, r) r[1], r[2] = lambda[1] * x[2] / k.L, -lambda[1] * x[1] / k.C end,
    }
    local diode = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 / k.L }, { 0 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 200 * k.T)
    nsds:insertDynamicalSystem(circuit)
    nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), switch, "switch"), circuit)
    nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), diode, "diode"), circuit)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, k.T / 8), ns.RungeKuttaOSI())
  end

  -- The state after a period by the solutions of the three circuits, and whether the current came to rest.
  local function map(d, i, u)
    local rests, off = false, (1 - d) * k.T
    i, u = closed_switch(k, i, u, d * k.T / 2)
    local ie, ue = open_switch(k, i, u, off)
    if ie < 0 then
      rests = true
      local time = bisect(0, off, 36, function(t) return open_switch(k, i, u, t) > 0 end)
      local _, at_rest = open_switch(k, i, u, time)
      ie, ue = 0, at_rest * math.exp(-(off - time) / (k.R * k.C))
    end
    i, u = closed_switch(k, ie, ue, d * k.T / 2)
    return i, u, rests
  end

  local i_last, u_last = 0.3, 6
  local function settled(d, periods)
    local i, u, rests = i_last, u_last, false
    for _ = 1, periods or 1000 do i, u, rests = map(d, i, u) end
    i_last, u_last = i, u
    return i, u, rests
  end

  it("has the orbit and the multipliers of the map, in both kinds of conduction", function()
    for _, d in ipairs { 0.3, 0.65 } do
      local orbit = dynamics.periodic { simulation = converter, value = d, guess = { 0.3, 6 }, period = k.T,
        transient = 60 * k.T }
      local i, u = settled(d)
      near(i, orbit.x0[1], 1e-10)
      near(u, orbit.x0[2], 1e-9)
      same_multipliers(orbit, by_differences(function(x)
        local a, b = map(d, x[1], x[2])
        return ns.vector { a, b }
      end, orbit.x0, { 1, 1 }), 1e-8)
    end
  end)

  it("changes between them where the map does #long", function()
    local branch = dynamics.continuation { simulation = converter, guess = { 0.3, 6 }, period = k.T, transient = 100 * k.T,
      range = { 0.1, 0.7 } }
    assert.equal(2, #branch.bifurcations)
    local rest, flow = branch.bifurcations[1], branch.bifurcations[2]
    assert.same({ "switch:cross switch:cross", "diode:close switch:cross diode:open switch:cross" }, { rest.before, rest.after })
    assert.same({ rest.after, rest.before }, { flow.before, flow.after })
    settled(0.1312, 1200)
    near(bisect(0.1312, 0.1313, 10, function(d) return not select(3, settled(d, 300)) end), rest.p, 2e-7)
    settled(0.5915, 300)
    near(bisect(0.5915, 0.5916, 10, function(d) return select(3, settled(d, 200)) end), flow.p, 2e-7)
  end)
end)

describe("a boost converter with a given peak of the current #once", function()
  local k = { V = 10, L = 1e-3, C = 1.2e-5, R = 20, T = 1e-4 }

  local function model(I)
    return { args = { I }, period = k.T, t0 = k.T / 2, transient = 100 * k.T, guess = { 0.5, 12, 0 },
      rhs = function(_, x) return { (k.V - (1 - x[3]) * x[2]) / k.L, ((1 - x[3]) * x[1] - x[2] / k.R) / k.C, 0 } end,
      events = {
        { name = "close", direction = 1, g = function(t) return math.sin(2 * math.pi * t / k.T) end,
          apply = function(_, x) return { x[1], x[2], 1 } end },
        { name = "open", direction = 1, g = function(_, x, peak) return x[1] - peak end,
          apply = function(_, x) return { x[1], x[2], 0 } end } } }
  end

  -- From one closing of the switch to the next.
  local function map(I, i, u)
    local on = k.L * (I - i) / k.V
    if on >= k.T then return closed_switch(k, i, u, k.T) end
    local _, at_peak = closed_switch(k, i, u, on)
    return open_switch(k, I, at_peak, k.T - on)
  end

  local function settled(I)
    local i, u = 0.7 * I, 12
    for _ = 1, 1500 do i, u = map(I, i, u) end
    return i, u
  end

  it("has the orbit and the multipliers of the map", function()
    local orbit = dynamics.periodic(model(1.5))
    local i, u = settled(1.5)
    near(i, orbit.events[1].before[1], 1e-10)
    near(u, orbit.events[1].before[2], 1e-9)
    local M = by_differences(function(x) return ns.vector { map(1.5, x[1], x[2]) } end, ns.vector { i, u }, { 1, 1 })
    same_multipliers(orbit, M, 1e-8)
  end)

  it("doubles its period where the map does; the branch of doubled period is that of long runs #long", function()
    local options = model(0.8)
    options.range = { 0.8, 2.5 }
    local branch = dynamics.continuation(options)
    local found = branch.bifurcations[1]
    assert.equal("period doubling", found.kind)
    local event = found.orbit.events[1].before
    local M = by_differences(function(x) return ns.vector { map(found.p, x[1], x[2]) } end, event:slice(1, 2), { 1, 1 })
    near(0, ns.det(M + ns.eye(2)), 1e-7)
    local function doubled(I)
      local i, u = settled(I)
      return math.abs(map(I, i, u) - i) > 1e-3
    end
    near(bisect(1.66, 1.76, 4, function(I) return not doubled(I) end), found.p, 1e-2)
    local second = branch:switch()
    local border = second.bifurcations[1] -- the clock comes before the peak: the switch stays closed for a period
    assert.same({ "sequence", "open close", "close open close open", "close open" },
      { border.kind, border.events, border.before, border.after })
    local function is_double(I)
      local i, u = settled(I)
      local j, v = map(I, i, u)
      return math.abs(map(I, j, v) - i) < 1e-9
    end
    near(bisect(2.36, 2.38, 10, is_double), border.p, 2e-5)
    assert.is_false(second.points[#second.points].stable)
    local last
    for _, point in ipairs(second.points) do
      if #point.orbit.events == 4 and point.stable and point.p > found.p then last = point end
    end
    local i, u = settled(last.p)
    local here, other = last.orbit.events[1].before, last.orbit.events[3].before
    local first = math.abs(here[1] - i) < math.abs(other[1] - i) and here or other
    near(i, first[1], 1e-8)
    near(u, first[2], 1e-7)
    near(2 * k.T, last.T, 1e-15)
  end)
end)

describe("the woodpecker toy #once", function()
  local toy = cycles.woodpecker

  -- How many impacts the lower edge has in the last four periods of a run, and the last state.
  local function low_impacts(e, x)
    local sol = toy(e, x):run()
    local knocks, count = {}, 0
    for _, event in ipairs(sol.events) do
      if event.kind == "impact" and event.name == "beak" then knocks[#knocks + 1] = event.t end
    end
    local from = knocks[#knocks - 4]
    for _, event in ipairs(sol.events) do
      if event.kind == "impact" and event.name == "low" and event.t > from and event.t < knocks[#knocks] then count = count + 1 end
    end
    return count / 4, sol.x:row(#sol.t)
  end

  it("changes its sequence of impacts at the restitutions at which long runs do #long", function()
    local branch = dynamics.continuation { simulation = toy, guess = { 0, -0.1034482, -0.2788, -0.3411, 0, -7.4583 },
      section = function(_, x) return x[3] + 0.1 end, period = 0.146, drift = { 1 }, range = { 0.46, 0.435 }, value = 0.46 }
    assert.equal(1, #branch.bifurcations)
    local found = branch.bifurcations[1]
    assert.same({ "sequence", "low:impact" }, { found.kind, found.events })
    local state
    local function settled(e, runs)
      local count
      for _ = 1, runs do
        count, state = low_impacts(e, state)
        state[1] = 0
      end
      return count
    end
    state = branch.points[#branch.points].x0
    assert.equal(1, settled(0.435, 1))
    state = found.x0
    assert.equal(2, settled(0.4425, 1))
    near(bisect(0.4421, 0.4425, 4, function(e) return settled(e, 1) < 1.5 end), found.p, 2e-5)
    -- The multipliers by differences of one return.
    local orbit = branch.points[1].orbit
    local function back(y)
      local simu = toy(0.46, { 0, y[1], -0.1, y[2], y[3], y[4] }, 0.25)
      simu:addEvent { name = "section", g = function(_, x) return x[3] + 0.1 end, direction = "up", terminal = 2 }
      local sol = simu:run()
      local last = sol.x:row(#sol.t)
      return ns.vector { last[2], last[4], last[5], last[6] }
    end
    local x = orbit.x0
    local M = by_differences(back, ns.vector { x[2], x[4], x[5], x[6] }, { 1e-3, 1e-2, 1e-1, 1 })
    local largest = ns.eigvals(M):max()
    near(orbit.multipliers[1].abs, math.max(largest, -ns.eigvals(M):min()), 1e-6)
  end)
end)

-- Garcia, Chatterjee, Ruina and Coleman, The simplest walking model, 1998: gaits of period one lose their stability at a slope of
-- 0.0151, those of period two at 0.0177.
describe("the simplest walker #once", function()
  it("doubles its period at the published slopes #long", function()
    local heel = { name = "heel", direction = 1, g = function(_, x) return x[3] - 2 * x[1] end, apply = function(_, x)
      if x[1] > -0.05 then return x end -- the swing leg passes the other
      local c = ns.cos(2 * x[1])
      return { -x[1], c * x[2], -2 * x[1], c * (1 - c) * x[2] }
    end }
    local one = dynamics.continuation { rhs = cycles.walker, args = { 0.009 }, events = heel, section = "heel", period = 3.9,
      range = { 0.009, 0.018 }, guess = { 0.2003, -0.1998, 0.4006, -0.0158 } }
    assert.equal(1, #one.bifurcations)
    assert.equal("period doubling", one.bifurcations[1].kind)
    near(0.0151, one.bifurcations[1].p, 5e-5)
    local two = one:switch()
    assert.equal(1, #two.bifurcations)
    assert.equal("period doubling", two.bifurcations[1].kind)
    near(0.0177, two.bifurcations[1].p, 5e-5)
    assert.is_true(two.points[1].stable)
    near(2 * one.bifurcations[1].T, two.points[1].T, 1e-2)
  end)
end)

-- Hogan, On the dynamics of rigid-block motion under harmonic forcing, 1989: x'' = x - sign x + A cos w t, and x' -> r x' where the
-- block changes its edge, x = 0. The sign is a state. A symmetric orbit with one impact in half a period is
-- 1 + a cosh t + b sinh t - A / (1 + w^2) cos(w t + f) on one side, and loses its symmetry in a pitchfork.
describe("a rocking block on a ground that shakes #once", function()
  local r, w = 0.9, 2

  local function block(A, more)
    local h, B = math.pi / w, A / (1 + w * w)
    local function cosh(t) return (math.exp(t) + math.exp(-t)) / 2 end
    local function sinh(t) return (math.exp(t) - math.exp(-t)) / 2 end
    local u = ns.fsolve(function(u)
      local f, a, b = u[1], u[2], u[3]
      return { 1 + a - B * math.cos(f), 1 + a * cosh(h) + b * sinh(h) + B * math.cos(f),
        b + B * w * math.sin(f) + r * (a * sinh(h) + b * cosh(h) - B * w * math.sin(f)) }
    end, { 1.445, -0.95, 0.58 })
    local f, a, b, t = u[1], u[2], u[3], h / 2
    more.guess = { 1 + a * cosh(t) + b * sinh(t) - B * math.cos(w * t + f),
      a * sinh(t) + b * cosh(t) + B * w * math.sin(w * t + f), 1 }
    more.t0, more.period, more.args, more.drift = t + f / w, 2 * math.pi / w, { A }, { 3 }
    more.rhs = function(t1, x, A1) return { x[2], x[1] - x[3] + A1 * ns.cos(w * t1), 0 } end
    more.events = { name = "edge", g = function(_, x) return x[1] end, apply = function(_, x) return { x[1], r * x[2], -x[3] } end }
    return more
  end

  it("has the orbits of the closed form, and the pitchfork where a multiplier is 1", function()
    local options = block(2, {})
    local orbit = dynamics.periodic(options)
    for i = 1, 2 do near(options.guess[i], orbit.x0[i], 1e-10) end
    local m = orbit.multipliers
    near(r ^ 4, m[1].abs * m[2].abs, 1e-10)
    options.range = { 2, 2.5 }
    local branch = dynamics.continuation(options)
    assert.equal(1, #branch.bifurcations)
    local found = branch.bifurcations[1]
    assert.equal("branch point", found.kind)
    near(2.1604982, found.p, 1e-7)
    near(1, found.multipliers[1].re, 1e-6)
    near(r ^ 4, found.multipliers[2].re, 1e-6)
    local one = branch:switch(1, { max_points = 4 })
    assert.is_true(one.points[4].p > found.p)
    assert.is_true(one.points[4].stable) -- where the symmetric orbit is not
    assert.is_false(branch.points[#branch.points].stable)
  end)
end)

-- Den Hartog 1931, Shaw 1986: x'' + x + F sign x' = cos w t moves without rest up to a friction of V / sqrt(U^2 + w^-4), with
-- V = 1 / (1 - w^2) and U = sin(pi / w) / (w (1 + cos(pi / w))); above it sticks twice in a period.
describe("a forced oscillator with dry friction #once", function()
  it("begins to stick at Den Hartog's friction", function()
    local w = 1.3
    local V, U = 1 / (w * w - 1), math.sin(math.pi / w) / (w * (1 + math.cos(math.pi / w)))
    local function oscillator(F)
      local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 } }, { { 0 } })
      mass:setComputeFExtFunction(function(t, _, force) force[1] = math.cos(w * t) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(mass)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -F, F), ns.LagrangianLinearTIR({ { 1 } }, { 0 }), "dry"), mass)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    end
    local branch = dynamics.continuation { simulation = oscillator, guess = { -0.1635, 0.7826 }, period = 2 * math.pi / w, t0 = 0.3,
      range = { 0.65, 0.72 }, step = 1 / 4, max_step = 1 / 2 }
    assert.equal(1, #branch.bifurcations)
    local found = branch.bifurcations[1]
    near(V / math.sqrt(U * U + w ^ -4), found.p, 1e-9)
    -- The orbit begins in the middle of a motion: its modes there are no events.
    assert.same({ "dry:cross dry:cross", "dry:slip dry:stick dry:slip dry:stick" }, { found.before, found.after })
    near(0.72, branch.p[#branch.p], 1e-12)
  end)
end)
