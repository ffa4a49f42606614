-- Textbook problems with closed forms, Lyapunov exponents by two ways, and pictures of the results.
local cycles = require "cycles"
local near = require "expect".near_number
local ns = require "nslua"
local dynamics = ns.dynamics

local TURN = 2 * math.pi

-- A ball on a table that moves as a sine of the acceleration G g; z is the height above the table. u: units of length,
-- c: units of time.
local e, w, g = 0.8, 20 * math.pi, 9.81

local function ball(G, u, c)
  u, c = u or 1, c or 1
  local hit = { name = "hit", direction = -1, g = function(_, x) return x[1] end,
    apply = function(_, x) return { x[1], -e * x[2] } end }
  local a = g * u / c ^ 2
  return { rhs = function(t, x) return { x[2], a * (G * math.sin(w / c * t) - 1) } end, events = hit,
    guess = { 0.01 * u, 0.4 * u / c }, time = 100 * TURN / w * c, window = TURN / w * c }
end

local function ball_simulation(G)
  local ds = ns.LagrangianLinearTIDS({ 0.01 }, { 0.4 }, { { 1 } })
  ds:setComputeFExtFunction(function(t, _, f) f[1] = g * (G * math.sin(w * t) - 1) end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { { 1 } }, "table"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.02), ns.RungeKuttaOSI())
end

describe("Lyapunov exponents #once", function()
  it("of the impact oscillator's orbit are those of its multipliers, for a simulation and an ODE", function()
    local wall = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
      apply = function(_, x) return { x[1], -0.8 * x[2] } end }
    for _, result in ipairs {
      dynamics.lyapunov { simulation = cycles.impact_oscillator, value = 1, guess = { 0.9, 1.6 }, time = 40 * TURN, window = TURN,
        transient = 150 },
      dynamics.lyapunov { rhs = function(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.1 * x[2] } end, args = { 1 },
        events = wall, guess = { 0.9, 1.6 }, time = 40 * TURN, window = TURN, transient = 150 },
    } do
      near(math.log(0.8 ^ 2 * math.exp(-0.1 * TURN)) / TURN, result.exponents:sum(), 1e-9)
      near(math.log(math.sqrt(0.341432378)) / TURN, result.exponents[1], 1e-3)
    end
  end)

  it("of a ball in chaos agree with neighbouring motions; each hit takes 2 log e of their sum", function()
    for _, G in ipairs { 3, 5 } do
      local options = ball(G)
      local result = dynamics.lyapunov(options)
      local hits = result.exponents:sum() * options.time / (2 * math.log(e))
      near(math.floor(hits + 0.5), hits, 1e-6)
      assert.is_true(result.exponents[1] > 3)
      -- Benettin's way with a neighbour, brought back to the distance d in each window; both motions are followed as long as
      -- rounding does not part them. A height counts 10 times in the norm: then it is as large as a velocity.
      options.time = 40 * options.window
      result = dynamics.lyapunov(options)
      local function run(x, t)
        local sol = ns.solve_ivp(options.rhs, { t, t + options.window }, x,
          { method = "DOP853", rtol = 1e-12, atol = { 1e-14, 1e-12 }, events = options.events })
        return sol.y:column(#sol.t)
      end
      local x, d, sum = ns.vector(options.guess), 1e-7, 0
      local offset = ns.vector { d / 10, 0 }
      for k = 0, 39 do
        local t = k * options.window
        local y = run(x + offset, t)
        x = run(x, t)
        local away = y - x
        local far = math.sqrt((10 * away[1]) ^ 2 + away[2] ^ 2)
        sum = sum + math.log(far / d)
        offset = away * (d / far)
      end
      near(sum / options.time, result.exponents[1], 0.08 * result.exponents[1])
    end
    local result = dynamics.lyapunov { simulation = ball_simulation, value = 3, guess = { 0.01, 0.4 }, time = 60 * TURN / w,
      window = TURN / w }
    local hits = result.exponents:sum() * 60 * TURN / w / (2 * math.log(e))
    near(math.floor(hits + 0.5), hits, 1e-5)
  end)

  it("are the same in other units, to the last bit", function()
    local u, c = 2 ^ -20, 2 ^ 12
    local a, b = dynamics.lyapunov(ball(3)), dynamics.lyapunov(ball(3, u, c))
    for i = 1, 2 do assert.equal(a.exponents[i] / c, b.exponents[i]) end
  end)

  it("are 0 and -inf for a cycle that sticks", function()
    local result = dynamics.lyapunov { simulation = cycles.belt, value = 0.5, guess = { 1, 0.2 }, time = 60, window = 3,
      transient = 30 }
    near(0, result.exponents[1], 0.02)
    assert.equal(-math.huge, result.exponents[2])
    assert.equal(0, result.spread[2])
  end)
end)

describe("a relay that drives 1 / (s + 1)^3 #once", function()
  it("has the limit cycle of Tsypkin's condition, and multipliers also where the section is the surface of the relay", function()
    local A, B = ns.matrix { { -1, 1, 0 }, { 0, -1, 1 }, { 0, 0, -1 } }, ns.vector { 0, 0, 1 }
    local function make()
      local ds = ns.FirstOrderLinearTIDS({ 0.1, 0.2, 0 }, A)
      local nsds = ns.NonSmoothDynamicalSystem(0, 60)
      nsds:insertDynamicalSystem(ds)
      local relation = ns.FirstOrderLinearTIR({ { 1, 0, 0 } }, { { 0 }, { 0 }, { 1 } })
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation, "relay"), ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    end
    -- The state at a switch after half a period h is minus that before: (exp(A h) + 1) x = -A^-1 (exp(A h) - 1) B u.
    local function switched(h)
      local E = ns.expm(A * h)
      return ns.solve(E + ns.eye(3), ns.solve(A, (E - ns.eye(3)) * B))
    end
    local low, high = 1, 3
    for _ = 1, 80 do
      local h = (low + high) / 2
      if switched(h)[1] * switched(low)[1] > 0 then low = h else high = h end
    end
    -- The derivative of half a turn: exp(A h), then the field's jump along the velocity v at the switch.
    local x, E = switched(low), ns.expm(A * low)
    local v = A * x + B
    local half = (ns.eye(3) - v:outer(ns.vector { 1 / v[1], 0, 0 })) * E
    local re = ns.eigvals(half * half)
    local largest = 0
    for i = 1, 3 do largest = math.max(largest, math.abs(re[i])) end
    for _, options in ipairs { { section = function(_, y) return y[1] end }, { section = function(_, y) return y[2] end },
      { autonomous = true, period = 3.6 } } do
      options.simulation, options.guess, options.transient = make, { 0.1, 0.2, 0 }, 20
      local orbit = dynamics.periodic(options)
      near(2 * low, orbit.T, 1e-10)
      near(largest, orbit.multipliers[1].abs, 1e-7)
      assert.equal("exact", orbit.derivative)
    end
  end)
end)

describe("a ball that bounces once in each period of a table #once", function()
  it("ends in a fold and in a period doubling at the amplitudes of the closed forms", function()
    local r = 0.5
    local T = TURN / w
    local hit = { name = "hit", direction = -1, g = function(t, x, G) return x[1] - G * g / w ^ 2 * math.sin(w * t) end,
      apply = function(t, x, G)
        local u = G * g / w * math.cos(w * t)
        return { x[1], u - r * (x[2] - u) }
      end }
    local fold = math.pi * (1 - r) / (1 + r)
    local doubling = math.sqrt(fold ^ 2 + (2 * (1 + r * r) / (1 + r) ^ 2) ^ 2)
    local G = (fold + doubling) / 2
    local t = math.acos(fold / G) / w -- of the hit, with the velocity -g T / 2 before it
    local v = g * t - g * T / 2
    local guess = { G * g / w ^ 2 * math.sin(w * t) - v * t + g * t * t / 2, v }
    for _, case in ipairs { { "period doubling", doubling, 1.02 * doubling }, { "fold", fold, 0.98 * fold } } do
      local branch = dynamics.continuation { rhs = function(_, x) return { x[2], -g } end, events = hit, args = { G },
        guess = guess, period = T, range = { G, case[3] } }
      assert.equal(case[1], branch.bifurcations[1].kind)
      near(case[2], branch.bifurcations[1].p, 1e-11)
    end
  end)
end)

describe("a rocking block #once", function()
  it("hits the ground after Housner's time, and loses velocity by its coefficient", function()
    local p, alpha, r, start = 2, 0.3, 0.9, 0.2
    local hit = { name = "hit", g = function(_, x) return x[1] end, apply = function(_, x) return { x[1], r * x[2] } end }
    local points = dynamics.poincare { events = hit, section = "hit", count = 3, guess = { start, 0 }, rhs = function(_, x)
      local side = x[1] > 0 and 1 or x[1] < 0 and -1 or x[2] > 0 and 1 or -1
      return { x[2], p * p * (x[1] - side * alpha) }
    end }
    local ratio = 1 / (1 - start / alpha)
    near(math.log(ratio + math.sqrt(ratio ^ 2 - 1)) / p, points.t[1], 1e-10)
    near(r, -points.x[2][2] / points.x[1][2], 1e-10)
    local S, dt = points:derivative(points.x:row(2))
    near(-r, S[2][2], 1e-8)
    -- From the velocity v the time to the next hit is 2 atanh(v / (p alpha)) / p.
    local u = points.x[2][2] / (p * alpha)
    near((u > 0 and 2 or -2) / (p * p * alpha * (1 - u * u)), dt[2], 1e-7)
  end)
end)

describe("equilibria on a surface of sliding #once", function()
  it("divide in a pitchfork", function()
    for _, a in ipairs { -0.5, 0.5 } do
      local ds = ns.FirstOrderNonLinearDS({ 0.1, 0.2 }, function(_, x, _, f)
        f[1], f[2] = a * x[1] - x[1] ^ 3 + x[2], 0.1 * x[1]
      end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 } }), "slide"), ds)
      local list = dynamics.equilibrium { nsds = nsds, all = true, guess = { { 0.1, 0.2 }, { 1, 0 }, { -1, 0.1 }, { 0.01, 0 } } }
      assert.equal(a > 0 and 3 or 1, #list)
      for _, point in ipairs(list) do
        local rate = a - 3 * point.x[1] ^ 2
        near(rate, dynamics.linearise({ nsds = nsds, at = point }).eigenvalues[1].re, 1e-12)
      end
    end
  end)
end)

describe("pictures of results #once", function()
  it("show the section of an orbit, both ways of a diagram, and labels of one's own", function()
    local function vdp(_, x) return { x[2], (1 - x[1] ^ 2) * x[2] - x[1] } end
    local orbit = dynamics.periodic { rhs = vdp, guess = { 2, 0 }, section = function(_, x) return x[2] - 0.3 * x[1] end }
    assert.truthy(orbit:plot { xlabel = "angle", ylabel = "rate" }:commands():find("angle", 1, true))
    local d = dynamics.diagram { rhs = vdp, guess = { 2, 0 }, section = function(_, x) return x[2] end, values = { 1, 2 },
      transient = 2, keep = 1, both = true }
    local text = d:plot { xlabel = "frequency" }:commands()
    for _, word in ipairs { "forth", "back", "frequency" } do assert.truthy(text:find(word, 1, true)) end
    local good, message = pcall(d.plot, d, { label = "a" })
    assert.is_false(good)
    assert.truthy(tostring(message):find(
      "plot: unknown option 'label' of a diagram (known: states, state, xlabel, ylabel, figsize, dpi, title)", 1, true))
  end)
end)
