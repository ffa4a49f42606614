-- ns.dynamics.continuation: the digits of a grazing, of a linear oscillator against its closed form, of a nonlinear one against
-- an extended computation.
local expect = require "expect"
local ns = require "nslua"
local near = expect.near_number

-- x'' + 0.1 x' + x + k x^3 = A cos(w t) with a wall at x = 1, as equations with an event and as a simulation.
local function oscillator(k, w, e)
  local T = 2 * math.pi / w
  local function simulation(A)
    local mass = ns.LagrangianDS({ 0 }, { 0 }, { { 1 } })
    mass:setComputeFIntFunction(function(_, q, v, _, f) f[1] = q[1] + 0.1 * v[1] + k * q[1] ^ 3 end)
    mass:setComputeFExtFunction(function(t, _, f) f[1] = A * math.cos(w * t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 3 * T)
    nsds:insertDynamicalSystem(mass)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ { -1 } }, { 1 }), "wall"), mass)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 4), ns.RungeKuttaOSI(1e-12, 1e-14))
  end
  return {
    ode = { period = T, rhs = function(t, x, A) return { x[2], A * math.cos(w * t) - x[1] - 0.1 * x[2] - k * x[1] ^ 3 } end,
      events = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
        apply = function(_, x) return { x[1], -e * x[2] } end } },
    simulation = { period = T, simulation = simulation },
  }
end

-- The grazing of the branch over the range of A.
local function grazing(model, guess, from, to)
  local options = { guess = guess, value = from, range = { from, to }, max_points = 40 }
  for name, value in pairs(model) do options[name] = value end
  local branch = ns.dynamics.continuation(options)
  for _, found in ipairs(branch.bifurcations) do
    if found.kind == "grazing" then return found.p, branch end
  end
end

describe("the parameter of a grazing #once", function()
  -- The amplitude of the motion without impacts is A / sqrt((1 - w^2)^2 + (0.1 w)^2).
  it("is that of the closed form", function()
    for _, w in ipairs { 0.7, 1.2, 1.9 } do
      local A = math.sqrt((1 - w * w) ^ 2 + (0.1 * w) ^ 2)
      local start = { 0.8 * (1 - w * w) / A, 0.08 * w * w / A } -- at 0.8 A
      near(A, grazing(oscillator(0, w, 0.8).ode, start, 0.8 * A, 1.3 * A), 2e-12 * A)
    end
  end)

  -- 1.34068456433453484795: by Newton's method on x(T) = 1, x'(T) = 0 from (1, 0), with Taylor series of order 40 and numbers
  -- of 50 digits.
  local exact = 1.34068456433453484795
  local model = oscillator(0.3, 1.6, 0.8)

  -- The grazing seen from the motions without impacts, and an orbit with impacts, some way from it.
  local function from_below()
    local p, branch = grazing(model.ode, { -0.5, 0 }, 1, 1.5)
    for _, point in ipairs(branch.points) do
      if point.sequence ~= "" and math.abs(point.p - exact) > 0.005 then return p, point end
    end
  end

  it("is that of an extended computation, from both sides", function()
    local p, beyond = from_below()
    near(exact, p, 3e-13)
    near(exact, (grazing(model.ode, beyond.x0, beyond.p, 1.35)), 3e-13)
  end)

  it("is that of an extended computation, for a simulation #long", function()
    local _, beyond = from_below()
    near(exact, (grazing(model.simulation, beyond.x0, beyond.p, 1.35)), 3e-13)
  end)
end)
