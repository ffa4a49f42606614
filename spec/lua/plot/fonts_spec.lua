-- Characters that no font here has become boxes, and are told.
local fonts = require "nslua.plot.fonts"
local host = require "host"
local ns = require "nslua"
local png = require "png"

local ABSENT = "\u{EFFFE}" -- never a character: no font has it

describe("nslua.plot.fonts", function()
  it("reads the charsets of fontconfig", function()
    assert.same({ { 0x20, 0x7E }, { 0xA0, 0xA0 }, { 0x3C0, 0x3FF } }, fonts.ranges "20-7e a0\n20-7e 3c0-3ff\n")
    assert.same({}, fonts.ranges "")
  end)

  it("has what DejaVu Sans has", function()
    for _, code in utf8.codes "aλ∑∞×−" do assert.is_true(fonts.has(code)) end
  end)

  it("leaves other texts as they are", function()
    assert.equal("a λ \xC3 \n1 2", (fonts.shown("savefig", "a λ \xC3 \n1 2")))
  end)
end)

describe("a text without a font #once", function()
  local script = [[
    local ns = require "nslua"
    local fig = ns.plot.figure { figsize = { 3, 2 } }
    fig:subplot(1, 1, 1):plot { 1, 2, 3 }:title "A B A"
    for _ = 1, 2 do fig:savefig(%q, { dpi = 60 }) end
    print(fig:picture "svg":find("A", 1, true) ~= nil)
  ]]

  it("is a row of boxes on a white picture, and is told once", function()
    if not host.run "command -v fc-list || true":find "fc%-list" then return pending "fc-list is not installed" end
    local directory = host.new_directory()
    local file = directory .. "/p.png"
    local out = host.run(("%s -e %s 2>&1"):format(host.quote(host.nslua), host.quote(script:gsub("A", ABSENT):format(file))))
    assert.equal(("nslua: savefig: no font here has %s; boxes stand for them (Chinese, Japanese and Korean: "
      .. "apt install fonts-noto-cjk)\ntrue\n"):format(ABSENT), out)
    local drawn = png.read(file)
    host.remove(directory)
    assert.is_true(png.count(drawn, 0xFFFFFF) > 0.9 * drawn.width * drawn.height)
    local fig = ns.plot.figure { figsize = { 3, 2 } }
    fig:subplot(1, 1, 1):plot { 1, 2, 3 }:title "□ B □"
    assert.equal(0, png.differences(drawn, png.of(fig, { dpi = 60 }), 0, nil, drawn.height // 5)) -- below the heading
    fig:close()
  end)
end)
