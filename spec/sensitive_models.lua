-- Models of mechanics with random data, for derivatives. models[name].draw() is a list p of numbers; build(p) gives a simulation,
-- the value of the option `sensitivities`, and gather(S), which makes the columns of S those of p (nil: they are).
local ns = require "nslua"

local models = {}
local random = math.random

local function between(a, b) return a + (b - a) * random() end

local function simulation(T, ds, interactions)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  for _, interaction in ipairs(interactions) do nsds:link(interaction, ds) end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 3), ns.RungeKuttaOSI())
end

-- Sets column `to` of S to a combination of its columns: f(row) for a copy of each row.
local function combine(S, count, f)
  for i = 1, S:rows() do
    local row = {}
    for j = 1, S:cols() do row[j] = S[i][j] end
    local new = f(row, i)
    for j = 1, count do S[i][j] = new[j] end
  end
end

-- A point that bounces on a floor with friction: p = height, velocities, e, mu, mass.
models.bounce = {
  draw = function()
    return { between(0.5, 2), between(-1, 1), between(0, 1), between(0.3, 0.8), between(0.05, 0.6), between(0.5, 2) }
  end,
  build = function(p)
    local ball = ns.LagrangianLinearTIDS({ 0, p[1] }, { p[2], p[3] }, { { p[6], 0 }, { 0, p[6] } })
    ball:setFExtPtr(ns.vector { 0, -9.81 * 1.3 })
    local law = ns.NewtonImpactFrictionNSL(p[4], 0, p[5], 2)
    local floor = ns.Interaction(law, ns.LagrangianLinearTIR({ { 0, 1 }, { 1, 0 } }), "floor")
    local parameters = { { ball, "q0", 2 }, { ball, "velocity0" }, { law, "en" }, { law, "mu" }, { ball, "mass", 1, 1 },
      { ball, "mass", 2, 2 } }
    return simulation(1.3, ball, { floor }), parameters, function(S)
      combine(S, 6, function(r) return { r[1], r[2], r[3], r[4], r[5], r[6] + r[7] } end)
    end
  end,
}

-- A point whose bounces end; it slides then and stops: p = height, velocities, e, mu.
models.rest = {
  draw = function() return { between(0.5, 1), between(1.5, 3), between(-0.5, 0), between(0.2, 0.5), between(0.05, 0.2) } end,
  build = function(p)
    local ball = ns.LagrangianLinearTIDS({ 0, p[1] }, { p[2], p[3] }, { { 1, 0 }, { 0, 1 } })
    ball:setFExtPtr(ns.vector { 0, -9.81 })
    local law = ns.NewtonImpactFrictionNSL(p[4], 0, p[5], 2)
    local floor = ns.Interaction(law, ns.LagrangianLinearTIR({ { 0, 1 }, { 1, 0 } }), "floor")
    return simulation(2.4, ball, { floor }), { { ball, "q0", 2 }, { ball, "velocity0" }, { law, "en" }, { law, "mu" } }
  end,
}

-- A driven oscillator with dry friction that sticks and slips: p = x, v, stiffness, friction, amplitude.
models.stick_slip = {
  draw = function() return { between(0.5, 2), between(-0.5, 0.5), between(0.5, 1.5), between(0.2, 0.6), between(0.8, 2) } end,
  build = function(p)
    local mass = ns.LagrangianLinearTIDS({ p[1] }, { p[2] }, { { 1 } })
    mass:setKPtr(ns.matrix { { p[3] } })
    mass:setzPtr(ns.vector { p[5] })
    mass:setComputeFExtFunction(function(t, z, f) f[1] = z[1] * math.cos(1.7 * t) end)
    local law = ns.RelayNSL(1, -p[4], p[4])
    local belt = ns.Interaction(law, ns.LagrangianLinearTIR({ { 1 } }), "belt")
    return simulation(8, mass, { belt }), { "x0", { mass, "K" }, { law, "lb" }, { law, "ub" }, "z" }, function(S)
      combine(S, 5, function(r) return { r[1], r[2], r[3], r[5] - r[4], r[6] } end)
    end
  end,
}

-- A pendulum on a rod, against a wall: p = angle, its rate, e, mass, place of the wall.
models.pendulum = {
  draw = function()
    return { between(0.4, 1.2), between(-1, 1), between(0.4, 0.9), between(0.5, 2), between(-0.3, 0.2) }
  end,
  build = function(p)
    local c, s, m = math.cos(p[1]), math.sin(p[1]), p[4]
    local bob = ns.LagrangianLinearTIDS({ s, -c }, { p[2] * c, p[2] * s }, { { m, 0 }, { 0, m } })
    bob:setFExtPtr(ns.vector { 0, -7 })
    local rod = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = (q[1] * q[1] + q[2] * q[2] - 1) / 2 end }
    local law, place = ns.NewtonImpactNSL(p[3]), ns.LagrangianLinearTIR({ { 1, 0 } }, { -p[5] })
    local links = { ns.Interaction(ns.EqualityConditionNSL(1), rod, "rod"), ns.Interaction(law, place, "wall") }
    local parameters = { "x0", { law, "e" }, { bob, "mass", 1, 1 }, { bob, "mass", 2, 2 }, { place, "e" } }
    return simulation(3, bob, links), parameters, function(S)
      combine(S, 5, function(r)
        return { r[1] * c + r[2] * s + p[2] * (c * r[4] - s * r[3]), c * r[3] + s * r[4], r[5], r[6] + r[7], -r[8] }
      end)
    end
  end,
}

-- Three beads between walls: p = places, velocities, e of beads and of walls, a stiffness.
models.beads = {
  draw = function()
    local p = {}
    for i = 1, 3 do p[i], p[3 + i] = i + between(-0.3, 0.3), between(-2, 2) end
    p[7], p[8], p[9] = between(0.5, 0.95), between(0.6, 1), between(1, 3)
    return p
  end,
  build = function(p)
    local beads = ns.LagrangianLinearTIDS({ p[1], p[2], p[3] }, { p[4], p[5], p[6] }, { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 1.5 } })
    beads:setKPtr(ns.matrix { { p[9], 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
    local law, wall = ns.NewtonImpactNSL(p[7]), ns.NewtonImpactNSL(p[8])
    local function contact(which, C, e, name) return ns.Interaction(which, ns.LagrangianLinearTIR({ C }, { e }), name) end
    local links = { contact(law, { -1, 1, 0 }, -0.2, "12"), contact(law, { 0, -1, 1 }, -0.2, "23"),
      contact(wall, { 1, 0, 0 }, 0, "left"), contact(wall, { 0, 0, -1 }, 4, "right") }
    return simulation(2.2, beads, links), { "x0", { law, "e" }, { wall, "e" }, { beads, "K", 1, 1 } }
  end,
}

-- A point that bounces in space with friction: p = height, velocities, e, mu.
models.space = {
  draw = function()
    return { between(0.3, 1), between(-2, 2), between(1, 2), between(-1, 1), between(0.3, 0.7), between(0.05, 0.2) }
  end,
  build = function(p)
    local ball = ns.LagrangianLinearTIDS({ 0, 0, p[1] }, { p[2], p[3], p[4] }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 2 } })
    ball:setFExtPtr(ns.vector { 0.3, 0, -9.81 * 2 })
    local law = ns.NewtonImpactFrictionNSL(p[5], 0, p[6], 3)
    local floor = ns.Interaction(law, ns.LagrangianLinearTIR({ { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }), "floor")
    return simulation(1.1, ball, { floor }), { { ball, "q0", 3 }, { ball, "velocity0" }, { law, "en" }, { law, "mu" } }
  end,
}

-- The final state of a run, and its events in one text.
local function final(model, p)
  local sol = model.build(p):run()
  local x, kinds = {}, {}
  for i = 1, #sol.x[#sol] do x[i] = sol.x[#sol][i] end
  for i, event in ipairs(sol.events) do kinds[i] = event.kind .. event.interaction end
  return x, table.concat(kinds, " ")
end

-- The slopes of the final state by p[j], by differences of order 4 with the step h; nil where the events change.
local function slopes(model, p, j, h, events)
  local at, x, same = p[j], {}, true
  for _, part in ipairs { -2, -1, 1, 2 } do
    local kinds
    p[j] = at + part * h
    x[part], kinds = final(model, p)
    same = same and kinds == events
  end
  p[j] = at
  if not same then return nil end
  local d = {}
  for i = 1, #x[1] do d[i] = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h) end
  return d
end

-- The error of S of a model with the data p against differences, relative to the largest element of each column; and the number of
-- columns that could be compared. The run must be the plain one, to the last bit.
function models.compare(model, p)
  local simu, parameters, gather = model.build(p)
  local sol = simu:run { sensitivities = parameters }
  local S, x, events = sol.S[#sol]:copy(), final(model, p)
  if gather then gather(S) end
  for i = 1, #x do assert(x[i] == sol.x[#sol][i], "the run is another one") end
  local worst, count = 0, 0
  for j = 1, #p do
    local least = math.huge
    for _, h in ipairs { 1e-4, 1e-5, 1e-6 } do
      local d, off, size = slopes(model, p, j, h, events), 0, 1e-3
      for i = 1, d and #d or 0 do off, size = math.max(off, math.abs(d[i] - S[i][j])), math.max(size, math.abs(d[i])) end
      if d then least = math.min(least, off / size) end
    end
    if least < math.huge then worst, count = math.max(worst, least), count + 1 end
  end
  return worst, count
end

return models
