-- nslua.help.annotations: the names of the reference as LuaCATS annotations, library/nslua.lua, for editors.
local entries = require "nslua.help.entry"
local lists = require "nslua.base.lists"
local pages = require "nslua.help.pages"

local annotations = {}

-- What constructors give whose class has another name.
local results = { EventDriven = "nslua.TimeStepping", TimeSteppingDirectProjection = "nslua.TimeStepping" }

local reserved = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true " ..
             "until while"):gmatch "%S+" do reserved[word] = true end

-- ---- types ----

-- The words of the reference for types, as LuaCATS has them.
local words = {
  vector = "nslua.vector|number[]", matrix = "nslua.matrix|number[][]", ["sparse matrix"] = "nslua.sparse_matrix",
  list = "any[]",
}
for name in ("number integer string boolean function table any nil true false"):gmatch "%S+" do words[name] = name end

local function class_name(class)
  return "nslua." .. class:gsub("%s", "_")
end

local function kind_of(name, names)
  return words[name] or name:find '^".*"$' and name or names[name] and class_name(name) or nil
end

--- The type of a parameter in LuaCATS; nil and the word that it does not know. `names`: classes, and what stands
--- before the colon of methods.
function annotations.type_of(text, names)
  local list = {}
  for word in (text:gsub(" or ", "\0") .. "\0"):gmatch "(.-)%z" do
    local element = word:match "^list of (.*)$"
    local kind = kind_of(element or word, names)
    local one = element and element:gsub("ces$", "xs"):gsub("s$", "")
    kind = kind or one and kind_of(one, names)
    if not kind then return nil, word end
    if kind:find "|" and element then kind = "(" .. kind .. ")" end
    list[#list + 1] = element and kind .. "[]" or kind
  end
  return table.concat(list, "|")
end

--- The names of types that the reference itself makes: its classes, and what stands before the colon of methods.
function annotations.names(book)
  local names = {}
  for class in pairs(book.of_class) do names[class] = true end
  for _, list in pairs(book.methods) do
    for _, method in ipairs(list) do names[method.entry.receiver] = true end
  end
  return names
end

-- The parameters of an entry: their types by name; and the table of those that are given by name.
local function parameters_of(e, by_name, names)
  local kinds, fields = {}, {}
  for _, parameter in ipairs(e.parameters) do
    local kind = annotations.type_of(parameter.type, names) or "any"
    local name = parameter.name
    local field = name:match "^[%w_]+%.([%w_]+)$" or by_name and name ~= "options" and name
    kinds[parameter.name] = kind
    if field then fields[#fields + 1] = ("%s?: %s"):format(field, kind) end
  end
  return kinds, #fields > 0 and "{ " .. table.concat(fields, ", ") .. " }" or "table"
end

-- A type of a result: a vector or matrix is an object, not a table of numbers.
local function result_of(text, names)
  local kind = annotations.type_of(text, names) or "any"
  return (kind:gsub("(nslua%.vector)|number%[%]", "%1"):gsub("(nslua%.matrix)|number%[%]%[%]", "%1"))
end

-- The entry that an entry leaves its results to: "Does what the method of a vector does", "Calls the function of the
-- same name". Else itself.
local function teller_of(book, e, name)
  local class = e.summary:match "^Does what the method of an? ([%w_]+) does"
  for _, method in ipairs(class and book.methods[name] or {}) do
    if method.entry ~= e and method.entry.receiver == class then return method.entry end
    for _, of in ipairs(method.entry ~= e and method.classes or {}) do
      if of == class then return method.entry end
    end
  end
  local called = e.summary:find "^Calls the function of the same name" and book.entries[name]
  return called and called.entry or e
end

-- What an entry gives; a table with the fields that are told of.
local function results_of(e, names)
  local list, fields = {}, {}
  for _, told in ipairs(e.fields) do
    fields[#fields + 1] = ("%s: %s"):format(told.name, result_of(told.type, names))
  end
  for _, told in ipairs(e.results) do
    local record = #fields > 0 and (told.type == "table" or told.type == "list of tables")
    local kind = record and "{ " .. table.concat(fields, ", ") .. " }" or result_of(told.type, names)
    list[#list + 1] = record and told.type ~= "table" and kind .. "[]" or kind
  end
  return #list > 0 and table.concat(list, ", ") or nil
end

-- fun(...) of an entry, by one of its signatures.
local function type_of_signature(e, signature, names, receiver, result)
  local parts = {}
  local list, by_name = entries.arguments(signature)
  local all_in_one = list and #list == 1 and list[1].name == "options"
  local kinds, record = parameters_of(e, by_name or all_in_one, names)
  if receiver then parts[1] = "self: " .. receiver end
  if by_name then parts[#parts + 1] = "options: " .. record end
  for _, argument in ipairs(by_name and {} or list or { { name = "..." } }) do
    local kind = argument.name == "options" and record or kinds[argument.name] or "any"
    local name = reserved[argument.name] and argument.name .. "_" or argument.name
    parts[#parts + 1] = ("%s%s: %s"):format(name, argument.optional and name ~= "..." and "?" or "", kind)
  end
  return ("fun(%s)%s"):format(table.concat(parts, ", "), result and ": " .. result or "")
end

-- The type of a function or method: fun(...), or for several signatures of its name (fun(...))|(fun(...)).
local function type_of_entry(book, e, signature, names, receiver, result)
  local called = signature:match "^[^({]*"
  local list, seen = {}, {}
  result = result or results_of(teller_of(book, e, called:match "[%w_]+$" or called), names)
  for _, other in ipairs(e.signatures) do
    local kind = other:match "^[^({]*" == called and type_of_signature(e, other, names, receiver, result)
    if kind and not seen[kind] then list[#list + 1], seen[kind] = kind, true end
  end
  if #list == 1 then return list[1] end
  if #list == 0 then return type_of_signature(e, signature, names, receiver, result) end
  return "(" .. table.concat(list, ")|(") .. ")"
end

-- ---- lines ----

local function one_line(text)
  return (pages.plain(text):gsub("%s+", " "))
end

local function add_class(book, lines, class, names)
  local methods, seen = {}, {}
  for name, list in pairs(book.methods) do
    for _, method in ipairs(list) do
      for _, of in ipairs(seen[name] and {} or method.classes) do
        if of == class and not seen[name] then methods[#methods + 1], seen[name] = name, method end
      end
    end
  end
  table.sort(methods)
  lines[#lines + 1] = "---@class " .. class_name(class)
  for _, section in ipairs(book.sections) do
    local gives = section.entry and section.entry.results[1]
    for _, told in ipairs(gives and gives.type == class and section.entry.fields or {}) do
      lines[#lines + 1] = ("---@field %s %s %s"):format(told.name, result_of(told.type, names), one_line(told.text))
    end
  end
  for _, name in ipairs(methods) do
    local e = seen[name].entry
    local kind = type_of_entry(book, e, seen[name].signature, names, "any")
    lines[#lines + 1] = ("---@field %s %s %s"):format(name, kind, one_line(e.summary))
  end
  lines[#lines + 1] = ""
end

-- What a receiver of methods is: one of the classes in the headings above its methods.
local function add_aliases(book, lines)
  local receivers, list = {}, {}
  for _, section in ipairs(book.sections) do
    local receiver = section.entry and section.entry.receiver
    for _, class in ipairs(receiver and not book.of_class[receiver] and section.parent.classes or {}) do
      receivers[receiver] = receivers[receiver] or {}
      receivers[receiver][class_name(class)] = true
    end
  end
  for receiver, classes in pairs(receivers) do
    local names = lists.keys(classes)
    list[#list + 1] = ("---@alias nslua.%s %s"):format(receiver, table.concat(names, "|"))
  end
  table.sort(list)
  table.move(list, 1, #list, #lines + 1, lines)
  lines[#lines + 1] = ""
end

local function add_field(book, lines, name, value, names)
  local known, last = book.entries[name], name:match "([%w_]+)$"
  local class = book.of_class[last] and last or book.of_class[name] and name
  local kind = type(value) == "string" and "string" or "any"
  if type(value) == "function" then
    kind = type_of_entry(book, known.entry, known.signature, names, nil, results[last] or class and class_name(class))
  end
  lines[#lines + 1] = ("---@field %s %s %s"):format(last, kind, one_line(known.entry.summary))
end

local function add_room(book, lines, class, members, prefix, rooms, names)
  lines[#lines + 1] = ("---@class %s"):format(class)
  local list = lists.keys(members)
  for _, name in ipairs(list) do
    if rooms[name] and prefix == "" then
      lines[#lines + 1] = ("---@field %s nslua.module.%s"):format(name, name)
    elseif book.entries[prefix .. name] then
      add_field(book, lines, prefix .. name, members[name], names)
    end
  end
  lines[#lines + 1] = ""
end

-- All classes: of methods under headings that name them, and of objects that a method is told of by their name.
local function classes_of(book)
  local classes, seen = {}, {}
  for class in pairs(book.of_class) do classes[#classes + 1], seen[class] = class, true end
  for _, section in ipairs(book.sections) do
    local receiver = section.entry and section.entry.of_receiver and section.entry.receiver
    if receiver and not seen[receiver] then classes[#classes + 1], seen[receiver] = receiver, true end
  end
  table.sort(classes)
  return classes
end

--- The text of library/nslua.lua, from the reference that help reads and the table ns.
function annotations.text(book, ns)
  local lines, rooms, list = { "---@meta nslua", "-- Made from docs/reference/.", "" }, {}, {}
  local names = annotations.names(book)
  add_aliases(book, lines)
  for _, class in ipairs(classes_of(book)) do add_class(book, lines, class, names) end
  for name in pairs(book.entries) do
    local room = name:match "^([%w_]+)%."
    if room and type(ns[room]) == "table" and not rooms[room] then list[#list + 1], rooms[room] = room, ns[room] end
  end
  table.sort(list)
  for _, room in ipairs(list) do
    add_room(book, lines, "nslua.module." .. room, rooms[room], room .. ".", rooms, names)
  end
  add_room(book, lines, "nslua.module", ns, "", rooms, names)
  lines[#lines + 1] = "---@type nslua.module\nlocal ns\nreturn ns\n"
  return table.concat(lines, "\n")
end

return annotations
