-- nslua.notebook.json: texts of JSON to Lua values; null is nil, also inside lists and tables. JSON is written by
-- nslua.web.html.

local json = {}

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
local constants = { ["true"] = true, ["false"] = false }

local value_at -- value_at(text, at): the value and the place after it

local function fail(text, at) error(("json: '%s' is not expected at byte %d"):format(text:sub(at, at), at), 0) end

local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

-- The character of "\uXXXX" at `at`, and the place after it. Two halves of a pair are one character.
local function unicode_at(text, at)
  local code = tonumber(text:match("^\\u(%x%x%x%x)", at) or fail(text, at), 16)
  local low = code >= 0xD800 and code < 0xDC00 and text:match("^\\u([dD][c-fC-F]%x%x)", at + 6)
  if low then return utf8.char(0x10000 + ((code - 0xD800) << 10) + tonumber(low, 16) - 0xDC00), at + 12 end
  return utf8.char(code >= 0xD800 and code < 0xE000 and 0xFFFD or code), at + 6
end

local function string_at(text, at)
  local parts = {}
  at = at + 1
  while true do
    local plain, stop = text:match('^([^"\\]*)()', at)
    parts[#parts + 1] = plain
    local c = text:sub(stop, stop)
    if c == '"' then return table.concat(parts), stop + 1 end
    if c == "" then fail(text, stop) end
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      parts[#parts + 1], at = unicode_at(text, stop)
    else
      parts[#parts + 1], at = escapes[letter] or fail(text, stop + 1), stop + 2
    end
  end
end

-- The elements up to the closing bracket; each is read by read(at), which returns the place after it.
local function elements(text, at, closing, read)
  at = skip(text, at + 1)
  if text:sub(at, at) == closing then return at + 1 end
  while true do
    at = skip(text, read(at))
    local c = text:sub(at, at)
    if c == closing then return at + 1 end
    if c ~= "," then fail(text, at) end
    at = skip(text, at + 1)
  end
end

local function list_at(text, at)
  local list, n = {}, 0
  local after = elements(text, at, "]", function(from)
    n = n + 1
    list[n], from = value_at(text, from)
    return from
  end)
  return list, after
end

local function table_at(text, at)
  local t = {}
  local after = elements(text, at, "}", function(from)
    if text:sub(from, from) ~= '"' then fail(text, from) end
    local key
    key, from = string_at(text, from)
    from = skip(text, from)
    if text:sub(from, from) ~= ":" then fail(text, from) end
    t[key], from = value_at(text, skip(text, from + 1))
    return from
  end)
  return t, after
end

function value_at(text, at)
  local c = text:sub(at, at)
  if c == '"' then return string_at(text, at) end
  if c == "{" then return table_at(text, at) end
  if c == "[" then return list_at(text, at) end
  local word = text:match("^%a+", at)
  if word == "null" then return nil, at + 4 end
  if constants[word] ~= nil then return constants[word], at + #word end
  local number = text:match("^-?%d[%d.eE+-]*", at)
  return tonumber(number) or fail(text, at), at + #number
end

-- The value of a text. Raises when it is not JSON.
function json.decode(text)
  local value, after = value_at(text, skip(text, 1))
  after = skip(text, after)
  if after <= #text then fail(text, after) end
  return value
end

return json
