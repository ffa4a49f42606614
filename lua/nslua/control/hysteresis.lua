-- nslua.control.hysteresis: a switch that turns on at one value of its input and off at another.
--
--   local heater = ns.Hysteresis(simu, { input = function(t, x) return x[1] end, on = 18, off = 20,
--     values = { on = 15, off = 5 } })
--   room:setbPtr(heater.output)    -- the discrete state, a vector; columns "hysteresis.output[1]", "hysteresis.on"
--
-- It is an event of the simulation, whose threshold depends on its state.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject

local who = "Hysteresis"

-- The states of all systems in the order of the graph: x, of mechanics q and v.
local function states_of(simulation)
  local nsds, parts = simulation:nsds(), {}
  for k = 1, nsds:numberOfDynamicalSystems() do
    local ds = nsds:dynamicalSystem(k)
    local good, v = where.try(ds.velocity, ds)
    parts[#parts + 1] = good and ds:q() or ds:x()
    if good then parts[#parts + 1] = v end
  end
  return core.concatenate(parts)
end

local function threshold(value, name) return arguments.finite(value, who, name) end

-- The values of the output, as vectors of one length.
local function values_of(values)
  if values == nil then values = { on = 1, off = 0 } end
  expect(values, "table", "%s: values: expected { on =, off = }", who)
  local list = {}
  for _, name in ipairs { "on", "off" } do
    local value = values[name]
    local good, v = where.try(core.vector, type(value) == "number" and { value } or value)
    reject(value == nil or not good, value, "%s: values: %s: expected a number or a vector", who, name)
    list[name] = v
  end
  if #list.on ~= #list.off then
    fail("%s: values: on has %d numbers, off has %d", who, #list.on, #list.off)
  end
  return list
end

-- The number that a function of the user gives, or a dual one.
local function compared(input, t, x)
  local u = input(t, x)
  return type(u) == "userdata" and u or arguments.number(u, who, "input")
end

-- Whether the switch is on at the start: as asked for, or as the input says; between the thresholds it is off.
local function starts_on(simulation, o, side)
  if o.start == "on" or o.start == "off" then return o.start == "on" end
  if o.start ~= nil then fail("%s: start: expected 'on' or 'off', got %s", who, describe(o.start)) end
  return side * (compared(o.input, simulation:nsds():t0(), states_of(simulation)) - o.on) >= 0
end

local function Hysteresis(simulation, options)
  reject(getmetatable(simulation) ~= "TimeStepping", simulation, "%s: expected a simulation", who)
  local o = option_tables.need(options, "name input on off values start", who, fail)
  local input, on, off = o.input, threshold(o.on, "on"), threshold(o.off, "off")
  expect(input, "function", "%s: input: expected a function of (t, x)", who)
  if on == off then
    fail("%s: off: expected another value than on, got %g twice; a relay has one (ns.RelayNSL)", who, on)
  end
  local side, values = on > off and 1 or -1, values_of(o.values)
  local active = starts_on(simulation, o, side)
  local s = where.pass(simulation.addEvent, simulation, {
    name = o.name or "hysteresis", direction = "up",
    state = { on = active and 1 or 0, output = (active and values.on or values.off):totable() },
    g = function(t, x, s)
      local u = compared(input, t, x)
      if s.on < 0.5 then return side * (u - on) end -- for a derivative by s.on, which is 0
      return side * (off - u)
    end,
    action = function(_, s)
      local turns_on = s.on < 0.5
      local value = turns_on and values.on or values.off
      s.on = turns_on and 1 or 0
      for i = 1, #value do s.output[i] = value[i] end
    end,
  })
  return s
end

return { Hysteresis = Hysteresis }
