-- The checks are met through the functions: spec/lua/analysis. Here: options in a table of another spelling.
local ns = require "nslua"

describe("analysis.arguments", function()
  it("takes tables, vectors, views and rows of matrices alike", function()
    local A = ns.matrix { { 0, 1, 2 }, { 5, 6, 9 } }
    local x, y = ns.vector { 0, 1, 2 }, { 5, 6, 9 }
    local wide = ns.vector { 0, 7, 1, 7, 2 }(1, 5, 2)
    for _, s in ipairs { ns.spline(A[1], A[2]), ns.spline(x, y), ns.spline(wide, A[2]) } do assert.equal(7.25, s(1.5)) end
  end)
end)
