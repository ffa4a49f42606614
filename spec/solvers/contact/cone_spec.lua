-- The cones of contacts, and how each solves one contact; met through problems of one contact.
local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"

local function one3(W, q, mu)
  return ns.numerics.fc3d{ W = W, q = q, mu = mu, solver = "nsgs", max_iterations = 3 }
end

describe("one contact in space", function()
  local W = { { 2, 0.3, -0.1 }, { 0.3, 1, 0.2 }, { -0.1, 0.2, 1.5 } }

  it("opens, sticks and slides", function()
    local open = one3(W, { 0.1, 1, 1 }, 0.5)
    assert.same({ 0, 0, 0 }, open.r:totable())
    local stick = one3(W, { -1, 0.01, 0 }, 0.5)
    for k = 1, 3 do assert.near(0, stick.u[k], 1e-15) end
    local slide = one3(W, { -1, 1, -2 }, 0.5)
    assert.near(0, slide.u[1], 1e-15)
    local r, u = slide.r, slide.u
    local force, slip = math.sqrt(r[2] ^ 2 + r[3] ^ 2), math.sqrt(u[2] ^ 2 + u[3] ^ 2)
    assert.near(0.5 * r[1], force, 1e-15)
    assert.near(-1, (r[2] * u[2] + r[3] * u[3]) / (force * slip), 1e-14)
  end)

  it("is exact in one visit, for random full blocks", function()
    math.randomseed(9)
    for _ = 1, 400 do
      local p = random_friction.problem("full_rank", 3, 1)
      local a = one3(p.W, p.q, p.mu)
      assert.is_true(a.success)
      assert.is_true(random_friction.residual(p, a.r) <= 1e-13)
      assert.is_true(a.iterations <= 2)
    end
  end)

  it("slides without friction", function()
    local a = one3(W, { -1, 1, 1 }, 0)
    assert.near(0.5, a.r[1], 1e-16)
    assert.equal(0, a.r[2])
    assert.equal(0, a.r[3])
  end)

  it("finds a sliding force for a block that is not symmetric", function()
    math.randomseed(10)
    local solved = 0
    for _ = 1, 200 do
      local p = random_friction.problem("skewed", 3, 1)
      local a = one3(p.W, p.q, p.mu)
      if a.success then
        solved = solved + 1
        assert.is_true(random_friction.residual(p, a.r) <= 1e-12)
      end
    end
    assert.is_true(solved >= 198, solved)
  end)
end)

describe("one contact in the plane", function()
  it("meets the sliding rod of Painleve", function()
    local W = { { 1, 0.9 }, { 0.9, 1 } } -- W_nn - mu W_nt < 0 for mu = 2
    for _, q in ipairs{ { -1, 1 }, { -1, -1 }, { 1, 1 }, { 1, -1 }, { -1, 0 } } do
      local p = { dim = 2, nc = 1, W = W, q = q, mu = 2 }
      local a = ns.numerics.fc2d{ W = W, q = q, mu = 2 }
      assert.is_true(a.success)
      assert.is_true(random_friction.residual(p, a.r) <= 1e-14)
    end
  end)

  it("stays on the edge of the cone at the limit of sticking", function()
    local a = ns.numerics.fc2d{ W = { { 1, 0 }, { 0, 1 } }, q = { -1, 0.5 }, mu = 0.5 }
    assert.near(1, a.r[1], 1e-15)
    assert.near(-0.5, a.r[2], 1e-15)
    assert.near(0, a.u[2], 1e-15)
  end)
end)
