-- Consistent starts of index 2 and 3, by ns.dae with consistent = "solve".
local ns = require "nslua"

local function start(residual, y, o)
  o = o or {}
  o.consistent = "solve"
  local sol = ns.dae("radau", residual, o):solve({ 0, 0.1 }, y)
  return sol.values.y[1], sol.values.ydot[1]
end

local pendulum = require "pendulum"(3)

describe("a start of higher index", function()
  it("gets the multipliers and accelerations of a mechanism", function()
    local y, yd = start(pendulum, { 0.6, -0.8, 0.8, 0.6, 0 })
    assert.near(1 + 0.8 * 9.81, y[5], 1e-12)
    assert.near(-y[5] * 0.6, yd[3], 1e-12)
    assert.near(y[5] * 0.8 - 9.81, yd[4], 1e-12)
    assert.near(0.8, y[3], 1e-15)
  end)

  it("of a damped pendulum at the side and on the circle, at rest and moving", function()
    for _, c in ipairs { 0.1, 0.5, 3 } do
      for _, at in ipairs { { 1, 0, 0 }, { 1, 0, 0.7 }, { 0.6, -0.8, 1 }, { 0.8, 0.6, 2 } } do
        local x, z, w = at[1], at[2], at[3]
        local y, yd = start(function(t, u, ud, r)
          r[1], r[2], r[5] = ud[1] - u[3], ud[2] - u[4], u[1] ^ 2 + u[2] ^ 2 - 1
          r[3], r[4] = ud[3] + u[5] * u[1] + c * u[3], ud[4] + u[5] * u[2] + c * u[4] + 9.81
        end, { x, z, -z * w, x * w, 0 })
        assert.near(w ^ 2 - 9.81 * z, y[5], 1e-9)
        assert.near(-y[5] * z - c * x * w - 9.81, yd[4], 1e-9)
      end
    end
  end)

  it("of index 2, and with time in the constraint", function()
    -- x' = v + lambda, x = sin t: lambda = cos t - v.
    local y, yd = start(function(t, u, ud, r)
      r[1], r[2], r[3] = ud[1] - u[2] - u[3], ud[2] + u[2], u[1] - math.sin(t)
    end, { 0, 3, 0 })
    assert.near(-2, y[3], 1e-9)
    assert.near(1, yd[1], 1e-9)
    assert.near(-3, yd[2], 1e-12)
    -- x'' = lambda, x = sin t: index 3, lambda = -sin t.
    y = start(function(t, u, ud, r)
      r[1], r[2], r[3] = ud[1] - u[2], ud[2] - u[3], u[1] - math.sin(t + 0.5)
    end, { math.sin(0.5), math.cos(0.5), 0 })
    assert.near(-math.sin(0.5), y[3], 1e-6)
  end)

  it("does not depend on the units of unknowns, equations and time", function()
    local reference = start(pendulum, { 0.6, -0.8, 0.8, 0.6, 0 })
    for _, k in ipairs { -60, 60 } do
      local a, b, T = 2.0 ^ k, 2.0 ^ (k // 2), 2.0 ^ (k // 3) -- length, force and time
      local y = ns.dae("radau", function(_, y, yd, r)
        r[1], r[2] = b * (yd[1] - y[3]), yd[2] - y[4]
        r[3], r[4] = yd[3] + y[5] * y[1], a * (yd[4] + y[5] * y[2] + 9.81 * a / T ^ 2)
        r[5] = y[1] ^ 2 + y[2] ^ 2 - a ^ 2
      end, { consistent = "solve", atol = { 1e-12 * a, 1e-12 * a, 1e-12 * a / T, 1e-12 * a / T, 1e-12 / T ^ 2 },
        index = { 1, 1, 2, 2, 3 }, first_step = 1e-4 * T }):solve({ 0, 0.125 * T },
        { 0.6 * a, -0.8 * a, 0.8 * a / T, 0.6 * a / T, 0 }).values.y[1]
      assert.near(reference[5], y[5] * T ^ 2, 1e-10)
    end
  end)

  it("names the hidden equation that it breaks, and unknowns that nothing determines", function()
    local function refused(text, ...)
      local ok, message = pcall(start, ...)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    local change = " is not fulfilled: unknowns that have a derivative would have to change"
    refused("dae: the start: equation 5, differentiated once with respect to time," .. change, pendulum, { 0.6, -0.8, 0.8, 0.5, 0 })
    refused("dae: the start: equation 5" .. change, pendulum, { 0.6, -0.81, 0.81, 0.6, 0 })
    refused("dae: the start: the equations do not determine unknown 5", function(t, y, yd, r)
      pendulum(t, y, yd, r)
      r[3], r[4] = yd[3] + (y[5] + y[6]) * y[1], yd[4] + (y[5] + y[6]) * y[2] + 9.81
      r[6] = 0 * y[6]
    end, { 0.6, -0.8, 0.8, 0.6, 0, 0 }, { index = { 1, 1, 2, 2, 3, 3 } })
  end)
end)
