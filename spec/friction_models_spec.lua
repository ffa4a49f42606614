-- Mechanics with dry friction against closed forms.
local ns = require "nslua"
local models = require "friction_models"

local names = require "sorted_names"(models)

-- The largest difference to the state in closed form, by the scheme of Moreau and Jean with steps of h.
local function moreau_jean(name, h)
  local model = models[name](h)
  local simu = ns.TimeStepping(model.nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
  for _ in simu:steps() do end
  local off = 0
  for i, x in ipairs(model.read()) do off = math.max(off, math.abs(x - model.state[i])) end
  return off
end

-- The events of friction, without the contacts that close and rest.
local function grips(log)
  local out = {}
  for _, event in ipairs(log) do
    if event.kind ~= "impact" and event.kind ~= "rest" then out[#out + 1] = event end
  end
  return out
end

describe("friction #once", function()
  for _, name in ipairs(names) do
    it(name .. ": EventDriven locates every event", function()
      local model = models[name]()
      local simu = ns.EventDriven(model.nsds, ns.TimeDiscretisation(0, model.T / 10), ns.RungeKuttaOSI())
      local start = simu:energy().total
      simu:run()
      local log = grips(simu:events())
      assert.equal(#model.events, #log)
      for i, event in ipairs(model.events) do
        assert.near(event[1], log[i].t, 1e-12 * model.T)
        assert.equal(event[2], log[i].kind)
      end
      for i, x in ipairs(model.read()) do assert.near(model.state[i], x, 1e-11) end
      local now, exchanged = simu:energy(), 0
      local sum = start - now.total
      for _, part in ipairs { "forces", "damping", "impacts", "friction", "boundary" } do
        sum, exchanged = sum + now[part], exchanged + math.abs(now[part])
      end
      assert.near(0, sum, 1e-9 * exchanged)
      assert.near(model.work or now.friction, now.friction, 1e-9 * exchanged)
    end)
  end

  for _, name in ipairs(names) do
    it(name .. ": the scheme of Moreau and Jean converges", function()
      local h = models[name]().h
      local coarse, fine = moreau_jean(name, h), moreau_jean(name, h / 16)
      assert.is_true(fine <= coarse / 8 or fine < 1e-9, ("%g, %g"):format(coarse, fine))
    end)
  end

  -- The stacked plates of switch_models.lua: masses 1 and 1/2, driven; friction of 0.6 on the ground and 0.3 between the plates.
  local function push(weight)
    return function(t, _, f) f[1], f[2] = 2.2 * math.sin(1.3 * t), -weight end
  end

  local function compare(simu, positions)
    local reference = dofile("spec/reference/events/switches.lua").stacked_plates
    simu:run()
    local log = grips(simu:events())
    assert.equal(#reference.events, #log)
    for i, event in ipairs(reference.events) do assert.near(event[1], log[i].t, 1e-11) end
    for i, x in ipairs(positions()) do assert.near(reference.x[i], x, 1e-11) end
  end

  it("of stacked plates is the same by relays", function()
    local plates = ns.LagrangianLinearTIDS({ 0, 0 }, { 0.4, -0.3 }, ns.diag { 1, 0.5 }, ns.diag { 3, 0.2 })
    plates:setComputeFExtFunction(push(0))
    local nsds = ns.NonSmoothDynamicalSystem(0, 25)
    nsds:insertDynamicalSystem(plates)
    nsds:link(ns.Interaction(ns.RelayNSL(2, { -0.6, -0.3 }, { 0.6, 0.3 }), ns.LagrangianLinearTIR { { 1, 0 }, { -1, 1 } }), plates)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2.5), ns.RungeKuttaOSI())
    compare(simu, function() return { plates:q()[1], plates:q()[2], plates:velocity()[1], plates:velocity()[2] } end)
  end)

  it("of stacked plates is the same by contacts of two bodies", function()
    local g = 9.81
    local lower = ns.LagrangianLinearTIDS({ 0, 0 }, { 0.4, 0 }, ns.diag { 1, 1 }, ns.diag { 3, 0 })
    lower:setComputeFExtFunction(push(g))
    local upper = ns.LagrangianLinearTIDS({ 0, 0 }, { -0.3, 0 }, ns.diag { 0.5, 0.5 }, ns.diag { 0.2, 0 })
    upper:setFExtPtr { 0, -0.5 * g }
    local nsds = ns.NonSmoothDynamicalSystem(0, 25)
    nsds:insertDynamicalSystem(lower)
    nsds:insertDynamicalSystem(upper)
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.6 / (1.5 * g), 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }),
      lower)
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3 / (0.5 * g), 2),
      ns.LagrangianLinearTIR { { 0, -1, 0, 1 }, { -1, 0, 1, 0 } }), lower, upper)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2.5), ns.RungeKuttaOSI())
    compare(simu, function() return { lower:q()[1], upper:q()[1], lower:velocity()[1], upper:velocity()[1] } end)
  end)
end)
