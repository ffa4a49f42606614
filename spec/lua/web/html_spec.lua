-- Pages: texts never become markup or script, numbers come back.
local core = require "nslua.core"
local formulas = require "nslua.web.formulas"
local html = require "nslua.web.html"
local page = require "page"

-- Pieces that do harm where they are not escaped, and ordinary ones.
local pieces = {
  "</script>", "<script>alert(1)</script>", "<!--", "-->", "]]>", "</title>", "<img src=x onerror=alert(1)>", '"', "'",
  "\\", "\\u003c", "&amp;", "&", "<", ">", "\u{2028}", "\u{2029}", "\n", "\r", "\t", "\0", "\127", "\u{FEFF}", "`", "${x}",
  "javascript:", "\xff", "\xc3", "\xed\xa0\x80", "\xf8", "a", "B", "9", "λ", "\u{1F600}", " ", "{", "}", "*/", "//",
}

local function random_text()
  local parts = {}
  for i = 1, math.random(0, 12) do parts[i] = pieces[math.random(#pieces)] end
  return table.concat(parts)
end

describe("a text in a page", function()
  before_each(function() math.randomseed(20240607) end)

  it("is well-formed UTF-8, and what was so is unchanged", function()
    for _ = 1, 2000 do
      local text = random_text()
      local clean = html.utf8(text)
      assert.truthy(utf8.len(clean))
      if utf8.len(text) then assert.equal(text, clean) end
      assert.equal(clean, html.utf8(clean))
    end
    assert.equal("a\u{FFFD}\u{FFFD}b", html.utf8 "a\xff\xc3b")
    assert.equal("\u{FFFD}\u{FFFD}\u{FFFD}", html.utf8 "\xed\xa0\x80")
  end)

  it("comes back from JSON, in which nothing ends an element or a line", function()
    for _ = 1, 2000 do
      local text = random_text()
      local json = html.json(text)
      assert.is_nil(json:find "[<>&%c\127]")
      assert.is_nil(json:find "\u{2028}")
      assert.is_nil(json:find "\u{2029}")
      assert.equal(html.utf8(text), page.json(json))
    end
  end)

  it("as a title has no markup", function()
    for _ = 1, 2000 do
      local text = random_text()
      local title = html.escape(text)
      assert.is_nil(title:find "[<>\"'%z]")
      for entity in title:gmatch "&([^;]*;?)" do
        assert.truthy(({ ["amp;"] = 1, ["lt;"] = 1, ["gt;"] = 1, ["quot;"] = 1, ["#39;"] = 1 })[entity])
      end
      local back = title:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&#39;", "'"):gsub("&amp;", "&")
      assert.equal((html.utf8(text):gsub("[%z\1-\8\11\12\14-\31]", "\u{FFFD}")), back)
    end
  end)

  it("leaves the elements of the page as they are, as title, key or value", function()
    local function skeleton(text) return (text:gsub("[^<>]+", "")) end
    local function make(text)
      return html.page { title = text, kind = "timeplot", scripts = { "timeplot" }, record = { text, { text } } }
    end
    local plain, formula = make "x", make "$x$"
    for _ = 1, 20 do
      local text = random_text()
      local whole = make(text)
      assert.equal(skeleton(#formulas.of(text) > 0 and formula or plain), skeleton(whole))
      assert.same({ html.utf8(text), { html.utf8(text) } }, (page.read(whole)))
    end
  end)
end)

describe("a page", function()
  local scripts = { "scene", "painter", "stage", "timeplot", "player" }
  local text = html.page { title = "A", kind = "animation", record = {}, scripts = scripts }

  it("needs nothing but itself", function()
    assert.matches("default%-src 'none'", text)
    assert.is_nil(text:find("src=", 1, true))
    assert.is_nil(text:find("<link", 1, true))
    assert.is_nil(text:find("@import", 1, true))
    for address in text:gmatch "https?://[%w./]+" do assert.equal("http://www.w3.org/2000/svg", address) end
    assert.is_nil(text:find "url%(")
  end)

  it("holds scripts deflated where it has a library, and tells when there is no memory for that", function()
    local function make() return html.page { title = "A", kind = "space", record = {}, scripts = {}, library = "THREE" } end
    assert.truthy(make():find('<script type="text/plain" id="packed">', 1, true))
    assert.is_nil(make():find("THREE", 1, true))
    local real = core.file_support.deflate
    core.file_support.deflate = function() end
    local good, told = pcall(make)
    core.file_support.deflate = real
    assert.same({ false, "html: not enough memory for the scripts of a page" }, { good, told })
  end)

  it("has scripts that do not end their element, nor make markup of text", function()
    local _, ends = text:gsub("</script", "")
    assert.equal(2, ends)
    for _, way in ipairs { "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "<!--" } do
      assert.is_nil(text:find(way, 1, true), way)
    end
  end)
end)

describe("JSON", function()
  it("has tables as arrays or objects, and numbers exactly", function()
    assert.equal('{"a":[1,2.5,true],"b":"x","c":[]}', html.json { a = { 1, 2.5, true }, b = "x", c = {} })
    assert.equal("[null,null,null]", html.json { 0 / 0, math.huge, -math.huge })
    math.randomseed(7)
    for _ = 1, 500 do
      local x = (math.random() - 0.5) * 10.0 ^ math.random(-300, 300)
      assert.equal(x, page.json(html.json(x)))
    end
  end)
end)

describe("packed numbers", function()
  it("are base64 of RFC 4648", function()
    local known = { [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==", fooba = "Zm9vYmE=", foobar = "Zm9vYmFy" }
    for plain, coded in pairs(known) do
      assert.equal(coded, html.base64(plain))
      assert.equal(plain, page.base64(coded))
    end
    assert.equal("AP+A////", html.base64 "\0\xff\x80\xff\xff\xff")
  end)

  it("are base85 where bytes are many: five signs for four bytes, which an element, an attribute and a string hold", function()
    math.randomseed(12)
    for count = 0, 300 do
      local list = {}
      for i = 1, count do list[i] = string.char(math.random(4) == 1 and 255 * math.random(0, 1) or math.random(0, 255)) end
      local bytes = table.concat(list)
      local packed = html.packed(bytes)
      assert.equal(bytes .. ("\0"):rep(-count % 4), page.bytes(packed))
      assert.equal(5 * ((count + 3) // 4), #packed.base85)
      assert.equal(packed.base85, html.escape(packed.base85))
      assert.equal('"' .. packed.base85 .. '"', html.json(packed.base85))
      assert.same({}, formulas.of { packed, packed.base85 })
    end
    assert.equal("!!!!!!!!!#", html.base85 "\0\0\0\0\0\0\0\1")
  end)

  it("come back, whatever their count", function()
    math.randomseed(11)
    for count = 0, 200, 7 do
      local list = {}
      for i = 1, count do list[i] = math.random() * 2.0 ^ math.random(-60, 60) end
      assert.same(list, page.numbers(html.numbers(list, "f8")))
      for i = 1, count do list[i] = math.random(0, 2 ^ 32 - 1) end
      assert.same(list, page.numbers(html.numbers(list, "u4")))
    end
    assert.same({ 0.5, -1.25, 3 }, page.numbers(html.numbers({ 0.5, -1.25, 3 }, "f4")))
  end)
end)
