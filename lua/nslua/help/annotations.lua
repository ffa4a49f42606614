-- nslua.help.annotations: the names of the reference as LuaCATS annotations, library/nslua.lua, for editors.
--
-- Types of arguments follow from the names that the reference gives them, which mean the same everywhere.
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

-- What constructors give whose class has another name.
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

-- The methods of a section, under the name of its first class.
local function methods_name(section)
  return "nslua.methods." .. section.classes[1]:gsub("%s", "_")
end

local function add_methods(book, lines, section)
  local names, seen = {}, {}
  for name, list in pairs(book.methods) do
    for _, method in ipairs(list) do
      if method.block.section == section and not seen[name] then
        names[#names + 1], seen[name] = name, method
      end
    end
  end
  table.sort(names)
  lines[#lines + 1] = "---@class " .. methods_name(section)
  for _, name in ipairs(names) do
    lines[#lines + 1] = ("---@field %s %s %s"):format(name, type_of(seen[name].signature, "any"),
      one_line(pages.plain(seen[name].block[1])))
  end
  lines[#lines + 1] = ""
end

local function add_class(book, lines, class)
  local parents = class:find "DS$" and { "nslua.DynamicalSystem" } or {}
  for _, section in ipairs(book.of_class[class]) do
    if section.title:find "^Methods" then parents[#parents + 1] = methods_name(section) end
  end
  lines[#lines + 1] = ("---@class %s: %s\n"):format(class_name(class), table.concat(parents, ", "))
end

local function add_field(book, lines, name, value)
  local entry, last = book.entries[name], name:match "([%w_]+)$"
  local class = book.of_class[last] and last or book.of_class[name] and name
  local result = results[last] or class and class_name(class)
  local kind = type(value) == "function" and type_of(entry.signature, nil, result) or "any"
  if type(value) == "string" then kind = "string" end
  local block = entry.block
  local words = block.kind == "row" and table.concat(block.cells, "; ", 2) or block[1]
  lines[#lines + 1] = ("---@field %s %s %s"):format(last, kind, one_line(pages.plain(words)))
end

local function add_room(book, lines, class, members, prefix, rooms)
  lines[#lines + 1] = ("---@class %s"):format(class)
  local names = {}
  for name in pairs(members) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if rooms[name] and prefix == "" then
      lines[#lines + 1] = ("---@field %s nslua.module.%s"):format(name, name)
    elseif book.entries[prefix .. name] then
      add_field(book, lines, prefix .. name, members[name])
    end
  end
  lines[#lines + 1] = ""
end

--- The text of library/nslua.lua, from the reference that help reads and the table ns.
function annotations.text(book, ns)
  local lines, classes, rooms = { "---@meta nslua", "-- Made from docs/reference/.", "" }, {}, {}
  lines[#lines + 1] = "---@class nslua.DynamicalSystem\n"
  for class in pairs(book.of_class) do classes[#classes + 1] = class end
  table.sort(classes)
  for _, section in ipairs(book.sections) do
    if #section.classes > 0 and section.title:find "^Methods" then add_methods(book, lines, section) end
  end
  for _, class in ipairs(classes) do add_class(book, lines, class) end
  for name in pairs(book.entries) do
    local room = name:match "^([%w_]+)%."
    if room and type(ns[room]) == "table" then rooms[room] = ns[room] end
  end
  local names = {}
  for room in pairs(rooms) do names[#names + 1] = room end
  table.sort(names)
  for _, room in ipairs(names) do add_room(book, lines, "nslua.module." .. room, rooms[room], room .. ".", rooms) end
  add_room(book, lines, "nslua.module", ns, "", rooms)
  lines[#lines + 1] = "---@type nslua.module\nlocal ns\nreturn ns\n"
  return table.concat(lines, "\n")
end

return annotations
