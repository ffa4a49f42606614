-- Traced vectors and matrices.
local ns = require "nslua"
local traces = require "bind.traces"
local same, fails, tape = traces.same, traces.fails, traces.tape

describe("traced vectors", function()
  local A = ns.matrix { { 1, 2, 3 }, { 4, 0, 7 } }
  local v = ns.vector { 1, 2, 4 }
  local p = { 2, -3, 0.5 }
  local sums = 1e-14 -- sums of products may be added up in another order

  it("add, subtract, scale", function()
    same(function(x) return x + x end, p)
    same(function(x) return (v + x) + (x - v) - x + 4 - 4 end, p)
    same(function(x) return x[1] * x end, p)
    same(function(x) return v * x[1] end, p)
    same(function(x) return x[1] * v end, p)
    same(function(x) return x / x[1] end, p)
    same(function(x) return -(x ^ 2) end, p)
    same(function(x) return 2 ^ x end, p)
  end)

  it("multiply with matrices from both sides", function()
    same(function(x) return A * x end, p, sums)
    local B = ns.matrix { { 1, 2 }, { 4, 5 }, { -1, 0 } }
    same(function(x) return x * B end, p, sums)
    assert.same({ 0, 0 }, tape(function(x) return ns.zeros(2, 3) * x end)(ns.vector(p)):totable())
  end)

  it("dot, sum, norm, cross", function()
    same(function(x) return x:dot(x) end, p, sums)
    same(function(x) return x:dot(v) end, p, sums)
    same(function(x) return v:dot(x) end, p, sums)
    same(function(x) return x:dot { 1, 2, x[1] } end, p, sums)
    same(function(x) return x:sum() end, p, sums)
    same(function(x) return x:norm() end, p, sums)
    same(function(x) return x:norm(1) end, p, sums)
    same(function(x) return x:norm(math.huge) end, p)
    same(function(x) return x:cross(v) end, p)
    assert.same({ 0, 0 }, tape(function(x) return x:norm() end):jacobian(1, ns.vector { 0, 0 })[1]:totable())
    assert.equal(0, tape(function(x) return ns.vector(0):dot(ns.vector(0)) * x end)(2))
  end)

  it("element by element: mul, div, abs, map, max, min", function()
    same(function(x) return x:mul(x) end, p)
    same(function(x) return v:mul(x) end, p)
    same(function(x) return x:div(v) end, p)
    same(function(x) return x:div { x[1], 2, 3 } end, p)
    same(function(x) return x:mul(x[2]) end, p)
    same(function(x) return x:abs() end, p)
    same(function(x) return x:map(math.sin) end, p)
    same(function(x) return x:map(function(a) return a * a end) end, p)
    same(function(x) return x:max() + x:min() end, p)
  end)

  it("copy, slice, convert", function()
    same(function(x)
      local y = x:copy()
      y[1] = y[2] * 2
      y:slice(2, 3)[1] = x[1]
      return y
    end, p)
    same(function(x) return x(2, 3) + x:slice(1, 2) end, p)
    same(function(x) return x(3, 1, -1) end, p)
    same(function(x) return x(2) * #x * x:size() end, p)
    same(function(x) return x:totable() end, p)
    same(function(x)
      local y = x:copy()
      y:assign { 1, x[1], 2 }
      y:slice(1, 1):fill(x[3])
      return y
    end, p)
    same(function(x)
      local sum = 0
      for i, e in pairs(x) do sum = sum + i * e end
      return sum
    end, p)
  end)

  it("assign without being disturbed by what they are assigned from", function()
    same(function(x)
      local y = x:copy()
      y:slice(2, 3):assign(y:slice(1, 2))
      return y
    end, p)
  end)

  it("are filled when they are the last argument", function()
    local c = tape(function(x, y) y[1], y[2] = x[1] * x[2], y[1] + x[1] end)
    local out = ns.vector { 5, 7 }
    assert.equal(0, select("#", c(ns.vector { 2, 3 }, out)))
    assert.same({ 6, 7 }, out:totable())
    fails(function(x, _) x[1] = 3 end, 0, "compile: argument 1 is read-only: only the last argument may be filled", { 1 }, { 2 })
    fails(function(x, _) x:slice(1, 1)[1] = 3 end, 0,
      "compile: argument 1 is read-only: only the last argument may be filled", { 1 }, { 2 })
    fails(function(_, y) y[1] = "a" end, 0, "argument 2[1]: number expected, got string", { 1 }, { 2 })
    fails(function(_, y) y[2] = 0 end, 0, "argument 2[2]: index out of range 1..1", { 1 }, { 2 })
  end)

  it("say what cannot be traced", function()
    fails(function(x) return x:sort() end, 0, "compile: traced vector: 'sort' can't be traced", p)
    fails(function(x) return x == x:copy() and 1 or 2 end, 0,
      "compile: a branch (==) on a traced value: what a compiled callback does must not depend on the values", p)
    fails(function(x) return tostring(x) end, 0,
      "compile: the text of a traced value: what a compiled callback does must not depend on the values", p)
    fails(function(x) return x:slice(x[1], 2) end, 0,
      "argument 1: slice: expected an integer, got traced value: compile: this takes no traced value", p)
    fails(function(x) return x * x end, 0, "traced vector of 3 * traced vector of 3: use v:dot(w) or v:mul(w) "
      .. "(element by element)", p)
    fails(function(x) return 1 / x end, 0, "number 1.0 / traced vector of 3: use v:div(w) or v^-1 (element by element)", p)
    fails(function(x) return x + x:slice(1, 2) end, 0,
      "traced vector of 3 + traced vector of 2: sizes do not match", p)
    fails(function(x) return A * x:slice(1, 2) end, 0,
      "2 x 3 matrix * traced vector of 2: sizes do not match", p)
    fails(function(x) return A + x end, 0, "2 x 3 matrix + traced vector of 3: arithmetic of matrices can't be traced", p)
    fails(function(x) return x % 2 end, 0, "traced vector of 3 % number 2.0: the remainder and the quotient are of numbers", p)
    fails(function(x) return x:dot { 1, 2 } end, 0, "dot: expected 3 elements, got a list of 2", p)
    fails(function(x) return x:norm(3) end, 0, "norm: expected 1, 2 or math.huge, got 3.0", p)
    fails(function(x) return x[4] end, 0, "argument 1[4]: index out of range 1..3", p)
    fails(function(x) return x[1.5] end, 0, "argument 1: index must be an integer, got number 1.5", p)
    fails(function(x) return x:slice(1, 2):cross(x) end, 0, "cross: self: expected a vector of 3, got traced vector of 2", p)
  end)

  it("refuse to be made from plain constructors, which hold numbers alone", function()
    local good, err = pcall(tape(function(x) return ns.vector { x[1], 2 } end), ns.vector(p))
    assert.is_false(good)
    assert.matches("compile: this takes no traced value$", err)
  end)
end)

describe("traced matrices", function()
  it("are filled, entry by entry or row by row", function()
    local c = tape(function(x, M)
      M[1][1], M[1][2] = x[1], x[1] * x[2]
      M[2] = { 0, M[1][1] + 1 }
      M[3] = x
    end)
    local M = ns.zeros(3, 2)
    c(ns.vector { 2, 5 }, M)
    assert.same({ { 2, 10 }, { 0, 3 }, { 2, 5 } }, { M[1]:totable(), M[2]:totable(), M[3]:totable() })
    local J = c:jacobian(1, ns.vector { 2, 5 }, M) -- rows: the entries by columns
    assert.equal(6, (J:rows()))
    assert.same({ 5, 2 }, J[4]:totable())
  end)

  it("are read: sizes, rows, entries", function()
    local c = tape(function(M, x) return M[1]:dot(x) + M[2][2] * #M + M:rows() + M:cols() end)
    assert.equal(1 * 5 + 2 * 6 + 4 * 2 + 2 + 2, c(ns.matrix { { 1, 2 }, { 3, 4 } }, ns.vector { 5, 6 }))
  end)

  it("say what cannot be traced", function()
    local M, x = ns.eye(2), ns.vector { 1, 2 }
    local cannot = ": arithmetic of matrices can't be traced"
    fails(function(N, y) return N * y end, 0, "compile: products of traced matrices can't be traced", M, x)
    fails(function(N, _) return N + N end, 0, "traced matrix + traced matrix" .. cannot, M, x)
    fails(function(N, _) N[1][1] = 2 end, 0, "compile: argument 1 is read-only: only the last argument may be filled", M, x)
    fails(function(N, _) N[1] = { 1, 2 } end, 0, "compile: argument 1 is read-only: only the last argument may be filled", M, x)
    fails(function(N, _) return N:inverse() end, 0, "compile: traced matrix: 'inverse' can't be traced", M, x)
    fails(function(_, N) N[1] = { 1, 2, 3 } end, 0, "argument 2: expected 2 elements, got a list of 3", x, M)
    fails(function(_, N) N[3] = { 1, 2 } end, 0, "argument 2[3]: index out of range 1..2", x, M)
  end)
end)
