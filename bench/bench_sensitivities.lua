--
-- bench_sensitivities.lua
-- Derivatives of event-driven runs by p parameters, in plain runs; (1 + p) runs are what one-sided differences cost.
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
