-- ns.numerics.generic_mechanical: what it takes, what it returns, what it refuses.
local ns = require "nslua"
local random_mixed = require "random_mixed"
local inf, nan = math.huge, 0 / 0
local generic = ns.numerics.generic_mechanical
local W3, q3 = ns.eye(3), { -1, -1, 0.1 }
local groups3 = { { lower = 0 }, { dim = 2, mu = 0.5 } }

local function refused(text, options)
  local good, message = pcall(generic, options)
  assert.is_false(good)
  assert.is_true(tostring(message):find(text, 1, true) ~= nil, tostring(message))
end

-- The good problem with another group, or with other options.
local function with_group(group)
  return { W = W3, q = q3, groups = { group, { dim = 2, mu = 0.5 } } }
end

local function with(more)
  local options = { W = W3, q = q3, groups = groups3 }
  for key, value in pairs(more) do options[key] = value end
  return options
end

describe("generic_mechanical", function()
  it("returns all that a result has", function()
    local a = generic(with{})
    assert.is_true(a.success)
    assert.equal("ok", a.status)
    assert.equal("solved", a.message)
    for k, x in ipairs{ 1, 1, -0.1 } do assert.near(x, a.z[k], 1e-15) end
    for k = 1, 3 do assert.near(0, a.w[k], 1e-15) end
    for _, name in ipairs{ "residual", "relative", "backward", "time" } do
      assert.equal("number", type(a[name]), name)
    end
    assert.equal("integer", math.type(a.iterations))
    assert.equal("string", type(a.solver))
  end)

  it("takes a matrix, rows or a sparse matrix, with the same answer", function()
    math.randomseed(71)
    for _, kind in ipairs{ "rows", "joints_plane", "motors_space", "all", "space" } do
      local p = random_mixed.problem(kind, "regular", 9)
      local a = generic{ W = p.W, q = p.q, groups = p.groups }
      assert.is_true(a.success)
      assert.is_true(random_mixed.residual(p, a.z) <= 1e-9)
      for _, W in ipairs{ ns.matrix(p.W), ns.sparse(p.W) } do
        local b = generic{ W = W, q = ns.vector(p.q), groups = p.groups }
        for k = 1, p.n do assert.equal(a.z[k], b.z[k]) end
      end
    end
  end)

  it("says what it did not find", function()
    local a = generic{ W = ns.zeros(3, 3), q = { -1, 0, 1 }, groups = { { dim = 2, mu = 1 }, { lower = 0 } } }
    assert.is_false(a.success)
    assert.is_true(a.status == "no solution" or a.status == "ray")
    a = generic{ W = { { 1, 1, 0, 0, 0 }, { 1, 1, 0, 0, 0 }, { 0, 0, 1, 0, 0 }, { 0, 0, 0, 1, 0 }, { 0, 0, 0, 0, 1 } },
                 q = { 1, 2, -1, 0, 0 }, groups = { {}, {}, { dim = 3, mu = 1 } }, max_iterations = 100 }
    assert.equal("singular", a.status)
    assert.is_true(a.backward > 1e-10)
  end)

  it("starts from z0", function()
    local a = generic(with{ z0 = { 1, 1, -0.1 } })
    assert.is_true(a.iterations <= 1)
    assert.is_true(a.success)
  end)

  it("refuses bad data, each by its name", function()
    refused("generic_mechanical: options: expected one table, got nil", nil)
    refused("generic_mechanical: unknown option 'mu' (known: W, q, groups, tolerance, max_iterations, z0)",
      with{ mu = 1 })
    refused("generic_mechanical: W: expected a square matrix, got nil", { q = q3, groups = groups3 })
    refused("generic_mechanical: W: expected a square matrix, got 1 x 2 matrix", with{ W = { { 1, 2 } } })
    refused("generic_mechanical: W: expected a square matrix, got 3 x 6 sparse matrix",
      with{ W = ns.sparse{ rows = 3, cols = 6, i = {}, j = {}, v = {} } })
    refused("generic_mechanical: W[1][2] is nan", with{ W = { { 1, nan, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } })
    refused("generic_mechanical: q: expected a vector of 3, got nil", { W = W3, groups = groups3 })
    refused("generic_mechanical: q: expected a vector of 3, got", with{ q = { 1, 2 } })
    refused("generic_mechanical: q[2] is inf", with{ q = { 1, inf, 2 } })
    refused("generic_mechanical: z0: expected a vector of 3, got", with{ z0 = { 1 } })
    refused("generic_mechanical: tolerance: expected a number between 0 and 1, got 0", with{ tolerance = 0 })
    refused("generic_mechanical: max_iterations: expected an integer of 1 or more, got 0", with{ max_iterations = 0 })
    refused("generic_mechanical: groups: expected a list of tables, got nil", { W = W3, q = q3 })
    refused("generic_mechanical: groups: expected a list of tables, got number", with{ groups = 3 })
    refused("generic_mechanical: groups: expected 3 rows in all, got 1", with{ groups = { {} } })
    refused("generic_mechanical: groups[2]: expected a table, got number", with{ groups = { {}, 2 } })
  end)

  it("refuses bad groups, each by its number", function()
    refused("unknown option 'low' (known: dim, mu, lower, upper, mu_r, mu_spin)", with_group{ low = 0 })
    refused("generic_mechanical: groups[1].dim: expected 1 to 6, got 7", with_group{ dim = 7 })
    refused("generic_mechanical: groups[1].dim: expected a number, got string", with_group{ dim = "two" })
    refused("generic_mechanical: groups[1].lower is nan", with_group{ lower = nan })
    refused("generic_mechanical: groups[1].lower is inf", with_group{ lower = inf })
    refused("generic_mechanical: groups[1].upper is -inf", with_group{ upper = -inf })
    refused("generic_mechanical: groups[1].lower = 1 is above upper = 0.5", with_group{ lower = 1, upper = 0.5 })
    refused("generic_mechanical: groups[1].mu: a row (dim = 1) has none", with_group{ mu = 0.5 })
    refused("generic_mechanical: groups[1].mu: expected a number, got nil", with_group{ dim = 2 })
    refused("generic_mechanical: groups[1].mu = -0.5 is negative", with_group{ dim = 2, mu = -0.5 })
    refused("generic_mechanical: groups[1].mu is inf", with_group{ dim = 2, mu = inf })
    refused("generic_mechanical: groups[1].mu is nan", with_group{ dim = 2, mu = nan })
    refused("generic_mechanical: groups[1].upper: a contact has none", with_group{ dim = 3, mu = 1, upper = 1 })
  end)
end)
