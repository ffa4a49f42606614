-- Derivatives of actions of clocks by dual numbers: what they reach by every way, and what remains for differences.
local ns = require "nslua"
local expect = require "expect"

-- x' = -x + z1 (held), an action at t = 0, 1/2, 1; p: x0, z2. way(ds, simu, calls, other): an action that sets z1 to
-- z2 sin x - other.k x^2 and other.k to other.k + x / 10, where `other` are discrete states of a clock that comes first.
local function loop(p, way, calls)
  local ds = ns.FirstOrderNonLinearDS { x0 = { p[1] }, z = ns.vector { 0, p[2] }, f = function(_, x, z, f) f[1] = -x[1] + z[1] end }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.25)
  nsds:insertDynamicalSystem(ds)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI(1e-12))
  local other = simu:every { name = "first", period = 10, state = { k = 0.3, v = { 0.1, 0.2 } }, act = type }
  local act = way(ds, simu, other)
  simu:every { name = "c", period = 0.5, state = { n = 0 }, act = function(t, s, s_)
    calls[#calls + 1] = t
    act(t, s, s_)
  end }
  return simu
end

local sin = math.sin
local ways = {
  methods = function(ds, _, other)
    return function()
      ds:z()[1] = ds:z()[2] * sin(ds:x()[1]) - other.k * ds:x()[1] ^ 2
      other.k = other.k + ds:x()[1] / 10
    end
  end,
  views = function(ds, _, other)
    local x, z, held = ds:x(), ds:z():slice(1, 2), { states = other }
    return function()
      z[1] = z[2] * math.sin(x[1]) - held.states.k * x:dot(x)
      held.states.k = held.states.k + x:norm() / 10
    end
  end,
  arguments = function()
    return function(_, _, simu)
      local ds, s = simu:nsds():dynamicalSystem(1), simu:discrete "first"
      local z = ds:z():copy()
      z[1] = z[2] * ns.sin(ds:x())[1] - s.k * ds:x()[1] * ds:x()[1]
      ds:z():assign(z)
      s.v:assign { ds:x()[1], 2 }
      s.k = s.k + s.v[1] / 10
    end
  end,
  branches = function(ds, _, other)
    return function()
      local x = ds:x()[1]
      if x > 0 then ds:z()[1] = ds:z()[2] * sin(x) - other.k * x ^ 2 else ds:z()[1] = 7 * x end
      other.k = other.k + math.max(x, -1) / 10
    end
  end }

local hidden_ways = { -- ways that stand-ins do not know: calls, and what is not reached from the action
  converted = function(ds, _, other)
    return function()
      local x = ns.vector { ds:x()[1] }
      ds:z()[1] = ds:z()[2] * sin(x[1]) - other.k * x[1] ^ 2
      other.k = other.k + x[1] / 10
    end
  end,
  hidden = function(ds, _, other)
    local hidden = ds
    local read = coroutine.wrap(function() while true do coroutine.yield(hidden:x()[1]) end end)
    return function()
      local x = read()
      ds:z()[1] = ds:z()[2] * sin(x) - other.k * x ^ 2
      other.k = other.k + x / 10
    end
  end }

describe("the derivative of an action", function()
  -- x, z1 and k by the equations, and their derivatives by x0 and z2.
  local function want(p)
    local x, dx, k, dk, e = p[1], { 1, 0 }, 0.3, { 0, 0 }, math.exp(-0.5)
    for i = 1, 3 do
      local z, h = p[2] * sin(x) - k * x ^ 2, i < 3 and 1 - e or 1 - math.exp(-0.25)
      for j = 1, 2 do
        local dz = p[2] * math.cos(x) * dx[j] + (j == 2 and sin(x) or 0) - dk[j] * x ^ 2 - 2 * k * x * dx[j]
        dk[j] = dk[j] + dx[j] / 10
        dx[j] = (1 - h) * dx[j] + h * dz
      end
      k = k + x / 10
      x = (1 - h) * x + h * z
    end
    return dx
  end
  local p = { 0.8, 1.7 }

  local function slopes(way)
    local calls = {}
    local simu = loop(p, way, calls)
    local sol = simu:run { sensitivities = { "x0", { simu:nsds():dynamicalSystem(1), "z", 2 } } }
    return sol.S[#sol], #calls
  end

  it("is by dual numbers, whatever the way to the numbers #once", function()
    for name, way in pairs(ways) do
      local S, calls = slopes(way)
      expect.near(want(p), S[1], 1e-12)
      assert.equal(3 + 3 * 4, calls, name) -- the run of the clone; the action, its values twice and its derivatives
    end
  end)

  it("is by differences where there are none by dual numbers #once", function()
    for name, way in pairs(hidden_ways) do
      local S, calls = slopes(way)
      expect.near(want(p), S[1], 1e-8)
      assert.is_true(calls > 60, name)
    end
  end)
end)
