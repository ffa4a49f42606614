-- The coefficients of Radau IIA, Gauss and Lobatto IIIC: the order conditions that define them.
require "nslua.core"
local internal = require "nslua.internal"
local tableau = internal.tableau

local least = { radau_iia = 1, gauss = 1, lobatto = 2 }
local short_of = { radau_iia = 1, gauss = 0, lobatto = 2 }

-- sum_j a_j b_j
local function sum(n, f)
  local s = 0
  for j = 1, n do s = s + f(j) end
  return s
end

describe("the coefficients of Runge-Kutta methods", function()
  for _, scheme in ipairs { "radau_iia", "gauss", "lobatto" } do
    it("of " .. scheme .. " fulfil their order conditions", function()
      for s = least[scheme], 4 do
        local t = tableau(scheme, s)
        assert.equal(2 * s - short_of[scheme], t.order)
        for k = 1, t.order do
          assert.near(1 / k, sum(s, function(j) return t.b[j] * t.c[j] ^ (k - 1) end), 1e-15)
        end
        for k = 1, scheme == "lobatto" and s - 1 or s do
          for i = 1, s do
            assert.near(t.c[i] ^ k / k, sum(s, function(j) return t.A[i][j] * t.c[j] ^ (k - 1) end), 1e-15)
          end
        end
        -- D(k): sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k) / k, up to s, s - 1 (Radau and Lobatto)
        for k = 1, scheme == "gauss" and s or s - 1 do
          for j = 1, s do
            assert.near(t.b[j] * (1 - t.c[j] ^ k) / k, sum(s, function(i) return t.b[i] * t.c[i] ^ (k - 1) * t.A[i][j] end), 1e-15)
          end
        end
      end
    end)

    it("of " .. scheme .. " have W = A^-1 and d = b' A^-1", function()
      for s = least[scheme], 4 do
        local t = tableau(scheme, s)
        for i = 1, s do
          for j = 1, s do
            assert.near(i == j and 1 or 0, sum(s, function(k) return t.A[i][k] * t.W[k][j] end), 2e-15)
          end
          assert.near(t.d[i], sum(s, function(k) return t.b[k] * t.W[k][i] end), 4e-15)
          assert.is_true(i == 1 or t.c[i] > t.c[i - 1])
        end
        assert.equal(scheme ~= "gauss", t.stiff)
        assert.equal(scheme == "lobatto", t.early)
        if t.stiff then assert.same({ 1, 1 }, { t.c[s], t.d[s] }) end
        if t.early then assert.equal(0, t.c[1]) end
      end
    end)
  end

  it("exist for 1 to 4 stages, of Lobatto's for 2 to 4", function()
    assert.is_nil(tableau("lobatto", 1))
    assert.is_nil(tableau("gauss", 0))
    assert.is_nil(tableau("radau_iia", 5))
  end)

  it("interpolate polynomials exactly", function()
    local nodes = { 0, 0.3, 0.7, 1 }
    local weights = internal.tableau_weights(nodes, 1.25)
    for k = 0, 3 do
      assert.near(1.25 ^ k, sum(4, function(j) return weights[j] * (k == 0 and 1 or nodes[j] ^ k) end), 1e-14)
    end
  end)
end)
