-- nslua.repl: the prompt. Returns a function (host, script): host has the functions for the terminal
-- (src/repl/prompt.h), script is the path of a script to run first, or nil. Without a terminal the prompt reads
-- standard input, so that a session can come from a pipe.

local _ENV = require "nslua.base.env"()
local evaluation = require "nslua.repl.evaluation"
local printer = require "nslua.repl.print"
local session_of = require "nslua.repl.session"
local source = require "nslua.repl.source"

local FIRST, MORE = "> ", ">> "

-- ---- output ----

local function plain_readline(prompt)
  io.write(prompt)
  io.flush()
  return io.read "l"
end

-- Prints a message on the error output. On a terminal with colours the message is red and the traceback dim.
local function complain(state, message)
  io.stdout:flush()
  message = printer.plain(message)
  if state.host.colour then
    local head, trace = message:match "^(.-)(\nstack traceback:\n.*)$"
    message = ("\27[31m%s\27[0m"):format(head or message) .. (trace and ("\27[2m%s\27[0m"):format(trace) or "")
  end
  io.stderr:write(message, "\n")
end

-- ---- errors ----

-- Calls f so that Ctrl-C stops it. Returns true and its results in a table. After an error prints that and returns
-- false.
local function evaluate(state, f, ...)
  local good, results = evaluation.call(state, f, ...)
  if good then return true, results end
  complain(state, results)
  return false
end

local function preload(state)
  state.problem = evaluation.offer_names(state) or state.problem
end

-- ---- showing ----

local function show(state, values)
  local text = printer.values(values, state.host.width())
  if text then print(text) end
end

local function duration(seconds)
  if seconds < 1e-3 then return ("%.3g us"):format(seconds * 1e6) end
  if seconds < 1 then return ("%.3g ms"):format(seconds * 1e3) end
  return ("%.4g s"):format(seconds)
end

local function run(state, chunk, text, timed)
  state.session.refresh()
  local start = state.host.clock()
  local good, values = evaluate(state, chunk)
  local elapsed = state.host.clock() - start
  if good and values.n > 0 then
    evaluation.keep_result(state, state.inputs, values[1])
    if not source.silent(text) then evaluate(state, show, state, values) end
  end
  if timed then print("time: " .. duration(elapsed)) end
end

-- ---- help ----

local function help_command(state, what)
  local help = require "nslua.repl.help"
  evaluate(state, function() help.show(help.about(what, state.session, state.given)) end)
end

-- ---- lines ----

local commands = {}

-- Reads a line more. The key Up goes back to the lines before it; those after the line that is changed stay. Returns
-- true at the end of input, false after Ctrl-C.
local function read_more(state, lines)
  local k = #lines + 1
  while true do
    local above = lines[k - 1] and (k == 2 and FIRST or MORE) .. lines[k - 1]
    local line, up = state.readline(k == 1 and FIRST or MORE, table.concat(lines, "\n", 1, k - 1), lines[k], above,
      k < #lines)
    if not line then return line == nil end
    lines[k] = line
    if not up and k == #lines then return nil end
    k = up and k - 1 or k + 1
  end
end

-- Reads lines until they are a complete chunk, or until more lines cannot correct an error. Returns the text, the
-- part of it that is to be run, the chunk (or nil) and the error message. Returns false after Ctrl-C, nil at the end
-- of input.
local function read(state)
  local text = state.readline(FIRST, "")
  if not text then return text end
  local command = text:match "^%s*:(%a+)"
  if text:find "^%s*%?" or (command and not commands[command]) then return text, text end
  if command and commands[command] ~= "chunk" then return text, text end
  local lines = { text }
  while true do
    text = table.concat(lines, "\n")
    local word, rest = text:match "^%s*:(%a+)(.*)$"
    local body = commands[word] == "chunk" and rest or text
    local name = ("[%d]"):format(state.inputs + 1)
    local chunk, message, more = source.compile(body, state.session.env, state.session.keeper, name)
    if word and not rest:find "%S" then return text, text end
    if not more then return text, body, chunk, message end
    local ended = read_more(state, lines)
    if ended == false then return false end
    if ended then return text, body, nil, message end
  end
end

commands.time = "chunk"
commands.help = function() require "nslua.repl.help".print() end
commands.quit = function() return true end
commands.doc = function(state, rest) help_command(state, rest) end

for _, name in ipairs { "edit", "load", "reset", "run", "vars" } do
  commands[name] = function(state, rest)
    local good, message = pcall(require "nslua.repl.commands"[name], state, rest)
    if not good then complain(state, tostring(message)) end
  end
end

local function leaves(state, text)
  local name = text:match "^%s*(%a+)%s*$" or text:match "^%s*(%a+)%s*%(%s*%)%s*$"
  return (name == "exit" or name == "quit") and state.session.get(name) == nil
end

local function remember(state, text)
  state.host.remember(text)
  if not state.history or text == state.last_entry then return end
  state.last_entry = text
  local good, message = require "nslua.repl.history".append(state.host, state.history, text)
  if good then return end
  state.history = nil
  complain(state, message)
end

local function run_command(state, text)
  local name, rest = text:match "^%s*:(%a+)%s*(.*)$"
  if not name then return help_command(state, text:match "^%s*%?%s*(.*)$") end
  if commands[name] == "chunk" then return complain(state, (":%s: expected something to run"):format(name)) end
  if not commands[name] then
    local known = ":doc, :edit, :help, :load, :quit, :reset, :run, :time, :vars; ?x for help about x"
    return complain(state, ("unknown command ':%s' (known: %s)"):format(name, known))
  end
  return commands[name](state, rest)
end

-- Reads and runs one input. Returns true at the end of the session.
local function turn(state)
  local text, body, chunk, message = read(state)
  if state.problem then
    complain(state, state.problem)
    state.problem = nil
  end
  if not text then return text == nil end
  if text:find "%S" then
    state.inputs = state.inputs + 1
    remember(state, text)
  end
  if leaves(state, text) then return true end
  if text:find "%S" and not text:find "^%s*[:?]" then state.last_text = text end
  if chunk then return run(state, chunk, body, body ~= text) end
  if message then return complain(state, message) end
  return run_command(state, text)
end

-- ---- the start ----

local function run_script(state, path, arguments)
  local script = require "nslua.repl.script"
  local chunk, message
  if path == "-" then chunk, message = loadfile() else chunk, message = script.load(path) end
  if not chunk then return complain(state, message) end
  script.begin()
  state.failed = function() script.look(chunk) end
  evaluate(state, chunk, table.unpack(arguments))
  state.failed = nil
  for name, variable in pairs(script.finish()) do state.session.declare(name, variable.value) end
end

-- Runs a text as if it were typed.
local function run_text(state, text)
  state.inputs = state.inputs + 1
  remember(state, text)
  state.last_text = text
  local name = ("[%d]"):format(state.inputs)
  local chunk, message = source.compile_cell(text, state.session.env, state.session.keeper, name)
  if chunk then run(state, chunk, text) else complain(state, message) end
end

local function open_terminal(state)
  local host = state.host
  local function idle() preload(state) end
  require "nslua.repl.help".show = function(text) require "nslua.repl.pager".show(host, text) end
  state.history = require "nslua.repl.history".path()
  if state.history then
    for _, entry in ipairs(require "nslua.repl.history".load(host, state.history)) do host.remember(entry) end
  end
  state.readline = function(prompt, before, text, above, below)
    if before ~= "" then before = before .. "\n" end
    local function complete(line, cursor)
      preload(state)
      return require "nslua.repl.complete".at(before .. line:sub(1, cursor), state.session, host, host.width())
    end
    local function colours(line) return require "nslua.repl.colours".line(before, line) end
    return host.readline(prompt, complete, idle, host.colour and colours or nil, text, above, below)
  end
end

return function(host, script)
  local state = { host = host, session = session_of(), readline = plain_readline, given = {},
    inputs = 0 }
  state.run_script = function(path, arguments) run_script(state, path, arguments) end
  state.run_text = function(text) run_text(state, text) end
  for name, value in next, _G do state.given[name] = value end -- these are not variables of the user
  if script then run_script(state, script, arg or {}) end
  if host.terminal then
    open_terminal(state)
    local screen = require "nslua.notebook.screen"
    screen.clock, screen.bar = host.clock, function(text, last)
      io.stderr:write("\r", text, "\27[K", last and "\n" or "")
    end
  else
    host.remember = function() end
    preload(state)
  end
  while true do
    local good, result = pcall(turn, state)
    if not good then complain(state, evaluation.text_of(result)) end
    if good and result == true then break end
  end
  print()
end
