-- Builds the site: the pages of the documentation as HTML, by mkdocs.
--
--   nslua docs/site.lua [--into DIR] [--motions no] [--notebooks no]
--
-- The pages are put together in DIR/pages: README.md and docs/ as they are written, a page for each class, one for
-- each script and each notebook, and the animations. Notebooks are run by nbconvert, where that is installed.
-- mkdocs makes DIR/html of them. A warning of mkdocs is an error, and so is a link that leads nowhere, or a page that
-- loads something from another host. The order of the pages is in docs/site/pages.lua.

local formulas = require "nslua.web.formulas"
local install = require "nslua.notebook.install"
local options = require "nslua.options"
local site_pages = dofile "docs/site/pages.lua"
local notebooks = dofile "docs/site/notebooks.lua"
local markdown = dofile "docs/site/markdown.lua"
local checks = dofile "docs/site/links.lua"
local process = require "nslua.core".process_support

local opt = options.parse(arg, {
  about = "Builds the site by mkdocs.",
  { "into", value = "DIR", default = "build/site", help = "where the pages and the HTML go" },
  { "notebooks", default = "yes", choices = { "yes", "no" }, help = "whether the notebooks are run and shown" },
  { "motions", default = "yes", choices = { "yes", "no" }, help = "whether the animations are made" },
})

local function give_up(text, ...)
  io.stderr:write("site: ", text:format(...), "\n")
  os.exit(1, true)
end

local function run(command)
  local result, message = process.run(command)
  if not result then give_up("%s", message) end
  if result.status ~= 0 then give_up("%s failed:\n%s%s", table.concat(command, " "), result.out, result.err) end
  return result
end

local function read(path)
  local file, message = io.open(path, "rb")
  if not file then give_up("%s", message) end
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  run { "mkdir", "-p", path:match "^(.*)/" }
  local file, message = io.open(path, "wb")
  if not file then give_up("%s", message) end
  if not file:write(text) or not file:close() then give_up("%s can not be written", path) end
end

local function lines_of(command)
  local list = {}
  for line in run(command).out:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

local into = opt.into
local staged = into .. "/pages/"

-- ---- what is written in the repository ----

-- The pages of the repository, by their paths there, with their paths on the site.
local function written_pages()
  local list = { ["README.md"] = "index.md", ["CONTRIBUTING.md"] = "contributing.md",
    ["CHANGELOG.md"] = "changelog.md", ["bench/README.md"] = "bench.md",
    ["notebooks/README.md"] = "notebooks/index.md",
    ["docs/reference/README.md"] = "reference/index.md" }
  for _, path in ipairs(lines_of { "find", "docs", "-name", "*.md" }) do
    list[path] = list[path] or path:gsub("^docs/", "")
  end
  for _, path in ipairs(lines_of { "find", "notebooks", "-name", "*.ipynb" }) do
    list[path] = path:gsub("%.ipynb$", ".md")
  end
  for _, path in ipairs(lines_of { "find", "scripts", "-name", "*.lua" }) do
    list[path] = path:gsub("%.lua$", ".md")
  end
  return list
end

-- A script as a page: its title, how it is run, and the source.
local function script_page(path, text)
  local name = path:match "([%w_]+)%.lua$"
  local title = text:gsub("^#![^\n]*\n", ""):match "^%-%-+ *([^\n]+)" or name
  return ("# %s.lua\n\n%s\n\n    nslua %s --help\n\n```lua\n%s```\n"):format(name, title, path, text)
end

-- A notebook as a page: what it shows in a frame, when it was run, and the notebook itself.
local function notebook_page(path, text, shown)
  local name = path:match "([%w_]+)%.ipynb$"
  local title = text:match '"# ([^"\\]+)' or name
  local frame = shown and ('<iframe class="notebook" src="../shown/%s.html" title="%s"></iframe>\n\n' ..
    "[Alone on a page](../shown/%s.html) - "):format(name, name, name) or ""
  return ("# %s\n\n%s[The notebook](%s.ipynb), for [Jupyter](../notebooks.md)\n"):format(title, frame, name)
end

local function page_of(from, to, places, shown)
  local text = read(from)
  if from:find "%.lua$" then return script_page(from, text) end
  if from:find "%.ipynb$" then return notebook_page(from, text, shown) end
  return markdown.move(text, from, to, places)
end

local function stage_written(places, shown)
  for from, to in pairs(places) do write(staged .. to, page_of(from, to, places, shown)) end
  run { "cp", "-R", "docs/gallery", staged .. "gallery" }
  for _, notebook in ipairs(lines_of { "find", "notebooks", "-name", "*.ipynb" }) do
    run { "cp", notebook, staged .. notebook }
  end
  write(staged .. "site.css", read "docs/site/site.css")
end

-- ---- what is made ----

local function stage_classes(book_pages)
  local classes = markdown.classes(book_pages)
  for _, class in ipairs(classes) do write(staged .. "classes/" .. class.name .. ".md", class.text) end
  write(staged .. "classes/index.md", markdown.index_of_classes(classes))
  return classes
end

-- The path of the running interpreter.
local function interpreter()
  local k = 0
  while arg[k - 1] do k = k - 1 end
  return arg[k]
end

-- Runs the notebooks, and writes them as HTML with their outputs into shown/. Returns whether nbconvert is there.
local function stage_notebooks(places)
  local python = install.python()
  local found = python and process.run { python, "-c", "import nbconvert" }
  if not found or found.status ~= 0 then return false end
  local program = run({ "realpath", "--", interpreter() }).out:gsub("\n$", "")
  local place = run({ "realpath", "--", into }).out:gsub("\n$", "") .. "/jupyter"
  local good, message = install.write(place .. "/kernels/nslua", program)
  if not good then give_up("%s", message) end
  local command = { "env", "JUPYTER_PATH=" .. place, "PYDEVD_DISABLE_FILE_VALIDATION=1", python, "-m", "nbconvert",
    "--to", "html", "--execute", "--log-level", "ERROR", "--output-dir", staged .. "shown" }
  run { "rm", "-rf", into .. "/notebooks" }
  run { "cp", "-R", "notebooks", into .. "/notebooks" } -- they write files beside themselves
  for _, path in ipairs(lines_of { "find", into .. "/notebooks", "-name", "*.ipynb" }) do
    command[#command + 1] = path
  end
  run(command)
  run { "mkdir", "-p", staged .. "shown/katex/contrib" }
  for _, file in ipairs(notebooks.files()) do
    run { "cp", "-RL", formulas.directory .. "/" .. file, staged .. "shown/katex/" .. file }
  end
  for _, path in ipairs(lines_of { "find", staged .. "shown", "-name", "*.html" }) do
    write(path, notebooks.movable(read(path), function(file) return markdown.place(file, places) end))
  end
  return true
end

-- The motions of the scripts, as pages that play.
local function stage_animations(text)
  local shown = {}
  for words in text:gmatch "\n    nslua (scripts/[^\n]+) %-%-animate [%w_]+%.html" do
    local command, name = { interpreter() }, words:match "scripts/([%w_]+)%.lua"
    for word in words:gmatch "%S+" do command[#command + 1] = word end
    run { "mkdir", "-p", staged .. "motion" }
    command[#command + 1], command[#command + 2] = "--animate", staged .. "motion/" .. name .. ".html"
    run(command)
    shown[#shown + 1] = name
  end
  return shown
end

-- Whether Python has matplotlib, by the name of the Python that has it; nil when none has.
local function python_with_matplotlib()
  for _, python in ipairs { "python3", "/usr/bin/python3" } do
    local result = process.run { python, "-c", "import matplotlib, numpy" }
    if result and result.status == 0 then return python end
  end
end

-- The page that shows pictures of matplotlib beside ours: draws both, and puts them above the scripts.
local function stage_comparisons(text)
  local python, number = python_with_matplotlib(), 0
  run { "mkdir", "-p", staged .. "matplotlib" }
  local function draw(command, name, source)
    local path = into .. "/scripts/" .. name
    write(path, source)
    run { command, path }
  end
  return (text:gsub("\n```lua\n(.-)\n```\n\n```python\n(.-)\n```\n", function(lua, py)
    number = number + 1
    local ours, theirs = ("matplotlib/%d_nslua.png"):format(number), ("matplotlib/%d_matplotlib.png"):format(number)
    draw(interpreter(), number .. ".lua", ('local ns = require "nslua"\n%s\nns.plot.savefig(%q)\n'):format(lua,
      staged .. ours))
    local shown = ("\n![%d by nslua](%s)"):format(number, ours)
    if python then
      draw(python, number .. ".py", ("import matplotlib\nmatplotlib.use('Agg')\nimport numpy as np\n"
        .. "import matplotlib.pyplot as plt\n%s\nplt.savefig(%q, dpi=144, bbox_inches='tight')\n"):format(py, staged
          .. theirs))
      shown = shown .. (" ![%d by matplotlib](%s)"):format(number, theirs)
    end
    return ('\n<div class="beside" markdown>%s\n\n</div>\n\n```lua\n%s\n```\n\n```python\n%s\n```\n'):format(shown,
      lua, py)
  end))
end

-- ---- the site ----

local places = written_pages()
run { "rm", "-rf", into .. "/pages", into .. "/html" }
run { "mkdir", "-p", staged }
local shown = opt.notebooks == "yes" and stage_notebooks(places)
if opt.notebooks == "yes" and not shown then
  print "site: the notebooks are shown without outputs: nbconvert is not installed (make kernel)"
end
stage_written(places, shown)
local reference = {}
for page in read("docs/reference/README.md"):gmatch "%]%(([%w_]+%.md)%)" do
  reference[#reference + 1] = { name = page, text = read("docs/reference/" .. page) }
end
local classes = stage_classes(reference)
local motions = opt.motions == "no" and {} or stage_animations(read "docs/gallery.md")
write(staged .. "gallery.md", markdown.gallery(read(staged .. "gallery.md"), motions))
write(staged .. "matplotlib.md", stage_comparisons(read(staged .. "matplotlib.md")))
write(into .. "/mkdocs.yml", site_pages.configuration(places, classes, read "docs/reference/README.md"))
local built = run { "mkdocs", "build", "--strict", "--quiet", "--config-file", into .. "/mkdocs.yml" }
if built.err:find "WARNING" then give_up("mkdocs warns:\n%s", built.err) end
local made = lines_of { "find", into .. "/html", "-name", "*.html" }
local dead, count = checks.dead(into .. "/html", made, read)
if #dead > 0 then give_up("%d links lead nowhere:\n  %s", #dead, table.concat(dead, "\n  ")) end
local outside = checks.outside(into .. "/html", made, read)
if #outside > 0 then give_up("pages ask other hosts:\n  %s", table.concat(outside, "\n  ")) end
print(("site: %s/html/index.html, %d links; its search needs a server: python3 -m http.server -d %s/html"):format(
  into, count, into))
