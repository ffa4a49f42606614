-- Pages of Markdown for the site: links that fit their new places, a page for each class, the gallery's thumbnails.
local markdown = {}

-- ---- links ----

local function folder(path) return path:match "^(.*/)[^/]*$" or "" end

-- A path without "." and "..".
local function plain(path)
  local list = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." and #list > 0 and list[#list] ~= ".." then
      list[#list] = nil
    elseif part ~= "." then
      list[#list + 1] = part
    end
  end
  return table.concat(list, "/")
end

-- The way from the folder of the page `from` to the file `to`.
local function way(from, to)
  local up = select(2, folder(from):gsub("/", ""))
  return ("../"):rep(up) .. to
end

-- Applies f to the lines of a page that are no code.
local function outside_code(text, f)
  local out, inside = {}, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:find "^```" then inside = not inside end
    out[#out + 1] = (inside or line:find "^    ") and line or f(line)
  end
  out[#out] = out[#out] ~= "" and out[#out] or nil
  return table.concat(out, "\n") .. "\n"
end

local function is_item(line) return line:find "^[*+-] " or line:find "^%d+[.)] " end

-- Whether a line begins a list where the line before it is text. As in CommonMark, numbers then begin with 1.
local function begins_list(line) return is_item(line) and (line:find "^1%D" or not line:find "^%d") end

-- Mkdocs wants a blank line before a list.
local function lists_apart(text)
  local out, inside, before = {}, false, ""
  for line in text:gmatch "(.-)\n" do
    if line:find "^```" then inside = not inside end
    local apart = not inside and begins_list(line) and before:find "^[^%s#|<]" and not is_item(before)
    if apart then out[#out + 1] = "" end
    out[#out + 1], before = line, line
  end
  return table.concat(out, "\n") .. "\n"
end

--- The place on the site of a file of the repository; nil when the site does not have it.
function markdown.place(path, places)
  path = plain(path)
  return places[path] or path:match "^docs/(gallery/.*)$"
end

--- The text of the page `from`, as the page `to`: a link to a page or a picture of the repository leads to its place
--- on the site. `places`: places on the site by path in the repository.
function markdown.move(text, from, to, places)
  local function moved(target)
    if target:find "^%a+:" or target:find "^#" then return nil end
    local path, anchor = target:match "^([^#]*)(#?.*)$"
    local place = markdown.place(folder(from) .. path, places)
    return place and "](" .. way(to, place) .. anchor .. ")"
  end
  text = outside_code(text, function(line) return (line:gsub("%]%(([^)%s]+)%)", moved)) end)
  return lists_apart(text)
end

-- ---- classes ----

-- The sections of a page: { level, title, text }, the text with its heading.
local function sections_of(text)
  local list, inside = {}, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:find "^```" then inside = not inside end
    local marks, title = line:match "^(#+) (.*)$"
    if marks and not inside then
      list[#list + 1] = { level = #marks, title = title, lines = {} }
    elseif #list > 0 then
      table.insert(list[#list].lines, line)
    end
  end
  return list
end

local function body(section) return (table.concat(section.lines, "\n"):gsub("^%s+", ""):gsub("%s+$", "")) end

-- The classes that "`A`, `B`" names, as a set; nil when it names none.
local function named(text)
  local set
  for name in text:gmatch "`([%w_.]+)`" do
    set = set or {}
    set[name] = true
  end
  return set
end

-- Whether an entry below "Methods of ..." is of the class: by its line "Of:", else by the heading.
local function is_of(entry, heading, class)
  local of = body(entry):match "\nOf: ([^\n]*)" or body(entry):match "^Of: ([^\n]*)"
  local set = of and named(of) or heading
  return set and set[class]
end

-- A class begins with a capital: "`ns.RelayNSL(size)`".
local function classes_of(title)
  local list, seen = {}, {}
  for name in title:gmatch "`ns%.([%a.]*%u[%w_]*)%(" do
    if not seen[name] then list[#list + 1], seen[name] = name, true end
  end
  return list
end

local function methods_of(class, list)
  local out, heading = {}, nil
  for _, section in ipairs(list) do
    if section.level <= 2 then heading = section.title:find "^Methods of " and named(section.title) or nil end
    if section.level == 3 and heading and is_of(section, heading, class) then out[#out + 1] = section end
  end
  return out
end

local function first_sentence(text) return ((text:match "^(.-[.:])%s" or text:match "^[^\n]*"):gsub("%.$", "")) end

--- The classes of the reference, in its order: { name, page, sentence, text }, the text that of the class's own page.
--- `reference`: list of { name, text }, its pages.
function markdown.classes(reference)
  local classes, all, known = {}, {}, {}
  for _, page in ipairs(reference) do
    page.sections = sections_of(page.text)
    for _, section in ipairs(page.sections) do all[#all + 1] = section end
  end
  for _, page in ipairs(reference) do
    for _, section in ipairs(page.sections) do
      for _, name in ipairs(section.level == 2 and classes_of(section.title) or {}) do
        if not known[name] then
          local class = { name = name, page = page.name, sentence = first_sentence(body(section)) }
          classes[#classes + 1], known[name], class.made_by = class, class, section
        end
      end
    end
  end
  for _, class in ipairs(classes) do class.text = markdown.class_page(class, methods_of(class.name, all)) end
  return classes
end

-- A link of a page of the reference, as a page of classes/ has it.
local function from_reference(text)
  return outside_code(text, function(line)
    return (line:gsub("%]%(([^)%s:]+)%)", function(target)
      local path, anchor = target:match "^([^#]*)(#?.*)$"
      if path == "" then return nil end
      return "](" .. (path:find "^%.%./" and path or "../reference/" .. path) .. anchor .. ")"
    end))
  end)
end

-- The page of a class: its constructor, a list of its methods, and their entries.
function markdown.class_page(class, methods)
  -- a link to a heading of the same page leads to the page of the reference
  local function here(text) return (text:gsub("%]%(#", "](" .. class.page .. "#")) end
  local topic = class.page:gsub("%.md$", ""):gsub("_", " ")
  local out = { "# " .. class.name, "", ("From [%s](../reference/%s)."):format(topic, class.page), "",
    "## Making", "",
    class.made_by.title, "", here(body(class.made_by)) }
  if #methods > 0 then
    out[#out + 1] = "\n## Methods\n"
    for _, method in ipairs(methods) do
      out[#out + 1] = ("* %s: %s"):format(method.title, here(first_sentence(body(method))))
    end
    for _, method in ipairs(methods) do
      out[#out + 1] = ("\n### %s\n\n%s"):format(method.title, here(body(method)))
    end
  end
  return lists_apart(from_reference(table.concat(out, "\n") .. "\n"))
end

function markdown.index_of_classes(classes)
  local out = { "# Classes", "", "| class | what it is |", "|---|---|" }
  for _, class in ipairs(classes) do
    local sentence = class.sentence:gsub("%[([^%]]+)%]%([^)]+%)", "%1"):gsub("|", "\\|")
    out[#out + 1] = ("| [`%s`](%s.md) | %s |"):format(class.name, class.name, sentence)
  end
  return table.concat(out, "\n") .. "\n"
end

-- ---- the gallery ----

-- The first picture of each command, as a link to the command.
local function thumbnails(text)
  local list, place, title = {}, nil, nil
  for line in text:gmatch "[^\n]+" do
    place = line:match "^    nslua .*%-%-plot docs/gallery/([%w_]+)$" or place
    local alt, picture = line:match "^!%[(.-)%]%((.-)%)"
    if picture and place and place ~= title then
      title = place
      list[#list + 1] = ('<a href="#%s"><img src="%s" alt="%s"><span>%s</span></a>'):format(place, picture,
        alt:gsub('"', "&quot;"), (place:gsub("_", " ")))
    end
  end
  return '<div class="thumbnails">\n' .. table.concat(list, "\n") .. "\n</div>\n"
end

--- The gallery with a thumbnail for each command at the top, each command with a link to its script, and the motions,
--- which play in the page.
function markdown.gallery(text, motions)
  local scripts = text:gsub("\n(    nslua scripts/([%w_]+)%.lua[^\n]*%-%-plot docs/gallery/([%w_]+))",
    '\n<a id="%3"></a>\n\n%1\n\n[Source](scripts/%2.md)')
  local top, rest = scripts:match "^(.-)(\n## .*)$"
  local playing = {}
  for _, name in ipairs(motions) do
    playing[#playing + 1] = ('\n<iframe class="motion" title="%s" src="motion/%s.html" loading="lazy"></iframe>\n')
      :format((name:gsub("_", " ")), name)
  end
  local moving = #playing > 0 and "\n## Motions\n" .. table.concat(playing) or ""
  return top .. "\n" .. thumbnails(text) .. rest .. moving
end

return markdown
