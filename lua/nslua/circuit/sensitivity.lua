-- nslua.circuit.sensitivity: derivatives by the values of parts.
--
-- A part changes numbers of the model (entries of A, B, C, D, inputs, initial states). How much is found by
-- differences of order 4 of the reduction alone, with the same unknowns solved for. The engine
-- gives the derivatives of the run, by the numbers that a part moves together: one of two rows for one voltage can
-- not move alone. Where gates have clocks, the run is made from instant to instant: the states are continuous there,
-- and the instants do not depend on the parts.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local kinds = require "nslua.circuit.parts"
local drawing = require "nslua.network.drawing"
local model = require "nslua.circuit.model"
local values = require "nslua.network.values"
local where = require "nslua.base.where"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject

local sensitivity = {}

-- Numbers of parts besides `value`; true: the model is linear in them, so that they may be 0.
local FIELDS = { resistance = false, conductance = false, forward = true, breakdown = true, initial = true }

local PART = 2.0 ^ -9 -- of the value: differences of order 4 then have errors of 1e-11 of the terms

-- The part and the field of a name, as "R1" or "D1.resistance".
local function find(circuit, who, name)
  local base, field = tostring(name):match "^([%w_]+)%.?(%a*)$"
  local part = circuit.named[base]
  if type(name) ~= "string" or not part then
    fail("%s: expected the name of a part, as \"R1\" or \"D1.resistance\", got %s", who, describe(name))
  end
  if field == "" then field = "value" end
  local value = part[field]
  if field == "initial" and kinds[part.kind].state then value = value or 0 end
  if type(value) ~= "number" or field ~= "value" and FIELDS[field] == nil then
    fail("%s: %s '%s' has no number '%s'", who, part.kind, base, field)
  end
  if value == 0 and not FIELDS[field] then
    fail("%s: %s of %s '%s' is 0 and tells no size for a difference; give it a small value", who, field, part.kind,
      base)
  end
  return part, field, value
end

-- The numbers of the model with another value of a part; solved for the same unknowns as `base`.
local function numbers_at(circuit, base, part, field, value)
  local kept = rawget(part, field) -- a piece has the value of its part where it has none
  part[field] = value
  local good, result = pcall(model.numbers, circuit, base)
  part[field] = kept
  if not good then error(result, 0) end
  return result
end

-- The derivatives of the matrices by a part: differences of order 4, entry by entry. A conductance of 1 nS beside one
-- of 100 S changes an entry by less than a double tells: the differences have the rest, too.
local function slopes(circuit, base, part, field, value)
  local h = value ~= 0 and math.abs(value) * PART or 1
  local at, rest = {}, {}
  for _, k in ipairs { -2, -1, 1, 2 } do
    local numbers = numbers_at(circuit, base, part, field, value + k * h)
    at[k], rest[k] = model.matrices(numbers), model.matrices(numbers, 2)
  end
  local function difference(name, i, j)
    local function f(k) return at[k][name][i][j] or 0 end
    local function change(k)
      return (f(k) - f(-k)) + ((rest[k][name][i][j] or 0) - (rest[-k][name][i][j] or 0))
    end
    local d, terms = 8 * change(1) - change(2), 8 * (math.abs(f(1)) + math.abs(f(-1)))
    return math.abs(d) > 2.0 ^ -84 * terms and d / (12 * h) or 0 -- else rounding of two doubles
  end
  return difference
end

-- The numbers of the model that the parts change: { object, field, i [, j] }, and for each its derivatives by them.
local function numbers_of(circuit, made, names, who)
  local base, functions = made.numbers, made.numbers.stamps.functions
  local specs, rows = {}, {}
  local list, all = model.matrices(base), {}
  local n, m = #base.states, #base.lambdas
  for p, name in ipairs(names) do
    local part, field, value = find(circuit, who, name)
    all[p] = { slopes(circuit, base, part, field, value), field == "initial" and part }
  end
  local function put(spec, name, i, j)
    local row, any = {}, false
    for p, one in ipairs(all) do
      row[p] = one[1](name, i, j)
      any = any or row[p] ~= 0
    end
    if any then specs[#specs + 1], rows[#rows + 1] = spec, row end
    return any
  end
  -- The inputs of an object; its rows have the numbers of `which` in the list.
  local function put_inputs(object, name, which, constant)
    local own = {}
    for r, i in ipairs(which) do own[r] = list[name][i] end
    local terms = model.inputs_in_time(own, functions)
    for k, term in ipairs(terms) do put({ object, "z", k }, name, which[term[1]], term[2]) end
    for r, i in ipairs(which) do
      put(#terms > 0 and { object, "z", #terms + r } or { object, constant, r }, name, i, "1")
    end
  end
  local every = {}
  for i = 1, n do
    every[i] = i
    for j = 1, n do put({ made.ds, "A", i, j }, "A", i, j) end
    for k = 1, m do put({ made.interactions[made.place[k][1]]:relation(), "B", i, made.place[k][2] }, "B", i, k) end
    local row, any = {}, false
    for p, one in ipairs(all) do
      row[p] = one[2] == base.states[i].part and 1 or 0
      any = any or row[p] ~= 0
    end
    if any then specs[#specs + 1], rows[#rows + 1] = { made.ds, "x0", i }, row end
  end
  put_inputs(made.ds, "b", every, "b")
  for k = 1, m do
    local g, r = table.unpack(made.place[k])
    local relation = made.interactions[g]:relation()
    for j = 1, n do put({ relation, "C", r, j }, "C", k, j) end
    for j = 1, m do
      if made.place[j][1] == g then put({ relation, "D", r, made.place[j][2] }, "D", k, j) end
    end
  end
  for g, which in ipairs(made.groups) do put_inputs(made.interactions[g]:relation(), "e", which, "e") end
  return specs, rows
end

-- Appends to `asked` a parameter for each part, the numbers that it moves, and to `chain` its derivatives by parts.
local function ask_parts(asked, chain, names, specs, rows)
  for p, name in ipairs(names) do
    local one, row = { together = {}, weights = {}, name = name }, {}
    for i, spec in ipairs(specs) do
      if spec[2] ~= "x0" and rows[i][p] ~= 0 then
        table.insert(one.together, spec)
        table.insert(one.weights, rows[i][p])
      end
    end
    for q = 1, #names do row[q] = q == p and 1 or 0 end
    if #one.together > 0 then asked[#asked + 1], chain[#chain + 1] = one, row end
  end
end

-- One piece of a run: the simulation of the model `made` from `a` to `b`.
local function piece(ns, circuit, made, a, b, step, options)
  local nsds, points = ns.NonSmoothDynamicalSystem(a, b), { a }
  nsds:insertDynamicalSystem(made.ds)
  for _, one in ipairs(made.interactions) do nsds:link(one, made.ds) end
  local count = math.max(1, math.ceil((b - a) / step * (1 - 1e-9)))
  for i = 1, count do points[#points + 1] = a + (b - a) * (i / count) end
  local grid = ns.TimeDiscretisation(drawing.with_corners(circuit, points, (b - a) / count))
  local integrator = options.integrator
  if not integrator then
    integrator = ns.RadauOSI()
    integrator:setAmbiguity "leave"
  end
  return drawing.compile_sines(circuit, ns.EventDriven(nsds, grid, integrator))
end

local AFTER = 2.0 ^ -10 -- part of the way to the next event at which a piece ends after the end of a current

-- The changes of gates in a run, in order: { t =, name =, on = }; `on`: whether each switch is on at the start.
local function changes_of(ns, circuit, made, on, start, stop, step, options)
  local changes, times = {}, { stop }
  for _, one in ipairs(made.numbers.lambdas) do
    local gate = one.switch.law.gate
    if gate then on[one.switch.name] = gate.on(start) and true or false end
  end
  if not made.switched then return changes end
  local simu = piece(ns, circuit, made, start, stop, step, options)
  model.attach(made, simu, function(t, name, is_on, ended)
    changes[#changes + 1], times[#times + 1] = { t = t, name = name, on = is_on, ended = ended, place = #changes }, t
  end)
  where.pass(simu.run, simu)
  for _, event in ipairs(simu:events()) do times[#times + 1] = event.t end
  table.sort(times)
  for _, change in ipairs(changes) do
    for _, t in ipairs(change.ended and times or {}) do
      if t - change.t > 1e-9 * (stop - start) then -- closer ones are events of the same instant
        change.t, change.ended = change.t + AFTER * (t - change.t), false
        break
      end
    end
  end
  table.sort(changes, function(x, y) return x.t < y.t or x.t == y.t and x.place < y.place end)
  return changes
end

-- The pieces of a run: { from =, to =, on = { [name of a switch] = whether it is on } }.
local function pieces_of(ns, circuit, start, stop, step, options)
  local last = { from = start, to = stop, on = {} }
  local list, made = { last }, model.objects(ns, circuit, start)
  for _, change in ipairs(changes_of(ns, circuit, made, last.on, start, stop, step, options)) do
    local apart = 1e-12 * (stop - start) -- closer ones are one instant
    if change.t - last.from > apart and stop - change.t > apart then
      last.to = change.t
      last = { from = change.t, to = stop, on = setmetatable({}, { __index = last.on }) }
      list[#list + 1] = last
    end
    if stop - change.t > apart then last.on[change.name] = change.on end
  end
  return list
end

-- The numbers of the states with derivatives that a piece begins with: of initial values, which `specs` hold, or of S
-- at the end of the piece before. Below 1e-12 of what they were (most) they are rounding: a law holds the state.
local function at_start(S, most, specs, rows)
  for i, spec in ipairs(S and {} or specs) do
    if spec[2] == "x0" then
      for p, d in ipairs(rows[i]) do most[spec[3]][p] = d end
    end
  end
  local columns = {}
  for j, row in ipairs(most) do
    local any = false
    for p, size in ipairs(row) do
      local d = S and S[j][p] or not S and size or 0
      row[p] = math.max(math.abs(d), math.abs(size))
      any = any or math.abs(d) > 1e-12 * row[p]
    end
    if any then columns[#columns + 1] = j end
  end
  return columns
end

-- The derivatives of the states by parts, at the times of the grid and at instants of gates. options: the options
-- of simulation, and names. Returns the times, for each the derivatives (n x p), and the model.
local function forward(ns, circuit, names, start, stop, step, options)
  local n, made, most, x, S
  local t_rows, S_rows = {}, {}
  for k, one in ipairs(pieces_of(ns, circuit, start, stop, step, options)) do
    made = model.objects(ns, circuit, one.from, { x = x, on = one.on })
    n = made.states
    if k == 1 then
      most = {}
      for j = 1, n do most[j] = ns.zeros(#names):totable() end
    end
    local specs, rows = numbers_of(circuit, made, names, "sensitivities")
    local simu = piece(ns, circuit, made, one.from, one.to, step, options)
    local asked, chain = { rtol = options.rtol, on_grazing = k > 1 and "one-sided" or options.on_grazing }, {}
    for _, j in ipairs(at_start(S, most, specs, rows)) do
      local row = {}
      for p = 1, #names do row[p] = S and S[j][p] or most[j][p] end
      asked[#asked + 1], chain[#chain + 1] = { made.ds, "x0", j }, row
    end
    ask_parts(asked, chain, names, specs, rows)
    local sol = #asked > 0 and where.pass(simu.run, simu, { sensitivities = asked }) or where.pass(simu.run, simu)
    for row = k == 1 and 1 or 2, #sol do
      t_rows[#t_rows + 1] = sol.t[row]
      S_rows[#S_rows + 1] = #asked > 0 and sol.S[row] * ns.matrix(chain) or ns.zeros(n, #names)
    end
    S, x = S_rows[#S_rows], sol.x[#sol]
  end
  return t_rows, S_rows, made
end

-- A record for each part: t, and the derivatives of the states by their names.
function sensitivity.run(ns, circuit, names, start, stop, step, options)
  reject(type(names) ~= "table" or #names == 0, names, "sensitivities: expected a list of names of parts")
  local t, S, made = forward(ns, circuit, names, start, stop, step, options)
  local states, files = made.names, require "nslua.files"(ns, core.file_support)
  local result = {}
  for p, name in ipairs(names) do
    local labels, columns = { "t" }, { ns.vector(t) }
    for i, state in ipairs(states) do
      local column = ns.zeros(#t)
      for row = 1, #t do column[row] = S[row][i][p] end
      labels[i + 1], columns[i + 1] = state, column
    end
    result[name] = files.columns(labels, columns)
  end
  return result
end

-- The derivative of a cost by the parts. From the last piece to the first: what the cost at the end is to the last
-- piece, the product with its derivative by the start of the next piece is to the ones before.
function sensitivity.gradient(ns, circuit, names, start, stop, step, options)
  reject(type(names) ~= "table" or #names == 0, names, "gradient: parameters: expected a list of names of parts")
  local pieces = pieces_of(ns, circuit, start, stop, step, options)
  local value, gradient, mu, last = 0, ns.zeros(#names), nil, nil
  local function simulation_of(k)
    local one = pieces[k]
    local made = model.objects(ns, circuit, one.from, { x = k > 1 and pieces[k - 1].x or nil, on = one.on })
    return piece(ns, circuit, made, one.from, one.to, step, options), made
  end
  for k = 1, #pieces - 1 do
    local simu = simulation_of(k)
    local sol = where.pass(simu.run, simu)
    pieces[k].x = sol.x[#sol]
  end
  for k = #pieces, 1, -1 do
    local one, after, parameters, rows = pieces[k], mu, {}, {}
    local simu, made = simulation_of(k)
    local specs, all = numbers_of(circuit, made, names, "gradient: parameters")
    ask_parts(parameters, rows, names, specs, all)
    for i, spec in ipairs(k == 1 and specs or {}) do
      if spec[2] == "x0" then parameters[#parameters + 1], rows[#rows + 1] = spec, all[i] end
    end
    for j = 1, k > 1 and made.states or 0 do parameters[#rows + j] = { made.ds, "x0", j } end
    local J, by_numbers, sol = simu:gradient { cost = options.cost, terminal = after and function(x)
      local sum = 0
      for j, m in ipairs(after) do sum = sum + m * x[j] end
      return sum
    end or options.terminal, parameters = #parameters > 0 and parameters or { "x0" } }
    for j, m in ipairs(after or {}) do J = J - m * one.x[j] end
    value, last, mu = value + J, last or sol, {}
    for i, row in ipairs(rows) do
      for p = 1, #names do gradient[p] = gradient[p] + by_numbers[i] * row[p] end
    end
    for j = 1, #parameters - #rows do mu[j] = by_numbers[#rows + j] end
  end
  return value, gradient, last
end

-- A parameter for ns.fit: sets the value of a part in the model made last.
function sensitivity.parameter(circuit, name)
  local part, field, value = find(circuit, "parameter", name)
  local made = circuit.made
  local functions = made.numbers.stamps.functions
  local function inputs(object, rows, set)
    local terms, numbers = model.inputs_in_time(rows, functions), {}
    for k, term in ipairs(terms) do numbers[k] = rows[term[1]][term[2]] end
    for r, by in ipairs(rows) do numbers[#terms + r] = by["1"] or 0 end
    if #terms > 0 then object:setzPtr(numbers) else object[set](object, numbers) end
  end
  return { name = name, start = value, set = function(number)
    arguments.number(number, "parameter", name)
    local above = field == "value" and kinds[part.kind].takes[1][2] == values.positive or FIELDS[field] == false
    if number - number ~= 0 or above and number <= 0 then
      fail("parameter: %s: expected a %s, got %g", name, above and "number above 0" or "finite number", number)
    end
    local list = model.matrices(numbers_at(circuit, made.numbers, part, field, number))
    part[field] = number
    made.ds:setAPtr(list.A)
    inputs(made.ds, list.b, "setbPtr")
    for g, group in ipairs(made.groups) do
      local relation, block = made.interactions[g]:relation(), model.block(list, group)
      relation:setCPtr(block.C)
      relation:setDPtr(block.D)
      relation:setBPtr(block.B)
      inputs(relation, block.e, "setePtr")
    end
  end }
end

return sensitivity
