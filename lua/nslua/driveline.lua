-- nslua.driveline: drivelines and machines that move along a line, from their parts.
--
--   local d = ns.driveline()
--   d:inertia("J1", "motor", 0.5):inertia("J2", "load", 2):torque("T", "motor", 10)
--   d:clutch("C", "motor", "load", function(t) return 20 * math.min(1, t) end)
--   local columns = d:run { stop = 2, step = 0.01 }
--   columns["w.load"], columns["tau.C"], columns["mode.C"]
--
-- Nodes are names, the housing is "0". The extension of a part is the angle of its second node less the angle of the
-- first; its torque acts against that. The kinds of parts stand in nslua.driveline.parts, the coordinates in
-- nslua.driveline.coordinates, the model in nslua.driveline.model.

local arguments = require "nslua.base.arguments"
local columns = require "nslua.driveline.columns"
local drawing = require "nslua.network.drawing"
local kinds = require "nslua.driveline.parts"
local model = require "nslua.driveline.model"
local readers = require "nslua.driveline.readers"
local values = require "nslua.network.values"
local where = require "nslua.base.where"

local fail, describe, optional, reject = arguments.fail, arguments.describe, arguments.optional, arguments.reject
local finite, positive, who_of = values.finite, values.positive, drawing.who_of

local not_negative = readers.not_negative

return function(ns, noun, domain)
  local Driveline = { __name = noun }
  Driveline.__index = Driveline

  local function add(self, kind, name, nodes, part)
    for i, node in ipairs(nodes) do
      for k = 1, i - 1 do
        if nodes[k] == node then
          fail("%s: expected different nodes, got %s twice", who_of(kind, name), describe(node))
        end
      end
    end
    return drawing.add(self, kind, name, nodes, kinds[kind].terminals, part)
  end

  -- ---- parts ----

  drawing.constructors(ns, Driveline, kinds, add)

  local brake = Driveline.brake
  function Driveline:brake(name, node, ...) return brake(self, name, "0", node, ...) end

  -- ---- inertias ----

  for kind, letter in pairs { inertia = "J", mass = "m" } do
    Driveline[kind] = function(self, name, node, value, options)
      local who = who_of(kind, name)
      local o = drawing.options(who, options, "speed position")
      add(self, kind, name, { node }, { value = positive(value, who, letter) })
      local part = self.named[name]
      local start = { part = part, speed = o.speed ~= nil and finite(o.speed, who, "speed") or nil,
        position = o.position ~= nil and finite(o.position, who, "position") or nil }
      local old = self.start[part.nodes[1]]
      if old and (start.speed or start.position) then
        fail("%s: node '%s' has the start of %s already", who, part.nodes[1], who_of(old.part.kind, old.part.name))
      end
      if start.speed or start.position then self.start[part.nodes[1]] = start end
      return self
    end
  end

  -- ---- gears ----

  -- gear(name, a, b, ratio [, { efficiency = eta or { forward, backward }, friction = torque, support = node }]):
  -- w_a = ratio w_b, seen from the support; an efficiency of 0 in one direction: it locks there
  function Driveline:gear(name, a, b, ratio, options)
    local who = who_of("gear", name)
    local o = drawing.options(who, options, "efficiency friction support")
    local part = { ratio = values.not_zero(ratio, who, "ratio") }
    if o.efficiency ~= nil or o.friction ~= nil then
      local eta = o.efficiency or 1
      if type(eta) ~= "table" then eta = { eta, eta } end
      if #eta ~= 2 then fail("%s: efficiency: expected a number or 2 numbers, got %d", who, #eta) end
      for i = 1, 2 do
        if not_negative(eta[i], who, "efficiency") > 1 then
          fail("%s: efficiency: expected at most 1, got %g", who, eta[i])
        end
      end
      if eta[1] + eta[2] == 0 then fail("%s: efficiency: expected a positive number in one direction", who) end
      local friction = not_negative(o.friction or 0, who, "friction")
      if eta[1] * eta[2] < 1 or friction > 0 then
        part.loss = { efficiency = { eta[1], eta[2] }, friction = friction }
      end
    end
    return add(self, "gear", name, { a, b, o.support or "0" }, part)
  end

  -- ---- friction ----

  -- friction(name, node, options), friction(name, a, b, options): coulomb + viscous |w| + stribeck exp(-|w| / speed),
  -- or a curve over |w|; static: the torque at which it breaks away.
  function Driveline:friction(name, a, b, options)
    local who = who_of("friction", name)
    if type(b) == "table" and options == nil then a, b, options = "0", a, b end
    local o = drawing.options(who, options, "coulomb viscous stribeck speed static curve")
    local stribeck, speed = not_negative(o.stribeck or 0, who, "stribeck"), o.speed
    local part = { viscous = not_negative(o.viscous or 0, who, "viscous") }
    part.coulomb = readers.capacity(o.coulomb or 0, who, "coulomb", part)
    local moves, curve = type(part.coulomb) == "function" or part.source.jump, readers.curve(o.curve, who)
    if moves and (stribeck > 0 or curve or o.static) then
      fail("%s: coulomb: expected a number beside stribeck, curve or static", who)
    end
    if curve and (stribeck > 0 or o.coulomb) then
      fail("%s: expected curve or coulomb and stribeck, got both", who)
    end
    if curve then part.coulomb = positive(curve(0), who, "curve at speed 0") end
    if stribeck > 0 then
      positive(speed, who, "speed")
      local coulomb = part.coulomb
      curve, part.coulomb = function(w) return coulomb + stribeck * ns.exp(-w / speed) end, coulomb + stribeck
    end
    part.curve = readers.over_rest(curve, who)
    if o.static ~= nil then
      if part.coulomb == 0 then fail("%s: static: expected coulomb, stribeck or curve beside it", who) end
      part.static = values.at_least(part.coulomb)(o.static, who, "static") / part.coulomb
    end
    if part.coulomb == 0 and part.viscous == 0 then
      fail("%s: expected coulomb, viscous, stribeck or curve", who)
    end
    return add(self, "friction", name, { a, b }, part)
  end

  -- ---- stops ----

  local function stop(self, kind, name, a, b, lower, upper, o)
    local who, part = who_of(kind, name), { lower = lower, upper = upper }
    for _, key in ipairs { "damping", "exponent", "soft" } do
      if o.stiffness == nil and o[key] ~= nil then fail("%s: %s: expected a stiffness beside it", who, key) end
    end
    if o.stiffness ~= nil and o.restitution ~= nil then
      fail("%s: expected stiffness or restitution, got both", who)
    end
    if o.stiffness ~= nil then
      part.stiffness = positive(o.stiffness, who, "stiffness")
      part.damping = not_negative(o.damping or 0, who, "damping")
      part.exponent, part.soft = positive(o.exponent or 1, who, "exponent"), o.soft
      optional(o.soft, "boolean", "%s: soft: expected true or false", who)
    else
      part.restitution = not_negative(o.restitution or 0, who, "restitution")
      if part.restitution > 1 then fail("%s: restitution: expected at most 1, got %g", who, part.restitution) end
    end
    return add(self, kind, name, { a, b }, part)
  end

  -- stop(name, a, b, { lower =, upper =, restitution = } or { ..., stiffness =, damping =, exponent = 1, soft = })
  -- soft: the damper's force is at most the spring's, so that the force does not jump
  function Driveline:stop(name, a, b, options)
    local who = who_of("stop", name)
    local o = drawing.options(who, options, "lower upper restitution stiffness damping exponent soft")
    if o.lower == nil and o.upper == nil then fail("%s: expected lower or upper", who) end
    local lower, upper = o.lower and finite(o.lower, who, "lower"), o.upper and finite(o.upper, who, "upper")
    if lower and upper and lower >= upper then
      fail("%s: expected lower below upper, got %g and %g", who, lower, upper)
    end
    return stop(self, "stop", name, a, b, lower, upper, o)
  end

  -- backlash(name, a, b, width [, options]): a stop on both sides
  function Driveline:backlash(name, a, b, width, options)
    local who = who_of("backlash", name)
    local half = positive(width, who, "width") / 2
    return stop(self, "backlash", name, a, b, -half, half,
      drawing.options(who, options, "restitution stiffness damping exponent soft"))
  end

  -- ---- numbers of parts ----

  local function place_of(self, who, name, field)
    if not self.made then fail("%s: expected a model: call simulation, system or run first", who) end
    local place = self.made.sheet.places[tostring(name) .. "." .. tostring(field)]
    if place then return place end
    local part, known = self.named[name], {}
    if not part then fail("%s: there is no part %s", who, describe(name)) end
    for key in pairs(self.made.sheet.places) do
      if key:find("^" .. name .. "%.") then known[#known + 1] = key:match "%.(.*)$" end
    end
    table.sort(known)
    fail("%s: %s '%s' has no number %s (known: %s)", who, part.kind, name, describe(field), table.concat(known, ", "))
  end

  -- parameter(name, field): the number of a part as a parameter of sensitivities, gradients and orbits.
  function Driveline:parameter(name, field)
    local place = place_of(self, "parameter", name, field)
    return { self.made.ds, "z", place }
  end

  -- set(simulation, name, capacity): sets the capacity of a clutch, a brake, friction or a grip, in an action.
  function Driveline:set(simulation, name, capacity)
    if not self.made then fail "set: expected a model: call simulation, system or run first" end
    reject(not arguments.is_simulation(simulation), simulation, "set: expected a simulation")
    drawing.need_model(simulation, self.made.ds, "set", noun)
    not_negative(capacity, "set", "capacity")
    reject(not model.set(self.made, simulation, self.named[name], capacity), name,
      "set: expected the name of a part with a capacity that is a number")
  end

  -- ---- the model ----

  drawing.methods(ns, Driveline, {
    objects = function(self, t0, T) return model.objects(ns, self, t0, T) end,
    signals = model.signals, attach = model.attach,
    columns = function(made, _, sol) return columns.of(ns, made, sol) end,
    advice = function(_, message) return message end,
    integrator = function(made, method)
      if method == ns.EventDriven then return ns.RungeKuttaOSI(1e-10) end
      return made.sheet.impacts and ns.MoreauJeanOSI(0.5) or ns.EulerMoreauOSI(1)
    end,
  })

  where.methods(Driveline, "a " .. noun, "d")

  return function(options)
    local self = drawing.new(Driveline, options)
    self.start, self.domain = {}, domain
    return self
  end
end
