-- Starts that violate the laws of rows whose D = G'G is singular: an impulse in the null space of D brings them into the set of
-- states with finite multipliers. Against the first steps of an implicit Euler method, and, for two rows, in closed form.
local campaign = require "campaign"
local ns = require "nslua"
local numbers = require "random_numbers"

local function last(class, osi, steps, o)
  local n = #o.x0
  local ds = ns.FirstOrderLinearTIDS(o.x0, o.A or ns.zeros(n, n))
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  nsds:insertDynamicalSystem(ds)
  local relation = ns.FirstOrderLinearTIR { C = o.C, B = o.C:transpose(), D = o.D }
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL((o.C:shape())), relation, "diodes"), ds)
  ns[class](nsds, ns.TimeDiscretisation(0, o.T / steps), osi):run()
  return ds:x()
end

-- Not near 0, where D makes much faster than the implicit Euler steps are.
local function entry() return (math.random(2) * 2 - 3) * numbers.uniform(0.4, 1) end

describe("starts with a singular D", function()
  it("jump along its null space: x = (-1, -1 / 2), D = { { 1, -1 }, { -1, 1 } }", function()
    -- x jumps by p (1, 1) with x1 + x2 + 2 p = 0, to (-1 / 4, 1 / 4); then lambda = (-x1, 0), and x1' = -x1
    local D = ns.matrix { { 1, -1 }, { -1, 1 } }
    for _, scheme in ipairs { "RungeKuttaOSI", "RadauOSI" } do
      local x = last("EventDriven", ns[scheme](), 2, { x0 = { -1, -0.5 }, C = ns.eye(2), D = D, T = 1 })
      assert.near(-0.25 * math.exp(-1), x[1], 1e-7)
      assert.near(0.25, x[2], 1e-12)
    end
  end)

  it("and go on as small implicit steps do, for random models", function()
    math.randomseed(7)
    local count, told = campaign(6, 0.02)
    local jumps, refused = 0, 0
    for case = 1, count do
      local n = math.random(2, 4)
      local G = ns.matrix(numbers.matrix(math.random(1, n - 1), entry, n))
      local A, C = ns.matrix(numbers.matrix_within(n, n, 1)), ns.eye(n) + 0.3 * ns.matrix(numbers.matrix_within(n, n, 1))
      local o = { x0 = numbers.vector_within(n, 1), A = A, C = C, D = G:transpose() * G, T = 0.1 }
      local good, found = pcall(last, "EventDriven", ns.RungeKuttaOSI(), 2, o)
      if good then
        local other = last("TimeStepping", ns.EulerMoreauOSI(1), 400, o)
        local far = (other - found):norm() > 0.02 -- D is nearly singular in another direction, too: shorter steps
        if far then other = last("TimeStepping", ns.EulerMoreauOSI(1), 40000, o) end
        for i = 1, n do assert.near(other[i], found[i], 0.02, ("model %d"):format(case)) end
        if (found - ns.vector(o.x0)):norm() > 0.3 then jumps = jumps + 1 end
      else
        assert.matches("the next mode is not unique at t=0", found, nil, true)
        refused = refused + 1
      end
    end
    assert.is_true(refused <= 0.005 * count + 1)
    assert.is_true(jumps > 0)
    told("starts with a singular D", count)
  end)
end)
