-- ns.minimize and model:minimize on the problems of Hock and Schittkowski: the least values of the book, to its digits.
local ns = require "nslua"
local problems = require "hock_schittkowski"

local functions = { sin = math.sin, cos = math.cos, exp = math.exp, log = math.log }
local numbers = {}
for number in pairs(problems) do numbers[#numbers + 1] = number end
table.sort(numbers)

local function has(module)
  local here = package.searchpath("nslua." .. module, package.cpath)
  return here and it or function(name) pending(name .. " (nslua." .. module .. " is not built: make optimisers)") end
end

local function is_least(number, best)
  local least = problems[number].least
  assert.is_true(best.success, number .. ": " .. best.message)
  assert.near(least, best.fun, 1e-7 * math.max(1, math.abs(least)), number)
end

describe("problems of Hock and Schittkowski #once", function()
  has "nlopt"("are solved by ns.minimize", function()
    for _, number in ipairs(numbers) do
      local p, constraints = problems[number], {}
      local x0, n = p.start or p.x0, #p.x0
      for _, kind in ipairs { "eq", "ineq" } do
        if p[kind] then constraints[#constraints + 1] = { type = kind, fun = function(x) return p[kind](x, functions) end } end
      end
      local best = ns.minimize(function(x) return p.f(x, functions) end, x0, { constraints = constraints,
        bounds = { lower = p.lower or -math.huge * ns.ones(n), upper = p.upper or math.huge * ns.ones(n) } })
      is_least(number, best)
      assert.is_true(best.violation < 1e-9, number .. ": " .. best.violation)
    end
  end)

  has "ipopt"("are solved by model:minimize", function()
    for _, number in ipairs(numbers) do
      local p, model, x, traced = problems[number], ns.numerics.model(), {}, {}
      for j, start in ipairs(p.start or p.x0) do
        x[j] = model:variable { lower = p.lower and p.lower[j], upper = p.upper and p.upper[j], start = start }
      end
      for name, f in pairs(functions) do traced[name] = function(e) return model:apply(function(v) return f(v) end, e) end end
      for _, e in ipairs(p.eq and p.eq(x, traced) or {}) do model:equation(e) end
      for _, e in ipairs(p.ineq and p.ineq(x, traced) or {}) do model:constraint(e, { lower = 0 }) end
      is_least(number, model:minimize(p.f(x, traced)))
    end
  end)
end)
