-- Lines of Lua in colours.
local colours = require "nslua.repl.colours"

local marks = { ["35"] = "<w>", ["32"] = "<s>", ["36"] = "<n>", ["90"] = "<c>", ["33"] = "<k>", ["0"] = "</>" }

local function marked(line, before)
  local text = colours.line(before or "", line)
  return text and (text:gsub("\27%[(%d+)m", marks))
end

describe("nslua.repl.colours", function()
  it("knows the words, strings, numbers and comments of Lua", function()
    assert.equal("<w>for</> i = <n>1</>, <n>0x1F</> <w>do</> f(<s>\"a\"</> .. <s>'b'</>, <k>nil</>) <w>end</> <c>-- c</>",
      marked [[for i = 1, 0x1F do f("a" .. 'b', nil) end -- c]])
    assert.equal("x = <c>--[[ a ]]</> <n>1e-5</> + y", marked "x = --[[ a ]] 1e-5 + y")
    assert.equal("format(ended, dodo)", marked "format(ended, dodo)")
  end)

  it("goes on with what is open in the lines before", function()
    assert.equal("<s>b ]=] ]]</> + <n>1</>", marked("b ]=] ]] + 1", "x = [[ a\n"))
    assert.equal("<c>local ]==]</> <w>local</>", marked("local ]==] local", "--[==[\n"))
    assert.equal("<w>local</> x", marked("local x", "s = 'not closed\n"))
    assert.equal("s = <s>'not closed</>", marked "s = 'not closed")
  end)

  it("leaves commands and questions, of the first line alone", function()
    assert.is_nil(marked ":run a.lua")
    assert.is_nil(marked " ?ns.vector")
    assert.equal(":m(<n>1</>)", marked(":m(1)", "x\n"))
  end)

  it("changes no character of any text", function()
    local parts = { "a", "--", "[[", "]]", "'", '"', "\\", "end", " ", "1", "ä", ":", "\n", "=", "[=[", "." }
    local seed = 7
    for _ = 1, 300 do
      local words = {}
      for i = 1, 12 do
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        words[i] = parts[(seed >> 16) % #parts + 1]
      end
      local before, line = table.concat(words, "", 1, 6), table.concat(words, "", 7):gsub("\n", "")
      local text = colours.line(before .. "\n", line)
      assert.equal(line, (text:gsub("\27%[%d+m", "")))
    end
  end)
end)
