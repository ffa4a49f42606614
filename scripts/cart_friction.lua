-- A cart with dry friction goes from rest at 0 to rest at 1, with the least effort or in the least time.
--
--   x' = v,     v' = u - 2 s,     s in Sgn(v)
--
-- Least effort, the integral of u^2 over the time T: while it moves, 12 / tau^3 + 4 tau for the time tau, which is
-- least at tau = sqrt(3): the cost is 16 / sqrt(3) for every T above, and the cart waits for the rest of the time.
-- Least time with |u| <= 5: u = 5, then u = -5 from 0.7 T on, T = sqrt(20 / 21).

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Least effort and least time of a cart with dry friction (needs IPOPT). Writes only with --plot.",
  { "elements", default = 60, min = 4, max = 2000, help = "number of elements" },
  { "T", default = 2, above = 0.98, max = 100, help = "time of the motion with the least effort" },
  pictures.option,
})

local function cart(problem)
  problem.states, problem.controls, problem.relays = { "x", "v" }, { "u" }, { { "s", function(x) return x.v end } }
  problem.rhs = function(x, u, s, p) return { x.v, u.u - p.friction * s.s } end
  problem.parameters, problem.start, problem.goal = { friction = 2 }, { x = 0, v = 0 }, { x = 1, v = 0 }
  problem.elements = math.tointeger(opt.elements)
  local best = ns.optimal_control(problem)
  print(best)
  for _, arc in ipairs(best.phases) do print(("  %.6f to %.6f: s is %s"):format(arc.from, arc.to, arc.modes.s)) end
  return best
end

local effort = cart { T = opt.T, cost = function(_, u) return u.u ^ 2 end }
local time = cart { T = { 0.1, 10 }, terminal = function(_, T) return T end, bounds = { u = { -5, 5 } } }
print(("  dT/dfriction = %.6f, dT/ddistance = %.6f"):format(time.slopes.parameters.friction, time.slopes.goal.x))

pictures.draw(opt.plot, {
  effort = function() return effort:plot { title = "Least effort" } end,
  time = function() return time:plot { title = "Least time" } end,
})
