-- nslua.fmi: ns.fmi, models for other simulation tools as units (FMU) of the Functional Mock-up Interface 2.0.
local arguments = require "nslua.base.arguments"
local variables = require "nslua.fmi.variables"
local where = require "nslua.base.where"

local fail, expect, optional = arguments.fail, arguments.expect, arguments.optional

local fmi = {}

-- The kinds of models. A model is of the kind whose first key its description has.
local kinds = {
  require "nslua.fmi.simulation_model",
  (require "nslua.fmi.equations_model"),
}

local TEXTS = { "name", "description", "author", "version", "copyright", "license" }

local Model = {}
Model.__index = Model
Model.__name = "fmi model"

function Model:__tostring()
  return ("fmi model: %d variables, %s"):format(#self.variables, self.kind.text)
end

local function kind_of(description)
  for _, kind in ipairs(kinds) do
    if description[kind.keys:match "%S+"] ~= nil then return kind end
  end
  fail("fmi.model: expected setup, a function that makes a simulation, or rhs and states, the equations of a model")
end

local function texts_of(description)
  local texts = {}
  for _, name in ipairs(TEXTS) do
    local text = description[name]
    texts[name] = text ~= nil and variables.text(text, "fmi.model: " .. name) or nil
  end
  return texts
end

local function experiment_of(description)
  local experiment = {}
  for _, name in ipairs { "start", "stop", "step", "tolerance" } do
    local value = description[name]
    if value ~= nil then
      experiment[name] = arguments.number(value, "fmi.model", name)
      local positive = name == "step" or name == "tolerance"
      if value - value ~= 0 or positive and value <= 0 then
        fail("fmi.model: %s: expected a %s number, got %g", name, positive and "positive" or "finite", value)
      end
    end
  end
  local start, stop = experiment.start or 0, experiment.stop
  if stop and stop < start then fail("fmi.model: stop = %g is before start = %g", stop, start) end
  return experiment
end

-- The model that a script for other tools returns.
function fmi.model(description)
  expect(description, "table", "fmi.model: expected a table")
  description = arguments.options(description, "fmi.model")
  local kind = kind_of(description)
  local others = ""
  for _, other in ipairs(kinds) do
    if other ~= kind then others = others .. other.keys .. " " end
  end
  for key in others:gmatch "%S+" do
    if description[key] ~= nil then fail("fmi.model: %s does not go with %s", key, kind.keys:match "%S+") end
  end
  for _, key in ipairs { "save", "restore" } do
    optional(description[key], "function", "fmi.model: %s: expected a function", key)
  end
  local model = setmetatable({ name = description.name, texts = texts_of(description),
    experiment = experiment_of(description),
    variables = variables.of(description), kind = kind, data = kind.declare(description),
    save = description.save, restore = description.restore }, Model)
  if #model.variables == 0 then
    fail("fmi.model: expected parameters, inputs, outputs or states: a unit has variables")
  end
  require "nslua.fmi.unit_script".models[model] = true
  return model
end

function fmi.export(...) return require "nslua.fmi.export"(...) end

-- The path of a file that was packed with the script, in a unit and outside of one.
function fmi.resource(name)
  expect(name, "string", "fmi.resource: name: expected a string")
  local directory = require "nslua.fmi.unit_script".directory
  if not directory then
    local caller = debug.getinfo(2, "S") -- nil where the call is the first one of a coroutine
    directory = caller and caller.source:match "^@(.*)/[^/]*$" or "."
  end
  return directory .. "/" .. name
end

where.strict(Model)

return fmi
