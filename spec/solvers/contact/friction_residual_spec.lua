-- The measures of an answer: what is reported is what the definitions say.
local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"

local function plain2(p, r, u)
  local sum = 0
  for i = 1, p.nc do
    local n = math.max(0, r[2 * i - 1] - u[2 * i - 1])
    local t = math.max(-p.mu[i] * n, math.min(p.mu[i] * n, r[2 * i] - u[2 * i]))
    sum = sum + (r[2 * i - 1] - n) ^ 2 + (r[2 * i] - t) ^ 2
  end
  return math.sqrt(sum)
end

describe("friction residuals", function()
  it("are those of the definition, also for a candidate that is none", function()
    math.randomseed(12)
    for _ = 1, 20 do
      local p = random_friction.problem("tower", 2, 6)
      local a = ns.numerics.fc2d{ W = p.W, q = p.q, mu = p.mu, solver = "nsgs", max_iterations = 1 }
      assert.near(plain2(p, a.r, a.u), a.residual, 1e-15 * a.scale)
      assert.near(a.residual / a.scale, a.relative, 1e-15)
    end
  end)

  it("measure three dimensions contact by contact", function()
    math.randomseed(13)
    for _ = 1, 20 do
      local p = random_friction.problem("tower", 3, 5)
      local a = ns.numerics.fc3d{ W = p.W, q = p.q, mu = p.mu, solver = "nsgs", max_iterations = 1 }
      assert.near(random_friction.residual(p, a.r), a.scaled, 1e-12)
    end
  end)

  it("scale with units: the scaled one does not change", function()
    math.randomseed(14)
    local p = random_friction.problem("tower", 3, 5)
    local function after_one(factor)
      local W = {}
      for i, row in ipairs(p.W) do
        W[i] = {}
        for j, x in ipairs(row) do W[i][j] = factor * x end
      end
      return ns.numerics.fc3d{ W = W, q = p.q, mu = p.mu, solver = "nsgs", max_iterations = 1 }.scaled
    end
    local one = after_one(1)
    assert.is_true(one > 1e-6)
    assert.near(one, after_one(2 ^ 40), 1e-12)
    assert.near(one, after_one(2 ^ -40), 1e-12)
  end)

  it("take an open contact without friction and without slip for what it is", function()
    for dim, call in pairs{ [2] = "fc2d", [3] = "fc3d" } do
      local q = { 1 }
      for k = 2, dim do q[k] = 0 end
      local a = ns.numerics[call]{ W = ns.eye(dim), q = q, mu = 0 }
      assert.is_true(a.success)
      assert.equal(0, a.residual)
      assert.equal(0, a.scaled)
      for k = 1, dim do assert.equal(0, a.r[k]) end
    end
  end)
end)
