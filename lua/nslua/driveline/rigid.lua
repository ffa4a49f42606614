-- nslua.driveline.rigid: what rigid parts leave free.
--
-- A rigid row says that a sum of factor * speed of nodes is 0, or the rate of a motion of time. They are solved by
-- elimination for nodes without inertia first, so that the nodes without inertia that stay free are those along which
-- nothing has inertia. A factor that is rounding of its own terms is 0.

local ordered = require "nslua.network.ordered"

local rigid = {}

local ROUNDING = 1e-12 -- part of the largest term of a factor below which it is 0: some thousand roundings

-- row -= factor * pivot, of tables of { value, size }
local function subtract(row, pivot, factor)
  for key, term in pairs(pivot) do
    local old = row[key] or { 0, 0 }
    local value, size = old[1] - factor * term[1], math.max(old[2], math.abs(factor) * term[2])
    row[key] = math.abs(value) > ROUNDING * size and { value, size } or nil
  end
end

-- The node for which a row of the open ones is solved next. rank(node): the larger, the sooner.
local function next_pivot(open, rank)
  local best, row_of, most
  for _, row in ipairs(open) do
    for node, term in ordered(row.of) do
      local rank_of = rank(node)
      local better = not most or rank_of > most
        or rank_of == most and math.abs(term[1]) > math.abs(row_of.of[best][1])
      if better then best, row_of, most = node, row, rank_of end
    end
  end
  return best, row_of
end

local function remove(list, item)
  for i, one in ipairs(list) do
    if one == item then return table.remove(list, i) end
  end
end

-- Solves rows { part, along, motion }. Returns the speeds that follow: by node { of = { [node] = factor }, by =
-- { [motion] = factor } }; or nil, the row that is left without nodes, and the parts from which it follows.
function rigid.solve(rows, rank)
  local open, done = {}, {}
  for i, row in ipairs(rows) do
    local one = { row = row, of = {}, by = {}, from = { [row.part] = true } }
    for node, factor in pairs(row.along) do
      if node ~= "0" then one.of[node] = { factor, math.abs(factor) } end
    end
    if row.motion then one.by[row.motion] = { 1, 1 } end
    open[i] = one
  end
  while #open > 0 do
    for _, one in ipairs(open) do
      if not next(one.of) then return nil, one.row, one.from end
    end
    local node, pivot = next_pivot(open, rank)
    remove(open, pivot)
    local scale = pivot.of[node][1]
    for _, list in ipairs { pivot.of, pivot.by } do
      for key, term in pairs(list) do list[key] = { term[1] / scale, term[2] / math.abs(scale) } end
    end
    for _, list in ipairs { open, done } do
      for _, one in ipairs(list) do
        local factor = one.of[node]
        if factor then
          subtract(one.of, pivot.of, factor[1])
          subtract(one.by, pivot.by, factor[1])
          one.of[node] = nil
          for part in pairs(pivot.from) do one.from[part] = true end
        end
      end
    end
    pivot.node = node
    done[#done + 1] = pivot
  end
  local solved = {}
  for _, one in ipairs(done) do
    local of, by = {}, {}
    for node, term in pairs(one.of) do
      if node ~= one.node then of[node] = -term[1] end
    end
    for motion, term in pairs(one.by) do by[motion] = term[1] end
    solved[one.node] = { of = of, by = by }
  end
  return solved
end

return rigid
