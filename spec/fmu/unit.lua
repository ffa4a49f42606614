-- Units (FMU) for specs: writes a script, exports it, unpacks the unit and opens it as an importer does.
local host = require "host"
local rules = require "fmu.description_rules"
local ns = require "nslua"

local unit = {}

-- Whether this build can export units.
unit.here = package.searchpath("nslua.fmu", package.cpath) ~= nil

-- The module that imports units (importer.c). It is opened without package.loaded, once per process.
local importer
local function module()
  if not importer then
    local open = assert(package.loadlib(host.make "fmu/importer.so", "luaopen_importer"))
    importer = open "importer"
  end
  return importer
end

-- Writes a script into a directory and exports it; options as those of ns.fmi.export, without libraries. Returns a unit:
-- its directory, its xml, and references[name] and types[name] of its variables.
function unit.make(directory, name, script, options)
  options = options or {}
  options.libraries = options.libraries or false
  host.write(directory .. "/" .. name .. ".lua", script)
  local file = directory .. "/" .. name .. ".fmu"
  local told = ns.fmi.export(directory .. "/" .. name .. ".lua", file, options)
  return unit.unpack(file, directory .. "/unpacked " .. name, told)
end

function unit.unpack(file, place, told)
  module().unzip(file, place)
  local self = { place = place, file = file, told = told, xml = host.read(place .. "/modelDescription.xml"), references = {},
    types = {} }
  rules.check(self.xml)
  rules.schema(place .. "/modelDescription.xml")
  self.guid = self.xml:match 'guid="([^"]*)"'
  self.identifier = self.xml:match 'modelIdentifier="([^"]*)"'
  for head, kind in self.xml:gmatch "<ScalarVariable (.-)>%s*<(%a+)" do
    local variable = head:match 'name="([^"]*)"'
    self.references[variable], self.types[variable] = tonumber(head:match 'valueReference="(%d+)"'), kind
  end
  return self
end

-- The shared library of a unit.
function unit.open(self)
  return module().open(("%s/binaries/linux64/%s.so"):format(self.place, self.identifier))
end

-- The URI of its resources; the blank in the directory's name is written as %20.
function unit.resources(self) return "file://" .. self.place:gsub(" ", "%%20") .. "/resources" end

local Instance = {}
Instance.__index = Instance

-- An instance whose variables are got and set by name.
function unit.instance(self, kind, name)
  local library = unit.open(self)
  local c, log = library:instantiate(name or "one", kind or "cosimulation", self.guid, unit.resources(self), true)
  return c and setmetatable({ c = c, unit = self }, Instance), log
end

function Instance:set(name, value)
  return self.c:set(self.unit.types[name], { self.unit.references[name] }, { value })
end

function Instance:get(name)
  local status, values = self.c:get(self.unit.types[name], { self.unit.references[name] })
  if status ~= "OK" then return nil, status end
  return values[1], status
end

-- Goes through initialization; values: parameters and inputs by name, set before it.
function Instance:start(start, stop, values)
  assert(self.c:setup(start, stop) == "OK")
  for name, value in pairs(values or {}) do assert(self:set(name, value) == "OK") end
  assert(self.c:call "EnterInitializationMode" == "OK")
  assert(self.c:call "ExitInitializationMode" == "OK")
  return self
end

function Instance:log() return table.concat(self.c:log(), "\n") end

return unit
