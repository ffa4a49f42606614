local ns = require "nslua"
local mcp = ns.numerics.mcp
local inf = math.huge

describe("numerics.mcp", function()
  local function fails(text, o) assert.error_matches(function() mcp(o) end, text, 1, true) end

  it("takes F that fills, returns a table, a vector or a number", function()
    local forms = {
      function(z, f) f[1] = z[1] - 2 end,
      function(z) return { z[1] - 2 } end,
      function(z) return z - ns.vector { 2 } end,
      function(z) return z[1] - 2 end,
    }
    for _, F in ipairs(forms) do assert.equal(2, mcp { F = F, z0 = { 0 } }.z[1]) end
  end)

  it("takes J that fills, returns a table, a matrix or a sparse matrix", function()
    local function F(z) return { z[1]^2 - 4, z[2] - z[1] } end
    local forms = {
      function(z, J) J[1][1] = 2 * z[1] J[2][1] = -1 J[2][2] = 1 end,
      function(z) return { { 2 * z[1], 0 }, { -1, 1 } } end,
      function(z) return ns.matrix { { 2 * z[1], 0 }, { -1, 1 } } end,
      function(z) return ns.sparse { { 2 * z[1], 0 }, { -1, 1 } } end,
    }
    for k, J in ipairs(forms) do
      local r = mcp { F = F, J = J, z0 = { 1, 1 } }
      assert.is_true(r.success)
      assert.near(2, r.z[2], 1e-12)
      assert.equal(k == 4 and "semismooth" or "josephy-newton", r.solver)
    end
  end)

  it("takes either method with a dense and with a sparse J", function()
    for _, solver in ipairs { "default", "josephy-newton", "semismooth" } do
      for _, dense in ipairs { true, false } do
        local r = mcp { F = function(z) return { z[1]^2 + z[2] - 3, z[2] - 2 * z[1] } end, z0 = { 0.5, 0 }, solver = solver,
          J = function(z) return (dense and ns.matrix or ns.sparse) { { 2 * z[1], 1 }, { -2, 1 } } end }
        assert.is_true(r.success)
        assert.near(1, r.z[1], 1e-12)
        assert.equal(solver ~= "default" and solver or dense and "josephy-newton" or "semismooth", r.solver)
      end
    end
  end)

  it("fills the result, on failure too", function()
    for _, z0 in ipairs { 1, 3 } do
      local r = mcp { F = function(z) return { z[1]^2 + (z0 == 1 and 1 or -1) } end, z0 = { z0 }, lower = -inf }
      assert.equal(z0 == 3, r.success)
      for _, key in ipairs { "residual", "scale", "relative", "backward", "iterations", "evaluations", "jacobians",
        "pivots",
                             "restarts", "time" } do
        assert.is_number(r[key], key)
      end
      assert.equal(1, #r.z)
      assert.equal(1, #r.w)
      assert.is_string(r.message)
    end
  end)

  it("takes the number of variables from a bound", function()
    assert.equal(3, #mcp { F = function(z) return z + ns.vector { 1, 1, 1 } end, lower = { 0, 0, 0 } }.z)
  end)

  it("rethrows an error of F or J as it was, early and late", function()
    local thrown = {}
    local calls = 0
    local ok, e = pcall(mcp, { F = function() error(thrown) end, z0 = { 1 } })
    assert.is_false(ok)
    assert.equal(thrown, e)
    ok, e = pcall(mcp, { F = function(z)
      calls = calls + 1
      if calls > 3 then error(thrown) end
      return { z[1]^3 - 2 }
    end, z0 = { 100 } })
    assert.is_false(ok)
    assert.equal(thrown, e)
    ok, e = pcall(mcp, { F = function(z) return { z[1] - 1 } end, J = function() error(thrown) end, z0 = { 3 } })
    assert.is_false(ok)
    assert.equal(thrown, e)
    ok, e = pcall(mcp, { F = function(z) return { z[1] - 1 } end, J = function() error("here", 0) end, z0 = { 3 } })
    assert.is_false(ok)
    assert.equal("here", e)
  end)

  it("names an entry of F that is not finite at the start", function()
    fails("mcp: F[2] is nan at the start", { F = function(z) return { z[1], 0 / 0 } end, z0 = { 1, 1 } })
    fails("mcp: F[1] is inf at the start", { F = function() return { inf } end, z0 = { 1 } })
    fails("mcp: J is not finite at the start", { F = function(z) return { z[1] - 3 } end,
      J = function() return { { inf } } end, z0 = { 1 } })
  end)

  it("can be called within a callback", function()
    local r = mcp { F = function(z)
      local inner = mcp { F = function(y) return { y[1] - 3 } end, z0 = { 0 } }
      return { z[1] - inner.z[1] }
    end, J = function() return { { 1 } } end, z0 = { 0 } }
    assert.equal(3, r.z[1])
  end)

  it("obeys the limits of time and iterations", function()
    local r = mcp { F = function(z) return { math.exp(-z[1]) } end, z0 = { 0 }, lower = -inf, max_time = 1e-9 }
    assert.equal("iteration limit", r.status)
    r = mcp { F = function(z) return { z[1]^2 + 1 } end, z0 = { 3 }, lower = -inf, restarts = 0 }
    assert.equal(0, r.restarts)
    assert.is_false(r.success)
  end)

  it("names bad data", function()
    local function F(z) return z end
    fails("mcp: options: expected one table, got nil", nil)
    fails("mcp: unknown option 'f' (known: F, J, lower, upper, z0, tolerance, max_iterations, max_time, " ..
      "restarts, solver)", { f = F })
    fails("mcp: F: expected a function, got nil", { z0 = { 1 } })
    fails("mcp: J: expected a function, got an empty table", { F = F, J = {}, z0 = { 1 } })
    fails("mcp: z0: expected a vector (or lower or upper as a vector, which tells the number of variables)",
      { F = F })
    fails("mcp: F returned nothing: return the values, or fill the last argument", { F = function() end, z0 = { 1 } })
    fails("mcp: J returned nothing: return the matrix, or fill the last argument", { F = F, J = function() end, z0 = { 1 } })
    fails("mcp: z0: the problem is empty", { F = F, z0 = {} })
    fails("mcp: z0[2] is nan", { F = F, z0 = { 1, 0 / 0 } })
    fails("mcp: lower: expected a vector of 2, got", { F = F, z0 = { 1, 1 }, lower = { 1 } })
    fails("mcp: lower[2] = 1 is above upper[2] = 0", { F = F, z0 = { 1, 1 }, lower = { 0, 1 }, upper = 0 })
    fails("mcp: lower[1] is nan", { F = F, z0 = { 1 }, lower = 0 / 0 })
    fails("mcp: tolerance: expected a number between 0 and 1, got 2", { F = F, z0 = { 1 }, tolerance = 2 })
    fails("mcp: max_iterations: expected an integer of 1 or more, got 0", { F = F, z0 = { 1 }, max_iterations = 0 })
    fails("mcp: unknown solver 'path' (known: default, josephy-newton, semismooth)", { F = F, z0 = { 1 },
      solver = "path" })
    fails("mcp: F: expected a vector of 2, got", { F = function() return { 1 } end, z0 = { 1, 1 } })
    fails("mcp: J: expected a 2 x 2 sparse matrix, got 1 x 1", { F = F, J = function() return ns.speye(1) end,
      z0 = { 1, 1 } })
    local calls = 0
    fails("mcp: J: expected a sparse matrix as at the start, got", { F = function(z) return { z[1]^3 - 2 } end,
      z0 = { 5 },
      J = function(z)
        calls = calls + 1
        return calls > 2 and { { 3 * z[1]^2 } } or ns.sparse { { 3 * z[1]^2 } }
      end })
  end)
end)
