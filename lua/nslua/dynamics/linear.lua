-- nslua.dynamics.linear: the linear model of a mode, x' = A x + B u, y = C x + D u, in deviations from a point.
--
-- The multipliers of the active rows follow from y = 0 where D of these rows is regular. Where it is not, the outputs
-- Z' y that no multiplier moves stay at 0 by their rate (in mechanics their second one): the sliding field.
local arguments = require "nslua.base.arguments"
local blocks = require "nslua.base.blocks"
local core = require "nslua.core"
local equilibria = require "nslua.dynamics.equilibrium"
local scaled = require "nslua.dynamics.scaled"
local spectrum = require "nslua.dynamics.spectrum"
local terms = require "nslua.dynamics.model_terms"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local format = core.number_support.format
local pick, put = blocks.pick, blocks.put

local linear = {}

local Linear = {}
Linear.__index = Linear
Linear.__name = "linear model"

-- Distance of an eigenvalue from the imaginary axis, as a part of the largest modulus, within which it counts as on
-- it.
local ON_AXIS = 1e-9
-- The step of differences by an input whose derivatives are not known, as a part of its size; they are of order 4,
-- and exact where the input is linear.
local STEP = 2 ^ -10
-- Exact derivatives and differences differ by more than this part of them, and of the sums of terms over the step,
-- where one of them misses something.
local AGREE, ROUND = 2 ^ -16, 2 ^ -44

-- ---- the point ----

local function words_text(rows)
  local list = {}
  for _, row in ipairs(rows) do list[#list + 1] = format("row %d of '%s'", row.row, row.interaction) end
  return table.concat(list, ", ")
end

-- The mode of a first-order point that is no equilibrium, from the signs of y; multipliers at bounds are filled in.
local function mode_of_point(model, t, x, lambda, who)
  local mode, at = {}, terms.at(model, t, x, lambda)
  for i, row in ipairs(model.rows) do
    for j = 1, model.m do
      if at.D[i][j] ~= 0 then
        fail("%s: at: the output of '%s' depends on multipliers: give mode =, a word for each row", who, row.name)
      end
    end
    local size = math.abs(at.y[i]) + at.C[i]:abs():dot(x:abs())
    local active = math.abs(at.y[i]) <= 2 ^ -40 * size or row.lower == -math.huge and row.upper == math.huge
    mode[i] = active and "active" or at.y[i] > 0 and "lower" or "upper"
  end
  return mode
end

local KNOWN = { lower = true, upper = true, active = true, open = true, stick = true, held = true }

local function given_mode(rows, given, who)
  if type(given) ~= "table" or #given ~= #rows then
    fail("%s: mode: expected a list of %d words, one for each row, got %s", who, #rows,
      type(given) == "table" and "one of " .. #given or describe(given))
  end
  local mode = {}
  for i, word in ipairs(given) do
    reject(not KNOWN[word], word,
      "%s: mode[%d]: expected 'lower', 'upper', 'active', 'open', 'stick' or 'held'", who, i)
    mode[i] = word == "open" and rows[i].dim == 1 and "lower" or word
  end
  return mode
end

-- The other mode that a degenerate row may have.
local function refuse_degenerate(e, who)
  local list, one, other = {}, {}, {}
  for i, row in ipairs(e.modes) do
    one[i] = row.mode == "limit" and "stick" or row.mode
    other[i] = one[i]
    if row.mode == "limit" or row.degenerate then list[#list + 1] = row end
    if row.degenerate and row.mode ~= "limit" and row.mode ~= "stick" then
      local active = row.mode == "active" or row.mode == "stick" or row.mode == "held"
      other[i] = not active and (e.rows[i].rests and "held" or "active") or row.lambda > 0 and "upper" or "lower"
    end
  end
  if #list == 0 then return end
  local first, second = table.concat(one, '", "'), table.concat(other, '", "')
  fail("%s: %s: both sides of the law hold there, and the model has no single linear one; choose by mode =, as %s",
    who, words_text(list), '{ "' .. first .. '" }' .. (first ~= second and ' or { "' .. second .. '" }' or ""))
end

-- The point and the mode of a model; given: an equilibrium or { x =, lambda = } of it, mode: the words of its rows or
-- nil.
local function point_of(model, t, given, mode, who)
  if given.modes then
    local x = model.mechanical and terms.guess(model, given.q, who, "at.q") or given.states
    return x, given.lambda:copy(), mode or given.words
  end
  local x, lambda = terms.guess(model, given.x, who, "at.x"), core.zeros(model.m)
  if model.mechanical and not given.lambda and model.m > 0 then
    fail("%s: at: a point of a mechanical model with interactions must be an equilibrium", who)
  end
  if given.lambda then lambda = core.vector(given.lambda) end
  mode = mode or mode_of_point(model, t, x, lambda, who)
  for i, row in ipairs(model.rows) do
    if mode[i] == "lower" or mode[i] == "upper" then
      lambda[i] = row[mode[i]]
      if math.abs(lambda[i]) == math.huge then
        fail("%s: at: row %d of '%s' has y = 0 violated: no bound of lambda goes with it", who, row.place, row.name)
      end
    end
  end
  return x, lambda, mode
end

-- The option `at`, for each model.
local function points_of(models, options, who)
  local at, points = options.at, {}
  if at.modes then
    if #at.x ~= terms.count(models, "states") or #at.lambda ~= terms.count(models, "rows") then
      fail("%s: at: the equilibrium is of another model", who)
    end
    if not options.mode then refuse_degenerate(at, who) end
    return at.families or { at }
  end
  if at.x == nil then fail("%s: at: x is missing", who) end
  local guesses = terms.guesses(models, at.x, who, "at.x")
  local lambda = at.lambda and arguments.numbers(at.lambda, terms.count(models, "rows"), who, "at.lambda")
  for k, model in ipairs(models) do
    points[k] = { x = guesses[k], lambda = lambda and terms.own(model, lambda, "rows") }
  end
  return points
end

-- The option `mode`, for each model; empty where it is not given.
local function modes_of(models, options, who)
  local rows, list = {}, {}
  for k, model in ipairs(models) do rows[k] = model.rows end
  local mode = options.mode and given_mode(terms.whole(models, rows, "rows"), options.mode, who)
  for k, model in ipairs(mode and models or {}) do list[k] = terms.own(model, mode, "rows") end
  return list
end

-- ---- the multipliers ----

-- What a mode has: the active rows, the outputs Z' y that no multiplier moves, and the equations S of the
-- multipliers.
local function multipliers(model, at, mode, who)
  local active = {}
  for i = 1, model.m do
    local word = mode[i]
    if word == "active" or word == "stick" or word == "held" then active[#active + 1] = i end
  end
  local law = { active = active, count = #active, held = 0 }
  if #active == 0 then return law end
  local D = pick(at.D, active, active)
  law.B, law.C = pick(at.B, nil, active), pick(at.C, active, nil)
  local Z = scaled.null(D:transpose())
  law.Z, law.P = Z, core.eye(#active)
  law.S = D
  if Z:cols() > 0 then
    law.P = law.P - Z * core.inv(Z:transpose() * Z) * Z:transpose()
    law.ZC = Z:transpose() * law.C
    law.S = core.vstack(D, law.ZC * at.inverse * law.B)
  end
  local free = scaled.null(law.S)
  if free:cols() > 0 then
    if (law.B * free):abs():gt(law.B:abs() * free:abs() * scaled.SINGULAR):any() then
      fail("%s: the multiplier of '%s' is not determined by the output and its rate in this mode: "
        .. "it has a higher index", who, model.rows[active[1]].name)
    end
  end
  return law
end

-- The multipliers' answer to outputs moved by y and forces moved by f (columns): of the active rows.
local function answer(law, at, y, f)
  local right = law.P * y
  if law.ZC then right = core.vstack(right, law.ZC * at.inverse * f) end
  return scaled.least(law.S, right * -1)
end

-- The equilibrium multipliers of a sliding point, where only those at bounds are known.
local function slide(law, at, lambda)
  if law.count == 0 then return end
  local change = answer(law, at, pick(at.y:column(), law.active), at.f:column())
  for k, i in ipairs(law.active) do lambda[i] = lambda[i] + change[k][1] end
end

-- ---- inputs and outputs ----

-- An input { object, "field" [, i [, j]] } of a graph: its name, its value, and how it is set.
local function input_of(nsds, given, k, who)
  local name = format("inputs[%d]", k)
  if type(given) ~= "table" or type(given[2]) ~= "string" then
    fail("%s: %s: expected { object, \"field\" } or { object, \"field\", i }, got %s", who, name, describe(given))
  end
  local object, field, i, j = given[1], given[2], given[3], given[4]
  local found, value = pcall(function() return object[field](object) end)
  local setter
  for _, word in ipairs { field:sub(1, 1):upper() .. field:sub(2), field } do
    local settable, set = pcall(function() return object["set" .. word] end)
    if settable and set then setter = setter or "set" .. word end
  end
  if not found or value == nil or not setter then
    fail("%s: %s: the object has no field '%s' of numbers that can be set", who, name, field)
  end
  local function get() return type(value) == "number" and value or j and value[i][j] or value[i] end
  if type(value) ~= "number" and (not i or type(get()) ~= "number") then
    fail("%s: %s: '%s' has several numbers: give the place of one", who, name, field)
  end
  local function set(number)
    local good, done = pcall(core.graph_support.put, nsds, given, number)
    if good and done then return end
    if type(value) == "number" then
      object[setter](object, number)
      return
    end
    if j then value[i][j] = number else value[i] = number end
    if field ~= "z" then object[setter](object, value) end
  end
  return { number = given, value = get(), put = set,
    name = field .. (i and "[" .. i .. "]" or "") .. (j and "[" .. j .. "]" or "") }
end

-- The slope of a list of columns that at(place) gives, at a value, by differences of order 4 with steps of a part
-- of its size; and the step.
local function slope(at, value, part)
  local h = value ~= 0 and part * 2.0 ^ math.floor(math.log(math.abs(value), 2)) or part
  local two, one, back, far = at(value + 2 * h), at(value + h), at(value - h), at(value - 2 * h)
  return ((one - back) * 8 - (two - far)) * (1 / (12 * h)), h
end

-- The forces less M times the rates of the point, which are 0 or nil in an equilibrium.
local function balance(terms_at, rates) return rates and terms_at.f - terms_at.M * rates or terms_at.f end

-- Adds the derivatives of -M a by the coordinates to A, where the accelerations a of a point are not 0.
local function add_inertia(model, at, t, x, lambda)
  for j = 1, at.rates:any() and model.n or 0 do
    local moved = x:copy()
    local by = slope(function(value)
      moved[j] = value
      return terms.at(model, t, moved, lambda).M * at.rates
    end, x[j], STEP)
    at.A:column(j):assign(at.A:column(j) - by)
  end
end

-- The multipliers of a mode, those at bounds as the laws have them now.
local function with_bounds(model, t, lambda, mode)
  local moved, groups = lambda:copy(), {}
  for _, part in ipairs(select(2, core.graph_support.parts(model.nsds, t))) do
    if part.mechanical == model.mechanical then groups[#groups + 1] = part.groups end
  end
  for i, row in ipairs(model.rows) do
    if row.dim == 1 and (mode[i] == "lower" or mode[i] == "upper") then
      moved[i] = groups[row.interaction][row.group][mode[i]]
    end
  end
  return moved
end

-- The derivatives of f - M x', y and multipliers at bounds by an input: exact where differences agree, at one of two
-- steps. They do not where a callback reads the input out of sight, where M depends on it, and at bounds that do.
local function by_input(model, t, x, lambda, input, at)
  local function both(value)
    input.put(value)
    local bounded = with_bounds(model, t, lambda, at.mode)
    local there = terms.at(model, t, x, bounded)
    return core.concatenate { balance(there, at.rates), there.y, bounded }
  end
  local known, exact = pcall(terms.at, model, t, x, lambda, input.number)
  local by = known and exact.f_by and core.concatenate { exact.f_by, exact.y_by, core.zeros(model.m) }
  local function sum(jacobian, value) return jacobian:abs() * x:abs() + value:abs() end
  local size = core.concatenate { sum(at.A, at.f), sum(at.C, at.y), lambda:abs() }
  local first
  for _, part in ipairs { STEP, STEP ^ 2 } do
    local good, slopes, h = pcall(slope, both, input.value, part)
    input.put(input.value)
    if not good and not by then error(slopes, 0) end
    first = first or slopes
    local away = by and good and (slopes - by):abs()
    local off = away and away:gt((slopes:abs() + by:abs()) * AGREE):mul((away * h):gt(size * ROUND))
    if not off or not off:any() then break end
    if part < STEP then by = nil end
  end
  by = by or first
  local n = #at.f
  return by:slice(1, n), by:slice(n + 1, n + model.m), by:slice(n + model.m + 1, #by)
end

local function check_moved(law, model, y, input, who)
  if not law.Z or law.Z:cols() == 0 then return end
  local Z = law.Z:transpose()
  if (Z * y):abs():gt(Z:abs() * y:abs() * scaled.SINGULAR):any() then
    fail("%s: the input %s moves the surface of '%s', on which the mode slides: its rate would be an input too",
      who, input.name, model.rows[law.active[1]].name)
  end
end

-- B, and the multipliers' answers to the inputs (m rows).
local function inputs_of(model, law, at, t, x, lambda, list, who)
  local B, answers = core.zeros(model.n, #list), core.zeros(model.m, #list)
  for k, given in ipairs(list) do
    local input = input_of(model.nsds, given, k, who)
    local f_by, y_by, bounds_by = by_input(model, t, x, lambda, input, at)
    local f = f_by:column()
    answers:column(k):assign(bounds_by)
    if law.count > 0 then
      local y = pick(y_by:column(), law.active)
      check_moved(law, model, y, input, who)
      local change = answer(law, at, y, f)
      f = f + law.B * change
      for i, row in ipairs(law.active) do answers[row][k] = change[i][1] end
    end
    B:column(k):assign((at.inverse * f):column(1))
  end
  return B, answers
end

-- C and D of the outputs: of a function f(t, x, lambda), or of a list of numbers of states.
-- embedding: the derivatives of the states by the states of the linear model, direct: by the inputs; nil where they
-- are the same, and 0.
local function outputs_of(outputs, t, states, lambda, by_x, by_u, who, embedding, direct)
  local n = #states
  if type(outputs) == "table" then
    local C = core.zeros(#outputs, n)
    for k, i in ipairs(outputs) do
      reject(math.type(i) ~= "integer" or i < 1 or i > n, i,
        "%s: outputs[%d]: expected the number of a state, 1 .. %d", who, k, n)
      C[k][i] = 1
    end
    return embedding and C * embedding or C, direct and C * direct or core.zeros(#outputs, by_u:cols())
  elseif type(outputs) ~= "function" then
    fail("%s: outputs: expected a function f(t, x, lambda) or a list of numbers of states, got %s", who,
      describe(outputs))
  end
  local m = #lambda
  local J = core.jacobian(function(both)
    local x, l = {}, {}
    for i = 1, n + m do
      if i <= n then x[i] = both[i] else l[i - n] = both[i] end
    end
    return outputs(t, x, l)
  end, core.concatenate { states, lambda })
  local rows = J:rows()
  local C, D = J:slice(1, rows, 1, n), core.zeros(rows, by_u:cols())
  if direct and by_u:cols() > 0 then D = C * direct end
  if embedding then C = C * embedding end
  if m > 0 then
    local by_lambda = J:slice(1, rows, n + 1, n + m)
    C = C + by_lambda * by_x
    if by_u:cols() > 0 then D = D + by_lambda * by_u end
  end
  return C, D
end

linear.outputs, linear.class = outputs_of, Linear

-- ---- results ----

local function finish(l, N)
  local reduced = N and (N:cols() > 0 and core.lstsq(N, l.A * N) or core.zeros(0, 0)) or l.A
  l.constrained = N and l.A:rows() - N:cols() or 0
  l.eigenvalues = spectrum.values(reduced)
  local largest, right = 0, -math.huge
  for _, value in ipairs(l.eigenvalues) do largest, right = math.max(largest, value.abs), math.max(right,
    value.re) end
  l.stability = (#l.eigenvalues == 0 or right < -ON_AXIS * largest) and "stable" or
    right > ON_AXIS * largest and "unstable" or "neutral"
  l.stable = l.stability == "stable"
  return setmetatable(l, Linear)
end

-- The order of mechanical states: of each system q, then v. place[i]: the place of q_i; the second result: the place
-- of v_i.
local function places(model)
  local q, v, at = {}, {}, 0
  for k, first in ipairs(model.first) do
    local count = (model.first[k + 1] or model.n) - first
    for i = 1, count do q[first + i], v[first + i] = at + i, at + count + i end
    at = at + 2 * count
  end
  return q, v
end

-- The linear model of mechanics, from q'' = Aq q + Av v + Bu u.
local function of_mechanics(model, law, at, t, x, lambda, inputs, who)
  local n, q, v = model.n, places(model)
  local by_q, by_v = core.zeros(model.m, n), core.zeros(model.m, n)
  local A, V = at.A, at.V
  if law.count > 0 then
    local of_q, of_v = answer(law, at, law.C, at.A), answer(law, at, core.zeros(law.count, n), at.V)
    A, V = A + law.B * of_q, V + law.B * of_v
    put(by_q, of_q, law.active)
    put(by_v, of_v, law.active)
  end
  A, V = at.inverse * A, at.inverse * V
  local l = { A = core.zeros(2 * n, 2 * n), B = core.zeros(2 * n, #inputs) }
  local B, by_u = inputs_of(model, law, at, t, x, lambda, inputs, who)
  local by_x = core.zeros(model.m, 2 * n)
  put(l.A, core.eye(n), q, v)
  put(l.A, A, v, q)
  put(l.A, V, v, v)
  put(l.B, B, v)
  put(by_x, by_q, nil, q)
  put(by_x, by_v, nil, v)
  local N
  if law.ZC then
    local one = scaled.null(law.ZC)
    N = core.zeros(2 * n, 2 * one:cols())
    put(N, one, q)
    put(N:slice(1, 2 * n, one:cols() + 1, 2 * one:cols()), one, v)
  end
  return l, N, by_x, by_u
end

local function of_first_order(model, law, at, t, x, lambda, inputs, who)
  local A, by_x = at.A, core.zeros(model.m, model.n)
  if law.count > 0 then
    local change = answer(law, at, law.C, at.A)
    A = A + law.B * change
    put(by_x, change, law.active)
  end
  local B, by_u = inputs_of(model, law, at, t, x, lambda, inputs, who)
  return { A = at.inverse * A, B = B }, law.ZC and scaled.null(law.ZC), by_x, by_u
end

-- ---- singular M ----

-- Unit vectors that complete the columns of `free` to a basis: unit vectors of the unknowns that remain when each
-- column in turn takes the unknown of its largest element. Where E has columns of 0 they are the unknowns with
-- derivatives.
local function complement(free)
  local work, taken, units = free:copy(), {}, {}
  for j = 1, work:cols() do
    local place, most = 1, -1
    for i = 1, work:rows() do
      if not taken[i] and math.abs(work[i][j]) > most then place, most = i, math.abs(work[i][j]) end
    end
    taken[place] = true
    for k = j + 1, work:cols() do
      local factor = work[place][k] / work[place][j]
      for i = 1, work:rows() do work[i][k] = work[i][k] - factor * work[i][j] end
    end
  end
  for i = 1, work:rows() do
    if not taken[i] then units[#units + 1] = i end
  end
  return pick(core.eye(work:rows()), nil, units)
end

-- z' = A z + B u of E x' = K x + L u with a singular E, and x = T z + G u: the algebraic equations are solved for as
-- many unknowns as they are. Index 1: else they do not determine these, and the result is nil.
local function without_algebraic(E, K, L)
  local free, left = scaled.null(E), scaled.null(E:transpose())
  local rest = complement(free)
  local S = left:transpose() * K * free
  if not scaled.regular(S) then return nil end
  local by_z, by_u = scaled.least(S, left:transpose() * K * rest * -1), scaled.least(S, left:transpose() * L * -1)
  local T, G = rest + free * by_z, free * by_u
  local right = scaled.null(left:transpose()):transpose()
  local mass = right * E * rest
  return { A = core.solve(mass, right * K * T), B = core.solve(mass, right * (K * G + L)), T = T, G = G }
end

-- The rates w' of a point that is no equilibrium, where the algebraic equations hold with their derivatives by t:
-- E w' = F, and l (K w' + F_t) = 0 for l E = 0. F: the forces and the outputs of active rows; rate: the largest
-- modulus of an eigenvalue of the linear model.
local function rates_of(model, E, K, forces, t, rate)
  local left = scaled.null(E:transpose())
  local right = scaled.null(left:transpose()):transpose()
  local h = STEP * 2.0 ^ -math.floor(math.log(rate > 0 and rate or 1, 2))
  local two, one, back, far = forces(t + 2 * h), forces(t + h), forces(t - h), forces(t - 2 * h)
  local by_t = ((one - back) * 8 - (two - far)) * (1 / (12 * h))
  local rates = core.solve(core.block { { right * E }, { left:transpose() * K } },
    core.concatenate { right * forces(t), left:transpose() * by_t * -1 })
  return rates:slice(1, model.n)
end

-- Raises where an input of a singular M gives an algebraic equation a derivative: the motions with it are others, and
-- do not tend to those without.
local function check_rank(model, t, x, lambda, M, input, who)
  local free, left = scaled.null(M), scaled.null(M:transpose()):transpose()
  local function mass(value)
    input.put(value)
    return terms.at(model, t, x, lambda).M
  end
  local good, by = pcall(slope, mass, input.value, STEP)
  input.put(input.value)
  if not good then error(by, 0) end
  local size = left:abs() * by:abs() * free:abs()
  if (left * by * free):abs():gt(size * AGREE):any() then
    fail("%s: the input %s gives an algebraic equation a derivative: M has another rank there, and the motion "
      .. "another number of states", who, input.name)
  end
end

-- E x' = A x + B u of a first-order model with a singular M. The multipliers of active rows are algebraic unknowns.
local function of_singular(model, mode, at, t, x, lambda, inputs, options, moves, who)
  local n, active = model.n, {}
  for i = 1, model.m do
    if mode[i] == "active" then active[#active + 1] = i end
  end
  local m, L, bounds = #active, core.zeros(n + #active, #inputs), core.zeros(model.m, #inputs)
  local K = core.block { { at.A, pick(at.B, nil, active) }, { pick(at.C, active), pick(at.D, active, active) } }
  local E = core.block { { at.M, 0 }, { 0, core.zeros(m, m) } }
  local reduced = without_algebraic(E, K, L)
  if not reduced then
    fail("%s: M is singular, and the algebraic equations do not determine the other unknowns: the index is above 1",
      who)
  end
  if moves and #inputs > 0 then
    at.rates = rates_of(model, E, K, function(s)
      local there = s == t and at or terms.at(model, s, x, lambda)
      return core.concatenate { there.f, pick(there.y:row(), nil, active)[1] }
    end, t, (spectrum.values(reduced.A)[1] or { abs = 0 }).abs)
  end
  for k, given in ipairs(inputs) do
    local input = input_of(model.nsds, given, k, who)
    local f, y, bounds_by = by_input(model, t, x, lambda, input, at)
    if at.rates then check_rank(model, t, x, lambda, at.M, input, who) end
    bounds:column(k):assign(bounds_by)
    L:column(k):assign(core.concatenate { f, pick(y:row(), nil, active)[1] })
  end
  if #inputs > 0 then reduced = without_algebraic(E, K, L) end
  local T, G = reduced.T, reduced.G
  local l = { A = reduced.A, B = reduced.B, T = T:slice(1, n, 1, T:cols()), G = core.zeros(n, #inputs), E = E, K = K,
    L = L }
  if #inputs > 0 then l.G = G:slice(1, n, 1, #inputs) end
  if options.outputs ~= nil then
    local by_z, by_u = core.zeros(model.m, T:cols()), bounds
    put(by_z, T:slice(n + 1, n + m, 1, T:cols()), active)
    put(by_u, G:slice(n + 1, n + m, 1, #inputs), active)
    l.C, l.D = outputs_of(options.outputs, t, x, lambda, by_z, by_u, who, l.T, l.G)
  end
  l.x, l.t, l.lambda, l.mode = x, t, lambda, mode
  return finish(l)
end

-- The linear model of one model: A and B, the basis N of the constrained motions or nil, and the derivatives of its
-- multipliers by x and by the inputs.
local function of_family(model, t, given, mode, inputs, options, alone, who)
  local x, lambda
  x, lambda, mode = point_of(model, t, given, mode, who)
  local at = terms.at(model, t, x, lambda)
  at.mode = mode
  local good, inverse = pcall(core.inv, at.M)
  if not good and not alone then
    fail("%s: M is singular, which is not supported in a model of first order and mechanics", who)
  elseif not good then
    return { result = of_singular(model, mode, at, t, x, lambda, inputs, options, not given.modes, who) }
  end
  at.inverse = inverse
  local law = multipliers(model, at, mode, who)
  if not given.modes and not given.lambda and law.count > 0 then
    slide(law, at, lambda)
    at = terms.at(model, t, x, lambda)
    at.inverse, at.mode = inverse, mode
    for _, i in ipairs(law.active) do
      local row = model.rows[i]
      if not options.mode and not (lambda[i] > row.lower and lambda[i] < row.upper) then
        fail("%s: at: '%s' does not slide there: it would need lambda = %g; choose by mode =", who, row.name,
          lambda[i])
      end
    end
    law = multipliers(model, at, mode, who)
  end
  if not given.modes then at.rates = inverse * at.f end
  if at.rates and model.mechanical then add_inertia(model, at, t, x, lambda) end
  local l, N, by_x, by_u = (model.mechanical and of_mechanics or of_first_order)(model, law, at, t, x, lambda, inputs,
    who)
  return { A = l.A, B = l.B, N = N, by_x = by_x, by_u = by_u, x = terms.states(model, x), lambda = lambda,
    mode = mode, embedding = terms.embedding(model, x) }
end

-- The linear models of first order and of mechanics as one: neither acts on the other.
local function joined(models, list)
  local function count(name) return terms.count(models, name) end
  local function all(field, name) return terms.whole(models, { list[1][field], list[2][field] }, name) end
  local n, m, inputs = count "linear", count "rows", list[1].B:cols()
  local one = { x = core.vector(all("x", "states")), lambda = core.vector(all("lambda", "rows")),
    mode = all("mode", "rows"), A = core.zeros(n, n), B = core.zeros(n, inputs), by_x = core.zeros(m, n),
    by_u = core.zeros(m, inputs) }
  local bases, free = {}, 0
  for k, l in ipairs(list) do
    bases[k] = l.N or core.eye(l.A:rows())
    free = free + bases[k]:cols()
  end
  one.N = (list[1].N or list[2].N) and core.zeros(n, free)
  one.embedding = list[2].embedding and core.zeros(count "states", n)
  local at = 0
  for k, l in ipairs(list) do
    local own = models[k].places
    put(one.A, l.A, own.linear, own.linear)
    put(one.B, l.B, own.linear)
    put(one.by_x, l.by_x, own.rows, own.linear)
    put(one.by_u, l.by_u, own.rows)
    if one.N then put(one.N:slice(1, n, at + 1, at + bases[k]:cols()), bases[k], own.linear) end
    at = at + bases[k]:cols()
    if one.embedding then put(one.embedding, l.embedding or core.eye(l.A:rows()), own.states, own.linear) end
  end
  return one
end

local function of_model(options, who)
  local at = options.at
  expect(at, "table", "%s: at: expected an equilibrium or { x =, t = }", who)
  local models, list = terms.models(options, who, at.t), {}
  local points, modes = points_of(models, options, who), modes_of(models, options, who)
  local t = at.t or models[1].nsds:t0()
  local inputs = options.inputs or {}
  expect(inputs, "table", "%s: inputs: expected a list", who)
  for k, model in ipairs(models) do
    list[k] = of_family(model, t, points[k], modes[k], inputs, options, #models == 1, who)
    if list[k].result then return list[k].result end
  end
  local one = list[2] and joined(models, list) or list[1]
  local l = { A = one.A, B = one.B, x = one.x, t = t, lambda = one.lambda, mode = one.mode }
  if options.outputs ~= nil then
    l.C, l.D = outputs_of(options.outputs, t, one.x, one.lambda, one.by_x, one.by_u, who, one.embedding)
  end
  return finish(l, one.N)
end

-- ---- x' = f(t, x) ----

-- The Jacobian of f at x. where_from: the option that a derivative without a finite value belongs to.
local function derivatives(f, x, who, where_from)
  local good, J = where.try(core.jacobian, f, x)
  if good then return J end
  local message = type(J) == "string" and J:match "f%[%d+%]: the derivative by x%[%d+%] is .*$"
  if message then fail("%s: %s: %s", who, where_from, message) end
  error(J, 0)
end

local function of_rhs(options, who)
  local at = options.at
  expect(options.rhs, "function", "%s: rhs: expected a function f(t, x)", who)
  reject(type(at) ~= "table" or at.x == nil, at, "%s: at: expected an equilibrium or { x =, t = }", who)
  local t, args = at.t or 0, options.args or {}
  local x = core.vector(arguments.numbers(at.x, nil, who, "at.x"))
  local function rate(z) return options.rhs(t, z, table.unpack(args)) end
  local value = rate(x)
  local good, f = where.try(core.vector, value)
  if not good or type(value) == "number" or #f ~= #x then
    local got = good and "one of " .. #f or describe(value)
    fail("%s: rhs: expected a vector of %d from f(t, x), got %s", who, #x, got)
  end
  for i = 1, #f do
    if f[i] - f[i] ~= 0 then fail("%s: rhs: f(t, x)[%d] is %s at this point", who, i, describe(f[i])) end
  end
  local l = { A = derivatives(rate, x, who, "rhs"), x = x, t = t, mode = {}, lambda = core.zeros(0) }
  local inputs = options.inputs or {}
  l.B = core.zeros(#x, #inputs)
  for k, which in ipairs(inputs) do
    reject(math.type(which) ~= "integer" or type(args[which]) ~= "number", which,
      "%s: inputs[%d]: with rhs = expected the place of a number in args", who, k)
    local column = derivatives(function(p)
      local moved = { table.unpack(args) }
      moved[which] = p[1]
      return options.rhs(t, x, table.unpack(moved))
    end, { args[which] }, who, format("inputs[%d]", k))
    for i = 1, #x do l.B[i][k] = column[i][1] end
  end
  if options.outputs ~= nil then
    l.C, l.D = outputs_of(options.outputs, t, x, l.lambda, core.zeros(0, #x), core.zeros(0, #inputs), who)
  end
  return finish(l)
end

function linear.linearise(options)
  local who = "dynamics.linearise"
  options = arguments.options(options, who)
  equilibria.kinds(options, who)
  return options.rhs and of_rhs(options, who) or of_model(options, who)
end

function Linear:__tostring()
  if self.dt then
    return format("linear model with %d states, period %g, %s", self.A:rows(), self.dt, self.stability)
  end
  return format("linear model with %d states, %d constrained directions, %s", self.A:rows(), self.constrained,
    self.stability)
end

where.methods(Linear, "a linear model", "l")

return linear
