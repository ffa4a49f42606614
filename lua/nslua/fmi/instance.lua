-- nslua.fmi.instance: an instance of a unit, as the functions of FMI call it (src/fmu). Its methods have the names of
-- those functions.
local core = require "nslua.core"
local packed = require "nslua.fmi.packed"
local variables = require "nslua.fmi.variables"

local format = core.number_support.format

local instance = {}

-- By how much the importer's time may differ from the model's: these parts of the step and of the time. The importer
-- may add up its steps: after a million of them the sum has an error of about 1e-13 of itself, 1e-7 of a step.
local OF_STEP, OF_TIME = 1e-6, 1e-12

local MOST_EVENTS = 1000 -- limit of events that follow one another at one time

local Instance = {}
Instance.__index = Instance

local function raise(text, ...) error(format(text, ...), 0) end

-- ---- values ----

-- The table v that functions of the model get: v.NAME is the present value of a parameter or an input, v.time the
-- time.
local function values_table(self)
  local by_name = {}
  for _, record in ipairs(self.model.variables) do
    if record.start ~= nil and not record.state then by_name[record.name] = record end
  end
  return setmetatable({}, {
    __index = function(_, name)
      local record = by_name[name]
      if record then return self.values[record.reference] end
      if name == "time" then return self:time() end
      local known = {}
      for other in pairs(by_name) do known[#known + 1] = tostring(other) end
      table.sort(known)
      raise("there is no parameter or input '%s' (known: %s)", tostring(name), table.concat(known, ", ") .. ", time")
    end,
    __newindex = function(_, name) raise("the value of '%s' is set by the tool that runs the model",
      tostring(name)) end,
    __pairs = function()
      local copy = {}
      for name, record in pairs(by_name) do copy[name] = self.values[record.reference] end
      return next, copy, nil
    end,
  })
end

local function set_start_values(self)
  self.values = {}
  for _, record in ipairs(self.model.variables) do self.values[record.reference] = record.start end
end

-- kind: "cosimulation" or "modelexchange".
function instance.new(model, kind)
  local self = setmetatable({ model = model, exchanging = kind == "modelexchange", phase = "made" }, Instance)
  self.states_of = {} -- references of states and derivatives -> { field, index }
  local place = 0
  for _, record in ipairs(model.variables) do
    if record.state then
      place = place + 1
      self.states_of[record.reference] = { "states", place }
    end
  end
  for i, record in ipairs(model.derivatives or {}) do self.states_of[record.reference] = { "derivatives", i } end
  set_start_values(self)
  self.v = values_table(self)
  self.experiment = { start = 0 }
  return self
end

-- ---- the object ----

-- The time at which a run ends when the importer does not tell: none, as far as a grid of times can have it.
local NEVER = 1e300

function Instance:time()
  return self.object and self.model.kind.time(self.object) or self.experiment.start
end

-- Makes the object anew when a value has changed that setup may have used.
function Instance:build()
  if self.object and not self.stale then return self.object end
  self:drop()
  local e = self.experiment
  local run = { start = e.start, stop = e.stop or NEVER, tolerance = e.tolerance }
  self.object = self.model.kind.open(self.model, self.v, run, self.values)
  self.object.exchange = self.exchanging or nil
  self.stale = false
  if self.exchanging or self.model.derivatives then self.model.kind.exchange(self.model, self.object) end
  return self.object
end

function Instance:drop()
  if self.object then self.model.kind.close(self.object) end
  self.object = nil
end

function Instance:setup_experiment(start, stop, tolerance)
  self.experiment = { start = start, stop = stop, tolerance = tolerance }
  self.stale = true
end

function Instance:enter_initialization() self.phase = "starting" end

function Instance:exit_initialization()
  local object = self:build()
  if self.exchanging then self.model.kind.completed(object) end
  self.phase = "running"
end

function Instance:reset()
  self:drop()
  set_start_values(self)
  self.experiment, self.phase, self.continuous = { start = 0 }, "made", false
end

-- ---- get and set ----

local function find(self, kind, reference)
  local record = self.model.variables[reference + 1]
  if not record or record.type ~= kind then raise("there is no %s with the value reference %d", kind, reference) end
  return record
end

local function get(self, record)
  local value = self.values[record.reference]
  local place = self.states_of[record.reference]
  if place and not (self.phase == "made" and value ~= nil) then
    return self.model.kind[place[1]](self:build())[place[2]]
  end
  if value ~= nil then return value end
  local object = self:build()
  return variables.value(record.type, record.get(self.model.kind.subject(object), self.v),
    ("%s '%s': get"):format(record.causality, record.name))
end

function Instance:get(kind, references)
  local out = {}
  for i, reference in ipairs(references) do out[i] = get(self, find(self, kind, reference)) end
  return out
end

local function check_settable(self, record)
  if record.start == nil then raise("'%s' is computed by the model: it cannot be set", record.name) end
  local free = self.phase ~= "running" or record.causality == "input" or record.variability == "tunable"
  if not free then raise("'%s' can only be set before the initialization ends", record.name) end
  if self.continuous and record.variability ~= "continuous" then
    raise("'%s' is %s: it can only be set in event mode", record.name, record.variability)
  end
end

function Instance:set(kind, references, values)
  for i, reference in ipairs(references) do
    local record = find(self, kind, reference)
    check_settable(self, record)
    self.values[reference] = variables.value(kind, values[i], "'" .. record.name .. "'")
    if self.phase ~= "running" then self.stale = true
    else
      if record.set then record.set(self.model.kind.subject(self.object), values[i], self.v) end
      if self.exchanging then self.model.kind.changed(self.object) end
    end
  end
end

-- ---- co-simulation ----

-- Returns the time reached, and nil or a message why it is not the end of the step.
function Instance:step(from, length)
  local object, kind = self:build(), self.model.kind
  local now, target = kind.time(object), from + length
  if length < 0 or target - target ~= 0 then raise("fmi2DoStep: the length of a step is %g", length) end
  if math.abs(now - from) > OF_STEP * length + OF_TIME * math.abs(now) then
    raise("fmi2DoStep: the step begins at t = %g, and the model is at t = %g", from, now)
  end
  local good, message = pcall(kind.advance, object, target)
  if good then return kind.time(object), nil end
  return kind.time(object), tostring(message)
end

-- ---- model exchange ----

for _, name in ipairs { "states", "derivatives", "indicators" } do
  Instance[name] = function(self) return self.model.kind[name](self:build()) end
end

function Instance:nominals()
  local out = {}
  for _, record in ipairs(self.model.variables) do
    if record.state then out[#out + 1] = record.nominal or 1.0 end
  end
  return out
end

function Instance:set_time(t) self.model.kind.set_time(self.object, t) end
function Instance:set_states(x) self.model.kind.set_states(self.object, x) end
function Instance:enter_event_mode() self.continuous = false end
function Instance:enter_continuous_mode()
  self.continuous = true
  self.model.kind.completed(self.object)
end

-- The importer has accepted a step. Returns whether it is to enter event mode.
function Instance:completed_step() return self.model.kind.completed(self.object) end

-- What happens now, until nothing more does. Returns whether states have changed, the time of the next event that is
-- known before or nil, and whether the run has ended.
function Instance:update()
  local jumps = false
  for _ = 1, MOST_EVENTS do
    local happened, changed = self.model.kind.update(self.object)
    jumps = jumps or changed
    if not happened then return jumps, self.model.kind.next(self.object) end
  end
  raise "events follow one another without end at one time"
end

-- ---- stored states ----

function Instance:save()
  local object, model = self:build(), self.model
  local own = model.save and model.save(model.kind.subject(object))
  local good, text = pcall(packed.write, { guid = self.guid or false, values = self.values,
    experiment = self.experiment,
    phase = self.phase, continuous = self.continuous or false, object = model.kind.save(object), own = own })
  if not good then raise("save: %s", text) end
  return text
end

function Instance:restore(text)
  local saved, model = packed.read(text), self.model
  if type(saved) ~= "table" or saved.guid ~= (self.guid or false) then
    raise "the stored state is not one of this unit"
  end
  local fresh = not self.object
  for _, record in ipairs(model.variables) do
    local reference = record.reference
    local kept = record.causality == "input" or record.variability == "tunable"
    if not kept and self.values[reference] ~= saved.values[reference] then fresh = true end
  end
  self.values, self.experiment, self.phase = saved.values, saved.experiment, saved.phase
  self.continuous = saved.continuous
  self.stale = fresh
  local object = self:build()
  model.kind.restore(object, saved.object)
  if model.restore then model.restore(model.kind.subject(object), saved.own) end
end

return instance
