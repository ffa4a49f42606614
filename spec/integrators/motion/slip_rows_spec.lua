-- Rows of slip velocities: Jachq gives them, and they are the derivative of no output.
local ns = require "nslua"

local g, a, b = 9.81, 0.2, 0.6 -- half width and half height of a block that rocks

-- How a corner at (A, B) in the block's axes touches the floor, as a script may write it.
local written = {}

function written.without_rate(A, B)
  return { h = function(q, _, y) y[1] = q[2] + math.sin(q[3]) * A + math.cos(q[3]) * B end,
    Jachq = function(q, _, C)
      local c, s = math.cos(q[3]), math.sin(q[3])
      C[1][2], C[1][3], C[2][1], C[2][3] = 1, c * A - s * B, 1, -s * A - c * B
    end }
end

function written.with_rate(A, B)
  local options = written.without_rate(A, B)
  options.dotJachq = function(q, _, v, D)
    local c, s = math.cos(q[3]), math.sin(q[3])
    D[1][3], D[2][3] = (-s * A - c * B) * v[3], (-c * A + s * B) * v[3]
  end
  return options
end

local ways = {
  ["a Jachq alone"] = function(A, B) return ns.LagrangianScleronomousR(written.without_rate(A, B)) end,
  ["a Jachq and its rate"] = function(A, B) return ns.LagrangianScleronomousR(written.with_rate(A, B)) end,
  ["corner_line"] = function(A, B) return ns.contact.corner_line({ A, B }, ns.contact.line({ 0, 0 }, { 0, 1 })) end,
}

local function block(relation, tilt)
  local ds = ns.LagrangianLinearTIDS({ -a * math.cos(tilt) - b * math.sin(tilt), a * math.sin(tilt) + b * math.cos(tilt), -tilt },
    { 0, 0, 0 }, ns.diag { 1, 1, (a * a + b * b) / 3 })
  ds:setFExtPtr { 0, -g, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
  nsds:insertDynamicalSystem(ds)
  for i, A in ipairs { -a, a } do
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2), relation(A, -b), "corner " .. i), ds)
  end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
  simu:energy()
  return simu
end

describe("a row of a slip velocity", function()
  for name, relation in pairs(ways) do
    it("holds a block that rocks on its corners without work: " .. name, function()
      local tilt = 0.15
      local simu = block(relation, tilt)
      local before = simu:energy().total
      simu:run()
      -- About a corner the inertia is 4/3 (a^2 + b^2). The angular momentum about the new corner stays at an impact: the rate
      -- of the angle is multiplied by 1 - 3/2 a^2 / (a^2 + b^2).
      local fall = b * math.cos(tilt) + a * math.sin(tilt) - b
      local rate, impacts = math.sqrt(2 * g * fall / (4 / 3 * (a * a + b * b))), 0
      for _, event in ipairs(simu:events()) do
        if event.kind == "impact" then
          impacts = impacts + 1
          assert.near(-2 * a * rate, event.before, 1e-12)
          rate = rate * (1 - 1.5 * a * a / (a * a + b * b))
        end
      end
      assert.equal(3, impacts)
      local account = simu:energy()
      assert.near(0, account.friction, 1e-12)
      assert.near(0, account.numerical, 1e-12)
      assert.near(before + account.impacts, account.total, 1e-12)
    end)
  end

  it("lets a disk roll down another one, which equations hold at the origin", function()
    local R, r, angle = 2, 1, 0.1
    local ds = ns.LagrangianLinearTIDS({ 0, 0, 0, (R + r) * math.sin(angle), (R + r) * math.cos(angle), 0 }, { 0, 0, 0, 0, 0, 0 },
      ns.diag { 1, 1, 1, 1, 1, 0.5 })
    ds:setFExtPtr { 0, 0, 0, 0, -g, 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.8)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(3), ns.LagrangianLinearTIR {
      { 1, 0, 0, 0, 0, 0 }, { 0, 1, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0, 0 } }), ds)
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.8, 2), ns.contact.disk_disk(R, r)), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
    simu:energy()
    simu:run()
    -- A pendulum upside down: angle'' = 2/3 g / (R + r) sin angle.
    local pendulum = ns.solve_ivp(function(_, y) return { y[2], 2 / 3 * g / (R + r) * math.sin(y[1]) } end, { 0, 0.8 },
      { angle, 0 }, { method = "DOP853", rtol = 1e-13, atol = 1e-15 })
    local q, final = ds:q(), pendulum.y[1][#pendulum.t]
    assert.near(final, math.atan(q[4], q[5]), 1e-12)
    assert.near(-(R + r) * (final - angle) / r, q[6], 1e-12)
    assert.near(0, simu:energy().friction, 1e-12)
    assert.near(0, simu:energy().numerical, 1e-12)
  end)
end)
