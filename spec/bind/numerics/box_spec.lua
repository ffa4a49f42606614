local ns = require "nslua"
local numerics = ns.numerics
local inf, nan = math.huge, 0 / 0

local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok, text)
  message = message:gsub("^[^:]+:%d+: ", "")
  assert.equal(text, message)
end

-- The natural residual of z in w = M z + q on the box, by plain loops.
local function residual(M, q, lower, upper, z)
  local worst = 0
  for i = 1, #q do
    local w = q[i]
    for j = 1, #q do w = w + M[i][j] * z[j] end
    worst = math.max(worst, math.abs(z[i] - math.max(lower[i], math.min(upper[i], z[i] - w))))
  end
  return worst
end

local function fill(n, x)
  local t = {}
  for i = 1, n do t[i] = x end
  return t
end

local P = { M = { { 2, 1 }, { 1, 2 } }, q = { -5, -6 } }

describe("numerics.lcp", function()
  it("solves and tells how well", function()
    local r = numerics.lcp { M = P.M, q = P.q }
    assert.is_true(r.success)
    assert.equal("ok", r.status)
    assert.equal("solved", r.message)
    assert.near(4 / 3, r.z[1], 1e-15)
    assert.near(7 / 3, r.z[2], 1e-15)
    assert.same({ 0, 0 }, r.w:totable())
    assert.equal(6, r.scale)
    assert.is_true(r.residual <= 1e-15 and r.relative <= 1e-15)
    assert.equal("integer", math.type(r.iterations))
    assert.equal("string", type(r.solver))
    assert.is_true(r.time >= 0)
  end)

  it("takes matrices, vectors and a first guess", function()
    local z0 = ns.vector { 4 / 3, 7 / 3 }
    local r = numerics.lcp { M = ns.matrix(P.M), q = ns.vector(P.q), z0 = z0, solver = "default" }
    assert.equal(0, r.iterations)
    assert.same({ 4 / 3, 7 / 3 }, z0:totable())
  end)

  it("measures a result by the natural residual against the size of q and z", function()
    local r = numerics.lcp { M = { { 0, -1, -1 }, { 1, 0, 0 }, { -1, 0, 0 } }, q = { -1e-4, -1, 1 } }
    assert.is_false(r.success)
    assert.equal("no solution", r.status)
    local z = r.z:totable()
    local all = residual({ { 0, -1, -1 }, { 1, 0, 0 }, { -1, 0, 0 } }, { -1e-4, -1, 1 }, fill(3, 0), fill(3, inf), z)
    assert.near(all, r.residual, 1e-12 * all)
    assert.near(r.residual / r.scale, r.relative, 1e-15 * r.relative)
  end)

  it("returns the ray that a path ended on", function()
    -- along the ray z and w stay in their ranges for ever: v >= 0 and M v >= 0
    local r = numerics.lcp { M = { { 0, 0, 1 }, { 0, 0, 1 }, { -1, -1, 0 } }, q = { -1, 1, -1 }, solver = "lemke" }
    assert.is_false(r.success)
    assert.equal("ray", r.status)
    local v = r.ray:totable()
    assert.is_true(v[1] >= 0 and v[2] >= 0 and v[3] >= 0 and v[1] + v[2] + v[3] > 0)
    assert.is_true(v[3] >= 0 and -v[1] - v[2] >= 0)
  end)

  it("tells that there is no solution", function()
    local r = numerics.lcp { M = { { -1, -1 }, { -1, -2 } }, q = { -1, -1 } }
    assert.is_false(r.success)
    assert.equal("no solution", r.status)
    assert.equal("there is no solution", r.message)
  end)

  it("names what is wrong with the data", function()
    local lcp = numerics.lcp
    fails("lcp: unknown option 'lower' (known: M, q, solver, tolerance, max_iterations, omega, z0)", lcp,
      { M = P.M, q = P.q, lower = 0 })
    fails("lcp: M: expected a square matrix, got nil", lcp, { q = P.q })
    fails("lcp: z0: expected a vector of 2, got vector of 1", lcp, { M = P.M, q = P.q, z0 = ns.vector { 1 } })
    fails("lcp: z0[1] is -inf", lcp, { M = P.M, q = P.q, z0 = { -inf, 0 } })
    local ok, message = pcall(lcp, { M = P.M, q = P.q, solver = "simplex" })
    assert.is_false(ok)
    assert.truthy(message:find("lcp: unknown solver 'simplex' (known: default, lemke, pivot,", 1, true))
    for _, name in ipairs { "pgs", "psor" } do
      fails(("lcp: solver '%s' needs a positive diagonal of M"):format(name), lcp,
        { M = { { 0, 1 }, { 1, 0 } }, q = { -1, -1 }, solver = name })
    end
  end)
end)

describe("numerics.box", function()
  it("is also numerics.relay", function() assert.equal(numerics.box, numerics.relay) end)

  it("takes numbers or vectors as bounds, infinite ones too", function()
    local r = numerics.box { M = P.M, q = P.q, lower = -1, upper = 1 }
    assert.same({ 1, 1 }, r.z:totable())
    assert.same({ -2, -3 }, r.w:totable())
    assert.equal(0, r.residual)
    r = numerics.box { M = P.M, q = P.q, lower = { -inf, 0 }, upper = ns.vector { inf, 1 } }
    assert.same({ 2, 1 }, r.z:totable())
  end)

  it("names what is wrong with the bounds", function()
    local box = numerics.box
    fails("box: lower: expected a number or a vector, got nil", box, { M = P.M, q = P.q, upper = 1 })
    fails("box: lower[2] = 1 is above upper[2] = 0", box, { M = P.M, q = P.q, lower = { 0, 1 }, upper = { 0, 0 } })
    fails("box: lower[1] is nan", box, { M = P.M, q = P.q, lower = nan, upper = 0 })
    fails("box: upper[2] is nan", box, { M = P.M, q = P.q, lower = 0, upper = { 1, nan } })
    fails("box: lower[1] is inf", box, { M = P.M, q = P.q, lower = inf, upper = inf })
    fails("box: upper[1] is -inf", box, { M = P.M, q = P.q, lower = -inf, upper = -inf })
    fails("box: upper: expected a vector of 2, got vector of 3", box,
      { M = P.M, q = P.q, lower = 0, upper = ns.vector { 1, 2, 3 } })
  end)
end)

describe("numerics.mlcp", function()
  local A, B, C, D = { { 2, 1 }, { 2, 3 } }, { { 2, 1, 1 }, { 1, 2, 1 }, { 1, 1, 2 } }, { { 1, 2, 3 }, { 4, 5, 6 } },
    { { -2, -2 }, { 1, 0 }, { 0, 1 } }
  local a, b = { -9, -19 }, { -1, -9, -2 }

  it("returns u, v and w", function()
    local r = numerics.mlcp { A = A, B = B, C = C, D = D, a = a, b = b }
    assert.is_true(r.success)
    local u, v, w = r.u:totable(), r.v:totable(), r.w:totable()
    for i = 1, 2 do
      local e = a[i]
      for j = 1, 2 do e = e + A[i][j] * u[j] end
      for j = 1, 3 do e = e + C[i][j] * v[j] end
      assert.near(0, e, 1e-13)
    end
    for i = 1, 3 do
      local e = b[i]
      for j = 1, 2 do e = e + D[i][j] * u[j] end
      for j = 1, 3 do e = e + B[i][j] * v[j] end
      assert.near(w[i], e, 1e-13)
      assert.is_true(v[i] >= 0 and w[i] >= 0 and math.min(v[i], w[i]) == 0)
    end
  end)

  it("names what is wrong with the data", function()
    local mlcp = numerics.mlcp
    fails("mlcp: C: expected a 2 x 3 matrix, got 3 x 2 matrix", mlcp,
      { A = A, B = B, C = ns.zeros(3, 2), D = D, a = a, b = b })
    fails("mlcp: D: expected a 3 x 2 matrix, got nil", mlcp, { A = A, B = B, C = C, a = a, b = b })
    fails("mlcp: A: expected a square matrix, got 2 x 3 matrix", mlcp, { A = C, B = B, C = C, D = D, a = a, b = b })
    fails("mlcp: b: expected a vector of 3, got vector of 2", mlcp,
      { A = A, B = B, C = C, D = D, a = a, b = ns.vector(a) })
    fails("mlcp: B[1][1] is nan", mlcp,
      { A = A, B = { { nan, 1, 1 }, { 1, 2, 1 }, { 1, 1, 2 } }, C = C, D = D, a = a, b = b })
  end)
end)
