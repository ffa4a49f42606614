-- The order of the site's pages, and the configuration of mkdocs.
local site = {}

-- Groups of pages. A page is its place on the site; a folder stands for its pages in the order of their names.
local GROUPS = {
  { "Home", "index.md" },
  { "Learn", { "install.md", "tutorial.md", "introduction/", "prompt.md", "notebooks.md", "notebooks/",
               "gallery.md", "matplotlib.md" } },
  { "How to", { "howto/" } },
  { "Questions", { "faq.md", "troubleshooting.md", "porting.md" } },
  { "Methods", { "numerics.md", "reliability.md", "compare.md" } },
  { "Source", { "tour.md", "contributing.md", "bench.md", "changelog.md", "scripts/" } },
}

local HEAD = [[
site_name: nslua
site_description: Simulation of nonsmooth dynamical systems, scripted in Lua
docs_dir: pages
site_dir: html
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.top, navigation.instant, toc.integrate, search.highlight]
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      toggle: { icon: material/weather-night, name: Dark }
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      toggle: { icon: material/weather-sunny, name: Light }
extra_css: [site.css]
plugins: [search]
markdown_extensions:
  - toc: { permalink: true, toc_depth: 3, slugify: !!python/name:pymdownx.slugs.gfm }
  - pymdownx.highlight: { guess_lang: false }
  - pymdownx.superfences
  - pymdownx.arithmatex: { generic: true }
  - attr_list
  - md_in_html
  - tables
nav:
]]

local function quoted(text) return '"' .. text:gsub('"', '\\"') .. '"' end

local function members(group, places)
  local list = {}
  for _, page in ipairs(group) do
    if page:find "/$" then
      local found = {}
      for _, place in pairs(places) do
        if place:sub(1, #page) == page then found[#found + 1] = place end
      end
      table.sort(found, function(a, b) -- the page of the folder comes first
        local first, second = a:find "/index%.md$" ~= nil, b:find "/index%.md$" ~= nil
        if first ~= second then return first end
        return a < b
      end)
      table.move(found, 1, #found, #list + 1, list)
    else
      for _, place in pairs(places) do
        if place == page then list[#list + 1] = page end
      end
    end
  end
  return list
end

-- The groups of the reference, out of its index.
local function reference_lines(index)
  local out = { '  - "Reference":\n    - "Contents": reference/index.md\n' }
  for line in index:gmatch "[^\n]+" do
    local group = line:match "^## (.*)$"
    local title, page = line:match "^%* %[(.-)%]%(([%w_]+%.md)%)"
    if group then out[#out + 1] = ("    - %s:\n"):format(quoted(group)) end
    if page then out[#out + 1] = ("      - %s: reference/%s\n"):format(quoted(title), page) end
  end
  return table.concat(out)
end

--- The text of mkdocs.yml. `places`: of the written pages; `classes`: a list with names; `index`: the index of the
--- reference.
function site.configuration(places, classes, index)
  local out = { HEAD }
  for _, group in ipairs(GROUPS) do
    if type(group[2]) == "string" then
      out[#out + 1] = ("  - %s: %s\n"):format(quoted(group[1]), group[2])
    else
      local list = members(group[2], places)
      if #list > 0 then
        out[#out + 1] = ("  - %s:\n"):format(quoted(group[1]))
        for _, place in ipairs(list) do out[#out + 1] = ("    - %s\n"):format(place) end
      end
    end
    if group[1] == "How to" then
      out[#out + 1] = reference_lines(index)
      out[#out + 1] = '  - "Classes":\n    - "All": classes/index.md\n'
      for _, class in ipairs(classes) do
        out[#out + 1] = ("    - %s: classes/%s.md\n"):format(quoted(class.name), class.name)
      end
    end
  end
  return table.concat(out)
end

return site
