-- nslua.circuit: electric circuits from their parts.
--
--   local c = ns.circuit()
--   c:voltage("V1", "in", "0", { amplitude = 10, frequency = 50 })
--   c:diode("D1", "in", "out")
--   c:capacitor("C1", "out", "0", 1e-3)
--   c:resistor("R1", "out", "0", 100)
--   local sol = c:run { stop = 0.1, step = 1e-3 }
--   sol["v.out"], sol["i.D1"], sol["p.R1"]
--
-- Nodes are names, the ground is "0". A current is positive from the first node of a part through it to the second.
-- The equations are made by nslua.circuit.parts and solved for states and switches by nslua.circuit.reduction.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local drawing = require "nslua.network.drawing"
local figures = require "nslua.circuit.figures"
local lists = require "nslua.base.lists"
local model = require "nslua.circuit.model"
local kinds = require "nslua.circuit.parts"
local values = require "nslua.network.values"
local sensitivity = require "nslua.circuit.sensitivity"
local where = require "nslua.base.where"

local fail, reject = arguments.fail, arguments.reject
local check_name, node_name, options_of = drawing.check_name, drawing.node_name, drawing.options
local who_of = drawing.who_of

return function(ns)
  local Circuit = { __name = "circuit" }
  Circuit.__index = Circuit

  -- ---- parts ----

  -- A part made of pieces { kind, first node, second node, values of its own }, which have the values of the part
  -- where they have none; its current is what flows through all of them. pieces.names: the ends of their names.
  local function assembly(self, kind, name, nodes, part, pieces)
    check_name(self, kind, name, "", table.unpack(pieces.names))
    drawing.add(self, pieces.kind, name, nodes, 2, part)
    part.pieces = {}
    for i, piece in ipairs(pieces) do
      drawing.add(self, piece[1], name .. pieces.names[i], { piece[2], piece[3] }, 2,
        setmetatable(piece[4] or {}, { __index = part }))
      part.pieces[i] = self.parts[#self.parts]
    end
    return self
  end

  local function add(self, kind, name, nodes, part)
    local pieces = kinds[kind].pieces and kinds[kind].pieces(part, nodes[1], nodes[2])
    if pieces then return assembly(self, kind, name, nodes, part, pieces) end
    return drawing.add(self, kind, name, nodes, kinds[kind].terminals, part)
  end

  drawing.constructors(ns, Circuit, kinds, add)

  -- couple(first, second, k): two inductors share flux, M = k sqrt(L1 L2).
  function Circuit:couple(first, second, k)
    local function coil(what, name)
      local part = self.named[name]
      reject(not part or not kinds[part.kind].couples, name, "couple: %s: expected the name of an inductor", what)
      return part
    end
    local one, two = coil("first", first), coil("second", second)
    if one == two then fail("couple: expected two inductors, got '%s' twice", first) end
    values.finite(k, "couple", "k")
    if k <= -1 or k >= 1 or k == 0 then fail("couple: k: expected a number between -1 and 1, not 0, got %g", k) end
    one.couplings, two.couplings = one.couplings or {}, two.couplings or {}
    for _, coupling in ipairs(one.couplings) do
      if coupling[1] == two then fail("couple: '%s' and '%s' are coupled already", first, second) end
    end
    one.couplings[#one.couplings + 1], two.couplings[#two.couplings + 1] = { two, k }, { one, k }
    self.made = false
    return self
  end

  -- opamp(name, plus, minus, out [, { limits = { lo, hi } }])
  function Circuit:opamp(name, plus, minus, out, options)
    local who = who_of("opamp", name)
    local o, part = options_of(who, options, "limits"), {}
    if o.limits ~= nil then
      part.limits = arguments.increasing(o.limits, 2, who, "limits")
      if #part.limits ~= 2 then fail("%s: limits: expected two numbers, got %d", who, #part.limits) end
    end
    if node_name(who, out) == "0" then fail("%s: out: expected a node other than the ground", who) end
    return add(self, "opamp", name, { plus, minus, out }, part)
  end

  -- read(file): adds the parts of a SPICE deck; what .tran tells is the default of simulation and run.
  function Circuit:read(file)
    if type(file) ~= "string" then fail("read: file: expected a string, got %s", type(file)) end
    local text, reason = arguments.content(file)
    if not text then fail("read: cannot read %s: %s", file, reason) end
    self.tran = require "nslua.circuit.spice"(self, file:match "[^/]*$", text) or self.tran
    return self
  end

  -- ---- the model ----

  -- The nodes, as a list for messages, that parts do not join to the ground; nil: there are none. open: without
  -- those parts that have no conductance while they block.
  local function floating_nodes(self, open)
    local number, first, second, grounded, list = { ["0"] = 1 }, {}, {}, {}, {}
    for i, node in ipairs(self.nodes) do number[node] = i + 1 end
    for _, part in ipairs(self.parts) do
      local joins = kinds[part.kind].joins or { [1] = 2 }
      for a, b in pairs(open and part.conductance == 0 and {} or joins) do
        first[#first + 1], second[#second + 1] = number[part.nodes[a]], number[b == 0 and "0" or part.nodes[b]]
      end
    end
    for _, i in ipairs(lists.parts(#self.nodes + 1, first, second)[1]) do grounded[i] = true end
    for i, node in ipairs(self.nodes) do
      if not grounded[i + 1] then list[#list + 1] = "'" .. node .. "'" end
    end
    return #list > 0 and (#list == 1 and "node " or "nodes ") .. table.concat(list, ", ") or nil
  end

  -- Raises when nothing joins a node to the ground.
  local function check_nodes(self)
    local floating = floating_nodes(self)
    if floating then fail("circuit: nothing joins %s to the ground '0'", floating) end
  end

  -- Raises when currents of coupled inductors could have a negative energy. Pairs alone can not: |k| < 1.
  local function check_couplings(self)
    local coils, place, names = {}, {}, {}
    for _, part in ipairs(self.parts) do
      if part.couplings and #part.couplings > 0 then
        coils[#coils + 1], names[#names + 1] = part, part.name
        place[part] = #coils
      end
    end
    local K = core.matrix(#coils, #coils)
    for i, coil in ipairs(coils) do
      K[i][i] = 1
      for _, one in ipairs(coil.couplings) do K[i][place[one[1]]] = one[2] end
    end
    if #coils > 2 and not where.try(ns.cholesky, K) then
      fail("circuit: couplings of %s: expected numbers k whose matrix is positive definite",
        table.concat(names, ", "))
    end
  end

  -- Part of a run below which a time constant tells nothing, and costs steps and digits.
  local SHORT = 1e-9

  -- The first coil that has only leaks of parts that block at one of its ends, with a time constant L G that is short
  -- beside the run, as a text; nil: there is none.
  local function short_leak(self, span)
    for _, coil in ipairs(self.parts) do
      for _, node in ipairs(kinds[coil.kind].state == "i" and coil.nodes or {}) do
        local leaks, names = 0, {}
        for _, part in ipairs(self.parts) do
          local at = false
          for _, other in ipairs(part ~= coil and not part.pieces and part.nodes or {}) do
            at = at or other == node
          end
          if at and part.conductance then leaks, names[#names + 1] = leaks + part.conductance, part.name end
          if at and not part.conductance then leaks = 0 / 0 end
        end
        if node ~= "0" and leaks > 0 and coil.value * leaks < SHORT * span then
          return ("%s behind the leaks of %s has a time constant of %g s: leave their conductance out, or put a "
            .. "resistor beside %s"):format(coil.name, table.concat(names, ", "), coil.value * leaks, coil.name)
        end
      end
    end
  end

  -- Where the engine can not go on: nodes that only ideal parts join to the ground have no potential while these
  -- block; and leaks behind coils.
  local function advice(self, message)
    local floating, short = floating_nodes(self, true), short_leak(self, self.span)
    if short then return message .. "; " .. short end
    return floating and ("%s; %s can float while diodes and switches block: give these a conductance, as 1e-9")
      :format(message, floating) or message
  end

  drawing.methods(ns, Circuit, {
    objects = function(self, t0)
      check_nodes(self)
      check_couplings(self)
      return model.objects(ns, self, t0)
    end,
    linear = true, signals = model.signals, attach = model.attach, columns = model.columns, advice = advice,
    integrator = function()
      local integrator = ns.RadauOSI()
      integrator:setAmbiguity "leave" -- an amplifier with positive feedback goes to a limit
      return integrator
    end,
  })

  -- run { ..., sensitivities = { "R1", ... } }: also returns the derivatives of the states by parts.
  local plain_run = Circuit.run
  function Circuit:run(options)
    local names = type(options) == "table" and options.sensitivities
    local rest, tran = options, self.tran or {}
    if names then
      rest = {}
      for key, value in pairs(options) do rest[key] = value end
      rest.sensitivities, rest.rtol, rest.on_grazing = nil, nil, nil
    end
    local columns, sol = plain_run(self, rest)
    self.last = columns
    if not names then return columns, sol end
    return columns, sol, sensitivity.run(ns, self, names, rest.start or 0, rest.stop or tran.stop,
      rest.step or tran.step, options)
  end

  -- gradient { stop =, step =, cost =, terminal =, parameters = { "R1", ... } }
  function Circuit:gradient(options)
    local o, rest = drawing.options("gradient", options, "start stop step integrator cost terminal parameters"), {}
    for _, key in ipairs { "start", "stop", "step", "integrator" } do rest[key] = o[key] end
    self:simulation(rest) -- checks them
    local tran = self.tran or {}
    return sensitivity.gradient(ns, self, o.parameters, o.start or 0, o.stop or tran.stop, o.step or tran.step, o)
  end

  -- parameter(name): for ns.fit.
  function Circuit:parameter(name)
    if not self.made then fail "parameter: expected a simulation of this circuit: call simulation or system first" end
    return sensitivity.parameter(self, name)
  end

  -- set(simulation, name, on): turns a switch with a constant gate on or off, in an action.
  function Circuit:set(simulation, name, on)
    if not self.made then fail "set: expected a model: call simulation, system or run first" end
    reject(not arguments.is_simulation(simulation), simulation, "set: expected a simulation")
    drawing.need_model(simulation, self.made.ds, "set", "circuit")
    reject(type(on) ~= "boolean", on, "set: expected true or false")
    local part, names = self.named[name], { [type(name) == "string" and name] = true }
    for _, piece in ipairs(part and part.pieces or {}) do names[piece.name] = true end
    reject(not model.set(self.made, simulation, names, on), name,
      "set: expected the name of a switch, igbt or mosfet whose gate is true or false, or of a thyristor or triac "
      .. "whose gate is false")
  end

  -- plot { "v.out", "i.L1", ... }, harmonics(name, { frequency = }), switching_losses(part, { on =, off =, voltage =,
  -- current = }), efficiency(sources, loads): of the last run.
  for name, known in pairs { plot = "columns figsize title", harmonics = "frequency count periods columns",
    switching_losses = "on off voltage current span columns" } do
    Circuit[name] = function(self, what, options)
      return figures[name](self, what, drawing.options(name, options, known), ns)
    end
  end

  function Circuit:efficiency(sources, loads, options)
    return figures.efficiency(self, sources, loads, drawing.options("efficiency", options, "span columns"))
  end

  where.methods(Circuit, "a circuit", "c")

  -- circuit([{ name = "circuit" }])
  return function(options) return drawing.new(Circuit, options) end
end
