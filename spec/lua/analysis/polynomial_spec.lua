-- Polynomials: fits, values, roots.
local ns = require "nslua"
local numbers = require "random_numbers"
local COUNT, report = require "campaign"(100, 0.1)
local message = require("expect").message

describe("polynomials", function()
  it("polyfit finds the polynomial that the points are of, also far from 0", function()
    for _, shift in ipairs { 0, 1000 } do
      local function f(u) return 3 * (u - shift) ^ 3 - (u - shift) + 2 end
      local x = ns.linspace(shift - 2, shift + 3, 12)
      local p = ns.polyfit(x, x:map(f), 3)
      assert.equal(4, #p)
      assert.near(3, p[1], 1e-9)
      for _, u in ipairs { shift - 1.5, shift + 2.2 } do assert.near(f(u), ns.polyval(p, u), 1e-4 * (shift + 1e-8)) end
    end
  end)

  it("polyfit is of least squares: the residual is orthogonal to the powers", function()
    local x, y = ns.vector { 0, 1, 2, 3, 5 }, ns.vector { 1, 0, 4, 2, 7 }
    local residual = y - ns.polyval(ns.polyfit(x, y, 2), x)
    for power = 0, 2 do assert.near(0, residual:dot(x ^ power), 1e-11) end
  end)

  it("polyval of numbers and vectors", function()
    assert.equal(17.0, ns.polyval({ 3, 0, 5 }, 2))
    assert.equal(ns.vector { 5, 8 }, ns.polyval({ 3, 5 }, { 0, 1 }))
    assert.equal(7.0, ns.polyval({ 7 }, 100))
  end)

  it("polyroots: real, complex, at 0, of leading zeros", function()
    local re, im = ns.polyroots { 1, -6, 11, -6 }
    assert.equal(ns.zeros(3), im)
    for i, root in ipairs { 1, 2, 3 } do assert.near(root, re:sort()[i], 1e-12) end
    re, im = ns.polyroots { 0, 1, 0, 4 }
    assert.near(0, re:norm(), 1e-14)
    assert.near(2, im:max(), 1e-14)
    re, im = ns.polyroots { 2, -4, 0, 0 }
    assert.same({ 0, 0, 2 }, re:sort():totable())
    assert.equal(ns.zeros(3), im)
    assert.equal(0, #ns.polyroots { 5 })
  end)

  it("polyroots: of very different sizes, each by its own size", function()
    local re = ns.polyroots({ 1e-300, 1, -3, 2 }):sort()
    assert.same({ 1, 2 }, { re[2], re[3] })
    assert.near(-1, re[1] / 1e300, 1e-15)
    math.randomseed(9)
    for _ = 1, COUNT do
      local n, known, p = 2 * math.random(2), {}, { 1 }
      local large, small = 10 ^ numbers.uniform(10, 70), 10 ^ numbers.uniform(-70, -10)
      for i = 1, n do
        known[i] = (i % 2 == 0 and large or small) * (i > 2 and -1 or 1) * numbers.uniform(1, 100)
        p[i + 1] = 0
        for k = i + 1, 2, -1 do p[k] = p[k] - known[i] * p[k - 1] end
      end
      table.sort(known)
      local found, im = ns.polyroots(p)
      found = found:sort()
      for i = 1, n do assert.near(1, found[i] / known[i], 1e-9) end
      assert.equal(0, im:norm())
    end
    report("polynomials with roots of all sizes", COUNT)
  end)

  it("say what is wrong", function()
    local function says(text, f, ...) assert.matches(text, message(f, ...), 1, true) end
    says("polyfit: expected at least 3 points for degree 2, got 2", ns.polyfit, { 0, 1 }, { 0, 1 }, 2)
    says("polyfit: y: expected a vector of 2, got one of 1", ns.polyfit, { 0, 1 }, { 0 }, 1)
    says("polyfit: degree: expected an integer of 0 or more, got 0.5", ns.polyfit, { 0, 1 }, { 0, 1 }, 0.5)
    says("polyfit: all x are 1: degree 1 can't be found", ns.polyfit, { 1, 1 }, { 0, 1 }, 1)
    says("polyfit: 2 different x are too few for degree 2", ns.polyfit, { 0, 1, 1 }, { 0, 1, 1 }, 2)
    says("polyval: p: expected at least one coefficient, got none", ns.polyval, {}, 1)
    says("polyval: x: expected a vector, got 'a'", ns.polyval, { 1 }, "a")
    says("polyroots: p: all coefficients are 0", ns.polyroots, { 0, 0 })
  end)
end)
