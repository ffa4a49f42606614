-- A terminal for specs: a tmux with a server of its own, running a program. Nothing waits for a fixed time: wait(text)
-- polls the screen until the text appears.
local host = require "host"

local tmux = {}

local serial = 0

function tmux.available()
  return (os.execute "command -v tmux >/dev/null 2>&1")
end

local function output(command)
  local pipe = assert(io.popen("exec " .. command .. " 2>&1"))
  local text = pipe:read "a"
  pipe:close()
  return text
end

local methods = {}
methods.__index = methods

-- The screen's text, without blanks at its end.
function methods:screen()
  return (output(self.tmux .. "capture-pane -p -t s"):gsub("[ \n]+$", ""))
end

-- The screen with the escape sequences of colours.
function methods:colours()
  return output(self.tmux .. "capture-pane -e -p -t s")
end

-- Waits until a newline and the screen match a pattern; fails with the screen after half a minute. Returns the screen.
function methods:wait(pattern)
  local deadline = os.time() + (tonumber(os.getenv "TMUX_WAIT") or 30)
  repeat
    local text = "\n" .. self:screen()
    if text:find(pattern) then return text end
    os.execute "exec sleep 0.03"
  until os.time() > deadline
  error(("%q never came; the screen shows\n%s"):format(pattern, self:screen()), 2)
end

-- Types texts; <C-c>, <Enter>, <Tab>, <Up> ... are keys.
function methods:send(...)
  local words = {}
  for i, keys in ipairs { ... } do
    local key = keys:match "^<([%w-]+)>$"
    words[i] = "send-keys -t s " .. (key or "-l -- " .. host.quote(keys))
  end
  output(self.tmux .. table.concat(words, " ';' "))
end

-- Types a line, and waits for a pattern.
function methods:line(text, pattern)
  self:send(text, "<Enter>")
  return pattern and self:wait(pattern)
end

-- Clears the screen, and waits for the prompt.
function methods:clear()
  self:send("<C-l>")
  self:wait "^\n>[ ]*$"
end

function methods:resize(width, height)
  output(("%sresize-window -t s -x %d -y %d"):format(self.tmux, width, height))
end

function methods:stop()
  output(self.tmux .. "kill-server")
end

-- Starts a shell command in a terminal of 80 columns (or options.width) and 24 rows (options.height). What the
-- suite puts into the environment is removed; options.environment has further words for env, to remove or set variables.
function tmux.start(command, options)
  options = options or {}
  serial = serial + 1
  local name = ("nslua-spec-%s-%d"):format(host.new_directory():match "[^.]*$", serial)
  os.execute("rmdir /tmp/nslua-spec." .. name:match "^nslua%-spec%-(.*)%-%d+$")
  local self = setmetatable({ tmux = "env -u LD_PRELOAD tmux -L " .. name .. " " }, methods)
  local clean = "env -u TMUX -u LD_PRELOAD -u LUA_PATH -u LUA_CPATH -u LUA_INIT -u NO_COLOR -u LC_ALL "
  local line = clean .. (options.environment or "") .. " " .. command .. "; echo left with $?; sleep 100"
  output(("%s-f /dev/null new-session -d -s s -x %d -y %d %s"):format(self.tmux, options.width or 80,
    options.height or 24, host.quote(line)))
  return self
end

return tmux
