-- nslua.base.env: the globals as they were when nslua was first loaded, for its files. A script may call a variable
-- of its own `type` or `load`, and files that are read later do not see it.
--
-- Returns a function of a table for _ENV, and sees to it that `require` loads the files of nslua with it: they need
-- not ask for it, but for those that may be the first (init.lua, repl.lua, doctor.lua).

local env, write = {}, print
for name, value in pairs(_G) do env[name] = value end

local _ENV = env

-- What a script puts in the place of print gets what nslua prints.
function env.print(...)
  local put = rawget(_G, "print")
  return (type(put) == "function" and put or write)(...)
end

-- A searcher for package.searchers.
local function find(name)
  local path = name:find("^nslua%.") and package.searchpath(name, package.path)
  if not path then return nil end
  local chunk, message = loadfile(path, "bt", env)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, message), 0) end
  return chunk, path
end

table.insert(package.searchers, 2, find)

-- A function, so that tracebacks, which look for names among what is loaded, do not find those of Lua here.
return function() return env end
