-- nslua.help.pages: the reference, pages of Markdown, taken apart into sections, blocks and names; shown as text.
--
-- A block is a paragraph, an item of a list, a row of a table or a piece of code. A section is an entry (see
-- nslua.help.entry), or text. Its heading may name classes in code spans, "Methods of `A`, `B`": the entries below it
-- tell of their methods.
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

local function read_code(state, line)
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
  if before and before.cells and line:find "^|[-:| ]+|$" then -- the row before is a header
    before.kind, before.header, before.cells = "header", before.cells, nil
    return
  end
  local block = begin(state, "row", line)
  block.line, block.cells, block.header = line, cells_of(line), before and before.header
end

local function read_line(state, line)
  local marks, title = line:match "^(#+) (.*)$"
  local kind = state.block and state.block.kind
  if kind == "code" then
    read_code(state, line)
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
  elseif kind == "item" or kind == "paragraph" then
    state.block[1] = state.block[1] .. " " .. trim(line)
  else
    begin(state, "paragraph", line)
  end
end

-- ---- names ----

-- The entry of a section, under the names in its heading.
local function read_entry(book, section)
  local e = entries.read(section, section.heading, section.parent.classes)
  section.entry = e
  if e.receiver and #e.classes == 0 then e.classes, e.of_receiver = { e.receiver }, true end
  for _, signature in ipairs(e.signatures) do
    local name = signature:match "^ns%.([%a_][%w_.]*)"
    local method = signature:match "^[%a_]+:([%a_][%w_]*)"
    if name and not book.entries[name] then
      book.names[#book.names + 1] = name
      book.entries[name] = { name = name, section = section, signature = signature, entry = e }
    elseif method then
      local list = book.methods[method] or {}
      book.methods[method] = list
      if not list[#list] or list[#list].section ~= section then
        list[#list + 1] = { name = method, section = section, signature = signature, entry = e, classes = e.classes }
      end
    end
  end
end

-- The text of a section without its subsections, as it is written.
local function text_of(section)
  local parts = { section.title }
  for _, block in ipairs(section.blocks) do parts[#parts + 1] = block.line or table.concat(block, "\n") end
  return table.concat(parts, "\n")
end

--- Pages of Markdown taken apart: {sections=, entries= (by name without "ns."), methods= (by name, a list), names=,
--- of_class= (sections on the methods of a class)}.
function pages.parse(texts)
  local book = { sections = {}, entries = {}, methods = {}, names = {}, of_class = {} }
  for _, text in ipairs(texts) do
    local state = { book = book, parents = {} }
    for line in (text .. "\n"):gmatch "(.-)\n" do read_line(state, line) end
  end
  for _, section in ipairs(book.sections) do
    section.text = text_of(section)
    if section.heading then read_entry(book, section) end
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

--- The words of a text, as a list.
function pages.words(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

--- A text, or a list of texts that are not broken, in lines of at most `width` characters, the first after
--- `first`, the others after `others`; a space between, or `between`.
function pages.wrap(text, width, first, others, between)
  local lines, line, empty = {}, first, true
  between = between or " "
  for _, word in ipairs(type(text) == "table" and text or pages.words(text)) do
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

-- The text of a block by its kind.
local show = {
  code = function(block) return "    " .. table.concat(block, "\n    ") end,
  header = function() return "" end,
  row = show_row,
  item = function(block, width) return pages.wrap(pages.plain(block[1]), width, "* ", "  ") end,
  paragraph = function(block, width) return pages.wrap(pages.plain(block[1]), width, "", "") end,
}

local close = { row = true, item = true } -- kinds without an empty line between two of them

-- Blocks, apart by empty lines.
local function show_blocks(blocks, width)
  local parts, before = {}, nil
  for _, block in ipairs(blocks) do
    local text, kind = show[block.kind](block, width), block.kind
    if text ~= "" and not block.hidden then
      parts[#parts + 1] = (#parts == 0 and "" or before == kind and close[kind] and "\n" or "\n\n") .. text
      before = kind
    end
  end
  return table.concat(parts)
end

-- The signatures, the classes of a method, and the blocks of an entry.
local function show_entry(known, width)
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

-- The signatures of the methods of a class.
local function show_methods(book, class, width)
  local list = {}
  for _, section in ipairs(book.sections) do
    local has = section.entry and is_in(class, section.entry.classes)
    for _, span in ipairs(has and entries.spans(section.heading) or {}) do
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
      if block.kind == "paragraph" then list[#list + 1] = block end
    end
  end
  return #list > 0 and show_blocks(list, width) or nil
end

local function show_section(book, section, width)
  local parts = { pages.wrap(section.title, width, "", "") }
  if #section.blocks > 0 then parts[2] = show_blocks(section.blocks, width) end
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

-- The method, of one class, or (class nil) of all that have it; of those whose objects are called `object` when there
-- are such.
local function method_answer(book, class, method, width, object)
  local told, own = {}, {}
  for _, found in ipairs(book.methods[method] or {}) do
    if class == nil or is_in(class, found.classes) then
      local list = found.entry.receiver == object and own or told
      list[#list + 1] = show_entry(found, width)
    end
  end
  if #own > 0 then told = own end
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

local main_answer

-- The answers for the names that end in `.last`.
local function member_answer(book, last, width)
  local parts = {}
  for _, name in ipairs(book.names) do
    if name:match "%.([%w_]+)$" == last then parts[#parts + 1] = main_answer(book, name, width) end
  end
  return #parts > 0 and table.concat(parts, "\n\n") or nil
end

-- The entry of a name, what is in the table of this name, the methods of the class of this name.
function main_answer(book, name, width)
  local known, class = book.entries[name], book.of_class[name]
  local parts, methods = {}, show_methods(book, name, width)
  if not known and not methods then return nil end
  parts[1] = known and show_entry(known, width) or class and show_class(book, name, width) or
    member_answer(book, name, width)
  parts[#parts + 1] = show_room(book, name, width)
  parts[#parts + 1] = methods
  local section = known and known.section or class and class[1]
  parts[#parts + 1] = section and where(section)
  return table.concat(parts, "\n\n")
end

--- What the book says of a name, or nil.
function pages.answer(book, name, width)
  local short = name:gsub("^ns%.", "")
  local class, method = short:match "^(.-)[:.]([%a_][%w_]*)$"
  local text = main_answer(book, short, width)
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

--- A name and the first sentence of its text as one line of the width; the sentence begins at the same place for
--- names of up to `column` characters.
function pages.line(name, entry, column, width)
  local summary = pages.plain(entry.summary or "")
  local sentence = summary:match "^(.-%.)%s" or summary
  local line = "  " .. name .. (" "):rep(column - length(name)) .. "  " .. sentence
  if length(line) <= width then return line end
  return line:sub(1, (utf8.offset(line, width - 2) or #line) - 1):gsub("%s*%S*$", "") .. " ..."
end

--- The sections with the names that they tell of, each on a line with what it is.
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
      local lines, column = { section.title }, 0
      for _, name in ipairs(names[section]) do column = math.max(column, math.min(#name, 32)) end
      for _, name in ipairs(names[section]) do
        lines[#lines + 1] = pages.line(name, book.entries[name].entry, column, width)
      end
      parts[#parts + 1] = table.concat(lines, "\n")
    end
  end
  return table.concat(parts, "\n\n")
end

return pages
