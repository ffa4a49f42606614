-- Numbers with mixed second and third derivatives, plain and on tapes: against Hessians, differences and each other.
local ns = require "nslua"
local motion = require "nslua.core".motion_support
local sin, cos, exp, log, atan = math.sin, math.cos, math.exp, math.log, math.atan

-- Functions of two operands in all pairs of their arguments, and vector operations.
local function f(t, q)
  local a, b, c = q[1], q[2], q[3]
  return { a * b * c, a / b + c / a, b ^ a, (a + b) ^ 3 * c ^ 1.5, atan(a, b * c), atan(c), log(a, b + 1), sin(a * t) * exp(b),
    q:dot(q) * c, q:norm() * a, log(a * b, 2), cos(q[1]) * q:mul(q):sum() }
end
local names = 12
local q0, t0 = { 0.7, 1.3, 0.4 }, 0.6

local function near(expected, got, tolerance, what)
  local most = (expected - got):norm()
  assert.is_true(most <= tolerance, ("%s: %g"):format(what, most))
end

describe("numbers with mixed derivatives", function()
  it("have second ones that are the Hessian's, weighed", function()
    for k = 1, names do
      local w = ns.zeros(names)
      w[k] = 2
      local H = motion.bowl(f, t0, q0, names, w)
      near(2 * ns.hessian(function(q) return f(t0, q)[k] end, q0), H, 1e-11, k)
    end
  end)

  it("have derivatives of the Jacobian along a curve that differences of it have", function()
    local v, a = ns.vector { 0.3, -0.8, 0.5 }, ns.vector { 1, 0.2, -0.6 }
    local second, J1, J2 = motion.twist(f, t0, q0, names, 1, v, a)
    local function at(s)
      local q = ns.vector(q0) + s * v + s ^ 2 / 2 * a
      local _, J = motion.jacobian(f, t0 + s, q, names)
      return motion.values(f, t0 + s, q, names), J
    end
    local function table_of(g) -- Richardson's, in h^2
      local row = {}
      for i = 0, 3 do
        local new = { g(0.02 / 2 ^ i) }
        for k = 1, i do new[k + 1] = new[k] + (new[k] - row[k]) / (4 ^ k - 1) end
        row = new
      end
      return row[#row]
    end
    local x0, J0 = at(0)
    near(table_of(function(h) return (at(h) - 2 * x0 + at(-h)) / h ^ 2 end), second, 1e-8, "values")
    near(table_of(function(h) return (select(2, at(h)) - select(2, at(-h))) / (2 * h) end), J1, 1e-9, "J'")
    near(table_of(function(h) return (select(2, at(h)) - 2 * J0 + select(2, at(-h))) / h ^ 2 end), J2, 1e-8, "J''")
  end)

  it("are the same on a tape", function()
    local c = ns.compile(f, { native = false })
    local w, v, a = ns.linspace(-1, 2, names), { 0.3, -0.8, 0.5 }, { 1, 0.2, -0.6 }
    near(motion.bowl(f, t0, q0, names, w), motion.bowl(c, t0, q0, names, w), 1e-12, "bowl")
    local plain, tape = { motion.twist(f, t0, q0, names, 1, v, a) }, { motion.twist(c, t0, q0, names, 1, v, a) }
    for i = 1, 3 do near(plain[i], tape[i], 1e-12, i) end
  end)

  it("leave a variable alone that an operation without derivatives does not depend on", function()
    local function g(_, q) return { (q[1] - 1) ^ 0.5 * 3 + q[2] ^ 3, q:norm() } end -- at q1 = 1 the root has no derivative
    local ok, message = pcall(motion.bowl, g, 0, { 1, 2 }, 2, { 1, 1 })
    assert.is_false(ok)
    assert.truthy(message:find("f[1]: the higher derivative along the motion is", 1, true), message)
    local function h(_, q) return { math.sqrt(0) * q[1] + q[2] ^ 3, q:norm() } end
    near(ns.matrix { { 0, 0 }, { 0, 12 } }, motion.bowl(h, 0, { 0, 2 }, 2, { 1, 0 }), 1e-14, "bowl")
    local zero = motion.bowl(h, 0, { 0, 0 }, 2, { 1, 1 }) -- no curvature at the tip of a cone, as no slope
    near(ns.zeros(2, 2), zero, 0, "norm at 0")
  end)

  it("are the same whatever pass a variable is in", function()
    local n = 19 -- more than one pass takes
    local function g(_, q)
      local sum = 0
      for i = 1, n - 1 do sum = sum + sin(q[i] * q[i + 1]) * q[1 + (7 * i) % n] end
      return { sum }
    end
    local q, v = ns.linspace(0.1, 1, n), ns.linspace(-1, 2, n)
    local H = motion.bowl(g, 0, q, 1, { 1 })
    near(ns.hessian(function(x) return g(0, x)[1] end, q), H, 1e-11, "bowl")
    local _, J1 = motion.twist(g, 0, q, 1, 0, v, ns.zeros(n))
    near(H * v, J1:row(1), 1e-12, "J'")
    for _, m in ipairs { 8, 9, 16, 17 } do -- the sizes at which passes end
      local function h(_, x) return { x[1] * x[m] ^ 2 * x[(m + 1) // 2] } end
      local x = ns.linspace(0.3, 1.2, m)
      near(ns.hessian(function(y) return h(0, y)[1] end, x), motion.bowl(h, 0, x, 1, { 1 }), 1e-12, m)
    end
  end)
end)
