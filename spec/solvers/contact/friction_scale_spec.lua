local random_friction = dofile "spec/random_friction.lua"
local ns = require "nslua"

-- Each contact's rows and columns times a power of two of its own.
local function in_other_lengths(p, exponent)
  local s = { dim = p.dim, nc = p.nc, mu = p.mu, W = {}, q = {}, h = {} }
  for i = 1, #p.q do
    if (i - 1) % p.dim == 0 then s.own = 2.0 ^ exponent((i - 1) // p.dim + 1) end
    s.h[i] = s.own
  end
  for i = 1, #p.q do
    s.q[i], s.W[i] = s.h[i] * p.q[i], {}
    for j = 1, #p.q do s.W[i][j] = s.h[i] * p.W[i][j] * s.h[j] end
  end
  return s
end

local function solve(p)
  return ns.numerics[p.dim == 2 and "fc2d" or "fc3d"] { W = p.W, q = p.q, mu = p.mu }
end

describe("contacts in units of their own", function()
  it("have the same answer to the bit, odd exponents as well as even ones", function()
    math.randomseed(59)
    for _ = 1, 20 do
      for _, dim in ipairs { 2, 3 } do
        local p = random_friction.problem("tower", dim, 4)
        local a = solve(p)
        for _, most in ipairs { 1, 9, 200 } do
          local s = in_other_lengths(p, function() return math.random(-most, most) end)
          local b = solve(s)
          assert.equal(a.status, b.status)
          for i = 1, #p.q do assert.equal(a.r[i], b.r[i] * s.h[i]) end
          for i = 1, #p.q do assert.equal(a.u[i], b.u[i] / s.h[i]) end
        end
      end
    end
  end)

  it("have them also where a block of their own is zero", function()
    -- the second contact's velocity is that of the first's force
    local p = { dim = 2, nc = 2, mu = { 0.5, 0.5 }, q = { -1, 0, -1, 0 },
                W = { { 2, 0, 1, 0 }, { 0, 2, 0, 1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } } }
    local a = solve(p)
    for _, e in ipairs { 7, -60 } do
      local s = in_other_lengths(p, function(i) return i * e end)
      local b = solve(s)
      assert.equal(a.status, b.status)
      if a.success then
        for i = 1, 4 do assert.equal(a.r[i], b.r[i] * s.h[i]) end
      end
    end
  end)

  it("are refused where a force is no number", function()
    local a = solve { dim = 2, W = { { 1e-200, 0 }, { 0, 1e-200 } }, q = { -1e200, 0 }, mu = { 0.5 } }
    assert.is_false(a.success)
    a = solve { dim = 2, W = { { 1e200, 0 }, { 0, 1e200 } }, q = { -1e-200, 0 }, mu = { 0.5 } }
    assert.is_false(a.success)
  end)
end)
