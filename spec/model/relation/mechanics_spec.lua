-- Relations of mechanics with a callback h: its arguments, and the callbacks beside it.
local ns = require "nslua"
local message = require "bind.models".message

-- A unit mass at q = 2 with the velocity v, held by y = 0 for one step of h = 1: q, the velocity and the multiplier.
local function hold(relation, v, law)
  local ds = ns.LagrangianDS { q0 = { 2 }, v0 = { v }, mass = { { 1 } } }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(law or ns.EqualityConditionNSL(1), relation)
  nsds:link(inter, ds)
  ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.MoreauJeanOSI(1), ns.MLCP()):run()
  return ds:q()[1], ds:velocity()[1], inter:lambda()[1]
end

describe("relations of mechanics with a callback h", function()
  it("LagrangianScleronomousR: y = h(q, z)", function()
    local _, v, p = hold(ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] - 2 end }, 3)
    assert.equal(0, v)
    assert.equal(-3, p)
  end)

  it("LagrangianRheonomousR: y = h(t, q, z), with hDot given or not", function()
    for _, hDot in ipairs { false, function(_, _, _, rate) rate[1] = -1 end } do
      local _, v = hold(ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - 2 - t end, hDot = hDot or nil }, 0)
      assert.is_true(math.abs(v - 1) < 1e-12)
    end
  end)

  it("LagrangianCompliantR: y = h(q, lambda, z), between positions and forces", function()
    local q, _, force = hold(ns.LagrangianCompliantR { h = function(q, lambda, _, y) y[1] = q[1] + lambda[1] end }, 0,
      ns.ComplementarityConditionNSL(1))
    assert.equal(2, q)
    assert.equal(0, force)
  end)

  it("have the callbacks of their class", function()
    local has = {
      LagrangianScleronomousR = { h = true, Jachq = true, DotJachq = true },
      LagrangianRheonomousR = { h = true, Jachq = true, DotJachq = true, hDot = true },
      NewtonEulerR = { h = true, Jachq = true, DotJachq = true, hDot = true },
      LagrangianCompliantR = { h = true, Jachq = true, Jachlambda = true },
    }
    for name, callbacks in pairs(has) do
      for _, callback in ipairs { "h", "g", "Jachq", "DotJachq", "hDot", "Jachlambda" } do
        local relation, who = ns[name](), ("setCompute%sFunction"):format(callback)
        if callbacks[callback] then relation[who](relation, function() end)
        else
          assert.matches(("%s: it has no method '%s'"):format(name, who), message(function() return relation[who] end), 1, true)
        end
      end
    end
  end)
end)
