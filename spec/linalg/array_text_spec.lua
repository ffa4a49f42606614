-- Vectors and matrices as text: whole up to a size, then with dots.
local ns = require "nslua"

describe("the text of", function()
  it("a vector has 16 numbers at most", function()
    assert.equal("[]", tostring(ns.zeros(0)))
    assert.equal("[1, -0.5, 1e+10, nan, inf]", tostring(ns.vector { 1, -0.5, 1e10, 0 / 0, 1 / 0 }))
    assert.equal("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]", tostring(ns.arange(1, 17)))
    assert.equal("[1, 2, 3, 4, 5, 6, 7, 8, ..., 18, 19, 20] (20 elements)", tostring(ns.arange(1, 21)))
    assert.equal("[9, 7, 5]", tostring(ns.arange(1, 10):slice(9, 5, -2)))
  end)

  it("a matrix is aligned, and has 12 rows and columns at most", function()
    assert.equal("[ ] (0 x 3)", tostring(ns.zeros(0, 3)))
    assert.equal("[  1     2\n  -3  0.25 ]", tostring(ns.matrix { { 1, 2 }, { -3, 0.25 } }))
    local text = tostring(ns.zeros(13, 2))
    assert.equal("[ 0  0\n  0  0\n  0  0\n  0  0\n  0  0\n  0  0\n  :  :\n  0  0\n  0  0\n  0  0 ] (13 x 2)", text)
    assert.equal("[ 0  0  0  0  0  0  ...  0  0  0 ] (1 x 14)", tostring(ns.zeros(1, 14)))
  end)

  it("a sparse matrix is a grid of what is there, or a list", function()
    assert.equal("2 x 2 sparse matrix, 1 entry\n          .          .\n       -0.5          .",
      tostring(ns.sparse { { 0, 0 }, { -0.5, 0 } }))
    assert.equal("13 x 13 sparse matrix, 13 entries\n  (1, 1) 1\n  (2, 2) 1\n  (3, 3) 1\n  (4, 4) 1\n  (5, 5) 1\n  (6, 6) 1"
      .. "\n  (7, 7) 1\n  (8, 8) 1\n  (9, 9) 1\n  (10, 10) 1\n  (11, 11) 1\n  (12, 12) 1\n  ... 1 more", tostring(ns.speye(13)))
  end)
end)
