-- nslua.dynamics.section: points on a Poincare section, and the map from one to the next.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local returns = require "nslua.dynamics.returns"
local where = require "nslua.base.where"

local format = core.number_support.format

local sections = {}

local Section = {}
Section.__index = Section
Section.__name = "poincare"

-- The time at which a map begins: nil where the caller gave none.
local function time_of(t, who) return t ~= nil and arguments.number(t, who, "t") or nil end

function Section:map(x, t)
  t = time_of(t, "poincare.map")
  return returns.next(self.flow, self.back, flows.start(self.flow, x, "x"), self.parameter, t, self.span)
end

function Section:derivative(x, t)
  x, t = flows.start(self.flow, x, "x"), time_of(t, "poincare.derivative")
  if not self.sizes then
    local flow, first = self.flow, self.points[1]
    local _, rows = flow:course(first.x, flow.t0, flow.t0 + self.span, self.parameter)
    self.sizes = flows.sizes(flow, rows)
  end
  return returns.derivative(self.flow, self.back, x, self.parameter, t, self.span, self.sizes)
end

function Section:plot(options) return require "nslua.dynamics.picture".section(self, options) end

function Section:__tostring()
  return format("%d points on a section, t = %g .. %g", #self.t, self.t[1], self.t[#self.t])
end

where.methods(Section, "a result of poincare", "points")

-- The flow of an option table and its start. value: the value of the parameter, where the options have none.
function sections.start(options, who, value)
  if options.value == nil and value ~= nil then
    options = setmetatable({ value = value }, { __index = options })
  end
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
  local back = returns.new(options, who, flow)
  local count = options.count == nil and 1 or arguments.integer(options.count, 1, who, "count")
  local skip = options.skip == nil and 0 or arguments.integer(options.skip, 0, who, "skip")
  local points = returns.points(flow, back, x, p, skip, count)
  local s = setmetatable({ flow = flow, back = back, parameter = p, t = core.vector(count), points = points,
    x = core.zeros(count, #x) }, Section)
  for k, point in ipairs(points) do
    s.t[k] = point.t
    for i = 1, #x do s.x[k][i] = point.x[i] end
  end
  s.span = count > 1 and points[count].t - points[count - 1].t or points[count].t - flow.t0
  return s
end

return sections
