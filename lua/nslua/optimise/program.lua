-- nslua.optimise.program: sparse nonlinear programs with complementarity conditions, solved by IPOPT.
--
-- A program has variables within bounds, rows (affine entries and terms, between a lower and an upper bound), an
-- objective (row 0) and pairs: variables a >= 0 and b >= 0, of which one is 0. Pairs are relaxed to a b <= sigma,
-- sigma goes to 0 (Scholtes, SIAM J. Optim. 11 (2001) 918-936), and in the end the smaller of each pair is fixed at
-- 0 and the program is solved once more: so an answer satisfies its pairs exactly, or it is refused.
local core = require "nslua.core"

local support = core.optimise_support
local huge = math.huge

-- The relaxations sigma, in units of the sizes of the pairs.
local RELAXATIONS = { 1, 1e-1, 1e-2, 1e-3, 1e-4 }
-- largest part of its size that the smaller of a pair may have in an answer
local COMPLEMENTARY = 1e-6
-- The products of bounds and multipliers in the last solution, in parts of the tolerance, and how many iterations may
-- be spent on them: those that succeed take 5 to 30.
local SMALL_PRODUCTS, LAST = 1e-2, 60

local Program = {}
Program.__index = Program

local product = core.compile(function(z) return z[1] * z[2] end, { native = false })

-- Makes an empty program. who: the function that messages name.
function Program.new(who)
  return setmetatable({ who = who, lower = {}, upper = {}, start = {}, row_lower = {}, row_upper = {}, row = {},
    column = {}, value = {}, terms = {}, pairs = {}, iterations = 0 }, Program)
end

-- A new variable; returns its number.
function Program:variable(lower, upper, start)
  local i = #self.lower + 1
  self.lower[i], self.upper[i] = lower or -huge, upper or huge
  self.start[i] = math.max(self.lower[i], math.min(self.upper[i], start or 0))
  return i
end

-- Adds value x[column] to a row (0: the objective).
function Program:entry(row, column, value)
  local e = #self.row + 1
  self.row[e], self.column[e], self.value[e] = row, column, value
end

-- A new row lower <= ... <= upper with entries { column, value, column, value, ... }; returns its number.
function Program:constraint(lower, upper, entries)
  local i = #self.row_lower + 1
  self.row_lower[i], self.row_upper[i] = lower, upper
  for k = 1, #(entries or {}), 2 do self:entry(i, entries[k], entries[k + 1]) end
  return i
end

-- Adds the values of a compiled function of the variables (a vector) to rows, times weights.
function Program:term(compiled, indices, rows, weights)
  self.terms[#self.terms + 1] = { compiled, indices, rows, weights }
end

-- States that variable a or variable b is 0; both are >= 0. sizes: of a and of b.
function Program:complement(a, b, sizes)
  local pair = { a = a, b = b, size_a = sizes and sizes[1] or 1, size_b = sizes and sizes[2] or 1 }
  self.pairs[#self.pairs + 1] = pair
  return pair
end


local function run(self, at, o)
  local call = { lower = core.vector(self.lower), upper = core.vector(self.upper),
    row_lower = core.vector(self.row_lower), row_upper = core.vector(self.row_upper), row = self.row,
    column = self.column, value = self.value, terms = self.terms, tolerance = o.tolerance,
    complementarity = o.complementarity or o.tolerance, barrier = o.barrier, push = o.push,
    iterations = o.max_iterations, warm = o.warm, who = self.who, x = at.x, multiplier = at.multiplier,
    at_lower = at.at_lower, at_upper = at.at_upper }
  local ended, objective, count = support.ipopt(call)
  self.iterations = self.iterations + count
  return ended, objective
end

local function copy_point(at)
  return { x = at.x:copy(), multiplier = at.multiplier:copy(), at_lower = at.at_lower:copy(),
    at_upper = at.at_upper:copy() }
end

local function new_point(self)
  return { x = core.vector(self.start), multiplier = core.zeros(#self.row_lower), at_lower = core.zeros(#self.lower),
    at_upper = core.zeros(#self.lower) }
end

local function good(ended) return ended == "solved" or ended == "acceptable" end

-- The largest min(a / size, b / size) of the pairs.
local function residual_of(self, x)
  local worst = 0
  for _, p in ipairs(self.pairs) do
    worst = math.max(worst, math.min(math.abs(x[p.a]) / p.size_a, math.abs(x[p.b]) / p.size_b))
  end
  return worst
end

-- The rows of the products, made once.
local function add_products(self)
  for _, p in ipairs(self.pairs) do
    p.row = self:constraint(-huge, huge)
    self:term(product, { p.a, p.b }, { p.row }, { 1 / (p.size_a * p.size_b) })
  end
end

-- Goes through the relaxations. Returns the last good point and how it ended.
local function relax(self, at, o)
  local ended, objective = "failed", nil
  for k, sigma in ipairs(RELAXATIONS) do
    for _, p in ipairs(self.pairs) do self.row_upper[p.row] = sigma end
    local trial = copy_point(at)
    local tolerance = math.max(o.tolerance, math.min(1e-6, sigma * 1e-2))
    ended, objective = run(self, trial, { tolerance = tolerance, push = 1e-2,
      barrier = 0.1, max_iterations = o.max_iterations, warm = false })
    if not good(ended) and k > 1 then -- once more with the multipliers of the last point
      trial = copy_point(at)
      ended, objective = run(self, trial, { tolerance = o.tolerance, push = 1e-6, barrier = 1e-3,
        max_iterations = o.max_iterations, warm = true })
    end
    if not good(ended) then break end
    at = trial
    if self.after then self.after(sigma, objective, at.x) end
  end
  return at, ended, objective
end

-- Fixes the smaller of each pair at 0 and solves again.
local function settle(self, at, o)
  local lower, upper = {}, {}
  at = copy_point(at)
  for _, p in ipairs(self.pairs) do
    local i = at.x[p.a] / p.size_a < at.x[p.b] / p.size_b and p.a or p.b
    self.row_upper[p.row] = huge
    lower[i], upper[i] = lower[i] or self.lower[i], upper[i] or self.upper[i]
    self.lower[i], self.upper[i], at.x[i] = 0.0, 0.0, 0.0
  end
  local ended, objective = run(self, at, { tolerance = o.tolerance, push = 1e-8, barrier = 1e-8,
    max_iterations = o.max_iterations, warm = true })
  if not good(ended) then
    ended, objective = run(self, at, { tolerance = o.tolerance, push = 1e-4, barrier = 1e-3,
      max_iterations = o.max_iterations, warm = false })
  end
  for i, x in pairs(lower) do self.lower[i] = x end
  for i, x in pairs(upper) do self.upper[i] = x end
  return at, ended, objective
end

local function result_of(self, at, ended, objective)
  local residual = residual_of(self, at.x)
  if good(ended) and residual > COMPLEMENTARY then ended = "complementarity" end
  return { x = at.x, multiplier = at.multiplier, at_lower = at.at_lower, at_upper = at.at_upper,
    objective = objective, status = ended, success = good(ended), residual = residual, iterations = self.iterations }
end

local function tolerances(options)
  return { tolerance = options.tolerance or 1e-10, max_iterations = options.max_iterations or 1000,
    near = options.near }
end

-- Goes through the relaxations alone, from the starts of the variables: the pairs are satisfied to the last sigma.
function Program:relax(options)
  self.iterations = 0
  add_products(self)
  local at, ended, objective = relax(self, new_point(self), tolerances(options))
  local result = result_of(self, at, ended, objective)
  result.success = good(ended)
  return result
end

-- The last solution, from a solution near. At first with small products of bounds and multipliers: each active bound
-- adds its own to the objective. Where rounding does not let them become so small, with the tolerance's.
local function solve_last(self, at, o)
  local ended, objective
  for _, part in ipairs { SMALL_PRODUCTS, 1 } do
    local trial = copy_point(at)
    ended, objective = run(self, trial, { tolerance = o.tolerance, complementarity = part * o.tolerance, push = 1e-6,
      barrier = 1e-6, max_iterations = part == 1 and o.max_iterations or math.min(LAST, o.max_iterations),
      warm = true })
    if good(ended) or part == 1 then at = trial end
    if ended == "solved" then break end
  end
  return at, ended, objective
end

-- Two solutions: in the second one `before` has seen the first.
local function solve_smooth(self, o)
  local at = new_point(self)
  if self.before then self.before(at.x, nil, 1) end
  local ended, objective = run(self, at, { tolerance = o.tolerance, push = o.near and 1e-4 or 1e-2,
    barrier = o.near and 1e-4 or 0.1, max_iterations = o.max_iterations, warm = false })
  if good(ended) and self.before then
    self.before(at.x, objective, 2)
    return solve_last(self, at, o)
  end
  return at, ended, objective
end

-- Solves it from the starts of the variables; near: they are near a solution. Returns a table: x, multiplier,
-- at_lower, at_upper (vectors), objective, status, success, residual (of the pairs), iterations.
function Program:solve(options)
  local o = tolerances(options)
  self.iterations = 0
  if #self.pairs == 0 then return result_of(self, solve_smooth(self, o)) end
  add_products(self)
  local at, ended, objective = relax(self, new_point(self), o)
  if good(ended) then
    local settled, how, value = settle(self, at, o)
    if good(how) then at, ended, objective = settled, how, value end
  end
  return result_of(self, at, ended, objective)
end

Program.messages = {
  solved = "an optimum was found", acceptable = "an optimum was found, to a lower accuracy",
  infeasible = "the constraints can't be satisfied near the last point",
  iterations = "the number of iterations (max_iterations) is reached", unbounded = "the objective has no lower bound",
  failed = "IPOPT found no way on", freedom = "there are more equations than variables",
  inaccurate = "the error of the collocation is larger than the accuracy asked for",
  complementarity = "the complementarity conditions are not satisfied" }

return Program
