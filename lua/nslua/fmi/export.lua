-- nslua.fmi.export: writes a unit (FMU): an archive with modelDescription.xml, the script with the files that it
-- needs, the Lua library of nslua, and a shared library with the engine, Lua and the functions of FMI.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local description = require "nslua.fmi.description"
local instance = require "nslua.fmi.instance"
local packed = require "nslua.fmi.packed"
local scripts = require "nslua.fmi.unit_script"
local variables = require "nslua.fmi.variables"

local fail, describe, expect, optional, reject =
  arguments.fail, arguments.describe, arguments.expect, arguments.optional, arguments.reject
local hash_of = require "nslua.sweep.tasks".hash_of
local read = scripts.read

local WHO = "fmi.export"

local KINDS = { cosimulation = { "cosimulation" }, modelexchange = { "modelexchange" },
  both = { "cosimulation", "modelexchange" } }

-- The platforms of FMI 2.0, by the machine in the header of an ELF file.
local PLATFORMS = { [62] = "linux64", [3] = "linux32" }

-- Libraries of every Linux system: parts of the C library. They are not packed.
local SYSTEM = { "^libc%.so", "^libm%.so", "^libdl%.so", "^librt%.so", "^libpthread%.so", "^ld%-linux",
  "^linux%-vdso" }

local function directory_of(path) return path:match "^(.*/)[^/]*$" or "" end
local function name_of(path) return path:match "[^/]*$" end

-- An archive that is being put together: names and contents in their order.
local function add(archive, name, contents)
  if archive.has[name] then return end
  archive.has[name] = true
  archive.names[#archive.names + 1] = name
  archive.contents[#archive.contents + 1] = contents
end

-- ---- what is packed ----

-- Adds all files of Lua of a directory and of those in it.
local function add_library(archive, path, place)
  local entries = core.journal_support.list_folder(path)
  table.sort(entries)
  for _, name in ipairs(entries) do
    local inside = path .. "/" .. name
    if name:find "%.lua$" then add(archive, place .. "/" .. name, read(inside))
    elseif not name:find "%." then
      local is_directory = pcall(core.journal_support.list_folder, inside)
      if is_directory then add_library(archive, inside, place .. "/" .. name) end
    end
  end
end

-- Adds the modules that the script has loaded, which stand in package.loaded.
local function add_modules(archive, names)
  table.sort(names)
  for _, name in ipairs(names) do
    local path = package.searchpath(name, package.path)
    if path then
      add(archive, "resources/files/" .. name:gsub("%.", "/") .. ".lua", read(path))
    elseif package.searchpath(name, package.cpath) then
      fail("%s: the script needs the module '%s', which is written in C: it cannot be packed", WHO, name)
    end
  end
end

local function add_files(archive, list, directory)
  expect(list, "table", "%s: files: expected a list of names", WHO)
  for i, name in ipairs(list) do
    reject(type(name) ~= "string" or name:find "^/" or name:find "%.%.", name,
      "%s: files[%d]: expected a name in the script's directory", WHO, i)
    add(archive, "resources/files/" .. name, read(directory .. name))
  end
end

-- The libraries that this process has loaded: paths by the names of their files.
local function loaded_libraries()
  local loaded = {}
  for line in io.lines "/proc/self/maps" do
    local path = line:match " (/.*%.so[%d.]*)$"
    if path then loaded[name_of(path)] = path end
  end
  return loaded
end

-- The libraries that a shared library needs, but for the libraries of every system: paths by name, and the names
-- sorted. One that is not found where the system looks may be loaded from a place that the program nslua knows.
local function libraries_of(path)
  local found = core.process_support.run { "ldd", path }
  if not found or found.status ~= 0 then
    fail("%s: libraries: ldd does not run; libraries = false packs none", WHO)
  end
  local paths, names, loaded = {}, {}, loaded_libraries()
  for name, place in found.out:gmatch "(%S+) => ([^\n]*)" do
    local skip = false
    for _, pattern in ipairs(SYSTEM) do skip = skip or name:find(pattern) ~= nil end
    if not skip and not paths[name] then
      paths[name], names[#names + 1] = place:match "^(/.*) %(" or loaded[name], name
      if not paths[name] then fail("%s: libraries: '%s' is not found; libraries = false packs none", WHO, name) end
    end
  end
  table.sort(names)
  return paths, names
end

-- The shared library of units. It lies beside the module nslua.core.
local function engine_library()
  local path = package.searchpath("nslua.fmu", package.cpath)
  if not path then
    fail("%s: the library for units, nslua/fmu.so, is not there: install the package nslua-fmu, or run make fmu, "
      .. "which needs the static library of Lua (on Debian liblua5.4-dev)", WHO)
  end
  local bytes = read(path)
  local platform = PLATFORMS[string.unpack("<I2", bytes, 19)]
  if not platform then fail("%s: FMI 2.0 has no name for this machine's platform", WHO) end
  return path, bytes, platform
end

-- ---- the script ----

-- Modules that are not a script's own.
local function is_own(name)
  return name == "_G" or name == "nslua" or name:find "^nslua%." or rawget(_G, name) ~= nil
end

-- Runs the script with modules of its own. Returns its model and the names of these modules.
local function run_script(path)
  local before, names = {}, {}
  for name, module in pairs(package.loaded) do
    if not is_own(name) then before[name] = module end
  end
  for name in pairs(before) do package.loaded[name] = nil end
  local old_path, old_directory = package.path, scripts.directory
  local directory = directory_of(path)
  package.path = directory .. "?.lua;" .. directory .. "?/init.lua;" .. package.path
  local good, model = pcall(scripts.load, path, name_of(path), directory == "" and "." or directory:sub(1, -2))
  scripts.directory = old_directory
  local modules = {}
  if good then
    for name in pairs(package.loaded) do
      if not is_own(name) then names[#names + 1] = name end
    end
    good, modules = pcall(function()
      local archive = { names = {}, contents = {}, has = {} }
      add_modules(archive, names)
      return archive
    end)
    if not good then model = modules end
  end
  package.path = old_path
  for _, name in ipairs(names) do package.loaded[name] = nil end
  for name, module in pairs(before) do package.loaded[name] = module end
  if not good then error(model, 0) end
  return model, modules
end

-- Makes an instance as an importer would, and looks at all its variables: an error shows now and not in the other
-- tool.
local function try(model, kinds, experiment)
  for _, kind in ipairs(kinds) do
    local trial <close> = setmetatable({ instance.new(model, kind) }, { __close = function(t) t[1]:drop() end })
    trial[1]:setup_experiment(experiment.start or 0, experiment.stop, experiment.tolerance)
    trial[1]:enter_initialization()
    for _, record in ipairs(model.variables) do trial[1]:get(record.type, { record.reference }) end
    model.kind.look(trial[1]:build())
    trial[1]:exit_initialization()
    trial[1]:save()
  end
end

-- ---- the unit ----

-- A name of C: letters, digits and _, no digit first.
local function identifier_of(name)
  local text = name:gsub("[^%w_]", "_")
  return text:find "^%d" and "_" .. text or text
end

local function check_names(script, file)
  expect(script, "string", "%s: script: expected the name of a file", WHO)
  reject(type(file) ~= "string" or not file:find "[^/]%.fmu$", file,
    "%s: file: expected a name that ends in .fmu", WHO)
end

return function(script, file, options)
  options = arguments.options(options, "fmi.export")
  check_names(script, file)
  local kinds = KINDS[options.kind or "cosimulation"]
  reject(not kinds, options.kind, "%s: kind: expected one of cosimulation, modelexchange, both", WHO)
  if options.name ~= nil then
    variables.text(options.name, WHO .. ": name")
    if not options.name:find "%S" then fail("%s: name: expected a name, got %s", WHO, describe(options.name)) end
  end
  optional(options.libraries, "boolean", "%s: libraries: expected true or false", WHO)
  local path, engine, platform = engine_library()
  local model, modules = run_script(script)
  local name = options.name or model.name or name_of(script):gsub("%.lua$", "")
  local unit = { name = name, identifier = identifier_of(name), kinds = {}, texts = model.texts,
    experiment = model.experiment, variables = model.variables }
  for _, kind in ipairs(kinds) do unit.kinds[kind] = true end
  unit.indicators = scripts.complete(model, unit.kinds)
  unit.derivatives = model.derivatives or {}
  try(model, kinds, model.experiment)
  local archive = { names = {}, contents = {}, has = { ["modelDescription.xml"] = true,
    ["resources/unit.lua"] = true } }
  add(archive, "resources/files/" .. name_of(script), read(script))
  for i, module in ipairs(modules.names) do add(archive, module, modules.contents[i]) end
  add_files(archive, options.files or {}, directory_of(script))
  unit.guid = ""
  unit.guid = "{" .. hash_of(description.text(unit) .. core._VERSION .. table.concat(archive.contents, "\0")) .. "}"
  table.insert(archive.names, 1, "modelDescription.xml")
  table.insert(archive.contents, 1, description.text(unit))
  add(archive, ("binaries/%s/%s.so"):format(platform, unit.identifier), engine)
  if options.libraries ~= false then
    local paths, names = libraries_of(path)
    for _, library in ipairs(names) do
      add(archive, ("binaries/%s/%s"):format(platform, library), read(paths[library]))
    end
  end
  archive.has["resources/unit.lua"] = nil
  add(archive, "resources/unit.lua", "return " .. packed.write { guid = unit.guid, script = name_of(script),
    kinds = unit.kinds } .. "\n")
  add_library(archive, package.searchpath("nslua", package.path):match "^(.*)/init%.lua$", "resources/lua/nslua")
  local written, message = pcall(core.file_support.save_zip, file, archive.names, archive.contents)
  if not written then fail("%s: %s", WHO, (tostring(message):gsub("^.-(cannot write )", "%1", 1))) end
  return { file = file, guid = unit.guid, name = unit.name, identifier = unit.identifier,
    variables = #unit.variables }
end
