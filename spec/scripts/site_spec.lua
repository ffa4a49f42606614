-- docs/site.lua, which builds the site, and its files in docs/site.
local host = require "host"
local markdown = dofile "docs/site/markdown.lua"
local links = dofile "docs/site/links.lua"
local site_pages = dofile "docs/site/pages.lua"

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

  it("puts a blank line before a list", function()
    assert.equal("Text:\n\n* a\n* b\n", markdown.move("Text:\n* a\n* b\n", "README.md", "index.md", places))
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
  it("loads no file of this machine, and no script for widgets", function()
    local notebooks = dofile "docs/site/notebooks.lua"
    local page = '<script src="file:///usr/share/javascript/requirejs/require.min.js"></script>\n' ..
      '<script src="file:///usr/share/javascript/mathjax/MathJax.js?config=TeX-AMS_CHTML-full,Safe"> </script>\n<p>$x$</p>'
    local moved = notebooks.movable(page)
    assert.falsy(moved:find("file:", 1, true) or moved:find("require", 1, true))
    assert.matches("<p>$x$</p>$", moved)
    assert.truthy(moved:find(#notebooks.files() > 0 and 'src="katex/katex.min.js"' or "cdnjs.cloudflare.com", 1, true))
  end)
end)

describe("docs/site.lua #once", function()
  local test = mkdocs and it or function(name) pending(name .. " (mkdocs is not installed: make site)") end

  test("builds pages without a warning or a dead link", function()
    local directory = host.new_directory()
    local out, err, status = host.nslua_run("docs/site.lua --motions no --notebooks no --into " .. directory)
    assert.same({ "", 0 }, { err, status })
    assert.matches("^site: .*/html/index.html, %d+ links\n$", out)
    local relay = host.read(directory .. "/html/classes/RelayNSL.html")
    assert.truthy(relay:find("law:lb()", 1, true))
    assert.falsy(relay:find("law:mu()", 1, true))
    local gallery = host.read(directory .. "/html/gallery.html")
    assert.truthy(gallery:find('<a href="#clutch"><img src="gallery/clutch/', 1, true))
    assert.truthy(host.read(directory .. "/html/scripts/clutch.html"):find("FirstOrder", 1, true))
    host.remove(directory)
  end)

  it("tells what it can not write", function()
    local _, err, status = host.nslua_run "docs/site.lua --motions no --notebooks no --into /proc/site"
    assert.equal(1, status)
    assert.matches("^site: mkdir .* failed:\nmkdir: ", err)
  end)
end)
