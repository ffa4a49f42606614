local ns = require "nslua"

-- A model with two relays whose rows are at bounds, slide, or are decided by D (d ~= 0), and all of its numbers as parameters.
local function model(d, T)
  local ds, law = ns.FirstOrderLinearTIDS({ 1, -0.5 }, { { -0.3, 1 }, { -1, -0.2 } }, { 0.1, 0.2 }), ns.RelayNSL(2, -1, 1)
  ds:setMPtr(ns.matrix { { 2, 0.1 }, { 0.3, 1 } })
  local relation = ns.FirstOrderLinearTIR({ { 1, 0.2 }, { -0.4, 1 } }, { { 0.7, 0 }, { 0.1, 0.4 } })
  relation:setePtr(ns.vector { 0.1, -0.2 })
  local parameters = { "x0", { ds, "A" }, { ds, "b" }, { ds, "M" }, { relation, "C" }, { relation, "B" }, { relation, "e" },
    { law, "lb" }, { law, "ub" } }
  if d ~= 0 then
    relation:setDPtr(ns.matrix { { d, 0.1 * d }, { 0.2 * d, 2 * d } })
    parameters[#parameters + 1] = { relation, "D" }
  end
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "relays"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 2), ns.RungeKuttaOSI()), parameters
end

describe("derivatives by numbers of a model in closed form #once", function()
  it("are those by differences", function()
    for _, case in ipairs { { 0, 1.5 }, { 0, 2.2 }, { 0, 3 }, { 0.3, 1 }, { 0.3, 4 } } do
      local found, events = {}, nil
      for _, method in ipairs { "adjoint", "forward" } do
        local simu, parameters = model(table.unpack(case))
        local _, g, sol = simu:gradient { cost = function(t, x) return (x[1] - 0.3) ^ 2 + math.sin(t) * x[2] end,
          terminal = function(x) return x[1] + x[2] end, parameters = parameters, method = method }
        found[#found + 1], events = g, #sol.events
      end
      assert.is_true(events > 0 or case[2] < 2)
      for j = 1, #found[1] do assert.near(found[2][j], found[1][j], 1e-9, case[1] .. " " .. case[2] .. " " .. j) end
    end
  end)
end)
