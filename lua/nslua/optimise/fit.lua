-- nslua.optimise.fit: parameters of a simulation, or of a function, from measured columns.
--
--   local fit = ns.fit { simulation = simu, data = { t = t, q1 = measured },
--     parameters = { { law, "e" }, { law, "mu" } } }
--   print(fit.x, fit.errors)
--   fit:plot():savefig "fit.png"
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local least_squares = require "nslua.optimise.least_squares"
local measured = require "nslua.optimise.measured"
local parameters = require "nslua.optimise.parameters"
local problem = require "nslua.optimise.problem"
local spread = require "nslua.sweep.spread"
local tasks = require "nslua.sweep.tasks"
local where = require "nslua.base.where"

local fail, describe, expect = arguments.fail, arguments.describe, arguments.expect
local who = "fit"

-- relative step of the central differences of runs: about (rtol of a run)^(1/3), so that the errors of the difference
-- and of the runs are alike
local STEP = 2e-5

local Fit = {}
Fit.__index, Fit.__name = Fit, "fit"

-- ---- models: values of the columns at the times, and their derivatives ----

-- The place of a column's name among the states of a solution.
local function state_of(sol, name)
  for i, known in ipairs(sol:names()) do
    if known == name and i > 1 and i <= 1 + select(2, sol.x:shape()) then return i - 1 end
  end
  local states = {}
  for i = 2, 1 + select(2, sol.x:shape()) do states[#states + 1] = sol:names()[i] end
  fail("%s: data: the solution has no state '%s' (known: %s)", who, name, table.concat(states, ", "))
end

-- The numbers of the rows at the times, the last ones of each time; nil when a time is none of the grid.
local function rows_at(sol, times)
  local rows, k, t = {}, 1, sol.t
  for i, wanted in ipairs(times) do
    local slack = 4 * 2.0 ^ -52 * math.max(math.abs(wanted), math.abs(t[#t]))
    while k < #t and t[k + 1] <= wanted + slack do k = k + 1 end
    if math.abs(t[k] - wanted) > slack then return nil end
    rows[i] = k
  end
  return rows
end

local function of_simulation(simu, list, data, wanted)
  local times, model = core.vector(data.t), { list = list }
  local names, exact = {}, nil
  -- A search tries the derivatives of runs until they fail, whatever the searches before it found.
  function model.begin()
    exact = wanted
    for k, p in ipairs(list) do
      names[k] = p.entry
      if not p.entry then exact = false end
    end
  end
  local function run(x, options)
    parameters.set(list, x)
    simu:reset()
    return simu:run(options)
  end
  local function take(sol)
    model.places = model.places or {}
    local all, out = sol:at(times).x, {}
    for c, column in ipairs(data.columns) do
      model.places[c] = model.places[c] or state_of(sol, column.name)
      for i = 1, #times do out[#out + 1] = all[i][model.places[c]] end
    end
    return out
  end
  function model.values(x) return take(run(x, { dense = true })) end
  -- The derivatives that the run carries along; nil when it can't, or the times are not on its grid.
  local function carried(x, m)
    local good, sol = where.try(run, x, { dense = true, sensitivities = names })
    if not good then
      if tostring(sol):find("sensitivities: ", 1, true) then return nil end -- this simulation or parameter has none
      error(sol, 0)
    end
    local rows = rows_at(sol, data.t)
    if not rows then return nil end
    take(sol)
    local J, row = core.zeros(m, #list), 0
    for c = 1, #data.columns do
      for i = 1, #times do
        row = row + 1
        for k = 1, #list do J[row][k] = sol.S[rows[i]][model.places[c]][k] end
      end
    end
    return J
  end
  local function differences(x, m, low, high)
    local J = core.zeros(m, #list)
    for k = 1, #list do
      local size = math.max(math.abs(x[k]), model.sizes[k])
      if size == 0 then
        local text = "%s: '%s' starts at 0: the size of a step for its difference is not known; give bounds"
        fail(text, who, list[k].name)
      end
      local up, down = x:copy(), x:copy()
      up[k], down[k] = math.min(x[k] + STEP * size, high[k]), math.max(x[k] - STEP * size, low[k])
      local a, b = model.values(up), model.values(down)
      for i = 1, m do J[i][k] = (a[i] - b[i]) / (up[k] - down[k]) end
    end
    return J
  end
  function model.jacobian(x, m, low, high)
    if exact then
      local J = carried(x, m)
      if J then
        model.derivatives = "exact"
        return J
      end
      exact = false
    end
    model.derivatives = "differences"
    return differences(x, m, low, high)
  end
  function model.solution(x) return run(x, { dense = true }) end
  return model
end

local function of_function(f, list, data)
  local model = { list = list, derivatives = "exact", begin = function() end }
  function model.values(x)
    local y, out = f(x), {}
    local named = type(y) == "table" and y[1] == nil
    if #data.columns == 1 and not named then y = { [data.columns[1].name] = y } end
    for _, column in ipairs(data.columns) do
      local v = type(y) == "table" and y[column.name]
      if v == nil or type(v) == "number" or #v ~= #data.t then
        fail("%s: model: expected %d values of '%s', got %s", who, #data.t, column.name,
          v and type(v) ~= "number" and tostring(#v) or describe(v))
      end
      for i = 1, #data.t do out[#out + 1] = v[i] end
    end
    return out
  end
  return model
end

-- The parameters of a function: named by a list of texts.
local function names_of(given, start)
  local list = {}
  start = problem.point(start, nil, who, "start")
  for k = 1, #start do
    local name = type(given) == "table" and given[k] or ("p%d"):format(k)
    expect(name, "string", "%s: parameters[%d]: expected a name", who, k)
    list[k] = { name = name, start = start[k], set = function() end }
  end
  return list
end

-- ---- the fit ----

-- The points of a design, whose columns have the names of the parameters, after the points of a list.
local function add_design(list, design, names)
  local known = {}
  for _, name in ipairs(design.names) do known[name] = true end
  for _, p in ipairs(names) do
    if not known[p.name] then
      fail("%s: starts: the design has no column '%s' (its columns: %s)", who, p.name,
        table.concat(design.names, ", "))
    end
  end
  for i = 1, #design do
    local point = core.zeros(#names)
    for k, p in ipairs(names) do point[k] = design:value(i, p.name) end
    list[#list + 1] = point
  end
  return list
end

-- Points to start from: the given one, and more of them: a design, a list, or a number of random ones within the
-- bounds.
local function starts_of(o, x, names, low, high)
  local list = { x }
  if o.starts == nil then return list end
  if tasks.is_design(o.starts) then return add_design(list, o.starts, names) end
  if type(o.starts) ~= "number" then
    expect(o.starts, "table", "%s: starts: expected a number, a list of points or a design", who)
    for i, p in ipairs(o.starts) do
      list[i + 1] = problem.point(p, #x, who, ("starts[%d]"):format(i))
    end
    return list
  end
  local rng = core.rng(arguments.integer(o.seed or 1, 0, who, "seed"))
  for i = 2, arguments.integer(o.starts, 1, who, "starts") do
    list[i] = core.zeros(#x)
    for k = 1, #x do
      if high[k] - low[k] == math.huge then
        fail("%s: starts: random starts need finite bounds of every parameter", who)
      end
      list[i][k] = low[k] + (high[k] - low[k]) * rng:uniform()
    end
  end
  return list
end

-- Part of the size of a parameter within which two searches have found the same optimum: they stop at 1e-10 of it,
-- but along valleys that are flat to rounding, about 1e-8 of the cost, they stop up to its square root apart.
local SAME = 1e-4

-- The different optima among the results of searches, the best first: { x =, cost =, starts = }.
local function optima_of(results, sizes)
  local list, order = {}, {}
  for k, found in pairs(results) do
    if found.success then order[#order + 1] = k end
  end
  table.sort(order, function(a, b)
    if results[a].cost ~= results[b].cost then return results[a].cost < results[b].cost end
    return a < b
  end)
  local function is_same(a, b)
    for k = 1, #a do
      if math.abs(a[k] - b[k]) > SAME * math.max(sizes[k], math.abs(a[k]), math.abs(b[k])) then return false end
    end
    return true
  end
  for _, k in ipairs(order) do
    local known
    for _, one in ipairs(list) do known = known or is_same(one.x, results[k].x) and one end
    if known then
      known.starts[#known.starts + 1] = k
    else
      list[#list + 1] = { x = core.vector(results[k].x), cost = results[k].cost, starts = { k } }
    end
  end
  for _, one in ipairs(list) do table.sort(one.starts) end
  return list
end

-- Searches from all starts, by workers where they are asked for. Returns the best result, the optima, and the starts
-- that failed.
local function search_all(o, starts, search, sizes)
  local whole, results, failures, best = {}, {}, {}, nil
  local lists, messages = spread.each(o, #starts, function(k)
    whole[k] = search(starts[k])
    return { whole[k].cost, whole[k].success and 1 or 0, table.unpack(whole[k].x:totable()) }
  end, who)
  for k = 1, #starts do
    local list = lists[k]
    if list then
      results[k] = { cost = list[1], success = list[2] == 1, x = { table.unpack(list, 3) } }
      if not best or list[1] < results[best].cost then best = k end
    else
      failures[#failures + 1] = { start = k, message = messages[k] }
    end
  end
  if not best then fail("%s: no start gave a fit; the first: %s", who, (messages[1]:gsub("^" .. who .. ": ", ""))) end
  return whole[best] or search(starts[best]), optima_of(results, sizes), failures
end

local function correlation_of(covariance)
  if not covariance then return nil end
  local n = covariance:shape()
  local out = core.zeros(n, n)
  for i = 1, n do
    for j = 1, n do
      local size = math.sqrt(covariance[i][i]) * math.sqrt(covariance[j][j])
      out[i][j] = (size > 0 or size ~= size) and covariance[i][j] / size or (i == j and 1 or 0)
    end
  end
  return out
end

-- The values of the model by column, and the residuals (measured minus model).
local function by_column(data, values)
  local fitted, residuals, row = {}, {}, 0
  for _, column in ipairs(data.columns) do
    local f, r = core.zeros(#data.t), core.zeros(#data.t)
    for i = 1, #data.t do
      row = row + 1
      f[i] = values[row]
      r[i] = column.values[i] - values[row]
    end
    fitted[column.name], residuals[column.name] = f, r
  end
  return fitted, residuals
end

local function make_result(best, model, list, data)
  local self = setmetatable({}, Fit)
  for _, name in ipairs { "x", "cost", "success", "status", "message", "nfev", "njev", "active_mask", "jac" } do
    self[name] = rawget(best, name)
  end
  local degrees = #data.t * #data.columns - #list
  for k = 1, #list do degrees = degrees + (best.active_mask[k] ~= 0 and 1 or 0) end
  self.chi2 = degrees > 0 and 2 * best.cost / degrees or nil
  self.covariance, self.errors = rawget(best, "covariance"), rawget(best, "errors")
  if self.covariance and data.known then -- the noise is known, and not told by the residuals
    self.covariance = self.covariance / self.chi2
    for k = 1, #list do self.errors[k] = math.sqrt(self.covariance[k][k]) end
  end
  self.correlation = correlation_of(self.covariance)
  self.names, self.parameters = {}, {}
  for k, p in ipairs(list) do
    self.names[k] = p.name
    self.parameters[p.name] = best.x[k]
  end
  self.derivatives = model.derivatives
  self.data = data
  self.fitted, self.residuals = by_column(data, model.values(best.x))
  if model.solution then self.solution = model.solution(best.x) end
  return self
end

local function fit(options)
  expect(options, "table", "%s: expected a table of options", who)
  local o = arguments.options(options, who)
  if (o.simulation == nil) == (o.model == nil) then fail("%s: expected a simulation or a model, one of both", who) end
  local data = measured.read(o.data, o.noise)
  local list = o.simulation and parameters.read(o.parameters, o.start, who) or names_of(o.parameters, o.start)
  local x = parameters.starts(list)
  local low, high = problem.bounds(o.bounds, #x, who, true)
  local model = o.simulation and of_simulation(o.simulation, list, data, o.sensitivities ~= false)
    or of_function(o.model, list, data)
  model.sizes = problem.sizes(x, low, high)
  local m = #data.t * #data.columns
  local function weighted(values, of_residual)
    local out, row = {}, 0
    for _, column in ipairs(data.columns) do
      for i = 1, #data.t do
        row = row + 1
        local r = of_residual and values[row] - column.values[i] or values[row]
        out[row] = column.sigma and r / column.sigma[i] or r
      end
    end
    return out
  end
  local function jacobian(p)
    local J = model.jacobian(p, m, low, high)
    for k = 1, #p do J:column(k):assign(weighted(J:column(k))) end
    return J
  end
  local function search(start)
    model.begin()
    return least_squares(function(p) return weighted(model.values(p), true) end, start, {
      jac = model.jacobian and jacobian or nil, bounds = { lower = low, upper = high }, loss = o.loss,
      f_scale = o.f_scale, xtol = o.tol or 1e-10, max_nfev = o.max_nfev })
  end
  if o.starts == nil then
    if spread.is_wanted(o) then fail("%s: workers: they share out starts =, which is not there", who) end
    return make_result(search(x), model, list, data)
  end
  local best, optima, failures = search_all(o, starts_of(o, x, list, low, high), search, model.sizes)
  local result = make_result(best, model, list, data)
  result.optima, result.failures = optima, failures
  return result
end

-- ---- what a fit shows ----

function Fit:__tostring()
  local lines = { ("fit of %d %s to %d values (%s)"):format(#self.names,
    #self.names == 1 and "parameter" or "parameters", #self.data.t * #self.data.columns, self.message) }
  for k, name in ipairs(self.names) do
    local error_text = self.errors and (" +- " .. core.number_support.format("%.2g", self.errors[k])) or ""
    lines[#lines + 1] = ("  %s = %s%s"):format(name, core.number_support.format("%.8g", self.x[k]), error_text)
  end
  return table.concat(lines, "\n")
end

-- The curve of the model for a picture: the run between the times of the data, or the values at these times.
local function curve(self, column)
  if not self.solution then return self.data.t, self.fitted[column.name] end
  local sol, t = self.solution, self.data.t
  local at, place = core.linspace(sol.t[1], t[#t], 600), state_of(sol, column.name)
  local all, y = sol:at(at).x, core.zeros(600)
  for i = 1, 600 do y[i] = all[i][place] end
  return at, y
end

-- A figure: the measured values with the model's curve, and below the residuals, for each column.
function Fit:plot(options)
  local plot = require "nslua.plot"
  options = options or {}
  local count = #self.data.columns
  local figure = plot.figure { title = options.title, figsize = options.figsize or { 5.5 * count, 5 } }
  for c, column in ipairs(self.data.columns) do
    local top, bottom = figure:add_subplot(2, count, c), figure:add_subplot(2, count, count + c)
    top:plot(self.data.t, column.values, "o", { label = "measured", markersize = 4 })
    local t, y = curve(self, column)
    top:plot(t, y, { label = "fitted" })
    top:set_ylabel(column.name)
    top:legend()
    if column.sigma then
      local sigma = core.vector(column.sigma)
      bottom:fill_between(self.data.t, -sigma, sigma, { color = "lightgray" })
    end
    bottom:axhline(0, { color = "gray", linewidth = 1 })
    bottom:plot(self.data.t, self.residuals[column.name], "o", { markersize = 4, color = "C0" })
    bottom:set_xlabel "t"
    bottom:set_ylabel("measured - fitted " .. column.name)
  end
  return figure
end

where.methods(Fit, "a fit", "fit")
where.strict(Fit, "covariance errors correlation chi2 solution derivatives optima failures")

return fit
