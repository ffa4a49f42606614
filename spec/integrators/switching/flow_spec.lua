local ns = require "nslua"
local internal = require "nslua.internal"

-- A graph of one system and interactions {law, relation}.
local function graph(ds, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  for i, pair in ipairs {...} do
    local interaction = ns.Interaction(pair[1], pair[2])
    interaction:setName("row " .. i)
    nsds:link(interaction, ds)
  end
  return nsds
end

describe("the motion of a first-order model in a mode", function()
  it("has lambda at its bound where y is not 0", function()
    local ds = ns.FirstOrderLinearTIDS({1, 2}, {{0, 1}, {-1, 0}})
    local nsds = graph(ds, {ns.RelayNSL(1, -3, 5), ns.FirstOrderLinearTIR({{1, 0}}, {{0}, {1}})})
    local r = internal.flow(nsds, {mode = {"lower"}})
    assert.are.equal(-3, r.lambda[1])
    assert.are.equal(2, r.sdot[1])
    assert.are.equal(-4, r.sdot[2])
    r = internal.flow(nsds, {mode = {"upper"}})
    assert.are.equal(4, r.sdot[2])
    assert.are.equal(1, r.y[1])
  end)

  it("slides on a nonlinear surface that moves, with the exact lambda and Jacobian", function()
    -- y = x1^2 + x2 - sin t, x1' = x2, x2' = lambda^3: lambda^3 = cos t - 2 x1 x2
    local ds = ns.FirstOrderNonLinearDS({0.3, -0.09}, function(t, x, z, f) f[1], f[2] = x[2], 0 end)
    local relation = ns.FirstOrderNonLinearR{
      h = function(t, x, lambda, z, y) y[1] = x[1] ^ 2 + x[2] - math.sin(t) end,
      g = function(t, x, lambda, z, r) r[2] = lambda[1] ^ 3 end}
    local nsds = graph(ds, {ns.RelayNSL(1, -2, 2), relation})
    nsds:interaction("row 1"):lambda(0)[1] = 1
    local r = internal.flow(nsds, {mode = {"active"}})
    local expected = 1 + 2 * 0.3 * 0.09
    assert.is_near(expected ^ (1 / 3), r.lambda[1], 1e-14)
    assert.is_near(expected, r.sdot[2], 1e-14)
  end)
end)
