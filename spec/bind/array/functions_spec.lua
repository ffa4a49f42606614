-- Functions of numbers, vectors and matrices by elements; masks; what proxies make of them.
local ns = require "nslua"
local message = require("bind.models").message

local vec = ns.vector

describe("ns.sin and its kind", function()
  local singles = { "abs", "acos", "asin", "ceil", "cos", "cosh", "exp", "floor", "log", "log10", "log2", "sin", "sinh", "sqrt",
    "tan", "tanh" }
  -- The same by Lua's library; what the library lacks, by its definition.
  local other = {
    log10 = function(x) return math.log(x, 10) end,
    log2 = function(x) return math.log(x, 2) end,
    cosh = function(x) return (math.exp(x) + math.exp(-x)) / 2 end,
    sinh = function(x) return (math.exp(x) - math.exp(-x)) / 2 end,
    tanh = function(x) return 1 - 2 / (math.exp(2 * x) + 1) end,
  }

  it("are those of Lua's library for numbers, and keep the shape of arrays and tables", function()
    local v = vec { 0.25, 0.5, 0.9 }
    local view = vec { 0.25, 9, 0.5, 9, 0.9 }(1, 5, 2)
    for _, name in ipairs(singles) do
      local f = other[name] or math[name]
      local close = other[name] and 4e-16 or 0
      local of_v = ns[name](v)
      assert.equal(of_v, ns[name](view), name)
      assert.equal(of_v, ns[name] { 0.25, 0.5, 0.9 }, name)
      assert.equal(ns.matrix { of_v:totable() }, ns[name](ns.matrix { { 0.25, 0.5, 0.9 } }), name)
      for i = 1, 3 do
        assert.equal(of_v[i], ns[name](v[i]), name)
        assert.near(f(v[i]), of_v[i], close * math.max(1, math.abs(of_v[i])), name)
        assert.equal("float", math.type(ns[name](v[i])), name)
      end
      assert.equal(0, #ns[name](vec(0)))
    end
    assert.equal(vec { 0.25, 0.5, 0.9 }, v)
  end)

  it("carry derivatives, the same as those of Lua's library", function()
    local x = vec { 0.3, 0.8 }
    for _, name in ipairs(singles) do
      local J = ns.jacobian(function(v) return ns[name](v) end, x)
      local one = ns.jacobian(function(v) return { ns[name](v[1]), ns[name](v[2]) } end, x)
      assert.equal(one, J, name)
      if name ~= "ceil" and name ~= "floor" then
        local h = 1e-6
        for i = 1, 2 do assert.near((ns[name](x[i] + h) - ns[name](x[i] - h)) / (2 * h), J[i][i], 1e-8, name) end
      end
      assert.equal(0, J[1][2])
    end
    local two = ns.jacobian(function(v) return { ns.atan(v[1], v[2]), ns.maximum(v[1], v[2]), ns.minimum(v[1], v[2]) } end, x)
    assert.equal(ns.jacobian(function(v)
      return { math.atan(v[1], v[2]), math.max(v[1], v[2]), math.min(v[1], v[2]) }
    end, x), two)
    assert.equal(ns.jacobian(function(v) return v:map(function(e) return math.atan(e, 2) end) end, x),
      ns.jacobian(function(v) return ns.atan(v, 2) end, x))
    assert.equal(ns.matrix { { 1, 0 }, { 0, 1 } }, ns.jacobian(function(v) return ns.maximum(v, vec { 0, 0 }) end, x))
  end)

  it("are traced by compiled functions", function()
    for _, name in ipairs(singles) do
      local function f(x) return ns[name](x) end
      local x = vec { 0.25, 0.75 }
      assert.equal(f(x), ns.compile(f, { native = false })(x), name)
    end
    local function f(x) return ns.atan(x, 2):mul(ns.maximum(x, 0.5)) end
    assert.equal(f(vec { 0.25, 0.75 }), ns.compile(f, { native = false })(vec { 0.25, 0.75 }))
  end)

  it("say what is wrong", function()
    assert.equal("sin: x: expected a number, a vector or a matrix, got string", message(ns.sin, "1"))
    assert.equal("sin: x: expected a number, a vector or a matrix, got nil", message(ns.sin))
    assert.equal("sin: expected at most 1 argument, got 2", message(ns.sin, 1, 2))
    assert.equal("maximum: vector of 2 and vector of 1: sizes do not match", message(ns.maximum, { 1, 2 }, { 1 }))
    assert.equal("minimum: vector of 1 and 1 x 1 matrix: sizes do not match", message(ns.minimum, vec { 1 }, ns.matrix(1, 1)))
    assert.equal("maximum: y: expected a number, a vector or a matrix, got nil", message(ns.maximum, 1))
    local _, text = pcall(ns.jacobian, function(v) return ns.sign(v) end, { 1, 2 })
    assert.matches("sign: x: expected a number, a vector or a matrix, got dual vector of 2", text, 1, true)
  end)
end)

describe("masks", function()
  local v = vec { -2, -1, 0, 1, 2 }

  it("any, all, find, pick, where", function()
    assert.same({ true, false, true, true }, { v:any(), v:all(), v:le(2):all(), vec(0):all() })
    assert.is_false(vec(3):any())
    assert.equal(vec { 4, 5 }, v:gt(0):find())
    assert.equal(vec { 1, 2 }, v:pick(v:gt(0)))
    assert.equal(vec(0), v:pick(v:gt(5)))
    assert.equal(vec { 0, 0, 0, 1, 2 }, ns.where(v:gt(0), v, 0))
    assert.equal(vec { 10, 2 }, ns.where({ 1, 0 }, { 10, 20 }, { 1, 2 }))
    assert.equal(ns.matrix { { 7, 2 } }, ns.where(ns.matrix { { 1, 0 } }, 7, ns.matrix { { 1, 2 } }))
    assert.equal("pick: mask: expected a vector of 5, got a list of 2", message(v.pick, v, { 1, 2 }))
    assert.equal("where: a: a mask of vector of 5 and vector of 2: sizes do not match", message(ns.where, v, vec { 1, 2 }, 0))
    assert.equal("where: b: expected a number, a vector or a matrix, got nil", message(ns.where, v, 1))
    assert.matches("where: mask: expected a vector or a matrix, got nil", message(ns.where), 1, true)
  end)
end)
