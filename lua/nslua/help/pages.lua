-- nslua.help.pages: the reference, pages of Markdown, taken apart into sections, blocks and names; shown as text.
--
-- An entry is a section of its own: see nslua.help.entry. Elsewhere:
-- A block is a paragraph, an item of a list, a row of a table or a piece of code. It tells of the names in its code
-- spans: `ns.NAME...` anywhere, `:METHOD(...)` of the classes in the heading of its section, or of those that it
-- begins with, "Of `A`, `B` and `C`: `:method()`", else `object:method`.
local entries = require "nslua.help.entry"

local pages = {}

-- ---- reading ----

local function trim(s)
  return (s:gsub("^%s+", ""):gsub("%s+$", ""))
end

local function cells_of(line)
  local cells, cell, code = {}, "", false
  for char in (line:gsub("^%s*|", ""):gsub("|%s*$", "") .. "|"):gmatch "." do
    if char == "`" then code = not code end
    if char == "|" and not code then
      cells[#cells + 1], cell = trim(cell), ""
    else
      cell = cell .. char
    end
  end
  return cells
end

local readers = {}

function readers.code(state, line)
  if line:find "^```" then
    state.block = nil
  else
    state.block[#state.block + 1] = line
  end
end

local function begin(state, kind, line)
  local block = { kind = kind, section = state.section, line }
  state.block = block
  table.insert(state.section.blocks, block)
  return block
end

local function begin_section(state, level, title)
  local section = { level = level, title = trim(title:gsub("`", "")), classes = {}, blocks = {} }
  section.parent = state.parents[level - 1]
  if entries.is_title(title) then section.heading = title end
  for name in (section.heading and "" or title):gmatch "`([^`]+)`" do section.classes[#section.classes + 1] = name end
  state.parents[level], state.parents[level + 1] = section, nil
  state.section, state.block = section, nil
  table.insert(state.book.sections, section)
end

local function read_row(state, line)
  local before = state.block
  local cells = cells_of(line)
  local header = before and before.kind == "row" and before.header or nil
  if before and before.kind == "row" and line:find "^|[-:| ]+|$" then
    before.kind, before.header = "header", cells_of(before.line)
    return
  end
  if before and before.kind == "header" then header = before.header end
  local block = begin(state, "row", line)
  block.line, block.cells, block.header = line, cells, header
end

local function read_line(state, line)
  local marks, title = line:match "^(#+) (.*)$"
  if state.block and state.block.kind == "code" then
    readers.code(state, line)
  elseif marks then
    begin_section(state, #marks, title)
  elseif line:find "^```" then
    begin(state, "code", nil)
  elseif line:find "^<!%-%-" or not line:find "%S" then
    state.block = nil
  elseif line:find "^|" then
    read_row(state, line)
  elseif line:find "^%* " then
    begin(state, "item", line:sub(3))
  elseif state.block and (state.block.kind == "item" or state.block.kind == "paragraph") then
    state.block[1] = state.block[1] .. " " .. trim(line)
  else
    begin(state, "paragraph", line)
  end
end

-- ---- names ----

local STARTS = 4 -- the weight of a name at the start of its block

-- The classes whose methods a block describes.
local function classes_of(block)
  local own = block.kind == "item" and block[1]:match "^Of (`[^:]*`): "
  if not own then return block.section.classes end
  local classes = {}
  for name in own:gmatch "`([^`]+)`" do classes[#classes + 1] = name end
  return classes
end

-- How likely it is that a code span is the place where its name is described: it is at the start of a row or an
-- item, and has arguments. In a block that describes a method, other names are only mentioned.
local function weight(block, span)
  if block.kind == "item" and block[1]:find "^`:" then return 0 end
  local has_arguments = span.code:find "[%({]" and 2 or 0
  local starts = span.at <= 3 and STARTS or 0
  local kind = block.kind == "row" and 2 or block.kind == "item" and 1 or 0
  return starts + has_arguments + kind
end

local function add_name(book, name, block, span)
  local known = book.entries[name]
  local mine = weight(block, span)
  if not known then book.names[#book.names + 1] = name end
  if not known or mine > known.weight then
    book.entries[name] = { name = name, block = block, section = block.section, signature = span.code, weight = mine }
  end
end

local function add_method(book, name, block, span)
  local list = book.methods[name] or {}
  book.methods[name] = list
  for _, known in ipairs(list) do
    if known.block == block then return end
  end
  list[#list + 1] = { name = name, block = block, section = block.section, signature = span.code,
    receiver = span.code:match "^([%a_]+):", classes = classes_of(block) }
end

-- The entry of a section, under the names in its heading.
local function read_entry(book, section)
  local e = entries.read(section, section.heading, section.parent.classes)
  section.entry = e
  if e.receiver and #e.classes == 0 then e.classes, e.of_receiver = { e.receiver }, true end
  for _, signature in ipairs(e.signatures) do
    local name = signature:match "^ns%.([%a_][%w_.]*)"
    local method = signature:match "^[%a_]+:([%a_][%w_]*)"
    local known = book.entries[name]
    if name and not (known and known.entry) then
      if not known then book.names[#book.names + 1] = name end
      book.entries[name] = { name = name, section = section, signature = signature, entry = e, weight = math.huge }
    elseif method then
      local list = book.methods[method] or {}
      book.methods[method] = list
      if not list[#list] or list[#list].section ~= section then
        list[#list + 1] = { name = method, section = section, signature = signature, receiver = e.receiver, entry = e,
          classes = e.classes }
      end
    end
  end
end

local function read_names(book, block)
  if block.kind == "code" then return end
  for _, span in ipairs(entries.spans(block.kind == "row" and block.cells[1] or block[1])) do
    local name = span.code:match "^ns%.([%a_][%w_.]*)"
    local method = span.code:match "^[%a_]*:([%a_][%w_]*)"
    if name then add_name(book, name:gsub("%.$", ""), block, span) end
    if method then add_method(book, method, block, span) end
  end
end

-- The text of a section without its subsections, as it is written.
local function text_of(section)
  local parts = { section.title }
  for _, block in ipairs(section.blocks) do parts[#parts + 1] = block.line or table.concat(block, "\n") end
  return table.concat(parts, "\n")
end

--- Markdown taken apart, a list of pages: {sections=, entries= (by name without "ns."), methods= (by name, a list),
--- names=}.
function pages.parse(texts)
  local book = { sections = {}, entries = {}, methods = {}, names = {}, of_class = {} }
  for _, text in ipairs(texts) do
    local state = { book = book, parents = {} }
    for line in (text .. "\n"):gmatch "(.-)\n" do read_line(state, line) end
  end
  for _, section in ipairs(book.sections) do
    section.text = text_of(section)
    if section.heading then read_entry(book, section) end
    for _, block in ipairs(section.heading and {} or section.blocks) do read_names(book, block) end
    for _, class in ipairs(section.classes) do
      book.of_class[class] = book.of_class[class] or {}
      table.insert(book.of_class[class], section)
    end
  end
  return book
end

-- ---- showing ----

--- Text without the marks of Markdown.
function pages.plain(text)
  return (text:gsub("%[([^%]]+)%]%(([^)]+)%)", "%1"):gsub("%*%*", ""):gsub("`", ""))
end

local function length(s)
  return utf8.len(s) or #s
end

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

--- A text, or a list of texts that are not broken, in lines of at most `width` characters, the first after
--- `first`, the others after `others`; a space between, or `between`.
function pages.wrap(text, width, first, others, between)
  local lines, line, empty = {}, first, true
  between = between or " "
  for _, word in ipairs(type(text) == "table" and text or words_of(text)) do
    if not empty and length(line) + #between + length(word) > width then
      lines[#lines + 1] = line
      line, empty = others, true
    end
    line = line .. (empty and "" or between) .. word
    empty = false
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local function show_row(block, width)
  local parts = { pages.wrap(pages.plain(block.cells[1]), width, "", "    ") }
  for i = 2, #block.cells do
    local label = block.header and block.header[i] ~= "" and pages.plain(block.header[i]) .. ": " or ""
    local words = label .. pages.plain(block.cells[i])
    if block.cells[i] ~= "" then parts[#parts + 1] = pages.wrap(words, width, "    ", "    ") end
  end
  return table.concat(parts, "\n")
end

local function show(block, width)
  if block.kind == "code" then return "    " .. table.concat(block, "\n    ") end
  if block.kind == "header" then return "" end
  if block.kind == "row" then return show_row(block, width) end
  local item = block.kind == "item"
  return pages.wrap(pages.plain(block[1]), width, item and "* " or "", item and "  " or "")
end

-- Joins blocks with empty lines between them, but not between rows of a table or items of a list.
local function show_blocks(blocks, width)
  local parts, before = {}, nil
  for _, block in ipairs(blocks) do
    local text = show(block, width)
    local close = before == block.kind and (block.kind == "row" or block.kind == "item")
    if text ~= "" and not block.hidden then
      parts[#parts + 1] = (#parts == 0 and "" or close and "\n" or "\n\n") .. text
      before = block.kind
    end
  end
  return table.concat(parts)
end

local function index_of(section, block)
  for i, other in ipairs(section.blocks) do
    if other == block then return i end
  end
end

-- Whether a paragraph begins the description of something else.
local function turns(block)
  local kind = block.kind
  return kind == "item" or kind == "paragraph" and block[1]:find "^`ns%." or kind == "row" and not block.header
end

-- The block of an entry, and after a paragraph what belongs to it: of a list the items, when the first one tells of
-- a method of what the entry makes, `model:solve()` of numerics.model.
local function show_old_entry(entry, width)
  local section, block = entry.block.section, entry.block
  local list, at = { block }, index_of(section, block) + 1
  local method, listed = "^`" .. entry.name:match "[%w_]+$" .. ":", false
  local function belongs(other)
    listed = other.kind == "item" and (listed or other[1]:find(method) ~= nil)
    return listed or not turns(other)
  end
  while block.kind == "paragraph" and section.blocks[at] and belongs(section.blocks[at]) do
    list[#list + 1], at = section.blocks[at], at + 1
  end
  if block.kind == "row" then
    for _, other in ipairs(section.blocks) do
      local another = other.kind == "row" and other.cells[1]:find "^`ns%."
      if other.kind ~= "code" and other.header ~= block.header and not another then list[#list + 1] = other end
    end
  end
  return show_blocks(list, width)
end

-- The signatures, the classes of a method, and the blocks of an entry.
local function show_entry(known, width)
  if not known.entry then return show_old_entry(known, width) end
  local heads = {}
  for _, span in ipairs(entries.spans(known.section.heading)) do
    heads[#heads + 1] = pages.wrap(span.code, width, "", "    ")
  end
  if #known.entry.classes > 0 and not known.entry.of_receiver then
    heads[#heads + 1] = pages.wrap(table.concat(known.entry.classes, ", "), width, "  of ", "     ")
  end
  return table.concat(heads, "\n") .. "\n\n" .. show_blocks(known.section.blocks, width)
end

local function is_in(name, list)
  for _, other in ipairs(list) do
    if other == name then return true end
  end
  return false
end

-- The signatures of the methods that the sections of a class tell of.
local function show_methods(book, class, width)
  local list, seen = {}, {}
  for _, section in ipairs(book.of_class[class] or {}) do
    for _, block in ipairs(section.blocks) do
      local fits = block[1] and block.kind ~= "code" and is_in(class, classes_of(block))
      for _, span in ipairs(fits and entries.spans(block[1]) or {}) do
        local name = span.code:match "^:([%w_]+)"
        if name and not seen[name] then seen[name], list[#list + 1] = true, span.code end
      end
    end
  end
  for _, other in ipairs(book.sections) do
    for _, span in ipairs(other.entry and is_in(class, other.entry.classes) and entries.spans(other.heading) or {}) do
      list[#list + 1] = span.code:match ":.*$"
    end
  end
  if #list == 0 then return nil end
  return "Methods of " .. class .. ":\n" .. pages.wrap(list, width, "  ", "  ", "  ")
end

-- The paragraphs of the sections on the methods of a class.
local function show_class(book, class, width)
  local list = {}
  for _, section in ipairs(book.of_class[class]) do
    for _, block in ipairs(section.blocks) do
      if block.kind == "paragraph" and not block[1]:find "^`ns%." then list[#list + 1] = block end
    end
  end
  return #list > 0 and show_blocks(list, width) or nil
end

local function show_section(book, section, width)
  local parts = { pages.wrap(section.title, width, "", ""), show_blocks(section.blocks, width) }
  for _, other in ipairs(book.sections) do
    if other.parent == section and other.entry then
      local signatures = {}
      for _, span in ipairs(entries.spans(other.heading)) do signatures[#signatures + 1] = span.code end
      parts[#parts + 1] = pages.wrap(signatures, width, "", "    ", ", ") .. "\n" ..
        pages.wrap(pages.plain(other.entry.summary), width, "    ", "    ")
    elseif other.parent == section then
      parts[#parts + 1] = show_section(book, other, width)
    end
  end
  return table.concat(parts, "\n\n")
end

--- The page that a section belongs to, as the section with its heading.
function pages.top(section)
  while section.parent do section = section.parent end
  return section
end

local function where(section)
  return ("(help \"%s\" shows the page)"):format(pages.top(section).title)
end

-- Whether an entry tells of the method of an object with this name.
local function of_receiver(book, method, object)
  for _, found in ipairs(book.methods[method] or {}) do
    if found.entry and found.receiver == object then return true end
  end
  return false
end

-- The method, of one class, or (class nil) of all that have it. What tells of methods of a class comes first; what
-- mentions `object:method` in a text comes after it, of one object alone when `object` is given.
local function method_answer(book, class, method, width, object)
  local told, mentioned = {}, {}
  for _, found in ipairs(book.methods[method] or {}) do
    local classes = found.classes
    local list = (#classes > 0 or found.entry or not found.receiver) and told or mentioned
    local of_object = not object or list == told or found.receiver == object
    if found.entry then
      local own = object and of_receiver(book, method, object)
      local fits = class == nil and (not own or found.receiver == object) or is_in(class, classes)
      if fits then list[#list + 1] = show_entry(found, width) end
    elseif of_object and (class == nil or found.receiver == class or is_in(class, classes)) then
      local of = class or #classes > 0 and table.concat(classes, ", ") or found.block.section.title
      list[#list + 1] = pages.wrap(of, width, "", "") .. "\n" .. show(found.block, width)
    end
  end
  table.move(mentioned, 1, #mentioned, #told + 1, told)
  return #told > 0 and table.concat(told, "\n\n") or nil
end

-- The names of a table of functions, such as numerics.
local function show_room(book, room, width)
  local list = {}
  for _, name in ipairs(book.names) do
    if name:sub(1, #room + 1) == room .. "." then list[#list + 1] = "ns." .. name end
  end
  if #list == 0 then return nil end
  table.sort(list)
  return "ns." .. room .. ":\n" .. pages.wrap(list, width, "  ", "  ", "  ")
end

local function entry_answer(book, name, width)
  local room, entry, methods = show_room(book, name, width), book.entries[name], show_methods(book, name, width)
  if room and not (entry and entry.weight >= STARTS) then return room end
  if not entry and not methods then return nil end
  local parts = {}
  parts[1] = entry and show_entry(entry, width) or not entry and show_class(book, name, width) or nil
  parts[#parts + 1] = room
  parts[#parts + 1] = methods
  parts[#parts + 1] = where(entry and entry.section or book.of_class[name][1])
  return table.concat(parts, "\n\n")
end

-- The answers for the names that end in `.last`.
local function member_answer(book, last, width)
  local parts = {}
  for _, name in ipairs(book.names) do
    if name:match "%.([%w_]+)$" == last then parts[#parts + 1] = entry_answer(book, name, width) end
  end
  return #parts > 0 and table.concat(parts, "\n\n") or nil
end

--- What the book says of a name, or nil.
function pages.answer(book, name, width)
  local short = name:gsub("^ns%.", "")
  local class, method = short:match "^(.-)[:.]([%a_][%w_]*)$"
  local text = entry_answer(book, short, width)
  if not text and class and class ~= "" then
    if short:find(":", 1, true) and not book.of_class[class] then -- the name of a variable
      text = method_answer(book, nil, method, width, class) or method_answer(book, nil, method, width) or
        member_answer(book, method, width)
    else
      text = method_answer(book, class, method, width)
    end
  end
  if not text then text = method_answer(book, nil, short:gsub("^:", ""), width) end
  if not text then text = member_answer(book, short, width) end
  if text then return text end
  for _, section in ipairs(book.sections) do
    if section.title:lower() == name:lower() then return show_section(book, section, width) end
  end
end

--- The sections with the names that they tell of.
function pages.overview(book, width)
  local names = {}
  for _, name in ipairs(book.names) do
    local section = pages.top(book.entries[name].section)
    names[section] = names[section] or {}
    table.insert(names[section], name)
  end
  local parts = { "help(name), help(object), help \"Section\"; names without ns. before them:" }
  for _, section in ipairs(book.sections) do
    if names[section] then
      parts[#parts + 1] = section.title .. "\n" .. pages.wrap(names[section], width, "  ", "  ", "  ")
    end
  end
  return table.concat(parts, "\n\n")
end

return pages
