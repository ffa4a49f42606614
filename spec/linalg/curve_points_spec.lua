-- Long curves without what their picture does not show, and the corners of steps.
local ns = require "nslua"
local thin = require "nslua.core".thin_support

local NAN = 0 / 0

-- The points of two vectors as "x,y x,y"; a NaN as "-".
local function points(x, y)
  local list = {}
  for i = 1, #x do list[i] = ("%g,%s"):format(x[i], y[i] == y[i] and ("%g"):format(y[i]) or "-") end
  return table.concat(list, " ")
end

describe("thin_support.rises", function()
  it("says whether numbers are finite and do not fall", function()
    for _, x in ipairs { {}, { 3 }, { 1, 1, 2 }, ns.vector { 1, 9, 2, 9, 3 }(1, 5, 2) } do assert.is_true(thin.rises(x)) end
    for _, x in ipairs { { 1, 0 }, { NAN }, { 1, NAN, 2 }, { 1, 1 / 0 }, { -1 / 0, 1 } } do assert.is_false(thin.rises(x)) end
  end)
end)

describe("thin_support.columns", function()
  it("keeps first, least, largest and last of each unit, in their order", function()
    local x, y = { 0, 0.1, 0.2, 0.3, 0.4, 1, 1.5, 2 }, { 5, 9, 1, 7, 6, 2, 2, 2 }
    assert.equal("0,5 0.1,9 0.2,1 0.4,6 1,2 1.5,2 2,2", points(thin.columns(x, y, 0, 2, 2)))
    assert.equal(points(x, y), points(thin.columns(x, y, 0, 2, 1000)))
    assert.equal("0,5 0.1,9 0.2,1 2,2", points(thin.columns(x, y, 3, 3, 10))) -- an axis without length
    assert.equal("", points(thin.columns({}, {}, 0, 1, 10)))
  end)

  it("keeps gaps, and the largest on either side of one", function()
    local x, y = ns.linspace(0, 1, 9), { 1, 3, 2, NAN, 1 / 0, NAN, 4, 6, 5 }
    assert.equal("0,1 0.125,3 0.25,2 0.375,- 0.75,4 0.875,6 1,5", points(thin.columns(x, y, 0, 2, 1)))
  end)

  it("takes all that lies beside the picture for one unit, whichever way the axis goes", function()
    local x = ns.linspace(-5, 6, 12)
    assert.equal("-5,-5 -1,-1 0,0 1,1 6,6", points(thin.columns(x, x, 0, 1, 100)))
    assert.equal("-5,-5 0,0 1,1 2,2 6,6", points(thin.columns(x, x, 1, 0, 100)))
  end)

  it("counts units of a logarithmic axis", function()
    local x = { -1, 0, 1, 2, 5, 10, 20, 50, 100 }
    assert.equal("-1,-1 0,0 1,1 5,5 10,10 50,50 100,100", points(thin.columns(x, x, 1, 100, 2, true)))
  end)

  it("has nothing to say of an x that falls or has gaps", function()
    assert.same({}, { thin.columns({ 0, 2, 1 }, { 1, 2, 3 }, 0, 2, 2) })
    assert.same({}, { thin.columns({ 0, NAN, 1 }, { 1, 2, 3 }, 0, 2, 2) })
  end)

  it("keeps the least and the largest value in every unit of a long curve", function()
    local n, units = 100000, 500
    local x = ns.linspace(0, 1, n)
    local y = x:map(function(v) return math.sin(7e4 * v) * v end)
    local u, v = thin.columns(x, y, 0, 1, units)
    assert.is_true(#u <= 4 * (units + 1))
    local function extremes(a, b)
      local low, high = {}, {}
      for i = 1, #a do
        local k = math.floor(a[i] * units)
        low[k], high[k] = math.min(low[k] or b[i], b[i]), math.max(high[k] or b[i], b[i])
      end
      return { low, high }
    end
    assert.same(extremes(x, y), extremes(u, v))
  end)
end)

describe("thin_support.distance", function()
  it("keeps points a unit away from the last one, gaps, and the last", function()
    local x, y = { 0, 0.4, 0.9, 1, 1, 1, 1, 1.1 }, { 0, 0, 0.9, 0, 0.5, NAN, 1, 1 }
    assert.equal("0,0 1,0 1,- 1,1 1.1,1", points(thin.distance(x, y, 0, 10, 10, false, 0, 10, 10, false)))
    assert.equal(points(x, y), points(thin.distance(x, y, 0, 10, 1000, false, 0, 10, 1000, false)))
  end)
end)

describe("thin_support.corners", function()
  it("goes around corners: pre, post, mid", function()
    local x, y = { 0, 1, 3 }, { 5, 6, 4 }
    assert.equal("0,5 0,6 1,6 1,4 3,4", points(thin.corners(x, y, "pre")))
    assert.equal("0,5 1,5 1,6 3,6 3,4", points(thin.corners(x, y, "post")))
    assert.equal("0,5 0.5,5 0.5,6 1,6 2,6 2,4 3,4", points(thin.corners(x, y, "mid")))
    for _, where in ipairs { "pre", "post", "mid" } do
      assert.equal("", points(thin.corners({}, {}, where)))
      assert.equal("1,2", points(thin.corners({ 1 }, { 2 }, where)))
    end
  end)

  it("takes a run of one height for one step, and keeps gaps", function()
    assert.equal("0,1 3,1 3,2 4,2", points(thin.corners({ 0, 1, 2, 3, 4 }, { 1, 1, 1, 1, 2 }, "pre")))
    assert.equal("0,1 0,- 1,- 1,2 2,2", points(thin.corners({ 0, 1, 2 }, { 1, NAN, 2 }, "pre")))
    assert.equal("0,1 1,1 1,- 2,- 2,2", points(thin.corners({ 0, 1, 2 }, { 1, NAN, 2 }, "post")))
  end)

  it("moves corners by a unit, at most half a step, when it has axes", function()
    local x, y = { 0, 10, 11 }, { 0, 20, 0 }
    local axes = { 0, 100, 100, false, 0, 100, 50, false } -- units of 1 and of 2
    assert.equal("0,0 1,18 10,20 10.5,2 11,0", points(thin.corners(x, y, "pre", table.unpack(axes))))
    assert.equal("0,0 9,2 10,20 10.5,18 11,0", points(thin.corners(x, y, "post", table.unpack(axes))))
    assert.equal("0,0 4,2 6,18 10,20 10,18 11,2 11,0", points(thin.corners(x, y, "mid", table.unpack(axes))))
    local log = { 1, 1000, 10 * math.log(1000), true, 0, 1, 1, false } -- at 10 the unit is 1
    assert.equal("10,1 11,- 20,-", points(thin.corners({ 10, 20 }, { 1, NAN }, "pre", table.unpack(log))))
  end)
end)
