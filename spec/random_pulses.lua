-- Random models whose data have a pulse or a dip that lasts for a small part of the run: for specs that compare integrators.
-- pulses.kinds[name]() draws a model. It returns the function (class, osi, steps), which returns a simulation and its system.
local ns = require "nslua"

local pulses = {}

local function uniform(a, b) return a + (b - a) * math.random() end
local function one_of(list) return list[math.random(#list)] end

-- Shapes of height 1, which last from -1/2 to 1/2.
local shapes = {
  bell = function(s) return math.exp(-16 * s * s) end,
  box = function(s) return math.abs(s) < 0.5 and 1 or 0 end,
  roof = function(s) return math.max(0, 1 - 2 * math.abs(s)) end,
  wave = function(s) return math.abs(s) < 0.5 and math.cos(math.pi * s) ^ 2 or 0 end,
}

-- A pulse of height 1 that lasts for 1/60 to 1/8 of the time T; if `continuous`, it does not jump.
local function pulse(T, continuous)
  local shape, width = shapes[one_of { "bell", "roof", "wave", not continuous and "box" or nil }], T / uniform(8, 60)
  local middle = uniform(0.05, 0.9) * T
  return function(t) return shape((t - middle) / width) end
end

local function simulate(class, osi, T, steps, ds, inter)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  if inter then nsds:link(inter, ds) end
  return ns[class](nsds, ns.TimeDiscretisation(0, T / steps), osi), ds
end

-- Two shafts and a clutch, stuck at first or soon; its capacity dips below the torque. How the capacity is stated differs. It does
-- not jump: EventDriven, with which the runs are compared, may refuse a coefficient or a bound that does.
local function clutch(form)
  return function()
    local T, full, torque = 10 ^ uniform(-2, 2), uniform(1, 3), uniform(0.2, 0.9)
    local p = pulse(10, true)
    local left, start = uniform(0, 0.95) * torque / full, one_of { 0, 0.5 }
    local scale = 10 / T
    local function capacity(t) return full * (1 - (1 - left) * p(t * scale)) end
    return function(class, osi, steps)
      local sys = ns.FirstOrderLinearTIDS({ start * T, 0 }, ns.zeros(2, 2), { torque, 0 })
      local law = ns.RelayNSL(1)
      local rel
      if form == "bounds" then
        law = ns.RelayNSL(1, function(t) return -capacity(t) end, capacity)
        rel = ns.FirstOrderLinearR { C = { { -1, 1 } }, B = { { -1 }, { 1 } } }
      elseif form == "B" then
        rel = ns.FirstOrderLinearR { C = { { -1, 1 } }, B = function(t, _, B) B[1][1], B[2][1] = -capacity(t), capacity(t) end }
      else
        rel = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] - x[1] end,
          g = function(t, _, l, _, r) r[1], r[2] = -capacity(t) * l[1], capacity(t) * l[1] end }
      end
      return simulate(class, osi, T, steps, sys, ns.Interaction(law, rel, "clutch"))
    end
  end
end

-- A stable motion, with dry friction if `law` (then the pulse does not jump, as above), that a pulse moves.
local function source(form, law)
  return function()
    local T, k, w, p, height = uniform(2, 8), uniform(0.1, 0.5), uniform(0.2, 1), pulse(1, law), uniform(2, 6) * one_of { -1, 1 }
    local x0 = { uniform(-1, 1), uniform(-1, 1) }
    local function b(t) return height * p(t / T) end
    return function(class, osi, steps)
      local ds
      if form == "b" then
        ds = ns.FirstOrderLinearDS(x0, { { -k, w }, { -w, -k } }, function(t, _, out) out[1], out[2] = b(t), 0 end)
      elseif form == "A" then
        ds = ns.FirstOrderLinearDS(x0, function(t, _, A)
          A[1][1], A[1][2], A[2][1], A[2][2] = -k, w, -w - b(t), -k
        end)
      elseif form == "f" then
        ds = ns.FirstOrderNonLinearDS { x0 = x0, f = function(t, x, _, f)
          f[1], f[2] = -k * x[1] + w * x[2] + b(t), -w * math.sin(x[1]) - k * x[2] end }
      else -- x2 is algebraic
        ds = ns.FirstOrderNonLinearDS { x0 = { x0[1], x0[1] }, f = function(t, x, _, f)
          f[1], f[2] = -k * x[2], x[2] - x[1] + b(t) end }
        ds:setMPtr { { 1, 0 }, { 0, 0 } }
      end
      local inter = law and ns.Interaction(ns.RelayNSL(1, -0.3, 0.3), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 }, { 0 } }), "rub")
      return simulate(class, osi, T, steps, ds, inter)
    end
  end
end

-- A mass that rests on the floor, or falls: a pulse lifts it, or moves it aside.
local function mass()
  local T, p, height, high = uniform(0.5, 2), pulse(1), uniform(5, 30), one_of { 0, 0.1 }
  return function(class, osi, steps)
    local ds = ns.LagrangianLinearTIDS({ 0, high }, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
    ds:setComputeFExtFunction(function(t, _, f) f[1], f[2] = height * p(t / T), -9.81 + height * p(t / T) end)
    return simulate(class, osi, T, steps, ds, ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 0, 1 } }, "floor"))
  end
end

pulses.kinds = {
  ["capacity by B"] = clutch "B", ["capacity by g"] = clutch "g", ["capacity by bounds"] = clutch "bounds",
  ["source"] = source "b", ["source and friction"] = source("b", true), ["coefficient"] = source "A",
  ["coefficient and friction"] = source("A", true), ["right side"] = source "f", ["right side and friction"] = source("f", true),
  ["algebraic equation"] = source "dae", ["force on a mass"] = mass,
}

return pulses
