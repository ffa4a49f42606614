-- Jacobians of known pattern, by colours: that they are the dense ones, in fewer passes, and that a pattern which leaves
-- something out is told.
local ns = require "nslua"

local fails = require "expect".fails

-- A chain of n reacting cells; its calls with dual numbers are counted.
local function chain(n)
  local count = { passes = 0 }
  local function f(t, y, out)
    local moves = false
    for i = 1, n do moves = moves or type(y[i]) == "userdata" end
    if moves then count.passes = count.passes + 1 end
    for i = 1, n do
      local left, right = i > 1 and y[i - 1] or 1, i < n and y[i + 1] or 0
      out[i] = 50 * (left - 2 * y[i] + right) - (1 + math.sin(t)) * y[i] ^ 2
    end
  end
  return f, ns.linspace(1, 0.2, n), count
end

local function band(n, above, below)
  local P = ns.zeros(n, n)
  for i = 1, n do
    for j = math.max(1, i - below), math.min(n, i + above) do P[i][j] = 1 end
  end
  return P
end

local function solve(f, y0, options)
  options.method, options.rtol, options.atol = options.method or "BDF", 1e-7, 1e-9
  return ns.solve_ivp(f, { 0, 1 }, y0, options)
end

describe("a Jacobian of known pattern", function()
  it("is the one that the same method takes without, to the last bit of the solution #once", function()
    local n = 60
    local rows = { i = {}, j = {}, v = {}, rows = n, cols = n }
    for i = 1, n do
      for j = math.max(1, i - 1), math.min(n, i + 1) do
        rows.i[#rows.i + 1], rows.j[#rows.j + 1], rows.v[#rows.v + 1] = i, j, 0.5
      end
    end
    for _, method in ipairs { "BDF", "Radau" } do
      local f, y0 = chain(n)
      local dense = solve(f, y0, { method = method })
      for _, pattern in ipairs { band(n, 1, 1), band(n, 3, 2), ns.ones(n, n), ns.sparse(rows), band(n, 1, 1):totable() } do
        local sol = solve(f, y0, { method = method, jac_sparsity = pattern })
        assert.same(dense.t:totable(), sol.t:totable())
        assert.same(dense.y:column(#dense.t):totable(), sol.y:column(#sol.t):totable())
        assert.equal(dense.njev, sol.njev)
      end
    end
  end)

  it("takes one pass of f for three colours and one for the check, not one for each sixteen unknowns", function()
    local n = 60
    local f, y0, count = chain(n)
    local dense = solve(f, y0, {})
    assert.equal(4 * dense.njev, count.passes)
    count.passes = 0
    local sol = solve(f, y0, { jac_sparsity = band(n, 1, 1) })
    assert.equal(2 * sol.njev, count.passes)
    count.passes = 0
    sol = solve(f, y0, { jac_sparsity = band(n, 20, 20) }) -- 41 colours: two passes
    assert.equal(3 * sol.njev, count.passes)
  end)

  it("has columns without entries, rows without, and no unknowns at all", function()
    local function f(_, y) return { -y[2], 3, 0 * y[1] - y[3] ^ 2 } end
    local plain = solve(f, { 1, 1, 1 }, {})
    local sol = solve(f, { 1, 1, 1 }, { jac_sparsity = { { 0, 1, 0 }, { 0, 0, 0 }, { 1, 0, 1 } } })
    assert.same(plain.y:column(#plain.t):totable(), sol.y:column(#sol.t):totable())
    assert.is_true(solve(function() return {} end, {}, { jac_sparsity = ns.zeros(0, 0) }).success)
  end)

  it("goes with arguments after y, and does nothing where a Jacobian is given or f is compiled", function()
    local function f(_, y, k) return { -k * y[1], y[1] - k * y[2] } end
    local plain = solve(f, { 1, 0 }, { args = { 2 } })
    local options = { args = { 2 }, jac_sparsity = { { 1, 0 }, { 1, 1 } } }
    local sol = solve(f, { 1, 0 }, options)
    assert.same(plain.y:column(#plain.t):totable(), sol.y:column(#sol.t):totable())
    options.jac = function(_, _, k) return { { -k, 0 }, { 1, -k } } end
    assert.is_true(solve(f, { 1, 0 }, options).success)
    assert.is_true(solve(ns.compile(f), { 1, 0 }, { args = { 2 }, jac_sparsity = { { 1, 0 }, { 1, 1 } } }).success)
  end)

  it("that leaves an entry out is an error which names it, also one that is 0 at the start", function()
    local f, y0 = chain(20)
    fails("solve_ivp: jac_sparsity[2][1]: expected an entry, since f[2] depends on y[1] at t=", solve, f, y0,
      { jac_sparsity = band(20, 1, 0) })
    local function late(t, y)
      return { -1000 * (y[1] - math.cos(t)) + (t > 0.2 and 500 * y[2] ^ 3 or 0), -y[2] - 300 * y[2] ^ 3 }
    end
    fails("solve_ivp: jac_sparsity[1][2]: expected an entry, since f[1] depends on y[2] at t=0.", solve, late, { 1, 1 },
      { jac_sparsity = { { 1, 0 }, { 0, 1 } } })
  end)

  it("refuses what is no pattern", function()
    local f, y0 = chain(3)
    fails("solve_ivp: jac_sparsity: expected a 3 x 3 matrix, got a 2 x 2 one", solve, f, y0,
      { jac_sparsity = ns.sparse { rows = 2, cols = 2, i = { 1 }, j = { 1 }, v = { 1 } } })
    fails("solve_ivp: jac_sparsity: expected a 3 x 3 matrix, got string", solve, f, y0, { jac_sparsity = "band" })
    fails("solve_ivp: jac_sparsity", solve, f, y0, { jac_sparsity = ns.zeros(2, 3) })
    fails("solve_ivp: jac_sparsity", solve, f, y0, { jac_sparsity = { { 1, 0, 0 }, { 0, 0 / 0, 0 }, { 0, 0, 1 } } })
    fails("f[1]: the derivative by y[1] is", solve, function(_, y) return { y[1] ^ 0.5 } end, { 0 }, { jac_sparsity = { { 1 } } })
  end)
end)
