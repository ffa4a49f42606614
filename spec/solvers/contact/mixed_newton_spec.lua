-- Newton on the maps of rows and contacts, alone.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"

describe("newton for rows and contacts", function()
  parts.check_shares(it, "newton", "joints_plane joints_space motors_plane motors_space stops_space both all",
    { regular = 1, redundant = 0.8, saddle = 0.8 })

  it("needs a step when the modes are those of the guess", function()
    math.randomseed(52)
    for _ = 1, 10 do
      local p = parts.random_mixed.problem("joints_plane", "regular", 8)
      p.guess = internal.mixed_part(p, "newton").z
      for i = 1, p.n do p.q[i] = p.q[i] * (1 + 1e-9 * math.sin(i)) end
      local a = internal.mixed_part(p, "newton")
      assert.is_true(a.measure <= 1e-13)
      assert.is_true(a.iterations <= 2)
    end
  end)

  it("stops where it is told to, at the best point", function()
    math.randomseed(53)
    local p = parts.random_mixed.problem("both", "redundant", 12)
    p.max_iterations = 1
    local a = internal.mixed_part(p, "newton")
    assert.equal("NS_EMAXITER", a.status)
    assert.is_true(a.measure > 1e-10 and a.measure < math.huge)
  end)
end)
