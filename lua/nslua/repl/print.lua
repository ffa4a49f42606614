-- nslua.repl.print: values as the prompt shows them. Long tables are shortened. Cycles and errors in __tostring are
-- handled. Control characters are never sent to the terminal. No line is longer than the given width.

local lazy = require "nslua.base.lazy"

local DEPTH, ITEMS, BUDGET = 3, 24, 300 -- most levels of tables; most items of one table; most items in all
local SHORT = 44 -- most characters of an item that shares a line with others
local LONG = 60 -- most characters of a string inside a table
local LONGEST = 4000 -- most characters of a string alone
local MOST_LINES, FIRST_LINES = 24, 10 -- most lines of a string alone that is shown in full; lines of a longer one

local printer = {}

-- ---- strings ----

local names = { ["\a"] = "\\a", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t", ["\v"] = "\\v" }

local function escape(c)
  return names[c] or ("\\x%02X"):format(c:byte())
end

-- Replaces by escapes: bytes that are not valid UTF-8, bytes of the pattern, and C1 controls (\xC2\x80 to \xC2\x9F).
local function clean(text, pattern)
  if not utf8.len(text) then text = text:gsub("[\x80-\xFF]", escape) end
  text = text:gsub(pattern, escape)
  return (text:gsub("\xC2([\x80-\x9F])", function(c) return "\\xC2" .. escape(c) end))
end

local function width_of(text) return utf8.len(text) or #text end

-- The first n characters of a text.
local function first(text, n)
  local last = utf8.offset(text, n + 1)
  return last and text:sub(1, last - 1) or text
end

local function quoted(text)
  local more = #text > 4 * LONG and text:sub(1, 4 * LONG) or text
  local shown = clean(more:gsub('[\\"]', "\\%0"), "%c")
  if width_of(shown) > LONG then shown = first(shown, LONG - 3) .. "..." end
  return '"' .. shown .. '"'
end

-- The text; of a long one the first lines, and how many lines it has. A page of HTML is shown by one line.
local function shortened(text)
  local _, newlines = text:gsub("\n", "")
  local lines = newlines + (text:find "[^\n]$" and 1 or 0)
  if lines <= MOST_LINES then return text, "" end
  local page = text:find "^<!DOCTYPE html>"
  local last = 0
  for _ = 1, page and 1 or FIRST_LINES do last = text:find("\n", last + 1, true) end
  return text:sub(1, last - 1), ("%s... (%d lines, %d bytes in all)"):format(page and "" or "\n", lines, #text)
end

-- A string alone, as print shows it, but without control characters.
local function plain(text)
  local rest = #text - LONGEST
  local shown = rest > 0 and text:sub(1, (utf8.offset(text, 0, LONGEST) or LONGEST) - 1) or text
  shown = clean(shown, "[%z\1-\8\11-\31\127]")
  if rest > 0 then shown = ("%s... (%d bytes in all)"):format(shown, #text) end
  return shown
end

-- ---- functions and objects ----

local function parameters(info, f)
  local list = {}
  for i = 1, info.nparams do list[i] = debug.getlocal(f, i) end
  if info.isvararg then list[#list + 1] = "..." end
  return table.concat(list, ", ")
end

local function function_text(f)
  local info = debug.getinfo(f, "Su")
  if info.what == "C" then return "function: builtin" end
  return ("function(%s) %s:%d"):format(parameters(info, f), info.short_src, info.linedefined)
end

-- The result of tostring, on one or several lines; after an error in __tostring, the error.
local function tostring_text(value)
  local good, text = pcall(tostring, value)
  if good then return plain(text) end
  return ("<%s, whose __tostring fails: %s>"):format(type(value), plain(tostring(text)))
end

-- Rows of a grid, "[  1   2  3 ]" and the like, cut to the width: columns in the middle give way to dots. Cells are
-- right-aligned and two blanks apart, so that they end at the same places in every row.
local function narrow(text, width)
  local rows, ends, widest = {}, {}, 0
  for row in text:gmatch "[^\n]+" do rows[#rows + 1] = row end
  for _, row in ipairs(rows) do widest = math.max(widest, #row) end
  for last in (rows[1]:match "^%[(.-) %]" or rows[1]:sub(2)):gmatch "%S+()" do ends[#ends + 1] = last end
  local last = #ends
  if last < 4 or widest <= width then return text end
  local tail_from, kept = ends[last - 1] + 1, 1
  while kept + 2 < last and ends[kept + 1] + 5 + widest - tail_from < width do kept = kept + 1 end
  if rows[1]:sub(1, ends[kept]):find "%.%.%.$" then kept = kept - 1 end
  for i, row in ipairs(rows) do
    rows[i] = row:sub(1, ends[kept]) .. "  ..." .. row:sub(tail_from)
  end
  return table.concat(rows, "\n")
end

-- A long "[1, 2, ...]" on several lines, broken after commas.
local function broken(text, width)
  if width_of(text) <= width or text:find("\n", 1, true) then return text end
  local lines, line = {}, ""
  for piece in text:gmatch "[^,]+,? ?" do
    if line ~= "" and #line + #piece:gsub(" $", "") > width then
      lines[#lines + 1] = line:gsub(" $", "")
      line = " "
    end
    line = line .. piece
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- ---- tables ----

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
    until while]]):gmatch "%a+" do keywords[word] = true end

local function is_name(key)
  return type(key) == "string" and key:find "^[%a_][%w_]*$" and not keywords[key]
end

local function sorted_keys(t, count)
  local keys = {}
  for key in next, t do
    local place = math.type(key) == "integer" and key >= 1 and key <= count
    if not place then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "number" or type(a) == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local render -- render(value, state, depth, indent)

local function key_text(key, state)
  if is_name(key) then return key end
  return "[" .. (type(key) == "table" and "<table>" or render(key, state, DEPTH, 0)) .. "]"
end

-- The items of a table as texts, and whether all are so short that several go on a line.
local function items_of(t, state, depth, indent)
  local items, count, short = {}, rawlen(t), true
  local keys = sorted_keys(t, count)
  for i = 1, math.min(count, ITEMS) do
    items[i] = render(rawget(t, i), state, depth + 1, indent + 2)
    if state.left <= 0 then break end
  end
  local shown = #items
  for _, key in ipairs(keys) do
    if shown >= ITEMS or state.left <= 0 then break end
    shown = shown + 1
    items[shown] = key_text(key, state) .. " = " .. render(rawget(t, key), state, depth + 1, indent + 2)
  end
  local more = count + #keys - shown
  if more > 0 then items[shown + 1] = ("... (%d more)"):format(more) end
  for _, item in ipairs(items) do short = short and #item <= SHORT and not item:find("\n", 1, true) end
  return items, short
end

-- Fills lines of the width with the items.
local function filled(items, indent, width)
  local lines, line = {}, ""
  for i, item in ipairs(items) do
    local piece = item .. (i < #items and "," or "")
    if line ~= "" and #line + 1 + #piece > width - indent - 2 then
      lines[#lines + 1] = line
      line = ""
    end
    line = (line == "" and "" or line .. " ") .. piece
  end
  lines[#lines + 1] = line
  return lines
end

local function table_text(t, state, depth, indent)
  if state.open[t] then return "<cycle>" end
  if next(t) == nil then return "{}" end
  if depth >= DEPTH then return "{...}" end
  state.open[t] = true
  local items, short = items_of(t, state, depth, indent)
  state.open[t] = nil
  local line = "{ " .. table.concat(items, ", ") .. " }"
  if not line:find("\n", 1, true) and indent + width_of(line) <= state.width then return line end
  local pad = "\n" .. (" "):rep(indent + 2)
  local body = short and table.concat(filled(items, indent, state.width), pad) or table.concat(items, "," .. pad)
  return "{" .. pad .. body .. "\n" .. (" "):rep(indent) .. "}"
end

-- An object on one line.
local function object_text(value)
  local text = tostring_text(value)
  if not text:find("\n", 1, true) and width_of(text) <= LONG then return text end
  local name = getmetatable(value)
  if type(name) == "table" then name = rawget(name, "__name") end
  if type(name) ~= "string" then name = type(value) end
  local good, rows = pcall(function() return #value end)
  return good and ("<%s of %d>"):format(name, rows) or ("<%s>"):format(name)
end

-- The text before a table that is a class, "class clutch"; nil for a plain table; false for one with a __tostring.
local function class_of(value)
  local meta = debug.getmetatable(value)
  if type(meta) ~= "table" then return nil end
  if rawget(meta, "__tostring") ~= nil then return false end
  local name = rawget(meta, "__name")
  return type(name) == "string" and plain(name) .. " " or nil
end

function render(value, state, depth, indent)
  local kind = type(value)
  state.left = state.left - 1
  if kind == "string" then return quoted(value) end
  if kind == "function" then return "<function>" end
  if kind == "table" then
    local class = class_of(lazy.settle(value))
    if class ~= false then return (class or "") .. table_text(value, state, depth, indent) end
  end
  if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
  return object_text(value)
end

-- ---- the top ----

-- The text of one value, at most `width` columns wide where possible.
function printer.value(value, width)
  local kind = type(value)
  width = width or 80
  if kind == "string" then
    local head, rest = shortened(value)
    return plain(head) .. rest
  end
  if kind == "function" then return function_text(value) end
  if kind == "table" and class_of(value) ~= false then
    return render(value, { open = {}, left = BUDGET, width = width }, 0, 0)
  end
  local text = tostring_text(value)
  if kind ~= "userdata" then return text end
  if text:find "^%[ " then return narrow(text, width) end
  return text:find "^%[" and broken(text, width) or text
end

-- The text of several values: beside each other when they fit on a line, else below each other; nil for none.
function printer.values(values, width)
  local texts, short, total = {}, true, 0
  for i = 1, values.n do
    texts[i] = printer.value(values[i], width)
    short = short and not texts[i]:find("\n", 1, true)
    total = total + (width_of(texts[i]) // 8 + 1) * 8
  end
  if values.n == 0 then return nil end
  return table.concat(texts, short and total <= (width or 80) and "\t" or "\n")
end

-- Control characters of a message as escapes.
printer.plain = plain

return printer
