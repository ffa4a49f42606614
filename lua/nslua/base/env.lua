-- nslua.base.env: a copy of the globals, taken when nslua is first loaded. The files of nslua use it as their _ENV.
-- So a script may have a global of its own named `type` or `load`, and files of nslua that are read later do not see
-- it.
--
-- Returns a function that returns the copy. From then on `require` loads every file of nslua with the copy. Only
-- files that may be the first to be loaded ask for it themselves: init.lua, repl.lua, repl/doctor.lua.

local env, write = {}, print
for name, value in pairs(_G) do env[name] = value end

local _ENV = env

-- When a script replaces the global print, nslua prints through the replacement.
function env.print(...)
  local put = rawget(_G, "print")
  return (type(put) == "function" and put or write)(...)
end

-- A searcher for package.searchers: it loads the files of nslua with the copy as _ENV.
local function find(name)
  local path = name:find("^nslua%.") and package.searchpath(name, package.path)
  if not path then return nil end
  local chunk, message = loadfile(path, "bt", env)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, message), 0) end
  return chunk, path
end

table.insert(package.searchers, 2, find)

-- The result is a function, not the table: tracebacks look for names of functions in the tables of loaded modules,
-- and would call Lua's own functions by names of this module.
return function() return env end
