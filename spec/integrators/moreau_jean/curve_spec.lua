-- Second derivatives of relations in the linearisation of a step: convergence, what they are of, when they are taken.
local ns = require "nslua"
local moving = require "moving"
local simulate = moving.simulate

describe("Newton's method under curved constraints", function()
  -- A point on a circle, whose radius may change; constant mass or one that varies.
  local function circle(h, varies, moves)
    local ds = ns.LagrangianDS {
      q0 = { 1, 0 }, v0 = { 0, -1.5 },
      mass = varies and function(q, _, M)
        M[1][1], M[1][2], M[2][1], M[2][2] = 1 + q[1] ^ 2, 0.3 * q[1] * q[2], 0.3 * q[1] * q[2], 1 + q[2] ^ 2 / 2
      end or nil,
    }
    ds:setFExtPtr { 0, -9.81 }
    local relation
    if moves then
      relation = ns.LagrangianRheonomousR {
        h = function(t, q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - (1 + 0.1 * math.sin(t * q[1])) ^ 2 end,
      }
    else
      relation = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }
    end
    return simulate { systems = { ds }, links = { { ns.Interaction(ns.EqualityConditionNSL(1), relation), ds } }, T = 1, h = h }
  end

  for _, varies in ipairs { false, true } do
    for _, moves in ipairs { false, true } do
      local kind = (moves and "moving" or "fixed") .. (varies and " circle with a mass that varies" or " circle")
      it("converges quadratically on a " .. kind, function()
        local r = moving.residuals(function() return circle(0.2, varies, moves) end, 5)
        assert.is_true(r[2] < 0.1 and r[2] > 1e-3, "r2 " .. r[2])
        for k = 3, 4 do
          assert.is_true(r[k] < r[k - 1] ^ 2 and r[k] > 1e-12, ("r%d %g after %g"):format(k, r[k], r[k - 1]))
        end
        assert.is_true(r[5] < 1e-14, "r5 " .. r[5])
      end)
    end
  end

  it("ends at the solution that the plain iteration has", function()
    local simu = circle(0.05, true, true)
    simu:computeOneStep()
    local ds = simu:nsds():dynamicalSystem(1)
    local q, v = ds:q(), ds:velocity()
    local radius = 1 + 0.1 * math.sin(0.05 * q[1])
    local slope = 0.2 * radius * math.cos(0.05 * q[1]) -- of radius^2 by the phase
    -- u = H v + dh/dt = 0 with H = 2 q - slope (t, 0)
    assert.near(0, 2 * q:dot(v) - slope * (0.05 * v[1] + q[1]), 1e-9)
  end)

  -- The curvature between two systems is left out: their masses are factored one by one.
  it("converges by a factor of h^2 where a constraint joins two systems", function()
    local function factor(h)
      local r = moving.residuals(function()
        local a, b = ns.LagrangianDS({ 0, 0 }, { 1, 0 }, ns.eye(2)), ns.LagrangianDS({ 1, 0 }, { 0, 4 }, 2 * ns.eye(2))
        b:setFExtPtr { 0, -9.81 }
        local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
          h = function(q, _, y) y[1] = (q[3] - q[1]) ^ 2 + (q[4] - q[2]) ^ 2 - 1 end })
        return simulate { systems = { a, b }, links = { { rod, a, b } }, T = 1, h = h }
      end, 4)
      return math.sqrt(r[4] / r[2])
    end
    local coarse, fine = factor(0.1), factor(0.05)
    assert.is_true(coarse < 0.01, "factor " .. coarse)
    assert.is_true(coarse / fine > 3, ("factors %g, %g"):format(coarse, fine))
  end)

  it("takes them by 12 coordinates at most, and comes to the same without them", function()
    local function swing(n)
      local q0, duals = ns.zeros(n), 0
      q0[1] = 1
      local ds = ns.LagrangianDS(q0, ns.zeros(n), ns.eye(n))
      ds:setFExtPtr(-9.81 * ns.eye(n):column(2))
      local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
        h = function(q, _, y)
          if type(q[1]) == "userdata" then duals = duals + 1 end
          y[1] = q[1] ^ 2 + q[2] ^ 2 - 1
        end,
        Jachq = function(q, _, C) C[1][1], C[1][2] = 2 * q[1], 2 * q[2] end,
      })
      local simu = simulate { systems = { ds }, links = { { rod, ds } }, T = 1, h = 0.1 }
      simu:setNewtonTolerance(1e-13)
      simu:run()
      return ds:q(), simu:stats().newton_iterations, duals
    end
    local few, quick, some = swing(12)
    local many, slow, none = swing(13)
    for i = 1, 12 do assert.near(few[i], many[i], 1e-11) end
    assert.is_true(some > 0 and none == 0 and quick < slow, ("%d %d, %d %d"):format(some, none, quick, slow))
  end)

  it("takes second derivatives where it is slow alone", function()
    local function jets(h)
      local ds, count = ns.LagrangianDS({ 1, 0 }, { 0, -1.5 }, ns.eye(2)), 0
      ds:setFExtPtr { 0, -9.81 }
      local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
        h = function(q, _, y)
          if type(q[1]) == "userdata" then count = count + 1 end
          y[1] = q[1] ^ 2 + q[2] ^ 2 - 1
        end,
        Jachq = function(q, _, C) C[1][1], C[1][2] = 2 * q[1], 2 * q[2] end,
      })
      simulate({ systems = { ds }, links = { { rod, ds } }, T = 10 * h, h = h }):run()
      return count
    end
    assert.equal(0, jets(1e-5))
    assert.is_true(jets(0.1) > 0)
  end)
end)

describe("a constraint that is curved", function()
  it("does not concern a system that is not under it", function()
    local function oscillator()
      local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
      ds:setComputeFIntFunction(function(_, q, _, _, f) f[1] = 9 * q[1] ^ 3 end)
      return ds
    end
    local function pendulum()
      local ds = ns.LagrangianDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
      ds:setFExtPtr { 0, -9.81 }
      return ds, ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
        h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end })
    end
    local alone, beside, swinging, rod = oscillator(), oscillator(), pendulum()
    local single, single_rod = pendulum()
    simulate { systems = { alone }, T = 1, h = 0.05 }:run()
    simulate { systems = { single }, links = { { single_rod, single } }, T = 1, h = 0.05 }:run()
    simulate { systems = { beside, swinging }, links = { { rod, swinging } }, T = 1, h = 0.05 }:run()
    assert.near(alone:q()[1], beside:q()[1], 1e-9)
    for i = 1, 2 do assert.near(single:q()[i], swinging:q()[i], 1e-9) end
  end)
end)
