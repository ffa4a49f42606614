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

describe("the loop of a chain", function()
  it("tells of the step that says most when no method has an answer", function()
    local answer = box { M = { { -1, 0, 1 }, { 1, -1, 0 }, { 0, 1, -1 } }, q = { -1, -1, -1 } }
    assert.not_equal("NS_OK", answer.status)
    assert.is_true(answer.solver == "pivot" or answer.solver == "enumerate", answer.solver)
  end)

  it("ends where it is proved that there is no solution", function()
    local answer = box { M = { { 0, 1 }, { -1, 0 } }, q = { -2, -1 }, lower = { 0, 0 } }
    assert.equal("NS_ENOSOL", answer.status)
    assert.equal("enumerate", answer.solver)
  end)

  it("accepts nothing that is not verified", function()
    local answer = box { M = { { 2, 1 }, { 1, 2 } }, q = { -3, -4 }, method = "pgs", max_iterations = 1, tolerance = 1e-14 }
    assert.is_true(answer.status ~= "NS_OK" or answer.backward <= 1e-14)
  end)
end)
