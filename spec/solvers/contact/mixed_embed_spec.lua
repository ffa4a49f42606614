-- Rows as contacts, equations eliminated, and the friction solvers alone.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"

describe("embed for rows and contacts", function()
  parts.check_shares(it, "embed", "joints_plane joints_space motors_plane motors_space stops_plane stops_space both all",
    { regular = 1, redundant = 0.8, saddle = 0.8 })

  it("puts a row exactly at its bounds", function()
    local W = { { 1, 0, 0, 0, 0, 0 }, { 0, 1, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 2, 0, 0 },
                { 0, 0, 0, 0, 2, 0 }, { 0, 0, 0, 0, 0, 2 } }
    local a = internal.mixed_part({ W = W, q = { -9, 9, 3, -1, 0, 0 }, groups = {
      { lower = -0.1, upper = 0.7 }, { lower = -0.1, upper = 0.7 }, { upper = 0.3 }, { dim = 3, mu = 0.5 } } }, "embed")
    assert.equal("NS_OK", a.status)
    for i, x in ipairs{ 0.7, -0.1, -3, 0.5, 0, 0 } do assert.near(x, a.z[i], i < 3 and 0 or 1e-15) end
  end)

  it("leaves the unknown of an equation that says nothing new at the guess", function()
    local W = { { 1, 1, 0, 0 }, { 1, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } }
    local p = { W = W, q = { -2, -2, -1, 0 }, groups = { {}, {}, { dim = 2, mu = 1 } }, guess = { 9, 0.25, 0, 0 } }
    local a = internal.mixed_part(p, "embed")
    assert.equal("NS_OK", a.status)
    assert.is_false(a.exact)
    assert.near(0.25, a.z[2], 1e-15)
    assert.near(1.75, a.z[1], 1e-15)
    p.q[2] = -3
    a = internal.mixed_part(p, "embed")
    assert.is_false(a.exact)
    assert.is_true(a.measure > 1e-3)
  end)

  it("eliminates equations without a diagonal", function()
    local W = { { 0, 3, 0, 0 }, { -2, 0, 1, 0 }, { 0, 1, 1, 0 }, { 0, 0, 0, 1 } }
    local a = internal.mixed_part({ W = W, q = { -3, 2, -2, 0.1 }, groups = { {}, {}, { dim = 2, mu = 1 } } }, "embed")
    assert.is_true(a.exact)
    for i, x in ipairs{ 1.5, 1, 1, -0.1 } do assert.near(x, a.z[i], 1e-15) end
  end)

  it("does not take the equations of a sparse matrix", function()
    local W = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
    local p = { W = W, q = { -1, -1, 0 }, groups = { {}, { dim = 2, mu = 1 } }, sparse = true }
    assert.equal("NS_ESIZE", internal.mixed_part(p, "embed").status)
    p.groups[1].lower = 0
    assert.equal("NS_OK", internal.mixed_part(p, "embed").status)
  end)
end)
