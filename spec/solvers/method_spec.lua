-- The names by which scripts ask for methods.
local ns = require "nslua"
local box = require("nslua.internal").box

describe("the names of methods", function()
  local function message(call, o)
    o.solver = "simplex"
    local _, text = pcall(call, o)
    return text
  end

  it("are those of the list, aliases after each name, the chain first", function()
    local names = "(known: default, lemke, pivot, psor, pgs, enumerate, principal, newton_min, newton_fb, interior"
    assert.truthy(message(ns.numerics.lcp, { M = { { 1 } }, q = { 1 } }):find(names, 1, true))
    assert.truthy(message(ns.LCP, {}):find(names, 1, true))
  end)

  it("lead to the same method by an alias", function()
    local p = { M = { { 2, 1 }, { 0, 3 } }, q = { -1, -2 } }
    for name, alias in pairs { lemke = "pivot", psor = "pgs" } do
      p.method = name
      local a = box(p)
      p.method = alias
      local b = box(p)
      assert.equal(a.solver, b.solver)
      assert.same(a.z, b.z)
    end
  end)
end)
