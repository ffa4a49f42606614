-- nslua.circuit.parts: the kinds of parts of circuits. One entry is one kind.
--
-- An entry has `terminals`, the number of its nodes; `takes`, `options` and `check`, as nslua.network.drawing tells
-- (absent: a method of its own makes it); `joins`, pairs of terminals (0: the ground) between which it carries a
-- current or sets a voltage, { [1] = 2 } where it is absent; `state`, the letter of its state; `couples`, of a coil;
-- `pieces`, pieces(part, a, b) of a part that is made of others; and
-- stamp(part, s), which writes the equations of a part by the methods of s:
--
--   s:equation(of [, by])           sum of of[unknown] * unknown = sum of by[source] * source
--   s:potential(node)               the unknown potential of a node; nil: the ground
--   s:current(part, from, to [, k]) an unknown current that leaves the node `from` into the part and enters `to`
--   s:state(part, initial)          an unknown state and its rate
--   s:switch(part, law [, k])       the two unknowns j and w of a switch; the law says what holds between them:
--                                     { }                 0 <= j, 0 <= w, j w = 0: a diode
--                                     { limits = {a, b} } j in [a, b], w >= 0 at a, w <= 0 at b, else w = 0
--                                     { gate = g, both = true }   w = 0 while g is on, j = 0 while it is not
--                                     { gate = g }        a diode while g is on, j = 0 while it is not
--                                     { gate = g, latches = true }   the same, and until j = 0 after that
--   s:source(value)                 the right-hand side with this value
--
-- A current is positive from the first terminal through the part to the second.

local arguments = require "nslua.base.arguments"
local values = require "nslua.network.values"

local fail, expect, reject = arguments.fail, arguments.expect, arguments.reject

local parts = {}

-- ---- what parts take ----

local function source_of(value, who, _, part, _, ns)
  part.source = values.read(value, who, nil, ns)
  return type(part.source.f) == "number" and part.source.f or part.source
end

local function part_called(name, who, what, _, self)
  reject(not self.named[name], name, "%s: %s: expected the name of a part", who, what)
  return self.named[name]
end

local function boolean(value, who, name)
  return expect(value, "boolean", "%s: %s: expected true or false", who, name)
end

-- The two lines of a part that conducts or blocks: resistance while it conducts, conductance while it blocks.
local function check_lines(part, who)
  part.forward = part.forward or 0
  if part.resistance * part.conductance >= 1 then
    fail("%s: expected resistance * conductance below 1, got %g", who, part.resistance * part.conductance)
  end
end

local knee_at = { "forward", values.at_least(0), 0 }
local resistance, conductance = { "resistance", values.at_least(0), 0 }, { "conductance", values.at_least(0), 0 }
local lines, initial = { knee_at, resistance, conductance }, { { "initial", values.finite } }
local gate, gain, source = { "gate", values.gate }, { "value", values.finite, "gain" }, { { "value", source_of } }
local by_current = { { "sense", part_called, "part" }, gain }

local function positive(name) return { { "value", values.positive, name } } end

-- ---- equations ----

-- v(a) - v(b) as coefficients, plus others.
local function voltage(s, a, b, others)
  local of = others or {}
  local va, vb = s:potential(a), s:potential(b)
  if va then of[va] = (of[va] or 0) + 1 end
  if vb then of[vb] = (of[vb] or 0) - 1 end
  return of
end

parts.resistor = { terminals = 2, takes = positive "R", stamp = function(part, s)
  local a, b = part.nodes[1], part.nodes[2]
  s:equation(voltage(s, a, b, { [s:current(part, a, b)] = -part.value }))
end }

parts.capacitor = { terminals = 2, takes = positive "C", options = initial, state = "u", stamp = function(part, s)
  local a, b = part.nodes[1], part.nodes[2]
  local x, rate = s:state(part, part.initial)
  s:equation(voltage(s, a, b, { [x] = -1 }))
  s:equation { [s:current(part, a, b)] = 1, [rate] = -part.value }
end }

-- couplings: { { other inductor, k }, ... } or nil
parts.inductor = { terminals = 2, takes = positive "L", options = initial, state = "i", couples = true }
function parts.inductor.stamp(part, s)
  local a, b = part.nodes[1], part.nodes[2]
  local x, rate = s:state(part, part.initial)
  local of = { [rate] = -part.value }
  for _, one in ipairs(part.couplings or {}) do
    local _, other = s:state(one[1], one[1].initial)
    of[other] = (of[other] or 0) - one[2] * math.sqrt(part.value * one[1].value)
  end
  s:equation(voltage(s, a, b, of))
  s:equation { [s:current(part, a, b)] = 1, [x] = -1 }
end

-- Ideal: v1 = n v2, i2 = -n i1.
parts.transformer = { terminals = 4, takes = { { "value", values.not_zero, "n" } }, joins = { [1] = 2, [3] = 4 } }
function parts.transformer.stamp(part, s)
  local a, b, c, d = table.unpack(part.nodes)
  local first, second = s:current(part, a, b), s:current(part, c, d, 2)
  local of, other = voltage(s, a, b), voltage(s, c, d)
  for unknown, value in pairs(other) do of[unknown] = (of[unknown] or 0) - part.value * value end
  s:equation(of)
  s:equation { [second] = 1, [first] = part.value }
end

parts.voltage = { terminals = 2, takes = source, stamp = function(part, s)
  local a, b = part.nodes[1], part.nodes[2]
  s:current(part, a, b)
  s:equation(voltage(s, a, b), s:source(part.value))
end }

parts.current = { terminals = 2, takes = source, stamp = function(part, s)
  s:equation({ [s:current(part, part.nodes[1], part.nodes[2])] = 1 }, s:source(part.value))
end }

-- Controlled sources: what controls is the voltage of the second pair of nodes, or the current of the part `sense`.
local function controlled(output, input)
  return function(part, s)
    local a, b = part.nodes[1], part.nodes[2]
    local i = s:current(part, a, b)
    local of = output == "voltage" and voltage(s, a, b) or { [i] = 1 }
    local sensed = input == "voltage" and voltage(s, part.nodes[3], part.nodes[4])
      or { [s:current_of(part.sense)] = 1 }
    for unknown, value in pairs(sensed) do of[unknown] = (of[unknown] or 0) - part.value * value end
    s:equation(of)
  end
end
parts.vcvs = { terminals = 4, takes = { gain }, stamp = controlled("voltage", "voltage") }
parts.vccs = { terminals = 4, takes = { gain }, stamp = controlled("current", "voltage") }
parts.ccvs = { terminals = 2, takes = by_current, stamp = controlled("voltage", "current") }
parts.cccs = { terminals = 2, takes = by_current, stamp = controlled("current", "current") }

-- Two lines that meet at the knee v = forward: below it i = conductance v, above it v - forward = resistance
-- (i - conductance forward). So i = conductance v + j with a switch (j, w): w = forward + series j - v. sign = -1:
-- the part lies in reverse.
local function knee(part, s, i_terms, law, k, forward, sign)
  local a, b = part.nodes[1], part.nodes[2]
  local j, w = s:switch(part, law, k)
  local series = part.resistance / (1 - part.resistance * part.conductance)
  local of = { [w] = sign or 1, [j] = -series * (sign or 1) }
  s:equation(voltage(s, a, b, of), s:source(forward * (sign or 1)))
  i_terms[j] = -(sign or 1)
end

-- i - conductance v - the currents of the switches = 0
local function shunt(part, s, i_terms)
  local a, b = part.nodes[1], part.nodes[2]
  local of = voltage(s, a, b)
  for unknown, value in pairs(of) do i_terms[unknown] = -part.conductance * value end
  i_terms[s:current(part, a, b)] = 1
  s:equation(i_terms)
end

parts.diode = { terminals = 2, takes = {}, options = lines, check = check_lines, stamp = function(part, s)
  local terms = {}
  knee(part, s, terms, {}, nil, part.forward)
  shunt(part, s, terms)
end }

-- A diode that also conducts in reverse, above the breakdown voltage.
parts.zener = { terminals = 2, takes = { { "breakdown", values.positive } }, options = lines, check = check_lines }
function parts.zener.stamp(part, s)
  local terms = {}
  knee(part, s, terms, {}, nil, part.forward)
  knee(part, s, terms, {}, 2, part.breakdown, -1)
  shunt(part, s, terms)
end

-- Parts with a gate. While it is on, a switch conducts both ways, an igbt from a to b; a thyristor does so from then
-- until the current ends.
for kind, law in pairs { switch = { both = true }, igbt = {}, thyristor = { latches = true } } do
  parts[kind] = { terminals = 2, takes = { gate }, options = lines, check = check_lines, stamp = function(part, s)
    local terms = {}
    knee(part, s, terms, { gate = part.gate, both = law.both, latches = law.latches }, nil, part.forward)
    shunt(part, s, terms)
  end }
end

parts.switch.options = { resistance, conductance }
parts.igbt.options = { knee_at, resistance, conductance, { "body", boolean } }

-- A piece that conducts through the gate, and a diode NAME_body against it.
local function with_body(kind, channel, a, b, own)
  return { kind = kind, names = { "_channel", "_body" }, { channel, a, b, own },
    { "diode", b, a, { resistance = 0, conductance = 0 } } }
end

local pieces = {
  mosfet = function(_, a, b) return with_body("mosfet", "switch", a, b, { forward = 0 }) end,
  triac = function(_, a, b)
    return { kind = "triac", names = { "_1", "_2" }, { "thyristor", a, b }, { "thyristor", b, a } }
  end,
}

function parts.igbt.pieces(part, a, b) return part.body and with_body("igbt module", "igbt", a, b) end

-- Parts made of pieces: their current is what flows through all of these, from their first node on. A mosfet (drain,
-- source) is a switch NAME_channel with a diode NAME_body from b to a, a triac two thyristors, NAME_1 from a to b and
-- NAME_2 from b to a.
for _, kind in ipairs { "mosfet", "igbt module", "triac" } do
  parts[kind] = { terminals = 2, joins = {}, pieces = pieces[kind], stamp = function(part, s)
    local of = { [s:current(part)] = 1 }
    for _, piece in ipairs(part.pieces) do
      of[s:current_of(piece)] = piece.nodes[1] == part.nodes[1] and -1 or 1
    end
    s:equation(of)
  end }
end
for _, kind in ipairs { "mosfet", "triac" } do
  parts[kind].takes, parts[kind].options, parts[kind].check = { gate }, lines, check_lines
end

-- The output is what makes the inputs equal, between its limits.
parts.opamp = { terminals = 3, joins = { [3] = 0 }, stamp = function(part, s)
  local plus, minus, out = table.unpack(part.nodes)
  local v = s:potential(out)
  s:current(part, out, nil)
  if not part.limits then return s:equation(voltage(s, plus, minus)) end
  local j, w = s:switch(part, { limits = part.limits })
  s:equation { [v] = 1, [j] = -1 }
  s:equation(voltage(s, plus, minus, { [w] = 1 }))
end }

return parts
