-- nslua.dynamics: orbits and bifurcations of smooth and nonsmooth models.
--
--   local orbit = ns.dynamics.periodic { rhs = f, guess = { 2, 0 }, period = 6, autonomous = true }
--   local branch = ns.dynamics.continuation { simulation = make, guess = x0, period = T, range = { 0.1, 1 } }
--   orbit:plot():savefig "orbit.png"
local names = require "nslua.base.names"

local dynamics = {}

function dynamics.periodic(options) return require "nslua.dynamics.periodic"(options) end

function dynamics.continuation(options) return require "nslua.dynamics.branch".continuation(options) end

function dynamics.poincare(options) return require "nslua.dynamics.section".poincare(options) end

function dynamics.diagram(options) return require "nslua.dynamics.diagram".diagram(options) end

function dynamics.lyapunov(options) return require "nslua.dynamics.exponents".lyapunov(options) end

-- Calls the function of that name for a simulation with clocks, or the one of the module.
local function sampled_or(module, name, options)
  local sampled = require "nslua.dynamics.sampled_linear"
  return (sampled.is(options) and sampled or module)[name](options)
end

function dynamics.equilibrium(options)
  return sampled_or(require "nslua.dynamics.equilibrium", "equilibrium", options)
end

function dynamics.linearise(options)
  return sampled_or(require "nslua.dynamics.linear", "linearise", options)
end

dynamics.linearize = dynamics.linearise

return setmetatable(dynamics, { __index = names.strict "ns.dynamics" })
