-- nslua.dynamics.equilibrium: states at which a model stays, in the mode of its laws that goes with them.
--
-- A first-order model is a mixed complementarity problem. In mechanics at rest friction is set-valued: any force on
-- or inside the cone goes with it. There, modes are tried in turn, and Newton's method solves each.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local newton = require "nslua.dynamics.mode_newton"
local scaled = require "nslua.dynamics.scaled"
local terms = require "nslua.dynamics.model_terms"
local where = require "nslua.base.where"

local fail, expect = arguments.fail, arguments.expect
local format = core.number_support.format

local equilibria = {}

local Equilibrium = {}
Equilibrium.__index = Equilibrium
Equilibrium.__name = "equilibrium"

-- At most so many modes are tried: some seconds of a small model.
local MODES = 1024
-- What a force or an output may be on the wrong side of its bound, as a part of its terms; a row counts as degenerate
-- when both are within it.
local SIDE = 2 ^ -36
-- Two equilibria are one when no state differs by more than this part of its size.
local SAME = 1e-7

-- ---- signs ----

-- The sizes of y and lambda of row i: the sums of their terms.
local function sizes(model, point, i)
  local at, lambda = point.at, math.huge
  local y = math.abs(at.y[i]) + at.C[i]:abs():dot(point.x:abs())
  for j = 1, model.n do
    local slope = math.abs(at.B[j][i])
    if slope > 0 then lambda = math.min(lambda, point.system.terms[j] / slope) end
  end
  return y, lambda < math.huge and lambda or math.abs(point.lambda[i])
end

-- How far a row with bounds is on the wrong side (nil: it is not), and whether it is degenerate.
local function check_row(model, point, mode, i)
  local row, word = model.rows[i], mode[i]
  local y, lambda = point.at.y[i], point.lambda[i]
  local y_size, lambda_size = sizes(model, point, i)
  local no_y, no_lambda = SIDE * y_size, SIDE * lambda_size
  if word == "lower" or word == "upper" then
    local side = word == "lower" and y or -y
    if model.mechanical and not row.unilateral and not row.at_position then return nil, point.at.rate[i] == 0 end
    if row.lower == row.upper then return nil, false end
    if side < -no_y then return "y = " .. format("%g", y) end
    return nil, side <= no_y
  elseif word == "open" then
    if row.place > 1 then return nil, false end
    if y < -no_y then return "y = " .. format("%g", y) end
    return nil, y <= no_y
  elseif word == "active" or word == "held" or row.place == 1 then
    local low, high = row.place == 1 and row.dim > 1 and 0 or row.lower, row.upper
    if lambda < low - no_lambda or lambda > high + no_lambda then return "lambda = " .. format("%g", lambda) end
    return nil, lambda <= low + no_lambda or lambda >= high - no_lambda
  end
  return nil, false
end

-- The tangential force of the contact that begins at row i, and the largest one.
local function friction(model, lambda, i)
  local row, square = model.rows[i], 0
  for k = i + 1, i + row.dim - 1 do square = square + lambda[k] ^ 2 end
  return math.sqrt(square), row.mu * lambda[i]
end

-- What is wrong with an equilibrium of a mode: a list of { row, text }. Marks degenerate rows.
local function violations(model, point, mode)
  local list = {}
  point.degenerate, point.interior = {}, {}
  for i, row in ipairs(model.rows) do
    local wrong, degenerate = check_row(model, point, mode, i)
    if wrong then list[#list + 1] = { i, wrong } end
    if degenerate then point.degenerate[#point.degenerate + 1] = i end
    if row.dim > 1 and row.place == 1 and mode[i] ~= "open" then
      local force, most = friction(model, point.lambda, i)
      local _, size = sizes(model, point, i)
      point.interior[i] = force < most - SIDE * (row.mu * size + force)
      if force > most + SIDE * (row.mu * size + force) then
        list[#list + 1] = { i, format("friction %g, at most %g", force, most), friction = true }
      elseif not point.interior[i] and mode[i] == "stick" then
        point.degenerate[#point.degenerate + 1] = i + 1
      end
    end
  end
  return list
end

-- ---- modes ----

-- The words that a group of rows may have. Friction begins as "stick"; where its force is too large, it comes to
-- "limit".
local function words_of(model, i, rate)
  local row = model.rows[i]
  if row.dim > 1 then return { "stick", "open" } end
  if model.mechanical and not row.at_position then
    if row.unilateral then return { "active", "lower" } end
    if row.lower == -math.huge and row.upper == math.huge then return { "active" } end
    if rate[i] ~= 0 then return { rate[i] > 0 and "lower" or "upper" } end
    return { "held", "lower", "upper" }
  end
  local list = { "active" }
  if row.lower > -math.huge then list[#list + 1] = "lower" end
  if row.upper < math.huge then list[#list + 1] = "upper" end
  return list
end

-- An iterator over modes: `first`, then the combinations of the words.
local function modes(model, first, choices)
  local heads, counter = {}, {}
  for i, row in ipairs(model.rows) do
    if row.place == 1 then heads[#heads + 1], counter[#heads + 1] = i, 1 end
  end
  local tried, done = 0, false
  return function()
    tried = tried + 1
    if tried == 1 and first then return first end
    if done or tried > MODES then return nil end
    local mode = {}
    for k, i in ipairs(heads) do
      for place = 0, model.rows[i].dim - 1 do mode[i + place] = choices[i][counter[k]] end
    end
    local k = 1
    while k <= #heads and counter[k] == #choices[heads[k]] do counter[k], k = 1, k + 1 end
    done = k > #heads
    if not done then counter[k] = counter[k] + 1 end
    return mode
  end
end

-- The mode of a guess: contacts with y <= 0 are closed.
local function mode_of_guess(model, at, choices)
  local mode = {}
  for i, row in ipairs(model.rows) do
    local head = newton.head(model, i)
    mode[i] = choices[head][1]
    if row.unilateral and at.y[head] > 0 then mode[i] = row.dim > 1 and "open" or "lower" end
  end
  return mode
end

-- The solution of the mixed complementarity problem of a first-order model, and its mode; nil: none.
local function complementarity(model, t, x, lambda)
  local n, m = model.n, model.m
  local lower, upper = core.full(n + m, -math.huge), core.full(n + m, math.huge)
  for i, row in ipairs(model.rows) do lower[n + i], upper[n + i] = row.lower, row.upper end
  local function at(z) return terms.at(model, t, z:slice(1, n), z:slice(n + 1, n + m)) end
  local good, result = pcall(core.numerics.mcp, { lower = lower, upper = upper, z0 = core.concatenate { x, lambda },
    F = function(z)
      local here = at(z)
      return core.concatenate { here.f, here.y }
    end,
    J = function(z)
      local here = at(z)
      return core.block { { here.A, here.B }, { here.C, here.D } }
    end })
  if not good or not result.success then return nil end
  local mode = {}
  for i, row in ipairs(model.rows) do
    local value = result.z[n + i]
    mode[i] = value == row.lower and "lower" or value == row.upper and "upper" or "active"
  end
  return mode, result.z:slice(1, n), result.z:slice(n + 1, n + m)
end

-- ---- the search ----

-- Solves a mode; friction that would need too large a force comes to the edge of its cone.
local function try_mode(model, mode, t, x, lambda)
  local point, list, tried = nil, nil, mode
  for _ = 1, #mode + 1 do
    local next_point = newton.solve(model, mode, t, x, lambda)
    if point and not next_point.good then break end
    point, list, tried = next_point, violations(model, next_point, mode), mode
    local changed = false
    if point.good then
      local next_mode = { table.unpack(mode) }
      for _, wrong in ipairs(list) do
        local row = model.rows[wrong[1]]
        if wrong.friction and mode[wrong[1]] == "stick" and row.mu > 0 then
          for k = wrong[1], wrong[1] + row.dim - 1 do next_mode[k] = "limit" end
          changed = true
        elseif mode[wrong[1]] == "held" then
          next_mode[wrong[1]] = point.lambda[wrong[1]] > row.upper and "upper" or "lower"
          changed = true
        end
      end
      lambda, mode = point.lambda, next_mode
    end
    if not changed then break end
  end
  return point, tried, list
end

local function explain(model, best)
  if best.point.good then
    local wrong = best.list[1]
    return format("in the nearest mode row %d of '%s' has %s", model.rows[wrong[1]].place, model.rows[wrong[1]].name,
      wrong[2])
  elseif best.point.place <= model.n then
    local i = best.point.place
    return format("%g is left of terms of %g in the balance of %s", best.point.system.value[i],
      best.point.system.terms[i], terms.state(model, i))
  end
  return format("an equation of the laws has the relative residual %g", best.point.residual)
end

-- The equilibrium that is found from a guess, or nil and a text that tells what is missing.
local function search(model, t, x)
  local lambda = core.zeros(model.m)
  for i, row in ipairs(model.rows) do lambda[i] = math.max(row.lower, math.min(row.upper, 0)) end
  local at = terms.at(model, t, x, lambda)
  local choices, start, multipliers = {}, x, lambda
  for i, row in ipairs(model.rows) do
    if row.place == 1 then choices[i] = words_of(model, i, at.rate) end
    if row.place > 1 and at.rate[i] ~= 0 then
      fail("%s: '%s' has a contact whose tangent moves; only dry friction of a RelayNSL may do so", model.who,
        row.name)
    end
  end
  local first = model.mechanical and mode_of_guess(model, at, choices)
  if not model.mechanical then
    local z, l
    first, z, l = complementarity(model, t, x, lambda)
    start, multipliers = z or x, l or lambda
  end
  local best
  for mode in modes(model, first, choices) do
    local point, found, list = try_mode(model, mode, t, start, multipliers)
    if point.good and #list == 0 then
      point.mode = found
      return point
    end
    local better = not best or point.good and not best.point.good or
      point.good == best.point.good and point.residual < best.point.residual
    if better then best = { point = point, list = list } end
    start, multipliers = x, lambda
  end
  return nil, explain(model, best)
end

-- ---- results ----

local function row_list(model, point)
  local list, degenerate = {}, {}
  for _, i in ipairs(point.degenerate) do degenerate[i] = true end
  for i, row in ipairs(model.rows) do
    local word = point.mode[i]
    if word == "lower" and model.mechanical and row.unilateral then word = "open" end
    list[i] = { interaction = row.name, row = row.place, mode = word, y = point.at.y[i], lambda = point.lambda[i],
      degenerate = degenerate[i] or false }
    if row.dim > 1 then list[i].interior = point.interior[newton.head(model, i)] end
    if row.dim == 1 and (word == "active" or word == "held") and (row.lower > -math.huge or
      row.upper < math.huge) then
      list[i].interior = not degenerate[i]
    end
  end
  return list
end

local function result(model, t, point)
  local e = setmetatable({ t = t, lambda = point.lambda, y = point.at.y, residual = point.residual, status = "ok",
    isolated = point.isolated, modes = row_list(model, point), mode = {}, rows = model.rows, words = point.mode },
      Equilibrium)
  for i, row in ipairs(e.modes) do e.mode[i] = row.mode end
  e.x = terms.states(model, point.x)
  e.states = model.turns and e.x or point.x
  if model.mechanical then e.q = terms.coordinates(model, point.x) end
  return e
end

-- The equilibrium of all models from the equilibrium of each.
local function merged(models, list)
  if #list == 1 then return list[1] end
  local function all(field, name)
    local lists = {}
    for k, e in ipairs(list) do lists[k] = field == "rows" and models[k].rows or e[field] end
    return terms.whole(models, lists, name)
  end
  local first, second = list[1], list[2] -- of first order, of mechanics
  local e = setmetatable({ t = first.t, x = core.vector(all("x", "states")), q = second.q, status = "ok",
    lambda = core.vector(all("lambda", "rows")), y = core.vector(all("y", "rows")), modes = all("modes", "rows"),
    mode = all("mode", "rows"), words = all("words", "rows"), rows = all("rows", "rows"),
    residual = math.max(first.residual, second.residual), isolated = first.isolated and second.isolated,
    families = list }, Equilibrium)
  e.states = core.vector(terms.whole(models, { first.x, second.q }, "coordinates"))
  return e
end

function Equilibrium:__tostring()
  return format("equilibrium at %s%s", tostring(not self.families and self.q or self.x),
    self.mode and #self.mode > 0 and ", " .. table.concat(self.mode, " ") or "")
end

-- ---- x' = f(t, x) ----

-- The largest |f_i| as a part of its terms: sum_j |J_ij| x_j, with the largest of |x_j| on the way, and the rest.
local function relative_residual(root, J, x0)
  local terms_of = J:abs() * core.maximum(root.x:abs(), x0:abs()) + (root.fun - J * root.x):abs()
  local most = 0
  for i = 1, #root.fun do
    if root.fun[i] ~= 0 then most = math.max(most, math.abs(root.fun[i]) / terms_of[i]) end
  end
  return most
end

local function of_rhs(options, who, guess)
  expect(options.rhs, "function", "%s: rhs: expected a function f(t, x)", who)
  local t, args = options.t or 0, options.args or {}
  local x0 = core.vector(arguments.numbers(guess, nil, who, "guess"))
  local function f(x) return options.rhs(t, x, table.unpack(args)) end
  local root = core.root(f, x0, { tol = 2 ^ -46 })
  if not root.success then return nil, root.message end
  local J = core.jacobian(f, root.x)
  return setmetatable({ t = t, x = root.x, states = root.x, y = core.zeros(0), lambda = core.zeros(0),
    residual = relative_residual(root, J, x0), status = "ok", isolated = scaled.regular(J), modes = {}, mode = {},
    rhs = options.rhs, args = args }, Equilibrium)
end

-- ---- ns.dynamics.equilibrium ----

-- Whether two equilibria are one; scale: the sizes of the states.
local function same(a, b, scale) return not (a - b):abs():gt(scale * SAME):any() end

-- The largest |x_i| of the equilibria and of the guesses; a guess may lack the velocities of mechanics.
local function sizes_of(found, guesses)
  local scale = core.zeros(#found[1].states)
  for _, e in ipairs(found) do scale = core.maximum(scale, e.states:abs()) end
  for _, guess in ipairs(guesses) do
    if #guess == #scale then scale = core.maximum(scale, core.vector(guess):abs()) end
  end
  return scale
end

-- The guesses as a list: of a matrix its rows.
local function guess_list(guesses, who)
  if type(guesses) == "userdata" and pcall(function() return guesses:cols() end) then
    local list = {}
    for i = 1, guesses:rows() do list[i] = guesses:row(i) end
    return list
  end
  if type(guesses) ~= "table" or guesses[1] == nil or type(guesses[1]) == "number" then
    fail("%s: guess: with all = true expected a list of guesses", who)
  end
  return guesses
end

-- The distinct equilibria from a list of guesses, and the guesses that gave none with their messages.
local function from_all(find, guesses, who)
  guesses = guess_list(guesses, who)
  local found, list, failures = {}, {}, {}
  for _, guess in ipairs(guesses) do
    local e, message = find(guess)
    found[#found + 1] = e
    if not e then failures[#failures + 1] = { guess = guess, message = message } end
  end
  if #found == 0 then
    fail("%s: no equilibrium found from any of the %d guesses; from the first: %s", who, #guesses,
      failures[1].message)
  end
  local scale = sizes_of(found, guesses)
  for _, e in ipairs(found) do
    local new = true
    for _, other in ipairs(list) do new = new and not same(other.states, e.states, scale) end
    if new then list[#list + 1] = e end
  end
  list.failures = failures
  return list
end

local function kinds(options, who)
  local count = (options.simulation and 1 or 0) + (options.nsds and 1 or 0) + (options.rhs and 1 or 0)
  if count ~= 1 then fail("%s: expected one of simulation =, nsds =, rhs =, got %d of them", who, count) end
end

-- A function that searches from a guess, for the model of an option table.
local function finder(options, who)
  if options.rhs then
    return function(guess) return of_rhs(options, who, guess) end
  end
  local models = terms.models(options, who, options.t)
  local t = options.t or models[1].nsds:t0()
  return function(guess)
    local guesses, list = guess ~= nil and terms.guesses(models, guess, who, "guess"), {}
    for k, model in ipairs(models) do
      local x = guesses and terms.guess(model, guesses[k], who, "guess") or terms.start(model)
      local point, text = search(model, t, x)
      if not point then return nil, text end
      list[k] = result(model, t, point)
    end
    return merged(models, list)
  end
end

function equilibria.equilibrium(options)
  local who = "dynamics.equilibrium"
  options = arguments.options(options, who)
  kinds(options, who)
  if options.t ~= nil then arguments.number(options.t, who, "t") end
  for _, name in ipairs { "period", "scale" } do
    if options[name] ~= nil then fail("%s: %s: it is for simulations with clocks", who, name) end
  end
  local find = finder(options, who)
  if options.all then
    return from_all(find, options.guess, who)
  end
  local e, text = find(options.guess)
  if not e then fail("%s: no equilibrium found: %s", who, text) end
  return e
end

equilibria.kinds, equilibria.class = kinds, Equilibrium

where.methods(Equilibrium, "an equilibrium", "e")

return equilibria
