require "nslua"
local internal = require "nslua.internal"
local inf, abs = math.huge, math.abs

local function random() return (math.random() * 2 - 1) * 10 ^ math.random(-3, 3) end

describe("the Fischer-Burmeister function", function()
  it("is zero where one is zero and none negative, and nowhere else", function()
    for _, x in ipairs { 0, 1e-300, 1e-8, 1, 1e8 } do
      assert.equal(0, (internal.fischer(x, 0)))
      assert.equal(0, (internal.fischer(0, x)))
    end
    math.randomseed(2)
    for _ = 1, 200 do
      local a, b = random(), random()
      local value = internal.fischer(a, b)
      assert.equal(a > 0 and b > 0, value > 0)
      assert.near(value, (internal.fischer(b, a)), 1e-13 * abs(value))
      assert.near(a + b - math.sqrt(a * a + b * b), value, 1e-12 * (abs(a) + abs(b)))
    end
  end)

  it("is accurate for small products", function()
    -- for b << a: phi = b - b^2 / 2a + ...
    for _, b in ipairs { 1e-9, 1e-12, 1e-200 } do assert.near(1, internal.fischer(1, b) / b, 1e-9) end
  end)

  it("has the slopes of its differences, and a unit ball at the kink", function()
    math.randomseed(3)
    for _ = 1, 100 do
      local a, b, h = random(), random(), 1e-6
      local _, da, db = internal.fischer(a, b)
      local s = h * (abs(a) + abs(b))
      assert.near((internal.fischer(a + s, b) - internal.fischer(a - s, b)) / (2 * s), da, 1e-6)
      assert.near((internal.fischer(a, b + s) - internal.fischer(a, b - s)) / (2 * s), db, 1e-6)
    end
    local _, da, db = internal.fischer(0, 0)
    assert.near(1, (1 - da) ^ 2 + (1 - db) ^ 2, 1e-15)
  end)
end)

describe("the map of a box", function()
  local boxes = { { 0, inf }, { -inf, 1 }, { -1, 2 }, { -inf, inf }, { 3, 3 } }

  it("is zero exactly where the law holds", function()
    for _, box in ipairs(boxes) do
      local l, u = box[1], box[2]
      for _, z in ipairs { -1, 0, 0.5, 1, 2, 3 } do
        for _, f in ipairs { -2, 0, 2 } do
          if z >= l and z <= u then
            local value, at_z, at_f, violation = internal.fischer_box(z, f, l, u)
            local law = l == u or f == 0 or (f > 0 and z == l) or (f < 0 and z == u)
            assert.equal(law, abs(value) < 1e-15, ("z %g f %g in [%g, %g]"):format(z, f, l, u))
            assert.equal(law and 0 or abs(f), violation)
            assert.is_true(at_z >= 0 and at_f >= 0 and at_z + at_f > 0)
          end
        end
      end
    end
  end)

  it("is f itself without bounds, and z - l where z is fixed", function()
    assert.same({ 7, 0, 1, 7 }, { internal.fischer_box(2, 7, -inf, inf) })
    assert.same({ 0, 1, 0, 0 }, { internal.fischer_box(3, 7, 3, 3) })
  end)

  it("has the slopes of its differences", function()
    math.randomseed(4)
    for _, box in ipairs { { 0, inf }, { -inf, 1 }, { -1, 2 }, { -inf, inf } } do
      for _ = 1, 50 do
        local z, f, h = math.random() * 4 - 2, math.random() * 4 - 2, 1e-6
        local function value(a, b) return (internal.fischer_box(a, b, box[1], box[2])) end
        local _, at_z, at_f = internal.fischer_box(z, f, box[1], box[2])
        assert.near((value(z + h, f) - value(z - h, f)) / (2 * h), at_z, 1e-4)
        assert.near((value(z, f + h) - value(z, f - h)) / (2 * h), at_f, 1e-4)
      end
    end
  end)
end)
