-- The rules of the standard for modelDescription.xml, and a check by them. It raises for what breaks one.
local assert = require "luassert"
local host = require "host"

local checks = {}

-- The elements in their order, with the attributes that they may have; "!" marks those that they must have. The rules are
-- those of FMI 2.0.4, sections 2.2.1 to 2.2.8, for the elements that nslua writes.
local CAPABILITIES = "canBeInstantiatedOnlyOncePerProcess canNotUseMemoryManagementFunctions canGetAndSetFMUstate "
  .. "canSerializeFMUstate providesDirectionalDerivative needsExecutionTool"
local REAL = "declaredType quantity unit displayUnit relativeQuantity min max nominal unbounded start derivative reinit"
local rules = {
  fmiModelDescription = "fmiVersion! modelName! guid! description author version copyright license generationTool "
    .. "generationDateAndTime variableNamingConvention numberOfEventIndicators",
  ModelExchange = "modelIdentifier! completedIntegratorStepNotNeeded " .. CAPABILITIES,
  CoSimulation = "modelIdentifier! canHandleVariableCommunicationStepSize canInterpolateInputs maxOutputDerivativeOrder "
    .. "canRunAsynchronuously " .. CAPABILITIES,
  UnitDefinitions = "", Unit = "name!", BaseUnit = "kg m s A K mol cd rad factor offset",
  LogCategories = "", Category = "name! description",
  DefaultExperiment = "startTime stopTime tolerance stepSize",
  ModelVariables = "",
  ScalarVariable = "name! valueReference! description causality variability initial canHandleMultipleSetPerTimeInstant",
  Real = REAL, Integer = "declaredType quantity min max start", Boolean = "declaredType start", String = "declaredType start",
  ModelStructure = "", Outputs = "", Derivatives = "", InitialUnknowns = "", Unknown = "index! dependencies dependenciesKind",
}
local ORDER = { "ModelExchange", "CoSimulation", "UnitDefinitions", "LogCategories", "DefaultExperiment", "ModelVariables",
  "ModelStructure" }

-- The elements of a text of XML: { name, attributes, children }. Raises for what is not well formed.
local function parse(text)
  local root = { children = {} }
  local open, at = { root }, text:match "^<%?xml[^>]*%?>%s*()"
  while at <= #text do
    local slash, name, rest, closed, next_at = text:match("^<(/?)([%w]+)([^<>]-)(/?)>%s*()", at)
    assert(name, "not XML: " .. text:sub(at, at + 60))
    if slash == "/" then
      assert.equal(open[#open].name, name)
      open[#open] = nil
    else
      local element = { name = name, attributes = {}, children = {} }
      local left = rest:gsub('%s+([%w]+)="([^"]*)"', function(key, value)
        assert.is_nil(element.attributes[key])
        element.attributes[key] = value
        return ""
      end)
      assert.equal("", (left:gsub("%s", "")))
      table.insert(open[#open].children, element)
      if closed ~= "/" then open[#open + 1] = element end
    end
    at = next_at
  end
  assert.equal(1, #open)
  assert.equal(1, #root.children)
  return root.children[1]
end

local function check_attributes(element)
  local rule = assert(rules[element.name], "unknown element " .. element.name)
  for key in pairs(element.attributes) do
    assert.truthy((" " .. rule .. " "):find(" " .. key .. "!? "), element.name .. ": " .. key)
  end
  for key in rule:gmatch "(%w+)!" do assert.truthy(element.attributes[key], element.name .. ": no " .. key) end
  for _, child in ipairs(element.children) do check_attributes(child) end
end

-- Which combinations of causality and variability have which `initial`: FMI 2.0.4, section 2.2.7.
local initials = {
  ["parameter fixed"] = "exact", ["parameter tunable"] = "exact", ["input discrete"] = "none",
  ["input continuous"] = "none", ["output discrete"] = "exact approx calculated",
  ["output continuous"] = "exact approx calculated", ["local discrete"] = "exact approx calculated",
  ["local continuous"] = "exact approx calculated",
}

local function check_variables(variables)
  local names = {}
  for _, variable in ipairs(variables) do
    local a, value = variable.attributes, variable.children[1]
    assert.is_nil(names[a.name])
    names[a.name] = true
    assert.equal(1, #variable.children)
    local allowed = assert(initials[a.causality .. " " .. a.variability], a.causality .. " " .. a.variability)
    assert.truthy((" " .. allowed .. " "):find(" " .. (a.initial or "none") .. " "))
    local needs = a.causality == "input" or a.initial == "exact" or a.initial == "approx"
    assert.equal(needs, value.attributes.start ~= nil)
    assert.is_true(value.name == "Real" or a.variability ~= "continuous")
  end
end

-- The variables that an element of the structure names.
local function indices(structure, name)
  local list = {}
  for _, element in ipairs(structure.children) do
    if element.name == name then
      for _, unknown in ipairs(element.children) do list[#list + 1] = tonumber(unknown.attributes.index) end
    end
  end
  return list
end

local function check_structure(variables, structure)
  local outputs, unknowns, derivatives = {}, {}, indices(structure, "Derivatives")
  local is_derivative = {}
  for _, index in ipairs(derivatives) do
    local state = tonumber(variables[index].children[1].attributes.derivative)
    assert.equal("Real", variables[state].children[1].name)
    is_derivative[index], is_derivative[state] = true, true
  end
  for index, variable in ipairs(variables) do
    local output = variable.attributes.causality == "output"
    if output then outputs[#outputs + 1] = index end
    if (output or is_derivative[index]) and variable.attributes.initial == "calculated" then unknowns[#unknowns + 1] = index end
  end
  assert.same(outputs, indices(structure, "Outputs"))
  assert.same(unknowns, indices(structure, "InitialUnknowns"))
end

-- Units have names of their own, and each unit of a variable is defined.
local function check_units(variables, definitions)
  local defined = {}
  for _, unit in ipairs(definitions and definitions.children or {}) do
    assert.is_nil(defined[unit.attributes.name])
    defined[unit.attributes.name] = true
  end
  for _, variable in ipairs(variables) do
    local unit = variable.children[1].attributes.unit
    assert.is_true(unit == nil or defined[unit], unit)
  end
end

-- Checks a text; returns its elements by name, and the root.
function checks.check(text)
  local root = parse(text)
  assert.equal("fmiModelDescription", root.name)
  assert.equal("2.0", root.attributes.fmiVersion)
  check_attributes(root)
  local place, by_name = 0, {}
  for _, element in ipairs(root.children) do
    by_name[element.name] = element
    local found
    for i = place + 1, #ORDER do found = found or ORDER[i] == element.name and i or nil end
    place = assert(found, element.name .. " is out of order")
  end
  assert.truthy(by_name.ModelExchange or by_name.CoSimulation)
  check_units(by_name.ModelVariables.children, by_name.UnitDefinitions)
  check_variables(by_name.ModelVariables.children)
  check_structure(by_name.ModelVariables.children, by_name.ModelStructure)
  return by_name, root
end

-- Checks a file with the schema of the standard, where NSLUA_FMI_SCHEMA tells the path of fmi2ModelDescription.xsd (it is
-- in the archive of the standard) and xmllint is there.
function checks.schema(path)
  local schema = os.getenv "NSLUA_FMI_SCHEMA"
  if not schema then return end
  local _, err, code = host.run(("xmllint --noout --schema %s %s"):format(host.quote(schema), host.quote(path)))
  assert.equal(0, code, err)
end

return checks
