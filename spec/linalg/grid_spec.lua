-- Loops over elements: vectors with a stride, parts of matrices, numbers; against element by element.
local ns = require "nslua"

local M = ns.zeros(7, 9)
for i = 1, 7 do
  for j = 1, 9 do M[i][j] = (i * 5 + j * 3) % 11 - 4 end
end
local part, other = M:slice(2, 5, 3, 7), M:slice(3, 6, 1, 5)
local strided, column = ns.linspace(-3, 5, 17):slice(1, 17, 4), M:column(2):slice(1, 5)


local operations = {
  ["+"] = { function(a, b) return a + b end, function(x, y) return x + y end },
  ["-"] = { function(a, b) return a - b end, function(x, y) return x - y end },
  mul = { function(a, b) return a:mul(b) end, function(x, y) return x * y end },
  div = { function(a, b) return a:div(b) end, function(x, y) return x / y end },
  max = { ns.maximum, math.max },
}

describe("loops over elements", function()
  it("combine what has gaps in memory", function()
    for name, pair in pairs(operations) do
      local got, flat = pair[1](part, other), pair[1](strided, column)
      for i = 1, 4 do
        for j = 1, 5 do assert.equal(tostring(pair[2](part[i][j], other[i][j])), tostring(got[i][j]), name) end
      end
      for i = 1, 5 do assert.equal(tostring(pair[2](strided[i], column[i])), tostring(flat[i]), name) end
    end
    assert.equal(2 * part, part + part)
    assert.equal(part:abs(), ns.abs(part))
    assert.equal(part, ns.where(part:gt(100), other, part))
  end)

  it("reduce", function()
    local sum, count, most, at = 0, 0, -math.huge, nil
    for j = 1, 5 do
      for i = 1, 4 do
        local x = part[i][j]
        sum, count = sum + x, count + (x > 0 and 1 or 0)
        if x > most then most, at = x, { i, j } end
      end
    end
    assert.equal(sum, part:sum())
    assert.equal(most, part:max())
    assert.same(at, { part:argmax() })
    assert.equal(count, part:gt(0):sum())
    assert.is_true(part:isfinite() and part:eq(part):all() and not part:ne(part):any())
    local broken = part:copy()
    broken[3][2] = 0 / 0
    assert.is_false(broken:isfinite() or broken == broken:copy())
    assert.same({ 3, 2 }, { broken:argmin() })
  end)

  it("copy", function()
    local tiled, flat = ns.tile(part, 2, 3), ns.reshape(part, 20)
    for i = 1, 8 do
      for j = 1, 15 do assert.equal(part[(i - 1) % 4 + 1][(j - 1) % 5 + 1], tiled[i][j]) end
    end
    for k = 1, 20 do assert.equal(part[(k - 1) // 5 + 1][(k - 1) % 5 + 1], flat[k]) end
    assert.equal(part, part:reshape(10, 2):reshape(4, 5))
    assert.equal(ns.tile(strided, 2), ns.hstack { strided, strided })
  end)
end)
