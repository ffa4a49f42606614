-- Gauss-Seidel sweeps alone.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"

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
