-- Calls of native code without the layers of a callback: the values, counts and errors of calls through them.
local ns = require "nslua"
local expect = require "expect"

-- x' = -x + r, y = x + offset, with compiled callbacks; z: parameters of the system.
local function simulate(h, g, z)
  local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
  if z then ds:setzPtr(z) end
  local relation = ns.FirstOrderNonLinearR { h = h, g = g }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(ns.RelayNSL(1, -1, 1), relation)
  nsds:link(inter, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.Relay()), ds, relation
end

local function run(simu) return simu:run { progress = false } end
local function plain_h(_, x, _, _, y) y[1] = x[1] - 0.3 end
local function plain_g(_, _, lambda, _, r) r[1] = lambda[1] end

describe("direct calls", function()
  it("have the values of plain callbacks, and count", function()
    local h, g = ns.compile(plain_h), ns.compile(plain_g)
    local want, got = run(simulate(plain_h, plain_g)), run(simulate(h, g))
    for k = 1, #want do assert.are.equal(want.x[k][1], got.x[k][1]) end
    local first = h:traces()[1].paths[1].count
    run(simulate(h, g))
    assert.are.equal(2 * first, h:traces()[1].paths[1].count)
  end)

  it("pass the parameters of the moment", function()
    local z = ns.vector { 0 }
    local h = ns.compile(function(_, x, _, p, y) y[1] = x[1] - p[1] end)
    local simu, ds = simulate(h, ns.compile(plain_g), z)
    for _ = 1, 4 do simu:computeOneStep() simu:nextStep() end
    local before = ds:x()[1]
    z[1] = 100
    simu:computeOneStep()
    assert.is_true(ds:x()[1] > before) -- lambda is now at the other bound
  end)

  it("give way to a callback that replaces the compiled one between two steps", function()
    local simu, ds, relation = simulate(ns.compile(plain_h), ns.compile(plain_g))
    for _ = 1, 2 do simu:computeOneStep() simu:nextStep() end
    local calls = 0
    relation:setComputegFunction(function(_, _, lambda, _, r) calls = calls + 1 r[1] = -2 * lambda[1] end)
    simu:computeOneStep()
    assert.is_true(calls > 0 and ds:x()[1] < 1)
  end)

  it("leave errors to the callback", function()
    local sqrt = math.sqrt
    local h = ns.compile(function(_, x, _, _, y) y[1] = 1 + sqrt(x[1] - 0.5) end)
    expect.fails("computeh: t=0.4 step 4 newton 7: y[1] is nan", run, (simulate(h, ns.compile(plain_g))))
    local slope = ns.compile(function(_, x, _, _, y) y[1] = sqrt(x[1] - 0.5) end)
    expect.fails("computeh: t=0.4 step 4 newton 2: y[1]: the derivative by x[1] is inf", run,
      (simulate(slope, ns.compile(plain_g))))
  end)
end)
