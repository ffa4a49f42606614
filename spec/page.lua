-- Reading the pages that the library writes: their title, their record, the frames of an animation.
local page = {}

-- ---- JSON ----

local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }

-- The string that begins at `at`, after the quote, and the position of its end.
local function read_string(text, at)
  local parts = {}
  while true do
    local plain, stop = text:match('^([^"\\]*)()', at)
    parts[#parts + 1], at = plain, stop
    if text:sub(at, at) == '"' then return table.concat(parts), at + 1 end
    local code = text:match("^\\u(%x%x%x%x)", at)
    if code then
      parts[#parts + 1], at = utf8.char(tonumber(code, 16)), at + 6
    else
      local letter = text:sub(at + 1, at + 1)
      parts[#parts + 1], at = escapes[letter] or letter, at + 2
    end
  end
end

local read_value

local function read_list(text, at, closing, each)
  at = text:match("^%s*()", at)
  if text:sub(at, at) == closing then return at + 1 end
  while true do
    at = text:match("^%s*()", each(at))
    local mark = text:sub(at, at)
    if mark == closing then return at + 1 end
    assert(mark == ",", "JSON: expected , or " .. closing)
    at = at + 1
  end
end

function read_value(text, at)
  at = text:match("^%s*()", at)
  local first, result = text:sub(at, at), {}
  if first == '"' then return read_string(text, at + 1) end
  if first == "[" then
    return result, read_list(text, at + 1, "]", function(here)
      local value, stop = read_value(text, here)
      result[#result + 1] = value
      return stop
    end)
  elseif first == "{" then
    return result, read_list(text, at + 1, "}", function(here)
      local key, stop = read_value(text, here)
      result[key], stop = read_value(text, assert(text:match("^%s*:()", stop)))
      return stop
    end)
  end
  local word, stop = text:match("^([%w.+-]+)()", at)
  if word == "true" or word == "false" then return word == "true", stop end
  if word == "null" then return 0 / 0, stop end
  return assert(tonumber(word), "JSON: " .. tostring(word)), stop
end

function page.json(text)
  local value, stop = read_value(text, 1)
  assert(text:find("^%s*$", stop), "JSON: something follows")
  return value
end

-- ---- numbers ----

local values = {}
for i, letter in ipairs { ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):byte(1, -1) } do
  values[letter] = i - 1
end

function page.base64(text)
  local bytes, bits, count = {}, 0, 0
  for i = 1, #text do
    local value = values[text:byte(i)]
    if value then
      bits, count = (bits << 6 | value) & 0xffffff, count + 6
      if count >= 8 then
        count = count - 8
        bytes[#bytes + 1] = string.char(bits >> count & 255)
      end
    end
  end
  return table.concat(bytes)
end

local digits, values_85 = '!#%()*+,-./0123456789:;=?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~', {}
for i = 1, #digits do values_85[digits:sub(i, i)] = i - 1 end

function page.base85(text)
  local parts = {}
  for group in text:gmatch "....." do
    local n = 0
    for digit in group:gmatch "." do n = 85 * n + values_85[digit] end
    parts[#parts + 1] = (">I4"):pack(n)
  end
  return table.concat(parts)
end

-- The bytes of packed numbers.
function page.bytes(packed) return packed.base85 and page.base85(packed.base85) or page.base64(packed.base64) end

local formats = { u1 = "B", u4 = "<I4", f4 = "<f", f8 = "<d" }

function page.numbers(packed)
  local bytes, list, at = page.bytes(packed), {}, 1
  while at <= #bytes do list[#list + 1], at = string.unpack(formats[packed.type], bytes, at) end
  return list
end

-- ---- pages ----

-- The record of a page, and its title as written there.
function page.read(text)
  local record = text:match '<script type="application/json" id="record">(.-)</script>'
  return page.json(assert(record, "no record")), text:match "<title>(.-)</title>"
end

-- Frame k of an animation (0: its background): a list of { op =, the numbers }.
function page.frame(record, k)
  local frames, data = page.numbers(record.frames), page.numbers(record.data)
  local shape, at = record.shapes[frames[2 * k + 1] + 1], frames[2 * k + 2]
  local all = table.move(data, shape.at + 1, shape.at + shape.size, 1, {})
  for i = 1, #shape.varies, 2 do
    table.move(data, at + 1, at + shape.varies[i + 1], shape.varies[i] + 1, all)
    at = at + shape.varies[i + 1]
  end
  local list, slot = {}, 0
  for i = 1, #shape.ops, 2 do
    local count = shape.ops[i + 1]
    list[#list + 1] = table.move(all, slot + 1, slot + count, 1, { op = record.ops[shape.ops[i] + 1] })
    slot = slot + count
  end
  return list
end

return page
