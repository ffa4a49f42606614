-- nslua.plot.contour: contour lines by marching squares, joined to polylines.

local data = require "nslua.plot.data"
local ticks = require "nslua.plot.ticks"

local contour = {}

local NAN = 0 / 0

-- Round numbers between lo and hi, about `count` of them or fewer.
local function between(lo, hi, count)
  local list = {}
  for _, tick in ipairs(ticks.make(lo, hi, count)) do
    if tick[1] > lo and tick[1] < hi then list[#list + 1] = tick[1] end
  end
  return list
end

-- The levels for the values z: a given list, sorted, or about n (10) round numbers. nil when z has no finite number.
function contour.levels(z, wanted)
  if type(wanted) == "table" or type(wanted) == "userdata" then
    local list = data.column("contour", "levels", wanted):totable()
    table.sort(list)
    return list
  end
  local columns = {}
  for i = 1, z:rows() do columns[i] = z:row(i) end
  local lo, hi = data.range(columns)
  if not lo then return nil end
  if lo == hi then return { lo } end
  wanted = data.number("contour", "levels", wanted or 10, 1)
  local list, more = between(lo, hi, wanted), between(lo, hi, 2 * wanted)
  if #list * #more < wanted * wanted then list = more end -- their number is nearer to the wanted one
  return #list > 0 and list or { (lo + hi) / 2 }
end

-- The edges of a cell that the line joins. The index is the sum over the corners that are above the level: lower
-- left 1, lower right 2, upper right 4, upper left 8. Edges are numbered bottom 1, right 2, top 3, left 4. A saddle
-- whose centre is below the level has a negative index.
local joins = {
  [1] = { 4, 1 }, [2] = { 1, 2 }, [3] = { 4, 2 }, [4] = { 2, 3 }, [6] = { 1, 3 }, [7] = { 4, 3 }, [8] = { 3, 4 },
  [9] = { 3, 1 }, [11] = { 3, 2 }, [12] = { 2, 4 }, [13] = { 2, 1 }, [14] = { 1, 4 },
  [5] = { 1, 2, 3, 4 }, [10] = { 4, 1, 2, 3 }, [-5] = { 4, 1, 2, 3 }, [-10] = { 1, 2, 3, 4 },
}

local function case_of(a, b, c, d, level)
  if a ~= a or b ~= b or c ~= c or d ~= d then return 0 end
  local case = (a > level and 1 or 0) + (b > level and 2 or 0) + (c > level and 4 or 0) + (d > level and 8 or 0)
  if (case == 5 or case == 10) and (a + b + c + d) / 4 <= level then return -case end
  return case
end

-- The segments of a level: neighbours[edge] = {edge, edge}, where an edge of the grid has a number, and the order in
-- which edges were found.
local function segments(z, nx, ny, level)
  local neighbours, order = {}, {}
  local function attach(e, other)
    local list = neighbours[e]
    if list then
      list[#list + 1] = other
    else
      neighbours[e] = { other }
      order[#order + 1] = e
    end
  end
  local below = z[1]:totable()
  for i = 1, ny - 1 do
    local above = z[i + 1]:totable()
    for j = 1, nx - 1 do
      local ends = joins[case_of(below[j], below[j + 1], above[j + 1], above[j], level)]
      if ends then
        local edge = { 2 * (i * nx + j), 2 * (i * nx + j + 1) + 1, 2 * ((i + 1) * nx + j), 2 * (i * nx + j) + 1 }
        for k = 1, #ends, 2 do
          attach(edge[ends[k]], edge[ends[k + 1]])
          attach(edge[ends[k + 1]], edge[ends[k]])
        end
      end
    end
    below = above
  end
  return neighbours, order
end

-- The lines of a level as two lists of coordinates, lines separated by NaN.
function contour.lines(x, y, z, level)
  local nx, ny = #x, #y
  local neighbours, order = segments(z, nx, ny, level)
  local px, py, used = {}, {}, {}
  local function place(e)
    local index = e // 2
    local i, j = (index - 1) // nx, (index - 1) % nx + 1
    local a, x2, y2 = z[i][j], x[j], y[i]
    if e % 2 == 0 then
      local b = z[i][j + 1]
      x2 = x[j] + (x[j + 1] - x[j]) * (level - a) / (b - a)
    else
      local b = z[i + 1][j]
      y2 = y[i] + (y[i + 1] - y[i]) * (level - a) / (b - a)
    end
    px[#px + 1], py[#py + 1] = x2, y2
  end
  local function walk(e)
    local start = e
    while e do
      used[e] = true
      place(e)
      local after
      for _, other in ipairs(neighbours[e]) do
        if not used[other] then after = other break end
      end
      if not after and e ~= start and #neighbours[e] == 2 and #neighbours[start] == 2 then place(start) end
      e = after
    end
    px[#px + 1], py[#py + 1] = NAN, NAN
  end
  for ends = 1, 2 do -- first the lines that have an end, then those that are closed
    for _, e in ipairs(order) do
      if not used[e] and #neighbours[e] == ends then walk(e) end
    end
  end
  return px, py
end

return contour
