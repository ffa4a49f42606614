-- nslua.base.where: errors at the place in the user's code that led to them.
--
-- The files in the directory of nslua are not the user's code, nor are functions in C.

local where = {}

-- As Lua's own; a watch of a compiled callback knows by it that what is caught here is raised again.
local pcall = require "nslua.core".pcall

local directory = debug.getinfo(1, "S").source:match "^(.*[/\\])base[/\\]where%.lua$" or "\0"

-- Whether a frame is of nslua's own code, of which debug.getinfo has told the source and the kind ("S").
function where.is_ours(info) return info.what == "C" or info.source:sub(1, #directory) == directory end

-- Raises the text as an error with the place of the innermost frame of the user's code, if there is one.
function where.fail(message)
  local depth, info = 2, debug.getinfo(2, "Sl")
  while info and (where.is_ours(info) or info.currentline < 0) do
    depth = depth + 1
    info = debug.getinfo(depth, "Sl")
  end
  error(info and ("%s:%d: %s"):format(info.short_src, info.currentline, message) or message, 0)
end

-- Whether an error says nothing about the call that it came from: lack of memory, or Ctrl-C.
local function is_from_outside(message)
  if type(message) ~= "string" then return false end
  return message:find("not enough memory", 1, true) ~= nil or message:find "interrupted$" ~= nil
end

local function passed(good, first, ...)
  if not good and is_from_outside(first) then error(first, 0) end
  return good, first, ...
end

-- As pcall, for a call that tests whether its arguments are good. Lack of memory and Ctrl-C are no answers to that
-- question: they are raised.
function where.try(f, ...) return passed(pcall(f, ...)) end

-- A message without the place "file:line: " that `fail` put before it. `who` is the first word of the message
-- itself.
function where.bare(message, who) return (message:gsub("^[^\n]-:%d+: (" .. who .. ": )", "%1", 1)) end

-- A message without its traceback.
function where.without_trace(message) return message:match "^(.-)\nstack traceback:" or message end

local function told(who, good, first, ...)
  if good then return first, ... end
  if type(first) ~= "string" then error(first, 0) end
  local message = where.bare(first, who)
  if message:find("^" .. who .. ": ") then where.fail(message) end
  error(message, 0)
end

-- Calls a function in C. An error of the function itself begins with "WHO: ": it is raised with the place in the
-- user's code. An error of a callback is raised unchanged.
function where.call(who, f, ...) return told(who, pcall(f, ...)) end

-- Whether the name of a file, as errors write it, is of nslua. Long ones have "..." for their beginning.
local function is_our_file(name)
  return name:sub(1, #directory - 1) == directory:sub(2) or name:find "^%.%.%..*nslua[/\\][%w_/\\]+%.lua$" ~= nil
end

local function passed_on(good, first, ...)
  if good then return first, ... end
  if type(first) ~= "string" or is_from_outside(first) then error(first, 0) end
  local name, message = first:match "^([^\n:]+):%d+: (.*)$"
  if not name then where.fail(first) end
  if is_our_file(name) then where.fail(message) end
  error(first, 0)
end

-- Calls a function for code of the user. An error without a place, or at one in nslua, is raised with the place in
-- the user's code.
function where.pass(f, ...) return passed_on(pcall(f, ...)) end

-- Makes the methods of a class check their self, so that fig.show() and ax.plot(t, x), with a point in place of the
-- colon, raise. The table of the class is the metatable of its objects. In the message `noun` is what was expected
-- and `name` a variable in an example. It also makes unknown methods raise, as strict() does.
function where.methods(class, noun, name)
  for key, method in pairs(class) do
    if type(method) == "function" and not key:find "^__" and key ~= "new" then
      class[key] = function(self, ...)
        if getmetatable(self) ~= class then
          where.fail(("%s: expected %s before a colon, as in %s:%s(...)"):format(key, noun, name, key))
        end
        return method(self, ...)
      end
    end
  end
  where.strict(class)
end

-- An __index for a class: when code of the user asks for a method that the class does not have, it raises. Files of
-- nslua get nil, since they may ask for a field that is not set. Names in the set `fields`, and names that begin
-- with "_", give nil to everybody.
function where.missing(class, name, kind, fields)
  if type(name) ~= "string" or fields and fields[name] or name:find "^_" or where.is_ours(debug.getinfo(2, "S")) then
    return nil
  end
  error(require "nslua.base.names".of_class(kind, class, name), 2)
end

-- Makes the objects of a class raise for a method that the class does not have. The table of the class must be their
-- __index. fields (a text): names of fields that a user may read although they may be nil.
function where.strict(class, fields)
  local set, kind = {}, class.__name
  for name in (fields or ""):gmatch "%S+" do set[name] = true end
  setmetatable(class, { __index = function(methods, name) return where.missing(methods, name, kind, set) end })
end

return where
