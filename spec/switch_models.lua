-- Nonlinear models with relays: x' = f(t, x) + B(t, x) lambda, y = h(t, x). Each is { x0, T, lb, ub, f, B, h }; f, B and h return
-- lists, B a list of rows. Their runs are in spec/reference/events/switches.lua.
local ns = require "nslua"

local sin, cos = math.sin, math.cos

local models = {
  van_der_pol = { x0 = { 2, 0.5 }, T = 20, lb = { -1 }, ub = { 1 },
    f = function(_, x) return { x[2], 1.5 * (1 - x[1] ^ 2) * x[2] - x[1] } end,
    B = function() return { { 0 }, { 0.8 } } end,
    h = function(_, x) return { x[2] } end },
  -- Attraction to a circle, and crossings of a plane.
  circle_and_plane = { x0 = { 0.3, 0.2, 1.5 }, T = 10, lb = { -1, -1 }, ub = { 1, 1 },
    f = function(t, x) return { -1.3 * x[2] + 0.3 * x[3], 1.3 * x[1], -0.5 * x[3] + 1.6 * cos(1.1 * t) } end,
    B = function(_, x) return { { x[1], 0.2 }, { x[2], -0.1 }, { 0.1, 0.9 } } end,
    h = function(_, x) return { x[1] ^ 2 + x[2] ^ 2 - 1, x[3] - x[1] / 2 } end },
  -- Entry, exit and sliding on up to two of three curved surfaces; an entry may end the sliding on another one.
  three_surfaces = { x0 = { 1, -0.5, 0.25, 0 }, T = 10, lb = { -1, -1, -1 }, ub = { 1, 1, 1 },
    f = function(t) return { 1.4 * sin(1.7 * t + 2), 1.4 * sin(1.7 * t + 4), 1.4 * sin(1.7 * t + 6), 1 } end,
    B = function() return { { 1, 0.2, -0.1 }, { -0.3, 1, 0.2 }, { 0.1, -0.2, 1 }, { 0, 0, 0 } } end,
    h = function(_, x) return { x[1] - 0.3 * sin(x[4] + 1), x[2] - 0.3 * sin(x[4] + 2), x[3] - 0.3 * sin(x[4] + 3) } end },
  -- Predators are hunted while there are more than 1/4.
  harvest = { x0 = { 0.5, 0.4 }, T = 60, lb = { -1 }, ub = { 0 },
    f = function(_, x)
      local eaten = x[1] * x[2] / (0.2 + x[1])
      return { x[1] * (1 - x[1]) - eaten, -0.4 * x[2] + 0.9 * eaten }
    end,
    B = function(_, x) return { { 0 }, { 0.35 * x[2] } } end,
    h = function(_, x) return { x[2] - 0.25 } end },
  moving_surface = { x0 = { -1 }, T = 10, lb = { -1 }, ub = { 1 },
    f = function(t) return { cos(t) } end,
    B = function() return { { 1.2 } } end,
    h = function(t, x) return { x[1] - sin(2 * t) / 2 } end },
  -- Den Hartog's oscillator with dry friction, driven slowly: two stops in each period.
  den_hartog = { x0 = { 0.5, 0.1 }, T = 40, lb = { -1 }, ub = { 1 },
    f = function(t, x) return { x[2], -x[1] + 1.3 * cos(0.35 * t) } end,
    B = function() return { { 0 }, { 0.7 } } end,
    h = function(_, x) return { x[2] } end },
  -- A plate with dry friction on the ground, and a second one on it.
  stacked_plates = { x0 = { 0, 0, 0.4, -0.3 }, T = 25, lb = { -1, -1 }, ub = { 1, 1 },
    f = function(t, x) return { x[3], x[4], -3 * x[1] + 2.2 * sin(1.3 * t), -0.4 * x[2] } end,
    B = function() return { { 0, 0 }, { 0, 0 }, { 0.6, -0.3 }, { 0, 0.6 } } end,
    h = function(_, x) return { x[3], x[4] - x[3] } end },
  nonlinear_gain = { x0 = { 1.5, 0.5 }, T = 12, lb = { -1 }, ub = { 1 },
    f = function(t, x) return { x[2], -sin(x[1]) + 0.2 * cos(3 * t) } end,
    B = function(_, x) return { { 0.1 * x[1] }, { 0.5 + 0.3 * x[1] ^ 2 } } end,
    h = function(_, x) return { x[2] + 0.5 * x[1] - 0.1 } end },
  two_thresholds = { x0 = { 2, -1 }, T = 15, lb = { -1, -0.5 }, ub = { 0.5, 1 },
    f = function(t, x) return { -0.3 * x[1] + 0.5 * x[2] + 0.9 * sin(0.9 * t), -0.2 * x[2] - 0.4 * x[1] } end,
    B = function() return { { 1, 1 }, { 0, 0.3 } } end,
    h = function(_, x) return { x[1] - 0.4, x[1] + 0.3 } end },
  -- A vehicle that steers towards a target on a circle: left, right, or, in sliding, straight at it.
  pursuit = { x0 = { 0, 0, -2 }, T = 10, lb = { -1 }, ub = { 1 },
    f = function(_, x) return { 1.1 * cos(x[3]), 1.1 * sin(x[3]), 0 } end,
    B = function() return { { 0 }, { 0 }, { 1.5 } } end,
    h = function(t, x) return { (2 * cos(0.3 * t) - x[1]) * sin(x[3]) - (2 * sin(0.3 * t) - x[2]) * cos(x[3]) } end },
}

-- A simulation of a model: make(nsds, model) gives it from its graph. Also its system.
local function simulation(model, make)
  local n, m = #model.x0, #model.lb
  local ds = ns.FirstOrderNonLinearDS(model.x0, function(t, x, _, f)
    for i, v in ipairs(model.f(t, x)) do f[i] = v end
  end)
  local relation = ns.FirstOrderNonLinearR {
    h = function(t, x, _, _, y)
      for i, v in ipairs(model.h(t, x)) do y[i] = v end
    end,
    g = function(t, x, lambda, _, r)
      local B = model.B(t, x)
      for i = 1, n do
        for k = 1, m do r[i] = r[i] + B[i][k] * lambda[k] end
      end
    end,
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, model.T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(m, model.lb, model.ub), relation, "switches"), ds)
  return make(nsds, model), ds
end

return { models = models, simulation = simulation }
