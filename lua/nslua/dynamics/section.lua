-- nslua.dynamics.section: points on a Poincare section, and the map from one to the next.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local where = require "nslua.base.where"

local fail = arguments.fail
local format = core.number_support.format

local sections = {}

local Section = {}
Section.__index = Section
Section.__name = "poincare"

-- The first return from a point on the section: the point, and the time that it takes.
local function next_point(s, x)
  local flow, section = s.flow, flows.counted(s.section, 1)
  section.span = s.span
  local list = flow:crossings(x, flow.t0, section, s.parameter)
  return list[1].x, list[1].t - flow.t0, list.events
end

function Section:map(x)
  local point, time = next_point(self, flows.start(self.flow, x, "x"))
  return point, time
end

function Section:derivative(x)
  local section = flows.counted(self.section, 1)
  section.span = self.span
  return (self.flow:section_derivative(flows.start(self.flow, x, "x"), section, self.parameter, self.sizes))
end

function Section:plot(options) return require "nslua.dynamics.picture".section(self, options) end

function Section:__tostring()
  return format("%d points on a section, t = %g .. %g", #self.t, self.t[1], self.t[#self.t])
end

where.methods(Section, "a result of poincare", "points")

-- The flow of an option table and its start.
function sections.start(options, who)
  local flow = flows.new(options, who)
  local guess = options.guess
  flow.n = flow.n or (type(guess) == "table" or type(guess) == "userdata") and #guess or nil
  local p = options.value
  if p == nil then p = flow.value end
  return flow, flows.start(flow, guess, "guess"), p
end

-- ns.dynamics.poincare
function sections.poincare(options)
  local who = "dynamics.poincare"
  options = arguments.options(options, who)
  local flow, x, p = sections.start(options, who)
  if options.section == nil then
    fail("%s: section: expected a function, a table or the name of an event, got nil", who)
  end
  local count = options.count == nil and 1 or arguments.integer(options.count, 1, who, "count")
  local skip = options.skip == nil and 0 or arguments.integer(options.skip, 0, who, "skip")
  local section = flows.section(options.section, who)
  local list = flow:crossings(x, flow.t0, flows.counted(section, count + skip), p)
  local s = setmetatable({ flow = flow, section = section, parameter = p, t = core.vector(count),
    x = core.zeros(count, #x) }, Section)
  local rows = { x }
  for k = 1, count do
    local point = list[skip + k]
    s.t[k], rows[#rows + 1] = point.t, point.x
    for i = 1, #x do s.x[k][i] = point.x[i] end
  end
  s.sizes = flows.sizes(flow, rows)
  local last = list[skip + count]
  local before = list[skip + count - 1]
  s.span = last.t - (before and before.t or flow.t0)
  return s
end

return sections
