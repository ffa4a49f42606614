-- nslua.dae: differential-algebraic equations F(t, y, y') = 0.
--
--   local solver = ns.dae("radau", function(t, y, yd, res) res[1] = ... end, { rtol = 1e-8, atol = 1e-10 })
--   local solution = solver:solve(ts, y0, yd0)
--   solution.values.t, solution.values.y (row k: y at ts[k]), solution.values.ydot
--   solution.flag (0: all of ts; -1: the part up to solution.errors.t), solution.message, solution.stats
--
-- "ida" in place of "radau" takes IDA of SUNDIALS, when the module nslua.sundials is installed: for index 1 and 2,
-- and for index 3 when the option `index` lists it.
--
-- residual(t, y, yd, res) fills res or returns the values. Its Jacobians dF/dy and dF/dyd are exact (dual numbers),
-- unless the option jac(t, y, yd) returns them. The method is Radau IIA of order 5, for index 1 to 3. rtol and atol
-- control the steps; each time of ts is the end of a step. Options:
--
--   rtol (1e-6), atol (1e-12; a number, or one for each unknown)
--   first_step, max_step, max_steps (most steps between two times of ts)
--   algebraic     the algebraic unknowns, numbers from 1; it is not needed, but checked when given
--   index         the index of each unknown; found at the start when not given
--   consistent    "check" (default): a start that does not fulfil the equations is an error; "solve": algebraic
--                 unknowns and derivatives are solved for; false: neither
--   events        functions g(t, y, yd), or tables with g, apply, direction, terminal, name (dae_events.lua)
--   args          list of values that residual, jac and events get after yd
--   sensitivities "y0", "args" ...: derivatives of the solution (dae_sensitivity.lua)
--   compile       true: the residual and the events are compiled where that is possible (compile.lua)
--
-- A system of first order (FirstOrderLinearTIDS ...) may stand in place of the residual: M(t) y' = f(t, y) with a
-- regular or singular M and r = 0. Then solve(ts [, y0 [, yd0]]) starts at its x0; without yd0 it solves for the
-- algebraic unknowns and the derivatives. The state of the system itself does not change.
--
--   local y, yd = ns.consistent { residual = F, t = 0, y = y0, ydot = guess, algebraic = { 3 } }
--   ns.diagnose { residual = F, t = 0, y = y0, ydot = yd0 }   --> { index, unknowns (index of each), algebraic }
--
-- Brenan, Campbell and Petzold, Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations,
-- 1996, chapter 2 (index, consistent values); Hairer and Wanner, Solving Ordinary Differential Equations II,
-- chapter VII.

local blocks = require "nslua.base.blocks"
local core = require "nslua.core"
local format = core.number_support.format
local events = require "nslua.dae_events"
local is_callable = require "nslua.base.arguments".is_callable
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

return function(ns, support)
  local public = {}
  local ATOL = 1e-12 -- absolute tolerance of an unknown when no atol is given, in the unit of the unknown
  local SWEEPS = 40 -- of natural_units; after them the logarithms are settled to well below 1
  local TINY = -16 -- log2 of the scaled entries below which they may be rounding, so that no unit comes from them
  local DUST = 2.0 ^ -40 -- values below this fraction of the largest are rounding, and tell no size
  -- Fractions of the sizes of values by which the index is looked at nearby; the first one that works counts.
  local MOVES = { 0.1, 0.01 }
  local SHIFTS = { 0.7, -0.7, 1.9, -1.9 } -- rates, in units of the fastest one; models seldom have two of them
  local NO_RANK = 1e-14 -- singular values below this are rounding: N is scaled and has no unit
  local RANK = 1e-8 -- singular values below this fraction of the largest count as zero (about the root of rounding)

  -- Rows below this part of their terms are rounding. 1e-4: on Andrews' squeezer zeros were seen up to 4e-7 of their
  -- terms, and the others from 0.2.
  local NO_ROW = 1e-4

  local array -- nslua.derivative_array, when it is needed
  local sensitivity -- nslua.dae_sensitivity, when it is needed

  local function fail(text, ...) where.fail(format(text, ...)) end

  local function call(f, ...) return where.call("dae", f, ...) end

  local function take_options(options, known, who)
    options = options or {}
    if type(options) ~= "table" then fail("%s: options: expected a table, got %s", who, type(options)) end
    return option_tables.need(options, known, who, fail)
  end

  local function positive(value, who, name, otherwise)
    if value == nil then return otherwise end
    if type(value) ~= "number" or value ~= value or value <= 0 then
      fail("%s: %s: expected a positive number, got %s", who, name, value ~= value and "nan" or tostring(value))
    end
    return value
  end

  local function describe(value)
    if type(value) == "userdata" then return (tostring(value):gsub("\n.*", "")) end
    return type(value) == "string" and "'" .. value .. "'" or type(value)
  end

  local function list_of(value, n, who, name)
    local ok, vector = where.try(ns.vector, value)
    if not ok then fail("%s: %s: expected a list of numbers, got %s", who, name, describe(value)) end
    if n and #vector ~= n then
      fail("%s: %s: expected %d numbers, got %d", who, name, n, #vector)
    end
    for i = 1, #vector do
      if vector[i] ~= vector[i] or math.abs(vector[i]) == math.huge then
        fail("%s: %s[%d] is %s", who, name, i, vector[i] ~= vector[i] and "nan" or tostring(vector[i]))
      end
    end
    return vector
  end

  local function evaluate(solver, t, y, yd, who)
    local F, Fy, Fyd = call(support.evaluate, solver, t, y, yd)
    if not F then fail("%s: %s", who, Fy) end
    return F, Fy, Fyd
  end

  -- ---- index ----

  -- For each unknown, whether its derivative is in no equation.
  local function without_derivative(Fyd)
    local n, list = #Fyd, {}
    for j = 1, n do list[j] = not Fyd:column(j):any() end
    return list
  end

  -- The ranks of N, N^2, ... until they stay, ranks[0] being n, and an orthonormal basis of what N maps onto then
  -- (n x rank). Each rank is the rank of N restricted to what the power before maps onto: so a power's large
  -- eigenvalues do not hide its small ones.
  local function ranges_of(N)
    local ranks, basis, part = { [0] = #N }, ns.eye(#N), N
    while part do
      local U, s = ns.svd(part, "full")
      local n, rank = #s, math.tointeger(s:gt(math.max(RANK * s[1], NO_RANK)):sum())
      ranks[#ranks + 1] = rank
      if rank > 0 and rank < n then
        local onto = U:slice(1, n, 1, rank)
        basis, part = basis * onto, onto:transpose() * part * onto
      else
        basis, part = rank > 0 and basis or nil, nil
      end
    end
    return ranks, basis
  end

  -- Powers of two for the equations (row) and unknowns (column), and one for the time, so that the entries of
  -- row_i Fy_ij column_j and row_i Fyd_ij column_j / time are about 1: the logarithms are least squares (Curtis and
  -- Reid, On the automatic scaling of matrices for Gaussian elimination, J. Inst. Maths Applics 10, 1972). So units
  -- drop out.
  -- Where no entry compares two unknowns, or a time, they are compared by atol, and by the length of the interval.
  local function natural_units(Fy, Fyd, known)
    local n, entries = #Fy, {}
    for i = 1, n do
      for j = 1, n do
        if Fy[i][j] ~= 0 then entries[#entries + 1] = { i, j, 0, math.log(math.abs(Fy[i][j]), 2) } end
        if Fyd[i][j] ~= 0 then entries[#entries + 1] = { i, j, 1, math.log(math.abs(Fyd[i][j]), 2) } end
      end
    end
    -- of the rows, the columns, and of terms without and with a derivative
    local shift = { {}, {}, { [0] = 0, known.span > 0 and -math.log(known.span, 2) or 0 } }
    for i = 1, n do shift[1][i], shift[2][i] = 0, math.log(known.atol[i], 2) end
    local function settle(at)
      local sum, count, to = {}, {}, shift[at]
      for _, entry in ipairs(entries) do
        local k = entry[at]
        local off = entry[4] + shift[1][entry[1]] + shift[2][entry[2]] + shift[3][entry[3]] - to[k]
        sum[k], count[k] = (sum[k] or 0) + off, (count[k] or 0) + 1
      end
      for k, value in pairs(sum) do to[k] = (at < 3 or k == 1) and -value / count[k] or 0 end
    end
    for _ = 1, 3 do -- entries that turn out to be tiny have no say in the next round
      for _ = 1, SWEEPS do
        for at = 1, 3 do settle(at) end
      end
      local kept = {}
      for _, entry in ipairs(entries) do
        local size = entry[4] + shift[1][entry[1]] + shift[2][entry[2]] + shift[3][entry[3]]
        if size > TINY then kept[#kept + 1] = entry end
      end
      if #kept == #entries then break end
      entries = kept
    end
    local function powers(list)
      local v = ns.ones(n)
      for i = 1, n do v[i] = 2.0 ^ math.floor(list[i] + 0.5) end
      return v
    end
    return { row = powers(shift[1]), column = powers(shift[2]), time = 2.0 ^ -math.floor(shift[3][1] + 0.5) }
  end

  -- The matrix of which row i is multiplied by row[i] and column j by column[j] / time.
  local function scaled(A, units, time) return blocks.times(A, units.row, units.column) / time end

  -- The largest rate that an equation gives: its largest entry of Fy by its largest of Fyd; 1 when there is none.
  local function fastest_rate(Fy, Fyd)
    local rate = 0
    for i = 1, #Fy do
      local of_y, of_yd = Fy[i]:norm(math.huge), Fyd[i]:norm(math.huge)
      if of_yd > 0 then rate = math.max(rate, of_y / of_yd) end
    end
    return rate > 0 and rate or 1
  end

  -- c (c Fyd + Fy)^-1 Fyd, which has no unit, for the rate c of SHIFTS at which the matrix is farthest from singular;
  -- nil when it is singular at all of them.
  local function shifted_inverse(Fy, Fyd)
    local rate, best, most, chosen = fastest_rate(Fy, Fyd), nil, 1e-14, nil
    for _, shift in ipairs(SHIFTS) do
      local regular = shift * rate * Fyd + Fy
      local size = ns.rcond(regular)
      if size >= most then best, most, chosen = regular, size, shift end
    end
    return best and chosen * rate * ns.solve(best, Fyd)
  end

  -- The index of the linearised equations Fyd x' + Fy x = 0, and the index of each unknown (1 for unknowns of no
  -- higher one). With N = (c Fyd + Fy)^-1 Fyd the rank of N^k falls until k = index. The unknowns of index k are
  -- those in which N^(k - 1), restricted to the nilpotent part, has entries.
  local function index_of(Fy, Fyd, known)
    local n, units = #Fy, natural_units(Fy, Fyd, known)
    Fy, Fyd = scaled(Fy, units, 1), scaled(Fyd, units, units.time)
    local N = shifted_inverse(Fy, Fyd)
    if not N then return nil end
    local ranks, range = ranges_of(N)
    local index = 0
    while ranks[index + 1] and ranks[index + 1] < ranks[index] do index = index + 1 end
    local unknowns = {}
    for i = 1, n do unknowns[i] = 1 end
    if index < 2 then return index, unknowns end
    local r = ranks[index]
    local _, across = ranges_of(N:transpose())
    local null = r > 0 and ns.svd(across, "full") or ns.eye(n) -- the columns after r are the null space of N^index
    local basis = null:slice(1, n, r + 1, n) -- range of N^index, then its null space
    if r > 0 then basis = ns.hstack(range, basis) end
    local kept = ns.zeros(n, n)
    kept:diagonal():slice(r + 1, n):fill(1)
    local part = basis * kept * ns.inv(basis)
    for k = 2, index do
      local before = part
      part = N * before
      for i = 1, n do
        local terms = 0 -- of the row: each row is judged by its own terms, and is 0 when it is their rounding
        for l = 1, n do terms = terms + math.abs(N[i][l]) * before[l]:norm(math.huge) end
        if part[i]:norm(math.huge) > NO_ROW * terms then unknowns[i] = k
        else part[i]:fill(0) end
      end
    end
    return index, unknowns
  end

  -- The sizes of the unknowns and of their derivatives: the sizes of their values, and at least what has the effect
  -- of the median of the values that are not 0, as the equations weigh them. Where all are 0: of the residual, then
  -- of atol.
  local function sizes_of(F, Fy, Fyd, y, yd, known)
    local units, list, most = natural_units(Fy, Fyd, known), {}, 0
    for j = 1, #y do
      for _, value in ipairs { y[j] / units.column[j], yd[j] * units.time / units.column[j] } do
        list[#list + 1], most = math.abs(value), math.max(most, math.abs(value))
      end
    end
    local counted = {}
    for _, value in ipairs(list) do
      if value > DUST * most then counted[#counted + 1] = value end
    end
    table.sort(counted)
    local middle = counted[#counted // 2 + 1] or 0
    for i = 1, middle == 0 and #F or 0 do middle = math.max(middle, units.row[i] * math.abs(F[i])) end
    for j = 1, middle == 0 and #y or 0 do middle = math.max(middle, known.atol[j] / units.column[j]) end
    local of_y, of_yd = ns.zeros(#y), ns.zeros(#y)
    for j = 1, #y do
      of_y[j] = math.max(math.abs(y[j]), middle * units.column[j])
      of_yd[j] = math.max(math.abs(yd[j]), middle * units.column[j] / units.time)
    end
    return of_y, of_yd
  end

  -- The index at a point near (y, yd), where no entry of the Jacobians is 0 by chance, and the index of each unknown.
  -- Example: at some angles of a pendulum another unknown has index 2 than at all others.
  local function index_near(solver, t, y, yd, known)
    local tidy = ns.vector(y) -- values below atol are rounding
    for j = 1, #y do tidy[j] = math.abs(y[j]) > known.atol[j] and y[j] or 0 end
    local good, F, Fy, Fyd = where.try(support.evaluate, solver, t, tidy, yd)
    if good and F then y = tidy
    else F, Fy, Fyd = evaluate(solver, t, y, yd, "dae") end
    local of_y, of_yd = sizes_of(F, Fy, Fyd, y, yd, known)
    local function moved(v, sizes, part)
      local w, seed = ns.vector(v), 1
      for i = 1, #w do
        seed = (16807 * seed + i) % 2147483647
        w[i] = w[i] + part * sizes[i] * (0.5 + seed / 4294967294)
      end
      return w
    end
    for _, part in ipairs(MOVES) do
      local fine, G, Gy, Gyd = where.try(support.evaluate, solver, t, moved(y, of_y, part), moved(yd, of_yd, part))
      if fine and G then return index_of(Gy, Gyd, known) end
    end
    return index_of(Fy, Fyd, known)
  end

  -- ---- the start ----

  -- The number of the equation whose residual is largest relative to its own terms, and this relative size. The size
  -- of the terms includes changes of the unknowns by atol, and of the derivatives by atol / span (none when span is
  -- 0), where span is the length of the interval of time.
  local function worst_equation(F, Fy, Fyd, y, yd, atol, span)
    local worst, value = 0, 0
    for i = 1, #F do
      local size, allowed, rest = 0, 0, F[i]
      for j = 1, #y do
        local of_y, of_yd, rate = Fy[i][j] * y[j], Fyd[i][j] * yd[j], span > 0 and atol[j] / span or 0
        size, rest = size + math.abs(of_y) + math.abs(of_yd), rest - of_y - of_yd
        allowed = allowed + math.abs(Fy[i][j]) * atol[j] + math.abs(Fyd[i][j]) * rate
      end
      local off = F[i] ~= 0 and math.abs(F[i]) / (size + math.abs(rest) + allowed) or 0
      if off > value then worst, value = i, off end
    end
    return worst, value
  end

  -- Compares the list of algebraic unknowns that the option `algebraic` gives with the equations.
  local function check_list(list, algebraic, n, who)
    if list == nil then return end
    if type(list) ~= "table" then
      fail("%s: algebraic: expected a list of numbers of unknowns, got %s", who, describe(list))
    end
    local listed = {}
    for _, i in ipairs(list) do
      if math.type(i) ~= "integer" or i < 1 or i > n then
        fail("%s: algebraic: expected numbers of unknowns, 1..%d, got %s", who, n, tostring(i))
      end
      listed[i] = true
      if not algebraic[i] then
        fail("%s: algebraic lists unknown %d, whose derivative is in the equations", who, i)
      end
    end
    for i = 1, n do
      if algebraic[i] and not listed[i] then
        fail("%s: algebraic: unknown %d is missing: its derivative is in no equation", who, i)
      end
    end
  end

  local function check_index(index, n, who)
    if index == nil then return nil end
    if type(index) ~= "table" or #index ~= n then
      fail("%s: index: expected a list of %d numbers, one for each unknown, got %s", who, n,
        type(index) == "table" and #index or describe(index))
    end
    for i = 1, n do
      if index[i] ~= 1 and index[i] ~= 2 and index[i] ~= 3 then
        fail("%s: index[%d]: expected 1, 2 or 3, got %s", who, i, tostring(index[i]))
      end
    end
    return index
  end

  -- ---- ns.dae ----

  local Dae = {}
  Dae.__index = Dae
  Dae.__name = "dae"
  where.strict(Dae)

  local function tolerances(options, n, who)
    local rtol = positive(options.rtol, who, "rtol", 1e-6)
    if rtol < 1e-14 then fail("%s: rtol: expected at least 1e-14, got %g", who, rtol) end
    local atol = options.atol or ATOL
    if type(atol) == "number" then
      positive(atol, who, "atol")
      atol = atol * ns.ones(n)
    else
      atol = list_of(atol, n, who, "atol")
    end
    return rtol, atol
  end

  local function make(self, start, n, index, method, time)
    local o = self.options
    local rtol, atol = tolerances(o, n, "dae")
    return call(support.new, n, self.residual, { rtol = rtol, atol = atol, index = index, time = time,
      jacobian = self.jacobian, start = start, compile = o.compile,
      max_step = positive(o.max_step, "dae", "max_step", math.huge),
      max_steps = positive(o.max_steps, "dae", "max_steps", 0), method = method })
  end

  -- Whether a combination of equations of index 1 has neither a derivative nor an algebraic unknown, as of capacitors
  -- in a loop. It binds unknowns that have a derivative, and their derivatives follow from its own by time.
  local function coupled(Fy, Fyd, algebraic, known)
    local units, columns = natural_units(Fy, Fyd, known), ns.zeros(#Fy, #Fy)
    local of_y, of_yd = scaled(Fy, units, 1), scaled(Fyd, units, units.time)
    for j = 1, #Fy do columns:column(j):assign((algebraic[j] and of_y or of_yd):column(j)) end
    local s = ns.svdvals(columns)
    return s[#s] <= RANK * s[1]
  end

  -- How many derivatives of the equations by time tell what is consistent; 0: the equations alone do. `index` lists
  -- the index of each unknown (nil: all 1).
  local function hidden_order(Fy, Fyd, algebraic, index, known)
    local highest = 1
    for i = 1, index and #index or 0 do highest = math.max(highest, index[i]) end
    return highest > 1 and highest - 1 or coupled(Fy, Fyd, algebraic, known) and 1 or 0
  end

  -- The consistent values at (t, y, yd) nearby: unknowns that have a derivative are kept. With `order` of
  -- hidden_order above 0 the equations that are hidden are solved, too. nil and the reason. more{given=, by=,
  -- allowed=}: then a third value, the derivatives by parameters (nslua.derivative_array).
  local function consistent_values(solver, t, y, yd, algebraic, order, span, atol, more)
    if order == 0 then return call(support.consistent, solver, t, y, yd, algebraic) end
    array = array or require "nslua.derivative_array"(ns)
    return array { evaluate = function(...) return support.evaluate(solver, ...) end, t = t, y = y, yd = yd,
      algebraic = algebraic, order = order, span = span, atol = atol, given = more and more.given,
      by = more and more.by, allowed = more and more.allowed }
  end

  -- Returns a solver that knows the index of each unknown, and the start (y, yd). The start is made consistent when
  -- the option asks for it; with `solved` also when the option is not given.
  local function prepare(self, t, y, yd, solved, span)
    local o, n = self.options, #y
    local by_index = check_index(o.index, n, "dae")
    local solver = make(self, { t, y, yd }, n, not self.method and by_index or nil)
    local F, Fy, Fyd = evaluate(solver, t, y, yd, "dae")
    local algebraic = without_derivative(Fyd)
    local _, atol = tolerances(o, n, "dae")
    check_list(o.algebraic, algebraic, n, "dae")
    local solve = o.consistent == "solve" or (solved and o.consistent == nil)
    if not solve and o.consistent ~= false then
      local worst, value = worst_equation(F, Fy, Fyd, y, yd, atol, span)
      if value > 1e-6 then
        fail("dae: the start is not consistent: equation %d has the residual %.6g (ns.consistent finds a "
          .. "consistent start; the option consistent = 'solve' does so here, consistent = false accepts this one)",
          worst, F[worst])
      end
    end
    if o.index == nil then
      local index, unknowns = index_near(solver, t, y, yd, { atol = atol, span = span })
      if index and index > 3 then fail("dae: the equations are of index %d; at most 3 is solved", index) end
      if index == 3 and self.method then
        fail("dae: index: the equations are of index 3, which kind 'ida' solves only when the option index asks for "
          .. "it ({ %s }), with errors far above the tolerances; 'radau' solves index 3",
          table.concat(unknowns, ", "))
      end
      if index and index > 1 then by_index = unknowns end
    end
    local checker, order = solver, nil
    local function hidden()
      order = order or hidden_order(Fy, Fyd, algebraic, by_index, { atol = atol, span = span })
      return order
    end
    local function consistent(at, value, slope, more)
      return consistent_values(checker, at, value, slope, algebraic, hidden(), span, atol, more)
    end
    if solve then
      local good, more = consistent(t, y, yd)
      if not good then fail("dae: the start: %s", more) end
      y, yd = good, more
    end
    if self.method or by_index then solver = make(self, { t, y, yd }, n, by_index, self.method, span) end
    return solver, y, yd, consistent, { checker = checker, algebraic = algebraic, hidden = hidden }
  end

  -- What follows the run of the solver, which has been started at (t, y, yd), with sensitivities; nil without them.
  local function follow(self, solver, t, y, yd, consistent, known)
    local o = self.options
    if o.sensitivities == nil then return nil end
    sensitivity = sensitivity or require "nslua.dae_sensitivity"(ns, support, call)
    return sensitivity.follow { option = o.sensitivities, solver = solver, checker = known.checker, n = #y,
      args = self.args or {}, algebraic = known.algebraic, order = known.hidden(),
      residual = self.user_residual, system = self.system ~= nil, events = self.events ~= nil, t = t, y = y, yd = yd,
      consistent = consistent }
  end

  -- x0 of a system. Raises when the system has been closed.
  local function start_of(ds)
    local good, x0 = pcall(function() return ds:x0() end)
    if not good then fail("dae: %s", (x0:gsub("^[^\n]-%.lua:%d+: ", ""))) end
    return x0
  end

  -- The result of a solve: its rows, and further fields, which it is made of.
  local function result_of(solver, t, y, yd, fields)
    fields.values = { t = ns.vector(t), y = ns.matrix(y), ydot = ns.matrix(yd) }
    fields.success, fields.stats = fields.flag >= 0, support.stats(solver)
    return setmetatable(fields, core.result_meta)
  end

  -- Solves with events, from the start (y, yd) of the solver.
  local function solve_with_events(self, solver, ts, y, yd, consistent, following)
    local run, good, why = events.run { ns = ns, support = support, call = call, solver = solver,
      events = self.events, ts = ts, y = y, yd = yd, n = #y, consistent = consistent,
      atol = select(2, tolerances(self.options, #y, "dae")),
      max_steps = self.options.max_steps, follow = following }
    if not good and following and why:find "^sensitivities:" then fail("dae: %s", why) end
    local fields = { flag = not good and -1 or run.ended_by and 1 or 0,
      message = not good and why or run.ended_by and run.ended_by .. " ended the integration" or "completed" }
    if not good then
      local t, yk = support.state(solver)
      fields.errors = { t = t, y = yk }
    end
    events.fields(run, fields)
    if following then fields.S, fields.sensitivities = run.S, following.names end
    return result_of(solver, run.t, run.y, run.yd, fields)
  end

  function Dae:solve(ts, y0, yd0)
    if getmetatable(self) ~= Dae then fail "dae: solve: expected a solver before it, as in dae:solve(ts, y0, yd0)" end
    if y0 == nil and self.system then y0 = start_of(self.system) end
    ts, y0 = list_of(ts, nil, "dae", "ts"), list_of(y0, self.count, "dae", "y0")
    if #ts == 0 then fail "dae: ts: expected at least one time" end
    if #y0 == 0 then fail "dae: y0: expected at least one unknown" end
    local solved = self.system and yd0 == nil
    yd0 = list_of(yd0 or ns.zeros(#y0), #y0, "dae", "yd0")
    for k = 3, #ts do
      if (ts[k] - ts[k - 1]) * (ts[2] - ts[1]) <= 0 then
        fail("dae: ts: expected times that increase or decrease, got %g after %g", ts[k], ts[k - 1])
      end
    end
    local solver, y, yd, consistent, known = prepare(self, ts[1], y0, yd0, solved, math.abs(ts[#ts] - ts[1]))
    local first = positive(self.options.first_step, "dae", "first_step", 0)
    call(support.start, solver, ts[1], y, yd, first, ts[#ts])
    local following = follow(self, solver, ts[1], y, yd, consistent, known)
    if self.events then return solve_with_events(self, solver, ts, y, yd, consistent, following) end
    local go, S = following and support.go_to_with or support.go_to, following and { following:at(ts[1]) }
    local t_rows, y_rows, yd_rows = { ts[1] }, { y:totable() }, { yd:totable() }
    local flag, message = 0, "completed"
    local errors
    for k = 2, #ts do
      local good, why = call(go, solver, ts[k])
      if not good and following and why:find "^sensitivities:" then fail("dae: %s", why) end
      local t, yk, ydk = support.state(solver)
      if not good then
        flag, message, errors = -1, why, { t = t, y = yk }
        break
      end
      t_rows[k], y_rows[k], yd_rows[k] = t, yk:totable(), ydk:totable()
      if following then S[k] = following:at(t) end
    end
    return result_of(solver, t_rows, y_rows, yd_rows, { flag = flag, message = message, errors = errors, S = S,
      sensitivities = following and following.names })
  end

  local function check_function(f, who, what, expected)
    if not is_callable(f) then
      fail("%s: %s: expected %s, got %s", who, what, expected or "a function", describe(f))
    end
  end

  -- A system of first order without relations, M(t) y' = f(t, y), as a residual with its Jacobians.
  local function of_system(ds, options)
    local n, name, linked = support.system(ds)
    if linked then
      fail("dae: dynamical system '%s' is linked to an interaction, whose input is not in the equations: simulate it "
        .. "by TimeStepping", name)
    end
    if options.jac ~= nil then fail "dae: jac: a dynamical system has its own Jacobians" end
    local filled = {}
    for key, value in pairs(options) do filled[key] = value end
    filled.jac = function(t, y)
      local _, M, J = support.terms(ds, t, y, true)
      return -1 * J, M
    end
    return setmetatable({ system = ds, count = n, options = filled, residual = function(t, y, yd)
      local f, M = support.terms(ds, t, y)
      return M * yd - f
    end }, Dae)
  end

  -- Reads the option `args`. Returns the function that gives the user's functions their arguments: bind(f) calls
  -- f(t, y, yd, args ... [, res]).
  local function take_args(dae, args)
    if args == nil then return function(f) return f end end
    if type(args) ~= "table" then fail("dae: args: expected a list, got %s", describe(args)) end
    if dae.system then fail "dae: args: a dynamical system has none" end
    local copy, count = {}, 0
    for i, value in ipairs(args) do copy[i], count = value, i end
    dae.args = copy
    return function(f)
      return f and function(t, y, yd, out)
        local list = table.move(copy, 1, count, 1, {})
        list[count + 1] = out
        return f(t, y, yd, table.unpack(list, 1, count + (out ~= nil and 1 or 0)))
      end
    end
  end

  function public.dae(kind, residual, options)
    if kind ~= "radau" and kind ~= "ida" then
      fail("dae: kind: expected 'radau' or 'ida', got %s",
        type(kind) == "string" and "'" .. kind .. "'" or type(kind))
    end
    local system = support.system(residual)
    if not system then check_function(residual, "dae", "residual", "a function or a system of first order") end
    options = take_options(options, option_names.dae .. " old_api", "dae") -- old_api: of scikits.odes, ignored
    if options.jac ~= nil then check_function(options.jac, "dae", "jac") end
    local way = options.consistent
    if way ~= nil and way ~= "check" and way ~= "solve" and way ~= false then
      fail("dae: consistent: expected 'check', 'solve' or false, got %s", tostring(way))
    end
    local dae = system and of_system(residual, options)
      or setmetatable({ residual = residual, options = options }, Dae)
    local bind = take_args(dae, options.args)
    dae.user_residual, dae.residual = residual, bind(dae.residual)
    dae.jacobian = bind(dae.options.jac)
    dae.events = events.read(options.events, bind)
    if kind == "ida" then
      dae.method = call(support.sundials, "dae", "kind 'ida'", "'radau' solves the same problems").ida
    end
    return dae
  end

  -- ---- ns.consistent, ns.diagnose ----

  local function take_problem(o, who, names)
    o = take_options(o, names, who)
    check_function(o.residual, who, "residual")
    local y = list_of(o.y, nil, who, "y")
    if #y == 0 then fail("%s: y: expected at least one unknown", who) end
    if o.t ~= nil and (type(o.t) ~= "number" or o.t - o.t ~= 0) then
      fail("%s: t: expected a finite number, got %s", who, type(o.t) == "number" and "nan or inf" or describe(o.t))
    end
    local yd = list_of(o.ydot or ns.zeros(#y), #y, who, "ydot")
    local t = o.t or 0
    return o, call(support.new, #y, o.residual, { rtol = 1e-6, atol = ns.ones(#y), start = { t, y, yd } }), t, y, yd
  end

  function public.consistent(o)
    local solver, t, y, yd
    o, solver, t, y, yd = take_problem(o, "consistent", option_names.consistent)
    local _, Fy, Fyd = evaluate(solver, t, y, yd, "consistent")
    local algebraic, known = without_derivative(Fyd), { atol = ATOL * ns.ones(#y), span = 0 }
    check_list(o.algebraic, algebraic, #y, "consistent")
    local index, unknowns = index_near(solver, t, y, yd, known)
    if index and index > 3 then fail("consistent: the equations are of index %d; at most 3 is solved", index) end
    local good, more = consistent_values(solver, t, y, yd, algebraic,
      hidden_order(Fy, Fyd, algebraic, unknowns, known), 0, known.atol)
    if not good then fail("consistent: %s", more) end
    for i = 1, #y do
      if algebraic[i] then more[i] = yd[i] end -- no equation contains it
    end
    return good, more
  end

  function public.diagnose(o)
    local _, solver, t, y, yd = take_problem(o, "diagnose", option_names.diagnose)
    local F, Fy, Fyd = evaluate(solver, t, y, yd, "diagnose")
    local algebraic, list = without_derivative(Fyd), {}
    for i = 1, #y do
      if algebraic[i] then list[#list + 1] = i end
    end
    local index, unknowns = index_near(solver, t, y, yd, { atol = ATOL * ns.ones(#y), span = 0 })
    local worst, value = worst_equation(F, Fy, Fyd, y, yd, ATOL * ns.ones(#y), 1)
    return setmetatable({ index = index, unknowns = unknowns, algebraic = list, consistent = value <= 1e-6,
      worst = worst > 0 and worst or nil, residual = F }, core.result_fields_meta)
  end

  return public
end
