-- ns.design: sets of points.
local expect = require "expect"
local ns = require "nslua"
local sobol = require "nslua.sweep.sobol"

local function raises(message, f, ...) assert.equal(message, expect.message(f, ...)) end

describe("the Sobol sequence", function()
  it("begins with the points that one knows", function()
    assert.same({ 0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125 }, sobol.points(1, 8, 0))
    assert.same({ 0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625 }, sobol.points(2, 8, 0))
    assert.same({ 0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375 }, sobol.points(3, 8, 0))
  end)

  it("has in every dimension one point in each of 2^k equal parts", function()
    for dimension = 1, sobol.most do
      for _, shift in ipairs { 0, 0x9ABCDEF1 } do
        local seen = {}
        for _, x in ipairs(sobol.points(dimension, 1024, shift)) do
          local cell = math.floor(x * 1024)
          assert.is_nil(seen[cell])
          seen[cell] = true
        end
      end
    end
  end)

  -- Sobol's property A: among the first 2^d points there is one in each of the 2^d halves of halves of the cube. It holds
  -- when the first binary digits of the direction numbers form a matrix that is regular over GF(2).
  it("has property A in its first 32 dimensions", function()
    local n, rows = 32, {}
    for d = 1, n do
      local v, row = sobol.directions(d), 0
      for i = 1, n do row = row << 1 | v[i] >> 31 & 1 end
      rows[d] = row
    end
    local rank = 0
    for bit = n - 1, 0, -1 do
      local pivot
      for d = rank + 1, n do pivot = pivot or (rows[d] >> bit & 1 == 1 and d or nil) end
      if pivot then
        rank = rank + 1
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for d = 1, n do
          if d ~= rank and rows[d] >> bit & 1 == 1 then rows[d] = rows[d] ~ rows[rank] end
        end
      end
    end
    assert.equal(n, rank)
  end)

  it("integrates products better than random points do", function()
    local function fault(make)
      local ranges, sum = {}, 0
      for j = 1, 8 do ranges["x" .. j] = { 0, 1 } end
      local d = make(4096, ranges)
      for k = 1, 4096 do
        local product = 1
        for _, x in pairs(d:row(k)) do product = product * (0.5 + x) end
        sum = sum + product
      end
      return math.abs(sum / 4096 - 1)
    end
    assert.is_true(fault(ns.design.sobol) < 1e-3)
    assert.is_true(fault(ns.design.sobol) < 0.2 * fault(ns.design.random))
  end)
end)

describe("a design", function()
  it("is a grid or a list", function()
    local g = ns.design.grid { a = { 1, 2 }, b = { 3, 4, 5 } }
    assert.equal("design of 6 points: a, b", tostring(g))
    assert.same({ a = 2, b = 3 }, g:row(4))
    assert.same({ 3, 4, 5, 3, 4, 5 }, g:column "b":totable())
    local l = ns.design.list { { a = 1, b = true }, { a = 2, b = false } }
    assert.same({ 2, { a = 2, b = false }, { 1, 0 } }, { #l, l:row(2), l:column "b":totable() })
  end)

  it("is random, with the same bits for the same seed, within its ranges", function()
    local ranges = { a = { -1, 2 }, k = { 1, 1e6, "log" }, u = function(u) return u < 0.5 and 0 or 1 end }
    for _, make in ipairs { ns.design.random, ns.design.latin_hypercube, ns.design.sobol } do
      local d, e, other = make(200, ranges, { seed = 3 }), make(200, ranges, { seed = 3 }), make(200, ranges, { seed = 4 })
      assert.same(d:column "a":totable(), e:column "a":totable())
      assert.is_false(d:column("a")[1] == other:column("a")[1])
      local small, ones = 0, 0
      for k = 1, 200 do
        local row = d:row(k)
        assert.is_true(row.a >= -1 and row.a <= 2 and row.k >= 1 and row.k <= 1e6)
        if row.k < 1e3 then small = small + 1 end
        ones = ones + row.u
      end
      assert.is_true(small > 70 and small < 130 and ones > 70 and ones < 130)
    end
  end)

  it("of a Latin hypercube has one point in each of n equal parts of every range", function()
    local d = ns.design.latin_hypercube(50, { a = { 0, 50 }, b = { 0, 50 } }, { seed = 1 })
    for _, name in ipairs { "a", "b" } do
      local v = d:column(name):sort()
      for k = 1, 50 do assert.equal(k - 1, math.floor(v[k])) end
    end
  end)

  it("goes into a sweep", function()
    local t = ns.sweep { parameters = ns.design.sobol(8, { a = { 0, 1 } }), on = "here",
      run = function(p) return 2 * p.a end }:table()
    assert.same({ 0, 1, 1.5, 0.5, 0.75, 1.75, 1.25, 0.25 }, t.value:totable())
  end)

  it("refuses what it can not be", function()
    raises("design.sobol: a: expected {a, b}, {a, b, \"log\"} or a function, got 3", ns.design.sobol, 4, { a = 3 })
    raises("design.random: a: a logarithmic range needs bounds above 0", ns.design.random, 4, { a = { 0, 1, "log" } })
    raises("design.random: a: expected \"log\", got 'lin'", ns.design.random, 4, { a = { 0, 1, "lin" } })
    raises("design.random: a: expected finite bounds, got 0, inf", ns.design.random, 4, { a = { 0, 1 / 0 } })
    raises("design.random: a: expected a range {a, b}, got a list of 4", ns.design.random, 4, { a = { 1, 2, "log", 4 } })
    raises("design.sobol: a: expected a number, got nan", ns.design.sobol, 4, { a = function() return 0 / 0 end })
    raises("design.grid: a: the list has no values", ns.design.grid, { a = {} })
    raises("row: expected an integer from 1 to 1, got 2", function() ns.design.grid { a = { 1 } }:row(2) end)
    raises("row: expected a design before a colon, as in design:row(...)", function() ns.design.grid { a = { 1 } }.row(1) end)
    for _, x in ipairs(ns.design.sobol(4, { a = { 1e-300, 1e300, "log" } }):column "a":totable()) do
      assert.is_true(x < math.huge)
    end
    raises("design.random: there are no parameters", ns.design.random, 4, {})
    raises("design.random: n: expected an integer of 1 or more, got 0", ns.design.random, 0, { a = { 0, 1 } })
    raises("column: no column is called 'z' (known: a)", function() ns.design.grid { a = { 1 } }:column "z" end)
    local ranges = {}
    for j = 1, 37 do ranges["x" .. j] = { 0, 1 } end
    raises("design.sobol: it has at most 36 parameters, got 37", ns.design.sobol, 4, ranges)
  end)
end)
