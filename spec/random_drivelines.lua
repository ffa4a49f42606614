-- Random drivelines, as drawings and written by hand: the states of all nodes, rigid parts as equations with multipliers.
local ns = require "nslua"

local drivelines = {}

-- One kind of part between nodes i and j: adds it to the drawing d, and by hand to the model m with its numbers.
local kinds = {}

function kinds.spring(d, m, name, i, j, between)
  local c = between(5, 40)
  d:spring(name, "n" .. i, "n" .. j, c)
  m:force({ [i] = -1, [j] = 1 }, function(e) return c * e end)
end

function kinds.damper(d, m, name, i, j, between)
  local c = between(0.2, 2)
  d:damper(name, "n" .. i, "n" .. j, c)
  m:force({ [i] = -1, [j] = 1 }, function(_, de) return c * de end)
end

function kinds.clutch(d, m, name, i, j, between)
  local c = between(0.5, 4)
  d:clutch(name, "n" .. i, "n" .. j, c)
  m:law({ [i] = -1, [j] = 1 }, ns.RelayNSL(1, -c, c))
end

function kinds.freewheel(d, m, name, i, j, between)
  local c = between(0.1, 1)
  d:freewheel(name, "n" .. i, "n" .. j, { capacity = c })
  m.speed[j] = m.speed[i] + between(0, 2)
  m:law({ [i] = -1, [j] = 1 }, ns.RelayNSL(1, -c, math.huge))
end

function kinds.stop(d, m, name, i, j, between)
  local c, upper = between(100, 400), between(0.2, 1)
  d:stop(name, "n" .. i, "n" .. j, { upper = upper, stiffness = c })
  m:gap({ [i] = -1, [j] = 1 }, c, upper)
end

function kinds.gear(d, m, name, i, j, between)
  local ratio = between(0.5, 3) * (between(0, 1) < 0.5 and -1 or 1)
  d:gear(name, "n" .. i, "n" .. j, ratio)
  m.speed[j] = m.speed[i] / ratio
  m:law({ [i] = 1, [j] = -ratio }, ns.EqualityConditionNSL(1))
end

function kinds.belt(d, m, name, i, j, between)
  local a, b = between(0.1, 0.4), between(0.1, 0.4)
  d:belt(name, "n" .. i, "n" .. j, a, b)
  m.speed[j] = m.speed[i] * a / b
  m:law({ [i] = -a, [j] = b }, ns.EqualityConditionNSL(1))
end

local names = require "sorted_names"(kinds)

-- ---- by hand ----

local Model = {}
Model.__index = Model

function Model:force(along, f) self.forces[#self.forces + 1] = { along = along, f = f } end

-- The rows of w, and the inputs J^-1 along.
function Model:relation(along)
  local n = #self.J
  local C, B = ns.zeros(1, 2 * n), ns.zeros(2 * n, 1)
  for i, c in pairs(along) do C[1][n + i], B[n + i][1] = c, c / self.J[i] end
  return C, B
end

function Model:law(along, law)
  local C, B = self:relation(along)
  self.interactions[#self.interactions + 1] = ns.Interaction(law, ns.FirstOrderLinearTIR { C = C, B = B })
end

-- A spring of stiffness c that only pushes, beyond an extension: lambda is its force.
function Model:gap(along, c, upper)
  local n = #self.J
  local _, B = self:relation(along)
  local C = ns.zeros(1, 2 * n)
  for i, factor in pairs(along) do C[1][i] = -factor end
  self.interactions[#self.interactions + 1] = ns.Interaction(ns.ComplementarityConditionNSL(1),
    ns.FirstOrderLinearTIR { C = C, D = { { 1 / c } }, e = { upper }, B = -1 * B })
end

function Model:simulation(T, step)
  local n, J, x0 = #self.J, self.J, {}
  for i = 1, n do x0[i], x0[n + i] = 0, self.speed[i] end
  local ds = ns.FirstOrderNonLinearDS { x0 = x0, f = function(t, x, _, f)
    for i = 1, n do f[i], f[n + i] = x[n + i], self.torque[i](t) / J[i] end
    for _, one in ipairs(self.forces) do
      local e, de = 0, 0
      for i, c in pairs(one.along) do e, de = e + c * x[i], de + c * x[n + i] end
      local force = one.f(e, de)
      for i, c in pairs(one.along) do f[n + i] = f[n + i] - c * force / J[i] end
    end
  end }
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  for _, one in ipairs(self.interactions) do nsds:link(one, ds) end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, step), ns.RungeKuttaOSI(1e-10))
end

-- ---- both ----

-- The drawing and the model by hand of a seed: a tree of 2 to 6 shafts, friction on some, a torque on the first.
function drivelines.make(seed)
  local rng = ns.rng(seed)
  local function between(a, b) return a + (b - a) * rng:uniform() end
  local n = 2 + math.floor(between(0, 4.999))
  local d = ns.driveline()
  local m = setmetatable({ J = {}, speed = {}, torque = {}, forces = {}, interactions = {} }, Model)
  for i = 1, n do
    m.J[i], m.speed[i], m.torque[i] = between(0.5, 3), between(-2, 2), function() return 0 end
  end
  local amplitude, frequency, phase = between(2, 10), between(0.2, 1), between(0.4, 1.2)
  d:torque("T", "n1", { amplitude = amplitude, frequency = frequency, phase = phase })
  m.torque[1] = function(t) return amplitude * math.sin(2 * math.pi * frequency * t + phase) end
  for j = 2, n do
    kinds[names[1 + math.floor(between(0, #names - 1e-9))]](d, m, "P" .. j, 1 + math.floor(between(0, j - 1.001)), j, between)
  end
  for i = 1, n do d:inertia("J" .. i, "n" .. i, m.J[i], { speed = m.speed[i] }) end
  local slipping = between(0, 1) < 0.7 and 1 + math.floor(between(0, n - 0.001))
  if slipping then
    local c, viscous = between(0.1, 1.5), between(0, 0.3)
    d:friction("F", "n" .. slipping, { coulomb = c, viscous = viscous })
    m:law({ [slipping] = 1 }, ns.RelayNSL(1, -c, c))
    m:force({ [slipping] = 1 }, function(_, de) return viscous * de end)
  end
  return d, m, n
end

return drivelines
