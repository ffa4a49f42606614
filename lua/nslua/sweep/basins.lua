-- nslua.sweep.basins: basins of attraction: which end each start leads to.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local files = require "nslua.files"(core, core.file_support)
local style = require "nslua.plot.style"
local sweeps = require "nslua.sweep"
local tasks = require "nslua.sweep.tasks"
local where = require "nslua.base.where"

local fail, expect = arguments.fail, arguments.expect

local basins = {}

local Basins = {}
Basins.__index = Basins
Basins.__name = "basins"

function Basins:__tostring()
  local shares = {}
  for i, share in ipairs(self.shares) do shares[i] = core.number_support.format("%.3g %%", 100 * share) end
  local text = ("basins of %d attractors: %s"):format(#self.attractors, table.concat(shares, ", "))
  if self.failed > 0 then
    text = text .. ("; %d of %d starts have none, the first: %s"):format(self.failed, #self.labels, self.reason)
  end
  return text
end

-- Two of the parameters and numbers for the labels as columns.
local function labels_over(self, x, y, labels)
  return files.columns({ x, y, "label" }, { self.sweep:table():column(x), self.sweep:table():column(y), labels })
end

-- The labels over two of the parameters as a matrix; and the values of both.
function Basins:pivot(x, y)
  return require "nslua.sweep.pivot".pivot(labels_over(self, x, y, self.labels), x, y, "label", "pivot")
end

local COLOURS = 10 -- of the map "tab10"

-- The labels as colours of that map: from the eleventh attractor on they come again.
local function colour_of(label) return (label - 1) % COLOURS + 1 end

local function legend(self, axes)
  local nowhere = { 0 / 0 }
  for i = 1, math.min(COLOURS, #self.attractors) do
    axes:scatter(nowhere, nowhere, { color = style.maps.tab10[i], marker = "s",
      label = core.number_support.format("%d: %.3g %%", i, 100 * self.shares[i]) })
  end
  axes:legend()
end

-- A picture: a colour for each attractor; starts without one are left empty. Starts that are no grid are points.
function Basins:plot(x, y, options)
  options = arguments.options(options, "basins:plot")
  local fig = require "nslua.plot".figure { figsize = options.figsize or { 6, 5 }, dpi = options.dpi,
    title = options.title }
  local axes, n = fig:subplot(1, 1, 1), #self.attractors
  local look = { cmap = options.cmap or "tab10", low = 1, high = options.cmap and math.max(2, n) or COLOURS }
  local labels = core.zeros(#self.labels)
  for k = 1, #labels do labels[k] = options.cmap and self.labels[k] or colour_of(self.labels[k]) end
  require "nslua.sweep.picture".colours(axes, labels_over(self, x, y, labels), x, y, "label", look)
  if n > 0 and not options.cmap then legend(self, axes) end
  return fig
end

where.methods(Basins, "basins", "b")
where.strict(Basins, "reason")

-- Ends of one attractor are near each other, beside the distances between attractors. So the numbers of a component
-- fall into groups, between which there are gaps. A few ends far outside, as of a motion that diverges, make a spread
-- beside which all others are one group: then the spread of this group counts, if it falls into groups in its turn.

-- The largest group of sorted numbers between gaps of more than `gap`, as its first and last place; how many groups
-- there are, and the sum of the gaps.
local function groups_of(sorted, first, last, gap)
  local count, empty, from, best_first, best_last = 1, 0, first, first, first
  for k = first, last do
    local step = k < last and sorted[k + 1] - sorted[k] or math.huge
    if step > gap then
      if k - from > best_last - best_first then best_first, best_last = from, k end
      if k < last then count, empty, from = count + 1, empty + step, k + 1 end
    end
  end
  return best_first, best_last, count, empty
end

-- The spread of a component beside which ends are near or not. Scattered numbers, as of the rounding of one
-- attractor, are many groups or none: groups are told by being few (at most the root of how many numbers there are)
-- and by the gaps between them, at least half of the spread.
local function spread_of(list, tolerance)
  table.sort(list)
  local first, last = 1, #list
  local spread = list[last] - list[first]
  while true do
    local a, b = groups_of(list, first, last, tolerance * (list[last] - list[first]))
    local inner = list[b] - list[a]
    local _, _, count, empty = groups_of(list, a, b, tolerance * inner)
    local in_groups = count > 1 and count <= math.sqrt(b - a + 1) and empty >= 0.5 * inner
    if b - a == last - first or not in_groups then return spread end
    first, last, spread = a, b, inner
  end
end

-- That of each component, over all ends that are finite.
local function spreads(ends, tolerance)
  local lists = {}
  for _, e in ipairs(ends) do
    for i = 1, e and #e or 0 do
      lists[i] = lists[i] or {}
      table.insert(lists[i], e[i])
    end
  end
  for i = 1, #lists do lists[i] = spread_of(lists[i], tolerance) end
  return lists
end

local function near(a, b, spread, tolerance)
  for i = 1, #a do
    if math.abs(a[i] - b[i]) > tolerance * spread[i] then return false end
  end
  return true
end

-- The end of each start, as a list; false where there is none, and why the first of these has none.
local function ends_of(sweep)
  local columns, failures = sweep:table(), sweep:failures()
  local reason, any = failures[1] and failures[1].error, false
  for _, name in ipairs(columns:names()) do any = any or name == "end" end
  if not any then fail("basins: no start has an end; the first: %s", reason or "run returned nothing") end
  local column, ends = columns:column "end", {}
  for k = 1, #sweep do
    local e = core.isvector(column) and { column[k] } or column[k]:totable()
    for i = 1, #e do
      if e[i] - e[i] ~= 0 then e = false break end
    end
    ends[k] = e
  end
  return ends, reason or "its end is not finite"
end

-- ns.basins
function basins.basins(given)
  local who = "basins"
  local o = arguments.options(given, who)
  local tolerance = o.tolerance == nil and 0.01 or arguments.number(o.tolerance, who, "tolerance")
  expect(o.run, "function", "%s: run: expected a function", who)
  local run, starts = o.run, tasks.of(o.parameters, who .. ": parameters")
  if starts.axes["end"] or starts.axes.label then
    fail("%s: parameters: 'end' and 'label' are the names of results: rename the parameter", who)
  end
  local sweep = sweeps.sweep(sweeps.pass_on(o, { parameters = starts,
    run = function(p, task) return { ["end"] = run(p, task) } end }))
  local ends, reason = ends_of(sweep)
  local spread = spreads(ends, tolerance)
  local self = { sweep = sweep, attractors = {}, shares = {}, labels = core.zeros(#sweep), failed = 0 }
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
    if e then self.shares[label] = self.shares[label] + 1 / #sweep else self.failed = self.failed + 1 end
  end
  self.reason = self.failed > 0 and reason or nil
  return setmetatable(self, Basins)
end

return basins
