-- nslua.dae_sensitivity: derivatives of a solution of ns.dae by initial values and arguments.
--
-- S = dy/dp obeys F_y' S' + F_y S + F_p = 0 along the solution (src/ode/dae_sensitivity.c). Here are its start, the
-- derivatives of the times of events, and S after an event with apply. The columns of F_y of the algebraic unknowns a
-- and the columns of F_y' of the others d make a regular matrix when the index is 1; with it S_a and S_d' follow from
-- S_d, and y_a' and y_d'' from y_d'. At an event y+ = R(t, y, y', p), where g(t, y, y', p) = 0:
--   dt/dp = -(dg/dp at fixed t) / (dg/dt along the solution),   S_d+ = (dR/dp at fixed t + (dR/dt - y'+) dt/dp)_d
-- Hiskens and Pai, IEEE Trans. Circuits and Systems I 47(2), 2000.

local format = require "nslua.core".number_support.format
local times = require "nslua.base.blocks".times
local where = require "nslua.base.where"

return function(ns, support, call)
  local DRIFT = 1e-3 -- largest such distance, as a part of the size of the unknown; a larger one is told
  local EXPECTED = "'y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]'"

  local public = {}

  local function fail(text, ...) where.fail("dae: sensitivities: " .. format(text, ...)) end

  -- ---- parameters ----

  -- The numbers in an argument, a list; nil when it is none, or something else.
  local function numbers_of(argument)
    if type(argument) == "number" then return { argument } end
    local good, vector = false, nil
    local kind = type(argument)
    if kind == "table" or kind == "userdata" then good, vector = where.try(ns.vector, argument) end
    return good and vector:totable() or nil
  end

  -- Adds the parameters of one name of the option to self.names and self.columns.
  local function add(self, name, which, algebraic)
    local function put(text, column)
      for _, known in ipairs(self.names) do
        if known == text then fail("%s is listed twice", text) end
      end
      self.names[#self.names + 1], self.columns[#self.columns + 1] = text, column
    end
    if type(name) ~= "string" then fail("[%d]: expected a name (%s), got %s", which, EXPECTED, type(name)) end
    local i = math.tointeger(tonumber(name:match "^y0%[(%d+)%]$"))
    if i or name == "y0" then
      if i and (i < 1 or i > self.n) then fail("%s: there are %d unknowns", name, self.n) end
      if i and algebraic[i] then fail("%s: unknown %d is algebraic: the others determine it", name, i) end
      for j = 1, self.n do
        if (i or j) == j and not algebraic[j] then put(("y0[%d]"):format(j), { unknown = j }) end
      end
      return
    end
    local rest = name:match "^args(.*)$"
    local a, k = (rest or ""):match "^%[(%d+)%]$", nil
    if not a then a, k = (rest or ""):match "^%[(%d+)%]%[(%d+)%]$" end
    a, k = math.tointeger(tonumber(a)), math.tointeger(tonumber(k))
    if not rest or (rest ~= "" and not a) then fail("expected %s, got '%s'", EXPECTED, name) end
    if a and (a < 1 or a > #self.args) then fail("%s: there are %d args", name, #self.args) end
    for number = a or 1, a or #self.args do
      local list = numbers_of(self.args[number])
      if a and not list then fail("%s: the argument has no numbers", name) end
      if k and (k < 1 or k > #list) then fail("%s: the argument has %d numbers", name, #list) end
      for at = k or 1, k or #(list or {}) do
        put(type(self.args[number]) == "number" and ("args[%d]"):format(number)
          or ("args[%d][%d]"):format(number, at), { argument = number, k = at })
      end
    end
  end

  -- The arguments with the numbers of the parameters from w, the vector of their values.
  local function args_with(self, w)
    local list, copied = table.move(self.args, 1, #self.args, 1, {}), {}
    for j, column in ipairs(self.columns) do
      local i = column.argument
      if i and type(self.args[i]) == "number" then list[i] = w[j] end
      if i and type(self.args[i]) ~= "number" then
        copied[i] = copied[i] or numbers_of(self.args[i])
        list[i] = copied[i]
        list[i][column.k] = w[j]
      end
    end
    return table.unpack(list, 1, #self.args)
  end

  -- ---- derivatives ----

  -- Powers of two for the rows and columns of M (n x n) with which the largest entry of each becomes about 1.
  local function equilibrate(M, n)
    local row, column = {}, {}
    for i = 1, n do row[i], column[i] = 1.0, 1.0 end
    local function raise(shift, entry)
      for i = 1, n do
        local most = 0
        for j = 1, n do most = math.max(most, entry(i, j)) end
        shift[i] = most > 0 and most < math.huge and 2.0 ^ -math.floor(math.log(most, 2)) or 1.0
      end
    end
    for _ = 1, 3 do
      raise(column, function(j, i) return math.abs(M[i][j]) * row[i] end)
      raise(row, function(i, j) return math.abs(M[i][j]) * column[j] end)
    end
    return row, column
  end

  local Follow = {}
  Follow.__index = Follow

  -- Writes F(t, y, y', arguments ...) into `out`.
  function Follow:write_residual(out, t, y, yd, ...)
    local list = table.pack(...)
    list[list.n + 1] = out
    local values = self.residual(t, y, yd, table.unpack(list, 1, list.n + 1))
    for i = 1, values ~= nil and self.n or 0 do out[i] = values[i] end
  end

  -- dF/dparameters at (t, y, y'), n x p.
  function Follow:by_parameters(t, y, yd)
    if not self.by_args then return ns.zeros(self.n, self.p) end
    return ns.jacobian(function(w, out) self:write_residual(out, t, y, yd, args_with(self, w)) end, self.w, self.n)
  end

  -- The Jacobian of f(t, y, y', args ...), with `count` values, by t, y, y' and the parameters: a matrix with 1 +
  -- 2 n + p columns.
  function Follow:jacobian_of(f, t, y, yd)
    local n, p, u = self.n, self.p, { t }
    for i = 1, n do u[1 + i], u[1 + n + i] = y[i], yd[i] end
    for j = 1, p do u[1 + 2 * n + j] = self.w[j] end
    return ns.jacobian(function(x)
      local at, slope = x:slice(2, n + 1), x:slice(n + 2, 2 * n + 1)
      local value = f(x[1], at, slope, args_with(self, x:slice(2 * n + 2, 2 * n + 1 + p)))
      return value == nil and at or value
    end, u)
  end

  -- The matrix of index 1 at a point, and F_y.
  function Follow:matrix_at(t, y, yd)
    local F, Fy, Fyd = call(support.evaluate, self.checker, t, y, yd)
    if not F then fail("%s", Fy) end
    local M = Fyd:copy()
    for j = 1, self.n do
      if self.algebraic[j] then M:column(j):assign(Fy:column(j)) end
    end
    return M, Fy
  end

  -- Solves M X = -(B + F_y V) for X, where V are the rows of `given` of unknowns that have a derivative. B,
  -- given: n x m.
  function Follow:complete(M, Fy, B, given)
    local m = B:cols()
    local right = ns.zeros(self.n, m)
    for i = 1, self.n do
      local row, from, to = Fy[i], B[i], right[i]
      for k = 1, m do
        local sum = from[k]
        for j = 1, self.n do
          if not self.algebraic[j] then sum = sum + row[j] * given[j][k] end
        end
        to[k] = -sum
      end
    end
    local row, column = equilibrate(M, self.n)
    local good, X = where.try(ns.solve, times(M, row, column), times(right, row))
    if not good then fail("the equations are not of index 1 at this point") end
    return times(X, column)
  end

  -- The consistent S whose rows of unknowns with a derivative are as in `given`; and the rows of S' of these
  -- (nan for the others). Index 1.
  function Follow:consistent_matrix(t, y, yd, given)
    local M, Fy = self:matrix_at(t, y, yd)
    local X = self:complete(M, Fy, self:by_parameters(t, y, yd), given)
    local S, rate = given:copy(), X:copy()
    for i = 1, self.n do
      if self.algebraic[i] then
        S[i] = X[i]
        rate[i]:fill(0 / 0)
      end
    end
    return S, rate, M, Fy
  end

  -- How far a point of the run may be from what the hidden equations ask for, for each unknown: they are fulfilled to
  -- tolerances only.
  function Follow:drift() return DRIFT * self.sizes end

  -- The point (t, y, y') with S there: S, S', y' and y''; nan where the equations do not tell.
  function Follow:point(t, y, yd, S)
    local at = { t = t, y = y, yd = yd, S = S, rate = ns.vector(yd), S_rate = 0 / 0 * ns.ones(self.n, self.p),
      second = 0 / 0 * ns.ones(self.n) }
    for i = 1, self.n do
      if self.algebraic[i] then at.rate[i] = 0 / 0 end
    end
    if self.order > 0 then
      local value, slope = self.consistent(t, y, yd, { allowed = self:drift() })
      if not value then fail("(t=%.10g): %s", t, slope) end
      at.y, at.yd = value, slope
      for i = 1, self.n do
        if not self.algebraic[i] then at.rate[i] = slope[i] end
      end
      return at
    end
    at.y, at.yd = call(support.consistent, self.checker, t, y, yd, self.algebraic)
    if not at.y then fail("%s", at.yd) end
    local M, Fy
    at.S, at.S_rate, M, Fy = self:consistent_matrix(t, at.y, at.yd, S)
    local by_time = ns.jacobian(function(x, out)
      self:write_residual(out, x[1], at.y, at.yd, table.unpack(self.args, 1, #self.args))
    end, { t }, self.n)
    local X = self:complete(M, Fy, by_time, ns.vector(at.yd):column())
    for i = 1, self.n do
      if self.algebraic[i] then at.rate[i] = X[i][1] else at.rate[i], at.second[i] = at.yd[i], X[i][1] end
    end
    return at
  end

  -- Row i of the Jacobian D of a function of an event, along the solution: its derivative by time, those by the
  -- parameters at a fixed time, and the size of the terms of the first.
  function Follow:along(D, i, at, event, what)
    local n, p, row = self.n, self.p, D[i]
    local pace = self.pace
    local rate, size, by = row[1], math.abs(row[1]), {}
    for j = 1, p do by[j] = row[1 + 2 * n + j] end
    for part = 0, 1 do
      local speed, S = part == 0 and at.rate or at.second, part == 0 and at.S or at.S_rate
      for k = 1, n do
        local entry = row[1 + part * n + k]
        if entry ~= 0 then
          if speed[k] ~= speed[k] then
            fail("%s: %s depends on %sunknown %d, whose rate the equations do not give (t=%.10g)", event.text, what,
              part == 1 and "the derivative of " or "", k, at.t)
          end
          rate = rate + entry * speed[k]
          size = size + math.abs(entry) * math.max(math.abs(speed[k]), part == 0 and pace[k] or 0)
          for j = 1, p do by[j] = by[j] + entry * S[k][j] end
        end
      end
    end
    return rate, by, size
  end

  -- dt/dp at a point, a list; nan when g is only touched. Returns also whether it is.
  function Follow:time_derivative(event, at)
    local D = self:jacobian_of(event.user_g, at.t, at.y, at.yd)
    local rate, by, size = self:along(D, 1, at, event, "g")
    local still, dt = math.abs(rate) <= self.touch * size, {}
    for j = 1, self.p do dt[j] = still and 0 / 0 or -by[j] / rate end
    return dt, still
  end

  -- ---- for the run ----

  -- S at t: at the end of the solver's last step, or within it.
  function Follow:at(t)
    if self.pending then return self.pending end
    local good, why = call(support.reach, self.solver, t)
    if not good then where.fail("dae: " .. why) end
    local S
    S, self.pace, self.sizes = support.sensitivity(self.solver)
    return S
  end

  -- dt/dp of an event that does not act, at (t, y, y').
  function Follow:root(event, t, y, yd)
    return (self:time_derivative(event, self:point(t, y, yd, self:at(t))))
  end

  -- Before the event acts on (y, y') at t: the point and dt/dp.
  function Follow:meet(event, t, y, yd)
    if self.pending then
      fail("%s and %s happen at the same time (t=%.10g): there is no derivative", self.acted.text, event.text, t)
    elseif t == self.t0 then
      fail("%s happens at the start (t=%.10g): there is no derivative", event.text, t)
    end
    local at = self:point(t, y, yd, self:at(t))
    local dt, still = self:time_derivative(event, at)
    if still then fail("the solution only touches %s (t=%.10g): there is no derivative", event.text, t) end
    return { at = at, dt = dt }
  end

  -- After it has acted: (y, y') are consistent. Returns dt/dp.
  function Follow:jump(met, event, y, yd)
    local at, dt = met.at, met.dt
    local function values() return (call(support.evaluate, self.checker, at.t, y, yd)) end
    local F = values()
    local D = self:jacobian_of(event.user_apply, at.t, at.y, at.yd)
    if F ~= values() then
      fail("%s: each call of apply changes the residual (t=%.10g): it is called twice, so it may set a variable, "
        .. "but not toggle or count", event.text, at.t)
    end
    local S = ns.zeros(self.n, self.p)
    for i = 1, self.n do
      if not self.algebraic[i] then
        local rate, by = self:along(D, i, at, event, "apply")
        for j = 1, self.p do S[i][j] = by[j] + (rate - yd[i]) * dt[j] end
      end
    end
    local complete = self.order > 0 and self.consistent_slopes or self.consistent_matrix
    self.pending = complete(self, at.t, y, yd, S)
    self.acted = event
    return dt
  end

  -- The solver has been restarted.
  function Follow:restarted()
    if self.pending then support.jump(self.solver, self.pending) end
    self.pending = nil
  end

  -- ---- the start ----

  -- The consistent S where equations are hidden, whose rows of unknowns with a derivative are as in `given`, but for
  -- the least change that the hidden equations ask for; and y, y' of the point.
  function Follow:consistent_slopes(t, y, yd, given)
    local by = self.by_args and function(...) return self:by_parameters(...) end or nil
    local drift = self.sizes and self:drift()
    local value, slope, S = self.consistent(t, y, yd, { given = given, by = by, allowed = drift })
    if not value then fail("(t=%.10g): %s", t, slope) end
    return S, value, slope
  end

  local function read_keys(self, option)
    for key in pairs(option) do
      if math.type(key) ~= "integer" and key ~= "rtol" then
        fail("unknown option '%s' (known: rtol)", tostring(key))
      end
    end
    local rtol = option.rtol
    if rtol ~= nil and not (type(rtol) == "number" and rtol > 0 and rtol < 1) then
      fail("rtol: expected a number between 0 and 1, got %s", tostring(rtol))
    end
    self.own_rtol = rtol or 0
  end

  -- follow{option=, solver=, checker= (a solver for consistent values), n=, args= (list), algebraic=, order= (of the
  -- derivatives that tell what is consistent), residual= (the user's), system= (whether it is one), events= (whether
  -- there are some), t=, y=, yd=, consistent= (t, y, yd [, more]) -> y, yd: what follows the run. The solver has
  -- been started.
  function public.follow(o)
    local self = setmetatable(o, Follow)
    local option = type(o.option) == "string" and { o.option } or o.option
    if type(option) ~= "table" then
      fail("expected a name or a list of names (%s), got %s", EXPECTED, type(option))
    end
    read_keys(self, option)
    self.names, self.columns, self.t0 = {}, {}, o.t
    for which, name in ipairs(option) do add(self, name, which, o.algebraic) end
    self.p = #self.names
    if self.p == 0 then fail("expected at least one parameter (%s)", EXPECTED) end
    if self.system and self.events then fail("of a system, without events only") end
    self.w = ns.zeros(self.p)
    local S = ns.zeros(self.n, self.p)
    for j, column in ipairs(self.columns) do
      if column.argument then
        self.w[j], self.by_args = numbers_of(self.args[column.argument])[column.k], true
      else
        S[column.unknown][j] = 1
      end
    end
    local complete = self.order > 0 and self.consistent_slopes or self.consistent_matrix
    S = complete(self, o.t, o.y, o.yd, S)
    local which = {}
    for j, column in ipairs(self.columns) do which[j] = column.argument and { column.argument, column.k } end
    self.touch = call(support.follow, self.solver, S, self.own_rtol,
      self.by_args and function(...) return self:by_parameters(...) end or nil, self.residual, self.args, which,
      self.w)
    self.pace = select(2, support.sensitivity(self.solver))
    return self
  end

  return public
end
