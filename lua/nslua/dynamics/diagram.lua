-- nslua.dynamics.diagram: what remains of motions after a transient, over values of a parameter.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local returns = require "nslua.dynamics.returns"
local sections = require "nslua.dynamics.section"
local spread = require "nslua.sweep.spread"
local where = require "nslua.base.where"

local fail = arguments.fail
local format = core.number_support.format

local diagrams = {}

local Diagram = {}
Diagram.__index = Diagram
Diagram.__name = "diagram"

function Diagram:plot(options) return require "nslua.dynamics.picture".diagram(self, options) end

function Diagram:__tostring()
  return format("diagram of %d points, p = %g .. %g, %d values failed", #self.p, self.p[1], self.p[#self.p],
    #self.failures)
end

where.methods(Diagram, "a diagram", "diagram")

-- What remains of the motion from x at a value of the parameter: a list of points { x, t }, or nil and a message.
local function remains(d, x, p)
  local good, points = pcall(returns.points, d.flow, d.back, x, p, d.transient, d.keep)
  if good then return points end
  return nil, spread.reason(points)
end

-- The tasks of a list of values, one after the other: the next motion begins where the last one ended.
local function pass(d, values, x, follow, direction, out)
  for _, p in ipairs(values) do
    local points, message = remains(d, follow and x or d.guess, p)
    for _, point in ipairs(points or {}) do out[#out + 1] = { p = p, x = point.x, direction = direction } end
    if not points then d.failures[#d.failures + 1] = { p = p, message = message, direction = direction } end
    x = points and points[#points].x or d.guess
  end
  return x
end

-- The same for motions that all begin at the guess, by workers.
local function apart(d, values, options, out)
  local n = #d.guess
  local lists, messages = spread.each(options, #values, function(k)
    local points, message = remains(d, d.guess, values[k])
    if not points then error(message, 0) end
    local list = {}
    for _, point in ipairs(points) do
      for i = 1, n do list[#list + 1] = point.x[i] end
    end
    return list
  end, "dynamics.diagram")
  for k, p in ipairs(values) do
    local list = lists[k] or {}
    for at = 1, #list, n do out[#out + 1] = { p = p, x = { table.unpack(list, at, at + n - 1) }, direction = 1 } end
    if messages[k] then d.failures[#d.failures + 1] = { p = p, message = messages[k], direction = 1 } end
  end
end

local function reversed(values)
  local list = {}
  for i = #values, 1, -1 do list[#list + 1] = values[i] end
  return list
end

-- ns.dynamics.diagram
function diagrams.diagram(options)
  local who = "dynamics.diagram"
  options = arguments.options(options, who)
  local values = arguments.numbers(options.values, nil, who, "values")
  local flow, guess = sections.start(options, who, values[1])
  local d = setmetatable({ failures = {}, flow = flow, guess = guess }, Diagram)
  d.back = returns.new(options, who, flow)
  d.transient = options.transient == nil and 100 or arguments.integer(options.transient, 0, who, "transient")
  d.keep = options.keep == nil and 50 or arguments.integer(options.keep, 1, who, "keep")
  local out, follow = {}, options.follow ~= false
  if options.both and not follow then
    fail("%s: both: it needs motions that follow each other, got follow = false", who)
  end
  local last
  if spread.is_wanted(options) then
    if follow then
      fail("%s: workers: motions that follow each other can not be shared out: follow = false begins each at the "
        .. "guess", who)
    end
    apart(d, values, options, out)
  else
    last = pass(d, values, guess, follow, 1, out)
  end
  if options.both then pass(d, reversed(values), last, follow, -1, out) end
  if #out == 0 then
    fail("%s: no value gave a motion; the first: %s", who, d.failures[1] and d.failures[1].message or "none")
  end
  d.p, d.x, d.direction = core.zeros(#out), core.zeros(#out, #guess), core.zeros(#out)
  for k, point in ipairs(out) do
    d.p[k], d.direction[k] = point.p, point.direction
    for i = 1, #guess do d.x[k][i] = point.x[i] end
  end
  return d
end

return diagrams
