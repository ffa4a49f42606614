-- nslua.repl.history: the lines typed at the prompt, kept across sessions: one entry a line, with newlines,
-- backslashes and control characters as octal escapes. Sessions that run side by side append to the same file.

local KEPT = 1000 -- entries that the file keeps when it is cut; it is cut when it has twice as many

local history = {}

-- $XDG_STATE_HOME/nslua/history or ~/.local/state/nslua/history; nil without a home.
function history.path()
  local state, home = os.getenv "XDG_STATE_HOME", os.getenv "HOME"
  if state and state:sub(1, 1) == "/" then return state .. "/nslua/history" end
  return home and home ~= "" and home .. "/.local/state/nslua/history" or nil
end

local function encode(entry)
  return (entry:gsub("[%c\\]", function(c) return ("\\%03o"):format(c:byte()) end))
end

local function decode(line)
  return (line:gsub("\\(%d%d%d)", function(digits)
    local byte = tonumber(digits, 8)
    return byte and byte < 256 and string.char(byte) or nil
  end))
end

local function write(path, mode, lines)
  local file, message = io.open(path, mode)
  if not file then return nil, message end
  local good
  good, message = file:write(table.concat(lines, "\n"), "\n")
  local closed, closing = file:close()
  if not good then return nil, message end
  return closed, closing
end

-- Removes all but the last entries from the file. A file that cannot be written is not changed.
local function cut(host, path, lines)
  local kept, temporary = table.move(lines, #lines - KEPT + 1, #lines, 1, {}), ("%s.%x"):format(path, os.time())
  if host.private(write, temporary, "w", kept) then os.rename(temporary, path) end
end

-- The entries of the file, the oldest first; an empty list when there is no file.
function history.load(host, path)
  local lines, entries, file = {}, {}, io.open(path, "r")
  if not file then return entries end
  for line in file:lines() do
    if line ~= "" then lines[#lines + 1] = line end
  end
  file:close()
  if #lines > 2 * KEPT then cut(host, path, lines) end
  for i = math.max(1, #lines - KEPT + 1), #lines do entries[#entries + 1] = decode(lines[i]) end
  return entries
end

-- Appends an entry; true, or nil and a message.
function history.append(host, path, entry)
  local good, message = host.make_directory(path:match "^(.*)/")
  if good then good, message = host.private(write, path, "a", { encode(entry) }) end
  if good then return true end
  return nil, ("the history is not kept: %s"):format(message)
end

return history
