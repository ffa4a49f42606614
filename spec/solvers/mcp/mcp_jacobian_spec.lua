local ns = require "nslua"
local internal = require "nslua.internal"

local function random(n, density)
  local J = ns.matrix(n, n)
  for i = 1, n do
    for j = 1, n do
      if math.random() < density then J[i][j] = math.random() * 2 - 1 end
    end
  end
  return J
end

local function vector(n, f)
  local v = ns.vector(n)
  for i = 1, n do v[i] = f(i) end
  return v
end

local function signed() return math.random() * 2 - 1 end

describe("a Jacobian, dense and sparse", function()
  it("gives products, sizes and the largest entries of rows", function()
    math.randomseed(5)
    for n = 1, 8 do
      local J, x = random(n, 0.5), vector(n, signed)
      for _, sparse in ipairs { false, true } do
        local r = internal.mcp_jacobian { J = J, x = x, sparse = sparse }
        for i = 1, n do
          local y, size, largest, t = 0, 0, 0, 0
          for j = 1, n do
            y, size = y + J[i][j] * x[j], size + math.abs(J[i][j] * x[j])
            largest, t = math.max(largest, math.abs(J[i][j])), t + J[j][i] * x[j]
          end
          assert.near(y, r.y[i], 1e-14)
          assert.near(size, r.size[i], 1e-14)
          assert.equal(largest, r.largest[i])
          assert.near(t, r.transposed[i], 1e-14)
        end
        assert.is_true(r.finite)
      end
    end
  end)

  it("solves diag(a) + diag(b) J", function()
    math.randomseed(6)
    for _, n in ipairs { 1, 2, 5, 20 } do
      local J = random(n, 0.4)
      local a, b, rhs = vector(n, function() return 2 + math.random() end), vector(n, math.random), vector(n, signed)
      for _, sparse in ipairs { false, true } do
        local r = internal.mcp_jacobian { J = J, a = a, b = b, rhs = rhs, sparse = sparse }
        local x = r.solution
        if r.status == "NS_OK" then
          local left = a:mul(x) + b:mul(J * x)
          for i = 1, n do assert.near(rhs[i], left[i], 1e-10) end
        end
      end
    end
  end)

  it("follows values on one pattern and takes another pattern", function()
    math.randomseed(7)
    local n = 6
    for _ = 1, 10 do
      local J, next = random(n, 0.4), random(n, 0.4)
      local rhs, a = vector(n, signed), vector(n, function() return 5 end)
      local alone = internal.mcp_jacobian { J = J, a = a, rhs = rhs, sparse = true }
      for _, before in ipairs { next, 3 * J } do
        local r = internal.mcp_jacobian { J = J, a = a, rhs = rhs, sparse = true, next = before }
        for i = 1, n do assert.near(alone.solution[i], r.solution[i], 1e-12) end
      end
    end
  end)

  it("tells what is singular, of another size, or not finite", function()
    for _, sparse in ipairs { false, true } do
      local r = internal.mcp_jacobian { J = { { 1, 2 }, { 2, 4 } }, a = { 0, 0 }, sparse = sparse }
      assert.equal("NS_ESINGULAR", r.status)
    end
    assert.error_matches(function()
      internal.mcp_jacobian { J = { { 1 } }, next = { { 1, 0 }, { 0, 1 } }, sparse = true }
    end, "NS_ESIZE")
    assert.is_false(internal.mcp_jacobian { J = { { 1, 0 / 0 }, { 0, 1 } } }.finite)
  end)
end)
