-- number_support: Lua's own functions from numbers to text, and cells of CSV files. spec/robust/locale_spec.lua has the locales.
require "nslua"
local number = require "nslua.core".number_support

describe("number_support", function()
  it("formats as Lua does, errors too", function()
    local form = "%5.2f|%g|%s|%q|%d"
    assert.equal(form:format(0.5, 1e-9, "a,b", "x\n", 3), number.format(form, 0.5, 1e-9, "a,b", "x\n", 3))
    assert.equal("0.5", number.tostring(0.5))
    assert.equal("nil", number.tostring(nil))
    assert.equal("0.5;1.0", number.concat({ 0.5, 1.0 }, ";"))
    assert.has_error(function() number.format("%d", 0.5) end)
    assert.has_error(function() number.format("%g", {}) end)
    local kept = { 3 }
    assert.equal(kept, select(2, pcall(number.tostring, setmetatable({}, { __tostring = function() error(kept) end }))))
  end)

  it("writes all of a number, in 15 digits where these are", function()
    for text, x in pairs { ["0.1"] = 0.1, ["3"] = 3, ["1e+300"] = 1e300, ["0.30000000000000004"] = 0.1 + 0.2, ["inf"] = 1 / 0 } do
      assert.equal(text, number.exact(x))
    end
    for _ = 1, 1000 do
      local x = (math.random() - 0.5) * 2.0 ^ math.random(-1000, 1000)
      assert.equal(x, tonumber(number.exact(x)))
    end
  end)

  it("puts a text in quotes where it would be read as something else", function()
    for text, cell in pairs { ["a"] = "a", ["a b"] = "a b", [""] = '""', ["a,b"] = '"a,b"', ['say "x"'] = '"say ""x"""',
      ["1.5"] = '"1.5"', ["nan"] = '"nan"', ["a\nb"] = '"a\nb"', ["a\rb"] = '"a\rb"', ["#x"] = '"#x"',
      ["x#"] = "x#", ["a;b"] = '"a;b"', ["a\tb"] = '"a\tb"',
      ["\xef\xbb\xbf"] = '"\xef\xbb\xbf"', ["\0"] = "\0" } do
      assert.equal(cell, number.cell(text))
    end
    for _, value in ipairs { "", "1.5", "nan", "-inf", "a" } do assert.equal(value, number.cell(value, true)) end
    for _, text in ipairs { "a,1", "#1", "1;5" } do assert.equal('"' .. text .. '"', number.cell(text, true)) end
  end)
end)
