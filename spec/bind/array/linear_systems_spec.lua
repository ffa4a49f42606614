-- What the dense, sparse and banded faces of linear algebra share: right-hand sides, singular matrices, options.
local ns = require "nslua"
local fails = require "linalg.matrices".fails

local rows = {{4, 1, 0}, {1, 3, 1}, {0, 1, 5}}
local faces = {dense = ns.matrix, sparse = function(t) return ns.sparse(ns.matrix(t)) end, banded = ns.band}

for name, make in pairs(faces) do
  describe("a " .. name .. " system", function()
    local A = make(rows)

    it("takes a right-hand side of any form, and leaves it alone", function()
      local x = ns.solve(A, {5, 5, 6})
      for i = 1, 3 do assert.is_true(math.abs(x[i] - 1) < 1e-14) end
      local b, long = ns.vector{5, 5, 6}, ns.vector{6, 0, 5, 0, 5}
      assert.are.same(x:totable(), ns.solve(A, b):totable())
      assert.are.same({5, 5, 6}, b:totable())
      assert.are.same(x:totable(), ns.solve(A, long:slice(5, 1, -2)):totable())
      local X = ns.solve(A, {{5, 1}, {5, 2}, {6, 3}})
      assert.are.same({3, 2}, {X:shape()})
      assert.are.same(x:totable(), X:column(1):totable())
      local one = ns.solve(A, ns.matrix{{5}, {5}, {6}})
      assert.are.same({3, 1}, {one:shape()})
      assert.are.same({3, 0}, {ns.solve(A, ns.matrix(3, 0)):shape()})
    end)

    it("names a wrong right-hand side", function()
      fails("solve: b: expected a vector of 3, got", ns.solve, A, {1, 2})
      fails("solve: b: expected a vector of 3, got nil", ns.solve, A)
      fails("solve: b[2] is nan", ns.solve, A, {1, 0 / 0, 3})
      fails("solve: b[2][1] is inf", ns.solve, A, {{1}, {math.huge}, {3}})
      fails("solve: b: expected a", ns.solve, A, ns.matrix(2, 2))
    end)

    it("tells what is singular, and what is to working precision", function()
      fails("solve: A is singular", ns.solve, make{{1, 2}, {2, 4}}, {1, 1})
      fails("solve: A is singular", ns.solve, make{{0}}, {1})
      fails("solve: A is singular to working precision (rcond 1e-18)", ns.solve, make{{1, 0}, {0, 1e-18}}, {1, 1})
    end)

    it("gives rcond when it is asked for", function()
      local x, rcond = ns.solve(A, {5, 5, 6}, {rcond = true})
      assert.are.equal(3, #x)
      assert.is_true(rcond > 0.1 and rcond <= 1)
      assert.are.equal(1, select("#", ns.solve(A, {5, 5, 6}, {rcond = false})))
      assert.are.equal(1, select("#", ns.solve(A, {5, 5, 6}, {})))
      fails("solve: options: expected a table, got number 3", ns.solve, A, {5, 5, 6}, 3)
      fails("solve: unknown option 'cond' (known: rcond)", ns.solve, A, {5, 5, 6}, {cond = true})
      fails("solve: unknown option '1' (known: rcond)", ns.solve, A, {5, 5, 6}, {true})
    end)
  end)
end
