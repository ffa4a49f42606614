-- Higher derivatives of callbacks in passes: every pair of variables, within a pass and between two, plain and compiled.
local ns = require "nslua"
local internal = require "nslua.internal"

-- The sum of x_i x_j x_k over `terms`, as the output of a relation of n coordinates.
local function relation(n, terms, compile)
  local h = function(x, _, y)
    local sum = 0
    for _, t in ipairs(terms) do sum = sum + x[t[1]] * x[t[2]] * x[t[3]] end
    y[1] = sum
  end
  local zeros = ns.zeros(n)
  local ds, r = ns.LagrangianLinearTIDS(zeros, zeros, ns.eye(n)), ns.LagrangianScleronomousR { h = compile(h) }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), r), ds)
  return r
end

describe("passes with jets", function()
  it("give the second derivatives by all pairs, and third ones along a line #once", function()
    for _, n in ipairs { 1, 3, 8, 9, 16, 17, 25 } do
      local terms, x, w = {}, {}, {}
      for i = 1, n do
        x[i], w[i] = i % 5 - 2, i % 3 - 1
        for j = i, n, 3 do terms[#terms + 1] = { i, j, (i + j) % n + 1 } end
      end
      local second, third = ns.zeros(n * n), ns.zeros(n)
      for _, t in ipairs(terms) do -- all orders of the three factors
        for _, o in ipairs { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } } do
          local a, b, c = t[o[1]], t[o[2]], t[o[3]]
          second[a + n * (b - 1)] = second[a + n * (b - 1)] + x[c]
          third[a] = third[a] + w[b] * w[c]
        end
      end
      for _, compile in ipairs { function(f) return f end, ns.compile } do
        local _, found, _, bent = internal.relation_curvature(relation(n, terms, compile), 0, x, w)
        for k = 1, n * n do assert.equal(second[k], found[k]) end
        for k = 1, n do assert.equal(third[k], bent[k]) end
      end
    end
  end)
end)
