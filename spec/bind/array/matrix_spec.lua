local ns = require "nslua"
local message = require "expect".message
local internal = require "nslua.internal"

local mat, vec, inf, nan = ns.matrix, ns.vector, math.huge, 0 / 0

local function set(v, i, x) v[i] = x end
local function get(v, i) return v[i] end

local function random(rows, cols)
  return mat(rows, cols):map(function() return math.random() - 0.5 end)
end

local function product(A, B)
  local C = {}
  for i = 1, A:rows() do
    C[i] = {}
    for j = 1, B:cols() do
      local s = 0
      for k = 1, A:cols() do s = s + A[i][k] * B[k][j] end
      C[i][j] = s
    end
  end
  return mat(C)
end

describe("a row of another size", function()
  it("is told at the line of the script", function()
    local f = load("local A = ...\nA[1] = { 1 }", "@rows.lua")
    local good, err = pcall(f, require "nslua".zeros(2, 2))
    assert.is_false(good)
    assert.equal("rows.lua:2: matrix[1]: expected 2 elements, got a list of 1", err)
  end)
end)

describe("making a matrix", function()
  it("takes sizes, rows, a matrix or a vector", function()
    local E = mat {{1, 2, 3}, {4, 5, 6}}
    assert.same({{1, 2, 3}, {4, 5, 6}}, E:totable())
    assert.same({{0, 0}, {0, 0}, {0, 0}}, mat(3, 2):totable())
    assert.same({{1, 2}, {3, 4}}, mat {vec {1, 2}, {3, 4}}:totable())
    assert.same({{1, 2}}, mat {1, 2}:totable())
    assert.same({{1, 2}}, mat(vec {1, 2}):totable())
    local F = mat(E)
    F[1][1] = 9
    assert.equal(1, E[1][1])
    assert.same({0, 0}, {mat {}:shape()})
    assert.same({0, 4}, {mat(0, 4):shape()})
    assert.same({2, 0}, {mat {{}, {}}:shape()})
  end)

  it("says what it can't take", function()
    assert.equal("matrix: argument[2]: expected 3 numbers, got 2", message(mat, {{1, 2, 3}, {4, 5}}))
    assert.equal("matrix: argument[2][1]: expected a number, got string", message(mat, {{1, 2}, {"3", 4}}))
    assert.equal("matrix: argument[2]: expected a row of 2 numbers, got number 3.0", message(mat, {{1, 2}, 3}))
    assert.equal("matrix: argument[1]: expected a row of numbers, got string", message(mat, {"1", 2}))
    assert.equal("matrix: argument: expected a matrix, got nil", message(mat, nil))
    assert.equal("matrix: expected sizes of 0 or more, got -1 x 2", message(mat, -1, 2))
    assert.matches("too large", message(mat, 1 << 40, 1 << 40))
    assert.matches("too large", message(mat, 2147483647, 2147483647))
    assert.equal("matrix: rows: expected an integer, got string", message(mat, "2", 2))
    assert.equal("matrix: expected a table of rows, a matrix, or the numbers of rows and columns", message(mat, 3))
  end)
end)

describe("entries", function()
  it("are read and written by rows", function()
    local E = mat(2, 3)
    E[1][2] = 5
    E[2] = {7, 8, 9}
    assert.same({{0, 5, 0}, {7, 8, 9}}, E:totable())
    E[1] = E[2]
    E[2] = vec {1, 2, 3}
    assert.same({{7, 8, 9}, {1, 2, 3}}, E:totable())
    assert.equal(8, E:get(1, 2))
    assert.equal(3, E(2, 3))
    assert.equal(E, E:set(2, 3, -1))
    assert.equal(-1, E[2][3])
    assert.equal(2, #E)
    assert.equal(2, E:rows())
    assert.equal(3, E:cols())
    assert.equal(3, #E[1])
  end)

  it("rows are made once", function()
    local E = mat(3, 3)
    assert.is_true(rawequal(E[2], E[2]))
    assert.is_true(rawequal(E[2], E:row(2)))
    for i = 1, 3 do E[i][1] = i end
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    for i = 1, 1000 do E[1 + i % 3][2] = i end
    local after = collectgarbage "count"
    collectgarbage "restart"
    assert.is_true(after - before < 1)
  end)

  it("rows that are read often answer as before, with few instructions", function()
    local questions = load([[
return { function(E) return E[1][2], E[2.0][1], #E, #E[2], type(E), getmetatable(E), tostring(E), E(2, 1) end,
  function(E) return E[0] end, function(E) return E[3] end, function(E) return E[1.5] end, function(E) return E["1"] end,
  function(E) return E[nil] end, function(E) return E[0 / 0] end, function(E) return E.shpae end, function(E) return E:foo() end,
  function(E) E[1] = { 1, 2 } end, function(E) E[3] = { 1, 2, 3 } end, function(E) E.x = 1 end, function(E) E[1][4] = 1 end,
  function(E) E[1][1] = "1" end, function(E) E[2] = { 4, 5, 6 } return E[2][3] end,
  function(E) return E:transpose():norm(), E:shape(), E:row(2)[1], E:column(2)[1], E:copy() == E, E:totable()[2][3], E + E end,
  function(E) local s = 0 for i, row in ipairs(E) do s = s + i * row[2] end return s end,
  function(E) local s = 0 for i, row in pairs(E) do s = s + i * row[2] end return s end,
  function(E) return rawget(E, 1) end, function(E) return next(E) end, function(E) return rawlen(E) end,
  function(E) return require("nslua").vector { 1, 2, 3 }:dot(E) end, function(E) return setmetatable(E, nil) end,
  function(E) return rawequal(E[1], E:row(1)), E[1] == E[1]:copy() end }]], "@questions.lua")()
    local function answers(E)
      local told = {}
      for k, question in ipairs(questions) do
        local all = table.pack(pcall(question, E))
        for i = 1, all.n do all[i] = tostring(all[i]) end
        told[k] = table.concat(all, " ")
      end
      return told
    end
    local E, other = mat { { 1, 2, 3 }, { 4, 5, 6 } }, mat { { 1, 2, 3 }, { 4, 5, 6 } }
    local row, before = E[1], answers(E)
    local metatable, sum = debug.getmetatable(E), 0
    for _ = 1, 500 do sum = sum + E[1][1] end
    assert.is_false(rawequal(metatable, debug.getmetatable(E)))
    assert.is_true(rawequal(metatable, debug.getmetatable(other)))
    assert.is_true(rawequal(row, E[1]))
    assert.same(before, answers(E))
    E[2][3] = 7
    assert.equal(7, E:totable()[2][3])
    local owner = internal.owner()
    local C = owner:matrix(2, 3, "C")
    for _ = 1, 500 do sum = sum + C[1][1] end
    owner:close()
    assert.equal("matrix 'C' belongs to a closed internal.Owner", message(get, C, 1))
  end)

  it("errors carry the label and the place", function()
    local C = internal.owner():matrix(2, 3, "C")
    assert.equal("C[3]: row index out of range 1..2", message(get, C, 3))
    assert.equal("C[0]: row index out of range 1..2", message(set, C, 0, {1, 2, 3}))
    assert.equal("C[2][4]: index out of range 1..3", message(get, C[2], 4))
    assert.equal("C[2][1]: number expected, got string", message(set, C[2], 1, "x"))
    assert.equal("C[1]: expected 3 elements, got a list of 2", message(set, C, 1, {1, 2}))
    assert.equal("C[1][3]: expected a number, got boolean", message(set, C, 1, {1, 2, true}))
    assert.equal("C[1]: expected 3 elements, got number 5.0", message(set, C, 1, 5))
    assert.equal("C: row index must be an integer, got number 1.5", message(get, C, 1.5))
    assert.equal("C: row index must be an integer, got string 'x'", message(set, C, "x", 1))
    assert.equal("C(3, 1): index out of range of a 2 x 3 matrix", message(C.get, C, 3, 1))
    assert.equal("C(1, 4): index out of range of a 2 x 3 matrix", message(C, 1, 4))
    assert.equal("C(1, 1): number expected, got nil", message(C.set, C, 1, 1, nil))
    assert.equal("C: column index: expected an integer, got no value", message(C.get, C, 1))
    assert.same({{0, 0, 0}, {0, 0, 0}}, C:totable())
    assert.equal("matrix[5]: row index out of range 1..1", message(get, mat(1, 1), 5))
    assert.equal("matrix: it has no method 'nothing'", message(function() return C.nothing end))
  end)

  it("can be read-only", function()
    local A = internal.owner():matrix(2, 2, "A", true)
    assert.equal("A[1] is read-only", message(set, A[1], 1, 1))
    assert.equal("A is read-only", message(set, A, 1, {1, 2}))
    assert.equal("A is read-only", message(A.set, A, 1, 1, 1))
    assert.equal("A is read-only", message(A.fill, A, 1))
    assert.equal("A is read-only", message(A.assign, A, {{1, 2}, {3, 4}}))
    for _, v in ipairs {A:column(1), A:diagonal(), A:slice(1, 1, 1, 2)[1]} do
      assert.matches("read%-only", message(set, v, 1, 1))
    end
    A:copy()[1][1] = 1
  end)

  it("count writes for the owner", function()
    local o = internal.owner()
    local A = o:matrix(3, 3)
    local n = 0
    local function wrote() n = n + 1 assert.equal(n, o:version()) end
    A[1][1] = 1 wrote()
    A[2] = {1, 2, 3} wrote()
    A:set(1, 1, 2) wrote()
    A:column(2)[1] = 3 wrote()
    A:diagonal():fill(1) wrote()
    A:slice(1, 2, 1, 2)[2][2] = 4 wrote()
    A:assign(mat(3, 3)) wrote()
    A:fill(0) wrote()
    local _ = A[1][1] + (A * A):sum() + A:slice(1, 1, 1, 1):norm()
    assert.equal(n, o:version())
  end)

  it("are walked by pairs", function()
    local rows = {}
    for i, row in pairs(mat {{1, 2}, {3, 4}}) do rows[i] = row:totable() end
    assert.same({{1, 2}, {3, 4}}, rows)
  end)
end)

describe("views of a matrix", function()
  it("are live", function()
    local E = mat {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
    local column, diagonal, S = E:column(2), E:diagonal(), E:slice(2, 3, 2, 3)
    assert.equal(vec {2, 5, 8}, column)
    assert.equal(vec {1, 5, 9}, diagonal)
    assert.equal(mat {{5, 6}, {8, 9}}, S)
    S[1][1] = 50
    assert.equal(50, column[2])
    assert.equal(50, diagonal[2])
    diagonal:fill(0)
    assert.equal(mat {{0, 2, 3}, {4, 0, 6}, {7, 8, 0}}, E)
    S:assign {{1, 1}, {1, 1}}
    assert.equal(mat {{0, 2, 3}, {4, 1, 1}, {7, 1, 1}}, E)
    assert.equal(mat {{4, 1}, {7, 1}}, E:slice(-2, -1, nil, 2))
    assert.equal(vec {3, 1, 1}, E:column(-1))
    assert.same({0, 3}, {E:slice(2, 1, 1, 3):shape()})
    assert.equal(2, #mat(2, 5):diagonal())
    assert.equal(0, #mat(0, 5):diagonal())
  end)

  it("keep the numbers alive", function()
    local S = mat {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}:slice(2, 3, 2, 3):slice(2, 2, 1, 2)
    local row = mat {{1, 2}, {3, 4}}[2]
    collectgarbage()
    collectgarbage()
    assert.same({{8, 9}}, S:totable())
    assert.same({3, 4}, row:totable())
    row[1] = 5
  end)

  it("are collected with their matrix", function()
    local weak = setmetatable({}, {__mode = "v"})
    do
      local E = mat(2, 2)
      for k = 1, 500 do E[1 + k % 2][1] = k end
      weak[1], weak[2] = E, E[1]
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
    assert.is_nil(weak[2])
  end)

  it("may overlap in assign", function()
    local E = mat {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
    E:slice(2, 3, 2, 3):assign(E:slice(1, 2, 1, 2))
    assert.equal(mat {{1, 2, 3}, {4, 1, 2}, {7, 4, 5}}, E)
  end)

  it("say what is out of range", function()
    local E = mat(2, 3)
    assert.equal("matrix: slice 1..3 out of range 1..2", message(E.slice, E, 1, 3, 1, 1))
    assert.equal("matrix: slice 1..4 out of range 1..3", message(E.slice, E, 1, 1, 1, 4))
    assert.equal("matrix: column 4 out of range 1..3", message(E.column, E, 4))
    assert.equal("matrix: row 0 out of range 1..2", message(E.row, E, 0))
    assert.equal("assign: matrix: expected a 2 x 3 matrix, got 3 x 2 matrix", message(E.assign, E, mat(3, 2)))
    assert.equal("assign: matrix[2]: expected 3 numbers, got 2", message(E.assign, E, {{1, 2, 3}, {4, 5}}))
    assert.equal(mat(2, 3), E)
  end)
end)

describe("matrix methods", function()
  it("reduce", function()
    local E = mat {{1, -2}, {-3, 4}}
    assert.equal(0, E:sum())
    assert.equal(-3, E:min())
    assert.equal(4, E:max())
    assert.same({2, 2}, {E:argmax()})
    assert.same({2, 1}, {E:argmin()})
    assert.equal(5, E:trace())
    assert.near(math.sqrt(30), E:norm(), 1e-15)
    assert.equal(E:norm(), E:norm "fro")
    assert.equal(6, E:norm(1))
    assert.equal(7, E:norm(inf))
    assert.equal(0, mat(0, 3):norm(inf))
    assert.is_true(E:isfinite())
    E[1][1] = inf
    assert.is_false(E:isfinite())
    assert.equal('norm: kind: expected "fro", 1 or math.huge, got string', message(E.norm, E, "nuc"))
    assert.equal("trace: self: expected a square matrix, got 2 x 3 matrix", message(E.trace, mat(2, 3)))
    assert.equal("max: the matrix is empty", message(E.max, mat(0, 2)))
  end)

  it("transpose, reshape, map", function()
    local E = mat {{1, 2, 3}, {4, 5, 6}}
    assert.equal(mat {{1, 4}, {2, 5}, {3, 6}}, E:transpose())
    assert.equal(E, E:transpose():transpose())
    assert.equal(mat {{1, 2}, {3, 4}, {5, 6}}, E:reshape(3, 2))
    assert.equal(mat {{1, 2, 3, 4, 5, 6}}, E:reshape(1, -1))
    assert.equal("reshape: 2 x 3 matrix does not fill 4 x 2", message(E.reshape, E, 4, 2))
    assert.equal("reshape: 2 x 3 matrix does not fill 4 x -1", message(E.reshape, E, 4, -1))
    assert.equal(mat {{1, 4, 9}, {16, 25, 36}}, E:map(function(x) return x * x end))
    assert.equal(mat {{2, 2, 2}, {2, 2, 2}}, E:copy():fill(2))
    assert.equal(E, (-E):abs())
  end)
end)

describe("matrix arithmetic", function()
  local E, F = mat {{1, 2}, {3, 4}}, mat {{0, 1}, {1, 0}}

  it("is the field's", function()
    assert.equal(mat {{1, 3}, {4, 4}}, E + F)
    assert.equal(mat {{1, 1}, {2, 4}}, E - F)
    assert.equal(mat {{-1, -2}, {-3, -4}}, -E)
    assert.equal(mat {{2, 4}, {6, 8}}, 2 * E)
    assert.equal(2 * E, E * 2)
    assert.equal(mat {{0.5, 1}, {1.5, 2}}, E / 2)
    assert.equal(mat {{2, 1}, {4, 3}}, E * F)
    assert.equal(vec {5, 11}, E * vec {1, 2})
    assert.equal(vec {7, 10}, vec {1, 2} * E)
    assert.equal(mat {{0, 2}, {3, 0}}, E:mul(F))
    assert.equal(mat {{1, 1}, {1, 1}}, E:div {{1, 2}, {3, 4}})
    assert.is_false(E == F)
    assert.is_false(E == mat(2, 3))
  end)

  it("agrees with sums of products, small and large, on views too", function()
    math.randomseed(7)
    for _, s in ipairs {{1, 1, 1}, {3, 5, 2}, {8, 8, 8}, {9, 8, 8}, {40, 33, 21}, {1, 300, 1}} do
      local A, B = random(s[1], s[2]), random(s[2], s[3])
      assert.is_true((A * B - product(A, B)):norm() < 1e-13 * s[2])
      local x = random(1, s[2])[1]
      assert.is_true((A * x - (A * x:column()):column(1)):norm(inf) < 1e-13 * s[2])
      assert.is_true((x * B - (x:row() * B)[1]):norm(inf) < 1e-13 * s[2])
    end
    local G = random(30, 30)
    local A, B = G:slice(2, 25, 3, 28), G:slice(5, 30, 1, 20)
    assert.is_true((A * B - product(A, B)):norm() < 1e-12)
    local back = G:column(1):slice(-1, 1, -1)
    assert.is_true((G * back - G * back:copy()):norm() < 1e-13)
  end)

  it("lets nan and infinity through", function()
    local A = mat {{0, 1}, {0, 0}}
    assert.is_false((A * vec {nan, 0}):isfinite())
    assert.is_false((mat(30, 30) * vec(30):fill(inf)):isfinite())
    assert.is_false((mat(2, 2) * mat {{inf, 0}, {0, 0}}):isfinite())
  end)

  it("works on empty matrices", function()
    assert.same({2, 3}, {(mat(2, 0) * mat(0, 3)):shape()})
    assert.equal(0, (mat(2, 0) * mat(0, 3)):norm())
    assert.equal(vec(2), mat(2, 0) * vec(0))
    assert.same({0, 3}, {(mat(0, 2) * mat(2, 3)):shape()})
  end)

  it("names the sizes that do not match", function()
    assert.equal("2 x 3 matrix * vector of 2: sizes do not match", message(function() return mat(2, 3) * vec(2) end))
    assert.equal("vector of 3 * 2 x 3 matrix: sizes do not match", message(function() return vec(3) * mat(2, 3) end))
    assert.equal("2 x 3 matrix * 2 x 3 matrix: sizes do not match",
      message(function() return mat(2, 3) * mat(2, 3) end))
    assert.equal("2 x 2 matrix + 2 x 3 matrix: sizes do not match", message(function() return E + mat(2, 3) end))
    assert.equal("2 x 2 matrix - vector of 2: sizes do not match", message(function() return E - vec(2) end))
    assert.equal("mul: 2 x 2 matrix and 2 x 3 matrix: sizes do not match", message(E.mul, E, mat(2, 3)))
    assert.equal("2 x 2 matrix / 2 x 2 matrix: only a number divides; A:div(B) goes element by element",
      message(function() return E / F end))
    assert.equal("2 x 2 matrix ^ number 2.0: powers are of vectors, element by element",
      message(function() return E ^ 2 end))
    assert.equal("2 x 2 matrix * string: expected a number, a vector or a matrix",
      message(function() return E * "2" end))
  end)
end)

describe("printing a matrix", function()
  it("aligns columns", function()
    assert.equal("[ 1  0\n  0  1 ]", tostring(ns.eye(2)))
    assert.equal("[   1   -2.5\n  100  1e-09 ]", tostring(mat {{1, -2.5}, {100, 1e-9}}))
    assert.equal("[ nan  inf ]", tostring(mat {{nan, inf}}))
    assert.equal("[ ] (0 x 3)", tostring(mat(0, 3)))
  end)

  it("shortens what is large", function()
    local text = tostring(mat(40, 50))
    assert.matches("%(40 x 50%)$", text)
    local _, lines = text:gsub("\n", "")
    assert.equal(9, lines)
    for line in text:gmatch "[^\n]+" do assert.is_true(#line < 60) end
    assert.equal("[ 0  1  2  3  4  5  ...  97  98  99 ] (1 x 100)", tostring(ns.arange(100):row()))
  end)
end)

describe("conversion to a matrix", function()
  local to = internal.to_matrix

  it("takes what the contract says", function()
    local E = mat(2, 2)
    assert.is_true(rawequal(E, to(E, 2, 2, "f", "A")))
    assert.same({{7}}, to(7, 1, 1, "f", "A"):totable())
    assert.same({{7}}, to(7, -1, -1, "f", "A"):totable())
    assert.same({{1, 2, 3}}, to({1, 2, 3}, 1, 3, "f", "A"):totable())
    assert.same({{1, 2, 3}}, to({1, 2, 3}, 1, -1, "f", "A"):totable())
    assert.same({{1}, {2}, {3}}, to({1, 2, 3}, 3, 1, "f", "A"):totable())
    assert.same({{1}, {2}}, to(vec {1, 2}, -1, 1, "f", "A"):totable())
    assert.same({{1, 2}}, to(vec {1, 2}, -1, -1, "f", "A"):totable())
    assert.same({0, 3}, {to({}, 0, 3, "f", "A"):shape()})
    assert.same({{1, 2}, {3, 4}}, to({{1, 2}, {3, 4}}, 2, 2, "f", "A"):totable())
  end)

  it("names who, what and where", function()
    local who = "FirstOrderLinearTIDS"
    assert.equal(who .. ": A: expected a 4 x 4 matrix, got 2 x 3 matrix", message(to, mat(2, 3), 4, 4, who, "A"))
    assert.equal(who .. ": A: expected a 4 x 4 matrix, got 2 x 2 table",
      message(to, {{1, 2}, {3, 4}}, 4, 4, who, "A"))
    assert.equal(who .. ": A: expected a matrix of 3 rows, got 2 x 2 table",
      message(to, {{1, 2}, {3, 4}}, 3, -1, who, "A"))
    assert.equal(who .. ": A: expected a matrix of 3 columns, got a list of 3",
      message(to, {1, 2, 3}, -1, 3, who, "A"))
    assert.equal(who .. ": A: expected a 2 x 2 matrix, got a list of 4", message(to, {1, 2, 3, 4}, 2, 2, who, "A"))
    assert.equal(who .. ": A: expected a 1 x 2 matrix, got vector of 3", message(to, vec(3), 1, 2, who, "A"))
    assert.equal(who .. ": A: expected a 2 x 2 matrix, got number 5.0", message(to, 5, 2, 2, who, "A"))
    assert.equal(who .. ": A: expected a 2 x 2 matrix, got nil", message(to, nil, 2, 2, who, "A"))
    assert.equal(who .. ": A[2][1]: expected a number, got string", message(to, {{1, 2}, {"3", 4}}, 2, 2, who, "A"))
    assert.equal(who .. ": A[2]: expected 3 numbers, got 2", message(to, {{1, 2, 3}, {4, 5}}, 2, 3, who, "A"))
    assert.equal(who .. ": A[1]: expected 3 numbers, got 2", message(to, {{1, 2}, {4, 5}}, 2, 3, who, "A"))
    assert.equal(who .. ": A[2]: expected 2 numbers, got 3", message(to, {{1, 2}, vec(3)}, 2, 2, who, "A"))
    assert.equal(who .. ": A[1][2] is nan", message(to, {{1, nan}, {inf, 1}}, 2, 2, who, "A", true))
    assert.equal(who .. ": A[2][1] is inf", message(to, mat {{1, 2}, {inf, 1}}, -1, -1, who, "A", true))
  end)
end)
