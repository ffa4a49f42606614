-- nslua.fmi.command: the command `nslua fmu SCRIPT [FILE] [options]`, which exports a script's model as a unit (FMU).
-- Returns a function that gets the arguments, a list, and returns whether all went well.

local _ENV = require "nslua.base.env"()

local USAGE = [[
usage: nslua fmu SCRIPT [FILE.fmu] [options]
  --kind KIND     cosimulation (the default), modelexchange or both
  --name NAME     the model's name in other tools
  --file NAME     a file in the script's directory that the model needs; may be given several times
  --no-libraries  leaves the libraries of linear algebra out: the unit needs the libraries of its machine]]

local function refuse(text, ...)
  io.stderr:write("nslua fmu: ", text:format(...), "\n", USAGE, "\n")
  return false
end

-- The script, the file, and the options of ns.fmi.export; or nil and a message.
local function read(arguments)
  local names, options, i = {}, { files = {} }, 1
  while i <= #arguments do
    local word = arguments[i]
    local with_value = word == "--kind" or word == "--name" or word == "--file"
    if with_value then
      i = i + 1
      if not arguments[i] then return nil, ("'%s' needs an argument"):format(word) end
      if word == "--file" then table.insert(options.files, arguments[i])
      else options[word:sub(3)] = arguments[i] end
    elseif word == "--no-libraries" then options.libraries = false
    elseif word:find "^%-" then return nil, ("unrecognized option '%s'"):format(word)
    else names[#names + 1] = word end
    i = i + 1
  end
  if #names < 1 or #names > 2 then return nil, "expected a script and at most one file" end
  return names, options
end

return function(arguments)
  if arguments[1] == "--help" then
    print(USAGE)
    return true
  end
  local names, options = read(arguments)
  if not names then return refuse("%s", options) end
  local file = names[2] or names[1]:gsub("%.lua$", "") .. ".fmu"
  local good, told = pcall(require "nslua".fmi.export, names[1], file, options)
  if not good then
    io.stderr:write("nslua: ", tostring(told), "\n")
    return false
  end
  print(("written: %s, the model '%s' with %d variables"):format(file, told.name, told.variables))
  return true
end
