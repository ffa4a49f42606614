-- Relations of first order with callbacks: the arguments that each gets, and the Jacobians that may be given.
local ns = require "nslua"
local message = require "bind.models".message

-- One step of x' = r from x = 2 with y = 0: the state and the multiplier.
local function solve(relation)
  local ds = ns.FirstOrderLinearTIDS({ 2 }, { { 0 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(ns.EqualityConditionNSL(1), relation)
  nsds:link(inter, ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), ns.MLCP())
  simu:run()
  return ds:x()[1], inter:lambda(0)[1]
end

describe("relations of first order with callbacks", function()
  it("FirstOrderType1R: y = h(t, x, z), r = g(t, lambda, z)", function()
    local x, lambda = solve(ns.FirstOrderType1R {
      z = { 3 },
      h = function(_, x, z, y) y[1] = x[1] - z[1] end,
      g = function(_, lambda, z, r) r[1] = z[1] * lambda[1] end,
    })
    assert.is_true(math.abs(x - 3) < 1e-12 and math.abs(lambda - 1 / 3) < 1e-12)
  end)

  it("FirstOrderType2R: y = h(t, x, lambda), r = g(t, lambda)", function()
    local x, lambda = solve(ns.FirstOrderType2R {
      h = function(_, x, lambda, y) y[1] = x[1] + lambda[1] end,
      g = function(_, lambda, r) r[1] = lambda[1] end,
      Jachx = function(_, _, _, C) C[1][1] = 1 end,
      Jacglambda = function(_, _, B) B[1][1] = 1 end,
      Jachlambda = function(_, _, _, D) D[1][1] = 1 end,
    })
    assert.is_true(math.abs(x - 1) < 1e-12 and math.abs(lambda + 1) < 1e-12)
  end)

  it("FirstOrderNonLinearR: y = h(t, x, lambda, z), r = g(t, x, lambda, z)", function()
    local x, lambda = solve(ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] ^ 2 - 1 end,
      g = function(_, x, lambda, _, r) r[1] = x[1] * lambda[1] end,
    })
    assert.is_true(math.abs(x - 1) < 1e-9 and math.abs(lambda + 1) < 1e-9)
  end)

  it("have the coefficients that their callbacks may be replaced by", function()
    local has = { FirstOrderType1R = "CB", FirstOrderType2R = "CDB", FirstOrderNonLinearR = "CDBK" }
    for name, letters in pairs(has) do
      for _, letter in ipairs { "C", "D", "B", "K", "F", "e" } do
        local relation = ns[name]()
        local setter = "set" .. letter .. "Ptr"
        local function set() relation[setter](relation, { { 1 } }) end
        if letters:find(letter, 1, true) then set()
        else assert.matches(("%s: it has no method '%s'"):format(name, setter), message(set), 1, true) end
      end
    end
  end)
end)
