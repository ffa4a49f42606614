-- nslua.base.where: errors at the place in the user's code that led to them.
--
-- Modules in Lua call `ours()` once each: frames of their files are not the user's, nor are those of functions in C.

local where = {}
local files = {}

-- Counts the file that calls it among nslua's own.
function where.ours() files[debug.getinfo(2, "S").source] = true end

-- Raises the text as an error with the place of the innermost frame of the user's code, if there is one.
function where.fail(message)
  local depth, info = 2, debug.getinfo(2, "Sl")
  while info and (files[info.source] or info.currentline < 0) do
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
end

where.ours()

return where
