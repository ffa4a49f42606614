-- docs/site.lua, which builds the site, and its files in docs/site.
local chromium = require "chromium"
local host = require "host"
local markdown = dofile "docs/site/markdown.lua"
local links = dofile "docs/site/links.lua"
local site_pages = dofile "docs/site/pages.lua"

-- In a browser: the number of blocks of code that are cut at the right, and of links and headings whose contrast is below
-- 4.5 (WCAG 2.1, level AA).
local WIDE = 'Array.from(document.querySelectorAll("pre > code")).filter((e) => e.scrollWidth > e.clientWidth + 1).length'
local FAINT = [[(() => {
  const light = (css) => css.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const contrast = (e) => (([a, b]) => (a + 0.05) / (b + 0.05))([paper, light(getComputedStyle(e).color)].sort().reverse());
  return Array.from(document.querySelectorAll("article a:not(.headerlink), .md-nav__link--active"))
    .filter((e) => contrast(e) < 4.5).length;
})()]]

local mkdocs = host.run("mkdocs --version 2>/dev/null"):find "mkdocs" ~= nil

describe("markdown.move", function()
  local places = { ["README.md"] = "index.md", ["docs/tour.md"] = "tour.md", ["docs/reference/laws.md"] = "reference/laws.md" }

  it("lets a link lead to the page's place on the site", function()
    local function moved(link, from, to) return markdown.move("[a](" .. link .. ")", from, to, places):match "%]%((.-)%)" end
    assert.equal("tour.md", moved("docs/tour.md", "README.md", "index.md"))
    assert.equal("reference/laws.md#e", moved("docs/reference/laws.md#e", "README.md", "index.md"))
    assert.equal("../tour.md", moved("../tour.md", "docs/reference/laws.md", "reference/laws.md"))
    assert.equal("../index.md", moved("../../README.md", "docs/reference/laws.md", "reference/laws.md"))
    assert.equal("gallery/a/b.png", moved("docs/gallery/a/b.png", "README.md", "index.md"))
  end)

  it("leaves links to hosts, headings and what the site does not have, and code", function()
    for _, text in ipairs { "[a](https://a.b/c)\n", "[a](#head)\n", "[a](other.md)\n", "    [a](docs/tour.md)\n",
      "```\n[a](docs/tour.md)\n```\n" } do
      assert.equal(text, markdown.move(text, "README.md", "index.md", places))
    end
  end)

  it("puts a blank line before a list, and none into a paragraph whose line begins with a number", function()
    local function moved(text) return markdown.move(text, "README.md", "index.md", places) end
    for _, list in ipairs { "* a\n* b\n", "- a\n", "+ a\n", "1. a\n2. b\n", "1) a\n" } do
      assert.equal("Text:\n\n" .. list, moved("Text:\n" .. list))
      assert.equal("# Text\n" .. list, moved("# Text\n" .. list))
    end
    for _, line in ipairs { "1 is open, 0 is closed.", "1.5 is more.", "2. is no first item.", "*all* of it", "-3 is less." } do
      assert.equal("The pedal:\n" .. line .. "\n", moved("The pedal:\n" .. line .. "\n"))
    end
  end)
end)

describe("markdown.classes", function()
  local page = { name = "laws.md", text = table.concat({ "# Laws", "## `ns.ALaw(size)`", "Makes a law: one.", "## `ns.BLaw(size)`",
    "Makes b. [More](#more).", "## Methods of `ALaw`, `BLaw`", "### `law:size()`", "Its size. And more.", "### `law:b()`",
    "Only of b.", "", "Of: `BLaw`.", "## `ns.plain(x)`", "No class." }, "\n") }

  it("gives each class its constructor and its methods", function()
    local classes = markdown.classes { page }
    assert.same({ "ALaw", "BLaw" }, { classes[1].name, classes[2].name })
    assert.truthy(classes[1].text:find("* `law:size()`: Its size\n", 1, true))
    assert.falsy(classes[1].text:find("law:b", 1, true))
    assert.truthy(classes[2].text:find("### `law:b()`\n\nOnly of b.", 1, true))
    assert.truthy(classes[2].text:find("[More](../reference/laws.md#more)", 1, true))
    assert.truthy(markdown.index_of_classes(classes):find("| [`BLaw`](BLaw.md) | Makes b |", 1, true))
  end)
end)

describe("links.dead", function()
  local texts = { ["r/a.html"] = '<a href="b.html#x">',
    ["r/b.html"] = '<p id="x"> <a href="a.html#y"> <img src="c.png"> <a href="https://a.b">' }

  it("names the links that lead nowhere", function()
    local dead, count = links.dead("r", { "r/a.html", "r/b.html" }, function(path) return texts[path] end)
    assert.same({ "b.html: a.html#y", "b.html: c.png" }, dead)
    assert.equal(3, count)
  end)
end)

describe("links.outside", function()
  it("names what pages load from other hosts, and no links that a reader may follow", function()
    local page = [[<a href="https://a.b/c">x</a> <link rel="canonical" href="https://a.b/"> <script src="x.js"></script>
      <script src="https://c.d/m.js"></script> <img src="//e.f/p.png"> <link href="https://g.h/s.css" rel="stylesheet">
      <style>@import url("https://i.j/t.css");</style> <script>import k from "https://k.l/k.mjs"</script>]]
    assert.same({ "p.html: https://c.d/m.js", "p.html: //e.f/p.png", "p.html: https://g.h/s.css", "p.html: https://i.j/t.css",
      "p.html: https://k.l/k.mjs" }, links.outside("r", { "r/p.html" }, function() return page end))
  end)
end)

describe("the order of the pages", function()
  it("has every page of docs", function()
    local places = {}
    for _, folder in ipairs { "docs", "docs/howto", "docs/introduction" } do
      for name in host.list(folder):gmatch "[^ ]+%.md" do
        local place = (folder .. "/" .. name):gsub("^docs/", "")
        places[place] = place
      end
    end
    local text = site_pages.configuration(places, {}, "## A\n* [Laws](laws.md)\n")
    for place in pairs(places) do assert.truthy(text:find(place, 1, true), place) end
    assert.truthy(text:find('- "A":\n      - "Laws": reference/laws.md\n', 1, true))
  end)
end)

describe("a page of a notebook #once", function()
  local function nowhere() end

  it("loads no file of this machine or of another host, and no script for widgets", function()
    local notebooks = dofile "docs/site/notebooks.lua"
    local page = '<script src="file:///usr/share/javascript/requirejs/require.min.js"></script>\n' ..
      '<script src="file:///usr/share/javascript/mathjax/MathJax.js?config=TeX-AMS_CHTML-full,Safe"> </script>\n<p>$x$</p>'
    local moved = notebooks.movable(page, nowhere)
    assert.falsy(moved:find("file:", 1, true) or moved:find("require", 1, true) or moved:find "https?:")
    assert.matches("<p>$x$</p>$", moved)
    assert.equal(#notebooks.files() > 0, moved:find('src="katex/katex.min.js"', 1, true) ~= nil)
  end)

  it("leads to the pages of the site, outside of its frame", function()
    local notebooks = dofile "docs/site/notebooks.lua"
    local places = { ["docs/tour.md"] = "tour.md", ["notebooks/a.ipynb"] = "notebooks/a.md" }
    local function moved(page)
      return notebooks.movable(page, function(path) return markdown.place(path, places) end)
    end
    assert.equal('<a target="_top" href="../tour.html#x">', moved '<a href="../docs/tour.md#x">')
    assert.equal('<a target="_top" href="../notebooks/a.html">', moved '<a href="a.ipynb">')
    for _, link in ipairs { '<a href="#x">', '<a href="https://a.b/c#d">', '<a href="else.txt">' } do
      assert.equal(link, moved(link))
    end
  end)
end)

describe("docs/site.lua #once", function()
  local test = mkdocs and it or function(name) pending(name .. " (mkdocs is not installed: make site)") end

  test("builds pages without a warning or a dead link", function()
    local directory = host.new_directory()
    local out, err, status = host.nslua_run("docs/site.lua --motions no --notebooks no --into " .. directory)
    assert.same({ "", 0 }, { err, status })
    assert.matches("^site: .*/html/index.html, %d+ links; its search needs a server: python3 %-m http.server %-d .*/html\n$", out)
    local relay = host.read(directory .. "/html/classes/RelayNSL.html")
    assert.truthy(relay:find("law:lb()", 1, true))
    assert.falsy(relay:find("law:mu()", 1, true))
    local gallery = host.read(directory .. "/html/gallery.html")
    assert.truthy(gallery:find('<a href="#clutch"><img src="gallery/clutch/', 1, true))
    assert.truthy(host.read(directory .. "/html/scripts/clutch.html"):find("FirstOrder", 1, true))
    if not chromium.missing then
      local values = chromium.drive(directory .. "/html/index.html", { { size = { 1300, 800, 1 }, dark = true }, { eval = WIDE },
        { eval = FAINT }, { size = { 400, 800, 1 }, dark = false }, { eval = WIDE }, { eval = FAINT } })
      chromium.close()
      assert.same({ 0, 0, 0, 0 }, values)
    end
    host.remove(directory)
  end)

  it("tells what it can not write", function()
    local _, err, status = host.nslua_run "docs/site.lua --motions no --notebooks no --into /proc/site"
    assert.equal(1, status)
    assert.matches("^site: mkdir .* failed:\nmkdir: ", err)
  end)
end)
