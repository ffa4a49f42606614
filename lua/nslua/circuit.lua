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
local model = require "nslua.circuit.model"
local kinds = require "nslua.circuit.parts"
local where = require "nslua.base.where"

local fail, describe = arguments.fail, arguments.describe
local finite, positive = model.values.finite, model.values.positive

return function(ns)
  local Circuit = { __name = "circuit" }
  Circuit.__index = Circuit

  local function node_name(who, value)
    local name = math.type(value) == "integer" and tostring(value) or value
    if type(name) ~= "string" or name == "" then fail("%s: node: expected a name, got %s", who, describe(value)) end
    if name:find "[%s.]" then fail("%s: node: expected a name without blanks and points, got '%s'", who, name) end
    return name == "gnd" and "0" or name
  end

  -- The names of a part, and of a part that is two, with these ends; raises where one can not be taken.
  local function check_name(self, kind, name, ...)
    if type(name) ~= "string" or not name:find "^[%w_]+$" then
      fail("%s: name: expected letters, digits and underscores, got %s", kind, describe(name))
    end
    local who = ("%s '%s'"):format(kind, name)
    for _, ending in ipairs { ... } do
      local other = self.named[name .. ending]
      if other then fail("%s: there is a part '%s' already, a %s", who, other.name, other.kind) end
    end
    return who
  end

  -- Checks the name and the nodes of a part, and appends it.
  local function add(self, kind, name, nodes, part)
    local who = check_name(self, kind, name, "")
    part.kind, part.name, part.nodes = kind, name, {}
    for i = 1, kinds[kind].terminals do part.nodes[i] = node_name(who, nodes[i]) end
    if #part.nodes == 2 and part.nodes[1] == part.nodes[2] then
      fail("%s: expected two different nodes, got '%s' twice", who, part.nodes[1])
    end
    for _, node in ipairs(part.nodes) do
      if node ~= "0" and not self.seen[node] then
        self.seen[node] = true
        self.nodes[#self.nodes + 1] = node
      end
    end
    self.parts[#self.parts + 1], self.named[name], self.made = part, part, nil
    return self
  end

  local function who_of(kind, name) return ("%s '%s'"):format(kind, tostring(name)) end

  local function options_of(who, options, known)
    if options == nil then return {} end
    if type(options) ~= "table" then fail("%s: options: expected a table, got %s", who, type(options)) end
    return model.values.fields(options, known, who)
  end

  -- ---- parts ----

  function Circuit:resistor(name, a, b, R)
    return add(self, "resistor", name, { a, b }, { value = positive(R, who_of("resistor", name), "R") })
  end

  -- A capacitor or an inductor, with an initial voltage or current.
  local function storage(kind, letter)
    return function(self, name, a, b, value, options)
      local who = who_of(kind, name)
      local o = options_of(who, options, "initial")
      return add(self, kind, name, { a, b }, { value = positive(value, who, letter), couplings = {},
        initial = o.initial ~= nil and finite(o.initial, who, "initial") or nil })
    end
  end
  Circuit.capacitor, Circuit.inductor = storage("capacitor", "C"), storage("inductor", "L")

  local function part_called(self, who, what, name, kind)
    local part = self.named[name]
    if not part or kind and kinds[part.kind] ~= kinds[kind] then
      fail("%s: %s: expected the name of %s, got %s", who, what, kind and "an " .. kind or "a part", describe(name))
    end
    return part
  end

  -- couple(first, second, k): two inductors share flux, M = k sqrt(L1 L2).
  function Circuit:couple(first, second, k)
    local one, two = part_called(self, "couple", "first", first, "inductor"),
      part_called(self, "couple", "second", second, "inductor")
    if one == two then fail("couple: expected two inductors, got '%s' twice", first) end
    finite(k, "couple", "k")
    if k <= -1 or k >= 1 or k == 0 then fail("couple: k: expected a number between -1 and 1, not 0, got %g", k) end
    for _, coupling in ipairs(one.couplings) do
      if coupling[1] == two then fail("couple: '%s' and '%s' are coupled already", first, second) end
    end
    local M = k * math.sqrt(one.value * two.value)
    one.couplings[#one.couplings + 1], two.couplings[#two.couplings + 1] = { two, M }, { one, M }
    self.made = nil
    return self
  end

  -- transformer(name, a, b, c, d, n): ideal, v(a, b) = n v(c, d).
  function Circuit:transformer(name, a, b, c, d, n)
    local who = who_of("transformer", name)
    if finite(n, who, "n") == 0 then fail("%s: n: expected a number other than 0", who) end
    return add(self, "transformer", name, { a, b, c, d }, { value = n })
  end

  local function source_of(kind)
    return function(self, name, a, b, value)
      local f, slope, corners = model.values.read(value, who_of(kind, name))
      return add(self, kind, name, { a, b }, { value = type(f) == "number" and f or { f = f, slope = slope,
        corners = corners } })
    end
  end
  Circuit.voltage, Circuit.current = source_of "voltage", source_of "current"

  -- vcvs, vccs(name, a, b, c, d, gain) are controlled by v(c, d); ccvs, cccs(name, a, b, part, gain) by i.part.
  for _, kind in ipairs { "vcvs", "vccs" } do
    Circuit[kind] = function(self, name, a, b, c, d, gain)
      return add(self, kind, name, { a, b, c, d }, { value = finite(gain, who_of(kind, name), "gain") })
    end
  end
  for _, kind in ipairs { "ccvs", "cccs" } do
    Circuit[kind] = function(self, name, a, b, sense, gain)
      local who = who_of(kind, name)
      return add(self, kind, name, { a, b }, { value = finite(gain, who, "gain"),
        sense = part_called(self, who, "part", sense) })
    end
  end

  -- The two lines of a part that conducts or blocks: resistance while it conducts, conductance while it blocks.
  local function lines(who, o)
    local part = { resistance = finite(o.resistance or 0, who, "resistance"),
      conductance = finite(o.conductance or 0, who, "conductance"), forward = finite(o.forward or 0, who, "forward") }
    for _, key in ipairs { "resistance", "conductance", "forward" } do
      if part[key] < 0 then fail("%s: %s: expected 0 or more, got %g", who, key, part[key]) end
    end
    if part.resistance * part.conductance >= 1 then
      fail("%s: expected resistance * conductance below 1, got %g", who, part.resistance * part.conductance)
    end
    return part
  end

  function Circuit:diode(name, a, b, options)
    local who = who_of("diode", name)
    return add(self, "diode", name, { a, b }, lines(who, options_of(who, options, "forward resistance conductance")))
  end

  function Circuit:zener(name, a, b, breakdown, options)
    local who = who_of("zener", name)
    local part = lines(who, options_of(who, options, "forward resistance conductance"))
    part.breakdown = positive(breakdown, who, "breakdown")
    return add(self, "zener", name, { a, b }, part)
  end

  -- switch, igbt, thyristor(name, a, b, gate [, options]): they conduct both ways while the gate is on; from a to b
  -- while it is on; from a to b from when it is on until the current ends.
  for kind, known in pairs { switch = "resistance conductance", igbt = "forward resistance conductance",
    thyristor = "forward resistance conductance" } do
    Circuit[kind] = function(self, name, a, b, gate, options)
      local who = who_of(kind, name)
      local part = lines(who, options_of(who, options, known))
      part.gate = model.values.gate(gate, who)
      return add(self, kind, name, { a, b }, part)
    end
  end

  -- mosfet(name, drain, source, gate): a switch, and a diode NAME_body from source to drain.
  function Circuit:mosfet(name, drain, source, gate, options)
    local who = check_name(self, "mosfet", name, "", "_body")
    local o = lines(who, options_of(who, options, "forward resistance conductance"))
    self:switch(name, drain, source, gate, { resistance = o.resistance, conductance = o.conductance })
    return self:diode(name .. "_body", source, drain, { forward = o.forward })
  end

  -- triac(name, a, b, gate): two thyristors, NAME_1 from a to b and NAME_2 from b to a.
  function Circuit:triac(name, a, b, gate, options)
    check_name(self, "triac", name, "_1", "_2")
    return self:thyristor(name .. "_1", a, b, gate, options):thyristor(name .. "_2", b, a, gate, options)
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
    local handle, why = io.open(file)
    if not handle then fail("read: cannot read %s", why) end
    local text = handle:read "a"
    handle:close()
    self.tran = require "nslua.circuit.spice"(self, file:match "[^/]*$", text) or self.tran
    return self
  end

  -- ---- the model ----

  -- The nodes, as a list for messages, that parts do not join to the ground; nil: there are none. open: without
  -- those parts that have no conductance while they block.
  local function floating_nodes(self, open)
    local root = { ["0"] = "0" }
    local function find(node)
      while root[node] ~= node do node = root[node] end
      return node
    end
    for _, node in ipairs(self.nodes) do root[node] = node end
    for _, part in ipairs(self.parts) do
      local joins = kinds[part.kind].joins or { [1] = 2 }
      if open and part.conductance == 0 then joins = {} end
      for first, second in pairs(joins) do
        local a, b = find(part.nodes[first]), find(second == 0 and "0" or part.nodes[second])
        if a ~= b then root[a] = b end
      end
    end
    local list = {}
    for _, node in ipairs(self.nodes) do
      if find(node) ~= find "0" then list[#list + 1] = "'" .. node .. "'" end
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
      for _, one in ipairs(coil.couplings) do K[i][place[one[1]]] = one[2] / math.sqrt(coil.value * one[1].value) end
    end
    if #coils > 2 and not where.try(ns.cholesky, K) then
      fail("circuit: couplings of %s: expected numbers k whose matrix is positive definite",
        table.concat(names, ", "))
    end
  end

  -- The objects of the present parts; made anew when parts have been added.
  local function made(self, t0)
    if #self.parts == 0 then fail "circuit: it has no parts" end
    check_nodes(self)
    check_couplings(self)
    return model.objects(ns, self, t0)
  end

  -- system(): the system, its interactions and, from t0 to T, a graph that holds them; new ones at each call.
  function Circuit:system(t0, T)
    t0 = finite(t0 or 0, "system", "t0")
    if T ~= nil and finite(T, "system", "T") <= t0 then
      fail("system: T: expected a time after t0 = %g, got %g", t0, T)
    end
    local objects = made(self, t0)
    self.made = objects
    local nsds
    if T then
      nsds = ns.NonSmoothDynamicalSystem(t0, T)
      nsds:insertDynamicalSystem(objects.ds)
      for _, one in ipairs(objects.interactions) do nsds:link(one, objects.ds) end
    end
    return objects.ds, objects.interactions, nsds
  end

  -- The times of the grid: equal steps, and the corners of sources.
  local function grid_of(self, start, stop, step)
    local corners = model.corners(self.made.numbers, start, stop)
    local n = math.max(1, math.floor((stop - start) / step + 0.5))
    if #corners == 0 then return ns.TimeDiscretisation(start, (stop - start) / n) end
    local points, k = { start }, 1
    for i = 1, n do
      local t = i == n and stop or start + (stop - start) * (i / n)
      while corners[k] and corners[k] < t do
        if corners[k] - points[#points] > 1e-6 * step then points[#points + 1] = corners[k] end -- of a step
        k = k + 1
      end
      if t - points[#points] <= 1e-6 * step then points[#points] = t else points[#points + 1] = t end
    end
    return ns.TimeDiscretisation(points)
  end

  -- simulation { stop =, step =, start = 0, integrator = ns.RadauOSI() }: from event to event; in equal steps with an
  -- integrator that does not locate events, and method = ns.TimeStepping.
  function Circuit:simulation(options)
    local o, tran = options_of("simulation", options, "start stop step integrator method"), self.tran or {}
    local start, stop = finite(o.start or 0, "simulation", "start"), finite(o.stop or tran.stop, "simulation", "stop")
    local step = positive(o.step or tran.step, "simulation", "step")
    if stop <= start then fail("simulation: stop: expected a time after start = %g, got %g", start, stop) end
    local method = o.method or ns.EventDriven
    if type(method) ~= "function" then
      fail("simulation: method: expected a function such as ns.EventDriven, got %s", describe(method))
    end
    if o.integrator ~= nil and type(o.integrator) ~= "userdata" then
      fail("simulation: integrator: expected an integrator, got %s", describe(o.integrator))
    end
    local _, _, nsds = self:system(start, stop)
    return self:attach(method(nsds, grid_of(self, start, stop, step), o.integrator or ns.RadauOSI()))
  end

  -- attach(simulation): adds the events of clocks and thyristors, to a simulation of the graph of system().
  function Circuit:attach(simulation)
    if not self.made then fail "attach: expected a simulation of this circuit: call system first" end
    if not arguments.is_simulation(simulation) then
      fail("attach: expected a simulation, got %s", describe(simulation))
    end
    model.attach(self.made, simulation)
    return simulation
  end

  -- columns(sol): "v.NODE", "i.PART" and "p.PART", the power that a part takes up, by name.
  function Circuit:columns(sol)
    if not self.made then
      fail "columns: expected a solution of this circuit: call simulation, system or run first"
    end
    local good, x = where.try(function() return sol.x end)
    if not good or not core.ismatrix(x) or x:cols() ~= #self.made.numbers.states then
      fail("columns: sol: expected a solution with %d states, got %s", #self.made.numbers.states, describe(sol))
    end
    return require "nslua.files"(ns, core.file_support).columns(model.columns(self.made, self, sol))
  end

  -- Raises what a run has raised, at the place of the call. Where the engine can not go on it adds what to do about
  -- nodes that only ideal parts join to the ground: their potentials are not determined while these block.
  local function raise_of_run(self, message)
    if type(message) ~= "string" or message:find "interrupted$" then error(message, 0) end
    local bare, ours = message:gsub("^%S*nslua/circuit[%w/]*%.lua:%d+: ", "") -- the place of a callback of ours
    if ours > 0 then where.fail(bare) end
    if message:find "^%S+:%d+: " then error(message, 0) end
    local floating = floating_nodes(self, true)
    where.fail(floating and ("%s; %s can float while diodes and switches block: give these a conductance, as 1e-9")
      :format(message, floating) or message)
  end

  -- run(options): runs a simulation of these options, and returns its columns and the solution.
  function Circuit:run(options)
    local simulation = self:simulation(options)
    local good, sol = pcall(simulation.run, simulation)
    if not good then raise_of_run(self, sol) end
    return self:columns(sol), sol
  end

  function Circuit:__tostring()
    return ("circuit '%s' of %d part%s and %d node%s"):format(self.name, #self.parts, #self.parts == 1 and "" or "s",
      #self.nodes, #self.nodes == 1 and "" or "s")
  end

  where.methods(Circuit, "a circuit", "c")

  -- circuit([{ name = "circuit" }])
  return function(options)
    local o = options_of("circuit", options, "name")
    if o.name ~= nil and type(o.name) ~= "string" then
      fail("circuit: name: expected a string, got %s", describe(o.name))
    end
    return setmetatable({ parts = {}, named = {}, nodes = {}, seen = {}, name = o.name or "circuit", made = false },
      Circuit)
  end
end
