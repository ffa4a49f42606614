-- nslua.circuit.model: the model of a circuit: states, interactions of its switches, and the columns of a solution.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local drawing = require "nslua.network.drawing"
local lists = require "nslua.base.lists"
local parts = require "nslua.circuit.parts"
local reduction = require "nslua.circuit.reduction"
local signals = require "nslua.control.signals"

local fail, huge = arguments.fail, math.huge
local attach_gate, rows_of_events = drawing.attach_gate, drawing.rows_of_events

-- ---- the equations of the parts ----

local model = {}

local Stamps = {}
Stamps.__index = Stamps

local function new_stamps()
  return setmetatable({ rows = {}, class_of = {}, kcl = {}, states = {}, rate_of = {}, switches = {}, pairs = {},
    functions = {}, slope_of = { ["1"] = false }, inner = {} }, Stamps)
end

function Stamps:unknown(name, class)
  self.class_of[name] = class
  return name
end

function Stamps:equation(of, by) self.rows[#self.rows + 1] = { of = of, by = by } end

function Stamps:potential(node)
  if node == "0" then return nil end
  local name = "v." .. node
  if not self.class_of[name] then self.inner[#self.inner + 1] = self:unknown(name, "inner") end
  return name
end

-- Books a current at the two nodes that it joins; nil: the ground, or none.
function Stamps:current(part, from, to, k)
  local name = "i." .. part.name .. (k and "." .. k or "")
  self.inner[#self.inner + 1] = self:unknown(name, "inner")
  for _, one in ipairs { { from, 1 }, { to, -1 } } do
    local node, sign = one[1], one[2]
    if node and node ~= "0" then
      self.kcl[node] = self.kcl[node] or {}
      self.kcl[node][name] = (self.kcl[node][name] or 0) + sign
    end
  end
  return name
end

function Stamps:current_of(part) return "i." .. part.name end

function Stamps:state(part, initial)
  local name = "x." .. part.name
  if not self.class_of[name] then
    self:unknown(name, "state")
    self.states[#self.states + 1] = { name = name, initial = initial, part = part }
    self.rate_of[name] = self:unknown("dx." .. part.name, "rate")
  end
  return name, self.rate_of[name]
end

function Stamps:switch(part, law, k)
  local name = part.name .. (k and "." .. k or "")
  local j, w = self:unknown("j." .. name, "switch"), self:unknown("w." .. name, "switch")
  self.switches[#self.switches + 1] = { name = name, law = law, j = j, w = w }
  if law.limits then -- the law has bounds for j alone: j is never solved for
    self:unknown(j, "given")
    self:unknown(w, "inner")
  else
    self.pairs[#self.pairs + 1] = { j, w }
  end
  return j, w
end

-- The right-hand side with the value of a source.
function Stamps:source(value)
  if type(value) == "number" then return { ["1"] = value } end
  local name = self.functions[value]
  if not name then
    name = "u" .. #self.functions + 1
    self.functions[#self.functions + 1], self.functions[value] = { name = name, f = value.f, who = value.who }, name
    if value.slope then
      self.slope_of[name] = name .. "'"
      self.functions[#self.functions + 1] = { name = name .. "'", f = value.slope }
    end
  end
  return { [name] = 1 }
end

-- ---- from expressions to matrices ----

local function names_in(of, class_of, ...)
  local names = {}
  for _, class in ipairs { ... } do
    for unknown in pairs(of) do
      if class_of[unknown] == class then names[unknown:match "^%a+%.(.*)$"] = true end
    end
  end
  return table.concat(lists.keys(names), ", ")
end

local function told(stamps, word, row, source)
  local class_of = stamps.class_of
  local switches = names_in(row.of, class_of, "switch", "given")
  local states = names_in(row.of, class_of, "state")
  if word == "slope" then
    fail("circuit: %s and a source form a loop of capacitors or a cut of inductors: it needs the derivative of the "
      .. "source, which jumps; add a resistance (%s)", states, source)
  elseif word == "switches" then
    fail("circuit: no choice of currents and voltages of %s determines the others; add a resistance", switches)
  end
  fail "circuit: sources contradict each other: a loop of voltage sources, or a cut of current sources"
end

-- The value of a function of time for an expression's sources: a number, or a function of time. Sources are finite;
-- their slopes need not be.
local function input_of(by, functions)
  local constant, list = by["1"] or 0, {}
  for _, one in ipairs(functions) do
    local c = by[one.name]
    if c then list[#list + 1] = { c, one.f, one.who } end
  end
  if #list == 0 then return constant end
  return function(t)
    local sum = constant
    for _, one in ipairs(list) do
      local y = one[2](t)
      if one[3] and y - y ~= 0 then -- nan or infinite
        fail("%s: t=%.10g: expected a finite number, got %s", one[3], t, y)
      end
      sum = sum + one[1] * y
    end
    return sum
  end
end

-- The sources of rows of inputs that depend on time: { row, name, f }, in an order that depends on names alone.
function model.inputs_in_time(list, functions)
  local terms = {}
  for i, by in ipairs(list) do
    for _, one in ipairs(functions) do
      if by[one.name] then terms[#terms + 1] = { i, one.name, one.f } end
    end
  end
  return terms
end

-- A vector of inputs; or a callback (t, z, out) when one depends on time, and z: the coefficients of the sources in
-- inputs_in_time, then the constants of the rows.
local function inputs_of(list, functions)
  local constants, z, n = {}, {}, #list
  for i, by in ipairs(list) do constants[i] = by["1"] or 0 end
  local terms = model.inputs_in_time(list, functions)
  if #terms == 0 then return constants end
  for k, term in ipairs(terms) do z[k] = list[term[1]][term[2]] end
  table.move(constants, 1, n, #z + 1, z)
  return function(t, coefficients, out)
    for i = 1, n do out[i] = coefficients[#terms + i] end
    for k, term in ipairs(terms) do out[term[1]] = out[term[1]] + coefficients[k] * term[3](t) end
  end, core.vector(z)
end

-- The bounds of lambda of a switch, which is w where `swapped`, j else; `on`: of its gate.
local function bounds_of(switch, swapped, on)
  local law = switch.law
  if law.limits then return law.limits[1], law.limits[2] end
  if on and not law.both or not law.gate then return 0, huge end
  local most = (on and true or false) ~= swapped and huge or 0
  return -most, most
end

-- Groups of rows that D joins: lists of numbers, in order.
local function groups_of(m, D)
  local rows, columns = {}, {}
  for i = 1, m do
    for j = 1, m do
      if D[i][j] ~= 0 then rows[#rows + 1], columns[#columns + 1] = i, j end
    end
  end
  return lists.parts(m, rows, columns)
end

-- A circuit without capacitors and inductors has algebraic equations alone: a state that stays 0 carries them.
function model.add_rest(self)
  local state, rate = self.stamps:unknown("x.rest", "state"), self.stamps:unknown("dx.rest", "rate")
  self.states[1], self.index[state] = { name = state, initial = 0 }, 1
  self.stamps.rate_of[state], self.solved[rate] = rate, { of = { [rate] = { 1.0, 0.0, 1, 1 } }, by = {} }
end

-- The numbers of the model: names, A, B, C, D, inputs of x' and y, initial states, and the expressions of the
-- columns. like (optional): the numbers of the same circuit with other values, which tell what is solved for.
function model.numbers(circuit, like)
  local stamps = new_stamps()
  for _, part in ipairs(circuit.parts) do parts[part.kind].stamp(part, stamps) end
  for _, node in ipairs(circuit.nodes) do
    if stamps.kcl[node] then stamps:equation(stamps.kcl[node]) end
  end
  local solved, word, row, source = reduction.reduce(stamps.rows, stamps.class_of, stamps.pairs, stamps.rate_of,
    stamps.slope_of, like and like.solved)
  if not solved then told(stamps, word, row, source) end
  local self = { states = {}, lambdas = {}, solved = solved, stamps = stamps, index = {} }
  for _, state in ipairs(stamps.states) do
    if not solved[state.name] then
      self.states[#self.states + 1] = state
      self.index[state.name] = #self.states
    end
  end
  if #self.states == 0 then model.add_rest(self) end
  for _, switch in ipairs(stamps.switches) do
    local lambda, y = switch.j, switch.w
    if solved[switch.j] then lambda, y = switch.w, switch.j end
    if not solved[y] then
      fail("circuit: neither the current nor the voltage of %s is determined; add a resistance", switch.name)
    end
    self.lambdas[#self.lambdas + 1] = { name = lambda, y = y, switch = switch, swapped = lambda == switch.w }
    self.index[lambda] = #self.lambdas
  end
  return self
end

-- The parts of an unknown: coefficients of the states, of lambda and, by name, of the sources. Raises when it is not
-- determined.
local function terms_of(self, unknown, place)
  local of, by = reduction.expression(self.solved, unknown, place)
  local x, lambda = {}, {}
  for i = 1, #self.states do x[i] = 0 end
  for i = 1, #self.lambdas do lambda[i] = 0 end
  for key, value in pairs(of) do
    local class, i = self.stamps.class_of[key], self.index[key]
    if not i then
      fail("circuit: '%s' is not determined: a part of the circuit has no resistance, source or capacitor to the "
        .. "rest", unknown)
    end
    if class == "state" then x[i] = value else lambda[i] = value end
  end
  return x, lambda, by
end

-- The same, with the input.
local function expression(self, unknown)
  local x, lambda, by = terms_of(self, unknown)
  return x, lambda, input_of(by, self.stamps.functions)
end

-- The matrices A, B, C, D, and for each row of x' and y the coefficients of the sources, by name. place: 1 or nil: as
-- doubles; 2: what doubles leave of them.
function model.matrices(self, place)
  local m = { A = {}, B = {}, C = {}, D = {}, b = {}, e = {} }
  for i, state in ipairs(self.states) do
    m.A[i], m.B[i], m.b[i] = terms_of(self, self.stamps.rate_of[state.name], place)
  end
  for k, one in ipairs(self.lambdas) do m.C[k], m.D[k], m.e[k] = terms_of(self, one.y, place) end
  return m
end

-- Checks that initial values which follow from others are those that the script has given.
local function check_initial(self, t0)
  for _, state in ipairs(self.stamps.states) do
    local given = state.initial
    if self.solved[state.name] and given then
      local x, _, input = expression(self, state.name)
      local value = type(input) == "function" and input(t0) or input
      local size = math.abs(value) + math.abs(given)
      for i, one in ipairs(self.states) do
        value, size = value + x[i] * (one.initial or 0), size + math.abs(x[i] * (one.initial or 0))
      end
      if math.abs(value - given) > 1e-9 * size then -- a part of the terms of both
        fail("circuit: %s: initial: it follows from the other parts, as %g; got %g", state.part.name, value, given)
      end
    end
  end
end

-- The rows of the relation and the columns of its input that belong to the numbers of lambda in a group.
function model.block(numbers, group)
  local block = { C = {}, D = {}, B = {}, e = {} }
  for r, k in ipairs(group) do
    block.C[r], block.e[r], block.D[r] = numbers.C[k], numbers.e[k], {}
    for c, j in ipairs(group) do block.D[r][c] = numbers.D[k][j] end
  end
  for i, row in ipairs(numbers.B) do
    block.B[i] = {}
    for c, j in ipairs(group) do block.B[i][c] = row[j] end
  end
  return block
end

-- The objects of nslua: ds, interactions with their numbers of lambda, and the names of the columns. from (optional):
-- x, the states at t0, and on, whether each switch is on, by its name.
function model.objects(ns, circuit, t0, from)
  local self = model.numbers(circuit)
  if not (from and from.x) then check_initial(self, t0) end
  local n, m = #self.states, #self.lambdas
  local x0, names = {}, {}
  for i, state in ipairs(self.states) do
    x0[i] = from and from.x and from.x[i] or state.initial or 0
    names[i] = state.part and parts[state.part.kind].state .. "." .. state.part.name or "rest"
  end
  local numbers = model.matrices(self)
  local C, D = numbers.C, numbers.D
  local input, z = inputs_of(numbers.b, self.stamps.functions)
  local system = z and ns.FirstOrderLinearDS or ns.FirstOrderLinearTIDS
  local ds = system { x0 = x0, A = numbers.A, b = input, name = circuit.name }
  if z then ds:setzPtr(z) end
  ds:setNames(names)
  local interactions, order, gates, place, switched = {}, {}, {}, {}, false
  local groups = groups_of(m, D)
  for g, group in ipairs(groups) do
    local block, lb, ub, who, plain = model.block(numbers, group), {}, {}, {}, true
    for r, k in ipairs(group) do
      local one = self.lambdas[k]
      who[r], place[k] = one.switch.name, { g, r }
      local gate = one.switch.law.gate
      local on = from and from.on[one.switch.name]
      if not from then on = gate and gate.on(t0) end
      lb[r], ub[r] = bounds_of(one.switch, one.swapped, on)
      plain = plain and not next(one.switch.law)
      if gate then
        local coils = {}
        for i, state in ipairs(self.states) do if C[k][i] ~= 0 then coils[#coils + 1] = state.part.name end end
        local fixed = one.swapped -- the current follows from the states alone
        for _, d in ipairs(D[k]) do fixed = fixed and d == 0 end
        switched = switched or not gate.free
        gates[#gates + 1] = { lambda = one, group = g, row = r, C = C[k], coils = fixed and #coils > 0 and coils }
      end
      order[#order + 1] = k
    end
    local law = plain and ns.ComplementarityConditionNSL(#group) or ns.RelayNSL(#group, lb, ub)
    local inputs, of_relation = inputs_of(block.e, self.stamps.functions)
    local relation = (of_relation and ns.FirstOrderLinearR or ns.FirstOrderLinearTIR) { C = block.C, D = block.D,
      B = block.B, e = inputs }
    if of_relation then relation:setzPtr(of_relation) end
    interactions[g] = ns.Interaction(law, relation, table.concat(who, "+"))
  end
  return { ds = ds, interactions = interactions, states = n, numbers = self, order = order, gates = gates,
    switched = switched, place = place, groups = groups, names = names }
end

-- Raises where an ideal switch opens while a current flows that no other path can take.
local function check_current(one, t, simulation, interaction)
  local current, terms = interaction:y(0)[one.row], 0
  local x = simulation:nsds():dynamicalSystem(1):x()
  for i, c in ipairs(one.C) do terms = terms + math.abs(c * x[i]) end
  if math.abs(current) <= 1e-9 * terms then return end -- the accuracy of a run
  fail("circuit: %s opens at t=%g while the current %g of %s flows through it; put a resistor or a diode beside it",
    one.lambda.switch.name, t, current, table.concat(one.coils, ", "))
end

-- turn(simulation, t, on) sets the gate of a row; ends(simulation, t) is for a part that latches, whose current has
-- ended. conducts(simulation): whether a current flows: its voltage is at the bound 0, or the current is not.
local function gate_of(objects, one, listen)
  local switch, swapped, row = one.lambda.switch, one.lambda.swapped, one.row
  local name, law = objects.interactions[one.group]:name(), switch.law
  local function conducts(simulation)
    return (simulation:nsds():interaction(name):lambda(0)[row] == 0) == swapped
  end
  local function set(t, simulation, on, ended)
    local interaction = simulation:nsds():interaction(name)
    if not on and one.coils and conducts(simulation) then check_current(one, t, simulation, interaction) end
    local lb, ub = bounds_of(switch, swapped, on)
    local bounds = interaction:nonSmoothLaw()
    if bounds:lb()[row] == lb and bounds:ub()[row] == ub then return end
    bounds:setLb(row, lb)
    bounds:setUb(row, ub)
    if listen then listen(t, switch.name, on, ended) end
  end
  return {
    name = name, conducts = conducts,
    turn = function(simulation, t, on)
      if on or not law.latches or not conducts(simulation) then set(t, simulation, on) end
    end,
    ends = function(simulation, t) set(t, simulation, false, true) end,
  }
end

-- model.set(objects, simulation, names, on): sets the constant gates of the switches with these names, in an action;
-- whether there was one.
function model.set(objects, simulation, names, on)
  local found = false
  for _, one in ipairs(objects.gates) do
    local switch, gate = one.lambda.switch, one.lambda.switch.law.gate
    if names[switch.name] and gate.free and not (switch.law.latches and gate.on()) then
      gate_of(objects, one).turn(simulation, simulation:startingTime(), on)
      found = true
    end
  end
  return found
end

-- Adds clocks and events of gates to a simulation and, of parts that latch, events where a current ends. listen
-- (optional): called with t, the name of a switch, whether it is on from there, and whether a current has ended.
function model.attach(objects, simu, listen)
  local watched = {}
  for _, one in ipairs(objects.gates) do
    local switch, swapped, row = one.lambda.switch, one.lambda.swapped, one.row
    local law, of = switch.law, gate_of(objects, one, listen)
    local gate = law.gate
    attach_gate(simu, switch.name, gate, of.turn)
    if law.latches and not (gate.free and gate.on()) then
      local kind = swapped and "close" or "open" -- a current ends where its law becomes 0 = y, or lambda = 0
      local key = of.name .. ":" .. kind
      watched[key] = watched[key] or { of.name, kind, swapped }
      table.insert(watched[key], function(t, simulation, rows)
        local ends = rows[row] or not of.conducts(simulation)
        if ends and not (gate.is_on_after or gate.on)(t) then of.ends(simulation, t) end
      end)
    end
  end
  for _, list in pairs(watched) do
    local name, kind, swapped = table.unpack(list, 1, 3)
    simu:on(name, kind, function(t, simulation)
      local rows = swapped and rows_of_events(simulation, name) or {}
      for i = 4, #list do list[i](t, simulation, rows) end
    end)
  end
end

-- The sources of a model, and derivatives of sources that it needs, which are signals.
function model.signals(objects)
  local list, seen = {}, {}
  for _, one in ipairs(objects.numbers.stamps.functions) do
    for _, row in pairs(signals.is(one.f) and objects.numbers.solved or {}) do
      if row.by[one.name] and not seen[one] then list[#list + 1], seen[one] = one.f, true end
    end
  end
  return list
end

-- The columns of a solution: potentials, currents and powers by name.
function model.columns(objects, circuit, sol)
  local numbers = objects.numbers
  local rows, t = #sol.t, sol.t
  local names, columns, by_name = { "t" }, { t }, {}
  local function put(name, column) names[#names + 1], columns[#columns + 1], by_name[name] = name, column, column end
  local place = {}
  for k, j in ipairs(objects.order) do place[j] = k end
  for _, unknown in ipairs(numbers.stamps.inner) do
    if not unknown:find "^w%." then
      local x, lambda, input = expression(numbers, unknown)
      local sum = core.full(rows, type(input) == "number" and input or 0)
      for k = 1, type(input) == "function" and rows or 0 do sum[k] = signals.at_row(t, k, input, t[k]) end
      for i, c in ipairs(x) do
        if c ~= 0 then sum = sum + c * sol.x:column(i) end
      end
      for j, c in ipairs(lambda) do
        if c ~= 0 then sum = sum + c * sol.lambda:column(place[j]) end
      end
      put(unknown, sum)
    end
  end
  for _, part in ipairs(circuit.parts) do
    if #part.nodes == 2 then
      local function v(node) return by_name["v." .. node] or core.full(rows, 0) end
      local i = by_name["i." .. part.name]
      put("p." .. part.name, i:mul(v(part.nodes[1]) - v(part.nodes[2])))
    end
  end
  return names, columns
end

return model
