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

  it("says when it ends at a limit", function()
    math.randomseed(58)
    local a = solve(random_friction.problem("tower", 3, 6), { solver = "nsgs", max_iterations = 1, tolerance = 1e-14 })
    assert.is_false(a.success)
    assert.equal("iteration limit", a.status)
    assert.equal(1, a.iterations)
  end)
end)
