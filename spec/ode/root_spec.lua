-- Roots by the hybrid method: found ones are roots, the others are told.
local ns = require "nslua"
local numbers = require "random_numbers"
local COUNT, report = require "campaign"(20, 0.1)

local cos, exp = math.cos, math.exp
local uniform = numbers.uniform

-- Functions of one number with the root a (or with none), and how near the root is known.
local with_root = {
  { 1e-14, function(a) return function(x) return (x - a) * (2 + math.sin(x)) end end },
  { 1e-13, function(a) return function(x) return (x - a) ^ 2 * (2 + x * x) end end },
  { 1e-6, function(a) return function(x) return x * x - 2 * a * x + a * a end end },
  { 1e-12, function(a) return function(x) return (x - a) ^ 5 end end },
}
local without_root = {
  function(a) -- a minimum of |f| close to 0
    local e = 10 ^ uniform(-12, 0)
    return function(x) return (x - a) ^ 2 + e end
  end,
  function(a)
    local k = math.random(4)
    return function(x) return exp(-k * x / a) end
  end,
  function(a)
    local k = math.random(4)
    return function(x) return (a + x) ^ -k end
  end,
  function(a) return function(x) return 1 / (1 + exp(x / a)) end end,
}

describe("a root", function()
  it("is found, of one equation and of many", function()
    assert.is_true(math.abs(ns.root(function(x) return cos(x[1]) - x[1] end, 1).x[1] - 0.7390851332151607) < 1e-12)
    for _, n in ipairs { 2, 9, 30 } do -- Broyden's tridiagonal function, More, Garbow and Hillstrom 1981, number 30
      local x0 = {}
      for i = 1, n do x0[i] = -1 end
      local r = ns.root(function(x, f)
        for i = 1, n do
          f[i] = (3 - 2 * x[i]) * x[i] - (i > 1 and x[i - 1] or 0) - 2 * (i < n and x[i + 1] or 0) + 1
        end
      end, x0)
      assert.is_true(r.success)
      assert.is_true(r.fun:norm() < 1e-7)
      assert.is_true(r.njev <= 2 and r.nfev < 25)
    end
  end)

  it("of Rosenbrock's function is found from afar", function()
    local r = ns.root(function(x) return { 10 * (x[2] - x[1] ^ 2), 1 - x[1] } end, { -1.2, 1 })
    assert.is_true(math.abs(r.x[1] - 1) < 1e-9 and math.abs(r.x[2] - 1) < 1e-9)
  end)

  it("that is none is not taken for one", function()
    for _, f in ipairs {
      function(x) return x[1] ^ 2 + 1 end,
      function(x) return x[1] ^ 3 - 2 * x[1] + 2 end, -- from 0: a minimum of |f| at the square root of 2/3
      function(x) return exp(-x[1]) + 1e-3 end,
    } do
      local r = ns.root(f, 0)
      assert.is_false(r.success)
      assert.equal("no convergence", r.status)
      assert.truthy(r.message:find("^no progress towards a root: |f| = "), r.message)
    end
  end)

  it("is told from a minimum near 0 and from an x that runs away", function()
    math.randomseed(5)
    for _ = 1, COUNT do
      for k, family in ipairs(with_root) do
        local a, unit = uniform(0.3, 3), numbers.power(60)
        local f = family[2](a)
        local r = ns.root(function(x) return f(x[1] / unit) end, unit * (a + numbers.signed()))
        assert.is_true(r.success, k .. ": " .. r.message)
        assert.near(a, r.x[1] / unit, a * family[1])
      end
      for k, family in ipairs(without_root) do
        local a, unit = uniform(0.3, 3), numbers.power(60)
        local f = family(a)
        local r = ns.root(function(x) return f(x[1] / unit) end, unit * uniform(0, 2))
        assert.is_false(r.success, k .. ": " .. tostring(r.x[1] / unit))
      end
    end
    report("roots, and functions without one", COUNT * (#with_root + #without_root))
    local away = "x runs away: |f| = 3.65e-61 is next to nothing, but Newton's steps are not small"
    assert.equal(away, ns.root(function(x) return exp(-x[1]) end, 1).message)
    assert.is_false(ns.root(function(x) return x[1] / (1 + x[1] ^ 2) end, 2).success)
    local good, err = pcall(ns.fsolve, function(x) return exp(-x[1]) end, 1)
    assert.is_false(good)
    assert.matches("fsolve: " .. away, err, 1, true)
  end)

  it("of third order, whose values are rounding near it, is found", function()
    for _, a in ipairs { 0.5, 0.75, 2, 1.5 } do
      local r = ns.root(function(x) return x[1] ^ 3 - 3 * a * x[1] ^ 2 + 3 * a * a * x[1] - a ^ 3 end, a + 0.7)
      assert.is_true(r.success, r.message)
      assert.near(a, r.x[1], 1e-4)
    end
  end)

  it("is not waited for beyond maxfev", function()
    local r = ns.root(function(x) return { 10 * (x[2] - x[1] ^ 2), 1 - x[1] } end, { -1.2, 1 }, { maxfev = 4 })
    assert.equal("iteration limit", r.status)
    assert.truthy(r.message:find("4 evaluations were not enough", 1, true), r.message)
  end)

  it("is sought around what is not finite", function()
    local r = ns.root(function(x) return x[1] > 0 and math.log(x[1]) or 0 / 0 end, 2.9)
    assert.is_true(math.abs(r.x[1] - 1) < 1e-9)
    r = ns.root(function(x) return x[1] == 1 and 1 or 0 / 0 end, 1, { jac = function() return { { 1 } } end })
    assert.equal("no way to a root: f is not finite beside the last x", r.message)
    -- beside a root that steps leave for where there are no numbers
    r = ns.root(function(x) return { x[1] == 1 and 1e-30 or 0 / 0 } end, { 1 }, { jac = function() return { { 1 } } end })
    assert.is_true(r.success)
    assert.equal(1, r.x[1])
    assert.equal("f[2] is not finite at x0", ns.root(function() return { 1, 0 / 0 } end, { 1, 2 }).message)
  end)

  it("is one for each equation by its own terms and each unknown by its own size", function()
    for _, small in ipairs { 1e-30, 1e-12, 1, 1e20 } do
      local r = ns.root(function(x) return { small * (x[1] ^ 3 - 8), 1e6 * x[2] ^ 2 - 4e6 } end, { 1e3, 1 })
      assert.is_true(r.success)
      assert.is_true(math.abs(r.x[1] - 2) < 1e-13 and math.abs(r.x[2] - 2) < 1e-13)
      r = ns.root(function(x) return { (x[1] / small) ^ 3 - 8, x[2] ^ 2 - 4e6 } end, { 3 * small, 1e3 })
      assert.is_true(math.abs(r.x[1] - 2 * small) < 1e-13 * small and math.abs(r.x[2] - 2e3) < 1e-10)
    end
  end)

  it("of second order, or at 0, or of equations that repeat each other, is found", function()
    assert.is_true(math.abs(ns.root(function(x) return x[1] ^ 2 end, 1).x[1]) < 1e-15)
    local r = ns.root(function(x) return { math.sin(x[1]), x[2] ^ 2 - 3e6, x[3] ^ 3 - 8 } end, { 1, 1, 0 })
    assert.is_true(r.success)
    assert.is_true(math.abs(r.x[1]) < 1e-30 and math.abs(r.x[3] - 2) < 1e-13)
    -- at 0, where another unknown is in no equation
    r = ns.root(function(x) return { math.sin(x[1]), x[1] * cos(x[1]) } end, { 0.1, 0.3 })
    assert.is_true(r.success, r.message)
    assert.is_true(math.abs(r.x[1]) < 1e-30)
    r = ns.root(function(x) return { x[1] + x[2] - 2, 2 * x[1] + 2 * x[2] - 4 } end, { 5, 1 })
    assert.is_true(r.success or r.status == "no convergence")
    if r.success then assert.is_true(math.abs(r.x[1] + r.x[2] - 2) < 1e-9) end
  end)

  it("that is none is told with the equation that is furthest off by its own terms", function()
    local r = ns.root(function(x) return { 1e9 * (x[1] - 5), 1e-12 * (x[2] ^ 2 + 1) } end, { 1, 3 })
    assert.is_false(r.success)
    assert.truthy(r.message:find("no progress towards a root: |f| = ", 1, true), r.message)
    assert.truthy(r.message:find("; equation 2 is not solved: its value is 1e%-12, its terms are of size "), r.message)
    assert.is_true(math.abs(r.x[1] - 5) < 1e-12)
    r = ns.root(function(x) return { 10 * (x[2] - x[1] ^ 2), 1 - x[1] } end, { -1.2, 1 }, { maxfev = 4 })
    assert.truthy(r.message:find("4 evaluations were not enough: |f| = ", 1, true), r.message)
    assert.truthy(r.message:find("; equation %d is not solved: its value is "), r.message)
  end)

  it("of nearly linear equations takes few steps, though an entry of the Jacobian nearly vanishes", function()
    for k = -40, 40 do -- a bar on a pin: its centre from its angle
      local angle = k * math.pi / 80 + 1e-4 * k
      local r = ns.root(function(q)
        return { q[1] - 0.5 * cos(q[3]), q[2] - 0.5 * math.sin(q[3]), q[3] - angle }
      end, { 0.5, 0, angle }, { tol = 1e-14 })
      assert.is_true(r.success, r.message)
      assert.is_true(r.nfev < 30, r.nfev)
      assert.is_true(math.abs(r.x[1] - 0.5 * cos(angle)) < 1e-14 and math.abs(r.x[2] - 0.5 * math.sin(angle)) < 1e-14)
    end
  end)
end)
