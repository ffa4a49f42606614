-- nslua.web.formulas: which texts have formulas, which fonts they need, what a page embeds.
local formulas = require "nslua.web.formulas"
local ns = require "nslua"

local function plot(title)
  return ns.animation.timeplot { t = { 0, 1 }, title = title, panels = { { { y = { 0, 1 } } } } }
end

describe("formulas #once", function()
  it("stand between two dollar signs on one line, without blanks inside of these", function()
    assert.same({ "x_1", "y" }, formulas.of { "a $x_1$ b", { title = "$y$" } })
    assert.same({}, formulas.of { "5 $ and 6 $", "$ x$", "$x $", "$a\nb$", { base64 = "$x$" }, 7, true })
  end)

  it("need the fonts of their commands", function()
    local function names(list)
      local sorted = {}
      for name in pairs(formulas.fonts_of(list)) do sorted[#sorted + 1] = name end
      table.sort(sorted)
      return table.concat(sorted, " ")
    end
    assert.equal("Main-Regular Math-Italic", names { "\\dot q_1 + \\lambda^2" })
    assert.equal("Main-Regular Math-Italic Size1-Regular Size2-Regular Size3-Regular Size4-Regular", names { "\\frac{1}{2}" })
    assert.equal("AMS-Regular Main-Regular Math-Italic", names { "\\mathbb{R}" })
    assert.equal("Main-Bold Main-Regular Math-Italic", names { "\\mathbf{x}" })
  end)

  it("embed KaTeX in their page alone", function()
    local without, with = plot "A plot", plot "A plot of $\\dot q$"
    assert.is_nil(without:find("katex.render=", 1, true) or without:find("@font-face", 1, true))
    local directory = formulas.directory
    if formulas.version() then
      local fonts = select(2, with:gsub("@font%-face", ""))
      assert.equal(2, fonts)
      assert.is_nil(with:find("url(fonts", 1, true))
      assert.is_true(#with < 500000, #with)
    end
    formulas.directory = nil -- as in a build without KaTeX
    local source = plot "A plot of $\\dot q$"
    formulas.directory = directory
    assert.equal(#without + 2 * #" of $\\dot q$" + 5, #source) -- in the title and in the record, which writes \\ as six bytes
  end)
end)
