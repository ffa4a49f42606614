-- nslua.fmi.unit_script: runs the script of a unit and takes the model that it returns.
local arguments = require "nslua.base.arguments"
local instance = require "nslua.fmi.instance"
local variables = require "nslua.fmi.variables"

local fail, describe = arguments.fail, arguments.describe

local script = {}

-- The directory of the script that is being run; ns.fmi.resource looks there. nil: none is.
script.directory = nil

-- Models, which ns.fmi.model marks.
script.models = setmetatable({}, { __mode = "k" })

-- The content of a file.
function script.read(path)
  local text, reason = arguments.content(path)
  return text or fail("fmi.export: cannot read '%s': %s", path, reason)
end

-- Runs a script and returns its model. name: what messages call it.
function script.load(path, name, directory)
  local chunk, message = load(script.read(path), "@" .. name)
  if not chunk then error(message, 0) end
  script.directory = directory
  local model = chunk()
  if not script.models[model] then
    fail("fmi.export: '%s' must return a model, as in: return ns.fmi.model { ... }; it returned %s", name,
      describe(model))
  end
  return model
end

-- Adds the discrete states of a simulation, and the states and derivatives of model exchange, when the unit has that
-- kind. Returns the number of indicators.
function script.complete(model, kinds)
  if model.completed then return model.indicators or 0 end
  local exchanges, simulates = kinds.modelexchange, model.kind.discrete ~= nil
  local probe = instance.new(model, exchanges and "modelexchange" or "cosimulation")
  if simulates then variables.add_discrete(model.variables, model.kind.discrete(probe:build())) end
  if exchanges then
    local found = model.kind.exchange(model, not simulates or probe:build())
    model.derivatives = variables.add_derivatives(model.variables, found.states)
    model.indicators = found.indicators
  end
  probe:drop()
  model.completed = true
  return model.indicators or 0
end

return script
