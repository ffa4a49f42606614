-- Random circuits, and their motion by the implicit Euler method on the node equations, with every mode of the diodes
-- tried in each step: an independent reference for nslua.circuit with EulerMoreauOSI(1).
local ns = require "nslua"
local random_numbers = require "random_numbers"

local circuits = {}
local random, uniform = math.random, random_numbers.uniform

local kinds = { "resistor", "resistor", "capacitor", "inductor", "diode", "voltage", "current" }

local function value_of(kind)
  if kind == "resistor" then return 10 ^ uniform(-1, 2) end
  if kind == "capacitor" or kind == "inductor" then return 10 ^ uniform(-2, 0) end
  if kind == "diode" then return { forward = random() < 0.5 and 0.7 or 0, resistance = 0.05, conductance = 1e-2 } end
  return { amplitude = uniform(1, 10), frequency = uniform(0.2, 1) }
end

-- A list of { kind, name, a, b, value }: each node is joined to one before it, and there are a few parts more.
function circuits.parts(nodes, more)
  local list = {}
  local function put(a, b, kind)
    list[#list + 1] = { kind, ("%s%d"):format(kind:sub(1, 1):upper(), #list + 1), tostring(a), tostring(b),
      value_of(kind) }
  end
  for node = 1, nodes do
    put(node, random(0, node - 1), node == 1 and "voltage" or kinds[random(4)])
    put(node, 0, "resistor") -- so that voltage sources and inductors are never alone at a node
  end
  for _ = 1, more do
    local a, b = random(0, nodes), random(0, nodes)
    if a ~= b then put(a, b, kinds[random(2, 5)]) end
  end
  return list
end

function circuits.build(list)
  local c = ns.circuit()
  for _, part in ipairs(list) do c[part[1]](c, part[2], part[3], part[4], part[5]) end
  return c
end

-- The node equations of a step: unknowns are the potentials, then a current for each part. modes: true for each diode
-- that conducts, by its number in the list. old: the voltage or current of each capacitor and inductor.
local function equations(list, nodes, t, h, old, modes)
  local n = nodes + #list
  local M, q = ns.zeros(n, n), ns.zeros(n)
  for k, part in ipairs(list) do
    local a, b, i = math.tointeger(tonumber(part[3])), math.tointeger(tonumber(part[4])), nodes + k
    if a > 0 then M[a][i] = M[a][i] + 1 end
    if b > 0 then M[b][i] = M[b][i] - 1 end
    local function v(c)
      if a > 0 then M[i][a] = M[i][a] + c end
      if b > 0 then M[i][b] = M[i][b] - c end
    end
    local kind, value = part[1], part[5]
    if kind == "resistor" then v(1) M[i][i] = -value
    elseif kind == "capacitor" then v(-value / h) M[i][i] = 1 q[i] = -value / h * old[k]
    elseif kind == "inductor" then v(1) M[i][i] = -value / h q[i] = -value / h * old[k]
    elseif kind == "voltage" then v(1) q[i] = value.amplitude * math.sin(2 * math.pi * value.frequency * t)
    elseif kind == "current" then M[i][i] = 1 q[i] = value.amplitude * math.sin(2 * math.pi * value.frequency * t)
    elseif modes[k] then v(1) M[i][i] = -value.resistance
      q[i] = value.forward * (1 - value.resistance * value.conductance)
    else v(-value.conductance) M[i][i] = 1 end
  end
  return M, q
end

local function voltage(z, part)
  local a, b = math.tointeger(tonumber(part[3])), math.tointeger(tonumber(part[4]))
  return (a > 0 and z[a] or 0) - (b > 0 and z[b] or 0)
end

-- The states by name after steps of length h, or nil when a step has no mode: { ["u.C3"] = number }.
function circuits.reference(list, nodes, h, steps)
  local old, diodes = {}, {}
  for k, part in ipairs(list) do
    old[k] = 0
    if part[1] == "diode" then diodes[#diodes + 1] = k end
  end
  for step = 1, steps do
    local found
    for code = 0, (1 << #diodes) - 1 do
      local modes = {}
      for j, k in ipairs(diodes) do modes[k] = code >> (j - 1) & 1 == 1 end
      local M, q = equations(list, nodes, step * h, h, old, modes)
      local good, z = pcall(ns.solve, M, q)
      for _, k in ipairs(good and diodes or {}) do
        local d = list[k][5]
        local above = voltage(z, list[k]) - d.forward
        local beyond = z[nodes + k] - d.conductance * d.forward
        good = good and (modes[k] and beyond >= -1e-9 or not modes[k] and above <= 1e-9) -- of volts and amperes here
      end
      if good then found = z break end
    end
    if not found then return nil end
    for k, part in ipairs(list) do
      if part[1] == "capacitor" then old[k] = voltage(found, part) end
      if part[1] == "inductor" then old[k] = found[nodes + k] end
    end
  end
  local states = {}
  for k, part in ipairs(list) do
    if part[1] == "capacitor" then states["u." .. part[2]] = old[k] end
    if part[1] == "inductor" then states["i." .. part[2]] = old[k] end
  end
  return states
end

-- Whether sources and capacitors alone form a loop, or a node or more hang on inductors and current sources alone: then
-- the derivative of a source takes part, of which the two methods have other values.
function circuits.has_driven_loop(list, nodes)
  local root = {}
  for i = 0, nodes do root[i] = i end
  local function find(i)
    while root[i] ~= i do i = root[i] end
    return i
  end
  local loop = false
  for pass = 1, 2 do -- sources first
    for _, part in ipairs(list) do
      if part[1] == (pass == 1 and "voltage" or "capacitor") then
        local a, b = find(math.tointeger(tonumber(part[3]))), find(math.tointeger(tonumber(part[4])))
        loop = loop or pass == 2 and a == b
        root[a] = b
      end
    end
  end
  return loop
end

return circuits
