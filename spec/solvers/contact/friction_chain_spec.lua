local random_friction = dofile "spec/random_friction.lua"
local ns = require "nslua"

local function solve(p, more)
  local options = { W = p.W, q = p.q, mu = p.mu }
  for key, value in pairs(more or {}) do options[key] = value end
  return ns.numerics[p.dim == 2 and "fc2d" or "fc3d"](options)
end

describe("the chain for connected contacts", function()
  it("gives answers within the tolerance that is asked for, each contact by its own terms", function()
    math.randomseed(57)
    for _, tolerance in ipairs { 1e-4, 1e-8, 1e-12 } do
      for _, dim in ipairs { 2, 3 } do
        for _ = 1, 10 do
          local p = random_friction.problem("full_rank", dim, 4)
          local a = solve(p, { tolerance = tolerance })
          assert.is_true(a.success)
          assert.is_true(a.scaled <= tolerance)
          assert.is_true(random_friction.residual(p, a.r) <= 1.01 * tolerance)
        end
      end
    end
  end)

  -- The second contact carries 1e-9 of what the first does.
  it("does not take a light contact for one that is right because another is heavy", function()
    local e = 1e-9
    for _, solver in ipairs { "default", "nsgs", "newton", "lcp" } do
      local p = { dim = 2, W = { { 1, 0, 1e-20, 0 }, { 0, 1, 0, 0 }, { 1e-20, 0, 1, 0 }, { 0, 0, 0, 1 } },
                  q = { -1, 0.1, -e, e / 10 }, mu = { 0.5, 0.5 } }
      local a = solve(p, { solver = solver, r0 = { 1, -0.1, 0, 0 } })
      assert.is_true(a.success, solver)
      assert.near(e, a.r[3], 1e-5 * e, solver)
      assert.near(-e / 10, a.r[4], 1e-5 * e, solver)
    end
  end)

  -- Contacts with a huge mu stick or are open; the rounding of a velocity times mu is not an error.
  it("takes coefficients of friction so large that nothing slips", function()
    for _, mu in ipairs { 1e6, 1e9, 1e12 } do
      math.randomseed(59)
      for _ = 1, 20 do
        local p = random_friction.problem("full_rank", 3, 4)
        local r, groups = {}, {}
        for i = 1, p.nc do
          local sticks = math.random() < 0.6
          p.mu[i] = math.random() < 0.7 and mu or p.mu[i]
          groups[i] = { dim = 3, mu = p.mu[i] }
          r[3 * i - 2] = sticks and math.random() or 0
          for t = 1, 2 do r[3 * i - 2 + t] = sticks and 0.5 * math.min(p.mu[i], 3) * r[3 * i - 2] * (2 * math.random() - 1) or 0 end
        end
        p.q = -(ns.matrix(p.W) * ns.vector(r))
        for i = 1, p.nc do
          if r[3 * i - 2] == 0 then p.q[3 * i - 2] = p.q[3 * i - 2] + math.random() end
        end
        for _, a in ipairs { solve(p), ns.numerics.generic_mechanical { W = p.W, q = p.q, groups = groups } } do
          assert.equal("ok", a.status)
          local w = ns.matrix(p.W) * a.z + p.q
          for i = 1, p.nc do
            local k = 3 * i - 2
            assert.is_true(math.min(math.abs(a.z[k]), math.abs(w[k])) < 1e-8 and a.z[k] > -1e-12 and w[k] > -1e-8)
            assert.is_true(a.z[k] < 1e-8 or p.mu[i] < mu or math.max(math.abs(w[k + 1]), math.abs(w[k + 2])) < 1e-8)
          end
        end
      end
    end
  end)

  it("says when it ends at a limit", function()
    math.randomseed(58)
    local a = solve(random_friction.problem("tower", 3, 6), { solver = "nsgs", max_iterations = 1, tolerance = 1e-14 })
    assert.is_false(a.success)
    assert.equal("iteration limit", a.status)
    assert.equal(1, a.iterations)
  end)
end)
