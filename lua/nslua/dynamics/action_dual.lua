-- nslua.dynamics.action_dual: the derivatives of the action of a clock, by dual numbers.
--
-- The action is called while it finds stand-ins in the place of systems, discrete states and their vectors: the
-- numbers of all these are elements of one vector, which is one of dual numbers. Meanwhile the model has other
-- numbers, so that an action that reaches one of them in another way gives other values, and is found out.
local core = require "nslua.core"

local support = core.discrete_support

local Action = {}
Action.__index = Action

local function refuse() error("a field is set", 0) end

-- Stands in for a discrete state of the event, a userdata.
local function states_of(self, real, event)
  local function scalar(name) return self.scalars[("%s.%s"):format(event, name)] end
  return setmetatable({}, {
    __index = function(_, name)
      local at = scalar(name)
      if at then return self.now[at] end
      return self.replace(real[name]) or real[name]
    end,
    __newindex = function(_, name, value)
      local at = scalar(name)
      if at then self.now[at] = value else self.replace(real[name]):assign(value) end
    end })
end

-- Stands in for an object with methods.
local function object_of(self, real)
  return setmetatable({}, { __newindex = refuse, __index = function(_, name)
    local method = real[name]
    return function(_, ...)
      local result = method(real, ...)
      return self.replace(result) or result
    end
  end })
end

-- What stands in for a value, or nil: a slice of the present numbers for a vector of them.
local function replace(self, value)
  local first, stride = support.address(value)
  if not first then return self.known[value] end
  local from, last = self.at[first], stride * (#value - 1)
  if not from or stride < 1 or self.at[first + last] ~= from + last then return nil end
  return self.now:slice(from, from + last, stride)
end

-- The actions of a run: derivatives by the states of the systems, the places and p parameters that are numbers.
local function new(simu, systems, places, p)
  local self = { simu = simu, at = {}, known = {}, scalars = {}, jobs = {}, vectors = {}, order = {} }
  local list, all = support.addresses(simu, places, p), {}
  local function add(address)
    if not self.at[address] then all[#all + 1], self.at[address] = address, 0 end
  end
  local function add_vector(vector, order)
    local first, stride = support.address(vector)
    self.vectors[#self.vectors + 1] = vector
    for i = 1, vector and #vector or 0 do
      add(first + stride * (i - 1))
      if order then order[#order + 1] = first + stride * (i - 1) end
    end
  end
  for _, ds in ipairs(systems) do
    add_vector(ds:x(), self.order)
    add_vector(ds:z())
    self.known[ds] = object_of(self, ds)
  end
  self.nx = #self.order
  for _, address in ipairs(list) do
    add(address)
    self.order[#self.order + 1] = address
  end
  table.sort(all)
  for i, address in ipairs(all) do self.at[address] = i end
  for k, address in ipairs(self.order) do self.order[k] = self.at[address] end
  self.size = #all
  for k, name in ipairs(support.names(simu, places)) do self.scalars[name] = self.order[self.nx + k] end
  function self.replace(value) return replace(self, value) end
  for _, event in ipairs(simu:userEvents()) do
    local states = simu:discrete(event.name)
    if states then self.known[states] = states_of(self, states, event.name) end
  end
  self.known[simu], self.known[simu:nsds()] = object_of(self, simu), object_of(self, simu:nsds())
  return setmetatable(self, Action)
end

-- The numbers of the model, in the order of their addresses; all: those with derivatives.
function Action:point(all)
  local point = core.zeros(self.size)
  for _, vector in ipairs(self.vectors) do
    local first, stride = support.address(vector)
    for i = 1, #vector do point[self.at[first + stride * (i - 1)]] = vector[i] end
  end
  for k, at in ipairs(self.order) do point[at] = all[k] end
  return point
end

-- An action as a function of the numbers of the model, which gives states and places after it. It is made once, as
-- what it reaches is sought once.
local function job_of(self, act, states)
  local job, with = { reach = support.reach(act, { self.replace }) }, { self.replace }
  local function call() act(job.t, self.known[states], self.known[self.simu]) end
  function job.f(p)
    local list = {}
    self.now = p:copy()
    support.draws(self.simu, job.draws)
    support.swapped(job.reach, with, call)
    for k, want in ipairs(job.want) do
      list[k] = self.now[self.order[k]]
      if job.plain and list[k] ~= want then error("other numbers are used", 0) end
    end
    job.plain = false
    return list
  end
  return job
end

-- The derivatives (places x numbers) at the numbers `all` of an action; base: what it makes of the places there; nil:
-- it can not be called with dual numbers. aside(): the model gets other numbers.
function Action:slopes(act, t, states, name, all, base, aside)
  local job = self.jobs[name]
  if job == false then return nil end
  self.now = core.zeros(self.size)
  job = job or job_of(self, act, states)
  job.t, job.plain, job.draws = t, true, support.draws(self.simu)
  job.want = core.concatenate { all:slice(1, self.nx), base }:totable()
  local point = self:point(all)
  aside()
  local good, J = pcall(core.jacobian, job.f, point)
  self.jobs[name] = good and job
  if not good then return nil end
  local a = core.zeros(#base, #all)
  for k, at in ipairs(self.order) do
    for i = 1, #base do a[i][k] = J[self.nx + i][at] end
  end
  return a
end

return new
