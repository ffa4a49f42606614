local ns = require "nslua"
local internal = require "nslua.internal"

local function signed() return math.random() * 2 - 1 end

local function problem(n, density)
  local p = { M = ns.matrix(n, n), x = ns.vector(n), d = ns.vector(n), e = ns.vector(n), b = ns.vector(n) }
  for i = 1, n do
    for j = 1, n do
      if math.random() < density then p.M[i][j] = signed() end
    end
    p.x[i], p.b[i], p.d[i], p.e[i] = signed(), signed(), 3 + math.random(), math.random()
  end
  return p
end

describe("the map of a box problem", function()
  it("multiplies with M and its transpose", function()
    math.randomseed(8)
    for n = 1, 9 do
      local p = problem(n, 0.5)
      for _, sparse in ipairs { false, true } do
        p.sparse = sparse
        local r = internal.box_map(p)
        assert.near(0, (r.product - p.M * p.x):norm(), 1e-14 * n)
        assert.near(0, (r.transposed - p.M:transpose() * p.x):norm(), 1e-14 * n)
      end
    end
  end)

  it("solves with diag(d) + diag(e) M, whatever diagonal M has", function()
    math.randomseed(9)
    for _, n in ipairs { 1, 2, 3, 10, 30 } do
      local p = problem(n, 3 / n)
      for i = 1, n, 2 do p.M[i][i] = 0 end
      local answers = {}
      for k, sparse in ipairs { false, true } do
        p.sparse = sparse
        local r = internal.box_map(p)
        assert.equal("NS_OK", r.status)
        local x = r.solution
        assert.near(0, (p.d:mul(x) + p.e:mul(p.M * x) - p.b):norm(), 1e-12 * n)
        answers[k] = x
      end
      assert.near(0, (answers[1] - answers[2]):norm(), 1e-10)
    end
  end)

  it("tells a singular system", function()
    for _, sparse in ipairs { false, true } do
      local r = internal.box_map { M = { { 1, 2 }, { 2, 4 } }, d = { 0, 0 }, b = { 1, 1 }, sparse = sparse }
      assert.equal("NS_ESINGULAR", r.status)
    end
  end)
end)
