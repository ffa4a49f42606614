-- nslua.repl.commands: the commands of the prompt that act on files and variables: :run, :load, :edit, :vars, :reset.
-- Each gets the state of the prompt and what was typed after its name. Errors are raised as messages.

local lists = require "nslua.base.lists"
local pages = require "nslua.help.pages"
local printer = require "nslua.repl.print"

local commands = {}

local function fail(text, ...) error(text:format(...), 0) end

local function read(path)
  local file, message = io.open(path, "rb")
  if not file then fail("%s", message) end
  local text, problem = file:read "a"
  file:close()
  return text or fail("%s: %s", path, problem)
end

-- :run FILE [arguments]: runs a script; its variables are kept.
function commands.run(state, rest)
  local words = pages.words(rest)
  local path = table.remove(words, 1) or fail ":run: expected a file, as in :run clutch.lua"
  words[0] = path
  local before = rawget(_G, "arg")
  rawset(_G, "arg", words)
  state.run_script(path, words)
  rawset(_G, "arg", before)
end

-- :load FILE: puts the text of a file into the history, to be changed and run.
function commands.load(state, rest)
  local path = pages.words(rest)[1] or fail ":load: expected a file, as in :load clutch.lua"
  local text = read(path):gsub("%s+$", "")
  local _, newlines = text:gsub("\n", "")
  state.host.remember(text)
  print(("%s: %d line%s; Up recalls them"):format(path, newlines + 1, newlines == 0 and "" or "s"))
end

-- :edit [FILE]: opens a file, or the last input, in the editor ($VISUAL, $EDITOR or vi), and runs what was saved.
function commands.edit(state, rest)
  local path = pages.words(rest)[1]
  local editor = os.getenv "VISUAL" or os.getenv "EDITOR" or "vi"
  local own = not path
  if own then
    path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write(state.last_text or "", "\n")
    file:close()
  end
  local good = os.execute(("%s '%s'"):format(editor, path:gsub("'", "'\\''")))
  local text = own and good and read(path):gsub("%s+$", "")
  if own then os.remove(path) end
  if not good then fail(":edit: the editor '%s' has failed: set EDITOR", editor) end
  if not own then return commands.run(state, path) end
  if text:find "%S" then state.run_text(text) end
end

-- The variables of the user by name: the locals of the session, and the globals that were not there at the start.
local function variables_of(state)
  return lists.keys(state.session.names(), function(name, value)
    return type(name) == "string" and name:find "^[%a][%w_]*$" and state.given[name] ~= value and name ~= "Out"
  end)
end

local function kind_of(value)
  local meta = debug.getmetatable(value)
  local name = type(meta) == "table" and type(value) ~= "string" and rawget(meta, "__name")
  return type(name) == "string" and name or math.type(value) or type(value)
end

-- :vars: the variables with their types and values.
function commands.vars(state)
  local names, lines, wide, kinds = variables_of(state), {}, 0, 0
  if #names == 0 then return print "no variables yet" end
  for _, name in ipairs(names) do
    wide, kinds = math.max(wide, #name), math.max(kinds, #kind_of(state.session.get(name)))
  end
  for _, name in ipairs(names) do
    local value = state.session.get(name)
    local text = printer.value(value, state.host.width()):gsub("%s*\n%s*", " ")
    local start = ("%-" .. wide .. "s  %-" .. kinds .. "s  "):format(name, kind_of(value))
    local room = math.max(20, state.host.width() - #start - 1)
    local short = text:sub(1, (utf8.offset(text, room - 2) or room) - 1)
    lines[#lines + 1] = start .. ((utf8.len(text) or #text) > room and short .. "..." or text)
  end
  require "nslua.repl.pager".show(state.host, table.concat(lines, "\n"))
end

-- :reset: forgets all variables.
function commands.reset(state, rest)
  if rest:find "%S" then fail(":reset: it forgets all variables; for one, name = nil: got '%s'", rest) end
  local names = variables_of(state)
  state.session.forget()
  for _, name in ipairs(names) do
    if rawget(_G, name) ~= nil then rawset(_G, name, state.given[name]) end
  end
  rawset(_G, "_", nil)
  state.outputs = nil
  rawset(_G, "Out", nil)
  print(("%d variable%s forgotten"):format(#names, #names == 1 and "" or "s"))
end

return commands
