-- nslua.base.xml: elements of an XML file, with their lines. It knows elements, attributes, comments, instructions
-- and the five entities of XML; text between elements is left out, document types are refused.
--
--   local root = xml.parse(text, function(line, message) error(...) end)
--   root.name   root.attributes.x   root[1]   root.line

local xml = {}

local entities = { lt = "<", gt = ">", amp = "&", quot = '"', apos = "'" }

-- The numbers of lines at positions that only grow.
local function lines_of(text)
  local at, line = 1, 1
  return function(position)
    while true do
      local next_line = text:find("\n", at, true)
      if not next_line or next_line >= position then return line end
      at, line = next_line + 1, line + 1
    end
  end
end

local function value_of(text, fail)
  return (text:gsub("&(#?x?%w*);?", function(name)
    local code = name:match "^#(%d+)$" or name:match "^#(x%x+)$"
    if entities[name] then return entities[name] end
    local number = code and tonumber(code:find "x" and "0" .. code or code)
    if not number or number > 0x10FFFF then fail(("the entity '&%s;' is not known"):format(name)) end
    return utf8.char(number)
  end))
end

-- The attributes in the text of a tag.
local function attributes_of(text, fail)
  local list, at = {}, 1
  while text:find("%S", at) do
    local _, stop, name, quote = text:find("^%s*([%a_:][%w_:.-]*)%s*=%s*([\"'])", at)
    local close = stop and text:find(quote, stop + 1, true)
    if not close then fail(('expected name="value", got %s'):format(text:match("^%s*(%S+)", at))) end
    if list[name] then fail(("'%s' is given twice"):format(name)) end
    list[name] = value_of(text:sub(stop + 1, close - 1), fail)
    at = close + 1
  end
  return list
end

-- What begins with "<!" or "<?": the pattern of its end, or why it is refused.
local function skip(text, at)
  if text:find("^<!%-%-", at) then return "-->" end
  if text:find("^<%?", at) then return "?>" end
  if text:find("^<!%[CDATA%[", at) then return "]]>" end
  return nil
end

-- The end of a tag that begins at `at`, outside of quotes.
local function end_of_tag(text, at)
  while true do
    local position, _, what = text:find("([\"'>])", at)
    if not position or what == ">" then return position end
    local close = text:find(what, position + 1, true)
    if not close then return nil end
    at = close + 1
  end
end

-- The root element. fail(line, message) raises.
function xml.parse(text, fail)
  local line_at, open, root, at = lines_of(text), {}, nil, 1
  while true do
    at = text:find("<", at, true)
    if not at then break end
    local line, ending = line_at(at), skip(text, at)
    local function fail_here(message) fail(line, message) end
    if text:find("^<!", at) and not ending then fail_here("document types are not read") end
    local stop = ending and text:find(ending, at, true) or not ending and end_of_tag(text, at)
    if not stop then fail_here("a tag or a comment has no end") end
    if not ending then
      local closes, name, rest = text:sub(at + 1, stop - 1):match "^(/?)([%a_:][%w_:.-]*)%s*(.*)$"
      if not name then fail_here("expected the name of an element after '<'") end
      if closes == "/" then
        local element = table.remove(open)
        if not element then fail_here(("</%s> has no beginning"):format(name)) end
        if element.name ~= name then
          fail_here(("expected </%s>, whose beginning is in line %d, got </%s>"):format(element.name, element.line,
            name))
        end
      else
        local whole, parent = rest:match "^(.-)/$", open[#open]
        local element = { name = name, line = line, attributes = attributes_of(whole or rest, fail_here) }
        if parent then parent[#parent + 1] = element end
        if not parent and root then fail_here(("<%s> stands behind the end of <%s>"):format(name, root.name)) end
        root = root or element
        if not whole then open[#open + 1] = element end
      end
    end
    at = stop + (ending and #ending or 1)
  end
  if #open > 0 then fail(open[#open].line, ("<%s> has no end"):format(open[#open].name)) end
  if not root then fail(1, "there is no element") end
  return root
end

return xml
