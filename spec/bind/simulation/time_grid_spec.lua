-- TimeDiscretisation: steps and points.
local ns = require "nslua"
local message = require "bind.models".message

describe("TimeDiscretisation", function()
  it("needs a start and a positive step", function()
    local function check(text, ...) assert.equal("TimeDiscretisation: " .. text,
      message(ns.TimeDiscretisation, ...)) end
    check "expected (t0, h) or a vector of points"
    check("expected (t0, h) or a vector of points", "a", 1)
    check("h: expected a finite number, got no value", 0)
    check("h: expected a positive number, got 0", 0, 0)
    check("h: expected a positive number, got -1", 0, -1)
    check("h: expected a finite number, got number nan", 0, 0 / 0)
    check("h: expected a finite number, got number inf", 0, math.huge)
    check("t0: expected a finite number, got number -inf", -math.huge, 1)
    check("h: 1e-17 vanishes against t0 = 1", 1, 1e-17)
  end)

  it("or points that increase", function()
    local function check(text, points)
      assert.equal("TimeDiscretisation: " .. text, message(ns.TimeDiscretisation, points))
    end
    check("a grid needs at least two points, got 1", { 0 })
    check("the grid must increase: t[2] = 1, t[3] = 1", { 0, 1, 1 })
    check("points[1] is -inf", { -math.huge, 1 })
    check("points[2] is nan", { 0, 0 / 0 })
    check("points[2]: expected a number, got string", { 0, "x" })
    check("points: expected a vector, got string", "x")
  end)

  it("knows which steps and points there are", function()
    local td = ns.TimeDiscretisation { 0, 1, 3 }
    assert.equal(2, td:h(2))
    assert.equal(3, td:at(2))
    assert.equal("h: step: expected 1..2, got 3", message(td.h, td, 3))
    assert.equal("h: step: expected at least 1, got 0", message(td.h, td, 0))
    assert.equal("at: k: there is no t[3]", message(td.at, td, 3))
    assert.equal("at: k: there is no t[-1]", message(td.at, td, -1))
    assert.equal("at: k: expected an integer, got number 0.5", message(td.at, td, 0.5))
  end)

  it("raises after close() and closes with its scope", function()
    local td
    do
      local scoped <close> = ns.TimeDiscretisation(0, 1)
      td = scoped
    end
    assert.equal("TimeDiscretisation (closed)", tostring(td))
    for _, name in ipairs { "t0", "h", "at", "display", "close" } do
      assert.equal("TimeDiscretisation is closed", message(td[name], td, 1), name)
    end
  end)
end)
