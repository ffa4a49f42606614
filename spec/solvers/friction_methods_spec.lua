local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"

local function solve(p, solver, more)
  local options = { W = p.W, q = p.q, mu = p.mu, solver = solver }
  for key, value in pairs(more or {}) do options[key] = value end
  return ns.numerics[p.dim == 2 and "fc2d" or "fc3d"](options)
end

-- Each method alone, on problems it is made for: the least share it has to solve.
local shares = {
  nsgs = { full_rank = 1, tower = 1, rank_deficient = 0.9, frictionless = 1, nearly_open = 1, badly_scaled = 1 },
  newton = { full_rank = 0.9, tower = 0.7, frictionless = 1, nearly_open = 0.9, badly_scaled = 0.9 },
  first_order = { full_rank = 0.9, tower = 0.9, rank_deficient = 0.9, frictionless = 1 },
  lcp = { full_rank = 1, tower = 1, frictionless = 1, huge_mu = 0.9, nearly_open = 1 },
}
local expected_name = { nsgs = "nsgs", newton = "newton", first_order = "first order", lcp = "lcp" }

for _, solver in ipairs{ "nsgs", "newton", "first_order", "lcp" } do
  describe("friction by " .. solver .. " alone", function()
    for dim = 2, solver == "lcp" and 2 or 3 do
      for _, kind in ipairs(random_friction.names) do
        local share = shares[solver][kind]
        if share then
          it(("solves %dD %s problems"):format(dim, kind), function()
            math.randomseed(23)
            local solved, count = 0, 12
            for _ = 1, count do
              local p = random_friction.problem(kind, dim, math.random(1, 5))
              local a = solve(p, solver)
              if a.success then
                solved = solved + 1
                assert.is_true(random_friction.residual(p, a.r) <= 1.01e-8)
                assert.is_true(a.solver == expected_name[solver] or a.iterations == 0)
              end
            end
            assert.is_true(solved >= share * count, solved .. " of " .. count)
          end)
        end
      end
    end
  end)
end

describe("Newton", function()
  it("reaches rounding in a few steps, whatever the units", function()
    math.randomseed(2)
    for _ = 1, 20 do
      local p = random_friction.problem("badly_scaled", 3, 4)
      local a = solve(p, "newton")
      if a.success then assert.is_true(a.scaled <= 1e-12 and a.iterations <= 40) end
    end
  end)

  it("solves forces that are not unique", function()
    math.randomseed(6)
    local solved = 0
    for _ = 1, 20 do
      local p = random_friction.problem("table_legs", 3, 6)
      local a = solve(p, "newton")
      if a.success then
        solved = solved + 1
        assert.is_true(random_friction.residual(p, a.r) <= 1e-8)
      end
    end
    assert.is_true(solved >= 15, solved)
  end)
end)

describe("Gauss-Seidel", function()
  it("stops at its limit", function()
    math.randomseed(3)
    local p = random_friction.problem("tower", 3, 12)
    local a = solve(p, "nsgs", { max_iterations = 2 })
    assert.is_false(a.success)
    assert.equal("iteration limit", a.status)
    assert.equal(2, a.iterations)
    local b = solve(p, "nsgs", { max_iterations = 150 })
    assert.equal(b.success and "ok" or "iteration limit", b.status)
    assert.is_true(b.residual < a.residual)
  end)
end)
