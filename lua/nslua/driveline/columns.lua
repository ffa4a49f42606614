-- nslua.driveline.columns: the columns of a solution: angles and speeds of nodes, torques, modes and powers of parts.

local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local coordinates = require "nslua.driveline.coordinates"
local kinds = require "nslua.driveline.parts"
local losses = require "nslua.driveline.losses"
local ordered = require "nslua.network.ordered"
local signals = require "nslua.control.signals"

local columns = {}

-- The forces of the parts at one row, by part, and those at the nodes.
local function forces_at(self, t, q, v, lambda)
  local of, at_node = {}, {}
  local function add(part, along, force)
    of[part] = (of[part] or 0) + force
    for node, c in pairs(along) do at_node[node] = (at_node[node] or 0) - c * force end
  end
  for _, one in ipairs(self.forces) do
    add(one.part, one.along, coordinates.force_of(self, one, t, q, v, self.z))
  end
  for _, row in ipairs(self.rows) do
    local of_row = losses.lambda_of(row, self.first, lambda, t, self.z)
    add(row.part, row.along, coordinates.force_of_row(self, row, of_row, t, q, v, self.z))
  end
  local lost = {}
  if #self.losses > 0 then
    lost = losses.forces(self, self.losses, self.first, t, q, lambda, self.z)
    for k, gear in ipairs(self.losses) do
      for node, c in pairs(gear.along) do at_node[node] = (at_node[node] or 0) - c * lost[k] end
    end
  end
  return of, at_node, lost
end

-- A reader of rows: the values of columns at a row.
local function row_reader(self, parts, tables)
  local n, place = #self.nodes, tables.place
  return function(put, rest, t, q, v, lambda)
    local angle, speed = { ["0"] = 0 }, { ["0"] = 0 }
    for _, node in ipairs(self.nodes) do
      angle[node] = coordinates.strain(self, self.node_at[node], t, q)
      speed[node] = coordinates.rate(self, self.node_at[node], t, v)
      put(self.letters[node].angle .. "." .. node, angle[node])
      put(self.letters[node].speed .. "." .. node, speed[node])
    end
    local of, at_node, lost = forces_at(self, t, q, v, lambda)
    local F, direct = core.vector(n), core.vector(n) -- forces, and the accelerations that motions give
    for i, node in ipairs(self.nodes) do
      F[i] = at_node[node] or 0
      for _, term in ipairs(self.P[node]) do
        direct[i] = direct[i] + term[2] * self.motions[term[1]].acceleration(t)
      end
    end
    local acceleration = tables.inverse * (F - tables.J * direct) + direct
    local carried = tables.G and tables.G * (F - tables.J * acceleration)
    local power = {}
    for part, force in pairs(of) do power[part] = 0 end
    local function take(part, along, force)
      local rate = 0
      for node, c in ordered(along) do rate = rate + c * speed[node] end
      power[part] = (power[part] or 0) + force * rate
      return rate
    end
    for _, one in ipairs(self.forces) do
      take(one.part, one.along, coordinates.force_of(self, one, t, q, v, self.z))
    end
    for _, row in ipairs(self.rows) do
      local x = losses.lambda_of(row, self.first, lambda, t, self.z)
      local rate = take(row.part, row.along, coordinates.force_of_row(self, row, x, t, q, v, self.z))
      rest("mode." .. row.part.name, row, rate, row.mode and row.mode(x))
    end
    for k, one in ipairs(self.rigids) do
      of[one.part] = (of[one.part] or 0) + carried[k]
      take(one.part, one.along, carried[k])
    end
    for k, gear in ipairs(self.losses) do
      take(gear.part, gear.along, lost[k])
      rest("mode." .. gear.part.name, gear, speed[gear.part.nodes[1]])
    end
    for _, one in ipairs(self.inertias) do
      power[one.part] = (power[one.part] or 0) + self.z[one.place] * acceleration[place[one.node]] * speed[one.node]
    end
    for _, part in ipairs(parts) do
      local kind = kinds[part.kind]
      if of[part] then
        local letter = kind.letter or self.letters[part.nodes[1] ~= "0" and part.nodes[1] or part.nodes[2]].force
        put(letter .. "." .. part.name, kind.source and -of[part] or of[part])
      end
      put("p." .. part.name, power[part] or 0)
    end
  end
end

-- The columns of a solution, by name.
function columns.of(ns, objects, sol)
  local self, rows = objects.sheet, #sol.t
  if self.lambdas > 0 and sol.lambda:cols() ~= self.lambdas then
    arguments.fail("columns: sol: expected a solution with %d multipliers, got one with %d", self.lambdas,
      sol.lambda:cols())
  end
  self.node_at = {}
  for _, node in ipairs(self.nodes) do
    self.node_at[node] = coordinates.reduced(self, { [node] = 1 })
    self.node_at[node].constant = self.offset[node]
  end
  local z = self.z
  local read = row_reader(self, objects.parts, losses.carried(ns, self))
  local names, list, by_name, modes = { "t" }, { sol.t }, {}, {}
  local half, lambda, q, v = objects.states // 2, {}, {}, {}
  local row
  local function put(name, value)
    local column = by_name[name]
    if not column then
      column = core.vector(rows)
      names[#names + 1], list[#list + 1], by_name[name] = name, column, column
    end
    column[row] = value
  end
  local function rest(name, of, rate, mode) -- modes wait for the largest speeds of the run
    if mode then return put(name, mode ~= 0 and mode or by_name[name] and by_name[name][row] or 0) end
    modes[name] = modes[name] or { of = of }
    put(name, rate)
  end
  local now = self.z:totable()
  self.z = now -- at the time of a row: a first row at the time of a jump is before it
  for k = 1, rows do
    row = k
    for _, jump in ipairs(self.jumps) do
      local t = sol.t[k]
      local after = t > jump.time or t == jump.time and k > 1 and sol.t[k - 1] == t
      now[jump.place] = after and jump.after or jump.before
    end
    for i = 1, objects.states do q[i] = sol.x[k][i] end
    for i = 1, half do v[i] = q[half + i] end
    for i = 1, self.lambdas do lambda[i] = sol.lambda[k][i] / self.step end
    signals.at_row(sol.t, k, read, put, rest, sol.t[k], q, self.impacts and v or q, lambda)
  end
  self.z = z
  for name, one in pairs(modes) do
    local size = 0
    for node, c in ordered(one.of.gear or one.of.along) do
      if node ~= "0" then
        size = size + math.abs(c) * by_name[self.letters[node].speed .. "." .. node]:norm(math.huge)
      end
    end
    local column = by_name[name]
    for k = 1, rows do -- slip below 1e-9 of the speeds of the run is what an integrator leaves of 0
      local de = column[k]
      column[k] = math.abs(de) <= 1e-9 * size and 0 or de > 0 and 1 or -1
    end
  end
  return names, list
end

return columns
