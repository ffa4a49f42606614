-- The residual as the engine's callback: both forms, errors, exact Jacobians, Ctrl-C aside.
local ns = require "nslua"

describe("a residual", function()
  it("fills its output or returns values", function()
    local ways = {
      function(t, y, yd, r) r[1] = yd[1] + y[1] end,
      function(t, y, yd) return { yd[1] + y[1] } end,
      setmetatable({}, { __call = function(_, t, y, yd, r) r[1] = yd[1] + y[1] end }),
    }
    for _, residual in ipairs(ways) do
      local solution = ns.dae("radau", residual, { rtol = 1e-8 }):solve({ 0, 1 }, { 1 }, { -1 })
      assert.near(math.exp(-1), solution.values.y[2][1], 1e-7)
      assert.near(-math.exp(-1), solution.values.ydot[2][1], 1e-6)
    end
  end)

  it("may use the math library, also captured", function()
    local cos = math.cos
    local solution = ns.dae("radau", function(t, y, yd, r) r[1] = yd[1] - cos(y[1]) * math.exp(-y[1] ^ 2) end)
      :solve({ 0, 1 }, { 0 }, { 1 })
    assert.equal(0, solution.flag)
  end)

  it("raises what it raises, and leaves the solver usable", function()
    local angry = false
    local dae = ns.dae("radau", function(t, y, yd, r)
      if angry and t > 0.3 then error "too much" end
      r[1] = yd[1] + y[1]
    end)
    angry = true
    local ok, message = pcall(dae.solve, dae, { 0, 1 }, { 1 }, { -1 })
    assert.is_false(ok)
    assert.truthy(message:find("too much", 1, true), message)
    angry = false
    assert.equal(0, dae:solve({ 0, 1 }, { 1 }, { -1 }).flag)
  end)

  it("is told when it gives another number of values", function()
    local dae = ns.dae("radau", function() return { 1, 2 } end)
    local ok, message = pcall(dae.solve, dae, { 0, 1 }, { 1 }, { -1 })
    assert.is_false(ok)
    assert.truthy(message:find("dae: residual: expected", 1, true), message)
  end)

  it("gets vectors that it can not write", function()
    local dae = ns.dae("radau", function(t, y, yd, r) y[1] = 0 end)
    local ok, message = pcall(dae.solve, dae, { 0, 1 }, { 1 }, { -1 })
    assert.is_false(ok)
    assert.truthy(message:find("y is read-only", 1, true), message)
  end)
end)
