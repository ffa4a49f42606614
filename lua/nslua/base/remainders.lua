-- nslua.base.remainders: whether the source of a function, or of a function that it has captured, has an operation
-- that rounds to integers: floor, ceil, fmod, modf, %, //. The engine looks further into those that do, and calls no
-- other function for it (src/bind/call/callback.h).
local WORDS = { "floor", "ceil", "fmod", "modf", "%%", "//" }

local known = {} -- source:line -> whether

-- The lines first .. last of the source of a chunk; "" when they are not known.
local function text_of(source, first, last)
  local kind, list = source:sub(1, 1), {}
  if kind == "=" then return "" end
  local file = kind == "@" and io.open(source:sub(2))
  if kind == "@" and not file then return "" end
  local number = 0
  for line in (file and file:lines() or source:gmatch "([^\n]*)\n?") do
    number = number + 1
    if number >= first then list[#list + 1] = line end
    if number >= last then break end
  end
  if file then file:close() end
  return table.concat(list, "\n")
end

local function rounds(f)
  local info = debug.getinfo(f, "S")
  if info.what == "C" then return false end
  local key = info.source .. ":" .. info.linedefined
  if known[key] == nil then
    local text = text_of(info.source, info.linedefined, info.lastlinedefined)
    known[key] = false
    for _, word in ipairs(WORDS) do known[key] = known[key] or text:find(word) ~= nil end
  end
  return known[key]
end

return function(f)
  if type(f) ~= "function" then return false end
  if rounds(f) then return true end
  local i = 1
  while true do
    local name, value = debug.getupvalue(f, i)
    if not name then return false end
    if type(value) == "function" and rounds(value) then return true end
    i = i + 1
  end
end
