-- The limit cycle of the woodpecker toy over the restitution e of its beak: multipliers, and the restitutions at
-- which the sequence of impacts, stick and slip changes.
--
--   M q'' + K q = f + H_N' lambda_N + H_T' lambda_T,   q = (y, a, b)
--
-- Equations and data are those of woodpecker.lua; friction 0.3, restitution 0 of the sleeve. Runs go from event to
-- event (EventDriven). The section is b = -0.1, where the bird swings back from its knock; the height y drifts, all
-- other states return. The cycle at e = 0.5 is found by Newton's method on the map of the section from
-- q = (0, -0.1034, -0.2788), v = (-0.3411, 0, -7.4583), and followed in e by pseudo-arclength continuation.
--
-- The lower edge of the sleeve hits the pole, leaves it and hits it again before it jams. This second impact comes
-- and goes with e.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "The limit cycle of the woodpecker toy over the restitution of its beak. Without --plot nothing is drawn.",
  { "e", default = 0.5, above = 0, max = 0.9, help = "first restitution" },
  { "to", default = 0.38, above = 0, max = 0.9, help = "last one" },
  pictures.option,
})
local m_M, m_S, J_M, J_S, c, g, mu = 3e-4, 4.5e-3, 5e-9, 7e-7, 5.6e-3, 9.81, 0.3
local r_O, r_M, h_M, l_M, l_G, h_S, l_S = 2.5e-3, 3.1e-3, 5.8e-3, 1e-2, 1.5e-2, 2e-2, 2.01e-2
local q0, v0 = { 0, -0.1034482, -0.2788 }, { -0.3411, 0, -7.4583 }

local function woodpecker(e)
  local toy = ns.LagrangianLinearTIDS(q0, v0, {
    { m_M + m_S, m_S * l_M, m_S * l_G },
    { m_S * l_M, J_M + m_S * l_M ^ 2, m_S * l_M * l_G },
    { m_S * l_G, m_S * l_M * l_G, J_S + m_S * l_G ^ 2 },
  }, { { 0, 0, 0 }, { 0, c, -c }, { 0, -c, c } })
  toy:setFExtPtr { -(m_M + m_S) * g, -m_S * l_M * g, -m_S * l_G * g }
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(toy)
  local function contact(name, restitution, normal, gap, tangent)
    local relation = ns.LagrangianLinearTIR({ normal, tangent }, { gap, 0 })
    local law = ns.NewtonImpactFrictionNSL(restitution, 0, mu, 2)
    nsds:link(ns.Interaction(law, relation, name), toy)
  end
  contact("beak", e, { 0, 0, -h_S }, l_M + l_G - l_S - r_O, { 1, l_M, l_G - l_S })
  contact("low", 0, { 0, h_M, 0 }, r_M - r_O, { 1, r_M, 0 })
  contact("up", 0, { 0, -h_M, 0 }, r_M - r_O, { 1, r_M, 0 })
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI())
end

local branch = ns.dynamics.continuation { simulation = woodpecker, guess = ns.concatenate { q0, v0 },
  section = function(_, x) return x[3] + 0.1 end, period = 0.146, drift = { 1 }, range = { opt.e, opt.to } }
print(branch)

local function show(point)
  local m = point.multipliers[1]
  print(("e = %.10f: T = %.10f, down by %.6f mm, largest multiplier %.6f\n  %s"):format(point.p, point.T,
    -1e3 * point.orbit.drift[1], m.re, point.orbit.sequence))
end

show(branch.points[1])
for _, found in ipairs(branch.bifurcations) do show(found) end

-- Bird and sleeve over one period; period and largest multiplier over e, with the changes of the sequence.
pictures.draw(opt.plot, {
  cycle = function()
    local fig = branch.points[1].orbit:plot { states = { 3, 6 }, title = "The cycle of the woodpecker toy" }
    return fig
  end,
  branch = function(plot)
    local fig, p, T, m = plot.figure { figsize = { 7, 6 }, title = "The woodpecker's cycle over e" }, {}, {}, {}
    for i, point in ipairs(branch.points) do
      p[i], T[i], m[i] = point.p, point.T, point.multipliers[1].re
    end
    local top = fig:subplot(2, 1, 1):plot(p, T):ylabel "period [s]"
    local below = fig:subplot(2, 1, 2, { sharex = top }):plot(p, m):ylabel "largest multiplier":xlabel "$e$"
    for _, found in ipairs(branch.bifurcations) do
      top:plot({ found.p }, { found.T }, { linestyle = "", marker = "o", color = "C3" })
      below:plot({ found.p }, { found.multipliers[1].re }, { linestyle = "", marker = "o", color = "C3" })
    end
    return fig
  end,
})
