-- docs/gallery.md and docs/gallery.lua, which draws it.
local host = require "host"

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local page = host.read "docs/gallery.md"

local function draw(arguments)
  return host.nslua_run(("docs/gallery.lua --into %s %s"):format(directory, arguments))
end

-- Draws a page with this text; gives the message, without its newline.
local function message(text)
  local path = directory .. "/page.md"
  host.write(path, text)
  local _, err, status = draw("--page " .. path)
  assert.equal(1, status)
  return (err:gsub("\n$", ""))
end

describe("the gallery", function()
  it("has a picture of each script that draws, and each of its pictures is there", function()
    local drawing, pictures = 0, 0
    for name in host.list("scripts"):gmatch "%S+" do
      if host.read("scripts/" .. name):find("pictures.draw", 1, true) then
        drawing = drawing + 1
        assert.truthy(page:find("nslua scripts/" .. name .. " ", 1, true), name)
      end
    end
    for picture in page:gmatch "!%b[]%((gallery/[%w_/]+%.png)%)" do
      pictures = pictures + 1
      assert.equal("\137PNG", (host.read("docs/" .. picture) or ""):sub(1, 4), picture)
    end
    assert.is_true(drawing >= 10 and pictures >= 20)
  end)

  it("is drawn by its commands", function()
    for place, pictures in pairs { coulomb = "run.png", pinned_link = "path.png theta.png" } do
      local out, err, status = draw("--only " .. place)
      assert.same({ "", 0 }, { err, status })
      assert.matches(("\n%d pictures in %s\n$"):format(#pictures:gsub("[^.]", ""), directory:gsub("%p", "%%%0")), out)
      assert.equal(pictures, host.list(directory .. "/" .. place))
    end
  end)

  it("shows nothing that no command draws, and all that one draws", function()
    local command = "    nslua scripts/coulomb.lua --plot docs/gallery/a\n\n![](gallery/a/run.png)\n"
    assert.equal(("gallery: %s/page.md shows b/run.png, which no command draws"):format(directory),
      message(command .. "![](gallery/b/run.png)\n"))
    assert.equal(("gallery: %s/page.md shows a/walk.png, which no command draws"):format(directory),
      message(command .. "![](gallery/a/walk.png)\n"))
    assert.equal(("gallery: %s/page.md does not show a/run.png, which is drawn"):format(directory),
      message((command:gsub("!.*", ""))))
    assert.equal(("gallery: no command in %s/page.md"):format(directory), message "A text.\n")
    assert.matches("^gallery: scripts/coulomb.lua: .*%-%-h: expected a number",
      message((command:gsub("%-%-plot", "--h x --plot"))))
    assert.matches("^gallery: .*none.md: No such file", (select(2, draw("--page " .. directory .. "/none.md"))))
  end)

  it("is drawn by make docs, which also writes the annotations", function()
    local out = host.run "make -n docs"
    assert.truthy(out:find("nslua docs/gallery.lua\n", 1, true))
    assert.truthy(out:find("> library/nslua.lua", 1, true))
  end)
end)
