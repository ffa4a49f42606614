-- nslua.network.drawing: what drawings of parts share: the names of parts and nodes, and the runs of their models.
--
--   drawing.methods(ns, Class, { ... })   adds system, simulation, attach, columns, run to a class of drawings
--
-- A drawing has parts, a list; named, the parts by name; nodes, a list of names; seen, the set of them; name; made,
-- the objects of the last model or false.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local signals = require "nslua.control.signals"
local values = require "nslua.network.values"
local where = require "nslua.base.where"

local fail, describe, finite, optional, reject =
  arguments.fail, arguments.describe, values.finite, arguments.optional, arguments.reject

local drawing = {}

-- The name of a node; "0" is the ground.
function drawing.node_name(who, value)
  local name = math.type(value) == "integer" and tostring(value) or value
  if type(name) ~= "string" or name == "" then fail("%s: node: expected a name, got %s", who, describe(value)) end
  if name:find "[%s.]" then fail("%s: node: expected a name without blanks and points, got '%s'", who, name) end
  return name == "gnd" and "0" or name
end

-- The beginning of messages about a part.
function drawing.who_of(kind, name) return ("%s '%s'"):format(kind, tostring(name)) end

-- Raises where no system of a simulation has the name of the model's.
function drawing.need_model(simulation, ds, who, noun)
  local nsds = where.pass(simulation.nsds, simulation)
  for i = 1, nsds:numberOfDynamicalSystems() do
    if nsds:dynamicalSystem(i):name() == ds:name() then return end
  end
  fail("%s: expected a simulation of this %s, got one without a system '%s'", who, noun, ds:name())
end

-- Raises where a part, or a part that is two with these ends of names, can not have the name. Returns who_of().
function drawing.check_name(self, kind, name, ...)
  reject(type(name) ~= "string" or not name:find "^[%w_]+$", name,
    "%s: name: expected letters, digits and underscores", kind)
  local who = drawing.who_of(kind, name)
  for _, ending in ipairs { ... } do
    local other = self.named[name .. ending]
    if other then fail("%s: there is a part '%s' already, a %s", who, other.name, other.kind) end
  end
  return who
end

-- Appends a part with the first n of these nodes, whose names are checked.
function drawing.add(self, kind, name, nodes, n, part)
  local who = drawing.check_name(self, kind, name, "")
  part.kind, part.name, part.nodes = kind, name, {}
  for i = 1, n do part.nodes[i] = drawing.node_name(who, nodes[i]) end
  if #part.nodes == 2 and part.nodes[1] == part.nodes[2] then
    fail("%s: expected two different nodes, got '%s' twice", who, part.nodes[1])
  end
  for _, node in ipairs(part.nodes) do
    if node ~= "0" and not self.seen[node] then
      self.seen[node] = true
      self.nodes[#self.nodes + 1] = node
    end
  end
  self.parts[#self.parts + 1], self.named[name], self.made = part, part, false
  return self
end

function drawing.options(who, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then fail("%s: options: expected a table, got %s", who, type(options)) end
  return values.fields(options, known, who)
end

-- A method that adds a part of a kind. It takes kind.terminals nodes, the values kind.takes, a list of { key, check
-- [, name] }, and kind.options, of { key, check [, default] }; check(value, who, name, part, self, ns) returns the
-- value of part[key], kind.check(part, who) checks the part.
local function constructor(ns, name_of_kind, kind, add)
  local takes, options, known, count = kind.takes, kind.options or {}, {}, kind.terminals
  for i, one in ipairs(options) do known[i] = one[1] end
  known = table.concat(known, " ")
  return function(self, name, ...)
    local who, given, part = drawing.check_name(self, name_of_kind, name), table.pack(...), {}
    local o = kind.options and drawing.options(who, given[count + #takes + 1], known) or {}
    for i, one in ipairs(takes) do
      part[one[1]] = one[2](given[count + i], who, one[3] or one[1], part, self, ns)
    end
    for _, one in ipairs(options) do
      local value = o[one[1]]
      if value == nil then value = one[3] end
      if value ~= nil then part[one[1]] = one[2](value, who, one[1], part, self, ns) end
    end
    if kind.check then kind.check(part, who) end
    return add(self, name_of_kind, name, table.pack(table.unpack(given, 1, count)), part)
  end
end

-- Adds a method for each of the kinds that has `takes`.
function drawing.constructors(ns, Class, kinds, add)
  for name, kind in pairs(kinds) do
    if kind.takes then Class[name] = constructor(ns, name, kind, add) end
  end
end

-- new(Class, options): a drawing without parts.
function drawing.new(Class, options)
  local noun = Class.__name
  local o = drawing.options(noun, options, "name")
  optional(o.name, "string", "%s: name: expected a string", noun)
  return setmetatable({ parts = {}, named = {}, nodes = {}, seen = {}, name = o.name or noun, made = false }, Class)
end

-- The length of equal steps, and their number.
local function equal_steps(start, stop, step)
  local n = math.max(1, math.floor((stop - start) / step + 0.5))
  return (stop - start) / n, n
end

-- The times between two, in order, at which sources of parts have corners.
local function corners_of(self, from, to)
  local list = {}
  for _, part in ipairs(self.parts) do
    for _, t in ipairs(part.source and part.source.corners(from, to) or {}) do
      if t > from and t < to then list[#list + 1] = t end
    end
  end
  table.sort(list)
  return list
end

-- with_corners(self, points, step): the points of a grid and the corners of sources. A corner takes the place of a
-- point that is nearer than 1e-6 of a step; corners that differ by rounding are one.
function drawing.with_corners(self, points, step)
  local list, fixed, last, k = { points[1] }, true, points[#points], 1
  local corners = corners_of(self, points[1], last)
  local function put(t, is_corner)
    local apart = t - list[#list]
    local far = apart > (is_corner and fixed and 2.0 ^ -40 * math.abs(t) or 1e-6 * step)
    if far or is_corner and not fixed then
      list[far and #list + 1 or #list], fixed = t, is_corner
    end
  end
  for i = 2, #points do
    while corners[k] and corners[k] < points[i] do
      put(corners[k], true)
      k = k + 1
    end
    put(points[i], false)
  end
  if list[#list] < last then list[#list] = last end
  return list
end

-- The times of the grid: equal steps, and the corners of sources between them.
local function grid_of(ns, self, start, stop, step)
  local h, n = equal_steps(start, stop, step)
  if #corners_of(self, start, stop) == 0 then return ns.TimeDiscretisation(start, h) end
  local points = { start }
  for i = 1, n do points[i + 1] = i == n and stop or start + (stop - start) * (i / n) end
  return ns.TimeDiscretisation(drawing.with_corners(self, points, step))
end

-- The options of simulation, checked; `tran` has defaults.
local function run_options(options, tran)
  local o = drawing.options("simulation", options, "start stop step integrator method")
  local start, stop = finite(o.start or 0, "simulation", "start"), finite(o.stop or tran.stop, "simulation", "stop")
  local step = values.positive(o.step or tran.step, "simulation", "step")
  if stop <= start then fail("simulation: stop: expected a time after start = %g, got %g", start, stop) end
  optional(o.method, "function", "simulation: method: expected a function such as ns.EventDriven")
  optional(o.integrator, "userdata", "simulation: integrator: expected an integrator")
  return start, stop, step, o.method, o.integrator
end

-- Raises what a run has raised, at the place of the call, with what the drawing has to say of it.
local function raise_of_run(self, advice, message)
  if type(message) ~= "string" or message:find "interrupted$" then error(message, 0) end
  local bare, ours = message:gsub("^%S*nslua/%a+/?[%w/]*%.lua:%d+: ", "") -- the place of a callback of ours
  if ours > 0 then where.fail(bare) end
  if message:find "^%S+:%d+: " then error(message, 0) end
  where.fail(advice(self, message))
end

-- Compiles the callbacks of a simulation, which call the sources of the parts in every mode that is tried, where
-- these are all our own sines: the bits stay the same.
function drawing.compile_sines(self, simulation)
  local sines = false
  for _, part in ipairs(self.parts) do
    local is = part.source and part.source.is or "a number"
    if is ~= "a number" and is ~= "a sine" then return simulation end
    sines = sines or is == "a sine"
  end
  if sines then simulation:compile { native = false } end
  return simulation
end

-- Adds the clocks or the event of a gate to a simulation: turn(simulation, t, on) is called when it goes on or off.
function drawing.attach_gate(simu, name, gate, turn)
  for _, word in ipairs(gate.period and { "on", "off" } or {}) do
    simu:every { name = name .. ":" .. word, period = gate.period, offset = gate.offsets[word],
      act = function(t, _, simulation) turn(simulation, t, word == "on") end }
  end
  if gate.g then
    simu:addEvent { name = name .. ":gate", g = gate.g, action = function(simulation)
      local t = simulation:startingTime()
      turn(simulation, t, gate.is_on_after(t))
    end }
  end
end

-- The set of the rows of an interaction at which the last events of a simulation have happened.
function drawing.rows_of_events(simulation, name)
  local log, rows = simulation:events(), {}
  for k = #log, 1, -1 do
    if log[k].t ~= log[#log].t then break end
    if log[k].interaction == name then rows[log[k].component] = true end
  end
  return rows
end

-- Adds the methods of runs to a class. own:
--   objects(self, t0, T)      makes the model: ds, interactions, states (their number)
--   signals(made)             the functions of time that jump
--   attach(made, simulation)  adds the events of parts
--   columns(made, self, sol)  the names of columns, and the columns
--   integrator(made, method)  the default integrator
--   linear                    whether it has callbacks of sources alone
--   advice(self, message)     what a user is told of an error of a run
function drawing.methods(ns, Class, own)
  local noun = Class.__name

  -- system(): the system, its interactions and, from t0 to T, a graph that holds them; new ones at each call.
  function Class:system(t0, T)
    t0 = finite(t0 or 0, "system", "t0")
    if T ~= nil and finite(T, "system", "T") <= t0 then
      fail("system: T: expected a time after t0 = %g, got %g", t0, T)
    end
    if #self.parts == 0 then fail("%s: it has no parts", noun) end
    local objects = own.objects(self, t0, T)
    self.made = objects
    local nsds
    if T then
      nsds = ns.NonSmoothDynamicalSystem(t0, T)
      nsds:insertDynamicalSystem(objects.ds)
      for _, one in ipairs(objects.interactions) do nsds:link(one, objects.ds) end
    end
    return objects.ds, objects.interactions, nsds
  end

  -- simulation { stop =, step =, start = 0, integrator =, method = ns.EventDriven }: from event to event; in equal
  -- steps with an integrator that does not locate events, and method = ns.TimeStepping.
  function Class:simulation(options)
    local start, stop, step, method, integrator = run_options(options, self.tran or {})
    method = method or ns.EventDriven
    self.span = stop - start
    self.steps = method ~= ns.EventDriven and equal_steps(start, stop, step) -- mechanics has impulses of a step then
    local _, _, nsds = self:system(start, stop)
    self.steps = nil
    local grid = grid_of(ns, self, start, stop, step)
    local simulation = self:attach(where.pass(method, nsds, grid, integrator or own.integrator(self.made, method)))
    return own.linear and drawing.compile_sines(self, simulation) or simulation
  end

  -- attach(simulation): adds the events of parts, to a simulation of the graph of system().
  function Class:attach(simulation)
    if not self.made then fail("attach: expected a simulation of this %s: call system first", noun) end
    reject(not arguments.is_simulation(simulation), simulation, "attach: expected a simulation")
    drawing.need_model(simulation, self.made.ds, "attach", noun)
    where.pass(own.attach, self.made, simulation)
    local jumping = own.signals(self.made)
    if #jumping > 0 then where.pass(signals.follow, simulation, table.unpack(jumping)) end
    return simulation
  end

  -- columns(sol): named columns of a solution.
  function Class:columns(sol)
    if not self.made then
      fail("columns: expected a solution of this %s: call simulation, system or run first", noun)
    end
    local good, x = where.try(function() return sol.x end)
    if not good or not core.ismatrix(x) or x:cols() ~= self.made.states then
      fail("columns: sol: expected a solution with %d states, got %s", self.made.states,
        good and core.ismatrix(x) and "one with " .. x:cols() or describe(sol))
    end
    return require "nslua.files"(ns, core.file_support).columns(own.columns(self.made, self, sol))
  end

  -- run(options): runs a simulation of these options, and returns its columns and the solution.
  function Class:run(options)
    local simulation = self:simulation(options)
    local good, sol = pcall(simulation.run, simulation)
    if not good then raise_of_run(self, own.advice, sol) end
    return self:columns(sol), sol
  end

  function Class:__tostring()
    return ("%s '%s' of %d part%s and %d node%s"):format(noun, self.name, #self.parts, #self.parts == 1 and "" or "s",
      #self.nodes, #self.nodes == 1 and "" or "s")
  end
end

return drawing
