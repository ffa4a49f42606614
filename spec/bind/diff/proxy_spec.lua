-- Vectors of dual numbers.
local ns = require "nslua"
local duals = require "bind.duals"
local fails, rows = duals.fails, duals.rows

local sin = math.sin -- captured as a local, on purpose

describe("dual vectors", function()
  local A = ns.matrix { { 1, 2, 3 }, { 4, 5, 7 } }
  local p = { 2, -3, 0.5 }

  local function same_as(reference, f)
    local got, expected = ns.jacobian(f, p), ns.jacobian(reference, p)
    for i = 1, got:rows() do
      for j = 1, 3 do assert.is_true(math.abs(got[i][j] - expected[i][j]) < 1e-14, ("entry %d, %d"):format(i, j)) end
    end
    assert.equal(expected:rows(), (got:rows()))
  end
  local function each(g) return function(x) return { g(x[1]), g(x[2]), g(x[3]) } end end

  it("add, subtract, scale", function()
    local v = ns.vector { 1, 2, 3 }
    same_as(each(function(a) return 2 * a end), function(x) return x + x end)
    same_as(each(function(a) return a * 1 end), function(x) return (v + x) + (x - v) - x + 4 - 4 end)
    same_as(function(x) return { x[1] * x[1], x[1] * x[2], x[1] * x[3] } end, function(x) return x[1] * x end)
    same_as(function(x) return { x[1] * 1, x[1] * 2, x[1] * 3 } end, function(x) return v * x[1] end)
    same_as(function(x) return { x[1] * 1, x[1] * 2, x[1] * 3 } end, function(x) return x[1] * v end)
    same_as(function(x) return { 1, x[2] / x[1], x[3] / x[1] } end, function(x) return x / x[1] end)
    same_as(each(function(a) return -a ^ 2 end), function(x) return -(x ^ 2) end)
    same_as(each(function(a) return 2 ^ a end), function(x) return 2 ^ x end)
  end)
  it("multiply with matrices from both sides", function()
    assert.same(rows(A), rows(ns.jacobian(function(x) return A * x end, p)))
    local B = ns.matrix { { 1, 2 }, { 4, 5 }, { -1, 0 } }
    assert.same({ { 1, 4, -1 }, { 2, 5, 0 } }, rows(ns.jacobian(function(x) return x * B end, p)))
    local n, big, x = 24, ns.zeros(24, 24), ns.vector(24)
    for i = 1, n do
      x[i] = math.sin(i)
      for j = 1, n do big[i][j] = math.cos(i * j) end
    end
    assert.same(rows(big), rows(ns.jacobian(function(v) return big * v end, x)))
  end)
  it("dot, sum, norm, cross", function()
    local v = ns.vector { 1, 2, 3 }
    same_as(function(x) return x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 end, function(x) return x:dot(x) end)
    same_as(function(x) return x[1] + 2 * x[2] + 3 * x[3] end, function(x) return x:dot(v) end)
    same_as(function(x) return x[1] + 2 * x[2] + 3 * x[3] end, function(x) return v:dot(x) end)
    same_as(function(x) return x[1] + 2 * x[2] + x[1] * x[3] end, function(x) return x:dot { 1, 2, x[1] } end)
    same_as(function(x) return x[1] + x[2] + x[3] end, function(x) return x:sum() end)
    same_as(function(x) return (x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2) ^ 0.5 end, function(x) return x:norm() end)
    same_as(function(x) return math.abs(x[1]) + math.abs(x[2]) + x[3] end, function(x) return x:norm(1) end)
    same_as(function(x) return math.abs(x[2]) end, function(x) return x:norm(math.huge) end)
    same_as(function(x) return { x[2] * 3 - x[3] * 2, x[3] - x[1] * 3, 2 * x[1] - x[2] } end,
      function(x) return x:cross(v) end)
    assert.same({ 0, 0 }, ns.gradient(function(x) return x:norm() end, { 0, 0 }):totable())
  end)
  it("element by element: mul, div, abs, map, max, min", function()
    local v = ns.vector { 1, 2, 4 }
    same_as(each(function(a) return a * a end), function(x) return x:mul(x) end)
    same_as(function(x) return { x[1], x[2] * 2, x[3] * 4 } end, function(x) return v:mul(x) end)
    same_as(function(x) return { x[1], x[2] * 2, x[3] * 4 } end, function(x) return x:mul { 1, 2, 4 } end)
    same_as(each(function(a) return a * 2 end), function(x) return x:mul(2) end)
    same_as(function(x) return { x[1], x[2] / 2, x[3] / 4 } end, function(x) return x:div(v) end)
    same_as(each(function(a) return a / a end), function(x) return x:div(x) end)
    same_as(each(math.abs), function(x) return x:abs() end)
    same_as(each(math.sin), function(x) return x:map(sin) end)
    same_as(function(x) return { x[1], x[2] } end, function(x) return { x:max(), x:min() } end)
  end)
  it("copy, assign, fill, totable, slice, pairs, length, text", function()
    same_as(function(x) return { x[1], 5, x[3] } end, function(x)
      local y = x:copy()
      y[2] = 5
      return y
    end)
    local J = ns.jacobian(function(x, y)
      y:fill(x[1])
      y:slice(2, 3):assign(x:slice(1, 2))
      y(4, 5)[2] = x(-1)
      local t, sum = x:totable(), 0
      for i, e in pairs(x) do sum = sum + i * e end
      for i = 1, #x do sum = sum + t[i] end
      y[6] = sum
      y:slice(5, 4, -1)[2] = 2 * x[2]
      assert(tostring(x) == tostring(ns.vector(p)) and x:size() == 3)
      assert(x == x:copy() and x == ns.vector(p) and x ~= 2 * x)
    end, p, 6)
    assert.same({ { 1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 2, 0 }, { 0, 0, 1 }, { 2, 3, 4 } }, rows(J))
    assert.same({ { 0, 1, 0 }, { 0, 1, 0 }, { 0, 1, 0 } }, rows(ns.jacobian(function(x, y)
      y:assign(x)
      y:slice(1, 2):assign(y:slice(2, 3))
      y:assign { y[1], y[1], y[1] }
    end, p, 3)))
  end)
  it("name what is wrong", function()
    local function wrong(pattern, f)
      fails(pattern, function()
        local plain = true
        return ns.jacobian(function(x, y)
          if plain then plain = false else f(x, y) end
        end, p, 2)
      end)
    end
    wrong("x%[5%]: index out of range 1..3", function(x) return x[5] end)
    wrong("x%[0%]: index out of range 1..3", function(x) return x[0] end)
    wrong("y%[3%]: index out of range 1..2", function(_, y) y[3] = 1 end)
    wrong("x: index must be an integer, got nil", function(x) return x[nil] end)
    wrong("y: index must be an integer, got string 'a'", function(_, y) y.a = 1 end)
    wrong("y%[2%]: number expected, got string", function(_, y) y[2] = "2" end)
    wrong("y%[2%]: number expected, got nil", function(_, y) y[2] = nil end)
    wrong("x is read%-only", function(x) x[1] = 1 end)
    wrong("x is read%-only", function(x) x:slice(1, 2):fill(1) end)
    wrong("dual vector: 'argmax' does not propagate derivatives; give the Jacobian callback",
      function(x) x:argmax() end)
    wrong("'outer' does not propagate derivatives", function(x) x:outer(x) end)
    wrong("attempt to call a nil value", function(x) x:nonsense() end)
    wrong("dual vector of 3 %* dual vector of 3: use v:dot%(w%)", function(x) return x * x end)
    wrong("dual vector of 3 %+ vector of 2: sizes do not match", function(x) return x + ns.vector(2) end)
    wrong("vector of 2 %+ dual vector of 3: sizes do not match", function(x) return ns.vector(2) + x end)
    wrong("2 x 2 matrix %* vector of 3: sizes do not match", function(x) return ns.eye(2) * x end)
    wrong("dual %* 3 x 3 matrix: a matrix holds no dual numbers", function(x) return x[1] * ns.eye(3) end)
    wrong("dual vector of 3 / dual vector of 3: use v:div%(w%)", function(x) return x / x end)
    wrong("dual %+ an empty table: expected a number, a dual or a vector", function(x) return x[1] + {} end)
    wrong("dot: argument: expected a vector of 3, got vector of 2", function(x) return x:dot(ns.vector(2)) end)
    wrong("y: expected 2 elements, got a list of 1", function(_, y) y:assign { 1 } end)
    wrong("map: f returned nil, expected a number", function(x) x:map(function() end) end)
    wrong("fill: value: expected a number, got string", function(_, y) y:fill "a" end)
    wrong("attempt to index a dual value", function(x) return x[1].value end)
  end)
  it("a plain vector takes no dual, and the error says what to do", function()
    local scratch = ns.vector(2)
    fails("%[1%]: number expected, got dual: this does not propagate derivatives; give the Jacobian callback",
      ns.jacobian, function(x) scratch[1] = x[1] return scratch end, { 1 })
  end)
end)
