-- Texts of pictures: markup, Greek letters, and that nothing in them is a command.
local text = require "nslua.plot.text"

-- What a literal of gnuplot stands for: the inverse of its escapes.
local function decoded(literal)
  assert(literal:find '^"[^"]*"$')
  return (literal:sub(2, -2):gsub("\\(%d%d%d)", function(octal) return string.char(tonumber(octal, 8)) end))
end

local function enhanced(s) return decoded(text.quote(s)) end

describe("nslua.plot.text", function()
  it("leaves nothing in a literal that gnuplot reads as more than a character", function()
    local all = {}
    for i = 0, 255 do all[i + 1] = string.char(i) end
    local literal = text.literal(table.concat(all))
    assert.equal(table.concat(all), decoded(literal))
    assert.is_nil(literal:sub(2, -2):gsub("\\%d%d%d", ""):find '["\\`\'%c@$|!#%%{}_^&~]')
  end)

  it("escapes what enhanced text would read", function()
    assert.equal([[a\_b\^c\{d\}\@e\&f\~g\\h]], enhanced [[a_b^c{d}@e&f~g\h]])
    assert.equal("`x` \"q\" 'x' %d $", enhanced "`x` \"q\" 'x' %d $")
  end)

  it("knows the names of Greek letters and some signs, and leaves others", function()
    assert.equal("λ and Ω, × ≤ ∞", enhanced "\\lambda and \\Omega, \\times \\leq \\infty")
    assert.equal("\\\\foo\\\\", enhanced "\\foo\\")
    assert.equal("λ", enhanced "λ")
  end)

  it("knows commands of TeX", function()
    for formula, bare in pairs {
      ["\\dot{x}"] = "x\u{307}", ["\\ddot q_1"] = "q\u{308}_1", ["\\hat\\lambda"] = "λ\u{302}", ["\\vec{v}"] = "v\u{20D7}",
      ["\\frac{a}{b}"] = "a/b", ["\\frac{x+1}{2}"] = "(x+1)/2", ["\\frac12"] = "1/2", ["\\frac{dx}{dt}"] = "dx/dt",
      ["v_\\mathrm{max}"] = "v_max", ["v_{\\text{max}}"] = "v_max", ["\\sqrt{2}"] = "√2", ["\\sqrt{x+1}"] = "√(x+1)",
      ["\\left(\\frac{1}{2}\\right)"] = "(1/2)", ["a\\,b"] = "a b", ["x^{a}_{b}"] = "x_b^a", ["\\{x\\}"] = "{x}",
      ["\\mathrm{\\mu m}"] = "μm", ["\\mathbf{v}"] = "v", ["\\boldsymbol{\\lambda}"] = "λ", ["\\|x\\|"] = "‖x‖",
      ["\\Vert x\\Vert"] = "‖x‖", ["\\lvert x\\rvert"] = "|x|", ["\\mathbb{R}^n"] = "ℝ^n", ["\\prod_i"] = "∏_i",
    } do
      assert.equal(bare, (decoded(text.quote("$" .. formula .. "$", true))))
    end
    assert.equal("$\\frac{a}$", (decoded(text.quote("$\\frac{a}$", true)))) -- a group is missing
    assert.equal("m", (enhanced "$\\mathrm{m}$"))
    assert.equal((text.size "$x$"), (text.size "$\\dot{x}$"))
  end)

  it("writes bold letters", function()
    assert.equal("{/:Bold v}·{/:Bold M}_{{/:Bold 1}}", enhanced "$\\mathbf{v}\\cdot\\mathbf{M_1}$")
    assert.equal("{/:Bold:Italic λ} {/:Bold a_b}", (enhanced "$\\boldsymbol\\lambda\\,\\textbf{a\\_b}$":gsub("\\+", "")))
    assert.is_true(text.size "$\\mathbf{M}$" > text.size "$M$")
  end)

  it("writes no text over a lower script that is wider than the upper one", function()
    assert.equal("{/:Italic x}@^{2}_{{/:Italic m}{/:Italic a}{/:Italic x}}", enhanced "$x_{max}^2$")
    assert.near(text.size "x" + 0.8 * text.size "max", text.size "$x_{max}^2$", 1e-12)
  end)

  it("puts limits below and above signs of sums", function()
    local line = text.set("$\\sum_{k=1}^{n} x_k$")[1]
    assert.equal(4, #line.pieces)
    local sign, below, above, rest = table.unpack(line.pieces)
    assert.is_true(below.y < sign.y and sign.y < above.y and below.scale < 1 and above.scale == below.scale)
    local middle = sign.x + 0.5 * text.size "∑"
    assert.near(middle, below.x + below.scale * 0.5 * text.size "k=1", 1e-12)
    assert.near(middle, above.x + above.scale * 0.5 * text.size "n", 1e-12)
    assert.is_true(rest.x > below.x + below.scale * text.size "k=1")
    assert.is_true(line.up > 1.2 and line.down > 0.8)
    assert.equal(1, #text.set("$\\sum x$")[1].pieces)
  end)

  it("reads formulas between dollars", function()
    assert.equal("{/:Italic x}_{1}", enhanced "$x_1$")
    assert.equal("{/:Italic x}@_{1}^{2{/:Italic k}}", enhanced "$x_1^{2k}$")
    assert.equal("{/:Italic x}@_{1}^{2}", enhanced "$x^2_1$")
    assert.equal("{/:Italic λ}_{{/:Italic i}{/:Italic j}} = 0", enhanced "$\\lambda_{ij} = 0$")
    assert.equal("1 − {/:Italic τ} + {/:Italic λ}2", enhanced "$1 - \\tau + \\lambda 2$")
    assert.equal("sin({/:Italic ω}{/:Italic t})", enhanced "$\\sin(\\omega t)$")
    assert.equal("a\\_1 {/:Italic x}_{1} b\\_1", enhanced "a_1 $x_1$ b_1")
    assert.equal("{/:Italic q}\\@", enhanced "$q@$")
  end)

  it("shows what is no formula as it stands", function()
    for _, s in ipairs { "5$", "5 $ and 6 $", "costs 5$ or 6$", "$x_$", "$b}$", "${a$", "$x__1$", "$$", "$ x$", "$x $" } do
      local parts = text.parse(s)
      for _, part in ipairs(parts) do assert.is_nil(part.italic or part.sub or part.super, s) end
    end
  end)

  it("makes valid UTF-8 without control characters of anything", function()
    assert.equal("a\u{FFFD}b\u{FFFD}\u{FFFD}", decoded(text.quote("a\xffb\xe2\x82", true)))
    assert.equal("a b\nc d", decoded(text.quote("a\0b\nc\27d", true)))
    assert.equal("a\nb\nc", decoded(text.quote("a\r\nb\rc", true)))
  end)

  it("has plain characters for terminals, and a size", function()
    assert.equal("x_1 λ^2", decoded(text.quote("$x_1$ $\\lambda^2$", true)))
    local one, lines = text.size "mmmm"
    assert.is_true(one > text.size "iiii" and lines == 1)
    assert.near(3, (select(2, text.size "a\nb\nc")), 1e-12)
    assert.is_true(text.size "λ" < text.size "n" and text.size "ȹ" > 0.5)
    assert.near(text.size "x" + 0.8 * text.size "12", text.size "$x_{12}$", 1e-12)
  end)

  it("breaks long texts at blanks, outside of formulas", function()
    assert.equal("one two\nthree", text.wrap("one two three", 5))
    assert.equal("$a + b$\nlong", text.wrap("$a + b$ long", 2))
    assert.equal("short", text.wrap("short", 10))
    assert.equal("one\ntwo", text.wrap("one\ntwo", 10))
  end)
end)
