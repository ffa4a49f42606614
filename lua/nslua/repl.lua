-- nslua.repl: the plain read-eval-print loop. Returns a function of the host's doors to the terminal:
-- readline(prompt), add_history(line), history("load" | "save", path); without them it reads standard input.

local FIRST, MORE = "> ", ">> "

local function history_path()
  local state = os.getenv "XDG_STATE_HOME"
  local home = os.getenv "HOME"
  if state and state:sub(1, 1) == "/" then return state .. "/nslua/history" end
  return home and home ~= "" and home .. "/.local/state/nslua/history"
end

local function incomplete(message)
  return type(message) == "string" and message:sub(-5) == "<eof>"
end

-- The chunk of an expression, of "=expression", or of statements. Without one: nil, the message, and whether more
-- lines may make it whole.
local function compile(text)
  local expression, equals = text:gsub("^%s*=", "", 1)
  local chunk, message = load("return " .. expression, "=stdin")
  if chunk then return chunk end
  local more = incomplete(message)
  if equals == 0 then chunk, message = load(text, "=stdin") end
  return chunk, message, not chunk and (more or incomplete(message))
end

-- Reads lines until they make a chunk, or an error that more lines do not mend. Returns the text, the chunk or nil,
-- and the message; false after Ctrl-C; nil at the end of input.
local function read(host)
  local text = host.readline(FIRST)
  while text do
    local chunk, message, more = compile(text)
    local line = more and host.readline(MORE)
    if line == nil or not more then return text, chunk, message end
    text = line and text .. "\n" .. line
  end
  return text
end

local function text_of(err)
  local meta = getmetatable(err)
  if type(err) == "string" or type(err) == "number" then return tostring(err) end
  if type(meta) == "table" and meta.__tostring then return tostring(err) end
  return ("(error object is a %s value)"):format(type(err))
end

-- The message with a traceback that ends where the user's code does.
local function explain(err)
  local trace = debug.traceback(text_of(err), 2)
  return (trace:gsub("\n%s*%[C%]: in function 'xpcall'.*$", ""))
end

local function complain(message)
  io.stdout:flush()
  io.stderr:write(message, "\n")
end

local function show(good, ...)
  if not good then return complain((...)) end
  if select("#", ...) > 0 then print(...) end
end

-- One turn; true at the end of input.
local function turn(host, path)
  local text, chunk, message = read(host)
  if not text then return text == nil end
  if text:find "%S" then
    host.add_history(text)
    if path then host.history("save", path) end
  end
  if not chunk then return complain(message) end
  show(xpcall(chunk, explain))
end

local plain = {
  readline = function(prompt)
    io.write(prompt)
    io.flush()
    return io.read "l"
  end,
  add_history = function() end,
  history = function() end,
}

return function(host)
  local path = host and history_path()
  host = host or plain
  local good, ns = xpcall(require, explain, "nslua")
  if good then _G.ns = ns else complain(ns) end
  if path then host.history("load", path) end
  repeat
    local good_turn, result = xpcall(turn, explain, host, path)
    if not good_turn then complain(result) end
  until good_turn and result
  print()
end
