-- Gauss-Seidel sweeps alone.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"
local random_heap = require "random_heap"

describe("sweeps for rows and contacts", function()
  parts.check_shares(it, "sweeps", "joints_plane joints_space motors_plane motors_space stops_space both all",
    { regular = 1, redundant = 0.5 })

  it("goes on from the guess, and takes a sparse matrix", function()
    math.randomseed(54)
    local p = parts.random_mixed.problem("all", "regular", 9)
    local a = internal.mixed_part(p, "sweeps")
    p.sparse = true
    local b = internal.mixed_part(p, "sweeps")
    for i = 1, p.n do assert.near(a.z[i], b.z[i], 1e-8) end
    p.guess = a.z
    assert.is_true(internal.mixed_part(p, "sweeps").iterations <= 10)
  end)

  it("does not divide by a diagonal that is zero or negative", function()
    local W = { { 0, 1, 0, 0 }, { 1, -1, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
    local a = internal.mixed_part({ W = W, q = { 1, 1, 1, 0 }, max_iterations = 50, groups = {
      { lower = 0 }, { lower = -1, upper = 1 }, { dim = 2, mu = 1 } } }, "sweeps")
    for i = 1, 4 do assert.is_true(math.abs(a.z[i]) < math.huge) end
  end)
end)

describe("conjugate sweeps", function()
  for _, kind in ipairs { "joints_plane", "joints_space", "motors_plane", "stops_space", "all" } do
    it(("solve %s"):format(kind), function() parts.check_share("conjugate", kind, "regular", 0.75) end)
  end

  -- Information goes one contact further in a sweep: plain ones need many in a heap that is high.
  it("need half as many as plain ones in heaps, and end in the cones", function()
    math.randomseed(55)
    local plain, fewer = 0, 0
    for k = 1, 3 do
      local p = random_heap.problem(6, 24, 0.2 + 0.1 * k)
      p.sparse, p.tolerance, p.max_iterations = true, 1e-5, 20000
      local a, b = internal.mixed_part(p, "sweeps"), internal.mixed_part(p, "conjugate")
      assert.equal("NS_OK", a.status)
      assert.equal("NS_OK", b.status)
      assert.is_true(b.measure <= 1e-5)
      assert.is_true(random_heap.breach(p, b.z) <= 1e-2) -- 1e-5 of forces up to 24
      plain, fewer = plain + a.iterations, fewer + b.iterations
      for c, group in ipairs(p.groups) do
        local n, t = b.z[2 * c - 1], b.z[2 * c]
        assert.is_true(n >= 0 and math.abs(t) <= group.mu * n * (1 + 1e-14))
      end
    end
    assert.is_true(fewer < 0.5 * plain, fewer .. " of " .. plain)
  end)

  it("want a tenth of the tolerance before `least` sweeps", function()
    math.randomseed(56)
    local p = random_heap.problem(8, 8, 0.4)
    p.sparse, p.tolerance = true, 1e-3
    local soon = internal.mixed_part(p, "conjugate")
    p.least = 1000
    local late = internal.mixed_part(p, "conjugate")
    assert.equal("NS_OK", soon.status)
    assert.equal("NS_OK", late.status)
    assert.is_true(soon.measure <= 1e-3)
    assert.is_true(late.measure <= 1e-4)
    assert.is_true(soon.iterations < late.iterations)
  end)

  it("say that they did not get there", function()
    math.randomseed(57)
    local p = random_heap.problem(8, 8, 0.4)
    p.sparse, p.max_iterations = true, 10
    local a = internal.mixed_part(p, "conjugate")
    assert.equal("NS_EMAXITER", a.status)
    assert.is_true(a.measure > 1e-10)
  end)
end)
