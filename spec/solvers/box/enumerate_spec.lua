require "nslua"
local box = require("nslua.internal").box

describe("enumeration", function()
  it("counts the isolated solutions and returns the nearest to the guess", function()
    -- each component by itself has the solutions 0 and 1 between 0 and 3, and 3
    local p = { method = "enumerate", M = { { -1, 0 }, { 0, -1 } }, q = { 1, 1 }, upper = { 3, 3 } }
    p.guess = { 1.2, 2.8 }
    local a = box(p)
    assert.equal(9, a.solutions)
    assert.same({ 1, 3 }, a.z)
    assert.equal(9, a.iterations)
    p.guess = { 0.1, 0.2 }
    assert.same({ 0, 0 }, box(p).z)
  end)

  it("proves that there is none", function()
    local a = box { method = "enumerate", M = { { -1, -1 }, { -1, -2 } }, q = { -1, -1 } }
    assert.equal("NS_ENOSOL", a.status)
    assert.equal(0, a.iterations) -- both rows are negative for every z
  end)

  it("proves nothing where a block was singular", function()
    assert.equal("NS_ESINGULAR", box { method = "enumerate", M = { { 1, -1 }, { -1, 1 } }, q = { -1, -1 } }.status)
  end)

  it("refuses more than 20 variables", function()
    local M, q = {}, {}
    for i = 1, 21 do
      M[i], q[i] = {}, -1
      for j = 1, 21 do M[i][j] = i == j and 1 or 0 end
    end
    assert.equal("NS_ETOOLARGE", box { method = "enumerate", M = M, q = q }.status)
  end)
end)

describe("numerics with solver = 'enumerate'", function()
  it("returns every solution", function()
    local ns = require "nslua"
    local r = ns.numerics.lcp { M = { { 0, 1 }, { 1, 0 } }, q = { -1, -1 }, solver = "enumerate" }
    assert.equal(1, #r.solutions)
    r = ns.numerics.box { M = { { -1e-6, 0, 0 }, { 0, 0, 0 }, { 0, 0, -1 } }, q = { 1e-6, 1, 1 }, lower = 0,
      upper = 3, solver = "enumerate" }
    assert.equal(9, #r.solutions)
    local seen = {}
    for _, z in ipairs(r.solutions) do
      assert.equal(0, z[2])
      seen[z[1] .. " " .. z[3]] = true
    end
    for _, a in ipairs { 0.0, 1.0, 3.0 } do
      for _, b in ipairs { 0.0, 1.0, 3.0 } do assert.is_true(seen[a .. " " .. b]) end
    end
  end)

  it("refuses more than 20 variables", function()
    local ns = require "nslua"
    local ok, message = pcall(ns.numerics.lcp, { M = ns.eye(21), q = ns.vector(21) - 1, solver = "enumerate" })
    assert.is_false(ok)
    assert.truthy(message:find("lcp: solver 'enumerate' takes no problem of 21 variables", 1, true), message)
  end)
end)
