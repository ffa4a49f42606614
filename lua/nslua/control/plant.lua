-- nslua.control.plant: a controlled system: its state as one vector, and the place where inputs go.
--
-- What is put into a plant is a discrete state of a clock with the plant's name, `input`, to which the model is
-- bound: b of a linear system of first order, z of a nonlinear one, the external forces of a mechanical one. It is
-- the plant's own constant term and the sum of B u of all controllers.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"
local support = core.discrete_support

local fail, describe = arguments.fail, arguments.describe

local plant = {}

-- The function that a script has given as a callback, or nil; one that can't be called from Lua is refused.
local function callback(ds, name)
  local f = support.callback(ds, name)
  if f == true then
    fail("%s: %s of a controlled plant must be a function of Lua, as by a setter: it is a method of a class, or"
      .. " of a library", ds:name(), name)
  end
  return f or nil
end

-- x' = A x + b, where b is a constant or a function of the time.
local LINEAR = {}

function LINEAR.size(ds) return ds:dimension() end

function LINEAR.own(ds)
  local f = callback(ds, "computeb")
  local b = not f and ds:b()
  return b and core.vector(b) or core.zeros(ds:dimension()), f
end

function LINEAR.bind(ds, input, f)
  if not f then return ds:setbPtr(input) end
  if ds:z() then
    fail("%s: the parameters z of a controlled plant, whose b is a function, hold its input", ds:name())
  end
  ds:setzPtr(input)
  ds:setComputebFunction(function(t, z, b)
    f(t, z, b)
    for i = 1, #z do b[i] = b[i] + z[i] end
  end)
end

-- A of the plant, for models of controllers.
function LINEAR.matrix(ds) return ds:A() and core.matrix(ds:A()) or core.zeros(ds:dimension(), ds:dimension()) end

-- x' = f(t, x, z): the input is z.
local NONLINEAR = { direct = true }

function NONLINEAR.size(ds, rows) return ds:z() and #ds:z() or rows end

function NONLINEAR.own(ds, size) return ds:z() and core.vector(ds:z()) or core.zeros(size) end

function NONLINEAR.bind(ds, input) ds:setzPtr(input) end

local MECHANICAL = { direct = true }

function MECHANICAL.size(ds) return #ds:velocity() end

function MECHANICAL.own(ds, size)
  if callback(ds, "computeFExt") then
    fail("%s: external forces of a controlled plant must be constants", ds:name())
  end
  local f = ds:fExt()
  return f and core.vector(f) or core.zeros(size)
end

function MECHANICAL.bind(ds, input) ds:setFExtPtr(input) end

-- M v' = F - K q - C v with constant M, K, C: A is [0, I; -M^-1 K, -M^-1 C].
local LINEAR_MECHANICAL = setmetatable({}, { __index = MECHANICAL })

function LINEAR_MECHANICAL.matrix(ds)
  local n, M = #ds:velocity(), core.matrix(ds:mass()):lu()
  local A = core.zeros(2 * n, 2 * n)
  local K, C = ds:K() and M:solve(core.matrix(ds:K())), ds:C() and M:solve(core.matrix(ds:C()))
  for i = 1, n do
    A[i][n + i] = 1
    for j = 1, n do
      A[n + i][j], A[n + i][n + j] = K and -K[i][j] or 0, C and -C[i][j] or 0
    end
  end
  return A
end

-- The rates of q and v by forces: v' = M^-1 F, where M is that of the present place.
function MECHANICAL.rates(ds, F)
  local n = #ds:velocity()
  if #ds:x() ~= 2 * n then return F end -- a quaternion has no such model
  if not where.try(ds.mass, ds) then ds:computeMass() end
  local rates, accelerations = core.zeros(2 * n, F:cols()), core.solve(core.matrix(ds:mass()), F)
  for i = 1, n do
    for j = 1, F:cols() do rates[n + i][j] = accelerations[i][j] end
  end
  return rates
end

local KINDS = { FirstOrderLinearTIDS = LINEAR, FirstOrderLinearDS = LINEAR, FirstOrderNonLinearDS = NONLINEAR,
  LagrangianLinearTIDS = LINEAR_MECHANICAL, LagrangianDS = MECHANICAL, LagrangianLinearDiagonalDS = LINEAR_MECHANICAL,
  NewtonEulerDS = MECHANICAL }

-- The kind of a system; who: of messages.
function plant.kind(ds, who)
  local kind = type(ds) == "userdata" and KINDS[getmetatable(ds)]
  if not kind then fail("%s: system: expected a dynamical system, got %s", who, describe(ds)) end
  return kind
end

-- The state as one vector; of mechanics q, then v.
function plant.state(ds) return ds:x():copy() end

-- A of a linear plant; nil: it is not linear.
function plant.matrix(ds)
  local kind = KINDS[getmetatable(ds)]
  return kind.matrix and kind.matrix(ds)
end

-- The rates of the state by inputs, the columns of a matrix.
function plant.rates(ds, inputs)
  local kind = KINDS[getmetatable(ds)]
  return kind.rates and kind.rates(ds, inputs) or inputs
end

-- The constant term of the state's rates, as a column; 0 where it is a function.
function plant.constant(ds)
  local kind = KINDS[getmetatable(ds)]
  if kind == LINEAR and not support.callback(ds, "computeb") and ds:b() then return core.matrix(ds:b():column()) end
  if kind.rates and not support.callback(ds, "computeFExt") and ds:fExt() then
    return plant.rates(ds, core.matrix(ds:fExt():column()))
  end
  return core.zeros(#ds:x(), 1)
end

-- ---- the inputs ----

-- B u of all controllers of a plant, at present.
function plant.forced(self, simu)
  local sum = core.zeros(self.size)
  for _, controller in ipairs(self.controllers) do sum = sum + controller.B * controller:output(simu) end
  return sum
end

-- Puts the present outputs of the controllers into the plant.
local function put(self, simu)
  local s, sum = simu:discrete(self.name), plant.forced(self, simu)
  sum = sum + (self.held and s.b or self.own)
  s.input:assign(sum)
end

plant.put = put

-- Makes a system ready for controllers: the clock with its input. held: a function b is held over each period, with
-- its value at the end of that.
function plant.prepare(simu, ds, name, period, rows, held, who)
  local kind = plant.kind(ds, who)
  local size = kind.size(ds, rows)
  local own, f = kind.own(ds, size)
  held = held and f
  local self = { ds = ds, name = name, size = size, own = own, controllers = {}, held = held and true or false }
  local state = { input = own, b = held and core.zeros(size) or nil }
  local function hold(t, s, simulation)
    if held then
      local b = core.zeros(size)
      held(t + period, core.zeros(0), b)
      s.b:assign(b)
    end
    put(self, simulation)
  end
  local s = simu:every { name = name, period = period, state = state, act = hold }
  if held then ds:setComputebFunction(nil) end
  kind.bind(ds, s.input, not held and f or nil)
  return self
end

return plant
