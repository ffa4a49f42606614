-- nslua.repl.evaluation: calls of the user's code with a traceback, and the names that are there from the start; for
-- the prompt and for the worker of a kernel.
local habits = require "nslua.repl.habits"

local evaluation = {}

-- The text of an error.
function evaluation.text_of(err)
  local meta = debug.getmetatable(err)
  if type(err) == "string" or type(err) == "number" then return tostring(err) end
  if type(meta) == "table" and rawget(meta, "__tostring") ~= nil then
    local good, text = pcall(tostring, err)
    if good then return text end
  end
  return ("(error object is a %s value)"):format(type(err))
end

-- The message handler. Returns the message with a traceback (its own if it has one) that ends at the user's code:
-- the last `state.below` lines belong to the caller of evaluation.call and are removed.
local function explain(state, err)
  if state.failed then state.failed() end
  local lines, text = {}, evaluation.text_of(err)
  local advice = habits.of_message(text)
  if advice then text = text:gsub("^[^\n]*", function(line) return ("%s; in Lua: %s"):format(line, advice) end) end
  if not text:find("\nstack traceback:\n", 1, true) then text = debug.traceback(text, 3) end
  for line in text:gmatch "[^\n]*" do lines[#lines + 1] = line end
  if lines[#lines]:find "^\t" and #lines > state.below then
    for _ = 1, state.below do lines[#lines] = nil end
  end
  if lines[#lines] == "stack traceback:" then lines[#lines] = nil end
  return table.concat(lines, "\n")
end

-- Calls f so that Ctrl-C stops it. Returns true and its results in a table; after an error false and the message
-- with its traceback. `state` has the functions for the terminal in state.host (src/repl/prompt.h).
function evaluation.call(state, f, ...)
  local _, newlines = debug.traceback("", 1):gsub("\n", "")
  state.below = newlines -- a line for each level from here on, and one for host.evaluate
  state.explain = state.explain or function(err) return explain(state, err) end
  local results = table.pack(state.host.evaluate(state.explain, f, ...))
  if not results[1] then return false, results[2] end
  return true, table.pack(table.unpack(results, 2, results.n))
end

-- Keeps a result as _ and as Out[number], unless Out is a variable of the user.
function evaluation.keep_result(state, number, value)
  rawset(_G, "_", value)
  if not state.outputs then
    state.outputs = {}
    if rawget(_G, "Out") == nil then
      rawset(_G, "Out", state.outputs)
      state.given.Out = state.outputs
    end
  end
  state.outputs[number] = value
end

-- Loads nslua, and sets the globals of the prompt (ns, help, sin ...) that are not set yet; state.given has them by
-- name. Returns nil, or the message why nslua cannot be loaded.
function evaluation.offer_names(state)
  if state.loaded then return nil end
  state.loaded = true
  local help = require "nslua.repl.help"
  local function offer(name, value)
    if rawget(_G, name) == nil then
      rawset(_G, name, value)
      state.given[name] = value
    end
  end
  offer("help", help.print)
  for _, name in ipairs(help.functions) do offer(name, math[name]) end
  offer("inf", math.huge)
  local good, ns = pcall(require, "nslua")
  if not good then return tostring(ns) end
  offer("ns", ns)
  for _, name in ipairs(help.names) do offer(name, ns[name]) end
  return nil
end

return evaluation
