-- nslua.notebook.worker: runs the cells of a notebook. Returns a function (host): host has the functions for messages
-- (src/repl/prompt.h). The other end is nslua_kernel.py; both send JSON.
--
-- A request is { type = "execute" | "complete" | "inspect" | "is_complete" | "history" | "interact", ... } and gets
-- one answer with type "done". While a cell runs, the worker sends "display", "clear" and "input", and waits for the
-- answer to each, so that they stand in order with what the cell prints.

local _ENV = require "nslua.base.env"()
local complete = require "nslua.repl.complete"
local evaluation = require "nslua.repl.evaluation"
local help = require "nslua.repl.help"
local history = require "nslua.repl.history"
local html = require "nslua.web.html"
local json = require "nslua.notebook.json"
local printer = require "nslua.repl.print"
local screen = require "nslua.notebook.screen"
local source = require "nslua.repl.source"

-- These are read after nslua: they need its module.
local function bundle() return require "nslua.notebook.bundle" end
local function cell() return require "nslua.notebook.cell" end

-- ---- what the cell shows ----

local function open_screen(host)
  function screen.show(data, metadata, options)
    host.ask(html.json { type = "display", data = data, metadata = metadata or {}, id = options.id,
      update = options.update })
  end
  function screen.clear(wait) host.ask(html.json { type = "clear", wait = wait }) end
  screen.clock, screen.figures = host.clock, {}
  screen.options.pictures = os.getenv "NSLUA_PICTURES" or screen.options.pictures
end

-- ---- input ----

local typed = "" -- what was typed and not read yet

-- A line that the user types, without its end; nil when there is nobody to ask.
local function ask_line(host)
  if typed == "" then
    local text = host.ask(html.json { type = "input", prompt = "" })
    if not text then return nil end -- the kernel has ended
    local answer = json.decode(text)
    if answer.interrupted then error("interrupted!", 0) end
    if not answer.text then return nil end
    typed = answer.text .. "\n"
  end
  local line
  line, typed = typed:match "^(.-)\n(.*)$"
  return line
end

local readers = {}
function readers.l(host) return ask_line(host) end
function readers.a(host) return ask_line(host) or "" end
function readers.n(host) return tonumber(ask_line(host)) end
function readers.L(host)
  local line = ask_line(host)
  return line and line .. "\n"
end

local function read_typed(host, ...)
  local results, n = {}, math.max(select("#", ...), 1)
  for i = 1, n do
    local what = select(i, ...) or "l"
    local reader = readers[tostring(what):gsub("^%*", ""):sub(1, 1)]
    if type(what) == "number" then
      local line = readers.L(host)
      results[i], typed = line and line:sub(1, what), line and line:sub(what + 1) .. typed or ""
    else
      if not reader then error(("bad argument #%d to 'read' (invalid format)"):format(i), 3) end
      results[i] = reader(host)
    end
    if results[i] == nil then break end
  end
  return table.unpack(results, 1, n)
end

-- io.read, io.lines() and io.stdin:read() ask the user of the notebook.
local function open_input(host)
  local methods, file_lines = debug.getmetatable(io.stdin).__index, io.lines
  local read = methods.read
  methods.read = function(file, ...)
    if file ~= io.stdin then return read(file, ...) end
    return read_typed(host, ...)
  end
  rawset(io, "read", function(...)
    local file = io.input()
    if file ~= io.stdin then return read(file, ...) end
    return read_typed(host, ...)
  end)
  rawset(io, "lines", function(name, ...)
    if name ~= nil then return file_lines(name, ...) end
    return function() return (read_typed(host, "l")) end
  end)
end

-- ---- errors ----

-- The lines around the place of an error in the cells, the innermost one first found in the traceback.
local function excerpt(state, message)
  for count, line in message:gmatch "%[(%d+)%]:(%d+):" do
    local text, at = state.cells[tonumber(count)], tonumber(line)
    if text then
      local lines, k = { ("cell [%s], line %d"):format(count, at) }, 0
      for one in (text .. "\n"):gmatch "(.-)\n" do
        k = k + 1
        if math.abs(k - at) <= 2 then
          local mark = k == at and "\27[31m---->\27[0m" or "     "
          lines[#lines + 1] = ("%s %3d %s"):format(mark, k, printer.plain(one))
        end
      end
      return lines
    end
  end
  return {}
end

local function failure(state, message)
  message = printer.plain(message)
  local head, trace = message:match "^(.-)\n(stack traceback:\n.*)$"
  head = head or message
  local lines = excerpt(state, message)
  if #lines > 0 then lines[#lines + 1] = "" end
  lines[#lines + 1] = ("\27[31m%s\27[0m"):format(head)
  for line in (trace or ""):gmatch "[^\n]+" do lines[#lines + 1] = line end
  local kind = head:find "interrupted" and "Interrupted" or "Error"
  return { type = "done", status = "error", ename = kind, evalue = head, traceback = lines }
end

-- ---- cells ----

local function page(text) return { type = "done", status = "ok", page = text } end

-- The text of the help that a cell asks for: ?x, x? or :help; nil for another cell.
local function help_wanted(code)
  local what = code:match "^%s*%?+%s*([^\n]*)%s*$" or code:match "^%s*([%w_.:]+)%?+%s*$"
  if not what and code:find "^%s*:help%s*$" then what = "" end
  return what
end

-- The classes of values that are not shown as results: what they stand for is in the output already, or comes there.
local told_elsewhere = { axes = true, place = true }

local function class_of(value)
  local meta = type(value) == "table" and debug.getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") or nil
end

-- What a cell that has ended well shows: the bundle of its values, then the figures that are not shown yet.
local function finish(state, request, values, body)
  local answer = { type = "done", status = "ok" }
  if values.n > 0 and not request.silent then
    local class = values.n == 1 and class_of(values[1])
    evaluation.keep_result(state, request.count, values[1])
    local told = told_elsewhere[class] or class == "figure" and screen.options.pictures == "text"
    if not told and not source.silent(body) then
      if class == "figure" then values[1].shown = true end
      answer.result, answer.metadata = bundle().of_all(values)
    end
  end
  cell().finish()
  return answer
end

local function duration(seconds)
  local format = require "nslua.core".number_support.format
  if seconds < 1 then return format("%.3g ms", seconds * 1e3) end
  return format("%.4g s", seconds)
end

local handlers = {}

function handlers.execute(state, request)
  local code = request.code
  if request.store and code:find "%S" and state.history then
    if not history.append(state.host, state.history, code) then state.history = nil end
  end
  local what = help_wanted(code)
  if what then
    local good, results = evaluation.call(state, help.about, what, state.session, state.given)
    return good and page(results[1]) or failure(state, results)
  end
  local timed = code:match "^%s*:time()%s"
  local body = timed and (" "):rep(timed - 1) .. code:sub(timed) or code
  state.cells[request.count] = code
  local name = ("[%d]"):format(request.count)
  local chunk, message = source.compile_cell(body, state.session.env, state.session.keeper, name)
  if not chunk then return failure(state, message) end
  state.session.refresh()
  local start = state.host.clock()
  local good, results = evaluation.call(state, chunk)
  local elapsed = state.host.clock() - start
  if good and results.n >= 0 then good, results = evaluation.call(state, finish, state, request, results, body) end
  if timed then io.stdout:write("time: ", duration(elapsed), "\n") end
  if not good then
    screen.figures = {}
    return failure(state, results)
  end
  return results[1]
end

function handlers.interact(state, request)
  local good, results = evaluation.call(state, cell().changed, request.id, request.values)
  return good and { type = "done", status = "ok" } or failure(state, results)
end

-- ---- what an editor asks ----

function handlers.complete(state, request)
  local found = complete.candidates(request.code, state.session, state.host)
  if not found then return { type = "done", matches = {}, prefix = "" } end
  return { type = "done", matches = found.list, prefix = found.prefix }
end

function handlers.inspect(state, request)
  for _, subject in ipairs(complete.subjects(request.code)) do
    local good, results = evaluation.call(state, help.about, subject, state.session, state.given)
    if good and not results[1]:find "^help: " then return { type = "done", text = results[1] } end
  end
  return { type = "done" }
end

function handlers.is_complete(state, request)
  if help_wanted(request.code) then return { type = "done", status = "complete" } end
  local code = request.code:gsub("^%s*:time%s", "")
  local chunk, _, more = source.compile_cell(code, state.session.env, state.session.keeper, "cell")
  if chunk then return { type = "done", status = "complete" } end
  if more then return { type = "done", status = "incomplete", indent = source.indent(code) } end
  return { type = "done", status = "invalid" }
end

function handlers.history(state)
  local entries = state.history and history.load(state.host, state.history) or {}
  return { type = "done", entries = entries }
end

-- ---- the loop ----

-- The answer to the text of a request.
local function answer_to(state, text)
  local request = json.decode(text)
  local kind = type(request) == "table" and request.type or nil
  if type(kind) ~= "string" or not handlers[kind] then
    error(("worker: there is no request of the type '%s'"):format(tostring(kind)), 0)
  end
  if kind ~= "history" and kind ~= "interact" and type(request.code) ~= "string" then
    error(("worker: %s: code: expected a text, got %s"):format(kind, type(request.code)), 0)
  end
  if kind == "execute" and math.type(request.count) ~= "integer" then
    error(("worker: execute: count: expected an integer, got %s"):format(tostring(request.count)), 0)
  end
  return handlers[kind](state, request)
end

return function(host)
  local state = { host = host, session = require "nslua.repl.session"(), given = {}, cells = {} }
  state.history = history.path()
  for name, value in next, _G do state.given[name] = value end -- these are not variables of the user
  open_input(host)
  local problem = evaluation.offer_names(state)
  if problem then io.stderr:write(problem, "\n") else open_screen(host) end
  while true do
    local text = host.receive()
    if not text then return end
    local good, answer = pcall(answer_to, state, text)
    if not good then answer = failure(state, evaluation.text_of(answer)) end
    host.send(html.json(answer))
  end
end
