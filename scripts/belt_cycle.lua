-- A mass on a belt, held by a spring, with friction that falls with the velocity of slip. The limit cycle of stick
-- and slip, and the belt's velocity V at which the mass does not stick any more:
--
--   x'' = -x + a u - b u^3 + f,   u = x' - V,   f in -F Sign u,   a = 0.5, b = 0.15, F = 1
--
-- The cycle of stick and slip ends where its slip only touches u = 0. Cycles of pure slip follow; they end in a Hopf
-- bifurcation at V = sqrt(a / (3 b)).

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "The limit cycle of a mass on a belt over the belt's velocity. Without --plot nothing is drawn.",
  { "a", default = 0.5, min = 0, max = 10, help = "fall of friction" },
  { "b", default = 0.15, min = 0, max = 10, help = "its rise at large slip" },
  { "V", default = 0.5, above = 0, max = 10, help = "first velocity of the belt" },
  { "to", default = 1.2, above = 0, max = 10, help = "last velocity of the belt" },
  pictures.option,
})

local function belt(V)
  local mass = ns.FirstOrderNonLinearDS({ 1, 0 }, function(_, x, _, f)
    local u = x[2] - V
    f[1], f[2] = x[2], -x[1] + opt.a * u - opt.b * u ^ 3
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 60)
  nsds:insertDynamicalSystem(mass)
  local slip = ns.FirstOrderLinearTIR { C = { { 0, 1 } }, e = { -V }, B = { { 0 }, { 1 } } }
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), slip, "belt"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
end

local branch = ns.dynamics.continuation { simulation = belt, guess = { 1, 0.2 },
  section = function(_, x) return x[2] end, range = { opt.V, opt.to } }
print(branch)

pictures.draw(opt.plot, {
  branch = function() return branch:plot { title = "Cycles of a mass on a belt" } end,
  orbit = function() return branch.points[1].orbit:plot { title = "Stick and slip" } end,
})
