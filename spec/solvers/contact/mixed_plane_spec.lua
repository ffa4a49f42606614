-- Contacts in the plane with rows as a box problem, alone.
local ns = require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"
local methods = require "solvers.friction_methods"
local random_friction = methods.random_friction

describe("plane for rows and contacts", function()
  parts.check_shares(it, "plane", "joints_plane stops_plane motors_plane plane",
    { regular = 1, redundant = 0.8, saddle = 0.8 })

  it("says that there is no solution", function()
    local a = internal.mixed_part({ W = { { 0, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, q = { -1, 0, 1 },
                                    groups = { { dim = 2, mu = 0.3 }, { lower = 0 } } }, "plane")
    assert.is_true(a.status == "NS_ENOSOL" or a.status == "NS_ERAY")
  end)
end)

describe("friction by lcp alone", function()
  local shares = { full_rank = 1, tower = 1, frictionless = 1, huge_mu = 0.9, nearly_open = 1 }
  methods.check_shares(it, "lcp", "lcp", { 2 }, shares)

  it("is refused in space", function()
    local ok, message = pcall(ns.numerics.fc3d, { W = ns.eye(3), q = { -1, 0, 0 }, mu = 1, solver = "lcp" })
    assert.is_false(ok)
    assert.matches("fc3d: unknown solver 'lcp'", message, 1, true)
  end)

  it("agrees with Gauss-Seidel where forces are unique", function()
    math.randomseed(5)
    for _ = 1, 10 do
      local p = random_friction.problem("frictionless", 2, 4)
      local a, b = methods.solve(p, "lcp"), methods.solve(p, "nsgs", { tolerance = 1e-12, max_iterations = 20000 })
      if a.success and b.success then
        local size = 1 + b.r:norm(math.huge)
        for i = 1, #a.u do assert.near(0, (a.u[i] - b.u[i]) / (1 + b.u:norm(math.huge)), 1e-6 * size) end
      end
    end
  end)
end)
