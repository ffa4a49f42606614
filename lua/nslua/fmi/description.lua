-- nslua.fmi.description: modelDescription.xml of a unit, FMI 2.0.
local core = require "nslua.core"
local units = require "nslua.fmi.units"

local format = core.number_support.format

local description = {}

local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["\n"] = "&#10;",
  ["\r"] = "&#13;",
  ["\t"] = "&#9;" }

local function escape(text) return (text:gsub('[&<>"\n\r\t]', escapes):gsub("%c", " ")) end

-- The shortest decimal text that reads as the number.
local function number(x)
  for digits = 15, 17 do
    local text = format("%." .. digits .. "g", x)
    if tonumber(text) == x or digits == 17 then return text end
  end
end

local function text_of(value)
  if type(value) == "boolean" then return tostring(value) end
  if math.type(value) == "integer" then return format("%d", value) end
  return type(value) == "number" and number(value) or escape(value)
end

-- ` name="value"` for each pair of a list { name, value, name, value, ... }; nil values are left out.
local function attributes(list, n)
  local out = {}
  for i = 1, n, 2 do
    if list[i + 1] ~= nil then out[#out + 1] = (' %s="%s"'):format(list[i], text_of(list[i + 1])) end
  end
  return table.concat(out)
end

local function tag(name, ...) return "<" .. name .. attributes({ ... }, select("#", ...)) end

local CATEGORIES = { { "logAll", "all messages; print of the script" }, { "logStatusWarning", "warnings" },
  { "logStatusDiscard", "steps that ended early" }, { "logStatusError", "errors" } }

-- ---- parts ----

local function add_kinds(out, unit)
  local capabilities = { "canGetAndSetFMUstate", true, "canSerializeFMUstate", true,
    "canNotUseMemoryManagementFunctions",
    true }
  if unit.kinds.modelexchange then
    out[#out + 1] = "  " .. tag("ModelExchange", "modelIdentifier", unit.identifier, table.unpack(capabilities))
      .. "/>"
  end
  if unit.kinds.cosimulation then
    out[#out + 1] = "  " .. tag("CoSimulation", "modelIdentifier", unit.identifier,
      "canHandleVariableCommunicationStepSize", true, table.unpack(capabilities)) .. "/>"
  end
end

local function add_units(out, list)
  local seen, names = {}, {}
  for _, record in ipairs(list) do
    if record.unit and not seen[record.unit] then seen[record.unit], names[#names + 1] = true, record.unit end
  end
  if #names == 0 then return end
  out[#out + 1] = "  <UnitDefinitions>"
  for _, name in ipairs(names) do
    local parsed = units.parse(name)
    if not parsed then
      out[#out + 1] = "    " .. tag("Unit", "name", name) .. "/>"
    else
      local given = {}
      for _, base in ipairs(units.bases) do
        if parsed[base] then
          given[#given + 1], given[#given + 2] = base, math.tointeger(parsed[base])
        end
      end
      if parsed.factor ~= 1 then given[#given + 1], given[#given + 2] = "factor", parsed.factor end
      if parsed.offset then given[#given + 1], given[#given + 2] = "offset", parsed.offset end
      out[#out + 1] = "    " .. tag("Unit", "name", name) .. "><BaseUnit" .. attributes(given, #given) .. "/></Unit>"
    end
  end
  out[#out + 1] = "  </UnitDefinitions>"
end

local function add_categories(out)
  out[#out + 1] = "  <LogCategories>"
  for _, category in ipairs(CATEGORIES) do
    out[#out + 1] = "    " .. tag("Category", "name", category[1], "description", category[2]) .. "/>"
  end
  out[#out + 1] = "  </LogCategories>"
end

local function add_variable(out, record)
  out[#out + 1] = "    " .. tag("ScalarVariable", "name", record.name, "valueReference", record.reference,
    "description",
    record.description, "causality", record.causality, "variability", record.variability, "initial", record.initial)
      .. ">"
  out[#out + 1] = "      " .. tag(record.type, "quantity", record.quantity, "unit", record.unit, "min", record.min,
    "max",
    record.max, "nominal", record.nominal, "start", record.start, "derivative",
    record.derivative_of and record.derivative_of.reference + 1, "reinit", record.reinit) .. "/>"
  out[#out + 1] = "    </ScalarVariable>"
end

-- An element of the ModelStructure with an Unknown for each record; nothing when there is none.
local function add_unknowns(out, name, list)
  if #list == 0 then return end
  out[#out + 1] = "    <" .. name .. ">"
  for _, record in ipairs(list) do
    out[#out + 1] = "      " .. tag("Unknown", "index", record.reference + 1) .. "/>"
  end
  out[#out + 1] = "    </" .. name .. ">"
end

local function add_structure(out, unit)
  local outputs, unknowns = {}, {}
  for _, record in ipairs(unit.variables) do
    local output = record.causality == "output"
    if output then outputs[#outputs + 1] = record end
    local exposed = output or record.derivative_of or record.state and unit.kinds.modelexchange
    if exposed and record.initial == "calculated" then unknowns[#unknowns + 1] = record end
  end
  out[#out + 1] = "  <ModelStructure>"
  add_unknowns(out, "Outputs", outputs)
  add_unknowns(out, "Derivatives", unit.derivatives)
  add_unknowns(out, "InitialUnknowns", unknowns)
  out[#out + 1] = "  </ModelStructure>"
end

-- The text. A unit has: name, identifier, guid, kinds (a set), texts (description, author, version, copyright,
-- license), experiment (start, stop, tolerance, step), variables, derivatives (records), indicators (their number).
function description.text(unit)
  local texts, experiment = unit.texts, unit.experiment
  local out = { '<?xml version="1.0" encoding="UTF-8"?>',
    tag("fmiModelDescription", "fmiVersion", "2.0", "modelName", unit.name, "guid", unit.guid, "description",
      texts.description, "author", texts.author, "version", texts.version, "copyright", texts.copyright, "license",
      texts.license, "generationTool", core._VERSION, "numberOfEventIndicators", unit.kinds.modelexchange
        and unit.indicators or 0) .. ">" }
  add_kinds(out, unit)
  add_units(out, unit.variables)
  add_categories(out)
  if next(experiment) then
    out[#out + 1] = "  " .. tag("DefaultExperiment", "startTime", experiment.start, "stopTime", experiment.stop,
      "tolerance", experiment.tolerance, "stepSize", experiment.step) .. "/>"
  end
  out[#out + 1] = "  <ModelVariables>"
  for _, record in ipairs(unit.variables) do add_variable(out, record) end
  out[#out + 1] = "  </ModelVariables>"
  add_structure(out, unit)
  out[#out + 1] = "</fmiModelDescription>"
  return table.concat(out, "\n") .. "\n"
end

return description
