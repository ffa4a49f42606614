-- nslua.repl.complete: completion by the Tab key at the prompt: names, fields, methods, options in the table of a
-- constructor, files inside strings, and signatures after "(". It runs no code of the user: fields are read without
-- metamethods, except the ones of nslua's own objects. It loads the parts of nslua that it needs.

local lazy = require "nslua.base.lazy"
local keys_of = require "nslua.base.lists".keys
local source = require "nslua.repl.source"

local complete = {}

local MOST = 100 -- most names that are listed

-- ---- values ----

local function own_object(value)
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  return meta and type(rawget(meta, "__metatable")) == "string" and meta or nil
end

-- value[key]; nil when reading it would run code of the user.
local function field(value, key)
  if own_object(value) then
    local good, result = pcall(function() return value[key] end)
    return good and result or nil
  end
  if type(value) == "string" then return string[key] end
  for _ = 1, 20 do
    if type(value) ~= "table" then return nil end
    local result = rawget(lazy.settle(value), key)
    if result ~= nil then return result end
    local meta = debug.getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index")
  end
end

local function add_keys(names, t)
  for key, value in next, t do
    if type(key) == "string" and key:find "^[%a_][%w_]*$" and names[key] == nil then names[key] = value end
  end
end

local function add_chain(names, t)
  for _ = 1, 20 do
    if type(t) ~= "table" then return end
    add_keys(names, lazy.settle(t))
    local meta = debug.getmetatable(t)
    t = type(meta) == "table" and rawget(meta, "__index")
  end
end

-- Adds the names of an object of nslua. Its __index is the table of its methods, or a function with this table as an
-- upvalue. Its own fields, the fields of its class, and the columns of a solution are in user values.
local function add_object(names, object, meta)
  local index = rawget(meta, "__index")
  if type(index) == "table" then
    add_chain(names, index)
    index = (debug.getmetatable(index) or {}).__index -- the function of a matrix that has its rows there
  end
  for i = 1, 8 do
    local label, value = nil, nil
    if type(index) == "function" then label, value = debug.getupvalue(index, i) end
    if not label then break end
    if type(value) == "table" and not rawget(value, "__name") then add_keys(names, value) end
  end
  if names.setComputeFunction or names.setName or rawget(meta, "__name") == "solution" then
    for _, n in ipairs { 1, 3 } do
      local value = debug.getuservalue(object, n)
      if type(value) == "table" then add_chain(names, rawget(value, "index") or value) end
    end
  end
  if rawget(meta, "__name") == "solution" then
    for _, name in ipairs { "status", "message", "stats" } do names[name] = names[name] or true end
  end
end

-- The names that may follow "value." or "value:" (then only functions), with their values.
local function members(value, method)
  local names, meta = {}, own_object(value)
  if meta then add_object(names, value, meta)
  elseif type(value) == "string" then add_keys(names, string)
  elseif type(value) == "table" then add_chain(names, value) end
  for name, what in pairs(names) do
    local callable = type(what) == "function" or type(what) == "table" and debug.getmetatable(what)
    if method and not callable then names[name] = nil end
  end
  return names
end

-- ---- expressions ----

-- The value of a token that is a number or a short string without escapes; nil for other tokens.
local function literal(token)
  return tonumber(token.text) or token.text:match "^[\"']([^\\]*)[\"']$"
end

-- The path { root, key, key ... } of the expression that ends with token i, as a.b[1].c; and whether its last name
-- follows a ":". nil when the path cannot be known without running code.
local function path_to(tokens, i)
  local path, method = {}, false
  while true do
    local token = tokens[i]
    if not token then return nil end
    if token.text == "]" then
      local key = tokens[i - 1] and literal(tokens[i - 1])
      if key == nil or not tokens[i - 2] or tokens[i - 2].text ~= "[" then return nil end
      table.insert(path, 1, key)
      i = i - 3
    elseif token.name then
      table.insert(path, 1, token.text)
      local before = tokens[i - 1] and tokens[i - 1].text
      if before ~= "." and before ~= ":" then return path, method end
      if before == ":" then method = true end
      i = i - 2
    else
      return nil
    end
  end
end

local function value_of(session, path)
  local value = session.get(path[1])
  for k = 2, #path do value = field(value, path[k]) end
  return value
end

-- ---- options ----

-- The lists of options (texts) by function, and by "class:method". Parts of nslua that are not loaded are left out:
-- the function whose options are asked for has been found, so its part is loaded.
local function option_lists(ns)
  local lists = {}
  for _, row in ipairs(require "nslua.repl.options") do
    for k = 2, #row do
      local value = ns
      for name in row[k]:gmatch "[^.]+" do value = type(value) == "table" and rawget(value, name) or nil end
      lists[row[k]:find ":" and row[k] or value or false] = row[1]
    end
  end
  return lists
end

-- The options of the function or method at the end of a path.
local function options_of(session, path, method)
  local value = value_of(session, path) -- first, since this loads the part with the function
  local lists = option_lists(require "nslua")
  if not method then return lists[value or 0] end
  local name = table.remove(path)
  local meta = debug.getmetatable(value_of(session, path))
  local class = type(meta) == "table" and rawget(meta, "__name")
  return lists[("%s:%s"):format(class, name)] or lists[":" .. name]
end

local function opens(token) return token.text:find "^[%(%[{]$" ~= nil end

local function closes(token) return token.text:find "^[%)%]}]$" ~= nil end

-- The places of the brackets that are open after the tokens, the innermost last.
local function open_brackets(tokens)
  local stack = {}
  for i, token in ipairs(tokens) do
    if opens(token) then stack[#stack + 1] = i
    elseif closes(token) then stack[#stack] = nil end
  end
  return stack
end

-- Whether the token at i may stand before a key of a table: "{", "," or ";".
local function before_key(token)
  return token and (token.text == "{" or token.text == "," or token.text == ";")
end

-- The options that may be written where the tokens end, { name = true }; nil when they are not known.
local function options_at(tokens, session)
  local open = open_brackets(tokens)
  local brace, outer = open[#open], open[#open - 1]
  if not brace or tokens[brace].text ~= "{" or not before_key(tokens[#tokens]) then return nil end
  local before = tokens[brace - 1]
  local callee = brace - 1
  if before and before.text == "(" or before and before.text == "," then callee = outer and outer - 1 or 0 end
  local path, method = path_to(tokens, callee)
  if not path then return nil end
  local list = options_of(session, path, method)
  if not list then return nil end
  local names = {}
  for name in list:gmatch "%S+" do names[name] = true end
  local depth = 0
  for i = brace + 1, #tokens do
    local text = tokens[i].text
    if opens(tokens[i]) then depth = depth + 1 end
    if closes(tokens[i]) then depth = depth - 1 end
    local named = tokens[i + 1] and tokens[i + 1].text == "="
    if depth == 0 and named and before_key(tokens[i - 1]) then names[text] = nil end
  end
  return names
end

-- ---- answers ----

local function sorted(names, prefix)
  return keys_of(names, function(name)
    return name:sub(1, #prefix) == prefix and not (name:find "^_" and prefix == "")
  end)
end

local function common_prefix(list)
  local prefix = list[1]
  for i = 2, #list do
    while list[i]:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  while #prefix > 0 and not utf8.len(prefix) and utf8.len(list[1]) do prefix = prefix:sub(1, -2) end
  return prefix
end

local function width_of(text) return utf8.len(text) or #text end

-- The names as text in columns, ordered down and then right.
function complete.columns(list, width)
  local more = #list - MOST
  local shown = more > 0 and table.move(list, 1, MOST, 1, {}) or list
  local column = 0
  for _, name in ipairs(shown) do column = math.max(column, width_of(name) + 2) end
  local count = math.max(1, (width - 1) // column)
  local rows, lines = (#shown + count - 1) // count, {}
  for row = 1, rows do
    local cells = {}
    for i = row, #shown, rows do cells[#cells + 1] = shown[i] .. (" "):rep(column - width_of(shown[i])) end
    lines[row] = table.concat(cells):gsub("%s+$", "")
  end
  if more > 0 then lines[#lines + 1] = ("... and %d more"):format(more) end
  return table.concat(lines, "\n")
end

-- What to insert after the prefix: the common beginning of the candidates, and for a single candidate also its
-- ending. If there is nothing to insert: nil and the list to show.
local function answer(found, width)
  local list, prefix = found.list, found.prefix
  if #list == 0 then return nil end
  local rest = common_prefix(list):sub(#prefix + 1)
  if #list == 1 then rest = rest .. found.ending(list[1]) end
  if rest ~= "" then return rest end
  if #list == 1 then return nil end
  if found.strip > 0 then
    for i, name in ipairs(list) do list[i] = name:sub(found.strip + 1) end
  end
  return nil, complete.columns(list, width)
end

local function nothing() return "" end

-- The candidates for a prefix. ending(name) is what follows a name that is the only one; `strip` is the number of
-- characters that a list of the candidates leaves out.
local function candidates(list, prefix, ending, strip)
  return { list = list, prefix = prefix, ending = ending or nothing, strip = strip or 0 }
end

-- The files whose names begin with the word. Names that need escapes in a string are left out.
local function files(word, quote, host)
  local directory = word:match "^(.*/)" or ""
  local names, prefix = {}, word:sub(#directory + 1)
  for _, name in ipairs(host.list(directory == "" and "." or directory) or {}) do
    local hidden = name:find "^%." and prefix:sub(1, 1) ~= "."
    if not hidden and not name:find "[%c\"'\\]" then names[directory .. name] = true end
  end
  local function ending(name) return name:sub(-1) == "/" and "" or quote end
  local list = keys_of(names, function(name) return name:sub(1, #word) == word end)
  return candidates(list, word, ending, #directory)
end

local words = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
    until while]]):gmatch "%a+" do words[word] = true end

local function names_at(tokens, prefix, session)
  local last = tokens[#tokens]
  local access = last and (last.text == "." or last.text == ":") and last.text
  if access then
    local path = path_to(tokens, #tokens - 1)
    local value = path and value_of(session, path)
    if value == nil then return nil end
    return candidates(sorted(members(value, access == ":"), prefix), prefix)
  end
  local options = options_at(tokens, session)
  local list = options and sorted(options, prefix) or {}
  if #list > 0 then return candidates(list, prefix, function() return " = " end) end
  local names = session.names()
  for word in pairs(words) do names[word] = true end
  return candidates(sorted(names, prefix), prefix)
end

local function without_command(text)
  return (text:gsub("^%s*:%a+%s", ""):gsub("^%s*[?=]", ""))
end

-- How a function written in Lua is called: "f(a, b)".
local function lua_signature(value, name)
  local info, names = debug.getinfo(value, "u"), {}
  for i = 1, info.nparams do names[i] = debug.getlocal(value, i) end
  if info.isvararg then names[#names + 1] = "..." end
  return ("%s(%s)"):format(name, table.concat(names, ", "))
end

-- How the function is called whose arguments the tokens end in: a list of texts; nil when that is not known, or
-- inside an argument.
local function signatures_at(tokens, session)
  local open, last = open_brackets(tokens), tokens[#tokens]
  local bracket = open[#open]
  if not bracket or tokens[bracket].text ~= "(" or not (last.text == "(" or last.text == ",") then return nil end
  local path, method = path_to(tokens, bracket - 1)
  if not path then return nil end
  local value, name = value_of(session, path), path[#path]
  local described = value
  if method then
    table.remove(path)
    described = require "nslua.repl.help".method(value_of(session, path), name)
  end
  local good, help = pcall(require, "nslua.help")
  local list = good and described ~= nil and help.signatures(described) or {}
  if #list > 0 then return list end
  local plain = type(value) == "function" and debug.getinfo(value, "S").what == "Lua"
  return plain and { lua_signature(value, name) } or nil
end

-- What may follow `text`, which is everything typed before the cursor, with earlier lines: { list =, prefix = } and
-- how to insert it (see above); nil when nothing is known.
function complete.candidates(text, session, host)
  text = without_command(text)
  local tokens, open, contents = source.tokens(text)
  if open == "comment" then return nil end
  if open == "string" then return files(text:sub(contents), text:sub(contents - 1, contents - 1), host) end
  local last, prefix = tokens[#tokens], ""
  if last and last.name and last.to == #text then
    prefix = last.text
    tokens[#tokens] = nil
  end
  return names_at(tokens, prefix, session)
end

-- The answer to Tab after `text`. Returns a text to insert, or nil and a list to show, or nothing.
function complete.at(text, session, host, width)
  local found = complete.candidates(text, session, host)
  local tokens, open = source.tokens(without_command(text))
  if not open and not text:find "%S[^\n]*$" then return "  " end
  local signatures = not open and #tokens > 0 and signatures_at(tokens, session)
  if signatures then return nil, table.concat(signatures, "\n") end
  if found then return answer(found, width) end
end

-- The path of names that ends with token i, as text: "simu:run"; nil when the token is no name.
local function path_text(text, tokens, i)
  local token, from = tokens[i], i
  if not token or not token.name or words[token.text] then return nil end
  while from > 2 and tokens[from - 1].text:find "^[.:]$" and tokens[from - 2].name do from = from - 2 end
  return text:sub(tokens[from].from, token.to)
end

-- The expressions that help may be wanted for at the end of the text: the name there, then the functions of the calls
-- around it, the innermost first.
function complete.subjects(text)
  local tokens, list = source.tokens(text), {}
  if #tokens > 0 and tokens[#tokens].to == #text then list[1] = path_text(text, tokens, #tokens) end
  local open = open_brackets(tokens)
  for k = #open, 1, -1 do list[#list + 1] = path_text(text, tokens, open[k] - 1) end
  return list
end

return complete
