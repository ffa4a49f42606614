-- nslua.repl.pager: shows long texts at the prompt page by page, by $PAGER or less. A text that fits on the screen, a
-- pipe, a dumb terminal, PAGER= and a pager that is not installed: the text is printed.

local pager = {}

-- The number of lines that a text takes on a screen of that width.
local function lines_on_screen(text, width)
  local count = 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local length = utf8.len(line) or #line
    count = count + math.max(1, (length + width - 1) // width)
  end
  return count
end

-- The command of the pager; nil when there is to be none.
local function command()
  local kind, own = os.getenv "TERM" or "", os.getenv "PAGER"
  if kind == "" or kind == "dumb" or own == "" or own == "cat" then return nil end
  return own or "less"
end

--- Prints a text, by the pager when it is longer than the screen. `host` has the functions for the terminal
--- (src/repl/prompt.h).
function pager.show(host, text)
  local program = host.terminal and lines_on_screen(text, host.width()) >= host.height() and command()
  if not program then return print(text) end
  local path, file
  host.private(function()
    path = os.tmpname()
    file = io.open(path, "wb")
  end)
  if not file then return print(text) end
  file:write(text, "\n")
  file:close()
  io.stdout:flush()
  -- less shows colours (-R), where LESS does not say otherwise; the text comes from a file, so that leaving the pager
  -- early ends nothing else
  local good, _, status = os.execute(('LESS="${LESS--R}" %s < "%s"'):format(program, path))
  os.remove(path)
  if not good and (status == 127 or status == 126) then print(text) end -- the shell has not found it
end

return pager
