local exact = require "nslua.circuit.exact"

-- a b + c d + ... of doubles, as a number
local function sum(list)
  local to = exact.number(0)
  for k = 1, #list, 2 do exact.add_product(to, exact.number(list[k]), exact.number(list[k + 1])) end
  return to
end

describe("nslua.circuit.exact", function()
  it("knows what is 0 of decimal numbers", function()
    assert.True(exact.is_zero(sum { 0.1, 1, 0.2, 1, -0.3, 1 }))
    assert.True(exact.is_zero(sum { 1e-9, 3e7, -0.03, 1 }))
    assert.False(exact.is_zero(sum { 1, 1, 1e-30, 1e-30, -1, 1 }))
    assert.False(exact.is_zero(sum { 1 / 3, 3, -1, 1 })) -- the double beside 1/3
    assert.True(exact.is_zero(sum { 2 ^ 70, 2 ^ -70, -1, 1 }))
  end)

  it("keeps what cancellation leaves", function()
    assert.near(1e-24, sum { 1, 1, 1e-12, 1e-12, -1, 1 }[1], 1e-32)
    assert.near(-1e-20, sum { 1e3, 1e3, -1e6, 1, -1e-10, 1e-10 }[1], 1e-30)
  end)

  it("divides: q y + x = 0 of random numbers", function()
    math.randomseed(11)
    for _ = 1, 500 do
      local x, y = sum { math.random() - 0.5, 10 ^ math.random(-9, 9) }, sum { math.random() + 0.1, math.random(1, 9) }
      local q = exact.negative_quotient(x, y)
      local rest = exact.copy(x)
      exact.add_product(rest, q, y)
      assert.True(exact.is_zero(rest))
      assert.near(0, rest[1], 1e-30 * math.abs(x[1]))
    end
  end)
end)
