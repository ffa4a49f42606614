-- nslua.help.entry: one entry of the reference, taken apart.
--
-- An entry is a section whose heading holds signatures in code spans: `ns.NAME(a [, b])`, `ns.NAME{a=, b=}`
-- (`{...}`: the parameters by name), `object:method(a)`. Its blocks:
--   the first paragraph                        the summary
--   Of: `A`, `B`.   Of: all but `A`.           which of the classes in the heading above have the method
--   * `name` (type, shape, default x): text    a parameter; `options.name` is a field of the parameter options
--   Returns: (type, shape) text                or `a` (type), `b` (type); items after it are fields of the result
--   Raises: text      See also: text           errors; other places
--   code                                       an example
local entry = {}

--- The code spans of a text, each with the place where it begins.
function entry.spans(text)
  local list = {}
  for at, code in text:gmatch "()`([^`]+)`" do list[#list + 1] = { code = code, at = at } end
  return list
end

-- "matrix, n x n, default {1, 2}" taken apart at the commas outside of brackets and quotes.
local function split(text)
  local parts, part, depth, quoted = {}, "", 0, false
  for char in (text .. ","):gmatch "." do
    if char == '"' then quoted = not quoted end
    if char:find "[%(%[{]" then depth = depth + 1 elseif char:find "[%)%]}]" then depth = depth - 1 end
    if char == "," and depth == 0 and not quoted then
      parts[#parts + 1], part = part:match "^%s*(.-)%s*$", ""
    else
      part = part .. char
    end
  end
  return parts
end

-- What the round brackets after a name hold.
local function describe(text)
  local parts = split(text)
  local told = { type = table.remove(parts, 1):gsub("`", "") }
  for _, part in ipairs(parts) do
    local default = part:match "^default (.*)$"
    if default then
      told.default = default
    elseif part == "optional" then
      told.optional = true
    elseif part:find "^in " then
      told.unit = part:sub(4)
    else
      told.shape = part
    end
  end
  return told
end

-- The parameters, or fields of a result, that an item tells of: "`t0`, `T` (number), `n` (integer): ...".
local function add_items(list, block)
  local found, rest = {}, block[1]
  repeat
    local names, inside, after = rest:match "^(`[^()]*`) (%b())(.*)$"
    for name in (names or ""):gmatch "`([^`]+)`" do
      found[#found + 1] = describe(inside:sub(2, -2))
      found[#found].name = name
    end
    rest = after and after:match "^, (`.*)$"
    local text = after and after:match "^: (.*)$"
    for _, told in ipairs(text and found or {}) do
      told.text = text
      list[#list + 1] = told
    end
  until not rest
end

local function results_of(text)
  local list = {}
  local single = text:match "^(%b())"
  if single then return { describe(single:sub(2, -2)) } end
  for name, inside in text:gmatch "`([%w_]+)` (%b())" do
    list[#list + 1] = describe(inside:sub(2, -2))
    list[#list].name = name
  end
  return list
end

local function classes_of(told, text)
  local named, list, all_but = {}, {}, text:find "^all but "
  for _, span in ipairs(entry.spans(text)) do named[span.code] = true end
  if not all_but then
    for _, span in ipairs(entry.spans(text)) do list[#list + 1] = span.code end
  end
  for _, class in ipairs(all_but and told or {}) do
    if not named[class] then list[#list + 1] = class end
  end
  return list
end

--- The arguments of a signature "(a [, b], ...)" or "{a=, b=}", each {name=, optional=}; and whether they are given
--- by name. Nil for other signatures.
function entry.arguments(signature)
  local inside, by_name = signature:match "^[^({]*%((.*)%)$", signature:match "^[^({]*{(.*)}$"
  local list, optional = {}, false
  if not inside and not by_name then return nil end
  for mark, name in (inside or by_name):gsub("[%s{}]", ""):gmatch "([%[%],]*)([^%[%],]*)" do
    optional = optional or mark:find "%[" ~= nil
    name = name:gsub("=.*$", "")
    if name ~= "" then list[#list + 1] = { name = name, optional = optional } end
  end
  return list, by_name ~= nil
end

-- A signature whose {...} is filled with the names of the parameters.
local function filled(signature, parameters)
  return (signature:gsub("{(.-),? ?%.%.%.}$", function(given)
    local names = { given ~= "" and given or nil }
    for _, parameter in ipairs(parameters) do
      local name = parameter.name
      local new = not name:find "%." and not given:find("%f[%w_]" .. name .. "=")
      if new then names[#names + 1] = name .. "=" end
    end
    return "{" .. table.concat(names, ", ") .. "}"
  end))
end

--- Whether a heading belongs to an entry.
function entry.is_title(title)
  return title:find "^`ns[.%[]" ~= nil or title:find "^`[%a_]+:[%a_]" ~= nil
end

--- The entry of a section: {section=, signatures=, summary=, parameters=, results=, fields=, raises=, example=,
--- classes=}. `classes` are those in the heading above.
function entry.read(section, title, classes)
  local e = { section = section, classes = classes, signatures = {}, parameters = {}, results = {}, fields = {} }
  local items = e.parameters
  local read = {
    paragraph = function(block)
      local label, text = block[1]:match "^(%u[%l ]+): (.*)$"
      if label == "Of" then
        e.classes, block.hidden = classes_of(classes, text), true
      elseif label == "Returns" then
        e.results, items, e.returns = results_of(text), e.fields, text
      elseif label == "Raises" then
        e.raises = text
      else
        e.summary = e.summary or block[1]
      end
    end,
    item = function(block) add_items(items, block) end,
    code = function(block) e.example = e.example or block end,
  }
  for _, block in ipairs(section.blocks) do
    if read[block.kind] then read[block.kind](block) end
  end
  for _, span in ipairs(entry.spans(title)) do
    e.signatures[#e.signatures + 1] = filled(span.code, e.parameters)
    e.receiver = e.receiver or span.code:match "^([%a_]+):"
  end
  return e
end

return entry
