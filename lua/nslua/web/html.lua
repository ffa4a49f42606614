-- nslua.web.html: HTML pages that need no other file and no network.
--
--   html.page { title = "A title", kind = "animation", record = { ... }, scripts = { "scene", "player" } }
--
-- returns the text of an HTML page. Style and scripts are the files of web/. The record is JSON in an element that
-- is not run. The page reads it with JSON.parse and shows its texts with textContent, so that they never work as
-- code. The content security policy of the page forbids it to load anything. A page with formulas embeds KaTeX
-- (nslua.web.formulas).

local html = {}

local formulas = require "nslua.web.formulas"
local core = require "nslua.core"
local format = core.number_support.format
local lists = require "nslua.base.lists"

local _, here = ...
local directory = here:match "^(.*[/\\])" or "./"

-- The text of a file of the installation.
function html.asset(path, who)
  local file, message = io.open(path, "rb")
  if not file then error(who .. ": the installation is not complete: " .. message, 0) end
  local text = file:read "a"
  file:close()
  return text
end

local function asset(name) return html.asset(directory .. name, "html") end

-- ---- texts ----

-- `s` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD: all readers then see the same text.
function html.utf8(s)
  local parts, from = {}, 1
  while true do
    local good, bad = utf8.len(s, from)
    if good then break end
    parts[#parts + 1] = s:sub(from, bad - 1) .. "\u{FFFD}"
    from = bad + 1
  end
  parts[#parts + 1] = s:sub(from)
  return table.concat(parts)
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

-- `s` as text of an element or an attribute.
function html.escape(s)
  return (html.utf8(s):gsub("[&<>\"']", entities):gsub("[%z\1-\8\11\12\14-\31]", "\u{FFFD}"))
end

-- ---- JSON ----

-- A string of JSON that can stand in an HTML element and in JavaScript: no < > &, no U+2028, U+2029.
local function json_string(s)
  s = html.utf8(s):gsub('[%c"\\<>&\127]', function(c) return ("\\u%04x"):format(c:byte()) end)
  return '"' .. s:gsub("\u{2028}", "\\u2028"):gsub("\u{2029}", "\\u2029") .. '"'
end

local function json_number(x)
  if x ~= x or x == math.huge or x == -math.huge then return "null" end
  if x == math.floor(x) and math.abs(x) < 2 ^ 53 then return ("%d"):format(x) end
  return format("%.17g", x)
end

local json

local function json_table(t)
  local parts = {}
  if #t > 0 or next(t) == nil then
    for i = 1, #t do parts[i] = json(t[i]) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys = lists.keys(t)
  for i, key in ipairs(keys) do parts[i] = json_string(key) .. ":" .. json(t[key]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

-- A table as an array (an empty one too) or, sorted by key, an object; numbers that are not finite as null.
function json(value)
  local kind = type(value)
  if kind == "table" then return json_table(value) end
  if kind == "string" then return json_string(value) end
  if kind == "number" then return json_number(value) end
  assert(kind == "boolean", kind)
  return tostring(value)
end
html.json = json

-- ---- numbers ----

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local pairs_of = setmetatable({}, { __index = function(list, bits) -- 12 bits -> two letters
  local high, low = bits // 64 + 1, bits % 64 + 1
  list[bits] = alphabet:sub(high, high) .. alphabet:sub(low, low)
  return list[bits]
end })

-- Base64 of RFC 4648.
function html.base64(bytes)
  local parts, n = {}, #bytes
  for i = 1, n - 2, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local bits = a << 16 | b << 8 | c
    parts[#parts + 1] = pairs_of[bits >> 12]
    parts[#parts + 1] = pairs_of[bits & 4095]
  end
  if n % 3 == 1 then
    parts[#parts + 1] = pairs_of[bytes:byte(n) << 4] .. "=="
  elseif n % 3 == 2 then
    local a, b = bytes:byte(n - 1, n)
    local bits = a << 16 | b << 8
    parts[#parts + 1] = pairs_of[bits >> 12] .. pairs_of[bits & 4095]:sub(1, 1) .. "="
  end
  return table.concat(parts)
end

local formats = { u4 = "<I4", f4 = "<f", f8 = "<d" }

-- A list of numbers as { type, base64 }: "u4", "f4" or "f8", little-endian.
function html.numbers(list, kind)
  local parts, code, n = {}, formats[kind], #list
  local many = "<" .. code:sub(2):rep(64)
  local from = 1
  while from + 63 <= n do
    parts[#parts + 1] = many:pack(table.unpack(list, from, from + 63))
    from = from + 64
  end
  for i = from, n do parts[#parts + 1] = code:pack(list[i]) end
  return { type = kind, base64 = html.base64(table.concat(parts)) }
end

-- ---- packed bytes ----

-- 85 signs that stand for themselves in JSON, elements and attributes, none of them $, which begins a formula. Four
-- bytes are five digits, the first one counts most; zeros fill the last four.
local digits, pairs_85 = ("!#%()*+,-./0-9:;=?A-Z[]^_a-z{|}~"):gsub("(%w)-(%w)", function(from, to)
  local list = {}
  for c = from:byte(), to:byte() do list[#list + 1] = string.char(c) end
  return table.concat(list)
end), {}
digits = digits:sub(1, 85)
for k = 0, 85 * 85 - 1 do
  local high, low = k // 85 + 1, k % 85 + 1
  pairs_85[k] = digits:sub(high, high) .. digits:sub(low, low)
end

function html.base85(bytes)
  local parts, at = {}, 1
  bytes = bytes .. ("\0"):rep(-#bytes % 4)
  while at <= #bytes do
    local n
    n, at = (">I4"):unpack(bytes, at)
    parts[#parts + 1] = pairs_85[n // 614125] .. pairs_85[n // 85 % 7225] .. digits:sub(n % 85 + 1, n % 85 + 1)
  end
  return table.concat(parts)
end

-- Bytes as { type, base85 }; a reader may find up to three zeros more.
function html.packed(bytes) return { type = "u1", base85 = html.base85(bytes) } end

-- Scripts in a fifth of their length: an element that holds them deflated, and the one that runs them (unpack.js).
local function packed_scripts(text)
  local stream = core.file_support.deflate(text)
  if not stream then error("html: not enough memory for the scripts of a page", 0) end
  return '<script type="text/plain" id="packed">' .. html.base85(stream) .. "</script>\n"
end

-- ---- the page ----

-- Fonts may come from the page itself alone.
local policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; font-src data:; "
  .. "base-uri 'none'; form-action 'none'"

function html.page(page)
  local embedded = formulas.embedded(formulas.of(page.record), html.base64)
  local first = page.library and asset "base.js" .. "\n" .. asset "unpack.js"
  local scripts = { page.library or "", not first and asset "base.js" or "", asset "ticks.js" }
  for _, name in ipairs(page.scripts) do scripts[#scripts + 1] = asset(name .. ".js") end
  scripts[#scripts + 1] = ("nslua.start(%s);\n"):format(json(page.kind))
  return table.concat {
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    '<meta http-equiv="Content-Security-Policy" content="', policy, '">\n',
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">\n',
    '<meta name="color-scheme" content="light dark">\n',
    "<title>", html.escape(page.title), "</title>\n<style>\n", asset "style.css", "</style>\n",
    embedded and "<style>\n" .. embedded.style .. "\n</style>\n" or "", "</head>\n<body>\n",
    '<script type="application/json" id="record">', json(page.record), "</script>\n",
    embedded and "<script>\n" .. embedded.script .. "\n</script>\n" or "",
    first and packed_scripts(table.concat(scripts, "\n")) or "",
    "<script>\n", first or table.concat(scripts, "\n"), "</script>\n</body>\n</html>\n",
  }
end

return html
