local bits = require "nslua.internal".bytecode

local function dump(text) return string.dump(assert(load(text, "=model.lua"))) end

describe("bytecode of Lua", function()
  it("is copied as code that does the same", function()
    local text = "local a, b = ... local t = {} for i = 1, a do t[#t + 1] = i * b == 4 and 'four' or i // 0.5 end " ..
      "return table.concat(t, ','), (function(x) local y <const> = 2^53 return x + y, -9007199254740993, ('long'):rep(20) end)(a)"
    local copy = assert(load(bits(dump(text)).copy, "copy", "b"))
    assert.same({ load(text)(5, 2) }, { copy(5, 2) })
  end)

  it("tells the line of each instruction, also after many lines and far jumps", function()
    local text = "local x = 0\n" .. ("x = x + 1\n"):rep(300) .. ("\n"):rep(1000) .. "x = x == 7\nreturn x"
    local found = bits(dump(text))
    assert.equal(1, found.lines[1])
    assert.equal(1303, found.lines[#found.lines])
    for i = 2, #found.lines do assert.is_true(found.lines[i] >= found.lines[i - 1] and found.lines[i] <= 1303) end
  end)

  it("numbers its instructions by the lines of the copy", function()
    local found = bits(dump "local f = error\nf 'here'", 1000)
    local good, message = pcall(load(found.copy, "copy", "b"))
    assert.is_false(good)
    local line = tonumber(message:match ":(%d+): here$")
    assert.equal(2, found.lines[line - 1000 + 1])
  end)

  it("learns the constants that are compared and assigned", function()
    local found = bits(dump "local x = ...; if x == 3 then g = nil elseif x == 0.25 then g = 8 elseif x == 'a' then h = x end")
    table.sort(found.numbers)
    assert.same({ 0, 0.25, 1, 3 }, found.numbers)
    assert.same({ "g", "g", "h" }, found.texts)
  end)

  it("of another format is refused, cut anywhere, too", function()
    local whole = dump "local t = { 1, 'two' } return function(x) return x == 3 and t end"
    for n = 0, #whole - 1 do assert.equal("NS_EARG", bits(whole:sub(1, n))) end
    assert.equal("NS_EARG", bits("\27Lua\x53" .. whole:sub(6)))
    assert.equal("NS_ETOOLARGE", bits(whole, 1, 3))
  end)
end)
