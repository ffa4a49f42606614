local ns = require "nslua"
local solutions = ns.numerics.solutions
local inf = math.huge

local function at(x, i) return type(x) == "table" and x[i] or x end

local function residual(o, z)
  local worst = 0
  for i = 1, #o.q do
    local w = o.q[i]
    for j = 1, #o.q do w = w + o.M[i][j] * z[j] end
    local l, u = at(o.lower, i) or 0, at(o.upper, i) or inf
    worst = math.max(worst, math.abs(z[i] - math.min(math.max(z[i] - w, l), u)))
  end
  return worst
end

local function between(a, b, t)
  local z = {}
  for i = 1, #a do z[i] = (1 - t) * a[i] + t * b[i] end
  return z
end

-- Everything that is reported does solve the problem.
local function sound(o, r)
  for _, z in ipairs(r.isolated) do assert.is_true(residual(o, z) < 1e-9) end
  for _, s in ipairs(r.segments) do
    for t = 0, 1, 0.25 do assert.is_true(residual(o, between(s[1], s[2], t)) < 1e-9) end
  end
  for _, ray in ipairs(r.rays) do
    for t = 0, 100, 25 do
      local z = {}
      for i = 1, #o.q do z[i] = ray.from[i] + t * ray.direction[i] end
      assert.is_true(residual(o, z) < 1e-7)
    end
  end
  for _, f in ipairs(r.faces) do
    local n, centre = #o.q, {}
    for i = 1, n do
      centre[i] = 0
      for _, v in ipairs(f.vertices) do centre[i] = centre[i] + v[i] / #f.vertices end
    end
    assert.is_true(residual(o, centre) < 1e-9)
  end
end

local function count(o)
  local r = solutions(o)
  sound(o, r)
  return #r.isolated, #r.segments, #r.rays, #r.faces, r.complete, r
end

describe("solutions", function()
  it("tells the segment of a relay with a zero matrix at q = 0, and its ends elsewhere", function()
    local points, segments, rays, faces, complete, r = count { M = { { 0 } }, q = { 0 }, lower = 0, upper = 1 }
    assert.same({ 0, 1, 0, 0, true }, { points, segments, rays, faces, complete })
    assert.same({ 0, 1 }, { r.segments[1][1][1], r.segments[1][2][1] })
    r = solutions { M = { { 0 } }, q = { 1 }, lower = 0, upper = 1 }
    assert.equal(0, r.isolated[1][1])
    r = solutions { M = { { 0 } }, q = { -1 }, lower = 0, upper = 1 }
    assert.equal(1, r.isolated[1][1])
  end)

  it("finds z1 + z2 = 1 in the problem with M of ones", function()
    local points, segments, _, _, complete, r = count { M = { { 1, 1 }, { 1, 1 } }, q = { -1, -1 } }
    assert.same({ 0, 1, true }, { points, segments, complete })
    assert.equal(1, r.segments[1][1][1] + r.segments[1][1][2])
    assert.equal(1, math.abs(r.segments[1][1][1] - r.segments[1][2][1]))
  end)

  it("finds several isolated solutions", function()
    assert.equal(3, (count { M = { { 1, 2 }, { 2, 1 } }, q = { -1, -1 } }))
    assert.equal(2, (count { M = { { -1 } }, q = { 1 } }))
    local o = { M = {}, q = {}, lower = -1, upper = 1 }
    for i = 1, 5 do
      o.M[i], o.q[i] = {}, 0
      for j = 1, 5 do o.M[i][j] = i == j and -1 or 0 end
    end
    assert.equal(3^5, (count(o)))
  end)

  it("finds one solution of a P-matrix and none where there is none", function()
    math.randomseed(4)
    for trial = 1, 40 do
      local n = 1 + trial % 6
      local o = { M = {}, q = {}, lower = {}, upper = {} }
      for i = 1, n do
        o.M[i] = {}
        for j = 1, n do o.M[i][j] = i == j and n or 2 * math.random() - 1 end
        o.q[i] = 10 * math.random() - 5
        o.lower[i], o.upper[i] = math.random() < 0.3 and -inf or 0, math.random() < 0.5 and inf or 1
      end
      local points, segments, rays, faces, complete = count(o)
      assert.same({ 1, 0, 0, 0, true }, { points, segments, rays, faces, complete })
    end
    local points, segments, rays, faces, complete = count { M = { { 0, -1 }, { 0, 0 } }, q = { 0, -1 } }
    assert.same({ 0, 0, 0, 0, true }, { points, segments, rays, faces, complete })
  end)

  it("tells rays, lines and faces", function()
    local _, _, rays, _, complete, r = count { M = { { 0 } }, q = { 0 } }
    assert.same({ 1, true }, { rays, complete })
    assert.same({ 0, 1, false }, { r.rays[1].from[1], r.rays[1].direction[1], r.rays[1].both_ways })
    r = solutions { M = { { 0 } }, q = { 0 }, lower = -inf }
    assert.is_true(r.rays[1].both_ways)
    local points, segments, _, faces, whole, square = count { M = { { 0, 0 }, { 0, 0 } }, q = { 0, 0 }, upper = 1 }
    assert.same({ 0, 0, 1, true }, { points, segments, faces, whole })
    assert.equal(2, square.faces[1].dimension)
    assert.equal(4, #square.faces[1].vertices)
    assert.is_true(square.faces[1].bounded)
    r = solutions { M = { { 0, 0 }, { 0, 0 } }, q = { 0, 0 } }
    assert.is_false(r.faces[1].bounded)
    assert.equal(2, #r.faces[1].directions)
  end)

  it("gives rays in the units of the problem", function()
    -- w1 = 1e-6 (z2 - 1), w2 = 1e10 (z2 - 1) + 1e4 z1 - 1e4 z3, w3 = 0
    local r = solutions { M = { { 0, 1e-6, 0 }, { 1e4, 1e10, -1e4 }, { 0, 0, 0 } }, q = { -1e-6, -1e10, 0 } }
    assert.is_true(r.complete)
    assert.is_true(#r.rays > 0)
    for _, ray in ipairs(r.rays) do
      for _, t in ipairs { 0, 1, 1000 } do
        local z, w = {}, {}
        for j = 1, 3 do z[j] = ray.from[j] + t * ray.direction[j] end
        w[1], w[2], w[3] = 1e-6 * (z[2] - 1), 1e10 * (z[2] - 1) + 1e4 * (z[1] - z[3]), 0
        for j = 1, 3 do
          assert.is_true(z[j] >= 0)
          assert.near(0, math.min(z[j], w[j] / 1e10), 1e-9)
        end
      end
    end
  end)

  it("finds the solutions of a skew-symmetric problem with data of any scale", function()
    local o = { M = { { 0, 1e-9 }, { -1e-9, 0 } }, q = { 0, 0 }, lower = 0, upper = 1e6 }
    local points, segments = count(o)
    assert.same({ 0, 1 }, { points, segments })
  end)

  it("says when something is left out", function()
    local r = solutions { M = { { 0, 0 }, { 0, 0 } }, q = { 0, 0 }, lower = -inf }
    assert.is_false(r.complete)
    assert.equal("a solution set without corners (it holds a line) was left out", r.reason)
    local M, q = {}, {}
    for i = 1, 5 do M[i], q[i] = { 0, 0, 0, 0, 0 }, 0 end
    r = solutions { M = M, q = q, upper = 1 }
    assert.is_false(r.complete)
    assert.equal("solution sets of more than 4 dimensions were left out", r.reason)
  end)

  it("contains what the solver finds", function()
    math.randomseed(9)
    for trial = 1, 60 do
      local n = 1 + trial % 4
      local o = { M = {}, q = {}, lower = -1, upper = 1 }
      for i = 1, n do
        o.M[i] = {}
        for j = 1, n do o.M[i][j] = math.random(-1, 1) end
        o.q[i] = math.random(-1, 1)
      end
      local points, segments, rays, faces, complete = count(o)
      assert.is_true(points + segments + rays + faces > 0) -- a compact box: there is a solution
      assert.is_true(complete)
    end
  end)

  it("names bad data", function()
    local function fails(text, o) assert.error_matches(function() solutions(o) end, text, 1, true) end
    fails("solutions: unknown option 'x' (known: M, q, lower, upper)", { x = 1 })
    fails("solutions: M: expected a square matrix, got 1 x 2 matrix", { M = { { 1, 2 } }, q = { 1 } })
    fails("solutions: q: expected a vector of 1, got nil", { M = { { 1 } } })
    fails("solutions: lower[1] = 2 is above upper[1] = 1", { M = { { 1 } }, q = { 0 }, lower = 2, upper = 1 })
    fails("solutions: expected at most 12 variables, got 13", { M = ns.eye(13), q = ns.zeros(13) })
    assert.error_matches(function() solutions(3) end, "solutions: options: expected one table, got number", 1, true)
  end)
end)
