-- nslua.repl.script: runs a script so that its top-level locals are known afterwards, also when it has failed. To
-- see the end of the chunk, a to-be-closed variable is added to it; its value is this module.

local script = {}

local found -- the locals of the chunk at its end, by name

local function collect(level)
  local i = 1
  while true do
    local name, value = debug.getlocal(level + 1, i)
    if not name then return end
    if name:find "^[%a_]" and value ~= script then found[name] = { value = value } end
    i = i + 1
  end
end

setmetatable(script, { __close = function()
  if found then collect(2) end
end })

local WATCH = 'local watched_by_prompt <close> = require "nslua.repl.script"; '

local function watched(text, path)
  local body = text:gsub("^#[^\n]*", "", 1)
  return load(WATCH .. body, "@" .. path, "t")
end

-- The chunk of the file, or nil and a message. A binary chunk, and one that has no room for one more local, is
-- loaded unchanged; then its locals are known only after an error.
function script.load(path)
  local chunk, message = loadfile(path)
  if not chunk then return nil, message end
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text and text:sub(1, 1) ~= "\27" and watched(text, path) or chunk
end

-- Call begin() before the chunk. Afterwards finish() returns its locals: name -> { value = }.
function script.begin() found = {} end

-- To be called by a message handler: notes the locals of the chunk that has failed.
function script.look(chunk)
  for level = 2, 200 do
    local info = debug.getinfo(level, "f")
    if not info then return end
    if info.func == chunk then
      collect(level)
      return
    end
  end
end

function script.finish()
  local result = found
  found = nil
  return result
end

return script
