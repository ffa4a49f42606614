-- The rows of docs/porting.md from COCO and BifurcationKit: each call of their right-hand side runs and gives what the row says.
local expect = require "expect"
local ns = require "nslua"
local near = expect.near_number

describe("rows from COCO and BifurcationKit #once", function()
  local function vdp(_, x, mu) return { x[2], mu * (1 - x[1] ^ 2) * x[2] - x[1] } end

  it("on an orbit", function()
    local orbit = ns.dynamics.periodic { rhs = vdp, args = { 1 }, guess = { 2, 0 }, period = 6.6, autonomous = true, segments = 3 }
    near(6.663286859323, orbit.T, 1e-9)
    near(1, orbit.trivial.re, 1e-7)
    assert.equal(1, #orbit.multipliers)
    assert.is_true(#orbit:course() > 10)
  end)

  it("on events with resets", function()
    local wall = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
      apply = function(_, x) return { x[1], -0.8 * x[2] } end }
    local orbit = ns.dynamics.periodic { guess = { 0.9, 1.6 }, period = 2 * math.pi, events = { wall }, args = { 1 },
      rhs = function(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.1 * x[2] } end }
    assert.equal("wall", orbit.sequence)
  end)

  it("on a branch", function()
    local function duffing(t, x, A) return { x[2], x[1] - x[1] ^ 3 - 0.25 * x[2] + A * math.cos(t) } end
    local branch = ns.dynamics.continuation { rhs = ns.compile(duffing), args = { 0.1 }, range = { 0.1, 0.3 }, guess = { 1, 0 },
      period = 2 * math.pi, step = 1 / 32, max_step = 1 / 8, max_points = 60 }
    local place
    for k, one in ipairs(branch.bifurcations) do
      if one.kind == "period doubling" then place = k end
    end
    assert.truthy(place)
    local second = branch:switch(place, { max_points = 2 })
    near(4 * math.pi, second.points[1].orbit.T, 1e-12)
    near(second.points[1].orbit.T, branch:switch(nil, { max_points = 2 }).T[1], 1e-12)
    assert.is_true(#branch.points[1].orbit:course() > 10)
    assert.truthy(branch:plot())
    assert.truthy(branch.points[1].orbit:plot())
  end)

  it("on a second parameter", function()
    local branch = ns.dynamics.continuation { rhs = function(t, x, A, c) return { x[2], A * math.cos(t) - x[1] - c * x[2] } end,
      args = { 1, 0.5 }, parameter = 2, range = { 0.5, 1 }, guess = { 0, 2 }, period = 2 * math.pi, max_points = 3 }
    near(1 / branch.p[3], branch.x[3][2], 1e-8)
  end)

  it("on equilibria", function()
    local plant = ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 1 }, { 0, -1 } }, { 0.3, 0.2 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(plant)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.5))
    local e = ns.dynamics.equilibrium { simulation = simu, guess = { 0, 0 } }
    near(0.5, e.x[1], 1e-12)
    local l = ns.dynamics.linearise { simulation = simu, at = e, inputs = { { plant, "b", 2 } }, outputs = { 1 } }
    near(1, l.C[1][1], 0)
    near(1, l.B[2][1], 1e-12)
  end)
end)
