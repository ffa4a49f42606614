-- nslua.base.where: errors at the place in the user's code that led to them.
--
-- The files in the directory of nslua are not the user's code, nor are functions in C.

local where = {}

local directory = debug.getinfo(1, "S").source:match "^(.*[/\\])base[/\\]where%.lua$" or "\0"

-- Whether a frame is of nslua's own code, of which debug.getinfo has told the source and the kind ("S").
local function is_ours(info) return info.what == "C" or info.source:sub(1, #directory) == directory end

-- Raises the text as an error with the place of the innermost frame of the user's code, if there is one.
function where.fail(message)
  local depth, info = 2, debug.getinfo(2, "Sl")
  while info and (is_ours(info) or info.currentline < 0) do
    depth = depth + 1
    info = debug.getinfo(depth, "Sl")
  end
  error(info and ("%s:%d: %s"):format(info.short_src, info.currentline, message) or message, 0)
end

local function passed(good, first, ...)
  if not good and type(first) == "string" and first:find("not enough memory", 1, true) then error(first, 0) end
  return good, first, ...
end

-- pcall for what asks whether something fits: that memory ran out is no answer, and raised.
function where.try(f, ...) return passed(pcall(f, ...)) end

-- A text without the place that `fail` put before it; `who` is what the message itself begins with.
function where.bare(message, who) return (message:gsub("^[^\n]-:%d+: (" .. who .. ": )", "%1", 1)) end

local function told(who, good, first, ...)
  if good then return first, ... end
  if type(first) ~= "string" then error(first, 0) end
  local message = where.bare(first, who)
  if message:find("^" .. who .. ": ") then where.fail(message) end
  error(message, 0)
end

-- Calls a function in C: what it says itself, "WHO: ...", is raised with the user's place, what a callback raises as
-- it is.
function where.call(who, f, ...) return told(who, pcall(f, ...)) end

-- Lets the methods of a class, whose table is the metatable of its objects, refuse what is none of them: fig.show(),
-- ax.plot(t, x), a point in place of the colon. `noun` says what was expected, `name` stands for it in the example.
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

-- __index of a class: raises for a method that it does not have, in code of the user. Files of nslua get nil, since
-- they ask for fields that need not be there; so does everybody for a name in `fields` and one that begins with "_".
function where.missing(class, name, kind, fields)
  if type(name) ~= "string" or fields and fields[name] or name:find "^_" or is_ours(debug.getinfo(2, "S")) then
    return nil
  end
  error(require "nslua.base.names".of_class(kind, class, name), 2)
end

-- Lets the objects of a class, whose table is their __index, raise for a method that the class does not have. fields:
-- names, as a text, of fields that the user may ask for when they are not there.
function where.strict(class, fields)
  local set, kind = {}, class.__name
  for name in (fields or ""):gmatch "%S+" do set[name] = true end
  setmetatable(class, { __index = function(methods, name) return where.missing(methods, name, kind, set) end })
end

return where
