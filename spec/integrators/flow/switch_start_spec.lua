-- Derivatives of runs that start on surfaces on which rows slide: a state beside a surface comes back to it at once.
local ns = require "nslua"
local random = require "random_numbers"

local function simulation(x0, A, b, C, B)
  local ds, nsds = ns.FirstOrderLinearTIDS(x0, A, b), ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(#C), ns.FirstOrderLinearTIR(C, B), "relay"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-11)), ds
end

local function final(...)
  local simu, ds = simulation(...)
  simu:run()
  return ds:x():copy()
end

describe("a run that starts where a relay slides #once", function()
  it("does not depend on how far from the surface it starts, and its derivatives neither", function()
    math.randomseed(3)
    local tried = 0
    for k = 1, require "campaign"(6, 0.005) do
      local n, m = 3 + k % 2, 1 + k % 2
      local A, b = random.matrix(n, random.signed), random.vector(n, function() return 0.2 * random.signed() end)
      local B = random.matrix(n, random.signed, m)
      local C = ns.matrix(B):transpose() + 0.1 * ns.matrix(random.matrix(m, random.signed, n)) -- C B is attractive
      local pull = ns.matrix(B) * ns.solve(C * ns.matrix(B), C) -- the projection on the surface is 1 - pull
      local x = ns.vector(random.vector(n, random.signed)) * 0.2
      x = x - pull * x
      local model = { A, b, C, B }
      local simu = simulation(x, table.unpack(model))
      local sol = simu:run { sensitivities = { "x0" } }
      if sol.lambda1[2] ~= 1 and sol.lambda1[2] ~= -1 then
        tried = tried + 1
        local S = sol.S[#sol]
        assert.is_true((S * pull):norm() < 1e-9 * S:norm())
        local along = ns.vector(random.vector(n, random.signed))
        along = along - pull * along
        local h = 1e-3
        local function at(e) return final(x + e * along, table.unpack(model)) end
        local difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        if #sol.events == 0 then assert.is_true((S * along - difference):norm() < 1e-7) end
        local beside = (final(x + 1e-5 * pull:column(1), table.unpack(model)) - final(x, table.unpack(model))) / 1e-5
        assert.is_true(beside:norm() < 1e-3)
      end
    end
    assert.is_true(tried > 2)
  end)

  it("of a driveline at rest, whose brakes and clutches hold: all angles moved together move nothing else", function()
    local d = ns.driveline()
    d:inertia("J1", "a", 1):torque("T", "a", { amplitude = 4, frequency = 1 }):clutch("C", "a", "b", 2.5)
    d:inertia("J2", "b", 0.5):springdamper("S", "b", "c", 30, 0.4):inertia("J3", "c", 2)
    d:friction("F", "c", { coulomb = 0.5, viscous = 0.3 })
    local simu = d:simulation { stop = 0.8, step = 0.1 }
    local sol = simu:run { sensitivities = { "x0" } }
    local S = sol.S[#sol]
    assert.is_true(#sol.events > 1)
    for i = 1, 6 do assert.near(i <= 3 and 1 or 0, S[i][1] + S[i][2] + S[i][3], 1e-8) end
    for i = 1, 6 do assert.near(0, S[i][6], 1e-12) end -- the brake holds w.c
    simu:reset()
    local _, gradient = simu:gradient { terminal = function(x) return x[2] end, parameters = { "x0" } }
    for j = 1, 6 do assert.near(gradient[j], S[2][j], 1e-7) end
  end)

  it("is told where nothing brings it back, or the way back depends on the side", function()
    local function run(B, g, sides)
      local ds, nsds = ns.FirstOrderLinearTIDS({ 0, 0 }, { { 0, 0 }, { 0, 0 } }), ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local relation = B and ns.FirstOrderLinearTIR({ 1, 0 }, B) or ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = x[1] end, g = g }
      nsds:link(ns.Interaction(ns.RelayNSL(1), relation, "relay"), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
      local sol = simu:run { sensitivities = { { ds, "x0", 1 }, on_grazing = sides } }
      return sol.S[#sol]
    end
    local function sided(_, _, lambda, _, r) r[1], r[2] = lambda[1], lambda[1] ^ 2 end
    local good, message = pcall(run, nil, sided)
    assert.is_false(good)
    assert.truthy(message:find("where 'relay' switches, and a parameter decides on which side", 1, true))
    local S = run(nil, sided, "one-sided")
    assert.near(0, S[1][1], 1e-12)
    assert.near(1, math.abs(S[2][1]), 1e-9)
  end)
end)
