-- nslua.repl.colours: a line of Lua with the escape sequences of colours.
local source = require "nslua.repl.source"

local colours = {}

-- Foreground colours of the terminal's own palette, which its user has chosen to be readable.
local KEYWORD, STRING, NUMBER, COMMENT, CONSTANT = 35, 32, 36, 90, 33

local words = { ["true"] = CONSTANT, ["false"] = CONSTANT, ["nil"] = CONSTANT }
for word in ([[and break do else elseif end for function goto if in local not or repeat return then until
  while]]):gmatch "%a+" do
  words[word] = KEYWORD
end

local kinds = { string = STRING, number = NUMBER, comment = COMMENT }

-- The line in colours. `before` is what has been typed before it, with its newline: a string or a comment that is
-- open there goes on in the line. nil for a line that begins with : or ?, which is no Lua.
function colours.line(before, line)
  if before == "" and line:find "^%s*[:?]" then return nil end
  local parts, done = {}, 0
  source.each(before .. line, function(kind, from, to)
    from, to = math.max(from - #before, 1), to - #before
    if to < 1 then return end
    local text = line:sub(from, to)
    local code = kinds[kind] or kind == "name" and words[text]
    if not code then return end
    parts[#parts + 1] = line:sub(done + 1, from - 1)
    parts[#parts + 1] = ("\27[%dm%s\27[0m"):format(code, text)
    done = to
  end)
  return table.concat(parts) .. line:sub(done + 1)
end

return colours
