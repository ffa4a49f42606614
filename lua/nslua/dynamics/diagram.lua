-- nslua.dynamics.diagram: what remains of motions after a transient, over values of a parameter.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local sections = require "nslua.dynamics.section"
local where = require "nslua.base.where"

local fail, describe = arguments.fail, arguments.describe
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

-- The states at whole periods after the transient.
local function stroboscopic(flow, x, p, T, transient, keep)
  local points = {}
  for k = 1, transient + keep do
    x = flow:run(x, flow.t0, flow.t0 + T, p).x
    if k > transient then points[#points + 1] = x end
  end
  return points, x
end

-- The states at the section after the transient.
local function on_section(flow, x, p, section, transient, keep)
  local points = {}
  for k = 1, transient + keep do
    local list = flow:crossings(x, flow.t0, flows.counted(section, 1), p)
    x, section.span = list[1].x, list[1].t - flow.t0
    if k > transient then points[#points + 1] = x end
  end
  return points, x
end

local function period_function(period, who)
  if type(period) == "function" then return period end
  if type(period) ~= "number" or period ~= period or period <= 0 then
    fail("%s: period: expected a number above 0 or a function of the parameter, got %s", who, describe(period))
  end
  return function() return period end
end

-- ns.dynamics.diagram
function diagrams.diagram(options)
  local who = "dynamics.diagram"
  options = arguments.options(options, who)
  local flow, guess = sections.start(options, who)
  local values = arguments.numbers(options.values, nil, who, "values")
  if (options.period == nil) == (options.section == nil) then
    fail("%s: expected period = or section =, got %s", who, options.period and "both" or "neither")
  end
  local transient = options.transient == nil and 100 or arguments.integer(options.transient, 0, who, "transient")
  local keep = options.keep == nil and 50 or arguments.integer(options.keep, 1, who, "keep")
  local period = options.period and period_function(options.period, who)
  local section = options.section and flows.section(options.section, who)
  local d = { failures = {} }
  local ps, rows, x = {}, {}, guess
  for _, p in ipairs(values) do
    local good, points, last = pcall(function()
      if period then return stroboscopic(flow, x, p, period(p), transient, keep) end
      return on_section(flow, x, p, section, transient, keep)
    end)
    if good then
      for _, point in ipairs(points) do ps[#ps + 1], rows[#rows + 1] = p, point end
      x = options.follow == false and guess or last
    else
      d.failures[#d.failures + 1] = { p = p, message = tostring(points) }
      x = guess
    end
  end
  if #ps == 0 then
    fail("%s: no value gave a motion; the first: %s", who, d.failures[1] and d.failures[1].message or "none")
  end
  d.p, d.x = core.vector(ps), core.zeros(#ps, #guess)
  for k, row in ipairs(rows) do
    for i = 1, #guess do d.x[k][i] = row[i] end
  end
  return setmetatable(d, Diagram)
end

return diagrams
