-- nslua.base.event_options: the option `events` of ns.solve_ivp and ns.dae: a function g, a table with g and options,
-- or a list of these.
local arguments = require "nslua.base.arguments"

local fail, is_callable = arguments.fail, arguments.is_callable
local event_options = {}

local KNOWN = { g = true, apply = true, direction = true, terminal = true, name = true }

local function refuse(who, key, of)
  fail("%s: unknown option '%s'%s (known: g, apply, direction, terminal, name)", who, tostring(key), of)
end

local function read_event(event, who, of)
  if is_callable(event) then event = { g = event } end
  if type(event) ~= "table" then
    fail("%s: expected a function or a table with the function g, got %s", who, type(event))
  end
  for key in pairs(event) do
    if key ~= 1 and not KNOWN[key] then refuse(who, key, of) end
  end
  local function check(good, name, expected)
    if not good then fail("%s: %s: expected %s, got %s", who, name, expected, type(event[name])) end
  end
  local g, apply, direction, terminal = event.g, event.apply, event.direction or 0, event.terminal or 0
  if g == nil then g = event[1] end
  if terminal == true then terminal = 1 end
  local count = type(terminal) == "number" and math.tointeger(terminal)
  check(type(direction) == "number", "direction", "a number")
  check(count and count >= 0, "terminal", "a boolean or a number of occurrences")
  check(apply == nil or is_callable(apply), "apply", "a function")
  check(event.name == nil or type(event.name) == "string", "name", "a string")
  if not is_callable(g) then
    fail("%s: expected a function or a table with the function g, got %s", who, type(g))
  end
  return { g = g, apply = apply, name = event.name, terminal = count,
    direction = direction > 0 and 1 or direction < 0 and -1 or 0 }
end

-- The list of {g, apply, name, direction, terminal} that the option gives. For messages: `expected` names what it may
-- be, `of` stands behind an unknown option.
function event_options.read(value, who, expected, of)
  local single = is_callable(value)
  if not single then
    if type(value) ~= "table" then fail("%s: events: expected %s, got %s", who, expected, type(value)) end
    for key in pairs(value) do single = single or KNOWN[key] end
  end
  local list, events = single and { value } or value, {}
  for key in pairs(list) do -- a misspelt option would make a list of more events out of one event
    if type(key) == "string" then refuse(who .. ": events", key, of) end
  end
  for e = 1, #list do events[e] = read_event(list[e], ("%s: event %d"):format(who, e), of) end
  return events
end

-- The same as lists, which the core asks for: of the functions g and apply, the names (false: none), the directions
-- and the terminals.
function event_options.lists(value, who)
  local g, apply, names, directions, terminals = {}, {}, {}, {}, {}
  for e, event in ipairs(event_options.read(value, who, "a function", " of an event")) do
    g[e], apply[e], names[e] = event.g, event.apply or false, event.name or false
    directions[e], terminals[e] = event.direction, event.terminal
  end
  return g, apply, names, directions, terminals
end

return event_options
