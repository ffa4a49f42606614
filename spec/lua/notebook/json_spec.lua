local html = require "nslua.web.html"
local json = require "nslua.notebook.json"

describe("nslua.notebook.json", function()
  it("reads values", function()
    assert.same({ a = { 1, 2.5, -3e2, true, false, "x" }, b = { c = {} }, d = "" },
      json.decode ' { "a": [1, 2.5, -3e2, true, false, "x"], "b": {"c": []}, "d": "" } ')
    assert.equal("integer", math.type(json.decode "12"))
    assert.same({ [2] = 1 }, json.decode "[null, 1, null]")
    assert.is_nil(json.decode "null")
  end)

  it("reads the escapes of strings", function()
    assert.equal('a"b\\c/d\n\t\r\b\f', json.decode [["a\"b\\c\/d\n\t\r\b\f"]])
    assert.equal("é€𝄞\u{FFFD}", json.decode [["\u00e9\u20ac\ud834\udd1e\ud834"]])
    assert.equal("λ ω", json.decode '"λ ω"')
  end)

  it("reads what nslua.web.html writes", function()
    local value = { text = "a<b>&\"\\\n\u{2028}ω", list = { 0.1, 1e300, -0.5, 12 }, nested = { { 1 }, { x = false } } }
    assert.same(value, json.decode(html.json(value)))
  end)

  it("tells where a text is wrong", function()
    for text, message in pairs { ["[1 2]"] = "'2' is not expected at byte 4", ["{1}"] = "'1' is not expected at byte 2",
      ['"abc'] = "'' is not expected at byte 5", ["tru"] = "'t' is not expected at byte 1",
      ["1 x"] = "'x' is not expected at byte 3", [ [["\q"]] ] = "'q' is not expected at byte 3",
      ['{"a" 1}'] = "'1' is not expected at byte 6" } do
      assert.same({ false, "json: " .. message }, { pcall(json.decode, text) })
    end
  end)
end)
