local ns = require "nslua"
local inf, nan = math.huge, 0 / 0
local W2, W3 = { { 1, 0 }, { 0, 1 } }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }

local function refused(text, call, options)
  local good, message = pcall(ns.numerics[call], options)
  assert.is_false(good)
  assert.is_true(tostring(message):find(text, 1, true) ~= nil, tostring(message))
end

describe("fc2d and fc3d", function()
  it("return all that a result has", function()
    local a = ns.numerics.fc3d{ W = W3, q = { -1, 0.1, 0 }, mu = 0.5 }
    assert.is_true(a.success)
    assert.equal("ok", a.status)
    assert.equal("solved", a.message)
    assert.equal(a.r, a.z)
    assert.equal(a.u, a.w)
    for k, x in ipairs{ 1, -0.1, 0 } do assert.near(x, a.r[k], 1e-15) end
    for _, name in ipairs{ "residual", "scale", "relative", "scaled", "time" } do
      assert.equal("number", type(a[name]), name)
    end
    assert.equal("integer", math.type(a.iterations))
    assert.equal("string", type(a.solver))
  end)

  it("take a matrix, rows or a sparse matrix, with the same answer", function()
    local rows = { { 2, 0.1, 0.3, 0 }, { 0.1, 1, 0, 0.2 }, { 0.3, 0, 1.5, 0 }, { 0, 0.2, 0, 1 } }
    local q, mu = { -1, 0.5, -1, -2 }, { 0.2, 0.4 }
    local a = ns.numerics.fc2d{ W = rows, q = q, mu = mu }
    for _, W in ipairs{ ns.matrix(rows), ns.sparse(rows) } do
      local b = ns.numerics.fc2d{ W = W, q = ns.vector(q), mu = ns.vector(mu) }
      for k = 1, 4 do assert.equal(a.r[k], b.r[k]) end
    end
  end)

  it("take blocks that are missing, the diagonal too", function()
    local W = ns.sparse{ rows = 4, cols = 4, i = { 1, 2 }, j = { 1, 2 }, v = { 1, 1 } }
    local a = ns.numerics.fc2d{ W = W, q = { -1, 0, 0.5, 0 }, mu = 0.3 }
    assert.is_true(a.success)
    for k, x in ipairs{ 1, 0, 0, 0 } do assert.equal(x, a.r[k]) end
  end)

  it("refuse bad data, each by its name", function()
    refused("fc2d: options: expected one table, got nil", "fc2d", nil)
    refused("fc2d: unknown option 'M' (known: W, q, mu, solver, tolerance, max_iterations, r0)", "fc2d", { M = W2 })
    refused("fc2d: W: expected a square matrix, got nil", "fc2d", { q = { 1, 2 }, mu = 1 })
    refused("fc2d: W: expected a square matrix, got 1 x 2 matrix", "fc2d", { W = { { 1, 2 } }, q = { 1, 2 }, mu = 1 })
    refused("fc3d: W: expected a square matrix, got 3 x 6 sparse matrix", "fc3d",
      { W = ns.sparse{ rows = 3, cols = 6, i = {}, j = {}, v = {} }, q = { 1, 2, 3 }, mu = 1 })
    refused("fc3d: W: expected an order that is a multiple of 3, got 2", "fc3d", { W = W2, q = { 1, 2 }, mu = 1 })
    refused("fc2d: W: expected an order that is a multiple of 2, got 3", "fc2d", { W = W3, q = { 1, 2, 3 }, mu = 1 })
    refused("fc2d: the problem is empty", "fc2d", { W = ns.zeros(0, 0), q = {}, mu = 1 })
    refused("fc2d: W[1][2] is nan", "fc2d", { W = { { 1, nan }, { 0, 1 } }, q = { 1, 2 }, mu = 1 })
    refused("fc2d: W[2][1] is inf", "fc2d", { W = { { 1, 0 }, { inf, 1 } }, q = { 1, 2 }, mu = 1 })
    refused("fc2d: q: expected a vector of 2, got", "fc2d", { W = W2, q = { 1, 2, 3 }, mu = 1 })
    refused("fc2d: q: expected a vector of 2, got nil", "fc2d", { W = W2, mu = 1 })
    refused("fc2d: q[2] is inf", "fc2d", { W = W2, q = { 1, inf }, mu = 1 })
    refused("fc2d: mu: expected a number or a vector, got nil", "fc2d", { W = W2, q = { 1, 2 } })
    refused("fc2d: mu = -0.5 is negative", "fc2d", { W = W2, q = { 1, 2 }, mu = -0.5 })
    refused("fc2d: mu[1] = -1 is negative", "fc2d", { W = W2, q = { 1, 2 }, mu = { -1 } })
    refused("fc2d: mu", "fc2d", { W = W2, q = { 1, 2 }, mu = nan })
    refused("fc2d: mu[1] is nan", "fc2d", { W = W2, q = { 1, 2 }, mu = { nan } })
    refused("fc2d: mu: expected a vector of 1, got", "fc2d", { W = W2, q = { 1, 2 }, mu = { 1, 2 } })
    refused("fc2d: r0: expected a vector of 2, got", "fc2d", { W = W2, q = { 1, 2 }, mu = 1, r0 = { 1 } })
    refused("fc2d: r0[1] is nan", "fc2d", { W = W2, q = { 1, 2 }, mu = 1, r0 = { nan, 0 } })
    refused("fc2d: unknown solver 'magic' (known: default, nsgs, newton, first_order, lcp)", "fc2d",
      { W = W2, q = { 1, 2 }, mu = 1, solver = "magic" })
    refused("fc3d: unknown solver 'lcp' (known: default, nsgs, newton, first_order)", "fc3d",
      { W = W3, q = { 1, 2, 3 }, mu = 1, solver = "lcp" })
    refused("fc2d: solver: expected a name, got number", "fc2d", { W = W2, q = { 1, 2 }, mu = 1, solver = 3 })
    refused("fc2d: tolerance: expected a number between 0 and 1, got 0", "fc2d",
      { W = W2, q = { 1, 2 }, mu = 1, tolerance = 0 })
    refused("fc2d: max_iterations: expected an integer of 1 or more, got 0", "fc2d",
      { W = W2, q = { 1, 2 }, mu = 1, max_iterations = 0 })
  end)
end)
