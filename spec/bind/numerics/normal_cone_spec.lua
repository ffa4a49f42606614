-- ns.numerics.normal_cone in Lua: its options and its result. The method: spec/solvers/box/polyhedron_spec.lua.
local ns = require "nslua"
local cone = ns.numerics.normal_cone
local inf = math.huge

local good = { M = { { 1, 0 }, { 0, 1 } }, q = { -3, -1 }, H = { { -1, -1 }, { 1, 0 }, { 0, 1 } }, K = { -2, 0, 0 } }

local function with(changes)
  local o = {}
  for k, v in pairs(good) do o[k] = v end
  for k, v in pairs(changes) do o[k] = v end
  return o
end

local function says(text, changes, without)
  local o = with(changes)
  if without then o[without] = nil end
  local ok, message = pcall(cone, o)
  assert.is_false(ok)
  assert.equal("normal_cone: " .. text, (message:gsub("^[^:]+:%d+: ", "")))
end

describe("numerics.normal_cone", function()
  it("returns z, w, multipliers and how good they are", function()
    local r = cone(good)
    assert.is_true(r.success)
    assert.same({ 2, 2, 3 }, { #r.z, #r.w, #r.multipliers })
    for i = 1, 2 do
      assert.near(r.z[i] + good.q[i], r.w[i], 1e-14)
      local pushed = 0
      for k = 1, 3 do pushed = pushed + good.H[k][i] * r.multipliers[k] end
      assert.near(r.w[i], pushed, 1e-13)
    end
    assert.is_true(r.relative <= 1e-11 and r.scale >= 0)
    assert.near(r.residual, r.relative * r.scale, 1e-15)
    assert.equal("string", type(r.solver))
  end)

  it("takes matrices, vectors, bounds and a first guess, and changes none of them", function()
    local o = { M = ns.matrix(good.M), q = ns.vector(good.q), H = ns.matrix(good.H), K = ns.vector(good.K),
      lower = ns.vector { -inf, 0.5 }, upper = 1, z0 = ns.vector { 1, 0.5 } }
    local r = cone(o)
    assert.is_true(r.success)
    assert.near(1, r.z[1], 1e-13)
    assert.near(1, r.z[2], 1e-13)
    assert.same({ 1, 0.5 }, o.z0:totable())
    assert.same(good.H, o.H:totable())
  end)

  it("gives the same by every solver", function()
    local reference = cone(good)
    for _, solver in ipairs { "default", "pivot", "enumerate" } do
      local r = cone(with { solver = solver })
      if r.success then
        for i = 1, 2 do assert.near(reference.z[i], r.z[i], 1e-9) end
      end
    end
  end)

  it("sweeps where the diagonal is positive, and says where it is not", function()
    local square = { H = { { 1, 0 }, { 0, 1 } }, K = { 0, 2 }, solver = "pgs" }
    local r = cone(with(square))
    assert.is_true(r.success)
    assert.equal("pgs", r.solver)
    assert.near(3, r.z[1], 1e-10)
    assert.near(2, r.z[2], 1e-10)
    says("solver 'pgs' needs a positive diagonal, which this problem, written in the rows of H, does not have", { solver = "pgs" })
  end)

  it("tells that the set is empty", function()
    local r = cone(with { H = { { 1, 0 }, { -1, 0 } }, K = { 1, 0 } })
    assert.is_false(r.success)
    assert.is_true(r.status == "no solution" or r.status == "ray", r.status)
  end)

  it("names bad data", function()
    local function fails(text, o) assert.error_matches(function() cone(o) end, text, 1, true) end
    local I, H = { { 1, 0 }, { 0, 1 } }, { { 1, 1 } }
    fails("normal_cone: unknown option 'h' (known: M, q, H, K, lower, upper, z0, tolerance, max_iterations, " ..
      "solver)", { h = 1 })
    fails("normal_cone: M: expected a matrix, got nil", {})
    fails("normal_cone: M: expected a square matrix, got 1 x 2 matrix", { M = { { 1, 2 } }, q = { 0 }, H = H,
      K = { 0 } })
    fails("normal_cone: H[1]: expected 2 numbers, got 3", { M = I, q = { 0, 0 }, H = { { 1, 2, 3 } }, K = { 0 } })
    fails("normal_cone: K: expected a vector of 1, got", { M = I, q = { 0, 0 }, H = H, K = { 0, 1 } })
    fails("normal_cone: q: expected a vector of 2, got nil", { M = I, H = H, K = { 0 } })
    fails("normal_cone: M[1][2] is nan", { M = { { 1, 0 / 0 }, { 0, 1 } }, q = { 0, 0 }, H = H, K = { 0 } })
    fails("normal_cone: lower[2] = 1 is above upper[2] = 0", { M = I, q = { 0, 0 }, H = H, K = { 0 }, lower = { 0,
      1 }, upper = 0 })
    fails("normal_cone: unknown solver 'magic' (known: default, lemke, pivot, psor, pgs, enumerate, principal, " ..
      "newton_min, newton_fb, interior",
      { M = I, q = { 0, 0 }, H = H, K = { 0 }, solver = "magic" })
    fails("normal_cone: M: expected a dense matrix, got", { M = ns.speye(2), q = { 0, 0 }, H = H, K = { 0 } })
  end)

  it("needs all of its data, bounds that are intervals and a guess of the right size", function()
    says("H: expected a matrix, got nil", {}, "H")
    says("K: expected a vector of 3, got nil", {}, "K")
    says("H[2][1] is nan", { H = { { 1, 1 }, { 0 / 0, 1 }, { 1, 1 } } })
    says("lower[1] = 2 is above upper[1] = 1", { lower = 2, upper = 1 })
    says("z0: expected a vector of 2, got vector of 3", { z0 = ns.vector(3) })
  end)
end)
