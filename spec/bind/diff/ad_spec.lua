local ns = require "nslua"
local internal = require "nslua.internal"
local duals = require "bind.duals"

local sin, cos = math.sin, math.cos -- captured as locals, on purpose

local fails, rows, math_is_back = duals.fails, duals.rows, duals.math_is_back

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
    fails("jacobian: y: expected a vector of 2, got a list of 3", ns.jacobian,
      function() return { 1, 2, 3 } end, { 1 }, 2)
    fails("gradient: f: expected a number, got a list of 1", ns.gradient, function(x) return { x[1] } end, { 1 })
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

describe("hessian", function()
  local function f(x) return x[1] ^ 2 * sin(x[2]) + x[3] * x[1] + math.exp(x[2] * x[3]) end

  it("is exact, and symmetric to the last bit", function()
    local x = { 2, 0.3, -0.7 }
    local e = math.exp(x[2] * x[3])
    local expected = ns.matrix { { 2 * sin(x[2]), 2 * x[1] * cos(x[2]), 1 },
      { 2 * x[1] * cos(x[2]), -x[1] ^ 2 * sin(x[2]) + x[3] ^ 2 * e, e + x[2] * x[3] * e },
      { 1, e + x[2] * x[3] * e, x[2] ^ 2 * e } }
    local H = ns.hessian(f, x)
    assert.is_true((H - expected):norm() < 1e-13)
    assert.same(rows(H), rows(H:transpose()))
    math_is_back()
  end)

  it("takes vectors, objects that can be called, linear and constant functions, no variables", function()
    assert.same({ { 2, 0 }, { 0, 2 } }, rows(ns.hessian(function(x) return x:dot(x) end, ns.vector { 2, 3 })))
    local object = setmetatable({}, { __call = function(_, x) return x[1] ^ 3 end })
    assert.same({ { 12 } }, rows(ns.hessian(object, { 2 })))
    assert.same({ { 0, 0 }, { 0, 0 } }, rows(ns.hessian(function(x) return 3 * x[1] end, { 2, 3 })))
    assert.same({ { 0 } }, rows(ns.hessian(function() return 4 end, { 2 })))
    assert.equal(0, (ns.hessian(function() return 4 end, {}):rows()))
  end)

  it("is the Jacobian of the gradient", function()
    local x, h = ns.vector { 0.3, -1.2, 0.9 }, 1e-5
    local H = ns.hessian(f, x)
    for j = 1, 3 do
      local up, down = x:copy(), x:copy()
      up[j], down[j] = up[j] + h, down[j] - h
      local slope = (ns.gradient(f, up) - ns.gradient(f, down)) / (2 * h)
      assert.is_true((slope - H:column(j)):norm() < 1e-8)
    end
  end)

  it("rejects other arguments", function()
    fails("hessian: f: expected a function, got number", ns.hessian, 3, { 1 })
    fails("hessian: x: expected a vector, got string", ns.hessian, f, "x")
    fails("hessian: x%[2%] is nan", ns.hessian, f, { 1, 0 / 0, 2 })
    fails("hessian: f: expected a number, got a list of 1", ns.hessian, function(x) return { x[1] } end, { 1 })
    fails("hessian: f: expected a number, got nil", ns.hessian, function() end, { 1 })
    fails("differs from the plain one", ns.hessian, function(x) return x[1] == 1 and 3 or x[1] end, { 1 })
  end)
end)
