local ns = require "nslua"
local internal = require "nslua.internal"

-- The equations are seen through flow(), which evaluates them at the state of the graph.
local function evaluate(ds, mode, options)
  options = options or {}
  options.mode = mode
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  for _, pair in ipairs(options.rows or {}) do nsds:link(ns.Interaction(pair[1], pair[2]), ds) end
  return internal.flow(nsds, options)
end

describe("the equations of first-order systems", function()
  it("are split by a regular M, whose states are all differential", function()
    local ds = ns.FirstOrderLinearTIDS({1, 2}, {{0, 1}, {-1, 0}})
    ds:setMPtr{{2, 1}, {0, 4}}
    local r = evaluate(ds, {})
    assert.are.same({1, 2}, r.s:totable())
    assert.is_near(-0.25, r.sdot[2], 1e-16)
    assert.is_near((2 + 0.25) / 2, r.sdot[1], 1e-16)
  end)

  it("are split by a singular M, whose differential states are combinations", function()
    -- x1' + x2' = -x1, x1 = 2 x2
    local ds = ns.FirstOrderLinearTIDS({2, 1}, {{-1, 0}, {1, -2}})
    ds:setMPtr{{1, 1}, {0, 0}}
    local r = evaluate(ds, {})
    assert.are.equal(1, #r.s)
    assert.is_near(3, r.s[1], 1e-15)
    assert.is_near(-2, r.sdot[1], 1e-15)
    assert.is_near(-2 / 3, r.J[1][1], 1e-15)
  end)

  it("refuse a singular M that depends on time", function()
    local ds = ns.FirstOrderLinearDS({1, 2}, {{0, 1}, {-1, 0}})
    ds:setName "net"
    ds.computeM = function(self, t, z, M) M[1][1] = 1 + t end
    local good, message = pcall(evaluate, ds, {})
    assert.is_false(good)
    assert.matches("dynamical system 'net': M is singular and depends on time; it must be constant", message, 1, true)
  end)

  it("have the derivative of outputs by time, exact for callbacks and by differences for coefficients", function()
    -- y = x - sin t, and the same with e(t) = -sin t; sliding: lambda = cos t
    local t = 0.7
    local callback = ns.FirstOrderNonLinearR{
      h = function(time, x, lambda, z, y) y[1] = x[1] - math.sin(time) end,
      g = function(time, x, lambda, z, r) r[1] = lambda[1] end}
    local coefficient = ns.FirstOrderLinearR({{1}}, {{1}})
    coefficient.computee = function(self, time, z, e) e[1] = -math.sin(time) end
    for i, relation in ipairs{callback, coefficient} do
      local ds = ns.FirstOrderLinearTIDS({math.sin(t)}, {{0}})
      local r = evaluate(ds, {"active"}, {t = t, rows = {{ns.RelayNSL(1, -2, 2), relation}}})
      assert.is_near(math.cos(t), r.lambda[1], i == 1 and 1e-15 or 1e-12)
      assert.is_near(0, r.y[1], 1e-15)
    end
  end)
end)
