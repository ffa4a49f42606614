local host = require "host"
local ns = require "nslua"
local internal = require "nslua.internal"

local sin, cos = math.sin, math.cos -- captured as locals, on purpose

local function fails(pattern, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(err))
end

local function rows(m)
  local t = {}
  for i = 1, m:rows() do t[i] = m[i]:totable() end
  return t
end

local function math_is_back()
  assert.equal(sin, math.sin)
  assert.equal(cos, math.cos)
  fails("number expected, got table", math.exp, {})
end

describe("jacobian and gradient", function()
  it("take what f returns: a table, a vector, a number, the vector y", function()
    assert.same({ { 3, 2 }, { 0, 6 } }, rows(ns.jacobian(function(x) return { x[1] * x[2], x[2] ^ 2 } end, { 2, 3 })))
    assert.same({ { 2, 0 }, { 0, 2 } }, rows(ns.jacobian(function(x) return 2 * x end, ns.vector { 2, 3 })))
    assert.same({ { 3, 2 } }, rows(ns.jacobian(function(x) return x[1] * x[2] end, { 2, 3 })))
    local filled = ns.jacobian(function(x, y) y[1] = x[1] * x[2]; y[3] = 7 end, { 2, 3 }, 3)
    assert.same({ { 3, 2 }, { 0, 0 }, { 0, 0 } }, rows(filled))
    assert.same({ { 1, 0 } }, rows(ns.jacobian(function(x, y) y[1] = x[1] return y end, { 2, 3 }, 1)))
    assert.same({ { 0, 1 } }, rows(ns.jacobian(function(x, _) return { x[2] } end, { 2, 3 }, 1)))
    assert.same({ 3, 2 }, ns.gradient(function(x) return x[1] * x[2] end, { 2, 3 }):totable())
    assert.same({ 0, 0 }, ns.gradient(function() return 4 end, { 2, 3 }):totable())
    assert.same({ { 0 } }, rows(ns.jacobian(function() return 4 end, { 2 })))
  end)
  it("take an object that can be called", function()
    local f = setmetatable({ k = 3 }, { __call = function(self, x) return self.k * sin(x[1]) end })
    assert.same({ 3 * cos(2) }, ns.gradient(f, { 2 }):totable())
  end)
  it("work without variables or values", function()
    assert.equal(0, #ns.gradient(function() return 4 end, {}))
    assert.equal(2, (ns.jacobian(function() return { 1, 2 } end, {}):rows()))
    assert.equal(0, (ns.jacobian(function() end, { 1 }, 0):rows()))
  end)
  it("reject other arguments", function()
    local f = function(x) return x[1] end
    fails("jacobian: f: expected a function, got number", ns.jacobian, 3, { 1 })
    fails("gradient: f: expected a function, got nil", ns.gradient, nil, { 1 })
    fails("jacobian: x: expected a vector, got string", ns.jacobian, f, "x")
    fails("jacobian: x%[2%]: expected a number, got string", ns.jacobian, f, { 1, "b" })
    fails("gradient: x%[1%] is nan", ns.gradient, f, { 0 / 0 })
    fails("jacobian: m: expected an integer, got number 1.5", ns.jacobian, f, { 1 }, 1.5)
    fails("jacobian: m: expected a size of 0 or more, got number %-1", ns.jacobian, f, { 1 }, -1)
    fails("jacobian: f returned nothing", ns.jacobian, function() end, { 1 })
    fails("jacobian: f: expected a vector, got string", ns.jacobian, function() return "a" end, { 1 })
    fails("jacobian: y: expected a vector of 2, got table of 3", ns.jacobian,
      function() return { 1, 2, 3 } end, { 1 }, 2)
    fails("gradient: f: expected a number, got table of 1", ns.gradient, function(x) return { x[1] } end, { 1 })
  end)
  it("more or fewer values with duals than without are an error", function()
    local calls
    local function f(x)
      calls = calls + 1
      return calls == 1 and { 1, 2 } or { x[1] }
    end
    calls = 0
    fails("ad_spec.lua:%d+: f: expected 2 values, got 1", ns.jacobian, f, { 1 })
    calls = 0
    local function g(_) calls = calls + 1; if calls == 1 then return 1 end end
    fails("f: expected 1 values, got nil", ns.jacobian, g, { 1 })
    calls = 0
    local function h(x) calls = calls + 1; return calls == 1 and { 1 } or calls > 1 and { x[1], nil } or nil end
    calls = 0
    fails("f%[1%]: the value with dual numbers %(2%) differs from the plain one %(1%)", ns.jacobian, h, { 2 })
  end)
  it("pass over more variables than one chunk", function()
    local n, x = 40, {}
    for i = 1, n do x[i] = i / 7 end
    local J = ns.jacobian(function(v, y)
      for i = 1, n do y[i] = v[i] * v[n + 1 - i] + math.sin(v[1]) end
    end, x, n)
    for i = 1, n do
      for j = 1, n do
        local expected = (j == i and x[n + 1 - i] or 0) + (j == n + 1 - i and x[i] or 0) + (j == 1 and cos(x[1]) or 0)
        assert.is_true(math.abs(J[i][j] - expected) < 1e-15)
      end
    end
  end)
end)

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
    wrong("dual %+ table of 0: expected a number, a dual or a vector", function(x) return x[1] + {} end)
    wrong("dot: argument: expected a vector of 3, got vector of 2", function(x) return x:dot(ns.vector(2)) end)
    wrong("y: expected 2 elements, got table of 1", function(_, y) y:assign { 1 } end)
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

describe("callbacks as C calls them", function()
  local x, lambda = ns.vector { 1, 2, 3, 4 }, ns.vector { 0.5 }

  it("fill one Jacobian per wanted argument, with self, time and passed values", function()
    local self, z = { k = 3 }, { gain = 2 }
    local function g(me, t, v, l, zz, r)
      assert(me == self and t == 0.25 and zz == z)
      r[4] = me.k * zz.gain * l[1] * (v[4] - v[2] + v[3]) + t
    end
    local plain = ns.vector { 0, 0, 0, 3 * 2 * 0.5 * 5 + 0.25 }
    local K, B = internal.jacobians(g, self, 0.25, plain, { "x", x, true }, { "lambda", lambda, true }, z)
    assert.same({ { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, -3, 3, 3 } }, rows(K))
    assert.same({ { 0 }, { 0 }, { 0 }, { 30 } }, rows(B))
  end)
  it("pass what is not wanted as a plain read-only vector", function()
    local kinds
    local function g(v, l, r)
      kinds = { math.type(l[1]), tostring(l), pcall(function() l[1] = 1 end) }
      r[1] = v[1] * l[1]
    end
    local K, more = internal.jacobians(g, false, false, ns.vector { 0.5 }, { "x", x, true }, { "lambda", lambda })
    assert.is_nil(more)
    assert.same({ { 0.5, 0, 0, 0 } }, rows(K))
    assert.same({ "float", "[0.5]", false }, { kinds[1], kinds[2], kinds[3] })
    assert.matches("lambda is read%-only", kinds[4])
  end)
  it("spread the variables of several arguments over chunks", function()
    local n = 20
    local a, b = ns.linspace(1, 2, n), ns.linspace(3, 4, n)
    local function g(v, l, r) for i = 1, n do r[i] = v[i] * l[i] end end
    local K, B = internal.jacobians(g, false, false, a:mul(b), { "x", a, true }, { "lambda", b, true })
    for i = 1, n do
      for j = 1, n do
        assert.equal(i == j and b[i] or 0, K[i][j])
        assert.equal(i == j and a[i] or 0, B[i][j])
      end
    end
  end)
  it("compare with the plain values", function()
    fails("ad_spec.lua:%d+: r%[1%]: the value with dual numbers %(2%) differs from the plain one %(3%): "
      .. "the callback branches on == or keeps state; give its Jacobian",
      internal.jacobians, function(v, r) r[1] = v[2] end, false, false, ns.vector { 3 }, { "x", x, true })
    internal.jacobians(function(_, r) r[1] = -0.0; r[2] = 0 / 0 end, false, false, ns.vector { 0, 0 / 0 },
      { "x", x, true })
  end)
  it("need no variable", function()
    assert.is_nil(internal.jacobians(error, false, false, ns.vector(1), { "x", x }))
  end)
  it("name the variable of a derivative that is not finite", function()
    fails("r%[2%]: the derivative by lambda%[1%] is %-inf", internal.jacobians,
      function(v, l, r) r[2] = v[1] - math.sqrt(l[1]) end, false, false, ns.vector { 0, 1 }, { "x", x, true },
      { "lambda", ns.vector(1), true })
  end)
end)

describe("traps", function()
  it("== on a number is caught by its value", function()
    fails("branches on ==", ns.gradient, function(x) return x[1] == 2 and 7 or x[1] end, { 2 })
    assert.equal(1, ns.gradient(function(x) return x[1] == x[1] and x[1] or 7 end, { 2 })[1])
  end)
  it("a dual kept from an earlier call does no harm", function()
    local kept, kept_vector
    local function f(x)
      local k = kept
      kept, kept_vector = x[1], x
      return k and type(k) == "userdata" and k + x[1] or x[1]
    end
    assert.equal(1, ns.gradient(f, { 2 })[1])
    assert.equal("2.0 (dual)", tostring(kept))
    assert.equal("[2]", tostring(kept_vector))
    kept = nil
    fails("a dual number of an earlier or outer evaluation is used: the callback keeps state; give its Jacobian",
      ns.gradient, function(x)
        local k = kept
        kept = x[1]
        return type(k) == "userdata" and k * 0 + x[20] or x[1]
      end, ns.linspace(1, 1, 20))
  end)
  it("evaluations nest, and do not mix", function()
    local J = ns.gradient(function(x)
      local inner = ns.gradient(function(v) return sin(v[1]) * v[1] end, { 2 })
      return x[1] * inner[1] + sin(x[1])
    end, { 3 })
    assert.equal(cos(2) * 2 + sin(2) + cos(3), J[1])
    fails("gradient: f: expected a number, got dual: this does not propagate", ns.gradient, function(x)
      return ns.gradient(function(v) return v[1] * x[1] end, { 2 })[1]
    end, { 3 })
    math_is_back()
  end)
  it("garbage collection during the call", function()
    local J = ns.jacobian(function(x, y)
      local s = y:slice(2, 3)
      for i = 1, 3 do
        y[i] = sin(x[i]) * x:dot(x)
        collectgarbage()
      end
      collectgarbage()
      s[1] = s[1] + x[1]
    end, { 1, 2, 3 }, 3)
    assert.equal(2 * sin(2) + 1, J[2][1])
    collectgarbage "generational"
    ns.gradient(function(x)
      for _ = 1, 200 do x = x + x:copy() * 0; collectgarbage "step" end
      return x:sum()
    end, { 1, 2 })
    collectgarbage "incremental"
  end)
end)

describe("math functions during the call", function()
  local function slope(f) return ns.gradient(function(x) return f(x[1]) end, { 0.3 })[1] end
  after_each(math_is_back)

  it("captured as locals, in helpers, in tables, as methods", function()
    local function helper(x) return sin(x) end
    local function outer(x) return helper(x) end
    local module = { f = { g = function(x) return sin(x) end }, sin = math.sin }
    local Class = {}
    Class.__index = Class
    function Class.wave(_, x) return sin(x) end
    local object = setmetatable({}, Class)
    local base = setmetatable({}, { __index = setmetatable({}, { __index = { wave = sin } }) })
    assert.equal(cos(0.3), slope(outer))
    assert.equal(cos(0.3), slope(function(x) return module.f.g(x) end))
    assert.equal(cos(0.3), slope(function(x) return module.sin(x) end))
    assert.equal(cos(0.3), slope(function(x) return object:wave(x) end))
    assert.equal(cos(0.3), slope(function(x) return base.wave(x) end))
    assert.equal(sin, module.sin)
    assert.equal(cos(0.3), slope(function(x) return math.sin(x) end))
    assert.equal(cos(0.3), slope(sin))
  end)
  it("through globals", function()
    local env = setmetatable({}, { __index = _G })
    local chunk = load([[
      local sin = math.sin
      function helper(x) return sin(x) end
      library = { wave = function(x) return helper(x) end }
      return function(x) return library.wave(x) end
    ]], "globals", "t", env)()
    assert.equal(cos(0.3), slope(chunk))
  end)
  it("found only later: in a table filled, or an upvalue set, after the first call", function()
    local late, t, which = nil, {}, "none"
    local function f(x)
      if which == "upvalue" then return late(x) end
      if which == "table" then return t.sub.sin(x) end
      if which == "other" then return math.exp(x) + math.sin(x) end
      return x
    end
    local g = function(x) return f(x[1]) end
    local function now() return ns.gradient(g, { 0.3 })[1] end
    assert.equal(1, now())
    which, late = "upvalue", sin
    assert.equal(cos(0.3), now())
    which, t.sub = "table", { sin = sin }
    assert.equal(cos(0.3), now())
    which = "other"
    assert.equal(math.exp(0.3) + cos(0.3), now())
    which = "upvalue"
    assert.equal(cos(0.3), now())
    assert.equal(sin, t.sub.sin)
  end)
  it("a field that is gone, or other, since the list was made", function()
    local t = { sin = math.sin }
    local g = function(x) return t.sin and t.sin(x[1]) or x[1] end
    assert.equal(cos(0.3), ns.gradient(g, { 0.3 })[1])
    t.sin = nil
    assert.equal(1, ns.gradient(g, { 0.3 })[1])
    t.sin = function(x) return 5 * x end
    assert.equal(5, ns.gradient(g, { 0.3 })[1])
  end)
  it("written by the callback stays as written", function()
    local t = { sin = math.sin }
    ns.gradient(function(x)
      local y = t.sin(x[1])
      if type(y) == "userdata" then t.sin = cos end
      return y
    end, { 0.3 })
    assert.equal(-1, t.sin(math.pi))
  end)
  it("go back after an error, a wrong result, and in coroutines", function()
    local module = { sin = math.sin }
    fails("oops", ns.gradient, function(x)
      if type(x[1]) == "userdata" then error "oops" end
      return module.sin(x[1])
    end, { 1 })
    assert.equal(sin, module.sin)
    math_is_back()
    local object = {}
    local ok, err = pcall(ns.gradient, function(x)
      if type(x[1]) == "userdata" then error(object) end
      return 1
    end, { 1 })
    assert.is_false(ok)
    assert.equal(object, err)
    local co = coroutine.create(function()
      coroutine.yield(slope(sin))
      return ns.gradient(function(x) if type(x[1]) == "userdata" then error "inside" end return sin(x[1]) end, { 1 })
    end)
    local _, d = coroutine.resume(co)
    assert.equal(cos(0.3), d)
    ok, err = coroutine.resume(co)
    assert.is_false(ok)
    assert.matches("inside", err)
    math_is_back()
    fails("yield", coroutine.wrap(function()
      ns.gradient(function(x) if type(x[1]) == "userdata" then coroutine.yield() end return sin(x[1]) end, { 1 })
    end))
    assert.equal(cos(0.3), slope(function(x)
      local wave = coroutine.wrap(function(v) while true do v = coroutine.yield(sin(v)) end end)
      return wave(x)
    end))
  end)
  it("behave as the originals for plain arguments", function()
    local seen
    ns.gradient(function(x)
      seen = {
        math.max(1, 2.5), math.type(math.max(3, 2)), math.floor(2.5), math.abs(-3), math.fmod(7, 3),
        math.type(math.fmod(7, 3)), math.tointeger(3.0), math.atan(1), math.log(8, 2), tostring(math.type "x"),
        select("#", math.modf(2.5)), select(2, pcall(math.sin)), select(2, pcall(math.max)), sin(1),
        select(2, pcall(math.floor, "a")),
      }
      return x[1]
    end, { 1 })
    assert.same({
      math.max(1, 2.5), math.type(math.max(3, 2)), math.floor(2.5), math.abs(-3), math.fmod(7, 3),
      math.type(math.fmod(7, 3)), math.tointeger(3.0), math.atan(1), math.log(8, 2), tostring(math.type "x"),
      select("#", math.modf(2.5)), select(2, pcall(math.sin)), select(2, pcall(math.max)), sin(1),
      select(2, pcall(math.floor, "a")),
    }, seen)
  end)
  it("reject a wrong argument beside a dual by its number", function()
    fails("bad argument #2 to 'atan' %(number expected, got table%)", ns.gradient,
      function(x) return type(x[1]) == "userdata" and math.atan(x[1], {}) or 1 end, { 1 })
    fails("bad argument #2 to 'max' %(number expected, got boolean%)", ns.gradient,
      function(x) return type(x[1]) == "userdata" and math.max(x[1], true) or 1 end, { 1 })
    fails("bad argument #2 to 'fmod' %(number expected, got no value%)", ns.gradient,
      function(x) return type(x[1]) == "userdata" and math.fmod(x[1]) or 1 end, { 1 })
  end)
  it("are looked for quickly in a closure over much", function()
    local function fill(make)
      local t = {}
      for i = 1, 1e5 do make(t, i) end
      return t
    end
    local much = {
      fill(function(t, i) t[i] = { i, weight = i } end), fill(function(t, i) t[i] = i end),
      fill(function(t, i) t["k" .. i] = i end), fill(function(t, i) t["k" .. i] = { i } end),
      fill(function(t, i) t[i] = function() return t[i] end end),
    }
    local helpers = { bend = function(x) return sin(x) end }
    for which, data in ipairs(much) do
      local best = math.huge
      for _ = 1, 5 do -- a new closure each time
        local before = os.clock()
        local d = ns.gradient(function(x) return helpers.bend(x[1]) + (data[0] and 1 or 0) end, { 0.3 })
        best = math.min(best, os.clock() - before)
        assert.equal(cos(0.3), d[1])
      end
      assert.is_true(host.sanitized or best < 0.02, ("%d: %g s"):format(which, best))
    end
  end)
  it("are found in a model of many nodes, each with a function", function()
    local model = { params = {}, nodes = {} }
    for i = 1, 2000 do
      model.params[i] = { k = i, w = { 1, 2, 3 } }
      model.nodes[i] = { eval = function(x) return math.sin(x) * cos(0 * x) * model.params[i].k end }
    end
    local x = ns.zeros(2000)
    local d = ns.gradient(function(v)
      local s = 0
      for i = 1, 2000, 40 do s = s + model.nodes[i].eval(v[i]) end
      return s
    end, x)
    for i = 1, 2000, 40 do assert.equal(i, d[i]) end
    assert.equal(0, d[2])
  end)
  it("are looked for farther away when one is missing", function()
    local wide, deep = {}, {}
    for i = 1, 2000 do wide["k" .. i] = {} end
    for i = 1, 1000 do deep[i] = { wave = i == 900 and sin } end
    wide.k1000.deep = deep
    local function f(x) return wide.k1000.deep[900].wave(x) end
    assert.equal(cos(0.3), slope(f))
    local runs, mtype = 0, { [700] = { deep = { type = math.type } } }
    for i = 1, 699 do mtype[i] = {} end
    local g = function(x)
      runs = runs + 1
      return mtype[700].deep.type(x[1]) and x[1] ^ 2 or 0
    end
    assert.equal(0.6, ns.gradient(g, { 0.3 })[1])
    assert.equal(3, runs)
    assert.equal(0.6, ns.gradient(g, { 0.3 })[1])
    assert.equal(5, runs)
    assert.equal(math.type, mtype[700].deep.type)
  end)
  it("do not keep a callback alive", function()
    local alive = setmetatable({}, { __mode = "k" })
    for _ = 1, 5 do
      local t = { sin = math.sin }
      local f = function(x) return t.sin(x[1]) end
      t.f = f
      alive[f] = true
      ns.gradient(f, { 1 })
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
  end)
  it("an error of the callback is let through once, without a second run", function()
    local runs = 0
    local g = function(x)
      if type(x[1]) == "userdata" then runs = runs + 1; if runs == 2 then error "interrupted" end end
      return sin(x[1])
    end
    ns.gradient(g, { 1 })
    fails("interrupted", ns.gradient, g, { 1 })
    assert.equal(2, runs)
  end)
end)
