local ns = require "nslua"
local dynamics = ns.dynamics

local TURN = 2 * math.pi

-- A linear oscillator x'' + 0.2 x' + 2 x = A cos t: its orbit is proportional to A.
local function forced(t, x, A) return { x[2], A * math.cos(t) - 0.2 * x[2] - 2 * x[1] } end

-- A third-order plant under a relay with hysteresis p: the relay's output is a state that jumps.
local function relay(p, o)
  local function switch(name, sign)
    return { name = name, direction = sign, g = function(_, x, d) return x[1] - sign * d end,
      apply = function(_, x) return { x[1], x[2], x[3], -sign } end }
  end
  o.rhs = function(_, x) return { x[2] - x[1], x[3] - x[2], x[4] - x[3], 0 } end
  o.events, o.args = { switch("up", 1), switch("down", -1) }, { p }
  return o
end

-- A block on a belt whose friction falls with the velocity; the belt's velocity is z of the block and of the relation.
local function belt(V)
  local block = ns.LagrangianDS({ 1.2 }, { V }, { { 1 } })
  block:setComputeFIntFunction(function(_, q, v, _, F)
    local slip = v[1] - V
    F[1] = q[1] - 1.5 * slip + 0.45 * slip ^ 3
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 40)
  nsds:insertDynamicalSystem(block)
  local friction = ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - V * t end }
  nsds:link(ns.Interaction(ns.RelayNSL(1), friction, "belt"), block)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
end

describe("the slope of an orbit by the parameter #once", function()
  it("is the orbit itself where it is proportional to the parameter, in any unit", function()
    for _, A in ipairs { 1, 2.0 ^ 40, 2.0 ^ -40 } do
      local orbit = dynamics.periodic { rhs = forced, args = { A }, guess = { A, 0 }, period = TURN }
      local slope = orbit:slope()
      for i = 1, 2 do assert.near(orbit.x0[i] / A, slope.x0[i], 1e-10) end
      assert.equal(0, slope.T)
      assert.equal("exact", slope.derivative)
    end
    local still = dynamics.periodic { rhs = forced, args = { 0 }, guess = { 0, 0 }, period = TURN, scale = { 1, 1 } }
    assert.near(1 / 1.04, still:slope().x0[1], 1e-10)
  end)

  it("has the slope of the period where that is given as a function", function()
    local orbit = dynamics.periodic { rhs = function(t, x, w) return { x[2], math.cos(w * t) - 0.2 * x[2] - 2 * x[1] } end,
      args = { 1.5 }, guess = { 1, 0 }, period = function(w) return TURN / w end, segments = 2 }
    assert.near(-TURN / 1.5 ^ 2, orbit:slope().T, 1e-9)
  end)

  it("of an autonomous orbit and of a map agrees with differences of orbits", function()
    local d, h = 0.1, 1e-4
    local function by_event(p)
      return dynamics.periodic(relay(p, { guess = { 0.1, 0.46, 0.83, -1 }, section = "up" }))
    end
    local slope, up, down = by_event(d):slope(), by_event(d + h), by_event(d - h)
    assert.near((up.T - down.T) / (2 * h), slope.T, 1e-5)
    for i = 1, 4 do assert.near((up.x0[i] - down.x0[i]) / (2 * h), slope.x0[i], 1e-5) end

    local plane = dynamics.periodic(relay(d, { guess = { 0, 0.4, 0.8, 1 }, autonomous = true, period = 4.8 }))
    assert.near(slope.T, plane:slope().T, 1e-7)
  end)

  it("is there for simulations, also by an element of a parameter vector", function()
    local orbit = dynamics.periodic { simulation = belt, value = 0.5, guess = { 1.2, 0.5 }, autonomous = true, period = 8.4 }
    assert.near(-8.2396854957, orbit:slope().T, 1e-6)
    assert.equal("differences", orbit:slope().derivative)

    local mass = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 2 } }, { { 0.2 } })
    mass:setzPtr { 1 }
    mass:setComputeFExtFunction(function(t, z, F) F[1] = z[1] * math.cos(t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 10)
    nsds:insertDynamicalSystem(mass)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    local options = { simulation = simu, parameter = { mass, "z", 1 }, guess = { 1, 0 }, period = TURN }
    local first, second = dynamics.periodic(options), dynamics.periodic(options) -- the same simulation twice
    assert.same(first.x0:totable(), second.x0:totable())
    for i = 1, 2 do assert.near(first.x0[i], first:slope().x0[i], 1e-8) end
    options.parameter = { mass, "z" }
    assert.near(first.x0[1], dynamics.periodic(options).x0[1], 0)
    options.parameter = { mass, "colour" }
    assert.has_error(function() dynamics.periodic(options) end,
      "dynamics.periodic: parameter: the object has no number 'colour' that can be set")
    options.parameter = "z"
    assert.has_error(function() dynamics.periodic(options) end,
      "dynamics.periodic: parameter: expected { object, field }, got 'z'")
  end)

  it("tells what is missing", function()
    local orbit = dynamics.periodic { rhs = function(t, x) return forced(t, x, 1) end, guess = { 1, 0 }, period = TURN }
    assert.has_error(function() orbit:slope() end,
      "orbit:slope: the orbit has no parameter: args =, value = or parameter = of the model gives it one")
    local other = dynamics.periodic { rhs = forced, args = { 1 }, guess = { 1, 0 }, period = TURN }
    assert.has_error(function() other:slope { size = 0 } end, "orbit:slope: size: expected a number above 0, got 0")
  end)
end)
