-- What vectors and matrices share: arithmetic, reductions, maps, element by element.
local ns = require "nslua"
local message = require "expect".message

local vec, inf, nan = ns.vector, math.huge, 0 / 0

local function same(expected, v)
  assert.equal(#expected, #v)
  for i, x in ipairs(expected) do assert.equal(x, v[i]) end
end

describe("methods of elements", function()
  it("reduce", function()
    local v = vec {3, -4, 12}
    assert.equal(11, v:sum())
    assert.equal(13, v:norm())
    assert.equal(19, v:norm(1))
    assert.equal(13, v:norm(2))
    assert.equal(12, v:norm(inf))
    assert.equal(-4, v:min())
    assert.equal(12, v:max())
    assert.equal(2, v:argmin())
    assert.equal(3, v:argmax())
    assert.equal(1, vec {2, 2}:argmax())
    assert.equal(3, v:size())
    assert.equal(0, vec(0):norm())
    assert.equal(0, vec(0):sum())
    assert.equal("min: the vector is empty", message(vec(0).min, vec(0)))
    assert.equal("argmax: the vector is empty", message(vec(0).argmax, vec(0)))
    assert.equal("norm: p: expected 1, 2 or math.huge, got number 3.0", message(v.norm, v, 3))
  end)

  it("show nan in reductions", function()
    local v = vec {1, nan, 3}
    for _, name in ipairs {"sum", "norm", "min", "max"} do
      local x = v[name](v)
      assert.is_true(x ~= x)
    end
    assert.equal(2, v:argmax())
    assert.is_true(v:norm(1) ~= v:norm(1))
    assert.is_true(v:norm(inf) ~= v:norm(inf))
    assert.is_false(v:isfinite())
    assert.is_false(vec {inf}:isfinite())
    assert.is_true(vec {1, 2}:isfinite())
    assert.equal(inf, vec {-inf, 1}:norm())
  end)

  it("map, with any function of one argument", function()
    same({1, 4, 9}, vec {1, 2, 3}:map(function(x) return x * x end))
    assert.equal(math.log(7), vec {7}:map(math.log)[1])
    assert.equal("map: f returned nil, expected a number", message(vec(1).map, vec(1), function() end))
    assert.equal("map: f: expected a function, got number 3.0", message(vec(1).map, vec(1), 3))
    assert.matches("boom", message(vec(1).map, vec(1), function() error "boom" end))
  end)
end)

describe("arithmetic", function()
  local v, w = vec {1, 2, 3}, vec {4, 5, 6}

  it("is the field's", function()
    assert.equal(vec {5, 7, 9}, v + w)
    assert.equal(vec {-3, -3, -3}, v - w)
    assert.equal(vec {-1, -2, -3}, -v)
    assert.equal(vec {2, 4, 6}, 2 * v)
    assert.equal(vec {2, 4, 6}, v * 2)
    assert.equal(vec {0.5, 1, 1.5}, v / 2)
    assert.equal(vec {2, 3, 4}, v + 1)
    assert.equal(vec {2, 3, 4}, 1 + v)
    assert.equal(vec {0, -1, -2}, 1 - v)
    assert.equal(vec {1, 4, 9}, v ^ 2)
    assert.equal(vec {1, 0.5}, vec {1, 2} ^ -1)
    assert.equal(vec {2, 4, 8}, 2 ^ v)
    assert.equal(vec {1, 2, 3}, v)
    assert.equal(vec {5, 3}, vec {1, 2, 3, 4}:slice(-1, 1, -2) + 1)
  end)

  it("compares by size and elements", function()
    assert.is_true(v == vec {1, 2, 3})
    assert.is_false(v == vec {1, 2})
    assert.is_false(v == vec {1, 2, 4})
    assert.is_false(vec {nan} == vec {nan})
    assert.is_false(v == ns.matrix {{1, 2, 3}})
    assert.is_false(v == io.stdout)
    assert.is_false(v == 1)
    assert.is_true(vec(0) == vec(0))
  end)

  it("names the sizes that do not match", function()
    assert.equal("vector of 3 + vector of 2: sizes do not match", message(function() return v + vec(2) end))
    assert.equal("vector of 3 - vector of 2: sizes do not match", message(function() return v - vec(2) end))
    assert.equal("vector of 3 ^ vector of 2: sizes do not match", message(function() return v ^ vec(2) end))
    assert.equal("vector of 3 + 3 x 1 matrix: sizes do not match", message(function() return v + ns.matrix(3, 1) end))
  end)

  it("tells what to use instead", function()
    assert.equal("vector of 3 * vector of 3: use v:dot(w), v:mul(w) (element by element) or v:outer(w)",
      message(function() return v * w end))
    assert.equal("vector of 3 / vector of 3: use v:div(w) or v^-1 (element by element)",
      message(function() return v / w end))
    assert.equal("number 1.0 / vector of 3: use v:div(w) or v^-1 (element by element)",
      message(function() return 1 / v end))
    assert.equal("vector of 3 + string: expected a number, a vector or a matrix",
      message(function() return v + "1" end))
    assert.matches("string %* vector of 3: expected a number", message(function() return "2" * v end))
    assert.equal("vector of 3 + nil: expected a number, a vector or a matrix", message(function() return v + nil end))
    assert.equal("vector of 3 + a list of 3: wrap the table: ns.vector{...}, ns.matrix{...}",
      message(function() return v + {1, 2, 3} end))
  end)

  it("leaves foreign operands to their own metamethods, on either side", function()
    local foreign = setmetatable({}, {__metatable = "hidden"})
    local meta = debug.getmetatable(foreign)
    for _, event in ipairs {"__add", "__sub", "__mul", "__div", "__pow"} do
      meta[event] = function(a) return event .. (a == foreign and " left" or " right") end
    end
    for _, x in ipairs {v, ns.matrix(2, 2)} do
      local f = foreign
      assert.same({"__add right", "__sub right", "__mul right", "__div right", "__pow right"},
        {x + f, x - f, x * f, x / f, x ^ f})
      assert.same({"__add left", "__sub left", "__mul left", "__div left", "__pow left"},
        {f + x, f - x, f * x, f / x, f ^ x})
    end
  end)
end)

describe("ipairs", function()
  local function square(x)
    local sum = 0
    for i, e in ipairs(x) do sum = sum + i * e ^ 2 end
    return sum
  end

  it("goes over vectors, views, rows of matrices, and those without elements", function()
    local v, list = ns.vector { 4, 5, 6 }, {}
    for i, e in ipairs(v) do list[#list + 1] = i * 10 + e end
    assert.same({ 14, 25, 36 }, list)
    assert.equal(4 + 2 * 25 + 3 * 36 + 12, square(v) + square(ns.vector(0)))
    assert.equal(36 + 2 * 16, square(v(3, 1, -2)))
    local rows = {}
    for i, row in ipairs(ns.matrix { { 1, 2 }, { 3, 4 } }) do rows[i] = row:totable() end
    assert.same({ { 1, 2 }, { 3, 4 } }, rows)
  end)

  it("goes over what callbacks get, for derivatives and for traces too", function()
    assert.equal(ns.vector { 2, 12 }, ns.gradient(square, { 1, 3 }))
    assert.equal(ns.matrix { { 2, 0 }, { 0, 4 } }, ns.hessian(square, { 1, 3 }))
    assert.equal(1 + 2 * 9, ns.compile(square)({ 1, 3 }))
    local doubled = ns.compile(function(A)
      local sum = 0
      for _, row in ipairs(A) do
        for _, e in ipairs(row) do sum = sum + 2 * e end
      end
      return sum
    end)
    assert.equal(20, doubled(ns.matrix { { 1, 2 }, { 3, 4 } }))
  end)

  it("leaves an index that is too large an error everywhere else, and a closed vector one", function()
    local v = ns.vector { 1 }
    assert.error_matches(function() return v[2] end, "vector[2]: index out of range 1..1", 1, true)
    assert.error_matches(function() for _ in ipairs(v) do local _ = v[2] end end, "vector[2]: index out of range", 1, true)
    assert.error_matches(function() return ns.matrix { { 1 } }[2] end, "row index out of range 1..1", 1, true)
    local iterate = ipairs {}
    assert.error_matches(function() return iterate(v, 1.5) end, "number has no integer representation", 1, true)
    assert.error_matches(function() return iterate(v, 2) end, "vector[3]: index out of range 1..1", 1, true)
    local owner = require "nslua.internal".owner()
    local view = owner:vector(2, "x")
    owner:close()
    assert.has_error(function() for _ in ipairs(view) do end end)
  end)
end)
