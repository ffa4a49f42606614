-- nslua.sweep.basins: basins of attraction: which end each start leads to.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local files = require "nslua.files"(core, core.file_support)
local sweeps = require "nslua.sweep"
local where = require "nslua.base.where"

local fail = arguments.fail

local basins = {}

local Basins = {}
Basins.__index = Basins
Basins.__name = "basins"

function Basins:__tostring()
  local shares = {}
  for i, share in ipairs(self.shares) do shares[i] = core.number_support.format("%.3g %%", 100 * share) end
  return ("basins of %d attractors: %s"):format(#self.attractors, table.concat(shares, ", "))
end

-- The labels over two of the parameters as a matrix; and the values of both.
function Basins:pivot(x, y)
  local columns = files.columns({ x, y, "label" }, { self.sweep:table():column(x), self.sweep:table():column(y),
    self.labels })
  return require "nslua.sweep.pivot".pivot(columns, x, y, "label", "pivot")
end

-- A picture: a colour for each attractor; starts without one are left empty.
function Basins:plot(x, y, options)
  local z, xs, ys = self:pivot(x, y)
  options = arguments.options(options, "basins:plot")
  local fig = require "nslua.plot".figure { figsize = options.figsize or { 6, 5 }, dpi = options.dpi,
    title = options.title }
  fig:subplot(1, 1, 1):heatmap(xs, ys, z, { cmap = options.cmap, limits = { 1, math.max(2, #self.attractors) } })
    :xlabel(x):ylabel(y):grid(false)
  return fig
end

where.methods(Basins, "basins", "b")

-- The spread of each component over all ends that are finite.
local function spreads(ends)
  local low, high = {}, {}
  for _, e in ipairs(ends) do
    for i = 1, e and #e or 0 do
      low[i], high[i] = math.min(low[i] or e[i], e[i]), math.max(high[i] or e[i], e[i])
    end
  end
  for i = 1, #low do low[i] = high[i] - low[i] end
  return low
end

local function near(a, b, spread, tolerance)
  for i = 1, #a do
    if math.abs(a[i] - b[i]) > tolerance * spread[i] then return false end
  end
  return true
end

-- ns.basins
function basins.basins(given)
  local who = "basins"
  local o = arguments.options(given, who)
  local tolerance = o.tolerance == nil and 0.01 or arguments.number(o.tolerance, who, "tolerance")
  if type(o.run) ~= "function" then fail("%s: run: expected a function, got %s", who, arguments.describe(o.run)) end
  local run = o.run
  local sweep = sweeps.sweep { parameters = o.parameters, setup = o.setup, workers = o.workers, on = o.on,
    file = o.file, resume = o.resume, timeout = o.timeout, memory = o.memory, progress = o.progress, seed = o.seed,
    run = function(p, task) return { ["end"] = run(p, task) } end }
  local column, ends = sweep:table():column "end", {}
  for k = 1, #sweep do
    local e = core.isvector(column) and { column[k] } or column[k]:totable()
    for i = 1, #e do
      if e[i] - e[i] ~= 0 then e = false break end
    end
    ends[k] = e
  end
  local spread = spreads(ends)
  local self = { sweep = sweep, attractors = {}, shares = {}, labels = core.zeros(#sweep) }
  for k, e in ipairs(ends) do
    local label = not e and 0 / 0 or nil
    for i, attractor in ipairs(self.attractors) do
      if not label and near(e, attractor, spread, tolerance) then label = i end
    end
    if not label then
      label = #self.attractors + 1
      self.attractors[label], self.shares[label] = core.vector(e), 0
    end
    self.labels[k] = label
    if e then self.shares[label] = self.shares[label] + 1 / #sweep end
  end
  return setmetatable(self, Basins)
end

return basins
