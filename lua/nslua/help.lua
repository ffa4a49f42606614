-- nslua.help: answers to help(x) out of the reference, the pages of docs/reference/. An installation has them in the
-- folder reference beside this file.
--
-- help(x) prints a text. help.text(x [, width]) returns it, or nil and a text about what is near. x is a name
-- ("solve_ivp", "ns.numerics.lcp", "TimeStepping:run", "run"), the heading of a section, a function or class of ns,
-- or an object; nil or ns itself: the index of names.
local lists = require "nslua.base.lists"
local pages = require "nslua.help.pages"
local porting = require "nslua.base.names"

local help = {}
local ns, book -- ns: the module, where it is loaded; book: what was read, once

local function this_file()
  return debug.getinfo(1, "S").source:match "^@(.*)help%.lua$"
end

local function read(file)
  local f = io.open(file)
  if not f then return nil end
  local text = f:read "a"
  f:close()
  return text
end

-- The index of the reference and the folder that it stands in: of an installation, else of the source.
local function index_of_pages()
  local beside = this_file() or "./"
  for _, directory in ipairs { beside .. "reference/", beside .. "../../docs/reference/" } do
    local text = read(directory .. "README.md")
    if text then return text, directory end
  end
  error(("help: there is no reference/README.md beside %shelp.lua"):format(beside), 0)
end

--- The reference as it was read, its pages in the order of the index: sections, entries by name, methods by name.
--- Raises when a page is missing.
function help.book()
  if book then return book end
  local index, directory = index_of_pages()
  local texts = { index }
  for page in index:gmatch "%]%(([%w_]+%.md)%)" do
    texts[#texts + 1] = read(directory .. page) or error(("help: there is no page %s%s"):format(directory, page), 0)
  end
  book = pages.parse(texts)
  return book
end

-- ---- the name of x ----

-- The names of the functions and classes of ns by value; the shortest when a value has several.
local function names_of_values()
  local names = {}
  local function add(value, name)
    local kind = type(value)
    local known = names[value]
    if kind ~= "function" and kind ~= "table" then return end
    if not known or #name < #known or #name == #known and name < known then names[value] = name end
  end
  for name, value in pairs(ns) do add(value, "ns." .. name) end
  for room, members in pairs(ns) do
    if type(members) == "table" then
      for name, value in pairs(members) do
        if type(name) == "string" then add(value, ("ns.%s.%s"):format(room, name)) end
      end
    end
  end
  return names
end

local function method_of_value(value)
  for class, meta in pairs(debug.getregistry()) do
    local methods = type(class) == "string" and type(meta) == "table" and rawget(meta, "__index")
    if type(methods) == "function" then methods = select(2, debug.getupvalue(methods, 1)) end
    if type(methods) == "table" and rawget(methods, "__name") == nil then
      for name, method in pairs(methods) do
        if method == value and type(name) == "string" then return class .. ":" .. name end
      end
    end
  end
end

-- The name under which x is looked up: x itself when it is a string, else the name of the function, class or object.
local function name_of(x)
  if type(x) == "string" then return x end
  if type(x) == "userdata" then return (debug.getmetatable(x) or {}).__name end
  local name = names_of_values()[x]
  if not name and type(x) == "function" then name = method_of_value(x) end
  if not name and type(x) == "table" then
    local meta = getmetatable(x)
    name = type(meta) == "table" and meta.__name or nil
  end
  return name
end

-- ---- looking up ----

local function width_of(width)
  if width ~= nil and (math.type(width) ~= "integer" or width < 1) then
    error("help: width: expected a number of characters, got " .. tostring(width), 3)
  end
  return width or math.max(40, math.min(100, tonumber(os.getenv "COLUMNS") or 80))
end

local NEAR = 16 -- most names that a word is found in which are shown, so that they fit on a screen

-- Names with their first sentences, as lines of the width.
local function lines_of_names(list, width)
  local lines, column = {}, 0
  for _, one in ipairs(list) do column = math.max(column, math.min(utf8.len(one.name) or #one.name, 30)) end
  for i, one in ipairs(list) do
    if i > NEAR then
      lines[i] = ("  ... and %d more"):format(#list - NEAR)
      break
    end
    lines[i] = pages.line(one.name, one.entry, column, width)
  end
  return lines
end

-- The functions, classes and methods whose names or first paragraphs contain the word: first those whose names do.
local function apropos(b, plain)
  local by_name, by_text, seen = {}, {}, {}
  local function offer(name, known)
    if seen[name] then return end
    seen[name] = true
    local one = { name = name, entry = known.entry }
    if name:lower():find(plain, 1, true) then by_name[#by_name + 1] = one
    elseif (known.entry.summary or ""):lower():find(plain, 1, true) then by_text[#by_text + 1] = one end
  end
  for _, name in ipairs(b.names) do offer(name, b.entries[name]) end
  local methods = lists.keys(b.methods)
  for _, method in ipairs(methods) do
    for _, known in ipairs(b.methods[method]) do offer(known.signature:match "^[%w_]+:[%w_]+" or method, known) end
  end
  for _, one in ipairs(by_text) do by_name[#by_name + 1] = one end
  return by_name
end

-- Where a word occurs: lines with names and what they do, then the pages; an empty list when it occurs nowhere.
local function near(b, word, width)
  local plain, titles, seen = word:lower(), {}, {}
  local lines = lines_of_names(apropos(b, plain), width)
  for _, section in ipairs(b.sections) do
    local top = pages.top(section)
    local found = top ~= b.sections[1] and section.text:lower():find(plain, 1, true)
    if found and not seen[top] then seen[top], titles[#titles + 1] = true, "'" .. top.title .. "'" end
  end
  if #titles > 0 then lines[#lines + 1] = pages.wrap(titles, width, "  ", "  ", "  ") end
  return lines
end

-- The name in the reference (also of a method) that is nearest to `name`; nil when `name` cannot be a name.
local function nearest_name(b, name)
  local short = name:gsub("^ns%.", ""):match "^[%w_.]+$" or name:match "^[%w_]*:([%w_]+)$"
  if not short then return nil end
  local list = {}
  local function offer(other)
    if 2 * #other >= #short then list[#list + 1] = other end -- a short name inside a long one is not near
  end
  for _, other in ipairs(b.names) do offer(other) end
  for method in pairs(b.methods) do offer(method) end
  return porting.nearest(short, list)
end

local function not_found(b, x, name, width)
  if not name then return ("help: nothing is known of this %s; ns.help() lists the names"):format(type(x)) end
  local instead = porting.of_siconos(name:match "[%w_]+$" or name)
  if instead then return "help: " .. instead end
  local found = near(b, name, width)
  if #found == 0 then
    local nearest = nearest_name(b, name)
    return ("help: nothing is known of '%s'; %sns.help() lists the names"):format(name,
      nearest and ("the nearest is '%s'; "):format(nearest) or "")
  end
  return ("help: there is no '%s'; it occurs in\n%s"):format(name, table.concat(found, "\n"))
end

--- The text for x, in lines of at most `width` characters (COLUMNS, or 80); or nil and what to say instead.
function help.text(x, width)
  ns = package.loaded["nslua"] or {} -- without it there are no values to look up
  local b = help.book()
  width = width_of(width)
  if x == nil or x == ns or x == "ns" then return pages.overview(b, width) end
  local name = name_of(x)
  local text = name and pages.answer(b, name, width)
  if text then return text end
  return nil, not_found(b, x, name, width)
end

--- How x is called: a list of signatures such as "ns.linspace(first, last [, n])"; empty when the reference has none.
--- x is the name of a method with its class, "TimeStepping:run", or a function or class of ns.
function help.signatures(x)
  ns = package.loaded["nslua"] or {}
  local b, name, list = help.book(), name_of(x), {}
  local class, method = (name or ""):match "^(.*):([%w_]+)$"
  local known = name and not method and b.entries[name:gsub("^ns%.", "")]
  for _, signature in ipairs(known and known.entry.signatures or {}) do
    if signature:find("ns." .. known.name, 1, true) then list[#list + 1] = signature end
  end
  for _, found in ipairs(method and b.methods[method] or {}) do
    for _, one in ipairs(found.classes) do
      if one == class then list[#list + 1] = found.signature end
    end
  end
  return list
end

return setmetatable(help, {
  __call = function(_, ...)
    local text, instead = help.text((...))
    print(text or instead)
  end,
})
