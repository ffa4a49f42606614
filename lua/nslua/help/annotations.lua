-- nslua.help.annotations: the names of the reference as LuaCATS annotations, library/nslua.lua, for editors.
--
-- The types of arguments follow from their names in the reference: a name has the same meaning everywhere.
local entries = require "nslua.help.entry"
local pages = require "nslua.help.pages"

local annotations = {}

local number_names = "t t0 tf T n m k i j x1 y1 theta gamma en et R R1 R2 rows cols offset width height relative " ..
  "absolute tolerance iterations rtol level dim stop start step nodes"
local vector_names = "x x0 y y0 yd0 q0 v v0 z w f0 point normal corner ts points pc1 pc2 nc qdot"
local matrix_names = "A B C D E M W"
local either_names = "a b e mu lb ub lower upper value atol q stiffness damping"
local text_names = "name file kind library symbol"

local types = {}
for names, kind in pairs {
  [number_names] = "number", [vector_names] = "nslua.vector|number[]", [matrix_names] = "nslua.matrix|number[][]",
  [either_names] = "number|nslua.vector|number[]", [text_names] = "string", ["residual"] = "function",
  ["flag"] = "boolean", ["ds ds2"] = "nslua.DynamicalSystem", ["nsds"] = "nslua.NonSmoothDynamicalSystem",
  ["grid td"] = "nslua.TimeDiscretisation", ["interaction"] = "nslua.Interaction",
} do
  for name in names:gmatch "%S+" do types[name] = kind end
end

-- The classes of constructors that have another name than their class.
local results = { EventDriven = "nslua.TimeStepping", TimeSteppingDirectProjection = "nslua.TimeStepping" }

local reserved = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true " ..
             "until while"):gmatch "%S+" do reserved[word] = true end

-- The arguments of a signature, "(a [, b], ...)": names, and which may be left out; nil when they are no names.
local function arguments_of(signature)
  local list, optional, inside = {}, false, signature:match "^[^({]*%((.*)%)$"
  if not inside then return nil end
  for mark, name in (inside:gsub("%s", "") .. ","):gmatch "([%[%],]*)([^%[%],]*)" do
    if mark:find "%[" then optional = true end
    if name == "..." then
      list[#list + 1] = { name = "..." }
    elseif name:find "^[%a_][%w_]*$" and not reserved[name] then
      list[#list + 1] = { name = name, optional = optional }
    elseif name ~= "" then
      return nil
    end
  end
  return list
end

-- The type of the table that a signature "name{a=, b=}" takes.
local function options_of(signature)
  local inside = signature:match "^[^({]*{(.*)}$"
  if not inside then return nil end
  local fields = {}
  for name in inside:gmatch "([%a_][%w_]*)%s*=" do
    fields[#fields + 1] = ("%s?: %s"):format(name, types[name] or "any")
  end
  return #fields > 0 and "{ " .. table.concat(fields, ", ") .. " }" or "table"
end

-- The types of the reference and their names in LuaCATS.
local words = {
  vector = "nslua.vector|number[]", matrix = "nslua.matrix|number[][]", ["sparse matrix"] = "nslua.sparse_matrix",
  list = "any[]",
}
for name in ("number integer string boolean function table any nil true false"):gmatch "%S+" do words[name] = name end

local function kind_of(name, names)
  return words[name] or name:find '^".*"$' and name or names[name] and "nslua." .. name:gsub(" ", "_") or nil
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

--- The names of types that the reference itself makes: its classes, and receivers of methods.
function annotations.names(book)
  local names = {}
  for class in pairs(book.of_class) do names[class] = true end
  for _, list in pairs(book.methods) do
    for _, method in ipairs(list) do
      if method.entry then names[method.receiver] = true end
    end
  end
  return names
end

-- fun(...) of an entry, by one of its signatures.
local function type_of_entry(e, signature, names, receiver, result)
  local parts, described, fields = {}, {}, {}
  local list, by_name = entries.arguments(signature)
  for _, parameter in ipairs(e.parameters) do
    described[parameter.name] = annotations.type_of(parameter.type, names) or "any"
    local of, name = parameter.name:match "^([%w_]+)%.([%w_]+)$"
    if by_name and not of then
      fields[#fields + 1] = ("%s?: %s"):format(parameter.name, described[parameter.name])
    elseif of then
      fields[#fields + 1] = ("%s?: %s"):format(name, described[parameter.name])
    end
  end
  local record = #fields > 0 and "{ " .. table.concat(fields, ", ") .. " }" or "table"
  if receiver then parts[1] = "self: " .. receiver end
  if by_name then parts[#parts + 1] = "options: " .. record end
  for _, argument in ipairs(by_name and {} or list or { { name = "..." } }) do
    local kind = #fields > 0 and argument.name == "options" and record or described[argument.name] or "any"
    local name = reserved[argument.name] and argument.name .. "_" or argument.name
    parts[#parts + 1] = ("%s%s: %s"):format(name, argument.optional and name ~= "..." and "?" or "", kind)
  end
  local given = {}
  for _, told in ipairs(result and {} or e.results) do
    local kind = annotations.type_of(told.type, names) or "any"
    given[#given + 1] = kind == words[told.type] and kind:match "^[^|]*" or kind
  end
  result = result or #given > 0 and table.concat(given, ", ") or nil
  return ("fun(%s)%s"):format(table.concat(parts, ", "), result and ": " .. result or "")
end

-- fun(...) of a signature, for a field.
local function type_of(signature, receiver, result)
  local parts, list, options = {}, arguments_of(signature), options_of(signature)
  if receiver then parts[1] = "self: " .. receiver end
  if options then parts[#parts + 1] = "options: " .. options end
  if not list and not options then parts[#parts + 1] = "...: any" end
  for _, argument in ipairs(list or {}) do
    local optional = argument.optional and "?" or ""
    parts[#parts + 1] = ("%s%s: %s"):format(argument.name, optional, types[argument.name] or "any")
  end
  return ("fun(%s)%s"):format(table.concat(parts, ", "), result and ": " .. result or "")
end

local function one_line(text)
  return (text:gsub("%s+", " "))
end

local function class_name(class)
  return "nslua." .. class:gsub("%s", "_")
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
  local parent = class:find "DS$" and " nslua.DynamicalSystem" or ""
  lines[#lines + 1] = ("---@class %s:%s"):format(class_name(class), parent)
  for _, name in ipairs(methods) do
    local method = seen[name]
    local e = method.entry
    lines[#lines + 1] = ("---@field %s %s %s"):format(name, e and type_of_entry(e, method.signature, names, "any") or
      type_of(method.signature, "any"), one_line(pages.plain(e and e.summary or method.block[1])))
  end
  lines[#lines + 1] = ""
end

-- What a receiver of methods is: one of the classes in the headings above its methods.
local function add_aliases(book, lines)
  local receivers, list = {}, {}
  for _, section in ipairs(book.sections) do
    local receiver = section.entry and section.entry.receiver
    for _, class in ipairs(receiver and section.parent.classes or {}) do
      receivers[receiver] = receivers[receiver] or {}
      if not book.of_class[receiver] then receivers[receiver][class_name(class)] = true end
    end
  end
  for receiver, classes in pairs(receivers) do
    local names = {}
    for class in pairs(classes) do names[#names + 1] = class end
    table.sort(names)
    if #names > 0 then list[#list + 1] = ("---@alias nslua.%s %s"):format(receiver, table.concat(names, "|")) end
  end
  table.sort(list)
  table.move(list, 1, #list, #lines + 1, lines)
  lines[#lines + 1] = ""
end

local function add_field(book, lines, name, value, types_known)
  local entry, last = book.entries[name], name:match "([%w_]+)$"
  local class = book.of_class[last] and last or book.of_class[name] and name
  local result = results[last] or class and class_name(class)
  local kind, block = "any", entry.block
  if type(value) == "string" then kind = "string" end
  if type(value) == "function" and entry.entry then
    kind = type_of_entry(entry.entry, entry.signature, types_known, nil, result)
  elseif type(value) == "function" then
    kind = type_of(entry.signature, nil, result)
  end
  local text = entry.entry and entry.entry.summary
  text = text or block.kind == "row" and table.concat(block.cells, "; ", 2) or block[1]
  lines[#lines + 1] = ("---@field %s %s %s"):format(last, kind, one_line(pages.plain(text)))
end

local function add_room(book, lines, class, members, prefix, rooms, types_known)
  lines[#lines + 1] = ("---@class %s"):format(class)
  local names = {}
  for name in pairs(members) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if rooms[name] and prefix == "" then
      lines[#lines + 1] = ("---@field %s nslua.module.%s"):format(name, name)
    elseif book.entries[prefix .. name] then
      add_field(book, lines, prefix .. name, members[name], types_known)
    end
  end
  lines[#lines + 1] = ""
end

--- The text of library/nslua.lua, from the reference that help reads and the table ns.
function annotations.text(book, ns)
  local lines, classes, rooms = { "---@meta nslua", "-- Made from docs/reference/.", "" }, {}, {}
  lines[#lines + 1] = "---@class nslua.DynamicalSystem\n"
  local seen = {}
  for class in pairs(book.of_class) do classes[#classes + 1], seen[class] = class, true end
  for _, section in ipairs(book.sections) do
    local e = section.entry
    local receiver = e and e.of_receiver and e.receiver
    if receiver and not seen[receiver] then classes[#classes + 1], seen[receiver] = receiver, true end
  end
  table.sort(classes)
  local known = annotations.names(book)
  add_aliases(book, lines)
  for _, class in ipairs(classes) do add_class(book, lines, class, known) end
  for name in pairs(book.entries) do
    local room = name:match "^([%w_]+)%."
    if room and type(ns[room]) == "table" then rooms[room] = ns[room] end
  end
  local names = {}
  for room in pairs(rooms) do names[#names + 1] = room end
  table.sort(names)
  for _, room in ipairs(names) do
    add_room(book, lines, "nslua.module." .. room, rooms[room], room .. ".", rooms, known)
  end
  add_room(book, lines, "nslua.module", ns, "", rooms, known)
  lines[#lines + 1] = "---@type nslua.module\nlocal ns\nreturn ns\n"
  return table.concat(lines, "\n")
end

return annotations
