-- Piecewise polynomials: derivatives of all orders, integrals, periods; also spec/lua/analysis/curve_spec.lua.
local ns = require "nslua"

describe("piecewise", function()
  local x, y = { -1, 0.5, 1, 3 }, { 2, -1, 0, 2 }

  it("has derivatives that are the derivatives of each other, and integrals of them", function()
    for _, outside in ipairs { "hold", "extend", "repeat" } do
      for _, kind in ipairs { "linear", "cubic", "pchip" } do
        local c = ns.interp1 { x = x, y = y, kind = kind, outside = outside }
        for order = 0, 2 do
          local function f(v) return { c:derivative(v[1], order) } end
          for _, u in ipairs { -2.3, -1, 0.2, 0.5, 2, 3, 4.1, 11 } do
            assert.equal(c:derivative(u, order + 1), ns.jacobian(f, { u })[1][1])
          end
        end
        for _, u in ipairs { -7.3, -2.3, 0.2, 2, 4.1, 10.2 } do
          local h = 1e-5
          assert.near(c(u), c:integral(u - h, u + h) / (2 * h), 1e-6)
          assert.near(c:integral(-9, 8), c:integral(-9, u) + c:integral(u, 8), 1e-9)
        end
      end
    end
  end)

  it("finds the piece whatever was asked for before", function()
    local c = ns.interp1 { x = x, y = y, kind = "cubic", outside = "hold" }
    math.randomseed(5)
    local first = {}
    for u = -3, 5, 0.25 do first[#first + 1] = { u, c(u) } end
    for _ = 1, 200 do
      local one = first[math.random(#first)]
      assert.equal(one[2], c(one[1]))
    end
  end)
end)
