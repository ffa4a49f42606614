-- nslua.sweep.picture: pictures of a sweep: a heat map, lines with bands, a histogram.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local histogram = require "nslua.analysis.histogram"
local pivots = require "nslua.sweep.pivot"
local plot = require "nslua.plot"
local statistics = require "nslua.analysis.statistics"

local fail, reject = arguments.fail, arguments.reject
local format = core.number_support.format

local picture = {}

local MOST_BINS = 100000 -- intervals of a histogram: many more than a picture has points

local SHARES = { 0.05, 0.5, 0.95 } -- quantiles of the band and of the line in it

local function vector_of(columns, name)
  return pivots.column(columns, name, "plot", "picture")
end

-- How many of the elements of a matrix with so many rows and columns a table fills, at most, for it to be a heat map:
-- below this share its rows are points in the plane and no grid.
local LEAST_FILLED = 0.5

-- z over x and y in colours: a heat map, or points where the rows are no grid. look: cmap, low, high (optional).
function picture.colours(axes, columns, x, y, z, look)
  local xs, ys, zs = vector_of(columns, x), vector_of(columns, y), vector_of(columns, z)
  local map, x_values, y_values = pivots.pivot(columns, x, y, z, "plot")
  if #xs < LEAST_FILLED * #x_values * #y_values then
    local px, py, pz = {}, {}, {}
    for k = 1, #zs do
      if zs[k] == zs[k] then px[#px + 1], py[#py + 1], pz[#pz + 1] = xs[k], ys[k], zs[k] end
    end
    axes:scatter(px, py, { c = core.vector(pz), cmap = look.cmap, vmin = look.low, vmax = look.high })
  else
    axes:heatmap(x_values, y_values, map, { cmap = look.cmap, limits = look.low and { look.low, look.high } })
  end
  axes:xlabel(x):ylabel(y):grid(false)
end

-- z over x and y, with a bar of its colours.
local function heat(columns, o, fig)
  local axes, limits = fig:subplot(1, 1, 1), o.limits or {}
  picture.colours(axes, columns, o.x, o.y, o.z, { cmap = o.cmap, low = limits[1], high = limits[2] })
  axes:colorbar { label = o.z }
end

-- The quantiles of SHARES of a list.
local function quantiles(list)
  table.sort(list)
  local q = {}
  for i, share in ipairs(SHARES) do q[i] = statistics.of_sorted(list, share) end
  return q
end

-- The values of y for each x, of the rows where `keep` says so; sorted by x. nan is left out.
local function groups(x, y, keep)
  local lists, places = {}, {}
  for k = 1, #x do
    if keep(k) and y[k] == y[k] then
      if not lists[x[k]] then lists[x[k]], places[#places + 1] = {}, x[k] end
      table.insert(lists[x[k]], y[k])
    end
  end
  table.sort(places)
  return places, lists
end

-- Whether a line over x would join points that differ in another parameter: each value of x stands in one row, and
-- another parameter, which is not `by`, has several values.
local function is_scattered(columns, o, parameters)
  local function count(name)
    local seen, n = {}, 0
    for _, v in ipairs(vector_of(columns, name):totable()) do
      if v == v and not seen[v] then seen[v], n = true, n + 1 end
    end
    return n
  end
  if count(o.x) < #columns then return false end
  for _, name in ipairs(parameters) do
    if name ~= o.x and name ~= o.by and count(name) > 1 then return true end
  end
  return false
end

-- y over x: points, where x and another parameter change from row to row; else a line for each value of `by`: the
-- median, within a band from 5 % to 95 % where several rows meet.
local function lines(columns, o, fig, parameters)
  local x, y, by = vector_of(columns, o.x), vector_of(columns, o.y), o.by and vector_of(columns, o.by)
  local axes = fig:subplot(1, 1, 1)
  local kinds, seen = {}, {}
  for k = 1, by and #by or 0 do
    if not seen[by[k]] then seen[by[k]], kinds[#kinds + 1] = true, by[k] end
  end
  table.sort(kinds)
  local scattered = is_scattered(columns, o, parameters)
  for i = 1, math.max(1, #kinds) do
    local places, lists = groups(x, y, function(k) return not by or by[k] == kinds[i] end)
    local low, middle, high, several = {}, {}, {}, false
    for j, place in ipairs(places) do
      several = several or #lists[place] > 1
      low[j], middle[j], high[j] = table.unpack(quantiles(lists[place]))
    end
    local color, label = "C" .. (i - 1) % 10, by and format("%s = %g", o.by, kinds[i]) or nil
    if several then axes:fill_between(places, low, high, { color = color, alpha = 0.25 }) end
    if scattered then axes:scatter(places, middle, { color = color, label = label })
    else axes:plot(places, middle, { color = color, label = label }) end
  end
  axes:xlabel(o.x):ylabel(o.y)
  if by then axes:legend() end
end

-- How often values of x occur.
local function counts(columns, o, fig)
  local list = {}
  for _, v in ipairs(vector_of(columns, o.x):totable()) do
    if v - v == 0 then list[#list + 1] = v end
  end
  if #list == 0 then fail("plot: '%s' has no finite number", o.x) end
  local bins = o.bins or math.max(5, math.ceil(math.sqrt(#list)))
  reject(math.type(bins) ~= "integer" or bins < 1 or bins > MOST_BINS, bins,
    "plot: bins: expected an integer from 1 to %d", MOST_BINS)
  local number, edges = histogram.histogram(list, bins)
  local axes = fig:subplot(1, 1, 1)
  for i = 1, #number do
    if number[i] > 0 then
      local a, b = edges[i], edges[i + 1]
      axes:fill({ a, b, b, a }, { 0, 0, number[i], number[i] }, { color = "C0", alpha = 0.6, edgecolor = "C0" })
    end
  end
  axes:xlabel(o.x):ylabel "rows"
end

-- sweep:plot; parameters: their names
function picture.plot(columns, options, parameters)
  local o = arguments.options(options, "sweep:plot")
  if not o.x or o.z and not o.y then fail "plot: expected x =, or x = and y =, or x =, y = and z =" end
  local fig = plot.figure { figsize = o.figsize or { 7, 4.5 }, dpi = o.dpi, title = o.title }
  if o.z then
    heat(columns, o, fig)
  elseif o.y then
    lines(columns, o, fig, parameters)
  else
    counts(columns, o, fig)
  end
  return fig
end

return picture
