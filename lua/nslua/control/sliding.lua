-- nslua.control.sliding: sliding-mode controllers, explicit and implicit.
--
-- Implicit ones solve, at each sample, for the sign that belongs to the sliding variable of the next one (Acary,
-- Brogliato and Orlov, IEEE Trans. Autom. Control 57, 2012; Huber, Acary, Brogliato and Plestan, Control Eng.
-- Practice 46, 2016): in sliding that is 0 to rounding, and the control does not chatter. They have a model of the
-- plant that is sampled exactly.
local arguments = require "nslua.base.arguments"
local controller = require "nslua.control.controller"
local core = require "nslua.core"
local system = require "nslua.control.system"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject
local NONE, clip = controller.NONE, controller.clip

local sliding = {}

local function sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end

local function surface(self, who)
  local S = self.options.Csurface
  if S == nil then fail("%s: Csurface is missing: the rows of the sliding variable S x", who) end
  local n = self.acts:rows()
  S = system.matrix(S, nil, n, who, "Csurface")
  if S:rows() ~= self.B:cols() then
    fail("%s: Csurface: expected one row for each input, %d, got %d", who, self.B:cols(), S:rows())
  end
  return S
end

-- ---- the equivalent control ----

local function regular(M, who)
  if M:rcond() < 2 ^ -50 then
    fail("%s: S B is singular: the input does not move the sliding variable", who)
  end
  return M:lu()
end

-- ueq(y): what keeps S x constant; by "exact" from sample to sample, by a number theta with the rule of that weight
-- along the field, explicit at 0 and implicit at 1.
local function equivalent(self, S, A, Ad, Bd, who)
  local way = self.options.ueq
  if way == nil or way == true then way = self.options.theta end
  if not way then return function() return core.zeros(S:rows()) end end
  if way == "exact" then
    local SB, E = regular(S * Bd, who), S * (core.eye(Ad:rows()) - Ad)
    return function(y) return SB:solve(E * y) end
  end
  if type(way) ~= "number" or not (way >= 0 and way <= 1) then
    local option = way == self.options.theta and "theta: expected" or "ueq: expected true, false, \"exact\" or"
    fail("%s: %s a number from 0 to 1, got %s", who, option, describe(way))
  end
  local P = regular(S * self.acts, who):solve(S * A)
  local N = Bd * P
  local left, right = (core.eye(Ad:rows()) + way * N):lu(), Ad + (way - 1) * N
  return function(y) return (way - 1) * (P * y) - way * (P * left:solve(right * y)) end
end

local SMC = { Csurface = NONE, alpha = 1, theta = 0.5, ueq = NONE, D = NONE }

local function no_ueq(self, value)
  self.options.ueq = value == false
  return self
end

local function set_D(self, value)
  self.options.D = value
  return self
end

local SMC_METHODS = { noUeq = no_ueq, setSaturationMatrix = set_D, setSaturationMatrixPtr = set_D }

-- S, ueq, the gains, and the model of the plant.
local function parts(self, h, who)
  local S = surface(self, who)
  local A, Ad, Bd = controller.model(self, h, who)
  return S, equivalent(self, S, A, Ad, Bd, who), system.sizes(self.options.alpha, S:rows(), who, "alpha"), Ad, Bd
end

-- u = ueq - alpha sign(S y); with D, a boundary layer: sign(s) is s / D within it.
sliding.ExplicitLinearSMC = controller.class { name = "ExplicitLinearSMC", options = SMC,
  methods = SMC_METHODS, first = { "B", "D" },
  prepare = function(self, h, who)
    local S, ueq, alpha = parts(self, h, who)
    local D = self.options.D and system.sizes(self.options.D, S:rows(), who, "D")
    return function(_, y)
      local u, s = ueq(y), S * y
      for i = 1, #u do
        local value = D and D[i] > 0 and clip(s[i] / D[i], -1, 1) or sign(s[i])
        u[i] = u[i] - alpha[i] * value
      end
      return u
    end
  end }

-- The z within [-alpha, alpha] with M z + q = 0, or of the sign against it.
local function solve_relay(M, q, alpha, who)
  if #q == 1 then return core.vector { clip(-q[1] / M[1][1], -alpha[1], alpha[1]) } end
  local r = core.numerics.box { M = M, q = q, lower = alpha * -1, upper = alpha }
  if not r.success then fail("%s: the implicit law has no solution: %s", who, tostring(r.status)) end
  return r.z
end

-- u = ueq + us, -us / alpha the sign of S x at the next sample.
sliding.LinearSMC = controller.class { name = "LinearSMC", options = SMC, methods = SMC_METHODS,
  first = { "B", "D" },
  state = function(_, m) return { us = core.zeros(m), ueq = core.zeros(m) } end,
  prepare = function(self, h, who)
    local S, ueq, alpha, Ad, Bd = parts(self, h, who)
    local M, free = S * Bd, S * Ad
    if self.options.D then M = M + system.square(self.options.D, S:rows(), who, "D") end
    if S:rows() == 1 and M[1][1] <= 0 then
      fail("%s: S B must be above 0, got %g: change the sign of the surface or of B", who, M[1][1])
    end
    local SB = S * Bd
    return function(_, y, s)
      local e = ueq(y)
      local us = solve_relay(M, free * y + SB * e, alpha, who)
      s.ueq:assign(e)
      s.us:assign(us)
      return e + us
    end
  end }

-- Second order in the sampling, as in Siconos: the error of the last prediction is added, and the input is divided by
-- the sum of the entries of S. The model has no b.
sliding.LinearSMCOT2 = controller.class { name = "LinearSMCOT2", options = { Csurface = NONE, limit = 2 },
  state = function(self)
    return { predicted = core.zeros(self.acts:rows()), begun = 0 }
  end,
  prepare = function(self, h, who)
    local S, limit = surface(self, who), self.options.limit
    if S:rows() ~= 1 then fail("%s: Csurface: expected one row, got %d", who, S:rows()) end
    if arguments.number(limit, who, "limit") <= 0 then
      fail("%s: limit: expected a number above 0, got %g", who, limit)
    end
    local _, Ad, Bd = controller.model(self, h, who)
    local row = S:row(1):copy()
    local sum = row:sum()
    if sum == 0 then fail("%s: Csurface: the sum of its entries is 0, by which this law divides", who) end
    return function(_, y, s)
      local free = Ad * y
      local old = s.begun > 0.5 and s.predicted:copy() or y
      local u = core.vector { clip(-row:dot(free + y - old) / (h * sum), -limit, limit) }
      s.predicted:assign(free + Bd * u)
      s.begun = 1
      return u
    end
  end }

-- ---- twisting ----

local TWISTING = { gain = NONE, beta = NONE, hControl = NONE, Csurface = NONE }

local function twisting_input(self, who)
  local gain, beta = self.options.gain, self.options.beta
  if self.given_B == nil then
    if type(gain) ~= "number" or type(beta) ~= "number" then
      fail("%s: expected gain and beta after the sensor, or B", who)
    end
    reject(not (beta > 0 and beta < 1), beta, "%s: beta: expected a number between 0 and 1", who)
    if arguments.number(gain, who, "gain") <= 0 then
      fail("%s: gain: expected a number above 0, got %g", who, gain)
    end
    self.given_B = { { 0, 0 }, { gain, gain * beta } }
  end
  local B = controller.find_B(self, who)
  if B:cols() ~= 2 then fail("%s: B: expected 2 columns, for the two parts of u, got %d", who, B:cols()) end
  return B
end

local function twisting_class(name, prepare)
  return controller.class { name = name, options = TWISTING, first = { "gain", "beta", "hControl" },
    prepare = prepare, methods = { prepare_input = twisting_input } }
end

-- u_i = -sign(y_i); the sign of 0 is 1, as in Siconos.
sliding.ExplicitTwisting = twisting_class("ExplicitTwisting", function(self)
  local m = self.B:cols()
  return function(_, y)
    local u = core.zeros(m)
    for i = 1, m do u[i] = y[i] > 0 and -1 or 1 end
    return u
  end
end)

-- The law of the next sample: F = S (Ad y + Bd u), -F in the normal cone at u of a polygon that leans with `lean`.
local function implicit_twisting(self, h, lean, who)
  local _, Ad, Bd = controller.model(self, h, who)
  local S = self.options.Csurface or core.eye(2)
  S = system.matrix(S, 2, Ad:rows(), who, "Csurface")
  local H = core.matrix { { 1, 0 }, { -lean / 2, 1 }, { -1, 0 }, { lean / 2, -1 } }
  local M, free, K = S * Bd, S * Ad, core.full(4, -1)
  return function(_, y)
    local r = core.numerics.normal_cone { M = M, q = free * y, H = H, K = K }
    if not r.success then fail("%s: the implicit law has no solution: %s", who, tostring(r.status)) end
    return r.z
  end
end

sliding.Twisting = twisting_class("Twisting", function(self, h, who)
  local lean = self.options.hControl or h
  if arguments.number(lean, who, "hControl") < 0 then
    fail("%s: hControl: expected a number of 0 or more, got %g", who, lean)
  end
  return implicit_twisting(self, h, lean, who)
end)

sliding.RegularTwisting = twisting_class("RegularTwisting", function(self, h, who)
  return implicit_twisting(self, h, 0, who)
end)

-- ---- super-twisting ----

-- v' = -k2 sign(s), s' = -k1 |s|^1/2 sign(s) + v + d for the sliding variable s = S x; u is what makes s change so.
local SUPER = { Csurface = NONE, k1 = NONE, k2 = NONE, ueq = "exact" }

local function super_parts(self, h, who)
  local S, k1, k2 = surface(self, who), self.options.k1, self.options.k2
  for name, value in pairs { k1 = k1 or false, k2 = k2 or false } do
    reject(type(value) ~= "number" or value < 0, value or nil, "%s: %s: expected a number of 0 or more", who, name)
  end
  if S:rows() ~= 1 then fail("%s: Csurface: expected one row, got %d", who, S:rows()) end
  local A, Ad, Bd = controller.model(self, h, who)
  local ueq, rate = equivalent(self, S, A, Ad, Bd, who), (S * Bd)[1][1] / h
  return S:row(1):copy(), k1, k2, function(y, nu) return ueq(y) + core.vector { nu / rate } end
end

local function super_class(name, prepare)
  return controller.class { name = name, options = SUPER, state = function() return { v = 0 } end, prepare = prepare }
end

sliding.ExplicitSuperTwisting = super_class("ExplicitSuperTwisting", function(self, h, who)
  local row, k1, k2, input = super_parts(self, h, who)
  return function(_, y, s)
    local sigma = row:dot(y)
    local nu = s.v - k1 * math.sqrt(math.abs(sigma)) * sign(sigma)
    s.v = s.v - h * k2 * sign(sigma)
    return input(y, nu)
  end
end)

-- Implicit: s + h k1 |s|^1/2 sign(s) + h^2 k2 sign(s) contains r = sigma + h v (Brogliato, Polyakov and Efimov, IEEE
-- Trans. Autom. Control 65, 2020).
sliding.SuperTwisting = super_class("SuperTwisting", function(self, h, who)
  local row, k1, k2, input = super_parts(self, h, who)
  return function(_, y, s)
    local sigma = row:dot(y)
    local r = sigma + h * s.v
    local rest = math.abs(r) - h * h * k2
    if rest <= 0 then
      s.v = -sigma / h
      return input(y, s.v)
    end
    local root = 2 * rest / (h * k1 + math.sqrt(h * h * k1 * k1 + 4 * rest))
    s.v = s.v - h * k2 * sign(r)
    return input(y, s.v - k1 * root * sign(r))
  end
end)

return sliding
