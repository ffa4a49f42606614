local ns = require "nslua"
local message = require "expect".message
local internal = require "nslua.internal"

local vec, inf, nan = ns.vector, math.huge, 0 / 0

local function set(v, i, x) v[i] = x end
local function get(v, i) return v[i] end

local function same(expected, v)
  assert.equal(#expected, #v)
  for i, x in ipairs(expected) do assert.equal(x, v[i]) end
end

describe("making a vector", function()
  it("takes a size, a table, a vector, or a matrix of one row or column", function()
    same({0, 0, 0}, vec(3))
    same({}, vec(0))
    same({}, vec {})
    same({1, 2.5, -3}, vec {1, 2.5, -3})
    local v = vec {1, 2}
    local w = vec(v)
    w[1] = 9
    same({1, 2}, v)
    same({1, 2}, vec(ns.matrix {{1}, {2}}))
  end)

  it("says what it can't take", function()
    assert.equal("vector: expected a size of 0 or more, got -1", message(vec, -1))
    assert.equal("vector: size 4294967296 is too large", message(vec, 1 << 32))
    assert.equal("vector: size: expected an integer, got number 2.5", message(vec, 2.5))
    assert.equal("vector: argument: expected a size, a table of numbers or a vector, got string", message(vec, "3"))
    assert.equal("vector: expected a size, a table of numbers or a vector, got 3 arguments", message(vec, 1, 2, 3))
    assert.equal("vector: argument[2]: expected a number, got string", message(vec, {1, "2"}))
    assert.equal("vector: argument: expected a size, a table of numbers or a vector, got 2 x 2 matrix",
      message(vec, ns.matrix(2, 2)))
  end)
end)

describe("elements", function()
  it("count from 1 and are read and written", function()
    local v = vec(4)
    for i = 1, #v do v[i] = i * i end
    same({1, 4, 9, 16}, v)
    assert.equal(4, v[2.0])
    v[1] = nan
    assert.is_true(v[1] ~= v[1])
    v[2] = -inf
    assert.equal(-inf, v[2])
    assert.equal("float", math.type(vec {1}[1]))
  end)

  it("errors carry the label and the place", function()
    local r = internal.owner():vector(4, "r")
    assert.equal("r[5]: index out of range 1..4", message(get, r, 5))
    assert.equal("r[0]: index out of range 1..4", message(get, r, 0))
    assert.equal("r[-1]: index out of range 1..4", message(set, r, -1, 0))
    assert.equal("r[2]: number expected, got string", message(set, r, 2, "1"))
    assert.equal("r[2]: number expected, got nil", message(set, r, 2, nil))
    assert.equal("r: index must be an integer, got number 1.5", message(get, r, 1.5))
    assert.equal("r: index must be an integer, got number 1.5", message(set, r, 1.5, 0))
    assert.equal("r: index must be an integer, got string '1'", message(set, r, "1", 0))
    assert.equal("r: index must be an integer, got nil", message(get, r, nil))
    assert.is_nil(r["1"])
    assert.equal("vector[3]: index out of range 1..2", message(get, vec(2), 3))
    assert.equal("vector[1]: the vector is empty", message(get, vec(0), 1))
    assert.equal("vector[9223372036854775807]: index out of range 1..2", message(get, vec(2), math.maxinteger))
    assert.equal("vector[-9223372036854775808]: index out of range 1..2", message(get, vec(2), math.mininteger))
    same({0, 0, 0, 0}, r)
  end)

  it("errors point at the line of the script", function()
    local _, err = pcall(load("local v = ...\n\nreturn v[7]", "=script"), vec(2))
    assert.equal("script:3: vector[7]: index out of range 1..2", err)
  end)

  it("can be read-only", function()
    local o = internal.owner()
    local x, w = o:vector(3, "x", true), o:vector(3, "x")
    w[2] = 5
    same({0, 5, 0}, x)
    assert.equal("x is read-only", message(set, x, 1, 1))
    assert.equal("x is read-only", message(x.fill, x, 1))
    assert.equal("x is read-only", message(x.assign, x, {1, 2, 3}))
    assert.equal("x is read-only", message(set, x:slice(1, 2), 1, 1))
    local c = x:copy()
    c[1] = 1
    same({1, 5, 0}, c)
    same({0, 5, 0}, x)
  end)

  it("are walked by pairs", function()
    local seen = {}
    for i, x in pairs(vec {5, 6, 7}) do seen[i] = x end
    assert.same({5, 6, 7}, seen)
    for _ in pairs(vec(0)) do error "none" end
  end)

  it("count writes for the owner", function()
    local o = internal.owner()
    local v = o:vector(4)
    local s = v:slice(2, 3)
    v[1] = 1
    assert.equal(1, o:version())
    s[1] = 2
    assert.equal(2, o:version())
    v:fill(3)
    v:assign {1, 2, 3, 4}
    assert.equal(4, o:version())
    local _ = v[1] + v:sum()
    pcall(set, v, 9, 9)
    pcall(v.assign, v, {1})
    assert.equal(4, o:version())
  end)
end)

describe("views", function()
  it("stay valid while anything looks at the numbers", function()
    local s = internal.owner():vector(8, "x"):slice(2, 7):slice(2, -2)
    local t = vec {1, 2, 3, 4}:slice(2, 3)
    collectgarbage()
    collectgarbage()
    s[1] = 4
    same({4, 0, 0, 0}, s)
    same({2, 3}, t)
  end)

  it("raise when the owner is closed", function()
    local o = internal.owner()
    local x, y = o:vector(3, "x"), o:vector(3)
    local s, m = x:slice(1, 2), o:matrix(2, 2, "A")
    local row = m[1]
    o:close()
    local text = "vector 'x' belongs to a closed internal.Owner"
    assert.equal(text, message(get, x, 1))
    assert.equal(text, message(set, x, 1, 1))
    assert.equal(text, message(get, s, 1))
    assert.equal(text, message(x.copy, x))
    assert.equal(text, message(function() return vec(3) + x end))
    assert.equal(text, message(function() return x == vec(3) end))
    assert.equal(text, message(vec(3).dot, vec(3), x))
    assert.equal(text, message(internal.to_vector, x, 3, "f", "x"))
    assert.equal("vector belongs to a closed internal.Owner", message(y.sum, y))
    assert.equal("vector 'A' belongs to a closed internal.Owner", message(get, row, 1))
    assert.equal("matrix 'A' belongs to a closed internal.Owner", message(get, m, 1))
    assert.equal("vector (closed)", tostring(x))
    assert.equal("vector (closed)", tostring(row))
    assert.equal("matrix (closed)", tostring(m))
  end)

  it("notice an owner closed by the function of map", function()
    local o = internal.owner()
    local v = o:vector(3, "x")
    assert.equal("vector 'x' belongs to a closed internal.Owner",
      message(v.map, v, function(x) if o then o:close() end o = nil return x end))
  end)
end)

describe("slices", function()
  local v = vec {1, 2, 3, 4, 5}

  it("are live and count from either end", function()
    same({2, 3, 4}, v:slice(2, 4))
    same({2, 3, 4}, v(2, 4))
    same({4, 5}, v:slice(-2))
    same({1, 2}, v:slice(nil, 2))
    same({1, 3, 5}, v:slice(1, -1, 2))
    same({5, 4, 3, 2, 1}, v:slice(-1, 1, -1))
    same({5, 3, 1}, v(nil, nil, -2))
    same({4, 2}, v:slice(-1, 1, -1):slice(2, 4, 2))
    same({}, v:slice(3, 2))
    same({}, v:slice(6, 5))
    assert.equal(5, v(-1))
    assert.equal(2, v(2))
    local w = v:copy()
    w:slice(2, 4):fill(0)
    same({1, 0, 0, 0, 5}, w)
    w:slice(1, -1, 2)[2] = 7
    same({1, 0, 7, 0, 5}, w)
  end)

  it("may overlap in assign", function()
    local w = vec {1, 2, 3, 4, 5}
    w:slice(2, 5):assign(w:slice(1, 4))
    same({1, 1, 2, 3, 4}, w)
    w:assign(w:slice(-1, 1, -1))
    same({4, 3, 2, 1, 1}, w)
    local long = ns.arange(100)
    long:assign(long:slice(-1, 1, -1))
    assert.equal(ns.arange(99, -1, -1), long)
  end)

  it("say what is out of range", function()
    assert.equal("vector: slice 2..9 out of range 1..5", message(v.slice, v, 2, 9))
    assert.equal("vector: slice -7..2 out of range 1..5", message(v.slice, v, -7, 2))
    assert.equal("vector: slice 0..2 out of range 1..5", message(v.slice, v, 0, 2))
    assert.equal("vector: slice: step must not be 0", message(v.slice, v, 1, 2, 0))
    assert.equal("vector: slice: expected an integer, got string", message(v.slice, v, "a"))
    assert.equal("vector: index 6 out of range 1..5", message(v, 6))
    assert.equal("vector: index 0 out of range 1..5", message(v, 0))
    assert.has_no.errors(function() v:slice(1, 5, math.maxinteger) v:slice(5, 1, math.mininteger) end)
  end)
end)

describe("methods", function()
  it("assign all or nothing", function()
    local y = internal.owner():vector(3, "x")
    assert.equal(y, y:assign {1, 2, 3})
    assert.equal("x: expected 3 elements, got table of 2", message(y.assign, y, {1, 2}))
    assert.equal("x: expected 3 elements, got vector of 4", message(y.assign, y, vec(4)))
    assert.equal("x: expected 3 elements, got nil", message(y.assign, y, nil))
    assert.equal("x[3]: expected a number, got string", message(y.assign, y, {7, 8, "9"}))
    same({1, 2, 3}, y)
  end)

  it("norm neither overflows nor underflows", function()
    assert.near(1, vec {3e200, 4e200}:norm() / 5e200, 1e-15)
    assert.near(1, vec {3e-200, 4e-200}:norm() / 5e-200, 1e-15)
    assert.equal(5e-324, vec {5e-324}:norm())
    assert.equal(1.7e308, vec {1.7e308}:norm())
  end)

  it("multiply in their ways", function()
    local v, w = vec {1, 2, 3}, vec {4, -5, 6}
    assert.equal(12, v:dot(w))
    assert.equal(12, v:dot {4, -5, 6})
    same({4, -10, 18}, v:mul(w))
    same({4, -10, 18}, v:mul {4, -5, 6})
    same({0.25, -0.4, 0.5}, v:div(w))
    local c = v:cross(w)
    same({27, 6, -13}, c)
    assert.equal(0, c:dot(v))
    assert.equal(0, c:dot(w))
    assert.equal(ns.matrix {{4, -5, 6}, {8, -10, 12}, {12, -15, 18}}, v:outer(w))
    assert.equal(ns.matrix {{1, 2, 3}}, v:row())
    assert.equal(ns.matrix {{1}, {2}, {3}}, v:column())
    assert.equal("dot: argument: expected a vector of 3, got vector of 2", message(v.dot, v, vec(2)))
    assert.equal("mul: vector of 3 and vector of 2: sizes do not match", message(v.mul, v, vec(2)))
    assert.equal("mul: argument: expected a vector, got string", message(v.mul, v, "x"))
    assert.equal("div: argument[1]: expected a number, got string", message(v.div, v, {"x", 1, 2}))
    assert.equal("cross: argument: expected a vector of 3, got vector of 2", message(v.cross, v, vec(2)))
    assert.equal("cross: self: expected a vector of 3, got vector of 2", message(v.cross, vec(2), v))
  end)

  it("convert and reshape", function()
    assert.same({1, 2}, vec {1, 2}:totable())
    same({1, 2}, vec {-1, 2}:abs())
    assert.equal(ns.matrix {{1, 2}, {3, 4}}, vec {1, 2, 3, 4}:reshape(2, 2))
    assert.equal(ns.matrix {{1, 2}, {3, 4}}, vec {1, 2, 3, 4}:reshape(-1, 2))
    assert.equal("reshape: vector of 4 does not fill 3 x 2", message(vec(4).reshape, vec(4), 3, 2))
    assert.equal("fill: value: expected a number, got string", message(vec(4).fill, vec(4), "0"))
  end)
end)

describe("printing", function()
  it("is readable", function()
    assert.equal("[1, 2.5, -3e-05]", tostring(vec {1, 2.5, -3e-5}))
    assert.equal("[]", tostring(vec(0)))
    assert.equal("[nan, inf, -inf]", tostring(vec {nan, inf, -inf}))
    assert.equal("[0, 1, 2, 3, 4, 5, 6, 7, ..., 97, 98, 99] (100 elements)", tostring(ns.arange(100)))
    assert.equal("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]", tostring(ns.arange(16)))
    assert.equal("[3, 2, 1]", tostring(vec {1, 2, 3}:slice(-1, 1, -1)))
  end)
end)

describe("conversion", function()
  local to = internal.to_vector

  it("leaves vectors, converts tables and single numbers", function()
    local v = vec {1, 2}
    assert.is_true(rawequal(v, to(v, 2, "f", "x0")))
    same({1, 2}, to({1, 2}, -1, "f", "x0"))
    same({7}, to(7, 1, "f", "x0"))
    same({}, to({}, 0, "f", "x0"))
  end)

  it("names who, what and where", function()
    assert.equal("DS: x0: expected a vector of 3, got table of 2", message(to, {1, 2}, 3, "DS", "x0"))
    assert.equal("DS: x0: expected a vector of 3, got vector of 2", message(to, vec(2), 3, "DS", "x0"))
    assert.equal("DS: x0: expected a vector of 3, got number 1.0", message(to, 1, 3, "DS", "x0"))
    assert.equal("DS: x0: expected a vector, got nil", message(to, nil, -1, "DS", "x0"))
    assert.equal("DS: x0: expected a vector, got string", message(to, "12", -1, "DS", "x0"))
    assert.equal("DS: x0[3]: expected a number, got string", message(to, {1, 2, "3"}, 3, "DS", "x0"))
    assert.equal("DS: x0[1]: expected a number, got table of 1", message(to, {{1}}, 1, "DS", "x0"))
    assert.equal("DS: x0[2] is nan", message(to, {1, nan}, 2, "DS", "x0", true))
    assert.equal("DS: x0[1] is -inf", message(to, vec {-inf, nan}, 2, "DS", "x0", true))
    assert.has_no.errors(function() to({1, nan}, 2, "DS", "x0") end)
  end)
end)

describe("a missing argument", function()
  it("is called no value", function()
    local v = vec(3)
    assert.equal("cross: argument: expected a vector of 3, got no value", message(v.cross, v))
    assert.equal("dot: argument: expected a vector of 3, got no value", message(v.dot, v))
    assert.equal("outer: argument: expected a vector, got no value", message(v.outer, v))
    assert.equal("vector: expected 3 elements, got nil", message(v.assign, v))
  end)
end)
