-- How well a candidate solves a problem of rows and contacts.
require "nslua"
local internal = require "nslua.internal"
local random_mixed = require "random_mixed"
local inf = math.huge

local function measure(p) return internal.mixed_part(p, "measure") end

describe("the measure of rows and contacts", function()
  it("is that of the worst row: its violation over |W| |z| + |q|", function()
    local W = { { 2, 1, 0, 0 }, { 1, 2, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } }
    local p = { W = W, q = { -1, 1, -1, 0 }, groups = { {}, { lower = 0 }, { dim = 2, mu = 0.5 } } }
    p.guess = { 0.5, 0, 1, 0 }
    assert.equal(0, measure(p).measure)
    p.guess = { 0.6, 0, 1, 0 }
    assert.near(0.2 / 2.2, measure(p).measure, 1e-15)
    p.guess = { 0.5, -0.1, 1, 0 }
    assert.equal(inf, measure(p).measure)
    p.guess = { 0.5, 0, 0 / 0, 0 }
    assert.equal(inf, measure(p).measure)
  end)

  it("is that of the worst contact over what q and the rows explain", function()
    local W = { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 2 } }
    local p = { W = W, q = { 0, -2, 0 }, groups = { {}, { dim = 2, mu = 0.5 } }, guess = { 0, 0.9, 0 } }
    assert.near(0.1, measure(p).measure, 1e-15)
    p.guess = { 0, 1, 0.2 }
    assert.near(0.2, measure(p).measure, 1e-15)
  end)

  it("does not take a large force for a small error", function()
    local W = { { 1, 1, 0, 0 }, { 1, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } }
    local p = { W = W, q = { -1, -2, -1, 0 }, groups = { {}, {}, { dim = 2, mu = 1 } }, guess = { 1e14, -1e14, 1, 0 } }
    assert.is_true(measure(p).measure > 1e-6)
  end)

  it("has steps in the units of each group", function()
    local W = { { 4, 1, 0, 0 }, { 1, 0, 8, 0 }, { 0, 1, 2, 3 }, { 0, 0, 3, 1 } }
    local a = measure{ W = W, q = { 1, 1, 1, 1 }, groups = { {}, {}, { dim = 2, mu = 1 } } }
    assert.near(1 / 4, a.rho[1], 1e-16)
    assert.near(1 / 8, a.rho[2], 1e-16)
    assert.near(1 / 5, a.rho[3], 1e-16)
  end)

  it("is small where an independent judge sees a solution, and not where there is none", function()
    math.randomseed(41)
    for _ = 1, 20 do
      local p = random_mixed.problem("all", "regular", 9)
      p.guess = internal.mixed{ p }[1].z
      assert.is_true(measure(p).measure <= 1e-10)
      local i = math.random(p.n)
      p.guess[i] = p.guess[i] + 0.1
      assert.is_true(measure(p).measure > 1e-4)
      assert.is_true(measure(p).residual > 1e-4)
    end
  end)

  it("is the largest error of a row or contact, each of which depends on its own forces and velocities", function()
    math.randomseed(43)
    for _ = 1, 10 do
      local p = random_mixed.problem("all", "regular", 9)
      p.guess = internal.mixed{ p }[1].z
      local i, bad = math.random(p.n), 0
      p.guess[i] = p.guess[i] + 0.1
      local a, worst = measure(p), 0
      assert.equal(#p.groups, #a.errors)
      for g = 1, #p.groups do
        assert.is_true(a.errors[g] >= 0)
        worst = math.max(worst, a.errors[g])
        if a.errors[g] > 1e-9 then bad = bad + 1 end
      end
      assert.equal(worst, a.measure)
      assert.is_true(bad >= 1)
    end
    -- without coupling only the group that is moved has an error
    local p = { W = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 2, 0 }, { 0, 0, 0, 2 } }, q = { -1, -1, -2, 0 } }
    p.groups, p.guess = { {}, { lower = 0 }, { dim = 2, mu = 0.5 } }, { 1, 1, 0.9, 0 }
    local a = measure(p)
    assert.equal(0, a.errors[1])
    assert.equal(0, a.errors[2])
    assert.equal(a.measure, a.errors[3])
    assert.is_true(a.measure > 0)
  end)

  it("is the same for a sparse matrix", function()
    math.randomseed(42)
    local p = random_mixed.problem("all", "regular", 9)
    p.guess = {}
    for i = 1, p.n do p.guess[i] = math.sin(i) end
    for _, group in ipairs(p.groups) do group.lower, group.upper = nil, nil end
    local a = measure(p)
    p.sparse = true
    local b = measure(p)
    assert.near(a.measure, b.measure, 1e-15)
    assert.near(a.residual, b.residual, 1e-14)
    assert.near(a.relative, b.relative, 1e-14)
  end)
end)
