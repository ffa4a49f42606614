-- Success of ns.minimize is a minimum: random convex problems by every local method, in any units, from any start.
local minima = require "random_minima"
local ns = require "nslua"
local numbers = require "random_numbers"
local COUNT, report = require "campaign"(6, 0.02)

local here = package.searchpath("nslua.nlopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.nlopt is not built: make optimisers)") end

-- The number of kinds that the method takes, in the order of minima.kinds without equations; the least share of successes.
local methods = { ["L-BFGS-B"] = { 2, 1 }, TNC = { 2, 1 }, SLSQP = { 6, 1 }, MMA = { 5, 0.8 }, CCSAQ = { 5, 0.8 },
  COBYLA = { 6, 0.8 }, BOBYQA = { 2, 1 }, ["Nelder-Mead"] = { 2, 0.9 }, Sbplx = { 2, 1 }, Powell = { 2, 0 } }
local kinds = { "free", "bounds", "line", "both", "ball", "equation" }

-- One problem; returns whether there was success, and fails where it was no minimum.
local function minimise(method, kind, zero, units)
  local n = math.random(2, 4) -- BOBYQA takes two unknowns or more
  local s = numbers.vector(n, function() return units and numbers.power(30) or 1 end)
  local f, options, best = minima.problem(n, kind, s)
  local bounds = options.bounds
  local x0 = numbers.vector(n, function(j)
    local x = zero and 0 or s[j] * numbers.signed()
    return bounds and math.max(bounds.lower[j], math.min(bounds.upper[j], x)) or x
  end)
  options.method = method
  local r = ns.minimize(f, x0, options)
  for j = 1, r.success and n or 0 do
    local off = math.abs(r.x[j] / s[j] - best[j])
    assert.is_true(off < 1e-3, ("%s, %s: x[%d] is off by %g (%s)"):format(method, kind, j, off, r.message))
  end
  return r.success
end

describe("an end of ns.minimize", function()
  test("that counts as success is a minimum, by every local method #once", function()
    math.randomseed(11)
    local tried = 0
    for _, method in ipairs(require "sorted_names"(methods)) do
      local most, share = table.unpack(methods[method])
      local successes = 0
      for k = 1, COUNT do
        if minimise(method, kinds[math.random(most)], k % 2 == 0, k % 3 > 0) then successes = successes + 1 end
      end
      assert.is_true(successes >= share * COUNT - 1, method .. ": " .. successes)
      tried = tried + COUNT
    end
    report("minima of convex problems", tried)
  end)

  test("is sought in the units that the derivatives tell, from a start of 0", function()
    for _, s in ipairs { { 1, 1 }, { 1e6, 1e-3 }, { 1e8, 1e-6 } } do
      local function f(x)
        local a, b = x[1] / s[1] - 1, x[2] / s[2] - 1
        return a * a + b * b + 0.5 * (x[1] / s[1]) * (x[2] / s[2])
      end
      local r = ns.minimize(f, { 0, 0 })
      assert.is_true(r.success and math.abs(r.x[1] / s[1] - 0.8) < 1e-6 and math.abs(r.x[2] / s[2] - 0.8) < 1e-6)
      assert.equal("the value no longer decreases, and the conditions of a minimum hold", r.message)
      r = ns.minimize(f, { 0, 0 }, { constraints = { type = "eq",
        fun = function(x) return { x[1] / s[1] + x[2] / s[2] - 1 } end } })
      assert.is_true(r.success and math.abs(r.x[1] / s[1] - 0.5) < 1e-6 and math.abs(r.x[2] / s[2] - 0.5) < 1e-6)
      -- a linear f: the constraint tells the units
      r = ns.minimize(function(x) return { x[1] / s[1] + x[2] / s[2] } end, { 0, 0 }, { method = "MMA",
        constraints = { type = "ineq", fun = function(x) return 2 - (x[1] / s[1]) ^ 2 - (x[2] / s[2]) ^ 2 end } })
      assert.is_true(r.success and math.abs(r.x[1] / s[1] + 1) < 1e-6 and math.abs(r.x[2] / s[2] + 1) < 1e-6, r.message)
      -- given derivatives
      r = ns.minimize(f, { 0, 0 }, { grad = function(x)
        local a, b = x[1] / s[1], x[2] / s[2]
        return { (2 * (a - 1) + b / 2) / s[1], (2 * (b - 1) + a / 2) / s[2] }
      end })
      assert.is_true(r.success and math.abs(r.x[1] / s[1] - 0.8) < 1e-6 and math.abs(r.x[2] / s[2] - 0.8) < 1e-6)
    end
  end)

  test("that is none is told", function()
    -- a gradient that is wrong by a constant: f falls to 1, the gradient does not vanish there
    local r = ns.minimize(function(x) return (x[1] - 1) ^ 2 end, { 3 },
      { grad = function(x) return { 2 * (x[1] - 1) + 9 } end })
    assert.is_false(r.success)
    assert.equal("gradient", r.status)
    assert.equal("the search ended where the conditions of a minimum do not hold: x[1] can move and lower f", r.message)
    -- NLopt's Powell sees no bounds but that f is infinite beyond them
    local refused
    math.randomseed(3)
    for _ = 1, 40 do
      local f, options = minima.problem(2, "bounds", { 1, 1 })
      options.method = "Powell"
      r = ns.minimize(f, { 0, 0 }, options)
      refused = refused or r.status == "beside" and r.message
    end
    assert.equal("the search ended where f is lower beside its last point", refused)
    r = ns.minimize(function(x) return (x[1] - 3) ^ 2 + math.abs(x[2]) end, { 1, 1 }, { method = "Nelder-Mead" })
    assert.matches("no longer changes?, and f is not lower beside x$", (r.message:gsub("decreases", "changes")))
  end)
end)
