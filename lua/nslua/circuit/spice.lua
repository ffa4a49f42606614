-- nslua.circuit.spice: reads a circuit from a SPICE deck.
--
-- Taken: R C L K V I E F G H D S X, .model (D and SW with Ron, Roff, Vfwd, Vrev, Vt), .subckt, .param, .ic, .tran and
-- .end. The first line is the title; * and ; begin comments, + goes on with the line before; cases of letters mean
-- nothing. A diode or switch is two lines with a knee, as with LTspice's Ron and Vfwd. Raises "FILE:LINE: ..." for
-- all that is not taken, so that nothing is left out without a word.

local arguments = require "nslua.base.arguments"
local kinds = require "nslua.circuit.parts"
local where = require "nslua.base.where"

local SUFFIXES = { t = 1e12, g = 1e9, meg = 1e6, k = 1e3, m = 1e-3, u = 1e-6, n = 1e-9, p = 1e-12, f = 1e-15 }
local IGNORED = { options = true, option = true, save = true, probe = true, print = true, plot = true, title = true }

local Deck = {}
Deck.__index = Deck

function Deck:fail(text, ...)
  arguments.fail("%s:%d: " .. text, self.file, self.line, ...)
end

-- ---- lines and numbers ----

-- The statements of a text: { line = number, text = ... }, without comments, with lines that go on joined.
local function statements(text)
  local list, number = {}, 0
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local body = line:gsub("[;].*$", ""):gsub("%$ .*$", "")
    local more = body:match "^%s*%+(.*)$"
    if number == 1 or body:find "^%s*%*" or not body:find "%S" then goto next end
    if more and #list > 0 then list[#list].text = list[#list].text .. " " .. more:lower()
    else list[#list + 1] = { line = number, text = body:lower():match "^%s*(.-)%s*$" } end
    ::next::
  end
  return list
end

-- The value of an expression in braces or quotes, over parameters and math functions.
function Deck:expression(text, params)
  local missing
  local environment = setmetatable({}, { __index = function(_, name)
    if params[name] ~= nil then return params[name] end
    if name == "pi" or type(math[name]) == "function" then return math[name] end
    missing = missing or name
  end })
  local chunk = load("return " .. text:gsub("%*%*", "^"), "=expression", "t", environment)
  if not chunk then self:fail("expected an expression, got '%s'", text) end
  local good, value = pcall(chunk)
  if missing then self:fail("there is no parameter '%s'", missing) end
  if not good then self:fail("'%s': %s", text, where.without_trace(tostring(value)):gsub("^expression:1: ", "")) end
  return value
end

-- A number with a suffix, a parameter in braces, or an expression; what: for messages.
function Deck:number(text, params, what)
  local inner = text and (text:match "^{(.*)}$" or text:match "^'(.*)'$")
  if inner then return self:expression(inner, params) end
  local digits, rest = (text or ""):match "^([+-]?[%d.]+e?[+-]?%d*)(%a*)$"
  if not tonumber(digits) then digits, rest = (text or ""):match "^([+-]?[%d.]+)(%a*)$" end
  local value = tonumber(digits)
  if not value then self:fail("%s: expected a number, got %s", what, arguments.describe(text)) end
  local suffix = rest:match "^meg" or rest:match "^mil" or rest:sub(1, 1)
  return value * (SUFFIXES[suffix] or 1)
end

-- The words of a statement; braces, quotes and parentheses hold together what is in them; "a = b" is one word.
local function words_of(text)
  local list, depth, word = {}, 0, ""
  for c in text:gsub("%s*=%s*", "="):gsub("(%a)%s+%(", "%1("):gmatch "." do
    if c:find "[({]" then depth = depth + 1 end
    if c:find "[)}]" then depth = depth - 1 end
    if depth == 0 and c:find "[%s,]" then
      if word ~= "" then list[#list + 1] = word end
      word = ""
    else
      word = word .. c
    end
  end
  if word ~= "" then list[#list + 1] = word end
  return list
end

-- name=value words from number k on, as a table of texts.
function Deck:settings(words, k)
  local set = {}
  for i = k, #words do
    local name, value = words[i]:match "^([%w_()]+)=(.+)$"
    if not name then self:fail("expected NAME=VALUE, got '%s'", words[i]) end
    set[name] = value
  end
  return set
end

function Deck:no_more(words, k)
  if words[k] then self:fail("'%s' is one word too many", words[k]) end
end

-- ---- parts ----

-- The value of a source from word k on.
function Deck:source(words, k, params)
  if words[k] == "dc" then k = k + 1 end
  local kind, inner = (words[k] or ""):match "^(%a+)%((.*)%)$"
  if not kind and words[k] and words[k]:find "^%a+$" then kind, inner = words[k], table.concat(words, " ", k + 1)
  else self:no_more(words, k + 1) end
  if not kind then return self:number(words[k], params, "value") end
  local v = {}
  for i, word in ipairs(words_of(inner)) do v[i] = self:number(word, params, kind) end
  local function need(n) if #v < n then self:fail("%s: expected %d numbers or more, got %d", kind, n, #v) end end
  if kind == "sin" then
    need(3)
    if (v[5] or 0) ~= 0 then self:fail "sin: a damped sine is not taken" end
    return { offset = v[1], amplitude = v[2], frequency = v[3], delay = v[4], phase = math.rad(v[6] or 0) }
  elseif kind == "pulse" then
    need(7)
    return { low = v[1], high = v[2], delay = v[3], rise = v[4], fall = v[5], width = v[6], period = v[7] }
  elseif kind == "pwl" then
    need(4)
    local times, values = {}, {}
    for i = 1, #v // 2 do times[i], values[i] = v[2 * i - 1], v[2 * i] end
    return { times = times, values = values }
  end
  self:fail("'%s' is not taken; known: dc, sin, pulse, pwl", kind)
end

-- The lines of a diode or switch with a model.
function Deck:model_of(name, kind, known)
  local model = name and self.models[name]
  if not model then self:fail("there is no model %s", arguments.describe(name)) end
  if model.class ~= kind then self:fail("model '%s' is one of %s, not of %s", name, model.class, kind) end
  for key in pairs(model.set) do
    if not known[key] then
      self:fail("model '%s': %s is not taken: a %s is two lines with a knee (%s)", name, key,
        kind == "d" and "diode" or "switch", kind == "d" and "ron, roff, vfwd, vrev" or "vt, ron, roff")
    end
  end
  local value = {}
  for key in pairs(known) do
    value[key] = model.set[key] and self:number(model.set[key], model.params, "model '" .. name .. "': " .. key)
  end
  return value, { resistance = value.ron, conductance = value.roff and 1 / value.roff }
end

local readers = {}

function readers.r(self, c, name, node, words, params)
  self:no_more(words, 5)
  c:resistor(name, node(2), node(3), self:number(words[4], params, "value"))
end

for letter, method in pairs { c = "capacitor", l = "inductor" } do
  readers[letter] = function(self, c, name, node, words, params)
    local set = self:settings(words, 5)
    for key in pairs(set) do
      if key ~= "ic" then self:fail("'%s' is not taken", key) end
    end
    c[method](c, name, node(2), node(3), self:number(words[4], params, "value"),
      { initial = set.ic and self:number(set.ic, params, "ic") or nil })
  end
end

for letter, method in pairs { v = "voltage", i = "current" } do
  readers[letter] = function(self, c, name, node, words, params)
    local value = self:source(words, 4, params)
    c[method](c, name, node(2), node(3), value)
    if letter == "v" then self.sources[#self.sources + 1] = { node(2), node(3), c.named[name].value } end
  end
end

for letter, method in pairs { e = "vcvs", g = "vccs" } do
  readers[letter] = function(self, c, name, node, words, params)
    self:no_more(words, 7)
    c[method](c, name, node(2), node(3), node(4), node(5), self:number(words[6], params, "gain"))
  end
end

for letter, method in pairs { f = "cccs", h = "ccvs" } do
  readers[letter] = function(self, c, name, node, words, params, prefix)
    self:no_more(words, 6)
    c[method](c, name, node(2), node(3), prefix .. (words[4] or ""):upper(), self:number(words[5], params, "gain"))
  end
end

function readers.d(self, c, name, node, words)
  self:no_more(words, 5)
  local value, options = self:model_of(words[4], "d", { ron = true, roff = true, vfwd = true, vrev = true })
  options.forward = value.vfwd
  if value.vrev then c:zener(name, node(2), node(3), value.vrev, options)
  else c:diode(name, node(2), node(3), options) end
end

-- A switch whose control is a source of voltage: its gate is a function of time.
function readers.s(self, c, name, node, words)
  self:no_more(words, 7)
  local value, options = self:model_of(words[6], "sw", { ron = true, roff = true, vt = true })
  local plus, minus, driven = node(4), node(5), nil
  for _, one in ipairs(self.sources) do
    local sign = one[1] == plus and one[2] == minus and 1 or one[1] == minus and one[2] == plus and -1
    if sign then driven = { sign, one[3] } end
  end
  if not driven then
    self:fail("%s: expected a source of voltage, in a line before, between '%s' and '%s' as its control", name, plus,
      minus)
  end
  local sign, source, vt = driven[1], driven[2], value.vt or 0
  if type(source) == "number" then c:switch(name, node(2), node(3), sign * source > vt, options)
  else c:switch(name, node(2), node(3), function(t) return sign * source.f(t) > vt end, options) end
end

-- ---- the deck ----

-- Adds the parts of a list of statements. prefix: of names; map: nodes of a subcircuit's terminals.
function Deck:parts(c, list, prefix, map, params)
  local function node_of(word)
    if not word or word:find "[=({]" then self:fail("expected a node, got %s", arguments.describe(word)) end
    if word == "gnd" then return "0" end
    return map[word] or word == "0" and "0" or prefix .. word
  end
  for _, one in ipairs(list) do
    self.line = one.line
    local words = words_of(one.text)
    local letter, name = words[1]:sub(1, 1), prefix .. words[1]:upper():gsub("[^%w_]", "_")
    if letter == "k" then
      c:couple(prefix .. (words[2] or ""):upper(), prefix .. (words[3] or ""):upper(),
        self:number(words[4], params, "coupling"))
    elseif letter == "x" then
      self:instance(c, words, name, node_of, params)
    else
      local read = readers[letter]
      if not read then
        self:fail("part '%s': '%s' is not taken; known: R C L K V I E F G H D S X", words[1], letter:upper())
      end
      local function node(k) return node_of(words[k]) end
      local good, message = pcall(read, self, c, name, node, words, params, prefix)
      if not good then
        if type(message) ~= "string" or message:find(self.file .. ":", 1, true) then error(message, 0) end
        self:fail("%s", where.without_trace(message):gsub("^[^\n]-:%d+: ", "", 1))
      end
    end
  end
end

-- X NODES SUBCKT [NAME=VALUE ...]
function Deck:instance(c, words, name, node_of, params)
  local last = #words
  while last > 1 and words[last]:find "=" do last = last - 1 end
  local sub = self.subcircuits[words[last]]
  if not sub then self:fail("there is no subcircuit '%s'", words[last]) end
  if last - 2 ~= #sub.terminals then
    self:fail("subcircuit '%s' has %d nodes, got %d", words[last], #sub.terminals, last - 2)
  end
  local map, own = {}, setmetatable({}, { __index = params })
  for k, terminal in ipairs(sub.terminals) do map[terminal] = node_of(words[k + 1]) end
  for key, value in pairs(sub.set) do own[key] = self:number(value, params, key) end
  for key, value in pairs(self:settings(words, last + 1)) do own[key] = self:number(value, params, key) end
  self:parts(c, sub.list, name .. "_", map, own)
end

local commands = {}

function commands.model(self, words)
  local name, kind, inner = words[2], (words[3] or ""):match "^(%a+)%(?(.*)$"
  if not name or not kind then self:fail "expected .model NAME KIND(...)" end
  if kind ~= "d" and kind ~= "sw" then self:fail("models of '%s' are not taken; known: d, sw", kind) end
  local rest = { table.unpack(words, 4) }
  table.move(words_of((inner:gsub("%)%s*$", ""))), 1, 99, #rest + 1, rest)
  self.models[name] = { class = kind, set = self:settings(rest, 1), params = self.params }
end

function commands.param(self, words)
  for i = 2, #words do
    for key, value in pairs(self:settings({ words[i] }, 1)) do
      self.params[key] = self:number(value, self.params, key)
    end
  end
end

function commands.ic(self, words)
  for key, value in pairs(self:settings(words, 2)) do
    local node = key:match "^v%((.*)%)$"
    if not node then self:fail("expected v(NODE)=VALUE, got '%s'", key) end
    self.initial[#self.initial + 1] = { node = node, value = self:number(value, self.params, key), line = self.line }
  end
end

function commands.tran(self, words)
  local n = {}
  for i = 2, #words do
    if words[i] ~= "uic" then n[#n + 1] = self:number(words[i], self.params, ".tran") end
  end
  if #n < 2 then self:fail ".tran: expected STEP and STOP" end
  self.tran = { step = n[1], stop = n[2] }
end

-- Sorts the statements of the deck: statements of subcircuits, commands, parts.
function Deck:sort(list)
  local parts, sub = {}, nil
  for _, one in ipairs(list) do
    self.line = one.line
    local command = one.text:match "^%.(%w+)"
    local words = words_of(one.text)
    if command == "end" then break end
    if command == "ends" then
      if not sub then self:fail ".ends without .subckt" end
      sub = nil
    elseif command == "subckt" then
      if sub then self:fail ".subckt within .subckt is not taken" end
      sub = { list = {}, terminals = {}, set = {}, line = one.line }
      for i = 3, #words do
        if words[i]:find "=" then sub.set = self:settings(words, i) break end
        sub.terminals[#sub.terminals + 1] = words[i]
      end
      self.subcircuits[words[2] or self:fail ".subckt: expected a name"] = sub
    elseif command and commands[command] then commands[command](self, words)
    elseif command and not IGNORED[command] then self:fail("'.%s' is not taken", command)
    elseif not command then table.insert(sub and sub.list or parts, one) end
  end
  if sub then
    self.line = sub.line
    self:fail ".subckt without .ends"
  end
  return parts
end

-- Initial potentials, which capacitors to the ground take.
function Deck:start(c)
  for _, one in ipairs(self.initial) do
    local found
    for _, part in ipairs(c.parts) do
      local a, b = part.nodes[1], part.nodes[2]
      if kinds[part.kind].state == "u" and (a == one.node and b == "0" or b == one.node and a == "0") then
        part.initial, found = a == one.node and one.value or -one.value, true
      end
    end
    self.line = one.line
    if not found then self:fail(".ic: there is no capacitor between '%s' and the ground", one.node) end
  end
end

-- Adds the parts of a deck to a circuit. Returns the options of .tran, or nil.
return function(c, file, text)
  local self = setmetatable({ file = file, line = 1, models = {}, params = {}, subcircuits = {}, initial = {},
    sources = {} }, Deck)
  local parts = self:sort(statements(text))
  self:parts(c, parts, "", {}, self.params)
  self:start(c)
  return self.tran
end
