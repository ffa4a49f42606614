-- nslua.where: errors at the place in the user's code that led to them.
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

-- A text without the place that `fail` put before it; `who` is what the message itself begins with.
function where.bare(message, who) return (message:gsub("^[^\n]-:%d+: (" .. who .. ": )", "%1", 1)) end

where.ours()

return where
