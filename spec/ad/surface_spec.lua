-- Piecewise polynomials of two variables; also spec/lua/analysis/curve_spec.lua.
local ns = require "nslua"
local expect = require "expect"
local random = require "random_numbers"

describe("surface", function()
  local function table_of(px, py, f)
    return random.matrix(#px, function(i, j) return f(px[i], py[j]) end, #py)
  end

  it("is linear in cells, and gives back bicubic polynomials", function()
    local px, py = { 0, 1, 3, 4, 6 }, { -1, 0, 2, 3 }
    local function bicubic(u, v) return (1 - u + u ^ 3) * (2 + v - v ^ 2 + 0.5 * v ^ 3) end
    local s = ns.interp2 { x = px, y = py, z = ns.matrix(table_of(px, py, bicubic)), kind = "cubic", outside = "extend" }
    local f = function(v) return { bicubic(v[1], v[2]) } end
    for _, point in ipairs { { 0.5, 1 }, { 5.5, 2.5 }, { 3, 0 }, { 7, 4 } } do
      assert.near(bicubic(table.unpack(point)), s(table.unpack(point)), 1e-9)
      expect.near_matrix(ns.jacobian(f, point), ns.jacobian(function(v) return { s(v[1], v[2]) } end, point), 1e-9)
    end
    local l = ns.interp2 { x = { 0, 2 }, y = { 0, 4 }, z = { { 1, 2 }, { 3, 8 } }, outside = "hold" }
    assert.equal(0.75 * 0.5 * 1 + 0.25 * 0.5 * 2 + 0.75 * 0.5 * 3 + 0.25 * 0.5 * 8, l(1, 1))
    assert.same({ 8, 1, 2 }, { l(9, 9), l(-1, -1), l(-1, 9) })
    expect.near_matrix({ { 0, 0.25 } }, ns.jacobian(function(v) return { l(v[1], v[2]) } end, { -1, 1 }))
    local r = ns.interp2 { x = { 0, 1, 2 }, y = { 0, 1, 2 }, z = { { 0, 1, 0 }, { 2, 5, 2 }, { 0, 1, 0 } }, outside = "repeat" }
    assert.same({ 5, 1.5, 5 }, { r(3, -1), r(0.5, 4.25) + 0 * r(0, 0) == r(0.5, 0.25) and 1.5, r(1, 1) })
    assert.equal("linear surface through 2 x 2 points", tostring(l))
  end)
end)
