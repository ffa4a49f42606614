require "nslua"
local format = require("nslua.internal").number_format

-- The definition: integers, then the shortest of three precisions that reads back.
local function expected(x)
  if x ~= x then return "nan" end
  if math.abs(x) == math.huge then return x > 0 and "inf" or "-inf" end
  if x == 0 then return 1 / x < 0 and "-0" or "0" end
  if math.abs(x) <= 2 ^ 53 and x == math.floor(x) then return ("%d"):format(x) end
  for precision = 15, 17 do
    local text = ("%." .. precision .. "g"):format(x)
    if tonumber(text) == x then return text end
  end
end

local function agree(x)
  local text = format(x)
  if text ~= expected(x) then error(("%a: %s instead of %s"):format(x, text, expected(x))) end
end

describe("io.number", function()
  it("writes what a reader expects", function()
    local cases = {
      { 0, "0" }, { -0.0, "-0" }, { 1, "1" }, { -17, "-17" }, { 0.1, "0.1" }, { 1 / 3, "0.3333333333333333" },
      { 0.1 + 0.2, "0.30000000000000004" }, { 1e15, "1000000000000000" }, { 2 ^ 53, "9007199254740992" },
      { 2 ^ 53 + 2, "9007199254740994" }, { 1e16, "1e+16" }, { 1e17, "1e+17" }, { 1e22, "1e+22" }, { 1e-4, "0.0001" },
      { 1e-5, "1e-05" }, { 5e-324, "4.94065645841247e-324" }, { 1.7976931348623157e308, "1.7976931348623157e+308" },
      { 0 / 0, "nan" }, { -(0 / 0), "nan" }, { 1 / 0, "inf" }, { -1 / 0, "-inf" },
      { 123456.789, "123456.789" }, { 99999999999999.98, "99999999999999.98" },
    }
    for _, case in ipairs(cases) do assert.equal(case[2], format(case[1])) end
  end)

  it("agrees with its definition on random bit patterns", function()
    math.randomseed(7)
    for _ = 1, 8000 do agree((string.unpack("d", string.pack("i8", math.random(0))))) end
  end)

  it("agrees with it on random numbers of everyday size", function()
    math.randomseed(8)
    for _ = 1, 8000 do agree((math.random() - 0.5) * 10.0 ^ math.random(-30, 19)) end
    for _ = 1, 8000 do agree(math.random(-1000000, 1000000) / 10 ^ math.random(0, 15)) end
  end)

  it("agrees with it at powers of two and of ten and beside them", function()
    for e = -1074, 1023 do
      agree(2.0 ^ e)
      agree(2.0 ^ e * (1 - 2 ^ -53))
      agree(2.0 ^ e * (1 + 2 ^ -52))
    end
    for e = -323, 307 do
      for _, digits in ipairs { "1", "9.5", "9.99999999999999", "9.999999999999999", "9.9999999999999999", "5" } do
        agree(tonumber(digits .. "e" .. e))
      end
    end
  end)
end)

describe("the reader of io.number", function()
  local parse = require("nslua.internal").number_parse

  -- As Lua's own reader, which is the C library's.
  local function same(text)
    local x, y = parse(text), tonumber(text:find "[.eE]" and text or text .. ".0")
    if x ~= y or 1 / x ~= 1 / y then error(("%s: %a instead of %a"):format(text, x, y)) end
  end

  it("rounds as the C library does", function()
    math.randomseed(9)
    for _ = 1, 5000 do same(("%.17g"):format((math.random() - 0.5) * 10.0 ^ math.random(-320, 308))) end
    for _ = 1, 5000 do same(("%de%d"):format(math.random(0, 1 << 62), math.random(-40, 40))) end
    for _ = 1, 5000 do same(("%d.%de%d"):format(math.random(-99, 99), math.random(0, 99999999), math.random(-25, 25))) end
    for _, text in ipairs { "0", "-0", "0.0", ".5", "5.", "1e22", "1e23", "9007199254740993", "9007199254740992", "1e-400",
      "1e400", "0e999", "-1e-5", "000000000000000000000001", "0.00000000000000000000000000001", "12345678901234567890123",
      ("1"):rep(50) .. "." .. ("2"):rep(100), "4.9406564584124654e-324", "2.2250738585072011e-308", "1E5", "1e+5", "1e-05" } do
      same(text)
    end
  end)

  it("takes blanks, signs, inf and nan, and nothing else", function()
    assert.equal(1.5, parse " +1.5\t")
    assert.equal(1 / 0, parse "INF")
    assert.equal(-1 / 0, parse "-Infinity")
    assert.is_true(parse "NaN" ~= parse "nan")
    for _, text in ipairs { "", " ", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1 2", "1,5", "nanx", "infin", "--1", "1f",
      "é" } do
      assert.is_nil(parse(text), text)
    end
  end)
end)
