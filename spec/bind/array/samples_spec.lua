-- Vectors as samples: mean, cumsum, diff, sort; trapz and interp.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local vec = ns.vector
local NAN, INF = 0 / 0, 1 / 0

describe("vector methods of samples", function()
  local v = vec { 3, 1, 2 }
  local view = vec { 3, 9, 1, 9, 2 }(1, 5, 2)

  it("mean: of all elements, of matrices too", function()
    assert.equal(2, v:mean())
    assert.equal(2, view:mean())
    assert.equal(2.5, ns.matrix { { 1, 2 }, { 3, 4 } }:mean())
    assert.is_true(vec { 1, NAN }:mean() ~= vec { 1, NAN }:mean())
    assert.equal("mean: the vector is empty", message(v.mean, vec(0)))
    assert.equal("mean: the matrix is empty", message(v.mean, ns.matrix(0, 2)))
    assert.equal("mean: expected no argument, got number 1.0", message(v.mean, v, 1))
  end)

  it("cumsum: of the first one, two, ...", function()
    assert.equal(vec { 3, 4, 6 }, v:cumsum())
    assert.equal(vec { 3, 4, 6 }, view:cumsum())
    assert.equal(vec(0), vec(0):cumsum())
    assert.equal("cumsum: expected no argument, got number 1.0", message(v.cumsum, v, 1))
  end)

  it("diff: what each adds to the one before", function()
    assert.equal(vec { -2, 1 }, v:diff())
    assert.equal(vec { -2, 1 }, view:diff())
    assert.same({ 0, 0 }, { #vec(1):diff(), #vec(0):diff() })
    local x = vec { 5, -7, 0.5, 1e3 }
    assert.equal(x, ns.concatenate { vec { x[1] }, x:diff() }:cumsum())
    assert.equal("diff: expected no argument, got number 2.0", message(v.diff, v, 2))
  end)

  it("sort: a copy, nan at the end", function()
    assert.equal(vec { 1, 2, 3 }, v:sort())
    assert.equal(vec { 1, 2, 3 }, view:sort())
    assert.equal(vec { 3, 1, 2 }, v)
    assert.equal("[-inf, -1, 0, 2, inf, nan, nan]", tostring(vec { NAN, 2, INF, -1, NAN, -INF, 0 }:sort()))
    math.randomseed(7)
    local list = {}
    for i = 1, 1000 do list[i] = math.random(-50, 50) end
    local sorted = vec(list):sort()
    table.sort(list)
    assert.same(list, sorted:totable())
    assert.equal("sort: expected no argument, got function", message(v.sort, v, print))
  end)

  it("are of vectors, and of no others", function()
    assert.equal("matrix: it has no method 'cumsum'", message(function() return ns.matrix(2, 2).cumsum end))
    assert.matches("vector expected, got a list of 1", message(v.sort, { 1 }))
    local _, text = pcall(ns.jacobian, function(x) return vec { x:mean() } end, { 1, 2 })
    assert.matches("dual vector: 'mean' does not propagate derivatives; give the Jacobian callback", text, 1, true)
  end)
end)

describe("ns.trapz", function()
  it("names what is wrong", function()
    assert.equal("trapz: y: expected a vector, got nil", message(ns.trapz))
    assert.equal("trapz: x: expected a vector of 3, got a list of 2", message(ns.trapz, { 1, 2, 3 }, { 1, 2 }))
    assert.equal("trapz: x: expected a vector of 3, got string", message(ns.trapz, { 1, 2, 3 }, "x"))
    assert.equal("trapz: expected at most 2 arguments, got 3", message(ns.trapz, { 1 }, { 1 }, 1))
  end)
end)

describe("ns.cumtrapz", function()
  it("ends with the integral, and begins with 0", function()
    local x, y = vec { 0, 1, 3, 3.5 }, vec { 1, 2, -4, 8 }
    for _, over in ipairs { x, 0.25 } do
      local sums = ns.cumtrapz(y, over)
      assert.same({ 4, 0.0, ns.trapz(y, over) }, { #sums, sums[1], sums[4] })
      local to = type(over) == "number" and over or over(1, 3)
      assert.equal(ns.trapz(y(1, 3), to), sums[3])
    end
    assert.equal(vec { 0, 1.5 }, ns.cumtrapz(vec { 1, 9, 2 }(1, 3, 2)))
    assert.equal(vec(0), ns.cumtrapz {})
    assert.equal("cumtrapz: x: expected a vector of 3, got a list of 2", message(ns.cumtrapz, { 1, 2, 3 }, { 1, 2 }))
  end)
end)

describe("ns.interp", function()
  local xp, fp = { 1, 2, 3 }, { 10, 20, 40 }

  it("names what is wrong", function()
    local function refused(expected, ...) assert.equal("interp: " .. expected, message(ns.interp, ...)) end
    refused("x: expected a number or a vector, got nil", nil, xp, fp)
    refused("x: expected a number or a vector, got string", "1", xp, fp)
    refused("xp: expected a vector, got nil", 1)
    refused("fp: expected a vector of 3, got a list of 2", 1, xp, { 1, 2 })
    refused("xp: expected at least one number, got none", 1, {}, {})
    refused("xp[2]: expected numbers that do not fall, got 0.0 after 1.0", 1, { 1, 0 }, { 1, 2 })
    refused("xp[2]: expected a number, got nan", 1, { 1, NAN }, { 1, 2 })
    refused("expected at most 3 arguments, got 4", 1, xp, fp, 0)
  end)
end)
