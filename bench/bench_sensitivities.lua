--
-- bench_sensitivities.lua
-- Derivatives of runs by p parameters, in plain runs; (1 + p) runs are what one-sided differences cost.
--
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
package.path = directory .. "../spec/?.lua;" .. package.path
local common = dofile(directory .. "common.lua")
local ns = require "nslua"
local mechanics = require "sensitive_models"
local relays = require "random_relays"

local cases = {}

for _, k in ipairs { 3, 8 } do
  local o = relays.system(k)
  cases[#cases + 1] = { ("relays %d, linear"):format(k), function()
    return relays.simulation(o, function(nsds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.T / 3), ns.RungeKuttaOSI())
    end), { "x0" }
  end }
end

-- The unit disc with a field that jumps on the circle: x0 and two parameters z.
local function disc(compile)
  local function f(_, x, z, out) out[1], out[2] = z[1] * x[1], z[1] * x[2] end
  local function h(_, x, _, _, y) y[1] = x[1] * x[1] + x[2] * x[2] - 1 end
  local function g(_, x, lambda, z, r) r[1], r[2] = z[2] * lambda[1] * x[2], -z[2] * lambda[1] * x[1] end
  return function()
    local ds = ns.FirstOrderNonLinearDS({ math.exp(-1), 0 }, compile(f))
    ds:setzPtr(ns.vector { 1, 2 * math.pi })
    local relation = ns.FirstOrderNonLinearR { h = compile(h), g = compile(g) }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1.7)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation), ds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1.7 / 3), ns.RungeKuttaOSI()), { "x0", "z" }
  end
end
cases[#cases + 1] = { "unit disc, compiled", disc(ns.compile) }
cases[#cases + 1] = { "unit disc, Lua callbacks", disc(function(f) return f end) }

for _, name in ipairs { "bounce", "rest", "stick_slip", "pendulum", "beads", "space" } do
  math.randomseed(7)
  local p = mechanics[name].draw()
  cases[#cases + 1] = { name, function() return mechanics[name].build(p) end }
end

-- Models of the campaign of spec/sensitivities_spec.lua: by one parameter, and by all.
local random = require "random_sensitive"
for i, family in ipairs(random.names) do
  local one = random.draw(i)
  for _, most in ipairs { 1, 99 } do
    cases[#cases + 1] = { family, function()
      local simu, parameters = one.build(one.p)
      local list = {}
      for _, terms in ipairs(parameters) do
        for _, term in ipairs(terms) do
          if #list < most then list[#list + 1] = { table.unpack(term, 2) } end
        end
      end
      return simu, list
    end }
  end
end

-- Time stepping: a chain of n masses; a van der Pol oscillator; a pendulum on a rod.
local function stepped(ds, T, h, osi, relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  if relation then nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation, "rod"), ds) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi)
end

local function chain(n)
  return function()
    local q, v, K = {}, {}, ns.zeros(n, n)
    for i = 1, n do
      q[i], v[i], K[i][i] = i, 0.1 * i, 2
      if i > 1 then K[i][i - 1], K[i - 1][i] = -1, -1 end
    end
    return stepped(ns.LagrangianLinearTIDS(q, v, ns.eye(n), K, 0.1 * K), 5, 0.01, ns.MoreauJeanOSI(0.5)), { "x0" }
  end
end

local function oscillator(compile)
  return function()
    local ds = ns.FirstOrderNonLinearDS({ 1, 0.5 }, compile(function(_, x, z, f)
      f[1], f[2] = x[2], z[1] * (1 - x[1] ^ 2) * x[2] - x[1]
    end))
    ds:setzPtr(ns.vector { 1.2 })
    return stepped(ds, 5, 0.01, ns.EulerMoreauOSI(0.5)), { "x0", "z" }
  end
end

local function rod(compile)
  return function()
    local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
    ds:setFExtPtr(ns.vector { 0, -9.81 })
    local h = compile(function(q, _, y) y[1] = (q[1] * q[1] + q[2] * q[2] - 1) / 2 end)
    return stepped(ds, 2, 0.01, ns.MoreauJeanOSI(0.5), ns.LagrangianScleronomousR { h = h }), { "x0" }
  end
end

local function plain_function(f) return f end
for _, n in ipairs { 3, 20 } do cases[#cases + 1] = { ("time stepping: chain of %d"):format(n), chain(n) } end
cases[#cases + 1] = { "time stepping: van der Pol, compiled", oscillator(ns.compile) }
cases[#cases + 1] = { "time stepping: van der Pol, Lua", oscillator(plain_function) }
cases[#cases + 1] = { "time stepping: pendulum on a rod, compiled", rod(ns.compile) }
cases[#cases + 1] = { "time stepping: pendulum on a rod, Lua", rod(plain_function) }

local rows = {}
for _, case in ipairs(cases) do
  local name, make = table.unpack(case)
  local p
  local plain = common.best(7, function() make():run() end)
  local sensitive = common.best(7, function()
    local simu, parameters = make()
    p = #simu:run { sensitivities = parameters }.sensitivities
  end)
  local allowed = ("%.1f"):format(1.5 * (1 + p))
  rows[#rows + 1] = { name, tostring(p), common.us(plain), common.ratio(sensitive, plain), allowed }
end
common.table("Microseconds of a plain run and the making of its model; with derivatives by p parameters, in runs", {
  "", "p", "plain", "with S", "1.5 (1 + p)",
}, rows)
