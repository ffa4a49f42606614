-- nslua.repl: the prompt. Returns a function (host, script): host has the functions for the terminal
-- (src/repl/prompt.h), script is the path of a script to run first, or nil. Without a terminal the prompt reads
-- standard input, so that a session can come from a pipe.

local _ENV = require "nslua.base.env"()
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

local function text_of(err)
  local meta = debug.getmetatable(err)
  if type(err) == "string" or type(err) == "number" then return tostring(err) end
  if type(meta) == "table" and rawget(meta, "__tostring") ~= nil then
    local good, text = pcall(tostring, err)
    if good then return text end
  end
  return ("(error object is a %s value)"):format(type(err))
end

-- The message handler. Returns the message with a traceback (its own if it has one) that ends at the user's code:
-- the last `state.below` lines belong to the prompt and are removed.
local function explain(state, err)
  if state.failed then state.failed() end
  local lines, text = {}, text_of(err)
  if not text:find("\nstack traceback:\n", 1, true) then text = debug.traceback(text, 3) end
  for line in text:gmatch "[^\n]*" do lines[#lines + 1] = line end
  if lines[#lines]:find "^\t" and #lines > state.below then
    for _ = 1, state.below do lines[#lines] = nil end
  end
  if lines[#lines] == "stack traceback:" then lines[#lines] = nil end
  return table.concat(lines, "\n")
end

-- Calls f so that Ctrl-C stops it. Returns true and its results in a table. After an error prints that and returns
-- false.
local function evaluate(state, f, ...)
  local _, newlines = debug.traceback("", 1):gsub("\n", "")
  state.below = newlines -- a line for each level from here on, and one for host.evaluate
  local results = table.pack(state.host.evaluate(state.explain, f, ...))
  if not results[1] then
    complain(state, results[2])
    return false
  end
  return true, table.pack(table.unpack(results, 2, results.n))
end

-- ---- names ----

-- Loads nslua, and sets the globals of the prompt (ns, help, sin ...) that are not set yet.
local function preload(state)
  if state.loaded then return end
  state.loaded = true
  local help = require "nslua.repl.help"
  local function offer(name, value)
    if rawget(_G, name) == nil then
      rawset(_G, name, value)
      state.given[name] = value
    end
  end
  offer("help", state.help)
  for _, name in ipairs(help.functions) do offer(name, math[name]) end
  offer("inf", math.huge)
  local good, ns = pcall(require, "nslua")
  if not good then
    state.problem = tostring(ns)
    return
  end
  offer("ns", ns)
  for _, name in ipairs(help.names) do offer(name, ns[name]) end
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
    rawset(_G, "_", values[1])
    if not source.silent(text) then evaluate(state, show, state, values) end
  end
  if timed then print("time: " .. duration(elapsed)) end
end

-- ---- help ----

-- Prints the help text about a value or a name. `method` is its name as a method of its class, "TimeStepping:run".
local function print_help(value, name, method)
  local help = require "nslua.repl.help"
  if value == nil and name == nil then return print(help.page) end
  local text, message = help.text(value, name, method)
  print(text or message or ("there is no help about %s"):format(name or printer.value(value)))
end

-- The same for a variable of the user, whose name has no text.
local function print_help_about(name, value)
  local help = require "nslua.repl.help"
  local text, message = help.text(value)
  print(text or message or help.about_variable(name, value))
end

-- The value of an expression; nil when it has an error.
local function value_of(state, expression)
  local chunk = load("return " .. expression, "=stdin", "t", state.session.env)
  local good, value = pcall(chunk or error)
  return good and value or nil
end

local function help_command(state, what)
  what = what:gsub("%s+$", "")
  if what == "" then return print_help() end
  local value = value_of(state, (what:gsub(":([%a_][%w_]*)$", ".%1")))
  if what:find "^[%a_][%w_]*$" and value ~= nil and state.given[what] ~= value then
    evaluate(state, print_help_about, what, value)
    return
  end
  local object, method = what:match "^(.+)[.:]([%a_][%w_]*)$"
  object = object and value_of(state, object)
  method = object ~= nil and require "nslua.repl.help".method(object, method) or nil
  evaluate(state, print_help, value, what, method)
end

-- ---- lines ----

local commands = {}

-- Reads lines until they are a complete chunk, or until more lines cannot correct an error. Returns the text, the
-- part of it that is to be run, the chunk (or nil) and the error message. Returns false after Ctrl-C, nil at the end
-- of input.
local function read(state)
  local text = state.readline(FIRST, "")
  if not text then return text end
  local command, rest = text:match "^%s*:(%a+)(.*)$"
  if text:find "^%s*%?" or (command and not commands[command]) then return text, text end
  if command and commands[command] ~= "chunk" then return text, text end
  while true do
    local body = command and text:match "^%s*:%a+(.*)$" or text
    local name = ("[%d]"):format(state.inputs + 1)
    local chunk, message, more = source.compile(body, state.session.env, state.session.keeper, name)
    if command and not rest:find "%S" then return text, text end
    if not more then return text, body, chunk, message end
    local line = state.readline(MORE, text .. "\n")
    if line == false then return false end
    if line == nil then return text, body, nil, message end
    text = text .. "\n" .. line
  end
end

commands.time = "chunk"
commands.help = function() print_help() end
commands.quit = function() return true end

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
    return complain(state, ("unknown command ':%s' (known: :help, :quit, :time; ?x for help about x)"):format(name))
  end
  return commands[name](rest)
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
  if chunk then return run(state, chunk, body, body ~= text) end
  if message then return complain(state, message) end
  return run_command(state, text)
end

-- ---- the start ----

local function run_script(state, path)
  local script = require "nslua.repl.script"
  local chunk, message
  if path == "-" then chunk, message = loadfile() else chunk, message = script.load(path) end
  if not chunk then return complain(state, message) end
  script.begin()
  state.failed = function() script.look(chunk) end
  evaluate(state, chunk, table.unpack(arg or {}))
  state.failed = nil
  for name, variable in pairs(script.finish()) do state.session.declare(name, variable.value) end
end

local function open_terminal(state)
  local host = state.host
  local function idle() preload(state) end
  state.history = require "nslua.repl.history".path()
  if state.history then
    for _, entry in ipairs(require "nslua.repl.history".load(host, state.history)) do host.remember(entry) end
  end
  state.readline = function(prompt, before)
    local function complete(line, cursor)
      preload(state)
      return require "nslua.repl.complete".at(before .. line:sub(1, cursor), state.session, host, host.width())
    end
    return host.readline(prompt, complete, idle)
  end
end

return function(host, script)
  local state = { host = host, session = session_of(), readline = plain_readline, help = print_help, given = {},
    inputs = 0 }
  for name, value in next, _G do state.given[name] = value end -- these are not variables of the user
  state.explain = function(err) return explain(state, err) end
  if script then run_script(state, script) end
  if host.terminal then
    open_terminal(state)
  else
    host.remember = function() end
    preload(state)
  end
  while true do
    local good, result = pcall(turn, state)
    if not good then complain(state, text_of(result)) end
    if good and result == true then break end
  end
  print()
end
