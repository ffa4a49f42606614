-- x' of a model in a mode of its laws, where the rows that hold move or are curved.
local fields = require "nslua.dynamics.mode_field"
local ns = require "nslua"
local near = require("expect").near

local ACTIVE = { "active", holds = true }

local function graph(ds, law, relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "row"), ds)
  return nsds
end

describe("the field of a mode", function()
  it("of a bead on a ring has the force that keeps it there", function()
    local bead = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 2 }, { { 3, 0 }, { 0, 3 } })
    bead:setFExtPtr { 0, -3 * 9.81 }
    local ring = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = (q[1] ^ 2 + q[2] ^ 2 - 1) / 2 end }
    local nsds = graph(bead, ns.EqualityConditionNSL(1), ring)
    -- q v' + v v = 0: v' = -4 along q, and 3 v' = lambda q + weight.
    local rate, lambda = fields.at({ span = 1 }, nsds, 0, ns.vector { 1, 0, 0, 2 }, ACTIVE)
    near({ 0, 2, -4, -9.81 }, rate, 1e-9)
    near({ -12 }, lambda, 1e-9)
    assert.same({ "active" }, { table.unpack(fields.mode(nsds, 0, ns.vector { 1, 0, 0, 2 }, lambda, { 12 })) })
  end)

  it("of a relay that slides follows a surface that moves", function()
    local surface = ns.FirstOrderNonLinearR { h = function(t, x, _, _, y) y[1] = x[1] - math.sin(t) end,
      g = function(_, _, lambda, _, r) r[1] = 2 * lambda[1] end }
    local nsds = graph(ns.FirstOrderLinearTIDS({ 0 }, { { -1 } }), ns.RelayNSL(1, -1, 1), surface)
    local x = ns.vector { math.sin(0.3) }
    local rate, lambda = fields.at({ span = 1 }, nsds, 0.3, x, ACTIVE)
    near({ math.cos(0.3) }, rate, 1e-9)
    near({ (math.cos(0.3) + math.sin(0.3)) / 2 }, lambda, 1e-9)
    near({ 2 - math.sin(0.3) }, fields.rate({ span = 1 }, nsds, 0.3, x, { "upper", bounded = true }))
  end)
end)
